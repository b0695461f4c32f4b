"""Every ufunc of NumPy, every way to call it, gives tensors NumPy's values; so do files, like=, and NumPy's own checks."""

import io
import warnings

import pytest
import tenon

np = pytest.importorskip("numpy")

UFUNCS = {name: value for name, value in vars(np).items() if isinstance(value, np.ufunc)}
VALUES = {"bool": [True, False, True], "int64": [3, 1, 2], "uint8": [3, 1, 2], "float64": [0.5, 0.25, 0.75], "float32": [0.5, 0.25, 0.75], "complex128": [0.5 + 1j, 0.25, 0.75j]}


def both(call, *arrays):
    """The call's results of NumPy's arrays and of tensors; None where NumPy refuses them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = call(*(array.copy() for array in arrays))
        except Exception:
            return None
        return call(*(tenon.from_numpy(array.copy()) for array in arrays)), theirs


def same(results, as_tensor=True):
    if results is None:
        return
    ours, theirs = results
    if isinstance(theirs, tuple):
        for pair in zip(ours, theirs, strict=True):
            same(pair, as_tensor)
        return
    known = np.asarray(theirs).dtype.kind in "biufc" and np.asarray(theirs).dtype.name != "longdouble"
    assert isinstance(ours, tenon.Tensor) == known or np.isscalar(ours) or not as_tensor
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    # PyTorch's dtypes: of integers float32, where NumPy gives float16 or float64.
    assert ours.shape == theirs.shape and (ours.dtype.kind == theirs.dtype.kind or {ours.dtype.kind, theirs.dtype.kind} <= set("biu"))
    assert np.allclose(ours, theirs, rtol=1e-3 if theirs.dtype == np.float16 else 1e-5, equal_nan=True)


@pytest.mark.parametrize("name", UFUNCS)
def test_call(name):
    function = UFUNCS[name]
    for dtype, values in VALUES.items():
        x = np.array(values, dtype)
        if name in ("reciprocal", "heaviside") and x.dtype.kind in "biu":
            continue  # PyTorch's: floats of integers, or integers of integers
        if function.signature:
            x = np.stack([x, x, x])
        same(both(lambda *operands: function(*operands), *[x] * function.nin))
        if function.nin == 2 and not function.signature:
            same(both(lambda a: function(a, x), x))
            same(both(lambda a: function(x[0].item(), a), x))
            same(both(lambda a, b: function(a, b), x.reshape(3, 1), x))


@pytest.mark.parametrize("name", [name for name, function in UFUNCS.items() if function.nin == 2 and function.nout == 1 and not function.signature])
@pytest.mark.parametrize("dtype", VALUES)
def test_methods(name, dtype):
    function, x = UFUNCS[name], np.array(VALUES[dtype] * 2, dtype).reshape(2, 3)
    same(both(lambda a: function.reduce(a), x))
    same(both(lambda a: function.reduce(a, axis=1, keepdims=True), x))
    same(both(lambda a: function.accumulate(a, axis=1), x))
    same(both(lambda a: function.reduceat(a, [0, 1], axis=1), x))
    same(both(lambda a: function.outer(a, a), x))

    def at(a):
        function.at(a, [0], a[1:] if isinstance(a, np.ndarray) else a[1:].numpy())
        return a

    same(both(at, x))


@pytest.mark.parametrize("name", ["add", "multiply", "sqrt", "exp", "maximum", "arctan2", "isfinite", "less"])
def test_options(name):
    function = UFUNCS[name]
    x = np.array(VALUES["float64"])
    operands, mask = [x] * function.nin, np.array([True, False, True])
    made = bool if name in ("isfinite", "less") else float
    same(both(lambda *a: function(*a, out=np.zeros(3, made)), *operands), as_tensor=False)
    same(both(lambda *a: function(*a, where=mask, out=np.zeros(3, made)), *operands), as_tensor=False)
    if name not in ("isfinite", "less"):
        same(both(lambda *a: function(*a, dtype=np.float32), *operands))
        out = tenon.zeros(3, dtype=tenon.float64)
        assert function(*map(tenon.from_numpy, operands), out=out) is out and np.allclose(out, function(*operands))
        kept = tenon.full((3,), 7.0, dtype=tenon.float64)
        assert function(*map(tenon.from_numpy, operands), where=tenon.from_numpy(mask), out=kept) is kept
        assert np.allclose(kept, np.where(mask, function(*operands), 7))


def test_like():
    like = tenon.ones(1)
    for made, wanted in (
        (np.asarray([1.0, 2.0], like=like), [1.0, 2.0]), (np.array([[1, 2]], dtype="int16", like=like), [[1, 2]]), (np.zeros((2, 1), like=like), [[0.0], [0.0]]),
        (np.ones(2, dtype=np.int64, like=like), [1, 1]), (np.full(2, 7, like=like), [7, 7]), (np.arange(3, like=like), [0, 1, 2]), (np.eye(2, like=like), [[1, 0], [0, 1]]),
        (np.identity(2, like=like), [[1, 0], [0, 1]]), (np.fromiter([1, 2], float, like=like), [1, 2]), (np.frombuffer(b"\1\2", np.uint8, like=like), [1, 2]),
    ):  # fmt: skip
        assert isinstance(made, tenon.Tensor) and made.tolist() == wanted
    assert np.empty(3, dtype="f4", like=like).dtype is tenon.float32 and np.asarray([1], dtype=np.uint16, like=like).dtype is tenon.uint16


def test_files_and_checks(tmp_path):
    x = tenon.arange(6.0).view(2, 3)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", x=x, y=x.flip(0))
    np.savetxt(tmp_path / "x.txt", x)
    assert np.array_equal(np.load(tmp_path / "x.npy"), x) and tenon.equal(tenon.load(tmp_path / "x.npy"), x)
    with np.load(tmp_path / "x.npz") as file:
        assert np.array_equal(file["y"], x.flip(0))
    assert np.array_equal(np.loadtxt(tmp_path / "x.txt"), x) and np.array_equal(np.load(io.BytesIO((tmp_path / "x.npy").read_bytes())), x)
    np.testing.assert_array_equal(x, x.numpy())
    np.testing.assert_allclose(x, x + 1e-9, atol=1e-6)
    np.testing.assert_array_less(x, x + 1)
    np.testing.assert_array_almost_equal(x, x.double())
    for check in (np.testing.assert_array_equal, np.testing.assert_allclose):
        with pytest.raises(AssertionError):
            check(x, x + 1)


def test_dtypes():
    for name in "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split():
        assert np.dtype(getattr(tenon, name)) == np.dtype(name) and np.result_type(getattr(tenon, name), np.bool_) == np.dtype(name)
        assert np.asarray(tenon.ones(2, dtype=getattr(tenon, name))).dtype == np.dtype(name)
    pytest.importorskip("ml_dtypes")
    import ml_dtypes

    assert np.dtype(tenon.bfloat16) == np.dtype(ml_dtypes.bfloat16)
    array = tenon.ones(2, dtype=tenon.bfloat16).numpy()
    assert array.dtype == ml_dtypes.bfloat16 and tenon.from_numpy(array).dtype is tenon.bfloat16 and np.add(tenon.ones(2, dtype=tenon.bfloat16), 1).tolist() == [2, 2]
    assert tenon.zeros(2, dtype=np.dtype(ml_dtypes.bfloat16)).dtype is tenon.bfloat16
