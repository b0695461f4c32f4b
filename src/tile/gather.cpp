#include "tile/gather.h"

#include <cstdlib>

#include "kernel/kernel.h"
#include "tile/blocks.h"
#include "tile/prefetch.h"
#include "tile/streamed.h"

namespace tenon {
namespace {

// From so many rows on, a transposition reads whole vectors.
constexpr int64_t kTransposedRows = 8;
// Blocks of shorter loops are read by a list. Bench: ./dev bench --sweep, permuted and both sides.
constexpr int64_t kShortLoop = 16;
// So long runs that are repeated are copied sooner than shuffled. Bench: ./dev bench --sweep, both sides.
constexpr int64_t kLongRunBytes = 32;
// Innermost loops of so many elements are read by vectors if they have steps of two elements, by the elements' size, or
// of three and four. Bench: ./dev bench --sweep, permuted; ./dev bench-cliffs --filter 'every second'.
constexpr int64_t kVectorisedPairs[] = {48, 16, 12, 7, 7}, kVectorised = 12;

/// Whether 32 bits hold every offset of a tile.
bool is_near(const Plan& plan, const int64_t* strides, int64_t rows) {
  int64_t span = 0;
  for (int64_t dim = 0; dim < plan.fused; ++dim) {
    const int64_t turns = dim + 1 < plan.fused ? plan.sizes[dim] : rows;
    span += (turns - 1) * std::abs(strides[dim]);  // exact: the elements have memory
  }
  return span <= INT32_MAX;
}

/// Whether the innermost loops are so short that a call for each of them costs more than a list.
bool has_short_loops(const Plan& plan, const int64_t* strides, int shift) {
  const int64_t elements = plan.sizes[0] * plan.sizes[1];
  const bool is_one_loop = strides[1] == plan.sizes[0] * strides[0];  // exact: inside the memory
  const int64_t length = is_one_loop ? elements : plan.sizes[0];
  if (strides[0] > 1 && strides[0] <= 4 && length >= (strides[0] == 2 ? kVectorisedPairs[shift] : kVectorised))
    return false;
  if (strides[0] > 1 && strides[1] == 1) return is_few_transposed(plan.sizes.data());
  if (plan.fused == 2) return plan.sizes[0] > 4 && (plan.sizes[0] < kShortLoop || strides[0] == 2) && strides[0] != 1;
  return elements < kShortLoop * kShortLoop;
}

std::byte* on_line(std::byte* memory) {
  return memory + (-static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory)) & (kLine - 1));
}

}  // namespace

GatherForm gather_form(const Plan& plan, const int64_t* strides, int shift, int64_t tile) noexcept {
  const int64_t last = plan.fused - 1, rows = tile / plan.unit;
  if (last < 1) return GatherForm::block;
  if (strides[last] == 1 && strides[0] != 1 && rows >= kTransposedRows)
    return last == 1 ? GatherForm::block : GatherForm::columns;
  if (last > 1 && copies_runs(plan.sizes.data(), strides, shift)) return GatherForm::runs;
  if (!has_short_loops(plan, strides, shift)) return GatherForm::block;
  if (strides[0] == 1 && plan.sizes[0] << shift >= kLongRunBytes) return GatherForm::runs;
  if (ShuffledBlock::of(plan.sizes.data(), strides, plan.fused, shift)) return GatherForm::shuffles;
  return is_near(plan, strides, rows) ? GatherForm::list : GatherForm::block;
}

namespace {
int64_t element_list_bytes(int64_t tile) {
  return ((tile + 1) / 2 * 2 + kListSlack) * static_cast<int64_t>(sizeof(int32_t));  // the next list is aligned
}
}  // namespace

int64_t gather_list_bytes(const Plan& plan, const int64_t* strides, int shift, int64_t tile) noexcept {
  switch (gather_form(plan, strides, shift, tile)) {
    case GatherForm::block:
      return 0;
    case GatherForm::columns:
      return (plan.unit + kListSlack) * static_cast<int64_t>(sizeof(int64_t));
    case GatherForm::runs:
      return (tile / plan.sizes[0] + kListSlack) * static_cast<int64_t>(sizeof(int64_t));
    case GatherForm::shuffles:
      return std::max(kLine + ShuffledBlock::of(plan.sizes.data(), strides, plan.fused, shift).list_bytes(shift),
                      element_list_bytes(tile));
    case GatherForm::list:
      return element_list_bytes(tile);
  }
  return 0;
}

Gather::Gather(const Plan& plan, const int64_t* strides, int shift, int64_t tile, const std::byte* data,
               std::byte* list)
    : plan_(&plan), strides_(strides), shift_(shift), form_(gather_form(plan, strides, shift, tile)), list_(list) {
  const int64_t* const counts = plan.sizes.data();
  const int64_t fused = plan.fused;
  if (form_ == GatherForm::columns)
    list_offsets(counts, strides, fused - 1, counts[fused - 2], reinterpret_cast<int64_t*>(list));
  if (form_ == GatherForm::runs)
    list_offsets(counts + 1, strides + 1, fused - 1, tile / plan.unit, reinterpret_cast<int64_t*>(list));
  if (form_ == GatherForm::shuffles) {
    shuffled_ =
        Shuffled(counts, strides, fused, shift, ShuffledBlock::of(counts, strides, fused, shift), on_line(list));
    end_ = data + (extent(plan.sizes.data(), strides, plan.ndim()) << shift);
    if (!shuffled_) form_ = is_near(plan, strides, tile / plan.unit) ? GatherForm::list : GatherForm::block;
  }
  if (form_ == GatherForm::list)
    list_offsets(counts, strides, fused, tile / plan.unit, reinterpret_cast<int32_t*>(list));
}

void Gather::load(std::byte* to, const std::byte* from, int64_t rows) const {
  const MoveKernels& move = kernels().move[shift_];
  switch (form_) {
    case GatherForm::block:
      return load_block(to, from, *plan_, strides_, shift_, plan_->fused, rows);
    case GatherForm::columns:
      return move.transpose_listed(to, plan_->unit, from, reinterpret_cast<const int64_t*>(list_), rows, plan_->unit);
    case GatherForm::runs:
      return move.copy_listed(to, from, reinterpret_cast<const int64_t*>(list_), plan_->sizes[0],
                              rows * plan_->unit / plan_->sizes[0]);
    case GatherForm::shuffles:
      return shuffled_.load(to, from, end_, rows);
    case GatherForm::list:
      return move.pick(to, from, reinterpret_cast<const int32_t*>(list_), rows * plan_->unit);
  }
}

bool Gather::has_short_steps() const noexcept {
  constexpr int64_t kLongestStep = 4;
  return form_ == GatherForm::block && plan_->fused <= 2 && strides_[0] > 1 && strides_[0] <= kLongestStep &&
         !is_transposed();
}

void Gather::load_far(std::byte* to, const std::byte* from, int64_t rows) const {
  const bool is_one_loop = plan_->fused == 1;
  kernels().move[shift_].gather_far(to, from, strides_[0], is_one_loop ? rows : plan_->sizes[0],
                                    is_one_loop ? 0 : strides_[1], is_one_loop ? 1 : rows);
}

bool Gather::is_transposed() const noexcept {
  if (form_ == GatherForm::columns) return true;
  return form_ == GatherForm::block && plan_->fused == 2 && strides_[1] == 1 && strides_[0] != 1;
}

void Gather::prefetch_columns(const std::byte* from, int64_t bytes) const {
  if (form_ == GatherForm::block)
    return prefetch_rows(from, bytes, strides_[0] * (int64_t{1} << shift_), plan_->sizes[0]);
  const auto* const offsets = reinterpret_cast<const int64_t*>(list_);
  for (int64_t column = 0; column < plan_->unit; ++column)
    prefetch_rows(from + offsets[column] * (int64_t{1} << shift_), bytes, 0, 1);
}

}  // namespace tenon
