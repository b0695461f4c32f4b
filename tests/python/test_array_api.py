"""Functions of the array API give the results of array_api_strict, the standard's own implementation over NumPy."""

import pytest

pytest.importorskip("numpy")
strict = pytest.importorskip("array_api_strict")

import declared
import numpy as np
import tenon
from tenon import _standard

xp = tenon.ones(1).__array_namespace__()

F = [[0.5, -1.5, 2.0], [3.5, -0.25, 1.0]]
G = [[1.5, 2.0, -3.0], [0.25, 4.0, -2.0]]
I = [[3, -1, 2], [0, 5, 2]]
B = [[True, False, True], [False, False, True]]

CALLS = {
    "one float": (["abs", "asinh", "atan", "ceil", "cos", "cosh", "exp", "expm1", "sin", "sinh", "tan", "floor", "isfinite", "isinf", "isnan", "negative", "positive", "reciprocal", "round", "sign", "signbit", "square", "tanh", "trunc"], [F], {}),
    "one in [-1, 1]": (["acos", "asin", "atanh"], [[-0.5, 0.25, 0.75]], {}),
    "one positive": (["sqrt", "log", "log1p", "log2", "log10"], [[0.5, 2.0, 3.0]], {}),
    "one integer": (["abs", "bitwise_invert", "ceil", "floor", "negative", "sign", "square", "trunc"], [I], {}),
    "two floats": (["add", "divide", "equal", "floor_divide", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "multiply", "not_equal", "subtract", "atan2", "copysign", "hypot", "remainder"], [F, G], {}),
    "two integers": (["add", "equal", "greater", "maximum", "minimum", "multiply", "not_equal", "remainder", "subtract", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"], [I, [[1], [2]]], {}),
    "two bools": (["logical_and", "logical_or", "logical_xor"], [B, [True, False, True]], {}),
    "all": (["sum", "mean", "max", "min", "var", "std", "argmax", "argmin", "count_nonzero"], [F], {}),
    "along a dim": (["sum", "mean", "max", "min", "var", "std", "argmax", "argmin", "count_nonzero"], [F], {"axis": 1}),
    "keepdims": (["sum", "mean", "max", "min", "var", "std", "argmax", "argmin", "count_nonzero"], [F], {"axis": 0, "keepdims": True}),
    "all, keepdims": (["sum", "mean", "max", "min", "var", "std", "argmax", "argmin", "count_nonzero"], [F], {"keepdims": True}),
    "bools": (["all", "any"], [B], {"axis": 0}),
    "correction": (["var", "std"], [F], {"correction": 1.0, "axis": 1}),
    "layouts": (["flip", "matrix_transpose", "tril", "triu", "unstack", "nonzero"], [I], {}),
    "diagonals": (["tril", "triu"], [I], {"k": 1}),
    "differences": (["diff"], [F], {"axis": 0}),
    "products": (["matmul"], [F, [[1.0], [2.0], [3.0]]], {}),
    "dots": (["vecdot"], [F, G], {}),
}

SPECIAL = {
    "concat": lambda m, a: m.concat([a(F), a(G)], axis=1), "concat, flat": lambda m, a: m.concat([a(I), a(I)], axis=None),
    "stack": lambda m, a: m.stack([a(F), a(G)], axis=-1), "flip one": lambda m, a: m.flip(a(I), axis=1),
    "roll": lambda m, a: m.roll(a(I), 1), "roll dims": lambda m, a: m.roll(a(I), (1, -1), axis=(0, 1)),
    "tile": lambda m, a: m.tile(a(I), (2, 1, 2)), "repeat": lambda m, a: m.repeat(a(I), 2, axis=1),
    "repeat each": lambda m, a: m.repeat(a([1, 2, 3]), a([0, 2, 1])), "meshgrid": lambda m, a: m.meshgrid(a([1, 2]), a([3, 4, 5])),
    "meshgrid ij": lambda m, a: m.meshgrid(a([1, 2]), a([3, 4, 5]), indexing="ij"), "take": lambda m, a: m.take(a(I), a([2, 0]), axis=1),
    "take_along_axis": lambda m, a: m.take_along_axis(a(I), a([[0, 2], [1, 1]]), axis=1),
    "searchsorted": lambda m, a: m.searchsorted(a([1.0, 2.0, 2.0, 5.0]), a([2.0, 6.0, 0.0])),
    "searchsorted right": lambda m, a: m.searchsorted(a([1.0, 2.0, 2.0, 5.0]), a([2.0, 6.0, 0.0]), side="right"),
    "isin": lambda m, a: m.isin(a(I), a([2, 5])), "tensordot 1": lambda m, a: m.tensordot(a(F), a(G), axes=((1,), (1,))),
    "tensordot 2": lambda m, a: m.tensordot(a(F), a(G), axes=2), "clip": lambda m, a: m.clip(a(F), -1.0, 1.0),
    "where": lambda m, a: m.where(a(B), a(F), a(G)), "astype": lambda m, a: m.astype(a(F), m.int64),
    "permute_dims": lambda m, a: m.permute_dims(a(I), (1, 0)), "expand_dims": lambda m, a: m.expand_dims(a(I), axis=1),
    "squeeze": lambda m, a: m.squeeze(a([[1, 2]]), 0), "broadcast_to": lambda m, a: m.broadcast_to(a([1, 2, 3]), (2, 3)),
    "broadcast_arrays": lambda m, a: m.broadcast_arrays(a(I), a([1, 2, 3])), "moveaxis": lambda m, a: m.moveaxis(a(I), 0, 1),
    "linspace": lambda m, a: m.linspace(0.0, 1.0, 5), "arange": lambda m, a: m.arange(5), "eye": lambda m, a: m.eye(2, 3),
    "prod": lambda m, a: m.prod(a(F)), "prod, keepdims": lambda m, a: m.prod(a(F), keepdims=True), "prod of dims": lambda m, a: m.prod(a(I), axis=(0, -1)),
    "prod along a dim": lambda m, a: m.prod(a(F), axis=1, keepdims=True), "cumulative_sum": lambda m, a: m.cumulative_sum(a(F), axis=1, include_initial=True),
    "sort": lambda m, a: m.sort(a(F), descending=True), "sort a dim": lambda m, a: m.sort(a(I), axis=0), "argsort": lambda m, a: m.argsort(a([2, 1, 2, 0]), descending=True),
    "vecdot of complex": lambda m, a: m.vecdot(a([1 + 2j, 3j]), a([2 - 1j, 1 + 1j])), "vecdot along a dim": lambda m, a: m.vecdot(a(F), a(G), axis=-2),
    "vecdot of a row": lambda m, a: m.vecdot(a([1, 2, 3]), a(I)), "unique_values": lambda m, a: m.unique_values(a(I)),
    "unique_all": lambda m, a: list(m.unique_all(a([[3, 1, 3], [2, 1, 1]]))), "unique_counts": lambda m, a: list(m.unique_counts(a(I))),
    "unique_inverse": lambda m, a: list(m.unique_inverse(a(I))), "unique_all of nan": lambda m, a: list(m.unique_all(a([float("nan"), 1.0, float("nan")]))),
    "full": lambda m, a: m.full((2,), 3), "zeros": lambda m, a: m.zeros((2, 3)), "reshape": lambda m, a: m.reshape(a(I), (3, 2)),
}  # fmt: skip


P = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]  # positive definite
Q = [[1.0, -2.0, 0.5], [3.0, 1.0, 0.25], [0.5, 4.0, 2.0]]
C = [1 + 2j, 3j, -1 + 0.5j, 2 + 0j]
EXTENSIONS = {
    "cholesky": lambda m, a: m.linalg.cholesky(a(P)), "cholesky upper": lambda m, a: m.linalg.cholesky(a([P, P]), upper=True), "cross": lambda m, a: m.linalg.cross(a(F), a(G)), "det": lambda m, a: m.linalg.det(a([P, Q])),
    "diagonal": lambda m, a: m.linalg.diagonal(a([P, Q]), offset=1), "eigh": lambda m, a: m.linalg.eigh(a(P))[0], "eigvalsh": lambda m, a: m.linalg.eigvalsh(a(P)), "inv": lambda m, a: m.linalg.inv(a([P, Q])),
    "matmul": lambda m, a: m.linalg.matmul(a(F), a(P)), "matrix_norm": lambda m, a: m.linalg.matrix_norm(a([P, Q])), "matrix_norm nuc": lambda m, a: m.linalg.matrix_norm(a([P, Q]), ord="nuc", keepdims=True),
    "matrix_norm 2": lambda m, a: m.linalg.matrix_norm(a(Q), ord=2), "matrix_norm inf": lambda m, a: m.linalg.matrix_norm(a(Q), ord=float("inf")), "matrix_power": lambda m, a: m.linalg.matrix_power(a(Q), 3),
    "matrix_power of the inverse": lambda m, a: m.linalg.matrix_power(a(Q), -2), "matrix_rank": lambda m, a: m.linalg.matrix_rank(a([[1.0, 2.0], [2.0, 4.0]])), "matrix_rank rtol": lambda m, a: m.linalg.matrix_rank(a([P, Q]), rtol=0.5),
    "matrix_transpose": lambda m, a: m.linalg.matrix_transpose(a(F)), "outer": lambda m, a: m.linalg.outer(a(F[0]), a(G[0])), "pinv": lambda m, a: m.linalg.pinv(a(F)), "pinv rtol": lambda m, a: m.linalg.pinv(a([F, G]), rtol=a([0.5, 0.1])),
    "qr": lambda m, a: list(m.linalg.qr(a(Q))), "qr complete": lambda m, a: list(m.linalg.qr(a(F), mode="complete")), "slogdet": lambda m, a: list(m.linalg.slogdet(a([P, Q]))), "solve": lambda m, a: m.linalg.solve(a(Q), a(F[0])),
    "solve matrix": lambda m, a: m.linalg.solve(a([P, Q, P]), a(Q)), "svd": lambda m, a: m.linalg.svd(a(F), full_matrices=False)[1], "svdvals": lambda m, a: m.linalg.svdvals(a([P, Q])),
    "tensordot": lambda m, a: m.linalg.tensordot(a(F), a(G), axes=2), "trace": lambda m, a: m.linalg.trace(a([P, Q]), offset=1), "trace of integers": lambda m, a: m.linalg.trace(a(I)), "vecdot": lambda m, a: m.linalg.vecdot(a(F), a(G), axis=-2),
    "vector_norm": lambda m, a: m.linalg.vector_norm(a(F)), "vector_norm 1": lambda m, a: m.linalg.vector_norm(a(F), axis=1, ord=1, keepdims=True), "vector_norm of dims": lambda m, a: m.linalg.vector_norm(a([P, Q]), axis=(0, 2)),
    "fft": lambda m, a: m.fft.fft(a(C)), "fft n": lambda m, a: m.fft.fft(a(C), n=6, norm="ortho"), "ifft": lambda m, a: m.fft.ifft(a([C, C]), axis=0), "fftn": lambda m, a: m.fft.fftn(a([C, C])), "ifftn": lambda m, a: m.fft.ifftn(a([C, C]), s=(2, 3), axes=(0, 1), norm="forward"),
    "rfft": lambda m, a: m.fft.rfft(a(F)), "irfft": lambda m, a: m.fft.irfft(a(C)), "irfft n": lambda m, a: m.fft.irfft(a(C), n=7), "rfftn": lambda m, a: m.fft.rfftn(a(F)), "irfftn": lambda m, a: m.fft.irfftn(a([C, C])),
    "hfft": lambda m, a: m.fft.hfft(a(C)), "ihfft": lambda m, a: m.fft.ihfft(a(F[0])), "fftfreq": lambda m, a: m.fft.fftfreq(7, d=0.5), "rfftfreq": lambda m, a: m.fft.rfftfreq(8), "fftshift": lambda m, a: m.fft.fftshift(a(F)),
    "ifftshift": lambda m, a: m.fft.ifftshift(a(F), axes=(1,)),
}  # fmt: skip


@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension(name):
    same(EXTENSIONS[name], 1e-4)


@pytest.mark.parametrize("extension", ["linalg", "fft"])
def test_extensions_are_whole(extension):
    ours, theirs = getattr(xp, extension), getattr(strict, extension)
    assert [name for name in theirs.__all__ if not hasattr(ours, name)] == []
    if extension == "linalg":
        assert callable(ours.eig) and callable(ours.eigvals)


def test_versions():
    x = tenon.ones(1)
    assert x.__array_namespace__(api_version="2025.12") is xp and xp.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="1999.12")


def as_numpy(value):
    if isinstance(value, (list, tuple)):
        return [as_numpy(item) for item in value]
    return np.asarray(value)


def same(call, tolerance=1e-5):
    ours, theirs = (as_numpy(call(module, module.asarray)) for module in (xp, strict))
    for a, b in zip(ours, theirs, strict=True) if isinstance(theirs, list) else [(ours, theirs)]:
        assert a.shape == b.shape and a.dtype.kind == b.dtype.kind, (a, b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance if tolerance > 1e-5 else 0)


@pytest.mark.parametrize("name, operands, kwargs", [(name, operands, kwargs) for names, operands, kwargs in CALLS.values() for name in names])
def test_function(name, operands, kwargs):
    same(lambda m, a: getattr(m, name)(*[a(values) for values in operands], **kwargs))


@pytest.mark.parametrize("name", SPECIAL)
def test_call(name):
    same(SPECIAL[name])


def as_strict(value):
    return [as_strict(item) for item in value] if isinstance(value, list) else strict.asarray(value.numpy()) if isinstance(value, tenon.Tensor) else value


@pytest.mark.parametrize("name", [name for name in dir(_standard) if not name.startswith("_")])
def test_declared_name(name):
    """If an op's block declares a name of the standard, the op does what the standard says."""
    if name == "meshgrid":
        arguments, options = [tenon.arange(2), tenon.arange(3)], {}
    else:
        arguments, needs_dim = declared.plain_arguments(getattr(_standard, name).__name__)
        options = {"axis": 0} if needs_dim else {}
    with np.errstate(all="ignore"):
        theirs = getattr(strict, name)(*map(as_strict, arguments), **options)
    ours = getattr(xp, name)(*arguments, **options)
    for a, b in zip(as_numpy(ours), as_numpy(theirs), strict=True) if isinstance(theirs, (list, tuple)) else [(as_numpy(ours), as_numpy(theirs))]:
        assert a.shape == b.shape and a.dtype == b.dtype, (a, b)
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_no_name_is_forgotten():
    """If the standard has a function of an op's name, the op's block declares that name, or array_api.py has a function of its own."""
    own = [name for name in dir(xp) if str(getattr(getattr(xp, name), "__module__", "")).startswith(xp.__name__)]
    assert [name for name in declared.NAMES if hasattr(strict, name) and not hasattr(_standard, name) and name not in own] == []


def test_share_of_the_standard():
    """docs/python.md states that all names of the standard exist."""
    names = [name for name in strict.__all__ if "strict" not in name.lower() and not name.startswith("_")]
    missing = [name for name in names if not hasattr(xp, name)]
    assert missing == []
