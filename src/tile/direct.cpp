#include "tile/direct.h"

#include <algorithm>

namespace tenon {
namespace {

// Streamed pieces this short keep loads and stores flowing side by side; patterns this long make kernel calls rare
// and leave room in the first-level cache.
constexpr int64_t kStreamedPiece = 512, kPatternPiece = 1024;

/// Whole units of about the wanted length.
int64_t piece_of(const Plan& plan, int64_t wanted) {
  return std::min(plan.flat, std::max(wanted / plan.unit, int64_t{1}) * plan.unit);
}

bool is_periodic(const Plan& plan, int64_t operand) { return plan.operands[operand].way == Way::periodic; }

bool any_periodic(const Plan& plan) {
  for (int64_t operand = 1; operand < plan.operands.size(); ++operand)
    if (is_periodic(plan, operand)) return true;
  return false;
}

int64_t pattern_bytes(const Plan& plan, const Program& program, int64_t piece) {
  int64_t bytes = 0;
  for (int i = 0; i < program.inputs(); ++i)
    if (is_periodic(plan, i + 1)) bytes += (piece * itemsize(program.dtype(i)) + 63) / 64 * 64;
  return bytes;
}

}  // namespace

bool runs_directly(const Plan& plan, const Program& program) {
  if (program.instructions().size() != 1 || plan.operands[0].way != Way::direct) return false;
  bool moves = false;
  for (int64_t operand = 1; operand < plan.operands.size(); ++operand) {
    const Way way = plan.operands[operand].way;
    if (way != Way::direct && way != Way::splat && way != Way::periodic) return false;
    moves = moves || way != Way::splat;
  }
  return moves;
}

DirectRuns::DirectRuns(const Plan& plan, const Program& program, std::byte* out, const void* const* inputs,
                       bool streaming, int64_t unit)
    : plan_(plan),
      instruction_(program.instructions()[0]),
      streaming_(streaming),
      unit_(unit),
      per_flat_((plan.flat + unit - 1) / unit),
      rows_(plan.fused < plan.ndim() ? plan.sizes[plan.fused] : 1),
      piece_(streaming            ? piece_of(plan, kStreamedPiece)
             : any_periodic(plan) ? piece_of(plan, kPatternPiece)
                                  : 0),
      patterns_(pattern_bytes(plan, program, piece_)),
      streamed_(streaming ? std::max(piece_, kStreamedPiece) * itemsize(program.dtype(program.result())) : 0) {
  const auto row_step = [&](int64_t operand) {
    return plan.fused < plan.ndim() ? plan.strides_of(operand)[plan.fused] : 0;
  };
  out_.base = out;
  out_.shift = shift_of(program.dtype(program.result()));
  out_.row_step = row_step(0) * (int64_t{1} << out_.shift);
  int64_t pattern = 0;
  for (int operand = 0; operand < instruction_.arity; ++operand) {
    const int i = instruction_.in[operand];
    Operand& in = in_[operand];
    in.base = static_cast<const std::byte*>(inputs[i]);
    in.shift = shift_of(program.dtype(i));
    in.row_step = row_step(i + 1) * (int64_t{1} << in.shift);
    if (plan.operands[i + 1].way == Way::direct) in.step = int64_t{1} << in.shift;
    lanes_[operand].step = plan.operands[i + 1].way == Way::splat ? 0 : 1;
    if (!is_periodic(plan, i + 1)) continue;
    in.pattern = pattern;
    pattern += ((piece_ << in.shift) + 63) / 64 * 64;
  }
}

void DirectRuns::run(int64_t begin, int64_t end) {
  const bool cut = per_flat_ > 1;
  SmallVector<int64_t, 8> dims;
  for (int64_t dim = plan_.fused + (cut ? 0 : 1); dim < plan_.ndim(); ++dim) dims.push_back(dim);
  const int64_t per_turn = cut ? per_flat_ : rows_;
  OuterCounter outer(plan_, dims, begin / per_turn);
  for (int64_t t = begin; t < end; outer.advance()) {
    const int64_t first = t % per_turn, count = std::min(per_turn - first, end - t);
    if (cut)
      run_rows(outer, first * unit_, 0, std::min(count * unit_, plan_.flat - first * unit_), 1);
    else
      run_rows(outer, 0, first, plan_.flat, count);
    t += count;
  }
}

/// `rows` runs of `n` elements, from element `start` of run `row` on.
void DirectRuns::run_rows(const OuterCounter& outer, int64_t start, int64_t row, int64_t n, int64_t rows) {
  std::byte* to = const_cast<std::byte*>(at(out_.base, outer[0] + start, out_.shift)) + row * out_.row_step;
  const std::byte* from[3] = {};
  for (int operand = 0; operand < instruction_.arity; ++operand) {
    const Operand& in = in_[operand];
    from[operand] = at(in.base, outer[instruction_.in[operand] + 1], in.shift) + start * in.step + row * in.row_step;
  }
  if (piece_ == 0) return run_rows_of(to, from, n, rows);
  if (joins_rows(n)) return run_joined(to, from, n, rows);
  for (; rows > 0; --rows) {
    run_pieces(to, from, n);
    to += out_.row_step;
    for (int operand = 0; operand < instruction_.arity; ++operand) from[operand] += in_[operand].row_step;
  }
}

/// The rows themselves, which may be short: what does not change stays in registers.
void DirectRuns::run_rows_of(std::byte* to, const std::byte** from, int64_t n, int64_t rows) {
  const Kernel kernel = instruction_.kernel;
  const int64_t step = out_.row_step, step0 = in_[0].row_step, step1 = in_[1].row_step, step2 = in_[2].row_step;
  const std::byte *from0 = from[0], *from1 = from[1], *from2 = from[2];
  for (; rows > 0; --rows) {
    lanes_[0].data = from0;
    lanes_[1].data = from1;
    lanes_[2].data = from2;
    kernel(to, lanes_, n);
    to += step;
    from0 += step0;
    from1 += step1;
    from2 += step2;
  }
  from[0] = from0;
  from[1] = from1;
  from[2] = from2;
}

/// Whether several rows make one piece of a streamed output.
bool DirectRuns::joins_rows(int64_t n) const {
  if (!streaming_ || out_.row_step != n << out_.shift || 2 * n > kStreamedPiece) return false;
  for (int operand = 0; operand < instruction_.arity; ++operand)
    if (in_[operand].pattern >= 0) return false;
  return true;
}

void DirectRuns::run_joined(std::byte* to, const std::byte** from, int64_t n, int64_t rows) {
  for (const int64_t most = kStreamedPiece / n; rows > 0;) {
    const int64_t joined = std::min(most, rows);
    std::byte* room = streamed_.room(to);
    run_rows_of(room, from, n, joined);
    streamed_.commit(joined * out_.row_step);
    to += joined * out_.row_step;
    rows -= joined;
  }
}

void DirectRuns::run_whole(std::byte* to, const std::byte* const* from, int64_t n) {
  for (int operand = 0; operand < instruction_.arity; ++operand) lanes_[operand].data = from[operand];
  instruction_.kernel(to, lanes_, n);
}

void DirectRuns::run_pieces(std::byte* to, const std::byte* const* from, int64_t n) {
  const std::byte* at[3];
  for (int operand = 0; operand < instruction_.arity; ++operand)
    at[operand] = in_[operand].pattern >= 0 ? pattern_of(operand, from[operand]) : from[operand];
  for (int64_t start = 0; start < n; start += piece_) {
    const int64_t m = std::min(piece_, n - start), nbytes = m << out_.shift;
    run_whole(streaming_ ? streamed_.room(to) : to, at, m);
    if (streaming_) streamed_.commit(nbytes);
    to += nbytes;
    for (int operand = 0; operand < instruction_.arity; ++operand) at[operand] += m * in_[operand].step;
  }
}

const std::byte* DirectRuns::pattern_of(int operand, const std::byte* from) {
  Operand& in = in_[operand];
  std::byte* pattern = patterns_.data() + in.pattern;
  if (in.built == from) return pattern;
  const int64_t i = instruction_.in[operand] + 1;
  build_pattern(pattern, from, plan_, plan_.strides_of(i), in.shift, plan_.operands[i].length, piece_);
  in.built = from;
  return pattern;
}

}  // namespace tenon
