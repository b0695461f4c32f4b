// ops: Fourier transforms. Without formulas: dispatch/fourier.cpp. Included by blocks-inl.h, inside a namespace: no
// includes and no guard here.

/// The transforms that the others call. `normalization` divides by 0: nothing, 1: the root of the number of elements,
/// 2: it.
struct _fft_c2c {
  static constexpr Row row{.signature = "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "normalization: 0 1 2",
                           .method = false,
                           .dtypes = kComplex,
                           .grad_fn = "FftC2CBackward0",
                           .doc = "The Fourier transform of complex numbers along dims."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_c2c(g);
  }
};

struct _fft_r2c {
  static constexpr Row row{
      .signature = "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
      .kind = Kind::algorithm,
      .values = "normalization: 0 1 2",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kWideFloats,
      .grad_fn = "FftR2CBackward0",
      .doc = "The Fourier transform of real numbers along dims; onesided: the first half along the last of these."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_r2c(g);
  }
};

struct _fft_c2r {
  static constexpr Row row{
      .signature = "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
      .kind = Kind::algorithm,
      .values = "normalization: 0 1 2",
      .method = false,
      .dtypes = kComplex,
      .complex_to_real = true,
      .grad_fn = "FftC2RBackward0",
      .doc = "The inverse of _fft_r2c, onesided; last_dim_size is the size of the last dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_c2r(g);
  }
};

struct fft_fft {
  static constexpr Row row{
      .signature = "fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformed,
      .doc = "The Fourier transform along dim, of its first n elements, or with zeros behind them."};
};

struct fft_ifft {
  static constexpr Row row{
      .signature = "fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformed,
      .doc = "The inverse Fourier transform along dim, of its first n elements, or with zeros behind them."};
};

struct fft_rfft {
  static constexpr Row row{
      .signature = "fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformedReal,
      .doc =
          "The first half of the Fourier transform of real numbers along dim, of its first n elements, or with zeros "
          "behind them."};
};

struct fft_irfft {
  static constexpr Row row{
      .signature = "fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kTransformed,
      .complex_to_real = true,
      .doc = "The inverse of rfft along dim, of its first n elements, or with zeros behind them."};
};

struct fft_hfft {
  static constexpr Row row{
      .signature = "fft_hfft(Tensor self, int? n=None, int dim=-1, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kTransformed,
      .complex_to_real = true,
      .doc =
          "The Fourier transform, which is real, of the first half of a Hermitian signal along dim, of its first n "
          "elements, or with zeros behind them."};
};

struct fft_ihfft {
  static constexpr Row row{
      .signature = "fft_ihfft(Tensor self, int? n=None, int dim=-1, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformedReal,
      .doc = "The inverse of hfft along dim, of its first n elements, or with zeros behind them."};
};

struct fft_fft2 {
  static constexpr Row row{
      .signature =
          "fft_fft2(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformed,
      .doc = "The Fourier transform along two dims."};
};

struct fft_ifft2 {
  static constexpr Row row{
      .signature =
          "fft_ifft2(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformed,
      .doc = "The inverse Fourier transform along two dims."};
};

struct fft_rfft2 {
  static constexpr Row row{
      .signature =
          "fft_rfft2(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformedReal,
      .doc = "The first half of the Fourier transform of real numbers along two dims."};
};

struct fft_irfft2 {
  static constexpr Row row{
      .signature =
          "fft_irfft2(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kTransformed,
      .complex_to_real = true,
      .doc = "The inverse of rfft2 along two dims."};
};

struct fft_hfft2 {
  static constexpr Row row{
      .signature =
          "fft_hfft2(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kTransformed,
      .complex_to_real = true,
      .doc = "The Fourier transform, which is real, of the first half of a Hermitian signal along two dims."};
};

struct fft_ihfft2 {
  static constexpr Row row{
      .signature =
          "fft_ihfft2(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformedReal,
      .doc = "The inverse of hfft2 along two dims."};
};

struct fft_fftn {
  static constexpr Row row{
      .signature =
          "fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformed,
      .doc = "The Fourier transform along several dims."};
};

struct fft_ifftn {
  static constexpr Row row{
      .signature =
          "fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformed,
      .doc = "The inverse Fourier transform along several dims."};
};

struct fft_rfftn {
  static constexpr Row row{
      .signature =
          "fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformedReal,
      .doc = "The first half of the Fourier transform of real numbers along several dims."};
};

struct fft_irfftn {
  static constexpr Row row{
      .signature =
          "fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kTransformed,
      .complex_to_real = true,
      .doc = "The inverse of rfftn along several dims."};
};

struct fft_hfftn {
  static constexpr Row row{
      .signature =
          "fft_hfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kTransformed,
      .complex_to_real = true,
      .doc = "The Fourier transform, which is real, of the first half of a Hermitian signal along several dims."};
};

struct fft_ihfftn {
  static constexpr Row row{
      .signature =
          "fft_ihfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor out=None) -> Tensor",
      .module = "fft",
      .kind = Kind::algorithm,
      .values = "norm: backward ortho forward",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kTransformedReal,
      .doc = "The inverse of hfftn along several dims."};
};
