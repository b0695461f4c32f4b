"""Folds with a state of their own, over drawn shapes, layouts and options."""

import math
import random

import pytest

pytest.importorskip("torch")

import judge
from judge import same

INFINITE, NAN = math.inf, math.nan


def drawn(rng):
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


def options(rng, ndim, names):
    one, several = rng.randint(-ndim, ndim), rng.sample(range(ndim), rng.randint(0, ndim))
    draws = {"dim": lambda: one, "dims": lambda: rng.choice([one, several, several]), "keepdim": lambda: True,
             "correction": lambda: rng.choice([0, 2, 0.5, 9]), "ord": lambda: rng.choice([0, 1, 2, 3, 0.5, -1, INFINITE, -INFINITE])}  # fmt: skip
    return {name.rstrip("s") if name == "dims" else name: draws[name]() for name in names if name == "dims" or rng.random() < 0.7}


FOLDS = {
    "argmax": ["dim", "keepdim"], "argmin": ["dim", "keepdim"], "count_nonzero": ["dims"], "logsumexp": ["dims", "keepdim"],
    "var": ["dims", "keepdim", "correction"], "std": ["dims", "keepdim", "correction"], "vector_norm": ["dims", "keepdim", "ord"],
}  # fmt: skip


def function(m, name):
    return m.linalg.vector_norm if name == "vector_norm" else getattr(m, name)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("name", FOLDS)
def test_drawn(name, seed):
    rng = random.Random(f"{name} {seed}")
    x = drawn(rng)
    exact = None if x.ours.element_size() == 2 else False
    same(lambda m, x, **k: function(m, name)(x, **k), x, exact=exact, **options(rng, x.theirs.dim(), FOLDS[name]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("out", ["float64", "float32", "float16", "bfloat16", "int64"])
@pytest.mark.parametrize("name", ["var", "std", "logsumexp"])
def test_out_of_another_dtype(name, out, dtype):
    """Computed in the dtype of out=, but for one result."""
    x = judge.tensor([[0.1, 0.2, 0.7], [1.5, -2.5, 0.3]], dtype)
    coarse = None if {"16"} & {dtype[-2:], out[-2:]} else False
    for dims in (1, (0, 1), 2):
        into = judge.tensor([], out)
        same(lambda m, x, into, **k: function(m, name)(x, out=into, **k), x, into, dim=dims, exact=coarse)


def test_spread_of_large_equal_elements():
    for count in (3, 5, 100):
        same(lambda m, x: (m.var(x), m.std(x, 0)), judge.tensor([1e200] * count, "float64"), exact=False)


def test_the_first_of_equal_elements():
    """Whatever threads and vectors took them."""
    for size in (1000, 300_000):
        x = judge.tensor([1.0, 2.0, 0.0] * size, "float32")
        same(lambda m, x: (m.argmax(x), m.argmin(x)), x)
        same(lambda m, x: (m.argmax(x.reshape(-1, 3), 0), m.argmin(x.reshape(3, -1), 1)), x)


def test_logsumexp_over_no_dims():
    for sizes in ((), (2, 3), (0, 3)):
        for keepdim in (False, True):
            same(lambda m, x: m.logsumexp(x.reshape(sizes), [], keepdim), judge.tensor([1.0] * math.prod(sizes), "float32"), exact=False)


def test_the_first_wrong_dim_is_named():
    for dims in ([1, 1, 9], [9, 1, 1], [0, -2, 1]):
        for name in ("var", "std", "vector_norm"):
            same(lambda m, x: function(m, name)(x, dim=dims), judge.tensor([[1.0, 2.0]], "float32"))
