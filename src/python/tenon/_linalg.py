"""The functions of torch.linalg that are short over others."""

from . import _tenon
from ._arguments import check_tensor, check_tensors


class LinAlgError(RuntimeError):
    """A matrix without an inverse. Nothing in Tenon raises it; programs name it."""

    __module__ = "tenon.linalg"


def matmul(input, other, *, out=None):
    """The product of matrices; see tenon.matmul."""
    check_tensors("linalg_matmul", input=input, other=other)
    return _tenon.matmul(input, other) if out is None else _tenon.matmul(input, other, out=out)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """A view of the diagonal of the last two dims."""
    check_tensor("linalg_diagonal", A, "A")
    return _tenon.diagonal(A, offset, dim1, dim2)


def vander(x, *, N=None):
    """The powers 0 to N - 1 of every element, along a new last dim: [*sizes, N]. N is the last size unless it is given."""
    check_tensor("linalg_vander", x, "x")
    if x.dtype in (_tenon.bool, _tenon.float16, _tenon.bfloat16):
        from ._legacy import _DTYPES

        name = next(word for word, dtype in _DTYPES.items() if dtype is x.dtype)
        raise RuntimeError(f"linalg.vander supports floating point, complex, and integer tensors, but got {name}")
    count = N if N is not None else x.shape[-1] if x.dim() else 1
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    rows = _tenon.atleast_1d(x).unsqueeze(-1)
    powers = rows.expand(*rows.shape[:-1], count - 1).cumprod(-1)  # of integers: int64
    return _tenon.cat([_tenon.ones_like(powers[..., :1]), powers], -1)
