// kernel: softmax of rows and of columns. Each is read three times: for the largest element, for the sum of the
// exponentials, and for the result.
#include <algorithm>
#include <limits>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/softmax.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"
#include "kernel/row_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// exp(x) for x <= 0, within 2 ulp; 0 where it would be subnormal. NaN stays.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;
  const hn::Rebind<hwy::MakeSigned<T>, D> integers;
  // The last bits of a number of this size are a whole number.
  const V size = hn::Set(d, static_cast<T>(int64_t{3} << (C::mantissa_bits - 1)));
  const V rounded = hn::MulAdd(x, hn::Set(d, C::inverse_ln2), size), turns = hn::Sub(rounded, size);
  const V rest = hn::NegMulAdd(turns, hn::Set(d, C::ln2_low), hn::NegMulAdd(turns, hn::Set(d, C::ln2_high), x));
  constexpr int kTerms = static_cast<int>(sizeof(C::exp_terms) / sizeof(T));
  V sum = hn::Set(d, C::exp_terms[kTerms - 1]);
  for (int i = kTerms - 2; i >= 0; --i) sum = hn::MulAdd(sum, rest, hn::Set(d, C::exp_terms[i]));
  const V one_more = hn::Add(hn::Set(d, T{1}), hn::MulAdd(hn::Mul(rest, rest), sum, rest));
  const auto scale = hn::ShiftLeft<C::mantissa_bits>(hn::Add(hn::BitCast(integers, rounded), hn::Set(integers, kBias)));
  const V result = hn::Mul(one_more, hn::BitCast(d, scale));
  const T lowest = static_cast<T>((2 - kBias) * 0.69314718055994531);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, lowest)), result);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of(D, V x) {
  return logarithm(Vector<D>{x}).v;
}

template <class T>
HWY_INLINE T largest_of(const RowVectors<T>& row, const T* from) {
  const auto d = row.d;
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto first = lowest, second = lowest;
  int64_t i = 0;
  for (; i + 2 * row.lanes <= row.length; i += 2 * row.lanes) {
    first = hn::Max(first, hn::LoadU(d, from + i));
    second = hn::Max(second, hn::LoadU(d, from + i + row.lanes));
  }
  if (i < row.whole) first = hn::Max(first, hn::LoadU(d, from + i));
  if (row.rest > 0) second = hn::Max(second, hn::IfThenElse(row.own_lanes(), row.last(from), lowest));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(first, second)));
}

/// The sum of exp(x - largest); with `kWrites` also these.
template <bool kWrites, class T>
HWY_INLINE T exponentials(const RowVectors<T>& row, T* to, const T* from, T largest) {
  const auto d = row.d;
  const auto limit = hn::Set(d, largest);
  auto first = hn::Zero(d), second = hn::Zero(d);
  const auto last = row.rest > 0 ? row.last(from) : limit;
  const auto step = [&](int64_t i) HWY_ATTR {
    const auto term = exp_of(d, hn::Sub(hn::LoadU(d, from + i), limit));
    if constexpr (kWrites) hn::StoreU(term, d, to + i);
    return term;
  };
  int64_t i = 0;
  for (; i + 2 * row.lanes <= row.length; i += 2 * row.lanes) {
    first = hn::Add(first, step(i));
    second = hn::Add(second, step(i + row.lanes));
  }
  if (i < row.whole) first = hn::Add(first, step(i));
  if (row.rest > 0) {
    const auto term = exp_of(d, hn::Sub(last, limit));
    if constexpr (kWrites) row.store_last(term, to);
    second = hn::Add(second, hn::IfThenElseZero(row.own_lanes(), term));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
}

template <class T>
void softmax_along(void* out, const void* in, int64_t rows, int64_t length, bool is_log) {
  const RowTag<T> d;
  const RowVectors<T> row{d, length};
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < rows; ++i, from += length, to += length) {
    const T largest = largest_of(row, from);
    if (is_log) {
      const auto limit = hn::Set(d, largest), sum = hn::Set(d, exponentials<false>(row, to, from, largest));
      const auto log_sum = log_of(d, sum);
      each_vector(row, to, from, [&](auto x) HWY_ATTR { return hn::Sub(hn::Sub(x, limit), log_sum); });
    } else {
      const auto sum = hn::Set(d, exponentials<true>(row, to, from, largest));
      each_vector(row, to, to, [&](auto x) HWY_ATTR { return hn::Div(x, sum); });
    }
  }
}

// Rows whose exponentials are summed apart: many small ones beside a large sum would be lost one by one.
constexpr int64_t kSummedRows = 64;

/// `kVectors` vectors of columns; `count`: columns of the only vector, if they do not fill it.
template <int kVectors, class T>
HWY_INLINE void softmax_columns(T* to, const T* from, int64_t length, int64_t stride, std::size_t count, bool is_log) {
  const RowTag<T> d;
  using V = hn::Vec<RowTag<T>>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool is_part = kVectors == 1 && count < static_cast<std::size_t>(lanes);
  const auto load = [&](const T* p) HWY_ATTR { return is_part ? load_part(d, p, count) : hn::LoadU(d, p); };
  const auto store = [&](V v, T* p) HWY_ATTR { is_part ? store_part(v, d, p, count) : hn::StoreU(v, d, p); };
  V largest[kVectors], sum[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    largest[v] = hn::Set(d, -std::numeric_limits<T>::infinity());
    sum[v] = hn::Zero(d);
  }
  for (int64_t row = 0; row < length; ++row)
    for (int v = 0; v < kVectors; ++v) largest[v] = hn::Max(largest[v], load(from + row * stride + v * lanes));
  for (int64_t start = 0; start < length; start += kSummedRows) {
    V part[kVectors];
    for (int v = 0; v < kVectors; ++v) part[v] = hn::Zero(d);
    for (int64_t row = start; row < std::min(length, start + kSummedRows); ++row)
      for (int v = 0; v < kVectors; ++v) {
        const int64_t at = row * stride + v * lanes;
        const V term = exp_of(d, hn::Sub(load(from + at), largest[v]));
        if (!is_log) store(term, to + at);
        part[v] = hn::Add(part[v], term);
      }
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::Add(sum[v], part[v]);
  }
  if (is_log)
    for (int v = 0; v < kVectors; ++v) sum[v] = log_of(d, sum[v]);
  for (int64_t row = 0; row < length; ++row)
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = row * stride + v * lanes;
      store(is_log ? hn::Sub(hn::Sub(load(from + at), largest[v]), sum[v]) : hn::Div(load(to + at), sum[v]), to + at);
    }
}

template <class T>
void softmax_across(void* out, const void* in, int64_t length, int64_t n, int64_t stride, bool is_log) {
  constexpr int kTogether = 4;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(RowTag<T>()));
  const T* const from = static_cast<const T*>(in);
  T* const to = static_cast<T*>(out);
  const auto whole = static_cast<std::size_t>(lanes);
  int64_t i = 0;
  for (; i + kTogether * lanes <= n; i += kTogether * lanes)
    softmax_columns<kTogether>(to + i, from + i, length, stride, whole, is_log);
  for (; i + lanes <= n; i += lanes) softmax_columns<1>(to + i, from + i, length, stride, whole, is_log);
  if (i == n) return;
  if (i > 0 && from != to) {  // a whole vector, of which some columns are computed again: parts of vectors are slow
    i = n - lanes;
    return softmax_columns<1>(to + i, from + i, length, stride, whole, is_log);
  }
  softmax_columns<1>(to + i, from + i, length, stride, static_cast<std::size_t>(n - i), is_log);
}

void fill_softmax(KernelTable& table) {
  table.softmax[static_cast<int>(float32)] = {&softmax_along<float>, &softmax_across<float>};
  table.softmax[static_cast<int>(float64)] = {&softmax_along<double>, &softmax_across<double>};
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
