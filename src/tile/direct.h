// tile: the way of a single kernel that works on memory itself, row after row: nothing is copied to a tile but what
// repeats. Takes a plan for which this holds; runs the kernel.
#pragma once
#include "tile/blocks.h"
#include "tile/registers.h"
#include "tile/streamed.h"

namespace tenon {

/// Whether one kernel is all there is to do, and every operand is a run of memory, one value, or a short pattern.
bool runs_directly(const Plan& plan, const Program& program);

/// Works in units of which `per_flat` make one turn of the outer loops: the pieces of a long run, or a whole short one.
class DirectRuns {
 public:
  DirectRuns(const Plan& plan, const Program& program, std::byte* out, const void* const* inputs, bool streaming,
             int64_t unit);
  void run(int64_t begin, int64_t end);

 private:
  /// How results leave.
  enum class StoreMode { in_place, streamed, joined };
  StoreMode choose_store_mode(bool streaming) const;

  void run_rows(int64_t start, int64_t row, int64_t n, int64_t rows);
  void run_whole_rows(Kernel kernel, std::byte* to, const std::byte** from, int64_t n, int64_t rows);
  void run_joined(std::byte* to, const std::byte** from, int64_t n, int64_t rows);
  void run_pieces(std::byte* to, const std::byte* const* from, int64_t n);
  void run_piece(std::byte* to, int64_t n);
  static bool fills_blocks(const std::byte* to, int64_t n);
  const std::byte* pattern_of(int operand, const std::byte* from);

  struct Operand {
    const std::byte* base = nullptr;
    int shift = 0;
    int64_t row_step = 0;         // in bytes, along the first outer loop
    int64_t length = 0;           // of a periodic operand's pattern, in elements
    int64_t pattern = -1;         // offset of a periodic operand's pattern in the scratch memory; -1: not periodic
    const void* built = nullptr;  // what that was built from
  };

  const Plan& plan_;
  const Instruction& instruction_;
  int64_t unit_, per_flat_, rows_;
  StoreMode store_mode_;
  int64_t piece_;  // elements of a pattern at hand; 0: no operand repeats one
  Operand out_, in_[kMaxArgs];
  int64_t steps_[kMaxArgs];  // of the inputs, in bytes, along the run
  Lanes lanes_[kMaxArgs];
  Scratch patterns_;
  StreamedOutput streamed_;
  OuterCounter outer_;
};

}  // namespace tenon
