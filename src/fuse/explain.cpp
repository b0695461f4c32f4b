// What a traced function runs, as text.
#include <algorithm>

#include "base/bytes_text.h"
#include "fuse/blocks.h"
#include "ops/row.h"
#include "tensor/impl.h"

namespace tenon::fusion {
namespace {

/// Of the elements that a value has in memory: an expanded dim has one.
int64_t bytes_in_memory(const Tensor& meta) {
  int64_t bytes = meta.itemsize();
  for (int64_t dim = 0; dim < meta.dim(); ++dim)
    if (meta.stride(dim) != 0) bytes *= meta.size(dim);  // exact: of a tensor
  return bytes;
}

}  // namespace

std::string Graph::described(const Pass& pass) const {
  std::string text;
  if (pass.step) {
    text = pass.step->name;
  } else {
    for (const Instruction& instruction : pass.program.instructions())
      text += (text.empty() ? "" : ", ") + std::string(instruction.is_cast ? "cast" : row_of(instruction.op).name);
    if (pass.fold_step) text += (text.empty() ? "" : ", ") + pass.fold_step->name;
  }
  text += " -> ";
  for (std::size_t i = 0; i < pass.writes.size(); ++i) {
    const Tensor& meta = trace_.values[place(pass.writes[i])].meta;
    text += (i == 0 ? "" : ", ") + std::string(dtype_name(meta.dtype())) + to_string(meta.sizes());
  }
  return text;
}

std::string Graph::explain() const {
  const auto bytes_of_value = [&](int id) { return bytes_in_memory(trace_.values[place(id)].meta); };
  std::string text;
  int64_t moved = 0, scratch = 0, number = 0;
  for (const Turn& turn : turns_) {
    if (!turn.blocks && passes_[place(turn.passes[0])]->is_view()) continue;
    std::vector<int> read, written;
    for (const int each : turn.passes) {
      const Pass& pass = *passes_[place(each)];
      for (const int id : pass.reads)
        if (std::find(written.begin(), written.end(), id) == written.end()) read.push_back(id);
      written.insert(written.end(), pass.writes.begin(), pass.writes.end());
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const int id : read) moved += bytes_of_value(id);
    for (const int id : written)
      if (!turn.blocks || turn.blocks->lasts(id)) moved += bytes_of_value(id);
    text += "pass " + std::to_string(++number);
    if (turn.blocks) text += ", " + turn.blocks->described();
    text += "\n";
    if (turn.blocks) scratch = std::max(scratch, turn.blocks->scratch_bytes());
    for (const int each : turn.passes)
      if (!passes_[place(each)]->is_view()) text += "  " + described(*passes_[place(each)]) + "\n";
  }
  int64_t op_by_op = 0;
  for (const GraphStep& step : trace_.steps) {
    if (step.name == "view") continue;
    for (const std::vector<int>* ids : {&step.operands, &step.results})
      for (const int id : *ids) op_by_op += bytes_of_value(id);
  }
  const auto readable = [](int64_t nbytes) { return bytes_text(static_cast<double>(nbytes)); };
  return text + "moves " + readable(moved) + ", op by op " + readable(op_by_op) + "; scratch " + readable(scratch) +
         " a thread\n";
}

}  // namespace tenon::fusion
