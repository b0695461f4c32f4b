// tile: memory of one thread while it works.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tensor/recycle.h"
#include "tile/course.h"

namespace tenon {

/// Scratch memory of one thread: from the stack while small.
class Scratch {
 public:
  /// Up to so many bytes take no memory.
  static constexpr int64_t kOnStack = 2048;

  explicit Scratch(int64_t nbytes) : nbytes_(nbytes) {
    data_ = nbytes <= kOnStack ? stack_ : static_cast<std::byte*>(recycle::allocate(nbytes));
    note(nbytes);
  }
  ~Scratch() {
    if (data_ != stack_) recycle::deallocate(data_, nbytes_);
    note(-nbytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* data() { return data_; }

 private:
  static void note(int64_t nbytes) noexcept {
    if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
      record->took(nbytes);
  }

  int64_t nbytes_;
  std::byte* data_;
  alignas(64) std::byte stack_[kOnStack];
};

}  // namespace tenon
