// tile: a description of a run: how it is planned (`tenon explain` prints it) and how it went.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/small_vector.h"
#include "plan/plan.h"

namespace tenon {

struct Course {
  const char* route = "";   // "direct", "tiles", "blocks"; for reductions "along", "across", "rounds"; "few", "none"
  const char* stores = "";  // "in place", "streamed", "joined to lines", "scattered"
  SmallVector<AccessPattern, 8> accesses = {};  // of the inputs
  int64_t passes = 1;                           // 2: pieces are reduced separately, then joined
  int64_t parts = 0;                            // number of parts that threads take
  int64_t scratch_bytes = 0;                    // the most that one thread uses at once
  Plan plan = {};
};

/// Records the runs that begin on this thread while the guard lives. With `runs` false nothing runs: operands may be
/// meta tensors, and runs are recorded as planned.
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
  static constinit thread_local CourseRecord* current [[gnu::tls_model("initial-exec")]];
  bool runs_;
  CourseRecord* previous_;
  int64_t taken_ = 0;
};

/// Records that a run begins on this thread.
inline void note_course(Course course) {
  if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
    record->courses.push_back(std::move(course));
}
/// Counts a part of the latest run.
inline void note_part() noexcept {
  if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
    ++record->courses.back().parts;
}
inline void note_pass() noexcept {
  if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
    ++record->courses.back().passes;
}

}  // namespace tenon
