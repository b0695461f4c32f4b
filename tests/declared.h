// Calls of every declared op, made from its schema, so that new ops are included.
#pragma once
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace tenon::declared {

using Values = std::vector<Value>;

/// A tensor as the argument of a parameter: a condition or a mask is bool, an index selects along a dim of size 2.
inline Tensor as_operand(const Parameter& parameter, const Tensor& tensor) {
  const std::string_view name = parameter.name;
  if (name == "condition" || name == "mask") return ne(tensor, 0);
  if (name == "index" || name == "indices") return (tensor > 1).to(int64);
  return tensor;
}

/// Values to try for a parameter that is not an operand.
inline Values samples(const Parameter& parameter) {
  const std::string_view type = parameter.type, name = parameter.name;
  if (type == "Tensor[]") return {List<Tensor>{ones({3}), ones({3})}};
  if (type.starts_with("int[")) return {Dims{0}, Dims{1}, Dims{0, 1}};
  if (type.starts_with("float")) return {0.5};
  if (type.starts_with("bool")) return {true};
  if (type.starts_with("int")) return {1};
  if (type.starts_with("ScalarType")) return {float64};
  if (name == "ord") return {1, 0, 3, 0.5, -1, HUGE_VAL, -HUGE_VAL};
  if (type.starts_with("Scalar")) return {2};
  if (name == "rounding_mode") return {"floor", "trunc"};
  if (name == "reduce") return {"add", "multiply"};
  if (name == "indexing") return {"ij", "xy"};
  if (type == "str" && name == "p") return {"fro"};
  throw Error(std::string("no value for a ") + parameter.type + " " + parameter.name + ": tests/declared.h");
}

/// The sizes of operand `number` of a product ("ij,jk"); `size` gives the size of a letter. `otherwise` for an op whose
/// operands broadcast.
inline Dims sizes_of(
    const Schema& schema, int number, SizesView otherwise,
    const std::function<int64_t(char)>& size = [](char) { return 2; }) {
  std::string_view shapes = schema.shapes;
  if (shapes.empty()) return otherwise.copy();
  for (; number > 0; --number) shapes.remove_prefix(shapes.find(',') + 1);
  Dims sizes;
  for (const char letter : shapes.substr(0, shapes.find(',')))
    if (letter != '*') sizes.push_back(size(letter));
  return sizes;
}
/// The number of operands before a parameter.
inline int operand_number(const Schema& schema, int place) {
  int number = 0;
  for (int i = 0; i < place; ++i) number += schema.first[i].is_operand();
  return number;
}

/// A call: a value for each parameter, and the text of its other arguments.
struct Call {
  Values values;
  std::string says;
};

/// The calls to try: with only the required arguments, and with each optional one. `operand(i)` gives operand i.
inline std::vector<Call> calls(const Schema& schema, const std::function<Value(int)>& operand) {
  const auto count = static_cast<std::size_t>(schema.count);
  Call least{Values(count), ""};
  for (std::size_t i = 0; i < count; ++i) {
    const Parameter& parameter = schema.parameters()[i];
    if (parameter.fallback) continue;
    least.values[i] = parameter.is_operand() ? operand(static_cast<int>(i)) : samples(parameter)[0];
  }
  std::vector<Call> all{least};
  for (std::size_t i = 0; i < count; ++i) {
    const Parameter& parameter = schema.parameters()[i];
    if (!parameter.fallback) continue;
    for (const Value& value : parameter.is_operand() ? Values{operand(static_cast<int>(i))} : samples(parameter)) {
      all.push_back(least);
      all.back().values[i] = value;
      all.back().says = std::string(" with ") + parameter.name;
    }
  }
  return all;
}

}  // namespace tenon::declared
