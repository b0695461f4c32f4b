#include <bit>

#include "tenon/dtype.h"
#include "type/half.h"

namespace tenon {

Float16 to_float16(float value) noexcept { return {float16_bits(value)}; }
float to_float(Float16 value) noexcept { return float16_value(value.bits); }
BFloat16 to_bfloat16(float value) noexcept { return {bfloat16_bits(value)}; }
float to_float(BFloat16 value) noexcept { return bfloat16_value(value.bits); }

}  // namespace tenon
