"""Makes random calls: op, form, shapes of 0 to 7 dims, layouts, dtypes and values depend only on (seed, number)."""
import math
import random
import warnings

import torch

from declared import DECLARED
from request import BY_NAME, DTYPES, NAMES, bytes_of, number_json, open_storages, operands_of

WEIGHTS = [3, 2, 2, 1, 3, 3, 1, 1, 1, 2, 2, 8, 3, 2, 1]
SIZES = [0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 100, 129, 257]
INTEGERS = [0, 1, 1, -1, 2, 3, -3, 7, 127, 128, 200, -128, -129, 255, 256, 300, 2**31 - 1, 2**31, -2**31, 2**63 - 1, -2**63]
FLOATS = [0.0, -0.0, 1.0, 0.5, -2.5, 2.0, 3.0, 1e-3, 0.1, 1e10, -7.25, math.inf, -math.inf, math.nan]

COMPLEX = [1j, 2 - 0.5j, complex(3), -1 + 1e10j]

# The forms of each kind of op. `method` and `functional` share their code in PyTorch, but not in Tenon.
FORMS = {
    "unary": ["functional", "functional", "method", "inplace", "out", "operator"],
    "map": ["functional", "functional", "method", "inplace", "out", "operator", "compound"],
    "clamp": ["functional", "method", "inplace", "out"],
    "where": ["functional", "functional", "method", "out"],
    "reduction": ["functional", "functional", "method", "out"],
    "reduction_dtype": ["functional", "functional", "method", "out"],
    "product": ["functional", "method", "out", "inplace"],
    "list": ["functional", "functional", "out"],
}
STRINGS = {"rounding_mode": ["trunc", "trunc", "trunc", "floor", "floor", "floor", "up"], "p": ["fro", "fro", "fro", "x"]}
NUMBERS = {"ord": [2, 2, 1, 0, math.inf, -math.inf, 3, 0.5, -1], "correction": [0, 1, 2, 0.5]}
NUMBERS["p"] = NUMBERS["ord"]
VIEWS_AND_COPIES = ["to", "to", "clone", "contiguous", "copy", "copy", "fill", "expand", "reshape", "sum_to_size"]


def is_inexact(dtype):
    return dtype.is_floating_point or dtype.is_complex


def table_ops():
    """(name, kind) of every declared op for which this module can make random calls."""
    return [(name, kind_of(op)) for name, op in DECLARED.items() if kind_of(op) and (name == op.name or not op.facts.get("shapes"))]


# Forms that an op does not have.
MISSING_FORMS = {name: {form for form, exists in (("out", op.has_out and not op.result_names), ("inplace", op.has_inplace), ("method", op.is_method), ("operator", op.facts.get("symbol")),
                                                  ("compound", op.facts.get("symbol") and not op.is_comparison)) if not exists}
                 for name, op in DECLARED.items()}  # fmt: skip


def kind_of(op):
    names = [parameter.name for parameter in op.parameters]
    if op.kind == "fold" or {"dim", "keepdim"} <= set(names):
        return "reduction_dtype" if "dtype" in names else "reduction"
    if any(parameter.is_list() for parameter in op.parameters):
        return "list" if "dim" in names else None
    if op.block in ("max", "min"):
        return "unary"
    if op.kind == "algorithm":
        return "product" if op.facts.get("shapes") else "map" if names[:2] == ["self", "other"] else None
    special = {"condition": "where", "min": "clamp"}
    return next((special[name] for name in names if name in special), "unary" if len(names) == 1 else "map")


def draw_parameter(draw, parameter):
    """A value for a parameter that is not an operand."""
    if parameter.type == "Scalar" or parameter.type.startswith("float"):
        return number_json(draw.number(complex_too=parameter.type == "Scalar"))
    if parameter.type == "bool":
        return draw.chance(0.5)
    return draw.rng.choice([-40, -3, -2, -1, 0, 1, 2, 3, 10, 40] if parameter.type == "int?" else STRINGS[parameter.name])


class Draw:
    """The random choices of one case."""

    def __init__(self, seed, number):
        self.rng = random.Random(f"{seed}:{number}")
        self.generator = torch.Generator().manual_seed(self.rng.getrandbits(60))
        self.limit = self.rng.choices([60, 300, 5000, 40000], [50, 30, 17, 3])[0]

    def chance(self, probability):
        return self.rng.random() < probability

    def dtype(self, wanted=None):
        return self.rng.choices(DTYPES, WEIGHTS)[0] if wanted is None else wanted

    def shape(self):
        """A shape of 0 to 7 dims with at most `limit` elements."""
        ndim = self.rng.choices(range(8), [6, 14, 20, 20, 16, 10, 8, 6])[0]
        shape, numel = [], 1
        for _ in range(ndim):
            size = self.rng.choice([size for size in SIZES if max(size, 1) * numel <= self.limit])
            if size == 0 and self.chance(0.6):
                size = 1
            shape.append(size)
            numel *= max(size, 1)
        self.rng.shuffle(shape)
        return shape

    def narrowed(self, shape):
        """A shape that broadcasts to `shape`: some dims 1, some leading dims gone; rarely one that does not."""
        other = [1 if self.chance(0.25) else size for size in shape]
        if self.chance(0.3):
            other = other[self.rng.randint(0, len(other)):]
        if other and self.chance(0.06):
            other[self.rng.randrange(len(other))] += self.rng.randint(1, 3)
        if self.chance(0.04):
            other = [1] * self.rng.randint(1, 2) + other
        return other[-7:]

    def layout(self, shape, written=False):
        """(name, strides, offset, elements of the storage) of a view with that shape."""
        ndim = len(shape)
        kinds = ["contiguous"] * 4 + ["permuted"] * 2 + ["gaps"] * 2 + ["offset"] + ([] if written else ["expanded"] * 2)
        if written and self.chance(0.03):
            kinds = ["expanded"]
        if ndim in (4, 5):
            kinds += ["channels_last"] * 2
        kind = self.rng.choice(kinds)
        order = list(range(ndim))  # from the largest stride to the smallest
        if kind == "channels_last":
            order = [0] + list(range(2, ndim)) + [1]
        elif kind in ("permuted", "gaps") and self.chance(0.8):
            self.rng.shuffle(order)
        strides, step = [0] * ndim, 1
        if kind == "gaps" and self.chance(0.5):
            step = self.rng.randint(2, 3)
        for dim in reversed(order):
            strides[dim] = step
            step *= max(shape[dim], 1)
            if kind == "gaps" and self.chance(0.4):
                step += self.rng.randint(1, 5) if self.chance(0.5) else step
        if kind == "expanded":
            for dim in range(ndim):
                if self.chance(0.5):
                    strides[dim] = 0
        for dim in range(ndim):
            if shape[dim] == 1 and self.chance(0.1):
                strides[dim] = self.rng.randint(0, 20)
        offset = self.rng.randint(1, 9) if kind == "offset" or self.chance(0.1) else 0
        extent = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides)) if 0 not in shape else 0
        return kind, strides, offset, offset + extent + self.rng.choice([0, 0, 3])

    def values(self, dtype, count, tame=False):
        """Usually small numbers and some special ones of the dtype; `tame`: 0 to 99, which fit in every dtype."""
        if dtype == torch.bool:
            return torch.randint(0, 2, (count,), generator=self.generator).bool()
        if dtype.is_complex:
            return torch.complex(self.values(dtype.to_real(), count, tame), self.values(dtype.to_real(), count, tame))
        if not dtype.is_floating_point:
            low = -5 if dtype.is_signed else 0
            values = torch.randint(low, 6, (count,), generator=self.generator).to(dtype)
            info = torch.iinfo(dtype)
            special = [info.min, info.max, 0, 100]
        else:
            values = (torch.randn(count, generator=self.generator, dtype=torch.float64) * self.rng.choice([1, 10, 1000])).to(dtype)
            tiny = torch.finfo(dtype).tiny
            special = [math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, tiny, tiny / 4, torch.finfo(dtype).max]
        if tame:
            return torch.randint(0, 100, (count,), generator=self.generator).to(dtype)
        if self.chance(0.6):
            for _ in range(min(count, 6)):
                values[self.rng.randrange(count)] = torch.tensor(self.rng.choice(special), dtype=dtype)
        return values

    def number(self, complex_too=True):
        kind = self.rng.choice(["int", "int", "float", "float", "bool"] + ["complex"] * complex_too)
        return self.rng.choice({"complex": COMPLEX, "int": INTEGERS, "float": FLOATS, "bool": [True, False]}[kind])


class Builder:
    """Collects the storages and operands of a request."""

    def __init__(self, draw):
        self.draw = draw
        self.storages, self.args, self.layouts = [], [], []

    def tensor(self, shape, dtype, written=False, tame=False):
        kind, strides, offset, count = self.draw.layout(shape, written)
        self.storages.append({"dtype": NAMES[dtype], "bytes": bytes_of(self.draw.values(dtype, count, tame)).hex()})
        self.layouts.append(kind)
        return {"storage": len(self.storages) - 1, "shape": shape, "strides": strides, "offset": offset}

    def sharing(self, operand):
        """Another view of an operand's storage: the same, shifted or with reversed strides."""
        shape, strides = list(operand["shape"]), list(operand["strides"])
        self.layouts.append("shared")
        how = self.draw.rng.choice(["same", "reversed", "shifted"])
        if how == "reversed" and len(set(shape)) <= 1:
            strides.reverse()
        elif how == "shifted" and shape and min(shape) > 0:
            extent = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))
            storage = self.storages[operand["storage"]]
            count = len(storage["bytes"]) // 2 // torch.empty(0, dtype=BY_NAME[storage["dtype"]]).element_size()
            if operand["offset"] + extent < count:
                return dict(operand, offset=operand["offset"] + 1)
        return dict(operand, shape=shape, strides=strides)


def draw_case(ops, seed, number, only_op=None):
    draw = Draw(seed, number)
    names = [op for op, _ in ops]
    op = only_op or draw.rng.choice(names + VIEWS_AND_COPIES)
    kind = dict(ops).get(op, "other")
    build = Builder(draw)
    keywords, out = {}, None
    form = draw.rng.choice([form for form in FORMS.get(kind, ["functional"]) if form not in MISSING_FORMS.get(op, ())])
    shape, dtype = draw.shape(), draw.dtype()
    if kind == "unary":
        build.args = [build.tensor(shape, dtype, written=form == "inplace")]
    elif kind == "map":
        declared = DECLARED[op]
        in_place = form in ("inplace", "compound")
        first = build.tensor(shape if in_place and draw.chance(0.85) else draw.narrowed(shape), dtype, written=in_place)
        build.args = [first]
        for index in range(1, len(declared.operands())):
            if declared.python_takes_number(index) and draw.chance(0.3):
                build.args.append(number_json(draw.number()))
            elif in_place and draw.chance(0.1):
                build.args.append(build.sharing(first))
            else:
                build.args.append(build.tensor(draw.narrowed(shape), dtype if draw.chance(0.6 if index == 1 else 0.8) else draw.dtype()))
        number_first = form == "operator" or (form == "functional" and declared.python_takes_number(0))
        if len(build.args) == 2 and "number" in build.args[1] and number_first and draw.chance(0.4):
            build.args.reverse()
        for parameter in declared.parameters:
            if parameter.is_operand() or form in ("operator", "compound") or (parameter.default is not None and draw.chance(0.5)):
                continue
            keywords[parameter.name] = draw_parameter(draw, parameter)
    elif kind == "clamp":
        build.args = [build.tensor(shape if form == "inplace" else draw.narrowed(shape), dtype, written=form == "inplace")]
        numbers = draw.chance(0.5)
        for bound in ("min", "max"):
            if draw.chance(0.8):
                keywords[bound] = len(build.args)
                other = dtype if draw.chance(0.6) else draw.dtype()
                # For a complex bound of an in-place or out= call PyTorch reports other errors first.
                build.args.append(number_json(draw.number(form not in ("out", "inplace"))) if numbers else build.tensor(draw.narrowed(shape), other))
    elif kind == "where":
        condition = torch.bool if draw.chance(0.92) else draw.dtype()
        numbers = form == "functional" and draw.chance(0.4)
        build.args = [build.tensor(draw.narrowed(shape), condition)]
        for i in range(2):
            if numbers and draw.chance(0.6):
                build.args.append(number_json(draw.number()))
            else:
                build.args.append(build.tensor(draw.narrowed(shape), dtype if draw.chance(0.6) else draw.dtype()))
    elif kind.startswith("reduction"):
        if op == "mean" and not is_inexact(dtype) and draw.chance(0.8):
            dtype = torch.float32
        build.args = [build.tensor(shape, dtype)]
        count = draw.rng.randint(0, max(len(shape), 1))
        dims = draw.rng.sample(range(-len(shape), len(shape)), min(count, 2 * len(shape)))
        if dims and draw.chance(0.9):  # usually no dim twice
            dims = list({dim % len(shape): dim for dim in dims}.values())
        if draw.chance(0.03):
            dims = dims + [len(shape) + draw.rng.randint(0, 2)]
        draw_fold(draw, DECLARED[op], dims, form, keywords)
        if kind == "reduction_dtype" and draw.chance(0.25):
            # A sum of floats in an integer dtype converts numbers out of range: PyTorch's result depends on its code
            # path.
            keywords["dtype"] = NAMES[draw.dtype(None if not is_inexact(dtype) else torch.complex128 if dtype.is_complex else torch.float64)]
    elif kind == "list":
        draw_list(draw, build, shape, dtype, keywords)
    elif kind == "product":
        # Small integers, whose sums are exact in any order.
        sizes = {letter: draw.rng.choice([1, 2, 3] if letter == "b" else [0, 1, 2, 3, 5, 17, 33]) for letter in "bijk"}
        for operand in DECLARED[op].facts["shapes"].split(","):
            shape = [sizes[letter] for letter in operand.lstrip("*")]
            written = form == "inplace" and not build.args
            given = op == "addmv" and 0 in (sizes["i"], sizes["j"])  # docs/differences.md
            shape = draw.narrowed(shape) if operand[0] == "*" and not (written or given) else shape if draw.chance(0.95) else draw.shape()
            build.args.append(build.tensor(shape, dtype if draw.chance(0.95) else draw.dtype(), tame=True, written=written))
        for factor in ("alpha", "beta"):
            if any(parameter.name == factor for parameter in DECLARED[op].parameters) and dtype.itemsize > 2 and draw.chance(0.4):
                keywords[factor] = number_json(draw.rng.choice([0, 1, 2, -3]))
    else:
        form = draw_other(draw, build, op, shape, dtype, keywords)
    if form == "out":
        out = draw_out(draw, build, kind, op, dtype, keywords)
    return {"op": op, "form": form, "storages": build.storages, "args": build.args, "out": out, "keywords": keywords}, build.layouts


def draw_list(draw, build, shape, dtype, keywords):
    """Tensors whose shapes differ in at most one dim; some are empty, and a few do not match."""
    keywords["dim"] = draw.rng.randint(-len(shape) - 1, len(shape)) if draw.chance(0.5) else 0
    along = keywords["dim"] % len(shape) if shape and draw.chance(0.5) else None
    for _ in range(draw.rng.choice([0, 1, 2, 2, 3, 3, 4, 6])):
        other = [draw.rng.choice([0, 1, 1, 2, 3, 5]) if dim == along else size for dim, size in enumerate(shape)]
        other = [0] if draw.chance(0.08) else draw.narrowed(other) if draw.chance(0.04) else other
        build.args.append(build.tensor(other, dtype if draw.chance(0.7) else draw.dtype()))


def draw_fold(draw, op, dims, form, keywords):
    """The dims to reduce, in the declared form, and the other arguments."""
    parameters = {parameter.name: parameter for parameter in op.parameters}
    # In Python some ops accept only one dim.
    one = parameters["dim"].type in ("int", "int?") or "int dim" in op.facts.get("python", "") and "int[]" not in op.facts["python"]
    if not one:
        keywords["dim"] = dims
    elif dims and draw.chance(0.8):
        keywords["dim"] = dims[0]
    elif parameters["dim"].default is None:
        keywords["dim"] = 0
    elif "python" in op.facts and form == "out":  # the overload without dims has no out=
        keywords["dim"] = 0
    if "keepdim" in parameters and (not one or "dim" in keywords):
        keywords["keepdim"] = draw.chance(0.4)
    for name in NUMBERS:
        if name in parameters and (name == "p" or draw.chance(0.7)):  # p always: its default in Python is a string
            keywords[name] = draw.rng.choice(STRINGS[name]) if parameters[name].type == "str" else number_json(draw.rng.choice(NUMBERS[name]))


def draw_other(draw, build, op, shape, dtype, keywords):
    other = draw.dtype()
    tame = is_inexact(dtype) and op in ("to", "copy", "fill")
    if op == "to":
        tame = tame and not is_inexact(other)
        keywords["dtype"] = NAMES[other]
        build.args = [build.tensor(shape, dtype, tame=tame)]
    elif op == "copy":
        target = build.tensor(shape, other, written=True)
        same = other == dtype and draw.chance(0.2)
        build.args = [target, build.sharing(target) if same else
                      build.tensor(draw.narrowed(shape), dtype, tame=tame and not is_inexact(other))]
    elif op == "fill":
        build.args = [build.tensor(shape, other, written=True)]
        value = draw.number()
        if draw.chance(0.3):
            build.args.append(build.tensor([] if draw.chance(0.9) else [2], dtype, tame=True))
        else:
            build.args.append(number_json(value if is_inexact(other) or isinstance(value, complex) or math.isfinite(value) else 3))
    elif op in ("expand", "sum_to_size", "reshape"):
        small = draw.narrowed(shape)
        build.args = [build.tensor(small if op == "expand" else shape, dtype)]
        keywords["sizes"] = {"expand": shape, "sum_to_size": small, "reshape": None}[op]
        if op == "expand" and small and draw.chance(0.3):
            keywords["sizes"] = shape[:-1] + [-1]
        if op == "reshape":
            sizes = [size for size in shape if size != 1] or [1]
            if len(sizes) > 1 and draw.chance(0.6):
                at = draw.rng.randrange(len(sizes) - 1)
                sizes[at:at + 2] = [sizes[at] * sizes[at + 1]]
            if draw.chance(0.4):
                sizes[draw.rng.randrange(len(sizes))] = -1
            if draw.chance(0.05):
                sizes.append(2)
            keywords["sizes"] = sizes
    else:
        build.args = [build.tensor(shape, dtype)]
    return "functional"


def draw_out(draw, build, kind, op, dtype, keywords):
    """A tensor to write to, usually of the right shape and dtype; PyTorch computes the shape on meta tensors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probe = {"op": op, "form": "functional", "storages": build.storages, "args": build.args, "out": None, "keywords": {}}
        try:
            operands = operands_of(probe, open_storages(probe))
            shapes = [operand.shape for operand in operands if isinstance(operand, torch.Tensor)]
            shape = list(torch.broadcast_shapes(*shapes)) if not kind.startswith("reduction") else []
        except RuntimeError:
            shape = []
    if kind == "list":
        try:
            shape = list(getattr(torch, op)([operand.to(device="meta", dtype=torch.float32) for operand in operands], **keywords).shape)
        except (RuntimeError, IndexError, ValueError):
            shape = []
    if kind == "product":
        try:
            shape = list(getattr(torch, op)(*(operand.to(device="meta", dtype=torch.float32) for operand in operands)).shape)
        except (RuntimeError, IndexError):
            shape = []
    wanted = dtype if draw.chance(0.7) else draw.dtype()
    if DECLARED[op].facts.get("promotion") in ("Promotion::comparison", "Promotion::logical"):
        wanted = torch.bool if draw.chance(0.7) else wanted
    if kind.startswith("reduction") and is_inexact(dtype) and not (wanted.is_complex if dtype.is_complex else is_inexact(wanted)):
        wanted = dtype  # see the comment on sums of floats in draw_case
    if draw.chance(0.2):
        shape = [0]
    elif draw.chance(0.1):
        shape = draw.shape()
    return build.tensor(shape, wanted, written=True)
