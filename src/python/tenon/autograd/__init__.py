"""Derivatives: gradients of what was recorded, functions with a derivative of their own, checks.

https://docs.pytorch.org/docs/stable/autograd.html
"""

import warnings

from .. import _tenon
from .._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._tenon import Tensor
from . import function, functional, grad_mode, graph
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function", "GradcheckError", "Variable", "backward", "detect_anomaly", "enable_grad", "grad", "gradcheck", "gradgradcheck",
    "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip


class _VariableType(type):
    def __instancecheck__(cls, object):
        return isinstance(object, Tensor)


class Variable(metaclass=_VariableType):
    """PyTorch's old name of what records: every tensor. A call gives a tensor over the same memory."""

    def __new__(cls, data, requires_grad=False, volatile=None):
        return data.detach().requires_grad_() if requires_grad else data.detach()


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Adds the gradients of tensors, weighed by grad_tensors, to the grad of every leaf, or of inputs alone.

    grad_variables is the old name of grad_tensors.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _listed(inputs.values() if type(inputs) is dict else inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _listed(tensors)
    _tenon._backward(tensors, _weights(tensors, grad_tensors), retain_graph, create_graph, inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):  # fmt: skip
    """The gradients of outputs with respect to inputs, one an input; no grad attribute changes.

    inputs may be a dict; so is the result then. With is_grads_batched each of grad_outputs holds several weights along a new first
    dim, and the results the gradients for each. only_inputs is ignored.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, "
            "please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    names = list(inputs) if type(inputs) is dict else None
    outputs, inputs = _listed(outputs), _listed(inputs.values() if names else inputs)
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    weights = _weights(outputs, grad_outputs)
    if is_grads_batched:
        found = _batched(outputs, inputs, weights, retain_graph, create_graph, allow_unused, materialize_grads)
    else:
        found = _tenon._grad(outputs, inputs, weights, retain_graph, create_graph, allow_unused, materialize_grads)
    return dict(zip(names, found)) if names else found


def _batched(outputs, inputs, weights, retain_graph, create_graph, allow_unused, materialize_grads):
    """The gradients for each of several weights, stacked."""
    for at, (output, weight) in enumerate(zip(outputs, weights)):
        if weight is not None and weight.shape[1:] != output.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes of the "
                "remaining dimensions are expected to match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{at}] has a shape of torch.Size({list(weight.shape)}) and output[{at}] has a shape of torch.Size({list(output.shape)}). "
                "If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
            )
    count = len(weights[0])
    keeps = create_graph if retain_graph is None else retain_graph
    rows = []
    for at in range(count):
        row = tuple(each[at] for each in weights)
        rows.append(_tenon._grad(outputs, inputs, row, keeps or at + 1 < count, create_graph, allow_unused, False))
    found = (None if parts[0] is None else _tenon.stack(parts) for parts in zip(*rows))
    if materialize_grads:
        found = (_tenon.zeros_like(leaf.detach(), requires_grad=create_graph) if each is None else each for leaf, each in zip(inputs, found))
    return tuple(found)


def _listed(tensors):
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _weights(outputs, given):
    """One weight an output; None where ones will do."""
    if given is None:
        return (None,) * len(outputs)
    given = _listed(given)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    for weight in given:
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(weight).__name__}")
    return given
