// tile: the threads. Takes a number of parts and runs each once, on the caller and other threads. The caller decides
// the parts, so results do not depend on the number of threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tenon/threads.h"
#include "tile/course.h"

namespace tenon {

/// Null: nothing can interrupt this thread's work.
extern constinit thread_local const InterruptSource* thread_interrupt_source [[gnu::tls_model("initial-exec")]];
void look(const InterruptSource& source);
/// Throws Interrupted, or what `ask` throws, if the work is to end. Called once per tile.
inline void check_interrupt() {
  if (thread_interrupt_source) [[unlikely]]
    look(*thread_interrupt_source);
}

/// Sets this thread's interrupt source while the guard lives.
class InterruptSourceGuard {
 public:
  explicit InterruptSourceGuard(const InterruptSource* source) noexcept
      : previous_(std::exchange(thread_interrupt_source, source)) {}
  ~InterruptSourceGuard() { thread_interrupt_source = previous_; }
  InterruptSourceGuard(const InterruptSourceGuard&) = delete;
  InterruptSourceGuard& operator=(const InterruptSourceGuard&) = delete;

 private:
  const InterruptSource* previous_;
};

/// While the guard lives, nothing interrupts this thread: it writes to an operand or to `out=`, which must not be left
/// half written. An interrupt that is already requested throws before the write begins.
class Uninterrupted {
 public:
  Uninterrupted() : guard_((check_interrupt(), nullptr)) {}

 private:
  InterruptSourceGuard guard_;
};

struct Job;

/// The parts of one job that one thread takes. No other thread begins before the caller has taken its first part; until
/// then the caller can fail without effects.
class Parts {
 public:
  /// For a caller that works alone.
  explicit Parts(int64_t count) noexcept : count_(count) {}
  /// For one thread among several. The caller wakes the others.
  Parts(Job& job, bool is_caller) noexcept : job_(&job), is_caller_(is_caller) {}

  /// The next part; -1: none is left. Throws if the work is to end.
  int64_t take() {
    check_interrupt();
    if (job_) return take_shared();
    return next_ < count_ ? next_++ : -1;
  }
  bool begun() const noexcept { return begun_; }

 private:
  int64_t take_shared();

  Job* job_ = nullptr;
  int64_t next_ = 0, count_ = 0;
  bool is_caller_ = false, begun_ = false;
};

/// The number of threads that take so many parts.
inline int64_t threads_for(int64_t parts) noexcept { return parts < get_num_threads() ? parts : get_num_threads(); }

/// Calls run(context, parts) on up to get_num_threads() threads, the caller's among them, until all `count` parts have
/// been taken and run. After an exception no more parts are taken, and the caller rethrows the first one. Calls from
/// inside a part, and all calls if no thread can be started, run on the calling thread alone.
void run_parts(int64_t count, void (*run)(void* context, Parts& parts), void* context);

/// Runs body(state, part) for parts [0, count). `make()` makes each thread's state before its first part. Everything
/// that may fail belongs there.
template <class Make, class Body>
void parallel_for(int64_t count, const Make& make, const Body& body) {
  if (count == 1) {
    note_parts(1, 1);
    auto state = make();
    return body(state, 0);
  }
  const auto run = [&](Parts& parts) {
    auto state = make();
    for (int64_t part; (part = parts.take()) >= 0;) body(state, part);
  };
  run_parts(
      count, [](void* context, Parts& parts) { (*static_cast<decltype(run)*>(context))(parts); },
      const_cast<std::remove_const_t<decltype(run)>*>(&run));
}
template <class Body>
void parallel_for(int64_t count, const Body& body) {
  parallel_for(
      count, [] { return nullptr; }, [&](std::nullptr_t, int64_t part) { body(part); });
}

/// The same for an algorithm that writes to `out`. Where there is no memory and runs are planned, its parts are only
/// counted.
template <class Make, class Body>
void run_or_plan(const void* out, int64_t count, const Make& make, const Body& body) {
  if (!out && CourseRecord::plans_meta()) return note_parts(count, threads_for(count));
  parallel_for(count, make, body);
}
template <class Body>
void run_or_plan(const void* out, int64_t count, const Body& body) {
  run_or_plan(
      out, count, [] { return nullptr; }, [&](std::nullptr_t, int64_t part) { body(part); });
}

}  // namespace tenon
