// tile: takes a plan, a Program and pointers; loads every operand to a contiguous tile, runs the kernels, stores the
// results. Never decides what to compute.
#pragma once
#include "plan/plan.h"
#include "tile/course.h"
#include "tile/schedule.h"

namespace tenon {

[[noreturn]] void fail_without_memory();
/// Throws NotImplementedError "Cannot copy out of meta tensor; no data!" if an operand has no memory. Call it before
/// running kernels over pointers.
inline void check_memory(const void* out, const void* const* inputs, int count) {
  bool is_there = out != nullptr;
  for (int i = 0; i < count; ++i) is_there &= inputs[i] != nullptr;
  if (!is_there) [[unlikely]]
    fail_without_memory();
}

/// Whether there is nothing to run: no elements, or no memory and no CourseRecord that plans meta tensors.
inline bool has_no_work(int64_t numel, const void* data) {
  return numel == 0 || (data == nullptr && !CourseRecord::plans_meta());
}

/// Runs `program` over `plan`, whose operands are an output for each of the Program's results (of its dtype), then its
/// inputs; every input is read. Pointers name each operand's first element. A lone output may be one of the inputs
/// (same elements, same strides); otherwise outputs overlap neither inputs nor each other. Throws NotImplementedError
/// if a pointer is null, OutOfMemoryError without scratch memory; nothing is written then.
void run(const Plan& plan, const Program& program, const Schedule& schedule, void* const* outs,
         const void* const* inputs);
/// The same with a schedule for this memory.
void run(const Plan& plan, const Program& program, void* const* outs, const void* const* inputs);

/// A quarter of the last-level cache, in bytes.
int64_t streaming_threshold() noexcept;
/// Whether a result of so many bytes goes to memory past the caches: it exceeds a quarter of the last one, and three
/// quarters together with the bytes that are read. An operand that is read again and again leaves room.
bool outgrows_cache(int64_t written, int64_t read) noexcept;

}  // namespace tenon
