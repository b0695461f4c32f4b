"""NumPy's functions give for tensors what they give for arrays, with tensors instead of arrays."""

import operator
import warnings

import declared
import pytest
import tenon

np = pytest.importorskip("numpy")

from tenon import _numpy, _standard

MATRIX = np.array([[4.0, 1.0], [1.0, 3.0]])
ARGUMENTS = [(MATRIX,), (MATRIX, MATRIX), (MATRIX, 0), ([MATRIX, MATRIX],), (MATRIX, MATRIX, MATRIX), (MATRIX[0],), (MATRIX[0], MATRIX[0])]
FILES = {"save", "savez", "savez_compressed", "savetxt", "fromregex"}


def dispatched():
    """Every function of NumPy that dispatches through __array_function__."""
    for module in (np, np.linalg, np.fft):
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if name not in FILES and callable(function) and hasattr(function, "_implementation"):
                yield pytest.param(function, id=f"{module.__name__}.{name}")


OF_ANY_SIGN = ("eigh", "svd", "qr")  # vectors that another algorithm may give with the other sign


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
            ours = function(*tensors)
            if function.__name__ in OF_ANY_SIGN:
                ours, theirs = (type(each)._make(map(np.abs, each)) for each in (ours, theirs))
            same(ours, theirs, as_tensor=not isinstance(arguments[0], list))  # NumPy does not search most lists for tensors
        same([value for value in tensors if isinstance(value, tenon.Tensor)], [value for value in mutable if isinstance(value, np.ndarray)])  # arguments written in place


def test_named_tuples():
    values, vectors = np.linalg.eigh(tenon.tensor([[2.0, 0.0], [0.0, 3.0]]))
    assert isinstance(values, tenon.Tensor) and values.tolist() == [2, 3]
    result = np.linalg.svd(tenon.ones(2, 3).double())
    assert result.S.shape == (2,) and isinstance(result.U, tenon.Tensor) and type(result).__name__ == "SVDResult"
    assert np.linalg.slogdet(tenon.ones(1, 1)).logabsdet.item() == 0 and np.linalg.qr(tenon.ones(2, 2)).R.shape == (2, 2)
    assert np.unique_counts(tenon.tensor([1, 1, 2])).counts.tolist() == [2, 1]


def test_out_is_returned():
    out = tenon.empty(3)
    assert np.cumsum(tenon.ones(3), out=out) is out and out.tolist() == [1, 2, 3]
    assert np.sum(tenon.ones(2, 3), axis=0, out=out) is out and out.tolist() == [2, 2, 2]
    array = np.empty(3, np.float32)
    assert np.cumsum(tenon.ones(3), out=array) is array and array.tolist() == [1, 2, 3]


def test_reversed_results():
    assert np.flip(tenon.arange(3)).tolist() == [2, 1, 0] and isinstance(np.flip(tenon.arange(3)), tenon.Tensor)


def as_arrays(values):
    return [as_arrays(value) if isinstance(value, list) else value.numpy().copy() if isinstance(value, tenon.Tensor) else value for value in values]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="older NumPy lacks some of the names")
@pytest.mark.parametrize("name", _standard._NUMPY)
def test_declared_name(name, monkeypatch):
    """If an op's block declares a name of NumPy, the op gives NumPy's result, without calling NumPy."""
    own = _standard._NUMPY[name]
    function = operator.attrgetter(name)(np)
    arguments, needs_dim = declared.plain_arguments(own)
    dims, arrays = [0] * needs_dim, as_arrays(arguments)
    with np.errstate(all="ignore"):
        theirs = function(*arrays, *dims)

    def fail(value):
        raise AssertionError(f"numpy.{name} goes to NumPy, not to {own}")

    monkeypatch.setattr(_numpy, "_as_array", fail)
    ours = function(*arguments, *dims)
    monkeypatch.undo()
    same(ours, theirs)
    assert theirs is None or isinstance(theirs, tuple) or not any(ours is argument for argument in arguments)


# NumPy's functions of these names copy, write in place, give lists, or have other arguments or dtypes.
OTHERS = """
    atleast_1d atleast_2d atleast_3d bincount corrcoef cov cross diff dsplit einsum gradient histogram hsplit median meshgrid nanmedian nanquantile pad put
    quantile repeat row_stack searchsorted split take tensordot trace trapezoid trapz unique vander vsplit
""".split()


def test_no_name_is_forgotten():
    """If NumPy has a function of an op's name, the op's block declares it."""
    named = [name for name in declared.NAMES if name not in OTHERS and callable(getattr(np, name, None))]
    assert [name for name in named if getattr(np, name) not in _numpy._UFUNCS | _numpy._FUNCTIONS] == []


def test_parameters_that_only_numpy_has():
    x = tenon.tensor([[3.0, 1.0], [2.0, 5.0]])
    assert np.sum(x, 0, np.float64).dtype is tenon.float64 and np.mean(tenon.tensor([1, 2])).item() == 1.5
    assert np.sum(x, keepdims=True).shape == (1, 1) and np.prod(x, keepdims=True).item() == 30
    assert np.flip(x, axis=0).tolist() == [[2, 5], [3, 1]] and np.roll(x, 1, axis=1).tolist() == [[1, 3], [5, 2]]
    assert np.maximum(x, 2).tolist() == [[3, 2], [2, 5]] and np.outer(x, x).shape == (4, 4) and np.dot(x, x).shape == (2, 2)
    mantissa, exponent = tenon.empty(2, 2), np.empty((2, 2), np.int32)
    np.frexp(x, out=(mantissa, exponent))
    assert mantissa.tolist() == [[0.75, 0.5], [0.5, 0.625]] and exponent.tolist() == [[2, 1], [2, 3]]


def test_gradients_go_through_declared_names():
    x = tenon.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    np.var(np.tril(np.matmul(x, x)), axis=0).sum().backward()
    assert x.grad.shape == (2, 2) and x.grad.abs().sum().item() > 0
