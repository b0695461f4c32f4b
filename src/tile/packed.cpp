#include "tile/packed.h"

#include <algorithm>

#include "kernel/kernel.h"
#include "ops/block_name.h"
#include "tile/pool.h"
#include "tile/registers.h"
#include "tile/run.h"
#include "tile/scratch.h"

namespace tenon {
namespace {

// Elements of kept loops that a slab has whole, and of a slab: it stays in the second cache. Shorter pieces of each
// reduced row come from memory at two thirds of the speed. Bench: ./dev bench --sweep --reductions, gaps.
constexpr int64_t kSlab = 1 << 15, kMostOfSlab = 1 << 17;
constexpr int64_t kFewest = 1 << 10;  // elements for which a second plan pays
// Rows of kept elements around reduced loops: bytes where kernels fold each row by a call, and of rows from beyond the
// caches; elements where rows are computed first, and where they are folded to states. Bench: ./dev bench --sweep
// --reductions, gaps.
constexpr int64_t kKeptRowBytes = 16, kFarKeptRowBytes = 64, kComputedRow = 200, kRowOfStates = 16;
constexpr int64_t kVeryShort = 3;       // elements of any row that is reduced, or lies along reduced ones
constexpr int64_t kShortBytesRow = 12;  // the same, of single bytes
constexpr int64_t kRowOfFew = 64, kFewRowsBytes = 2048;  // elements of a row, and bytes of the rows around it
constexpr int64_t kWidenedRow = 15;                      // rows of integers that are summed in int64, and of states
constexpr int64_t kStepsRowBytes = 128;                  // rows with steps
constexpr int64_t kWidestStep = 8;                       // between elements of rows with steps

/// Which turns of which loop a slab takes. Some loops are whole in every slab, others are counted.
class Slabs {
 public:
  const Plan& plan;
  int64_t loop = 0, turns = 1, inner = 1;  // inner: elements of the whole loops
  int64_t count = 1;                       // of slabs
  SmallVector<int64_t, 8> outer;

  /// Inner loops are whole. If that counts reduced loops, all of these are whole instead, and kept ones are counted.
  explicit Slabs(const Plan& given) : plan(given), loop(given.ndim()) {
    is_whole_.resize(plan.ndim());
    std::fill(is_whole_.begin(), is_whole_.end(), false);
    cut();
    if (are_all(false) || reduced_rows() > kSlab) return;
    std::fill(is_whole_.begin(), is_whole_.end(), false);
    inner = 1;
    for (int64_t i = 0; i < plan.ndim(); ++i)
      if (i == 0 || is_reduced(plan, i)) take(i);
    cut();
  }

  bool is_one() const { return loop == plan.ndim(); }
  /// Whether slabs have a loop, or some turns of it.
  bool has(int64_t i) const { return is_whole_[i] || i == loop; }
  /// Whether the loops that slabs are taken from are all kept, or all reduced.
  bool are_all(bool reduced) const {
    for (int64_t i = 0; i < plan.ndim(); ++i)
      if (!is_whole_[i] && is_reduced(plan, i) != reduced) return false;
    return true;
  }
  /// Slabs of the loop.
  int64_t of_loop() const { return is_one() ? 1 : (plan.sizes[loop] + turns - 1) / turns; }
  int64_t numel() const { return inner * turns; }  // exact: at most kMostOfSlab
  int64_t outputs() const {
    int64_t kept = 1;
    for (int64_t i = 0; i < plan.ndim(); ++i)
      if (is_whole_[i] && !is_reduced(plan, i)) kept *= plan.sizes[i];  // exact: at most kSlab
    return kept;
  }

 private:
  void take(int64_t i) {
    is_whole_[i] = true;
    inner *= plan.sizes[i];  // exact: at most kMostOfSlab
  }
  /// Elements of a row and of all reduced loops. exact: at most the number of elements
  int64_t reduced_rows() const {
    int64_t elements = 1;
    for (int64_t i = 0; i < plan.ndim(); ++i)
      if (i == 0 || is_reduced(plan, i)) elements *= plan.sizes[i];
    return elements;
  }
  /// Takes loops while there is room. Some turns of the next one are a slab, and the others are counted.
  void cut() {
    loop = plan.ndim();
    count = turns = 1;
    outer.resize(0);
    for (int64_t i = 0; i < plan.ndim(); ++i) {
      if (is_whole_[i]) continue;
      if (!is_one()) {
        outer.push_back(i);
        count *= plan.sizes[i];  // exact: at most the number of elements
      } else if (plan.sizes[i] <= (is_reduced(plan, i) ? kMostOfSlab : kSlab) / inner) {
        take(i);
      } else {
        loop = i;
      }
    }
    if (is_one()) return;
    turns = std::clamp<int64_t>(kMostOfSlab / inner, 1, plan.sizes[loop]);
    count *= of_loop();  // exact: at most the number of elements
  }

  SmallVector<bool, 8> is_whole_;
};

/// The loops of one slab, outermost first: what is read, and where results go.
struct SlabPlans {
  Plan copy, fold;

  SlabPlans(const Slabs& slabs, int64_t turns, Dtype dtype, const int64_t* out_strides) {
    Dims sizes, from, dense, to;
    for (int64_t loop = slabs.plan.ndim() - 1; loop >= 0; --loop) {
      if (!slabs.has(loop)) continue;
      sizes.push_back(loop == slabs.loop ? turns : slabs.plan.sizes[loop]);
      from.push_back(slabs.plan.strides_of(1)[loop]);
      to.push_back(out_strides[loop]);
    }
    dense.resize(sizes.size());
    int64_t step = 1;
    for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
      dense[dim] = step;
      step *= sizes[dim];  // exact: at most numel()
    }
    const StridedView copied[] = {{sizes, dense}, {sizes, from}}, folded[] = {{sizes, to}, {sizes, dense}};
    make_plan(sizes, copied, 2, copy, 1, FairRuns::of_copies(itemsize(dtype)));
    make_reduction_plan(sizes, folded, 2, fold);
  }
};

/// Packs every slab and calls fold(plan, elements, number, offset): where its first result lies.
template <class Fold>
void each_slab(const Slabs& slabs, Dtype dtype, const int64_t* out_strides, const void* in, const Fold& fold) {
  const SlabPlans whole(slabs, slabs.turns, dtype, out_strides);
  Program copy;
  copy.copy(copy.input(dtype));
  struct State {
    OuterCounter outer;
    Scratch packed;
  };
  parallel_for(
      slabs.count,
      [&] {
        return State{{slabs.plan, slabs.outer}, Scratch(slabs.numel() * itemsize(dtype))};
      },
      [&](State& state, int64_t number) {
        check_interrupt();
        const Unrecorded part_of_one;
        const int64_t place = number % slabs.of_loop(), first = place * slabs.turns;
        state.outer.go_to(number / slabs.of_loop());
        const auto offset = [&](int64_t operand) {
          return state.outer[operand] + (slabs.is_one() ? 0 : first * slabs.plan.strides_of(operand)[slabs.loop]);
        };
        const void* const from = static_cast<const std::byte*>(in) + offset(1) * itemsize(dtype);
        const auto run_slab = [&](const SlabPlans& plans) {
          void* const to = state.packed.data();
          run(plans.copy, copy, &to, &from);
          fold(plans.fold, state.packed.data(), number, offset(0));
        };
        const int64_t left = slabs.is_one() ? 1 : slabs.plan.sizes[slabs.loop] - first;
        left < slabs.turns ? run_slab(SlabPlans(slabs, left, dtype, out_strides)) : run_slab(whole);
      });
}

/// Whether the elements are worth a copy: there are some, and none is read again and again.
bool can_pack(const Plan& plan) {
  if (plan.ndim() < 2 || plan.numel < kFewest) return false;
  const int64_t* const strides = plan.strides_of(1);
  return std::find(strides, strides + plan.ndim(), 0) == strides + plan.ndim();
}
/// Whether the rows of the innermost loop follow each other with gaps.
bool has_gaps(const Plan& plan) {
  const int64_t* const strides = plan.strides_of(1);
  return strides[0] == 1 && strides[1] != plan.sizes[0];
}
/// Whether the rows of the innermost loop are kept, and their elements lie apart.
bool has_kept_steps(const Plan& plan) {
  const int64_t step = plan.strides_of(1)[0];
  return !is_reduced(plan, 0) && step > 1 && step <= kWidestStep;
}
/// Whether several rows of kept elements lie inside a reduced loop.
bool are_kept_inside(const Plan& plan) { return plan.ndim() > 2 && !is_reduced(plan, 0) && !is_reduced(plan, 1); }
/// Elements of the longest of these rows that is packed. `has_rows`: whether kernels fold rows where they lie.
int64_t longest_kept_row(const Plan& plan, Dtype dtype, bool has_rows) {
  if (!has_rows) return kComputedRow;
  const int64_t size = itemsize(dtype);
  return (plan.numel >= kFarBytes / size ? kFarKeptRowBytes : kKeptRowBytes) / size;
}

/// Whether short reduced rows are folded with others, a few for each output: each is a call of a kernel elsewhere.
bool are_few_short_rows(const Plan& plan, Dtype dtype) {
  if (plan.ndim() < 3 || !is_reduced(plan, 0) || plan.sizes[0] > kRowOfFew) return false;
  if (is_reduced(plan, 1) == is_reduced(plan, 2)) return false;
  return plan.sizes[0] * plan.sizes[1] * itemsize(dtype) <= kFewRowsBytes;  // exact: parts of the elements
}

Course course_for(const Slabs& slabs, const Plan& plan, KernelName kernel, Dtype dtype) {
  Course course{.route = "rows packed", .stores = "in place"};
  course.accesses.push_back(AccessPattern::gather);
  course.kernels.push_back(kernel);
  course.plan = plan;
  if (!CourseRecord::plans_meta()) return course;
  course.parts = slabs.count;
  course.threads = threads_for(slabs.count);
  course.scratch_bytes = slabs.numel() * itemsize(dtype);
  return course;
}

}  // namespace

bool packs_rows(const Plan& plan, const Program& program, const Reduction& reduction) {
  if (program.inputs() != 1 || !can_pack(plan)) return false;
  const Dtype dtype = program.dtype(0);
  const Dtype accumulated = program.dtype(program.result());
  const bool widens = accumulated == int64 && dtype != int64;
  const int64_t row = plan.sizes[0], longest = itemsize(dtype) == 1 ? kShortBytesRow : kVeryShort;
  bool packs = false;
  if (has_gaps(plan)) {
    const bool is_cheap = is_reduced(plan, 0) ? itemsize(dtype) < 4 || widens : plan.ndim() == 2;
    const bool is_short = is_reduced(plan, 1) && is_cheap && row <= longest;
    const bool is_widened = widens && !is_reduced(plan, 0) && is_reduced(plan, 1) && row <= kWidenedRow;
    const bool has_rows = folds_of_input(program, reduction.op).across != nullptr;
    const bool is_kept = are_kept_inside(plan) && row <= longest_kept_row(plan, dtype, has_rows);
    packs = is_short || is_widened || is_kept || are_few_short_rows(plan, dtype);
  } else if (has_kept_steps(plan)) {
    packs = widens || itemsize(dtype) < 4 || (plan.ndim() > 2 && row * itemsize(dtype) <= kStepsRowBytes);
  }
  if (!packs) return false;
  const Slabs slabs(plan);
  return slabs.are_all(false) || slabs.are_all(true);
}
bool packs_rows(const Plan& plan) {
  if (!can_pack(plan)) return false;
  const int64_t row = plan.sizes[0];
  const bool packs = has_gaps(plan)
                         ? are_kept_inside(plan) && row <= kRowOfStates
                         : has_kept_steps(plan) && is_reduced(plan, 1) && row >= kVeryShort && row <= kWidenedRow;
  return packs && Slabs(plan).are_all(false);
}

void run_packed(const Plan& plan, const Program& program, const Reduction& reduction, void* out, const void* in) {
  const Slabs slabs(plan);
  const Dtype dtype = program.dtype(0), accumulated = program.dtype(program.result());
  const bool is_partial = !slabs.is_one() && slabs.are_all(true);
  const int64_t outputs = slabs.outputs(),
                partial_bytes = is_partial ? slabs.count * outputs * itemsize(accumulated) : 0;
  if (CourseRecord::now()) [[unlikely]] {
    Course course = course_for(slabs, plan, {block_name(formula_of(reduction.op)), accumulated}, dtype);
    if (CourseRecord::plans_meta()) course.scratch_bytes += partial_bytes;
    note_course(std::move(course));
    if (!out && CourseRecord::plans_meta()) return;
  }
  check_memory(out, &in, 1);
  if (!is_partial)
    return each_slab(slabs, dtype, plan.strides_of(0), in,
                     [&](const Plan& own, const void* elements, int64_t, int64_t offset) {
                       run_reduction(own, program, reduction,
                                     static_cast<std::byte*>(out) + offset * itemsize(reduction.output), &elements);
                     });
  // Each slab leaves a row of partial results; the loops of the slabs fold these.
  Scratch partial(partial_bytes);
  Dims kept_strides(plan.ndim(), 0);
  Dims sizes{slabs.count}, rest_strides{outputs}, out_strides{0};
  int64_t step = 1;
  for (int64_t loop = 0; loop < slabs.loop; ++loop) {
    if (is_reduced(plan, loop)) continue;
    kept_strides[loop] = step;
    step *= plan.sizes[loop];  // exact: at most kSlab
  }
  for (int64_t loop = slabs.loop - 1; loop >= 0; --loop) {
    if (is_reduced(plan, loop)) continue;
    sizes.push_back(plan.sizes[loop]);
    rest_strides.push_back(kept_strides[loop]);
    out_strides.push_back(plan.strides_of(0)[loop]);
  }
  each_slab(slabs, dtype, kept_strides.data(), in, [&](const Plan& own, const void* elements, int64_t number, int64_t) {
    run_reduction(own, program, {reduction.op, 0, accumulated},
                  partial.data() + number * outputs * itemsize(accumulated), &elements);
  });
  const Unrecorded part_of_one;
  const StridedView rest[] = {{sizes, out_strides}, {sizes, rest_strides}};
  Plan last;
  make_reduction_plan(sizes, rest, 2, last);
  Program read;
  read.input(accumulated);
  const void* const input = partial.data();
  run_reduction(last, read, reduction, out, &input);
}

void run_packed(const Plan& plan, const Fold& fold, const void* in) {
  const Slabs slabs(plan);
  if (CourseRecord::now()) [[unlikely]] {
    note_course(course_for(slabs, plan, {block_name(fold.op), fold.lanes}, fold.input));
    if (!fold.out[0] && CourseRecord::plans_meta()) return;
  }
  check_memory(fold.out[0], &in, 1);
  each_slab(
      slabs, fold.input, plan.strides_of(0), in, [&](const Plan& own, const void* elements, int64_t, int64_t offset) {
        Fold part = fold;
        for (int result = 0; result < kMostFolded; ++result)
          if (part.out[result])
            part.out[result] = static_cast<std::byte*>(part.out[result]) + offset * itemsize(part.outputs[result]);
        run_fold(own, part, elements);
      });
}

}  // namespace tenon
