"""The declared ops, and arguments for them."""

import dataclasses
import functools

import tenon


def number_of(word):
    if word in ("True", "False"):
        return word == "True"
    if "," in word:
        return tuple(map(int, word.split(",")))
    return int(word) if word.lstrip("-").isdigit() else float(word)


@dataclasses.dataclass(frozen=True)
class Parameter:
    type: str
    declared_name: str
    fallback: str | None
    keyword_only: bool
    takes_numbers: bool
    values: str  # what it accepts, if the type does not say it: words, numbers, or the dtype of a tensor

    @property
    def name(self):
        """The name in Python. A number that is the receiver keeps its own."""
        return "input" if self.declared_name == "self" and self.type != "Scalar" else self.declared_name

    @property
    def is_mask(self):
        return self.values == "bool"

    @property
    def is_index(self):
        return self.values == "int64"

    @property
    def choices(self):
        """The declared words or numbers."""
        if self.is_operand:
            return []
        numbers = [word if self.type.startswith("str") else number_of(word) for word in self.values.split()]
        return [number if isinstance(number, tuple) else (number,) for number in numbers] if self.type.startswith("int[") else numbers

    def sample(self):
        """A value of its type, for a parameter that is not an operand."""
        if self.choices:
            return self.choices[0]
        if self.is_list:
            return [tenon.ones(2), tenon.ones(2)]
        by_type = {"int": 1, "int[]": (0,), "int[1]": (1,), "Scalar": 2, "float": 0.5, "float[]": (-1.0, 2.0), "bool": True, "ScalarType": tenon.float64}
        return by_type[self.type.rstrip("?")]

    @property
    def is_operand(self):
        return self.type.startswith("Tensor") and not self.is_list

    @property
    def is_list(self):
        return self.type == "Tensor[]"


@dataclasses.dataclass(frozen=True)
class Op:
    name: str
    kind: str
    parameters: tuple
    has_method: bool
    has_out: bool
    has_inplace: bool
    exact: bool  # the results have the same bits as PyTorch's
    domain: str  # the valid elements: "[-1, 1]"
    shapes: str  # a matrix product's operand shapes, as in einsum: "ij,jk"

    @property
    def operands(self):
        return [parameter for parameter in self.parameters if parameter.is_operand]

    @property
    def is_loss(self):
        """Its operands have shapes of their own, and Python's function has other parameters."""
        return any(parameter.name == "reduction" for parameter in self.parameters)

    def sizes(self, parameter, size):
        """An operand's sizes in a matrix product. `size` is a function from a letter of `shapes` to its size."""
        shapes, at = self.shapes.split(","), self.operands.index(parameter)
        letters = shapes[at] if at < len(shapes) else shapes[0][-1]  # weights of what lies along the last dim
        return [size(letter) for letter in letters.lstrip("*")]


DECOMPOSITIONS = {"linalg_" + name for name in "cholesky cholesky_ex det eig eigh eigvals eigvalsh inv inv_ex lu lu_factor lu_factor_ex lu_solve matrix_exp pinv qr slogdet solve solve_ex solve_triangular svd svdvals".split()}


def has_own_tests(name):
    """Whether results are unique up to signs, or laid out otherwise: test_linalg_against_torch.py, test_fft_against_torch.py."""
    return name in DECOMPOSITIONS or name.startswith(("fft_", "_fft_"))


# A function with several signatures has an entry for each.
OPS = [Op(name, kind, tuple(Parameter(*parameter) for parameter in parameters), *facts) for name, kind, parameters, *facts in tenon._tenon._ops()]
NAMES = sorted({op.name for op in OPS})


# Functions whose parameters are others than the declared ones.
_ADAPTED = {
    "block_diag": lambda tensors: tenon.block_diag(*tensors),
    "cartesian_prod": lambda tensors: tenon.cartesian_prod(*tensors),
    "einsum": lambda tensors, equation: tenon.einsum(equation, *tensors),
    "tensordot": lambda a, b, dims_self, dims_other, **out: tenon.tensordot(a, b, (dims_self, dims_other), **out),
}


def function(name):
    """The function of an op: the package's, or that behind tenon.nn.functional, or a method."""
    if name in _ADAPTED:
        return functools.wraps(getattr(tenon, name))(_ADAPTED[name])
    return next(getattr(owner, name) for owner in (tenon._tenon._nn, tenon, tenon.Tensor) if hasattr(owner, name))


def plain_arguments(name):
    """(all operands and the other arguments without a default, except dims; whether the op needs a dim)."""
    op = max((op for op in OPS if op.name == name), key=lambda op: len(op.parameters))
    arguments, needs_dim = [], False
    integers = ("isin",)  # the array API's takes no others
    for at, parameter in enumerate(op.parameters):
        sizes = op.sizes(parameter, lambda letter: 2) if op.shapes and parameter.is_operand else [3] if name in ("vander", "combinations") else [2, 3]
        numbers = tenon.arange(float(tenon.Size(sizes).numel())).reshape(sizes)
        if parameter.is_list:
            arguments.append([numbers, numbers + 1])
        elif parameter.is_mask:
            arguments.append(numbers > 1)
        elif parameter.is_index:
            arguments.append((numbers > 1).to(tenon.int64))
        elif parameter.is_operand:
            floats = numbers * 0.35 - 1 + at
            arguments.append((numbers + at).to(tenon.int64) if name.startswith(("bitwise", "gcd", "lcm")) or name in integers or name == "ldexp" and at > 0 else floats > 0 if name.startswith("logical") else floats)
        elif parameter.name in ("dim", "dims") and not parameter.choices:
            needs_dim = needs_dim or parameter.fallback is None
        elif parameter.fallback is None:
            arguments.append(parameter.sample())
    return arguments, needs_dim
