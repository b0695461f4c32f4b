// Fourier transforms by pocketfft (third_party/pocketfft).
#define POCKETFFT_NO_MULTITHREADING
#include <pocketfft/pocketfft_hdronly.h>

#include <complex>

#include "extension/library/library.h"

namespace tenon {
namespace {

template <class Number>
auto as_vector(const int64_t* numbers, int64_t count) {
  return std::vector<Number>(numbers, numbers + count);
}

template <class Real>
struct Transform {
  using Complex = std::complex<Real>;

  /// A call with pocketfft's types.
  struct Given {
    pocketfft::shape_t sizes, axes;
    pocketfft::stride_t from, to;
    bool forward;
    Real scale;
    explicit Given(const Transforms::Call& call)
        : sizes(as_vector<std::size_t>(call.sizes, call.dims)),
          axes(as_vector<std::size_t>(call.axes, call.axis_count)),
          from(as_vector<std::ptrdiff_t>(call.from_strides, call.dims)),
          to(as_vector<std::ptrdiff_t>(call.to_strides, call.dims)),
          forward(call.forward),
          scale(static_cast<Real>(call.scale)) {}
  };

  static void complex_to_complex(const Transforms::Call& call) {
    const Given given(call);
    pocketfft::c2c(given.sizes, given.from, given.to, given.axes, given.forward, static_cast<const Complex*>(call.from),
                   static_cast<Complex*>(call.to), given.scale);
  }
  static void real_to_complex(const Transforms::Call& call) {
    const Given given(call);
    pocketfft::r2c(given.sizes, given.from, given.to, given.axes, given.forward, static_cast<const Real*>(call.from),
                   static_cast<Complex*>(call.to), given.scale);
  }
  static void complex_to_real(const Transforms::Call& call) {
    const Given given(call);
    pocketfft::c2r(given.sizes, given.from, given.to, given.axes[0], given.forward,
                   static_cast<const Complex*>(call.from), static_cast<Real*>(call.to), given.scale);
  }
};

template <class Real>
constexpr Transforms all() {
  return {Transform<Real>::complex_to_complex, Transform<Real>::real_to_complex, Transform<Real>::complex_to_real};
}

}  // namespace

const Transforms kFloatTransforms = all<float>(), kDoubleTransforms = all<double>();

}  // namespace tenon
