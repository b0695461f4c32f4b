// tile: how many threads one op may use. Results do not depend on it.
#pragma once
#include <atomic>

#include "tenon/error.h"
#include "tenon/export.h"

namespace tenon {

/// Threads per op, the caller's included. Default: TENON_NUM_THREADS, else the machine's cores. ValueError below 1.
TENON_API void set_num_threads(int count);
TENON_API int get_num_threads() noexcept;

/// An op that was asked to end early. What it was writing in place or into `out=` holds part of the result.
class TENON_API Interrupted : public Error {
 public:
  using Error::Error;
};

/// For the life of the guard, ops of this thread end with Interrupted soon after `stop` becomes true; a signal handler
/// may set it.
class TENON_API InterruptGuard {
 public:
  explicit InterruptGuard(const std::atomic<bool>& stop) noexcept;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  const std::atomic<bool>* previous_;
};

}  // namespace tenon
