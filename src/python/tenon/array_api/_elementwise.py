"""The elementwise functions of the array API."""

import tenon
from tenon import _standard

from ._promotion import computed, is_wide, operands


def _named(function, name):
    function.__name__ = function.__qualname__ = name
    function.__module__ = "tenon.array_api"
    function.__doc__ = f"{name} of the array API."
    return function


def _unary(name):
    own = getattr(_standard, name)

    def function(x, /):
        return own(x)

    return _named(function, name)


def _of_integers(name):
    """A function whose result for an integer is that integer."""
    own = getattr(_standard, name)

    def function(x, /):
        return x.clone() if x.dtype.kind in "iu" else own(x)

    return _named(function, name)


def _wrapping(name):
    own = getattr(_standard, name)

    def function(x, /):
        return computed(own, x)

    return _named(function, name)


def _never(name):
    """A question that has the answer `no` for every integer."""
    own = getattr(_standard, name)

    def function(x, /):
        return tenon.zeros_like(x, dtype=tenon.bool) if is_wide(x.dtype) else own(x)

    return _named(function, name)


def _binary(name, **options):
    own = getattr(_standard, name)

    def function(x1, x2, /):
        return computed(own, *operands(x1, x2), **options)

    return _named(function, name)


for _name in "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10 logical_not reciprocal signbit sin sinh sqrt tan tanh".split():
    globals()[_name] = _unary(_name)
for _name in "ceil floor trunc".split():
    globals()[_name] = _of_integers(_name)
for _name in "isinf isnan".split():
    globals()[_name] = _never(_name)
for _name in "bitwise_invert negative square".split():
    globals()[_name] = _wrapping(_name)
for _name in """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_xor copysign divide hypot logaddexp logical_and logical_or logical_xor
                multiply nextafter pow subtract""".split():
    globals()[_name] = _binary(_name)
for _name in "equal not_equal".split():
    globals()[_name] = _binary(_name, gives_elements=False)
for _name in "greater greater_equal less less_equal".split():
    globals()[_name] = _binary(_name, keeps_order=True, gives_elements=False)
for _name in "maximum minimum".split():
    globals()[_name] = _binary(_name, keeps_order=True)


def abs(x, /):
    return x.clone() if x.dtype.kind == "u" else tenon.abs(x)


def positive(x, /):
    return x.clone()


def isfinite(x, /):
    return tenon.ones_like(x, dtype=tenon.bool) if is_wide(x.dtype) else tenon.isfinite(x)


def conj(x, /):
    return tenon.conj_physical(x) if x.is_complex() else x.clone()


def real(x, /):
    return tenon.real(x) if x.is_complex() else x.clone()


def imag(x, /):
    return tenon.imag(x) if x.is_complex() else tenon.zeros_like(x)


def round(x, /):
    if x.is_complex():
        return tenon.complex(tenon.round(x.real), tenon.round(x.imag))
    return x.clone() if x.dtype.kind in "iu" else tenon.round(x)


def sign(x, /):
    """The sign of a NaN is NaN; PyTorch's is 0."""
    if x.is_complex():
        return tenon.sgn(x)
    if is_wide(x.dtype):
        return not_equal(x, 0).to(x.dtype)  # noqa: F821
    return tenon.where(x != x, x, tenon.sign(x)) if x.is_floating_point() else tenon.sign(x)


def bitwise_right_shift(x1, x2, /):
    x1, x2 = operands(x1, x2)
    if x1.dtype is not tenon.uint64:
        return computed(tenon.bitwise_right_shift, x1, x2)
    bits, count = x1.view(tenon.int64), x2.view(tenon.int64)
    halved = (bits >> 1) & (2**63 - 1)  # without the copies of the sign
    return tenon.where(count == 0, bits, halved >> tenon.clamp(count - 1, min=0)).view(tenon.uint64)


def _divided_unsigned(x1, x2):
    """The quotients and remainders of uint64, by division of half of each number."""
    a, b = x1.view(tenon.int64), x2.view(tenon.int64)
    is_large = b < 0  # 2**63 or more: the quotient is 0 or 1
    divisor = tenon.where(is_large, 1, b)
    quotient = tenon.div((a >> 1) & (2**63 - 1), divisor, rounding_mode="trunc") << 1
    rest = a - quotient * divisor
    quotient = quotient + ((rest ^ -(2**63)) >= (divisor ^ -(2**63)))
    quotient = tenon.where(is_large, (a < 0) & (a >= b), quotient)
    return quotient.view(tenon.uint64), (a - quotient * b).view(tenon.uint64)


def floor_divide(x1, x2, /):
    """Beside infinities PyTorch's quotient is NaN, or rounded from a number that is not there."""
    x1, x2 = operands(x1, x2)
    if x1.dtype is tenon.uint64:
        return _divided_unsigned(x1, x2)[0]
    result = computed(tenon.floor_divide, x1, x2)
    if not x1.is_floating_point():
        return result
    return tenon.where(tenon.isinf(x1) | tenon.isinf(x2), tenon.floor(x1 / x2), result)


def remainder(x1, x2, /):
    """A remainder of 0 has the sign of the divisor."""
    x1, x2 = operands(x1, x2)
    if x1.dtype is tenon.uint64:
        return _divided_unsigned(x1, x2)[1]
    result = computed(tenon.remainder, x1, x2)
    return tenon.where(result == 0, tenon.copysign(result, x2), result) if x1.is_floating_point() else result


def clip(x, /, min=None, max=None):
    """The bounds take the array's dtype."""
    if min is None and max is None:
        return x.clone()
    bounds = [None if bound is None else _bound(bound, x) for bound in (min, max)]
    if not is_wide(x.dtype):
        return tenon.clamp(x, *bounds)
    if bounds[0] is not None:
        x = maximum(x, bounds[0])
    return x if bounds[1] is None else minimum(x, bounds[1])


def _bound(bound, x):
    if isinstance(bound, tenon.Tensor):
        return bound.to(x.dtype)
    if x.dtype.kind in "iu":
        limits = tenon.iinfo(x.dtype)
        bound = limits.min if bound < limits.min else limits.max if bound > limits.max else bound
    return tenon.tensor(bound, dtype=x.dtype)


def where(condition, x1=None, x2=None, /):
    """As scikit-learn calls it, the condition alone gives the places where it is true."""
    if x1 is None and x2 is None:
        return tenon.nonzero(condition, as_tuple=True)
    return computed(lambda a, b: tenon.where(condition, a, b), *operands(x1, x2))


__all__ = [name for name, value in globals().items() if not name.startswith("_") and getattr(value, "__module__", "") in ("tenon.array_api", __name__)]
