"""complex64 and complex128 compared with PyTorch: arithmetic, gradients, views of parts, printing, exchange."""

import math
import pickle
import random
import warnings

import pytest

pytest.importorskip("torch")

import numpy as np
import tenon
import torch

from judge import same

DTYPES = ("complex64", "complex128")
VALUES = [1 + 2j, 2 - 1j, 3, -0.5 - 4j]
OTHERS = [2j, 1, -3, 0.5 + 0.25j]


def text_of(m, value):
    return repr(value).replace("tenon.", "torch.").replace("<torch.", "<")


def same_text(name, call):
    """Compares the result's repr for a call with two tensors of the dtype `name`."""
    return same(lambda m: text_of(m, call(m, getattr(m, name), m.tensor(VALUES, dtype=getattr(m, name)), m.tensor(OTHERS, dtype=getattr(m, name)))))


# Each takes the module, the dtype and two tensors: x holds VALUES, y holds OTHERS.
ARITHMETIC = [
    *[lambda m, d, x, y, n=n: (lambda r: getattr(m, n)(r) is r)(m.ones(2)) for n in ("conj_physical", "conj", "real")], lambda m, d, x, y: m.tensor(0).mH,
    *[lambda m, d, x, y, n=n: getattr(m, n)(x) for n in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "exp2", "expm1", "log1p", "log2", "log10", "sgn", "angle",
                                                        "prod", "count_nonzero", "erf", "erfc", "argmax", "argmin")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(x.view(2, 2), 1) for n in ("prod", "var", "std", "logsumexp", "cumsum", "count_nonzero", "cummax", "argmin")],
    *[lambda m, d, x, y, p=p: m.linalg.vector_norm(x.view(2, 2), p, dim=1) for p in (0, 1, 2, 3.5, float("inf"), float("-inf"), 1j)],
    *[lambda m, d, x, y, n=n: getattr(m, n)(x, y) for n in ("dot", "vdot", "inner", "outer", "atan2", "hypot")], lambda m, d, x, y: m.vdot(x, y.real), lambda m, d, x, y: x.view(2, 2) @ y[:2],
    lambda m, d, x, y: m.bmm(x.view(1, 2, 2), y.view(1, 2, 2)), lambda m, d, x, y: m.addmm(x[:2], x.view(2, 2), y.view(2, 2), beta=2j, alpha=1 - 1j), lambda m, d, x, y: m.addmm(m.ones(1), m.ones(1, 1), m.ones(1, 1), beta=1j),
    *[lambda m, d, x, y, n=n: getattr(m, n)(x.view(2, 2)) for n in ("nansum", "nanmean", "aminmax", "max", "min", "var_mean", "std_mean", "norm")], *[lambda m, d, x, y, n=n: getattr(m, n)(x.view(2, 2), 1) for n in ("max", "min", "nansum")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(x.view(2, 2), dim=1, keepdim=True) for n in ("aminmax", "var_mean", "std_mean", "nanmean")], *[lambda m, d, x, y, n=n: getattr(m, n)(x[:0]) for n in ("aminmax", "max", "nansum", "nanmean", "var_mean", "norm")],
    *[lambda m, d, x, y, n=n: [r.dtype for r in getattr(m, n)(x.to("meta"), dim=0)] for n in ("aminmax", "max", "var_mean", "std_mean")], *[lambda m, d, x, y, n=n: getattr(m, n)(x.to("meta")).dtype for n in ("nansum", "nanmean", "norm", "max")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(m.ones(3), dtype=d) for n in ("nansum", "nanmean")], lambda m, d, x, y: m.nansum(m.tensor([1, 2]), dtype=d), lambda m, d, x, y: m.nansum(x, 0, out=m.zeros((), dtype=d)), lambda m, d, x, y: m.nansum(m.ones(3), 0, out=m.zeros((), dtype=d)),
    lambda m, d, x, y: m.nanmean(x, 0, out=m.zeros((), dtype=d)), lambda m, d, x, y: m.nansum(x, dtype=m.int32), lambda m, d, x, y: m.nanmean(x, dtype=m.int32), lambda m, d, x, y: m.var_mean(x, 0, correction=7), lambda m, d, x, y: m.std_mean(x[0], correction=0),
    *[lambda m, d, x, y, p=p: m.norm(x.view(2, 2), p, dim=1) for p in ("fro", 0, 1, 3.5, float("inf"), 1j)], lambda m, d, x, y: m.norm(x, dtype=m.complex128), lambda m, d, x, y: m.norm(x, dtype=m.float64), lambda m, d, x, y: m.norm(m.ones(2), dtype=d),
    lambda m, d, x, y: m.norm(x, 2, dim=0, out=m.zeros((), dtype=d)), lambda m, d, x, y: m.norm(x, 2, dim=0, out=m.zeros(())), lambda m, d, x, y: m.norm(x, "nuc"), *[lambda m, d, x, y, n=n: getattr(m, n)([x, y]) for n in ("cat", "stack")],
    *[lambda m, d, x, y, n=n, o=o: getattr(m, n)([x, m.ones(4, dtype=getattr(m, o))]) for n in ("cat", "stack") for o in ("bool", "int64", "uint16", "float16", "float64")], *[lambda m, d, x, y, n=n: getattr(m, n)([x, y], out=m.zeros(0)) for n in ("cat", "stack")],
    lambda m, d, x, y: m.cat([m.ones(2), m.ones(2)], out=m.zeros(0, dtype=d)), lambda m, d, x, y: m.stack([x.view(2, 2).t(), y.view(2, 2)], 1),
    lambda m, d, x, y: m.linalg.vector_norm(x, dtype=m.float32), lambda m, d, x, y: m.linalg.vector_norm(m.ones(2), dtype=d), lambda m, d, x, y: m.angle(m.tensor([1.0, -1.0, float("nan")])), lambda m, d, x, y: m.sgn(m.tensor([2, -3, 0])),
    lambda m, d, x, y: x.scatter(0, m.tensor([0, 0]), y[:2], reduce="multiply"), lambda m, d, x, y: x.scatter_add(0, m.tensor([3, 0]), y[:2]), lambda m, d, x, y: x.index_add(0, m.tensor([3, 0]), y[:2], alpha=2j),
    lambda m, d, x, y: m.gather(x, 0, m.tensor([3, 0])), lambda m, d, x, y: x.masked_select(m.tensor([True, False, True, True])), lambda m, d, x, y: x.view(2, 2).triu(), lambda m, d, x, y: m.diag(x), lambda m, d, x, y: x.roll(1, 0),
    *[lambda m, d, x, y, n=n: getattr(m, n)(x, y) for n in ("add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum",
                                                           "logical_and", "logical_or", "logical_xor", "isclose", "allclose", "equal", "result_type")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(x) for n in ("abs", "reciprocal", "square", "sqrt", "exp", "tanh", "log", "logical_not", "sum", "mean", "amax",
                                                        "amin", "all", "any", "isnan", "isfinite", "nonzero", "conj", "conj_physical", "real", "imag", "resolve_conj",
                                                        "view_as_real", "is_complex", "is_conj", "adjoint")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(m.tensor([1.0, -2.0])) for n in ("conj", "conj_physical", "real", "imag", "resolve_conj", "view_as_real", "view_as_complex")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(x.to("meta")).dtype for n in ("abs", "exp", "sum", "mean", "real", "view_as_real", "conj", "conj_physical")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(x.to("meta"), x.to("meta")).dtype for n in ("add", "lt", "maximum", "logical_and")],
    *[lambda m, d, x, y, v=v: x * v for v in (2, 2.5, 1j, True, 3 + 0j)], *[lambda m, d, x, y, v=v: v - x for v in (1, 1.5, 1j)],
    *[lambda m, d, x, y, v=v: v / x for v in (1, 1.5, 1j)], *[lambda m, d, x, y, v=v: x == v for v in (3, 3.0, 1 + 2j)], *[lambda m, d, x, y, v=v: v == x for v in (3, 1 + 2j)],
    lambda m, d, x, y: x < 1j, lambda m, d, x, y: x / 0, lambda m, d, x, y: x // y, lambda m, d, x, y: m.div(x, y, rounding_mode="trunc"), lambda m, d, x, y: -(x + 1 - 7j), lambda m, d, x, y: m.neg(x + 1 - 7j), lambda m, d, x, y: +x,
    lambda m, d, x, y: ~x, lambda m, d, x, y: abs(x), lambda m, d, x, y: x.clamp(1, 2), lambda m, d, x, y: x.clamp(min=1), lambda m, d, x, y: x.clamp(max=y),
    lambda m, d, x, y: m.ones(2).clamp(max=1j), lambda m, d, x, y: m.ones(4).clamp(max=y), lambda m, d, x, y: x.to("meta").clamp(min=1).dtype, lambda m, d, x, y: m.mm(x[None], y[:, None]),
    lambda m, d, x, y: x[None] @ y[:, None], lambda m, d, x, y: m.mm(x.view(2, 2), y.view(2, 2).t()), lambda m, d, x, y: m.mm(x[None], m.ones(4, 1)), lambda m, d, x, y: m.matmul(x, y),
    lambda m, d, x, y: m.where(x == 3, x, y), lambda m, d, x, y: m.where(x == 3, x, 7j), lambda m, d, x, y: m.where(x == 3, m.ones(4), 7j), lambda m, d, x, y: m.where(x, x, y),
    lambda m, d, x, y: m.add(x, y, alpha=2j), lambda m, d, x, y: m.sub(x, y, alpha=1.5 - 2j), lambda m, d, x, y: m.add(m.ones(3), 1, alpha=2j), lambda m, d, x, y: m.add(x, y, alpha=1.5),
    lambda m, d, x, y: m.add(x, y, alpha=True), lambda m, d, x, y: m.add(m.tensor([1]), 1, alpha=2j), lambda m, d, x, y: m.tensor([1]) + 1j, lambda m, d, x, y: m.tensor([True]) + 1j,
    lambda m, d, x, y: m.ones(2) * 1j, lambda m, d, x, y: m.ones(2, dtype=m.float64) + 1j, lambda m, d, x, y: (m.ones(2).bfloat16() + 1j).dtype, lambda m, d, x, y: m.ones(4).half() + x,
    lambda m, d, x, y: m.ones(4, dtype=m.uint16) + 1j, lambda m, d, x, y: m.ones(4, dtype=m.uint16) + x, lambda m, d, x, y: x + m.ones(4).double(), lambda m, d, x, y: m.ones(4).double() + x[0],
    lambda m, d, x, y: m.ones(2).add_(1j), lambda m, d, x, y: m.ones(4).mul_(x), lambda m, d, x, y: x.add_(m.ones(4)), lambda m, d, x, y: m.add(m.ones(4), 1, out=x),
    lambda m, d, x, y: m.abs(x, out=m.zeros(4, dtype=d)), lambda m, d, x, y: m.abs(x, out=m.zeros(4)), lambda m, d, x, y: m.abs(x, out=m.zeros(4).double()), lambda m, d, x, y: x.abs_(),
    lambda m, d, x, y: m.abs(x, out=m.zeros(4, dtype=m.int32)), lambda m, d, x, y: x.sum(dtype=m.float32), lambda m, d, x, y: m.ones(3).sum(dtype=d), lambda m, d, x, y: x.mean(dtype=m.float32),
    lambda m, d, x, y: m.tensor([1, 2]).mean(dtype=d), lambda m, d, x, y: x[:0].mean(), lambda m, d, x, y: x[:0].sum(), lambda m, d, x, y: x.expand(3, 4).sum(1), lambda m, d, x, y: x.expand(3, 4).sum(0),
    lambda m, d, x, y: x.expand(3, 4).mean(1), lambda m, d, x, y: m.mean(m.ones(3), 0, out=m.zeros((), dtype=d)), lambda m, d, x, y: m.sum(x, 0, out=m.zeros(())), lambda m, d, x, y: x.view(2, 2).mH,
    *[lambda m, d, x, y, n=n: getattr(m, n)(x) for n in ("floor", "ceil", "trunc", "frac", "round", "sign", "signbit", "isposinf", "isneginf", "deg2rad", "rad2deg", "nan_to_num", "bitwise_not")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(x, y) for n in ("remainder", "fmod", "fmax", "fmin", "copysign", "bitwise_and", "bitwise_left_shift")],
    *[lambda m, d, x, y, n=n: getattr(m, n)(m.tensor([complex("nan"), complex("inf"), complex(0, float("nan")), complex(float("-inf"), 1), 1 - 1j], dtype=d)) for n in ("isnan", "isinf", "isfinite", "nan_to_num")],
    lambda m, d, x, y: m.sort(x), lambda m, d, x, y: m.argsort(x), lambda m, d, x, y: m.topk(x, 1), lambda m, d, x, y: m.topk(x, 7), lambda m, d, x, y: m.cummax(x, 0), lambda m, d, x, y: m.cummin(x, 0), lambda m, d, x, y: m.frexp(x),
    lambda m, d, x, y: x.nan_to_num_(), lambda m, d, x, y: m.nan_to_num(x, out=m.zeros(4, dtype=d)), lambda m, d, x, y: m.nan_to_num(m.tensor([complex("nan")], dtype=d), nan=2.5),
    lambda m, d, x, y: m.lerp(x, y, 0.25), lambda m, d, x, y: m.lerp(x, y, 0.75j), lambda m, d, x, y: m.lerp(x, y, y), lambda m, d, x, y: m.lerp(m.ones(2), m.zeros(2), 1j), lambda m, d, x, y: m.addcmul(x, x, y, value=2j),
    lambda m, d, x, y: m.addcdiv(x, y, x, value=0.5 - 1j), lambda m, d, x, y: m.addcmul(m.ones(4), x, m.ones(4)), lambda m, d, x, y: m.addcdiv(m.ones(2), m.ones(2), m.ones(2), value=2j), lambda m, d, x, y: m.addcmul(m.ones(2), m.ones(2), m.ones(2), value=2 + 0j),
    lambda m, d, x, y: x.cumsum(0), lambda m, d, x, y: x.view(2, 2).cumsum(0), lambda m, d, x, y: x.view(2, 2).t().cumsum(1), lambda m, d, x, y: m.ones(3).cumsum(0, dtype=d), lambda m, d, x, y: x.cumsum(0, dtype=m.float32),
    lambda m, d, x, y: m.cumsum(x, 0, out=m.zeros(4)), lambda m, d, x, y: m.cumsum(m.ones(3), 0, out=m.zeros(3, dtype=d)), lambda m, d, x, y: m.tensor([1e8 + 1j] + [1 + 1e-3j] * 9, dtype=d).cumsum(0), lambda m, d, x, y: x[0].cumsum(0),
    lambda m, d, x, y: x.view(2, 2).flip(0), lambda m, d, x, y: x.flip((-1,)), lambda m, d, x, y: m.hypot(x, y), lambda m, d, x, y: m.hypot(m.ones(4), y), lambda m, d, x, y: m.rsqrt(x), lambda m, d, x, y: m.isnan(m.tensor([complex("nan"), complex(0, float("nan")), 1])),
    lambda m, d, x, y: (x + 1 - 7j).neg_(), lambda m, d, x, y: x.conj_physical_(), lambda m, d, x, y: x.square_(), lambda m, d, x, y: x.expand(()), lambda m, d, x, y: x.exp_(), lambda m, d, x, y: x.view(2, 2).adjoint(),
    lambda m, d, x, y: m.abs(x, out=m.zeros(0, dtype=m.complex64)), lambda m, d, x, y: m.abs(x, out=m.zeros(4, dtype=m.complex128)), *[lambda m, d, x, y, i=i: m.aminmax(x[0], dim=i) for i in (None, 0, 1)], lambda m, d, x, y: x.cumsum(0, dtype=m.int64),
    lambda m, d, x, y: x[0].cumsum(0, dtype=m.float32), *[lambda m, d, x, y, i=i: m.linalg.vector_norm(x[0], 0, dim=i) for i in ((), 0)], *[lambda m, d, x, y, o=o: m.logsumexp(x, 0, out=m.zeros((), dtype=getattr(m, o))) for o in ("float16", "float32", "complex64", "complex128")],
    lambda m, d, x, y: m.logsumexp(x[:0], 0, out=m.zeros(())), lambda m, d, x, y: m.logsumexp(x[0], 0, True, out=m.zeros(())), lambda m, d, x, y: m.baddbmm(x[:0].view(0, 1, 1), y[:0].view(0, 1, 1), m.ones(0, 1, 1)),
]  # fmt: skip
CONSTRUCTION = [
    lambda m, d, x, y: m.tensor(1j), lambda m, d, x, y: m.tensor([1, 2.5, 1j]), lambda m, d, x, y: m.tensor([1j], dtype=m.float32), lambda m, d, x, y: m.tensor([1j], dtype=m.int32),
    lambda m, d, x, y: m.tensor([1j, 0], dtype=m.bool), lambda m, d, x, y: m.tensor([1, 2], dtype=d), lambda m, d, x, y: m.tensor([x[0], x[1]], dtype=d), lambda m, d, x, y: m.tensor([1e300j], dtype=d),
    lambda m, d, x, y: m.tensor(["a"], dtype=d), lambda m, d, x, y: m.tensor([2**70], dtype=d), lambda m, d, x, y: m.tensor(np.array([1j])), lambda m, d, x, y: m.tensor(np.complex128(1j)),
    lambda m, d, x, y: m.tensor([np.complex64(1j)]), lambda m, d, x, y: m.zeros(2, dtype=d), lambda m, d, x, y: m.ones(2, dtype=d), lambda m, d, x, y: m.eye(2, dtype=d),
    lambda m, d, x, y: m.full((2,), 7j), lambda m, d, x, y: m.full((2,), 7j, dtype=m.float32), lambda m, d, x, y: m.full((2,), 7 + 0j, dtype=m.float32), lambda m, d, x, y: m.full((2,), 7 + 1j, dtype=d),
    lambda m, d, x, y: m.full((2,), 7j, dtype=m.int32), lambda m, d, x, y: m.full((2,), 7j, dtype=m.bool), lambda m, d, x, y: m.full((2,), 1e300j, dtype=m.complex64), lambda m, d, x, y: m.full((2,), 1, dtype=d),
    lambda m, d, x, y: m.arange(5, dtype=d), lambda m, d, x, y: m.arange(0, 5j), lambda m, d, x, y: m.linspace(0, 5, 3, dtype=d), lambda m, d, x, y: m.linspace(0, 5j, 3), lambda m, d, x, y: m.linspace(1, 1 + 5j, 7, dtype=d),
    lambda m, d, x, y: m.linspace(0, 5j, 3, dtype=m.float32), lambda m, d, x, y: m.randint(0, 5, (3,), dtype=d), lambda m, d, x, y: m.rand(3, dtype=d).dtype, lambda m, d, x, y: m.randn(0, dtype=d), lambda m, d, x, y: m.scalar_tensor(1j),
    lambda m, d, x, y: m.zeros(2, dtype=d, requires_grad=True), lambda m, d, x, y: x.fill_(2j), lambda m, d, x, y: m.ones(2).fill_(2j), lambda m, d, x, y: m.tensor([1]).fill_(2j), lambda m, d, x, y: m.ones(2).fill_(2 + 0j),
    lambda m, d, x, y: x.__setitem__(x == 3, 3j) or x, lambda m, d, x, y: m.ones(4).__setitem__(x == 3, 3j), lambda m, d, x, y: x.__setitem__(0, 3j) or x, lambda m, d, x, y: m.ones(3).__setitem__(0, 3j),
    lambda m, d, x, y: x.__setitem__(m.tensor([0, 2]), y[:2]) or x, lambda m, d, x, y: x[m.tensor([0, 2])], lambda m, d, x, y: x[x == 3], lambda m, d, x, y: m.arange(4)[x], lambda m, d, x, y: m.set_default_dtype(d),
    lambda m, d, x, y: x.item(), lambda m, d, x, y: x[0].item(), lambda m, d, x, y: x.tolist(), lambda m, d, x, y: int(x[0]), lambda m, d, x, y: float(x[0]), lambda m, d, x, y: complex(x[0]), lambda m, d, x, y: complex(m.ones(())),
    lambda m, d, x, y: complex(x), lambda m, d, x, y: bool(x[0]), lambda m, d, x, y: float(x[2]), lambda m, d, x, y: int(x[2]), lambda m, d, x, y: [1, 2, 3, 4][x[2]], lambda m, d, x, y: f"{x[0]:.2f}", lambda m, d, x, y: f"{x[0]}",
    *[lambda m, d, x, y, o=o: getattr(x, o)() for o in ("bool", "cfloat", "cdouble")], *[lambda m, d, x, y, o=o: m.tensor([2, 0, 1]).to(getattr(m, o)).to(d) for o in ("bool", "uint8", "int64", "uint64", "float16", "float32", "float64")],
    lambda m, d, x, y: (d.itemsize, d.is_signed, d.is_complex, d.is_floating_point, d.to_real(), d.to_complex()), lambda m, d, x, y: m.float64.to_complex(), lambda m, d, x, y: m.bfloat16.to_complex(), lambda m, d, x, y: m.int32.to_complex(),
    lambda m, d, x, y: m.finfo(d), lambda m, d, x, y: m.iinfo(d), lambda m, d, x, y: x.type(), lambda m, d, x, y: (x.is_complex(), x.is_floating_point(), x.is_signed()), lambda m, d, x, y: (m.cfloat, m.cdouble),
    lambda m, d, x, y: m.promote_types(m.float16, d), lambda m, d, x, y: m.promote_types(m.float64, d), lambda m, d, x, y: m.can_cast(d, m.float64), lambda m, d, x, y: m.can_cast(m.float64, d), lambda m, d, x, y: m.result_type(m.ones(1), 1j),
    lambda m, d, x, y: m.view_as_complex(m.ones(3, 2)), lambda m, d, x, y: m.view_as_complex(m.ones(3, 3)), lambda m, d, x, y: m.view_as_complex(m.ones(2, 3).t()), lambda m, d, x, y: m.view_as_complex(m.ones(2, 3, dtype=m.int64)),
    lambda m, d, x, y: m.view_as_complex(m.tensor(1.0)), lambda m, d, x, y: m.view_as_complex(m.ones(9)[1:].view(4, 2)), lambda m, d, x, y: m.view_as_complex(m.ones(3, 3)[:, :2]), lambda m, d, x, y: m.view_as_complex(m.ones(0, 2)),
    *[lambda m, d, x, y, g=g: m.view_as_complex(m.ones(12).as_strided(*g)).stride() for g in (((2, 1, 2), (2, 1, 1)), ((1, 2), (3, 1)), ((1, 1, 2), (3, 5, 1), 2), ((2, 2), (3, 1)), ((0, 3, 2), (3, 2, 1)))],
    lambda m, d, x, y: (x.real._is_view(), x.real.stride(), x.imag.storage_offset(), m.view_as_real(x).stride()), lambda m, d, x, y: x.real.mul_(2) is None or x, lambda m, d, x, y: setattr(x, "real", m.ones(4)) or x, lambda m, d, x, y: setattr(x, "imag", 2) or x,
    lambda m, d, x, y: m.tensor([1e10 + 1j, -1e-5j], dtype=d), lambda m, d, x, y: m.tensor([complex("nan"), complex("inf"), complex(1, float("-inf"))], dtype=d), lambda m, d, x, y: m.tensor([[1 + 2j, -3.25j], [100, 2]], dtype=d), lambda m, d, x, y: m.zeros(0, dtype=d),
    lambda m, d, x, y: m.zeros(2, 0, dtype=d), lambda m, d, x, y: m.zeros(2, dtype=d, device="meta"), lambda m, d, x, y: m.arange(2000) * 1j, lambda m, d, x, y: m.arange(24).view(2, 3, 4) * (1 - 0.5j), lambda m, d, x, y: x[0], lambda m, d, x, y: x.view(2, 2).t(),
    lambda m, d, x, y: x.numpy().dtype, lambda m, d, x, y: m.from_numpy(np.array([1j, 2])), lambda m, d, x, y: m.tensor([[1, 2], [3, 4]], dtype=d).permute(1, 0).contiguous(), lambda m, d, x, y: m.tensor([1, 2], dtype=complex),
    *[lambda m, d, x, y, v=v: setattr(m.tensor(1j, dtype=d).expand(3), "real", v) for v in (2, None, "a", 1j)], lambda m, d, x, y: setattr(m.ones(1).expand(3), "real", 2), lambda m, d, x, y: setattr(x, "imag", None),
    *[lambda m, d, x, y, r=r: m.arange(*r, dtype=d) for r in ((-1,), (1j,), (0, 2, 0))], lambda m, d, x, y: m.arange(0, 3 + 0j), lambda m, d, x, y: m.arange(0, 3, 1 + 0j), lambda m, d, x, y: m.arange(1j),
]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("call", ARITHMETIC + CONSTRUCTION)
def test_as_in_pytorch(name, call):
    same_text(name, call)


def leaves(m, *dtypes):
    values = {"complex128": [1 + 2j, 2 - 1j, -0.5 + 0.25j], "float64": [1.5, -2.0, 0.75]}
    return [m.tensor(values[dtype], dtype=getattr(m, dtype), requires_grad=True) for dtype in dtypes]


C, R = "complex128", "float64"
GRADIENTS = [
    ((C, C), lambda m, a, b: a * b), ((C, R), lambda m, a, b: a * b), ((R, C), lambda m, a, b: a + b), ((R, C), lambda m, a, b: a - b), ((C, C), lambda m, a, b: a / b), ((R, C), lambda m, a, b: a / b),
    ((C, R), lambda m, a, b: a / b), ((C,), lambda m, a: a.square()), ((C,), lambda m, a: a.sqrt()), ((C,), lambda m, a: a.exp()), ((C,), lambda m, a: a.log()), ((C,), lambda m, a: a.tanh()),
    ((C,), lambda m, a: a.reciprocal()), ((C,), lambda m, a: a.abs()), ((C,), lambda m, a: -a), ((C,), lambda m, a: a.conj()), ((C,), lambda m, a: a.conj_physical()), ((C,), lambda m, a: a.real), ((C,), lambda m, a: a.imag),
    ((C,), lambda m, a: m.view_as_real(a)), ((R,), lambda m, a: m.view_as_complex(m.ones(3, 2, dtype=m.float64) * a[:, None])), ((C, C), lambda m, a, b: m.mm(a[None], b[:, None])), ((C, C), lambda m, a, b: m.mm(a[:, None], b[None])),
    ((C,), lambda m, a: a.sum()), ((C,), lambda m, a: a.mean()), ((C, C), lambda m, a, b: m.where(m.tensor([True, False, True]), a, b)), ((R,), lambda m, a: a.to(m.complex128)), ((C,), lambda m, a: a * 2j), ((C,), lambda m, a: 2j / a),
    ((R,), lambda m, a: a * (1 + 2j)), ((C, C), lambda m, a, b: m.add(a, b, alpha=2j)), ((C, R), lambda m, a, b: m.sub(a, b, alpha=1 - 2j)), ((C, C), lambda m, a, b: a[:, None] * b), ((C, R), lambda m, a, b: a[:, None] + b),
    ((C, R), lambda m, a, b: (a[:, None] * b).sum(0)), ((C,), lambda m, a: a.expand(4, 3).mean(0)), ((C,), lambda m, a: a[m.tensor([0, 2, 0])]), ((C,), lambda m, a: a.view(3, 1).mH), ((C,), lambda m, a: (a * 1).clone()),
    ((C, C, C), lambda m, a, b, c: m.lerp(a, b, c + 0.1)), ((C, C), lambda m, a, b: m.lerp(a, b, 0.25 + 1j)), ((C, C, C), lambda m, a, b, c: m.addcmul(a, b, c * 2, value=2j)), ((C, C, C), lambda m, a, b, c: m.addcdiv(a, b, c + 3, value=1 - 1j)),
    ((C,), lambda m, a: a.cumsum(0)), ((R,), lambda m, a: a.cumsum(0, dtype=m.complex128)), ((C,), lambda m, a: a.flip(0)), ((C,), lambda m, a: a.rsqrt()),
    ((C, R), lambda m, a, b: (a * 1).mul_(b)), ((C, C), lambda m, a, b: (a * 1).copy_(b) + a),
    *[((C,), lambda m, a, n=n: getattr(m, n)(a)) for n in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "exp2", "expm1", "log1p", "log2", "log10",
                                                        "sgn", "angle", "prod", "var", "std")],
    ((C,), lambda m, a: a.prod(0, keepdim=True)), ((C,), lambda m, a: (a - m.tensor([1 + 2j, 0, 0], dtype=m.complex128)).prod()), ((C,), lambda m, a: m.logsumexp(a, 0)), ((C,), lambda m, a: m.var(a, 0, correction=0)),
    *[((C,), lambda m, a, n=n, i=i: getattr(m, n)(a, 0)[i] * 1) for n in ("var_mean", "std_mean") for i in (0, 1)], ((C,), lambda m, a: sum(r.abs().square() for r in m.var_mean(a, 0, correction=0))), ((C,), lambda m, a: m.norm(a, 3)),
    *[((C, R), lambda m, a, b, n=n: getattr(m, n)([a * 1j, b])) for n in ("cat", "stack")], ((R, C), lambda m, a, b: m.cat([a, b * a])),
    *[((C,), lambda m, a, p=p: m.linalg.vector_norm(a * m.tensor([1, 2, 3]), p)) for p in (1, 2, 3.5, float("inf"))],
    ((C, C), lambda m, a, b: m.dot(a, b)), ((C, C), lambda m, a, b: m.vdot(a, b)), ((C, C), lambda m, a, b: m.outer(a, b)), ((C, C), lambda m, a, b: m.inner(a[:, None], b[:, None])),
    ((C, C), lambda m, a, b: m.outer(a, b) @ b), ((C, C), lambda m, a, b: m.bmm(a[None, None], b[None, :, None])), ((C, C), lambda m, a, b: m.outer(a, b)[None] @ m.outer(b, b)[None].mT),
    ((C, C, C), lambda m, a, b, c: m.addmm(a[:1], b[None], c[:, None], beta=2j, alpha=1 - 1j)), ((C, C, C), lambda m, a, b, c: m.addmv(a, m.outer(b, c), c, beta=0.5j, alpha=3j)),
    ((C, C, C), lambda m, a, b, c: m.baddbmm(a, b[None, :, None], c[None, None], alpha=1j)),
    ((C, C), lambda m, a, b: a.scatter_add(0, m.tensor([0, 2]), b[:2] * b[1:])), ((C,), lambda m, a: m.gather(a, 0, m.tensor([0, 2, 0]))), ((C, C), lambda m, a, b: a.index_add(0, m.tensor([2, 0, 0]), b, alpha=2)),
    ((C,), lambda m, a: a[m.tensor([True, False, True])] * 2j), ((C,), lambda m, a: m.outer(a, a).tril()), ((C,), lambda m, a: m.diag(m.outer(a, a))), ((C,), lambda m, a: a.roll(1, 0)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Casting complex values to real:UserWarning")  # of PyTorch's own functions
@pytest.mark.parametrize("dtypes, function", GRADIENTS)
def test_gradients(dtypes, function):
    def gradients(m):
        inputs = leaves(m, *dtypes)
        output = function(m, *inputs)
        weights = (m.ones(output.shape, dtype=m.float64) * (0.5 + 0.25j)) if output.is_complex() else m.ones(output.shape, dtype=m.float64) * 0.5
        return [gradient.tolist() for gradient in m.autograd.grad(output, inputs, weights)]

    ours, theirs = gradients(tenon), gradients(torch)
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtypes, function", GRADIENTS)
def test_gradients_of_gradients(dtypes, function):
    inputs = leaves(tenon, *dtypes)
    assert tenon.autograd.gradcheck(lambda *given: function(tenon, *given), inputs)
    assert tenon.autograd.gradgradcheck(lambda *given: function(tenon, *given), inputs)


BACKWARD = [
    lambda m, x, f: (x * x).sum().backward(), lambda m, x, f: (x * x).backward(), lambda m, x, f: m.autograd.grad(x.sum(), x), lambda m, x, f: setattr(f, "grad", m.ones(3, dtype=m.complex128)),
    lambda m, x, f: (f * 2).backward(m.ones(3, dtype=m.complex128)), lambda m, x, f: (x * 2).backward(m.ones(3)), lambda m, x, f: m.zeros(1, dtype=m.complex64, requires_grad=True).abs().sum().backward(),
    lambda m, x, f: [v.grad_fn.name() for v in (x.real, x.imag, m.view_as_real(x), x.conj_physical(), m.view_as_complex(m.ones(2, 2, requires_grad=True)), x.abs(), x.sum())],
    lambda m, x, f: (x * 1).real.mul_(2).sum().backward(),
    lambda m, x, f: m.nan_to_num(x), lambda m, x, f: m.nan_to_num(x, out=m.zeros(3, dtype=m.complex128)), lambda m, x, f: m.nan_to_num(x.detach(), out=x * 1), lambda m, x, f: x.nan_to_num_(),
    lambda m, x, f: (lambda y: (y.nan_to_num_(), y._version, m.autograd.grad(y.abs().sum(), x)))(x * 1)[1:], lambda m, x, f: (lambda y: (y * y, y.add_(1))[0].abs().sum().backward())(x * 1),
    lambda m, x, f: (x.register_hook(lambda g: g.real), x.abs().sum().backward()), lambda m, x, f: (f.register_hook(lambda g: g * 1j), f.sum().backward()),
]  # fmt: skip


@pytest.mark.parametrize("call", BACKWARD)
def test_results_and_errors_of_backward(call):
    same(lambda m: repr(call(m, *leaves(m, C, R))))


def test_a_write_through_the_real_parts():
    def gradient(m):
        (x,) = leaves(m, C)
        y = x * 1
        y.real.mul_(2)
        return m.autograd.grad(y.abs().sum(), x)[0].tolist()

    np.testing.assert_allclose(gradient(tenon), gradient(torch))


@pytest.mark.parametrize("parts", [lambda m, y: y.real, lambda m, y: y.imag, lambda m, y: m.view_as_real(y), lambda m, y: m.view_as_real(y)[:, 1], lambda m, y: y[1:].real, lambda m, y: y.real[1:]])
def test_the_written_real_parts_have_gradients(parts):
    """The gradient passes through the write, whether or not the complex tensor still exists."""

    def gradients(m, keeps):
        (x,) = leaves(m, C)
        y = x * (2 - 1j)
        view = parts(m, y)
        if not keeps:
            del y
        view.mul_(3).add_(view.detach())
        view.mul_(5)
        return m.autograd.grad((view * view).sum(), x)[0].tolist()

    for keeps in (True, False):
        np.testing.assert_allclose(gradients(tenon, keeps), gradients(torch, keeps))


def test_the_second_derivative_of_abs_at_zero():
    def second(m):
        x = m.tensor([0j, 1 + 1j], dtype=m.complex128, requires_grad=True)
        (first,) = m.autograd.grad(x.abs().sum(), x, create_graph=True)
        return m.autograd.grad(first.real.sum(), x)[0].tolist()

    np.testing.assert_allclose(second(tenon), second(torch))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (64,), (3, 65), (129, 33), (40000,)])
@pytest.mark.parametrize("name", DTYPES)
def test_large_and_strided(name, shape):
    """Large and non-contiguous tensors: shape, strides and dtype are PyTorch's, values up to rounding."""
    generator = torch.Generator().manual_seed(1)
    theirs = torch.randn(shape, dtype=getattr(torch, name), generator=generator)
    ours = tenon.from_numpy(theirs.numpy().copy())
    calls = [lambda m, x: x.clone(), lambda m, x: x.t().contiguous() if x.dim() == 2 else x * 1, lambda m, x: (x + x.t()[0, 0]) if x.dim() == 2 else x + 1, lambda m, x: x * x, lambda m, x: x / (x + 3),
             lambda m, x: x.expand(3, *x.shape).contiguous(), lambda m, x: x.sum(), lambda m, x: x.abs(), lambda m, x: x == x, lambda m, x: m.where(x == x, x, 0), lambda m, x: x[..., None].expand(*x.shape, 5) * 1,
             lambda m, x: x[..., None] + x[..., None].expand(*x.shape, 3), lambda m, x: x[::2] * 2 if x.dim() else x, lambda m, x: x.sum(0) if x.dim() else x, lambda m, x: x.mean(-1) if x.dim() else x, lambda m, x: x.to(m.float32),
             lambda m, x: x.to(m.complex64), lambda m, x: x.real.to(m.complex128), lambda m, x: m.mm(x, x.t()) if x.dim() == 2 else x, lambda m, x: x.exp(), lambda m, x: (x.t() * x.t()[:, :1]) if x.dim() == 2 else x]  # fmt: skip
    for call in calls:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a, b = call(tenon, ours), call(torch, theirs)
            assert tuple(a.shape) == tuple(b.shape) and a.stride() == b.stride() and str(a.dtype).split(".")[1] == str(b.dtype).split(".")[1]
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5 if name == "complex64" else 1e-12, atol=1e-3 if name == "complex64" else 1e-11)


@pytest.mark.parametrize("name", DTYPES)
def test_exchange(name, tmp_path):
    ours = tenon.tensor(VALUES, dtype=getattr(tenon, name))
    assert torch.from_dlpack(ours).tolist() == ours.tolist() and str(torch.from_dlpack(ours).dtype) == f"torch.{name}"
    assert tenon.from_dlpack(torch.tensor([5j, 6], dtype=getattr(torch, name))).dtype is getattr(tenon, name)
    assert np.asarray(memoryview(ours)).dtype == np.dtype(name) and np.asarray(ours).tolist() == ours.tolist()
    again = pickle.loads(pickle.dumps(ours))
    assert again.dtype is ours.dtype and again.tolist() == ours.tolist()
    tenon.save(ours, str(tmp_path / "x.npy"))
    assert np.load(str(tmp_path / "x.npy")).tolist() == ours.tolist() and tenon.load(str(tmp_path / "x.npy")).dtype is ours.dtype
    if name == "complex64":
        tenon.save({"x": ours}, str(tmp_path / "x.safetensors"))
        assert tenon.load(str(tmp_path / "x.safetensors"))["x"].tolist() == ours.tolist()
    else:
        with pytest.raises(TypeError, match="know no complex128"):
            tenon.save({"x": ours}, str(tmp_path / "x.safetensors"))


def test_normal_numbers_have_variance_one():
    x = tenon.randn(20000, dtype=tenon.complex128)
    assert abs(x.abs().square().mean().item() - 1) < 0.05 and abs(x.mean().item()) < 0.05
    u = tenon.rand(1000, dtype=tenon.complex64)
    assert 0 <= u.real.amin().item() and u.imag.amax().item() < 1 and u.imag.amax().item() > 0.9


def test_numpy_functions():
    x = tenon.tensor(VALUES, dtype=tenon.complex64)
    assert isinstance(np.sin(x), tenon.Tensor) and (x + np.ones(4)).dtype is tenon.complex128
    assert (x * np.complex64(1j)).tolist() == (x * 1j).tolist()


COMPLEX_WRITES = {
    "the base": lambda m, b, v, z: b.add_(1),
    "the view": lambda m, b, v, z: v.mul_(z),
    "a part of the view": lambda m, b, v, z: v[1:].mul_(z[1:] * 2j),
    "a copy": lambda m, b, v, z: v.copy_(z),
    "both": lambda m, b, v, z: (v.mul_(z), b.mul_(3), v.add_(z)),
    "imaginary parts": lambda m, b, v, z: v.imag.mul_(2),
}
REAL_BASES = {
    "computed": lambda w: w * 1,
    "a view": lambda w: (w * 1).view(3, 1, 2)[:, 0],
    "plain": lambda w: w.detach().clone(),
    "columns": lambda w: w.detach()[:, None].expand(3, 2, 2).contiguous().view(3, 4)[:, :2].detach(),
}


@pytest.mark.parametrize("base", REAL_BASES)
@pytest.mark.parametrize("write", COMPLEX_WRITES)
def test_writes_to_real_numbers_seen_as_complex(write, base):
    def call(m):
        w = m.tensor([[1.0, 2.0], [3.0, -4.0], [0.5, 5.0]], requires_grad=True)
        z = m.tensor([1 + 1j, 2, 3 - 2j], requires_grad=True)
        b = REAL_BASES[base](w)
        v = m.view_as_complex(b)
        COMPLEX_WRITES[write](m, b, v, z)
        if not b.requires_grad:
            return v.requires_grad
        weights = m.arange(6.0).view(3, 2) + 1
        first = m.autograd.grad((b * b * weights).sum(), (w, z), create_graph=True, allow_unused=True)
        of_view = m.autograd.grad((v * v.conj() * 2j).imag.sum(), (w, z), allow_unused=True, create_graph=True)
        second = m.autograd.grad(sum(g.abs().square().sum() for g in first if g is not None), (w, z), allow_unused=True)
        return v.is_leaf, v.grad_fn.name(), b.grad_fn.name(), v._version, [None if g is None else g.tolist() for g in (*first, *of_view, *second)]

    ours, theirs = call(tenon), call(torch)
    assert str(ours) == str(theirs)


def test_writes_to_complex_numbers_at_an_odd_offset():
    z = tenon.tensor([1 + 1j, 2], requires_grad=True)
    b = tenon.arange(9.0)[1:8].detach()
    tenon.view_as_complex(b[1:5].view(2, 2)).mul_(z)
    assert b.tolist() == [1, -1, 5, 8, 10, 6, 7]
    assert tenon.autograd.grad((b * b).sum(), z)[0].tolist() == [26 + 26j, 164]


@pytest.mark.parametrize("keepdim", [False, True])
def test_results_of_logsumexp_are_not_views(keepdim):
    def call(m):
        x = m.tensor([[1j, 2], [3, 4]], requires_grad=True)
        result = m.logsumexp(x, 0, keepdim)
        seen = result._is_view(), result._version, result.stride()
        result.add_(1)
        return (*seen, result._version, result.grad_fn.name())

    assert call(tenon) == call(torch)


@pytest.mark.parametrize("out", ["float32", "complex128"])
@pytest.mark.parametrize("op", ["abs", "angle", "conj_physical", "nan_to_num", "sgn"])
def test_strides_of_resized_outputs(op, out):
    def call(m):
        x = m.ones(3, 4, 5, dtype=m.complex128).permute(2, 0, 1)
        return getattr(m, op)(x, out=m.zeros(0, dtype=getattr(m, out))).stride()

    same(call)


def bits_of(number):
    """Tells -0 from 0; every NaN is the same."""
    return [repr(part) for part in (number.real, number.imag)]


@pytest.mark.parametrize("op", ["addmv", "addmm", "addbmm", "baddbmm"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(60))
def test_signs_of_zeros_of_products_times_zero(op, dtype, seed):
    draw = random.Random(seed)
    rows, depth, columns = (draw.choice([1, 2, 3, 5]) for _ in range(3))
    sizes = {"addmv": [(rows,), (rows, depth), (depth,)], "addmm": [(rows, columns), (rows, depth), (depth, columns)],
             "addbmm": [(rows, columns), (2, rows, depth), (2, depth, columns)], "baddbmm": [(columns,), (2, rows, depth), (2, depth, columns)]}[op]  # fmt: skip
    parts = [0.0, -0.0, 1.0, -1.0, 2.0] + [float("inf")] * (seed % 4 == 0)
    numbers = [[complex(draw.choice(parts), draw.choice(parts)) for _ in range(math.prod(size))] for size in sizes]
    by_columns = [len(size) > 1 and draw.random() < 0.5 for size in sizes]
    alpha, beta = draw.choice([0, -0.0, 0j, complex(-0.0, 0.0)]), draw.choice([0, 1, -1, 1j, complex(1, -0.0), 2 + 1j])

    def call(m):
        operands = [m.tensor(n, dtype=getattr(m, dtype)).reshape(size) for n, size in zip(numbers, sizes)]
        operands = [x.mT.contiguous().mT if turned else x for x, turned in zip(operands, by_columns)]
        result = getattr(m, op)(*operands, alpha=alpha, beta=beta)
        return [bits_of(number) for number in result.flatten().tolist()]

    same(call)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_batches_of_infinities_times_zero(dtype):
    def call(m, size):
        x = m.full((1, size, size), float("inf"), dtype=getattr(m, dtype))
        return m.baddbmm(x.sign(), x, x, alpha=0)

    for size in (2, 7, 8):  # PyTorch multiplies matrices of fewer than 400 multiplications itself, BLAS the others
        same(call, size)


@pytest.mark.parametrize("call", [lambda x: tenon.view_as_complex(x), lambda x: tenon.complex(x, x), lambda x: x.dtype.to_complex()])
def test_complex_numbers_of_float16_are_missing(call):
    with pytest.raises(NotImplementedError, match="complex32, the complex dtype of float16, is not supported"):
        call(tenon.ones(3, 2, dtype=tenon.float16))


def half(m):
    return m.tensor([1.0009765625, -2.0, float("inf"), float("nan")], dtype=m.float16)


def small(x):
    """Sums and products of infinite parts may differ: docs/differences.md."""
    return x if abs(x) < 1e4 else 0.3 + 2j


# What float16 beside a complex number without dims gives in a dtype that Tenon has, or PyTorch's error. The parts are rounded to
# float16: 1.001 is equal to 1.0009765625, 1e9 to infinity.
BESIDE_HALF = {
    "eq": lambda m, x: half(m) == x,
    "eq, reflected": lambda m, x: m.eq(m.tensor(x), half(m)),
    "ne of a tensor": lambda m, x: half(m).ne(m.tensor(x)),
    "eq_": lambda m, x: half(m).eq_(x),
    "ne into int32": lambda m, x: m.ne(half(m), x, out=m.empty(4, dtype=m.int32)),
    "float_power": lambda m, x: m.float_power(half(m), x),
    "add into complex64": lambda m, x: m.add(half(m)[:2], small(x), out=m.empty(2, dtype=m.complex64)),
    "sub with alpha": lambda m, x: m.sub(half(m)[:2], m.tensor(small(x)), alpha=3, out=m.empty(2, dtype=m.complex64)),
    "mul into complex128": lambda m, x: m.mul(m.tensor(small(x)), half(m)[:2], out=m.empty(2, dtype=m.complex128)),
    "add into float32": lambda m, x: m.add(half(m), x, out=m.empty(4)),
    "add_": lambda m, x: half(m).add_(x),
    "pow_": lambda m, x: half(m).pow_(x),
    "where into complex64": lambda m, x: m.where(half(m) > 0, half(m), x, out=m.empty(4, dtype=m.complex64)),
    "complex into complex64": lambda m, x: m.complex(half(m), half(m), out=m.empty(4, dtype=m.complex64)),
    **{name: lambda m, x, name=name: getattr(m, name)(half(m), m.tensor(x)) for name in
       ("div", "pow", "lt", "ge", "fmod", "remainder", "floor_divide", "atan2", "hypot", "copysign", "logaddexp", "xlogy", "logical_and", "bitwise_and", "gcd",
        "maximum", "nextafter", "igamma", "clamp_min")},
}  # fmt: skip


@pytest.mark.parametrize("number", [1.001 + 0j, 1e9 + 0j, -2j, complex("nan")])
@pytest.mark.parametrize("call", BESIDE_HALF.values(), ids=BESIDE_HALF)
def test_float16_beside_a_complex_number(call, number):
    same(call, number, exact=False)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "int32", "float32", "bool"])
@pytest.mark.parametrize("exponent", [3.5e38, -1e300, 1e39 + 1j, 1 + 1e39j, 1j * float("inf"), float("inf")])
def test_exponents_that_overflow_are_infinite(dtype, exponent):
    same(lambda m: m.tensor([2, 1, 0, 1]).to(getattr(m, dtype)) ** exponent, exact=False)
    same(lambda m: m.tensor([2, 1, 0, 1]).to(getattr(m, dtype)).pow_(exponent), exact=False)


def test_a_complex_operand_with_dims_decides():
    """What float16 and a number would give is then of no importance."""
    same(lambda m: m.addcmul(m.ones(2, dtype=m.complex64), m.tensor(1.0, dtype=m.float16), m.tensor(1j)))
    same(lambda m: m.tensor(1.0, dtype=m.float16) + m.ones(2, dtype=m.complex64))


@pytest.mark.parametrize("sizes, other", [((40, 50), (40, 50)), ((40, 50), (50,)), ((40, 1), (40, 50))])
def test_complex_writes_its_out_once(sizes, other):
    """Parts that lie in the `out=` itself are read before they are overwritten."""

    def call(m, shares):
        re, im = m.arange(math.prod(sizes), dtype=m.float32).view(sizes), m.ones(other) * 2
        out = m.zeros(40, 50, dtype=m.complex64)
        if shares:
            im = m.view_as_real(out).view(-1)[: math.prod(other)].view(other).add_(2)
        version = out._version
        assert m.complex(re, im, out=out) is out
        return out, out._version - version

    for shares in (False, True):
        (ours, ours_written), (theirs, theirs_written) = call(tenon, shares), call(torch, False)
        assert ours.tolist() == theirs.tolist() and ours_written == theirs_written == 1
