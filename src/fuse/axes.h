// fuse: which dims of a trace's values are one axis: an index along one of them belongs to the same index along the
// others. Elementwise ops join the dims that they align; ops on rows join those that they keep; views those that they
// only move.
#pragma once
#include <optional>
#include <vector>

#include "fuse/graph.h"

namespace tenon::fusion {

/// For each dim of a view, the dim of its base that it shows; -1: none, it is expanded or of size 1. Nothing if the
/// view shows a part of its base, or joins or divides dims.
std::optional<Dims> moved_dims(const Tensor& base, const Tensor& view);

class Axes {
 public:
  explicit Axes(const GraphTrace& trace);

  /// The axis of a value's dim, as a number; -1 for a dim of size 1, which is on no axis.
  int of(int value, int64_t dim) const;
  /// The dim of a value on this axis; -1: none.
  int64_t dim_on(int value, int axis) const;
  /// Whether several dims of a value are on the axis.
  bool repeats(int value, int axis) const;
  int64_t size_of(int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }

 private:
  int node(int value, int64_t dim) const {
    return first_[static_cast<std::size_t>(value)] + static_cast<int>(dim);  // exact: a number of dims
  }
  int root(int node) const;
  void join(int value, int64_t dim, int other, int64_t other_dim);
  void join_step(const GraphTrace& trace, const GraphStep& step);

  std::vector<int> first_;  // node of each value
  std::vector<int> parent_;
  std::vector<int64_t> sizes_;  // of each node's dim
};

}  // namespace tenon::fusion
