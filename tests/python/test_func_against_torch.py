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
    "jacrev of two results": lambda m: m.func.jacrev(lambda x: (x**2, x.sum()))(m.arange(3.0)),
    "jacrev of two by two": lambda m: list(m.func.jacrev(lambda x, y: {"a": x * y, "b": x.sum()}, argnums=(0, 1))(m.arange(3.0), m.ones(3)).values()),
    "jacrev with more": lambda m: m.func.jacrev(lambda x: (x**2, x * 3), has_aux=True)(m.arange(3.0)),
    "jacrev in chunks": lambda m: m.func.jacrev(lambda x: x**2, chunk_size=2)(m.arange(3.0)),
    "vjp of two results": lambda m: m.func.vjp(lambda x, y: (x * y, x.sum()), m.arange(3.0), m.ones(3))[1]((m.ones(3), m.tensor(2.0))),
    "vjp of a dict": lambda m: m.func.vjp(lambda x: {"a": x**2}, m.arange(3.0))[1]({"a": m.ones(3)}),
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
    "jacrev of a number": lambda m: m.func.jacrev(lambda x: 3)(m.ones(3)),
    "jacrev without more": lambda m: m.func.jacrev(lambda x: x, has_aux=True)(m.ones(3)),
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


# Arguments of grad and backward that only some programs give.
GRADS = {
    "in the order of all arguments": lambda m, g, x, y: g.grad((x**2).sum(), x, None, None, False, True, None, False),
    "of a penalty": lambda m, g, x, y: g.grad(outputs=(x**2).sum(), inputs=x, create_graph=True, retain_graph=True, only_inputs=True),
    "of all": lambda m, g, x, y: g.grad((x**2).sum(), x, only_inputs=False),
    "of a dict of inputs": lambda m, g, x, y: g.grad((x**2).sum(), {"x": x})["x"],
    "several weights": lambda m, g, x, y: g.grad(x**2, x, m.arange(18.0).reshape(3, 2, 3), is_grads_batched=True),
    "several weights, two results": lambda m, g, x, y: g.grad([x**2, x.sum()], [x], [m.arange(18.0).reshape(3, 2, 3), m.arange(3.0)], is_grads_batched=True),
    "several weights, no dependence": lambda m, g, x, y: g.grad(x**2, [x, y], m.ones(3, 2, 3), is_grads_batched=True, allow_unused=True),
    "several weights, zeros": lambda m, g, x, y: g.grad(x**2, [x, y], m.ones(3, 2, 3), is_grads_batched=True, materialize_grads=True),
    "several weights, again": lambda m, g, x, y: g.grad(g.grad(x**3, x, m.ones(2, 2, 3), is_grads_batched=True, create_graph=True)[0].sum(), x),
    "old weights": lambda m, g, x, y: (g.backward([(x**2).sum()], grad_variables=[m.tensor(2.0)]), x.grad)[1],
    "old weights and new": lambda m, g, x, y: g.backward([(x**2).sum()], [m.tensor(2.0)], grad_variables=[m.tensor(2.0)]),
    "backward to a dict": lambda m, g, x, y: (g.backward([(x**2).sum()], inputs={"x": x}), x.grad)[1],
    "check with more": lambda m, g, x, y: g.gradcheck(lambda a: a**2, (x.detach().double().requires_grad_(),), fast_mode=True, nondet_tol=1e-3, check_undefined_grad=False),
    "second check by weights": lambda m, g, x, y: g.gradgradcheck(lambda a: a**3, (x.detach().double().requires_grad_(),), m.ones(2, 3, dtype=m.float64, requires_grad=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADS)
def test_arguments_of_grad(name):
    same(lambda m: GRADS[name](m, m.autograd, m.arange(1.0, 7).reshape(2, 3).requires_grad_(), m.ones(2, requires_grad=True)))


def test_weights_that_are_no_batch():
    x = tenon.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="interpret the first dimension of each grad_output as the batch dimension"):
        tenon.autograd.grad(x**2, x, tenon.ones(2, 3), is_grads_batched=True)


def test_a_wrong_second_derivative_is_found():
    class Cube(tenon.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * (x * x).detach()

    x = tenon.ones(2, dtype=tenon.float64, requires_grad=True)
    assert tenon.autograd.gradcheck(Cube.apply, x) and not tenon.autograd.gradgradcheck(Cube.apply, x, tenon.ones_like(x), raise_exception=False)
    with pytest.raises(NotImplementedError, match="forward mode"):
        tenon.autograd.gradcheck(Cube.apply, x, check_forward_ad=True)
