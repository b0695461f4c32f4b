"""NumPy's functions on tensors give what they give on arrays, with tensors where there were arrays."""

import warnings

import pytest
import tenon

np = pytest.importorskip("numpy")

MATRIX = np.array([[4.0, 1.0], [1.0, 3.0]])
ARGUMENTS = [(MATRIX,), (MATRIX, MATRIX), (MATRIX, 0), ([MATRIX, MATRIX],), (MATRIX, MATRIX, MATRIX), (MATRIX[0],), (MATRIX[0], MATRIX[0])]
FILES = {"save", "savez", "savez_compressed", "savetxt", "fromregex"}


def dispatched():
    """Every function of NumPy that asks its arguments for __array_function__."""
    for module in (np, np.linalg, np.fft):
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if name not in FILES and callable(function) and hasattr(function, "_implementation"):
                yield pytest.param(function, id=f"{module.__name__}.{name}")


def as_tensors(value):
    if isinstance(value, np.ndarray):
        return tenon.from_numpy(value.copy())
    return [as_tensors(item) for item in value] if isinstance(value, (list, tuple)) else value


def same(ours, theirs, as_tensor=True):
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same(a, b, as_tensor)
    elif isinstance(theirs, (np.ndarray, np.generic, int, float)):
        if as_tensor and isinstance(theirs, np.ndarray) and theirs.dtype.name in ("bool", "float64", "float32", "int64"):
            assert isinstance(ours, tenon.Tensor)
        ours = np.asarray(ours)
        assert ours.shape == np.shape(theirs) and ours.dtype == np.asarray(theirs).dtype
        assert np.array_equal(ours, theirs, equal_nan=ours.dtype.kind in "fc") or np.allclose(ours, theirs, equal_nan=True)
    else:
        assert type(ours) is type(theirs)


@pytest.mark.parametrize("function", list(dispatched()))
def test_function(function):
    if function.__name__ == "empty_like":
        assert function(as_tensors(MATRIX)).shape == (2, 2)
        return
    for arguments in ARGUMENTS:
        mutable = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theirs = function(*mutable)
            except Exception:
                continue
            tensors = as_tensors(arguments)
            same(function(*tensors), theirs, as_tensor=not isinstance(arguments[0], list))  # into most lists NumPy does not look
        same([value for value in tensors if isinstance(value, tenon.Tensor)], [value for value in mutable if isinstance(value, np.ndarray)])  # written in place, too


def test_named_tuples():
    values, vectors = np.linalg.eigh(tenon.tensor([[2.0, 0.0], [0.0, 3.0]]))
    assert isinstance(values, tenon.Tensor) and values.tolist() == [2, 3]
    result = np.linalg.svd(tenon.ones(2, 3).double())
    assert result.S.shape == (2,) and isinstance(result.U, tenon.Tensor) and type(result).__name__ == "SVDResult"
    assert np.linalg.slogdet(tenon.ones(1, 1)).logabsdet.item() == 0 and np.linalg.qr(tenon.ones(2, 2)).R.shape == (2, 2)
    assert np.unique_counts(tenon.tensor([1, 1, 2])).counts.tolist() == [2, 1]


def test_out_comes_back():
    out = tenon.empty(3)
    assert np.cumsum(tenon.ones(3), out=out) is out and out.tolist() == [1, 2, 3]
    assert np.sum(tenon.ones(2, 3), axis=0, out=out) is out and out.tolist() == [2, 2, 2]
    array = np.empty(3, np.float32)
    assert np.cumsum(tenon.ones(3), out=array) is array and array.tolist() == [1, 2, 3]


def test_reversed_results():
    assert np.flip(tenon.arange(3)).tolist() == [2, 1, 0] and isinstance(np.flip(tenon.arange(3)), tenon.Tensor)
