// kernel: functions of the normal distribution. Included by special-inl.h, inside a namespace: no includes here.

/// A rational approximation (Indiana University), improved by steps of Halley's method: beyond 1/2 on erfc, which has
/// all digits there. float32 is computed in float64.
template <class T>
T of_inverse_error_function(T given) {
  const double y = static_cast<double>(given), size = std::abs(y);
  if (!(size <= 1)) return kNaN<T>;
  if (size == 1) return std::copysign(kInfinite<T>, given);
  constexpr double kSlope = 1.12837916709551257390;  // 2 / sqrt(pi)
  if (size <= 0.5) {
    const double z = y * y;
    const double numerator = ((-0.140543331 * z + 0.914624893) * z - 1.645349621) * z + 0.886226899;
    const double x = y * numerator / ((((0.012229801 * z - 0.329097515) * z + 1.442710462) * z - 2.118377725) * z + 1);
    const double step = (std::erf(x) - y) / (kSlope * std::exp(-x * x));
    return static_cast<T>(x - step / (1 + x * step));
  }
  const double rest = 1 - size, z = std::sqrt(-std::log(rest / 2));
  const double numerator = ((1.641345311 * z + 3.429567803) * z - 1.624906493) * z - 1.970840454;
  double x = numerator / ((1.637067800 * z + 3.543889200) * z + 1);
  // The approximation is less good near 1.
  for (int steps = rest < 1e-3 ? 2 : 1; steps > 0; --steps) {
    const double step = (std::erfc(x) - rest) / (kSlope * std::exp(-x * x));
    x += step / (1 - x * step);
  }
  return static_cast<T>(std::copysign(x, y));
}

/// erfcx(x) for x >= 0 of y = 100 * 4 / (4 + x), whose hundred parts have polynomials of their own (Steven G. Johnson,
/// Massachusetts Institute of Technology).
template <class T>
T erfcx_by_parts(T y) {
  const int part = static_cast<int>(y);
  if (part > 99) return T(1);  // |x| < 4 epsilon
  const auto& c = kErfcx[part];
  const double t = static_cast<double>(2 * y - static_cast<T>(2 * part + 1));
  double result = c[6];
  for (int i = 5; i >= 0; --i) result = c[i] + rounded(result * t);
  return static_cast<T>(result);
}
/// Beyond 50 a continued fraction. Where PyTorch computes in float64, also of a float32, so does this.
template <class T>
T of_erfcx(T x) {
  constexpr T kInverseRootPi = static_cast<T>(0.56418958354775628694807945156);
  const double wide = static_cast<double>(x);
  const T square = x * x;
  if (std::isnan(x)) return x;
  if (wide < -26.7) return kInfinite<T>;
  if (wide < -6.1) return static_cast<T>(2 * std::exp(static_cast<double>(square)));
  if (x < 0) return static_cast<T>(2 * std::exp(static_cast<double>(square)) - erfcx_by_parts(400 / (4 - x)));
  if (x <= 50) return static_cast<T>(erfcx_by_parts(400 / (4 + x)));
  if (x > T(5e7)) return kInverseRootPi / x;
  const double s = static_cast<double>(square), below = static_cast<double>(square * (x * x + 5)) + 3.75;
  return static_cast<T>(static_cast<double>(kInverseRootPi) * (s * (static_cast<double>(x * x) + 4.5) + 2) /
                        (wide * below));
}

template <class T>
T of_log_ndtr(T x) {
  const T t = x * static_cast<T>(0.70710678118654752440);
  if (x < T(-1)) return std::log(of_erfcx(-t) / 2) - rounded(t * t);
  return std::log1p(-std::erfc(t) / 2);
}

/// The inverse of the normal distribution (Cephes).
template <class T>
T of_ndtri(T p) {
  constexpr T kLow = static_cast<T>(0.13533528323661269189);  // exp(-2)
  if (p == 0) return -kInfinite<T>;
  if (p == 1) return kInfinite<T>;
  if (p < 0 || p > 1) return kNaN<T>;
  const bool is_high = p > T(1) - kLow;
  const T y = is_high ? T(1) - p : p;
  if (y > kLow) {
    const T middle = y - T(0.5), square = middle * middle;
    const T x = middle + middle * (square * polynomial(square, kNormalP0) / polynomial(square, kNormalQ0));
    return x * static_cast<T>(2.50662827463100050242);  // sqrt(2 pi)
  }
  // These functions are of float64, also of a float32.
  const T x = static_cast<T>(std::sqrt(-2 * std::log(static_cast<double>(y))));
  const double wide = static_cast<double>(x);
  const T first = static_cast<T>(wide - std::log(wide) / wide), z = T(1) / x;
  const T correction = x < 8 ? z * polynomial(z, kNormalP1) / polynomial(z, kNormalQ1)
                             : z * polynomial(z, kNormalP2) / polynomial(z, kNormalQ2);
  return is_high ? first - correction : -(first - correction);
}
