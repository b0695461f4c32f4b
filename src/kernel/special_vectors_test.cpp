// The functions of special_vectors-inl.h give what those of special.h give, for every lane of a vector whose lanes take
// different branches.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/special.h"
#include "ops/row.h"
#include "tenon/dtype.h"

namespace tenon {
namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

/// Numbers on all sides of the borders between branches, and the borders.
template <class T>
std::vector<T> arguments(std::size_t count) {
  constexpr T kInfinite = std::numeric_limits<T>::infinity(), kNaN = std::numeric_limits<T>::quiet_NaN();
  constexpr T special[] = {0, T(-0.0), 1,  -1, T(0.5), T(-0.5), 2,         -2,         5,    -5,     T(1e-6),
                           8, -8,      10, 20, -20,    100,     kInfinite, -kInfinite, kNaN, T(1e-9)};
  std::mt19937_64 random(1);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    const double width[] = {1, 3, 12, 40};
    const uint64_t kind = random() % 20;
    values[i] = kind == 0 ? special[random() % std::size(special)]
                          : static_cast<T>((kind < 6 ? share : 2 * share - 1) * width[random() % 4]);
  }
  return values;
}
/// Degrees, a few of them negative, large, no number, or not whole. Some blocks have one degree.
template <class T>
std::vector<T> degrees(std::size_t count) {
  std::mt19937_64 random(2);
  std::vector<T> values(count);
  T block = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 64 == 0) block = static_cast<T>(random() % 12);
    const uint64_t kind = random() % 40;
    values[i] = i / 64 % 2 == 0 ? block : static_cast<T>(random() % 14);
    if (i / 64 % 4 != 3) continue;
    if (kind == 0) values[i] = T(-0.75);
    if (kind == 1) values[i] = T(-3);
    if (kind == 2) values[i] = T(140);
    if (kind == 3) values[i] = std::numeric_limits<T>::quiet_NaN();
    if (kind == 4) values[i] = T(3.5);
    if (kind == 5) values[i] = T(127);
    if (kind == 6) values[i] = T(1e20);
  }
  return values;
}

template <class T>
bool is_near(T got, T want, int64_t ulps, T size) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got);
  if (std::bit_cast<Bits<T>>(got) == std::bit_cast<Bits<T>>(want)) return true;
  if (ulps == 0 || std::isinf(want) || std::isinf(got)) return false;
  return std::abs(got - want) <=
         static_cast<T>(ulps) * std::numeric_limits<T>::epsilon() * std::max(std::abs(want), size);
}

template <class T>
std::vector<T> computed(Op op, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> out(a.size());
  const Lanes lanes[] = {{a.data(), 1}, {b.data(), 1}};
  kernels().elementwise[static_cast<int>(op)][static_cast<int>(dtype_of_v<T>)](out.data(), lanes,
                                                                               static_cast<int64_t>(a.size()));
  return out;
}

constexpr std::size_t kCount = 1 << 14;

template <class T>
void expect_polynomial(Op op, T (*plain)(T, T), T (*fused)(T, T)) {
  const std::vector<T> x = arguments<T>(kCount), n = degrees<T>(kCount), out = computed(op, x, n);
  for (std::size_t i = 0; i < kCount; ++i) {
    const T want = special::has_fma() ? fused(x[i], n[i]) : plain(x[i], n[i]);
    ASSERT_TRUE(is_near(out[i], want, 0, T{0}))
        << row_of(op).kernel_name << " of " << x[i] << ", " << n[i] << ": " << out[i] << " instead of " << want;
  }
}
/// `size`: where a result is a sum that cancels, ulps of its parts count.
template <class T>
void expect_function(Op op, T (*plain)(T), T (*fused)(T), int64_t ulps, T size) {
  const std::vector<T> x = arguments<T>(kCount), out = computed(op, x, x);
  for (std::size_t i = 0; i < kCount; ++i) {
    const T want = special::has_fma() ? fused(x[i]) : plain(x[i]);
    ASSERT_TRUE(is_near(out[i], want, ulps, size))
        << row_of(op).kernel_name << " of " << x[i] << ": " << out[i] << " instead of " << want;
  }
}

TEST(SpecialVectors, PolynomialsHaveTheBitsOfSingleNumbers) {
#define TENON_EXPECT(NAME)                                                                  \
  expect_polynomial<float>(Op::special_##NAME, special::plain::NAME, special::fused::NAME); \
  expect_polynomial<double>(Op::special_##NAME, special::plain::NAME, special::fused::NAME);
  TENON_SPECIAL_VECTORS_BINARY(TENON_EXPECT)
#undef TENON_EXPECT
}

TEST(SpecialVectors, FunctionsAreThoseOfSingleNumbers) {
#define TENON_EXPECT(OP, NAME, ULPS, SIZE)                                                                    \
  expect_function<float>(Op::OP, special::plain::NAME, special::fused::NAME, ULPS, static_cast<float>(SIZE)); \
  expect_function<double>(Op::OP, special::plain::NAME, special::fused::NAME, ULPS, static_cast<double>(SIZE));
  TENON_EXPECT(special_i0e, i0e, 0, 0)
  TENON_EXPECT(special_i1e, i1e, 0, 0)
  TENON_EXPECT(i0, bessel_i0, 2, 0)
  TENON_EXPECT(special_i1, i1, 2, 0)
  TENON_EXPECT(special_modified_bessel_i0, modified_bessel_i0, 2, 0)
  TENON_EXPECT(special_modified_bessel_i1, modified_bessel_i1, 2, 0)
  TENON_EXPECT(special_modified_bessel_k0, modified_bessel_k0, 3, 2)
  TENON_EXPECT(special_modified_bessel_k1, modified_bessel_k1, 2, 0)
  TENON_EXPECT(special_scaled_modified_bessel_k0, scaled_modified_bessel_k0, 4, 4)
  TENON_EXPECT(special_scaled_modified_bessel_k1, scaled_modified_bessel_k1, 3, 0)
  // Clang fuses other products of sums that cancel.
  TENON_EXPECT(special_bessel_j0, bessel_j0, 4, 0.5)
  TENON_EXPECT(special_bessel_j1, bessel_j1, 4, 0.5)
  TENON_EXPECT(special_bessel_y0, bessel_y0, 4, 0.5)
  TENON_EXPECT(special_bessel_y1, bessel_y1, 4, 0.5)
  TENON_EXPECT(special_spherical_bessel_j0, spherical_bessel_j0, 2, 0)
#undef TENON_EXPECT
}

// Their recurrences would run for years.
TEST(SpecialVectors, PolynomialsOfEndlessDegreesAreNaN) {
  const std::vector<float> x(16, 0.5F), degree(16, 0x1p62F);
  for (const Op op : {Op::special_laguerre_polynomial_l, Op::special_legendre_polynomial_p})
    for (const float value : computed(op, x, degree)) EXPECT_TRUE(std::isnan(value)) << row_of(op).kernel_name;
}

}  // namespace
}  // namespace tenon
