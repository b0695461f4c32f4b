// tile: rows of a Program that is one chain over operands that are read where they lie. What the links read is found
// once for all rows; then a row costs one kernel call. Bench: tenon_bench --filter '^fuse/chain, traced.*/L[12]'.
#pragma once
#include "tile/registers.h"
#include "tile/schedule.h"
#include "tile/streamed.h"

namespace tenon {

class ChainRows {
 public:
  /// Whether a run by tiles is such rows.
  static bool fit(const Plan& plan, const Program& program, const Schedule& schedule);
  ChainRows(const Plan& plan, const Program& program, const Schedule& schedule, std::byte* out,
            const void* const* inputs);
  /// Computes tiles [begin, end).
  void run(int64_t begin, int64_t end);

 private:
  /// An operand that is another one in the next row.
  struct Moving {
    const std::byte* base;
    int operand;  // of the chain
    int64_t plan_operand;
    int64_t row_step;  // in bytes, along the first outer loop
  };
  void go_to_row(int64_t row);
  void next_row();
  void run_row(int64_t first_tile, int64_t last_tile);
  void run_piece(int64_t start, int64_t n);

  const Plan& plan_;
  const Schedule& schedule_;
  ChainKernel chain_;
  int shift_;
  std::byte* const out_;
  std::byte* row_ = nullptr;  // of the result
  int64_t row_step_ = 0;      // in bytes
  SmallVector<int64_t, 8> loops_;
  OuterCounter outer_;
  StreamedOutput streamed_;
  LinkedLanes linked_;
  SmallVector<Moving, 8> moving_;
};

}  // namespace tenon
