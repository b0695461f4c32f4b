// Which passes run together, block by block.
#include <algorithm>

#include "fuse/blocks.h"

namespace tenon::fusion {
namespace {

/// Passes in the order in which they run: what blocks need, the blocks, and the rest.
struct Division {
  std::vector<int> before, together, after;
  int counted = 0;  // of those together: all but views
};

/// Divides passes by whether they can run block by block over some axes.
class Divider {
 public:
  Divider(const GraphTrace& trace, const Axes& axes, const std::vector<std::unique_ptr<Pass>>& passes)
      : trace_(trace), axes_(axes), passes_(passes) {}

  Division divide(const std::vector<int>& left, const std::vector<int>& along) const {
    Division division;
    enum class Made { before, together, after };
    std::vector<Made> made(trace_.values.size(), Made::before);
    for (const int number : left) {
      const Pass& pass = *passes_[place(number)];
      const auto reads = [&](Made when) {
        return std::any_of(pass.reads.begin(), pass.reads.end(), [&](int id) { return made[place(id)] == when; });
      };
      const bool folds_blocks = Blocks::folds_blocks(axes_, pass, along);
      const bool can_join = folds_blocks || (fits(pass, along) && (!pass.is_view() || reads(Made::together)));
      Made when = Made::before;
      if (can_join && !reads(Made::after))
        when = Made::together;
      else if (reads(Made::after) || reads(Made::together))
        when = Made::after;
      // What folds the blocks is known at their end.
      for (const int id : pass.writes) made[place(id)] = folds_blocks ? Made::after : when;
      (when == Made::before     ? division.before
       : when == Made::together ? division.together
                                : division.after)
          .push_back(number);
      division.counted += when == Made::together && !pass.is_view();
    }
    return division;
  }

 private:
  bool fits(const Pass& pass, const std::vector<int>& along) const {
    if (pass.step && !pass.step->row_dims && !pass.is_view()) return false;
    if (pass.is_view() &&
        !moved_dims(trace_.values[place(pass.reads[0])].meta, trace_.values[place(pass.writes[0])].meta))
      return false;
    return std::all_of(along.begin(), along.end(), [&](int axis) {
      // Results of one Program may be computed apart: then their axes are not joined.
      const int64_t first = axes_.dim_on(pass.writes[0], axis);
      const bool is_program = !pass.step && !pass.fold_step;
      const auto lies_once = [&](int id) {
        const int64_t dim = axes_.dim_on(id, axis);
        return dim >= 0 && (!is_program || dim == first) && !axes_.repeats(id, axis);
      };
      const auto repeats = [&](int id) { return axes_.repeats(id, axis); };
      if (!std::all_of(pass.writes.begin(), pass.writes.end(), lies_once)) return false;
      if (std::any_of(pass.reads.begin(), pass.reads.end(), repeats)) return false;
      const GraphStep* const rows = pass.row_step();
      if (!rows || pass.is_view()) return true;
      const int64_t dim = axes_.dim_on(rows->operands[0], axis);
      return dim >= 0 && !(*rows->row_dims)[dim] && !axes_.repeats(rows->operands[0], axis);
    });
  }

  const GraphTrace& trace_;
  const Axes& axes_;
  const std::vector<std::unique_ptr<Pass>>& passes_;
};

/// The axes along which a pass may be cut: of its largest value, from the outermost dims on, and each one alone.
std::vector<std::vector<int>> cuts_of(const GraphTrace& trace, const Axes& axes, const Pass& pass) {
  const auto numel_of = [&](int id) { return trace.values[place(id)].meta.numel(); };
  int largest = pass.writes[0];
  for (const std::vector<int>* ids : {&pass.writes, &pass.reads})
    for (const int id : *ids)
      if (numel_of(id) > numel_of(largest)) largest = id;
  if (pass.fold_step) largest = pass.folded();
  const Tensor& meta = trace.values[place(largest)].meta;
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < meta.dim(); ++dim)
    if (axes.of(largest, dim) >= 0 && !axes.repeats(largest, axes.of(largest, dim))) dims.push_back(dim);
  std::stable_sort(dims.begin(), dims.end(), [&](int64_t a, int64_t b) { return meta.stride(a) > meta.stride(b); });
  std::vector<std::vector<int>> cuts;
  std::vector<int> outermost;
  for (const int64_t dim : dims) {
    outermost.push_back(axes.of(largest, dim));
    cuts.push_back(outermost);
  }
  for (const int64_t dim : dims)
    if (dim != dims[0]) cuts.push_back({axes.of(largest, dim)});
  return cuts;
}

/// Values that passes outside of these read, or the function gives. A base lasts with its view.
std::vector<bool> lasting_after(const GraphTrace& trace, const std::vector<std::unique_ptr<Pass>>& passes,
                                const std::vector<int>& together) {
  std::vector<bool> lasts(trace.values.size(), false);
  for (std::size_t i = 0; i < passes.size(); ++i)
    if (std::find(together.begin(), together.end(), static_cast<int>(i)) == together.end())
      for (const int id : passes[i]->reads) lasts[place(id)] = true;
  for (const int id : trace.results) lasts[place(id)] = true;
  for (const auto& [input, id] : trace.written) lasts[place(id)] = true;
  for (std::size_t i = together.size(); i-- > 0;) {
    const Pass& pass = *passes[place(together[i])];
    if (pass.is_view() && lasts[place(pass.writes[0])]) lasts[place(pass.reads[0])] = true;
  }
  return lasts;
}

}  // namespace

/// The most passes that can run block by block, of those that are left; no blocks if there is no gain.
Graph::Turn Graph::next_blocks(const Axes& axes, std::vector<int>& left) {
  const Divider divider(trace_, axes, passes_);
  Division best;
  Turn turn;
  for (const std::vector<int>& cut : cuts_of(trace_, axes, *passes_[place(left[0])])) {
    Division division = divider.divide(left, cut);
    if (division.counted < 2 || division.counted <= best.counted) continue;
    std::vector<const Pass*> together;
    for (const int pass : division.together) together.push_back(passes_[place(pass)].get());
    auto blocks =
        Blocks::make(trace_, axes, together, cut, lasting_after(trace_, passes_, division.together), block_bytes_);
    if (!blocks) continue;
    turn.blocks = std::move(blocks);
    best = std::move(division);
  }
  if (!turn.blocks) return turn;
  for (const int pass : best.before) turns_.push_back({{pass}, nullptr});
  turn.passes = std::move(best.together);
  left = std::move(best.after);
  return turn;
}

void Graph::make_turns() {
  if (passes_.size() == 1) {
    turns_.push_back({{0}, nullptr});
    return;
  }
  const Axes axes(trace_);
  std::vector<int> left;
  for (std::size_t i = 0; i < passes_.size(); ++i) left.push_back(static_cast<int>(i));
  while (!left.empty()) {
    Turn turn;
    if (!passes_[place(left[0])]->is_view()) turn = next_blocks(axes, left);
    if (!turn.blocks) {
      turns_.push_back({{left[0]}, nullptr});
      left.erase(left.begin());
      continue;
    }
    turns_.push_back(std::move(turn));
    const std::size_t at = turns_.size() - 1;
    for (const int number : std::vector<int>(turns_[at].passes))
      if (const Pass& pass = *passes_[place(number)]; pass.is_view() && turns_[at].blocks->lasts(pass.writes[0]))
        turns_.push_back({{number}, nullptr});
  }
}

}  // namespace tenon::fusion
