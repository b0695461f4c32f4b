// base: what a child of fork finds. Only the thread that forked is there: a lock that another one held at that moment
// would stay held for ever.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace tenon {

/// Written by the handlers of fork alone.
extern constinit std::atomic<uint32_t> process_generation;
/// 1, and one more in each generation of children.
inline uint32_t fork_generation() noexcept { return process_generation.load(std::memory_order_relaxed); }

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

/// A flag for a few instructions, one an object. What a parent's thread held is free in the child. Nothing is destroyed
/// meanwhile that could run foreign code: a destructor of Python's may wait for the interpreter, and its holder for
/// this flag.
class ForkSpinLock {
 public:
  void lock() noexcept {
    uint32_t holder = 0;
    const uint32_t own = fork_generation();
    if (!holder_.compare_exchange_strong(holder, own, std::memory_order_acquire)) [[unlikely]]
      wait(own);
  }
  void unlock() noexcept { holder_.store(0, std::memory_order_release); }

 private:
  void wait(uint32_t own) noexcept;

  std::atomic<uint32_t> holder_{0};  // the generation of the process that holds it; 0: nobody does
};

/// Runs `before` ahead of every fork and `in_child` in every child; for the life of the process.
void on_fork(void (*before)(), void (*in_child)());

}  // namespace tenon
