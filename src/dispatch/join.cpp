// cat and stack: several tensors as one. Checks, their order and their texts are PyTorch's
// (aten/src/ATen/native/TensorShape.cpp).
#include <string>

#include "base/checked.h"
#include "base/small_vector.h"
#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "shape/dense_strides.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/join.h"
#include "tile/pool.h"
#include "tile/run.h"

namespace tenon {
namespace {

/// PyTorch ignores tensors of shape [0] among others.
bool is_left_out(const Tensor& tensor) { return tensor.dim() == 1 && tensor.sizes()[0] == 0; }

/// Facts about the concatenation of tensors along a dim.
struct Joined {
  bool empty = true;  // all tensors are ignored
  int64_t dim;
  Dims sizes;
  Dtype dtype;
  MemoryFormat format = MemoryFormat::contiguous;

  Dims strides() const { return format_strides(sizes, format); }
  /// The elements of one step along the dim.
  int64_t step() const {
    if (format != MemoryFormat::contiguous) return strides()[dim];
    int64_t count = 1;
    for (int64_t i = dim + 1; i < sizes.size(); ++i) count *= sizes[i];  // exact: inside an output with elements
    return count;
  }
};

void check_dims(const List<Tensor>& tensors) {
  if (tensors.empty()) throw ValueError("torch.cat(): expected a non-empty list of Tensors");
  for (const Tensor& tensor : tensors) check_device(tensor, tensors[0].device());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].dim() == 0)
      throw Error("zero-dimensional tensor (at position " + std::to_string(i) + ") cannot be concatenated");
}

/// The first tensor whose shape counts; null: there is none.
const Tensor* first_of(const List<Tensor>& tensors) {
  for (const Tensor& tensor : tensors)
    if (!is_left_out(tensor)) return &tensor;
  return nullptr;
}

void check_fits_beside(const Tensor& first, const Tensor& other, int64_t dim, std::size_t place) {
  if (first.dim() != other.dim())
    throw Error("Tensors must have same number of dimensions: got " + std::to_string(first.dim()) + " and " +
                std::to_string(other.dim()));
  for (int64_t i = 0; i < first.dim(); ++i)
    if (i != dim && first.sizes()[i] != other.sizes()[i])
      throw Error("Sizes of tensors must match except in dimension " + std::to_string(dim) + ". Expected size " +
                  std::to_string(first.sizes()[i]) + " but got size " + std::to_string(other.sizes()[i]) +
                  " for tensor number " + std::to_string(place) + " in the list.");
}

Dims joined_sizes(const List<Tensor>& tensors, const Tensor& first, int64_t dim) {
  Dims sizes = first.sizes().copy();
  Checked along = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (is_left_out(tensors[i])) continue;
    check_fits_beside(first, tensors[i], dim, i);
    along += tensors[i].sizes()[dim];
  }
  sizes[dim] = along.or_throw("numel: integer multiplication overflow");
  return sizes;
}

/// The memory format that all tensors have; contiguous if they differ.
MemoryFormat joined_format(const List<Tensor>& tensors) {
  const auto format = [](const Tensor& tensor) { return format_of(tensor.sizes(), tensor.strides()); };
  const MemoryFormat first = format(tensors[0]);
  for (const Tensor& tensor : tensors)
    if (first == MemoryFormat::contiguous || format(tensor) != first) return MemoryFormat::contiguous;
  return first;
}

Dtype joined_dtype(const List<Tensor>& tensors) {
  Dtype common = tensors[0].dtype();
  for (const Tensor& tensor : tensors)
    if (tensor.dtype() != common) common = promote_types(common, tensor.dtype());
  return common;
}

/// `out`: the tensor that is written, or null.
Joined joined(const List<Tensor>& tensors, int64_t dim, const Tensor* out = nullptr) {
  check_dims(tensors);
  const Tensor* first = first_of(tensors);
  Joined all{
      .empty = !first, .dim = first ? wrap_dim(dim, first->dim()) : 0, .sizes = {}, .dtype = joined_dtype(tensors)};
  if (out) check_out_device(*out, tensors[0].device());
  if (out && !can_cast(all.dtype, out->dtype()))
    throw TypeError(std::string("torch.cat(): input types can't be cast to the desired output type ") +
                    scalar_type_name(out->dtype()));
  if (out) all.dtype = out->dtype();
  all.sizes = first ? joined_sizes(tensors, *first, all.dim) : Dims{0};
  all.format = joined_format(tensors);
  return all;
}

// Bytes of runs with gaps: shorter ones are copied faster tensor by tensor. Bench: ./dev bench --sweep, cat.
constexpr int64_t kShortestRun = 16;

/// The elements between the runs of a row-major tensor whose dims from `dim` on have no gaps; 0: there are others.
int64_t step_of_runs(const Tensor& tensor, int64_t dim, int64_t run) {
  int64_t dense = 1, step = 0, next = 0;
  for (int64_t i = tensor.dim() - 1; i >= 0; --i) {
    const int64_t size = tensor.sizes()[i], stride = tensor.strides()[i];
    if (size == 1) continue;
    if (i >= dim) {
      if (stride != dense) return 0;
      dense *= size;  // exact: inside the tensor
    } else {
      if (step == 0) step = next = stride;
      if (stride != next || stride < run) return 0;
      next *= size;  // exact: at most the extent of the tensor
    }
  }
  return step == 0 ? run : step;
}

/// Joins by copying runs of bytes, if every tensor lies in memory like its part of `to`, but for gaps between runs.
/// `to` is dense in the format of `all`. False otherwise.
bool join_runs(const List<Tensor>& tensors, const Joined& all, const Tensor& to) {
  const int64_t inner = all.step(), width = to.itemsize();
  SmallVector<Part, 8> parts;
  int64_t rows = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != to.dtype()) return false;
    const bool is_dense = tensor.is_contiguous(all.format);
    if (!is_dense && (all.format != MemoryFormat::contiguous || is_left_out(tensor))) return false;
    if (tensor.numel() == 0) continue;
    const int64_t run = tensor.sizes()[all.dim] * inner;  // exact: inside the tensor
    const int64_t step = is_dense ? run : step_of_runs(tensor, all.dim, run);
    if (step == 0 || (step != run && run * width < kShortestRun)) return false;  // exact: bytes of the tensor
    if (rows == 0) rows = tensor.numel() / run;
    parts.push_back({tensor.impl()->data(), run * width, step * width});  // exact: bytes of the tensor
  }
  if (!parts.empty()) join(to.impl()->data(), parts.data(), parts.size(), rows);
  return true;
}

/// Copies tensors one by one, with any strides and dtypes.
void copy_parts(const List<Tensor>& tensors, const Joined& all, const Tensor& to) {
  Dims sizes = to.sizes().copy();
  int64_t offset = to.storage_offset();
  for (const Tensor& tensor : tensors) {
    if (is_left_out(tensor)) continue;
    sizes[all.dim] = tensor.sizes()[all.dim];
    run_copy(to.is_meta() ? new_tensor(sizes, to.strides(), to.dtype(), Device::meta)
                          : new_tensor_over(to.impl()->storage, sizes, to.strides(), offset, to.dtype()),
             tensor);
    offset += sizes[all.dim] * to.strides()[all.dim];  // exact: inside the storage
  }
}

Tensor join(const List<Tensor>& tensors, const Joined& all) {
  const Tensor result = new_tensor(all.sizes, all.strides(), all.dtype, tensors[0].device());
  if (has_no_work(result.numel(), result.data_ptr()) || join_runs(tensors, all, result)) return result;
  copy_parts(tensors, all, result);
  forget_writes(result);
  return result;
}

/// Joins into `out` directly. False if that is not possible.
bool joins_at_once(const List<Tensor>& tensors, const Joined& all, const Tensor& out) {
  const Uninterrupted whole;
  return out.is_meta() || out.numel() == 0 || (out.is_contiguous(all.format) && join_runs(tensors, all, out));
}

/// Joins into `out`, which then gets `sizes`, a shape of as many elements.
Tensor& join_into(Tensor& out, const List<Tensor>& tensors, const Joined& all, SizesView sizes, SizesView strides) {
  ResizedOutput resized(out, sizes, strides);
  if (!all.empty) {
    check_no_internal_overlap(out);
    for (const Tensor& tensor : tensors) check_no_overlap(out, tensor);
  }
  if (joins_at_once(tensors, all, out))
    bump_version(out);
  else
    run_copy(out, join(tensors, all).view(sizes));
  resized.keep();
  return out;
}

void check_stacked(const List<Tensor>& tensors) {
  for (std::size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i].sizes() != tensors[0].sizes())
      throw Error("stack expects each tensor to be equal size, but got " + to_string(tensors[0].sizes()) +
                  " at entry 0 and " + to_string(tensors[i].sizes()) + " at entry " + std::to_string(i));
}

/// The new dim, counted from the front.
int64_t stacked_dim(const List<Tensor>& tensors, int64_t dim) {
  if (tensors.empty()) throw Error("stack expects a non-empty TensorList");
  const int64_t along = wrap_dim(dim, tensors[0].dim() + 1);  // exact: a number of dims
  check_stacked(tensors);
  return along;
}

Dims stacked_sizes(const List<Tensor>& tensors, int64_t dim) {
  Dims sizes = tensors[0].sizes().copy();
  sizes.insert(dim, static_cast<int64_t>(tensors.size()));
  return sizes;
}

/// Adds a dim of size 1 at the end. stack joins along an existing dim and splits it; for a new last dim there is none
/// yet.
List<Tensor> as_columns(const List<Tensor>& tensors) {
  List<Tensor> columns;
  columns.reserve(tensors.size());
  for (const Tensor& tensor : tensors) columns.push_back(tensor.detach().unsqueeze(tensor.dim()));
  return columns;
}

}  // namespace

Tensor plain::cat(const List<Tensor>& tensors, int64_t dim) { return join(tensors, joined(tensors, dim)); }

Tensor& plain::cat_out(Tensor& out, const List<Tensor>& tensors, int64_t dim) {
  check_unrecorded(Op::cat, out, tensors);
  const Joined all = joined(tensors, dim, &out);
  if (out.sizes() == all.sizes) return join_into(out, tensors, all, all.sizes, out.strides());
  return join_into(out, tensors, all, all.sizes, all.strides());
}

Tensor plain::stack(const List<Tensor>& tensors, int64_t dim) {
  const int64_t along = stacked_dim(tensors, dim);
  if (along == tensors[0].dim()) return cat(as_columns(tensors), along);
  const Tensor result = cat(tensors, along);
  const Dims sizes = stacked_sizes(tensors, along);
  Dims strides;
  view_strides(result.sizes(), result.strides(), sizes, strides);  // a dim that is split
  set_sizes_and_strides(result, sizes, strides);
  return result;
}

Tensor& plain::stack_out(Tensor& out, const List<Tensor>& tensors, int64_t dim) {
  check_unrecorded(Op::stack, out, tensors);
  const int64_t along = stacked_dim(tensors, dim);
  if (along == tensors[0].dim()) return cat_out(out, as_columns(tensors), along);
  Joined all = joined(tensors, along, &out);
  const Dims sizes = stacked_sizes(tensors, along);
  return join_into(out, tensors, all, sizes, contiguous_strides(sizes));
}

// --- meshgrid

namespace {

void check_coordinates(const List<Tensor>& tensors) {
  if (tensors.empty()) throw Error("meshgrid expects a non-empty TensorList");
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != tensors[0].dtype()) throw Error("meshgrid expects all tensors to have the same dtype");
    if (tensor.device() != tensors[0].device()) throw Error("meshgrid expects all tensors to have the same device");
  }
}

/// Whether the first two dims change places.
bool is_column_first(const char* indexing) {
  if (!indexing) {
    warn("UserWarning", "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.");
    return false;
  }
  const std::string name = indexing;
  if (name != "ij" && name != "xy")
    throw Error(R"(torch.meshgrid: indexing must be one of "xy" or "ij", but received: )" + name);
  return name == "xy";
}

}  // namespace

List<Tensor> plain::meshgrid(const List<Tensor>& tensors, const char* indexing) {
  check_coordinates(tensors);
  const int64_t count = static_cast<int64_t>(tensors.size());
  const bool swaps = is_column_first(indexing) && count >= 2;
  const auto dim_of = [swaps](int64_t i) { return swaps && i < 2 ? 1 - i : i; };
  Dims sizes(count, 1);
  for (int64_t i = 0; i < count; ++i) {
    const Tensor& tensor = tensors[static_cast<std::size_t>(dim_of(i))];
    if (tensor.dim() > 1)
      throw Error("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got one of shape " +
                  to_string(tensor.sizes()));
    sizes[i] = tensor.numel();
  }
  List<Tensor> grids;
  for (int64_t i = 0; i < count; ++i) {
    Dims column(count, 1);
    column[dim_of(i)] = -1;
    const Tensor& tensor = tensors[static_cast<std::size_t>(i)];
    if (tensor.numel() == 0) column[dim_of(i)] = 0;
    grids.push_back(tensor.view(column).expand(sizes));
  }
  return grids;
}

}  // namespace tenon
