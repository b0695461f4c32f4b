// tile: the threads. Takes a number of parts; has each part run once, the caller taking part. Never splits by itself,
// so that results do not depend on how many threads there are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tenon/threads.h"

namespace tenon {

/// Null: nothing ends this thread's work early.
extern constinit thread_local const InterruptSource* thread_interrupt_source [[gnu::tls_model("initial-exec")]];
void look(const InterruptSource& source);
/// Throws where somebody wants the work to end: Interrupted, or what `ask` throws. Called once a tile.
inline void check_interrupt() {
  if (thread_interrupt_source) [[unlikely]]
    look(*thread_interrupt_source);
}

/// Sets what this thread looks at for the life of the guard.
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

/// For the life of the guard this thread writes to what is not its own to throw away: an operand, an `out=`. That ends
/// before it begins, or not at all.
class Uninterrupted {
 public:
  Uninterrupted() : guard_((check_interrupt(), nullptr)) {}

 private:
  InterruptSourceGuard guard_;
};

struct Job;

/// The parts of one job, as one thread takes them. Nobody begins before the caller has taken its first part: until then
/// it may fail without a trace.
class Parts {
 public:
  /// Of a caller that works alone.
  explicit Parts(int64_t count) noexcept : count_(count) {}
  /// Of one thread among several; the caller is the one that wakes the others.
  Parts(Job& job, bool is_caller) noexcept : job_(&job), is_caller_(is_caller) {}

  /// The next part; -1: none is left. Throws where the work is to end.
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

/// Calls run(context, parts) on up to get_num_threads() threads, the caller's among them, until all `count` parts have
/// been taken and run. The first exception is thrown again by the caller; nobody takes another part then. Calls from
/// inside a part run on that thread alone, and so does all of it where no other thread can be had.
void run_parts(int64_t count, void (*run)(void* context, Parts& parts), void* context);

/// Runs body(state, part) for parts [0, count). `make()` gives each thread a state of its own before it takes a part:
/// it is the place for what may fail.
template <class Make, class Body>
void parallel_for(int64_t count, const Make& make, const Body& body) {
  if (count == 1) {
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

}  // namespace tenon
