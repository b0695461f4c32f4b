""".npy and .safetensors files.

C++ reads and writes the bytes and .npy (src/io); .safetensors is a header of JSON, which is read and written here.
"""

import os

from . import _tenon
from ._tenon import Tensor

_NPY = {"bool": "|b1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "float16": "<f2",
        "float32": "<f4", "float64": "<f8", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "complex64": "<c8",
        "complex128": "<c16"}  # fmt: skip
_SAFE = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "F16": "float16",
         "BF16": "bfloat16", "F32": "float32", "F64": "float64", "U16": "uint16", "U32": "uint32", "U64": "uint64", "C64": "complex64"}  # fmt: skip
_SAFE_OF = {name: code for code, name in _SAFE.items()}
_MAX_NPY_DIMS = 64  # NumPy reads no more


class _Damaged(Exception):
    """Raises the error of a file that is not valid for its format."""


def save(obj, path):
    path = _path(path)
    if path.endswith(".safetensors"):
        return _tenon._write_file(os.fsencode(path), _safetensors(obj))
    if not path.endswith(".npy") and not _is_stream(path):
        raise ValueError(f"save: the name should end in .npy (one tensor) or .safetensors (a dict of tensors), not {path!r}")
    if not isinstance(obj, Tensor):
        raise TypeError(f"save: an .npy file holds one tensor, but got {type(obj).__name__}; a dict of tensors goes into .safetensors")
    return _tenon._write_file(os.fsencode(path), _npy(obj))


def load(path, *, mmap=False):
    path = _path(path)
    # Entries of .safetensors are copied one by one, so that none keeps the file in memory.
    by_entries = not mmap and path.endswith(".safetensors")
    is_npy, data = _tenon._read_file(os.fsencode(path), bool(mmap) or by_entries)
    if is_npy:
        return data.clone() if by_entries else data
    try:
        return _load_safetensors(path, data, not mmap)
    except (_Damaged, ValueError, OverflowError, RecursionError) as error:
        if path.endswith(".safetensors"):
            raise RuntimeError(f"{path}: the file is damaged: {error}") from error
        if path.endswith(".npz"):
            raise RuntimeError(f"{path}: load reads .npy and .safetensors files; numpy.load reads archives of them (.npz)") from error
        if path.endswith((".csv", ".csv.gz", ".png")):
            raise RuntimeError(f"{path}: load reads .npy and .safetensors files; `tenon eval` in the shell reads .csv and .png") from error
        raise RuntimeError(f"{path}: not an .npy or .safetensors file, or a damaged one: {error}") from error


def _path(path):
    path = os.fsdecode(path)
    if "\0" in path:
        raise ValueError("embedded null byte")
    return path


def _is_stream(path):
    return os.path.exists(path) and not os.path.isfile(path)


def _name(dtype):
    return repr(dtype).removeprefix("tenon.")


def _elements(tensor):
    dense = tensor.contiguous()
    begin = dense.storage_offset() * dense.itemsize
    return memoryview(_tenon._bytes(dense))[begin : begin + dense.nbytes]


def _npy(tensor):
    name = _name(tensor.dtype)
    if name not in _NPY:
        raise TypeError(f"save: .npy files know no {name}; .safetensors files do")
    if tensor.dim() > _MAX_NPY_DIMS:
        raise ValueError(f"save: an .npy file holds at most {_MAX_NPY_DIMS} dims; the tensor has {tensor.dim()}")
    header = f"{{'descr': '{_NPY[name]}', 'fortran_order': False, 'shape': {tuple(tensor.shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return [b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode(), _elements(tensor)]


def _check_entries(tensors):
    if not isinstance(tensors, dict) or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
        raise TypeError("save: a .safetensors file holds a dict of tensors")
    for name in tensors:
        if not isinstance(name, str):
            raise TypeError(f"save: tensors in a .safetensors file are named by str, not {type(name).__name__}")
        name.encode()  # UnicodeEncodeError for a single surrogate
    if "__metadata__" in tensors:
        raise ValueError("save: no tensor can be named __metadata__: .safetensors files keep their own data under that name")


def _safetensors(tensors):
    import json

    _check_entries(tensors)
    # The widest dtypes first, so that all entries are aligned.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0]))
    for tensor in tensors.values():
        if _name(tensor.dtype) not in _SAFE_OF:
            raise TypeError(f"save: .safetensors files know no {_name(tensor.dtype)}; .npy files do")
    header, end = {}, 0
    for name, tensor in ordered:
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": _SAFE_OF[_name(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return [len(text).to_bytes(8, "little") + text, *(_elements(tensor) for _, tensor in ordered)]


def _need(condition, text):
    if not condition:
        raise _Damaged(text)


def _unique(pairs):
    names = dict(pairs)
    _need(len(names) == len(pairs), "a name stands twice in its header")
    return names


def _header(data):
    import json

    size = data.numel()
    _need(size >= 8, f"it is cut short: it has {size} bytes")
    length = int.from_bytes(bytes(memoryview(data[:8])), "little")
    _need(length <= size - 8, "its header is longer than the file")
    header = json.loads(bytes(memoryview(data[8 : 8 + length])).decode(), object_pairs_hook=_unique)
    _need(isinstance(header, dict), "its header is no JSON object")
    header.pop("__metadata__", None)
    return header, data[8 + length :]


def _load_safetensors(path, data, copied):
    header, elements = _header(data)
    for name, entry in header.items():
        _need(isinstance(entry, dict) and isinstance(entry.get("dtype"), str), f"entry {name!r} has no dtype")
    unknown = [(name, entry["dtype"]) for name, entry in header.items() if entry["dtype"] not in _SAFE]
    if unknown:
        raise RuntimeError(f"{path}: entry {unknown[0][0]!r} has dtype {unknown[0][1]}, which is not supported; supported are {', '.join(_SAFE)}")
    tensors = {name: _entry(elements, name, entry, copied) for name, entry in header.items()}
    end = 0
    for name, (begin, after) in sorted(((name, entry["data_offsets"]) for name, entry in header.items()), key=lambda item: item[1]):
        _need(begin == end, f"the bytes of entry {name!r} begin at {begin}, where those of the entry before end at {end}")
        end = after
    _need(end == elements.numel(), f"{elements.numel() - end} bytes are left over")
    return tensors


def _is_size(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _entry(elements, name, entry, copied):
    """A tensor with its own storage, so that writing to one entry does not change another."""
    shape, offsets = entry.get("shape"), entry.get("data_offsets")
    _need(isinstance(shape, list) and all(map(_is_size, shape)), f"the shape of entry {name!r} is no list of sizes")
    _need(isinstance(offsets, list) and len(offsets) == 2 and all(map(_is_size, offsets)), f"the data_offsets of entry {name!r} are no two places")
    dtype = getattr(_tenon, _SAFE[entry["dtype"]])
    (begin, end), count = offsets, 1
    for size in shape:
        count *= size
    _need(end <= elements.numel(), f"it is cut short: entry {name!r} ends at {end} of {elements.numel()} bytes")
    _need(end - begin == count * dtype.itemsize, f"entry {name!r}: shape {shape} of {entry['dtype']} does not take {end - begin} bytes")
    if count == 0:
        return _empty(name, shape, dtype)
    own = elements[begin:end]
    _need(dtype is not _tenon.bool or own.amax().item() <= 1, f"entry {name!r} of dtype BOOL holds bytes other than 0 and 1")
    own = own.clone() if copied else _tenon._over_buffer(own, _tenon.uint8, -1, 0)
    return _tenon._over_bytes(own, dtype, 0, shape, _strides(shape))


def _empty(name, shape, dtype):
    try:
        return _tenon.empty(shape, dtype=dtype)
    except RuntimeError as error:  # sizes whose product overflows, although one size is 0
        raise _Damaged(f"entry {name!r}: {error}") from error


def _strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strides[::-1]
