"""Gradients against finite differences."""

from .. import _tenon
from .._tenon import Tensor


class GradcheckError(RuntimeError):
    """The numerical and the analytical Jacobian differ; the text shows both."""


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """Whether the gradients of func at inputs are those that finite differences give. The tensors that require grad are
    of float64."""
    return _checked(_tenon._gradcheck, func, inputs, (eps, atol, rtol), raise_exception)


def gradgradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """The same for the gradients of the gradients, weighed by numbers that are in no simple ratio."""
    return _checked(_tenon._gradgradcheck, func, inputs, (eps, atol, rtol), raise_exception)


def _checked(check, function, inputs, tolerances, raise_exception):
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        return check(function, inputs, *tolerances)
    except GradcheckError:
        if raise_exception:
            raise
        return False
