#include "fuse/graph.h"

#include <algorithm>

#include "dispatch/differentiate.h"
#include "plan/plan.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/run.h"

namespace tenon::fusion {
namespace {

std::size_t place(int number) { return static_cast<std::size_t>(number); }

// A Program holds at most so many steps: register numbers have 16 bits. A value that another part reads is in memory.
constexpr int kPartSteps = 512;
int part_of(int step) { return step / kPartSteps; }

/// Whether no other handle shares the tensor's elements.
bool is_held_once(const Tensor& tensor) {
  const TensorImpl* const base = tensor.impl()->base;
  return tensor.impl()->references == 1 && (!base || base->references == TensorImpl::kViewReference);
}

}  // namespace

/// One pass over memory: a Program, or the call of another op.
struct Graph::Pass {
  const GraphStep* step = nullptr;  // null: a Program
  std::vector<int> reads;           // values
  std::vector<int> writes;
  std::vector<int> dropped;  // values that no later pass reads

  Recorder recorder;  // holds the numbers
  Program program;
  std::vector<const void*> numbers;
  Plan plan;
  Schedule schedule;

  /// Plans for operands with the layouts of these tensors.
  void make(const std::vector<GraphValue>& values);
  /// Whether the tensors have the layouts that the plan is for: an op may give others than on meta.
  bool fits(const std::vector<GraphValue>& values, const std::vector<Tensor>& tensors) const;
  void run_program(const std::vector<GraphValue>& values, std::vector<Tensor>& tensors) const;
};

namespace {

/// Divides a trace into passes.
class Passes {
 public:
  explicit Passes(const GraphTrace& trace)
      : trace_(trace), is_needed_(trace.values.size(), false), is_there_(trace.values.size(), false) {
    find_needed();
    for (std::size_t id = 0; id < trace_.values.size(); ++id)
      is_there_[id] = trace_.values[id].kind != GraphValue::Kind::made;
  }

  /// Calls `program(results)` and `step(step)` in the order of the passes.
  template <class OnProgram, class OnStep>
  void for_each(const OnProgram& on_program, const OnStep& on_step) {
    for (std::size_t i = 0; i < trace_.steps.size(); ++i) {
      const GraphStep& step = trace_.steps[i];
      if (step.is_elementwise() || !is_any_needed(step)) continue;
      for (const int operand : step.operands) compute(operand, static_cast<int>(i), on_program);
      on_step(step);
      for (const int result : step.results) is_there_[place(result)] = true;
    }
    const int end = static_cast<int>(trace_.steps.size());
    for (const int result : trace_.results) compute(result, end, on_program);
    for (const auto& [input, result] : trace_.written) compute(result, end, on_program);
  }

  /// The values that a Program of these results reads, and the steps in it, in their order.
  void collect(const std::vector<int>& results, std::vector<int>& reads, std::vector<int>& steps) const {
    std::vector<bool> seen(trace_.values.size(), false);
    std::vector<int> left = results;
    while (!left.empty()) {
      const int id = left.back();
      left.pop_back();
      if (seen[place(id)]) continue;
      seen[place(id)] = true;
      if (is_there_[place(id)]) {
        reads.push_back(id);
        continue;
      }
      steps.push_back(trace_.values[place(id)].step);
      for (const int operand : step_of(id).operands) left.push_back(operand);
    }
    std::sort(reads.begin(), reads.end());
    std::sort(steps.begin(), steps.end());
  }

 private:
  const GraphStep& step_of(int id) const { return trace_.steps[place(trace_.values[place(id)].step)]; }
  const Tensor& meta_of(int id) const { return trace_.values[place(id)].meta; }
  bool is_any_needed(const GraphStep& step) const {
    return std::any_of(step.results.begin(), step.results.end(), [&](int id) { return is_needed_[place(id)]; });
  }
  bool is_lazy(int id) const { return !is_there_[place(id)] && step_of(id).is_elementwise(); }

  /// A value is needed in memory if it is a result, or an op reads it that is no instruction, or one of another part,
  /// or one of a larger shape: what is broadcast is computed at its own size.
  void find_needed() {
    std::vector<bool> is_used(trace_.values.size(), false);
    const auto need = [&](int id) { is_needed_[place(id)] = is_used[place(id)] = true; };
    for (const int id : trace_.results) need(id);
    for (const auto& [input, id] : trace_.written) need(id);
    for (std::size_t i = trace_.steps.size(); i-- > 0;) {
      const GraphStep& step = trace_.steps[i];
      const bool is_dead =
          std::none_of(step.results.begin(), step.results.end(), [&](int id) { return is_used[place(id)]; });
      if (is_dead) continue;
      for (const int operand : step.operands) {
        is_used[place(operand)] = true;
        if (!step.is_elementwise() || meta_of(operand).numel() < meta_of(step.results[0]).numel() ||
            part_of(trace_.values[place(operand)].step) != part_of(static_cast<int>(i)))
          need(operand);
      }
    }
    for (std::size_t id = 0; id < is_used.size(); ++id)  // an op of several results makes all of them
      if (is_used[id] && trace_.values[id].step >= 0 && !step_of(static_cast<int>(id)).is_elementwise())
        is_needed_[id] = true;
  }

  template <class OnProgram>
  void compute(int id, int before, const OnProgram& on_program) {
    if (!is_lazy(id)) return;
    std::vector<int> results = group_of(id, before);
    std::vector<int> reads, steps;
    collect(results, reads, steps);
    for (const int step : steps)
      for (const int operand : trace_.steps[place(step)].operands)
        if (is_needed_[place(operand)] && is_lazy(operand) && !are_together(operand, id))
          compute(operand, before, on_program);
    if (is_there_[place(id)]) return;
    on_program(results);
    for (const int result : results) is_there_[place(result)] = true;
  }

  /// The needed values that can be computed with `id`: before step `before`, from values that are there.
  std::vector<int> group_of(int id, int before) const {
    std::vector<int> group{id};
    for (std::size_t other = 0; other < trace_.values.size(); ++other) {
      const int number = static_cast<int>(other);
      if (number == id || !is_needed_[other] || !is_lazy(number) || trace_.values[other].step >= before) continue;
      if (are_together(number, id) && can_compute(number)) group.push_back(number);
    }
    std::sort(group.begin(), group.end());
    return group;
  }
  /// Whether two elementwise values may come from one Program.
  bool are_together(int a, int b) const {
    return meta_of(a).sizes() == meta_of(b).sizes() &&
           part_of(trace_.values[place(a)].step) == part_of(trace_.values[place(b)].step);
  }
  /// Whether all that an elementwise value depends on is there, or elementwise.
  bool can_compute(int id) const {
    std::vector<int> reads, steps;
    collect({id}, reads, steps);
    return std::all_of(steps.begin(), steps.end(),
                       [&](int step) { return trace_.steps[place(step)].is_elementwise(); });
  }

  const GraphTrace& trace_;
  std::vector<bool> is_needed_;
  std::vector<bool> is_there_;
};

}  // namespace

void Graph::Pass::make(const std::vector<GraphValue>& values) {
  std::vector<StridedView> strided;
  for (const std::vector<int>* ids : {&writes, &reads})
    for (const int id : *ids) strided.push_back({values[place(id)].meta.sizes(), values[place(id)].meta.strides()});
  strided.resize(strided.size() + numbers.size());
  const Tensor& result = values[place(writes[0])].meta;
  if (result.numel() == 0) return;
  make_plan(result.sizes(), strided.data(), static_cast<int64_t>(strided.size()), plan,
            static_cast<int64_t>(writes.size()));
  make_schedule(plan, program, Memory{}, schedule);
}

bool Graph::Pass::fits(const std::vector<GraphValue>& values, const std::vector<Tensor>& tensors) const {
  return std::all_of(reads.begin(), reads.end(),
                     [&](int id) { return tensors[place(id)].strides() == values[place(id)].meta.strides(); });
}

void Graph::Pass::run_program(const std::vector<GraphValue>& values, std::vector<Tensor>& tensors) const {
  std::vector<void*> outs;
  std::vector<const void*> inputs;
  for (const int id : writes) {
    const Tensor& meta = values[place(id)].meta;
    tensors[place(id)] = new_strided_tensor(meta.sizes(), meta.strides(), meta.dtype(), Device::cpu);
    outs.push_back(tensors[place(id)].impl()->data());
  }
  if (tensors[place(writes[0])].numel() == 0) return;
  for (const int id : reads) inputs.push_back(tensors[place(id)].impl()->data());
  inputs.insert(inputs.end(), numbers.begin(), numbers.end());
  if (fits(values, tensors)) return tenon::run(plan, program, schedule, outs.data(), inputs.data());
  std::vector<StridedView> strided;
  for (const std::vector<int>* ids : {&writes, &reads})
    for (const int id : *ids) strided.push_back({tensors[place(id)].sizes(), tensors[place(id)].strides()});
  strided.resize(strided.size() + numbers.size());
  Plan other;
  make_plan(tensors[place(writes[0])].sizes(), strided.data(), static_cast<int64_t>(strided.size()), other,
            static_cast<int64_t>(writes.size()));
  tenon::run(other, program, outs.data(), inputs.data());
}

Graph::~Graph() = default;

Graph::Graph(const TracedFunction& function, const List<Tensor>& inputs) : trace_(trace_graph(function, inputs)) {
  Passes passes(trace_);
  passes.for_each(
      [&](const std::vector<int>& results) {
        std::vector<int> reads, steps;
        passes.collect(results, reads, steps);
        add_program(results, std::move(reads), steps);
      },
      [&](const GraphStep& step) {
        Pass& pass = *passes_.emplace_back(std::make_unique<Pass>());
        pass.step = &step;
        pass.reads = step.operands;
        pass.writes = step.results;
      });
  note_last_reads();
  note_own_results();
}

void Graph::add_program(const std::vector<int>& results, std::vector<int> reads, const std::vector<int>& steps) {
  Pass& pass = *passes_.emplace_back(std::make_unique<Pass>());
  pass.writes = results;
  pass.reads = std::move(reads);
  std::vector<int> numbers(trace_.values.size(), -1);  // of the recorder's values
  for (std::size_t i = 0; i < pass.reads.size(); ++i) {
    pass.recorder.input(trace_.values[place(pass.reads[i])].meta);
    numbers[place(pass.reads[i])] = static_cast<int>(i);
  }
  const auto numbers_of = [&](const std::vector<int>& ids) {
    std::vector<int> all(ids.size());
    std::transform(ids.begin(), ids.end(), all.begin(), [&](int id) { return numbers[place(id)]; });
    return all;
  };
  for (const int number : steps) {
    const GraphStep& step = trace_.steps[place(number)];
    numbers[place(step.results[0])] = pass.recorder.append(step.calls, numbers_of(step.operands), step.recorded);
  }
  pass.program = pass.recorder.program(numbers_of(results), pass.numbers);
  pass.make(trace_.values);
}

void Graph::note_last_reads() {
  std::vector<bool> is_read(trace_.values.size(), false);
  for (const int id : trace_.results) is_read[place(id)] = true;
  for (const auto& [input, id] : trace_.written) is_read[place(input)] = is_read[place(id)] = true;
  for (std::size_t i = passes_.size(); i-- > 0;) {
    Pass& pass = *passes_[i];
    for (const std::vector<int>* ids : {&pass.reads, &pass.writes})
      for (const int id : *ids) {
        if (is_read[place(id)]) continue;
        is_read[place(id)] = true;
        pass.dropped.push_back(id);
      }
  }
}

/// The value of which a value is a view, or itself.
int Graph::root_of(int id) const {
  for (const GraphValue* value = &trace_.values[place(id)];
       value->kind == GraphValue::Kind::made && trace_.steps[place(value->step)].name == "view";
       value = &trace_.values[place(id)])
    id = trace_.steps[place(value->step)].operands[0];
  return id;
}

void Graph::note_own_results() {
  for (const int id : trace_.results) {
    const int root = root_of(id);
    const GraphValue& value = trace_.values[place(root)];
    if (value.kind == GraphValue::Kind::capture && is_held_once(value.capture)) copied_.push_back(root);
    for (const auto& [input, written] : trace_.written) gives_written_views_ |= root == written && id != root;
  }
}

bool Graph::can_run(const List<Tensor>& inputs) const {
  if (trace_.reads_recorded || gives_written_views_) return false;
  for (const auto& [input, id] : trace_.written) {
    const Tensor& self = inputs[place(input)];  // inputs are the first values
    const auto shares = [&](const Tensor& other) { return !other.is(self) && share_memory(other, self); };
    if (std::count_if(inputs.begin(), inputs.end(), [&](const Tensor& other) { return other.is(self); }) > 1)
      return false;
    if (std::any_of(inputs.begin(), inputs.end(), shares)) return false;
    for (const GraphValue& value : trace_.values)
      if (value.kind == GraphValue::Kind::capture && share_memory(value.capture, self)) return false;
  }
  return true;
}

int Graph::passes() const noexcept {
  return static_cast<int>(std::count_if(passes_.begin(), passes_.end(),
                                        [](const auto& pass) { return !pass->step || pass->step->name != "view"; }));
}

List<Tensor> Graph::run(const List<Tensor>& inputs) const {
  const NoGrad unrecorded;
  std::vector<Tensor> tensors(trace_.values.size());
  std::size_t next = 0;
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    const GraphValue& value = trace_.values[id];
    if (value.kind == GraphValue::Kind::input) tensors[id] = inputs[next++];
    if (value.kind == GraphValue::Kind::capture) tensors[id] = value.capture;
  }
  for (const int id : copied_) tensors[place(id)] = run_clone(tensors[place(id)], MemoryFormat::preserve);
  for (const auto& each : passes_) {
    const Pass& pass = *each;
    if (pass.step) {
      std::vector<Tensor> operands;
      for (const int id : pass.reads) operands.push_back(tensors[place(id)]);
      const List<Tensor> results = pass.step->run(operands.data());
      for (std::size_t i = 0; i < results.size(); ++i) tensors[place(pass.writes[i])] = results[i];
    } else {
      pass.run_program(trace_.values, tensors);
    }
    for (const int id : pass.dropped) tensors[place(id)] = Tensor();
  }
  for (const auto& [input, id] : trace_.written) {
    run_copy(tensors[place(input)], tensors[place(id)]);
    tensors[place(id)] = tensors[place(input)];  // a result that is the argument
  }
  List<Tensor> results;
  for (const int id : trace_.results) results.push_back(tensors[place(id)]);
  return results;
}

}  // namespace tenon::fusion
