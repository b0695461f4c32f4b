// kernel: sums over short rows, of as many rows together as a vector has lanes: norms. Bench: ./dev bench --sweep,
// inner reductions.
#if defined(TENON_KERNEL_SHORT_ROW_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_SHORT_ROW_SUMS_INL_H
#undef TENON_KERNEL_SHORT_ROW_SUMS_INL_H
#else
#define TENON_KERNEL_SHORT_ROW_SUMS_INL_H
#endif

#include "kernel/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_VECTORS
/// Rows of `n` <= kFinishedRow elements, `step` apart.
template <class T>
class ShortRowSums {
 public:
  using Tag = std::remove_const_t<decltype(hn::CappedTag<T, 64 / sizeof(T)>())>;
  using V = hn::Vec<Tag>;
  static constexpr int64_t kRows = Columns<Tag>::kRows;

  explicit ShortRowSums(int64_t n) : n_(n) {}

  /// Calls `turn(first, count, sums)` for groups of kRows rows, of which `count` are wanted, and for single ones.
  /// `add(sum, elements)` adds to a sum; nothing, if elements are 0.
  template <class Add, class Turn>
  HWY_INLINE void run(const T* from, int64_t step, int64_t rows, const Add& add, const Turn& turn) const {
    const T* const end = from + (rows - 1) * step + n_;
    int64_t row = 0;
    for (; rows - row >= kRows && end - from >= reads(step); row += kRows, from += kRows * step)
      turn(row, kRows, reads_rows() ? by_rows(from, step, add) : by_columns(from, step, add));
    if (reads_rows())
      for (; row < rows; ++row, from += step) turn(row, 1, of_row(from, add));
    for (; row < rows; row += kRows, from += kRows * step) {
      const int64_t count = std::min(rows - row, kRows);
      turn(row, count, last_by_columns(from, step, count, add));
    }
  }

 private:
  // Shorter rows are read as columns.
  static constexpr int64_t kRowsFrom = kRows > Columns<Tag>::kCount ? kRows / 2 + 1 : kRows;
  // Registers hold two sums of each of so few rows, which are more exact.
  static constexpr bool kTwoSums = kRows <= 8;

  bool reads_rows() const { return n_ >= kRowsFrom; }
  /// How many elements from the first one of kRows rows on are read.
  int64_t reads(int64_t step) const {
    return reads_rows() ? (kRows - 1) * step + std::max(n_, kRows) : Columns<Tag>::reads(n_, step);
  }
  /// Of `count` rows, behind which nothing may be read.
  template <class Add>
  HWY_NOINLINE V last_by_columns(const T* from, int64_t step, int64_t count, const Add& add) const {
    const typename Columns<Tag>::template LastRows<kRowsFrom> rows(from, n_, step, count);
    return by_columns(rows.data(), n_, add);
  }
  /// The sum of one row in the first lane, added up as in by_rows.
  template <class Add>
  HWY_NOINLINE V of_row(const T* from, const Add& add) const {
    return of_rows<1>(from, 0, add);
  }
  template <class Add>
  HWY_NOINLINE V by_columns(const T* from, int64_t step, const Add& add) const {
    constexpr int64_t kCount = Columns<Tag>::kCount;
    Vector<Tag> sums[kCount];
    unrolled<kCount>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Zero(Tag()); });
    Columns<Tag>::each(from, step, n_, [&](int64_t k, V column) TENON_UNROLLED { sums[k].v = add(sums[k].v, column); });
    return fold_halves<ops::sum, kCount>(sums).v;
  }
  template <class Add>
  HWY_NOINLINE V by_rows(const T* from, int64_t step, const Add& add) const {
    return of_rows<kRows>(from, step, add);
  }
  /// Behind the last of kRows rows elements may be read, behind a single one not.
  template <int64_t kTaken, class Add>
  HWY_INLINE V of_rows(const T* from, int64_t step, const Add& add) const {
    const Tag d;
    Vector<Tag> sums[kRows];
    const auto load = [&](int64_t k, int64_t i) TENON_UNROLLED { return hn::LoadU(d, from + k * step + i); };
    const auto added = [&](V sum, int64_t k, int64_t i) TENON_UNROLLED { return add(sum, load(k, i)); };
    unrolled<kRows>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Zero(d); });
    int64_t i = 0;
    if constexpr (kTwoSums)
      if (n_ >= 4 * kRows) {
        Vector<Tag> others[kTaken];
        unrolled<kTaken>([&](int64_t k) TENON_UNROLLED { others[k].v = hn::Zero(d); });
        for (; i + 2 * kRows <= n_; i += 2 * kRows)
          unrolled<kTaken>([&](int64_t k) TENON_UNROLLED {
            sums[k].v = added(sums[k].v, k, i);
            others[k].v = added(others[k].v, k, i + kRows);
          });
        unrolled<kTaken>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Add(sums[k].v, others[k].v); });
      }
    for (; i + kRows <= n_; i += kRows)
      unrolled<kTaken>([&](int64_t k) TENON_UNROLLED { sums[k].v = added(sums[k].v, k, i); });
    if (kTaken == 1 && n_ < kRows) {
      sums[0].v = add(sums[0].v, load_some(d, from, n_));
    } else if (i < n_) {  // of a short row the first lanes, else the last ones, which were not added before
      const bool is_short = n_ < kRows;
      const auto first = hn::FirstN(d, static_cast<std::size_t>(is_short ? n_ : kRows - (n_ - i)));
      const auto counted = is_short ? first : hn::Not(first);
      const int64_t start = is_short ? 0 : n_ - kRows;
      unrolled<kTaken>([&](int64_t k) TENON_UNROLLED {
        sums[k].v = hn::IfThenElse(counted, added(sums[k].v, k, start), sums[k].v);
      });
    }
    return fold_all_pairs<ops::sum, kRows>(d, sums).v;
  }

  int64_t n_;
};

template <class T>
void norm_results(void* const* out, const void* in, int64_t n, int64_t step, int64_t rows, const double*) {
  using Sums = ShortRowSums<T>;
  using V = typename Sums::V;
  T* const to = static_cast<T*>(out[0]);
  Sums(n).run(
      static_cast<const T*>(in), step, rows,
      [](V sum, V elements) TENON_UNROLLED { return hn::MulAdd(elements, elements, sum); },
      [&](int64_t row, int64_t count, V sums)
          TENON_UNROLLED { store_first(typename Sums::Tag(), hn::Sqrt(sums), to + row, count); });
}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
