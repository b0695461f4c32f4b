// Products and quotients of complex numbers: every product of parts is rounded, in vectors and in what remains of them.
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernel/kernel.h"

namespace tenon {
namespace {

template <class T>
T rounded_product(T a, T b) {
  volatile T product = a * b;  // stored, so that no compiler fuses it
  return product;
}
template <class T>
Complex<T> product_of(Complex<T> a, Complex<T> b) {
  return {rounded_product(a.re, b.re) - rounded_product(a.im, b.im),
          rounded_product(a.re, b.im) + rounded_product(a.im, b.re)};
}

template <class T>
std::vector<Complex<T>> drawn(std::size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> part(-2, 2);
  std::vector<Complex<T>> values(count);
  for (Complex<T>& value : values) value = {part(random), part(random)};
  return values;
}

template <class T>
void expect_rounded_products() {
  constexpr Dtype dtype = dtype_of_v<Complex<T>>;
  for (const std::size_t count : {1, 2, 3, 5, 8, 17, 100}) {
    const std::vector<Complex<T>> a = drawn<T>(count, 1), b = drawn<T>(count, 2), c = drawn<T>(count, 3);
    std::vector<Complex<T>> got(count);
    const Lanes in[] = {{a.data(), 1}, {b.data(), 1}};
    kernel_of(Op::mul, dtype)(got.data(), in, static_cast<int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const Complex<T> wanted = product_of(a[i], b[i]);
      EXPECT_EQ(got[i].re, wanted.re) << i << " of " << count;
      EXPECT_EQ(got[i].im, wanted.im) << i << " of " << count;
    }
    // A number times its conjugate is real.
    std::vector<Complex<T>> conjugates = a;
    for (Complex<T>& value : conjugates) value.im = -value.im;
    const Lanes pairs[] = {{a.data(), 1}, {conjugates.data(), 1}};
    kernel_of(Op::mul, dtype)(got.data(), pairs, static_cast<int64_t>(count));
    for (const Complex<T>& value : got) EXPECT_EQ(value.im, 0);
    const T one[] = {1, 0};
    const Lanes with_factor[] = {{c.data(), 1}, {a.data(), 1}, {conjugates.data(), 1}, {one, 0}};
    kernel_of(Op::addcmul, dtype)(got.data(), with_factor, static_cast<int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(got[i].im, c[i].im) << i << " of " << count;
  }
}
TEST(Complex, ProductsAreRounded) {
  expect_rounded_products<float>();
  expect_rounded_products<double>();
}

}  // namespace
}  // namespace tenon
