// Numbers are converted to elements as by PyTorch's `to` and `full`.
#include "type/visit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tenon/error.h"
#include "type/overflow.h"

namespace tenon {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

TEST(VisitDtype, GivesTheElementType) {
  for (int i = 0; i < kDtypeCount; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    EXPECT_EQ(visit_dtype(dtype, []<class T>() { return dtype_of_v<T>; }), dtype);
    EXPECT_EQ(visit_dtype(dtype, []<class T>() { return static_cast<int64_t>(sizeof(T)); }), itemsize(dtype));
  }
}

// Results of PyTorch on x86: truncation, wrapping, and numbers out of range.
TEST(ElementCast, FloatToInteger) {
  const struct {
    double value;
    int64_t to_uint8, to_int8, to_int16, to_int32, to_int64;
  } cases[] = {
      {2.9, 2, 2, 2, 2, 2},
      {-2.9, 254, -2, -2, -2, -2},
      {300, 44, 44, 300, 300, 300},
      {-300.7, 212, -44, -300, -300, -300},
      {2147483647.9, 255, -1, -1, INT32_MAX, INT32_MAX},
      {-2147483648.9, 0, 0, 0, INT32_MIN, INT32_MIN},
      {10000000077.0, 77, 0, 0, INT32_MIN, 10000000077},
      {-10000000077.0, 179, 0, 0, INT32_MIN, -10000000077},
      {1e20, 0, 0, 0, INT32_MIN, INT64_MIN},
      {kInf, 0, 0, 0, INT32_MIN, INT64_MIN},
      {kNan, 0, 0, 0, INT32_MIN, INT64_MIN},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(element_cast<uint8_t>(c.value), c.to_uint8) << c.value;
    EXPECT_EQ(element_cast<int8_t>(c.value), c.to_int8) << c.value;
    EXPECT_EQ(element_cast<int16_t>(c.value), c.to_int16) << c.value;
    EXPECT_EQ(element_cast<int32_t>(c.value), c.to_int32) << c.value;
    EXPECT_EQ(element_cast<int64_t>(c.value), c.to_int64) << c.value;
    EXPECT_EQ(element_cast<bool>(c.value), true) << c.value;
  }
  EXPECT_FALSE(element_cast<bool>(-0.0));
  const struct {
    double value;
    uint64_t to_uint16, to_uint32, to_uint64;
  } unsigned_cases[] = {
      {2.9, 2, 2, 2},
      {-1.5, 65535, UINT32_MAX, UINT64_MAX},
      {4294967295.9, 0, UINT32_MAX, UINT32_MAX},
      {0x1.8p63, 0, 0, uint64_t{3} << 62},
      {0x1p64, 0, 0, 0},
      {-1e20, 0, 0, uint64_t{1} << 63},
  };
  for (const auto& c : unsigned_cases) {
    EXPECT_EQ(element_cast<uint16_t>(c.value), c.to_uint16) << c.value;
    EXPECT_EQ(element_cast<uint32_t>(c.value), c.to_uint32) << c.value;
    EXPECT_EQ(element_cast<uint64_t>(c.value), c.to_uint64) << c.value;
  }
}

TEST(ElementCast, OtherKinds) {
  EXPECT_EQ(element_cast<int8_t>(uint8_t{200}), -56);
  EXPECT_EQ(element_cast<uint8_t>(int32_t{-7}), 249);
  EXPECT_EQ(element_cast<int8_t>(int64_t{1} << 40), 0);
  EXPECT_EQ(element_cast<int32_t>(to_float16(3.5f)), 3);
  EXPECT_EQ(element_cast<float>(element_cast<BFloat16>(to_float16(0.3333f))), 0.333984375f);
  EXPECT_EQ(element_cast<float>(element_cast<Float16>(int32_t{70000})), std::numeric_limits<float>::infinity());
  EXPECT_EQ(scalar_to<int64_t>(Scalar((int64_t{1} << 53) + 1)), (int64_t{1} << 53) + 1);
  EXPECT_TRUE(to_scalar(true).is_boolean());
  EXPECT_TRUE(to_scalar(to_bfloat16(1.5f)).is_floating());
}

TEST(Overflow, Table) {
  const struct {
    Scalar value;
    Dtype dtype;
    const char* type;  // null: fits
  } cases[] = {
      {255, uint8, nullptr},
      {256, uint8, "uint8_t"},
      {-255, uint8, nullptr},
      {-256, uint8, "uint8_t"},
      {255.0, uint8, nullptr},
      {255.9, uint8, "uint8_t"},
      {-0.5, uint8, "uint8_t"},
      {kNan, uint8, "uint8_t"},
      {-128, int8, nullptr},
      {128, int8, "int8_t"},
      {1.5, int16, nullptr},
      {32768, int16, "int16_t"},
      {int64_t{1} << 40, int32, "int"},
      {1e30, int32, "int"},
      {0x1p63, int64, nullptr},
      {0x1.1p63, int64, "int64_t"},
      {kInf, int64, "int64_t"},
      {INT64_MIN, int64, nullptr},
      {65504, float16, nullptr},
      {65505, float16, "c10::Half"},
      {INT64_MIN, float16, "c10::Half"},
      {kInf, float16, nullptr},
      {3.38e38, bfloat16, nullptr},
      {3.4e38, bfloat16, "c10::BFloat16"},
      {kNan, float32, nullptr},
      {3.4028235e38, float32, "float"},
      {1e300, float64, nullptr},
      {1e300, bool_, nullptr},
      {true, uint8, nullptr},
      {INT64_MIN, uint8, "uint8_t"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(overflows(c.value, c.dtype), c.type != nullptr) << c.value.as_double() << " " << dtype_name(c.dtype);
    if (!c.type) continue;
    try {
      check_fits(c.value, c.dtype);
      ADD_FAILURE() << c.value.as_double() << " " << dtype_name(c.dtype);
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), std::string("value cannot be converted to type ") + c.type + " without overflow");
    }
  }
}

}  // namespace
}  // namespace tenon
