"""Exchange with NumPy, DLPack, buffers, pickle, files and matplotlib: shared memory, copies, leaks, errors."""

import copy
import gc
import pickle
import sys
import weakref

import pytest
import tenon
from tenon.array_api import standard_operators

np = pytest.importorskip("numpy")

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.parametrize("name", NAMES)
def test_numpy_shares_memory_both_ways(name):
    array = np.arange(6).reshape(2, 3).astype(name)
    tensor = tenon.from_numpy(array)
    assert tensor.dtype is getattr(tenon, name) and np.dtype(tensor.dtype) == array.dtype
    array[0, 0] = 1
    assert tensor[0, 0].item() == 1
    tensor[1, 2] = 0
    assert array[1, 2] == 0
    back = tensor.numpy()
    assert back.dtype == array.dtype and back.__array_interface__["data"] == array.__array_interface__["data"]
    assert np.asarray(tensor) is not None and np.array_equal(np.asarray(tensor), array)


def test_strides_are_kept():
    array = np.zeros((4, 6))[::2, 1::2].T
    assert tenon.from_numpy(array).stride() == (2, 12) and tenon.from_numpy(array).numpy().strides == array.strides
    assert tenon.ones(3).expand(2, 3).numpy().strides == (0, 4)


@pytest.mark.parametrize(
    "make, kind, text",
    [
        (lambda: np.ones(3)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
        (lambda: np.ones(3, dtype=">f4"), ValueError, "given numpy array has byte order different from the native byte order"),
        (lambda: np.ones(3, dtype=np.clongdouble), TypeError, "can't convert np.ndarray of type numpy.clongdouble"),
        (lambda: np.array([None]), TypeError, "can't convert np.ndarray of type numpy.object_"),
        (lambda: [1], TypeError, "expected np.ndarray (got list)"),
    ],
)
def test_arrays_that_cannot_be_shared(make, kind, text):
    with pytest.raises(kind) as error:
        tenon.from_numpy(make())
    assert str(error.value).startswith(text)


def test_copy_semantics_of_numpy_2():
    tensor = tenon.arange(3)
    assert np.array(tensor, copy=False).__array_interface__["data"][0] == tensor.data_ptr()
    assert np.array(tensor).__array_interface__["data"][0] != tensor.data_ptr()
    with pytest.raises(ValueError):
        np.array(tensor, dtype=np.float32, copy=False)


def test_numpy_functions_return_tensors():
    tensor, array = tenon.tensor([[1.0, 4.0], [9.0, 16.0]]), np.ones((2, 2), dtype=np.float32)
    for result in (array + tensor, tensor + array, np.sqrt(tensor), np.add(tensor, 1), np.sum(tensor, axis=0), np.sin(tensor),
                   np.concatenate([tensor, tensor]), np.where(tensor > 2, tensor, 0.0), np.add.reduce(tensor), np.transpose(tensor)):  # fmt: skip
        assert isinstance(result, tenon.Tensor)
    assert np.sum(tensor, axis=0).tolist() == [10.0, 20.0]
    array += tensor
    assert isinstance(array, np.ndarray) and array.tolist() == [[2, 5], [10, 17]]
    assert [row.tolist() for row in np.split(tensor, 2)] == [[[1, 4]], [[9, 16]]]


def test_products_with_arrays_are_promoted():
    """PyTorch leaves `tensor @ array` to NumPy, which promotes; the other order is an error there."""
    for dtype, other, wanted in ((tenon.float32, "f8", tenon.float64), (tenon.int64, "f8", tenon.float64), (tenon.float64, "f4", tenon.float64), (tenon.float32, "f4", tenon.float32)):
        x, array = tenon.arange(6, dtype=dtype).reshape(2, 3), np.arange(12, dtype=other).reshape(3, 4)
        for result, expected in ((x @ array, x.numpy() @ array), (array.T @ x.T, array.T @ x.T.numpy())):
            assert result.dtype == wanted and result.tolist() == expected.tolist()
    weights = tenon.ones(3, requires_grad=True)
    (weights @ np.arange(3.0)).backward()
    assert weights.grad.tolist() == [0.0, 1.0, 2.0] and weights.grad.dtype == tenon.float32
    with pytest.raises(TypeError):
        weights @ "a"


def test_dlpack():
    tensor = tenon.arange(6).view(2, 3).t()
    assert np.from_dlpack(tensor).__array_interface__["data"][0] == tensor.data_ptr()
    assert not np.from_dlpack(tenon.ones(1).expand(3)).flags.writeable
    array = np.arange(4.0)
    shared = tenon.from_dlpack(array)
    shared[0] = 7
    assert array[0] == 7
    capsule = array.__dlpack__()
    tenon.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        tenon.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="negative strides"):
        tenon.from_dlpack(array[::-1])
    with pytest.raises(BufferError):
        tenon.ones(2, device="meta").__dlpack__()
    read_only = np.arange(3)
    read_only.flags.writeable = False
    tenon.from_dlpack(read_only).zero_()
    assert read_only.tolist() == [0, 1, 2]


def test_buffers():
    tensor = tenon.tensor([[1, 2], [3, 4]], dtype=tenon.int16)
    view = memoryview(tensor)
    assert (view.format, view.shape, view.strides) == ("h", (2, 2), (4, 2)) and view[1, 0] == 3
    with pytest.raises(BufferError):
        memoryview(tensor.bfloat16())
    assert tenon.frombuffer(bytearray(b"\x01\x00\x02\x00"), dtype=tenon.int16).tolist() == [1, 2]


EXPORTS = {
    "numpy": lambda tensor: tensor.numpy(),
    "asarray": np.asarray,
    "memoryview": memoryview,
    "from_dlpack": np.from_dlpack,
    "capsule": lambda tensor: tensor.__dlpack__(),
    "view of it": lambda tensor: tensor[1:].numpy(),
    "detached": lambda tensor: memoryview(tensor.detach()),
    "array_interface": lambda tensor: np.array(tensor, copy=False),
}
IMPORTS = {
    "from_numpy": lambda: tenon.from_numpy(np.zeros(3)),
    "from_dlpack": lambda: tenon.from_dlpack(np.zeros(3)),
    "frombuffer": lambda: tenon.frombuffer(bytearray(24), dtype=tenon.float64),
}
RESIZES = {
    "resize_": lambda tensor: tensor.resize_(1 << 16),
    "out=": lambda tensor: tenon.add(tenon.ones(1 << 16), 1, out=tensor),
    "factory": lambda tensor: tenon.ones(1 << 16, out=tensor),
    "reduction": lambda tensor: tenon.sum(tenon.ones(2, 1 << 16), 0, out=tensor),
    "product": lambda tensor: tenon.mm(tenon.ones(99, 1), tenon.ones(1, 99), out=tensor),
    "alias": lambda tensor: tensor.detach().resize_(1 << 16),
    "view": lambda tensor: tensor[2:].resize_(1 << 16),
}


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("resize", RESIZES.values(), ids=RESIZES)
@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
def test_exported_memory_never_moves(export, resize):
    tensor = tenon.zeros(3)
    exported = export(tensor)
    before = tensor.data_ptr()
    with pytest.raises(RuntimeError, match="^Trying to resize storage that is not resizable$"):
        resize(tensor)
    assert tensor.data_ptr() == before and tensor.tolist() == [0, 0, 0] and exported is not None


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("resize", RESIZES.values(), ids=RESIZES)
@pytest.mark.parametrize("make", IMPORTS.values(), ids=IMPORTS)
def test_imported_memory_never_moves(make, resize):
    tensor = make()
    with pytest.raises(RuntimeError):
        resize(tensor)
    assert tensor.tolist() == [0, 0, 0]


def test_exported_memory_outlives_new_data():
    tensor = tenon.zeros(3)
    seen = [tensor.numpy(), memoryview(tensor), np.from_dlpack(tensor)]
    tensor.data = tenon.ones(5)
    del tensor
    gc.collect()
    others = [tenon.full((3,), 7.0) for _ in range(10)]
    assert all(list(array) == [0, 0, 0] for array in seen) and len(others) == 10


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for tensor in (tenon.ones(3).expand(4, 3), tenon.arange(12).view(3, 4).t(), tenon.arange(10)[::3], tenon.tensor(1.5), tenon.empty(0, 2),
                   tenon.tensor([1.0], dtype=tenon.bfloat16), tenon.ones(2, device="meta")):  # fmt: skip
        back = pickle.loads(pickle.dumps(tensor, protocol))
        assert back.shape == tensor.shape and back.dtype is tensor.dtype and back.device == tensor.device
        assert all(a == b for a, b in zip(back.stride(), tensor.stride()) if b == 0)
        assert tensor.is_meta or tenon.equal(back, tensor)
    for value in (tenon.float32, tenon.bool, tenon.Size([2, 3]), tenon.device("meta"), tenon.channels_last):
        assert pickle.loads(pickle.dumps(value, protocol)) == value


def test_pickle_out_of_band_copies_no_bytes():
    tensor, buffers = tenon.zeros(1000), []
    data = pickle.dumps(tensor, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 400 and len(buffers) == 1
    pickle.loads(data, buffers=buffers)[0] = 5
    assert tensor[0].item() == 5


def test_copies():
    base = tenon.arange(6)
    whole, part = copy.deepcopy([base, base[2:]])
    part[0] = -1
    assert whole[2].item() == -1 and base[2].item() == 2
    assert copy.copy(base).data_ptr() == base.data_ptr()
    base.mark = [1]
    assert copy.deepcopy(base).mark == [1] and copy.deepcopy(base).mark is not base.mark


@pytest.mark.parametrize("suffix", ["npy", "safetensors"])
def test_files(tmp_path, suffix):
    tensors = {name: tenon.tensor([[0, 1, 1]]).to(getattr(tenon, name)) for name in NAMES} | {"none": tenon.empty(0, 3), "t": tenon.arange(6).view(2, 3).t()}
    if suffix == "npy":
        for name, tensor in tensors.items():
            tenon.save(tensor, tmp_path / "x.npy")
            assert np.array_equal(np.load(tmp_path / "x.npy"), tensor.numpy())
            assert tenon.equal(tenon.load(tmp_path / "x.npy"), tensor) and tenon.equal(tenon.load(tmp_path / "x.npy", mmap=True), tensor)
        np.save(tmp_path / "f.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
        assert tenon.load(tmp_path / "f.npy").tolist() == [[0, 1, 2], [3, 4, 5]]
        return
    tensors["brain"] = tenon.tensor([1.5], dtype=tenon.bfloat16)
    tenon.save(tensors, tmp_path / "x.safetensors")
    back = tenon.load(tmp_path / "x.safetensors")
    assert back.keys() == tensors.keys() and all(tenon.equal(back[name], tensors[name]) for name in tensors)
    safetensors = pytest.importorskip("safetensors.numpy")
    del tensors["brain"]
    tenon.save(tensors, tmp_path / "y.safetensors")
    assert np.array_equal(safetensors.load_file(tmp_path / "y.safetensors")["int16"], tensors["int16"].numpy())


@pytest.mark.parametrize("data", [b"", b"x", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4'", (2**60).to_bytes(8, "little"), (2).to_bytes(8, "little") + b"[]",
                                  (70).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}'.ljust(70)])  # fmt: skip
def test_damaged_files(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(RuntimeError, match="damaged"):
        tenon.load(tmp_path / "x")


def test_the_last_tensor_frees_the_array():
    array = np.arange(1000)
    alive = weakref.ref(array)
    tensor = tenon.from_numpy(array)[2:]
    del array
    gc.collect()
    assert alive() is not None
    del tensor
    gc.collect()
    assert alive() is None


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_reference_counts():
    """Valid and invalid calls leak no references."""
    tensor, other = tenon.ones(3), tenon.ones(4)
    calls = [lambda: tensor + 1, lambda: tensor[0], lambda: tensor.add_(1), lambda: tensor.shape, lambda: tenon.add(tensor, tensor, out=tensor),
             lambda: tensor + other, lambda: tenon.abs("x"), lambda: tensor.sum(dim="x"), lambda: tensor[[0, 1]], lambda: tensor.tolist(),
             lambda: np.asarray(tensor), lambda: tenon.from_dlpack(tensor), lambda: pickle.dumps(tensor), lambda: tensor["x"]]  # fmt: skip

    def run():
        for call in calls:
            for _ in range(20):
                try:
                    call()
                except (RuntimeError, TypeError, IndexError):
                    pass
        gc.collect()

    run()
    before = [sys.getrefcount(value) for value in (tensor, other, tenon.Tensor, None, True, NotImplemented)]
    objects = len(gc.get_objects())
    run()
    after = [sys.getrefcount(value) for value in (tensor, other, tenon.Tensor, None, True, NotImplemented)]
    assert all(abs(a - b) < 15 for a, b in zip(after, before)), (before, after)
    assert abs(len(gc.get_objects()) - objects) < 50


def test_array_api_namespace():
    x = tenon.ones(2, 3)
    xp = x.__array_namespace__()
    assert xp.sum(xp.multiply(x, 2)).item() == 12 and xp.isdtype(x.dtype, "real floating")
    assert xp.__array_namespace_info__().default_dtypes()["integral"] is tenon.int64


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_plots(tmp_path):
    """matplotlib accepts tensors: lines, pictures, histograms."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    x = tenon.linspace(0, 1, 20)
    figure, axes = pyplot.subplots(2, 2)
    (line,) = axes[0, 0].plot(x, x * x)
    axes[0, 0].fill_between(x, x * x - 0.1, x * x + 0.1)
    picture = axes[0, 1].imshow(x.view(4, 5))
    axes[1, 0].hist(x)
    axes[1, 1].scatter(x, x * x, c=x)
    figure.savefig(tmp_path / "plot.png")
    pyplot.close(figure)
    assert np.allclose(line.get_ydata(), (x * x).numpy()) and picture.get_array().shape == (4, 5)
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_dask_tokens():
    """Tensors with equal elements have equal tokens, whatever their addresses."""
    tokens = [tensor.__dask_tokenize__() for tensor in (tenon.arange(6), tenon.arange(6), tenon.arange(6).int(), tenon.arange(1, 7))]
    assert tokens[0] == tokens[1] and len(set(map(str, tokens))) == 3


@pytest.mark.without_asan("AddressSanitizer keeps freed memory for a while, so that the process grows")
def test_memory_does_not_grow():
    """After a hundred rounds of valid and invalid calls, further rounds need no more memory."""
    resource = pytest.importorskip("resource")
    array = np.ones(1000)

    def work():
        tensor = tenon.from_numpy(array)
        for call in (lambda: tensor + 1, lambda: (tensor.view(10, 100) + tensor[:100]).sum(0).tolist(), lambda: tensor.numpy(), lambda: pickle.loads(pickle.dumps(tensor)),
                     lambda: tensor + tenon.ones(7), lambda: tenon.add(tensor, "x"), lambda: tensor[tensor > 0], lambda: tenon.from_dlpack(tensor),
                     lambda: tenon.tensor([[1], [2, 3]]), lambda: copy.deepcopy([tensor, tensor])):  # fmt: skip
            try:
                call()
            except (RuntimeError, TypeError, ValueError):
                pass

    for _ in range(100):
        work()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(2000):
        work()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # KiB


def test_dtypes_of_numpy():
    x = tenon.arange(6.0).view(2, 3)
    assert x.sum(dtype=np.dtype("f8")).dtype is tenon.float64 and x.prod(dtype=np.float16).dtype is tenon.float16 and tenon.zeros(2, dtype=np.uint16).dtype is tenon.uint16
    assert x.view(np.dtype("i4")).dtype is tenon.int32 and x.to(np.bool_).dtype is tenon.bool and tenon.full((), 1, dtype=np.dtype("c8")).dtype is tenon.complex64
    for refused in (np.dtype(">f8"), np.dtype("O"), np.dtype("U3"), np.dtype("M8[s]"), np.dtype([("a", "f4")]), np.number, np.longdouble):
        with pytest.raises(TypeError):
            tenon.zeros(2, dtype=refused)
    assert tenon.bool == bool and tenon.float32 != bool and tenon.float32 == np.dtype("f4") and not tenon.float64 == float
    assert hash(tenon.bool) == hash(bool) and {tenon.float32: 1}[x.dtype] == 1 and tenon.bool in (int, bool) and tenon.int64 not in (int, bool)


def test_slices_that_go_back():
    with pytest.raises(ValueError, match="step must be greater than zero"):
        tenon.ones(3)[::-1]
    with standard_operators():
        check_backward_slices()


def check_backward_slices():
    x, array = tenon.arange(60).view(3, 4, 5), np.arange(60).reshape(3, 4, 5)
    mask = array[:, :, 0] % 10 > 2
    for key in (np.s_[::-1], np.s_[..., ::-2], np.s_[1:0:-1, None, ::-1], np.s_[2::-1, [1, 0], 3], np.s_[::-1, ..., 4:0:-3], np.s_[0:2:-1], np.s_[..., ::-1, [0, 2, 1]],
                (mask, slice(None, None, -1)), (mask.tolist(), slice(None, None, -2)), (slice(None, None, np.int64(-1)), tenon.tensor([1, 0])), np.s_[-1:-100:-1, True]):  # fmt: skip
        assert np.array_equal(x[key], array[key])
        for value in (7, tenon.arange(int(x[key].shape[-1])) if x[key].ndim else 3):
            x[key], array[key] = value, np.asarray(value)
            assert np.array_equal(x, array)
    for refused in (np.s_[::-1, 0, 0, 0], np.s_[3, ::-1]):
        with pytest.raises(IndexError):
            x[refused]
    with pytest.raises(RuntimeError):
        x[::-1] = tenon.ones(7)
    weights = tenon.ones(3, requires_grad=True)
    (weights * 1)[::-1][:2].sum().backward()
    assert weights.grad.tolist() == [0, 1, 1] and np.array_equal(x, array)


def test_writes_to_wide_unsigned():
    for name in ("uint16", "uint32", "uint64"):
        x = tenon.tensor([1, 0, 3], dtype=getattr(tenon, name))
        x[x == 0] = 2
        x[tenon.tensor([0, 2])] = x[:2].clone()
        assert x.tolist() == [1, 2, 2] and x.dtype is getattr(tenon, name)
