#include "tile/stages.h"

#include <algorithm>
#include <vector>

#include "tile/scratch.h"

namespace tenon {
namespace {

// A shorter innermost reduced loop is kept in the first stage, if that leaves so small a part of the elements: by
// elements, or by bytes of narrow ones that are not widened. Runs of so many elements are folded one by one, and rows
// of so many across. Bench: ./dev bench --sweep, several dims.
constexpr int64_t kShortInner = 64, kShortInnerBytes = 256, kSmallPart = 8, kLongRun = 1 << 14, kLongRow = 1024;
// Elements that are worth two stages, and whose partial results stay in the cache, however many.
constexpr int64_t kLeast = 1 << 10, kFew = 1 << 18;

enum class First { nothing, inner, others };

int64_t kept_count(const Plan& plan) {
  int64_t count = 1;
  for (int64_t loop = 0; loop < plan.ndim(); ++loop)
    if (!is_reduced(plan, loop)) count *= plan.sizes[loop];  // exact: a part of the elements
  return count;
}

/// The loops of a plan as dims, outermost first, and an operand's strides over them.
Dims outermost_first(const Plan& plan, const int64_t* values) {
  Dims dims;
  for (int64_t loop = plan.ndim() - 1; loop >= 0; --loop) dims.push_back(values[loop]);
  return dims;
}

/// An innermost reduced loop of fewer elements is short.
int64_t short_inner(const Program& program) {
  const Dtype folded = program.dtype(program.result());
  if (program.dtype(0) != folded) return kShortInner;
  return std::max(kShortInner, kShortInnerBytes / itemsize(folded));
}
/// Which reduced loops the first stage folds. Depends on sizes and dtypes only.
First first_of(const Plan& plan, const Program& program, int64_t inner) {
  if (plan.ndim() < inner + 3 || !is_reduced(plan, inner) || is_reduced(plan, inner + 1)) return First::nothing;
  const int64_t others = plan.numel / (kept_count(plan) * plan.sizes[inner]);
  if (others >= kSmallPart && plan.sizes[inner] < short_inner(program)) return First::others;
  if (others > 1 && plan.sizes[inner] < kSmallPart && plan.numel >= kLeast && plan.numel <= kFew &&
      (inner == 0 || plan.sizes[0] < kShortInner))
    return First::inner;
  if (plan.sizes[inner] < kSmallPart) return First::nothing;  // partial results would need much memory
  const bool is_long = inner == 0 ? plan.sizes[0] >= kLongRun : plan.sizes[0] >= kLongRow;
  return others == 1 || is_long ? First::nothing : First::inner;
}
int64_t innermost_reduced(const Plan& plan) { return plan.ndim() > 0 && is_reduced(plan, 0) ? 0 : 1; }

}  // namespace

bool has_two_stages(const Plan& plan, const Program& program) {
  return first_of(plan, program, innermost_reduced(plan)) != First::nothing;
}

void run_stages(const Plan& plan, const Program& program, const Reduction& reduction, void* out,
                const void* const* inputs) {
  const Dtype accumulated = program.dtype(program.result());
  const Dims sizes = outermost_first(plan, plan.sizes.data());
  const int64_t ndim = plan.ndim(), count = plan.operands.size(), inner = innermost_reduced(plan);
  const First first_folded = first_of(plan, program, inner);
  const auto folds_first = [&](int64_t loop) {
    return is_reduced(plan, loop) && (loop == inner) == (first_folded == First::inner);
  };
  // Partial results: the loops that are left, row-major.
  Dims partial_strides(ndim, 0);
  int64_t step = 1;
  for (int64_t dim = ndim - 1; dim >= 0; --dim) {
    const int64_t loop = ndim - 1 - dim;
    if (folds_first(loop)) continue;
    partial_strides[dim] = step;
    step *= sizes[dim];  // exact: a part of the elements
  }
  const int64_t partial_bytes = step * itemsize(accumulated);
  Scratch partial(out ? partial_bytes : 0);
  std::byte* const between = out ? partial.data() : nullptr;
  const auto count_scratch = [&] {
    if (!out && CourseRecord::plans_meta()) CourseRecord::now()->courses.back().scratch_bytes += partial_bytes;
  };

  std::vector<Dims> strides(static_cast<std::size_t>(count));
  std::vector<StridedView> views;
  for (int64_t operand = 0; operand < count; ++operand) {
    Dims& own = strides[static_cast<std::size_t>(operand)];
    own = operand == 0 ? partial_strides : outermost_first(plan, plan.strides_of(operand));
    views.push_back({sizes, own});
  }
  Plan first;
  make_reduction_plan(sizes, views.data(), count, first);
  run_reduction(first, program, {reduction.op, 0, accumulated}, between, inputs);
  count_scratch();

  // What is left: the folded loops have one turn.
  Dims left = sizes;
  for (int64_t loop = 0; loop < ndim; ++loop)
    if (folds_first(loop)) left[ndim - 1 - loop] = 1;
  const Dims out_strides = outermost_first(plan, plan.strides_of(0));
  const StridedView rest[] = {{left, out_strides}, {left, partial_strides}};
  Plan second;
  make_reduction_plan(left, rest, 2, second);
  Program read;
  read.input(accumulated);
  const void* const input = between;
  run_reduction(second, read, reduction, out, &input);
  count_scratch();
}

}  // namespace tenon
