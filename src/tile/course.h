// tile: how a run goes, in words: what `tenon explain` prints before, and what an engine notes while it runs.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/small_vector.h"
#include "plan/plan.h"

namespace tenon {

struct Course {
  const char* route = "";   // "direct", "tiles", "blocks"; of folds "along", "across", "rounds"; "few", "none"
  const char* stores = "";  // "in place", "streamed", "joined to lines", "scattered"
  SmallVector<AccessPattern, 8> accesses = {};  // of the inputs
  int64_t passes = 1;                           // 2: pieces are folded apart, then joined
  int64_t parts = 0;                            // of the work, which threads take
  int64_t scratch_bytes = 0;                    // of one thread, most at once
  Plan plan = {};
};

/// What the engines do on this thread while the guard lives. What other threads take is not in it. Where nothing is to
/// run, operands may be meta tensors: what would run is noted as it was planned.
class CourseRecord {
 public:
  explicit CourseRecord(bool runs = true) noexcept : runs_(runs), previous_(current) { current = this; }
  ~CourseRecord() { current = previous_; }
  CourseRecord(const CourseRecord&) = delete;
  CourseRecord& operator=(const CourseRecord&) = delete;

  /// The record of this thread; null where nobody asks.
  static CourseRecord* now() noexcept { return current; }
  /// Whether what has no memory is planned all the same.
  static bool plans_meta() noexcept { return current && !current->runs_; }
  /// The latest course took scratch memory, or gave it back (negative).
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

/// A run begins on this thread.
inline void note_course(Course course) {
  if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
    record->courses.push_back(std::move(course));
}
/// The latest run takes one of its parts, or walks its work once more.
inline void note_part() noexcept {
  if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
    ++record->courses.back().parts;
}
inline void note_pass() noexcept {
  if (CourseRecord* record = CourseRecord::now()) [[unlikely]]
    ++record->courses.back().passes;
}

}  // namespace tenon
