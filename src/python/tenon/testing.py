"""Assertions for tests."""

import cmath
import math
import sys
import warnings

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


_OLD_TOLERANCES = {tenon.float16: (1e-3, 1e-3), tenon.float32: (1e-4, 1e-5), tenon.float64: (1e-5, 1e-8)}


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """assert_close with larger tolerances and of any dtypes. Deprecated in PyTorch."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use "
        "`torch.testing.assert_close()` instead. You can find detailed upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    actual = actual if isinstance(actual, tenon.Tensor) else tenon.tensor(actual)
    expected = expected if isinstance(expected, tenon.Tensor) else tenon.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = map(max, zip(*(_OLD_TOLERANCES.get(tensor.dtype, (0.0, 0.0)) for tensor in (actual, expected))))
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


# --- make_tensor


def _interval(dtype, low, high):
    """The ends of the numbers to draw, which the dtype can hold; the upper one is not drawn."""
    is_inexact = dtype.is_floating_point or dtype.is_complex
    if is_inexact:
        least, limit, default = tenon.finfo(dtype).min, tenon.finfo(dtype).max, (-9, 9)
    elif dtype is tenon.bool:
        least, limit, default = 0, 2, (0, 2)
    else:
        least, limit, default = tenon.iinfo(dtype).min, tenon.iinfo(dtype).max + (dtype is not tenon.int64), (-9, 10)
    low, high = (default[at] if given is None else given for at, given in enumerate((low, high)))
    if any(isinstance(end, float) and math.isnan(end) for end in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and is_inexact:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 and will be removed in "
            "2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= limit:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but torch.{str(dtype).removeprefix('tenon.')} only supports [{least}, {limit})")
    low, high = (min(max(end, least), limit) for end in (low, high))
    return (low, high) if is_inexact else (math.ceil(low), math.ceil(high))


def _draw_uniform(tensor, low, high):
    if high - low >= tenon.finfo(tensor.dtype).max:
        tensor.uniform_(low / 2, high / 2).mul_(2)
    else:
        tensor.uniform_(low, high)


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False, memory_format=None):
    """A tensor of random numbers from low up to high: from -9 on where they are not given."""
    if len(shape) == 1 and isinstance(shape[0], (list, tuple, tenon.Size)):
        shape = shape[0]
    shape = tuple(shape)
    is_inexact = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and {memory_format=}")
    if requires_grad and not is_inexact:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype=torch.{str(dtype).removeprefix('tenon.')}")
    noncontiguous = noncontiguous and math.prod(shape) > 1
    if noncontiguous:
        shape = (*shape[:-1], 2 * shape[-1])
    low, high = _interval(dtype, low, high)
    if is_inexact:
        result = tenon.empty(shape, device=device, dtype=dtype)
        _draw_uniform(tenon.view_as_real(result) if dtype.is_complex else result, low, high)
    else:
        result = tenon.randint(low, high, shape, device=device, dtype=dtype)
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = tenon.finfo(dtype).tiny if is_inexact else 1
    return result.requires_grad_(requires_grad) if is_inexact else result


# --- Comparisons


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
