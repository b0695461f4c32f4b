#include "tenon/dtype.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <string>

#include "tenon/error.h"
#include "type/complex_half.h"

namespace tenon {
namespace {

struct Names {
  const char* name;         // in Python
  const char* scalar_type;  // in error texts
  const char* cpp_type;     // as compilers print it
};
// clang-format off
constexpr Names kNames[kDtypeCount] = {
    {"bool",     "Bool",     "bool"},
    {"uint8",    "Byte",     "unsigned char"},
    {"int8",     "Char",     "signed char"},
    {"int16",    "Short",    "short int"},
    {"int32",    "Int",      "int"},
    {"int64",    "Long",     "long int"},
    {"uint16",   "UInt16",   "short unsigned int"},
    {"uint32",   "UInt32",   "unsigned int"},
    {"uint64",   "UInt64",   "long unsigned int"},
    {"float16",  "Half",     "c10::Half"},
    {"bfloat16", "BFloat16", "c10::BFloat16"},
    {"float32",  "Float",    "float"},
    {"float64",  "Double",   "double"},
    {"complex64",  "ComplexFloat",  "c10::complex<float>"},
    {"complex128", "ComplexDouble", "c10::complex<double>"},
};
struct Alias { const char* name; Dtype dtype; };
constexpr Alias kAliases[] = {
    {"b8", bool_},     {"u8", uint8},      {"i8", int8},       {"i16", int16},     {"short", int16},    {"i32", int32},
    {"int", int32},    {"i64", int64},     {"long", int64},    {"f16", float16},   {"half", float16},   {"bf16", bfloat16},
    {"f32", float32},  {"float", float32}, {"f64", float64},   {"double", float64}, {"u16", uint16},  {"u32", uint32},
    {"u64", uint64},   {"c64", complex64}, {"cfloat", complex64},   {"c128", complex128}, {"cdouble", complex128},
};

// Row and column in the order of Dtype, without uint16, uint32, uint64 and the complex ones.
constexpr Dtype b1 = bool_, u1 = uint8, i1 = int8, i2 = int16, i4 = int32, i8 = int64, f2 = float16, g2 = bfloat16, f4 = float32, f8 = float64;
constexpr Dtype kPromotion[10][10] = {
    /*          b1  u1  i1  i2  i4  i8  f2  g2  f4  f8 */
    /* bool */ {b1, u1, i1, i2, i4, i8, f2, g2, f4, f8},
    /* u8   */ {u1, u1, i2, i2, i4, i8, f2, g2, f4, f8},
    /* i8   */ {i1, i2, i1, i2, i4, i8, f2, g2, f4, f8},
    /* i16  */ {i2, i2, i2, i2, i4, i8, f2, g2, f4, f8},
    /* i32  */ {i4, i4, i4, i4, i4, i8, f2, g2, f4, f8},
    /* i64  */ {i8, i8, i8, i8, i8, i8, f2, g2, f4, f8},
    /* f16  */ {f2, f2, f2, f2, f2, f2, f2, f4, f4, f8},
    /* bf16 */ {g2, g2, g2, g2, g2, g2, f4, g2, f4, f8},
    /* f32  */ {f4, f4, f4, f4, f4, f4, f4, f4, f4, f8},
    /* f64  */ {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8},
};
// clang-format on

constexpr int index_of(Dtype dtype) { return static_cast<int>(dtype); }
constexpr int place_of(Dtype dtype) { return dtype <= int64 ? index_of(dtype) : index_of(dtype) - 3; }

/// bool < integer < float < complex: the highest kind among the operands decides.
constexpr int kind_of(Dtype dtype) {
  return dtype == bool_ ? 0 : is_integral(dtype) ? 1 : is_floating_point(dtype) ? 2 : 3;
}

/// complex32: a common dtype that no tensor can have.
constexpr Dtype kComplexHalf = static_cast<Dtype>(kDtypeCount);

/// An operand category of lower priority can raise the kind of the result, but not its precision. A category without
/// operands has no dtype.
std::optional<Dtype> combine(std::optional<Dtype> higher, std::optional<Dtype> lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (kind_of(*lower) == 3 && kind_of(*higher) == 2) return higher == float16 ? kComplexHalf : to_complex(*higher);
  if (kind_of(*lower) == 3 && kind_of(*higher) <= 1) return lower;
  return kind_of(*lower) <= kind_of(*higher) ? *higher : promote_types(*higher, *lower);
}

/// Promotes a complex dtype with any other but the wide unsigned ones: the dtypes of the parts decide the precision.
constexpr Dtype promote_complex(Dtype a, Dtype b) {
  return to_real(a) == float64 || to_real(b) == float64 ? complex128 : complex64;
}

/// Promotes uint16, uint32 or uint64 with another dtype.
Dtype promote_unsigned(Dtype a, Dtype b) {
  if (is_floating_point(a)) return a;
  if (is_floating_point(b)) return b;
  throw Error(std::string("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ") +
              scalar_type_name(a) + " and " + scalar_type_name(b));
}

std::atomic<Dtype> default_dtype{float32};

}  // namespace

const char* dtype_name(Dtype dtype) noexcept { return kNames[index_of(dtype)].name; }
const char* scalar_type_name(Dtype dtype) noexcept { return kNames[index_of(dtype)].scalar_type; }
const char* cpp_type_name(Dtype dtype) noexcept { return kNames[index_of(dtype)].cpp_type; }

void detail::fail_conversion(const char* type) {
  throw Error(std::string("value cannot be converted to type ") + type + " without overflow");
}

Dtype dtype_from_name(const char* name) {
  for (const Names& names : kNames)
    if (std::strcmp(names.name, name) == 0) return static_cast<Dtype>(&names - kNames);
  for (const Alias& alias : kAliases)
    if (std::strcmp(alias.name, name) == 0) return alias.dtype;
  throw ValueError("unknown dtype '" + std::string(name) +
                   "'; known are bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, bfloat16, "
                   "float32, float64, complex64, complex128");
}

Dtype promote_types(Dtype a, Dtype b) {
  if (a == b) return a;
  if (is_wide_unsigned(a) || is_wide_unsigned(b)) return promote_unsigned(a, b);
  if (is_complex(a) || is_complex(b)) return promote_complex(a, b);
  return kPromotion[place_of(a)][place_of(b)];
}
bool can_cast(Dtype from, Dtype to) noexcept { return kind_of(from) <= kind_of(to); }

namespace {

/// The dtype of all operands together; may be kComplexHalf.
Dtype combined(const TypedOperand* operands, int64_t count) {
  std::optional<Dtype> joined[3];
  for (int64_t i = 0; i < count; ++i) {
    std::optional<Dtype>& category = joined[static_cast<int>(operands[i].category)];
    category = category ? promote_types(*category, operands[i].dtype) : operands[i].dtype;
  }
  return combine(joined[0], combine(joined[1], joined[2])).value_or(bool_);
}

}  // namespace

Dtype result_type(const TypedOperand* operands, int64_t count) {
  const Dtype dtype = combined(operands, count);
  return dtype == kComplexHalf ? to_complex(float16) : dtype;  // an error
}
bool is_complex_half(const TypedOperand* operands, int64_t count) { return combined(operands, count) == kComplexHalf; }

namespace {

/// The dtype of complex numbers: that of the default dtype. For bfloat16 PyTorch uses complex64.
Dtype default_complex_dtype() { return to_complex(get_default_dtype()); }

}  // namespace

Dtype to_complex(Dtype dtype) {
  if (is_complex(dtype)) return dtype;
  if (dtype == float64) return complex128;
  if (dtype == float32 || dtype == bfloat16) return complex64;
  if (dtype == float16) throw NotImplementedError("complex32, the complex dtype of float16, is not supported");
  throw Error(std::string("Unknown Complex ScalarType for ") + scalar_type_name(dtype));
}

TypedOperand typed(Scalar number) {
  const Dtype dtype = number.is_boolean()    ? bool_
                      : number.is_floating() ? get_default_dtype()
                      : number.is_wide()     ? uint64
                      : number.is_complex()  ? default_complex_dtype()
                                             : int64;
  return {dtype, Category::number};
}

Dtype get_default_dtype() noexcept { return default_dtype.load(std::memory_order_relaxed); }
void set_default_dtype(Dtype dtype) {
  if (!is_floating_point(dtype)) throw TypeError("only floating-point types are supported as the default type");
  default_dtype.store(dtype, std::memory_order_relaxed);
}

}  // namespace tenon
