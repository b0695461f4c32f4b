// A kernel of 16-bit floats gives what the float32 kernel gives, rounded once; casts give what scalar conversions give.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "formula_arity.h"
#include "kernel/kernel.h"
#include "ops/row.h"
#include "tenon/dtype.h"
#include "type/half.h"

namespace tenon {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

float value_of(Dtype half, uint16_t bits) { return half == float16 ? float16_value(bits) : bfloat16_value(bits); }
uint16_t bits_of(Dtype half, float value) { return half == float16 ? float16_bits(value) : bfloat16_bits(value); }

/// The same bits; any NaN for a NaN.
bool is_same(Dtype half, uint16_t a, uint16_t b) {
  const float x = value_of(half, a), y = value_of(half, b);
  return a == b || (x != x && y != y);
}

/// Zeros, subnormal numbers, the largest ones, infinities, NaNs, and random bits.
std::vector<uint16_t> bits_of_every_kind(Dtype half) {
  std::mt19937 random(1);
  const int inf = half == float16 ? 0x7C00 : 0x7F80, smallest = half == float16 ? 0x400 : 0x80;
  std::vector<uint16_t> all;
  for (const int bits : {0, 1, 2, smallest - 1, smallest, inf - 1, inf, inf + 1, 0x7E00, 0x7FC0, 0x7FFF,
                         static_cast<int>(bits_of(half, 1)), static_cast<int>(bits_of(half, 1)) + 1})
    for (const int sign : {0, 0x8000}) all.push_back(static_cast<uint16_t>(bits | sign));
  while (all.size() < 120) all.push_back(static_cast<uint16_t>(random()));
  return all;
}

Kernel kernel_for(int op, Dtype dtype) { return kernels().elementwise[op][static_cast<int>(dtype)]; }

/// Whether 16-bit floats have the float32 formula, without other roundings.
bool rounds_once(Op op, Dtype half) {
  const Row& row = row_of(op);
  return row.promotion != Promotion::select && !row.stepwise && formula_of(op, half) == formula_of(op, float32) &&
         kernel_for(static_cast<int>(op), half) && kernel_for(static_cast<int>(op), float32) &&
         formulas::arity_of(op) >= 1;
}

/// Each number with each, one of several operands in turn a splat. The arguments behind the operands are always one.
void expect_rounded_once(Op op, Dtype half) {
  const std::vector<uint16_t> bits = bits_of_every_kind(half);
  const auto n = static_cast<int64_t>(bits.size());
  std::vector<float> wide;
  for (const uint16_t number : bits) wide.push_back(value_of(half, number));
  const int arity = formulas::arity_of(op), operands = operand_count(row_of(op), arity);
  const bool gives_truth = row_of(op).promotion == Promotion::comparison;
  for (int splat = 0; splat < arity; ++splat)
    for (std::size_t one = 0; one < (arity == 1 ? 1 : bits.size()); ++one) {
      Lanes in[kMaxArgs], wide_in[kMaxArgs];
      for (int k = 0; k < arity; ++k) {
        const bool is_splat = k >= operands || (operands > 1 && k == splat);
        in[k] = {bits.data() + (is_splat ? one : 0), is_splat ? 0 : 1};
        wide_in[k] = {wide.data() + (is_splat ? one : 0), is_splat ? 0 : 1};
      }
      std::vector<float> want(bits.size());
      std::vector<uint16_t> got(bits.size());
      kernel_for(static_cast<int>(op), float32)(want.data(), wide_in, n);
      kernel_for(static_cast<int>(op), half)(got.data(), in, n);
      if (gives_truth) {
        ASSERT_EQ(std::memcmp(want.data(), got.data(), bits.size()), 0)
            << row_of(op).name << " of " << dtype_name(half) << ", operand " << splat << " is " << wide[one];
        continue;
      }
      for (std::size_t i = 0; i < bits.size(); ++i)
        ASSERT_TRUE(is_same(half, got[i], bits_of(half, want[i])))
            << row_of(op).name << " of " << dtype_name(half) << ", operand " << splat << " is " << wide[one]
            << ", others are " << wide[i] << ": " << value_of(half, got[i]) << " instead of " << want[i];
    }
}

TEST(Half, KernelsRoundTheFloat32ResultOnce) {
  int compared = 0;
  for (int op = 0; op < kOpCount; ++op)
    for (const Dtype half : {float16, bfloat16})
      if (rounds_once(static_cast<Op>(op), half)) {
        expect_rounded_once(static_cast<Op>(op), half);
        ++compared;
      }
  EXPECT_GT(compared, 150);
}

/// Any number of lanes between guards, in place, too. One of several operands in turn is a splat, or none.
void expect_beside_numbers(Op op, Dtype half, Kernel kernel, const float* numbers, int count) {
  const std::vector<uint16_t> bits = bits_of_every_kind(half);
  const auto many = static_cast<int64_t>(bits.size());
  std::vector<float> wide;
  for (const uint16_t number : bits) wide.push_back(value_of(half, number));
  const int arity = formulas::arity_of(op), operands = arity - count;
  for (int splat = -1; splat < (operands > 1 ? operands : 0); ++splat) {
    Lanes in[kMaxArgs], wide_in[kMaxArgs];
    for (int k = 0; k < arity; ++k) {
      const auto start = static_cast<std::size_t>(5 * k);  // operands differ
      const bool is_number = k >= operands;
      in[k] = {is_number ? static_cast<const void*>(numbers + k - operands) : bits.data() + start,
               is_number || k == splat ? 0 : 1};
      wide_in[k] = {is_number ? numbers + k - operands : wide.data() + start, in[k].step};
    }
    const int64_t most = many - 5 * int64_t{kMaxArgs};
    std::vector<float> want(bits.size());
    kernel_for(static_cast<int>(op), float32)(want.data(), wide_in, most);
    for (int64_t n = 1; n <= most; ++n)
      for (const bool in_place : {false, true}) {
        if (in_place && splat == 0) continue;
        std::vector<uint16_t> got(bits.size() + 2, 0x5A5A);
        Lanes own[kMaxArgs];
        std::copy_n(in, arity, own);
        if (in_place) std::copy_n(bits.begin(), n, got.begin() + 1);
        if (in_place) own[0].data = got.data() + 1;
        kernel(got.data() + 1, own, n);
        ASSERT_EQ(got[0], 0x5A5A);
        ASSERT_EQ(got[static_cast<std::size_t>(n) + 1], 0x5A5A);
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
          ASSERT_TRUE(is_same(half, got[i + 1], bits_of(half, want[i])))
              << row_of(op).name << " of " << n << " " << dtype_name(half) << " beside " << numbers[0] << ", lane " << i
              << ": " << value_of(half, got[i + 1]) << " instead of " << want[i];
      }
  }
}
TEST(Half, KernelsBesideNumbersRoundTheFloat32ResultOnce) {
  const std::vector<std::vector<float>> numbers[] = {
      {{0.3f}, {-1.7f}, {0}, {kLargest}, {std::numeric_limits<float>::infinity()}, {std::nanf("")}},
      {{0.3f, 7.1f}, {-1.7f, std::nanf("")}},
      {{1.3f, 0.7f, 1.1f}, {-2, 1, 0.5f}, {std::nanf(""), kLargest, -kLargest}}};
  int compared = 0;
  for (int op = 0; op < kOpCount; ++op)
    for (const Dtype half : {float16, bfloat16}) {
      const Kernel kernel = kernels().beside_numbers[op][half_column(half)];
      if (!kernel) continue;
      const Row& row = row_of(static_cast<Op>(op));
      const int arity = formulas::arity_of(static_cast<Op>(op));
      const int count = numbers_beside(row, arity);
      for (const std::vector<float>& few : numbers[count - 1])
        expect_beside_numbers(static_cast<Op>(op), half, kernel, few.data(), count);
      ++compared;
    }
  EXPECT_EQ(compared, std::string(kernels().name) == "baseline" ? 0 : 26);
}

// Beside a splat, which is not widened again.
TEST(Half, ManyNumbersAreThoseOfFew) {
  for (const Dtype half : {float16, bfloat16})
    for (const Op op : {Op::pow, Op::atan2, Op::hypot}) {
      const Kernel kernel = kernel_for(static_cast<int>(op), half);
      const std::vector<uint16_t> many(1000, bits_of(half, 2)), one(1, bits_of(half, 3));
      std::vector<uint16_t> got(many.size()), want(1);
      const Lanes in[] = {{many.data(), 1}, {one.data(), 0}};
      kernel(want.data(), in, 1);
      kernel(got.data(), in, static_cast<int64_t>(many.size()));
      EXPECT_EQ(got, std::vector<uint16_t>(many.size(), want[0])) << row_of(op).name << " of " << dtype_name(half);
    }
}

TEST(Half, EveryNumberIsWidenedAndRoundedBack) {
  std::vector<uint16_t> bits(1 << 16), back(1 << 16);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(1 << 16);
  for (const Dtype half : {float16, bfloat16}) {
    const Lanes from{bits.data(), 1}, wide_from{wide.data(), 1};
    kernels().cast[static_cast<int>(half)][static_cast<int>(float32)](wide.data(), &from, 1 << 16);
    kernels().cast[static_cast<int>(float32)][static_cast<int>(half)](back.data(), &wide_from, 1 << 16);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const float want = value_of(half, bits[i]);
      ASSERT_TRUE(std::bit_cast<uint32_t>(wide[i]) == std::bit_cast<uint32_t>(want) || want != want) << i;
      ASSERT_TRUE(is_same(half, back[i], bits[i])) << i;
    }
  }
}

/// A cast that goes by float32, of any number of lanes.
TEST(Half, CastsGoByFloat32) {
  constexpr int64_t kMost = 600;
  std::mt19937 random(2);
  std::vector<double> numbers(kMost);
  for (double& number : numbers) number = static_cast<double>(static_cast<int64_t>(random() % 240) - 100) / 2;
  const auto cast = [](Dtype from, Dtype to) { return kernels().cast[static_cast<int>(from)][static_cast<int>(to)]; };
  for (const Dtype half : {float16, bfloat16})
    for (const Dtype other : {bool_, uint8, int8, int16, int32, int64, float64, float16, bfloat16}) {
      if (half == other) continue;
      const auto expect_same = [&](Dtype from, Dtype to) {
        std::vector<std::byte> in(kMost * 8), want(kMost * 8), got(kMost * 8);
        std::vector<float> wide(kMost);
        const Lanes first{numbers.data(), 1}, lanes{in.data(), 1}, wide_lanes{wide.data(), 1};
        cast(float64, from)(in.data(), &first, kMost);
        for (const int64_t n : {int64_t{1}, int64_t{7}, int64_t{31}, int64_t{100}, kMost}) {
          std::fill(want.begin(), want.end(), std::byte{0x5A});
          got = want;
          cast(from, float32)(wide.data(), &lanes, n);
          cast(float32, to)(want.data(), &wide_lanes, n);
          cast(from, to)(got.data(), &lanes, n);
          ASSERT_EQ(want, got) << n << " " << dtype_name(from) << " to " << dtype_name(to);
        }
      };
      expect_same(half, other);
      expect_same(other, half);
    }
}

}  // namespace
}  // namespace tenon
