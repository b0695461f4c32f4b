// dispatch: the table of ops without a formula, used by autograd. Takes an op and the values of its parameters; gives
// the results, not recorded, and which values its derivatives read.
#pragma once
#include <optional>
#include <tuple>
#include <utility>

#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "ops/row.h"
#include "tenon/schema.h"
#include "tensor/impl.h"
#include "tile/course.h"

namespace tenon {

struct Algorithm {
  static constexpr int kResults = 16;  // bit of the first result

  Op op;
  List<Tensor> (*run)(const Value* values);
  void (*inplace)(const Value* values);  // null: no in-place form
  /// What the derivative of each operand reads. Bit i: operand i; bit kResults + i: result i.
  uint32_t reads[3];
  bool has_derivative;  // of its own; an op without one is differentiated through the functions it calls, or not at all
};
const Algorithm& algorithm_of(Op op) noexcept;
const Schema& schema_of(Op op) noexcept;

/// Throws Error if `out` or an operand is in a graph: out= calls are not differentiable.
template <class... Operands>
void check_unrecorded(Op op, const Tensor& out, const Operands&... operands) {
  if (!(out.impl()->in_graph || (operands.impl()->in_graph || ...))) [[likely]]
    return;
  const Arg all[] = {Arg(operands)...};
  const Arg* args[sizeof...(operands)];
  for (std::size_t i = 0; i < sizeof...(operands); ++i) args[i] = &all[i];
  check_out_unrecorded(op, out, args, sizeof...(operands));
}

/// Whether elements are computed from the tensor, or planned to be: then the op refuses what it has no code for.
inline bool is_computed(const Tensor& tensor) { return !tensor.is_meta() || CourseRecord::plans_meta(); }
/// Throws Error for a meta tensor whose elements would be read.
inline void check_readable(const Tensor& tensor) {
  if (!is_computed(tensor)) throw NotImplementedError("Cannot copy out of meta tensor; no data!");
}
/// A 1 for each dim in `dims`. The Error is about the first dim that is out of range or repeated.
Dims mask_in_order(SizesView dims, int64_t ndim);
/// Sets the version of a new result to 0: the writes that made it do not count.
inline void forget_writes(const Tensor& result) noexcept {
  if (Storage* storage = result.impl()->storage) storage->version.store(0, std::memory_order_relaxed);
}
void check_unrecorded(Op op, const Tensor& out, const List<Tensor>& operands);

/// Error "Expected out tensor to have dtype long, but got float instead".
void check_strict_out(const Tensor& out, Dtype result);
/// Errors of addmv: matrix times vector, added to a tensor with `start`'s sizes and dtype.
void check_addmv(const Tensor& matrix, const Tensor& vector, SizesView start, Dtype start_dtype);
/// Errors of a norm's `dtype=`.
void check_norm_dtypes(const char* op, Dtype input, std::optional<Dtype> asked);
/// Writes an algorithm's finished result into `out=`, which may be an operand, or the result itself. `first`: the first
/// operand, if the op refuses outputs that partly overlap it.
Tensor& write_result(Op op, Tensor& out, const Tensor& result, const Tensor* first = nullptr);
inline constexpr std::size_t kMostResults = 4;
/// The same for what `make` computes of `self` in the dtype of `out`. PyTorch resizes `out` before it casts: its
/// warning of lost imaginary parts comes second.
template <class Make>
Tensor& write_cast_result(Op op, Tensor& out, const Tensor& self, const Make& make) {
  const auto warn = [&] {
    if (is_computed(self)) warn_of_lost_parts(self.dtype(), out.dtype(), self.numel());
  };
  if (out.sizes() == self.sizes()) {
    warn();
    return write_result(op, out, make());
  }
  const Tensor result = make();
  ResizedOutput resized(out, result.sizes(), result.strides());
  warn();
  write_result(op, out, result);
  resized.keep();
  return out;
}
/// The same for an op with several results. If one does not fit, nothing is written.
void write_results(Op op, Tensor* const* outs, const List<Tensor>& results, const Tensor* first = nullptr);

template <class... Tensors>
List<Tensor> as_list(std::tuple<Tensors...> results) {
  return std::apply([](auto&... result) { return List<Tensor>{std::move(result)...}; }, results);
}
template <std::size_t count>
auto as_tuple(List<Tensor> results) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::make_tuple(std::move(results[I])...); }
  (std::make_index_sequence<count>());
}

}  // namespace tenon
