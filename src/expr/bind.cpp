#include "expr/bind.h"

#include <string_view>

namespace tenon::expr {
namespace {

/// The argument of each parameter of a signature; nullptr where none is given.
class Slots {
 public:
  Slots(const Function& function, const std::vector<Argument>& arguments, Span span)
      : function_(function), signature_(signature_of(function.kind)), span_(span) {
    for (std::size_t i = 0; i < arguments.size(); ++i) place(arguments[i], static_cast<int>(i));
    for (int slot = 0; slot < signature_.required; ++slot)
      if (!slots_[slot])
        throw ExpressionError(call_text() + " misses the argument '" + signature_.names[slot] + "'", span_);
  }
  const Argument* operator[](std::string_view name) const {
    for (int slot = 0; slot < signature_.count; ++slot)
      if (name == signature_.names[slot]) return slots_[slot];
    return nullptr;
  }
  const Argument* operand(int slot) const { return slot < signature_.operands ? slots_[slot] : nullptr; }

 private:
  std::string call_text() const { return std::string(function_.name) + "()"; }
  int slot_of(const Argument& argument, int position) const {
    if (argument.keyword.empty()) {
      if (position < signature_.positional) return position;
      throw ExpressionError(
          call_text() + " takes at most " + std::to_string(signature_.positional) + " positional arguments",
          argument.span);
    }
    for (int slot = 0; slot < signature_.count; ++slot)
      if (argument.keyword == signature_.names[slot]) return slot;
    throw ExpressionError(call_text() + " has no argument '" + argument.keyword + "'; it has " + all_names(),
                          argument.span);
  }
  std::string all_names() const {
    std::string names;
    for (int slot = 0; slot < signature_.count; ++slot)
      names += (slot ? ", " : "") + std::string(signature_.names[slot]);
    return names;
  }
  void place(const Argument& argument, int position) {
    const int slot = slot_of(argument, position);
    if (slots_[slot])
      throw ExpressionError(call_text() + " is given '" + signature_.names[slot] + "' twice", argument.span);
    slots_[slot] = &argument;
  }

  const Function& function_;
  const Signature& signature_;
  Span span_;
  const Argument* slots_[4] = {};
};

/// Where the C++ signature takes a tensor and no number.
bool needs_tensor(FunctionKind kind, int operand) {
  return operand == 0 && kind != FunctionKind::binary && kind != FunctionKind::binary_alpha &&
         kind != FunctionKind::division;
}

Tree operand_of(const Function& function, const Argument& argument, int position) {
  if (position > 0 && is_none(argument.value) && function.kind == FunctionKind::clamp) return nullptr;
  const Tree& tree = as_tree(argument);
  if (tree->is_number() && needs_tensor(function.kind, position)) fail_argument(argument, "a tensor");
  return tree;
}

Parameters parameters_of(const Slots& slots) {
  Parameters parameters;
  const auto given = [&](std::string_view name) {
    const Argument* argument = slots[name];
    return argument && !is_none(argument->value) ? argument : nullptr;
  };
  if (const Argument* alpha = given("alpha")) parameters.alpha = as_number(*alpha);
  if (const Argument* mode = given("rounding_mode")) parameters.rounding_mode = as_string(*mode);
  if (const Argument* dim = given("dim")) parameters.dims = as_dims(*dim);
  if (const Argument* keepdim = given("keepdim")) parameters.keepdim = as_boolean(*keepdim);
  if (const Argument* dtype = given("dtype")) parameters.dtype = as_dtype(*dtype);
  return parameters;
}

}  // namespace

Bound bind(const Function& function, const std::vector<Argument>& arguments, Span span) {
  const Slots slots(function, arguments, span);
  Bound bound;
  for (int position = 0; position < Function::kMaxOperands; ++position)
    if (const Argument* argument = slots.operand(position))
      bound.operands[position] = operand_of(function, *argument, position);
  bound.parameters = parameters_of(slots);
  return bound;
}

}  // namespace tenon::expr
