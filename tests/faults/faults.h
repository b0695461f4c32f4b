// Cases for failing allocations, and the functions that make allocations fail.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/tenon.h"

namespace tenon::faults {

using autograd::Tensors;

/// The result of a call: tensors, or a text.
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
  std::function<Tensors()> make;  // makes the operands, equal ones in each call
  Call call;                      // must not keep anything
  bool is_repeated = false;       // its call is also made of smaller operands: --quick leaves it out
};

/// A call without its operands.
struct Named {
  const char* name;
  Call call;
};

/// The result of a call whose effect is on the operands, which are compared anyway. Allocates nothing.
inline Results done() { return {}; }

/// A check in a separate process. Returns what is wrong.
struct Check {
  std::string name;
  std::function<std::string()> run;
};

/// Every declared op in every form, with every kind of operands.
void add_table_cases(std::vector<Case>& cases);
/// Views, copies, indexing, factories, printing, settings.
void add_tensor_cases(std::vector<Case>& cases);
/// Backward, hooks, custom functions, custom ops, gradcheck.
void add_autograd_cases(std::vector<Case>& cases);
/// Threads that cannot be started, and threads without memory.
void add_thread_checks(std::vector<Check>& checks);

/// Operands; the first ones broadcast together. A case makes others itself.
struct Operands {
  const char* name;
  std::function<Tensors()> make;
  bool grad = false;
  bool is_big = false;
};
enum Place { kA, kB, kCondition, kOut, kSame, kMatrix, kIndex, kLeafA, kLeafB };
const std::vector<Operands>& operand_kinds();

// --- the allocator (allocator.cpp): malloc and related functions of the whole process.

/// Makes allocation `first` (counted from 0, from now on) and the `count - 1` after it fail.
void fail_allocations(int64_t first, int64_t count) noexcept;
/// Ends the failures. Returns the number of allocations since they were requested.
int64_t stop_failing() noexcept;
/// The number of blocks that are allocated.
int64_t live_blocks() noexcept;

}  // namespace tenon::faults
