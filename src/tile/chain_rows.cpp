#include "tile/chain_rows.h"

#include <algorithm>

#include "tile/blocks.h"
#include "tile/pool.h"

namespace tenon {
namespace {

/// Of operands that are read where they lie.
Lanes lanes_at(const Plan& plan, int input, const void* memory) {
  return {memory, plan.operands[plan.input(input)].access == AccessPattern::splat ? 0 : 1};
}

SmallVector<Lanes, 16> lanes_of_inputs(const Plan& plan, const Program& program, const void* const* inputs) {
  SmallVector<Lanes, 16> lanes(program.registers());
  for (int input = 0; input < program.inputs(); ++input)
    lanes[input] = lanes_at(plan, input, inputs ? inputs[input] : nullptr);
  return lanes;
}

}  // namespace

bool ChainRows::fit(const Plan& plan, const Program& program, const Schedule& schedule) {
  const int64_t count = program.instructions().size();
  if (count < 2 || program.steps() != 1 || program.results() != 1 || program.result() != program.registers() - 1)
    return false;
  if (schedule.store == StoreMode::scattered || plan.flat < kFewChained) return false;
  if (schedule.streams() && !program.streams_last(program.result())) return false;
  for (int input = 0; input < program.inputs(); ++input) {
    const AccessPattern access = plan.operands[plan.input(input)].access;
    if (access != AccessPattern::direct && access != AccessPattern::splat) return false;
  }
  LinkedLanes linked;
  return linked.link(program, 0, count, lanes_of_inputs(plan, program, nullptr));
}

ChainRows::ChainRows(const Plan& plan, const Program& program, const Schedule& schedule, std::byte* out,
                     const void* const* inputs)
    : plan_(plan),
      schedule_(schedule),
      chain_(kernels().chain[static_cast<int>(program.dtype(program.result()))]),
      shift_(shift_of(program.dtype(program.result()))),
      out_(out),
      loops_(loops_from(plan, plan.fused)),
      outer_(plan, loops_),
      streamed_(schedule.staging_bytes_of(program, 0)) {
  linked_.link(program, 0, program.instructions().size(), lanes_of_inputs(plan, program, inputs));
  if (loops_.empty()) return;
  const auto bytes_of_turn = [&](int64_t operand) {
    return plan.strides_of(operand)[loops_[0]] * (int64_t{1} << shift_);
  };
  row_step_ = bytes_of_turn(0);
  for (int operand = 0; operand < linked_.operands; ++operand) {
    const int64_t input = plan.input(linked_.sources[operand]), *const strides = plan.strides_of(input);
    if (std::all_of(strides + plan.fused, strides + plan.ndim(), [](int64_t stride) { return stride == 0; })) continue;
    const auto* const base = static_cast<const std::byte*>(linked_.lanes[operand].data);
    moving_.push_back({base, operand, input, bytes_of_turn(input)});
  }
}

void ChainRows::run(int64_t begin, int64_t end) {
  const int64_t per_row = schedule_.per_loop, rows = (end + per_row - 1) / per_row;
  int64_t row = begin / per_row;
  const auto tile_of = [&](int64_t tile) { return std::clamp<int64_t>(tile - row * per_row, 0, per_row); };
  while (row < rows) {
    go_to_row(row);
    for (int64_t turns = std::min(outer_.left(), rows - row); turns > 0; --turns, ++row, next_row())
      run_row(tile_of(begin), tile_of(end));
  }
  streamed_.flush();
}

void ChainRows::go_to_row(int64_t row) {
  outer_.go_to(row);
  row_ = out_ + (outer_[0] << shift_);
  for (const Moving& moving : moving_)
    linked_.lanes[moving.operand].data = at(moving.base, outer_[moving.plan_operand], shift_);
}
void ChainRows::next_row() {
  row_ += row_step_;
  for (const Moving& moving : moving_) {
    const void*& data = linked_.lanes[moving.operand].data;
    data = static_cast<const std::byte*>(data) + moving.row_step;
  }
}

void ChainRows::run_row(int64_t first_tile, int64_t last_tile) {
  for (int64_t tile = first_tile; tile < last_tile; ++tile) {
    check_interrupt();
    const int64_t start = tile * schedule_.tile;
    run_piece(start, std::min(schedule_.tile, plan_.flat - start));
  }
}

/// `n` elements from element `start` of the fused loops on.
void ChainRows::run_piece(int64_t start, int64_t n) {
  if (start == 0 && !schedule_.streams()) return chain_(row_, linked_.lanes, linked_.links, linked_.count, n, false);
  Lanes lanes[kMostLinkOperands];
  int64_t steps[kMostLinkOperands];
  for (int operand = 0; operand < linked_.operands; ++operand) {
    const Lanes& from = linked_.lanes[operand];
    steps[operand] = from.step << shift_;
    lanes[operand] = {static_cast<const std::byte*>(from.data) + start * steps[operand], from.step};
  }
  const auto kernel = [&](bool streams) {
    return [this, streams](std::byte* to, const Lanes* in, int64_t count) {
      chain_(to, in, linked_.links, linked_.count, count, streams);
    };
  };
  std::byte* const to = row_ + (start << shift_);
  if (!schedule_.streams()) return kernel(false)(to, lanes, n);
  if (n >= kShortStream)
    return run_streamed(kernel(false), kernel(true), to, shift_, lanes, linked_.operands, steps, n, streamed_);
  kernel(false)(streamed_.staging(to), lanes, n);
  streamed_.commit(n << shift_);
}

}  // namespace tenon
