#include "tile/narrow_product.h"

#include <algorithm>
#include <utility>

#include "kernel/kernel.h"
#include "tile/cast.h"
#include "tile/matrix_product.h"
#include "tile/pool.h"
#include "tile/scratch.h"

namespace tenon {
namespace {

constexpr int64_t kNarrow = 2, kWide = 4;  // bytes of a number

// --- Many short rows of bfloat16

// Numbers of float32 results that stay in the second-level cache until they are rounded, and columns up to which the
// second operand is read again for so few rows. Bench: ./dev bench --sweep, products.
constexpr int64_t kRoundedNumbers = 1 << 15, kRoundedColumns = 64;

bool is_of_short_rows(const Product& product) {
  return product.dtype == bfloat16 && product.columns <= kRoundedColumns &&
         product.rows * product.columns >= 2 * kRoundedNumbers &&
         multiplies_pairs(product.rows, product.columns, product.depth);
}

void multiply_short_rows(const Product& product) {
  const int64_t parts = (product.rows * product.columns + kRoundedNumbers - 1) / kRoundedNumbers;
  parallel_for(
      parts, [] { return Scratch((kRoundedNumbers + kRoundedColumns) * kWide); },
      [&](Scratch& scratch, int64_t part) {
        // exact: inside the operands and the output
        const int64_t row = product.rows * part / parts, end = product.rows * (part + 1) / parts;
        Product own = product;
        own.rows = end - row;
        own.a.data += row * own.a.row_stride * kNarrow;
        own.out = scratch.data();
        multiply(own);
        cast_lanes(product.out + row * own.columns * kNarrow, product.dtype, own.out, float32, own.rows * own.columns);
      });
}

bool is_for_matrix_unit(const Product& product) {
  return product.dtype == bfloat16 && has_matrix_product(product.rows, product.columns, product.depth);
}

// --- A large matrix and a vector

// Numbers of a matrix that stay in the first-level cache until they are multiplied, rows of it that are worth a call,
// and numbers of a row that are widened together. Bench: ./dev bench --sweep, products.
constexpr int64_t kWidenedNumbers = 1 << 13, kWidenedRows = 8, kWidenedColumns = 1 << 12;
constexpr int64_t kShortestRow = 16, kFewestRows = 16, kManyNumbers = 16 * kWidenedNumbers;  // of a matrix worth it
constexpr int64_t kSums = 1 << 18;  // numbers in all sums of rows, which are added in the end

/// A matrix whose rows lie along memory, each as long as the result or as the vector.
struct NarrowMatrix {
  Dtype dtype;
  bool sums_rows;  // else the result has a number for each row
  bool lies_by_rows;
  int64_t count, length, stride;
  const std::byte *rows, *vector;
  int64_t vector_stride;

  bool is_suitable() const {
    return lies_by_rows && length >= kShortestRow && count >= std::max(kManyNumbers / length, kFewestRows);
  }
  int64_t tile_columns() const { return std::min(length, kWidenedColumns); }
  int64_t tile_rows() const { return std::max(kWidenedNumbers / tile_columns(), kWidenedRows); }
  int64_t tiles() const { return (count + tile_rows() - 1) / tile_rows(); }
  int64_t first_row(int64_t tile) const { return count * tile / tiles(); }  // exact: at most the numbers
};

/// The matrix of a product in which the other operand is a vector.
NarrowMatrix narrow_matrix_of(const Product& product) {
  const bool is_second = product.rows == 1;
  const Matrices& matrix = is_second ? product.b : product.a;
  const int64_t results = is_second ? product.columns : product.rows, depth = product.depth;
  // Strides between numbers of one sum, and between those of different sums.
  const int64_t along = is_second ? matrix.row_stride : matrix.column_stride,
                beside = is_second ? matrix.column_stride : matrix.row_stride;
  const bool sums_rows = beside == 1 && along >= results;
  return {product.dtype,
          sums_rows,
          sums_rows || (along == 1 && beside >= depth),
          sums_rows ? depth : results,
          sums_rows ? results : depth,
          sums_rows ? along : beside,
          matrix.data,
          is_second ? product.a.data : product.b.data,
          is_second ? product.a.column_stride : product.b.row_stride};
}

Kernel addition() { return kernels().elementwise[static_cast<int>(Op::add)][static_cast<int>(float32)]; }

/// Memory for some rows in float32, numbers of the vector beside them, and results.
class Tile {
 public:
  explicit Tile(const NarrowMatrix& matrix)
      : matrix_(matrix),
        columns_(matrix.tile_columns()),
        size_(std::max(columns_, matrix.tile_rows())),
        scratch_((matrix.tile_rows() * columns_ + 4 * size_) * kWide) {}

  /// The sum of rows, each times its factor; the matrix is not longer than the tile.
  void sum(int64_t tile, std::byte* out) {
    const int64_t row = matrix_.first_row(tile), rows = matrix_.first_row(tile + 1) - row;
    widen_rows(row, rows, 0, columns_);
    widen_vector(row, rows);
    multiply({float32, 1, 1, columns_, rows, {vector(), 0, 0, 1}, {this->rows(), 0, columns_, 1}, out});
  }
  void add_sum(int64_t tile, std::byte* out) {
    sum(tile, results());
    const Lanes both[] = {{out, 1}, {results(), 1}};
    addition()(out, both, columns_);
  }
  /// Writes the dot products of rows and the vector.
  void dot(int64_t tile, std::byte* out) {
    const int64_t row = matrix_.first_row(tile), rows = matrix_.first_row(tile + 1) - row;
    std::byte* const next = results() + size_ * kWide;
    for (int64_t column = 0; column < matrix_.length; column += columns_) {
      const int64_t n = std::min(columns_, matrix_.length - column);
      widen_rows(row, rows, column, n);
      widen_vector(column, n);
      std::byte* const to = column == 0 ? results() : next;
      multiply({float32, 1, rows, 1, n, {this->rows(), 0, n, 1}, {vector(), 0, 1, 0}, to});
      const Lanes both[] = {{results(), 1}, {next, 1}};
      if (column > 0) addition()(results(), both, rows);
    }
    cast_lanes(out + row * kNarrow, matrix_.dtype, results(), float32, rows);
  }

 private:
  std::byte* rows() { return scratch_.data(); }
  std::byte* vector() { return rows() + matrix_.tile_rows() * columns_ * kWide; }
  std::byte* results() { return vector() + 2 * size_ * kWide; }

  void widen_rows(int64_t row, int64_t count, int64_t column, int64_t n) {
    // exact: inside the storage
    const bool is_dense = matrix_.stride == n;
    const int64_t runs = is_dense ? 1 : count, each = is_dense ? count * n : n;
    for (int64_t run = 0; run < runs; ++run)
      cast_lanes(rows() + run * each * kWide, float32, matrix_.rows + ((row + run) * matrix_.stride + column) * kNarrow,
                 matrix_.dtype, each);
  }
  /// Numbers [first, first + n) of the vector, which tiles may have in common.
  void widen_vector(int64_t first, int64_t n) {
    if (std::exchange(widened_, first) == first) return;
    const std::byte* from = matrix_.vector + first * matrix_.vector_stride * kNarrow;  // exact: inside the storage
    if (matrix_.vector_stride != 1) {
      std::byte* const dense = vector() + size_ * kWide;
      kernels().move[1].gather(dense, from, matrix_.vector_stride, n, 0, 1);
      from = dense;
    }
    cast_lanes(vector(), float32, from, matrix_.dtype, n);
  }

  const NarrowMatrix& matrix_;
  int64_t columns_, size_, widened_ = -1;
  Scratch scratch_;
};

/// The sum of rows that are not longer than a tile, each times its factor. A part is some tiles, so that there are few
/// sums; parts depend on sizes only.
void sum_rows(const NarrowMatrix& matrix, std::byte* out) {
  const int64_t tiles = matrix.tiles(), parts = std::min(tiles, kSums / matrix.length), bytes = matrix.length * kWide;
  Scratch sums(parts * bytes);
  parallel_for(
      parts, [&] { return Tile(matrix); },
      [&](Tile& tile, int64_t part) {
        // exact: inside the sums
        const int64_t first = tiles * part / parts, end = tiles * (part + 1) / parts;
        tile.sum(first, sums.data() + part * bytes);
        for (int64_t next = first + 1; next < end; ++next) tile.add_sum(next, sums.data() + part * bytes);
      });
  for (int64_t part = 1; part < parts; ++part) {
    const Lanes both[] = {{sums.data(), 1}, {sums.data() + part * bytes, 1}};
    addition()(sums.data(), both, matrix.length);
  }
  cast_lanes(out, matrix.dtype, sums.data(), float32, matrix.length);
}

void sum_long_rows(const NarrowMatrix& matrix, std::byte* out) {
  for (int64_t column = 0; column < matrix.length; column += kWidenedColumns) {
    NarrowMatrix columns = matrix;
    columns.rows += column * kNarrow;
    columns.length = std::min(kWidenedColumns, matrix.length - column);
    sum_rows(columns, out + column * kNarrow);
  }
}

void dot_rows(const NarrowMatrix& matrix, std::byte* out) {
  parallel_for(
      matrix.tiles(), [&] { return Tile(matrix); }, [&](Tile& tile, int64_t part) { tile.dot(part, out); });
}

bool is_of_vector(const Product& product) {
  return (product.rows == 1 || product.columns == 1) && narrow_matrix_of(product).is_suitable();
}

}  // namespace

bool multiplies_by_tiles(const Product& product) {
  return is_for_matrix_unit(product) || (product.batches == 1 && (is_of_short_rows(product) || is_of_vector(product)));
}

void multiply_by_tiles(const Product& product) {
  if (is_for_matrix_unit(product)) return multiply_by_matrix_unit(product, product.dtype);
  if (is_of_short_rows(product)) return multiply_short_rows(product);
  const NarrowMatrix matrix = narrow_matrix_of(product);
  matrix.sums_rows ? sum_long_rows(matrix, product.out) : dot_rows(matrix, product.out);
}

}  // namespace tenon
