// tile: several short rows of a Program as one tile.
#pragma once
#include <memory>
#include <vector>

#include "tile/row_registers.h"
#include "tile/schedule.h"

namespace tenon {

class ProgramRows {
 public:
  /// How many rows one tile of up to `most` elements has; 1: each row is computed alone. The schedule has tiles of
  /// whole rows.
  static int64_t rows_of(const Plan& plan, const Program& program, const Schedule& schedule, int64_t most);
  /// Bytes of the values that are computed for each row.
  static int64_t value_bytes(const Plan& plan, const Program& program, int64_t rows);
  ProgramRows(const Plan& plan, const Program& program, const Schedule& schedule, void* const* outs,
              const void* const* inputs);
  /// Computes rows [begin, end).
  void run(int64_t begin, int64_t end);

 private:
  /// The next `rows` rows, `row` rows after the outer loops' current index.
  void run_tile(int64_t row, int64_t rows);

  const Plan& plan_;
  const Program& program_;
  const Schedule& schedule_;
  void* const* const outs_;
  const void* const* const inputs_;
  Scratch scratch_;
  SmallVector<int64_t, 8> loops_;
  OuterCounter outer_;
  RowRegisters registers_;
  // Of each result, if one is streamed. In few rows the memory of a deque took a fourth of the time. Bench: tenon_bench
  // --filter '^fuse/chain/rows of 32'.
  std::vector<std::unique_ptr<StreamedOutput>> streamed_;
};

}  // namespace tenon
