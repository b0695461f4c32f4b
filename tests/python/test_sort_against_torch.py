"""sort, argsort, topk, flip, cummax, cummin and frexp, compared with PyTorch."""

import itertools
import math
import pickle
import random

import pytest

pytest.importorskip("numpy")
pytest.importorskip("torch")

import tenon
import torch

from judge import same

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
SHAPES = [(), (0,), (1,), (7,), (3, 5), (5, 0), (2, 3, 4), (1100,), (3, 1500), (1500, 3)]


def elements(m, shape, dtype, seed, ties=True):
    """Random numbers with ties; floats also with NaN, infinities and both zeros. `ties=False`: all numbers differ."""
    rng = random.Random(f"{seed} {shape} {dtype}")
    count = math.prod(shape)
    if ties:
        special = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0] if dtype in FLOATS else [0, 1]
        low = 0 if dtype == "bool" or dtype.startswith("u") else -20
        values = [rng.choice(special) if rng.random() < 0.2 else rng.randint(low, 20) for _ in range(count)]
    else:
        values = rng.sample(range(-2 * count, 2 * count + 1), count)
    whole = m.tensor(values, dtype=m.float64).reshape(shape)
    return whole.to(getattr(m, dtype))


def laid_out(tensor, layout):
    if layout == "transposed":
        return tensor.t() if tensor.dim() == 2 else tensor
    if layout == "gaps":
        return tensor[..., ::2] if tensor.dim() else tensor
    return tensor


@pytest.mark.parametrize("layout", ["dense", "transposed", "gaps"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_sort(shape, dtype, layout):
    for dim in range(max(len(shape), 1)):
        for descending in (False, True):
            same(lambda m: m.sort(laid_out(elements(m, shape, dtype, 0), layout), stable=True, dim=dim, descending=descending))
    same(lambda m: m.argsort(laid_out(elements(m, shape, dtype, 1), layout), stable=True))


def assert_same_sums(rows, wanted, got):
    """Running sums of float32 and 16-bit floats are added in another order: a few roundings, and that of the result."""
    wide = {torch.float32: torch.float64, torch.float16: torch.float32, torch.bfloat16: torch.float32}.get(rows.dtype)
    if wide is None:
        assert torch.equal(wanted, got)
        return
    added = 8 * torch.finfo(wide).eps * rows.double().abs().cumsum(1)
    allowed = added + torch.finfo(rows.dtype).eps * wanted.double().abs()
    error = (wanted.double() - got.double()).abs()
    assert ((error <= allowed) | (wanted == got) | (wanted.isnan() & got.isnan())).all()


@pytest.mark.parametrize("limit", [3, 40_000, 2**62])
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype not in ("uint16", "uint32", "uint64")])
@pytest.mark.parametrize("length", [16, 17, 32, 33, 96, 200, 770, 3_000, 70_000])
def test_rows_of_any_length_and_range(length, dtype, limit):
    rows = torch.randint(-limit, limit, (2, length), generator=torch.Generator().manual_seed(length)).to(getattr(torch, dtype))
    mine = tenon.from_dlpack(rows)
    for descending in (False, True):
        wanted, got = (m.sort(x, stable=True, descending=descending) for m, x in ((torch, rows), (tenon, mine)))
        assert all(torch.equal(a, torch.from_dlpack(b)) for a, b in zip(wanted, got))
    for name in ("cummax", "cummin"):
        wanted, got = getattr(torch, name)(rows, 1), getattr(tenon, name)(mine, 1)
        assert all(torch.equal(a, torch.from_dlpack(b)) for a, b in zip(wanted, got))
    assert_same_sums(rows, torch.cumsum(rows, 1), torch.from_dlpack(tenon.cumsum(mine, 1)))


@pytest.mark.parametrize("limit", [3, 40_000, 2**62])
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype not in ("bool", "uint16", "uint32", "uint64")])
@pytest.mark.parametrize("length", [9, 20, 70, 300, 3_000, 70_000])
def test_ranks_and_sets_of_any_length_and_range(length, dtype, limit):
    """Short rows are ranked by vectors, longer ones by tables; elements with few different keys are counted."""
    row = torch.randint(-limit, limit, (length,), generator=torch.Generator().manual_seed(length)).to(getattr(torch, dtype))
    mine, order = tenon.from_dlpack(row), torch.sort(row, stable=True)

    def equal(wanted, got):
        wanted, got = (results if isinstance(results, tuple) else (results,) for results in (wanted, got))
        assert all(torch.equal(a, torch.from_dlpack(b)) for a, b in zip(wanted, got))

    for k in {1, length // 3, length}:
        equal((order.values[k - 1], order.indices[k - 1]), tuple(tenon.kthvalue(mine, k)))
    for op in ("median", "nanmedian"):
        equal(getattr(torch, op)(row), getattr(tenon, op)(mine))
    equal(torch.mode(row).values, tenon.mode(mine).values)
    for op in ("unique", "unique_consecutive"):
        for wanted in ({}, {"return_inverse": True, "return_counts": True}):
            equal(getattr(torch, op)(row, **wanted), getattr(tenon, op)(mine, **wanted))
    some, others = row[: length // 2], order.values[length // 4 :]
    if dtype not in ("float16", "bfloat16"):
        equal(torch.isin(row, some), tenon.isin(mine, mine[: length // 2]))
    for right in (False, True):
        equal(torch.searchsorted(others, row, right=right), tenon.searchsorted(tenon.from_dlpack(others), mine, right=right))


def test_the_place_of_nanmedian_among_nan_alone():
    for length in (*range(1, 40), 500):
        theirs, mine = torch.full((length,), torch.nan), tenon.full((length,), tenon.nan)
        assert int(torch.nanmedian(theirs, 0).indices) == int(tenon.nanmedian(mine, 0)[1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_the_sign_of_a_median_that_is_0(dtype):
    for seed in range(60):
        drawn = torch.Generator().manual_seed(seed)
        x = torch.tensor([0.0, -0.0, 1, -1, math.nan])[torch.randint(0, 2 + seed % 4, (1 + seed // 2, 3), generator=drawn)].to(getattr(torch, dtype))
        for given in (x, x.t(), x[::2, 1:]):
            mine = tenon.tensor(given.tolist(), dtype=getattr(tenon, dtype)) if given is x else tenon.from_dlpack(given)
            for op in ("median", "nanmedian"):
                assert repr(getattr(torch, op)(given).item()) == repr(getattr(tenon, op)(mine).item())


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_elements_whose_high_bits_are_equal(dtype):
    small = torch.randint(-9_000, 9_000, (2, 3_000), generator=torch.Generator().manual_seed(1))
    far = torch.tensor([[-(2**62)], [2**62]])
    rows = torch.cat([far, small, far], 1).to(getattr(torch, dtype))
    for descending in (False, True):
        wanted, got = (m.sort(x, stable=True, descending=descending) for m, x in ((torch, rows), (tenon, tenon.from_dlpack(rows))))
        assert all(torch.equal(a, torch.from_dlpack(b)) for a, b in zip(wanted, got))


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype not in ("bool", "uint16", "uint32", "uint64")])
@pytest.mark.parametrize("length", [2, 7, 16, 33, 100, 384, 385, 3_000])
def test_topk_is_the_start_of_a_stable_sort(length, dtype):
    rows = elements(torch, (3, length), dtype, 10)
    mine = tenon.from_dlpack(rows)
    for largest in (False, True):
        wanted = torch.sort(rows, stable=True, descending=largest).indices
        for k in {1, 2, length // 10, length // 2, length}:
            got = torch.from_dlpack(tenon.topk(mine, k, largest=largest).indices)
            assert torch.equal(wanted[:, :k], got), (largest, k)


@pytest.mark.parametrize("layout", ["dense", "transposed", "gaps"])
@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "float32", "int64"])
@pytest.mark.parametrize("shape", [(), (0,), (70,), (3, 5), (50, 3), (3, 50), (2, 3, 4, 5), (7, 1, 20, 2)])
def test_flip_of_any_dims(shape, dtype, layout):
    for count in range(len(shape) + 1):
        for dims in itertools.combinations(range(len(shape)), count):
            same(lambda m: m.flip(laid_out(m.arange(math.prod(shape)).reshape(shape).to(getattr(m, dtype)), layout), dims))


@pytest.mark.parametrize("layout", ["dense", "transposed", "gaps"])
@pytest.mark.parametrize("dtype", ["int16", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_topk_without_ties(shape, dtype, layout):
    tensor = laid_out(elements(tenon, shape, dtype, 2, ties=False), layout)
    for dim in range(max(len(shape), 1)):
        size = tensor.shape[dim] if shape else 1
        for k in {0, 1, size // 2, size, size + 1}:
            for largest in (False, True):
                same(lambda m: m.topk(laid_out(elements(m, shape, dtype, 2, ties=False), layout), k, dim, largest))


@pytest.mark.parametrize("dtype", DTYPES)
def test_topk_values_with_ties(dtype):
    for largest in (False, True):
        same(lambda m: m.topk(elements(m, (4, 300), dtype, 3), 10, largest=largest).values.double().abs())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes(name, shape, dtype):
    for dim in range(max(len(shape), 1)):
        same(lambda m: getattr(m, name)(elements(m, shape, dtype, 4), dim))
        same(lambda m: getattr(elements(m, shape, dtype, 4), name)(dim=dim - max(len(shape), 1)))


@pytest.mark.parametrize("layout", ["dense", "transposed", "gaps"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_mantissa_and_exponent(shape, dtype, layout):
    same(lambda m: m.frexp(laid_out(elements(m, shape, dtype, 5), layout)))
    if dtype in FLOATS:
        same(lambda m: m.frexp(laid_out(elements(m, shape, dtype, 6) * 1e-7, layout)))


def outs(m, first, second):
    return m.empty(0, dtype=getattr(m, first)), m.empty(0, dtype=getattr(m, second))


CALLS = {
    "sort": lambda m, x, **options: m.sort(x, **options),
    "topk": lambda m, x, **options: m.topk(x, 2, **options),
    "cummax": lambda m, x, **options: m.cummax(x, 1, **options),
    "cummin": lambda m, x, **options: m.cummin(x, 1, **options),
    "frexp": lambda m, x, **options: m.frexp(x, **options),
}


@pytest.mark.parametrize("dtypes", [("float32", "int64"), ("float32", "int32"), ("float64", "int64"), ("float32", "float32"), ("int64", "int64")])
@pytest.mark.parametrize("name", CALLS)
def test_out(name, dtypes):
    same(lambda m: CALLS[name](m, elements(m, (3, 4), "float32", 7, ties=name != "topk"), out=outs(m, *dtypes)))


@pytest.mark.parametrize("name", CALLS)
def test_invalid_out(name):
    for make in (lambda m, x: (x,), lambda m, x: (x, x, x), lambda m, x: (x, 1), lambda m, x: x, lambda m, x: 3, lambda m, x: (None, None)):
        same(lambda m: CALLS[name](m, elements(m, (3, 4), "float32", 8), out=make(m, m.empty(0))))
    recorded = lambda m: CALLS[name](m, elements(m, (3, 4), "float32", 8).requires_grad_(), out=outs(m, "float32", "int32" if name == "frexp" else "int64"))
    same(recorded)


def test_out_may_be_the_input():
    def written(m):
        x, indices = elements(m, (3, 4), "float32", 9), m.empty(0, dtype=m.int64)
        result = m.sort(x, out=(x, indices))
        return result[0] is x, result.indices is indices, x, indices

    same(written)


@pytest.mark.parametrize("name", CALLS)
def test_named_tuples(name):
    def seen(m):
        x = m.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
        result = CALLS[name](m, x)
        into = CALLS[name](m, x, out=tuple(r.clone() for r in result))
        fields = result.__match_args__
        again = pickle.loads(pickle.dumps(result))
        texts = [text.replace("torch.", "").replace("tenon.", "") for text in (repr(result), repr(into), repr(type(result)), type(result).__module__, repr(again))]
        return texts, fields, [getattr(result, field) for field in fields], isinstance(result, tuple), len(result), result.n_fields

    same(seen)
    assert type(CALLS[name](tenon, tenon.ones(2, 3))) is getattr(tenon.return_types, name)


def test_strides_of_rolled_empty_tensors():
    same(lambda m: (m.zeros(1)[0:-1:3].roll(1), m.zeros(6)[0:0:3].roll((1, 2), (0, 0)), m.zeros(4, 0)[::2].roll(1)))


def test_the_node_of_sort_depends_on_its_overload():
    for m in (torch, tenon):
        x = m.ones(2, requires_grad=True)
        assert [m.sort(x).values.grad_fn.name(), m.sort(x, stable=False).values.grad_fn.name()] == ["SortBackward0", "SortBackward1"]


INVALID_CALLS = [
    lambda m, x: m.sort(x, 2), lambda m, x: m.sort(x, 0, True, True), lambda m, x: m.sort(x, stable=1), lambda m, x: m.sort(), lambda m, x: m.sort(x, stable=None),
    lambda m, x: m.topk(x, 5), lambda m, x: m.topk(x, -1), lambda m, x: m.topk(x), lambda m, x: m.topk(x, 1, 2), lambda m, x: m.topk(x[0, 0], 2), lambda m, x: m.topk(x[0, 0], 0),
    lambda m, x: m.topk(x > 0, 1), lambda m, x: m.topk(x, 1.5), lambda m, x: m.topk(x, 2, 1, True, True, 1),
    lambda m, x: m.cummax(x), lambda m, x: m.cummax(x, 2), lambda m, x: m.cummin(x[0, 0], 1), lambda m, x: m.cummax(x[0, 0], -1), lambda m, x: m.cummin(x, None),
    lambda m, x: m.argsort(x, 0, stable=True), lambda m, x: m.argsort(x, 0, True, True), lambda m, x: x.argsort(3), lambda m, x: m.argsort(x, stable=True, out=m.empty(0)),
    lambda m, x: m.argsort(x.clone().requires_grad_(), stable=True, out=m.empty(0)), lambda m, x: m.argsort(x, stable=True, out=m.empty(0).requires_grad_()),
    lambda m, x: m.argsort(x, dim=5, stable=True, out=m.empty(0)), lambda m, x: m.lerp(x, x.bool(), m.ones(3).requires_grad_(), out=m.empty(2, 3)),
    lambda m, x: m.frexp(x.int()), lambda m, x: m.frexp(3.0),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(INVALID_CALLS)))
def test_invalid_calls(number):
    same(lambda m: INVALID_CALLS[number](m, elements(m, (3, 4), "float32", 10)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_gradient_of_frexp(dtype):
    def gradients(m):
        numbers = [3.0, -5e-3, 65504.0, 1e20, 1e-40, 1e-7, 0.0, float("inf"), float("nan")]
        x = m.tensor(numbers, dtype=getattr(m, dtype), requires_grad=True)
        mantissa, exponent = m.frexp(x)
        (mantissa * m.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], dtype=x.dtype)).sum().backward()
        return x.grad, type(mantissa.grad_fn).__name__, exponent.requires_grad

    same(gradients)


@pytest.mark.parametrize("changed", [0, 1])
def test_frexp_keeps_its_exponents_alone(changed):
    def gradient(m):
        x = m.tensor([3.0, 5e-3], requires_grad=True)
        y = x * 1
        parts = m.frexp(y)
        y.detach().zero_()
        total = parts.mantissa.sum()
        parts[changed].detach().zero_()
        total.backward()
        return x.grad

    same(gradient)


@pytest.mark.parametrize("name", ["sort", "cummax", "max"])
def test_the_error_of_changed_indices_names_no_node(name):
    def refused(m):
        values, indices = getattr(m, name)(m.ones(2, 3, requires_grad=True) * 1, 1)
        indices.zero_()
        values.sum().backward()

    same(refused)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "uint16", "bfloat16", "float16"])
def test_the_error_of_a_changed_factor_names_its_class(dtype):
    def refused(m):
        factor = m.ones(2).to(getattr(m, dtype))
        product = m.ones(2, requires_grad=True) * factor
        factor.zero_()
        product.sum().backward()

    same(refused)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", "complex64", "complex128", "bool"])
@pytest.mark.parametrize("call", [lambda m, x: m.cummax(x, 0), lambda m, x: m.cummin(x, -1), lambda m, x: m.topk(x, 1), lambda m, x: m.topk(x, 0)])
def test_0_dim_tensors_of_dtypes_without_order(call, dtype):
    same(lambda m: [r.item() for r in call(m, m.tensor(3, dtype=getattr(m, dtype)))])


def test_cumsum_into_its_transposed_input():
    def refused(m, dtype):
        x = m.ones(2, 2, dtype=getattr(m, dtype))
        return m.cumsum(x, 0, out=x.t())

    for dtype in ("float32", "int64"):
        same(lambda m: refused(m, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("call", [
    lambda m, x: x.sort(0, descending=True), lambda m, x: x.topk(2), lambda m, x: x.topk(1, 0, largest=False), lambda m, x: x.cummax(1), lambda m, x: m.cummin(x, 0), lambda m, x: m.sort(x[0, 0]),
])  # fmt: skip
def test_gradients(call, dtype):
    def gradients(m):
        x = elements(m, (3, 4), dtype, 11, ties=False).requires_grad_()
        values, indices = call(m, x)
        weighted = (values * values.detach()).sum()
        weighted.backward(m.ones((), dtype=weighted.dtype))
        return x.grad, type(values.grad_fn).__name__, values.requires_grad, indices.requires_grad, indices.grad_fn

    same(gradients)


@pytest.mark.parametrize("sizes", [(), (1,), (2, 3)], ids=str)
def test_outputs_of_the_mode_of_one_number(sizes):
    same(lambda m: m.mode(m.tensor(3.0), out=(m.ones(sizes), m.ones(sizes, dtype=m.int64))))


@pytest.mark.parametrize("op", ["cummax", "cummin"])
def test_strides_of_running_extremes_of_bools(op):
    same(lambda m: getattr(m, op)(m.ones(64, dtype=m.bool).as_strided((5, 3, 1, 2, 1), (6, 2, 2, 1, 9)), 1))
    same(lambda m: getattr(m, op)(m.ones(500, dtype=m.bool).as_strided((33, 1, 8, 1), (8, 1, 1, 1)), -4))


TRUTHS = {
    "unique": lambda m, x: m.unique(x, return_inverse=True, return_counts=True), "unique, unsorted": lambda m, x: m.unique(x, sorted=False),
    "unique along a dim": lambda m, x: m.unique(x.reshape(2, -1), return_inverse=True, return_counts=True, dim=1),
    "unique_consecutive": lambda m, x: m.unique_consecutive(x, True, True), "unique_consecutive, values": lambda m, x: (m.unique_consecutive(x),),
    "unique_consecutive along a dim": lambda m, x: m.unique_consecutive(x.reshape(2, -1), True, True, 1),
    "cummax": lambda m, x: m.cummax(x, 0), "cummin": lambda m, x: m.cummin(x.reshape(2, -1), 1), "mode": lambda m, x: (m.mode(x).values,),
    "sort": lambda m, x: m.sort(x, stable=True), "sort, descending": lambda m, x: m.sort(x.reshape(2, -1), dim=0, descending=True, stable=True),
    "argsort": lambda m, x: (m.argsort(x, stable=True),),
}  # fmt: skip


@pytest.mark.parametrize("length", [2, 20, 300, 5000])
@pytest.mark.parametrize("name", TRUTHS)
def test_bools_are_compared_by_truth(name, length):
    rng = random.Random(length)
    stored = [rng.choice([0, 0, 1, 2, 128, 255]) for _ in range(length)]

    def call(m):
        results = TRUTHS[name](m, m.tensor(stored, dtype=m.uint8).view(m.bool))
        return tuple(result != 0 if result.dtype == m.bool else result for result in results)

    same(call)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(2, 3), (50, 7), (6, 5, 4), (3, 1, 8, 2), (3000, 33), (1, 9), (9, 1), (40, 200)], ids=str)
def test_rolls_of_short_rows(shape, dtype):
    rng = random.Random(f"{shape}{dtype}")
    numbers = [rng.randint(-9, 9) for _ in range(math.prod(shape))]
    for dim in range(len(shape)):
        for shift in {1, -1, shape[dim] // 2, shape[dim], rng.randint(-50, 50)}:
            same(lambda m: m.roll(m.tensor(numbers, dtype=getattr(m, dtype)).reshape(shape), shift, dim))
            same(lambda m: m.roll(m.tensor(numbers, dtype=getattr(m, dtype)).reshape(shape)[:, ::2], shift, dim))
    same(lambda m: m.roll(m.tensor(numbers, dtype=getattr(m, dtype)).reshape(shape), (1, 2), (0, 1)))
    same(lambda m: m.roll(m.ones(shape, device="meta"), 1, -1).stride())


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("n", [31, 32, 33, 50, 64, 65, 127, 128, 129])
def test_ranks_of_short_rows(dtype, n):
    """The element of each rank, with ties and NaN; its place is one where the element lies, and equal elements have places of their own."""
    rows = elements(tenon, (4, n), dtype, n)
    ordered = tenon.sort(rows, dim=1, stable=True)
    for k in (1, 2, n // 2, n - 1, n):
        found = tenon.kthvalue(rows, k, 1)
        assert str(found.values.tolist()) == str(ordered.values[:, k - 1].tolist())
        assert found.indices.tolist() == ordered.indices[:, k - 1].tolist()
    mine, theirs = tenon.nanmedian(rows, 1), torch.nanmedian(elements(torch, (4, n), dtype, n), 1)
    assert str((mine.values + 0).tolist()) == str((theirs.values + 0).tolist())


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("sizes", [(2, 15), (3, 16), (2, 3, 2100), (5, 4, 17)])
def test_cumprod_across_rows(dtype, sizes):
    """Of contiguous elements and of those with gaps, into a result, in place and over its own memory."""
    for step in (1, 2):
        for call in (lambda m, x: x.cumprod(-2), lambda m, x: (x * 1).cumprod_(-2), lambda m, x: m.cumprod(x * 1, -2, dtype=m.float64)):
            same(lambda m: call(m, (m.arange(math.prod(sizes) * step).remainder(7) - 3).to(getattr(m, dtype)).reshape(sizes[:-1] + (-1,))[..., ::step]))
