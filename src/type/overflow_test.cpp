// Numbers that a dtype cannot hold. The bounds fit; the next numbers do not.
#include "type/overflow.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tenon/error.h"

namespace tenon {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Overflow, WholeNumbers) {
  const struct {
    Dtype dtype;
    int64_t least, most;
  } cases[] = {
      {uint8, -255, 255},
      {int8, -128, 127},
      {int16, -32768, 32767},
      {int32, -2147483648, 2147483647},
      {float16, -65504, 65504},
      {uint16, -65535, 65535},
      {uint32, -4294967295, 4294967295},
  };
  for (const auto& c : cases) {
    EXPECT_FALSE(overflows(c.least, c.dtype)) << dtype_name(c.dtype);
    EXPECT_FALSE(overflows(c.most, c.dtype)) << dtype_name(c.dtype);
    EXPECT_FALSE(overflows(int64_t{0}, c.dtype)) << dtype_name(c.dtype);
    EXPECT_TRUE(overflows(c.least - 1, c.dtype)) << dtype_name(c.dtype);
    EXPECT_TRUE(overflows(c.most + 1, c.dtype)) << dtype_name(c.dtype);
  }
  EXPECT_TRUE(overflows(Complex128{1, 2}, float64));
  EXPECT_FALSE(overflows(Complex128{1, 0}, uint8));
  EXPECT_TRUE(overflows(Complex128{256, 0}, uint8));
  EXPECT_FALSE(overflows(Complex128{1, 2}, bool_));
  EXPECT_FALSE(overflows(Complex128{1, 2}, complex64));
  EXPECT_TRUE(overflows(Complex128{1, 1e300}, complex64));
  EXPECT_FALSE(overflows(Complex128{1, 1e300}, complex128));
  EXPECT_FALSE(overflows(UINT64_MAX, uint64));
  EXPECT_TRUE(overflows(UINT64_MAX, int64));
  EXPECT_TRUE(overflows(UINT64_MAX, float16));
  EXPECT_FALSE(overflows(UINT64_MAX, float32));
  for (const Dtype dtype : {bool_, int64, uint64, bfloat16, float32, float64})
    for (const int64_t value : {kMin, kMax}) EXPECT_FALSE(overflows(value, dtype)) << dtype_name(dtype);
}

TEST(Overflow, FloatingNumbers) {
  const struct {
    Dtype dtype;
    double least, most, above;  // `above`: the next number that overflows
  } cases[] = {
      {uint8, 0, 255, 255.5},
      {int8, -128, 127, 127.5},
      {int16, -32768, 32767, 32767.5},
      {int32, -2147483648.0, 2147483647.0, 2147483647.5},
      {int64, -0x1p63, 0x1p63, 0x1.0000000000001p63},
      {uint16, 0, 65535, 65535.5},
      {uint32, 0, 4294967295.0, 4294967295.5},
      {uint64, 0, 0x1p64, 0x1.0000000000001p64},
      {float16, -65504, 65504, 65504.5},
      {bfloat16, -0x1.FEp127, 0x1.FEp127, 0x1.FEp127 * (1 + 0x1p-50)},
      {float32, -0x1.FFFFFEp127, 0x1.FFFFFEp127, 0x1p128},
  };
  for (const auto& c : cases) {
    EXPECT_FALSE(overflows(c.least, c.dtype)) << dtype_name(c.dtype);
    EXPECT_FALSE(overflows(c.most, c.dtype)) << dtype_name(c.dtype);
    EXPECT_TRUE(overflows(c.above, c.dtype)) << dtype_name(c.dtype);
    EXPECT_TRUE(overflows(c.least - c.above, c.dtype)) << dtype_name(c.dtype);
    for (const double odd : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
      EXPECT_EQ(overflows(odd, c.dtype), !is_floating_point(c.dtype)) << dtype_name(c.dtype) << " of " << odd;
  }
  EXPECT_TRUE(overflows(-0.5, uint8));
  EXPECT_FALSE(overflows(1e300, bool_));
  EXPECT_FALSE(overflows(std::numeric_limits<double>::max(), float64));
  EXPECT_FALSE(overflows(true, uint8));
}

TEST(Overflow, TheTextNamesTheTypeAsPyTorchsSourceDoes) {
  const struct {
    Dtype dtype;
    const char* name;
  } cases[] = {{uint8, "uint8_t"}, {int8, "int8_t"},       {int16, "int16_t"},          {int32, "int"},
               {int64, "int64_t"}, {float16, "c10::Half"}, {bfloat16, "c10::BFloat16"}, {float32, "float"}};
  for (const auto& c : cases) {
    EXPECT_NO_THROW(check_fits(int64_t{1}, c.dtype));
    try {
      check_fits(1e300, c.dtype);
      FAIL() << c.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), std::string("value cannot be converted to type ") + c.name + " without overflow");
    }
  }
}

}  // namespace
}  // namespace tenon
