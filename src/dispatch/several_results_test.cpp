// Maps of several results: one pass computes them all, in every form, with the values of the C library.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "error_text.h"
#include "gtest/gtest.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tile/course.h"

namespace tenon {
namespace {

/// Values of every size and sign, and special ones.
template <class T>
Tensor drawn(int64_t count) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T special[] = {T{0},
                       -T{0},
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::denorm_min(),
                       Limits::min(),
                       Limits::min() - Limits::denorm_min(),
                       -Limits::max(),
                       T{1},
                       T{-0.5},
                       T{0.75}};
  Tensor tensor = empty({count}, dtype_of_v<T>);
  T* const to = tensor.data<T>();
  std::mt19937_64 random(7);
  for (int64_t i = 0; i < count; ++i) {
    const Bits bits = static_cast<Bits>(random() >> (i % 3 == 0 ? 12 : 0));
    std::memcpy(to + i, &bits, sizeof(T));
  }
  std::copy(std::begin(special), std::end(special), to);
  return tensor;
}

/// The number of elements that differ from the C library's results.
template <class T>
int64_t differences(const Tensor& x, const Tensor& mantissa, const Tensor& exponent) {
  int64_t count = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const T value = x.data<T>()[i], got = mantissa.data<T>()[i];
    int power = 0;
    const T want = std::frexp(value, &power);
    if (!std::isfinite(value)) power = 0;
    const bool same = std::isnan(value) ? std::isnan(got) : std::memcmp(&want, &got, sizeof(T)) == 0;
    count += !same || exponent.data<int32_t>()[i] != power;
  }
  return count;
}

TEST(SeveralResultsOfAMap, AreThoseOfTheCLibrary) {
  const Tensor single = drawn<float>(100003), wide = drawn<double>(100003);
  EXPECT_EQ(
      std::apply([&](const Tensor& m, const Tensor& e) { return differences<float>(single, m, e); }, frexp(single)), 0);
  EXPECT_EQ(std::apply([&](const Tensor& m, const Tensor& e) { return differences<double>(wide, m, e); }, frexp(wide)),
            0);
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && isclose(a, b, 0, 0, true).logical_not().sum().item<double>() == 0;
}

TEST(SeveralResultsOfAMap, OfSixteenBitFloatsAreExact) {
  for (Dtype dtype : {float16, bfloat16}) {
    Tensor x = empty({1 << 16}, dtype);
    for (uint32_t bits = 0; bits < 1u << 16; ++bits) {
      const auto element = static_cast<uint16_t>(bits);
      std::memcpy(static_cast<std::byte*>(x.data_ptr()) + 2 * bits, &element, 2);
    }
    const auto [mantissa, exponent] = frexp(x);
    const auto [wide_mantissa, wide_exponent] = frexp(x.to(float32));
    EXPECT_EQ(mantissa.dtype(), dtype);
    EXPECT_TRUE(is_same(exponent, wide_exponent));
    EXPECT_TRUE(is_same(mantissa.to(float32), wide_mantissa));
  }
}

/// The number of outputs of each run of a call.
template <class Call>
std::vector<int64_t> outputs_of_passes(const Call& call) {
  CourseRecord record;
  call();
  std::vector<int64_t> outputs;
  for (const Course& course : record.courses) outputs.push_back(course.plan.outputs);
  return outputs;
}

TEST(SeveralResultsOfAMap, TakeOnePass) {
  using Passes = std::vector<int64_t>;
  for (Dtype dtype : {float16, bfloat16, float32, float64})
    for (const Tensor& x : {ones({30, 40}, dtype), ones({40, 30}, dtype).t(), ones({30, 90}, dtype).slice(1, 0, 90, 2),
                            ones({30, 1}, dtype).expand({30, 40}), ones({}, dtype)}) {
      EXPECT_EQ(outputs_of_passes([&] { frexp(x); }), Passes{2}) << dtype_name(dtype) << to_string(x.strides());
      Tensor mantissa = empty(x.sizes(), dtype), exponent = empty(x.sizes(), int32);
      EXPECT_EQ(outputs_of_passes([&] { frexp_out(mantissa, exponent, x); }), Passes{2});
      EXPECT_TRUE(is_same(mantissa, std::get<0>(frexp(x))));
      EXPECT_TRUE(is_same(exponent, std::get<1>(frexp(x))));
    }
}

TEST(SeveralResultsOfAMap, MayBeWrittenToTheInputAndToAnyStrides) {
  const Tensor x = arange(12, float32).view({3, 4}) - 5;
  const auto [mantissa, exponent] = frexp(x);
  Tensor same = x.clone(), columns = empty({4, 3}, int32).t();
  frexp_out(same, columns, same);
  EXPECT_TRUE(is_same(same, mantissa));
  EXPECT_TRUE(is_same(columns, exponent));
  Tensor whole = zeros({3, 8}), gaps = whole.slice(1, 0, 8, 2), resized = empty({0}, int32);
  frexp_out(gaps, resized, x);
  EXPECT_TRUE(is_same(gaps, mantissa));
  EXPECT_TRUE(is_same(resized, exponent));
  EXPECT_EQ(whole.slice(1, 1, 8, 2).abs().sum().item<double>(), 0);
}

TEST(SeveralResultsOfAMap, OneThatIsResizedHasTheLayoutOfTheOther) {
  const Tensor x = arange(12, float32).view({3, 4});
  Tensor mantissa = empty({0}), exponent = empty({4, 3}, int32).t();
  frexp_out(mantissa, exponent, x);
  EXPECT_TRUE(mantissa.strides() == exponent.strides());
  EXPECT_TRUE(is_same(mantissa, std::get<0>(frexp(x))));
}

TEST(SeveralResultsOfAMap, RefuseMemoryThatOverlaps) {
  Tensor whole = ones({4}), exponent = empty({3}, int32), shifted = whole.slice(0, 1, 4);
  const Tensor x = whole.slice(0, 0, 3);
  EXPECT_NE(error_text([&] { frexp_out(shifted, exponent, x); }).find("some elements of the input tensor"),
            std::string::npos);
  Tensor expanded = empty({1}, int32).expand({2}), mantissa = empty({3});
  EXPECT_NE(error_text([&] { frexp_out(mantissa, expanded, x); }).find("more than one element"), std::string::npos);
  EXPECT_EQ(whole.sum().item<double>(), 4);
}

TEST(SeveralResultsOfAMap, OnMetaHaveShapesAlone) {
  const Tensor x = empty({5, 3}, Options(float64, Device::meta)).t();
  const auto [mantissa, exponent] = frexp(x);
  EXPECT_TRUE(mantissa.is_meta() && exponent.is_meta());
  EXPECT_EQ(mantissa.dtype(), float64);
  EXPECT_EQ(exponent.dtype(), int32);
  EXPECT_TRUE(exponent.strides() == x.strides());
}

TEST(SeveralResultsOfAMap, RefuseOtherDtypes) {
  Tensor mantissa = empty({2}), exponent = empty({2}, int32), wide = empty({2}, float64), whole = empty({2}, int64);
  const Tensor x = ones({2});
  EXPECT_EQ(error_text([&] { frexp(x.to(int32)); }), "torch.frexp() only supports floating-point dtypes");
  EXPECT_EQ(error_text([&] { frexp_out(wide, exponent, x); }),
            "torch.frexp() expects mantissa to have dtype float but got double");
  EXPECT_EQ(error_text([&] { frexp_out(mantissa, whole, x); }),
            "torch.frexp() expects exponent to have int dtype but got long int");
}

}  // namespace
}  // namespace tenon
