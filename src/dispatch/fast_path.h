// dispatch: the fast path for small operands: one dtype, no cast, no plan. Takes a call; gives its result, or nothing
// if the call needs the general path. Inlined into elementwise.cpp.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "dispatch/broadcast_check.h"
#include "dispatch/elementwise.h"
#include "dispatch/number.h"
#include "kernel/kernel.h"
#include "plan/plan.h"
#include "tenon/shape.h"
#include "tensor/overlap.h"
#include "tile/cast.h"
#include "tile/course.h"
#include "tile/rows.h"
#include "tile/small.h"
#include "type/visit.h"

namespace tenon {

// Below this size the result fits the caches and one thread computes it, so no plan is needed. Bench: tenon_bench
// --filter '^(tiny/\[3\]|large/equal/(L1|L2))'.
inline constexpr int64_t kFastNumel = 32768;

// So many elements that lie apart are computed one by one sooner than by a plan. Bench: ./dev bench --sweep, steps.
inline constexpr int64_t kFewElements = 512;
// So many rows are computed sooner by a call each than by a plan. Bench: ./dev bench --sweep, gaps.
inline constexpr int64_t kFewRowCalls = 32;
// Without masks more results of where are chosen faster from tiles than row by row, unless a row has one condition.
// Bench: ./dev bench --sweep, where.
inline constexpr int64_t kFewChoices = 1024;

/// A call that needs no plan: contiguous operands of equal shapes, or a contiguous tensor and a single element, of one
/// dtype that has a kernel. Holds the kernel, the lanes and the tensor whose shape the result has.
struct FastPath {
  Kernel kernel;
  const TensorImpl* tensors[kMaxArgs];  // null for a number
  Lanes in[kMaxArgs];
  Dtype result;
  const TensorImpl* like;
  Number numbers[kMaxArgs];
};

/// The kernel of an op for operands of one dtype without casts, and the result's dtype; null if there is none.
struct FastKernel {
  Kernel kernel = nullptr;
  Dtype result = bool_;
  RowsKernel rows = nullptr;
};
using FastKernels =
    std::array<std::array<FastKernel, kDtypeCount>, kOpCount + 1>;  // the last row is for custom ops and empty

inline FastKernel fast_kernel(const Row& row, Kernel kernel, RowsKernel rows, Dtype dtype) {
  const bool becomes_float = row.promotion == Promotion::int_to_float && !is_inexact(dtype);
  const bool other_dtype = row.promotion == Promotion::logical       ? itemsize(dtype) != 1
                           : row.promotion == Promotion::bool_to_int ? dtype == bool_
                                                                     : row.refuses_bool && dtype == bool_;
  const bool checks_number = row.parameters != Parameters::none && !is_floating_point(dtype);
  const bool looks_closer = (row.stepwise && widened(dtype) != dtype) || (row.refuses_complex && is_complex(dtype));
  if (row.keeps_real && !is_complex(dtype)) return {};
  const bool checks_divisors = row.divides_integers && !is_floating_point(dtype);
  if (checks_divisors || other_dtype || becomes_float || checks_number || looks_closer) return {};
  const bool gives_bool = row.promotion == Promotion::comparison || row.promotion == Promotion::logical;
  return {kernel, gives_bool ? bool_ : row.complex_to_real ? to_real(dtype) : dtype, rows};
}

inline const FastKernels& make_fast_kernels() {
  static const FastKernels table = [] {
    FastKernels rows;
    for (std::size_t op = 0; op < kOpCount; ++op)
      for (std::size_t dtype = 0; dtype < kDtypeCount; ++dtype)
        rows[op][dtype] = fast_kernel(row_of(static_cast<Op>(op)), kernels().elementwise[op][dtype],
                                      kernels().elementwise_rows[op][dtype], static_cast<Dtype>(dtype));
    return rows;
  }();
  return table;
}

/// The table's entry. The pointer may be set by several threads, always to the same value: cheaper than a guarded
/// static.
[[gnu::always_inline]] inline const FastKernel& fast_kernel(Op op, Dtype dtype) {
  static constinit std::atomic<const FastKernels*> table{nullptr};
  const FastKernels* found = table.load(std::memory_order_acquire);
  if (!found) [[unlikely]]
    table.store(found = &make_fast_kernels(), std::memory_order_release);
  return (*found)[std::min<std::size_t>(static_cast<std::size_t>(op), kOpCount)][static_cast<std::size_t>(dtype)];
}

/// Whether the fast path may round a number to `dtype`. Not for 16-bit floats, beside which a number can keep its
/// precision.
inline bool number_fits(Scalar number, Dtype dtype) {
  if (widened(dtype) != dtype) return false;
  if (!number.is_floating()) return !number.is_complex() && (dtype != bool_ || number.is_boolean());
  if (to_real(dtype) == float32) {
    const double size = std::abs(number.as_double());
    return !(size > 0x1.FFFFFEp+127) || size == std::numeric_limits<double>::infinity();  // NaN fits, too
  }
  return is_inexact(dtype);
}

/// The lanes of an operand of a result shaped like `like`; false if it needs a plan or a cast.
[[gnu::always_inline]] inline bool fast_lanes(const Arg& arg, const TensorImpl* impl, const TensorImpl* like,
                                              Dtype dtype, Number& number, Lanes& lanes) {
  if (!impl) {
    if (!number_fits(arg.number(), dtype)) return false;
    store_real(arg.number(), dtype, number.bytes);
    lanes = {number.bytes, 0};
    return true;
  }
  if (impl->dtype != dtype || impl->device != Device::cpu) return false;
  const bool whole = impl == like || (impl->contiguous && impl->sizes == like->sizes);
  if (!whole && (impl->numel != 1 || !impl->row_major || impl->sizes.size() > like->sizes.size())) return false;
  lanes = {impl->storage->data + impl->offset * itemsize(dtype), whole ? 1 : 0};  // exact: inside the storage
  return true;
}

/// The operand that gives the result's shape: the one with more elements; of two single elements the one with more
/// dims.
[[gnu::always_inline]] inline const TensorImpl* larger_operand(const TensorImpl* a, const TensorImpl* b) {
  const bool second = !a || (b && (b->numel > a->numel || (b->numel == a->numel && b->sizes.size() > a->sizes.size())));
  return second ? b : a;
}

template <int kCount>
[[gnu::always_inline]] inline bool fast_operands(Op op, Args args, FastPath& fast) {
  const TensorImpl* like = nullptr;
  for (int i = 0; i < kCount; ++i) {
    fast.tensors[i] = args[i]->is_tensor() ? args[i]->tensor().impl() : nullptr;
    like = larger_operand(like, fast.tensors[i]);
  }
  if (!like || !like->row_major || like->device != Device::cpu || like->numel == 0 || like->numel > kFastNumel)
    return false;
  const bool selects = kCount == 3 && op == Op::where;
  if (selects && !fast.tensors[1]) return false;
  const Dtype dtype = selects ? fast.tensors[1]->dtype : like->dtype;
  // Left to the general path: it refuses Boolean parameters, and with three operands the stride of a size-1 dim still
  // decides the output's layout.
  for (int i = 0; kCount >= 3 && i < kCount; ++i)
    if (fast.tensors[i] ? !fast.tensors[i]->row_major : args[i]->number().is_boolean()) return false;
  for (int i = 0; i < kCount; ++i)
    if (!fast_lanes(*args[i], fast.tensors[i], like, selects && i == 0 ? bool_ : dtype, fast.numbers[i], fast.in[i]))
      return false;
  const FastKernel& entry = fast_kernel(op, dtype);
  fast.kernel = entry.kernel;
  fast.result = entry.result;
  fast.like = like;
  return fast.kernel && !CourseRecord::now();
}

/// If all operands are single elements, the kernel computes one lane.
template <int kCount>
[[gnu::always_inline]] inline void run_fast(FastPath& fast, void* out) {
  int64_t steps = 0;
  for (int i = 0; i < kCount; ++i) steps |= fast.in[i].step;
  for (int i = 0; steps == 0 && i < kCount; ++i) fast.in[i].step = 1;
  fast.kernel(out, fast.in, fast.like->numel);
}

template <int kCount>
[[gnu::always_inline]] inline Tensor fast_result(Op op, Args args) {
  FastPath fast;
  if (!fast_operands<kCount>(op, args, fast) || !BroadcastCheck::is_silent()) return {};
  Tensor result = new_tensor(fast.like->sizes, fast.result);
  run_fast<kCount>(fast, result.impl()->data());
  return result;
}
/// The result; an undefined tensor if the call needs the general path.
[[gnu::always_inline]] inline Tensor fast_result(Op op, Args args, int count) {
  if (count == 2) return fast_result<2>(op, args);
  return count == 1 ? fast_result<1>(op, args) : count == 3 ? fast_result<3>(op, args) : fast_result<4>(op, args);
}

/// The dtype in which a kernel reads two operands, if it needs no more than casts. bool and unsigned dtypes, which some
/// ops refuse, are left to the general path.
inline bool dtype_of_small(Op op, const Arg& a, const Arg& b, Dtype& wanted) {
  const bool is_one = a.tensor().dtype() == b.tensor().dtype();
  if (row_of(op).promotion == Promotion::logical && is_one) {
    wanted = bool_;
    return (row_of(op).dtypes & set_of(a.tensor().dtype())) != 0;
  }
  if (is_one) return true;
  for (const Arg* arg : {&a, &b})
    if (const Dtype dtype = arg->tensor().dtype(); dtype == bool_ || is_wide_unsigned(dtype) || is_complex(dtype))
      return false;
  const TypedOperand operands[] = {typed(a), typed(b)};
  wanted = result_type(operands, 2);
  return widened(wanted) == wanted;
}

/// A small operand.
template <int kCount>
inline void add_small_operand(SmallBroadcast<kCount>& broadcast, int i, const TensorImpl& operand, Dtype wanted) {
  broadcast.data[i] = operand.data();
  broadcast.casts[i] = nullptr;
  if (operand.dtype == wanted) return;
  broadcast.casts[i] = kernels().cast[static_cast<int>(operand.dtype)][static_cast<int>(wanted)];
  broadcast.numels[i] = operand.numel;
  broadcast.widths[i] = itemsize(operand.dtype);
}

/// Stores a number that is one of `count` arguments; false if it needs the general path, which refuses Boolean
/// parameters.
inline bool store_if_fits(const Arg& arg, int count, Dtype dtype, Number& number) {
  if (!number_fits(arg.number(), dtype) || (count >= 3 && arg.number().is_boolean())) return false;
  store_real(arg.number(), dtype, number.bytes);
  return true;
}
/// A small tensor and a number, where the fast path can't take them because the tensor is a view. Not of two numbers.
inline bool small_beside_number(Op op, Args args, ResultStrides strides, SmallBroadcast<2>& broadcast,
                                FastKernel& entry, Number& number) {
  const int at = args[0]->is_tensor() ? 0 : 1;
  if (!args[at]->is_tensor()) return false;
  const TensorImpl& operand = *args[at]->tensor().impl();
  if (operand.device != Device::cpu || operand.numel == 0 || operand.numel > broadcast.limit || CourseRecord::now())
    return false;
  const Dtype dtype = operand.dtype;
  if (row_of(op).promotion == Promotion::logical || !store_if_fits(*args[1 - at], 2, dtype, number)) return false;
  entry = fast_kernel(op, dtype);
  broadcast.rows_kernel = entry.rows;
  StridedView views[2]{};
  views[at] = {operand.sizes, operand.strides};
  if (!entry.kernel || !broadcast.set(views, itemsize(dtype), operand.numel, operand.contiguous, strides)) return false;
  add_small_operand(broadcast, at, operand, dtype);
  broadcast.data[1 - at] = number.bytes;
  broadcast.casts[1 - at] = nullptr;
  return true;
}
/// Whether it is a broadcast of two small operands that run_small computes. `numbers`: memory for one; `asked`: the
/// dtype in which the kernel reads tensors, where the op's promotion does not decide it.
inline bool small_operands(Op op, Args args, ResultStrides strides, SmallBroadcast<2>& broadcast, FastKernel& entry,
                           Number* numbers, const Dtype* asked = nullptr) {
  if (!args[0]->is_tensor() || !args[1]->is_tensor())
    return !asked && small_beside_number(op, args, strides, broadcast, entry, *numbers);
  const TensorImpl& a = *args[0]->tensor().impl();
  const TensorImpl& b = *args[1]->tensor().impl();
  const bool on_cpu = a.device == Device::cpu && b.device == Device::cpu;
  const bool has_elements = a.numel > 0 && b.numel > 0;  // without elements, strides may be any int64
  const int64_t most = std::max(a.numel, b.numel);
  if (a.dtype != b.dtype) broadcast.limit = kSmallCastNumel;
  if (!on_cpu || !has_elements || CourseRecord::now() || most > broadcast.limit) return false;
  Dtype common = asked ? *asked : a.dtype;
  if (!asked && !dtype_of_small(op, *args[0], *args[1], common)) return false;
  if ((a.dtype != common && !a.contiguous) || (b.dtype != common && !b.contiguous)) return false;
  entry = fast_kernel(op, common);
  broadcast.rows_kernel = entry.rows;
  const StridedView views[] = {{a.sizes, a.strides}, {b.sizes, b.strides}};
  if (!entry.kernel || !broadcast.set(views, itemsize(common), most, a.contiguous && b.contiguous, strides))
    return false;
  add_small_operand(broadcast, 0, a, common);
  add_small_operand(broadcast, 1, b, common);
  return a.dtype == b.dtype || !broadcast.casts_again();
}

/// One of three small operands; false if it needs the general path.
inline bool add_any_small_operand(SmallBroadcast<3>& broadcast, int i, const Arg& arg, Dtype wanted, Number& number) {
  if (arg.is_tensor()) {
    add_small_operand(broadcast, i, *arg.tensor().impl(), wanted);
    return true;
  }
  if (!store_if_fits(arg, 3, wanted, number)) return false;
  broadcast.data[i] = number.bytes;
  broadcast.casts[i] = nullptr;
  return true;
}
/// The dtype of the tensors but for a condition; false if they have several.
inline bool dtype_of_three(Args args, bool selects, Dtype& common) {
  const TensorImpl* first = nullptr;
  for (int i = selects ? 1 : 0; i < 3; ++i) {
    if (!args[i]->is_tensor()) continue;
    const TensorImpl* impl = args[i]->tensor().impl();
    if (first && impl->dtype != first->dtype) return false;
    if (!first) first = impl;
  }
  if (first) common = first->dtype;
  return first != nullptr;
}
/// The same for three operands. Row-major ones give a row-major result.
inline bool small_operands(Op op, Args args, ResultStrides strides, SmallBroadcast<3>& broadcast, FastKernel& entry,
                           Number* numbers) {
  const bool selects = op == Op::where;
  StridedView views[3];
  int64_t most = 1;
  for (int i = 0; i < 3; ++i) {
    views[i] = {};
    if (!args[i]->is_tensor()) continue;
    const TensorImpl& operand = *args[i]->tensor().impl();
    if (operand.device != Device::cpu || operand.numel == 0 || !operand.row_major) return false;
    views[i] = {operand.sizes, operand.strides};
    most = std::max(most, operand.numel);
  }
  Dtype common;
  if (most > kSmallRowsNumel || CourseRecord::now() || !dtype_of_three(args, selects, common)) return false;
  if (selects && !(args[0]->is_tensor() && args[0]->tensor().dtype() == bool_)) return false;
  entry = fast_kernel(op, common);
  broadcast.has_condition = selects;
  broadcast.rows_kernel = entry.rows;
  if (!entry.kernel || !broadcast.set(views, itemsize(common), most, true, strides)) return false;
  if (selects && broadcast.strides[0][0] != 0 && broadcast.numel > kFewChoices && !masks_rows(1))
    broadcast.rows_kernel = nullptr;
  for (int i = 0; i < 3; ++i)
    if (!add_any_small_operand(broadcast, i, *args[i], selects && i == 0 ? bool_ : common, numbers[i])) return false;
  return true;
}

/// `more`: the dtype that is asked for.
template <int kCount, class... More>
inline Tensor small_result_of(Op op, Args args, More*... more) {
  SmallBroadcast<kCount> broadcast;
  FastKernel entry;
  Number numbers[kCount];
  if (!small_operands(op, args, ResultStrides::from_operands, broadcast, entry, numbers, more...) ||
      !BroadcastCheck::is_silent())
    return {};
  Tensor result = new_tensor(broadcast.shape(), entry.result);
  run_small(broadcast, entry.kernel, itemsize(entry.result), result.impl()->data());
  return result;
}
/// logical_not of numbers: they are compared with 0.
inline Tensor is_not(const Arg& self) {
  if ((row_of(Op::logical_not).dtypes & set_of(self.tensor().dtype())) == 0) return {};
  const Arg zero(0);
  const Arg* const args[] = {&self, &zero};
  return fast_result<2>(Op::eq, args);
}
/// The results of a map of several results, of one small operand; none if the call needs the general path.
inline List<Tensor> small_results(Op op, Args args, int count) {
  const TensorImpl* self = count == 1 && args[0]->is_tensor() ? args[0]->tensor().impl() : nullptr;
  if (!self || self->device != Device::cpu || !self->contiguous || !self->row_major) return {};
  if (self->numel == 0 || self->numel > kSmallNumel || widened(self->dtype) != self->dtype) return {};
  const Lanes in{self->data(), 1};
  List<Tensor> results;
  for (Op each = op; each != kNoOp; each = row_of(each).next_result) {
    const Kernel kernel = kernel_of(each, self->dtype);
    const bool is_cast = row_of(each).promotion == Promotion::to_int32;
    if (!kernel) return {};
    results.push_back(new_tensor(self->sizes, is_cast ? int32 : self->dtype));
    void* const out = results[results.size() - 1].impl()->data();
    alignas(64) std::byte computed[kSmallNumel * kMaxItemsize];
    kernel(is_cast ? computed : out, &in, self->numel);
    if (is_cast) cast_lanes(out, int32, computed, self->dtype, self->numel);
  }
  return results;
}
/// Whether the layout of a result is decided by the op, not by its operands alone.
inline bool has_own_layout(const Row& row, Dtype dtype) {
  return row.gives_row_major || ((row.complex_to_real || row.keeps_real) && is_complex(dtype));
}
/// Numbers beside tensors of one dtype, as lanes; false if they need the general path.
inline bool add_numbers(Args args, int count, Dtype dtype, Number* numbers, Lanes* in) {
  for (int i = 0; i < count; ++i) {
    if (args[i]->is_tensor()) continue;
    if (!store_if_fits(*args[i], count, dtype, numbers[i])) return false;
    in[i] = {numbers[i].bytes, 0};
  }
  return true;
}
/// The only tensor among the arguments, at `at`; null if there is another.
inline const TensorImpl* only_tensor(Args args, int count, int& at) {
  const TensorImpl* found = nullptr;
  for (int i = 0; i < count; ++i) {
    if (!args[i]->is_tensor()) continue;
    if (found) return nullptr;
    found = args[at = i]->tensor().impl();
  }
  return found;
}
/// Of a view alone or beside numbers, which is brought together on the stack. Not inlined: other calls would pay for so
/// large a frame.
[[gnu::noinline]] inline Tensor small_result_of_view(Op op, Args args, int count) {
  int at = 0;
  const TensorImpl* const view = only_tensor(args, count, at);
  if (!view || view->contiguous || view->device != Device::cpu || view->numel == 0 || CourseRecord::now()) return {};
  const Row& row = row_of(op);
  const FastKernel& entry = fast_kernel(op, view->dtype);
  const int64_t width = itemsize(view->dtype);  // numel * width may be more than an int64 holds
  if (!entry.kernel || view->numel > kSmallBytes / width || has_own_layout(row, view->dtype)) return {};
  Number numbers[kMaxArgs];
  Lanes in[kMaxArgs];
  if (row.promotion == Promotion::logical || !add_numbers(args, count, view->dtype, numbers, in)) return {};
  SmallBroadcast<1> broadcast;
  const StridedView strided{view->sizes, view->strides};
  if (!broadcast.set(&strided, width, view->numel, false, ResultStrides::from_operands)) return {};
  broadcast.data[0] = view->data();
  alignas(64) std::byte elements[kSmallBytes];
  run_small(broadcast, elements);
  in[at] = {elements, 1};
  Tensor result = new_tensor(view->sizes, entry.result);
  entry.kernel(result.impl()->data(), in, view->numel);
  return result;
}
/// The first tensor of a call whose tensors have one dtype and one layout, which fills its memory in another order of
/// dims than the first to last: a transposed matrix, beside numbers or others. Null if it is another call.
inline const TensorImpl* dense_operands(Op op, Args args, int count, Number* numbers, Lanes* in) {
  const TensorImpl* like = nullptr;
  for (int i = 0; i < count; ++i) {
    if (!args[i]->is_tensor()) continue;
    const TensorImpl& operand = *args[i]->tensor().impl();
    if (!like) like = &operand;
    in[i] = {operand.data(), 1};
    if (operand.dtype != like->dtype || operand.device != Device::cpu || !(operand.sizes == like->sizes) ||
        !(operand.strides == like->strides))
      return nullptr;
  }
  if (!like || like->contiguous || like->numel == 0 || like->numel > kFastNumel || CourseRecord::now()) return nullptr;
  const Row& row = row_of(op);
  if (row.promotion == Promotion::logical || has_own_layout(row, like->dtype)) return nullptr;
  if (!fast_kernel(op, like->dtype).kernel || !add_numbers(args, count, like->dtype, numbers, in)) return nullptr;
  return is_non_overlapping_and_dense(like->sizes, like->strides) ? like : nullptr;
}
[[gnu::noinline]] inline Tensor dense_result(Op op, Args args, int count) {
  Number numbers[kMaxArgs];
  Lanes in[kMaxArgs];
  const TensorImpl* const like = dense_operands(op, args, count, numbers, in);
  if (!like) return {};
  StridedView views[kMaxArgs];  // numbers are operands without dims
  const int operands = operand_count(row_of(op), count);
  for (int i = 0; i < operands; ++i)
    views[i] = args[i]->is_tensor() ? StridedView{like->sizes, like->strides} : StridedView{};
  const Dims strides = result_strides(like->sizes, views, operands);
  if (!(SizesView(strides) == SizesView(like->strides))) return {};
  const FastKernel& entry = fast_kernel(op, like->dtype);
  Tensor result = new_tensor(like->sizes, strides, entry.result, Device::cpu);
  entry.kernel(result.impl()->data(), in, like->numel);
  return result;
}

/// The result; an undefined tensor if the call needs the general path.
inline Tensor small_result(Op op, Args args, int count) {
  if (!BroadcastCheck::is_silent()) return {};
  if (op == Op::logical_not) return is_not(*args[0]);
  Tensor result = count == 2 ? small_result_of<2>(op, args) : count == 3 ? small_result_of<3>(op, args) : Tensor();
  if (!result.defined() && count != 2) result = small_result_of_view(op, args, count);
  return result.defined() ? result : dense_result(op, args, count);
}

/// Whether a small operand may be read while `out`, which has the result's shape, is written row by row.
inline bool may_write_small(const TensorImpl& out, const TensorImpl& operand) {
  return &operand == &out ? SizesView(operand.sizes) == SizesView(out.sizes) : !share_memory(operand, out);
}

/// Adds an operand of the dtype, or a number; false if it needs the general path.
template <int kCount>
inline bool add_operand_for_rows(SmallBroadcast<kCount + 1>& broadcast, int i, const Arg& arg, const TensorImpl& out,
                                 Number& number) {
  if (arg.is_tensor()) {
    const TensorImpl& operand = *arg.tensor().impl();
    broadcast.data[i] = operand.data();
    return operand.dtype == out.dtype && operand.device == Device::cpu && may_write_small(out, operand);
  }
  if (!store_if_fits(arg, kCount, out.dtype, number)) return false;
  broadcast.data[i] = number.bytes;
  return true;
}
/// Whether the kernel for rows computes these a lane at a time: 16-bit floats shorter than a vector, without masks.
template <int kCount>
inline bool has_single_lanes(const SmallBroadcast<kCount>& broadcast, Dtype dtype) {
  const bool is_half = is_floating_point(dtype) && itemsize(dtype) == 2;
  return is_half && !masks_rows(1) &&
         broadcast.counts[0] < kernels().vector_bytes / static_cast<int64_t>(sizeof(float));
}
/// Whether rows, or single elements, of such a call are computed sooner than by a plan.
template <int kCount>
inline bool fits_rows(const SmallBroadcast<kCount>& broadcast, Dtype dtype) {
  const bool has_few_rows = broadcast.numel <= kFewRowCalls * broadcast.counts[0];
  if (broadcast.is_in_rows()) return has_few_rows || (broadcast.rows_kernel && !has_single_lanes(broadcast, dtype));
  return broadcast.rows_kernel && broadcast.itemsize >= kSingleElementBytes && broadcast.numel <= kFewElements;
}
/// Operands into a tensor of their dtype whose rows lie apart, which is one of them or shares no memory with them.
template <int kCount>
inline bool small_rows_into(Op op, Tensor& out, Args args) {
  const TensorImpl& impl = *out.impl();
  const Row& row = row_of(op);
  const FastKernel& entry = fast_kernel(op, impl.dtype);
  if (!entry.kernel || entry.result != impl.dtype || row.promotion == Promotion::logical || op == Op::where)
    return false;
  if (impl.device != Device::cpu || impl.numel == 0 || impl.numel > kSmallRowsNumel || CourseRecord::now())
    return false;
  SmallBroadcast<kCount + 1> broadcast;
  Number numbers[kCount];
  StridedView views[kCount + 1]{};
  views[kCount] = {impl.sizes, impl.strides};
  broadcast.data[kCount] = impl.data();
  bool has_shape = false;  // of an operand that has all elements, so that none is missing
  for (int i = 0; i < kCount; ++i) {
    if (!add_operand_for_rows<kCount>(broadcast, i, *args[i], impl, numbers[i])) return false;
    if (!args[i]->is_tensor()) continue;
    views[i] = {args[i]->tensor().sizes(), args[i]->tensor().strides()};
    has_shape = has_shape || views[i].sizes == views[kCount].sizes;
  }
  broadcast.rows_kernel = kCount == 2 ? entry.rows : nullptr;
  if (!has_shape || !broadcast.set(views, itemsize(impl.dtype), impl.numel, true, ResultStrides::given)) return false;
  if (!(broadcast.shape() == views[kCount].sizes) || !broadcast.fills_in_order()) return false;
  if (!fits_rows(broadcast, impl.dtype)) return false;
  run_small_into(broadcast, entry.kernel);
  bump_version(out);
  return true;
}

/// The same into a tensor of the operands' layout.
[[gnu::noinline]] inline bool dense_into(Op op, Tensor& out, Args args, int count) {
  Number numbers[kMaxArgs];
  Lanes in[kMaxArgs];
  const TensorImpl* const like = dense_operands(op, args, count, numbers, in);
  const TensorImpl& impl = *out.impl();
  if (!like || !(impl.sizes == like->sizes) || !(impl.strides == like->strides)) return false;
  const FastKernel& entry = fast_kernel(op, like->dtype);
  if (impl.dtype != entry.result || impl.device != Device::cpu) return false;
  for (int i = 0; i < count; ++i)
    if (args[i]->is_tensor() && !may_write_small(impl, *args[i]->tensor().impl())) return false;
  entry.kernel(impl.data(), in, like->numel);
  bump_version(out);
  return true;
}

template <int kCount>
inline bool small_into_of(Op op, Tensor& out, Args args) {
  SmallBroadcast<kCount> broadcast;
  FastKernel entry;
  Number numbers[kCount];
  const TensorImpl* impl = out.impl();
  if (!BroadcastCheck::is_silent()) return false;
  if (!impl->contiguous) return small_rows_into<kCount>(op, out, args) || dense_into(op, out, args, kCount);
  if (impl->device != Device::cpu) return false;
  if (!small_operands(op, args, ResultStrides::given, broadcast, entry, numbers) || impl->dtype != entry.result ||
      !(SizesView(impl->sizes) == broadcast.shape()))
    return false;
  for (int i = 0; i < kCount; ++i)
    if (args[i]->is_tensor() && !may_write_small(*impl, *args[i]->tensor().impl())) return false;
  run_small(broadcast, entry.kernel, itemsize(entry.result), impl->data());
  bump_version(out);
  return true;
}
/// The same into an existing tensor, which may be an operand.
inline bool small_into(Op op, Tensor& out, Args args, int count) {
  if (count == 2) return small_into_of<2>(op, out, args);
  if (count == 3) return small_into_of<3>(op, out, args);
  if (count != 1 || out.impl()->contiguous || !BroadcastCheck::is_silent()) return false;
  return small_rows_into<1>(op, out, args) || dense_into(op, out, args, 1);
}

/// Whether `out` may be written while a kernel reads `input`: both are the same elements, or they share no memory.
[[gnu::always_inline]] inline bool may_write(const TensorImpl& out, const TensorImpl& input, const Lanes& lanes) {
  if (&input == &out) return lanes.step != 0;
  if (!share_memory(input, out)) return true;
  // Other strides are left to the general path, which refuses them as PyTorch does, even for single elements.
  return lanes.step != 0 && input.dtype == out.dtype && lanes.data == out.data() &&
         SizesView(input.strides) == SizesView(out.strides);
}

/// The fast path into an existing tensor of the right shape and dtype that is an input or shares no storage with one.
template <int kCount>
[[gnu::always_inline]] inline bool fast_into(Op op, Tensor& out, Args args) {
  FastPath fast;
  if (!fast_operands<kCount>(op, args, fast) || !BroadcastCheck::is_silent()) return false;
  const TensorImpl* impl = out.impl();
  if (impl->dtype != fast.result || !impl->contiguous || impl->device != Device::cpu) return false;
  if (impl != fast.like && !(impl->sizes == fast.like->sizes)) return false;
  for (int i = 0; i < kCount; ++i)
    if (fast.tensors[i] && !may_write(*impl, *fast.tensors[i], fast.in[i])) return false;
  run_fast<kCount>(fast, impl->data());
  bump_version(out);
  return true;
}
[[gnu::always_inline]] inline bool fast_into(Op op, Tensor& out, Args args, int count) {
  if (count == 2) return fast_into<2>(op, out, args);
  if (count == 1) return fast_into<1>(op, out, args);
  return count == 3 ? fast_into<3>(op, out, args) : fast_into<4>(op, out, args);
}

}  // namespace tenon
