"""Derivatives of a function at given inputs.

https://pytorch.org/docs/stable/autograd.html#functional-higher-level-api
"""

import tenon

from .. import Tensor, enable_grad, stack, zeros_like

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(values, what, function):
    is_tuple = isinstance(values, tuple)
    listed = values if is_tuple else (values,)
    for at, value in enumerate(listed):
        if isinstance(value, Tensor):
            continue
        if is_tuple:
            raise TypeError(f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the value at index {at} has type {type(value)}.")
        raise TypeError(f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the given {what} has type {type(value)}.")
    return is_tuple, listed


def _tracked(inputs, create_graph):
    """The inputs, to differentiate by."""
    return tuple(value.view_as(value) if create_graph and value.requires_grad else value.detach().requires_grad_() for value in inputs)


def _called(func, inputs, function):
    is_tuple, outputs = _tuple(func(*inputs), "outputs of the user-provided function", function)
    return is_tuple, outputs


def _grads(outputs, inputs, weights, create_graph, strict, what):
    used = [at for at, output in enumerate(outputs) if output.requires_grad]
    if strict and len(used) < len(outputs):
        at = next(at for at in range(len(outputs)) if at not in used)
        raise RuntimeError(f"Output {at} of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode.")
    found = [None] * len(inputs)
    if used:
        found = tenon.autograd.grad([outputs[at] for at in used], inputs, [weights[at] for at in used], create_graph=create_graph, retain_graph=True, allow_unused=True)
    for at, gradient in enumerate(found):
        if gradient is None and strict:
            raise RuntimeError(f"{what} of the user-provided function is independent of input {at}. This is not allowed in strict mode.")
    return tuple(zeros_like(value) if gradient is None else gradient for gradient, value in zip(found, inputs))


def _finished(results, create_graph):
    return results if create_graph else tuple(value.detach() for value in results)


def _plain(results, is_tuple):
    return results if is_tuple else results[0]


def _weights(v, like, is_tuple, what, function):
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {what} a single Tensor with a single element.")
        return (tenon.ones_like(like[0]),)
    _, v = _tuple(v, "v", function)
    if len(v) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
    for each, value in zip(v, like):
        if each.shape != value.shape:
            raise RuntimeError(f"v has invalid size: should be {value.shape} but got {each.shape}.")
    return v


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Jacobian)."""
    with enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "vjp")
        tracked = _tracked(given, create_graph)
        gives_tuple, outputs = _called(func, tracked, "vjp")
        weights = _weights(v, outputs, gives_tuple, "user-provided function returns", "vjp")
        products = _grads(outputs, tracked, weights, create_graph, strict, "Output 0")
    return _plain(_finished(outputs, create_graph), gives_tuple), _plain(_finished(products, create_graph), is_tuple)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Jacobian times v): by the derivative of vjp with respect to its vector."""
    with enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "jvp")
        weights = _weights(v, given, is_tuple, "input to the user-provided function is", "jvp")
        tracked = _tracked(given, create_graph)
        gives_tuple, outputs = _called(func, tracked, "jvp")
        cotangents = tuple(zeros_like(output).detach().requires_grad_() for output in outputs)
        pulled = _grads(outputs, tracked, cotangents, True, strict, "Output 0")
        products = _grads(pulled, cotangents, weights, create_graph, False, "")
    return _plain(_finished(outputs, create_graph), gives_tuple), _plain(_finished(products, create_graph), gives_tuple)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivatives of every element of the outputs by every element of the inputs: [*sizes of the output, *sizes of the input]."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".')
    with enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", "jacobian")
        tracked = _tracked(given, create_graph)
        gives_tuple, outputs = _called(func, tracked, "jacobian")
        result = []
        for at, output in enumerate(outputs):
            rows = [_grads((element,), tracked, (None,), create_graph, strict, f"Output {at}") for element in output.reshape(-1)]
            columns = zip(*rows) if rows else [()] * len(tracked)
            parts = [stack(column) if column else zeros_like(value).unsqueeze(0)[:0] for column, value in zip(columns, tracked)]
            result.append(tuple(part.reshape(*output.shape, *value.shape) for part, value in zip(parts, tracked)))
    result = [_plain(_finished(row, create_graph), is_tuple) for row in result]
    return tuple(result) if gives_tuple else result[0]


def _check_number(func):
    def checked(*inputs):
        output = func(*inputs)
        if not isinstance(output, Tensor):
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if output.numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        return output.reshape(())

    return checked


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function with one number as result."""
    is_tuple, given = _tuple(inputs, "inputs", "hessian")

    def first(*values):
        return jacobian(_check_number(func), values, create_graph=True)

    rows = jacobian(first, given, create_graph=create_graph, strict=strict)
    return rows if is_tuple else rows[0][0]


def _second(func, inputs, v, create_graph, strict, function):
    """(the value, the Hessian times v): both products are the same, because the Hessian is symmetric."""
    with enable_grad():
        is_tuple, given = _tuple(inputs, "inputs", function)
        weights = _weights(v, given, is_tuple, "input to the user-provided function is", function)
        tracked = _tracked(given, create_graph)
        gives_tuple, outputs = _called(func, tracked, function)
        if gives_tuple or not outputs[0].numel() == 1:
            raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
        first = _grads(outputs, tracked, (None,), True, strict, "Output 0")
        products = _grads(first, tracked, weights, create_graph, strict, "The jacobian")
    return _plain(_finished(outputs, create_graph), False), _plain(_finished(products, create_graph), is_tuple)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Hessian times v)."""
    return _second(func, inputs, v, create_graph, strict, "hvp")


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Hessian)."""
    return _second(func, inputs, v, create_graph, strict, "vhp")
