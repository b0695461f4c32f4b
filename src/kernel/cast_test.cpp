// Casts of floats to integers truncate, of any number of lanes; where int32 has no such number they give its smallest
// one, or the low bits of that. Any byte but 0 is true.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "kernel/kernel.h"
#include "type/half.h"

namespace tenon {
namespace {

template <class To, class From>
std::vector<To> run_cast(Dtype from, Dtype to, const std::vector<From>& in) {
  std::vector<To> out(in.size() + 1, To(77));
  const Lanes lanes{in.data(), 1};
  kernels().cast[static_cast<int>(from)][static_cast<int>(to)](out.data(), &lanes, static_cast<int64_t>(in.size()));
  EXPECT_EQ(out.back(), To(77)) << "written behind the end";
  out.pop_back();
  return out;
}

template <class From>
std::vector<From> drawn_floats(int64_t count) {
  const From special[] = {0,
                          From(-0.0),
                          From(0.9),
                          From(-0.9),
                          From(127.5),
                          From(-128.9),
                          From(300.25),
                          From(-70000.5),
                          From(2147483520),
                          From(2147483648.0),
                          From(-2147483648.0),
                          From(1e20),
                          From(-1e20),
                          std::numeric_limits<From>::infinity(),
                          -std::numeric_limits<From>::infinity(),
                          std::numeric_limits<From>::quiet_NaN(),
                          std::numeric_limits<From>::denorm_min()};
  std::vector<From> in;
  for (int64_t i = 0; i < count; ++i) in.push_back(special[static_cast<std::size_t>(i) % std::size(special)]);
  return in;
}

template <class From, class To>
void expect_truncated() {
  for (int64_t count = 1; count < 80; ++count) {
    const std::vector<From> in = drawn_floats<From>(count);
    const std::vector<To> out = run_cast<To>(dtype_of_v<From>, dtype_of_v<To>, in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool fits = in[i] >= From(-2147483648.0) && in[i] < From(2147483648.0);
      const int32_t whole = fits ? static_cast<int32_t>(in[i]) : std::numeric_limits<int32_t>::min();
      ASSERT_EQ(out[i], static_cast<To>(whole)) << in[i] << " to " << dtype_name(dtype_of_v<To>) << ", of " << count;
    }
  }
}

TEST(Cast, TruncatesFloatsToNarrowIntegers) {
  expect_truncated<float, int8_t>();
  expect_truncated<float, uint8_t>();
  expect_truncated<float, int16_t>();
  expect_truncated<float, int32_t>();
  expect_truncated<double, int8_t>();
  expect_truncated<double, uint8_t>();
  expect_truncated<double, int16_t>();
  expect_truncated<double, int32_t>();
}

/// All bfloat16, and a few of them.
template <class To>
void expect_bfloat16_as_floats() {
  for (const int64_t count : {1, 3, 7, 8, 9, 15, 17, 23, 31, 33, 1 << 16}) {
    std::vector<uint16_t> in;
    std::vector<float> wide;
    for (int64_t i = 0; i < count; ++i) {
      in.push_back(static_cast<uint16_t>(count < 1 << 16 ? 0x4000 + i * 0x101 : i));
      wide.push_back(bfloat16_value(in.back()));
    }
    const Dtype to = dtype_of_v<To>;
    ASSERT_EQ(run_cast<To>(bfloat16, to, in), run_cast<To>(float32, to, wide)) << count << " to " << dtype_name(to);
  }
}

TEST(Cast, TruncatesBfloat16AsFloats) {
  expect_bfloat16_as_floats<int8_t>();
  expect_bfloat16_as_floats<uint8_t>();
  expect_bfloat16_as_floats<int16_t>();
  expect_bfloat16_as_floats<int32_t>();
  expect_bfloat16_as_floats<int64_t>();
  expect_bfloat16_as_floats<uint32_t>();
}

/// PyTorch's rules: what has no int64 is the smallest one, uint32 is its low half, and uint64 has 2^63 numbers more.
template <class From>
int64_t truncated_to_int64(From value) {
  const bool fits = value >= From(-0x1p63) && value < From(0x1p63);
  return fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
}
template <class From, class To>
To truncated_to_wide(From value) {
  if constexpr (std::is_same_v<To, uint64_t>)
    if (value >= From(0x1p63))
      return static_cast<uint64_t>(truncated_to_int64(value - From(0x1p63))) ^ (uint64_t{1} << 63);
  return static_cast<To>(truncated_to_int64(value));
}
template <class From, class To>
void expect_truncated_to_wide() {
  for (int64_t count = 1; count < 80; ++count) {
    std::vector<From> in = drawn_floats<From>(count);
    for (int64_t i = 0; i < count / 2; ++i)  // vectors whose numbers all fit in 32 bits
      in[static_cast<std::size_t>(i)] = static_cast<From>(i - 20) * From(1.7);
    in.push_back(From(9.3e18));
    const std::vector<To> out = run_cast<To>(dtype_of_v<From>, dtype_of_v<To>, in);
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], (truncated_to_wide<From, To>(in[i]))) << in[i] << " to " << dtype_name(dtype_of_v<To>);
  }
}
TEST(Cast, TruncatesFloatsToWideIntegers) {
  expect_truncated_to_wide<float, int64_t>();
  expect_truncated_to_wide<float, uint64_t>();
  expect_truncated_to_wide<float, uint32_t>();
  expect_truncated_to_wide<double, int64_t>();
  expect_truncated_to_wide<double, uint64_t>();
  expect_truncated_to_wide<double, uint32_t>();
}

TEST(Cast, TakesAnyByteButZeroForTrue) {
  for (std::size_t count = 1; count < 80; ++count) {
    std::vector<uint8_t> in;
    for (std::size_t i = 0; i < count; ++i) in.push_back(static_cast<uint8_t>(i % 3 == 0 ? 0 : i * 37));
    const std::vector<float> few = run_cast<float>(bool_, float32, in);
    const std::vector<int64_t> wide = run_cast<int64_t>(bool_, int64, in);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(few[i], in[i] != 0 ? 1.0f : 0.0f) << static_cast<int>(in[i]) << ", of " << count;
      ASSERT_EQ(wide[i], in[i] != 0 ? 1 : 0) << static_cast<int>(in[i]) << ", of " << count;
    }
  }
}

/// Of any number of lanes; `numbers`: some that are 0 and others.
template <class From>
void expect_truths(const std::vector<From>& numbers, bool (*is_true)(From)) {
  for (std::size_t count = 1; count < 110; ++count) {
    std::vector<From> in;
    for (std::size_t i = 0; i < count; ++i) in.push_back(numbers[i * i % numbers.size()]);
    const std::vector<uint8_t> truths = run_cast<uint8_t>(dtype_of_v<From>, bool_, in);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(truths[i], is_true(in[i]) ? 1 : 0)
          << "lane " << i << " of " << count << " " << dtype_name(dtype_of_v<From>);
  }
}
template <class T>
void expect_truths_of_floats() {
  const T nan = std::numeric_limits<T>::quiet_NaN(), tiny = std::numeric_limits<T>::denorm_min();
  const std::vector<T> numbers = {0, T(-0.0), tiny, -tiny, nan, 1, -2};
  expect_truths<T>(numbers, [](T number) { return number != 0; });
  std::vector<Complex<T>> pairs;
  for (const T re : numbers)
    for (const T im : numbers) pairs.push_back({re, im});
  expect_truths<Complex<T>>(pairs, [](Complex<T> number) { return number.re != 0 || number.im != 0; });
}
TEST(Cast, TakesAnyNumberButZeroForTrue) {
  expect_truths_of_floats<float>();
  expect_truths_of_floats<double>();
  expect_truths<int64_t>({0, 1, -1, int64_t{1} << 32, std::numeric_limits<int64_t>::min()},
                         [](int64_t number) { return number != 0; });
  expect_truths<int32_t>({0, 1, -1, 1 << 16}, [](int32_t number) { return number != 0; });
}

}  // namespace
}  // namespace tenon
