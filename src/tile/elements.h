// tile: the elements route: one kernel computes wide elements one by one where they lie, whatever the steps between
// them. A tile would be as slow as memory to fill, and its kernel would come on top. Where vectors pick elements with
// short steps, these are brought together for some rows, and the kernel computes the rows where the others lie.
#pragma once
#include "tile/registers.h"
#include "tile/schedule.h"

namespace tenon {

/// Whether the Program is one kernel that takes single elements and operands are read with steps. The plan has no
/// transposed operand. `streams`: tiles would stream the result.
bool runs_by_elements(const Plan& plan, const Program& program, bool streams);

/// Computes tiles: pieces of the innermost loop.
class ElementRuns {
 public:
  ElementRuns(const Plan& plan, const Program& program, const Schedule& schedule, std::byte* out,
              const void* const* inputs);
  void run(int64_t begin, int64_t end);

 private:
  void run_turns(int64_t start, int64_t n, int64_t turns);
  void run_rows(std::byte* to, Lanes* in, const int64_t* turn_steps, int64_t n, int64_t turns);

  const Plan& plan_;
  const Instruction& instruction_;
  const Schedule& schedule_;
  std::byte* out_;
  const void* const* inputs_;
  int64_t in_size_, out_size_;
  bool gathers_;                   // elements with short steps, of some rows at once
  SmallVector<int64_t, 8> loops_;  // around the innermost one
  OuterCounter outer_;
};

}  // namespace tenon
