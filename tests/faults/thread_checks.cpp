// Threads that cannot be started, and threads without memory.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "faults.h"

namespace {

std::atomic<bool> refuse_threads{false};
std::atomic<int> refused{0}, started{0};

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*body)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (refuse_threads) {
    ++refused;
    return EAGAIN;
  }
  ++started;
  return create(thread, attributes, body, argument);
}

namespace tenon::faults {
namespace {

bool adds_right() {
  const Tensor sum = ones({400000}) + 1;
  return (sum == 2).all().item<bool>();
}

/// If threads cannot be started, the caller does all the work. They are requested again later, not at every op.
std::string refused_threads() {
  set_num_threads(3);
  refuse_threads = true;
  for (int turn = 0; turn < 100; ++turn)
    if (!adds_right()) return "wrong without threads";
  if (refused == 0) return "no thread was asked for";
  if (refused > 90) return "threads are asked for at every op";
  refuse_threads = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (!adds_right()) return "wrong with threads";
  return started == 2 ? "" : std::to_string(started) + " threads were started instead of 2";
}

/// Allocations fail in a thread's first op, too, in which its cache is created.
std::string starving_threads() {
  set_num_threads(1);
  for (int64_t first = 0; first < 8; ++first) {
    std::string wrong;
    std::thread thread([&] {
      fail_allocations(first, INT64_MAX);
      try {
        const Tensor sum = ones({3}) + 1;
        stop_failing();
        if (sum[0].item<double>() != 2) wrong = "a wrong sum";
      } catch (const std::exception&) {
        stop_failing();
      }
      try {
        if ((ones({3}) + 1)[0].item<double>() != 2) wrong = "a wrong sum afterwards";
      } catch (const std::exception& error) {
        wrong = error.what();
      }
    });
    thread.join();
    if (!wrong.empty()) return wrong;
  }
  return {};
}

/// Workers without memory leave the work to others.
std::string starving_helpers() {
  set_num_threads(3);
  const Tensor a = ones({700, 1000}, bfloat16), b = ones({1000}, float64);
  Tensor inplace = zeros({700, 1000});
  (a + b).sum();
  for (int64_t first = 0; first < 40; ++first) {
    memory::trim();
    fail_allocations(first, INT64_MAX);
    bool done = true;
    try {
      inplace.add_(a);
    } catch (const std::exception&) {
      done = false;
    }
    stop_failing();
    const double lowest = inplace.amin().item<double>(), highest = inplace.amax().item<double>();
    if (lowest != highest) return "half written";
    if (highest != (done ? 1 : 0)) return done ? "not written" : "written by a call that failed";
    inplace.zero_();
  }
  return {};
}

}  // namespace

void add_thread_checks(std::vector<Check>& checks) {
  checks.push_back({"threads/refused", refused_threads});
  checks.push_back({"threads/without memory at the first op", starving_threads});
  checks.push_back({"threads/helpers without memory", starving_helpers});
}

}  // namespace tenon::faults
