// Functions of complex numbers by those of their parts, which the kernels of real numbers compute a block at a time.
// Numbers for which the formulas do not hold, such as infinite ones, are left to the C library: their results, and the
// signs of zeros, are PyTorch's. Compiled once: the kernels that are called are those of the instruction set. Bench:
// tenon_bench --filter '^large/.* c64'.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "kernel/complex_functions.h"

namespace tenon {
namespace {

constexpr int64_t kTogether = 128;

template <class T>
struct Parts {
  alignas(64) T re[kTogether], im[kTogether];
};
template <class T>
using Block = T[kTogether];

template <class T>
void call(Op op, T* to, const T* a, const T* b, int64_t n) {
  const Lanes in[] = {{a, 1}, {b, 1}};
  kernels().elementwise[static_cast<int>(op)][static_cast<int>(dtype_of_v<T>)](to, in, n);
}
template <class T>
void call(Op op, T* to, const T* a, int64_t n) {
  call(op, to, a, a, n);
}

/// Powers of e to this exponent, and their squares' halves, are finite, and their inverses normal.
template <class T>
constexpr T kReach = sizeof(T) == 4 ? 80 : 700;
template <class T>
constexpr T kLargest = std::numeric_limits<T>::max();

struct Exponential {
  template <class T>
  static bool holds(T re, T im) {
    return std::abs(re) <= kReach<T> && std::abs(im) <= kLargest<T>;
  }
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::exp(z);
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    alignas(64) Block<T> size;
    call(Op::exp, size, z.re, n);
    call(Op::cos, to.re, z.im, n);
    call(Op::sin, to.im, z.im, n);
    for (int64_t i = 0; i < n; ++i) to.re[i] *= size[i];
    for (int64_t i = 0; i < n; ++i) to.im[i] *= size[i];
  }
};
struct ExponentialOf2 : Exponential {
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::exp(
        std::complex<T>(z.real() * static_cast<T>(std::numbers::ln2), z.imag() * static_cast<T>(std::numbers::ln2)));
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    Parts<T> natural;
    for (int64_t i = 0; i < n; ++i) natural.re[i] = z.re[i] * static_cast<T>(std::numbers::ln2);
    for (int64_t i = 0; i < n; ++i) natural.im[i] = z.im[i] * static_cast<T>(std::numbers::ln2);
    Exponential::run(to, natural, n);
  }
};

/// Sines and cosines of one part, hyperbolic ones of the other.
template <class T>
struct Waves {
  alignas(64) Block<T> sine, cosine, hyperbolic_sine, hyperbolic_cosine;

  Waves(const T* angle, const T* growth, int64_t n) {
    call(Op::sin, sine, angle, n);
    call(Op::cos, cosine, angle, n);
    call(Op::sinh, hyperbolic_sine, growth, n);
    call(Op::cosh, hyperbolic_cosine, growth, n);
  }
};
/// What the parts of a result are of these.
struct WaveSine {
  template <class T>
  static void run(T* along_angle, T* along_growth, const Waves<T>& w, int64_t n) {
    for (int64_t i = 0; i < n; ++i) along_angle[i] = w.hyperbolic_cosine[i] * w.sine[i];
    for (int64_t i = 0; i < n; ++i) along_growth[i] = w.hyperbolic_sine[i] * w.cosine[i];
  }
};
struct WaveCosine {
  template <class T>
  static void run(T* even, T* odd, const Waves<T>& w, int64_t n) {
    for (int64_t i = 0; i < n; ++i) even[i] = w.hyperbolic_cosine[i] * w.cosine[i];
    for (int64_t i = 0; i < n; ++i) odd[i] = w.hyperbolic_sine[i] * w.sine[i];
  }
};
struct WaveTangent {
  template <class T>
  static void run(T* along_angle, T* along_growth, const Waves<T>& w, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const T size = w.cosine[i] * w.cosine[i] + w.hyperbolic_sine[i] * w.hyperbolic_sine[i];
      along_angle[i] = w.sine[i] * w.cosine[i] / size;
      along_growth[i] = w.hyperbolic_sine[i] * w.hyperbolic_cosine[i] / size;
    }
  }
};

// Hyperbolic functions: the real part grows.

struct Growing {
  template <class T>
  static bool holds(T re, T im) {
    return Exponential::holds(re, im);
  }
};
struct HyperbolicSine : Growing {
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::sinh(z);
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    WaveSine::run(to.im, to.re, Waves<T>(z.im, z.re, n), n);
  }
};
struct HyperbolicCosine : Growing {
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::cosh(z);
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    WaveCosine::run(to.re, to.im, Waves<T>(z.im, z.re, n), n);
  }
};
struct HyperbolicTangent {
  template <class T>
  static bool holds(T re, T im) {
    return Exponential::holds(2 * re, im);
  }
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::tanh(z);
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    WaveTangent::run(to.im, to.re, Waves<T>(z.im, z.re, n), n);
  }
};

// Circular functions: the imaginary part grows.

struct Turning {
  template <class T>
  static bool holds(T re, T im) {
    return Exponential::holds(im, re);
  }
};
struct Sine : Turning {
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::sin(z);
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    WaveSine::run(to.re, to.im, Waves<T>(z.re, z.im, n), n);
  }
};
struct Cosine : Turning {
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::cos(z);
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    WaveCosine::run(to.re, to.im, Waves<T>(z.re, z.im, n), n);
    for (int64_t i = 0; i < n; ++i) to.im[i] = -to.im[i];
  }
};
struct Tangent {
  template <class T>
  static bool holds(T re, T im) {
    return Exponential::holds(2 * im, re);
  }
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::tan(z);
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    WaveTangent::run(to.re, to.im, Waves<T>(z.re, z.im, n), n);
  }
};

/// Far from the limits, where no square overflows or loses bits.
struct SquareRoot {
  template <class T>
  static bool holds(T re, T im) {
    constexpr T kFar = sizeof(T) == 4 ? T(1e18) : T(1e150);
    const T size = std::max(std::abs(re), std::abs(im));
    return std::abs(re) <= kFar && std::abs(im) <= kFar && size >= 1 / kFar;
  }
  template <class T>
  static std::complex<T> single(std::complex<T> z) {
    return std::sqrt(z);
  }
  template <class T>
  static void run(Parts<T>& to, const Parts<T>& z, int64_t n) {
    alignas(64) Block<T> size;
    call(Op::hypot, size, z.re, z.im, n);
    for (int64_t i = 0; i < n; ++i) {
      const T larger = std::sqrt((size[i] + std::abs(z.re[i])) / 2), smaller = z.im[i] / (2 * larger);
      to.re[i] = z.re[i] < 0 ? std::abs(smaller) : larger;
      to.im[i] = z.re[i] < 0 ? std::copysign(larger, z.im[i]) : smaller;
    }
  }
};

/// The logarithm of complex64, to a base. Squares of float32 are exact in float64; beside 1, where those of magnitudes
/// vanish, their sum is not exact enough.
template <int kBase>
struct Logarithm {
  static double square_of(float re, float im) {
    return static_cast<double>(re) * static_cast<double>(re) + static_cast<double>(im) * static_cast<double>(im);
  }
  static bool holds(float re, float im) {
    const double square = square_of(re, im);
    return square > 0 && square <= kLargest<double> && std::abs(square - 1) > 0x1p-16;
  }
  static float divided(float part) {
    if (kBase == 2) return part / static_cast<float>(std::numbers::ln2);
    return kBase == 10 ? part / static_cast<float>(std::numbers::ln10) : part;
  }
  static std::complex<float> single(std::complex<float> z) {
    const std::complex<float> natural = std::log(z);
    return {divided(natural.real()), divided(natural.imag())};
  }
  static void run(Parts<float>& to, const Parts<float>& z, int64_t n) {
    alignas(64) Block<double> squares;
    for (int64_t i = 0; i < n; ++i) squares[i] = square_of(z.re[i], z.im[i]);
    call(Op::log, squares, squares, n);
    call(Op::atan2, to.im, z.im, z.re, n);
    for (int64_t i = 0; i < n; ++i) to.re[i] = divided(static_cast<float>(squares[i] / 2));
    for (int64_t i = 0; i < n; ++i) to.im[i] = divided(to.im[i]);
  }
};

/// A function of a block of parts, whether its formula holds for all of them, and the function of one number.
template <class T>
struct Function {
  void (*run)(Parts<T>& to, const Parts<T>& z, int64_t n);
  bool (*holds)(T re, T im);
  bool (*holds_for_all)(const Parts<T>& z, int64_t n);
  std::complex<T> (*single)(std::complex<T> z);
};
template <class F, class T>
bool holds_for_all(const Parts<T>& z, int64_t n) {
  int missing = 0;
  for (int64_t i = 0; i < n; ++i) missing |= !F::holds(z.re[i], z.im[i]);
  return missing == 0;
}
template <class T>
void run_by_parts(const Function<T>& function, void* out, const Lanes* in, int64_t n) {
  const Complex<T>* from = static_cast<const Complex<T>*>(in[0].data);
  Complex<T>* to = static_cast<Complex<T>*>(out);
  for (; n > 0; n -= kTogether, from += kTogether, to += kTogether) {
    const int64_t count = std::min(n, kTogether);
    Parts<T> z, result;
    for (int64_t i = 0; i < count; ++i) z.re[i] = from[i].re;
    for (int64_t i = 0; i < count; ++i) z.im[i] = from[i].im;
    function.run(result, z, count);
    for (int64_t i = 0; i < count; ++i) to[i] = {result.re[i], result.im[i]};
    if (function.holds_for_all(z, count)) continue;
    for (int64_t i = 0; i < count; ++i) {
      if (function.holds(z.re[i], z.im[i])) continue;
      const std::complex<T> single = function.single(std::complex<T>(z.re[i], z.im[i]));
      to[i] = {single.real(), single.imag()};
    }
  }
}
template <class F, class T>
void by_parts(void* out, const Lanes* in, int64_t n) {
  static constexpr Function<T> kFunction{&F::run, &F::holds, &holds_for_all<F, T>, &F::single};
  run_by_parts(kFunction, out, in, n);
}

template <class T>
void fill_functions(KernelTable& table) {
  const auto set = [&](Op op, Kernel kernel) {
    table.elementwise[static_cast<int>(op)][static_cast<int>(dtype_of_v<Complex<T>>)] = kernel;
  };
  set(Op::exp, &by_parts<Exponential, T>);
  set(Op::exp2, &by_parts<ExponentialOf2, T>);
  set(Op::sin, &by_parts<Sine, T>);
  set(Op::cos, &by_parts<Cosine, T>);
  set(Op::tan, &by_parts<Tangent, T>);
  set(Op::sinh, &by_parts<HyperbolicSine, T>);
  set(Op::cosh, &by_parts<HyperbolicCosine, T>);
  set(Op::tanh, &by_parts<HyperbolicTangent, T>);
  set(Op::sqrt, &by_parts<SquareRoot, T>);
}

}  // namespace

void fill_complex_functions(KernelTable& table) {
  fill_functions<float>(table);
  fill_functions<double>(table);
  constexpr int kColumn = static_cast<int>(complex64);
  table.elementwise[static_cast<int>(Op::log)][kColumn] = &by_parts<Logarithm<0>, float>;
  table.elementwise[static_cast<int>(Op::log2)][kColumn] = &by_parts<Logarithm<2>, float>;
  table.elementwise[static_cast<int>(Op::log10)][kColumn] = &by_parts<Logarithm<10>, float>;
}

}  // namespace tenon
