"""Mutated pickles, and mutated arguments of the functions that a pickle calls: a tensor inside its bytes, or an exception.

Only the module's own functions may be called; other calls are Python's responsibility."""

import io
import pickle

import mutation
import tenon
from tenon import _tensor

DTYPES = [tenon.bool, tenon.uint8, tenon.int8, tenon.int16, tenon.int32, tenon.int64, tenon.float16, tenon.bfloat16,
          tenon.float32, tenon.float64, tenon.uint16, tenon.uint32, tenon.uint64, tenon.complex64, tenon.complex128]  # fmt: skip
ERRORS = (RuntimeError, TypeError, ValueError, IndexError, OverflowError, BufferError)


def seeds():
    tensors = [
        tenon.arange(6.0).reshape(2, 3),
        tenon.arange(12).reshape(3, 4).t()[1:],
        tenon.ones(3, 1).expand(3, 5).requires_grad_(),
        tenon.tensor(True),
        tenon.empty(0, 3, dtype=tenon.float16),
        tenon.empty(2, 3, device="meta"),
    ]
    return [pickle.dumps(tensor, protocol=protocol) for tensor in tensors for protocol in (2, 4, 5)]


SEEDS = seeds()


class Unpickler(pickle._Unpickler):  # the C version prints an error if a bytearray's length is wrong
    def find_class(self, module, name):
        if module in ("tenon", "tenon._tenon", "tenon._tensor") and (name.startswith("_rebuild") or isinstance(getattr(tenon, name, None), tenon.dtype)):
            return super().find_class(module, name)
        if (module, name) in (("_codecs", "encode"), ("builtins", "bytearray")):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name}")


def sizes(random):
    return tuple(mutation.integer(random) if random.random() < 0.4 else random.randint(0, 4) for _ in range(random.randint(0, 4)))


def wrong(random):
    return random.choice((None, 1.5, "x", b"ab", (1,), [2, 3], {}, True, tenon.ones(2), tenon.float32, object()))


def check_inside(tensor, nbytes):
    """Checks that all elements are inside `nbytes` bytes."""
    assert isinstance(tensor, tenon.Tensor)
    if tensor.is_meta or tensor.numel() == 0:
        return
    last = tensor.storage_offset() + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    assert (last + 1) * tensor.itemsize <= nbytes, (tensor.shape, tensor.stride(), nbytes)
    if tensor.numel() < 1000:
        tensor.clone()


def rebuild(random):
    data = random.choice((bytes, bytearray))(random.choice((0, 1, 8, 24, 60, 64)))
    arguments = [data, sizes(random), sizes(random), random.choice(DTYPES), random.random() < 0.2, None]
    if random.random() < 0.6:
        arguments[2] = arguments[2][: len(arguments[1])] + (1,) * (len(arguments[1]) - len(arguments[2]))
    meta = random.random() < 0.1
    if random.random() < 0.2:
        arguments[random.randint(0, 3)] = wrong(random)
    try:
        tensor = _tensor._rebuild_meta(*arguments[1:]) if meta else _tensor._rebuild(*arguments)
    except ERRORS:
        return
    check_inside(tensor, len(memoryview(arguments[0]).cast("B")) if not meta else 0)


def unpickle(random):
    content = mutation.changed(random, random.choice(SEEDS))
    try:
        tensor = Unpickler(io.BytesIO(content)).load()
    except SystemError:
        raise
    except Exception:  # any error of an invalid pickle
        return
    if isinstance(tensor, tenon.Tensor):
        check_inside(tensor, len(content))


def check(random):
    if random.random() < 0.5:
        rebuild(random)
    else:
        unpickle(random)


if __name__ == "__main__":
    mutation.main(check)
