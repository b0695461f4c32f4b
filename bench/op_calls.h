// bench: takes a declared op; gives the call of it that is timed. Arguments are drawn as the tests draw them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "../tests/declared.h"

namespace bench {

/// "ops/NAME"; of the further overloads of a name the block's. None: another name of an op, or a form that refuses
/// whatever it is given.
inline std::optional<std::string> line_of(const tenon::Schema& schema) {
  const std::string name = schema.name, block = schema.block;
  const bool is_alias = block != name && !block.starts_with(name + "_");
  if (is_alias || schema.place_of("out_dtype") >= 0) return std::nullopt;
  return "ops/" + (tenon::find_schema(schema.name) == &schema ? name : block);
}

/// What all operands are; those of a product are 100 in every dim.
struct OperandKind {
  tenon::Dims sizes;
  tenon::Dtype dtype;
};

inline tenon::declared::Values arguments_of(const tenon::Schema& schema, const OperandKind& kind) {
  const bool is_share = std::string_view(schema.name).starts_with("binary_cross_entropy");
  const auto random = [&](tenon::SizesView sizes) {
    if (is_share) return tenon::rand(sizes).to(kind.dtype);
    const tenon::Tensor numbers = tenon::rand(sizes).add_(0.5);
    return (kind.dtype == tenon::int64 ? numbers.mul(8) : numbers).to(kind.dtype);
  };
  const auto operand = [&](int place) -> tenon::Value {
    const int number = tenon::declared::operand_number(schema, place);
    if (std::string_view(schema.first[place].name) == "value") return random({});  // one element for all
    return tenon::declared::as_operand(
        schema.first[place], random(tenon::declared::sizes_of(schema, number, kind.sizes, [](char) { return 100; })));
  };
  tenon::declared::Values values = tenon::declared::calls(schema, operand)[0].values;
  for (int place = 0; place < schema.count; ++place) {
    const tenon::Parameter& parameter = schema.first[place];
    tenon::Value& value = values[static_cast<std::size_t>(place)];
    if (parameter.is_list()) value = tenon::List<tenon::Tensor>{random(kind.sizes), random(kind.sizes)};
    if (value.is_number() && std::string_view(parameter.name) == "dim") value = -1;  // whatever the rank
    if (value.is_empty() && parameter.is_operand()) value = operand(place);
    if (std::string_view(parameter.name) == "indexing") value = "ij";  // left out, there is a warning
  }
  return values;
}

/// The shortest call of an op that takes it, with every operand: of 1000 x 100 in float32; of int64 where that is
/// refused; of vectors where matrices are. Error: none of these is taken.
inline tenon::declared::Values call_of(const tenon::Schema& schema) {
  const OperandKind kinds[] = {{{1000, 100}, tenon::float32}, {{1000, 100}, tenon::int64}, {{100'000}, tenon::float32}};
  for (const OperandKind& kind : kinds) {
    tenon::declared::Values values = arguments_of(schema, kind);
    try {
      schema.function(values.data());
      return values;
    } catch (const tenon::Error&) {
    }
  }
  throw tenon::Error(std::string("no call to time of ") + schema.signature + ": bench/op_calls.h");
}

}  // namespace bench
