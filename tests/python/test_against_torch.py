"""Random calls, compared with PyTorch."""

import math

import pytest

pytest.importorskip("torch")

import numpy
import tenon
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import declared
import judge
from judge import Both, same

torch.backends.opt_einsum.enabled = False  # opt_einsum has error texts of its own

small = st.integers(0, 3)
shapes = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4)
dtypes = st.sampled_from(judge.DTYPES)
numbers = st.one_of(st.integers(-3, 3), st.booleans(), st.sampled_from([0.0, -0.0, 0.5, -1.5, 2.25, 1e30, float("inf"), float("nan"), 300, -300, 2**40]))
wrong_types = st.sampled_from([None, "x", [1], (), 1.5, True, {}, b"b", object])



@st.composite
def broadcastable(draw, shape):
    """A shape that usually can be broadcast with `shape`."""
    if draw(st.integers(0, 9)) == 0:
        return draw(shapes)
    kept = list(shape[draw(st.integers(0, len(shape))) if shape else 0 :])
    return [1 if draw(st.booleans()) else size for size in kept]


@st.composite
def tensors(draw, shape=None, dtype=None):
    """A tensor of small values in any layout."""
    shape = draw(shapes) if shape is None else shape
    dtype = draw(dtypes) if dtype is None else dtype
    low, high = (0, 1) if dtype == "bool" else (0, 5) if dtype == "uint8" else (-4, 5)
    count = math.prod(shape)
    values = draw(st.lists(st.integers(low, high), min_size=count, max_size=count))
    if dtype.startswith(("float", "bf")):
        values = [value / 2 for value in values]
    flat = judge.tensor(values, dtype)
    layout = draw(st.sampled_from(["dense", "dense", "transposed", "stepped", "expanded", "offset"]))
    return judge.view(flat, lambda tensor: laid_out(tensor, shape, layout))


def laid_out(tensor, shape, layout):
    dense = tensor.reshape(tuple(shape))
    if layout == "transposed" and len(shape) > 1:
        return dense.transpose(0, 1).contiguous().transpose(0, 1)
    if layout == "stepped" and shape and shape[-1]:
        wide = dense.new_zeros((*shape[:-1], 2 * shape[-1]))
        wide[..., ::2] = dense
        return wide[..., ::2]
    if layout == "expanded" and shape and shape[0]:
        return dense[:1].expand(tuple(shape))
    if layout == "offset":
        longer = dense.new_zeros((math.prod(shape) + 3,))
        longer[3:] = dense.reshape((-1,))
        return longer[3:].view(tuple(shape))
    return dense


@st.composite
def index_tensors(draw, shape):
    """An index tensor that is usually valid for a tensor of `shape`: with as many dims, or with one dim."""
    sizes = [draw(st.integers(0, 3)) for _ in shape] if draw(st.booleans()) else [draw(st.integers(0, 4))]
    count = math.prod(sizes)
    values = draw(st.lists(st.sampled_from([0, 0, 0, 0, 0, 1, 1, 2, -1, 4]), min_size=count, max_size=count))
    flat = judge.tensor(values, draw(st.sampled_from(["int64"] * 6 + ["int32", "float32"])))
    layout = draw(st.sampled_from(["dense", "dense", "transposed", "expanded"]))
    return judge.view(flat, lambda tensor: laid_out(tensor, sizes, layout))


INEXACT_IN_TORCH = {"sqrt", "reciprocal", "div"}  # Tenon rounds these correctly


def function(m, name):
    assume(name != "repeat")  # a method only
    module, _, short = name.partition("_")
    if module in ("linalg", "special"):
        return getattr(getattr(m, module), short)
    if hasattr(torch, name):
        return getattr(m, name)
    if m is tenon:
        return declared.function(name)
    if hasattr(torch._C._VariableFunctions, name):  # which functions written in Python call
        return getattr(torch._C._VariableFunctions, name)
    nn = torch._C._nn  # functional.py has other parameters
    return nn.log_sigmoid if name == "logsigmoid" else getattr(nn if hasattr(nn, name) else torch.nn.functional, name)


PICKS = {"kthvalue": 1, "median": 0, "nanmedian": 0, "mode": 0}  # the place of `dim` among the arguments


def picked(m, call, name, self, *args, **kwargs):
    """The result of an op that picks one of several equal elements: its index is checked, and may be that of another."""
    result = call(self, *args, **kwargs)
    if isinstance(result, m.Tensor):
        return result
    values, indices = result
    dim = kwargs.get("dim", args[PICKS[name]] if len(args) > PICKS[name] else -1)
    if self.dim() > 0 and indices.numel() > 0:
        chosen = self.take_along_dim(indices if indices.dim() == self.dim() else indices.unsqueeze(dim), dim).reshape(values.shape)
        assert ((chosen == values) | (chosen != chosen) & (values != values)).all(), f"{name}: not the elements at {indices}"
    return values, tuple(indices.shape), indices.stride(), str(indices.dtype).split(".")[-1]


@st.composite
def factor(draw, op, parameter, first):
    """A further operand of a matrix product; usually it fits a first operand of shape `first`."""
    known = dict(zip(reversed(op.shapes.split(",")[0]), reversed(first)))
    shape = op.sizes(parameter, lambda letter: known.setdefault(letter, draw(small)))
    if parameter.is_index and draw(st.integers(0, 3)) > 0:  # numbers that count, or places
        return judge.view(draw(tensors(shape, "int64")), lambda tensor: tensor.abs())
    return draw(tensors(shape=draw(broadcastable(shape)) if draw(st.integers(0, 9)) == 0 else shape, dtype=draw(st.sampled_from([None, "float32", "float32"]))))


@st.composite
def first_operand(draw, op):
    if not op.shapes or draw(st.integers(0, 5)) == 0:
        return draw(tensors())
    shape = op.sizes(op.operands[0], lambda letter: draw(st.integers(1, 3)))
    return draw(tensors(shape=draw(broadcastable(shape)) if op.shapes[0] == "*" else shape, dtype=draw(st.sampled_from([None, "float32", "float32"]))))


def argument(draw, op, parameter, shape):
    """A value for a declared parameter; usually it fits a first operand of that shape."""
    if parameter.is_operand:
        if op.shapes:
            return None if parameter.type.endswith("?") and draw(st.integers(0, 3)) == 0 else draw(factor(op, parameter, shape))
        if parameter.is_index:
            return draw(index_tensors(shape))
        condition = draw(st.sampled_from(["bool", "bool", "bool", "uint8", "int32"])) if parameter.is_mask else None
        tensor = broadcastable(shape).flatmap(lambda shape: tensors(shape, condition))
        none = [st.none()] if parameter.type.endswith("?") else []
        return draw(st.one_of(*none, tensor, numbers) if parameter.takes_numbers else tensor)
    if parameter.type.startswith("int["):
        lists = st.one_of(st.integers(-4, 4), st.lists(st.integers(-4, 4), max_size=3))
        return draw(st.one_of(st.sampled_from(parameter.choices), lists) if parameter.choices else lists)
    if parameter.choices and parameter.type == "bool":
        return draw(st.sampled_from(parameter.choices))
    if parameter.choices:  # and one that the op refuses, or may take for a number
        none = [None] if parameter.type == "str?" else []
        return draw(st.sampled_from([*parameter.choices, *none, "x" if parameter.type.startswith("str") else True]))
    by_type = {"bool": st.booleans(), "float": numbers, "int": st.integers(-4, 4), "Scalar": numbers, "ScalarType": dtypes.map(judge.dtype)}
    if parameter.type == "float[]?":
        return draw(st.none() | st.lists(st.sampled_from([-1, 0, 0.5, 3.0, 2]), min_size=2, max_size=2))
    return draw(by_type[parameter.type.rstrip("?")])


def arguments_of(draw, op, shape):
    """Positional and keyword arguments after the first operand; optional ones are usually left out."""
    args, kwargs = [], {}
    for parameter in op.parameters[1:]:
        if parameter.fallback is not None and draw(st.integers(0, 2)) > 0:
            continue
        value = argument(draw, op, parameter, shape)
        if parameter.keyword_only or kwargs or len(args) + 1 < op.parameters.index(parameter):
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return args, kwargs


# What is left out, and how exact results must be, is decided outside of test_op: Hypothesis chooses the calls of a test by its text.


def overlaps(both):
    return 0 in both.ours.stride()


def has_equal_groups(input, groups):
    if input.ndim < 2 or input.numel() == 0 or not isinstance(groups, int) or groups < 1 or input.shape[1] % groups or not input.dtype.is_floating_point:
        return False
    rows = numpy.array(input.tolist()).reshape(input.shape[0] * groups, -1)
    return bool((rows == rows[:, :1]).all(1).any())


def is_left_out(name, form, first, args, kwargs, out):
    """Whether the libraries differ on purpose (docs/differences.md), or PyTorch has a bug, or the call has two mistakes."""
    values, shape = [*args, *kwargs.values()], tuple(first.ours.shape)
    if form == "inplace":
        if name == "addbmm":  # PyTorch resizes it
            return shape != args[0].ours.shape[1:2] + args[1].ours.shape[2:]
        if name in ("tril", "triu", "addmv", "baddbmm"):  # PyTorch accepts writes to overlapping memory
            return overlaps(first)
    if form == "out":
        if name == "mean":  # two mistakes
            return not out.ours.dtype.is_floating_point
        if name == "linear":  # two mistakes
            return out.ours.dtype is not first.ours.dtype
        if name in ("all", "any") and out.ours.dtype is tenon.uint8:
            return True
        if name == "logsigmoid":  # other texts and warnings, and PyTorch writes as if it were contiguous
            return not (out.ours.dtype is first.ours.dtype and out.ours.shape == first.ours.shape and out.ours.is_contiguous() and first.ours.is_contiguous())
        if name in ("tril", "triu", "threshold"):  # PyTorch accepts writes to overlapping memory
            return overlaps(out)
        if name == "narrow_copy":  # PyTorch writes to others as if they were contiguous
            return not (out.ours.dtype is first.ours.dtype and out.ours.is_contiguous() and out.ours.numel() == 0)
    if name in ("all", "any"):
        return [] in values
    if name == "view_copy":  # PyTorch's text lists its overload with a dtype, too
        return isinstance(values[0], int)
    if name in ("median", "nanmedian"):  # PyTorch reads outside of such tensors
        return any(stride == 0 and size > 1 for size, stride in zip(shape, first.ours.stride()))
    if name == "expand_copy":  # PyTorch's text names an overflow
        return any(size < 0 for size in (values[0] if isinstance(values[0], list) else [values[0]]))
    if name == "cov":  # of one observation
        return ("fweights" in kwargs or "aweights" in kwargs) and shape[-1:] in ((), (1,))
    if name == "group_norm":  # of equal elements PyTorch gives what is left of x / std - mean / std, not 0
        return has_equal_groups(first.ours, args[0] if args else kwargs.get("num_groups"))
    if name == "index_fill":
        return first.ours.numel() == 0 and args[1].ours.numel() > 0
    return name == "addmv" and 0 in args[0].ours.shape and first.ours.numel() == 1


def exactness(op, first, args, kwargs):
    """What `same` calls exact. PyTorch rounds a + alpha * b once or twice, depending on the element's index."""
    if op.exact and op.name not in INEXACT_IN_TORCH and "alpha" not in kwargs and not op.shapes:
        return True
    given = [first.ours.dtype, *[getattr(value.ours, "dtype", value.ours) for value in [*args, *kwargs.values()] if isinstance(value, judge.Both)]]
    return None if tenon.float16 in given or tenon.bfloat16 in given else False


@pytest.mark.parametrize("op", [op for op in declared.OPS if op.parameters[0].name == "input" and not op.is_loss and not declared.has_own_tests(op.name)], ids=lambda op: op.name)
@given(data=st.data())
def test_op(op, data):
    name = op.name
    first = data.draw(first_operand(op))
    args, kwargs = arguments_of(data.draw, op, tuple(first.ours.shape))
    if name == "unique_consecutive":  # PyTorch's function takes return_inverse by its place for return_counts: docs/differences.md
        args, kwargs = [], {**{parameter.name: value for parameter, value in zip(op.parameters[1:], args)}, **kwargs}
    forms = ["function"] + ["method"] * op.has_method + ["out"] * op.has_out + ["inplace"] * (op.has_inplace and hasattr(judge.torch.Tensor, name + "_"))
    form = data.draw(st.sampled_from(forms))
    out = data.draw(tensors()) if form == "out" else None
    assume(not is_left_out(name, form, first, args, kwargs, out))
    exact = exactness(op, first, args, kwargs)
    call_of = {
        "method": lambda m, self: lambda _, *a, **k: getattr(self, name)(*a, **k),
        "inplace": lambda m, self: lambda _, *a, **k: getattr(self, name + "_")(*a, **k),
    }.get(form, lambda m, self: function(m, name))
    if out is not None:
        kwargs["out"] = out
    if name in PICKS and form in ("function", "method"):
        same(lambda m, self, *a, **k: picked(m, call_of(m, self), name, self, *a, **k), first, *args, exact=exact, **kwargs)
    else:
        same(lambda m, self, *a, **k: call_of(m, self)(self, *a, **k), first, *args, exact=exact, **kwargs)


def of_a_list(m, name, tensors, *args, **kwargs):
    """Calls an op of a list. Some functions take each tensor as an argument."""
    if name == "einsum":
        return m.einsum(*args, *kwargs.values(), *tensors)
    return getattr(m, name)(*tensors) if name in ("block_diag", "cartesian_prod") else function(m, name)(tensors, *args, **kwargs)


@pytest.mark.parametrize("op", [op for op in declared.OPS if op.parameters[0].is_list], ids=lambda op: op.name)
@given(data=st.data())
def test_op_of_a_list(op, data):
    shape, dtype = data.draw(shapes)[: 1 if op.name == "meshgrid" else None], data.draw(dtypes)
    part = st.one_of(tensors(shape, dtype), tensors(shape, dtype), tensors(shape), broadcastable(shape).flatmap(lambda shape: tensors(shape, dtype)), tensors((0,)))
    parts = data.draw(st.lists(part, max_size=4))
    assume(op.name != "meshgrid" or all(part.ours.dim() < 2 for part in parts))  # PyTorch's error text contains the tensor
    args, kwargs = arguments_of(data.draw, op, shape)
    if op.has_out and data.draw(st.booleans()):
        kwargs["out"] = data.draw(tensors())
    same(lambda m, *a, **k: of_a_list(m, op.name, *a, **k), parts, *args, **kwargs)


@given(data=st.data())
def test_where(data):
    shape = data.draw(shapes)
    condition = data.draw(broadcastable(shape).flatmap(lambda shape: tensors(shape, data.draw(st.sampled_from(["bool", "bool", "bool", "uint8", "int32"])))))
    pick = st.one_of(numbers, broadcastable(shape).flatmap(lambda shape: tensors(shape)))
    same(lambda m, *args: m.where(*args), condition, data.draw(pick), data.draw(pick))


COMPOUND = ["+", "-", "*", "/", "//", "&", "|", "^", "<<", ">>"]
COMPARISONS = ["<", "<=", "==", "!=", ">", ">="]


def expression(symbol):
    return lambda m, a, b: eval(f"a {symbol} b", {"a": a, "b": b})


def augmented(symbol):
    def call(m, a, b):
        scope = {"a": a, "b": b}
        exec(f"a {symbol}= b", scope)
        return scope["a"]

    return call


@pytest.mark.parametrize("symbol", COMPOUND + COMPARISONS)
@given(data=st.data())
def test_operator(symbol, data):
    first = data.draw(tensors())
    second = data.draw(st.one_of(numbers, broadcastable(tuple(first.ours.shape)).flatmap(lambda shape: tensors(shape))))
    a, b = (first, second) if data.draw(st.booleans()) else (second, first)
    same(expression(symbol), a, b, exact=None if symbol in "//" else True)


@pytest.mark.parametrize("symbol", COMPOUND)
@given(data=st.data())
def test_augmented_operator(symbol, data):
    first = data.draw(tensors())
    second = data.draw(st.one_of(numbers, broadcastable(tuple(first.ours.shape)).flatmap(lambda shape: tensors(shape))))
    same(augmented(symbol), first, second, exact=None if symbol in "//" else True)


def test_deprecated_overload():
    tensor = tenon.ones(2)
    with pytest.warns(UserWarning) as caught:
        tensor.add(2, tensor)
    assert str(caught[0].message) == ("This overload of add is deprecated:\n\tadd(Number alpha, Tensor other)\n"
                                      "Consider using one of the following signatures instead:\n\tadd(Tensor other, *, Number alpha = 1)")  # fmt: skip


# PyTorch's method nonzero expects "from 1 to 0" arguments, and its norm is written in Python: docs/differences.md. Losses,
# softsign, tanhshrink, unique and unique_consecutive are written in Python, too, and logsigmoid says that it is log_sigmoid.
# Transforms are functions of a module; linalg.pinv is written in Python here.
# PyTorch's view_copy lists an overload with a dtype: docs/differences.md.
LOSSES = {op.name for op in declared.OPS if op.is_loss}


@pytest.mark.parametrize("name", [name for name in declared.NAMES if name != "linalg_pinv" and "fft_" not in name and name not in {"nonzero", "norm", "softsign", "tanhshrink", "logsigmoid", "unique", "unique_consecutive", "view_copy", *LOSSES}])
@given(data=st.data())
def test_wrong_arguments(name, data):
    """Functions and methods raise the same errors as PyTorch's."""
    value = st.one_of(wrong_types, numbers, tensors(shape=[2], dtype="float32"))
    args = data.draw(st.lists(value, max_size=4))
    kwargs = data.draw(st.dictionaries(st.sampled_from(["other", "alpha", "dim", "keepdim", "foo", "min", "input", "rounding_mode"]), value, max_size=2))
    assume(not any(a is object for a in [*args, *kwargs.values()]))
    assume(name not in ("all", "any") or () not in args)  # docs/differences.md
    assume(name not in ("mvlgamma", "special_multigammaln") or 2**40 not in args)  # memory for so many terms: another exception
    if data.draw(st.booleans()):
        same(lambda m, *a, **k: function(m, name)(*a, **k), *args, exact=None, **kwargs)
    elif "input" not in kwargs:
        first = data.draw(tensors(shape=[2], dtype="float32"))
        same(lambda m, self, *a, **k: getattr(self, name)(*a, **k), first, *args, exact=None, **kwargs)


dims = st.integers(-4, 4)
VIEWS = {
    "unsqueeze": st.tuples(dims), "squeeze": st.one_of(st.tuples(), st.tuples(dims), st.tuples(st.lists(dims, max_size=3))),
    "transpose": st.tuples(dims, dims), "permute": st.tuples(st.lists(dims, max_size=4)), "t": st.tuples(),
    "movedim": st.tuples(dims, dims), "select": st.tuples(dims, dims), "narrow": st.tuples(dims, dims, dims),
    "flatten": st.tuples(dims, dims), "reshape": st.tuples(st.lists(st.integers(-1, 6), max_size=4)),
    "view": st.tuples(st.lists(st.integers(-1, 6), max_size=4)), "expand": st.tuples(st.lists(st.integers(-1, 4), max_size=5)),
    "broadcast_to": st.tuples(st.lists(st.integers(-1, 4), max_size=5)), "diagonal": st.one_of(st.tuples(), st.tuples(dims), st.tuples(dims, dims, dims)),
    "unfold": st.tuples(dims, st.integers(-1, 3), st.integers(-1, 3)), "unflatten": st.tuples(dims, st.lists(st.integers(-1, 4), max_size=3)), "clone": st.tuples(), "contiguous": st.tuples(),
    "as_strided": st.tuples(st.lists(st.integers(0, 3), max_size=2), st.lists(st.integers(0, 2), max_size=2)),
    "sum_to_size": st.tuples(st.lists(st.integers(1, 3), max_size=4)), "ravel": st.tuples(), "size": st.one_of(st.tuples(), st.tuples(dims)),
    "stride": st.one_of(st.tuples(), st.tuples(dims)), "swapaxes": st.tuples(dims, dims), "tolist": st.tuples(), "item": st.tuples(),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
@given(data=st.data())
def test_view(name, data):
    self = data.draw(tensors())
    args = data.draw(VIEWS[name])
    assume(not (name == "expand" and self.ours.dim() == 0))  # docs/differences.md
    assume(not (name == "broadcast_to" and self.ours.dim() == 0))
    same(lambda m, self, *a: getattr(self, name)(*a), self, *args)


@st.composite
def index(draw):
    kind = draw(st.integers(0, 8))
    if kind <= 2:
        return draw(st.integers(-4, 4))
    if kind <= 4:
        bound = st.one_of(st.none(), st.integers(-5, 5))
        return slice(draw(bound), draw(bound), draw(st.one_of(st.none(), st.integers(1, 3))))
    if kind == 5:
        return draw(st.sampled_from([None, Ellipsis, True, False, 1.5, "x"]))
    if kind == 6:
        return draw(st.lists(st.integers(-2, 2), min_size=1, max_size=3)) if draw(st.booleans()) else draw(tensors(draw(shapes), "bool"))
    return draw(tensors(draw(st.lists(st.integers(1, 3), max_size=2)), draw(st.sampled_from(["int64", "int32", "uint8", "float32"]))))


def ellipses(key):
    return sum(part is Ellipsis for part in key)


@given(data=st.data())
def test_index(data):
    self = data.draw(tensors())
    key = tuple(data.draw(st.lists(index(), min_size=1, max_size=4)))
    assume(ellipses(key) < 2 and "x" not in [k for k in key if isinstance(k, str)])
    if len(key) == 1 and data.draw(st.booleans()) and not isinstance(key[0], list):
        key = key[0]
    same(lambda m, self, key: self[key], self, key, any_mistake=any(isinstance(part, float) for part in (key if isinstance(key, tuple) else (key,))))


@given(data=st.data())
def test_assign(data):
    self = data.draw(tensors())
    key = tuple(data.draw(st.lists(index(), min_size=1, max_size=3)))
    assume(ellipses(key) < 2 and "x" not in [k for k in key if isinstance(k, str)])
    assume(not any(isinstance(part, Both) and part.ours.dtype is tenon.uint8 for part in key))  # docs/differences.md
    value = data.draw(st.one_of(numbers, tensors(data.draw(shapes), str(self.ours.dtype).split(".")[-1]), tensors(data.draw(shapes))))

    def assign(m, self, value, *key):
        self[tuple(key)] = value
        return self

    same(assign, self, value, *key, any_mistake=True)


FACTORIES = {
    "arange": lambda draw: (draw(st.lists(st.one_of(st.integers(-5, 9), st.sampled_from([0.5, -1.5, 2.0])), min_size=1, max_size=3)), {}),
    "zeros": lambda draw: ([draw(shapes)], {}), "ones": lambda draw: (draw(shapes), {}),
    "full": lambda draw: ([draw(shapes), draw(numbers)], {}), "eye": lambda draw: (draw(st.lists(st.integers(-1, 4), min_size=1, max_size=2)), {}),
    "linspace": lambda draw: ([draw(st.integers(-4, 4)), draw(st.sampled_from([0.5, 3, -2])), draw(st.integers(-1, 6))], {}),
    "tensor": lambda draw: ([draw(nested)], {}),
}  # fmt: skip
nested = st.recursive(numbers, lambda inner: st.lists(inner, max_size=3), max_leaves=8)


@pytest.mark.parametrize("name", FACTORIES)
@given(data=st.data())
def test_factory(name, data):
    args, kwargs = FACTORIES[name](data.draw)
    if data.draw(st.booleans()):
        kwargs["dtype"] = judge.dtype(data.draw(dtypes))
    same(lambda m, *a, **k: getattr(m, name)(*a, **k), *args, exact=None if name == "linspace" else True, **kwargs)


@given(shapes=st.lists(shapes, max_size=4))
def test_broadcast_shapes(shapes):
    same(lambda m, *a: tuple(m.broadcast_shapes(*[tuple(shape) for shape in a])), *shapes)


@given(data=st.data())
def test_isclose(data):
    first = data.draw(tensors())
    second = data.draw(broadcastable(tuple(first.ours.shape)).flatmap(lambda shape: tensors(shape, str(first.ours.dtype).split(".")[-1])))
    same(lambda m, a, b: (m.isclose(a, b), m.allclose(a, b), m.equal(a, b)), first, second)


@given(a=dtypes, b=dtypes)
def test_promote_types_and_can_cast(a, b):
    same(lambda m, a, b: (m.promote_types(a, b), m.can_cast(a, b)), judge.dtype(a), judge.dtype(b))


@given(data=st.data())
def test_text(data):
    """repr, str and format."""
    same(lambda m, self: (repr(self), str(self), f"{self}"), data.draw(tensors()))
