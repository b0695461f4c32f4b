// io: PNG pictures. Takes a path; gives pixels as a tensor, or a picture of a tensor.
#pragma once
#include <string>

#include "io/input.h"
#include "tenon/tensor.h"

namespace tenon::io {

/// [H, W] for grey pictures, [H, W, C] for others (2: grey and alpha, 3: RGB, 4: RGBA): uint8, or int32 with values up
/// to 65535 where samples have 16 bits. Palettes are looked up, gamma and colour profiles left alone. FileError.
Tensor load_png(const std::string& path);
Tensor tensor_of_png(const InputFile& file);

bool is_png(const InputFile& file) noexcept;

/// Writes [H, W] or [H, W, 1 to 4]. Floats of 0 to 1 become 0 to 255, bool becomes 0 and 255, uint8 stays. Error for
/// floats beyond 0 to 1, NaN and other shapes; TypeError for other dtypes; FileError.
void save_png(const std::string& path, const Tensor& tensor);

}  // namespace tenon::io
