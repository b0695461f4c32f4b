"""utils.checkpoint: values, gradients, how often the function runs, and errors, beside PyTorch's."""

import contextlib
import warnings

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
    assert (m, reentrant, len(runs)) in [(tenon, False, 1), (tenon, True, 2), (torch, False, 2), (torch, True, 2)]
    return first, y.requires_grad, numbers(y.detach(), x.grad, w.grad, m.rand(2))


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


def hooks_of_leaves(m, checkpoint, x, w, reentrant):
    seen = []
    w.register_hook(lambda grad: seen.append(("w", grad.tolist())) or grad * 2)
    x.register_hook(lambda grad: seen.append(("x", grad.tolist())) or grad * 3)
    checkpoint(lambda t: t @ w, x, use_reentrant=reentrant).sum().backward()
    return sorted(seen), numbers(x.grad, w.grad)  # which of two leaves is first is no matter of checkpoints


def what_the_function_gets(m, checkpoint, x, w, reentrant):
    seen, y, other = [], w * 2, [3]

    def block(a, b, c, d):
        seen.append((a is x, b is y, c is other, d, a.requires_grad, b.requires_grad, a.is_leaf, b.is_leaf, m.is_grad_enabled()))
        return a @ b

    result = checkpoint(block, x, y, other, "d", use_reentrant=reentrant)
    result.sum().backward()
    return seen if reentrant else seen[0], numbers(x.grad, w.grad)


def returned_leaves(m, checkpoint, x, w):  # with use_reentrant=True PyTorch calls itself without end
    a, b = checkpoint(lambda t: (t * 2, w), x, use_reentrant=False)
    (a.sum() + (b * 3).sum()).backward()
    return b is w, b.requires_grad, numbers(x.grad, w.grad)


def not_tensors(m, checkpoint, x, w, reentrant):
    a, number, word = checkpoint(lambda t: (t * 2, 3, "word"), x, use_reentrant=reentrant)
    a.sum().backward()
    return number, word, numbers(x.grad)


def random_state_afterwards(m, checkpoint, x, w, reentrant):
    y = checkpoint(lambda t: t * m.rand(3, dtype=m.float64), x, use_reentrant=reentrant)
    m.manual_seed(8)
    y.sum().backward()
    return numbers(x.grad, m.rand(3))


def random_state_not_kept(m, checkpoint, x, w, reentrant):
    y = checkpoint(lambda t: t * m.ones(3, dtype=m.float64), x, use_reentrant=reentrant, preserve_rng_state=False)
    y.sum().backward()
    return numbers(x.grad, m.rand(3))


def modified_later(m, checkpoint, x, w, reentrant):
    factor = w.detach().clone()
    y = checkpoint(lambda t, f: t @ f, x, factor, use_reentrant=reentrant)
    factor.add_(1)
    return y.sum().backward()


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("call", [
    hooks_of_leaves, what_the_function_gets, not_tensors, random_state_afterwards, random_state_not_kept, modified_later,
])  # fmt: skip
def test_what_the_function_takes_and_gives(call, reentrant):
    both(lambda m, checkpoint, x, w: call(m, checkpoint, x, w, reentrant))


def of_non_leaves(m, checkpoint, x, w):
    h = x * 2
    y = checkpoint(lambda t: (t * h).sum(), x.detach().clone().requires_grad_(), use_reentrant=False)
    return numbers(*m.autograd.grad(y, [h]))


def runs_for_a_dict(m, checkpoint, x, w):
    runs = []
    checkpoint(lambda t: runs.append(0) or {"y": t.detach() * 2}, x, use_reentrant=False)
    return len(runs)


class Fails(Exception):
    pass


def fails(*args):
    raise Fails("as it should")


def contexts(enters, suppresses=False):
    @contextlib.contextmanager
    def noted(name):
        enters.append(name)
        with contextlib.suppress(Fails) if suppresses else contextlib.nullcontext():
            yield

    return lambda: (noted("first"), noted("second"))


def under_the_first_context(m, checkpoint, x, w):
    enters = []
    y = checkpoint(lambda t: enters.append("call") or t * 2, x, use_reentrant=False, context_fn=contexts(enters))
    with m.no_grad():
        checkpoint(lambda t: enters.append("call") or t * 2, x, use_reentrant=False, context_fn=contexts(enters))
    return enters, y.requires_grad


@pytest.mark.parametrize("call", [
    returned_leaves, of_non_leaves, runs_for_a_dict, under_the_first_context,
    lambda m, c, x, w: c(fails, x, use_reentrant=False),
    lambda m, c, x, w: c(fails, x, use_reentrant=False, context_fn=contexts([])),
    lambda m, c, x, w: c(fails, x, use_reentrant=False, context_fn=contexts([], suppresses=True)),
    lambda m, c, x, w: c(fails, x, use_reentrant=True),
    lambda m, c, x, w: c(lambda t: t, x, use_reentrant=False, determinism_check="x"),
    lambda m, c, x, w: c(lambda t: t, x, use_reentrant=False, debug=True, determinism_check="x", context_fn=contexts([])),
    lambda m, c, x, w: c(lambda t: t, x, use_reentrant=True, context_fn=contexts([])),
    lambda m, c, x, w: c(lambda t: t, x, use_reentrant=False, scale=3),
    lambda m, c, x, w: c(lambda t: t * 2, x, use_reentrant=True, determinism_check="x").requires_grad,
    lambda m, c, x, w: m.utils.checkpoint.detach_variable([x]),
    lambda m, c, x, w: [getattr(t, "requires_grad", t) for t in m.utils.checkpoint.detach_variable((x * 2, x.detach(), 3))],
])  # fmt: skip
def test_contexts_and_errors(call):
    both(call)
