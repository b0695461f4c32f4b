#include <algorithm>
#include <bit>
#include <cstddef>
#include <tuple>

#include "kernel/kernel.h"
#include "type/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cast.cpp"
#include "hwy/foreach_target.h"
#include "kernel/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// bfloat16_bits of what is no NaN: compilers make loops of half as many instructions.
HWY_INLINE uint16_t bfloat16_bits_of_number(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/// Floats are truncated to int64; out of range they give the smallest int64, as the processor does. Narrower integers
/// keep the low bits.
template <class To, class From>
HWY_INLINE To converted(From value) {
  if constexpr (std::is_same_v<To, Float16>)
    return {float16_bits(static_cast<float>(value))};
  else if constexpr (std::is_same_v<To, BFloat16> && std::is_integral_v<From>)
    return {bfloat16_bits_of_number(static_cast<float>(value))};
  else if constexpr (std::is_same_v<To, BFloat16>)
    return {bfloat16_bits(static_cast<float>(value))};
  else if constexpr (std::is_same_v<To, uint32_t> && std::is_floating_point_v<From>) {
    return static_cast<uint32_t>(converted<int64_t>(value));
  } else if constexpr (std::is_same_v<To, uint64_t> && std::is_floating_point_v<From>) {
    // From 2^63 on: converts value - 2^63 and sets the first bit.
    constexpr From kHalf{9223372036854775808.0};
    const bool upper = value >= kHalf;
    return static_cast<uint64_t>(converted<int64_t>(upper ? value - kHalf : value)) ^ (uint64_t{upper} << 63);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if constexpr (sizeof(To) <= 4) {
      // Conversions to 32 bits have vector instructions; only values outside their range need 64 bits.
      const bool fits = value >= From{-2147483648.0} && value < From{2147483648.0};
      if (fits) return static_cast<To>(static_cast<int32_t>(value));
      if constexpr (sizeof(To) == 4)
        return static_cast<To>(INT32_MIN);
      else
        return 0;
    } else {
      const bool fits = value >= From{-9223372036854775808.0} && value < From{9223372036854775808.0};
      return fits ? static_cast<To>(value) : INT64_MIN;
    }
  } else {
    return static_cast<To>(value);
  }
}

/// Floats to integers of at most 32 bits. The instruction gives the smallest int32 where a float has none, which is
/// what PyTorch does, so that no comparison is needed. Bench: ./dev bench --sweep, casts.
template <class From, class To>
inline constexpr bool kTruncatesByInstruction = HWY_ARCH_X86&& HWY_TARGET <= HWY_AVX2 &&
                                                (std::is_floating_point_v<From> ||
                                                 (HWY_TARGET == HWY_AVX2 && std::is_same_v<From, BFloat16>)) &&
                                                std::is_integral_v<To> && sizeof(To) <= 4 &&
                                                !std::is_same_v<To, uint32_t> && !std::is_same_v<To, bool>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<int32_t> truncated(hn::Vec512<float> v) {
  return hn::Vec512<int32_t>{_mm512_cvttps_epi32(v.raw)};
}
HWY_INLINE hn::Vec256<int32_t> truncated(hn::Vec512<double> v) {
  return hn::Vec256<int32_t>{_mm512_cvttpd_epi32(v.raw)};
}
#else
HWY_INLINE hn::Vec256<int32_t> truncated(hn::Vec256<float> v) {
  return hn::Vec256<int32_t>{_mm256_cvttps_epi32(v.raw)};
}
HWY_INLINE hn::Vec128<int32_t> truncated(hn::Vec256<double> v) {
  return hn::Vec128<int32_t>{_mm256_cvttpd_epi32(v.raw)};
}
#endif
template <class To>
struct Truncate {
  using Out = std::make_unsigned_t<To>;
  template <class D>
  static HWY_INLINE hn::Vec<hn::Rebind<Out, D>> run(D, hn::Vec<D> values) {
    const auto bits = hn::BitCast(hn::Rebind<uint32_t, D>(), truncated(values));
    if constexpr (sizeof(To) == sizeof(uint32_t))
      return bits;
    else
      return hn::TruncateTo(hn::Rebind<Out, D>(), bits);
  }
};
/// The same of bfloat16, the upper halves of floats.
template <class To>
struct TruncateBFloat16 {
  using Out = typename Truncate<To>::Out;
  template <class D>
  static HWY_INLINE hn::Vec<hn::Rebind<Out, D>> run(D, hn::Vec<D> bits) {
    const hn::Rebind<float, D> d;
    const auto wide = hn::ShiftLeft<16>(hn::PromoteTo(hn::Rebind<uint32_t, D>(), bits));
    return Truncate<To>::run(d, hn::BitCast(d, wide));
  }
};
#endif

/// Floats to integers of 64 bits and to uint32, for which AVX2 has no instruction: by those to int32, if numbers fit.
/// Bench: the same.
template <class From, class To>
inline constexpr bool kTruncatesByInt32 = HWY_TARGET == HWY_AVX2&& std::is_floating_point_v<From> &&
                                          (std::is_same_v<To, uint32_t> || (std::is_integral_v<To> && sizeof(To) == 8));
#if HWY_TARGET == HWY_AVX2
HWY_INLINE hn::Vec128<int32_t> truncated(hn::Vec128<float> v) { return hn::Vec128<int32_t>{_mm_cvttps_epi32(v.raw)}; }
template <class To>
struct TruncateByInt32 {
  using Out = To;
  template <class D>
  static HWY_INLINE hn::Vec<hn::Rebind<To, D>> run(D d, hn::Vec<D> values) {
    const hn::Rebind<int32_t, D> d32;
    const hn::Rebind<To, D> d_out;
    const auto narrow = truncated(values);
    // The instruction's result for numbers without an int32.
    if (hn::AllFalse(d32, hn::Eq(narrow, hn::Set(d32, INT32_MIN)))) {
      if constexpr (sizeof(To) == sizeof(int32_t))
        return hn::BitCast(d_out, narrow);
      else
        return hn::BitCast(d_out, hn::PromoteTo(hn::Rebind<int64_t, D>(), narrow));
    }
    alignas(32) hn::TFromD<D> lanes[hn::MaxLanes(D())];
    alignas(32) To results[hn::MaxLanes(D())];
    hn::Store(values, d, lanes);
    for (std::size_t i = 0; i < hn::MaxLanes(D()); ++i) results[i] = converted<To>(lanes[i]);
    return hn::Load(d_out, results);
  }
};
#endif

/// For casts of an instruction or two: two vectors a turn, because counting the turns takes as long as one vector.
/// Bench: ./dev bench --sweep, casts.
template <class Form, class Source, class D>
HWY_INLINE void cast_loop(D d, void* out, const Lanes* in, int64_t n) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  using From = std::remove_pointer_t<decltype(Source::data)>;
  const hn::Rebind<typename Form::Out, D> d_out;
  auto* const to = static_cast<typename Form::Out*>(out);
  const Source from(in[0]);
  int64_t i = 0;
  for (; i + 3 * kLanes <= n; i += 2 * kLanes) {  // leaves a whole vector
    const auto first = Form::run(d, from.at(d, i)), second = Form::run(d, from.at(d, i + kLanes));
    store_vector(d_out, first, to + i);
    store_vector(d_out, second, to + i + kLanes);
  }
  half_loop<Form>(d, to + i, n - i, Source({static_cast<From*>(in[0].data) + i, 1}));
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
template <class From, class To>
HWY_INLINE void truncate(void* out, const Lanes* in, int64_t n) {
  if constexpr (kTruncatesByInstruction<From, To> && std::is_same_v<From, BFloat16>)
    cast_loop<TruncateBFloat16<To>, InputLanes<uint16_t>>(hn::Rebind<uint16_t, hn::ScalableTag<float>>(), out, in, n);
  else if constexpr (kTruncatesByInstruction<From, To>)
    cast_loop<Truncate<To>, InputLanes<From>>(hn::ScalableTag<From>(), out, in, n);
#if HWY_TARGET == HWY_AVX2
  if constexpr (kTruncatesByInt32<From, To>)
    half_loop<TruncateByInt32<To>>(hn::FixedTag<From, 4>(), out, n, InputLanes<From>(in[0]));
#endif
}
#endif

struct IsNotZero {
  template <class D>
  static HWY_INLINE VectorTruth<D> forward(Vector<D> a) {
    return a != Vector<D>(0);
  }
};

template <class From, class To>
void cast(void* out, const Lanes* in, int64_t n) {
  const Stored<From>* from = static_cast<const Stored<From>*>(in[0].data);
  Stored<To>* to = static_cast<Stored<To>*>(out);
  if constexpr (kTruncatesByInstruction<From, To> || kTruncatesByInt32<From, To>) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    truncate<From, To>(out, in, n);
#endif
#if TENON_NARROWS_TRUTHS
  } else if constexpr (std::is_same_v<To, bool> && kNarrowsTruths<From>) {
    truths_of<IsNotZero, From>(out, n, MovingSource<WideTag<From>>(in[0]));
#endif
  } else if constexpr (std::is_same_v<To, bool>) {
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<uint8_t>(widened(from[i]) != 0);
  } else if constexpr (std::is_same_v<From, bool>) {
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = converted<To>(std::min<uint8_t>(from[i], 1));  // GCC compares one by one
  } else {
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = converted<To>(widened(from[i]));
  }
}

#if TENON_CONVERTS_FLOAT16
/// float16, with the processor's conversion instructions.
struct WidenFloat16 {
  using Out = float;
  template <class D, class In>
  static HWY_INLINE hn::Vec<hn::Rebind<float, D>> run(D d, In bits) {
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(hn::Rebind<float, D>(), hn::BitCast(half, in_register(d, bits)));
  }
};
struct NarrowToFloat16 {
  using Out = uint16_t;
  template <class D>
  static HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> run(D, hn::Vec<D> values) {
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::BitCast(hn::Rebind<uint16_t, D>(), hn::DemoteTo(half, values));
  }
};
template <>
void cast<Float16, float>(void* out, const Lanes* in, int64_t n) {
  cast_loop<WidenFloat16, HalfLanes>(hn::Rebind<uint16_t, hn::ScalableTag<float>>(), out, in, n);
}
template <>
void cast<float, Float16>(void* out, const Lanes* in, int64_t n) {
  cast_loop<NarrowToFloat16, InputLanes<float>>(hn::ScalableTag<float>(), out, in, n);
}
#endif

/// Truths from and to the bits of 16-bit floats.
template <Half From>
void truth_of_half(void* out, const Lanes* in, int64_t n) {
  const uint16_t* from = static_cast<const uint16_t*>(in[0].data);
  uint8_t* to = static_cast<uint8_t*>(out);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<uint8_t>((from[i] & 0x7FFF) != 0);
}
template <Half To>
void half_of_truth(void* out, const Lanes* in, int64_t n) {
  constexpr uint16_t kOne = std::is_same_v<To, Float16> ? float16_bits(1) : bfloat16_bits(1);
  const uint8_t* from = static_cast<const uint8_t*>(in[0].data);
  uint16_t* to = static_cast<uint16_t*>(out);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<uint16_t>(from[i] != 0 ? kOne : 0);
}

/// Copies elements of any dtype.
template <class T>
void copy(void* out, const Lanes* in, int64_t n) {
  const T* from = static_cast<const T*>(in[0].data);
  T* to = static_cast<T*>(out);
  if (in[0].step == 0) {
    const T value = *from;
    for (int64_t i = 0; i < n; ++i) to[i] = value;
    return;
  }
  if constexpr (sizeof(T) > sizeof(uint64_t)) {
    copy<uint64_t>(out, in, n * static_cast<int64_t>(sizeof(T) / sizeof(uint64_t)));  // in whole vectors
  } else {
    int64_t i = 0;
#if TENON_HAS_VECTORS
    if constexpr (sizeof(T) <= 2) {  // GCC would copy the last ones one by one
      const hn::CappedTag<T, 64 / sizeof(T)> d;
      constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
      for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
      if (i > 0 && i < n) return hn::StoreU(hn::LoadU(d, from + n - kLanes), d, to + n - kLanes);
    }
#endif
    TENON_INDEPENDENT
    for (; i < n; ++i) to[i] = from[i];
  }
}

template <std::size_t kWidth>
using Moved =
    std::tuple_element_t<std::countr_zero(kWidth), std::tuple<uint8_t, uint16_t, uint32_t, uint64_t, Complex128>>;

/// Converts to float32 and on, in blocks that stay in the first-level cache.
TENON_ONCE void cast_twice(std::byte* to, int64_t to_size, const std::byte* from, int64_t from_size, int64_t n,
                           Kernel first, Kernel second) {
  constexpr int64_t kBlock = 512;
  alignas(64) float values[kBlock];
  const Lanes wide{values, 1};
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    const Lanes lanes{from + start * from_size, 1};
    first(values, &lanes, count);
    second(to + start * to_size, &wide, count);
  }
}
template <class From, class To>
void cast_by_float32(void* out, const Lanes* in, int64_t n);

template <class From, class To>
constexpr KernelPair cast_kernels() {
  using Same = Moved<sizeof(Stored<To>)>;
  if constexpr (std::is_same_v<From, To>) return kernel_pair<&copy<Same>, Same, Same>();
  // What is cut off is the same for both signs.
  else if constexpr (std::is_same_v<To, int8_t>)
    return cast_kernels<From, uint8_t>();
  else if constexpr (std::is_same_v<To, uint16_t>)
    return cast_kernels<From, int16_t>();
  else if constexpr (Half<From> && std::is_same_v<To, bool>)
    return kernel_pair<&truth_of_half<From>, To, From>();
  else if constexpr (Half<To> && std::is_same_v<From, bool>)
    return kernel_pair<&half_of_truth<To>, To, From>();
  else if constexpr (TENON_HAS_VECTORS &&
                     (std::is_same_v<From, Float16> || std::is_same_v<To, Float16> ||
                      (std::is_same_v<From, BFloat16> && kTruncatesByInt32<float, To>)) &&
                     !std::is_same_v<From, float> && !std::is_same_v<To, float>)
    // Compilers do not know the instructions that convert float16, nor the loop for integers of 64 bits. Bench: ./dev
    // bench --sweep, casts.
    return {&cast_by_float32<From, To>, &streamed_by_calls<&cast_by_float32<From, To>, To, From>};
  else
    return kernel_pair<&cast<From, To>, To, From>();
}

template <class From, class To>
void cast_by_float32(void* out, const Lanes* in, int64_t n) {
  constexpr KernelPair first = cast_kernels<From, float>(), second = cast_kernels<float, To>();
  cast_twice(static_cast<std::byte*>(out), sizeof(Stored<To>), static_cast<const std::byte*>(in[0].data),
             sizeof(Stored<From>), n, first.plain, second.plain);
}

template <class From, class To>
void set_cast(KernelTable& table) {
  constexpr int from = static_cast<int>(dtype_of_v<From>), to = static_cast<int>(dtype_of_v<To>);
  constexpr KernelPair both = cast_kernels<From, To>();
  table.cast[from][to] = both.plain;
  table.cast_streamed[from][to] = both.streamed;
}
template <class From, class... To>
void fill_casts_from(KernelTable& table) {
  (set_cast<From, To>(table), ...);
}
template <class... T>
void fill_casts_among(KernelTable& table) {
  (fill_casts_from<T, T...>(table), ...);
}

template <class To, class... From>
void fill_casts_to(KernelTable& table) {
  (set_cast<From, To>(table), ...);
}

/// Fills missing casts of `dtype` with those of `other`.
void share_casts(KernelTable& table, Dtype dtype, Dtype other) {
  const auto share = [&](Dtype from, Dtype to, Dtype like_from, Dtype like_to) {
    const auto at = [](Dtype place) { return static_cast<std::size_t>(place); };
    if (table.cast[at(from)][at(to)]) return;
    table.cast[at(from)][at(to)] = table.cast[at(like_from)][at(like_to)];
    table.cast_streamed[at(from)][at(to)] = table.cast_streamed[at(like_from)][at(like_to)];
  };
  for (int i = 0; i < kDtypeCount; ++i) {
    share(dtype, static_cast<Dtype>(i), other, static_cast<Dtype>(i));
    share(static_cast<Dtype>(i), dtype, static_cast<Dtype>(i), other);
  }
}

/// Casts that keep bits or cut off the upper ones are the same for unsigned and signed integers.
void fill_unsigned_casts(KernelTable& table) {
  fill_casts_from<uint16_t, int32_t, int64_t, Float16, BFloat16, float, double>(table);
  fill_casts_from<uint32_t, int64_t, Float16, BFloat16, float, double>(table);
  fill_casts_from<uint64_t, Float16, BFloat16, float, double>(table);
  fill_casts_to<uint32_t, Float16, BFloat16, float, double>(table);
  fill_casts_to<uint64_t, Float16, BFloat16, float, double>(table);
  share_casts(table, uint16, int16);
  share_casts(table, uint32, int32);
  share_casts(table, uint64, int64);
}

// Complex numbers are converted part by part, in blocks that stay in the first-level cache.
inline constexpr int64_t kPartsBlock = 256;

/// Copies out the real parts and converts them. Calls the conversion of real numbers for each block, so that its code
/// is not duplicated.
template <class Z>
TENON_ONCE void cast_real_parts(std::byte* to, int64_t itemsize, const Z* from, int64_t n, Kernel kernel) {
  typename Z::value_type parts[kPartsBlock];
  const Lanes lanes{parts, 1};
  for (int64_t start = 0; start < n; start += kPartsBlock) {
    const int64_t count = std::min(kPartsBlock, n - start);
    for (int64_t i = 0; i < count; ++i) parts[i] = from[start + i].re;
    kernel(to + start * itemsize, &lanes, count);
  }
}
template <class Z, class To>
void cast_real(void* out, const Lanes* in, int64_t n) {
  constexpr KernelPair both = cast_kernels<typename Z::value_type, To>();
  cast_real_parts(static_cast<std::byte*>(out), sizeof(Stored<To>), static_cast<const Z*>(in[0].data), n, both.plain);
}
template <class Z>
void cast_truth(void* out, const Lanes* in, int64_t n) {
  const Z* from = static_cast<const Z*>(in[0].data);
#if TENON_NARROWS_TRUTHS
  const WideTag<uint64_t> d;
  const auto truths = [d](auto bits) TENON_UNROLLED { return hn::VecFromMask(d, hn::Not(hn::Eq(bits, hn::Zero(d)))); };
  const auto four = [&](const Z* numbers) TENON_UNROLLED {
    if constexpr (sizeof(Z) == sizeof(uint64_t)) {
      const auto sizes = hn::Set(d, 0x7FFFFFFF7FFFFFFF);  // of both parts, without their signs
      return truths(hn::And(hn::LoadU(d, reinterpret_cast<const uint64_t*>(numbers)), sizes));
    } else {
      hn::Vec<WideTag<double>> re, im;
      hn::LoadInterleaved2(WideTag<double>(), &numbers->re, re, im);
      return truths(hn::BitCast(d, hn::Abs(hn::Or(re, im))));
    }
  };
  truth_loop(
      out, n, [&](int64_t i) TENON_UNROLLED { return four(from + i); },
      [&](int64_t count) TENON_UNROLLED {
        Z few[kWideLanes] = {};
        std::copy_n(from, count, few);
        return four(few);
      });
#else
  uint8_t* to = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<uint8_t>((from[i].re != 0) | (from[i].im != 0));
#endif
}
/// Converts real numbers to complex ones with imaginary part 0.
template <class Z>
TENON_ONCE void cast_to_parts(Z* to, const std::byte* from, int64_t itemsize, int64_t n, Kernel kernel) {
  typename Z::value_type parts[kPartsBlock];
  for (int64_t start = 0; start < n; start += kPartsBlock) {
    const int64_t count = std::min(kPartsBlock, n - start);
    const Lanes lanes{from + start * itemsize, 1};
    kernel(parts, &lanes, count);
    for (int64_t i = 0; i < count; ++i) to[start + i] = {parts[i], 0};
  }
}
template <class From, class Z>
void cast_complex(void* out, const Lanes* in, int64_t n) {
  constexpr KernelPair both = cast_kernels<From, typename Z::value_type>();
  cast_to_parts(static_cast<Z*>(out), static_cast<const std::byte*>(in[0].data), sizeof(Stored<From>), n, both.plain);
}
template <class From, class To>
void cast_both(void* out, const Lanes* in, int64_t n) {
  const Lanes parts{in[0].data, 1};
  cast_kernels<typename From::value_type, typename To::value_type>().plain(out, &parts, 2 * n);
}

template <class Z, class... T>
void fill_complex_casts(KernelTable& table) {
  constexpr auto at = [](Dtype dtype) { return static_cast<std::size_t>(dtype); };
  constexpr Dtype complex = dtype_of_v<Z>;
  ((table.cast[at(complex)][at(dtype_of_v<T>)] = &cast_real<Z, T>), ...);
  ((table.cast[at(dtype_of_v<T>)][at(complex)] = &cast_complex<T, Z>), ...);
  table.cast[at(complex)][at(bool_)] = &cast_truth<Z>;
  table.cast[at(bool_)][at(complex)] = &cast_complex<bool, Z>;
  set_cast<Z, Z>(table);
}

void fill_casts(KernelTable& table) {
  fill_casts_among<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, Float16, BFloat16, float, double>(table);
  fill_complex_casts<Complex64, uint8_t, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t, Float16,
                     BFloat16, float, double>(table);
  fill_complex_casts<Complex128, uint8_t, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t, Float16,
                     BFloat16, float, double>(table);
  table.cast[static_cast<std::size_t>(complex64)][static_cast<std::size_t>(complex128)] =
      &cast_both<Complex64, Complex128>;
  table.cast[static_cast<std::size_t>(complex128)][static_cast<std::size_t>(complex64)] =
      &cast_both<Complex128, Complex64>;
  fill_unsigned_casts(table);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
