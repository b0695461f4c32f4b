#!/usr/bin/env python3
"""The same call in PyTorch and in Tenon: shape, strides, dtype, values, warnings, or the same error.

Every case is drawn from (seed, number): op, form, shapes of 0 to 7 dims, layouts, dtypes and values. What PyTorch
answers is compared with what the program `tenon-oracle` answers. Ends with "N passed, N failed".

    compare.py --oracle build/release/tenon-oracle --cases 20000
    compare.py --oracle ... --seed 7 --only 1234     one case again, with its request
    compare.py --oracle ... --self-test              shows that wrong answers are found
"""
import argparse
import collections
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import warnings

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.float16, torch.bfloat16, torch.float32, torch.float64]
WEIGHTS = [3, 2, 2, 1, 3, 3, 2, 2, 8, 3]
NAMES = {dtype: str(dtype).removeprefix("torch.") for dtype in DTYPES}
BY_NAME = {name: dtype for dtype, name in NAMES.items()}
SIZES = [0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 100, 129, 257]
INTEGERS = [0, 1, 1, -1, 2, 3, -3, 7, 127, 128, 200, -128, -129, 255, 256, 300, 2**31 - 1, 2**31, -2**31, 2**63 - 1, -2**63]
FLOATS = [0.0, -0.0, 1.0, 0.5, -2.5, 2.0, 3.0, 1e-3, 0.1, 1e10, -7.25, math.inf, -math.inf, math.nan]

# Forms PyTorch has for each kind of op. `method` is the same code as `functional` there, but not here.
FORMS = {
    "unary": ["functional", "functional", "method", "inplace", "out"],
    "binary": ["functional", "functional", "method", "inplace", "out", "operator"],
    "binary_alpha": ["functional", "functional", "method", "inplace", "out", "operator", "compound"],
    "division": ["functional", "functional", "method", "inplace", "out", "operator", "compound"],
    "clamp": ["functional", "method", "inplace", "out"],
    "where": ["functional", "functional", "method", "out"],
    "reduction": ["functional", "functional", "method", "out"],
    "reduction_dtype": ["functional", "functional", "method", "out"],
    "product": ["functional", "method", "out"],
}
VIEWS_AND_COPIES = ["to", "to", "clone", "contiguous", "copy", "copy", "fill", "expand", "reshape", "sum_to_size"]
NUMBER_ALLOWED = {"add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge"}
SYMBOLS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "neg": lambda a: -a,
}


def compound(op, a, b):
    if op == "add":
        a += b
    elif op == "sub":
        a -= b
    elif op == "mul":
        a *= b
    else:
        a /= b
    return a


def table_ops():
    """(name, kind) of every op in the list, without the forms that only kernels know."""
    text = (ROOT / "include" / "tenon" / "ops.def").read_text(encoding="utf-8")
    return [pair for pair in re.findall(r"^TENON_OP\((\w+), (\w+)\)", text, re.MULTILINE) if pair[1] != "form"]


# --- drawing a case ---------------------------------------------------------------------------------------------------


class Draw:
    """Random choices of one case."""

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
        order = list(range(ndim))  # from the slowest to the fastest dim
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
        """Mostly small numbers, with the special ones of the dtype among them; `tame`: only numbers any dtype holds."""
        if dtype == torch.bool:
            return torch.randint(0, 2, (count,), generator=self.generator).bool()
        if not dtype.is_floating_point:
            low = 0 if dtype == torch.uint8 else -5
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
                values[self.rng.randrange(count)] = self.rng.choice(special)
        return values

    def number(self):
        kind = self.rng.choice(["int", "int", "float", "float", "bool"])
        return self.rng.choice({"int": INTEGERS, "float": FLOATS, "bool": [True, False]}[kind])


def number_json(value):
    if isinstance(value, bool):
        return {"number": value, "kind": "bool"}
    if isinstance(value, int):
        return {"number": value, "kind": "int"}
    return {"number": value.hex() if math.isfinite(value) else str(value), "kind": "float"}


def number_of(operand):
    return float.fromhex(operand["number"]) if operand["kind"] == "float" else operand["number"]


def bytes_of(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


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
        """Another view of an operand's storage: the same, shifted, transposed."""
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
    form = draw.rng.choice(FORMS.get(kind, ["functional"]))
    if form == "operator" and op not in SYMBOLS:
        form = "functional"
    shape, dtype = draw.shape(), draw.dtype()
    if kind == "unary":
        if op == "neg" and draw.chance(0.3):
            form = "operator"
        build.args = [build.tensor(shape, dtype, written=form == "inplace")]
    elif kind in ("binary", "binary_alpha", "division"):
        in_place = form in ("inplace", "compound")
        first = build.tensor(shape if in_place and draw.chance(0.85) else draw.narrowed(shape), dtype, written=in_place)
        if op in NUMBER_ALLOWED and draw.chance(0.3):
            build.args = [first, number_json(draw.number())]
            if form == "operator" and draw.chance(0.4):
                build.args.reverse()
        elif in_place and draw.chance(0.1):
            build.args = [first, build.sharing(first)]
        else:
            second = dtype if draw.chance(0.6) else draw.dtype()
            build.args = [first, build.tensor(draw.narrowed(shape), second)]
        if kind == "binary_alpha" and form not in ("operator", "compound") and draw.chance(0.4):
            keywords["alpha"] = number_json(draw.number())
        if kind == "division" and form not in ("operator", "compound"):
            keywords["rounding_mode"] = draw.rng.choice([None, None, "trunc", "floor", "up" if draw.chance(0.1) else "floor"])
    elif kind == "clamp":
        build.args = [build.tensor(shape if form == "inplace" else draw.narrowed(shape), dtype, written=form == "inplace")]
        numbers = draw.chance(0.5)
        for bound in ("min", "max"):
            if draw.chance(0.8):
                keywords[bound] = len(build.args)
                other = dtype if draw.chance(0.6) else draw.dtype()
                build.args.append(number_json(draw.number()) if numbers else build.tensor(draw.narrowed(shape), other))
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
        if op == "mean" and not dtype.is_floating_point and draw.chance(0.8):
            dtype = torch.float32
        build.args = [build.tensor(shape, dtype)]
        count = draw.rng.randint(0, max(len(shape), 1))
        dims = draw.rng.sample(range(-len(shape), len(shape)), min(count, 2 * len(shape)))
        if dims and draw.chance(0.9):  # mostly without a dim twice
            dims = list({dim % len(shape): dim for dim in dims}.values())
        if draw.chance(0.03):
            dims = dims + [len(shape) + draw.rng.randint(0, 2)]
        keywords["dims"], keywords["keepdim"] = dims, draw.chance(0.4)
        if kind == "reduction_dtype" and draw.chance(0.25):
            # A sum of floats in an integer dtype converts numbers no integer holds: PyTorch's answer depends on its path.
            keywords["dtype"] = NAMES[draw.dtype(None if not dtype.is_floating_point else torch.float64)]
    elif kind == "product":
        # Small integers: their sums are exact, whatever the order.
        rows, depth, columns = (draw.rng.choice([0, 1, 2, 3, 5, 17, 33]) for _ in range(3))
        other = [depth, columns] if draw.chance(0.9) else draw.shape()
        build.args = [build.tensor([rows, depth], dtype, tame=True),
                      build.tensor(other, dtype if draw.chance(0.9) else draw.dtype(), tame=True)]
    else:
        form = draw_other(draw, build, op, shape, dtype, keywords)
    if form == "out":
        out = draw_out(draw, build, kind, op, dtype)
    return {"op": op, "form": form, "storages": build.storages, "args": build.args, "out": out, "keywords": keywords}, build.layouts


def draw_other(draw, build, op, shape, dtype, keywords):
    other = draw.dtype()
    tame = dtype.is_floating_point and op in ("to", "copy", "fill")
    if op == "to":
        tame = tame and not other.is_floating_point
        keywords["dtype"] = NAMES[other]
        build.args = [build.tensor(shape, dtype, tame=tame)]
    elif op == "copy":
        target = build.tensor(shape, other, written=True)
        same = other == dtype and draw.chance(0.2)
        build.args = [target, build.sharing(target) if same else
                      build.tensor(draw.narrowed(shape), dtype, tame=tame and not other.is_floating_point)]
    elif op == "fill":
        build.args = [build.tensor(shape, other, written=True)]
        value = draw.number()
        if draw.chance(0.3):
            build.args.append(build.tensor([] if draw.chance(0.9) else [2], dtype, tame=True))
        else:
            build.args.append(number_json(value if other.is_floating_point or math.isfinite(value) else 3))
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


def draw_out(draw, build, kind, op, dtype):
    """A tensor to write to: mostly of the right shape and dtype, which PyTorch is asked for on meta tensors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probe = {"op": op, "form": "functional", "storages": build.storages, "args": build.args, "out": None, "keywords": {}}
        try:
            operands = operands_of(probe, open_storages(probe))
            shapes = [operand.shape for operand in operands if isinstance(operand, torch.Tensor)]
            shape = list(torch.broadcast_shapes(*shapes)) if not kind.startswith("reduction") else []
        except RuntimeError:
            shape = []
    if kind == "product":
        shape = [build.args[0]["shape"][0], build.args[1]["shape"][-1] if build.args[1]["shape"] else 1]
    wanted = dtype if draw.chance(0.7) else draw.dtype()
    if op in ("eq", "ne", "lt", "le", "gt", "ge") or op.startswith("logical"):
        wanted = torch.bool if draw.chance(0.7) else wanted
    if kind.startswith("reduction") and dtype.is_floating_point and not wanted.is_floating_point:
        wanted = dtype  # see the note on sums in integer dtypes
    if draw.chance(0.2):
        shape = [0]
    elif draw.chance(0.1):
        shape = draw.shape()
    return build.tensor(shape, wanted, written=True)


# --- PyTorch's answer -------------------------------------------------------------------------------------------------


def open_storages(request):
    return [torch.frombuffer(bytearray.fromhex(storage["bytes"]), dtype=BY_NAME[storage["dtype"]]).clone()
            if storage["bytes"] else torch.empty(0, dtype=BY_NAME[storage["dtype"]]) for storage in request["storages"]]


def view_of(operand, storages):
    return torch.as_strided(storages[operand["storage"]], operand["shape"], operand["strides"], operand["offset"])


def operands_of(request, storages):
    return [view_of(operand, storages) if "storage" in operand else number_of(operand) for operand in request["args"]]


def shares(request):
    used = [operand["storage"] for operand in request["args"] if "storage" in operand]
    return len(used) != len(set(used))


def call_torch(request, operands, out):
    op, form, keywords = request["op"], request["form"], dict(request["keywords"])
    a = operands[0]
    if op == "to":
        return a.to(BY_NAME[keywords["dtype"]])
    if op in ("clone", "contiguous"):
        return getattr(a, op)()
    if op in ("copy", "fill"):
        return getattr(a, op + "_")(operands[1])
    if op in ("expand", "reshape", "sum_to_size"):
        return getattr(a, op)(keywords["sizes"])
    if form == "operator":
        if op == "div" and not isinstance(a, torch.Tensor):
            # PyTorch multiplies by the reciprocal, from Python; Tenon, like PyTorch from C++, divides.
            common = torch.result_type(a, operands[1])
            return torch.div(torch.tensor(a, dtype=common if common.is_floating_point else torch.float32), operands[1])
        return SYMBOLS[op](*operands)
    if form == "compound":
        return compound(op, *operands)
    if op == "clamp":
        bounds = [operands[keywords[bound]] if bound in keywords else None for bound in ("min", "max")]
        operands, keywords = [a] + bounds, {}
    if "alpha" in keywords:
        keywords["alpha"] = number_of(keywords["alpha"])
    if keywords.get("dtype"):
        keywords["dtype"] = BY_NAME[keywords["dtype"]]
    if "dims" in keywords:
        keywords["dim"] = keywords.pop("dims")
        if op in ("all", "any") and not keywords["dim"]:
            # In C++ no dims means all of them; from Python, all and any take () at its word.
            keywords["dim"] = list(range(operands[0].dim()))
        if op == "mean" and form == "out" and not keywords["dim"] and not keywords["keepdim"]:
            del keywords["dim"], keywords["keepdim"]  # another overload, with another text
    if form == "method" and op == "where":
        return operands[1].where(operands[0], operands[2])
    if form in ("method", "inplace"):
        return getattr(operands[0], op + ("_" if form == "inplace" else ""))(*operands[1:], **keywords)
    if form != "out":
        return getattr(torch, op)(*operands, **keywords)
    result = getattr(torch, op)(*operands, **keywords, out=out)
    if op in ("all", "any") and out.dtype == torch.uint8:
        # PyTorch casts the elements to uint8 first: 256 and 0.5 count as 0 (docs/differences.md).
        out.copy_(getattr(torch, op)(*operands, **keywords))
    return result


class Unsupported(Exception):
    """PyTorch has no such form from Python."""


def torch_answer(request):
    storages = open_storages(request)
    operands = operands_of(request, storages)
    out = view_of(request["out"], storages) if request["out"] else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call_torch(request, operands, out)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
            text = str(error)
            if "invalid combination of arguments" in text or "must be Tensor, not" in text or "must be Number, not" in text:
                raise Unsupported(text) from None
            return {"error": (type(error).__name__, text.split("\n")[0])}
        except AttributeError as error:
            raise Unsupported(str(error)) from None
        if shares(request) and request["form"] in ("inplace", "compound", "functional"):
            # PyTorch may read what it has written; Tenon promises the out-of-place result or an error.
            alone = open_storages(request)
            target = view_of(request["args"][0], alone)
            others = [operand.clone() if isinstance(operand, torch.Tensor) else operand
                      for operand in operands_of(request, open_storages(request))[1:]]
            try:
                result = call_torch(request, [target] + others, None)
            except RuntimeError:  # alone, the target is refused: so may it be here
                pass
    texts = [f"{w.category.__name__}: {str(w.message).split(' (Triggered internally')[0]}" for w in caught]
    return {"result": result, "warnings": texts}


# --- comparing --------------------------------------------------------------------------------------------------------


def wanted_error(request, kind, text):
    """PyTorch's error as Tenon words it: where docs/differences.md names a difference, it is made here."""
    match = re.fullmatch(r"output with shape (\[.*\]) doesn't match the broadcast shape (\[.*\])", text)
    if match:
        target, shape = json.loads(match.group(1)), json.loads(match.group(2))
        if len(target) == len(shape):
            for dim in reversed(range(len(shape))):
                if target[dim] != shape[dim]:
                    return kind, (f"The expanded size of the tensor ({target[dim]}) must match the existing size "
                                  f"({shape[dim]}) at non-singleton dimension {dim}.")
    return kind, text


def tensor_of(result):
    dtype = BY_NAME[result["dtype"]]
    data = bytearray.fromhex(result["bytes"])
    flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    return flat.reshape(result["shape"])


def ordered_bits(tensor):
    """Integers in the order of the floats they stand for: neighbours differ by 1."""
    width = {2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
    bits = tensor.contiguous().view(width).to(torch.int64)
    low = -(2 ** (8 * tensor.element_size() - 1))
    return torch.where(bits < 0, low - bits, bits)


def tolerance_ulps(op, dtype):
    # PyTorch's exp, log and sqrt are within 1 ulp of the truth, as are our exp and log: together 2; sqrt is exact here.
    # A 16-bit result rounds such a float32.
    if op in ("exp", "log", "tanh"):
        return 1 if dtype in (torch.float16, torch.bfloat16) else 2
    if op == "sqrt":
        return 1
    return 0


def differing(request, wanted, got):
    """A mask of elements that differ more than the op may."""
    op = request["op"]
    if not wanted.dtype.is_floating_point:
        return wanted != got
    same = (wanted == got) & (torch.signbit(wanted) == torch.signbit(got)) | wanted.isnan() & got.isnan()
    if op in ("amax", "amin", "maximum", "minimum", "clamp"):
        same |= wanted == got  # which zero wins depends on PyTorch's path
    ulps = tolerance_ulps(op, wanted.dtype)
    if ulps:
        if wanted.dtype == torch.float64 and request["storages"][request["args"][0]["storage"]]["dtype"] != "float64":
            wanted, got = wanted.to(torch.float32), got.to(torch.float32)  # computed so, then stored in a wider out=
        finite = ~wanted.isnan() & ~got.isnan()
        same |= finite & ((ordered_bits(wanted) - ordered_bits(got)).abs() <= ulps)
    if "alpha" in request["keywords"]:
        same |= within_alpha_error(request, wanted, got)
    if op in ("sum", "mean", "sum_to_size"):
        same |= within_sum_error(request, wanted, got)
    return ~same


def within_alpha_error(request, wanted, got):
    """Whether alpha * other is rounded before it is added depends on PyTorch's path: vectors fuse, single elements do not."""
    other = operands_of(request, open_storages(request))[1]
    other = other.to(torch.float64) if isinstance(other, torch.Tensor) else torch.tensor(float(other), dtype=torch.float64)
    product = (other * float(number_of(request["keywords"]["alpha"]))).abs()
    computed = torch.result_type(*operands_of(request, open_storages(request))[:2])  # out= may be wider
    eps = max(torch.finfo(dtype).eps for dtype in (wanted.dtype, computed) if dtype.is_floating_point)
    error = (wanted.to(torch.float64) - got.to(torch.float64)).abs()
    overflows = product >= torch.finfo(wanted.dtype if wanted.dtype.itemsize == 2 else torch.float32).max
    return (error <= (product + wanted.to(torch.float64).abs()) * eps).nan_to_num().bool() | overflows


def within_sum_error(request, wanted, got):
    """Sums in another order: each may be off by a few roundings of the sum of magnitudes."""
    storages = open_storages(request)
    operand = view_of(request["args"][0], storages).to(torch.float64).abs()
    keywords = request["keywords"]
    if request["op"] == "sum_to_size":
        scale = operand.sum_to_size(keywords["sizes"])
    else:
        scale = operand.sum(dim=keywords["dims"], keepdim=keywords["keepdim"])
        if request["op"] == "mean":
            scale = scale * (wanted.numel() / max(operand.numel(), 1))
    dtype = wanted.dtype
    eps = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps
    if request["op"] == "mean" and request["out"]:
        eps = torch.finfo(dtype).eps  # PyTorch rounds the sum to out's dtype before it divides
    rounding = wanted.to(torch.float64).abs() * torch.finfo(dtype).eps
    error = (wanted.to(torch.float64) - got.to(torch.float64)).abs()
    near = error <= scale.reshape(wanted.shape) * eps * (64 if dtype == torch.float64 else 8) + rounding + torch.finfo(dtype).tiny * torch.finfo(dtype).eps
    # A sum at the edge of the range may overflow in one order and not in the other.
    edge = scale.reshape(wanted.shape) >= torch.finfo(dtype).max
    return near.nan_to_num().bool() | edge


def describe(request, layouts):
    operands = []
    for i, operand in enumerate(request["args"] + ([request["out"]] if request["out"] else [])):
        name = "out" if i == len(request["args"]) else f"operand {i}"
        if "storage" in operand:
            dtype = request["storages"][operand["storage"]]["dtype"]
            operands.append(f"    {name}: {dtype} {operand['shape']} strides {operand['strides']} offset {operand['offset']} "
                            f"({layouts[i] if i < len(layouts) else 'view'})")
        else:
            operands.append(f"    {name}: {operand['kind']} {number_of(operand)}")
    keywords = {key: number_of(value) if isinstance(value, dict) else value
                for key, value in request["keywords"].items() if value is not None}
    return "\n".join([f"  {request['op']} ({request['form']}) {keywords or ''}"] + operands)


def verdict(request, wanted, answer):
    """None where both agree, else what differs."""
    if answer.get("error", {}).get("type") == "NoSuchForm":
        return "Tenon has no such form"
    if "error" in wanted:
        kind, text = wanted_error(request, *wanted["error"])
        if "error" not in answer:
            return f"wanted {kind}: {text}\n  got a result: {answer['result']['dtype']} {answer['result']['shape']}"
        got = (answer["error"]["type"], answer["error"]["text"].split("\n")[0])
        if got != (kind, text):
            return f"wanted {kind}: {text}\n  got    {got[0]}: {got[1]}"
        if answer["storages"] != [storage["bytes"] for storage in request["storages"]]:
            return f"{kind} as wanted, but an operand was changed"
        return None
    if "error" in answer:
        if shares(request) and answer["error"]["text"].startswith("unsupported operation"):
            return None
        return f"wanted {NAMES[wanted['result'].dtype]} {list(wanted['result'].shape)}\n  got {answer['error']['type']}: {answer['error']['text']}"
    result, got = wanted["result"], answer["result"]
    for what, left, right in (("dtype", NAMES[result.dtype], got["dtype"]), ("shape", list(result.shape), got["shape"]),
                              ("strides", list(result.stride()), got["strides"])):
        if left != right:
            return f"{what}: wanted {left}, got {right}"
    values = tensor_of(got)
    mask = differing(request, result, values)
    if mask.any():
        index = [int(i) for i in mask.nonzero()[0]]
        return (f"at {index}: wanted {result[tuple(index)].item()!r}, got {values[tuple(index)].item()!r} "
                f"({int(mask.sum())} of {mask.numel()} differ)")
    # PyTorch warns twice where one of its functions calls another; here a call warns once.
    if list(dict.fromkeys(wanted["warnings"])) != answer["warnings"]:
        return f"warnings: wanted {wanted['warnings']}, got {answer['warnings']}"
    return stray_write(request, answer)


def stray_write(request, answer):
    """Bytes outside the written view must be as they were."""
    written = request["out"] or (request["args"][0] if request["form"] in ("inplace", "compound") or request["op"] in ("copy", "fill") else None)
    for i, storage in enumerate(request["storages"]):
        before, after = bytes.fromhex(storage["bytes"]), bytes.fromhex(answer["storages"][i])
        if before == after:
            continue
        if written is None or i != written["storage"]:
            return f"storage {i} was changed"
        if answer["result"]["shape"] != written["shape"]:
            continue  # resized: its old elements are nobody's
        touched = torch.zeros(len(before) // BY_NAME[storage["dtype"]].itemsize, dtype=torch.bool)
        view_of(written, {i: touched}).fill_(True)
        size = BY_NAME[storage["dtype"]].itemsize
        for at in (~touched).nonzero().flatten().tolist():
            if before[at * size:(at + 1) * size] != after[at * size:(at + 1) * size]:
                return f"element {at} of storage {i}, outside the written view, was changed"
    return None


def unsafe_for_torch(request):
    """Calls on which PyTorch itself stops the process: the smallest integer divided by -1."""
    if request["op"] != "div" or not request["keywords"].get("rounding_mode"):
        return False
    first = request["args"][0]
    if "storage" not in first or request["storages"][first["storage"]]["dtype"] not in ("int32", "int64"):
        return False
    values = open_storages(request)[first["storage"]]
    return bool((values == torch.iinfo(values.dtype).min).any())


class Oracle:
    def __init__(self, path):
        self.path = path
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self.process.wait()
            self.start()
            return {"crash": code}
        return json.loads(line)


def self_test(request, answer, wanted):
    """Breaks a right answer in each way a wrong one can be wrong; every break must be seen."""
    result = answer["result"]
    flipped = format(int(result["bytes"][:2], 16) ^ 1, "02x") + result["bytes"][2:]
    breaks = {
        "value": dict(result, bytes=flipped),
        "dtype": dict(result, dtype="int32"),
        "shape": dict(result, shape=[1] + result["shape"]),
        "strides": dict(result, strides=[stride + 1 for stride in result["strides"]]),
    }
    assert verdict(request, wanted, answer) is None, verdict(request, wanted, answer)
    for name, broken in breaks.items():
        assert verdict(request, wanted, dict(answer, result=broken)), f"a wrong {name} went unseen"
    assert verdict(request, wanted, dict(answer, warnings=["UserWarning: x"])), "a stray warning went unseen"
    assert verdict(request, wanted, {"error": {"type": "RuntimeError", "text": "x"}, "storages": []}), "an error went unseen"
    assert verdict(request, {"error": ("RuntimeError", "x")}, answer), "a missing error went unseen"
    changed = [format(int(answer["storages"][0][:2], 16) ^ 1, "02x") + answer["storages"][0][2:]] + answer["storages"][1:]
    assert verdict(request, wanted, dict(answer, storages=changed)), "a changed operand went unseen"


def run_self_test(oracle):
    ones = {"dtype": "float32", "bytes": "0000803f" * 6}
    request = {"op": "add", "form": "functional", "storages": [ones, ones], "out": None, "keywords": {},
               "args": [{"storage": 0, "shape": [2, 3], "strides": [3, 1], "offset": 0},
                        {"storage": 1, "shape": [3], "strides": [1], "offset": 0}]}
    self_test(request, oracle.ask(request), torch_answer(request))
    print("8 wrong answers found")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op")
    parser.add_argument("--only", type=int, help="one case, by number")
    parser.add_argument("--show", type=int, default=20, help="failures printed in full")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    oracle = Oracle(options.oracle)
    if options.self_test:
        run_self_test(oracle)
        return 0

    ops = table_ops()
    passed = failed = skipped = 0
    by_op = collections.Counter()
    for number in [options.only] if options.only is not None else range(options.cases):
        request, layouts = draw_case(ops, options.seed, number, options.op)
        if unsafe_for_torch(request):
            skipped += 1
            continue
        try:
            wanted = torch_answer(request)
        except Unsupported:
            skipped += 1
            continue
        answer = oracle.ask(request)
        problem = f"the process ended with {answer['crash']}" if "crash" in answer else verdict(request, wanted, answer)
        if options.only is not None:
            print(json.dumps(request))
        if problem is None:
            passed += 1
            continue
        failed += 1
        by_op[f"{request['op']} {request['form']}"] += 1
        if failed <= options.show:
            print(f"case {number} of seed {options.seed}\n{describe(request, layouts)}\n  {problem}", flush=True)
    if failed:
        print("failures by op and form:", ", ".join(f"{name} {count}" for name, count in by_op.most_common()))
    print(f"{skipped} drawn calls have no equivalent in PyTorch")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
