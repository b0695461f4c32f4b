// bench: takes a declared op; gives the call of it that is timed. Arguments are drawn as the tests draw them.
#pragma once
#include <algorithm>
#include <iterator>
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
  double factor = 1;               // of what is drawn
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
    const tenon::Tensor numbers = tenon::rand(sizes).add_(0.5).mul_(kind.factor);
    if (kind.dtype == tenon::bool_) return numbers > 1;
    if (tenon::is_complex(kind.dtype)) return tenon::complex(numbers, tenon::rand(sizes)).to(kind.dtype);
    return (tenon::is_integral(kind.dtype) ? numbers.mul(8) : numbers).to(kind.dtype);
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

/// The arguments of ops that take no operands of those sizes: by block, up to the last one that must be given.
inline std::optional<tenon::declared::Values> own_arguments(std::string_view block) {
  using tenon::Dims, tenon::rand;
  using Values = tenon::declared::Values;
  const auto images = [] { return rand({25, 4, 20, 50}); };
  if (block == "as_strided_scatter") return Values{rand({1000, 100}), rand({1000, 50}), Dims{1000, 50}, Dims{100, 1}};
  if (block == "_fft_c2c") return Values{tenon::complex(rand({1000, 100}), rand({1000, 100})), Dims{1}, 0, true};
  if (block == "_fft_c2r") return Values{tenon::complex(rand({1000, 51}), rand({1000, 51})), Dims{1}, 0, 100};
  if (block == "linalg_cholesky") return Values{tenon::eye(100)};
  if (block == "linalg_lu_solve")
    return Values{tenon::eye(100), tenon::full({100}, 100, tenon::Options(tenon::int32)), rand({100, 100})};
  if (block == "channel_shuffle") return Values{images(), 2};
  if (block == "cov") return Values{rand({100, 1000})};
  if (block == "cross" || block == "linalg_cross") return Values{rand({33'000, 3}), rand({33'000, 3}), 1};
  if (block == "diagonal_scatter") return Values{rand({1000, 100}), rand({100})};
  if (block == "dsplit") return Values{images(), 2};
  if (block == "dsplit_places") return Values{images(), Dims{5, 9}};
  if (block == "einsum") return Values{tenon::List<tenon::Tensor>{rand({100, 100}), rand({100, 100})}, "ij,jk->ik"};
  if (block == "expand_copy") return Values{rand({1000, 1}), Dims{1000, 100}};
  if (block == "quantile" || block == "nanquantile") return Values{rand({1000, 100}), rand({3}), 1};
  if (block == "group_norm") return Values{images(), 2, rand({4}), rand({4})};
  if (block == "layer_norm") return Values{rand({1000, 100}), Dims{100}, rand({100}), rand({100})};
  if (block == "rms_norm") return Values{rand({1000, 100}), Dims{100}, rand({100})};
  if (block == "pixel_shuffle" || block == "pixel_unshuffle") return Values{images(), 2};
  if (block == "reflection_pad2d" || block == "replication_pad2d") return Values{images(), Dims{1, 1, 2, 2}};
  if (block == "reflection_pad3d" || block == "replication_pad3d") return Values{images(), Dims{1, 1, 2, 2, 1, 1}};
  if (block == "searchsorted_number") return Values{rand({100'000}).cumsum(0), 2};
  if (block == "select_scatter") return Values{rand({1000, 100}), rand({1000}), 1, 3};
  if (block == "split_sizes" || block == "split_with_sizes") return Values{rand({1000, 100}), Dims{300, 700}};
  return std::nullopt;
}

/// What the maps are timed on: [rows, columns] and rows.
struct MapKind {
  int64_t rows = 1024, columns = 1024;
  std::optional<tenon::Dtype> dtype = {};  // of all operands; none: float32, or the first one that an op takes
  double factor = 1;                       // of the operands, numbers from 0.5 to 1.5, where a dtype is given
};

/// The shortest call of an op that takes it, with every operand. Of a map into an out=, if there is one; of another op:
/// 1000 x 100. In float32; in int64 where that is refused; of vectors where matrices are. Error: none of these is
/// taken.
inline OpCall call_of(const tenon::Schema& schema, const MapKind& map = {}) {
  const tenon::Dims sizes = schema.is_map() ? tenon::Dims{map.rows, map.columns} : tenon::Dims{1000, 100};
  const tenon::Dims more_sizes = schema.is_map() ? tenon::Dims{map.columns} : sizes;
  if (map.dtype) return tried(schema, arguments_of(schema, {sizes, *map.dtype, more_sizes, map.factor}));
  // Their results have as many elements as the operands' products of sizes, or squares of these.
  constexpr std::string_view kOuter[] = {"cartesian_prod", "combinations", "diagflat", "kron", "vander"};
  const bool is_outer = std::find(std::begin(kOuter), std::end(kOuter), schema.name) != std::end(kOuter);
  if (is_outer) return tried(schema, arguments_of(schema, {{300}, tenon::float32}));
  if (auto own = own_arguments(schema.block)) {
    own->resize(static_cast<std::size_t>(schema.count));
    return tried(schema, std::move(*own));
  }
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

/// Whether an op takes the dtype that is asked for. Only maps are asked.
inline bool takes(const tenon::Schema& schema, const MapKind& map) {
  if (!map.dtype) return true;
  if (!schema.is_map()) return false;
  try {
    call_of(schema, {.rows = 1, .columns = 2, .dtype = map.dtype});
    return true;
  } catch (const tenon::Error&) {
    return false;
  }
}

/// The bytes that a map reads and writes: a broadcast row counts once.
inline int64_t bytes_of(const tenon::Schema& schema, const MapKind& map = {}) {
  if (!schema.is_map()) return 0;
  const OpCall call = call_of(schema, {.rows = 1, .columns = map.columns, .dtype = map.dtype});
  int64_t bytes = 0;
  const auto add = [&](const tenon::Tensor& tensor) { bytes += tensor.nbytes() * (tensor.dim() == 2 ? map.rows : 1); };
  for (const tenon::Tensor& result : schema.function(call.values.data())) add(result);
  for (const tenon::Value& value : call.values)
    if (value.is_tensor()) add(value.tensor());
  return bytes;
}

}  // namespace bench
