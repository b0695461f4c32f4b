// io: tables of numbers as text. Takes a path; gives a float64 tensor [rows, columns].
#pragma once
#include <string>

#include "tenon/tensor.h"

namespace tenon::io {

/// Numbers between commas, a row a line, every row as long as the first; blank lines are skipped. A name that ends in
/// ".gz" is unpacked. FileError names the line and the column (the field's number) of what is not a number.
Tensor load_csv(const std::string& path);

}  // namespace tenon::io
