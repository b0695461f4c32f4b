"""assert_close compared with PyTorch's: what passes, and the texts of errors."""

import pytest

numpy = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from judge import same

nan = float("nan")
PAIRS = [
    (1e300, 2e300, {}), (1e40, 1e41, {}), (1.0, 1.000001, {}), ([1.0], [1.000001], {}), (16777216.0, 16777217.0, {}), (0.0, 1e-8, {}),
    (None, None, {}), (None, 1, {}), ([None], [1.0], {}), (2**70, 2**70, {}), (2**70, 2**70 + 1, {}), (1, 2, {}), (1, 1.0, {}),
    (1, 1.0, {"check_dtype": False}), (True, False, {}), (True, True, {}), (1.0, nan, {}), (nan, nan, {}), (nan, nan, {"equal_nan": True}),
    (float("inf"), float("inf"), {}), (float("inf"), 1.0, {}), (1.0, float("inf"), {"rtol": 0.5, "atol": 0}), (0.0, 2.0, {}),
    (5, 6, {"rtol": 0.5, "atol": 0}), ({"a": 1.0}, {"a": 1.1}, {}), ((1, 2), [1, 2], {}), (1 + 2j, 1 + 3j, {}), ("a", "a", {}),
    (1, 1, {"rtol": 1}), ([1.0], [1.0], {"atol": 1}), (None, None, {"atol": 1}), (numpy.float64(1), 1.0, {}), (numpy.int8(2), 3, {}),
    (numpy.float64(1.5), 1, {}), (numpy.bool_(True), False, {}), (numpy.array([1.0]), 1.0, {}), (1.0, numpy.array([1.0]), {}),
]  # fmt: skip


@pytest.mark.parametrize("actual, expected, options", PAIRS)
def test_numbers(actual, expected, options):
    same(lambda m: m.testing.assert_close(actual, expected, **options))


@pytest.mark.parametrize("actual, expected", [([1.0, nan], [1.0, 2.0]), ([1.0, nan, 3.0], [1.0, 2.0, 4.0]), ([[1.0, 2.0]], [[1.0, 3.0]]), ([1, 2, 7], [1, 3, 0]), ([True, False], [True, True]), (True, False)])
def test_tensors(actual, expected):
    same(lambda m: m.testing.assert_close(m.tensor(actual), m.tensor(expected)))


METADATA = {
    "only one tolerance": lambda m: (m.ones(1), m.ones(1), {"rtol": 1}),
    "on meta": lambda m: (m.ones(2, device="meta"), m.zeros(2, device="meta"), {}),
    "device": lambda m: (m.ones(2, device="meta"), m.ones(2, dtype=m.int64), {}),
    "device unchecked": lambda m: (m.ones(2), m.zeros(2, device="meta"), {"check_device": False}),
    "strides first": lambda m: (m.ones(2, 3), m.ones(3, 2, dtype=m.int64).t(), {"check_stride": True}),
}


@pytest.mark.parametrize("make", METADATA.values(), ids=METADATA)
def test_metadata(make):
    def program(m):
        actual, expected, options = make(m)
        m.testing.assert_close(actual, expected, **options)

    same(program)
