#include "fuse/graph.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <string_view>

#include "dispatch/differentiate.h"
#include "fuse/blocks.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"

namespace tenon::fusion {
namespace {

// A Program holds at most so many steps: register numbers have 16 bits. A value that another part reads is in memory.
constexpr int kPartSteps = 512;
int part_of(int step) { return step / kPartSteps; }

uint64_t next_number() noexcept {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

TensorImpl* base_of(const Tensor& tensor) { return tensor.impl()->base ? tensor.impl()->base : tensor.impl(); }

// A pass reads so few elements from the first-level cache.
constexpr int64_t kFewElements = 1024;

// So few elements are in the first-level cache: to fold them while they are computed takes longer than a pass of their
// own. Bench: tenon_bench --filter '^fuse/layer_norm by hand/(few|L1)'.
constexpr int64_t kFewFolded = 2048;

/// Whether the tensor holds one number many times, as zeros() and full() give.
bool is_one_number(const Tensor& tensor) {
  if (tensor.impl()->base || !tensor.is_contiguous() || tensor.numel() <= kFewElements) return false;
  const auto* const data = static_cast<const std::byte*>(tensor.impl()->data());
  const auto size = static_cast<std::size_t>(tensor.nbytes()), item = static_cast<std::size_t>(tensor.itemsize());
  return std::memcmp(data, data + item, size - item) == 0;
}

/// Divides a trace into passes.
class Passes {
 public:
  explicit Passes(const GraphTrace& trace)
      : trace_(trace), is_needed_(trace.values.size(), false), is_there_(trace.values.size(), false) {
    find_needed();
    keep_functions();
    find_folds();
    for (std::size_t id = 0; id < trace_.values.size(); ++id)
      is_there_[id] = trace_.values[id].kind != GraphValue::Kind::made;
  }

  /// Calls `program(results)`, `fold(step)` and `step(step)` in the order of the passes.
  template <class OnProgram, class OnFold, class OnStep>
  void for_each(const OnProgram& on_program, const OnFold& on_fold, const OnStep& on_step) {
    for (std::size_t i = 0; i < trace_.steps.size(); ++i) {
      const GraphStep& step = trace_.steps[i];
      if (step.is_elementwise() || !is_any_needed(step)) continue;
      if (folds_[i]) {
        compute_needed(
            {step.operands[0]}, [](int) { return true; }, static_cast<int>(i), on_program);
        on_fold(step);
      } else {
        for (const int operand : step.operands) compute(operand, static_cast<int>(i), on_program);
        on_step(step);
      }
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
  bool is_any_used(const GraphStep& step) const {
    return std::any_of(step.results.begin(), step.results.end(), [&](int id) { return is_used_[place(id)]; });
  }
  bool is_lazy(int id) const { return !is_there_[place(id)] && step_of(id).is_elementwise(); }

  /// A value is needed in memory if it is a result, or an op reads it that is no instruction, or one of another part,
  /// or one of a larger shape: what is broadcast is computed at its own size.
  void find_needed() {
    std::vector<bool>& is_used = is_used_;
    is_used.resize(trace_.values.size(), false);
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

  /// What several Programs would compute, because reductions lie between them, is needed in memory, too, if it takes
  /// longer than a load and a store: passes over the same rows have it in the cache.
  void keep_functions() {
    struct Levels {
      int first = std::numeric_limits<int>::max(), last = -1;
    };
    std::vector<int> level(trace_.values.size(), 0);  // of the Program that computes it: reductions before it
    for (const GraphStep& step : trace_.steps) {
      int before = 0;
      for (const int operand : step.operands) before = std::max(before, level[place(operand)]);
      if (!step.is_elementwise()) ++before;
      for (const int result : step.results) level[place(result)] = before;
    }
    std::vector<Levels> read(trace_.values.size());  // by Programs
    for (std::size_t i = trace_.steps.size(); i-- > 0;) {
      const GraphStep& step = trace_.steps[i];
      if (!is_any_used(step)) continue;
      const std::size_t id = place(step.results[0]);
      if (step.is_function && read[id].first < read[id].last) is_needed_[id] = true;
      const bool is_inside = step.is_elementwise() && !is_needed_[id];
      for (const int operand : step.operands) {
        const int own = step.is_elementwise() ? level[id] : level[place(operand)];
        Levels& levels = read[place(operand)];
        levels.first = std::min(levels.first, is_inside ? read[id].first : own);
        levels.last = std::max(levels.last, is_inside ? read[id].last : own);
      }
    }
  }

  /// Computes what a Program of these results depends on and is needed in memory, where `is_apart(id)`.
  template <class IsApart, class OnProgram>
  void compute_needed(const std::vector<int>& results, const IsApart& is_apart, int before,
                      const OnProgram& on_program) {
    std::vector<int> reads, steps;
    collect(results, reads, steps);
    for (const int step : steps)
      for (const int operand : trace_.steps[place(step)].operands)
        if (is_needed_[place(operand)] && is_lazy(operand) && is_apart(operand)) compute(operand, before, on_program);
  }

  /// Elements that only a reduction reads are folded while they are computed, if that repeats cheap ops only.
  void find_folds() {
    folds_.resize(trace_.steps.size(), false);
    std::vector<int> uses(trace_.values.size(), 0);
    for (const GraphStep& step : trace_.steps)
      if (is_any_used(step))
        for (const int operand : step.operands) ++uses[place(operand)];
    for (const int id : trace_.results) uses[place(id)] += 2;
    for (const auto& [input, id] : trace_.written) uses[place(id)] += 2;
    for (std::size_t i = 0; i < trace_.steps.size(); ++i) {
      const GraphStep& step = trace_.steps[i];
      if (!step.fold || !is_any_used(step)) continue;
      const int id = step.operands[0];
      const GraphValue& value = trace_.values[place(id)];
      if (value.step < 0 || !step_of(id).is_elementwise() || uses[place(id)] != 1 || value.meta.numel() <= kFewFolded ||
          part_of(value.step) != part_of(static_cast<int>(i)) || repeats_work(id, uses))
        continue;
      folds_[i] = true;
      is_needed_[place(id)] = false;
    }
  }
  /// Whether computing a value apart from others repeats what is not cheap: what they use, and all that it is made of.
  bool repeats_work(int id, const std::vector<int>& uses) const {
    enum { no, once, again };
    std::vector<int> seen(trace_.values.size(), no);
    std::vector<std::pair<int, bool>> left{{id, false}};  // values, and whether they are repeated
    while (!left.empty()) {
      const auto [value, is_repeated] = left.back();
      left.pop_back();
      for (const int operand : step_of(value).operands) {
        if (is_needed_[place(operand)] || trace_.values[place(operand)].step < 0) continue;
        const bool repeats = is_repeated || uses[place(operand)] > 1;
        if (!step_of(operand).is_elementwise() || seen[place(operand)] >= (repeats ? again : once)) continue;
        if (repeats && !is_cheap(step_of(operand))) return true;
        seen[place(operand)] = repeats ? again : once;
        left.emplace_back(operand, repeats);
      }
    }
    return false;
  }
  static bool is_cheap(const GraphStep& step) {
    static constexpr std::string_view kCheap[] = {"add", "sub", "rsub",    "mul",    "neg",
                                                  "abs", "to",  "maximum", "minimum"};
    return std::find(std::begin(kCheap), std::end(kCheap), step.name) != std::end(kCheap);
  }

  template <class OnProgram>
  void compute(int id, int before, const OnProgram& on_program) {
    if (!is_lazy(id)) return;
    std::vector<int> results = group_of(id, before);
    compute_needed(
        results, [&](int operand) { return !are_together(operand, id); }, before, on_program);
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
  std::vector<bool> is_used_;    // by a result
  std::vector<bool> is_needed_;  // in memory
  std::vector<bool> is_there_;
  std::vector<bool> folds_;  // of each step: whether it folds what is computed for it
};

}  // namespace

Graph::~Graph() = default;

Graph::Graph(GraphTrace trace, int64_t block_bytes)
    : number_(next_number()), block_bytes_(block_bytes), trace_(std::move(trace)) {
  note_captures();
  shrink_constants();
  write_sources_of_copies(trace_);
  merge_repeated_steps(trace_);
  narrow_expanded_steps(trace_);
  for (const GraphValue& value : trace_.values) most_elements_ = std::max(most_elements_, value.meta.numel());
  Passes passes(trace_);
  passes.for_each(
      [&](const std::vector<int>& results) {
        std::vector<int> reads, steps;
        passes.collect(results, reads, steps);
        add_program(results, std::move(reads), steps);
      },
      [&](const GraphStep& fold) {
        std::vector<int> reads, steps;
        passes.collect({fold.operands[0]}, reads, steps);
        add_fold(fold, std::move(reads), steps);
      },
      [&](const GraphStep& step) {
        Pass& pass = *passes_.emplace_back(std::make_unique<Pass>());
        pass.step = &step;
        pass.reads = step.operands;
        pass.writes = step.results;
      });
  make_turns();
  note_last_reads();
  note_last_writes();
  note_own_results();
  note_only_program();
}

void Graph::add_program(const std::vector<int>& results, std::vector<int> reads, const std::vector<int>& steps) {
  Pass& pass = *passes_.emplace_back(std::make_unique<Pass>());
  pass.writes = results;
  pass.reads = std::move(reads);
  record(pass, results, steps);
}

void Graph::add_fold(const GraphStep& fold, std::vector<int> reads, const std::vector<int>& steps) {
  Pass& pass = *passes_.emplace_back(std::make_unique<Pass>());
  pass.fold_step = &fold;
  pass.writes = fold.results;
  pass.reads = std::move(reads);
  record(pass, fold.operands, steps);
}

void Graph::record(Pass& pass, const std::vector<int>& results, const std::vector<int>& steps) const {
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
  if (pass.fold_step) pass.finish_fold(trace_.values[place(pass.folded())].meta);
  pass.program.join_chains();
  if (trace_.values[place(results[0])].meta.numel() > 0) plan(pass, Memory{});
}

void Graph::plan(Pass& pass, const Memory& memory) const {
  pass.planned = {};
  pass.plan(
      [&](int id) {
        const Tensor& meta = trace_.values[place(id)].meta;
        return StridedView{meta.sizes(), meta.strides()};
      },
      memory, pass.planned);
}

void Graph::note_last_reads() {
  std::vector<bool> is_read(trace_.values.size(), false);
  for (const int id : trace_.results) is_read[place(id)] = true;
  for (const auto& [input, id] : trace_.written) is_read[place(input)] = is_read[place(id)] = true;
  for (std::size_t i = turns_.size(); i-- > 0;)
    for (const int number : turns_[i].passes)
      for (const std::vector<int>* ids : {&passes_[place(number)]->reads, &passes_[place(number)]->writes})
        for (const int id : *ids) {
          if (is_read[place(id)]) continue;
          is_read[place(id)] = true;
          turns_[i].dropped.push_back(id);
        }
}

bool Graph::is_own(const TensorImpl* base) const {
  uint64_t held = 0;  // by captures
  for (const int id : captures_) {
    const TensorImpl* const impl = trace_.values[place(id)].capture.impl();
    if (impl != base && impl->base != base) continue;
    if (impl != base && impl->references != 1) return false;
    held += impl == base ? 1 : TensorImpl::kViewReference;
  }
  for (const Own& own : own_) held += own.base.impl() == base ? 1 : 0;
  return base->references == held;
}

void Graph::add_own_result(int id) {
  TensorImpl* const base = base_of(trace_.values[place(id)].capture);
  auto own = std::find_if(own_.begin(), own_.end(), [&](const Own& each) { return each.base.impl() == base; });
  if (own == own_.end()) {
    base->references.fetch_add(1, std::memory_order_relaxed);
    own = own_.insert(own, {.base = Tensor(base)});
  }
  own->values.push_back(id);
}

void Graph::renew_own_results(std::vector<Tensor>& tensors) const {
  for (const Own& own : own_) {
    Tensor copy = empty_strided(own.base.sizes(), own.base.strides(), own.base.dtype());
    run_copy(copy, own.base);
    for (const int id : own.values) {
      const Tensor& capture = trace_.values[place(id)].capture;
      if (capture.is(own.base)) {
        tensors[place(id)] = copy;
        continue;
      }
      const Tensor cast = capture.dtype() == copy.dtype() ? copy : copy.view(capture.dtype());
      tensors[place(id)] = new_view(cast, capture.sizes(), capture.strides(), capture.storage_offset());
    }
  }
}

void Graph::note_captures() {
  for (std::size_t id = 0; id < trace_.values.size(); ++id)
    if (trace_.values[id].kind == GraphValue::Kind::capture) captures_.push_back(static_cast<int>(id));
}

void Graph::shrink_constants() {
  std::vector<bool> is_memory(trace_.values.size(), false);  // something looks at the memory itself
  for (const int id : trace_.results) is_memory[place(id)] = true;
  for (const GraphStep& step : trace_.steps)
    if (!step.is_elementwise())
      for (const int id : step.operands) is_memory[place(id)] = true;
  for (const int id : captures_) {
    GraphValue& value = trace_.values[place(id)];
    if (is_memory[place(id)] || !is_one_number(value.capture) || !is_own(value.capture.impl())) continue;
    value.capture = value.capture.as_strided({1}, {1}).clone().view({}).expand(value.capture.sizes());
    value.meta =
        empty_strided(value.capture.sizes(), value.capture.strides(), Options(value.capture.dtype(), Device::meta));
  }
}

void Graph::note_own_results() {
  for (const int id : trace_.results) {
    const int root = root_of(trace_, id);
    const GraphValue& value = trace_.values[place(root)];
    if (value.kind == GraphValue::Kind::capture && is_own(base_of(value.capture))) add_own_result(root);
    for (const auto& [input, written] : trace_.written) gives_written_views_ |= root == written && id != root;
  }
}

void Graph::note_only_program() {
  if (turns_.size() != 1 || turns_[0].blocks || !trace_.written.empty()) return;
  const Pass& pass = *passes_[0];
  const auto is_input = [&](int id) { return trace_.values[place(id)].kind == GraphValue::Kind::input; };
  if (pass.step || pass.fold_step || !std::all_of(pass.reads.begin(), pass.reads.end(), is_input)) return;
  for (const int id : trace_.results) {
    const auto found = std::find(pass.writes.begin(), pass.writes.end(), id);
    if (found == pass.writes.end() || trace_.values[place(id)].meta.numel() == 0) return;
    only_results_.push_back(static_cast<std::size_t>(found - pass.writes.begin()));
  }
  only_program_ = &pass;
}

List<Tensor> Graph::run_only_program(const List<Tensor>& inputs) const {
  const Pass& pass = *only_program_;
  List<Tensor> results(pass.writes.size());
  SmallVector<void*, 8> outs;
  SmallVector<const void*, 16> from;
  for (std::size_t i = 0; i < pass.writes.size(); ++i) {
    const Tensor& meta = trace_.values[place(pass.writes[i])].meta;
    results[i] = new_tensor(meta.sizes(), meta.strides(), meta.dtype());
    outs.push_back(results[i].impl()->data());
  }
  for (const int id : pass.reads) from.push_back(inputs[place(id)].impl()->data());  // inputs are the first values
  for (const void* number : pass.numbers) from.push_back(number);
  pass.run(pass.planned, outs.data(), from.data());
  if (only_results_.size() == 1) return results;
  List<Tensor> in_order;
  for (const std::size_t result : only_results_) in_order.push_back(results[result]);
  return in_order;
}

bool Graph::can_run(const List<Tensor>& inputs) const {
  if (trace_.reads_recorded || trace_.warns || gives_written_views_) return false;
  for (const int id : captures_) {
    const Tensor &now = trace_.values[place(id)].capture, &traced = trace_.values[place(id)].meta;
    if (now.dtype() != traced.dtype() || now.sizes() != traced.sizes() || now.strides() != traced.strides())
      return false;  // what it holds was replaced
    if (thread_modes.grad && now.requires_grad()) return false;
  }
  for (const auto& [input, id] : trace_.written) {
    const Tensor& self = inputs[place(input)];  // inputs are the first values
    const auto shares = [&](const Tensor& other) { return !other.is(self) && share_memory(other, self); };
    if (std::count_if(inputs.begin(), inputs.end(), [&](const Tensor& other) { return other.is(self); }) > 1)
      return false;
    if (std::any_of(inputs.begin(), inputs.end(), shares)) return false;
    if (internal_overlap(self) != InternalOverlap::no) return false;
    for (const GraphValue& value : trace_.values)
      if (value.kind == GraphValue::Kind::capture && share_memory(value.capture, self)) return false;
  }
  return true;
}

int Graph::passes() const noexcept {
  return static_cast<int>(std::count_if(turns_.begin(), turns_.end(), [&](const Turn& turn) {
    return turn.blocks || !passes_[place(turn.passes[0])]->is_view();
  }));
}

void Graph::run_turns(std::size_t begin, std::size_t end, std::vector<Tensor>& tensors) const {
  for (std::size_t i = begin; i < end; ++i) {
    const Turn& turn = turns_[i];
    if (turn.blocks && turn.blocks->fits(tensors))
      turn.blocks->run(tensors);
    else
      for (const int pass : turn.passes) passes_[place(pass)]->run(trace_.values, tensors);
    for (const int id : turn.dropped) tensors[place(id)] = Tensor();
  }
}

List<Tensor> Graph::run(const List<Tensor>& inputs) const {
  if (only_program_) return run_only_program(inputs);
  const NoGrad unrecorded;
  std::vector<Tensor> tensors(trace_.values.size());
  std::size_t next = 0;
  for (std::size_t id = 0; id < tensors.size(); ++id) {
    const GraphValue& value = trace_.values[id];
    if (value.kind == GraphValue::Kind::input) tensors[id] = inputs[next++];
    if (value.kind == GraphValue::Kind::capture) tensors[id] = value.capture;
  }
  renew_own_results(tensors);
  const std::size_t before = last_writes_.empty() ? turns_.size() : last_turn_;
  run_turns(0, before, tensors);
  if (!trace_.written.empty()) run_writes(before, tensors);
  List<Tensor> results;
  for (const int id : trace_.results) results.push_back(tensors[place(id)]);
  return results;
}

}  // namespace tenon::fusion
