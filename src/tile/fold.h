// tile: takes the plan of a reduction and an op whose block has a State; folds the input into states and stores what
// they finish as. How the work is cut depends on shapes alone: the same bits for any number of threads.
#pragma once
#include "ops/row.h"
#include "plan/plan.h"
#include "tenon/dtype.h"
#include "tile/course.h"
#include "tile/reduce_shape.h"

namespace tenon {

/// The most results of a fold.
inline constexpr int kMostFolded = 2;

struct Fold {
  Op op;
  Dtype input, lanes;          // elements are cast to `lanes`
  Dtype outputs[kMostFolded];  // wide results are cast to
  void* out[kMostFolded];      // one for each result of the op
  const double* numbers;       // parameters that the formula reads
};

inline constexpr int64_t kFarBytes = 1 << 24;  // beyond the caches

inline bool is_far(const Plan& plan, const Fold& fold) { return plan.numel * itemsize(fold.input) >= kFarBytes; }

/// Operand 0 of `plan` is every output, with stride 0 along reduced loops; operand 1 the input. No loop is empty.
/// Where the op knows places, there is one reduced loop at most.
void run_fold(const Plan& plan, const Fold& fold, const void* in);
/// The same for contiguous elements as [outer, rows, inner], of which the rows are reduced, on the caller's thread; the
/// outputs are contiguous. False if they need a plan.
bool fold_few(const Fold& fold, const void* in, int64_t outer, int64_t rows, int64_t inner);
/// Contiguous elements as [outer, rows, kept, inner_rows, inner], of which both kinds of rows are reduced.
struct Groups {
  int64_t outer = 1, rows = 1, kept = 1, inner_rows = 1, inner = 1;
  int64_t columns() const { return kept * inner_rows * inner; }
  int64_t outputs() const { return kept * inner; }  // of a turn of `outer`
};
/// The same for few such elements. False if they need a plan.
bool fold_few_groups(const Fold& fold, const void* in, const Groups& groups);
/// What a state finishes as that took no element: into one element of each output.
void run_fold_of_nothing(const Fold& fold);
/// How that will go.
Course course_of(const Plan& plan, const Fold& fold);

}  // namespace tenon
