// Derivatives at ties, bounds, 0, infinities and NaN are PyTorch's (spec/cases/gradients.json).
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include "spec.h"

namespace {

using namespace spec;
using tenon::SizesView;
using Operands = std::vector<Tensor>;

double number_of(const json& value) {
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr) : value.get<double>();
}

using Call = std::function<Tensor(const Operands&)>;

/// An argument that is not an operand.
tenon::Value value_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_string()) return value.get_ref<const std::string&>().c_str();
  return value.get<double>();
}

/// The call of a declared op: maps with all operands, folds along dim 0.
Call call_of(std::string name, const json& parameters) {
  constexpr std::string_view kFunctional = "nn.functional.";
  if (name.starts_with(kFunctional)) name.erase(0, kFunctional.size());
  if (name.starts_with("special.")) name[7] = '_';
  static const std::map<std::string, Call> forms = {
      {"div[trunc]", [](const Operands& x) { return tenon::div(x[0], x[1], "trunc"); }},
      {"div[floor]", [](const Operands& x) { return tenon::div(x[0], x[1], "floor"); }},
      {"where", [](const Operands& x) { return tenon::where(x[0].to(tenon::bool_), x[1], x[2]); }},
      {"polygamma", [](const Operands& x) { return tenon::polygamma(2, x[0]); }},
  };
  if (const auto form = forms.find(name); form != forms.end()) return form->second;
  const tenon::Schema* schema = tenon::find_schema(name);
  if (!schema || !(schema->is_map() || schema->is_fold())) return nullptr;
  return [schema, &parameters](const Operands& x) {
    std::vector<tenon::Value> values(static_cast<std::size_t>(schema->count));
    for (const auto& [parameter, value] : parameters.items())
      if (const int place = schema->place_of(parameter.c_str()); place >= 0)
        values[static_cast<std::size_t>(place)] = value_of(value);
    for (std::size_t i = 0; i < x.size(); ++i) values[i] = x[i];
    if (schema->is_fold()) values[static_cast<std::size_t>(schema->place_of("dim"))] = 0;
    return schema->function(values.data())[0];
  };
}

/// The points along dim `at` of a grid.
Tensor along(const json& points, std::size_t at, std::size_t dims) {
  Dims sizes(static_cast<int64_t>(dims), 1);
  sizes[static_cast<int64_t>(at)] = static_cast<int64_t>(points.size());
  Tensor values = tenon::empty(sizes, tenon::float64);
  for (std::size_t i = 0; i < points.size(); ++i) values.data<double>()[i] = number_of(points[i]);
  return values;
}

std::string text_of(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value == 0 ? 0.0 : value);
  return std::isnan(value) ? "nan" : text;
}
/// Compares numbers; the specification has ten digits. PyTorch's factors of celu and hardsigmoid are float32.
std::string same_or_text(const std::string& name, double got, double want) {
  const double error = name == "celu" || name == "nn.functional.hardsigmoid" ? 1e-7 : 1e-9;
  return std::abs(got - want) <= error * std::abs(want) ? text_of(want) : text_of(got);
}

TEST(SpecGradients, AtSpecialPoints) {
  TENON_NEEDS_SPEC();
  Rows rows(AtLeast{2432});
  for (const json& row : read_cases("gradients")) {
    const Call call = call_of(row[0].get<std::string>(), row[1]);
    if (!call) continue;  // not declared
    const std::size_t count = row[2].size();
    Operands operands;
    Dims grid;
    for (std::size_t i = 0; i < count; ++i) grid.push_back(static_cast<int64_t>(row[2][i].size()));
    // Copied after expanding, so that every point has its own gradient.
    for (std::size_t i = 0; i < count; ++i) {
      operands.push_back(along(row[2][i], i, count).expand(grid).clone(tenon::MemoryFormat::contiguous));
      if (!row[4][i].is_null()) operands[i].requires_grad_();
    }
    call(operands).sum().backward();
    for (std::size_t i = 0; i < count; ++i) {
      if (row[4][i].is_null()) continue;
      const Tensor grad = operands[i].grad();
      for (std::size_t point = 0; point < row[4][i].size(); ++point) {
        // PyTorch's derivative subtracts infinities (docs/differences.md).
        if (row[0] == "special.log_ndtr" && row[2][0][point] == "-inf") continue;
        rows.same(
            row[0].get<std::string>() + " by argument " + std::to_string(i) + " at point " + std::to_string(point),
            text_of(number_of(row[4][i][point])),
            grad.defined()
                ? same_or_text(row[0].get<std::string>(), grad.data<double>()[point], number_of(row[4][i][point]))
                : "no gradient");
      }
    }
  }
}

}  // namespace
