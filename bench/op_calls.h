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
  tenon::Dims sizes;  // of the first operand
  tenon::Dtype dtype;
  tenon::Dims more_sizes = sizes;  // of the others
};

/// The arguments of a call that is timed, and its out=, if the op is a map that takes it.
struct OpCall {
  tenon::declared::Values values;
  tenon::List<tenon::Tensor> outs = {};
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
        schema.first[place],
        random(tenon::declared::sizes_of(schema, number, number == 0 ? kind.sizes : kind.more_sizes,
                                         [](char) { return 100; })));
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

/// Runs the call once.
inline OpCall tried(const tenon::Schema& schema, tenon::declared::Values values) {
  const tenon::List<tenon::Tensor> results = schema.function(values.data());
  OpCall call{std::move(values)};
  if (!schema.is_map() || !schema.out) return call;
  for (const tenon::Tensor& result : results) call.outs.push_back(tenon::empty_like(result));
  schema.out(call.values.data(), call.outs.data());
  return call;
}

inline constexpr int64_t kRows = 1024;
/// The shortest call of an op that takes it, with every operand. Of a map: of [rows, 1024] and rows of 1024, into an
/// out= if there is one. Of another op: 1000 x 100. In float32; in int64 where that is refused; of vectors where
/// matrices are. Error: none of these is taken.
inline OpCall call_of(const tenon::Schema& schema, int64_t rows = kRows) {
  const tenon::Dims sizes = schema.is_map() ? tenon::Dims{rows, 1024} : tenon::Dims{1000, 100};
  const tenon::Dims more_sizes = schema.is_map() ? tenon::Dims{1024} : sizes;
  const OperandKind kinds[] = {{sizes, tenon::float32, more_sizes},
                               {sizes, tenon::int64, more_sizes},
                               {sizes, tenon::float32},
                               {sizes, tenon::int64},
                               {{100'000}, tenon::float32}};
  for (const OperandKind& kind : kinds) {
    try {
      return tried(schema, arguments_of(schema, kind));
    } catch (const tenon::Error&) {
    }
  }
  throw tenon::Error(std::string("no call to time of ") + schema.signature + ": bench/op_calls.h");
}

/// The bytes that a map reads and writes: a broadcast row counts once.
inline int64_t bytes_of(const tenon::Schema& schema) {
  if (!schema.is_map()) return 0;
  const OpCall call = call_of(schema, 1);
  int64_t bytes = 0;
  const auto add = [&](const tenon::Tensor& tensor) { bytes += tensor.nbytes() * (tensor.dim() == 2 ? kRows : 1); };
  for (const tenon::Tensor& result : schema.function(call.values.data())) add(result);
  for (const tenon::Value& value : call.values)
    if (value.is_tensor()) add(value.tensor());
  return bytes;
}

}  // namespace bench
