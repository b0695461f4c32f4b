// kernel: searches for extremes that are known. Lanes are compared as unsigned numbers, so dtypes of one size share
// their code.
#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/place.cpp"
#include "hwy/foreach_target.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_VECTORS
/// Lanes match if (lane & keep) - low <= span.
template <class D>
class Matcher {
 public:
  using U = hn::TFromD<D>;
  using V = hn::Vec<D>;
  /// `infinite`: see PlaceKernels.
  HWY_INLINE Matcher(D d, V extremes, U infinite) : keep_(hn::Set(d, kAll)), low_(extremes), span_(hn::Zero(d)) {
    if (infinite == 0) return;
    const auto size = hn::Set(d, kSize), sizes = hn::And(extremes, size),
               beyond = hn::Set(d, static_cast<U>(infinite + 1));
    const auto is_nan = hn::Eq(hn::Max(sizes, beyond), sizes), is_zero = hn::Eq(sizes, hn::Zero(d));
    keep_ = hn::IfThenElse(hn::Or(is_nan, is_zero), size, keep_);
    low_ = hn::IfThenElse(is_nan, beyond, hn::IfThenZeroElse(is_zero, extremes));
    span_ = hn::IfThenElseZero(is_nan, hn::Sub(size, beyond));
  }
  HWY_INLINE hn::Mask<D> operator()(V lanes) const {
    const auto above = hn::Sub(hn::And(lanes, keep_), low_);
    return hn::Eq(hn::Min(above, span_), above);
  }

 private:
  static constexpr U kAll = static_cast<U>(~U{0}), kSize = static_cast<U>(kAll >> 1);
  V keep_, low_, span_;
};
/// The lanes before `end`.
template <class U, class D>
HWY_INLINE hn::Vec<D> load_before(D d, const U* from, const U* end) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  if (end - from >= kLanes) [[likely]]
    return hn::LoadU(d, from);
  U lanes[kLanes] = {};
  std::memcpy(lanes, from, static_cast<std::size_t>(end - from) * sizeof(U));
  return hn::LoadU(d, lanes);
}

/// The first match in a run of at least one vector.
template <class U, class D>
HWY_INLINE int64_t place_in_run(D d, const Matcher<D>& matches, const U* from, int64_t n) {
  constexpr int64_t kLanes = hn::MaxLanes(D()), kMany = 4;
  int64_t i = 0;
  for (; i + kMany * kLanes <= n; i += kMany * kLanes) {
    const auto at = [&](int64_t k) HWY_ATTR { return matches(hn::LoadU(d, from + i + k * kLanes)); };
    if (!hn::AllFalse(d, hn::Or(hn::Or(at(0), at(1)), hn::Or(at(2), at(3))))) break;
  }
  for (; i + kLanes <= n; i += kLanes)
    if (const auto place = hn::FindFirstTrue(d, matches(hn::LoadU(d, from + i))); place >= 0) return i + place;
  return n - kLanes + std::max<int64_t>(hn::FindFirstTrue(d, matches(hn::LoadU(d, from + n - kLanes))), 0);
}
template <class U, class D>
HWY_INLINE void places_of_runs(D d, int32_t* places, const U* from, const U* extremes, int64_t n, int64_t step,
                               int64_t count, U infinite) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const auto matcher = [&](int64_t run) HWY_ATTR { return Matcher<D>(d, hn::Set(d, extremes[run]), infinite); };
  if (n >= kLanes) {
    for (int64_t run = 0; run < count; ++run, from += step)
      places[run] = static_cast<int32_t>(place_in_run(d, matcher(run), from, n));
    return;
  }
  const U* const end = from + (count - 1) * step + n;
  const auto counted = hn::FirstN(d, static_cast<std::size_t>(n));
  for (int64_t run = 0; run < count; ++run, from += step) {
    const auto found = hn::And(counted, matcher(run)(load_before(d, from, end)));
    places[run] = static_cast<int32_t>(std::max<int64_t>(hn::FindFirstTrue(d, found), 0));
  }
}

/// The rows of a vector of columns. Of the rows from `whole` on, only what lies before `end` may be read.
template <class U, class D>
HWY_INLINE void places_of_columns(D d, U* places, const U* from, const U* extremes, int64_t step, int64_t rows,
                                  int64_t whole, const U* end, U infinite) {
  const Matcher<D> matches(d, hn::LoadU(d, extremes), infinite);
  auto found = hn::Zero(d);
  const auto look = [&](int64_t row, hn::Vec<D> lanes)
                        HWY_ATTR { found = hn::IfThenElse(matches(lanes), hn::Set(d, static_cast<U>(row)), found); };
  int64_t row = rows - 1;
  for (; row >= whole; --row) look(row, load_before(d, from + row * step, end));
  for (; row >= 0; --row) look(row, hn::LoadU(d, from + row * step));
  hn::StoreU(found, d, places);
}
template <class U, class D>
HWY_INLINE void places_of_blocks(D d, U* places, const U* from, const U* extremes, int64_t n, int64_t step,
                                 int64_t rows, int64_t jump, int64_t count, U infinite) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const U* const end = from + (count - 1) * jump + (rows - 1) * step + n;
  for (; count > 0; --count, places += n, extremes += n, from += jump)
    for (int64_t i = 0; i < n; i += kLanes) {
      const int64_t room = end - from - i - kLanes;  // behind the first vector
      const int64_t whole = room < 0 ? 0 : step == 0 ? rows : std::min(rows, room / step + 1);
      places_of_columns(d, places + i, from + i, extremes + i, step, rows, whole, end, infinite);
    }
}

template <class U>
using WholeLanes = hn::CappedTag<U, 64 / sizeof(U)>;
template <class U>
void find_along(int32_t* places, const void* in, const void* extremes, int64_t n, int64_t step, int64_t count,
                uint64_t infinite) {
  places_of_runs(WholeLanes<U>(), places, static_cast<const U*>(in), static_cast<const U*>(extremes), n, step, count,
                 static_cast<U>(infinite));
}
template <class U>
void find_in_blocks(void* places, const void* in, const void* extremes, int64_t n, int64_t step, int64_t rows,
                    int64_t jump, int64_t count, uint64_t infinite) {
  places_of_blocks(WholeLanes<U>(), static_cast<U*>(places), static_cast<const U*>(in), static_cast<const U*>(extremes),
                   n, step, rows, jump, count, static_cast<U>(infinite));
}

void fill_places(KernelTable& table) {
  table.place[0] = {&find_along<uint8_t>, &find_in_blocks<uint8_t>};
  table.place[1] = {&find_along<uint16_t>, &find_in_blocks<uint16_t>};
  table.place[2] = {&find_along<uint32_t>, &find_in_blocks<uint32_t>};
  table.place[3] = {&find_along<uint64_t>, &find_in_blocks<uint64_t>};
}
#else
void fill_places(KernelTable&) {}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
