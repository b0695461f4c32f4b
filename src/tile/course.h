// tile: a description of a run: how it is planned (`tenon explain` prints it) and how it went. Algorithms note their
// runs, too.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/small_vector.h"
#include "plan/plan.h"
#include "tenon/dtype.h"

namespace tenon {

/// A kernel: its op and the dtype that it reads.
struct KernelName {
  const char* op;
  Dtype dtype;
};

struct Course {
  const char* route = "";   // "direct", "tiles", "blocks", "elements", "few"; for reductions "along", "across",
                            // "rounds"; for algorithms what they do, such as "product blocks"
  const char* stores = "";  // "in place", "streamed", "joined to lines", "scattered"
  SmallVector<AccessPattern, 8> accesses = {};  // of the inputs
  int64_t passes = 1;                           // 2: pieces are reduced separately, then joined
  int64_t parts = 0;                            // number of parts that threads take
  int64_t threads = 1;                          // the most that work on them at once
  int64_t scratch_bytes = 0;                    // the most that one thread uses at once
  SmallVector<KernelName, 4> kernels = {};
  Plan plan = {};
};

/// Records the runs that begin on this thread while the guard lives. With `runs` false nothing runs: operands may be
/// meta tensors, and runs are recorded as planned. Elementwise ops, var and its like of few
/// elements take the general path meanwhile.
class CourseRecord {
 public:
  explicit CourseRecord(bool runs = true) noexcept : runs_(runs), previous_(current) { current = this; }
  ~CourseRecord() { current = previous_; }
  CourseRecord(const CourseRecord&) = delete;
  CourseRecord& operator=(const CourseRecord&) = delete;

  /// The record of this thread; null if there is none.
  static CourseRecord* now() noexcept { return current; }
  /// Whether runs over tensors without memory are planned.
  static bool plans_meta() noexcept { return current && !current->runs_; }
  /// Adds scratch memory to the latest run, or subtracts it (negative).
  void took(int64_t nbytes) noexcept {
    taken_ += nbytes;
    if (!courses.empty() && taken_ > courses.back().scratch_bytes) courses.back().scratch_bytes = taken_;
  }

  std::vector<Course> courses;

 private:
  friend class Unrecorded;

  static constinit thread_local CourseRecord* current [[gnu::tls_model("initial-exec")]];
  bool runs_;
  CourseRecord* previous_;
  int64_t taken_ = 0;
};

/// While the guard lives, runs on this thread are parts of one that is recorded already.
class Unrecorded {
 public:
  Unrecorded() noexcept : record_(std::exchange(CourseRecord::current, nullptr)) {}
  ~Unrecorded() { CourseRecord::current = record_; }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  CourseRecord* record_;
};

/// Records that a run begins on this thread.
inline void note_course(Course course) {
  if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
    record->courses.push_back(std::move(course));
}
/// Counts parts of the latest run, and the threads that take them.
inline void note_parts(int64_t parts, int64_t threads) noexcept {
  CourseRecord* record = CourseRecord::now();
  if (!record || record->courses.empty()) [[likely]]
    return;
  Course& course = record->courses.back();
  course.parts += parts;
  course.threads = threads > course.threads ? threads : course.threads;
}
inline void note_pass() noexcept {
  if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
    ++record->courses.back().passes;
}

}  // namespace tenon
