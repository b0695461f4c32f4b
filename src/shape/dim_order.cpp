#include "shape/dim_order.h"

#include <algorithm>
#include <compare>
#include <list>
#include <vector>

namespace tenon {
namespace {

// Up to here insertion sort is as fast. No case of tenon_bench has so many dims; dim_order_test.cpp does.
constexpr int64_t kManyDims = 64;

struct Operands {
  SizesView shape;
  const int64_t* strides;
  int64_t count;

  int64_t stride(int64_t operand, int64_t dim) const {
    return strides[operand * shape.size() + dim];  // exact: an index of a list
  }
  /// Greater if dim p has larger strides than q, less if smaller, equal if no operand decides.
  std::strong_ordering compare(int64_t p, int64_t q) const {
    for (int64_t operand = 0; operand < count; ++operand) {
      const int64_t sp = stride(operand, p), sq = stride(operand, q);
      if (sp == 0 || sq == 0) continue;
      if (sp != sq) return sp <=> sq;
      if (shape[p] > shape[q]) return std::strong_ordering::greater;
    }
    return std::strong_ordering::equal;
  }
  /// A total order: strides of `first`, then sizes, then strides of the operands after it.
  bool is_faster(int64_t first, int64_t p, int64_t q) const {
    if (stride(first, p) != stride(first, q)) return stride(first, p) < stride(first, q);
    if (shape[p] != shape[q]) return shape[p] < shape[q];
    for (int64_t operand = first + 1; operand < count; ++operand)
      if (stride(operand, p) != stride(operand, q)) return stride(operand, p) < stride(operand, q);
    return false;
  }
  /// Whether compare() agrees with is_faster() on dims in that order. It does if `first` decides every pair, or if
  /// among dims that it leaves open no other operand decides only some pairs or contradicts the sizes.
  bool agree(int64_t first, const int64_t* dims, int64_t ndim) const {
    for (int64_t begin = 0, end = 0; begin < ndim; begin = end) {
      if (stride(first, dims[begin]) == 0) return false;
      bool rising = true;
      for (end = begin + 1; end < ndim && stride(first, dims[end]) == stride(first, dims[begin]); ++end) {
        for (int64_t operand = first + 1; operand < count; ++operand) {
          const int64_t before = stride(operand, dims[end - 1]), here = stride(operand, dims[end]);
          if ((before == 0) != (here == 0)) return false;
          rising = rising && before <= here;
        }
      }
      if (!rising && shape[dims[begin]] != shape[dims[end - 1]]) return false;
    }
    return true;
  }
  /// Whether an operand's strides order any two dims.
  bool orders_dims(int64_t operand) const {
    int64_t moving = 0;
    for (int64_t dim = 0; dim < shape.size(); ++dim)
      if (stride(operand, dim) != 0) ++moving;
    return moving > 1;
  }
  bool is_fixed(int64_t dim) const {
    for (int64_t operand = 0; operand < count; ++operand)
      if (stride(operand, dim) != 0) return false;
    return true;
  }
};

/// Sorts in n log n steps. Returns false and leaves `order` unchanged if operands contradict each other.
bool sort_dimensions(SizesView shape, const int64_t* strides, int64_t operands, DimOrder& order) {
  const Operands all{shape, strides, operands};
  int64_t first = 0;
  while (first < operands && !all.orders_dims(first)) ++first;
  if (first == operands) return true;
  // Dims that no operand orders are skipped and keep their positions.
  SmallVector<int64_t, 8> places, dims;
  for (int64_t place = 0; place < order.size(); ++place) {
    if (all.is_fixed(order[place])) continue;
    places.push_back(place);
    dims.push_back(order[place]);
  }
  std::stable_sort(dims.begin(), dims.end(), [&](int64_t p, int64_t q) { return all.is_faster(first, p, q); });
  if (!all.agree(first, dims.data(), dims.size())) return false;
  for (int64_t i = 0; i < dims.size(); ++i) order[places[i]] = dims[i];
  return true;
}

/// The insertion sort of reorder_dimensions over runs of equal dims: a run is compared once.
class Runs {
 public:
  explicit Runs(const Operands& operands) : operands_(operands) {}

  void insert(int64_t kind, int64_t dim) {
    std::size_t at = runs_.size();
    runs_.push_back({kind, {dim}});
    for (std::size_t run = at; run-- > 0;) {
      const std::strong_ordering order = operands_.compare(runs_[run].kind, kind);
      if (std::is_lt(order)) break;
      if (std::is_eq(order)) continue;
      // Its last dim moves to where `dim` was, after the dims between.
      Run last{runs_[run].kind, {}};
      last.dims.splice(last.dims.begin(), runs_[run].dims, std::prev(runs_[run].dims.end()));
      std::swap(runs_[at], last);
      runs_.insert(std::next(runs_.begin(), static_cast<std::ptrdiff_t>(run)), std::move(last));
      at = run;
    }
    join();
  }
  template <class Take>
  void for_each(const Take& take) const {
    for (const Run& run : runs_)
      for (int64_t dim : run.dims) take(dim);
  }

 private:
  struct Run {
    int64_t kind;  // one dim that represents the run
    std::list<int64_t> dims;
  };

  void join() {
    std::vector<Run> joined;
    for (Run& run : runs_) {
      if (run.dims.empty()) continue;
      if (!joined.empty() && joined.back().kind == run.kind)
        joined.back().dims.splice(joined.back().dims.end(), run.dims);
      else
        joined.push_back(std::move(run));
    }
    runs_ = std::move(joined);
  }

  Operands operands_;
  std::vector<Run> runs_;
};

/// For each dim the representative of all dims equal to it.
std::vector<int64_t> kinds_of(const Operands& operands, const DimOrder& order) {
  std::vector<int64_t> sorted(order.begin(), order.end()), kinds(sorted.size());
  std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t p, int64_t q) { return operands.is_faster(0, p, q); });
  int64_t kind = sorted.front();
  for (int64_t dim : sorted) {
    if (operands.is_faster(0, kind, dim)) kind = dim;
    kinds[static_cast<std::size_t>(dim)] = kind;
  }
  return kinds;
}

}  // namespace

void reorder_many_dimensions(SizesView shape, const int64_t* strides, int64_t operands, DimOrder& order) {
  if (sort_dimensions(shape, strides, operands, order)) return;
  const Operands all{shape, strides, operands};
  const std::vector<int64_t> kinds = kinds_of(all, order);
  Runs runs(all);
  for (int64_t dim : order) runs.insert(kinds[static_cast<std::size_t>(dim)], dim);
  int64_t place = 0;
  runs.for_each([&](int64_t dim) { order[place++] = dim; });
}

void reorder_dimensions(SizesView shape, const int64_t* strides, int64_t operands, DimOrder& order) {
  const int64_t ndim = shape.size();
  order.resize(ndim);
  int64_t last = ndim;
  for (int64_t& place : order) place = --last;
  if (ndim > kManyDims) return reorder_many_dimensions(shape, strides, operands, order);
  // Insertion sort that skips dims it cannot order. Its result is defined even where no total order exists.
  const Operands all{shape, strides, operands};
  for (int64_t i = 1; i < ndim; ++i) {
    int64_t at = i;
    for (int64_t j = i - 1; j >= 0; --j) {
      const std::strong_ordering told = all.compare(order[j], order[at]);
      if (std::is_lt(told)) break;
      if (std::is_eq(told)) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
}

}  // namespace tenon
