// The fast paths give what `resolve` decides: the same call is made with and without them, on random operands of every
// layout, for every op with a formula.
#include "dispatch/resolve.h"

#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "declared.h"
#include "gtest/gtest.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"

namespace tenon {
namespace {

/// A policy that refuses nothing. With a policy set, no fast path is used.
class WithoutShortcuts {
 public:
  WithoutShortcuts() : policy_(BroadcastPolicy{.blow_up = 1e300}) {}

 private:
  PolicyGuard policy_;
};

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  int64_t below(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

  /// A random tensor, often of the other operands' dtype.
  Tensor tensor(Dtype usual, bool usual_shape) {
    const Dtype dtype = below(4) > 0
                            ? usual
                            : one_of({bool_, uint8, int32, int64, float16, bfloat16, float32, float64, uint16, uint32});
    Dims sizes;
    const int64_t dims = below(4);
    for (int64_t dim = 0; dim < dims; ++dim) sizes.push_back(one_of<int64_t>({1, 1, 2, 3, 37}));
    if (usual_shape) sizes = below(3) == 0 ? Dims{2, 37} : Dims{2, 3};
    if (below(12) == 0 && !sizes.empty()) sizes[0] = 0;
    Tensor values = (arange(numel_of(sizes), float32) * 0.75 - 1.).to(dtype).view(sizes);
    switch (below(6)) {
      case 0:
        return values.dim() >= 2 ? values.transpose(0, 1).contiguous().transpose(0, 1) : values;
      case 1:
        return values.dim() > 0 ? values.unsqueeze(-1).expand(with_two(values.sizes())).select(-1, 0) : values;
      case 2:
        return values.dim() > 0 ? stretched(values) : values;
      default:
        return values;
    }
  }

 private:
  static Dims with_two(SizesView sizes) {
    Dims wider = sizes.copy();
    wider.push_back(2);
    return wider;
  }
  /// The same values with doubled strides.
  static Tensor stretched(const Tensor& values) {
    Dims wide = with_two(values.sizes());
    Tensor apart = zeros(wide, Options(values.dtype()));
    Tensor part = apart.select(-1, 1);
    part.copy_(values);
    return part;
  }
  std::mt19937_64 random_;
};

/// A text that describes a result: layout, dtype and bytes.
std::string described(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const auto* bytes = static_cast<const unsigned char*>(dense.data_ptr());
  std::string text = std::string(dtype_name(tensor.dtype())) + to_string(tensor.sizes()) + to_string(tensor.strides());
  for (int64_t i = 0; i < dense.nbytes(); ++i) text += " " + std::to_string(bytes[i]);
  return text;
}
template <class Call>
std::string outcome(const Call& call) {
  try {
    std::string text;
    for (const Tensor& result : call()) text += described(result) + "\n";
    return text;
  } catch (const Error& error) {
    return std::string("Error ") + error.what();
  }
}

/// A copy with the same layout.
Tensor apart(const Tensor& tensor) {
  Tensor copy = empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype()));
  copy.copy_(tensor);
  return copy;
}

declared::Values drawn_values(Draw& draw, const Schema& schema, Dtype usual, bool usual_shape) {
  declared::Values values(static_cast<std::size_t>(schema.count));
  for (int i = 0; i < schema.count; ++i) {
    const Parameter& parameter = schema.parameters()[i];
    Value& value = values[static_cast<std::size_t>(i)];
    if (parameter.is_operand()) {
      const bool is_number = i > 0 && std::string_view(parameter.type).find("Scalar") != std::string_view::npos;
      if (parameter.fallback && draw.below(2)) continue;
      if (is_number && draw.below(2))
        value = draw.below(2) ? Value(Scalar(2)) : Value(Scalar(0.5));
      else
        value = declared::as_operand(parameter, draw.tensor(usual, usual_shape));
    } else if (!parameter.fallback || draw.below(2)) {
      const declared::Values samples = declared::samples(parameter);
      value = samples[static_cast<std::size_t>(draw.below(static_cast<int64_t>(samples.size())))];
    }
  }
  return values;
}

struct RandomCall {
  const Schema& schema;
  declared::Values values;
  List<Tensor> targets;  // for out=
  bool repeats_self;     // the second operand is the first
};

RandomCall drawn_call(Draw& draw, const Schema& schema) {
  const Dtype usual = draw.one_of({float32, float32, float64, int64, bool_, float16});
  const bool usual_shape = draw.below(2) == 0;
  RandomCall call{schema, drawn_values(draw, schema, usual, usual_shape), {}, draw.below(8) == 0};
  for (int i = 0; i < schema.results; ++i) call.targets.push_back(draw.tensor(usual, usual_shape));
  return call;
}

std::string shown(const RandomCall& call) {
  std::string text = call.schema.name;
  const auto show = [&](const Tensor& tensor) {
    text += std::string(" ") + dtype_name(tensor.dtype()) + to_string(tensor.sizes()) + to_string(tensor.strides());
  };
  for (const Value& value : call.values)
    if (value.is_tensor()) show(value.tensor());
  text += " into";
  for (const Tensor& target : call.targets) show(target);
  return text;
}

/// Makes random calls of every map with the fast paths and without. `results_of(call)` makes one; none: there is no
/// such call.
template <class ResultsOf>
void compare_paths(uint64_t seed, const ResultsOf& results_of) {
  set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  Draw draw(seed);
  for (const Schema& schema : schemas()) {
    if (!schema.is_map()) continue;
    for (int i = 0; i < 150 / kSampled; ++i) {
      const RandomCall call = drawn_call(draw, schema);
      const std::string few = outcome([&] { return results_of(call); });
      const WithoutShortcuts general;
      EXPECT_EQ(few, outcome([&] { return results_of(call); })) << shown(call);
    }
  }
  set_warning_handler(nullptr);
}

TEST(Resolve, PathsOfFewElementsGiveTheSame) {
  compare_paths(1, [](const RandomCall& call) { return call.schema.function(call.values.data()); });
}

TEST(Resolve, WritesOfFewElementsAreTheSame) {
  compare_paths(2, [](const RandomCall& call) {
    List<Tensor> outs;
    if (!call.schema.out) return outs;
    for (const Tensor& target : call.targets) outs.push_back(apart(target));
    call.schema.out(call.values.data(), outs.data());
    return outs;
  });
}

TEST(Resolve, InPlaceCallsOfFewElementsAreTheSame) {
  compare_paths(4, [](const RandomCall& call) {
    declared::Values values = call.values;
    if (!call.schema.inplace || !values[0].is_tensor()) return List<Tensor>();
    const Tensor self = apart(values[0].tensor());
    values[0] = self;
    if (call.repeats_self && values.size() > 1 && values[1].is_tensor()) values[1] = self;
    call.schema.inplace(values.data());
    return List<Tensor>{self};
  });
}

TEST(Resolve, RowsThatAreCastPieceByPieceAreTheSame) {
  const std::vector<std::pair<Dims, Dims>> shapes = {
      {{40, 50}, {40, 50}},   {{5000}, {5000}},       {{40, 100}, {100}},
      {{100}, {40, 100}},     {{40, 100}, {40, 1}},   {{3, 40, 90}, {40, 90}},
      {{3, 1, 2000}, {4, 1}}, {{2, 3000}, {2, 3000}}, {{3, 40, 90}, {3, 1, 90}}};
  const auto filled = [](const Dims& sizes, Dtype dtype) {
    return (arange(numel_of(sizes), float32) * 0.25 - 100.).to(dtype).view(sizes);
  };
  int number = 0;
  for (const auto& [a_sizes, b_sizes] : shapes)
    for (const Dtype a_dtype : {int8, uint8, int32, int64, float16, float32, float64})
      for (const Dtype b_dtype : {int16, int32, float32, float64}) {
        if (++number % kSampled != 0) continue;
        const Tensor a = filled(a_sizes, a_dtype), b = filled(b_sizes, b_dtype);
        const Tensor sum = add(a, b), less = lt(a, b);
        const WithoutShortcuts general;
        EXPECT_EQ(described(sum), described(add(a, b))) << to_string(a_sizes) << to_string(b_sizes);
        EXPECT_EQ(described(less), described(lt(a, b))) << to_string(a_sizes) << to_string(b_sizes);
      }
}

TEST(Resolve, SaysWhatTheResultIs) {
  Draw draw(3);
  for (int i = 0; i < 2000; ++i) {
    const Dtype usual = draw.one_of({float32, float64, int64, bool_, float16});
    const Tensor a = draw.tensor(usual, false), b = draw.tensor(usual, draw.below(2) == 0);
    const Arg first(a), second(b);
    const Arg* const args[] = {&first, &second};
    for (const Op op : {Op::mul, Op::maximum, Op::lt, Op::atan2}) {
      std::optional<Resolved> resolved;
      try {
        resolved = resolve(op, args, 2, Form::functional);
      } catch (const Error& error) {
        EXPECT_THROW(elementwise(op, args, 2), Error) << error.what();
        continue;
      }
      const Tensor result = elementwise(op, args, 2);
      EXPECT_TRUE(result.sizes() == SizesView(resolved->shape));
      EXPECT_TRUE(result.strides() == SizesView(resolved->strides))
          << to_string(a.sizes()) << to_string(a.strides()) << to_string(b.sizes()) << to_string(b.strides());
      EXPECT_EQ(result.dtype(), resolved->types.result);
      EXPECT_EQ(described(result), described(run_resolved(op, args, 2)));
    }
  }
}

std::string described(const char* route, const char* stores, const Plan& plan) {
  std::string text = std::string(route) + " " + stores;
  for (int64_t loop = 0; loop < plan.ndim(); ++loop) {
    text += " " + std::to_string(plan.sizes[loop]) + ":";
    for (int64_t operand = 0; operand < plan.operands.size(); ++operand)
      text += std::to_string(plan.strides_of(operand)[loop]) + ",";
  }
  for (int64_t operand = plan.outputs; operand < plan.operands.size(); ++operand)
    text += std::string(" ") + access_pattern_name(plan.operands[operand].access);
  return text;
}

/// What the engine notes of the run that computes the op itself, not casts before it or copies after it.
std::string noted(const std::vector<Course>& courses, const char* kernel) {
  for (const Course& course : courses)
    for (const KernelName& name : course.kernels)
      if (std::string(name.op) == kernel) return described(course.route, course.stores, course.plan);
  return "nothing";
}

TEST(Resolve, ItsPlanAndScheduleAreWhatRuns) {
  set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  Draw draw(5);
  int runs = 0;
  for (int i = 0; i < 1000; ++i) {
    const Dtype usual = draw.one_of({float32, float64, int64, float16});
    const Tensor a = draw.tensor(usual, false), b = draw.tensor(usual, draw.below(2) == 0);
    Tensor out = draw.tensor(usual, false);
    const Arg first(a), second(b);
    const Arg* const args[] = {&first, &second};
    for (const Form form : {Form::functional, Form::out}) {
      const Tensor* target = form == Form::out ? &out : nullptr;
      std::string planned = "nothing";
      const CourseRecord record;
      try {
        const Resolved resolved = resolve(Op::maximum, args, 2, form, target);
        if (const PreparedCall& call = resolved.prepared)
          planned = described(route_name(call->schedule.route), store_mode_name(call->schedule.store), call->plan);
      } catch (const Error& error) {
        continue;
      }
      form == Form::out ? void(elementwise_out(Op::maximum, out, args, 2)) : void(elementwise(Op::maximum, args, 2));
      EXPECT_EQ(planned, noted(record.courses, "maximum")) << to_string(a.sizes()) << to_string(b.sizes());
      runs += planned != "nothing";
    }
  }
  EXPECT_GT(runs, 500);
  set_warning_handler(nullptr);
}

}  // namespace
}  // namespace tenon
