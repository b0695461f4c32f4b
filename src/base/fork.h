// base: what a child of fork finds. Only the thread that forked is there: a lock that another one held at that moment
// would stay held for ever.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace tenon {

/// 1, and one more in each generation of children.
uint32_t fork_generation() noexcept;

/// A mutex of static life that is free in every child: fork waits until nobody holds it. Who holds one takes no other.
class ForkMutex {
 public:
  ForkMutex() noexcept;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend class ForkHandlers;
  std::mutex mutex_;
  ForkMutex* next_;
};

/// A flag for a few instructions, one an object. What a parent's thread held is free in the child.
class ForkSpinLock {
 public:
  void lock() noexcept;
  void unlock() noexcept { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> holder_{0};  // the generation of the process that holds it; 0: nobody does
};

/// Runs `before` ahead of every fork and `in_child` in every child; for the life of the process.
void on_fork(void (*before)(), void (*in_child)());

}  // namespace tenon
