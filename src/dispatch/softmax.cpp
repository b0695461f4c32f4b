// softmax and its logarithm along one dim. PyTorch: `softmax_cpu_out`, `log_softmax_cpu_out`.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "kernel/kernel.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/scratch.h"

namespace tenon {
namespace {

// Elements of a thread's part: work that is smaller stays on the caller.
constexpr int64_t kPartElements = 1 << 14;
// Elements that a part works on at once: they stay in the cache while they are read three times.
constexpr int64_t kTileElements = 1 << 13;
// Shorter rows are transposed, so that vectors hold elements of different rows.
constexpr int64_t kShortRow = 48;
// Columns are computed side by side, two cache lines at the least.
constexpr int64_t kFewestColumns = 32;
// And of 16-bit floats, of which rows of a tile are cast by a call each; of longer columns a tile would leave the
// caches.
constexpr int64_t kFewestCastColumns = 128, kWideLength = 2048;
// Fewer columns are transposed, so that vectors hold elements of one column, or of several small blocks.
constexpr int64_t kFewColumns = 16, kFewBlocks = 8, kSmallBlock = 512;
// Lanes of the widest vector: a part of one takes longer than the whole.
constexpr int64_t kLanes = 16;

/// A row-major tensor as [outer, length, inner] elements.
struct Blocks {
  int64_t outer = 1, length, inner = 1;

  Blocks(SizesView sizes, int64_t dim) : length(sizes.empty() ? 1 : sizes[dim]) {
    // exact: parts of the number of elements
    for (int64_t i = 0; i < dim; ++i) outer *= sizes[i];
    for (int64_t i = dim + 1; i < sizes.size(); ++i) inner *= sizes[i];
    if (length == 1) inner *= std::exchange(outer, 1);  // columns of one element each
  }
};

/// One call: elements of `dtype` in memory, computed in `inside`.
struct Softmax {
  Dtype dtype, inside;
  bool is_log;
  Blocks blocks;
  const std::byte* from;
  std::byte* to;

  const SoftmaxKernels& kernel() const { return kernels().softmax[static_cast<std::size_t>(inside)]; }
  int64_t width() const { return itemsize(inside); }
  bool casts() const { return dtype != inside; }
  bool along() const { return blocks.inner == 1; }
  int64_t block() const { return blocks.length * blocks.inner; }  // elements. exact: inside the storage

  /// Whether several rows, or blocks of few columns, are transposed together.
  bool transposes() const {
    if (along()) return blocks.length < kShortRow && blocks.length > 1;
    return blocks.inner < kFewColumns && blocks.outer >= kFewBlocks && block() <= kSmallBlock;
  }
  /// Whether a block of few columns becomes rows.
  bool turns() const { return !along() && !transposes() && blocks.inner < kFewColumns; }
  /// Whether the results of so many columns get memory of their own, so that the last vector may repeat some of them.
  bool computes_apart(int64_t count) const {
    return casts() && !turns() && blocks.length <= kWideLength && count > kLanes && count % kLanes != 0;
  }

  /// Columns of a tile. The last one also has the rest, if that is less than a vector.
  int64_t columns() const {
    const bool is_wide = casts() && blocks.length <= kWideLength;
    const int64_t fewest = is_wide ? kFewestCastColumns : kFewestColumns;
    return std::min(blocks.inner, std::max(kTileElements / blocks.length / fewest, int64_t{1}) * fewest);
  }
  /// Rows, or blocks that are transposed together.
  int64_t rows_at_once() const {
    if (!transposes()) return std::max<int64_t>(kTileElements / blocks.length, 1);
    return std::min(blocks.outer, std::max<int64_t>(kTileElements / block() / kFewestColumns, 1) * kFewestColumns);
  }
  /// The rows of a transposed tile are whole vectors.
  int64_t padded(int64_t rows) const {
    // exact: few more than the rows
    return rows * blocks.inner % kLanes == 0 ? rows : (rows + kLanes - 1) / kLanes * kLanes;
  }
  int64_t scratch_bytes() const {
    // exact: parts of the tensor, or few
    const bool by_rows = along() || transposes(), is_even = blocks.inner % kLanes == 0;
    const int64_t widest = is_even ? columns() : std::min(blocks.inner, columns() + kLanes);
    const int64_t tile = by_rows ? rows_at_once() * block() : widest * blocks.length;
    const int64_t apart = !by_rows && !is_even && blocks.length <= kWideLength && !turns() ? tile : 0;
    const int64_t transposed = transposes() ? padded(rows_at_once()) * block() : turns() ? tile : 0;
    return (casts() ? tile + apart : 0) * width() + transposed * width();
  }

  // exact: inside the storages
  void cast_in(std::byte* wide, int64_t first, int64_t count) const {
    const Lanes lanes{from + first * itemsize(dtype), 1};
    kernels().cast[static_cast<int>(dtype)][static_cast<int>(inside)](wide, &lanes, count);
  }
  void cast_out(const std::byte* wide, int64_t first, int64_t count) const {
    const Lanes lanes{wide, 1};
    kernels().cast[static_cast<int>(inside)][static_cast<int>(dtype)](to + first * itemsize(dtype), &lanes, count);
  }

  /// Rows from `first` on, at most rows_at_once().
  void run_rows(int64_t first, int64_t rows, std::byte* scratch) const {
    // exact: inside the storages
    const int64_t start = first * block(), count = rows * block();
    const std::byte* source = from + start * itemsize(dtype);
    std::byte* target = to + start * itemsize(dtype);
    if (casts()) {
      cast_in(scratch, start, count);
      source = target = scratch;
      scratch += count * width();
    }
    if (transposes())
      run_transposed(source, target, rows, scratch);
    else
      kernel().along(target, source, rows, blocks.length, is_log);
    if (casts()) cast_out(target, start, count);
  }
  /// Row i of the tile has the elements at place i of all blocks.
  void run_transposed(const std::byte* source, std::byte* target, int64_t rows, std::byte* tile) const {
    const auto transpose = kernels().move[std::countr_zero(static_cast<uint64_t>(width()))].transpose;
    const int64_t stride = padded(rows), columns = blocks.inner * stride;
    transpose(tile, stride, source, block(), block(), rows);
    for (int64_t i = 0; i < block() && rows < stride; ++i)
      std::memset(tile + (i * stride + rows) * width(), 0, static_cast<std::size_t>((stride - rows) * width()));
    kernel().across(tile, tile, blocks.length, columns, columns, is_log);
    transpose(target, block(), tile, stride, rows, block());
  }

  /// `count` columns of a block.
  void run_columns(int64_t block, int64_t column, int64_t count, std::byte* scratch) const {
    // exact: inside the storages
    const int64_t start = block * blocks.length * blocks.inner + column, bytes = itemsize(dtype);
    if (!casts()) return run_block(to + start * bytes, from + start * bytes, count, blocks.inner, scratch);
    std::byte* const behind = scratch + count * blocks.length * width();
    std::byte* const result = computes_apart(count) ? behind : scratch;
    if (count == blocks.inner) {  // rows follow each other
      cast_in(scratch, start, count * blocks.length);
      run_block(result, scratch, count, count, behind);
      return cast_out(result, start, count * blocks.length);
    }
    for (int64_t row = 0; row < blocks.length; ++row)
      cast_in(scratch + row * count * width(), start + row * blocks.inner, count);
    run_block(result, scratch, count, count, behind);
    for (int64_t row = 0; row < blocks.length; ++row)
      cast_out(result + row * count * width(), start + row * blocks.inner, count);
  }
  /// Columns of which the rows are `stride` elements apart.
  void run_block(std::byte* target, const std::byte* source, int64_t count, int64_t stride, std::byte* tile) const {
    if (!turns()) return kernel().across(target, source, blocks.length, count, stride, is_log);
    const auto transpose = kernels().move[std::countr_zero(static_cast<uint64_t>(width()))].transpose;
    transpose(tile, blocks.length, source, stride, count, blocks.length);
    kernel().along(tile, tile, count, blocks.length, is_log);
    transpose(target, stride, tile, blocks.length, blocks.length, count);
  }

  void note() const {
    if (CourseRecord::now()) [[unlikely]]
      note_course({.route = along() ? "along" : "across", .stores = "in place", .scratch_bytes = scratch_bytes()});
  }
  void run() const {
    note();
    along() || transposes() ? run_all_rows() : run_all_columns();
  }
  void run_all_rows() const {
    // exact: at most the number of elements, or few
    const int64_t tile = rows_at_once();
    const int64_t part_rows = std::max<int64_t>(kPartElements / (block() * tile), 1) * tile;
    run_or_plan(
        to, (blocks.outer + part_rows - 1) / part_rows, [&] { return Scratch(scratch_bytes()); },
        [&](Scratch& scratch, int64_t part) {
          check_interrupt();
          const int64_t end = std::min(blocks.outer, (part + 1) * part_rows);
          for (int64_t row = part * part_rows; row < end; row += tile)
            run_rows(row, std::min(tile, end - row), scratch.data());
        });
  }
  void run_all_columns() const {
    const int64_t tile = columns(), tiles = std::max<int64_t>((blocks.inner + tile - kLanes) / tile, 1);
    const int64_t together = std::max<int64_t>(kPartElements / (blocks.length * tile), 1), count = blocks.outer * tiles;
    run_or_plan(
        to, (count + together - 1) / together, [&] { return Scratch(scratch_bytes()); },
        [&](Scratch& scratch, int64_t part) {
          check_interrupt();
          for (int64_t i = part * together; i < std::min(count, (part + 1) * together); ++i) {
            const int64_t column = i % tiles * tile, rest = blocks.inner - column;
            run_columns(i / tiles, column, rest < tile + kLanes ? rest : tile, scratch.data());
          }
        });
  }
};

/// `self` in the dtype asked for.
Tensor in_dtype(const Tensor& self, std::optional<Dtype> dtype) {
  if (!dtype || *dtype == self.dtype()) return self;
  if (is_computed(self)) warn_of_lost_parts(self.dtype(), *dtype, self.numel());
  return run_to(self, *dtype, MemoryFormat::preserve);
}

void check_softmax(Op op, const Tensor& self, int64_t along) {
  if ((row_of(op).dtypes & set_of(self.dtype())) != 0) return;
  const bool is_last = along == std::max<int64_t>(self.dim() - 1, 0);
  if (op == Op::softmax) fail_no_code(is_last ? "softmax_lastdim_kernel_impl" : "softmax_kernel_impl", self.dtype());
  fail_no_code(is_last ? "log_softmax_lastdim_kernel_impl" : "log_softmax_kernel_impl", self.dtype());
}

Tensor softmax_of(Op op, const Tensor& self, int64_t dim) {
  const int64_t along = wrap_dim(dim, self.dim());
  Tensor result = new_tensor(self.sizes(), self.dtype(), self.device());
  if (!is_computed(self) || self.numel() == 0) return result;
  check_softmax(op, self, along);
  const Tensor rows = self.is_contiguous() ? self : run_clone(self, MemoryFormat::contiguous);
  Softmax{self.dtype(),
          widened(self.dtype()),
          op == Op::log_softmax,
          Blocks(self.sizes(), along),
          reinterpret_cast<const std::byte*>(rows.impl()->data()),
          reinterpret_cast<std::byte*>(result.impl()->data())}
      .run();
  return result;
}

Tensor& write_softmax(Op op, const char* name, Tensor& out, const Tensor& self, int64_t dim,
                      std::optional<Dtype> dtype) {
  const Arg operand(self);
  const Arg* const args[] = {&operand};
  check_out_unrecorded(name, out, args, 1);
  const Tensor given = in_dtype(self, dtype);
  wrap_dim(dim, self.dim());
  check_strict_out(out, given.dtype());
  return write_result(op, out, softmax_of(op, given, dim));
}

}  // namespace

Tensor plain::softmax(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  return softmax_of(Op::softmax, in_dtype(self, dtype), dim);
}
Tensor& plain::softmax_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  return write_softmax(Op::softmax, "aten::softmax", out, self, dim, dtype);
}

Tensor plain::log_softmax(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  return softmax_of(Op::log_softmax, in_dtype(self, dtype), dim);
}
Tensor& plain::log_softmax_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  return write_softmax(Op::log_softmax, "aten::log_softmax", out, self, dim, dtype);
}

Tensor plain::special_softmax(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  return tenon::softmax(self, dim, dtype);
}
Tensor plain::special_log_softmax(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  return tenon::log_softmax(self, dim, dtype);
}

}  // namespace tenon
