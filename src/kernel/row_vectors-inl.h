// kernel: a row as vectors, of which the last one may overlap the one before.
#if defined(TENON_KERNEL_ROW_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_ROW_VECTORS_INL_H
#undef TENON_KERNEL_ROW_VECTORS_INL_H
#else
#define TENON_KERNEL_ROW_VECTORS_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using RowTag = hn::ScalableTag<T>;

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

/// A row as whole vectors; the last one of those that do not end with the row overlaps the one before. It is read
/// before anything is written.
template <class T>
struct RowVectors {
  RowTag<T> d;
  int64_t length, lanes = static_cast<int64_t>(hn::Lanes(d)), whole = length / lanes * lanes, rest = length - whole;

  bool is_part() const { return length < lanes; }
  HWY_INLINE hn::Vec<RowTag<T>> last(const T* from) const {
    if (is_part()) return load_part(d, from, static_cast<std::size_t>(length));
    return last_whole(from);
  }
  /// Of a row that fills a vector.
  HWY_INLINE hn::Vec<RowTag<T>> last_whole(const T* from) const { return hn::LoadU(d, from + length - lanes); }
  HWY_INLINE void store_last(hn::Vec<RowTag<T>> v, T* to) const {
    if (is_part())
      store_part(v, d, to, static_cast<std::size_t>(length));
    else
      hn::StoreU(v, d, to + length - lanes);
  }
  /// The lanes of the last vector that no other one holds.
  HWY_INLINE auto own_lanes() const {
    const auto first = hn::FirstN(d, static_cast<std::size_t>(is_part() ? length : lanes - rest));
    return is_part() ? first : hn::Not(first);
  }
};

/// to[i] = step(from[i]).
template <class T, class Step>
HWY_INLINE void each_vector(const RowVectors<T>& row, T* to, const T* from, const Step& step) {
  const auto d = row.d;
  const auto last = row.rest > 0 ? row.last(from) : hn::Zero(d);
  for (int64_t i = 0; i < row.whole; i += row.lanes) hn::StoreU(step(hn::LoadU(d, from + i)), d, to + i);
  if (row.rest > 0) row.store_last(step(last), to);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
