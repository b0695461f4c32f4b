// io: .npy files. Loads a tensor over the mapped file; saves a file that appears only when it is complete.
#pragma once
#include <memory>
#include <string>

#include "io/input.h"
#include "io/output.h"
#include "tenon/tensor.h"

namespace tenon::io {

/// The array in a .npy file (versions 1 to 3). The file is mapped: elements are read when they are used, and writing to
/// the tensor never changes the file. Fortran order becomes strides. Elements in another byte order, or not aligned,
/// are copied to memory. Throws FileError for invalid files.
Tensor load_npy(const std::string& path);

/// Whether the first bytes are those of a .npy file.
bool is_npy(const InputFile& file) noexcept;
/// The array in an opened file; the tensor keeps the file's memory.
Tensor tensor_of_npy(std::unique_ptr<InputFile> file);
/// The same for the bytes of a .npy file that lie in another one; the tensor keeps `keeper`. `path` is for error texts.
Tensor tensor_of_npy(std::byte* bytes, int64_t nbytes, const std::string& path, std::shared_ptr<void> keeper);
/// All bytes of an opened file, as uint8; the tensor keeps the file's memory.
Tensor tensor_of_bytes(std::unique_ptr<InputFile> file);

/// Writes a tensor, row-major; bfloat16 becomes float32. An existing file is replaced when the new one is complete.
/// Throws FileError; Error for more than 64 dims.
void save_npy(const std::string& path, const Tensor& tensor);

/// A new .npy file, mapped, into which results of any size can be computed.
class NpyWriter {
 public:
  /// Reserves the disk space. Throws FileError; Error for more than 64 dims. For a pipe or a device the result is
  /// computed in memory.
  NpyWriter(const std::string& path, SizesView sizes, Dtype dtype);
  /// The file's elements; dtype `npy_dtype(dtype)`. Must not outlive the writer, nor be used after `commit`.
  const Tensor& tensor() const noexcept { return tensor_; }
  /// Renames the file to its path. Without this call the file is removed.
  void commit();

 private:
  std::string header_;
  OutputFile file_;
  bool mapped_ = false;  // the tensor is in the mapped file
  Tensor tensor_;
};

}  // namespace tenon::io
