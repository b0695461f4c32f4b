// dispatch: the way up to autograd/, by a table that it fills. Takes a call with a tensor that is in a graph; gives the
// same result as the plain call, and a node that knows its derivative. What is called plain: run_..., below every
// question of history.
#pragma once
#include "dispatch/elementwise.h"
#include "tenon/schema.h"
#include "tensor/history.h"
#include "tensor/index.h"

namespace tenon {

/// All that a call without history pays.
inline bool in_graph(Args args, int count) {
  bool found = false;
  for (int i = 0; i < count; ++i) found |= args[i]->is_tensor() && args[i]->tensor().impl()->in_graph;
  return found;
}
/// Of operands in a graph: whether the call is recorded.
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

/// The calls, as dispatch knows them. The in-place ones are taken for every tensor in a graph: they check first.
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
  Tensor (*index)(const Indexed& indexed);
  void (*index_put)(const Indexed& indexed, const Tensor& value);
  /// An algorithm with an operand that requires grad, and its in-place form, whose first value is `self`.
  List<Tensor> (*call)(Op op, const Value* values);
  void (*call_inplace)(Op op, const Value* values);
  void (*check_out)(Op op, const Tensor& out, Args args, int count);
  void (*check_named_out)(const char* name, const Tensor& out, Args args, int count);
  void (*check)(Op op, const Tensor* out, const Tensor* self, Args args, int count);
  void (*check_resizable)(const Tensor& self, SizesView sizes);
};
/// Until a tensor has a history: the plain calls. The first history puts autograd's functions here.
extern constinit std::atomic<const WithHistory*> with_history_table;
inline const WithHistory& with_history() noexcept { return *with_history_table.load(std::memory_order_acquire); }

/// Error where out= meets a tensor whose operations are recorded.
inline void check_out_unrecorded(Op op, const Tensor& out, Args args, int count) {
  with_history().check_out(op, out, args, count);
}
inline void check_out_unrecorded(const char* name, const Tensor& out, Args args, int count) {
  with_history().check_named_out(name, out, args, count);
}
/// The same of both forms that write, for calls that are wrong in other ways, too: PyTorch names history first. At most
/// one of `out` and `self` is there.
inline void check_history(Op op, const Tensor* out, const Tensor* self, Args args, int count) {
  with_history().check(op, out, self, args, count);
}
/// Error where new sizes would part a tensor from its history, or change one of inference mode outside of it.
inline void check_resizable(const Tensor& self, SizesView sizes) { with_history().check_resizable(self, sizes); }

// Plain.
Tensor run_elementwise(Op op, Args args, int count);
Tensor& run_inplace(Op op, Tensor& self, Args args, int count);
Tensor run_reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
Tensor run_clone(const Tensor& self, MemoryFormat format);
Tensor run_to(const Tensor& self, Dtype dtype, MemoryFormat format);
void run_copy(const Tensor& self, const Tensor& src);
/// The same, slowly, for tensors of one shape that share no memory.
void copy_without_memory(const Tensor& self, const Tensor& src) noexcept;
void run_fill(const Tensor& self, Scalar value);
/// Error "value cannot be converted to type ..." for what elements of the dtype, so many at once, are not filled with.
void check_fill(Scalar value, Dtype dtype, int64_t numel);
/// The same without counting the write.
void write_fill(const Tensor& self, Scalar value);
void run_fill(const Tensor& self, const Tensor& value);
/// What the index tensors, of which there is one at least, name of the view.
Tensor run_index(const Indexed& indexed);
/// The reverse. Where a place is named twice, the last value stays; `add` (f32 and f64) takes them all.
enum class Put : uint8_t { replace, add };
void run_index_put(const Indexed& indexed, const Tensor& value, Put put);

}  // namespace tenon
