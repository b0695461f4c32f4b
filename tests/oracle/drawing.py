"""Makes random calls: op, form, shapes of 0 to 7 dims, layouts, dtypes and values depend only on (seed, number)."""
import math
import random
import re
import warnings

import torch

from declared import DECLARED
from request import BY_NAME, DTYPES, NAMES, bytes_of, number_json, number_of, open_storages, operands_of
from torch_call import as_tuple, call_torch, function

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
    "typed": ["functional", "functional", "method", "out", "inplace"],
}
VIEWS_AND_COPIES = ["to", "to", "clone", "contiguous", "copy", "copy", "fill", "expand", "reshape", "sum_to_size"]


def is_inexact(dtype):
    return dtype.is_floating_point or dtype.is_complex


def table_ops():
    """(name, kind) of every declared op."""
    return [(name, kind_of(op)) for name, op in DECLARED.items()]


# Forms that an op does not have.
MISSING_FORMS = {name: {form for form, exists in (("out", op.has_out), ("inplace", op.has_inplace), ("method", op.is_method), ("operator", op.facts.get("symbol")),
                                                  ("compound", op.facts.get("symbol") and not op.is_comparison)) if not exists}
                 for name, op in DECLARED.items()}  # fmt: skip


def kind_of(op):
    names = [parameter.name for parameter in op.parameters]
    if op.kind == "fold" or {"dim", "keepdim"} <= set(names) and len(op.operands()) == 1:
        return "reduction_dtype" if "dtype" in names else "reduction"
    if any(parameter.is_list() for parameter in op.parameters):
        return "list"
    if op.kind == "algorithm":
        return "product" if op.facts.get("shapes") else "map" if names[:2] == ["self", "other"] else "typed"
    if "condition" in names or {"min", "max"} <= set(names):
        return "where" if "condition" in names else "clamp"
    return "unary" if len(names) == 1 else "map"


def draw_counts(draw, ndim):
    """How often a tensor is repeated along each dim."""
    return [draw.rng.choice([1, 1, 2, 3, 0]) for _ in range(ndim + draw.rng.choice([0, 0, 0, 1, 2, -1]))]


def draw_part_sizes(draw, ndim):
    """Sizes whose sum is that of the first or the last dim."""
    rest, sizes = draw.first_shape[draw.rng.choice([0, -1])] if draw.first_shape else 3, []
    while rest > 0 and len(sizes) < 5:
        sizes.append(draw.rng.randint(0, rest))
        rest -= sizes[-1]
    return sizes + [rest] * draw.chance(0.95)


def draw_padding(draw, ndim, count=None):
    """Two numbers for each of some dims, which are usually less than the sizes."""
    count = draw.rng.randint(0, ndim) if count is None else count
    sizes = [*reversed(draw.first_shape), *[3] * count][:count]
    return [draw.rng.randint(-1 if draw.chance(0.3) else 0, max(min(size - 1, 4), 0)) for size in sizes for _ in range(2)] + [1] * draw.chance(0.03)


def draw_view_size(draw, ndim):
    """Sizes of as many elements."""
    sizes = [size for size in draw.first_shape if size != 1 or draw.chance(0.5)]
    if len(sizes) > 1 and draw.chance(0.5):
        sizes[:2] = [sizes[0] * sizes[1]]
    return [-1 if at == 0 and draw.chance(0.3) else size for at, size in enumerate(sizes)]


def draw_strided(draw, ndim):
    """Two sizes, or their strides, inside the first elements."""
    return [draw.rng.randint(1, 2), draw.rng.randint(1, 3)]


# Lists of integers that depend on the first operand's shape, by op and parameter.
LISTS = {
    ("repeat", "repeats"): draw_counts,
    ("tile", "dims"): draw_counts,
    ("split", "split_size"): draw_part_sizes,
    ("split_with_sizes", "split_sizes"): draw_part_sizes,
    ("constant_pad_nd", "pad"): draw_padding,
    ("pad", "pad"): draw_padding,
    ("view_copy", "size"): draw_view_size,
    **{(name, key): draw_strided for name in ("as_strided_copy", "as_strided_scatter") for key in ("size", "stride")},
    **{(name, "normalized_shape"): lambda draw, ndim: draw.first_shape[-1:] for name in ("layer_norm", "rms_norm")},
    ("permute_copy", "dims"): lambda draw, ndim: draw.rng.sample(range(ndim), ndim),
    ("expand_copy", "size"): lambda draw, ndim: [2] * draw.rng.randint(0, 1) + [3 if size == 1 and draw.chance(0.6) else size for size in draw.first_shape],
}
for _dims in (1, 2, 3):
    for _name in ("reflection", "replication"):
        LISTS[f"{_name}_pad{_dims}d", "padding"] = lambda draw, ndim, dims=_dims: draw_padding(draw, ndim, dims)


def draw_parameter(draw, op, parameter, ndim=3):
    """A value for a parameter that is not an operand, by its type and the values that the op declares."""
    type_ = parameter.type.rstrip("?")
    if type_.startswith("int[") and (op.name, parameter.name) in LISTS and draw.chance(0.9):
        return LISTS[op.name, parameter.name](draw, ndim)
    words = op.values_of(parameter).split()
    if type_ == "str":
        return draw.rng.choice(words * 3 + ["x"])
    if words and type_ == "bool":
        return draw.rng.choice(words) == "True"
    if words and type_.startswith("int["):
        return [int(number) for number in draw.rng.choice(words).split(",")]
    if words:
        if type_ == "int":
            return int(draw.rng.choice(words))
        return number_json(draw.rng.choice([int(word) if word.lstrip("-").isdigit() else float(word) for word in words]))
    if type_.startswith("int["):
        return draw.integer(ndim) if "1" in type_ and draw.chance(0.4) else [draw.integer(ndim) for _ in range(draw.rng.randint(0, 3))]
    by_type = {"Scalar": lambda: number_json(draw.number()), "float": lambda: number_json(draw.number(complex_too=False)),
               "float[]": lambda: [number_json(draw.number(complex_too=False)) for _ in range(draw.rng.choice([2, 2, 2, 1]))],
               "bool": lambda: draw.chance(0.5), "int": lambda: draw.integer(ndim), "ScalarType": lambda: NAMES[draw.dtype()]}  # fmt: skip
    return by_type[type_]()


def draw_parameters(draw, op, keywords, ndim):
    """Values for the parameters that are no operands and have none yet; optional ones are left out at times."""
    for parameter in op.parameters:
        if not (parameter.is_operand() or parameter.is_list() or parameter.name in keywords or (parameter.default is not None and draw.chance(0.5))):
            keywords[parameter.name] = draw_parameter(draw, op, parameter, ndim)


class Draw:
    """The random choices of one case."""

    def __init__(self, seed, number):
        self.rng = random.Random(f"{seed}:{number}")
        self.generator = torch.Generator().manual_seed(self.rng.getrandbits(60))
        self.first_shape = []  # of the first operand, once it is drawn
        self.limit = self.rng.choices([60, 300, 5000, 40000], [50, 30, 17, 3])[0]

    def chance(self, probability):
        return self.rng.random() < probability

    def dtype(self, wanted=None):
        return self.rng.choices(DTYPES, WEIGHTS)[0] if wanted is None else wanted

    def integer(self, ndim):
        """Usually a valid dim of a tensor with `ndim` dims; rarely a number that is no dim, or a larger one."""
        return self.rng.randint(-ndim, max(ndim - 1, 0)) if self.chance(0.85) else self.rng.choice([-40, -ndim - 1, ndim, ndim + 1, 10, 40])

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

    def places(self, shape, size):
        """A tensor of places along a dim of `size`; rarely some are outside, or the dtype is wrong."""
        dtype = torch.int64 if self.draw.chance(0.93) else self.draw.dtype()
        operand = self.tensor(shape, dtype, tame=True)
        storage = self.storages[operand["storage"]]
        low, high = (-1, size + 1) if self.draw.chance(0.07) else (0, max(size, 1))
        count = len(storage["bytes"]) // 2 // dtype.itemsize
        storage["bytes"] = bytes_of(torch.randint(low, high, (count,), generator=self.draw.generator).to(dtype)).hex()
        return operand

    def shares(self, shape, dtype):
        """Numbers from 0 to 1; rarely some are outside."""
        operand = self.tensor(shape, dtype, tame=True)
        storage = self.storages[operand["storage"]]
        count = len(storage["bytes"]) // 2 // dtype.itemsize
        values = torch.randint(0, 21, (count,), generator=self.draw.generator).to(torch.float64) / (16 if self.draw.chance(0.05) else 20)
        storage["bytes"] = bytes_of(values.to(dtype)).hex()
        return operand

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
    keywords, out = {}, []
    form = draw.rng.choice([form for form in FORMS.get(kind, ["functional"]) if form not in MISSING_FORMS.get(op, ())])
    if op == "kron":
        draw.limit = min(draw.limit, 60)  # its result has the square of that
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
            if declared.values_of(declared.operands()[index]) == "degree":
                build.args[-1] = draw_degree(build, build.args[-1])
        number_first = form == "operator" or (form == "functional" and declared.python_takes_number(0))
        if len(build.args) == 2 and "number" in build.args[1] and number_first and draw.chance(0.4):
            build.args.reverse()
        if form not in ("operator", "compound"):
            draw_parameters(draw, declared, keywords, len(shape))
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
        draw_list(draw, build, DECLARED[op], shape, dtype, keywords)
    elif kind == "typed":
        draw_typed(draw, build, DECLARED[op], form == "inplace", keywords)
    elif kind == "product":
        # Small integers, whose sums are exact in any order.
        sizes = {letter: draw.rng.choice([1, 2, 3] if letter == "b" else [0, 1, 2, 3, 5, 17, 33]) for letter in "bijk"}
        for operand in DECLARED[op].facts["shapes"].split(","):
            shape = [sizes[letter] for letter in operand.lstrip("*")]
            written = form == "inplace" and not build.args
            given = op == "addmv" and 0 in (sizes["i"], sizes["j"])  # docs/differences.md
            draw.first_shape = draw.first_shape if build.args else shape
            shape = draw.narrowed(shape) if operand[0] == "*" and not (written or given) else shape if given or draw.chance(0.95) else draw.shape()
            if DECLARED[op].values_of(DECLARED[op].operands()[len(build.args)]) == "int64":
                build.args.append(build.places(shape, sizes["j"]))
                continue
            build.args.append(build.tensor(shape, dtype if draw.chance(0.95) else draw.dtype(), tame=True, written=written))
        for factor in ("alpha", "beta"):
            if any(parameter.name == factor for parameter in DECLARED[op].parameters) and dtype.itemsize > 2 and draw.chance(0.4):
                keywords[factor] = number_json(draw.rng.choice([0, 1, 2, -3]))
        if DECLARED[op].has_parameter("reduction") or DECLARED[op].declared_values:
            draw_parameters(draw, DECLARED[op], keywords, 2)
        for parameter in DECLARED[op].parameters:
            if parameter.default is None and not parameter.is_operand():
                keywords[parameter.name] = draw_parameter(draw, DECLARED[op], parameter)
    else:
        form = draw_other(draw, build, op, shape, dtype, keywords)
    if form == "out" and (kind == "typed" or DECLARED[op].result_names):
        out = draw_outs(draw, build, op, keywords)
    elif form == "out":
        out = [draw_out(draw, build, kind, op, dtype, keywords)]
    return {"op": op, "form": form, "storages": build.storages, "args": build.args, "out": out, "keywords": keywords}, build.layouts


LARGEST_DEGREE = 1000


def draw_degree(build, operand):
    """The operand as a degree: PyTorch takes as many steps. Numbers beyond int64 stay: their polynomials are 0."""
    if "number" in operand:
        value = number_of(operand)
        is_long = not isinstance(value, complex) and LARGEST_DEGREE < value < 2**63
        return number_json(type(value)(40)) if is_long else operand
    storage = build.storages[operand["storage"]]
    dtype = BY_NAME[storage["dtype"]]
    if dtype.is_complex or dtype == torch.bool:
        return operand
    values = torch.frombuffer(bytearray.fromhex(storage["bytes"]), dtype=dtype) if storage["bytes"] else torch.empty(0, dtype=dtype)
    wide = values.to(torch.float64)
    storage["bytes"] = bytes_of(torch.where((wide > LARGEST_DEGREE) & (wide < 2.0**62), torch.tensor(40, dtype=dtype), values)).hex()
    return operand


def draw_list(draw, build, op, shape, dtype, keywords):
    """Tensors whose shapes differ in at most one dim; some are empty, and a few do not match."""
    has_dim = op.has_parameter("dim")
    if has_dim:
        keywords["dim"] = draw.rng.randint(-len(shape) - 1, len(shape)) if draw.chance(0.5) else 0
    elif draw.chance(0.9):
        shape = [min(size, 5) for size in shape[:1]]  # such ops take vectors, and the result may have all their sizes
    draw_parameters(draw, op, keywords, len(shape))
    along = keywords.get("dim", 0) % len(shape) if shape and draw.chance(0.5) else None
    for _ in range(draw.rng.choice([0, 1, 2, 2, 3, 3, 4, 6])):
        other = [draw.rng.choice([0, 1, 1, 2, 3, 5]) if dim == along else size for dim, size in enumerate(shape)]
        other = [0] if draw.chance(0.08) else draw.narrowed(other) if draw.chance(0.04) else other
        build.args.append(build.tensor(other, dtype if draw.chance(0.7) else draw.dtype()))


# The view that src replaces, by op.
PARTS = {"select_scatter": "select", "diagonal_scatter": "diagonal", "slice_scatter": "slice_copy", "as_strided_scatter": "as_strided"}


def part_shape(op, shape, keywords):
    """The shape of the view that these arguments select, or any."""
    name = PARTS[op.name]
    try:
        if any(size < 0 for size in keywords.get("size", [])):
            return shape
        view = torch.slice_copy if name == "slice_copy" else getattr(torch, name)
        return list(view(torch.empty(shape), **{key: value for key, value in keywords.items()}).shape)
    except (RuntimeError, IndexError, TypeError, ValueError):
        return shape


def draw_typed(draw, build, op, written, keywords):
    """Every argument by its declared type. The first integer that is a dim of the first operand is where places lie."""
    draw.limit = min(draw.limit, 1000)  # a diagonal needs the square of its length
    shape, dtype = draw.shape(), draw.dtype()
    if "_pad" in op.name and op.module and draw.chance(0.9):  # images and the like
        ndim = int(op.name[-2]) + draw.rng.randint(1, 2)
        shape = [draw.rng.choice([0, 1, 2, 3, 5] if dim == 0 else [1, 2, 3, 4, 5]) for dim in range(ndim)]
    if op.name in ("pixel_shuffle", "pixel_unshuffle", "channel_shuffle") and draw.chance(0.9):
        shape = [draw.rng.choice(sizes) for sizes in ([0, 1, 2], [4, 9, 12, 36, 5], [0, 2, 6, 3], [2, 4, 6, 9])][draw.rng.randint(0, 1):]
    if op.name in ("vander", "combinations") or op.block == "repeat_interleave_places" and draw.chance(0.9):
        shape = [min(shape[0], 9)] if shape else [3]
    draw.first_shape = shape
    draw_parameters(draw, op, keywords, len(shape))
    dims = [value for value in keywords.values() if isinstance(value, int) and not isinstance(value, bool) and -len(shape) <= value < len(shape)]
    dim = dims[0] % len(shape) if dims else None
    shapes = [shape]  # that a further operand may have
    for parameter in op.operands():
        if parameter.type == "Tensor?" and draw.chance(0.5):
            break
        if not build.args and op.values_of(parameter) == "int64":
            build.args.append(build.places(*((shape[:1], 20) if op.name == "bincount" else (shape, draw.rng.choice([3, 6])))))
        elif not build.args:
            build.args.append(build.tensor(shape, dtype, written=written))
        elif parameter.name == "src" and op.name in PARTS and draw.chance(0.9):
            build.args.append(build.tensor(part_shape(op, shape, keywords), dtype if draw.chance(0.85) else draw.dtype()))
        elif parameter.name == "repeats" and draw.chance(0.9):
            size = shape[dim] if dim is not None else max(math.prod(shape), 1)
            build.args.append(build.places(draw.rng.choice([[], [1], [size]]), 3))
        elif op.values_of(parameter) == "share":
            build.args.append(build.shares([shape[:1], []][draw.chance(0.5)], dtype if draw.chance(0.95) else draw.dtype()))
        elif op.values_of(parameter) == "int64":
            places = [draw.rng.randint(0, 5)] if draw.chance(0.5) else [draw.rng.choice([size, size, min(size, 1), draw.rng.randint(0, size)]) for size in shape]
            shapes = [places, shape, shape if dim is None else shape[:dim] + places[:1] + shape[dim + 1:]]
            build.args.append(build.places(places, max(math.prod(shape), 1) if dim is None else shape[dim]))
        elif parameter.name == "value":
            build.args.append(build.tensor([] if draw.chance(0.9) else draw.narrowed(shape), dtype if draw.chance(0.5) else draw.dtype()))
        elif op.values_of(parameter) == "bool":
            build.args.append(build.tensor(draw.narrowed(shape), torch.bool if draw.chance(0.9) else draw.dtype()))
        elif written and draw.chance(0.1):
            build.args.append(build.sharing(build.args[0]))
        else:
            other = draw.rng.choice(shapes) if draw.chance(0.9) else draw.narrowed(shape)
            build.args.append(build.tensor(other, dtype if draw.chance(0.85) else draw.dtype()))


def draw_outs(draw, build, op, keywords):
    """A tensor to write to for each result, usually with its shape and dtype: PyTorch computes these first."""
    request = {"op": op, "form": "functional", "storages": build.storages, "args": build.args, "out": [], "keywords": keywords}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            results = as_tuple(call_torch(request, operands_of(request, open_storages(request)), None))
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
            results = (torch.empty(0),) * max(len(DECLARED[op].result_names), 1)
    outs = []
    for result in results:
        shape = draw.rng.choice([[0], draw.shape()]) if draw.chance(0.15) else list(result.shape)
        outs.append(build.tensor(shape, result.dtype if result.dtype in NAMES and draw.chance(0.85) else draw.dtype(), written=True))
    return outs


def is_required(op, parameter):
    """Whether PyTorch's Python function needs the argument, also where C++ has a default."""
    return parameter.default is None or bool(re.search(rf"\b{parameter.name}\b[,)]", op.facts.get("python", "")))


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
    for name, parameter in parameters.items():
        if parameter.is_operand() or name in ("dim", "keepdim", "dtype"):
            continue
        if is_required(op, parameter) or draw.chance(0.7):
            keywords[name] = draw_parameter(draw, op, parameter)


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
        probe = {"op": op, "form": "functional", "storages": build.storages, "args": build.args, "out": [], "keywords": {}}
        try:
            operands = operands_of(probe, open_storages(probe))
            shapes = [operand.shape for operand in operands if isinstance(operand, torch.Tensor)]
            shape = list(torch.broadcast_shapes(*shapes)) if not kind.startswith("reduction") else []
        except RuntimeError:
            shape = []
    if kind == "list":
        try:
            shape = list(function(op)([operand.to(device="meta", dtype=torch.float32) for operand in operands], **keywords).shape)
        except (RuntimeError, IndexError, ValueError):
            shape = []
    if kind == "product":
        required = {parameter.name: keywords[parameter.name] for parameter in DECLARED[op].parameters if not parameter.is_operand() and parameter.default is None}
        required = {name: number_of(value) if isinstance(value, dict) else value for name, value in required.items()}
        try:
            shape = list(function(op)(*(operand.to(device="meta", dtype=torch.float32) for operand in operands), **required).shape)
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
