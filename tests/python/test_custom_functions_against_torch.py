"""Custom functions that return inputs, views or non-differentiable results, compared with PyTorch."""

import pytest

pytest.importorskip("torch")

from judge import same


def functions(m):
    """The custom functions of one library, by name."""

    class Identity(m.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, g: g)

    class Swapped(m.autograd.Function):
        forward = staticmethod(lambda ctx, x, y: (y, x))
        backward = staticmethod(lambda ctx, a, b: (b, a))

    class Viewed(m.autograd.Function):
        forward = staticmethod(lambda ctx, x: x.view(-1))
        backward = staticmethod(lambda ctx, g: g)

    class Parts(m.autograd.Function):
        forward = staticmethod(lambda ctx, x: (x[:1], x[1:]))
        backward = staticmethod(lambda ctx, a, b: a.expand(2))

    class Constant(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_non_differentiable(x)
            return x, y * 2

        backward = staticmethod(lambda ctx, a, b: (None, b * 2))

    class WrittenConstant(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable(x)
            return x.mul_(2)

        backward = staticmethod(lambda ctx, g: g * 2)

    class Doubled(m.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g.mul_(2))

    class Flattened(m.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g.view(-1).view(g.shape) * 2)

    return locals()


def leaf(m):
    return m.ones(2, requires_grad=True)


APPLIED = {
    "identity": lambda m, f, v: f["Identity"].apply(v),
    "viewed": lambda m, f, v: f["Viewed"].apply(v),
    "parts": lambda m, f, v: f["Parts"].apply(v)[0],
    "swapped": lambda m, f, v: f["Swapped"].apply(leaf(m) * 1, v)[0],
    "constant": lambda m, f, v: f["Constant"].apply(v, leaf(m))[0],
    "written constant": lambda m, f, v: f["WrittenConstant"].apply(v),
}
GIVEN = {"leaf": lambda x: x, "computed": lambda x: x * 1, "view": lambda x: (x * 1)[:2]}
AFTER = {
    "nothing": lambda v, w: None,
    "result written": lambda v, w: w.mul_(5),
    "input written": lambda v, w: v.mul_(5),
    "view of result written": lambda v, w: w[:1].mul_(5),
}


@pytest.mark.parametrize("applied", APPLIED.values(), ids=APPLIED)
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("after", AFTER.values(), ids=AFTER)
def test_returned_inputs(applied, given, after):
    def program(m):
        x = leaf(m)
        v = given(x)
        w = applied(m, functions(m), v)
        seen = w is v, w._is_view(), w.requires_grad, w.is_leaf, w.grad_fn and w.grad_fn.name()
        after(v, w)
        w.sum().backward()
        return seen, x.grad, v.detach(), w.detach()

    same(program)


@pytest.mark.parametrize("name", ["Identity", "Viewed", "Parts"])
def test_without_a_graph(name):
    def program(m):
        x, constant = leaf(m), m.ones(2)
        with m.no_grad():
            inside = functions(m)[name].apply(x)
        outside = functions(m)[name].apply(constant)
        return [(w is x or w is constant, w.requires_grad) for w in (inside, outside)]

    same(program)


@pytest.mark.parametrize("name", ["Doubled", "Flattened"])
def test_backward_may_write_to_its_gradient(name):
    def program(m):
        x = m.ones(3, 2, requires_grad=True)
        (functions(m)[name].apply(x) * m.arange(2.0)).mean().backward()
        return x.grad

    same(program)


HOOKS = [lambda g: g.clamp_(-0.1, 0.1), lambda g: g.mul_(2), lambda g: g.view(-1)[:].view(g.shape) * 2]


@pytest.mark.parametrize("hook", HOOKS)
def test_hooks_may_write_to_their_gradient(hook):
    def program(m):
        x, w, b = m.ones(4, 3), m.ones(3, 2, requires_grad=True), m.zeros(2, requires_grad=True)
        b.register_hook(hook)
        y = x @ w + b
        y.register_hook(hook)
        y.mean().backward()
        return w.grad, b.grad

    same(program)


def test_a_hook_that_enters_a_mode():
    def program(m):
        y = m.ones(2, requires_grad=True) * 2
        y.register_hook(lambda g: m.inference_mode().__enter__() and None)
        y.sum().backward()
        return m.is_inference_mode_enabled(), m.is_grad_enabled()

    same(program)


CHANGES = [lambda v: v.unsqueeze_(2), lambda v: v.mul_(2), lambda v: v.transpose_(0, 2), lambda v: v.squeeze_()]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("again", [lambda m, v: v.sum().backward(), lambda m, v: m.autograd.grad((v * 2).sum(), [v])])
def test_retain_grad_of_a_tensor_changed_in_place(change, again):
    def program(m):
        v = m.full((1, 2, 3), 1.0, requires_grad=True) * 2
        v.retain_grad()
        v.sum().backward(retain_graph=True)
        change(v)
        again(m, v)
        return v.grad, v.retains_grad

    same(program)
