// The specification's programs in C++: same error type and text, same warnings, same result.
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "spec.h"

namespace {

using namespace tenon;
using spec::attempt;
using spec::json;

// Short names from the specification.
constexpr Dtype i8 = int8, i32 = int32, u8 = uint8, f32 = float32, f64 = float64, boo = bool_;
Tensor o(SizesView sizes, Dtype dtype = f32) { return ones(sizes, dtype); }
Tensor e(SizesView sizes, Dtype dtype = f32) { return empty(sizes, dtype); }

using Program = std::function<Tensor()>;
#define PROGRAM(...) [] { return __VA_ARGS__; }
/// A program that first makes a tensor, then writes to it.
#define WITH(NAME, MADE, ...) \
  [] {                        \
    Tensor NAME = MADE;       \
    return __VA_ARGS__;       \
  }

Tensor broadcast(std::vector<Tensor> tensors) {
  broadcast_tensors(tensors.data(), static_cast<int64_t>(tensors.size()));
  return tensors[0];
}
Tensor meta(SizesView sizes) { return empty(sizes, Device::meta); }

// clang-format off
const std::map<std::string, Program>& programs() {
  static const std::map<std::string, Program> table = {
      {"binary.mismatch", PROGRAM(o({5, 2, 4, 1}) + o({3, 1, 1}))},
      {"binary.mismatch_last", PROGRAM(o({2, 3}) + o({2, 4}))},
      {"binary.mismatch_zero", PROGRAM(o({0}) + o({2, 2}))},
      {"binary.mismatch_zero_ok", PROGRAM(o({0}) + o({2, 1}))},
      {"binary.mismatch_first_seen_from_the_right", PROGRAM(o({2, 3, 4}) + o({5, 6, 7}))},
      {"binary.mul", PROGRAM(o({2, 3}) * o({4}))},
      {"binary.compare", PROGRAM(o({2, 3}) < o({4}))},
      {"binary.logical", PROGRAM(logical_and(o({2, 3}), o({4})))},
      {"ternary.where_condition", PROGRAM(where(o({4}, boo), o({2, 3}), o({3})))},
      {"ternary.where_values", PROGRAM(where(o({3}, boo), o({2, 3}), o({4})))},
      {"ternary.clamp_min", PROGRAM(clamp(o({2, 3}), o({4}), o({3})))},
      {"ternary.clamp_max", PROGRAM(clamp(o({2, 3}), o({3}), o({4})))},
      {"binary.bitwise", PROGRAM(o({2, 3}, i32) & o({4}, i32))},
      {"ternary.addcmul_second", PROGRAM(addcmul(o({2, 3}), o({4}), o({3})))},
      {"ternary.addcmul_third", PROGRAM(addcmul(o({2, 3}), o({3}), o({4})))},
      {"ternary.addcmul_accumulated", PROGRAM(addcmul(o({1}), o({3}), o({4})))},
      {"ternary.addcdiv", PROGRAM(addcdiv(o({2, 3}), o({3}), o({4})))},
      {"ternary.lerp_end", PROGRAM(lerp(o({2, 3}), o({4}), 0.5))},
      {"ternary.lerp_weight", PROGRAM(lerp(o({2, 3}), o({3}), o({4})))},
      {"inplace.ternary", PROGRAM(o({3}).addcmul_(o({2, 3}), o({3})))},
      {"inplace.lerp", PROGRAM(o({3}).lerp_(o({2, 3}), 0.5))},
      {"overlap.inplace_expanded_ternary", PROGRAM(o({1}).expand({3}).addcmul_(o({3}), o({3})))},
      {"dtype.bitwise_float", PROGRAM(o({2}) & o({2}))},
      {"dtype.bitwise_float_int", PROGRAM(o({2}) | o({2}, i32))},
      {"dtype.bitwise_int_scalar_float", PROGRAM(o({2}, i32) ^ 1.5)},
      {"dtype.shift_float", PROGRAM(bitwise_left_shift(o({2}), o({2})))},
      {"dtype.shift_bool", PROGRAM(o({2}, boo) << 1)},
      {"dtype.shift_operator_float", PROGRAM(o({2}) << 1)},
      {"dtype.lerp_mixed", PROGRAM(lerp(o({2}), o({2}, f64), 0.5))},
      {"dtype.lerp_mixed_weight", PROGRAM(lerp(o({2}), o({2}), o({2}, f64)))},
      {"dtype.lerp_int", PROGRAM(lerp(o({2}, i32), o({2}, i32), 1))},
      {"dtype.addcdiv_int", PROGRAM(addcdiv(o({2}, i32), o({2}, i32), o({2}, i32)))},
      {"dtype.addcmul_bool", PROGRAM(addcmul(o({2}, boo), o({2}, boo), o({2}, boo)))},
      {"value.addcmul_float_for_int", PROGRAM(addcmul(o({2}, i32), o({2}, i32), o({2}, i32), 1.5))},
      {"broadcast_tensors", PROGRAM(broadcast({o({2, 3}), o({4})}))},
      {"broadcast_tensors.three", PROGRAM(broadcast({o({2, 1}), o({3}), o({4})}))},
      {"broadcast_shapes", PROGRAM(meta(broadcast_shapes({{2, 3}, {4}})))},
      {"broadcast_shapes.three", PROGRAM(meta(broadcast_shapes({{2, 1}, {3}, {4}})))},
      {"broadcast_shapes.negative", PROGRAM(meta(broadcast_shapes({{2, -1}, {3}})))},
      {"broadcast_to", PROGRAM(o({3}).broadcast_to({2, 4}))},
      {"broadcast_to.fewer_dims", PROGRAM(o({2, 3}).broadcast_to({3}))},
      {"expand.size", PROGRAM(o({1, 3, 7}).expand({1, 3, 1}))},
      {"expand.fewer_dims", PROGRAM(o({2, 3}).expand({3}))},
      {"expand.zero_dims", PROGRAM(o({2, 3}).expand(SizesView{}))},
      {"expand.negative", PROGRAM(o({2, 3}).expand({2, -2}))},
      {"expand.leading_minus_one", PROGRAM(o({3, 7}).expand({-1, 3, 7}))},
      {"expand.leading_negative", PROGRAM(o({3, 7}).expand({-5, 3, 7}))},
      {"expand.to_zero", PROGRAM(o({2, 3}).expand({0, 3}))},
      {"expand.one_to_zero_ok", PROGRAM(o({1, 3}).expand({0, 3}))},
      {"expand.minus_one_ok", PROGRAM(o({1, 3}).expand({2, -1}))},
      {"expand.from_zero", PROGRAM(o({0, 3}).expand({2, 3}))},
      {"expand_as", PROGRAM(o({2, 3}).expand_as(o({2, 4})))},
      {"sum_to_size", PROGRAM(o({2, 3}).sum_to_size({2, 2}))},
      {"sum_to_size.more_dims", PROGRAM(o({3}).sum_to_size({1, 3}))},

      {"inplace.shape", PROGRAM(o({1, 3, 1}).add_(o({3, 1, 7})))},
      {"inplace.shape_same_ndim", PROGRAM(o({1, 3, 1}).add_(o({1, 1, 7})))},
      {"inplace.more_dims", PROGRAM(o({3}).add_(o({2, 3})))},
      {"inplace.more_dims_of_one", PROGRAM(o({3}).add_(o({1, 3})))},
      {"inplace.zero_dim", PROGRAM(o({}).add_(o({1})))},
      {"inplace.operator", WITH(x, o({1, 3, 1}), x += o({3, 1, 7}))},
      {"inplace.mismatch", PROGRAM(o({2, 3}).add_(o({4})))},
      {"inplace.to_zero", PROGRAM(o({1, 3}).add_(o({0, 3})))},
      {"inplace.clamp", PROGRAM(o({3}).clamp_(o({2, 3}), std::nullopt))},
      {"inplace.compare", PROGRAM(o({3}).eq_(o({2, 3})))},
      {"inplace.copy", PROGRAM(o({1, 3, 1}).copy_(o({1, 1, 7})))},
      {"inplace.copy_more_dims", PROGRAM(o({3}).copy_(o({2, 3})))},
      {"inplace.copy_more_dims_of_one", PROGRAM(o({3}).copy_(o({1, 3})))},
      {"inplace.cast", PROGRAM(o({2}, i32).add_(o({2})))},
      {"inplace.cast_scalar", PROGRAM(o({2}, i32).add_(1.5))},
      {"inplace.cast_div", PROGRAM(o({2}, i32).div_(2))},
      {"inplace.cast_bool", PROGRAM(o({2}, boo).add_(1))},
      {"inplace.cast_sqrt", PROGRAM(o({2}, i32).sqrt_())},
      {"inplace.fill_shape", PROGRAM(o({2}).fill_(o({2})))},

      {"out.dtype", WITH(out, e({2}, i32), add_out(out, o({2}), o({2})))},
      {"out.dtype_wider_ok", WITH(out, e({2}, f64), add_out(out, o({2}), o({2})))},
      {"out.dtype_bool", WITH(out, e({2}, i32), lt_out(out, o({2}), o({2})))},
      {"out.dtype_sum", WITH(out, e({}, f64), sum_out(out, o({2}), 0))},
      {"out.dtype_sum_narrower", WITH(out, e({}, i32), sum_out(out, o({2}), 0))},
      {"out.dtype_amax", WITH(out, e({}, f64), amax_out(out, o({2}), 0))},
      {"out.dtype_mean", WITH(out, e({}, f64), mean_out(out, o({2}), 0))},
      {"out.resize", WITH(out, e({5}), add_out(out, o({2, 3}), o({3})))},
      {"out.resize_larger", WITH(out, e({9, 9}), add_out(out, o({2}), o({2})))},
      {"out.resize_empty_ok", WITH(out, e({0}), add_out(out, o({2}), o({2})))},
      {"out.resize_zero_dim", WITH(out, e({}), add_out(out, o({2}), o({2})))},
      {"out.resize_one", WITH(out, e({1}), add_out(out, o({2}), o({2})))},
      {"out.resize_expanded", WITH(out, e({1}).expand({3}), add_out(out, o({2}), o({2})))},
      {"out.resize_reduction", WITH(out, e({5}), sum_out(out, o({2, 3}), 1))},

      {"overlap.inplace_expanded", PROGRAM(o({1}).expand({3}).add_(1))},
      {"overlap.inplace_expanded_unary", PROGRAM(o({1}).expand({3}).neg_())},
      {"overlap.inplace_expanded_fill", PROGRAM(o({1}).expand({3}).fill_(2))},
      {"overlap.inplace_expanded_zero", PROGRAM(o({1}).expand({3}).zero_())},
      {"overlap.inplace_expanded_copy", PROGRAM(o({1}).expand({3}).copy_(o({3})))},
      {"overlap.out_expanded", WITH(out, o({1}).expand({3}), add_out(out, o({3}), o({3})))},
      {"overlap.partial_out", [] { const Tensor x = o({4}); Tensor out = x.slice(0, 1, {}); return add_out(out, x.slice(0, {}, 3), 1); }},
      {"overlap.full_out_ok", WITH(x, o({4}), add_out(x, x, 1))},
      {"overlap.partial_inplace", WITH(x, o({4}), x.slice(0, 1, {}).add_(x.slice(0, {}, 3)))},
      {"overlap.transposed_inplace", WITH(x, o({3, 3}), x.add_(x.t()))},
      {"overlap.transposed_unequal_strides_out", WITH(x, o({3, 3}), mul_out(x, x.t(), 2))},
      {"overlap.copy_partial", WITH(x, o({4}), x.slice(0, 1, {}).copy_(x.slice(0, {}, 3)))},
      {"overlap.resize_view", [] { const Tensor x = o({4}); Tensor out = x.slice(0, 1, {}); return add_out(out, o({9}), o({9})); }},

      {"dtype.sub_bool", PROGRAM(o({2}, boo) - o({2}, boo))},
      {"dtype.sub_bool_one", PROGRAM(o({2}, boo) - 1)},
      {"dtype.sub_bool_int_other", PROGRAM(o({2}, i32) - o({2}, boo))},
      {"dtype.rsub_bool", PROGRAM(1 - o({2}, boo))},
      {"dtype.neg_bool", PROGRAM(-o({2}, boo))},
      {"dtype.abs_bool", PROGRAM(o({2}, boo).abs())},
      {"dtype.clamp_bool", PROGRAM(clamp(o({2}, boo), 0, 1))},
      {"dtype.where_condition", PROGRAM(where(o({2}), o({2}), o({2})))},
      {"dtype.where_condition_uint8", PROGRAM(where(o({2}, u8), o({2}), o({2})))},
      {"dtype.where_condition_int", PROGRAM(where(o({2}, i32), o({2}), o({2})))},
      {"dtype.mean_int", PROGRAM(o({2}, i32).mean())},
      {"dtype.mean_dim_int", PROGRAM(o({2}, i32).mean(0))},
      {"dtype.mean_to_int", PROGRAM(o({2}).mean({}, false, i32))},
      {"dtype.sum_to_bool_ok", PROGRAM(o({2}).sum({}, false, boo))},
      {"dtype.exp_out_int", WITH(out, e({2}, i32), exp_out(out, o({2})))},

      {"alpha.float_for_int", PROGRAM(add(o({2}, i32), o({2}, i32), 1.5))},
      {"alpha.bool_for_int", PROGRAM(add(o({2}, i32), o({2}, i32), true))},
      {"alpha.bool_for_float", PROGRAM(add(o({2}), o({2}), true))},
      {"alpha.float_for_bool", PROGRAM(add(o({2}, boo), o({2}, boo), 1.5))},
      {"alpha.sub_bool", PROGRAM(sub(o({2}, i32), o({2}, i32), true))},
      {"div.mode", PROGRAM(div(o({2}), o({2}), "up"))},
      {"clamp.no_bound", PROGRAM(clamp(o({2}), std::nullopt))},
      {"clamp.inplace_no_bound", PROGRAM(o({2}).clamp_(std::nullopt))},

      {"scalar.uint8_overflow", PROGRAM(o({2}, u8) + 300)},
      {"scalar.int8_overflow", PROGRAM(o({2}, i8) + 200)},
      {"scalar.int8_compare", PROGRAM(o({2}, i8) < 200)},
      {"scalar.fill_overflow", PROGRAM(o({2}, u8).fill_(300))},
      {"scalar.fill_negative", PROGRAM(o({2}, u8).fill_(-1))},
      {"scalar.full_overflow", PROGRAM(full({2}, 300, u8))},

      {"int.div_floor_zero", PROGRAM(div(o({2}, i32), 0, "floor"))},
      {"int.div_trunc_zero", PROGRAM(div(o({2}, i32), 0, "trunc"))},
      {"int.true_div_zero_ok", PROGRAM(o({2}, i32) / 0)},

      {"dim.out_of_range", PROGRAM(o({2, 3}).sum(2))},
      {"dim.out_of_range_negative", PROGRAM(o({2, 3}).sum(-3))},
      {"dim.zero_dim", PROGRAM(o({}).sum(1))},
      {"dim.zero_dim_ok", PROGRAM(o({}).sum(-1))},
      {"dim.duplicate", PROGRAM(o({2, 3}).sum({0, 0}))},
      {"dim.duplicate_wrapped", PROGRAM(o({2, 3}).sum({1, -1}))},
      {"dim.amax_duplicate", PROGRAM(o({2, 3}).amax({0, 0}))},
      {"dim.too_many", PROGRAM(o(Dims(65, 1)).sum({0, 1}))},

      {"empty.amax", PROGRAM(e({0}).amax())},
      {"empty.amax_dim", PROGRAM(e({0, 3}).amax(0))},
      {"empty.amin", PROGRAM(e({0}).amin())},
      {"empty.sum_ok", PROGRAM(e({0}).sum())},
      {"empty.mean_ok", PROGRAM(e({0}).mean())},
      {"empty.negative", PROGRAM(e({-1}))},
      {"empty.too_large", PROGRAM(e({int64_t{1} << 62, int64_t{1} << 62}))},
      {"sum.out_dtype", WITH(out, e({}, f32), sum_out(out, o({2}), 0, false, f64))},

      {"view.size", PROGRAM(o({2, 3}).view({4}))},
      {"view.size_large", PROGRAM(o({2, 3}).view({2, 4}))},
      {"view.two_unknown", PROGRAM(o({2, 3}).view({-1, -1}))},
      {"view.negative", PROGRAM(o({2, 3}).view({-2, 3}))},
      {"view.unknown_indivisible", PROGRAM(o({2, 3}).view({-1, 4}))},
      {"view.unknown_ambiguous", PROGRAM(e({0, 3}).view({0, -1}))},
      {"view.unknown_zero_ok", PROGRAM(e({0, 3}).view({-1, 3}))},
      {"view.strides", PROGRAM(o({2, 3}).t().view({6}))},
      {"view.strides_expanded", PROGRAM(o({3, 1}).expand({3, 4}).view({12}))},
      {"reshape.size", PROGRAM(o({2, 3}).reshape({4}))},
      {"reshape.two_unknown", PROGRAM(o({2, 3}).reshape({-1, -1}))},
      {"reshape.negative", PROGRAM(o({2, 3}).reshape({-2, 3}))},
      {"reshape.unknown_ambiguous", PROGRAM(e({0, 3}).reshape({0, -1}))},
      {"flatten.order", PROGRAM(o({2, 3}).flatten(1, 0))},
      {"flatten.range", PROGRAM(o({2, 3}).flatten(0, 2))},
      {"unflatten.size", PROGRAM(o({6}).unflatten(0, {4, 2}))},
      {"squeeze.range", PROGRAM(o({2, 3}).squeeze(2))},
      {"squeeze.duplicate", PROGRAM(o({1, 1}).squeeze({0, 0}))},
      {"unsqueeze.range", PROGRAM(o({2, 3}).unsqueeze(3))},
      {"permute.count", PROGRAM(o({2, 3}).permute({0}))},
      {"permute.duplicate", PROGRAM(o({2, 3}).permute({0, 0}))},
      {"permute.range", PROGRAM(o({2, 3}).permute({0, 2}))},
      {"transpose.range", PROGRAM(o({2, 3}).transpose(0, 2))},
      {"t.ndim", PROGRAM(o({2, 3, 4}).t())},
      {"mT.ndim", PROGRAM(o({3}).mT())},
      {"movedim.count", PROGRAM(o({2, 3}).movedim(SizesView{0, 1}, SizesView{0}))},
      {"movedim.duplicate", PROGRAM(o({2, 3}).movedim(SizesView{0, 0}, SizesView{0, 1}))},
      {"select.range", PROGRAM(o({2, 3}).select(1, 3))},
      {"select.zero_dim", PROGRAM(o({}).select(0, 0))},
      {"narrow.length", PROGRAM(o({2, 3}).narrow(1, 2, 2))},
      {"narrow.start", PROGRAM(o({2, 3}).narrow(1, 4, 0))},
      {"narrow.negative_length", PROGRAM(o({2, 3}).narrow(1, 0, -1))},
      {"narrow.zero_dim", PROGRAM(o({}).narrow(0, 0, 1))},
      {"diagonal.same", PROGRAM(o({2, 3}).diagonal(0, 1, 1))},
      {"diagonal.ndim", PROGRAM(o({3}).diagonal())},
      {"as_strided.storage", PROGRAM(o({4}).as_strided({3, 3}, {3, 1}))},
      {"as_strided.negative", PROGRAM(o({4}).as_strided({2}, {-1}))},
      {"as_strided.count", PROGRAM(o({4}).as_strided({2}, {1, 1}))},
      {"as_strided.offset", PROGRAM(o({4}).as_strided({2}, {1}, -1))},
      {"contiguous.channels_last_ndim", PROGRAM(o({2, 3}).contiguous(MemoryFormat::channels_last))},
      {"to.channels_last_3d_ndim", PROGRAM(o({1, 2, 3, 4}).to(f32, false, MemoryFormat::channels_last_3d))},
      {"resize.negative", PROGRAM(o({2}).resize_({-1}))},

      {"index.range", PROGRAM(o({2, 3})[2])},
      {"index.too_many", PROGRAM(o({2, 3}).index({0, 0, 0}))},
      {"index.zero_dim", PROGRAM(o({})[0])},
      {"index.negative_step", PROGRAM(o({4}).index({Slice({}, {}, -1)}))},
      {"index.zero_step", PROGRAM(o({4}).index({Slice({}, {}, 0)}))},
      {"item.many", PROGRAM(scalar_tensor(o({2}).item()))},

      {"tensor.ragged", PROGRAM(tensor({{1, 2}, {3}}))},
      {"tensor.overflow", PROGRAM(tensor(300, u8))},
      {"arange.step", PROGRAM(arange(0, 5, -1))},
      {"arange.zero_step", PROGRAM(arange(0, 5, 0))},
      {"linspace.steps", PROGRAM(linspace(0, 1, -1))},
      {"eye.negative", PROGRAM(eye(-1))},
      {"default_dtype.int", [] { set_default_dtype(i32); return Tensor(); }},
  };
  return table;
}
// clang-format on

/// "[2.0, inf]", "True": elements as Python lists them.
std::string listed(const Tensor& tensor) {
  if (tensor.dim() > 0) {
    std::string text;
    for (int64_t i = 0; i < tensor.size(0); ++i) text += (i ? ", " : "") + listed(tensor[i]);
    return "[" + text + "]";
  }
  const Scalar value = tensor.item();
  if (value.is_boolean()) return value.as_bool() ? "True" : "False";
  if (!value.is_floating()) return std::to_string(value.as_int64());
  if (std::isnan(value.as_double())) return "nan";
  if (std::isinf(value.as_double())) return value.as_double() > 0 ? "inf" : "-inf";
  return json(value.as_double()).dump();
}

std::string described(const spec::Outcome& outcome, bool with_values) {
  std::string text;
  for (const std::string& warning : outcome.warnings) text += warning + "\n";
  if (outcome.failed()) return text + outcome.type + ": " + outcome.text;
  if (!outcome.value.defined()) return text + "accepted";
  text += std::string(dtype_name(outcome.value.dtype())) + " " + to_string(outcome.value.sizes());
  return with_values ? text + " " + listed(outcome.value) : text;
}

/// The documented text of an in-place error, made from the live text, which has the shapes.
std::string as_documented(const std::string& error) {
  const std::string type = "RuntimeError: ", live = error.rfind(type, 0) == 0 ? error.substr(type.size()) : error;
  if (live.rfind("output with shape", 0) != 0) return error;
  const auto shape_from = [&](std::size_t at) {
    return spec::to_dims(json::parse(live.substr(at, live.find(']', at) - at + 1)));
  };
  return type + spec::documented_in_place_text(live, shape_from(live.find('[')), shape_from(live.rfind('[')));
}

TEST(SpecErrors, Programs) {
  TENON_NEEDS_SPEC();
  spec::Rows rows(static_cast<int>(programs().size()));
  std::set<std::string> seen;
  for (const json& row : spec::read_cases("errors")) {
    const auto program = programs().find(row[0]);
    if (program == programs().end()) continue;
    seen.insert(row[0]);
    std::string want;
    for (const json& warning : row[3]) want += warning.get<std::string>() + "\n";
    const bool result_is_told = row[4].is_string();
    const std::string result = result_is_told ? row[4] : "";
    const bool with_values = result.find("] ") != std::string::npos;  // "float32 [2] [1.0, 1.0]"
    spec::Outcome got = attempt(program->second);
    if (!row[2].is_null())
      want += as_documented(row[2]);
    else
      want += result_is_told ? result : "accepted";
    if (!result_is_told) got.value = Tensor();  // any result: the call only had to be accepted
    rows.same(row[0].get<std::string>() + ": " + row[1].get<std::string>(), want, described(got, with_values));
  }
  for (const auto& [id, program] : programs()) EXPECT_TRUE(seen.count(id)) << id << " is not in the specification";
}

}  // namespace
