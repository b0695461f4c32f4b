// io: tables of numbers as text. Takes a file; gives a float64 tensor [rows, columns].
#pragma once
#include "io/input.h"
#include "tenon/tensor.h"

namespace tenon::io {

/// Numbers between commas, a row a line, every row as long as the first; blank lines are skipped. FileError names the
/// line and the column (the field's number) of what is not a number.
Tensor tensor_of_csv(const InputFile& file);
/// The same of a file packed by gzip. FileError, too, when it unpacks to more than the limit of io/limit.h.
Tensor tensor_of_gzipped_csv(const InputFile& file);

bool is_gzip(const InputFile& file) noexcept;

}  // namespace tenon::io
