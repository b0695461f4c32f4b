#include "io/npy.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked.h"
#include "io/fail.h"
#include "io/npy_header.h"
#include "tenon/error.h"
#include "tenon/factories.h"

namespace tenon::io {
namespace {

/// The bytes of the elements. Throws FileError on int64 overflow.
int64_t data_bytes(const NpyHeader& header, const std::string& path) {
  int64_t nbytes = itemsize(header.dtype);
  bool overflow = false, zero = false;
  for (int64_t size : header.sizes) {
    zero |= size == 0;
    if (size != 0) overflow |= __builtin_mul_overflow(nbytes, size, &nbytes);
  }
  if (overflow) fail_damaged(path, "the header's shape " + to_string(header.sizes) + " is larger than any file");
  return zero ? 0 : nbytes;
}

void check_length(const std::string& path, int64_t nbytes, const NpyHeader& header, int64_t needed) {
  const int64_t present = nbytes - header.data_offset;  // exact: the header is part of the file
  if (present == needed) return;
  const std::string promised = "the header says " + to_string(header.sizes) + " of " + dtype_name(header.dtype) + ", " +
                               std::to_string(needed) + " bytes, and " + std::to_string(present) + " are there";
  fail_damaged(path, (present < needed ? "it is cut short: " : "bytes are left over: ") + promised);
}

/// Checks that every bool is 0 or 1, as kernels require.
void check_bools(const std::string& path, const std::byte* data, int64_t count) {
  const bool sound = std::all_of(data, data + count, [](std::byte value) { return value <= std::byte{1}; });
  if (!sound) fail_damaged(path, "elements of dtype bool hold bytes other than 0 and 1");
}

Dims strides_of(const NpyHeader& header) {
  if (!header.fortran_order) return contiguous_strides(header.sizes);
  Dims strides(header.sizes.size());
  Checked step = 1;
  for (int64_t dim = 0; dim < header.sizes.size(); ++dim) {
    strides[dim] = stride_from(step);
    step *= std::max<int64_t>(header.sizes[dim], 1);
  }
  return strides;
}

template <class Bits>
void swap_bytes(std::byte* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    std::byte* element = data + i * static_cast<int64_t>(sizeof(Bits));
    std::reverse(element, element + sizeof(Bits));
  }
}
void swap_bytes(std::byte* data, int64_t count, int64_t width) {
  if (width == 2) return swap_bytes<uint16_t>(data, count);
  if (width == 4) return swap_bytes<uint32_t>(data, count);
  swap_bytes<uint64_t>(data, count);
}

Tensor copy_elements(const NpyHeader& header, const std::byte* data, int64_t nbytes) {
  const Tensor tensor = empty_strided(header.sizes, strides_of(header), header.dtype);
  std::byte* elements = static_cast<std::byte*>(tensor.data_ptr());
  std::memcpy(elements, data, static_cast<std::size_t>(nbytes));
  if (header.swapped) swap_bytes(elements, nbytes / itemsize(header.dtype), itemsize(header.dtype));
  return tensor;
}

void close_file(void*, void* context) { delete static_cast<InputFile*>(context); }

std::string_view text_of(const InputFile& file) noexcept {
  return {reinterpret_cast<const char*>(file.data()), static_cast<std::size_t>(file.nbytes())};
}

/// Throws for more dims than NumPy reads. A header of version 1 has at most 65535 characters.
void check_ndim(int64_t ndim) {
  if (ndim > kNpyMaxDims) throw Error("a .npy file holds at most 64 dims; the tensor has " + std::to_string(ndim));
}

}  // namespace

bool is_npy(const InputFile& file) noexcept { return begins_as_npy(text_of(file)); }

Tensor tensor_of_npy(std::byte* bytes, int64_t nbytes, const std::string& path, std::shared_ptr<void> keeper) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(nbytes));
  const NpyHeader header = read_npy_header(text, path);
  const int64_t needed = data_bytes(header, path);
  check_length(path, nbytes, header, needed);
  if (needed == 0) return empty_strided(header.sizes, strides_of(header), header.dtype);
  std::byte* data = bytes + header.data_offset;  // exact: inside the file
  if (header.dtype == Dtype::bool_) check_bools(path, data, needed);
  const bool aligned = reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(itemsize(header.dtype)) == 0;
  if (header.swapped || !aligned) return copy_elements(header, data, needed);
  auto kept = std::make_unique<std::shared_ptr<void>>(std::move(keeper));
  const Tensor tensor = from_buffer(
      data, header.sizes, strides_of(header), header.dtype,
      [](void*, void* context) { delete static_cast<std::shared_ptr<void>*>(context); }, kept.get());
  static_cast<void>(kept.release());  // the tensor's storage deletes it
  return tensor;
}

Tensor tensor_of_npy(std::unique_ptr<InputFile> file) {
  const std::shared_ptr<InputFile> kept = std::move(file);
  return tensor_of_npy(kept->data(), kept->nbytes(), kept->path(), kept);
}

Tensor tensor_of_bytes(std::unique_ptr<InputFile> file) {
  if (file->nbytes() == 0) return empty({0}, Dtype::uint8);
  const Tensor tensor = from_buffer(file->data(), {file->nbytes()}, Dtype::uint8, close_file, file.get());
  static_cast<void>(file.release());
  return tensor;
}

Tensor load_npy(const std::string& path) { return tensor_of_npy(std::make_unique<InputFile>(path, Reading::mapped)); }

NpyWriter::NpyWriter(const std::string& path, SizesView sizes, Dtype dtype)
    : header_((check_ndim(sizes.size()), npy_header(dtype, sizes))), file_(path) {
  int64_t nbytes = 0, whole = 0;
  if (__builtin_mul_overflow(checked_numel(sizes), itemsize(npy_dtype(dtype)), &nbytes) ||
      __builtin_add_overflow(nbytes, static_cast<int64_t>(header_.size()), &whole))
    fail_file(path, "cannot be written: shape " + to_string(sizes) + " is larger than any file");
  if (nbytes == 0 || file_.is_stream()) {
    tensor_ = empty(sizes, npy_dtype(dtype));
    return;
  }
  mapped_ = true;
  std::byte* bytes = file_.map(whole);
  std::memcpy(bytes, header_.data(), header_.size());
  // exact: inside the file
  tensor_ = from_buffer(bytes + header_.size(), sizes, npy_dtype(dtype));
}

void NpyWriter::commit() {
  if (!mapped_) {
    file_.write(header_.data(), header_.size());
    file_.write(tensor_.data_ptr(), static_cast<std::size_t>(tensor_.nbytes()));
  }
  file_.commit();
}

void save_npy(const std::string& path, const Tensor& tensor) {
  NpyWriter writer(path, tensor.sizes(), tensor.dtype());
  Tensor elements = writer.tensor();
  elements.copy_(tensor);
  writer.commit();
}

}  // namespace tenon::io
