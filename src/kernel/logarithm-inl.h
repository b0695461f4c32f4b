// kernel: logarithms to the bases e, 2 and 10 by tables, over whole vectors of AVX-512, and of float32 with AVX2.
// Errors stay below 0.7 ulp. A number is 2^k m, m in one of 32 intervals, 16 of float64, or with AVX2 eight; its
// inverse `v` to a few bits makes r = m v - 1 exact but for a bit, and |r| at most 1/54, 1/30, or 1/14. The logarithm
// is k log(2) - log(v) + log(1 + r).
#if defined(TENON_KERNEL_LOGARITHM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_LOGARITHM_INL_H
#undef TENON_KERNEL_LOGARITHM_INL_H
#else
#define TENON_KERNEL_LOGARITHM_INL_H
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if TENON_HAS_LOGARITHM_TABLE
/// Where the 2^kBits intervals begin, and their inverses. Around 1 it is 1.
template <class T, int kBits>
struct ShortInverses;
template <>
struct ShortInverses<float, 5> {
  static constexpr auto start = int32_t{0x3F360000};
  alignas(64) static constexpr float values[] = {
      0x1.64p+0f, 0x1.5cp+0f, 0x1.54p+0f, 0x1.5p+0f, 0x1.48p+0f, 0x1.4p+0f,  0x1.3cp+0f, 0x1.34p+0f,
      0x1.3p+0f,  0x1.28p+0f, 0x1.24p+0f, 0x1.2p+0f, 0x1.1cp+0f, 0x1.14p+0f, 0x1.1p+0f,  0x1.0cp+0f,
      0x1.08p+0f, 0x1.04p+0f, 0x1p+0f,    0x1.fp-1f, 0x1.ep-1f,  0x1.d4p-1f, 0x1.c8p-1f, 0x1.bcp-1f,
      0x1.bp-1f,  0x1.a4p-1f, 0x1.98p-1f, 0x1.9p-1f, 0x1.88p-1f, 0x1.7cp-1f, 0x1.74p-1f, 0x1.6cp-1f};
};
template <>
struct ShortInverses<double, 4> {
  static constexpr auto start = int64_t{0x3FE6800000000000};
  alignas(64) static constexpr double values[] = {0x1.64p+0, 0x1.54p+0, 0x1.48p+0, 0x1.3cp+0, 0x1.3p+0, 0x1.24p+0,
                                                  0x1.1cp+0, 0x1.1p+0,  0x1.08p+0, 0x1p+0,    0x1.ep-1, 0x1.c8p-1,
                                                  0x1.bp-1,  0x1.98p-1, 0x1.88p-1, 0x1.74p-1};
};
template <>
struct ShortInverses<float, 3> {
  static constexpr auto start = int32_t{0x3F380000};
  alignas(64) static constexpr float values[] = {0x1.5p+0f, 0x1.4p+0f, 0x1.2p+0f, 0x1.1p+0f,
                                                 0x1p+0f,   0x1.cp-1f, 0x1.ap-1f, 0x1.7p-1f};
};
/// A base. `of_2`, `of_e`: the logarithms of 2 and e as two numbers. `logarithms` and `rests`: those of the inverses'
/// inverses, with so few bits that the sum with k times the first of `of_2` is exact, and what they lose. `terms`: of
/// (log(1 + r) - r / log(e)) / r^2, 2^-27 or 2^-61.
template <class T, int kBits>
struct NaturalLogarithm;
template <>
struct NaturalLogarithm<float, 5> {
  static constexpr float of_2[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f}, of_e[] = {0x1p+0f, 0x0p+0f};
  alignas(64) static constexpr float logarithms[] = {
      -0x1.51acp-2f, -0x1.3a64p-2f, -0x1.2294p-2f, -0x1.1674p-2f, -0x1.fb9p-3f, -0x1.c9p-3f,  -0x1.af4p-3f,
      -0x1.7ab8p-3f, -0x1.5ffp-3f,  -0x1.2958p-3f, -0x1.0d78p-3f, -0x1.e27p-4f, -0x1.a92p-4f, -0x1.342p-4f,
      -0x1.f0ap-5f,  -0x1.774p-5f,  -0x1.f84p-6f,  -0x1.fcp-7f,   0x0p+0f,      0x1.042p-5f,  0x1.086p-4f,
      0x1.701p-4f,   0x1.da7p-4f,   0x1.23d8p-3f,  0x1.5bf8p-3f,  0x1.95a8p-3f, 0x1.d1p-3f,   0x1.f99p-3f,
      0x1.1178p-2f,  0x1.315p-2f,   0x1.4718p-2f,  0x1.5d5cp-2f};
  alignas(64) static constexpr float rests[] = {
      0x1.278d2p-18f,   -0x1.8aad28p-19f, -0x1.fbcf7ap-22f, -0x1.cababap-18f, -0x1.86d5e4p-19f, 0x1.070cacp-20f,
      0x1.b58bfap-18f,  -0x1.20421cp-20f, -0x1.83853cp-18f, 0x1.683fp-18f,    0x1.832f72p-23f,  -0x1.db8abcp-22f,
      -0x1.b4e92cp-18f, 0x1.434f22p-19f,  -0x1.86008cp-20f, -0x1.63d8ccp-19f, 0x1.64f188p-18f,  -0x1.5161f8p-20f,
      0x0p+0f,          -0x1.44ec32p-18f, -0x1.9d2988p-18f, -0x1.67a8aap-19f, 0x1.3b1c22p-19f,  -0x1.dab6c8p-20f,
      -0x1.fca55ep-18f, -0x1.291848p-18f, 0x1.bf932ap-18f,  0x1.c6cb3cp-19f,  0x1.d044fcp-19f,  -0x1.c3c594p-19f,
      0x1.b84e38p-19f,  -0x1.10535p-21f};
  static constexpr float terms[] = {-0x1p-1f, 0x1.55644ap-2f, -0x1.000dd8p-2f};
};
template <>
struct NaturalLogarithm<double, 4> {
  static constexpr double of_2[] = {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45}, of_e[] = {0x1p+0, 0x0p+0};
  alignas(64) static constexpr double logarithms[] = {
      -0x1.51aad872ep-2,  -0x1.22941fbcf8p-2, -0x1.fb9186d5e4p-3, -0x1.af3c94e80cp-3, -0x1.5ff3070a7ap-3,
      -0x1.0d77e7cd08p-3, -0x1.a926d3a4acp-4, -0x1.f0a30c0118p-5, -0x1.f829b0e78p-6,  0x0p+0,
      0x1.08598b59e4p-4,  0x1.da72763844p-4,  0x1.5bf406b544p-3,  0x1.d1037f2656p-3,  0x1.1178e8227ep-2,
      0x1.4718dc271cp-2};
  alignas(64) static constexpr double rests[] = {0x1.f4bd8db0a7cc1p-44,  0x1.a6976f5eb0963p-44,
                                                 0x1.d572aab993c87p-47,  0x1.a4e633fcd9066p-52,
                                                 0x1.8586f183bebf2p-44,  -0x1.cb2cd2ee2f482p-44,
                                                 -0x1.563650bd22a9cp-44, 0x1.d599e83368e91p-45,
                                                 -0x1.980267c7e09e4p-45, 0x0p+0,
                                                 -0x1.7e5dd7009902cp-46, 0x1.a89401fa71733p-46,
                                                 -0x1.27023eb68981cp-46, -0x1.84a7e75b6f6e4p-47,
                                                 0x1.1ef78ce2d07f2p-44,  0x1.06c18fb4c14c5p-44};
  static constexpr double terms[] = {-0x1p-1,
                                     0x1.55555555554adp-2,
                                     -0x1.ffffffffffd2ap-3,
                                     0x1.9999999c6fc5dp-3,
                                     -0x1.55555559c62c5p-3,
                                     0x1.24922ac15ad6p-3,
                                     -0x1.ffffb41b90b5ep-4,
                                     0x1.c81cd42ecc542p-4,
                                     -0x1.9aa72ba3306a8p-4};
};
template <>
struct NaturalLogarithm<float, 3> {
  static constexpr float of_2[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f}, of_e[] = {0x1p+0f, 0x0p+0f};
  alignas(64) static constexpr float logarithms[] = {-0x1.1674p-2f, -0x1.c9p-3f,  -0x1.e27p-4f, -0x1.f0ap-5f,
                                                     0x0p+0f,       0x1.1178p-3f, 0x1.a94p-3f,  0x1.522cp-2f};
  alignas(64) static constexpr float rests[] = {-0x1.cababap-18f, 0x1.070cacp-20f, -0x1.db8abcp-22f, -0x1.86008cp-20f,
                                                0x0p+0f,          0x1.d044fcp-20f, -0x1.2c3752p-19f, -0x1.1f8c76p-18f};
  static constexpr float terms[] = {-0x1p-1f, 0x1.5554f2p-2f, -0x1.fffed2p-3f, 0x1.9b9b78p-3f, -0x1.578954p-3f};
};
template <class T, int kBits>
struct BinaryLogarithm;
template <>
struct BinaryLogarithm<float, 5> {
  static constexpr float of_2[] = {0x1p+0f, 0x0p+0f}, of_e[] = {0x1.715476p+0f, 0x1.4ae0cp-26f};
  alignas(64) static constexpr float logarithms[] = {
      -0x1.e728p-2f, -0x1.c594p-2f, -0x1.a338p-2f, -0x1.91bcp-2f, -0x1.6e24p-2f, -0x1.49a8p-2f, -0x1.3714p-2f,
      -0x1.113p-2f,  -0x1.fbcp-3f,  -0x1.acf8p-3f, -0x1.84cp-3f,  -0x1.5cp-3f,   -0x1.32bp-3f,  -0x1.bc8p-4f,
      -0x1.664p-4f,  -0x1.0ebp-4f,  -0x1.6bap-5f,  -0x1.6e8p-6f,  0x0p+0f,       0x1.774p-5f,   0x1.7d6p-4f,
      0x1.098p-3f,   0x1.564p-3f,   0x1.a508p-3f,  0x1.f6p-3f,    0x1.249cp-2f,  0x1.4f7p-2f,   0x1.6cbp-2f,
      0x1.8a88p-2f,  0x1.b878p-2f,  0x1.d7e8p-2f,  0x1.f804p-2f};
  alignas(64) static constexpr float rests[] = {
      0x1.55e18ap-18f,  0x1.052d6ap-18f,  0x1.3eb014p-19f,  0x1.5db83ap-20f,  0x1.e3263p-18f,   0x1.ed0cbap-20f,
      0x1.b315b4p-18f,  -0x1.f6b4c2p-20f, -0x1.6b9026p-19f, 0x1.0e9258p-18f,  -0x1.5e8178p-18f, -0x1.a39fbep-19f,
      0x1.61d876p-19f,  -0x1.0902b6p-18f, 0x1.20a6dep-21f,  -0x1.c4fd14p-19f, -0x1.a6eb1ep-18f, 0x1.a5e8f4p-20f,
      0x0p+0f,          -0x1.acd89ap-19f, 0x1.25b3eep-22f,  -0x1.c731ap-19f,  -0x1.1eb002p-18f, 0x1.4b54d2p-19f,
      -0x1.3ab7cep-18f, 0x1.a5627ap-19f,  -0x1.134c4ep-20f, 0x1.ed0cbap-19f,  0x1.80abfcp-18f,  -0x1.d42728p-21f,
      -0x1.3f543cp-18f, 0x1.5d1a1ap-19f};
  static constexpr float terms[] = {-0x1.715476p-1f, 0x1.ec8632p-2f, -0x1.71712cp-2f};
};
template <>
struct BinaryLogarithm<double, 4> {
  static constexpr double of_2[] = {0x1p+0, 0x0p+0}, of_e[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
  alignas(64) static constexpr double logarithms[] = {
      -0x1.e726aa1e75p-2, -0x1.a33760a7f6p-2, -0x1.6e221cd9d1p-2, -0x1.37124cea4dp-2, -0x1.fbc16b9026p-3,
      -0x1.84c2bd02fp-3,  -0x1.32ae9e278ap-3, -0x1.663f6fac9p-4,  -0x1.6bad3758fp-5,  0x0p+0,
      0x1.7d60496cfcp-4,  0x1.563dc29ffap-3,  0x1.f5fd8a9064p-3,  0x1.4f6fbb2cecp-2,  0x1.8a8980abfcp-2,
      0x1.d7e6c0abc3p-2};
  alignas(64) static constexpr double rests[] = {-0x1.3483146784bd2p-44, -0x1.4275f1035e5e8p-48,
                                                 0x1.90d43956fa5d8p-45,  0x1.0993376649b5p-45,
                                                 -0x1.0144751b3314fp-44, -0x1.d97ee9124773bp-46,
                                                 -0x1.c343ea3e580ebp-44, -0x1.3167ccc538261p-44,
                                                 0x1.3c6764fc87b4ap-48,  0x0p+0,
                                                 -0x1.2ce6312ebb81dp-46, 0x1.964190e41bca7p-44,
                                                 -0x1.cb6f70109b0f1p-47, 0x1.661e393a16b95p-44,
                                                 -0x1.66cccab240e9p-45,  0x1.5e30f52d6ae75p-44};
  static constexpr double terms[] = {-0x1.71547652b82fep-1, 0x1.ec709dc3a0319p-2,  -0x1.71547652b851ap-2,
                                     0x1.2776c510f5a1cp-2,  -0x1.ec709dc5fe07cp-3, 0x1.a617377d3bf1p-3,
                                     -0x1.71544cb357ac4p-3, 0x1.4902e041653d9p-3,  -0x1.2829f9c22a701p-3};
};
template <>
struct BinaryLogarithm<float, 3> {
  static constexpr float of_2[] = {0x1p+0f, 0x0p+0f}, of_e[] = {0x1.715476p+0f, 0x1.4ae0cp-26f};
  alignas(64) static constexpr float logarithms[] = {-0x1.91bcp-2f, -0x1.49a8p-2f, -0x1.5cp-3f, -0x1.664p-4f,
                                                     0x0p+0f,       0x1.8a88p-3f,  0x1.32cp-2f, 0x1.e7ep-2f};
  alignas(64) static constexpr float rests[] = {0x1.5db83ap-20f, 0x1.ed0cbap-20f, -0x1.a39fbep-19f, 0x1.20a6dep-21f,
                                                0x0p+0f,         0x1.80abfcp-19f, -0x1.1c8f12p-22f, -0x1.40358ep-19f};
  static constexpr float terms[] = {-0x1.715476p-1f, 0x1.ec7016p-2f, -0x1.7154dap-2f, 0x1.28e2b2p-2f, -0x1.ee76bap-3f};
};
template <class T, int kBits>
struct DecimalLogarithm;
template <>
struct DecimalLogarithm<float, 5> {
  static constexpr float of_2[] = {0x1.344p-2f, 0x1.3509f8p-18f}, of_e[] = {0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
  alignas(64) static constexpr float logarithms[] = {
      -0x1.2548p-3f, -0x1.1118p-3f, -0x1.f8dp-4f, -0x1.e3cp-4f, -0x1.b8ep-4f, -0x1.8cfp-4f, -0x1.769p-4f, -0x1.48fp-4f,
      -0x1.31bp-4f,  -0x1.024p-4f,  -0x1.d42p-5f, -0x1.a3p-5f,  -0x1.714p-5f, -0x1.0bap-5f, -0x1.af4p-6f, -0x1.46p-6f,
      -0x1.b6p-7f,   -0x1.b9p-8f,   0x0p+0f,      0x1.c4p-7f,   0x1.cb4p-6f,  0x1.3fap-5f,  0x1.9c2p-5f,  0x1.fbp-5f,
      0x1.2e4p-4f,   0x1.605p-4f,   0x1.93ep-4f,  0x1.b72p-4f,  0x1.db1p-4f,  0x1.093p-3f,  0x1.1c2p-3f,  0x1.2f7p-3f};
  alignas(64) static constexpr float rests[] = {
      -0x1.a69af4p-18f, 0x1.e87bf8p-18f,  0x1.a5f2e6p-18f,  0x1.f2a79p-19f,   0x1.b2c54cp-20f, -0x1.838864p-20f,
      -0x1.40a252p-20f, -0x1.f68efap-19f, -0x1.82ae24p-19f, -0x1.460f84p-19f, 0x1.574d82p-20f, -0x1.53ac14p-18f,
      -0x1.0684fap-18f, -0x1.a817p-25f,   -0x1.f92bp-18f,   0x1.614a68p-19f,  0x1.6f714ep-19f, -0x1.1da94p-18f,
      0x0p+0f,          -0x1.7be444p-18f, -0x1.c0cc9ep-20f, 0x1.ef8cc6p-18f,  -0x1.a1504p-19f, -0x1.64b1ap-19f,
      -0x1.62fd22p-18f, 0x1.cd7ba6p-18f,  0x1.f783fp-18f,   0x1.cd1716p-20f,  0x1.ed766ap-20f, 0x1.2d0cccp-22f,
      -0x1.8b3552p-18f, 0x1.80e7a8p-18f};
  static constexpr float terms[] = {-0x1.bcb7bp-3f, 0x1.28877p-3f, -0x1.bcf2acp-4f};
};
template <>
struct DecimalLogarithm<double, 4> {
  static constexpr double of_2[] = {0x1.34413509f8p-2, -0x1.80433b83b532ap-44},
                          of_e[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
  alignas(64) static constexpr double logarithms[] = {
      -0x1.254b4d35e8p-3, -0x1.f8c9683468p-4, -0x1.b8de4d3ab4p-4, -0x1.769140a254p-4, -0x1.31b3055c48p-4,
      -0x1.d41d5164f8p-5, -0x1.71483427dp-5,  -0x1.af5f92b01p-6,  -0x1.b5e908eb2p-7,  0x0p+0,
      0x1.cb38fccd9p-6,   0x1.9c197abfp-5,    0x1.2e3a740b78p-4,  0x1.93e7de0fc4p-4,  0x1.db11ed766cp-4,
      0x1.1c1ce9955cp-3};
  alignas(64) static constexpr double rests[] = {0x1.61f143538008cp-46,  -0x1.9084e03494e7dp-48,
                                                 0x1.340511b402e0ap-47,  0x1.9036b130dc2b9p-44,
                                                 0x1.dcffc97be8c9cp-45,  -0x1.659d00c475908p-44,
                                                 -0x1.54c670f08803p-44,  0x1.9f05921f59258p-46,
                                                 0x1.90dfe0d1601cap-44,  0x0p+0,
                                                 -0x1.00925a535ae72p-44, 0x1.badcf3d6e4566p-46,
                                                 0x1.d288560689912p-53,  -0x1.80743406505e6p-48,
                                                 -0x1.40bcd23c3e44cp-44, 0x1.8b891b6d05a73p-48};
  static constexpr double terms[] = {-0x1.bcb7b1526e50ep-3, 0x1.287a7636f42dcp-3,  -0x1.bcb7b1526ebcdp-4,
                                     0x1.63c62777798a4p-4,  -0x1.287a763639974p-4, 0x1.fc3f72bee6049p-5,
                                     -0x1.bcb78de1da7e3p-5, 0x1.8c2a2cb161a6bp-5,  -0x1.648c12e603194p-5};
};
template <>
struct DecimalLogarithm<float, 3> {
  static constexpr float of_2[] = {0x1.344p-2f, 0x1.3509f8p-18f}, of_e[] = {0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
  alignas(64) static constexpr float logarithms[] = {-0x1.e3cp-4f, -0x1.8cfp-4f, -0x1.a3p-5f, -0x1.af4p-6f,
                                                     0x0p+0f,      0x1.db2p-5f,  0x1.716p-4f, 0x1.25b8p-3f};
  alignas(64) static constexpr float rests[] = {0x1.f2a79p-19f, -0x1.838864p-20f, -0x1.53ac14p-18f, -0x1.f92bp-18f,
                                                0x0p+0f,        -0x1.c25132p-18f, -0x1.798e4cp-19f, 0x1.410ad8p-18f};
  static constexpr float terms[] = {-0x1.bcb7b2p-3f, 0x1.287a26p-3f, -0x1.bcb422p-4f, 0x1.6579a8p-4f, -0x1.2b8c22p-4f};
};
/// entries[i] of the lowest bits of each lane.
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<float> looked_up_of_32(hn::Vec512<float> i, const float* entries) {
  return hn::Vec512<float>{
      _mm512_permutex2var_ps(_mm512_load_ps(entries), _mm512_castps_si512(i.raw), _mm512_load_ps(entries + 16))};
}
HWY_INLINE hn::Vec512<float> looked_up_short(hn::Vec512<float> i, const float* entries) {
  return looked_up_of_32(i, entries);
}
HWY_INLINE hn::Vec512<double> looked_up_short(hn::Vec512<double> i, const double* entries) {
  return looked_up(i, entries);
}
#endif
HWY_INLINE hn::Vec256<float> looked_up_short(hn::Vec256<float> i, const float* entries) {
  return looked_up(i, entries);
}
/// Whether a lane is not a positive normal number.
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE bool any_unusual(hn::Vec512<float> x) { return _mm512_fpclass_ps_mask(x.raw, 0xFF) != 0; }
HWY_INLINE bool any_unusual(hn::Vec512<double> x) { return _mm512_fpclass_pd_mask(x.raw, 0xFF) != 0; }
#endif
HWY_INLINE bool any_unusual(hn::Vec256<float> x) {
  // Of positive normal numbers, both differences are not negative.
  const __m256i above = _mm256_sub_epi32(_mm256_castps_si256(x.raw), _mm256_set1_epi32(0x00800000));
  const __m256i below = _mm256_sub_epi32(_mm256_set1_epi32(0x7EFFFFFF), above);
  return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(above, below))) != 0;
}
/// Whether these vectors have tables here, and the bits of an interval's number.
template <class D>
inline constexpr bool kHasShortLogarithms = kScalesAtOnce<D> ||
                                            (sizeof(hn::TFromD<D>) == sizeof(float) && hn::MaxLanes(D()) == 8);
template <class D>
inline constexpr int kIntervalBits = sizeof(hn::TFromD<D>) == sizeof(double) ? 4
                                     : hn::MaxLanes(D()) == 8                ? 3
                                                                             : 5;

/// The logarithm of a positive normal number, less those of so many doublings; these are counted where an exponent has
/// its bits, as a number.
template <template <class, int> class OfBase, class D, class V>
HWY_INLINE V logarithm_of_normal(D d, V x, V doublings) {
  using T = hn::TFromD<D>;
  constexpr int kIntervals = kIntervalBits<D>;
  using Base = OfBase<T, kIntervals>;
  using Inverses = ShortInverses<T, kIntervals>;
  constexpr int kBits = ExpLog<T>::mantissa_bits;
  constexpr auto kOne = decltype(Inverses::start){1};
  constexpr T kUnit = T{1} / static_cast<T>(kOne << kBits);
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x), above = hn::Sub(bits, hn::Set(di, Inverses::start));
  const auto exponent = hn::And(above, hn::Set(di, -(kOne << kBits)));
  const V interval = hn::BitCast(d, hn::ShiftRight<kBits - kIntervals>(above));
  const V m = hn::BitCast(d, hn::Sub(bits, exponent)), inverse = looked_up_short(interval, Inverses::values);
  const V r = hn::MulSub(m, inverse, hn::Set(d, T{1})), k = hn::Sub(hn::ConvertTo(d, exponent), doublings);
  const V of_2 = hn::Set(d, Base::of_2[0] * kUnit), of_e = hn::Set(d, Base::of_e[0]);
  const V whole = hn::MulAdd(k, of_2, looked_up_short(interval, Base::logarithms));  // exact
  V low = looked_up_short(interval, Base::rests);
  if constexpr (Base::of_2[1] != 0) low = hn::MulAdd(k, hn::Set(d, Base::of_2[1] * kUnit), low);
  const V sum = hn::MulAdd(r, of_e, whole), lost = hn::MulAdd(r, of_e, hn::Sub(whole, sum));
  const V curve = paired_polynomial(d, r, Base::terms);
  if constexpr (Base::of_e[1] == 0) return hn::Add(sum, hn::MulAdd(hn::Mul(r, r), curve, hn::Add(lost, low)));
  return hn::Add(sum, hn::MulAdd(r, hn::MulAdd(r, curve, hn::Set(d, Base::of_e[1])), hn::Add(lost, low)));
}
/// Of any number. Not inlined: its constants would take the registers of the loop.
template <template <class, int> class OfBase, class D, class V>
HWY_NOINLINE V logarithm_of_any(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  const V zero = hn::Zero(d), infinite = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const V normal = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, C::normal_scale)), x);
  constexpr T kDoublings = T{C::normal_shift} * static_cast<T>(int64_t{1} << C::mantissa_bits);
  const V result = logarithm_of_normal<OfBase>(d, normal, hn::IfThenElseZero(subnormal, hn::Set(d, kDoublings)));
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const V finite = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinite), hn::IfThenElse(hn::Lt(x, zero), nan, result));
  return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Eq(x, infinite)), x, finite);
}
template <template <class, int> class OfBase, class D, class V>
HWY_INLINE V tabled_logarithm_to(D d, V x) {
  if (HWY_UNLIKELY(any_unusual(x))) return logarithm_of_any<OfBase>(d, x);
  return logarithm_of_normal<OfBase>(d, x, hn::Zero(d));
}
#endif

template <class D, class V>
HWY_INLINE V log_vector(D d, V x) {
  using T = hn::TFromD<D>;
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kHasShortLogarithms<D>) return tabled_logarithm_to<NaturalLogarithm>(d, x);
#endif
  const V zero = hn::Zero(d), infinite = hn::Set(d, std::numeric_limits<T>::infinity());
  const Pair<V> log = log_pair(d, x);
  const V result = hn::Add(log.high, log.low);
  const auto ordinary = hn::And(hn::Lt(zero, x), hn::Lt(x, infinite));
  if (HWY_LIKELY(hn::AllTrue(d, ordinary))) return result;
  const V finite =
      hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinite),
                     hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), result));
  return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Eq(x, infinite)), x, finite);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
