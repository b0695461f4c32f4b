// kernel: rows as columns. Blocks of 16 bytes of as many rows as a vector has lanes become vectors of one column each.
#if defined(TENON_KERNEL_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_COLUMNS_INL_H
#undef TENON_KERNEL_COLUMNS_INL_H
#else
#define TENON_KERNEL_COLUMNS_INL_H
#endif

#include <algorithm>
#include <cstring>

#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_VECTORS
/// Blocks of `kBlock` elements that lie `step` apart.
template <int64_t kBlock, class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const hn::TFromD<D>* from, int64_t step) {
  if constexpr (hn::MaxLanes(D()) == kBlock) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr int64_t kHalf = hn::MaxLanes(D()) / kBlock / 2;
    return hn::Combine(d, load_blocks<kBlock>(half, from + kHalf * step, step), load_blocks<kBlock>(half, from, step));
  }
}

/// Of vectors of at least 16 bytes.
template <class D>
class Columns {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr int64_t kRows = hn::MaxLanes(D()), kCount = 16 / static_cast<int64_t>(sizeof(T));

  /// How many elements are read of kRows rows of `n` elements that begin `step` apart, from the first one on.
  static HWY_INLINE int64_t reads(int64_t n, int64_t step) { return (kRows - 1) * step + std::max(n, kCount); }
  /// Less than kRows rows of at most kMost elements, copied to where that much may be read: zeros follow them.
  template <int64_t kMost>
  class LastRows {
   public:
    HWY_INLINE LastRows(const T* from, int64_t n, int64_t step, int64_t count) {
      std::memset(rows_, 0, static_cast<std::size_t>(kRows * n + kCount) * sizeof(T));
      for (int64_t row = 0; row < count; ++row)
        std::memcpy(rows_ + row * n, from + row * step, static_cast<std::size_t>(n) * sizeof(T));
    }
    /// They begin `n` elements apart.
    const T* data() const { return rows_; }

   private:
    T rows_[kRows * kMost + kCount];
  };

  /// The first kCount columns of kRows rows that begin `step` elements apart.
  static HWY_INLINE void load(const T* from, int64_t step, V (&columns)[kCount]) {
    unrolled<kCount>([&](int64_t k) TENON_UNROLLED {
      columns[k] = load_blocks<kCount>(D(), from, kCount * step);
      from = next_row(from, step);
    });
    transpose<kCount>(columns);
  }
  /// Calls `turn(first, columns)` for blocks of kBlock columns, of `count` in all: column k of a block is number
  /// first + place_in_block(k, count), if there is such a one. Columns may come twice. If they are less than kCount,
  /// elements behind a row are read.
  static constexpr int64_t kBlock = std::max<int64_t>(kCount, 4);
  static HWY_INLINE int64_t place_in_block(int64_t k, int64_t count) {
    if (k < kCount) return k;
    return std::clamp<int64_t>(count - kCount, 0, k / kCount * kCount) + k % kCount;
  }
  template <class Turn>
  static HWY_INLINE void each_block(const T* from, int64_t step, int64_t count, const Turn& turn) {
    V columns[kBlock];
    const auto load_block = [&](int64_t first) TENON_UNROLLED {
      unrolled<kBlock / kCount>([&](int64_t part) TENON_UNROLLED {
        V loaded[kCount];
        load(from + first + place_in_block(part * kCount, count), step, loaded);
        unrolled<kCount>([&](int64_t k) TENON_UNROLLED { columns[part * kCount + k] = loaded[k]; });
      });
    };
    for (int64_t first = 0; first == 0 || first + kBlock <= count; first += kBlock) {
      load_block(first);
      turn(first, columns);
    }
    if (count <= kBlock || count % kBlock == 0) return;
    load_block(count - kBlock);
    turn(count - kBlock, columns);
  }
  /// Calls `turn(k, column)` for each of the first `count` columns; `k`: its place in a block. If these are less than a
  /// block, elements behind are read.
  template <class Turn>
  static HWY_INLINE void each(const T* from, int64_t step, int64_t count, const Turn& turn) {
    V columns[kCount];
    if (count < kCount) {
      load(from, step, columns);
      unrolled<kCount>([&](int64_t k) TENON_UNROLLED {
        if (k < count) turn(k, columns[k]);
      });
      return;
    }
    int64_t column = 0;
    for (; column + kCount <= count; column += kCount) {
      load(from + column, step, columns);
      unrolled<kCount>([&](int64_t k) TENON_UNROLLED { turn(k, columns[k]); });
    }
    if (column == count) return;
    load(from + count - kCount, step, columns);
    unrolled<kCount>([&](int64_t k) TENON_UNROLLED {
      if (k >= kCount - (count - column)) turn(k, columns[k]);
    });
  }

 private:
  /// GCC would compute the addresses of all rows in advance, more than registers hold.
  static HWY_INLINE const T* next_row(const T* row, int64_t step) {
    row += step;
    asm("" : "+r"(row));
    return row;
  }
  /// In each block: vectors are interleaved with those of the other half until each holds one column.
  template <int64_t kTurns>
  static HWY_INLINE void transpose(V (&v)[kCount]) {
    if constexpr (kTurns > 1) {
      V mixed[kCount];
      unrolled<kCount / 2>([&](int64_t k) TENON_UNROLLED {
        mixed[2 * k] = hn::InterleaveLower(D(), v[k], v[k + kCount / 2]);
        mixed[2 * k + 1] = hn::InterleaveUpper(D(), v[k], v[k + kCount / 2]);
      });
      unrolled<kCount>([&](int64_t k) TENON_UNROLLED { v[k] = mixed[k]; });
      transpose<kTurns / 2>(v);
    }
  }
};
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
