// kernel: the functions of special.h. They are PyTorch's, which has them from Cephes, Boost, SciPy and others (NOTICE):
// the same formulas in the same order, so that results are equal to the last bit where the processor has fused
// multiply-add. Included once by special.cpp and once by special_fused.cpp, which define the namespace TENON_SPECIAL.

// NOLINTBEGIN(misc-definitions-in-headers): no other file includes it.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernel/special.h"
#include "kernel/special_tables.h"
#include "system/functions.h"

namespace tenon::special {
namespace {

template <class T>
constexpr T kInfinite = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T kPi = static_cast<T>(3.14159265358979323846);

/// The same value, but never part of a fused multiply-add.
template <class T>
T rounded(T value) {
#if defined(__GNUC__) && !defined(__clang__)
  return __builtin_assoc_barrier(value);
#else
  return value;
#endif
}

template <class T, std::size_t kCount>
T polynomial(T x, const double (&coefficients)[kCount]) {
  T result = 0;
  for (const double coefficient : coefficients) result = result * x + static_cast<T>(coefficient);
  return result;
}
/// A sum of Chebyshev polynomials of x / 2, by Clenshaw's scheme. Leaves out the first coefficients.
template <class T, std::size_t kCount>
T chebyshev_sum(T x, const double (&coefficients)[kCount], std::size_t begin = 0) {
  T sum = static_cast<T>(coefficients[begin]), before = 0, second_before = 0;
  for (std::size_t i = begin + 1; i < kCount; ++i) {
    second_before = before;
    before = sum;
    sum = x * before - second_before + static_cast<T>(coefficients[i]);
  }
  return T(0.5) * (sum - second_before);
}

#include "kernel/special_bessel-inl.h"
#include "kernel/special_error-inl.h"
#include "kernel/special_gamma-inl.h"
#include "kernel/special_polynomials-inl.h"

}  // namespace

namespace TENON_SPECIAL {
#define TENON_DEFINE_UNARY(NAME)                               \
  float NAME(float x) { return tenon::special::of_##NAME(x); } \
  double NAME(double x) { return tenon::special::of_##NAME(x); }
#define TENON_DEFINE_BINARY(NAME)                                          \
  float NAME(float a, float b) { return tenon::special::of_##NAME(a, b); } \
  double NAME(double a, double b) { return tenon::special::of_##NAME(a, b); }
TENON_SPECIAL_UNARY(TENON_DEFINE_UNARY)
TENON_SPECIAL_BINARY(TENON_DEFINE_BINARY)
#undef TENON_DEFINE_UNARY
#undef TENON_DEFINE_BINARY
}  // namespace TENON_SPECIAL

}  // namespace tenon::special

// NOLINTEND(misc-definitions-in-headers)
