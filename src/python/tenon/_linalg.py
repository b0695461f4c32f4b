"""The functions of torch.linalg that are short over others."""

import math

from . import _tenon, return_types
from ._arguments import check_tensor, check_tensors
from ._dtypes import finfo
from ._tenon import Tensor
from ._tenon import _LinAlgError as LinAlgError


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


# --- Ranks and conditions


def _tolerances(name, input, atol, rtol):
    """Both as tensors or numbers. rtol is 0 beside an atol, else the largest size times the distance of 1 from the next number."""
    for word, given in (("atol", atol), ("rtol", rtol)):
        if isinstance(given, Tensor) and given.is_complex():
            from ._legacy import _DTYPES

            dtype = next(text for text, kind in _DTYPES.items() if kind is given.dtype)
            raise RuntimeError(f"torch.linalg.{name}: {word} tensor of complex type is not supported. Got {dtype}")
    default = finfo(input.dtype).eps * max(input.shape[-2:])
    if rtol is None:
        rtol = default if atol is None else _tenon.where(atol > 0, 0.0, default) if isinstance(atol, Tensor) else 0.0 if atol > 0 else default
    return 0.0 if atol is None else atol, rtol


def _least(largest, atol, rtol):
    """max(atol, rtol * largest), for each matrix."""
    scaled = largest * (rtol.unsqueeze(-1) if isinstance(rtol, Tensor) else rtol)
    return _tenon.maximum(scaled, atol.unsqueeze(-1) if isinstance(atol, Tensor) else _tenon.full_like(scaled, atol))


def _magnitudes(input, hermitian):
    return _tenon.linalg_eigvalsh(input).abs() if hermitian else _tenon.linalg_svdvals(input)


def _given(result, out):
    return result if out is None else out.copy_(result) if out.shape == result.shape else out.resize_(result.shape).copy_(result)


def matrix_rank(input, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """How many singular values of each matrix are larger than max(atol, rtol * the largest). hermitian: those of its lower triangle."""
    check_tensor("linalg_matrix_rank", input)
    if input.dim() < 2:
        raise RuntimeError("torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    if tol is not None:
        atol, rtol = tol, 0.0
    if input.numel() == 0:
        return _given(_tenon.zeros(input.shape[:-2], dtype=_tenon.int64), out)
    values = _magnitudes(input, hermitian)
    atol, rtol = _tolerances("matrix_rank", input, atol, rtol)
    return _given((values > _least(values.amax(-1, keepdim=True), atol, rtol)).sum(-1), out)


def pinv(input, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The pseudoinverses of matrices. Singular values up to max(atol, rtol * the largest) count as 0."""
    check_tensor("linalg_pinv", input)
    rtol = rcond if rcond is not None else rtol
    if not isinstance(atol, Tensor) and not isinstance(rtol, Tensor):
        return _tenon.linalg_pinv(input, atol=atol, rtol=rtol, hermitian=hermitian, out=out)
    atol, rtol = _tolerances("pinv", input, atol, rtol)
    if hermitian:
        values, left = _tenon.linalg_eigh(input)
        right = left.mH
    else:
        left, values, right = _tenon.linalg_svd(input, full_matrices=False)
    magnitudes = values.abs()
    inverted = _tenon.where(magnitudes > _least(magnitudes.amax(-1, keepdim=True), atol, rtol), values.reciprocal(), 0)
    return _given((right.mH * inverted.unsqueeze(-2)) @ left.mH, out)


def cond(A, p=None, *, out=None):
    """The condition numbers of matrices: the norm times that of the inverse; None: the largest singular value by the smallest."""
    check_tensor("linalg_cond", A, "A")
    if A.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is None or p in (2, -2):
        values = _tenon.linalg_svdvals(A)
        if A.numel() == 0:
            return _given(_tenon.zeros(A.shape[:-2], dtype=values.dtype), out)
        first, last = values[..., 0], values[..., -1]
        return _given(last / first if p == -2 else first / last, out)
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.cond with p={p}: A must be batches of square matrices, but they are {A.shape[-1]} by {A.shape[-2]} matrices")
    norm = _tenon.linalg_matrix_norm
    inverse, singular = _tenon.linalg_inv_ex(A)
    result = norm(A, p) * norm(inverse, p)
    return _given(_tenon.where(singular > 0, math.inf, result), out)


# --- Solutions


def lstsq(A, B, rcond=None, *, driver=None):
    """The X of least |A X - B|, of least |X| among several; the residuals of columns, the ranks and the singular values.

    PyTorch's drivers choose an algorithm of LAPACK; here all use the singular values."""
    check_tensors("linalg_lstsq", A=A, B=B)
    name = "torch.linalg.lstsq"
    if A.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B.dim() < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if driver not in (None, "gels", "gelsd", "gelsy", "gelss"):
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if A.dtype != B.dtype:
        raise RuntimeError(f"{name}: Expected input and other to have the same dtype, but got input's dtype {_name(A)} and other's dtype {_name(B)}")
    rows, columns = A.shape[-2:]
    is_vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and tuple(B.shape) == tuple(A.shape[:-1]))
    right = B.unsqueeze(-1) if is_vector else B
    if right.shape[-2] != rows:
        where = "-1" if is_vector else "-2"
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({where})")
    relative = finfo(A.dtype).eps * max(rows, columns) if rcond is None else rcond
    solution = (right.mT @ _tenon.linalg_pinv(A, rtol=relative).mT).mT  # column-major
    values = _tenon.linalg_svdvals(A.detach())
    ranks = (values > relative * values.amax(-1, keepdim=True)).sum(-1) if values.shape[-1] else _tenon.zeros(A.shape[:-2], dtype=_tenon.int64)
    empty = _tenon.empty(0, dtype=values.dtype)
    residuals = empty
    if rows > columns and driver not in (None, "gelsy") and bool((ranks == columns).all()):
        residuals = (A @ solution - right).abs().square().sum(-2)
    shown = driver in ("gelsd", "gelss")
    none = _tenon.empty(0, dtype=_tenon.int64)
    return return_types.linalg_lstsq._make((solution.squeeze(-1) if is_vector else solution, residuals, none if driver == "gels" else ranks, values if shown else empty))


def _name(tensor):
    from ._legacy import _DTYPES

    return next(text for text, dtype in _DTYPES.items() if dtype is tensor.dtype)


def tensorinv(A, ind=2, *, out=None):
    """The inverse of A as a map of tensors, by tensordot(..., ind): the product of the first ind sizes equals that of the others."""
    check_tensor("linalg_tensorinv", A, "A")
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    first, others = A.shape[:ind], A.shape[ind:]
    if math.prod(first) != math.prod(others):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
                           f"{math.prod(others)} != {math.prod(first)}")  # fmt: skip
    return _given(_tenon.linalg_inv(A.reshape(math.prod(first), math.prod(others))).reshape(*others, *first), out)


def tensorsolve(A, B, dims=None, *, out=None):
    """The X of tensordot(A, X, X.ndim) = B. dims: dims of A that are moved to its end before."""
    check_tensors("linalg_tensorsolve", A=A, B=B)
    if dims is not None:
        A = A.movedim(dims, tuple(range(A.dim() - len(dims), A.dim())))
    sizes = A.shape[B.dim() :]
    if math.prod(sizes) != math.prod(A.shape[: B.dim()]):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
                           f"{math.prod(sizes)} != {math.prod(A.shape[: B.dim()])}")  # fmt: skip
    return _given(_tenon.linalg_solve(A.reshape(B.numel(), B.numel()), B.flatten()).reshape(sizes), out)
