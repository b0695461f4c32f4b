// Every access pattern and every store mode, against a loop over single elements.
#include "tile/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
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

Plan plan_of(const Dims& shape, const Operand* operands, int64_t count) {
  StridedView strided[4];
  for (int64_t i = 0; i < count; ++i) strided[i] = {operands[i].sizes, operands[i].strides};
  Plan plan;
  make_plan(shape, strided, count, plan);
  return plan;
}

template <class T>
std::vector<T> numbered(int64_t count, int64_t start) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>((static_cast<int64_t>(i) * 7 + start) % 61);
  return values;
}

/// Runs a + b and compares all of the output's memory, including gaps between its elements.
template <class T>
std::string difference(const Dims& shape, const Operand* operands, SmallVector<int64_t, 8>& seen) {
  const Plan plan = plan_of(shape, operands, 3);
  for (int64_t i = 1; i < 3; ++i) ++seen[static_cast<int>(plan.operands[i].access)];
  const std::vector<T> a = numbered<T>(operands[1].extent, 1), b = numbered<T>(operands[2].extent, 5);
  std::vector<T> got(static_cast<std::size_t>(operands[0].extent), T{99}), want = got;
  for (int64_t i = 0; i < numel_of(shape); ++i)
    want[static_cast<std::size_t>(place(shape, operands[0], i))] =
        static_cast<T>(a[static_cast<std::size_t>(place(shape, operands[1], i))] +
                       b[static_cast<std::size_t>(place(shape, operands[2], i))]);
  Program program;
  const int x = program.input(dtype_of_v<T>), y = program.input(dtype_of_v<T>);
  const int in[] = {x, y};
  program.op(Op::add, dtype_of_v<T>, dtype_of_v<T>, 2, in);
  const void* inputs[] = {a.data(), b.data()};
  run(plan, program, got.data(), inputs);
  if (got == want) return {};
  std::string text = std::string(dtype_name(dtype_of_v<T>)) + " " + to_string(shape);
  for (int i = 0; i < 3; ++i)
    text += " " + to_string(operands[i].sizes) + ":" + to_string(operands[i].strides) + " " +
            access_pattern_name(plan.operands[i].access);
  return text;
}

TEST(Run, EveryWayAgainstSingleElements) {
  SmallVector<int64_t, 8> seen(6);
  for (auto& count : seen) count = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Draw draw(seed);
    const Dims shape = draw.shape();
    const Operand operands[] = {draw.operand(shape, true), draw.operand(shape, false), draw.operand(shape, false)};
    std::string text;
    switch (seed % 4) {
      case 0:
        text = difference<uint8_t>(shape, operands, seen);
        break;
      case 1:
        text = difference<int16_t>(shape, operands, seen);
        break;
      case 2:
        text = difference<float>(shape, operands, seen);
        break;
      default:
        text = difference<double>(shape, operands, seen);
        break;
    }
    ASSERT_EQ(text, "") << "seed " << seed;
  }
  for (int access = 0; access < 6; ++access)
    EXPECT_GT(seen[access], 20) << access_pattern_name(static_cast<AccessPattern>(access));
}

TEST(Run, StreamingStores) {
  const int64_t rows = streaming_threshold() / 4 / 1000 + 3;
  const Dims shape{rows, 1000};
  const Operand cases[][2] = {
      {{{rows, 1000}, {1000, 1}, rows * 1000}, {{1000}, {1}, 1000}},
      {{{rows, 1000}, {1, rows}, rows * 1000}, {{rows, 1}, {1, 1}, rows}},
      {{{rows, 1}, {1, 1}, rows}, {{1}, {1}, 1}},
  };
  for (const auto& inputs : cases) {
    const Operand operands[] = {{{rows, 1000}, {1000, 1}, rows * 1000}, inputs[0], inputs[1]};
    SmallVector<int64_t, 8> seen(6);
    EXPECT_EQ(difference<float>(shape, operands, seen), "");
  }
}

TEST(Run, RefusesOperandsWithoutMemory) {
  Program program;
  program.cast(program.input(float32), float64);
  const Dims sizes{4}, strides{1};
  const StridedView strided[] = {{sizes, strides}, {sizes, strides}};
  Plan plan;
  make_plan(sizes, strided, 2, plan);
  double out[4];
  const float in[4] = {};
  const void *there = in, *missing = nullptr;
  EXPECT_THROW(run(plan, program, out, &missing), NotImplementedError);
  EXPECT_THROW(run(plan, program, nullptr, &there), NotImplementedError);
  run(plan, program, out, &there);
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
    const void* input = in.data();
    run(plan, program, got.data(), &input);
    ASSERT_EQ(got, want) << "seed " << seed << " " << to_string(shape);
  }
}

TEST(Interrupt, EndsWhatRuns) {
  const Tensor endless = ones({1}).expand({int64_t{1} << 42});
  std::atomic<bool> stop{false};
  const InterruptGuard guard(stop);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  EXPECT_THROW(sum(endless), Interrupted);
  later.join();
  EXPECT_THROW(add(ones({1 << 20}), ones({1 << 20})), Interrupted);
  stop = false;
  EXPECT_EQ(add(ones({1 << 20}), 1).sum().item<double>(), 1 << 21);
}

}  // namespace
}  // namespace tenon
