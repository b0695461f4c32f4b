// tile: the direct route: one kernel reads and writes the operands' memory, row after row. Only periodic operands are
// copied. Takes a plan that allows it; runs the kernel.
#pragma once
#include <optional>

#include "tile/blocks.h"
#include "tile/registers.h"
#include "tile/rows.h"
#include "tile/schedule.h"
#include "tile/streamed.h"

namespace tenon {

/// Whether rows of an input are short and far apart: from beyond the caches the processor reads them best by itself,
/// beside ordinary stores. Bench: ./dev bench --sweep, permuted.
bool has_short_jumps(const Plan& plan, const Program& program);
/// Whether the Program is one kernel and every operand is a run of memory, one value, or a short pattern.
bool runs_directly(const Plan& plan, const Program& program);
bool has_patterns(const Plan& plan);
/// Bytes of scratch for patterns of pieces of `piece` elements.
int64_t pattern_bytes(const Plan& plan, const Program& program, int64_t piece);

/// Rows of the output.
struct Rows {
  std::byte* to;
  int64_t step;  // in bytes
};

/// Computes tiles: pieces of a long row, or whole short rows.
class DirectRuns {
 public:
  DirectRuns(const Plan& plan, const Program& program, const Schedule& schedule, std::byte* out,
             const void* const* inputs);
  void run(int64_t begin, int64_t end);

 private:
  void read_ahead(const std::byte* const* from, int64_t first, int64_t rows, bool are_last) const;
  void run_rows(int64_t start, int64_t row, int64_t n, int64_t rows);
  int64_t whole_lanes(int64_t n) const;
  void call(Kernel kernel, Rows out, const int64_t* steps, int64_t n, int64_t rows);
  void call_for_whole_rows(Kernel kernel, std::byte* to, const std::byte** from, int64_t n, int64_t rows);
  void run_whole_rows(Kernel kernel, std::byte* to, const std::byte** from, int64_t n, int64_t rows);
  void run_copies(std::byte* to, const std::byte* from, int64_t rows);
  void run_joined(std::byte* to, const std::byte** from, int64_t n, int64_t rows);
  void run_pieces(std::byte* to, const std::byte* const* from, int64_t n);
  void run_piece(std::byte* to, int64_t n);
  RowCalls row_calls(const std::byte* to, int64_t n) const;
  static bool fills_blocks(const std::byte* to, int64_t n);
  const std::byte* pattern_of(int operand, const std::byte* from);

  void look_ahead(int64_t bytes);
  void stream_copies(const Program& program);
  void prefetch_jumps(int operand, const std::byte* from, int64_t first, int64_t count) const;

  struct Operand {
    const std::byte* base = nullptr;
    int shift = 0;
    int64_t row_step = 0;         // in bytes, along the first outer loop
    int64_t row_bytes = 0;        // of a row that is followed by a gap to be read; 0: of others
    bool jumps = false;           // its rows lie apart and are prefetched
    int64_t length = 0;           // of a periodic operand's pattern, in elements
    int64_t pattern = -1;         // offset of a periodic operand's pattern in the scratch memory; -1: not periodic
    const void* built = nullptr;  // the data from which the pattern was built
  };

  const Plan& plan_;
  const Instruction& instruction_;
  const Schedule& schedule_;
  int64_t rows_;
  int64_t first_row_ = 0;         // of those that follow, in the rows' loop
  int64_t narrowest_;             // bytes of the narrowest element
  bool reads_ahead_ = false;      // the gaps between rows, or rows that lie apart
  bool follows_ = false;          // the result's rows follow each other
  bool copies_far_ = false;       // long runs, by memcpy
  bool moves_ = false;            // rows of bytes, of which one call moves some
  bool runs_over_ = false;        // rows follow each other, so lanes of the next one may be computed and overwritten
  bool overlaps_itself_ = false;  // the kernel, in 16-bit floats, overlaps the last lanes of a row
  Operand out_, in_[kMaxArgs];
  int64_t steps_[kMaxArgs];  // of the inputs, in bytes, along the row
  Lanes lanes_[kMaxArgs];
  Scratch patterns_;
  StreamedOutput streamed_;
  std::optional<StreamedRuns> copied_;     // if rows are streamed from where they lie
  const std::byte* copied_end_ = nullptr;  // of the memory of a copied operand
  SmallVector<int64_t, 8> loops_;          // that are counted one by one
  OuterCounter outer_;
  std::optional<OuterCounter> later_;  // where rows are prefetched: so many turns later
  int64_t turns_ahead_ = 0, rows_ahead_ = 0;
};

}  // namespace tenon
