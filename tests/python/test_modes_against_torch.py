"""Inference mode and grad mode, compared with PyTorch."""

import pytest

pytest.importorskip("torch")

from judge import same


def both_modes(m):
    """In inference mode nothing is recorded, also inside enable_grad."""
    x = m.ones(3, requires_grad=True)
    with m.inference_mode(), m.enable_grad():
        y = x * 2
        state = (m.is_grad_enabled(), m.is_inference_mode_enabled())
        return y, y.requires_grad, y.is_inference(), y.exp(), x.add_(1), x._version, state


def leaves_made_inside(m):
    with m.inference_mode(), m.enable_grad():
        q = m.ones(2, requires_grad=True)
        return q.requires_grad, (q * 2).requires_grad, m.ones(2).requires_grad_().is_leaf


def backward_inside(m):
    x = m.ones(3, requires_grad=True)
    y = (x * x).sum()
    with m.inference_mode():
        y.backward()
    return x.grad, x.grad.is_inference(), x.grad.requires_grad


def grad_inside(m, **options):
    x = m.ones(3, requires_grad=True)
    y = (x * x).sum()
    with m.inference_mode():
        (gradient,) = m.autograd.grad(y, x, **options)
    return gradient, gradient.is_inference(), gradient.requires_grad


def views_inside(m):
    x = m.ones(3, requires_grad=True)
    with m.inference_mode(), m.enable_grad():
        view = x[1:]
        view.mul_(2)
        return x.detach(), view.detach(), view.requires_grad, view.is_inference(), view._is_view()


def resized_outside(m, *sizes):
    with m.inference_mode():
        made = m.ones(3)
    return made.resize_(*sizes).shape


def resized_inside(m):
    with m.inference_mode():
        made = m.ones(3)
    with m.inference_mode():
        return tuple(made.resize_(5).shape)


def inference_mode_off_inside(m):
    with m.inference_mode(), m.inference_mode(False):
        y = m.ones(3, requires_grad=True) * 2
        return y.requires_grad, m.is_grad_enabled(), y.is_inference()


def modes_after(m):
    seen = []
    with m.no_grad():
        with m.inference_mode():
            with m.enable_grad():
                pass
            seen.append((m.is_grad_enabled(), m.is_inference_mode_enabled()))
            with m.inference_mode(False):
                seen.append((m.is_grad_enabled(), m.is_inference_mode_enabled()))
        seen.append((m.is_grad_enabled(), m.is_inference_mode_enabled()))
    return tuple(seen)


CALLS = [
    both_modes, leaves_made_inside, backward_inside, grad_inside, views_inside, resized_inside, inference_mode_off_inside, modes_after,
    lambda m: grad_inside(m, create_graph=True),
    lambda m: resized_outside(m, 5),
    lambda m: resized_outside(m, 3),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_modes(call):
    same(call)


def results_that_are_not_tensors(m):
    seen = []

    class Mixed(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, 5, None, "a", x * 3

        @staticmethod
        def backward(ctx, *gradients):
            seen.extend(gradient if gradient is None else gradient.detach().clone() for gradient in gradients)
            return gradients[0] + gradients[-1]

    x = m.ones(2, requires_grad=True)
    first, *others, last = Mixed.apply(x)
    (first + last).sum().backward()
    return seen, others, x.grad


def test_backward_gets_none_for_results_that_are_not_tensors():
    same(results_that_are_not_tensors)
