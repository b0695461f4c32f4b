// The node of elementwise ops. One class serves all; derivatives come from the op's block.
#include <cctype>
#include <string_view>

#include "autograd/derivative.h"
#include "autograd/flat.h"
#include "autograd/meta.h"
#include "autograd/note.h"
#include "autograd/recording.h"
#include "autograd/reduce_grad.h"
#include "autograd/zero_node.h"

namespace tenon {
namespace autograd {
namespace {

/// The first argument that may have a gradient. A condition has none.
int first_operand(const Row& row) { return row.promotion == Promotion::select ? 1 : 0; }

class OpNode final : public NodeImpl {
 public:
  OpNode(Op op, const char* name, const Derivative& derivative, Args args, int count)
      : op_(op), count_(static_cast<int8_t>(count)), reads_(static_cast<uint8_t>(derivative.shared)), name_(name) {
    const Row& row = row_of(op);
    first_ = static_cast<int8_t>(first_operand(row));
    const int operands = operand_count(row, count);
    Edge edges[kMaxArgs];
    for (int i = first_; i < operands; ++i) {
      if (!derivative.arguments[i].exists() || !args[i]->is_tensor()) continue;
      Edge& edge = edges[i - first_];
      edge = args[i]->tensor().impl()->in_graph ? gradient_edge(args[i]->tensor()) : Edge{};
      if (edge.node) reads_ = static_cast<uint8_t>(reads_ | derivative.arguments[i].reads);
    }
    set_edges(edges, operands - first_);
    for (int i = 0; i < count; ++i)
      if (!args[i]->is_tensor()) numbers_[i] = args[i]->number();
  }

  bool reads(int value) const noexcept { return (reads_ >> value & 1u) != 0; }
  void save(int value, const Tensor& tensor, SavedTensor::Role role = SavedTensor::Role::operand) {
    saved_[value].save(tensor, role);
  }
  const char* name() const noexcept override { return name_; }
  /// Completes the saved result of an in-place op after the write.
  void settle(const Tensor& self) noexcept { saved_[kResult].settle(self); }
  void release_saved() noexcept override {
    if (reads_ == 0) return;
    Tensor dropped[kMaxArgs + 1];  // destroyed after unlocking
    const SpinLock own(lock());
    for (int i = 0; i <= kResult; ++i) dropped[i] = saved_[i].take();
    for (int i = 0; i < operand_count(row_of(op_), count_); ++i)
      if (reads(i) && !saved_[i].is_saved()) saved_[i].free_number();
  }

  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    const Derivative::OfArgument* derivatives = derivative_of(op_).arguments + first_;
    bool computes = reads_ != 0;  // checks saved tensors even if no derivative reads them
    for (int i = 0; i < edge_count(); ++i) {
      if (!has_edge(i)) continue;
      if (derivatives[i].steps == 0)
        out[i] = grads[0];  // the engine sums it to the operand's shape
      else
        computes = true;
    }
    if (computes) compute(grads[0], derivatives, out);
  }

 private:
  /// Checks saved tensors in PyTorch's order (by name: max, min, other, self, then the result): the Error is about the
  /// first that was changed.
  void unpack(Given& given) {
    Tensor held[kMaxArgs + 1];
    bool is_saved[kMaxArgs + 1] = {};
    if (reads_ != 0) {
      const SpinLock own(lock());
      for (int i = 0; i <= kResult; ++i) {
        held[i] = saved_[i].held();
        is_saved[i] = saved_[i].is_saved();
      }
    }
    for (int i = count_ - 1; i >= 0; --i)
      given.values[i] = is_saved[i] ? Term(saved_[i].check(std::move(held[i]), this)) : Term(numbers_[i]);
    if (is_saved[kResult]) given.values[kResult] = saved_[kResult].check(std::move(held[kResult]), this);
  }
  void compute(const Tensor& grad, const Derivative::OfArgument* derivatives, Tensor* out) {
    Given given;
    given.gradient = grad;
    unpack(given);
    for (int i = 0; i < edge_count(); ++i)
      if (has_edge(i) && derivatives[i].steps > 0)
        out[i] = with_flat_history(op_, gradient(given, derivatives[i], edge(i)), edge(i));
  }
  static Tensor gradient(const Given& given, const Derivative::OfArgument& derivative, const Edge& edge) {
    if (thread_modes.grad || given.gradient.tensor().is_meta()) return derivative(given);
    const InputMeta& meta = edge.node->input(edge.input);
    const Tensor& grad = given.gradient.tensor();
    if (grad.numel() == 0) return derivative(given);  // the engine sums it to the operand's shape
    if (!is_expandable_to(meta.sizes, grad.sizes())) return derivative(given);
    return fused_gradient(given, derivative.reads, derivative, meta.sizes, meta.dtype);
  }

  Op op_;
  int8_t count_, first_;
  uint8_t reads_;
  const char* name_;
  SavedTensor saved_[kMaxArgs + 1];
  Scalar numbers_[kMaxArgs];
};

/// "EqBackward1": of an in-place op whose gradient is zeros.
std::string zero_node_name(const Row& row, Args args, int operands) {
  std::string name = std::string(row.name) + "Backward";
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name + (operands == 2 && args[1]->is_tensor() ? '1' : '0');
}

const char* node_name(const Row& row, Args args, int count) {
  if (row.grad_fn_of_first_number && !args[0]->is_tensor()) return row.grad_fn_of_first_number;
  const bool by_number = count > 1 && !args[1]->is_tensor();
  return by_number && row.grad_fn_of_number ? row.grad_fn_of_number : row.grad_fn;
}

void save_arguments(OpNode& node, Args args, int count) {
  for (int i = 0; i < count; ++i)
    if (node.reads(i) && args[i]->is_tensor()) node.save(i, args[i]->tensor());
}

/// Ops that PyTorch declares not differentiable, instead of with gradient zeros. They are never recorded, not even in
/// place.
bool is_outside_graphs(const Row& row) { return row.promotion == Promotion::logical; }
/// Whether results are truth values. Then `out=` may require grad.
bool gives_truths(const Row& row) { return is_outside_graphs(row) || row.promotion == Promotion::comparison; }

/// Copies of views, whose out= forms PyTorch does not differentiate either, but calls by another name.
bool is_copy_of_view(const Row& row) {
  return std::string_view(row.name) == "as_strided_copy" ||
         (row.grad_fn && std::string_view(row.grad_fn).ends_with("_copy"));
}

/// The check for an op that is never recorded: only `out` matters.
void check_unknown_out(Op op, const Tensor& out) {
  check_inplace(out, false);
  if (!is_recorded(out)) return;
  throw Error(std::string("aten::") + row_of(op).name +
              "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
              "requires grad.");
}

}  // namespace
}  // namespace autograd

using namespace autograd;

Tensor recording::elementwise(Op op, Args args, int count) {
  const Derivative& derivative = derivative_of(op);
  if (!derivative.exists) return run_elementwise(op, args, count);
  Node handle(new OpNode(op, node_name(row_of(op), args, count), derivative, args, count));
  OpNode& node = *static_cast<OpNode*>(handle.impl());
  save_arguments(node, args, count);
  Tensor result = run_elementwise(op, args, count);
  if (result.requires_grad() || !is_inexact(result.dtype())) return result;
  note_call(node, row_of(op).name, args, count);
  attach(result, std::move(handle));
  if (node.reads(kResult)) node.save(kResult, result, SavedTensor::Role::result);
  return result;
}

Tensor& recording::inplace(Op op, Tensor& self, Args args, int count) {
  const Derivative& derivative = derivative_of(op);
  const bool recorded = is_recorded(args, count) && is_inexact(self.dtype()) && !is_outside_graphs(row_of(op));
  check_inplace(self, recorded);
  if (!recorded) return run_inplace(op, self, args, count);
  if (!derivative.exists) {
    const int operands = operand_count(row_of(op), count);
    InplaceHistory history(self, Node(new ZeroNode(zero_node_name(row_of(op), args, operands), args, operands)));
    run_inplace(op, self, args, count);
    history.commit();
    return self;
  }
  const Row& row = row_of(op);
  const char* name = row.grad_fn_inplace ? row.grad_fn_inplace : node_name(row, args, count);
  Node handle(new OpNode(op, name, derivative, args, count));
  OpNode& node = *static_cast<OpNode*>(handle.impl());
  // The derivative reads self, which is overwritten, so a copy is saved. If the op fails, nothing has changed.
  if (node.reads(0)) node.save(0, self.clone());
  for (int i = 1; i < count; ++i)
    if (node.reads(i) && args[i]->is_tensor()) node.save(i, args[i]->tensor(), role_beside(self, args[i]->tensor()));
  if (node.reads(kResult)) node.save(kResult, self, SavedTensor::Role::result);
  note_call(node, row.name, args, count);
  InplaceHistory history(self, std::move(handle));
  run_inplace(op, self, args, count);
  history.commit();
  if (node.reads(kResult)) node.settle(self);
  return self;
}

void recording::check_out(Op op, const Tensor& out, Args args, int count) {
  if (gives_truths(row_of(op)))
    check_inplace(out, false);
  else if (row_of(op).kind == Kind::map && !has_several_results(row_of(op)) && !derivative_of(op).exists)
    check_unknown_out(op, out);
  else if (is_copy_of_view(row_of(op)))
    check_named_out((std::string("aten::") + row_of(op).name).c_str(), out, args, count);
  else
    check_named_out(row_of(op).name, out, args, count);
}

void recording::check_named_out(const char* name, const Tensor& out, Args args, int count) {
  check_inplace(out, false);
  if (!is_recorded(args, count) && !is_recorded(out)) return;
  throw Error(std::string(name) +
              "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
              "requires grad.");
}

void recording::check(Op op, const Tensor* out, const Tensor* self, Args args, int count) {
  if (out) check_out(op, *out, args, count);
  if (self) check_inplace(*self, is_recorded(args, count) && is_inexact(self->dtype()));
}

void recording::check_resizable(const Tensor& self, SizesView sizes) {
  if (self.requires_grad()) throw Error("cannot resize variables that require grad");
  if (self.sizes() != sizes) check_inplace(self, false);
}

}  // namespace tenon
