// Powers of integers: as repeated products, of every length, of tensors and of numbers, also over an operand. Floats
// times powers of two: as the C library's.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernel/kernel.h"

namespace tenon {
namespace {

/// PyTorch's rule: powers wrap; below 0 only 1 and -1 have powers that are not 0.
template <class T>
T wanted_power(T number, T exponent) {
  if (std::is_signed_v<T> && exponent < 0) {
    if (number == static_cast<T>(-1)) return static_cast<T>(exponent % 2 == 0 ? 1 : -1);
    return number == 1 ? 1 : 0;
  }
  uint64_t result = 1, power = static_cast<uint64_t>(number);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest /= 2, power *= power)
    if (rest % 2 != 0) result *= power;
  return static_cast<T>(result);
}

template <class T>
T drawn_exponent(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0:
      return static_cast<T>(random());
    case 1:
      return std::numeric_limits<T>::max();
    case 2:
      return std::numeric_limits<T>::min();
    default:
      return static_cast<T>(random() % 20);
  }
}

template <class T>
void expect_powers() {
  std::mt19937_64 random(sizeof(T));
  const Kernel kernel = kernel_of(Op::pow, dtype_of_v<T>);
  for (int turn = 0; turn < 2000; ++turn) {
    const std::size_t n = 1 + random() % 200;
    const bool is_number = random() % 3 == 0, is_in_place = random() % 2 == 0, is_small = random() % 2 == 0;
    std::vector<T> a(n), b(n), wanted(n), apart(n);
    const T first = drawn_exponent<T>(random);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<T>(random() % 2 == 0 ? random() : random() % 5 - 2);
      b[i] = is_number ? first : is_small ? static_cast<T>(random() % 7) : drawn_exponent<T>(random);
      wanted[i] = wanted_power(a[i], b[i]);
    }
    T* const out = is_in_place ? a.data() : apart.data();
    const Lanes in[] = {{a.data(), 1}, {is_number ? &first : b.data(), is_number ? 0 : 1}};
    kernel(out, in, static_cast<int64_t>(n));
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(out[i], wanted[i]) << i << " of " << n << ", exponent " << +b[i] << (is_in_place ? ", in place" : "");
  }
}
TEST(Power, OfIntegers) {
  expect_powers<int8_t>();
  expect_powers<uint8_t>();
  expect_powers<int16_t>();
  expect_powers<int32_t>();
  expect_powers<int64_t>();
}

template <class T>
void expect_scaled() {
  std::mt19937_64 random(3);
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       -T{0},
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::denorm_min(),
                       Limits::min(),
                       Limits::max(),
                       Limits::lowest(),
                       T{1.5}};
  std::vector<T> a, b;
  for (const T number : special)
    for (const double exponent : {-1e30, -5000.0, -2100.0, -500.0, -150.0, -149.0, -1.0, 0.0, 24.0, 127.0, 280.0, 1e30})
      a.push_back(number), b.push_back(static_cast<T>(exponent));
  for (int i = 0; i < 20'000; ++i) {
    const auto part = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    a.push_back(std::ldexp(part, static_cast<int>(random() % 250) - 125));
    b.push_back(static_cast<T>(static_cast<int>(random() % 600) - 300));  // many results are subnormal
  }
  std::vector<T> got(a.size());
  const Lanes in[] = {{a.data(), 1}, {b.data(), 1}};
  kernel_of(Op::ldexp_integer, dtype_of_v<T>)(got.data(), in, static_cast<int64_t>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const T bounded = b[i] < -9000  ? T{-9000}
                      : b[i] > 9000 ? T{9000}
                                    : b[i],
            wanted = std::ldexp(a[i], static_cast<int>(bounded));
    EXPECT_EQ(std::memcmp(&got[i], &wanted, sizeof(T)), 0) << a[i] << " * 2^" << b[i] << ": " << got[i];
  }
}
TEST(Power, OfTwoTimesAFloatIsRoundedOnce) {
  expect_scaled<float>();
  expect_scaled<double>();
}

}  // namespace
}  // namespace tenon
