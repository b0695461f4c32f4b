"""The functions of torch.fft that are no transforms."""

from . import _tenon
from ._arguments import check_tensor


def _frequencies(name, n, d, out, options):
    if n < 0:
        raise RuntimeError(f"{name}: n must be non-negative")
    dtype = options.get("dtype") or _tenon.get_default_dtype()
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    count = n if name == "fftfreq" else n // 2 + 1
    places = _tenon.arange(count, **{**options, "dtype": dtype})
    if name == "fftfreq":  # the second half is negative
        places = _tenon.where(places.real >= (n + 1) // 2, places - n, places)
    result = places * (1.0 / (n * d))
    return result if out is None else out.resize_(result.shape).copy_(result)


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of fft, in cycles per unit of d, the distance of samples: [0, 1, ..., -2, -1] / (d n)."""
    result = _frequencies("fftfreq", n, d, out, {"dtype": dtype, "device": device})
    return result.requires_grad_() if requires_grad else result


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of rfft: [0, 1, ..., n // 2] / (d n)."""
    result = _frequencies("rfftfreq", n, d, out, {"dtype": dtype, "device": device})
    return result.requires_grad_() if requires_grad else result


def _dims(input, dim):
    return tuple(range(input.dim())) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)


def fftshift(input, dim=None):
    """The elements rolled along dims so that the frequency 0 is in the middle."""
    check_tensor("fft_fftshift", input)
    dims = _dims(input, dim)
    return _tenon.roll(input, [input.shape[axis] // 2 for axis in dims], dims)


def ifftshift(input, dim=None):
    """The inverse of fftshift."""
    check_tensor("fft_ifftshift", input)
    dims = _dims(input, dim)
    return _tenon.roll(input, [(input.shape[axis] + 1) // 2 for axis in dims], dims)
