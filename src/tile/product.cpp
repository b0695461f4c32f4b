#include "tile/product.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernel/kernel.h"
#include "kernel/product_tiles.h"
#include "plan/plan.h"
#include "tensor/recycle.h"
#include "tile/matrix_product.h"
#include "tile/pool.h"
#include "tile/program.h"
#include "tile/run.h"
#include "tile/schedule.h"
#include "tile/scratch.h"
#include "tile/small.h"

namespace tenon {
namespace {

// Sizes of blocks. Bench: tenon_bench --filter '^grad/tanh of mm' (256 x 256), and --ops --filter 'ops/(mm|bmm|mv)$'.
constexpr int64_t kDepth = 256;            // of a block
constexpr int64_t kPanelBytes = 40 << 10;  // of b: in the first-level cache
constexpr int64_t kPackedBytes = 1 << 19;  // of b: in the second-level cache
constexpr int64_t kRows = 16 * kProductRows;
constexpr int64_t kPanelsStrided = 2;
// Rows of a where they lie take up to a tenth less time than packed ones, unless all begin at one place of the cache.
constexpr int64_t kPanelsAtOnePlace = 8;
constexpr int64_t kPackedRows = 64;  // of a panel that are transposed together: they stay in the first-level cache
// A product of so few rows reads b where it lies: packing it would cost more than it saves.
constexpr int64_t kFewRows = 32;
constexpr int64_t kUnpackedRows = 48, kUnpackedBytes = 16 << 10;
constexpr int64_t kUnpackedARows = 64;  // rows of a, of which packing would cost more than reading them where they lie
constexpr int64_t kShortDepth = 32;     // below this, summing over lanes costs more than the products
constexpr int64_t kDepthBytesOfRow = 48;   // and below so many bytes of depth for each row, more than packing
constexpr int64_t kShortDotDepth = 128;    // of products of short rows by short columns
constexpr int64_t kShortRows = 8;          // rows, or columns, of products of short rows
constexpr int64_t kDotSum = 8;             // multiplications that take as long as the sum of a vector's lanes
constexpr int64_t kPackedDepth = 1 << 14;  // depth of a block of so few rows, where b has to be packed
// Rows of b that a few rows are multiplied by where they lie, which are read together: so many bytes, and at least so
// many rows, of what the second-level cache holds, of more, and beyond the caches. The processor reads ahead along rows
// that come back soon. Bench: ./dev bench --sweep, products.
constexpr int64_t kRowsTogetherBytes = 128 << 10, kNearBytes = 1 << 19, kFewestNear = 32, kFewest = 16;
constexpr int64_t kFarTogetherBytes = 64 << 10, kFewestFar = 8;
constexpr int64_t kFewResultRows = 4;
constexpr int64_t kSmall = 64, kSmallProducts = 512;        // matrices that are not worth packing or tiles
constexpr int64_t kNarrowDepth = 8, kNarrowVectors = 1024;  // of products whose rows are not longer than a vector
constexpr int64_t kVectorDepth = 1024;                      // of rows times few columns, which are summed in four sums
constexpr int64_t kSmallPart = 1 << 15;                     // elements of results in a thread's part
// Rows for each column of a thin result, and bytes of a block of it.
constexpr int64_t kThinRows = 4, kThinBytes = 16 << 10;
constexpr int64_t kThinDepth = 5;             // below, many thin rows are multiplied where they lie
constexpr double kPartProducts = 1 << 20;     // multiplications that are worth waking a thread for
constexpr int64_t kTallRows = 4;              // rows for each column of a result of which threads share rows only
constexpr int64_t kOuterBytes = 1 << 19;      // results of which the stores are worth a plan
constexpr int64_t kOuterRowBytes = 256;       // rows of outer products that are worth a call of the elementwise kernel
constexpr double kQuickProducts = 1 << 26;    // multiplications that take about a millisecond
constexpr int64_t kPairDotColumns = 8;        // columns that are multiplied by pairs along depth
constexpr int64_t kPairDotDepth = 16;         // in pairs
constexpr int64_t kPairedProducts = 1 << 15;  // multiplications that are worth making pairs for

constexpr int64_t rounded_up(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

/// The transposed product, for an `out` with one row or one column, which is the same memory transposed.
Product transposed(const Product& product) {
  const auto turned = [](const Matrices& m) { return Matrices{m.data, m.batch_stride, m.column_stride, m.row_stride}; };
  return {product.dtype, product.batches,   product.columns,   product.rows,
          product.depth, turned(product.b), turned(product.a), product.out};
}

/// to[k * width + column] = from[k * depth_stride + column * column_stride].
template <class T>
void pack(T* to, int64_t width, const T* from, int64_t depth_stride, int64_t column_stride, int64_t depth,
          int64_t columns) {
  const MoveKernels& move = kernels().move[std::countr_zero(sizeof(T))];
  if (depth_stride == 1 && columns > 1 && depth > 1) {
    for (int64_t k = 0; k < depth; k += kPackedRows)
      move.transpose(to + k * width, width, from + k, column_stride, std::min(kPackedRows, depth - k), columns);
  } else if (column_stride == 1 && columns == width) {
    move.gather(to, from, 1, columns, depth_stride, depth);
  } else if (column_stride == 1) {
    for (int64_t k = 0; k < depth; ++k) std::copy_n(from + k * depth_stride, columns, to + k * width);
  } else {
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t column = 0; column < columns; ++column)
        to[k * width + column] = from[k * depth_stride + column * column_stride];
  }
}

/// Whether the lanes of so few columns' sums cost less than columns that a vector of them would have more.
bool are_dots_cheap(const Product& product) {
  const int64_t lanes = 32 / itemsize(product.dtype);
  return product.columns * (product.depth + kDotSum * lanes) <= lanes * product.depth;
}

/// Whether the columns of many small matrices are turned to rows: sums of columns that fill no vector of sums would be
/// computed one by one. To turn them costs as many of these as three quarters of the depth and a few; others cost a
/// third, and a depth of whole vectors makes all cheaper. Bench: tenon_bench --ops --filter 'ops/bmm$'; 700 drawn
/// shapes up to 16 on a Zen 4, November 2026.
bool turns_to_rows(const Product& product) {
  const int64_t lanes = 32 / itemsize(product.dtype), single = product.columns % lanes;
  if (product.batches == 1 || product.columns == 1) return false;
  if (product.rows > kSmall || product.depth > kSmall || product.depth * product.columns > kSmallProducts) return false;
  const int64_t sums = product.rows * (single + (product.columns - single) / 3);
  return sums >= product.depth * 3 / 4 + (product.depth % lanes == 0 ? 8 : 4);
}

/// Whether short rows are multiplied by short columns where they lie: packing these would cost more than it saves.
bool is_short_dots(const Product& product) {
  if (product.dtype == bfloat16 || product.b.row_stride != 1 || product.a.column_stride != 1 || product.depth == 1 ||
      product.depth > kShortDotDepth)
    return false;
  if (turns_to_rows(product)) return false;
  if (product.rows <= std::min(kShortRows, product.depth)) return true;
  return product.columns <= kShortRows && (product.rows <= 2 * kShortRows || are_dots_cheap(product));
}

/// The same of pairs of bfloat16, at least a vector of them. Bench: ./dev bench --sweep, products.
bool is_pair_dots(const Product& product) {
  return product.dtype == bfloat16 && product.b.row_stride == 1 && product.a.column_stride == 1 &&
         product.columns <= kPairDotColumns && product.depth >= kPairDotDepth;
}

/// The part of one matrix that a thread computes.
struct Part {
  int64_t batch, row, rows, column, columns;
};

/// Computes parts of a product. Chooses the loops for the whole product, so that they do not depend on a part's shape.
template <class T>
class Multiplication {
 public:
  explicit Multiplication(const Product& product)
      : product_(product),
        kernels_(kernels().product[static_cast<int>(product.dtype)]),
        is_dots_(is_short_dots(product) || is_pair_dots(product) ||
                 (product.b.row_stride == 1 && product.rows <= kFewRows && product.depth >= kShortDepth &&
                  product.depth * static_cast<int64_t>(sizeof(T)) >= kDepthBytesOfRow * product.rows &&
                  (product.a.column_stride == 1 || product.depth <= kPackedDepth))),
        packs_a_(is_dots_ ? product.a.column_stride != 1 : packs_rows(product)),
        packs_b_(product.b.column_stride != 1 ||
                 (product.rows > kUnpackedRows &&
                  product.depth * product.columns > kUnpackedBytes / static_cast<int64_t>(sizeof(T)))),
        depth_(depth_of_block()) {}

  int64_t panel() const { return kernels_.panel; }
  const char* route() const { return is_dots_ ? "dot products" : "product blocks"; }
  int64_t scratch_bytes(int64_t rows, int64_t columns) const {
    return static_cast<int64_t>(sizeof(T)) * (packed_a(rows) + packed_b(columns));
  }

  void run(const Part& part, std::byte* scratch) const {
    T* a = reinterpret_cast<T*>(scratch);
    T* b = a + packed_a(part.rows);
    if (is_dots_) return run_dots(part, a);
    const int64_t width = columns_of_block();
    for (int64_t column = 0; column < part.columns; column += width)
      for (int64_t k = 0; k < product_.depth; k += depth_)
        run_columns({part.batch, part.row, part.rows, part.column + column, std::min(width, part.columns - column)}, k,
                    std::min(depth_, product_.depth - k), a, b);
  }

 private:
  bool packs_rows(const Product& product) const {
    if (product.rows <= kUnpackedARows) return false;
    if (product.a.column_stride != 1) return product.columns > kPanelsStrided * kernels_.panel;
    const int64_t step = product.a.row_stride * static_cast<int64_t>(sizeof(T));  // exact: inside the storage
    return step % kOnePlaceBytes == 0 && product.columns > kPanelsAtOnePlace * kernels_.panel;
  }
  /// Blocks of equal depth: a short one at the end costs as much for each result as a long one.
  int64_t depth_of_block() const {
    if (!packs_b_) return std::min(rows_together(), product_.depth);
    const int64_t most = std::min(kPanelBytes / static_cast<int64_t>(sizeof(T)) / panel(), kDepth);
    const int64_t blocks = (product_.depth + most - 1) / most;
    return (product_.depth + blocks - 1) / blocks;
  }
  /// Rows of b that are read together where they lie.
  int64_t rows_together() const {
    if (product_.rows > kFewResultRows) return kDepth;
    const int64_t row_bytes = product_.columns * static_cast<int64_t>(sizeof(T));  // exact: inside the storage
    const auto exceeds = [&](int64_t bytes) { return row_bytes > bytes / product_.depth; };
    if (exceeds(4 * streaming_threshold())) return std::clamp(kFarTogetherBytes / row_bytes, kFewestFar, kDepth);
    return std::clamp(kRowsTogetherBytes / row_bytes, exceeds(kNearBytes) ? kFewest : kFewestNear, kDepth);
  }
  int64_t columns_of_block() const {
    return std::max(kPackedBytes / static_cast<int64_t>(sizeof(T)) / depth_ / panel() * panel(), panel());
  }
  int64_t packed_a(int64_t rows) const {
    if (!packs_a_) return 0;
    if (is_dots_) return rows * product_.depth;
    return rounded_up(std::min(rows, kRows), kProductRows) * depth_;
  }
  int64_t packed_b(int64_t columns) const {
    if (is_dots_ || !packs_b_) return 0;
    return rounded_up(std::min(columns, columns_of_block()), kernels_.vector) * depth_;
  }

  /// Columns of whole panels. A panel joins a rest of less than a vector: both are divided evenly.
  int64_t whole_panels(int64_t columns) const {
    const int64_t whole = columns / panel() * panel(), rest = columns - whole;
    return whole > 0 && rest > 0 && rest <= kernels_.vector ? whole - panel() : whole;
  }

  const T* at(const Matrices& m, int64_t batch, int64_t row, int64_t column) const {
    return reinterpret_cast<const T*>(m.data) + batch * m.batch_stride + row * m.row_stride + column * m.column_stride;
  }
  T* out_at(const Part& part) const {
    return reinterpret_cast<T*>(product_.out) + (part.batch * product_.rows + part.row) * product_.columns +
           part.column;
  }

  /// Dot products of rows of `a` and columns of `b`, both contiguous along depth.
  void run_dots(const Part& part, T* packed) const {
    const Matrices &a = product_.a, &b = product_.b;
    ProductBlock block{};
    block.out_stride = product_.columns;
    block.a = at(a, part.batch, part.row, 0);
    block.a_row = a.row_stride;
    if (packs_a_) {
      pack(packed, product_.depth, at(a, part.batch, part.row, 0), a.row_stride, a.column_stride, part.rows,
           product_.depth);
      block.a = packed;
      block.a_row = product_.depth;
    }
    block.b_depth = b.column_stride;
    block.rows = part.rows;
    block.depth = product_.depth;
    const int64_t width = std::max<int64_t>(kPackedBytes / static_cast<int64_t>(sizeof(T)) / product_.depth / 4 * 4, 4);
    for (int64_t column = 0; column < part.columns; column += width) {
      check_interrupt();
      block.out = out_at(part) + column;
      block.b = at(b, part.batch, 0, part.column + column);
      block.columns = std::min(width, part.columns - column);
      kernels_.multiply_transposed({block, 1, 0, 0});
    }
  }

  /// Multiplies one block of columns of `b`, over a part of the depth.
  void run_columns(const Part& part, int64_t k, int64_t depth, T* packed_a, T* packed_b) const {
    const Matrices& b = product_.b;
    const T* columns = at(b, part.batch, k, part.column);
    ProductBlock block{};
    block.out_stride = product_.columns;
    block.depth = depth;
    block.adds = k > 0;
    // Whole panels; then the rest of the columns. Where b is not packed all columns are read where they lie.
    const int64_t whole = packs_b_ ? whole_panels(part.columns) : part.columns;
    const int64_t rest = part.columns - whole;
    const int64_t rest_width = rounded_up(rest, kernels_.vector);
    T* packed_rest = packed_b + whole * depth;
    if (packs_b_)
      for (int64_t column = 0; column < whole; column += panel())
        pack(packed_b + column * depth, panel(), columns + column * b.column_stride, b.row_stride, b.column_stride,
             depth, panel());
    if (rest > 0 && packs_b_)
      pack(packed_rest, rest_width, columns + whole * b.column_stride, b.row_stride, b.column_stride, depth, rest);
    visit_tiles(part.rows, kRows, [&](int64_t, int64_t row, int64_t height) {
      check_interrupt();
      block.rows = height;
      set_rows(block, {part.batch, part.row + row, block.rows, 0, 0}, k, packed_a);
      T* out = out_at(part) + row * product_.columns;
      if (whole > 0) {
        block.out = out;
        block.b = packs_b_ ? packed_b : columns;
        block.b_depth = packs_b_ ? panel() : b.row_stride;
        block.b_panel = packs_b_ ? panel() * depth : panel();
        block.columns = whole;
        kernels_.multiply(block);
      }
      if (rest > 0) {
        block.out = out + whole;
        block.b = packed_rest;
        block.b_depth = rest_width;
        block.b_panel = panel();
        block.columns = rest;
        kernels_.multiply(block);
      }
    });
  }

  void set_rows(ProductBlock& block, const Part& part, int64_t k, T* packed) const {
    const Matrices& a = product_.a;
    const T* rows = at(a, part.batch, part.row, k);
    if (!packs_a_) {
      block.a = rows;
      block.a_row = a.row_stride;
      block.a_depth = a.column_stride;
      block.a_tile = 0;
      return;
    }
    pack_rows(packed, rows, part.rows, block.depth);
    block.a = packed;
    block.a_row = 1;
    block.a_depth = kProductRows;
    block.a_tile = kProductRows * block.depth;
  }

  /// Copies tiles of rows, each with kProductRows numbers for each number along depth.
  void pack_rows(T* packed, const T* from, int64_t rows, int64_t depth) const {
    const Matrices& a = product_.a;
    visit_tiles(rows, kProductRows, [&](int64_t tile, int64_t row, int64_t height) {
      T* const to = packed + tile * kProductRows * depth;
      const T* const first = from + row * a.row_stride;
      if (a.row_stride == 1 && row + kProductRows <= rows)
        pack_side_by_side(to, first, depth);
      else
        pack(to, kProductRows, first, a.column_stride, a.row_stride, depth, height);
    });
  }
  /// The numbers of a tile's rows lie side by side. Of a tile of fewer rows this reads one of the next, too: copies of
  /// one size need no call.
  void pack_side_by_side(T* packed, const T* from, int64_t depth) const {
    for (int64_t k = 0; k < depth; ++k)
      std::memcpy(packed + k * kProductRows, from + k * product_.a.column_stride, kProductRows * sizeof(T));
  }

  const Product& product_;
  const ProductKernels& kernels_;
  const bool is_dots_, packs_a_, packs_b_;
  const int64_t depth_;  // of a block
};

/// The number of parts of a dim, and their length.
struct Cut {
  int64_t count, length;
  Cut(int64_t size, int64_t parts, int64_t unit) : count(1), length(rounded_up((size + parts - 1) / parts, unit)) {
    count = (size + length - 1) / length;
  }
};

/// Notes how a product is computed.
void note_product(const Product& product, const char* route, int64_t scratch_bytes) {
  if (!CourseRecord::now()) [[likely]]
    return;
  Course course{.route = route, .stores = "in place", .scratch_bytes = scratch_bytes};
  course.kernels.push_back({"product", product.dtype});
  note_course(std::move(course));
}

/// The number of multiplications. A double: expanded operands can have more than an int64 holds.
double products_of(const Product& product) {
  return static_cast<double>(product.batches) * static_cast<double>(product.rows) *
         static_cast<double>(product.columns) * static_cast<double>(product.depth);
}

template <class T>
void multiply_as(const Product& product) {
  const Multiplication<T> multiplication(product);
  const double products = products_of(product);
  const int64_t threads = get_num_threads();
  const auto parts =
      threads == 1
          ? 1
          : static_cast<int64_t>(std::clamp(products / kPartProducts, 1.0, 2.0 * static_cast<double>(threads)));
  const Cut batches(product.batches, parts, 1);
  const bool is_tall = product.rows >= kTallRows * product.columns;
  const Cut columns(product.columns, is_tall ? 1 : (parts + batches.count - 1) / batches.count, multiplication.panel());
  const Cut rows(product.rows, (parts + batches.count * columns.count - 1) / (batches.count * columns.count),
                 kProductRows);
  const int64_t bytes =
      multiplication.scratch_bytes(std::min(rows.length, product.rows), std::min(columns.length, product.columns));
  const auto run = [&](Scratch& scratch, int64_t part) {
    const int64_t column = part % columns.count * columns.length, row = part / columns.count % rows.count * rows.length;
    const int64_t first = part / columns.count / rows.count * batches.length;
    for (int64_t batch = first; batch < std::min(first + batches.length, product.batches); ++batch)
      multiplication.run({batch, row, std::min(rows.length, product.rows - row), column,
                          std::min(columns.length, product.columns - column)},
                         scratch.data());
  };
  note_product(product, multiplication.route(), bytes);
  run_or_plan(
      product.out, batches.count * columns.count * rows.count, [bytes] { return Scratch(bytes); }, run);
}

/// Whether rows of the result fill so small a part of a vector that the transposed product is faster. Bench:
/// ./dev bench --sweep, products.
bool is_thin(const Product& product) {
  const int64_t vector = kernels().product[static_cast<int>(product.dtype)].vector;
  return product.columns > 1 && 5 * product.columns <= 2 * vector && product.rows >= kThinRows * product.columns;
}

/// Whether rows of the result are not longer than a vector, and the products too few for tiles of several vectors.
bool is_narrow(const Product& product, int64_t vector) {
  if (product.b.column_stride != 1 || product.columns > vector) return false;
  if (product.rows == 1) return product.depth <= kVectorDepth;
  if (product.rows * product.columns > kSmallPart)
    return product.depth <= (is_thin(product) ? kThinDepth : kNarrowDepth);
  return product.depth <= kNarrowDepth || product.rows * product.depth <= kNarrowVectors;
}

bool is_small(const Product& product) {
  const int64_t vector = kernels().product[static_cast<int>(product.dtype)].vector;
  if (is_short_dots(product) && product.rows * product.columns <= kSmallProducts) return true;
  if (is_narrow(product, vector)) return true;
  const bool is_long_dot = product.depth > kSmall && product.b.row_stride == 1;
  const bool are_outer = product.depth == 1 && product.rows > 1 && product.batches > 1;
  if (!is_long_dot && !are_outer && products_of(product) <= kSmallProducts * static_cast<double>(product.batches))
    return true;
  if (product.rows > kSmall || product.columns > kSmall || product.depth > kSmall) return false;
  if (product.batches == 1) return false;
  return product.b.column_stride == 1 ? product.columns >= vector : product.columns * product.depth <= kSmallProducts;
}

/// Multiplies small matrices of which those of `b` do not lie by rows: some at a time are copied to rows.
template <class T>
void multiply_copies(const ProductKernels& kernels, SmallProducts own, const Matrices& b) {
  const int64_t each = own.block.depth * own.block.columns, count = own.batches,
                result = own.block.rows * own.block.columns;
  alignas(64) T rows[kSmallProducts];
  const int64_t together = kSmallProducts / each;
  const T* from = reinterpret_cast<const T*>(own.block.b);
  own.block.b = rows;
  own.block.b_depth = own.block.columns;
  own.b_batch = each;
  // exact: inside the storages
  for (int64_t done = 0; done < count; done += own.batches) {
    own.batches = std::min(together, count - done);
    for (int64_t i = 0; i < own.batches; ++i, from += b.batch_stride)
      pack(rows + i * each, own.block.columns, from, b.row_stride, b.column_stride, own.block.depth, own.block.columns);
    kernels.multiply_small(own);
    own.block.a = static_cast<const T*>(own.block.a) + own.batches * own.a_batch;
    own.block.out = static_cast<T*>(own.block.out) + own.batches * result;
  }
}

/// The small matrices of a product.
SmallProducts small_products(const Product& product) {
  SmallProducts all{{}, product.batches, product.a.batch_stride, product.b.batch_stride};
  all.block.out = product.out;
  all.block.a = product.a.data;
  all.block.b = product.b.data;
  all.block.a_row = product.a.row_stride;
  all.block.a_depth = product.a.column_stride;
  all.block.out_stride = product.columns;
  all.block.b_depth = is_short_dots(product) ? product.b.column_stride : product.b.row_stride;
  all.block.rows = product.rows;
  all.block.columns = product.columns;
  all.block.depth = product.depth;
  return all;
}
/// Whether the kernel turns matrices of `b` itself.
bool has_columns_to_turn(const Product& product) {
  return product.b.row_stride == 1 && product.b.column_stride > 0 && product.depth <= kTurnedSizes &&
         product.columns <= kTurnedSizes && product.depth * product.columns <= kTurnedNumel;
}
/// Multiplies some of them.
void run_small_products(const Product& product, const SmallProducts& own) {
  const ProductKernels& kernel = kernels().product[static_cast<int>(product.dtype)];
  if (is_short_dots(product)) return kernel.multiply_transposed(own);
  if (product.b.column_stride == 1) return kernel.multiply_small(own);
  if (has_columns_to_turn(product)) {
    SmallProducts turned = own;
    turned.block.b_panel = product.b.column_stride;
    return kernel.multiply_small(turned);
  }
  if (itemsize(product.dtype) == 4) return multiply_copies<uint32_t>(kernel, own, product.b);
  multiply_copies<uint64_t>(kernel, own, product.b);
}

void multiply_small(const Product& product) {
  const SmallProducts all = small_products(product);
  const int64_t width = itemsize(product.dtype), numel = product.rows * product.columns;
  // The rows of large results are divided, others are taken several together. No part has a single row of several.
  const int64_t pieces = std::max<int64_t>(numel / kSmallPart, 1);
  const Cut cut(product.batches,
                pieces > 1 ? product.batches : std::max<int64_t>(product.batches * numel / kSmallPart, 1), 1);
  note_product(product, "small products", 0);
  run_or_plan(product.out, cut.count * pieces, [&](int64_t part) {
    // exact: inside the operands and the output
    const int64_t first = part / pieces * cut.length, piece = part % pieces;
    const int64_t row = product.rows * piece / pieces, end = product.rows * (piece + 1) / pieces;
    SmallProducts own = all;
    own.batches = std::min(cut.length, product.batches - first);
    own.block.rows = end - row;
    own.block.out = product.out + (first * numel + row * product.columns) * width;
    own.block.a = product.a.data + (first * product.a.batch_stride + row * product.a.row_stride) * width;
    own.block.b = product.b.data + first * product.b.batch_stride * width;
    run_small_products(product, own);
  });
}

/// Whether a row is multiplied by a narrow matrix of many rows.
bool is_long_row(const Product& product) {
  const int64_t vector = kernels().product[static_cast<int>(product.dtype)].vector;
  return product.rows == 1 && product.columns > 1 && product.columns <= vector && product.b.column_stride == 1 &&
         product.depth > kVectorDepth;
}

// At most as many columns as a vector has lanes, and sums that are computed together.
constexpr int64_t kLongRowColumns = 16, kLongRowSums = 16;

/// One row, as sums of kVectorDepth products, which are small products of their own.
template <class T, class Sum>
void multiply_long_row(const ProductKernels& kernel, SmallProducts own, int64_t depth) {
  const int64_t columns = own.block.columns;
  T results[kLongRowSums * kLongRowColumns];
  Sum sums[kLongRowColumns] = {};
  T* const out = static_cast<T*>(own.block.out);
  own.block.out = results;
  own.a_batch = kVectorDepth * own.block.a_depth;
  own.b_batch = kVectorDepth * own.block.b_depth;
  for (int64_t left = depth, taken = 0; left > 0; left -= taken) {
    check_interrupt();
    own.batches = std::min(kLongRowSums, left / kVectorDepth);
    own.block.depth = own.batches > 0 ? kVectorDepth : left;
    own.batches = std::max<int64_t>(own.batches, 1);
    taken = own.batches * own.block.depth;
    kernel.multiply_small(own);
    for (int64_t batch = 0; batch < own.batches; ++batch)
      for (int64_t i = 0; i < columns; ++i) sums[i] += static_cast<Sum>(results[batch * columns + i]);
    own.block.a = static_cast<const T*>(own.block.a) + taken * own.block.a_depth;
    own.block.b = static_cast<const T*>(own.block.b) + taken * own.block.b_depth;
  }
  for (int64_t i = 0; i < columns; ++i) out[i] = static_cast<T>(sums[i]);
}

void multiply_long_rows(const Product& product) {
  const SmallProducts all = small_products(product);
  const int64_t width = itemsize(product.dtype);
  note_product(product, "small products", 0);
  run_or_plan(product.out, product.batches, [&](int64_t batch) {
    const ProductKernels& kernel = kernels().product[static_cast<int>(product.dtype)];
    SmallProducts own = all;
    // exact: inside the operands and the output
    own.block.out = product.out + batch * product.columns * width;
    own.block.a = product.a.data + batch * product.a.batch_stride * width;
    own.block.b = product.b.data + batch * product.b.batch_stride * width;
    if (product.dtype == float32) return multiply_long_row<float, double>(kernel, own, product.depth);
    if (product.dtype == float64) return multiply_long_row<double, double>(kernel, own, product.depth);
    if (width == 4) return multiply_long_row<uint32_t, uint32_t>(kernel, own, product.depth);
    multiply_long_row<uint64_t, uint64_t>(kernel, own, product.depth);
  });
}

/// Whether nothing is added: each element is one product.
bool is_outer(const Product& product) {
  const int64_t width = itemsize(product.dtype);
  return product.depth == 1 && product.rows > 1 && product.columns > 1 &&
         (product.b.column_stride != 1 || product.columns >= kOuterRowBytes / width ||
          product.batches * product.rows * product.columns > kOuterBytes / width);
}

/// A column times a row is an elementwise operation.
struct Outer {
  explicit Outer(const Product& product);

  Program program;
  Plan plan;
  Schedule schedule;
};
Outer::Outer(const Product& product) {
  const Dims sizes{product.batches, product.rows, product.columns};
  const Dims row_major{product.rows * product.columns, product.columns, 1};  // exact: inside the output
  const Dims column{product.a.batch_stride, product.a.row_stride, 0},
      row{product.b.batch_stride, 0, product.b.column_stride};
  const StridedView operands[] = {{sizes, row_major}, {sizes, column}, {sizes, row}};
  const int factors[] = {program.input(product.dtype), program.input(product.dtype)};
  program.op(Op::mul, product.dtype, product.dtype, 2, factors);
  make_plan(sizes, operands, 3, plan, 1, FairRuns::of_rows(itemsize(product.dtype)));
  const void* const out = product.out;
  const void* const inputs[] = {product.a.data, product.b.data};
  make_schedule(plan, program, Memory::of(program, &out, inputs), schedule);
}

void multiply_outer(const Product& product) {
  const Outer outer(product);
  void* out = product.out;
  const void* const inputs[] = {product.a.data, product.b.data};
  run(outer.plan, outer.program, outer.schedule, &out, inputs);
}

/// The same of few elements, without a plan; false if it needs one, or the kernel of products. Bench: ./dev bench
/// --sweep, products.
bool multiply_small_outer(const Product& product) {
  const int64_t width = itemsize(product.dtype), batches = product.batches;
  if (product.depth != 1 || product.rows == 1 || product.columns * width < kOuterRowBytes || CourseRecord::now())
    return false;
  // exact: the output has memory for them
  if (batches * product.rows * product.columns > kSmallRowsNumel) return false;
  const Dims column{batches, product.rows, 1}, row{batches, 1, product.columns};
  const Dims column_strides{product.a.batch_stride, product.a.row_stride, 1};
  const Dims row_strides{product.b.batch_stride, 1, product.b.column_stride};
  const StridedView operands[] = {{column, column_strides}, {row, row_strides}};
  SmallBroadcast<2> broadcast;
  broadcast.rows_kernel = rows_kernel_of(Op::mul, product.dtype);
  if (!broadcast.set(operands, width, batches * std::max(product.rows, product.columns), false, ResultStrides::given))
    return false;
  broadcast.data[0] = product.a.data;
  broadcast.data[1] = product.b.data;
  broadcast.casts[0] = broadcast.casts[1] = nullptr;
  run_small(broadcast, kernel_of(Op::mul, product.dtype), width, product.out);
  return true;
}

/// Multiplies some rows at a time, transposed, and transposes what comes out.
template <class T>
void multiply_thin(const Product& product) {
  const auto transpose = kernels().move[std::countr_zero(sizeof(T))].transpose;
  const int64_t columns = product.columns, most = kThinBytes / static_cast<int64_t>(sizeof(T)) / columns;
  const int64_t blocks = (product.rows + most - 1) / most;
  note_product(product, "thin product", 0);
  run_or_plan(product.out, product.batches * blocks, [&](int64_t part) {
    // exact: inside the operands and the output
    const int64_t batch = part / blocks, piece = part % blocks, row = product.rows * piece / blocks;
    const int64_t rows =
        product.rows * (piece + 1) / blocks - row;  // about as many in each: few rows are summed in another order
    alignas(64) std::byte block[kThinBytes];
    constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
    Product turned = transposed(product);
    turned.batches = 1;
    turned.columns = rows;
    turned.a.data += batch * turned.a.batch_stride * kWidth;
    turned.b.data += (batch * turned.b.batch_stride + row * turned.b.column_stride) * kWidth;
    turned.out = block;
    const Unrecorded inside;
    multiply(turned);
    transpose(product.out + (batch * product.rows + row) * columns * kWidth, columns, block, rows, rows, columns);
  });
}

/// How copied pairs lie. Those of a matrix that is contiguous along depth stay side by side in either case.
enum class PairOrder { across_depth, along_depth };

/// Matrices of bfloat16 as pairs of neighbours along depth, each of the size of a float32. Copied, unless they lie like
/// that in memory.
class PairedMatrices {
 public:
  /// `along`, `other`: the strides of the depth and of the other dim.
  PairedMatrices(const Matrices& m, int64_t along, int64_t other, int64_t batches, int64_t depth, int64_t count,
                 PairOrder order)
      : depth_((depth + 1) / 2), batches_(m.batch_stride == 0 ? 1 : batches) {
    const bool is_aligned = reinterpret_cast<uintptr_t>(m.data) % sizeof(uint32_t) == 0;
    // Overlapping rows one pair apart look like columns side by side, behind which kernels read: they are copied.
    if (along == 1 && is_aligned && (depth | m.batch_stride | other) % 2 == 0 && other != 2) {
      data = m.data;
      batch_stride = m.batch_stride / 2;
      along_stride = 1;
      other_stride = other / 2;
      return;
    }
    batch_stride = batches_ == 1 ? 0 : depth_ * count;
    const bool side_by_side = order == PairOrder::along_depth || along == 1;
    along_stride = side_by_side ? 1 : count;
    other_stride = side_by_side ? depth_ : 1;
    data = nullptr;
    if (!m.data) return;                                                              // only planned
    const int64_t pairs = batches_ * depth_ * count, slack = kernels().vector_bytes;  // whole vectors are read
    copy_ = static_cast<std::byte*>(recycle::allocate(bytes_ = pairs * kPair + slack));
    std::memset(copy_ + pairs * kPair, 0, static_cast<std::size_t>(slack));
    data = copy_;
    for (int64_t batch = 0; batch < batches_; ++batch)
      copy(reinterpret_cast<uint32_t*>(copy_) + batch * depth_ * count,
           reinterpret_cast<const uint16_t*>(m.data) + batch * m.batch_stride, along, other, depth, count);
  }
  ~PairedMatrices() {
    if (copy_) recycle::deallocate(copy_, bytes_);
  }
  PairedMatrices(const PairedMatrices&) = delete;
  PairedMatrices& operator=(const PairedMatrices&) = delete;

  const std::byte* data;
  int64_t batch_stride, along_stride, other_stride;

 private:
  static constexpr int64_t kPair = sizeof(uint32_t);

  void copy(uint32_t* to, const uint16_t* from, int64_t along, int64_t other, int64_t depth, int64_t count) const {
    if (along == 1) {
      for (int64_t i = 0; i < count; ++i) {
        to[(i + 1) * depth_ - 1] = 0;
        std::memcpy(to + i * depth_, from + i * other, static_cast<std::size_t>(depth) * sizeof(uint16_t));
      }
      return;
    }
    const int64_t whole = depth / 2;
    if (along_stride == 1) {
      for (int64_t i = 0; i < count; ++i, to += depth_, from += other) {
        for (int64_t k = 0; k < whole; ++k)
          to[k] = from[2 * k * along] | static_cast<uint32_t>(from[(2 * k + 1) * along]) << 16;
        if (whole < depth_) to[whole] = from[2 * whole * along];
      }
      return;
    }
    for (int64_t k = 0; k < whole; ++k, to += count, from += 2 * along) {
      if (other == 1)
        kernels().move[1].interleave(to, from, from + along, count);
      else
        for (int64_t i = 0; i < count; ++i)
          to[i] = from[i * other] | static_cast<uint32_t>(from[along + i * other]) << 16;
    }
    if (whole < depth_)
      for (int64_t i = 0; i < count; ++i) to[i] = from[i * other];
  }

  int64_t depth_, batches_, bytes_ = 0;
  std::byte* copy_ = nullptr;
};

void multiply_pairs(const Product& product) {
  const auto &a = product.a, &b = product.b;
  const PairedMatrices left(a, a.column_stride, a.row_stride, product.batches, product.depth, product.rows,
                            PairOrder::across_depth);
  const bool sums_pairs =
      a.column_stride == 1 && product.columns <= kPairDotColumns && (product.depth + 1) / 2 >= kPairDotDepth;
  const PairedMatrices right(b, b.row_stride, b.column_stride, product.batches, product.depth, product.columns,
                             sums_pairs ? PairOrder::along_depth : PairOrder::across_depth);
  Product pairs = product;
  pairs.depth = (product.depth + 1) / 2;
  pairs.a = {left.data, left.batch_stride, left.other_stride, left.along_stride};
  pairs.b = {right.data, right.batch_stride, right.along_stride, right.other_stride};
  multiply_as<uint32_t>(pairs);
}

void multiply_bfloat16(const Product& product) {
  if (!has_matrix_product(product.rows, product.columns, product.depth)) return multiply_pairs(product);
  note_product(product, "matrix unit", matrix_product_bytes(product));
  if (product.out) multiply_by_matrix_unit(product, float32);
}

}  // namespace

bool multiplies_pairs(int64_t rows, int64_t columns, int64_t depth) {
  // Below so many rows and columns the operands are read once or twice: float32 is as fast.
  const bool is_wide = columns >= 16 || (columns > 1 && depth % 2 == 0 && rows >= 64);
  return kernels().product[static_cast<int>(bfloat16)].multiply && rows >= 8 && is_wide && depth >= 16 &&
         rows * columns >= kPairedProducts / depth;
}

bool fails_before_it_writes(const Product& product) {
  if (is_small(product)) return products_of(product) <= kQuickProducts;
  if (is_outer(product)) return Outer(product).schedule.scratch_bytes <= Scratch::kOnStack;
  // Others take their memory before they write. But nothing interrupts what is written where it is wanted.
  return !is_thin(product) && products_of(product) <= kQuickProducts;
}

bool multiplies_at_once(const Product& product) {
  if (products_of(product) > kSmallProducts || CourseRecord::now()) return false;
  return is_small(product.columns == 1 && product.rows > 1 ? transposed(product) : product);
}
void multiply_at_once(const Product& product) {
  if (product.columns == 1 && product.rows > 1) return multiply_at_once(transposed(product));
  if (multiply_small_outer(product)) return;
  run_small_products(product, small_products(product));
}

void multiply(const Product& product) {
  if (product.dtype == bfloat16) return multiply_bfloat16(product);
  if (product.columns == 1 && product.rows > 1) return multiply(transposed(product));
  if (multiply_small_outer(product)) return;
  if (is_small(product)) return multiply_small(product);
  if (is_outer(product)) return multiply_outer(product);
  if (is_long_row(product)) return multiply_long_rows(product);
  if (is_thin(product))
    return itemsize(product.dtype) == 4 ? multiply_thin<uint32_t>(product) : multiply_thin<uint64_t>(product);
  itemsize(product.dtype) == 4 ? multiply_as<uint32_t>(product) : multiply_as<uint64_t>(product);
}

}  // namespace tenon
