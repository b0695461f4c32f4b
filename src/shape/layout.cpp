// Strides of expand, view and memory formats.
#include <algorithm>
#include <iterator>

#include "base/checked.h"
#include "tenon/error.h"
#include "tenon/shape.h"

namespace tenon {
namespace {

/// The dims of a channels-last format from the largest stride to the smallest; empty for other formats.
SizesView format_order(MemoryFormat format) noexcept {
  static constexpr int64_t kLast[] = {0, 2, 3, 1}, kLast3d[] = {0, 2, 3, 4, 1};
  if (format == MemoryFormat::channels_last) return SizesView(kLast, std::ssize(kLast));
  if (format == MemoryFormat::channels_last_3d) return SizesView(kLast3d, std::ssize(kLast3d));
  return {};
}

}  // namespace

int64_t checked_numel(SizesView sizes) {
  // From the left, as PyTorch multiplies: after a 0 nothing overflows, before it something may. A negative size counts
  // as a huge one.
  uint64_t n = 1;
  bool overflow = false;
  for (int64_t size : sizes) overflow |= __builtin_mul_overflow(n, static_cast<uint64_t>(size), &n);
  if (overflow || n > static_cast<uint64_t>(INT64_MAX)) throw Error("numel: integer multiplication overflow");
  return static_cast<int64_t>(n);
}

void expand_layout(SizesView sizes, SizesView strides, SizesView desired, Dims& new_sizes, Dims& new_strides,
                   const char* type_name) {
  const int64_t ndim = desired.size(), lead = ndim - sizes.size();
  if (lead < 0)
    throw Error("expand(" + std::string(type_name) + "{" + to_string(sizes) + "}, size=" + to_string(desired) +
                "): the number of sizes provided (" + std::to_string(ndim) +
                ") must be greater or equal to the number of dimensions in the tensor (" +
                std::to_string(sizes.size()) + ")");
  new_sizes.resize(ndim);
  new_strides.resize(ndim);
  for (int64_t dim = ndim - 1; dim >= 0; --dim) {
    const bool existing = dim >= lead;
    int64_t size = existing ? sizes[dim - lead] : 1;
    Checked stride = existing        ? strides[dim - lead]
                     : sizes.empty() ? 0
                                     : Checked(new_sizes[dim + 1]) * new_strides[dim + 1];
    int64_t target = desired[dim];
    if (target == -1) {
      if (!existing)
        throw Error("The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension " +
                    std::to_string(dim));
      target = size;
    }
    if (size != target) {
      if (size != 1)
        throw Error("The expanded size of the tensor (" + std::to_string(target) + ") must match the existing size (" +
                    std::to_string(size) + ") at non-singleton dimension " + std::to_string(dim) +
                    ".  Target sizes: " + to_string(desired) + ".  Tensor sizes: " + to_string(sizes));
      size = target;
      stride = 0;
    }
    new_sizes[dim] = size;
    new_strides[dim] = stride_from(stride);
  }
  checked_numel(new_sizes);
}

Dims infer_view_sizes(SizesView sizes, int64_t numel) {
  Checked known = 1;
  int64_t unknown = -1;
  bool zero = false;
  for (int64_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == -1) {
      if (unknown >= 0) throw Error("only one dimension can be inferred");
      unknown = dim;
    } else if (sizes[dim] < 0) {
      throw Error("invalid shape dimension " + std::to_string(sizes[dim]) + " at index " + std::to_string(dim) +
                  " of shape " + to_string(sizes));
    } else {
      known *= sizes[dim];
      zero |= sizes[dim] == 0;
    }
  }
  if (zero) known = 0;
  if (unknown >= 0 && numel == 0 && known.is(0))
    throw Error("cannot reshape tensor of 0 elements into shape " + to_string(sizes) +
                " because the unspecified dimension size -1 can be any value and is ambiguous");
  const auto fail = [&] {
    throw Error("shape '" + to_string(sizes) + "' is invalid for input of size " + std::to_string(numel));
  };
  const int64_t count = known.or_else(fail);
  const bool fits = unknown < 0 ? count == numel : count > 0 && numel % count == 0;
  if (!fits) fail();
  Dims result = sizes.copy();
  if (unknown >= 0) result[unknown] = numel / count;
  checked_numel(result);
  return result;
}

bool view_strides(SizesView sizes, SizesView strides, SizesView desired, Dims& result) {
  result = contiguous_strides(desired);
  if (numel_of(sizes) == 0) {
    if (sizes == desired) result = strides.copy();
    return true;
  }
  if (sizes.empty()) return true;
  // From the last dim, groups dims that lie in memory like one dim; dims of size 1 join any group.
  int64_t at = desired.size() - 1;
  int64_t run = 1, step = strides.back();
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    run *= sizes[dim];  // exact: at most the number of elements
    const bool run_ends = dim == 0 || (sizes[dim - 1] != 1 && !(Checked(run) * step).is(strides[dim - 1]));
    if (!run_ends) continue;
    int64_t filled = 1;
    while (at >= 0 && (filled < run || desired[at] == 1)) {
      result[at] = stride_from(Checked(filled) * step);
      filled *= desired[at--];  // exact: at most the number of elements
    }
    if (filled != run) return false;
    if (dim > 0) {
      run = 1;
      step = strides[dim - 1];
    }
  }
  return at == -1;
}

Dims contiguous_strides(SizesView sizes) {
  Dims strides(sizes.size());
  Checked step = 1;
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    strides[dim] = stride_from(step);
    step *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

Dims format_strides(SizesView sizes, MemoryFormat format) {
  const SizesView order = format_order(format);
  if (order.empty()) return contiguous_strides(sizes);
  if (sizes.size() != order.size())
    throw Error("required rank " + std::to_string(order.size()) + " tensor to use " +
                (format == MemoryFormat::channels_last ? "channels_last" : "channels_last_3d") + " format");
  Dims strides(sizes.size());
  Checked step = 1;
  for (int64_t i = order.size() - 1; i >= 0; --i) {
    strides[order[i]] = stride_from(step);
    step *= sizes[order[i]];
  }
  return strides;
}

bool is_contiguous(SizesView sizes, SizesView strides, MemoryFormat format) noexcept {
  const SizesView order = format_order(format);
  if (order.empty() && numel_of(sizes) == 0) return true;
  if (!order.empty() && sizes.size() != order.size()) return false;
  Checked step = 1;
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    const int64_t dim = order.empty() ? i : order[i];
    if (sizes[dim] == 1) continue;
    if (!step.is(strides[dim])) return false;
    step *= sizes[dim];
  }
  return true;
}

bool is_non_overlapping_and_dense(SizesView sizes, SizesView strides) {
  if (numel_of(sizes) == 0) return true;
  Dims order;
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] != 1) order.push_back(dim);
  std::ranges::sort(order, {}, [&](int64_t dim) { return strides[dim]; });
  int64_t step = 1;
  for (int64_t dim : order) {
    if (strides[dim] != step) return false;
    step *= sizes[dim];  // exact: at most the number of elements
  }
  return true;
}

}  // namespace tenon
