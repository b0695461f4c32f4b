#include "tile/cascade.h"

#include <algorithm>
#include <cstring>

#include "tile/prefetch.h"

namespace tenon {
namespace {

// Rows from beyond the caches are folded a few at a time, if they are widened or if kernels would fold them a few
// columns at a time: either way the processor would not read ahead by itself. Shorter rows without gaps are read in
// order anyway. Bench: tenon_bench --filter '^reduce/(sum dim 0|\[N,3\] sum dim 0)/memory' and ./dev bench --sweep,
// outer reductions.
constexpr int64_t kFarRows = 16, kNarrowLanes = 32, kShortRowBytes = 1152;

}  // namespace

int64_t bytes_in_registers() noexcept {
  const int64_t bytes = kernels().vector_bytes;
  return bytes * (bytes == 64 ? 16 : 8);
}

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

/// Folds rows from beyond the caches a few at a time if they would not be read ahead. The order of joins is that of one
/// call: kernels join narrow rows together, and others by kFarRows, and no piece is narrow if the rows are not.
void Cascade::fold_rows(std::byte* to, const std::byte* lanes, int64_t n, int64_t step, int64_t rows, bool joins) {
  const int64_t bytes = n << fold_.lane_shift;
  const bool widens = fold_.lane_shift < fold_.shift, is_in_order = step == n && bytes <= kShortRowBytes;
  if (!fold_.is_far || (widens ? is_in_order : bytes <= bytes_in_registers()))
    return fold_.across(to, lanes, n, step, rows, joins);
  const int64_t together = n <= kNarrowLanes ? kCascade : kFarRows;
  for (int64_t count = 0; rows > 0; rows -= count, joins = true) {
    count = std::min(rows, together);
    fold_pieces(lanes, n, step, count, fold_.lane_shift, false, [&](int64_t start, int64_t lane_count) {
      fold_.across(to + (start << fold_.shift), lanes + (start << fold_.lane_shift), lane_count, step, count, joins);
    });
    lanes += count * step * (int64_t{1} << fold_.lane_shift);
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
