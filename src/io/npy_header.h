// io: the header of a .npy file. Takes its bytes; gives dtype, order and shape. Never touches the elements.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tenon/dims.h"
#include "tenon/dtype.h"

namespace tenon::io {

inline constexpr int64_t kNpyMaxDims = 64;

struct NpyHeader {
  Dtype dtype = Dtype::float32;
  bool swapped = false;  // elements have the other byte order
  bool fortran_order = false;
  Dims sizes;
  int64_t data_offset = 0;  // bytes before the first element
};

bool begins_as_npy(std::string_view bytes) noexcept;

/// Reads the header at the start of `bytes`. `path` is for error texts. Throws FileError.
NpyHeader read_npy_header(std::string_view bytes, const std::string& path);

/// The header of a native-endian, row-major file, padded so that the elements begin on a multiple of 64 bytes.
std::string npy_header(Dtype dtype, SizesView sizes);

/// The dtype of a tensor in a .npy file: bfloat16, which NumPy does not have, is stored as float32 (exact).
constexpr Dtype npy_dtype(Dtype dtype) noexcept { return dtype == Dtype::bfloat16 ? Dtype::float32 : dtype; }

}  // namespace tenon::io
