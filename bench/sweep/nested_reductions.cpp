#include "nested_reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nest.h"

namespace bench {
namespace {

/// Folds a row into one sum, by several: the compiler may not reorder additions of floats.
template <Step kStep, class From, class Sum, class F, class Join>
Sum folded(Sum sum, const From* from, int64_t n, int64_t stride, Sum first, const F& f, const Join& join) {
  constexpr std::size_t kSums = 64 / sizeof(Sum) * 4;
  const auto at = [&](int64_t i) { return static_cast<Sum>(from[place<kStep>(i, stride)]); };
  std::array<Sum, kSums> parts;
  parts.fill(first);
  int64_t i = 0;
  for (; i + static_cast<int64_t>(kSums) <= n; i += static_cast<int64_t>(kSums)) {
    if constexpr (std::is_same_v<From, Float16>) {
      for (std::size_t start = 0; start < kSums; start += kTogether) {
        const Few<From> few = load_few<kStep>(from, i + static_cast<int64_t>(start), stride);
        for (std::size_t k = 0; k < kTogether; ++k) parts[start + k] = f(parts[start + k], few[k]);
      }
    } else {
      for (std::size_t k = 0; k < kSums; ++k) parts[k] = f(parts[k], at(i + static_cast<int64_t>(k)));
    }
  }
  if (i > 0)
    for (const Sum part : parts) sum = join(sum, part);
  for (; i < n; ++i) sum = f(sum, at(i));
  return sum;
}

/// One pass over the operand: folds into `sums`, whose layout is the result's. `f(sum, element, place)`.
template <Step kStep, class From, class Sum, class F, class Join>
void fold_all(const Nest& nest, const Plane& plane, Sum* sums, Sum first, const F& f, const Join& join) {
  for_each_plane(nest, [&](const std::array<int64_t, kMostOperands>& offsets) {
    for (int64_t row = 0; row < plane.rows; ++row) {
      const int64_t place_of_row = offsets[0] + row * plane.row_strides[0], stride = plane.column_strides[1];
      Sum* const __restrict to = sums + place_of_row;
      const From* const __restrict from =
          reinterpret_cast<const From*>(nest.data[1]) + offsets[1] + row * plane.row_strides[1];
      if (plane.column_strides[0] == 0) {
        const auto fold = [&](Sum sum, Sum x) { return f(sum, x, place_of_row); };
        *to = folded<kStep>(*to, from, plane.columns, stride, first, fold, join);
      } else {
        int64_t i = 0;
        for (; std::is_same_v<From, Float16> && i + kTogether <= plane.columns; i += kTogether) {
          const Few<From> few = load_few<kStep>(from, i, stride);
          for (int64_t k = 0; k < kTogether; ++k)
            to[i + k] = f(to[i + k], static_cast<Sum>(few[static_cast<std::size_t>(k)]), place_of_row + i + k);
        }
        for (; i < plane.columns; ++i)
          to[i] = f(to[i], static_cast<Sum>(from[place<kStep>(i, stride)]), place_of_row + i);
      }
    }
  });
}
template <class From, class Sum, class F, class Join>
void fold_all(const Nest& nest, const Plane& plane, Sum* sums, Sum first, const F& f, const Join& join) {
  switch (step_of(plane.column_strides[1])) {
    case Step::none:
      return fold_all<Step::none, From>(nest, plane, sums, first, f, join);
    case Step::one:
      return fold_all<Step::one, From>(nest, plane, sums, first, f, join);
    case Step::any:
      return fold_all<Step::any, From>(nest, plane, sums, first, f, join);
  }
}

/// Folds into a buffer of `Sum`, and writes the result from it.
template <class From, class Sum, class To, class F, class Join, class Finish>
Work reduction(const Nest& nest, int64_t results, Sum first, F f, Join join, Finish finish) {
  return [=, plane = innermost(nest), sums = std::vector<Sum>(static_cast<std::size_t>(results)),
          written = std::vector<To>(static_cast<std::size_t>(results))](int64_t repeats) mutable {
    const auto fold = [&](Sum sum, Sum x, int64_t) { return f(sum, x); };
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      std::fill(sums.begin(), sums.end(), first);
      fold_all<From>(nest, plane, sums.data(), first, fold, join);
      for (std::size_t i = 0; i < sums.size(); ++i) written[i] = converted<To>(finish(sums[i]));
      benchmark::DoNotOptimize(written.data());
      benchmark::ClobberMemory();
    }
  };
}

/// Means, then the squares of the distances from them. `each`: elements of a result.
template <class T>
Work variances(const Nest& nest, int64_t results, int64_t each) {
  using Sum = Wide<T>;
  const auto size = static_cast<std::size_t>(results);
  return [=, plane = innermost(nest), means = std::vector<Sum>(size), sums = std::vector<Sum>(size),
          written = std::vector<T>(size)](int64_t repeats) mutable {
    const auto plus = [](Sum x, Sum y) { return x + y; };
    const auto add = [](Sum sum, Sum x, int64_t) { return sum + x; };
    const auto add_square = [&](Sum sum, Sum x, int64_t i) {
      const Sum distance = x - means[static_cast<std::size_t>(i)];
      return sum + distance * distance;
    };
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      std::fill(means.begin(), means.end(), Sum{0});
      fold_all<T>(nest, plane, means.data(), Sum{0}, add, plus);
      for (Sum& mean : means) mean /= static_cast<Sum>(each);
      std::fill(sums.begin(), sums.end(), Sum{0});
      fold_all<T>(nest, plane, sums.data(), Sum{0}, add_square, plus);
      for (std::size_t i = 0; i < size; ++i) written[i] = converted<T>(sums[i] / static_cast<Sum>(each - 1));
      benchmark::DoNotOptimize(written.data());
      benchmark::ClobberMemory();
    }
  };
}

/// Strides of the result over the operand's dims: none along the reduced ones.
Tensor over_operand(const Tensor& a, const Dims& reduced) {
  Dims sizes = a.sizes().copy();
  for (const int64_t dim : reduced) sizes[dim] = 1;
  return tenon::empty(sizes, {Dtype::uint8}).expand(a.sizes());
}

/// The operand's dims in the order of memory, and which of them are `dims`.
std::pair<Tensor, Dims> in_order_of_memory(const Tensor& a, const Dims& dims) {
  Dims order, reduced;
  for (int64_t dim = 0; dim < a.dim(); ++dim) order.push_back(dim);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return a.strides()[x] > a.strides()[y]; });
  for (int64_t i = 0; i < order.size(); ++i)
    if (std::find(dims.begin(), dims.end(), order[i]) != dims.end()) reduced.push_back(i);
  return {a.permute(order), reduced};
}

/// Indices of the largest elements along one dim: of a row, or of rows side by side.
template <class T, Step kStep>
Work places(const Nest& nest, int64_t results) {
  return [=, plane = innermost(nest), best = std::vector<Wide<T>>(static_cast<std::size_t>(results)),
          found = std::vector<int64_t>(static_cast<std::size_t>(results)),
          taken = std::vector<int64_t>(static_cast<std::size_t>(results))](int64_t repeats) mutable {
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      std::fill(best.begin(), best.end(), std::numeric_limits<Wide<T>>::lowest());
      std::fill(taken.begin(), taken.end(), 0);
      for_each_plane(nest, [&](const std::array<int64_t, kMostOperands>& offsets) {
        for (int64_t row = 0; row < plane.rows; ++row) {
          const int64_t at = offsets[0] + row * plane.row_strides[0];
          const T* __restrict const from =
              reinterpret_cast<const T*>(nest.data[1]) + offsets[1] + row * plane.row_strides[1];
          Wide<T>* __restrict const value = best.data() + at;
          int64_t* __restrict const found_at = found.data() + at;
          const int64_t stride = plane.column_strides[1];
          if (plane.column_strides[0] == 0) {
            for (int64_t i = 0; i < plane.columns; ++i)
              if (from[place<kStep>(i, stride)] > *value) *value = from[place<kStep>(i, stride)], *found_at = i;
            continue;
          }
          const int64_t now = taken[static_cast<std::size_t>(at)]++;
          const auto take = [&](int64_t i, Wide<T> x) {
            found_at[i] = x > value[i] ? now : found_at[i];
            value[i] = x > value[i] ? x : value[i];
          };
          int64_t i = 0;
          for (; std::is_same_v<T, Float16> && i + kTogether <= plane.columns; i += kTogether) {
            const Few<T> few = load_few<kStep>(from, i, stride);
            for (int64_t k = 0; k < kTogether; ++k) take(i + k, few[static_cast<std::size_t>(k)]);
          }
          for (; i < plane.columns; ++i) take(i, static_cast<Wide<T>>(from[place<kStep>(i, stride)]));
        }
      });
      benchmark::DoNotOptimize(found.data());
      benchmark::ClobberMemory();
    }
  };
}

template <class T>
Work reduced(Call call, const Tensor& given, const Dims& given_dims) {
  using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, Wide<T>>;
  const auto [a, dims] = in_order_of_memory(given, given_dims);
  const Tensor results = over_operand(a, dims);
  const Nest nest = make_nest({results, a});
  if (nest.strides[0].back() > 1) return {};
  int64_t count = a.numel(), each = 1;
  for (const int64_t dim : dims) each *= a.sizes()[dim];
  count /= each;
  using To = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
  const auto larger = [](Wide<T> x, Wide<T> y) { return x > y ? x : y; };
  const auto plus = [](Sum x, Sum y) { return static_cast<Sum>(x + y); };
  const auto same = [](auto sum) { return sum; };
  if (call == Call::argmax)
    return nest.strides[1].back() == 1 ? places<T, Step::one>(nest, count) : places<T, Step::any>(nest, count);
  if (call == Call::amax)
    return reduction<T, Wide<T>, T>(nest, count, std::numeric_limits<Wide<T>>::lowest(), larger, larger, same);
  if (call == Call::sum) return reduction<T, Sum, To>(nest, count, Sum{0}, plus, plus, same);
  if (call == Call::mean)
    return reduction<T, Sum, To>(nest, count, Sum{0}, plus, plus,
                                 [each](Sum sum) { return sum / static_cast<Sum>(each); });
  if constexpr (!std::is_integral_v<T>) {
    if (call == Call::var) return variances<T>(nest, count, each);
    if (call == Call::norm)
      return reduction<T, Sum, To>(
          nest, count, Sum{0}, [](Sum x, Sum y) { return x + y * y; }, plus, [](Sum sum) { return std::sqrt(sum); });
  }
  return {};
}

}  // namespace

Work nested_reduction(Call call, const Tensor& a, const Dims& dims) {
  return with_type(a.dtype(), [&]<class T>(T) { return reduced<T>(call, a, dims); });
}

}  // namespace bench
