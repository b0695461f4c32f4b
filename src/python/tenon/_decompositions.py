"""The older names of PyTorch for decompositions. All but lu_unpack are methods, too."""

import math
import warnings

from . import _tenon, return_types
from ._arguments import check_tensor, check_tensors
from ._linalg import _given

__all__ = """
    cholesky cholesky_inverse cholesky_solve det inverse logdet lu lu_solve lu_unpack matrix_exp pinverse qr slogdet svd triangular_solve
""".split()


_DEPRECATED = "torch.{} is deprecated in favor of torch.linalg.{}and will be removed in a future PyTorch release.\n"
_WARNINGS = {
    "cholesky": _DEPRECATED.format("cholesky", "cholesky ") + "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\n"
                "should be replaced with\nU = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent results for all valid (symmetric positive definite) inputs.",
    "lu": _DEPRECATED.format("lu", "lu_factor / torch.linalg.lu_factor_ex ") + "LU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\n"
          "and\nLU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\nLU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)",
    "lu_solve": _DEPRECATED.format("lu_solve", "lu_solve") + "Note that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\nshould be replaced with\n"
                "X = torch.linalg.lu_solve(LU, pivots, B)",
    "qr": _DEPRECATED.format("qr", "qr ") + "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced with\n"
          "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
    "triangular_solve": _DEPRECATED.format("triangular_solve", "solve_triangular") + "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
                        "X = torch.triangular_solve(B, A).solution\nshould be replaced with\nX = torch.linalg.solve_triangular(A, B).",
}  # fmt: skip


def _warn(name):
    warnings.warn(_WARNINGS[name], stacklevel=3)


def det(input):
    """linalg.det."""
    check_tensor("det", input)
    return _tenon.linalg_det(input)


def slogdet(input):
    """linalg.slogdet."""
    check_tensor("slogdet", input)
    return return_types.slogdet._make(_tenon.linalg_slogdet(input))


def logdet(input):
    """The logarithms of determinants; NaN of negative ones."""
    check_tensor("logdet", input)
    sign, logarithm = _tenon.linalg_slogdet(input)
    if input.is_complex():
        return sign.log() + logarithm
    return _tenon.where(sign == -1.0, math.nan, logarithm)


def inverse(input, *, out=None):
    """linalg.inv."""
    check_tensor("inverse", input)
    return _tenon.linalg_inv(input, out=out)


def pinverse(input, rcond=1e-15):
    """linalg.pinv."""
    check_tensor("pinverse", input)
    return _tenon.linalg_pinv(input, rtol=rcond)


def matrix_exp(input):
    """linalg.matrix_exp."""
    check_tensor("matrix_exp", input)
    return _tenon.linalg_matrix_exp(input)


def cholesky(input, upper=False, *, out=None):
    """linalg.cholesky."""
    check_tensor("cholesky", input)
    _warn("cholesky")
    return _tenon.linalg_cholesky(input, upper=upper, out=out)


def cholesky_solve(B, L, upper=False, *, out=None):
    """The X of A X = B, of a matrix A whose linalg.cholesky is L."""
    check_tensors("cholesky_solve", B=B, L=L)
    lower = L.mH if upper else L
    half = _tenon.linalg_solve_triangular(lower, B, upper=False)
    return _given(_tenon.linalg_solve_triangular(lower.mH, half, upper=True), out)


def cholesky_inverse(L, upper=False, *, out=None):
    """The inverse of a matrix whose linalg.cholesky is L."""
    check_tensor("cholesky_inverse", L, "L")
    return cholesky_solve(_tenon.eye(L.shape[-1], dtype=L.dtype, device=L.device).expand(L.shape), L, upper, out=out)


def qr(input, some=True, *, out=None):
    """linalg.qr, reduced or complete."""
    check_tensor("qr", input)
    _warn("qr")
    return return_types.qr._make(_tenon.linalg_qr(input, "reduced" if some else "complete", out=out))


def svd(input, some=True, compute_uv=True, *, out=None):
    """U, S and V of input = U diag(S) V^H. Without compute_uv U and V are zeros."""
    check_tensor("svd", input)
    rows, columns = input.shape[-2:] if input.dim() > 1 else (0, 0)
    if compute_uv:
        u, s, vh = _tenon.linalg_svd(input, full_matrices=not some)
        results = u, s, vh.mH
    else:
        s = _tenon.linalg_svdvals(input)
        results = input.new_zeros(*input.shape[:-2], rows, rows), s, input.new_zeros(*input.shape[:-2], columns, columns)
    if out is not None:
        results = tuple(_given(result, to) for result, to in zip(results, out))
    return return_types.svd._make(results)


def lu(A, pivot=True, get_infos=False, out=None):
    """linalg.lu_factor; with get_infos also the info of linalg.lu_factor_ex."""
    check_tensor("lu", A, "A")
    _warn("lu")
    packed, pivots, infos = _tenon.linalg_lu_factor_ex(A, pivot=pivot)
    return (packed, pivots, infos) if get_infos else (packed, pivots)


def lu_solve(b, LU_data, LU_pivots, *, out=None):
    """linalg.lu_solve."""
    check_tensors("lu_solve", b=b, LU_data=LU_data, LU_pivots=LU_pivots)
    _warn("lu_solve")
    return _tenon.linalg_lu_solve(LU_data, LU_pivots, b, out=out)


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """P, L and U of what linalg.lu_factor gives."""
    check_tensors("lu_unpack", LU_data=LU_data, LU_pivots=LU_pivots)
    if unpack_pivots and LU_pivots.dtype is not _tenon.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                           "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor")  # fmt: skip
    rows, columns = LU_data.shape[-2:]
    kept = min(rows, columns)
    none = LU_data.new_empty(0)
    one = _tenon.eye(rows, dtype=LU_data.dtype)
    permutation, lower, upper = none, none, none
    if unpack_pivots:  # the solution of P^T (1 X) = 1
        identity = one.expand(*LU_data.shape[:-2], rows, rows)
        order = _tenon.linalg_lu_solve(identity, LU_pivots, identity) if rows == LU_pivots.shape[-1] else _permutation(LU_pivots, identity)
        permutation = order.mT.contiguous()
    if unpack_data:
        lower = LU_data[..., :kept].tril(-1) + one[:, :kept]
        upper = LU_data[..., :kept, :].triu()
    results = permutation, lower, upper
    if out is not None:
        results = tuple(_given(result, to) for result, to in zip(results, out))
    return return_types.lu_unpack._make(results)


def _permutation(pivots, identity):
    """The rows of the identity in the order that exchanges give them, of fewer pivots than rows."""
    more = _tenon.arange(pivots.shape[-1] + 1, identity.shape[-1] + 1, dtype=_tenon.int32).expand(*pivots.shape[:-1], -1)
    return _tenon.linalg_lu_solve(identity, _tenon.cat([pivots, more], -1), identity)


def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """The X of A X = b for a triangle A, or of A^T X = b; and A. Deprecated: linalg.solve_triangular."""
    check_tensors("triangular_solve", b=b, A=A)
    _warn("triangular_solve")
    matrix, is_upper = (A.mT, not upper) if transpose else (A, upper)
    solution = _tenon.linalg_solve_triangular(matrix, b, upper=is_upper, unitriangular=unitriangular)
    results = solution, A.mT.clone(memory_format=_tenon.contiguous_format).mT
    if out is not None:
        results = tuple(_given(result, to) for result, to in zip(results, out))
    return return_types.triangular_solve._make(results)
