"""PyTorch's oldest names: types of tensors by dtype, which are called like the constructor of Tensor."""

from . import _tenon
from ._dtypes import word_of
from ._tenon import Size, Tensor


class TensorType(type):
    """The type of FloatTensor and its relatives: a tensor of the dtype is an instance, a call makes one."""

    def __instancecheck__(cls, object):
        return isinstance(object, Tensor) and object.dtype is cls.dtype and not object.is_meta

    def __call__(cls, *args, **kwargs):
        return construct(cls.dtype, args, kwargs)


def _type(name, dtype):
    facts = {"dtype": dtype, "is_cuda": False, "is_sparse": False, "layout": _tenon.strided, "__module__": "tenon", "__doc__": f"Tensors of {dtype!r}."}
    return TensorType(name, (), facts)


_DTYPES = {"Float": _tenon.float32, "Double": _tenon.float64, "Half": _tenon.float16, "BFloat16": _tenon.bfloat16, "Byte": _tenon.uint8, "Char": _tenon.int8,
           "Short": _tenon.int16, "Int": _tenon.int32, "Long": _tenon.int64, "Bool": _tenon.bool}  # fmt: skip
TYPES = {f"{word}Tensor": _type(f"{word}Tensor", dtype) for word, dtype in _DTYPES.items()}


def type_named(name):
    """The type of "torch.FloatTensor"."""
    found = TYPES.get(name.removeprefix("torch.").removeprefix("tenon."))
    if found is None:
        raise TypeError(f"invalid type object: {name}")
    return found


def _options(dtype, device="cpu"):
    return (
        f"TensorOptions(dtype={word_of(dtype)}, device={device}, layout=Strided, requires_grad=false (default), pinned_memory=false (default), "
        "memory_format=(nullopt))"
    )


def _is_size(value):
    return hasattr(type(value), "__index__") and not hasattr(type(value), "__len__") and not isinstance(value, bool)


def construct(dtype, args, keywords, any_dtype=False):
    """A tensor from sizes, from a sequence of elements, or over another tensor's memory.

    any_dtype: the other tensor may have any dtype, as for Tensor itself.
    """
    keywords = dict(keywords)
    device = keywords.pop("device", None)
    if device is not None and _tenon.device(device).type != "cpu":
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {_tenon.device(device).type} was passed")
    if not args and len(keywords) == 1 and set(keywords) <= {"data", "other", "size", "storage"}:
        name, value = keywords.popitem()
        args = (Size(value) if name == "size" else value,)
    if keywords:
        raise TypeError(f"new() received an invalid combination of arguments - got keywords {', '.join(keywords)}")
    if not args:
        return _tenon.empty(0, dtype=dtype, device="cpu")
    if all(map(_is_size, args)):
        return _empty(args, dtype)
    if len(args) > 1:
        at, value = next((at, value) for at, value in enumerate(args, 1) if not _is_size(value))
        raise TypeError(f"new(): argument 'size' failed to unpack the object at pos {at} with error \"type must be tuple of ints,but got {type(value).__name__}\"")
    return _from_one(dtype, args[0], any_dtype)


def constructed(args, keywords):
    """What Tensor(...) gives: elements of the default dtype, or any tensor's."""
    return construct(_tenon.get_default_dtype(), args, keywords, any_dtype=True)


def _empty(sizes, dtype):
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(sizes)}")
    return _tenon.empty(tuple(sizes), dtype=dtype, device="cpu")


def _from_one(dtype, value, any_dtype):
    from ._storage import TypedStorage, UntypedStorage

    if isinstance(value, Size):
        return _empty(value, dtype)
    if isinstance(value, Tensor):
        if not any_dtype and value.dtype is not dtype:
            raise TypeError(f"expected {_options(dtype)} (got {_options(value.dtype, value.device)})")
        return value.view_as(value) if value.requires_grad else value.detach()
    if isinstance(value, (TypedStorage, UntypedStorage)):
        return _tenon.empty(0, dtype=dtype, device="cpu").set_(value)
    if not hasattr(value, "__len__") and not hasattr(value, "__array__"):
        raise TypeError(f"new(): data must be a sequence (got {type(value).__name__})")
    return _tenon.tensor(value, dtype=dtype, device="cpu")
