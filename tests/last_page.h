// Memory that ends where the process may read and write nothing, which masked instructions must not touch either.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace tenon {

class LastPage {
 public:
  /// Room for at least `nbytes` bytes.
  explicit LastPage(int64_t nbytes = 1) : page_(sysconf(_SC_PAGESIZE)), room_((nbytes + page_ - 1) / page_ * page_) {
    memory_ = mmap(nullptr, size(room_ + page_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(static_cast<std::byte*>(memory_) + room_, size(page_), PROT_NONE);
  }
  ~LastPage() { munmap(memory_, size(room_ + page_)); }
  LastPage(const LastPage&) = delete;
  LastPage& operator=(const LastPage&) = delete;

  /// The last `nbytes` bytes.
  std::byte* last(int64_t nbytes) const { return static_cast<std::byte*>(memory_) + room_ - nbytes; }

 private:
  static std::size_t size(int64_t nbytes) { return static_cast<std::size_t>(nbytes); }

  int64_t page_, room_;
  void* memory_;
};

}  // namespace tenon
