"""assert_close: what passes and what its errors say."""

import pytest

torch = pytest.importorskip("torch")

from judge import same

nan = float("nan")
PAIRS = [
    (1e300, 2e300, {}), (1e40, 1e41, {}), (1.0, 1.000001, {}), ([1.0], [1.000001], {}), (16777216.0, 16777217.0, {}), (0.0, 1e-8, {}),
    (None, None, {}), (None, 1, {}), ([None], [1.0], {}), (2**70, 2**70, {}), (2**70, 2**70 + 1, {}), (1, 2, {}), (1, 1.0, {}),
    (1, 1.0, {"check_dtype": False}), (True, False, {}), (True, True, {}), (1.0, nan, {}), (nan, nan, {}), (nan, nan, {"equal_nan": True}),
    (float("inf"), float("inf"), {}), (float("inf"), 1.0, {}), (1.0, float("inf"), {"rtol": 0.5, "atol": 0}), (0.0, 2.0, {}),
    (5, 6, {"rtol": 0.5, "atol": 0}), ({"a": 1.0}, {"a": 1.1}, {}), ((1, 2), [1, 2], {}), (1 + 2j, 1 + 3j, {}), ("a", "a", {}),
]  # fmt: skip


@pytest.mark.parametrize("actual, expected, options", PAIRS)
def test_numbers(actual, expected, options):
    same(lambda m: m.testing.assert_close(actual, expected, **options))


@pytest.mark.parametrize("actual, expected", [([1.0, nan], [1.0, 2.0]), ([1.0, nan, 3.0], [1.0, 2.0, 4.0]), ([[1.0, 2.0]], [[1.0, 3.0]]), ([1, 2, 7], [1, 3, 0]), ([True, False], [True, True])])
def test_tensors(actual, expected):
    same(lambda m: m.testing.assert_close(m.tensor(actual), m.tensor(expected)))
