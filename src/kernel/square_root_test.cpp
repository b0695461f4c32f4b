// Square roots of every kind of number are those of the processor's instruction, which rounds correctly.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernel/kernel.h"

namespace tenon {
namespace {

template <class T>
void expect_roots(const std::vector<T>& in) {
  std::vector<T> out(in.size());
  const Lanes lanes{in.data(), 1};
  kernels().elementwise[static_cast<int>(Op::sqrt)][static_cast<int>(dtype_of_v<T>)](out.data(), &lanes,
                                                                                     static_cast<int64_t>(in.size()));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const T want = std::sqrt(in[i]);
    ASSERT_TRUE(std::isnan(want) ? std::isnan(out[i]) : std::memcmp(&out[i], &want, sizeof(T)) == 0)
        << "sqrt(" << in[i] << "): wanted " << want << ", got " << out[i];
  }
}

template <class T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  return {T(0),
          -T(0),
          T(1),
          T(-1),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          Limits::max(),
          Limits::lowest(),
          Limits::min(),
          -Limits::min(),
          Limits::denorm_min(),
          -Limits::denorm_min(),
          Limits::min() / 3};
}

TEST(SquareRoot, OfSpecialNumbersBesideOthers) {
  expect_roots(special_numbers<float>());
  expect_roots(special_numbers<double>());
  for (std::size_t at = 0; at < special_numbers<float>().size(); ++at) {
    std::vector<float> few(64, 2.5f);
    std::vector<double> wide(64, 2.5);
    few[at * 4 % 64] = special_numbers<float>()[at];
    wide[at * 4 % 64] = special_numbers<double>()[at];
    expect_roots(few);
    expect_roots(wide);
  }
}

TEST(SquareRoot, OfEveryMantissaOfFloat32) {
  std::vector<float> in(1 << 20);
  for (uint32_t first = 0x3f800000; first < 0x40800000; first += 1 << 20) {  // from 1 to 4
    for (std::size_t i = 0; i < in.size(); ++i) {
      const uint32_t bits = first + static_cast<uint32_t>(i);
      std::memcpy(&in[i], &bits, sizeof bits);
    }
    expect_roots(in);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(SquareRoot, OfEveryExponent) {
  std::mt19937_64 random(7);
  std::vector<float> few(1 << 16);
  std::vector<double> wide(1 << 16);
  for (int round = 0; round < 16; ++round) {
    for (float& x : few) {
      const auto bits = static_cast<uint32_t>(random() >> 33);
      std::memcpy(&x, &bits, sizeof bits);
    }
    for (double& x : wide) {
      const uint64_t bits = random() >> 1;
      std::memcpy(&x, &bits, sizeof bits);
    }
    expect_roots(few);
    expect_roots(wide);
  }
}

/// The float64 numbers from 1 to 4 whose roots are nearest to the middle of two numbers. With such a middle m / 2^53
/// and x = X 2^(bits - 106), m^2 - X 2^bits is a small rest: m is a root of the rest modulo 2^bits. A rest has four.
std::vector<double> hard_numbers(int bits) {
  std::vector<double> all;
  const uint64_t modulus = uint64_t{1} << bits;
  for (int64_t rest = 1 - (1 << 14); rest < 1 << 14; rest += 8) {
    uint64_t root = 1;
    for (int bit = 3; bit < bits; ++bit)
      if (((root * root - static_cast<uint64_t>(rest)) >> bit & 1) != 0) root += uint64_t{1} << (bit - 1);
    for (const uint64_t other : {root, modulus - root, root + modulus / 2, modulus / 2 - root}) {
      const uint64_t m = other & (modulus - 1);
      if (m < uint64_t{1} << 53 || m >= uint64_t{1} << 54) continue;
      // The upper bits of m^2, from those of its halves of 27 bits.
      const uint64_t high = m >> 27, low = m & ((1 << 27) - 1), cross = high * low;
      const uint64_t below = ((cross & ((1 << 26) - 1)) << 28) + low * low;
      uint64_t x = (high * high + (cross >> 26) + (below >> 54)) >> (bits - 54);
      if (rest < 0) ++x;
      if (x >= uint64_t{1} << 52 && x < uint64_t{1} << 53)
        all.push_back(std::ldexp(static_cast<double>(x), bits - 106));
    }
  }
  return all;
}

TEST(SquareRoot, OfFloat64NearestToTheMiddleOfTwoRoots) {
  for (const int bits : {54, 55}) {
    const std::vector<double> in = hard_numbers(bits);
    ASSERT_GT(in.size(), 1000u);
    for (const double x : in) {  // the middle is closer than long double tells
      const long double root = std::sqrt(static_cast<long double>(x)), units = std::ldexp(root, 53);
      ASSERT_LT(std::fabs(units - std::rint(units)), 0.01L) << x;
    }
    expect_roots(in);
  }
}

}  // namespace
}  // namespace tenon
