// kernel: random numbers, with PyTorch's bits where these don't depend on the C library.
#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/random.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

// --- Matsumoto and Nishimura, "Mersenne Twister", 1998

constexpr int64_t kWords = 624, kAhead = 397;

HWY_INLINE uint32_t twisted(uint32_t word, uint32_t next, uint32_t ahead) {
  const uint32_t mixed = (word & 0x80000000U) | (next & 0x7fffffffU);
  return ahead ^ (mixed >> 1) ^ ((0U - (next & 1U)) & 0x9908b0dfU);
}
void twist(uint32_t* state) {
  TENON_INDEPENDENT
  for (int64_t i = 0; i < kWords - kAhead; ++i) state[i] = twisted(state[i], state[i + 1], state[i + kAhead]);
  // What this loop reads behind itself, the first one or a round 227 words before wrote.
  for (int64_t begin = kWords - kAhead; begin < kWords - 1; begin += kWords - kAhead) {
    const int64_t end = begin + kWords - kAhead < kWords - 1 ? begin + kWords - kAhead : kWords - 1;
    TENON_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) state[i] = twisted(state[i], state[i + 1], state[i + kAhead - kWords]);
  }
  state[kWords - 1] = twisted(state[kWords - 1], state[0], state[kAhead - 1]);
}

void temper(uint32_t* HWY_RESTRICT out, const uint32_t* HWY_RESTRICT state, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t word = state[i];
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680U;
    word ^= word << 15 & 0xefc60000U;
    out[i] = word ^ word >> 18;
  }
}

// --- Uniform numbers

void uniform(float* HWY_RESTRICT out, const uint32_t* HWY_RESTRICT words, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int32_t>(words[i] & 0xffffffU)) * 0x1p-24F;
}
void uniform_of_pairs(double* HWY_RESTRICT out, const uint32_t* HWY_RESTRICT words, int64_t n, double from,
                      double width) {
  for (int64_t i = 0; i < n; ++i) {
    // Both parts and their sum are exact.
    const double high = static_cast<double>(static_cast<int32_t>(words[2 * i] & 0x1fffffU));
    const double low = static_cast<double>(words[2 * i + 1]);
    const double number = high * 0x1p-21 + low * 0x1p-53;
#if HWY_NATIVE_FMA
    out[i] = __builtin_fma(number, width, from);
#else
    out[i] = number * width + from;
#endif
  }
}

// --- Normal numbers. For float32 the functions are those of PyTorch's avx_mathfun.h, which has them from Cephes by way
// of Julien Pommier's sse_mathfun.h and Giovanni Garberoglio's avx_mathfun.h (NOTICE). Products and sums are fused
// where PyTorch's compiler fuses them.

template <class D, class V = hn::Vec<D>>
HWY_INLINE V fused_polynomial(D d, V x, std::initializer_list<float> coefficients) {
  V sum = hn::Zero(d);
  bool begins = true;
  for (const float coefficient : coefficients) {
    sum = begins ? hn::Set(d, coefficient) : hn::MulAdd(sum, x, hn::Set(d, coefficient));
    begins = false;
  }
  return sum;
}

/// The logarithm of normal numbers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V cephes_logarithm(D d, V x) {
  const hn::RebindToSigned<D> integers;
  const V one = hn::Set(d, 1);
  V exponent =
      hn::Add(hn::ConvertTo(d, hn::Sub(hn::ShiftRight<23>(hn::BitCast(integers, x)), hn::Set(integers, 0x7f))), one);
  const V mantissa = hn::Or(hn::And(x, hn::BitCast(d, hn::Set(integers, ~0x7f800000))), hn::Set(d, 0.5F));
  const auto is_low = hn::Lt(mantissa, hn::Set(d, 0.707106781186547524F));
  exponent = hn::Sub(exponent, hn::IfThenElseZero(is_low, one));
  x = hn::Add(hn::Sub(mantissa, one), hn::IfThenElseZero(is_low, mantissa));
  const V z = hn::Mul(x, x);
  V y = fused_polynomial(d, x,
                         {7.0376836292E-2F, -1.1514610310E-1F, 1.1676998740E-1F, -1.2420140846E-1F, 1.4249322787E-1F,
                          -1.6668057665E-1F, 2.0000714765E-1F, -2.4999993993E-1F, 3.3333331174E-1F});
  y = hn::MulAdd(hn::Mul(y, x), z, hn::Mul(exponent, hn::Set(d, -2.12194440e-4F)));
  y = hn::NegMulAdd(z, hn::Set(d, 0.5F), y);
  return hn::MulAdd(exponent, hn::Set(d, 0.693359375F), hn::Add(x, y));
}

/// The sine and cosine of numbers from 0 to some thousands.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void cephes_sine_and_cosine(D d, V x, V& sine, V& cosine) {
  const hn::RebindToSigned<D> integers;
  auto octant = hn::ConvertTo(integers, hn::Mul(x, hn::Set(d, 1.27323954473516F)));
  octant = hn::And(hn::Add(octant, hn::Set(integers, 1)), hn::Set(integers, ~1));
  const V turn = hn::ConvertTo(d, octant);
  const V sine_sign = hn::BitCast(d, hn::ShiftLeft<29>(hn::And(octant, hn::Set(integers, 4))));
  const V cosine_sign =
      hn::BitCast(d, hn::ShiftLeft<29>(hn::AndNot(hn::Sub(octant, hn::Set(integers, 2)), hn::Set(integers, 4))));
  const auto is_near_0 = hn::RebindMask(d, hn::Eq(hn::And(octant, hn::Set(integers, 2)), hn::Zero(integers)));
  x = hn::MulAdd(turn, hn::Set(d, -0.78515625F), x);
  x = hn::MulAdd(turn, hn::Set(d, -2.4187564849853515625e-4F), x);
  x = hn::MulAdd(turn, hn::Set(d, -3.77489497744594108e-8F), x);
  const V z = hn::Mul(x, x);
  V even = fused_polynomial(d, z, {2.443315711809948E-005F, -1.388731625493765E-003F, 4.166664568298827E-002F});
  even = hn::Add(hn::MulSub(hn::Mul(even, z), z, hn::Mul(z, hn::Set(d, 0.5F))), hn::Set(d, 1));
  V odd = fused_polynomial(d, z, {-1.9515295891E-4F, 8.3321608736E-3F, -1.6666654611E-1F});
  odd = hn::MulAdd(hn::Mul(odd, z), x, x);
  sine = hn::Xor(hn::IfThenElse(is_near_0, odd, even), sine_sign);
  cosine = hn::Xor(hn::IfThenElse(is_near_0, even, odd), cosine_sign);
}

void normal_float32(float* numbers, int64_t n, float mean, float deviation) {
  const hn::CappedTag<float, 8> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto one = hn::Set(d, 1), center = hn::Set(d, mean), scale = hn::Set(d, deviation);
  for (float* run = numbers; run < numbers + n; run += 16)
    for (int64_t i = 0; i < 8; i += lanes) {
      const auto logarithm = cephes_logarithm(d, hn::Sub(one, hn::LoadU(d, run + i)));
      const auto radius = hn::Sqrt(hn::Mul(hn::Set(d, -2), logarithm));
      const auto angle = hn::Mul(hn::Set(d, 6.283185307179586F), hn::LoadU(d, run + i + 8));
      auto sine = one, cosine = one;
      cephes_sine_and_cosine(d, angle, sine, cosine);
      hn::StoreU(hn::MulAdd(hn::Mul(radius, cosine), scale, center), d, run + i);
      hn::StoreU(hn::MulAdd(hn::Mul(radius, sine), scale, center), d, run + i + 8);
    }
}

/// PyTorch calls the C library's functions. Ours have errors as small.
void normal_float64(double* numbers, int64_t n, double mean, double deviation) {
  const hn::CappedTag<double, 8> d;
  using V = Vector<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto center = hn::Set(d, mean), scale = hn::Set(d, deviation);
  for (double* run = numbers; run < numbers + n; run += 16)
    for (int64_t i = 0; i < 8; i += lanes) {
      const V first(hn::Sub(hn::Set(d, 1), hn::LoadU(d, run + i)));
      const V angle(hn::Mul(hn::Set(d, 6.283185307179586), hn::LoadU(d, run + i + 8)));
      const auto radius = hn::Sqrt(hn::Mul(hn::Set(d, -2), logarithm(first).v));
      hn::StoreU(hn::MulAdd(hn::Mul(radius, cosine(angle).v), scale, center), d, run + i);
      hn::StoreU(hn::MulAdd(hn::Mul(radius, sine(angle).v), scale, center), d, run + i + 8);
    }
}

void fill_random(KernelTable& table) {
  table.random = {&twist, &temper, &uniform, &uniform_of_pairs, &normal_float32, &normal_float64};
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
