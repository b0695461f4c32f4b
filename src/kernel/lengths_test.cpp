// An elementwise kernel gives, for any number of lanes, the bytes that it gives for each lane alone, in place too.
#include <gtest/gtest.h>

#include <algorithm>
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

namespace tenon {
namespace {

constexpr int64_t kMost = 140, kGuard = 64;  // lanes; bytes around a result that stay as they are

/// A kernel of the op and the bytes of its lanes.
struct Tested {
  Kernel kernel;
  int arity;
  int64_t in[kMaxArgs];
  int64_t out;

  Tested(Op op, Dtype dtype)
      : kernel(kernels().elementwise[static_cast<int>(op)][static_cast<int>(dtype)]),
        arity(formulas::arity_of(op)),
        out(itemsize(dtype)) {
    const Promotion promotion = row_of(op).promotion;
    for (int64_t& size : in) size = itemsize(dtype);
    if (promotion == Promotion::select) in[0] = 1;
    if (promotion == Promotion::comparison || promotion == Promotion::logical) out = 1;
  }
};

enum class Drawn { numbers, with_nan };
/// Numbers between -2 and 2, some of them NaN, and truths before them.
struct Operands {
  alignas(64) std::byte bytes[kMaxArgs][kMost * kMaxItemsize];
  Operands(Dtype dtype, bool condition_first, Drawn kind = Drawn::numbers) {
    std::mt19937_64 random(static_cast<uint64_t>(dtype) + 1);
    for (int operand = 0; operand < kMaxArgs; ++operand) {
      const bool is_condition = condition_first && operand == 0;
      for (int64_t i = 0; i < kMost; ++i) {
        const double number = static_cast<double>(random() >> 11) * 0x1p-51 - 2;
        const double drawn =
            kind == Drawn::with_nan && is_floating_point(dtype) && random() % 8 == 0 ? std::nan("") : number;
        const double value = is_condition ? static_cast<double>(random() % 2) : drawn;
        const Dtype own = is_condition ? bool_ : dtype;
        const Lanes from{&value, 1};
        kernels().cast[static_cast<int>(float64)][static_cast<int>(own)](bytes[operand] + i * itemsize(own), &from, 1);
      }
    }
  }
};

/// The arguments that are numbers, as bits: kernels may read them once, whatever their step.
int numbers_of(Op op, int arity) {
  const int operands = operand_count(row_of(op), arity);
  return (1 << arity) - (1 << operands);
}

bool is_splat(int splats, int operand) { return (splats >> operand & 1) != 0; }

void compute_alone(const Tested& tested, const Operands& operands, int splats, std::byte* to) {
  for (int64_t i = 0; i < kMost; ++i) {
    Lanes in[kMaxArgs];
    for (int k = 0; k < tested.arity; ++k)
      in[k] = {operands.bytes[k] + (is_splat(splats, k) ? 0 : i * tested.in[k]), 1};
    tested.kernel(to + i * tested.out, in, 1);
  }
}

/// Computes `n` lanes into memory between guards, or in place of operand `own`. Returns whether all bytes are right.
bool gives(const Tested& tested, const Operands& operands, int splats, int own, int64_t n, const std::byte* want) {
  alignas(64) std::byte memory[kGuard + kMost * kMaxItemsize + kGuard];
  std::memset(memory, 0x5A, sizeof(memory));
  std::byte* const out = memory + kGuard;
  Lanes in[kMaxArgs];
  for (int k = 0; k < tested.arity; ++k) in[k] = {operands.bytes[k], is_splat(splats, k) ? 0 : 1};
  if (own >= 0) {
    std::memcpy(out, operands.bytes[own], static_cast<std::size_t>(n * tested.in[own]));
    in[own].data = out;
  }
  tested.kernel(out, in, n);
  const auto is_guard = [&](const std::byte* from, const std::byte* end) {
    for (; from < end; ++from)
      if (*from != std::byte{0x5A}) return false;
    return true;
  };
  return std::memcmp(out, want, static_cast<std::size_t>(n * tested.out)) == 0 && is_guard(memory, out) &&
         is_guard(out + n * tested.out, memory + sizeof(memory));
}

void expect_every_length(Op op, Dtype dtype) {
  const Tested tested(op, dtype);
  const Operands operands(dtype, row_of(op).promotion == Promotion::select);
  alignas(64) std::byte want[kMost * kMaxItemsize];
  const int numbers = numbers_of(op, tested.arity);
  for (int splats = 0; splats < (1 << tested.arity) - 1; ++splats) {
    if ((splats & numbers) != numbers) continue;
    compute_alone(tested, operands, splats, want);
    for (int own = -1; own < tested.arity; ++own) {
      if (own >= 0 && (is_splat(splats, own) || tested.in[own] != tested.out)) continue;
      for (int64_t n = 1; n <= kMost; ++n)
        ASSERT_TRUE(gives(tested, operands, splats, own, n, want))
            << row_of(op).name << " of " << n << " " << dtype_name(dtype) << ", splats " << splats << ", in place of "
            << own;
    }
  }
}

TEST(Lengths, AnyNumberOfIntegersIsComputedAsEachAlone) {
  for (int number = 0; number < kOpCount; ++number)
    for (const Dtype dtype : {bool_, uint8, int8, int16, int32, int64}) {
      const Op op = static_cast<Op>(number);
      if (kernels().elementwise[number][static_cast<int>(dtype)] && (row_of(op).short_rows || op == Op::where))
        expect_every_length(op, dtype);
    }
}

TEST(Lengths, AnyNumberOfLanesIsComputedAsEachAlone) {
  int compared = 0;
  for (int op = 0; op < kOpCount; ++op)
    for (const Dtype dtype : {float16, bfloat16, float32, float64}) {
      if (!kernels().elementwise[op][static_cast<int>(dtype)] || formulas::arity_of(static_cast<Op>(op)) == 0) continue;
      expect_every_length(static_cast<Op>(op), dtype);
      ++compared;
    }
  EXPECT_GT(compared, 250);
}

/// Computes rows of `n` lanes with gaps of one lane, by one call and row by row. `own`: the operand that is the output,
/// or -1.
void expect_rows(Op op, Dtype dtype, const Operands& operands, int splats, int own, int64_t n) {
  const Tested tested(op, dtype);
  const int64_t count = kMost / (n + 1);
  alignas(64) std::byte memory[2][kMost * kMaxItemsize];
  for (std::byte* to : {memory[0], memory[1]}) {
    std::memset(to, 0x5A, sizeof(memory[0]));
    if (own >= 0) std::memcpy(to, operands.bytes[own], static_cast<std::size_t>(kMost * tested.in[own]));
  }
  const auto row_of_operand = [&](std::byte* to, int operand, int64_t row) -> Lanes {
    const bool splat = is_splat(splats, operand);
    const std::byte* from = operand == own ? to : operands.bytes[operand];
    return {from + row * (splat ? 1 : n + 1) * tested.in[operand], splat ? 0 : 1};
  };
  int64_t steps[kMaxArgs];
  Lanes first[kMaxArgs];
  for (int operand = 0; operand < tested.arity; ++operand) {
    steps[operand] = (is_splat(splats, operand) ? 1 : n + 1) * tested.in[operand];
    first[operand] = row_of_operand(memory[0], operand, 0);
  }
  const int64_t out_step = (n + 1) * tested.out;
  rows_kernel_of(op, dtype)(memory[0], out_step, first, steps, n, count);
  for (int64_t row = 0; row < count; ++row) {
    Lanes in[kMaxArgs];
    for (int operand = 0; operand < tested.arity; ++operand) in[operand] = row_of_operand(memory[1], operand, row);
    tested.kernel(memory[1] + row * out_step, in, n);
  }
  EXPECT_EQ(std::memcmp(memory[0], memory[1], sizeof(memory[0])), 0)
      << row_of(op).name << " of rows of " << n << " " << dtype_name(dtype) << ", splats " << splats << ", in place of "
      << own;
}

TEST(Lengths, RowsAreComputedAsEachAlone) {
  int compared = 0;
  for (int number = 0; number < kOpCount; ++number)
    for (const Dtype dtype : {uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64}) {
      const Op op = static_cast<Op>(number);
      if (!rows_kernel_of(op, dtype)) continue;
      const Tested tested(op, dtype);
      const Operands operands(dtype, row_of(op).promotion == Promotion::select, Drawn::with_nan);
      for (int splats = 0; splats < (1 << tested.arity) - 1; ++splats)
        for (int own = -1; own < tested.arity; ++own) {
          if (own >= 0 && (is_splat(splats, own) || tested.in[own] != tested.out)) continue;
          for (int64_t n = 1; n < kMost; ++n) expect_rows(op, dtype, operands, splats, own, n);
          ++compared;
        }
    }
  EXPECT_TRUE(compared > 300 || kernels().vector_bytes == 16) << compared;
}

/// Every pair of `values`, by the kernel and by the C++ operator.
template <class T, class Formula>
void expect_pairs(Op op, const std::vector<T>& values, const Formula& formula) {
  using Out = decltype(formula(T{}, T{}));
  const Kernel kernel = kernel_of(op, dtype_of_v<T>);
  std::vector<Out> results(values.size());
  for (const T a : values) {
    const Lanes in[2] = {{&a, 0}, {values.data(), 1}};
    kernel(results.data(), in, static_cast<int64_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(results[i], formula(a, values[i])) << row_of(op).name << " of " << +a << " and " << +values[i];
  }
}
template <class T>
void expect_comparisons(const std::vector<T>& values) {
  expect_pairs(Op::eq, values, [](T a, T b) -> uint8_t { return a == b; });
  expect_pairs(Op::ne, values, [](T a, T b) -> uint8_t { return a != b; });
  expect_pairs(Op::lt, values, [](T a, T b) -> uint8_t { return a < b; });
  expect_pairs(Op::le, values, [](T a, T b) -> uint8_t { return a <= b; });
  expect_pairs(Op::gt, values, [](T a, T b) -> uint8_t { return a > b; });
  expect_pairs(Op::ge, values, [](T a, T b) -> uint8_t { return a >= b; });
}
template <class T>
void expect_integers(const std::vector<T>& values) {
  const auto wrapped = [](uint64_t value) { return static_cast<T>(value); };
  const auto wide = [](T value) { return static_cast<uint64_t>(value); };
  expect_comparisons(values);
  expect_pairs(Op::add, values, [&](T a, T b) { return wrapped(wide(a) + wide(b)); });
  expect_pairs(Op::sub, values, [&](T a, T b) { return wrapped(wide(a) - wide(b)); });
  expect_pairs(Op::mul, values, [&](T a, T b) { return wrapped(wide(a) * wide(b)); });
  expect_pairs(Op::maximum, values, [](T a, T b) { return std::max(a, b); });
  expect_pairs(Op::minimum, values, [](T a, T b) { return std::min(a, b); });
}
/// The ends of the range, what is around 0, and powers of 2.
template <class T>
std::vector<T> values_of() {
  std::vector<T> values;
  for (int i = -20; i <= 20; ++i) values.push_back(static_cast<T>(i));
  for (int i = 0; i < 8; ++i) values.push_back(static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(i)));
  for (int i = 0; i < 8; ++i) values.push_back(static_cast<T>(std::numeric_limits<T>::lowest() + static_cast<T>(i)));
  if constexpr (std::is_integral_v<T>)
    for (std::size_t bit = 0; bit < 8 * sizeof(T); ++bit) values.push_back(static_cast<T>(uint64_t{1} << bit));
  return values;
}
template <class T>
std::vector<T> special_floats() {
  std::vector<T> values = values_of<T>();
  using Limits = std::numeric_limits<T>;
  for (const T value : {Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min(), T{0}, T{1.5}}) {
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}
TEST(Lengths, PairsAreWhatCppGives) {
  std::vector<int8_t> bytes;
  std::vector<uint8_t> unsigned_bytes;
  for (int i = 0; i < 256; ++i) {
    bytes.push_back(static_cast<int8_t>(i - 128));
    unsigned_bytes.push_back(static_cast<uint8_t>(i));
  }
  expect_integers(bytes);
  expect_integers(unsigned_bytes);
  expect_integers(values_of<int16_t>());
  expect_integers(values_of<int32_t>());
  expect_integers(values_of<int64_t>());
  expect_comparisons(special_floats<float>());
  expect_comparisons(special_floats<double>());
}

}  // namespace
}  // namespace tenon
