#include "plan/plan.h"

#include <algorithm>

#include "base/checked.h"
#include "shape/dim_order.h"

namespace tenon {
namespace {

// Runs of at least this many elements are not fused: beside them a kernel call costs little. Bench: tenon_bench
// --filter '^large/(row|outer)/L1'.
constexpr int64_t kLongRun = 512;
// Shorter runs than kLongerRun gain by themselves only if kManyRuns of them follow each other. Bench: ./dev bench
// --sweep, both sides.
constexpr int64_t kLongerRun = 32, kManyRuns = 8;
// Fewer periods than these are computed sooner than a pattern of them is made. Bench: ./dev bench --sweep, both sides.
constexpr int64_t kManyPeriods = 16;
// A tensor of more dims than this has dims of size 1 or no elements, because no tensor has 2^64 elements.
constexpr int64_t kManyDims = 64;
// From this many rows on, a transposed operand is read along its own rows. Bench: tenon_bench --filter
// '^large/(A\+B.T|copy A.T)/'.
constexpr int64_t kBlockRows = 5;
// A loop of fewer rows is continued by the next one. Bench: ./dev bench --sweep, permuted.
constexpr int64_t kFewRows = 16;
// Shorter rows beside a transposed operand are joined to tiles. Bench: ./dev bench --sweep, transposed.
constexpr int64_t kBlockColumns = 128;

/// Writes sizes and strides of the loops, innermost first, without dims of size 1.
void permute_dimensions(SizesView shape, const SmallVector<int64_t, 32>& strides, int64_t operands,
                        const DimOrder& order, Plan& plan) {
  const int64_t ndim = shape.size();
  plan.sizes.resize(0);
  for (int64_t dim : order)
    if (shape[dim] != 1) plan.sizes.push_back(shape[dim]);
  plan.strides.resize(operands * plan.ndim());
  int64_t* out = plan.strides.data();
  // exact: places in a list
  for (int64_t operand = 0; operand < operands; ++operand)
    for (int64_t dim : order)
      if (shape[dim] != 1) *out++ = strides[operand * ndim + dim];
}

/// Whether every operand steps through both loops as through one. If another size is 0, the product may overflow.
bool can_merge(const Plan& plan, int64_t operands, int64_t inner, int64_t outer) {
  if (!(Checked(plan.sizes[inner]) * plan.sizes[outer]).fits()) return false;
  for (int64_t operand = 0; operand < operands; ++operand) {
    const int64_t* strides = plan.strides_of(operand);
    if (!(Checked(plan.sizes[inner]) * strides[inner]).is(strides[outer])) return false;
  }
  return true;
}

/// Merges neighbouring loops that are one loop for every operand.
void coalesce_dimensions(Plan& plan, int64_t operands) {
  const int64_t ndim = plan.ndim();
  if (ndim <= 1) return;
  SmallVector<int64_t, 8> kept;
  int64_t last = 0;
  for (int64_t dim = 1; dim < ndim; ++dim) {
    if (can_merge(plan, operands, last, dim)) {
      plan.sizes[last] *= plan.sizes[dim];  // exact: can_merge has checked the product
      continue;
    }
    kept.push_back(last);
    last = dim;
  }
  kept.push_back(last);
  if (kept.size() == ndim) return;
  for (int64_t operand = 0; operand < operands; ++operand)
    for (int64_t i = 0; i < kept.size(); ++i)
      plan.strides[operand * kept.size() + i] = plan.strides[operand * ndim + kept[i]];
  for (int64_t i = 0; i < kept.size(); ++i) plan.sizes[i] = plan.sizes[kept[i]];
  plan.sizes.resize(kept.size());
  plan.strides.resize(operands * kept.size());
}

/// Drops dims of size 1. With many dims, sorting them would take most of the time.
Dims drop_ones(SizesView shape, int64_t operands, SmallVector<int64_t, 32>& strides) {
  Dims kept;
  int64_t at = 0;
  // exact: places in a list
  for (int64_t operand = 0; operand < operands; ++operand)
    for (int64_t dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] != 1) strides[at++] = strides[operand * shape.size() + dim];
  for (int64_t size : shape)
    if (size != 1) kept.push_back(size);
  return kept;
}

/// Orders the dims by the last `deciding` operands, and merges loops.
void merge_dims(SizesView shape, const SmallVector<int64_t, 32>& strides, int64_t count, int64_t deciding, Plan& plan) {
  DimOrder order;
  reorder_dimensions(shape, strides.data() + (count - deciding) * shape.size(), deciding, order);
  plan.numel = numel_of(shape);
  permute_dimensions(shape, strides, count, order, plan);
  coalesce_dimensions(plan, count);
}

void merge_loops(SizesView shape, const StridedView* operands, int64_t count, int64_t deciding, Plan& plan) {
  SmallVector<int64_t, 32> strides(count * shape.size());
  for (int64_t operand = 0; operand < count; ++operand)
    compute_strides(shape, operands[operand], strides.data() + operand * shape.size());
  if (shape.size() <= kManyDims) return merge_dims(shape, strides, count, deciding, plan);
  const Dims kept = drop_ones(shape, count, strides);
  merge_dims(kept, strides, count, deciding, plan);
}

/// Whether the loops [begin, end) visit memory element after element, without gaps.
bool is_dense(const Plan& plan, const int64_t* strides, int64_t begin, int64_t end) {
  Checked step = 1;
  for (int64_t dim = begin; dim < end; ++dim) {
    if (!step.is(strides[dim])) return false;
    step *= plan.sizes[dim];
  }
  return true;
}

bool is_fixed(const int64_t* strides, int64_t begin, int64_t end) {
  for (int64_t dim = begin; dim < end; ++dim)
    if (strides[dim] != 0) return false;
  return true;
}

/// The number of elements of the loops [0, end); the largest int64 on overflow, which happens only in a plan without
/// elements.
int64_t count_of(const Plan& plan, int64_t end) {
  Checked count = 1;
  for (int64_t dim = 0; dim < end; ++dim) count *= plan.sizes[dim];
  return count.value_or(INT64_MAX);
}

/// Fuses the innermost loops until a run is long.
void choose_fused(Plan& plan, int64_t longest = kLongRun) {
  plan.fused = plan.ndim() > 0 ? 1 : 0;
  plan.unit = 1;
  plan.flat = plan.ndim() > 0 ? plan.sizes[0] : 1;
  while (plan.flat < longest && plan.fused < plan.ndim()) {
    plan.unit = plan.flat;
    plan.flat = count_of(plan, ++plan.fused);
  }
}

/// Over the innermost `fused` loops.
Plan::Operand access_of(const Plan& plan, const int64_t* strides, int64_t fused) {
  if (is_fixed(strides, 0, fused)) return {AccessPattern::splat, 0};
  if (is_dense(plan, strides, 0, fused)) return {AccessPattern::direct, 0};
  int64_t repeating = fused;  // the fused loops from here on have stride 0
  while (strides[repeating - 1] == 0) --repeating;
  if (repeating < fused) return {AccessPattern::periodic, count_of(plan, repeating)};
  int64_t moving = 0;  // the fused loops before this one have stride 0
  while (strides[moving] == 0) ++moving;
  if (is_dense(plan, strides, moving, fused)) return {AccessPattern::repeated, count_of(plan, moving)};
  return {AccessPattern::gather, 0};
}

/// Loops along which an operand is dense that is not dense along the innermost loop.
struct DenseRun {
  int64_t loop = 0;  // 0: there is none
  int64_t next = 0;  // continues it; 0: none
  int64_t first() const { return next == 0 ? loop : std::min(loop, next); }
  bool operator==(const DenseRun&) const = default;
};
DenseRun dense_run(const Plan& plan, int64_t operand) {
  const int64_t* strides = plan.strides_of(operand);
  if (plan.ndim() == 0 || strides[0] == 0 || strides[0] == 1) return {};
  const auto with_stride = [&](int64_t stride) {
    int64_t dim = plan.ndim() - 1;
    while (dim > 0 && strides[dim] != stride) --dim;
    return dim;
  };
  const int64_t loop = with_stride(1);
  if (loop == 0) return {};
  if (plan.sizes[loop] >= kFewRows) return {loop, 0};
  const int64_t next = with_stride(plan.sizes[loop]);
  const Checked rows = Checked(plan.sizes[loop]) * (next == 0 ? 1 : plan.sizes[next]);
  return rows.is_at_most(kBlockRows - 1) ? DenseRun{} : DenseRun{loop, next};
}

void set_access_patterns(Plan& plan, int64_t count) {
  plan.operands.resize(count);
  for (int64_t operand = 0; operand < count; ++operand)
    plan.operands[operand] = access_of(plan, plan.strides_of(operand), plan.fused);
}

/// Whether a periodic operand's pattern is made again and again for a few repetitions.
bool repeats_briefly(const Plan& plan, int64_t operand) {
  const auto [access, length] = plan.operands[operand];
  return access == AccessPattern::periodic && plan.flat < kManyPeriods * length &&
         !is_fixed(plan.strides_of(operand), plan.fused, plan.ndim());
}

/// Whether an operand has to be copied only because loops were fused.
bool fusing_copies(const Plan& plan) {
  for (int64_t output = 0; output < plan.outputs; ++output)
    if (plan.operands[output].access != AccessPattern::direct && plan.strides_of(output)[0] == 1) return true;
  for (int64_t operand = plan.outputs; operand < plan.operands.size(); ++operand) {
    const AccessPattern access = plan.operands[operand].access;
    if (dense_run(plan, operand).loop != 0 || repeats_briefly(plan, operand)) return true;
    const int64_t innermost = plan.strides_of(operand)[0];
    if ((access == AccessPattern::repeated || access == AccessPattern::gather) && (innermost == 0 || innermost == 1))
      return true;
  }
  return false;
}

/// Whether fused loops leave out elements of an operand that is contiguous along the innermost loop.
bool has_gaps(const Plan& plan) {
  for (int64_t operand = 0; operand < plan.operands.size(); ++operand)
    if (plan.operands[operand].access == AccessPattern::gather && plan.strides_of(operand)[0] == 1) return true;
  return false;
}

bool repeats_any(const Plan& plan) {
  return std::any_of(plan.operands.begin(), plan.operands.end(),
                     [](const Plan::Operand& operand) { return operand.access == AccessPattern::repeated; });
}

/// Whether kernels don't compute runs of the innermost loop where they lie: an operand has steps there, or no input
/// changes. Then each run is a tile, which costs as much as many elements of a longer one. Bench: ./dev bench --sweep,
/// transposed and steps.
bool takes_tiles(const Plan& plan, const FairRuns& fair) {
  bool changes = false;
  for (int64_t operand = 0; operand < plan.operands.size(); ++operand) {
    const int64_t innermost = plan.strides_of(operand)[0];
    if (innermost != 0 && innermost != 1) return true;
    changes |= operand >= plan.outputs && innermost != 0;
  }
  return !changes && !fair.fill;
}

/// Whether nothing is transposed, and inputs with steps are gathered whether tiles are one run or several.
bool joins_freely(const Plan& plan) {
  bool steps = false;
  for (int64_t operand = 0; operand < plan.operands.size(); ++operand) {
    const int64_t innermost = plan.strides_of(operand)[0];
    if (operand < plan.outputs && innermost != 1) return false;
    if (dense_run(plan, operand).loop != 0) return false;
    steps |= innermost != 0 && innermost != 1;
  }
  return steps;
}

/// The shortest runs that are not joined.
int64_t shortest_run(const Plan& plan, const FairRuns& fair) {
  const bool gaps = has_gaps(plan);
  if (!takes_tiles(plan, fair)) return gaps ? fair.with_gaps : fair.repeated;
  if (!joins_freely(plan)) return kBlockColumns;
  return gaps || repeats_any(plan) ? std::max(kBlockColumns, fair.tile) : kLongRun;
}
/// Whether runs are so long, or so many of them follow each other, that they are computed one by one.
bool has_fair_runs(const Plan& plan, const FairRuns& fair) {
  return plan.sizes[0] >= shortest_run(plan, fair) && (plan.sizes[0] >= kLongerRun || plan.sizes[1] >= kManyRuns);
}

void fuse(Plan& plan, int64_t fused, int64_t count) {
  plan.fused = fused;
  plan.unit = count_of(plan, fused - 1);
  plan.flat = count_of(plan, fused);
  set_access_patterns(plan, count);
}

/// Whether blocks may have the innermost `fused` loops as columns, and rows along `run`: results lie along memory, and
/// what is loaded row by row asks for no more columns than a block has.
bool has_columns(const Plan& plan, int64_t fused, const DenseRun& run) {
  if (plan.fused == 1) return true;
  if (count_of(plan, fused) < kBlockColumns) return false;
  for (int64_t output = 0; output < plan.outputs; ++output)
    if (!is_dense(plan, plan.strides_of(output), 0, fused)) return false;
  const bool is_free = count_of(plan, fused - 1) <= kBlockColumns;
  for (int64_t operand = plan.outputs; operand < plan.operands.size(); ++operand) {
    const AccessPattern access = access_of(plan, plan.strides_of(operand), fused).access;
    if (!is_free && access != AccessPattern::direct && access != AccessPattern::splat &&
        dense_run(plan, operand).loop != run.loop)
      return false;
  }
  return true;
}

/// The loops along which an operand is read in blocks.
DenseRun block_rows(const Plan& plan, int64_t operand) {
  const DenseRun run = dense_run(plan, operand);
  if (run.loop == 0 || has_columns(plan, std::min(plan.fused, run.first()), run)) return run;
  const DenseRun shorter{run.loop, 0};
  return plan.sizes[run.loop] >= kBlockRows && has_columns(plan, std::min(plan.fused, run.loop), shorter) ? shorter
                                                                                                          : DenseRun{};
}

/// Reads operands in blocks that are dense along other loops than the innermost ones.
void choose_transposed(Plan& plan, int64_t count) {
  plan.transposed = plan.continued = 0;
  for (int64_t operand = plan.outputs; operand < plan.operands.size(); ++operand) {
    const DenseRun run = block_rows(plan, operand);
    if (run.loop == 0) continue;
    if (plan.transposed == 0) {
      plan.transposed = run.loop, plan.continued = run.next;
      if (const int64_t columns = std::min(plan.fused, run.first()); columns != plan.fused) fuse(plan, columns, count);
    } else if (run.loop != plan.transposed) {
      continue;
    } else if (run.next != plan.continued) {
      if (plan.sizes[run.loop] < kBlockRows) continue;
      plan.continued = 0;  // alone, the loop has rows enough for both
    }
    plan.operands[operand].access = AccessPattern::transposed;
  }
}

void choose_access_patterns(Plan& plan, int64_t count, const FairRuns& fair) {
  choose_fused(plan, std::max(kLongRun, fair.flat));
  set_access_patterns(plan, count);
  if (plan.fused > 1 && has_fair_runs(plan, fair) && fusing_copies(plan)) fuse(plan, 1, count);
  for (int64_t output = 0; plan.ndim() == 0 && output < plan.outputs; ++output)
    plan.operands[output].access = AccessPattern::direct;  // one element to write
  choose_transposed(plan, count);
}

/// Whether all inputs have the result's sizes and share a layout that the result takes over (PyTorch's fast_set_up).
bool keeps_layout(SizesView shape, const StridedView* inputs, int64_t count, Dims& strides) {
  bool contiguous = true, channels_last = true, same = true;
  for (int64_t i = 0; i < count; ++i) {
    if (!(inputs[i].sizes == shape)) return false;
    contiguous = contiguous && is_contiguous(shape, inputs[i].strides);
    channels_last = channels_last && is_contiguous(shape, inputs[i].strides, MemoryFormat::channels_last);
    same = same && inputs[i].strides == inputs[0].strides;
  }
  if (contiguous)
    strides = contiguous_strides(shape);
  else if (channels_last)
    strides = format_strides(shape, MemoryFormat::channels_last);
  else if (same && is_non_overlapping_and_dense(shape, inputs[0].strides))
    strides = inputs[0].strides.copy();
  else
    return false;
  return true;
}

}  // namespace

const char* access_pattern_name(AccessPattern access) noexcept {
  static constexpr const char* names[] = {"direct", "splat", "periodic", "repeated", "transposed", "gather"};
  return names[static_cast<int>(access)];
}

void compute_strides(SizesView shape, const StridedView& operand, int64_t* out) {
  const int64_t lead = shape.size() - operand.sizes.size();
  std::fill_n(out, lead, 0);
  for (int64_t dim = lead; dim < shape.size(); ++dim) {
    const bool broadcast = operand.sizes[dim - lead] == 1 && shape[dim] != 1;
    out[dim] = broadcast ? 0 : operand.strides[dim - lead];
  }
}

void make_plan(SizesView shape, const StridedView* operands, int64_t count, Plan& plan, int64_t outputs,
               FairRuns fair) {
  plan.outputs = outputs;
  merge_loops(shape, operands, count, count, plan);
  choose_access_patterns(plan, count, fair);
}

void make_reduction_plan(SizesView shape, const StridedView* operands, int64_t count, Plan& plan) {
  merge_loops(shape, operands, count, count - 1, plan);
  plan.operands.resize(count);
}

Dims result_strides(SizesView shape, const StridedView* inputs, int64_t count) {
  Dims result;
  if (keeps_layout(shape, inputs, count, result)) return result;
  const int64_t ndim = shape.size();
  SmallVector<int64_t, 32> strides(count * ndim);
  for (int64_t i = 0; i < count; ++i) compute_strides(shape, inputs[i], strides.data() + i * ndim);
  DimOrder order;
  reorder_dimensions(shape, strides.data(), count, order);
  bool reversed = true;
  for (int64_t i = 0; i < ndim; ++i) reversed = reversed && order[i] == ndim - 1 - i;
  if (reversed) return contiguous_strides(shape);
  result.resize(ndim);
  Checked step = 1;
  for (int64_t dim : order) {
    result[dim] = stride_from(step);
    step *= shape[dim];
  }
  return result;
}

}  // namespace tenon
