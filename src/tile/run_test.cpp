// Every access pattern and every store mode, against a loop over single elements.
#include "tile/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

struct Operand {
  Dims sizes;
  Dims strides;
  int64_t extent = 1;  // elements of its memory
};

/// Sets the number of threads while it lives.
class Threads {
 public:
  explicit Threads(int count) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = get_num_threads();
};

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  int64_t up_to(int64_t last) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(last + 1)); }
  bool chance(double probability) { return static_cast<double>(random_() >> 11) * 0x1p-53 < probability; }

  Dims shape() {
    static constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 8, 16, 17, 33, 64, 70, 129, 130, 257, 600, 3000};
    Dims shape;
    int64_t numel = 1;
    for (int64_t dims = up_to(7); dims >= 0; --dims) {
      const int64_t size = sizes[up_to(15)];
      if (numel * size > 70000) continue;
      shape.push_back(size);
      numel *= size;
    }
    return shape;
  }
  /// Strides of any order of dims, with gaps. An input may also have strides of 0 or fewer dims.
  Operand operand(const Dims& shape, bool written) {
    Operand operand;
    const int64_t skipped = !written && chance(0.2) ? up_to(shape.size()) : 0;
    for (int64_t dim = skipped; dim < shape.size(); ++dim)
      operand.sizes.push_back(!written && chance(0.3) ? 1 : shape[dim]);
    const int64_t ndim = operand.sizes.size();
    std::vector<int64_t> order(static_cast<std::size_t>(ndim));
    for (int64_t dim = 0; dim < ndim; ++dim) order[static_cast<std::size_t>(dim)] = ndim - 1 - dim;
    if (chance(0.5)) std::shuffle(order.begin(), order.end(), random_);
    operand.strides.resize(ndim);
    int64_t step = chance(0.2) ? 2 : 1;
    for (int64_t dim : order) {
      operand.strides[dim] = !written && chance(0.1) ? 0 : step;
      step *= operand.sizes[dim];
      if (chance(0.1)) step += up_to(3);
    }
    for (int64_t dim = 0; dim < ndim; ++dim) operand.extent += (operand.sizes[dim] - 1) * operand.strides[dim];
    return operand;
  }

 private:
  std::mt19937_64 random_;
};

/// The offset of element `index` (row-major over `shape`) of an operand that is broadcast to it.
int64_t place(const Dims& shape, const Operand& operand, int64_t index) {
  int64_t offset = 0;
  for (int64_t back = 1; back <= shape.size(); ++back) {
    const int64_t i = index % shape[shape.size() - back];
    index /= shape[shape.size() - back];
    if (back > operand.sizes.size()) continue;
    const int64_t dim = operand.sizes.size() - back;
    if (operand.sizes[dim] != 1) offset += i * operand.strides[dim];
  }
  return offset;
}

Plan plan_of(const Dims& shape, const Operand* operands, int64_t count, int64_t outputs = 1) {
  StridedView strided[8];
  for (int64_t i = 0; i < count; ++i) strided[i] = {operands[i].sizes, operands[i].strides};
  Plan plan;
  make_plan(shape, strided, count, plan, outputs);
  return plan;
}

template <class T>
std::vector<T> numbered(int64_t count, int64_t start) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>((static_cast<int64_t>(i) * 7 + start) % 61);
  return values;
}

/// What `difference` computes: a < b of two numbers, or a + b.
template <Op op, class T>
auto computed(T a, T b) {
  if constexpr (op == Op::lt)
    return static_cast<uint8_t>(a < b);
  else
    return static_cast<T>(a + b);
}

std::string text_of(const Dims& shape, const Operand* operands, const Plan& plan, Dtype dtype) {
  std::string text = std::string(dtype_name(dtype)) + " " + to_string(shape);
  for (int i = 0; i < 3; ++i)
    text += " " + to_string(operands[i].sizes) + ":" + to_string(operands[i].strides) + " " +
            access_pattern_name(plan.operands[i].access);
  return text;
}

/// Runs the op over a and b and compares all of `got`, the output's memory, including gaps between its elements. a may
/// be that memory.
template <Op op, class T, class Out>
std::string difference(const Dims& shape, const Operand* operands, const T* a, const T* b, std::vector<Out>& got) {
  const Plan plan = plan_of(shape, operands, 3);
  std::vector<Out> want = got;
  for (int64_t i = 0; i < numel_of(shape); ++i)
    want[static_cast<std::size_t>(place(shape, operands[0], i))] =
        computed<op>(a[place(shape, operands[1], i)], b[place(shape, operands[2], i)]);
  Program program;
  const int x = program.input(dtype_of_v<T>), y = program.input(dtype_of_v<T>);
  const int in[] = {x, y};
  program.op(op, dtype_of_v<T>, op == Op::lt ? bool_ : dtype_of_v<T>, 2, in);
  const void* inputs[] = {a, b};
  void* const out = got.data();
  run(plan, program, &out, inputs);
  return got == want ? std::string() : text_of(shape, operands, plan, dtype_of_v<T>);
}

template <class T, Op op = Op::add>
std::string difference(const Dims& shape, const Operand* operands) {
  using Out = decltype(computed<op>(T(), T()));
  const std::vector<T> a = numbered<T>(operands[1].extent, 1), b = numbered<T>(operands[2].extent, 5);
  std::vector<Out> got(static_cast<std::size_t>(operands[0].extent), Out{99});
  return difference<op>(shape, operands, a.data(), b.data(), got);
}

/// The same into the first input.
template <class T>
std::string difference_in_place(const Dims& shape, const Operand& own, const Operand& other) {
  const Operand operands[] = {own, own, other};
  std::vector<T> self = numbered<T>(own.extent, 1);
  const std::vector<T> b = numbered<T>(other.extent, 5);
  return difference<Op::add>(shape, operands, self.data(), b.data(), self);
}

TEST(Run, EveryAccessPatternAgainstSingleElements) {
  SmallVector<int64_t, 8> seen(6);
  for (auto& count : seen) count = 0;
  for (uint64_t seed = 0; seed < 3000 / kSampled; ++seed) {
    Draw draw(seed);
    const Dims shape = draw.shape();
    const Operand operands[] = {draw.operand(shape, true), draw.operand(shape, false), draw.operand(shape, false)};
    const Plan plan = plan_of(shape, operands, 3);
    for (int i = 1; i < 3; ++i) ++seen[static_cast<int>(plan.operands[i].access)];
    std::string text;
    switch (seed % 4) {
      case 0:
        text = difference<uint8_t>(shape, operands);
        break;
      case 1:
        text = difference<int16_t>(shape, operands);
        break;
      case 2:
        text = difference<float>(shape, operands);
        break;
      default:
        text = difference<double>(shape, operands);
        break;
    }
    ASSERT_EQ(text, "") << "seed " << seed;
  }
  for (int access = 0; access < 6; ++access)
    EXPECT_GT(seen[access], 20 / kSampled) << access_pattern_name(static_cast<AccessPattern>(access));
}

TEST(Run, StreamingStores) {
  const int64_t rows = 3 * streaming_threshold() / 4 / 1000 + 3;
  const Dims shape{rows, 1000};
  const Operand cases[][2] = {
      {{{rows, 1000}, {1000, 1}, rows * 1000}, {{1000}, {1}, 1000}},
      {{{rows, 1000}, {1, rows}, rows * 1000}, {{rows, 1}, {1, 1}, rows}},
      {{{rows, 1}, {1, 1}, rows}, {{1}, {1}, 1}},
  };
  for (const auto& inputs : cases) {
    const Operand operands[] = {{{rows, 1000}, {1000, 1}, rows * 1000}, inputs[0], inputs[1]};
    EXPECT_EQ(difference<float>(shape, operands), "");
  }
}

/// `rows` rows of `length` elements, `gap` elements apart.
Operand rows_of(int64_t rows, int64_t length, int64_t gap) {
  return {{rows, length}, {length + gap, 1}, rows * (length + gap)};
}

/// Rows beside rows with gaps, a column, a row and one element; into new memory, into rows with gaps and in place.
template <class T>
void expect_rows_of(int64_t length) {
  constexpr int64_t kRows = 7;
  const Dims shape{kRows, length};
  const Operand dense = rows_of(kRows, length, 0), gaps = rows_of(kRows, length, 3);
  const Operand column{{kRows, 1}, {1, 1}, kRows}, row{{length}, {1}, length}, one{{1}, {1}, 1};
  for (const Operand& out : {dense, gaps})
    for (const Operand& other : {dense, gaps, column, row, one}) {
      const Operand operands[] = {out, dense, other}, swapped[] = {out, other, gaps};
      EXPECT_EQ(difference<T>(shape, operands), "");
      EXPECT_EQ(difference<T>(shape, swapped), "");
      EXPECT_EQ((difference<T, Op::lt>(shape, operands)), "");
      EXPECT_EQ((difference<T, Op::lt>(shape, swapped)), "");
      EXPECT_EQ(difference_in_place<T>(shape, out, other), "") << "in place";
    }
}

TEST(Run, RowsOfEveryLength) {
  for (int64_t length = 1; length <= 200; ++length) {
    expect_rows_of<uint8_t>(length);
    expect_rows_of<int16_t>(length);
    expect_rows_of<float>(length);
    expect_rows_of<double>(length);
  }
}

/// An operand of all dims of `shape`, with `step` between elements and `gap` more elements after each run of each dim.
Operand stepped(const Dims& shape, int64_t step, int64_t gap) {
  Operand operand{shape, shape};
  int64_t next = step;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    operand.strides[dim] = next;
    operand.extent += (shape[dim] - 1) * next;
    next = next * shape[dim] + gap;
  }
  return operand;
}

template <class T>
void expect_far_gathers() {
  const int64_t numel = streaming_threshold() / static_cast<int64_t>(sizeof(T)) + 40'000;
  const auto shape_of = [&](const Dims& inner) {
    Dims shape{numel / numel_of(inner) + 1};
    for (const int64_t size : inner) shape.push_back(size);
    return shape;
  };
  const struct {
    Dims inner;
    int64_t step;
  } cases[] = {{{}, 2}, {{33}, 3}, {{7}, 5}, {{1000}, 2}, {{5, 4, 6}, 3}};
  for (const auto& [inner, step] : cases) {
    const Dims shape = shape_of(inner);
    const Operand dense = stepped(shape, 1, 0), gaps = stepped(shape, 1, 2);
    const Operand wide = stepped(shape, step, 0), wide_gaps = stepped(shape, step, 1);
    const Operand one[] = {dense, wide, dense}, two[] = {dense, wide_gaps, wide}, three[] = {gaps, gaps, wide};
    for (const Operand* operands : {one, two, three}) EXPECT_EQ(difference<T>(shape, operands), "");
    EXPECT_EQ(plan_of(shape, two, 3).operands[1].access, AccessPattern::gather) << to_string(shape);
  }
}

// The tiles' ends fall anywhere in the rows. With three fused loops nothing is prefetched.
TEST(Run, GathersFromBeyondTheCaches) {
  {
    const Threads alone(1);
    expect_far_gathers<float>();
  }
  const Threads several(2);
  expect_far_gathers<double>();
}

Route route_of(const Dims& shape, const Operand* operands, Dtype dtype) {
  Program program;
  const int in[] = {program.input(dtype), program.input(dtype)};
  program.op(Op::add, dtype, dtype, 2, in);
  Schedule schedule;
  make_schedule(plan_of(shape, operands, 3), program, {}, schedule);
  return schedule.route;
}

template <class T>
void expect_elements(const Dims& shape, int64_t step, int64_t gap) {
  const Operand dense = stepped(shape, 1, 0), gaps = stepped(shape, 2, 1), wide = stepped(shape, step, gap);
  const bool has_kernel = rows_kernel_of(Op::add, dtype_of_v<T>) != nullptr;
  const Operand row{{shape.back()}, {step}, shape.back() * step}, one{{1}, {1}, 1};
  for (const Operand& out : {dense, gaps, wide})
    for (const Operand& other : {dense, wide, row, one}) {
      const Operand operands[] = {out, wide, other}, swapped[] = {out, other, wide};
      EXPECT_TRUE(!has_kernel || route_of(shape, operands, dtype_of_v<T>) == Route::elements);
      EXPECT_EQ(difference<T>(shape, operands), "");
      EXPECT_EQ((difference<T, Op::lt>(shape, swapped)), "");
    }
  EXPECT_EQ(difference_in_place<T>(shape, wide, dense), "");
}

TEST(Run, WideElementsWithSteps) {
  for (const int64_t step : {2, 3, 5, 40})
    for (const Dims& shape : {Dims{1000}, Dims{7, 18}, Dims{3, 4, 51}, Dims{1500, 16}, Dims{2, 33'000}}) {
      expect_elements<double>(shape, step, 1);
      expect_elements<int64_t>(shape, step, 2);
      if (step < 5) continue;
      expect_elements<float>(shape, step, 1);
      expect_elements<int32_t>(shape, step, 2);
    }
  const Dims rows_of_nine{400, 9};  // of two operands
  const Operand out = stepped(rows_of_nine, 1, 0), wide = stepped(rows_of_nine, 3, 2);
  const Operand two[] = {out, wide, wide}, one[] = {out, wide, out};
  EXPECT_EQ(route_of(rows_of_nine, two, float32), rows_kernel_of(Op::add, float32) ? Route::elements : Route::tiles);
  EXPECT_EQ(route_of(rows_of_nine, one, float64), Route::tiles);
  EXPECT_EQ(difference<float>(rows_of_nine, two), "");
  // A result with gaps takes elements that lie close together, too.
  const Operand gaps = rows_of(400, 9, 1), near = stepped(rows_of_nine, 2, 0), into_gaps[] = {gaps, near, out};
  EXPECT_EQ(route_of(rows_of_nine, into_gaps, float32),
            rows_kernel_of(Op::add, float32) ? Route::elements : Route::tiles);
  EXPECT_EQ(difference<float>(rows_of_nine, into_gaps), "");
  // So does one with steps, with any vectors.
  const Operand stepped_out = stepped(rows_of_nine, 2, 1), into_steps[] = {stepped_out, near, out};
  EXPECT_EQ(route_of(rows_of_nine, into_steps, float32),
            rows_kernel_of(Op::add, float32) ? Route::elements : Route::tiles);
  EXPECT_EQ(difference<float>(rows_of_nine, into_steps), "");
  // Lines that are read again in the next turn of a loop are better read in blocks.
  const Dims shape{100, 100};
  const Operand dense = stepped(shape, 1, 0), transposed{shape, {3, 300}, 30'000};
  const Operand operands[] = {dense, transposed, dense};
  EXPECT_NE(route_of(shape, operands, float64), Route::elements);
}

/// Elements with short steps beside rows with gaps, a column, a row and the same; into new memory, into rows with gaps
/// and in place.
template <class T>
void expect_gathered_rows(int64_t rows, int64_t length, int64_t step) {
  const Dims shape{rows, length};
  const Operand dense = rows_of(rows, length, 0), gaps = rows_of(rows, length, 3), steps = stepped(shape, step, 1);
  const Operand column{{rows, 1}, {1, 1}, rows}, row{{length}, {1}, length};
  if (rows_kernel_of(Op::add, dtype_of_v<T>) && rows > 1) {
    const Operand operands[] = {dense, steps, column};
    EXPECT_EQ(route_of(shape, operands, dtype_of_v<T>), Route::elements) << rows << " rows of " << length;
  }
  for (const Operand& out : {dense, gaps})
    for (const Operand& other : {dense, gaps, steps, column, row}) {
      const Operand operands[] = {out, steps, other}, swapped[] = {out, other, steps};
      EXPECT_EQ(difference<T>(shape, operands), "") << rows << " rows of " << length << ", steps of " << step;
      EXPECT_EQ((difference<T, Op::lt>(shape, swapped)), "") << rows << " rows of " << length << ", steps of " << step;
    }
  EXPECT_EQ(difference_in_place<T>(shape, gaps, steps), "");
}

TEST(Run, ElementsWithShortStepsAreGatheredForSomeRows) {
  for (const int64_t step : {2, 3, 4})
    for (const int64_t rows : {1, 2, 5, 60, 150})
      for (const int64_t length : {9, 12, 17, 31, 33, 64, 100, 130, 257, 511}) {
        expect_gathered_rows<float>(rows, length, step);
        expect_gathered_rows<double>(rows, length, step);
        if (length * 2 <= 32) continue;
        expect_gathered_rows<int16_t>(rows, length, step);
      }
}

TEST(Run, ElementsWithStepsBeyondTheCaches) {
  const int64_t numel = 3 * streaming_threshold() / 2 / 4 + 77;  // exact: a few million
  const Tensor wide = arange(int64_t{0}, 3 * numel, 1, int32), steps = wide.view({numel, 3}).select(1, 2);
  EXPECT_TRUE(equal(add(steps, steps), mul(steps.contiguous(), 2)));
  const Tensor row = wide.narrow(0, 0, 1);
  EXPECT_TRUE(equal(sub(steps, row), steps.contiguous()));
  const Tensor columns = wide.narrow(0, 0, numel / 20 * 60).view({-1, 60}), gaps = columns.slice(1, 0, 20);
  const Tensor thirds = columns.slice(1, 0, 60, 3);
  EXPECT_TRUE(equal(add(thirds, gaps), add(thirds.contiguous(), gaps.contiguous())));
}

TEST(Run, ConditionsBesideWideElementsWithSteps) {
  for (const Dtype dtype : {float64, int64}) {
    const Tensor condition = eq(arange(1000).remainder(3), 0), other = zeros({1000}, Options(dtype));
    const Tensor steps = arange(3000).to(dtype).view({1000, 3}).select(1, 1);
    EXPECT_TRUE(equal(where(condition, steps, other), where(condition, steps.contiguous(), other)));
    EXPECT_TRUE(equal(where(condition, other, steps), where(condition, other, steps.contiguous())));
  }
}

TEST(Run, RefusesOperandsWithoutMemory) {
  Program program;
  program.cast(program.input(float32), float64);
  const Dims sizes{4}, strides{1};
  const StridedView strided[] = {{sizes, strides}, {sizes, strides}};
  Plan plan;
  make_plan(sizes, strided, 2, plan);
  double values[4];
  const float in[4] = {};
  const void *there = in, *missing = nullptr;
  void *out = values, *nowhere = nullptr;
  EXPECT_THROW(run(plan, program, &out, &missing), NotImplementedError);
  EXPECT_THROW(run(plan, program, &nowhere, &there), NotImplementedError);
  run(plan, program, &out, &there);
}

TEST(Run, CastsBeforeAndAfter) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Draw draw(seed);
    const Dims shape = draw.shape();
    const Operand operands[] = {draw.operand(shape, true), draw.operand(shape, false)};
    const Plan plan = plan_of(shape, operands, 2);
    const std::vector<int64_t> in = numbered<int64_t>(operands[1].extent, 3);
    std::vector<float> got(static_cast<std::size_t>(operands[0].extent), -1), want = got;
    for (int64_t i = 0; i < numel_of(shape); ++i)
      want[static_cast<std::size_t>(place(shape, operands[0], i))] =
          static_cast<float>(in[static_cast<std::size_t>(place(shape, operands[1], i))] % 256);
    Program program;
    program.cast(program.cast(program.input(int64), uint8), float32);
    void* const out = got.data();
    const void* input = in.data();
    run(plan, program, &out, &input);
    ASSERT_EQ(got, want) << "seed " << seed << " " << to_string(shape);
  }
}

constexpr int kMostInputs = 3, kMostResults = 4;

/// Inputs of any dtypes, and a Program of adds, products and casts over them that has no results yet.
struct Drawn {
  std::vector<Operand> inputs;
  std::vector<std::vector<std::byte>> values;
  Program program;

  Drawn(Draw& draw, std::vector<Operand> operands) : inputs(std::move(operands)) {
    for (const Operand& input : inputs) {
      const Dtype dtype = draw_dtype(draw);
      values.push_back(memory_of(input.extent, dtype));
      program.input(dtype);
    }
    for (int64_t left = 1 + draw.up_to(4); left > 0; --left) append(draw);
    for (int reg = 0; reg < program.inputs(); ++reg)
      if (!is_read(reg)) program.cast(reg, program.dtype(reg) == int32 ? float64 : int32);
  }
  int any_register(Draw& draw) const { return static_cast<int>(draw.up_to(program.registers() - 1)); }
  /// Elements 0, 1, 2 ... 49, 0 ...
  static std::vector<std::byte> memory_of(int64_t extent, Dtype dtype) {
    std::vector<std::byte> memory(static_cast<std::size_t>(extent * itemsize(dtype)));
    const std::vector<int16_t> numbers = numbered<int16_t>(extent, 3);
    const Lanes lanes{numbers.data(), 1};
    kernels().cast[static_cast<int>(int16)][static_cast<int>(dtype)](memory.data(), &lanes, extent);
    return memory;
  }

 private:
  static Dtype draw_dtype(Draw& draw) {
    static constexpr Dtype dtypes[] = {uint8, int16, int32, float32, float64};
    return dtypes[draw.up_to(4)];
  }
  bool is_read(int reg) const {
    for (const Instruction& instruction : program.instructions())
      for (int i = 0; i < instruction.arity; ++i)
        if (instruction.in[i] == reg) return true;
    return false;
  }
  void append(Draw& draw) {
    const Dtype dtype = draw_dtype(draw);
    const int in[] = {program.cast(any_register(draw), dtype), program.cast(any_register(draw), dtype)};
    program.op(draw.chance(0.5) ? Op::add : Op::mul, dtype, dtype, 2, in);
  }
};

/// Output memory with gaps around and between the elements; byte `before` is the first element's.
struct Written {
  Operand operand;
  std::vector<std::byte> memory;
  std::size_t before;

  Written(Operand layout, Dtype dtype, int64_t elements_before)
      : operand(std::move(layout)),
        memory(static_cast<std::size_t>((operand.extent + elements_before + 8) * itemsize(dtype)), std::byte{99}),
        before(static_cast<std::size_t>(elements_before * itemsize(dtype))) {}
  void* begin() { return memory.data() + before; }
};

void run_over(const Dims& shape, const Program& program, std::vector<Written>& outs, const Drawn& drawn) {
  std::vector<Operand> operands;
  void* to[kMostResults];
  const void* from[kMostInputs];
  for (std::size_t i = 0; i < outs.size(); ++i) {
    operands.push_back(outs[i].operand);
    to[i] = outs[i].begin();
  }
  for (std::size_t i = 0; i < drawn.inputs.size(); ++i) {
    operands.push_back(drawn.inputs[i]);
    from[i] = drawn.values[i].data();
  }
  const auto outputs = static_cast<int64_t>(outs.size());
  run(plan_of(shape, operands.data(), static_cast<int64_t>(operands.size()), outputs), program, to, from);
}

/// "uint8 float32; 0; 2 1": the inputs' dtypes and the registers that each instruction reads.
std::string text_of(const Program& program) {
  std::string text;
  for (int reg = 0; reg < program.inputs(); ++reg) text += std::string(" ") + dtype_name(program.dtype(reg));
  for (const Instruction& instruction : program.instructions()) {
    text += ";";
    for (int i = 0; i < instruction.arity; ++i) text += " " + std::to_string(instruction.in[i]);
  }
  return text;
}

/// Runs a Program with a result for each layout, and Programs with one of these results each. Compares all memory.
void compare_results(const Dims& shape, const std::vector<Operand>& layouts, Draw& draw, Drawn& drawn) {
  std::vector<Written> got, want;
  std::vector<int> regs;
  for (const Operand& layout : layouts) {
    regs.push_back(drawn.any_register(draw));
    got.emplace_back(layout, drawn.program.dtype(regs.back()), draw.up_to(2) * draw.up_to(40));
  }
  want = got;
  Program all = drawn.program;
  all.finish(regs[0]);
  for (std::size_t i = 1; i < regs.size(); ++i) all.add_result(regs[i]);
  run_over(shape, all, got, drawn);
  for (std::size_t i = 0; i < regs.size(); ++i) {
    Program one = drawn.program;
    one.finish(regs[i]);
    std::vector<Written> alone{want[i]};
    run_over(shape, one, alone, drawn);
    const auto& [ours, theirs] = std::tie(got[i].memory, alone[0].memory);
    ASSERT_TRUE(ours == theirs) << to_string(shape) << " result " << i << " of " << regs.size() << ", register "
                                << regs[i] << " of" << text_of(all) << ", " << dtype_name(all.dtype(regs[i])) << " "
                                << to_string(layouts[i].strides) << ", byte "
                                << std::mismatch(ours.begin(), ours.end(), theirs.begin()).first - ours.begin();
  }
}

TEST(SeveralResults, AreThoseOfProgramsWithOne) {
  for (uint64_t seed = 0; seed < 3000 / kSampled; ++seed) {
    Draw draw(seed);
    const Threads threads(1 + static_cast<int>(draw.up_to(1)));
    const Dims shape = draw.shape();
    std::vector<Operand> inputs, layouts;
    for (int64_t i = draw.up_to(kMostInputs - 1); i >= 0; --i) inputs.push_back(draw.operand(shape, false));
    for (int64_t i = draw.up_to(kMostResults - 1); i >= 0; --i) layouts.push_back(draw.operand(shape, true));
    Drawn drawn(draw, inputs);
    ASSERT_NO_FATAL_FAILURE(compare_results(shape, layouts, draw, drawn)) << "seed " << seed;
  }
}

// Outputs of rows that a kernel streams, and of rows that are joined to cache lines.
TEST(SeveralResults, WithStreamingStores) {
  for (int64_t columns : {1000, 49}) {
    const int64_t rows = streaming_threshold() / 2 / columns + 3;
    const Dims shape{rows, columns};
    const Operand dense{shape, {columns, 1}, rows * columns}, row{{columns}, {1}, columns};
    const Operand transposed{shape, {1, rows}, rows * columns};
    uint64_t seed = 0;
    for (const Operand& input : {dense, row, transposed}) {
      Draw draw(++seed);
      const Threads threads(1 + static_cast<int>(seed % 2));
      Drawn drawn(draw, {dense, input});
      const Operand last = seed == 2 ? transposed : dense;
      ASSERT_NO_FATAL_FAILURE(compare_results(shape, {dense, dense, last}, draw, drawn)) << "seed " << seed;
    }
  }
}

// Rows whose next turn is one of an outer loop, so short that several are computed by one call, and longer ones.
TEST(PermutedRows, FromBeyondTheCaches) {
  for (const int64_t columns : {8, 60, 300, 700})
    for (const int64_t inner : {3, 15}) {
      const int64_t outer = 20, middle = streaming_threshold() / 4 / columns / inner / outer + 3;
      const Tensor whole = arange(int64_t{0}, inner * outer * middle * columns, 1, float32);
      const Tensor rows = whole.remainder(1000).view({inner, outer, middle, columns});
      for (const bool skips : {false, true}) {
        const Tensor permuted = skips ? rows.permute({2, 1, 0, 3}) : rows.permute({1, 2, 0, 3});
        const Tensor got = add(permuted.clone(MemoryFormat::contiguous), permuted);
        const auto* at = got.data<float>();
        bool same = true;
        for (int64_t i = 0; i < permuted.size(0); ++i)
          for (int64_t j = 0; j < permuted.size(1); ++j)
            for (int64_t k = 0; k < inner; ++k) {
              const int64_t row = (k * outer + (skips ? j : i)) * middle + (skips ? i : j);
              for (int64_t column = 0; column < columns; ++column, ++at)
                same = same && *at == static_cast<float>((row * columns + column) % 1000) * 2;
            }
        EXPECT_TRUE(same) << columns << " columns, " << inner << " rows, " << (skips ? "skipping" : "in order");
      }
    }
}

// They are folded in pieces of columns, the last of which is longer. Each column has its largest element elsewhere.
/// Whether rows of `bytes` bytes that lie apart are copied, from memory that ends with the last of them to memory that
/// begins `offset` bytes behind a line, and nothing around them is written.
bool copies_rows(int64_t bytes, Dims memory, const Dims& order, int64_t offset) {
  int64_t rows = 1;
  for (const int64_t size : memory) rows *= size;
  const int64_t gap = 13, numel = rows * bytes;
  const Tensor elements = arange(int64_t{0}, rows * (bytes + gap), 1, int32).remainder(251).to(uint8);
  Tensor flat = elements.view({rows, bytes + gap}).narrow(1, gap, bytes);
  memory.push_back(bytes);
  Dims strides(memory.size(), 1);
  for (int64_t dim = memory.size() - 2, step = bytes + gap; dim >= 0; step *= memory[dim--]) strides[dim] = step;
  const Tensor view = flat.as_strided(memory, strides, gap).permute(order);
  const Tensor whole = full({numel + 128}, 7, uint8);
  Tensor out = whole.narrow(0, offset, numel).view(view.sizes());
  out.copy_(view);
  const auto* const to = whole.data<uint8_t>();
  const auto* const from = elements.data<uint8_t>() + gap;
  Dims index(view.dim(), 0);
  const uint8_t* at = to + offset;
  for (int64_t row = 0; row < rows; ++row, at += bytes) {
    int64_t start = 0;
    for (int64_t dim = 0; dim + 1 < view.dim(); ++dim) start += index[dim] * view.strides()[dim];
    if (!std::equal(at, at + bytes, from + start)) return false;
    for (int64_t dim = view.dim() - 2; dim >= 0 && ++index[dim] == view.sizes()[dim]; --dim) index[dim] = 0;
  }
  const auto is_7 = [](uint8_t byte) { return byte == 7; };
  return std::all_of(to, to + offset, is_7) && std::all_of(at, to + numel + 128, is_7);
}

// Each length with each offset, by one thread and by several in turn.
TEST(CopiedRows, FromBeyondTheCaches) {
  bool several = false;
  for (const int64_t bytes : {33, 70, 200, 255, 256, 257, 300, 319, 511, 2000, 6144, 6145})
    for (const int64_t offset : {0, 1, 63}) {
      const Threads set((several = !several) ? 3 : 1);
      const int64_t rows = 5 * streaming_threshold() / 4 / bytes, turns = rows / 9 + 1;
      EXPECT_TRUE(copies_rows(bytes, {rows}, {0, 1}, offset)) << bytes << " bytes behind each other";
      EXPECT_TRUE(copies_rows(bytes, {3, turns, 3}, {2, 1, 0, 3}, offset)) << bytes << " bytes in short turns";
      EXPECT_TRUE(copies_rows(bytes, {turns, 9}, {1, 0, 2}, offset)) << bytes << " bytes in long turns";
    }
}

TEST(StatesOfColumns, FromBeyondTheCaches) {
  for (const int64_t columns : {33, 63, 64, 100, 305, 1029}) {
    const int64_t rows = (1 << 22) / columns;
    const auto largest = [&](int64_t column) { return (column * 7919 + 5) % rows; };
    const Tensor column = arange(int64_t{0}, columns, 1, int64), row = arange(int64_t{0}, rows, 1, int64);
    const Tensor is_largest = eq(row.view({rows, 1}), add(mul(column, 7919), 5).remainder(rows));
    const Tensor elements = mul(is_largest, add(column, 1)).to(float64);
    for (const int64_t first : {0, 1}) {  // rows without gaps and with them
      const Tensor some = elements.narrow(1, first, columns - first);
      const Tensor places = argmax(some, 0), norms = linalg_vector_norm(some, 2, 0);
      bool same = true;
      for (int64_t i = 0; i < columns - first; ++i)
        same = same && places.data<int64_t>()[i] == largest(i + first) &&
               norms.data<double>()[i] == static_cast<double>(i + first + 1);
      EXPECT_TRUE(same) << columns << " columns from " << first;
    }
  }
}

// Elements that are copied few, some and many times, into results that stay in the caches and that do not.
TEST(RepeatedElements, OfAnyNumberAndSize) {
  for (const int64_t bytes : {int64_t{100'000}, streaming_threshold() + 4096, 3 * streaming_threshold()})
    for (const int64_t times : {2, 3, 12, 13, 40, 190, 384, 1000}) {
      const int64_t count = bytes / 4 / times + 1;
      const Tensor each = arange(int64_t{0}, count, 1, int32).view({count, 1});
      Tensor out = empty({count, times}, int32);
      out.copy_(each.expand({count, times}));
      const auto* const at = out.data<int32_t>();
      bool same = true;
      for (int64_t i = 0; i < count * times; ++i) same = same && at[i] == i / times;
      EXPECT_TRUE(same) << count << " elements, " << times << " times";
    }
}

/// Elements of a view in its own order, read one by one.
std::vector<int64_t> read_plainly(const Tensor& view) {
  std::vector<int64_t> values;
  Dims index(view.dim(), 0);
  for (int64_t i = 0; i < view.numel(); ++i) {
    int64_t offset = 0;
    for (int64_t dim = 0; dim < view.dim(); ++dim) offset += index[dim] * view.strides()[dim];
    values.push_back(view.data<int64_t>()[offset]);
    for (int64_t dim = view.dim() - 1; dim >= 0 && ++index[dim] == view.sizes()[dim]; --dim) index[dim] = 0;
  }
  return values;
}

// Blocks whose columns are several loops and whose rows are one or two, of more rows and columns than a block has;
// tiles that are transposed, copied in runs and read from lists; rows that begin 4096 bytes apart; and small calls of
// the same layouts.
TEST(PermutedOperands, OfManyLoops) {
  const struct {
    Dims memory, order;
  } kCases[] = {{{105, 5, 3, 137}, {3, 0, 2, 1}},
                {{80, 100, 30, 9}, {3, 2, 1, 0}},
                {{80, 100, 6, 2}, {3, 2, 1, 0}},
                {{2, 11, 65, 313}, {1, 3, 0, 2}},
                {{21, 38, 2, 408}, {0, 3, 2, 1}},
                {{2, 1220, 6}, {1, 0, 2}},
                {{5, 7, 300, 3}, {1, 2, 0, 3}},
                {{158, 77, 6, 5}, {0, 1, 3, 2}},
                {{3, 18, 23}, {2, 1, 0}},
                {{4, 3, 9}, {2, 1, 0}},
                {{2, 3, 4, 5, 6}, {4, 2, 0, 3, 1}},
                {{1024, 197}, {1, 0}},
                {{2048, 135}, {1, 0}}};
  for (const auto& c : kCases)
    for (const Dtype dtype : {uint8, int16, int32, int64}) {
      const int64_t numel = numel_of(c.memory);
      const Tensor elements = arange(int64_t{0}, numel, 1, int64).remainder(101);
      const Tensor view = elements.to(dtype).view(c.memory).permute(c.order);
      const Tensor wanted = elements.view(c.memory).permute(c.order);
      const std::vector<int64_t> plain = read_plainly(wanted);
      const Tensor ones_row = ones({1}, dtype).expand(view.sizes()), other = ones(view.sizes(), dtype);
      Tensor out = empty(view.sizes(), dtype);
      add_out(out, view, other);  // small ones take no plan
      const Tensor results[] = {view.contiguous().to(int64), out.sub(1).to(int64),
                                add(other, view).sub(1).contiguous().to(int64),
                                add(view, ones_row).sub(1).contiguous().to(int64)};
      for (const Tensor& result : results)
        EXPECT_TRUE(std::equal(plain.begin(), plain.end(), result.data<int64_t>()))
            << to_string(c.memory) << " of " << dtype_name(dtype);
    }
}

// What is read counts as well: an operand that is repeated leaves the cache to the result.
TEST(Schedule, ResultsThatFitTheCacheStayThere) {
  const int64_t rows = streaming_threshold() / 4000 + 100;
  const Tensor row = ones({1, 1000}), column = ones({rows, 1}), whole = ones({rows, 1000});
  const auto stores = [&](const Tensor& a, const Tensor& b) {
    Tensor out = empty({rows, 1000});
    CourseRecord record;
    mul_out(out, a, b);
    return std::string(record.courses.at(0).stores);
  };
  EXPECT_EQ(stores(row, column), "in place");
  EXPECT_EQ(stores(whole, row), "in place");
  // Kernels without vectors have no streaming form: their rows are staged.
  EXPECT_NE(stores(whole, whole.clone()), "in place");
}

TEST(Interrupt, EndsWhatRuns) {
  const Tensor endless = ones({1}).expand({int64_t{1} << 42});
  std::atomic<bool> stop{false};
  const InterruptGuard guard(stop);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  EXPECT_THROW(prod(endless), Interrupted);
  later.join();
  EXPECT_THROW(add(ones({1 << 20}), ones({1 << 20})), Interrupted);
  stop = false;
  EXPECT_EQ(add(ones({1 << 20}), 1).sum().item<double>(), 1 << 21);
}

}  // namespace
}  // namespace tenon
