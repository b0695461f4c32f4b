// io: loads and saves files. The ending of the path decides the format.
#pragma once
#include <string>

#include "tenon/tensor.h"

namespace tenon::io {

/// Loads .npy, .safetensors or .npz (FILE:NAME if it holds several tensors), .png, .csv or .csv.gz (FILE:NAME: one
/// column). For a pipe or device without such an ending, the first bytes decide. Throws FileError for other names and
/// for invalid files.
Tensor load(const std::string& path);

enum class OutputFormat : unsigned char { npy, png, csv, entries };
/// The format in which a result is written; .npy for pipes and devices. Throws FileError for other endings.
OutputFormat output_format(const std::string& path);

}  // namespace tenon::io
