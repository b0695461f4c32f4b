"""Decompositions, and what is computed by them: results, layouts, errors and gradients beside PyTorch's.

Where signs or phases of vectors are free, they are multiplied together again.
"""

import functools

import pytest

pytest.importorskip("torch")

import tenon
import torch

import judge
from judge import same

DTYPES = ("float32", "float64", "complex64", "complex128")
SHAPES = ((3, 3), (1, 1), (0, 0), (2, 4, 4), (2, 0, 3, 3), (17, 17))
RECTANGLES = ((3, 5), (5, 3), (2, 4, 3), (0, 3), (3, 0), (40, 9))


def matrices(shape, dtype="float64", seed=0, kind="any"):
    """Random matrices; of `kind` "positive" they are Hermitian and positive definite."""
    random = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=random, dtype=torch.float64)
    if "complex" in dtype:
        values = torch.complex(values, torch.randn(shape, generator=random, dtype=torch.float64))
    if kind == "positive":
        values = values @ values.mH + torch.eye(shape[-1]) * shape[-1]
    if kind == "hermitian":
        values = values + values.mH
    result = judge.tensor(values.tolist(), dtype)
    return judge.view(result, lambda x: x.reshape(shape))


def layouts(both):
    """The same elements row-major, column-major, and as a part of something larger."""
    yield both
    yield judge.view(both, lambda x: x.mT.contiguous().mT)
    yield judge.view(both, lambda x: (x.repeat_interleave(2, -1))[..., ::2])


def linalg(name):
    return lambda m, *args, **kwargs: functools.reduce(getattr, name.split("."), m.linalg)(*args, **kwargs)


UNIQUE = ("inv", "inv_ex", "det", "slogdet", "lu", "lu_factor_ex", "matrix_exp", "cond", "matrix_rank", "pinv", "svdvals")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNIQUE)
def test_functions_of_square_matrices(name, dtype):
    for shape in SHAPES:
        for each in layouts(matrices(shape, dtype)):
            ours, theirs = (values_of(linalg(name)(module, x)) for module, x in ((tenon, each.ours), (torch, each.theirs)))
            close(ours, theirs, dtype, name)


def values_of(result):
    return result if isinstance(result, tuple) else (result,)


def close(ours, theirs, dtype, what=""):
    assert len(ours) == len(theirs)
    tolerance = 2e-3 if dtype in ("float32", "complex64") else 1e-9
    for a, b in zip(ours, theirs):
        assert tuple(a.shape) == tuple(b.shape), what
        assert str(a.dtype).split(".")[1] == str(b.dtype).split(".")[1], what
        mine = torch.from_dlpack(a.detach().contiguous()) if a.numel() else torch.empty(tuple(a.shape), dtype=b.dtype)
        torch.testing.assert_close(mine, b.detach(), rtol=tolerance, atol=tolerance, equal_nan=True, check_stride=False, msg=lambda text: f"{what}: {text}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ("lu", "lu_factor_ex", "pinv", "svdvals", "matrix_rank", "cond"))
def test_functions_of_rectangles(name, dtype):
    for shape in RECTANGLES:
        for each in layouts(matrices(shape, dtype)):
            close(*(values_of(linalg(name)(module, x)) for module, x in ((tenon, each.ours), (torch, each.theirs))), dtype, f"{name} {shape}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", (False, True))
def test_cholesky(dtype, upper):
    for shape in SHAPES:
        for each in layouts(matrices(shape, dtype, kind="positive")):
            for name in ("cholesky", "cholesky_ex"):
                close(*(values_of(linalg(name)(module, x, upper=upper)) for module, x in ((tenon, each.ours), (torch, each.theirs))), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("left_shape", "right_shape", "left"), [
    ((3, 3), (3,), True), ((3, 3), (3, 2), True), ((3, 3), (2, 3), False), ((2, 3, 3), (2, 3), True), ((2, 3, 3), (3, 4), True), ((3, 3), (5, 3, 1), True),
    ((2, 1, 4, 4), (3, 4, 2), True), ((0, 3, 3), (0, 3, 2), True), ((3, 3), (3, 0), True), ((2, 3, 3), (2, 5, 3), False),
])  # fmt: skip
def test_solutions(dtype, left_shape, right_shape, left):
    for a in layouts(matrices(left_shape, dtype)):
        b = matrices(right_shape, dtype, 1)
        close(*(values_of(m.linalg.solve(x, y, left=left)) for m, x, y in ((tenon, a.ours, b.ours), (torch, a.theirs, b.theirs))), dtype)
        if b.ours.dim() < 2 or (b.ours.dim() < a.ours.dim() and left_shape[:-1] == right_shape):
            continue
        for upper in (False, True):
            for unit in (False, True):
                close(*(values_of(m.linalg.solve_triangular(x, y, upper=upper, left=left, unitriangular=unit))
                        for m, x, y in ((tenon, a.ours, b.ours), (torch, a.theirs, b.theirs))), dtype)  # fmt: skip
        for adjoint in (False, True):
            close(*(values_of(m.linalg.lu_solve(*m.linalg.lu_factor_ex(x)[:2], y, left=left, adjoint=adjoint))
                    for m, x, y in ((tenon, a.ours, b.ours), (torch, a.theirs, b.theirs))), dtype)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_decompositions_give_their_matrix_again(dtype):
    for shape in SHAPES + RECTANGLES:
        for each in layouts(matrices(shape, dtype)):
            a = each.ours
            for full in (False, True):
                u, s, vh = tenon.linalg.svd(a, full)
                theirs = torch.linalg.svd(each.theirs, full)
                assert [tuple(x.shape) for x in (u, s, vh)] == [tuple(x.shape) for x in theirs]
                if a.numel():
                    assert [x.stride() for x in (u, s, vh)] == [x.stride() for x in theirs]
                kept = s.shape[-1]
                assert_near((u[..., :kept] * s.unsqueeze(-2)) @ vh[..., :kept, :], a)
                assert_near(u.mH @ u, tenon.eye(u.shape[-1]).expand(*shape[:-2], -1, -1))
                assert_near(vh @ vh.mH, tenon.eye(vh.shape[-2]).expand(*shape[:-2], -1, -1))
            for mode in ("reduced", "complete"):
                q, r = tenon.linalg.qr(a, mode)
                theirs = torch.linalg.qr(each.theirs, mode)
                close((q, r), theirs, dtype)  # the signs are LAPACK's
                assert_near(q @ r, a)
            close((tenon.linalg.qr(a, "r").R,), (torch.linalg.qr(each.theirs, "r").R,), dtype)


def assert_near(ours, other):
    tolerance = 1e-4 if ours.dtype in (tenon.float32, tenon.complex64) else 1e-10
    tenon.testing.assert_close(ours, other.to(ours.dtype), rtol=tolerance, atol=tolerance, check_stride=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues(dtype):
    for shape in SHAPES:
        hermitian, general = matrices(shape, dtype, kind="hermitian"), matrices(shape, dtype)
        for each in layouts(hermitian):
            for half in ("L", "U", "l"):
                values, vectors = tenon.linalg.eigh(each.ours, half)
                close((values,), (torch.linalg.eigvalsh(each.theirs, half),), dtype)
                close((tenon.linalg.eigvalsh(each.ours, half),), (values_in_torch(values),), dtype)
                assert_near(each.ours @ vectors, vectors * values.unsqueeze(-2))
        values, vectors = tenon.linalg.eig(general.ours)
        assert_near(general.ours.to(values.dtype) @ vectors, vectors * values.unsqueeze(-2))
        theirs = torch.linalg.eigvals(general.theirs)
        for mine in (values, tenon.linalg.eigvals(general.ours)):
            assert_same_sets(values_in_torch(mine), theirs, dtype)


def values_in_torch(x):
    return torch.from_dlpack(x.contiguous()) if x.numel() else torch.empty(tuple(x.shape), dtype=getattr(torch, str(x.dtype).split(".")[1]))


def assert_same_sets(a, b, dtype):
    """Each number of one is near to one of the other, and the other way round."""
    if a.numel() == 0:
        return
    distances = (a.unsqueeze(-1) - b.unsqueeze(-2)).abs()
    limit = 1e-3 if dtype in ("float32", "complex64") else 1e-8
    assert distances.amin(-1).max() < limit and distances.amin(-2).max() < limit


@pytest.mark.parametrize("dtype", DTYPES)
def test_solutions_of_least_squares(dtype):
    for a_shape, b_shape in (((5, 3), (5, 2)), ((3, 5), (3, 2)), ((2, 5, 3), (2, 5)), ((5, 3), (5,)), ((4, 4), (4, 1))):
        a, b = matrices(a_shape, dtype), matrices(b_shape, dtype, 1)
        for driver in (None, "gels", "gelsd", "gelss"):
            close(*(values_of(m.linalg.lstsq(x, y, driver=driver)) for m, x, y in ((tenon, a.ours, b.ours), (torch, a.theirs, b.theirs))), dtype, f"{a_shape} {b_shape} {driver}")


NORMS = [("fro", None), ("nuc", None), (2, None), (-2, None), (1, None), (2, (0, 1)), ("nuc", (0, 2)), (-2, (2, 0))]


@pytest.mark.parametrize(("order", "dims"), NORMS)
@pytest.mark.parametrize("keepdim", (False, True))
def test_norms_of_matrices(order, dims, keepdim):
    a = matrices((2, 4, 3), "float64")
    same(lambda m, x: m.linalg.matrix_norm(x, order, *([dims] if dims else []), keepdim=keepdim), a, exact=False)
    same(lambda m, x: m.linalg.norm(x[0], order), a, exact=False)


OLDER = {
    "det": lambda m, a, b: m.det(a), "Tensor.det": lambda m, a, b: a.det(), "slogdet": lambda m, a, b: tuple(m.slogdet(a)), "logdet": lambda m, a, b: m.logdet(a),
    "inverse": lambda m, a, b: m.inverse(a), "Tensor.inverse": lambda m, a, b: a.inverse(), "pinverse": lambda m, a, b: m.pinverse(a),
    "matrix_exp": lambda m, a, b: a.matrix_exp(), "cholesky": lambda m, a, b: m.cholesky(b), "cholesky upper": lambda m, a, b: b.cholesky(True),
    "cholesky_solve": lambda m, a, b: a.cholesky_solve(m.linalg.cholesky(b)), "cholesky_solve upper": lambda m, a, b: m.cholesky_solve(a, m.linalg.cholesky(b).mH, True),
    "cholesky_inverse": lambda m, a, b: m.cholesky_inverse(m.linalg.cholesky(b)), "qr": lambda m, a, b: tuple(m.qr(a)), "svd": lambda m, a, b: m.svd(a).S,
    "svd of values": lambda m, a, b: tuple(m.svd(a, compute_uv=False)), "lu_unpack": lambda m, a, b: tuple(m.lu_unpack(*m.linalg.lu_factor(a))),
    "lu_solve": lambda m, a, b: m.lu_solve(b, *m.linalg.lu_factor(a)), "tensorinv": lambda m, a, b: m.linalg.tensorinv(a.reshape(2, 2, 4)),
    "tensorsolve": lambda m, a, b: m.linalg.tensorsolve(a.reshape(2, 2, 4), b[0].reshape(2, 2)), "triangular_solve": lambda m, a, b: m.triangular_solve(b, a).solution,
    "triangular_solve transposed": lambda m, a, b: m.triangular_solve(b, a, False, True, True)[0], "pinv by rtol": lambda m, a, b: m.linalg.pinv(a, rtol=0.5),
    "pinv by tensors": lambda m, a, b: m.linalg.pinv(a, rtol=m.tensor(0.5, dtype=m.float64), atol=m.tensor(0.1, dtype=m.float64)), "pinv hermitian": lambda m, a, b: m.linalg.pinv(b, hermitian=True),
    "rank by tol": lambda m, a, b: m.linalg.matrix_rank(a, 1.5), "rank by atol": lambda m, a, b: m.linalg.matrix_rank(a, atol=1.5, rtol=0.1), "rank hermitian": lambda m, a, b: m.linalg.matrix_rank(b, hermitian=True),
    "cond 1": lambda m, a, b: m.linalg.cond(a, 1), "cond fro": lambda m, a, b: m.linalg.cond(a, "fro"), "cond -2": lambda m, a, b: m.linalg.cond(a, -2), "nuclear_norm": lambda m, a, b: m.nuclear_norm(a),
}  # fmt: skip


@pytest.mark.parametrize("name", OLDER)
def test_older_names(name):
    a, b = matrices((4, 4), "float64", 3), matrices((4, 4), "float64", 4, "positive")
    ours, theirs = (values_of(judge.outcome(OLDER[name], side, (a, b), {})[0]) for side in ("ours", "theirs"))
    assert not any(isinstance(x, Exception) for x in (*ours, *theirs)), (ours, theirs)
    close(ours, theirs, "float64", name)


I, H, R, V, S, B, Z = (judge.tensor(v, d) for v, d in (
    ([[1, 2], [3, 4]], "int32"), ([[1, 2], [3, 4]], "float16"), ([[1, 2, 3], [3, 4, 5]], "float32"), ([1, 2, 3], "float32"), ([[1, 1], [1, 1]], "float32"),
    ([[[1, 1], [1, 1]]] * 2, "float32"), ([[0, 0], [0, 0]], "float32")))  # fmt: skip
MISTAKES = {f"{name} of {kind}": (lambda m, x, name=name: getattr(m.linalg, name)(x), x)
            for name in "cholesky inv det slogdet lu_factor lu qr eigh eigvalsh eig eigvals svd svdvals pinv matrix_exp cond".split()
            for kind, x in (("integers", I), ("16-bit floats", H), ("a rectangle", R), ("a vector", V))
            if not (name == "matrix_exp" and kind == "16-bit floats")
            and not (kind == "a rectangle" and name in ("lu", "lu_factor", "qr", "svd", "svdvals", "pinv", "cond"))}  # fmt: skip
MISTAKES |= {
    "inv of a singular matrix": (lambda m, x: m.linalg.inv(x), S), "inv of singular matrices": (lambda m, x: m.linalg.inv(x), B), "inv of zeros": (lambda m, x: m.linalg.inv(x), Z),
    "lu_factor of a singular matrix": (lambda m, x: m.linalg.lu_factor(x), S), "cholesky of a negative matrix": (lambda m, x: m.linalg.cholesky(-x), S),
    "cholesky of negative matrices": (lambda m, x: m.linalg.cholesky(-x), B), "solve with a singular matrix": (lambda m, x: m.linalg.solve(x, x), S),
    "solve with singular matrices": (lambda m, x: m.linalg.solve(x, x), B), "solve of other sizes": (lambda m, x: m.linalg.solve(x, m.ones(3, 2)), S),
    "solve of another dtype": (lambda m, x: m.linalg.solve(x, x.double()), S), "solve with a rectangle": (lambda m, x: m.linalg.solve(x, m.ones(3)), R),
    "solve of integers": (lambda m, x: m.linalg.solve(x, x), I), "solve of other batches": (lambda m, x: m.linalg.solve(m.ones(2, 3, 3), m.ones(5, 3, 3)), S),
    "solve of many with one singular matrix": (lambda m, x: m.linalg.solve(x, m.ones(3, 2, 1)), S), "lu_solve by wrong pivots": (lambda m, x: m.linalg.lu_solve(x, m.tensor([3], dtype=m.int32), x), S),
    "solve of vectors from the right": (lambda m, x: m.linalg.solve(x, m.ones(2), left=False), S),
    "solve_triangular of a vector": (lambda m, x: m.linalg.solve_triangular(x, m.ones(2), upper=True), S), "solve_triangular of other sizes": (lambda m, x: m.linalg.solve_triangular(x, m.ones(3, 2), upper=True), S),
    "solve_triangular of integers": (lambda m, x: m.linalg.solve_triangular(x, x, upper=True), I), "solve_triangular with a rectangle": (lambda m, x: m.linalg.solve_triangular(x, x, upper=True), R),
    "svd of NaN": (lambda m, x: m.linalg.svd(x / 0 * 0), S), "svd of batches of NaN": (lambda m, x: m.linalg.svd(x / 0 * 0), B), "eig of NaN": (lambda m, x: m.linalg.eig(x / 0 * 0), S),
    "svd by a driver": (lambda m, x: m.linalg.svd(x, driver="gesvd"), S), "qr of a wrong mode": (lambda m, x: m.linalg.qr(x, "foo"), S), "eigh of a wrong half": (lambda m, x: m.linalg.eigh(x, "foo"), S),
    "lu_factor without pivots": (lambda m, x: m.linalg.lu_factor(x, pivot=False), S), "lu_solve by floats": (lambda m, x: m.linalg.lu_solve(x, m.ones(2), x), S),
    "qr of mode r, differentiated": (lambda m, x: m.linalg.qr(x.clone().requires_grad_(), "r").R.sum().backward(), S),
    "qr of mode complete, differentiated": (lambda m, x: m.linalg.qr(x.mT.clone().requires_grad_(), "complete").R.sum().backward(), R),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    call, x = MISTAKES[name]
    ours, theirs = (judge.outcome(call, side, (x,), {})[0] for side in ("ours", "theirs"))
    assert isinstance(theirs, Exception) and isinstance(ours, Exception), (ours, theirs)
    assert type(ours).__name__ == type(theirs).__name__.lstrip("_"), (ours, theirs)
    assert str(ours) == str(theirs).split("\nException raised from")[0], name


def test_singular_matrices_are_linalg_errors():
    with pytest.raises(tenon.linalg.LinAlgError):
        tenon.linalg.inv(tenon.zeros(2, 2))
    assert issubclass(tenon.linalg.LinAlgError, RuntimeError)


# --- Gradients. Of vectors with free phases, what does not depend on these.

GRADIENTS = {
    "inv": lambda m, a: m.linalg.inv(a), "det": lambda m, a: m.linalg.det(a), "slogdet": lambda m, a: m.linalg.slogdet(a)[1], "slogdet sign": lambda m, a: m.linalg.slogdet(a)[0],
    "solve": lambda m, a: m.linalg.solve(a, a @ a.mH), "solve vector": lambda m, a: m.linalg.solve(a, a[..., 0]) if a.dim() == 2 else m.linalg.solve(a, a @ a), "solve right": lambda m, a: m.linalg.solve(a, a.mH, left=False),
    "solve_triangular": lambda m, a: m.linalg.solve_triangular(a, a @ a, upper=True), "solve_triangular right": lambda m, a: m.linalg.solve_triangular(a, a @ a, upper=False, left=False),
    "solve_triangular unit": lambda m, a: m.linalg.solve_triangular(a, a @ a, upper=False, unitriangular=True), "cholesky": lambda m, a: m.linalg.cholesky(a @ a.mH + 4 * m.eye(4, dtype=a.dtype)),
    "cholesky upper": lambda m, a: m.linalg.cholesky(a @ a.mH + 4 * m.eye(4, dtype=a.dtype), upper=True), "qr": lambda m, a: m.cat(tuple(m.linalg.qr(a)), -2),
    "qr tall": lambda m, a: m.cat(tuple(m.linalg.qr(a[..., :2])), -2), "qr wide": lambda m, a: m.cat(tuple(m.linalg.qr(a[..., :2, :])), -1),
    "eigh": lambda m, a: m.linalg.eigh(a + a.mH)[0], "eigh vectors": lambda m, a: m.linalg.eigh(a + a.mH)[1].abs(), "eigvalsh": lambda m, a: m.linalg.eigvalsh(a + a.mH),
    "eig": lambda m, a: m.linalg.eigvals(a @ a.mH).real.sum(-1), "eig vectors": lambda m, a: m.linalg.eig(a @ a.mH + m.eye(4, dtype=a.dtype))[1].abs().square().sum((-1, -2)),
    "svdvals": lambda m, a: m.linalg.svdvals(a), "svd": lambda m, a: m.linalg.svd(a)[0].abs() + m.linalg.svd(a)[2].abs(), "svd thin": lambda m, a: m.linalg.svd(a[..., :2], full_matrices=False)[0].abs(),
    "svd wide": lambda m, a: m.linalg.svd(a[..., :2, :], full_matrices=False)[2].abs(), "svd product": lambda m, a: product_of_svd(m, a[..., :3]),
    "pinv": lambda m, a: m.linalg.pinv(a), "pinv tall": lambda m, a: m.linalg.pinv(a[..., :2]), "pinv wide": lambda m, a: m.linalg.pinv(a[..., :2, :]), "matrix_exp": lambda m, a: m.linalg.matrix_exp(a),
    "lu_factor": lambda m, a: m.linalg.lu_factor(a)[0], "lu tall": lambda m, a: m.linalg.lu_factor(a[..., :2])[0], "lu wide": lambda m, a: m.linalg.lu_factor(a[..., :2, :])[0], "lu": lambda m, a: m.cat(m.linalg.lu(a)[1:], -1),
    "lu_solve": lambda m, a: m.linalg.lu_solve(*m.linalg.lu_factor(a), a @ a), "lu_solve adjoint": lambda m, a: m.linalg.lu_solve(*m.linalg.lu_factor(a), a, adjoint=True),
    "lstsq": lambda m, a: m.linalg.lstsq(a[..., :2], a[..., 2:])[0], "cond": lambda m, a: m.linalg.cond(a), "norm nuc": lambda m, a: m.linalg.matrix_norm(a, "nuc"), "norm 2": lambda m, a: m.linalg.matrix_norm(a, 2),
    "logdet": lambda m, a: m.logdet(a @ a.mH) if not a.is_complex() else m.logdet(a @ a.mH).real, "cholesky_solve": lambda m, a: m.cholesky_solve(a, m.linalg.cholesky(a @ a.mH + m.eye(4, dtype=a.dtype))),
}  # fmt: skip


def product_of_svd(m, a):
    u, s, vh = m.linalg.svd(a, full_matrices=False)
    return (u * s.unsqueeze(-2)) @ vh


@pytest.mark.parametrize("dtype", ("float64", "complex128"))
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, dtype):
    if name == "slogdet sign" and dtype == "float64":
        pytest.skip("a sign of real numbers has no gradient")
    for shape in ((4, 4), (2, 4, 4)):
        given = matrices(shape, dtype, 5)
        grads = []
        for m, x in ((tenon, given.ours), (torch, given.theirs)):
            x = x.detach().clone().requires_grad_()
            y = GRADIENTS[name](m, x)
            weights = m.arange(1, y.numel() + 1, dtype=m.float64).reshape(y.shape) / y.numel()
            loss = (y * weights).sum()
            (loss.real + loss.imag * 0.5 if loss.is_complex() else loss).backward()
            grads.append(x.grad)
        close((grads[0],), (grads[1],), dtype, name)


@pytest.mark.parametrize("name", [name for name in GRADIENTS if name not in ("slogdet sign", "eig", "eig vectors", "eigh vectors", "svd", "svd thin", "svd wide")])
def test_second_gradients(name):
    x = matrices((4, 4), "float64", 6).ours.requires_grad_()
    assert tenon.autograd.gradgradcheck(lambda a: GRADIENTS[name](tenon, a), (x,), atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("name", ("eig", "eigh", "svd"))
def test_losses_that_depend_on_a_phase_are_refused(name):
    given = matrices((3, 3), "complex128", 7)
    texts = []
    for m, x in ((tenon, given.ours), (torch, given.theirs)):
        with pytest.raises(RuntimeError) as caught:
            vectors = getattr(m.linalg, name)(x.detach().clone().requires_grad_())[0 if name == "svd" else 1]
            (vectors.real * m.arange(9.0, dtype=m.float64).reshape(3, 3)).sum().backward()
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_gradient_of_the_determinant_of_singular_matrices():
    for rows in ([[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [0.0, 3.0]]):
        x = tenon.tensor(rows, dtype=tenon.float64, requires_grad=True)
        tenon.linalg.det(x).backward()
        (a, b), (c, d) = rows
        tenon.testing.assert_close(x.grad, tenon.tensor([[d, -c], [-b, a]], dtype=tenon.float64))


def test_results_into_out():
    a = matrices((3, 3), "float64").ours
    out = tenon.empty(3, 3, dtype=tenon.float64)
    assert tenon.linalg.inv(a, out=out) is out
    assert_near(out @ a, tenon.eye(3))
    q, r = tenon.empty(0, dtype=tenon.float64), tenon.empty(0, dtype=tenon.float64)
    tenon.linalg.qr(a, out=(q, r))
    assert_near(q @ r, a)
    with pytest.raises(RuntimeError):
        tenon.linalg.inv(a, out=tenon.empty(3, 3, dtype=tenon.int64))


def test_meta_tensors_have_shapes():
    a = tenon.empty(2, 5, 3, device="meta")
    assert [tuple(x.shape) for x in tenon.linalg.svd(a)] == [(2, 5, 5), (2, 3), (2, 3, 3)]
    assert [tuple(x.shape) for x in tenon.linalg.qr(a)] == [(2, 5, 3), (2, 3, 3)]
    square = tenon.empty(3, 3, device="meta")
    assert tenon.linalg.solve(square, square).shape == (3, 3)
    assert tenon.linalg.det(square).shape == ()
    assert tenon.linalg.eigh(square).eigenvectors.shape == (3, 3)


def test_threads_give_the_same_bits():
    a = matrices((64, 20, 20), "float64").ours
    threads = tenon.get_num_threads()
    try:
        results = []
        for count in (1, 2):
            tenon.set_num_threads(count)
            results.append([tenon.linalg.inv(a), *tenon.linalg.svd(a), *tenon.linalg.eigh(a + a.mT)])
    finally:
        tenon.set_num_threads(threads)
    assert all(tenon.equal(x, y) for x, y in zip(*results))
