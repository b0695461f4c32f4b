#include "io/npy.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "io/mapped.h"
#include "io/npy_header.h"
#include "tenon/error.h"
#include "tenon/factories.h"

namespace tenon::io {
namespace {

/// The bytes the elements take; FileError when they are more than int64 holds.
int64_t data_bytes(const NpyHeader& header, const std::string& path) {
  int64_t nbytes = itemsize(header.dtype);
  bool overflow = false, zero = false;
  for (int64_t size : header.sizes) {
    zero |= size == 0;
    if (size != 0) overflow |= __builtin_mul_overflow(nbytes, size, &nbytes);
  }
  if (overflow) fail_file(path, "the header's shape " + to_string(header.sizes) + " is larger than any file");
  return zero ? 0 : nbytes;
}

void check_length(const MappedFile& file, const NpyHeader& header, int64_t needed) {
  const int64_t present = file.nbytes() - header.data_offset;
  if (present == needed) return;
  const std::string promised = "the header says " + to_string(header.sizes) + " of " + dtype_name(header.dtype) + ", " +
                               std::to_string(needed) + " bytes, and " + std::to_string(present) + " are there";
  fail_file(file.path(), (present < needed ? "is cut short: " : "has bytes left over: ") + promised);
}

/// A bool is 0 or 1; kernels rely on it.
void check_bools(const MappedFile& file, const std::byte* data, int64_t count) {
  const bool sound = std::all_of(data, data + count, [](std::byte value) { return value <= std::byte{1}; });
  if (!sound) fail_file(file.path(), "holds bytes other than 0 and 1 in elements of dtype bool");
}

Dims strides_of(const NpyHeader& header) {
  if (!header.fortran_order) return contiguous_strides(header.sizes);
  Dims strides(header.sizes.size());
  int64_t step = 1;
  for (int64_t dim = 0; dim < header.sizes.size(); ++dim) {
    strides[dim] = step;
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

void unmap_file(void*, void* context) { delete static_cast<MappedFile*>(context); }

}  // namespace

Tensor load_npy(const std::string& path) {
  auto file = std::make_unique<MappedFile>(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file->data()), static_cast<std::size_t>(file->nbytes()));
  const NpyHeader header = read_npy_header(bytes, path);
  const int64_t nbytes = data_bytes(header, path);
  check_length(*file, header, nbytes);
  if (nbytes == 0) return empty_strided(header.sizes, strides_of(header), header.dtype);
  std::byte* data = file->data() + header.data_offset;
  if (header.dtype == Dtype::bool_) check_bools(*file, data, nbytes);
  const bool aligned = header.data_offset % itemsize(header.dtype) == 0;
  if (header.swapped || !aligned) return copy_elements(header, data, nbytes);
  const Tensor tensor = from_buffer(data, header.sizes, strides_of(header), header.dtype, unmap_file, file.get());
  file.release();  // the tensor's storage unmaps it
  return tensor;
}

NpyWriter::NpyWriter(const std::string& path, SizesView sizes, Dtype dtype) : file_(path) {
  const std::string header = npy_header(dtype, sizes);
  const int64_t nbytes = checked_numel(sizes) * itemsize(npy_dtype(dtype));
  if (nbytes == 0) {
    file_.write(header.data(), header.size());
    tensor_ = empty(sizes, npy_dtype(dtype));
    return;
  }
  std::byte* bytes = file_.map(static_cast<int64_t>(header.size()) + nbytes);
  std::memcpy(bytes, header.data(), header.size());
  tensor_ = from_buffer(bytes + header.size(), sizes, npy_dtype(dtype));
}

void save_npy(const std::string& path, const Tensor& tensor) {
  NpyWriter writer(path, tensor.sizes(), tensor.dtype());
  Tensor elements = writer.tensor();
  elements.copy_(tensor);
  writer.commit();
}

}  // namespace tenon::io
