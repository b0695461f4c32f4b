"""The extension `linalg` of the array API. https://data-apis.org/array-api/latest/extensions/linear_algebra_functions.html"""

import tenon
from tenon import linalg as _linalg
from tenon.linalg import det, eig, eigh, eigvals, eigvalsh, inv, slogdet, svdvals


def cholesky(x, /, *, upper=False):
    return _linalg.cholesky(x, upper=upper)


def cross(x1, x2, /, *, axis=-1):
    return _linalg.cross(x1, x2, dim=axis)


def diagonal(x, /, *, offset=0):
    return tenon.diagonal(x, offset, -2, -1)


def matmul(x1, x2, /):
    return tenon.matmul(x1, x2)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return _linalg.matrix_norm(x, ord, keepdim=keepdims)


def matrix_power(x, n, /):
    return _linalg.matrix_power(x, n)


def matrix_rank(x, /, *, rtol=None):
    return _linalg.matrix_rank(x, rtol=rtol)


def matrix_transpose(x, /):
    return x.mT


def outer(x1, x2, /):
    return tenon.outer(x1, x2)


def pinv(x, /, *, rtol=None):
    return _linalg.pinv(x, rtol=rtol)


def qr(x, /, *, mode="reduced"):
    return _linalg.qr(x, mode)


def solve(x1, x2, /):
    # Only x2 with one dim is a vector. To PyTorch's function, a batch of vectors would be one, too.
    return _linalg.solve(x1, x2.unsqueeze(0) if 1 < x2.ndim == x1.ndim - 1 else x2)


def svd(x, /, *, full_matrices=True):
    return _linalg.svd(x, full_matrices)


def tensordot(x1, x2, /, *, axes=2):
    return tenon.tensordot(x1, x2, dims=axes)


def trace(x, /, *, offset=0, dtype=None):
    return tenon.sum(tenon.diagonal(x, offset, -2, -1), -1, dtype=dtype)


def vecdot(x1, x2, /, *, axis=-1):
    from . import vecdot as in_main

    return in_main(x1, x2, axis=axis)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    return _linalg.vector_norm(x, ord, axis, keepdims)
