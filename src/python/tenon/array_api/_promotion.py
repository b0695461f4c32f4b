"""How the array API promotes dtypes, and the wide unsigned integers, for which PyTorch has few ops."""

import tenon
from tenon import Tensor

# By which signed integers unsigned ones are computed. They hold all uint16 and uint32; those of uint64 have the same bits.
_SIGNED = {tenon.uint16: tenon.int32, tenon.uint32: tenon.int64, tenon.uint64: tenon.int64}
_OF_SIZE = {1: tenon.int8, 2: tenon.int16, 4: tenon.int32, 8: tenon.int64}
_LEAST = -(2**63)


def is_wide(dtype):
    return dtype in _SIGNED


def promoted(a, b):
    """The common dtype of two. Tensors without dims count like any others, which PyTorch's rules do not say."""
    if a is b:
        return a
    if not (is_wide(a) or is_wide(b)) or a.kind not in "iu" or b.kind not in "iu":
        return tenon.promote_types(a, b)
    if a.kind == b.kind:
        return a if a.itemsize > b.itemsize else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    size = max(signed.itemsize, 2 * unsigned.itemsize)
    if size not in _OF_SIZE:
        raise TypeError(f"no integer dtype holds all numbers of {a} and {b}")
    return _OF_SIZE[size]


def _rank(kind):
    return "biufc".index(kind) if kind != "u" else 1


def _number_beside(number, x):
    """A number as a tensor: in the array's dtype, if that is of the number's kind or a higher one."""
    if not isinstance(number, (bool, int, float, complex)):
        return tenon.asarray(number)
    kind = "b" if isinstance(number, bool) else "i" if isinstance(number, int) else "f" if isinstance(number, float) else "c"
    return tenon.tensor(number, dtype=x.dtype if _rank(kind) <= _rank(x.dtype.kind) else None)


def operands(x1, x2):
    """Two arrays, one of which may be a number, as tensors of their common dtype."""
    if not isinstance(x1, Tensor):
        x1 = _number_beside(x1, x2)
    elif not isinstance(x2, Tensor):
        x2 = _number_beside(x2, x1)
    common = promoted(x1.dtype, x2.dtype)
    return x1.to(common), x2.to(common)


def of_one_dtype(arrays):
    """Arrays, all of them with their common dtype."""
    common = arrays[0].dtype
    for array in arrays[1:]:
        common = promoted(common, array.dtype)
    return [array.to(common) for array in arrays]


def _as_signed(x, keeps_order):
    """Signed integers for wide unsigned ones: sums, products and bits are the same modulo their size, or the order is."""
    if x.dtype is not tenon.uint64:
        return x.to(_SIGNED[x.dtype])
    return x.view(tenon.int64) ^ _LEAST if keeps_order else x.view(tenon.int64)


def _as_unsigned(x, dtype, keeps_order):
    if dtype is not tenon.uint64:
        return x.to(dtype)
    return (x ^ _LEAST if keeps_order else x).view(dtype)


def computed(own, *arrays, keeps_order=False, gives_elements=True, **options):
    """own(*arrays, **options); wide unsigned integers by signed ones. Where the order of elements matters, it must be kept."""
    dtype = arrays[0].dtype
    if not is_wide(dtype):
        return own(*arrays, **options)
    result = own(*(_as_signed(x, keeps_order) for x in arrays), **options)
    return _as_unsigned(result, dtype, keeps_order) if gives_elements else result
