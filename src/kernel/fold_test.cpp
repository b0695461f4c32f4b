// Kernels that fold rows lane by lane give what a plain loop gives, for rows of any length, with and without gaps, and
// in blocks; they write nothing behind their results and read nothing behind their last row.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "ops/row.h"
#include "sampled.h"
#include "tenon/dtype.h"

namespace tenon {
namespace {

constexpr int64_t kGuard = 64;  // bytes behind the results that stay as they are

/// `count` blocks of `rows` rows of `n` elements.
struct Blocks {
  int64_t n, step, rows, jump, count;
  int64_t numel() const { return (count - 1) * jump + (rows - 1) * step + n; }
  std::string text() const {
    return std::to_string(count) + " blocks " + std::to_string(jump) + " apart of " + std::to_string(rows) + " rows " +
           std::to_string(step) + " apart of " + std::to_string(n);
  }
};

/// The dtype of a fold's results.
Dtype folded_dtype(Op op, Dtype dtype) {
  const bool is_half = dtype == Dtype::float16 || dtype == Dtype::bfloat16;
  return is_half && op != Op::amax && op != Op::amin ? Dtype::float32 : dtype;
}

/// Numbers of which few are equal; sums of rows are exact in float32, and products of few rows in int64.
double number_at(Op op, int64_t i) {
  const auto drawn = static_cast<double>((i * 37 + i / 11 * 5) % 23);
  return op == Op::prod ? (drawn < 4 ? drawn / 2 + 0.5 : 1) : drawn - 7;
}

/// The numbers as a dtype holds them: bool as 0 or 1, unsigned ones modulo.
std::vector<double> held(Dtype dtype, std::vector<double> numbers) {
  for (double& number : numbers) {
    if (dtype == Dtype::bool_) number = number != 0 ? 1 : 0;
    if (dtype == Dtype::uint8 && number < 0) number += 256;
  }
  return numbers;
}
constexpr Dtype kSummedInInt64[] = {Dtype::uint8, Dtype::int8, Dtype::bool_, Dtype::int16, Dtype::int32};

std::vector<std::byte> cast(Dtype dtype, const std::vector<double>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * static_cast<std::size_t>(itemsize(dtype)));
  const Lanes from{numbers.data(), 1};
  kernels().cast[static_cast<int>(Dtype::float64)][static_cast<int>(dtype)](bytes.data(), &from,
                                                                            static_cast<int64_t>(numbers.size()));
  return bytes;
}

/// The fold by the kernel of two lanes, row by row.
std::vector<std::byte> plain_fold(Op op, Dtype dtype, const Blocks& blocks, const std::vector<double>& numbers) {
  const Dtype folded = folded_dtype(op, dtype);
  const auto size = static_cast<std::size_t>(itemsize(folded));
  const Kernel join = kernels().elementwise[static_cast<int>(join_of(op))][static_cast<int>(folded)];
  const std::vector<std::byte> lanes = cast(folded, numbers);
  std::vector<std::byte> results(static_cast<std::size_t>(blocks.count * blocks.n) * size);
  for (int64_t block = 0; block < blocks.count; ++block)
    for (int64_t row = 0; row < blocks.rows; ++row) {
      std::byte* to = results.data() + static_cast<std::size_t>(block * blocks.n) * size;
      const std::byte* from = lanes.data() + static_cast<std::size_t>(block * blocks.jump + row * blocks.step) * size;
      const Lanes in[] = {{to, 1}, {from, 1}};
      if (row == 0)
        std::memcpy(to, from, static_cast<std::size_t>(blocks.n) * size);
      else
        join(to, in, blocks.n);
    }
  return results;
}

/// Runs `fold` on memory that ends with the last element. Returns the results, or none if it wrote behind them.
template <class Fold>
std::vector<std::byte> folded(Dtype dtype, const std::vector<double>& numbers, std::size_t bytes, const Fold& fold) {
  const std::vector<std::byte> lanes = cast(dtype, numbers);
  const auto exact = std::make_unique<std::byte[]>(lanes.size());  // AddressSanitizer sees reads behind it
  std::memcpy(exact.get(), lanes.data(), lanes.size());
  std::vector<std::byte> results(bytes + kGuard, std::byte{0x5A});
  fold(results.data(), exact.get());
  for (std::size_t i = bytes; i < results.size(); ++i)
    if (results[i] != std::byte{0x5A}) return {};
  results.resize(bytes);
  return results;
}

/// Compares the kernels of an op and a dtype. False: there are none.
bool expect_plain(Op op, Dtype dtype, const Blocks& blocks) {
  const auto fold_blocks = kernels().fold_blocks[static_cast<int>(op)][static_cast<int>(dtype)];
  const auto fold_across = kernels().fold_across[static_cast<int>(op)][static_cast<int>(dtype)];
  EXPECT_EQ(fold_blocks == nullptr, fold_across == nullptr) << row_of(op).name << " of " << dtype_name(dtype);
  if (!fold_blocks) return false;
  std::vector<double> numbers;
  for (int64_t i = 0; i < blocks.numel(); ++i) numbers.push_back(number_at(op, i));
  const std::vector<std::byte> want = plain_fold(op, dtype, blocks, numbers);
  const std::string what = std::string(row_of(op).name) + " of " + dtype_name(dtype) + ", " + blocks.text();
  EXPECT_EQ(folded(dtype, numbers, want.size(),
                   [&](std::byte* to, const std::byte* from) {
                     fold_blocks(to, from, blocks.n, blocks.step, blocks.rows, blocks.jump, blocks.count);
                   }),
            want)
      << what;
  const auto row_bytes = static_cast<int64_t>(want.size()) / blocks.count, size = itemsize(dtype);
  EXPECT_EQ(folded(dtype, numbers, want.size(),
                   [&](std::byte* to, const std::byte* from) {
                     for (int64_t block = 0; block < blocks.count; ++block, to += row_bytes) {
                       const int64_t first = blocks.rows / 3;  // the others join
                       const std::byte* begin = from + block * blocks.jump * size;
                       if (first > 0) fold_across(to, begin, blocks.n, blocks.step, first, false);
                       fold_across(to, begin + first * blocks.step * size, blocks.n, blocks.step, blocks.rows - first,
                                   first > 0);
                     }
                   }),
            want)
      << what << ", across";
  return true;
}

void expect_plain(const Blocks& blocks) {
  int compared = 0;
  for (const Op op : {Op::sum, Op::prod, Op::amax, Op::amin, Op::all})
    for (int dtype = 0; dtype < kDtypeCount; ++dtype)
      compared += expect_plain(op, static_cast<Dtype>(dtype), blocks) ? 1 : 0;
  if (std::strcmp(kernels().name, "baseline") != 0) {
    EXPECT_GT(compared, 20);
  }
}

/// The kernels that fold an op's rows to `to`: of the same dtype, or of one that they widen.
FoldKernels kernels_of(Op op, Dtype from, Dtype to) {
  const auto dtype = static_cast<int>(from), fold = static_cast<int>(op);
  if (to != folded_dtype(op, from)) return kernels().sum_in_int64[dtype];
  return {kernels().fold[fold][dtype], kernels().fold_across[fold][dtype], kernels().fold_blocks[fold][dtype]};
}

/// Compares the folds of `rows` rows of `n` lanes, `step` apart, to one lane each.
void expect_rows(Op op, Dtype from, Dtype to, int64_t n, int64_t step, int64_t rows) {
  const FoldKernel fold = kernels_of(op, from, to).along;
  if (!fold || !kernels_of(op, from, to).across) return;
  if (op == Op::prod && n > 300) return;  // inexact
  std::vector<double> numbers;
  for (int64_t i = 0; i < (rows - 1) * step + n; ++i) numbers.push_back(number_at(op, i));
  // Columns of rows are rows of columns: the plain fold is of blocks, whose lane is one element.
  const std::vector<std::byte> want =
      plain_fold(op, to, {1, 1, n, step, rows}, to == Dtype::int64 ? held(from, numbers) : numbers);
  EXPECT_EQ(folded(from, numbers, want.size(),
                   [&](std::byte* out, const std::byte* in) { fold(out, in, n, step, rows, false); }),
            want)
      << row_of(op).name << " of " << dtype_name(from) << " in " << dtype_name(to) << ", " << rows << " rows of " << n
      << ", " << step << " apart";
}
void expect_rows(int64_t n, int64_t step, int64_t rows) {
  for (const Op op : {Op::sum, Op::prod, Op::amax, Op::amin, Op::all})
    for (int dtype = 0; dtype < kDtypeCount; ++dtype)
      expect_rows(op, static_cast<Dtype>(dtype), folded_dtype(op, static_cast<Dtype>(dtype)), n, step, rows);
  for (const Dtype dtype : kSummedInInt64) expect_rows(Op::sum, dtype, Dtype::int64, n, step, rows);
}

TEST(Fold, RowsToOneLane) {
  for (int64_t n = 1; n <= 150; n += kSampled)
    for (const int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 33})
      for (const int64_t gap : {0, 3}) expect_rows(n, n + gap, rows);
}
TEST(Fold, ShortRowsToOneLane) {
  for (int64_t n = 1; n <= 17; ++n)
    for (int64_t rows = 1 + n % kSampled; rows <= 40; rows += kSampled)
      for (const int64_t gap : {0, 1, 20}) expect_rows(n, n + gap, rows);
  expect_rows(3, 0, 20);  // one row again and again
  expect_rows(5, 1, 20);
}
TEST(Fold, LongRowsToOneLane) {
  for (const int64_t n : {255, 256, 257, 511, 513, 1023, 1030, 4099})
    for (const int64_t rows : {1, 3, 9}) expect_rows(n, n + 1, rows);
}

/// Numbers whose sums and products are rounded; each hundredth is NaN.
std::vector<double> rounded_numbers(int64_t count) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(i % 100 == 99 ? std::nan("") : 1 + 1 / static_cast<double>(3 + i * 37 % 101));
  return numbers;
}
TEST(Fold, RowsWithGapsHaveTheBitsOfRowsWithout) {
  for (const Op op : {Op::sum, Op::prod, Op::amax, Op::amin})
    for (const Dtype dtype : {Dtype::float32, Dtype::float64})
      for (int64_t n = 1; n <= 40; ++n)
        for (const int64_t rows : {1, 2, 7, 16, 17, 40}) {
          const FoldKernel fold = kernels_of(op, dtype, dtype).along;
          const std::vector<double> numbers = rounded_numbers(rows * n);
          std::vector<double> with_gaps;
          for (int64_t i = 0; i < rows * n; ++i) {
            with_gaps.push_back(numbers[static_cast<std::size_t>(i)]);
            if (i % n == n - 1) with_gaps.insert(with_gaps.end(), 3, -7.0);
          }
          const auto bytes = static_cast<std::size_t>(rows * itemsize(dtype));
          const auto results = [&](const std::vector<double>& of, int64_t step) {
            return folded(dtype, of, bytes,
                          [&](std::byte* to, const std::byte* from) { fold(to, from, n, step, rows, false); });
          };
          EXPECT_EQ(results(numbers, n), results(with_gaps, n + 3))
              << row_of(op).name << " of " << dtype_name(dtype) << ", " << rows << " rows of " << n;
        }
}

/// Sums of rows lane by lane, in int64.
void expect_wide_sums(Dtype from, const Blocks& blocks) {
  const FoldKernels folds = kernels_of(Op::sum, from, Dtype::int64);
  if (!folds.across) return;
  std::vector<double> numbers;
  for (int64_t i = 0; i < blocks.numel(); ++i) numbers.push_back(number_at(Op::sum, i));
  const std::vector<std::byte> want = plain_fold(Op::sum, Dtype::int64, blocks, held(from, numbers));
  const std::string what = std::string("sum of ") + dtype_name(from) + ", " + blocks.text();
  EXPECT_EQ(folded(from, numbers, want.size(),
                   [&](std::byte* to, const std::byte* in) {
                     folds.blocks(to, in, blocks.n, blocks.step, blocks.rows, blocks.jump, blocks.count);
                   }),
            want)
      << what;
  const auto row_bytes = static_cast<int64_t>(want.size()) / blocks.count;
  EXPECT_EQ(folded(from, numbers, want.size(),
                   [&](std::byte* to, const std::byte* in) {
                     for (int64_t block = 0; block < blocks.count; ++block, to += row_bytes) {
                       const int64_t first = blocks.rows / 3;  // the others join
                       const std::byte* begin = in + block * blocks.jump * itemsize(from);
                       if (first > 0) folds.across(to, begin, blocks.n, blocks.step, first, false);
                       folds.across(to, begin + first * blocks.step * itemsize(from), blocks.n, blocks.step,
                                    blocks.rows - first, first > 0);
                     }
                   }),
            want)
      << what << ", across";
}
TEST(Fold, SumsInInt64) {
  for (const Dtype dtype : kSummedInInt64) {
    for (int64_t n = 1; n <= 150; ++n)
      for (const int64_t gap : {0, 3}) {
        const int64_t rows = 1 + n * 7 % 21;
        expect_wide_sums(dtype, {n, n + gap, rows, rows * (n + gap), 3});
      }
    for (int64_t n = 1; n <= 17; ++n)
      for (int64_t rows = 1; rows <= 40; ++rows) expect_wide_sums(dtype, {n, n, rows, rows * n + 5, 3});
    for (const int64_t n : {1, 7, 16, 100, 300, 520})
      for (const int64_t rows : {255, 256, 257, 600}) expect_wide_sums(dtype, {n, n, rows, rows * n, 1});
    expect_wide_sums(dtype, {5, 0, 4, 5, 3});
    expect_wide_sums(dtype, {5, 5, 4, 0, 3});
  }
}
/// The farthest numbers, of so many lanes that narrower sums would overflow.
TEST(Fold, SumsOfTheFarthestNumbers) {
  for (const Dtype dtype : kSummedInInt64) {
    const FoldKernels folds = kernels_of(Op::sum, dtype, Dtype::int64);
    if (!folds.across) continue;
    for (const uint8_t byte : {0x80, 0x7F, 0xFF}) {
      constexpr int64_t kNumel = 70000;
      const std::vector<uint8_t> bytes(static_cast<std::size_t>(kNumel * itemsize(dtype)), byte);
      int64_t one = 0, sum = 0;
      const Lanes from{bytes.data(), 1};
      kernels().cast[static_cast<int>(dtype)][static_cast<int>(Dtype::int64)](&one, &from, 1);
      folds.along(&sum, bytes.data(), kNumel, kNumel, 1, false);
      EXPECT_EQ(sum, one * kNumel) << dtype_name(dtype);
      std::vector<int64_t> columns(130);
      for (const int64_t n : {1, 20, 130}) {
        folds.across(columns.data(), bytes.data(), n, 0, kNumel, false);
        for (int64_t i = 0; i < n; ++i)
          EXPECT_EQ(columns[static_cast<std::size_t>(i)], one * kNumel) << dtype_name(dtype);
      }
    }
  }
}

TEST(Fold, RowsOfEveryLength) {
  for (int64_t n = 1; n <= 150; ++n)
    for (const int64_t gap : {0, 3}) {
      const int64_t rows = 1 + n * 7 % 21;
      expect_plain({n, n + gap, rows, rows * (n + gap), 3});
    }
}
TEST(Fold, ShortRowsOfEveryNumber) {
  for (int64_t n = 1; n <= 17; ++n)
    for (int64_t rows = 1 + n % kSampled; rows <= 40; rows += kSampled)
      for (const int64_t gap : {0, 5}) expect_plain({n, n, rows, rows * n + gap, 5});
}
TEST(Fold, ManyRows) {
  for (const int64_t n : {1, 2, 7, 16, 33, 65, 200})
    for (const int64_t rows : {63, 64, 65, 129, 300}) expect_plain({n, n, rows, rows * n, 2});
}
TEST(Fold, BlocksMayShareRows) {
  expect_plain({5, 5, 4, 0, 3});
  expect_plain({5, 0, 4, 5, 3});
  expect_plain({20, 0, 4, 5, 3});
}

}  // namespace
}  // namespace tenon
