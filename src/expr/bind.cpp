#include "expr/bind.h"

#include <algorithm>
#include <string_view>

namespace tenon::expr {
namespace {

/// The argument of each parameter; nullptr if none is given.
class Slots {
 public:
  Slots(const Schema& function, const std::vector<Argument>& arguments, Span span)
      : function_(function), slots_(static_cast<std::size_t>(function.count)) {
    for (std::size_t i = 0; i < arguments.size(); ++i) place(arguments[i], static_cast<int>(i));
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (!slots_[i] && !parameters()[i].fallback)
        throw ExpressionError(call_text() + " misses the argument '" + name(i) + "'", span);
  }
  const Argument* operator[](std::size_t place) const { return slots_[place]; }
  const std::vector<const Argument*>& all() const { return slots_; }

 private:
  std::span<const Parameter> parameters() const { return function_.parameters(); }
  std::string name(std::size_t place) const { return std::string(shown_name(parameters()[place])); }
  std::string call_text() const { return std::string(function_.name) + "()"; }
  int positional() const {
    return static_cast<int>(std::count_if(parameters().begin(), parameters().end(),
                                          [](const Parameter& parameter) { return !parameter.keyword_only; }));
  }
  int place_of(const Argument& argument, int position) const {
    if (argument.keyword.empty()) {
      if (position < positional()) return position;
      throw ExpressionError(call_text() + " takes at most " + std::to_string(positional()) + " positional arguments",
                            argument.span);
    }
    for (int i = 0; i < function_.count; ++i)
      if (argument.keyword == shown_name(function_.first[i])) return i;
    throw ExpressionError(call_text() + " has no argument '" + argument.keyword + "'; it has " + all_names(),
                          argument.span);
  }
  std::string all_names() const {
    std::string names;
    for (std::size_t i = 0; i < slots_.size(); ++i) names += (i ? ", " : "") + name(i);
    return names;
  }
  void place(const Argument& argument, int position) {
    const auto place = static_cast<std::size_t>(place_of(argument, position));
    if (slots_[place]) throw ExpressionError(call_text() + " is given '" + name(place) + "' twice", argument.span);
    slots_[place] = &argument;
  }

  const Schema& function_;
  std::vector<const Argument*> slots_;
};

Tree operand_of(const Parameter& parameter, const Argument& argument) {
  if (is_none(argument.value) && std::string_view(parameter.type).ends_with("?")) return nullptr;
  const Tree& tree = as_tree(argument);
  if (tree->is_number() && !parameter.takes_numbers) fail_argument(argument, "a tensor");
  return tree;
}

tenon::Value value_of(const Parameter& parameter, const Argument& argument) {
  if (is_none(argument.value)) return {};
  const std::string_view type = parameter.type;
  if (type.starts_with("ScalarType")) return as_dtype(argument);
  if (type.starts_with("Scalar")) return as_number(argument);
  if (type.starts_with("int[")) return as_dims(argument);
  if (type.starts_with("int")) return as_integer(argument);
  if (type.starts_with("float[")) return as_floats(argument);
  if (type.starts_with("float")) return as_number(argument);
  if (type.starts_with("bool")) return as_boolean(argument);
  return as_string(argument);
}

/// `repeat(x, 2, 3)`: integers that no parameter is left for join the list of the last one, as in PyTorch's methods.
std::vector<Argument> with_list(const Schema& function, std::vector<Argument> arguments) {
  const auto parameters = function.parameters();
  const auto places = static_cast<std::size_t>(std::count_if(
      parameters.begin(), parameters.end(), [](const Parameter& parameter) { return !parameter.keyword_only; }));
  const auto given = static_cast<std::size_t>(std::count_if(
      arguments.begin(), arguments.end(), [](const Argument& argument) { return argument.keyword.empty(); }));
  if (places == 0 || given <= places || std::string_view(parameters[places - 1].type) != "int[]") return arguments;
  Dims dims;
  for (std::size_t i = places - 1; i < given; ++i) dims.push_back(as_integer(arguments[i]));
  const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(places);
  arguments[places - 1].value = std::move(dims);
  arguments.erase(first, first + static_cast<std::ptrdiff_t>(given - places));
  return arguments;
}

}  // namespace

Bound bind(const Schema& function, const std::vector<Argument>& given, Span span) {
  const std::vector<Argument> arguments = with_list(function, given);
  const Slots slots(function, arguments, span);
  const auto count = static_cast<std::size_t>(function.count);
  Bound bound{std::vector<Tree>(count), Values(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const Parameter& parameter = function.parameters()[i];
    if (!slots[i]) continue;
    if (parameter.is_operand())
      bound.operands[i] = operand_of(parameter, *slots[i]);
    else if (parameter.is_list())
      bound.list = as_trees(*slots[i]);
    else
      bound.values[i] = value_of(parameter, *slots[i]);
  }
  return bound;
}

std::vector<const Argument*> places_of(const Schema& function, const std::vector<Argument>& arguments, Span span) {
  return Slots(function, arguments, span).all();
}

const Schema& overload_of(std::span<const Schema> overloads, const std::vector<Argument>& arguments, Span span) {
  const auto takes = [&](const Schema& function) {
    try {
      bind(function, arguments, span);
      return true;
    } catch (const ExpressionError&) {
      return false;
    }
  };
  const auto rest = overloads.first(overloads.size() - 1);
  const auto found = std::find_if(rest.begin(), rest.end(), takes);
  return found == rest.end() ? overloads.back() : *found;
}

}  // namespace tenon::expr
