"""DLPack capsules with any content: the described tensor or an exception; the deleter is called once.

The memory's real size cannot be checked, so elements are read only if the memory exists."""

import ctypes
import gc
import math

import mutation
import tenon

ERRORS = (RuntimeError, TypeError, ValueError, IndexError, OverflowError, BufferError)
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", DELETER),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]  # fmt: skip


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_name = ctypes.pythonapi.PyCapsule_GetName
capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]

MEMORY = (ctypes.c_char * 4096)()
TYPES = [(6, 8), (1, 8), (0, 8), (0, 16), (0, 32), (0, 64), (2, 16), (4, 16), (2, 32), (2, 64)]


class Source:
    """An object that exports a capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def numbers(random, count):
    return [mutation.integer(random) if random.random() < 0.2 else random.randint(0, 4) for _ in range(count)]


def wrapped(number):
    return (number + 2**63) % 2**64 - 2**63


def is_inside(shape, strides, tensor):
    """Whether the described elements are inside the memory."""
    if strides is None:
        strides = [math.prod(max(size, 1) for size in shape[dim + 1 :]) for dim in range(len(shape))]
    last = sum((size - 1) * stride for size, stride in zip(shape, strides))
    return math.prod(shape) < 5000 and tensor.byte_offset + (last + 1) * max(tensor.bits // 8, 1) <= len(MEMORY)


def check(random):
    rank = random.choice((0, 1, 2, 2, 3, 5, 70))
    shape, strides = [wrapped(n) for n in numbers(random, rank)], [wrapped(n) for n in numbers(random, rank)]
    dense = random.random() < 0.4
    versioned = random.random() < 0.5
    managed = (Versioned if versioned else Managed)()
    deleted = []
    managed.deleter = DELETER(lambda pointer: deleted.append(pointer)) if random.random() < 0.9 else DELETER()
    has_deleter = bool(managed.deleter)
    if versioned:
        managed.major = 1 if random.random() < 0.9 else random.randint(0, 3)
        managed.flags = random.choice((0, 0, 1, 2, 3, 2**63))
    tensor = managed.tensor
    tensor.data = ctypes.addressof(MEMORY) if random.random() < 0.9 else None
    tensor.device_type = 1 if random.random() < 0.9 else random.randint(-1, 15)
    tensor.ndim = rank if random.random() < 0.95 else -random.randint(1, 2**31 - 1)
    tensor.code, tensor.bits = random.choice(TYPES) if random.random() < 0.9 else (random.randint(0, 20), random.randint(0, 255))
    tensor.lanes = 1 if random.random() < 0.95 else random.randint(0, 65535)
    tensor.byte_offset = random.choice((0, 0, 0, 8, 64, 1, 2**63))
    sizes = (ctypes.c_int64 * rank)(*shape)
    steps = (ctypes.c_int64 * rank)(*strides)
    tensor.shape = ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64)) if random.random() < 0.97 else None
    tensor.strides = None if dense else ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64))
    if versioned and managed.flags & 1 and not is_inside(shape, None if dense else strides, tensor):
        managed.flags &= ~1  # read-only memory is copied at once, so it must exist
    name = b"dltensor_versioned" if versioned else b"dltensor"
    capsule = new_capsule(ctypes.addressof(managed), name, None)
    try:
        taken = tenon.from_dlpack(Source(capsule) if random.random() < 0.7 else capsule)
    except ERRORS:
        assert not deleted, "after an error the capsule still belongs to its owner"
        assert capsule_name(capsule) == name
        return
    except MemoryError:  # from the copy of read-only memory
        return
    assert list(taken.shape) == shape and capsule_name(capsule).startswith(b"used_")
    last = sum((size - 1) * stride for size, stride in zip(taken.shape, taken.stride()))
    if taken.numel() and tensor.byte_offset + (last + 1) * taken.itemsize <= len(MEMORY) and taken.numel() < 5000:
        taken.clone()
    del taken
    gc.collect(0) if deleted == [] and has_deleter else None
    assert len(deleted) == (1 if has_deleter else 0), f"the deleter was called {len(deleted)} times"


if __name__ == "__main__":
    mutation.main(check)
