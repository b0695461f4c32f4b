// io: files by their names. Takes a path; the ending decides the format.
#pragma once
#include <string>

#include "tenon/tensor.h"

namespace tenon::io {

/// .npy, .png, .csv or .csv.gz; a pipe or device without such an ending is known by its first bytes. FileError for
/// other names and for what the formats refuse.
Tensor load(const std::string& path);

enum class OutputFormat : unsigned char { npy, png };
/// The format a result is written in; .npy for pipes and devices. FileError for other endings.
OutputFormat output_format(const std::string& path);

}  // namespace tenon::io
