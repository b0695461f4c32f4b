// tile: an output that goes past the caches. Takes results piece by piece; stores whole cache lines.
#pragma once
#include <cstddef>
#include <cstring>

#include "kernel/kernel.h"
#include "tile/registers.h"

namespace tenon {

/// Only whole lines may leave past the caches: what does not fill one waits for the piece that continues it. The
/// staging area keeps the output's place within a line, so that its lines are the output's.
class StreamedOutput {
 public:
  /// For pieces of up to `piece_bytes`.
  explicit StreamedOutput(int64_t piece_bytes) : staging_(piece_bytes + kDrainBytes + 2 * kLine) {}
  ~StreamedOutput() { flush(); }

  /// Where to put the piece that belongs at `to`.
  std::byte* room(std::byte* to) {
    if (to != next_) {
      flush();
      next_ = to;
      begin_ = filled_ = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
    }
    return staging_.data() + filled_;
  }
  /// `nbytes` were put into the room.
  void commit(int64_t nbytes) {
    filled_ += nbytes;
    next_ += nbytes;
    if (filled_ >= kDrainBytes) drain();
  }

 private:
  static constexpr int64_t kLine = 64;
  // Bursts of this length keep loads and stores flowing side by side.
  static constexpr int64_t kDrainBytes = 512;

  /// Stores the whole lines and keeps the rest.
  void drain() {
    const int64_t whole = filled_ / kLine * kLine;
    std::byte* to = next_ - filled_;  // where the staging area's first byte belongs
    int64_t begin = begin_;
    if (begin > 0 && whole > 0) {
      std::memcpy(to + begin, staging_.data() + begin, static_cast<std::size_t>(kLine - begin));
      begin = kLine;
    }
    if (whole > begin) kernels().stream(to + begin, staging_.data() + begin, whole - begin);
    if (whole == 0) return;
    std::memcpy(staging_.data(), staging_.data() + whole, kLine);
    filled_ -= whole;
    begin_ = 0;
  }
  void flush() {
    if (filled_ == begin_) return;
    drain();
    std::memcpy(next_ - filled_ + begin_, staging_.data() + begin_, static_cast<std::size_t>(filled_ - begin_));
    begin_ = filled_ = 0;
  }

  Scratch staging_;
  std::byte* next_ = nullptr;  // where the next byte belongs
  int64_t begin_ = 0, filled_ = 0;
};

}  // namespace tenon
