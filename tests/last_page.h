// Memory that ends where the process may read and write nothing, which masked instructions must not touch either.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

#include "pages.h"

namespace tenon {

class LastPage {
 public:
  /// Room for at least `nbytes` bytes.
  explicit LastPage(int64_t nbytes = 1)
      : room_((static_cast<std::size_t>(nbytes) + kPageBytes - 1) / kPageBytes * kPageBytes),
        memory_(static_cast<std::byte*>(take_pages(room_ + kPageBytes))) {
    if (!memory_) throw std::bad_alloc();
    forbid_pages(memory_ + room_, kPageBytes);
  }
  ~LastPage() { free_pages(memory_, room_ + kPageBytes); }
  LastPage(const LastPage&) = delete;
  LastPage& operator=(const LastPage&) = delete;

  /// The last `nbytes` bytes.
  std::byte* last(int64_t nbytes) const { return memory_ + room_ - nbytes; }

 private:
  std::size_t room_;
  std::byte* memory_;
};

}  // namespace tenon
