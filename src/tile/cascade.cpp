#include "tile/cascade.h"

#include <algorithm>
#include <cstring>

#include "tile/prefetch.h"

namespace tenon {
namespace {

// Rows from beyond the caches are folded a few at a time, in pieces of so many bytes, so that memory is read all the
// time. Shorter rows without gaps need no pieces. So much is prefetched ahead, or so many pieces if the rows have gaps.
// Bench: tenon_bench --filter '^reduce/(sum dim 0|\[N,3\] sum dim 0)/memory' and ./dev bench --sweep, outer reductions.
constexpr int64_t kFarRows = 4, kFarBytes = 2 << 10, kPieceBytes = 256, kShortRowBytes = 1152;
constexpr int64_t kBytesAhead = 8 << 10, kPiecesAhead = 8;
// Rows with a multiple of this distance (in bytes) share a few sets of the first-level cache, which holds so many of
// them. Bench: tenon_bench --filter '^reduce/sum dim 0/L3'.
constexpr int64_t kSharedStep = 2048, kSharedRows = 8;

}  // namespace

void Cascade::reset() {
  for (int level = 0; level < kCascadeLevels; ++level) counts_[level] = widths_[level] = 0;
  waiting_ = nullptr;
}

void Cascade::add(const void* lanes, int64_t n, bool stays) {
  if (stays && widths_[0] == 0 && !waiting_) {
    waiting_ = lanes;
    waiting_width_ = n;
  } else {
    join_first(lanes, n);
  }
  if (++counts_[0] == kCascade) promote();
}

void Cascade::add_rows(const std::byte* lanes, int64_t n, int64_t step, int64_t rows) {
  if (waiting_) keep_waiting();
  for (int64_t count = 0; rows > 0; rows -= count) {
    count = std::min(rows, kCascade - counts_[0]);
    const int64_t common = std::min(widths_[0], n);
    if (common > 0) fold_rows(at(0), lanes, common, step, count, true);
    if (common < n)
      fold_rows(at(0) + (common << fold_.shift), lanes + (common << fold_.lane_shift), n - common, step, count, false);
    widths_[0] = std::max(widths_[0], n);
    counts_[0] += count;
    if (counts_[0] == kCascade) promote();
    lanes += (count * step) << fold_.lane_shift;
  }
}

std::byte* Cascade::finish() {
  if (waiting_) keep_waiting();
  int into = kCascadeLevels - 1;
  while (into > 0 && widths_[into] == 0) --into;
  for (int level = into - 1; level >= 0; --level)
    if (widths_[level] > 0) join(into, at(level), widths_[level]);
  return at(into);
}

/// Folds rows a few at a time where more would not suit the caches. The order of joins is that of one call, so no piece
/// is shorter than a vector if the rows are not.
void Cascade::fold_rows(std::byte* to, const std::byte* lanes, int64_t n, int64_t step, int64_t rows, bool joins) {
  const int64_t step_bytes = step * (int64_t{1} << fold_.lane_shift);
  const bool share_sets = step_bytes != 0 && step_bytes % kSharedStep == 0;
  if (!fold_.is_far && !share_sets) return fold_.across(to, lanes, n, step, rows, joins);
  const int64_t together =
      fold_.is_far ? std::clamp((kFarBytes >> fold_.lane_shift) / n / 4 * 4, kFarRows, kCascade) : kSharedRows;
  for (int64_t count = 0; rows > 0; rows -= count, lanes += count * step_bytes, joins = true) {
    count = std::min(rows, joins ? together : together + 1);  // kernels fold four rows before they join them
    if (fold_.is_far)
      fold_pieces(to, lanes, n, step, count, joins);
    else
      fold_.across(to, lanes, n, step, count, joins);
  }
}

void Cascade::fold_pieces(std::byte* to, const std::byte* lanes, int64_t n, int64_t step, int64_t rows, bool joins) {
  const bool is_short = step == n && n << fold_.lane_shift <= kShortRowBytes;
  const int64_t length = is_short ? n : kPieceBytes >> fold_.lane_shift, pieces = std::max(n / length, int64_t{1});
  const int64_t step_bytes = step * (int64_t{1} << fold_.lane_shift);
  const std::byte* next = lanes + rows * step_bytes + kBytesAhead;  // of rows without gaps
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t start = piece * length, count = piece + 1 < pieces ? length : n - start;
    const int64_t bytes = count << fold_.lane_shift;
    if (step == n) {
      prefetch_rows(next, rows * bytes, 0, 1);
      next += rows * bytes;
    } else {
      const int64_t rows_ahead = (piece + kPiecesAhead) / pieces * rows;
      const int64_t ahead = (piece + kPiecesAhead) % pieces * kPieceBytes;
      prefetch_rows(lanes + rows_ahead * step_bytes + ahead, bytes, step_bytes, rows);
    }
    fold_.across(to + (start << fold_.shift), lanes + (start << fold_.lane_shift), count, step, rows, joins);
  }
}

/// Joins full levels to the next ones.
void Cascade::promote() {
  for (int level = 0; level + 1 < kCascadeLevels && counts_[level] == kCascade; ++level) {
    join(level + 1, at(level), widths_[level]);
    counts_[level] = widths_[level] = 0;
    ++counts_[level + 1];
  }
}

void Cascade::keep_waiting() {
  join(0, waiting_, waiting_width_);
  waiting_ = nullptr;
}

/// Joins lanes to the first level.
void Cascade::join_first(const void* lanes, int64_t n) {
  if (waiting_ && n != waiting_width_) keep_waiting();
  if (!waiting_) return join(0, lanes, n);
  const Lanes in[] = {{waiting_, 1}, {lanes, 1}};
  fold_.join(at(0), in, n);
  widths_[0] = n;
  waiting_ = nullptr;
}

void Cascade::join(int level, const void* lanes, int64_t n) {
  const int64_t common = std::min(widths_[level], n);
  if (common > 0) {
    const Lanes in[] = {{at(level), 1}, {lanes, 1}};
    fold_.join(at(level), in, common);
  }
  if (n <= widths_[level]) return;
  std::memcpy(at(level) + (common << fold_.shift), static_cast<const std::byte*>(lanes) + (common << fold_.shift),
              static_cast<std::size_t>((n - common) << fold_.shift));
  widths_[level] = n;
}

void ValueCascade::reset() {
  for (int64_t& count : counts_) count = 0;
}

void ValueCascade::add(int64_t values) {
  int level = 0;
  while ((counts_[level] += values) == kCascade && level < kCascadeLevels - 1) {
    fold_level(level, place(level + 1), 0);
    ++level;
    values = 1;
  }
  if (counts_[level] == kCascade) fold_level(level, at(level), 1);  // the last level keeps its fold as its first value
}

std::byte* ValueCascade::finish() {
  for (int level = 0; level + 1 < kCascadeLevels; ++level) {
    if (counts_[level] == 0) continue;
    fold_level(level, place(level + 1), 0);
    ++counts_[level + 1];
  }
  fold_level(kCascadeLevels - 1, at(kCascadeLevels - 1), 1);
  return at(kCascadeLevels - 1);
}

void ValueCascade::fold_level(int level, std::byte* to, int64_t left) {
  fold_(to, at(level), counts_[level], 0, 1, false);
  counts_[level] = left;
}

}  // namespace tenon
