// kernel: the gamma function and its kin. Included by special-inl.h, inside a namespace: no includes here.

/// float32 is computed in float64: the C library's function of float loses digits near zeros.
template <class T>
T of_log_gamma(T x) {
  return static_cast<T>(system::log_gamma(static_cast<double>(x)));
}

/// The logarithmic derivative of the gamma function (Cephes).
template <class T>
T of_psi(T x) {
  if (x == 0) return std::copysign(kInfinite<T>, -x);
  if (x < 0) {
    if (x == std::trunc(x)) return kNaN<T>;
    double whole;
    const double rest = std::modf(static_cast<double>(x), &whole);  // tan(pi x) of the rest is exacter
    const T mirrored = static_cast<T>(kPi<double> / std::tan(kPi<double> * rest));
    return of_psi(1 - x) - mirrored;
  }
  T result = 0;
  for (; x < 10; x += 1) result -= 1 / x;
  if (x == 10) return result + static_cast<T>(2.25175258906672110764);
  T series = 0;
  if (x < T(1e17)) {
    const T z = 1 / (x * x);
    series = z * polynomial(z, kDigamma);
  }
  return result + std::log(x) - (T(0.5) / x) - series;
}

/// The derivative of psi.
template <class T>
T trigamma(T x) {
  T sign = 1, result = 0;
  if (x < T(0.5)) {
    sign = -1;
    const T sine = std::sin(kPi<T> * x);
    result -= (kPi<T> * kPi<T>) / (sine * sine);
    x = 1 - x;
  }
  for (int i = 0; i < 6; ++i) {
    result += 1 / (x * x);
    x += 1;
  }
  const T z = 1 / (x * x);
  result += (1 + 1 / (2 * x) + z * (T(1) / 6 - z * (T(1) / 30 - z * (T(1) / 42)))) / x;
  return sign * result;
}

/// Hurwitz' zeta function, the sum of (k + q)^-x, by Euler and Maclaurin (Cephes). float32 is computed in float64
/// but for the first term, as in PyTorch.
template <class T>
T of_zeta(T exponent, T start) {
  constexpr double kEpsilon = 1.11022302462515654042e-16;
  const double x = static_cast<double>(exponent), q = static_cast<double>(start);
  if (x == 1) return kInfinite<T>;
  if (x < 1) return kNaN<T>;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinite<T>;
    if (x != std::floor(x)) return kNaN<T>;
  }
  double sum = static_cast<double>(std::pow(start, -exponent)), a = q, power = 0;
  for (int i = 0; i < 9 || a <= 9; ++i) {
    a += 1;
    power = std::pow(a, -x);
    sum += power;
    if (-kEpsilon * sum < power && power < kEpsilon * sum) return static_cast<T>(sum);
  }
  const double w = a;
  sum += power * w / (x - 1);
  sum -= 0.5 * power;
  a = 1;
  double k = 0;
  for (const double denominator : kZeta) {
    a *= x + k;
    power /= w;
    const double term = a * power / denominator;
    sum = sum + term;
    if (std::abs(term / sum) < kEpsilon) break;
    k += 1;
    a *= x + k;
    power /= w;
    k += 1;
  }
  return static_cast<T>(sum);
}

/// The n-th derivative of psi at x. `n` is a whole number.
template <class T>
T of_psi_derivative(T x, T n) {
  if (n == 0) return of_psi(x);
  if (n == 1) return trigamma(x);
  const T sign = std::fmod(n, T(2)) == 0 ? T(-1) : T(1);
  return sign * std::exp(system::log_gamma(n + T(1))) * of_zeta(n + 1, x);
}

// --- The incomplete gamma functions (Cephes, SciPy, Boost)

template <class T>
constexpr T kGammaEpsilon = static_cast<T>(std::is_same_v<T, double> ? 1.11022302462515654042e-16 : 0x1p-24);
inline constexpr int kMaxGammaTerms = 2000;

/// A quotient of polynomials, of 1 / x for x > 1. Their coefficients begin with that of the highest power.
template <class T>
T lanczos_sum(T x) {
  constexpr int kCount = 13;
  const bool is_far = std::abs(x) > 1;
  const T y = is_far ? 1 / x : x;
  T numerator = 0, denominator = 0;
  for (int i = 0; i < kCount; ++i) {
    const int place = is_far ? kCount - 1 - i : i;
    numerator = numerator * y + static_cast<T>(kLanczosNumerator[place]);
    denominator = denominator * y + static_cast<T>(kLanczosDenominator[place]);
  }
  return numerator / denominator;
}

/// x^a exp(-x) / gamma(a).
template <class T>
T gamma_factor(T a, T x) {
  constexpr T kLargestLog = static_cast<T>(std::is_same_v<T, double> ? 7.09782712893383996843e2 : 88.72283905206835);
  constexpr T kG = static_cast<T>(6.024680040776729583740234375);
  if (static_cast<double>(std::abs(a - x)) > 0.4 * static_cast<double>(std::abs(a))) {
    const T log = a * std::log(x) - x - system::log_gamma(a);
    return log < -kLargestLog ? T(0) : std::exp(log);
  }
  const T fac = a + kG - T(0.5);
  const T root = std::sqrt(fac / static_cast<T>(2.718281828459045)) / lanczos_sum(a);
  if (a < 200 && x < 200) return root * (std::exp(a - x) * std::pow(x / fac, a));
  const T part = (x - a - kG + T(0.5)) / fac;
  // In float64, also of a float32.
  const double wide = static_cast<double>(x) * (0.5 - static_cast<double>(kG)) / static_cast<double>(fac);
  const double log = static_cast<double>(a * (std::log1p(part) - part)) + wide;
  return static_cast<T>(static_cast<double>(root) * std::exp(log));
}

/// DLMF 8.11.4.
template <class T>
T lower_gamma_series(T a, T x) {
  const T factor = gamma_factor(a, x);
  if (factor == 0) return 0;
  T r = a, c = 1, sum = 1;
  for (int i = 0; i < kMaxGammaTerms; ++i) {
    r += 1;
    c *= x / r;
    sum += c;
    if (c <= kGammaEpsilon<T> * sum) break;
  }
  return sum * factor / a;
}
/// DLMF 8.7.3.
template <class T>
T upper_gamma_series(T a, T x) {
  T fac = 1, sum = 0;
  for (int n = 1; n < kMaxGammaTerms; ++n) {
    fac *= -x / static_cast<T>(n);
    const T term = fac / (a + static_cast<T>(n));
    sum += term;
    if (std::abs(term) <= kGammaEpsilon<T> * std::abs(sum)) break;
  }
  const T log = std::log(x);
  const T begin = -std::expm1(a * log - system::log_gamma(1 + a));
  return begin - std::exp(a * log - system::log_gamma(a)) * sum;
}

/// DLMF 8.12.3 and 8.12.4: for large `a` near `x`.
template <class T>
T gamma_expansion(T a, T x, bool is_lower) {
  const T lambda = x / a, sigma = (x - a) / a, sign = is_lower ? T(-1) : T(1);
  T eta = 0;
  if (lambda > 1)
    eta = std::sqrt(-2 * (std::log1p(sigma) - sigma));
  else if (lambda < 1)
    eta = -std::sqrt(-2 * (std::log1p(sigma) - sigma));
  const T begin = T(0.5) * std::erfc(sign * eta * std::sqrt(a / 2));
  T powers[25] = {1};
  int known = 0;
  T sum = 0, scale = 1, last = kInfinite<T>;
  for (const auto& row : kGammaExpansion) {
    T c = static_cast<T>(row[0]);
    for (int n = 1; n < 25; ++n) {
      if (n > known) {
        powers[n] = eta * powers[n - 1];
        known += 1;
      }
      const T term = static_cast<T>(row[n]) * powers[n];
      c += term;
      if (std::abs(term) < kGammaEpsilon<T> * std::abs(c)) break;
    }
    const T term = c * scale, size = std::abs(term);
    if (size > last) break;
    sum += term;
    if (size < kGammaEpsilon<T> * std::abs(sum)) break;
    last = size;
    scale /= a;
  }
  // In float64, also of a float32; PyTorch has this pi as a float.
  const double wide_eta = static_cast<double>(eta),
               root = static_cast<double>(std::sqrt(2 * static_cast<T>(kPi<float>) * a));
  const double exponential = std::exp(-0.5 * static_cast<double>(a) * wide_eta * wide_eta);
  return static_cast<T>(static_cast<double>(begin) +
                        static_cast<double>(sign) * exponential * static_cast<double>(sum) / root);
}

/// DLMF 8.9.2: a continued fraction.
template <class T>
T upper_gamma_fraction(T a, T x) {
  constexpr T kBig = static_cast<T>(std::is_same_v<T, double> ? 0x1p52 : 0x1p24);
  constexpr T kSmall = static_cast<T>(std::is_same_v<T, double> ? 0x1p-52 : 0x1p-24);
  const T factor = gamma_factor(a, x);
  if (factor == 0) return 0;
  T y = 1 - a, z = x + y + 1, c = 0;
  T p_second = 1, q_second = x, p_last = x + 1, q_last = z * x, result = p_last / q_last;
  for (int i = 0; i < kMaxGammaTerms; ++i) {
    c += 1;
    y += 1;
    z += 2;
    const T yc = y * c, p = p_last * z - p_second * yc, q = q_last * z - q_second * yc;
    T change = 1;
    if (q != 0) {
      const T r = p / q;
      change = std::abs((result - r) / r);
      result = r;
    }
    p_second = p_last;
    p_last = p;
    q_second = q_last;
    q_last = q;
    if (std::abs(p) > kBig) {
      p_second *= kSmall;
      p_last *= kSmall;
      q_second *= kSmall;
      q_last *= kSmall;
    }
    if (change <= kGammaEpsilon<T>) break;
  }
  return result * factor;
}

/// Whether the expansion for large `a` near `x` is the best.
template <class T>
bool is_near_diagonal(T a, T x) {
  const T distance = std::abs(x - a) / a;
  return (a > 20 && a < 200 && distance < T(0.3)) || (a > 200 && distance < T(4.5) / std::sqrt(a));
}
/// Sets `result` where an argument is negative, 0 or infinite.
template <class T>
bool is_gamma_edge(T a, T x, bool is_lower, T& result) {
  const T nothing = is_lower ? T(0) : T(1), all = is_lower ? T(1) : T(0);
  if (x < 0 || a < 0)
    result = kNaN<T>;
  else if (a == 0)
    result = x > 0 ? all : kNaN<T>;
  else if (x == 0)
    result = nothing;
  else if (std::isinf(a))
    result = std::isinf(x) ? kNaN<T> : nothing;
  else if (std::isinf(x))
    result = all;
  else
    return false;
  return true;
}
template <class T>
T of_upper_gamma(T a, T x) {
  T edge;
  if (is_gamma_edge(a, x, false, edge)) return edge;
  if (is_near_diagonal(a, x)) return gamma_expansion(a, x, false);
  const double wide = static_cast<double>(x);
  if (wide > 1.1) return x < a ? T(1) - lower_gamma_series(a, x) : upper_gamma_fraction(a, x);
  const bool is_lower = x <= T(0.5) ? -0.4 / static_cast<double>(std::log(x)) < static_cast<double>(a)
                                    : wide * 1.1 < static_cast<double>(a);
  return is_lower ? T(1) - lower_gamma_series(a, x) : upper_gamma_series(a, x);
}
template <class T>
T of_lower_gamma(T a, T x) {
  T edge;
  if (is_gamma_edge(a, x, true, edge)) return edge;
  if (is_near_diagonal(a, x)) return gamma_expansion(a, x, true);
  if (x > 1 && x > a) return T(1) - of_upper_gamma(a, x);
  return lower_gamma_series(a, x);
}
