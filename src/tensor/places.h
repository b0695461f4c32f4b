// tensor: takes sizes and strides; gives the places of the elements, one after the other, in the order of their
// indices.
#pragma once
#include "tenon/dims.h"

namespace tenon {

/// Of a layout that has elements. Goes from element to element only, never along a dim of size 1, whose stride may be
/// any: Note [Bounds].
class Places {
 public:
  Places(SizesView sizes, SizesView strides) : sizes_(sizes), strides_(strides), index_(sizes.size(), 0) {}

  int64_t place() const noexcept { return place_; }
  /// False behind the last element, from where it begins anew.
  bool next() noexcept {
    // exact: every place is an element's
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
