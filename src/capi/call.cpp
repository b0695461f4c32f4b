// capi: tenon_call. Takes a name and arguments; finds the signature that they fit and calls it.
#include <algorithm>
#include <optional>

#include "capi/functions.h"
#include "capi/handle.h"

namespace tenon::capi {
namespace {

constexpr const char* kCall = "tenon_call";

/// The arguments of a call, without `out`.
struct Arguments {
  std::vector<const tenon_value*> positional, named;
  std::optional<List<Tensor>> out;
};

List<Tensor> tensors_of(const tenon_value& value) {
  List<Tensor> tensors;
  for (const tenon_tensor* handle : list_of(value.as.tensors, value.count, kCall, "tensors"))
    tensors.push_back(tensor_of(handle, kCall, "a tensor of a list"));
  return tensors;
}

List<Tensor> outs_of(const tenon_value& value) {
  if (value.kind == TENON_KIND_TENSORS) return tensors_of(value);
  if (value.kind == TENON_KIND_TENSOR) return {tensor_of(value.as.tensor, kCall)};
  throw TypeError("tenon_call: out must be a tensor or a list of tensors");
}

Arguments sorted(std::span<const tenon_value> values) {
  Arguments arguments;
  for (const tenon_value& value : values) {
    if (!value.name) {
      if (!arguments.named.empty() || arguments.out)
        throw TypeError("tenon_call: an argument without a name follows one with a name");
      arguments.positional.push_back(&value);
    } else if (std::string_view(value.name) != "out") {
      arguments.named.push_back(&value);
    } else if (value.kind != TENON_KIND_NONE) {
      arguments.out = outs_of(value);
    }
  }
  return arguments;
}

bool is_number(int32_t kind) noexcept { return kind >= TENON_KIND_BOOL && kind <= TENON_KIND_COMPLEX; }

/// Whether a parameter takes an argument of this kind.
bool fits(const Parameter& parameter, int32_t kind) noexcept {
  const std::string_view type = parameter.type;
  if (kind == TENON_KIND_NONE) return parameter.fallback || type.ends_with('?');
  if (parameter.is_list()) return kind == TENON_KIND_TENSORS;
  if (parameter.is_operand()) return kind == TENON_KIND_TENSOR || (parameter.takes_numbers && is_number(kind));
  if (type.starts_with("ScalarType")) return kind == TENON_KIND_DTYPE;
  if (type.starts_with("Scalar")) return is_number(kind);
  if (type.starts_with("int[")) {
    const bool may_be_one = type.starts_with("int[1]") || type == "int[]?";
    return kind == TENON_KIND_INTS || (may_be_one && kind == TENON_KIND_INT);
  }
  if (type.starts_with("int")) return kind == TENON_KIND_INT;
  if (type.starts_with("float[")) return kind == TENON_KIND_INTS || kind == TENON_KIND_FLOATS;
  if (type.starts_with("float")) return is_number(kind) && kind != TENON_KIND_COMPLEX;
  if (type.starts_with("bool")) return kind == TENON_KIND_BOOL;
  return type.starts_with("str") && kind == TENON_KIND_STRING;
}

/// The place of the parameter of that name, which the shell and Python call `input` where it is `self`; -1: none.
int place_of(std::span<const Parameter> parameters, std::string_view name) noexcept {
  if (name == "input" && !parameters.empty() && std::string_view(parameters[0].name) == "self") return 0;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (name == parameters[i].name) return static_cast<int>(i);
  return -1;
}

/// The arguments in the order of the parameters, null for those that are left out. Empty if they do not fit.
std::optional<std::vector<const tenon_value*>> arguments_of(const Signature& signature, const Arguments& arguments) {
  const std::span<const Parameter> parameters = signature.parameters;
  std::vector<const tenon_value*> places(parameters.size());
  if (arguments.positional.size() > parameters.size()) return std::nullopt;
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    if (parameters[i].keyword_only) return std::nullopt;
    places[i] = arguments.positional[i];
  }
  for (const tenon_value* argument : arguments.named) {
    const int place = place_of(parameters, argument->name);
    if (place < 0 || places[static_cast<std::size_t>(place)]) return std::nullopt;
    places[static_cast<std::size_t>(place)] = argument;
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!fits(parameters[i], places[i] ? places[i]->kind : int32_t{TENON_KIND_NONE})) return std::nullopt;
  return places;
}

Value value_of(const tenon_value& value) {
  switch (value.kind) {
    case TENON_KIND_NONE:
      return {};
    case TENON_KIND_TENSOR:
      return tensor_of(value.as.tensor, kCall);
    case TENON_KIND_BOOL:
      return value.as.integer != 0;
    case TENON_KIND_INT:
      return value.as.integer;
    case TENON_KIND_FLOAT:
      return value.as.floating;
    case TENON_KIND_COMPLEX:
      return Scalar(Complex128{value.as.parts[0], value.as.parts[1]});
    case TENON_KIND_STRING:
      check_given(value.as.string, kCall, "a string");
      return value.as.string;
    case TENON_KIND_DTYPE:
      return dtype_of(value.as.integer, kCall);
    case TENON_KIND_INTS:
      return SizesView(list_of(value.as.integers, value.count, kCall, "integers"));
    case TENON_KIND_FLOATS: {
      const std::span<const double> floats = list_of(value.as.floats, value.count, kCall, "numbers");
      return List<double>(floats.begin(), floats.end());
    }
    case TENON_KIND_TENSORS:
      return tensors_of(value);
    default:
      throw ValueError("tenon_call: no kind of value is " + std::to_string(value.kind));
  }
}

enum class Form : uint8_t { function, inplace, out };

bool has_form(const Signature& signature, Form form) noexcept {
  if (form == Form::function) return true;
  if (!signature.schema) return false;
  return form == Form::inplace ? signature.schema->inplace != nullptr : signature.schema->out != nullptr;
}

[[noreturn]] void fail_fit(std::string_view op, const std::vector<Signature>& signatures, Form form) {
  TypeError error("tenon_call: the arguments fit no signature of " + std::string(op) +
                  (form == Form::out ? " that takes out" : ""));
  for (const Signature& signature : signatures) error.add_note(signature.text);
  throw error;
}

List<Tensor> run(const Signature& signature, std::span<const Value> values, Form form, Arguments& arguments) {
  if (signature.function) return signature.function(values);
  const Schema& schema = *signature.schema;
  if (form == Form::function) return schema.function(values.data());
  if (form == Form::inplace) {
    schema.inplace(values.data());
    return {values[static_cast<std::size_t>(schema.place_of("self"))].tensor()};
  }
  List<Tensor>& outs = *arguments.out;
  if (static_cast<int>(outs.size()) != schema.results)
    throw ValueError(std::string("tenon_call: out of ") + schema.name + " holds " + std::to_string(schema.results) +
                     (schema.results == 1 ? " tensor, not " : " tensors, not ") + std::to_string(outs.size()));
  schema.out(values.data(), outs.data());
  return outs;
}

List<Tensor> call(std::string_view op, Arguments arguments) {
  Form form = arguments.out ? Form::out : Form::function;
  std::vector<Signature> signatures = signatures_of(op);
  if (signatures.empty() && op.ends_with('_')) {
    signatures = signatures_of(op.substr(0, op.size() - 1));
    std::erase_if(signatures, [](const Signature& each) { return !has_form(each, Form::inplace); });
    form = Form::inplace;
  }
  if (signatures.empty()) throw ValueError("tenon_call: there is no op '" + std::string(op) + "'");
  if (form == Form::inplace && arguments.out) throw TypeError("tenon_call: " + std::string(op) + " takes no out");
  for (const Signature& signature : signatures) {
    if (!has_form(signature, form)) continue;
    const auto given = arguments_of(signature, arguments);
    if (!given) continue;
    std::vector<Value> values;
    values.reserve(given->size());
    for (const tenon_value* value : *given) values.push_back(value ? value_of(*value) : Value());
    return run(signature, values, form, arguments);
  }
  fail_fit(op, signatures, form);
}

void store(const List<Tensor>& tensors, const char* op, tenon_tensor** results, int64_t capacity, int64_t* count) {
  const int64_t size = static_cast<int64_t>(tensors.size());
  if (count) *count = size;
  if (!results) return;
  if (size > capacity)
    throw ValueError(std::string("tenon_call: ") + op + " gives " + std::to_string(size) +
                     " results, and there is room for " + std::to_string(capacity));
  std::transform(tensors.begin(), tensors.end(), results, handle_of);
}

}  // namespace
}  // namespace tenon::capi

tenon_status tenon_call(const char* op, const tenon_value* arguments, int64_t count, tenon_tensor** results,
                        int64_t capacity, int64_t* result_count) {
  using namespace tenon::capi;
  return guarded([&] {
    if (result_count) *result_count = 0;
    check_given(op, kCall, "the name of the op");
    const auto room = list_of(results, capacity, kCall, "results");
    std::fill_n(results, room.size(), nullptr);
    store(call(op, sorted(list_of(arguments, count, kCall, "arguments"))), op, results, capacity, result_count);
  });
}
