// Every shape, stride and shape error of the specification equals PyTorch's.
#include "spec.h"

namespace {

using spec::attempt;
using spec::Dims;
using spec::json;
using spec::Rows;
using spec::Tensor;
using spec::to_dims;

TEST(SpecShapes, Binary) {
  TENON_NEEDS_SPEC();
  Rows rows(2641);
  for (const json& row : spec::read_cases("binary")) {
    const Dims a = to_dims(row[0]), b = to_dims(row[1]);
    rows.same(row.dump(), spec::as_text(row[2]),
              attempt([&] { return tenon::zeros(a) + tenon::zeros(b); }).shape_or_text());
  }
}

TEST(SpecShapes, BinaryOnMeta) {
  TENON_NEEDS_SPEC();
  Rows rows(2641);
  for (const json& row : spec::read_cases("binary")) {
    const Tensor a = tenon::empty(to_dims(row[0]), tenon::Device::meta),
                 b = tenon::empty(to_dims(row[1]), tenon::Device::meta);
    rows.same(row.dump(), spec::as_text(row[2]), attempt([&] { return a + b; }).shape_or_text());
  }
}

TEST(SpecShapes, BinaryWithoutTensors) {
  TENON_NEEDS_SPEC();
  Rows rows(2641);
  for (const json& row : spec::read_cases("binary")) {
    const Dims a = to_dims(row[0]), b = to_dims(row[1]);
    const auto got = attempt([&] { return tenon::empty(tenon::infer_size(a, b), tenon::Device::meta); });
    const bool agree = got.failed() != tenon::is_broadcastable(a, b);
    rows.same(row.dump(), spec::as_text(row[2]), agree ? got.shape_or_text() : "is_broadcastable says otherwise");
  }
}

TEST(SpecShapes, TernaryThroughWhere) {
  TENON_NEEDS_SPEC();
  Rows rows(1200);
  for (const json& row : spec::read_cases("ternary")) {
    const Tensor condition = tenon::zeros(to_dims(row[0]), tenon::bool_), b = tenon::zeros(to_dims(row[1])),
                 c = tenon::zeros(to_dims(row[2]));
    rows.same(row.dump(), spec::as_text(row[3]),
              attempt([&] { return tenon::where(condition, b, c); }).shape_or_text());
  }
}

TEST(SpecShapes, TernaryThroughClamp) {
  TENON_NEEDS_SPEC();
  Rows rows(1200);
  for (const json& row : spec::read_cases("ternary")) {
    const Tensor a = tenon::zeros(to_dims(row[0])), b = tenon::zeros(to_dims(row[1])),
                 c = tenon::zeros(to_dims(row[2]));
    rows.same(row.dump(), spec::as_text(row[3]), attempt([&] { return tenon::clamp(a, b, c); }).shape_or_text());
  }
}

TEST(SpecShapes, ManyThroughBroadcastShapes) {
  TENON_NEEDS_SPEC();
  Rows rows(340);
  for (const json& row : spec::read_cases("many")) {
    std::vector<Dims> shapes;
    for (const json& shape : row[0]) shapes.push_back(to_dims(shape));
    const std::vector<tenon::SizesView> views(shapes.begin(), shapes.end());
    const auto got = attempt([&] {
      return tenon::empty(tenon::broadcast_shapes(views.data(), static_cast<int64_t>(views.size())),
                          tenon::Device::meta);
    });
    rows.same(row.dump(), spec::as_text(row[1]), got.shape_or_text());
  }
}

TEST(SpecShapes, ManyThroughBroadcastTensors) {
  TENON_NEEDS_SPEC();
  Rows rows(340);
  for (const json& row : spec::read_cases("many")) {
    std::vector<Tensor> tensors;
    for (const json& shape : row[0]) tensors.push_back(tenon::zeros(to_dims(shape)));
    const auto got = attempt([&] {
      tenon::broadcast_tensors(tensors.data(), static_cast<int64_t>(tensors.size()));
      for (const Tensor& tensor : tensors)
        if (tensor.sizes() != tensors[0].sizes()) throw tenon::Error("shapes still differ");
      return tensors[0];
    });
    rows.same(row.dump(), spec::as_text(row[2]), got.shape_or_text());
  }
}

/// The required shape, read from the live text.
Dims broadcast_shape_in(const std::string& text) { return to_dims(json::parse(text.substr(text.rfind('[')))); }

TEST(SpecShapes, InPlace) {
  TENON_NEEDS_SPEC();
  Rows rows(1000);
  for (const json& row : spec::read_cases("inplace")) {
    Tensor target = tenon::zeros(to_dims(row[0]));
    const Tensor other = tenon::zeros(to_dims(row[1][0]));
    const auto got = attempt([&] {
      return row[1].size() == 1 ? target.add_(other) : target.clamp_(other, tenon::zeros(to_dims(row[1][1])));
    });
    const std::string live = spec::as_text(row[2]);
    if (live.rfind("output with shape", 0) != 0) {
      rows.same(row.dump(), live, got.shape_or_text());
      continue;
    }
    // If the documented text is raised, the live one is a note.
    const std::string want = spec::documented_in_place_text(live, to_dims(row[0]), broadcast_shape_in(live));
    bool beside = want == live;
    for (const std::string& note : got.notes) beside |= note.find(live) != std::string::npos;
    rows.same(row.dump(), want, beside ? got.shape_or_text() : "no note says: " + live);
  }
}

TEST(SpecShapes, Out) {
  TENON_NEEDS_SPEC();
  Rows rows(334);
  for (const json& row : spec::read_cases("out")) {
    Tensor out = tenon::empty(to_dims(row[2]));
    const Tensor a = tenon::zeros(to_dims(row[0])), b = tenon::zeros(to_dims(row[1]));
    const auto got = attempt([&] { return tenon::add_out(out, a, b); });
    const std::string warning = row[4].is_null() ? "" : "UserWarning: " + row[4].get<std::string>();
    rows.same(row.dump(), spec::as_text(row[3]) + warning,
              got.shape_or_text() + (got.warnings.empty() ? "" : got.warnings[0]));
  }
}

/// "[2, 3] strides [3, 1]", or the error's text.
std::string layout_or_text(const spec::Outcome& outcome) {
  if (outcome.failed()) return outcome.text;
  return tenon::to_string(outcome.value.sizes()) + " strides " + tenon::to_string(outcome.value.strides());
}
std::string wanted_layout(const json& result) {
  if (result.is_string()) return result;
  return tenon::to_string(to_dims(result[0])) + " strides " + tenon::to_string(to_dims(result[1]));
}

TEST(SpecShapes, Expand) {
  TENON_NEEDS_SPEC();
  Rows rows(900);
  for (const json& row : spec::read_cases("expand")) {
    const Dims sizes = to_dims(row[2]);
    const Tensor tensor = tenon::empty_strided(to_dims(row[0]), to_dims(row[1]));
    std::string want = wanted_layout(row[3]);
    // PyTorch accepts a size of -1 for a 0-dim tensor; Tenon does not (docs/differences.md).
    if (row[0].empty())
      for (int64_t dim = 0; dim < sizes.size(); ++dim)
        if (sizes[dim] == -1)
          want = "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension " +
                 std::to_string(dim);
    rows.same(row.dump(), want, layout_or_text(attempt([&] { return tensor.expand(sizes); })));
  }
}

TEST(SpecShapes, View) {
  TENON_NEEDS_SPEC();
  Rows rows(2400);
  for (const json& row : spec::read_cases("view")) {
    const Tensor tensor = tenon::empty_strided(to_dims(row[0]), to_dims(row[1]));
    const Dims sizes = to_dims(row[2]);
    const std::string want = wanted_layout(row[3]);
    rows.same(row.dump(), want, layout_or_text(attempt([&] { return tensor.view(sizes); })));
    const auto reshaped = attempt([&] { return tensor.reshape(sizes); });
    if (want.rfind("view size is not compatible", 0) == 0)
      rows.same("reshape " + row.dump(), "a contiguous copy",
                !reshaped.failed() && reshaped.value.is_contiguous() ? "a contiguous copy" : reshaped.text);
    else
      rows.same("reshape " + row.dump(), want, layout_or_text(reshaped));
  }
}

TEST(SpecShapes, SumTo) {
  TENON_NEEDS_SPEC();
  Rows rows(800);
  for (const json& row : spec::read_cases("sum_to")) {
    const Dims shape = to_dims(row[0]), target = to_dims(row[1]);
    // As text: the error's message or the list of dims.
    const auto dims = attempt([&] {
      const Dims summed = tenon::sum_to_dims(shape, target);
      return tenon::empty({summed.size()}, tenon::Device::meta);
    });
    const std::string got_dims = dims.failed() ? dims.text : tenon::to_string(tenon::sum_to_dims(shape, target));
    rows.same(row.dump(), spec::as_text(row[2]), got_dims);
    const auto summed = attempt([&] { return tenon::zeros(shape).sum_to_size(target); });
    rows.same("sum_to_size " + row.dump(), row[2].is_string() ? row[2].get<std::string>() : tenon::to_string(target),
              summed.shape_or_text());
  }
}

TEST(SpecShapes, Reduce) {
  TENON_NEEDS_SPEC();
  Rows rows(600);
  for (const json& row : spec::read_cases("reduce")) {
    const Tensor tensor = tenon::zeros(to_dims(row[0]));
    const Dims dims = to_dims(row[1]);
    const auto got = attempt([&] { return tensor.sum(tenon::SizesView(dims), row[2].get<bool>()); });
    const std::string text = spec::as_text(row[3]);
    const bool range = text.rfind("Dimension out of range", 0) == 0;
    const bool typed = !got.failed() || (got.type == "IndexError") == range;
    rows.same(row.dump(), text, typed ? got.shape_or_text() : got.type + " for " + got.text);
  }
}

/// The strides only.
std::string strides_of(const spec::Outcome& outcome) {
  return outcome.failed() ? outcome.text : tenon::to_string(outcome.value.strides());
}

TEST(SpecShapes, StridesOfResults) {
  TENON_NEEDS_SPEC();
  Rows rows(3008);
  for (const json& row : spec::read_cases("strides")) {
    std::vector<Tensor> inputs;
    for (const json& input : row[0])
      inputs.push_back(tenon::empty_strided(to_dims(input[0]), to_dims(input[1])).fill_(1));
    const std::string want = tenon::to_string(to_dims(row[1]));
    switch (inputs.size()) {
      case 1:
        rows.same("neg " + row.dump(), want, strides_of(attempt([&] { return -inputs[0]; })));
        rows.same("clone " + row.dump(), tenon::to_string(to_dims(row[2])),
                  strides_of(attempt([&] { return inputs[0].clone(); })));
        break;
      case 2:
        rows.same("add " + row.dump(), want, strides_of(attempt([&] { return inputs[0] + inputs[1]; })));
        break;
      default:
        rows.same("clamp " + row.dump(), want,
                  strides_of(attempt([&] { return tenon::clamp(inputs[0], inputs[1], inputs[2]); })));
    }
  }
}

}  // namespace
