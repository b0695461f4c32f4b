// Ops on expanded tensors, which are computed at the size of what was expanded.
#include <algorithm>
#include <map>

#include "fuse/pass.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"

namespace tenon::fusion {
namespace {

// Results of fewer elements are computed as they are: a pass and its views take longer.
constexpr int64_t kFewElements = 4096;

Tensor without_data(SizesView sizes, SizesView strides, Dtype dtype) {
  return empty_strided(sizes, strides, Options(dtype, Device::meta));
}

/// Rewrites a trace, step by step.
class Narrowing {
 public:
  explicit Narrowing(GraphTrace& trace) : trace_(trace), reads_memory_(trace.values.size(), false) {
    const auto note = [&](int id) { reads_memory_[place(id)] = true; };
    for (const int id : trace_.results) note(id);
    for (const auto& [input, id] : trace_.written) note(id);
    for (const GraphStep& step : trace_.steps)
      if (!step.is_elementwise()) std::for_each(step.operands.begin(), step.operands.end(), note);
  }

  void run() {
    std::vector<GraphStep> given;
    given.swap(trace_.steps);
    for (GraphStep& step : given) {
      if (step.is_elementwise() && !reads_memory_[place(step.results[0])])
        if (const Dims sizes = narrow_sizes(step); !sizes.empty()) {
          add_narrow(std::move(step), sizes);
          continue;
        }
      add(std::move(step));
    }
  }

 private:
  const Tensor& meta_of(int id) const { return trace_.values[place(id)].meta; }
  bool is_repeated(int operand, int64_t back) const {
    const Tensor& meta = meta_of(operand);
    const int64_t dim = meta.dim() - back;
    return dim < 0 || meta.size(dim) == 1 || meta.stride(dim) == 0;
  }
  /// The result's sizes with 1 for each dim along which all operands repeat their elements; none if that is no gain.
  Dims narrow_sizes(const GraphStep& step) const {
    const Tensor& result = meta_of(step.results[0]);
    if (result.numel() < kFewElements) return {};
    Dims sizes = result.sizes().copy();
    for (int64_t dim = 0; dim < sizes.size(); ++dim)
      if (std::all_of(step.operands.begin(), step.operands.end(),
                      [&](int id) { return is_repeated(id, result.dim() - dim); }))
        sizes[dim] = 1;
    return result.sizes() == SizesView(sizes) ? Dims() : sizes;
  }

  void add(GraphStep step) {
    for (const int id : step.results) trace_.values[place(id)].step = static_cast<int>(trace_.steps.size());
    trace_.steps.push_back(std::move(step));
  }
  /// Adds a view whose dims have the sizes and strides of `meta`.
  void add_view(int of, int result) {
    GraphStep view = view_step(meta_of(result), 0);
    view.operands = {of};
    view.results = {result};
    add(std::move(view));
  }
  int define(Tensor meta) {
    trace_.values.push_back({.kind = GraphValue::Kind::made, .meta = std::move(meta)});
    return static_cast<int>(trace_.values.size()) - 1;
  }

  int narrowed(int operand, SizesView sizes) {
    const Tensor meta = meta_of(operand);
    Dims narrow = meta.sizes().copy();
    for (int64_t back = 1; back <= meta.dim(); ++back)
      if (sizes[sizes.size() - back] == 1) narrow[meta.dim() - back] = 1;
    if (meta.sizes() == SizesView(narrow)) return operand;
    const auto known = narrow_.find(operand);
    if (known != narrow_.end() && meta_of(known->second).sizes() == SizesView(narrow)) return known->second;
    const int id = define(view_of(meta, narrow, meta.strides()));
    add_view(operand, id);
    return id;
  }
  static Tensor view_of(const Tensor& meta, SizesView sizes, SizesView strides) {
    return meta.as_strided(sizes, strides, meta.storage_offset());
  }
  void add_narrow(GraphStep step, SizesView sizes) {
    const int wide = step.results[0];
    for (int& operand : step.operands) operand = narrowed(operand, sizes);
    const Tensor& meta = meta_of(wide);
    Dims strides = dense_strides_like(sizes, meta.strides());
    const int narrow = define(without_data(sizes, strides, meta.dtype()));
    step.results = {narrow};
    add(std::move(step));
    for (int64_t dim = 0; dim < sizes.size(); ++dim)
      if (sizes[dim] == 1) strides[dim] = 0;
    Tensor& shown = trace_.values[place(wide)].meta;
    shown = view_of(meta_of(narrow), shown.sizes(), strides);
    add_view(narrow, wide);
    narrow_[wide] = narrow;
  }

  GraphTrace& trace_;
  std::vector<bool> reads_memory_;  // of each value: whether something reads it that is no instruction
  std::map<int, int> narrow_;       // values, and what they show expanded
};

}  // namespace

void narrow_expanded_steps(GraphTrace& trace) {
  const auto is_expanded = [](const GraphValue& value) {
    const SizesView sizes = value.meta.sizes(), strides = value.meta.strides();
    for (int64_t dim = 0; dim < sizes.size(); ++dim)
      if (sizes[dim] > 1 && strides[dim] == 0) return true;
    return false;
  };
  if (std::any_of(trace.values.begin(), trace.values.end(), is_expanded)) Narrowing(trace).run();
}

}  // namespace tenon::fusion
