"""tenon.array_api does what the standard's test suite asserts: names, signatures, dtypes, shapes, special values, errors."""

import functools
import inspect
import math
import operator

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("array_api_strict")
hypothesis = pytest.importorskip("hypothesis")

import array_api_strict as strict
import tenon
from hypothesis import given, strategies as st
from hypothesis.extra.array_api import make_strategies_namespace
from standard import DTYPES, INF, INTEGERS, NAN, as_numpy, check, differences, sample, values, xp

UNARY = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log1p log2 log10 logical_not
           negative positive real reciprocal round sign signbit sin sinh sqrt square tan tanh trunc""".split()
BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal floor_divide greater greater_equal hypot
            less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract""".split()
OPERATORS = """add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le gt ge eq ne""".split()


# --- Names and signatures


def parameters(function):
    return [(p.name if p.kind is not p.POSITIONAL_ONLY else "", p.kind, p.default) for p in inspect.signature(function).parameters.values()]


FUNCTIONS = [(prefix, name) for prefix, module in (("", strict), ("linalg", strict.linalg), ("fft", strict.fft)) for name in module.__all__
             if inspect.isfunction(getattr(module, name)) and "strict" not in name]  # fmt: skip


@pytest.mark.parametrize("prefix, name", FUNCTIONS)
def test_signature(prefix, name):
    ours, theirs = ((getattr(module, prefix) if prefix else module) for module in (xp, strict))
    wanted = parameters(getattr(theirs, name))
    undefined = [entry[:2] if "Undef" in repr(entry[2]) else entry for entry in wanted]
    found = [entry[: len(other)] for entry, other in zip(parameters(getattr(ours, name)), undefined)]
    assert len(parameters(getattr(ours, name))) == len(wanted)
    if name in ("expand_dims", "diff", "where"):  # axis has a default, as in older versions; scikit-learn gives n as a position, and no x1, x2
        assert {entry[0] for entry in found} == {entry[0] for entry in undefined}
        return
    assert [entry[1:2] for entry in found] == [entry[1:2] for entry in undefined]
    assert [entry for entry in found if entry[0]] == [entry for entry in undefined if entry[0]]  # names of positional parameters are free


def test_attributes():
    x = xp.ones((1, 1))
    for name in """T mT ndim shape size dtype device __abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__ __float__
                   __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__ __lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__
                   __pos__ __pow__ __rshift__ __setitem__ __sub__ __truediv__ __xor__ __iadd__ __radd__ __rmatmul__ to_device""".split():
        assert hasattr(x, name), name
    assert x.to_device("cpu").device == x.device
    with pytest.raises(ValueError):
        x.to_device("cpu", stream=1)


def test_information():
    info = xp.__array_namespace_info__()
    capabilities = info.capabilities()
    assert capabilities["boolean indexing"] is True and capabilities["data-dependent shapes"] is True and capabilities["max dimensions"] == 64
    assert xp.ones((1,) * capabilities["max dimensions"]).ndim == 64
    assert isinstance(info.devices(), list) and info.default_device() in info.devices()
    for device in info.devices():
        assert set(info.default_dtypes(device=device)) == {"real floating", "complex floating", "integral", "indexing"}
    assert set(info.dtypes()) == set(DTYPES) and set(info.dtypes(kind="unsigned integer")) == set(INTEGERS[:4])
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}


# --- Dtypes


def test_result_types():
    for a in DTYPES:
        for b in DTYPES:
            try:
                wanted = strict.result_type(getattr(strict, a), getattr(strict, b))
            except TypeError:
                continue
            assert repr(xp.result_type(getattr(xp, a), getattr(xp, b))) == f"tenon.{np.dtype(wanted._np_dtype).name}"
            assert xp.can_cast(getattr(xp, a), getattr(xp, b)) is strict.can_cast(getattr(strict, a), getattr(strict, b))
    assert xp.result_type(xp.ones((), dtype=xp.float64), xp.ones(3, dtype=xp.float32), 1) is xp.float64
    assert xp.result_type(xp.int8, 1) is xp.int8 and xp.result_type(xp.float32, 1j) is xp.complex64
    with pytest.raises(TypeError):
        xp.result_type(xp.uint64, xp.int8)
    with pytest.raises(ValueError):
        xp.result_type(1, 2)


def test_limits():
    for name in ("float32", "float64", "complex64", "complex128"):
        ours, theirs = xp.finfo(getattr(xp, name)), strict.finfo(getattr(strict, name))
        assert all(type(getattr(ours, each)) is type(getattr(theirs, each)) and getattr(ours, each) == getattr(theirs, each) for each in "bits eps max min smallest_normal".split())
        assert ours.dtype is getattr(xp, name).to_real()
    for name in INTEGERS:
        assert xp.iinfo(xp.ones((), dtype=getattr(xp, name)))[:3] == tuple(getattr(np.iinfo(name), each) for each in ("bits", "max", "min"))
    with pytest.raises(ValueError):
        xp.isdtype(xp.int8, "integer")
    assert xp.isdtype(xp.int8, ("bool", xp.int8)) and not xp.isdtype(xp.bool, "numeric")


# --- Elementwise functions and operators


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_unary(name, dtype):
    check(lambda m, x: getattr(m, name)(x), sample(dtype), allowed=free(name))


def second(name, dtype):
    """Operands for which the standard says what the result is."""
    x = sample(dtype)
    if name in ("floor_divide", "remainder") and x.dtype.kind in "iu":
        x[x == 0] = 3
    if name == "pow" and x.dtype.kind in "iu":
        return np.clip(x, 0, 5)
    if "shift" in name and x.dtype.kind in "iu":
        return np.arange(7, dtype=dtype)
    return x


def free(name):
    """Where the standard leaves the result open, or NumPy does not do what it says."""

    def allowed(*arrays):
        kinds = {array.dtype.kind for array in arrays}
        if name == "floor_divide" and "f" in kinds:  # the standard's quotients beside infinities: test_special_values
            return functools.reduce(operator.or_, map(np.isinf, arrays))
        if name in ("maximum", "minimum") and "f" in kinds:  # of zeros with different signs
            return functools.reduce(operator.and_, (array == 0 for array in arrays))
        if name == "pow" and "c" in kinds:  # exp(x2 * log(x1)), which has no digits to spare and is NaN for 0 ** 0
            return True
        return name in ("log1p", "reciprocal", "sign") and "c" in kinds  # of zeros, and of parts that are

    return allowed


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("a", DTYPES)
def test_binary(name, a):
    for b in DTYPES:
        check(lambda m, x, y: getattr(m, name)(x, y), sample(a).reshape(-1, 1), second(name, b), allowed=free(name))
        check(lambda m, x, y: getattr(m, name)(x, y), sample(a)[2:3], second(name, b)[2], allowed=free(name))  # without dims it promotes, too


@pytest.mark.parametrize("name", ["add", "atan2", "bitwise_and", "divide", "equal", "floor_divide", "less", "maximum", "minimum", "multiply", "pow", "remainder", "hypot"])
@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_numbers(name, dtype):
    number = {"f": 2.0, "c": 2j}.get(np.dtype(dtype).kind, 2)
    check(lambda m, x: getattr(m, name)(x, number), sample(dtype), allowed=free(name))
    check(lambda m, x: getattr(m, name)(2, x), sample(dtype)[1:4], allowed=free(name))


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("a", DTYPES)
def test_operator(name, a):
    """By the standard's rules where they are chosen."""
    apply, inplace = getattr(operator, name), getattr(operator, f"i{name.strip('_')}", None)
    function = {"floordiv": "floor_divide", "mod": "remainder", "lshift": "shift", "rshift": "shift"}.get(name, name)
    with xp.standard_operators():
        for b in DTYPES:
            check(lambda m, x, y: apply(x, y), sample(a).reshape(-1, 1), second(function, b), allowed=free(function))
            check(lambda m, x, y: apply(x, y), sample(a)[2:3], second(function, b)[2], allowed=free(function))
            if inplace and np.result_type(a, b) == np.dtype(a):
                check(lambda m, x, y: inplace(m.asarray(x, copy=True), y), sample(a)[2:4], second(function, b)[2], allowed=free(function))
        for number in (True, 2, 2.5, 2j):
            if isinstance(number, complex) and name in ("lt", "le", "gt", "ge"):
                continue
            check(lambda m, x: apply(x, number), sample(a)[1:4], allowed=lambda x: isinstance(number, complex) or free(function)(x))
            check(lambda m, x: apply(number, x), second(function, a)[1:4], allowed=lambda x: isinstance(number, complex) or free(function)(x))


def test_operators_are_pytorchs_again():
    one, many = tenon.ones((), dtype=tenon.float64), tenon.ones(3)
    with xp.standard_operators():
        assert (one + many).dtype is tenon.float64 and (-tenon.ones(2, dtype=tenon.uint16)).tolist() == [65535, 65535]
        with xp.standard_operators(False):
            assert (one + many).dtype is tenon.float32
        assert (one + many).dtype is tenon.float64
        with pytest.raises(TypeError, match="in place"):
            many += one
        with pytest.raises(TypeError):
            many + "2"
    assert (one + many).dtype is tenon.float32
    with pytest.raises(RuntimeError, match="Promotion for uint16"):
        tenon.ones(2, dtype=tenon.uint16) + tenon.ones(2, dtype=tenon.int8)


# What the standard says of special values and NumPy does not do, or PyTorch does not.
SPECIAL = {
    "floor_divide": [(INF, 2.0, INF), (INF, -2.0, -INF), (-INF, 2.0, -INF), (-INF, -2.0, INF), (2.0, -INF, -0.0), (-2.0, INF, -0.0), (2.0, INF, 0.0), (-2.0, -INF, 0.0),
                     (INF, INF, NAN), (0.0, 0.0, NAN), (1.0, 0.0, INF), (-1.0, 0.0, -INF), (1.0, 0.1, 9.0)],
    "remainder": [(0.0, 2.0, 0.0), (0.0, -2.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, -2.0, -0.0), (4.0, -2.0, -0.0), (-4.0, 2.0, 0.0), (2.0, INF, 2.0), (2.0, -INF, -INF), (-2.0, INF, INF), (INF, 1.0, NAN)],
    "sign": [(NAN, NAN), (-0.0, 0.0), (INF, 1.0)],
    "round": [(0.5, 0.0), (-0.5, -0.0), (1.5, 2.0), (2.5, 2.0)],
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values(name, dtype):
    for *arguments, wanted in SPECIAL[name]:
        result = getattr(xp, name)(*(xp.asarray(argument, dtype=getattr(xp, dtype)) for argument in arguments))
        assert not differences(as_numpy(result), np.asarray(wanted, dtype)).any() or name == "sign" and wanted == 0, (arguments, result)


# --- Shapes, dims, keywords


SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@st.composite
def arrays(draw, shape=SHAPES, dtypes=DTYPES, finite=False):
    shape, dtype = draw(shape) if not isinstance(shape, tuple) else shape, draw(st.sampled_from(dtypes))
    among = [value for value in values(dtype) if not finite or dtype in INTEGERS or dtype == "bool" or 1e-4 < abs(value) < 1e4]
    count = math.prod(shape)
    return np.array(draw(st.lists(st.sampled_from(among), min_size=count, max_size=count)), dtype=dtype).reshape(shape)


def dims(ndim, one=False, none=True):
    """A dim, None, or several dims, also none at all."""
    choices = [st.none()] * none
    if ndim:
        choices += [st.integers(-ndim, ndim - 1)] + ([] if one else [st.lists(st.integers(0, ndim - 1), unique=True).map(tuple)])
    return st.one_of(*choices)


REDUCTIONS = "sum prod mean var std max min all any count_nonzero argmax argmin".split()


@pytest.mark.parametrize("name", REDUCTIONS)
@given(data=st.data())
def test_reduction(name, data):
    x = data.draw(arrays(finite=True))
    options = {"axis": data.draw(dims(x.ndim, one=name.startswith("arg"))), "keepdims": data.draw(st.booleans())}
    if name in ("var", "std"):
        options["correction"] = data.draw(st.sampled_from([0, 1, 0.5, 2.0]))
    dtype = data.draw(st.sampled_from([None, *(each for each in INTEGERS if each[0] == x.dtype.name[0])])) if name in ("sum", "prod") else None
    if name == "count_nonzero" and options["axis"] == () or name in ("max", "min") and x.size == 0:
        return

    def call(m, x):
        return getattr(m, name)(x, **options, **({} if dtype is None else {"dtype": getattr(m, dtype)}))

    check(call, x, tolerance=1e-4 if name in ("sum", "prod", "mean", "var", "std") and x.dtype.kind in "fc" else None)


@given(data=st.data())
def test_scans_and_order(data):
    name = data.draw(st.sampled_from(["cumulative_sum", "cumulative_prod", "sort", "argsort", "diff"]))
    x = data.draw(arrays(shape=st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple), dtypes=INTEGERS))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    options = {"include_initial": data.draw(st.booleans())} if name.startswith("cum") else {} if name == "diff" else {"descending": data.draw(st.booleans())}
    check(lambda m, x: getattr(m, name)(x, axis=axis, **options), x)


STRUCTURE = {
    "concat": lambda d, x: (lambda axis: lambda m, a: m.concat([a, a], axis=axis))(d.draw(dims(x.ndim, one=True))),
    "stack": lambda d, x: (lambda axis: lambda m, a: m.stack([a, a], axis=axis))(d.draw(st.integers(-x.ndim - 1, x.ndim))),
    "expand_dims": lambda d, x: (lambda axis: lambda m, a: m.expand_dims(a, axis=axis))(d.draw(st.integers(-x.ndim - 1, x.ndim))),
    "flip": lambda d, x: (lambda axis: lambda m, a: m.flip(a, axis=axis))(d.draw(dims(x.ndim))),
    "permute_dims": lambda d, x: (lambda axes: lambda m, a: m.permute_dims(a, tuple(axes)))(d.draw(st.permutations(range(x.ndim)))),
    "repeat": lambda d, x: (lambda n, axis: lambda m, a: m.repeat(a, n, axis=axis))(d.draw(st.integers(0, 3)), d.draw(dims(x.ndim, one=True))),
    "roll": lambda d, x: (lambda n, axis: lambda m, a: m.roll(a, n, axis=axis))(d.draw(st.integers(-4, 4)), d.draw(dims(x.ndim).filter(lambda axis: axis != ()))),
    "tile": lambda d, x: (lambda n: lambda m, a: m.tile(a, n))(tuple(d.draw(st.lists(st.integers(0, 3), max_size=x.ndim + 1)))),
    "broadcast_to": lambda d, x: (lambda more: lambda m, a: m.broadcast_to(a, (*more, *a.shape)))(d.draw(st.lists(st.integers(0, 2), max_size=2))),
    "unique_values": lambda d, x: lambda m, a: m.unique_values(a), "unique_all": lambda d, x: lambda m, a: list(m.unique_all(a)),
    "unique_counts": lambda d, x: lambda m, a: list(m.unique_counts(a)), "unique_inverse": lambda d, x: lambda m, a: list(m.unique_inverse(a)),
    "isin": lambda d, x: lambda m, a: m.isin(a, a), "where": lambda d, x: lambda m, a: m.where(a == a, a, a),
    "meshgrid": lambda d, x: lambda m, a: list(m.meshgrid(m.reshape(a, (-1,)), m.reshape(a, (-1,)))) if 0 not in a.shape else a,
    "zeros_like": lambda d, x: lambda m, a: m.zeros_like(a), "ones_like": lambda d, x: lambda m, a: m.ones_like(a), "full_like": lambda d, x: lambda m, a: m.full_like(a, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURE)
@given(data=st.data())
def test_structure(name, data):
    dtypes = [dtype for dtype in DTYPES if not dtype.startswith("complex")] if name.startswith("unique") else DTYPES
    x = data.draw(arrays(dtypes=dtypes))
    check(STRUCTURE[name](data, x), x)


@given(data=st.data())
def test_parts(data):
    x = data.draw(arrays(shape=st.lists(st.integers(1, 3), min_size=2, max_size=4).map(tuple)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    at = np.array(data.draw(st.lists(st.integers(-x.shape[axis], x.shape[axis] - 1), max_size=4)), data.draw(st.sampled_from(["int64", "int32", "int8"])))
    check(lambda m, a, i: m.take(a, i, axis=axis), x, at)
    check(lambda m, a: list(m.unstack(a, axis=axis)), x)
    k = data.draw(st.integers(-5, 5))
    check(lambda m, a: m.tril(a, k=k), x)
    check(lambda m, a: m.triu(a, k=k), x)
    check(lambda m, a: list(m.nonzero(a)), x)
    check(lambda m, a: m.linalg.diagonal(a, offset=k), x)
    if x.dtype.kind in "iu":
        check(lambda m, a: m.linalg.trace(a, offset=k), x)


@pytest.mark.parametrize("a", INTEGERS)
def test_products_promote(a):
    x = np.arange(6, dtype=a).reshape(2, 3)
    for b in INTEGERS:
        if {a[0], b[0]} == {"i", "u"} and "uint64" in (a, b):
            continue  # the standard knows no common dtype
        y = np.arange(9, dtype=b).reshape(3, 3)
        check(lambda m, x, y: m.matmul(x, y), x, y)
        check(lambda m, x, y: m.vecdot(x, y[:2, ...]), x, y)
        check(lambda m, x, y: m.tensordot(x, y, axes=((1,), (0,))), x, y)
        check(lambda m, x, y: m.linalg.outer(x[0, :], y[1, :]), x, y)
        check(lambda m, x, y: m.linalg.cross(x, y[1:, :]), x, y)
        check(lambda m, x, y: m.concat([x, y]), x, y)
        check(lambda m, x, y: m.stack([x, y[:2, ...]]), x, y)
        check(lambda m, x, y: m.searchsorted(x[0, :], y[0, :]), x, y)


@given(data=st.data())
def test_clip(data):
    x = data.draw(arrays(dtypes=INTEGERS + ["float32", "float64"]))
    low = data.draw(arrays(shape=x.shape, dtypes=[x.dtype.name]))
    check(lambda m, a, b: m.clip(a, b), x, low)
    check(lambda m, a, b: m.clip(a, max=b), x, low)
    limit = data.draw(st.integers(0, 100))
    check(lambda m, a: m.clip(a, limit, limit + 5), x)


# --- Making arrays


@given(start=st.integers(-20, 20) | st.floats(-20, 20), stop=st.none() | st.integers(-20, 20) | st.floats(-20, 20), step=(st.integers(-5, 5) | st.floats(0.25, 3)).filter(bool))
def test_arange(start, stop, step):
    result = xp.arange(start, stop, step)
    assert result.shape == np.arange(start, *([] if stop is None else [stop]), **({} if stop is None else {"step": step})).shape if stop is not None else True
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        assert result.tolist() == list(range(start, stop, step)) and result.dtype is xp.int64


@given(rows=st.integers(0, 5), columns=st.none() | st.integers(0, 5), k=st.integers(-(2**70), 2**70) | st.integers(-6, 6), dtype=st.sampled_from(DTYPES))
def test_eye(rows, columns, k, dtype):
    result = xp.eye(rows, columns, k=k, dtype=getattr(xp, dtype))
    assert result.dtype is getattr(xp, dtype)
    assert result.tolist() == [[1 if j - i == k else 0 for j in range(rows if columns is None else columns)] for i in range(rows)]


@given(start=st.floats(-1e3, 1e3), stop=st.floats(-1e3, 1e3), num=st.integers(0, 9), dtype=st.sampled_from(["float32", "float64"]))
def test_linspace(start, stop, num, dtype):
    dtype = getattr(xp, dtype)
    whole, open_ = (xp.linspace(start, stop, num, dtype=dtype, endpoint=endpoint) for endpoint in (True, False))
    assert whole.shape == open_.shape == (num,) and whole.dtype is dtype
    if num:
        assert whole[0] == xp.asarray(start, dtype=dtype) and open_[0] == whole[0]
    if num > 1:
        assert whole[-1] == xp.asarray(stop, dtype=dtype)
    assert xp.all(open_ == xp.linspace(start, stop, num + 1, dtype=dtype)[:-1])


def test_asarray():
    assert xp.asarray([xp.ones(2), xp.zeros(2)]).tolist() == [[1, 1], [0, 0]] and xp.asarray(xp.unstack(xp.ones((2, 0)))).shape == (2, 0)
    assert xp.asarray(([xp.ones(2)], [[0, 1]]), dtype=xp.int8).dtype is xp.int8 and xp.asarray(2**64 - 1, dtype=xp.uint64).item() == 2**64 - 1
    assert [xp.asarray(value).dtype for value in (True, 1, 1.0, 1j)] == [xp.bool, xp.int64, xp.float32, xp.complex64]
    x = xp.ones(3)
    assert xp.asarray(x, copy=True).data_ptr() != x.data_ptr() == xp.asarray(x, copy=False).data_ptr() == xp.reshape(x, (3, 1), copy=False).data_ptr()
    for refused in (lambda: xp.asarray([x], copy=False), lambda: xp.asarray(1, copy=False), lambda: xp.reshape(xp.ones((2, 3)).mT, (6,), copy=False)):
        with pytest.raises(ValueError):
            refused()


REFUSED = {
    "squeeze": (ValueError, lambda: xp.squeeze(xp.ones((2, 1)), 0)), "squeeze several": (ValueError, lambda: xp.squeeze(xp.ones((2, 1)), (0, 1))),
    "expand_dims": (IndexError, lambda: xp.expand_dims(xp.ones(2), axis=3)), "nonzero": (ValueError, lambda: xp.nonzero(xp.ones(()))),
    "take": (ValueError, lambda: xp.take(xp.ones((2, 2)), xp.asarray([0]))), "cumulative_sum": (ValueError, lambda: xp.cumulative_sum(xp.ones((2, 2)))),
    "vecdot": (ValueError, lambda: xp.vecdot(xp.ones(2), xp.ones(3))), "matmul": (RuntimeError, lambda: xp.matmul(xp.ones(()), xp.ones(3))),
    "cross": (RuntimeError, lambda: xp.linalg.cross(xp.ones(2), xp.ones(2))), "mask": (IndexError, lambda: xp.ones(2)[xp.ones((2, 2), dtype=xp.bool)]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    error, call = REFUSED[name]
    with pytest.raises(error):
        call()


# --- Indexing, by the strategies that the standard's suite uses


xps = make_strategies_namespace(xp)


@given(data=st.data())
def test_indices(data):
    shape = data.draw(xps.array_shapes(min_dims=0, min_side=0))
    x = np.arange(math.prod(shape)).reshape(shape)
    key = data.draw(xps.indices(shape=shape, allow_newaxis=True))
    ours = tenon.from_numpy(x.copy())
    with xp.standard_operators():  # with slices that go back
        assert np.array_equal(ours[key], x[key])
        ours[key] = -1
    x[key] = -1
    assert np.array_equal(ours, x)


@given(data=st.data())
def test_arrays_of_hypothesis(data):
    x = data.draw(xps.arrays(dtype=xps.scalar_dtypes(), shape=xps.array_shapes(min_dims=0)))
    mask = data.draw(xps.arrays(dtype=xp.bool, shape=x.shape))
    assert x[mask].shape == (int(xp.sum(xp.astype(mask, xp.uint8))),) and x[mask].dtype is x.dtype
    copied = xp.asarray(x, copy=True)
    copied[mask] = x[mask]
    assert xp.all(xp.equal(copied, x) | (x != x))


def test_dlpack():
    for dtype in DTYPES:
        x = xp.ones((2, 3), dtype=getattr(xp, dtype))
        assert x.__dlpack_device__() == (1, 0)
        for version in (None, (0, 0), (1, 0), (2, 0)):
            assert x.__dlpack__(copy=True, max_version=version, dl_device=(1, 0)) is not None
        y = xp.from_dlpack(x, device=x.device, copy=True)
        assert y.dtype is x.dtype and y.data_ptr() != x.data_ptr() and xp.all(xp.equal(x, y))
