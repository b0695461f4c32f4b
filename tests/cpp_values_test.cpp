// Values passed between C++ and the library: numbers, bools as indices, saved values of functions, exchanged elements.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "tenon/tenon.h"

namespace {

using namespace tenon;

template <class T, class Value>
std::string refusal(Value value) {
  try {
    static_cast<void>(Scalar(value).template to<T>());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Numbers, ThatATypeCannotHoldAreErrors) {
  EXPECT_EQ(refusal<int>(1e30), "value cannot be converted to type int without overflow");
  EXPECT_EQ(refusal<uint8_t>(300), "value cannot be converted to type uint8_t without overflow");
  EXPECT_EQ(refusal<int8_t>(-129), "value cannot be converted to type int8_t without overflow");
  EXPECT_EQ(refusal<uint64_t>(-1), "value cannot be converted to type uint64_t without overflow");
  EXPECT_EQ(refusal<int64_t>(9223372036854775808.0), "value cannot be converted to type int64_t without overflow");
  EXPECT_EQ(refusal<int16_t>(std::nan("")), "value cannot be converted to type int16_t without overflow");
  EXPECT_EQ(refusal<float>(1e300), "value cannot be converted to type float without overflow");
}

TEST(Numbers, ThatATypeHoldsComeBack) {
  EXPECT_EQ(Scalar(-128).to<int8_t>(), -128);
  EXPECT_EQ(Scalar(255.75).to<uint8_t>(), 255);
  EXPECT_EQ(Scalar(-9223372036854775808.0).to<int64_t>(), INT64_MIN);
  EXPECT_EQ(Scalar(INT64_MAX).to<uint64_t>(), static_cast<uint64_t>(INT64_MAX));
  EXPECT_EQ(Scalar(1e300).to<double>(), 1e300);
  EXPECT_EQ(Scalar(std::numeric_limits<double>::infinity()).to<float>(), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(Scalar(1e300).to<bool>());
  EXPECT_EQ(tensor({7}).item<unsigned>(), 7u);
  EXPECT_THROW(tensor({-7}).item<unsigned>(), Error);
}

TEST(Numbers, ComplexOnesTakePart) {
  const std::complex<double> i(0, 1);
  const Tensor x = tensor({1, 2}) * i;
  EXPECT_EQ(x.dtype(), complex64);
  EXPECT_EQ(x.data<std::complex<float>>()[1], std::complex<float>(0, 2));
  EXPECT_EQ(to_string(x), "tensor([0.+1.j, 0.+2.j])");
  EXPECT_EQ(Scalar(i).as_complex(), (Complex128{0, 1}));
  EXPECT_EQ(Scalar(Complex64{2, 0}).to<int>(), 2);
  EXPECT_THROW(Scalar(i).to<double>(), Error);
  EXPECT_EQ(full({1}, i, complex128).item().kind(), Scalar::Kind::complex);
  EXPECT_EQ(to_string(imag(x)), "tensor([1., 2.])");
}

TEST(Numbers, AnyImaginaryPartIsOne) {
  static_assert(sizeof(Scalar) == 16 && std::is_trivially_copyable_v<Scalar>, "passed in two registers");
  constexpr double inf = std::numeric_limits<double>::infinity(), tiny = std::numeric_limits<double>::denorm_min();
  for (const double part : {0.0, -0.0, 1.5, -inf, inf, tiny, -tiny, 4 * tiny}) {
    const Scalar number(Complex128{1, part});
    EXPECT_EQ(number.kind(), Scalar::Kind::complex) << part;
    EXPECT_EQ(number.as_complex().im, part);
    EXPECT_EQ(std::signbit(number.as_complex().im), std::signbit(part));
  }
  for (uint64_t low = 0; low < 8; ++low)
    for (const uint64_t high : {0x7FF8000000000000u, 0x7FFFFFFFFFFFFFF8u, 0xFFF8000000000000u, 0xFFFFFFFFFFFFFFF8u}) {
      const Scalar number(Complex128{1, std::bit_cast<double>(high | low)});
      EXPECT_EQ(number.kind(), Scalar::Kind::complex) << std::hex << (high | low);
      EXPECT_TRUE(std::isnan(number.as_complex().im)) << std::hex << (high | low);
    }
}

TEST(Numbers, AboveTheLargestInt64AreWide) {
  EXPECT_TRUE(Scalar(UINT64_MAX).is_wide());
  EXPECT_EQ(Scalar(UINT64_MAX).to<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(Scalar(UINT64_MAX).to<double>(), 0x1p64);
  EXPECT_THROW(Scalar(UINT64_MAX).to<int64_t>(), Error);
  EXPECT_EQ(full({1}, UINT64_MAX, uint64).item().to<uint64_t>(), UINT64_MAX);
  EXPECT_THROW(full({1}, UINT64_MAX), Error);
  EXPECT_EQ(Scalar(static_cast<uint64_t>(INT64_MAX)).as_int64(), INT64_MAX);
}

TEST(Indices, ATruthIsAMask) {
  const Tensor x = arange(6).reshape({2, 3});
  EXPECT_EQ(to_string(x.index({true}).sizes()), "[1, 2, 3]");
  EXPECT_EQ(to_string(x.index({false}).sizes()), "[0, 2, 3]");
  EXPECT_EQ(to_string(x.index({1, true}).sizes()), "[1, 3]");
}

struct SavesNothing : autograd::Function<SavesNothing> {
  static constexpr const char* name = "SavesNothingBackward";
  static autograd::Tensors forward(autograd::Context&, const autograd::Tensors& inputs) { return {inputs[0] * 2}; }
  static autograd::Tensors backward(autograd::Context& context, const autograd::Tensors& grads) {
    return {grads[0] * context.saved<double>()};
  }
};

TEST(SavedValues, ThatWereNotSavedAreAnError) {
  const Tensor x = ones({3}).requires_grad_();
  EXPECT_THROW(SavesNothing::apply({x})[0].sum().backward(), Error);
}

std::optional<autograd::Context> kept;

struct KeepsItsContext : autograd::Function<KeepsItsContext> {
  static constexpr const char* name = "KeepsItsContextBackward";
  static autograd::Tensors forward(autograd::Context& context, const autograd::Tensors& inputs) {
    context.save_for_backward(inputs);
    context.save(2);
    kept = context;
    return {inputs[0] * 2};
  }
  static autograd::Tensors backward(autograd::Context&, const autograd::Tensors& grads) { return grads; }
};

TEST(SavedValues, OfAContextWhoseGraphIsGoneAreAnError) {
  const Tensor x = ones({3}).requires_grad_();
  {
    const Tensor y = KeepsItsContext::apply({x})[0];
    EXPECT_EQ(kept->saved_tensors().size(), 1U);
    EXPECT_EQ(kept->saved<int>(), 2);
    EXPECT_TRUE(kept->node().defined());
    EXPECT_THROW(kept->needs_input_grad(1), IndexError);
    EXPECT_THROW(kept->needs_input_grad(-1), IndexError);
  }
  EXPECT_THROW(kept->saved_tensors(), Error);
  EXPECT_THROW(kept->saved<int>(), Error);
  EXPECT_THROW(kept->node(), Error);
  EXPECT_TRUE(kept->needs_input_grad(0));
  kept.reset();
}

TEST(Comparisons, OfWholeTensorsAreBools) {
  const Tensor x = tensor({1.0, 2.0}), nans = tensor({std::nan(""), 1.0});
  EXPECT_TRUE(equal(x, x.clone()));
  EXPECT_FALSE(equal(x, x + 1));
  EXPECT_FALSE(equal(x, x.unsqueeze(0)));
  EXPECT_TRUE(equal(zeros({0, 2}), zeros({0, 2})));
  EXPECT_TRUE(allclose(x, x + 1e-9));
  EXPECT_FALSE(allclose(x, x + 0.1));
  EXPECT_TRUE(allclose(x, x + 0.1, 0, 0.2));
  EXPECT_FALSE(allclose(nans, nans));
  EXPECT_TRUE(allclose(nans, nans, 1e-5, 1e-8, true));
}

TEST(Einsum, TakesTheEquationFirstToo) {
  const Tensor x = arange(6, Options(float32)).reshape({2, 3});
  EXPECT_TRUE(equal(einsum("ij,kj->ik", {x, x}), einsum({x, x}, "ij,kj->ik")));
}

TEST(OtherNames, AreTheSame) {
  const Tensor x = arange(6, Options(float32)).reshape({2, 3});
  EXPECT_TRUE(equal(softmin(x, 1), softmax(-x, 1)));
  EXPECT_TRUE(equal(softmin(x, 0, float64), softmax(-x, 0, float64)));
  EXPECT_TRUE(equal(ravel(x.t()), x.t().reshape({6})));
  EXPECT_TRUE(equal(swapaxes(x, 0, 1), x.t()));
  EXPECT_TRUE(equal(swapdims(x, 0, -1), x.t()));
  EXPECT_TRUE(equal(moveaxis(x, {0}, {1}), x.t()));
}

}  // namespace
