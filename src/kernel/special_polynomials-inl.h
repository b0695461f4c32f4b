// kernel: orthogonal polynomials of degree n, by their recurrences. Included by special-inl.h, inside a namespace: no
// includes here.

/// The degree, rounded toward 0; -1 if it is no integer of 64 bits: the polynomial is 0.
template <class T>
int64_t degree_of(T n) {
  return n > -1 && n < T(0x1p63) ? static_cast<int64_t>(n) : -1;
}
// Larger degrees of polynomials that neither overflow nor have another formula are NaN: their recurrences would run for
// seconds to years.
inline constexpr int64_t kLargestDegree = int64_t{1} << 31;
template <class T>
T sign_of_power(int64_t n) {
  return n % 2 == 0 ? T(1) : T(-1);
}
/// 2n + 1, which may wrap.
template <class T>
T twice_more_1(int64_t n) {
  return static_cast<T>(static_cast<int64_t>(2 * static_cast<uint64_t>(n) + 1));
}
template <class T>
T more_1(int64_t n) {
  return static_cast<T>(static_cast<int64_t>(static_cast<uint64_t>(n) + 1));
}

/// p(0) = 1, p(1) = `first`, p(k) = factor p(k - 1) - p(k - 2). Beyond infinity it is NaN, and remains it.
template <class T>
T chebyshev_recurrence(T first, T factor, int64_t n) {
  if (n == 0) return 1;
  T before = 1, last = first;
  for (int64_t k = 2; k <= n && !std::isnan(last); ++k) {
    const T next = factor * last - before;
    before = last;
    last = next;
  }
  return last;
}

/// The four kinds of Chebyshev polynomials inside [-1, 1], by the angle whose cosine is x.
template <class T>
T chebyshev_t_by_angle(T x, int64_t n) {
  return std::cos(static_cast<T>(n) * std::acos(x));
}
template <class T>
T chebyshev_u_by_angle(T x, int64_t n) {
  const T angle = std::acos(x), sine = std::sin(angle);
  if (sine != 0) return std::sin(more_1<T>(n) * angle) / sine;
  return more_1<T>(n) * std::cos(more_1<T>(n) * angle) / x;
}
template <class T>
T chebyshev_v_by_angle(T x, int64_t n) {
  const T angle = std::acos(x);
  if (std::sin(angle / T(2)) != 1) return std::cos((static_cast<T>(n) + T(0.5)) * angle) / std::cos(angle / T(2));
  return sign_of_power<T>(n) * twice_more_1<T>(n);
}

template <class T>
T of_chebyshev_polynomial_t(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return 0;
  if (std::abs(x) == 1) return x > 0 ? T(1) : sign_of_power<T>(n);
  if (n > 6 && std::abs(x) < 1) return chebyshev_t_by_angle(x, n);
  return chebyshev_recurrence(x, x + x, n);
}
template <class T>
T of_shifted_chebyshev_polynomial_t(T x, T degree) {
  const int64_t n = degree_of(degree);
  const T at = x + x - T(1);
  if (n < 0) return 0;
  if (x == 1) return 1;
  if (x == 0) return sign_of_power<T>(n);
  if (n > 6 && std::abs(at) < 1) return chebyshev_t_by_angle(at, n);
  return chebyshev_recurrence(at, at + at, n);
}
template <class T>
T of_chebyshev_polynomial_u(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return 0;
  if (std::abs(x) == 1) return x > 0 ? more_1<T>(n) : sign_of_power<T>(n) * more_1<T>(n);
  if (n > 8 && std::abs(x) < 1) return chebyshev_u_by_angle(x, n);
  return chebyshev_recurrence(x + x, x + x, n);
}
template <class T>
T of_shifted_chebyshev_polynomial_u(T x, T degree) {
  const int64_t n = degree_of(degree);
  const T at = x + x - T(1);
  if (n < 0) return 0;
  if (x == 1) return more_1<T>(n);
  if (x == 0) return sign_of_power<T>(n) * more_1<T>(n);
  if (n > 6 && std::abs(at) < 1) return chebyshev_u_by_angle(at, n);
  return chebyshev_recurrence(at + at, at + at, n);
}
template <class T>
T of_chebyshev_polynomial_v(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return 0;
  if (std::abs(x) == 1) return x > 0 ? T(1) : sign_of_power<T>(n) * twice_more_1<T>(n);
  if (n > 8 && std::abs(x) < 1) return chebyshev_v_by_angle(x, n);
  return chebyshev_recurrence(x + x - T(1), x + x, n);
}
template <class T>
T of_shifted_chebyshev_polynomial_v(T x, T degree) {
  const int64_t n = degree_of(degree);
  const T at = x + x - T(1);
  if (n < 0) return 0;
  if (x == 1) return 1;
  if (x == 0) return sign_of_power<T>(n) * twice_more_1<T>(n);
  if (n > 6 && std::abs(at) < 1) return chebyshev_v_by_angle(at, n);
  return chebyshev_recurrence(at + at - T(1), at + at, n);
}
/// `at_1` is the value where the cosine of half the angle is 1: PyTorch's two functions differ.
template <class T>
T chebyshev_w_by_angle(T x, int64_t n, T at_1) {
  const T angle = std::acos(x);
  if (std::cos(angle / T(2)) == 1) return at_1;
  return std::sin((static_cast<T>(n) + T(0.5)) * angle) / std::sin(angle / T(2));
}
template <class T>
T of_chebyshev_polynomial_w(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return 0;
  if (std::abs(x) == 1) return x > 0 ? twice_more_1<T>(n) : sign_of_power<T>(n);
  if (n > 8 && std::abs(x) < 1) return chebyshev_w_by_angle(x, n, x > 0 ? twice_more_1<T>(n) : sign_of_power<T>(n));
  return chebyshev_recurrence(x + x + T(1), x + x, n);
}
template <class T>
T of_shifted_chebyshev_polynomial_w(T x, T degree) {
  const int64_t n = degree_of(degree);
  const T at = x + x - T(1);
  if (n < 0) return 0;
  if (x == 1) return twice_more_1<T>(n);
  if (x == 0) return sign_of_power<T>(n);
  if (n > 4 && std::abs(at) < 1) return chebyshev_w_by_angle(at, n, sign_of_power<T>(n));
  return chebyshev_recurrence(at + at + T(1), at + at, n);
}

/// Beyond this degree PyTorch gives NaN.
template <class T>
constexpr int64_t kMaxHermite = std::is_same_v<T, float> ? 128 : 512;
template <class T>
T of_hermite_polynomial_h(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return 0;
  if (n == 0) return 1;
  if (n > kMaxHermite<T>) return kNaN<T>;
  T before = 1, last = x + x;
  for (int64_t k = 2; k < n + n; k += 2) {
    const T next = (x + x) * last - static_cast<T>(k) * before;
    before = last;
    last = next;
  }
  return last;
}
template <class T>
T of_hermite_polynomial_he(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return 0;
  if (n == 0) return 1;
  if (n > kMaxHermite<T>) return kNaN<T>;
  T before = 1, last = x;
  for (int64_t k = 1; k < n; ++k) {
    const T next = x * last - static_cast<T>(k) * before;
    before = last;
    last = next;
  }
  return last;
}
template <class T>
T of_laguerre_polynomial_l(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return 0;
  if (x == 0 || n == 0) return 1;
  if (n > kLargestDegree) return std::numeric_limits<T>::quiet_NaN();
  T before = 1, last = T(1) - x;
  for (int64_t k = 1; k < n && !std::isnan(last); ++k) {
    const T next = ((static_cast<T>(k + k) + (T(1) - x)) * last - static_cast<T>(k) * before) / static_cast<T>(k + 1);
    before = last;
    last = next;
  }
  return last;
}
template <class T>
T of_legendre_polynomial_p(T x, T degree) {
  const int64_t n = degree_of(degree);
  if (n < 0) return 0;
  if (std::abs(x) == 1) return x > 0 ? T(1) : sign_of_power<T>(n);
  if (n == 0) return 1;
  if (n > kLargestDegree) return std::numeric_limits<T>::quiet_NaN();
  T before = 1, last = x;
  for (int64_t k = 1; k < n && !std::isnan(last); ++k) {
    const T next = (static_cast<T>(k + k + 1) * x * last - static_cast<T>(k) * before) / static_cast<T>(k + 1);
    before = last;
    last = next;
  }
  return last;
}
