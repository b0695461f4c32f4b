"""Hostile objects as arguments of every function and method, and as results of hooks and custom functions: each call gives
a result or an ordinary exception."""

import pytest
import sweeps
import tenon

EVERY_FUNCTION = """
import hostile
import sweeps
import tenon
from hostile import attempt, deep, good, objects, reset
for name, function in {**sweeps.functions(), **sweeps.internal_functions()}.items():
    if name in sweeps.SKIPPED:
        continue
    for at, value in enumerate(objects):
        for call in (lambda: function(value), lambda: function(good, value), lambda: function(value, good), lambda: function(value, value), lambda: function(good, good, value),
                     lambda: function([value]), lambda: function([2, value]), lambda: function((3, 4), value), lambda: function(good, dim=value), lambda: function(good, good, out=value),
                     lambda: function(2, dtype=value), lambda: function(2, device=value)):
            attempt(f"{name} {at}", call)
    reset()
assert hostile.calls > 50_000, hostile.calls
"""

EVERY_METHOD = """
import hostile
import sweeps
import tenon
from hostile import attempt, deep, good, objects, reset
for name in sweeps.methods():
    for at, value in enumerate(objects):
        for arguments in ((value,), (0, value), (value, 0), (value, value), ([value],), ([1, value],), (good, value)):
            if value is deep and name in ("__array_function__", "__array_ufunc__"):
                continue
            attempt(f"{name} {at}", lambda: getattr(tenon.ones(3, 4), name)(*arguments))
    reset()
for name in sweeps.attributes():
    for value in objects:
        attempt(name, lambda: setattr(tenon.ones(3, 4), name, value))
assert hostile.calls > 50_000, hostile.calls
"""


@pytest.mark.parametrize("program", [EVERY_FUNCTION, EVERY_METHOD], ids=["functions", "methods"])
def test_hostile_arguments(tmp_path, program):
    """No function of the module crashes, hangs or raises SystemError."""
    assert sweeps.run_apart(program, folder=tmp_path) == ""


def test_hostile_hooks_and_functions():
    values = [None, 1, "x", (), [], (None,), (None, None), tenon.ones(5), tenon.ones(2, dtype=tenon.int64), tenon.ones(2, device="meta"), object()]

    class ReturnsValue(tenon.autograd.Function):
        forward_result = backward_result = None

        @staticmethod
        def forward(ctx, x):
            return ReturnsValue.forward_result

        @staticmethod
        def backward(ctx, grad):
            return ReturnsValue.backward_result

    class SavesValue(tenon.autograd.Function):
        kept = None

        @staticmethod
        def forward(ctx, x):
            ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = SavesValue.kept
            return x * 1

    for value in values:
        for use in ("hook", "forward", "backward", "kept", "node", "prehook", "leaf"):
            leaf = tenon.ones(2, requires_grad=True)
            try:
                if use == "hook":
                    (leaf * 2).register_hook(lambda grad: value)
                if use in ("forward", "backward"):
                    ReturnsValue.forward_result = value if use == "forward" else leaf * 2
                    ReturnsValue.backward_result = value
                    ReturnsValue.apply(leaf).sum().backward()
                if use == "kept":
                    SavesValue.kept = value
                    SavesValue.apply(leaf).sum().backward()
                if use in ("node", "prehook"):
                    result = leaf * 2
                    register = result.grad_fn.register_hook if use == "node" else result.grad_fn.register_prehook
                    register(lambda *grads: value)
                    result.sum().backward()
                if use == "leaf":
                    leaf.register_post_accumulate_grad_hook(lambda tensor: value)
                    (leaf * 2).sum().backward()
            except (RuntimeError, TypeError, ValueError, AttributeError):
                pass


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_lists_nested_deeper_than_the_stack():
    deep = 1
    for _ in range(100_000):
        deep = [deep]
    for call in (tenon.tensor, tenon.as_tensor, tenon.ones(2).new_tensor, lambda value: tenon.ones(2)[value], lambda value: tenon.tensor(value, dtype=tenon.int8)):
        with pytest.raises((ValueError, IndexError, TypeError)):
            call(deep)


def test_strings_that_are_not_utf8():
    with pytest.raises(RuntimeError, match="error unpacking string as utf-8"):
        tenon.ones(2, device="\ud800")
    with pytest.raises(UnicodeEncodeError):
        type("\ud800", (tenon.Tensor,), {})


def test_negative_sizes_have_no_length():
    tensor = tenon.ones(1).expand(-4, 0)  # PyTorch accepts this, too
    for call in (len, list, tenon.Tensor.tolist, memoryview):
        with pytest.raises((ValueError, BufferError)):
            call(tensor)
