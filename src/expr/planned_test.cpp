// `tenon explain` says what the engine does: runs planned over meta tensors equal runs recorded over tensors.
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

class Threads {
 public:
  explicit Threads(int count) : before_(get_num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

std::string text_of(const Course& course) {
  std::string text = std::string(course.route) + ", stored " + course.stores + ", reads";
  for (AccessPattern access : course.accesses) text += std::string(" ") + access_pattern_name(access);
  text += ", " + std::to_string(course.passes) + " passes, " + std::to_string(course.parts) + " parts on " +
          std::to_string(course.threads) + " threads, " + std::to_string(course.scratch_bytes) + " bytes,";
  for (const KernelName& kernel : course.kernels) text += std::string(" ") + kernel.op + "." + dtype_name(kernel.dtype);
  return text;
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
  note_steps(parse(expression), on_meta(scope), progress, steps);
  std::vector<std::string> all;
  for (const Step& step : steps.list) {
    const Planned plan = plan_step(step, progress);
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
                            {"half_column", ones({2000, 1}, float16)},
                            {"whole_row", ones({200}, int64)},
                            {"whole_column", ones({300, 1}, int64)},
                            {"complex", ones({300, 200}, complex64)},
                            {"gaps_of_complex", laid_out({300, 200}, {600, 3}, complex64)},
                            {"square", ones({300, 300})},
                            {"batch", ones({5, 40, 60})},
                            {"vector", ones({200})},
                            {"long", ones({70000})},
                            {"places", zeros({300, 200}, int64)},
                            {"rows", zeros({150}, int64)},
                            {"tiny", ones({3, 3})},
                            {"whole", ones({300, 200}, int64)},
                            {"gaps", laid_out({300, 200}, {600, 3})},
                            {"short_rows", laid_out({60, 3, 50, 5}, {1050, 350, 7, 1})},
                            {"narrow_gaps", laid_out({40000, 3}, {4, 1}, uint8)},
                            {"stepped", laid_out({60, 20, 5}, {200, 10, 2}, float16)},
                            {"narrow", ones({1000, 3})},
                            {"three", ones({3})},
                            {"wide", ones({3, 100000})},
                            {"big", ones({2000, 1600})},
                            {"small", ones({2, 3})},
                            {"pairs", ones({20, 500, 2}).permute({1, 0, 2})},
                            {"middle", ones({500, 1, 70})},
                            {"one", ones({})},
                            {"none", ones({0, 200})}},
                           false};
  return scope;
}

/// With one thread and with two.
void compare(const std::string& expression) {
  for (const int count : {1, 2}) {
    const Threads threads(count);
    EXPECT_EQ(planned(expression, operands()), noted(expression, operands())) << expression << ", threads: " << count;
  }
}

TEST(Planned, IsWhatRuns) {
  const char* const expressions[] = {"a + row",
                                     "a * column",
                                     "a + t",
                                     "t + t",
                                     "(a - row) / column",
                                     "complex * complex",
                                     "complex + a",
                                     "abs(complex)",
                                     "gaps_of_complex * row",
                                     "complex.T + 1",
                                     "a * a",
                                     "gaps + a",
                                     "gaps * 2 + t",
                                     "half + 1",
                                     "half * row + column",
                                     "whole + a",
                                     "a * whole_row",
                                     "half < whole_column",
                                     "where(a < row, whole_column, a)",
                                     "big + half_column",
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
                                     "div(whole, whole, rounding_mode='floor')",
                                     "div(whole, (small + 1)[0, 0].to(int64), rounding_mode='floor')",
                                     "remainder(whole, whole) + 1",
                                     "clamp((a - row) / column * 2 + 1, 0, 5)",
                                     "frexp(a + row).mantissa * 2",
                                     "frexp(half).exponent + 1"};
  for (const char* expression : expressions) compare(expression);
}

TEST(Planned, AlgorithmsAreWhatRuns) {
  const char* const expressions[] = {"matmul(a, t.T)",
                                     "a @ a.T",
                                     "matmul(square, square)",
                                     "matmul(t.T, a)",
                                     "matmul(half, half.T)",
                                     "matmul(whole, whole.T)",
                                     "matmul(complex, complex.T)",
                                     "matmul(a, vector)",
                                     "matmul(small, tiny)",
                                     "bmm(batch, batch.mT)",
                                     "matmul(batch, batch.mT[0])",
                                     "dot(vector, vector)",
                                     "vdot(long, long)",
                                     "addmm(column, a, t.T, beta=2, alpha=3)",
                                     "inner(a, a)",
                                     "outer(vector, vector)",
                                     "cumsum(a, 0)",
                                     "cumsum(a, -1)",
                                     "cumsum(t, 1)",
                                     "cumsum(pairs, 0)",
                                     "sum(middle, 1)",
                                     "cumsum(half, 0)",
                                     "cumsum(whole, 0)",
                                     "cumsum(complex, 1)",
                                     "cumsum(one, 0)",
                                     "cummax(a, 0).values",
                                     "cummin(half, 1).indices",
                                     "sort(a).values",
                                     "sort(a, 0).indices",
                                     "sort(narrow).values",
                                     "sort(long, descending=True).values",
                                     "sort(whole, 0).values",
                                     "argsort(t)",
                                     "topk(a, 5).values",
                                     "topk(narrow, 2).values",
                                     "topk(long, 60000).values",
                                     "gather(a, 0, places)",
                                     "gather(wide, 1, places[:3])",
                                     "index_select(a, 0, rows)",
                                     "index_select(a, 1, rows)",
                                     "index_select(t, 0, rows)",
                                     "take_along_dim(a, places, 0)",
                                     "scatter(a, 0, places, a)",
                                     "scatter(a, 1, places, 2)",
                                     "scatter_add(a, 0, places, a)",
                                     "scatter_add(complex, 0, places, complex)",
                                     "index_add(a, 0, rows, a[:150])",
                                     "cat([a, a])",
                                     "cat([a, a], 1)",
                                     "cat([a, half])",
                                     "cat([t, t], 1)",
                                     "cat([wide, wide, wide])",
                                     "stack([a, a])",
                                     "stack([vector, vector], 1)",
                                     "stack([small, small])",
                                     "flip(a, [0])",
                                     "flip(a, [0, 1])",
                                     "flip(t, [1])",
                                     "flip(complex, [1])",
                                     "roll(a, 7)",
                                     "roll(a, [3, 4], [0, 1])",
                                     "roll(small, 1, 0)",
                                     "tril(a)",
                                     "triu(t, 1)",
                                     "diag(a)",
                                     "diag(vector)",
                                     "diag_embed(a)",
                                     "frexp(a).mantissa",
                                     "frexp(half).exponent",
                                     "isclose(a, a)",
                                     "max(a)",
                                     "max(a, 0).values",
                                     "min(a, t)",
                                     "aminmax(a).min",
                                     "var_mean(a, 0)[0]",
                                     "var_mean(complex, 0)[1]",
                                     "nanmean(a, 0)",
                                     "norm(a)",
                                     "logsumexp(a, 1)",
                                     "logsumexp(complex, 1)",
                                     "cumsum((a + 1) * row, 0)",
                                     "sum(matmul(a, a.T))"};
  for (const char* expression : expressions) compare(expression);
}

/// The error of an evaluation or of its plan; empty if there is none.
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Planned, RefusesWhatTheCallRefuses) {
  int refused = 0;
  for (const Schema& schema : schemas()) {
    if (!schema.is_map() && !schema.is_fold()) continue;
    std::string arguments;
    for (const Parameter& parameter : schema.parameters())
      if (!parameter.fallback)
        arguments += (arguments.empty() ? "" : ", ") + std::string(parameter.is_operand() ? "x" : "0");
    const std::string call = std::string(schema.name) + "(" + arguments + ")" + (schema.results == 1 ? "" : "[0]");
    for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
      const Scope scope{{{"x", ones({3, 4}, static_cast<Dtype>(dtype))}}, false};
      const std::string want = error_of([&] { noted(call, scope); });
      EXPECT_EQ(error_of([&] { planned(call, scope); }), want)
          << call << " of " << dtype_name(static_cast<Dtype>(dtype));
      refused += !want.empty();
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(Planned, ReductionsAreWhatRuns) {
  const char* const operands_of[] = {"a",
                                     "t",
                                     "half",
                                     "whole",
                                     "gaps",
                                     "narrow",
                                     "narrow.T",
                                     "wide",
                                     "wide.T",
                                     "big",
                                     "small",
                                     "one",
                                     "a * row",
                                     "a + t",
                                     "narrow * three",
                                     "complex",
                                     "gaps_of_complex * 2",
                                     "narrow_gaps"};
  const char* const folds[] = {"sum", "amax", "var", "count_nonzero", "argmax"};
  for (const char* fold : folds) {
    for (const char* operand : operands_of) {
      for (const char* dims : {"", ", 0", ", -1"}) {
        if (std::string(operand) == "one" && *dims) continue;
        if (std::string(fold) == "var" &&
            (std::string(operand) == "whole" || std::string(operand) == "one" || std::string(operand) == "narrow_gaps"))
          continue;
        const std::string expression = std::string(fold) + "(" + operand + dims + ")";
        const bool is_complex = std::string(operand).find("complex") != std::string::npos;
        if (is_complex && (std::string(fold) == "amax" || std::string(fold) == "argmax")) continue;
        compare(expression);
      }
    }
    for (const char* operand : {"short_rows", "stepped"}) compare(std::string(fold) + "(" + operand + ", 1)");
  }
}

/// No kernel folds narrow rows of complex numbers in vectors.
TEST(Planned, ProductOfNarrowRowsIsGathered) {
  const Threads alone(1);
  const Scope scope{{{"narrow", ones({1000, 3}, complex64)}}, false};
  const std::vector<std::string> runs = planned("prod(narrow, -1)", scope);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_NE(runs[0].find("few, stored in place, reads gather"), std::string::npos) << runs[0];
}

TEST(Planned, BlocksAreCountedNotWalked) {
  NoProgress progress;
  const Scope scope{{{"x", empty({1, 1}, Options(float32, Device::meta)).expand({int64_t{1} << 40, 1 << 20})}}, true};
  const Tree tree = evaluate(parse("x + 1"), scope, progress);
  EXPECT_EQ(plan_elementwise(tree, progress).blocks, int64_t{1} << 36);
}

/// Functions take longer than arithmetic: a second thread gains from fewer elements on.
TEST(Planned, FunctionsAreDividedFrom32768ElementsOn) {
  const Threads two(2);
  NoProgress progress;
  const auto parts_of = [&](const std::string& expression, int64_t numel) {
    CourseRecord record;
    evaluate_elementwise(evaluate(parse(expression), Scope{{{"x", ones({numel})}}, false}, progress), progress);
    return record.courses.back().parts;
  };
  EXPECT_EQ(parts_of("exp(x)", 32'767), 1);
  EXPECT_EQ(parts_of("exp(x)", 32'768), 2);
  EXPECT_EQ(parts_of("exp(x) + x", 40'000), 2);
  EXPECT_EQ(parts_of("x + 1", 98'303), 1);
  EXPECT_EQ(parts_of("x + 1", 98'304), 3);
}

}  // namespace
}  // namespace tenon::expr
