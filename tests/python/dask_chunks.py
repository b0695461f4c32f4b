"""Tensors as chunks of Dask arrays: every chunk that Dask computes is a tensor, with the values of NumPy's chunks."""

import doctest
import pickle
import subprocess
import sys

import pytest
import tenon

np = pytest.importorskip("numpy")
da = pytest.importorskip("dask.array")

import dask
import tenon.dask
from dask.base import tokenize
from dask.core import flatten
from dask.sizeof import sizeof

RANDOM = np.random.default_rng(0)
X, Y, R = RANDOM.normal(size=(60, 8)), RANDOM.normal(size=(8, 60)), RANDOM.normal(size=8)
M = RANDOM.integers(0, 9, (60, 8))
SPARSE = np.where(RANDOM.random((60, 8)) < 0.2, np.nan, X)


@pytest.fixture(autouse=True)
def synchronous():
    with dask.config.set(scheduler="sync"):
        yield


def assigned(x, *assignments):
    x = x.copy()
    for key, value in assignments:
        x[key(x) if callable(key) else key] = value
    return x


def operands(make):
    chunks = {"x": (20, 3), "y": (3, 20), "r": 3, "m": (20, 3), "n": (20, 3)}
    arrays = {"x": X, "y": Y, "r": R, "m": M, "n": SPARSE}
    return {name: da.from_array(make(arrays[name]), chunks=chunks[name]) for name in chunks}


def as_tensor(array):
    return tenon.from_numpy(array.copy())


FUNCTIONS = {
    "from_array": lambda x, **_: x,
    "map_blocks": lambda x, **_: x.map_blocks(lambda block: block * 2 + 1),
    "map_blocks of NumPy's function": lambda x, **_: x.map_blocks(np.exp),
    "map_overlap": lambda x, **_: x.map_overlap(lambda block: block * 2, depth=1),
    "rechunk": lambda x, **_: x.rechunk((13, 3)),
    "persist": lambda x, **_: x.persist(),
    "blocks": lambda x, **_: x.blocks[1],
    "add": lambda x, r, **_: x + r,
    "number": lambda x, **_: 1 - x / 2,
    "integers and floats": lambda x, m, **_: m + x,
    "floor_divide": lambda m, **_: m // 3 + m % 4,
    "bits": lambda m, **_: (m & 3) | (m << 2),
    "compare": lambda x, **_: ~(x > 0) & (x < 1),
    "sin": lambda x, **_: da.sin(x),
    "maximum": lambda x, r, **_: da.maximum(x, r),
    "modf": lambda x, **_: da.modf(x)[0],
    "matmul": lambda x, y, **_: x @ y,
    "matmul of a vector": lambda x, r, **_: x @ r,
    "dot": lambda x, y, **_: da.dot(x, y),
    "vdot": lambda x, **_: da.vdot(x, x),
    "tensordot": lambda x, y, **_: da.tensordot(x, y, axes=1),
    "tensordot of rows": lambda x, **_: da.tensordot(x, x, axes=((0,), (0,))),
    "einsum": lambda x, y, **_: da.einsum("ij,jk->ik", x, y),
    "einsum of rows": lambda x, m, **_: da.einsum("ij,ij->i", x, m),
    "outer": lambda r, **_: da.outer(r, r),
    "slice": lambda x, **_: x[3:40:2, None, 1],
    "mask": lambda x, **_: x[x > 0],
    "mask of rows": lambda x, **_: x[x[:, 0] > 0],
    "known sizes": lambda x, **_: x[x[:, 0] > 0].compute_chunk_sizes(),
    "index": lambda x, **_: x[[5, 1, 50, 3]][:, [1, 0]],
    "index of Dask": lambda x, m, **_: x[m[:20, 0]],
    "vindex": lambda x, **_: x.vindex[[1, 40, 7], [0, 3, 1]],
    "take": lambda x, **_: da.take(x, [1, 2], axis=0),
    "shuffle": lambda x, **_: da.shuffle(x, [[1, 5, 3], [40, 30]], axis=0),
    "compress": lambda x, **_: da.compress([True, False, True], x, axis=0),
    "back": lambda x, **_: x[50:3:-3, ::-1],
    "flip": lambda x, **_: da.flip(x, 0),
    "topk": lambda x, **_: da.topk(x, 3, axis=0),
    "setitem": lambda x, **_: assigned(x, ((slice(3, 20), 2), 7.0), (5, np.arange(8.0)), ([1, 3], -1.0)),
    "setitem of a mask": lambda x, **_: assigned(x, (lambda x: x > 1, 0.0)),
    "where": lambda x, r, **_: da.where(x > 0, x, r),
    "where of a number": lambda x, **_: np.where(x > 0, x, 0.0),
    "choose": lambda x, **_: da.choose((x > 0).astype(int), [x, -x]),
    "select": lambda x, **_: da.select([x > 0, x < -1], [x, -x], 0.0),
    "concatenate": lambda x, m, **_: da.concatenate([x, m], axis=1),
    "stack": lambda x, **_: da.stack([x, x]),
    "block": lambda x, **_: da.block([[x, x]]),
    "broadcast_to": lambda r, **_: da.broadcast_to(r, (60, 8)),
    "broadcast_arrays": lambda x, r, **_: da.broadcast_arrays(x, r)[1],
    "reshape": lambda x, **_: x.reshape(30, 2, 8),
    "ravel": lambda x, **_: x.ravel(),
    "transpose": lambda x, **_: x.T,
    "roll": lambda x, **_: da.roll(x, 3, 0),
    "pad": lambda x, **_: da.pad(x, 1),
    "tril": lambda x, **_: da.tril(x),
    "diff": lambda x, **_: da.diff(x, axis=0),
    "clip": lambda x, **_: da.clip(x, -1, 1),
    "round": lambda x, **_: x.round(2),
    "astype": lambda x, **_: x.astype("f4"),
    "astype of integers": lambda x, **_: x.astype(int),
    "view": lambda x, **_: x.view("i8"),
    "isclose": lambda x, **_: da.isclose(x, x + 1e-9),
    "allclose": lambda x, **_: da.allclose(x, x + 1e-9),
    "isin": lambda m, **_: da.isin(m, [1, 2]),
    "any": lambda x, **_: (x > 2).any(),
    "all": lambda x, **_: (x > -9).all(axis=0),
    "argmax": lambda x, **_: x.argmax(axis=0),
    "argmin": lambda x, **_: x.argmin(axis=1),
    "argmax of all": lambda x, **_: x.argmax(),
    "nanargmax": lambda n, **_: da.nanargmax(n, axis=0),
    "cumsum": lambda x, **_: x.cumsum(axis=0),
    "cumsum of integers": lambda m, **_: da.cumsum(m, axis=1),
    "cumsum in a tree": lambda x, **_: da.cumsum(x, axis=0, method="blelloch"),
    "cumprod": lambda x, **_: x.cumprod(axis=0),
    "percentile": lambda r, **_: da.percentile(r, [10, 50, 90]),
    "percentile of integers": lambda m, **_: da.percentile(m[:, 0], [25, 50]),
    "median": lambda x, **_: da.median(x, axis=0),
    "quantile": lambda x, **_: da.quantile(x, [0.25, 0.5], axis=1),
    "histogram": lambda x, **_: da.histogram(x, bins=10, range=(-3, 3))[0],
    "bincount": lambda m, **_: da.bincount(m[:, 0], minlength=9),
    "average": lambda x, r, **_: da.average(x, axis=1, weights=r),
    "cov": lambda x, **_: da.cov(x.T),
    "coarsen": lambda x, **_: da.coarsen(np.mean, x, {0: 5}),
    "blockwise": lambda x, r, **_: da.blockwise(np.add, "ij", x, "ij", r, "j"),
    "apply_gufunc": lambda x, **_: da.apply_gufunc(lambda row: row.sum(-1), "(i)->()", x.rechunk((20, 8))),
    "norm": lambda x, **_: da.linalg.norm(x, axis=1),
    "qr": lambda x, **_: abs(da.linalg.qr(x.rechunk((20, 8)))[1]),
    "svd": lambda x, **_: da.linalg.svd(x.rechunk((20, 8)))[1],
    "fft": lambda x, **_: da.fft.fft(x.rechunk((20, 8)), axis=1),
    "ones_like": lambda x, **_: da.ones_like(x),
    "std of a sample": lambda x, **_: x.std(axis=0, ddof=1),
    "mean of integers": lambda m, **_: m.mean(),
    "mean of float32": lambda x, **_: x.astype("f4").mean(axis=0),
    "sum of int8": lambda m, **_: m.astype("i1").sum(),
    "sum of bools": lambda x, **_: (x > 0).sum(),
    "sum as float32": lambda x, **_: x.sum(dtype="f4"),
    "largest of an empty block": lambda x, **_: x[:, 0][da.arange(60, chunks=20) < 20].max(),
}
for _name in "sum prod min max mean std var nansum nanprod nanmin nanmax nanmean nanstd nanvar".split():
    FUNCTIONS[_name] = lambda x, n, name=_name, **_: getattr(da, name)(n if name[:3] == "nan" else x)
    FUNCTIONS[_name + " of columns"] = lambda x, n, name=_name, **_: getattr(da, name)(n if name[:3] == "nan" else x, axis=0)
    FUNCTIONS[_name + " with keepdims"] = lambda x, n, name=_name, **_: getattr(da, name)(n if name[:3] == "nan" else x, axis=(0, 1), keepdims=True)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    function = FUNCTIONS[name]
    wanted, lazy = function(**operands(np.copy)).compute(), function(**operands(as_tensor))
    computed = lazy.compute()
    assert isinstance(computed, tenon.Tensor)
    assert tuple(computed.shape) == np.shape(wanted) and np.dtype(computed.dtype) == wanted.dtype
    assert lazy.dtype == wanted.dtype or name == "percentile of integers"  # announced as an integer tensor over 0.5: float32
    assert np.allclose(np.asarray(computed), wanted, equal_nan=True)
    assert {type(chunk) for chunk in dask.get(lazy.dask, list(flatten(lazy.__dask_keys__())))} == {tenon.Tensor}


def test_dask_learns_of_tensors_by_itself():
    """An array of arrays whose chunks become tensors, in a process that imports nothing of tenon.dask."""
    code = "import dask.array as da, tenon; x = da.arange(10, chunks=5).map_blocks(tenon.from_numpy); print(type(da.percentile(x * 1.0, [50]).compute()), x + tenon.ones(10))"
    printed = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("<class 'tenon.Tensor'> dask.array<add, shape=(10,)") and "chunktype=tenon.Tensor" in printed


def test_tensors_beside_dask_arrays():
    ones = da.ones(3, chunks=2)
    for result in (tenon.arange(3.0) + ones, ones * tenon.arange(3.0), np.add(tenon.arange(3.0), ones), np.concatenate([ones, tenon.ones(1)])):
        assert isinstance(result, da.Array) and isinstance(result.compute(), tenon.Tensor)


def test_factories():
    with dask.config.set({"array.backend": "tenon"}):
        made = [da.ones((3, 4), chunks=2), da.zeros(3, dtype="i4"), da.full((2,), 7.0), da.arange(5), da.empty(3)]
        with pytest.raises(NotImplementedError, match="to_backend"):
            da.random.random(3)
    for array in (*made, da.random.default_rng(0).normal(size=9, chunks=4).to_backend("tenon")):
        assert isinstance(array._meta, tenon.Tensor) and isinstance(array.compute(), tenon.Tensor)
    assert isinstance(made[0].to_backend("numpy").compute(), np.ndarray) and made[0].to_backend("tenon") is made[0]
    assert made[1].compute().dtype is tenon.int32 and made[3].compute().tolist() == [0, 1, 2, 3, 4]


def test_tokens():
    rows = tenon.arange(6.0).view(2, 3)
    assert tokenize(rows) == tokenize(rows.clone()) != tokenize(rows + 1) and tokenize(rows) != tokenize(rows.view(6)) != tokenize(rows.double())
    assert da.from_array(rows).name == da.from_array(rows.clone()).name
    code = "import tenon; from dask.base import tokenize; print(tokenize(tenon.arange(6.).view(2, 3)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == tokenize(rows)


def test_sizes_in_memory():
    """What is broadcast counts once, as it is sent once."""
    rows = tenon.ones(1000, 1000)
    assert 4_000_000 <= sizeof(rows) < 4_001_000 and sizeof(tenon.ones(1000).expand(1000, 1000)) < 5000 and sizeof(rows[:10, ::2]) < 21_000


# --- Serialisation


def test_buffers_are_sent_as_they_are():
    protocol = pytest.importorskip("distributed.protocol")
    for tensor in (tenon.arange(1e6), tenon.arange(1000.0).expand(1000, 1000), tenon.arange(12).view(3, 4).t(), tenon.ones(4, dtype=tenon.bfloat16)):
        header, frames = protocol.serialize(tensor)
        back = protocol.deserialize(header, frames)
        assert back.data_ptr() == tensor.data_ptr() and back.stride() == tensor.stride() and back.dtype is tensor.dtype
        assert sum(memoryview(frame).nbytes for frame in frames) < sizeof(tensor) + 200


def test_pickles_cut_short():
    tensor, buffers = tenon.arange(1000.0).view(10, 100), []
    whole = pickle.dumps(tensor, protocol=5)
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        with pytest.raises((EOFError, pickle.UnpicklingError)):
            pickle.loads(whole[:length])
    head = pickle.dumps(tensor, protocol=5, buffer_callback=buffers.append)
    with pytest.raises(pickle.UnpicklingError, match="not enough out-of-band buffers"):
        pickle.loads(head, buffers=[])
    with pytest.raises(ValueError, match="leave the memory"):
        pickle.loads(head, buffers=[bytes(buffers[0])[:-4]])


# --- Errors


def same_error(function):
    """The type and the text are those that Dask gives with NumPy's chunks."""
    errors = []
    for make in (np.copy, as_tensor):
        with pytest.raises(Exception) as error:
            dask.compute(function(**operands(make)))
        errors.append(error.value)
    assert type(errors[0]) is type(errors[1]) and str(errors[0]).replace("\n", " ") == str(errors[1]).replace("\n", " ")


ERRORS = {
    "shapes of operands": lambda x, y, **_: x + y,
    "shapes of products": lambda x, **_: x @ x,
    "chunks of unknown sizes": lambda x, **_: x[x > 0].reshape(2, -1),
    "concatenation of unknown sizes": lambda x, r, **_: da.concatenate([x[x[:, 0] > 0], r[None]], axis=1),
    "index": lambda x, **_: x[60],
    "mask of another size": lambda x, **_: x[[True, False]],
    "setitem of another shape": lambda x, **_: assigned(x, (0, np.ones(3))),
    "reshape": lambda x, **_: x.reshape(7, 7),
    "axis": lambda x, **_: x.sum(axis=2),
    "broadcast_to": lambda x, **_: da.broadcast_to(x, (60, 9)),
    "chunks": lambda x, **_: x.rechunk(((7, 7), 8)),
    "stack": lambda x, y, **_: da.stack([x, y]),
    "NaN as an integer": lambda m, **_: assigned(m, (0, float("nan"))),
    "function of the user": lambda x, **_: x.map_blocks(lambda block: 1 // 0, dtype=float),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    same_error(ERRORS[name])


def test_chunks_of_two_libraries():
    """NumPy's chunks and tensors meet as tensors, whichever comes first."""
    arrays, tensors = operands(np.copy)["x"], operands(as_tensor)["x"]
    for result in (arrays + tensors, tensors + arrays, da.concatenate([arrays, tensors]), da.stack([arrays, tensors]), da.where(arrays > 0, tensors, 0.0), arrays.T @ tensors):
        assert isinstance(result.compute(), tenon.Tensor)
    masked = da.ma.masked_greater(arrays, 0)
    assert np.ma.allequal((masked + tensors).compute(), np.ma.masked_greater(X, 0) + X)
    with pytest.raises(TypeError, match="returned NotImplemented from __array_ufunc__"):
        da.maximum(tensors, masked).compute()  # rather than without the mask


# --- Gradients


def loss(parameters, x, y):
    return ((x * parameters["scale"]) @ parameters["weights"][0] + parameters["weights"][1] - y).square().sum()


def parameters_of_loss():
    tenon.manual_seed(0)
    return {"scale": tenon.rand(8).double(), "weights": [tenon.randn(8).double(), tenon.zeros((), dtype=tenon.float64)]}


def on_one_machine(parameters):
    gradients, value = tenon.func.grad_and_value(loss)(parameters, as_tensor(X), as_tensor(X[:, 0]))
    return value, gradients


def check_gradients(value, gradients, wanted):
    assert tenon.allclose(value, wanted[0]) and value.shape == () and gradients.keys() == wanted[1].keys()
    pairs = [(gradients["scale"], wanted[1]["scale"]), *zip(gradients["weights"], wanted[1]["weights"])]
    for gradient, each in pairs:
        assert isinstance(gradient, tenon.Tensor) and gradient.shape == each.shape and tenon.allclose(gradient, each)


@pytest.mark.parametrize("chunks", [(60, 8), (20, 3), (1, 8), ((0, 25, 35), 8)])
def test_gradients_across_chunks(chunks):
    parameters = parameters_of_loss()
    x, y = da.from_array(as_tensor(X), chunks=chunks), da.from_array(as_tensor(X[:, 0]), chunks=17)
    lazy = tenon.dask.value_and_grad(loss)(parameters, x, y)
    assert lazy[0].dtype == tenon.float64 and lazy[1]["scale"].shape == (8,) and not parameters["scale"].requires_grad
    check_gradients(*dask.compute(*lazy), on_one_machine(parameters))


def test_gradients_by_parameters_of_dask():
    """Parameters may themselves be computed later: the steps of a training are one graph."""
    x = da.from_array(tenon.arange(8.0).double(), chunks=3)
    gradient_of = tenon.dask.value_and_grad(lambda w, x: (w * x - 3 * x).square().sum())
    weight = tenon.zeros((), dtype=tenon.float64)
    for _ in range(8):
        weight = weight - gradient_of(weight, x)[1] / 400
    assert abs(weight.compute().item() - 3) < 0.05


def test_gradients_of_what_is_unused_are_zero():
    value, gradients = dask.compute(*tenon.dask.value_and_grad(lambda p, x: (p[0] * x).sum())((tenon.ones(2), tenon.ones(3)), da.from_array(tenon.ones(4, 2), chunks=2)))
    assert value.item() == 8 and gradients[0].tolist() == [4, 4] and gradients[1].tolist() == [0, 0, 0]


def test_refusals_of_gradients():
    rows, of = da.from_array(tenon.ones(4), chunks=2), tenon.dask.value_and_grad
    with pytest.raises(ValueError, match=r"must return a tensor of one element for its blocks, and gave sizes \[2\]"):
        dask.compute(of(lambda w, x: w * x)(tenon.ones(()), rows))
    with pytest.raises(ValueError, match="gave float"):
        dask.compute(of(lambda w, x: 1.0)(tenon.ones(()), rows))
    with pytest.raises(TypeError, match="floating point dtype"):
        of(loss)(tenon.ones(2, dtype=tenon.int64), rows)
    with pytest.raises(TypeError, match="a Dask array is needed"):
        of(loss)(tenon.ones(2))
    with pytest.raises(ValueError, match="Chunks do not add up to same value"):
        of(loss)(tenon.ones(2), rows, da.from_array(tenon.ones(5), chunks=2))


# --- Forms of NumPy's


def test_indices_of_bytes():
    """Dask names places by NumPy's bytes, which as indices of tensors are masks."""
    array = np.arange(60).reshape(12, 5)
    x = da.from_array(tenon.from_numpy(array.copy()), chunks=(4, 5))
    assert np.array_equal(x.vindex[[0, 5, 11, 5], [1, 4, 0, 2]].compute(), array[[0, 5, 11, 5], [1, 4, 0, 2]])
    assert np.array_equal(da.take(x, [11, 0, 5, 5], axis=0).compute(), array[[11, 0, 5, 5]]) and np.array_equal(x[[7, 1, 3]].compute(), array[[7, 1, 3]])
    assert np.array_equal(da.shuffle(x, [[11, 2, 7], [0, 5, 5]], axis=0).compute(), array[[11, 2, 7, 0, 5, 5]])
    one = tenon.arange(3)
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8"):
        assert one[np.array([1, 0, 1], np.uint8)].tolist() == [0, 2]  # PyTorch's meaning


def test_forms_of_numpy():
    x = tenon.arange(6.0).view(2, 3)
    assert x.size == 6 and x.size > 0 and x.size() == (2, 3) and x.size(1) == 3 == x.size(dim=1) and not tenon.empty(0).size
    assert x.imag.tolist() == [[0] * 3] * 2 and tenon.tensor([1 + 2j]).imag.item() == 2


def test_names_of_numpy():
    x = tenon.arange(3)
    assert x.astype("f4").dtype is tenon.float32 and x.astype(int) is not x and x.astype(np.int64, copy=False) is x and x.copy().data_ptr() != x.data_ptr()
    with pytest.raises(TypeError, match="Cannot cast array data from dtype"):
        tenon.ones(2).astype("i4", casting="safe")
    with pytest.raises(TypeError, match="numpy.dtype of type >f4"):
        x.astype(">f4")
    for name in "bool uint8 int16 int64 uint32 float16 float64 complex64".split():
        dtype = getattr(tenon, name)
        assert all(getattr(dtype, each) == getattr(np.dtype(name), each) for each in ("kind", "name", "type", "char", "str", "names", "hasobject"))
    assert tenon.bfloat16.kind == "f" and tenon.bfloat16.name == "bfloat16"


def test_page(root):
    results = doctest.testfile(str(root / "docs" / "dask.md"), module_relative=False, encoding="utf-8")
    assert results.failed == 0 and results.attempted > 0
