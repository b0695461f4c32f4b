// system: threads, cores and forks, as far as the standard library has no word for them. Never throws.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon::system {

/// The core that runs this thread; -1 if the system does not say.
int current_core() noexcept;
/// Moves this thread to another core if it runs on the given one and the system allows it. Below 0: does nothing.
void leave_core(int core) noexcept;
/// Lets threads of this core that have just been woken begin.
void yield_core() noexcept;
/// A clock that is cheap to read, and moves on in steps of up to 20 milliseconds.
int64_t coarse_milliseconds() noexcept;

/// While it lives, threads that this one starts get no signals that are sent to the process, so that these go to the
/// application's threads. Signals that a processor fault raises still reach the thread that caused it.
class BlockedSignals {
 public:
  BlockedSignals() noexcept;
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  alignas(8) std::byte previous_[128];
};

/// Calls `close` with a thread's value when the thread ends, after or before the destructors of its thread_local
/// objects. Not a thread_local with a destructor: without memory to register it the process would abort. Of static
/// lifetime.
class ThreadExit {
 public:
  explicit ThreadExit(void (*close)(void* value)) noexcept;
  /// Sets this thread's value. False if the system has no room for it.
  bool set(void* value) const noexcept;

 private:
  uintptr_t key_ = 0;
  bool is_made_;
};

/// Calls `prepare` before each fork of this process, then `parent` in the process and `child` in its child. Does
/// nothing where processes do not fork.
void at_fork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept;

}  // namespace tenon::system
