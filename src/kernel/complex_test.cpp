// Complex numbers: every product of parts is rounded, in vectors and in what remains of them; angles, magnitudes
// and functions are those of the C library, but for rounding.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
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
    // alpha * b + a, alpha one number.
    const Complex<T> alpha = c[0];
    const Lanes with_alpha[] = {{a.data(), 1}, {b.data(), 1}, {&alpha, 0}};
    kernel_of(Op::add_alpha, dtype)(got.data(), with_alpha, static_cast<int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const Complex<T> product = product_of(alpha, b[i]);
      EXPECT_EQ(got[i].re, product.re + a[i].re) << i << " of " << count;
      EXPECT_EQ(got[i].im, product.im + a[i].im) << i << " of " << count;
    }
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

template <class T>
void expect_conjugates_and_squares() {
  constexpr Dtype dtype = dtype_of_v<Complex<T>>;
  for (std::size_t count = 1; count < 40; ++count)
    for (const bool in_place : {false, true}) {
      std::vector<Complex<T>> a = drawn<T>(count, 1), got(count);
      a[count / 2] = {T(-0.0), T(0)};
      const std::vector<Complex<T>> numbers = a;
      std::vector<Complex<T>>& out = in_place ? a : got;
      const Lanes in[] = {{a.data(), 1}};
      kernel_of(Op::conj_physical, dtype)(out.data(), in, static_cast<int64_t>(count));
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(out[i].re == numbers[i].re && std::signbit(out[i].re) == std::signbit(numbers[i].re)) << i;
        EXPECT_TRUE(out[i].im == -numbers[i].im && std::signbit(out[i].im) != std::signbit(numbers[i].im)) << i;
      }
      a = numbers;
      kernel_of(Op::square, dtype)(out.data(), in, static_cast<int64_t>(count));
      for (std::size_t i = 0; i < count; ++i) {
        const Complex<T> square = product_of(numbers[i], numbers[i]);
        EXPECT_TRUE(out[i].re == square.re && out[i].im == square.im) << i << " of " << count;
      }
    }
}
TEST(Complex, ConjugatesAndSquaresOfAnyNumber) {
  expect_conjugates_and_squares<float>();
  expect_conjugates_and_squares<double>();
}

/// From the nearer end, each step rounded; also over an operand.
template <class T>
void expect_steps_between(Complex<T> weight) {
  const bool near = weight.re * weight.re + weight.im * weight.im < T{0.25};
  for (const std::size_t count : {2, 3, 5, 8, 17, 100})
    for (const bool in_place : {false, true}) {
      std::vector<Complex<T>> a = drawn<T>(count, 1), got(count);
      const std::vector<Complex<T>> start = a, end = drawn<T>(count, 2);
      const Lanes in[] = {{a.data(), 1}, {end.data(), 1}, {&weight, 0}};
      std::vector<Complex<T>>& out = in_place ? a : got;
      kernel_of(Op::lerp, dtype_of_v<Complex<T>>)(out.data(), in, static_cast<int64_t>(count));
      for (std::size_t i = 0; i < count; ++i) {
        const Complex<T> way{end[i].re - start[i].re, end[i].im - start[i].im};
        const Complex<T> step = product_of(near ? weight : Complex<T>{1 - weight.re, 0 - weight.im}, way);
        const Complex<T> from = near ? start[i] : end[i];
        EXPECT_EQ(out[i].re, near ? from.re + step.re : from.re - step.re) << i << " of " << count;
        EXPECT_EQ(out[i].im, near ? from.im + step.im : from.im - step.im) << i << " of " << count;
      }
    }
}
TEST(Complex, LerpByANumberStepsFromTheNearerEnd) {
  for (const double share : {0.3, 0.7, -2.5}) {
    expect_steps_between<float>({static_cast<float>(share), 0.1f});
    expect_steps_between<double>({share, -0.2});
  }
}

template <class T>
void expect_near(T got, T wanted, T re, T im) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << re << ", " << im;
  } else if (wanted == 0 || std::isinf(wanted)) {
    EXPECT_EQ(got, wanted) << re << ", " << im;
    EXPECT_EQ(std::signbit(got), std::signbit(wanted)) << re << ", " << im;
  } else {
    const T size = std::max(std::abs(wanted), std::numeric_limits<T>::min());
    EXPECT_LE(std::abs(got - wanted), size * std::numeric_limits<T>::epsilon()) << re << ", " << im;
  }
}
template <class T>
void expect_polar_parts() {
  constexpr Dtype dtype = dtype_of_v<Complex<T>>;
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       -T{0},
                       1,
                       -1,
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       Limits::min(),
                       Limits::denorm_min(),
                       T{3},
                       T{-0.25}};
  std::vector<Complex<T>> numbers = drawn<T>(200, 5);
  for (const T re : special)
    for (const T im : special) numbers.push_back({re, im});
  for (std::size_t count = 1; count <= numbers.size(); count += count < 40 ? 1 : 61) {
    const Complex<T>* const first = numbers.data() + numbers.size() - count;
    std::vector<T> angles(count + 1, T{7}), sizes(count + 1, T{7});
    const Lanes in[] = {{first, 1}};
    kernel_of(Op::angle, dtype)(angles.data(), in, static_cast<int64_t>(count));
    kernel_of(Op::abs, dtype)(sizes.data(), in, static_cast<int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto [re, im] = first[i];
      expect_near(angles[i], std::atan2(im, re), re, im);
      expect_near(sizes[i], std::hypot(re, im), re, im);
    }
    EXPECT_EQ(angles[count], 7);  // nothing is written beyond
    EXPECT_EQ(sizes[count], 7);
  }
}
TEST(Complex, AnglesAndMagnitudes) {
  expect_polar_parts<float>();
  expect_polar_parts<double>();
}

/// The reciprocal of the smallest lengths is infinite.
template <class T>
void expect_sign_of_smallest() {
  const T least = std::numeric_limits<T>::denorm_min();
  const std::vector<std::complex<T>> in(19, {3 * least, -4 * least});
  std::vector<std::complex<T>> out(in.size());
  const Lanes lanes[] = {{in.data(), 1}};
  kernel_of(Op::sgn, dtype_of_v<Complex<T>>)(out.data(), lanes, static_cast<int64_t>(in.size()));
  for (const std::complex<T>& sign : out)
    EXPECT_LE(std::abs(sign - std::complex<T>(T(0.6), T(-0.8))), std::numeric_limits<T>::epsilon()) << sign;
}
TEST(Complex, SignsOfTheSmallestNumbers) {
  expect_sign_of_smallest<float>();
  expect_sign_of_smallest<double>();
}

template <class T>
std::complex<T> binary_exponential(std::complex<T> z) {
  const T log2 = std::log(T{2});
  return std::exp(std::complex<T>(z.real() * log2, z.imag() * log2));
}
template <class T>
std::complex<T> binary_logarithm(std::complex<T> z) {
  const std::complex<T> natural = std::log(z);
  return {natural.real() / std::log(T{2}), natural.imag() / std::log(T{2})};
}
/// Numbers of all sizes, on the axes, beside them and beside the unit circle, of every special value.
template <class T>
std::vector<std::complex<T>> drawn_everywhere() {
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,    -T{0},  1,      -1,    Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                       T{3}, T{-90}, T{720}, T{40}, Limits::max(),      Limits::min(),       Limits::denorm_min()};
  std::vector<std::complex<T>> numbers;
  for (const T re : special)
    for (const T im : special) numbers.push_back({re, im});
  for (const auto& [re, im] : drawn<T>(2000, 6)) {
    const std::complex<T> number(re, im);
    numbers.push_back(number);
    numbers.push_back(number * T{30});
    numbers.push_back(number / std::abs(number));
    numbers.push_back({std::ldexp(re, static_cast<int>(numbers.size() % 120) - 60), im});
  }
  return numbers;
}
template <class T>
bool is_near(std::complex<T> got, std::complex<T> wanted) {
  using Limits = std::numeric_limits<T>;
  const auto is_same = [](T a, T b) { return a == b ? std::signbit(a) == std::signbit(b) : a != a && b != b; };
  if (is_same(got.real(), wanted.real()) && is_same(got.imag(), wanted.imag())) return true;
  return std::abs(got - wanted) <= std::max(std::abs(wanted), Limits::min()) * Limits::epsilon() * 4;
}
template <class T>
void expect_function(Op op, std::complex<T> (*function)(const std::complex<T>&), const char* name) {
  constexpr Dtype dtype = dtype_of_v<Complex<T>>;
  const std::vector<std::complex<T>> numbers = drawn_everywhere<T>();
  std::vector<std::complex<T>> got(numbers.size()), in_place = numbers;
  const auto count = static_cast<int64_t>(numbers.size());
  const Lanes in[] = {{numbers.data(), 1}}, same[] = {{in_place.data(), 1}};
  kernel_of(op, dtype)(got.data(), in, count);
  kernel_of(op, dtype)(in_place.data(), same, count);
  EXPECT_EQ(std::memcmp(got.data(), in_place.data(), got.size() * sizeof(got[0])), 0) << name;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(is_near(got[i], function(numbers[i])))
        << name << numbers[i] << ": " << got[i] << ", not " << function(numbers[i]);
}
template <class T>
void expect_functions() {
  using F = std::complex<T> (*)(const std::complex<T>&);
  const auto check = [](Op op, F function, const char* name) { expect_function<T>(op, function, name); };
  check(
      Op::exp, [](const std::complex<T>& z) { return std::exp(z); }, "exp");
  check(
      Op::exp2, [](const std::complex<T>& z) { return binary_exponential(z); }, "exp2");
  check(
      Op::sin, [](const std::complex<T>& z) { return std::sin(z); }, "sin");
  check(
      Op::cos, [](const std::complex<T>& z) { return std::cos(z); }, "cos");
  check(
      Op::tan, [](const std::complex<T>& z) { return std::tan(z); }, "tan");
  check(
      Op::sinh, [](const std::complex<T>& z) { return std::sinh(z); }, "sinh");
  check(
      Op::cosh, [](const std::complex<T>& z) { return std::cosh(z); }, "cosh");
  check(
      Op::tanh, [](const std::complex<T>& z) { return std::tanh(z); }, "tanh");
  check(
      Op::sqrt, [](const std::complex<T>& z) { return std::sqrt(z); }, "sqrt");
  check(
      Op::log, [](const std::complex<T>& z) { return std::log(z); }, "log");
  check(
      Op::log2, [](const std::complex<T>& z) { return binary_logarithm(z); }, "log2");
  check(
      Op::log10, [](const std::complex<T>& z) { return std::log10(z); }, "log10");
}
TEST(Complex, FunctionsAreThoseOfTheCLibrary) {
  expect_functions<float>();
  expect_functions<double>();
}

}  // namespace
}  // namespace tenon
