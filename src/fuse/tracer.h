// fuse: the trace of a function while it runs: which value of the graph each of its tensors holds. A call that the
// function makes becomes a step (traced_calls.cpp).
#pragma once
#include <algorithm>
#include <unordered_map>

#include "dispatch/differentiate.h"
#include "fuse/graph.h"
#include "tensor/history.h"
#include "tensor/impl.h"

namespace tenon::fusion {

/// The table of calls that stands before autograd's while a function is traced.
extern const WithHistory traced_calls;

[[noreturn]] void fail(const std::string& what);

/// Whether a traced function computes one of these tensors: only those have no data.
template <class Tensors>
bool any_is_traced(const Tensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return tensor.is_meta(); });
}
inline bool any_is_traced(Args args, int count) {
  return std::any_of(args, args + count, [](const Arg* arg) { return arg->is_tensor() && arg->tensor().is_meta(); });
}

/// The same sizes, strides and dtype.
Tensor without_data(const Tensor& tensor);
/// Whether one place in memory holds both the same way, if both lie in it.
bool has_layout_of(const Tensor& tensor, const Tensor& other);

/// A text that is equal for equal arguments.
template <class... Words>
std::string key_of(const char* name, const Words&... words) {
  std::string key = name;
  ((key += ' ' + std::to_string(words)), ...);
  return key;
}

std::string key_of_dims(std::string key, SizesView dims);

/// For an error of the function's op number `place`: its operands' dtypes and sizes.
std::string note_of(int place, const std::string& name, const std::vector<Tensor>& operands);

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
  static bool shares_memory(const Tensor& a, const Tensor& b) { return current->root_of(a) == current->root_of(b); }
  static void note_forward(const List<Tensor>& results) {
    if (!current) return;
    GraphTrace& trace = current->trace_;
    trace.forward_results.clear();
    for (const Tensor& result : results) trace.forward_results.push_back(current->id_of(result));
    trace.forward_steps = static_cast<int>(trace.steps.size());
  }
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
  bool is_known(const Tensor& tensor) const {
    return ids_.contains(original_of(tensor)) || is_known_view(tensor) || !tensor.is_meta();
  }
  const TensorImpl* base_of(const Tensor& view) const {
    const auto known = originals_.find(view.impl()->base);
    return known == originals_.end() ? view.impl()->base : known->second;
  }
  /// What stands for the memory of a tensor without data.
  const TensorImpl* root_of(const Tensor& tensor) const {
    const TensorImpl* const impl = original_of(tensor);
    if (!impl->base) return impl;
    const auto known = originals_.find(impl->base);
    return known == originals_.end() ? impl->base : known->second;
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
  /// A call on tensors from elsewhere, or made of numbers: it runs now. What it gives is the function's own.
  template <class Call>
  static auto run_now(const std::vector<Tensor>& operands, const Call& call) {
    for (const Tensor& operand : operands)
      current->trace_.reads_recorded |= (current->records_ || thread_modes.grad) && operand.requires_grad();
    const Pause pause;
    auto given = call();
    const auto note = [&](const Tensor& result) {
      if (std::none_of(operands.begin(), operands.end(), [&](const Tensor& operand) { return operand.is(result); }))
        note_made(result);
    };
    if constexpr (std::is_same_v<decltype(given), Tensor>)
      note(given);
    else
      std::for_each(given.begin(), given.end(), note);
    return given;
  }
  /// Lets calls write to a tensor that the function made of numbers: what it holds becomes a value.
  void adopt(const Tensor& self);
  /// The tensor holds what the step makes from now on.
  void overwrite(const Tensor& self, GraphStep step);

  template <class Call>
  static auto run_plainly(const Call& call);
  /// Writes in place are traced without their history.
  static void check_unrecorded(const char* name, const std::vector<Tensor>& tensors) {
    if (std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return is_recorded(tensor); }))
      fail(std::string(name) + "() writes in place what has a gradient");
  }

  static constinit thread_local Tracer* current;

  const bool records_ = thread_modes.grad;
  int ops_ = 0;  // that the function called
  GraphTrace trace_;
  std::unordered_map<const TensorImpl*, int> ids_;
  std::unordered_map<const TensorImpl*, const TensorImpl*> originals_;  // of aliases
  // Kept alive, so that no other tensor gets their address.
  std::vector<Tensor> named_;
  std::unordered_map<const TensorImpl*, Tensor> made_;  // of numbers, by the function
};

}  // namespace tenon::fusion
