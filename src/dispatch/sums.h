// dispatch: the sum of two elements that are added one after the other. 16-bit floats are rounded each time.
#pragma once
#include <type_traits>

#include "type/visit.h"

namespace tenon {

template <class T>
T added(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)  // wraps
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else if constexpr (is_half_v<T>)
    return element_cast<T>(element_cast<float>(a) + element_cast<float>(b));
  else if constexpr (is_complex_v<T>)
    return {a.re + b.re, a.im + b.im};
  else
    return a + b;
}

}  // namespace tenon
