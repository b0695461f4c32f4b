// The node of algorithms. One class serves all; derivatives come from the op's block.
#include <algorithm>
#include <vector>

#include "autograd/derivative.h"
#include "autograd/flat.h"
#include "autograd/meta.h"
#include "autograd/note.h"
#include "autograd/recording.h"
#include "dispatch/algorithm.h"
#include "tenon/factories.h"

namespace tenon {
namespace autograd {
namespace {

constexpr int kResultBit = Algorithm::kResults;

/// Whether an operand was not left out.
bool is_given(const Value& value) { return value.is_tensor() && value.tensor().defined(); }

bool is_column_major(const Tensor& tensor) {
  return tensor.dim() == 2 && tensor.stride(0) == 1 && tensor.stride(1) == tensor.size(0);
}

class CallNode final : public NodeImpl {
 public:
  CallNode(Op op, const Value* values) : op_(op), schema_(schema_of(op)), values_(values, values + schema_.count) {
    if (schema_.first[0].is_list()) {
      join_edges(values_[0]);
      return;
    }
    Edge edges[kMaxArgs];
    int count = 0, operand = 0;
    for (int i = 0; i < schema_.count; ++i) {
      if (!schema_.first[i].is_operand()) continue;
      Value& value = values_[static_cast<std::size_t>(i)];
      if (call_derivative_of(op).formulas[operand]) {
        Edge& edge = edges[count];
        if (is_given(value) && value.tensor().impl()->in_graph) edge = gradient_edge(value.tensor());
        if (edge.node) reads_ |= algorithm_of(op).reads[operand];
        if (count == 0) sizes_ = SavedSizes(value.tensor(), edge);
        operands_[count++] = operand;
      }
      if (is_given(value) && is_column_major(value.tensor())) column_major_ |= 1u << operand;
      ++operand;
      value = Value();  // values that are read are saved
    }
    set_edges(edges, count);
  }

  const char* name() const noexcept override {
    const Row& row = row_of(op_);
    return row.grad_fn_of_keyword && has_keyword() ? row.grad_fn_of_keyword : row.grad_fn;
  }
  void save_operands(const Value* values) {
    save_operands(values, [](const Tensor& operand, SavedTensor& saved) { saved.save(operand); });
  }
  /// For an in-place op: saves operands before `self` is overwritten.
  void save_operands_beside(const Tensor& self, const Value* values) {
    save_operands(values, [&](const Tensor& operand, SavedTensor& saved) {
      if (&saved == saved_operands_)
        saved.save(self.clone());
      else
        saved.save(operand, role_beside(self, operand));
    });
  }
  void save_results(const List<Tensor>& results) {
    saved_results_ = std::vector<SavedTensor>(results.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(results.size(), kResultBit); ++i)
      if (reads_ >> (static_cast<std::size_t>(kResultBit) + i) & 1u)
        saved_results_[i].save(results[i], SavedTensor::Role::result);
  }
  /// Completes the saved result of an in-place op after the write.
  void settle(const Tensor& self) noexcept {
    if (!saved_results_.empty() && saved_results_[0].is_saved()) saved_results_[0].settle(self);
  }
  void release_saved() noexcept override {
    for (SavedTensor* saved = saved_operands_; saved != saved_operands_ + kMaxArgs; ++saved) drop(*saved);
    for (SavedTensor& saved : saved_results_) drop(saved);
  }

  void apply(const Tensor* grads, Tensor* out) override {
    if (std::none_of(grads, grads + input_count(), [](const Tensor& grad) { return grad.defined(); })) return;
    const Tensors all = materialized(grads), results = unpacked(saved_results_.data(), saved_results_.size()),
                  operands = unpacked(saved_operands_, kMaxArgs);
    const SizesView sizes = has_edge(0) ? sizes_.of(edge(0)) : SizesView();
    unsigned came = 0;
    constexpr int kBits = 32;  // ops with more results do not ask
    for (int i = 0; i < std::min(input_count(), kBits); ++i) came |= grads[i].defined() ? 1u << i : 0u;
    const auto of_list = call_derivative_of(op_).of_list;
    const CallGiven given(schema_, values_.data(), operands.data(), results.data(),
                          std::span<const Tensor>(all.data(), all.size()), came, sizes, column_major_, part_sizes_,
                          of_list ? 0 : wanted_operands());
    if (of_list) return give_parts(of_list(given), out);
    for (int i = 0; i < edge_count(); ++i)
      if (has_edge(i)) out[i] = with_flat_history(op_, call_derivative_of(op_).formulas[operands_[i]](given), edge(i));
  }

 private:
  /// Bit i: the gradient of operand i is needed.
  unsigned wanted_operands() const noexcept {
    unsigned wanted = 0;
    for (int i = 0; i < edge_count(); ++i) wanted |= has_edge(i) ? 1u << operands_[i] : 0u;
    return wanted;
  }
  void give_parts(List<Tensor> parts, Tensor* out) const {
    for (int i = 0; i < edge_count(); ++i)
      if (has_edge(i)) out[i] = std::move(parts[static_cast<std::size_t>(i)]);
  }
  /// For an op of a list of tensors: its derivative reads only their sizes.
  void join_edges(Value& list) {
    std::vector<Edge> edges;
    for (const Tensor& tensor : list.tensors()) {
      edges.push_back(tensor.impl()->in_graph ? gradient_edge(tensor) : Edge());
      part_sizes_.push_back(tensor.sizes().copy());
    }
    list = Value();
    set_edges(edges.data(), static_cast<int>(edges.size()));
  }
  bool has_keyword() const noexcept {
    for (int i = 0; i < schema_.count; ++i)
      if (schema_.first[i].keyword_only && !values_[static_cast<std::size_t>(i)].is_empty()) return true;
    return false;
  }
  template <class Save>
  void save_operands(const Value* values, const Save& save) {
    int operand = 0;
    for (int i = 0; i < schema_.count; ++i) {
      if (!schema_.first[i].is_operand()) continue;
      if ((reads_ >> operand & 1u) != 0 && is_given(values[i])) save(values[i].tensor(), saved_operands_[operand]);
      ++operand;
    }
  }
  void drop(SavedTensor& saved) noexcept {
    Tensor dropped;  // destroyed after unlocking
    const SpinLock own(lock());
    dropped = saved.take();
  }
  Tensors unpacked(const SavedTensor* saved, std::size_t count) {
    Tensors tensors(count);
    for (std::size_t i = 0; i < count; ++i)
      if (saved[i].is_saved()) tensors[i] = saved[i].unpack(this);
    return tensors;
  }
  Tensors materialized(const Tensor* grads) const {
    Tensors all(grads, grads + input_count());
    for (int i = 0; i < input_count(); ++i) {
      Tensor& grad = all[static_cast<std::size_t>(i)];
      if (!grad.defined()) grad = zeros(input(i).sizes, Options(input(i).dtype, input(i).device));
    }
    return all;
  }

  Op op_;
  const Schema& schema_;
  std::vector<Value> values_;  // of the parameters that are not operands
  int operands_[kMaxArgs];     // the operand of each edge; unused for an op of a list
  uint32_t reads_ = 0;
  SavedSizes sizes_;              // of the first operand
  unsigned column_major_ = 0;     // bit i: operand i
  std::vector<Dims> part_sizes_;  // of each of a list of tensors
  SavedTensor saved_operands_[kMaxArgs];
  std::vector<SavedTensor> saved_results_;
};

void note(NodeImpl& node, Op op, const Value* values) {
  if (!anomaly_mode.enabled) [[likely]]
    return;
  const Schema& schema = schema_of(op);
  std::vector<Arg> operands;
  for (int i = 0; i < schema.count; ++i) {
    if (schema.first[i].is_operand() && (is_given(values[i]) || values[i].is_number()))
      operands.push_back(values[i].arg());
    if (schema.first[i].is_list())
      for (const Tensor& tensor : values[i].tensors()) operands.emplace_back(tensor);
  }
  std::vector<const Arg*> args;
  args.reserve(operands.size());
  for (const Arg& operand : operands) args.push_back(&operand);
  write_note(node, schema.name, args.data(), static_cast<int>(args.size()));
}

}  // namespace
}  // namespace autograd

using namespace autograd;

List<Tensor> recording::call(Op op, const Value* values) {
  Node handle(new CallNode(op, values));
  CallNode& node = *static_cast<CallNode*>(handle.impl());
  node.save_operands(values);
  List<Tensor> results = algorithm_of(op).run(values);
  if (results.size() == 1 && !is_inexact(results[0].dtype()))
    throw Error(std::string("Autograd not support dtype: ") + scalar_type_name(results[0].dtype()));
  note(node, op, values);
  for (std::size_t i = 0; i < results.size(); ++i) {
    node.add_input(results[i]);
    if (!is_inexact(results[i].dtype())) continue;
    retain(&node);
    set_history(results[i], Node(&node), static_cast<int32_t>(i));
  }
  node.save_results(results);
  return results;
}

void recording::call_inplace(Op op, const Value* values) {
  const Schema& schema = schema_of(op);
  const Tensor self = values[0].tensor();
  bool recorded = false;
  for (int i = 0, operand = 0; i < schema.count; ++i)
    if (schema.first[i].is_operand() && call_derivative_of(op).formulas[operand++])
      recorded |= values[i].is_tensor() && is_recorded(values[i].tensor());
  recorded = recorded && is_inexact(self.dtype());
  check_inplace(self, recorded);
  if (!recorded) return algorithm_of(op).inplace(values);
  Node handle(new CallNode(op, values));
  CallNode& node = *static_cast<CallNode*>(handle.impl());
  node.save_operands_beside(self, values);
  node.save_results({self});
  note(node, op, values);
  InplaceHistory history(self, std::move(handle));
  algorithm_of(op).inplace(values);
  history.commit();
  node.settle(self);
}

}  // namespace tenon
