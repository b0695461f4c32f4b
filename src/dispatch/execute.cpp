#include "dispatch/execute.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/checked.h"
#include "dispatch/differentiate.h"
#include "shape/dense_strides.h"
#include "tenon/threads.h"
#include "tensor/impl.h"
#include "tile/rows.h"
#include "tile/run.h"

namespace tenon {
namespace {

// Results of fewer elements are computed sooner than an operand is cast by itself. Bench: ./dev bench --sweep, mixed
// dtypes.
constexpr int64_t kManyElements = 4096;
// A call takes little memory besides its result's: a part of it, and less than the second-level cache or a small part.
// Bench: ./dev bench --sweep, mixed dtypes.
constexpr int64_t kCastBytes = 256 << 10, kPartOfResult = 4, kSmallPartOfResult = 8;

// Where kernels compute rows by a mask, shorter ones than these are repeated in tiles. Bench: ./dev bench --sweep,
// columns.
constexpr int64_t kShortestMaskedRun = 12, kShortestMaskedWords = 22;
// Rows of fewer float32 with gaps are joined for their larger or smaller elements: what is left of a row beside a
// vector takes the comparisons of NaN one by one. Bench: ./dev bench --sweep, gaps.
constexpr int64_t kLeastOfExtremes = 8;

struct Call {
  Op op;
  const Resolved& resolved;
  Args args;
  int count;
  const Output* outputs;
};

/// Whether an operand of another dtype is broadcast so far that it is cast once, not for each element of the result.
bool is_worth_a_cast(const Tensor& operand, Conversion conversion, int64_t numel) {
  if (operand.dtype() == conversion.wanted || conversion.through != conversion.wanted) return false;
  const int64_t most = std::max(kCastBytes / itemsize(conversion.wanted), numel / kSmallPartOfResult);
  return operand.numel() <= std::min(numel / kPartOfResult, most);
}
uint32_t choose_first_casts(const Call& call, int64_t numel) {
  uint32_t chosen = 0;
  for (int i = 0; numel >= kManyElements && i < call.count; ++i)
    if (call.args[i]->is_tensor() && is_worth_a_cast(call.args[i]->tensor(), call.resolved.conversions[i], numel))
      chosen |= 1U << i;
  return chosen;
}
bool is_cast_first(uint32_t chosen, int i) { return (chosen >> i & 1) != 0; }

void add_next_results(Program& program, const Call& call, const int* regs) {
  const int first = program.result();
  const Output* output = call.outputs;
  for (Op op = row_of(call.op).next_result; op != kNoOp; op = row_of(op).next_result) {
    const Types own = types_of_next(row_of(op), call.resolved.types);
    const int result = program.op(op, own.compute, given_by_kernel(own), call.count, regs);
    program.add_result(program.cast(program.cast(result, own.result), (++output)->dtype));
  }
  program.finish(first);
}

bool arrives_cast(const Call& call, const Prepared& prepared, int i) {
  return !call.args[i]->is_tensor() || is_cast_first(prepared.cast_first, i);
}

using Registers = std::array<int, kMaxArgs>;
/// The arguments, operands first, if the op is one of 16-bit floats beside numbers in float32, which is one kernel.
std::optional<Registers> registers_beside_numbers(const Call& call, const Prepared& prepared) {
  const Types& types = call.resolved.types;
  const bool is_half = types.common != types.compute && types.compute == float32 && !is_custom(call.op);
  if (!is_half || call.outputs->dtype != types.common || types.result != types.common) return {};
  if (!kernels().beside_numbers[static_cast<std::size_t>(call.op)][half_column(types.common)]) return {};
  const Row& row = row_of(call.op);
  const int operands = call.count - numbers_beside(row, call.count);
  const bool swaps = row.commutative && !call.args[0]->is_tensor();
  Registers in_order{};
  for (int place = 0; place < call.count; ++place) {
    const int i = in_order[static_cast<std::size_t>(place)] = swaps ? 1 - place : place;  // exact: one of two
    const Arg& arg = *call.args[i];
    if (place >= operands ? !arrives_cast(call, prepared, i) || (arg.is_tensor() && arg.tensor().numel() != 1)
                          : arrives_cast(call, prepared, i) || arg.tensor().dtype() != types.common)
      return {};
  }
  return in_order;
}
/// Whether an operand's bytes are read as they are: a bool may hold any value.
bool reads_bytes(const Call& call, const Tensor& operand) {
  return row_of(call.op).promotion == Promotion::logical && itemsize(operand.dtype()) == 1;
}

/// The Program of one op: casts arguments to the compute dtype and each result to the dtype of its output.
void make_program(const Call& call, Prepared& prepared) {
  const Types& types = call.resolved.types;
  Program& program = prepared.program;
  int regs[kMaxArgs] = {};
  const auto is_read_as_wanted = [&](int i) {
    return arrives_cast(call, prepared, i) || reads_bytes(call, call.args[i]->tensor());
  };
  for (int i = 0; i < call.count; ++i)
    regs[i] =
        program.input(is_read_as_wanted(i) ? call.resolved.conversions[i].wanted : call.args[i]->tensor().dtype());
  if (const auto in_order = registers_beside_numbers(call, prepared)) {
    program.op_beside_numbers(call.op, types.common, call.count, in_order->data());
    return;
  }
  for (int i = 0; i < call.count; ++i)
    if (const Conversion& conversion = call.resolved.conversions[i]; !is_read_as_wanted(i))
      regs[i] = program.cast(program.cast(i, conversion.through), conversion.wanted);
  const int result = program.op(call.op, types.compute, given_by_kernel(types), call.count, regs);
  program.cast(program.cast(result, types.result), call.outputs->dtype);
  if (has_several_results(row_of(call.op))) [[unlikely]]
    add_next_results(program, call, regs);
}

/// Whether the op is where with a condition that changes along the last dim, of which there is no kernel with masks:
/// then long runs are fairer than many short rows.
bool chooses_along_rows(const Call& call, int64_t narrowest) {
  if (call.op != Op::where || masks_rows(narrowest) || !call.args[0]->is_tensor()) return false;
  const Tensor& condition = call.args[0]->tensor();
  const int64_t last = condition.dim() - 1;
  return last >= 0 && condition.sizes()[last] != 1 && condition.strides()[last] != 0;
}
/// What is cast comes in tiles, which join all runs.
FairRuns fair_runs_of(const Call& call, const Program& program) {
  int64_t narrowest = itemsize(call.outputs->dtype);
  for (int i = 0; i < call.count; ++i) {
    const Dtype dtype = program.dtype(i);
    if (dtype != call.resolved.conversions[i].wanted && !program.is_one_kernel()) {
      constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
      return {kNone, kNone};
    }
    narrowest = std::min<int64_t>(narrowest, itemsize(dtype));
  }
  const bool takes_rows =
      program.is_one_kernel() && program.instructions()[0].rows && !chooses_along_rows(call, narrowest);
  if (takes_rows && masks_rows(narrowest))
    return {kShortestMaskedRun, narrowest == 2 ? kShortestMaskedWords : kShortestMaskedRun};
  if (!takes_rows) return FairRuns::of_calls(narrowest);
  FairRuns fair = FairRuns::of_rows(itemsize(program.dtype(0)));
  const bool finds_larger = call.op == Op::maximum || call.op == Op::minimum;
  if (finds_larger && program.dtype(0) == float32) fair.with_gaps = std::max(fair.with_gaps, kLeastOfExtremes);
  return fair;
}

void plan_call(const Call& call, Prepared& prepared) {
  const int results = prepared.program.results();
  SmallVector<StridedView, 8> strided(results + call.count);
  Dims cast_strides[kMaxArgs];
  for (int i = 0; i < results; ++i) strided[i] = {call.resolved.shape, call.outputs[i].strides};
  for (int i = 0; i < call.count; ++i) {
    StridedView& operand = strided[results + i] = {};
    if (!call.args[i]->is_tensor()) continue;
    operand = {call.args[i]->tensor().sizes(), call.args[i]->tensor().strides()};
    if (!is_cast_first(prepared.cast_first, i)) continue;
    cast_strides[i] = strides_like(operand.sizes, operand.strides, MemoryFormat::preserve);
    operand.strides = cast_strides[i];
  }
  constexpr int64_t kTileBytes = 512;  // Bench: ./dev bench --sweep, steps
  FairRuns fair = fair_runs_of(call, prepared.program);
  fair.tile = kTileBytes / itemsize(prepared.program.dtype(0));
  make_plan(call.resolved.shape, strided.data(), strided.size(), prepared.plan, results, fair);
}

Memory memory_of(const Call& call, const void** addresses) {
  Memory memory{.outs = addresses};
  const void* const first = call.outputs->data;
  for (int i = 0; i < count_results(row_of(call.op)); ++i) addresses[i] = call.outputs[i].data;
  for (int i = 0; i < call.count; ++i)
    if (first && call.args[i]->is_tensor() && call.args[i]->tensor().impl()->data() == first) memory.is_fresh = false;
  return memory;
}

template <class... Values>
int64_t packed(Values... values) {
  int64_t number = 0;
  ((number = number << 8 | static_cast<int64_t>(values)), ...);
  return number;
}
/// All that `make_program`, `plan_call` and `make_schedule` read.
PreparedKey key_of(const Call& call, const Memory& memory) {
  const Resolved& resolved = call.resolved;
  PreparedKey key;
  key.add(static_cast<int64_t>(call.op) << 32 |
          packed(resolved.types.common, resolved.types.compute, resolved.types.result, call.count));
  key.add(static_cast<int64_t>(get_num_threads()) << 16 | packed(memory.is_fresh, resolved.shape.size()));
  key.add(resolved.shape);
  for (int i = 0; i < count_results(row_of(call.op)); ++i) {
    key.add(packed(call.outputs[i].dtype, memory.place(i)));
    key.add(call.outputs[i].strides);
  }
  for (int i = 0; i < call.count; ++i) {
    const Conversion& conversion = resolved.conversions[i];
    const TensorImpl* operand = call.args[i]->is_tensor() ? call.args[i]->tensor().impl() : nullptr;
    key.add(packed(conversion.through, conversion.wanted, operand != nullptr));
    if (operand) key.add(*operand);
  }
  return key;
}

/// The number of elements to compute; 0 if no memory holds them, which the result's allocation will report.
int64_t numel_to_compute(const Resolved& resolved) {
  if (resolved.device == Device::meta && !CourseRecord::plans_meta()) return 0;
  Checked bytes = kMaxItemsize;
  for (int64_t size : resolved.shape) bytes *= size;
  return bytes.is_at_most(kMaxStorageBytes) ? bytes.value_or(0) / kMaxItemsize : 0;
}

}  // namespace

void prepare(Op op, Resolved& resolved, Args args, int count, const Output* outputs) {
  const int64_t numel = numel_to_compute(resolved);
  if (numel == 0) return;
  for (int i = 0; i < count; ++i)
    if (!args[i]->is_tensor()) resolved.numbers[i] = converted(args[i]->number(), resolved.conversions[i]);
  const Call call{op, resolved, args, count, outputs};
  const void* addresses[kMaxResults];
  const Memory memory = memory_of(call, addresses);
  resolved.prepared = PreparedCall::find(key_of(call, memory), [&](Prepared& prepared) {
    prepared.cast_first = choose_first_casts(call, numel);
    make_program(call, prepared);
    plan_call(call, prepared);
    make_schedule(prepared.plan, prepared.program, memory, prepared.schedule);
  });
}

namespace {

[[gnu::noinline]] void execute_after_casts(const Resolved& resolved, void* const* to, const void** inputs, Args args,
                                           int count) {
  const PreparedCall& prepared = resolved.prepared;
  Tensor casts[kMaxArgs];
  for (int i = 0; i < count; ++i) {
    if (!is_cast_first(prepared->cast_first, i)) continue;
    casts[i] = run_to(args[i]->tensor(), resolved.conversions[i].wanted, MemoryFormat::preserve);
    inputs[i] = casts[i].data_ptr();
  }
  run(prepared->plan, prepared->program, prepared->schedule, to, inputs);
}

}  // namespace

void execute(const Resolved& resolved, const Tensor* outs, Args args, int count) {
  const PreparedCall& prepared = resolved.prepared;
  if (!prepared) return;
  void* to[kMaxResults];
  const void* inputs[kMaxArgs];
  for (int i = 0; i < prepared->program.results(); ++i) to[i] = outs[i].impl()->data();
  for (int i = 0; i < count; ++i)
    inputs[i] = args[i]->is_tensor() ? args[i]->tensor().impl()->data() : resolved.numbers[i].bytes;
  if (prepared->cast_first != 0) return execute_after_casts(resolved, to, inputs, args, count);
  run(prepared->plan, prepared->program, prepared->schedule, to, inputs);
}

}  // namespace tenon
