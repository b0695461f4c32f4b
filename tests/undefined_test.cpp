// Using a default-constructed Tensor or Node is an Error, never a crash: as an argument of any op in any form, in any
// method, and as a result of hooks, custom functions and custom ops.
#include <algorithm>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "declared.h"
#include "error_text.h"

namespace {

using namespace tenon;
using autograd::Tensors;

const char* const kText = "Expected a proper Tensor but got None (or an undefined Tensor in C++)";

#define EXPECT_UNDEFINED(...) EXPECT_EQ(error_text([&] { static_cast<void>(__VA_ARGS__); }), kText) << #__VA_ARGS__

/// Calls every form with an undefined tensor as each argument in turn.
void expect_undefined(const Schema& schema, const declared::Call& call) {
  if (error_text([&] { schema.function(call.values.data()); }) != "no error") return;  // clamp without bounds
  for (std::size_t place = 0; place <= call.values.size(); ++place) {
    const bool is_result = place == call.values.size();
    if (is_result ? schema.out == nullptr : !call.values[place].is_tensor()) continue;
    if (!is_result && std::string_view(schema.first[place].type) == "Tensor?") continue;  // it may be undefined
    declared::Values values = call.values;
    if (!is_result) values[place] = Tensor();
    const std::string what = schema.signature + call.says + ", place " + std::to_string(place);
    List<Tensor> outs(static_cast<std::size_t>(std::max(schema.results, 1)));
    if (!is_result)
      for (Tensor& out : outs) out = ones({2, 2});
    const auto expect = [&](const auto& form) { EXPECT_EQ(error_text(form), kText) << what; };
    if (schema.out) expect([&] { schema.out(values.data(), outs.data()); });
    if (is_result) continue;
    expect([&] { schema.function(values.data()); });
    const int self = schema.place_of("self");
    if (self < 0 || !values[static_cast<std::size_t>(self)].is_tensor()) continue;  // a number has no methods
    if (schema.method) expect([&] { schema.method(values.data()); });
    if (schema.inplace) expect([&] { schema.inplace(values.data()); });
  }
}

TEST(Undefined, GivenToEveryOpInEveryForm) {
  Tensor none, some = ones({2, 2});
  for (const Schema& schema : schemas()) {
    if (schema.place_of("out_dtype") >= 0) continue;  // always refused
    const auto operand = [&](int i) {
      const Dims sizes = declared::sizes_of(schema, declared::operand_number(schema, i), some.sizes());
      const Tensor fitting = sizes == some.sizes() ? some : ones(sizes);
      return Value(declared::as_operand(schema.parameters()[static_cast<std::size_t>(i)], fitting));
    };
    for (const declared::Call& call : declared::calls(schema, operand)) expect_undefined(schema, call);
    for (int number = 0; number < schema.count; ++number) {  // together with a number
      if (!schema.first[number].takes_numbers) continue;
      const auto one_number = [&](int i) { return i == number ? Value(2) : operand(i); };
      for (const declared::Call& call : declared::calls(schema, one_number)) expect_undefined(schema, call);
    }
  }
  EXPECT_UNDEFINED(none + some);
  EXPECT_UNDEFINED(some += none);
  EXPECT_UNDEFINED(-none);
  EXPECT_EQ(some.sum().item<float>(), 4) << "an operand was written to";
}

TEST(Undefined, EveryMethod) {
  Tensor none, some = ones({2, 2});
  EXPECT_UNDEFINED(none.dim());
  EXPECT_UNDEFINED(none.sizes());
  EXPECT_UNDEFINED(none.strides());
  EXPECT_UNDEFINED(none.size(0));
  EXPECT_UNDEFINED(none.stride(0));
  EXPECT_UNDEFINED(none.numel());
  EXPECT_UNDEFINED(none.dtype());
  EXPECT_UNDEFINED(none.device());
  EXPECT_UNDEFINED(none.is_meta());
  EXPECT_UNDEFINED(none.storage_offset());
  EXPECT_UNDEFINED(none.itemsize());
  EXPECT_UNDEFINED(none.nbytes());
  EXPECT_UNDEFINED(none.version());
  EXPECT_UNDEFINED(none.is_view());
  EXPECT_UNDEFINED(none.is_inference());
  EXPECT_UNDEFINED(none.data_ptr());
  EXPECT_UNDEFINED(none.data<float>());
  EXPECT_UNDEFINED(none.is_contiguous());
  EXPECT_UNDEFINED(none.is_contiguous(MemoryFormat::channels_last));
  EXPECT_UNDEFINED(none.expand({2}));
  EXPECT_UNDEFINED(none.expand_as(some));
  EXPECT_UNDEFINED(some.expand_as(none));
  EXPECT_UNDEFINED(none.broadcast_to({2}));
  EXPECT_UNDEFINED(none.view({2}));
  EXPECT_UNDEFINED(none.reshape({2}));
  EXPECT_UNDEFINED(none.unsqueeze(0));
  EXPECT_UNDEFINED(none.squeeze());
  EXPECT_UNDEFINED(none.squeeze(0));
  EXPECT_UNDEFINED(none.squeeze(SizesView({0, 1})));
  EXPECT_UNDEFINED(none.transpose(0, 1));
  EXPECT_UNDEFINED(none.t());
  EXPECT_UNDEFINED(none.mT());
  EXPECT_UNDEFINED(none.permute({0}));
  EXPECT_UNDEFINED(none.movedim(0, 1));
  EXPECT_UNDEFINED(none.movedim(SizesView({0}), SizesView({1})));
  EXPECT_UNDEFINED(none.select(0, 0));
  EXPECT_UNDEFINED(none.narrow(0, 0, 1));
  EXPECT_UNDEFINED(none.slice(0, 0, 1));
  EXPECT_UNDEFINED(none.flatten());
  EXPECT_UNDEFINED(none.unflatten(0, {1, 1}));
  EXPECT_UNDEFINED(none.as_strided({1}, {1}));
  EXPECT_UNDEFINED(none.diagonal());
  EXPECT_UNDEFINED(none.unfold(0, 1, 1));
  EXPECT_UNDEFINED(none.index({0}));
  EXPECT_UNDEFINED(some.index({none}));
  EXPECT_UNDEFINED(none[0]);
  EXPECT_UNDEFINED(none.detach());
  EXPECT_UNDEFINED(none.requires_grad());
  EXPECT_UNDEFINED(none.requires_grad_());
  EXPECT_UNDEFINED(none.is_leaf());
  EXPECT_UNDEFINED(none.grad());
  EXPECT_UNDEFINED((none.set_grad(some), 0));
  EXPECT_UNDEFINED(none.grad_fn());
  EXPECT_UNDEFINED(none.output_nr());
  EXPECT_UNDEFINED((none.retain_grad(), 0));
  EXPECT_UNDEFINED(none.retains_grad());
  EXPECT_UNDEFINED(none.variable_data());
  EXPECT_UNDEFINED((none.set_data(some), 0));
  EXPECT_UNDEFINED((some.set_data(none), 0));
  EXPECT_UNDEFINED(none.detach_());
  EXPECT_UNDEFINED((none.backward(), 0));
  EXPECT_UNDEFINED(none.register_hook([](const Tensor&) { return Tensor(); }));
  EXPECT_UNDEFINED(none.register_post_accumulate_grad_hook([](const Tensor&) {}));
  EXPECT_UNDEFINED(none.contiguous());
  EXPECT_UNDEFINED(none.clone());
  EXPECT_UNDEFINED(none.to(float64));
  EXPECT_UNDEFINED(none.to(Device::meta));
  EXPECT_UNDEFINED(none.copy_(some));
  EXPECT_UNDEFINED(some.copy_(none));
  EXPECT_UNDEFINED(none.fill_(1));
  EXPECT_UNDEFINED(some.fill_(none));
  EXPECT_UNDEFINED(none.zero_());
  EXPECT_UNDEFINED(none.index_put_({0}, some));
  EXPECT_UNDEFINED(some.index_put_({0}, none));
  EXPECT_UNDEFINED(some.index_put_({none}, some));
  EXPECT_UNDEFINED(none.resize_({2}));
  EXPECT_UNDEFINED(none.item());
  EXPECT_UNDEFINED(none.sum_to_size({1}));
  EXPECT_NO_THROW(to_string(none));
  EXPECT_EQ(some.sum().item<float>(), 4) << "an operand was written to";
}

TEST(Undefined, OtherFunctions) {
  Tensor none, some = ones({2}).requires_grad_();
  const Tensor result = (some * 2).sum();
  EXPECT_UNDEFINED(result_type(none, some));
  EXPECT_UNDEFINED(nonzero_places(none));
  Tensor several[] = {some, none};
  EXPECT_UNDEFINED((broadcast_tensors(several, 2), 0));
  EXPECT_UNDEFINED(empty_like(none));
  EXPECT_UNDEFINED(zeros_like(none));
  EXPECT_UNDEFINED(ones_like(none));
  EXPECT_UNDEFINED(full_like(none, 1));
  EXPECT_UNDEFINED(rand_like(none));
  EXPECT_UNDEFINED(randn_like(none));
  EXPECT_UNDEFINED((autograd::backward({none}), 0));
  EXPECT_UNDEFINED((autograd::backward({result}, {}, {}, {none}), 0));
  EXPECT_UNDEFINED(autograd::grad({none}, {some}));
  EXPECT_UNDEFINED(autograd::grad({result}, {none}));
  EXPECT_UNDEFINED(autograd::gradcheck([](const Tensors& x) { return x; }, {none}));
}

TEST(Undefined, ANode) {
  const autograd::Node none;
  const char* const text = "Expected a proper Node but got an undefined one";
  EXPECT_EQ(error_text([&] { static_cast<void>(none.name()); }), text);
  EXPECT_EQ(error_text([&] { static_cast<void>(none.next_functions()); }), text);
  EXPECT_EQ(error_text([&] { none.register_hook([](const Tensors&, const Tensors&) { return Tensors(); }); }), text);
  EXPECT_EQ(error_text([&] { none.register_prehook([](const Tensors&) { return Tensors(); }); }), text);
  autograd::HookHandle().remove();
}

TEST(Undefined, FromAHookItLeavesTheGradient) {
  const Tensor x = ones({2}).requires_grad_(), y = x * 3;
  y.register_hook([](const Tensor&) { return Tensor(); });
  y.grad_fn().register_prehook([](const Tensors&) { return Tensors{Tensor()}; });
  y.sum().backward();
  EXPECT_FALSE(x.grad().defined()) << "a hook of a node took the gradient away";
  EXPECT_THROW(x.register_hook(autograd::TensorHook()), TypeError);
  EXPECT_THROW(x.register_post_accumulate_grad_hook(autograd::LeafHook()), TypeError);
  EXPECT_THROW(y.grad_fn().register_hook({}), TypeError);
}

TEST(Undefined, AHookMayNotChangeWhatAGradientIs) {
  const Tensor x = ones({2}).requires_grad_();
  const struct {
    Tensor gives;
    const char* text;
  } cases[] = {
      {ones({2}, int64), "hook has changed the type of value (was torch.FloatTensor got torch.LongTensor)"},
      {ones({2}, float64), "hook has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)"},
      {ones({2}, Device::meta), "hook has changed the type of value (was torch.FloatTensor got MetaFloatType)"},
      {ones({3}), "hook has changed the size of value"},
  };
  for (const auto& c : cases) {
    autograd::HookHandle of_leaf = x.register_hook([&](const Tensor&) { return c.gives; });
    EXPECT_EQ(error_text([&] { (x * 2).sum().backward(); }), c.text);
    of_leaf.remove();
    const Tensor y = x * 2;
    y.grad_fn().register_hook([&](const Tensors&, const Tensors&) { return Tensors{c.gives, Tensor()}; });
    EXPECT_EQ(error_text([&] { y.sum().backward(); }), c.text);
  }
  EXPECT_FALSE(x.grad().defined());
}

struct Nothing : autograd::Function<Nothing> {
  static constexpr const char* name = "NothingBackward";
  static Tensors forward(autograd::Context&, const Tensors&) { return {Tensor()}; }
  static Tensors backward(autograd::Context&, const Tensors&) { return {Tensor()}; }
};
struct NoGradient : autograd::Function<NoGradient> {
  static constexpr const char* name = "NoGradientBackward";
  static Tensors forward(autograd::Context&, const Tensors& inputs) { return {inputs[0] * 2}; }
  static Tensors backward(autograd::Context&, const Tensors&) { return {Tensor()}; }
};
struct Shy {
  static constexpr const char* name = "shy";
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
  static Tensor grad_a(const CustomGiven&) { return {}; }
  static Tensor grad_b(const CustomGiven& g) { return g.grad() * 5; }
};

TEST(Undefined, FromFunctionsOfOnesOwn) {
  const Tensor x = ones({2}).requires_grad_();
  const char* const text = "Function NothingBackward returned an undefined Tensor as output 0 of its forward";
  EXPECT_EQ(error_text([&] { Nothing::apply({x}); }), text);
  EXPECT_EQ(error_text([&] { Nothing::apply({ones({2})}); }), text);
  NoGradient::apply({x})[0].sum().backward();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Undefined, FromAnOpFromOutside) {
  const CustomOp<Shy> shy;
  Tensor none;
  for (int64_t size : {2, 10000}) {
    const Tensor x = ones({size}).requires_grad_(), y = ones({size}).requires_grad_(), row = ones({1}).requires_grad_();
    shy(x, y).sum().backward();
    EXPECT_FALSE(x.grad().defined()) << "no gradient is what an undefined one means";
    EXPECT_EQ(y.grad().select(0, 0).item<float>(), 5);
    shy(row, y).sum().backward();
    EXPECT_FALSE(row.grad().defined());
    EXPECT_UNDEFINED(shy(x, none));
    EXPECT_UNDEFINED(shy(none, x));
    EXPECT_UNDEFINED(shy.out(none, x, x));
    EXPECT_UNDEFINED(shy.inplace(none, x));
  }
}

}  // namespace
