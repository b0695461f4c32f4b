"""The ranges of dtypes: finfo and iinfo; their names in error texts."""

from . import _tenon

# bits, eps, smallest normal, largest, decimal digits that survive
_FLOATS = {
    _tenon.float16: (16, 2.0**-10, 2.0**-14, 65504.0, 1e-3),
    _tenon.bfloat16: (16, 2.0**-7, 2.0**-126, (2 - 2.0**-7) * 2.0**127, 1e-2),
    _tenon.float32: (32, 2.0**-23, 2.0**-126, (2 - 2.0**-23) * 2.0**127, 1e-6),
    _tenon.float64: (64, 2.0**-52, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023, 1e-15),
}
_FLOATS[_tenon.complex64], _FLOATS[_tenon.complex128] = _FLOATS[_tenon.float32], _FLOATS[_tenon.float64]
_INTEGERS = {_tenon.uint8: (8, False), _tenon.int8: (8, True), _tenon.int16: (16, True), _tenon.int32: (32, True), _tenon.int64: (64, True),
             _tenon.uint16: (16, False), _tenon.uint32: (32, False), _tenon.uint64: (64, False)}  # fmt: skip

FLOATS = (_tenon.float16, _tenon.bfloat16, _tenon.float32, _tenon.float64)
_KINDS = {_tenon.float32: "Float", _tenon.float64: "Double", _tenon.float16: "Half", _tenon.bfloat16: "BFloat16",
          _tenon.int64: "Long", _tenon.int32: "Int", _tenon.int16: "Short", _tenon.int8: "Char", _tenon.uint8: "Byte",
          _tenon.uint16: "UInt16", _tenon.uint32: "UInt32", _tenon.uint64: "UInt64", _tenon.bool: "Bool",
          _tenon.complex64: "ComplexFloat", _tenon.complex128: "ComplexDouble"}  # fmt: skip
_WORDS = {_tenon.float32: "float", _tenon.float64: "double", _tenon.float16: "c10::Half", _tenon.bfloat16: "c10::BFloat16", _tenon.uint8: "unsigned char",
          _tenon.int8: "signed char", _tenon.int16: "short int", _tenon.int32: "int", _tenon.int64: "long int", _tenon.bool: "bool",
          _tenon.complex64: "c10::complex<float>", _tenon.complex128: "c10::complex<double>"}  # fmt: skip


def word_of(dtype):
    """The name of a dtype in C++, which some of PyTorch's error texts have: "long int"."""
    return _WORDS.get(dtype, dtype)


def kind_of(dtype):
    """The name of a dtype in PyTorch's error texts: "Float" for float32."""
    return _KINDS[dtype]


def require(name, input, dtypes):
    """Raises PyTorch's error for an input whose dtype the loop of this name does not take."""
    if input.dtype not in dtypes:
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind_of(input.dtype)}'")


def _name(dtype):
    return repr(dtype).removeprefix("tenon.")


def _refusal(name, kind, other, given):
    if not isinstance(given, _tenon.dtype):
        return f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type(given).__name__}"
    return f"torch.{name}() requires {kind} input type. Use torch.{other} to handle 'torch.{name}'"


class finfo:
    """The range and the precision of a floating dtype; of the default one unless another is named."""

    def __init__(self, type=None):
        dtype = _tenon.get_default_dtype() if type is None else type
        if dtype not in _FLOATS:
            raise TypeError(_refusal("finfo", "a floating point", "iinfo", dtype))
        self.bits, self.eps, self.smallest_normal, self.max, self.resolution = _FLOATS[dtype]
        self.min, self.tiny, self.dtype = -self.max, self.smallest_normal, _name(dtype.to_real())

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """The range of an integer dtype."""

    def __init__(self, type):
        if type is _tenon.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type not in _INTEGERS:
            raise TypeError(_refusal("iinfo", "an integer", "finfo", type))
        self.bits, signed = _INTEGERS[type]
        self.min, self.max = (-(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1) if signed else (0, 2**self.bits - 1)
        self.dtype = _name(type)

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
