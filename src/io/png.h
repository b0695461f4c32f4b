// io: loads and saves PNG images.
#pragma once
#include <string>

#include "io/input.h"
#include "tenon/tensor.h"

namespace tenon::io {

/// [H, W] for grey images, [H, W, C] for others (2: grey and alpha, 3: RGB, 4: RGBA), as uint8, or for 16-bit samples
/// as int32 with values up to 65535. Palettes are resolved; gamma and colour profiles are ignored. Throws FileError.
Tensor load_png(const std::string& path);
Tensor tensor_of_png(const InputFile& file);

bool is_png(const InputFile& file) noexcept;

/// Writes [H, W] or [H, W, 1 to 4]. Floats from 0 to 1 become 0 to 255, bool becomes 0 and 255, uint8 is unchanged.
/// Throws Error for NaN, floats outside 0 to 1 and other shapes; TypeError for other dtypes; FileError.
void save_png(const std::string& path, const Tensor& tensor);

}  // namespace tenon::io
