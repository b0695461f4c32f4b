"""Functions that keep no intermediate values for backward, with use_reentrant=True: it runs them again.

https://docs.pytorch.org/docs/stable/checkpoint.html
"""

import contextlib
import warnings

from .. import autograd
from .._grad_mode import enable_grad, no_grad
from .._tenon import Tensor, is_grad_enabled
from ..random import fork_rng, get_rng_state, set_rng_state

__all__ = ["CheckpointFunction", "check_backward_validity", "checkpoint", "checkpoint_sequential", "detach_variable", "noop_context_fn"]

_DETERMINISM_CHECKS = ["default", "none"]


def noop_context_fn():
    """Contexts that do nothing, for the first run and for the one in backward."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def check_backward_validity(inputs):
    """Warns if no tensor among inputs requires grad."""
    if not any(isinstance(value, Tensor) and value.requires_grad for value in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def detach_variable(inputs):
    """The inputs, tensors as leaves over the same memory."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value for value in inputs)


@contextlib.contextmanager
def _rng_state(state):
    """The default generator as it was at the first run; none: as it is."""
    with fork_rng(enabled=state is not None):
        if state is not None:
            set_rng_state(state)
        yield


def _with_grad(outputs, grads):
    """Those outputs that require grad, and their gradients."""
    pairs = [(output, grad) for output, grad in zip(outputs, grads) if isinstance(output, Tensor) and output.requires_grad]
    return [output for output, _ in pairs], [grad for _, grad in pairs]


def _listed(outputs):
    return (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)


class CheckpointFunction(autograd.Function):
    """Runs backward inside backward: gradients of tensors that are no arguments are added to their leaves' grad."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.run_function, ctx.args = run_function, [None if isinstance(value, Tensor) else value for value in args]
        ctx.state = get_rng_state() if preserve_rng_state else None
        ctx.places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.save_for_backward(*(args[place] for place in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        args = list(ctx.args)
        for place, tensor in zip(ctx.places, ctx.saved_tensors):
            args[place] = tensor
        args = detach_variable(tuple(args))
        with _rng_state(ctx.state), enable_grad():
            outputs, weights = _with_grad(_listed(ctx.run_function(*args)), grads)
        if not outputs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward(outputs, weights)
        return (None, None) + tuple(value.grad if isinstance(value, Tensor) else None for value in args)


def _refuse(kwargs):
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))


def _forward_context(context_fn, determinism_check, debug):
    """The context of the first run, of which there is none without gradients."""
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in _DETERMINISM_CHECKS:
        raise ValueError(f"determinism_check should be one of {_DETERMINISM_CHECKS}, but got {determinism_check}")
    first, _ = context_fn()
    return first if is_grad_enabled() else contextlib.nullcontext()


def _run_once(function, args, kwargs, context):
    with context:
        return function(*args, **kwargs)
    raise RuntimeError(
        "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
        "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed forward."
    )


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, early_stop=True,
               **kwargs):  # fmt: skip
    """function(*args). With use_reentrant=True backward makes its graph: it runs the function again, with the same random numbers.

    With use_reentrant=False the function runs once and its graph keeps what it saves: everything is exact, but no memory is saved.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint "
            "without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the current default "
            "behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _run_once(function, args, kwargs, _forward_context(context_fn, determinism_check, debug))
    _refuse(kwargs)
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """All functions one after the other, in segments that are checkpoints, except the last one."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. "
            "In version 2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    _refuse(kwargs)
    functions = list(functions)

    def segment(start, end):
        def forward(input):
            for function in functions[start:end]:
                input = function(input)
            return input

        return forward

    size, end = len(functions) // segments, 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(segment(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return segment(end, len(functions))(input)
