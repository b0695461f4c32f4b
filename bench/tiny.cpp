// Operations whose cost is the call: a few elements, views, shapes without data.
#include "cases.h"

namespace bench {
namespace {

constexpr Dtype kFloat = Dtype::float32;

/// `out` of the result's sizes; `a` and `b` of their own.
auto pair_of(Dims out, Dims a, Dims b) {
  return [=]<class Library>(Library) -> Operands<Library> {
    return {.out = Library::random(out, kFloat), .a = Library::random(a, kFloat), .b = Library::random(b, kFloat)};
  };
}
auto one_of(Dims a) {
  return [=]<class Library>(Library) -> Operands<Library> { return {.a = Library::random(a, kFloat)}; };
}

void add_arithmetic(Cases& cases) {
  const auto allocating = [](auto& x) { add(x.a, x.b); };
  const auto into_out = [](auto& x) { add_out(x.out, x.a, x.b); };
  const auto row = pair_of({3}, {3}, {1});
  cases.add({"tiny/[3]+[1]", 1, 50}, row, allocating);
  cases.add({"tiny/[3]+[1], out=", 1, 25}, row, into_out);
  cases.add({"tiny/[3]+1", 1, 50}, row, [](auto& x) { add(x.a, 1); });
  cases.add({"tiny/[3]+1, out=", 1, 25}, row, [](auto& x) { add_out(x.out, x.a, 1); });
  cases.add({"tiny/[3].add_([1])", 1, 25}, row, [](auto& x) { x.a.add_(x.b); });
  const auto general = pair_of({5, 3, 4, 1}, {5, 1, 4, 1}, {3, 1, 1});
  cases.add({"tiny/[5,1,4,1]+[3,1,1]", 1, 150}, general, allocating);
  cases.add({"tiny/[5,1,4,1]+[3,1,1], out=", 1, 150}, general, into_out);
  cases.add({"tiny/sum [3]", 1, 50}, one_of({3}), [](auto& x) { sum(x.a); });
  const auto squares = pair_of({8, 8}, {8, 8}, {8, 8}), square_and_row = pair_of({8, 8}, {8, 8}, {8});
  cases.add({"tiny/[8,8]+[8,8]", 1, 30}, squares, allocating);
  cases.add({"tiny/[8,8]+[8]", 1, 60}, square_and_row, allocating);
  cases.add({"tiny/[8,8].add_([8])", 1, 60}, square_and_row, [](auto& x) { x.a.add_(x.b); });
  const auto mixed = []<class Library>(Library) -> Operands<Library> {
    return {.a = Library::random({8}, Dtype::int32), .b = Library::random({8}, kFloat)};
  };
  cases.add({"tiny/i32[8]+f32[8]", 1, 70}, mixed, allocating);
  cases.add({"tiny/sum [8,8] dim 0", 1, 60}, one_of({8, 8}), [](auto& x) { sum(x.a, {0}); });
  cases.add({"tiny/sum [8,8] dim 1", 1, 60}, one_of({8, 8}), [](auto& x) { sum(x.a, {1}); });
}

template <class Op>
void function(Cases& cases, const char* name, Op op) {
  cases.add({std::string("tiny/") + name + " [8]", 1, 45}, pair_of({}, {8}, {8}), op);
}

void add_functions(Cases& cases) {
  function(cases, "exp", [](auto& x) { exp(x.a); });
  function(cases, "exp2", [](auto& x) { exp2(x.a); });
  function(cases, "expm1", [](auto& x) { expm1(x.a); });
  function(cases, "log", [](auto& x) { log(x.a); });
  function(cases, "log2", [](auto& x) { log2(x.a); });
  function(cases, "log10", [](auto& x) { log10(x.a); });
  function(cases, "log1p", [](auto& x) { log1p(x.a); });
  function(cases, "sin", [](auto& x) { sin(x.a); });
  function(cases, "cos", [](auto& x) { cos(x.a); });
  function(cases, "tan", [](auto& x) { tan(x.a); });
  function(cases, "asin", [](auto& x) { asin(x.a); });
  function(cases, "acos", [](auto& x) { acos(x.a); });
  function(cases, "atan", [](auto& x) { atan(x.a); });
  function(cases, "sinh", [](auto& x) { sinh(x.a); });
  function(cases, "cosh", [](auto& x) { cosh(x.a); });
  function(cases, "tanh", [](auto& x) { tanh(x.a); });
  function(cases, "asinh", [](auto& x) { asinh(x.a); });
  function(cases, "atanh", [](auto& x) { atanh(x.a); });
  function(cases, "sqrt", [](auto& x) { sqrt(x.a); });
  function(cases, "erf", [](auto& x) { erf(x.a); });
  function(cases, "sigmoid", [](auto& x) { sigmoid(x.a); });
  function(cases, "pow", [](auto& x) { pow(x.a, x.b); });
}

template <class Op>
void view(Cases& cases, const char* name, Op op) {
  cases.add({std::string("view/") + name, 1, 20}, pair_of({}, {2, 1, 3}, {4, 2, 5, 3}), op);
}

void add_views(Cases& cases) {
  view(cases, "expand", [](auto& x) { x.a.expand({2, 4, 3}); });
  view(cases, "expand_as", [](auto& x) { x.a.expand_as(x.b); });
  view(cases, "broadcast_to", [](auto& x) { x.a.broadcast_to({2, 4, 3}); });
  view(cases, "view", [](auto& x) { x.a.view({3, 2}); });
  view(cases, "reshape", [](auto& x) { x.a.reshape({3, 2}); });
  view(cases, "unsqueeze", [](auto& x) { x.a.unsqueeze(0); });
  view(cases, "squeeze()", [](auto& x) { x.a.squeeze(); });
  view(cases, "squeeze", [](auto& x) { x.a.squeeze(1); });
  view(cases, "transpose", [](auto& x) { x.a.transpose(0, 2); });
  view(cases, "t", [](auto& x) { x.out.t(); });
  view(cases, "mT", [](auto& x) { x.a.mT(); });
  view(cases, "permute", [](auto& x) { x.a.permute({2, 0, 1}); });
  view(cases, "movedim", [](auto& x) { x.a.movedim(0, 2); });
  view(cases, "select", [](auto& x) { x.a.select(0, 1); });
  view(cases, "narrow", [](auto& x) { x.a.narrow(2, 1, 2); });
  view(cases, "slice", [](auto& x) { x.a.slice(2, 1, 3); });
  view(cases, "flatten", [](auto& x) { x.a.flatten(); });
  view(cases, "unflatten", [](auto& x) { x.b.unflatten(0, {2, 2}); });
  view(cases, "as_strided", [](auto& x) { x.a.as_strided({3, 2}, {1, 3}); });
  view(cases, "diagonal", [](auto& x) { x.a.diagonal(0, 0, 2); });
  view(cases, "index", []<class Library>(Operands<Library>& x) { x.a.index({0, typename Library::Slice(0, 1)}); });
  view(cases, "index of 3", []<class Library>(Operands<Library>& x) {
    x.a.index({0, typename Library::Slice(0, 1), typename Library::Slice(1, 3)});
  });
  view(cases, "operator[]", [](auto& x) { x.a[1]; });
  view(cases, "detach", [](auto& x) { x.a.detach(); });
}

void add_shapes(Cases& cases) {
  cases.add({"shape/infer_size", 1, 200}, one_of({}), []<class Library>(Operands<Library>&) {
    benchmark::DoNotOptimize(Library::infer_size({5, 1, 4, 1}, {3, 1, 1}));
  });
  // In C++ PyTorch has no function for more than two shapes.
  cases.add_tenon_only({"shape/broadcast_shapes of 3", 1, 200}, one_of({}), [](auto&) {
    benchmark::DoNotOptimize(tenon::broadcast_shapes({{5, 1, 4, 1}, {3, 1, 1}, {5, 3, 1, 6}}));
  });
  cases.add(
      {"shape/meta [4096,4096]+[4096]", 1, 1000},
      []<class Library>(Library) -> Operands<Library> {
        return {.a = Library::meta({4096, 4096}), .b = Library::meta({4096})};
      },
      [](auto& x) { add(x.a, x.b); });
}

}  // namespace

void add_tiny_cases(Cases& cases) {
  add_arithmetic(cases);
  add_functions(cases);
  add_views(cases);
  add_shapes(cases);
}

}  // namespace bench
