// Writes to arguments, which come at the end: the last passes compute them where they stay, if nothing that may still
// fail or be read is overwritten. Then no result is in memory twice, and a mapped file is written as it is computed.
#include <algorithm>

#include "dispatch/differentiate.h"
#include "fuse/blocks.h"
#include "fuse/pass.h"
#include "ops/row.h"
#include "tensor/overlap.h"
#include "tile/pool.h"

namespace tenon::fusion {
namespace {

bool reads(const GraphStep& step, int id) {
  return std::find(step.operands.begin(), step.operands.end(), id) != step.operands.end();
}

/// What an argument holds at the end, if that is a copy of another value, which a Program can write in its place. -1:
/// none, or the function gives that value, too.
int copied_value(const GraphTrace& trace, int written) {
  const GraphValue& copy = trace.values[place(written)];
  const GraphStep& step = trace.steps[place(copy.step)];
  if (step.name != "copy") return -1;
  const int source = step.operands[0];
  const GraphValue& value = trace.values[place(source)];
  if (value.kind != GraphValue::Kind::made || value.meta.dtype() != copy.meta.dtype() ||
      value.meta.sizes() != copy.meta.sizes())
    return -1;
  const GraphStep& made = trace.steps[place(value.step)];
  if (!made.is_elementwise() && !made.fold) return -1;
  const auto gives = [&](int id) { return root_of(trace, id) == source; };
  if (std::any_of(trace.results.begin(), trace.results.end(), gives)) return -1;
  if (std::any_of(trace.written.begin(), trace.written.end(), [&](const auto& each) { return each.second == source; }))
    return -1;
  // Ops that are no instructions expect its strides.
  const bool is_same = value.meta.strides() == copy.meta.strides();
  const auto expects = [&](const GraphStep& reader) {
    return !is_same && !reader.is_elementwise() && &reader != &step && reads(reader, source);
  };
  return std::any_of(trace.steps.begin(), trace.steps.end(), expects) || (!is_same && !made.is_elementwise()) ? -1
                                                                                                              : source;
}

bool may_throw(const Pass& pass) {
  const auto& instructions = pass.program.instructions();
  return std::any_of(instructions.begin(), instructions.end(), [](const Instruction& instruction) {
    return !instruction.is_cast && (is_custom(instruction.op) || row_of(instruction.op).may_throw);
  });
}

}  // namespace

void write_sources_of_copies(GraphTrace& trace) {
  for (auto& [input, written] : trace.written) {
    const int copy = written, source = copied_value(trace, copy);
    if (source < 0) continue;
    trace.values[place(source)].meta = trace.values[place(copy)].meta;
    std::replace(trace.results.begin(), trace.results.end(), copy, source);
    for (GraphStep& step : trace.steps) std::replace(step.operands.begin(), step.operands.end(), copy, source);
    written = source;
  }
}

void Graph::note_last_writes() {
  last_turn_ = turns_.size();
  const auto is_view = [&](const Turn& turn) { return !turn.blocks && passes_[place(turn.passes[0])]->is_view(); };
  while (last_turn_ > 0 && is_view(turns_[last_turn_ - 1])) --last_turn_;
  if (last_turn_ == 0 || trace_.written.empty()) return;
  const Turn& turn = turns_[--last_turn_];
  for (const int number : turn.passes)
    if (const Pass& pass = *passes_[place(number)]; !pass.is_view() && (pass.step || may_throw(pass))) return;
  for (const auto& [input, id] : trace_.written) {
    const auto writes = [&, written = id](int number) {
      const std::vector<int>& made = passes_[place(number)]->writes;
      return std::find(made.begin(), made.end(), written) != made.end();
    };
    if (std::any_of(turn.passes.begin(), turn.passes.end(), writes)) last_writes_.emplace_back(input, id);
  }
  // A Program may take the place of what it reads, element by element, if nothing else is written.
  Pass& only = *passes_[place(turn.passes[0])];
  replaces_ = !turn.blocks && !only.fold_step && only.writes.size() == 1 && last_writes_.size() == 1 &&
              std::find(only.reads.begin(), only.reads.end(), last_writes_[0].first) != only.reads.end();
  if (replaces_ && trace_.values[place(only.writes[0])].meta.numel() > 0) plan(only, {.is_fresh = false});
}

void Graph::begin_last_writes(std::vector<Tensor>& tensors) const {
  const Turn& turn = turns_[last_turn_];
  for (const auto& [input, id] : last_writes_) {
    const Tensor& self = tensors[place(input)];
    const auto meets = [&](const Tensor& other) {
      return other.defined() && storages_meet(other.impl()->storage, self.impl()->storage);
    };
    const auto is_read = [&, replaced = replaces_ ? input : -1](int number) {
      const std::vector<int>& read = passes_[place(number)]->reads;
      return std::any_of(read.begin(), read.end(),
                         [&](int each) { return each != replaced && meets(tensors[place(each)]); });
    };
    const bool is_on_elements =
        reinterpret_cast<uintptr_t>(self.impl()->data()) % static_cast<uintptr_t>(self.itemsize()) == 0;
    const bool is_given = std::any_of(last_writes_.begin(), last_writes_.end(), [&, own = input](const auto& other) {
      return other.first != own && meets(tensors[place(other.first)]);
    });
    if (is_on_elements && !is_given && std::none_of(turn.passes.begin(), turn.passes.end(), is_read))
      tensors[place(id)] = self;
  }
}

void Graph::run_writes(std::size_t begin, std::vector<Tensor>& tensors) const {
  const Uninterrupted whole;
  if (!last_writes_.empty()) begin_last_writes(tensors);
  run_turns(begin, turns_.size(), tensors);
  for (const auto& [input, id] : trace_.written) {
    Tensor& self = tensors[place(input)];
    if (tensors[place(id)].is(self))
      bump_version(self);
    else
      run_copy(self, tensors[place(id)]);
    tensors[place(id)] = self;  // a result that is the argument
  }
}

}  // namespace tenon::fusion
