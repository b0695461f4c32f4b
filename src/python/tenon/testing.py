"""Assertions for tests."""

import cmath
import sys

import tenon

_NUMBERS = (int, float, complex)
_TOLERANCES = {tenon.float16: (1e-3, 1e-5), tenon.bfloat16: (1.6e-2, 1e-5), tenon.float32: (1.3e-6, 1e-5), tenon.float64: (1e-7, 1e-7)}
_TOLERANCES |= {tenon.complex64: _TOLERANCES[tenon.float32], tenon.complex128: _TOLERANCES[tenon.float64]}


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):  # fmt: skip
    """AssertionError unless both are equal up to tolerances that follow from their dtypes. Sequences and mappings are
    compared element by element. Tolerances and texts are those of torch.testing.assert_close."""
    options = dict(rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype, check_stride=check_stride, check_device=check_device)
    try:
        _compare(actual, expected, options, "")
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def _compare(actual, expected, options, place):
    if isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{_at(place)}")
        for at, (a, b) in enumerate(zip(actual, expected)):
            _compare(a, b, options, f"{place}[{at}]")
    elif isinstance(actual, dict) and isinstance(expected, dict):
        if actual.keys() != expected.keys():
            missing, extra = sorted(expected.keys() - actual.keys()), sorted(actual.keys() - expected.keys())
            raise AssertionError(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: {extra}{_at(place)}"
            )
        for key in actual:
            _compare(actual[key], expected[key], options, f"{place}[{key!r}]")
    elif actual is None or expected is None:
        if actual is not expected:
            raise AssertionError(f"None mismatch: {actual} is not {expected}{_at(place)}")
    elif isinstance(_number(actual), _NUMBERS) and isinstance(_number(expected), _NUMBERS):
        _compare_numbers(_number(actual), _number(expected), options, place)
    else:
        _compare_tensors(*_tensors(actual, expected), options, place)


def _at(place):
    return f"\n\nThe failure occurred for item {place}" if place else ""


def _number(value):
    """Converts NumPy scalars to Python numbers."""
    numpy = sys.modules.get("numpy")
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


def _tensors(actual, expected):
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if not related or not hasattr(actual, "__array__") or not hasattr(expected, "__array__"):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")
    return tenon.as_tensor(actual), tenon.as_tensor(expected)


def _tolerances(options, defaults, place):
    given = options["rtol"], options["atol"]
    if given == (None, None):
        return tuple(map(max, zip(*defaults)))
    if None in given:
        missing = "rtol" if given[0] is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.{_at(place)}")
    return given


def _compare_numbers(actual, expected, options, place):
    """Compares Python numbers, with the tolerances of float64."""
    if isinstance(actual, bool) and isinstance(expected, bool):
        if actual is not expected:
            raise AssertionError(f"Booleans mismatch: {actual} is not {expected}{_at(place)}")
        return
    rtol, atol = _tolerances(options, [(0, 0) if isinstance(number, int) else (1e-7, 1e-7) for number in (actual, expected)], place)
    if options["check_dtype"] and type(actual) is not type(expected):
        raise AssertionError(f"The (d)types do not match: {type(actual)} != {type(expected)}.{_at(place)}")
    difference = abs(actual - expected)
    close = cmath.isfinite(difference) and difference <= atol + rtol * abs(expected)
    both_nan = options["equal_nan"] and cmath.isnan(actual) and cmath.isnan(expected)
    if actual == expected or close or both_nan:
        return
    exact = rtol == 0 and atol == 0
    relative = difference / abs(expected) if expected != 0 else float("inf")
    text = f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {expected} but got {actual}.\n"
    for name, value, allowed in (("Absolute", difference, atol), ("Relative", relative, rtol)):
        text += f"{name} difference: {value}{'' if exact else f' (up to {allowed} allowed)'}\n"
    raise AssertionError(text.rstrip("\n") + _at(place))


def _compare_tensors(actual, expected, options, place):
    def fail(text):
        raise AssertionError(text + _at(place))

    rtol, atol = _tolerances(options, [_TOLERANCES.get(tensor.dtype, (0.0, 0.0)) for tensor in (actual, expected)], place)
    if actual.shape != expected.shape:
        fail(f"The values for attribute 'shape' do not match: {tuple_text(actual.shape)} != {tuple_text(expected.shape)}.")
    if options["check_stride"] and actual.stride() != expected.stride():
        fail(f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}.")
    if options["check_device"] and actual.device != expected.device:
        fail(f"The values for attribute 'device' do not match: {actual.device} != {expected.device}.")
    if options["check_dtype"] and actual.dtype is not expected.dtype:
        fail(f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}.")
    if actual.is_meta or expected.is_meta:
        return
    common = tenon.promote_types(actual.dtype, expected.dtype)
    a, b = actual.to(common), expected.to(common)
    matches = tenon.isclose(a, b, rtol=rtol, atol=atol, equal_nan=options["equal_nan"])
    if not matches.all():
        fail(_report(a, b, ~matches, rtol, atol))


def tuple_text(size):
    return f"torch.Size({list(size)})"


def _report(a, b, wrong, rtol, atol):
    exact = rtol == 0 and atol == 0
    text = f"{'Scalars' if a.dim() == 0 else 'Tensor-likes'} are not {'equal' if exact else 'close'}!\n\n"
    if a.dim() == 0:
        text += f"Expected {b.item()} but got {a.item()}.\n"
    else:
        count, total = int(wrong.sum()), wrong.numel()
        text += f"Mismatched elements: {count} / {total} ({count / total:.1%})\n"
    a, b = (tensor if tensor.is_floating_point() or tensor.is_complex() else tensor.to(tenon.int64) for tensor in (a, b))
    difference = tenon.where(wrong, (a - b).abs(), 0)
    relative = tenon.where(wrong, difference / b.abs(), 0)
    for name, values, allowed in (("absolute", difference, atol), ("relative", relative, rtol)):
        largest = values.amax()
        limit = "" if exact else f" (up to {allowed} allowed)"
        if a.dim() == 0:
            text += f"{name.capitalize()} difference: {largest.item()}{limit}\n"
        else:
            is_largest = values != values if largest != largest else values == largest
            where = [place[0].item() for place in tenon.where(is_largest)]
            text += f"Greatest {name} difference: {largest.item()} at index {tuple(where)}{limit}\n"
    return text.rstrip("\n")
