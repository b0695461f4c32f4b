"""Methods of Tensor that are rarely called, such as conversions for other libraries."""

import math

from . import _array_names, _methods, _missing, _tenon
from ._tenon import Tensor


def __format__(self, spec):
    return self.item().__format__(spec) if self.dim() == 0 and not self.is_meta else object.__format__(self, spec)


def __complex__(self):
    if self.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return complex(self.item())


def __reversed__(self):
    return self if self.dim() == 0 else self[_tenon.arange(len(self) - 1, -1, -1)]


def __deepcopy__(self, memo):
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
            "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    copied = self.detach() if self.is_meta else _copy_over(self, memo)
    memo[id(self)] = copied
    memo.setdefault(id(memo), []).append(self)  # `grad` makes a new object each time: one freed could give its id to another
    if self.requires_grad:
        copied.requires_grad_()
    if self.grad is not None:
        copied.grad = self.grad.__deepcopy__(memo)
    if self.__dict__:
        import copy

        copied.__dict__ = copy.deepcopy(self.__dict__, memo)
    return copied


def _copy_over(self, memo):
    """A deep copy with the same strides. Tensors that share a storage share its copy."""
    storage = _tenon._bytes(self)
    key = ("tenon storage", storage.data_ptr())
    if key not in memo:
        memo[key] = storage.clone()
    return _tenon._over_bytes(memo[key], self.dtype, self.storage_offset(), self.size(), self.stride())


def __copy__(self):
    copied = self.detach().requires_grad_(self.requires_grad)
    copied.__dict__.update(self.__dict__)
    return copied


def _used_bytes(self):
    """The bytes and strides of a tensor for pickling. Repeated elements are stored once."""
    sizes = [1 if stride == 0 else size for size, stride in zip(self.shape, self.stride())]
    once = self.as_strided(sizes, self.stride())
    extent = 1 + sum((size - 1) * stride for size, stride in zip(sizes, self.stride())) if once.numel() else 0
    if extent > once.numel():
        once = once.clone()
        extent = once.numel()
    strides = tuple(0 if own == 0 else new for own, new in zip(self.stride(), once.stride()))
    begin = once.storage_offset() * once.itemsize
    return _tenon._bytes(once)[begin : begin + extent * once.itemsize], strides


def used_nbytes(self):
    """The bytes that a copy of the tensor needs: what is broadcast counts once."""
    sizes = [1 if stride == 0 else size for size, stride in zip(self.shape, self.stride())]
    return 0 if self.is_meta else math.prod(sizes) * self.itemsize + object.__sizeof__(self)


def __reduce_ex__(self, protocol):
    if self.is_meta:
        return _rebuild_meta, (tuple(self.shape), self.stride(), self.dtype, self.requires_grad, self.__dict__ or None)
    from pickle import PickleBuffer

    used, strides = _used_bytes(self.detach())
    data = PickleBuffer(used) if protocol >= 5 else bytes(memoryview(used))
    return _rebuild, (data, tuple(self.shape), strides, self.dtype, self.requires_grad, self.__dict__ or None)


def _rebuild(data, sizes, strides, dtype, requires_grad, attributes):
    writable = not memoryview(data).readonly
    buffer = data if writable else bytearray(data)
    used = _tenon._over_buffer(buffer, _tenon.uint8, -1, 0) if len(memoryview(buffer)) else _tenon.empty(0, dtype=_tenon.uint8)
    return _restored(_tenon._over_bytes(used, dtype, 0, sizes, strides), requires_grad, attributes)


def _rebuild_meta(sizes, strides, dtype, requires_grad, attributes):
    return _restored(_tenon.empty_strided(sizes, strides, dtype=dtype, device="meta"), requires_grad, attributes)


def _restored(tensor, requires_grad, attributes):
    if requires_grad:
        tensor.requires_grad_()
    if attributes:
        tensor.__dict__.update(attributes)
    return tensor


def split(self, split_size, dim=0):
    """Views of parts along dim: all of size split_size but the last one, or of the sizes in a list."""
    if isinstance(split_size, Tensor):
        try:
            split_size = int(split_size)
        except ValueError:
            pass
    return (_tenon.split if isinstance(split_size, int) else _tenon.split_with_sizes)(self, split_size, dim)


def numpy(self, *, force=False):
    """An ndarray over the same memory."""
    return _tenon._to_numpy(self.detach() if force else _without_history(self))


def _without_history(self):
    if self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return self


def __array__(self, dtype=None, copy=None):
    array = _tenon._to_numpy(_without_history(self))
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return array.astype(dtype)
    return array.copy() if copy else array


def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
    from . import _numpy

    return _numpy.ufunc(ufunc, method, inputs, kwargs)


def __array_function__(self, function, types, args, kwargs):
    from . import _numpy

    return _numpy.function(function, types, args, kwargs)


def __array_namespace__(self, /, *, api_version=None):
    from . import array_api

    return array_api.namespace(api_version)


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over the same memory; versioned where the consumer understands it."""
    if stream is not None:
        raise BufferError("a tensor on the cpu has no streams")
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError(f"a tensor on the cpu cannot be exported to device {tuple(dl_device)}")
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return _tenon._to_dlpack(self.clone() if copy else self, max_version is not None and max_version[0] >= 1, bool(copy))


def __dlpack_device__(self):
    return (1, 0)


def to_device(self, device, /, *, stream=None):
    """The tensor on a device; the array API's name for `to`. There are no streams."""
    if stream is not None:
        raise ValueError("a tensor on the cpu has no streams")
    return self.to(device)


def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements in ascending order; see tenon.unique."""
    from . import _functions

    return _functions.unique(self, sorted, return_inverse, return_counts, dim)


def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    """The elements without those that equal the one before; see tenon.unique_consecutive."""
    from . import _functions

    return _functions.unique_consecutive(self, return_inverse, return_counts, dim)


def __dask_tokenize__(self):
    import hashlib
    import sys

    if "dask.array" in sys.modules:
        from . import dask as _  # the registration, where Tenon is not installed and so has no entry point

    digest = hashlib.blake2b(bytes(memoryview(_used_bytes(self.detach().contiguous())[0]))).hexdigest()
    return ("tenon.Tensor", repr(self.dtype), tuple(self.shape), self.stride(), digest)


def __dir__(self):
    return [name for name in object.__dir__(self) if not isinstance(vars(Tensor).get(name), _missing.Absent)]


_METHODS = (
    __dir__, __format__, __complex__, __reversed__, __deepcopy__, __copy__, __reduce_ex__, split, numpy, __array__, __array_ufunc__, __array_function__,
    __array_namespace__, __dlpack__, __dlpack_device__, to_device, __dask_tokenize__, unique, unique_consecutive,
)  # fmt: skip


def extend(cls):
    for name, value in (*_methods.PROPERTIES.items(), *_missing.absent_methods().items()):
        setattr(cls, name, value)
    for method in (*_METHODS, *_array_names.METHODS, *_methods.METHODS):
        method.__qualname__ = f"Tensor.{method.__name__}"
        setattr(cls, method.__name__, method)
