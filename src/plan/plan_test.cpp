// Plans: the loops visit every element once, there are as few as possible, and each operand has its access pattern.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sampled.h"

namespace tenon {
namespace {

constexpr int64_t kHalf = int64_t{1} << 62;

struct Layout {
  Dims sizes, strides;
};

std::vector<StridedView> strided_views_of(const std::vector<Layout>& operands) {
  std::vector<StridedView> strided;
  for (const Layout& operand : operands) strided.push_back({operand.sizes, operand.strides});
  return strided;
}

Plan plan_of(SizesView shape, const std::vector<Layout>& operands) {
  Plan plan;
  const std::vector<StridedView> strided = strided_views_of(operands);
  make_plan(shape, strided.data(), static_cast<int64_t>(strided.size()), plan);
  return plan;
}

/// "sizes [3, 4], strides [1, 3] direct, [1, 0] periodic 3; 2 fused: 12 in units of 3, along 1".
std::string text_of(const Plan& plan) {
  std::string text = "sizes " + to_string(SizesView(plan.sizes.data(), plan.ndim())) + ", strides";
  for (int64_t operand = 0; operand < plan.operands.size(); ++operand) {
    const Plan::Operand& access = plan.operands[operand];
    text += (operand ? ", " : " ") + to_string(SizesView(plan.strides_of(operand), plan.ndim())) + " " +
            access_pattern_name(access.access);
    if (access.length) text += " " + std::to_string(access.length);
  }
  text += "; " + std::to_string(plan.fused) + " fused: " + std::to_string(plan.flat) + " in units of " +
          std::to_string(plan.unit);
  if (plan.transposed) text += ", along " + std::to_string(plan.transposed);
  return plan.continued ? text + " and " + std::to_string(plan.continued) : text;
}

TEST(Plan, Table) {
  const struct {
    const char* why;
    Dims shape;
    std::vector<Layout> inputs;
    const char* want;
    Dims output_strides = {};  // none: row-major
  } cases[] = {
      {"no dims", {}, {{{}, {}}}, "sizes [], strides [] direct, [] splat; 0 fused: 1 in units of 1"},
      {"one dim", {5}, {{{5}, {1}}}, "sizes [5], strides [1] direct, [1] direct; 1 fused: 5 in units of 1"},
      {"dense operands walk as one",
       {4, 3},
       {{{4, 3}, {3, 1}}},
       "sizes [12], strides [1] direct, [1] direct; 1 fused: 12 in units of 1"},
      {"of three dims the outer two",
       {2, 4, 3},
       {{{2, 4, 3}, {16, 4, 1}}},
       "sizes [3, 8], strides [1, 3] direct, [1, 4] gather; 2 fused: 24 in units of 3"},
      {"of three dims the inner two",
       {2, 4, 3},
       {{{2, 4, 3}, {24, 3, 1}}},
       "sizes [12, 2], strides [1, 12] direct, [1, 24] gather; 2 fused: 24 in units of 12"},
      {"a dim of size 1 is left out",
       {4, 1, 3},
       {{{4, 1, 3}, {3, 77, 1}}},
       "sizes [12], strides [1] direct, [1] direct; 1 fused: 12 in units of 1"},
      {"a row: its pattern comes again",
       {4, 3},
       {{{3}, {1}}},
       "sizes [3, 4], strides [1, 3] direct, [1, 0] periodic 3; 2 fused: 12 in units of 3"},
      {"a column: each element three times",
       {4, 3},
       {{{4, 1}, {1, 1}}},
       "sizes [3, 4], strides [1, 3] direct, [0, 1] repeated 3; 2 fused: 12 in units of 3"},
      {"one value",
       {4, 3},
       {{{}, {}}, {{1, 1}, {5, 7}}, {{4, 3}, {0, 0}}},
       "sizes [12], strides [1] direct, [0] splat, [0] splat, [0] splat; 1 fused: 12 in units of 1"},
      {"the innermost loop breaks a pattern",
       {4, 2, 3},
       {{{2, 1}, {1, 1}}},
       "sizes [3, 2, 4], strides [1, 3, 6] direct, [0, 1, 0] periodic 6; 3 fused: 24 in units of 6"},
      {"each element of a gap",
       {4, 3},
       {{{4, 1}, {2, 1}}},
       "sizes [3, 4], strides [1, 3] direct, [0, 2] gather; 2 fused: 12 in units of 3"},
      {"every second element",
       {6},
       {{{6}, {2}}},
       "sizes [6], strides [1] direct, [2] gather; 1 fused: 6 in units of 1"},
      {"transposed, too few elements for blocks",
       {3, 4},
       {{{3, 4}, {1, 3}}},
       "sizes [4, 3], strides [1, 4] direct, [3, 1] gather; 2 fused: 12 in units of 4"},
      {"both transposed: the output's order",
       {3, 4},
       {{{3, 4}, {1, 3}}},
       "sizes [12], strides [1] direct, [1] direct; 1 fused: 12 in units of 1",
       {1, 3}},
      {"transposed",
       {8, 600},
       {{{8, 600}, {1, 8}}},
       "sizes [600, 8], strides [1, 600] direct, [8, 1] transposed; 1 fused: 600 in units of 1, along 1"},
      {"transposed, of 5 rows",
       {5, 600},
       {{{5, 600}, {1, 5}}},
       "sizes [600, 5], strides [1, 600] direct, [5, 1] transposed; 1 fused: 600 in units of 1, along 1"},
      {"transposed, of 4 rows: no blocks",
       {4, 600},
       {{{4, 600}, {1, 4}}},
       "sizes [600, 4], strides [1, 600] direct, [4, 1] gather; 1 fused: 600 in units of 1"},
      {"transposed, of 128 columns",
       {8, 128},
       {{{8, 128}, {1, 8}}},
       "sizes [128, 8], strides [1, 128] direct, [8, 1] transposed; 1 fused: 128 in units of 1, along 1"},
      {"transposed, of 127 columns",
       {8, 127},
       {{{8, 127}, {1, 8}}},
       "sizes [127, 8], strides [1, 127] direct, [8, 1] gather; 2 fused: 1016 in units of 127"},
      {"two inputs transposed along one loop",
       {8, 9, 600},
       {{{8, 9, 600}, {9, 1, 72}}, {{9, 600}, {1, 9}}},
       "sizes [600, 9, 8], strides [1, 600, 5400] direct, [72, 1, 9] transposed, [9, 1, 0] transposed; 1 fused: 600 in "
       "units of 1, along 1"},
      {"two inputs transposed along two loops",
       {8, 9, 600},
       {{{8, 9, 600}, {9, 1, 72}}, {{8, 9, 600}, {1, 8, 72}}},
       "sizes [600, 9, 8], strides [1, 600, 5400] direct, [72, 1, 9] transposed, [72, 8, 1] gather; 1 fused: 600 in "
       "units of 1, along 1 and 2"},
      {"transposed, columns of two loops",
       {9, 40, 5},
       {{{9, 40, 5}, {1, 9, 360}}},
       "sizes [5, 40, 9], strides [1, 5, 200] direct, [360, 9, 1] transposed; 2 fused: 200 in units of 5, along 2"},
      {"transposed, the loop inside of the fused ones",
       {3, 100, 5, 30},
       {{{3, 100, 5, 30}, {15000, 1, 100, 500}}},
       "sizes [30, 5, 100, 3], strides [1, 30, 150, 15000] direct, [500, 100, 1, 15000] transposed; 2 fused: 150 in "
       "units of 30, along 2"},
      {"transposed, too few columns of two loops",
       {3, 100, 5, 20},
       {{{3, 100, 5, 20}, {10000, 1, 100, 500}}},
       "sizes [20, 5, 100, 3], strides [1, 20, 100, 10000] direct, [500, 100, 1, 10000] gather; 3 fused: 10000 in "
       "units of 100"},
      {"all dims in the opposite order: rows of two loops",
       {2, 6, 100, 80},
       {{{2, 6, 100, 80}, {1, 2, 12, 1200}}},
       "sizes [80, 100, 6, 2], strides [1, 80, 8000, 48000] direct, [1200, 12, 2, 1] transposed; 2 fused: 8000 in "
       "units of 80, along 3 and 2"},
      {"columns of two loops beside a result in another order",
       {9, 40, 5},
       {{{9, 40, 5}, {1, 45, 9}}, {{9, 40, 1}, {40, 1, 1}}},
       "sizes [5, 40, 9], strides [1, 5, 200] direct, [9, 45, 1] transposed, [0, 1, 40] repeated 5; 2 fused: 200 in "
       "units of 5, along 2"},
      {"without elements, a column may have any number of rows",
       {kHalf, 8, 0, 5},
       {{{kHalf, 8, 0, 5}, {8, 1, 3, 7}}},
       "sizes [5, 0, 8, 4611686018427387904], strides [1, 5, 10, 100] gather, [7, 3, 1, 8] gather; 4 fused: 0 in units "
       "of 0",
       {100, 10, 5, 1}},
      {"an input without gaps along the innermost loop is not transposed",
       {8, 600},
       {{{8, 600}, {1000, 1}}, {{8, 1}, {1, 1}}},
       "sizes [600, 8], strides [1, 600] direct, [1, 1000] direct, [0, 1] splat; 1 fused: 600 in units of 1"},
      {"512 elements: long enough",
       {2, 512},
       {{{512}, {1}}},
       "sizes [512, 2], strides [1, 512] direct, [1, 0] direct; 1 fused: 512 in units of 1"},
      {"511 elements: fused",
       {2, 511},
       {{{511}, {1}}},
       "sizes [511, 2], strides [1, 511] direct, [1, 0] periodic 511; 2 fused: 1022 in units of 511"},
      {"fused until 512, and no further",
       {4, 4, 8, 16},
       {{{4, 1, 8, 1}, {8, 1, 1, 1}}, {{4, 1, 16}, {16, 1, 1}}},
       "sizes [16, 8, 4, 4], strides [1, 16, 128, 512] direct, [0, 1, 0, 8] periodic 128, [1, 0, 16, 0] gather; 3 "
       "fused: 512 in units of 128"},
      {"rows of 32 with gaps: one by one",
       {20, 32},
       {{{20, 32}, {40, 1}}},
       "sizes [32, 20], strides [1, 32] direct, [1, 40] direct; 1 fused: 32 in units of 1"},
      {"rows of 31 with gaps: fused",
       {20, 31},
       {{{20, 31}, {40, 1}}},
       "sizes [31, 20], strides [1, 31] direct, [1, 40] gather; 2 fused: 620 in units of 31"},
      {"a column beside rows of 32",
       {20, 32},
       {{{20, 1}, {1, 1}}, {{20, 32}, {32, 1}}},
       "sizes [32, 20], strides [1, 32] direct, [0, 1] splat, [1, 32] direct; 1 fused: 32 in units of 1"},
      {"a column alone: kernels take no run of one value",
       {20, 32},
       {{{20, 1}, {1, 1}}},
       "sizes [32, 20], strides [1, 32] direct, [0, 1] repeated 32; 2 fused: 640 in units of 32"},
      {"rows of 32 with gaps beside every second element: fused",
       {20, 32},
       {{{20, 32}, {40, 1}}, {{20, 32}, {64, 2}}},
       "sizes [32, 20], strides [1, 32] direct, [1, 40] gather, [2, 64] gather; 2 fused: 640 in units of 32"},
      {"a row beside rows of 32: fused",
       {20, 32},
       {{{32}, {1}}},
       "sizes [32, 20], strides [1, 32] direct, [1, 0] periodic 32; 2 fused: 640 in units of 32"},
      {"every second element of rows of 32: fused",
       {20, 32},
       {{{20, 32}, {100, 2}}},
       "sizes [32, 20], strides [1, 32] direct, [2, 100] gather; 2 fused: 640 in units of 32"},
      {"an output with gaps",
       {20, 32},
       {{{20, 32}, {32, 1}}},
       "sizes [32, 20], strides [1, 40] direct, [1, 32] direct; 1 fused: 32 in units of 1",
       {40, 1}},
      {"windows are not transposed",
       {8, 600},
       {{{8, 600}, {1, 1}}},
       "sizes [600, 8], strides [1, 600] direct, [1, 1] direct; 1 fused: 600 in units of 1"},
      {"windows of every second element are",
       {8, 600},
       {{{8, 600}, {1, 2}}},
       "sizes [600, 8], strides [1, 600] direct, [2, 1] transposed; 1 fused: 600 in units of 1, along 1"},
      {"sizes that cannot be counted together do not merge",
       {0, kHalf, 4},
       {{{0, kHalf, 4}, {0, 0, 0}}},
       "sizes [4, 0], strides [0, 0] splat, [0, 0] splat; 2 fused: 0 in units of 4",
       {0, 0, 0}},
      {"no elements",
       {0, 3},
       {{{3}, {1}}},
       "sizes [3, 0], strides [1, 3] direct, [1, 0] periodic 3; 2 fused: 0 in units of 3"},
  };
  for (const auto& c : cases) {
    std::vector<Layout> operands = {
        {c.shape, c.output_strides.empty() ? contiguous_strides(c.shape) : c.output_strides}};
    operands.insert(operands.end(), c.inputs.begin(), c.inputs.end());
    EXPECT_EQ(text_of(plan_of(c.shape, operands)), c.want) << c.why;
  }
}

TEST(Plan, IsMadeAnew) {
  const std::vector<Layout> block{{{8, 600}, {600, 1}}, {{8, 600}, {1, 8}}}, row{{{5}, {1}}, {{5}, {1}}},
      one{{{}, {}}, {{}, {}}}, pattern{{{4, 3}, {3, 1}}, {{3}, {1}}};
  Plan plan;
  for (const auto* operands : {&block, &row, &block, &one, &pattern, &row}) {
    const std::vector<StridedView> strided = strided_views_of(*operands);
    make_plan(operands->front().sizes, strided.data(), 2, plan);
    EXPECT_EQ(text_of(plan), text_of(plan_of(operands->front().sizes, *operands)));
  }
}

// Many dims of size 1 are dropped and leave the same loops.
TEST(Plan, ManyDims) {
  const Layout few[] = {{{4, 3}, {3, 1}}, {{4, 3}, {1, 4}}, {{4, 1}, {7, 1}}};
  for (const auto& [first, second] : {std::pair(20, 79), std::pair(0, 3)}) {
    Layout out, transposed, column;
    Layout* many[] = {&out, &transposed, &column};
    for (int64_t dim = 0; dim < 80; ++dim)
      for (std::size_t i = 0; i < 3; ++i) {
        const int64_t own = dim == first ? 0 : dim == second ? 1 : -1;
        many[i]->sizes.push_back(own < 0 ? 1 : few[i].sizes[own]);
        many[i]->strides.push_back(own < 0 ? 5 : few[i].strides[own]);
      }
    const Plan plan = plan_of(out.sizes, {out, transposed, column});
    EXPECT_EQ(text_of(plan), text_of(plan_of({4, 3}, {few[0], few[1], few[2]}))) << first;
    EXPECT_EQ(plan.numel, 12);
    const std::vector<Layout> layouts = {transposed, column, out};
    const std::vector<StridedView> strided = strided_views_of(layouts);
    EXPECT_EQ(result_strides(out.sizes, strided.data(), 3)[second], 4);
  }
}

/// "[3, 2]": the loops of a sum over all dims, innermost first.
std::string reduction_loops(SizesView shape, SizesView strides, SizesView out_strides) {
  Plan plan;
  const StridedView strided[] = {{shape, out_strides}, {shape, strides}};
  make_reduction_plan(shape, strided, 2, plan);
  EXPECT_EQ(plan.operands.size(), 2);
  EXPECT_EQ(plan.strides.size(), 2 * plan.ndim());
  return to_string(SizesView(plan.sizes.data(), plan.ndim()));
}

TEST(Plan, ReductionsWalkAsTheirInputLies) {
  EXPECT_EQ(reduction_loops({2, 3}, {3, 1}, {0, 0}), "[6]");
  EXPECT_EQ(reduction_loops({2, 3}, {1, 2}, {0, 0}), "[6]");
  EXPECT_EQ(reduction_loops({2, 3}, {1, 9}, {0, 0}), "[2, 3]");
  EXPECT_EQ(reduction_loops({2, 3}, {1, 9}, {3, 1}), "[2, 3]") << "whatever the order of the output";
  EXPECT_EQ(reduction_loops({2, 3}, {1, 9}, {1, 0}), "[2, 3]");
}

/// The offsets of all operands for every index of `shape`, in row-major order.
using Offsets = std::vector<int64_t>;
std::map<Offsets, int> offsets_by_index(SizesView shape, const std::vector<Layout>& operands) {
  std::map<Offsets, int> found;
  for (int64_t i = 0; i < numel_of(shape); ++i) {
    Offsets offsets(operands.size(), 0);
    int64_t rest = i;
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      const int64_t index = rest % shape[dim];
      rest /= shape[dim];
      for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        const int64_t own = dim - shape.size() + operands[operand].sizes.size();
        if (own >= 0 && operands[operand].sizes[own] != 1) offsets[operand] += index * operands[operand].strides[own];
      }
    }
    ++found[offsets];
  }
  return found;
}

/// The offset of element `i` of the loops [0, end).
int64_t offset_at(const Plan& plan, const int64_t* strides, int64_t end, int64_t i) {
  int64_t offset = 0;
  for (int64_t dim = 0; dim < end; ++dim) {
    offset += i % plan.sizes[dim] * strides[dim];
    i /= plan.sizes[dim];
  }
  return offset;
}

std::map<Offsets, int> offsets_by_plan(const Plan& plan) {
  std::map<Offsets, int> found;
  for (int64_t i = 0; i < plan.numel; ++i) {
    Offsets offsets;
    for (int64_t operand = 0; operand < plan.operands.size(); ++operand)
      offsets.push_back(offset_at(plan, plan.strides_of(operand), plan.ndim(), i));
    ++found[offsets];
  }
  return found;
}

/// The offset of element `i` of the fused loops according to the access pattern.
int64_t offset_by_access(const Plan& plan, int64_t operand, int64_t i) {
  const auto [access, length] = plan.operands[operand];
  const int64_t* strides = plan.strides_of(operand);
  switch (access) {
    case AccessPattern::direct:
      return i;
    case AccessPattern::splat:
      return 0;
    case AccessPattern::periodic:
      return offset_at(plan, strides, plan.fused, i % length);
    case AccessPattern::repeated:
      return i / length;
    default:
      return offset_at(plan, strides, plan.fused, i);
  }
}

/// A random operand for a shape: some dims missing, of size 1 or expanded, the others in any order, with gaps.
Layout random_operand(SizesView shape, std::mt19937& random) {
  Layout operand{shape.copy(), Dims(shape.size())};
  std::vector<int64_t> order;
  for (int64_t dim = 0; dim < shape.size(); ++dim) order.push_back(dim);
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  int64_t step = random() % 4 ? 1 : 2;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    if (random() % 4 == 0) operand.sizes[*dim] = 1;
    operand.strides[*dim] = random() % 6 ? step : 0;
    step *= operand.sizes[*dim] + (random() % 5 ? 0 : 1);
  }
  while (!operand.sizes.empty() && operand.sizes[0] == 1 && random() % 2) {
    operand.sizes.erase(0);
    operand.strides.erase(0);
  }
  return operand;
}

TEST(Plan, WalksEveryIndexOnceAndItsWaysSayWhereElementsLie) {
  std::mt19937 random(5);
  std::map<AccessPattern, int> accesses;
  for (int round = 0; round < 3000 / kSampled; ++round) {
    Dims shape;
    for (unsigned dims = random() % 4; dims > 0; --dims)
      shape.push_back(random() % 3 ? 1 + random() % 5 : 8 + random() % 40);
    if (round % 10 == 0) shape = {8 + round % 4, 128 + round % 16};  // long enough to be read in blocks
    std::vector<Layout> operands{{shape, contiguous_strides(shape)}};
    for (unsigned inputs = 1 + random() % 2; inputs > 0; --inputs) operands.push_back(random_operand(shape, random));
    if (round % 10 == 0) operands.push_back({shape, {1, shape[0]}});
    const Plan plan = plan_of(shape, operands);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + text_of(plan));
    ASSERT_EQ(plan.numel, numel_of(shape));
    ASSERT_EQ(plan.strides.size(), plan.operands.size() * plan.ndim());
    ASSERT_EQ(offsets_by_plan(plan), offsets_by_index(shape, operands));
    for (int64_t operand = 0; operand < plan.operands.size(); ++operand) {
      ++accesses[plan.operands[operand].access];
      for (int64_t i = 0; i < plan.flat; ++i)
        ASSERT_EQ(offset_by_access(plan, operand, i), offset_at(plan, plan.strides_of(operand), plan.fused, i))
            << operand << " at " << i;
    }
  }
  for (const AccessPattern access : {AccessPattern::direct, AccessPattern::splat, AccessPattern::periodic,
                                     AccessPattern::repeated, AccessPattern::transposed, AccessPattern::gather})
    EXPECT_GT(accesses[access], 20 / kSampled) << access_pattern_name(access);
}

TEST(Plan, NoTwoLoopsThatCouldBeOne) {
  std::mt19937 random(6);
  for (int round = 0; round < 2000; ++round) {
    Dims shape;
    for (unsigned dims = random() % 5; dims > 0; --dims) shape.push_back(1 + random() % 4);
    std::vector<Layout> operands{{shape, contiguous_strides(shape)}, random_operand(shape, random)};
    const Plan plan = plan_of(shape, operands);
    for (int64_t dim = 0; dim < plan.ndim(); ++dim) EXPECT_NE(plan.sizes[dim], 1) << text_of(plan);
    for (int64_t dim = 1; dim < plan.ndim(); ++dim) {
      bool walk_as_one = true;
      for (int64_t operand = 0; operand < plan.operands.size(); ++operand) {
        const int64_t* strides = plan.strides_of(operand);
        walk_as_one = walk_as_one && strides[dim] == plan.sizes[dim - 1] * strides[dim - 1];
      }
      EXPECT_FALSE(walk_as_one) << text_of(plan);
    }
  }
}

TEST(ResultStrides, Table) {
  const struct {
    const char* why;
    Dims shape;
    std::vector<Layout> inputs;
    Dims want;
  } cases[] = {
      {"no dims", {}, {{{}, {}}}, {}},
      {"row-major", {2, 3}, {{{2, 3}, {3, 1}}}, {3, 1}},
      {"two that differ: the first", {2, 3}, {{{2, 3}, {1, 2}}, {{2, 3}, {3, 1}}}, {1, 2}},
      {"a row does not tell: the transposed one does", {2, 3}, {{{3}, {1}}, {{2, 3}, {1, 2}}}, {1, 2}},
      {"a column beside a transposed one", {2, 3}, {{{2, 1}, {1, 1}}, {{2, 3}, {1, 2}}}, {1, 2}},
      {"gaps close, the order stays", {2, 3}, {{{2, 3}, {2, 8}}}, {1, 2}},
      {"channels last", {2, 3, 4, 5}, {{{2, 3, 4, 5}, {60, 1, 15, 3}}}, {60, 1, 15, 3}},
      {"channels last beside row-major",
       {2, 3, 4, 5},
       {{{2, 3, 4, 5}, {60, 1, 15, 3}}, {{2, 3, 4, 5}, {60, 20, 5, 1}}},
       {60, 1, 15, 3}},
      {"channels last, one channel: strides of the format",
       {2, 1, 4, 5},
       {{{2, 1, 4, 5}, {20, 9, 5, 1}}},
       {20, 20, 5, 1}},
      {"dense in another order", {2, 3, 4}, {{{2, 3, 4}, {1, 8, 2}}, {{2, 3, 4}, {1, 8, 2}}}, {1, 8, 2}},
      {"a stride of a dim of size 1 stays", {1, 3, 2}, {{{1, 3, 2}, {77, 1, 3}}}, {77, 1, 3}},
      {"the same strides with gaps: dense", {2, 3}, {{{2, 3}, {1, 5}}, {{2, 3}, {1, 5}}}, {1, 2}},
      {"expanded: row-major", {2, 3}, {{{2, 3}, {0, 0}}}, {3, 1}},
      {"an expanded dim does not tell", {2, 3, 4}, {{{2, 3, 4}, {0, 1, 3}}}, {12, 1, 3}},
      {"equal strides: the larger dim is slower", {5, 2}, {{{5, 2}, {3, 3}}}, {2, 1}},
      {"equal strides, the other way", {2, 5}, {{{2, 5}, {3, 3}}}, {1, 2}},
      {"no elements", {0, 3}, {{{0, 3}, {1, 7}}}, {3, 1}},
  };
  for (const auto& c : cases) {
    const std::vector<StridedView> strided = strided_views_of(c.inputs);
    const Dims strides = result_strides(c.shape, strided.data(), static_cast<int64_t>(strided.size()));
    EXPECT_EQ(to_string(strides), to_string(c.want)) << c.why;
  }
}

}  // namespace
}  // namespace tenon
