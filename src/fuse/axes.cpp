#include "fuse/axes.h"

#include <numeric>

namespace tenon::fusion {

std::optional<Dims> moved_dims(const Tensor& base, const Tensor& view) {
  if (view.dtype() != base.dtype() || view.storage_offset() != base.storage_offset()) return {};
  Dims moved(view.dim(), -1), is_taken(base.dim(), 0);
  for (int64_t dim = 0; dim < view.dim(); ++dim) {
    if (view.size(dim) == 1 || view.stride(dim) == 0) continue;
    for (int64_t from = 0; from < base.dim() && moved[dim] < 0; ++from)
      if (!is_taken[from] && base.size(from) == view.size(dim) && base.stride(from) == view.stride(dim)) {
        moved[dim] = from;
        is_taken[from] = 1;
      }
    if (moved[dim] < 0) return {};
  }
  for (int64_t from = 0; from < base.dim(); ++from)
    if (!is_taken[from] && base.size(from) != 1) return {};
  return moved;
}

Axes::Axes(const GraphTrace& trace) {
  for (const GraphValue& value : trace.values) {
    first_.push_back(static_cast<int>(sizes_.size()));
    for (const int64_t size : value.meta.sizes()) sizes_.push_back(size);
  }
  first_.push_back(static_cast<int>(sizes_.size()));
  parent_.resize(sizes_.size());
  std::iota(parent_.begin(), parent_.end(), 0);
  for (const GraphStep& step : trace.steps) join_step(trace, step);
}

void Axes::join_step(const GraphTrace& trace, const GraphStep& step) {
  const auto meta_of = [&](int id) -> const Tensor& { return trace.values[static_cast<std::size_t>(id)].meta; };
  const int result = step.results[0];
  if (step.is_elementwise()) {
    for (const int operand : step.operands)
      for (int64_t back = 1; back <= meta_of(operand).dim(); ++back)
        join(operand, meta_of(operand).dim() - back, result, meta_of(result).dim() - back);
  } else if (step.row_dims) {
    int64_t kept = 0;
    for (int64_t dim = 0; dim < step.row_dims->size(); ++dim) {
      if ((*step.row_dims)[dim]) {
        kept += step.keeps_dims;
        continue;
      }
      for (const int each : step.results) join(step.operands[0], dim, each, kept);
      ++kept;
    }
  } else if (step.name == "view") {
    const std::optional<Dims> moved = moved_dims(meta_of(step.operands[0]), meta_of(result));
    for (int64_t dim = 0; moved && dim < moved->size(); ++dim)
      if ((*moved)[dim] >= 0) join(step.operands[0], (*moved)[dim], result, dim);
  }
}

int Axes::root(int node) const {
  while (parent_[static_cast<std::size_t>(node)] != node) node = parent_[static_cast<std::size_t>(node)];
  return node;
}

void Axes::join(int value, int64_t dim, int other, int64_t other_dim) {
  const int a = root(node(value, dim)), b = root(node(other, other_dim));
  if (size_of(a) == size_of(b) && size_of(a) != 1) parent_[static_cast<std::size_t>(a)] = b;
}

int Axes::of(int value, int64_t dim) const {
  const int axis = root(node(value, dim));
  return size_of(axis) == 1 ? -1 : axis;
}

int64_t Axes::dim_on(int value, int axis) const {
  const int dims = first_[static_cast<std::size_t>(value) + 1] - first_[static_cast<std::size_t>(value)];
  for (int64_t dim = 0; dim < dims; ++dim)
    if (of(value, dim) == axis) return dim;
  return -1;
}

bool Axes::repeats(int value, int axis) const {
  const int dims = first_[static_cast<std::size_t>(value) + 1] - first_[static_cast<std::size_t>(value)];
  int count = 0;
  for (int64_t dim = 0; dim < dims; ++dim) count += of(value, dim) == axis;
  return count > 1;
}

}  // namespace tenon::fusion
