// kernel: the functions of the C++ library over whole vectors. The common ones of float32 are computed in float32,
// where there is fused multiply-add (kernel/float32_functions-inl.h). The others are computed in float64 by short
// polynomials, so only the last rounding matters: errors stay below 0.51 ulp (pow: 0.6), and subnormal or overflowing
// results need no special code. Without fused multiply-add, and where angles are huge, float64 is computed by the C++
// library, lane by lane.
#if defined(TENON_KERNEL_LIBRARY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_LIBRARY_INL_H
#undef TENON_KERNEL_LIBRARY_INL_H
#else
#define TENON_KERNEL_LIBRARY_INL_H
#endif

#include <cmath>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"
#include "kernel/float32_functions-inl.h"
#include "kernel/float64_functions-inl.h"
#include "kernel/logarithm-inl.h"
#include "kernel/special.h"

// A function of kernel/special.h. It gives the same bits in all instruction sets of one processor.
#undef TENON_SPECIAL_CALL
#if HWY_NATIVE_FMA
#define TENON_SPECIAL_CALL(NAME, ...) special::fused::NAME(__VA_ARGS__)
#else
#define TENON_SPECIAL_CALL(NAME, ...) \
  (special::has_fma() ? special::fused::NAME(__VA_ARGS__) : special::plain::NAME(__VA_ARGS__))
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Below, `d` is a tag of float64, and every input is a float32 value. Polynomials are minimax, with relative errors
// below 2^-34.

template <class D, class V>
HWY_INLINE V with_bounds(D d, V x, double low, double high) {
  const V lower = hn::Set(d, low), upper = hn::Set(d, high);
#if HWY_ARCH_X86
  return hn::Min(upper, hn::Max(lower, x));  // NaN, the second operand, stays
#endif
  x = hn::IfThenElse(hn::Lt(x, lower), lower, x);
  return hn::IfThenElse(hn::Lt(upper, x), upper, x);  // NaN stays
}

/// 2^x as scale * (1 + rest), rest between -0.3 and 0.42.
template <class V>
struct Power {
  V scale, rest;
};
template <class D, class V>
HWY_INLINE Power<V> split_power_of_two(D d, V x) {
  constexpr double terms[] = {0.6931471805568317,     0.2402265069573764,    0.055504109063313954,
                              0.009618129183513626,   0.0013333478467788032, 0.00015403436563674535,
                              1.5303702284054013e-05, 1.3259633731030933e-06};
  const hn::RebindToSigned<D> di;
  x = with_bounds(d, x, -300, 300);  // outside float32's range, and products of two results stay inside float64's
  const V counter = hn::Set(d, kCounter<double>), counted = hn::Add(x, counter);
  const V r = hn::Sub(x, hn::Sub(counted, counter));
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  return {power_of_two(d, k), hn::Mul(r, polynomial(d, r, terms))};
}
inline constexpr double kLog2E = 1.44269504088896340736;
template <class D, class V>
HWY_INLINE V wide_exp2(D d, V x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kLooksUpPowers<D>) {
    constexpr double terms[] = {0x1.62e42fee46159p-1, 0x1.ebfbdff5a58cbp-3, 0x1.c6b3488246ca2p-5,
                                0x1.3b2c9bb878076p-7};  // of (2^r - 1) / r: 2^-32
    const V counter = hn::Set(d, kPowerCounter<D>), bounded = with_bounds(d, x, -300, 300);
    const V counted = hn::Add(bounded, counter), whole = hn::Sub(counted, counter);
    const V r = hn::Sub(bounded, whole), high = looked_up(counted, kWidePowers16);
    return with_whole_exponent(hn::MulAdd(hn::Mul(high, r), paired_polynomial(d, r, terms), high), whole);
  }
#endif
  const Power<V> power = split_power_of_two(d, x);
  return hn::MulAdd(power.scale, power.rest, power.scale);
}
template <class D, class V>
HWY_INLINE V wide_expm1(D d, V x) {
  const Power<V> power = split_power_of_two(d, hn::Mul(x, hn::Set(d, kLog2E)));
  return hn::CopySign(hn::MulAdd(power.scale, power.rest, hn::Sub(power.scale, hn::Set(d, 1.0))), x);
}

/// The logarithm of x > 0 as exponent * ln 2 + rest.
template <class V>
struct Logarithm {
  V exponent, rest;
};
template <class D, class V>
HWY_INLINE Logarithm<V> split_logarithm(D d, V x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kLooksUpPowers<D>) {
    constexpr double terms[] = {0x1.000000000493ep+0, -0x1.00000000192e2p-1,
                                0x1.5555502f305e8p-2, -0x1.fffff2b256286p-3,
                                0x1.9a07697ea088ap-3, -0x1.55c3282726ef9p-3};  // of log(1 + r) / r: 2^-37
    const auto of = tabled_mantissa(d, x);
    using C = LogarithmTable<double>;
    const V interval = hn::BitCast(d, of.interval);
    const V r = hn::MulSub(of.m, looked_up(interval, C::inverses), hn::Set(d, 1.0));
    const V line = looked_up(interval, C::logarithms);
    return {hn::ConvertTo(d, of.exponent), hn::MulAdd(r, paired_polynomial(d, r, terms), line)};
  }
#endif
  // log(m) = 2 atanh(s), s = (m - 1) / (m + 1), m between sqrt(1/2) and sqrt(2).
  constexpr double terms[] = {1.9999999999999465,  0.6666666667969646, 0.3999999485995311,
                              0.28572169179901935, 0.2217413206758463, 0.19609697449608526};
  using C = ExpLog<double>;
  const hn::RebindToUnsigned<D> du;
  const V one = hn::Set(d, 1.0), counter = hn::Set(d, kCounter<double>);
  const auto sqrt_half = hn::Set(du, C::sqrt_half);
  const auto bits = hn::Add(hn::BitCast(du, x), hn::Sub(hn::BitCast(du, one), sqrt_half));
  const V m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(du, (uint64_t{1} << C::mantissa_bits) - 1)), sqrt_half));
  const auto biased = hn::ShiftRight<C::mantissa_bits>(bits);
  const V exponent = hn::Sub(hn::BitCast(d, hn::Add(biased, hn::BitCast(du, counter))),
                             hn::Set(d, kCounter<double> + std::numeric_limits<double>::max_exponent - 1));
  const V f = hn::Sub(m, one), s = hn::Div(f, hn::Add(m, one));
  return {exponent, hn::Mul(s, polynomial(d, hn::Mul(s, s), terms))};
}
/// log2(x) for x > 0.
template <class D, class V>
HWY_INLINE V wide_log2_of_normal(D d, V x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kLooksUpPowers<D>) {
    constexpr double terms[] = {0x1.71547652c2087p+0,  -0x1.715476531f9c4p-1, 0x1.ec709411acef1p-2,
                                -0x1.7154646870b96p-2, 0x1.27d144acbf4bcp-2,  -0x1.ed43d5a2c9b34p-3};
    // Of log2(1 + r) / r: 2^-37. The rests of the table's logarithms are less than that.
    const auto of = tabled_mantissa(d, x);
    const V interval = hn::BitCast(d, of.interval), inverse = looked_up(interval, ShortInverses<double, 4>::values);
    const V r = hn::MulSub(of.m, inverse, hn::Set(d, 1.0));
    const V line = hn::Add(hn::ConvertTo(d, of.exponent), looked_up(interval, BinaryLogarithm<double, 4>::logarithms));
    return hn::MulAdd(r, paired_polynomial(d, r, terms), line);
  }
#endif
  const Logarithm<V> log = split_logarithm(d, x);
  return hn::MulAdd(log.rest, hn::Set(d, kLog2E), log.exponent);
}
template <class D, class V>
HWY_INLINE V wide_log(D d, V x) {
  const Logarithm<V> log = split_logarithm(d, x);
  return logarithm_or_special(d, x, hn::MulAdd(log.exponent, hn::Set(d, kLog2), log.rest));
}
template <class D, class V>
HWY_INLINE V wide_log2(D d, V x) {
  return logarithm_or_special(d, x, wide_log2_of_normal(d, x));
}
/// log(1 + x): adds the rounding error of 1 + x to the result.
template <class D, class V>
HWY_INLINE V wide_log1p(D d, V x) {
  const V one = hn::Set(d, 1.0), sum = hn::Add(one, x), lost = hn::Sub(x, hn::Sub(sum, one));
  const V near = hn::IfThenElseZero(hn::Lt(hn::Abs(x), one), lost);
  return hn::CopySign(hn::Add(wide_log(d, sum), near), x);
}

/// e^|x| / 2.
template <class D, class V>
HWY_INLINE V half_of_wide_exp(D d, V x) {
  return wide_exp2(d, hn::MulAdd(hn::Abs(x), hn::Set(d, kLog2E), hn::Set(d, -1.0)));
}
/// Near 0, where the difference cancels, by powers of x^2: 2^-44.
template <class D, class V>
HWY_INLINE V wide_sinh(D d, V x) {
  constexpr double terms[] = {0x1.5555555518fe9p-3, 0x1.111111a393664p-7, 0x1.a01847626d197p-13, 0x1.73ec1b8f406a8p-19};
  const V e = half_of_wide_exp(d, x), square = hn::Mul(x, x);
  const V far = hn::CopySign(hn::Sub(e, hn::Div(hn::Set(d, 0.25), e)), x);
  const V near = hn::MulAdd(hn::Mul(x, square), polynomial(d, square, terms), x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0.5)), near, far);
}
template <class D, class V>
HWY_INLINE V wide_cosh(D d, V x) {
  const V e = half_of_wide_exp(d, x);
  return hn::Add(e, hn::Div(hn::Set(d, 0.25), e));
}
template <class D, class V>
HWY_INLINE V wide_tanh(D d, V x) {
  const V size = hn::Abs(x), less_1 = wide_expm1(d, hn::Add(size, size));
  return hn::CopySign(hn::Div(less_1, hn::Add(less_1, hn::Set(d, 2.0))), x);
}
/// The logarithm of a number from 1 on; infinity and NaN stay.
template <class D, class V>
HWY_INLINE V wide_log_from_1(D d, V x) {
  const Logarithm<V> log = split_logarithm(d, x);
  const V result = hn::MulAdd(log.exponent, hn::Set(d, kLog2), log.rest);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, std::numeric_limits<double>::infinity())), result, x);
}
/// Below 2^-20, float32 rounds the result to x; from there on, rounding the sum near 1 costs 2^-32 of the logarithm.
template <class D, class V>
HWY_INLINE V wide_asinh(D d, V x) {
  const V size = hn::Abs(x), root = hn::Sqrt(hn::MulAdd(x, x, hn::Set(d, 1.0)));
  const V result = hn::CopySign(wide_log_from_1(d, hn::Add(size, root)), x);
  return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0x1p-20)), x, result);
}
/// The least float32 above 1 has 2^-11.
template <class D, class V>
HWY_INLINE V wide_acosh(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V inside = hn::IfThenElse(hn::Lt(x, one), hn::Set(d, std::numeric_limits<double>::quiet_NaN()), x);
  return wide_log_from_1(d, hn::Add(inside, hn::Sqrt(hn::MulSub(inside, inside, one))));
}
template <class D, class V>
HWY_INLINE V wide_atanh(D d, V x) {
  const V size = hn::Abs(x), odds = hn::Div(hn::Add(size, size), hn::Sub(hn::Set(d, 1.0), size));
  return hn::CopySign(hn::Mul(hn::Set(d, 0.5), wide_log1p(d, odds)), x);
}

/// The largest |x| for which k * kQuarterHigh is exact.
inline constexpr double kFarthestAngle = 1e6;
inline constexpr double kQuarterHigh = 1.57079632673412561417e+00, kQuarterLow = 6.07710050650619224932e-11;
/// x = k pi/2 + r: sine and cosine of r, and k in the low bits of `quarters`.
template <class V, class VI>
struct Turn {
  V sine, cosine;
  VI quarters;
};
template <class D, class V>
HWY_INLINE auto turned(D d, V x) {
  constexpr double sine_terms[] = {1,
                                   -0.1666666666663162,
                                   0.008333333325276577,
                                   -0.00019841263825598747,
                                   2.755535831380107e-06,
                                   -2.4761692889756364e-08};
  constexpr double cosine_terms[] = {1,
                                     -0.4999999999954507,
                                     0.04166666656207611,
                                     -0.0013888881078708013,
                                     2.479904104406828e-05,
                                     -2.7180101430842477e-07};
  const hn::RebindToUnsigned<D> du;
  const V counter = hn::Set(d, kCounter<double>);
  const V counted = hn::MulAdd(x, hn::Set(d, 0.63661977236758134308), counter), k = hn::Sub(counted, counter);
  const V r = hn::NegMulAdd(k, hn::Set(d, kQuarterLow), hn::NegMulAdd(k, hn::Set(d, kQuarterHigh), x));
  const V square = hn::Mul(r, r);
  const auto quarters = hn::BitCast(du, counted);
  return Turn<V, std::remove_const_t<decltype(quarters)>>{hn::Mul(r, polynomial(d, square, sine_terms)),
                                                          polynomial(d, square, cosine_terms), quarters};
}
template <class D, class V>
HWY_INLINE V wide_sine(D d, V x, uint64_t quarters_before) {
  const hn::RebindToUnsigned<D> du;
  const auto turn = turned(d, x);
  const auto quarters = hn::Add(turn.quarters, hn::Set(du, quarters_before));
  const auto odd = hn::Eq(hn::And(quarters, hn::Set(du, 1)), hn::Set(du, 1));
  const V size = hn::IfThenElse(hn::RebindMask(d, odd), turn.cosine, turn.sine);
  return hn::Xor(size, hn::BitCast(d, hn::ShiftLeft<62>(hn::And(quarters, hn::Set(du, 2)))));
}
template <class D, class V>
HWY_INLINE V wide_tangent(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto turn = turned(d, x);
  const auto odd = hn::RebindMask(d, hn::Eq(hn::And(turn.quarters, hn::Set(du, 1)), hn::Set(du, 1)));
  return hn::Div(hn::IfThenElse(odd, hn::Neg(turn.cosine), turn.sine), hn::IfThenElse(odd, turn.sine, turn.cosine));
}

/// The angle of (x, y), y >= 0 or -0, in [0, pi]. Far from the axis, the point is rotated by an eighth or a quarter of
/// a turn first.
template <class D, class V>
HWY_INLINE V wide_angle(D d, V y, V x) {
  constexpr double terms[] = {0.9999999999992955,  -0.3333333327980529,  0.19999993321386378, -0.14285395893020264,
                              0.11103612077800912, -0.08993876885435058, 0.06979801213388302, -0.03774829863059201};
  constexpr double kPi = 3.14159265358979323846,
                   kFar = 1e200;  // stands for infinity, which is equally far on both axes
  const V low = hn::Set(d, 0.41421356237309504880), high = hn::Set(d, 2.41421356237309504880);
  const V across = with_bounds(d, hn::Abs(x), 0, kFar), up = with_bounds(d, hn::Abs(y), 0, kFar);
  const auto steep = hn::Lt(hn::Mul(high, across), up), halfway = hn::Lt(hn::Mul(low, across), up);
  const V numerator = hn::IfThenElse(steep, hn::Neg(across), hn::IfThenElse(halfway, hn::Sub(up, across), up));
  const V denominator = hn::IfThenElse(steep, up, hn::IfThenElse(halfway, hn::Add(up, across), across));
  const V before = hn::IfThenElse(steep, hn::Set(d, kPi / 2), hn::IfThenElseZero(halfway, hn::Set(d, kPi / 4)));
  // At the origin, 0 / 1 instead of 0 / 0.
  const V t = hn::Div(numerator, hn::IfThenElse(hn::Eq(denominator, hn::Zero(d)), hn::Set(d, 1.0), denominator));
  const V angle = hn::MulAdd(t, polynomial(d, hn::Mul(t, t), terms), before);
  const auto back = hn::Lt(hn::CopySign(hn::Set(d, 1.0), x), hn::Zero(d));
  return hn::IfThenElse(back, hn::Sub(hn::Set(d, kPi), angle), angle);
}
template <class D, class V>
HWY_INLINE V root_of_1_less_square(D d, V x) {
  const V one = hn::Set(d, 1.0);
  return hn::Sqrt(hn::Mul(hn::Sub(one, x), hn::Add(one, x)));
}

/// erfc(size) for size >= 0: exp(-size^2) times a polynomial of (size - 3) / (size + 3).
template <class D, class V>
HWY_INLINE V error_rest(D d, V size) {
  constexpr double terms[] = {0.17900115117964557,    -0.3262335600553923,   0.2456038020675874,
                              -0.15011593595483527,   0.0716658260144848,    -0.02439250940582909,
                              0.0042692643513688,     0.0007078645710797239, -0.0005977252619084288,
                              4.448488716915196e-05,  6.557502627021888e-05, -1.0434816294253121e-05,
                              -8.818183344828937e-06, -8.340210916706381e-07};
  const V a = with_bounds(d, size, 0, 10.1), three = hn::Set(d, 3.0);  // beyond 10.1 the result is below every float32
  const V t = hn::Div(hn::Sub(a, three), hn::Add(a, three));
  return hn::Mul(wide_exp2(d, hn::Mul(hn::Mul(a, a), hn::Set(d, -kLog2E))), polynomial(d, t, terms));
}
/// erf(x) as x times a polynomial of x^2, for |x| where float32 does not round it to 1. Even and odd terms are computed
/// independently.
template <class D, class V>
HWY_INLINE V wide_erf(D d, V x) {
  constexpr double even[] = {1.1283791670555063,     0.11283790173493453,    0.005223893555648636,
                             0.00012048763159846549, 1.6331507883002748e-06, 1.39354896389883e-08,
                             7.144333305993046e-11,  1.8709014376932136e-13, 1.9251821315565885e-16,
                             4.740687416355823e-20};
  constexpr double odd[] = {-0.3761263871569235,     -0.026866122244894007,   -0.000854742215994908,
                            -1.4891630292371105e-05, -1.5983498465264296e-07, -1.0717243181627428e-09,
                            -4.031589151236682e-12,  -6.892431847523019e-15,  -3.809918946329014e-18,
                            -2.7804778173686623e-22};
  const V bounded = with_bounds(d, x, -3.94, 3.94), square = hn::Mul(bounded, bounded),
          fourth = hn::Mul(square, square);
  return hn::Mul(bounded, hn::MulAdd(square, polynomial(d, fourth, odd), polynomial(d, fourth, even)));
}
template <class D, class V>
HWY_INLINE V wide_erfc(D d, V x) {
  const V rest = error_rest(d, hn::Abs(x));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2.0), rest), rest);
}

/// erfinv(x) as x times a polynomial of w = -log(1 - x^2), or of its root. Where float32 does not round x to 1, w is
/// below 16.
template <class D, class V>
HWY_INLINE V wide_erfinv(D d, V x) {
  constexpr double near_terms[] = {1.501409351110792,       0.24664027673055933,    -0.00417731772599164,
                                   -0.0012527078260762582,  0.000218250273934182,   -4.9962227613667115e-06,
                                   -3.416636103077881e-06,  4.788369412627382e-07,  1.3429287142216358e-08,
                                   -1.0906655743110653e-08, 9.024881447909744e-10,  1.2982446043371449e-10,
                                   -3.0122346021629576e-11, -3.388817519066577e-13, 4.384995311926027e-13};
  constexpr double far_terms[] = {2.99148448650613,       1.0041675096198663,      0.0065465016580636155,
                                  -0.004826237711347079,  0.0033984245739472414,   -0.0022776426694741257,
                                  0.0011823161737377404,  -0.00034767633016153217, -5.178757484317548e-05,
                                  0.00011834494782788517, -5.797703129911837e-05,  3.718391636326139e-06,
                                  1.0091961985676402e-05, -3.808226994663152e-06};
  const V one = hn::Set(d, 1.0), w = hn::Neg(wide_log(d, hn::Sub(one, hn::Mul(x, x))));
  const V near = polynomial(d, hn::Sub(w, hn::Set(d, 2.5)), near_terms);
  const V far = polynomial(d, hn::Sub(hn::Sqrt(w), hn::Set(d, 3.158033988749895)), far_terms);
  const V result = hn::Mul(x, hn::IfThenElse(hn::Lt(w, hn::Set(d, 5.0)), near, far));
  const V infinite = hn::CopySign(hn::Set(d, std::numeric_limits<double>::infinity()), x);
  return hn::IfThenElse(hn::Eq(hn::Abs(x), one), infinite, result);
}

// Each function has three versions: for float64 vectors of float32 values with |x| <= `farthest`, for float64 vectors
// where |x| <= `farthest64`, and for one number.
#define TENON_FUNCTION(NAME, FUNCTION, FARTHEST, WIDE)                     \
  struct NAME {                                                            \
    static constexpr float farthest = FARTHEST;                            \
    static constexpr double farthest64 = FARTHEST##64;                     \
    template <class D, class V>                                            \
    static HWY_INLINE V wide(D d, V x) {                                   \
      return WIDE;                                                         \
    }                                                                      \
    template <class D, class V>                                            \
    static HWY_INLINE V of_float64(D d, V x) {                             \
      return FUNCTION##_of_float64(d, x);                                  \
    }                                                                      \
    static HWY_INLINE double single(double x) { return std::FUNCTION(x); } \
  };
inline constexpr float kAnywhere = std::numeric_limits<float>::infinity();
inline constexpr double kAnywhere64 = std::numeric_limits<double>::infinity();
TENON_FUNCTION(Sine, sin, kFarthestAngle, wide_sine(d, x, 0))
TENON_FUNCTION(Cosine, cos, kFarthestAngle, wide_sine(d, x, 1))
TENON_FUNCTION(Tangent, tan, kFarthestAngle, wide_tangent(d, x))
TENON_FUNCTION(ArcSine, asin, kAnywhere, hn::CopySign(wide_angle(d, x, root_of_1_less_square(d, x)), x))
TENON_FUNCTION(ArcCosine, acos, kAnywhere, wide_angle(d, root_of_1_less_square(d, x), x))
TENON_FUNCTION(ArcTangent, atan, kAnywhere, hn::CopySign(wide_angle(d, x, hn::Set(d, 1.0)), x))
TENON_FUNCTION(HyperbolicSine, sinh, kAnywhere, wide_sinh(d, x))
TENON_FUNCTION(HyperbolicCosine, cosh, kAnywhere, wide_cosh(d, x))
TENON_FUNCTION(HyperbolicTangent, tanh, kAnywhere, wide_tanh(d, x))
TENON_FUNCTION(InverseHyperbolicSine, asinh, kAnywhere, wide_asinh(d, x))
TENON_FUNCTION(InverseHyperbolicCosine, acosh, kAnywhere, wide_acosh(d, x))
TENON_FUNCTION(InverseHyperbolicTangent, atanh, kAnywhere, wide_atanh(d, x))
TENON_FUNCTION(ExponentialLess1, expm1, kAnywhere, wide_expm1(d, x))
TENON_FUNCTION(LogarithmOf1More, log1p, kAnywhere, wide_log1p(d, x))
TENON_FUNCTION(LogarithmTo2, log2, kAnywhere, wide_log2(d, x))
TENON_FUNCTION(LogarithmTo10, log10, kAnywhere, hn::Mul(wide_log(d, x), hn::Set(d, 1 / kLog10)))
TENON_FUNCTION(ErrorFunction, erf, kAnywhere, wide_erf(d, x))
TENON_FUNCTION(ErrorFunctionRest, erfc, kAnywhere, wide_erfc(d, x))
#undef TENON_FUNCTION

struct InverseErrorFunction {
  static constexpr float farthest = kAnywhere;
#if TENON_HAS_POWER_TABLE
  static constexpr double farthest64 = kAnywhere64;
#else
  static constexpr double farthest64 = kFarthestInverseError;
#endif
  template <class D, class V>
  static HWY_INLINE V wide(D d, V x) {
    return wide_erfinv(d, x);
  }
  /// By pieces, or a step of Newton's method from the value for float32.
  template <class D, class V>
  static HWY_INLINE V of_float64(D d, V x) {
#if TENON_HAS_POWER_TABLE
    return erfinv_by_pieces(d, x);
#else
    return refined_erfinv(d, x, wide_erfinv(d, x));
#endif
  }
  static HWY_INLINE double single(double x) { return TENON_SPECIAL_CALL(inverse_error_function, x); }
};
struct Angle {
  static constexpr float farthest = kAnywhere;
  static constexpr double farthest64 = 0x1p900;
  template <class D, class V>
  static HWY_INLINE V wide(D d, V y, V x) {
    return hn::CopySign(wide_angle(d, y, x), y);
  }
  template <class D, class V>
  static HWY_INLINE V of_float64(D d, V y, V x) {
    return atan2_of_float64(d, y, x);
  }
  static HWY_INLINE double single(double y, double x) { return std::atan2(y, x); }
};

/// The version of a function for float32 vectors, where that is as accurate. A lane that is `far` is computed by the
/// other versions; NaN is not.
template <class F>
struct ShortFunction {
  static constexpr bool exists = false;
};
/// log(gamma(x)) for x >= 0: Stirling's series, from 10 on; below, of x + 10, and less the logarithm of the numbers in
/// between. Near 1 and 2, where it is 0, exact to some 2^-47.
template <class D, class V>
HWY_INLINE V wide_log_gamma_above_0(D d, V x) {
  constexpr double series[] = {0x1.5555555555555p-4,   -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11,
                               -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10};
  const V near = hn::Mul(x, hn::Add(x, hn::Set(d, 9.0)));  // the product of x + k and x + 9 - k, less k (9 - k)
  V product = near;
  for (const double more : {8.0, 14.0, 18.0, 20.0}) product = hn::Mul(product, hn::Add(near, hn::Set(d, more)));
  const auto low = hn::Lt(x, hn::Set(d, 10.0));
  const V z = hn::IfThenElse(low, hn::Add(x, hn::Set(d, 10.0)), x), inverse = hn::Div(hn::Set(d, 1.0), z);
  const V tail = hn::Mul(inverse, polynomial(d, hn::Mul(inverse, inverse), series));
  const V line = hn::MulSub(hn::Sub(z, hn::Set(d, 0.5)), log_vector(d, z), z);
  const V result = hn::Add(line, hn::Add(tail, hn::Set(d, 0x1.d67f1c864beb4p-1)));
  const auto zero = hn::Or(hn::Eq(x, hn::Set(d, 1.0)), hn::Eq(x, hn::Set(d, 2.0)));
  return hn::IfThenZeroElse(zero, hn::Sub(result, hn::IfThenElseZero(low, log_vector(d, product))));
}
/// Below 0, by log(pi / |sin(pi x)|) less that of 1 - x; sin(pi x) by the rest r of x. NaN stays: Max and Min give
/// their second operand.
template <class D, class V>
HWY_INLINE V wide_log_gamma(D d, V x) {
  constexpr double terms[] = {
      0x1.ffffffffffdccp-1, -0x1.a51a662516ff4p+0, 0x1.9f9cb3f685698p-1, -0x1.86a8e0034b40ap-3,
      0x1.ac667abe305efp-6, -0x1.333a6050f2379p-9, 0x1.2a8557ee28150p-13};  // of sin(pi r) / (pi r): 2^-43
  const V far = hn::Set(d, 1e300);                                          // stands for infinity
  const V bounded = hn::Max(hn::Neg(far), hn::Min(far, x)), one = hn::Set(d, 1.0);
  const auto below = hn::Lt(bounded, hn::Zero(d));
  const V above = wide_log_gamma_above_0(d, hn::IfThenElse(below, hn::Sub(one, bounded), bounded));
  if (HWY_LIKELY(hn::AllFalse(d, below))) return above;
  const V r = hn::Sub(bounded, hn::Round(bounded));
  const V sine = hn::Mul(hn::Abs(r), polynomial(d, hn::Mul(r, r), terms));  // over pi
  return hn::IfThenElse(below, hn::Neg(hn::Add(log_vector(d, sine), above)), above);
}
/// Beside the zeros below 0 lanes are computed singly.
template <class D, class V>
HWY_NOINLINE V log_gamma_of_any_float64(D d, V x) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  double in[kLanes], out[kLanes];
  hn::StoreU(x, d, in);
  hn::StoreU(log_gamma_with_negative(d, x), d, out);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    if (in[lane] < 0 && std::abs(out[lane]) < 0.5) out[lane] = TENON_SPECIAL_CALL(log_gamma, in[lane]);
  return hn::LoadU(d, out);
}
struct LogGamma {
  static constexpr double nearest64 = std::numeric_limits<double>::min(), farthest64 = 1e300;
  template <class D, class V>
  static HWY_INLINE V of_float64(D d, V x) {
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(hn::Zero(d), x)))) return log_gamma_of_any_float64(d, x);
    return log_gamma_of_float64(d, x);
  }
  static HWY_INLINE double single(double x) { return TENON_SPECIAL_CALL(log_gamma, x); }
};
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
template <class F, class D, class... V>
hn::Vec<D> lane_by_lane(D d, V... x);
/// `function` over the float64 vectors of both halves.
template <class D, class V, class Function>
HWY_INLINE V by_wide_halves(D d, V x, const Function& function) {
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> wide;
  const auto low = function(wide, hn::PromoteTo(wide, hn::LowerHalf(half, x)));
  const auto high = function(wide, hn::PromoteTo(wide, hn::UpperHalf(half, x)));
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}
/// Beside the zeros below 0 the terms leave less than 2^-31 of a result, so it is computed singly.
template <class D, class V>
HWY_NOINLINE V log_gamma_of_any(D d, V x) {
  const V result = by_wide_halves(d, x, [](auto wide, auto number) HWY_ATTR { return wide_log_gamma(wide, number); });
  const auto lost = hn::And(hn::Lt(x, hn::Zero(d)), hn::Lt(hn::Abs(result), hn::Set(d, 0x1p-15f)));
  if (HWY_LIKELY(hn::AllFalse(d, lost))) return result;
  return hn::IfThenElse(lost, lane_by_lane<LogGamma>(d, x), result);
}
template <>
struct ShortFunction<LogGamma> {
  static constexpr bool exists = true;
  static constexpr float farthest = kAnywhere;
  template <class D, class V>
  static HWY_INLINE V of_float32(D d, V x) {
    const auto above_0 = hn::And(hn::Le(hn::Zero(d), x), hn::Le(x, hn::Set(d, std::numeric_limits<float>::max())));
    if (HWY_UNLIKELY(!hn::AllTrue(d, above_0))) return log_gamma_of_any(d, x);
    return by_wide_halves(d, x, [](auto wide, auto number) HWY_ATTR { return wide_log_gamma_above_0(wide, number); });
  }
};
#endif
template <class D, class V, class... More>
HWY_INLINE hn::Mask<D> all_within(D d, hn::TFromD<D> limit, V x, More... more) {
  hn::Mask<D> within = hn::Le(hn::Abs(x), hn::Set(d, limit));
  ((within = hn::And(within, hn::Le(hn::Abs(more), hn::Set(d, limit)))), ...);
  return within;
}
template <class F, class D, class... V>
HWY_NOINLINE hn::Vec<D> through_float64(D d, V... x);
template <class D, class V>
HWY_INLINE V erfc_of_float32(D d, V x) {
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) return error_rest_by_intervals(d, x);
#endif
  return through_float64<ErrorFunctionRest>(d, x);
}
#define TENON_SHORT_FUNCTION(NAME, FARTHEST, FUNCTION)       \
  template <>                                                \
  struct ShortFunction<NAME> {                               \
    static constexpr bool exists = HWY_NATIVE_FMA != 0;      \
    static constexpr float farthest = FARTHEST;              \
    template <class D, class V>                              \
    static HWY_INLINE hn::Mask<D> far(D d, V x) {            \
      return hn::Gt(hn::Abs(x), hn::Set(d, farthest));       \
    }                                                        \
    template <class D, class V>                              \
    static HWY_INLINE hn::Mask<D> far(D d, V x, V y) {       \
      return hn::Or(far(d, x), far(d, y));                   \
    }                                                        \
    template <class D, class V, class... More>               \
    static HWY_INLINE V of_float32(D d, V x, More... more) { \
      return FUNCTION(d, x, more...);                        \
    }                                                        \
  };
TENON_SHORT_FUNCTION(Sine, kFarthestAngle32, sin_of_float32)
TENON_SHORT_FUNCTION(Cosine, kFarthestAngle32, cos_of_float32)
TENON_SHORT_FUNCTION(Tangent, kFarthestAngle32, tan_of_float32)
TENON_SHORT_FUNCTION(ArcSine, kAnywhere, asin_vector)
TENON_SHORT_FUNCTION(ArcCosine, kAnywhere, acos_vector)
TENON_SHORT_FUNCTION(ArcTangent, kAnywhere, atan_of_float32)
TENON_SHORT_FUNCTION(HyperbolicSine, kAnywhere, sinh_vector)
TENON_SHORT_FUNCTION(HyperbolicCosine, kAnywhere, cosh_vector)
TENON_SHORT_FUNCTION(HyperbolicTangent, kAnywhere, tanh_of_float32)
TENON_SHORT_FUNCTION(InverseHyperbolicTangent, kAnywhere, atanh_of_float32)
TENON_SHORT_FUNCTION(ExponentialLess1, kAnywhere, expm1_of_float32)
TENON_SHORT_FUNCTION(LogarithmOf1More, kAnywhere, log1p_of_float32)
TENON_SHORT_FUNCTION(LogarithmTo2, kAnywhere, log2_of_float32)
TENON_SHORT_FUNCTION(LogarithmTo10, kAnywhere, log10_of_float32)
TENON_SHORT_FUNCTION(ErrorFunction, kAnywhere, erf_of_float32)
TENON_SHORT_FUNCTION(ErrorFunctionRest, kAnywhere, erfc_of_float32)
#if TENON_HAS_POWER_TABLE
TENON_SHORT_FUNCTION(InverseErrorFunction, kAnywhere, erfinv_by_pieces)
#endif
template <>
struct ShortFunction<Angle> {
  static constexpr bool exists = HWY_NATIVE_FMA != 0;
  static constexpr float farthest = kFarthestPoint;
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> far(D d, V y, V x) {
    const V most = hn::Set(d, farthest), least = hn::Min(hn::Abs(y), hn::Abs(x));
    return hn::Or(hn::Lt(least, hn::Set(d, 1 / farthest)), hn::Or(hn::Gt(hn::Abs(y), most), hn::Gt(hn::Abs(x), most)));
  }
  /// Where a lane is far: 0 is not. The origin lies on the axis, and beside another y so does x.
  template <class D, class V>
  static HWY_INLINE hn::Mask<D> far_but_0(D d, V y, V x) {
    const auto or_1 = [&](V v) HWY_ATTR { return hn::IfThenElse(hn::Eq(v, hn::Zero(d)), hn::Set(d, 1.0f), v); };
    return far(d, or_1(y), or_1(x));
  }
  template <class D, class V>
  static HWY_INLINE V of_float32_or_0(D d, V y, V x) {
    const V beside_0 = hn::CopySign(hn::Set(d, 0x1p-100f), x);
    return of_float32(d, y, hn::IfThenElse(hn::Eq(x, hn::Zero(d)), beside_0, x));
  }
  template <class D, class V>
  static HWY_INLINE V of_float32(D d, V y, V x) {
    return atan2_of_float32(d, y, x);
  }
};

struct Remainder {
  static HWY_INLINE double single(double x, double y) { return std::fmod(x, y); }
};

/// float32 is computed through float64: the C library's functions of floats have errors of up to three ulp.
template <class F, class D, class... V>
HWY_INLINE hn::Vec<D> lane_by_lane(D d, V... x) {
  using T = hn::TFromD<D>;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  T in[sizeof...(V)][kLanes], out[kLanes];
  std::size_t operand = 0;
  (hn::StoreU(x, d, in[operand++]), ...);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    if constexpr (sizeof...(V) == 1)
      out[lane] = static_cast<T>(F::single(in[0][lane]));
    else
      out[lane] = static_cast<T>(F::single(in[0][lane], in[1][lane]));
  return hn::LoadU(d, out);
}

/// float32 by the versions for other types.
template <class F, class D, class... V>
HWY_NOINLINE hn::Vec<D> through_float64(D d, V... x) {
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1 && requires { F::farthest; }) {
    const hn::Half<D> half;
    const hn::Rebind<double, decltype(half)> wide;
    bool near = true;
    if constexpr (F::farthest < kAnywhere) near = (... && hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, F::farthest))));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    if constexpr (hn::MaxLanes(D()) == 8) {
      const hn::Rebind<double, D> all;  // the vectors that two halves of 16 lanes have, so that bits are the same
      if (near) return hn::DemoteTo(d, F::wide(all, hn::PromoteTo(all, x)...));
    }
#endif
    if (near) {
      const auto low = F::wide(wide, hn::PromoteTo(wide, hn::LowerHalf(half, x))...);
      const auto high = F::wide(wide, hn::PromoteTo(wide, hn::UpperHalf(half, x))...);
      return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
    }
  }
#endif
  return lane_by_lane<F>(d, x...);
}
template <class F, class D, class... V>
HWY_INLINE hn::Mask<D> near_of_float64(D d, V... x) {
  hn::Mask<D> near = all_within(d, F::farthest64, x...);
  if constexpr (requires { F::nearest64; }) near = (hn::And(near, hn::Le(hn::Set(d, F::nearest64), hn::Abs(x))), ...);
  return near;
}
/// Where a lane is not near: its result must not depend on the others. Not inlined, so that the common case needs no
/// stack. Bench: tenon_bench --ops --filter 'ops/(sin|cos)$'.
template <class F, class D, class... V>
HWY_NOINLINE hn::Vec<D> partly_far(D d, V... x) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    using Short = ShortFunction<F>;
    if constexpr (requires { Short::far_but_0(d, x...); }) {
      const auto far = Short::far_but_0(d, x...);
      const hn::Vec<D> result = Short::of_float32_or_0(d, x...);
      return hn::AllFalse(d, far) ? result : hn::IfThenElse(far, through_float64<F>(d, x...), result);
    }
    const auto far = Short::far(d, x...);
    const hn::Vec<D> exact = through_float64<F>(d, x...);
    return hn::AllTrue(d, far) ? exact : hn::IfThenElse(far, exact, Short::of_float32(d, x...));
  } else {
    const auto near = near_of_float64<F>(d, x...);
    const hn::Vec<D> far = lane_by_lane<F>(d, x...);
    return hn::AllFalse(d, near) ? far : hn::IfThenElse(near, F::of_float64(d, x...), far);
  }
}
template <class F, class... Functions>
inline constexpr bool kIsOneOf = (std::is_same_v<F, Functions> || ...);
/// Functions that are faster in the loop itself: with AVX2 those of float64, by a third, because their four lanes wait
/// longer for a call; where registers look up tables, by 5 to 30 %, because constants stay in other registers. Bench:
/// TENON_ISA=AVX2 tenon_sweep --filter 'functions/(erf|log1p) float64', tenon_bench --ops --filter
/// 'ops/(tanh|erfc|sin)$'.
template <class F, class D>
inline constexpr bool kIsInlined =
    kLooksUpRows<D>
        ? kIsOneOf<F, ErrorFunction, LogarithmOf1More>
        : kLooksUpPowers<D>&&
              kIsOneOf<F, ErrorFunction, ErrorFunctionRest, HyperbolicTangent, ArcTangent, Sine, Cosine, Tangent>;
template <class F, class D, class... V>
HWY_INLINE hn::Vec<D> library_inlined(D d, V... x) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    using Short = ShortFunction<F>;
    if constexpr (Short::exists) {
      if constexpr (Short::farthest < kAnywhere)
        if (HWY_UNLIKELY(!hn::AllFalse(d, Short::far(d, x...)))) return partly_far<F>(d, x...);
      return Short::of_float32(d, x...);
    } else {
      return through_float64<F>(d, x...);
    }
  }
#if HWY_NATIVE_FMA
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double) && requires { F::farthest64; }) {
    if constexpr (F::farthest64 < kAnywhere64)
      if (HWY_UNLIKELY(!hn::AllTrue(d, near_of_float64<F>(d, x...)))) return partly_far<F>(d, x...);
    return F::of_float64(d, x...);
  }
#endif
  return lane_by_lane<F>(d, x...);
}

/// Not inlined, so that all loops share one copy of the function.
template <class F, class D, class... V>
HWY_NOINLINE hn::Vec<D> library_called(D d, V... x) {
  return library_inlined<F>(d, x...);
}
template <class F, class D, class... V>
HWY_INLINE hn::Vec<D> library(D d, V... x) {
  if constexpr (kIsInlined<F, D>)
    return library_inlined<F>(d, x...);
  else
    return library_called<F>(d, x...);
}

/// The remainder of truncated division, exact. A quotient is rounded, but with fused multiply-add what it leaves is
/// exact, and smaller by the factor 2^24 or 2^53. At the end it is below |y|, and has the wrong sign if the last
/// quotient was rounded up. Quotients that overflow are left to the C library.
template <class D, class V>
HWY_INLINE V remainder_vector(D d, V x, V y) {
#if HWY_NATIVE_FMA
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d), one = hn::Set(d, T{1}), largest = hn::Set(d, std::numeric_limits<T>::max());
  const auto is_number = hn::And(hn::Le(hn::Abs(x), largest), hn::Gt(hn::Abs(y), zero));
  const V size = hn::IfThenElse(is_number, hn::Min(hn::Abs(y), largest), one);
  V rest = hn::IfThenElseZero(is_number, x), quotient = hn::Div(rest, size);
  if (hn::AllTrue(d, hn::Le(hn::Abs(quotient), largest))) {
    while (true) {
      rest = hn::NegMulAdd(hn::Trunc(quotient), size, rest);
      if (hn::AllTrue(d, hn::Lt(hn::Abs(rest), size))) break;
      quotient = hn::Div(rest, size);
    }
    const auto is_beyond = hn::Lt(hn::Mul(hn::CopySign(one, x), rest), zero);
    const V exact = hn::CopySign(hn::IfThenElse(is_beyond, hn::Add(rest, hn::CopySign(size, x)), rest), x);
    const V whole = hn::IfThenElse(hn::Gt(hn::Abs(y), largest), x, exact);  // of an infinite y
    return hn::IfThenElse(is_number, whole, hn::Set(d, std::numeric_limits<T>::quiet_NaN()));
  }
#endif
  return lane_by_lane<Remainder>(d, x, y);
}

/// x to the power y, as in C99: 2^(y log2 |x|) with the sign of x where y is odd. The error of the logarithm is below
/// 2^-35, so that of its product with y is below 2^-27, where the result does not overflow.
template <class D, class V>
HWY_INLINE V wide_pow(D d, V x, V y) {
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0), size = hn::Abs(x), infinite = hn::Set(d, kInfinity);
  const auto plain = hn::And(hn::And(hn::Lt(zero, x), hn::Lt(x, infinite)), hn::Lt(hn::Abs(y), infinite));
  if (HWY_LIKELY(hn::AllTrue(d, plain))) return wide_exp2(d, hn::Mul(y, wide_log2_of_normal(d, x)));
  const V power = wide_exp2(d, hn::Mul(y, wide_log2(d, size)));
  const auto is_whole = hn::Eq(y, hn::Trunc(y)), is_number = hn::Eq(y, y);
  const V half = hn::Mul(y, hn::Set(d, 0.5));
  const auto is_odd = hn::And(is_whole, hn::Ne(half, hn::Trunc(half)));
  // 1 also beside NaN, and -1 to the power of infinity.
  const auto is_one = hn::Or(hn::Or(hn::Eq(y, zero), hn::Eq(x, one)), hn::And(hn::Eq(size, one), is_number));
  const V magnitude = hn::IfThenElse(is_one, one, power);
  const V marked = hn::IfThenElse(is_odd, hn::CopySign(magnitude, x), magnitude);
  const auto is_root = hn::AndNot(is_whole, hn::And(hn::Lt(x, zero), hn::Lt(size, infinite)));
  return hn::IfThenElse(is_root, hn::Set(d, std::numeric_limits<double>::quiet_NaN()), marked);
}
struct ToPower {
  static constexpr float farthest = kAnywhere;
  static constexpr double farthest64 = std::numeric_limits<double>::max();
  template <class D, class V>
  static HWY_INLINE V wide(D d, V x, V y) {
    return wide_pow(d, x, y);
  }
  template <class D, class V>
  static HWY_INLINE V of_float64(D d, V x, V y) {
    return pow_of_float64(d, x, y);
  }
  static HWY_INLINE double single(double x, double y) { return std::pow(x, y); }
};

/// 1 / (1 + exp(-x)).
struct Logistic {
  static constexpr float farthest = kAnywhere;
  static constexpr double farthest64 = kAnywhere64;
  template <class D, class V>
  static HWY_INLINE V of_float64(D d, V x) {
    return logistic_vector(d, x);
  }
  template <class D, class V>
  static HWY_INLINE V wide(D d, V x) {
    const V one = hn::Set(d, 1.0), power = wide_exp2(d, hn::Mul(x, hn::Set(d, -kLog2E)));
    return hn::Div(one, hn::Add(one, power));
  }
  static HWY_INLINE double single(double x) {
    const double power = std::exp(-std::abs(x));
    return (x < 0 ? power : 1) / (1 + power);
  }
};
/// log(exp(a) + exp(b)) as the larger one and log(1 + exp(-|a - b|)); of equal infinities that infinity.
struct LogarithmOfSum {
  static constexpr float farthest = kAnywhere;
  static constexpr double farthest64 = std::numeric_limits<double>::max();
  template <class D, class V>
  static HWY_INLINE V of_float64(D d, V a, V b) {
    return logaddexp_of_float64(d, a, b);
  }
  template <class D, class V>
  static HWY_INLINE V wide(D d, V a, V b) {
    const V difference = hn::IfThenZeroElse(hn::Eq(a, b), hn::Abs(hn::Sub(a, b)));
    const V power = wide_exp2(d, hn::Mul(difference, hn::Set(d, -kLog2E)));
    const V larger = hn::IfThenElse(hn::Lt(a, b), b, a);
    return hn::Add(larger, wide_log1p(d, power));
  }
  static HWY_INLINE double single(double a, double b) {
    return a == b ? a + kLog2 : std::fmax(a, b) + std::log1p(std::exp(-std::abs(a - b)));
  }
};
/// The same to base 2.
struct LogarithmTo2OfSum {
  static constexpr float farthest = kAnywhere;
  static constexpr double farthest64 = std::numeric_limits<double>::max();
  template <class D, class V>
  static HWY_INLINE V of_float64(D d, V a, V b) {
    return logaddexp2_of_float64(d, a, b);
  }
  template <class D, class V>
  static HWY_INLINE V wide(D d, V a, V b) {
    const V difference = hn::IfThenZeroElse(hn::Eq(a, b), hn::Abs(hn::Sub(a, b)));
    const V larger = hn::IfThenElse(hn::Lt(a, b), b, a);
    return hn::MulAdd(wide_log1p(d, wide_exp2(d, hn::Neg(difference))), hn::Set(d, kLog2E), larger);
  }
  static HWY_INLINE double single(double a, double b) {
    return a == b ? a + 1 : std::fmax(a, b) + std::log1p(std::exp2(-std::abs(a - b))) * kLog2E;
  }
};

TENON_SHORT_FUNCTION(Logistic, kAnywhere, logistic_vector)
TENON_SHORT_FUNCTION(LogarithmOfSum, std::numeric_limits<float>::max(), logaddexp_of_float32)
TENON_SHORT_FUNCTION(LogarithmTo2OfSum, std::numeric_limits<float>::max(), logaddexp2_of_float32)
#undef TENON_SHORT_FUNCTION

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
