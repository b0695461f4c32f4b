// Dtypes by name, and promotion between categories of operands.
#include "tenon/dtype.h"

#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "tenon/error.h"

namespace tenon {
namespace {

TEST(Dtype, Names) {
  for (int i = 0; i < kDtypeCount; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype) << dtype_name(dtype);
  }
  const struct {
    const char* name;
    Dtype dtype;
  } aliases[] = {
      {"b8", bool_},       {"u8", uint8},      {"i8", int8},         {"i16", int16},        {"short", int16},
      {"i32", int32},      {"int", int32},     {"i64", int64},       {"long", int64},       {"f16", float16},
      {"half", float16},   {"bf16", bfloat16}, {"f32", float32},     {"float", float32},    {"f64", float64},
      {"double", float64}, {"c64", complex64}, {"c128", complex128}, {"cfloat", complex64}, {"cdouble", complex128},
      {"u16", uint16},     {"u32", uint32},    {"u64", uint64},
  };
  for (const auto& alias : aliases) EXPECT_EQ(dtype_from_name(alias.name), alias.dtype) << alias.name;
  for (const char* name : {"", "f", "f3", "f322", "float3", "complex32"}) try {
      dtype_from_name(name);
      ADD_FAILURE() << name;
    } catch (const ValueError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("unknown dtype '" + std::string(name) + "'; known are bool, ", 0), 0u);
    }
}

TEST(Dtype, ComplexDtypesAndTheirParts) {
  EXPECT_EQ(to_real(complex64), float32);
  EXPECT_EQ(to_real(int8), int8);
  EXPECT_EQ(to_complex(float64), complex128);
  EXPECT_EQ(to_complex(bfloat16), complex64);
  EXPECT_EQ(promote_types(complex64, float64), complex128);
  EXPECT_EQ(promote_types(bool_, complex64), complex64);
  EXPECT_THROW(to_complex(float16), NotImplementedError);
  EXPECT_THROW(to_complex(int32), Error);
  EXPECT_THROW(promote_types(uint16, complex64), Error);
  EXPECT_EQ(dtype_of_v<std::complex<double>>, complex128);
}

TEST(Dtype, WideUnsignedPromoteToFloatsAlone) {
  for (const Dtype wide : {uint16, uint32, uint64}) {
    EXPECT_EQ(promote_types(wide, wide), wide);
    EXPECT_EQ(promote_types(float16, wide), float16);
    for (const Dtype other : {bool_, uint8, int64, wide == uint16 ? uint32 : uint16}) try {
        promote_types(other, wide);
        ADD_FAILURE() << dtype_name(other) << " and " << dtype_name(wide);
      } catch (const Error& error) {
        EXPECT_EQ(error.what(),
                  std::string("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ") +
                      scalar_type_name(other) + " and " + scalar_type_name(wide));
      }
  }
}

TEST(Dtype, CategoriesOfLowerPriorityChangeTheKindAlone) {
  using enum Category;
  const struct {
    const char* why;
    TypedOperand a, b;
    Dtype want;
  } cases[] = {
      {"dims join", {int32, dimensioned}, {float16, dimensioned}, float16},
      {"no dims, the same kind", {int8, dimensioned}, {int64, zero_dim}, int8},
      {"no dims, a higher kind", {int64, dimensioned}, {float64, zero_dim}, float64},
      {"a number, the same kind", {float16, dimensioned}, {float32, number}, float16},
      {"a number, a higher kind", {uint8, zero_dim}, {float32, number}, float32},
      {"a number, a lower kind", {float16, zero_dim}, {int64, number}, float16},
      {"numbers alone", {bool_, number}, {int64, number}, int64},
      {"a complex number", {uint16, dimensioned}, {complex64, number}, complex64},
      {"no dims, complex: the precision stays", {float32, dimensioned}, {complex128, zero_dim}, complex64},
      {"a wide number", {int8, dimensioned}, {uint64, number}, int8},
      {"no dims, unsigned", {int64, dimensioned}, {uint16, zero_dim}, int64},
      {"bool beside a number", {bool_, dimensioned}, {int64, number}, int64},
  };
  for (const auto& c : cases) {
    const TypedOperand operands[] = {c.a, c.b}, turned[] = {c.b, c.a};
    EXPECT_EQ(result_type(operands, 2), c.want) << c.why;
    EXPECT_EQ(result_type(turned, 2), c.want) << c.why;
  }
}

}  // namespace
}  // namespace tenon
