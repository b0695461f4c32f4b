// type: takes a number and a dtype; says whether the dtype can hold it.
#pragma once
#include "tenon/dtype.h"

namespace tenon {

/// Whether `value` lies outside what `dtype` holds. A fraction is no overflow, nor is infinity or NaN for a floating
/// dtype, nor a negative integer for an unsigned dtype that wraps (uint8: -255 to -1). Everything fits bool; an
/// imaginary part, if it is not 0, no other real dtype.
bool overflows(Scalar value, Dtype dtype) noexcept;

/// Of a floating dtype.
double largest_finite(Dtype dtype) noexcept;

/// Error "value cannot be converted to type uint8_t without overflow"; what `full`, `fill_`, alpha and the
/// bounds of clamp check.
void check_fits(Scalar value, Dtype dtype);

}  // namespace tenon
