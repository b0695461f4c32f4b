// io: files by their names. Takes a path; the ending decides the format.
#pragma once
#include <string>

#include "tenon/tensor.h"

namespace tenon::io {

/// .npy, .png, .csv or .csv.gz. FileError for other endings and for what the formats refuse.
Tensor load(const std::string& path);

enum class OutputFormat : unsigned char { npy, png };
/// The format a result is written in. FileError for other endings.
OutputFormat output_format(const std::string& path);

}  // namespace tenon::io
