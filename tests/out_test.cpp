// out= of every declared op, where the output is also an input, shares its memory with one, or must not move: the value
// of the functional form, or an error that changes nothing.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "error_text.h"
#include "gtest/gtest.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

enum class Shape { elementwise, reduction, product };

/// One declared op in its functional and its out= form.
struct Form {
  const char* name;
  Shape shape;
  int arity;
  std::function<Tensor(const Tensor* in)> call;
  std::function<void(Tensor& out, const Tensor* in)> call_out;
};

#define TENON_FORM(NAME, SHAPE, ARITY, ...)                                                               \
  {#NAME, Shape::SHAPE, ARITY, [](const Tensor* in) { return static_cast<void>(in), NAME(__VA_ARGS__); }, \
   [](Tensor& out, const Tensor* in) { static_cast<void>(in), NAME##_out(out, __VA_ARGS__); }},
#define TENON_FORM_form(NAME)
#define TENON_FORM_unary(NAME) TENON_FORM(NAME, elementwise, 1, in[0])
#define TENON_FORM_binary(NAME) TENON_FORM(NAME, elementwise, 2, in[0], in[1])
#define TENON_FORM_binary_alpha(NAME) TENON_FORM(NAME, elementwise, 2, in[0], in[1])
#define TENON_FORM_division(NAME)                \
  TENON_FORM(NAME, elementwise, 2, in[0], in[1]) \
  TENON_FORM(NAME, elementwise, 2, in[0], in[1], "floor")
#define TENON_FORM_clamp(NAME)                        \
  TENON_FORM(NAME, elementwise, 2, in[0], Arg(in[1])) \
  TENON_FORM(NAME, elementwise, 3, in[0], Arg(in[1]), Arg(in[2]))
#define TENON_FORM_where(NAME) TENON_FORM(NAME, elementwise, 3, in[0], in[1], in[2])
#define TENON_FORM_product(NAME) TENON_FORM(NAME, product, 2, in[0], in[1])
#define TENON_FORM_reduction(NAME)               \
  TENON_FORM(NAME, reduction, 1, in[0], 0)       \
  TENON_FORM(NAME, reduction, 1, in[0], 1)       \
  TENON_FORM(NAME, reduction, 1, in[0], 0, true) \
  TENON_FORM(NAME, reduction, 1, in[0])
#define TENON_FORM_reduction_dtype(NAME) TENON_FORM_reduction(NAME)
#define TENON_OP(NAME, KIND) TENON_FORM_##KIND(NAME)
const std::vector<Form> forms = {
#include "tenon/ops.def"
};
#undef TENON_OP

/// Layout and bytes of what a tensor shows.
std::string seen(const Tensor& tensor) {
  return to_string(tensor.sizes()) + to_string(tensor.strides()) + dtype_name(tensor.dtype()) + to_string(tensor);
}

bool same_values(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(float64).contiguous(), y = b.to(float64).contiguous();
  return a.sizes() == b.sizes() && std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<std::size_t>(x.nbytes())) == 0;
}

/// Calls `check` with every op of a shape, for the dtypes it takes; each op must take one of them.
void for_each_form(Shape shape, const std::function<Tensor(Dtype, int operand)>& operand,
                   const std::function<void(const Form&, Dtype, const std::vector<Tensor>&)>& check) {
  for (const Form& form : forms) {
    if (form.shape != shape) continue;
    int runs = 0;
    for (const Dtype dtype : {float32, bool_}) {
      std::vector<Tensor> in;
      for (int i = 0; i < form.arity; ++i) in.push_back(operand(dtype, i));
      if (error_text([&] { form.call(in.data()); }) != "no error") continue;
      ++runs;
      check(form, dtype, in);
    }
    EXPECT_GT(runs, 0) << form.name;
  }
}

struct QuietWarnings {
  QuietWarnings() {
    set_warning_handler([](const char*, const std::string&, const std::string&, void*) {}, nullptr);
  }
  ~QuietWarnings() { set_warning_handler(nullptr); }
};

TEST(Out, AnInputThatWouldChangeShapeIsRefused) {
  const QuietWarnings quiet;
  const auto column = [](Dtype dtype, int) { return arange(1, 4).reshape({3, 1}).to(dtype); };
  for_each_form(Shape::elementwise, column, [](const Form& form, Dtype dtype, const std::vector<Tensor>& in) {
    for (int at = 0; form.arity > 1 && at < form.arity; ++at) {
      std::vector<Tensor> mixed = in;
      Tensor out = mixed[static_cast<std::size_t>(at)] = full({1, 1, 1}, 1, Options(dtype));
      const std::string before = seen(out);
      EXPECT_EQ(error_text([&] { form.call_out(out, mixed.data()); }),
                "output with shape [1, 1, 1] doesn't match the broadcast shape [1, 3, 1]")
          << form.name << " " << dtype_name(dtype) << " operand " << at;
      EXPECT_EQ(seen(out), before) << form.name;
    }
  });
}

TEST(Out, AnAliasOfAnInputMayChangeShape) {
  const QuietWarnings quiet;
  const auto column = [](Dtype dtype, int) { return arange(1, 4).reshape({3, 1}).to(dtype); };
  for_each_form(Shape::elementwise, column, [](const Form& form, Dtype dtype, const std::vector<Tensor>& in) {
    for (int at = 0; form.arity > 1 && at < form.arity; ++at) {
      std::vector<Tensor> mixed = in;
      const Tensor input = mixed[static_cast<std::size_t>(at)] = full({1, 1, 1}, 1, Options(dtype));
      const Tensor want = form.call(mixed.data());
      Tensor out = input.detach();
      if (error_text([&] { form.call_out(out, mixed.data()); }) != "no error") continue;  // another dtype
      EXPECT_TRUE(same_values(out, want)) << form.name << " operand " << at << " gives " << to_string(out);
    }
  });
}

TEST(Out, AReductionIntoItsInputGivesTheValue) {
  const QuietWarnings quiet;
  for (const Dims& sizes : {Dims{2, 5}, Dims{3, 3}, Dims{1, 1}, Dims{70, 90}}) {
    const auto matrix = [&](Dtype dtype, int) { return arange(numel_of(sizes)).reshape(sizes).to(dtype); };
    for_each_form(Shape::reduction, matrix, [&](const Form& form, Dtype dtype, const std::vector<Tensor>& in) {
      const Tensor want = form.call(in.data());
      if (want.dtype() != dtype) return;
      Tensor itself = in[0].clone();
      form.call_out(itself, &itself);
      EXPECT_TRUE(same_values(itself, want)) << form.name << " into itself gives " << to_string(itself);
      Tensor base = in[0].clone();
      for (Tensor view : {base.detach(), base.view({-1}), base.select(0, 0), base.t()}) {
        base.copy_(in[0]);
        form.call_out(view, &base);
        EXPECT_TRUE(same_values(view, want)) << form.name << " into a view gives " << to_string(view);
      }
    });
  }
}

TEST(Out, AReductionOfNothingIntoItsInput) {
  const QuietWarnings quiet;
  Tensor x = zeros({0, 5, 5});
  EXPECT_TRUE(same_values(sum_out(x, x, 0), zeros({5, 5})));
}

TEST(Out, AProductIntoAFactorGivesTheValue) {
  const QuietWarnings quiet;
  const auto factor = [](Dtype dtype, int i) { return arange(6).reshape(i == 0 ? Dims{2, 3} : Dims{3, 2}).to(dtype); };
  for_each_form(Shape::product, factor, [](const Form& form, Dtype, const std::vector<Tensor>& in) {
    const Tensor want = form.call(in.data());
    for (int at = 0; at < 2; ++at) {
      std::vector<Tensor> own = {in[0].clone(), in[1].clone()};
      Tensor out = own[static_cast<std::size_t>(at)];
      form.call_out(out, own.data());
      EXPECT_TRUE(same_values(out, want)) << form.name;
    }
  });
}

TEST(Out, ExportedMemoryNeverMoves) {
  const QuietWarnings quiet;
  for (const Shape shape : {Shape::elementwise, Shape::reduction, Shape::product}) {
    const auto square = [](Dtype dtype, int) { return arange(1, 10).reshape({3, 3}).to(dtype); };
    for_each_form(shape, square, [](const Form& form, Dtype, const std::vector<Tensor>& in) {
      const Tensor want = form.call(in.data());
      if (want.numel() == 1) return;
      Tensor out = ones({1}, Options(want.dtype()));
      const void* memory = out.export_data();
      const std::string before = seen(out);
      EXPECT_EQ(error_text([&] { form.call_out(out, in.data()); }), "Trying to resize storage that is not resizable")
          << form.name;
      EXPECT_EQ(seen(out), before) << form.name;
      EXPECT_EQ(out.data_ptr(), memory) << form.name;
    });
  }
  Tensor x = zeros({3});
  x.select(0, 1).export_data();
  EXPECT_EQ(error_text([&] { x.resize_({10}); }), "Trying to resize storage that is not resizable");
  EXPECT_EQ(to_string(x), "tensor([0., 0., 0.])");
  x.resize_({2}).resize_({3});
  EXPECT_EQ(x.numel(), 3);
}

TEST(Out, DataOfATensorKeepsItsMemory) {
  Tensor x = zeros({3});
  x.requires_grad_();
  const Tensor data = x.variable_data();
  EXPECT_EQ(error_text([&] { x.detach().resize_({1 << 16}); }), "Trying to resize storage that is not resizable");
  EXPECT_EQ(data.data_ptr(), x.data_ptr());
}

TEST(Out, AZeroDivisorLeavesTheOutputAsItWas) {
  for (const char* rounding : {"floor", "trunc"}) {
    Tensor out = ones({1}, int64);
    EXPECT_EQ(error_text([&] { div_out(out, arange(3), tensor({1, 0, 2}), rounding); }), "ZeroDivisionError");
    EXPECT_EQ(to_string(out), "tensor([1])");
  }
}

}  // namespace
}  // namespace tenon
