// kernel: takes contiguous lanes; gives contiguous lanes. Never sees a shape, a stride or a dtype rule.
// One table per instruction set, chosen once; every entry is a plain function.
#pragma once
#include <array>
#include <cstdint>

#include "ops/row.h"
#include "tenon/dtype.h"
#include "tenon/lanes.h"

namespace tenon {

/// *out = the fold of `n` >= 1 lanes; of 16-bit floats in float32.
using FoldKernel = void (*)(void* out, const void* in, int64_t n);

/// Copies by element size: index 0 for 1 byte, 1 for 2, 2 for 4, 3 for 8, 4 for 16.
struct MoveKernels {
  /// Reads a two-dimensional block: out[i1 * n0 + i0] = in[i1 * stride1 + i0 * stride0]. Strides in elements.
  void (*gather)(void* out, const void* in, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1);
  /// The way back: out[i1 * stride1 + i0 * stride0] = in[i1 * n0 + i0].
  void (*scatter)(void* out, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1, const void* in);
  /// out[i] = in[i / times] for n * times elements.
  void (*repeat)(void* out, const void* in, int64_t times, int64_t n);
  /// out[i] = value for n elements.
  void (*fill)(void* out, const void* value, int64_t n);
  /// out[row * out_stride + column] = in[column * stride + row].
  void (*transpose)(void* out, int64_t out_stride, const void* in, int64_t stride, int64_t rows, int64_t columns);
};

/// A part of a product of matrices: out = a b, or out += a b. Strides in elements.
struct ProductBlock {
  void* out;
  int64_t out_stride;  // between rows, whose elements lie side by side
  const void* a;
  int64_t a_row, a_depth;
  int64_t a_tile;  // from kProductRows rows to the next
  const void* b;
  int64_t b_depth;  // between rows, whose elements lie side by side
  int64_t b_panel;  // from as many columns as a tile has to the next
  int64_t rows, columns, depth;
  bool adds;
};
/// Products of small matrices, one behind the other. `out` is row-major without gaps.
struct SmallProducts {
  ProductBlock block;  // of the first
  int64_t batches, a_batch, b_batch;
};
/// Rows of a tile.
inline constexpr int64_t kProductRows = 6;
/// Each element is summed in an order that depth alone decides.
struct ProductKernels {
  /// Reads `b` up to whole vectors of columns.
  void (*multiply)(const ProductBlock& block) = nullptr;
  /// out = a b of what lies side by side along depth, in both operands; b_depth: between columns of `b`.
  void (*multiply_transposed)(const ProductBlock& block) = nullptr;
  /// In the order of `multiply`. Reads `b` no further than its columns.
  void (*multiply_small)(const SmallProducts& products) = nullptr;
  int64_t panel = 0;   // columns of a tile
  int64_t vector = 0;  // columns of a vector
};

/// A fold with a State, over lanes of one dtype. A state is up to three lanes: field f of state i lies at
/// states[f * stride + i], and there is room for 16 states behind the last one. Wide states are of float64 or int64.
/// `numbers`: parameters that the formula reads.
struct StateKernels {
  /// `count` runs of `n` elements, `step` apart: each becomes a state.
  void (*along)(void* states, int64_t stride, const void* in, int64_t step, int64_t count, int64_t n,
                const double* numbers);
  /// Each of `rows` rows of `n` elements, `step` apart, gives one element to each of `n` states, which have taken
  /// `taken` before; none: they begin. Of fewer than 16 elements, 16 may be read.
  void (*across)(void* states, int64_t stride, const void* in, int64_t step, int64_t rows, int64_t n, int64_t taken,
                 const double* numbers);
  /// Joins states to wide ones, which begin where `fresh`. `start`: the place of the states' first element.
  void (*absorb)(void* wide, const void* states, int64_t stride, int64_t n, int64_t start, bool fresh,
                 const double* numbers);
  /// The results of wide states, where `along`'s dtype is theirs; in that dtype. Result r of state i is
  /// out[r * stride + i].
  void (*finish)(void* out, const void* states, int64_t stride, int64_t n, const double* numbers);
  int fields, results;
};

/// Results that leave past the caches at once, whatever their dtype: one cache line or several.
inline constexpr int64_t kStreamedLanes = 64;

/// The op whose formula, and so whose kernels, an op has: mostly its own.
constexpr Op formula_of(Op op) {
  return op == Op::sub_alpha ? Op::add_alpha : op == Op::mean ? Op::sum : op == Op::sgn ? Op::sign : op;
}

struct KernelTable {
  const char* name;  // of the instruction set
  // By op and dtype of computation; null where there is none. A reduction's joins two partial results.
  Kernel elementwise[kOpCount][kDtypeCount];
  Kernel cast[kDtypeCount][kDtypeCount];  // from, to; of one dtype: a copy
  // The same past the caches: `out` lies on a cache line, `n` is a multiple of kStreamedLanes.
  Kernel elementwise_streamed[kOpCount][kDtypeCount];
  Kernel cast_streamed[kDtypeCount][kDtypeCount];
  FoldKernel fold[kOpCount][kDtypeCount];  // reductions over lanes
  const StateKernels* state_fold[kOpCount][kDtypeCount];
  MoveKernels move[5];
  ProductKernels product[kDtypeCount];  // of float32, float64, int32 and int64
};

/// The table of the best instruction set this machine has (TENON_ISA=AVX2 asks for another one).
const KernelTable& kernels() noexcept;

/// Those of ops that were defined from outside, by dtype of computation.
using CustomKernels = std::array<Kernel, kDtypeCount>;
const CustomKernels& custom_kernels(Op op) noexcept;
void set_custom_kernels(Op op, const CustomKernels& kernels);
/// Of any elementwise op; null where it has no code for the dtype.
inline Kernel kernel_of(Op op, Dtype compute) noexcept {
  if (is_custom(op)) [[unlikely]]
    return custom_kernels(op)[static_cast<std::size_t>(compute)];
  return kernels().elementwise[static_cast<int>(op)][static_cast<int>(compute)];
}
/// Null where results can't leave past the caches by themselves.
inline Kernel streamed_kernel_of(Op op, Dtype compute) noexcept {
  if (is_custom(op)) [[unlikely]]
    return nullptr;
  return kernels().elementwise_streamed[static_cast<int>(op)][static_cast<int>(compute)];
}

}  // namespace tenon
