// Shared by fuzz targets: values read from a case's bytes, the file with a case, and a time limit.
#pragma once
#include <fcntl.h>
#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string>
#include <string_view>

#include "tenon/dtype.h"
#include "tenon/error.h"
#include "tenon/threads.h"

namespace tenon::fuzz {

/// A claim of a target. If it does not hold, the process ends, and libFuzzer reports the case.
#define CLAIM(HOLDS) CLAIM_OF(HOLDS, std::string())
/// The same with a text for the report, which is computed only if needed.
#define CLAIM_OF(HOLDS, DETAIL)                                                  \
  do {                                                                           \
    if (!(HOLDS)) ::tenon::fuzz::fail_claim(#HOLDS, __FILE__, __LINE__, DETAIL); \
  } while (false)

[[noreturn]] inline void fail_claim(const char* claim, const char* file, int line, const std::string& detail) {
  std::fprintf(stderr, "%s:%d: does not hold: %s\n%s\n", file, line, claim, detail.c_str());
  std::abort();
}

/// Reads the bytes of a case from the front; zeros after the end.
class Bytes {
 public:
  Bytes(const uint8_t* data, std::size_t size) noexcept : next_(data), end_(data + size) {}

  bool empty() const noexcept { return next_ == end_; }
  uint8_t byte() noexcept { return empty() ? uint8_t{0} : *next_++; }
  bool flag() noexcept { return (byte() & 1) != 0; }
  /// From 0 to `last`, which is below 256.
  int64_t up_to(int64_t last) noexcept { return byte() % (last + 1); }
  template <class T>
  T raw() noexcept {
    T value{};
    const std::size_t count = std::min(sizeof value, static_cast<std::size_t>(end_ - next_));
    std::memcpy(&value, next_, count);
    next_ += count;
    return value;
  }
  /// Mostly small numbers, sometimes one near a limit of int64, or any.
  int64_t integer() noexcept {
    static constexpr int64_t edges[] = {
        INT64_MAX,        INT64_MAX - 1,          INT64_MIN,        INT64_MIN + 1,
        INT64_MAX / 2,    INT64_MAX / 2 + 1,      INT64_MIN / 2,    int64_t{1} << 62,
        int64_t{1} << 32, int64_t{1} << 31,       INT32_MAX,        INT32_MIN,
        int64_t{1} << 60, (int64_t{1} << 60) - 1, int64_t{1} << 61, -(int64_t{1} << 61)};
    const uint8_t form = byte();
    if (form < 192) return form % 12 - 3;
    if (form < 240) return form - 200;
    if (form < 252) return edges[byte() % std::size(edges)];
    return raw<int64_t>();
  }
  Dtype dtype() noexcept { return static_cast<Dtype>(up_to(kDtypeCount - 1)); }
  std::string_view rest() noexcept {
    const std::string_view text(reinterpret_cast<const char*>(next_), static_cast<std::size_t>(end_ - next_));
    next_ = end_;
    return text;
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_;
};

/// A file in $TMPDIR that is rewritten for each case.
class CaseFile {
 public:
  explicit CaseFile(const std::string& ending) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder ? folder : "/tmp") + "/tenon_fuzz_" + std::to_string(getpid()) + ending;
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CLAIM_OF(descriptor_ >= 0, path_);
  }
  ~CaseFile() {
    close(descriptor_);
    unlink(path_.c_str());
  }
  CaseFile(const CaseFile&) = delete;
  CaseFile& operator=(const CaseFile&) = delete;

  const std::string& holding(std::string_view content) {
    CLAIM(ftruncate(descriptor_, static_cast<off_t>(content.size())) == 0);
    CLAIM(pwrite(descriptor_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
    return path_;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// Ends ops of this thread with Interrupted after a time limit, because a case may have a shape of any size.
class Deadline {
 public:
  explicit Deadline(int milliseconds) noexcept : guard_(expired()) {
    expired() = false;
    set(milliseconds);
  }
  ~Deadline() { set(0); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  static std::atomic<bool>& expired() noexcept {
    static std::atomic<bool> value{false};
    return value;
  }

 private:
  static timer_t timer() {
    static const timer_t timer = [] {
      std::signal(SIGUSR1, [](int) { expired() = true; });
      sigevent event = {};
      event.sigev_notify = SIGEV_SIGNAL;
      event.sigev_signo = SIGUSR1;
      timer_t made = {};
      CLAIM(timer_create(CLOCK_MONOTONIC, &event, &made) == 0);
      return made;
    }();
    return timer;
  }
  static void set(int milliseconds) noexcept {
    itimerspec time = {};
    time.it_value.tv_nsec = milliseconds * 1000000L;
    timer_settime(timer(), 0, &time, nullptr);
  }

  InterruptGuard guard_;
};

/// Runs a case. If memory blocks remain, runs it again: blocks that remain again are a leak.
template <class Case>
void check_keeps_nothing(const Case& run) {
  static std::atomic<int64_t> live{0};
  static const bool counted =
      __sanitizer_install_malloc_and_free_hooks(
          [](const volatile void*, std::size_t) { live.fetch_add(1, std::memory_order_relaxed); },
          [](const volatile void*) { live.fetch_sub(1, std::memory_order_relaxed); }) != 0;
  CLAIM(counted);
  const int64_t before = live;
  run();
  const int64_t between = live;
  if (between <= before) return;
  run();
  CLAIM_OF(live <= between, std::to_string(live - between) + " blocks of memory are lost");
}

}  // namespace tenon::fuzz
