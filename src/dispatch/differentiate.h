// dispatch: the way up to autograd/, which defines what is declared here. Takes a call with a tensor that is in a
// graph; gives the same result as the plain call, and a node that knows its derivative. What is called plain: run_...,
// below every question of history.
#pragma once
#include "dispatch/elementwise.h"
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

// The calls, as dispatch knows them. The in-place ones are taken for every tensor in a graph: they check first.
Tensor differentiate(Op op, Args args, int count);
Tensor& differentiate_inplace(Op op, Tensor& self, Args args, int count);
Tensor differentiate_reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
Tensor differentiate_clone(const Tensor& self, MemoryFormat format);
Tensor differentiate_to(const Tensor& self, Dtype dtype, MemoryFormat format);
void differentiate_copy(Tensor& self, const Tensor& src);
void differentiate_fill(Tensor& self, Scalar value);
void differentiate_fill(Tensor& self, const Tensor& value);
void differentiate_zero(Tensor& self);
Tensor differentiate_index(const Indexed& indexed);
void differentiate_index_put(const Indexed& indexed, const Tensor& value);
/// Error where out= meets a tensor whose operations are recorded.
void check_out_unrecorded(Op op, const Tensor& out, Args args, int count);
void check_out_unrecorded(const char* name, const Tensor& out, Args args, int count);
/// The same of both forms that write, for calls that are wrong in other ways, too: PyTorch names history first. At most
/// one of `out` and `self` is there.
void check_history(Op op, const Tensor* out, const Tensor* self, Args args, int count);
/// Error where new sizes would part a tensor from its history, or change one of inference mode outside of it.
void check_resizable(const Tensor& self, SizesView sizes);

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
