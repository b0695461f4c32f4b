"""Derivatives: gradients of what was recorded, functions with a derivative of their own, checks.

https://docs.pytorch.org/docs/stable/autograd.html
"""

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


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of tensors, weighed by grad_tensors, to the grad of every leaf, or of inputs alone."""
    if inputs is not None:
        inputs = _listed(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _listed(tensors)
    _tenon._backward(tensors, _weights(tensors, grad_tensors), retain_graph, create_graph, inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):  # fmt: skip
    """The gradients of outputs with respect to inputs, one an input; no grad attribute changes."""
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if is_grads_batched:
        raise NotImplementedError("grad: is_grads_batched is not supported")
    outputs, inputs = _listed(outputs), _listed(inputs)
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    weights = _weights(outputs, grad_outputs)
    return _tenon._grad(outputs, inputs, weights, retain_graph, create_graph, allow_unused, materialize_grads)


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
