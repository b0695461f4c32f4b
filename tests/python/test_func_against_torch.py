"""torch.func: derivatives as functions, and vmap."""

import warnings

import pytest

torch = pytest.importorskip("torch")

import tenon

from judge import outcome, same


def cubed(x):
    return (x**3).sum()


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch's own, when it loads what this needs
    torch.func.hessian(cubed)(torch.ones(2))


CALLS = {
    "grad": lambda m: m.func.grad(cubed)(m.arange(3.0)),
    "grad of grad": lambda m: m.func.grad(m.func.grad(lambda x: x**3))(m.tensor(2.0)),
    "two arguments": lambda m: m.func.grad(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(m.arange(3.0), m.ones(3)),
    "the second": lambda m: m.func.grad(lambda x, y: (x * x * y).sum(), argnums=1)(m.arange(3.0), m.ones(3)),
    "with a value": lambda m: m.func.grad_and_value(cubed)(m.arange(3.0)),
    "with more": lambda m: m.func.grad(lambda x: (cubed(x), x * 2), has_aux=True)(m.arange(3.0)),
    "with both": lambda m: m.func.grad_and_value(lambda x: (cubed(x), x * 2), has_aux=True)(m.arange(3.0))[1],
    "of a dict": lambda m: list(m.func.grad(lambda d: (d["a"] * d["b"] ** 2).sum())({"a": m.ones(3), "b": m.arange(3.0)}).values()),
    "of no dependence": lambda m: m.func.grad(lambda x: m.tensor(1.0))(m.ones(3)),
    "jacrev": lambda m: m.func.jacrev(lambda x: x.outer(x))(m.arange(3.0)),
    "hessian": lambda m: m.func.hessian(lambda x: (x**3).sum() * x[0])(m.arange(1.0, 4.0)).contiguous(),
    "vjp": lambda m: m.func.vjp(lambda x, y: x * y, m.arange(3.0), m.ones(3))[1](m.arange(3.0)),
    "vmap": lambda m: m.func.vmap(lambda x: x.sum())(m.arange(6.0).reshape(2, 3)),
    "vmap of two": lambda m: m.vmap(lambda x, y: x + y, in_dims=(1, None))(m.arange(6.0).reshape(2, 3), m.arange(2.0)).contiguous(),
    "vmap to a dim": lambda m: m.vmap(lambda x: (x, x * 2), out_dims=(0, 1))(m.arange(6.0).reshape(2, 3))[1].contiguous(),
    "vmap of a dict": lambda m: m.vmap(lambda d: d["a"] * 2)({"a": m.arange(3.0)}),
    "vmap of grad": lambda m: m.vmap(m.func.grad(cubed))(m.arange(6.0).reshape(2, 3)),
    "vmap of a product": lambda m: m.vmap(m.dot)(m.arange(6.0).reshape(2, 3), m.ones(2, 3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_result(name):
    same(CALLS[name], exact=False)


def test_a_gradient_is_in_the_graph_outside():
    def call(m):
        x = m.tensor(2.0, requires_grad=True)
        m.func.grad(lambda x: x**3)(x).backward()
        return x.grad

    same(call)
    assert not tenon.func.grad(cubed)(tenon.ones(2)).requires_grad


ERRORS = {
    "no number": lambda m: m.func.grad(lambda x: x * 2)(m.ones(3)),
    "no tensor": lambda m: m.func.grad(lambda x: 3.0)(m.ones(3)),
    "a tuple": lambda m: m.func.grad(lambda x: (x.sum(), 1))(m.ones(3)),
    "argnum": lambda m: m.func.grad(cubed, argnums=1)(m.ones(3)),
    "no argnums": lambda m: m.func.grad(cubed, argnums=())(m.ones(3)),
    "argnums twice": lambda m: m.func.grad(cubed, argnums=(0, 0))(m.ones(3)),
    "argnums of a str": lambda m: m.func.grad(cubed, argnums="a")(m.ones(3)),
    "of a number": lambda m: m.func.grad(cubed)(3),
    "vmap of a number": lambda m: m.vmap(cubed)(3),
    "vmap of no dim": lambda m: m.vmap(cubed)(m.tensor(1.0)),
    "vmap of sizes": lambda m: m.vmap(lambda x, y: x)(m.ones(2), m.ones(3)),
    "vmap to a number": lambda m: m.vmap(lambda x: 1)(m.ones(2)),
    "vmap of a dim too far": lambda m: m.vmap(cubed, in_dims=5)(m.ones(2)),
    "vmap of nothing": lambda m: m.vmap(lambda x, y: x, in_dims=(None, None))(m.ones(2), m.ones(2)),
    "vmap of a word": lambda m: m.vmap(cubed, in_dims="a")(m.ones(2)),
    "vmap without arguments": lambda m: m.vmap(cubed)(),
    "vmap of other randomness": lambda m: m.vmap(cubed, randomness="y")(m.ones(2)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    same(ERRORS[name])


@pytest.mark.parametrize("call", [lambda m: m.vmap(cubed, in_dims=(0, 0))(m.ones(2)), lambda m: m.vmap(lambda x: x, out_dims=(0, 0))(m.ones(2)), lambda m: m.vmap(lambda x: x, out_dims=7)(m.ones(2))])
def test_dims_that_do_not_fit_are_refused(call):
    ours, theirs = outcome(call, "ours", (), {})[0], outcome(call, "theirs", (), {})[0]
    assert type(ours) is type(theirs)
