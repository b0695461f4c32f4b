// type: takes a number and a dtype; gives whether the dtype can hold it.
#pragma once
#include "tenon/dtype.h"

namespace tenon {

/// Whether `value` is out of range for `dtype`. Not an overflow: a fraction; infinity or NaN for a floating dtype; a
/// negative integer that wraps in an unsigned dtype (uint8: -255 to -1); any value for bool. A nonzero imaginary part
/// overflows every other real dtype.
bool overflows(Scalar value, Dtype dtype) noexcept;

/// The largest finite number of a floating dtype.
double largest_finite(Dtype dtype) noexcept;

/// Throws Error "value cannot be converted to type uint8_t without overflow". Used for `full`, `fill_`, alpha and the
/// bounds of clamp.
void check_fits(Scalar value, Dtype dtype);

}  // namespace tenon
