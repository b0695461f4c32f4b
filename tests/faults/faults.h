// Failed allocations, one after the other: what a case is, and how allocations are made to fail.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/tenon.h"

namespace tenon::faults {

using autograd::Tensors;

/// What a call gave: tensors, or a text.
struct Results {
  Tensor tensor;
  Tensors tensors;
  std::string text;

  Results() = default;
  Results(Tensor one) : tensor(std::move(one)) {}
  Results(Tensors list) : tensors(std::move(list)) {}
  Results(std::string string) : text(std::move(string)) {}
};

using Call = std::function<Results(Tensors&)>;
struct Case {
  std::string name;               // "big/add out=": the operands, then the call
  std::function<Tensors()> make;  // operands, the same ones at every call
  Call call;                      // never keeps anything
};

/// A call before it meets its operands.
struct Named {
  const char* name;
  Call call;
};

/// What the operands and their gradients have become is compared anyway; results that were gathered in a list could
/// fail for want of the list.
inline Results done() { return {}; }

/// Runs in a process of its own; gives what is wrong.
struct Check {
  std::string name;
  std::function<std::string()> run;
};

/// Every op of the table in every form, over every kind of operands.
void add_table_cases(std::vector<Case>& cases);
/// Views, copies, indexing, factories, printing, settings.
void add_tensor_cases(std::vector<Case>& cases);
/// Backward, hooks, functions and ops of one's own, checks.
void add_autograd_cases(std::vector<Case>& cases);
/// Threads that can't be started, and those that get no memory.
void add_thread_checks(std::vector<Check>& checks);

/// Operands, the first of which are broadcast together; what a case needs beyond them stands in its own call.
struct Operands {
  const char* name;
  std::function<Tensors()> make;
  bool grad = false;
};
enum Place { kA, kB, kCondition, kOut, kSame, kMatrix, kIndex, kLeafA, kLeafB };
const std::vector<Operands>& operand_kinds();

// --- the allocator (allocator.cpp): malloc and all its kin, of the whole process.

/// From now on allocation `first` (counted from 0) and the `count - 1` after it fail.
void fail_allocations(int64_t first, int64_t count) noexcept;
/// No more failures; gives the number of allocations since.
int64_t stop_failing() noexcept;
/// Blocks that were allocated and not freed.
int64_t live_blocks() noexcept;

}  // namespace tenon::faults
