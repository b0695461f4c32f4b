// tile: streaming stores, which write whole cache lines past the caches. A kernel does them itself; short or odd pieces
// of results are gathered to lines first.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

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

/// Runs an instruction with streaming stores. What fills no whole line at both ends waits in `output` for the pieces
/// beside it. Advances `in`. `steps`: the bytes from one lane of an input to the next.
inline void run_streamed(const Instruction& instruction, std::byte* to, int shift, Lanes* in, const int64_t* steps,
                         int64_t n, StreamedOutput& output) {
  const auto run = [&](Kernel kernel, std::byte* target, int64_t count) {
    kernel(target, in, count);
    to += count << shift;
    for (int operand = 0; operand < instruction.arity; ++operand)
      in[operand].data = static_cast<const std::byte*>(in[operand].data) + count * steps[operand];
  };
  const auto stage = [&](int64_t count) {
    if (count == 0) return;
    run(instruction.kernel, output.staging(to), count);
    output.commit(count << shift);
  };
  if (!instruction.streamed) return instruction.kernel(to, in, n);
  const int64_t head = std::min((kLine - place_in_line(to)) % kLine >> shift, n), tail = (n - head) % kStreamedLanes;
  stage(head);
  output.drain_lines();
  if (n > head + tail) run(instruction.streamed, to, n - head - tail);
  stage(tail);
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
