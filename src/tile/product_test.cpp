// Products of matrices of any sides and layouts are those of a plain loop; nothing beside the operands takes part.
#include "tile/product.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "sampled.h"

namespace tenon {
namespace {

enum class Layout { by_rows, by_columns, with_gaps };

/// A batch of matrices of small whole numbers, between NaN.
template <class T>
struct Numbers {
  std::vector<T> memory;
  int64_t batch, row, column;

  Numbers(int64_t batches, int64_t rows, int64_t columns, Layout layout, int seed) {
    row = layout == Layout::by_columns ? 1 : layout == Layout::by_rows ? columns : 2 * columns + 3;
    column = layout == Layout::by_columns ? rows : layout == Layout::by_rows ? 1 : 2;
    batch = (rows - 1) * row + (columns - 1) * column + (layout == Layout::with_gaps ? 5 : 1);
    memory.assign(static_cast<std::size_t>(batches * batch), std::numeric_limits<T>::quiet_NaN());
    for (int64_t i = 0; i < batches; ++i)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          memory[static_cast<std::size_t>(i * batch + r * row + c * column)] =
              static_cast<T>((i * 5 + r * 7 + c * 11 + r * c + seed) % 9 - 4);
  }
  T at(int64_t i, int64_t r, int64_t c) const {
    return memory[static_cast<std::size_t>(i * batch + r * row + c * column)];
  }
  Matrices matrices() const { return {reinterpret_cast<const std::byte*>(memory.data()), batch, row, column}; }
};

template <class T>
void check(Dtype dtype, int64_t batches, int64_t rows, int64_t columns, int64_t depth, Layout left, Layout right) {
  const Numbers<T> a(batches, rows, depth, left, 1), b(batches, depth, columns, right, 2);
  constexpr T kUntouched = -777;
  std::vector<T> out(static_cast<std::size_t>(batches * rows * columns + 20), kUntouched);
  multiply(
      {dtype, batches, rows, columns, depth, a.matrices(), b.matrices(), reinterpret_cast<std::byte*>(out.data())});
  std::size_t place = 0;
  for (int64_t i = 0; i < batches; ++i)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        T want = 0;
        for (int64_t k = 0; k < depth; ++k) want += a.at(i, r, k) * b.at(i, k, c);
        ASSERT_EQ(out[place++], want) << dtype_name(dtype) << " " << batches << " x [" << rows << ", " << depth
                                      << "] @ [" << depth << ", " << columns << "], layouts " << static_cast<int>(left)
                                      << " and " << static_cast<int>(right) << ", at " << i << ", " << r << ", " << c;
      }
  for (; place < out.size(); ++place) ASSERT_EQ(out[place], kUntouched);
}

TEST(Multiply, TakesMatricesOfAnySidesAndLayouts) {
  int number = 0;
  for (const int64_t rows : {1, 2, 5, 9, 50})
    for (const int64_t columns : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 66, 100})
      for (const int64_t depth : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 129, 260})
        for (const Layout left : {Layout::by_rows, Layout::by_columns, Layout::with_gaps})
          for (const Layout right : {Layout::by_rows, Layout::by_columns, Layout::with_gaps}) {
            if (++number % kSampled != 0) continue;
            const int64_t batches = (rows + columns + depth) % 3 + 1;
            check<float>(float32, batches, rows, columns, depth, left, right);
            check<double>(float64, batches, rows, columns, depth, left, right);
            if (HasFatalFailure()) return;
          }
}

TEST(Multiply, TakesEveryNumberOfRowsInTilesOfEveryWidth) {
  for (int64_t rows = 1; rows <= 30; rows += kSampled)
    for (const int64_t columns : {16, 18, 40, 52, 65, 79, 97, 130, 150, 177})
      for (const int64_t depth : {3, 70, 300})
        for (const Layout left : {Layout::by_rows, Layout::by_columns}) {
          check<float>(float32, 1, rows, columns, depth, left, Layout::by_rows);
          check<double>(float64, 1, rows, columns, depth, left, Layout::by_columns);
          check<int32_t>(int32, 1, rows, columns, depth, left, Layout::by_rows);
          if (HasFatalFailure()) return;
        }
}

TEST(Multiply, PacksTilesOfManyRows) {
  for (const int64_t rows : {65, 66, 71, 97, 98, 193})
    for (const int64_t columns : {129, 140, 145, 530})
      for (const int64_t depth : {5, 65, 258})
        for (const Layout left : {Layout::by_rows, Layout::by_columns, Layout::with_gaps}) {
          check<float>(float32, 1, rows, columns, depth, left, Layout::by_rows);
          check<double>(float64, 1, rows, columns, depth, left, Layout::by_columns);
          if (HasFatalFailure()) return;
        }
}

TEST(Multiply, TakesBatchesOfSmallMatrices) {
  for (const int64_t rows : {1, 2, 3, 4, 5, 8, 11, 64})
    for (int64_t columns = 1; columns <= 20; columns += kSampled)
      for (const int64_t depth : {1, 2, 3, 4, 7, 13})
        for (const int64_t batches : {1, 2, 3, 20})
          for (const Layout left : {Layout::by_rows, Layout::by_columns, Layout::with_gaps})
            for (const Layout right : {Layout::by_rows, Layout::by_columns, Layout::with_gaps}) {
              check<float>(float32, batches, rows, columns, depth, left, right);
              check<double>(float64, batches, rows, columns, depth, left, right);
              check<int32_t>(int32, batches, rows, columns, depth, left, right);
              check<int64_t>(int64, batches, rows, columns, depth, left, right);
              if (HasFatalFailure()) return;
            }
}

TEST(Multiply, TakesManyRowsOfFewColumns) {
  for (const int64_t rows : {65, 67, 300, 5000})
    for (int64_t columns = 1; columns <= 17; ++columns)
      for (const int64_t depth : {1, 3, 8, 9})
        for (const Layout left : {Layout::by_rows, Layout::by_columns}) {
          check<float>(float32, rows < 100 ? 3 : 1, rows, columns, depth, left, Layout::by_rows);
          check<int64_t>(int64, rows < 100 ? 3 : 1, rows, columns, depth, left, Layout::by_rows);
          if (HasFatalFailure()) return;
        }
}

TEST(Multiply, DividesTheRowsOfLargeNarrowResults) {
  for (const int64_t columns : {2, 3, 8, 13, 16})
    for (const int64_t rows : {32769 / columns, 100003 / columns})
      for (const int64_t depth : {2, 5, 6, 8}) {
        check<float>(float32, 1, rows, columns, depth, Layout::by_rows, Layout::by_rows);
        check<double>(float64, 2, rows, columns, depth, Layout::with_gaps, Layout::by_rows);
        check<int32_t>(int32, 1, rows, columns, depth, Layout::by_columns, Layout::by_rows);
        if (HasFatalFailure()) return;
      }
}

TEST(Multiply, SumsALongRowTimesFewColumns) {
  for (int64_t columns = 2; columns <= 17; ++columns)
    for (const int64_t depth : {1023, 1024, 1025, 2048, 2060, 20000})
      for (const Layout left : {Layout::by_rows, Layout::with_gaps})
        for (const int64_t batches : {1, 3}) {
          check<float>(float32, batches, 1, columns, depth, left, Layout::by_rows);
          check<double>(float64, batches, 1, columns, depth, left, Layout::by_rows);
          check<int32_t>(int32, batches, 1, columns, depth, left, Layout::by_rows);
          check<int64_t>(int64, batches, columns, 1, depth, Layout::by_columns, left);  // the same, transposed
          if (HasFatalFailure()) return;
        }
}

TEST(Multiply, SumsARowTimesFewColumns) {
  for (int64_t columns = 1; columns <= 17; ++columns)
    for (const int64_t depth : {65, 66, 67, 68, 300, 1023, 1024, 1025, 3000})
      for (const int64_t batches : {1, 3}) {
        check<float>(float32, batches, 1, columns, depth, Layout::with_gaps, Layout::by_rows);
        check<double>(float64, batches, 1, columns, depth, Layout::by_rows, Layout::by_rows);
        check<int64_t>(int64, batches, 1, columns, depth, Layout::by_rows, Layout::by_rows);
        if (HasFatalFailure()) return;
      }
}

}  // namespace
}  // namespace tenon
