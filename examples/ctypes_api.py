"""Tenon from Python's ctypes, without the module `tenon`: what any language with a C interface can do.

    python examples/ctypes_api.py build/release/libtenon.so
"""
import array
import ctypes
import sys

FLOAT64 = 12  # the numbers of tenon/c.h
KIND_TENSOR, KIND_INT = 1, 3


class Payload(ctypes.Union):
    _fields_ = [("tensor", ctypes.c_void_p), ("integer", ctypes.c_int64), ("floating", ctypes.c_double), ("parts", ctypes.c_double * 2)]


class Value(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("count", ctypes.c_int64), ("payload", Payload)]


def value_of(argument, name=None):
    if isinstance(argument, Tensor):
        return Value(name, KIND_TENSOR, 0, Payload(tensor=argument.handle))
    return Value(name, KIND_INT, 0, Payload(integer=argument))


def load(path):
    library = ctypes.CDLL(path)
    library.tenon_error_text.restype = ctypes.c_char_p
    library.tenon_to_string.restype = ctypes.c_int64
    for function, types in {
        "tenon_from_data": [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64), ctypes.c_int64,
                            ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)],
        "tenon_release": [ctypes.c_void_p],
        "tenon_to_string": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64],
        "tenon_call": [ctypes.c_char_p, ctypes.POINTER(Value), ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int64,
                       ctypes.POINTER(ctypes.c_int64)],
    }.items():
        getattr(library, function).argtypes = types
    return library


LIBRARY = load(sys.argv[1] if len(sys.argv) > 1 else "libtenon.so")


def check(status):
    if status != 0:
        raise RuntimeError(LIBRARY.tenon_error_text().decode())


class Tensor:
    """Owns one reference."""

    def __init__(self, handle, memory=None):
        self.handle, self.memory = handle, memory

    def __del__(self):
        LIBRARY.tenon_release(self.handle)

    @classmethod
    def over(cls, numbers, *sizes):
        """A tensor over the memory of an array of doubles."""
        address, _ = numbers.buffer_info()
        handle, shape = ctypes.c_void_p(), (ctypes.c_int64 * len(sizes))(*sizes)
        check(LIBRARY.tenon_from_data(address, shape, None, len(sizes), FLOAT64, None, None, ctypes.byref(handle)))
        return cls(handle.value, numbers)

    def __repr__(self):
        length = LIBRARY.tenon_to_string(self.handle, None, 0)
        text = ctypes.create_string_buffer(length + 1)
        LIBRARY.tenon_to_string(self.handle, text, len(text))
        return text.value.decode()


def call(op, *arguments, **named):
    values = [value_of(argument) for argument in arguments]
    values += [value_of(argument, name.encode()) for name, argument in named.items()]
    result = ctypes.c_void_p()
    check(LIBRARY.tenon_call(op.encode(), (Value * len(values))(*values), len(values), ctypes.byref(result), 1, None))
    return Tensor(result.value)


def main():
    column, row = array.array("d", [1, 2, 3]), array.array("d", [10, 20])
    table = call("add", Tensor.over(column, 3, 1), Tensor.over(row, 2))
    print(table)
    print(call("sum", table, dim=0))
    assert repr(table) == "tensor([[11., 21.],\n        [12., 22.],\n        [13., 23.]], dtype=torch.float64)"

    call("mul_", Tensor.over(column, 3), 2)  # writes into the array's own memory
    assert list(column) == [2, 4, 6]

    try:
        call("add", Tensor.over(column, 3), Tensor.over(row, 2))
    except RuntimeError as error:
        print("error:", error)
        assert str(error).startswith("The size of tensor a (3) must match the size of tensor b (2)")
    else:
        raise AssertionError("shapes [3] and [2] do not broadcast")


if __name__ == "__main__":
    main()
