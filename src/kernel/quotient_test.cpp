// Quotients by one number are those of the processor's instruction, which rounds correctly: in runs of lanes and in
// rows.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernel/kernel.h"
#include "sampled.h"

namespace tenon {
namespace {

template <class T>
void expect_quotients(const std::vector<T>& in, T divisor) {
  std::vector<T> out(in.size());
  const Lanes lanes[] = {{in.data(), 1}, {&divisor, 0}};
  kernels().elementwise[static_cast<int>(Op::div)][static_cast<int>(dtype_of_v<T>)](out.data(), lanes,
                                                                                    static_cast<int64_t>(in.size()));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const volatile T by = divisor;  // the compiler's own division, one by one
    const T want = in[i] / by;
    ASSERT_TRUE(std::isnan(want) ? std::isnan(out[i]) : std::memcmp(&out[i], &want, sizeof(T)) == 0)
        << in[i] << " / " << divisor << ": wanted " << want << ", got " << out[i];
  }
}

/// Any sign and mantissa, and an exponent near 0 or any.
template <class T>
T random_number(std::mt19937_64& engine) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const auto bits = static_cast<Bits>(engine());
  T number = 0;
  std::memcpy(&number, &bits, sizeof(T));
  if (engine() % 4 == 0) return number;
  const T mantissa = std::isfinite(number) && number != 0 ? number / std::exp2(std::ilogb(number)) : T(1);
  return std::ldexp(mantissa, static_cast<int>(engine() % 40) - 20);
}

template <class T>
void expect_random_quotients() {
  std::mt19937_64 engine(7);
  std::vector<T> in(257);
  for (int turn = 0; turn < 20'000; ++turn) {
    for (T& number : in) number = random_number<T>(engine);
    expect_quotients(in, random_number<T>(engine));
  }
}
TEST(Quotient, OfRandomNumbersByOne) {
  expect_random_quotients<float>();
  expect_random_quotients<double>();
}

TEST(Quotient, OfEveryMantissaOfFloat32) {
  constexpr uint32_t kFirst = 0x3f800000, kEnd = 0x40000000;  // [1, 2)
  std::vector<float> in;
  for (uint32_t bits = kFirst; bits < kEnd; bits += kSampled) {
    in.emplace_back();
    std::memcpy(&in.back(), &bits, sizeof(bits));
  }
  // The last mantissas have the inverses with the largest errors.
  for (const float divisor : {3.0f, -1.9999999f, 1.9999998f, 1.0000001f, 1.4142135f, 0x1.555556p-3f, -7e18f, 2.5e-19f})
    expect_quotients(in, divisor);
}

// a / b as near to the middle of two floats as it can be: b * m and 2^25 * a differ by one, and m is odd and has 25
// bits.
TEST(Quotient, NearestToTheMiddleOfTwoFloats) {
  constexpr uint32_t kMask = (1 << 25) - 1;
  std::vector<float> in(64, 1.0f);
  for (uint32_t b = (1 << 23) + 1; b < 1 << 24; b += 2 * 33) {
    uint32_t inverse = b;  // modulo 2^32, by Newton's iteration
    for (int i = 0; i < 5; ++i) inverse *= 2 - b * inverse;
    for (const uint32_t m : {inverse & kMask, (0 - inverse) & kMask}) {
      if (m < 1 << 24) continue;
      const uint64_t product = uint64_t{b} * m, a = (product + (1 << 24)) >> 25;
      in[a % in.size()] = static_cast<float>(a);
      expect_quotients(in, static_cast<float>(b));
    }
  }
}

template <class T>
void expect_special_quotients() {
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0),
                       -T(0),
                       T(1),
                       -T(1),
                       Limits::infinity(),
                       Limits::max(),
                       Limits::min(),
                       Limits::lowest(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::denorm_min(),
                       -Limits::denorm_min(),
                       Limits::min() / 3,
                       -Limits::min()};
  for (const T divisor : special)
    for (const T number : special) {
      std::vector<T> in(70, T(2.5));
      in[3] = in[17] = in[69] = number;
      expect_quotients(in, divisor);
      expect_quotients(in, T(-3));
    }
}
TEST(Quotient, OfSpecialNumbersBesideOthers) {
  expect_special_quotients<float>();
  expect_special_quotients<double>();
}

TEST(Quotient, OfRowsInPlace) {
  const RowsKernel rows = kernels().elementwise_rows[static_cast<int>(Op::div)][static_cast<int>(float32)];
  if (!rows) GTEST_SKIP() << "this instruction set has no kernel for rows";
  std::mt19937_64 engine(8);
  for (const int64_t n : {1, 5, 63, 64, 65, 100, 257}) {
    std::vector<float> values(static_cast<std::size_t>(3 * n)), divisors{3, -0.7f, 1e30f};
    for (float& value : values) value = random_number<float>(engine);
    std::vector<float> given = values;
    const Lanes in[] = {{given.data(), 1}, {divisors.data(), 0}};
    const int64_t row_bytes = n * static_cast<int64_t>(sizeof(float)), steps[] = {row_bytes, sizeof(float)};
    rows(given.data(), row_bytes, in, steps, n, 3);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float want = values[i] / divisors[i / static_cast<std::size_t>(n)];
      ASSERT_TRUE(std::isnan(want) ? std::isnan(given[i]) : std::memcmp(&given[i], &want, sizeof(want)) == 0)
          << values[i] << ", row of " << n << ": wanted " << want << ", got " << given[i];
    }
  }
}

}  // namespace
}  // namespace tenon
