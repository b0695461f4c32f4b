#include "expr/evaluate.h"

#include <gtest/gtest.h>

#include "tenon/tenon.h"

namespace tenon::expr {
namespace {

/// Small blocks, so that every test has several.
class SmallBlocks : public NoProgress {
 public:
  explicit SmallBlocks(int64_t nbytes) { block_bytes = stream_bytes = nbytes; }
};

Scope scope() {
  Scope result;
  result.names["x"] = arange(6, float32).reshape({2, 3});
  result.names["row"] = arange(3, float32);
  result.names["column"] = arange(2, float32).reshape({2, 1});
  result.names["i"] = arange(6, int64).reshape({2, 3});
  result.names["m"] = tensor({{true, false, true}, {false, true, false}});
  return result;
}

Tensor computed(const std::string& text, int64_t block_bytes = 1 << 20) {
  SmallBlocks progress(block_bytes);
  const Tree tree = evaluate(parse(text), scope(), progress);
  return evaluate_elementwise(tree, progress);
}
void expect_same(const Tensor& got, const Tensor& want, const std::string& text) {
  EXPECT_EQ(got.sizes(), want.sizes()) << text;
  EXPECT_EQ(got.dtype(), want.dtype()) << text;
  EXPECT_EQ(to_string(got), to_string(want)) << text;
}

TEST(Evaluate, ExpressionsAreTheCallsTheyName) {
  const Scope s = scope();
  const Tensor x = s.names.at("x"), row = s.names.at("row"), column = s.names.at("column"), i = s.names.at("i"),
               m = s.names.at("m");
  const struct {
    const char* text;
    Tensor want;
  } cases[] = {
      {"x + row", x + row},
      {"x * row - column / 2", x * row - column / 2},
      {"row + column", row + column},
      {"x @ row", matmul(x, row)},
      {"2 * x @ x.T + 1", matmul(x * 2, x.t()) + 1},
      {"-x", -x},
      {"+x", x},
      {"2 * 3 + x", x + 6},
      {"i / 2", i / 2},
      {"i * True", i * true},
      {"-x ** 2", -pow(x, 2)},
      {"2 ** -x * 2 ** 3", pow(2, -x) * 8},
      {"x ** row // 3", floor_divide(pow(x, row), 3)},
      {"2 ** -1 * x", x * 0.5},
      {"x < 3", x < 3},
      {"3 <= i", ge(i, 3)},
      {"x == row", x == row},
      {"where(m, x, 0)", where(m, x, 0)},
      {"x.where(m, row)", where(m, x, row)},
      {"clamp(x, 1, 3)", clamp(x, 1, 3)},
      {"x.clamp(max=row)", clamp(x, std::nullopt, Arg(row))},
      {"clamp(x, None, 2)", clamp(x, std::nullopt, Arg(2))},
      {"add(x, row, alpha=2)", add(x, row, 2)},
      {"div(i, 4, rounding_mode='floor')", div(i, 4, "floor")},
      {"isnan(div(i, 4, rounding_mode='floor'))", isnan(div(i, 4, "floor"))},  // not in one pass, and has no out=
      {"sqrt(x).square()", square(sqrt(x))},
      {"maximum(x, row)", maximum(x, row)},
      {"logical_not(m)", logical_not(m)},
      {"x.sum()", x.sum()},
      {"x.sum(0)", x.sum(0)},
      {"x.sum(dim=-1, keepdim=True)", x.sum(-1, true)},
      {"mean(x, (0, 1))", x.mean({0, 1})},
      {"sum(i, dtype=float32)", i.sum({}, false, float32)},
      {"amax(x, 1)", amax(x, 1)},
      {"x - x.mean(0)", x - x.mean(0)},
      {"(x + row).sum(1)", (x + row).sum(1)},
      {"sort(x, descending=True).values", std::get<0>(sort(x, -1, true))},
      {"x.sort(0)[-1]", std::get<1>(sort(x, 0))},
      {"max(x) - x.min()", max(x) - min(x)},
      {"x.max(1, keepdim=True).indices", std::get<1>(max(x, 1, true))},
      {"min(x, row)", minimum(x, row)},
      {"x.max(row + x)", maximum(x, row + x)},
      {"aminmax(x, dim=0).max", std::get<1>(aminmax(x, 0))},
      {"var_mean(x + row, 1)[1]", mean(x + row, 1)},
      {"norm(x, 'fro') + norm(x, 1)", norm(x, 2) + norm(x, 1)},
      {"frexp(x + row).mantissa * 2", std::get<0>(frexp(x + row)) * 2},
      {"frexp(x + row).exponent + 1", std::get<1>(frexp(x + row)) + 1},
      {"frexp(x + row)[0] * exp2(frexp(x + row)[-1])", x + row},
      {"cat([x, row.unsqueeze(0)])", cat({x, row.unsqueeze(0)})},
      {"concat((x + 1, i), dim=-1) * 2", cat({x + 1, i}, -1) * 2},
      {"stack([x, x * 2], 1).sum(0)", stack({x, x * 2}, 1).sum(0)},
      {"cat(sort(x), 1)", cat({std::get<0>(sort(x)), std::get<1>(sort(x))}, 1)},
      {"x.T", x.t()},
      {"(x + row).T", (x + row).t()},
      {"x.T - column.T.t().mT", x.t() - column.t()},
      {"x[0]", x[0]},
      {"x[0, 1:3]", x[0].slice(0, 1, 3)},
      {"x[..., None, -1]", x.index({Ellipsis, None, -1})},
      {"x[:, ::2] * 2", x.slice(1, std::nullopt, std::nullopt, 2) * 2},
      {"x.view(3, 2)", x.view({3, 2})},
      {"x.reshape((6,))", x.reshape({6})},
      {"x.unsqueeze(0).expand(4, -1, -1)", x.unsqueeze(0).expand({4, -1, -1})},
      {"permute(x, 1, 0)", x.t()},
      {"i.to(float32) / 2", i.to(float32) / 2},
      {"(x * 1.5).to(int64)", (x * 1.5).to(int64)},
      {"x.to(float32)", x},
      {"i & 3 | i << 1", bitwise_or(bitwise_and(i, 3), bitwise_left_shift(i, 1))},
      {"~m ^ (i % 2 == 0)", bitwise_xor(bitwise_not(m), eq(remainder(i, 2), 0))},
      {"i >> 1 > 0", gt(bitwise_right_shift(i, 1), 0)},
      {"linalg.vector_norm(x, 3, dim=0)", linalg_vector_norm(x, 3, 0)},
      {"view_as_complex(x.view(3, 2)).imag", x.view({3, 2}).select(1, 1)},
      {"view_as_complex(x.view(3, 2)).real() + 1", x.view({3, 2}).select(1, 0) + 1},
      {"view_as_real(view_as_complex(x.view(3, 2)))", x.view({3, 2})},
      {"x.view(int32).view(float32)", x},
      {"x + inf", x + Scalar(std::numeric_limits<double>::infinity())},
  };
  for (const auto& c : cases)
    for (int64_t block_bytes : {int64_t{1} << 20, int64_t{8}, int64_t{1}})
      expect_same(computed(c.text, block_bytes), c.want, c.text);
}

TEST(Evaluate, NumbersFollowPython) {
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {"1 + 2", "tensor(3)"},
      {"7 / 2", "tensor(3.5000)"},
      {"-3 * 2", "tensor(-6)"},
      {"2 < 3", "tensor(True)"},
      {"1.5 == 1.5", "tensor(True)"},
      {"True + True", "tensor(2)"},
      {"-7 // 2", "tensor(-4)"},
      {"-7 % 2", "tensor(1)"},
      {"7 % -2.5", "tensor(-0.5000)"},
      {"-1.0 // inf", "tensor(-1.)"},
      {"6 & 3 | 8 ^ 1", "tensor(11)"},
      {"1 << 4 >> 1", "tensor(8)"},
      {"~5", "tensor(-6)"},
      {"True & False", "tensor(False)"},
      {"-9223372036854775807 // -1", "tensor(9223372036854775807)"},
      {"2 ** -1", "tensor(0.5000)"},
      {"7.5 // 2", "tensor(3.)"},
  };
  for (const auto& c : cases) EXPECT_EQ(to_string(computed(c.text)), c.want) << c.text;
}

TEST(Evaluate, StreamedReductionsAreExactForIntegers) {
  manual_seed(3);
  Scope s;
  s.names["a"] = randint(-1000, 1000, {7, 5, 11});
  for (const char* text :
       {"sum(a)", "sum(a * 2, 0)", "sum(a, (0, 2))", "sum(a, 1, keepdim=True)", "amax(a - 1, 0)", "amin(a, (1, 2))",
        "amax(a)", "prod(a, 0)", "count_nonzero(a // 100, 1)", "any(a > 990, (0, 2))", "all(a + 2000)", "nansum(a, 2)",
        "argmax(a + 1, 2)", "logsumexp(a / 1000, (1, 2))", "argmax(a)", "argmin(a // 100)", "max(a + 1)", "min(a)",
        "max(a * 2, 1).values"}) {
    NoProgress whole;
    const Tensor want = evaluate_elementwise(evaluate(parse(text), s, whole), whole);
    for (int64_t block_bytes : {8, 100, 1000}) {
      SmallBlocks progress(block_bytes);
      expect_same(evaluate_elementwise(evaluate(parse(text), s, progress), progress), want, text);
    }
  }
}

TEST(Evaluate, StreamedMeansAreAsGoodAsWholeOnes) {
  manual_seed(4);
  Scope s;
  s.names["a"] = rand({100, 3});
  for (const char* text :
       {"mean(a)", "mean(a * 2, 0)", "mean(a, 1)", "sum(a)", "sum(a, 0, dtype=float64)", "std(a)",
        "var(a * 2 + 1000, 0)", "var(a, 1, correction=0)", "std(a + 1e4, 0, keepdim=True)", "norm(a)",
        "norm(a - 0.5, 1, 0)", "linalg.vector_norm(a, inf)", "linalg.vector_norm(a, 3, 1)",
        "linalg.vector_norm(a - 0.5, 0)", "linalg.norm(a * 2)", "logsumexp(a, (0, 1))", "norm(a + 1j)",
        "linalg.vector_norm(a, -inf, keepdim=True)", "normalize(a, dim=0)"}) {
    NoProgress whole;
    SmallBlocks progress(64);
    const Tensor want = evaluate_elementwise(evaluate(parse(text), s, whole), whole);
    const Tensor got = evaluate_elementwise(evaluate(parse(text), s, progress), progress);
    EXPECT_EQ(got.dtype(), want.dtype());
    EXPECT_EQ(got.sizes(), want.sizes());
    EXPECT_LT(amax(abs(got / want - 1)).item<double>(), 1e-6) << text;
  }
}

TEST(Evaluate, LargeReductionsOfTheSameSizesShareAPass) {
  Scope s;
  s.names["a"] = rand({100, 3});
  const struct {
    std::vector<std::string> texts;
    int64_t passes;
  } cases[] = {
      {{"mean(a)", "std(a + 1)", "amax(a)"}, 1},
      {{"(a - mean(a)) / std(a)", "amax(a - mean(a))"}, 2},  // the last elementwise pass is not counted here
      {{"cat([sum(a, 0), mean(a, 0)])"}, 2},                 // cat is a pass of its own
      {{"normalize(a, dim=0)", "normalize(a, dim=0) * 2"}, 1},
      {{"mean(a - mean(a - mean(a)))"}, 3},
  };
  for (const auto& c : cases) {
    SmallBlocks progress(64);
    Session session(progress, nullptr);
    const Ast ast = parse(c.texts);
    const std::vector<Argument> values = evaluate(ast, s, session);
    EXPECT_EQ(session.traffic().passes, c.passes) << joined(c.texts);
    for (std::size_t i = 0; i < values.size(); ++i) {
      NoProgress whole;
      const Tensor want = evaluate_elementwise(evaluate(parse(c.texts[i]), s, whole), whole);
      const Tensor got = evaluate_elementwise(tree_of(values[i]), whole);
      EXPECT_LT(amax(abs(got - want)).item<double>(), 1e-5) << c.texts[i];
    }
  }
}

TEST(Evaluate, SeveralResultsAreOneProgram) {
  // Shared parts, a cast that only one of them needs, and a leaf.
  Scope s;
  s.names["a"] = rand({50, 7});
  s.names["r"] = arange(7);
  const std::vector<std::string> texts{"exp(a + r)", "(exp(a + r) * 2).to(float16)", "a", "exp(a + r)", "r // (a + 1)",
                                       "a > r"};
  for (int64_t block_bytes : {1 << 20, 100, 1}) {
    SmallBlocks progress(block_bytes);
    Session session(progress, nullptr);
    const Ast ast = parse(texts);
    Trees trees;
    std::vector<Tensor> outs;
    for (const Argument& value : evaluate(ast, s, session)) {
      trees.push_back(tree_of(value));
      outs.push_back(empty(trees.back()->sizes(), trees.back()->meta.dtype()));
    }
    session.compute(trees, outs);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      NoProgress whole;
      expect_same(outs[i], evaluate_elementwise(evaluate(parse(texts[i]), s, whole), whole), texts[i]);
    }
  }
}

TEST(Evaluate, TemporariesStaySmall) {
  Scope s;
  s.names["a"] = ones({1 << 20});
  SmallBlocks progress(1 << 16);
  const Tree tree = evaluate(parse("((a * 2 + 1) / 3 - a).sum()"), s, progress);
  memory::reset_peak();
  const int64_t before = memory::statistics().peak;
  SmallBlocks again(1 << 16);
  evaluate(parse("((a * 2 + 1) / 3 - a).sum()"), s, again);
  EXPECT_LT(memory::statistics().peak - before, 1 << 20);
  EXPECT_EQ(evaluate_elementwise(tree, progress).item<double>(), 0);
}

TEST(Evaluate, MoreOpsThanAProgramHasRegisters) {
  // Chains of operators are limited in length, not in number.
  std::string chain = "x", sum = "0";
  for (int i = 0; i < 130; ++i) chain += "+1";
  for (int i = 0; i < 130; ++i) sum += "+(" + chain + ")";
  EXPECT_EQ(to_string(computed(sum)), to_string(computed("x * 130 + 130 * 130")));
}

TEST(Evaluate, AnInterruptStopsBetweenBlocks) {
  class Stop : public ProgressCallback {
   public:
    Stop() { block_bytes = fused_bytes = 4; }
    void advance(int64_t done, int64_t) override {
      if (done >= 3) throw Interrupted("interrupted");
    }
  } stop;
  const Tree tree = evaluate(parse("x + 1"), scope(), stop);
  Tensor out = zeros({2, 3});
  EXPECT_THROW(evaluate_elementwise(tree, out, stop), Interrupted);
  EXPECT_EQ(to_string(out), "tensor([[1., 2., 3.],\n        [0., 0., 0.]])");
}

TEST(Evaluate, ShapesNeedNoData) {
  Scope shapes;
  shapes.shapes = true;
  NoProgress progress;
  const Tree tree = evaluate(parse("f32[1000000, 1000000] + i32[1000000: 2]"), shapes, progress);
  EXPECT_EQ(tree->sizes(), SizesView({1000000, 1000000}));
  EXPECT_EQ(tree->operands[1]->meta.stride(0), 2);
  EXPECT_EQ(evaluate(parse("u8[4, 3].to(float32).mean(0) / f64[]"), shapes, progress)->sizes(), SizesView({3}));
  for (const char* text : {"(f32[10000, 1] - f32[10000]).mean()", "(f32[100000, 1] * f32[100000] + 1).sum()",
                           "(f32[100000, 1] < f32[100000]).any()", "(f32[100000, 1] - f32[100000]).to(int64).amax()",
                           "mm(f32[20000, 3] + 1, f32[3, 20000]).amin(1)"})
    EXPECT_TRUE(evaluate(parse(text), shapes, progress)->meta.is_meta()) << text;
}

TEST(Evaluate, ErrorsKnowTheirPlace) {
  const struct {
    const char* text;
    const char* want;
    const char* place;
  } cases[] = {
      {"x + y", "unknown name 'y'", "y"},
      {"1 + bogus(x)", "unknown function 'bogus'", "bogus(x)"},
      {"x * (row + i[:, 0])",
       "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0", "(row + i[:, 0])"},
      {"x.sum(2)", "Dimension out of range (expected to be in range of [-2, 1], but got 2)", "x.sum(2)"},
      {"x.sum(0.5)", "an integer or a list of integers is expected, not a floating-point number", "0.5"},
      {"x.sum(dims=0)", "sum() has no argument 'dims'; it has input, dim, keepdim, dtype", "0"},
      {"add(x)", "add() misses the argument 'other'", "add(x)"},
      {"add(x, 1, 2)", "add() takes at most 2 positional arguments", "2"},
      {"x.add(1, other=2)", "add() is given 'other' twice", "2"},
      {"sqrt(2)", "a tensor is expected, not the integer 2", "2"},
      {"x.sum(keepdim=1)", "keepdim: True or False is expected, not the integer 1", "1"},
      {"1.5 & 2", "'&' does not take floating-point numbers", "1.5 & 2"},
      {"1 // 0", "division by zero", "1 // 0"},
      {"1 << -1", "negative shift count", "1 << -1"},
      {"3 ** 40", "the number is out of the range of int64", "3 ** 40"},
      {"~1.5", "'~' does not take floating-point numbers", "~1.5"},
      {"linalg.nrm(x)", "unknown function 'linalg_nrm'", "linalg.nrm(x)"},
      {"x.size_", "unknown attribute 'size_'; known are T, mT, real, imag, shape, ndim and dtype", "x.size_"},
      {"x + (1, 2)", "a tensor or a number is expected, not the list [1, 2]", "(1, 2)"},
      {"cat(x)", "a list of tensors is expected, not a tensor of shape [2, 3]", "x"},
      {"cat([x, 1])", "a tensor is expected, not the integer 1", "1"},
      {"cat([1, 2])", "a list of tensors is expected, not the list [1, 2]", "[1, 2]"},
      {"cat([x, [1]])", "a tensor or a number is expected, not the list [1]", "[1]"},
      {"cat([x, row])", "Tensors must have same number of dimensions: got 2 and 1", "cat([x, row])"},
      {"stack([])", "stack expects a non-empty TensorList", "stack([])"},
      {"x.sum([x])", "an integer or a list of integers is expected, not a list of tensors", "[x]"},
      {"[x, x]", "the expression is a list of tensors, not a tensor or a number", "[x, x]"},
      {"sort(x)", "the expression is the 2 results of sort (take .values or .indices), not a tensor or a number",
       "sort(x)"},
      {"sort(x) + 1", "a tensor or a number is expected, not the 2 results of sort (take .values or .indices)",
       "sort(x)"},
      {"sort(x).index", "'index' is not among the 2 results of sort (take .values or .indices)", "sort(x).index"},
      {"max(x, 0.5)", "a tensor is expected, not a floating-point number", "0.5"},
      {"sort(x)[2]", "there is no such place among the 2 results of sort (take .values or .indices)", "sort(x)[2]"},
      {"x[1.5]", "an integer is expected, not a floating-point number", "1.5"},
      {"x[]", "an index is expected between the brackets", "x[]"},
      {"1 / 0", "division by zero", "1 / 0"},
      {"9223372036854775807 + 1", "the number is out of the range of int64", "9223372036854775807 + 1"},
      {"float32", "the expression is the dtype float32, not a tensor or a number", "float32"},
      {"f32[3] + 1", "a shape has no data; give a file (name=FILE), or ask `tenon explain`", "f32[3]"},
      {"x.to(3)", "a dtype such as float32 is expected, not the integer 3", "3"},
      {"x.transpose(0)", "the call is transpose(dim0, dim1), and 1 arguments are given", "x.transpose(0)"},
      {"x.view(4)", "shape '[4]' is invalid for input of size 6", "x.view(4)"},
      {"-m",
       "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
       "or `logical_not()` operator instead.",
       "-m"},
  };
  for (const auto& c : cases) {
    try {
      computed(c.text);
      ADD_FAILURE() << c.text << " was computed";
    } catch (const ExpressionError& error) {
      EXPECT_STREQ(error.what(), c.want) << c.text;
      const std::string text = c.text;
      EXPECT_EQ(text.substr(error.span().begin, error.span().end - error.span().begin), c.place) << c.text;
    }
  }
}

TEST(Evaluate, MisspeltNamesAreGuessed) {
  const auto note = [](const std::string& text) {
    try {
      computed(text);
    } catch (const ExpressionError& error) {
      return error.notes().empty() ? std::string() : error.notes()[0];
    }
    return std::string();
  };
  EXPECT_EQ(note("maen(x)"), "did you mean 'mean'?");
  EXPECT_EQ(note("x.tranpose(0, 1)"), "did you mean 'transpose'?");
  EXPECT_EQ(note("colum + 1"), "did you mean 'column'?");
  EXPECT_EQ(note("zzzzzz(x)"), "");
}

}  // namespace
}  // namespace tenon::expr
