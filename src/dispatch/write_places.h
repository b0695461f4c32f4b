// dispatch: writing by index. Takes a tensor, places in range along one of its dims, and an element for each place;
// gives the tensor with these elements replaced, increased or multiplied. Elements that are written to one place are
// taken in row-major order of the index.
#pragma once
#include "dispatch/planes.h"

namespace tenon {

/// self[..., index[...], ...] = src[...]. All have the same number of dims. `width`: bytes of an element.
void replace_at(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, int64_t width);
/// self[..., index[...], ...] += alpha * src[...]. 16-bit floats are computed in float32 and rounded after each sum.
void add_at(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, Dtype dtype, Scalar alpha);
/// self[..., index[...], ...] *= src[...], rounded in the same way.
void multiply_at(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, Dtype dtype);

}  // namespace tenon
