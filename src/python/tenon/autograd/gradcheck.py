"""Gradients against finite differences."""

from .. import _tenon
from .._grad_mode import enable_grad
from .._tenon import Tensor


class GradcheckError(RuntimeError):
    """The numerical and the analytical Jacobian differ; the text shows both."""


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
              check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False, masked=None):  # fmt: skip
    """Whether the gradients of func at inputs are those that finite differences give. The tensors that require grad are
    of float64.

    The arguments from nondet_tol on are accepted for PyTorch's sake: every element is always compared, backwards.
    """
    _check_mode(check_forward_ad or check_batched_forward_grad)
    return _checked(_tenon._gradcheck, func, inputs, (eps, atol, rtol), raise_exception)


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False, raise_exception=True,
                  nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False,
                  check_rev_over_rev=True, fast_mode=False, masked=False):  # fmt: skip
    """The same for the gradients of the gradients, weighed by grad_outputs, or by numbers that are in no simple ratio."""
    _check_mode(check_fwd_over_rev)
    if grad_outputs is None:
        return _checked(_tenon._gradgradcheck, func, inputs, (eps, atol, rtol), raise_exception)
    inputs, weights = _listed(inputs), _listed(grad_outputs)
    differentiable = [isinstance(value, Tensor) and value.requires_grad for value in inputs]

    def gradients(*arguments):
        with enable_grad():  # finite differences call it with tensors that require no grad
            given = [x.detach().requires_grad_() if is_leaf and not x.requires_grad else x for x, is_leaf in zip(arguments, differentiable)]
            outputs = tuple(output for output in _listed(func(*given)) if isinstance(output, Tensor) and output.requires_grad)
            leaves = tuple(x for x, is_leaf in zip(given, differentiable) if is_leaf)
            return _tenon._grad(outputs, leaves, arguments[len(inputs) :], True, True, True, True)

    return _checked(_tenon._gradcheck, gradients, (*inputs, *weights), (eps, atol, rtol), raise_exception)


def _check_mode(is_forward):
    if is_forward:
        raise NotImplementedError("gradcheck: forward mode is not in Tenon")


def _listed(values):
    return (values,) if isinstance(values, Tensor) else tuple(values)


def _checked(check, function, inputs, tolerances, raise_exception):
    try:
        return check(function, _listed(inputs), *tolerances)
    except GradcheckError:
        if raise_exception:
            raise
        return False
