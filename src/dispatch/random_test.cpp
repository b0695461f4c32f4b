// Random tensors depend only on seed and order of calls, stay in range and have the right moments.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "error_text.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tenon/random.h"
#include "tensor/impl.h"
#include "type/visit.h"

namespace tenon {
namespace {

std::vector<double> values_of(const Tensor& x) {
  return visit_dtype(x.dtype(), [&]<class T>() {
    std::vector<double> values;
    for (int64_t i = 0; i < x.numel(); ++i) values.push_back(to_scalar(x.data<T>()[i]).as_double());
    return values;
  });
}

TEST(Random, TheSeedDecides) {
  manual_seed(1);
  const auto first = values_of(rand({9})), second = values_of(rand({9}));
  manual_seed(1);
  EXPECT_EQ(values_of(rand({9})), first);
  EXPECT_EQ(values_of(rand({9})), second);
  EXPECT_NE(first, second);
  manual_seed(2);
  EXPECT_NE(values_of(rand({9})), first);
}

TEST(Random, UniformStaysBelowOneInEveryDtype) {
  manual_seed(3);
  for (Dtype dtype : {float16, bfloat16, float32, float64}) {
    double sum = 0;
    for (double value : values_of(rand({20001}, dtype))) {
      ASSERT_TRUE(value >= 0 && value < 1) << dtype_name(dtype) << " " << value;
      sum += value;
    }
    EXPECT_NEAR(sum / 20001, 0.5, 0.01) << dtype_name(dtype);
  }
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  manual_seed(4);
  for (Dtype dtype : {float16, bfloat16, float32, float64}) {
    double sum = 0, squares = 0;
    for (double value : values_of(randn({20001}, dtype))) {
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / 20001, 0, 0.03) << dtype_name(dtype);
    EXPECT_NEAR(squares / 20001, 1, 0.05) << dtype_name(dtype);
  }
}

TEST(Random, IntegersReachBothBounds) {
  manual_seed(5);
  for (Dtype dtype : {uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64}) {
    const auto values = values_of(randint(3, 7, {500}, dtype));
    EXPECT_EQ(std::set<double>(values.begin(), values.end()), std::set<double>({3, 4, 5, 6})) << dtype_name(dtype);
  }
  const auto flags = values_of(randint(0, 2, {100}, bool_));
  EXPECT_EQ(std::set<double>(flags.begin(), flags.end()).size(), 2u);
  for (double value : values_of(randint(INT64_MIN, INT64_MAX, {100}))) EXPECT_GT(std::abs(value), 1e6);
}

// torch.randint(low, high, (50,), dtype=dtype).unique()
TEST(Random, IntegersThatADtypeHasNotAreRoundedIntoTheBounds) {
  manual_seed(5);
  std::vector<std::string> warnings;
  set_warning_handler([](const char*, const std::string& text, const std::string&,
                         void* to) { static_cast<std::vector<std::string>*>(to)->push_back(text); },
                      &warnings);
  const auto drawn = [](int64_t low, int64_t high, Dtype dtype) {
    const auto values = values_of(randint(low, high, {200}, dtype));
    return std::set<double>(values.begin(), values.end());
  };
  using Set = std::set<double>;
  EXPECT_EQ(drawn(4095, 4100, float16), (Set{4096}));
  EXPECT_EQ(drawn(-2051, -2049, float16), (Set{-2052, -2050}));
  EXPECT_EQ(drawn(300, 302, bfloat16), (Set{300}));
  EXPECT_EQ(drawn(-300, -290, bfloat16), (Set{-300, -298, -296, -294, -292}));
  EXPECT_EQ(drawn((1 << 25) + 1, (1 << 25) + 9, float32), (Set{33554436, 33554440}));
  set_warning_handler(nullptr);
  ASSERT_EQ(warnings.size(), 10u);
  const std::string rest =
      " is out of bounds [-(2^11), 2^11]. Due to precision limitations c10::Half can support discrete uniform "
      "distribution only within this range. This warning will become an error in version 1.7 release, please fix the "
      "code in advance";
  EXPECT_EQ(warnings[0], "from" + rest);
  EXPECT_EQ(warnings[1], "to - 1" + rest);
}

TEST(Random, AGuardChoosesTheGenerator) {
  Generator own;
  own.manual_seed(1);
  manual_seed(2);
  Tensor drawn;
  {
    const GeneratorGuard guard(own);
    drawn = rand({9});
  }
  const auto from_default = values_of(rand({9}));
  manual_seed(2);
  EXPECT_EQ(values_of(rand({9})), from_default) << "the guard left it alone";
  manual_seed(1);
  EXPECT_EQ(values_of(rand({9})), values_of(drawn));
  EXPECT_EQ(own.state().seed, 1u);
  const Generator::State after = own.state();
  EXPECT_EQ(after.used, 9);
  const GeneratorGuard guard(own);
  const auto next = values_of(rand({9}));
  own.set_state(after);
  EXPECT_EQ(values_of(rand({9})), next);
}

TEST(Random, LikeFillsAnyDenseLayout) {
  manual_seed(6);
  const Tensor x = rand_like(empty({3, 4}).t());
  EXPECT_EQ(x.strides(), SizesView({1, 4}));
  const auto values = values_of(x);
  EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 12u);
}

TEST(Random, Errors) {
  const struct {
    std::function<void()> call;
    const char* want;
  } cases[] = {
      {[] { rand({2}, int64); }, "\"check_uniform_bounds\" not implemented for 'Long'"},
      {[] { rand({0}, int64); }, "\"check_uniform_bounds\" not implemented for 'Long'"},
      {[] {
         rand({2}, {int64, Device::meta});
       },
       "no error"},
      {[] { randn({2}, bool_); }, "\"normal_kernel_cpu\" not implemented for 'Bool'"},
      {[] { randn({0}, int64); }, "no error"},
      {[] {
         randn({2}, {int64, Device::meta});
       },
       "expected a floating-point or complex dtype, but got dtype=torch.int64"},
      {[] { rand({-1}); }, "Trying to create tensor with negative dimension -1: [-1]"},
      {[] { randint(5, 5, {0}); }, "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"},
      {[] { randint(0, 257, {2}, uint8); }, "to - 1 is out of bounds for unsigned char"},
      {[] { randint(-1, 3, {2}, uint8); }, "from is out of bounds for unsigned char"},
      {[] { randint(0, 3, {2}, bool_); }, "to - 1 is out of bounds for bool"},
      {[] { randint(4097, 4098, {2}, float16); },
       "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=4100 >= to=4098"},
      {[] { randint(0, 70000, {2}, float16); }, "to - 1 is out of bounds for c10::Half"},
      {[] {
         randint(0, 300, {2}, {uint8, Device::meta});
       },
       "no error"},
  };
  for (const auto& c : cases) EXPECT_EQ(error_text(c.call), c.want);
}

}  // namespace
}  // namespace tenon
