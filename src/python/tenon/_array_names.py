"""What libraries of arrays, such as Dask, ask of arrays and dtypes by NumPy's names."""

from . import _tenon
from ._tenon import Tensor

_DTYPES = {repr(dtype).removeprefix("tenon."): dtype for dtype in vars(_tenon).values() if isinstance(dtype, _tenon.dtype)}


def own_dtype(given):
    """Tenon's dtype for what numpy.dtype() takes. TypeError if there is none."""
    if isinstance(given, _tenon.dtype):
        return given
    import numpy

    wanted = numpy.dtype(given)
    if wanted.name not in _DTYPES or not wanted.isnative:
        raise TypeError(f"can't convert numpy.dtype of type {wanted} to a dtype of Tenon")
    return _DTYPES[wanted.name]


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The tensor with another dtype, as ndarray.astype: a copy, unless copy=False and the dtype is the same."""
    wanted = own_dtype(dtype)
    if casting != "unsafe":
        import numpy

        if not numpy.can_cast(self.dtype, wanted, casting):
            raise TypeError(f"Cannot cast array data from {numpy.dtype(self.dtype)!r} to {numpy.dtype(wanted)!r} according to the rule '{casting}'")
    result = self.to(wanted)
    return result.clone() if copy and result is self else result


def copy(self, order="C"):
    """A tensor with the same elements in memory of its own, as ndarray.copy."""
    return self.clone()


def _kind(self):
    """NumPy's letter: b for bool, i and u for integers, f for floats, c for complex numbers."""
    if self is _tenon.bool:
        return "b"
    if self.is_complex or self.is_floating_point:
        return "c" if self.is_complex else "f"
    return "i" if self.is_signed else "u"


def _of_numpy(name):
    def value(self):
        import numpy

        return getattr(numpy.dtype(self), name)

    return property(value, doc=f"numpy.dtype(self).{name}")


METHODS = (astype, copy)
_tenon.dtype.kind = property(_kind, doc=_kind.__doc__)
_tenon.dtype.name = property(lambda self: repr(self).removeprefix("tenon."), doc="The name without the package's.")
_tenon.dtype.hasobject = property(lambda self: False, doc="False: elements are no Python objects.")
_tenon.dtype.names = property(lambda self: None, doc="None: elements have no fields.")
for _name in ("type", "char", "str"):
    setattr(_tenon.dtype, _name, _of_numpy(_name))
