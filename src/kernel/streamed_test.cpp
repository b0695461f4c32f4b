// A kernel with streaming stores gives the same bytes as the plain kernel, whichever inputs are splats.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "formula_arity.h"
#include "kernel/kernel.h"
#include "ops/row.h"
#include "tenon/dtype.h"

namespace tenon {
namespace {

constexpr int64_t kNumel = 3 * kStreamedLanes;

/// Small positive numbers: no op gives NaN and no integer is divided by 0.
struct Operands {
  alignas(64) std::byte bytes[kMaxArgs][kNumel * kMaxItemsize];
  Operands(Dtype dtype, bool condition_first) {
    std::mt19937_64 random(static_cast<uint64_t>(dtype) + 1);
    std::uniform_int_distribution<int64_t> draw(1, 9), truth(0, 1);
    for (int operand = 0; operand < kMaxArgs; ++operand) {
      const bool condition = condition_first && operand == 0;
      const Dtype own = condition ? Dtype::bool_ : dtype;
      for (int64_t i = 0; i < kNumel; ++i) {
        const int64_t value = condition ? truth(random) : draw(random);
        const Lanes from{&value, 1};
        kernels().cast[static_cast<int>(Dtype::int64)][static_cast<int>(own)](bytes[operand] + i * itemsize(own), &from,
                                                                              1);
      }
    }
  }
};

/// The arguments behind the first `operand_count` are numbers: splats.
void expect_same(Kernel plain, Kernel streamed, int operand_count, const Operands& operands, const std::string& what) {
  alignas(64) static std::byte want[kNumel * kMaxItemsize], got[kNumel * kMaxItemsize];
  for (int splats = 0; splats < (1 << operand_count) - 1; ++splats) {
    Lanes in[kMaxArgs];
    for (int i = 0; i < kMaxArgs; ++i)
      in[i] = {operands.bytes[i], i >= operand_count || (splats >> i & 1) != 0 ? 0 : 1};
    std::memset(want, 0, sizeof(want));
    std::memset(got, 0, sizeof(got));
    plain(want, in, kNumel);
    streamed(got, in, kNumel);
    EXPECT_EQ(std::memcmp(want, got, sizeof(want)), 0) << what << ", splats " << splats;
  }
}

TEST(Streamed, EveryKernelGivesThePlainBytes) {
  int compared = 0;
  for (int op = 0; op < kOpCount; ++op) {
    const Row& row = row_of(static_cast<Op>(op));
    for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
      const Kernel streamed = kernels().elementwise_streamed[op][dtype];
      if (!streamed) continue;
      const Operands operands(static_cast<Dtype>(dtype), row.promotion == Promotion::select);
      const int arity = formulas::arity_of(static_cast<Op>(op));
      expect_same(kernels().elementwise[op][dtype], streamed, operand_count(row, arity), operands,
                  std::string(row.name) + " of " + dtype_name(static_cast<Dtype>(dtype)));
      ++compared;
    }
  }
  const bool has_vectors = std::string(kernels().name) != "baseline";
  EXPECT_GE(compared, has_vectors ? 100 : 0);
}

TEST(Streamed, EveryCastGivesThePlainBytes) {
  for (int from = 0; from < kDtypeCount; ++from) {
    const Operands operands(static_cast<Dtype>(from), false);
    for (int to = 0; to < kDtypeCount; ++to) {
      const Kernel streamed = kernels().cast_streamed[from][to];
      if (!streamed) continue;
      expect_same(kernels().cast[from][to], streamed, 1, operands,
                  std::string(dtype_name(static_cast<Dtype>(from))) + " to " + dtype_name(static_cast<Dtype>(to)));
    }
  }
}

}  // namespace
}  // namespace tenon
