"""DLPack capsules: valid ones are imported, others raise an error."""

import ctypes

import pytest
import tenon


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]  # fmt: skip


def capsule(managed, name=b"dltensor"):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(managed), name, None)


def described(sizes=(2, 3), strides=None, data=True, ndim=None, shape=True, code=2, bits=32, lanes=1, device=1, offset=0):
    memory = (ctypes.c_float * 16)(*range(16))
    tensor = DLTensor(ctypes.addressof(memory) if data else None, device, 0, len(sizes) if ndim is None else ndim, code, bits, lanes, byte_offset=offset)
    tensor.memory = memory
    tensor.shape = (ctypes.c_int64 * len(sizes))(*sizes) if shape else None
    if strides is not None:
        tensor.strides = (ctypes.c_int64 * len(strides))(*strides)
    return tensor


def test_valid_capsules():
    tensor = described(offset=4)
    managed = Managed(tensor)
    assert tenon.from_dlpack(capsule(managed)).tolist() == [[1, 2, 3], [4, 5, 6]]
    versioned = Versioned(1, 7, None, None, 1, tensor)
    assert tenon.from_dlpack(capsule(versioned, b"dltensor_versioned")).tolist() == [[1, 2, 3], [4, 5, 6]]
    empty = Managed(described(sizes=(0, 3), strides=(-1, -7), data=False))
    assert tenon.from_dlpack(capsule(empty)).shape == (0, 3)


@pytest.mark.parametrize("wrong", [
    {"shape": False}, {"ndim": -1}, {"sizes": (-2, 3)}, {"data": False}, {"bits": 31}, {"bits": 0}, {"lanes": 4}, {"lanes": 0}, {"code": 5}, {"code": 200}, {"strides": (-3, 1)},
    {"sizes": (2**40, 2**40)}, {"sizes": (2**62,)}, {"strides": (2**62, 2**62)}, {"device": 2}, {"device": -1}], ids=str)  # fmt: skip
def test_invalid_capsules(wrong):
    tensor = described(**wrong)
    managed, versioned = Managed(tensor), Versioned(1, 1, None, None, 0, tensor)
    for value in (capsule(managed), capsule(versioned, b"dltensor_versioned")):
        with pytest.raises((RuntimeError, ValueError)):
            tenon.from_dlpack(value)


def test_other_capsules():
    versioned = Versioned(2, 0, None, None, 0, described())
    for value in (capsule(versioned, b"dltensor_versioned"), capsule(Managed(described()), b"other"), capsule(Managed(described()), b"used_dltensor")):
        with pytest.raises(RuntimeError):
            tenon.from_dlpack(value)
    with pytest.raises(TypeError):
        tenon.from_dlpack(type("Odd", (), {"__dlpack__": lambda self, **options: tenon.ones(2).__dlpack__(), "__dlpack_device__": lambda self: None})())
