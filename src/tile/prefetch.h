// tile: prefetches memory that the processor does not read ahead by itself.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon {

// Always inline: GCC 12 drops calls of functions that only prefetch, because they change nothing.

/// Prefetches `rows` rows of `bytes` bytes, `step` bytes apart, into the cache of this level. Any address will do.
template <int level = 2>
[[gnu::always_inline]] inline void prefetch_rows(const std::byte* from, int64_t bytes, int64_t step, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row, from += step)
    for (int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(from + line, 0, 4 - level);
}

// Rows from beyond the caches are folded in pieces of so many bytes, longer ones of few rows, so that memory is read
// all the time. So much of rows without gaps is prefetched ahead, and so much of each row otherwise. Pieces of 128
// bytes would be a quarter faster, but add the elements in another order. Bench: tenon_bench --filter
// '^reduce/(sum dim 0|\[N,3\] sum dim 0)/memory' and ./dev bench --sweep, outer reductions.
inline constexpr int64_t kPieceBytes = 256, kLongPieceBytes = 512, kFewPieceRows = 5;
inline constexpr int64_t kBytesAhead = 8 << 10, kRowBytesAhead = 512;
/// Calls fold(start, count) for pieces of `n` elements of some rows, the last of which is the longest, and prefetches
/// what is folded later: rows that follow, or if these `are_all`, the same rows behind their `n` elements. `shift`: of
/// an element.
template <class Fold>
void fold_pieces(const std::byte* from, int64_t n, int64_t step, int64_t rows, int shift, bool are_all,
                 const Fold& fold) {
  const bool is_dense = !are_all && step == n;
  const int64_t piece_bytes = is_dense || rows > kFewPieceRows ? kPieceBytes : kLongPieceBytes;
  const int64_t length = piece_bytes >> shift, pieces = std::max(n / length, int64_t{1});
  const int64_t pieces_ahead = kRowBytesAhead / piece_bytes, step_bytes = step * (int64_t{1} << shift);
  const std::byte* next = from + rows * step_bytes + kBytesAhead;  // of rows without gaps
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t start = piece * length, count = piece + 1 < pieces ? length : n - start;
    const int64_t bytes = count << shift;
    if (are_all) {
      prefetch_rows<1>(from + piece * piece_bytes + kRowBytesAhead, bytes, step_bytes, rows);
    } else if (is_dense) {
      prefetch_rows(next, rows * bytes, 0, 1);
      next += rows * bytes;
    } else {
      const int64_t rows_ahead = (piece + pieces_ahead) / pieces * rows;
      const int64_t ahead = (piece + pieces_ahead) % pieces * piece_bytes;
      prefetch_rows<1>(from + rows_ahead * step_bytes + ahead, bytes, step_bytes, rows);
    }
    fold(start, count);
  }
}

// Rows that lie pages apart, each of which the next turn of the loop around them continues: so many bytes ahead.
inline constexpr int64_t kPagesApart = 4096, kBytesAfter = 256;
/// For rows of `bytes` bytes, `step` bytes apart, whose next turn begins `next` bytes later: the bytes from a row to
/// what should be prefetched, or 0. Bench: ./dev bench --sweep, permuted.
inline int64_t bytes_to_later_turn(int64_t bytes, int64_t step, int64_t next) {
  if (step < kPagesApart || next <= 0 || next > 2 * bytes) return 0;
  return (kBytesAfter + next - 1) / next * next;
}

// The processor reads ahead by itself while rows begin closer to each other than this, or no line is left out.
inline constexpr int64_t kLongStep = 3584;
/// For rows from beyond the caches, `step` bytes apart: their bytes if the gap to the next row should be read, or 0.
/// Rows of 4000 bytes with gaps of 800 were read at 10 GB/s, with their gaps at 20. Bench: ./dev bench --sweep, gaps.
inline int64_t bytes_before_gap(int64_t bytes, int64_t step) {
  const int64_t gap = step - bytes;
  return step >= kLongStep && gap >= 64 && gap <= bytes ? bytes : 0;
}
/// Reads the lines between a row and the next. Not a prefetch, which the processor drops while it waits for others.
inline void read_gap(const std::byte* row, int64_t bytes, int64_t step) {
  for (; bytes < step; bytes += 64) {
#if defined(__x86_64__)
    int byte;  // not loaded in C++: another thread may write to the gap
    asm volatile("movzbl %1, %0" : "=r"(byte) : "m"(row[bytes]));
#else
    __builtin_prefetch(row + bytes);
#endif
  }
}

}  // namespace tenon
