"""Methods of Tensor that few programs call: functions of Python on elements, facts of other devices and layouts."""

import math
import warnings

from . import _tenon
from ._arguments import check_bool, check_tensor
from ._storage import set_, storage, untyped_storage
from ._tenon import Tensor

# --- Functions of Python on every element


def _check_elements(self, name, others=()):
    if self.requires_grad:
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    for other in others:
        if other.type() != self.type():
            raise TypeError(f"{name}: expected {self.type()} for 'other' (got {other.type()})")
    if self.is_meta:
        raise TypeError(f"{name} is only implemented on CPU tensors")


def _write(self, values):
    if self.is_floating_point():
        values = [math.copysign(value, value) for value in values]  # refuses what is no number, in Python's words
    self.copy_(_tenon.tensor(values, dtype=self.dtype, device="cpu").reshape(self.shape))
    return self


def apply_(self, callable, /):
    """Replaces every element by what a function of Python gives for it. Slow."""
    _check_elements(self, "apply_")
    return _write(self, [callable(value) for value in self.reshape(-1).tolist()])


def map_(self, other, callable):
    """Replaces every element by what a function gives for it and that of another tensor. Slow."""
    check_tensor("map_", other, "other")
    _check_elements(self, "map_", (other,))
    pairs = zip(self.reshape(-1).tolist(), other.expand_as(self).reshape(-1).tolist())
    return _write(self, [callable(a, b) for a, b in pairs])


def map2_(self, x, y, callable):
    """Replaces every element by what a function gives for it and those of two tensors. Slow."""
    check_tensor("map2_", x, "x")
    check_tensor("map2_", y, "y", 2)
    _check_elements(self, "map2_", (x, y))
    triples = zip(*(tensor.expand_as(self).reshape(-1).tolist() for tensor in (self, x, y)))
    return _write(self, [callable(*triple) for triple in triples])


# --- Sizes and memory


def get_device(self):
    """-1: the memory belongs to no numbered device."""
    return -1


def is_nonzero(self):
    """Whether the only element is not 0."""
    return bool(self)


def is_same_size(self, other):
    """Whether both have the same sizes."""
    check_tensor("is_same_size", other, "other")
    return self.shape == other.shape


def is_set_to(self, tensor):
    """Whether both have the same memory, offset, sizes and strides."""
    check_tensor("is_set_to", tensor, "tensor")
    same_view = (self.storage_offset(), self.shape, self.stride()) == (tensor.storage_offset(), tensor.shape, tensor.stride())
    return same_view and self.dtype is tensor.dtype and untyped_storage(self).data_ptr() == untyped_storage(tensor).data_ptr()


def _inner_first(sizes, strides):
    """The dims from the innermost one on; of equal strides the smaller dim first, as PyTorch orders them."""
    order = list(reversed(range(len(sizes))))
    for at in range(1, len(order)):
        for before in reversed(range(at)):
            a, b = order[before], order[at]
            if strides[a] == 0 or strides[b] == 0:
                continue
            if strides[a] < strides[b]:
                break
            if strides[a] > strides[b] or sizes[a] > sizes[b]:
                order[before], order[at] = b, a
                at = before  # the dim goes on to move outwards
    return order


_NO_ORDER = "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."


def dim_order(self, *, ambiguity_check=False):
    """The dims from the outermost to the innermost in memory."""
    is_list = isinstance(ambiguity_check, list)
    if not isinstance(ambiguity_check, bool) and not (is_list and all(isinstance(each, _tenon.memory_format) for each in ambiguity_check)):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    strides = self.stride()
    if ambiguity_check or is_list:
        is_ambiguous = 1 in self.shape or any(a == b for a, b in zip(strides, strides[1:]))
        fitting = sum(self.is_contiguous(memory_format=each) for each in (ambiguity_check if is_list else ()))
        if is_ambiguous and fitting != 1:
            raise RuntimeError(_NO_ORDER)
    return tuple(reversed(_inner_first(self.shape, strides)))


def resize(self, *sizes):
    """view of as many elements. Deprecated in PyTorch."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    return _resized(self, sizes)


def resize_as(self, tensor):
    """view of as many elements, with the sizes of another tensor. Deprecated in PyTorch."""
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    return _resized(self, tuple(tensor.shape))


def _resized(self, sizes):
    wanted = math.prod(sizes)
    if wanted != self.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, sizes))} ({wanted} elements in total), but the given tensor has a size of "
            f"{'x'.join(map(str, self.shape))} ({self.numel()} elements). autograd's resize can only change the shape of a given tensor, while "
            "preserving the number of elements. "
        )
    return self.contiguous().view(*sizes)


def new(self, *args, **kwargs):
    """A tensor of this dtype: from sizes, from elements, or over another tensor's memory. See new_tensor and new_empty."""
    from ._legacy import construct

    return construct(self.dtype, args, kwargs)


def new_empty_strided(self, size, stride, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor with these sizes and strides whose elements are not set."""
    made = _tenon.empty_strided(size, stride, dtype=dtype or self.dtype, device=device or self.device)
    return made.requires_grad_() if requires_grad else made


def type(self, dtype=None, non_blocking=False, *, memory_format=None):
    """The name of the tensor's type; with a dtype, or the name or type of tensors with it, the tensor as that."""
    from ._legacy import TensorType

    check_bool("type", non_blocking, "non_blocking", 2)

    if dtype is Tensor:
        dtype = _tenon.get_default_dtype()
    elif isinstance(dtype, TensorType):
        dtype = dtype.dtype
    return _type(self) if dtype is None else _type(self, dtype)


_type = Tensor.type


# --- Functions of the package


def nonzero_static(self, *, size, fill_value=-1):
    """nonzero with size rows; see tenon.nonzero_static."""
    return _tenon_function("nonzero_static")(self, size=size, fill_value=fill_value)


def _tenon_function(name):
    from . import _more_functions

    return getattr(_more_functions, name)


# --- Parts


def unsafe_split(self, split_size, dim=0):
    """split, whose parts may be written in place."""
    return _narrowed(self, _tenon.split(self.detach(), split_size, dim), dim)


def unsafe_split_with_sizes(self, split_sizes, dim=0):
    """split_with_sizes, whose parts may be written in place."""
    return _narrowed(self, _tenon.split_with_sizes(self.detach(), split_sizes, dim), dim)


def unsafe_chunk(self, chunks, dim=0):
    """chunk, whose parts may be written in place."""
    return _narrowed(self, _tenon.chunk(self.detach(), chunks, dim), dim)


def _narrowed(self, parts, dim):
    begin, result = 0, []
    for part in parts:
        result.append(self.narrow(dim, begin, part.shape[dim]))
        begin += part.shape[dim]
    return tuple(result)


# --- Other devices, layouts and kinds of numbers


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """AssertionError, as in PyTorch without CUDA."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def pin_memory(self, device=None):
    """RuntimeError, as in PyTorch without an accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def is_pinned(self, device=None):
    """False: the memory belongs to no device."""
    return False


def is_shared(self):
    """False: no other process shares the memory."""
    return False


def is_neg(self):
    """False: negative numbers are computed at once."""
    return False


def resolve_neg(self):
    """Itself."""
    return self


def is_distributed(self):
    """False."""
    return False


def to_dense(self, dtype=None, *, masked_grad=None):
    """Itself: every tensor is dense."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by strided_to_dense")
    return self


def dequantize(self):
    """Itself, as float32."""
    return self.to(_tenon.float32)


def sparse_dim(self):
    """0: every dim is dense."""
    return 0


def dense_dim(self):
    """The number of dims."""
    return self.dim()


def as_subclass(self, cls):
    """A view as a tensor of the class, which can only be Tensor."""
    if cls is not Tensor:
        raise TypeError(f"as_subclass: {cls!r} is not Tensor, which has no subclasses")
    return self.view_as(self) if self.requires_grad else self.detach()


def const_data_ptr(self):
    """data_ptr."""
    return self.data_ptr()


def _volatile(self):
    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
    return False


def _solved(name):
    def method(self, *arguments, **options):
        from . import _decompositions

        return getattr(_decompositions, name)(self, *arguments, **options)

    method.__name__, method.__doc__ = name, f"tenon.{name} of it."
    return method


# Functions of decompositions that are methods, too.
_SOLVED = "cholesky cholesky_inverse cholesky_solve det inverse logdet lu lu_solve matrix_exp pinverse qr slogdet svd triangular_solve".split()


def _sparse_only(name, layout):
    def method(self):
        raise RuntimeError(f"{name} expected {layout} tensor layout but got Strided")

    method.__name__, method.__doc__ = name, "RuntimeError, as in PyTorch: a dense tensor has no such part."
    return method


_SPARSE = {"values": "sparse", "indices": "sparse coordinate", "coalesce": "sparse coordinate", "is_coalesced": "sparse coordinate",
           "crow_indices": "sparse row compressed", "col_indices": "sparse row compressed", "ccol_indices": "sparse column compressed",
           "row_indices": "sparse column compressed"}  # fmt: skip
METHODS = (
    apply_, as_subclass, const_data_ptr, cuda, dense_dim, dequantize, dim_order, get_device, is_distributed, is_neg, is_nonzero, is_pinned, is_same_size,
    is_set_to, is_shared, map2_, map_, new, new_empty_strided, nonzero_static, pin_memory, resize, resize_as, resolve_neg, set_, sparse_dim, storage, to_dense, type,
    unsafe_chunk, unsafe_split, unsafe_split_with_sizes, untyped_storage, *(_sparse_only(*each) for each in _SPARSE.items()), *map(_solved, _SOLVED),
)  # fmt: skip
PROPERTIES = {name: property(lambda self: False, doc="False: there is no such tensor here.")
              for name in ("is_ipu", "is_maia", "is_mkldnn", "is_mps", "is_mtia", "is_nested", "is_quantized", "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu")}  # fmt: skip
PROPERTIES["volatile"] = property(_volatile, doc="False, with a warning.")
PROPERTIES["is_cpu"] = property(lambda self: not self.is_meta, doc="Whether the elements are in the memory of the CPU.")
PROPERTIES["name"] = property(lambda self: None, doc="None.")
