// base: locks that survive fork(). In the child only the forking thread exists, so a lock held by another thread would
// stay held for ever.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace tenon {

/// Written only by the fork handlers.
extern constinit std::atomic<uint32_t> process_generation;
/// 1 in the first process, 2 in its children, 3 in theirs.
inline uint32_t fork_generation() noexcept { return process_generation.load(std::memory_order_relaxed); }

/// A mutex of static lifetime that is free in every child: fork waits until nobody holds it. A thread holds at most
/// one.
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

/// A spin lock for a few instructions inside an object. One held by another thread of the parent is free in the child.
/// Do not destroy objects while holding it: a Python destructor may wait for the GIL, whose holder may wait for this
/// lock.
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

  std::atomic<uint32_t> holder_{0};  // generation of the process that holds it; 0: free
};

/// Calls a function when the library is loaded, so that its statics are initialised before any fork: a child could
/// never use a static that another thread of the parent was initialising.
struct AtLoad {
  template <class F>
  explicit AtLoad(const F& initialise) {
    initialise();
  }
};

/// Registers a function to run in every child.
void on_fork(void (*in_child)());

}  // namespace tenon
