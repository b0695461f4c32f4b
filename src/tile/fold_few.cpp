// Few contiguous elements, folded without a plan: see fold_few.
#include <algorithm>
#include <utility>

#include "kernel/kernel.h"
#include "tile/fold.h"
#include "tile/places.h"
#include "tile/scratch.h"

namespace tenon {
namespace {

// So many states are folded, and so many elements cast, at once. Bench: ./dev bench --sweep, inner, middle and several
// dims.
constexpr int64_t kStates = 256, kElements = 1 << 12;
// Runs of functions, as of logsumexp: so short and so many are faster as columns. Bench: tenon_bench --ops --filter
// ops/logsumexp, and tensors of 2 to 300 columns.
constexpr int64_t kShortRun = 64, kManyRuns = 16;
// Runs that fill no vector: so many take longer than a plan.
constexpr int64_t kVectorBytes = 64, kManyJoined = 64;
// Kernels may write so many states behind the last one.
constexpr int64_t kSlack = 16, kStride = kStates + kSlack;
constexpr int64_t kMostFields = 3;
// Rows of many columns: as many elements as a narrow state takes before a wide one takes it.
constexpr int64_t kMostRows = 256;

const StateKernels* states_of(Op op, Dtype dtype) {
  return kernels().state_fold[static_cast<int>(op)][static_cast<int>(dtype)];
}

/// Stores a result's `count` elements of `dtype`, of which `stored` were stored before.
void store_result(const Fold& fold, int result, Dtype dtype, const std::byte* elements, int64_t stored, int64_t count) {
  const Dtype output = fold.outputs[result];
  const Lanes from{elements, 1};
  std::byte* const to = static_cast<std::byte*>(fold.out[result]) + stored * itemsize(output);
  kernels().cast[static_cast<int>(dtype)][static_cast<int>(output)](to, &from, count);
}
/// Finishes `count` wide states and stores the results, of which `stored` were stored before. `results`: room for them.
[[gnu::noinline]] void store_results(const Fold& fold, const std::byte* wide, std::byte* results, int64_t stride,
                                     int64_t stored, int64_t count) {
  const Dtype dtype = is_floating_point(fold.lanes) ? float64 : int64;
  const StateKernels& kernel = *states_of(fold.op, dtype);
  kernel.finish(results, wide, stride, count, fold.numbers);
  for (int result = 0; result < kernel.results; ++result)
    store_result(fold, result, dtype, results + result * stride * 8, stored, count);
}

/// Folds to states, and stores what they finish as.
class FewStates {
 public:
  explicit FewStates(const Fold& fold) : fold_(fold), narrow_(*states_of(fold.op, fold.lanes)) {}

  bool casts() const { return fold_.input != fold_.lanes; }
  bool folds_blocks() const { return narrow_.blocks != nullptr; }
  /// How many runs or blocks of `numel` elements and `states` states fit.
  int64_t fitting(int64_t numel, int64_t states) const {
    return std::min(kStates / states, casts() ? kElements / numel : kStates);
  }

  [[gnu::noinline]] void along(const std::byte* in, int64_t count, int64_t n) {
    if (narrow_.finished && n > 1 && n <= kFinishedRow) return finish_rows(lanes(in, count * n), count, n);
    narrow_.along(states(), kStride, lanes(in, count * n), n, count, n, fold_.numbers);
    store(count);
  }
  [[gnu::noinline]] void blocks(const std::byte* in, int64_t count, int64_t rows, int64_t n) {
    const int64_t block = rows * n;  // exact: at most kElements
    narrow_.blocks(states(), kStride, lanes(in, count * block), n, n, rows, block, count, fold_.numbers);
    store(count * n);
  }
  /// Rows are `step` apart.
  [[gnu::noinline]] void across(const std::byte* in, int64_t rows, int64_t step, int64_t n) {
    const void* from = in;
    if (casts()) {
      const auto row_bytes = step * itemsize(fold_.input), lanes_bytes = n * itemsize(fold_.lanes);
      for (int64_t row = 0; row < rows; ++row) cast(elements_ + row * lanes_bytes, in + row * row_bytes, n);
      from = elements_;
      step = n;
    }
    narrow_.across(states(), kStride, from, step, rows, n, 0, fold_.numbers);
    store(n);
  }

 private:
  std::byte* states() { return folds_blocks() ? wide_ : states_; }
  void cast(std::byte* to, const std::byte* from, int64_t n) const {
    const Lanes in{from, 1};
    kernels().cast[static_cast<int>(fold_.input)][static_cast<int>(fold_.lanes)](to, &in, n);
  }
  const void* lanes(const std::byte* in, int64_t n) {
    if (!casts()) return in;
    cast(elements_, in, n);
    return elements_;
  }
  void finish_rows(const void* in, int64_t count, int64_t n) {
    void* results[kMostFolded];
    for (int result = 0; result < narrow_.results; ++result) results[result] = results_ + result * kStride * 8;
    narrow_.finished(results, in, n, n, count, fold_.numbers);
    for (int result = 0; result < narrow_.results; ++result)
      store_result(fold_, result, fold_.lanes, results_ + result * kStride * 8, stored_, count);
    stored_ += count;
  }
  /// The next `count` results.
  void store(int64_t count) {
    if (!folds_blocks()) narrow_.absorb(wide_, states_, kStride, count, 0, true, fold_.numbers);
    store_results(fold_, wide_, results_, kStride, stored_, count);
    stored_ += count;
  }

  const Fold& fold_;
  const StateKernels& narrow_;
  int64_t stored_ = 0;
  alignas(64) std::byte wide_[kMostFields * kStride * 8], states_[kMostFields * kStride * 8];
  alignas(64) std::byte results_[kMostFolded * kStride * 8], elements_[(kElements + kSlack) * 8];
};

void fold_runs(FewStates& states, const std::byte* in, int64_t size, int64_t outer, int64_t n) {
  const int64_t most = states.fitting(n, 1);
  for (int64_t count = 0; outer > 0; outer -= count, in += count * n * size)
    states.along(in, count = std::min(outer, most), n);
}
void fold_blocks(FewStates& states, const std::byte* in, int64_t size, int64_t outer, int64_t rows, int64_t n) {
  const int64_t most = states.fitting(rows * n, n);
  for (int64_t count = 0; outer > 0; outer -= count, in += count * rows * n * size)
    states.blocks(in, count = std::min(outer, most), rows, n);
}
void fold_columns(FewStates& states, const std::byte* in, int64_t size, int64_t outer, int64_t rows, int64_t inner) {
  const int64_t most = states.casts() ? std::min(kStates, kElements / rows) : kStates;
  const int64_t pieces = (inner + most - 1) / most;
  for (; outer > 0; --outer, in += rows * inner * size)
    for (int64_t piece = 0; piece < pieces; ++piece) {  // of almost equal widths: none is narrower than a vector
      const int64_t first = inner * piece / pieces, end = inner * (piece + 1) / pieces;
      states.across(in + first * size, rows, inner, end - first);
    }
}

/// Whether so many runs are so short: of functions, or of fewer elements than a vector's lanes, which would be joined.
bool are_faster_as_columns(const Fold& fold, int64_t runs, int64_t n) {
  if (row_of(fold.op).vectors) return n <= kShortRun && runs >= kManyRuns;
  if (!kernels().join) return false;  // there are no vectors: columns gain nothing
  const bool is_finished = states_of(fold.op, fold.lanes)->finished && n > 1 && n <= kFinishedRow;
  return !is_finished && n < kVectorBytes / itemsize(fold.lanes) && runs >= kManyJoined;
}

}  // namespace

bool fold_few(const Fold& fold, const void* in, int64_t outer, int64_t rows, int64_t inner) {
  if (finds_places(fold)) return false;
  const bool has_blocks = states_of(fold.op, fold.lanes)->blocks != nullptr;
  if (rows == 1 && has_blocks) inner *= std::exchange(outer, 1);  // exact: few elements
  const bool is_small = rows <= kElements / inner, is_wide = inner > kStates / 2;
  const bool folds_blocks = inner > 1 && has_blocks && is_small && !is_wide,
             folds_columns = is_wide && rows <= kMostRows;
  if (inner == 1 ? !is_small : !folds_blocks && !folds_columns) return false;
  if (inner == 1 && !has_blocks && are_faster_as_columns(fold, outer, rows)) return false;  // a plan turns them
  FewStates states(fold);
  const auto* from = static_cast<const std::byte*>(in);
  const int64_t size = itemsize(fold.input);
  if (inner == 1)
    fold_runs(states, from, size, outer, rows);
  else if (folds_blocks)
    fold_blocks(states, from, size, outer, rows, inner);
  else
    fold_columns(states, from, size, outer, rows, inner);
  return true;
}

namespace {

/// Runs whose reduced dims are of two groups: see fold_few_groups.
class FewGroups {
 public:
  FewGroups(const Fold& fold, const Groups& groups)
      : fold_(fold),
        groups_(groups),
        kernel_(*states_of(fold.op, fold.lanes)),
        stride_(groups.columns() + kSlack),
        states_(kMostFields * stride_ * 8),
        wide_(kMostFields * stride_ * 8),
        results_(kMostFolded * stride_ * 8) {}

  /// Those of one turn of the outermost group, which is kept.
  void run(const std::byte* in) {
    groups_.rows >= groups_.inner_rows ? fold_outer_first(in) : fold_inner_first(in);
    store_results(fold_, wide_.data(), results_.data(), stride_, stored_, groups_.outputs());
    stored_ += groups_.outputs();
  }

 private:
  /// Rows of all columns are folded in vectors; then columns are joined.
  [[gnu::noinline]] void fold_outer_first(const std::byte* in) {
    kernel_.across(states_.data(), stride_, in, groups_.columns(), groups_.rows, groups_.columns(), 0, fold_.numbers);
    const int64_t inner_bytes = groups_.inner * 8;
    const std::byte* from = states_.data();
    for (int64_t i = 0; i < groups_.kept; ++i)
      for (int64_t row = 0; row < groups_.inner_rows; ++row, from += inner_bytes)
        kernel_.absorb(wide_.data() + i * inner_bytes, from, stride_, groups_.inner, 0, row == 0, fold_.numbers);
  }
  [[gnu::noinline]] void fold_inner_first(const std::byte* in) {
    const int64_t inner = groups_.inner, rows = groups_.inner_rows, block = rows * inner;
    for (int64_t row = 0; row < groups_.rows; ++row, in += groups_.columns() * itemsize(fold_.lanes)) {
      if (inner == 1)
        kernel_.along(states_.data(), stride_, in, rows, groups_.kept, rows, fold_.numbers);
      else
        kernel_.blocks(states_.data(), stride_, in, inner, inner, rows, block, groups_.kept, fold_.numbers);
      kernel_.absorb(wide_.data(), states_.data(), stride_, groups_.outputs(), 0, row == 0, fold_.numbers);
    }
  }

  const Fold& fold_;
  const Groups& groups_;
  const StateKernels& kernel_;
  const int64_t stride_;
  int64_t stored_ = 0;
  Scratch states_, wide_, results_;
};

}  // namespace

bool fold_few_groups(const Fold& fold, const void* in, const Groups& groups) {
  constexpr int64_t kFewestColumns = 16, kMostColumns = 2048;
  const int64_t columns = groups.columns(), numel = groups.outer * groups.rows * columns;  // exact: few elements
  if (finds_places(fold) || !states_of(fold.op, fold.lanes)->blocks) return false;
  if (columns < kFewestColumns || columns > kMostColumns || groups.rows > kMostRows) return false;
  const bool casts = fold.input != fold.lanes;
  Scratch cast(casts ? numel * itemsize(fold.lanes) : 0);
  const auto* from = static_cast<const std::byte*>(in);
  if (casts) {
    const Lanes lanes{in, 1};
    kernels().cast[static_cast<int>(fold.input)][static_cast<int>(fold.lanes)](cast.data(), &lanes, numel);
    from = cast.data();
  }
  FewGroups few(fold, groups);
  for (int64_t i = 0; i < groups.outer; ++i, from += groups.rows * columns * itemsize(fold.lanes)) few.run(from);
  return true;
}

}  // namespace tenon
