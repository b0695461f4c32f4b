"""Reductions that are folds with a State (argmax, var, logsumexp, norms, ...), max and min: random and special calls,
compared with PyTorch."""

import math
import random

import pytest

pytest.importorskip("torch")

import tenon

import judge
from judge import same

INFINITE, NAN = math.inf, math.nan


def random_tensor(rng):
    """A tensor with ties, zeros, infinities or NaN; permuted, with steps or expanded."""
    dtype = rng.choice(["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8"])
    sizes = [rng.choice([1, 2, 3, 5, 8, 17, 65, 0 if rng.random() < 0.2 else 4]) for _ in range(rng.randint(0, 3))]
    specials = [INFINITE, -INFINITE, NAN, 0.0, -0.0] if "float" in dtype and rng.random() < 0.2 else [0]
    values = [rng.choice(specials) if rng.random() < 0.1 else rng.randint(0, 12) / (4 if "float" in dtype else 1) for _ in range(math.prod(sizes))]
    x = judge.view(judge.tensor(values, dtype), lambda t: t.reshape(sizes))
    order = rng.sample(range(len(sizes)), len(sizes))
    x = judge.view(x, lambda t: t.permute(order))
    if sizes and rng.random() < 0.3:
        x = judge.view(x, lambda t: t[::2])
    if sizes and rng.random() < 0.1 and x.theirs.shape[-1] > 0:
        x = judge.view(x, lambda t: t[..., :1].expand(t.shape))
    return x


ORDS = [0, 1, 2, 3, 0.5, -1, INFINITE, -INFINITE]


def options(rng, ndim, names):
    one, several = rng.randint(-ndim, ndim), rng.sample(range(ndim), rng.randint(0, ndim))
    draws = {"dim": lambda: one, "dims": lambda: rng.choice([one, several, several]), "keepdim": lambda: True,
             "correction": lambda: rng.choice([0, 2, 0.5, 9]), "ord": lambda: rng.choice(ORDS), "p": lambda: rng.choice([*ORDS, None, "fro", "x"])}  # fmt: skip
    return {name.rstrip("s") if name == "dims" else name: draws[name]() for name in names if name == "dims" or rng.random() < 0.7}


FOLDS = {
    "argmax": ["dim", "keepdim"], "argmin": ["dim", "keepdim"], "count_nonzero": ["dims"], "logsumexp": ["dims", "keepdim"],
    "var": ["dims", "keepdim", "correction"], "std": ["dims", "keepdim", "correction"], "vector_norm": ["dims", "keepdim", "ord"],
    "aminmax": ["dim", "keepdim"], "var_mean": ["dims", "keepdim", "correction"], "std_mean": ["dims", "keepdim", "correction"],
    "nansum": ["dims", "keepdim"], "nanmean": ["dims", "keepdim"], "norm": ["dims", "keepdim", "p"],
}  # fmt: skip


def function(m, name):
    return m.linalg.vector_norm if name == "vector_norm" else getattr(m, name)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("name", FOLDS)
def test_random_calls(name, seed):
    rng = random.Random(f"{name} {seed}")
    x = random_tensor(rng)
    exact = None if x.ours.element_size() == 2 else False
    # The mean beside a var that is NaN may be infinite or NaN: docs/differences.md.
    finite = (lambda x: x.masked_fill(x.isinf(), 1)) if name in ("var_mean", "std_mean") else lambda x: x
    same(lambda m, x, **k: function(m, name)(finite(x), **k), x, exact=exact, **options(rng, x.theirs.dim(), FOLDS[name]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("out", ["float64", "float32", "float16", "bfloat16", "int64"])
@pytest.mark.parametrize("name", ["var", "std", "logsumexp"])
def test_out_of_another_dtype(name, out, dtype):
    """The computation is in the dtype of out=, except if there is only one result."""
    x = judge.tensor([[0.1, 0.2, 0.7], [1.5, -2.5, 0.3]], dtype)
    exact = None if {"16"} & {dtype[-2:], out[-2:]} else False
    for dims in (1, (0, 1), 2):
        into = judge.tensor([], out)
        same(lambda m, x, into, **k: function(m, name)(x, out=into, **k), x, into, dim=dims, exact=exact)


def test_var_of_large_equal_elements():
    for count in (3, 5, 100):
        same(lambda m, x: (m.var(x), m.std(x, 0)), judge.tensor([1e200] * count, "float64"), exact=False)


def test_var_beyond_the_range():
    for correction in (0, 1, 2, math.nan):
        x = judge.tensor([1.7e308, -1.7e308], "float64")
        same(lambda m, x, **k: (m.var(x, **k), m.std(x, 0, **k), m.var(x[:, None], 0, **k)), x, correction=correction)


@pytest.mark.parametrize("out", ["int16", "int64", "uint8", "bool", "float64"])
@pytest.mark.parametrize("name", ["nansum", "nanmean"])
def test_sums_of_empty_tensors_into_any_dtype(name, out):
    for shape, dim in [((0,), 0), ((0, 3), 0), ((0, 3), 1), ((3, 0), 1)]:
        same(lambda m, s=shape, d=dim: getattr(m, name)(m.ones(s), d, out=m.zeros(0, dtype=getattr(m, out))))


@pytest.mark.parametrize("name", ["var", "std"])
def test_var_of_empty_tensors_into_complex_numbers(name):
    for shape, dim in [((0,), None), ((0, 3), 0), ((0, 3), 1), ((0, 1), 0), ((2, 2), 0)]:
        same(lambda m, s=shape, d=dim: m.view_as_real(getattr(m, name)(m.ones(s), d, out=m.empty(0, dtype=m.complex64))))


@pytest.mark.parametrize("correction", [-1, 0, 1, -0.5])
@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_var_of_empty_tensors(name, correction):
    for shape, dim in [((0,), None), ((0, 3), 0), ((0, 3), 1), ((0,), 0)]:
        same(lambda m, s=shape, d=dim: getattr(m, name)(m.ones(s), d, correction=correction))


def test_a_mean_may_be_infinite():
    for values in ([INFINITE], [1.0, -INFINITE], [INFINITE, INFINITE]):
        same(lambda m, x: (m.var_mean(x, correction=0), m.var_mean(x[:, None], 0, correction=0)), judge.tensor(values, "float32"))


def test_the_first_of_equal_elements():
    """argmax and argmin give the first of equal elements, also if several threads search."""
    for size in (1000, 300_000):
        x = judge.tensor([1.0, 2.0, 0.0] * size, "float32")
        same(lambda m, x: (m.argmax(x), m.argmin(x)), x)
        same(lambda m, x: (m.argmax(x.reshape(-1, 3), 0), m.argmin(x.reshape(3, -1), 1)), x)


def test_logsumexp_over_no_dims():
    for sizes in ((), (2, 3), (0, 3)):
        for keepdim in (False, True):
            same(lambda m, x: m.logsumexp(x.reshape(sizes), [], keepdim), judge.tensor([1.0] * math.prod(sizes), "float32"), exact=False)


def test_the_first_invalid_dim_is_reported():
    for dims in ([1, 1, 9], [9, 1, 1], [0, -2, 1]):
        for name in ("var", "std", "vector_norm"):
            same(lambda m, x: function(m, name)(x, dim=dims), judge.tensor([[1.0, 2.0]], "float32"))


# --- max, min, aminmax


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("seed", range(100))
def test_max_and_min(name, seed):
    rng = random.Random(f"{name} {seed}")
    x = random_tensor(rng)
    ndim = x.theirs.dim()
    same(lambda m, x: getattr(m, name)(x), x)
    same(lambda m, x, **k: getattr(m, name)(x, **k), x, dim=rng.randint(-ndim, ndim), keepdim=rng.random() < 0.5)
    same(lambda m, x: getattr(x, name)(x.flip(0) if ndim else x), x)


CALLS = [
    lambda f, m, x: f(x, 0), lambda f, m, x: f(x, 1, True), lambda f, m, x: f(x, axis=0, keepdims=True), lambda f, m, x: f(x, dim=m.tensor(0)),
    lambda f, m, x: f(x, True), lambda f, m, x: f(x, 2.0), lambda f, m, x: f(x, None), lambda f, m, x: f(x, other=3), lambda f, m, x: f(x, "x"),
    lambda f, m, x: f(self=x), lambda f, m, x: f(x, 5), lambda f, m, x: f(x, x), lambda f, m, x: f(x, m.tensor(0)), lambda f, m, x: f(x, 1, 2, 3),
    lambda f, m, x: f(x[:0]), lambda f, m, x: f(x[:0], 0), lambda f, m, x: f(x[:0], 1), lambda f, m, x: f(x[:0], 9), lambda f, m, x: f(x[0, 0], 0),
    lambda f, m, x: f(x[0, 0], -1, True), lambda f, m, x: f(x[0, 0], 1), lambda f, m, x: f(x.bool(), 0), lambda f, m, x: f(x.to(m.uint16)),
    lambda f, m, x: f(x.to(m.uint16), 0), lambda f, m, x: f(x.to(m.uint16), x.to(m.uint16)), lambda f, m, x: f(x.to("meta"), 0),
    lambda f, m, x: f(x.to("meta")), lambda f, m, x: f(x.to("meta"), 7), lambda f, m, x: f(x[:0].to("meta"), 0), lambda f, m, x: f(x[:0].to("meta")),
    lambda f, m, x: f(x, out=m.empty(0)), lambda f, m, x: f(x, out=m.empty(3)), lambda f, m, x: f(x, out=m.empty(0, dtype=m.int64)),
    lambda f, m, x: f(x, out=m.empty((), dtype=m.float64)), lambda f, m, x: f(x[:0], out=m.empty(0)), lambda f, m, x: f(x[:0].int(), out=m.empty(0)),
    lambda f, m, x: f(x.nan_to_num() * m.tensor([300.0, -300.0, 1.0]).int(), out=m.empty(0, dtype=m.int8)),
    lambda f, m, x: f(m.tensor([300, -300]), out=m.empty(0, dtype=m.uint8)), lambda f, m, x: f(m.tensor([1e300, -1e300], dtype=m.float64), out=m.empty(0)),
    lambda f, m, x: f(x, 0, out=m.empty(0)), lambda f, m, x: f(x, x, out=m.empty(0, dtype=m.float64)),
    lambda f, m, x: f(x, 0, out=(m.empty(0), m.empty(0, dtype=m.int64))), lambda f, m, x: f(x, 0, True, out=(m.empty(7), m.empty(0, dtype=m.int64))),
    lambda f, m, x: f(x, 0, out=(m.empty(0, dtype=m.float64), m.empty(0, dtype=m.int64))),
    lambda f, m, x: f(x, 0, out=(m.empty(0), m.empty(0, dtype=m.int32))),
    lambda f, m, x: f(x.requires_grad_(), 0, out=(m.empty(0), m.empty(0, dtype=m.int64))), lambda f, m, x: f(x.requires_grad_(), out=m.empty(0)),
    lambda f, m, x: f(x.requires_grad_(), x, out=m.empty(0)),
]  # fmt: skip


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_overloads(name, number):
    same(lambda m, x: CALLS[number](getattr(m, name), m, x), judge.tensor([[1.0, NAN, 3.0], [4.0, 0.0, 3.0]], "float32"))


MINMAX = [
    lambda m, x: m.aminmax(x), lambda m, x: m.aminmax(x, keepdim=True), lambda m, x: x.aminmax(dim=-1), lambda m, x: m.aminmax(x, 0),
    lambda m, x: m.aminmax(x, dim=2), lambda m, x: m.aminmax(x[:0]), lambda m, x: m.aminmax(x[:0], dim=0), lambda m, x: m.aminmax(x[:0], dim=1),
    lambda m, x: m.aminmax(x[0, 0], dim=0, keepdim=True), lambda m, x: m.aminmax(x[0, 0], dim=1), lambda m, x: m.aminmax(x.to(m.uint32)),
    lambda m, x: m.aminmax(x.to("meta")), lambda m, x: m.aminmax(x[:0].to("meta")), lambda m, x: m.aminmax(x[:0].to("meta"), dim=0),
    lambda m, x: m.aminmax(x[:0].to("meta"), dim=1), lambda m, x: m.aminmax(x, out=(m.empty(0), m.empty(2))),
    lambda m, x: m.aminmax(x, dim=1, out=(m.empty(0), m.empty(0, dtype=m.float64))),
    lambda m, x: m.aminmax(x, out=m.empty(0)), lambda m, x: m.aminmax(x.requires_grad_(), out=(m.empty(0), m.empty(0))),
    lambda m, x: m.aminmax(x.to(m.uint32)[1, 0], dim=0), lambda m, x: m.aminmax(x.to(m.uint16)[1, 0]), lambda m, x: m.aminmax(x.to(m.uint16)[1, :1], dim=0),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MINMAX)))
def test_aminmax(number):
    same(MINMAX[number], judge.tensor([[1.0, NAN, 3.0], [4.0, 0.0, 3.0]], "float32"))


# --- var_mean, std_mean, nansum, nanmean, norm


OTHERS = [
    lambda m, x: m.var_mean(x.int()), lambda m, x: m.std_mean(x.bool(), 0), lambda m, x: m.var_mean(x, False), lambda m, x: m.std_mean(x, 0, False, True),
    lambda m, x: m.var_mean(x, unbiased=False), lambda m, x: m.var_mean(x, correction=1, unbiased=True), lambda m, x: m.var_mean(x, "x", "z"),
    lambda m, x: m.var_mean(x[:0]), lambda m, x: m.std_mean(x[:0], 0), lambda m, x: m.var_mean(x[:0], 1), lambda m, x: m.std_mean(x[0, 0]),
    lambda m, x: m.var_mean(x, (0, 0)), lambda m, x: m.var_mean(x, 4), lambda m, x: m.var_mean(x.to("meta"), 1), lambda m, x: hasattr(x, "var_mean"),
    lambda m, x: m.var_mean(m.tensor([1.0, INFINITE])), lambda m, x: m.var_mean(m.tensor([INFINITE, 1.0])),
    lambda m, x: m.nansum(x, 1, True), lambda m, x: m.nansum(x.int()), lambda m, x: m.nansum(x.bool(), 0), lambda m, x: m.nansum(x, dtype=m.int64),
    lambda m, x: m.nansum(x * 1.5, 1, dtype=m.int32), lambda m, x: m.nansum(x, 1, dtype=m.bool), lambda m, x: m.nansum(x, 1, dtype=m.float64),
    lambda m, x: m.nansum(m.full((10,), 0.1), dtype=m.float16), lambda m, x: m.nansum(m.full((10,), 60000.0).half(), dtype=m.float32),
    *[lambda m, x, d=d: m.nansum(m.tensor([INFINITE, NAN, 3, -INFINITE, INFINITE]).half(), dtype=getattr(m, d)) for d in ("int64", "int16", "uint8")],
    lambda m, x: m.nansum(x.int(), dtype=m.float32), lambda m, x: m.nansum(x.int(), dtype=m.int8), lambda m, x: m.nansum(x[:0], 0),
    lambda m, x: m.nansum(x[:0], 1), lambda m, x: m.nansum(x, (0, 0)), lambda m, x: m.nansum(x, 4), lambda m, x: m.nansum(x.to("meta"), 1),
    lambda m, x: m.nansum(x, 1, out=m.empty(0)), lambda m, x: m.nansum(x, 1, out=m.empty(0, dtype=m.float64)),
    lambda m, x: m.nansum(x, 1, out=m.empty(0, dtype=m.int64)), lambda m, x: m.nansum(x, 1, dtype=m.float32, out=m.empty(0, dtype=m.float64)),
    lambda m, x: m.nansum(x, 1, dtype=m.int8, out=m.empty(0)), lambda m, x: m.nansum(x, 1, dtype=m.int64, out=m.empty(0, dtype=m.int64)),
    lambda m, x: m.nansum(x.int(), 0, out=m.empty(0)), lambda m, x: m.nansum(x.int(), 0, dtype=m.int64, out=m.empty(0, dtype=m.int32)),
    lambda m, x: m.nansum(x.requires_grad_(), out=m.empty(0)), lambda m, x: m.nansum(x.requires_grad_(), 1, dtype=m.int64),
    lambda m, x: m.nansum(x, "x"), lambda m, x: m.nansum(x, 1, bad=3), lambda m, x: m.nansum(m.tensor([INFINITE, -INFINITE, NAN])),
    lambda m, x: m.nanmean(x, 1, True), lambda m, x: m.nanmean(x.int()), lambda m, x: m.nanmean(x.int(), dtype=m.float32),
    lambda m, x: m.nanmean(x, dtype=m.int64), lambda m, x: m.nanmean(x, 1, dtype=m.float64), lambda m, x: m.nanmean(x[:0]), lambda m, x: m.nanmean(x.half(), 0),
    lambda m, x: m.nanmean(x, 1, out=m.empty(0)), lambda m, x: m.nanmean(x.int(), 1, out=m.empty(0)), lambda m, x: m.nanmean(x, 1, out=m.empty(0, dtype=m.int64)),
    lambda m, x: m.nanmean(x, 0, dtype=m.float64, out=m.empty(0)), lambda m, x: m.nanmean(x, dtype=m.int32, out=m.empty(0)), lambda m, x: m.nanmean(x.requires_grad_(), 0, out=m.empty(0)),
    lambda m, x: m.nanmean(x.to("meta"), 0), lambda m, x: m.nanmean(x * m.tensor([[NAN], [1.0]]), 1),
    lambda m, x: x.norm(), lambda m, x: m.norm(x, 2, 1, True, None, m.float64), lambda m, x: x.norm(2, 1, True, m.float64), lambda m, x: x.norm(dim=1),
    lambda m, x: x.norm("fro", dim=1, dtype=m.float64), lambda m, x: m.norm(x, None, dtype=m.float64), lambda m, x: m.norm(x, m.tensor(2.0)),
    lambda m, x: m.norm(x, True), lambda m, x: m.norm(x.int()), lambda m, x: m.norm(x, 1, dtype=m.int64), lambda m, x: m.norm(x.double(), 1, dtype=m.float32),
    lambda m, x: m.norm(x, out=m.empty(0)), lambda m, x: m.norm(x, 2, 1, out=m.empty(0, dtype=m.float64)), lambda m, x: m.norm(x, "fro", 1, out=m.empty(0)),
    lambda m, x: m.norm(x.requires_grad_(), 2, 1, out=m.empty(0)), lambda m, x: m.norm(x[:0], INFINITE), lambda m, x: m.norm(x[:0], -1, 0),
    lambda m, x: m.norm(x, 2, ()), lambda m, x: m.norm(x, 2, (0, 0)), lambda m, x: m.norm(x, 2, 7), lambda m, x: m.norm(x.to("meta"), 2, 1),
    lambda m, x: m.norm(x[None], "fro", (0, 1, 2)), lambda m, x: m.norm(x[None], "nuc"), lambda m, x: m.norm(x, "x"), lambda m, x: m.norm(x.int(), "x", 0),
    lambda m, x: m.norm(x[None].int(), dim=(0, 1, 2)), lambda m, x: m.norm(x[0, 0], 2, 0),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_other_calls(number):
    same(OTHERS[number], judge.tensor([[1.0, NAN, 3.0], [4.0, 0.0, 3.0]], "float32"), exact=False)


@pytest.mark.parametrize("name", ["var_mean", "std_mean", "nansum", "nanmean"])
def test_16_bit_floats(name):
    """Sums of 16-bit floats are rounded once, at the end."""
    for dtype in ("float16", "bfloat16"):
        x = judge.tensor([0.1 * i for i in range(300)], dtype)
        same(lambda m, x: getattr(m, name)(x), x, exact=None)


# --- derivatives


DIFFERENTIATED = {
    "max": lambda m, x: m.max(x), "min": lambda m, x: x.min(), "max along": lambda m, x: m.max(x, 1).values, "min along": lambda m, x: x.min(-2, True)[0],
    "max of two": lambda m, x: m.max(x, x.flip(0)), "min of two": lambda m, x: x.min(x.detach() * 2), "aminmax": lambda m, x: m.aminmax(x).max * 3,
    "aminmax along": lambda m, x: sum(m.aminmax(x, dim=1)), "aminmax kept": lambda m, x: m.aminmax(x, dim=0, keepdim=True).min,
    "var_mean": lambda m, x: sum(m.var_mean(x)), "var alone": lambda m, x: m.var_mean(x, 1, keepdim=True)[0], "mean alone": lambda m, x: m.var_mean(x, (0, 1), correction=0)[1],
    "std_mean": lambda m, x: sum(m.std_mean(x, 0)), "std alone": lambda m, x: m.std_mean(x, 1)[0], "mean of std_mean": lambda m, x: m.std_mean(x, 1, keepdim=True)[1],
    "nansum": lambda m, x: m.nansum(x), "nansum along": lambda m, x: m.nansum(x, 1, True, dtype=m.float64), "nanmean": lambda m, x: m.nanmean(x),
    "nanmean along": lambda m, x: x.nanmean(0), "norm": lambda m, x: x.norm(), "norm of 3": lambda m, x: m.norm(x, 3, 1), "norm of inf": lambda m, x: m.norm(x, INFINITE, 0, True),
}  # fmt: skip
ROWS = {
    "numbers": [[1.0, 5.0, 3.0], [4.0, 0.5, 2.0]],
    "ties": [[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]],
    "NaN": [[1.0, NAN, 3.0], [4.0, 0.5, NAN]],
    "infinite": [[1.0, INFINITE, 3.0], [4.0, -INFINITE, 3.0]],
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivatives(name, rows):
    def twice(m, x):
        x = x.requires_grad_()
        y = DIFFERENTIATED[name](m, x)
        (first,) = m.autograd.grad(y, x, m.ones_like(y), create_graph=True)
        (second,) = m.autograd.grad((first * first * x).sum(), x)
        return y.grad_fn.name(), first, second

    for dtype in ("float64", "float32"):
        same(twice, judge.tensor(ROWS[rows], dtype), exact=False)


def test_nodes_of_both_results():
    def names(m, x):
        x = x.requires_grad_()
        results = (*m.aminmax(x), *m.var_mean(x), *m.std_mean(x, 1), m.max(x, 0).values)
        return [result.grad_fn.name() for result in results], m.min(x, 0).indices.requires_grad

    same(names, judge.tensor(ROWS["numbers"], "float32"))


@pytest.mark.parametrize("values", [[2.123456789, 0.987654321], [2.123456789, 0.0, -3.0], [1.0, 3.0, 1e-60], 0.3])
@pytest.mark.parametrize("dtypes", ["float64 float32", "float16 float32", "float32 float64", "complex128 float32", "complex64 complex128"])
def test_derivative_of_a_product_in_another_dtype(dtypes, values):
    """The derivative is that of the elements after the cast."""
    given, wanted = dtypes.split()

    def twice(m):
        x = m.tensor(values, dtype=getattr(m, given))
        if given.startswith("complex"):
            x += m.tensor(0.5j)
        x.requires_grad_()
        y = x.prod(dtype=getattr(m, wanted))
        (first,) = m.autograd.grad(y, x, m.ones_like(y), create_graph=True)
        both = (first, *m.autograd.grad(first.sum(), x, m.ones_like(first.sum()))) if first.requires_grad else (first,)
        return [m.view_as_real(grad) if grad.is_complex() else grad for grad in both]

    same(twice, exact=None if given == "float16" else False)


def test_derivative_of_a_product_warns_of_lost_imaginary_parts():
    x = tenon.tensor([2 + 1j], requires_grad=True)
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        y = x.prod(dtype=tenon.float32)
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert tenon.autograd.grad(y, x)[0].tolist() == [1]


# --- norms of one element each


@pytest.mark.parametrize("ord", [*ORDS, NAN])
@pytest.mark.parametrize("shape", [(), (1,), (1, 4), (4, 1), (1, 1)])
def test_norms_of_one_element_are_magnitudes(shape, ord):
    """However large or small the element is."""

    def call(m, dtype, keepdim):
        values = m.tensor([-3e38, 1e-30, 0.0, 2.5], dtype=getattr(m, dtype))[: math.prod(shape)].reshape(shape)
        values.requires_grad_()
        norms = [m.linalg.vector_norm(values, ord, dim, keepdim, dtype=m.float64) for dim in range(-1, len(shape)) if shape and shape[dim] == 1]
        norms.append(values.norm(ord) if values.numel() == 1 else values[:1, :1].norm(ord))
        grads = [m.autograd.grad(norm.sum(), values, allow_unused=True)[0] for norm in norms if norm.requires_grad] if ord in (1, 2, INFINITE) else []
        return norms, [norm.stride() for norm in norms], grads

    for dtype in ("float64", "float32"):
        for keepdim in (False, True):
            same(call, dtype, keepdim)


NORMS_INTO = [
    lambda m, x: m.norm(x[None, :4], 2, 0, out=x[1:]), lambda m, x: m.norm(x[None, :4], 0, 0, out=x[1:]), lambda m, x: m.norm(x[None, :4], 2, 0, out=x[:4]),
    lambda m, x: m.norm(x[None, :4], 2, 0, True, out=x[None, 1:]), lambda m, x: m.norm(x[None, :4], 2, 0, out=x[1:3]),
    lambda m, x: m.norm(x[None, :4], 2, 0, out=x.double()[1:]), lambda m, x: m.norm(x[None, :4], 2, 0, out=m.ones(1).expand(4)),
    lambda m, x: m.norm(x[0], 2, out=x[0]), lambda m, x: m.norm(m.view_as_complex(x[:4].view(2, 2))[None], 2, 0, out=x[1:3]),
    lambda m, x: m.norm(m.view_as_complex(x[:4].view(2, 2))[None], 0, 0, out=x[1:3]),
    lambda m, x: m.norm(m.view_as_complex(x[:4].view(2, 2))[None], 0, 0, out=m.empty(0, dtype=m.complex64)),
    lambda m, x: m.norm(x.int()[None], 0, 0, out=m.empty(0, dtype=m.int64)), lambda m, x: m.norm(x[None], 0, 7, out=m.empty(0, dtype=m.int64)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(NORMS_INTO)))
def test_norms_of_one_element_into_out(number):
    same(NORMS_INTO[number], judge.tensor([-1.0, 2.0, 0.0, 4.0, -5.0], "float32"))


@pytest.mark.parametrize("ord", [0.5, 1.5, 2.5, 3, 4, -1])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradient_of_a_norm_of_16_bits_is_rounded_once(dtype, ord):
    import torch

    values = [0.015625 * (7 * i % 61) - 0.4453125 for i in range(12)]
    ours = tenon.tensor(values, dtype=getattr(tenon, dtype), requires_grad=True)
    exact = torch.tensor(values, dtype=getattr(torch, dtype)).double().requires_grad_()
    (grad,) = tenon.autograd.grad(tenon.linalg.vector_norm(ours, ord, dtype=tenon.float32), ours)
    (wanted,) = torch.autograd.grad(torch.linalg.vector_norm(exact, ord), exact)
    assert grad.tolist() == wanted.to(getattr(torch, dtype)).tolist()


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (2, 3, 1, 0), (0, 3, 1, 2), (3, 0, 2, 1)])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "int64"])
def test_results_in_another_order_than_elements(order, dtype):
    """Rows of results are short, and elements are folded in their order in memory."""
    import torch

    numbers = torch.arange(2 * 3 * 5 * 175).remainder(7)
    for dims in ([2], [0, 2], [1], [3]):
        for op in ("sum", "amax", "any"):
            for keepdim in (False, True):
                found = []
                for m in (tenon, torch):
                    x = m.tensor(numbers.tolist()).reshape([(2, 3, 5, 175)[i] for i in order]).to(getattr(m, dtype))
                    y = getattr(m, op)(x.permute([order.index(i) for i in range(4)]), dims, keepdim)
                    found.append((y.tolist(), y.stride(), str(y.dtype).split(".")[1]))
                assert found[0] == found[1], (dims, op, keepdim)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 15, 16, 17])
@pytest.mark.parametrize("runs", [63, 64, 1000])
def test_aminmax_of_short_runs(n, runs):
    same(lambda m, x: m.aminmax(x, dim=1), judge.view(judge.tensor([(i * 37) % 101 / 4 for i in range(n * runs)], "float32"), lambda t: t.reshape(runs, n)))
