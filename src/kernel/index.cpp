// kernel: loops over an index. Takes a plane of int64 places; reads or writes the elements at these places, or says
// whether a place is out of range.
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernel/kernel.h"
#include "type/visit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/index.cpp"
#include "hwy/foreach_target.h"
#include "kernel/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// A place is outside if it is negative or size - 1 - place is: the loop collects sign bits.
bool is_any_outside(const int64_t* places, int64_t n, int64_t size) {
  const uint64_t last = static_cast<uint64_t>(size) - 1;
  uint64_t signs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t place = static_cast<uint64_t>(places[i]);
    signs |= place | (last - place);
  }
  return signs >> 63 != 0;
}

/// The type in which an element is computed: 16-bit floats are rounded once.
template <class T>
using Wide = std::conditional_t<Half<T>, float, Stored<T>>;

template <class T>
HWY_INLINE Wide<T> wide(const Stored<T>* from) {
  if constexpr (Half<T>)
    return widen_lane(from);
  else
    return *from;
}
template <class T>
HWY_INLINE void store(Stored<T>* to, Wide<T> value) {
  if constexpr (Half<T>)
    narrow_lane(to, value);
  else
    *to = value;
}
template <class T>
HWY_INLINE Wide<T> sum_of(Wide<T> a, Wide<T> b) {
  if constexpr (std::is_same_v<T, bool>)
    return a != 0 || b != 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class T>
HWY_INLINE Wide<T> product_of(Wide<T> a, Wide<T> b) {
  if constexpr (std::is_same_v<T, bool>)
    return a != 0 && b != 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else if constexpr (is_complex_v<T>)
    return (Lane<T>(a) * Lane<T>(b)).v;
  else
    return a * b;
}

/// So many places are checked together. Bench: tenon_bench --filter '^(gather|index_select|scatter|scatter_add)/'.
inline constexpr int64_t kPlaces = 4;

// An action is what happens to an element that the index selects (`named`) and the element of its place (`other`).
// `several` does it for kPlaces places in their order; an action without it is faster one place at a time.

template <class T>
struct Gather {
  using Element = T;
  static HWY_INLINE void one(const std::byte* named, std::byte* other) { std::memcpy(other, named, sizeof(T)); }
  /// Reads before it writes, so that compilers store vectors.
  static HWY_INLINE void several(std::byte* const* named, std::byte* other, int64_t step) {
    T values[kPlaces];
    for (int64_t i = 0; i < kPlaces; ++i) std::memcpy(values + i, named[i], sizeof(T));
    for (int64_t i = 0; i < kPlaces; ++i) std::memcpy(other + i * step, values + i, sizeof(T));
  }
};

template <class T>
struct Replace {
  using Element = T;
  HWY_INLINE void one(std::byte* named, const std::byte* other) const { std::memcpy(named, other, sizeof(T)); }
};
template <class T>
struct ReplaceInRows : Replace<T> {
  HWY_INLINE void several(std::byte* const* named, const std::byte* other, int64_t step) const {
    for (int64_t i = 0; i < kPlaces; ++i) this->one(named[i], other + i * step);
  }
};
template <class T>
struct Multiply {
  using Element = Stored<T>;
  HWY_INLINE void one(std::byte* named, const std::byte* other) const {
    auto* to = reinterpret_cast<Element*>(named);
    store<T>(to, product_of<T>(wide<T>(to), wide<T>(reinterpret_cast<const Element*>(other))));
  }
};
template <class T>
struct Add {
  using Element = Stored<T>;
  Wide<T> alpha;

  HWY_INLINE void one(std::byte* named, const std::byte* other) const {
    auto* to = reinterpret_cast<Element*>(named);
    // alpha * other is rounded on its own
    store<T>(to, sum_of<T>(wide<T>(to), product_of<T>(alpha, wide<T>(reinterpret_cast<const Element*>(other)))));
  }
  /// Contiguous 16-bit floats are converted together.
  HWY_INLINE void several(std::byte* const* named, const std::byte* other, int64_t step) const requires Half<T> {
    if (step != int64_t{sizeof(T)}) {
      for (int64_t i = 0; i < kPlaces; ++i) one(named[i], other + i * step);
      return;
    }
    const hn::CappedTag<float, kPlaces> d;
    const auto* from = reinterpret_cast<const T*>(other);
    alignas(16) float terms[kPlaces];
    for (std::size_t i = 0; i < kPlaces; i += hn::Lanes(d))
      hn::Store(hn::Mul(hn::Set(d, alpha), load_widened(d, from + i)), d, terms + i);
    for (int64_t i = 0; i < kPlaces; ++i) add_to_lane(reinterpret_cast<T*>(named[i]), terms[i]);
  }
  /// Contiguous lanes that do not overlap.
  HWY_INLINE void lanes(std::byte* named, const std::byte* other, int64_t n) const {
    auto* to = reinterpret_cast<Element*>(named);
    auto* from = reinterpret_cast<const Element*>(other);
    int64_t begin = 0;
    if constexpr (Half<T>) {
      const hn::CappedTag<uint16_t, 32> d;
      using D = std::remove_const_t<decltype(d)>;
      const FloatsOf<D> wide_lanes;
      constexpr int64_t kLanes = hn::MaxLanes(D());
      const auto factor = hn::Set(wide_lanes, alpha);
      for (; begin + kLanes <= n; begin += kLanes) {
        auto* const bits = reinterpret_cast<uint16_t*>(to + begin);
        const WidePair<D> sum = widened_pair<T>(d, InMemory{bits});
        const WidePair<D> term = widened_pair<T>(d, InMemory{reinterpret_cast<const uint16_t*>(from + begin)});
        const WidePair<D> both{hn::Add(sum.low, hn::Mul(factor, term.low)),
                               hn::Add(sum.high, hn::Mul(factor, term.high))};
        store_vector(d, narrowed<T>(d, both), bits);
      }
    }
    TENON_INDEPENDENT
    for (int64_t i = begin; i < n; ++i)
      store<T>(to + i, sum_of<T>(wide<T>(to + i), product_of<T>(alpha, wide<T>(from + i))));
  }
};

/// Adds elements as they are: products with 1 would take time. Of numbers that are neither complex nor 16-bit floats.
template <class T>
struct AddOnce {
  using Element = T;
  HWY_INLINE void one(std::byte* named, const std::byte* other) const {
    auto* to = reinterpret_cast<T*>(named);
    *to = sum_of<T>(*to, *reinterpret_cast<const T*>(other));
  }
  HWY_INLINE void several(std::byte* const* named, const std::byte* other, int64_t step) const {
    for (int64_t i = 0; i < kPlaces; ++i) one(named[i], other + i * step);
  }
};

/// Whether an action takes kPlaces elements at once.
template <class Action>
concept TakesSeveral = requires(const Action& action, std::byte* other) {
  action.several(&other, other, int64_t{});
};

/// Does the action for each place, in row-major order. Stops at a place out of range and returns false. Inlined, so
/// that the caller's constants make a faster loop.
template <class Action>
HWY_INLINE bool for_each_place(IndexedPlane plane, const Action& action) {
  for (int64_t row = 0; row < plane.rows; ++row, plane.step()) {
    const auto named = [&plane](int64_t column, int64_t place)
                           HWY_ATTR { return plane.named.data + column * plane.named.column + place * plane.stride; };
    int64_t column = 0;
    if constexpr (TakesSeveral<Action>) {
      for (; column + kPlaces <= plane.columns; column += kPlaces) {
        int64_t places[kPlaces];
        for (int64_t i = 0; i < kPlaces; ++i)
          places[i] = place_at(plane.index.data + (column + i) * plane.index.column);
        if (is_outside(places[0], plane.size) || is_outside(places[1], plane.size) ||
            is_outside(places[2], plane.size) || is_outside(places[3], plane.size)) [[unlikely]]
          break;
        std::byte* elements[kPlaces];
        for (int64_t i = 0; i < kPlaces; ++i) elements[i] = named(column + i, places[i]);
        action.several(elements, plane.other.data + column * plane.other.column, plane.other.column);
      }
    }
    for (; column < plane.columns; ++column) {
      const int64_t place = place_at(plane.index.data + column * plane.index.column);
      if (is_outside(place, plane.size)) [[unlikely]]
        return false;
      action.one(named(column, place), plane.other.data + column * plane.other.column);
    }
  }
  return true;
}
/// The same, with a faster loop for contiguous rows.
template <class Action>
HWY_INLINE bool run(const IndexedPlane& plane, const Action& action) {
  constexpr int64_t kWidth = sizeof(typename Action::Element);
  return plane.selects_in_rows(kWidth) ? for_each_place(plane.in_rows(kWidth), action) : for_each_place(plane, action);
}

/// Copies elements of `from` to `to`, with these steps in bytes.
template <class T>
HWY_INLINE void copy_elements(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t n) {
  int64_t i = 0;
  for (; i + kPlaces <= n; i += kPlaces, to += kPlaces * to_step, from += kPlaces * from_step) {
    T values[kPlaces];
    for (int64_t k = 0; k < kPlaces; ++k) std::memcpy(values + k, from + k * from_step, sizeof(T));
    for (int64_t k = 0; k < kPlaces; ++k) std::memcpy(to + k * to_step, values + k, sizeof(T));
  }
  for (; i < n; ++i, to += to_step, from += from_step) std::memcpy(to, from, sizeof(T));
}
/// Moves the elements of rows whose index has one place for the whole row: to it if `kReplaces`, else from it.
template <class T, bool kReplaces>
HWY_INLINE bool move_rows(IndexedPlane plane) {
  for (int64_t row = 0; row < plane.rows; ++row, plane.step()) {
    const int64_t place = place_at(plane.index.data);
    if (is_outside(place, plane.size)) return false;
    std::byte *const named = plane.named.data + place * plane.stride, *const other = plane.other.data;
    if constexpr (kReplaces)
      copy_elements<T>(named, plane.named.column, other, plane.other.column, plane.columns);
    else
      copy_elements<T>(other, plane.other.column, named, plane.named.column, plane.columns);
  }
  return true;
}

template <class T>
bool gather(const IndexedPlane& plane) {
  if (plane.index.column == 0) return move_rows<T, false>(plane);
  return run(plane, Gather<T>());
}
/// The elements of a row that go to one place are written in their order only one at a time.
template <class T>
bool replace(const IndexedPlane& plane) {
  if (plane.index.column == 0 && plane.named.column != 0) return move_rows<T, true>(plane);
  if (plane.selects_in_rows(sizeof(T))) return for_each_place(plane.in_rows(sizeof(T)), ReplaceInRows<T>());
  return for_each_place(plane, Replace<T>());
}
template <class T>
bool multiply(const IndexedPlane& plane) {
  return run(plane, Multiply<T>());
}

/// Adds rows to the rows that the index selects.
template <class T>
HWY_INLINE bool add_rows(IndexedPlane plane, const Add<T>& action) {
  for (int64_t row = 0; row < plane.rows; ++row, plane.step()) {
    const int64_t place = place_at(plane.index.data);
    if (is_outside(place, plane.size)) return false;
    action.lanes(plane.named.data + place * plane.stride, plane.other.data, plane.columns);
  }
  return true;
}
template <class T>
bool add(const IndexedPlane& plane, const void* alpha) {
  Add<T> action;
  std::memcpy(&action.alpha, alpha, sizeof action.alpha);
  if (plane.selects_rows(sizeof(T))) return add_rows(plane, action);
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
    if (action.alpha == T(1) && plane.selects_in_rows(sizeof(T)))
      return for_each_place(plane.in_rows(sizeof(T)), AddOnce<T>());
  return run(plane, action);
}

/// Rows that are added to one row. Their elements stay in registers until they are rounded.
template <class T>
struct RowSum {
  static constexpr hn::ScalableTag<uint16_t> d{};
  using D = std::remove_const_t<decltype(d)>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());
  static_assert(kLanes <= kShortestAddedRow);

  uint16_t* to;
  const std::byte* from;
  int64_t step;
  const uint64_t* rows;
  int64_t count;

  HWY_INLINE void add(WidePair<D>& sum, const uint16_t* terms) const {
    const WidePair<D> term = widened_pair<T>(d, InMemory{terms});
    sum = {hn::Add(sum.low, term.low), hn::Add(sum.high, term.high)};
  }
  /// Of `kVectors` vectors from `column` on.
  template <int kVectors>
  HWY_INLINE void block(hn::Vec<D>* out, int64_t column) const {
    WidePair<D> sums[kVectors];
    for (int v = 0; v < kVectors; ++v) sums[v] = widened_pair<T>(d, InMemory{to + column + v * kLanes});
    for (int64_t i = 0; i < count; ++i) {
      const auto place = static_cast<int64_t>(rows[i] & 0xFFFF'FFFF);
      const auto* const terms = reinterpret_cast<const uint16_t*>(from + place * step) + column;
      for (int v = 0; v < kVectors; ++v) add(sums[v], terms + v * kLanes);
    }
    for (int v = 0; v < kVectors; ++v) out[v] = in_register(d, narrowed<T>(d, sums[v]));
  }
  template <int kVectors>
  HWY_INLINE int64_t blocks(int64_t column, int64_t n) const {
    hn::Vec<D> sums[kVectors];
    for (; column + kVectors * kLanes <= n; column += kVectors * kLanes) {
      block<kVectors>(sums, column);
      for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, to + column + v * kLanes);
    }
    return column;
  }
};
template <class T>
void add_rows_to_row(void* to, const void* from, int64_t step, const uint64_t* rows, int64_t count, int64_t n) {
  using Sum = RowSum<T>;
  const Sum sum{static_cast<uint16_t*>(to), static_cast<const std::byte*>(from), step, rows, count};
  hn::Vec<typename Sum::D> last[1];  // overlaps the vector before: computed first, stored last
  sum.template block<1>(last, n - Sum::kLanes);
  sum.template blocks<1>(sum.template blocks<4>(0, n), n);
  hn::StoreU(last[0], Sum::d, sum.to + n - Sum::kLanes);
}

/// 1 for each of eight bytes that is not 0: bools of other libraries need not be 1.
HWY_INLINE uint64_t ones_of(const uint8_t* truths) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t word;
  std::memcpy(&word, truths, sizeof word);
  return ((((word & (kOnes * 0x7f)) + kOnes * 0x7f) | word) >> 7) & kOnes;
}
/// One of two elements, without a branch.
template <class T>
HWY_INLINE T choose_element(bool is_true, T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(b ^ ((a ^ b) & static_cast<T>(0 - static_cast<T>(is_true))));
  else
    return is_true ? a : b;
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// `from` in the lanes where `truths` are not 0, one after another; elsewhere what is in `to`. Gives how many.
HWY_INLINE int64_t expand_vector(uint32_t* to, const uint8_t* truths, const uint32_t* from) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(truths));
  const __mmask16 is_true = _mm_test_epi8_mask(bytes, bytes);
  _mm512_storeu_si512(to, _mm512_mask_expand_epi32(_mm512_loadu_si512(to), is_true, _mm512_loadu_si512(from)));
  return std::popcount(static_cast<uint16_t>(is_true));
}
HWY_INLINE int64_t expand_vector(uint64_t* to, const uint8_t* truths, const uint64_t* from) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(truths));
  const auto is_true = static_cast<__mmask8>(_mm_test_epi8_mask(bytes, bytes));
  _mm512_storeu_si512(to, _mm512_mask_expand_epi64(_mm512_loadu_si512(to), is_true, _mm512_loadu_si512(from)));
  return std::popcount(static_cast<uint8_t>(is_true));
}
#endif
/// Bench: tenon_bench --ops --filter 'ops/masked_scatter$'.
template <class T>
void expand(void* out, const uint8_t* truths, int64_t n, const void* in, int64_t count) {
  T* const to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(in);
  const T* const end = from + count;
  int64_t i = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    constexpr int64_t kLanes = 64 / sizeof(T);
    for (; i + kLanes <= n && end - from >= kLanes; i += kLanes) from += expand_vector(to + i, truths + i, from);
  }
#endif
  constexpr int64_t kWord = 8;
  for (; i + kWord <= n && end - from >= kWord; i += kWord) {
    const uint64_t ones = ones_of(truths + i), counts = ones * 0x0101010101010101;  // byte k: the true ones up to it
    if (ones == 0) continue;
    to[i] = choose_element(ones & 1u, from[0], to[i]);
    for (int64_t k = 1; k < kWord; ++k)  // no element waits for the one before
      to[i + k] = choose_element(ones >> (8 * k) & 1u, from[counts >> (8 * k - 8) & 0xff], to[i + k]);
    from += counts >> 56;
  }
  for (; i < n && from < end; ++i)  // never more than there are: another thread may change the mask
    if (truths[i]) to[i] = *from++;
}

template <class... T>
void fill_sums(IndexKernels& index) {
  ((index.add[static_cast<int>(dtype_of_v<T>)] = &add<T>), ...);
  ((index.multiply[static_cast<int>(dtype_of_v<T>)] = &multiply<T>), ...);
}
template <class... T>
void fill_moves_by_index(IndexKernels& index) {
  int width = 0;
  ((index.gather[width] = &gather<T>, index.replace[width] = &replace<T>, index.expand[width] = &expand<T>, ++width),
   ...);
}
void fill_index(KernelTable& table) {
  table.index.is_any_outside = &is_any_outside;
  fill_moves_by_index<uint8_t, uint16_t, uint32_t, uint64_t, Complex128>(table.index);
  fill_sums<bool, uint8_t, int16_t, int32_t, int64_t, Float16, BFloat16, float, double, Complex64, Complex128>(
      table.index);
  table.index.add_rows[static_cast<int>(float16)] = &add_rows_to_row<Float16>;
  table.index.add_rows[static_cast<int>(bfloat16)] = &add_rows_to_row<BFloat16>;
  // Sums and products of bytes have the same bits with and without a sign.
  table.index.add[static_cast<int>(int8)] = table.index.add[static_cast<int>(uint8)];
  table.index.multiply[static_cast<int>(int8)] = table.index.multiply[static_cast<int>(uint8)];
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
