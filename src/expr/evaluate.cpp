#include "expr/evaluate.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string_view>

#include "expr/bind.h"
#include "expr/spelling.h"
#include "expr/views.h"
#include "tenon/factories.h"

namespace tenon::expr {
namespace {

std::optional<Dtype> find_dtype(const std::string& name) {
  try {
    return dtype_from_name(name.c_str());
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

/// Arithmetic on two numbers, of which one is complex.
std::optional<Scalar> fold_complex(const std::string& symbol, Scalar a, Scalar b) {
  const std::complex<double> x(a.as_complex().re, a.as_complex().im), y(b.as_complex().re, b.as_complex().im);
  if (symbol == "==") return Scalar(x == y);
  if (symbol == "!=") return Scalar(x != y);
  if (symbol == "/" && y == 0.0) return std::nullopt;
  if (symbol == "**") return Scalar(std::pow(x, y));
  return Scalar(symbol == "+" ? x + y : symbol == "-" ? x - y : symbol == "*" ? x * y : x / y);
}

/// An integer to the power of one that is not negative. std::nullopt for overflow.
std::optional<Scalar> fold_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0 && __builtin_mul_overflow(result, base, &result)) return std::nullopt;
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
  return Scalar(result);
}

/// Python's arithmetic on two numbers. std::nullopt for integer overflow and division by zero.
std::optional<Scalar> fold(const std::string& symbol, Scalar a, Scalar b) {
  if (a.is_complex() || b.is_complex()) return fold_complex(symbol, a, b);
  const bool floating = a.is_floating() || b.is_floating() || symbol == "/";
  const double x = a.as_double(), y = b.as_double();
  const int64_t i = a.as_int64(), k = b.as_int64();
  int64_t exact = 0;
  if (symbol == "<") return Scalar(floating ? x < y : i < k);
  if (symbol == "<=") return Scalar(floating ? x <= y : i <= k);
  if (symbol == ">") return Scalar(floating ? x > y : i > k);
  if (symbol == ">=") return Scalar(floating ? x >= y : i >= k);
  if (symbol == "==") return Scalar(floating ? x == y : i == k);
  if (symbol == "!=") return Scalar(floating ? x != y : i != k);
  if (symbol == "/") return y == 0 ? std::nullopt : std::optional<Scalar>(x / y);
  if (symbol == "**") return floating || k < 0 ? Scalar(std::pow(x, y)) : fold_power(i, k);
  if (floating) return Scalar(symbol == "+" ? x + y : symbol == "-" ? x - y : x * y);
  const bool overflow = symbol == "+"   ? __builtin_add_overflow(i, k, &exact)
                        : symbol == "-" ? __builtin_sub_overflow(i, k, &exact)
                                        : __builtin_mul_overflow(i, k, &exact);
  return overflow ? std::nullopt : std::optional<Scalar>(exact);
}

bool is_in(const std::string& symbol, std::span<const std::string_view> symbols) {
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}
// Comparisons that complex numbers cannot have.
constexpr std::string_view kOfOrder[] = {"<", "<=", ">", ">="};
// Operators that two numbers cannot have.
constexpr std::string_view kOfTensors[] = {"//", "%", "&", "|", "^", "<<", ">>"};

class Evaluator {
 public:
  Evaluator(const Ast& ast, const Scope& scope, ProgressCallback& progress, Steps* steps)
      : ast_(ast), scope_(scope), progress_(progress), steps_(steps) {}

  Tree run() { return single(argument(ast_.root)); }
  void note_all() {
    const Argument result = argument(ast_.root);
    if (const Results* results = std::get_if<Results>(&result.value)) return note_results(*results);
    const Tree tree = single(result);
    if (!is_noted(tree)) note_elementwise(tree, result.span);
  }

 private:
  [[noreturn]] static void fail(const std::string& what, Span span) { throw ExpressionError(what, span); }
  static Tree single(const Argument& result) {
    if (const Tree* tree = std::get_if<Tree>(&result.value)) return *tree;
    fail("the expression is " + describe(result.value) + ", not a tensor or a number", result.span);
  }

  std::string text_of(Span span) const {
    return ast_.text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
  }
  Argument argument(int node, std::string keyword = {}) { return {std::move(keyword), value(node), ast_[node].span}; }
  Tree tree(int node) { return as_tree(argument(node)); }

  Value value(int index) {
    const Node& node = ast_[index];
    switch (node.kind) {
      case Node::Kind::number:
        return leaf(node.number, node.span);
      case Node::Kind::string:
        return node.name;
      case Node::Kind::none:
        return NoneValue{};
      case Node::Kind::ellipsis:
        return EllipsisValue{};
      case Node::Kind::name:
        return name(node);
      case Node::Kind::unary:
        return unary(node);
      case Node::Kind::binary:
        return binary(node);
      case Node::Kind::call:
        return call(node);
      case Node::Kind::attribute:
        return attribute(node);
      case Node::Kind::index:
        return this->index(node);
      case Node::Kind::slice:
        fail("a slice stands between brackets behind a tensor", node.span);
      case Node::Kind::tuple:
        return list(node);
    }
    fail("unknown kind of node", node.span);
  }

  Value name(const Node& node) const {
    const auto found = scope_.names.find(node.name);
    if (found != scope_.names.end()) return leaf(found->second, node.span, node.name);
    if (node.name == "inf") return leaf(Scalar(std::numeric_limits<double>::infinity()), node.span);
    if (node.name == "nan") return leaf(Scalar(std::nan("")), node.span);
    if (const auto dtype = find_dtype(node.name)) return *dtype;
    fail_unknown_name(node);
  }
  [[noreturn]] void fail_unknown_name(const Node& node) const {
    std::vector<std::string> known;
    for (const auto& [name, tensor] : scope_.names) known.push_back(name);
    ExpressionError error("unknown name '" + node.name + "'", node.span);
    const std::string nearest = nearest_name(node.name, known);
    if (!nearest.empty()) error.add_note("did you mean '" + nearest + "'?");
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    error.add_note(list.empty() ? "no names are given; name=FILE gives one" : "names given: " + list);
    throw error;
  }

  Value unary(const Node& node) {
    const Tree operand = tree(node.children[0]);
    if (node.name == "+") return operand;
    if (!operand->is_number())
      return elementwise(*find_function(node.name == "~" ? "bitwise_not" : "neg"), {{operand}, Values(1)}, node);
    if (node.name == "~") fail("'~' needs a tensor", node.span);
    const Scalar number = operand->number;
    if (number.is_complex())
      return leaf(Scalar(Complex128{-number.as_complex().re, -number.as_complex().im}), node.span);
    if (number.is_floating()) return leaf(Scalar(-number.as_double()), node.span);
    if (number.as_int64() == std::numeric_limits<int64_t>::min())
      fail("the number is out of the range of int64", node.span);
    return leaf(Scalar(-number.as_int64()), node.span);
  }

  Value binary(const Node& node) {
    const Tree left = tree(node.children[0]), right = tree(node.children[1]);
    const Schema& function = *find_operator(node.name);
    if (!left->is_number() || !right->is_number() || !function.is_map()) {
      Bound bound{std::vector<Tree>(static_cast<std::size_t>(function.count)),
                  Values(static_cast<std::size_t>(function.count))};
      bound.operands[0] = left;
      bound.operands[1] = right;
      return function.is_map() ? Value(elementwise(function, bound, node)) : algorithm(function, bound, node);
    }
    if (is_in(node.name, kOfTensors)) fail("'" + node.name + "' needs a tensor", node.span);
    if ((left->number.is_complex() || right->number.is_complex()) && is_in(node.name, kOfOrder))
      fail("complex numbers have no order, which '" + node.name + "' needs", node.span);
    const std::optional<Scalar> folded = fold(node.name, left->number, right->number);
    if (!folded) fail(node.name == "/" ? "division by zero" : "the number is out of the range of int64", node.span);
    return leaf(*folded, node.span);
  }

  /// A map of several results: a tree for each.
  Value several(const Schema& function, const Bound& bound, const Node& node) {
    Results results{&function, {}};
    for (int result = 0; result < function.results; ++result)
      results.trees.push_back(elementwise(function, bound, node, result));
    return results;
  }
  Tree elementwise(const Schema& function, const Bound& bound, const Node& node, int result = 0) {
    try {
      return apply(function, bound.operands, bound.values, node.span, result);
    } catch (const Error&) {
      note_failure(bound.operands);
      throw;
    }
  }

  /// The module in `linalg.NAME(...)`, which is the op linalg_NAME unless an input is called linalg; "" in other calls.
  std::string module_of(const Node& node) const {
    if (!node.is_method) return "";
    const Node& receiver = ast_[node.children[0]];
    const bool is_module = receiver.kind == Node::Kind::name && !scope_.names.contains(receiver.name) &&
                           (receiver.name == "linalg" || receiver.name == "special");
    return is_module ? receiver.name : "";
  }

  Value call(const Node& node) {
    if (const std::string module = module_of(node); !module.empty()) {
      Node function = node;
      function.name = module + "_" + node.name;
      function.is_method = false;
      function.children.erase(function.children.begin());
      function.keywords.erase(function.keywords.begin());
      return call(function);
    }
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < node.children.size(); ++i)
      arguments.push_back(argument(node.children[i], node.keywords[i]));
    if (node.name == "einsum") put_tensors_first(arguments);
    if (node.name == "to" && node.is_method) return call_function(cast_function(), arguments, node);
    if (node.name == "allclose" || node.name == "equal") return of_all_elements(arguments, node);
    if (node.name == "softmin" && !arguments.empty()) return softmin(arguments, node);
    if (const auto overloads = find_functions(node.name); !overloads.empty()) {
      if (node.is_method) put_receiver(overloads[0], arguments);
      return call_function(overload_of(overloads, arguments, node.span), arguments, node);
    }
    if (const View* view = find_view(node.name)) return call_view(*view, arguments, node);
    ExpressionError error("unknown function '" + node.name + "'", node.span);
    const std::string nearest = nearest_function(node.name), nearest_of_views = nearest_view(node.name);
    if (!nearest.empty() || !nearest_of_views.empty())
      error.add_note("did you mean '" + (nearest.empty() ? nearest_of_views : nearest) + "'?");
    throw error;
  }
  Value softmin(std::vector<Argument>& arguments, const Node& node) {
    arguments[0].value = call_function(*find_function("neg"), {arguments[0]}, node);
    return call_function(overload_of(find_functions("softmax"), arguments, node.span), arguments, node);
  }
  /// `allclose` is isclose of all elements; `equal` is eq of all elements, and false for other sizes.
  Value of_all_elements(const std::vector<Argument>& arguments, const Node& node) {
    const bool is_equal = node.name == "equal";
    if (is_equal && arguments.size() == 2 && !(as_tree(arguments[0])->sizes() == as_tree(arguments[1])->sizes()))
      return leaf(Scalar(false), node.span);
    Node compared = node;
    compared.name = is_equal ? "eq" : "isclose";
    const auto overloads = find_functions(compared.name);
    const Value each = call_function(overload_of(overloads, arguments, node.span), arguments, compared);
    return call_function(*find_function("all"), {Argument{"", each, node.span}}, node);
  }
  /// PyTorch's order, `einsum('ij,jk->ik', x, y)` or with the operands in a list, becomes the declared one.
  static void put_tensors_first(std::vector<Argument>& arguments) {
    if (arguments.size() < 2 || !std::holds_alternative<std::string>(arguments[0].value)) return;
    if (std::any_of(arguments.begin(), arguments.end(), [](const Argument& each) { return !each.keyword.empty(); }))
      return;
    if (std::holds_alternative<Tree>(arguments[1].value)) {
      Trees trees;
      for (std::size_t i = 1; i < arguments.size(); ++i) trees.push_back(as_tree(arguments[i]));
      arguments[1].value = std::move(trees);
      arguments.resize(2);
    }
    std::swap(arguments[0], arguments[1]);
  }
  /// In `x.where(condition, y)`, x is the parameter `self`, which comes after the condition.
  static void put_receiver(const Schema& function, std::vector<Argument>& arguments) {
    const int place = function.place_of("self");
    for (int i = 0; i < place && i + 1 < static_cast<int>(arguments.size()); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!arguments[at + 1].keyword.empty()) return;
      std::swap(arguments[at], arguments[at + 1]);
    }
  }
  /// Calls an algorithm at once, like a reduction.
  Value algorithm(const Schema& function, const Bound& bound, const Node& node) {
    Trees operands;
    const auto computed = [&](const Tree& operand) {
      operands.push_back(as_leaf(operand));
      return operands.back()->tensor;
    };
    Values values = with_operands(bound.operands, bound.values, computed);
    if (function.parameters()[0].is_list()) {
      List<Tensor> tensors;
      for (const Tree& tree : bound.list) tensors.push_back(computed(tree));
      values[0] = std::move(tensors);
    }
    const List<Tensor> results = at(node.span, [&] { return results_of(function, values, operands); });
    note_step({.tree = nullptr,
               .algorithm = &function,
               .values = values,
               .operands = operands,
               .results = results,
               .span = node.span});
    if (function.results == 1) return leaf(results[0], node.span, text_of(node.span));
    Results leaves{&function, {}};
    for (const Tensor& result : results) leaves.trees.push_back(leaf(result, node.span, function.name));
    return leaves;
  }
  /// An elementwise op over numbers only stays a tree.
  Tree as_leaf(const Tree& tree) {
    if (tree->is_leaf()) return tree;
    note_elementwise(tree, tree->span);
    return leaf(evaluate_elementwise(tree, progress_), tree->span, text_of(tree->span));
  }
  static List<Tensor> results_of(const Schema& function, const Values& values, const Trees& operands) {
    try {
      return function.function(values.data());
    } catch (const NotImplementedError& error) {
      const bool has_shapes_only = std::any_of(operands.begin(), operands.end(), is_meta);
      if (!has_shapes_only || !is_about_missing_data(error)) throw;
      throw Error(std::string(function.name) +
                  ": the size of the result depends on the operands' values, which shapes do not have");
    }
  }
  static bool is_about_missing_data(const Error& error) {
    return std::string_view(error.what()).starts_with("Cannot copy out of meta tensor");
  }
  Value call_function(const Schema& function, const std::vector<Argument>& arguments, const Node& node) {
    const Bound bound = bind(function, arguments, node.span);
    if (&function == &cast_function()) return convert(bound, node);
    if (function.is_map() && function.results > 1) return several(function, bound, node);
    if (function.is_map()) return elementwise(function, bound, node);
    if (!function.is_fold() || function.results != 1) return algorithm(function, bound, node);
    const Tensor result =
        at(node.span, [&] { return evaluate_reduction(function, bound.operands[0], bound.values, progress_); });
    note_step({.tree = bound.operands[0],
               .reduction = &function,
               .values = bound.values,
               .results = {result},
               .span = node.span});
    return leaf(result, node.span, text_of(node.span));
  }
  Value convert(const Bound& bound, const Node& node) {
    if (bound.operands[0]->meta.dtype() == *bound.values[1].dtype()) return bound.operands[0];
    return elementwise(cast_function(), bound, node);
  }
  Value call_view(const View& view, std::vector<Argument>& arguments, const Node& node) {
    if (arguments.empty()) fail(std::string(view.name) + " needs a tensor", node.span);
    const Tensor self = tensor(arguments[0]);
    arguments.erase(arguments.begin());
    return leaf(apply_view(view, self, arguments, node.span), node.span, text_of(node.span));
  }

  /// An argument as a tensor: computes its tree.
  Tensor tensor(const Argument& argument) {
    const Tree& tree = as_tree(argument);
    if (tree->is_number()) fail_argument(argument, "a tensor");
    if (!tree->is_leaf()) note_elementwise(tree, argument.span);
    return evaluate_elementwise(tree, progress_);
  }

  Value attribute(const Node& node) {
    const Argument receiver = argument(node.children[0]);
    if (const Results* results = std::get_if<Results>(&receiver.value)) return result_named(*results, node);
    const Tensor self = tensor(receiver);
    const Tensor view = at(node.span, [&] { return view_attribute(node.name, self); });
    if (view.defined()) return leaf(view, node.span, text_of(node.span));
    ExpressionError error("unknown attribute '" + node.name + "'; known are T, mT, real and imag", node.span);
    if (find_function(node.name) || find_view(node.name)) error.add_note("it is a function: " + node.name + "()");
    throw error;
  }

  Value result_named(const Results& results, const Node& node) {
    const std::vector<std::string> names = results.names();
    const auto found = std::find(names.begin(), names.end(), node.name);
    if (found == names.end()) fail("'" + node.name + "' is not among " + describe(results), node.span);
    return chosen(results, static_cast<std::size_t>(found - names.begin()), node);
  }
  Value result_at(const Results& results, const Node& node) {
    const auto count = static_cast<int64_t>(results.trees.size());
    int64_t place = as_integer(argument(node.children[1]));
    if (node.children.size() > 2 || place < -count || place >= count)
      fail("there is no such place among " + describe(results), node.span);
    if (place < 0) place += count;  // exact: an index
    return chosen(results, static_cast<std::size_t>(place), node);
  }
  Value chosen(const Results& results, std::size_t place, const Node& node) const {
    auto copy = std::make_shared<TreeNode>(*results.trees[place]);
    copy->span = node.span;
    if (copy->is_leaf()) copy->label = text_of(node.span);
    return copy;
  }

  Value index(const Node& node) {
    const Node& base = ast_[node.children[0]];
    const bool is_dtype = base.kind == Node::Kind::name && !scope_.names.contains(base.name) && find_dtype(base.name);
    if (is_dtype) return shape(node, *find_dtype(base.name));
    if (node.children.size() == 1) fail("an index is expected between the brackets", node.span);
    const Argument receiver = argument(node.children[0]);
    if (const Results* results = std::get_if<Results>(&receiver.value)) return result_at(*results, node);
    const Tensor self = tensor(receiver);
    std::vector<Index> items;
    for (std::size_t i = 1; i < node.children.size(); ++i) add_items(node.children[i], items);
    const Tensor view = at(node.span, [&] { return self.index(items.data(), static_cast<int64_t>(items.size())); });
    return leaf(view, node.span, text_of(node.span));
  }
  void add_items(int index, std::vector<Index>& items) {
    const Node& node = ast_[index];
    if (node.kind == Node::Kind::slice) {
      const auto bound = [&](int child) { return child < 0 ? std::optional<int64_t>() : slice_bound(child); };
      items.emplace_back(Slice(bound(node.children[0]), bound(node.children[1]), bound(node.children[2]).value_or(1)));
      return;
    }
    const Argument item = argument(index);
    if (is_none(item.value))
      items.emplace_back(None);
    else if (std::holds_alternative<EllipsisValue>(item.value))
      items.emplace_back(Ellipsis);
    else
      items.emplace_back(as_integer(item));
  }
  std::optional<int64_t> slice_bound(int node) {
    const Argument bound = argument(node);
    if (is_none(bound.value)) return std::nullopt;
    return as_integer(bound);
  }

  /// A shape, `f32[4, 3]`, or with strides `f32[4, 3: 1, 4]`, which the parser reads with a slice `3:1` in the middle.
  Value shape(const Node& node, Dtype dtype) {
    if (!scope_.shapes) fail("a shape has no data; give a file (name=FILE), or ask `tenon explain`", node.span);
    Dims sizes, strides;
    bool has_strides = false;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Node& item = ast_[node.children[i]];
      if (item.kind != Node::Kind::slice) {
        (has_strides ? strides : sizes).push_back(as_integer(argument(node.children[i])));
        continue;
      }
      if (has_strides || item.children[0] < 0 || item.children[1] < 0 || item.children[2] >= 0)
        fail("one ':' between sizes and strides is expected", item.span);
      has_strides = true;
      sizes.push_back(as_integer(argument(item.children[0])));
      strides.push_back(as_integer(argument(item.children[1])));
    }
    if (has_strides && strides.size() != sizes.size())
      fail(std::to_string(sizes.size()) + " sizes and " + std::to_string(strides.size()) + " strides are given",
           node.span);
    const Options options(dtype, Device::meta);
    const Tensor tensor =
        at(node.span, [&] { return has_strides ? empty_strided(sizes, strides, options) : empty(sizes, options); });
    return leaf(tensor, node.span, text_of(node.span));
  }

  Value list(const Node& node) {
    std::vector<Argument> items;
    for (int child : node.children) items.push_back(argument(child));
    const auto is_tensor = [](const Argument& item) {
      const Tree* tree = std::get_if<Tree>(&item.value);
      return tree && !(*tree)->is_number();
    };
    const auto is_real = [](const Argument& item) {
      const Tree* tree = std::get_if<Tree>(&item.value);
      return tree && (*tree)->number.kind() == Scalar::Kind::floating;
    };
    if (std::none_of(items.begin(), items.end(), is_tensor)) {
      if (std::any_of(items.begin(), items.end(), is_real)) return floats(items);
      Dims dims;
      for (const Argument& item : items) dims.push_back(as_integer(item));
      return dims;
    }
    Trees trees;
    for (const Argument& item : items) trees.push_back(as_tree(item));
    return trees;
  }

  static Floats floats(const std::vector<Argument>& items) {
    Floats floats;
    for (const Argument& item : items) floats.push_back(as_number(item).as_double());
    return floats;
  }

  void note_step(Step step) const {
    if (steps_) steps_->list.push_back(std::move(step));
  }
  /// Results of a map, of which nothing reads only one, are computed at once.
  void note_results(const Results& results) {
    const TreeNode& first = *results.trees[0];
    if (!first.is_leaf()) algorithm(*results.function, {first.operands, first.values}, ast_[ast_.root]);
  }
  void note_elementwise(const Tree& tree, Span span) const {
    note_step({.tree = tree, .results = {tree->meta}, .span = span});
  }
  /// Whether a value was computed by a step that is noted.
  bool is_noted(const Tree& tree) const {
    return tree->is_leaf() && !tree->is_number() &&
           std::any_of(steps_->list.begin(), steps_->list.end(),
                       [&](const Step& step) { return step.gives(tree->tensor); });
  }
  void note_failure(const std::vector<Tree>& operands) const {
    if (!steps_) return;
    for (const Tree& operand : operands)
      if (operand) steps_->failed.push_back({text_of(operand->span), operand, operand->span});
  }

  const Ast& ast_;
  const Scope& scope_;
  ProgressCallback& progress_;
  Steps* steps_;
};

}  // namespace

Planned plan_step(const Step& step, const ProgressCallback& progress) {
  if (step.algorithm) return plan_algorithm(*step.algorithm, step.values);
  return step.reduction ? plan_reduction(*step.reduction, step.tree, step.values, progress)
                        : plan_elementwise(step.tree, progress);
}

Tree evaluate(const Ast& ast, const Scope& scope, ProgressCallback& progress) {
  return Evaluator(ast, scope, progress, nullptr).run();
}

void note_steps(const Ast& ast, const Scope& scope, ProgressCallback& progress, Steps& steps) {
  Evaluator(ast, scope, progress, &steps).note_all();
}

}  // namespace tenon::expr
