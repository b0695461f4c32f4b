// kernel: sums over short rows, of as many rows together as a vector has lanes: norms, and variances of 16-bit floats
// in float32. Bench: ./dev bench --sweep, inner reductions.
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

  /// How many elements from the first one of kRows rows on are read.
  int64_t reads(int64_t step) const {
    return (kRows - 1) * step + std::max(n_, reads_rows() ? kRows : Columns<Tag>::kCount);
  }
  /// The sums of kRows rows. `add(sum, elements, of)` adds to a sum; `of`: a number of the row, lane k of `numbers`.
  template <class Add>
  HWY_INLINE V of(const T* from, int64_t step, V numbers, const Add& add) const {
    return reads_rows() ? by_rows(from, step, numbers, add) : by_columns(from, step, numbers, add);
  }
  /// Copies `count` rows to `to`, which has room for kRoom elements, so that kRows may be read there, n elements apart.
  static constexpr int64_t kRoom = kRows * (kFinishedRow + 1);
  HWY_INLINE void copy_last(T* to, const T* from, int64_t step, int64_t count) const {
    std::memset(to, 0, static_cast<std::size_t>(kRows * (n_ + 1)) * sizeof(T));
    for (int64_t row = 0; row < count; ++row)
      std::memcpy(to + row * n_, from + row * step, static_cast<std::size_t>(n_) * sizeof(T));
  }
  /// Calls `turn(first, count, from, step)` for groups of kRows rows, of which `count` are wanted.
  template <class Turn>
  HWY_INLINE void each_group(const T* from, int64_t step, int64_t rows, const Turn& turn) const {
    const T* const end = from + (rows - 1) * step + n_;
    int64_t row = 0;
    for (; rows - row >= kRows && end - from >= reads(step); row += kRows, from += kRows * step)
      turn(row, kRows, from, step);
    for (; row < rows; row += kRows, from += kRows * step) {
      T last[kRoom];
      const int64_t count = std::min(rows - row, kRows);
      copy_last(last, from, step, count);
      turn(row, count, last, n_);
    }
  }

 private:
  // Shorter rows are read as columns.
  static constexpr int64_t kRowsFrom = kRows > Columns<Tag>::kCount ? kRows / 2 + 1 : kRows;
  // Registers hold two sums of each of so few rows, which are more exact.
  static constexpr bool kTwoSums = kRows <= 8;

  bool reads_rows() const { return n_ >= kRowsFrom; }
  template <class Add>
  HWY_NOINLINE V by_columns(const T* from, int64_t step, V numbers, const Add& add) const {
    constexpr int64_t kCount = Columns<Tag>::kCount;
    Vector<Tag> sums[kCount];
    unrolled<kCount>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Zero(Tag()); });
    Columns<Tag>::each(from, step, n_,
                       [&](int64_t k, V column) TENON_UNROLLED { sums[k].v = add(sums[k].v, column, numbers); });
    return fold_halves<ops::sum, kCount>(sums).v;
  }
  template <class Add>
  HWY_NOINLINE V by_rows(const T* from, int64_t step, V numbers, const Add& add) const {
    const Tag d;
    alignas(64) T of_rows[kRows];
    hn::Store(numbers, d, of_rows);
    Vector<Tag> sums[kRows];
    const auto load = [&](int64_t k, int64_t i) TENON_UNROLLED { return hn::LoadU(d, from + k * step + i); };
    const auto added = [&](V sum, int64_t k, int64_t i)
                           TENON_UNROLLED { return add(sum, load(k, i), hn::Set(d, of_rows[k])); };
    unrolled<kRows>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Zero(d); });
    int64_t i = 0;
    if constexpr (kTwoSums)
      if (n_ >= 4 * kRows) {
        Vector<Tag> others[kRows];
        unrolled<kRows>([&](int64_t k) TENON_UNROLLED { others[k].v = hn::Zero(d); });
        for (; i + 2 * kRows <= n_; i += 2 * kRows)
          unrolled<kRows>([&](int64_t k) TENON_UNROLLED {
            sums[k].v = added(sums[k].v, k, i);
            others[k].v = added(others[k].v, k, i + kRows);
          });
        unrolled<kRows>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Add(sums[k].v, others[k].v); });
      }
    for (; i + kRows <= n_; i += kRows)
      unrolled<kRows>([&](int64_t k) TENON_UNROLLED { sums[k].v = added(sums[k].v, k, i); });
    if (i < n_) {  // of a short row the first lanes, else the last ones, which were not added before
      const bool is_short = n_ < kRows;
      const auto first = hn::FirstN(d, static_cast<std::size_t>(is_short ? n_ : kRows - (n_ - i)));
      const auto counted = is_short ? first : hn::Not(first);
      const int64_t start = is_short ? 0 : n_ - kRows;
      unrolled<kRows>([&](int64_t k) TENON_UNROLLED {
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
  const typename Sums::Tag d;
  const Sums sums(n);
  T* const to = static_cast<T*>(out[0]);
  const auto add = [](V sum, V elements, V) TENON_UNROLLED { return hn::MulAdd(elements, elements, sum); };
  sums.each_group(static_cast<const T*>(in), step, rows,
                  [&](int64_t row, int64_t count, const T* from, int64_t from_step) TENON_UNROLLED {
                    store_first(d, hn::Sqrt(sums.of(from, from_step, hn::Zero(d), add)), to + row, count);
                  });
}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
