// kernel: the loops that run a formula over lanes.
#if defined(TENON_KERNEL_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_LOOPS_INL_H
#undef TENON_KERNEL_LOOPS_INL_H
#else
#define TENON_KERNEL_LOOPS_INL_H
#endif

#include <cstring>

#include "kernel/kernel.h"
#include "kernel/lane-inl.h"

// The output is an input or does not meet it: no lane waits for another one.
#if defined(__clang__)
#define TENON_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TENON_INDEPENDENT _Pragma("GCC ivdep")
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

#include "ops/blocks-inl.h"

/// The C++ type that lanes of `T` have in memory: a bool is a byte that may hold any value.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <class T>
HWY_INLINE Lane<T> load(const Stored<T>* from, int64_t i) {
  return Lane<T>(from[i]);
}
/// Reads lane i, or the one value of a splat.
template <class T, bool kSplat>
struct Source {
  const Stored<T>* data;
  Lane<T> value;
  HWY_INLINE explicit Source(const void* from) : data(static_cast<const Stored<T>*>(from)), value(data[0]) {}
  HWY_INLINE Lane<T> operator[](int64_t i) const {
    if constexpr (kSplat)
      return value;
    else
      return load<T>(data, i);
  }
};

template <class F, class Out, class A, bool kA>
HWY_INLINE void loop(void* out, const Lanes* in, int64_t n) {
  const Source<A, kA> a(in[0].data);
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = F::forward(a[i]).v;
}
template <class F, class Out, class A, class B, bool kA, bool kB>
HWY_INLINE void loop(void* out, const Lanes* in, int64_t n) {
  const Source<A, kA> a(in[0].data);
  const Source<B, kB> b(in[1].data);
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = F::forward(a[i], b[i]).v;
}
template <class F, class Out, class A, class B, class C, bool kA, bool kB, bool kC>
HWY_INLINE void loop(void* out, const Lanes* in, int64_t n) {
  const Source<A, kA> a(in[0].data);
  const Source<B, kB> b(in[1].data);
  const Source<C, kC> c(in[2].data);
  Stored<Out>* to = static_cast<Stored<Out>*>(out);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = F::forward(a[i], b[i], c[i]).v;
}

/// One loop for every way the inputs step; the choice is made once, outside the loop. All inputs splat: the caller
/// passes them as lanes, because a splat holds a whole block.
template <class F, class Out, class A>
void unary(void* out, const Lanes* in, int64_t n) {
  loop<F, Out, A, false>(out, in, n);
}
template <class F, class Out, class A, class B>
void binary(void* out, const Lanes* in, int64_t n) {
  if (in[1].step == 0) return loop<F, Out, A, B, false, true>(out, in, n);
  if (in[0].step == 0) return loop<F, Out, A, B, true, false>(out, in, n);
  loop<F, Out, A, B, false, false>(out, in, n);
}
template <class F, class Out, class A, class B, class C>
void ternary(void* out, const Lanes* in, int64_t n) {
  const int64_t steps = in[0].step * 4 + in[1].step * 2 + in[2].step;
  switch (steps) {
    case 1:
      return loop<F, Out, A, B, C, true, true, false>(out, in, n);
    case 2:
      return loop<F, Out, A, B, C, true, false, true>(out, in, n);
    case 3:
      return loop<F, Out, A, B, C, true, false, false>(out, in, n);
    case 4:
      return loop<F, Out, A, B, C, false, true, true>(out, in, n);
    case 5:
      return loop<F, Out, A, B, C, false, true, false>(out, in, n);
    case 6:
      return loop<F, Out, A, B, C, false, false, true>(out, in, n);
    default:
      return loop<F, Out, A, B, C, false, false, false>(out, in, n);
  }
}

/// A unary formula over whole vectors; the last, partial vector goes through a block of its own.
template <class F, class T>
void unary_vectors(void* out, const Lanes* in, int64_t n) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* from = static_cast<const T*>(in[0].data);
  T* to = static_cast<T*>(out);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(F::forward(Vector<std::remove_const_t<D>>{hn::LoadU(d, from + i)}).v, d, to + i);
  if (i == n) return;
  T rest[hn::MaxLanes(d)] = {};
  std::memcpy(rest, from + i, static_cast<std::size_t>(n - i) * sizeof(T));
  hn::StoreU(F::forward(Vector<std::remove_const_t<D>>{hn::LoadU(d, rest)}).v, d, rest);
  std::memcpy(to + i, rest, static_cast<std::size_t>(n - i) * sizeof(T));
}

/// Folds with independent partial results, one per lane of a block, joined pairwise: as exact as a cascade of that
/// width.
template <class F, class T>
void fold(void* out, const void* in, int64_t n) {
  constexpr int64_t kWidth = 256 / static_cast<int64_t>(sizeof(T));
  const Stored<T>* from = static_cast<const Stored<T>*>(in);
  if (n < kWidth) {
    Lane<T> result(from[0]);
    for (int64_t i = 1; i < n; ++i) result = F::forward(result, Lane<T>(from[i]));
    std::memcpy(out, &result.v, sizeof(result.v));
    return;
  }
  Lane<T> partial[kWidth];
  for (int64_t lane = 0; lane < kWidth; ++lane) partial[lane] = Lane<T>(from[lane]);
  int64_t i = kWidth;
  for (; i + kWidth <= n; i += kWidth)
    for (int64_t lane = 0; lane < kWidth; ++lane) partial[lane] = F::forward(partial[lane], Lane<T>(from[i + lane]));
  for (int64_t lane = 0; i + lane < n; ++lane) partial[lane] = F::forward(partial[lane], Lane<T>(from[i + lane]));
  for (int64_t width = kWidth / 2; width > 0; width /= 2)
    for (int64_t lane = 0; lane < width; ++lane) partial[lane] = F::forward(partial[lane], partial[lane + width]);
  std::memcpy(out, &partial[0].v, sizeof(partial[0].v));
}

template <class T>
constexpr bool computes(const Row& row) {
  if (row.promotion == Promotion::logical) return std::is_same_v<T, bool>;
  return (row.dtypes & set_of(dtype_of_v<T>)) != 0;
}
/// Reductions fold; everything else maps.
constexpr bool is_reduction(Op op) {
  return op == Op::sum || op == Op::amax || op == Op::amin || op == Op::mean || op == Op::all || op == Op::any;
}

template <class F, class T>
constexpr Kernel elementwise_kernel() {
  constexpr const Row& row = F::row;
  if constexpr (!computes<T>(row))
    return nullptr;
  else if constexpr (row.vectors && std::is_floating_point_v<T>)
    return &unary_vectors<F, T>;
  else if constexpr (row.promotion == Promotion::select)
    return &ternary<F, T, bool, T, T>;
  else if constexpr (row.promotion == Promotion::comparison || row.promotion == Promotion::logical) {
    if constexpr (row.arity == 1)
      return &unary<F, bool, T>;
    else
      return &binary<F, bool, T, T>;
  } else if constexpr (row.arity == 1)
    return &unary<F, T, T>;
  else if constexpr (row.arity == 2)
    return &binary<F, T, T, T>;
  else
    return &ternary<F, T, T, T, T>;
}

/// Fills the columns of one dtype of computation.
template <class T>
void fill_dtype(KernelTable& table) {
  constexpr int column = static_cast<int>(dtype_of_v<T>);
#define TENON_OP(NAME, KIND)                                                                    \
  if constexpr (ops::NAME::row.whole) {                                                         \
  } else if constexpr (is_reduction(Op::NAME)) {                                                \
    table.fold[static_cast<int>(Op::NAME)][column] = &fold<ops::NAME, T>;                       \
    table.elementwise[static_cast<int>(Op::NAME)][column] = &binary<ops::NAME, T, T, T>;        \
  } else {                                                                                      \
    table.elementwise[static_cast<int>(Op::NAME)][column] = elementwise_kernel<ops::NAME, T>(); \
  }
#include "tenon/ops.def"
#undef TENON_OP
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();
#endif
