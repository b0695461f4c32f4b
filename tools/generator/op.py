"""An op: its signature, the facts of its block, and what follows from them."""
import dataclasses
import functools
import re
from typing import Optional

from generator.signature import TYPES, Signature, parse_signature


@dataclasses.dataclass
class Op:
    """A block of src/ops/, or another name of its op. Only dispatch calls a block without a signature."""

    block: str  # its name as a struct and an enumerator
    file: str
    place: int  # in the file
    text: str  # the struct, up to its closing bracket
    facts: dict  # by the names of Row (src/ops/row.h)
    number: int = 0  # as an enumerator
    base: Optional["Op"] = None  # the block that it derives from
    signature: Signature = dataclasses.field(init=False)

    def __post_init__(self):
        try:
            self.signature = parse_signature(self.facts["signature"]) if "signature" in self.facts else Signature()
        except ValueError as error:
            raise SystemExit(f"ops.py: {self.file}: {self.block}: {error}") from None
        self.check_values()

    def check_values(self):
        for parameter in self.parameters:
            if parameter.type.startswith("str") and not self.values_of(parameter):
                raise SystemExit(f'ops.py: {self.file}: {self.block}: say which words it accepts: .values = "{parameter.name}: ..."')

    # --- What the signature says

    @property
    def name(self):
        return self.signature.name

    @property
    def parameters(self):
        return self.signature.parameters

    @property
    def has_out(self):
        return self.signature.has_out

    @property
    def result_names(self):
        return self.signature.result_names

    @property
    def returns_list(self):
        return self.signature.result == "Tensor[]"

    @property
    def result_count(self):
        """-1: a list, whose length depends on the arguments."""
        return -1 if self.returns_list else len(self.result_names) or 1

    def has_parameter(self, name):
        return any(parameter.name == name for parameter in self.parameters)

    def values_of(self, parameter):
        """What a parameter accepts, if its type does not say it: "add multiply"; "" for anything of its type."""
        return self.declared_values.get(parameter.name, "")

    @functools.cached_property
    def declared_values(self):
        """The fact `values` by parameter: "reduce: add multiply; index: int64"."""
        parts = [part.split(":") for part in self.facts.get("values", "").split(";") if part]
        values = {name.strip(): text.strip() for name, text in parts}
        known = [parameter.name for parameter in self.parameters] + self.result_names + ["out"] * self.has_out + ["order"]
        if unknown := set(values).difference(known):
            raise SystemExit(f"ops.py: {self.file}: {self.block}: .values: no parameter is called {', '.join(sorted(unknown))}")
        return values

    def operands(self):
        return [parameter for parameter in self.parameters if parameter.is_operand()]

    @property
    def is_function(self):
        return self.facts.get("function", True)

    # --- Facts

    @property
    def stem(self):
        """The block's name without the underscore that keeps `std_` apart from the namespace."""
        return self.block.rstrip("_")

    @property
    def is_public(self):
        return bool(self.name)

    @property
    def is_alias(self):
        return self.name in self.aliases()

    def aliases(self):
        return self.facts.get("alias", "").split()

    def array_api_name(self):
        return self.facts.get("array_api", "")

    def numpy_names(self):
        return self.facts.get("numpy", self.array_api_name()).split()

    @property
    def module(self):
        """The module of the Python package with its function; "" for the package itself."""
        return self.facts.get("module", "")

    @property
    def python_name(self):
        """In that module."""
        return self.name.removeprefix(self.module.replace(".", "_") + "_")

    @property
    def is_by_hand(self):
        return self.facts.get("by_hand", False)

    @property
    def kind(self):
        return self.facts.get("kind", "Kind::map").removeprefix("Kind::")

    @property
    def promotion(self):
        return self.facts.get("promotion", "Promotion::common").removeprefix("Promotion::")

    @property
    def is_comparison(self):
        return self.promotion == "comparison"

    @property
    def is_method(self):
        return self.facts.get("method", True) and self.has_parameter("self")

    @property
    def has_inplace(self):
        """Without a method it must be declared: then Python has a function NAME_."""
        by_default = self.is_method and self.kind == "map" and not self.has_several_results
        return self.has_parameter("self") and self.facts.get("inplace", by_default)

    @property
    def has_inplace_function(self):
        """Whether Python has the in-place method as a function, too."""
        return self.name + "_" in self.facts.get("inplace_functions", "").split()

    @property
    def is_in_submodule(self):
        """Whether Python's function is in tenon._tenon._nn, as in torch._C._nn: nn.functional is handwritten."""
        return self.module == "nn.functional"

    # --- How it is computed

    @functools.cached_property
    def has_state(self):
        """Whether it is a fold whose partial results are States. A derived block inherits its State."""
        is_derived = bool(re.match(r"struct \w+ : ", self.text))
        return bool(re.search(r"\bState\b", self.text)) or (is_derived and self.kind == "fold")

    @property
    def has_plain_function(self):
        """Whether plain::NAME in src/dispatch/ computes it."""
        return self.kind == "algorithm" or self.has_state or self.has_several_results

    @property
    def has_several_results(self):
        """Whether it is a map of several results. Its plain::NAME is generated."""
        return self.kind == "map" and len(self.result_names) > 1

    @property
    def uses_fold_driver(self):
        """Whether plain::NAME is generated: a fold with a State and the usual parameters is a call of `fold_states`."""
        if not self.has_state or self.is_by_hand:
            return False
        types = {parameter.name: parameter.type for parameter in self.parameters}
        has_usual_names = {"dim", "keepdim"} <= set(types) <= {"self", "dim", "keepdim", "dtype"}
        return has_usual_names and list(types)[0] == "self" and types["dim"].startswith("int[")

    @functools.cached_property
    def formulas(self):
        """The functions of the block, also those it inherits, by name: the names of their parameters, and the body."""
        found = dict(self.base.formulas) if self.base else {}
        for name, parameters, body in re.findall(r"static \S+ (\w+)\(([^)]*)\) \{\n(.*?)\n  \}", self.text, re.S):
            code = re.sub(r"//[^\n]*", "", body)
            found[name] = [part.split()[-1] for part in parameters.split(",")], " ".join(code.split())
        return found

    # --- Numbers as arguments

    def takes_numbers(self, parameter):
        """Whether a parameter declared as a Tensor may be a number in C++, as in most maps of several operands."""
        if parameter.type != "Tensor" or parameter.name == "condition":
            return False
        is_map = self.kind == "map" and len(self.operands()) > 1
        return is_map and all(other.type != "Tensor|Scalar?" for other in self.parameters)

    def type_of(self, parameter):
        return TYPES["Tensor|Scalar" if self.takes_numbers(parameter) else parameter.type]

    def python_takes_number(self, place):
        """Whether an operand may be a number in Python."""
        return "|" in self.operands()[place].type or (place > 0 and self.facts.get("numbers_as_tensors", False))
