// Derivatives of Fourier transforms. PyTorch: fft_r2c_backward and fft_c2r_backward of FunctionsManual.cpp.
#include "autograd/derivative.h"
#include "tenon/ops.h"

namespace tenon::autograd {

Tensor of_c2c(const CallGiven& given) {
  return tenon::_fft_c2c(given.grad(), given.dims("dim").view(), given.integer("normalization"),
                         !given.boolean("forward"));
}

Tensor of_r2c(const CallGiven& given) {
  const DimsArg dim = given.dims("dim");
  const SizesView dims = dim.view();
  Tensor grad = given.grad();
  if (given.boolean("onesided")) {  // the other half has no gradient
    const int64_t last = wrap_existing_dim(dims[dims.size() - 1], grad.dim());
    Dims padding(2 * (grad.dim() - last), 0);  // exact: twice the number of dims
    padding[padding.size() - 1] = given.sizes()[last] - grad.size(last);
    grad = tenon::constant_pad_nd(grad, padding, 0);
  }
  return real(tenon::_fft_c2c(grad, dims, given.integer("normalization"), false));
}

Tensor of_c2r(const CallGiven& given) {
  const DimsArg dim = given.dims("dim");
  const SizesView dims = dim.view();
  const int64_t last = wrap_existing_dim(dims[dims.size() - 1], given.grad().dim());
  const Tensor half = tenon::_fft_r2c(given.grad(), dims, given.integer("normalization"), true);
  // Elements with a conjugate in the other half count twice.
  const int64_t twice = given.grad().size(last) - half.size(last), size = half.size(last);
  const Tensor whole = tenon::cat(
      {half.narrow(last, 0, 1), half.narrow(last, 1, twice) * 2, half.narrow(last, 1 + twice, size - 1 - twice)}, last);
  const int64_t unused = given.sizes()[last] - size;
  if (unused == 0) return whole;
  Dims padding(2 * (whole.dim() - last), 0);  // exact: twice the number of dims
  padding[padding.size() - 1] = unused;
  return tenon::constant_pad_nd(whole, padding, 0);
}

}  // namespace tenon::autograd
