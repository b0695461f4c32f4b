"""torch.gradient: differences of samples."""

import pytest

torch = pytest.importorskip("torch")

from judge import same


def samples(m, shape, dtype="float64"):
    m.manual_seed(2)
    return (m.randn(shape, dtype=m.float64) * 5).to(getattr(m, dtype))


SPACINGS = {
    "none": lambda m: {},
    "number": lambda m: {"spacing": 0.25},
    "order 2": lambda m: {"edge_order": 2},
    "numbers": lambda m: {"spacing": [2.0, 3]},
    "dim": lambda m: {"dim": -1},
    "dims": lambda m: {"dim": (1, 0), "spacing": 2},
    "no dims": lambda m: {"dim": ()},
    "coordinates": lambda m: {"spacing": (m.tensor([0.0, 1, 4, 4.5, 9]), m.tensor([0.0, 3, 4, 8, 9, 11]))},
    "coordinates, order 2": lambda m: {"spacing": (m.tensor([0.0, 1, 4, 4.5, 9]), m.tensor([0.0, 3, 4, 8, 9, 11])), "edge_order": 2},
    "one dim, order 2": lambda m: {"spacing": [0.5], "dim": 0, "edge_order": 2},
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64", "bfloat16"])
@pytest.mark.parametrize("name", SPACINGS)
def test_values(name, dtype):
    same(lambda m: list(m.gradient(samples(m, (5, 6), dtype), **SPACINGS[name](m))), exact=None if dtype == "bfloat16" else False)


def test_derivative():
    def call(m):
        x = samples(m, (4, 5)).requires_grad_()
        (m.gradient(x, edge_order=2)[0] * m.arange(5)).sum().backward()
        return x.grad

    same(call, exact=False)


ERRORS = {
    "too many": lambda m: m.gradient(samples(m, (3, 4)), spacing=[1.0, 2.0, 3.0]),
    "repeated": lambda m: m.gradient(samples(m, (3, 4)), dim=(0, 0)),
    "out of range": lambda m: m.gradient(samples(m, (3, 4)), dim=5),
    "order": lambda m: m.gradient(samples(m, (3, 4)), edge_order=3),
    "too short": lambda m: m.gradient(m.ones(1)),
    "too short for order 2": lambda m: m.gradient(m.ones(2), edge_order=2),
    "uint8": lambda m: m.gradient(m.ones(3, dtype=m.uint8)),
    "bool": lambda m: m.gradient(m.ones(3, dtype=m.bool)),
    "two dims of coordinates": lambda m: m.gradient(samples(m, (3, 4)), spacing=(m.ones(3, 1), m.ones(4))),
    "lengths": lambda m: m.gradient(samples(m, (3, 4)), spacing=(1, 2), dim=1),
    "no tensor": lambda m: m.gradient(3),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    same(ERRORS[name])
