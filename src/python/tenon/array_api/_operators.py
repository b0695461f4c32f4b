"""Operators of tensors by the rules of the array API."""

import contextlib
import functools

from tenon import Tensor, _tenon

from . import _elementwise

_FUNCTIONS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "floor_divide": "floor_divide", "remainder": "remainder", "pow": "pow",
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "bitwise_left_shift": "bitwise_left_shift",
    "bitwise_right_shift": "bitwise_right_shift", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
_is_on = False


def _is_operand(value):
    return isinstance(value, (Tensor, bool, int, float, complex)) or hasattr(value, "__array_interface__")


def _operator(function):
    def of(a, b):
        return function(a, b) if _is_operand(a) and _is_operand(b) else NotImplemented

    return of


def _inplace(function):
    def into(self, other):
        if not _is_operand(other):
            return NotImplemented
        result = function(self, other)
        if result.dtype is not self.dtype:
            raise TypeError(f"an operator in place gives {result.dtype}, which is not the dtype of the array, {self.dtype}")
        return self.copy_(result)

    return into


def _matmul(a, b):
    from . import linalg

    return linalg.matmul(a, b) if isinstance(a, Tensor) and isinstance(b, Tensor) else NotImplemented


@functools.cache
def _pairs():
    pairs = {op: (_operator(function), _inplace(function)) for op, function in ((op, getattr(_elementwise, name)) for op, name in _FUNCTIONS.items())}
    one = {"neg": _elementwise.negative, "abs": _elementwise.abs, "bitwise_not": _elementwise.bitwise_invert}
    return {**pairs, **{op: (function, None) for op, function in one.items()}, "matmul": (_matmul, None)}


def set_standard_operators(on, /):
    """Lets the operators of all tensors of the process compute by the array API's rules, or by PyTorch's again, and slices go back.

    PyTorch's differ where an operand has no dims, which then does not promote the other one; in uint16, uint32 and uint64, for which
    it has few ops; and in a few results for infinities, NaN and signed zeros.
    """
    global _is_on
    _tenon._choose_operators(_pairs() if on else {})
    _tenon._use_backward_slices(bool(on) - _is_on)
    _is_on = bool(on)


@contextlib.contextmanager
def standard_operators(on=True):
    """set_standard_operators for a block."""
    before = _is_on
    set_standard_operators(on)
    try:
        yield
    finally:
        set_standard_operators(before)
