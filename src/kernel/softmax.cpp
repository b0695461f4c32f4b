// kernel: softmax of rows and of columns. Each is read three times: for the largest element, for the sum of the
// exponentials, and for the result.
#include <algorithm>
#include <limits>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/softmax.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

template <class T>
using SoftmaxTag = hn::ScalableTag<T>;

template <class D, class V>
HWY_INLINE V exp_of(D, V x) {
  return exponential(Vector<D>{x}).v;
}
template <class D, class V>
HWY_INLINE V log_of(D, V x) {
  return logarithm(Vector<D>{x}).v;
}
template <class D>
HWY_INLINE hn::TFromD<D> log_of_one(D d, hn::TFromD<D> x) {
  return hn::GetLane(log_of(d, hn::Set(d, x)));
}

// Vectors of fewer elements: nothing behind a row is read or written.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_part(D d, const T* from, std::size_t count) {
  HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_part(hn::Vec<D> v, D d, T* to, std::size_t count) {
  HWY_ALIGN T lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < count; ++i) to[i] = lanes[i];
}

/// Calls whole(place) for each vector of `n` elements, and part(place, count) for the rest.
template <class D, class Whole, class Part>
HWY_INLINE void each_vector(D d, int64_t n, const Whole& whole, const Part& part) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) whole(i);
  if (i < n) part(i, static_cast<std::size_t>(n - i));
}

template <class T>
HWY_INLINE T largest_of(const T* from, int64_t length) {
  const SoftmaxTag<T> d;
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto first = lowest, second = lowest;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= length; i += 2 * lanes) {
    first = hn::Max(first, hn::LoadU(d, from + i));
    second = hn::Max(second, hn::LoadU(d, from + i + lanes));
  }
  each_vector(
      d, length - i, [&](int64_t at) HWY_ATTR { first = hn::Max(first, hn::LoadU(d, from + i + at)); },
      [&](int64_t at, std::size_t count) HWY_ATTR {
        const auto rest = load_part(d, from + i + at, count);
        second = hn::Max(second, hn::IfThenElse(hn::FirstN(d, count), rest, lowest));
      });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(first, second)));
}

/// The sum of exp(x - largest); with `kWrites` also these.
template <bool kWrites, class T>
HWY_INLINE T exponentials(T* to, const T* from, int64_t length, T largest) {
  const SoftmaxTag<T> d;
  const auto limit = hn::Set(d, largest);
  auto sum = hn::Zero(d);
  each_vector(
      d, length,
      [&](int64_t i) HWY_ATTR {
        const auto term = exp_of(d, hn::Sub(hn::LoadU(d, from + i), limit));
        if constexpr (kWrites) hn::StoreU(term, d, to + i);
        sum = hn::Add(sum, term);
      },
      [&](int64_t i, std::size_t count) HWY_ATTR {
        const auto term = exp_of(d, hn::Sub(load_part(d, from + i, count), limit));
        if constexpr (kWrites) store_part(term, d, to + i, count);
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, count), term));
      });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class T>
HWY_INLINE void softmax_row(T* to, const T* from, int64_t length, bool is_log) {
  const SoftmaxTag<T> d;
  const T largest = largest_of(from, length);
  if (is_log) {
    const auto limit = hn::Set(d, largest);
    const auto log_sum = hn::Set(d, log_of_one(d, exponentials<false>(to, from, length, largest)));
    each_vector(
        d, length,
        [&](int64_t i) HWY_ATTR { hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, from + i), limit), log_sum), d, to + i); },
        [&](int64_t i, std::size_t count) HWY_ATTR {
          store_part(hn::Sub(hn::Sub(load_part(d, from + i, count), limit), log_sum), d, to + i, count);
        });
  } else {
    const auto sum = hn::Set(d, exponentials<true>(to, from, length, largest));
    each_vector(
        d, length, [&](int64_t i) HWY_ATTR { hn::StoreU(hn::Div(hn::LoadU(d, to + i), sum), d, to + i); },
        [&](int64_t i, std::size_t count)
            HWY_ATTR { store_part(hn::Div(load_part(d, to + i, count), sum), d, to + i, count); });
  }
}

template <class T>
void softmax_along(void* out, const void* in, int64_t rows, int64_t length, bool is_log) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  for (int64_t row = 0; row < rows; ++row, from += length, to += length) softmax_row(to, from, length, is_log);
}

template <class T>
void softmax_across(void* out, const void* in, int64_t length, int64_t n, int64_t stride, void* scratch, bool is_log) {
  const SoftmaxTag<T> d;
  const T* const from = static_cast<const T*>(in);
  T* const to = static_cast<T*>(out);
  T* const largest = static_cast<T*>(scratch);
  T* const sums = largest + n;
  // Each column is computed alone: in any order, and with as many lanes as there are.
  const auto each_column = [&](const auto& step) HWY_ATTR {
    each_vector(
        d, n,
        [&](int64_t i) HWY_ATTR {
          step(
              i, [&](const T* p) HWY_ATTR { return hn::LoadU(d, p); },
              [&](auto v, T* p) HWY_ATTR { hn::StoreU(v, d, p); });
        },
        [&](int64_t i, std::size_t count) HWY_ATTR {
          step(
              i, [&](const T* p) HWY_ATTR { return load_part(d, p, count); },
              [&](auto v, T* p) HWY_ATTR { store_part(v, d, p, count); });
        });
  };
  std::fill_n(largest, n, -std::numeric_limits<T>::infinity());
  std::fill_n(sums, n, T(0));
  for (int64_t row = 0; row < length; ++row)
    each_column([&](int64_t i, const auto& load, const auto& store)
                    HWY_ATTR { store(hn::Max(load(largest + i), load(from + row * stride + i)), largest + i); });
  for (int64_t row = 0; row < length; ++row)
    each_column([&](int64_t i, const auto& load, const auto& store) HWY_ATTR {
      const auto term = exp_of(d, hn::Sub(load(from + row * stride + i), load(largest + i)));
      if (!is_log) store(term, to + row * stride + i);
      store(hn::Add(load(sums + i), term), sums + i);
    });
  if (is_log)
    each_column([&](int64_t i, const auto& load, const auto& store)
                    HWY_ATTR { store(log_of(d, load(sums + i)), sums + i); });
  for (int64_t row = 0; row < length; ++row)
    each_column([&](int64_t i, const auto& load, const auto& store) HWY_ATTR {
      const int64_t at = row * stride + i;
      store(is_log ? hn::Sub(hn::Sub(load(from + at), load(largest + i)), load(sums + i))
                   : hn::Div(load(to + at), load(sums + i)),
            to + at);
    });
}

void fill_softmax(KernelTable& table) {
  table.softmax[static_cast<int>(float32)] = {&softmax_along<float>, &softmax_across<float>};
  table.softmax[static_cast<int>(float64)] = {&softmax_along<double>, &softmax_across<double>};
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
