""".npy and .safetensors files."""

import os

from . import _tenon
from ._tenon import Tensor

_NPY = {"|b1": "bool", "|u1": "uint8", "|i1": "int8", "<i2": "int16", "<i4": "int32", "<i8": "int64", "<f2": "float16",
        "<f4": "float32", "<f8": "float64"}  # fmt: skip
_SAFE = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "F16": "float16",
         "BF16": "bfloat16", "F32": "float32", "F64": "float64"}  # fmt: skip
_NPY_OF = {name: code for code, name in _NPY.items()}
_SAFE_OF = {name: code for code, name in _SAFE.items()}


def _name(dtype):
    return repr(dtype).removeprefix("tenon.")


def save(obj, path):
    path = os.fspath(path)
    if path.endswith(".safetensors"):
        return _write(path, _safetensors(obj))
    if not isinstance(obj, Tensor):
        raise TypeError(f"save: an .npy file holds one tensor, but got {type(obj).__name__}; a dict of tensors goes into .safetensors")
    return _write(path, _npy(obj))


def load(path, *, mmap=False):
    path = os.fspath(path)
    with open(path, "rb") as file:
        data = _mapped(file) if mmap else bytearray(file.read())
    try:
        if bytes(data[:6]) == b"\x93NUMPY":
            return _load_npy(data)
        return _load_safetensors(data)
    except (ValueError, KeyError, IndexError, SyntaxError, TypeError, RecursionError) as error:
        raise RuntimeError(f"{path}: not an .npy or .safetensors file, or a damaged one: {error}") from error


def _mapped(file):
    import mmap

    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # writes stay in this process


def _write(path, parts):
    """Beside the file first, so that a failure leaves the old one."""
    aside = f"{path}.{os.getpid()}.part"
    try:
        with open(aside, "wb") as file:
            for part in parts:
                file.write(part)
        os.replace(aside, path)
    except BaseException:
        if os.path.exists(aside):
            os.unlink(aside)
        raise


def _elements(tensor):
    dense = tensor.contiguous()
    begin = dense.storage_offset() * dense.itemsize
    return memoryview(_tenon._bytes(dense))[begin : begin + dense.nbytes]


def _npy(tensor):
    name = _name(tensor.dtype)
    if name not in _NPY_OF:
        raise TypeError(f"save: .npy files know no {name}; .safetensors files do")
    header = f"{{'descr': '{_NPY_OF[name]}', 'fortran_order': False, 'shape': {tuple(tensor.shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    yield b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    yield _elements(tensor)


def _load_npy(data):
    import ast

    wide = data[6] > 1
    length = int.from_bytes(data[8 : 12 if wide else 10], "little")
    begin = (12 if wide else 10) + length
    header = ast.literal_eval(bytes(data[begin - length : begin]).decode("latin1"))
    shape = header["shape"]
    dtype = getattr(_tenon, _NPY[header["descr"]])
    if header["fortran_order"]:
        return _tensor_at(data, begin, dtype, shape[::-1]).permute(tuple(range(len(shape) - 1, -1, -1)))
    return _tensor_at(data, begin, dtype, shape)


def _tensor_at(data, begin, dtype, shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    if 0 in shape:
        return _tenon.empty(shape, dtype=dtype)
    used = _tenon._over_buffer(data, _tenon.uint8, -1, 0)[begin : begin + step * dtype.itemsize]
    return _tenon._over_bytes(used, dtype, 0, shape, strides)


def _safetensors(tensors):
    import json

    if not isinstance(tensors, dict) or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
        raise TypeError("save: a .safetensors file holds a dict of tensors")
    # The widest first, so that all lie aligned.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0]))
    header, end = {}, 0
    for name, tensor in ordered:
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": _SAFE_OF[_name(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for _, tensor in ordered:
        yield _elements(tensor)


def _load_safetensors(data):
    import json

    length = int.from_bytes(data[:8], "little")
    if length > len(data) - 8:
        raise ValueError("its header is longer than the file")
    header = json.loads(bytes(data[8 : 8 + length]).decode())
    header.pop("__metadata__", None)
    return {name: _entry(data, 8 + length, entry) for name, entry in header.items()}


def _entry(data, origin, entry):
    begin, end = entry["data_offsets"]
    dtype, shape = getattr(_tenon, _SAFE[entry["dtype"]]), tuple(entry["shape"])
    count = 1
    for size in shape:
        count *= size
    if end - begin != count * dtype.itemsize or begin < 0 or any(size < 0 for size in shape):
        raise ValueError(f"shape {list(shape)} does not take {end - begin} bytes")
    return _tensor_at(data, origin + begin, dtype, shape)
