// tril, triu, diag: elements on, above and below diagonals.
#include <algorithm>
#include <cstring>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "kernel/copy_run.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tile/pool.h"

namespace tenon {
namespace {

/// Which side of the diagonal keeps its elements.
enum class Side : uint8_t { lower, upper };

// Bytes of a thread's part: smaller matrices stay on the caller. Bench: tenon_bench --ops --filter 'ops/(tril|triu)$'.
constexpr int64_t kPartBytes = 1 << 17;

/// A run of rows that keep the same columns: one row, or several that keep all or none of them.
struct AlikeRows {
  int64_t end;  // the columns on and left of the diagonal
  int64_t count;
};
/// The rows from `row` of a matrix on; `diagonal` is between -rows and columns.
AlikeRows alike_rows(int64_t row, int64_t rows, int64_t columns, int64_t diagonal) {
  const int64_t end = std::clamp<int64_t>(row + diagonal + 1, 0, columns);  // exact: sizes
  return {end, end == columns ? rows - row : end == 0 ? -diagonal - row : 1};
}

/// Writes one row, or several that are alike as one: copies the kept elements, unless in place, and sets the rest to 0.
void write_row(std::byte* to, const std::byte* from, Side side, int64_t end, int64_t columns, int64_t width) {
  // exact: inside a row
  const auto kept = static_cast<std::size_t>((side == Side::lower ? end : columns - end) * width),
             all = static_cast<std::size_t>(columns * width), rest = all - kept;
  const std::size_t first = side == Side::lower ? 0 : rest;
  if (to != from) copy_run(to + first, from + first, static_cast<int64_t>(kept));
  std::memset(to + (side == Side::lower ? kept : 0), 0, rest);
}

/// Writes the triangles of row-major matrices: those of `source`, which is `to` itself or also row-major.
void write_triangles(const Tensor& to, const Tensor& source, Side side, int64_t diagonal) {
  const std::byte* const from = source.impl()->data();
  const bool copies = !source.is(to);
  const int64_t columns = to.size(-1), rows = to.size(-2), all = to.numel() / columns, width = to.itemsize();
  // exact: sizes
  const int64_t below = std::clamp(std::max(diagonal, -rows) - (side == Side::lower ? 0 : 1), -rows, columns);
  std::byte* const data = to.impl()->data();
  // exact: inside the storages
  const int64_t row_bytes = columns * width, each = std::max<int64_t>(kPartBytes / row_bytes, 1);
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = copies ? "rows copied" : "rows cleared", .stores = "in place"});
  run_or_plan(data, (all + each - 1) / each, [&](int64_t part) {
    int64_t first = part * each, of_matrix = first % rows;
    for (const int64_t end = std::min(all, first + each); first < end;) {
      const AlikeRows alike = alike_rows(of_matrix, rows, columns, below);
      const int64_t count = std::min(alike.count, end - first);
      write_row(data + first * row_bytes, from + first * row_bytes, side, alike.end * count, columns * count, width);
      first += count;
      of_matrix = of_matrix + count < rows ? of_matrix + count : 0;
    }
  });
}

void check_matrices(Op op, const Tensor& self) {
  if (self.dim() < 2) throw Error(std::string(row_of(op).name) + ": input tensor must have at least 2 dimensions");
}

Tensor triangle(Op op, Side side, const Tensor& self, int64_t diagonal) {
  check_matrices(op, self);
  const bool is_empty = self.numel() == 0 || !is_computed(self), row_major = self.impl()->row_major;
  if (!is_empty) check_has_code(row_of(op), self.dtype());
  Tensor result =
      row_major ? new_tensor(self.sizes(), self.dtype(), self.device()) : run_clone(self, MemoryFormat::contiguous);
  if (is_empty) return result;
  write_triangles(result, row_major ? self : result, side, diagonal);
  return result;
}

void triangle_inplace(Op op, Side side, const Tensor& self, int64_t diagonal) {
  check_matrices(op, self);
  if (!self.impl()->row_major || self.numel() == 0 || self.is_meta())
    return run_copy(self, triangle(op, side, self, diagonal));
  check_has_code(row_of(op), self.dtype());
  const Uninterrupted whole;
  write_triangles(self, self, side, diagonal);
  bump_version(self);
}

}  // namespace

Tensor plain::tril(const Tensor& self, int64_t diagonal) { return triangle(Op::tril, Side::lower, self, diagonal); }
Tensor plain::triu(const Tensor& self, int64_t diagonal) { return triangle(Op::triu, Side::upper, self, diagonal); }
void plain::tril_inplace(const Tensor& self, int64_t diagonal) {
  triangle_inplace(Op::tril, Side::lower, self, diagonal);
}
void plain::triu_inplace(const Tensor& self, int64_t diagonal) {
  triangle_inplace(Op::triu, Side::upper, self, diagonal);
}

Tensor plain::diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = self.dim() + 1, row = wrap_dim(dim1, ndim), column = wrap_dim(dim2, ndim);
  if (row == column)
    throw Error("diagonal dimensions cannot be identical " + std::to_string(dim1) + ", " + std::to_string(dim2));
  const Checked distance = offset < 0 ? Checked(0) - offset : Checked(offset);
  const int64_t length = (distance + self.size(-1)).or_else([] { throw Error("diag_embed: the offset is too large"); });
  Dims sizes(ndim, length);
  int64_t dim = 0;
  for (int64_t i = 0; i < ndim; ++i)
    if (i != row && i != column) sizes[i] = self.sizes()[dim++];
  const Tensor result = zeros(sizes, Options(self.dtype(), self.device()));
  run_copy(result.diagonal(offset, row, column), self);
  forget_writes(result);
  return result;
}

Tensor plain::diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  return run_clone(self.detach().diagonal(offset, dim1, dim2), MemoryFormat::contiguous);
}

/// PyTorch does not record it, but checks that `out` is not a leaf that requires grad.
Tensor& plain::diagonal_copy_out(Tensor& out, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  check_out_unrecorded("aten::diagonal_copy", out, nullptr, 0);
  return write_result(Op::diagonal_copy, out, plain::diagonal_copy(self, offset, dim1, dim2));
}

Tensor plain::diag(const Tensor& self, int64_t diagonal) {
  if (self.dim() != 1 && self.dim() != 2)
    throw Error("diag(): Supports 1D or 2D tensors. Got " + std::to_string(self.dim()) + "D");
  return self.dim() == 1 ? tenon::diag_embed(self, diagonal) : tenon::diagonal_copy(self, diagonal);
}

Tensor& plain::diag_out(Tensor& out, const Tensor& self, int64_t diagonal) {
  if (self.dim() != 1 && self.dim() != 2)
    throw Error("Supports 1D or 2D tensors. Got " + std::to_string(self.dim()) + "D");
  if (self.dim() == 1 && !can_cast(self.dtype(), out.dtype()))
    throw Error(std::string("diag: result type ") + scalar_type_name(self.dtype()) +
                " can't be cast to the desired out= type " + scalar_type_name(out.dtype()));
  if (self.dim() == 2) return plain::diagonal_copy_out(out, self, diagonal, 0, 1);
  check_out_unrecorded("aten::diag_embed", out, nullptr, 0);
  return write_result(Op::diag, out, plain::diag_embed(self, diagonal, -2, -1));
}

Tensor plain::diagflat(const Tensor& self, int64_t offset) { return self.contiguous().view({-1}).diag(offset); }

}  // namespace tenon
