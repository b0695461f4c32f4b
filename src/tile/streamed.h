// tile: streaming stores, which write whole cache lines past the caches. A kernel does them itself; short or odd pieces
// of results are gathered to lines first.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tile/program.h"
#include "tile/scratch.h"

namespace tenon {

inline constexpr int64_t kLine = 64;

inline int64_t place_in_line(const std::byte* to) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
}

/// Runs an instruction in two calls: the first few lanes up to a cache line of the output, then the rest. Advances
/// `in`. `steps`: the bytes from one lane of an input to the next.
inline void run_on_lines(const Instruction& instruction, std::byte* to, int shift, Lanes* in, const int64_t* steps,
                         int64_t n) {
  const int64_t head = (kLine - place_in_line(to)) % kLine >> shift;
  if (head > 0 && head < n) {
    instruction.kernel(to, in, head);
    for (int operand = 0; operand < instruction.arity; ++operand)
      in[operand].data = static_cast<const std::byte*>(in[operand].data) + head * steps[operand];
    to += head << shift;
    n -= head;
  }
  instruction.kernel(to, in, n);
}

/// Collects pieces of results into whole cache lines. The rest of a piece waits for the piece that continues it. The
/// staging area has the output's offset within a line, so that its lines match the output's.
class StreamedOutput {
 public:
  /// Bytes of memory for pieces of up to `piece_bytes`.
  static constexpr int64_t bytes(int64_t piece_bytes) noexcept {
    return piece_bytes + kDrainBytes + 2 * kLine + 2 * kPage;
  }
  explicit StreamedOutput(int64_t nbytes) : memory_(nbytes), staging_(nbytes > 0 ? placed(memory_.data()) : nullptr) {}
  ~StreamedOutput() { flush(); }

  /// Whether it has memory.
  bool is_open() const { return staging_ != nullptr; }
  /// Where to write the piece whose destination is `to`.
  std::byte* staging(std::byte* to) {
    if (to != next_) {
      flush();
      next_ = to;
      begin_ = filled_ = place_in_line(to);
    }
    return staging_ + filled_;
  }
  /// Call after `nbytes` were written there.
  void commit(int64_t nbytes) {
    filled_ += nbytes;
    next_ += nbytes;
    if (filled_ >= kDrainBytes) drain();
  }
  /// Stores the whole lines; the rest waits.
  void drain_lines() {
    if (filled_ >= kLine) drain();
  }
  /// Stores everything that is left.
  void flush() {
    if (filled_ != begin_) {
      drain();
      std::memcpy(next_ - filled_ + begin_, staging_ + begin_, static_cast<std::size_t>(filled_ - begin_));
    }
    begin_ = filled_ = 0;
    next_ = nullptr;
  }

 private:
  // With bursts of this length, loads and stores overlap. Bench: tenon_bench --filter '^large/NCHW 7x7/memory'.
  static constexpr int64_t kDrainBytes = 512;

  /// Stores the whole lines and keeps the rest.
  void drain() {
    const int64_t whole = filled_ / kLine * kLine;
    std::byte* to = next_ - filled_;  // destination of the staging area's first byte
    int64_t begin = begin_;
    if (begin > 0 && whole > 0) {
      std::memcpy(to + begin, staging_ + begin, static_cast<std::size_t>(kLine - begin));
      begin = kLine;
    }
    if (whole > begin) copy_lines(to + begin, staging_ + begin, whole - begin);
    if (whole == 0) return;
    std::memcpy(staging_, staging_ + whole, kLine);
    filled_ -= whole;
    begin_ = 0;
  }
  static void copy_lines(std::byte* to, const std::byte* from, int64_t nbytes) {
    constexpr int kByte = static_cast<int>(Dtype::uint8);
    const Lanes bytes{from, 1};
    const Kernel streamed = kernels().cast_streamed[kByte][kByte];
    (streamed ? streamed : kernels().cast[kByte][kByte])(to, &bytes, nbytes);
  }
  /// A quarter into a page. A vector that is stored across two pages waits for the streaming stores before it, and a
  /// load for an earlier store whose address has the same last twelve bits: large tensors begin where pages do.
  static std::byte* placed(std::byte* memory) {
    return memory + (kPage - reinterpret_cast<intptr_t>(memory) % kPage) + kPage / 4;
  }

  static constexpr int64_t kPage = 4096;
  Scratch memory_;
  std::byte* staging_;
  std::byte* next_ = nullptr;  // destination of the next byte
  int64_t begin_ = 0, filled_ = 0;
};

/// Streams runs of bytes that follow each other. Lines inside a run are stored from where it lies; a line in which runs
/// meet is put together first. Staging the whole runs would take twice as long where their loads wait for the stores.
class StreamedRuns {
 public:
  // Staging is faster for runs of fewer bytes. Bench: ./dev bench --sweep, cat and copies.
  static constexpr int64_t kLong = 256;

  ~StreamedRuns() { flush(); }

  /// Where the next run goes.
  void go_to(std::byte* to) {
    if (to == to_) return;
    flush();
    to_ = to;
    untouched_ = place_in_line(to);
  }
  /// Stores everything that is left. Call go_to next.
  void flush() {
    if (to_) store_part(to_, place_in_line(to_));
    to_ = nullptr;
  }

  /// `readable`: bytes of memory from `from` on, at least `nbytes`.
  void append(const std::byte* from, int64_t nbytes, int64_t readable) {
    const int64_t place = place_in_line(to_), head = kLine - place;
    to_ += nbytes;
    fill(place, from, nbytes, readable);
    if (nbytes < head) return;
    std::byte* to = to_ - nbytes + head;
    if (untouched_ == 0) [[likely]]
      store(to - kLine, line_);
    else
      store_part(to, kLine);
    from += head;
    readable -= head;
    int64_t left = nbytes - head;
    for (; left >= kLine; left -= kLine, readable -= kLine, from += kLine, to += kLine) store(to, from);
    if (left > 0) fill(0, from, left, readable);
  }

 private:
  /// A copy of a whole line, whose excess is overwritten, has no branches.
  void fill(int64_t place, const std::byte* from, int64_t nbytes, int64_t readable) {
    if (readable >= kLine) [[likely]]
      std::memcpy(line_ + place, from, kLine);
    else
      copy(line_ + place, from, std::min(nbytes, kLine - place));
  }
  static void store(std::byte* to, const std::byte* from) {
#if defined(__SSE2__)
    for (int64_t at = 0; at < kLine; at += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
#else
    std::memcpy(to, from, kLine);
#endif
  }
  /// The line's bytes before `end`, apart from those before the first run. `to`: behind them.
  void store_part(std::byte* to, int64_t end) {
    if (end > untouched_) copy(to - (end - untouched_), line_ + untouched_, end - untouched_);
    untouched_ = 0;
  }

  static void copy(std::byte* to, const std::byte* from, int64_t nbytes) {
    std::memcpy(to, from, static_cast<std::size_t>(nbytes));
  }

  std::byte* to_ = nullptr;
  int64_t untouched_ = 0;  // of the first line: bytes before the first run
  alignas(kLine) std::byte line_[2 * kLine];
};

/// Runs `plain` and, for whole cache lines, `streamed`: functions of (output, lanes, number of lanes). What fills no
/// whole line at both ends waits in `output` for the pieces beside it. Advances the `count` operands of `in`. `steps`:
/// the bytes from one lane of an operand to the next.
template <class Plain, class Streamed>
void run_streamed(const Plain& plain, const Streamed& streamed, std::byte* to, int shift, Lanes* in, int count,
                  const int64_t* steps, int64_t n, StreamedOutput& output) {
  const auto run = [&](const auto& kernel, std::byte* target, int64_t lanes) {
    kernel(target, in, lanes);
    to += lanes << shift;
    for (int operand = 0; operand < count; ++operand)
      in[operand].data = static_cast<const std::byte*>(in[operand].data) + lanes * steps[operand];
  };
  const auto stage = [&](int64_t lanes) {
    if (lanes == 0) return;
    run(plain, output.staging(to), lanes);
    output.commit(lanes << shift);
  };
  const int64_t head = std::min((kLine - place_in_line(to)) % kLine >> shift, n), tail = (n - head) % kStreamedLanes;
  stage(head);
  output.drain_lines();
  if (n > head + tail) run(streamed, to, n - head - tail);
  stage(tail);
}
/// The same with the kernels of an instruction; those that have no streaming stores use ordinary ones.
inline void run_streamed(const Instruction& instruction, std::byte* to, int shift, Lanes* in, const int64_t* steps,
                         int64_t n, StreamedOutput& output) {
  if (!instruction.streamed) return instruction.kernel(to, in, n);
  run_streamed(instruction.kernel, instruction.streamed, to, shift, in, instruction.arity, steps, n, output);
}
/// The same for lanes of the Program's registers. `reg`: the one that the instruction writes.
inline void run_streamed(const Instruction& instruction, std::byte* to, const Program& program, int reg, Lanes* in,
                         int64_t n, StreamedOutput& output) {
  int64_t steps[kMaxArgs];
  for (int operand = 0; operand < instruction.arity; ++operand)
    steps[operand] = in[operand].step << shift_of(program.dtype(instruction.in[operand]));
  run_streamed(instruction, to, shift_of(program.dtype(reg)), in, steps, n, output);
}

/// Copies bytes with streaming stores.
inline void stream_bytes(std::byte* to, const std::byte* from, int64_t nbytes, StreamedOutput& output) {
  constexpr int kByte = static_cast<int>(Dtype::uint8);
  const Instruction copy{kernels().cast[kByte][kByte], kernels().cast_streamed[kByte][kByte], 1, {0}};
  Lanes in[] = {{from, 1}};
  const int64_t step = 1;
  run_streamed(copy, to, 0, in, &step, nbytes, output);
}

}  // namespace tenon
