"""Functions that are faster in Python than as a call of C++."""

import sys

from . import _tenon
from ._arguments import check_elements, check_tensor, type_name
from ._tenon import Size, Tensor


def is_tensor(obj):
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes broadcast to, as a Size. No memory is touched."""
    for shape in shapes:
        if not isinstance(shape, (int, tuple, list)):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
    shapes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    for shape in shapes:
        for size in shape:
            if size < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
    return _tenon._broadcast_shapes(shapes)


def broadcast_tensors(*tensors):
    """All tensors expanded to their common shape, as views."""
    check_elements(tensors)
    return _tenon._broadcast_tensors(list(tensors))


def meshgrid(*tensors, indexing=None):
    """meshgrid(*tensors, indexing=None)

    Views of vectors as coordinates: one tensor of all sizes for each of them. With indexing="xy" the first two dims
    change places.
    """
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    check_elements(tensors)
    if isinstance(indexing, bytes):
        indexing = indexing.decode()
    if indexing is not None and not isinstance(indexing, str):
        raise TypeError(f"meshgrid(): argument 'indexing' must be str, not {type(indexing).__name__}")
    return _tenon._meshgrid(list(tensors), indexing)


def split(tensor, split_size_or_sections, dim=0):
    """split(tensor, split_size_or_sections, dim=0)

    Views of parts along dim: all of one size but the last one, or of the given sizes.
    """
    return tensor.split(split_size_or_sections, dim)


def _at_least(function, tensors):
    return function(tensors[0] if len(tensors) == 1 else tensors)


def atleast_1d(*tensors):
    """atleast_1d(*tensors)

    A tensor without dims as a vector; others unchanged. Of several tensors: each of them.
    """
    return _at_least(_tenon.atleast_1d, tensors)


def atleast_2d(*tensors):
    """atleast_2d(*tensors)

    Tensors of fewer dims as a matrix of one row; others unchanged. Of several tensors: each of them.
    """
    return _at_least(_tenon.atleast_2d, tensors)


def atleast_3d(*tensors):
    """atleast_3d(*tensors)

    Tensors of fewer dims with dims of size 1: first for a vector, and last. Of several tensors: each of them.
    """
    return _at_least(_tenon.atleast_3d, tensors)


def block_diag(*tensors):
    """block_diag(*tensors)

    A matrix with the matrices on its diagonal and 0 elsewhere.
    """
    check_elements(tensors)
    return _tenon.block_diag(tensors)


def cartesian_prod(*tensors):
    """cartesian_prod(*tensors)

    Every combination of an element of each vector, one row each.
    """
    check_elements(tensors)
    return _tenon.cartesian_prod(tensors)


def _sizes_of(shape):
    import collections.abc  # slow to import

    if isinstance(shape, int):
        return [shape]
    if not isinstance(shape, collections.abc.Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    return list(shape)


def unravel_index(indices, shape):
    """unravel_index(indices, shape)

    The indices of a tensor of that shape, one tensor for each dim, from places in all its elements as one vector.
    """
    if indices.is_complex() or indices.is_floating_point() or indices.dtype == _tenon.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got torch.{repr(indices.dtype).rpartition('.')[2]}")
    sizes = _sizes_of(shape)
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    steps = [1] * len(sizes)
    for dim in range(len(sizes) - 2, -1, -1):
        steps[dim] = steps[dim + 1] * sizes[dim + 1]
    places = indices.unsqueeze(-1).floor_divide(_tenon.tensor(steps, dtype=_tenon.int64)) % _tenon.tensor(sizes, dtype=_tenon.int64)
    return places.unbind(-1)


def _wanted(results, return_inverse, return_counts):
    """The unique elements, and of the others what is asked for."""
    output, inverse, counts = results
    others = (inverse,) * bool(return_inverse) + (counts,) * bool(return_counts)
    return (output, *others) if others else output


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None)

    The different elements, or slices along dim, in ascending order.

    With return_inverse also the place of each element among them, with return_counts how often each occurs.
    """
    if dim is None:
        results = _tenon.unique(input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    else:
        results = _tenon.unique_dim(input, dim, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    return _wanted(results, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """unique_consecutive(input, return_inverse=False, return_counts=False, dim=None)

    The elements, or slices along dim, without those that equal the one before; otherwise like unique.
    """
    results = _tenon.unique_consecutive(input, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    return _wanted(results, return_inverse, return_counts)


def _subscripts(places):
    """The letters of one operand of einsum, from numbers."""
    letters = []
    for place in places:
        if place is Ellipsis:
            letters.append("...")
        elif place >= 0 and place < 52:  # in this order, for the TypeError
            letters.append(chr(ord("A") + place) if place < 26 else chr(ord("a") + place - 26))
        else:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return "".join(letters)


def einsum(*args):
    """einsum(equation, *operands)

    Sums of products by Einstein's convention: "ij,jk->ik" is the product of two matrices. Instead of an equation each
    operand may be followed by a list of numbers, and all of them by the list of the result.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
        )
    if isinstance(args[0], Tensor):
        equation = ",".join(map(_subscripts, args[1::2]))
        operands = args[:-1:2] if len(args) % 2 else args[::2]
        if len(args) % 2:
            equation += "->" + _subscripts(args[-1])
    else:
        equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return einsum(equation, *operands[0])
    if not isinstance(equation, (str, bytes)):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
    check_elements(operands, 1)
    return _tenon.einsum(list(operands), equation)


def _pairs_of_dims(a, b, dims):
    """The dims of both operands of tensordot."""
    if isinstance(dims, (tuple, list)):
        first, second = dims
        return [first, second]
    if isinstance(dims, Tensor) and dims.numel() > 1:
        if len(dims) != 2:
            raise AssertionError(f"dims tensor must have size 2 in first dimension, got {len(dims)}")
        return [dims[0].tolist(), dims[1].tolist()]
    if not isinstance(dims, (int, Tensor)):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, "
            f"but got dims={dims}"
        )
    count = int(dims)
    if count < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if isinstance(dims, int) and count > min(a.dim(), b.dim()):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return [list(range(-count, 0)), list(range(count))]


def tensordot(a, b, dims=2, out=None):
    """tensordot(a, b, dims=2, out=None)

    The sum of products along the last dims of a and the first of b, as many as dims says, or along pairs of dims.
    """
    return _tenon.tensordot(a, b, *_pairs_of_dims(a, b, dims), **({} if out is None else {"out": out}))


_COMPUTE_MODES = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary")

    The distance of each row of x1 to each row of x2: the norm with ord p of their difference.
    """
    if not isinstance(compute_mode, str) or compute_mode not in _COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _tenon.cdist(x1, x2, p, _COMPUTE_MODES[compute_mode])


def chain_matmul(*matrices, out=None):
    """chain_matmul(*matrices, out=None)

    linalg.multi_dot of matrices. Deprecated, as in PyTorch.
    """
    import warnings

    warnings.warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, which "
        "accepts a list of two or more tensors rather than multiple parameters.",
        stacklevel=2,
    )
    return _tenon.chain_matmul(matrices, **({} if out is None else {"out": out}))


def set_default_dtype(d, /):
    """The floating dtype that numbers, factories and divisions of integers give; per process."""
    if not isinstance(d, _tenon.dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _tenon._set_default_dtype(d)


def set_num_threads(int, /):
    """How many threads one op may use. Results do not depend on it."""
    if type(int) is bool or not hasattr(int, "__index__"):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(int).__name__}")
    if not -(2**31) <= int < 2**31:
        raise ValueError("Overflow when unpacking long")
    if int < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _tenon._set_num_threads(int.__index__())


_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, sys.maxsize, 3, 80)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors print: digits behind the point, elements from which a tensor is summarised, and so on."""
    current = list(_tenon._printing())
    if isinstance(profile, str) and profile in _PROFILES:  # PyTorch ignores others
        current[:4] = _PROFILES[profile]
    for at, value in enumerate((precision, threshold, edgeitems, linewidth)):
        if value is not None:
            current[at] = value
    most = sys.maxsize, sys.maxsize, sys.maxsize, 2**31 - 1  # larger numbers change nothing
    # As in PyTorch, each call sets sci_mode; None: chosen from the values.
    _tenon._set_printing(*(int(min(value, limit)) for value, limit in zip(current[:4], most)), -1 if sci_mode is None else int(sci_mode))


def as_tensor(data, dtype=None, device=None):
    """The data as a tensor: itself, or over the same memory, where dtype and device allow it."""
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(data, numpy.ndarray):
        shared = _tenon._over_array(data)
        return shared.to(dtype=dtype, device=device)
    if not isinstance(data, (list, tuple)) and hasattr(type(data), "__dlpack__"):
        return from_dlpack(data).to(dtype=dtype, device=device)
    return _tenon.tensor(data, dtype=dtype, device=device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """The same as as_tensor, with copy=True for a copy and copy=False for an error where one is needed."""
    if requires_grad:
        return asarray(obj, dtype=dtype, device=device, copy=copy).requires_grad_()
    if copy:
        return _tenon.tensor(obj, dtype=dtype, device=device) if not isinstance(obj, Tensor) else _copied(obj, dtype, device)
    result = as_tensor(obj, dtype=dtype, device=device)
    if copy is False and not _shares_memory(obj, result):
        has_memory = isinstance(obj, Tensor) or hasattr(obj, "__array_interface__") or hasattr(type(obj), "__dlpack__")
        if not has_memory:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        raise ValueError("can't alias tensor with dtype or memory that differs")
    return result


def _copied(tensor, dtype, device):
    return tensor.detach().to(device=device, dtype=dtype, copy=True)


def _shares_memory(obj, tensor):
    if isinstance(obj, Tensor):
        return obj.data_ptr() == tensor.data_ptr()
    address = getattr(obj, "__array_interface__", {}).get("data", (None,))[0]
    return address == tensor.data_ptr() or (hasattr(type(obj), "__dlpack__") and address is None)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A one-dimensional tensor over an object's memory. Where the memory is read-only, so must the tensor be used."""
    if requires_grad and isinstance(dtype, _tenon.dtype) and not dtype.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    tensor = _tenon._over_buffer(buffer, dtype, count, offset)
    return tensor.requires_grad_() if requires_grad else tensor


def from_dlpack(ext_tensor, /, *, device=None, copy=None):
    """A tensor over the memory of any object with __dlpack__, or a capsule of it."""
    if not hasattr(ext_tensor, "__dlpack__"):  # a capsule, then
        return _tenon._from_dlpack(ext_tensor)
    exporter = ext_tensor.__dlpack__
    if hasattr(ext_tensor, "__dlpack_device__") and ext_tensor.__dlpack_device__()[0] not in (1, 3, 11):
        raise RuntimeError(f"from_dlpack: memory of device {ext_tensor.__dlpack_device__()} is not reachable from the cpu")
    options = {} if copy is None else {"copy": copy}
    try:
        capsule = exporter(max_version=(1, 1), **options)
    except TypeError:
        capsule = exporter()
    result = _tenon._from_dlpack(capsule, copy is False)
    return result if device is None else result.to(device)


def save(obj, f):
    """Writes a tensor into an .npy file, or a dict of tensors into a .safetensors file.

    The file appears whole: a failure leaves the old one, and of several that are saved to one path the last one stays.
    Its mode stays, and links lead to the file that is written. Nothing is forced to the disk (no fsync).
    """
    from . import _files

    _files.save(obj, f)


def load(f, *, mmap=False):
    """The tensor of an .npy file, or the dict of tensors of a .safetensors file.

    With mmap=True the elements stay in the file and are read when they are used. Such a file may be replaced (`save` does
    so), but must not be cut shorter: what is gone reads as zeros, and the main thread gets a RuntimeError soon after.
    """
    from . import _files

    return _files.load(f, mmap=mmap)


def _rebuild_size(values):
    return Size(values)


def _checked_spacing(input, spacing, dim):
    """(the dims, the spacing along each: a number, or a tensor of coordinates)."""
    dims = None if dim is None else [dim] if isinstance(dim, int) else list(dim)
    numbers = (int, float, complex)
    if isinstance(spacing, numbers) or spacing is None:
        spacing = 1 if spacing is None else spacing
        dims = list(range(input.dim())) if dims is None else dims
        spacing = [spacing] * len(dims)
    elif not isinstance(spacing, (list, tuple)) or not all(isinstance(part, (*numbers, Tensor)) for part in spacing):
        raise TypeError(f"gradient(): argument 'spacing' must be a number, a list of numbers or a list of Tensors, not {type(spacing).__name__}")
    elif dims is None and len(spacing) != input.dim():
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
                           f"'self.dim() = {input.dim()}', since dim argument was not given, but got a list of length {len(spacing)}")  # fmt: skip
    elif dims is not None and len(spacing) != len(dims):
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same length, "
                           f"but got a spacing argument of length {len(spacing)} and a dim argument of length {len(dims)}.")  # fmt: skip
    dims = list(range(input.dim())) if dims is None else dims
    for part in spacing:
        if isinstance(part, Tensor) and part.dim() != 1:
            raise RuntimeError(f"torch.gradient expected each element of spacing to have one dimension, but got an element with {part.dim()} dimensions!")
    return dims, list(spacing)


def _checked_dims(input, dims, edge_order):
    wrapped = []
    for dim in dims:
        if not -input.dim() <= dim < input.dim():
            raise IndexError(f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {dim})")
        dim %= input.dim()
        if dim in wrapped:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
        if input.shape[dim] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        wrapped.append(dim)
    return wrapped


def _differences(input, dim, spacing, edge_order):
    """The derivative along a dim: second-order inside, of order `edge_order` at both ends."""
    size = input.shape[dim]

    def at(begin, length=1):
        return input.narrow(dim, begin, length)

    if not isinstance(spacing, Tensor):
        inner = (at(2, size - 2) - at(0, size - 2)) / (2 * spacing)
        if edge_order == 1:
            ends = (at(1) - at(0)) / spacing, (at(size - 1) - at(size - 2)) / spacing
        else:
            ends = (-1.5 * at(0) + 2 * at(1) - 0.5 * at(2)) / spacing, (0.5 * at(size - 3) - 2 * at(size - 2) + 1.5 * at(size - 1)) / spacing
        return _tenon.cat([ends[0], inner, ends[1]], dim)
    steps = spacing[1:] - spacing[:-1]
    shape = [-1 if each == dim else 1 for each in range(input.dim())]
    before, after = steps[:-1].reshape(shape), steps[1:].reshape(shape)
    inner = (-after / (before * (before + after)) * at(0, size - 2) + (after - before) / (before * after) * at(1, size - 2)
             + before / (after * (before + after)) * at(2, size - 2))  # fmt: skip
    if edge_order == 1:
        ends = (at(1) - at(0)) / steps[0], (at(size - 1) - at(size - 2)) / steps[-1]
    else:
        a, b = steps[0], steps[1]
        first = -(2 * a + b) / (a * (a + b)) * at(0) + (a + b) / (a * b) * at(1) - a / (b * (a + b)) * at(2)
        a, b = steps[-2], steps[-1]
        last = b / (a * (a + b)) * at(size - 3) - (a + b) / (a * b) * at(size - 2) + (2 * b + a) / (b * (a + b)) * at(size - 1)
        ends = first, last
    return _tenon.cat([ends[0], inner, ends[1]], dim)


def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """gradient(input, *, spacing=1, dim=None, edge_order=1) -> list of Tensors

    The derivatives of sampled values along each dim, by differences: central ones inside, one-sided ones of order
    `edge_order` (1 or 2) at both ends.

    spacing: the distance of samples: one number, one for each dim, or for each dim a tensor of coordinates, [size].
    https://pytorch.org/docs/stable/generated/torch.gradient.html
    """
    check_tensor("gradient", input)
    if input.dtype is _tenon.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    dims, spacings = _checked_spacing(input, spacing, dim)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = _checked_dims(input, dims, edge_order)
    return tuple(_differences(input, each, step, edge_order) for each, step in zip(dims, spacings))
