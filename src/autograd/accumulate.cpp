#include "autograd/accumulate.h"

#include <cstring>

#include "dispatch/differentiate.h"
#include "plan/plan.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/run.h"

namespace tenon::autograd {
namespace {

bool is_dense(const TensorImpl& tensor) {
  return tensor.contiguous || is_non_overlapping_and_dense(tensor.sizes, tensor.strides);
}

/// Whether a gradient has the leaf's sizes. An older graph gives gradients of the leaf's former sizes.
bool has_sizes(const TensorImpl& leaf, const Tensor& grad) { return SizesView(leaf.sizes) == grad.sizes(); }

/// Whether a leaf's gradient has the leaf's strides if those are dense, else row-major ones.
/// PyTorch: torch/csrc/autograd/utils/grad_layout_contract.h
bool obeys_layout(const Tensor& grad, const TensorImpl& leaf) {
  if (!has_sizes(leaf, grad) || !is_dense(leaf)) return grad.is_contiguous();
  for (int64_t dim = 0; dim < grad.dim(); ++dim)
    if (grad.sizes()[dim] != 1 && grad.strides()[dim] != leaf.strides[dim]) return false;
  return true;
}

Tensor clone_for(const Tensor& grad, const TensorImpl& leaf) {
  const bool row_major = leaf.row_major || !is_dense(leaf) || !has_sizes(leaf, grad);
  if (row_major && !thread_modes.grad) return run_clone(grad, MemoryFormat::contiguous);
  Tensor copy = row_major ? new_tensor(grad.sizes(), grad.dtype(), grad.device())
                          : new_tensor(leaf.sizes, leaf.strides, grad.dtype(), grad.device());
  if (thread_modes.grad)
    copy.copy_(grad);
  else
    run_copy(copy, grad);
  return copy;
}

constexpr int64_t kOneRun = 32768;  // elements that one thread adds; see tenon_bench --filter '^grad/'

bool is_one_value(const TensorImpl& tensor) {
  for (int64_t dim = 0; dim < tensor.sizes.size(); ++dim)
    if (tensor.sizes[dim] != 1 && tensor.strides[dim] != 0) return false;
  return true;
}

/// Whether both have the same layout, or `by` is one repeated value.
bool lie_alike(const TensorImpl& grad, const TensorImpl& by) {
  if (grad.contiguous && by.contiguous) return true;
  if (!is_dense(grad)) return false;
  return is_one_value(by) || SizesView(grad.strides) == SizesView(by.strides);
}

/// Whether an addition is one loop over memory, without checks, allocation or recording.
bool is_plain(const TensorImpl& grad, const TensorImpl& by) {
  return !thread_modes.grad && grad.dtype == by.dtype && grad.device == Device::cpu && by.device == Device::cpu &&
         !share_memory(grad, by) && !grad.inference && SizesView(grad.sizes) == SizesView(by.sizes) &&
         lie_alike(grad, by) && kernel_of(Op::add, grad.dtype);
}

/// The result of `grad.add_(by)` for such operands.
void add_plainly(const Tensor& grad, const Tensor& by) {
  const TensorImpl& to = *grad.impl();
  const TensorImpl& from = *by.impl();
  const bool one_value = to.numel > 1 && is_one_value(from);
  if (to.numel <= kOneRun) {
    const Lanes lanes[] = {{to.data(), 1}, {from.data(), one_value ? 0 : 1}};
    kernel_of(Op::add, to.dtype)(to.data(), lanes, to.numel);
  } else {
    Program program;
    program.input(to.dtype);
    program.input(to.dtype);
    const int in[] = {0, 1};
    program.op(Op::add, to.dtype, to.dtype, 2, in);
    const int64_t numel = to.numel, step = 1, by_step = one_value ? 0 : 1;
    const SizesView sizes(&numel, 1);
    const StridedView strided[] = {{sizes, {&step, 1}}, {sizes, {&step, 1}}, {sizes, {&by_step, 1}}};
    Plan plan;
    make_plan(sizes, strided, 3, plan);
    const void* const inputs[] = {to.data(), from.data()};
    void* const out = to.data();
    run(plan, program, &out, inputs);
  }
  bump_version(grad);
}

/// Copies dims from `dim` on element by element. Allocates nothing.
void copy_elements(const TensorImpl& to, std::byte* out, const TensorImpl& from, const std::byte* in, int64_t dim) {
  const int64_t nbytes = itemsize(to.dtype);
  if (dim == to.sizes.size()) {
    std::memcpy(out, in, static_cast<std::size_t>(nbytes));
    return;
  }
  // exact: inside the two storages
  for (int64_t i = 0; i < to.sizes[dim]; ++i)
    copy_elements(to, out + i * to.strides[dim] * nbytes, from, in + i * from.strides[dim] * nbytes, dim + 1);
}

/// The first gradient of a leaf. It is not copied if no other tensor shares its elements.
Tensor first_gradient(const Tensor& grad, const TensorImpl& leaf) {
  if (thread_modes.grad) return clone_for(grad, leaf);
  if (is_owned_alone(grad) && obeys_layout(grad, leaf)) return grad.impl()->in_graph ? grad.detach() : grad;
  return clone_for(grad, leaf);
}

}  // namespace

bool is_owned_alone(const Tensor& tensor) {
  const TensorImpl* impl = tensor.impl();
  if (impl->references.load(std::memory_order_acquire) != 1) return false;
  if (impl->base && impl->base->references.load(std::memory_order_acquire) != TensorImpl::kViewReference) return false;
  return impl->storage && impl->storage->references.load(std::memory_order_acquire) == 1;
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : leaf_(leaf.impl()) {
  sequence = kAccumulates;
  references = &leaf_->references;
  add_input(leaf);
}

bool sums_into(const NodeImpl& accumulator, const TensorImpl& leaf) noexcept {
  const InputMeta& meta = accumulator.input(0);
  return meta.dtype == leaf.dtype && meta.device == leaf.device && SizesView(meta.sizes) == SizesView(leaf.sizes);
}

namespace {

/// Retires an accumulator that does not fit the leaf any more, but that graphs may still reach. Returns a former one
/// that fits, or null. If only one handle refers to the leaf, no graph does, and all are moved to `gone`.
NodeImpl* retire_accumulator(TensorImpl* leaf, std::vector<std::unique_ptr<NodeImpl>>& gone) {
  AutogradMeta& meta = *leaf->meta();
  const SpinLock lock(meta.lock);
  NodeImpl* const before = meta.accumulator.load(std::memory_order_acquire);
  if (!before || sums_into(*before, *leaf)) return before;  // another thread did it first
  if (!meta.former) meta.former = std::make_unique<FormerParts>();
  std::vector<std::unique_ptr<NodeImpl>>& former = meta.former->accumulators;
  former.reserve(former.size() + 1);
  former.emplace_back(before);
  meta.accumulator.store(nullptr, std::memory_order_release);
  if (leaf->references.load(std::memory_order_acquire) % TensorImpl::kViewReference == 1) gone.swap(former);
  for (std::unique_ptr<NodeImpl>& known : former) {
    if (!sums_into(*known, *leaf)) continue;
    NodeImpl* const again = known.release();
    meta.accumulator.store(again, std::memory_order_release);
    std::swap(known, former.back());
    former.pop_back();
    return again;
  }
  return nullptr;
}

}  // namespace

NodeImpl* accumulator_of(const Tensor& leaf, bool make) {
  if (!make && !leaf.impl()->meta()) return nullptr;
  std::vector<std::unique_ptr<NodeImpl>> gone;  // their destruction destroys hooks, which may run user code
  std::atomic<NodeImpl*>& place = meta_of(leaf).accumulator;
  NodeImpl* node = place.load(std::memory_order_acquire);
  if (node && make && !sums_into(*node, *leaf.impl())) node = retire_accumulator(leaf.impl(), gone);
  if (!node && make) {
    std::unique_ptr<NodeImpl> own = std::make_unique<AccumulateGrad>(leaf);
    // Another thread may have done it first.
    if (place.compare_exchange_strong(node, own.get(), std::memory_order_acq_rel)) node = own.release();
  }
  if (node) retain(node);
  return node;
}

AccumulateGrad::Accumulation AccumulateGrad::prepare(Tensor& gradient) const {
  constexpr int64_t kFew = 64;  // see tenon_bench --filter '^grad/'
  if (grad().is_empty()) {
    gradient = first_gradient(gradient, *leaf_);
    return Accumulation::first;
  }
  if (grad().takes(gradient)) return Accumulation::plain;
  // A small gradient with strides of 0 is added faster as a contiguous copy.
  if (gradient.numel() > kFew || gradient.is_contiguous() || gradient.is_meta()) return Accumulation::unsure;
  gradient = run_clone(gradient, MemoryFormat::contiguous);
  return grad().takes(gradient) ? Accumulation::plain : Accumulation::unsure;
}

void AccumulateGrad::add(Tensor& gradient, bool is_first) const {
  if (is_first && grad().replace({}, gradient)) return;
  while (!grad().add(gradient)) {  // another thread has changed the grad
    gradient = first_gradient(gradient, *leaf_);
    if (grad().replace({}, gradient)) return;
  }
}

bool GradSlot::takes(const Tensor& gradient) const {
  const SpinLock lock(lock_);
  return grad_.defined() && is_plain(*grad_.impl(), *gradient.impl());
}

bool GradSlot::add(const Tensor& gradient) {
  const SpinLock lock(lock_);
  if (!grad_.defined()) return false;
  if (is_plain(*grad_.impl(), *gradient.impl()))
    add_plainly(grad_, gradient);
  else
    grad_.add_(gradient);
  return true;
}

bool GradSlot::overwrite(const Tensor& expected, uint32_t version, const Tensor& by) noexcept {
  const SpinLock lock(lock_);
  if (!grad_.is(expected) || grad_.version() != version) return false;
  if (!grad_.is_meta()) copy_elements(*grad_.impl(), grad_.impl()->data(), *by.impl(), by.impl()->data(), 0);
  bump_version(grad_);
  return true;
}

}  // namespace tenon::autograd
