// io: CSV files. Loads a float64 tensor [rows, columns]; saves a file that appears only when it is complete.
#pragma once
#include <string>
#include <vector>

#include "io/entries.h"
#include "io/input.h"
#include "tenon/tensor.h"

namespace tenon::io {

/// Comma-separated numbers, one row per line. All rows must have the length of the first; blank lines are skipped, and
/// so is a first line of names, which `names` gets: a line without a number in which a field begins with a letter, an
/// underscore or a quote. Throws FileError with line and field number for a field that is not a number.
Tensor tensor_of_csv(const InputFile& file, std::vector<std::string>* names = nullptr);
/// The same for a file compressed by gzip. Also throws FileError if the text is larger than the limit of io/limit.h.
Tensor tensor_of_gzipped_csv(const InputFile& file, std::vector<std::string>* names = nullptr);
/// The column of that name, [rows].
Tensor load_column(const EntryName& name);

bool is_gzip(const InputFile& file) noexcept;

/// Writes [rows, columns], [rows] as one column, or one number, in the fewest digits that give each number back in its
/// dtype. Throws Error for more than 2 dims; TypeError for complex numbers; FileError.
void save_csv(const std::string& path, const Tensor& tensor);

}  // namespace tenon::io
