// dispatch: calls into autograd/, through a table that it fills. Takes a call with a tensor in a graph; gives the
// result and records a node. The plain functions (run_...) compute without looking at history.
#pragma once
#include <functional>
#include <vector>

#include "dispatch/elementwise.h"
#include "tenon/schema.h"
#include "tensor/history.h"
#include "tensor/index.h"

namespace tenon {

/// The only test that a call without history pays for.
inline bool in_graph(Args args, int count) {
  bool found = false;
  for (int i = 0; i < count; ++i) found |= args[i]->is_tensor() && args[i]->tensor().impl()->in_graph;
  return found;
}
/// For operands in a graph: whether the call is recorded.
inline bool is_recorded(Args args, int count) {
  if (!thread_modes.grad) return false;
  for (int i = 0; i < count; ++i)
    if (args[i]->is_tensor() && args[i]->tensor().impl()->in_graph && requires_grad(args[i]->tensor().impl()))
      return true;
  return false;
}
inline bool is_recorded(const Tensor& self) {
  return self.impl()->in_graph && thread_modes.grad && requires_grad(self.impl());
}
/// Whether a call goes through `with_history`: it is recorded, or a function is traced.
inline bool has_observer(Args args, int count) { return thread_modes.traced || is_recorded(args, count); }
inline bool has_observer(const Tensor& self) {
  return self.impl()->in_graph && (thread_modes.traced || is_recorded(self));
}

[[noreturn]] void fail_unseen();
/// Throws Error if a function is traced: it would not see this write to a tensor without data.
inline void check_unseen(const Tensor& self) {
  if (self.is_meta() && thread_modes.traced) [[unlikely]]
    fail_unseen();
}

/// What index_put does: if an element is selected twice, the last value stays, or all are added. `add_up`: the same in
/// a derivative.
enum class Put : uint8_t { replace, add, add_up };

/// The names of a random function and its node.
struct DrawnBy {
  const char* call;
  const char* node;
};

/// The recorded versions of calls. In-place calls use them for every tensor in a graph, because these check whether the
/// write is allowed.
struct WithHistory {
  Tensor (*elementwise)(Op op, Args args, int count);
  Tensor& (*inplace)(Op op, Tensor& self, Args args, int count);
  Tensor (*reduce)(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
  Tensor (*clone)(const Tensor& self, MemoryFormat format);
  Tensor (*to)(const Tensor& self, Dtype dtype, MemoryFormat format);
  void (*copy)(Tensor& self, const Tensor& src);
  void (*fill_number)(Tensor& self, Scalar value);
  void (*fill)(Tensor& self, const Tensor& value);
  void (*zero)(Tensor& self);
  /// The history of random numbers: a node whose gradients are zeros. `write` changes all elements of `self`.
  void (*draw)(DrawnBy by, const Tensor& result, Args args, int count);
  void (*draw_inplace)(DrawnBy by, Tensor& self, const Arg* p, const std::function<void()>& write);
  Tensor (*index)(const Indexed& indexed);
  void (*index_put)(const Indexed& indexed, const Tensor& value, Put put);
  /// An algorithm with an operand that requires grad, and its in-place form, whose first value is `self`.
  List<Tensor> (*call)(Op op, const Value* values);
  void (*call_inplace)(Op op, const Value* values);
  void (*check_out)(Op op, const Tensor& out, Args args, int count);
  void (*check_named_out)(const char* name, const Tensor& out, Args args, int count);
  void (*check)(Op op, const Tensor* out, const Tensor* self, Args args, int count);
  void (*check_resizable)(const Tensor& self, SizesView sizes);
  void (*note_made)(const Tensor& self) = nullptr;  // of a function that is traced: a factory made this tensor
};
/// Before any tensor has a history, the table holds the plain calls. The first history replaces them by autograd's
/// functions.
extern constinit std::atomic<const WithHistory*> with_history_table;
inline const WithHistory& with_history() noexcept {
  return thread_modes.traced ? *thread_modes.traced : *with_history_table.load(std::memory_order_acquire);
}

/// Throws Error if `out` or an operand is recorded.
inline void check_out_unrecorded(Op op, const Tensor& out, Args args, int count) {
  with_history().check_out(op, out, args, count);
}
inline void check_out_unrecorded(const char* name, const Tensor& out, Args args, int count) {
  with_history().check_named_out(name, out, args, count);
}
/// The same check for the in-place and out= forms of a call that has other errors, too: PyTorch reports history first.
/// At most one of `out` and `self` is not null.
inline void check_history(Op op, const Tensor* out, const Tensor* self, Args args, int count) {
  with_history().check(op, out, self, args, count);
}
/// Throws Error if a resize would invalidate the tensor's history, or change an inference tensor outside inference
/// mode.
inline void check_resizable(const Tensor& self, SizesView sizes) { with_history().check_resizable(self, sizes); }

// Plain calls.
Tensor run_elementwise(Op op, Args args, int count);
Tensor& run_inplace(Op op, Tensor& self, Args args, int count);
Tensor run_reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
Tensor run_clone(const Tensor& self, MemoryFormat format);
Tensor run_to(const Tensor& self, Dtype dtype, MemoryFormat format);
void run_copy(const Tensor& self, const Tensor& src);
/// A slow copy that allocates nothing, for tensors of one shape that do not overlap.
void copy_without_memory(const Tensor& self, const Tensor& src) noexcept;
void run_fill(const Tensor& self, Scalar value);
/// Throws Error "value cannot be converted to type ..." if `numel` elements of the dtype cannot be filled with `value`.
void check_fill(Scalar value, Dtype dtype, int64_t numel);
/// The same without counting the write.
void write_fill(const Tensor& self, Scalar value);
void run_fill(const Tensor& self, const Tensor& value);
/// Gathers the elements that the index tensors select. There is at least one index tensor.
Tensor run_index(const Indexed& indexed);
/// The inverse: writes elements.
void run_index_put(const Indexed& indexed, const Tensor& value, Put put);
/// The same with the history of all, as PyTorch's index_put_: an undefined index selects a whole dim.
void index_put(const Tensor& self, const std::vector<Tensor>& indices, const Tensor& value, Put put);

}  // namespace tenon
