// tile: takes a plan, a Program and pointers; brings every operand to a contiguous tile, runs the kernels, stores.
// Never decides what to compute.
#pragma once
#include "plan/plan.h"
#include "tile/course.h"
#include "tile/program.h"

namespace tenon {

[[noreturn]] void fail_without_memory();
/// NotImplementedError "Cannot copy out of meta tensor; no data!" where an operand has no memory. What runs kernels
/// over pointers asks this first.
inline void check_memory(const void* out, const void* const* inputs, int count) {
  bool is_there = out != nullptr;
  for (int i = 0; i < count; ++i) is_there &= inputs[i] != nullptr;
  if (!is_there) [[unlikely]]
    fail_without_memory();
}

/// Whether a tensor has no elements to compute, or no memory for them and nobody asks how that would go.
inline bool has_no_work(int64_t numel, const void* data) {
  return numel == 0 || (data == nullptr && !CourseRecord::plans_meta());
}

/// Runs `program` over `plan`, whose operand 0 is the output (dtype of the Program's result) and operand i + 1 its
/// input i; every input is read. Pointers name each operand's first element. The output may be an input element by
/// element, never overlap one otherwise. NotImplementedError where a pointer is null, OutOfMemoryError when no scratch
/// memory is to be had; nothing is written then.
void run(const Plan& plan, const Program& program, void* out, const void* const* inputs);

/// Bytes above which results are stored past the caches.
int64_t streaming_threshold() noexcept;

}  // namespace tenon
