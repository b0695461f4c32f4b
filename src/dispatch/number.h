// dispatch: a number as an element of a dtype, as kernels read it.
#pragma once
#include <cstring>

#include "kernel/kernel.h"
#include "type/visit.h"

namespace tenon {

/// Memory for a number in the dtype that a kernel reads.
struct Number {
  alignas(kMaxItemsize) std::byte bytes[kMaxItemsize];
};

/// Stores a number that is not complex as an element of `dtype`. float32, the usual dtype, needs no kernel: this saves
/// 2 ns where `tenon_bench --filter '^tiny/'` adds a number.
inline void store_real(Scalar number, Dtype dtype, std::byte* out) {
  if (dtype == float32) {
    const float value = scalar_to<float>(number);
    std::memcpy(out, &value, sizeof value);
    return;
  }
  const Lanes from{number.data(), 1};
  kernels().cast[static_cast<int>(dtype_of_number(number))][static_cast<int>(dtype)](out, &from, 1);
}
inline void store_number(Scalar number, Dtype dtype, std::byte* out) {
  if (!number.is_complex()) return store_real(number, dtype, out);
  const Complex128 parts = number.as_complex();
  const Lanes from{&parts, 1};
  kernels().cast[static_cast<int>(complex128)][static_cast<int>(dtype)](out, &from, 1);
}

}  // namespace tenon
