"""uint16, uint32 and uint64, compared with PyTorch."""

import pickle

import pytest

pytest.importorskip("torch")

import numpy as np
import tenon
import torch

from judge import same

DTYPES = ("uint16", "uint32", "uint64")
WIDE = 2**63


def same_text(name, call):
    """Compares the result's repr for a call with a tensor of the dtype `name`."""
    return same(lambda m: repr(call(m, getattr(m, name), m.tensor([1, 0, 3], dtype=getattr(m, name)))).replace("tenon.", "torch."))


CONSTRUCTION = [
    lambda m, d, x: m.tensor([-1], dtype=d), lambda m, d, x: m.tensor([2**16], dtype=d), lambda m, d, x: m.tensor([2**32], dtype=d),
    lambda m, d, x: m.tensor([2**64 - 1], dtype=d), lambda m, d, x: m.tensor([2**64], dtype=d), lambda m, d, x: m.tensor([1.5], dtype=d),
    lambda m, d, x: m.tensor([-1.5], dtype=d), lambda m, d, x: m.tensor([True], dtype=d), lambda m, d, x: m.tensor(3, dtype=d),
    lambda m, d, x: m.tensor([x[0], x[1]]), lambda m, d, x: m.tensor(np.uint16(5)), lambda m, d, x: m.tensor([x[0], 1]),
    lambda m, d, x: m.zeros(2, dtype=d), lambda m, d, x: m.ones(2, dtype=d), lambda m, d, x: m.eye(2, dtype=d), lambda m, d, x: m.rand(2, dtype=d),
    lambda m, d, x: m.randn(2, dtype=d), lambda m, d, x: m.randn(0, dtype=d), lambda m, d, x: m.arange(3, dtype=d), lambda m, d, x: m.linspace(0, 3, 2, dtype=d),
    lambda m, d, x: m.linspace(0, 3, 1, dtype=d), lambda m, d, x: m.randint(4, 5, (3,), dtype=d),
    lambda m, d, x: m.randint(-1, 5, (3,), dtype=d), lambda m, d, x: m.zeros(2, dtype=d, requires_grad=True), lambda m, d, x: x.new_tensor([7]),
    *[lambda m, d, x, v=v: m.full((2,), v, dtype=d) for v in (7, -1, -70000, -(2**40), 1.5, -1.5, 2**16, 2**32, WIDE, 2**64 - 1, float("inf"), True)],
    *[lambda m, d, x, v=v: x.fill_(v) for v in (-1, 1.5, WIDE, 2**64, -WIDE - 1)],
]  # fmt: skip
ARITHMETIC = [
    *[lambda m, d, x, n=n: getattr(m, n)(x, x) for n in ("add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum",
                                                        "logical_and", "logical_or", "logical_xor", "isclose", "allclose", "equal", "result_type")],
    *[lambda m, d, x, n=n: getattr(m, n)(x) for n in ("neg", "abs", "reciprocal", "square", "sqrt", "exp", "tanh", "log", "logical_not", "sum", "mean",
                                                     "amax", "amin", "all", "any", "isnan", "isfinite", "nonzero")],
    *[lambda m, d, x, n=n: getattr(m, n)(x.to("meta"), x.to("meta")).dtype for n in ("add", "lt", "maximum", "logical_and")],
    *[lambda m, d, x, v=v: x * v for v in (2, -1, 70000, WIDE, 2**64 - 1, 2**64, True, 2.5)],
    *[lambda m, d, x, v=v: v + x for v in (1, 1.5, True, WIDE)], *[lambda m, d, x, v=v: x == v for v in (1, 1.0, True, WIDE)],
    lambda m, d, x: 3 / x, lambda m, d, x: x // 2, lambda m, d, x: m.div(x, x, rounding_mode="trunc"), lambda m, d, x: x.clamp(1, 2),
    lambda m, d, x: x.clamp(min=1), lambda m, d, x: x.clamp(max=x), lambda m, d, x: x.clamp(x, x), lambda m, d, x: m.mm(x[None], x[:, None]),
    lambda m, d, x: m.mm(x[None, :0], x[:0, None]), lambda m, d, x: m.add(x, x, alpha=2), lambda m, d, x: m.add(x, x, alpha=1.5),
    lambda m, d, x: m.add(x, x, alpha=True), lambda m, d, x: m.where(x == 1, x, 7), lambda m, d, x: m.where(x == 1, x, -1),
    lambda m, d, x: m.where(x == 1, x, WIDE), lambda m, d, x: m.where(x == 1, x, 7.5), lambda m, d, x: m.where(x, x, x), lambda m, d, x: m.where(x == 1, 7, x),
    *[lambda m, d, x, o=o: x * m.ones(3, dtype=getattr(m, o)) for o in ("bool", "uint8", "int64", "uint16", "uint32", "float16", "float64")],
    lambda m, d, x: m.ones(3, dtype=m.int64) * x[2], lambda m, d, x: x * m.tensor(3), lambda m, d, x: m.tensor(3) * x[2], lambda m, d, x: m.tensor([True]) * x[0],
    lambda m, d, x: x.mul_(2.5), lambda m, d, x: x.mul_(3), lambda m, d, x: x.add_(3), lambda m, d, x: x.div_(3), lambda m, d, x: x.clamp_(1.5),
    lambda m, d, x: m.mul(x, x, out=m.zeros(3, dtype=m.uint8)), lambda m, d, x: m.mul(x, x, out=m.zeros(3, dtype=m.bool)),
    lambda m, d, x: m.neg(x, out=m.zeros(3)), lambda m, d, x: x.sum(dtype=d), lambda m, d, x: x[:0].sum(dtype=d), lambda m, d, x: m.zeros(2, 0, dtype=d).sum(0, dtype=d),
    lambda m, d, x: x.sum(dtype=m.float32), lambda m, d, x: x.mean(dtype=m.float32), lambda m, d, x: m.ones(2).mean(dtype=d), lambda m, d, x: x[:0].amax(0),
    lambda m, d, x: m.zeros(2, 0, dtype=d).amax(0), lambda m, d, x: m.sum(m.ones(2), 0, out=m.zeros((), dtype=d)), lambda m, d, x: x.expand(3, 3).sum_to_size(3),
    lambda m, d, x: x.expand(()), lambda m, d, x: m.promote_types(d, m.float16), lambda m, d, x: m.promote_types(d, m.bool), lambda m, d, x: m.can_cast(d, m.uint8),
]  # fmt: skip
CONVERSION = [
    *[lambda m, d, x, o=o: m.tensor([5, -1, 2**63 - 1, 0]).to(d).to(getattr(m, o)) for o in ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32",
                                                                                         "uint64", "float16", "bfloat16", "float32", "float64")],
    *[lambda m, d, x, o=o: m.tensor([2.7, -1.5, 100.25]).to(getattr(m, o)).to(d) for o in ("bool", "uint8", "int8", "float16", "bfloat16", "float32", "float64")],
    lambda m, d, x: m.tensor([1.7e19, 9.3e18, -1e18]).to(d) if d is m.uint64 else None, lambda m, d, x: m.tensor([4e9, 3e9, -2e9], dtype=m.float64).to(m.uint32),
    lambda m, d, x: m.tensor(-1).to(d).item(), lambda m, d, x: m.tensor([-1]).to(d).tolist(), lambda m, d, x: int(m.tensor(-1).to(d)),
    lambda m, d, x: float(m.tensor(-1).to(d)), lambda m, d, x: bool(m.tensor(-1).to(d)), lambda m, d, x: [1, 2][x[0]], lambda m, d, x: m.arange(4)[x],
    lambda m, d, x: m.arange(4)[x[0]], lambda m, d, x: m.arange(4)[x[0] :], lambda m, d, x: m.zeros(x[0]), lambda m, d, x: x.type(), lambda m, d, x: m.arange(2).type(d).dtype,
    lambda m, d, x: (d.itemsize, d.is_signed, d.is_floating_point, d.is_complex), lambda m, d, x: m.iinfo(d), lambda m, d, x: m.equal(x[:0], m.ones(0)), lambda m, d, x: m.equal(x[:0], m.ones(0, dtype=m.int32)), lambda m, d, x: m.iinfo(d).max, lambda m, d, x: x.is_signed(),
    lambda m, d, x: x[m.tensor([True, False, True])], lambda m, d, x: x[m.tensor([0, 2])], 
    lambda m, d, x: (x.__setitem__(0, -3), x)[1], lambda m, d, x: x.__setitem__(0, WIDE),
    lambda m, d, x: x.copy_(m.tensor([-1.5, 3, 4])), lambda m, d, x: list(x),
    lambda m, d, x: m.from_numpy(np.arange(3, dtype=str(d).split(".")[1])), lambda m, d, x: x.numpy().dtype, lambda m, d, x: m.tensor(np.arange(3, dtype=str(d).split(".")[1])),
    lambda m, d, x: m.tensor([[1, 100], [30, 4]], dtype=d).t(), lambda m, d, x: m.arange(24).to(d).view(2, 3, 4).permute(2, 0, 1).contiguous(),
]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("call", CONSTRUCTION + ARITHMETIC + CONVERSION)
def test_as_in_pytorch(name, call):
    same_text(name, call)


WIDE_NUMBERS = [
    lambda x: x * WIDE, lambda x: x + WIDE, lambda x: WIDE - x, lambda x: x == WIDE, lambda x: x / WIDE, lambda x: x.clamp(max=WIDE), lambda x: x.fill_(WIDE),
    lambda x: x // WIDE,
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("call", WIDE_NUMBERS)
def test_numbers_above_the_largest_int64(dtype, call):
    same(lambda m: repr(call(m.tensor([1, 0, 1], dtype=getattr(m, dtype)))))


def test_wide_numbers_without_a_tensor():
    same(lambda m: repr(m.full((2,), WIDE)))
    same(lambda m: repr(m.scalar_tensor(WIDE)))
    same(lambda m: repr(m.tensor(WIDE)))
    same(lambda m: repr(m.tensor(WIDE, dtype=m.float32)))
    same(lambda m: repr(m.arange(WIDE, WIDE + 3)))
    same(lambda m: repr(m.linspace(WIDE, 2 * WIDE - 1, 3)))
    same(lambda m: m.result_type(1, WIDE))
    same(lambda m: m.result_type(m.tensor([1]), WIDE))


@pytest.mark.parametrize("name", DTYPES)
def test_exchange(name, tmp_path):
    ours = tenon.tensor([1, 2**15, 7], dtype=getattr(tenon, name))
    assert torch.from_dlpack(ours).tolist() == ours.tolist()
    assert str(torch.from_dlpack(ours).dtype) == f"torch.{name}"
    assert tenon.from_dlpack(torch.tensor([5, 6], dtype=getattr(torch, name))).dtype is getattr(tenon, name)
    assert np.asarray(memoryview(ours)).dtype == np.dtype(name)
    for file in ("x.npy", "x.safetensors"):
        path = str(tmp_path / file)
        tenon.save(ours if file.endswith("npy") else {"x": ours}, path)
        loaded = tenon.load(path)
        loaded = loaded if file.endswith("npy") else loaded["x"]
        assert loaded.dtype is ours.dtype and loaded.tolist() == ours.tolist()
    assert np.load(str(tmp_path / "x.npy")).dtype == np.dtype(name)
    again = pickle.loads(pickle.dumps(ours))
    assert again.dtype is ours.dtype and again.tolist() == ours.tolist()
