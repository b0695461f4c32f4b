#include "tile/pool.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "base/fork.h"
#include "hwy/cache_control.h"
#include "kernel/kernel.h"
#include "system/threads.h"
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

// How often an idle thread looks for work before it sleeps: 20 to 40 microseconds. Bench: tenon_bench --filter
// '^threads/equal 256/all'.
constexpr int kLooks = 2000;
// After a thread could not be started, the next try waits this long.
constexpr std::chrono::milliseconds kRetry{100};
// How often a thread asks whether to go on. To ask Python it takes the GIL, which others may hold for 5 ms.
constexpr std::chrono::milliseconds kAsk{50};
// The clock is read at every 16th look only: looks may be 20 ns apart, which is less than reading a clock takes.
constexpr int kLooksPerClock = 16;

constinit thread_local bool inside_part = false;
constinit thread_local int looks_left = 0;  // until the clock is read
constinit thread_local int64_t next_question = 0;

/// While the guard lives, ops that this thread calls use no other threads.
class InsidePart {
 public:
  InsidePart() noexcept { inside_part = true; }
  ~InsidePart() { inside_part = false; }
};

}  // namespace

/// The work of one call: threads take parts from a counter until none is left.
struct Job {
  void (*run)(void*, Parts&);
  void* context;
  int64_t count;
  int wanted;                     // threads besides the caller
  std::atomic<int64_t> next{0};   // part
  std::atomic<int> workers{0};    // threads inside the job; increased under the pool's mutex
  std::atomic<bool> stop{false};  // a thread failed
  std::mutex error_mutex;
  std::exception_ptr error;  // the first error

  const uint32_t generation = fork_generation();

  void fail(std::exception_ptr thrown) noexcept {
    {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::move(thrown);
    }
    stop.store(true, std::memory_order_relaxed);
    next.store(count, std::memory_order_relaxed);
  }
  /// Whether the process has forked since. The child has no other threads, so parts that they took are never done.
  bool is_orphan() const noexcept { return generation != fork_generation(); }
  bool all_left() const noexcept { return workers.load(std::memory_order_acquire) == 0 || is_orphan(); }
};

namespace {

class Pool {
 public:
  /// Reserves the threads for this caller. False if another job has them: then the caller works alone instead of
  /// waiting.
  bool try_enter() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
  void leave() noexcept { busy_.store(false, std::memory_order_release); }

  void post(Job& job) noexcept {
    if (job.is_orphan()) return;  // its caller returns without waiting, so no thread may begin
    {
      const std::lock_guard lock(mutex_);
      start_threads(job.wanted);
      core_.store(system::current_core(), std::memory_order_relaxed);
      job_ = &job;
      wanted_ = job.wanted;
      posted_.fetch_add(1, std::memory_order_release);
    }
    posted_.notify_all();
    // Linux may queue a thread that wakes up behind this one, and leave it there for milliseconds while other cores are
    // idle. It begins now and moves to another core. Bench: tenon_bench --filter '^threads/'.
    if (asleep_.load(std::memory_order_relaxed) > 0) system::yield_core();
  }

  /// Lets no more threads begin, and waits for those that have. Throws if the caller is interrupted before they end.
  void finish(const Job& job) {
    std::unique_lock lock(mutex_);
    job_ = nullptr;
    const auto all_left = [&] { return job.all_left(); };
    if (all_left()) return;
    lock.unlock();
    if (comes_soon(all_left)) return;
    for (;;) {
      lock.lock();
      if (wait_done(lock, all_left)) return system::leave_core(last_core_);
      lock.unlock();
      looks_left = 0;
      check_interrupt();
    }
  }

 private:
  /// Starts as many threads as possible. The system may refuse some for a while.
  void start_threads(int count) noexcept {
    if (threads_ >= count || (refused_ && std::chrono::steady_clock::now() < retry_)) return;
    try {
      const system::BlockedSignals blocked;
      for (refused_ = false; threads_ < count; ++threads_) std::thread([this] { serve(); }).detach();
    } catch (const std::exception&) {
      refused_ = true;
      retry_ = std::chrono::steady_clock::now() + kRetry;
    }
  }

  void serve() noexcept {
    inside_part = true;
    for (uint32_t seen = 0;;) {
      const auto another = [&] { return posted_.load(std::memory_order_acquire) != seen; };
      if (!comes_soon(another)) {
        asleep_.fetch_add(1, std::memory_order_relaxed);
        posted_.wait(seen, std::memory_order_acquire);
        asleep_.fetch_sub(1, std::memory_order_relaxed);
        system::leave_core(core_.load(std::memory_order_relaxed));
      }
      seen = posted_.load(std::memory_order_acquire);
      std::unique_lock lock(mutex_);
      if (!job_ || wanted_ == 0) continue;
      Job* job = job_;
      --wanted_;
      job->workers.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      work(*job);
      if (job->workers.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
      lock.lock();  // the caller either sees the counter or gets the notification
      last_core_ = system::current_core();
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
      // A thread that could not begin for lack of memory leaves the work to the others.
      if (parts.begun()) job.fail(std::current_exception());
    }
  }

  /// False if the caller is to ask first whether to go on.
  template <class Condition>
  bool wait_done(std::unique_lock<std::mutex>& lock, const Condition& all_left) {
    if (!thread_interrupt_source) return done_.wait(lock, all_left), true;
    // system_clock, because sanitizers do not support waiting by steady_clock.
    return done_.wait_until(lock, std::chrono::system_clock::now() + kAsk, all_left);
  }

  /// Spins for a short time: sleeping and waking takes longer than most jobs.
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
  std::atomic<uint32_t> posted_{0};  // number of jobs so far
  std::atomic<int> asleep_{0};       // threads
  std::atomic<int> core_{-1};        // of the caller that posted the last job
  int threads_ = 0;
  bool refused_ = false;
  std::chrono::steady_clock::time_point retry_;
  Job* job_ = nullptr;
  int wanted_ = 0;
  int last_core_ = -1;  // of the thread that woke the caller
};

/// Never destroyed: its threads never end and may outlive static objects. A child of fork makes a new pool in the same
/// memory.
alignas(Pool) constinit std::byte pool_memory[sizeof(Pool)] = {};
Pool& pool() {
  static Pool& instance = []() -> Pool& {
    on_fork([] { new (pool_memory) Pool; });
    return *new (pool_memory) Pool;
  }();
  return instance;
}
const AtLoad pool_at_load(pool);

std::atomic<int>& thread_count() {
  static std::atomic<int> count{default_threads()};
  return count;
}
const AtLoad count_at_load(thread_count);

/// Runs the caller's share of the job, then waits for the others.
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

constinit thread_local const InterruptSource* thread_interrupt_source [[gnu::tls_model("initial-exec")]] = nullptr;

void look(const InterruptSource& source) {
  if (source.stop && source.stop->load(std::memory_order_relaxed)) throw Interrupted("interrupted");
  if (!source.ask || --looks_left > 0) return;
  looks_left = kLooksPerClock;
  const int64_t now = system::coarse_milliseconds();
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
  const int helpers = static_cast<int>(threads_for(count)) - 1;
  if (helpers < 1 || inside_part || !pool().try_enter()) {
    note_parts(count, 1);
    Parts parts(count);
    return run(context, parts);
  }
  const LeavePool leave;
  note_parts(count, helpers + 1);
  Job job{.run = run, .context = context, .count = count, .wanted = helpers, .error_mutex = {}, .error = {}};
  run_shared(job);
  if (job.error) std::rethrow_exception(job.error);
}

Interrupted::~Interrupted() = default;

}  // namespace tenon
