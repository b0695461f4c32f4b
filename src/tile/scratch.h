// tile: memory of one thread while it works.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tensor/recycle.h"
#include "tile/course.h"

namespace tenon {

/// Scratch memory of one thread: from the stack while small. The first three quarters of a page lie within one: a
/// vector that is stored across two waits for the streaming stores before it. It does not begin where a page does, as
/// large tensors do: a load waits for an earlier store whose address has the same last twelve bits. Bench: tenon_bench
/// --filter '^large/(NCHW 7x7|column|row)/'.
class Scratch {
 public:
  explicit Scratch(int64_t nbytes) : nbytes_(nbytes) {
    if (nbytes > kSmall) {
      block_ = recycle::allocate(nbytes + 2 * kPage);
      const auto past = reinterpret_cast<intptr_t>(block_) % kPage;
      data_ = static_cast<std::byte*>(block_) + (kPage - past) + kPlace;
    }
    note(nbytes);
  }
  ~Scratch() {
    if (block_) recycle::deallocate(block_, nbytes_ + 2 * kPage);
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

  static constexpr int64_t kPage = 4096, kPlace = kPage / 4, kSmall = kPage / 2;

  alignas(kPage) std::byte stack_[kPlace + kSmall];
  std::byte* data_ = stack_ + kPlace;
  void* block_ = nullptr;
  int64_t nbytes_;
};

}  // namespace tenon
