#include "base/fork.h"

#include <thread>

#include "system/threads.h"

namespace tenon {

constinit std::atomic<uint32_t> process_generation{1};

namespace {

// Constant-initialised: mutexes in other files may be constructed earlier.
constinit std::atomic<ForkMutex*> mutexes{nullptr};

using Hook = void (*)();
constinit Hook hooks[4] = {};
constinit std::atomic<int> hook_count{0};

}  // namespace

/// New mutexes are added at the front of the list, so the handlers after a fork start at the mutex where `prepare`
/// started, and reach exactly those that it locked.
class ForkHandlers {
 public:
  static void prepare() {
    first_ = mutexes.load();
    for (ForkMutex* mutex = first_; mutex; mutex = mutex->next_) mutex->lock();
  }
  static void unlock() {
    for (ForkMutex* mutex = first_; mutex; mutex = mutex->next_) mutex->unlock();
  }
  static void child() {
    process_generation.fetch_add(1);
    unlock();
    for (int i = 0; i < hook_count.load(); ++i) hooks[i]();
  }
  static void add(ForkMutex* mutex) noexcept {
    mutex->next_ = mutexes.load();
    while (!mutexes.compare_exchange_weak(mutex->next_, mutex)) {
    }
    install();
  }
  static void install() noexcept {
    [[maybe_unused]] static const bool installed = (system::at_fork(&prepare, &unlock, &child), true);
  }

 private:
  static thread_local ForkMutex* first_;  // the first mutex that this thread's fork has locked
};
constinit thread_local ForkMutex* ForkHandlers::first_ = nullptr;

ForkMutex::ForkMutex() noexcept { ForkHandlers::add(this); }

void ForkSpinLock::wait(uint32_t own) noexcept {
  for (;;) {
    uint32_t holder = holder_.load(std::memory_order_relaxed);
    if (holder != own && holder_.compare_exchange_weak(holder, own, std::memory_order_acquire)) return;
    std::this_thread::yield();
  }
}

void on_fork(void (*in_child)()) {
  hooks[hook_count.load()] = in_child;
  hook_count.fetch_add(1);
  ForkHandlers::install();
}

}  // namespace tenon
