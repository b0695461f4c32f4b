#include "expr/functions.h"

#include <algorithm>

#include "expr/own_functions.h"
#include "expr/spelling.h"
#include "ops/row.h"

namespace tenon::expr {
namespace {

constexpr Parameter kCastParameters[] = {{"self", "Tensor", nullptr, false, false},
                                         {"dtype", "ScalarType", nullptr, false, false}};
constexpr Schema kCast{
    "to",
    "to",
    "to(Tensor self, ScalarType dtype) -> Tensor",
    "The elements in another dtype.",
    "map",
    "",
    -1,
    kCastParameters,
    2,
    1,
    [](const tenon::Value* values) -> List<Tensor> { return {values[0].tensor().to(*values[1].dtype())}; },
    nullptr,
    [](const tenon::Value* values, Tensor* out) { out->copy_(values[0].tensor()); },
    nullptr};

}  // namespace

const Schema* find_function(std::string_view name) noexcept { return find_schema(name); }

std::span<const Schema> find_functions(std::string_view name) noexcept {
  const auto named = [name](const Schema& schema) { return name == schema.name; };
  const std::span<const Schema> all = schemas();  // overloads are neighbours
  const auto first = std::find_if(all.begin(), all.end(), named);
  return {first, std::find_if_not(first, all.end(), named)};
}

const Schema* find_operator(std::string_view symbol) noexcept {
  for (const Schema& schema : schemas())
    if (symbol == row_of(static_cast<Op>(schema.op)).symbol && schema.count > 1) return &schema;
  return nullptr;
}

const Schema& cast_function() noexcept { return kCast; }

std::string nearest_function(std::string_view name) {
  std::vector<const char*> names;
  for (const Schema& schema : schemas()) names.push_back(schema.name);
  for (const OwnFunction& own : own_functions()) names.push_back(own.schema.name);
  return nearest_name(name, names);
}

std::string_view shown_name(const Parameter& parameter) noexcept {
  return std::string_view(parameter.name) == "self" ? "input" : parameter.name;
}

Tensor call(const Schema& function, const Values& values, int result) {
  List<Tensor> results = function.function(values.data());
  return std::move(results[static_cast<std::size_t>(result)]);
}

namespace {

/// The argument of that name; an empty value if the op has no such parameter.
const tenon::Value& argument(const Schema& function, const Values& values, std::string_view name) {
  static const tenon::Value none{};
  const int place = function.place_of(name);
  return place < 0 ? none : values[static_cast<std::size_t>(place)];
}

}  // namespace

Dims dims_of(const Schema& function, const Values& values) {
  return argument(function, values, "dim").dims_arg().view().copy();
}

bool keeps_dims(const Schema& function, const Values& values) {
  return argument(function, values, "keepdim").boolean(false);
}

}  // namespace tenon::expr
