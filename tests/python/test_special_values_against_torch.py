"""All pairs of special values (zeros, subnormals, extremes, infinities, NaN) in every elementwise op of two operands: of long and of
short vectors, beside a row and beside numbers, which run through loops of their own. Signs of zeros count."""

import math

import pytest

torch = pytest.importorskip("torch")

import tenon

import declared
from test_against_torch import function

DTYPES = [torch.float32, torch.float64]
SHORT = 3


def operands_of(op):
    return [parameter for parameter in op.operands if parameter.fallback is None]


BINARY = sorted({op.name: op for op in declared.OPS if op.kind == "map" and not op.is_loss and len(operands_of(op)) == 2}.items())


def special_values(dtype):
    """From 0 up to infinity, with both signs, and NaN. 2^24 + 2 or 2^53 + 2 is followed by a number that is not its neighbour."""
    info = torch.finfo(dtype)
    sizes = [0.0, info.smallest_normal * info.eps, info.smallest_normal / 2, info.smallest_normal, info.eps, 0.5, 1.0, 1 + info.eps, 1.5, 2.0, 3.0, 88.5, 2 / info.eps + 2, info.max / 2, info.max, math.inf]
    return torch.tensor([sign * size for size in sizes for sign in (1, -1)] + [math.nan], dtype=dtype)


def called(m, op, *operands):
    """The op's result, or the error's type and text."""
    given = iter(operands)
    arguments = [next(given) if parameter in op.operands else parameter.sample() for parameter in op.parameters if parameter.fallback is None]
    try:
        return function(m, op.name)(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)


def same(op, *operands, ulps):
    wanted = called(torch, op, *operands)
    got = called(tenon, op, *[tenon.from_dlpack(x) if isinstance(x, torch.Tensor) else x for x in operands])
    if isinstance(wanted, tuple):
        assert got == wanted
        return
    assert not isinstance(got, tuple), got
    got = torch.from_dlpack(got)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    is_same = (got == wanted) & (got.signbit() == wanted.signbit()) | got.isnan() & wanted.isnan()
    if wanted.dtype.is_floating_point and ulps:
        info = torch.finfo(wanted.dtype)
        error, limit = (got - wanted).abs(), ulps * (info.eps * wanted.abs() + info.smallest_normal * info.eps)
        is_same |= (error <= limit) & (wanted != 0) & (got != 0)
    if not is_same.all():
        at = int((~is_same).to(torch.int8).argmax())
        given = [x.expand(wanted.shape).flatten()[at].item() if isinstance(x, torch.Tensor) else x for x in operands]
        raise AssertionError(f"{op.name}{tuple(given)}: {got.flatten()[at]} instead of {wanted.flatten()[at]}; {int((~is_same).sum())} differ")


def ulps_of(op):
    return 0 if op.exact else 4


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", [op for _, op in BINARY], ids=lambda op: op.name)
def test_pairs(op, dtype):
    values = special_values(dtype)
    count = len(values)
    left, right = values.repeat_interleave(count), values.repeat(count)
    same(op, left, right, ulps=ulps_of(op))
    same(op, values[:, None], values, ulps=ulps_of(op))
    for begin in range(0, count * count, SHORT):
        same(op, left[begin : begin + SHORT], right[begin : begin + SHORT], ulps=ulps_of(op))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", [op for _, op in BINARY if operands_of(op)[1].takes_numbers], ids=lambda op: op.name)
def test_beside_numbers(op, dtype):
    values = special_values(dtype)
    for number in values.tolist():
        same(op, values, number, ulps=ulps_of(op))
        same(op, values[:SHORT], number, ulps=ulps_of(op))
        if operands_of(op)[0].takes_numbers:
            same(op, number, values, ulps=ulps_of(op))
