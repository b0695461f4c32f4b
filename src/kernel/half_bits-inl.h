// kernel: 16-bit floats by their bits, for formulas that only compare, choose and change signs.
#if defined(TENON_KERNEL_HALF_BITS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_HALF_BITS_INL_H
#undef TENON_KERNEL_HALF_BITS_INL_H
#else
#define TENON_KERNEL_HALF_BITS_INL_H
#endif

#include "kernel/lane-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// A vector of them, as int16.
template <class D, Half T>
struct BitsVector {
  static constexpr int16_t kInfinite = std::is_same_v<T, Float16> ? 0x7C00 : 0x7F80;
  HWY_INLINE explicit BitsVector(hn::Vec<D> bits) : v(bits) {}
  template <class N>
  requires std::is_arithmetic_v<N> HWY_INLINE explicit BitsVector(N number) : v(hn::Set(D(), bits_of(number))) {}
  hn::Vec<D> v;

  HWY_INLINE hn::Vec<D> size() const { return hn::And(v, hn::Set(D(), 0x7FFF)); }
  HWY_INLINE hn::Mask<D> is_nan() const { return hn::Lt(hn::Set(D(), kInfinite), size()); }

 private:
  template <class N>
  static constexpr int16_t bits_of(N number) {
    const float value = static_cast<float>(number);
    return static_cast<int16_t>(std::is_same_v<T, Float16> ? float16_bits(value) : bfloat16_bits(value));
  }
};
template <class D, Half T>
struct TruthOfLanes<BitsVector<D, T>> {
  using type = VectorTruth<D>;
};
/// Integers in the order of the floats; 0 and -0 are equal. `sign`: -1 for numbers that are counted downwards.
template <class D>
HWY_INLINE hn::Vec<D> ordered(D, hn::Vec<D> size, hn::Vec<D> sign) {
  return hn::Sub(hn::Xor(size, sign), sign);
}
template <class D, Half T>
HWY_INLINE hn::Vec<D> ordered(BitsVector<D, T> a) {
  return ordered(D(), a.size(), hn::ShiftRight<15>(a.v));
}
/// The same with NaN above all numbers, or below them.
template <class D, Half T>
HWY_INLINE hn::Vec<D> ordered_nan_last(BitsVector<D, T> a) {
  return ordered(D(), a.size(), hn::IfThenZeroElse(a.is_nan(), hn::ShiftRight<15>(a.v)));
}
template <class D, Half T>
HWY_INLINE hn::Vec<D> ordered_nan_first(BitsVector<D, T> a) {
  return ordered(D(), a.size(), hn::Or(hn::VecFromMask(D(), a.is_nan()), hn::ShiftRight<15>(a.v)));
}
template <class D, Half T>
HWY_INLINE hn::Mask<D> is_either_nan(BitsVector<D, T> a, BitsVector<D, T> b) {
  return hn::Lt(hn::Set(D(), BitsVector<D, T>::kInfinite), hn::Max(a.size(), b.size()));
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> operator<(BitsVector<D, T> a, BitsVector<D, T> b) {
  return {hn::AndNot(is_either_nan(a, b), hn::Lt(ordered(a), ordered(b)))};
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> operator<=(BitsVector<D, T> a, BitsVector<D, T> b) {
  return {hn::Not(hn::Or(is_either_nan(a, b), hn::Lt(ordered(b), ordered(a))))};
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> operator==(BitsVector<D, T> a, BitsVector<D, T> b) {
  const auto zeros = hn::Eq(hn::And(hn::Or(a.v, b.v), hn::Set(D(), 0x7FFF)), hn::Zero(D()));
  return {hn::AndNot(a.is_nan(), hn::Or(hn::Eq(a.v, b.v), zeros))};
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> is_not_a_number(BitsVector<D, T> a) {
  return {a.is_nan()};
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> operator!=(BitsVector<D, T> a, BitsVector<D, T> b) {
  return !(a == b);
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> operator-(BitsVector<D, T> a) {
  return BitsVector<D, T>(hn::Xor(a.v, hn::Set(D(), INT16_MIN)));
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> magnitude(BitsVector<D, T> a) {
  return BitsVector<D, T>(a.size());
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> with_sign(BitsVector<D, T> a, BitsVector<D, T> sign) {
  return BitsVector<D, T>(hn::Or(a.size(), hn::And(sign.v, hn::Set(D(), INT16_MIN))));
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> is_marked_negative(BitsVector<D, T> a) {
  return {hn::Lt(a.v, hn::Zero(D()))};
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> is_infinity(BitsVector<D, T> a) {
  return {hn::Eq(a.v, hn::Set(D(), BitsVector<D, T>::kInfinite))};
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> is_below_infinity(BitsVector<D, T> a) {
  return a < BitsVector<D, T>(kInfinity);
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> larger(BitsVector<D, T> a, BitsVector<D, T> b) {
  return BitsVector<D, T>(hn::IfThenElse(hn::Lt(ordered_nan_last(a), ordered_nan_last(b)), b.v, a.v));
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> smaller(BitsVector<D, T> a, BitsVector<D, T> b) {
  return BitsVector<D, T>(hn::IfThenElse(hn::Lt(ordered_nan_first(b), ordered_nan_first(a)), b.v, a.v));
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> raised(BitsVector<D, T> a, BitsVector<D, T> low) {
  return larger(a, low);
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> lowered(BitsVector<D, T> a, BitsVector<D, T> high) {
  return smaller(a, high);
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> bounded(BitsVector<D, T> a, BitsVector<D, T> low, BitsVector<D, T> high) {
  return smaller(larger(a, low), high);
}
template <class D, Half T>
HWY_INLINE BitsVector<D, T> signum(BitsVector<D, T> a) {
  const auto has_sign = hn::AndNot(a.is_nan(), hn::Lt(hn::Zero(D()), a.size()));
  return BitsVector<D, T>(hn::IfThenElseZero(has_sign, with_sign(BitsVector<D, T>(1), a).v));
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
