"""Makes random programs: statements over a module `T` and variables v0, v1, ..., which run in PyTorch and in Tenon.

The calls come from the signatures in the docstrings of the module's functions and methods, so that new ops are included.
"""
import keyword
import math
import pathlib
import random
import re
import sys
import typing

import tenon
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
from ops import read_ops  # noqa: E402

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
SIZES = [0, 1, 1, 1, 2, 2, 3, 3, 4, 5]
SMALL = ["0", "1", "2", "3", "-1", "-2", "0.5", "-1.5", "2.0", "True"]
NUMBERS = ["0", "1", "2", "-1", "-3", "7", "127", "128", "200", "255", "256", "300", "-128", "-129", "2**31 - 1", "2**31", "-2**31",
           "2**40", "2**63 - 1", "-2**63", "2**63", "0.0", "-0.0", "0.5", "-2.5", "1e-3", "0.1", "1e10", "float('inf')",
           "-float('inf')", "float('nan')", "True", "False", "2j"]
HUGE = ["2**36", "2**62", "2**63 - 1", "-2**63", "-2**62"]
DIM_NAMES = {"dim", "dims", "dim0", "dim1", "dim2", "axis", "axis0", "axis1", "start_dim", "end_dim", "source", "destination"}
LIMIT = 1500  # elements of a variable; larger ones are deleted at once

# The sizes of each operand of a matrix product, as letters: {"mm": {"input": "ij", "mat2": "jk"}}.
SHAPES = {op.name: dict(zip((parameter.name.replace("self", "input") for parameter in op.operands()), op.facts["shapes"].replace("*", "").split(",")))
          for op in read_ops() if op.is_public and op.facts.get("shapes")}  # fmt: skip

# Not called: functions that affect the process, read files or other libraries' memory, or return an address.
LEFT_OUT = {"set_num_threads", "get_num_threads", "manual_seed", "seed", "initial_seed", "load", "save", "from_numpy", "from_dlpack",
            "frombuffer", "numpy", "data_ptr", "set_printoptions", "backward", "register_hook", "register_post_accumulate_grad_hook",
            "tolist", "nbytes", "grad_fn", "is_inference", "meshgrid"}
LEFT_OUT |= {"bernoulli", "bernoulli_", "cauchy_", "exponential_", "log_normal_", "multinomial"}  # other random numbers: docs/differences.md
LEFT_OUT |= {name + place for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout") for place in ("", "_")}


class Parameter(typing.NamedTuple):
    kind: str
    name: str
    optional: bool
    keyword: bool  # keyword-only


def parameters_of(text):
    """The parameters of a signature in PyTorch's grammar: `Tensor input, *, Number alpha = 1`."""
    found, by_keyword = [], False
    for part in re.split(r", (?![^(]*\))", text) if text else []:
        if part in ("*", "/"):
            by_keyword = by_keyword or part == "*"
            continue
        declared, optional = part.split(" = ")[0], " = " in part
        kind, _, name = declared.rpartition(" ")
        found.append(Parameter(kind.removeprefix("torch."), name, optional, by_keyword))
    return found


def signatures_of(owner, name):
    """The parameter lists of a function or method; empty if its docstring has none."""
    lines = (getattr(getattr(owner, name, None), "__doc__", None) or "").splitlines()
    found = []
    for line in lines:
        match = re.fullmatch(r"(?:Tensor\.)?(\w+)\((.*)\)", line.partition(" -> ")[0])
        if match and match.group(1) == name and "..." not in line:
            parameters = parameters_of(match.group(2))
            is_typed = all(p.kind for p in parameters)  # functions written in Python are not
            if is_typed and not any(p.kind in ("object", "Generator") and not p.optional for p in parameters):
                found.append(parameters)
    return found


def listing(ours, theirs):
    return {name: signatures for name in sorted(dir(ours)) if not name.startswith("_") and name not in LEFT_OUT and hasattr(theirs, name)
            for signatures in [signatures_of(ours, name)] if signatures}


FUNCTIONS = listing(tenon, torch)
METHODS = listing(tenon.Tensor, torch.Tensor)
IN_PLACE = sorted(name for name in METHODS if name.endswith("_"))
WITH_OUT = sorted(name for name in FUNCTIONS if any(p.name == "out" for signature in FUNCTIONS[name] for p in signature))
PROPERTIES = sorted(name for name in dir(tenon.Tensor) if not name.startswith("_") and name not in LEFT_OUT
                    and hasattr(tenon.Tensor, name) and not callable(getattr(tenon.Tensor, name)) and hasattr(torch.Tensor, name))
OPERATORS = [symbol for symbol, method in
             {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul", "&": "and",
              "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}.items()
             if f"__{method}__" in vars(tenon.Tensor)]
COMPOUND = [symbol for symbol, method in {"+": "iadd", "-": "isub", "*": "imul", "/": "itruediv", "&": "iand", "|": "ior", "^": "ixor", "<<": "ilshift", ">>": "irshift"}.items()
            if f"__{method}__" in vars(tenon.Tensor)]


class Drawer:
    """Makes one program, statement by statement. Looks at PyTorch's variables, so that most statements are valid."""

    def __init__(self, seed, number, variables):
        self.rng = random.Random(f"{seed}:{number}")
        self.variables = variables  # PyTorch's namespace
        self.names = []             # live tensors, oldest first
        self.count = 0
        self.with_gradients = self.rng.random() < 0.55
        self.length = self.rng.choice([4, 8, 12, 20, 30, 40])
        self.base = [self.rng.choice(SIZES) for _ in range(self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))]

    # --- parts of statements --------------------------------------------------------------------------------------

    def chance(self, probability):
        return self.rng.random() < probability

    def choice(self, values):
        return self.rng.choice(values)

    def fresh_name(self):
        self.count += 1
        return f"v{self.count - 1}"

    def pick(self):
        return self.choice(self.names[-5:] if self.chance(0.8) else self.names)

    def tensor(self, name):
        return self.variables.get(name)

    def dtype(self):
        if self.with_gradients:
            return self.choice(["float32"] * 5 + ["float64"] * 3 + DTYPES)
        return self.choice(DTYPES + ["float32", "int64"])

    def number(self):
        return self.choice(SMALL) if self.chance(0.7) else self.choice(NUMBERS)

    def dim(self, ndim=None):
        if ndim and self.chance(0.93):
            return str(self.rng.randrange(-ndim, ndim))
        return self.choice(["0", "0", "1", "-1", "-2", "2"]) if self.chance(0.97) else self.choice(["5", "-7"] + HUGE)

    def dims(self, ndim):
        if self.chance(0.9):
            drawn = self.rng.sample(range(ndim), self.rng.randint(0, ndim))
            return [str(dim - ndim if self.chance(0.3) else dim) for dim in drawn]
        return [self.dim(ndim) for _ in range(self.rng.randint(0, 3))]

    def integer(self):
        return self.choice(["0", "0", "1", "1", "2", "3", "-1", "-2", "5"]) if self.chance(0.98) else self.choice(HUGE)

    def shape(self):
        """A shape that usually broadcasts with the program's other shapes."""
        if self.chance(0.15):
            return [self.choice(SIZES) for _ in range(self.rng.randint(0, 4))]
        shape = [1 if self.chance(0.2) else size for size in self.base]
        return shape[self.rng.randint(0, len(shape)):] if self.chance(0.25) else shape

    def tuple_of(self, items, parens=None):
        items = [str(item) for item in items]
        if parens == "[" or (parens is None and self.chance(0.3)):
            return "[" + ", ".join(items) + "]"
        return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"

    def value(self, dtype):
        if dtype == "bool":
            return self.choice(["True", "False"])
        if dtype == "uint8":
            return self.choice(["0", "1", "2", "3", "7", "128", "255"])
        if dtype in FLOATS:
            return self.choice(["0.0", "1.0", "-1.5", "2.25", "0.5", "-3.0"] if self.chance(0.85) else
                               ["-0.0", "float('nan')", "float('inf')", "100.0", "0.1"])
        return self.choice(["0", "1", "-1", "2", "-3", "5"] if self.chance(0.9) else ["127", "-128"])

    def nested(self, shape, dtype):
        if not shape:
            return self.value(dtype)
        return "[" + ", ".join(self.nested(shape[1:], dtype) for _ in range(shape[0])) + "]"

    # --- statements -----------------------------------------------------------------------------------------------

    def factory(self):
        """A new variable."""
        shape, dtype = self.shape(), self.dtype()
        numel, kind = math.prod(shape), self.rng.random()
        if kind < 0.45 and numel <= 24:
            text = f"T.tensor({self.nested(shape, dtype)}, dtype=T.{dtype})"
        elif kind < 0.75:
            step, first = self.choice([1, 1, 2, -1, 3]), self.choice([0, 0, 1, -2])
            if dtype in ("uint8", "bool"):
                step, first = 1, 0
            text = f"T.arange({first}, {first + step * numel}, {step}, dtype=T.{dtype if dtype != 'bool' else 'int32'}).reshape({shape})"
            if dtype == "bool":
                text += ".to(T.bool)"
        elif kind < 0.9:
            text = f"T.full({shape}, {self.value(dtype)}, dtype=T.{dtype})"
        else:
            text = f"T.{self.choice(['ones', 'zeros'])}({shape}, dtype=T.{dtype})"
        if len(shape) > 1 and self.chance(0.25):
            text += f".permute({self.rng.sample(range(len(shape)), len(shape))})"
        if self.with_gradients and dtype in FLOATS and self.chance(0.55):
            text += ".requires_grad_()" if self.chance(0.7) else ".clone().requires_grad_()"
        return self.assigned(text)

    def assigned(self, text):
        name = self.fresh_name()
        return f"{name} = {text}"

    def operand(self):
        """A variable, or a small expression over one."""
        name = self.pick()
        if self.chance(0.86):
            return name
        return name + self.choice([".T", "[0]", ".detach()", "[..., :1]", ".expand_as(" + self.pick() + ")", ".clone()", "[::2]",
                                   f".to(T.{self.dtype()})", ".unsqueeze(0)", ".unsqueeze(-1)", "[None]", ".sum()"])

    def argument(self, op, parameter, subject):
        """The text of one argument. `subject` is the call's first tensor, or None."""
        kind, name = parameter.kind, parameter.name
        ndim = subject.dim() if isinstance(subject, torch.Tensor) else 0
        if self.chance(0.006):
            return self.choice(["None", "'x'", "1.5", "()", "[1, 2]", "T.float32", self.pick()])
        if kind == "Tensor":
            if op in SHAPES and name != "out" and self.chance(0.7):
                return self.factor(op, name, subject)
            return self.operand() if name != "out" else self.target(op)
        if kind == "Number" and name == "alpha":  # in PyTorch's sub, -2**63 overflows when negated, but not in its gradient
            return self.number().replace("-2**63", "-2**40")
        if kind == "Number":
            return self.choice(["0", "1", "3", "5", "2.5", "-1", "0.5"]) if name in ("start", "end", "step") else self.number()
        if kind == "int":
            if name in DIM_NAMES:
                return self.dim(ndim)
            return self.choice(["0", "1", "2", "3", "5", "-1"]) if name in ("n", "m", "steps") else self.integer()
        if kind == "tuple of Tensors":
            return self.tensors()
        if kind == "tuple of ints":
            return self.integers(op, name, subject, ndim)
        if kind == "float" and name == "p":  # small ones make roots that round much
            return self.choice(["0.5", "0.5", "1.0", "2.0", "0.0"])
        if kind == "float":
            return self.choice(["1e-5", "0.0", "0.5", "1e-8"])
        if kind == "bool":
            return self.choice(["True", "False"])
        if kind == "str":
            return self.choice(["'floor'", "'trunc'", "None", "'up'"] if self.chance(0.5) else ["'floor'", "'trunc'"])
        if kind == "dtype":
            return f"T.{self.dtype()}"
        if kind == "memory_format":
            return "T." + self.choice(["contiguous_format", "preserve_format", "channels_last"])
        if kind == "device":
            return "'cpu'"
        if kind == "layout":
            return "T.strided"
        return "None"

    def tensors(self):
        """A list of tensors that usually have the same shape."""
        shapes = {name: getattr(self.tensor(name), "shape", None) for name in self.names}
        first = self.pick()
        alike = [name for name in self.names if shapes[name] == shapes[first]]
        rest = [self.choice(alike) if self.chance(0.75) else self.operand() for _ in range(self.rng.randint(0, 3))]
        return "[" + ", ".join([first, *rest] if self.chance(0.97) else rest) + "]"

    def factor(self, op, name, subject):
        """A further operand of a matrix product with `subject`."""
        letters = SHAPES[op]
        sizes = dict(zip(reversed(next(iter(letters.values()))), reversed(subject.shape if isinstance(subject, torch.Tensor) else ())))
        shape = [sizes.get(letter) or self.choice([1, 2, 3]) for letter in letters.get(name, next(iter(letters.values())))]
        dtype = str(subject.dtype) if isinstance(subject, torch.Tensor) else "torch.float32"
        if dtype in ("torch.bool", "torch.uint8"):
            return f"T.ones({shape}, dtype={dtype.replace('torch', 'T')})"
        return f"T.arange({math.prod(shape)}, dtype={dtype.replace('torch', 'T')}).reshape({shape})"

    def target(self, op):
        """An `out=` argument: a variable, a temporary view of one, or a new tensor."""
        name = self.pick()
        if op in ("tril", "triu"):  # PyTorch writes past the end of other outputs
            return f"{name}.contiguous()"
        if self.chance(0.7):
            return name
        return self.choice([f"{name}.T", f"{name}[..., :1]", f"{name}[1:]", f"{name}[None]", f"{name}.expand_as({self.pick()})", f"{name}.detach()",
                            f"{name}.flatten()", f"T.zeros(0, dtype=T.{self.dtype()})", f"T.zeros_like({self.pick()})"])

    def integers(self, op, name, subject, ndim):
        if name in DIM_NAMES:
            if op in ("permute",) and self.chance(0.8):
                return self.tuple_of(self.rng.sample(range(ndim), ndim))
            return self.dim(ndim) if self.chance(0.35) else self.tuple_of(self.dims(ndim))
        if not isinstance(subject, torch.Tensor) or self.chance(0.08):
            return self.tuple_of(self.shape())
        shape = list(subject.shape)
        if op == "as_strided":
            count = self.rng.randint(0, 3)
            values = [0, 1, 1, 2, 3] if name == "stride" else [1, 2, 2, 3, 0]
            return self.tuple_of([self.choice(HUGE) if self.chance(0.005) else self.choice(values) for _ in range(2 if self.chance(0.8) else count)])
        if op in ("expand", "broadcast_to"):
            sizes = [self.choice([1, 2, 3, 4]) if size == 1 else -1 if self.chance(0.2) else size for size in shape]
            sizes = [self.choice(SIZES) for _ in range(self.choice([0, 0, 1]))] + sizes
            return self.tuple_of([self.choice(HUGE) if self.chance(0.005) else size for size in sizes])
        if op in ("view", "reshape", "unflatten", "resize_"):
            return self.tuple_of(self.reshaped(shape if op != "unflatten" else [self.choice(shape or [1])]))
        if op == "sum_to_size":
            sizes = [1 if self.chance(0.4) else size for size in shape]
            return self.tuple_of(sizes[self.rng.randint(0, len(sizes)):] if self.chance(0.4) else sizes)
        return self.tuple_of(self.shape())

    def reshaped(self, shape):
        numel, sizes = math.prod(shape), []
        kind = self.rng.random()
        if kind < 0.3:
            sizes = [size for size in shape if size != 1]
            if len(sizes) > 1:
                at = self.rng.randrange(len(sizes) - 1)
                sizes[at:at + 2] = [sizes[at] * sizes[at + 1]]
        elif kind < 0.6:
            rest = numel
            for factor in (2, 3):
                if rest and rest % factor == 0 and self.chance(0.7):
                    sizes.append(factor)
                    rest //= factor
            sizes.insert(self.rng.randint(0, len(sizes)), rest)
        elif kind < 0.8:
            sizes = list(shape)
            sizes.insert(self.rng.randint(0, len(sizes)), 1)
        else:
            sizes = self.shape()
        if sizes and self.chance(0.3):
            sizes[self.rng.randrange(len(sizes))] = -1
        if sizes and self.chance(0.01):
            sizes[self.rng.randrange(len(sizes))] = self.choice(HUGE)
        return sizes

    def call(self, op, signatures, receiver=None, out=None):
        """The text of a call with random arguments. A method's object is not among its parameters."""
        parameters = self.choice(signatures)
        subject = self.tensor(receiver) if receiver else None
        texts, by_name = [], False
        for parameter in parameters:
            if parameter.optional:
                wanted = {"out": 0.25, "requires_grad": 0.2, "dtype": 0.25, "device": 0.03, "layout": 0.0, "pin_memory": 0.0, "generator": 0.0,
                          "memory_format": 0.15, "non_blocking": 0.02, "min": 0.75, "max": 0.6}.get(parameter.name, 0.35)
                if parameter.name == "out" and out is not None:
                    wanted = out
                if not self.chance(wanted):
                    by_name = True
                    continue
            text = self.argument(op, parameter, subject)
            if subject is None and parameter.kind == "Tensor":
                subject = self.tensor(text)
            by_name = by_name or parameter.keyword or self.chance(0.04)
            named = f"**{{'{parameter.name}': {text}}}" if keyword.iskeyword(parameter.name) else f"{parameter.name}={text}"  # from
            texts.append(named if by_name else text)
        return f"{receiver or 'T'}.{op}({', '.join(texts)})"

    def function(self):
        op = self.choice(list(FUNCTIONS))
        return self.assigned(self.call(op, FUNCTIONS[op], out=0.1))

    def method(self):
        op = self.choice(list(METHODS))
        return self.assigned(self.call(op, METHODS[op], self.pick()))

    def in_place(self):
        op = self.choice(IN_PLACE)
        text = self.call(op, METHODS[op], self.receiver())
        return self.assigned(text) if self.chance(0.15) else text

    def out(self):
        op = self.choice(WITH_OUT)
        signatures = [signature for signature in FUNCTIONS[op] if any(p.name == "out" for p in signature)]
        text = self.call(op, signatures, out=1.0)
        return self.assigned(text) if self.chance(0.3) else text

    def receiver(self):
        """The target of an in-place op: a variable, sometimes a temporary view of one."""
        name = self.pick()
        return name if self.chance(0.85) else name + self.choice([".T", "[0]", "[1:]", "[..., 0]", ".detach()", ".data", ".flatten()", "[::2]"])

    def property(self):
        return self.assigned(f"{self.pick()}.{self.choice(PROPERTIES)}")

    def index(self):
        def one():
            kind = self.rng.random()
            if kind < 0.3:
                return self.integer()
            if kind < 0.62:
                step = self.choice(["", "", ":1", ":2", ":3"]) if self.chance(0.98) else self.choice([":0", ":-1", ":2**62"])
                return f"{self.choice(['', '', '0', '1', '-1', '2', '-3'])}:{self.choice(['', '', '3', '-1', '2', '10'])}{step}"
            if kind < 0.7:
                return "None"
            if kind < 0.78:
                return "..."
            if kind < 0.82:
                return self.choice(["True", "False"])
            if kind < 0.88:
                return "[" + ", ".join(self.choice(["0", "-1", "1", "0", "True"]) for _ in range(self.choice([1, 2, 3]))) + "]"
            if kind < 0.93:
                return self.pick() + self.choice(["", " > 0", " != 0", " == 1"])
            if kind < 0.97:
                return f"T.tensor([{', '.join(self.choice(['0', '-1', '1', '0', '2']) for _ in range(self.choice([1, 2, 3])))}])"
            return f"T.tensor({self.choice(['0', '-1', '1', 'True', '[[0, 1], [1, 0]]', '[]'])}{self.choice(['', ', dtype=T.uint8', ', dtype=T.int32'])})"

        return ", ".join(one() for _ in range(self.choice([1, 1, 2, 2, 3])))

    def get_item(self):
        return self.assigned(f"{self.pick()}[{self.index()}]")

    def set_item(self):
        name = self.pick()
        if self.chance(0.12):
            mask = f"{name} {self.choice(['> 0', '== 1', '!= 0', '<= 2'])}"
            return f"{name}[{mask}] = {self.operand() if self.chance(0.2) else self.number()}"
        return f"{name}[{self.index()}] = {self.operand() if self.chance(0.6) else self.number()}"

    def operator(self):
        left, right = self.operand(), self.operand() if self.chance(0.6) else self.number()
        if self.chance(0.3):
            left, right = right, left
        if self.chance(0.06):
            return self.assigned(f"{self.choice(['-', '~', '+', 'abs'])}({self.pick()})")
        return self.assigned(f"{left} {self.choice(OPERATORS)} {right}")

    def compound(self):
        target = self.pick() + ("" if self.chance(0.8) else f"[{self.index()}]")
        return f"{target} {self.choice(COMPOUND)}= {self.operand() if self.chance(0.6) else self.number()}"

    def special_call(self):
        """A call of a function that has no signature."""
        a, b = self.operand(), self.operand()
        return self.choice([f"{self.fresh_name()} = T.broadcast_tensors({a}, {b})[{self.choice(['0', '1'])}]",
                            f"{self.fresh_name()} = T.meshgrid({a}.flatten(), {b}.flatten(), indexing='{self.choice(['ij', 'xy'])}')[0]",
                            f"{self.fresh_name()} = T.broadcast_shapes({a}.shape, {b}.shape)",
                            f"{self.fresh_name()} = T.as_tensor({a})", f"{self.fresh_name()} = T.tensor({a}.tolist())",
                            f"{self.fresh_name()} = list({a})", f"{self.fresh_name()} = len({a})", f"{self.fresh_name()} = bool({a})",
                            f"{self.fresh_name()} = float({a})", f"{self.fresh_name()} = int({a})", f"{self.fresh_name()} = repr({a})",
                            f"{self.fresh_name()} = {a}.tolist()", f"{self.fresh_name()} = {self.number()} in {a}",
                            f"T.set_default_dtype(T.{self.choice(['float64', 'float32'])})"])

    def autograd(self):
        rng, a, b = self.rng, self.pick(), self.pick()
        root = self.choice([f"{a}.sum()", f"({a} * {b}).sum()", f"{a}.mean()", f"({a} * {a}).sum()", f"{a}[0].sum()", a, f"{a}.amax()", f"{a}.T.exp().sum()"])
        keep = self.choice(["", "", "retain_graph=True", "create_graph=True"])
        kind = rng.random()
        if kind < 0.26:
            given = self.choice(["", "", f"T.ones_like({root})", f"{root}.detach()", b])
            inputs = self.choice(["", "", "", f"inputs=[{b}]", f"inputs=[{a}, {b}]"])
            return f"{root}.backward({', '.join(part for part in (given, keep, inputs) if part)})"
        if kind < 0.42:
            wanted = self.choice([b, b, f"[{a}, {b}]"])
            options = [keep, self.choice(["allow_unused=True", "allow_unused=True", ""]), self.choice(["", "", f"grad_outputs=T.ones_like({root})"])]
            return f"{self.fresh_name()} = T.autograd.grad({', '.join([root, wanted] + [option for option in options if option])})[0]"
        hook = self.choice(["lambda g: g * 2", "lambda g: None", "lambda g: g.clone()", "lambda g: g.sum()", "lambda g: g.zero_()", "lambda g: g.detach()"])
        if kind < 0.5:
            return self.choice([f"{self.fresh_name()} = {a}.grad"] * 3 + [f"{self.fresh_name()} = {a}.grad_fn and {a}.grad_fn.name()"])
        simple = [f"{a}.requires_grad_()", f"{a}.requires_grad_()", f"{a}.requires_grad_(False)", f"{a}.requires_grad = {self.choice(['True', 'False'])}",
                  f"{a}.retain_grad()", f"{a}.retain_grad()", f"{a}.grad = None", f"{a}.grad = {b}", f"{a}.grad.zero_()", f"{a}.detach_()",
                  f"{a}.data = {b}", f"{a}.data.{self.choice(['add_(1)', 'zero_()', 'neg_()'])}", f"{a}.register_hook({hook})", f"{a}.register_hook({hook})",
                  f"{a}.register_post_accumulate_grad_hook(lambda t: {self.choice(['None', 't.grad.zero_()', 'setattr(t, ' + repr('grad') + ', None)'])})",
                  f"{self.fresh_name()} = [f and f.name() for f, _ in {a}.grad_fn.next_functions]",
                  f"{self.fresh_name()} = {a}.detach()", f"{self.fresh_name()} = {a}.data"]
        if kind < 0.85:
            return self.choice(simple)
        mode = self.choice(["no_grad()", "no_grad()", "enable_grad()", "set_grad_enabled(False)"])
        return f"with T.{mode}: {self.plain()}"

    def plain(self):
        return self.rng.choices([self.function, self.method, self.in_place, self.out, self.property, self.get_item, self.set_item, self.operator,
                                 self.compound, self.special_call, self.factory],
                                [16, 22, 14, 9, 2, 8, 9, 9, 6, 2, 5])[0]()

    def statement(self):
        if len(self.names) < 2:
            return self.factory()
        if len(self.names) > 9:
            return f"del {self.choice(self.names[:-2])}"
        if self.with_gradients and self.chance(0.3):
            return self.autograd()
        return self.plain()

    def update_names(self, statement):
        """Updates the list of tensors after a statement has run."""
        deleted = re.fullmatch(r"del (\w+)", statement)
        if deleted:
            self.names.remove(deleted.group(1))
        match = re.match(r"(?:with [^:]*: )?(v\d+) = ", statement)
        name = match and match.group(1)
        if name and isinstance(self.variables.get(name), torch.Tensor) and name not in self.names:
            self.names.append(name)
        self.names = [name for name in self.names if isinstance(self.variables.get(name), torch.Tensor)]

    def too_large(self):
        """The variables to delete: those with too many elements, or without values."""
        return [name for name in self.names if self.variables[name].numel() > LIMIT or self.variables[name].is_meta]
