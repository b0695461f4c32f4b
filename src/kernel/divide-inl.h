// kernel: division of integers in vectors, by multiplications with the reciprocals of divisors, which are computed once
// if all divisors are one number. Divisors are checked for 0 before the loop.
#if defined(TENON_KERNEL_DIVIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_DIVIDE_INL_H
#undef TENON_KERNEL_DIVIDE_INL_H
#else
#define TENON_KERNEL_DIVIDE_INL_H
#endif

#include <limits>
#include <type_traits>

#include "kernel/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_VECTORS
/// Signed integers that are divided in vectors.
template <class T>
inline constexpr bool kDividesInVectors = std::is_signed_v<T>&& std::is_integral_v<T> &&
                                          (sizeof(T) < 8 || HWY_TARGET <= HWY_AVX2);

/// 1 / x, a little farther from 0: its product with a multiple of x is not below the quotient, and with other numbers
/// below the next one, if they have a few bits less than floats.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal_above(D d, V x) {
  using T = hn::TFromD<D>;
  const V reciprocal = hn::Div(hn::Set(d, T{1}), x);
  return hn::MulAdd(reciprocal, hn::Set(d, 2 * std::numeric_limits<T>::epsilon()), reciprocal);
}

/// 1.5 * 2^52, and its bits.
inline constexpr double kShortCenter = 0x1.8p+52;
inline constexpr int64_t kShortBits = 0x4338000000000000;

/// The lanes of integers as two vectors of floats.
template <class D>
struct FloatHalves {
  using Wide = std::conditional_t<sizeof(hn::TFromD<D>) == 2, float, double>;
  using DHalf = hn::Half<D>;
  using DFloat = hn::Rebind<Wide, DHalf>;
  using V = hn::Vec<DFloat>;
  V low, high;

  HWY_INLINE FloatHalves(V low_lanes, V high_lanes) : low(low_lanes), high(high_lanes) {}
  HWY_INLINE explicit FloatHalves(hn::Vec<D> v)
      : low(widened(hn::LowerHalf(DHalf(), v))), high(widened(hn::UpperHalf(DHalf(), v))) {}
  /// Rounded to zero.
  HWY_INLINE hn::Vec<D> integers() const { return hn::Combine(D(), narrowed(high), narrowed(low)); }

 private:
  static HWY_INLINE V widened(hn::Vec<DHalf> v) {
    if constexpr (sizeof(Wide) == 4)
      return hn::ConvertTo(DFloat(), hn::PromoteTo(hn::Rebind<int32_t, DHalf>(), v));
    else
      return hn::PromoteTo(DFloat(), v);
  }
  static HWY_INLINE hn::Vec<DHalf> narrowed(V v) {
    if constexpr (sizeof(Wide) == 4)
      return hn::DemoteTo(DHalf(), hn::ConvertTo(hn::Rebind<int32_t, DHalf>(), v));
    else
      return hn::DemoteTo(DHalf(), v);
  }
};

#if HWY_TARGET <= HWY_AVX2
/// int64 of at most 52 bits as float64, and back. Before AVX-512 there is no such instruction: they are the last bits
/// of 1.5 * 2^52 and a little more or less.
template <class D, class V>
HWY_INLINE auto short_to_floats(D d, V v) {
  const hn::Rebind<double, D> floats;
  if constexpr (HWY_TARGET <= HWY_AVX3)
    return hn::ConvertTo(floats, v);
  else
    return hn::Sub(hn::BitCast(floats, hn::Add(v, hn::Set(d, kShortBits))), hn::Set(floats, kShortCenter));
}
template <class D, class V>
HWY_INLINE hn::Vec<D> short_from_floats(D d, V v) {
  const hn::Rebind<double, D> floats;
  if constexpr (HWY_TARGET <= HWY_AVX3)
    return hn::ConvertTo(d, v);
  else
    return hn::Sub(hn::BitCast(d, hn::Add(v, hn::Set(floats, kShortCenter))), hn::Set(d, kShortBits));
}
/// Whether all have at most 52 bits. float64 holds these exactly; a quotient that is no whole number is farther from
/// the next one than its rounding error; and what a rounded quotient leaves is exact, too.
template <class D, class V>
HWY_INLINE bool are_short(D d, V a, V b) {
  const V least = hn::Set(d, int64_t{1} << 51), more_bits = hn::Set(d, -(int64_t{1} << 52));
  const V either = hn::Or(hn::Add(a, least), hn::Add(b, least));
  return hn::AllTrue(d, hn::Eq(hn::And(either, more_bits), hn::Zero(d)));
}
#endif

template <class D>
struct ReciprocalsOf {
  using type = FloatHalves<D>;
};
template <class D>
requires(sizeof(hn::TFromD<D>) == 8) struct ReciprocalsOf<D> {
  using type = hn::Vec<hn::Rebind<double, D>>;
};
/// Divisors, and what is multiplied instead.
template <class D>
struct Divisors {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using Reciprocals = typename ReciprocalsOf<D>::type;
  V v;
  Reciprocals reciprocals;

  HWY_INLINE explicit Divisors(V divisors) : v(divisors), reciprocals(reciprocals_of(divisors)) {}

 private:
  static HWY_INLINE Reciprocals reciprocals_of(V divisors) {
    if constexpr (sizeof(T) < 8) {
      const typename Reciprocals::DFloat d;
      const Reciprocals halves(divisors);
      return {reciprocal_above(d, halves.low), reciprocal_above(d, halves.high)};
    } else {
      const hn::Rebind<double, D> d;
      return hn::Div(hn::Set(d, 1.0), hn::ConvertTo(d, divisors));
    }
  }
};

/// Bytes are divided as int16.
template <class D>
requires(sizeof(hn::TFromD<D>) == 1) struct Divisors<D> {
  using DHalf = hn::Half<D>;
  using DWide = hn::Rebind<int16_t, DHalf>;
  Divisors<DWide> low, high;

  HWY_INLINE explicit Divisors(hn::Vec<D> divisors)
      : low(hn::PromoteTo(DWide(), hn::LowerHalf(DHalf(), divisors))),
        high(hn::PromoteTo(DWide(), hn::UpperHalf(DHalf(), divisors))) {}
};

/// a / b rounded to zero, and what it leaves.
template <class D>
struct Division {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  V quotient, rest;

  HWY_INLINE Division(V a, const Divisors<D>& b) {
    if constexpr (sizeof(T) < 8)
      divide_narrow(a, b);
    else
      divide_wide(a, b);
  }
  /// Rounds down instead.
  HWY_INLINE void floor(V b) {
    const V zero = hn::Zero(D());
    step_if(hn::And(hn::Ne(rest, zero), hn::Lt(hn::Xor(rest, b), zero)), b);
  }

 private:
  HWY_INLINE void divide_narrow(V a, const Divisors<D>& b) {
    const FloatHalves<D> left(a), &right = b.reciprocals;
    const FloatHalves<D> product(hn::Mul(left.low, right.low), hn::Mul(left.high, right.high));
    // The smallest integer wraps.
    quotient = hn::IfThenElse(hn::Eq(b.v, hn::Set(D(), T{-1})), hn::Neg(a), product.integers());
    rest = hn::Sub(a, hn::Mul(quotient, b.v));
  }
  /// In two steps, because a float64 has 53 bits of a quotient. What does not fit wraps, and back.
  HWY_INLINE void divide_wide(V a, const Divisors<D>& b) {
    const D d;
    const hn::Rebind<double, D> floats;
    quotient = hn::ConvertTo(d, hn::Mul(hn::ConvertTo(floats, a), b.reciprocals));
    rest = hn::Sub(a, hn::Mul(quotient, b.v));
    const V more = hn::ConvertTo(d, hn::Mul(hn::ConvertTo(floats, rest), b.reciprocals));
    quotient = hn::Add(quotient, more);
    rest = hn::Sub(rest, hn::Mul(more, b.v));
    const hn::RebindToUnsigned<D> magnitudes;
    const auto is_less = hn::Lt(hn::BitCast(magnitudes, hn::Abs(rest)), hn::BitCast(magnitudes, hn::Abs(b.v)));
    step_if(hn::Not(hn::RebindMask(d, is_less)), b.v);
    const V zero = hn::Zero(d);
    step_if(hn::And(hn::Ne(rest, zero), hn::Lt(hn::Xor(rest, a), zero)), b.v);
  }
  /// Brings a rest nearer to 0, or to the other side of it.
  template <class M>
  HWY_INLINE void step_if(M mask, V b) {
    const D d;
    const V one = hn::Set(d, T{1});
    const auto differ = hn::Lt(hn::Xor(rest, b), hn::Zero(d));
    quotient = hn::IfThenElse(mask, hn::IfThenElse(differ, hn::Sub(quotient, one), hn::Add(quotient, one)), quotient);
    rest = hn::IfThenElse(mask, hn::IfThenElse(differ, hn::Add(rest, b), hn::Sub(rest, b)), rest);
  }
};

#if HWY_TARGET == HWY_AVX2
/// int64 one by one.
template <bool kFloors, bool kRest>
struct DividedLanes {
  template <class D>
  static HWY_INLINE Vector<D> forward(Vector<D> a, Vector<D> b) {
    int64_t left[hn::MaxLanes(D())], right[hn::MaxLanes(D())];
    hn::StoreU(a.v, D(), left);
    hn::StoreU(b.v, D(), right);
    for (std::size_t i = 0; i < hn::MaxLanes(D()); ++i) left[i] = of(Lane<int64_t>(left[i]), Lane<int64_t>(right[i])).v;
    return {hn::LoadU(D(), left)};
  }

 private:
  static HWY_INLINE Lane<int64_t> of(Lane<int64_t> a, Lane<int64_t> b) {
    if constexpr (kRest) return kFloors ? remainder_floor(a, b) : remainder_trunc(a, b);
    return kFloors ? quotient_floor(a, b) : quotient_trunc(a, b);
  }
};
#endif
/// Quotients or rests, rounded down or to zero.
template <bool kFloors, bool kRest>
struct DividedVectors {
  template <class D>
  static HWY_INLINE Vector<D> forward(Vector<D> a, const Divisors<D>& b) {
    if constexpr (sizeof(hn::TFromD<D>) == 1) {
      const hn::Half<D> half;
      using Wide = typename Divisors<D>::DWide;
      const auto narrow = [half](Vector<Wide> v) HWY_ATTR {
        const hn::RebindToUnsigned<Wide> wide;
        return hn::BitCast(half, hn::TruncateTo(hn::RebindToUnsigned<decltype(half)>(), hn::BitCast(wide, v.v)));
      };
      const Vector<Wide> low{hn::PromoteTo(Wide(), hn::LowerHalf(half, a.v))};
      const Vector<Wide> high{hn::PromoteTo(Wide(), hn::UpperHalf(half, a.v))};
      return {hn::Combine(D(), narrow(forward(high, b.high)), narrow(forward(low, b.low)))};
    } else {
#if HWY_TARGET <= HWY_AVX3
      if constexpr (sizeof(hn::TFromD<D>) == 8)
        if (are_short(D(), a.v, b.v)) return divided_floats(D(), a.v, b.v);
#endif
      return divided(a, b);
    }
  }

#if HWY_TARGET <= HWY_AVX2
  /// int64 whose divisors are not one number.
  template <class D>
  static HWY_INLINE Vector<D> forward(Vector<D> a, Vector<D> b) {
    const D d;
    if (HWY_LIKELY(are_short(d, a.v, b.v))) return divided_floats(d, a.v, b.v);
#if HWY_TARGET <= HWY_AVX3
    return divided(a, Divisors<D>(b.v));
#else
    return DividedLanes<kFloors, kRest>::forward(a, b);
#endif
  }
#endif

 private:
#if HWY_TARGET <= HWY_AVX2
  template <class D, class V>
  static HWY_INLINE Vector<D> divided_floats(D d, V a, V b) {
    const auto left = short_to_floats(d, a), right = short_to_floats(d, b), ratio = hn::Div(left, right);
    const auto whole = kFloors ? hn::Floor(ratio) : hn::Trunc(ratio);
    return {short_from_floats(d, kRest ? hn::NegMulAdd(whole, right, left) : whole)};
  }
#endif
  template <class D>
  static HWY_INLINE Vector<D> divided(Vector<D> a, const Divisors<D>& b) {
    Division<D> division(a.v, b);
    if constexpr (kFloors) division.floor(b.v);
    return {kRest ? division.rest : division.quotient};
  }
};

/// The divisors of a loop.
template <class D>
class DivisorSource {
 public:
  HWY_INLINE explicit DivisorSource(const Lanes& lanes) : lanes_(lanes) {}
  HWY_INLINE Divisors<D> at(int64_t i) const { return Divisors<D>(lanes_.at(i).v); }
  HWY_INLINE Divisors<D> first(int64_t n) const { return Divisors<D>(lanes_.first(n).v); }

 private:
  VectorSource<D> lanes_;
};
template <class D>
class OneDivisor {
 public:
  HWY_INLINE explicit OneDivisor(const Lanes& lanes)
      : divisors_(hn::Set(D(), *static_cast<const hn::TFromD<D>*>(lanes.data))) {}
  HWY_INLINE const Divisors<D>& at(int64_t) const { return divisors_; }
  HWY_INLINE const Divisors<D>& first(int64_t) const { return divisors_; }

 private:
  Divisors<D> divisors_;
};

template <class T, bool kFloors, bool kRest>
void divide_vectors(void* out, const Lanes* in, int64_t n) {
  using D = hn::ScalableTag<T>;
  const VectorSource<D> a(in[0]);
#if HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) == 8) {
    if (HWY_TARGET == HWY_AVX2 || in[1].step != 0)
      return vector_loop<DividedVectors<kFloors, kRest>>(D(), out, n, a, VectorSource<D>(in[1]));
  }
#endif
  if (in[1].step == 0)
    vector_loop<DividedVectors<kFloors, kRest>>(D(), out, n, a, OneDivisor<D>(in[1]));
  else
    vector_loop<DividedVectors<kFloors, kRest>>(D(), out, n, a, DivisorSource<D>(in[1]));
}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
