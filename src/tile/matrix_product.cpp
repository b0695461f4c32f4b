#include "tile/matrix_product.h"

#include <algorithm>

#include "kernel/kernel.h"
#include "kernel/matrix_unit.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/scratch.h"

namespace tenon {
namespace {

using matrix_unit::kSide;
using matrix_unit::kStepBytes;
using matrix_unit::kStepDepth;

// Steps of a block of b, which stays in the second-level cache with the sums of so many blocks of rows; of one block
// the first-level cache holds a panel and the rows. Bench: ./dev bench --sweep, products.
constexpr int64_t kBlockSteps = 8, kBlockColumns = 32 * kSide, kBlockRows = 8;
constexpr int64_t kBlockDepth = kBlockSteps * kStepDepth;
// Smaller products are as fast by vectors.
constexpr int64_t kLeastSide = 16, kLeastDepth = 32;
// Multiplications, and packed bytes, that are worth waking a thread for.
constexpr double kPartProducts = 1 << 24, kPartBytes = 1 << 19;
constexpr int64_t kPackedBytes = 16 << 20;  // of several matrices of b

/// How many parts `units` of some work are divided into.
int64_t parts_of(double work, double each, int64_t units) {
  const double most = std::clamp(work / each, 1.0, 2.0 * static_cast<double>(get_num_threads()));
  return std::min(static_cast<int64_t>(most), units);
}

/// Up to kSide rows or columns of a block of a matrix as rows whose numbers lie side by side: where they lie, or
/// copied.
class Rows {
 public:
  static constexpr int64_t kBytes = kSide * kBlockDepth * static_cast<int64_t>(sizeof(uint16_t));

  Rows(const uint16_t* from, int64_t row_stride, int64_t column_stride, int64_t rows, int64_t columns,
       std::byte* scratch) {
    data = from;
    stride = row_stride;
    if (column_stride == 1) return;
    auto* const copy = reinterpret_cast<uint16_t*>(scratch);
    data = copy;
    stride = columns;
    if (row_stride == 1) {
      kernels().move[1].transpose(copy, columns, from, column_stride, rows, columns);
      return;
    }
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        copy[row * columns + column] = from[row * row_stride + column * column_stride];
  }

  const uint16_t* data;
  int64_t stride;
};

const uint16_t* at(const Matrices& m, int64_t batch, int64_t row, int64_t column) {
  return reinterpret_cast<const uint16_t*>(m.data) + batch * m.batch_stride + row * m.row_stride +
         column * m.column_stride;  // exact: inside the storage
}

/// Columns [column, column + columns) of some matrices of b, in panels of kSide columns, each of all steps.
class PackedColumns {
 public:
  PackedColumns(const Product& product, int64_t batch, int64_t batches, int64_t column, int64_t columns)
      : panels(tiles_of(columns, kSide)),
        steps(tiles_of(product.depth, kStepDepth)),
        product_(product),
        batch_(batch),
        column_(column),
        columns_(columns),
        batches_(product.b.batch_stride == 0 ? 1 : batches),
        memory_(nbytes()) {}

  static int64_t nbytes_of(const Product& product, int64_t columns) {
    return tiles_of(columns, kSide) * tiles_of(product.depth, kStepDepth) * kStepBytes;  // exact: as many as in b
  }
  void fill() {
    const int64_t blocks = tiles_of(steps, kBlockSteps), all = batches_ * blocks;
    const int64_t parts = parts_of(static_cast<double>(nbytes()), kPartBytes, all);
    parallel_for(
        parts, [] { return Scratch(Rows::kBytes); },
        [&](Scratch& scratch, int64_t part) {
          for (int64_t own = all * part / parts; own < all * (part + 1) / parts; ++own)
            fill_block(own / blocks, own % blocks * kBlockSteps, scratch.data());
        });
  }
  const std::byte* panel(int64_t batch, int64_t panel, int64_t step) {
    return place_of(batches_ == 1 ? 0 : batch - batch_, panel, step);
  }

  const int64_t panels, steps;

 private:
  int64_t nbytes() const { return batches_ * nbytes_of(product_, columns_); }
  /// Panels of one block of steps follow each other: at steps of a power of two, they would share places of the cache.
  std::byte* place_of(int64_t matrix, int64_t panel, int64_t step) {
    const int64_t before = matrix * steps + step, own = std::min(kBlockSteps, steps - step);
    return memory_.data() + (before * panels + panel * own) * kStepBytes;
  }
  /// A block of steps of a matrix: all columns at once where they lie side by side, else panel by panel.
  void fill_block(int64_t matrix, int64_t step, std::byte* scratch) {
    const Matrices& b = product_.b;
    const int64_t k = step * kStepDepth, depth = std::min(kBlockDepth, product_.depth - k);
    const int64_t panel_bytes = std::min(kBlockSteps, steps - step) * kStepBytes;
    const int64_t together = b.column_stride == 1 ? columns_ : kSide;
    for (int64_t column = 0; column < columns_; column += together) {
      check_interrupt();
      const int64_t columns = std::min(together, columns_ - column);
      const Rows rows(at(b, batch_ + matrix, k, column_ + column), b.row_stride, b.column_stride, depth, columns,
                      scratch);
      matrix_unit::pack_columns(place_of(matrix, column / kSide, step), panel_bytes, rows.data, rows.stride, columns,
                                depth);
    }
  }

  const Product& product_;
  const int64_t batch_, column_, columns_, batches_;
  Scratch memory_;
};

/// Rows of a times packed columns. A thread's part of the results: kSide rows at a time, by panels.
class RowsTimesColumns {
 public:
  RowsTimesColumns(const Product& product, Dtype out_dtype, PackedColumns& b, int64_t column)
      : product_(product), out_dtype_(out_dtype), b_(b), column_(column), scratch_(nbytes_of(b.steps, b.panels)) {}

  static int64_t nbytes_of(int64_t steps, int64_t panels) {
    return kSumsAt + (waits(steps) ? kBlockRows * panels : 1) * kSumsBytes;
  }

  /// Blocks [first, last) of rows, at most kBlockRows, of a matrix.
  void run(int64_t batch, int64_t first, int64_t last) {
    for (int64_t step = 0; step < b_.steps; step += kBlockSteps)
      for (int64_t block = first; block < last; ++block) {
        check_interrupt();
        run_rows(batch, block, block - first, step);
      }
  }

 private:
  static constexpr int64_t kSumsBytes = kSide * kSide * static_cast<int64_t>(sizeof(float));
  static constexpr int64_t kPackedAt = Rows::kBytes, kSumsAt = kPackedAt + kBlockSteps * kStepBytes;

  /// Sums wait for the next steps.
  static bool waits(int64_t steps) { return steps > kBlockSteps; }
  float* sums_of(int64_t place, int64_t panel) {
    const int64_t number = waits(b_.steps) ? place * b_.panels + panel : 0;
    return reinterpret_cast<float*>(scratch_.data() + kSumsAt + number * kSumsBytes);
  }

  void run_rows(int64_t batch, int64_t block, int64_t place, int64_t step) {
    const Matrices& a = product_.a;
    const int64_t row = block * kSide, rows = std::min(kSide, product_.rows - row);
    const int64_t k = step * kStepDepth, depth = std::min(kBlockDepth, product_.depth - k);
    std::byte* const packed = scratch_.data() + kPackedAt;
    const Rows own(at(a, batch, row, k), a.row_stride, a.column_stride, rows, depth, scratch_.data());
    matrix_unit::pack_rows(packed, own.data, own.stride, rows, depth);
    const bool is_last = step + kBlockSteps >= b_.steps;
    for (int64_t panel = 0; panel < b_.panels; ++panel) {
      const int64_t column = column_ + panel * kSide, columns = std::min(kSide, product_.columns - column);
      float* const sums = sums_of(place, panel);
      tiles_.multiply(packed, b_.panel(batch, panel, step), tiles_of(depth, kStepDepth), sums,
                      rows > matrix_unit::kTileRows, columns > matrix_unit::kTileRows, step > 0);
      if (is_last) store(sums, (batch * product_.rows + row) * product_.columns + column, rows, columns);
    }
  }
  /// Writes sums from a place of the result on.
  void store(const float* sums, int64_t place, int64_t rows, int64_t columns) {
    const int64_t step = product_.columns;
    if (out_dtype_ == bfloat16)
      return matrix_unit::store_rounded(reinterpret_cast<uint16_t*>(product_.out) + place, step, sums, rows, columns);
    float* to = reinterpret_cast<float*>(product_.out) + place;  // exact: inside the output
    for (int64_t row = 0; row < rows; ++row, to += step, sums += kSide) std::copy_n(sums, columns, to);
  }

  const Product& product_;
  const Dtype out_dtype_;
  PackedColumns& b_;
  const int64_t column_;
  Scratch scratch_;
  matrix_unit::Tiles tiles_;
};

/// The matrices of which b is packed at once.
int64_t matrices_together(const Product& product, int64_t columns) {
  if (product.b.batch_stride == 0) return product.batches;
  return std::clamp<int64_t>(kPackedBytes / PackedColumns::nbytes_of(product, columns), 1, product.batches);
}

void multiply_columns(const Product& product, Dtype out_dtype, int64_t first_batch, int64_t batches, int64_t column,
                      int64_t columns) {
  PackedColumns b(product, first_batch, batches, column, columns);
  const int64_t blocks = tiles_of(product.rows, kSide), threads = get_num_threads();
  // As many blocks together as leave something for each thread.
  const int64_t together = std::clamp<int64_t>(batches * blocks / (2 * threads), 1, kBlockRows);
  const int64_t groups = tiles_of(blocks, together), units = batches * groups;
  const double products =
      static_cast<double>(batches * product.rows) * static_cast<double>(columns) * static_cast<double>(product.depth);
  const int64_t parts = parts_of(products, kPartProducts, units);
  b.fill();
  parallel_for(
      parts, [&] { return RowsTimesColumns(product, out_dtype, b, column); },
      [&](RowsTimesColumns& rows, int64_t part) {
        for (int64_t unit = units * part / parts; unit < units * (part + 1) / parts; ++unit) {  // exact: few parts
          const int64_t first = unit % groups * together;
          rows.run(first_batch + unit / groups, first, std::min(first + together, blocks));
        }
      });
}

}  // namespace

bool has_matrix_product(int64_t rows, int64_t columns, int64_t depth) {
  return rows >= kLeastSide && columns >= kLeastSide && depth >= kLeastDepth &&
         kernels().product[static_cast<int>(bfloat16)].multiply && matrix_unit::is_there();
}

int64_t matrix_product_bytes(const Product& product) {
  const int64_t columns = std::min(kBlockColumns, product.columns), matrices = matrices_together(product, columns);
  return (product.b.batch_stride == 0 ? 1 : matrices) * PackedColumns::nbytes_of(product, columns) +
         RowsTimesColumns::nbytes_of(tiles_of(product.depth, kStepDepth), tiles_of(columns, kSide));
}

void multiply_by_matrix_unit(const Product& product, Dtype out_dtype) {
  for (int64_t column = 0; column < product.columns; column += kBlockColumns) {
    const int64_t columns = std::min(kBlockColumns, product.columns - column);
    const int64_t together = matrices_together(product, columns);
    for (int64_t batch = 0; batch < product.batches; batch += together)
      multiply_columns(product, out_dtype, batch, std::min(together, product.batches - batch), column, columns);
  }
}

}  // namespace tenon
