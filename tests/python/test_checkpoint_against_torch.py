"""utils.checkpoint: values, gradients, how often the function runs, and errors, beside PyTorch's."""

import gc
import warnings
import weakref

import pytest

torch = pytest.importorskip("torch")

import tenon
import torch.utils.checkpoint
import tenon.utils.checkpoint


def leaves(m):
    values = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]
    return m.tensor(values, dtype=m.float64, requires_grad=True), m.tensor([[1.0, 2.0], [-1.0, 0.5], [0.25, 3.0]], dtype=m.float64, requires_grad=True)


def numbers(*tensors):
    return [None if tensor is None else tensor.tolist() for tensor in tensors]


def both(call):
    got = []
    for m in (tenon, torch):
        m.manual_seed(3)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                result = call(m, m.utils.checkpoint.checkpoint, *leaves(m))
            except Exception as error:
                result = (type(error).__name__, str(error))
        got.append((result, [str(warning.message) for warning in seen]))
    (ours, our_warnings), (theirs, their_warnings) = got
    assert our_warnings == their_warnings
    assert rounded(ours) == rounded(theirs)


def rounded(value):
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return value


def after_backward(m, checkpoint, x, w, reentrant):
    runs = []

    def block(x):
        runs.append(m.is_grad_enabled())
        return m.tanh(x @ w) * m.rand(2, 2, dtype=m.float64)

    y = checkpoint(block, x, use_reentrant=reentrant)
    first = len(runs)
    (y * y).sum().backward()
    return first, len(runs), y.requires_grad, numbers(y.detach(), x.grad, w.grad, m.rand(2))


def of_tuples(m, checkpoint, x, w, reentrant):
    a, b = checkpoint(lambda p, q: (p * q, p.detach() + 1), x, 2.0, use_reentrant=reentrant)
    a.sum().backward()
    return a.requires_grad, b.requires_grad, numbers(x.grad, b)


def sequential(m, checkpoint, x, w, reentrant):
    steps = [m.tanh, lambda t: t @ w, m.sigmoid, lambda t: t * 2, m.relu]
    y = m.utils.checkpoint.checkpoint_sequential(steps, 2, x, use_reentrant=reentrant)
    y.sum().backward()
    return numbers(y.detach(), x.grad, w.grad)


def nested(m, checkpoint, x, w, reentrant):
    y = checkpoint(lambda t: checkpoint(m.sin, t, use_reentrant=reentrant) * 2, x, use_reentrant=reentrant)
    y.sum().backward()
    return numbers(x.grad)


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("call", [after_backward, of_tuples, sequential, nested])
def test_gradients(call, reentrant):
    both(lambda m, checkpoint, x, w: call(m, checkpoint, x, w, reentrant))


def second(m, checkpoint, x, w):
    gradients = m.autograd.grad(checkpoint(lambda t: (t**3).sum() * (w * w).sum(), x, use_reentrant=False), [x, w], create_graph=True)
    return numbers(*m.autograd.grad(gradients[0].sum() * gradients[1].sum(), [x, w]))


def by_two_ways(m, checkpoint, x, w):
    h = x * 2
    (gradient,) = m.autograd.grad(checkpoint(lambda t: (t**3 * h).sum(), x, use_reentrant=False), x, create_graph=True)
    return numbers(gradient.detach(), *m.autograd.grad(gradient.sum(), x))


def through_a_tensor_outside(m, checkpoint, x, w):
    h = x * 2
    checkpoint(lambda t: t * h.sum(), x, use_reentrant=False).sum().backward()
    return numbers(x.grad)


CALLS = [
    second, by_two_ways, through_a_tensor_outside,
    lambda m, c, x, w: numbers(*m.autograd.grad(c(lambda t, scale: (t @ w) * scale, x, scale=3.0, use_reentrant=False).sum(), [x, w])),
    lambda m, c, x, w: numbers(*m.autograd.grad(c(lambda t, p: t @ p["w"], x, {"w": w}, use_reentrant=False).sum(), w)),
    lambda m, c, x, w: c(lambda: w.sum(), use_reentrant=False).item(),
    lambda m, c, x, w: c(lambda t: t * 2, x.detach(), use_reentrant=True).requires_grad,
    lambda m, c, x, w: c(lambda t: t * 2, x.detach(), use_reentrant=False).requires_grad,
    lambda m, c, x, w: c(lambda t: {"y": t * 2}, x, use_reentrant=False)["y"].requires_grad,
    lambda m, c, x, w: numbers(c(lambda t: t * 2, x).detach()),
    lambda m, c, x, w: c(lambda t: t, x, use_reentrant=True, scale=3),
    lambda m, c, x, w: c(lambda t: t, x, use_reentrant=True, debug=True),
    lambda m, c, x, w: c(lambda t: t.detach(), x, use_reentrant=True).sum().backward(),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    both(call)


def test_the_first_run_keeps_nothing():
    x, held = tenon.ones(1000, requires_grad=True), []

    class Keeps(tenon.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.attribute = tenon.ones(3)
            held.append(weakref.ref(ctx.attribute))
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    y = tenon.utils.checkpoint.checkpoint(Keeps.apply, x, use_reentrant=False)
    gc.collect()
    assert held[0]() is None
    y.sum().backward()
    assert len(held) == 2 and x.grad[0].item() == 2
