// extension: matrix decompositions and Fourier transforms, which libraries compute (Eigen, pocketfft). They are
// compiled into a library of their own, libtenon_extension, which the first call opens: programs that need none of them
// don't ship it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tenon/dtype.h"

namespace tenon {

/// Decompositions of one matrix. Matrices are contiguous and column-major. Names and results are LAPACK's; a function
/// that returns a number returns LAPACK's `info`: 0 if it succeeded. Numbers are of float64 or complex128: narrower
/// ones are cast, which halves the library and the time to compile it, and rounds them once.
struct Decompositions {
  /// P a = L U, over `a`. `pivots`: for each row the one that it was exchanged with, from 1 on. Gives the first pivot
  /// that is 0, from 1 on.
  int64_t (*lu)(int64_t rows, int64_t columns, void* a, int32_t* pivots);
  /// a = L L^H, over `a`, of which the lower triangle is read; the rest becomes 0. Gives the order of the first leading
  /// minor that is not positive.
  int64_t (*cholesky)(int64_t n, void* a);
  /// a x = b, over `b`. Only one triangle of `a` is read; of a `unit` one the diagonal is not.
  void (*solve_triangular)(int64_t n, int64_t columns, const void* a, void* b, bool upper, bool unit);
  /// a = Q R: R over `a`, and the first `kept` columns of Q.
  void (*qr)(int64_t rows, int64_t columns, int64_t kept, void* a, void* q);
  /// a = V diag(values) V^H of a Hermitian matrix, of which the lower triangle is read. Null `vectors`: only the
  /// values.
  int64_t (*eigh)(int64_t n, const void* a, void* values, void* vectors);
  /// a V = V diag(values); both are complex.
  int64_t (*eig)(int64_t n, const void* a, void* values, void* vectors);
  /// a = U diag(s) V^H. Null `u`: only the values. `full`: U and V are square.
  int64_t (*svd)(int64_t rows, int64_t columns, const void* a, void* u, void* s, void* v, bool full);
};

/// Fourier transforms along several dims of tensors with any strides (in bytes), each multiplied by `scale`.
struct Transforms {
  struct Call {
    int64_t dims;
    const int64_t *sizes, *from_strides, *to_strides;  // the sizes of the real tensor, if one is real
    int64_t axis_count;
    const int64_t* axes;
    bool forward;
    double scale;
    const void* from;
    void* to;
  };
  void (*complex_to_complex)(const Call&);
  void (*real_to_complex)(const Call&);  // the last axis is halved
  void (*complex_to_real)(const Call&);  // of one axis
};

/// What libtenon_extension offers.
struct Extension {
  static constexpr int64_t kVersion = 1;
  int64_t version;
  Decompositions decompositions[2];  // of float64, complex128
  Transforms transforms[2];          // of float32, float64
};

/// Opens the library at the first call. Throws NotImplementedError if it is not beside this one: `what` needs it.
const Extension& extension(const char* what);

inline const Decompositions& decompositions(const char* what, bool is_complex) {
  return extension(what).decompositions[is_complex];
}

}  // namespace tenon
