"""Arguments of wrong types and values raise PyTorch's exceptions with its texts, and never crash."""

import array
import datetime
import decimal
import fractions

import pytest

pytest.importorskip("torch")
np = pytest.importorskip("numpy")

import judge
import tenon
import torch


class ArrayRaises:
    def __array__(self, dtype=None, copy=None):
        raise ZeroDivisionError("on purpose")


class ArrayLies:
    def __array__(self, dtype=None, copy=None):
        return "no array"


class InterfaceLies:
    __array_interface__ = {"shape": (10**6,), "typestr": "<f8", "data": (0, False), "version": 3}


class LongerThanItIs(list):
    def __len__(self):
        return 10


class LengthRaises:
    def __len__(self):
        raise KeyError("on purpose")

    def __getitem__(self, at):
        return 1


class Whole(int):
    def __index__(self):
        return 7


class Real(float):
    pass


class IndexRaises:
    def __index__(self):
        raise KeyError("on purpose")


class IndexLies:
    def __index__(self):
        return "no int"


class FloatRaises:
    def __float__(self):
        raise KeyError("on purpose")


class Capsule:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        if isinstance(self.capsule, Exception):
            raise self.capsule
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


ODD = [None, "x", b"x", {}, {1: 2}, {1, 2}, object(), int, decimal.Decimal(1), fractions.Fraction(1, 2), datetime.date(2026, 1, 1),
       ArrayRaises(), ArrayLies(), InterfaceLies(), LengthRaises(), IndexRaises(), IndexLies(), FloatRaises(), iter([1])]  # fmt: skip
NUMBERS = [True, 2, 2.5, float("nan"), 10**30, -(10**30), Whole(3), Real(2.5), np.float32(1.5), np.int64(3), np.uint8(200), np.float64("inf")]
DATA = [*ODD, *NUMBERS, LongerThanItIs([1, 2]), range(3), array.array("d", [1, 2]), memoryview(b"abc"), bytearray(b"ab"), ["x"], [None], [object()],
        [[1], [2, 3]], [[1, 2], 3], [1, [2]], [[], [1]], [[], []], [10**30], [1, 2**63], [True, 2.5], ((1,), (2,)), nested(130), nested(1000),
        [np.int8(1), 2], np.array(3), np.array(["a"]), np.array([object()])]  # fmt: skip
SIZES = [*ODD, *NUMBERS, -1, [2, -3], 2**63, 2**62, [2**40, 2**40], [1, "x"], [[1]], (2, None), [1, 2.5], [IndexRaises()], [np.int64(2)]]


def type_name(value):
    return type(value).__name__  # a deep list has no repr


def same(call, value):
    with np.errstate(all="ignore"):
        judge.same(lambda module: call(module, value))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", DATA, ids=type_name)
@pytest.mark.parametrize("dtype", [None, "float32", "uint8", "bool"])
def test_tensor(value, dtype):
    judge.same(lambda m: m.tensor(value, dtype=dtype and getattr(m, dtype)), any_mistake=dtype is not None)


@pytest.mark.parametrize("value", SIZES, ids=type_name)
def test_size(value):
    same(lambda m, value: tuple(m.empty(value, device="meta").shape), value)


@pytest.mark.parametrize("value", [*ODD, *NUMBERS, [1, 2, 3], 1.5], ids=type_name)
@pytest.mark.parametrize("call", [lambda m, v: m.ones(3) + v, lambda m, v: v * m.ones(3), lambda m, v: m.ones(3).add_(v), lambda m, v: m.ones(3).int() - v,
                                  lambda m, v: m.ones(3)[v], lambda m, v: m.ones(3).sum(v), lambda m, v: m.clamp(m.ones(3), v), lambda m, v: m.full((2,), v),
                                  lambda m, v: m.ones(3, dtype=v), lambda m, v: m.arange(v), lambda m, v: m.ones(3).view(v)])  # fmt: skip
def test_argument(value, call):
    if value is int or isinstance(value, float) and value == float("inf"):
        pytest.skip("a valid dtype; an endless range")
    same(call, value)


@pytest.mark.parametrize("value", [value for value in (*ODD, *NUMBERS) if type(value) is not np.float32], ids=type_name)  # docs/differences.md
def test_assigned(value):
    def assign(m):
        tensor = m.ones(3)
        tensor[0] = value
        return tensor

    judge.same(assign)


@pytest.mark.parametrize("value", [b"", bytearray(3), b"abc", "x", 1, None, memoryview(b"abcdefgh")[::2], memoryview(bytearray(8))[::2]], ids=type_name)
def test_frombuffer(value):
    judge.same(lambda m: m.frombuffer(value, dtype=m.float32))


@pytest.mark.parametrize("value", [Capsule("no capsule"), Capsule(None), Capsule(ValueError("on purpose")), object(), 1, "x", None], ids=type_name)
def test_from_dlpack(value):
    judge.same(lambda m: m.from_dlpack(value))


def test_mixed_devices():
    for call in (lambda m, a, b: a + b, lambda m, a, b: a.add_(b), lambda m, a, b: m.where(b > 0, a, b), lambda m, a, b: m.add(a, a, out=b), lambda m, a, b: m.isin(a, b),
                 lambda m, a, b: m.cdist(a.view(1, 2), b.view(1, 2)), lambda m, a, b: m.searchsorted(a, b), lambda m, a, b: m.bincount(a.long(), b)):  # fmt: skip
        for a, b in (("cpu", "meta"), ("meta", "cpu")):
            with pytest.raises((RuntimeError, NotImplementedError)):
                call(tenon, tenon.ones(2, device=a), tenon.ones(2, device=b))



WRONG = [None, "x", "\ud800", b"x", {}, {1}, [], [None], ["a"], [1.5], object(), int, 2.5, -1, 10**30, True, float("nan"), IndexRaises(), FloatRaises(), np.ones(2), np.float32(2), np.int64(3),
         slice(None), ..., (1, "a"), [[1]]]  # fmt: skip
# Not compared: uninitialised memory, signatures that Tenon lacks, and functions that PyTorch or Tenon
# implements in Python, whose errors for wrong arguments are Python's.
NOT_COMPARED = {"unique", "unique_consecutive", "logspace", "view_copy", "empty", "empty_like", "empty_strided", "linspace", "nonzero", "ones", "zeros", "from_numpy",
                "norm", "get_default_dtype", "get_num_threads", "is_grad_enabled", "is_inference_mode_enabled", "scalar_tensor"}  # fmt: skip
HAVE_OUT_DTYPE = ("mm", "bmm", "addmm", "baddbmm")  # have an overload with out_dtype
MATRIX = judge.tensor([[1.0, 2.0], [3.0, 4.0]], "float32")
COMPARED = [name for name, _, _ in tenon._tenon._signatures(False) if hasattr(torch, name) and name not in NOT_COMPARED]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", COMPARED)
def test_wrong_arguments(name):
    """For every wrong argument, the same result or the same error."""

    def called(m, *arguments, **keywords):
        m.manual_seed(1)  # for functions that draw random numbers
        return getattr(m, name)(*arguments, **keywords)

    for value in WRONG:
        if value is int and name in HAVE_OUT_DTYPE or isinstance(value, list) and not value and name in ("all", "any"):
            continue  # PyTorch's text mentions its own builds; docs/differences.md
        if isinstance(value, (int, float)) and abs(value) > 1000 and name in ("arange", "eye", "full"):
            continue  # a large result
        if name == "split" and isinstance(value, bytes) or name == "matrix_power" and isinstance(value, int) and value < 0:
            continue  # bytes.split takes a tensor, which is a buffer here; docs/differences.md
        for arguments in ((value,), (MATRIX, value), (value, MATRIX), (MATRIX, MATRIX, value), (MATRIX, 0, value)):
            judge.same(called, *arguments, exact=None)
        for keyword in ("dim", "out", "dtype", "keepdim", "foo", "alpha"):
            if not (name in HAVE_OUT_DTYPE and keyword == "dtype"):
                judge.same(lambda m, matrix, given: called(m, matrix, **{keyword: given}), MATRIX, value, exact=None)
