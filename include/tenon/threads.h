// tile: how many threads one op may use. Results do not depend on it.
#pragma once
#include <atomic>

#include "tenon/error.h"
#include "tenon/export.h"

namespace tenon {

/// Threads per op, the caller's included. Default: TENON_NUM_THREADS, else the machine's cores. ValueError below 1.
TENON_API void set_num_threads(int count);
TENON_API int get_num_threads() noexcept;

/// Thrown by an op that was asked to end early.
class TENON_API Interrupted : public Error {
 public:
  using Error::Error;
  ~Interrupted() override;
};

/// What a working thread checks to find out whether to stop.
struct InterruptSource {
  const std::atomic<bool>* stop = nullptr;  // ends the work once it is true
  void (*ask)() = nullptr;                  // called about every 50 ms; may throw to end the work
};

/// While the guard lives, ops of this thread throw Interrupted soon after `stop` becomes true; a signal handler may set
/// it. An interrupted op discards its result. In-place and `out=` ops are not interrupted midway: they finish, and the
/// next op throws.
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
