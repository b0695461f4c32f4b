// kernel: logarithms to the bases e, 2 and 10 by tables, over whole vectors of AVX-512, and of AVX2 but the natural
// one of float64. Errors stay below 0.7 ulp. A number is 2^k m, m in one of 32 intervals, 16 of float64, or with AVX2
// eight and 128; its inverse `v` to a few bits makes r = m v - 1 exact but for a bit, and |r| at most 1/54, 1/30, or
// 1/14 and 1/171. The logarithm is k log(2) - log(v) + log(1 + r).
#if defined(TENON_KERNEL_LOGARITHM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_LOGARITHM_INL_H
#undef TENON_KERNEL_LOGARITHM_INL_H
#else
#define TENON_KERNEL_LOGARITHM_INL_H
#endif

#include <limits>
#include <type_traits>

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
#if TENON_HAS_LANE_ROWS
// `rows`: inverses, and their logarithms as two numbers. They are 1 as far from 1 as r allows: else the difference of
// two numbers that are larger than the result would not be exact.
template <>
struct ShortInverses<double, 7> {
  static constexpr auto start = static_cast<int64_t>(LogarithmRows::start);
};
template <>
struct BinaryLogarithm<double, 7> {
  static constexpr double of_2[] = {0x1p+0, 0x0p+0}, of_e[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
  alignas(32) static constexpr double rows[][4] = {{0x1.68p+0, -0x1.f7a8568cbp-2, -0x1.b3b3864c60011p-44, 0},
                                                   {0x1.66p+0, -0x1.ef6d67328ep-2, -0x1.103e8f00d41c8p-45, 0},
                                                   {0x1.64p+0, -0x1.e726aa1e75p-2, -0x1.3483146784bd2p-44, 0},
                                                   {0x1.62p+0, -0x1.ded3fd4423p-2, -0x1.9313aec658458p-44, 0},
                                                   {0x1.6p+0, -0x1.d6753e032fp-2, 0x1.7c407050799bfp-44, 0},
                                                   {0x1.5ep+0, -0x1.ce0a4923a6p-2, 0x1.e0cda8bd74461p-44, 0},
                                                   {0x1.5cp+0, -0x1.c592fad296p-2, 0x1.2a606046ad444p-44, 0},
                                                   {0x1.5ap+0, -0x1.bd0f2e9e79p-2, -0x1.855a216719009p-49, 0},
                                                   {0x1.58p+0, -0x1.b47ebf7388p-2, -0x1.50520a377c7ecp-45, 0},
                                                   {0x1.58p+0, -0x1.b47ebf7388p-2, -0x1.50520a377c7ecp-45, 0},
                                                   {0x1.56p+0, -0x1.abe18797f2p-2, 0x1.6e3cb71b554e7p-47, 0},
                                                   {0x1.54p+0, -0x1.a33760a7f6p-2, -0x1.4275f1035e5e8p-48, 0},
                                                   {0x1.52p+0, -0x1.9a802391e2p-2, -0x1.979a5db68721dp-45, 0},
                                                   {0x1.5p+0, -0x1.91bba891f1p-2, -0x1.c22d2cad415aep-44, 0},
                                                   {0x1.4ep+0, -0x1.88e9c72e0bp-2, -0x1.12d25b3252647p-45, 0},
                                                   {0x1.4cp+0, -0x1.800a563162p-2, 0x1.d5e6a8a4fb059p-45, 0},
                                                   {0x1.4ap+0, -0x1.771d2ba7fp-2, 0x1.3106e404cabb7p-44, 0},
                                                   {0x1.4ap+0, -0x1.771d2ba7fp-2, 0x1.3106e404cabb7p-44, 0},
                                                   {0x1.48p+0, -0x1.6e221cd9d1p-2, 0x1.90d43956fa5d8p-45, 0},
                                                   {0x1.46p+0, -0x1.6518fe4678p-2, 0x1.1646b761c48dep-44, 0},
                                                   {0x1.44p+0, -0x1.5c01a39fbdp-2, -0x1.a1e7e802c4828p-44, 0},
                                                   {0x1.42p+0, -0x1.52dbdfc4c9p-2, -0x1.acdf73d83987fp-44, 0},
                                                   {0x1.42p+0, -0x1.52dbdfc4c9p-2, -0x1.acdf73d83987fp-44, 0},
                                                   {0x1.4p+0, -0x1.49a784bcd2p-2, 0x1.1d406db502403p-44, 0},
                                                   {0x1.3ep+0, -0x1.406463b1bp-2, -0x1.125d6cbcd1095p-44, 0},
                                                   {0x1.3cp+0, -0x1.37124cea4dp-2, 0x1.0993376649b5p-45, 0},
                                                   {0x1.3cp+0, -0x1.37124cea4dp-2, 0x1.0993376649b5p-45, 0},
                                                   {0x1.3ap+0, -0x1.2db10fc4dap-2, 0x1.54243b21709cep-44, 0},
                                                   {0x1.38p+0, -0x1.24407ab0ep-2, -0x1.ce60916e52e91p-44, 0},
                                                   {0x1.36p+0, -0x1.1ac05b291fp-2, -0x1.c14a31ce1b7e3p-48, 0},
                                                   {0x1.36p+0, -0x1.1ac05b291fp-2, -0x1.c14a31ce1b7e3p-48, 0},
                                                   {0x1.34p+0, -0x1.11307dad31p-2, 0x1.228d3da3e961bp-44, 0},
                                                   {0x1.32p+0, -0x1.0790adbb03p-2, -0x1.2de0634d33aa9p-51, 0},
                                                   {0x1.3p+0, -0x1.fbc16b9026p-3, -0x1.0144751b3314fp-44, 0},
                                                   {0x1.3p+0, -0x1.fbc16b9026p-3, -0x1.0144751b3314fp-44, 0},
                                                   {0x1.2ep+0, -0x1.e840be74e6p-3, -0x1.4998f93e7aa3cp-44, 0},
                                                   {0x1.2cp+0, -0x1.d49ee4c326p-3, 0x1.a40dc2d2a6bf7p-45, 0},
                                                   {0x1.2cp+0, -0x1.d49ee4c326p-3, 0x1.a40dc2d2a6bf7p-45, 0},
                                                   {0x1.2ap+0, -0x1.c0db6cdd94p-3, -0x1.bdc81c4db3134p-44, 0},
                                                   {0x1.28p+0, -0x1.acf5e2db4ep-3, -0x1.927dfc23d978p-44, 0},
                                                   {0x1.28p+0, -0x1.acf5e2db4ep-3, -0x1.927dfc23d978p-44, 0},
                                                   {0x1.26p+0, -0x1.98edd077e8p-3, 0x1.e41fa0a62e6aep-44, 0},
                                                   {0x1.24p+0, -0x1.84c2bd02fp-3, -0x1.d97ee9124773bp-46, 0},
                                                   {0x1.24p+0, -0x1.84c2bd02fp-3, -0x1.d97ee9124773bp-46, 0},
                                                   {0x1.22p+0, -0x1.70742d4efp-3, -0x1.3f94e00e7d6bcp-46, 0},
                                                   {0x1.2p+0, -0x1.5c01a39fbep-3, 0x1.2f0c0bfe9dbecp-44, 0},
                                                   {0x1.2p+0, -0x1.5c01a39fbep-3, 0x1.2f0c0bfe9dbecp-44, 0},
                                                   {0x1.1ep+0, -0x1.476a9f984p-3, 0x1.1659d8e2d7d38p-44, 0},
                                                   {0x1.1cp+0, -0x1.32ae9e278ap-3, -0x1.c343ea3e580ebp-44, 0},
                                                   {0x1.1cp+0, -0x1.32ae9e278ap-3, -0x1.c343ea3e580ebp-44, 0},
                                                   {0x1.1ap+0, -0x1.1dcd197552p-3, -0x1.6f6bd48a860fp-44, 0},
                                                   {0x1.1ap+0, -0x1.1dcd197552p-3, -0x1.6f6bd48a860fp-44, 0},
                                                   {0x1.18p+0, -0x1.08c588cda8p-3, 0x1.871a7610e40bdp-45, 0},
                                                   {0x1.16p+0, -0x1.e72ec117fcp-4, 0x1.a4de3424a2624p-44, 0},
                                                   {0x1.16p+0, -0x1.e72ec117fcp-4, 0x1.a4de3424a2624p-44, 0},
                                                   {0x1.14p+0, -0x1.bc84240adcp-4, 0x1.4459c4d3a591bp-44, 0},
                                                   {0x1.14p+0, -0x1.bc84240adcp-4, 0x1.4459c4d3a591bp-44, 0},
                                                   {0x1.12p+0, -0x1.918a16e464p-4, 0x1.94aa31b9b6d65p-45, 0},
                                                   {0x1.12p+0, -0x1.918a16e464p-4, 0x1.94aa31b9b6d65p-45, 0},
                                                   {0x1.1p+0, -0x1.663f6fac9p-4, -0x1.3167ccc538261p-44, 0},
                                                   {0x1.0ep+0, -0x1.3aa2fdd28p-4, 0x1.c7a4ff65ddbc9p-45, 0},
                                                   {0x1.0ep+0, -0x1.3aa2fdd28p-4, 0x1.c7a4ff65ddbc9p-45, 0},
                                                   {0x1.0cp+0, -0x1.0eb389fa28p-4, -0x1.f9ab3cf74babap-44, 0},
                                                   {0x1.0cp+0, -0x1.0eb389fa28p-4, -0x1.f9ab3cf74babap-44, 0},
                                                   {0x1.0ap+0, -0x1.c4dfab90a8p-5, -0x1.5af7a7c7c34f3p-44, 0},
                                                   {0x1.0ap+0, -0x1.c4dfab90a8p-5, -0x1.5af7a7c7c34f3p-44, 0},
                                                   {0x1.08p+0, -0x1.6bad3758fp-5, 0x1.3c6764fc87b4ap-48, 0},
                                                   {0x1.08p+0, -0x1.6bad3758fp-5, 0x1.3c6764fc87b4ap-48, 0},
                                                   {0x1.06p+0, -0x1.11cd1d513p-5, -0x1.a0976c0a2827dp-44, 0},
                                                   {0x1.06p+0, -0x1.11cd1d513p-5, -0x1.a0976c0a2827dp-44, 0},
                                                   {0x1.04p+0, -0x1.6e79685c3p-6, 0x1.6eb3ac8ec0ef7p-45, 0},
                                                   {0x1.04p+0, -0x1.6e79685c3p-6, 0x1.6eb3ac8ec0ef7p-45, 0},
                                                   {0x1.02p+0, -0x1.6fe50b6fp-7, 0x1.ef5d00e390ap-44, 0},
                                                   {0x1p+0, 0x0p+0, 0x0p+0, 0},
                                                   {0x1p+0, 0x0p+0, 0x0p+0, 0},
                                                   {0x1.fcp-1, 0x1.72c7ba21p-7, -0x1.19b14945cf6bap-44, 0},
                                                   {0x1.f8p-1, 0x1.743ee861fp-6, 0x1.aab1b2a41b09p-45, 0},
                                                   {0x1.f4p-1, 0x1.184b8e4c58p-5, -0x1.507d6dc1f27efp-45, 0},
                                                   {0x1.fp-1, 0x1.77394c9d98p-5, -0x1.395510d1e3f81p-44, 0},
                                                   {0x1.ecp-1, 0x1.d6ebd1f2p-5, -0x1.401fbaaa67e3cp-45, 0},
                                                   {0x1.eap-1, 0x1.0387efbca8p-4, 0x1.a768216f872ebp-46, 0},
                                                   {0x1.e6p-1, 0x1.33f7cde14cp-4, 0x1.eb3c3bf914b9cp-45, 0},
                                                   {0x1.e2p-1, 0x1.64ce26c068p-4, -0x1.d5297837adb4bp-45, 0},
                                                   {0x1.dep-1, 0x1.960caf9abcp-4, -0x1.06c243749114cp-45, 0},
                                                   {0x1.dap-1, 0x1.c7b528b71p-4, -0x1.c760bc9b188c4p-45, 0},
                                                   {0x1.d8p-1, 0x1.e0b1ae8f3p-4, -0x1.54cda62d3926ep-47, 0},
                                                   {0x1.d4p-1, 0x1.097e38ce6p-3, 0x1.924ae921f7ecap-45, 0},
                                                   {0x1.dp-1, 0x1.22dadc2ab4p-3, -0x1.6d25a5b8a19b2p-44, 0},
                                                   {0x1.cep-1, 0x1.2f9e32d5cp-3, -0x1.17b2f1731efbep-46, 0},
                                                   {0x1.cap-1, 0x1.494f863b8ep-3, -0x1.968ab16b0d7bap-48, 0},
                                                   {0x1.c8p-1, 0x1.563dc29ffap-3, 0x1.964190e41bca7p-44, 0},
                                                   {0x1.c4p-1, 0x1.7046031c7ap-3, -0x1.ed0798d1aa217p-49, 0},
                                                   {0x1.cp-1, 0x1.8a8980abfcp-3, -0x1.66cccab240e9p-46, 0},
                                                   {0x1.bep-1, 0x1.97c1cb13c8p-3, -0x1.3f7a55cd2af4cp-47, 0},
                                                   {0x1.bap-1, 0x1.b2602497d6p-3, -0x1.974e6432d9ee8p-44, 0},
                                                   {0x1.b8p-1, 0x1.bfc67a8p-3, -0x1.667f21fa8423fp-44, 0},
                                                   {0x1.b4p-1, 0x1.dac22d3e44p-3, 0x1.d2fe4574e09b9p-47, 0},
                                                   {0x1.b2p-1, 0x1.e857d3d362p-3, -0x1.9308437e74325p-44, 0},
                                                   {0x1.bp-1, 0x1.f5fd8a9064p-3, -0x1.cb6f70109b0f1p-47, 0},
                                                   {0x1.acp-1, 0x1.08bce0d96p-2, -0x1.7204f55bbf90dp-44, 0},
                                                   {0x1.aap-1, 0x1.0fa848044bp-2, 0x1.a8843781eda15p-45, 0},
                                                   {0x1.a6p-1, 0x1.1d982c9d52p-2, 0x1.c20d74c0211bfp-44, 0},
                                                   {0x1.a4p-1, 0x1.249cd2b13dp-2, -0x1.49d97df07e357p-45, 0},
                                                   {0x1.a2p-1, 0x1.2baa0c34bep-2, 0x1.ebefecd51a1bfp-46, 0},
                                                   {0x1.9ep-1, 0x1.39de8e155ap-2, -0x1.2101a9685c779p-47, 0},
                                                   {0x1.9cp-1, 0x1.4106017c3fp-2, -0x1.aeb8cb1ac05cdp-45, 0},
                                                   {0x1.9ap-1, 0x1.48365e695dp-2, 0x1.e5aa8a607f6efp-44, 0},
                                                   {0x1.98p-1, 0x1.4f6fbb2cecp-2, 0x1.661e393a16b95p-44, 0},
                                                   {0x1.94p-1, 0x1.5dfdcf1eebp-2, -0x1.f1bbd2926f164p-46, 0},
                                                   {0x1.92p-1, 0x1.6552b49986p-2, 0x1.3bb5921006679p-45, 0},
                                                   {0x1.9p-1, 0x1.6cb0f6865dp-2, -0x1.c57f2495fb7fap-44, 0},
                                                   {0x1.8ep-1, 0x1.7418acebbfp-2, 0x1.8eb650003fb32p-46, 0},
                                                   {0x1.8ap-1, 0x1.8304d90c12p-2, -0x1.66ae2a7ada553p-49, 0},
                                                   {0x1.88p-1, 0x1.8a8980abfcp-2, -0x1.66cccab240e9p-45, 0},
                                                   {0x1.86p-1, 0x1.921800924ep-2, -0x1.62404772a151dp-45, 0},
                                                   {0x1.84p-1, 0x1.99b072a96cp-2, 0x1.ac9bca36fd02ep-44, 0},
                                                   {0x1.82p-1, 0x1.a152f14298p-2, 0x1.b3d7b0e65d2cep-46, 0},
                                                   {0x1.8p-1, 0x1.a8ff971811p-2, -0x1.6879fa00b120ap-44, 0},
                                                   {0x1.7ep-1, 0x1.b0b67f4f47p-2, -0x1.fc02bc277071dp-44, 0},
                                                   {0x1.7ap-1, 0x1.c043859e3p-2, -0x1.2642415d47384p-45, 0},
                                                   {0x1.78p-1, 0x1.c819dc2d46p-2, -0x1.bc76a2753b99bp-50, 0},
                                                   {0x1.76p-1, 0x1.cffae611adp-2, 0x1.2b628e2d05d76p-46, 0},
                                                   {0x1.74p-1, 0x1.d7e6c0abc3p-2, 0x1.5e30f52d6ae75p-44, 0},
                                                   {0x1.72p-1, 0x1.dfdd89d587p-2, -0x1.d4f639bb5cdf6p-46, 0},
                                                   {0x1.7p-1, 0x1.e7df5fe539p-2, -0x1.532c412ba94dbp-44, 0},
                                                   {0x1.6ep-1, 0x1.efec61b012p-2, -0x1.ea92d9e0e8ac2p-48, 0},
                                                   {0x1.6cp-1, 0x1.f804ae8d0dp-2, -0x1.7f33943464056p-45, 0},
                                                   {0x1.6ap-1, 0x1.0014332bep-1, 0x1.9518ce032f41dp-48, 0}};
  static constexpr double terms[] = {-0x1.71547652b83p-1,  0x1.ec709dc3a0401p-2,  -0x1.71547650aa4dcp-2,
                                     0x1.2776c50d264c2p-2, -0x1.ec757c4a8bcd8p-3, 0x1.a61bb6ae07a33p-3};
};
template <>
struct DecimalLogarithm<double, 7> {
  static constexpr double of_2[] = {0x1.34413509f8p-2, -0x1.80433b83b532ap-44},
                          of_e[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
  alignas(32) static constexpr double rows[][4] = {{0x1.68p+0, -0x1.2f3b691c5ap-3, -0x1.7c697e103ceaap-56, 0},
                                                   {0x1.66p+0, -0x1.2a46e8ca7cp-3, 0x1.759aa8c8a1f1cp-45, 0},
                                                   {0x1.64p+0, -0x1.254b4d35e8p-3, 0x1.61f143538008cp-46, 0},
                                                   {0x1.62p+0, -0x1.204881dee8p-3, -0x1.ddd54b04da9d8p-45, 0},
                                                   {0x1.6p+0, -0x1.1b3e71ec94p-3, -0x1.ef57776664942p-44, 0},
                                                   {0x1.5ep+0, -0x1.162d082acap-3, 0x1.7838c72e86b79p-46, 0},
                                                   {0x1.5cp+0, -0x1.11142f0812p-3, 0x1.95237189e3611p-44, 0},
                                                   {0x1.5ap+0, -0x1.0bf3d0937cp-3, -0x1.070f0bd0341b7p-45, 0},
                                                   {0x1.58p+0, -0x1.06cbd67a6cp-3, -0x1.db2a2c6287ecp-46, 0},
                                                   {0x1.58p+0, -0x1.06cbd67a6cp-3, -0x1.db2a2c6287ecp-46, 0},
                                                   {0x1.56p+0, -0x1.019c2a064cp-3, 0x1.6f31d0b132f8fp-44, 0},
                                                   {0x1.54p+0, -0x1.f8c9683468p-4, -0x1.9084e03494e7dp-48, 0},
                                                   {0x1.52p+0, -0x1.ee4aba611p-4, 0x1.bf71dec67fbefp-45, 0},
                                                   {0x1.5p+0, -0x1.e3bc1ab0ep-4, -0x1.9fe3d562a53fp-44, 0},
                                                   {0x1.4ep+0, -0x1.d91d5866acp-4, 0x1.66473a1327abcp-44, 0},
                                                   {0x1.4cp+0, -0x1.ce6e41e464p-4, 0x1.2d85bc180e427p-47, 0},
                                                   {0x1.4ap+0, -0x1.c3aea4a5c8p-4, 0x1.10162e464084cp-44, 0},
                                                   {0x1.4ap+0, -0x1.c3aea4a5c8p-4, 0x1.10162e464084cp-44, 0},
                                                   {0x1.48p+0, -0x1.b8de4d3ab4p-4, 0x1.340511b402e0ap-47, 0},
                                                   {0x1.46p+0, -0x1.adfd07416cp-4, 0x1.f902891596119p-48, 0},
                                                   {0x1.44p+0, -0x1.a30a9d60ap-4, 0x1.0163d7e67d282p-44, 0},
                                                   {0x1.42p+0, -0x1.9806d9414cp-4, 0x1.df68df8cd708ap-44, 0},
                                                   {0x1.42p+0, -0x1.9806d9414cp-4, 0x1.df68df8cd708ap-44, 0},
                                                   {0x1.4p+0, -0x1.8cf1838864p-4, -0x1.019365163f2fcp-45, 0},
                                                   {0x1.3ep+0, -0x1.81ca63d05cp-4, 0x1.bb67d8e7b2c03p-44, 0},
                                                   {0x1.3cp+0, -0x1.769140a254p-4, 0x1.9036b130dc2b9p-44, 0},
                                                   {0x1.3cp+0, -0x1.769140a254p-4, 0x1.9036b130dc2b9p-44, 0},
                                                   {0x1.3ap+0, -0x1.6b45df6f4p-4, 0x1.d36a6f1f2ab39p-44, 0},
                                                   {0x1.38p+0, -0x1.5fe80488bp-4, 0x1.606adb567e739p-45, 0},
                                                   {0x1.36p+0, -0x1.5477731974p-4, 0x1.7b786f3ec11dcp-48, 0},
                                                   {0x1.36p+0, -0x1.5477731974p-4, 0x1.7b786f3ec11dcp-48, 0},
                                                   {0x1.34p+0, -0x1.48f3ed1df4p-4, -0x1.1f6bc109076dp-45, 0},
                                                   {0x1.32p+0, -0x1.3d5d335c54p-4, 0x1.d0e6a0f629baep-45, 0},
                                                   {0x1.3p+0, -0x1.31b3055c48p-4, 0x1.dcffc97be8c9cp-45, 0},
                                                   {0x1.3p+0, -0x1.31b3055c48p-4, 0x1.dcffc97be8c9cp-45, 0},
                                                   {0x1.2ep+0, -0x1.25f5215eb4p-4, -0x1.949df2a5fb46cp-44, 0},
                                                   {0x1.2cp+0, -0x1.1a234455p-4, -0x1.815c0cde7a7fp-44, 0},
                                                   {0x1.2cp+0, -0x1.1a234455p-4, -0x1.815c0cde7a7fp-44, 0},
                                                   {0x1.2ap+0, -0x1.0e3d29d81p-4, -0x1.65e62559618f2p-44, 0},
                                                   {0x1.28p+0, -0x1.02428c1f08p-4, -0x1.5ea6bc2bc8c2cp-52, 0},
                                                   {0x1.28p+0, -0x1.02428c1f08p-4, -0x1.5ea6bc2bc8c2cp-52, 0},
                                                   {0x1.26p+0, -0x1.ec6647eb58p-5, -0x1.0108fa031185ap-46, 0},
                                                   {0x1.24p+0, -0x1.d41d5164f8p-5, -0x1.659d00c475908p-44, 0},
                                                   {0x1.24p+0, -0x1.d41d5164f8p-5, -0x1.659d00c475908p-44, 0},
                                                   {0x1.22p+0, -0x1.bba9a058ep-5, 0x1.3df2b4349e5dcp-48, 0},
                                                   {0x1.2p+0, -0x1.a30a9d60ap-5, 0x1.0163d7e67d282p-45, 0},
                                                   {0x1.2p+0, -0x1.a30a9d60ap-5, 0x1.0163d7e67d282p-45, 0},
                                                   {0x1.1ep+0, -0x1.8a3fadeb88p-5, 0x1.c063628960c25p-44, 0},
                                                   {0x1.1cp+0, -0x1.71483427dp-5, -0x1.54c670f08803p-44, 0},
                                                   {0x1.1cp+0, -0x1.71483427dp-5, -0x1.54c670f08803p-44, 0},
                                                   {0x1.1ap+0, -0x1.58238eeb38p-5, 0x1.612c205756103p-44, 0},
                                                   {0x1.1ap+0, -0x1.58238eeb38p-5, 0x1.612c205756103p-44, 0},
                                                   {0x1.18p+0, -0x1.3ed1199a6p-5, 0x1.bdafc8ad828b8p-45, 0},
                                                   {0x1.16p+0, -0x1.25502c0fcp-5, -0x1.8a5c00ed6bef7p-44, 0},
                                                   {0x1.16p+0, -0x1.25502c0fcp-5, -0x1.8a5c00ed6bef7p-44, 0},
                                                   {0x1.14p+0, -0x1.0ba01a817p-5, -0x1.5f1d45244f437p-60, 0},
                                                   {0x1.14p+0, -0x1.0ba01a817p-5, -0x1.5f1d45244f437p-60, 0},
                                                   {0x1.12p+0, -0x1.e3806acbdp-6, -0x1.63c35e7d67688p-48, 0},
                                                   {0x1.12p+0, -0x1.e3806acbdp-6, -0x1.63c35e7d67688p-48, 0},
                                                   {0x1.1p+0, -0x1.af5f92b01p-6, 0x1.9f05921f59258p-46, 0},
                                                   {0x1.0ep+0, -0x1.7adc3df3bp-6, -0x1.ff81b980714c6p-46, 0},
                                                   {0x1.0ep+0, -0x1.7adc3df3bp-6, -0x1.ff81b980714c6p-46, 0},
                                                   {0x1.0cp+0, -0x1.45f4f5accp-6, 0x1.d07e22587685bp-44, 0},
                                                   {0x1.0cp+0, -0x1.45f4f5accp-6, 0x1.d07e22587685bp-44, 0},
                                                   {0x1.0ap+0, -0x1.10a83a844p-6, -0x1.b1de84602abd8p-44, 0},
                                                   {0x1.0ap+0, -0x1.10a83a844p-6, -0x1.b1de84602abd8p-44, 0},
                                                   {0x1.08p+0, -0x1.b5e908eb2p-7, 0x1.90dfe0d1601cap-44, 0},
                                                   {0x1.08p+0, -0x1.b5e908eb2p-7, 0x1.90dfe0d1601cap-44, 0},
                                                   {0x1.06p+0, -0x1.49b085144p-7, -0x1.b41e70df8592fp-46, 0},
                                                   {0x1.06p+0, -0x1.49b085144p-7, -0x1.b41e70df8592fp-46, 0},
                                                   {0x1.04p+0, -0x1.b9476a4fcp-8, -0x1.a21db136b482ep-45, 0},
                                                   {0x1.04p+0, -0x1.b9476a4fcp-8, -0x1.a21db136b482ep-45, 0},
                                                   {0x1.02p+0, -0x1.bafd4722p-9, -0x1.ed2665c1ba949p-45, 0},
                                                   {0x1p+0, 0x0p+0, 0x0p+0, 0},
                                                   {0x1p+0, 0x0p+0, 0x0p+0, 0},
                                                   {0x1.fcp-1, 0x1.be76bd778p-9, 0x1.a7e186b65af39p-44, 0},
                                                   {0x1.f8p-1, 0x1.c03a80ae4p-8, 0x1.e05382d51f71bp-44, 0},
                                                   {0x1.f4p-1, 0x1.51824c758p-7, 0x1.fabf59b5d80b8p-45, 0},
                                                   {0x1.fp-1, 0x1.c3d083778p-7, 0x1.310272fe17537p-45, 0},
                                                   {0x1.ecp-1, 0x1.1b85d6045p-6, -0x1.65201646ebccdp-46, 0},
                                                   {0x1.eap-1, 0x1.3881a7b82p-6, -0x1.c18684c75ddcap-44, 0},
                                                   {0x1.e6p-1, 0x1.72d4956cap-6, 0x1.0336603c83b1bp-45, 0},
                                                   {0x1.e2p-1, 0x1.ada2e8e3ep-6, 0x1.51bd19e6e701ap-44, 0},
                                                   {0x1.dep-1, 0x1.e8eeb09f3p-6, -0x1.26ac877784097p-47, 0},
                                                   {0x1.dap-1, 0x1.125d0432e8p-5, 0x1.106e0968a0dc4p-44, 0},
                                                   {0x1.d8p-1, 0x1.21681b5c9p-5, -0x1.ef65393de7321p-44, 0},
                                                   {0x1.d4p-1, 0x1.3faf7c663p-5, 0x1.83662f181f53fp-47, 0},
                                                   {0x1.dp-1, 0x1.5e3966b7e8p-5, 0x1.2951bb9cd2fb7p-45, 0},
                                                   {0x1.cep-1, 0x1.6d97ab3ba8p-5, -0x1.0f7e884cbf05cp-44, 0},
                                                   {0x1.cap-1, 0x1.8c878eeb08p-5, -0x1.7c5d8e8ad876cp-44, 0},
                                                   {0x1.c8p-1, 0x1.9c197abfp-5, 0x1.badcf3d6e4566p-46, 0},
                                                   {0x1.c4p-1, 0x1.bb7209d1ep-5, 0x1.272a95ead4056p-44, 0},
                                                   {0x1.cp-1, 0x1.db11ed7668p-5, 0x1.5fa196e1e0ddap-44, 0},
                                                   {0x1.bep-1, 0x1.eafd050358p-5, 0x1.e9d92d38dc40cp-44, 0},
                                                   {0x1.bap-1, 0x1.0585283764p-4, 0x1.77c3e779b9fcfp-48, 0},
                                                   {0x1.b8p-1, 0x1.0d966cc65p-4, 0x1.f3735158d42c3p-49, 0},
                                                   {0x1.b4p-1, 0x1.1dd5460c8cp-4, -0x1.d227d61f9e88dp-45, 0},
                                                   {0x1.b2p-1, 0x1.2603072a24p-4, 0x1.f822d060ec876p-44, 0},
                                                   {0x1.bp-1, 0x1.2e3a740b78p-4, 0x1.d288560689912p-53, 0},
                                                   {0x1.acp-1, 0x1.3ec6ad5408p-4, -0x1.e5e3b38ac267ap-46, 0},
                                                   {0x1.aap-1, 0x1.471ba8a7ep-4, -0x1.d48f18b8c3525p-44, 0},
                                                   {0x1.a6p-1, 0x1.57e3d47c3cp-4, -0x1.085061f7b3786p-44, 0},
                                                   {0x1.a4p-1, 0x1.605735ee98p-4, 0x1.7c3cf23a17d9fp-46, 0},
                                                   {0x1.a2p-1, 0x1.68d4eaf26cp-4, 0x1.7ee531d3da9e2p-44, 0},
                                                   {0x1.9ep-1, 0x1.79efb57b1p-4, -0x1.ff281b9601ce6p-46, 0},
                                                   {0x1.9cp-1, 0x1.828cfed29cp-4, -0x1.deb4fc182476ep-44, 0},
                                                   {0x1.9ap-1, 0x1.8b350364c8p-4, -0x1.da8c4bd8546e7p-44, 0},
                                                   {0x1.98p-1, 0x1.93e7de0fc4p-4, -0x1.80743406505e6p-48, 0},
                                                   {0x1.94p-1, 0x1.a56e8325f4p-4, 0x1.c86eeec5e03ccp-44, 0},
                                                   {0x1.92p-1, 0x1.ae42855098p-4, 0x1.50b57a903b366p-44, 0},
                                                   {0x1.9p-1, 0x1.b721cd1714p-4, 0x1.7e295f660b9dap-44, 0},
                                                   {0x1.8ep-1, 0x1.c00c776724p-4, -0x1.a356c78b99edcp-44, 0},
                                                   {0x1.8ap-1, 0x1.d204698cb4p-4, 0x1.5e533080ecf32p-47, 0},
                                                   {0x1.88p-1, 0x1.db11ed766cp-4, -0x1.40bcd23c3e44cp-44, 0},
                                                   {0x1.86p-1, 0x1.e42b4c16ccp-4, -0x1.50d780639590cp-44, 0},
                                                   {0x1.84p-1, 0x1.ed50a4a27p-4, -0x1.50408544a92fap-44, 0},
                                                   {0x1.82p-1, 0x1.f68216c9ccp-4, 0x1.c9a3bd0891bccp-46, 0},
                                                   {0x1.8p-1, 0x1.ffbfc2bbc8p-4, -0x1.ff229f20ed3d2p-46, 0},
                                                   {0x1.7ep-1, 0x1.0484e4942ap-3, 0x1.4867cc62a8c08p-44, 0},
                                                   {0x1.7ap-1, 0x1.0de1b56356p-3, 0x1.608adb0ce4227p-44, 0},
                                                   {0x1.78p-1, 0x1.1299a4fb3ep-3, 0x1.82c6326f70b35p-46, 0},
                                                   {0x1.76p-1, 0x1.175805d158p-3, 0x1.f04d633b79054p-45, 0},
                                                   {0x1.74p-1, 0x1.1c1ce9955cp-3, 0x1.8b891b6d05a73p-48, 0},
                                                   {0x1.72p-1, 0x1.20e8624038p-3, 0x1.fd946b34ff6ccp-44, 0},
                                                   {0x1.7p-1, 0x1.25ba8215bp-3, -0x1.007bf2d8bf07ap-44, 0},
                                                   {0x1.6ep-1, 0x1.2a935ba5f2p-3, -0x1.70e07d84e08ffp-44, 0},
                                                   {0x1.6cp-1, 0x1.2f7301cf4ep-3, 0x1.0f5c70d1a6341p-44, 0},
                                                   {0x1.6ap-1, 0x1.345987bfeep-3, 0x1.521558148a413p-44, 0}};
  static constexpr double terms[] = {-0x1.bcb7b1526e511p-3, 0x1.287a7636f4361p-3,  -0x1.bcb7b14ff516fp-4,
                                     0x1.63c62772f22f3p-4,  -0x1.287d64b2df2b4p-4, 0x1.fc44dc46ef782p-5};
};
#endif
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
/// What the tables have for each lane's interval.
template <class V>
struct Interval {
  V inverse, logarithm, rest;
};
template <class Base, class Inverses, class V>
HWY_INLINE Interval<V> interval_of(V i) {
#if TENON_HAS_LANE_ROWS
  if constexpr (std::is_same_v<V, hn::Vec256<double>>) {
    const LaneRows lanes(Base::rows, i);
    const Pair<V> first = lanes.numbers(0);
    return {first.high, first.low, lanes.numbers(1).high};
  } else
#endif
    return {looked_up_short(i, Inverses::values), looked_up_short(i, Base::logarithms),
            looked_up_short(i, Base::rests)};
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
HWY_INLINE bool any_unusual(hn::Vec256<double> x) {
  const __m256i above = _mm256_sub_epi64(_mm256_castpd_si256(x.raw), _mm256_set1_epi64x(0x0010000000000000));
  const __m256i below = _mm256_sub_epi64(_mm256_set1_epi64x(0x7FDFFFFFFFFFFFFF), above);
  return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(above, below))) != 0;
}
/// Doublings, counted where an exponent has its bits, as numbers. AVX2 does not convert integers of 64 bits: their
/// twelve bits become those of a number around 2^104, whose last bit is worth 2^52.
template <class D, class VI>
HWY_INLINE hn::Vec<D> counted_doublings(D d, VI exponents) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double) && hn::MaxLanes(D()) == 4) {
    const hn::RebindToUnsigned<D> du;
    constexpr double kAround = 0x1p104, kNone = kAround + 0x800p52;
    const auto bits = hn::ShiftRight<52>(hn::BitCast(du, exponents));
    const auto number = hn::Xor(bits, hn::BitCast(du, hn::Set(d, kNone)));
    return hn::Sub(hn::BitCast(d, number), hn::Set(d, kNone));
  } else {
    return hn::ConvertTo(d, exponents);
  }
}
/// Whether these vectors have tables here, and the bits of an interval's number.
template <class D>
inline constexpr bool kHasShortLogarithms = kScalesAtOnce<D> || kLooksUpRows<D> ||
                                            (sizeof(hn::TFromD<D>) == sizeof(float) && hn::MaxLanes(D()) == 8);
template <class D>
inline constexpr int kIntervalBits = kLooksUpRows<D>                           ? 7
                                     : sizeof(hn::TFromD<D>) == sizeof(double) ? 4
                                     : hn::MaxLanes(D()) == 8                  ? 3
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
  const V m = hn::BitCast(d, hn::Sub(bits, exponent));
  auto [inverse, logarithm, low] = interval_of<Base, Inverses>(interval);
  const V r = hn::MulSub(m, inverse, hn::Set(d, T{1})), k = hn::Sub(counted_doublings(d, exponent), doublings);
  const V of_2 = hn::Set(d, Base::of_2[0] * kUnit), of_e = hn::Set(d, Base::of_e[0]);
  const V whole = hn::MulAdd(k, of_2, logarithm);  // exact
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
  // Of many numbers, rows take an eighth more time. Bench: tenon_bench --ops --dtype float64 --filter 'ops/log$'.
  if constexpr (kHasShortLogarithms<D> && !kLooksUpRows<D>) return tabled_logarithm_to<NaturalLogarithm>(d, x);
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
