// A few tensors that may share memory, and checks of what a step of a program has changed.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "fuzz/elements.h"

namespace tenon::fuzz {

/// The most elements that a step reads or writes one by one.
inline constexpr int64_t kMostElements = 600;

/// The index of an element from its position in row-major order.
inline Dims index_at(SizesView sizes, int64_t linear) {
  Dims index(sizes.size(), 0);
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    index[dim] = linear % sizes[dim];
    linear /= sizes[dim];
  }
  return index;
}
inline int64_t linear_at(SizesView sizes, SizesView index) {
  int64_t linear = 0;
  for (int64_t dim = 0; dim < sizes.size(); ++dim) linear = linear * sizes[dim] + index[dim];
  return linear;
}
/// The operand's index for an index of the broadcast result.
inline Dims operand_index(SizesView sizes, SizesView index) {
  const int64_t lead = index.size() - sizes.size();
  Dims result(sizes.size(), 0);
  for (int64_t dim = 0; dim < sizes.size(); ++dim) result[dim] = sizes[dim] == 1 ? 0 : index[dim + lead];
  return result;
}

/// The offset of an element in the storage, in elements, computed without overflow.
inline Wide place_of(const Tensor& tensor, SizesView index) {
  Wide place = tensor.storage_offset();
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) place += Wide{index[dim]} * tensor.strides()[dim];
  return place;
}

/// A copy of a tensor's elements.
struct Copy {
  Dtype dtype;
  Dims sizes;
  std::string bytes;  // row-major

  explicit Copy(const Tensor& tensor)
      : dtype(tensor.dtype()),
        sizes(tensor.sizes().copy()),
        bytes(tensor.is_meta() ? std::string() : bytes_of(tensor)) {}
  std::string element(int64_t linear) const {
    const auto width = static_cast<std::size_t>(itemsize(dtype));
    return bytes.substr(static_cast<std::size_t>(linear) * width, width);
  }
};

/// Layouts and elements of all tensors.
class Snapshot {
 public:
  explicit Snapshot(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) {
      layouts_.push_back({tensor, describe(tensor)});
      if (const Storage* storage = tensor.impl()->storage)
        memory_.try_emplace(storage, reinterpret_cast<const char*>(storage->data), storage->nbytes);
    }
  }

  /// Checks that only the layout of `written` (null: nothing) has changed, and, if `has_new`, its elements.
  void check_unchanged(const Tensor* written, bool has_new, const char* step) const {
    for (const auto& [tensor, layout] : layouts_)
      if (!written || !tensor.is(*written)) CLAIM_OF(describe(tensor) == layout, std::string(step) + ": " + layout);
    for (const auto& [storage, bytes] : memory_) {
      const bool touched = has_new && written && written->impl()->storage == storage;
      CLAIM_OF(storage->nbytes >= static_cast<int64_t>(bytes.size()), step);
      const std::vector<bool> mask = touched ? written_bytes(*written, bytes.size()) : std::vector<bool>();
      const char* now = reinterpret_cast<const char*>(storage->data);
      for (std::size_t i = 0; i < bytes.size(); ++i)
        CLAIM_OF(now[i] == bytes[i] || (touched && mask[i]),
                 std::string(step) + ": byte " + std::to_string(i) + (written ? " beside " + describe(*written) : ""));
    }
  }

 private:
  static std::vector<bool> written_bytes(const Tensor& tensor, std::size_t nbytes) {
    std::vector<bool> mask(nbytes);
    const auto width = static_cast<std::size_t>(tensor.itemsize());
    for (int64_t place : places_of(tensor))
      for (std::size_t byte = static_cast<std::size_t>(place) * width;
           byte < (static_cast<std::size_t>(place) + 1) * width; ++byte)
        if (byte < nbytes) mask[byte] = true;
    return mask;
  }

  std::vector<std::pair<Tensor, std::string>> layouts_;
  std::map<const Storage*, std::string> memory_;
};

}  // namespace tenon::fuzz
