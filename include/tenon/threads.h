// tile: how many threads one op may use. Results do not depend on it.
#pragma once
#include <atomic>

#include "tenon/error.h"
#include "tenon/export.h"

namespace tenon {

/// Threads per op, the caller's included. Default: TENON_NUM_THREADS, else the machine's cores. ValueError below 1.
TENON_API void set_num_threads(int count);
TENON_API int get_num_threads() noexcept;

/// An op that was asked to end early.
class TENON_API Interrupted : public Error {
 public:
  using Error::Error;
};

/// What a thread looks at while it works.
struct InterruptSource {
  const std::atomic<bool>* stop = nullptr;  // ends the work where it is true
  void (*ask)() = nullptr;                  // called every 50 ms or so; may throw what ends the work
};

/// For the life of the guard, ops of this thread end with Interrupted soon after `stop` becomes true; a signal handler
/// may set it. What an op makes is thrown away then. An op that writes to one of its operands or into `out=` is not cut
/// short: it either finishes, and the next op ends, or has not begun.
class TENON_API InterruptGuard {
 public:
  explicit InterruptGuard(const std::atomic<bool>& stop) noexcept : InterruptGuard(InterruptSource{&stop, nullptr}) {}
  explicit InterruptGuard(const InterruptSource& source) noexcept;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  InterruptSource own_;
  const InterruptSource* previous_;
};

}  // namespace tenon
