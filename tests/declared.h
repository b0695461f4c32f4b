// Calls of every declared op, made from its schema, so that new ops are included.
#pragma once
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace tenon::declared {

using Values = std::vector<Value>;

inline bool is_mask(const Parameter& parameter) { return std::string_view(parameter.values) == "bool"; }
/// Whether it is a tensor of places along a dim.
inline bool is_index(const Parameter& parameter) { return std::string_view(parameter.values) == "int64"; }

/// A tensor as the argument of a parameter, in the declared dtype. Its places are along a dim of size 2.
inline Tensor as_operand(const Parameter& parameter, const Tensor& tensor) {
  // A polynomial takes as many steps as its degree says.
  if (std::string_view(parameter.values) == "degree") return tensor.to(float64).clamp({}, 8).to(tensor.dtype());
  if (is_mask(parameter)) return ne(tensor, 0);
  return is_index(parameter) ? (tensor > 1).to(int64) : tensor;
}

/// "1,2" as a list of integers.
inline Dims list_of(const std::string& word) {
  Dims list;
  std::istringstream numbers(word);
  for (std::string number; std::getline(numbers, number, ',');) list.push_back(std::stoll(number));
  return list;
}
/// A declared word, number, list of integers or truth.
inline Value value_of(const Parameter& parameter, const std::string& word) {
  if (std::string_view(parameter.type).starts_with("bool")) return word == "True";
  if (std::string_view(parameter.type).starts_with("str")) return word;
  if (std::string_view(parameter.type).starts_with("int[")) return list_of(word);
  const bool is_integer = word.find_first_not_of("-0123456789") == std::string::npos;
  return is_integer ? Value(std::stoll(word)) : Value(std::strtod(word.c_str(), nullptr));
}
/// The values that the op's block declares for a parameter (`values` in ops/row.h).
inline Values declared_values(const Parameter& parameter) {
  Values values;
  std::istringstream words(parameter.values);
  for (std::string word; words >> word;) values.push_back(value_of(parameter, word));
  return values;
}

/// Values to try for a parameter that is not an operand.
inline Values samples(const Parameter& parameter) {
  if (*parameter.values) return declared_values(parameter);
  const std::string_view type = parameter.type;
  if (type == "Tensor[]") return {List<Tensor>{ones({3}), ones({3})}};
  if (type.starts_with("int[")) return {Dims{0}, Dims{1}, Dims{0, 1}};
  if (type.starts_with("float")) return {0.5};
  if (type.starts_with("bool")) return {true};
  if (type.starts_with("int")) return {1};
  if (type.starts_with("ScalarType")) return {float64};
  if (type.starts_with("Scalar")) return {2};
  throw Error(std::string("no values are known for an argument of type ") + parameter.type + ": tests/declared.h");
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
