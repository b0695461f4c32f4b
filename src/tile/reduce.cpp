#include "tile/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "ops/block_name.h"
#include "tile/cascade.h"
#include "tile/packed.h"
#include "tile/pool.h"
#include "tile/prefetch.h"
#include "tile/reduce_shape.h"
#include "tile/registers.h"
#include "tile/row_registers.h"
#include "tile/run.h"
#include "tile/schedule.h"
#include "tile/stages.h"

namespace tenon {
namespace {

SmallVector<bool, 8> inputs_in_place(const Plan& plan, const ReduceShape& shape) {
  SmallVector<bool, 8> in_place(plan.operands.size() - 1);
  for (int64_t i = 0; i < in_place.size(); ++i) {
    const int64_t* strides = plan.strides_of(i + 1);
    const int64_t stride = shape.lane_loop < 0 ? 1 : strides[shape.lane_loop];
    if (shape.joins_rows()) {
      in_place[i] = stride == 0 && strides[shape.row_loop] == 0;
      continue;
    }
    if (shape.apart || shape.joins_runs()) {
      const int64_t step = strides[shape.apart ? 1 : shape.reduced[0]];
      in_place[i] = (stride == 0 || stride == 1) && step == stride * plan.sizes[shape.lane_loop];
      continue;
    }
    in_place[i] =
        (stride == 0 || stride == 1) &&
        (!shape.folds_rows() || strides[shape.kept[0]] == stride * shape.lanes || shape.tile < 2 * shape.lanes);
  }
  return in_place;
}

/// Whether the Program is one cast.
bool only_casts(const Program& program) {
  if (program.inputs() != 1 || program.instructions().size() != 1) return false;
  const auto from = static_cast<int>(program.dtype(0)), to = static_cast<int>(program.dtype(program.result()));
  return program.instructions()[0].kernel == kernels().cast[from][to];
}
/// Whether outputs are few columns of few rows each. Integers of such rows are cast first: the kernels that widen them
/// pay for every output what they save on many rows. Bench: ./dev bench --sweep, middle reductions.
bool has_few_columns_of_few_rows(const Plan& plan) {
  constexpr int64_t kFewColumns = 16, kSomeColumns = 64, kFewRows = 3, kFewOfOutput = 4 << 10;
  if (plan.ndim() <= 2 || is_reduced(plan, 0) || !is_reduced(plan, 1)) return false;
  return (plan.sizes[0] < kFewColumns && plan.sizes[0] * plan.sizes[1] <= kFewOfOutput) ||
         (plan.sizes[0] < kSomeColumns && plan.sizes[1] <= kFewRows);
}
/// The kernel that folds runs of `n` elements of dtype `from` where they lie; null if they are cast first, as are
/// narrow runs of 16-bit floats that no vectors fold.
FoldKernel along_of(const FoldKernels& folds, Op op, Dtype from, Dtype accumulated, int64_t n) {
  const bool is_half = accumulated == float32 && from != float32;
  return is_half && n < kNarrowRow && !folds_narrow_rows(op, from, accumulated) ? nullptr : folds.along;
}
/// The kernel that folds rows of the input; null if there is none.
FoldAcrossKernel across_of(const FoldKernels& folds, const Program& program, const Plan& plan) {
  const bool widens_integers = !program.instructions().empty() && program.dtype(program.result()) == int64;
  return widens_integers && has_few_columns_of_few_rows(plan) ? nullptr : folds.across;
}

struct Setup {
  const Plan& plan;
  const Program& whole;
  const Reduction& reduction;
  const FoldKernels where_it_lies;    // fold the input
  FoldAcrossKernel across;            // for rows of the input, read where they lie; null: there is none
  FoldBlocksKernel blocks = nullptr;  // for blocks of such rows, or of computed ones
  ReduceShape shape;
  Dtype accumulated;
  int shift;  // of the accumulated dtype
  Kernel join;
  FoldKernel fold, fold_values;  // for the Program's results; for partial results
  bool widens = false;           // folds cast the input themselves, so the Program only reads it
  Program narrow;
  SmallVector<bool, 8> in_place;     // inputs that are read where they lie in memory
  bool has_rows = false;             // rows that are computed together are read where they lie
  SmallVector<bool, 16> with_lanes;  // registers of such rows
  bool plain = false;                // the lanes can be folded there, too
  int lane_shift = 0;                // of the folded lanes: smaller if the fold widens them
  bool is_far = false;               // the input comes from beyond the caches
  int64_t slot_bytes = 0;
  Slots slots;
  std::byte* out = nullptr;
  const void* const* inputs = nullptr;

  // Not an aggregate: `Program{}` would be filled with zeros first.
  Setup(const Plan& loops, const Program& elements, const Reduction& what)
      : plan(loops),
        whole(elements),
        reduction(what),
        where_it_lies(folds_of_input(elements, what.op)),
        across(across_of(where_it_lies, elements, loops)),
        shape(choose_shape(loops, forms())),
        accumulated(elements.dtype(elements.result())),
        shift(shift_of(accumulated)),
        join(kernel_of(join_of(what.op), accumulated)),
        fold(kernels().fold[static_cast<int>(what.op)][static_cast<int>(accumulated)]),
        fold_values(fold) {
    const bool lies_in_lanes = shape.lane_loop >= 0 && !shape.joins_rows() && plan.strides_of(1)[shape.lane_loop] == 1;
    if (!whole.instructions().empty()) choose_widening_folds(lies_in_lanes);
    plain = program().inputs() == 1 && program().instructions().empty() && lies_in_lanes && !shape.apart;
    if (!plain) across = nullptr;
    if (plain && finds_extremes(formula_of(what.op, accumulated)) && itemsize(elements.dtype(0)) <= 2)
      lengthen_pieces();
    blocks = plain ? where_it_lies.blocks : blocks_of_results();
    is_far = plan.numel * itemsize(elements.dtype(0)) > 2 * streaming_threshold();
    lane_shift = shift_of(program().dtype(program().result()));
    const int64_t widest = std::max({program().widest(), itemsize(accumulated), itemsize(what.output)});
    slot_bytes = (shape.tile * (shape.in_blocks && !plain ? plan.sizes[1] : 1) * widest + 63) / 64 * 64;
    if (plain) return;
    in_place = inputs_in_place(plan, shape);
    find_rows();
    slots = assign_slots(program(), in_place);
  }

  /// Whether rows of which an operand stays, or has gaps, are computed where they lie: else, or if they are so short
  /// that a call for each takes longer, they are copied. Bench: tenon_bench --filter '^fuse/(distances|layer_norm)'.
  void find_rows() {
    if (shape.lanes < kFewChained) return;
    const bool are_together =
        shape.along && (shape.folds_rows() || shape.joins_runs()) && shape.tile >= 2 * shape.lanes;
    if (!are_together || std::all_of(in_place.begin(), in_place.end(), [](bool is) { return is; })) return;
    const auto stride_of = [this](int64_t input) { return plan.strides_of(input + 1)[shape.lane_loop]; };
    for (int64_t i = 0; i < in_place.size(); ++i)
      if (stride_of(i) != 0 && stride_of(i) != 1) return;
    with_lanes = registers_with_lanes(program(), [&](int input) { return stride_of(input) == 0; });
    const int result = program().result();
    has_rows = result >= program().inputs() && with_lanes[result];
    if (has_rows) std::fill(in_place.begin(), in_place.end(), true);
  }
  int64_t rows() const { return shape.tile / shape.lanes; }
  int64_t value_bytes() const { return has_rows ? RowRegisters::value_bytes(program(), with_lanes, rows()) : 0; }

  /// Takes kernels that cast the input themselves, if there are some.
  void choose_widening_folds(bool lies_in_lanes) {
    const FoldKernel along = along_of(where_it_lies, reduction.op, whole.dtype(0), accumulated, shape.lanes);
    widens = shape.along ? along != nullptr : lies_in_lanes && across != nullptr;
    if (!widens) return;
    fold = along;
    narrow.input(whole.dtype(0));
  }
  /// Pieces of long runs of narrow elements, of which any order gives the same: their ends would take as long as they.
  void lengthen_pieces() {
    constexpr int64_t kLonger = 8;
    if (!shape.along || shape.lanes <= shape.tile) return;
    const auto pieces = [this] { return (shape.lanes + shape.tile - 1) / shape.tile; };
    const int64_t runs = shape.reduced_count / pieces();
    shape.tile *= kLonger;
    shape.reduced_count = runs * pieces();
    shape.segments = std::min(shape.segments, shape.reduced_count);
  }
  FoldBlocksKernel blocks_of_results() const {
    return kernels().fold_blocks[static_cast<int>(reduction.op)][static_cast<int>(whole.dtype(whole.result()))];
  }
  FoldForms forms() const {
    const bool lies_in_order = plan.ndim() > 0 && plan.strides_of(1)[0] == 1;
    const bool is_narrow = lies_in_order && plan.sizes[0] < kNarrowRow && where_it_lies.along &&
                           folds_narrow_rows(reduction.op, whole.dtype(0), whole.dtype(whole.result()));
    return {.rows = across && lies_in_order, .blocks = blocks_of_results() != nullptr, .narrow = is_narrow};
  }
  const Program& program() const { return widens ? narrow : whole; }
  LaneFold lane_fold() const { return {join, across, shift, lane_shift, is_far || prefetches_rows()}; }
  /// Whether the processor does not read ahead in the last cache, either: in many rows that begin anywhere in a line.
  /// Bench: ./dev bench --sweep --reductions, middle reductions.
  bool prefetches_rows() const {
    if (shape.along || shape.widened > 1 || shape.reduced.empty() || shape.reduced_count <= kCascade) return false;
    const int64_t step_bytes = plan.strides_of(1)[shape.reduced[0]] << lane_shift;
    return plan.numel * itemsize(whole.dtype(0)) > streaming_threshold() && step_bytes % 64 != 0;
  }
  int64_t outputs() const { return shape.kept_count * shape.tiles; }
  /// Whether kernels fold an output's rows without partial results.
  bool folds_in_place() const {
    if (!across || shape.along || shape.in_blocks || shape.widened > 1 || shape.segments > 1) return false;
    return shape.reduced.size() == 1 && shape.reduced_count <= kCascade && reduction.output == accumulated &&
           plan.strides_of(0)[shape.lane_loop] == 1;
  }
  /// Whether runs are folded to the output's memory.
  bool folds_to_output() const {
    return plain && shape.folds_rows() && reduction.output == accumulated && plan.strides_of(0)[shape.kept[0]] == 1;
  }
  /// Bytes of a segment's partial results.
  int64_t piece_bytes() const { return (((shape.along ? 1 : shape.tile) << shift) + 63) / 64 * 64; }
};

/// Casts `count` elements. Returns `to`.
const void* cast_to(std::byte* to, Dtype from, Dtype wanted, const void* elements, int64_t count) {
  const Lanes lanes{elements, 1};
  kernels().cast[static_cast<int>(from)][static_cast<int>(wanted)](to, &lanes, count);
  return to;
}

bool is_power_of_two(double number) {
  int exponent = 0;
  return std::frexp(number, &exponent) == 0.5;
}

/// Makes folded values results: -0 becomes 0, and a mean is divided.
void finish_values(const Reduction& reduction, Dtype dtype, std::byte* values, int64_t count) {
  const int column = static_cast<int>(dtype);
  if (starts_at_zero(reduction.op, dtype)) {
    alignas(kMaxItemsize) static constexpr std::byte zero[kMaxItemsize] = {};
    const Lanes in[] = {{values, 1}, {zero, 0}};
    kernels().elementwise[static_cast<int>(Op::add)][column](values, in, count);
  }
  if (reduction.divisor != 0) {
    // A product with the inverse of a power of 2 has the same bits.
    const bool multiplies = is_power_of_two(reduction.divisor) && !is_complex(dtype);
    const double number = multiplies ? 1 / reduction.divisor : reduction.divisor;
    alignas(kMaxItemsize) std::byte lane[kMaxItemsize];
    const Lanes from{&number, 1};
    kernels().cast[static_cast<int>(float64)][column](lane, &from, 1);
    const Lanes in[] = {{values, 1}, {lane, 0}};
    kernels().elementwise[static_cast<int>(multiplies ? Op::mul : Op::div)][column](values, in, count);
  }
}

class ReduceLoop {
 public:
  explicit ReduceLoop(const Setup& setup)
      : setup_(setup),
        plan_(setup.plan),
        shape_(setup.shape),
        registers_(setup.program(), setup.slots, setup.slot_bytes),
        memory_(memory_bytes(setup)),
        cast_(cast_bytes(setup)),
        row_values_(setup.value_bytes()),
        kept_(setup.plan, setup.shape.kept),
        reduced_(setup.plan, setup.shape.reduced),
        cascade_(setup.lane_fold(), memory_.data(), setup.slot_bytes),
        values_(setup.fold_values, setup.shift) {
    if (setup.has_rows)
      rows_.emplace(setup.program(), setup.slots, setup.slot_bytes, registers_.memory(), row_values_.data(),
                    setup.with_lanes, shape_.lanes, setup.rows());
  }

  /// The counter of the kept loops: the position of the next output.
  OuterCounter& kept() { return kept_; }

  /// Folds segment `segment` of output tile `tile` at the kept loops' current index. Returns its lanes.
  std::byte* fold(int64_t tile, int64_t segment, int64_t& width) {
    const int64_t start = tile * shape_.tile;
    width = shape_.along ? 1 : shape_.widened > 1 ? shape_.tile : std::min(shape_.tile, shape_.lanes - start);
    const int64_t first = shape_.reduced_count * segment / shape_.segments,
                  last = shape_.reduced_count * (segment + 1) / shape_.segments;
    if (shape_.along) return fold_along(first, last);
    cascade_.reset();
    if (shape_.widened > 1)
      fold_widened(first, last);
    else
      fold_across(start, width, first, last);
    return cascade_.finish();
  }

  /// Folds `count` neighbouring outputs along a kept loop, a tile of them at a time.
  void fold_each(int64_t loop, int64_t count) {
    const bool in_place = setup_.folds_to_output();
    std::byte* const results = in_place ? setup_.out + (kept_[0] << setup_.shift) : memory_.data();
    const int64_t step = setup_.plain ? count : shape_.tile / shape_.lanes;
    for (int64_t first = 0; first < count; first += step) {
      check_interrupt();
      const int64_t rows = std::min(step, count - first);
      const auto offset = [&](int64_t operand) { return kept_[operand] + first * plan_.strides_of(operand)[loop]; };
      std::byte* to = results + (first << setup_.shift);
      if (setup_.plain)
        fold_rows(to, static_cast<const std::byte*>(tile(shape_.lanes, offset)), plan_.strides_of(1)[loop], rows);
      else
        setup_.fold(to, tile_of_rows(loop, rows, offset), shape_.lanes, shape_.lanes, rows, false);
    }
    if (in_place)
      finish_values(setup_.reduction, setup_.accumulated, results, count);
    else
      write(kept_[0], plan_.strides_of(0)[loop], results, count);
  }
  /// Folds `rows` rows of memory, `step` elements apart.
  void fold_rows(std::byte* to, const std::byte* from, int64_t step, int64_t rows) {
    const int64_t step_bytes = step * (int64_t{1} << setup_.lane_shift), bytes = shape_.lanes << setup_.lane_shift;
    if (!setup_.is_far || bytes_before_gap(bytes, step_bytes) == 0)
      return setup_.fold(to, from, shape_.lanes, step, rows, setup_.is_far);
    for (; rows > 0; --rows, to += int64_t{1} << setup_.shift, from += step_bytes) {
      setup_.fold(to, from, shape_.lanes, step, 1, false);
      if (rows > 1) read_gap(from, bytes, step_bytes);
    }
  }
  /// Folds the few rows of an output tile into the output's memory.
  void fold_in_place(int64_t tile) {
    const int64_t start = tile * shape_.tile, n = std::min(shape_.tile, shape_.lanes - start);
    const auto* from = static_cast<const std::byte*>(setup_.inputs[0]) + ((kept_[1] + start) << setup_.lane_shift);
    std::byte* to = setup_.out + ((kept_[0] + start) << setup_.shift);
    cascade_.fold_rows(to, from, n, plan_.strides_of(1)[shape_.reduced[0]], shape_.reduced_count, false);
    finish_values(setup_.reduction, setup_.accumulated, to, n);
  }
  /// Folds the blocks of an output tile, into the output's memory if that has no gaps.
  void fold_blocks(int64_t number) {
    const int64_t start = number * shape_.tile, n = std::min(shape_.tile, shape_.lanes - start);
    const int64_t row = plan_.sizes[0], rows = plan_.sizes[1], *out_steps = plan_.strides_of(0);
    const bool in_place = setup_.reduction.output == setup_.accumulated && out_steps[0] == 1 &&
                          (n == row || out_steps[shape_.row_loop] == row);
    std::byte* to = in_place ? setup_.out + ((kept_[0] + lane_offset(0, start)) << setup_.shift) : memory_.data();
    const void* from = tile(n * rows, [&](int64_t operand) { return kept_[operand] + lane_offset(operand, start); });
    const int64_t* steps = plan_.strides_of(1);  // computed blocks follow each other, too
    if (setup_.is_far && setup_.plain && row << setup_.lane_shift > bytes_in_registers())
      fold_each_block(to, static_cast<const std::byte*>(from), n / row);
    else
      setup_.blocks(to, from, row, steps[1], rows, steps[shape_.row_loop], n / row);
    if (in_place)
      finish_values(setup_.reduction, setup_.accumulated, to, n);
    else
      write_rows(start, to, n);
  }
  /// The same from beyond the caches, where rows are prefetched.
  void fold_each_block(std::byte* to, const std::byte* from, int64_t blocks) {
    const int64_t row = plan_.sizes[0], *steps = plan_.strides_of(1);
    for (; blocks > 0; --blocks, to += row << setup_.shift) {
      cascade_.fold_rows(to, from, row, steps[1], plan_.sizes[1], false);
      from += steps[shape_.row_loop] * (int64_t{1} << setup_.lane_shift);
    }
  }
  /// The number of outputs that `fold_each` folds at once.
  int64_t batch() const { return batch(setup_); }
  /// Scratch bytes of one ReduceLoop.
  static int64_t scratch_bytes(const Setup& setup) {
    return setup.slots.count * setup.slot_bytes + memory_bytes(setup) + cast_bytes(setup) + setup.value_bytes();
  }

  /// Stores the lanes of an output tile.
  void store(int64_t tile, std::byte* lanes, int64_t width) {
    if (shape_.widened > 1) width = join_rounds(lanes);
    if (shape_.row_loop >= 0) return write_rows(tile * shape_.tile, lanes, width);
    const int64_t stride = shape_.lane_loop >= 0 && !shape_.along ? plan_.strides_of(0)[shape_.lane_loop] : 1;
    write(kept_[0] + tile * shape_.tile * stride, stride, lanes, width);
  }

 private:
  /// Scratch bytes for the levels of the cascade or for a batch of results, and for lanes that are one value.
  static int64_t memory_bytes(const Setup& setup) {
    const int64_t levels = setup.shape.in_blocks                            ? 1
                           : setup.shape.along && !setup.shape.folds_rows() ? 0
                                                                            : kCascadeLevels;
    return (levels + (setup.plain ? 0 : 1)) * setup.slot_bytes;
  }
  /// Scratch bytes for results before they are cast.
  static int64_t cast_bytes(const Setup& setup) {
    if (setup.reduction.output == setup.accumulated) return 0;
    return setup.shape.along ? batch(setup) * itemsize(setup.reduction.output) : setup.slot_bytes;
  }
  static int64_t batch(const Setup& setup) {
    constexpr int64_t kMost = 4096;  // they are divided and cast in the first cache
    if (setup.folds_to_output()) return kMost;
    return std::clamp<int64_t>(setup.slot_bytes * kCascadeLevels >> setup.shift, 1, kMost);
  }

  /// Loads `n` lanes of every input from `offset(input)` on and runs the Program. Returns its result.
  template <class Offset>
  const void* tile(int64_t n, const Offset& offset) {
    if (setup_.plain) return static_cast<const std::byte*>(setup_.inputs[0]) + (offset(1) << setup_.lane_shift);
    const Program& program = setup_.program();
    for (int i = 0; i < program.inputs(); ++i) {
      const int shift = shift_of(program.dtype(i));
      const int64_t stride = shape_.lane_loop < 0 ? 1 : plan_.strides_of(i + 1)[shape_.lane_loop];
      const std::byte* from = static_cast<const std::byte*>(setup_.inputs[i]) + (offset(i + 1) << shift);
      const bool several = shape_.joins_rows() || shape_.apart;
      if (several ? setup_.in_place[i] : stride == 0 || stride == 1) {
        registers_[i] = {from, stride};
        continue;
      }
      const int64_t row = several ? plan_.sizes[shape_.lane_loop] : n;
      const int64_t step = several ? plan_.strides_of(i + 1)[shape_.apart ? 1 : shape_.row_loop] : 0;
      kernels().move[shift].gather(registers_.slot(i), from, stride, row, step, n / row);
      registers_[i] = {registers_.slot(i), 1};
    }
    return execute(n);
  }
  /// The same for `rows` turns of a kept loop, one after the other.
  template <class Offset>
  const void* tile_of_rows(int64_t loop, int64_t rows, const Offset& offset) {
    const Program& program = setup_.program();
    for (int i = 0; i < program.inputs(); ++i) {
      const int shift = shift_of(program.dtype(i));
      const int64_t *strides = plan_.strides_of(i + 1), stride = strides[shape_.lane_loop], step = strides[loop];
      const std::byte* from = static_cast<const std::byte*>(setup_.inputs[i]) + (offset(i + 1) << shift);
      if (rows_) {
        rows_->read(i, from, stride, step * (int64_t{1} << shift));
        continue;
      }
      if (setup_.in_place[i]) {
        registers_[i] = {from, stride};
        continue;
      }
      kernels().move[shift].gather(registers_.slot(i), from, stride, shape_.lanes, step, rows);
      registers_[i] = {registers_.slot(i), 1};
    }
    if (!rows_) return execute(rows * shape_.lanes);
    rows_->execute(rows);
    return (*rows_)[program.result()].data;
  }
  /// Runs the Program over the registers. Returns its result.
  const void* execute(int64_t n) {
    registers_.execute(n);
    const Lanes result = registers_[setup_.program().result()];
    if (result.step == 1) return result.data;
    std::byte* spread = memory_.data() + memory_bytes(setup_) - setup_.slot_bytes;
    kernels().move[setup_.lane_shift].fill(spread, result.data, n);
    return spread;
  }

  std::byte* fold_along(int64_t first, int64_t last) {
    const int64_t pieces = (shape_.lanes + shape_.tile - 1) / shape_.tile;
    reduced_.go_to(first / pieces);
    values_.reset();
    int64_t piece = first % pieces;
    // Runs that are one piece each are folded together: where they lie, or as many as a tile holds.
    const bool joins = !setup_.plain && shape_.joins_runs();
    const bool together = joins || (setup_.plain && pieces == 1 && !shape_.reduced.empty());
    const int64_t step = joins ? shape_.lanes : together ? plan_.strides_of(1)[shape_.reduced[0]] : 0;
    const int64_t most = joins ? shape_.tile / shape_.lanes : last;
    for (int64_t i = first; i < last;) {
      check_interrupt();
      const int64_t start = piece * shape_.tile, n = std::min(shape_.tile, shape_.lanes - start);
      const int64_t runs = together ? std::min({values_.space(), reduced_.left(), last - i, most}) : 1;
      const auto offset = [&](int64_t operand) {
        return kept_[operand] + reduced_[operand] + start * lane_stride(operand);
      };
      const void* lanes = joins ? tile_of_rows(shape_.reduced[0], runs, offset) : tile(n, offset);
      setup_.fold(values_.next_place(), lanes, n, step, runs, setup_.is_far && setup_.plain);
      values_.add(runs);
      i += runs;
      if (++piece == pieces) {
        piece = 0;
        reduced_.advance(runs);
      }
    }
    return values_.finish();
  }

  /// The offset of lane `start` of a tile, which begins a row if rows are joined.
  int64_t lane_offset(int64_t operand, int64_t start) const {
    if (shape_.row_loop < 0) return start * lane_stride(operand);
    return start / plan_.sizes[shape_.lane_loop] * plan_.strides_of(operand)[shape_.row_loop];
  }

  void fold_across(int64_t start, int64_t n, int64_t first, int64_t last) {
    reduced_.go_to(first);
    const int64_t step = setup_.across && !shape_.reduced.empty() ? plan_.strides_of(1)[shape_.reduced[0]] : 0;
    for (int64_t i = first; i < last;) {
      check_interrupt();
      const void* lanes =
          tile(n, [&](int64_t operand) { return kept_[operand] + reduced_[operand] + lane_offset(operand, start); });
      const int64_t rows = setup_.across ? std::min({reduced_.left(), last - i, kCascade}) : 1;
      if (setup_.across)
        cascade_.add_rows(static_cast<const std::byte*>(lanes), n, step, rows);
      else
        cascade_.add(lanes, n, setup_.plain);
      i += rows;
      reduced_.advance(rows);
    }
  }

  /// Folds widened tiles: several rounds of the narrow kept loop in one tile.
  void fold_widened(int64_t first, int64_t last) {
    const int64_t per_turn = (plan_.sizes[1] + shape_.widened - 1) / shape_.widened;
    reduced_.go_to(first / per_turn);
    int64_t round = first % per_turn;
    for (int64_t i = first; i < last;) {
      check_interrupt();
      const bool partial = round + 1 == per_turn && shape_.rounds_left > 0;
      const int64_t n = shape_.lanes * (partial ? shape_.rounds_left : shape_.widened);
      const int64_t row = round * shape_.widened, whole_left = per_turn - round - (shape_.rounds_left > 0 ? 1 : 0);
      const void* lanes = tile(
          n, [&](int64_t operand) { return kept_[operand] + reduced_[operand] + row * plan_.strides_of(operand)[1]; });
      const int64_t rows = setup_.across && !partial ? std::min({whole_left, last - i, kCascade}) : 1;
      if (setup_.across)
        cascade_.add_rows(static_cast<const std::byte*>(lanes), n, n, rows);
      else
        cascade_.add(lanes, n, setup_.plain);
      i += rows;
      if ((round += rows) == per_turn) {
        round = 0;
        reduced_.advance();
      }
    }
  }

  /// Divides and casts `width` results. Returns where they are.
  const std::byte* finish(std::byte* lanes, int64_t width) {
    finish_values(setup_.reduction, setup_.accumulated, lanes, width);
    if (setup_.reduction.output == setup_.accumulated) return lanes;
    cast_to(cast_.data(), setup_.accumulated, setup_.reduction.output, lanes, width);
    return cast_.data();
  }
  /// Stores `width` results, `stride` apart in the output.
  void write(int64_t offset, int64_t stride, std::byte* lanes, int64_t width) {
    const Dtype output = setup_.reduction.output;
    if (stride == 1 && output != setup_.accumulated) {
      finish_values(setup_.reduction, setup_.accumulated, lanes, width);
      cast_to(setup_.out + (offset << shift_of(output)), setup_.accumulated, output, lanes, width);
      return;
    }
    place(offset, stride, finish(lanes, width), width);
  }
  /// Stores `width` results of whole rows, from lane `start` on.
  void write_rows(int64_t start, std::byte* lanes, int64_t width) {
    const int shift = shift_of(setup_.reduction.output);
    const int64_t row = plan_.sizes[shape_.lane_loop], *strides = plan_.strides_of(0);
    std::byte* to = setup_.out + ((kept_[0] + lane_offset(0, start)) << shift);
    kernels().move[shift].scatter(to, strides[shape_.lane_loop], row, strides[shape_.row_loop], width / row,
                                  finish(lanes, width));
  }
  void place(int64_t offset, int64_t stride, const std::byte* lanes, int64_t width) {
    const int shift = shift_of(setup_.reduction.output);
    std::byte* to = setup_.out + (offset << shift);
    if (stride == 1)
      std::memcpy(to, lanes, static_cast<std::size_t>(width << shift));
    else
      kernels().move[shift].scatter(to, stride, width, 0, 1, lanes);
  }

  /// Joins the rounds of a widened tile pairwise. Returns the number of lanes left.
  int64_t join_rounds(std::byte* lanes) {
    for (int64_t rounds = shape_.widened; rounds > 1;) {
      const int64_t half = rounds / 2;
      const Lanes in[] = {{lanes, 1}, {lanes + (((rounds - half) * shape_.lanes) << setup_.shift), 1}};
      setup_.join(lanes, in, half * shape_.lanes);
      rounds -= half;
    }
    return shape_.lanes;
  }

  int64_t lane_stride(int64_t operand) const {
    return shape_.lane_loop < 0 ? 0 : plan_.strides_of(operand)[shape_.lane_loop];
  }

  const Setup& setup_;
  const Plan& plan_;
  const ReduceShape& shape_;
  Registers registers_;
  Scratch memory_, cast_, row_values_;
  std::optional<RowRegisters> rows_;  // of rows that are computed where they lie
  OuterCounter kept_, reduced_;
  Cascade cascade_;
  ValueCascade values_;
};

/// Computes outputs [begin, end), each in one piece.
void reduce_outputs(ReduceLoop& loop, const Setup& setup, int64_t begin, int64_t end) {
  const ReduceShape& shape = setup.shape;
  if (shape.folds_rows()) {
    const int64_t innermost = shape.kept[0], size = setup.plan.sizes[innermost];
    for (int64_t output = begin; output < end;) {
      const int64_t count = std::min({end - output, size - output % size, loop.batch()});
      loop.kept().go_to(output);
      loop.fold_each(innermost, count);
      output += count;
    }
    return;
  }
  loop.kept().go_to(begin / shape.tiles);
  const bool in_place = setup.folds_in_place();
  int64_t tile = begin % shape.tiles;
  for (int64_t output = begin; output < end; ++output) {
    if (shape.in_blocks) {
      check_interrupt();
      loop.fold_blocks(tile);
    } else if (in_place) {
      check_interrupt();
      loop.fold_in_place(tile);
    } else {
      int64_t width = 0;
      std::byte* lanes = loop.fold(tile, 0, width);
      loop.store(tile, lanes, width);
    }
    if (++tile == shape.tiles) {
      tile = 0;
      loop.kept().advance();
    }
  }
}

/// For few outputs over much input: segments are folded separately, then joined pairwise.
void reduce_segments(const Setup& setup) {
  const ReduceShape& shape = setup.shape;
  const int64_t outputs = setup.outputs(), piece_bytes = setup.piece_bytes();
  Scratch partial(outputs * shape.segments * piece_bytes);
  parallel_for(
      outputs * shape.segments, [&] { return ReduceLoop(setup); },
      [&](ReduceLoop& apart, int64_t part) {
        const int64_t output = part / shape.segments;
        apart.kept().go_to(output / shape.tiles);
        int64_t width = 0;
        const std::byte* lanes = apart.fold(output % shape.tiles, part % shape.segments, width);
        std::memcpy(partial.data() + part * piece_bytes, lanes, static_cast<std::size_t>(width << setup.shift));
      });
  note_pass();
  ReduceLoop loop(setup);
  for (int64_t output = 0; output < outputs; ++output) {
    loop.kept().go_to(output / shape.tiles);
    const int64_t tile = output % shape.tiles;
    const int64_t width = shape.along         ? 1
                          : shape.widened > 1 ? shape.tile
                                              : std::min(shape.tile, shape.lanes - tile * shape.tile);
    std::byte* lanes = partial.data() + output * shape.segments * piece_bytes;
    for (int64_t apart = 1; apart < shape.segments; apart *= 2) {
      for (int64_t segment = 0; segment + apart < shape.segments; segment += 2 * apart) {
        std::byte* into = lanes + segment * piece_bytes;
        const Lanes in[] = {{into, 1}, {into + apart * piece_bytes, 1}};
        setup.join(into, in, width);
      }
    }
    loop.store(tile, lanes, width);
  }
}

int64_t parts_of(const Setup& setup) {
  if (setup.shape.segments > 1) return setup.outputs() * setup.shape.segments;
  return std::clamp<int64_t>(setup.plan.numel / kSegmentNumel, 1, std::min(setup.outputs(), kMaxParts));
}

/// The output's stride between results of one tile; 1 if a tile gives one result.
int64_t store_stride(const Setup& setup) {
  const ReduceShape& shape = setup.shape;
  const int64_t loop = shape.folds_rows() ? shape.kept[0] : shape.along ? -1 : shape.lane_loop;
  return loop < 0 ? 1 : setup.plan.strides_of(0)[loop];
}

/// The course without what is counted during the run.
Course route_of(const Setup& setup) {
  const ReduceShape& shape = setup.shape;
  Course course{.route = shape.along         ? "along"
                         : shape.widened > 1 ? "rounds"
                                             : "across",
                .stores = store_stride(setup) == 1 ? "in place" : "scattered"};
  course.plan = setup.plan;
  course.kernels = kernels_of(setup.program());
  const Dtype folded = setup.program().dtype(setup.program().result());
  course.kernels.push_back({block_name(formula_of(setup.reduction.op)), folded});
  for (int64_t operand = 1; operand < setup.plan.operands.size(); ++operand) {
    const int64_t step = shape.lane_loop < 0 ? 1 : setup.plan.strides_of(operand)[shape.lane_loop];
    course.accesses.push_back(step == 1   ? AccessPattern::direct
                              : step == 0 ? AccessPattern::splat
                                          : AccessPattern::gather);
  }
  return course;
}

void reduce_whole(const Setup& setup) {
  const int64_t parts = parts_of(setup), outputs = setup.outputs();
  parallel_for(
      parts, [&] { return ReduceLoop(setup); },
      [&](ReduceLoop& loop, int64_t part) {
        reduce_outputs(loop, setup, outputs * part / parts, outputs * (part + 1) / parts);
      });
}

}  // namespace

Course course_of(const Plan& plan, const Program& program, const Reduction& reduction) {
  const Setup setup(plan, program, reduction);
  Course course = route_of(setup);
  const bool is_cut = setup.shape.segments > 1;
  course.passes = is_cut ? 2 : 1;
  course.parts = parts_of(setup);
  course.threads = threads_for(course.parts);
  course.scratch_bytes =
      ReduceLoop::scratch_bytes(setup) + (is_cut ? setup.outputs() * setup.shape.segments * setup.piece_bytes() : 0);
  return course;
}

namespace {

/// Rows of one to three elements, column by column.
void fold_narrow_rows(const Reduction& reduction, void* out, const void* in, int64_t numel, int64_t rows) {
  constexpr int64_t kRows = 1024;
  alignas(64) std::byte columns[2][kRows * kMaxItemsize];
  const int shift = shift_of(reduction.output);
  const Kernel join = kernel_of(join_of(reduction.op), reduction.output);
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  for (int64_t row = 0, count = 0; row < rows; row += count) {
    count = std::min(kRows, rows - row);
    const auto column = [&](int64_t i, std::byte* place) {
      kernels().move[shift].gather(place, from + (i << shift), numel, count, 0, 1);
    };
    column(0, numel == 1 ? to : columns[0]);
    for (int64_t i = 1; i < numel; ++i) {
      column(i, columns[1]);
      const Lanes in_pair[] = {{i == 1 ? columns[0] : to, 1}, {columns[1], 1}};
      join(to, in_pair, count);
    }
    finish_values(reduction, reduction.output, to, count);
    from += (count * numel) << shift;
    to += count << shift;
  }
}

}  // namespace

FoldKernels folds_of(Op op, Dtype from, Dtype accumulated) noexcept {
  const auto fold = static_cast<int>(op), dtype = static_cast<int>(from);
  const bool is_half = from == float16 || from == bfloat16, is_extreme = finds_extremes(op);
  if (from == accumulated || (is_half && accumulated == float32 && !is_extreme))
    return {kernels().fold[fold][dtype], kernels().fold_across[fold][dtype], kernels().fold_blocks[fold][dtype]};
  if (formula_of(op) == Op::sum && accumulated == int64) return kernels().sum_in_int64[dtype];
  return {};
}
FoldKernels folds_of_input(const Program& program, Op op) {
  if (program.inputs() != 1 || !(program.instructions().empty() || only_casts(program))) return {};
  return folds_of(op, program.dtype(0), program.dtype(program.result()));
}
bool folds_narrow_rows(Op op, Dtype from, Dtype accumulated) noexcept {
  return folds_of(op, from, accumulated).across != nullptr;  // else there are no vectors
}

void fold_contiguous_rows(const Reduction& reduction, Dtype from, Dtype accumulated, void* out, const void* in,
                          int64_t numel, int64_t rows) {
  if (numel == 1 && from == accumulated && from == reduction.output && from != bool_) {  // bytes of bool have any value
    std::memcpy(out, in, static_cast<std::size_t>(rows * itemsize(from)));
    return finish_values(reduction, accumulated, static_cast<std::byte*>(out), rows);
  }
  const auto& folds = kernels().fold[static_cast<int>(reduction.op)];
  const FoldKernel folds_as_it_lies =
      along_of(folds_of(reduction.op, from, accumulated), reduction.op, from, accumulated, numel);
  if (from == reduction.output && numel < kNarrowRow && rows > 1 && !folds_narrow_rows(reduction.op, from, accumulated))
    return fold_narrow_rows(reduction, out, in, numel, rows);
  if (folds_as_it_lies && accumulated == reduction.output) {
    folds_as_it_lies(out, in, numel, numel, rows, false);
    return finish_values(reduction, accumulated, static_cast<std::byte*>(out), rows);
  }
  constexpr int64_t kRows = 512;
  alignas(64) std::byte values[kRows * kMaxItemsize], elements[kCastRowNumel * kMaxItemsize];
  const FoldKernel fold = folds_as_it_lies ? folds_as_it_lies : folds[static_cast<int>(accumulated)];
  const int64_t most = folds_as_it_lies ? kRows : std::clamp(kCastRowNumel / numel, int64_t{1}, kRows);
  const auto* next = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  for (int64_t row = 0, count = 0; row < rows; row += count) {
    count = std::min(most, rows - row);
    const void* lanes = next;
    if (!folds_as_it_lies) lanes = cast_to(elements, from, accumulated, next, count * numel);
    fold(values, lanes, numel, numel, count, false);
    finish_values(reduction, accumulated, values, count);
    cast_to(to, accumulated, reduction.output, values, count);
    next += count * numel * itemsize(from);
    to += count * itemsize(reduction.output);
  }
}

namespace {

/// Integers of a few columns, which are cast first: see has_few_columns_of_few_rows.
[[gnu::noinline]] bool fold_cast_blocks(const Reduction& reduction, Dtype from, Dtype accumulated, void* out,
                                        const void* in, int64_t numel, int64_t rows, int64_t count) {
  if (rows > kCastRowNumel / numel) return false;
  alignas(64) std::byte elements[kCastRowNumel * 8];
  const int64_t block = rows * numel, most = kCastRowNumel / block;  // exact: at most kCastRowNumel
  const auto* next = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  for (int64_t blocks = 0; count > 0; count -= blocks) {
    blocks = std::min(count, most);
    cast_to(elements, from, accumulated, next, blocks * block);
    if (!fold_contiguous_blocks(reduction, accumulated, accumulated, to, elements, numel, rows, blocks)) return false;
    next += blocks * block * itemsize(from);
    to += blocks * numel * itemsize(reduction.output);
  }
  return true;
}

}  // namespace

bool fold_contiguous_blocks(const Reduction& reduction, Dtype from, Dtype accumulated, void* out, const void* in,
                            int64_t numel, int64_t rows, int64_t count) {
  constexpr int64_t kFewColumns = 16, kResults = 1024;
  if (accumulated == int64 && from != int64 && numel < kFewColumns)
    return fold_cast_blocks(reduction, from, accumulated, out, in, numel, rows, count);
  const FoldKernels folds = folds_of(reduction.op, from, accumulated);
  if (!folds.blocks || !fits_in_block(numel, rows, folds.across != nullptr)) return false;
  const bool casts = accumulated != reduction.output;
  alignas(64) std::byte values[kResults * 8];
  const auto* next = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  const int64_t most = casts ? kResults / numel : count;
  for (int64_t blocks = 0; count > 0; count -= blocks) {
    blocks = std::min(count, most);
    std::byte* const folded = casts ? values : to;
    folds.blocks(folded, next, numel, numel, rows, rows * numel, blocks);
    finish_values(reduction, accumulated, folded, blocks * numel);
    if (casts) cast_to(to, accumulated, reduction.output, values, blocks * numel);
    next += blocks * rows * numel * itemsize(from);
    to += blocks * numel * itemsize(reduction.output);
  }
  return true;
}

void fold_few_rows(const Reduction& reduction, void* out, const void* in, int64_t rows, int64_t columns) {
  const Kernel join = kernel_of(join_of(reduction.op), reduction.output);
  const auto* next = static_cast<const std::byte*>(in);
  const int64_t row_bytes = columns * itemsize(reduction.output);
  const void* joined = next;
  for (int64_t row = 1; row < rows; ++row) {
    next += row_bytes;
    const Lanes lanes[] = {{joined, 1}, {next, 1}};
    join(out, lanes, columns);
    joined = out;
  }
  finish_values(reduction, reduction.output, static_cast<std::byte*>(out), columns);
}

void run_reduction(const Plan& plan, const Program& program, const Reduction& reduction, void* out,
                   const void* const* inputs) {
  if (packs_rows(plan, program, reduction)) return run_packed(plan, program, reduction, out, inputs[0]);
  if (has_two_stages(plan, program)) return run_stages(plan, program, reduction, out, inputs);
  if (!out && CourseRecord::plans_meta()) return note_course(course_of(plan, program, reduction));
  check_memory(out, inputs, program.inputs());
  Setup setup(plan, program, reduction);
  setup.out = static_cast<std::byte*>(out);
  setup.inputs = inputs;
  if (CourseRecord::now()) [[unlikely]]
    note_course(route_of(setup));
  setup.shape.segments > 1 ? reduce_segments(setup) : reduce_whole(setup);
}

}  // namespace tenon
