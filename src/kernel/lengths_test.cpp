// An elementwise kernel gives, for any number of lanes, the bytes that it gives for each lane alone, in place too.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "formula_arity.h"
#include "kernel/kernel.h"
#include "ops/row.h"
#include "tenon/dtype.h"

namespace tenon {
namespace {

constexpr int64_t kMost = 100, kGuard = 64;  // lanes; bytes around a result that stay as they are

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

/// Numbers between -2 and 2, and truths before them.
struct Operands {
  alignas(64) std::byte bytes[kMaxArgs][kMost * kMaxItemsize];
  Operands(Dtype dtype, bool condition_first) {
    std::mt19937_64 random(static_cast<uint64_t>(dtype) + 1);
    for (int operand = 0; operand < kMaxArgs; ++operand) {
      const bool is_condition = condition_first && operand == 0;
      for (int64_t i = 0; i < kMost; ++i) {
        const double value =
            is_condition ? static_cast<double>(random() % 2) : static_cast<double>(random() >> 11) * 0x1p-51 - 2;
        const Dtype own = is_condition ? bool_ : dtype;
        const Lanes from{&value, 1};
        kernels().cast[static_cast<int>(float64)][static_cast<int>(own)](bytes[operand] + i * itemsize(own), &from, 1);
      }
    }
  }
};

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
  for (int splats = 0; splats < (1 << tested.arity) - 1; ++splats) {
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
  int64_t steps[2];
  for (int operand = 0; operand < 2; ++operand)
    steps[operand] = (is_splat(splats, operand) ? 1 : n + 1) * tested.in[operand];
  const Lanes first[2] = {row_of_operand(memory[0], 0, 0), row_of_operand(memory[0], 1, 0)};
  const int64_t out_step = (n + 1) * tested.out;
  rows_kernel_of(op, dtype)(memory[0], out_step, first, steps, n, count);
  for (int64_t row = 0; row < count; ++row) {
    const Lanes in[2] = {row_of_operand(memory[1], 0, row), row_of_operand(memory[1], 1, row)};
    tested.kernel(memory[1] + row * out_step, in, n);
  }
  EXPECT_EQ(std::memcmp(memory[0], memory[1], sizeof(memory[0])), 0)
      << row_of(op).name << " of rows of " << n << " " << dtype_name(dtype) << ", splats " << splats << ", in place of "
      << own;
}

TEST(Lengths, RowsAreComputedAsEachAlone) {
  int compared = 0;
  for (int number = 0; number < kOpCount; ++number)
    for (const Dtype dtype : {int32, int64, float16, bfloat16, float32, float64}) {
      const Op op = static_cast<Op>(number);
      if (!rows_kernel_of(op, dtype)) continue;
      const Operands operands(dtype, false);
      for (int splats = 0; splats < 3; ++splats)
        for (int own = -1; own < 2; ++own) {
          if (own >= 0 && (is_splat(splats, own) || row_of(op).promotion == Promotion::comparison)) continue;
          for (int64_t n = 1; n <= kMost / 2; ++n) expect_rows(op, dtype, operands, splats, own, n);
          ++compared;
        }
    }
  EXPECT_TRUE(compared > 300 || kernels().vector_bytes == 16) << compared;
}

}  // namespace
}  // namespace tenon
