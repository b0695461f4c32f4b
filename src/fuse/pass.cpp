#include "fuse/pass.h"

#include <algorithm>

#include "dispatch/reduce.h"
#include "tensor/impl.h"
#include "tile/run.h"

namespace tenon::fusion {

void Pass::finish_fold(const Tensor& elements) {
  const FoldedElements folded =
      folded_elements(fold_step->fold->op, elements, *fold_step->row_dims, fold_step->fold->dtype);
  reduction = folded.reduction;
  program.finish(program.cast(program.cast(program.result(), folded.element), folded.accumulated));
}

void Pass::plan(SizesView shape, std::vector<StridedView> views, const Memory& memory, PlannedProgram& to) const {
  views.resize(views.size() + numbers.size());
  const auto count = static_cast<int64_t>(views.size());
  if (!fold_step) {
    make_plan(shape, views.data(), count, to.plan, static_cast<int64_t>(writes.size()));
    return make_schedule(to.plan, program, memory, to.schedule);
  }
  const Dims strides = spread_strides(views[0].strides, *fold_step->row_dims, fold_step->keeps_dims);
  views[0] = {shape, strides};
  make_reduction_plan(shape, views.data(), count, to.plan);
}

void Pass::run(const PlannedProgram& how, void* const* outs, const void* const* inputs) const {
  if (fold_step) return run_reduction(how.plan, program, reduction, outs[0], inputs);
  tenon::run(how.plan, program, how.schedule, outs, inputs);
}

bool Pass::fits(const std::vector<GraphValue>& values, const std::vector<Tensor>& tensors) const {
  return std::all_of(reads.begin(), reads.end(),
                     [&](int id) { return tensors[place(id)].strides() == values[place(id)].meta.strides(); });
}

void Pass::run(const std::vector<GraphValue>& values, std::vector<Tensor>& tensors) const {
  if (!step) return run_program(values, tensors);
  std::vector<Tensor> operands;
  if (reads.size() > 1)
    for (const int id : reads) operands.push_back(tensors[place(id)]);
  List<Tensor> results = step->compute(reads.size() == 1 ? &tensors[place(reads[0])] : operands.data());
  for (std::size_t i = 0; i < results.size(); ++i) tensors[place(writes[i])] = std::move(results[i]);
}

void Pass::run_program(const std::vector<GraphValue>& values, std::vector<Tensor>& tensors) const {
  SmallVector<void*, 8> outs;
  SmallVector<const void*, 16> inputs;
  bool on_lines = true;  // as a tensor that is made here
  for (const int id : writes) {
    const Tensor& meta = values[place(id)].meta;
    Tensor& result = tensors[place(id)];  // an argument, if it is there
    if (!result.defined()) result = new_strided_tensor(meta.sizes(), meta.strides(), meta.dtype(), Device::cpu);
    outs.push_back(result.impl()->data());
    on_lines &= reinterpret_cast<uintptr_t>(outs.back()) % kLine == 0;
  }
  if (tensors[place(writes[0])].numel() == 0) return;
  for (const int id : reads) inputs.push_back(tensors[place(id)].impl()->data());
  for (const void* const number : numbers) inputs.push_back(number);
  if (on_lines && fits(values, tensors)) return run(planned, outs.data(), inputs.data());
  PlannedProgram other;
  const auto view_of = [&](int id) {
    const Tensor& tensor = id == folded() ? values[place(id)].meta : tensors[place(id)];
    return StridedView{tensor.sizes(), tensor.strides()};
  };
  plan(view_of, Memory::of(program, outs.data(), inputs.data()), other);
  run(other, outs.data(), inputs.data());
}

}  // namespace tenon::fusion
