// Kernels that compute with bits: shifts by any number, truths of any bytes, and the neighbours of 16-bit floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernel/kernel.h"
#include "ops/row.h"
#include "tenon/dtype.h"
#include "type/half.h"

namespace tenon {
namespace {

Kernel kernel_for(Op op, Dtype dtype) { return kernels().elementwise[static_cast<int>(op)][static_cast<int>(dtype)]; }

/// A shift by one bit after the other.
template <class T>
T shifted(T a, T by, bool left) {
  const T last = left || a >= 0 ? T{0} : static_cast<T>(-1);
  if (by < 0 || static_cast<int64_t>(by) >= static_cast<int64_t>(8 * sizeof(T))) return last;
  for (; by > 0; --by) a = static_cast<T>(left ? static_cast<std::make_unsigned_t<T>>(a) << 1 : a >> 1);
  return a;
}
template <class T>
class Shifts : public testing::Test {};
using Integers = testing::Types<uint8_t, int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Shifts, Integers);
TYPED_TEST(Shifts, ByAnyNumberAreThoseByOneBitAfterTheOther) {
  using T = TypeParam;
  std::mt19937_64 random(7);
  std::vector<T> a(3000), by(a.size()), got(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<T>(random());
    by[i] = random() % 4 == 0 ? static_cast<T>(random()) : static_cast<T>(static_cast<int>(random() % 70) - 3);
  }
  for (const bool left : {false, true})
    for (const bool is_splat : {false, true}) {
      const Kernel kernel = kernel_for(left ? Op::bitwise_left_shift : Op::bitwise_right_shift, dtype_of_v<T>);
      for (std::size_t n = 1; n <= a.size(); n += n < 150 ? 1 : 571) {
        const std::size_t one = n % a.size();
        const Lanes in[] = {{a.data(), 1}, {by.data() + (is_splat ? one : 0), is_splat ? 0 : 1}};
        kernel(got.data(), in, static_cast<int64_t>(n));
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_EQ(got[i], shifted(a[i], by[is_splat ? one : i], left))
              << +a[i] << (left ? " << " : " >> ") << +by[is_splat ? one : i] << ", lane " << i << " of " << n;
      }
    }
}

template <class T>
bool compared(Op op, T a, T b) {
  switch (op) {
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::gt:
      return a > b;
    case Op::ge:
      return a >= b;
    case Op::eq:
      return a == b;
    default:
      return a != b;
  }
}
/// Of up to three blocks of lanes and rests; each operand also as one number.
template <class T>
void expect_comparisons(const std::vector<T>& numbers) {
  std::mt19937 random(7);
  std::vector<T> a(110), b(a.size());
  for (std::vector<T>* drawn : {&a, &b})
    for (T& number : *drawn) number = numbers[random() % numbers.size()];
  for (const Op op : {Op::lt, Op::le, Op::gt, Op::ge, Op::eq, Op::ne})
    for (int splats = 0; splats < 3; ++splats)
      for (std::size_t n = 1; n <= a.size(); ++n) {
        std::vector<uint8_t> got(n + 1, 77);
        const int64_t a_step = splats == 1 ? 0 : 1, b_step = splats == 2 ? 0 : 1;
        const Lanes in[] = {{a.data(), a_step}, {b.data(), b_step}};
        kernel_for(op, dtype_of_v<T>)(got.data(), in, static_cast<int64_t>(n));
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_EQ(got[i], compared(op, a[a_step == 0 ? 0 : i], b[b_step == 0 ? 0 : i]) ? 1 : 0)
              << row_of(op).name << " " << dtype_name(dtype_of_v<T>) << ", lane " << i << " of " << n;
        EXPECT_EQ(got[n], 77);
      }
}
TEST(Truths, ComparisonsAreThoseOfCpp) {
  using Limits = std::numeric_limits<double>;
  expect_comparisons<int64_t>({0, 1, -1, int64_t{1} << 40, std::numeric_limits<int64_t>::min()});
  expect_comparisons<int32_t>({0, 1, -1, 1 << 20});
  expect_comparisons<float>({0, -0.0f, 1.5f, -2, std::numeric_limits<float>::quiet_NaN()});
  expect_comparisons<double>({0, -0.0, 1.5, -2, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()});
}

TEST(Truths, KindsOfNumbersAreThoseOfCpp) {
  using Limits = std::numeric_limits<double>;
  const double numbers[] = {0,
                            -0.0,
                            -Limits::denorm_min(),
                            1.5,
                            -2,
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            -Limits::quiet_NaN()};
  const std::pair<Op, bool (*)(double)> kinds[] = {
      {Op::isnan, [](double x) { return std::isnan(x); }},
      {Op::isinf, [](double x) { return std::isinf(x); }},
      {Op::isfinite, [](double x) { return std::isfinite(x); }},
      {Op::isposinf, [](double x) { return std::isinf(x) && x > 0; }},
      {Op::isneginf, [](double x) { return std::isinf(x) && x < 0; }},
      {Op::signbit, [](double x) { return std::signbit(x); }},
  };
  for (const auto& [op, is_of_kind] : kinds)
    for (std::size_t n = 1; n <= 110; ++n) {
      std::vector<double> in(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = numbers[i * i % std::size(numbers)];
      std::vector<uint8_t> got(n + 1, 77);
      const Lanes lanes{in.data(), 1};
      kernel_for(op, float64)(got.data(), &lanes, static_cast<int64_t>(n));
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(got[i], is_of_kind(in[i]) ? 1 : 0) << row_of(op).name << " of " << in[i] << ", " << i << " of " << n;
      EXPECT_EQ(got[n], 77);
    }
}

TEST(Truths, AnyByteIsTestedForNonzero) {
  std::mt19937 random(7);
  std::vector<uint8_t> a(1000), b(a.size()), got(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::vector<uint8_t>* bytes : {&a, &b}) (*bytes)[i] = static_cast<uint8_t>(random() % 2 ? random() : 0);
  for (const Op op : {Op::logical_and, Op::logical_or, Op::logical_xor, Op::logical_not, Op::bitwise_and,
                      Op::bitwise_or, Op::bitwise_xor, Op::add, Op::mul})
    for (const Dtype dtype : {bool_, uint8, int8}) {
      if (row_of(op).promotion != Promotion::logical && dtype != bool_) continue;
      const Lanes in[] = {{a.data(), 1}, {b.data(), 1}};
      kernel_for(op, dtype)(got.data(), in, static_cast<int64_t>(a.size()));
      for (std::size_t i = 0; i < a.size(); ++i) {
        const bool x = a[i] != 0, y = b[i] != 0;
        const bool is_and = op == Op::logical_and || op == Op::bitwise_and || op == Op::mul;
        const bool is_or = op == Op::logical_or || op == Op::bitwise_or || op == Op::add;
        const bool want = op == Op::logical_not ? !x : is_and ? x && y : is_or ? x || y : x != y;
        ASSERT_EQ(got[i], want ? 1 : 0) << row_of(op).name << " of " << +a[i] << " and " << +b[i];
      }
    }
}

/// The next number, found among all.
TEST(Neighbours, OfEveryHalfTowardsOthers) {
  for (const Dtype half : {float16, bfloat16}) {
    const auto value_of = [half](int bits) {
      return half == float16 ? float16_value(static_cast<uint16_t>(bits)) : bfloat16_value(static_cast<uint16_t>(bits));
    };
    const int infinity = half == float16 ? 0x7C00 : 0x7F80;
    std::vector<uint16_t> from(1 << 16), towards(1 << 16), got(1 << 16);
    for (const int other : {0, 0x8000, 1, 0x8001, 0x3C00, 0xBC00, infinity, 0x8000 | infinity, infinity + 1}) {
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint16_t>(i);
      std::fill(towards.begin(), towards.end(), static_cast<uint16_t>(other));
      const Lanes in[] = {{from.data(), 1}, {towards.data(), other % 2 == 0 ? 1 : 0}};
      kernel_for(Op::nextafter, half)(got.data(), in, 1 << 16);
      for (int bits = 0; bits < 1 << 16; ++bits) {
        const float a = value_of(bits), b = value_of(other), next = value_of(got[static_cast<std::size_t>(bits)]);
        if (a != a || b != b) {
          ASSERT_NE(next, next);
        } else if (a == b) {
          ASSERT_EQ(got[static_cast<std::size_t>(bits)], other);
        } else {
          // Nothing lies between both.
          ASSERT_TRUE(b > a ? next > a : next < a) << a << " towards " << b << " gives " << next;
          const int back = b > a ? (bits & 0x8000 ? -1 : 1) : (bits & 0x8000 ? 1 : -1);
          const int wanted = a == 0 ? (b < 0 ? 0x8001 : 1) : bits + back;
          ASSERT_EQ(got[static_cast<std::size_t>(bits)], wanted) << a << " towards " << b;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon
