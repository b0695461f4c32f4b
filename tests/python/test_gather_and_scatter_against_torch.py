"""gather, scatter, index_add, masked_select, tril, roll and similar ops, compared with PyTorch: values, nodes, first and
second gradients."""

import math

import pytest

torch = pytest.importorskip("torch")

import tenon

import judge

INDEX = [[0, 2, 1], [1, 1, 0]]
CALLS = {
    "gather": lambda m, x, s, i: x.gather(0, i),
    "gather along the last dim": lambda m, x, s, i: x.gather(-1, i),
    "gather of rows": lambda m, x, s, i: x.gather(0, i[:, :1].expand(2, 3)),
    "take_along_dim": lambda m, x, s, i: m.take_along_dim(x, i[:, :1] - 1, 0),
    "take_along_dim of all": lambda m, x, s, i: m.take_along_dim(x, i),
    "index_select": lambda m, x, s, i: x.index_select(1, i[0]),
    "index_select of int32": lambda m, x, s, i: x.t().index_select(0, i[0].to(m.int32)),
    "masked_select": lambda m, x, s, i: x.masked_select(m.tensor([True, False, True])),
    "scatter": lambda m, x, s, i: x.scatter(0, i, s),
    "scatter of a number": lambda m, x, s, i: x.scatter(1, i, 2.5),
    "scatter_": lambda m, x, s, i: (x * 1).scatter_(0, i, s),
    "scatter_ of a number": lambda m, x, s, i: (x * 1).scatter_(0, i, 2.5),
    "scatter_add": lambda m, x, s, i: x.scatter_add(1, i, s),
    "scatter_add_ of a view": lambda m, x, s, i: (x * 1).t().scatter_add_(0, i, s),
    "index_add": lambda m, x, s, i: x.index_add(0, i[0], s.t().contiguous()[:, :2].expand(3, 2).matmul(m.ones(2, 3)), alpha=2),
    "index_add_": lambda m, x, s, i: (x * 1).index_add_(1, i[0], x * 2),
    "tril": lambda m, x, s, i: x.tril(-1),
    "triu_": lambda m, x, s, i: (x * 1).triu_(1),
    "roll": lambda m, x, s, i: x.roll((1, -1), (0, 1)),
    "roll of all": lambda m, x, s, i: x.roll(4),
    "diag": lambda m, x, s, i: x.diag(1),
    "diag of a vector": lambda m, x, s, i: x[0].diag(-1),
    "diag_embed": lambda m, x, s, i: m.diag_embed(x, 1, 0, 2),
    "cumsum_": lambda m, x, s, i: (x * 1).cumsum_(1),
}  # fmt: skip


def outcome(m, call):
    x = m.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0], [7.0, 8.0, 9.0]], requires_grad=True)
    s = m.tensor([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]], requires_grad=True)
    result = call(m, x, s, m.tensor(INDEX))
    weight = (m.arange(result.numel()) * 1.0).reshape(tuple(result.shape)).requires_grad_()
    grads = m.autograd.grad((result * weight).sum(), (x, s), create_graph=True, allow_unused=True)
    squares = sum((grad * grad).sum() for grad in grads if grad is not None)
    second = m.autograd.grad(squares, (weight, x, s), allow_unused=True)
    lists = [None if grad is None else (tuple(grad.shape), grad.tolist()) for grad in (*grads, *second)]
    return result.grad_fn.name(), len(result.grad_fn.next_functions), result._version, result.stride(), result.tolist(), lists


@pytest.mark.parametrize("name", CALLS)
def test_gradients(name):
    assert outcome(tenon, CALLS[name]) == outcome(torch, CALLS[name])


REFUSED = {
    "scatter_ of a leaf": lambda m, x, i: x.scatter_(0, i, 1.0),
    "a changed operand": lambda m, x, i: changed(x * 1, lambda y: y.gather(0, i)),
    "a reduction has no derivative": lambda m, x, i: x.scatter(0, i, 2.0, reduce="add").sum().backward(),
    "out= of what requires grad": lambda m, x, i: m.gather(x, 0, i, out=m.empty(0)),
    "written and read": lambda m, x, i: i.scatter_(0, i, 1),
    "negative indices": lambda m, x, i: x.detach().scatter_add_(0, i - 1, m.ones(2, 3)),
    "an index that requires grad, and out=": lambda m, x, i: m.index_select(x.detach(), 0, m.ones(1, requires_grad=True), out=m.empty(0)),
    "a mask that requires grad, and out=": lambda m, x, i: m.masked_select(x.detach(), m.ones(1, requires_grad=True), out=m.empty(0)),
    "diag into a leaf": lambda m, x, i: m.diag(x, out=m.ones(3, requires_grad=True)),
    "diagonal_copy into a leaf": lambda m, x, i: m.diagonal_copy(x[0], out=m.ones(3, requires_grad=True)),
    "a reduction into a leaf": lambda m, x, i: m.scatter(x.detach(), 0, i, 2.0, reduce="none", out=m.ones(3, 3, requires_grad=True)),
    "a reduction of what requires grad, and out=": lambda m, x, i: m.scatter(x, 0, i, 2.0, reduce="none", out=m.ones(3, 3)),
    "diag of floats into integers": lambda m, x, i: m.diag(x.detach()[0], out=m.empty(3, 3, dtype=m.int64)),
    "diag of floats into other floats": lambda m, x, i: m.diag(x.detach()[0], out=m.empty(3, 3, dtype=m.float64)),
    "roll of no dims": lambda m, x, i: m.ones(()).roll(0, 1),
    "sums of floats in integers": lambda m, x, i: x.cumsum(0, dtype=m.uint8),
    "another dtype in place": lambda m, x, i: i.cumsum_(0, dtype=m.float32),
}


def changed(y, call):
    result = call(y)
    y.mul_(2)
    result.sum().backward()


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    def text(m):
        x, index = m.ones(3, 3, requires_grad=True), m.tensor(INDEX)
        with pytest.raises((RuntimeError, IndexError)) as error:
            REFUSED[name](m, x, index)
        return str(error.value).split("\n")[0].split("[")[0], index.tolist()

    assert text(tenon) == text(torch)


def test_an_index_has_no_derivative():
    for m in (tenon, torch):
        assert not m.ones(()).take_along_dim(m.tensor([], requires_grad=True)).requires_grad


def test_warnings_come_before_errors():
    with pytest.warns(UserWarning, match="The reduce argument of torch.scatter with Tensor src"), pytest.raises(RuntimeError, match="scatter"):
        tenon.ones(1).scatter(0, tenon.ones(1), tenon.ones(1), reduce="floor")


def test_a_rolled_tensor_is_not_a_view():
    for m in (tenon, torch):
        x = m.ones(2, 2, requires_grad=True)
        assert x.roll(1).log_()._is_view() is False and x.roll(1, 0).log_()._is_view() is False


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_gather_into_an_expanded_output_of_another_shape():
    for m in (torch, tenon):
        out = m.tensor([False]).expand(2)
        assert m.gather(m.tensor([True]), 0, m.zeros(1, dtype=m.int64), out=out.detach()).tolist() == [True]
        with pytest.raises(RuntimeError, match="more than one element"):
            m.gather(m.tensor([True]), 0, m.zeros(2, dtype=m.int64), out=out)


@pytest.mark.parametrize("call", [lambda m, c, x: x.index_add(0, m.tensor([0, 1]), c), lambda m, c, x: x.index_add_(0, m.tensor([0, 1], device="meta"), c),
                                  lambda m, c, x: c.index_add(0, m.tensor([0, 1]), x), lambda m, c, x: m.take_along_dim(x, m.tensor([[0, 1]]), 1),
                                  lambda m, c, x: m.take_along_dim(c, m.tensor([[0, 1]], device="meta"))])  # fmt: skip
def test_tensors_of_two_devices(call):
    texts = []
    for m in (torch, tenon):
        with pytest.raises(RuntimeError) as error:
            call(m, m.ones(2, 2), m.ones(2, 2, device="meta"))
        texts.append(str(error.value))
    assert texts[0] == texts[1]


MANY = {
    "scatter_add": lambda m, x, dim, i, s: x.scatter_add(dim, i, s),
    "scatter_add_ of a view": lambda m, x, dim, i, s: m.stack([x, x], -1)[..., 0].scatter_add_(dim, i, s),
    "scatter add": lambda m, x, dim, i, s: x.scatter(dim, i, s, reduce="add"),
    "scatter multiply": lambda m, x, dim, i, s: x.scatter(dim, i, s, reduce="multiply"),
    "scatter add of a number": lambda m, x, dim, i, s: x.scatter(dim, i, 0.1234567, reduce="add"),
    "scatter multiply by a number": lambda m, x, dim, i, s: x.scatter(dim, i, 1.0234567, reduce="multiply"),
    "index_add": lambda m, x, dim, i, s: x.index_add(dim, i[(slice(None),) + (0,) * (x.dim() - 1)] if dim == 0 else i[0].flatten()[: s.shape[dim]] * 0, s),
    "index_add with alpha": lambda m, x, dim, i, s: x.index_add(dim, m.zeros(s.shape[dim], dtype=m.int64), s, alpha=2),
    "index_add of int32": lambda m, x, dim, i, s: x.index_add(dim, m.zeros(s.shape[dim], dtype=m.int32), s),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:The reduce argument")
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("name", MANY)
def test_many_elements_of_16_bits_for_one_place(name, dtype):
    """scatter rounds once, and so does what PyTorch computes by it; other sums are rounded after every addition."""

    def call(m, shape, dim):
        size = list(shape)
        size[dim] = 40
        count = 40 * m.ones(shape).numel() // shape[dim]
        places = (m.arange(count) * 7 % shape[dim]).reshape(size)
        elements = (m.arange(count) * 13 % 29 / 28.0 + 0.25).to(getattr(m, dtype)).reshape(size)
        x = m.full(shape, 2.0, dtype=getattr(m, dtype))
        result = MANY[name](m, x, dim, places, elements)
        return result.tolist(), result._version, result.stride()

    for shape, dim in (((3,), 0), ((3, 2), 0), ((2, 3), 1), ((2, 3, 2), 1), ((1, 3), 1)):
        assert call(tenon, shape, dim) == call(torch, shape, dim)


def test_gradient_of_gather_of_16_bits_is_rounded_once():
    def call(m):
        x = m.ones(2, dtype=m.bfloat16, requires_grad=True)
        (x.gather(0, m.ones(50, dtype=m.int64)) * m.full((50,), 0.004, dtype=m.bfloat16)).sum().backward()
        return x.grad.tolist()

    assert call(tenon) == call(torch)


NOTHING = [
    lambda m, a, i: m.gather(a, 0, i, out=a[:2]), lambda m, a, i: m.gather(a, 0, i, out=a[:]), lambda m, a, i: m.gather(a, 0, i, out=a),
    lambda m, a, i: m.take_along_dim(a, i, 0, out=a[1:]), lambda m, a, i: m.gather(a, 0, i.new_zeros(2), out=a[:2]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(NOTHING)))
def test_gathering_nothing_into_a_view_of_the_operand(number):
    a = judge.tensor([1.0, 2.0, 3.0], "float32")
    judge.same(NOTHING[number], a, judge.tensor([], "int64"))


@pytest.mark.filterwarnings("ignore:The reduce argument")
def test_bytes_as_text():
    assert tenon.ones(2).scatter(0, tenon.tensor([0]), tenon.ones(1), reduce=b"add").tolist() == [2, 1]
    judge.same(lambda m, x: m.div(x, 2, rounding_mode=b"floor"), judge.tensor([1.0, 3.0], "float32"))
    judge.same(lambda m, x: m.div(x, 2, rounding_mode=b"up"), judge.tensor([1.0, 3.0], "float32"))
    with pytest.raises(UnicodeDecodeError):
        tenon.div(tenon.ones(1), 2, rounding_mode=b"f\xff")


@pytest.mark.parametrize("reduce", ["amax", "amin"])
@pytest.mark.parametrize("columns", [1, 9])
def test_extremes_keep_the_first_of_equals(reduce, columns):
    """The sign of a zero says which one is kept. Nine columns are joined as a row."""
    index = judge.view(judge.tensor([[0]], "int64"), lambda x: x.expand(1, columns))
    for kept, given in ((0.0, -0.0), (-0.0, 0.0), (float("nan"), 1.0), (1.0, float("nan"))):
        x, source = judge.tensor([[kept] * columns], "float32"), judge.tensor([[given] * columns], "float32")
        judge.same(lambda m, x, index, source: m.copysign(m.ones(()), x.scatter_reduce(0, index, source, reduce)), x, index, source)
        judge.same(lambda m, x, index, source: x.scatter_reduce(0, index, source, reduce), x, index, source)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8])
def test_many_rows_of_few_columns(columns, dim):
    shape = (2, 700, columns)
    rows = torch.arange(2 * 700 * columns).reshape(shape)
    index = (rows * 7919 + rows // 3) % shape[dim]
    for memory in ((0, 1, 2), (0, 2, 1), (2, 1, 0)):  # the same elements in other orders
        laid = [each.permute(memory).contiguous().permute([memory.index(i) for i in range(3)]) for each in (rows, index, rows * 10)]
        x, i, y = (judge.Both(tenon.from_dlpack(each), each) for each in laid)
        judge.same(lambda m, x, i: m.gather(x, dim, i), x, i)
        judge.same(lambda m, x, i: m.gather(x, dim, i.narrow(2, 0, (columns + 1) // 2)), x, i)
        judge.same(lambda m, x, i, y: x.scatter(dim, i, y), x, i, y)  # the last of several elements stays
        judge.same(lambda m, x, i, y: x.clone().scatter_(dim, i.narrow(1, 0, 2 if dim == 1 else 699), y), x, i, y)
        judge.same(lambda m, x, i, y: x.scatter_add(dim, i, y), x, i, y)
        judge.same(lambda m, x, i: m.index_select(x, dim, m.tensor([0])), x, i)
        judge.same(lambda m, x, i, y: x.index_copy(dim, m.tensor([0]), y.narrow(dim, 1 % shape[dim], 1)), x, i, y)
        judge.same(lambda m, x, i: m.gather(x, dim, i + 1), x, i)


@pytest.mark.parametrize("shape", [(300, 3), (3, 300), (40, 3, 3), (5, 70, 2), (5, 2, 70)])
def test_triangles_of_narrow_matrices(shape):
    elements = torch.arange(torch.Size(shape).numel(), dtype=torch.int32).reshape(shape) + 1
    x = judge.Both(tenon.from_dlpack(elements), elements)
    for diagonal in (-301, -300, -70, -3, -2, -1, 0, 1, 2, 3, 69, 299, 300):
        judge.same(lambda m, x: (x.tril(diagonal), x.clone().triu_(diagonal), x.mT.triu(diagonal)), x)  # noqa: B023


@pytest.mark.parametrize("reduce", ["max", "min", "add", "multiply"])
@pytest.mark.parametrize("include_self", [True, False])
def test_other_words_for_reductions(reduce, include_self):
    x, source, index = judge.tensor([[1.0, -2.0, 3.0]] * 2, "float32"), judge.tensor([[2.0, -3.0, 1.0]], "float32"), judge.tensor([[1, 0, 1]], "int64")
    judge.same(lambda m, x, index, source: x.scatter_reduce(0, index, source, reduce, include_self=include_self), x, index, source)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize("sizes, dim", [((5, 1, 11), 1), ((7, 1), 1), ((1, 9), 0), ((5, 4, 3), 1)])
def test_index_add_of_one_part(dtype, sizes, dim):
    """One place takes a whole part: values, and one write is counted."""
    found = []
    for m in (tenon, torch):
        numbers = m.arange(math.prod(sizes)).reshape(sizes)
        x, part = numbers.to(getattr(m, dtype)), (numbers.narrow(dim, 0, 1) * 3 + 1).to(getattr(m, dtype))
        place = m.tensor([sizes[dim] - 1])
        results = [x.index_add(dim, place, part), x.clone().index_add_(dim, place, part), x.mT.contiguous().mT.index_add_(dim, place, part.mT.contiguous().mT)]
        found.append([[t.to(m.complex128).tolist(), t._version] for t in results])
    assert found[0] == found[1]


@pytest.mark.parametrize("size, stride, offset", [((-1,), (1,), 0), ((2, -1), (1, 1), 0), ((-2, 3), (1, 1), None), ((2,), (-1,), 0), ((2,), (1,), -1)])
@pytest.mark.parametrize("count", [1, 2])
def test_wrong_strides_of_as_strided_scatter(size, stride, offset, count):
    judge.same(lambda m: m.as_strided_scatter(m.arange(6.0), m.ones(count), size, stride, offset))
