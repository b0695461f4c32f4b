// flip and roll.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "kernel/copy_run.h"
#include "kernel/kernel.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "tile/rolled_rows.h"
#include "tile/run.h"

namespace tenon {
namespace {

/// Elements that follow each other in memory as the indices of one dim do, or of several dims: all flipped or none.
struct Run {
  int64_t size;
  bool flipped;
};

/// The runs of a tensor without gaps, the one with the largest stride first. Of neighbours, one is flipped.
std::vector<Run> runs_of(SizesView sizes, SizesView strides, SizesView mask) {
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] > 1) dims.push_back(dim);
  std::sort(dims.begin(), dims.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  std::vector<Run> runs;
  for (int64_t dim : dims) {
    const bool flipped = mask[dim] != 0;
    if (!runs.empty() && runs.back().flipped == flipped)
      runs.back().size *= sizes[dim];  // exact: at most the number of elements
    else
      runs.push_back({sizes[dim], flipped});
  }
  if (runs.empty()) runs.push_back({1, false});
  return runs;
}

/// Writes elements of `width` bytes run by run.
struct Flip {
  int64_t width;
  decltype(MoveKernels::reverse) reverse = kernels().move[std::countr_zero(static_cast<uint64_t>(width))].reverse;

  void write(std::byte* to, const std::byte* from, std::span<const Run> runs) const {
    check_interrupt();
    const Run inner = runs.back();
    // exact: inside the storages
    if (runs.size() == 1) {
      if (inner.flipped) return reverse(to, from, inner.size, 1);
      copy_run(to, from, inner.size * width);
    } else if (runs.size() == 2) {
      if (inner.flipped) return reverse(to, from, inner.size, runs[0].size);
      kernels().reverse_rows(to, from, inner.size * width, runs[0].size);
    } else {
      int64_t block = width;
      for (const Run& run : runs.subspan(1)) block *= run.size;
      const int64_t last = runs[0].size - 1;
      for (int64_t i = 0; i <= last; ++i)
        write(to + i * block, from + (runs[0].flipped ? last - i : i) * block, runs.subspan(1));
    }
  }
};

/// The new index of element 0 along each dim; indices wrap round.
Dims rolled_starts(const Tensor& self, SizesView shifts, SizesView dims) {
  if (self.dim() == 0)
    throw IndexError("Dimension specified as " + std::to_string(dims[0]) + " but tensor has no dimensions");
  Dims starts(self.dim(), 0);
  for (int64_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], self.dim()), size = self.sizes()[dim];
    const int64_t rest = shifts[i] % size, back = rest > 0 ? size - rest : -rest;
    starts[dim] += starts[dim] < back ? size - back : -back;  // exact: both are less than a size
  }
  return starts;
}

/// The strides that PyTorch's cat gives the two parts, dim after dim: channels_last if both are, and neither is empty.
Dims rolled_strides(const Tensor& self, SizesView shifts, SizesView dims) {
  if (dims.empty()) return contiguous_strides(self.sizes());
  Dims strides = self.strides().copy();
  for (int64_t i = 0; i < dims.size(); ++i) {
    const MemoryFormat format = format_of(self.sizes(), strides);
    const bool keeps = format != MemoryFormat::contiguous && shifts[i] % self.size(dims[i]) != 0;
    strides = keeps ? strides_like(self.sizes(), strides, format) : contiguous_strides(self.sizes());
  }
  return strides;
}

/// Copies block by block. Along each dim there are two blocks, one of which may be empty.
void roll_blocks(const Tensor& to, const Tensor& from, SizesView starts, int64_t dim) {
  if (dim == from.dim()) return run_copy(to, from);
  const int64_t size = from.sizes()[dim], start = starts[dim];
  if (start == 0) return roll_blocks(to, from, starts, dim + 1);
  // exact: parts of one size
  roll_blocks(to.narrow(dim, start, size - start), from.narrow(dim, 0, size - start), starts, dim + 1);
  roll_blocks(to.narrow(dim, 0, start), from.narrow(dim, size - start, start), starts, dim + 1);
}

// Longer rows are rolled as fast by copies of blocks. Bench: ./dev bench-catalogue --filter roll.
constexpr int64_t kLongestRolledBytes = 1 << 10;

/// Rolls short rows in memory along one dim but the first one. False if the tensors have others.
bool roll_short_rows(const Tensor& to, const Tensor& from, SizesView starts) {
  if (!to.is_contiguous() || !from.is_contiguous() || std::count(starts.begin(), starts.end(), 0) != from.dim() - 1)
    return false;
  if (!is_computed(from) && !CourseRecord::plans_meta()) return false;
  const int64_t dim =
      std::find_if(starts.begin(), starts.end(), [](int64_t start) { return start != 0; }) - starts.begin();
  // exact: bytes of the tensor
  int64_t width = from.itemsize();
  for (int64_t inner = dim + 1; inner < from.dim(); ++inner) width *= from.sizes()[inner];
  const int64_t length = from.sizes()[dim] * width, start = starts[dim] * width;
  if (length > kLongestRolledBytes || from.nbytes() == length) return false;
  roll_rows(reinterpret_cast<std::byte*>(to.impl()->data()), reinterpret_cast<const std::byte*>(from.impl()->data()),
            from.nbytes() / length, length, start);
  return true;
}

/// Rolls into `out`, which is `result` or a view of it in another layout.
Tensor roll_into(const Tensor& result, const Tensor& out, const Tensor& self, SizesView starts) {
  if (!roll_short_rows(out, self, starts)) roll_blocks(out, self, starts, 0);
  forget_writes(result);
  return result;
}

Tensor rolled(const Tensor& self, SizesView shifts, SizesView dims) {
  const Dims starts = rolled_starts(self, shifts, dims);
  const Tensor result = new_tensor(self.sizes(), rolled_strides(self, shifts, dims), self.dtype(), self.device());
  return roll_into(result, result, self.detach(), starts);
}

}  // namespace

Dims mask_in_order(SizesView dims, int64_t ndim) {
  Dims mask(std::max<int64_t>(ndim, 1), 0);
  for (int64_t given : dims) {
    const int64_t dim = wrap_dim(given, ndim);
    if (mask[dim]) throw Error("dim " + std::to_string(dim) + " appears multiple times in the list of dims");
    mask[dim] = 1;
  }
  return mask;
}

Tensor plain::roll(const Tensor& self, const DimsArg& shifts_arg, const DimsArg& dims_arg) {
  const SizesView shifts = shifts_arg.view(), dims = dims_arg.view();
  if (dims.size() == 1 && shifts.size() == 1 && self.numel() == 0) return run_clone(self, MemoryFormat::preserve);
  if (shifts.empty()) throw Error("`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    if (self.numel() == 0) return run_clone(self, self.dim() == 1 ? MemoryFormat::preserve : MemoryFormat::contiguous);
    const Tensor source = self.impl()->row_major ? self : run_clone(self, MemoryFormat::contiguous);
    const Tensor row = source.detach().view({self.numel()}),
                 result = new_tensor(self.sizes(), self.dtype(), self.device());
    return roll_into(result, result.view({self.numel()}), row, rolled_starts(row, shifts, SizesView({0})));
  }
  if (shifts.size() != dims.size())
    throw Error("shifts and dimensions must align. shifts: " + std::to_string(shifts.size()) +
                ", dims:" + std::to_string(dims.size()));
  if (self.numel() == 0) return run_clone(self, MemoryFormat::preserve);
  return rolled(self, shifts, dims);
}

Tensor plain::flip(const Tensor& self, SizesView dims) {
  if (self.dim() > 64 && !self.is_meta()) throw Error("only tensors with up to 64 dims are supported");
  const Dims mask = mask_in_order(dims, self.dim());
  const Dims strides = dense_strides_like(self.sizes(), self.strides());
  Tensor result = new_tensor(self.sizes(), strides, self.dtype(), self.device());
  if (has_no_work(self.numel(), result.data_ptr())) return result;
  const Tensor dense = strides == self.strides() ? self : run_clone(self.detach(), MemoryFormat::preserve);
  const std::vector<Run> runs = runs_of(self.sizes(), strides, mask);
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = runs.back().flipped ? "runs reversed" : "runs copied", .stores = "in place", .parts = 1});
  if (!result.is_meta()) Flip{itemsize(self.dtype())}.write(result.impl()->data(), dense.impl()->data(), runs);
  return result;
}

}  // namespace tenon
