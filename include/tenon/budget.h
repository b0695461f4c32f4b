// tensor: a limit on the bytes of live tensors.
#pragma once
#include <cstdint>

#include "tenon/error.h"

namespace tenon {

/// A tensor would exceed the memory budget. Nothing was allocated or written.
class TENON_API BudgetError : public OutOfMemoryError {
 public:
  using OutOfMemoryError::OutOfMemoryError;
};

namespace memory {
/// The most bytes that live tensors of this process may hold together. A tensor that would exceed them is refused
/// before it is allocated: BudgetError "not enough memory: a tensor of shape [4096, 4096] takes 67108864 bytes, and
/// with the 8000000 bytes in use that is more than the memory budget of 50000000 bytes". Tensors up to 64 KiB, memory
/// of the caller, mapped files and an op's own scratch memory do not count. Default: the environment variable
/// TENON_MEMORY_BUDGET, else no limit (the largest int64). ValueError below 0.
TENON_API void set_budget(int64_t nbytes);
TENON_API int64_t budget() noexcept;

/// Sets a budget for the life of the guard, in all threads.
class BudgetGuard {
 public:
  explicit BudgetGuard(int64_t nbytes) : previous_(budget()) { set_budget(nbytes); }
  // NOLINTNEXTLINE(bugprone-exception-escape): it was the budget before
  ~BudgetGuard() { set_budget(previous_); }
  BudgetGuard(const BudgetGuard&) = delete;
  BudgetGuard& operator=(const BudgetGuard&) = delete;

 private:
  int64_t previous_;
};
}  // namespace memory

}  // namespace tenon
