#include "tile/pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hwy/cache_control.h"
#include "tenon/error.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

int default_threads() {
  if (const char* text = std::getenv("TENON_NUM_THREADS")) {
    const int count = std::atoi(text);
    if (count >= 1) return std::min(count, 1024);
  }
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// One call's work: threads take parts by a counter until none is left.
struct Job {
  void (*body)(void*, int64_t);
  void* context;
  int64_t parts;
  std::atomic<int64_t> next{0};
  const std::atomic<bool>* stop;  // the caller's
  std::atomic<int> workers{0};    // inside the job; begins to be counted under the pool's mutex
  std::mutex error_mutex;
  std::exception_ptr error;

  void work() noexcept {
    const std::atomic<bool>* const own = std::exchange(stop_flag, stop);
    run_parts_left();
    stop_flag = own;
  }

 private:
  void run_parts_left() noexcept {
    for (int64_t part; (part = next.fetch_add(1, std::memory_order_relaxed)) < parts;) {
      try {
        check_interrupt();
        body(context, part);
      } catch (...) {
        std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
      }
    }
  }
};

thread_local bool inside_part = false;

// Some 20 to 40 microseconds.
constexpr int kLooks = 2000;

class Pool {
 public:
  ~Pool() { stop(); }

  void run(Job& job, int helpers) {
    {
      std::lock_guard lock(mutex_);
      while (static_cast<int>(threads_.size()) < helpers) threads_.emplace_back([this] { serve(); });
      job_ = &job;
      wanted_ = helpers;
      posted_.fetch_add(1, std::memory_order_release);
    }
    posted_.notify_all();
    inside_part = true;
    job.work();
    inside_part = false;
    std::unique_lock lock(mutex_);
    job_ = nullptr;  // whoever has not begun stays out
    if (job.workers.load(std::memory_order_acquire) == 0) return;
    lock.unlock();
    const auto all_left = [&] { return job.workers.load(std::memory_order_acquire) == 0; };
    if (comes_soon(all_left)) return;
    lock.lock();
    done_.wait(lock, all_left);
  }

  /// One job at a time; a second caller works alone rather than wait.
  std::mutex& turn() { return turn_; }

 private:
  void serve() {
    inside_part = true;
    for (uint32_t seen = 0;;) {
      const auto another = [&] { return posted_.load(std::memory_order_acquire) != seen; };
      if (!comes_soon(another)) posted_.wait(seen, std::memory_order_acquire);
      seen = posted_.load(std::memory_order_acquire);
      std::unique_lock lock(mutex_);
      if (stopping_) return;
      if (!job_ || wanted_ == 0) continue;
      Job* job = job_;
      --wanted_;
      job->workers.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      job->work();
      if (job->workers.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
      lock.lock();  // the caller either looks before this or hears it
      done_.notify_all();
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
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      posted_.fetch_add(1, std::memory_order_release);
    }
    posted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::mutex turn_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::atomic<uint32_t> posted_{0};  // jobs, and the end
  std::vector<std::thread> threads_;
  Job* job_ = nullptr;
  int wanted_ = 0;
  bool stopping_ = false;
};

Pool& pool() {
  static Pool instance;
  return instance;
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{default_threads()};
  return count;
}

}  // namespace

void set_num_threads(int count) {
  if (count < 1) throw ValueError("set_num_threads expects a positive integer, but got " + std::to_string(count));
  thread_count().store(std::min(count, 1024), std::memory_order_relaxed);
}
int get_num_threads() noexcept { return thread_count().load(std::memory_order_relaxed); }

constinit thread_local const std::atomic<bool>* stop_flag = nullptr;
void fail_interrupted() { throw Interrupted("interrupted"); }
InterruptGuard::InterruptGuard(const std::atomic<bool>& stop) noexcept : previous_(std::exchange(stop_flag, &stop)) {}
InterruptGuard::~InterruptGuard() { stop_flag = previous_; }

void run_parts(int64_t parts, void (*body)(void*, int64_t), void* context) {
  Job job{.body = body, .context = context, .parts = parts, .stop = stop_flag, .error_mutex = {}, .error = {}};
  const int helpers = static_cast<int>(std::min<int64_t>(parts, get_num_threads())) - 1;
  std::unique_lock<std::mutex> turn;
  if (helpers > 0 && !inside_part) turn = std::unique_lock(pool().turn(), std::try_to_lock);
  if (turn.owns_lock())
    pool().run(job, helpers);
  else
    job.work();
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace tenon
