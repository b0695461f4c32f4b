// kernel: exponential and logarithm over whole vectors, for every float32 and float64: subnormals,
// infinities and NaN included. exp: error below 0.66 ulp, because it adds back what the largest addition loses. log, as
// a sum of two numbers: looked up with AVX-512; else after fdlibm (https://www.netlib.org/fdlibm), below 1 ulp. No
// branches: special values are selected at the end.
#if defined(TENON_KERNEL_EXP_LOG_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_EXP_LOG_INL_H
#undef TENON_KERNEL_EXP_LOG_INL_H
#else
#define TENON_KERNEL_EXP_LOG_INL_H
#endif

#include <bit>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// fdlibm's numbers for one type. `ln2_high` has so many low zeros that its product with an exponent is exact.
template <class T>
struct ExpLog;
template <>
struct ExpLog<float> {
  using Bits = uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;  // 0x3f317200, 0x35bfbe8e
  static constexpr float inverse_ln2 = 0x1.715476p+0f;
  static constexpr float ln2 = 0x1.62e430p-1f, ln2_rest = -1.904654300e-9f;
  static constexpr float lowest = -105, highest = 89;               // outside, exp is 0 or infinite
  static constexpr float lowest_power = -151, highest_power = 129;  // the same of exp2
  static constexpr float least_share = -60;                         // below, what e^x lost is subnormal
  static constexpr float exp_terms[] = {0.5f,           0x1.555556p-3f,  0x1.5554e6p-5f,
                                        0x1.111094p-7f, 0x1.6d4f2ap-10f, 0x1.a19c76p-13f};
  static constexpr float log_terms[] = {0xaaaaaa.0p-24f, 0xccce13.0p-25f, 0x91e9ee.0p-25f, 0xf89e26.0p-26f};
  static constexpr Bits sqrt_half = 0x3f3504f3;
  static constexpr float normal_scale = 0x1p+25f;  // makes a subnormal normal
  static constexpr int normal_shift = 25;
};
template <>
struct ExpLog<double> {
  using Bits = uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double inverse_ln2 = 1.44269504088896338700e+00;
  static constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_rest = 0x1.abc9e3b39803fp-56;
  static constexpr double lowest = -746, highest = 710;
  static constexpr double lowest_power = -1076, highest_power = 1025;
  static constexpr double least_share = -650;
  static constexpr double exp_terms[] = {0.5,
                                         0x1.5555555555558p-3,
                                         0x1.5555555555556p-5,
                                         0x1.111111110f81ep-7,
                                         0x1.6c16c16c15dbbp-10,
                                         0x1.a01a01b005925p-13,
                                         0x1.a01a01a93bcfdp-16,
                                         0x1.71ddf6bda8be2p-19,
                                         0x1.27e4d4c40d23fp-22,
                                         0x1.af6322fc31754p-26,
                                         0x1.1f7f45b3e0a0dp-29};
  static constexpr double log_terms[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                         2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                         1.479819860511658591e-01};
  static constexpr Bits sqrt_half = 0x3fe6a09e667f3bcd;
  static constexpr double normal_scale = 0x1p+54;
  static constexpr int normal_shift = 54;
};

/// A number of about 100 bits as the sum of two. `low` is a few units in the last place of `high`, or takes its place
/// where sums cancel.
template <class V>
struct Pair {
  V high, low;
};
/// a + b, exactly, where |a| >= |b| or a is 0.
template <class V>
HWY_INLINE Pair<V> sum_of_ordered(V a, V b) {
  const V sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}

/// terms[0] + x * (terms[1] + x * ...).
template <class D, class V, class T, int kCount>
HWY_INLINE V polynomial(D d, V x, const T (&terms)[kCount]) {
  V sum = hn::Set(d, terms[kCount - 1]);
  for (int i = kCount - 2; i >= 0; --i) sum = hn::MulAdd(sum, x, hn::Set(d, terms[i]));
  return sum;
}

/// The same with neighbouring terms added at once, so that the next step waits half as long: for short loops that fill
/// the processor's queues. Bench: tenon_sweep --filter 'functions/(exp|sigmoid|silu) float64'. Without fused
/// multiply-add more roundings would show.
template <class D, class V, class T, int kCount>
HWY_INLINE V paired_polynomial(D d, V x, const T (&terms)[kCount]) {
  if constexpr (HWY_NATIVE_FMA == 0) return polynomial(d, x, terms);
  constexpr int kPairs = kCount / 2;
  const V square = hn::Mul(x, x);
  const auto pair = [&](int i)
                        HWY_ATTR { return hn::MulAdd(hn::Set(d, terms[2 * i + 1]), x, hn::Set(d, terms[2 * i])); };
  V sum = kCount % 2 == 1 ? hn::Set(d, terms[kCount - 1]) : pair(kPairs - 1);
  for (int i = kPairs - (kCount % 2 == 1 ? 1 : 2); i >= 0; --i) sum = hn::MulAdd(sum, square, pair(i));
  return sum;
}

/// Converts between small integers and floats by adding 1.5 * 2^mantissa_bits, whose lowest mantissa bit is worth 1.
template <class T>
constexpr T kCounter = static_cast<T>(3) * static_cast<T>(int64_t{1} << (ExpLog<T>::mantissa_bits - 1));

/// 2^k, if it is a normal number.
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_two(D d, VI k) {
  using T = hn::TFromD<D>;
  constexpr int kBits = ExpLog<T>::mantissa_bits;
  const hn::RebindToSigned<D> di;
  const auto bias = hn::Set(di, std::numeric_limits<T>::max_exponent - 1);
  return hn::BitCast(d, hn::ShiftLeft<kBits>(hn::Add(k, bias)));
}

/// k / 2, rounded down, for small k. AVX2 has no arithmetic shift of 64 bits.
template <class D, class VI>
HWY_INLINE VI halved(D, VI k) {
#if HWY_TARGET == HWY_AVX2
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const hn::RebindToSigned<D> di;
    const hn::RebindToUnsigned<D> du;
    const auto raised = hn::BitCast(du, hn::Add(k, hn::Set(di, 1 << 20)));
    return hn::Sub(hn::BitCast(di, hn::ShiftRight<1>(raised)), hn::Set(di, 1 << 19));
  }
#endif
  return hn::ShiftRight<1>(k);
}
/// 2^k y, in two steps, so that only the last one can leave the normal range and round.
template <class D, class V, class VI>
HWY_INLINE V with_exponent(D d, V y, VI k) {
  const auto half = halved(d, k);
  return hn::Mul(hn::Mul(y, power_of_two(d, half)), power_of_two(d, hn::Sub(k, half)));
}

/// exp(r) for r = high - low and |r| <= ln 2 / 2: 1 + r + r^2 (1/2 + r/6 + ...), the polynomial by Remez. What is lost
/// when `high` is added to 1 goes to the term r^2 ..., which is below 0.08, so the total error is little more than that
/// of the last addition.
template <class D, class V>
HWY_INLINE V exp_near_0(D d, V high, V low) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T{1}), r = hn::Sub(high, low), line = hn::Add(one, high);
  const V lost = hn::Sub(hn::Sub(high, hn::Sub(line, one)), low);
  return hn::Add(line, hn::MulAdd(hn::Mul(r, r), paired_polynomial(d, r, ExpLog<T>::exp_terms), lost));
}
template <class D, class V, class VI>
HWY_INLINE V scaled_exp(D d, VI k, V high, V low) {
  return with_exponent(d, exp_near_0(d, high, low), k);
}

#undef TENON_HAS_POWER_TABLE
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define TENON_HAS_POWER_TABLE 1
#else
#define TENON_HAS_POWER_TABLE 0
#endif
#if TENON_HAS_POWER_TABLE
// Whole vectors of float32 look up 2^(i/16), or with eight lanes 2^(i/8), as the sum of two numbers.
alignas(64) inline constexpr float kPowers16[] = {0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                                  0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                                  0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                                  0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
alignas(64) inline constexpr float kPowerRests16[] = {0,
                                                      0x1.9f3122p-25f,
                                                      -0x1.c15742p-27f,
                                                      0x1.ceac48p-25f,
                                                      0x1.4636e2p-25f,
                                                      0x1.824684p-25f,
                                                      -0x1.593abcp-25f,
                                                      -0x1.5bd5ecp-27f,
                                                      0x1.9fcef4p-26f,
                                                      -0x1.829fdp-25f,
                                                      0x1.15506ep-27f,
                                                      0x1.51f848p-27f,
                                                      -0x1.a94b14p-26f,
                                                      -0x1.3d56b2p-27f,
                                                      -0x1.822dbcp-27f,
                                                      0x1.52486cp-27f};
alignas(64) inline constexpr float kPowers8[] = {0x1p+0f,        0x1.172b84p+0f, 0x1.306fep+0f,  0x1.4bfdaep+0f,
                                                 0x1.6a09e6p+0f, 0x1.8ace54p+0f, 0x1.ae89fap+0f, 0x1.d5818ep+0f};
alignas(64) inline constexpr float kPowerRests8[] = {0,
                                                     -0x1.c15742p-27f,
                                                     0x1.4636e2p-25f,
                                                     -0x1.593abcp-25f,
                                                     0x1.9fcef4p-26f,
                                                     0x1.15506ep-27f,
                                                     -0x1.a94b14p-26f,
                                                     -0x1.822dbcp-27f};
// 2^(-i/16), or 2^(-i/8), as the sum of a multiple of 1/4 and a rest.
alignas(64) inline constexpr float kQuarters16[] = {0x1p+0f,   0x1p+0f,   0x1p+0f,   0x1p+0f,   0x1.8p-1f, 0x1.8p-1f,
                                                    0x1.8p-1f, 0x1.8p-1f, 0x1.8p-1f, 0x1.8p-1f, 0x1.8p-1f, 0x1p-1f,
                                                    0x1p-1f,   0x1p-1f,   0x1p-1f,   0x1p-1f};
alignas(64) inline constexpr float kQuarterRests16[] = {
    0x0p+0f,        -0x1.5b505ep-5f, -0x1.53f392p-4f, -0x1.f33212p-4f, 0x1.744fccp-4f,  0x1.c49182p-5f,
    0x1.59ca84p-6f, -0x1.7bae3p-7f,  -0x1.5f619ap-5f, -0x1.2a7c12p-4f, -0x1.a01296p-4f, 0x1.ef5326p-4f,
    0x1.837f06p-4f, 0x1.1c3d38p-4f,  0x1.72b83cp-5f,  0x1.6ab0dap-6f};
alignas(64) inline constexpr float kQuarters8[] = {0x1p+0f,   0x1p+0f,   0x1.8p-1f, 0x1.8p-1f,
                                                   0x1.8p-1f, 0x1.8p-1f, 0x1p-1f,   0x1p-1f};
alignas(64) inline constexpr float kQuarterRests8[] = {0x0p+0f,        -0x1.53f392p-4f, 0x1.744fccp-4f,
                                                       0x1.59ca84p-6f, -0x1.5f619ap-5f, -0x1.a01296p-4f,
                                                       0x1.837f06p-4f, 0x1.72b83cp-5f};
/// entries[i] of the lowest bits of each lane. A macro names the instruction, which Highway wraps in checks.
HWY_INLINE hn::Vec256<float> looked_up(hn::Vec256<float> i, const float* entries) {
  return hn::Vec256<float>{_mm256_permutevar8x32_ps(_mm256_load_ps(entries), _mm256_castps_si256(i.raw))};
}
// 2^(i/16) as the sum of two numbers.
alignas(64) inline constexpr double kWidePowers16[] = {0x1p+0,
                                                       0x1.0b5586cf9890fp+0,
                                                       0x1.172b83c7d517bp+0,
                                                       0x1.2387a6e756238p+0,
                                                       0x1.306fe0a31b715p+0,
                                                       0x1.3dea64c123422p+0,
                                                       0x1.4bfdad5362a27p+0,
                                                       0x1.5ab07dd485429p+0,
                                                       0x1.6a09e667f3bcdp+0,
                                                       0x1.7a11473eb0187p+0,
                                                       0x1.8ace5422aa0dbp+0,
                                                       0x1.9c49182a3f09p+0,
                                                       0x1.ae89f995ad3adp+0,
                                                       0x1.c199bdd85529cp+0,
                                                       0x1.d5818dcfba487p+0,
                                                       0x1.ea4afa2a490dap+0};
alignas(64) inline constexpr double kWidePowerRests16[] = {0x0p+0,
                                                           0x1.8a62e4adc610bp-54,
                                                           -0x1.19041b9d78a76p-55,
                                                           0x1.9b07eb6c70573p-54,
                                                           0x1.6f46ad23182e4p-55,
                                                           0x1.ada0911f09ebcp-55,
                                                           0x1.d4397afec42e2p-56,
                                                           0x1.6324c054647adp-54,
                                                           -0x1.bdd3413b26456p-54,
                                                           -0x1.41577ee04992fp-55,
                                                           0x1.6e9f156864b27p-54,
                                                           0x1.c7c46b071f2bep-56,
                                                           0x1.7a1cd345dcc81p-54,
                                                           0x1.11065895048ddp-55,
                                                           0x1.2ed02d75b3707p-55,
                                                           -0x1.e9c23179c2893p-54};
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<float> looked_up(hn::Vec512<float> i, const float* entries) {
  return hn::Vec512<float>{_mm512_permutexvar_ps(_mm512_castps_si512(i.raw), _mm512_load_ps(entries))};
}
// 2^(-i/16) as the sum of a multiple of 1/4 and a rest.
alignas(64) inline constexpr double kWideQuarters16[] = {0x1p+0,   0x1p+0,   0x1p+0,   0x1p+0,   0x1.8p-1, 0x1.8p-1,
                                                         0x1.8p-1, 0x1.8p-1, 0x1.8p-1, 0x1.8p-1, 0x1.8p-1, 0x1p-1,
                                                         0x1p-1,   0x1p-1,   0x1p-1,   0x1p-1};
alignas(64) inline constexpr double kWideQuarterRests16[] = {0x0p+0,
                                                             -0x1.5b505d5b6f268p-5,
                                                             -0x1.53f391822dbc7p-4,
                                                             -0x1.f332113d56b1fp-4,
                                                             0x1.744fccad69d6bp-4,
                                                             0x1.c49182a3f0902p-5,
                                                             0x1.59ca845541b6bp-6,
                                                             -0x1.7bae3053f9e4ap-7,
                                                             -0x1.5f619980c4337p-5,
                                                             -0x1.2a7c115bd5eb5p-4,
                                                             -0x1.a0129564eaec7p-4,
                                                             0x1.ef5326091a112p-4,
                                                             0x1.837f0518db8a9p-4,
                                                             0x1.1c3d373ab11c3p-4,
                                                             0x1.72b83c7d517aep-5,
                                                             0x1.6ab0d9f3121ecp-6};
HWY_INLINE hn::Vec512<double> looked_up(hn::Vec512<double> i, const double* entries) {
  return hn::Vec512<double>{
      _mm512_permutex2var_pd(_mm512_load_pd(entries), _mm512_castpd_si512(i.raw), _mm512_load_pd(entries + 8))};
}
#endif
#endif
#if TENON_HAS_POWER_TABLE
/// The same of eight entries, by the lowest three bits. Four float64 look up their halves as if they were float32, in
/// two registers; the third bit chooses the register.
HWY_INLINE hn::Vec256<float> looked_up_of_8(hn::Vec256<float> i, const float* entries) { return looked_up(i, entries); }
HWY_INLINE hn::Vec256<double> looked_up_of_8(hn::Vec256<double> i, const double* entries) {
  const auto* quarters = reinterpret_cast<const float*>(entries);
  const __m256i index = _mm256_castpd_si256(i.raw);
  const __m256i both = _mm256_shuffle_epi32(_mm256_slli_epi64(index, 1), 0xA0);
  const __m256i halves = _mm256_or_si256(both, _mm256_set1_epi64x(int64_t{1} << 32));
  const __m256d low = _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_load_ps(quarters), halves));
  const __m256d high = _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_load_ps(quarters + 8), halves));
  return hn::Vec256<double>{_mm256_blendv_pd(low, high, _mm256_castsi256_pd(_mm256_slli_epi64(index, 61)))};
}
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<float> looked_up_of_8(hn::Vec512<float> i, const float* entries) {
  const __m512 both = _mm512_broadcast_f32x8(_mm256_load_ps(entries));
  return hn::Vec512<float>{_mm512_permutexvar_ps(_mm512_castps_si512(i.raw), both)};
}
HWY_INLINE hn::Vec512<double> looked_up_of_8(hn::Vec512<double> i, const double* entries) {
  return hn::Vec512<double>{_mm512_permutexvar_pd(_mm512_castpd_si512(i.raw), _mm512_load_pd(entries))};
}
#endif
#endif
#undef TENON_HAS_LANE_ROWS
#if HWY_TARGET == HWY_AVX2
#define TENON_HAS_LANE_ROWS 1
#else
#define TENON_HAS_LANE_ROWS 0
#endif
#if TENON_HAS_LANE_ROWS
/// Rows of a table in memory, one for each of four lanes. Two neighbouring numbers of all lanes take six instructions,
/// half as many as a gather does on Zen.
class LaneRows {
 public:
  /// The lowest bits of each lane are the row's number; those above 32 bits don't count.
  template <std::size_t kRows, std::size_t kCount>
  HWY_INLINE LaneRows(const double (&rows)[kRows][kCount], hn::Vec256<double> number) {
    alignas(32) uint32_t halves[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(halves), _mm256_castpd_si256(number.raw));
    asm("" : "+m"(halves));  // else GCC takes the numbers out of the vector by shuffles
    for (int lane = 0; lane < 4; ++lane) of_lane_[lane] = rows[number_of<kRows>(halves[2 * std::ptrdiff_t{lane}])];
  }
  /// The numbers 2 i and 2 i + 1.
  HWY_INLINE Pair<hn::Vec256<double>> numbers(int64_t i) const {
    const __m256d even = both(of_lane_[0] + 2 * i, of_lane_[2] + 2 * i);
    const __m256d odd = both(of_lane_[1] + 2 * i, of_lane_[3] + 2 * i);
    return {hn::Vec256<double>{_mm256_unpacklo_pd(even, odd)}, hn::Vec256<double>{_mm256_unpackhi_pd(even, odd)}};
  }

 private:
  /// With a power of two of rows, further bits don't count either.
  template <std::size_t kRows>
  static HWY_INLINE uint32_t number_of(uint32_t bits) {
    return std::has_single_bit(kRows) ? bits % kRows : bits;
  }
  static HWY_INLINE __m256d both(const double* low, const double* high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(low)), _mm_load_pd(high), 1);
  }
  const double* of_lane_[4];
};
/// 2^(-i/64) as the sum of a multiple of 1/4 and a rest.
alignas(32) inline constexpr double kQuarters64[][2] = {{0x1p+0, 0x0p+0},
                                                        {0x1p+0, -0x1.60f9f985bc9f4p-7},
                                                        {0x1p+0, -0x1.5f134923757f3p-6},
                                                        {0x1p+0, -0x1.05e4119ea5d89p-5},
                                                        {0x1p+0, -0x1.5b505d5b6f268p-5},
                                                        {0x1p+0, -0x1.afd11874c009ep-5},
                                                        {0x1p+0, -0x1.01b466423250ap-4},
                                                        {0x1p+0, -0x1.2b0cfe1266bd4p-4},
                                                        {0x1p+0, -0x1.53f391822dbc7p-4},
                                                        {0x1p+0, -0x1.7c695afc3b424p-4},
                                                        {0x1p+0, -0x1.a46f918837cb7p-4},
                                                        {0x1p+0, -0x1.cc0768d4175a6p-4},
                                                        {0x1p+0, -0x1.f332113d56b1fp-4},
                                                        {0x1.8p-1, 0x1.e60f4825e0e91p-4},
                                                        {0x1.8p-1, 0x1.bfbb797daf237p-4},
                                                        {0x1.8p-1, 0x1.99d15c278afd8p-4},
                                                        {0x1.8p-1, 0x1.744fccad69d6bp-4},
                                                        {0x1.8p-1, 0x1.4f35aabcfedfap-4},
                                                        {0x1.8p-1, 0x1.2a81d91f12ae4p-4},
                                                        {0x1.8p-1, 0x1.06333daef2b26p-4},
                                                        {0x1.8p-1, 0x1.c49182a3f0902p-5},
                                                        {0x1.8p-1, 0x1.7d829fde4e4f9p-5},
                                                        {0x1.8p-1, 0x1.3737b0cdc5e4fp-5},
                                                        {0x1.8p-1, 0x1.e35d322aee6c5p-6},
                                                        {0x1.8p-1, 0x1.59ca845541b6bp-6},
                                                        {0x1.8p-1, 0x1.a3666d124bb2p-7},
                                                        {0x1.8p-1, 0x1.2c4cca6670945p-8},
                                                        {0x1.8p-1, -0x1.d0cc930b19dfp-9},
                                                        {0x1.8p-1, -0x1.7bae3053f9e4ap-7},
                                                        {0x1.8p-1, -0x1.4029537b306e8p-6},
                                                        {0x1.8p-1, -0x1.c1142e2741184p-6},
                                                        {0x1.8p-1, -0x1.204dc39ae5d11p-5},
                                                        {0x1.8p-1, -0x1.5f619980c4337p-5},
                                                        {0x1.8p-1, -0x1.9dc77daadddb7p-5},
                                                        {0x1.8p-1, -0x1.db814fc5aa7b5p-5},
                                                        {0x1.8p-1, -0x1.0c4875296f5bdp-4},
                                                        {0x1.8p-1, -0x1.2a7c115bd5eb5p-4},
                                                        {0x1.8p-1, -0x1.485c64a56c12dp-4},
                                                        {0x1.8p-1, -0x1.65ea54b1583f1p-4},
                                                        {0x1.8p-1, -0x1.8326c4b169acbp-4},
                                                        {0x1.8p-1, -0x1.a0129564eaec7p-4},
                                                        {0x1.8p-1, -0x1.bcaea51f6197fp-4},
                                                        {0x1.8p-1, -0x1.d8fbcfcf3b698p-4},
                                                        {0x1.8p-1, -0x1.f4faef0468ebp-4},
                                                        {0x1p-1, 0x1.ef5326091a112p-4},
                                                        {0x1p-1, 0x1.d3ed9a72cffb7p-4},
                                                        {0x1p-1, 0x1.b8d39b9d54e55p-4},
                                                        {0x1p-1, 0x1.9e0459320b7fap-4},
                                                        {0x1p-1, 0x1.837f0518db8a9p-4},
                                                        {0x1p-1, 0x1.6942d3720185ap-4},
                                                        {0x1p-1, 0x1.4f4efa8fef709p-4},
                                                        {0x1p-1, 0x1.35a2b2f13e6e9p-4},
                                                        {0x1p-1, 0x1.1c3d373ab11c3p-4},
                                                        {0x1p-1, 0x1.031dc431466b2p-4},
                                                        {0x1p-1, 0x1.d4873168b9aa8p-5},
                                                        {0x1p-1, 0x1.a35beb6fcb754p-5},
                                                        {0x1p-1, 0x1.72b83c7d517aep-5},
                                                        {0x1p-1, 0x1.429aaea92ddfbp-5},
                                                        {0x1p-1, 0x1.1301d0125b50ap-5},
                                                        {0x1p-1, 0x1.c7d865a7a344p-6},
                                                        {0x1p-1, 0x1.6ab0d9f3121ecp-6},
                                                        {0x1p-1, 0x1.0e8a30eb37901p-6},
                                                        {0x1p-1, 0x1.66c34c5615d0fp-7},
                                                        {0x1p-1, 0x1.64d1f3bc03077p-8}};
/// 2^(i/64) as the sum of two numbers.
alignas(32) inline constexpr double kPowers64[][2] = {{0x1p+0, 0x0p+0},
                                                      {0x1.02c9a3e778061p+0, -0x1.19083535b085dp-56},
                                                      {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},
                                                      {0x1.0874518759bc8p+0, 0x1.186be4bb284ffp-57},
                                                      {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
                                                      {0x1.0e3ec32d3d1a2p+0, 0x1.03a1727c57b53p-59},
                                                      {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54},
                                                      {0x1.1429aaea92dep+0, -0x1.32fbf9af1369ep-54},
                                                      {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
                                                      {0x1.1a35beb6fcb75p+0, 0x1.e5b4c7b4968e4p-55},
                                                      {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},
                                                      {0x1.2063b88628cd6p+0, 0x1.dc775814a8495p-55},
                                                      {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
                                                      {0x1.26b4565e27cddp+0, 0x1.2bd339940e9d9p-55},
                                                      {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},
                                                      {0x1.2d285a6e4030bp+0, 0x1.0024754db41d5p-54},
                                                      {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
                                                      {0x1.33c08b26416ffp+0, 0x1.32721843659a6p-54},
                                                      {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54},
                                                      {0x1.3a7db34e59ff7p+0, -0x1.5e436d661f5e3p-56},
                                                      {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
                                                      {0x1.4160a21f72e2ap+0, -0x1.ef3691c309278p-58},
                                                      {0x1.44e086061892dp+0, 0x1.89b7a04ef80dp-59},
                                                      {0x1.486a2b5c13cdp+0, 0x1.3c1a3b69062fp-56},
                                                      {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
                                                      {0x1.4f9b2769d2ca7p+0, -0x1.4b309d25957e3p-54},
                                                      {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55},
                                                      {0x1.56f4736b527dap+0, 0x1.9bb2c011d93adp-54},
                                                      {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
                                                      {0x1.5e76f15ad2148p+0, 0x1.ba6f93080e65ep-54},
                                                      {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54},
                                                      {0x1.6623882552225p+0, -0x1.bb60987591c34p-54},
                                                      {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
                                                      {0x1.6dfb23c651a2fp+0, -0x1.bbe3a683c88abp-57},
                                                      {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55},
                                                      {0x1.75feb564267c9p+0, -0x1.0245957316dd3p-54},
                                                      {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
                                                      {0x1.7e2f336cf4e62p+0, 0x1.05d02ba15797ep-56},
                                                      {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54},
                                                      {0x1.868d99b4492edp+0, -0x1.fc6f89bd4f6bap-54},
                                                      {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
                                                      {0x1.8f1ae99157736p+0, 0x1.5cc13a2e3976cp-55},
                                                      {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57},
                                                      {0x1.97d829fde4e5p+0, -0x1.d185b7c1b85d1p-54},
                                                      {0x1.9c49182a3f09p+0, 0x1.c7c46b071f2bep-56},
                                                      {0x1.a0c667b5de565p+0, -0x1.359495d1cd533p-54},
                                                      {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54},
                                                      {0x1.a9e6b5579fdbfp+0, 0x1.0fac90ef7fd31p-54},
                                                      {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
                                                      {0x1.b33a2b84f15fbp+0, -0x1.2805e3084d708p-57},
                                                      {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56},
                                                      {0x1.bcc1e904bc1d2p+0, 0x1.23dd07a2d9e84p-55},
                                                      {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
                                                      {0x1.c67f12e57d14bp+0, 0x1.2884dff483cadp-54},
                                                      {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},
                                                      {0x1.d072d4a07897cp+0, -0x1.cbc3743797a9cp-54},
                                                      {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
                                                      {0x1.da9e603db3285p+0, 0x1.c2300696db532p-54},
                                                      {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54},
                                                      {0x1.e502ee78b3ff6p+0, 0x1.39e8980a9cc8fp-55},
                                                      {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
                                                      {0x1.efa1bee615a27p+0, 0x1.dc7f486a4b6bp-54},
                                                      {0x1.f50765b6e454p+0, 0x1.9d3e12dd8a18bp-54},
                                                      {0x1.fa7c1819e90d8p+0, 0x1.74853f3a5931ep-55}};
/// By the first bits of a number between 0.709 and 1.418: its inverse to 1/171 in eight bits, and the logarithm of the
/// inverse's inverse, as the sum of a number of few bits and a rest. Around 1 it is 1.
struct LogarithmRows {
  static constexpr int bits = 7;
  static constexpr uint64_t start = 0x3FE6B00000000000;
  alignas(32) static constexpr double rows[][4] = {{0x1.68p+0, -0x1.5d1bdbf581p-2, 0x1.8d6bdc9c7c238p-44, 0},
                                                   {0x1.66p+0, -0x1.5767717456p-2, 0x1.64ead9524d7cap-44, 0},
                                                   {0x1.64p+0, -0x1.51aad872ep-2, 0x1.f4bd8db0a7cc1p-44, 0},
                                                   {0x1.62p+0, -0x1.4be5f95778p-2, 0x1.d7c92cd9ad824p-44, 0},
                                                   {0x1.6p+0, -0x1.4618bc21c6p-2, 0x1.3d82f484c84ccp-46, 0},
                                                   {0x1.5ep+0, -0x1.404308686ap-2, -0x1.f8ef43049f7d3p-44, 0},
                                                   {0x1.5cp+0, -0x1.3a64c55694p-2, -0x1.7a71cbcd735dp-44, 0},
                                                   {0x1.5ap+0, -0x1.347dd9a988p-2, 0x1.5594dd4c58092p-45, 0},
                                                   {0x1.58p+0, -0x1.2e8e2bae12p-2, 0x1.67b1e99b72bd8p-45, 0},
                                                   {0x1.58p+0, -0x1.2e8e2bae12p-2, 0x1.67b1e99b72bd8p-45, 0},
                                                   {0x1.56p+0, -0x1.2895a13de8p-2, -0x1.a8d7ad24c13fp-44, 0},
                                                   {0x1.54p+0, -0x1.22941fbcf8p-2, 0x1.a6976f5eb0963p-44, 0},
                                                   {0x1.52p+0, -0x1.1c898c169ap-2, 0x1.81410e5c62affp-44, 0},
                                                   {0x1.5p+0, -0x1.1675cababap-2, -0x1.8380e731f55c4p-44, 0},
                                                   {0x1.4ep+0, -0x1.1058bf9ae5p-2, 0x1.4ab9d817d52cdp-44, 0},
                                                   {0x1.4cp+0, -0x1.0a324e2739p-2, -0x1.c6bee7ef4030ep-47, 0},
                                                   {0x1.4ap+0, -0x1.0402594b4dp-2, -0x1.036b89ef42d7fp-48, 0},
                                                   {0x1.4ap+0, -0x1.0402594b4dp-2, -0x1.036b89ef42d7fp-48, 0},
                                                   {0x1.48p+0, -0x1.fb9186d5e4p-3, 0x1.d572aab993c87p-47, 0},
                                                   {0x1.46p+0, -0x1.ef0adcbdc6p-3, 0x1.b26b79c86af24p-45, 0},
                                                   {0x1.44p+0, -0x1.e27076e2bp-3, 0x1.a342c2af0003cp-44, 0},
                                                   {0x1.42p+0, -0x1.d5c216b4fcp-3, 0x1.1ba91bbca681bp-45, 0},
                                                   {0x1.42p+0, -0x1.d5c216b4fcp-3, 0x1.1ba91bbca681bp-45, 0},
                                                   {0x1.4p+0, -0x1.c8ff7c79aap-3, 0x1.7794f689f8434p-45, 0},
                                                   {0x1.3ep+0, -0x1.bc286742d8p-3, -0x1.9ac53f39d121cp-44, 0},
                                                   {0x1.3cp+0, -0x1.af3c94e80cp-3, 0x1.a4e633fcd9066p-52, 0},
                                                   {0x1.3cp+0, -0x1.af3c94e80cp-3, 0x1.a4e633fcd9066p-52, 0},
                                                   {0x1.3ap+0, -0x1.a23bc1fe2cp-3, 0x1.539cd91dc9f0bp-44, 0},
                                                   {0x1.38p+0, -0x1.9525a9cf46p-3, 0x1.297137d9f158fp-44, 0},
                                                   {0x1.36p+0, -0x1.87fa06520cp-3, -0x1.22120401202fcp-44, 0},
                                                   {0x1.36p+0, -0x1.87fa06520cp-3, -0x1.22120401202fcp-44, 0},
                                                   {0x1.34p+0, -0x1.7ab890210ep-3, 0x1.bdb9072534a58p-45, 0},
                                                   {0x1.32p+0, -0x1.6d60fe719ep-3, 0x1.bc6e557134767p-44, 0},
                                                   {0x1.3p+0, -0x1.5ff3070a7ap-3, 0x1.8586f183bebf2p-44, 0},
                                                   {0x1.3p+0, -0x1.5ff3070a7ap-3, 0x1.8586f183bebf2p-44, 0},
                                                   {0x1.2ep+0, -0x1.526e5e3a1cp-3, 0x1.790ba37fc5238p-44, 0},
                                                   {0x1.2cp+0, -0x1.44d2b6ccb8p-3, 0x1.70cc16135783cp-46, 0},
                                                   {0x1.2cp+0, -0x1.44d2b6ccb8p-3, 0x1.70cc16135783cp-46, 0},
                                                   {0x1.2ap+0, -0x1.371fc201e8p-3, -0x1.ee8779b2d8abcp-44, 0},
                                                   {0x1.28p+0, -0x1.29552f82p-3, 0x1.5b967f4471dfcp-44, 0},
                                                   {0x1.28p+0, -0x1.29552f82p-3, 0x1.5b967f4471dfcp-44, 0},
                                                   {0x1.26p+0, -0x1.1b72ad52f6p-3, -0x1.e80a41811a396p-45, 0},
                                                   {0x1.24p+0, -0x1.0d77e7cd08p-3, -0x1.cb2cd2ee2f482p-44, 0},
                                                   {0x1.24p+0, -0x1.0d77e7cd08p-3, -0x1.cb2cd2ee2f482p-44, 0},
                                                   {0x1.22p+0, -0x1.fec9131dcp-4, 0x1.54555d1ae6607p-44, 0},
                                                   {0x1.2p+0, -0x1.e27076e2bp-4, 0x1.a342c2af0003cp-45, 0},
                                                   {0x1.2p+0, -0x1.e27076e2bp-4, 0x1.a342c2af0003cp-45, 0},
                                                   {0x1.1ep+0, -0x1.c5e548f5bcp-4, -0x1.d0c57585fbe06p-46, 0},
                                                   {0x1.1cp+0, -0x1.a926d3a4acp-4, -0x1.563650bd22a9cp-44, 0},
                                                   {0x1.1cp+0, -0x1.a926d3a4acp-4, -0x1.563650bd22a9cp-44, 0},
                                                   {0x1.1ap+0, -0x1.8c345d6318p-4, -0x1.b20f5acb42a66p-44, 0},
                                                   {0x1.1ap+0, -0x1.8c345d6318p-4, -0x1.b20f5acb42a66p-44, 0},
                                                   {0x1.18p+0, -0x1.6f0d28ae58p-4, 0x1.4b4641b664613p-44, 0},
                                                   {0x1.16p+0, -0x1.51b073f06p-4, -0x1.83f69278e686ap-44, 0},
                                                   {0x1.16p+0, -0x1.51b073f06p-4, -0x1.83f69278e686ap-44, 0},
                                                   {0x1.14p+0, -0x1.341d7961bcp-4, -0x1.1d0929983761p-44, 0},
                                                   {0x1.14p+0, -0x1.341d7961bcp-4, -0x1.1d0929983761p-44, 0},
                                                   {0x1.12p+0, -0x1.16536eea38p-4, 0x1.47c5e768fa309p-46, 0},
                                                   {0x1.12p+0, -0x1.16536eea38p-4, 0x1.47c5e768fa309p-46, 0},
                                                   {0x1.1p+0, -0x1.f0a30c0118p-5, 0x1.d599e83368e91p-45, 0},
                                                   {0x1.0ep+0, -0x1.b42dd71198p-5, 0x1.c827ae5d6704cp-46, 0},
                                                   {0x1.0ep+0, -0x1.b42dd71198p-5, 0x1.c827ae5d6704cp-46, 0},
                                                   {0x1.0cp+0, -0x1.77458f633p-5, 0x1.181dce586af09p-44, 0},
                                                   {0x1.0cp+0, -0x1.77458f633p-5, 0x1.181dce586af09p-44, 0},
                                                   {0x1.0ap+0, -0x1.39e87b9fe8p-5, -0x1.eafd480ad9015p-44, 0},
                                                   {0x1.0ap+0, -0x1.39e87b9fe8p-5, -0x1.eafd480ad9015p-44, 0},
                                                   {0x1.08p+0, -0x1.f829b0e78p-6, -0x1.980267c7e09e4p-45, 0},
                                                   {0x1.08p+0, -0x1.f829b0e78p-6, -0x1.980267c7e09e4p-45, 0},
                                                   {0x1.06p+0, -0x1.7b91b07d6p-6, 0x1.3b955b602ace4p-44, 0},
                                                   {0x1.06p+0, -0x1.7b91b07d6p-6, 0x1.3b955b602ace4p-44, 0},
                                                   {0x1.04p+0, -0x1.fc0a8b0fcp-7, -0x1.f1e7cf6d3a69cp-50, 0},
                                                   {0x1.04p+0, -0x1.fc0a8b0fcp-7, -0x1.f1e7cf6d3a69cp-50, 0},
                                                   {0x1.02p+0, -0x1.fe02a6b1p-8, -0x1.9e23f0dda40e4p-46, 0},
                                                   {0x1.02p+0, -0x1.fe02a6b1p-8, -0x1.9e23f0dda40e4p-46, 0},
                                                   {0x1p+0, 0, 0, 0},
                                                   {0x1.fcp-1, 0x1.010157588p-7, 0x1.bce251998b506p-44, 0},
                                                   {0x1.f8p-1, 0x1.020565893p-6, 0x1.611d27c8e8417p-44, 0},
                                                   {0x1.f4p-1, 0x1.8492528c9p-6, -0x1.aa0ba325a0c34p-45, 0},
                                                   {0x1.fp-1, 0x1.0415d89e78p-5, -0x1.dddc7f461c516p-44, 0},
                                                   {0x1.ecp-1, 0x1.466aed42ep-5, -0x1.c167375bdfd28p-45, 0},
                                                   {0x1.eap-1, 0x1.67c94f2d48p-5, 0x1.dac20827cca0cp-44, 0},
                                                   {0x1.e6p-1, 0x1.aaef2d0fbp-5, 0x1.0fc1a353bb42ep-45, 0},
                                                   {0x1.e2p-1, 0x1.eea31c0068p-5, 0x1.c3dd83606d891p-44, 0},
                                                   {0x1.dep-1, 0x1.1973bd1464p-4, 0x1.566d154f930b3p-44, 0},
                                                   {0x1.dap-1, 0x1.3bdf5a7d2p-4, -0x1.19bd0ad125895p-44, 0},
                                                   {0x1.d8p-1, 0x1.4d3115d208p-4, -0x1.53a2582f4e1efp-48, 0},
                                                   {0x1.d4p-1, 0x1.700d30aeacp-4, 0x1.c1e8da99ded32p-49, 0},
                                                   {0x1.dp-1, 0x1.9335e5d594p-4, 0x1.3115c3abd47dap-45, 0},
                                                   {0x1.cep-1, 0x1.a4e7640b1cp-4, -0x1.e42b6b94407c8p-47, 0},
                                                   {0x1.cap-1, 0x1.c885801bc4p-4, 0x1.646d1c65aacd3p-45, 0},
                                                   {0x1.c8p-1, 0x1.da72763844p-4, 0x1.a89401fa71733p-46, 0},
                                                   {0x1.c4p-1, 0x1.fe89139dbcp-4, 0x1.56594d82f7a82p-44, 0},
                                                   {0x1.cp-1, 0x1.1178e8227ep-3, 0x1.1ef78ce2d07f2p-45, 0},
                                                   {0x1.bep-1, 0x1.1aa2b7e24p-3, -0x1.1ac38dde3b366p-44, 0},
                                                   {0x1.bap-1, 0x1.2d1610c868p-3, 0x1.39d6ccb81b4a1p-47, 0},
                                                   {0x1.b8p-1, 0x1.365fcb015ap-3, -0x1.fd3a0afb9691bp-44, 0},
                                                   {0x1.b4p-1, 0x1.4913d8333cp-3, -0x1.53e43558124c4p-44, 0},
                                                   {0x1.b2p-1, 0x1.527e5e4a1cp-3, -0x1.4e60b8d4b411dp-44, 0},
                                                   {0x1.bp-1, 0x1.5bf406b544p-3, -0x1.27023eb68981cp-46, 0},
                                                   {0x1.acp-1, 0x1.6f0128b756p-3, 0x1.577390d31ef0fp-44, 0},
                                                   {0x1.aap-1, 0x1.7898d85444p-3, 0x1.8e67be3dbaf3fp-44, 0},
                                                   {0x1.a6p-1, 0x1.8beafeb39p-3, -0x1.73d54aae92cd1p-47, 0},
                                                   {0x1.a4p-1, 0x1.95a5adcf7p-3, 0x1.7f22858a0ff6fp-47, 0},
                                                   {0x1.a2p-1, 0x1.9f6c40708ap-3, -0x1.337d94bcd3f43p-44, 0},
                                                   {0x1.9ep-1, 0x1.b31d8575bcp-3, 0x1.c794e562a63cbp-44, 0},
                                                   {0x1.9cp-1, 0x1.bd087383bep-3, -0x1.d4bc4595412b6p-45, 0},
                                                   {0x1.9ap-1, 0x1.c6ffbc6fp-3, 0x1.ee138d3a69d43p-44, 0},
                                                   {0x1.98p-1, 0x1.d1037f2656p-3, -0x1.84a7e75b6f6e4p-47, 0},
                                                   {0x1.94p-1, 0x1.e530effe72p-3, -0x1.fdbdbb13f7c18p-44, 0},
                                                   {0x1.92p-1, 0x1.ef5ade4ddp-3, -0x1.a211565bb8e11p-51, 0},
                                                   {0x1.9p-1, 0x1.f991c6cb3cp-3, -0x1.90d04cd7cc834p-44, 0},
                                                   {0x1.8ep-1, 0x1.01eae5626cp-2, 0x1.a43dcfade85aep-44, 0},
                                                   {0x1.8ap-1, 0x1.0c42d67616p-2, 0x1.7188b163ceae9p-45, 0},
                                                   {0x1.88p-1, 0x1.1178e8227ep-2, 0x1.1ef78ce2d07f2p-44, 0},
                                                   {0x1.86p-1, 0x1.16b5ccbadp-2, -0x1.23299042d74bfp-44, 0},
                                                   {0x1.84p-1, 0x1.1bf99635a7p-2, -0x1.1ac89575c2125p-44, 0},
                                                   {0x1.82p-1, 0x1.214456d0ecp-2, -0x1.caf0428b728a3p-44, 0},
                                                   {0x1.8p-1, 0x1.269621134ep-2, -0x1.1b61f10522625p-44, 0},
                                                   {0x1.7ep-1, 0x1.2bef07cdc9p-2, 0x1.a9cfa4a5004f4p-45, 0},
                                                   {0x1.7ap-1, 0x1.36b6776be1p-2, 0x1.16ecdb0f177c8p-46, 0},
                                                   {0x1.78p-1, 0x1.3c25277333p-2, 0x1.83b54b606bd5cp-46, 0},
                                                   {0x1.76p-1, 0x1.419b423d5fp-2, -0x1.ce379226de3ecp-44, 0},
                                                   {0x1.74p-1, 0x1.4718dc271cp-2, 0x1.06c18fb4c14c5p-44, 0},
                                                   {0x1.72p-1, 0x1.4c9e09e173p-2, -0x1.e20891b0ad8a4p-45, 0},
                                                   {0x1.7p-1, 0x1.522ae0738ap-2, 0x1.ebe708164c759p-45, 0},
                                                   {0x1.6ep-1, 0x1.57bf753c8dp-2, 0x1.fadedee5d40efp-46, 0},
                                                   {0x1.6cp-1, 0x1.5d5bddf596p-2, -0x1.a0b2a08a465dcp-47, 0},
                                                   {0x1.6ap-1, 0x1.630030b3abp-2, -0x1.db623e731aep-45, 0}};
};
#endif
/// Whether these vectors look up rows of a table.
template <class D>
inline constexpr bool kLooksUpRows = TENON_HAS_LANE_ROWS != 0 && sizeof(hn::TFromD<D>) == 8 && hn::MaxLanes(D()) == 4;
/// Whether exponentials of these vectors look up powers: of eight or 16 float32, or eight float64.
template <class D>
inline constexpr bool kLooksUpPowers = TENON_HAS_POWER_TABLE != 0 &&
                                       (sizeof(hn::TFromD<D>) == sizeof(float)
                                            ? hn::MaxLanes(D()) >= 8
                                            : HWY_TARGET <= HWY_AVX3 && hn::MaxLanes(D()) == 8);
/// How many powers these vectors look up.
template <class D>
inline constexpr int kPowersLookedUp = hn::MaxLanes(D()) == 16 || sizeof(hn::TFromD<D>) == sizeof(double) ? 16 : 8;
/// Adding it rounds to sixteenths, or eighths; how many of them is in the lowest bits.
template <class D>
constexpr hn::TFromD<D> kPowerCounter = kCounter<hn::TFromD<D>> / kPowersLookedUp<D>;

/// e^x = 2^k (high + low), or 2^x, high between 0.7 and 2, |low| <= 0.08.
template <class V, class VI>
struct ShortExponential {
  VI k;
  V exponent;  // rounded down it is k
  V high, low;
};
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<float> with_whole_exponent(hn::Vec512<float> y, hn::Vec512<float> exponent) {
  return hn::Vec512<float>{_mm512_scalef_ps(y.raw, exponent.raw)};
}
HWY_INLINE hn::Vec512<double> with_whole_exponent(hn::Vec512<double> y, hn::Vec512<double> exponent) {
  return hn::Vec512<double>{_mm512_scalef_pd(y.raw, exponent.raw)};
}
#endif
/// Whether an instruction multiplies these vectors by powers of two.
template <class D>
inline constexpr bool kScalesAtOnce = HWY_ARCH_X86&& HWY_TARGET <=
                                          HWY_AVX3&& hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) ==
                                      64;
/// 2^k y.
template <class D, class V, class E>
HWY_INLINE V scaled_by(D d, V y, const E& e) {
  if constexpr (kScalesAtOnce<D>)
    return with_whole_exponent(y, e.exponent);
  else
    return with_exponent(d, y, e.k);
}
/// An exponent whose powers are 0 without taking time. Others below the least subnormal number take processors a
/// hundred cycles, as subnormal results do: vscalefps down to 2^-500, vscalefpd to 2^-3000, products of float32 to
/// 2^-156. Bench: tenon_bench --ops --dtype float32 --factor -1000 --filter
/// 'ops/(exp|exp2|sigmoid|silu|softplus|erfc|gelu)$'.
template <class D>
constexpr hn::TFromD<D> vanishing_exponent() {
  constexpr bool kWide = sizeof(hn::TFromD<D>) == sizeof(double);
  if (kScalesAtOnce<D>) return static_cast<hn::TFromD<D>>(kWide ? -11000 : -1400);
  return static_cast<hn::TFromD<D>>(kWide ? -2000 : -230);  // each of with_exponent's factors is a normal number
}
/// x, or where it is less than `lowest` a number whose power is 0: of e, or of 2 if `is_of_2`. NaN stays.
template <class D, class V>
HWY_INLINE V from_lowest(D d, V x, hn::TFromD<D> lowest, bool is_of_2 = false) {
  using T = hn::TFromD<D>;
  const T vanishing = vanishing_exponent<D>() * (is_of_2 ? T{1} : ExpLog<T>::ln2);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, lowest)), hn::Set(d, vanishing), x);
}
/// The same of a result that is a normal number.
template <class D, class V, class E>
HWY_INLINE V scaled_to_normal(D d, V y, const E& e) {
  if constexpr (kScalesAtOnce<D>)
    return with_whole_exponent(y, e.exponent);
  else
    return hn::Mul(y, power_of_two(d, e.k));
}
#if TENON_HAS_POWER_TABLE
/// e^r - 1 for |r| up to ln 2 / 32, or ln 2 / 16: 2^-32, or 2^-64.
template <class D, class V>
HWY_INLINE V short_exponential_less_1(D d, V r) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    constexpr double terms[] = {0.5,
                                0x1.5555555555556p-3,
                                0x1.55555554e9468p-5,
                                0x1.11111110e10a8p-7,
                                0x1.6c17ed4cc4834p-10,
                                0x1.a01b0c2edab7cp-13};
    return hn::MulAdd(hn::Mul(r, r), paired_polynomial(d, r, terms), r);
  } else {
    constexpr bool kWide = kPowersLookedUp<D> == 16;
    constexpr float terms16[] = {0x1p-1f, 0x1.55571ep-3f, 0x1.55577ap-5f};
    constexpr float terms8[] = {0x1p-1f, 0x1.555c7ap-3f, 0x1.555de6p-5f};
    return hn::MulAdd(hn::Mul(r, r), polynomial(d, r, kWide ? terms16 : terms8), r);
  }
}
/// With whole = k + i/16, or k + i/8, and x = whole ln 2 + r: 2^(i/16) (1 + p), p = e^r - 1.
template <class D, class V>
HWY_INLINE auto powers_looked_up(D d, V counted, V whole, V r) {
  using T = hn::TFromD<D>;
  constexpr bool kWide = kPowersLookedUp<D> == 16;
  const hn::RebindToSigned<D> di;
  V high, rest;
  if constexpr (sizeof(T) == sizeof(double)) {
    high = looked_up(counted, kWidePowers16), rest = looked_up(counted, kWidePowerRests16);
  } else {
    high = looked_up(counted, kWide ? kPowers16 : kPowers8);
    rest = looked_up(counted, kWide ? kPowerRests16 : kPowerRests8);
  }
  const V p = short_exponential_less_1(d, r);
  const auto n = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, hn::Set(d, kPowerCounter<D>)));
  const auto k = hn::ShiftRight < kWide ? 4 : 3 > (n);
  return ShortExponential<V, std::remove_const_t<decltype(k)>>{k, whole, high, hn::MulAdd(high, p, rest)};
}
#endif
/// e^x for x up to ExpLog<T>::highest, and from `lowest` on, or as from_lowest gives it; NaN may give any number.
template <class D, class V>
HWY_INLINE auto short_exponential(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  const V counter = hn::Set(d, kLooksUpPowers<D> ? kPowerCounter<D> : kCounter<T>);
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) {
    const V counted = hn::MulAdd(x, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
    const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x);  // exact
    return powers_looked_up(d, counted, whole, hn::NegMulAdd(whole, hn::Set(d, C::ln2_low), high));
  } else
#endif
  {
    const hn::RebindToSigned<D> di;
    const V counted = hn::MulAdd(x, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
    const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
    const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x);  // exact
    const V less = hn::Mul(whole, hn::Set(d, C::ln2_low)), r = hn::Sub(high, less);
    const V line = hn::Add(hn::Set(d, T{1}), high);
    const V lost = hn::Sub(hn::Sub(high, hn::Sub(line, hn::Set(d, T{1}))), less);
    const V low = hn::MulAdd(hn::Mul(r, r), paired_polynomial(d, r, C::exp_terms), lost);
    return ShortExponential<V, std::remove_const_t<decltype(k)>>{k, whole, line, low};
  }
}
/// x = k ln 2 + r, for any x.
template <class D, class V>
HWY_INLINE V exp_of_any(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (kScalesAtOnce<D> && kLooksUpPowers<D>) {
    // The instructions give the second operand if one is NaN, and so do all steps.
    const V bounded = hn::Min(hn::Set(d, ExpLog<T>::highest), from_lowest(d, x, ExpLog<T>::lowest));
    const auto e = short_exponential(d, bounded);
    return scaled_by(d, hn::Add(e.high, e.low), e);
  }
  if constexpr (kLooksUpPowers<D>) {
    const V bounded = hn::Min(from_lowest(d, x, ExpLog<T>::lowest), hn::Set(d, ExpLog<T>::highest));
    const auto e = short_exponential(d, bounded);
    return hn::IfThenElse(hn::IsNaN(x), x, scaled_by(d, hn::Add(e.high, e.low), e));
  }
  using C = ExpLog<T>;
  const hn::RebindToSigned<D> di;
  const V bounded = hn::Min(from_lowest(d, x, C::lowest), hn::Set(d, C::highest));
  const V counter = hn::Set(d, kCounter<T>);
  const V counted = hn::MulAdd(bounded, hn::Set(d, C::inverse_ln2), counter);
  const V whole = hn::Sub(counted, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), bounded), low = hn::Mul(whole, hn::Set(d, C::ln2_low));
  return hn::IfThenElse(hn::IsNaN(x), x, scaled_exp(d, k, high, low));
}
/// Not inlined: its constants would take the registers of the loop.
template <class D, class V>
HWY_NOINLINE V exp_of_far(D d, V x) {
  return exp_of_any(d, x);
}
/// Whether powers of two are multiplied by adding to the exponent's bits, where the product is normal: with AVX2.
template <class D>
inline constexpr bool kAddsExponents = kLooksUpRows<D> || (kLooksUpPowers<D> && !kScalesAtOnce<D>);
/// 2^k y for the integer in the lowest bits of `k`.
template <class D, class V, class VK>
HWY_INLINE V with_added_exponent(D d, V y, VK k) {
  const hn::RebindToUnsigned<D> du;
  const auto exponent = hn::ShiftLeft<ExpLog<hn::TFromD<D>>::mantissa_bits>(hn::BitCast(du, k));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, y), exponent));
}
template <class D, class V>
HWY_INLINE V exp_vector(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  if constexpr (kAddsExponents<D>) {
    const V most = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? 87 : 700));
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(hn::Abs(x), most)))) return exp_of_far(d, x);
  }
  if constexpr (kLooksUpRows<D>) {
    const V counter = hn::Set(d, kCounter<T>), counted = hn::MulAdd(x, hn::Set(d, C::inverse_ln2), counter);
    const V whole = hn::Sub(counted, counter), high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x);
    return with_added_exponent(d, exp_near_0(d, high, hn::Mul(whole, hn::Set(d, C::ln2_low))), counted);
  } else if constexpr (kAddsExponents<D>) {
    const auto e = short_exponential(d, x);
    return with_added_exponent(d, hn::Add(e.high, e.low), e.k);
  }
  return exp_of_any(d, x);
}
/// The same of 2^x, with `lowest_power` and `highest_power` and x = k + r / ln 2.
#if TENON_HAS_POWER_TABLE
template <class D, class V>
HWY_INLINE auto short_exponential_of_2(D d, V x) {
  using T = hn::TFromD<D>;
  const V counter = hn::Set(d, kPowerCounter<D>);
  const V in_steps = hn::Add(x, counter), whole = hn::Sub(in_steps, counter);
  return powers_looked_up(d, in_steps, whole, hn::Mul(hn::Sub(x, whole), hn::Set(d, ExpLog<T>::ln2)));
}
#endif
/// 2^(x - k) for the integer k in the lowest bits of `counted`.
template <class D, class V>
HWY_INLINE V exp2_near_0(D d, V x, V counted) {
  using C = ExpLog<hn::TFromD<D>>;
  const V rest = hn::Sub(x, hn::Sub(counted, hn::Set(d, kCounter<hn::TFromD<D>>)));
  const V high = hn::Mul(rest, hn::Set(d, C::ln2));
  const V lost = hn::NegMulAdd(rest, hn::Set(d, C::ln2), high);  // 0 without fused multiply-add
  return exp_near_0(d, high, hn::NegMulAdd(rest, hn::Set(d, C::ln2_rest), lost));
}
template <class D, class V>
HWY_INLINE V exp2_of_any(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  const hn::RebindToSigned<D> di;
#if TENON_HAS_POWER_TABLE
  if constexpr (kScalesAtOnce<D> && kLooksUpPowers<D>) {
    const auto e = short_exponential_of_2(
        d, hn::Min(hn::Set(d, C::highest_power), from_lowest(d, x, C::lowest_power, true)));  // NaN stays, as in exp
    return scaled_by(d, hn::Add(e.high, e.low), e);
  }
#endif
  const V bounded = hn::Min(from_lowest(d, x, C::lowest_power, true), hn::Set(d, C::highest_power));
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) {
    const auto e = short_exponential_of_2(d, bounded);
    return hn::IfThenElse(hn::IsNaN(x), x, scaled_by(d, hn::Add(e.high, e.low), e));
  }
#endif
  const V counter = hn::Set(d, kCounter<T>), counted = hn::Add(bounded, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  return hn::IfThenElse(hn::IsNaN(x), x, with_exponent(d, exp2_near_0(d, bounded, counted), k));
}
template <class D, class V>
HWY_NOINLINE V exp2_of_far(D d, V x) {
  return exp2_of_any(d, x);
}
template <class D, class V>
HWY_INLINE V exp2_vector(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (kAddsExponents<D>) {
    const V most = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? 125 : 1000));
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(hn::Abs(x), most)))) return exp2_of_far(d, x);
  }
  if constexpr (kLooksUpRows<D>) {
    const V counted = hn::Add(x, hn::Set(d, kCounter<T>));
    return with_added_exponent(d, exp2_near_0(d, x, counted), counted);
  } else if constexpr (kAddsExponents<D>) {
    const auto e = short_exponential_of_2(d, x);
    return with_added_exponent(d, hn::Add(e.high, e.low), e.k);
  }
  return exp2_of_any(d, x);
}

#undef TENON_HAS_LOGARITHM_TABLE
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define TENON_HAS_LOGARITHM_TABLE 1
/// By the first bits of a number between 0.703 and 1.406: its inverse to 1/32, and the logarithm of the inverse's
/// inverse, as the sum of a number of few bits and a rest. Around 1 it is 1. `terms`: of (log(1 + r) - r) / r^2 for r
/// up to 1/32.
template <class T>
struct LogarithmTable;
template <>
struct LogarithmTable<float> {
  static constexpr int32_t start = 0x3F340000, interval_of_1 = 9;
  alignas(64) static constexpr float inverses[] = {0x1.642c86p+0f, 0x1.555556p+0f, 0x1.47ae14p+0f, 0x1.3b13b2p+0f,
                                                   0x1.2f684cp+0f, 0x1.24924ap+0f, 0x1.1a7b96p+0f, 0x1.111112p+0f,
                                                   0x1.08421p+0f,  0x1p+0f,        0x1.e1e1e2p-1f, 0x1.c71c72p-1f,
                                                   0x1.af286cp-1f, 0x1.99999ap-1f, 0x1.861862p-1f, 0x1.745d18p-1f};
  alignas(64) static constexpr float logarithms[] = {-0x1.522cp-2f, -0x1.2698p-2f, -0x1.f99p-3f, -0x1.a94p-3f,
                                                     -0x1.5bf8p-3f, -0x1.1178p-3f, -0x1.933p-4f, -0x1.086p-4f,
                                                     -0x1.042p-5f,  0x0p+0f,       0x1.f0ap-5f,  0x1.e27p-4f,
                                                     0x1.5ffp-3f,   0x1.c9p-3f,    0x1.1674p-2f, 0x1.4618p-2f};
  alignas(64) static constexpr float logarithm_rests[] = {
      0x1.1e4c76p-18f,  0x1.dcecb2p-18f,  -0x1.c3cb3cp-19f, 0x1.273752p-19f, 0x1.fc255ep-18f, -0x1.dc44fcp-20f,
      -0x1.793566p-18f, 0x1.99a988p-18f,  0x1.46ec32p-18f,  0x0p+0f,         0x1.85008cp-20f, 0x1.d38abcp-22f,
      0x1.83053cp-18f,  -0x1.0b0cacp-20f, 0x1.c97abap-18f,  0x1.74438cp-19f};
  static constexpr float terms[] = {-0x1.fffffep-2f, 0x1.555554p-2f, -0x1.002ab2p-2f, 0x1.99eaeep-3f};  // 2^-30
};
template <>
struct LogarithmTable<double> {
  static constexpr int64_t start = 0x3FE6800000000000, interval_of_1 = 9;
  alignas(64) static constexpr double inverses[] = {
      0x1.642c8590b2164p+0, 0x1.5555555555555p+0, 0x1.47ae147ae147bp+0, 0x1.3b13b13b13b14p+0, 0x1.2f684bda12f68p+0,
      0x1.2492492492492p+0, 0x1.1a7b9611a7b96p+0, 0x1.1111111111111p+0, 0x1.0842108421084p+0, 0x1p+0,
      0x1.e1e1e1e1e1e1ep-1, 0x1.c71c71c71c71cp-1, 0x1.af286bca1af28p-1, 0x1.999999999999ap-1, 0x1.8618618618618p-1,
      0x1.745d1745d1746p-1};
  alignas(64) static constexpr double logarithms[] = {
      -0x1.522ae0738ap-2, -0x1.269621134ep-2, -0x1.f991c6cb3cp-3, -0x1.a93ed3c8aep-3, -0x1.5bf406b544p-3,
      -0x1.1178e8227ep-3, -0x1.9335e5d594p-4, -0x1.08598b59e4p-4, -0x1.0415d89e78p-5, 0x0p+0,
      0x1.f0a30c0118p-5,  0x1.e27076e2bp-4,   0x1.5ff3070a7ap-3,  0x1.c8ff7c79aap-3,  0x1.1675cababap-2,
      0x1.4618bc21c6p-2};
  alignas(64) static constexpr double logarithm_rests[] = {-0x1.eba708164c759p-45, 0x1.1ba1f10522625p-44,
                                                           0x1.90b84cd7cc834p-44,  0x1.86a4350562169p-45,
                                                           0x1.28023eb68981cp-46,  -0x1.1e778ce2d07f2p-45,
                                                           -0x1.30f5c3abd47dap-45, 0x1.7e9dd7009902cp-46,
                                                           0x1.ddfc7f461c516p-44,  0x0p+0,
                                                           -0x1.d579e83368e91p-45, -0x1.a2c2c2af0003cp-45,
                                                           -0x1.8546f183bebf2p-44, -0x1.7814f689f8434p-45,
                                                           0x1.83c0e731f55c4p-44,  -0x1.3e02f484c84ccp-46};
  static constexpr double terms[] = {-0x1p-1,
                                     0x1.5555555555521p-2,
                                     -0x1.fffffffffff43p-3,
                                     0x1.9999999af758cp-3,
                                     -0x1.555555570a92cp-3,
                                     0x1.249235793d47ep-3,
                                     -0x1.ffffd61b76b9fp-4,
                                     0x1.c7ee29af19e66p-4,
                                     -0x1.9a658221069e6p-4};  // 2^-61
};
/// x = 2^exponent m for a normal x > 0, m in the table's interval of the last four bits of `interval`.
template <class V, class VI>
struct TabledMantissa {
  VI exponent, interval;
  V m;
};
template <class D, class V>
HWY_INLINE auto tabled_mantissa(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr int kBits = ExpLog<T>::mantissa_bits;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x), above = hn::Sub(bits, hn::Set(di, LogarithmTable<T>::start));
  const auto exponent = hn::ShiftRight<kBits>(above), interval = hn::ShiftRight<kBits - 4>(above);
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<kBits>(exponent)));
  return TabledMantissa<V, std::remove_const_t<decltype(bits)>>{exponent, interval, m};
}
/// A small integer as a float.
template <class D, class VI>
HWY_INLINE hn::Vec<D> converted(D d, VI k) {
  if constexpr (kScalesAtOnce<D>) return hn::ConvertTo(d, k);
  const hn::RebindToSigned<D> di;
  const auto counter = hn::Set(d, kCounter<hn::TFromD<D>>);
  return hn::Sub(hn::BitCast(d, hn::Add(k, hn::BitCast(di, counter))), counter);
}
/// log(x) - doublings * ln 2 for a normal x > 0: exact to some bits more than a number has.
template <class D, class V>
HWY_INLINE Pair<V> tabled_log(D d, V x, V doublings) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  using Table = LogarithmTable<T>;
  const auto of = tabled_mantissa(d, x);
  const V interval = hn::BitCast(d, of.interval), inverse = looked_up(interval, Table::inverses);
  const V product = hn::Mul(of.m, inverse), lost = hn::MulSub(of.m, inverse, product);
  const V r = hn::Sub(product, hn::Set(d, T{1}));
  const V k = hn::Sub(hn::ConvertTo(d, of.exponent), doublings);
  const V whole = hn::MulAdd(k, hn::Set(d, C::ln2_high), looked_up(interval, Table::logarithms));  // exact
  const V rest = hn::MulAdd(k, hn::Set(d, C::ln2_low), looked_up(interval, Table::logarithm_rests));
  const Pair<V> sum = sum_of_ordered(whole, r);
  const V low = hn::Add(sum.low, hn::Add(hn::NegMulAdd(lost, r, lost), rest));
  return {sum.high, hn::MulAdd(hn::Mul(r, r), polynomial(d, r, Table::terms), low)};
}
#else
#define TENON_HAS_LOGARITHM_TABLE 0
#endif
/// log(x) for x > 0, exact to some bits more than a number has; x = 2^k (1 + f) with 1 + f between sqrt(1/2) and
/// sqrt(2); log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)), s = f / (2 + f). `kIsNormal`: x isn't subnormal.
template <bool kIsNormal = false, class D, class V>
HWY_INLINE Pair<V> log_pair(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  constexpr int kBits = C::mantissa_bits;
  V normal = x, doublings = hn::Zero(d);
  if constexpr (!kIsNormal) {
    const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
    normal = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, C::normal_scale)), x);
    doublings = hn::IfThenElseZero(subnormal, hn::Set(d, T{C::normal_shift}));
  }
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kScalesAtOnce<D>) return tabled_log(d, normal, doublings);
#endif
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, T{1});
  const auto sqrt_half = hn::Set(du, C::sqrt_half);
  const auto bits = hn::Add(hn::BitCast(du, normal), hn::Sub(hn::BitCast(du, one), sqrt_half));
  const V mantissa = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(du, (typename C::Bits{1} << kBits) - 1)), sqrt_half));
  const V counter = hn::Set(d, kCounter<T>);
  const auto biased = hn::BitCast(di, hn::ShiftRight<kBits>(bits));
  const V exponent = hn::Sub(hn::BitCast(d, hn::Add(biased, hn::BitCast(di, counter))), counter);
  const T bias = static_cast<T>(std::numeric_limits<T>::max_exponent - 1);
  const V k = hn::Sub(exponent, hn::Add(doublings, hn::Set(d, bias)));
  const V f = hn::Sub(mantissa, one);
  const V s = hn::Div(f, hn::Add(hn::Set(d, T{2}), f)), square = hn::Mul(s, s);
  const V half_square = hn::Mul(hn::Set(d, T{0.5}), hn::Mul(f, f));
  const V rest = hn::Mul(square, polynomial(d, square, C::log_terms));
  const V low = hn::MulAdd(k, hn::Set(d, C::ln2_low), hn::Mul(s, hn::Add(half_square, rest)));
  const Pair<V> sum = sum_of_ordered(hn::Mul(k, hn::Set(d, C::ln2_high)), f);
  return {sum.high, hn::Add(sum.low, hn::Sub(low, half_square))};
}
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
