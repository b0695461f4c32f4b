// Products by the matrix unit are those of plain loops: of any sides and layouts, whatever lies beside the operands.
#include "tile/matrix_product.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

#include "kernel/matrix_unit.h"
#include "tenon/threads.h"
#include "tile/cast.h"

namespace tenon {
namespace {

enum class Layout { by_rows, by_columns, with_gaps };

/// A batch of matrices of small whole numbers, of which sums are exact, between NaN.
struct Numbers {
  std::vector<uint16_t> memory;
  int64_t batch, row, column;

  Numbers(int64_t batches, int64_t rows, int64_t columns, Layout layout, uint32_t seed) {
    row = layout == Layout::by_columns ? 1 : layout == Layout::by_rows ? columns : 3 * columns + 5;
    column = layout == Layout::by_columns ? rows + 1 : layout == Layout::by_rows ? 1 : 3;
    batch = (rows - 1) * row + (columns - 1) * column + 7;
    memory.assign(static_cast<std::size_t>(batches * batch), uint16_t{0x7FC0});
    for (int64_t i = 0; i < batches; ++i)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          seed = seed * 1664525 + 1013904223;
          const float number = static_cast<float>(seed >> 28) - 7;
          memory[static_cast<std::size_t>(i * batch + r * row + c * column)] =
              static_cast<uint16_t>(std::bit_cast<uint32_t>(number) >> 16);
        }
  }
  float at(int64_t i, int64_t r, int64_t c) const {
    return std::bit_cast<float>(
        static_cast<uint32_t>(memory[static_cast<std::size_t>(i * batch + r * row + c * column)]) << 16);
  }
  Matrices matrices() const { return {reinterpret_cast<const std::byte*>(memory.data()), batch, row, column}; }
};

struct Sizes {
  int64_t batches, rows, columns, depth;
};

std::vector<float> expected(const Sizes& sizes, const Numbers& a, const Numbers& b) {
  std::vector<float> results;
  for (int64_t i = 0; i < sizes.batches; ++i)
    for (int64_t row = 0; row < sizes.rows; ++row)
      for (int64_t column = 0; column < sizes.columns; ++column) {
        float sum = 0;
        for (int64_t k = 0; k < sizes.depth; ++k) sum += a.at(i, row, k) * b.at(i, k, column);
        results.push_back(sum);
      }
  return results;
}

void check(const Sizes& sizes, Layout left, Layout right) {
  const Numbers a(sizes.batches, sizes.rows, sizes.depth, left, 1),
      b(sizes.batches, sizes.depth, sizes.columns, right, 2);
  const std::vector<float> sums = expected(sizes, a, b);
  std::vector<float> wide(sums.size(), std::numeric_limits<float>::quiet_NaN());
  Product product{bfloat16,    sizes.batches, sizes.rows,   sizes.columns,
                  sizes.depth, a.matrices(),  b.matrices(), reinterpret_cast<std::byte*>(wide.data())};
  multiply_by_matrix_unit(product, float32);
  ASSERT_EQ(wide, sums) << sizes.rows << " " << sizes.columns << " " << sizes.depth;
  std::vector<uint16_t> rounded(sums.size()), narrow(sums.size());
  cast_lanes(rounded.data(), bfloat16, sums.data(), float32, static_cast<int64_t>(sums.size()));
  product.out = reinterpret_cast<std::byte*>(narrow.data());
  multiply_by_matrix_unit(product, bfloat16);
  ASSERT_EQ(narrow, rounded) << sizes.rows << " " << sizes.columns << " " << sizes.depth;
}

class MatrixUnit : public testing::Test {
  void SetUp() override {
    if (!has_matrix_product(64, 64, 64)) GTEST_SKIP() << "this machine has no matrix unit, or it is not asked for";
  }
};

TEST_F(MatrixUnit, TakesMatricesOfAnySidesAndLayouts) {
  constexpr Layout kLayouts[] = {Layout::by_rows, Layout::by_columns, Layout::with_gaps};
  for (const int64_t rows : {1, 15, 16, 17, 32, 33, 71})
    for (const int64_t columns : {1, 16, 31, 32, 47, 65})
      for (const int64_t depth : {1, 2, 31, 32, 67, 256, 300})
        for (const Layout left : kLayouts)
          for (const Layout right : kLayouts) {
            check({1, rows, columns, depth}, left, right);
            if (HasFatalFailure()) return;
          }
}

TEST_F(MatrixUnit, TakesBatchesAndBlocksOfEveryKind) {
  check({5, 33, 40, 70}, Layout::by_rows, Layout::by_columns);
  check({3, 20, 1060, 530}, Layout::by_rows, Layout::by_rows);    // two blocks of columns, three of steps
  check({1, 600, 33, 300}, Layout::by_columns, Layout::by_rows);  // three groups of rows
  check({40, 16, 1024, 256}, Layout::by_rows, Layout::by_rows);   // matrices that are not packed together
}

TEST_F(MatrixUnit, BitsDoNotDependOnTheNumberOfThreads) {
  Numbers a(2, 700, 601, Layout::by_rows, 3);
  const Numbers b(2, 601, 90, Layout::by_rows, 4);
  for (uint32_t i = 0; i < a.memory.size(); ++i)  // sums of numbers between 1 and 2^96 are rounded
    a.memory[i] = static_cast<uint16_t>(0x3F80 + i * 2654435761U % 0x3000);
  std::vector<float> results[2];
  for (const int threads : {1, 3}) {
    const int before = get_num_threads();
    set_num_threads(threads);
    std::vector<float>& own = results[threads / 2];
    own.resize(2 * 700 * 90);
    const Product product{
        bfloat16, 2, 700, 90, 601, a.matrices(), b.matrices(), reinterpret_cast<std::byte*>(own.data())};
    multiply_by_matrix_unit(product, float32);
    set_num_threads(before);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(MatrixUnit, InfinitiesAndNanStayInTheirRowsAndColumns) {
  const int64_t n = 40;
  Numbers a(1, n, n, Layout::by_rows, 5), b(1, n, n, Layout::by_rows, 6);
  a.memory[static_cast<std::size_t>(3 * n + 39)] = 0x7FC0;  // NaN in row 3
  b.memory[static_cast<std::size_t>(39 * n + 7)] = 0x7F80;  // infinity in column 7
  std::vector<float> out(n * n);
  multiply_by_matrix_unit({bfloat16, 1, n, n, n, a.matrices(), b.matrices(), reinterpret_cast<std::byte*>(out.data())},
                          float32);
  for (int64_t row = 0; row < n; ++row)
    for (int64_t column = 0; column < n; ++column) {
      const float result = out[static_cast<std::size_t>(row * n + column)];
      if (row == 3)
        EXPECT_TRUE(result != result) << column;
      else
        EXPECT_EQ(result - result == 0, column != 7) << row << " " << column;
    }
}

}  // namespace
}  // namespace tenon
