"""Buffers that Tenon exports are like NumPy's; attributes of imported arrays are not trusted."""

import ctypes
import gc

import pytest
import tenon

FLAGS = {"simple": 0, "writable": 1, "format": 4, "nd": 8, "strides": 0x18, "c": 0x38, "f": 0x58, "any": 0x98, "indirect": 0x118,
         "contig": 9, "strided": 0x19, "records": 0x1D, "full": 0x11D, "full_ro": 0x11C, "c_format": 0x3C}  # fmt: skip


class Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]  # fmt: skip


def granted(owner, flags):
    """The fields of an object's buffer for these flags, or "refused"."""
    get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
    get.argtypes, release.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int], [ctypes.POINTER(Buffer)]
    buffer = Buffer()
    try:
        get(owner, ctypes.byref(buffer), flags)
    except (BufferError, ValueError):  # NumPy raises ValueError
        return "refused"
    sizes, strides = (tuple(pointer[: buffer.ndim]) if pointer else None for pointer in (buffer.shape, buffer.strides))
    if strides:
        strides = [stride for size, stride in zip(sizes, strides) if size > 1]  # other strides are never used
    result = (buffer.buf, buffer.len, buffer.itemsize, buffer.readonly, buffer.format, sizes, strides, buffer.suboffsets)
    release(ctypes.byref(buffer))
    return result


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize(
    "view",
    [lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[1:], lambda x: x[:1], lambda x: x[:, :1], lambda x: x[:1].T, lambda x: x[0], lambda x: x[0, 0, ...], lambda x: x[:0], lambda x: x[:, 0]],
    ids=["dense", "transposed", "gaps", "rows", "row", "column", "row_transposed", "one_dim", "no_dim", "empty", "strided"],
)
def test_buffers_are_like_numpys(flags, view):
    np = pytest.importorskip("numpy")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor = view(tenon.from_numpy(array))
    ours, theirs = granted(tensor, FLAGS[flags]), granted(view(array), FLAGS[flags])
    if tensor.numel() == 0 and ours != "refused":  # there is no address to compare
        ours, theirs = ours[1:6], theirs[1:6]
    assert ours == theirs


def test_broadcast_tensors_give_no_contiguous_buffers():
    tensor = tenon.arange(1).expand(5)
    assert {name for name, flags in FLAGS.items() if granted(tensor, flags) != "refused"} == {"strides", "indirect", "strided", "records", "full", "full_ro"}
    with pytest.raises((BufferError, TypeError)):
        (ctypes.c_char * 40).from_buffer(tensor)


def test_borrowed_buffers_are_held():
    """While a tensor shares a buffer's memory, the buffer cannot be resized or released."""
    data = bytearray(range(8))
    tensor = tenon.frombuffer(data, dtype=tenon.uint8)
    with pytest.raises(BufferError):
        data.append(1)
    view = memoryview(data)
    over_view = tenon.frombuffer(view, dtype=tenon.uint8)
    with pytest.raises(BufferError):
        view.release()
    del tensor, over_view
    gc.collect()
    view.release()
    data.append(1)
    with pytest.raises(RuntimeError, match="could not retrieve buffer"):
        tenon.frombuffer(view, dtype=tenon.uint8)


def test_attributes_of_array_subclasses_are_ignored():
    np = pytest.importorskip("numpy")

    class WrongAttributes(np.ndarray):
        dtype = property(lambda self: np.dtype("float64"))
        shape = property(lambda self: (1000,))
        strides = property(lambda self: (1000,))

    class Fake:
        __class__ = np.ndarray

    lying = np.ones(1, np.uint8).view(WrongAttributes)
    for tensor in (tenon.from_numpy(lying), tenon.as_tensor(lying), tenon.tensor(lying), tenon.asarray(lying)):
        assert tensor.dtype is tenon.uint8 and tensor.tolist() == [1]
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got Fake\)"):
        tenon.from_numpy(Fake())
    with pytest.raises(TypeError):
        tenon.ones(2) + Fake()


def test_errors_for_unsupported_arrays_list_the_supported_dtypes():
    np = pytest.importorskip("numpy")
    for dtype in (np.longdouble, object):
        with pytest.raises(TypeError) as error:
            tenon.from_numpy(np.zeros(1, dtype))
        name = np.dtype(dtype).type.__name__
        assert str(error.value) == f"can't convert np.ndarray of type numpy.{name}. The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
