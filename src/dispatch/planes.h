// dispatch: the loop over an index tensor. Takes the tensor from which the index selects along one dim, the index, and
// a tensor with an element for each index; gives planes: two dims of all three, for two nested loops.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernel/kernel.h"
#include "tensor/impl.h"
#include "tensor/places.h"
#include "tile/pool.h"

namespace tenon {

/// A tensor for loops, with at least one dim; strides in bytes.
struct ByteView {
  std::byte* data;
  Dims sizes, strides;

  explicit ByteView(const Tensor& tensor)
      : data(tensor.impl()->data()), sizes(tensor.sizes().copy()), strides(tensor.strides().copy()) {
    // exact: inside the storage if there are elements
    for (int64_t& stride : strides)
      stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(tensor.itemsize()));
    make_a_dim();
  }
  /// A tensor of at most one dim, expanded to `shape`: it varies along `dim` only.
  ByteView(const Tensor& tensor, SizesView shape, int64_t dim)
      : data(tensor.impl()->data()), sizes(shape.copy()), strides(shape.size(), 0) {
    make_a_dim();
    if (tensor.dim() > 0) strides[dim] = tensor.strides()[0] * tensor.itemsize();  // exact: inside the storage
  }
  int64_t last() const noexcept { return sizes.size() - 1; }
  /// Moves the start by `count` along a dim.
  void advance(int64_t dim, int64_t count) noexcept { data += count * strides[dim]; }  // exact: inside the storage

 private:
  void make_a_dim() {
    if (!sizes.empty()) return;
    sizes.push_back(1);
    strides.push_back(0);
  }
};

// Rows of fewer places are taken column by column. Bench: tenon_bench --filter '^(gather|index_select)/'.
constexpr int64_t kSomePlaces = 4;

/// Makes the longer dim the inner loop, if the other is too short. Elements that differ only in the indexed dim keep
/// their order. Whether it did.
inline bool put_longer_inside(IndexedPlane& plane) noexcept {
  if (plane.columns >= plane.rows || plane.columns >= 8) return false;
  // Rows of some places, or of runs, are no slower, and in memory's order.
  const bool are_runs = plane.other.column > static_cast<int64_t>(sizeof(Complex128));
  const int64_t some = are_runs ? 2 : kSomePlaces;
  if (plane.columns >= some && plane.selects_in_rows(plane.other.column)) return false;
  std::swap(plane.rows, plane.columns);
  for (IndexedPlane::Operand* operand : {&plane.named, &plane.index, &plane.other})
    std::swap(operand->row, operand->column);
  return true;
}

/// Calls `run` for blocks of columns, which stay in the cache while the rows are gone through.
template <class Run>
void run_in_blocks(IndexedPlane plane, const Run& run) {
  constexpr int64_t kColumns = 256;  // bench: tenon_bench --filter '^(gather|scatter|scatter_add)/'
  // exact: inside the storages
  for (int64_t left = plane.columns; left > 0; left -= plane.columns) {
    plane.columns = std::min(left, kColumns);
    run(plane);
    for (IndexedPlane::Operand* operand : {&plane.named, &plane.index, &plane.other})
      operand->data += plane.columns * operand->column;
  }
}

/// Joins neighbouring dims, but the indexed one, that follow each other in all three as one dim does. The sizes are
/// those of the index.
inline void join_dims(ByteView& named, ByteView& index, ByteView& other, int64_t dim) {
  for (int64_t i = index.last(); i > 0; --i) {
    const auto follow = [i, size = index.sizes[i]](const ByteView& view) {
      return view.strides[i - 1] == view.strides[i] * size;  // exact: inside the storage
    };
    if (i == dim || i - 1 == dim || !follow(named) || !follow(index) || !follow(other)) continue;
    index.sizes[i - 1] *= index.sizes[i];  // exact: a part of the index
    index.sizes.erase(i);
    for (ByteView* view : {&named, &index, &other}) view->strides.erase(i - 1);  // the inner stride stays
    if (i < dim) --dim;
  }
}

/// Calls `run(plane)` for each plane. `index` selects elements of `named` along `dim`; `other` has an element for each
/// index.
template <class Run>
void for_each_plane(ByteView named, ByteView index, ByteView other, int64_t dim, const Run& run) {
  const int64_t size = named.sizes[dim], stride = std::exchange(named.strides[dim], 0);
  if (index.last() > 1) join_dims(named, index, other, dim);
  const int64_t last = index.last(), outer = std::max<int64_t>(last - 1, 0);
  const auto operand = [&](const ByteView& view) {
    return IndexedPlane::Operand{view.data, last > 0 ? view.strides[last - 1] : 0, view.strides[last]};
  };
  IndexedPlane plane{last > 0 ? index.sizes[last - 1] : 1,
                     index.sizes[last],
                     operand(named),
                     operand(index),
                     operand(other),
                     size,
                     stride};
  const bool is_turned = put_longer_inside(plane);
  const SizesView sizes(index.sizes.data(), outer);
  Places of_named(sizes, SizesView(named.strides.data(), outer)),
      of_index(sizes, SizesView(index.strides.data(), outer)), of_other(sizes, SizesView(other.strides.data(), outer));
  bool more = true;
  while (more) {
    check_interrupt();
    // exact: inside the storages
    plane.named.data = named.data + of_named.place();
    plane.index.data = index.data + of_index.place();
    plane.other.data = other.data + of_other.place();
    if (is_turned)
      run_in_blocks(plane, run);
    else
      run(plane);
    of_named.next();
    of_other.next();
    more = of_index.next();
  }
}

}  // namespace tenon
