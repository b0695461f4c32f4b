#include "tile/pool.h"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "base/fork.h"
#include "hwy/cache_control.h"
#include "kernel/kernel.h"
#include "tenon/error.h"
#include "tenon/threads.h"
#include "tile/run.h"

namespace tenon {
namespace {

int default_threads() {
  if (const char* text = std::getenv("TENON_NUM_THREADS")) {
    const std::string_view digits(text);
    int count = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (failure == std::errc() && end == digits.data() + digits.size() && count >= 1) return std::min(count, 1024);
    if (!digits.empty()) std::fprintf(stderr, "TENON_NUM_THREADS is ignored: '%s' is no number of threads\n", text);
  }
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// Some 20 to 40 microseconds.
constexpr int kLooks = 2000;
// A thread that could not be started is not asked for again so soon.
constexpr std::chrono::milliseconds kRetry{100};
// How often a thread asks whether to go on. Python is asked by taking the interpreter, which others may hold for 5 ms.
constexpr std::chrono::milliseconds kAsk{50};
// Looks are a millisecond apart at most, and as little as 20 ns, where reading a clock each time would be felt.
constexpr int kLooksPerClock = 16;

constinit thread_local bool inside_part = false;
constinit thread_local int looks_left = 0;  // until the clock is read
constinit thread_local int64_t next_question = 0;

/// For the life of the guard, calls of this thread run on it alone.
class InsidePart {
 public:
  InsidePart() noexcept { inside_part = true; }
  ~InsidePart() { inside_part = false; }
};

}  // namespace

/// One call's work: threads take parts by a counter until none is left.
struct Job {
  void (*run)(void*, Parts&);
  void* context;
  int64_t count;
  int wanted;                     // threads beside the caller
  std::atomic<int64_t> next{0};   // part
  std::atomic<int> workers{0};    // inside the job; begins to be counted under the pool's mutex
  std::atomic<bool> stop{false};  // somebody failed
  std::mutex error_mutex;
  std::exception_ptr error;  // the first

  const uint32_t generation = fork_generation();

  void fail(std::exception_ptr thrown) noexcept {
    {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::move(thrown);
    }
    stop.store(true, std::memory_order_relaxed);
    next.store(count, std::memory_order_relaxed);
  }
  /// A child of fork has none of the others: what they have begun is never done.
  bool is_orphan() const noexcept { return generation != fork_generation(); }
  bool all_left() const noexcept { return workers.load(std::memory_order_acquire) == 0 || is_orphan(); }
};

namespace {

class Pool {
 public:
  /// Whether this caller has the threads: one job at a time; a second caller works alone rather than wait.
  bool try_enter() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
  void leave() noexcept { busy_.store(false, std::memory_order_release); }

  void post(Job& job) noexcept {
    if (job.is_orphan()) return;  // its caller ends without waiting: nobody else may begin
    {
      const std::lock_guard lock(mutex_);
      start_threads(job.wanted);
      job_ = &job;
      wanted_ = job.wanted;
      posted_.fetch_add(1, std::memory_order_release);
    }
    posted_.notify_all();
  }

  /// Nobody begins any more; waits for those who have. Throws where the caller is to end before they do.
  void finish(const Job& job) {
    std::unique_lock lock(mutex_);
    job_ = nullptr;
    const auto all_left = [&] { return job.all_left(); };
    if (all_left()) return;
    lock.unlock();
    if (comes_soon(all_left)) return;
    for (;;) {
      lock.lock();
      if (!thread_interrupt_source) return done_.wait(lock, all_left);
      // The system's clock: sanitizers know no wait by the other one.
      if (done_.wait_until(lock, std::chrono::system_clock::now() + kAsk, all_left)) return;
      lock.unlock();
      looks_left = 0;
      check_interrupt();
    }
  }

 private:
  /// As many as can be had. A process may be short of them for a while.
  void start_threads(int count) noexcept {
    if (threads_ >= count || (refused_ && std::chrono::steady_clock::now() < retry_)) return;
    try {
      const BlockedSignals blocked;
      for (refused_ = false; threads_ < count; ++threads_) std::thread([this] { serve(); }).detach();
    } catch (const std::exception&) {
      refused_ = true;
      retry_ = std::chrono::steady_clock::now() + kRetry;
    }
  }

  /// A signal that is sent to the process is the business of threads that the process has made itself. What the
  /// processor raises comes to the thread that did it.
  class BlockedSignals {
   public:
    BlockedSignals() noexcept {
      sigset_t signals;
      sigfillset(&signals);
      for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
        sigdelset(&signals, own);
      pthread_sigmask(SIG_BLOCK, &signals, &previous_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

   private:
    sigset_t previous_;
  };

  void serve() noexcept {
    inside_part = true;
    for (uint32_t seen = 0;;) {
      const auto another = [&] { return posted_.load(std::memory_order_acquire) != seen; };
      if (!comes_soon(another)) posted_.wait(seen, std::memory_order_acquire);
      seen = posted_.load(std::memory_order_acquire);
      std::unique_lock lock(mutex_);
      if (!job_ || wanted_ == 0) continue;
      Job* job = job_;
      --wanted_;
      job->workers.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      work(*job);
      if (job->workers.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
      lock.lock();  // the caller either looks before this or hears it
      done_.notify_all();
    }
  }

  static void work(Job& job) noexcept {
    const InterruptSource job_source{&job.stop};
    const InterruptSourceGuard guard(&job_source);
    Parts parts(job, false);
    try {
      job.run(job.context, parts);
    } catch (...) {
      // Who has no memory to begin with leaves the work to the others.
      if (parts.begun()) job.fail(std::current_exception());
    }
  }

  /// Looks for a moment: to sleep and be woken takes longer than most jobs.
  template <class Condition>
  static bool comes_soon(const Condition& condition) {
    for (int look = 0; look < kLooks; ++look) {
      if (condition()) return true;
      hwy::Pause();
    }
    return false;
  }

  std::atomic<bool> busy_{false};
  std::mutex mutex_;
  std::condition_variable done_;
  std::atomic<uint32_t> posted_{0};  // jobs
  int threads_ = 0;
  bool refused_ = false;
  std::chrono::steady_clock::time_point retry_;
  Job* job_ = nullptr;
  int wanted_ = 0;
};

/// Never destroyed: its threads are never told to end, and may outlive static objects. A child of fork has none of them
/// and begins with a new pool in the same place.
alignas(Pool) constinit std::byte pool_memory[sizeof(Pool)] = {};
Pool& pool() {
  static Pool& instance = []() -> Pool& {
    // What other threads may be computing for the first time would never be done in a child.
    on_fork(
        [] {
          kernels();
          streaming_threshold();
          get_num_threads();
        },
        [] { new (pool_memory) Pool; });
    return *new (pool_memory) Pool;
  }();
  return instance;
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{default_threads()};
  return count;
}

int64_t coarse_milliseconds() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// The caller's own share of the job, then the wait for the others.
void run_shared(Job& job) {
  Parts parts(job, true);
  try {
    const InsidePart inside;
    job.run(job.context, parts);
  } catch (...) {
    if (!parts.begun()) throw;
    job.fail(std::current_exception());
  }
  try {
    pool().finish(job);
  } catch (...) {
    job.fail(std::current_exception());
    const InterruptSourceGuard without_source(nullptr);
    pool().finish(job);
  }
  if (job.is_orphan())
    throw Error("the process was forked in the middle of this operation, which the child can't finish");
}

struct LeavePool {
  ~LeavePool() { pool().leave(); }
};

}  // namespace

void set_num_threads(int count) {
  if (count < 1) throw ValueError("set_num_threads expects a positive integer, but got " + std::to_string(count));
  thread_count().store(std::min(count, 1024), std::memory_order_relaxed);
}
int get_num_threads() noexcept { return thread_count().load(std::memory_order_relaxed); }

constinit thread_local const InterruptSource* thread_interrupt_source = nullptr;

void look(const InterruptSource& source) {
  if (source.stop && source.stop->load(std::memory_order_relaxed)) throw Interrupted("interrupted");
  if (!source.ask || --looks_left > 0) return;
  looks_left = kLooksPerClock;
  const int64_t now = coarse_milliseconds();
  if (now < next_question) return;
  next_question = now + kAsk.count();
  source.ask();
}

InterruptGuard::InterruptGuard(const InterruptSource& source) noexcept
    : own_(source), previous_(std::exchange(thread_interrupt_source, &own_)) {}
InterruptGuard::~InterruptGuard() { thread_interrupt_source = previous_; }

int64_t Parts::take_shared() {
  if (!begun_) {
    begun_ = true;
    if (is_caller_) pool().post(*job_);
  }
  const int64_t part = job_->next.fetch_add(1, std::memory_order_relaxed);
  return part < job_->count ? part : -1;
}

void run_parts(int64_t count, void (*run)(void*, Parts&), void* context) {
  const int helpers = static_cast<int>(std::min<int64_t>(count, get_num_threads())) - 1;
  if (helpers < 1 || inside_part || !pool().try_enter()) {
    Parts parts(count);
    return run(context, parts);
  }
  const LeavePool leave;
  Job job{.run = run, .context = context, .count = count, .wanted = helpers, .error_mutex = {}, .error = {}};
  run_shared(job);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace tenon
