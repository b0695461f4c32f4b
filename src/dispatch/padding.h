// dispatch: pad. Takes the numbers of elements to add before and after a dim; gives the places in it from which they
// come. The gradient adds to these places.
#pragma once
#include <string_view>

#include "tenon/tensor.h"

namespace tenon {

/// What is before and after a dim: its elements mirrored, its first and last one, or elements from its other end.
enum class Border : uint8_t { reflect, replicate, circular };

/// The places along a dim of `size` that a padded dim's elements come from, as int64. Negative numbers cut off.
Tensor padded_places(int64_t size, int64_t before, int64_t after, Border border, Device device);

}  // namespace tenon
