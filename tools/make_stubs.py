#!/usr/bin/env python3
"""Writes the type stubs of the Python module: make_stubs.py FOLDER_OF_THE_EXTENSION HEAD OUT.

OUT is the file HEAD, followed by the attributes, methods and functions that the extension lists.
"""
import pathlib
import re
import sys

TYPES = {
    "Tensor": "Tensor", "Number": "Number | Tensor", "int": "_Int", "float": "_Float", "bool": "_Bool", "str": "str",
    "tuple of ints": "_Int | Sequence[_Int]", "tuple of Tensors": "Sequence[Tensor]", "torch.dtype": "_Dtype | builtins.type[Any]",
    "torch.device": "str | _Device", "torch.layout": "_Layout", "torch.memory_format": "memory_format",
    "torch.Generator": "Generator", "object": "Any",
}  # fmt: skip
# Functions whose tensor parameters also accept numbers.
TAKE_NUMBERS = {"add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_"}
# The other functions return a Tensor.
RETURN_TYPES = {
    "all": "Tensor", "allclose": "_Bool", "backward": "None", "can_cast": "_Bool", "data_ptr": "_Int", "dim": "_Int", "element_size": "_Int",
    "equal": "_Bool", "get_default_dtype": "_Dtype", "get_num_threads": "_Int", "is_complex": "_Bool", "is_conj": "_Bool", "is_contiguous": "_Bool", "is_floating_point": "_Bool", "is_grad_enabled": "_Bool",
    "is_inference": "_Bool", "is_inference_mode_enabled": "_Bool", "is_signed": "_Bool",
    "item": "Any", "ndimension": "_Int", "nelement": "_Int", "numel": "_Int", "nonzero": "Any", "promote_types": "_Dtype",
    "register_hook": "RemovableHandle", "register_post_accumulate_grad_hook": "RemovableHandle", "result_type": "_Dtype",
    "retain_grad": "None", "size": "Any", "storage_offset": "_Int", "stride": "Any", "tolist": "Any", "type": "Any", "where": "Any",
}  # fmt: skip


def parameter(text, function):
    declared, _, default = text.partition(" = ")
    kind, name = declared.rsplit(" ", 1)
    kind = TYPES[kind]
    if function in TAKE_NUMBERS and kind == "Tensor" and name != "out":
        kind = "Tensor | Number"
    if default == "None":
        kind += " | None"
    return f"{name}: {kind}" + (f" = {default if re.fullmatch(r'[-0-9.e]+|True|False|None', default) else '...'}" if default else "")


def definitions(name, signatures, method):
    indent = "    " if method else ""
    overloads = []
    for signature in signatures:
        parts = [part for part in signature[1:-1].split(", ") if part]
        typed = [part if part == "*" else parameter(part, name) for part in parts]
        overloads.append(typed)
        # f((2, 3)) may be written f(2, 3)
        if parts and parts[0].startswith("tuple of ints") and (len(parts) == 1 or parts[1] == "*"):
            first = parts[0].partition(" = ")[0].rsplit(" ", 1)[1]
            overloads.append([f"*{first}: _Int", *typed[2:]])
    for typed in overloads:
        if len(overloads) > 1:
            yield f"{indent}@overload"
        typed = [*(["self"] if method else []), *typed]
        # PyTorch lists some signatures whose calls another signature accepts, too.
        ignored = "  # type: ignore[overload-cannot-match]" if len(overloads) > 1 else ""
        yield f"{indent}def {name}({', '.join(typed)}) -> {RETURN_TYPES.get(name, 'Tensor')}: ...{ignored}"


def main(folder, head, out):
    sys.path.insert(0, folder)
    import _tenon

    lines = [pathlib.Path(head).read_text(encoding="utf-8")]
    lines += [f"{name}: _Dtype" for name in vars(_tenon) if isinstance(getattr(_tenon, name), _tenon.dtype)] + ["bool_: _Dtype", ""]
    lines += ["class Tensor:"]
    for name, kind in (("shape", "Size"), ("dtype", "_Dtype"), ("device", "_Device"), ("layout", "_Layout"), ("ndim", "_Int"),
                       ("itemsize", "_Int"), ("nbytes", "_Int"), ("is_meta", "_Bool"), ("is_cuda", "_Bool"), ("is_sparse", "_Bool"),
                       ("_version", "_Int"), ("is_leaf", "_Bool"), ("output_nr", "_Int"), ("retains_grad", "_Bool"), ("T", "Tensor"), ("mT", "Tensor"), ("mH", "Tensor")):  # fmt: skip
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    lines += ["    @property", "    def grad_fn(self) -> Node | None: ...", "    real: Tensor", "    imag: Tensor", "    data: Tensor", "    grad: Tensor | None", "    requires_grad: _Bool"]
    binary = ["add", "sub", "mul", "truediv", "floordiv", "and", "or", "xor"]
    for name in [*binary, *(f"r{name}" for name in binary), *(f"i{name}" for name in binary), "lt", "le", "gt", "ge"]:
        lines += [f"    def __{name}__(self, other: Any) -> Tensor: ..."]
    for name in ("eq", "ne"):
        lines += [f"    def __{name}__(self, other: Any) -> Tensor: ...  # type: ignore[override]"]
    lines += ["    def __matmul__(self, other: Tensor) -> Tensor: ..."]
    for name in ("neg", "pos", "abs", "invert"):
        lines += [f"    def __{name}__(self) -> Tensor: ..."]
    for name, kind in (("len", "_Int"), ("bool", "_Bool"), ("int", "_Int"), ("float", "_Float"), ("complex", "builtins.complex"), ("index", "_Int"), ("hash", "_Int"),
                       ("iter", "Iterator[Tensor]")):  # fmt: skip
        lines += [f"    def __{name}__(self) -> {kind}: ..."]
    lines += ["    def __getitem__(self, index: _Index) -> Tensor: ...", "    def __setitem__(self, index: _Index, value: Any) -> None: ...",
              "    def __contains__(self, element: Any) -> _Bool: ...", "    def __array__(self, dtype: Any = None, copy: _Bool | None = None) -> Any: ...",
              "    def __dlpack__(self, **options: Any) -> Any: ...", "    def __dlpack_device__(self) -> tuple[_Int, _Int]: ...",
              "    def numpy(self, *, force: _Bool = False) -> Any: ..."]  # fmt: skip
    for name, signatures, _ in _tenon._signatures(True):
        lines += definitions(name, signatures, method=True)
    for name, signatures, _ in _tenon._signatures(False):
        lines += definitions(name, signatures, method=False)
    pathlib.Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
