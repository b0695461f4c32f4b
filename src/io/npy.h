// io: .npy files. Takes a path; gives a tensor over the mapped file, or a file that shows up whole.
#pragma once
#include <string>

#include "io/aside.h"
#include "tenon/tensor.h"

namespace tenon::io {

/// The array in a .npy file (versions 1 to 3). Its elements stay in the file, mapped, and are read when they are used;
/// writing to the tensor changes memory, never the file. Fortran order becomes strides. Other byte order and elements
/// that are not aligned are copied into memory. FileError for everything that is not such a file.
Tensor load_npy(const std::string& path);

/// Writes a tensor, row-major; bfloat16 becomes float32. An existing file stays as it is until the new one is whole.
/// FileError.
void save_npy(const std::string& path, const Tensor& tensor);

/// A .npy file to be filled: results can be computed straight into it, whatever its size.
class NpyWriter {
 public:
  /// Takes the disk space at once. FileError.
  NpyWriter(const std::string& path, SizesView sizes, Dtype dtype);
  /// The file's elements; dtype `npy_dtype(dtype)`. Must not outlive the writer, nor be used after `commit`.
  const Tensor& tensor() const noexcept { return tensor_; }
  /// Gives the file its name. Without it nothing remains.
  void commit() { file_.commit(); }

 private:
  AsideFile file_;
  Tensor tensor_;
};

}  // namespace tenon::io
