// The trace of a function: a table of calls that stands before autograd's while the function runs.
#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_map>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "fuse/graph.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tensor/impl.h"

namespace tenon::fusion {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error("tenon.fuse: " + what); }
[[noreturn]] void fail_random(const DrawnBy& by) {
  fail(std::string(by.call) +
       "() draws random numbers, which would be the same in each call; draw them outside and pass "
       "them in");
}
[[noreturn]] void fail_out() { fail("out= can't be traced; return the result"); }

/// Whether a traced function computes one of these tensors: only those have no data.
template <class Tensors>
bool any_is_traced(const Tensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return tensor.is_meta(); });
}
bool any_is_traced(Args args, int count) {
  return std::any_of(args, args + count, [](const Arg* arg) { return arg->is_tensor() && arg->tensor().is_meta(); });
}

Tensor without_data(const Tensor& tensor) {
  return empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
}

/// A text that is equal for equal arguments.
template <class... Words>
std::string key_of(const char* name, const Words&... words) {
  std::string key = name;
  ((key += ' ' + std::to_string(words)), ...);
  return key;
}
std::string key_of_args(Op op, Args args, int count) {
  std::string key = key_of("map", static_cast<int>(op));
  for (int i = 0; i < count; ++i) {
    if (args[i]->is_tensor()) {
      key += " tensor";
      continue;
    }
    const Scalar number = args[i]->number();
    const Complex128 parts = number.as_complex();
    key += key_of("", static_cast<int>(number.kind()), number.as_int64(), std::bit_cast<int64_t>(parts.re),
                  std::bit_cast<int64_t>(parts.im));
  }
  return key;
}
std::string key_of_dims(std::string key, SizesView dims) {
  for (const int64_t dim : dims) key += ' ' + std::to_string(dim);
  return key;
}

/// The dtypes and sizes of operands, for errors.
std::string list_of(const std::vector<Tensor>& operands) {
  std::string list;
  for (const Tensor& tensor : operands)
    list += (list.empty() ? "" : ", ") + std::string(dtype_name(tensor.dtype())) + to_string(tensor.sizes());
  return list.empty() ? "numbers" : list;
}
std::string note_of(int place, const std::string& name, const std::vector<Tensor>& operands) {
  return "tenon.fuse: op " + std::to_string(place) + " of the function: " + name + " of " + list_of(operands);
}
std::vector<Tensor> tensors_of(Args args, int count) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < count; ++i)
    if (args[i]->is_tensor()) tensors.push_back(args[i]->tensor());
  return tensors;
}

class Tracer {
 public:
  GraphTrace run(const TracedFunction& function, const List<Tensor>& inputs);

  static Tensor elementwise(Op op, Args args, int count) { return current->trace_elementwise(op, args, count); }
  static Tensor& inplace(Op op, Tensor& self, Args args, int count);
  static Tensor reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
  static Tensor clone(const Tensor& self, MemoryFormat format);
  static Tensor to(const Tensor& self, Dtype dtype, MemoryFormat format);
  static void copy(Tensor& self, const Tensor& src);
  static void fill(Tensor& self, const Tensor& value);
  static void fill_number(Tensor& self, Scalar value);
  static Tensor index(const Indexed& indexed);
  static void index_put(const Indexed& indexed, const Tensor& value, Put put);
  static List<Tensor> call(Op op, const Value* values);
  static void call_inplace(Op op, const Value* values);
  static void note_alias(const Tensor& self, const Tensor& alias);
  static void note_made(const Tensor& self) {
    self.impl()->in_graph = true;  // so that the trace sees what is computed of it
    current->made_.emplace(self.impl(), self);
  }
  /// Notes the place of a call in the function where it fails.
  template <class Operands, class Call>
  static auto as_op(const char* name, const Operands& operands, const Call& call) {
    const int place = ++current->ops_;
    try {
      return call();
    } catch (Error& error) {
      error.add_note(note_of(place, name, operands()));
      throw;
    }
  }

 private:
  /// While it lives, ops on this thread are not traced.
  class Pause {
   public:
    Pause() noexcept : table_(std::exchange(thread_modes.traced, nullptr)) {}
    ~Pause() { thread_modes.traced = table_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    const WithHistory* table_;
  };

  int define(GraphValue value) {
    trace_.values.push_back(std::move(value));
    return static_cast<int>(trace_.values.size()) - 1;
  }
  GraphValue& value(int id) { return trace_.values[static_cast<std::size_t>(id)]; }
  /// The value that a tensor holds now; a tensor from elsewhere becomes one.
  int id_of(const Tensor& tensor);
  int view_of(const Tensor& tensor, int base);
  const Tensor& meta_of(const Tensor& tensor) { return tensor.is_meta() ? tensor : value(id_of(tensor)).meta; }
  std::vector<int> ids_of(Args args, int count);

  void name(const Tensor& tensor, int id) {
    tensor.impl()->in_graph = true;
    ids_[tensor.impl()] = id;
    named_.push_back(tensor);
  }
  const TensorImpl* original_of(const Tensor& tensor) const {
    const auto known = originals_.find(tensor.impl());
    return known == originals_.end() ? tensor.impl() : known->second;
  }
  /// The same call for what it computes, with the history that autograd records, where it is recorded.
  template <class Call>
  Tensor with_history_of(Tensor plain, bool is_recorded, const Call& call) {
    const auto known = ids_.find(plain.impl());
    if (!is_recorded || known == ids_.end()) return plain;
    const int id = known->second;
    const Pause pause;
    Tensor result = call(*with_history_table.load(std::memory_order_acquire));
    name(result, id);
    return result;
  }
  void add(GraphStep step, const List<Tensor>& results);
  /// Whether a tensor is a view of a value: it shows what its base holds when it is read.
  bool is_known_view(const Tensor& tensor) const { return tensor.impl()->base && ids_.contains(base_of(tensor)); }
  const TensorImpl* base_of(const Tensor& view) const {
    const auto known = originals_.find(view.impl()->base);
    return known == originals_.end() ? view.impl()->base : known->second;
  }
  Tensor add_one(GraphStep step, Tensor result) {
    add(std::move(step), {result});
    return result;
  }
  Tensor trace_elementwise(Op op, Args args, int count);
  /// Notes the operands of an algorithm. Gives its values with tensors without data.
  std::vector<Value> begin_call(const Schema& schema, const Value* values, GraphStep& step);
  /// Whether a step reads this memory, so that a write to it has a place among the steps, whatever is written.
  bool is_read(const Tensor& self) const {
    if (self.is_meta() || !self.impl()->storage) return false;
    return std::any_of(trace_.values.begin(), trace_.values.end(), [&](const GraphValue& value) {
      return value.capture.defined() && value.capture.impl()->storage == self.impl()->storage;
    });
  }
  /// Lets calls write to a tensor that the function made of numbers: what it holds becomes a value.
  void adopt(const Tensor& self);
  /// The tensor holds what the step makes from now on.
  void overwrite(const Tensor& self, GraphStep step);

  template <class Call>
  static Tensor run_plainly(const Call& call);
  /// Writes in place are traced without their history.
  static void check_unrecorded(const char* name, const std::vector<Tensor>& tensors) {
    if (std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return is_recorded(tensor); }))
      fail(std::string(name) + "() writes in place what has a gradient");
  }

  static thread_local Tracer* current;

  const bool records_ = thread_modes.grad;
  int ops_ = 0;  // that the function called
  GraphTrace trace_;
  std::unordered_map<const TensorImpl*, int> ids_;
  std::unordered_map<const TensorImpl*, const TensorImpl*> originals_;  // of aliases
  // Kept alive, so that no other tensor gets their address.
  std::vector<Tensor> named_;
  std::unordered_map<const TensorImpl*, Tensor> made_;  // of numbers, by the function
};

thread_local Tracer* Tracer::current = nullptr;

int Tracer::id_of(const Tensor& tensor) {
  if (const auto known = ids_.find(original_of(tensor)); known != ids_.end()) {
    const Tensor& meta = value(known->second).meta;
    const bool is_it = tensor.dtype() == meta.dtype() && tensor.sizes() == meta.sizes() &&
                       tensor.strides() == meta.strides() && tensor.storage_offset() == meta.storage_offset();
    return is_it || !originals_.contains(tensor.impl()) ? known->second : view_of(tensor, known->second);
  }
  if (!tensor.is_meta()) {
    trace_.reads_recorded |= (records_ || thread_modes.grad) && tensor.requires_grad();
    const int id = define({.kind = GraphValue::Kind::capture, .meta = without_data(tensor), .capture = tensor});
    ids_[tensor.impl()] = id;
    named_.push_back(tensor);
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
  const int id =
      define({.kind = GraphValue::Kind::made, .meta = tensor, .step = static_cast<int>(trace_.steps.size())});
  step.results = {id};
  trace_.steps.push_back(std::move(step));
  named_.push_back(tensor);
  return id;
}

void Tracer::add(GraphStep step, const List<Tensor>& results) {
  step.place = ops_;
  const int place = static_cast<int>(trace_.steps.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const int id =
        define({.kind = GraphValue::Kind::made, .meta = results[i], .step = place, .result = static_cast<int>(i)});
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

/// The arguments of a call with other tensors in their places.
class OtherArgs {
 public:
  template <class TensorOf>
  OtherArgs(Args args, int count, const TensorOf& tensor_of) {
    values_.reserve(static_cast<std::size_t>(count));
    tensors_.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const bool is_tensor = args[i]->is_tensor();
      if (is_tensor) tensors_.push_back(tensor_of(args[i]->tensor()));
      values_.push_back(is_tensor ? Arg(tensors_.back()) : *args[i]);
      pointers_[i] = &values_.back();
    }
  }
  OtherArgs(const OtherArgs&) = delete;
  OtherArgs& operator=(const OtherArgs&) = delete;
  Args get() const { return pointers_; }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Arg> values_;
  const Arg* pointers_[kMaxArgs];
};

/// Copies of a call's arguments, whose tensors are replaced when the graph runs.
class KeptArgs {
 public:
  KeptArgs(Args args, int count) {
    for (int i = 0; i < count; ++i)
      values_.push_back(args[i]->is_tensor() ? Arg(0) : *args[i]), is_tensor_.push_back(args[i]->is_tensor());
  }
  template <class Call>
  auto with(const Tensor* operands, const Call& call) const {
    std::vector<Arg> values = values_;
    const Arg* pointers[kMaxArgs];
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_tensor_[i]) values[i] = Arg(*operands++);
      pointers[i] = &values[i];
    }
    return call(static_cast<Args>(pointers), static_cast<int>(values.size()));
  }

 private:
  std::vector<Arg> values_;
  std::vector<bool> is_tensor_;
};

Tensor Tracer::trace_elementwise(Op op, Args args, int count) {
  if (!any_is_traced(args, count)) {
    const Pause pause;
    const Tensor result = tenon::elementwise(op, args, count);
    const bool is_given =
        std::any_of(args, args + count, [&](const Arg* arg) { return arg->is_tensor() && arg->tensor().is(result); });
    if (!is_given) note_made(result);
    return result;
  }
  GraphStep step{.name = row_of(op).name, .operands = ids_of(args, count)};
  const OtherArgs metas(args, count, [&](const Tensor& tensor) -> const Tensor& { return meta_of(tensor); });
  for (int i = 0; i < count; ++i)
    if (metas.get()[i]->is_tensor()) step.calls.input(metas.get()[i]->tensor());
  Tensor result;
  {
    const Pause pause;
    const NoGrad unrecorded;
    const Recording recording(step.calls);
    result = run_elementwise(op, metas.get(), count);
  }
  if (ids_.contains(result.impl()) || is_known_view(result)) return result;  // an op that gives its operand
  step.recorded = result;
  step.key = key_of_args(op, args, count);
  if (!step.is_recorded())
    step.run = [op, kept = KeptArgs(args, count)](const Tensor* operands) -> List<Tensor> {
      return {kept.with(operands, [op](Args real, int n) { return run_elementwise(op, real, n); })};
    };
  return with_history_of(add_one(std::move(step), std::move(result)), is_recorded(metas.get(), count),
                         [&](const WithHistory& table) { return table.elementwise(op, metas.get(), count); });
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
         "or "
         "give a new result: s = s + x");
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

Tensor& Tracer::inplace(Op op, Tensor& self, Args args, int count) {
  if (!any_is_traced(args, count) && !self.is_meta() && !current->is_read(self)) {
    const Pause pause;
    elementwise_inplace(op, self, args, count);
    return self;
  }
  if (tenon::is_recorded(args, count)) fail(std::string(row_of(op).name) + "_() writes in place what has a gradient");
  current->adopt(self);
  GraphStep step{.name = row_of(op).name, .operands = current->ids_of(args, count)};
  const OtherArgs metas(args, count, [&](const Tensor& tensor) -> const Tensor& { return current->meta_of(tensor); });
  for (int i = 0; i < count; ++i)
    if (metas.get()[i]->is_tensor()) step.calls.input(metas.get()[i]->tensor());
  {
    const Pause pause;
    const NoGrad unrecorded;
    Tensor checked = self.is_meta() ? self : without_data(self);
    run_inplace(op, checked, metas.get(), count);  // all checks of an in-place call
    const Recording recording(step.calls);
    step.recorded = run_elementwise(op, metas.get(), count);
    if (step.recorded.dtype() != self.dtype())
      step.recorded = run_to(step.recorded, self.dtype(), MemoryFormat::preserve);
  }
  if (!step.is_recorded())
    step.run = [op, kept = KeptArgs(args, count), sizes = self.sizes().copy(), strides = self.strides().copy(),
                dtype = self.dtype()](const Tensor* operands) -> List<Tensor> {
      Tensor result = empty_strided(sizes, strides, dtype);
      run_copy(result, operands[0]);
      kept.with(operands, [&](Args real, int n) {
        const Arg first(result);
        const Arg* pointers[kMaxArgs] = {&first};
        std::copy(real + 1, real + n, pointers + 1);
        return run_inplace(op, result, pointers, n).dim();
      });
      return {result};
    };
  current->overwrite(self, std::move(step));
  return self;
}

/// Runs a call on tensors without data, as it is.
template <class Call>
Tensor Tracer::run_plainly(const Call& call) {
  const Pause pause;
  const NoGrad unrecorded;
  return call();
}

Tensor Tracer::reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  Tensor result = run_plainly([&] { return run_reduce(op, self, dims, keepdim, dtype); });
  if (!self.is_meta()) return result;
  GraphStep step{.name = row_of(op).name, .operands = {current->id_of(self)}};
  step.run = [op, kept = dims.copy(), keepdim, dtype](const Tensor* operands) -> List<Tensor> {
    return {run_reduce(op, operands[0], kept, keepdim, dtype)};
  };
  step.row_dims = reduced_mask(dims, self.dim());
  step.keeps_dims = keepdim;
  step.key = key_of_dims(key_of("reduce", static_cast<int>(op), keepdim, dtype ? static_cast<int>(*dtype) : -1),
                         *step.row_dims);
  const bool folds = op == Op::sum || op == Op::mean || op == Op::prod || op == Op::amax || op == Op::amin;
  if (folds && result.numel() > 0 && self.numel() > result.numel() && !is_complex(self.dtype()) &&
      self.dtype() != bool_)
    step.fold = {.op = op, .dtype = dtype};
  return current->with_history_of(
      current->add_one(std::move(step), std::move(result)), is_recorded(self),
      [&](const WithHistory& table) { return table.reduce(op, self, dims, keepdim, dtype); });
}

Tensor Tracer::clone(const Tensor& self, MemoryFormat format) {
  Tensor result = run_plainly([&] { return run_clone(self, format); });
  if (!self.is_meta()) return result;
  GraphStep step{.name = "clone", .operands = {current->id_of(self)}};
  step.run = [format](const Tensor* operands) -> List<Tensor> { return {run_clone(operands[0], format)}; };
  return current->with_history_of(current->add_one(std::move(step), std::move(result)), is_recorded(self),
                                  [&](const WithHistory& table) { return table.clone(self, format); });
}

Tensor Tracer::to(const Tensor& self, Dtype dtype, MemoryFormat format) {
  GraphStep step{.name = "to"};
  if (self.is_meta()) step.operands = {current->id_of(self)};
  step.calls.input(self);
  Tensor result = run_plainly([&] {
    const Recording recording(step.calls);
    return run_to(self, dtype, format);
  });
  if (!self.is_meta()) return result;
  step.recorded = result;
  step.key = key_of("to", static_cast<int>(dtype), static_cast<int>(format));
  return current->with_history_of(current->add_one(std::move(step), std::move(result)), is_recorded(self),
                                  [&](const WithHistory& table) { return table.to(self, dtype, format); });
}

void Tracer::copy(Tensor& self, const Tensor& src) {
  if (!self.is_meta() && !src.is_meta() && !current->is_read(self)) {
    const Pause pause;
    self.copy_(src);
    return;
  }
  check_unrecorded("copy_", {self, src});
  current->adopt(self);
  GraphStep step{.name = "copy", .operands = {current->id_of(src)}};
  {
    const Pause pause;
    const NoGrad unrecorded;
    run_copy(self.is_meta() ? self : without_data(self), current->meta_of(src));
  }
  step.run = [sizes = self.sizes().copy(), strides = self.strides().copy(),
              dtype = self.dtype()](const Tensor* operands) -> List<Tensor> {
    Tensor result = empty_strided(sizes, strides, dtype);
    run_copy(result, operands[0]);
    return {result};
  };
  current->overwrite(self, std::move(step));
}

void Tracer::fill(Tensor& self, const Tensor& value) {
  if (value.dim() > 0) fail("fill_() takes a 0-dim tensor");
  copy(self, value);
}

void Tracer::fill_number(Tensor& self, Scalar value) {
  if (!self.is_meta() && !current->is_read(self)) {
    const Pause pause;
    self.fill_(value);
    return;
  }
  current->adopt(self);
  {
    const Pause pause;
    const NoGrad unrecorded;
    run_fill(self.is_meta() ? self : without_data(self), value);
  }
  GraphStep step{.name = "fill"};
  step.run = [sizes = self.sizes().copy(), strides = self.strides().copy(), dtype = self.dtype(),
              value](const Tensor*) -> List<Tensor> {
    Tensor result = empty_strided(sizes, strides, dtype);
    run_fill(result, value);
    return {result};
  };
  current->overwrite(self, std::move(step));
}

/// An indexed tensor with its tensors in a row: the view, then the indices that are given.
std::vector<Tensor> tensors_of(const Indexed& indexed) {
  std::vector<Tensor> tensors{indexed.view};
  for (const Tensor& index : indexed.tensors)
    if (index.defined()) tensors.push_back(index);
  return tensors;
}
Indexed with_tensors(const std::vector<bool>& given, const Tensor*& operands) {
  Indexed indexed{*operands++, std::vector<Tensor>(given.size())};
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i]) indexed.tensors[i] = *operands++;
  return indexed;
}
std::vector<bool> given_of(const Indexed& indexed) {
  std::vector<bool> given;
  for (const Tensor& index : indexed.tensors) given.push_back(index.defined());
  return given;
}

Tensor Tracer::index(const Indexed& indexed) {
  const std::vector<Tensor> tensors = tensors_of(indexed);
  if (!any_is_traced(tensors)) {
    const Pause pause;
    return run_index(indexed);
  }
  GraphStep step{.name = "index"};
  Indexed metas = indexed;
  for (const Tensor& tensor : tensors) step.operands.push_back(current->id_of(tensor));
  metas.view = current->meta_of(indexed.view);
  for (Tensor& index : metas.tensors)
    if (index.defined()) {
      if (is_mask(index)) fail("the size of a result that a mask selects depends on the mask's data; use where");
      index = current->meta_of(index);
    }
  step.run = [given = given_of(indexed)](const Tensor* operands) -> List<Tensor> {
    return {run_index(with_tensors(given, operands))};
  };
  Tensor result;
  {
    const Pause pause;
    const NoGrad unrecorded;
    result = run_index(metas);
  }
  const bool recorded = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return is_recorded(t); });
  return current->with_history_of(current->add_one(std::move(step), std::move(result)), recorded,
                                  [&](const WithHistory& table) { return table.index(metas); });
}

void Tracer::index_put(const Indexed& indexed, const Tensor& value, Put put) {
  std::vector<Tensor> tensors = tensors_of(indexed);
  tensors.push_back(value);
  if (!any_is_traced(tensors) && !current->is_read(indexed.view)) {
    const Pause pause;
    return run_index_put(indexed, value, put);
  }
  check_unrecorded("index_put_", tensors);
  current->adopt(indexed.view);
  GraphStep step{.name = "index_put"};
  for (const Tensor& tensor : tensors) step.operands.push_back(current->id_of(tensor));
  step.run = [given = given_of(indexed), put](const Tensor* operands) -> List<Tensor> {
    Indexed real = with_tensors(given, operands);
    real.view = run_clone(real.view, MemoryFormat::preserve);
    run_index_put(real, *operands, put);
    return {real.view};
  };
  current->overwrite(indexed.view, std::move(step));
}

/// The values of a call with other tensors in their places.
template <class TensorOf>
std::vector<Value> with_other_tensors(const Schema& schema, const Value* values, const TensorOf& tensor_of) {
  std::vector<Value> all(values, values + schema.count);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (schema.parameters()[i].is_list()) {
      List<Tensor> tensors;
      for (const Tensor& tensor : all[i].tensors()) tensors.push_back(tensor_of(tensor));
      all[i] = std::move(tensors);
    } else if (all[i].is_tensor() && all[i].tensor().defined()) {
      all[i] = tensor_of(all[i].tensor());
    }
  }
  return all;
}

std::vector<Tensor> tensors_of(const Schema& schema, const Value* values) {
  std::vector<Tensor> tensors;
  with_other_tensors(schema, values, [&](const Tensor& tensor) { return tensors.emplace_back(tensor); });
  return tensors;
}

std::vector<Value> Tracer::begin_call(const Schema& schema, const Value* values, GraphStep& step) {
  step.name = schema.name;
  for (const Tensor& tensor : tensors_of(schema, values)) step.operands.push_back(id_of(tensor));
  return with_other_tensors(schema, values, [&](const Tensor& tensor) { return meta_of(tensor); });
}

/// Which dims an op mixes that computes rows apart: a fold, or one of these, whose results have their operand's sizes.
void note_rows(const Schema& schema, const Value* values, GraphStep& step) {
  static constexpr std::string_view kOfRows[] = {"softmax", "log_softmax", "cumsum",       "cumprod",
                                                 "cummax",  "cummin",      "logcumsumexp", "sort"};
  const bool keeps_sizes = std::find(std::begin(kOfRows), std::end(kOfRows), schema.name) != std::end(kOfRows);
  const int dim = schema.place_of("dim"), keepdim = schema.place_of("keepdim");
  if (step.operands.size() != 1 || !values[0].is_tensor()) return;
  const Tensor& self = values[0].tensor();
  const bool is_extreme = schema.count == 1 && (step.name == "max" || step.name == "min");
  if (is_extreme && self.numel() > 1 && self.dtype() != bool_) {
    step.row_dims = reduced_mask({}, self.dim());
    step.keeps_dims = false;
    step.fold = {.op = step.name == "max" ? Op::amax : Op::amin, .dtype = {}};
  }
  if ((!schema.is_fold() && !keeps_sizes) || dim < 0) return;
  const Dims mask = reduced_mask(values[dim].dims_arg().view(), self.dim());
  // Fewer elements than the correction give a warning.
  int64_t count = 1;
  for (int64_t i = 0; i < mask.size(); ++i) count *= mask[i] ? self.size(i) : 1;
  const int correction = schema.place_of("correction");
  if (correction >= 0 && values[correction].number(1).to<double>() >= static_cast<double>(count)) return;
  step.row_dims = mask;
  step.keeps_dims = keeps_sizes || (keepdim >= 0 && values[keepdim].boolean(false));
}

List<Tensor> Tracer::call(Op op, const Value* values) {
  const Schema& schema = schema_of(op);
  const bool is_traced = any_is_traced(tensors_of(schema, values));
  GraphStep step{.name = {}};
  std::vector<Value> metas;
  if (is_traced) metas = current->begin_call(schema, values, step);
  List<Tensor> results;
  {
    const Pause pause;
    const NoGrad unrecorded;
    results = algorithm_of(op).run(is_traced ? metas.data() : values);
  }
  if (!is_traced) return results;
  note_rows(schema, values, step);
  if (schema.count == 1) step.key = schema.block;
  step.run = [op, &schema, kept = metas](const Tensor* operands) {
    const std::vector<Value> real = with_other_tensors(schema, kept.data(), [&](const Tensor&) { return *operands++; });
    return algorithm_of(op).run(real.data());
  };
  for (Tensor& result : results)
    if (current->ids_.contains(result.impl())) result = result.view(result.sizes());  // an op that gives its operand
  current->add(std::move(step), results);
  const std::vector<Tensor> operands = tensors_of(schema, metas.data());
  if (std::none_of(operands.begin(), operands.end(), [](const Tensor& tensor) { return is_recorded(tensor); }))
    return results;
  List<Tensor> recorded;
  {
    const Pause pause;
    recorded = with_history_table.load(std::memory_order_acquire)->call(op, metas.data());
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    if (const auto known = current->ids_.find(results[i].impl()); known != current->ids_.end())
      current->name(recorded[i], known->second);
  return recorded;
}

void Tracer::call_inplace(Op op, const Value* values) {
  const Schema& schema = schema_of(op);
  const std::vector<Tensor> tensors = tensors_of(schema, values);
  check_unrecorded(schema.name, tensors);
  const bool is_traced = any_is_traced(tensors) || current->is_read(tensors[0]);
  if (is_traced) current->adopt(tensors[0]);
  GraphStep step{.name = {}};
  std::vector<Value> metas;
  if (is_traced) metas = current->begin_call(schema, values, step);
  {
    const Pause pause;
    const NoGrad unrecorded;
    algorithm_of(op).inplace(is_traced ? metas.data() : values);
  }
  if (!is_traced) return;
  step.run = [op, &schema, kept = std::move(metas)](const Tensor* operands) -> List<Tensor> {
    std::vector<Value> real = with_other_tensors(schema, kept.data(), [&](const Tensor&) { return *operands++; });
    const Tensor result = run_clone(real[0].tensor(), MemoryFormat::preserve);
    real[0] = result;
    algorithm_of(op).inplace(real.data());
    return {result};
  };
  current->overwrite(tensors[0], std::move(step));
}

auto only(const Tensor& tensor) {
  return [&tensor] { return std::vector<Tensor>{tensor}; };
}

const WithHistory kTraced{
    .elementwise =
        [](Op op, Args args, int count) {
          return Tracer::as_op(
              row_of(op).name, [&] { return tensors_of(args, count); },
              [&] { return Tracer::elementwise(op, args, count); });
        },
    .inplace = [](Op op, Tensor& self, Args args, int count) -> Tensor& {
      return *Tracer::as_op(
          row_of(op).name, [&] { return tensors_of(args, count); },
          [&] { return &Tracer::inplace(op, self, args, count); });
    },
    .reduce =
        [](Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
          return Tracer::as_op(row_of(op).name, only(self),
                               [&] { return Tracer::reduce(op, self, dims, keepdim, dtype); });
        },
    .clone =
        [](const Tensor& self, MemoryFormat format) {
          return Tracer::as_op("clone", only(self), [&] { return Tracer::clone(self, format); });
        },
    .to =
        [](const Tensor& self, Dtype dtype, MemoryFormat format) {
          return Tracer::as_op("to", only(self), [&] { return Tracer::to(self, dtype, format); });
        },
    .copy =
        [](Tensor& self, const Tensor& src) {
          Tracer::as_op(
              "copy_",
              [&] {
                return std::vector<Tensor>{self, src};
              },
              [&] { Tracer::copy(self, src); });
        },
    .fill_number = [](Tensor& self,
                      Scalar value) { Tracer::as_op("fill_", only(self), [&] { Tracer::fill_number(self, value); }); },
    .fill =
        [](Tensor& self, const Tensor& value) {
          Tracer::as_op(
              "fill_",
              [&] {
                return std::vector<Tensor>{self, value};
              },
              [&] { Tracer::fill(self, value); });
        },
    .zero = [](Tensor& self) { Tracer::as_op("zero_", only(self), [&] { Tracer::fill_number(self, 0); }); },
    .draw = [](DrawnBy by, const Tensor&, Args, int) { fail_random(by); },
    .draw_inplace = [](DrawnBy by, Tensor&, const Arg*, const std::function<void()>&) { fail_random(by); },
    .index =
        [](const Indexed& indexed) {
          return Tracer::as_op(
              "index", [&] { return tensors_of(indexed); }, [&] { return Tracer::index(indexed); });
        },
    .index_put =
        [](const Indexed& indexed, const Tensor& value, Put put) {
          Tracer::as_op(
              "index_put_", [&] { return tensors_of(indexed); }, [&] { Tracer::index_put(indexed, value, put); });
        },
    .call =
        [](Op op, const Value* values) {
          const Schema& schema = schema_of(op);
          return Tracer::as_op(
              schema.name, [&] { return tensors_of(schema, values); }, [&] { return Tracer::call(op, values); });
        },
    .call_inplace =
        [](Op op, const Value* values) {
          const Schema& schema = schema_of(op);
          Tracer::as_op(
              schema.name, [&] { return tensors_of(schema, values); }, [&] { Tracer::call_inplace(op, values); });
        },
    .check_out = [](Op, const Tensor&, Args, int) { fail_out(); },
    .check_named_out = [](const char*, const Tensor&, Args, int) { fail_out(); },
    .check =
        [](Op, const Tensor* out, const Tensor*, Args, int) {
          if (out) fail_out();
        },
    .check_resizable = [](const Tensor&, SizesView) { fail("a tensor that is traced can't be resized"); },
    .note_made = Tracer::note_made,
};

/// While it lives, the thread's calls are traced.
class Tracing {
 public:
  Tracing(Tracer*& current, Tracer* tracer) : current_(current) {
    if (current) fail("a function that is traced can't be traced inside another one");
    current = tracer;
    thread_modes.traced = &kTraced;
    thread_modes.aliased = Tracer::note_alias;
    thread_modes.grad = false;
  }
  ~Tracing() {
    thread_modes.traced = nullptr;
    thread_modes.aliased = nullptr;
    thread_modes.grad = grad_;
    current_ = nullptr;
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  Tracer*& current_;
  const bool grad_ = thread_modes.grad;
};

GraphTrace Tracer::run(const TracedFunction& function, const List<Tensor>& inputs) {
  List<Tensor> metas;
  for (const Tensor& input : inputs) {
    metas.push_back(without_data(input));
    const Tensor& meta = metas[metas.size() - 1];
    name(meta, define({.kind = GraphValue::Kind::input, .meta = meta}));
  }
  const Tracing tracing(current, this);
  const List<Tensor> results = function(metas);
  for (const Tensor& result : results) trace_.results.push_back(id_of(result));
  return std::move(trace_);
}

}  // namespace

List<Tensor> GraphStep::compute(const Tensor* tensors) const {
  try {
    return run(tensors);
  } catch (Error& error) {
    if (place > 0) error.add_note(note_of(place, name, {tensors, tensors + operands.size()}));
    throw;
  }
}

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
    const Tensor cast = self.dtype() == dtype ? self : self.view(dtype);
    return {cast.as_strided(sizes, strides, (Checked(from) + offset).or_throw("view: integer overflow"))};
  };
  return step;
}

GraphTrace trace_graph(const TracedFunction& function, const List<Tensor>& inputs) {
  GraphTrace trace = Tracer().run(function, inputs);
  merge_repeated_steps(trace);
  narrow_expanded_steps(trace);
  return trace;
}

}  // namespace tenon::fusion
