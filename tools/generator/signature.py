"""The grammar of signatures, which is PyTorch's, and what each type of a parameter becomes."""
import dataclasses
import re
from typing import Optional


@dataclasses.dataclass(frozen=True)
class Type:
    """What a parameter's type becomes. A type that no op had before needs one line in TYPES."""

    cpp: str  # in C++
    python: str  # in the grammar of src/python/arguments.h
    getter: str  # the function of Call (src/python/arguments.h) and Value (tenon/schema.h); "*": gives an optional
    without_default: str = ""  # the getter's last argument where there is no default; "": it takes none
    none: str = ""  # None as a default in C++

    def get(self, source, *arguments, default):
        """C++ that gets the value: "call.number(Name::alpha, 1)", "values[2].number(1)"."""
        if self.without_default:
            arguments = (*arguments, default or self.without_default)
        star = "*" if self.getter.startswith("*") else ""
        return f"{star}{source}.{self.getter.lstrip('*')}({', '.join(arguments)})"


TYPES = {
    "Tensor": Type("const Tensor&", "Tensor", "tensor"),
    "Tensor?": Type("const Tensor&", "Tensor?", "optional_tensor", none="{}"),
    "Tensor[]": Type("const List<Tensor>&", "Tensors", "tensors"),
    "Tensor|Scalar": Type("const Arg&", "Tensor|Number", "arg"),
    "Tensor|Scalar?": Type("const std::optional<Arg>&", "Tensor|Number", "optional_arg", none="{}"),
    "Scalar": Type("Scalar", "Number", "number", without_default="0"),
    "Scalar?": Type("std::optional<Scalar>", "Number?", "optional_number", none="{}"),
    "float": Type("double", "float", "floating", without_default="0"),
    "float?": Type("std::optional<double>", "float?", "optional_floating", none="{}"),
    "float[]?": Type("const std::optional<List<double>>&", "floats?", "optional_floats", none="{}"),
    "bool": Type("bool", "bool", "boolean", without_default="false"),
    "bool?": Type("std::optional<bool>", "bool?", "optional_boolean", none="{}"),
    "int": Type("int64_t", "int", "integer", without_default="0"),
    "int?": Type("std::optional<int64_t>", "int?", "optional_integer", none="{}"),
    "int[]": Type("SizesView", "ints", "dims"),
    "int[]?": Type("const DimsArg&", "ints?", "dims_arg", none="{}"),
    "int[1]": Type("const DimsArg&", "ints[1]", "dims_arg", none="{}"),
    "int[1]?": Type("const DimsArg&", "ints[1]?", "dims_arg", none="{}"),
    **{f"int[{count}]": Type("SizesView", f"ints[{count}]", "dims") for count in (2, 4, 6)},
    "str": Type("const char*", "str", "text", without_default="nullptr"),
    "str?": Type("const char*", "str?", "text", without_default="nullptr", none="nullptr"),
    "ScalarType": Type("Dtype", "dtype", "*dtype"),
    "ScalarType?": Type("std::optional<Dtype>", "dtype", "dtype", none="{}"),
}


@dataclasses.dataclass
class Parameter:
    type: str
    name: str
    default: Optional[str]
    keyword_only: bool

    def is_operand(self):
        return self.type.startswith("Tensor") and not self.is_list()

    def is_list(self):
        """Whether it is a list of tensors."""
        return self.type == "Tensor[]"

    def cpp_default(self):
        """The default in C++; "" if there is none."""
        if self.default is None:
            return ""
        if self.default in ("None", "()"):
            return TYPES[self.type].none
        if self.default.startswith("'"):
            return f'"{self.default[1:-1]}"'
        return {"True": "true", "False": "false"}.get(self.default, self.default)


@dataclasses.dataclass
class Signature:
    name: str = ""
    parameters: list = dataclasses.field(default_factory=list)
    result: str = "Tensor"  # as declared: "Tensor[]", "(Tensor values, Tensor indices)"
    has_out: bool = False

    @property
    def result_names(self):
        """The names of several results; "" where one has no name. Empty for a single result or a list."""
        if not self.result.startswith("("):
            return []
        return [part.strip().removeprefix("Tensor").strip() for part in self.result[1:-1].split(",")]


RESULT = r"Tensor|Tensor\[\]|\((?:Tensor(?: \w+)?(?:, )?)+\)"
SIGNATURE = re.compile(rf"(\w+)\((.*?)(, Tensor(?:\[\d\])? out=None)?\) -> ({RESULT})")


def parse_signature(text):
    """ "sub(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None) -> Tensor"."""
    match = SIGNATURE.fullmatch(text)
    if not match:
        raise ValueError(f"not a signature: {text}")
    name, parameters, out, result = match.groups()
    return Signature(name, parse_parameters(parameters), result, out is not None)


def parse_parameters(text):
    """ "Tensor self, *, Scalar alpha=1"."""
    parameters, keyword_only = [], False
    for part in filter(None, map(str.strip, text.split(","))):
        if part == "*":
            keyword_only = True
            continue
        type_, name, default = split_parameter(part)
        if type_ not in TYPES:
            raise ValueError(f"unknown type '{type_}'; tools/generator/signature.py lists the types: {text}")
        parameters.append(Parameter(type_, name, default, keyword_only))
    return parameters


def split_parameter(text):
    """ "Scalar alpha=1": its type, its name, its default or None."""
    declared, _, default = text.partition("=")
    type_, _, name = declared.rpartition(" ")
    return type_, name, default or None
