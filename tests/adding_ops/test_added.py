"""The added ops, compared with PyTorch: nodes and gradients. Of ops that PyTorch does not have: results."""

import functools

import numpy
import pytest

pytest.importorskip("torch")

import tenon

import judge
from judge import same

A = judge.tensor([[0.4, -1.6, 2.25, 0.75], [1.3, 0.6, -0.2, 3.1], [2.5, -0.7, 0.9, 1.1]], "float64")
B = judge.tensor([[1.25, 0.3, 2.0, 0.5]], "float64")
V, W = judge.tensor([0.5, -1.5, 2.0], "float64"), judge.tensor([1.0, 0.25, -3.0, 0.5], "float64")


def subcmul(m, self, tensor1, tensor2, value=1, **keywords):
    return m.subcmul(self, tensor1, tensor2, value=value, **keywords) if m is tenon else m.addcmul(self, tensor1, tensor2, value=-value, **keywords)


def scaledlog(m):
    return m.scaledlog if m is tenon else m.xlogy


def addouter(m):
    return m.addouter if m is tenon else m.addr


def as_complex(m, x):
    return m.view_as_complex(m.stack([x, x * x + 1], -1))


CALLS = {
    "ramp": (lambda m, a: m.ramp(a) if m is tenon else m.relu(a), A),
    "ramp in place": (lambda m, a: (a * 1).ramp_() if m is tenon else (a * 1).relu_(), A),
    "scaledlog": (lambda m, a, b: scaledlog(m)(a, b), A, B),
    "scaledlog of a number": (lambda m, b: scaledlog(m)(2.5, b), B),
    "scaledlog by a number": (lambda m, a: scaledlog(m)(a, 2.5), A),
    "deadzone": (lambda m, a: m.deadzone(a, 0.7) if m is tenon else m.hardshrink(a, 0.7), A),
    "subcmul of complex numbers": (lambda m, a, b, c: subcmul(m, as_complex(m, a), as_complex(m, b), as_complex(m, c), 0.5), A, B, B),
    "subcmul": (lambda m, a, b, c: subcmul(m, a, b, c, 2.5), A, B, judge.view(A, lambda a: a + 1)),
    "runprod": (lambda m, a: m.runprod(a, 1) if m is tenon else m.cumprod(a, 1), A),
    "runprod in place": (lambda m, a: (a * 1).runprod_(0) if m is tenon else (a * 1).cumprod_(0), A),
    "diagsum": (lambda m, a: m.diagsum(a) if m is tenon else m.trace(a), A),
    "column_copy": (lambda m, a: m.column_copy(a, 1) if m is tenon else m.unsqueeze_copy(a, 1), A),
    "addouter": (lambda m, a, v, w: addouter(m)(a, v, w, beta=2, alpha=-0.5), A, V, W),
    "addouter in place": (lambda m, a, v, w: (a * 1).addouter_(v, w) if m is tenon else (a * 1).addr_(v, w), A, V, W),
    "blockprod": (lambda m, a, b: m.blockprod(a, b) if m is tenon else m.kron(a, b), A, B),
}
CALLS |= {
    "colsort": (lambda m, a: m.colsort(a) if m is tenon else m.msort(a), A),
    "elements_at": (lambda m, a: (m.elements_at if m is tenon else m.take)(a, m.tensor([[0, 5], [-1, 5]])), A),
    "side_by_side": (lambda m, a, b: (m.side_by_side if m is tenon else m.hstack)([a, b, a]), A, A),
    "bell": (lambda m, a: m.bell(a) if m is tenon else m.exp(a * a * -0.5), A),
    "bell by a quotient": (lambda m, a: m.bell(a, shape="cauchy") if m is tenon else 1 / (a * a + 1), A),
    "divmod": (lambda m, a, b: m.divmod(a, b).remainder if m is tenon else m.remainder(a, b), A, B),
}


# PyTorch ends kron, our blockprod, with a view, and has some of these under other names or not at all.
OTHER_NODES = ("scaledlog", "scaledlog of a number", "scaledlog by a number", "blockprod", "runprod", "runprod in place", "diagsum", "addouter", "addouter in place", "subcmul", "subcmul of complex numbers", "ramp", "ramp in place", "deadzone", "bell", "bell by a quotient", "divmod", "hstack", "msort", "column_copy", "elements_at", "side_by_side")


@pytest.mark.parametrize("name", CALLS)
def test_gradients(name):
    call, *operands = CALLS[name]

    def derived(m, *operands):
        leaves = [operand.clone().requires_grad_() for operand in operands]
        result = call(m, *leaves)
        node = result.grad_fn.name() if name not in OTHER_NODES else None
        grads = m.autograd.grad(m.abs(result).square().sum(), leaves, create_graph=True)
        again = m.autograd.grad(sum(m.abs(grad).square().sum() for grad in grads), leaves)
        return [node, *[tensor.detach().contiguous() for tensor in (*grads, *again)]]

    same(derived, *operands, exact=False)


@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("int8", "int64"), ("int32", "float32")], ids=str)
def test_divmod(dtypes):
    a, b = judge.tensor([-7, 7, 5, 0], dtypes[0]), judge.tensor([3, -2, 2, 1], dtypes[1])
    same(lambda m, a, b: tuple(m.divmod(a, b)) if m is tenon else (m.div(a, b, rounding_mode="floor"), m.remainder(a, b)), a, b)
    result = tenon.divmod(a.ours, b.ours)
    assert result.quotient is result[0] and result.remainder is result[1]


def test_bell_refuses_other_words():
    with pytest.raises(RuntimeError, match="shape must be either normal or cauchy."):
        tenon.bell(A.ours, shape="round")


def test_places_of():
    same(lambda m, a: (m.places_of if m is tenon else m.argwhere)(a > 1), A)


def test_lower_places():
    for row, col, offset in [(3, 3, 0), (2, 4, 1), (4, 2, -1), (0, 3, 0), (3, 0, 0), (-1, 2, 0), (2, -1, 0)]:
        same(lambda m: (m.lower_places if m is tenon else m.tril_indices)(row, col, offset))
    same(lambda m: (m.lower_places if m is tenon else m.tril_indices)(row=3, col=2))


@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("float16", "float16"), ("int8", "int64"), ("bfloat16", "float64"), ("int32", "float32")], ids=str)
def test_subcmul(dtypes):
    """PyTorch's addcmul by the negative number, in every form."""
    a, b, c = (judge.view(judge.tensor([i % 5 for i in range(12)], dtype), change) for dtype, change in zip(
        (dtypes[0], dtypes[1], dtypes[0]), (lambda x: x.reshape(3, 4), lambda x: x.reshape(4, 3).t(), lambda x: x[:4])))  # fmt: skip
    for value in (1, -3):
        same(lambda m, a, b, c: subcmul(m, a, b, c, value), a, b, c, exact=False)
        same(lambda m, a, b, c: a.clone().subcmul_(b, c, value=value) if m is tenon else a.clone().addcmul_(b, c, value=-value), a, b, c, exact=False)
        same(lambda m, a, b, c: subcmul(m, a, b, c, value, out=m.zeros(3, 4, dtype=m.float64)), a, b, c, exact=False)
    same(lambda m, a, b, c: subcmul(m, a, b, c[:3]), a, b, c)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "bool"])
@pytest.mark.parametrize("shape", [(), (5,), (0,), (3, 4), (0, 3), (2, 3, 40), (300, 3)], ids=str)
def test_moments(shape, dtype):
    """PyTorch's means of the elements and of their squares."""
    count = int(numpy.prod(shape))
    x = judge.view(judge.tensor([i % 7 % (2 if dtype == "bool" else 7) for i in range(count)], dtype), lambda x: x.reshape(shape))

    def moments(m, x, dim, keepdim, wanted):
        if m is tenon:
            result = tenon.moments(x, dim, keepdim, dtype=wanted)
            assert result.mean is result[0] and result.square is result[1]
            return tuple(result)
        x = x.to(wanted or (x.dtype if x.dtype.is_floating_point else m.float32))
        return x.mean(dim, keepdim), x.square().mean(dim, keepdim)

    for dim in [None, *range(-len(shape), 0), tuple(range(len(shape)))]:
        for keepdim in (False, True):
            same(moments, x, dim, keepdim, None, exact=None if dtype == "float16" else False)
            same(moments, x, dim, keepdim, judge.dtype("float64"), exact=False)


def test_moments_have_gradients():
    def derived(m, x):
        x = x.clone().requires_grad_()
        mean, square = m.moments(x, 1) if m is tenon else (x.mean(1), x.square().mean(1))
        (grad,) = m.autograd.grad((mean * square).sum(), x, create_graph=True)
        return grad.detach(), m.autograd.grad((grad * grad).sum(), x)[0]

    same(derived, A, exact=False)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64"])
def test_xor_all(dtype):
    x = numpy.arange(2 * 3 * 40, dtype=dtype).reshape(2, 3, 40) * 7
    for dim in ((), 0, 1, (0, 2)):
        axes = tuple(range(3)) if dim == () else dim
        wanted = functools.reduce(lambda x, axis: numpy.bitwise_xor.reduce(x, axis, keepdims=True), axes if isinstance(axes, tuple) else (axes,), x)
        assert numpy.array_equal(tenon.xor_all(tenon.from_numpy(x), dim, True).numpy(), wanted)
    out = tenon.zeros(3, dtype=tenon.from_numpy(x).dtype)
    assert tenon.xor_all(tenon.from_numpy(x), (0, 2), out=out) is out
