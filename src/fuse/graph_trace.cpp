// The trace of a function: what its tensors hold, and what it gives.
#include <algorithm>
#include <utility>

#include "dispatch/kept_warnings.h"
#include "fuse/tracer.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tensor/impl.h"

namespace tenon::fusion {

void fail(const std::string& what) { throw Error("tenon.fuse: " + what); }

Tensor without_data(const Tensor& tensor) {
  return empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
}

bool has_layout_of(const Tensor& tensor, const Tensor& other) {
  return tensor.dtype() == other.dtype() && tensor.sizes() == other.sizes() && tensor.strides() == other.strides() &&
         tensor.storage_offset() == other.storage_offset();
}

std::string key_of_dims(std::string key, SizesView dims) {
  for (const int64_t dim : dims) key += ' ' + std::to_string(dim);
  return key;
}

namespace {

/// The same layout in another tensor: a function may change that of its own (`t_()`, `squeeze_()`).
Tensor layout_of(const Tensor& tensor) {
  const Tensor layout = without_data(tensor);
  return tensor.storage_offset() == 0 ? layout
                                      : layout.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

/// The dtypes and sizes of operands, for errors.
std::string list_of(const std::vector<Tensor>& operands) {
  std::string list;
  for (const Tensor& tensor : operands)
    list += (list.empty() ? "" : ", ") + std::string(dtype_name(tensor.dtype())) + to_string(tensor.sizes());
  return list.empty() ? "numbers" : list;
}

}  // namespace

std::string note_of(int place, const std::string& name, const std::vector<Tensor>& operands) {
  return "tenon.fuse: op " + std::to_string(place) + " of the function: " + name + " of " + list_of(operands);
}

constinit thread_local Tracer* Tracer::current = nullptr;

int Tracer::id_of(const Tensor& tensor) {
  if (const auto known = ids_.find(original_of(tensor)); known != ids_.end()) {
    const bool is_it = !tensor.is_meta() || has_layout_of(tensor, value(known->second).meta);
    return is_it ? known->second : view_of(tensor, known->second);
  }
  if (!tensor.is_meta()) {
    trace_.reads_recorded |= (records_ || thread_modes.grad) && tensor.requires_grad();
    const int id = define({.kind = GraphValue::Kind::capture, .meta = without_data(tensor), .capture = tensor});
    ids_[tensor.impl()] = id;
    named_.push_back(tensor);
    name(Tensor(value(id).meta), id);  // derivatives read it
    return id;
  }
  if (is_known_view(tensor)) return view_of(tensor, ids_.at(base_of(tensor)));
  fail("the function uses a tensor that it did not compute from its arguments");
}

/// A tensor over the elements of another one shows what that one holds.
void Tracer::note_alias(const Tensor& self, const Tensor& alias) {
  if (!self.is_meta()) return;
  alias.impl()->in_graph = true;
  current->originals_[alias.impl()] = current->original_of(self);
  for (const Tensor* kept : {&self, &alias}) current->named_.push_back(*kept);
}

int Tracer::view_of(const Tensor& tensor, int base) {
  GraphStep step = view_step(tensor, tensor.storage_offset());
  step.operands = {base};
  const int id = define(
      {.kind = GraphValue::Kind::made, .meta = layout_of(tensor), .step = static_cast<int>(trace_.steps.size())});
  step.results = {id};
  trace_.steps.push_back(std::move(step));
  named_.push_back(tensor);
  return id;
}

void Tracer::add(GraphStep step, const List<Tensor>& results) {
  step.place = ops_;
  const int place = static_cast<int>(trace_.steps.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const int id = define(
        {.kind = GraphValue::Kind::made, .meta = layout_of(results[i]), .step = place, .result = static_cast<int>(i)});
    step.results.push_back(id);
    if (!is_known_view(results[i])) name(results[i], id);
  }
  trace_.steps.push_back(std::move(step));
}

std::vector<int> Tracer::ids_of(Args args, int count) {
  std::vector<int> ids;
  for (int i = 0; i < count; ++i)
    if (args[i]->is_tensor()) ids.push_back(id_of(args[i]->tensor()));
  return ids;
}
void Tracer::adopt(const Tensor& self) {
  TensorImpl* const impl = self.impl();
  const bool is_own = !self.is_meta() && made_.contains(impl) && !impl->base;
  const bool is_shared =
      is_own && (impl->references >= TensorImpl::kViewReference || !impl->storage || impl->storage->references != 1);
  if (!is_own || self.requires_grad()) return;
  if (is_shared)
    fail("a write to a tensor that has views or shares its memory can't be traced; write before they are made");
  const Tensor kept = new_alias(self, self.sizes(), self.strides(), self.storage_offset());
  const int id = id_of(self);
  value(id).capture = kept;
  ids_[kept.impl()] = id;
  named_.push_back(kept);
  release(std::exchange(impl->storage, nullptr));
  impl->device = Device::meta;
  name(self, id);
}

void Tracer::overwrite(const Tensor& self, GraphStep step) {
  if (thread_modes.grad && self.requires_grad()) fail(step.name + "_() writes to a tensor with a gradient");
  const bool shows_own = self.impl()->base && made_.contains(self.impl()->base);
  if (!self.is_meta() && !shows_own)
    fail(step.name +
         "_() writes to a tensor that is no argument and not computed from one; begin with zeros_like of an argument, "
         "or give a new result: s = s + x");
  if (self.impl()->base) fail(step.name + "_() writes to a view, which can't be traced; write to the whole tensor");
  if (originals_.contains(self.impl())) fail(step.name + "_() writes to a detached tensor, which can't be traced");
  const auto known = ids_.find(self.impl());
  const int before = known == ids_.end() ? -1 : known->second, place = static_cast<int>(trace_.steps.size());
  const int id = define({.kind = GraphValue::Kind::made, .meta = without_data(self), .step = place});
  step.results = {id};
  step.place = ops_;
  trace_.steps.push_back(std::move(step));
  name(self, id);
  if (before < 0) return;
  std::vector<std::pair<int, int>>& written = trace_.written;
  const auto entry =
      std::find_if(written.begin(), written.end(), [&](const auto& each) { return each.second == before; });
  if (entry != written.end())
    entry->second = id;
  else if (value(before).kind == GraphValue::Kind::input)
    written.emplace_back(before, id);
}
namespace {

/// While it lives, the thread's calls are traced.
class Tracing {
 public:
  Tracing(Tracer*& current, Tracer* tracer) : current_(current) {
    if (current) fail("a function that is traced can't be traced inside another one");
    current = tracer;
    thread_modes.traced = &traced_calls;
    thread_modes.aliased = Tracer::note_alias;
    thread_modes.share_memory = Tracer::shares_memory;
    thread_modes.grad = false;
  }
  ~Tracing() {
    thread_modes.traced = nullptr;
    thread_modes.aliased = nullptr;
    thread_modes.share_memory = nullptr;
    thread_modes.grad = grad_;
    current_ = nullptr;
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  Tracer*& current_;
  const bool grad_ = thread_modes.grad;
};

}  // namespace

GraphTrace Tracer::run(const TracedFunction& function, const List<Tensor>& inputs) {
  // To grow one by one takes a twentieth of a trace of ten ops.
  constexpr std::size_t kUsualSteps = 16;
  trace_.steps.reserve(kUsualSteps);
  trace_.values.reserve(2 * kUsualSteps);
  ids_.reserve(2 * kUsualSteps);
  named_.reserve(2 * kUsualSteps);
  List<Tensor> metas;
  for (const Tensor& input : inputs) {
    metas.push_back(without_data(input));
    const Tensor& meta = metas[metas.size() - 1];
    name(meta, define({.kind = GraphValue::Kind::input, .meta = layout_of(meta)}));
  }
  const Tracing tracing(current, this);
  const List<Tensor> results = function(metas);
  for (std::size_t i = 0; i < metas.size(); ++i) {
    if (!has_layout_of(metas[i], trace_.values[i].meta))
      fail(
          "the shape of an argument is changed in place, which can't be traced; use what t(), squeeze() and others "
          "give");
    if (metas[i].requires_grad()) fail("requires_grad_() of an argument can't be traced; call it outside");
  }
  for (const Tensor& result : results) trace_.results.push_back(id_of(result));
  return std::move(trace_);
}

List<Tensor> GraphStep::compute(const Tensor* tensors) const {
  try {
    return run(tensors);
  } catch (Error& error) {
    if (place > 0) error.add_note(note_of(place, name, {tensors, tensors + operands.size()}));
    throw;
  }
}

namespace {

/// A view of one element of another dtype. It begins where `self` does, whose strides may be any if its elements are
/// divided.
Tensor first_part(const Tensor& self, Dtype dtype, int64_t offset) {
  if (itemsize(dtype) > self.itemsize()) return self.view(dtype);
  Tensor view = begin_view(self, offset);
  view.impl()->dtype = dtype;
  settle_view(view, self);
  return view;
}

}  // namespace

GraphStep view_step(const Tensor& tensor, int64_t offset) {
  GraphStep step{.name = "view"};
  step.key =
      key_of_dims(key_of_dims(key_of("view", offset, tensor.dim(), static_cast<int>(tensor.dtype())), tensor.sizes()),
                  tensor.strides());
  step.run = [sizes = tensor.sizes().copy(), strides = tensor.strides().copy(), offset,
              dtype = tensor.dtype()](const Tensor* operands) -> List<Tensor> {
    const Tensor& self = operands[0];
    // exact: inside the storage
    const int64_t from = self.storage_offset() * self.itemsize() / itemsize(dtype);
    // Checked again: tensors without data have no storage that as_strided() could leave.
    const Tensor cast = self.dtype() == dtype ? self : first_part(self, dtype, from);
    return {cast.as_strided(sizes, strides, (Checked(from) + offset).or_throw("view: integer overflow"))};
  };
  return step;
}

GraphTrace trace_graph(const TracedFunction& function, const List<Tensor>& inputs) {
  KeptWarnings warnings;
  try {
    GraphTrace trace = Tracer().run(function, inputs);
    trace.warns = !warnings.empty();
    return trace;
  } catch (...) {
    warnings.give();
    throw;
  }
}

void note_forward(const List<Tensor>& results) { Tracer::note_forward(results); }

}  // namespace tenon::fusion
