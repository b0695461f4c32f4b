"""Storages: the memory that views share, as bytes or as elements of one dtype."""

import warnings

from . import _tenon
from ._arguments import check_tensor

_DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should only matter "
    "to you if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
)


class _Storage:
    """What both kinds share. `_elements` is a tensor over the whole memory."""

    def __init__(self, elements):
        self._elements = elements

    def __len__(self):
        return self._elements.numel()

    def size(self):
        """The number of elements."""
        return self._elements.numel()

    def nbytes(self):
        """The number of bytes."""
        return self._elements.nbytes

    def element_size(self):
        """The bytes of an element."""
        return self._elements.itemsize

    def data_ptr(self):
        """The address of the first element."""
        return self._elements.data_ptr()

    def __getitem__(self, index):
        found = self._elements[index]
        return type(self)(found) if isinstance(index, slice) else found.item()

    def __setitem__(self, index, value):
        self._elements[index] = value._elements if isinstance(value, _Storage) else value

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        """All elements."""
        return self._elements.tolist()

    def fill_(self, value):
        """Sets all elements."""
        self._elements.fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Takes the elements of another storage."""
        self._elements.copy_(source._elements)
        return self

    def clone(self):
        """A copy."""
        return type(self)(self._elements.clone())

    def cpu(self):
        """Itself."""
        return self

    device = property(lambda self: self._elements.device)
    is_cuda = is_sparse = False

    def is_shared(self):
        """False: no other process shares the memory."""
        return False

    def is_pinned(self, device=None):
        """False: the memory belongs to no device."""
        return False

    def _text(self, name):
        lines = "\n".join(f" {element}" for element in self.tolist()) if self.device.type == "cpu" else "..."
        return f"{lines}\n[tenon.{name} of size {len(self)}]"


class UntypedStorage(_Storage):
    """The bytes of a storage."""

    __module__ = "tenon"

    def untyped(self):
        """Itself."""
        return self

    def __repr__(self):
        return self._text(f"UntypedStorage(device={self.device})")


class TypedStorage(_Storage):
    """The elements of a storage. Deprecated in PyTorch."""

    __module__ = "tenon"
    dtype = property(lambda self: self._elements.dtype)

    def untyped(self):
        """The same memory as bytes."""
        return UntypedStorage(_tenon._bytes(self._elements))

    def pickle_storage_type(self):
        """PyTorch's name of the type."""
        return self._elements.type().removeprefix("torch.").replace("Tensor", "Storage")

    def __repr__(self):
        return self._text(f"TypedStorage(dtype={self.dtype}, device={self.device})")


def untyped_storage(self):
    """The memory that this tensor's views share, as bytes."""
    return UntypedStorage(_tenon._bytes(self.detach()))


def _typed(bytes, dtype):
    count = bytes.numel() // dtype.itemsize
    return TypedStorage(_tenon._over_bytes(bytes, dtype, 0, (count,), (1,)))


def storage(self):
    """The memory that this tensor's views share, as elements."""
    warnings.warn(_DEPRECATED, UserWarning, stacklevel=2)
    return _typed(_tenon._bytes(self.detach()), self.dtype)


def is_storage(obj, /):
    """Whether an object is a storage."""
    return isinstance(obj, _Storage)


def set_(self, source=None, storage_offset=None, size=None, stride=None):
    """Makes the tensor one over the memory of a tensor or a storage, or one without elements."""
    if source is None:
        elements = _tenon.empty(0, dtype=self.dtype, device=self.device)
    elif isinstance(source, _Storage):
        whole = _typed(source.untyped()._elements, self.dtype)._elements
        elements = whole if size is None else _at(whole, storage_offset, size, stride)
    else:
        check_tensor("set_", source, "source")
        if source.dtype is not self.dtype:
            from ._dtypes import word_of

            raise RuntimeError(f"Could not set tensor of type {word_of(source.dtype)} to a tensor of type {word_of(self.dtype)}")
        elements = source.detach() if size is None else _at(source.detach(), storage_offset, size, stride)
    self.data = elements
    return self


def _at(tensor, offset, sizes, strides):
    if strides is None:
        strides = _tenon.empty(tuple(sizes), device="meta").stride()
    return tensor.as_strided(tuple(sizes), tuple(strides), offset)
