// tile: the order in which a reduction joins partial results. Takes lanes or rows of one output tile, or values of one
// output; gives their fold. Error grows with the number of levels only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernel/kernel.h"

namespace tenon {

inline constexpr int64_t kCascade = 64;  // partial results of a level become one of the next
inline constexpr int kCascadeLevels = 4;

/// Bytes of a row that kernels fold side by side.
int64_t bytes_in_registers() noexcept;

/// How lanes are folded.
struct LaneFold {
  Kernel join;              // of two partial results
  FoldAcrossKernel across;  // of rows; null: there are none
  int shift;                // of partial results
  int lane_shift;           // of the lanes of rows: smaller if `across` widens them
  bool is_far;              // rows come from beyond the caches
};

/// Partial results of one output tile, with levels for 1, 64, 4096, ... tiles.
class Cascade {
 public:
  /// `memory`: room for kCascadeLevels levels, `stride` bytes apart.
  Cascade(const LaneFold& fold, std::byte* memory, int64_t stride) : fold_(fold), memory_(memory), stride_(stride) {}

  void reset();
  /// Adds `n` lanes; a narrower tile is added to the first lanes only. `stays`: their memory does not change before
  /// `finish`.
  void add(const void* lanes, int64_t n, bool stays);
  /// Adds `rows` rows of `n` lanes, `step` apart, which LaneFold::across folds.
  void add_rows(const std::byte* lanes, int64_t n, int64_t step, int64_t rows);
  /// The fold of everything added.
  std::byte* finish();
  /// Folds rows by LaneFold::across to `to`, or if it `joins` also with what is there.
  void fold_rows(std::byte* to, const std::byte* lanes, int64_t n, int64_t step, int64_t rows, bool joins);

 private:
  std::byte* at(int level) { return memory_ + level * stride_; }
  void promote();
  void keep_waiting();
  void join_first(const void* lanes, int64_t n);
  void join(int level, const void* lanes, int64_t n);

  LaneFold fold_;
  std::byte* memory_;
  int64_t stride_;
  int64_t counts_[kCascadeLevels] = {};
  int64_t widths_[kCascadeLevels] = {};
  // The first lanes of the first level, if they need no copy: the second join reads them where they are.
  const void* waiting_ = nullptr;
  int64_t waiting_width_ = 0;
};

/// Partial results of one output: the same levels, of single values. A full level is folded to one value of the next.
class ValueCascade {
 public:
  /// `shift`: of the values.
  ValueCascade(FoldKernel fold, int shift) : fold_(fold), shift_(shift) {}

  void reset();
  /// Where to write the next values, at most `space()`; then call add().
  std::byte* next_place() { return place(0); }
  int64_t space() const { return kCascade - counts_[0]; }
  void add(int64_t values);
  /// Everything added so far.
  std::byte* finish();

 private:
  std::byte* at(int level) { return values_[level]; }
  std::byte* place(int level) { return at(level) + (counts_[level] << shift_); }
  void fold_level(int level, std::byte* to, int64_t left);

  FoldKernel fold_;
  int shift_;
  alignas(64) std::byte values_[kCascadeLevels][kCascade * kMaxItemsize];
  int64_t counts_[kCascadeLevels] = {};
};

}  // namespace tenon
