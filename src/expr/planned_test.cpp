// `tenon explain` tells what the engine does: runs planned over meta tensors equal runs recorded over tensors.
#include <random>
#include <string>
#include <vector>

#include "expr/evaluate.h"
#include "gtest/gtest.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/threads.h"

namespace tenon::expr {
namespace {

class OneThread {
 public:
  OneThread() : before_(get_num_threads()) { set_num_threads(1); }
  ~OneThread() { set_num_threads(before_); }

 private:
  int before_;
};

std::string text_of(const Course& course) {
  std::string text = std::string(course.route) + ", stored " + course.stores + ", reads";
  for (AccessPattern access : course.accesses) text += std::string(" ") + access_pattern_name(access);
  return text + ", " + std::to_string(course.passes) + " passes, " + std::to_string(course.parts) + " parts, " +
         std::to_string(course.scratch_bytes) + " bytes";
}
std::vector<std::string> texts_of(const std::vector<Course>& courses) {
  std::vector<std::string> texts;
  for (const Course& course : courses) texts.push_back(text_of(course));
  return texts;
}

Scope on_meta(const Scope& scope) {
  Scope shapes{{}, true};
  for (const auto& [name, tensor] : scope.names)
    shapes.names[name] = empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
  return shapes;
}

/// The planned runs of every step. Fails if a step is done in blocks.
std::vector<std::string> planned(const std::string& expression, const Scope& scope) {
  Steps steps;
  NoProgress progress;
  evaluate(parse(expression), on_meta(scope), progress, &steps);
  std::vector<std::string> all;
  for (const Step& step : steps.list) {
    const Planned plan = step.reduction ? plan_reduction(*step.reduction, step.tree, step.values, progress)
                                        : plan_elementwise(step.tree, progress);
    EXPECT_EQ(plan.blocks, 1) << expression;
    for (const std::string& text : texts_of(plan.courses)) all.push_back(text);
  }
  return all;
}
std::vector<std::string> noted(const std::string& expression, const Scope& scope) {
  NoProgress progress;
  CourseRecord record;
  evaluate_elementwise(evaluate(parse(expression), scope, progress), progress);
  return texts_of(record.courses);
}

Tensor laid_out(std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides, Dtype dtype = float32) {
  Tensor tensor = empty_strided(SizesView(sizes), SizesView(strides), dtype);
  tensor.fill_(1);
  return tensor;
}

const Scope& operands() {
  static const Scope scope{{{"a", ones({300, 200})},
                            {"t", ones({200, 300}).t()},
                            {"row", ones({200})},
                            {"column", ones({300, 1})},
                            {"half", ones({300, 200}, float16)},
                            {"whole", ones({300, 200}, int64)},
                            {"gaps", laid_out({300, 200}, {600, 3})},
                            {"narrow", ones({1000, 3})},
                            {"three", ones({3})},
                            {"wide", ones({3, 100000})},
                            {"big", ones({2000, 1600})},
                            {"small", ones({2, 3})},
                            {"one", ones({})},
                            {"none", ones({0, 200})}},
                           false};
  return scope;
}

TEST(Planned, IsWhatRuns) {
  const OneThread alone;
  const char* const expressions[] = {"a + row",
                                     "a * column",
                                     "a + t",
                                     "t + t",
                                     "(a - row) / column",
                                     "a * a",
                                     "gaps + a",
                                     "gaps * 2 + t",
                                     "half + 1",
                                     "half * row + column",
                                     "whole + a",
                                     "narrow + three",
                                     "narrow * three - 1",
                                     "small + 1",
                                     "one + 1",
                                     "none + row",
                                     "big + 1",
                                     "big + big",
                                     "big.T + 1",
                                     "(big * 2 - 1).abs()",
                                     "a < row",
                                     "where(a < row, a, column)",
                                     "a.to(float16)",
                                     "a.to(float32) + a",
                                     "(a + 1) * (a + 1) - a.to(float32)",
                                     "gaps.T + 1",
                                     "div(a, 2, rounding_mode='floor')",
                                     "div(whole, 2, rounding_mode='floor')",
                                     "clamp((a - row) / column * 2 + 1, 0, 5)"};
  for (const char* expression : expressions)
    EXPECT_EQ(planned(expression, operands()), noted(expression, operands())) << expression;
}

TEST(Planned, ReductionsAreWhatRuns) {
  const OneThread alone;
  const char* const operands_of[] = {"a",      "t",   "half",  "whole", "gaps",    "narrow", "narrow.T",      "wide",
                                     "wide.T", "big", "small", "one",   "a * row", "a + t",  "narrow * three"};
  const char* const folds[] = {"sum", "amax", "var", "count_nonzero", "argmax"};
  for (const char* fold : folds) {
    for (const char* operand : operands_of) {
      for (const char* dims : {"", ", 0", ", -1"}) {
        if (std::string(operand) == "one" && *dims) continue;
        if (std::string(fold) == "var" && (std::string(operand) == "whole" || std::string(operand) == "one")) continue;
        const std::string expression = std::string(fold) + "(" + operand + dims + ")";
        EXPECT_EQ(planned(expression, operands()), noted(expression, operands())) << expression;
      }
    }
  }
}

TEST(Planned, SumOfNarrowRowsIsGathered) {
  const OneThread alone;
  const std::vector<std::string> runs = planned("sum(narrow, -1)", operands());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_NE(runs[0].find("across, stored in place, reads gather"), std::string::npos) << runs[0];
}

TEST(Planned, BlocksAreCountedNotWalked) {
  NoProgress progress;
  const Scope scope{{{"x", empty({1, 1}, Options(float32, Device::meta)).expand({int64_t{1} << 40, 1 << 20})}}, true};
  const Tree tree = evaluate(parse("x + 1"), scope, progress);
  EXPECT_EQ(plan_elementwise(tree, progress).blocks, int64_t{1} << 36);
}

}  // namespace
}  // namespace tenon::expr
