// io: .npy files. Takes a path; gives a tensor over the mapped file, or a file that shows up whole.
#pragma once
#include <memory>
#include <string>

#include "io/input.h"
#include "io/output.h"
#include "tenon/tensor.h"

namespace tenon::io {

/// The array in a .npy file (versions 1 to 3). Its elements stay in the file, mapped, and are read when they are used;
/// writing to the tensor changes memory, never the file. Fortran order becomes strides. Other byte order and elements
/// that are not aligned are copied into memory. FileError for everything that is not such a file.
Tensor load_npy(const std::string& path);

/// The first bytes say that it is a .npy file.
bool is_npy(const InputFile& file) noexcept;
/// The array of a file that is in memory already; the tensor keeps it there.
Tensor tensor_of_npy(std::unique_ptr<InputFile> file);
/// All bytes of a file, as uint8; the tensor keeps them.
Tensor tensor_of_bytes(std::unique_ptr<InputFile> file);

/// Writes a tensor, row-major; bfloat16 becomes float32. An existing file stays as it is until the new one is whole.
/// FileError; Error for more than 64 dims.
void save_npy(const std::string& path, const Tensor& tensor);

/// A .npy file to be filled: results can be computed straight into it, whatever its size.
class NpyWriter {
 public:
  /// Takes the disk space at once. FileError; Error for more than 64 dims. For a pipe or a device the result is
  /// computed in memory.
  NpyWriter(const std::string& path, SizesView sizes, Dtype dtype);
  /// The file's elements; dtype `npy_dtype(dtype)`. Must not outlive the writer, nor be used after `commit`.
  const Tensor& tensor() const noexcept { return tensor_; }
  /// Gives the file its name. Without it nothing remains.
  void commit();

 private:
  std::string header_;
  OutputFile file_;
  bool mapped_ = false;  // the tensor lies in the file
  Tensor tensor_;
};

}  // namespace tenon::io
