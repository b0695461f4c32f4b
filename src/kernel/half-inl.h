// kernel: loops over 16-bit floats that convert to float32, compute and round once, all in registers.
#if defined(TENON_KERNEL_HALF_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_HALF_INL_H
#undef TENON_KERNEL_HALF_INL_H
#else
#define TENON_KERNEL_HALF_INL_H
#endif

#include <bit>

#include "kernel/cells-inl.h"
#include "kernel/half_bits-inl.h"
#include "kernel/half_functions-inl.h"
#include "kernel/loops-inl.h"
#include "kernel/some_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

HWY_INLINE void narrow(Float16* to, float value) { to->bits = float16_bits(value); }
HWY_INLINE void narrow(BFloat16* to, float value) { to->bits = bfloat16_bits(value); }

/// One lane, with the processor's conversion instructions where it has them.
template <Half T>
HWY_INLINE float widen_lane(const T* from) {
  return widened(*from);
}
template <Half T>
HWY_INLINE void narrow_lane(T* to, float value) {
  narrow(to, value);
}
template <Half T>
HWY_INLINE void add_to_lane(T* to, float term) {
  narrow(to, widened(*to) + term);
}

#undef TENON_CONVERTS_FLOAT16
#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM_A64
#define TENON_CONVERTS_FLOAT16 1
#else
#define TENON_CONVERTS_FLOAT16 0
#endif

template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}
/// Like bfloat16_bits, in the upper half of each lane.
template <class D>
HWY_INLINE auto rounded_to_bfloat16(D, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(d32, 0x7FFF)), odd);
  return hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(value)), hn::Set(d32, 0x7FC00000), rounded);
}

#if TENON_CONVERTS_FLOAT16
template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const Float16* from) {
  const hn::Rebind<hwy::float16_t, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
}
HWY_INLINE float widen_lane(const Float16* from) { return hn::GetLane(load_widened(hn::FixedTag<float, 1>(), from)); }
HWY_INLINE void narrow_lane(Float16* to, float value) {
  const hn::FixedTag<float, 1> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  hn::StoreU(hn::DemoteTo(d16, hn::Set(d, value)), d16, reinterpret_cast<hwy::float16_t*>(to));
}
/// All in one vector register.
HWY_INLINE void add_to_lane(Float16* to, const float& term) {
  const hn::FixedTag<float, 1> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  const auto sum = hn::Add(load_widened(d, to), hn::LoadU(d, &term));
  hn::StoreU(hn::DemoteTo(d16, sum), d16, reinterpret_cast<hwy::float16_t*>(to));
}
#else
/// float16_value and float16_bits of vectors; the bits are in the lower half of each lane.
template <class D>
HWY_INLINE hn::Vec<D> float16_values(D d, hn::Vec<hn::RebindToUnsigned<D>> bits) {
  const hn::RebindToUnsigned<D> d32;
  const auto word = hn::ShiftLeft<16>(bits), twice = hn::Add(word, word);
  const auto normal =
      hn::Mul(hn::BitCast(d, hn::Add(hn::ShiftRight<4>(twice), hn::Set(d32, 0xE0u << 23))), hn::Set(d, 0x1.0p-112f));
  const auto subnormal =
      hn::Sub(hn::BitCast(d, hn::Or(hn::ShiftRight<17>(twice), hn::Set(d32, 126u << 23))), hn::Set(d, 0.5f));
  const auto is_normal = hn::RebindMask(d, hn::Ne(hn::ShiftRight<27>(twice), hn::Zero(d32)));
  const auto sign = hn::BitCast(d, hn::And(word, hn::Set(d32, 0x80000000u)));
  return hn::Or(sign, hn::IfThenElse(is_normal, normal, subnormal));
}
template <class D>
HWY_INLINE auto rounded_to_float16(D d, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> d32;
  const auto bits = hn::BitCast(d32, value), exponent = hn::ShiftRight<1>(hn::Add(bits, bits));
  const auto scaled = hn::Mul(hn::Mul(hn::Abs(value), hn::Set(d, 0x1.0p+112f)), hn::Set(d, 0x1.0p-110f));
  // The larger of two floats that are powers of two is that of the larger exponent.
  const auto power = hn::And(exponent, hn::Set(d32, 0x7F800000u));
  const hn::RebindToSigned<D> signed32;
  const auto bias = hn::BitCast(d32, hn::Max(hn::BitCast(signed32, power), hn::Set(signed32, 0x38800000)));
  const auto sum = hn::BitCast(d32, hn::Add(hn::BitCast(d, hn::Add(bias, hn::Set(d32, 0x07800000u))), scaled));
  const auto size =
      hn::Add(hn::And(hn::ShiftRight<13>(sum), hn::Set(d32, 0x7C00u)), hn::And(sum, hn::Set(d32, 0xFFFu)));
  const auto is_nan = hn::RebindMask(d32, hn::IsNaN(value));
  const auto sign = hn::ShiftLeft<15>(hn::ShiftRight<31>(bits));
  return hn::Or(sign, hn::IfThenElse(is_nan, hn::Set(d32, 0x7E00u), size));
}
template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const Float16* from) {
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  return float16_values(d, hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from))));
}
#endif

#if HWY_TARGET == HWY_SCALAR
template <class D>
using FloatsOf = hn::Rebind<float, D>;
#else
template <class D>
using FloatsOf = hn::Repartition<float, D>;
#endif
/// A vector that is still in memory. Instructions that convert float16 read and write half a vector: with AVX2 that
/// takes half as long in memory as in registers that are split and joined. Bench: tenon_bench --filter
/// '^large/f16\+f16/'.
struct InMemory {
  const uint16_t* from;
};
template <class D>
HWY_INLINE hn::Vec<D> in_register(D d, InMemory v) {
  return hn::LoadU(d, v.from);
}
template <class D>
HWY_INLINE hn::Vec<D> in_register(D, hn::Vec<D> v) {
  return v;
}
template <class D>
HWY_INLINE void store_vector(D d, hn::Vec<D> v, hn::TFromD<D>* to) {
  hn::StoreU(v, d, to);
}
template <class D>
HWY_INLINE void stream_vector(D d, hn::Vec<D> v, hn::TFromD<D>* to) {
  hn::Stream(v, d, to);
}
#if TENON_CONVERTS_FLOAT16
/// A vector that is not joined.
template <class D>
struct VectorHalves {
  hn::Vec<hn::Half<D>> low, high;
};
template <class D>
HWY_INLINE hn::Vec<D> in_register(D d, VectorHalves<D> v) {
  return hn::Combine(d, v.high, v.low);
}
template <class D>
HWY_INLINE void store_vector(D, VectorHalves<D> v, uint16_t* to) {
  const hn::Half<D> half;
  hn::StoreU(v.low, half, to);
  hn::StoreU(v.high, half, to + hn::MaxLanes(half));
}
template <class D>
HWY_INLINE void stream_vector(D, VectorHalves<D> v, uint16_t* to) {
  const hn::Half<D> half;
  hn::Stream(v.low, half, to);
  hn::Stream(v.high, half, to + hn::MaxLanes(half));
}
#endif

/// The lanes of a vector of 16-bit floats as float32, in two vectors. `narrowed` gives them their order back.
template <class D>
struct WidePair {
  hn::Vec<FloatsOf<D>> low, high;
};
/// Whether `low` are the first lanes. Otherwise they are the even ones, so that a shift and a mask widen them.
template <class T>
inline constexpr bool kWidensInOrder = TENON_CONVERTS_FLOAT16&& std::is_same_v<T, Float16>;

#if HWY_TARGET == HWY_SCALAR
template <class T, class D>
HWY_INLINE WidePair<D> widened_pair(D, hn::Vec<D> v) {
  const auto value = hn::Set(FloatsOf<D>(), widened(T{hn::GetLane(v)}));
  return {value, value};
}
template <class T, class D>
HWY_INLINE hn::Vec<D> narrowed(D d, WidePair<D> pair) {
  T result;
  narrow(&result, hn::GetLane(pair.low));
  return hn::Set(d, result.bits);
}
#else
template <class T, class D>
HWY_INLINE WidePair<D> widened_pair([[maybe_unused]] D d16, hn::Vec<D> v) {
  const FloatsOf<D> d;
  const hn::RebindToUnsigned<FloatsOf<D>> d32;
  const auto pairs = hn::BitCast(d32, v);
  if constexpr (std::is_same_v<T, BFloat16>) {
    return {hn::BitCast(d, hn::ShiftLeft<16>(pairs)), hn::BitCast(d, hn::And(pairs, hn::Set(d32, 0xFFFF0000u)))};
  } else {
#if TENON_CONVERTS_FLOAT16
    const hn::Rebind<hwy::float16_t, FloatsOf<D>> half;
    const hn::Half<D> half16;
    return {hn::PromoteTo(d, hn::BitCast(half, hn::LowerHalf(half16, v))),
            hn::PromoteTo(d, hn::BitCast(half, hn::UpperHalf(half16, v)))};
#else
    return {float16_values(d, hn::And(pairs, hn::Set(d32, 0xFFFFu))), float16_values(d, hn::ShiftRight<16>(pairs))};
#endif
  }
}
/// Rounds to nearest even.
template <class T, class D>
HWY_INLINE auto narrowed([[maybe_unused]] D d16, WidePair<D> pair) {
  const FloatsOf<D> d;
  if constexpr (std::is_same_v<T, BFloat16>) {
    const auto even = hn::ShiftRight<16>(rounded_to_bfloat16(d, pair.low)), odd = rounded_to_bfloat16(d, pair.high);
    return hn::OddEven(hn::BitCast(d16, odd), hn::BitCast(d16, even));
  } else {
#if TENON_CONVERTS_FLOAT16
    const hn::Rebind<hwy::float16_t, FloatsOf<D>> half;
    const hn::Half<D> half16;
    return VectorHalves<D>{hn::BitCast(half16, hn::DemoteTo(half, pair.low)),
                           hn::BitCast(half16, hn::DemoteTo(half, pair.high))};
#else
    return hn::BitCast(d16,
                       hn::Or(rounded_to_float16(d, pair.low), hn::ShiftLeft<16>(rounded_to_float16(d, pair.high))));
#endif
  }
}
#endif

template <class T, class D>
HWY_INLINE WidePair<D> widened_pair(D d16, InMemory v) {
  if constexpr (kWidensInOrder<T>) {
    const FloatsOf<D> d;
    const auto* from = reinterpret_cast<const T*>(v.from);
    return {load_widened(d, from), load_widened(d, from + hn::MaxLanes(d))};
  } else {
    return widened_pair<T>(d16, in_register(d16, v));
  }
}

/// A number that is not a 16-bit float.
struct WideNumber {
  float value;
};
template <class T, class D>
HWY_INLINE WidePair<D> widened_pair(D, WideNumber number) {
  const auto value = hn::Set(FloatsOf<D>(), number.value);
  return {value, value};
}

// How a vector of results is computed from vectors of 16-bit floats. Each has the most lanes of a vector.

/// F over `V`, float32 vectors, rounded at the end. As wide as the machine's: rounding to bfloat16 takes six
/// instructions.
template <class F, class T, class V>
struct OverFloats {
  using Out = uint16_t;
  template <class D, class... In>
  static HWY_INLINE auto run(D d, In... in) {
    return of_pairs(d, widened_pair<T>(d, in)...);
  }

 private:
  template <class D, class... Pairs>
  static HWY_INLINE auto of_pairs(D d, Pairs... in) {
    using Floats = typename V::template Of<FloatsOf<D>>;
    return narrowed<T>(d, WidePair<D>{F::forward(Floats(in.low)...).v, F::forward(Floats(in.high)...).v});
  }
};
struct Unrounded {
  template <class D>
  using Of = Vector<D>;
};
template <class T>
struct Stepped {
  template <class D>
  using Of = SteppedVector<D, T>;
};
template <class F, class T>
using RoundedOnce = OverFloats<F, T, Unrounded>;
/// Rounded after every step, too.
template <class F, class T>
using RoundedStepwise = OverFloats<F, T, Stepped<T>>;
/// The logarithm in a formula that rounds after every step.
template <class D, Half T>
HWY_INLINE SteppedVector<D, T> logarithm(SteppedVector<D, T> a) {
#if TENON_HAS_HALF_FUNCTIONS && HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<hn::Vec<D>, half::V32>) return {half::Log::of<T>(a.v)};
#endif
  return {log_vector(D(), a.v)};
}
/// The function of 16-bit floats that computes F with AVX-512 or AVX2, in registers instead of three passes. Bench:
/// tenon_sweep --filter 'functions/.*float16'.
template <class F>
struct HalfFunctionOf {
  using type = void;
};
#if TENON_HAS_HALF_FUNCTIONS
#define TENON_HALF_FUNCTION(NAME, FUNCTION) \
  template <>                               \
  struct HalfFunctionOf<ops::NAME> {        \
    using type = FUNCTION;                  \
  };
TENON_HALF_FUNCTION(exp, half::Exp)
#if HWY_TARGET <= HWY_AVX3
TENON_HALF_FUNCTION(log, half::Log)
TENON_HALF_FUNCTION(sqrt, half::SquareRoot)
#endif
TENON_HALF_FUNCTION(sin, half::Sin)
TENON_HALF_FUNCTION(cos, half::Cos)
TENON_HALF_FUNCTION(sigmoid, half::Logistic)
#undef TENON_HALF_FUNCTION
/// `narrowed` of results, whose NaN are quiet: two vectors are rounded at once.
template <class D>
HWY_INLINE hn::Vec<D> narrowed_results(D d, WidePair<D> pair) {
  const hn::RebindToUnsigned<FloatsOf<D>> d32;
  const auto even = hn::BitCast(d32, pair.low), odd = hn::BitCast(d32, pair.high);
  const auto high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<16>(even)));
  const auto low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(odd)), hn::BitCast(d, even));
  const auto one = hn::Set(d, 1), lost = hn::SaturatedAdd(low, hn::And(high, one));
  const auto rounded = hn::IfThenElse(hn::Gt(lost, hn::Set(d, 0x8000)), hn::Add(high, one), high);
  const auto is_nan = hn::Gt(hn::And(high, hn::Set(d, 0x7FFF)), hn::Set(d, 0x7F80));
  return hn::IfThenElse(is_nan, hn::Set(d, 0x7FC0), rounded);
}
/// `Function` over float32 vectors; F beyond its farthest number.
template <class F, class Function, class T>
struct OverHalfFunction {
  using Out = uint16_t;
  template <class D, class In>
  static HWY_INLINE auto run(D d, In in) {
    if constexpr (std::is_same_v<T, BFloat16>)
      return of_bfloat16(d, in_register(d, in));
    else
      return narrowed<T>(d, of_pair(d, widened_pair<T>(d, in)));
  }

 private:
  template <class D, class V>
  static HWY_INLINE V of_bfloat16(D d, V in) {
    const V result = narrowed_results(d, of_pair(d, widened_pair<T>(d, in)));
    if constexpr (requires { Function::farthest; }) {
      // The largest float16 is not beyond.
      constexpr uint32_t kFarthest = std::bit_cast<uint32_t>(Function::farthest) >> 16;
      const auto is_near = hn::Lt(hn::Add(in, in), hn::Set(d, static_cast<uint16_t>(2 * kFarthest + 1)));
      // A lane's result must not depend on the others.
      if (!hn::AllTrue(d, is_near)) return hn::IfThenElse(is_near, result, beyond(d, in));
    }
    return result;
  }
  template <class D>
  static HWY_INLINE WidePair<D> of_pair(D, WidePair<D> wide) {
    const FloatsOf<D> d;
    const half::D32 both;
    if constexpr (hn::MaxLanes(d) == hn::MaxLanes(both)) {
      return {Function::template of<T>(wide.low), Function::template of<T>(wide.high)};
    } else {
      const half::V32 results = Function::template of<T>(hn::Combine(both, wide.high, wide.low));
      return {hn::LowerHalf(d, results), hn::UpperHalf(d, results)};
    }
  }
  template <class D, class V>
  static HWY_NOINLINE V beyond(D d, V in) {
    return in_register(d, RoundedOnce<F, T>::run(d, in));
  }
};
#endif
/// F over the bits.
template <class F, class T>
struct OnBits {
  static constexpr bool kGivesTruth = F::row.promotion == Promotion::comparison;
  using Out = std::conditional_t<kGivesTruth, uint8_t, uint16_t>;
  template <class D, class... V>
  static HWY_INLINE hn::Vec<hn::Rebind<Out, D>> run(D d, V... in) {
    const hn::RebindToSigned<D> bits;
    using S = std::remove_const_t<decltype(bits)>;
    const auto result = F::forward(BitsVector<S, T>(hn::BitCast(bits, in_register(d, in)))...);
    const hn::Rebind<Out, D> d_out;
    if constexpr (kGivesTruth && HWY_TARGET <= HWY_AVX3)
      return hn::IfThenElseZero(hn::Mask<std::remove_const_t<decltype(d_out)>>{result.v.raw}, hn::Set(d_out, 1));
    else if constexpr (kGivesTruth)
      return hn::DemoteTo(d_out, hn::And(hn::VecFromMask(bits, result.v), hn::Set(bits, 1)));
    else
      return hn::BitCast(d, result.v);
  }
};

/// Lanes of one input. Reads under a mask that miss the caches wait for each other, so whole vectors are read if they
/// end before `end`.
template <class T>
struct InputLanes {
  const T* data;
  const T* end;
  HWY_INLINE explicit InputLanes(const Lanes& lanes, const void* end_of_rows = nullptr)
      : data(static_cast<const T*>(lanes.data)), end(static_cast<const T*>(end_of_rows)) {}
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, int64_t i) const {
    return hn::LoadU(d, data + i);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> some(D d, int64_t i, int64_t count) const {
    return data + i + hn::MaxLanes(D()) <= end ? at(d, i) : load_some(d, data + i, count);
  }
};
struct HalfLanes : InputLanes<uint16_t> {
  HWY_INLINE explicit HalfLanes(const Lanes& lanes, const void* end_of_rows = nullptr)
      : InputLanes(lanes, end_of_rows) {}
  template <class D>
  HWY_INLINE InMemory at(D, int64_t i) const {
    return {data + i};
  }
};
/// One value for all lanes.
struct HalfSplat {
  uint16_t value;
  HWY_INLINE explicit HalfSplat(const Lanes& lanes, const void* /*end_of_rows*/ = nullptr)
      : value(*static_cast<const uint16_t*>(lanes.data)) {}
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, int64_t) const {
    return hn::Set(d, value);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> some(D d, int64_t, int64_t) const {
    return hn::Set(d, value);
  }
};
/// A number in float32.
struct NumberLanes {
  WideNumber number;
  HWY_INLINE explicit NumberLanes(const Lanes& lanes) : number{*static_cast<const float*>(lanes.data)} {}
  template <class D>
  HWY_INLINE WideNumber at(D, int64_t) const {
    return number;
  }
  template <class D>
  HWY_INLINE WideNumber some(D, int64_t, int64_t) const {
    return number;
  }
};
/// One of both: a splat is expanded and read again and again.
class HalfLanesOrSplat {
 public:
  HWY_INLINE explicit HalfLanesOrSplat(const Lanes& lanes)
      : data_(static_cast<const uint16_t*>(lanes.data)), mask_(lanes.step == 0 ? 0 : -1) {
    if (mask_ != 0) return;
    for (uint16_t& value : block_) value = *data_;
    data_ = block_;
  }
  template <class D>
  HWY_INLINE InMemory at(D, int64_t i) const {
    return {data_ + (i & mask_)};
  }
  template <class D>
  HWY_INLINE hn::Vec<D> some(D d, int64_t i, int64_t count) const {
    return load_some(d, data_ + (i & mask_), count);
  }

 private:
  const uint16_t* data_;
  int64_t mask_;
  alignas(64) uint16_t block_[32];
};

/// `n` lanes, by vectors. With AVX-512 the last one is loaded and stored by a mask. Elsewhere it overlaps the one
/// before; fewer lanes than one vector are computed by shorter vectors.
template <class Form, class D, class... Sources>
HWY_INLINE void half_loop(D d, void* out, int64_t n, const Sources&... in) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  using Out = typename Form::Out;
  const hn::Rebind<Out, D> d_out;
  Out* const to = static_cast<Out*>(out);
#if HWY_TARGET <= HWY_AVX3
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store_vector(d_out, Form::run(d, in.at(d, i)...), to + i);
  if (i < n) store_some(d_out, in_register(d_out, Form::run(d, in.some(d, i, n - i)...)), to + i, n - i);
#else
  if (n >= kLanes) {
    store_overlapping<kLanes>(
        n, Form::run(d, in.at(d, 0)...), [&](int64_t i) TENON_UNROLLED { return Form::run(d, in.at(d, i)...); },
        [&](int64_t i, auto v) TENON_UNROLLED { store_vector(d_out, v, to + i); });
  } else if constexpr (kLanes > 8) {
    half_loop<Form>(hn::CappedTag<hn::TFromD<D>, 8>(), out, n, in...);
  } else {
    store_some(d_out, in_register(d_out, Form::run(d, in.some(d, 0, n)...)), to, n);
  }
#endif
}

using HalfTag = hn::ScalableTag<uint16_t>;
template <class Form>
void half_unary(void* out, const Lanes* in, int64_t n) {
  half_loop<Form>(HalfTag(), out, n, HalfLanes(in[0]));
}
template <class Form>
void half_binary(void* out, const Lanes* in, int64_t n) {
  if (in[1].step == 0) return half_loop<Form>(HalfTag(), out, n, HalfLanes(in[0]), HalfSplat(in[1]));
  if (in[0].step == 0) return half_loop<Form>(HalfTag(), out, n, HalfSplat(in[0]), HalfLanes(in[1]));
  half_loop<Form>(HalfTag(), out, n, HalfLanes(in[0]), HalfLanes(in[1]));
}
/// One loop for all combinations: of formulas that are bound by arithmetic, not by memory.
template <class Form>
void half_binary_once(void* out, const Lanes* in, int64_t n) {
  half_loop<Form>(HalfTag(), out, n, HalfLanesOrSplat(in[0]), HalfLanesOrSplat(in[1]));
}
/// The second operand is a number.
template <class Form>
void half_with_number(void* out, const Lanes* in, int64_t n) {
  half_loop<Form>(HalfTag(), out, n, HalfLanes(in[0]), HalfSplat(in[1]));
}
template <class Form>
void half_ternary(void* out, const Lanes* in, int64_t n) {
  half_loop<Form>(HalfTag(), out, n, HalfLanesOrSplat(in[0]), HalfLanesOrSplat(in[1]), HalfLanesOrSplat(in[2]));
}

/// Streaming stores straight from the registers, for whole blocks of kStreamedLanes.
template <class Form, class... Sources>
HWY_INLINE void half_stream(void* out, int64_t n, const Sources&... in) {
  const HalfTag d;
  constexpr int64_t kLanes = hn::MaxLanes(HalfTag());
  using Out = typename Form::Out;
  const hn::Rebind<Out, HalfTag> d_out;
  Out* const to = static_cast<Out*>(out);
  for (int64_t i = 0; i < n; i += kLanes) stream_vector(d_out, Form::run(d, in.at(d, i)...), to + i);
}
template <class Form>
void half_unary_streamed(void* out, const Lanes* in, int64_t n) {
  half_stream<Form>(out, n, HalfLanes(in[0]));
}
template <class Form>
void half_binary_streamed(void* out, const Lanes* in, int64_t n) {
  if (in[1].step == 0) return half_stream<Form>(out, n, HalfLanes(in[0]), HalfSplat(in[1]));
  if (in[0].step == 0) return half_stream<Form>(out, n, HalfSplat(in[0]), HalfLanes(in[1]));
  half_stream<Form>(out, n, HalfLanes(in[0]), HalfLanes(in[1]));
}

/// Beside numbers that are not rounded to 16 bits. The operands are lanes if there is one, else lanes or splats. Bench:
/// ./dev bench --ops, and tenon_sweep --filter 'numbers.*float16'.
template <class Form, bool kStreams, std::size_t... kOperand, std::size_t... kNumber>
HWY_INLINE void half_beside_numbers(void* out, const Lanes* in, int64_t n, std::index_sequence<kOperand...>,
                                    std::index_sequence<kNumber...>) {
  using Operand = std::conditional_t<sizeof...(kOperand) == 1, HalfLanes, HalfLanesOrSplat>;
  if constexpr (kStreams)
    half_stream<Form>(out, n, Operand(in[kOperand])..., NumberLanes(in[sizeof...(kOperand) + kNumber])...);
  else
    half_loop<Form>(HalfTag(), out, n, Operand(in[kOperand])..., NumberLanes(in[sizeof...(kOperand) + kNumber])...);
}
template <class F, class T, bool kStreams>
void beside_numbers(void* out, const Lanes* in, int64_t n) {
  constexpr std::size_t kNumbers = numbers_beside(F::row, kFormulaArity<F>), kOperands = kFormulaArity<F> - kNumbers;
  half_beside_numbers<RoundedOnce<F, T>, kStreams>(out, in, n, std::make_index_sequence<kOperands>(),
                                                   std::make_index_sequence<kNumbers>());
}

template <class Form, class A, class B>
HWY_INLINE void half_loop_of_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n,
                                  int64_t rows) {
  Lanes row[2] = {in[0], in[1]};
  const void* end[2] = {};
  for (int i = 0; i < 2; ++i)
    if (steps[i] > 0)
      end[i] = static_cast<const std::byte*>(in[i].data) + (rows - 1) * steps[i] + n * int64_t{sizeof(uint16_t)};
  for (; rows > 0; --rows) {
    half_loop<Form>(HalfTag(), out, n, A(row[0], end[0]), B(row[1], end[1]));
    out = static_cast<std::byte*>(out) + out_step;
    for (int i = 0; i < 2; ++i) row[i].data = static_cast<const std::byte*>(row[i].data) + steps[i];
  }
}
/// half_binary for rows.
template <class Form>
void half_rows(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  if (in[1].step == 0) return half_loop_of_rows<Form, HalfLanes, HalfSplat>(out, out_step, in, steps, n, rows);
  if (in[0].step == 0) return half_loop_of_rows<Form, HalfSplat, HalfLanes>(out, out_step, in, steps, n, rows);
  half_loop_of_rows<Form, HalfLanes, HalfLanes>(out, out_step, in, steps, n, rows);
}

template <class Form, class T, int kArity>
constexpr KernelPair half_kernels() {
  if constexpr (kArity == 3)
    return kernel_pair<&half_ternary<Form>, typename Form::Out, T, T, T>();
  else if constexpr (kArity == 1)
    return {&half_unary<Form>, TENON_HAS_VECTORS ? &half_unary_streamed<Form> : nullptr};
  else
    return {&half_binary<Form>, TENON_HAS_VECTORS ? &half_binary_streamed<Form> : nullptr};
}

/// Runs the float32 kernel of an op over 16-bit floats. One copy serves every op whose result is one, too, and one
/// those whose result is a bool. With streaming stores for whole blocks of kStreamedLanes.
template <class T, std::size_t kInputs, bool kStreams = false, class Out = T>
HWY_NOINLINE void through_float32(Kernel kernel, void* out, const Lanes* in, int64_t n) {
  constexpr int64_t kChunk = 256;
  const HalfTag d;
  using D = std::remove_const_t<decltype(d)>;
  const FloatsOf<D> wide_lanes;
  constexpr int64_t kLanes = hn::MaxLanes(D()), kWide = hn::MaxLanes(FloatsOf<D>());
  // A vector of one lane is widened twice: one more element is written.
  alignas(64) float wide[kInputs][kChunk + kWide], result[kChunk + kWide];
  Lanes lanes[kInputs];
  for (std::size_t k = 0; k < kInputs; ++k) {
    lanes[k] = {wide[k], in[k].step};
    wide[k][0] = widened(*static_cast<const T*>(in[k].data));
  }
  const auto widen = [&](float* to, auto v) HWY_ATTR {
    const WidePair<D> pair = widened_pair<T>(d, v);
    hn::StoreU(pair.low, wide_lanes, to);
    hn::StoreU(pair.high, wide_lanes, to + kWide);
  };
  const auto narrow_pair = [&](const float* from) HWY_ATTR {
    return narrowed<T>(d, WidePair<D>{hn::LoadU(wide_lanes, from), hn::LoadU(wide_lanes, from + kWide)});
  };
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t count = std::min(kChunk, n - start), whole = count / kLanes * kLanes, rest = count - whole;
    for (std::size_t k = 0; k < kInputs; ++k) {
      if (in[k].step == 0) continue;
      const T* from = static_cast<const T*>(in[k].data) + start;
      const auto* bits = reinterpret_cast<const uint16_t*>(from);
      for (int64_t i = 0; i < whole; i += kLanes) widen(wide[k] + i, InMemory{bits + i});
      if constexpr (kStreams) {
        continue;
      } else if constexpr (kWidensInOrder<T>) {
        if (rest > 0) widen(wide[k] + whole, load_some(d, bits + whole, rest));
      } else {
        for (int64_t i = whole; i < count; ++i) wide[k][i] = widened(from[i]);
      }
    }
    if constexpr (!std::is_same_v<Out, T>) {
      kernel(static_cast<Out*>(out) + start, lanes, count);
      continue;
    }
    kernel(result, lanes, count);
    T* const to = static_cast<T*>(out) + start;
    auto* bits = reinterpret_cast<uint16_t*>(to);
    for (int64_t i = 0; i < whole; i += kLanes) {
      if constexpr (kStreams)
        stream_vector(d, narrow_pair(result + i), bits + i);
      else
        store_vector(d, narrow_pair(result + i), bits + i);
    }
    if constexpr (kStreams) {
      continue;
    } else if constexpr (kWidensInOrder<T>) {
      if (rest > 0) store_some(d, in_register(d, narrow_pair(result + whole)), bits + whole, rest);
    } else {
      for (int64_t i = whole; i < count; ++i) narrow(to + i, result[i]);
    }
  }
}
template <class T, std::size_t kInputs, Op kOp, bool kStreams = false, class Out = T>
void half_through_float32(void* out, const Lanes* in, int64_t n) {
  const Kernel kernel = kernels().elementwise[static_cast<int>(kOp)][static_cast<int>(float32)];
  through_float32<T, kInputs, kStreams, Out>(kernel, out, in, n);
}

/// nextafter over the bits, whose order is that of the numbers but for the sign: for loops that compilers vectorise.
template <class T>
struct NeighbourBits {
  static HWY_INLINE Lane<uint16_t> forward(Lane<uint16_t> from, Lane<uint16_t> towards) {
    constexpr int16_t kInfinity = std::is_same_v<T, Float16> ? 0x7C00 : 0x7F80;
    constexpr auto kNaN = static_cast<uint16_t>(std::is_same_v<T, Float16> ? 0x7E00 : 0x7FC0);
    const auto size = static_cast<int16_t>(from.v & 0x7FFF), other_size = static_cast<int16_t>(towards.v & 0x7FFF);
    const auto a = static_cast<int16_t>(static_cast<int16_t>(from.v) < 0 ? -size : size);
    const auto b = static_cast<int16_t>(static_cast<int16_t>(towards.v) < 0 ? -other_size : other_size);
    const bool grows = (a < b) == (a > 0);
    const auto beside = static_cast<uint16_t>(grows ? from.v + 1 : from.v - 1);
    const auto smallest = static_cast<uint16_t>((towards.v & 0x8000) | 1);
    const uint16_t moved = size == 0 ? smallest : beside;
    const uint16_t number = a == b ? towards.v : moved;
    return Lane<uint16_t>(((size > kInfinity) | (other_size > kInfinity)) ? kNaN : number);
  }
};

/// Numbers as bounds are rounded to 16 bits, too, so that these compute the same.
template <class F>
using FormulaOnBits = std::conditional_t<
    std::is_same_v<F, ops::clamp_scalar>, ops::clamp,
    std::conditional_t<std::is_same_v<F, ops::clamp_min_scalar>, ops::maximum,
                       std::conditional_t<std::is_same_v<F, ops::clamp_max_scalar>, ops::minimum, F>>>;

template <class F, class T, Op kOp>
constexpr KernelPair half_kernel() {
  constexpr const Row& row = F::row;
  // The first would take the float32 kernel; the numbers of the last are float32.
  constexpr bool has_none = (row.dtypes & set_of(dtype_of_v<T>)) == 0 && row.promotion == Promotion::int_to_float;
  constexpr bool widens_lanes = !TENON_HAS_VECTORS && !row.vectors && has_kernel<F, float>();
  if constexpr (has_none || (!row.stepwise && (!has_kernel<F, float>() || keeps_numbers(row))))
    return {};
  else if constexpr (row.stepwise && row.vectors && operand_count(row, kFormulaArity<F>) == 1)
    return {&half_with_number<RoundedStepwise<F, T>>};
  else if constexpr (std::is_same_v<F, ops::div_floor>)
    return {&half_binary_once<RoundedStepwise<F, T>>};
  else if constexpr (row.stepwise && row.vectors)
    return {&half_binary<RoundedStepwise<F, T>>};
  else if constexpr (std::is_same_v<F, ops::nextafter>)
    return {&binary<NeighbourBits<T>, uint16_t, uint16_t, uint16_t>};
#if TENON_HAS_MASKS
  else if constexpr (row.promotion == Promotion::select)
    return {&select_row<uint16_t, false>, &select_row<uint16_t, true>};
#endif
  else if constexpr (row.promotion == Promotion::select && !TENON_HAS_VECTORS)
    return {&by_steps<F, uint16_t, bool, uint16_t, uint16_t>};
  else if constexpr (row.promotion == Promotion::select)
    return select_kernel<F, uint16_t>();
  else if constexpr (!TENON_HAS_VECTORS && row.promotion == Promotion::comparison)
    return {&half_through_float32<T, kFormulaArity<F>, kOp, false, bool>};
  else if constexpr (row.on_bits && !widens_lanes)
    return half_kernels<OnBits<FormulaOnBits<F>, T>, T, kFormulaArity<F>>();
#if TENON_HAS_HALF_FUNCTIONS
  else if constexpr (!std::is_void_v<typename HalfFunctionOf<F>::type>)
    return half_kernels<OverHalfFunction<F, typename HalfFunctionOf<F>::type, T>, T, 1>();
#endif
  else if constexpr (row.through_float32 && kFormulaArity<F> == 1 && TENON_HAS_VECTORS)
    return {&half_through_float32<T, 1, kOp>, &half_through_float32<T, 1, kOp, true>};
  else if constexpr (row.through_float32 || widens_lanes)
    return {&half_through_float32<T, kFormulaArity<F>, kOp>};
  else
    return half_kernels<RoundedOnce<F, T>, T, kFormulaArity<F>>();
}

template <class F, class T>
constexpr RowsKernel half_rows_kernel() {
#if TENON_HAS_MASKS
  if constexpr (F::row.promotion == Promotion::select) return &select_rows<uint16_t>;
#elif TENON_HAS_VECTORS
  if constexpr (F::row.promotion == Promotion::select) return &choose_rows<uint16_t>;
#endif
  if constexpr (!F::row.short_rows || !TENON_HAS_VECTORS)
    return nullptr;
  else if constexpr (F::row.on_bits)
    return &half_rows<OnBits<F, T>>;
  else
    return &half_rows<RoundedOnce<F, T>>;
}

/// Loads 16-bit floats for a fold, which computes in float32.
template <class T>
struct HalfLoad {
  using From = T;
  using To = float;
  template <class D>
  static HWY_INLINE hn::Vec<D> vector(D d, const T* from) {
    return load_widened(d, from);
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> some(D d, const T* from, int64_t n) {
    const hn::Rebind<uint16_t, D> d16;
    alignas(64) uint16_t lanes[hn::MaxLanes(D())];
    hn::StoreU(load_some(d16, reinterpret_cast<const uint16_t*>(from), n), d16, lanes);
    return load_widened(d, reinterpret_cast<const T*>(lanes));
  }
  static HWY_INLINE float lane(T value) { return widened(value); }
};

#if TENON_HAS_VECTORS
/// Sums of narrow rows of bfloat16, each in four float32.
struct CellHalfSums {
  using From = BFloat16;
  using To = float;
  using D = CellLanes<float>;
  static constexpr int64_t kParts = 4;
  static constexpr bool kPairs = true;
  static HWY_INLINE CellVector keys(CellVector raw) { return raw; }
  static HWY_INLINE CellVector part(CellVector halves) {
    const CellLanes<uint32_t> d;
    const auto pairs = hn::BitCast(d, halves);
    return sum(hn::BitCast(D(), hn::ShiftLeft<16>(pairs)), hn::BitCast(D(), hn::And(pairs, hn::Set(d, 0xFFFF0000))));
  }
  static HWY_INLINE CellVector join(CellVector a, CellVector b) {
    return sum(hn::BitCast(D(), a), hn::BitCast(D(), b));
  }
  static HWY_INLINE void store(float* to, CellVector sums) { hn::StoreU(hn::BitCast(D(), sums), D(), to); }

 private:
  static HWY_INLINE CellVector sum(hn::Vec<D> a, hn::Vec<D> b) { return hn::BitCast(CellTag(), hn::Add(a, b)); }
};
inline void sum_bfloat16(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
  const auto* const from = static_cast<const BFloat16*>(in);
  const bool is_pair =
      n == 2 && step == 2;  // one addition: faster as whole vectors; a sum of zeros may have the other sign
  if (is_pair || n * static_cast<int64_t>(sizeof(BFloat16)) >= kCellsBelow)
    return fold_vectors<ops::sum, HalfLoad<BFloat16>>(out, in, n, step, rows, is_far);
  CellRows(CellHalfSums(), n, step).run(static_cast<float*>(out), from, rows, from + (rows - 1) * step + n, is_far);
}
#endif

template <class Block, class T>
constexpr FoldKernel half_fold_kernel() {
#if TENON_HAS_VECTORS
  if constexpr (std::is_same_v<Block, ops::sum> && std::is_same_v<T, BFloat16>) return &sum_bfloat16;
#endif
  return &fold_vectors<Block, HalfLoad<T>>;
}

template <class Block, class T, Op kOp>
void fill_half_op(KernelTable& table) {
  constexpr int column = static_cast<int>(dtype_of_v<T>);
  if constexpr (Block::row.kind == Kind::map) {
    set_kernels(table, kOp, column, half_kernel<Block, T, kOp>());
    table.elementwise_rows[static_cast<int>(kOp)][column] = half_rows_kernel<Block, T>();
#if TENON_HAS_VECTORS
    if constexpr (Block::row.beside_numbers) {
      constexpr std::size_t half = half_column(dtype_of_v<T>);
      table.beside_numbers[static_cast<int>(kOp)][half] = &beside_numbers<Block, T, false>;
      table.beside_numbers_streamed[static_cast<int>(kOp)][half] = &beside_numbers<Block, T, true>;
    }
#endif
  } else if constexpr (!HasState<Block> && Block::row.kind == Kind::fold && !kIsExtreme<Block> &&
                       computes<float>(Block::row)) {
    table.fold[static_cast<int>(kOp)][column] = half_fold_kernel<Block, T>();
#if TENON_HAS_VECTORS
    table.fold_across[static_cast<int>(kOp)][column] = &fold_across<Block, HalfLoad<T>>;
    table.fold_blocks[static_cast<int>(kOp)][column] = &fold_blocks<Block, HalfLoad<T>>;
#endif
  }
}

/// Fills the column of a 16-bit float.
template <class T>
void fill_half(KernelTable& table) {  // NOLINT(readability-function-size): a statement for each op
#define TENON_OP(NAME) \
  if constexpr (formula_of(Op::NAME, dtype_of_v<T>) == Op::NAME) fill_half_op<ops::NAME, T, Op::NAME>(table);
#include "ops/list.def"
#undef TENON_OP
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
