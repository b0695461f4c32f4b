// Histograms: how many elements lie in each of several intervals. PyTorch: aten/src/ATen/native/Histogram.cpp and
// native/cpu/HistogramKernel.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/keys.h"
#include "dispatch/plain.h"
#include "dispatch/text.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tile/run.h"
#include "type/overflow.h"
#include "type/visit.h"

namespace tenon {

// --- histc

namespace {

struct Range {
  double low, high;
};

/// 1 to both sides of a number, or to its neighbours.
template <class T>
Range around(T number) {
  constexpr T kMost = std::numeric_limits<T>::max(), kInfinite = std::numeric_limits<T>::infinity();
  return {std::min(number - 1, std::nextafter(number, -kInfinite)),
          std::max(number + 1, std::nextafter(number, kMost))};
}

Range around(double number, Dtype dtype) {
  if (dtype == float32) return around(static_cast<float>(number));
  if (dtype == float64) return around(number);
  return {number - 1, number + 1};
}

Range range_of(const Tensor& self, Scalar min, Scalar max) {
  Range range{min.to<double>(), max.to<double>()};
  if (range.low == range.high && self.numel() > 0) {
    if (is_complex(self.dtype())) fail_no_code("aminmax_cpu", self.dtype());
    const auto [low, high] = tenon::aminmax(self.detach());
    range = {low.item().to<double>(), high.item().to<double>()};
  }
  if (range.low == range.high) range = around(range.low, self.dtype());
  if (!std::isfinite(range.low) || !std::isfinite(range.high))
    throw Error("torch.histc: range of [" + text_of(range.low) + ", " + text_of(range.high) + "] is not finite");
  if (!(range.low < range.high)) throw Error("torch.histc: max must be larger than min");
  return range;
}

void check_bins(int64_t bins) {
  if (bins <= 0)
    throw Error("torch.histogram(): bins must be > 0, but got " + std::to_string(bins) + " for dimension 0");
}

/// Rounds as the dtype's numbers are rounded after each step.
template <class T>
struct Rounded {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  static Wide of(double value) { return element_cast<Wide>(element_cast<T>(value)); }
};

template <class T>
void count_into(const Tensor& self, const Range& range, std::vector<int64_t>& counts) {
  using R = Rounded<T>;
  const auto low = R::of(range.low), high = R::of(range.high), width = R::of(high - low);
  const auto bins = R::of(static_cast<double>(counts.size()));
  const T* const from = reinterpret_cast<const T*>(self.impl()->data());
  for (int64_t i = 0; i < self.numel(); ++i) {
    const auto element = R::of(element_cast<double>(from[i]));
    if (!(element >= low && element <= high)) continue;
    const auto place = R::of(R::of(R::of(element - low) * bins) / width);
    const bool is_first = !std::isfinite(place);  // as in PyTorch: there is no width, or it overflows
    ++counts[is_first ? 0 : std::min(static_cast<std::size_t>(place), counts.size() - 1)];
  }
}

Tensor counts_of(const Tensor& self, int64_t bins, Scalar min, Scalar max) {
  if (!is_computed(self)) return new_tensor({bins}, self.dtype(), self.device());
  const Range range = range_of(self, min, max);
  if (self.dtype() == bool_ || (kWideUnsigned & set_of(self.dtype())) != 0) fail_no_code("linspace_cpu", self.dtype());
  for (double end : {range.low, range.high}) check_fits(end, self.dtype());  // PyTorch makes the intervals first
  if (!is_floating_point(self.dtype())) fail_no_code("histogram_cpu", self.dtype());
  const Tensor wide = new_tensor({bins}, int64, self.device());  // refuses what no memory holds
  std::vector<int64_t> counts(static_cast<std::size_t>(bins));
  const Tensor row = row_major(self, self.dtype());
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (is_floating_v<T>) count_into<T>(row, range, counts);
  });
  std::copy(counts.begin(), counts.end(), reinterpret_cast<int64_t*>(wide.impl()->data()));
  return run_to(wide, self.dtype(), MemoryFormat::contiguous);
}

}  // namespace

Tensor plain::histc(const Tensor& self, int64_t bins, Scalar min, Scalar max) {
  check_bins(bins);
  return counts_of(self, bins, min, max);
}
Tensor& plain::histc_out(Tensor& out, const Tensor& self, int64_t bins, Scalar min, Scalar max) {
  if (out.dtype() != self.dtype())
    throw Error(
        std::string("torch.histogram: input tensor and hist tensor should have the same dtype, but got input ") +
        cpp_type_name(self.dtype()) + " and hist " + cpp_type_name(out.dtype()));
  check_bins(bins);
  return write_result(Op::histc, out, counts_of(self, bins, min, max));
}

// --- histogram

namespace {

/// The text of each error speaks of many dims; here there is one.
void check_edges(const Tensor& self, const Tensor& bins) {
  if (self.dtype() != bins.dtype())
    throw Error(
        std::string("torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with "
                    "dtype ") +
        cpp_type_name(self.dtype()) + " and bins for dimension 0 with dtype " + cpp_type_name(bins.dtype()));
  if (bins.dim() != 1)
    throw Error("torch.histogramdd: bins tensor should have one dimension, but got " + std::to_string(bins.dim()) +
                " dimensions in the bins tensor for dimension 0");
  if (bins.numel() == 0)
    throw Error(
        "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
        "dimension 0");
}
void check_weight(const Tensor& self, const Tensor& weight) {
  if (!weight.defined()) return;
  if (weight.dtype() != self.dtype())
    throw Error(
        std::string("torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the "
                    "same dtype, but got input(") +
        cpp_type_name(self.dtype()) + "), and weight(" + cpp_type_name(weight.dtype()) + ")");
  if (weight.numel() == self.numel()) return;
  const int64_t column[] = {self.numel(), 1}, elements[] = {weight.numel()};
  throw Error(
      "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its "
      "innermost dimension, but got input with shape " +
      to_string(SizesView(column, 2)) + " and weight with shape " + to_string(SizesView(elements, 1)));
}
void check_histogram_outs(const Tensor& self, const Tensor& hist, const Tensor& bin_edges) {
  const auto check = [&](const char* name, const Tensor& out, const char* end) {
    if (out.dtype() != self.dtype())
      throw Error(std::string("torch.histogram: input tensor and ") + name +
                  " tensor should have the same dtype, but got input " + cpp_type_name(self.dtype()) + " and " + name +
                  " " + cpp_type_name(out.dtype()) + end);
  };
  check("hist", hist, "");
  check("bin_edges", bin_edges, " for dimension 0");
}

Range edges_of(const Tensor& self, const std::optional<List<double>>& range) {
  Range ends{0, 1};
  if (range) {
    if (range->size() != 2)
      throw Error("torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got " +
                  std::to_string(range->size()));
    ends = {(*range)[0], (*range)[1]};
  } else if (self.numel() > 0) {
    if ((kWideFloats & set_of(self.dtype())) == 0) fail_no_code("histogramdd", self.dtype());
    const auto [low, high] = tenon::aminmax(self);
    ends = {low.item().to<double>(), high.item().to<double>()};
  }
  if (!std::isfinite(ends.low) || !std::isfinite(ends.high))
    throw Error("torch.histogramdd: dimension 0's range [" + text_of(ends.low) + ", " + text_of(ends.high) +
                "] is not finite");
  if (ends.low > ends.high)
    throw Error("torch.histogramdd: min should not exceed max, but got min " + text_of(ends.low) + " max " +
                text_of(ends.high) + " for dimension 0");
  if (ends.low == ends.high) return {ends.low - 0.5, ends.high + 0.5};
  return ends;
}

/// Adds each element's weight, or 1, to its interval in `sums`. Intervals of equal width (`is_even`) are found by a
/// division; its rounding may miss by one, so the neighbours' edges decide.
template <class T>
void add_to_intervals(const Tensor& self, const Tensor& weight, const Tensor& edges, bool is_even, const Tensor& sums) {
  const T* const from = self.data<T>();
  const T* const weights = weight.defined() ? weight.data<T>() : nullptr;
  const T* const edge = edges.data<T>();
  T* const to = sums.data<T>();
  const int64_t bins = sums.numel();
  const T low = edge[0], high = edge[bins];
  const auto interval_of = [&](T element) {
    int64_t first = 0, last = bins + 1;
    const T place = (element - low) * static_cast<T>(bins) / (high - low);  // NaN, the first one, without a width
    if (is_even && !(place > static_cast<T>(bins))) {
      const auto near = static_cast<int64_t>(place > 0 ? place : 0);
      first = std::max<int64_t>(near - 1, 0);
      last = std::min(near + 2, bins + 1);
    }
    const int64_t after = std::upper_bound(edge + first, edge + last, element) - edge;
    return std::clamp<int64_t>(after - 1, 0, bins - 1);
  };
  for (int64_t i = 0; i < self.numel(); ++i)
    if (from[i] >= low && from[i] <= high) to[interval_of(from[i])] += weights ? weights[i] : T(1);
}

Tensor sums_of_intervals(const Tensor& self, const Tensor& weight, const Tensor& edges, bool is_even, bool density) {
  if (!is_floating_point(self.dtype())) fail_no_code("histogram_cpu", self.dtype());
  // 16-bit floats hold few counts: they are summed, and rounded once.
  const Dtype inside = self.dtype() == float64 ? float64 : float32;
  const auto row = [&](const Tensor& tensor) { return tensor.defined() ? row_major(tensor, inside) : tensor; };
  const Tensor sums = zeros({edges.numel() - 1}, Options(inside, self.device()));
  visit_dtype(inside, [&]<class T>() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      add_to_intervals<T>(row(self), row(weight), row(edges), is_even, sums);
  });
  const Tensor result = run_to(sums, self.dtype(), MemoryFormat::contiguous);
  if (!density) return result;
  return result.div(tenon::sum(result).item()).div(tenon::diff(edges));
}

std::tuple<Tensor, Tensor> histogram_between(const Tensor& self, const Tensor& bins, const Tensor& weight,
                                             bool density) {
  check_readable(self);
  check_readable(bins);
  check_edges(self, bins);
  check_weight(self, weight);
  check_bins(bins.numel() - 1);
  const Tensor edges = run_clone(bins.detach(), MemoryFormat::contiguous);
  return {sums_of_intervals(self, weight, edges, false, density), edges};
}

std::tuple<Tensor, Tensor> even_histogram(const Tensor& self, int64_t bins, const std::optional<List<double>>& range,
                                          const Tensor& weight, bool density) {
  check_readable(self);
  check_bins(bins);
  const Tensor plain = self.detach();
  const Range ends = edges_of(plain, range);
  if (self.dtype() == bool_ || (kWideUnsigned & set_of(self.dtype())) != 0) fail_no_code("linspace_cpu", self.dtype());
  const Tensor edges =
      linspace(ends.low, ends.high, (Checked(bins) + 1).value_or(bins), Options(self.dtype(), self.device()));
  check_weight(self, weight);
  return {sums_of_intervals(plain, weight, edges, true, density), edges};
}

std::tuple<Tensor&, Tensor&> write_histogram(Op op, Tensor& hist, Tensor& bin_edges,
                                             const std::tuple<Tensor, Tensor>& found) {
  Tensor* const outs[] = {&bin_edges, &hist};  // in the order in which PyTorch resizes them
  write_results(op, outs, {std::get<1>(found), std::get<0>(found)});
  return {hist, bin_edges};
}

}  // namespace

std::tuple<Tensor, Tensor> plain::histogram_edges(const Tensor& self, const Tensor& bins, const Tensor& weight,
                                                  bool density) {
  return histogram_between(self, bins, weight, density);
}
std::tuple<Tensor&, Tensor&> plain::histogram_edges_out(Tensor& hist, Tensor& bin_edges, const Tensor& self,
                                                        const Tensor& bins, const Tensor& weight, bool density) {
  check_edges(self, bins);
  check_weight(self, weight);
  check_histogram_outs(self, hist, bin_edges);
  return write_histogram(Op::histogram_edges, hist, bin_edges, histogram_between(self, bins, weight, density));
}
std::tuple<Tensor, Tensor> plain::histogram(const Tensor& self, int64_t bins, const std::optional<List<double>>& range,
                                            const Tensor& weight, bool density) {
  return even_histogram(self, bins, range, weight, density);
}
std::tuple<Tensor&, Tensor&> plain::histogram_out(Tensor& hist, Tensor& bin_edges, const Tensor& self, int64_t bins,
                                                  const std::optional<List<double>>& range, const Tensor& weight,
                                                  bool density) {
  check_histogram_outs(self, hist, bin_edges);
  return write_histogram(Op::histogram, hist, bin_edges, even_histogram(self, bins, range, weight, density));
}

}  // namespace tenon
