"""The extension `linalg` of the array API. https://data-apis.org/array-api/latest/extensions/linear_algebra_functions.html"""

import tenon
from tenon import linalg as _linalg

from ._promotion import computed, of_one_dtype, operands
from ._reductions import sum as _sum


def _plain(name):
    own = getattr(_linalg, name)

    def function(x, /):
        return own(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = own.__doc__
    return function


det, eig, eigh, eigvals, eigvalsh, inv, slogdet, svdvals = map(_plain, ("det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet", "svdvals"))


def cholesky(x, /, *, upper=False):
    return _linalg.cholesky(x, upper=upper)


def cross(x1, x2, /, *, axis=-1):
    return computed(lambda a, b: _linalg.cross(a, b, dim=axis), *operands(x1, x2))


def diagonal(x, /, *, offset=0):
    rows, columns = x.shape[-2:]
    return tenon.diagonal(x, max(min(offset, columns), -rows), -2, -1)


def matmul(x1, x2, /):
    return computed(tenon.matmul, *operands(x1, x2))


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return _linalg.matrix_norm(x, ord, keepdim=keepdims)


def matrix_power(x, n, /):
    return _linalg.matrix_power(x, n)


def matrix_rank(x, /, *, rtol=None):
    return _linalg.matrix_rank(x, rtol=rtol)


def matrix_transpose(x, /):
    return x.mT


def outer(x1, x2, /):
    return computed(tenon.outer, *operands(x1, x2))


def pinv(x, /, *, rtol=None):
    return _linalg.pinv(x, rtol=rtol)


def qr(x, /, *, mode="reduced"):
    return _linalg.qr(x, mode)


def solve(x1, x2, /):
    x1, x2 = operands(x1, x2)
    # Only x2 with one dim is a vector. To PyTorch's function, a batch of vectors would be one, too.
    return _linalg.solve(x1, x2.unsqueeze(0) if 1 < x2.ndim == x1.ndim - 1 else x2)


def svd(x, /, *, full_matrices=True):
    return _linalg.svd(x, full_matrices)


def tensordot(x1, x2, /, *, axes=2):
    dims = axes if isinstance(axes, int) else tuple(list(each) for each in axes)
    return computed(lambda a, b: tenon.tensordot(a, b, dims=dims), *operands(x1, x2))


def trace(x, /, *, offset=0, dtype=None):
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vecdot(x1, x2, /, *, axis=-1):
    x1, x2 = (x.moveaxis(axis, -1) for x in of_one_dtype([x1, x2]))
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(f"vecdot: vectors have {x1.shape[-1]} and {x2.shape[-1]} elements")
    conjugate = tenon.conj_physical(x1) if x1.is_complex() else x1
    return computed(lambda a, b: tenon.matmul(a.unsqueeze(-2), b.unsqueeze(-1)).squeeze((-2, -1)), conjugate, x2)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    return _linalg.vector_norm(x, ord, axis, keepdims)
