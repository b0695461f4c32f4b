// kernel: special functions of single numbers: gamma, error and Bessel functions, orthogonal polynomials. Each is
// compiled twice for float and double, without and with fused multiply-add, instead of once for each instruction set
// and loop: a call costs little beside its work.
#pragma once

// Functions of one number. clang-format takes several runs to settle on these lists.
// clang-format off
#define TENON_SPECIAL_UNARY(X) \
  X(inverse_error_function) X(erfcx) X(ndtri) X(log_ndtr) X(log_gamma) X(psi) X(bessel_i0) X(i0e) X(i1) X(i1e) \
  X(airy_ai) X(bessel_j0) X(bessel_j1) X(bessel_y0) X(bessel_y1) X(modified_bessel_i0) X(modified_bessel_i1) \
  X(modified_bessel_k0) X(modified_bessel_k1) X(scaled_modified_bessel_k0) X(scaled_modified_bessel_k1) \
  X(spherical_bessel_j0)
// Functions of two numbers.
#define TENON_SPECIAL_BINARY(X) \
  X(zeta) X(psi_derivative) X(lower_gamma) X(upper_gamma) X(chebyshev_polynomial_t) X(chebyshev_polynomial_u) \
  X(chebyshev_polynomial_v) X(chebyshev_polynomial_w) X(shifted_chebyshev_polynomial_t) \
  X(shifted_chebyshev_polynomial_u) X(shifted_chebyshev_polynomial_v) X(shifted_chebyshev_polynomial_w) \
  X(hermite_polynomial_h) X(hermite_polynomial_he) X(laguerre_polynomial_l) X(legendre_polynomial_p)
// Those that are also written for vectors: kernel/special_vectors-inl.h.
#define TENON_SPECIAL_VECTORS_UNARY(X) \
  X(bessel_i0) X(i0e) X(i1) X(i1e) X(bessel_j0) X(bessel_j1) X(bessel_y0) X(bessel_y1) X(modified_bessel_i0) \
  X(modified_bessel_i1) X(modified_bessel_k0) X(modified_bessel_k1) X(scaled_modified_bessel_k0) \
  X(scaled_modified_bessel_k1) X(spherical_bessel_j0)
#define TENON_SPECIAL_VECTORS_BINARY(X) \
  X(chebyshev_polynomial_t) X(chebyshev_polynomial_u) X(chebyshev_polynomial_v) X(chebyshev_polynomial_w) \
  X(shifted_chebyshev_polynomial_t) X(shifted_chebyshev_polynomial_u) X(shifted_chebyshev_polynomial_v) \
  X(shifted_chebyshev_polynomial_w) X(hermite_polynomial_h) X(hermite_polynomial_he) X(laguerre_polynomial_l) \
  X(legendre_polynomial_p)
// clang-format on

namespace tenon::special {

#define TENON_DECLARE_UNARY(NAME) \
  float NAME(float x);            \
  double NAME(double x);
#define TENON_DECLARE_BINARY(NAME) \
  float NAME(float a, float b);    \
  double NAME(double a, double b);
/// Products are rounded before they are added.
namespace plain {
TENON_SPECIAL_UNARY(TENON_DECLARE_UNARY)
TENON_SPECIAL_BINARY(TENON_DECLARE_BINARY)
}  // namespace plain
/// For processors with fused multiply-add. PyTorch's functions are compiled so, and give the same bits.
namespace fused {
TENON_SPECIAL_UNARY(TENON_DECLARE_UNARY)
TENON_SPECIAL_BINARY(TENON_DECLARE_BINARY)
}  // namespace fused
#undef TENON_DECLARE_UNARY
#undef TENON_DECLARE_BINARY

/// Whether the processor has fused multiply-add.
bool has_fma() noexcept;

}  // namespace tenon::special
