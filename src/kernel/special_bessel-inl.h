// kernel: Bessel and Airy functions (Cephes). Included by special-inl.h, inside a namespace: no includes here.

// --- Modified Bessel functions

template <class T>
T i0_without_exponential(T size) {
  if (size <= 8) return chebyshev_sum(size / T(2) - T(2), kI0Near);
  return chebyshev_sum(T(32) / size - T(2), kI0Far) / std::sqrt(size);
}
template <class T>
T of_i0e(T x) {
  return i0_without_exponential(std::abs(x));
}
template <class T>
T of_bessel_i0(T x) {
  const T size = std::abs(x);
  if (size <= 8) return std::exp(size) * chebyshev_sum(size / T(2) - T(2), kI0Near);
  return std::exp(size) * chebyshev_sum(T(32) / size - T(2), kI0Far) / std::sqrt(size);
}
template <class T>
T of_modified_bessel_i0(T x) {
  return of_bessel_i0(x);
}

/// In float32, the first coefficients are too small to matter.
template <class T>
T i1_near(T size, std::size_t begin) {
  return chebyshev_sum(size / T(2) - T(2), kI1Near, begin);
}
template <class T>
T i1_far(T size, std::size_t begin) {
  return chebyshev_sum(T(32) / size - T(2), kI1Far, begin);
}
template <class T>
constexpr std::size_t kNearBegin = std::is_same_v<T, float> ? 12 : 0;
template <class T>
constexpr std::size_t kFarBegin = std::is_same_v<T, float> ? 18 : 0;
template <class T>
T of_i1(T x) {
  const T size = std::abs(x);
  const T result = size <= 8 ? std::exp(size) * size * i1_near(size, kNearBegin<T>)
                             : std::exp(size) * i1_far(size, kFarBegin<T>) / std::sqrt(size);
  return x < 0 ? -result : result;
}
template <class T>
T of_i1e(T x) {
  const T size = std::abs(x);
  const T result = size <= 8 ? i1_near(size, kNearBegin<T>) * size : i1_far(size, kFarBegin<T>) / std::sqrt(size);
  return x < 0 ? -result : result;
}
template <class T>
T of_modified_bessel_i1(T x) {
  const T size = std::abs(x);
  const T result =
      size <= 8 ? i1_near(size, 0) * size * std::exp(size) : std::exp(size) * i1_far(size, 0) / std::sqrt(size);
  return x < 0 ? -result : result;
}

template <class T>
T of_scaled_modified_bessel_k0(T x) {
  if (x == 0) return kInfinite<T>;
  if (x < 0) return kNaN<T>;
  if (x <= 2)
    return (rounded(chebyshev_sum(x * x - T(2), kK0Near)) - std::log(T(0.5) * x) * of_bessel_i0(x)) * std::exp(x);
  return chebyshev_sum(T(8) / x - T(2), kK0Far) / std::sqrt(x);
}
template <class T>
T of_modified_bessel_k0(T x) {
  if (x == 0) return kInfinite<T>;
  if (x < 0) return kNaN<T>;
  if (x <= 2) {
    // PyTorch computes this logarithm and the difference in float64, also of a float32.
    const double log = std::log(0.5 * static_cast<double>(x));
    return static_cast<T>(static_cast<double>(rounded(chebyshev_sum(x * x - T(2), kK0Near))) -
                          log * static_cast<double>(of_bessel_i0(x)));
  }
  return std::exp(-x) * chebyshev_sum(T(8) / x - T(2), kK0Far) / std::sqrt(x);
}
template <class T>
T k1_near(T x) {
  return std::log(T(0.5) * x) * of_modified_bessel_i1(x) + chebyshev_sum(x * x - T(2), kK1Near) / x;
}
template <class T>
T of_modified_bessel_k1(T x) {
  if (x == 0) return kInfinite<T>;
  if (x < 0) return kNaN<T>;
  if (x <= 2) return k1_near(x);
  return std::exp(-x) * chebyshev_sum(T(8) / x - T(2), kK1Far) / std::sqrt(x);
}
template <class T>
T of_scaled_modified_bessel_k1(T x) {
  if (x == 0) return kInfinite<T>;
  if (x < 0) return kNaN<T>;
  if (x <= 2) return k1_near(x) * std::exp(x);
  return chebyshev_sum(T(8) / x - T(2), kK1Far) / std::sqrt(x);
}

// --- Bessel functions

/// For x > 5, the two factors of J and Y by the phase.
template <class T>
struct Waves {
  T even, odd;
};
template <class T>
Waves<T> waves_of_order_0(T x) {
  const T z = T(25) / (x * x);
  return {polynomial(z, kJ0PP) / polynomial(z, kJ0PQ), T(5) / x * (polynomial(z, kJ0QP) / polynomial(z, kJ0QQ))};
}
template <class T>
Waves<T> waves_of_order_1(T x) {
  const T z = T(5) / x * (T(5) / x);
  return {polynomial(z, kJ1PP) / polynomial(z, kJ1PQ), T(5) / x * (polynomial(z, kJ1QP) / polynomial(z, kJ1QQ))};
}
template <class T>
constexpr T kRoot2ByPi = static_cast<T>(0.797884560802865355879892119868763737);  // sqrt(2 / pi)
template <class T>
constexpr T k2ByPi = static_cast<T>(0.636619772367581343075535053490057448);
template <class T>
constexpr T kPhase0 = static_cast<T>(0.785398163397448309615660845819875721);  // pi / 4
template <class T>
constexpr T kPhase1 = static_cast<T>(2.356194490192344928846982537459627163);  // 3 pi / 4

template <class T>
T of_bessel_j0(T x) {
  if (x < 0) x = -x;
  if (x <= 5) {
    const T square = x * x;
    if (x < T(0.00001)) return T(1) - square / T(4);
    return (square - T(5.78318596294678452118)) * (square - T(30.4712623436620863991)) * polynomial(square, kJ0RP) /
           polynomial(square, kJ0RQ);
  }
  const Waves<T> w = waves_of_order_0(x);
  const T phase = x - kPhase0<T>;
  return (w.even * std::cos(phase) - w.odd * std::sin(phase)) * kRoot2ByPi<T> / std::sqrt(x);
}
template <class T>
T of_bessel_j1(T x) {
  if (x < 0) return -of_bessel_j1(-x);
  if (x <= 5) {
    const T square = x * x;
    return polynomial(square, kJ1RP) / polynomial(square, kJ1RQ) * x * (square - T(14.6819706421238932572)) *
           (square - T(49.2184563216946036703));
  }
  const Waves<T> w = waves_of_order_1(x);
  const T phase = x - kPhase1<T>;
  return (w.even * std::cos(phase) - w.odd * std::sin(phase)) * kRoot2ByPi<T> / std::sqrt(x);
}
template <class T>
T of_bessel_y0(T x) {
  if (x <= 5) {
    if (x == 0) return -kInfinite<T>;
    if (x < 0) return kNaN<T>;
    return polynomial(x * x, kY0P) / polynomial(x * x, kY0Q) + (k2ByPi<T> * std::log(x) * of_bessel_j0(x));
  }
  const Waves<T> w = waves_of_order_0(x);
  const T phase = x - kPhase0<T>;
  return (w.even * std::sin(phase) + w.odd * std::cos(phase)) * kRoot2ByPi<T> / std::sqrt(x);
}
template <class T>
T of_bessel_y1(T x) {
  if (x <= 5) {
    if (x == 0) return -kInfinite<T>;
    if (x < 0) return kNaN<T>;
    return x * (polynomial(x * x, kY1P) / polynomial(x * x, kY1Q)) +
           (k2ByPi<T> * (of_bessel_j1(x) * std::log(x) - T(1) / x));
  }
  const Waves<T> w = waves_of_order_1(x);
  const T phase = x - kPhase1<T>;
  return (w.even * std::sin(phase) + w.odd * std::cos(phase)) * kRoot2ByPi<T> / std::sqrt(x);
}

template <class T>
T of_spherical_bessel_j0(T x) {
  if (std::isinf(x)) return 0;
  if (!(std::abs(x) < T(0.5))) return std::sin(x) / x;
  const T square = x * x;
  return T(1) +
         square * (T(-1) / T(6) +
                   square * (T(1) / T(120) +
                             square * (T(-1) / T(5040) +
                                       square * (T(1) / T(362880) +
                                                 square * (T(-1) / T(39916800) + square * (T(1) / T(6227020800.0)))))));
}

// --- Airy functions

/// Ai by the power series of its two solutions.
template <class T>
T airy_series(T x) {
  T f = 1, g = x, k = 1, m = 1, n = x, change = 1;
  const T cube = x * x * x;
  while (change > std::numeric_limits<T>::epsilon()) {
    m *= cube;
    k += 1;
    m /= k;
    n *= cube;
    k += 1;
    n /= k;
    m /= k;
    f += m;
    k += 1;
    n /= k;
    g += n;
    change = std::abs(m / f);
  }
  return static_cast<T>(0.355028053887817239260) * f - static_cast<T>(0.258819403792806798405) * g;
}
template <class T>
T of_airy_ai(T x) {
  constexpr T kInverseRootPi = static_cast<T>(5.64189583547756286948e-01);
  if (std::isinf(x)) return kNaN<T>;
  if (x > T(103.892)) return 0;
  if (x < T(-2.09)) {
    const T z = T(1) / (T(-2) * x * std::sqrt(-x) / T(3)), square = z * z;
    const T even = square * polynomial(square, kAiryFN) / polynomial(square, kAiryFD);
    const T odd = z * polynomial(square, kAiryGN) / polynomial(square, kAiryGD);
    const T t = T(-2) * x * std::sqrt(-x) / T(3) + T(0.25) * kPi<T>;
    return kInverseRootPi / std::sqrt(std::sqrt(-x)) * (std::sin(t) * (T(1) + even) - std::cos(t) * odd);
  }
  if (x >= T(2.09)) {
    const T z = T(2) * x * std::sqrt(x) / T(3), inverse = T(1) / z;
    return kInverseRootPi * (polynomial(inverse, kAiryN) / polynomial(inverse, kAiryD)) /
           (T(2) * std::sqrt(std::sqrt(x)) * std::exp(z));
  }
  return airy_series(x);
}
