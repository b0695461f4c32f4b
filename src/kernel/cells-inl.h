// kernel: folds of narrow rows of 8-bit and 16-bit elements, and sums of 32-bit ones. A vector holds pieces of several
// rows, one in each block of 16 bytes, or two rows of up to 8 bytes. Bench: ./dev bench --sweep, inner reductions.
#if defined(TENON_KERNEL_CELLS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_CELLS_INL_H
#undef TENON_KERNEL_CELLS_INL_H
#else
#define TENON_KERNEL_CELLS_INL_H
#endif

#include "kernel/columns-inl.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// Integers as unsigned numbers of the same order, or of the opposite one.
template <class T>
struct UnsignedKeys {
  using U = T;
  T most;  // 1 for bool, whose bytes may have any value
  T flip;  // the sign bit of signed ones; all others for the opposite order
  template <class D>
  HWY_INLINE hn::Vec<D> of(D d, hn::Vec<D> lanes) const {
    if constexpr (sizeof(T) == 1) lanes = hn::Min(lanes, hn::Set(d, most));
    return hn::Xor(lanes, hn::Set(d, flip));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> back(D d, hn::Vec<D> keys) const {
    return hn::Xor(keys, hn::Set(d, flip));
  }
};

#if TENON_HAS_VECTORS
using CellTag = std::remove_const_t<decltype(hn::CappedTag<uint8_t, 64>())>;
using CellVector = hn::Vec<CellTag>;
template <class T>
using CellLanes = hn::Repartition<T, CellTag>;
inline constexpr int64_t kCellBlock = 16, kCellBlocks = hn::MaxLanes(CellTag()) / kCellBlock;
// Rows of that many bytes and more are folded one by one: memory is read best in order.
inline constexpr int64_t kCellsBelow = 256, kFarCellsBelow = 128;

/// Rows of one length. A Fold has elements `From`, results `To`, and
///   keys(raw): the elements as they are folded; zero bits change no fold;
///   part(keys): the partial results of vectors of keys, which `join` joins: each block has kParts for its row;
///   store(to, parts): results of as many rows as parts.
template <class Fold>
class CellRows {
 public:
  using From = typename Fold::From;
  using To = typename Fold::To;
  /// Rows that are folded together.
  static constexpr int64_t kRows = Fold::kParts * kCellBlocks;

  HWY_INLINE CellRows(const Fold& fold, int64_t n, int64_t step)
      : fold_(fold),
        bytes_(n * kSize),
        step_(step * kSize),
        has_pairs_(Fold::kPairs && step == n && bytes_ <= kCellBlock / 2),
        counted_(counted(bytes_, has_pairs_)) {}

  /// `end`: of what may be read.
  HWY_NOINLINE void run(To* to, const From* rows_from, int64_t rows, const From* rows_end, bool is_far) const {
    const auto* from = reinterpret_cast<const uint8_t*>(rows_from);
    const auto* const end = reinterpret_cast<const uint8_t*>(rows_end);
    const int64_t reads = (kRows - (has_pairs_ ? 2 : 1)) * step_ + std::max(bytes_, kCellBlock), next = kRows * step_;
    if (has_pairs_)
      for (; rows >= kRows && end - from >= reads; rows -= kRows, to += kRows, from += next)
        fold_.store(to, pairs(from));
    else if (bytes_ <= kCellBlock)
      for (; rows >= kRows && end - from >= reads; rows -= kRows, to += kRows, from += next)
        fold_.store(to, blocks(from));
    else
      for (; rows >= kRows; rows -= kRows, to += kRows, from += next) {
        if (is_far) prefetch_ahead(reinterpret_cast<const uint32_t*>(from), next / 4);
        fold_.store(to, several_blocks(from));
      }
    for (int64_t count = 0; rows > 0; rows -= count, to += count, from += count * step_) {
      count = std::min(rows, kRows);
      run_last(to, from, count);
    }
  }

 private:
  static constexpr int64_t kSize = sizeof(From), kParts = Fold::kParts;
  using V = CellVector;

  /// The places of the bytes of two rows in a block, or the bits of the bytes that count: of a row, or of the last
  /// block of a longer one, which begins with bytes of the block before.
  static HWY_INLINE V counted(int64_t bytes, bool has_pairs) {
    alignas(kCellBlock) uint8_t of[kCellBlock];
    const int64_t known = bytes < kCellBlock ? 0 : (kCellBlock - bytes % kCellBlock) % kCellBlock;
    for (int64_t i = 0; i < kCellBlock; ++i) {
      const int64_t place = i % (kCellBlock / 2), row = i / (kCellBlock / 2);
      if (has_pairs)
        of[i] = static_cast<uint8_t>(place < bytes ? row * bytes + place : 0x80);
      else
        of[i] = i >= known && i < bytes ? 0xFF : 0;
    }
    return hn::LoadDup128(CellTag(), of);
  }
  HWY_INLINE V keys(const uint8_t* from, int64_t step) const {
    return fold_.keys(load_blocks<kCellBlock>(CellTag(), from, step));
  }
  HWY_INLINE V pairs(const uint8_t* from) const {
    V parts[kParts / 2];
    unrolled<kParts / 2>([&](int64_t k) TENON_UNROLLED {
      parts[k] = fold_.part(hn::TableLookupBytesOr0(keys(from + 2 * k * step_, kParts * step_), counted_));
    });
    return join_pairs(parts);
  }
  HWY_INLINE V blocks(const uint8_t* from) const {
    V parts[kParts];
    unrolled<kParts>([&](int64_t k) TENON_UNROLLED {
      parts[k] = fold_.part(hn::And(keys(from + k * step_, kParts * step_), counted_));
    });
    return join(parts);
  }
  HWY_INLINE V several_blocks(const uint8_t* from) const {
    V parts[kParts];
    const auto at = [&](int64_t k, int64_t i) TENON_UNROLLED { return keys(from + k * step_ + i, kParts * step_); };
    unrolled<kParts>([&](int64_t k) TENON_UNROLLED { parts[k] = fold_.part(at(k, 0)); });
    int64_t i = kCellBlock;
    for (; i + kCellBlock <= bytes_; i += kCellBlock)
      unrolled<kParts>([&](int64_t k) TENON_UNROLLED { parts[k] = fold_.join(parts[k], fold_.part(at(k, i))); });
    if (i < bytes_)
      unrolled<kParts>([&](int64_t k) TENON_UNROLLED {
        parts[k] = fold_.join(parts[k], fold_.part(hn::And(at(k, bytes_ - kCellBlock), counted_)));
      });
    return join(parts);
  }
  /// Joins the parts of each block: one is left for each row, in order.
  HWY_INLINE V join(const V (&parts)[kParts]) const {
    if constexpr (kParts == 2) {
      return join_interleaved<uint64_t>(parts[0], parts[1]);
    } else {
      const V first = join_interleaved<uint32_t>(parts[0], parts[1]),
              second = join_interleaved<uint32_t>(parts[2], parts[3]);
      return join_interleaved<uint64_t>(first, second);
    }
  }
  /// The same of the halves of each block.
  HWY_INLINE V join_pairs(const V (&parts)[kParts / 2]) const {
    if constexpr (kParts == 2) {
      return parts[0];
    } else {
      const CellLanes<uint32_t> d;
      const auto a = hn::BitCast(d, parts[0]), b = hn::BitCast(d, parts[1]);
      const V rows = join_interleaved<uint64_t>(hn::BitCast(CellTag(), hn::InterleaveLower(d, a, b)),
                                                hn::BitCast(CellTag(), hn::InterleaveUpper(d, a, b)));
      alignas(kCellBlock) static constexpr uint8_t kInOrder[] = {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15};
      return hn::TableLookupBytes(rows, hn::LoadDup128(CellTag(), kInOrder));
    }
  }
  template <class Lane>
  HWY_INLINE V join_interleaved(V a, V b) const {
    const CellLanes<Lane> d;
    const auto first = hn::BitCast(d, a), second = hn::BitCast(d, b);
    return fold_.join(hn::BitCast(CellTag(), hn::InterleaveLower(d, first, second)),
                      hn::BitCast(CellTag(), hn::InterleaveUpper(d, first, second)));
  }
  /// At most kRows rows, behind which nothing may be read.
  HWY_INLINE void run_last(To* to, const uint8_t* from, int64_t count) const {
    alignas(64) uint8_t rows[kRows * kCellsBelow];
    To results[kRows];
    const int64_t step = bytes_ <= kCellBlock ? kCellBlock : kCellsBelow;
    std::memset(rows, 0, static_cast<std::size_t>(kRows * step));
    for (int64_t row = 0; row < count; ++row)
      std::memcpy(rows + row * step, from + row * step_, static_cast<std::size_t>(bytes_));
    CellRows(fold_, bytes_ / kSize, step / kSize)
        .run(results, reinterpret_cast<const From*>(rows), kRows, reinterpret_cast<const From*>(rows + kRows * step),
             false);
    std::memcpy(to, results, static_cast<std::size_t>(count) * sizeof(To));
  }

  Fold fold_;
  int64_t bytes_, step_;
  bool has_pairs_;
  V counted_;  // for pairs a table that puts two rows into a block, else a mask of a row's last bytes
};
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
