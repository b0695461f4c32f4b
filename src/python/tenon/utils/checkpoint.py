"""Functions that keep no intermediate values for backward: it runs them again.

https://docs.pytorch.org/docs/stable/checkpoint.html
"""

import contextlib
import warnings

from .. import _tenon, autograd
from .._grad_mode import enable_grad, no_grad
from .._tenon import Tensor
from ..random import fork_rng, get_rng_state, set_rng_state

__all__ = ["CheckpointFunction", "check_backward_validity", "checkpoint", "checkpoint_sequential", "detach_variable", "noop_context_fn"]


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
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type:  {type(inputs).__name__}")
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


class _Again(autograd.Function):
    """Outputs that were computed already. Backward runs the function again, for the gradients of all its leaves."""

    @staticmethod
    def forward(ctx, run, outputs, *inputs):
        ctx.run = run
        ctx.save_for_backward(*inputs)
        results = tuple(output.detach() for output in outputs)
        ctx.mark_non_differentiable(*(result for result, output in zip(results, outputs) if not output.requires_grad))
        return results

    @staticmethod
    def backward(ctx, *grads):
        # The graph of tensors outside the function belongs to the caller: it is kept.
        options = {"retain_graph": True, "create_graph": _tenon.is_grad_enabled(), "allow_unused": True}
        own, leaves, outputs, weights = ctx.run(ctx.saved_tensors, grads, options["create_graph"])
        found = list(autograd.grad(outputs, [*own, *leaves], weights, **options))
        used = [at for at in range(len(own)) if found[at] is not None]
        if options["create_graph"] and leaves and used:  # a leaf's gradient without what came by the arguments
            twice = autograd.grad([own[at] for at in used], leaves, [found[at] for at in used], **options)
            for at, grad in enumerate(twice, len(own)):
                found[at] = found[at] if grad is None else found[at] - grad
        return (None, None, *found)


def _leaves(outputs, known):
    """The leaves from which outputs were computed, except the known ones."""
    found, seen, nodes = [], set(), [output.grad_fn for output in outputs if output.grad_fn is not None]
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        nodes += [edge for edge, _ in node.next_functions if edge is not None]
        leaf = getattr(node, "variable", None)
        if leaf is not None and not any(leaf is other for other in known):
            found.append(leaf)
    return found


def _run_again(function, args, kwargs, context_fn, preserve_rng_state):
    """What the function gives, without its graph."""
    first, again = context_fn()
    if not _tenon.is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    state = get_rng_state() if preserve_rng_state else None
    values = [*args, *kwargs.values()]
    places = [place for place, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]

    def call(tensors):
        all = list(values)
        for place, tensor in zip(places, tensors):
            all[place] = tensor
        return function(*all[: len(args)], **dict(zip(kwargs, all[len(args) :])))

    own = [values[place].detach().requires_grad_() for place in places]
    with first:
        result = call(own)
    if not isinstance(result, Tensor) and not (isinstance(result, (tuple, list)) and all(isinstance(output, Tensor) for output in result)):
        return function(*args, **kwargs)  # of another kind of result the graph stays

    def run(tensors, grads, creates):
        with _rng_state(state), enable_grad(), again:
            own = [tensor.view_as(tensor) if creates else tensor.detach().requires_grad_() for tensor in tensors[: len(places)]]
            outputs = _listed(call(own))
        return own, tensors[len(places) :], *_with_grad(outputs, grads)

    outputs = _listed(result)
    if not any(output.requires_grad for output in outputs):
        return result
    inputs = [values[place] for place in places] + _leaves(outputs, own)
    outputs = _Again.apply(run, outputs, *inputs)
    return outputs[0] if isinstance(result, Tensor) else type(result)(outputs)


def _refuse(kwargs):
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, early_stop=True,
               **kwargs):  # fmt: skip
    """function(*args), whose graph is made by backward: it runs the function again, with the random numbers of the first run."""
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
        return _run_again(function, args, kwargs, context_fn, preserve)
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
