"""Gradients of many parameters, limited together; parameters as one vector.

https://pytorch.org/docs/stable/nn.html#utilities
"""

import types
import warnings

from ... import Tensor, cat, no_grad
from ..._tenon import _nn
from . import rnn

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector", "rnn", "vector_to_parameters"]


def _listed(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


@no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all elements of all tensors: a 0-dim tensor. `foreach` changes nothing."""
    norm_type = float(norm_type)
    total = _nn._total_norm(_listed(tensors), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this "
                           "error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`")  # fmt: skip
    return total


@no_grad()
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients by max_norm / total_norm if that is below 1."""
    _nn._clip_grads_with_norm_(_listed(parameters), float(max_norm), total_norm)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients so that their total norm is at most `max_norm`. Returns the norm before: a 0-dim tensor."""
    is_generator = isinstance(parameters, types.GeneratorType)
    parameters = _listed(parameters)
    if is_generator and not parameters:
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm([parameter.grad for parameter in parameters if parameter.grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits every element of the gradients to [-clip_value, clip_value]."""
    clip_value = float(clip_value)
    for parameter in _listed(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(min=-clip_value, max=clip_value)


def parameters_to_vector(parameters):
    """All elements of all parameters, one behind the other: [numel]."""
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec, parameters):
    """Gives the parameters the elements of a vector, as parameters_to_vector orders them."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec)}")
    begin = 0
    for parameter in parameters:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].view_as(parameter).data
        begin = end


def __getattr__(name):
    from ... import _missing

    _missing.refuse("nn.utils", name)
