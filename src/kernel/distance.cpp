// kernel: distances of a few rows from a block of others, whose elements lie side by side: each lane sums for one pair.
#include "kernel/kernel.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/distance.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums of so many terms are added up: as exact as pairwise sums for rows of up to its square.
constexpr int64_t kTerms = 64;
// Accumulators that fit into the registers.
constexpr int64_t kAccumulators = 8;

template <Apart kApart, class D, class V = hn::Vec<D>>
HWY_INLINE V joined(D d, V a, V b) {
  if constexpr (kApart == Apart::largest) {  // bits of positive numbers have the order of the numbers; NaN is above all
    const hn::Rebind<hwy::MakeSigned<hn::TFromD<D>>, D> bits;
    return hn::BitCast(d, hn::Max(hn::BitCast(bits, a), hn::BitCast(bits, b)));
  } else {
    return hn::Add(a, b);
  }
}
/// `sum` and what two elements add to it.
template <Apart kApart, class D, class V = hn::Vec<D>>
HWY_INLINE V added(D d, V sum, V a, V b) {
  const V difference = hn::Sub(a, b);
  if constexpr (kApart == Apart::euclidean) return hn::MulAdd(difference, difference, sum);
  const V apart = hn::Abs(difference);
  if constexpr (kApart == Apart::differing)  // NaN stays
    return hn::Add(sum, hn::IfThenElse(hn::Gt(apart, hn::Zero(d)), hn::Set(d, 1), apart));
  return joined<kApart>(d, sum, apart);
}

/// Of kRows rows.
template <Apart kApart, int64_t kRows, class T>
HWY_INLINE void compare(T* const* to, const T* const* rows, const T* others, int64_t n) {
  const hn::CappedTag<T, kColumnsBeside> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(hn::CappedTag<T, kColumnsBeside>()), kVectors = kColumnsBeside / kLanes;
  V totals[kRows][kVectors];
#pragma GCC unroll 8
  for (int64_t row = 0; row < kRows; ++row)
#pragma GCC unroll 8
    for (int64_t i = 0; i < kVectors; ++i) totals[row][i] = hn::Zero(d);
  for (int64_t begin = 0; begin < n; begin += kTerms) {
    V sums[kRows][kVectors];
#pragma GCC unroll 8
    for (int64_t row = 0; row < kRows; ++row)
#pragma GCC unroll 8
      for (int64_t i = 0; i < kVectors; ++i) sums[row][i] = hn::Zero(d);
    const int64_t end = std::min(begin + kTerms, n);
    for (int64_t j = begin; j < end; ++j) {
      V other[kVectors];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kVectors; ++i) other[i] = hn::LoadU(d, others + j * kColumnsBeside + i * kLanes);
#pragma GCC unroll 8
      for (int64_t row = 0; row < kRows; ++row) {
        const V element = hn::Set(d, rows[row][j]);
#pragma GCC unroll 8
        for (int64_t i = 0; i < kVectors; ++i) sums[row][i] = added<kApart>(d, sums[row][i], element, other[i]);
      }
    }
#pragma GCC unroll 8
    for (int64_t row = 0; row < kRows; ++row)
#pragma GCC unroll 8
      for (int64_t i = 0; i < kVectors; ++i) totals[row][i] = joined<kApart>(d, totals[row][i], sums[row][i]);
  }
#pragma GCC unroll 8
  for (int64_t row = 0; row < kRows; ++row)
#pragma GCC unroll 8
    for (int64_t i = 0; i < kVectors; ++i) {
      const V total = kApart == Apart::euclidean ? hn::Sqrt(totals[row][i]) : totals[row][i];
      hn::StoreU(total, d, to[row] + i * kLanes);
    }
}

template <Apart kApart, class T>
void distances(T* const* to, const T* const* rows, const T* others, int64_t n) {
  constexpr int64_t kVectors = kColumnsBeside / int64_t{hn::MaxLanes(hn::CappedTag<T, kColumnsBeside>())};
  constexpr int64_t kRows = std::clamp<int64_t>(kAccumulators / kVectors, 1, kRowsBeside);
  for (int64_t row = 0; row < kRowsBeside; row += kRows) compare<kApart, kRows>(to + row, rows + row, others, n);
}

template <class T>
void fill_distances_of(DistanceKernel<T>* kernels) {
  kernels[static_cast<int>(Apart::differing)] = &distances<Apart::differing, T>;
  kernels[static_cast<int>(Apart::sum)] = &distances<Apart::sum, T>;
  kernels[static_cast<int>(Apart::euclidean)] = &distances<Apart::euclidean, T>;
  kernels[static_cast<int>(Apart::largest)] = &distances<Apart::largest, T>;
}
void fill_distances(KernelTable& table) {
  fill_distances_of(table.distances.float32);
  fill_distances_of(table.distances.float64);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
