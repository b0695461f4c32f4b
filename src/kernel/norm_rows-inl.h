// kernel: norms of short rows, from elements to results: roots of sums of squares. Bench: ./dev bench --sweep, inner
// reductions.
#if defined(TENON_KERNEL_NORM_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_NORM_ROWS_INL_H
#undef TENON_KERNEL_NORM_ROWS_INL_H
#else
#define TENON_KERNEL_NORM_ROWS_INL_H
#endif

#include "kernel/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_VECTORS
template <class T>
class NormRows {
 public:
  NormRows(int64_t n, int64_t step) : n_(n), step_(step) {}

  HWY_INLINE void run(T* to, const T* from, int64_t rows) const {
    const T* const end = from + (rows - 1) * step_ + n_;
    const int64_t reads = (kRows - 1) * step_ + std::max(n_, reads_rows() ? kRows : Of::kCount);
    for (; rows >= kRows && end - from >= reads; rows -= kRows, to += kRows, from += kRows * step_)
      hn::StoreU(norms(from, step_), Tag(), to);
    for (; rows > 0; rows -= kRows, to += kRows, from += kRows * step_) run_last(to, from, std::min(rows, kRows));
  }

 private:
  using Tag = std::remove_const_t<decltype(hn::CappedTag<T, 64 / sizeof(T)>())>;
  using V = hn::Vec<Tag>;
  using Of = Columns<Tag>;
  static constexpr int64_t kRows = Of::kRows;
  // Shorter rows are read as columns.
  static constexpr int64_t kRowsFrom = kRows > Of::kCount ? kRows / 2 + 1 : kRows;

  // Registers hold two sums of each of so few rows, which are more exact.
  static constexpr bool kTwoSums = kRows <= 8;

  bool reads_rows() const { return n_ >= kRowsFrom; }
  HWY_INLINE V norms(const T* from, int64_t step) const {
    return hn::Sqrt(reads_rows() ? by_rows(from, step) : by_columns(from, step));
  }
  /// Of `count` rows, behind which nothing may be read.
  HWY_NOINLINE void run_last(T* to, const T* from, int64_t count) const {
    T rows[kRows * (kFinishedRow + 1)];
    std::memset(rows, 0, static_cast<std::size_t>(kRows * (n_ + 1)) * sizeof(T));
    for (int64_t row = 0; row < count; ++row)
      std::memcpy(rows + row * n_, from + row * step_, static_cast<std::size_t>(n_) * sizeof(T));
    store_first(Tag(), norms(rows, n_), to, count);
  }
  HWY_NOINLINE V by_columns(const T* from, int64_t step) const {
    Vector<Tag> sums[Of::kCount];
    unrolled<Of::kCount>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Zero(Tag()); });
    Of::each(from, step, n_,
             [&](int64_t k, V column) TENON_UNROLLED { sums[k].v = hn::MulAdd(column, column, sums[k].v); });
    return fold_halves<ops::sum, Of::kCount>(sums).v;
  }
  HWY_NOINLINE V by_rows(const T* from, int64_t step) const {
    const Tag d;
    Vector<Tag> sums[kRows], others[kRows];
    const auto add = [&](int64_t k, V lanes) TENON_UNROLLED { sums[k].v = hn::MulAdd(lanes, lanes, sums[k].v); };
    const auto load = [&](int64_t k, int64_t i) TENON_UNROLLED { return hn::LoadU(d, from + k * step + i); };
    unrolled<kRows>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Zero(d); });
    int64_t i = 0;
    if constexpr (kTwoSums)
      if (n_ >= 4 * kRows) {
        unrolled<kRows>([&](int64_t k) TENON_UNROLLED { others[k].v = hn::Zero(d); });
        for (; i + 2 * kRows <= n_; i += 2 * kRows)
          unrolled<kRows>([&](int64_t k) TENON_UNROLLED {
            add(k, load(k, i));
            const V lanes = load(k, i + kRows);
            others[k].v = hn::MulAdd(lanes, lanes, others[k].v);
          });
        unrolled<kRows>([&](int64_t k) TENON_UNROLLED { sums[k].v = hn::Add(sums[k].v, others[k].v); });
      }
    for (; i + kRows <= n_; i += kRows) unrolled<kRows>([&](int64_t k) TENON_UNROLLED { add(k, load(k, i)); });
    if (n_ < kRows) {
      const auto counted = hn::FirstN(d, static_cast<std::size_t>(n_));
      unrolled<kRows>([&](int64_t k) TENON_UNROLLED { add(k, hn::IfThenElseZero(counted, load(k, 0))); });
    } else if (i < n_) {  // the last vectors, without the lanes that were added before
      const auto known = hn::FirstN(d, static_cast<std::size_t>(kRows - (n_ - i)));
      unrolled<kRows>([&](int64_t k) TENON_UNROLLED { add(k, hn::IfThenZeroElse(known, load(k, n_ - kRows))); });
    }
    return fold_all_pairs<ops::sum, kRows>(d, sums).v;
  }

  int64_t n_, step_;
};
template <class T>
void norm_results(void* const* out, const void* in, int64_t n, int64_t step, int64_t rows, const double*) {
  NormRows<T>(n, step).run(static_cast<T*>(out[0]), static_cast<const T*>(in), rows);
}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
