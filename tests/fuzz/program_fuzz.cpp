// Any bytes as a Program of ops and casts over operands of any layout: the interpreter writes what its kernels give for
// single elements, and nothing else.
#include <cstring>
#include <vector>

#include "formula_arity.h"
#include "fuzz/world.h"
#include "tenon/threads.h"
#include "tile/run.h"

using namespace tenon;
using fuzz::Bytes;

namespace {

constexpr int64_t kManyElements = 700;  // of most cases
constexpr int64_t kMostElements = 5000;
constexpr int64_t kMostInputs = 3, kMostResults = 3;
constexpr int64_t kMostInstructions = 6;

/// An operand and its memory, which ends where the allocation ends.
struct Operand {
  Dims sizes, strides;
  Dtype dtype = Dtype::float32;
  int64_t extent = 1;
  std::vector<std::byte> memory;

  std::byte* begin() { return memory.data() + memory.size() - extent * itemsize(dtype); }
};

Dims draw_shape(Bytes& bytes) {
  static constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 8, 16, 17, 33, 64, 65, 129, 257, 600, 1030, 4100};
  Dims shape;
  int64_t numel = 1;
  const int64_t most = bytes.up_to(15) == 0 ? kMostElements : kManyElements;
  for (int64_t dims = bytes.up_to(6); dims > 0; --dims) {
    const int64_t size = sizes[bytes.up_to(15)];
    if (numel * size > most) continue;
    shape.push_back(size);
    numel *= size;
  }
  return shape;
}

/// Strides of any order of dims, with gaps. An input may also have strides of 0 or fewer dims.
Operand draw_operand(Bytes& bytes, const Dims& shape, bool written) {
  Operand operand;
  const int64_t skipped = !written && bytes.up_to(4) == 0 ? bytes.up_to(shape.size()) : 0;
  for (int64_t dim = skipped; dim < shape.size(); ++dim)
    operand.sizes.push_back(!written && bytes.up_to(3) == 0 ? 1 : shape[dim]);
  const int64_t ndim = operand.sizes.size();
  Dims order(ndim, 0);
  for (int64_t i = 0; i < ndim; ++i) order[i] = ndim - 1 - i;
  if (bytes.flag())
    for (int64_t i = 0; i + 1 < ndim; ++i) std::swap(order[i], order[i + bytes.up_to(ndim - 1 - i)]);
  operand.strides.resize(ndim);
  int64_t step = 1 + (bytes.up_to(4) == 0 ? 1 : 0);
  for (int64_t dim : order) {
    const int64_t form = bytes.up_to(9);
    operand.strides[dim] = !written && form == 0 ? 0 : step;
    step *= operand.sizes[dim];
    if (form == 1) step += bytes.up_to(3);
    operand.extent += (operand.sizes[dim] - 1) * operand.strides[dim];
  }
  return operand;
}

void fill(Bytes& bytes, Operand& operand, Dtype dtype) {
  operand.dtype = dtype;
  const int64_t before = bytes.up_to(8) * itemsize(dtype);
  operand.memory.resize(static_cast<std::size_t>(operand.extent * itemsize(dtype) + before));
  uint64_t state = bytes.raw<uint64_t>() | 1;
  for (std::byte& byte : operand.memory) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56) & (dtype == Dtype::bool_ ? std::byte{1} : std::byte{255});
  }
}

/// Whether the op has a kernel for this dtype that accepts all values.
bool maps(Op op, Dtype compute) {
  if (!kernel_of(op, compute) || kernels().fold[static_cast<int>(op)][static_cast<int>(compute)]) return false;
  // A polynomial takes as many steps as its degree says.
  if (std::strstr(row_of(op).values, "degree")) return false;
  return !row_of(op).divides_integers || is_floating_point(compute);
}

void append_instruction(Bytes& bytes, Program& program) {
  const auto draw = [&] { return static_cast<int>(bytes.up_to(program.registers() - 1)); };
  const Dtype dtype = bytes.dtype();
  const Op op = static_cast<Op>(bytes.up_to(kOpCount - 1));
  if (bytes.up_to(3) == 0 || !maps(op, dtype)) {
    program.cast(draw(), dtype);
    return;
  }
  const Row& row = row_of(op);
  const int arity = formulas::arity_of(op);
  int in[kMaxArgs] = {};
  for (int i = 0; i < arity; ++i) {
    const bool condition = row.promotion == Promotion::select && i == 0;
    in[i] = program.cast(draw(), condition ? Dtype::bool_ : dtype);
  }
  const bool truth = row.promotion == Promotion::comparison || row.promotion == Promotion::logical;
  program.op(op, dtype, truth ? Dtype::bool_ : dtype, arity, in);
}

/// Makes the Program read all its inputs, as it must.
void read_all_inputs(Program& program) {
  std::vector<bool> read(static_cast<std::size_t>(program.inputs()));
  for (const Instruction& instruction : program.instructions())
    for (int i = 0; i < instruction.arity; ++i)
      if (instruction.in[i] < program.inputs()) read[static_cast<std::size_t>(instruction.in[i])] = true;
  int result = program.result();
  for (int i = 0; i < program.inputs(); ++i) {
    if (read[static_cast<std::size_t>(i)]) continue;
    const int a = program.cast(result, Dtype::float32), b = program.cast(i, Dtype::float32);
    const int in[] = {a, b};
    result = program.op(Op::add, Dtype::float32, Dtype::float32, 2, in);
  }
  if (program.instructions().size() == 0) program.copy(0);
}

/// A Program with `results` results over the operands behind as many outputs.
Program draw_program(Bytes& bytes, const std::vector<Operand>& operands, std::size_t results) {
  Program program;
  for (std::size_t i = results; i < operands.size(); ++i) program.input(operands[i].dtype);
  for (int64_t left = 1 + bytes.up_to(kMostInstructions - 1); left > 0; --left) append_instruction(bytes, program);
  read_all_inputs(program);
  for (std::size_t i = 1; i < results; ++i) program.add_result(static_cast<int>(bytes.up_to(program.registers() - 1)));
  return program;
}

/// The byte offsets of the elements of an operand broadcast to `shape`, in row-major order.
std::vector<int64_t> places(const Dims& shape, const Operand& operand) {
  const int64_t lead = shape.size() - operand.sizes.size();
  Dims strides(shape.size(), 0), index(shape.size(), 0);
  for (int64_t dim = lead; dim < shape.size(); ++dim)
    if (operand.sizes[dim - lead] != 1) strides[dim] = operand.strides[dim - lead] * itemsize(operand.dtype);
  std::vector<int64_t> result(static_cast<std::size_t>(numel_of(shape)));
  int64_t place = 0;
  for (int64_t& element : result) {
    element = place;
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      place += strides[dim];
      if (++index[dim] < shape[dim]) break;
      place -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
  return result;
}

/// Computes all registers op by op: every register holds all elements.
std::vector<std::vector<std::byte>> run_plainly(const Program& program, const Dims& shape,
                                                std::vector<Operand>& operands) {
  const int64_t numel = numel_of(shape);
  std::vector<std::vector<std::byte>> registers;
  for (int reg = 0; reg < program.registers(); ++reg)
    registers.emplace_back(static_cast<std::size_t>(numel * itemsize(program.dtype(reg))));
  const auto lanes = [&](int reg) { return registers[static_cast<std::size_t>(reg)].data(); };
  for (int i = 0; i < program.inputs(); ++i) {
    Operand& operand = operands[static_cast<std::size_t>(program.results() + i)];
    const int64_t width = itemsize(operand.dtype);
    std::byte* to = lanes(i);
    for (int64_t place : places(shape, operand)) {
      std::memcpy(to, operand.begin() + place, static_cast<std::size_t>(width));
      to += width;
    }
  }
  int target = program.inputs();
  for (const Instruction& instruction : program.instructions()) {
    Lanes in[kMaxArgs] = {};
    for (int i = 0; i < instruction.arity; ++i) in[i] = {lanes(instruction.in[i]), 1};
    instruction.kernel(lanes(target++), in, numel);
  }
  return registers;
}

/// The output's memory with these elements.
std::vector<std::byte> memory_with(Operand& output, const Dims& shape, const std::vector<std::byte>& elements) {
  std::vector<std::byte> memory = output.memory;
  const auto width = static_cast<std::size_t>(itemsize(output.dtype));
  const std::byte* from = elements.data();
  for (int64_t place : places(shape, output)) {
    std::memcpy(&memory[static_cast<std::size_t>(output.begin() - output.memory.data() + place)], from, width);
    from += width;
  }
  return memory;
}

std::string describe(const Dims& shape, const std::vector<Operand>& operands, const Plan& plan) {
  std::string text = to_string(shape);
  for (std::size_t i = 0; i < operands.size(); ++i)
    text += std::string("\n") + dtype_name(operands[i].dtype) + " " + to_string(operands[i].sizes) + " strides " +
            to_string(operands[i].strides) + " " + access_pattern_name(plan.operands[static_cast<int64_t>(i)].access);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  set_num_threads(1 + static_cast<int>(bytes.up_to(31) == 0));
  const Dims shape = draw_shape(bytes);
  const std::size_t results = bytes.up_to(3) == 0 ? 2 + static_cast<std::size_t>(bytes.up_to(kMostResults - 2)) : 1;
  std::vector<Operand> operands(results + 1 + static_cast<std::size_t>(bytes.up_to(kMostInputs - 1)));
  for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = draw_operand(bytes, shape, i < results);
  for (std::size_t i = results; i < operands.size(); ++i) fill(bytes, operands[i], bytes.dtype());
  const Program program = draw_program(bytes, operands, results);
  for (std::size_t i = 0; i < results; ++i)
    fill(bytes, operands[i], program.dtype(program.result(static_cast<int>(i))));

  StridedView walks[kMostInputs + kMostResults];
  void* outs[kMostResults] = {};
  const void* inputs[kMostInputs] = {};
  for (std::size_t i = 0; i < operands.size(); ++i) walks[i] = {operands[i].sizes, operands[i].strides};
  for (std::size_t i = 0; i < results; ++i) outs[i] = operands[i].begin();
  for (std::size_t i = results; i < operands.size(); ++i) inputs[i - results] = operands[i].begin();
  Plan plan;
  make_plan(shape, walks, static_cast<int64_t>(operands.size()), plan, static_cast<int64_t>(results));

  const std::vector<std::vector<std::byte>> registers = run_plainly(program, shape, operands);
  std::vector<std::vector<std::byte>> want;
  for (std::size_t i = 0; i < results; ++i)
    want.push_back(
        memory_with(operands[i], shape, registers[static_cast<std::size_t>(program.result(static_cast<int>(i)))]));

  run(plan, program, outs, inputs);
  for (std::size_t result = 0; result < results; ++result) {
    const Operand& output = operands[result];
    const auto width = static_cast<std::size_t>(itemsize(output.dtype));
    for (std::size_t i = 0; i < output.memory.size(); i += width) {
      if (std::memcmp(&output.memory[i], &want[result][i], width) == 0) continue;
      const std::string got(reinterpret_cast<const char*>(&output.memory[i]), width);
      const std::string one(reinterpret_cast<const char*>(&want[result][i]), width);
      CLAIM_OF(fuzz::same_element(got, one, output.dtype), describe(shape, operands, plan));
    }
  }
  return 0;
}
