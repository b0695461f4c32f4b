// tensor: takes sizes and strides; gives the offsets of the elements, one after the other, in row-major order.
#pragma once
#include "tenon/dims.h"

namespace tenon {

/// An iterator over a layout that has elements. Never steps along a dim of size 1, whose stride may be any number: Note
/// [Bounds].
class Places {
 public:
  Places(SizesView sizes, SizesView strides) : sizes_(sizes), strides_(strides), index_(sizes.size(), 0) {}

  int64_t place() const noexcept { return place_; }
  /// Returns false after the last element, and starts again.
  bool next() noexcept {
    // exact: every offset is an element's
    for (int64_t dim = sizes_.size() - 1; dim >= 0; --dim) {
      const int64_t last = sizes_[dim] - 1;
      if (index_[dim] < last) {
        ++index_[dim];
        place_ += strides_[dim];
        return true;
      }
      place_ -= last * strides_[dim];
      index_[dim] = 0;
    }
    return false;
  }

 private:
  SizesView sizes_, strides_;
  Dims index_;
  int64_t place_ = 0;
};

}  // namespace tenon
