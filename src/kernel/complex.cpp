// Kernels of complex numbers. They give the numbers that PyTorch's formulas give: products of parts are not fused, and
// quotients are computed as in NumPy.
#include <cmath>
#include <complex>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/complex.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#define TENON_COMPLEX_FUNCTION(NAME, FUNCTION) \
  template <ComplexLane Z>                     \
  HWY_INLINE Lane<Z> NAME(Lane<Z> a) {         \
    return lane_of(FUNCTION(standard(a)));     \
  }
TENON_COMPLEX_FUNCTION(sine, std::sin)
TENON_COMPLEX_FUNCTION(cosine, std::cos)
TENON_COMPLEX_FUNCTION(tangent, std::tan)
TENON_COMPLEX_FUNCTION(arc_sine, std::asin)
TENON_COMPLEX_FUNCTION(arc_cosine, std::acos)
TENON_COMPLEX_FUNCTION(arc_tangent, std::atan)
TENON_COMPLEX_FUNCTION(hyperbolic_sine, std::sinh)
TENON_COMPLEX_FUNCTION(hyperbolic_cosine, std::cosh)
TENON_COMPLEX_FUNCTION(inverse_hyperbolic_sine, std::asinh)
TENON_COMPLEX_FUNCTION(inverse_hyperbolic_cosine, std::acosh)
TENON_COMPLEX_FUNCTION(inverse_hyperbolic_tangent, std::atanh)
TENON_COMPLEX_FUNCTION(logarithm_to_10, std::log10)
#undef TENON_COMPLEX_FUNCTION
template <ComplexLane Z>
HWY_INLINE Lane<Z> exponential_of_2(Lane<Z> a) {
  const auto log2 = static_cast<typename Z::value_type>(kLog2);
  return exponential(Lane<Z>(a.v.re * log2, a.v.im * log2));
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> logarithm_to_2(Lane<Z> a) {
  const auto log2 = static_cast<typename Z::value_type>(kLog2);
  const Lane<Z> natural = logarithm(a);
  return {natural.v.re / log2, natural.v.im / log2};
}
/// exp(a) - 1 and log(1 + a), accurate near 0.
template <ComplexLane Z>
HWY_INLINE Lane<Z> exponential_less_1(Lane<Z> a) {
  const auto half = std::sin(a.v.im / 2);
  return {std::expm1(a.v.re) * std::cos(a.v.im) - 2 * half * half, std::exp(a.v.re) * std::sin(a.v.im)};
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> logarithm_of_1_more(Lane<Z> a) {
  using Part = typename Z::value_type;
  if (!(a.v.re * a.v.re + a.v.im * a.v.im < Part{0.25})) return logarithm(Lane<Z>(a.v.re + 1, a.v.im));
  const Part more = a.v.re * (2 + a.v.re) + a.v.im * a.v.im;  // the square of the magnitude, less 1
  return {more == 0 ? a.v.re : std::log1p(more) / 2, std::atan2(a.v.im, a.v.re + 1)};
}
/// The sign: a / |a|, and 0 at 0. A quotient of complex numbers of which the second is real, which compilers vectorise.
/// Subnormal numbers are multiplied first: the reciprocal of their length may be infinite.
template <ComplexLane Z>
HWY_INLINE Lane<Z> signum(Lane<Z> a) {
  using Part = typename Z::value_type;
  const Part own = magnitude(a).v.re, factor = own < std::numeric_limits<Part>::min() ? Part{0x1p64} : Part{1};
  const Part length = own * factor, ratio = 0 / length, scale = Part{1} / length;
  const Part re = (a.v.re * factor + unfused(a.v.im * ratio)) * scale;
  const Part im = (a.v.im * factor - unfused(a.v.re * ratio)) * scale;
  return {length == 0 ? 0 : re, length == 0 ? 0 : im};
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> to_power(Lane<Z> a, Lane<Z> b) {
  return lane_of(std::pow(standard(a), standard(b)));
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> sine_by_angle(Lane<Z> a) {
  const auto pi = static_cast<typename Z::value_type>(3.14159265358979323846);
  const Lane<Z> angle(a.v.re * pi, a.v.im * pi);
  return a.v.re == 0 && a.v.im == 0 ? Lane<Z>(1) : sine(angle) / angle;
}
/// Of equal infinite real parts: the number itself, or the logarithm of the infinite sum.
template <ComplexLane Z>
HWY_INLINE Lane<Z> logarithm_of_sum(Lane<Z> a, Lane<Z> b) {
  const auto is_nan = [](Lane<Z> z) { return z.v.re != z.v.re || z.v.im != z.v.im; };
  const auto nan = std::numeric_limits<typename Z::value_type>::quiet_NaN();
  if (is_nan(a) || is_nan(b)) return {nan, nan};
  const Lane<Z> low = a.v.re < b.v.re ? a : b, high = a.v.re < b.v.re ? b : a;
  if (std::isinf(low.v.re) && low.v.re == high.v.re)
    return low.v.re < 0 ? low : logarithm(exponential(low) + exponential(high));
  return logarithm_of_1_more(exponential(low - high)) + high;
}
/// The magnitudes, in the dtype of the parts.
template <class Z>
void magnitudes(void* out, const Lanes* in, int64_t n) {
  const Z* from = static_cast<const Z*>(in[0].data);
  auto* to = static_cast<typename Z::value_type*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = magnitude(Lane<Z>(from[i])).v.re;
}

#if TENON_HAS_VECTORS
/// Reads one input as vectors of alternating real and imaginary parts.
template <class D, class Z, bool kSplat>
class PartSource {
 public:
  HWY_INLINE explicit PartSource(const void* data) : data_(static_cast<const Part*>(data)) {
    // The real part comes first.
    if constexpr (kSplat) splat_ = hn::OddEven(hn::Set(D(), data_[1]), hn::Set(D(), data_[0]));
  }
  HWY_INLINE hn::Vec<D> at(int64_t i) const {
    if constexpr (kSplat)
      return splat_;
    else
      return hn::LoadU(D(), data_ + i);
  }
  HWY_INLINE Lane<Z> number(int64_t i) const {
    const Part* one = data_ + (kSplat ? 0 : i);
    return {one[0], one[1]};
  }

 private:
  using Part = hn::TFromD<D>;
  const Part* data_;
  hn::Vec<D> splat_;
};
/// The same of lanes or a splat, which is expanded.
template <class D, class Z>
class AnyPartSource {
 public:
  HWY_INLINE explicit AnyPartSource(const Lanes& lanes)
      : data_(static_cast<const Part*>(lanes.data)), mask_(lanes.step == 0 ? 0 : -1) {
    if (mask_ != 0) return;
    hn::Store(hn::OddEven(hn::Set(D(), data_[1]), hn::Set(D(), data_[0])), D(), block_);
    data_ = block_;
  }
  AnyPartSource(const AnyPartSource&) = delete;
  AnyPartSource& operator=(const AnyPartSource&) = delete;
  HWY_INLINE hn::Vec<D> at(int64_t i) const { return hn::LoadU(D(), data_ + (i & mask_)); }
  HWY_INLINE Lane<Z> number(int64_t i) const { return {data_[i & mask_], data_[(i & mask_) + 1]}; }

 private:
  using Part = hn::TFromD<D>;
  const Part* data_;
  int64_t mask_;
  alignas(64) Part block_[hn::MaxLanes(D())];
};
template <class D, class V>
HWY_INLINE V product_of_numbers(D d, V x, V y) {
  const V minus = hn::OddEven(hn::Zero(d), hn::Set(d, hn::TFromD<D>{-0.0}));
  const V crossed = hn::Mul(hn::DupOdd(x), hn::Reverse2(d, y));  // im * im, im * re
  return hn::Add(hn::Mul(hn::DupEven(x), y), hn::Xor(crossed, minus));
}
template <class Z>
HWY_INLINE void store_number(typename Z::value_type* to, Lane<Z> number) {
  to[0] = number.v.re;
  to[1] = number.v.im;
}
template <class Z, bool kA, bool kB>
HWY_INLINE void multiply_numbers(void* out, const Lanes* in, int64_t n) {
  using Part = typename Z::value_type;
  using D = hn::ScalableTag<Part>;
  const D d;
  const PartSource<D, Z, kA> a(in[0].data);
  const PartSource<D, Z, kB> b(in[1].data);
  Part* to = static_cast<Part*>(out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= 2 * n; i += lanes) hn::StoreU(product_of_numbers(d, a.at(i), b.at(i)), d, to + i);
  for (; i < 2 * n; i += 2) store_number<Z>(to + i, a.number(i) * b.number(i));
}
template <class Z>
void multiply(void* out, const Lanes* in, int64_t n) {
  if (in[1].step == 0) return multiply_numbers<Z, false, true>(out, in, n);
  if (in[0].step == 0) return multiply_numbers<Z, true, false>(out, in, n);
  multiply_numbers<Z, false, false>(out, in, n);
}
/// The angle from the positive real numbers, in the dtype of the parts.
template <class Z>
void angles(void* out, const Lanes* in, int64_t n) {
  using Part = typename Z::value_type;
  using D = hn::ScalableTag<Part>;
  const D d;
  static constexpr int64_t kLanes = hn::MaxLanes(D());
  const auto angles_of = [d](const Part* from) HWY_ATTR {
    Vector<D> re, im;
    hn::LoadInterleaved2(d, from, re.v, im.v);
    return ops::atan2::forward(im, re).v;
  };
  const Part* from = static_cast<const Part*>(in[0].data);
  Part* to = static_cast<Part*>(out);
  for (; n >= kLanes; n -= kLanes, from += 2 * kLanes, to += kLanes) hn::StoreU(angles_of(from), d, to);
  if (n == 0) return;
  Part rest[2 * kLanes];
  std::fill(std::copy(from, from + 2 * n, rest), rest + 2 * kLanes, Part{1});
  store_some(d, angles_of(rest), to, n);
}
/// 1 / a, as the division of numbers computes it. Compilers do not see that `along` and `across` are constants.
template <class Z>
void reciprocals(void* out, const Lanes* in, int64_t n) {
  using Part = typename Z::value_type;
  using D = hn::ScalableTag<Part>;
  using V = hn::Vec<D>;
  const D d;
  const V zero = hn::Zero(d), one = hn::Set(d, Part{1}), minus_one = hn::Set(d, Part{-1}), infinite = hn::Inf(d);
  const Part* from = static_cast<const Part*>(in[0].data);
  Part* to = static_cast<Part*>(out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; n >= lanes; n -= lanes, from += 2 * lanes, to += 2 * lanes) {
    V re, im;
    hn::LoadInterleaved2(d, from, re, im);
    const auto turned = hn::Not(hn::Ge(hn::Abs(re), hn::Abs(im)));
    const auto is_zero = hn::And(hn::Eq(re, zero), hn::Eq(im, zero));
    const V large = hn::IfThenElse(turned, im, re), ratio = hn::Div(hn::IfThenElse(turned, re, im), large);
    const V scale = hn::Div(one, hn::Add(large, hn::Mul(hn::IfThenElse(turned, re, im), ratio)));
    const V along = hn::Mul(hn::IfThenElse(turned, hn::Add(zero, ratio), one), scale);
    const V across = hn::Mul(hn::IfThenElse(turned, minus_one, hn::Sub(zero, ratio)), scale);
    hn::StoreInterleaved2(hn::IfThenElse(is_zero, infinite, along), across, d, to);  // 0 / 0 is NaN
  }
  for (; n > 0; --n, from += 2, to += 2) store_number<Z>(to, ops::reciprocal::forward(Lane<Z>(from[0], from[1])));
}
/// add with alpha.
template <class Z>
void add_multiples(void* out, const Lanes* in, int64_t n) {
  using Part = typename Z::value_type;
  using D = hn::ScalableTag<Part>;
  const D d;
  const AnyPartSource<D, Z> a(in[0]), b(in[1]), alpha(in[2]);
  Part* to = static_cast<Part*>(out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= 2 * n; i += lanes)
    hn::StoreU(hn::Add(product_of_numbers(d, alpha.at(i), b.at(i)), a.at(i)), d, to + i);
  for (; i < 2 * n; i += 2) store_number<Z>(to + i, ops::add_alpha::forward(a.number(i), b.number(i), alpha.number(i)));
}
/// addcmul.
template <class Z>
void add_products(void* out, const Lanes* in, int64_t n) {
  using Part = typename Z::value_type;
  using D = hn::ScalableTag<Part>;
  const D d;
  const AnyPartSource<D, Z> a(in[0]), b(in[1]), c(in[2]), factor(in[3]);
  Part* to = static_cast<Part*>(out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= 2 * n; i += lanes) {
    const auto product = product_of_numbers(d, product_of_numbers(d, factor.at(i), b.at(i)), c.at(i));
    hn::StoreU(hn::Add(product, a.at(i)), d, to + i);
  }
  for (; i < 2 * n; i += 2)
    store_number<Z>(to + i, ops::addcmul::forward(a.number(i), b.number(i), c.number(i), factor.number(i)));
}
/// lerp by one weight, from the end that is nearer.
template <class Z>
HWY_INLINE void between_by(Lane<Z> weight, void* out, const Lanes* in, int64_t n) {
  using Part = typename Z::value_type;
  using D = hn::ScalableTag<Part>;
  const D d;
  const bool near = weight.v.re * weight.v.re + weight.v.im * weight.v.im < Part{0.25};
  const Lane<Z> share = near ? weight : Lane<Z>(1) - weight;
  const AnyPartSource<D, Z> a(in[0]), end(in[1]), from(in[near ? 0 : 1]);
  const PartSource<D, Z, true> by(&share.v);
  const auto sign = hn::Set(d, near ? Part{0} : Part{-0.0});  // a step back is subtracted
  Part* to = static_cast<Part*>(out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= 2 * n; i += lanes) {
    const auto step = product_of_numbers(d, by.at(i), hn::Sub(end.at(i), a.at(i)));
    hn::StoreU(hn::Add(from.at(i), hn::Xor(step, sign)), d, to + i);
  }
  for (; i < 2 * n; i += 2) store_number<Z>(to + i, between(a.number(i), end.number(i), weight));
}
template <class Z>
void lerps(void* out, const Lanes* in, int64_t n) {
  if (in[2].step == 0) return between_by(Lane<Z>(*static_cast<const Z*>(in[2].data)), out, in, n);
  several<ops::lerp, Z, Z, Z, Z>(out, in, n);
}
#else
template <class Z>
void lerps(void* out, const Lanes* in, int64_t n) {
  by_steps<ops::lerp, Z, Z, Z, Z>(out, in, n);
}
template <class Z>
void multiply(void* out, const Lanes* in, int64_t n) {
  binary<ops::mul, Z, Z, Z>(out, in, n);
}
template <class Z>
void angles(void* out, const Lanes* in, int64_t n) {
  const Z* from = static_cast<const Z*>(in[0].data);
  auto* to = static_cast<typename Z::value_type*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = std::atan2(from[i].im, from[i].re);
}
template <class Z>
void reciprocals(void* out, const Lanes* in, int64_t n) {
  unary<ops::reciprocal, Z, Z>(out, in, n);
}
template <class Z>
void add_multiples(void* out, const Lanes* in, int64_t n) {
  by_steps<ops::add_alpha, Z, Z, Z, Z>(out, in, n);
}
template <class Z>
void add_products(void* out, const Lanes* in, int64_t n) {
  by_steps<ops::addcmul, Z, Z, Z, Z, Z>(out, in, n);
}
#endif

/// A function of what `first` gives (kernel/complex_functions.cpp), then `last`, in loops that compilers vectorise.
template <class Z, class First, class Last>
HWY_INLINE void run_in_loops(Op function, void* out, const Lanes* in, int64_t n, const First& first, const Last& last) {
  constexpr int64_t kTogether = 64;
  const Kernel kernel = kernels().elementwise[static_cast<int>(function)][static_cast<int>(dtype_of_v<Z>)];
  const Z* from = static_cast<const Z*>(in[0].data);
  Z* to = static_cast<Z*>(out);
  for (; n > 0; n -= kTogether, from += kTogether, to += kTogether) {
    const int64_t count = std::min(n, kTogether);
    Z between[kTogether];
    const Lanes lanes[] = {{between, 1}};
    for (int64_t i = 0; i < count; ++i) between[i] = first(Lane<Z>(from[i])).v;
    kernel(between, lanes, count);
    TENON_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) to[i] = last(Lane<Z>(from[i]), Lane<Z>(between[i])).v;
  }
}
template <class Z>
void inverse_roots(void* out, const Lanes* in, int64_t n) {
  run_in_loops<Z>(
      Op::sqrt, out, in, n, [](Lane<Z> a) HWY_ATTR { return a; },
      [](Lane<Z>, Lane<Z> root) HWY_ATTR { return Lane<Z>(1) / root; });
}
template <class Z>
void logistics(void* out, const Lanes* in, int64_t n) {
  run_in_loops<Z>(
      Op::exp, out, in, n, [](Lane<Z> a) HWY_ATTR { return -a; },
      [](Lane<Z>, Lane<Z> power) HWY_ATTR { return Lane<Z>(1) / (Lane<Z>(1) + power); });
}
template <class Z>
void times_logistics(void* out, const Lanes* in, int64_t n) {
  run_in_loops<Z>(
      Op::exp, out, in, n, [](Lane<Z> a) HWY_ATTR { return -a; },
      [](Lane<Z> a, Lane<Z> power) HWY_ATTR { return a / (Lane<Z>(1) + power); });
}
// Ops whose loops are not those of a formula. `mul`, `reciprocal`, `add` with alpha, `addcmul` and `lerp` by a number
// go by whole Highway vectors: GCC stores its own vectors in halves, and a load of the whole then has to wait. `where`
// only moves elements: complex64 uses the loops of int64, complex128 one loop for all combinations of steps. Functions
// by parts: kernel/complex_functions.cpp.
#define TENON_OWN_LOOP_OF(NAME, Z)            \
  template <>                                 \
  constexpr bool has_kernel<ops::NAME, Z>() { \
    return false;                             \
  }
#define TENON_OWN_LOOP(NAME)         \
  TENON_OWN_LOOP_OF(NAME, Complex64) \
  TENON_OWN_LOOP_OF(NAME, Complex128)
TENON_OWN_LOOP(mul)
TENON_OWN_LOOP(reciprocal)
TENON_OWN_LOOP(add_alpha)
TENON_OWN_LOOP(addcmul)
TENON_OWN_LOOP(lerp)
TENON_OWN_LOOP(rsqrt)
TENON_OWN_LOOP(sigmoid)
TENON_OWN_LOOP(silu)
TENON_OWN_LOOP(where)
TENON_OWN_LOOP(exp)
TENON_OWN_LOOP(exp2)
TENON_OWN_LOOP(sin)
TENON_OWN_LOOP(cos)
TENON_OWN_LOOP(tan)
TENON_OWN_LOOP(sinh)
TENON_OWN_LOOP(cosh)
TENON_OWN_LOOP(tanh)
TENON_OWN_LOOP(sqrt)
TENON_OWN_LOOP_OF(log, Complex64)
TENON_OWN_LOOP_OF(log2, Complex64)
TENON_OWN_LOOP_OF(log10, Complex64)
#undef TENON_OWN_LOOP
#undef TENON_OWN_LOOP_OF
void select(void* out, const Lanes* in, int64_t n) {
  const uint8_t* condition = static_cast<const uint8_t*>(in[0].data);
  const Complex128 *a = static_cast<const Complex128*>(in[1].data), *b = static_cast<const Complex128*>(in[2].data);
  Complex128* to = static_cast<Complex128*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = condition[i * in[0].step] != 0 ? a[i * in[1].step] : b[i * in[2].step];
}

/// Fills the columns of one complex dtype.
template <class Z>
void fill_complex(KernelTable& table) {
  constexpr int column = static_cast<int>(dtype_of_v<Z>);
  fill_dtype<Z>(table);
  set_kernels(table, Op::mul, column, kernel_pair<&multiply<Z>, Z, Z, Z>());
  set_kernels(table, Op::add_alpha, column, kernel_pair<&add_multiples<Z>, Z, Z, Z, Z>());
  set_kernels(table, Op::addcmul, column, kernel_pair<&add_products<Z>, Z, Z, Z, Z, Z>());
  set_kernels(table, Op::lerp, column, kernel_pair<&lerps<Z>, Z, Z, Z, Z>());
  set_kernels(table, Op::reciprocal, column, kernel_pair<&reciprocals<Z>, Z, Z>());
  table.elementwise[static_cast<int>(Op::sgn)][column] = &unary<ops::sgn, Z, Z>;
  table.elementwise[static_cast<int>(Op::rsqrt)][column] = &inverse_roots<Z>;
  table.elementwise[static_cast<int>(Op::sigmoid)][column] = &logistics<Z>;
  table.elementwise[static_cast<int>(Op::silu)][column] = &times_logistics<Z>;
  table.elementwise[static_cast<int>(Op::abs)][column] = &magnitudes<Z>;
  table.elementwise[static_cast<int>(Op::angle)][column] = &angles<Z>;
}

void fill_complex_dtypes(KernelTable& table) {
  fill_complex<Complex64>(table);
  fill_complex<Complex128>(table);
  constexpr auto where = static_cast<std::size_t>(Op::where);
  const auto at = [](Dtype dtype) { return static_cast<std::size_t>(dtype); };
  table.elementwise[where][at(complex64)] = table.elementwise[where][at(int64)];
  table.elementwise_streamed[where][at(complex64)] = table.elementwise_streamed[where][at(int64)];
  table.elementwise[where][at(complex128)] = &select;
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
