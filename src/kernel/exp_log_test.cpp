// exp, log and the other functions: the largest error over the whole range, and the values at its ends.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernel/kernel.h"
#include "tenon/instruction_set.h"

namespace tenon {
namespace {

using Function = long double (*)(long double);

/// Distance in units of the last place of `wanted` rounded to T; 0 for equal infinities and for two NaN.
template <class T>
long double ulps(T got, long double wanted) {
  const T rounded = static_cast<T>(wanted);
  if (std::isnan(rounded) || std::isnan(got))
    return std::isnan(rounded) == std::isnan(got) ? 0 : std::numeric_limits<long double>::infinity();
  if (std::isinf(rounded) || std::isinf(got)) {
    // Beyond the largest number by half an ulp, results are infinite.
    if (rounded == got) return 0;
    return std::abs(wanted) >= static_cast<long double>(std::numeric_limits<T>::max())
               ? 1
               : std::numeric_limits<long double>::infinity();
  }
  const int exponent = std::max(std::ilogb(rounded == 0 ? std::numeric_limits<T>::denorm_min() : rounded),
                                std::numeric_limits<T>::min_exponent - 1);
  return std::abs(static_cast<long double>(got) - wanted) /
         std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
}

template <class T>
std::vector<T> run(Op op, const std::vector<T>& in) {
  std::vector<T> out(in.size());
  const Lanes lanes{in.data(), 1};
  kernels().elementwise[static_cast<int>(op)][static_cast<int>(dtype_of_v<T>)](out.data(), &lanes,
                                                                               static_cast<int64_t>(in.size()));
  return out;
}

/// Without fused multiply-add the C library computes float64.
bool computes_float64() {
  const std::string name = instruction_set();
  return name.find("AVX") != std::string::npos || name.find("NEON") != std::string::npos;
}

template <class T>
void expect_below(Op op, Function truth, const std::vector<T>& in, long double limit) {
  const std::vector<T> out = run(op, in);
  long double worst = 0;
  T at = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const long double error = ulps(out[i], truth(static_cast<long double>(in[i])));
    if (error > worst) worst = error, at = in[i];
  }
  EXPECT_LT(worst, limit) << row_of(op).name << " " << dtype_name(dtype_of_v<T>) << " of " << at;
  testing::Test::RecordProperty(std::string(row_of(op).name) + "_" + dtype_name(dtype_of_v<T>),
                                std::to_string(static_cast<double>(worst)));
}

/// Numbers whose bits are spread over all bit patterns: every exponent, subnormals, infinities and NaN.
template <class T, class Bits>
std::vector<T> spread(std::size_t count) {
  std::vector<T> values(count);
  const Bits step = static_cast<Bits>(std::numeric_limits<Bits>::max() / count) | 1;
  Bits bits = 0;
  for (T& value : values) value = std::bit_cast<T>(bits), bits += step;
  return values;
}

template <class T>
std::vector<T> drawn(std::size_t count, double low, double high) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(uniform(random));
  return values;
}

long double exp_of(long double x) { return std::exp(x); }
long double log_of(long double x) { return std::log(x); }

TEST(ExpLog, ErrorIsBelowOneUlp) {
  constexpr std::size_t count = 1 << 18;
  expect_below<float>(Op::exp, exp_of, spread<float, uint32_t>(4 * count), 1);
  expect_below<float>(Op::exp, exp_of, drawn<float>(4 * count, -105, 90), 1);
  expect_below<float>(Op::exp, exp_of, drawn<float>(count, -1, 1), 1);
  expect_below<float>(Op::log, log_of, spread<float, uint32_t>(4 * count), 1);
  expect_below<float>(Op::log, log_of, drawn<float>(4 * count, 0.25, 4), 1);
  expect_below<double>(Op::exp, exp_of, spread<double, uint64_t>(count), 1);
  expect_below<double>(Op::exp, exp_of, drawn<double>(count, -746, 710), 1);
  expect_below<double>(Op::exp, exp_of, drawn<double>(count, -1, 1), 1);
  expect_below<double>(Op::log, log_of, spread<double, uint64_t>(count), 1);
  expect_below<double>(Op::log, log_of, drawn<double>(count, 0.25, 4), 1);
}

/// Each number among ordinary ones, and alone.
template <class T>
void expect_logarithms_of_special_numbers() {
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       T(-0.),
                       -1,
                       -Limits::denorm_min(),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::denorm_min(),
                       3 * Limits::denorm_min(),
                       Limits::min(),
                       Limits::max()};
  for (const Op op : {Op::log, Op::log2, Op::log10})
    for (const T number : special) {
      std::vector<T> in(37, T(1.5));
      in[7] = in[36] = number;
      const std::vector<T> out = run(op, in);
      const auto x = static_cast<long double>(number);
      const long double wanted = op == Op::log ? std::log(x) : op == Op::log2 ? std::log2(x) : std::log10(x);
      for (const T got : {out[7], out[36], run(op, std::vector<T>{number})[0]})
        EXPECT_LT(ulps(got, wanted), 1) << row_of(op).name << " of " << number << " gives " << got;
      EXPECT_EQ(out[8], run(op, std::vector<T>{T(1.5)})[0]) << "beside " << number;
    }
  for (int k = Limits::min_exponent - 1; k < Limits::max_exponent; ++k)
    EXPECT_EQ(run(Op::log2, std::vector<T>(17, std::ldexp(T{1}, k)))[16], k);
}
TEST(ExpLog, LogarithmsOfSpecialNumbers) {
  expect_logarithms_of_special_numbers<float>();
  expect_logarithms_of_special_numbers<double>();
}

/// The share of results, in thousandths, that are not the nearest number.
template <class T>
double misrounded(const std::vector<T>& in) {
  const std::vector<T> out = run(Op::exp, in);
  std::size_t count = 0;
  for (std::size_t i = 0; i < in.size(); ++i) count += out[i] != static_cast<T>(exp_of(in[i]));
  return 1000. * static_cast<double>(count) / static_cast<double>(in.size());
}

TEST(ExpLog, ExpIsNearlyAlwaysTheNearestNumber) {
  constexpr std::size_t count = 1 << 18;
  constexpr double limit = 20;  // of a thousand
  for (const double reach : {0.3, 1.0, 20.0, 80.0}) {
    EXPECT_LT(misrounded(drawn<float>(count, -reach, reach)), limit) << "float32, to " << reach;
    EXPECT_LT(misrounded(drawn<double>(count, -8, 8)), limit) << "float64, to " << reach;
  }
  expect_below<float>(Op::exp, exp_of, drawn<float>(count, -80, 80), 0.66);
  expect_below<double>(Op::exp, exp_of, drawn<double>(count, -700, 700), 0.66);
}

TEST(Tanh, KeepsTheSignOfZero) {
  EXPECT_TRUE(std::signbit(run(Op::tanh, std::vector<float>{-0.f})[0]));
  EXPECT_TRUE(std::signbit(run(Op::tanh, std::vector<double>{-0.})[0]));
  EXPECT_FALSE(std::signbit(run(Op::tanh, std::vector<float>{0.f})[0]));
  EXPECT_EQ(run(Op::tanh, std::vector<float>{-20.f, 20.f, -0.1f}), (std::vector<float>{-1, 1, std::tanh(-0.1f)}));
}

TEST(ExpLog, ExpOfAnyNumberOfLanes) {
  std::vector<double> in = drawn<double>(70, -20, 20);
  for (std::size_t i = 0; i < in.size(); i += 9) in[i] *= 50;  // beside results that are not normal
  const std::vector<double> whole = run(Op::exp, in);
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_EQ(run(Op::exp, std::vector<double>{in[i]})[0], whole[i]) << in[i];
}

/// Up to the rows' last numbers and beyond, and at their boundaries.
TEST(Rows, ErrorsAreBelowOneUlp) {
  if (!computes_float64()) GTEST_SKIP() << "computed by the C library";
  std::vector<double> in;
  for (int i = -400; i <= 400; ++i)
    for (const double at : {i / 16., i / 16. + 0x1p-30, std::nextafter(i / 16., 100.), std::nextafter(i / 16., -100.)})
      in.push_back(at);
  expect_below<double>(
      Op::erf, [](long double x) -> long double { return std::erf(x); }, in, 1);
  expect_below<double>(
      Op::tanh, [](long double x) -> long double { return std::tanh(x); }, in, 1);
  expect_below<double>(Op::exp, exp_of, in, 1);
}

TEST(LogGamma, ErrorOfFloat64IsSmall) {
  const auto truth = [](long double x) -> long double { return std::lgamma(x); };
  constexpr std::size_t count = 1 << 16;
  const double ends[][2] = {{1e-300, 1e-290}, {1e-20, 1e-3}, {0, 3},   {0.9, 1.1},
                            {1.9, 2.1},       {1, 10},       {5, 1e3}, {1, 1e300}};
  for (const auto& [low, high] : ends)
    expect_below<double>(Op::lgamma, truth, drawn<double>(count, low, high),
                         high <= 10 || !computes_float64() ? 3.0L : 1.5L);
}
TEST(LogGamma, OfFloat64OfAnyNumberOfLanes) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> in = drawn<double>(70, 0, 12);
  const double rare[] = {0, -0.5, -3, inf, -inf, nan, 1e302, 1e-310};
  for (std::size_t i = 0; i < std::size(rare); ++i) in[7 * i + 2] = rare[i];
  in[1] = 1, in[3] = 2;
  const std::vector<double> whole = run(Op::lgamma, in);
  EXPECT_EQ(std::bit_cast<uint64_t>(whole[1]), 0);
  EXPECT_EQ(std::bit_cast<uint64_t>(whole[3]), 0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double alone = run(Op::lgamma, std::vector<double>{in[i]})[0];
    EXPECT_TRUE(alone == whole[i] || (std::isnan(alone) && std::isnan(whole[i]))) << in[i];
  }
  EXPECT_EQ(whole[2], inf);
  EXPECT_EQ(whole[16], inf);
}

/// The zeros themselves lie between two float64: a result of 1e-4 still has an error of a few units.
TEST(LogGamma, ErrorOfFloat64BelowZeroIsSmall) {
  const auto truth = [](long double x) -> long double { return std::lgamma(x); };
  const double ends[][2] = {{-1, 0},      {-2, -1},    {-2.4, -2},  {-3.1, -2.8}, {-5.5, -3.96},
                            {-6.5, -5.5}, {-30, -6.5}, {-170, -30}, {-1e6, -100}, {-1e-3, -1e-300}};
  for (const auto& [low, high] : ends) {
    std::vector<double> in = drawn<double>(1 << 15, low, high);
    std::erase_if(in, [](double x) { return std::abs(std::lgamma(static_cast<long double>(x))) < 0.01L; });
    expect_below<double>(Op::lgamma, truth, in, 4);
  }
  std::vector<double> in = drawn<double>(70, -9, 9);
  in[3] = -2.5, in[8] = -4, in[11] = -0x1p52 - 1, in[20] = -1e305, in[30] = -2.4570247;  // poles, and near a zero
  const std::vector<double> whole = run(Op::lgamma, in);
  for (std::size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(run(Op::lgamma, std::vector<double>{in[i]})[0], whole[i]) << in[i];
  for (const std::size_t pole : {8, 11, 20}) EXPECT_EQ(whole[pole], std::numeric_limits<double>::infinity());
}

/// Below 0, and beside its zeros there.
TEST(LogGamma, ErrorOfFloat32IsSmall) {
  const auto truth = [](long double x) -> long double { return std::lgamma(x); };
  const float ends[][2] = {{-1, 0},
                           {-10, 0},
                           {-60, -2},
                           {-1e6f, -30},
                           {-1e-30f, 0},
                           {-2.4571f, -2.457f},
                           {-2.748f, -2.747f},
                           {-3.144f, -3.143f},
                           {-3.956f, -3.955f},
                           {0, 3},
                           {1, 1e30f}};
  for (const auto& [low, high] : ends) expect_below<float>(Op::lgamma, truth, drawn<float>(1 << 14, low, high), 0.52L);
}
TEST(LogGamma, OfFloat32OfAnyNumberOfLanes) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> in = drawn<float>(70, -6, 12);
  const float rare[] = {0, -0.f, -3, inf, -inf, nan, -2.4570248f, -1e-45f, -3e38f};
  const float wanted[] = {inf, inf, inf, inf, inf, nan, 0, 103.278929903432f, inf};
  for (std::size_t i = 0; i < std::size(rare); ++i) in[7 * i + 2] = rare[i];
  const std::vector<float> whole = run(Op::lgamma, in);
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (std::size_t i = 0; i < in.size(); ++i)
    EXPECT_TRUE(same(run(Op::lgamma, std::vector<float>{in[i]})[0], whole[i])) << in[i];
  for (std::size_t i = 0; i < std::size(rare); ++i)
    EXPECT_TRUE(rare[i] == -2.4570248f ? std::abs(whole[7 * i + 2]) < 1e-6f : same(whole[7 * i + 2], wanted[i]))
        << rare[i] << " gave " << whole[7 * i + 2];
}

struct Declared {
  Op op;
  Function truth;
};
#define TENON_DECLARED(NAME)                                            \
  {                                                                     \
    Op::NAME, [](long double x) -> long double { return std::NAME(x); } \
  }
constexpr Declared kDeclared[] = {
    TENON_DECLARED(sin),   TENON_DECLARED(cos),   TENON_DECLARED(tan),   TENON_DECLARED(asin),  TENON_DECLARED(acos),
    TENON_DECLARED(atan),  TENON_DECLARED(sinh),  TENON_DECLARED(cosh),  TENON_DECLARED(asinh), TENON_DECLARED(acosh),
    TENON_DECLARED(atanh), TENON_DECLARED(expm1), TENON_DECLARED(log1p), TENON_DECLARED(log2),  TENON_DECLARED(log10),
    TENON_DECLARED(erf),   TENON_DECLARED(erfc),  TENON_DECLARED(tanh),
};
#undef TENON_DECLARED

TEST(ExpLog, ErrorOfExp2) {
  const auto exp2_of = [](long double x) -> long double { return std::exp2(x); };
  expect_below<float>(Op::exp2, exp2_of, spread<float, uint32_t>(1 << 17), 0.8);
  expect_below<float>(Op::exp2, exp2_of, drawn<float>(1 << 17, -155, 130), 0.8);
  expect_below<double>(Op::exp2, exp2_of, spread<double, uint64_t>(1 << 17), 0.8);
  expect_below<double>(Op::exp2, exp2_of, drawn<double>(1 << 17, -1080, 1026), 0.8);
}

/// The remainders of numbers of all sizes, of special numbers too, in vectors of every length.
template <class T, class Bits>
void expect_exact_remainders() {
  constexpr T inf = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
  constexpr T special[] = {0,
                           T(-0.),
                           1,
                           -3,
                           7.5,
                           inf,
                           -inf,
                           most,
                           -most,
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::quiet_NaN()};
  std::vector<T> x = spread<T, Bits>(1 << 14), y = x;
  std::shuffle(y.begin(), y.end(), std::mt19937_64(5));
  for (const T a : special)
    for (const T b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  std::vector<T> got(x.size());
  for (const std::size_t count : {x.size(), std::size_t{1}, std::size_t{3}, std::size_t{17}}) {
    const Lanes in[] = {{x.data(), 1}, {y.data(), 1}};
    kernel_of(Op::fmod, dtype_of_v<T>)(got.data(), in, static_cast<int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const T wanted = std::fmod(x[i], y[i]);
      EXPECT_TRUE(std::isnan(wanted) ? std::isnan(got[i])
                                     : wanted == got[i] && std::signbit(wanted) == std::signbit(got[i]))
          << x[i] << " " << y[i] << " gives " << got[i];
    }
    kernel_of(Op::remainder, dtype_of_v<T>)(got.data(), in, static_cast<int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      T wanted = std::fmod(x[i], y[i]);
      if (wanted != 0 && (y[i] < 0) != (wanted < 0)) wanted += y[i];
      EXPECT_TRUE(std::isnan(wanted) ? std::isnan(got[i]) : wanted == got[i])
          << x[i] << " " << y[i] << " gives " << got[i];
    }
  }
}
TEST(Remainder, IsExact) {
  expect_exact_remainders<float, uint32_t>();
  expect_exact_remainders<double, uint64_t>();
}

/// float32 is computed in float64, or in float32 with what roundings lose added back.
TEST(Library, ErrorIsAsDeclared) {
  constexpr std::size_t count = 1 << 17;
  for (const auto& [op, truth] : kDeclared) {
    const long double limit = static_cast<long double>(row_of(op).ulp);
    expect_below<float>(op, truth, spread<float, uint32_t>(count), limit);
    expect_below<double>(op, truth, spread<double, uint64_t>(count), limit);
    expect_below<double>(op, truth, drawn<double>(count, -8, 8), limit);
    for (const double width : {1e-6, 1., 8., 100., 1e5})
      expect_below<float>(op, truth, drawn<float>(count, -width, width), 0.95);
  }
}

/// There the sine, the cosine or the tangent is small, and most bits of the angle cancel.
TEST(Library, AnglesNearMultiplesOfAQuarterTurn) {
  std::vector<float> in;
  for (int k = -60'000; k <= 60'000; ++k) {
    const auto angle = static_cast<float>(k * 1.57079632679489661923);
    for (const float x : {std::nextafter(angle, -1e9f), angle, std::nextafter(angle, 1e9f)}) in.push_back(x);
  }
  for (const auto& [op, truth] : kDeclared)
    if (op == Op::sin || op == Op::cos || op == Op::tan) expect_below<float>(op, truth, in, 0.95);
}

TEST(Library, Float64IsWithinOneUlp) {
  if (!computes_float64()) GTEST_SKIP() << "computed by the C library";
  constexpr std::size_t count = 1 << 15;
  for (const auto& [op, truth] : kDeclared) {
    const long double limit = 0.95L;
    expect_below<double>(op, truth, spread<double, uint64_t>(count), limit);
    for (const double width : {1e-9, 1e-3, 1., 8., 100., 800., 1e9})
      expect_below<double>(op, truth, drawn<double>(count, -width, width), limit);
    expect_below<double>(op, truth, drawn<double>(count, 0.9, 1.1), limit);
  }
}
TEST(Library, Float64AnglesAreWithinOneUlp) {
  if (!computes_float64()) GTEST_SKIP() << "computed by the C library";
  constexpr std::size_t count = 1 << 16;
  const std::vector<double> bits = spread<double, uint64_t>(count), near = drawn<double>(count, -3, 3);
  for (const std::vector<double>& y : {bits, near}) {
    std::vector<double> x(y.rbegin(), y.rend()), got(count);
    const Lanes in[] = {{y.data(), 1}, {x.data(), 1}};
    kernels().elementwise[static_cast<int>(Op::atan2)][static_cast<int>(float64)](got.data(), in, count);
    for (std::size_t i = 0; i < count; ++i) {
      const long double wanted = std::atan2(static_cast<long double>(y[i]), static_cast<long double>(x[i]));
      EXPECT_LT(ulps(got[i], wanted), 0.95L) << y[i] << " " << x[i];
    }
  }
}

TEST(Library, OddFunctionsKeepTheSignOfZero) {
  for (const Op op :
       {Op::sin, Op::tan, Op::asin, Op::atan, Op::sinh, Op::asinh, Op::atanh, Op::expm1, Op::log1p, Op::erf}) {
    EXPECT_TRUE(std::signbit(run(op, std::vector<float>{-0.f})[0])) << row_of(op).grad_fn;
    EXPECT_TRUE(std::signbit(run(op, std::vector<double>{-0.})[0])) << row_of(op).grad_fn;
    EXPECT_FALSE(std::signbit(run(op, std::vector<double>{0.})[0])) << row_of(op).grad_fn;
    EXPECT_FALSE(std::signbit(run(op, std::vector<float>{0.f})[0])) << row_of(op).grad_fn;
  }
}

TEST(Library, AnglesOfSpecialPoints) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0.f, -0.f, 1.f, -1.f, 0x1p-60f, 0x1p60f, 3e38f, -3e38f, 1e-45f, -1e-45f, inf, -inf, nan};
  for (const float y : values)
    for (const float x : values) {
      const Lanes in[] = {{&y, 0}, {&x, 1}};
      float got = 0;
      kernels().elementwise[static_cast<int>(Op::atan2)][static_cast<int>(float32)](&got, in, 1);
      const float want = static_cast<float>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want))
          << y << " " << x << " gave " << got << ", not " << want;
    }
}

/// Powers in vectors of two operands.
/// Integers wrap; a power below 0 is 0, but of 1 and -1.
template <class T>
T integer_power(T x, T y) {
  if (std::is_signed_v<T> && y < 0) return static_cast<T>(x == -1 ? (y % 2 == 0 ? 1 : -1) : x == 1);
  uint64_t result = 1, base = static_cast<uint64_t>(x);
  for (auto rest = static_cast<uint64_t>(y); rest != 0; rest /= 2, base *= base)
    if (rest % 2 != 0) result *= base;
  return static_cast<T>(result);
}
template <class T>
void expect_integer_powers(Dtype dtype) {
  std::vector<T> x, y;
  for (int number = 0; number < 1 << 16; ++number) {
    x.push_back(static_cast<T>(number % 256 * (sizeof(T) == 1 ? 1 : 257)));
    y.push_back(static_cast<T>(number / 256 * (number % 3 == 0 ? 1 : 257)));
  }
  std::vector<T> got(x.size());
  const Lanes in[] = {{x.data(), 1}, {y.data(), 1}};
  kernel_of(Op::pow, dtype)(got.data(), in, static_cast<int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(got[i], integer_power(x[i], y[i])) << dtype_name(dtype) << " " << +x[i] << " to the power " << +y[i];
}
TEST(Pow, OfIntegersWraps) {
  expect_integer_powers<int8_t>(int8);
  expect_integer_powers<uint8_t>(uint8);
  expect_integer_powers<int16_t>(int16);
  expect_integer_powers<int32_t>(int32);
}

std::vector<float> powers(const std::vector<float>& x, const std::vector<float>& y) {
  std::vector<float> out(x.size());
  const Lanes in[] = {{x.data(), 1}, {y.data(), 1}};
  kernel_of(Op::pow, float32)(out.data(), in, static_cast<int64_t>(x.size()));
  return out;
}

TEST(Pow, SpecialValuesAreThoseOfC) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0.f, -0.f, 1.f, -1.f,  2.f,    -2.f,   3.f,     -3.f,         0.5f,       -0.5f,
                          inf, -inf, nan, 3e38f, -3e38f, 1e-45f, -1e-45f, 2147483648.f, 16777215.f, -16777215.f};
  std::vector<float> x, y;
  for (const float a : values)
    for (const float b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  const std::vector<float> got = powers(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto want = static_cast<float>(std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])));
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got[i]) : got[i] == want && std::signbit(got[i]) == std::signbit(want))
        << x[i] << " ** " << y[i] << " gave " << got[i] << ", not " << want;
  }
}

std::vector<double> powers(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> out(x.size());
  const Lanes in[] = {{x.data(), 1}, {y.data(), 1}};
  kernel_of(Op::pow, float64)(out.data(), in, static_cast<int64_t>(x.size()));
  return out;
}
TEST(Pow, SpecialValuesOfFloat64AreThoseOfC) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double values[] = {0.,  -0.,  1.,  -1.,   2.,     -2.,    3.,      -3.,     0.5,      -0.5,
                           inf, -inf, nan, 1e300, -1e300, 5e-324, -5e-324, 0x1p+53, -0x1p+53, 0x1.8p+52};
  std::vector<double> x, y;
  for (const double a : values)
    for (const double b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  const std::vector<double> got = powers(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = std::pow(x[i], y[i]);
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got[i])
                                 : ulps(got[i], want) <= 1 && std::signbit(got[i]) == std::signbit(want))
        << x[i] << " ** " << y[i] << " gave " << got[i] << ", not " << want;
  }
}
/// Bases of every size and near 1, and negative ones, with exponents for which the results lie in the whole range.
TEST(Pow, ErrorOfFloat64) {
  constexpr std::size_t count = 1 << 16;
  const std::vector<double> sizes = drawn<double>(count, -1074, 1023), reach = drawn<double>(count, -1070, 1023.9);
  std::vector<double> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = std::exp2(i % 2 == 0 ? sizes[i] : std::exp2(-std::abs(sizes[i]) / 40));
    const double log = std::log2(x[i]);
    y[i] = log == 0 ? 2. : reach[i] / log;
    if (i % 5 == 0) x[i] = -x[i], y[i] = std::trunc(y[i]);
  }
  constexpr long double limit = 1;
  const std::vector<double> got = powers(x, y);
  for (std::size_t i = 0; i < count; ++i) {
    const long double want = std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
    ASSERT_LT(ulps(got[i], want), limit) << x[i] << " ** " << y[i] << " gave " << got[i];
  }
}
TEST(Pow, OfFloat64OfAnyNumberOfLanes) {
  std::vector<double> x = drawn<double>(70, 0.1, 4), y = drawn<double>(70, -9, 9);
  for (std::size_t i = 0; i < x.size(); i += 9) y[i] *= 1000, x[i / 2] = i % 2 == 0 ? -x[i / 2] : 1e-310;
  const std::vector<double> whole = powers(x, y);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t end = i + 1; end <= std::min(i + 9, x.size()); ++end) {
      const auto first = static_cast<std::ptrdiff_t>(i), last = static_cast<std::ptrdiff_t>(end);
      const std::vector<double> part = powers(std::vector<double>(x.begin() + first, x.begin() + last),
                                              std::vector<double>(y.begin() + first, y.begin() + last));
      EXPECT_EQ(std::bit_cast<uint64_t>(part[0]), std::bit_cast<uint64_t>(whole[i])) << x[i] << " ** " << y[i];
    }
}

/// Bases of every size and near 1, with exponents for which the results lie in the whole range.
TEST(Pow, ErrorOfFloat32) {
  constexpr std::size_t count = 1 << 17;
  const std::vector<float> sizes = drawn<float>(count, -148, 127), reach = drawn<float>(count, -149, 127.9);
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double narrow = i % 2 == 0 ? sizes[i] : std::exp2(-std::abs(static_cast<double>(sizes[i])) / 7);
    x[i] = static_cast<float>(std::exp2(narrow));
    const double log = std::log2(static_cast<double>(x[i]));
    y[i] = log == 0 ? 2.f : static_cast<float>(reach[i] / log);
  }
  const std::vector<float> got = powers(x, y);
  long double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const long double want = std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
    const auto nearest = static_cast<float>(want);
    if (!std::isfinite(nearest)) continue;
    const long double ulp = std::nextafter(nearest, std::numeric_limits<float>::infinity()) - nearest;
    largest = std::max(largest, std::abs(got[i] - want) / ulp);
  }
  EXPECT_LT(largest, 0.6L);
}

TEST(Sigmoid, ErrorIsSmall) {
  const auto truth = [](long double x) -> long double { return 1 / (1 + std::exp(-x)); };
  constexpr std::size_t count = 1 << 17;
  const long double limit = computes_float64() ? 0.95L : 2.5L;  // exp and a division round, each near a power of two
  expect_below<float>(Op::sigmoid, truth, drawn<float>(count, -104, 20), 0.95);
  expect_below<float>(Op::sigmoid, truth, spread<float, uint32_t>(count), 0.95);
  expect_below<double>(Op::sigmoid, truth, drawn<double>(count, -745, 40), limit);
  expect_below<double>(Op::sigmoid, truth, drawn<double>(count, -8, 8), limit);
  expect_below<double>(Op::sigmoid, truth, spread<double, uint64_t>(count), limit);
}

TEST(Silu, ErrorIsSmall) {
  const auto truth = [](long double x) -> long double { return x / (1 + std::exp(-x)); };
  constexpr std::size_t count = 1 << 17;
  for (const double width : {1e-30, 1e-3, 1., 16., 87.}) {
    expect_below<float>(Op::silu, truth, drawn<float>(count, -width, width), 2.38);
    expect_below<double>(Op::silu, truth, drawn<double>(count, -width, width), 3);
  }
  expect_below<float>(Op::silu, truth, drawn<float>(count, 80, 1e4), 3);
}
template <class T>
void expect_silu_at_the_ends() {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
  for (const T beside : {T(0.5), T(800)}) {  // a lane's result does not depend on the others
    const std::vector<T> got =
        run(Op::silu, std::vector<T>{0, T(-0.0), inf, most, -most, -inf, nan, beside, 2 * least});
    EXPECT_TRUE(got[0] == 0 && !std::signbit(got[0]) && got[1] == 0 && std::signbit(got[1]));
    EXPECT_EQ(got[2], inf);
    EXPECT_EQ(got[3], most);
    EXPECT_EQ(got[4], 0);
    EXPECT_TRUE(std::isnan(got[5]) && std::isnan(got[6]));
    EXPECT_EQ(got[8], least);
  }
}
TEST(Silu, EndsOfTheRange) {
  expect_silu_at_the_ends<float>();
  expect_silu_at_the_ends<double>();
}
TEST(Silu, ErrorOfFloat64IsSmall) {
  const auto truth = [](long double x) -> long double { return x / (1 + std::exp(-x)); };
  for (const double width : {1e-3, 1., 30., 699., 709.})
    expect_below<double>(Op::silu, truth, drawn<double>(1 << 16, -width, width), 2.5L);
}
template <class T>
void expect_silu_of_any_number_of_lanes() {
  std::vector<T> in = drawn<T>(70, -20, 20);
  for (std::size_t i = 0; i < in.size(); i += 9) in[i] *= 50;
  const std::vector<T> whole = run(Op::silu, in);
  for (std::size_t start = 0; start < 20; ++start)
    for (std::size_t end = start + 1; end <= in.size(); ++end) {
      const auto first = static_cast<std::ptrdiff_t>(start), last = static_cast<std::ptrdiff_t>(end);
      EXPECT_EQ(run(Op::silu, std::vector<T>(in.begin() + first, in.begin() + last)),
                std::vector<T>(whole.begin() + first, whole.begin() + last));
    }
}
TEST(Silu, OfAnyNumberOfLanes) {
  expect_silu_of_any_number_of_lanes<float>();
  expect_silu_of_any_number_of_lanes<double>();
}

/// `got` is erfinv(in): its error in units of T, by a step of Newton's method from the result itself.
template <class T>
long double error_of_erfinv(T got, T in) {
  const long double x = std::abs(static_cast<long double>(got)), y = std::abs(static_cast<long double>(in));
  const long double rest = y < 0.5L ? std::erf(x) - y : 1 - y - std::erfc(x);
  return ulps(std::abs(got), x - rest / (1.12837916709551257390L * std::exp(-x * x)));
}
template <class T>
void expect_small_error_of_erfinv(double farthest) {
  constexpr std::size_t count = 1 << 16;
  const double ends[][2] = {{1e-39, 1e-37}, {1e-309, 1e-307}, {-1e-30, 1e-30}, {-1e-8, 1e-8}, {-1, 1},
                            {0.8, 0.9},     {0.99, 1},        {0.9999, 1},     {1 - 1e-9, 1}};
  for (const auto& [low, high] : ends) {
    const std::vector<T> in = drawn<T>(count, low, high), got = run(Op::erfinv, in);
    long double worst = 0;
    T at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (std::abs(in[i]) > farthest || std::abs(in[i]) == 1) continue;
      const long double error = error_of_erfinv(got[i], in[i]);
      if (error > worst) at = in[i];
      worst = std::max(worst, error);
    }
    EXPECT_LT(worst, high < 1e-36 ? 0.8L : 0.64L) << low << " " << high << " at " << at;
  }
}
TEST(InverseErrorFunction, OfAnyNumberOfLanes) {
  std::vector<double> in = drawn<double>(40, -1, 1);
  for (std::size_t i = 0; i < in.size(); i += 9) in[i] = i % 2 == 0 ? 1 : 1.5;
  const std::vector<double> whole = run(Op::erfinv, in);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::vector<double> alone = run(Op::erfinv, std::vector<double>{in[i]});
    EXPECT_EQ(std::bit_cast<uint64_t>(alone[0]), std::bit_cast<uint64_t>(whole[i])) << in[i];
  }
}
TEST(InverseErrorFunction, EndsOfTheRange) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const T least = std::numeric_limits<T>::denorm_min();
    const std::vector<T> got =
        run(Op::erfinv, std::vector<T>{T(0), T(-0.0), T(1), T(-1), T(1.5), T(-inf), T(nan), least});
    EXPECT_TRUE(got[0] == 0 && !std::signbit(got[0]) && got[1] == 0 && std::signbit(got[1]));
    EXPECT_EQ(got[2], T(inf));
    EXPECT_EQ(got[3], T(-inf));
    EXPECT_TRUE(std::isnan(got[4]) && std::isnan(got[5]) && std::isnan(got[6]));
    EXPECT_EQ(got[7], least);
  };
  check(0.0f);
  check(0.0);
}
TEST(InverseErrorFunction, ErrorIsSmall) {
  if (!computes_float64()) GTEST_SKIP() << "computed by another function";
  // NEON computes float64 nearer to 1 by another function.
  const bool by_pieces = std::string(instruction_set()).find("AVX") != std::string::npos;
  expect_small_error_of_erfinv<float>(1);
  expect_small_error_of_erfinv<double>(by_pieces ? 1 : 1 - 0x1p-22);
}

TEST(LogAddExp, ErrorOfFloat32) {
  constexpr std::size_t count = 1 << 16;
  const std::vector<float> a = drawn<float>(count, 0, 8), b(a.rbegin(), a.rend());
  std::vector<float> got(count);
  const Lanes in[] = {{a.data(), 1}, {b.data(), 1}};
  kernels().elementwise[static_cast<int>(Op::logaddexp)][static_cast<int>(float32)](got.data(), in, count);
  for (std::size_t i = 0; i < count; ++i) {
    const long double wanted =
        std::log(std::exp(static_cast<long double>(a[i])) + std::exp(static_cast<long double>(b[i])));
    EXPECT_LT(ulps(got[i], wanted), 0.95L) << a[i] << " " << b[i];
  }
}
/// Beside 0 the share of the other operand is all of the result, down to the smallest subnormal number. Then both parts
/// of a pair are rounded after every step.
TEST(LogAddExp, OfFloat64FarApart) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  const std::vector<double> far = drawn<double>(1 << 12, -1200, -600), zeros(far.size(), 0.0);
  std::vector<double> got(far.size());
  for (Op op : {Op::logaddexp, Op::logaddexp2}) {
    const Lanes in[] = {{far.data(), 1}, {zeros.data(), 1}};
    kernels().elementwise[static_cast<int>(op)][static_cast<int>(float64)](got.data(), in,
                                                                           static_cast<int64_t>(far.size()));
    for (std::size_t i = 0; i < far.size(); ++i) {
      const long double x = far[i];
      const double wanted = static_cast<double>(op == Op::logaddexp ? std::log1p(std::exp(x))
                                                                    : std::log1p(std::exp2(x)) / std::log(2.0L));
      ASSERT_NEAR(got[i], wanted, std::max(4 * kLeast, 1e-15 * wanted)) << row_of(op).name << " of 0 and " << far[i];
    }
  }
}
TEST(LogSigmoid, ErrorIsSmall) {
  const auto truth = [](long double x) -> long double { return -std::log1p(std::exp(-x)); };
  constexpr std::size_t count = 1 << 17;
  for (const double width : {0.1, 8., 80.})
    expect_below<float>(Op::logsigmoid, truth, drawn<float>(count, -width, width), computes_float64() ? 1.41 : 2.4);
}

TEST(ExpLog, EndsOfTheRange) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> in{0.0f, -0.0f, 1.0f, -1.0f, inf, -inf, nan, 88.8f, -104.0f, 3e38f, -3e38f};
  const std::vector<float> exp = run(Op::exp, in), log = run(Op::log, in);
  const float want_exp[] = {1, 1, std::exp(1.0f), std::exp(-1.0f), inf, 0, nan, inf, 0, inf, 0};
  const float want_log[] = {-inf, -inf, 0, nan, inf, nan, nan, std::log(88.8f), nan, std::log(3e38f), nan};
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_TRUE(std::isnan(want_exp[i]) ? std::isnan(exp[i])
                                        : std::abs(exp[i] - want_exp[i]) <= 1e-6f || exp[i] == want_exp[i])
        << in[i] << " " << exp[i];
    EXPECT_TRUE(std::isnan(want_log[i]) ? std::isnan(log[i])
                                        : std::abs(log[i] - want_log[i]) <= 1e-5f || log[i] == want_log[i])
        << in[i] << " " << log[i];
  }
}

}  // namespace
}  // namespace tenon
