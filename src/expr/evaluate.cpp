#include "expr/evaluate.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <string_view>

#include "expr/bind.h"
#include "expr/fold.h"
#include "expr/own_functions.h"
#include "expr/repeatable.h"
#include "expr/spelling.h"
#include "expr/views.h"
#include "tenon/factories.h"
#include "tenon/shape.h"

namespace tenon::expr {
namespace {

std::optional<Dtype> find_dtype(const std::string& name) {
  try {
    return dtype_from_name(name.c_str());
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

class Evaluator {
 public:
  Evaluator(const Ast& ast, const Scope& scope, Session& session) : ast_(ast), scope_(scope), session_(session) {
    keys_ = keys_of(ast, scope);
  }
  /// For a formula: its names are `locals`, and `prefix` names the call.
  Evaluator(const Ast& ast, const Scope& scope, Session& session, const std::map<std::string, Value>& locals,
            const std::string& prefix)
      : ast_(ast), scope_(scope), session_(session), locals_(&locals) {
    for (std::size_t i = 0; i < ast.nodes.size(); ++i) keys_.push_back(prefix + "$" + std::to_string(i));
  }

  std::vector<Argument> run() {
    for (;;) {
      std::vector<Argument> results;
      bool waits = false;
      for (int root : ast_.roots) waits |= !try_value(root, &results);
      if (!waits) return results;
      session_.compute();
    }
  }
  Argument run_formula() { return argument(ast_.roots[0]); }
  /// Notes the step that computes the value last.
  void note_last(const Argument& result) {
    if (const Results* results = std::get_if<Results>(&result.value)) return note_results(*results);
    const Tree tree = tree_of(result);
    if (!is_noted(tree)) note_elementwise(tree, result.span);
  }

 private:
  [[noreturn]] static void fail(const std::string& what, Span span) { throw ExpressionError(what, span); }
  bool try_value(int node, std::vector<Argument>* results) {
    try {
      Argument result = argument(node);
      if (results) results->push_back(std::move(result));
      return true;
    } catch (const Waiting&) {
      return false;
    }
  }

  std::string text_of(Span span) const {
    return ast_.text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
  }
  Argument argument(int node, std::string keyword = {}) { return {std::move(keyword), value(node), ast_[node].span}; }
  Tree tree(int node) { return as_tree(argument(node)); }

  /// A part's value, which is computed once. While some of its parts wait for reductions, the others are computed, so
  /// that as many reductions as possible are done together.
  Value value(int index) {
    const std::string& key = keys_[static_cast<std::size_t>(index)];
    if (key.empty()) return computed(index);
    if (const Value* known = session_.find(key)) return *known;
    if (!try_parts(index)) throw Waiting{};
    const Value result = computed(index);
    session_.keep(key, result);
    return result;
  }
  /// Computes the parts that are kept. False if one of them waits.
  bool try_parts(int index) {
    bool known = true;
    for (int child : ast_[index].children) {
      if (child < 0) continue;
      const Node::Kind kind = ast_[child].kind;
      if (kind == Node::Kind::tuple || kind == Node::Kind::slice)
        known &= try_parts(child);
      else if (!keys_[static_cast<std::size_t>(child)].empty())
        known &= try_value(child, nullptr);
    }
    return known;
  }
  /// Computes a part without looking whether it is known.
  Value computed(int index) {
    struct Restore {
      int& current;
      int before;
      ~Restore() { current = before; }
    } const restore{current_, std::exchange(current_, index)};
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
    if (locals_) {
      const auto local = locals_->find(node.name);
      if (local != locals_->end()) return local->second;
    }
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
    return leaf(fold(node.name, operand->number, node.span), node.span);
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
    return leaf(fold(node.name, left->number, right->number, node.span), node.span);
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
      return with_operands_named(function.name, bound.operands,
                                 [&] { return apply(function, bound.operands, bound.values, node.span, result); });
    } catch (const Error&) {
      note_failure(bound.operands);
      throw;
    }
  }

  /// Runs an op; adds to an error of it what its operands are, for the text may name none: "matmul: x is
  /// float32[3, 4], y[0] is float32[5]". `tenon explain` draws the operands instead.
  template <class Work>
  auto with_operands_named(const char* op, const Trees& operands, const Work& work) const -> decltype(work()) {
    try {
      return work();
    } catch (ExpressionError& error) {
      std::string list;
      for (const Tree& operand : operands) {
        if (!operand || operand->is_number()) continue;
        list += (list.empty() ? ": " : ", ") + text_of(operand->span) + " is " + dtype_name(operand->meta.dtype()) +
                to_string(operand->sizes());
      }
      if (!scope_.shapes) error.add_note(op + list);
      throw;
    }
  }

  /// The module in `linalg.NAME(...)`, which is the op linalg_NAME unless an input is called linalg; "" in other calls.
  std::string module_of(const Node& node) const {
    if (!node.is_method) return "";
    const Node& receiver = ast_[node.children[0]];
    const bool is_module = receiver.kind == Node::Kind::name && !scope_.names.contains(receiver.name) &&
                           (receiver.name == "linalg" || receiver.name == "special" || receiver.name == "fft");
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
    if (node.name == "tensor" && !node.is_method) return numbers(node);
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < node.children.size(); ++i)
      arguments.push_back(argument(node.children[i], node.keywords[i]));
    if (node.name == "einsum") put_tensors_first(arguments);
    if (node.name == "to" && node.is_method) return call_function(cast_function(), arguments, node);
    if (node.name == "allclose" || node.name == "equal") return of_all_elements(arguments, node);
    if (const auto own = find_own_functions(node.name); !own.empty()) return call_own(own, arguments, node);
    if (const std::optional<Value> known = of_shapes(arguments, node)) return *known;
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
  // --- functions beside the op table

  using NestedLists = std::deque<std::vector<NestedValues>>;

  Value call_own(std::span<const OwnFunction> overloads, std::vector<Argument>& arguments, const Node& node) {
    const OwnFunction& function = own_overload_of(overloads, arguments, node.span);
    put_in_list(function.schema, arguments);
    if (function.formula) return call_formula(function, arguments, node);
    const Bound bound = expr::bind(function.schema, arguments, node.span);
    if (!function.make) return algorithm(function.schema, bound, node);
    const Values values =
        with_operands(bound.operands, bound.values, [](const Tree& operand) { return operand->meta; });
    Options options(scope_.shapes ? Device::meta : Device::cpu);
    options.dtype = values.back().dtype();  // the last parameter of all factories
    const Tensor made = at(node.span, [&] { return function.make(values.data(), options); });
    return leaf(made, node.span, text_of(node.span));
  }
  static const OwnFunction& own_overload_of(std::span<const OwnFunction> overloads,
                                            const std::vector<Argument>& arguments, Span span) {
    std::vector<Schema> schemas;
    for (const OwnFunction& each : overloads) schemas.push_back(each.schema);
    return overloads[static_cast<std::size_t>(&overload_of(schemas, arguments, span) - schemas.data())];
  }
  /// `chain_matmul(a, b, c)`: tensors instead of a list of them.
  static void put_in_list(const Schema& function, std::vector<Argument>& arguments) {
    const bool takes_list = function.count == 1 && function.first[0].is_list();
    if (!takes_list || arguments.empty() || !std::holds_alternative<Tree>(arguments[0].value)) return;
    Trees trees;
    for (const Argument& each : arguments) trees.push_back(as_tree(each));
    arguments = {{"", std::move(trees), arguments[0].span}};
  }
  /// `tensor([[1, 2], [3, 4]], dtype=float32)`.
  Value numbers(const Node& node) {
    if (node.children.empty() || !node.keywords[0].empty()) fail("tensor() misses the numbers", node.span);
    Options options(scope_.shapes ? Device::meta : Device::cpu);
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      if (node.keywords[i] != "dtype") fail("the call is tensor(numbers, *, dtype=None)", ast_[node.children[i]].span);
      if (const Argument dtype = argument(node.children[i]); !is_none(dtype.value)) options.dtype = as_dtype(dtype);
    }
    NestedLists store;
    const NestedValues values = nested(node.children[0], store);
    const Tensor made = at(node.span, [&] { return tenon::tensor(values, options); });
    return leaf(made, node.span, text_of(node.span));
  }
  NestedValues nested(int index, NestedLists& store) {
    const Node& node = ast_[index];
    if (node.kind != Node::Kind::tuple) return number_of(as_number(argument(index)));
    std::vector<NestedValues> items;
    for (int child : node.children) items.push_back(nested(child, store));
    NestedValues list(0);
    list.count = static_cast<int64_t>(items.size());
    list.values = store.emplace_back(std::move(items)).data();
    return list;
  }
  static NestedValues number_of(Scalar number) {
    NestedValues value(0);
    value.number = number;
    return value;
  }
  Value call_formula(const OwnFunction& function, const std::vector<Argument>& arguments, const Node& node) {
    expr::bind(function.schema, arguments, node.span);  // checks them
    std::map<std::string, Value> locals;
    const std::vector<const Argument*> places = places_of(function.schema, arguments, node.span);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Parameter& parameter = function.schema.first[i];
      locals[std::string(shown_name(parameter))] = places[i] ? places[i]->value : fallback_of(parameter);
    }
    const std::string call = key();
    const Ast& formula = session_.formula(call, function.formula, ast_, node.span);
    return Evaluator(formula, scope_, session_, locals, call).run_formula().value;
  }
  Value fallback_of(const Parameter& parameter) {
    const Ast text = parse(parameter.fallback);
    Session session(session_.progress(), nullptr);
    return Evaluator(text, scope_, session, {}, "").run_formula().value;
  }
  /// Of the part that is being computed.
  const std::string& key() const { return keys_[static_cast<std::size_t>(current_)]; }

  /// Functions of shapes and dtypes, which compute nothing.
  std::optional<Value> of_shapes(std::vector<Argument>& arguments, const Node& node) {
    if (node.name == "broadcast_shapes" && !node.is_method) return broadcast(arguments, node);
    if (arguments.empty()) return std::nullopt;
    if (node.is_method && arguments.size() == 1)
      if (const std::optional<Dtype> dtype = dtype_of_cast(node.name)) {
        arguments.push_back({"", *dtype, node.span});
        return call_function(cast_function(), arguments, node);
      }
    const auto number = [&](int64_t value) { return Value(leaf(Scalar(value), node.span)); };
    if (arguments.size() > 2 || !(node.name == "numel" || node.name == "dim" || node.name == "size"))
      return std::nullopt;
    const Tensor meta = meta_of(arguments[0]);
    if (node.name == "numel") return number(meta.numel());
    if (node.name == "dim") return number(meta.dim());
    if (arguments.size() == 1) return meta.sizes().copy();
    return number(at(node.span, [&] { return meta.size(as_integer(arguments[1])); }));
  }
  static Tensor meta_of(const Argument& argument) {
    const Tree& tree = as_tree(argument);
    if (tree->is_number()) fail_argument(argument, "a tensor");
    return tree->meta;
  }
  static Value broadcast(const std::vector<Argument>& arguments, const Node& node) {
    std::vector<Dims> shapes;
    shapes.reserve(arguments.size());
    for (const Argument& each : arguments) shapes.push_back(as_dims(each));
    const std::vector<SizesView> views(shapes.begin(), shapes.end());
    return at(node.span, [&] { return broadcast_shapes(views.data(), static_cast<int64_t>(views.size())); });
  }
  /// The dtype to which `x.float()` casts.
  static std::optional<Dtype> dtype_of_cast(std::string_view name) {
    static constexpr std::pair<std::string_view, Dtype> kCasts[] = {
        {"bool", Dtype::bool_},     {"byte", Dtype::uint8},        {"char", Dtype::int8},
        {"short", Dtype::int16},    {"int", Dtype::int32},         {"long", Dtype::int64},
        {"half", Dtype::float16},   {"bfloat16", Dtype::bfloat16}, {"float", Dtype::float32},
        {"double", Dtype::float64}, {"cfloat", Dtype::complex64},  {"cdouble", Dtype::complex128},
    };
    for (const auto& [cast, dtype] : kCasts)
      if (cast == name) return dtype;
    return std::nullopt;
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
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!function.parameters()[i].is_list()) continue;
      List<Tensor> tensors;
      for (const Tree& tree : bound.list) tensors.push_back(computed(tree));
      values[i] = std::move(tensors);
    }
    const List<Tensor> results = with_operands_named(
        function.name, operands, [&] { return at(node.span, [&] { return results_of(function, values, operands); }); });
    session_.note({.tree = nullptr,
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
    return leaf(evaluate_elementwise(tree, session_.progress()), tree->span, text_of(tree->span));
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
    const bool is_fold = function.is_fold() && function.results == 1;
    const bool is_whole =
        function.results == 1 && function.count > 0 && bound.operands[0] &&  // such as max(x)
        std::none_of(bound.operands.begin() + 1, bound.operands.end(), [](const Tree& o) { return !!o; });
    if (!is_fold && !(is_whole && is_large_reduction({&function, bound.operands[0], bound.values})))
      return algorithm(function, bound, node);
    return reduction({&function, bound.operands[0], bound.values}, node);
  }
  bool is_large_reduction(const Reduction& reduction) const { return goes_by_blocks(reduction, session_.progress()); }
  Value reduction(const Reduction& reduction, const Node& node) {
    const Tensor expected = with_operands_named(reduction.function->name, {reduction.tree}, [&] {
      return at(node.span, [&] { return expr::meta_of(reduction); });
    });
    const bool is_large = goes_by_blocks(reduction, session_.progress());
    if (is_large && !key().empty()) {
      session_.defer(key(), reduction, node.span, text_of(node.span));
      throw Waiting{};
    }
    const Tensor result = at(node.span, [&] {
      return is_large ? evaluate_reductions({reduction}, session_.progress())[0]
                      : evaluate_reduction(reduction, session_.progress());
    });
    session_.note({.tree = reduction.tree,
                   .reduction = reduction.function,
                   .values = reduction.values,
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
    const Span receiver = arguments[0].span;
    arguments.erase(arguments.begin());
    const Tree operand = leaf(self, receiver, "");
    return with_operands_named(view.name, {operand}, [&] {
      return leaf(apply_view(view, self, arguments, node.span), node.span, text_of(node.span));
    });
  }

  /// An argument as a tensor: computes its tree.
  Tensor tensor(const Argument& argument) {
    const Tree& tree = as_tree(argument);
    if (tree->is_number()) fail_argument(argument, "a tensor");
    if (!tree->is_leaf()) note_elementwise(tree, argument.span);
    return evaluate_elementwise(tree, session_.progress());
  }

  Value attribute(const Node& node) {
    const Argument receiver = argument(node.children[0]);
    if (const Results* results = std::get_if<Results>(&receiver.value)) return result_named(*results, node);
    if (node.name == "shape") return meta_of(receiver).sizes().copy();
    if (node.name == "dtype") return meta_of(receiver).dtype();
    if (node.name == "ndim") return leaf(Scalar(meta_of(receiver).dim()), node.span);
    const Tensor self = tensor(receiver);
    const Tensor view = at(node.span, [&] { return view_attribute(node.name, self); });
    if (view.defined()) return leaf(view, node.span, text_of(node.span));
    ExpressionError error("unknown attribute '" + node.name + "'; known are T, mT, real, imag, shape, ndim and dtype",
                          node.span);
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
    if (!std::holds_alternative<Tree>(receiver.value)) return element(receiver, node);
    const Tensor self = tensor(receiver);
    std::vector<Index> items;
    std::deque<Tensor> places;
    for (std::size_t i = 1; i < node.children.size(); ++i) add_items(node.children[i], items, places);
    const Tensor part = with_operands_named("index", {leaf(self, receiver.span, "")}, [&] {
      return at(node.span, [&] { return self.index(items.data(), static_cast<int64_t>(items.size())); });
    });
    if (places.empty()) return leaf(part, node.span, text_of(node.span));  // a view
    session_.count_copy(part);
    return leaf(part, node.span, text_of(node.span));
  }
  /// An element of a list, or a slice of one: `x.shape[0]`, `x.shape[:2]`.
  Value element(const Argument& receiver, const Node& node) {
    if (node.children.size() != 2) fail("one index is expected", node.span);
    const Node& item = ast_[node.children[1]];
    const auto chosen = [&](const auto& list) {
      const auto count = static_cast<int64_t>(list.size());
      const int64_t place = as_integer(argument(node.children[1]));
      if (place < -count || place >= count) fail("there is no such place in " + describe(receiver.value), node.span);
      return list.begin()[place < 0 ? place + count : place];  // exact: an index
    };
    if (const Trees* trees = std::get_if<Trees>(&receiver.value)) return chosen(*trees);
    if (const Floats* floats = std::get_if<Floats>(&receiver.value)) return leaf(Scalar(chosen(*floats)), node.span);
    const Dims* dims = std::get_if<Dims>(&receiver.value);
    if (!dims) fail_argument(receiver, "a tensor or a list");
    if (item.kind != Node::Kind::slice) return leaf(Scalar(chosen(*dims)), node.span);
    const Tensor part = at(node.span, [&] { return tensor_of(*dims, Device::cpu).index({slice(item)}); });
    Dims kept;
    for (int64_t i = 0; i < part.numel(); ++i) kept.push_back(part.select(0, i).item<int64_t>());
    return kept;
  }
  Slice slice(const Node& node) {
    const auto bound = [&](int child) { return child < 0 ? std::optional<int64_t>() : slice_bound(child); };
    return {bound(node.children[0]), bound(node.children[1]), bound(node.children[2]).value_or(1)};
  }
  /// `places`: holds the tensors among the items.
  void add_items(int index, std::vector<Index>& items, std::deque<Tensor>& places) {
    const Node& node = ast_[index];
    if (node.kind == Node::Kind::slice) {
      items.emplace_back(slice(node));
      return;
    }
    const Argument item = argument(index);
    if (is_none(item.value)) {
      items.emplace_back(None);
    } else if (std::holds_alternative<EllipsisValue>(item.value)) {
      items.emplace_back(Ellipsis);
    } else if (const Dims* dims = std::get_if<Dims>(&item.value)) {
      places.push_back(tensor_of(*dims, scope_.shapes ? Device::meta : Device::cpu));
      items.emplace_back(places.back());
    } else if (const Tree& tree = as_tree(item); !tree->is_number()) {
      places.push_back(tensor(item));
      items.emplace_back(places.back());
    } else if (tree->number.is_boolean()) {
      items.emplace_back(tree->number.as_bool());
    } else {
      items.emplace_back(as_integer(item));
    }
  }
  static Tensor tensor_of(const Dims& dims, Device device) {
    const Tensor made = empty({dims.size()}, Options(Dtype::int64, device));
    if (!made.is_meta()) std::copy(dims.begin(), dims.end(), static_cast<int64_t*>(made.data_ptr()));
    return made;
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

  /// Results of a map, of which nothing reads only one, are computed at once.
  void note_results(const Results& results) {
    const TreeNode& first = *results.trees[0];
    if (!first.is_leaf()) algorithm(*results.function, {first.operands, first.values}, ast_[ast_.roots[0]]);
  }
  void note_elementwise(const Tree& tree, Span span) {
    session_.note({.tree = tree, .results = {tree->meta}, .span = span});
  }
  /// Whether a value was computed by a step that is noted.
  bool is_noted(const Tree& tree) const {
    return tree->is_leaf() && !tree->is_number() &&
           std::any_of(session_.steps()->list.begin(), session_.steps()->list.end(),
                       [&](const Step& step) { return step.gives(tree->tensor); });
  }
  void note_failure(const std::vector<Tree>& operands) const {
    if (!session_.steps()) return;
    for (const Tree& operand : operands)
      if (operand) session_.steps()->failed.push_back({text_of(operand->span), operand, operand->span});
  }

  const Ast& ast_;
  const Scope& scope_;
  Session& session_;
  const std::map<std::string, Value>* locals_ = nullptr;
  std::vector<std::string> keys_;  // of each node; empty: its value is not kept
  int current_ = -1;               // the node that is being computed
};

}  // namespace

Planned plan_step(const Step& step, const ProgressCallback& progress) {
  if (step.algorithm) return plan_algorithm(*step.algorithm, step.values);
  return step.reduction ? plan_reduction(Reduction{step.reduction, step.tree, step.values}, progress)
                        : plan_elementwise(step.tree, progress);
}

Tree tree_of(const Argument& value) {
  if (const Tree* tree = std::get_if<Tree>(&value.value)) return *tree;
  throw ExpressionError("the expression is " + describe(value.value) + ", not a tensor or a number", value.span);
}

std::vector<Argument> evaluate(const Ast& ast, const Scope& scope, Session& session) {
  return Evaluator(ast, scope, session).run();
}

Tree evaluate(const Ast& ast, const Scope& scope, ProgressCallback& progress) {
  Session session(progress, nullptr);
  return tree_of(evaluate(ast, scope, session)[0]);
}

Traffic note_steps(const Ast& ast, const Scope& scope, ProgressCallback& progress, Steps& steps) {
  Session session(progress, &steps);
  Evaluator evaluator(ast, scope, session);
  evaluator.note_last(evaluator.run()[0]);
  return session.traffic();
}

}  // namespace tenon::expr
