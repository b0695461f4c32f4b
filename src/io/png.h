// io: PNG pictures. Takes a path; gives pixels as a tensor, or a picture of a tensor.
#pragma once
#include <string>

#include "tenon/tensor.h"

namespace tenon::io {

/// uint8 [H, W] for grey pictures, [H, W, C] for others (2: grey and alpha, 3: RGB, 4: RGBA). 16-bit samples are scaled
/// to 8 bits, palettes looked up. Gamma and colour profiles are left alone. FileError.
Tensor load_png(const std::string& path);

/// Writes [H, W] or [H, W, 1 to 4]. Floats are clamped to 0..1 and scaled to 0..255 (NaN: 0), bool becomes 0 and 255,
/// uint8 stays. TypeError for other dtypes, Error for other shapes, FileError.
void save_png(const std::string& path, const Tensor& tensor);

}  // namespace tenon::io
