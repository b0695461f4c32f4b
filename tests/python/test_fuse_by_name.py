"""Functions that people write by hand, in tenon.fuse: their values, gradients and passes."""

import pytest
import tenon
from memory import most_anonymous


def rms_norm(x, weight):
    return x * ((x * x).mean(-1, keepdim=True) + 1e-6).rsqrt() * weight


def cosine_similarity(x, y):
    return (x * y).sum(-1) / ((x * x).sum(-1).sqrt() * (y * y).sum(-1).sqrt()).clamp(min=1e-8)


def log_softmax(x):
    shifted = x - x.amax(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()


def min_max(x):
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return (x - low) / (high - low)


def min_max_of_all(x):
    low, high = x.min(), x.max()
    return (x - low) / (high - low)


def normalised_columns(x):
    return (x - x.mean(0)) / (x * x).mean(0).sqrt()


def huber(x, y):
    d = (x - y).abs()
    return tenon.where(d < 1, 0.5 * d * d, d - 0.5).mean()


def swiglu(x, y):
    return x * tenon.sigmoid(x) * y


def cross_entropy(x, y):
    return -(y * log_softmax(x)).sum(-1).mean()


def rotated(x, y):
    """Pairs of elements turned by the angles `y`."""
    even, odd = x[..., ::2], x[..., 1::2]
    return tenon.stack([even * y.cos() - odd * y.sin(), even * y.sin() + odd * y.cos()], -1).flatten(-2)


#        function, sizes of the operands beside [rows, columns] as functions of these, passes
CASES = [
    (rms_norm, [lambda n, m: (m,)], 1),
    (cosine_similarity, [lambda n, m: (n, m)], 1),
    (log_softmax, [], 1),
    (min_max, [], 1),
    (min_max_of_all, [], 3),
    (normalised_columns, [], 3),
    (huber, [lambda n, m: (n, m)], 1),
    (swiglu, [lambda n, m: (n, m)], 1),
    (cross_entropy, [lambda n, m: (n, m)], 2),
    (rotated, [lambda n, m: (n, m // 2)], None),
]
IDS = [case[0].__name__ for case in CASES]


def operands(rows, columns, others, dtype, requires_grad=False):
    sizes = [(rows, columns), *[size(rows, columns) for size in others]]
    return [(tenon.rand(size, dtype=dtype) + 0.5).requires_grad_(requires_grad) for size in sizes]


@pytest.mark.parametrize(("function", "others", "passes"), CASES, ids=IDS)
def test_values(function, others, passes):
    """Bit for bit, but for sums over rows, whose order is another one."""
    for dtype, near in ((tenon.float64, 1e-13), (tenon.float32, 2e-5), (tenon.bfloat16, 2e-2)):
        for rows, columns in ((1, 2), (4, 6), (33, 258), (700, 1002)):
            given = operands(rows, columns, others, dtype)
            eager, fused = function(*given), tenon.fuse(function)(*given)
            assert (fused.dtype, fused.shape, fused.stride()) == (eager.dtype, eager.shape, eager.stride())
            if function in (min_max, min_max_of_all, swiglu, rotated):
                assert tenon.equal(fused, eager)
            assert tenon.allclose(fused, eager, rtol=near, atol=near, equal_nan=True)


@pytest.mark.parametrize(("function", "others", "passes"), CASES, ids=IDS)
def test_gradients(function, others, passes):
    fused = tenon.fuse(function)
    for rows, columns in ((3, 4), (700, 1002)):
        given = operands(rows, columns, others, tenon.float64, requires_grad=True)
        seed = tenon.rand_like(function(*given).detach())
        wanted = tenon.autograd.grad(function(*given), given, seed)
        result = fused(*given)
        if function is not rotated:
            assert result.grad_fn.name() == "FusedBackward"
        for one, other in zip(tenon.autograd.grad(result, given, seed), wanted):
            assert one.shape == other.shape and tenon.allclose(one, other, rtol=1e-9, atol=1e-12)
    small = operands(2, 4, others, tenon.float64, requires_grad=True)
    assert tenon.autograd.gradcheck(fused, small)
    assert tenon.autograd.gradgradcheck(fused, small)


@pytest.mark.parametrize(("function", "others", "passes"), [case for case in CASES if case[2]], ids=[case[0].__name__ for case in CASES if case[2]])
def test_passes(function, others, passes):
    given = operands(700, 1002, others, tenon.float32)
    assert tenon.fuse(function).passes(*given) == passes


@pytest.mark.without_asan("AddressSanitizer keeps freed memory")
@pytest.mark.parametrize("both_ways", [False, True])
def test_gradients_of_broadcasts_are_reduced_where_they_are_computed(both_ways):
    """The gradients of a row and a column of 8192 x 4096 elements take no matrix: 128 MB for each op otherwise."""
    a, row, column = tenon.rand(8192, 4096), tenon.rand(4096, requires_grad=True), (tenon.rand(8192, 1) + 1).requires_grad_()
    chain = tenon.fuse(lambda a, row, column: tenon.clamp((a - row) / column * 2 + 1, -5, 1.5).sum())

    def gradients():
        result = chain(a, row, column)
        return tenon.autograd.grad(result, (row, column) if both_ways else (row,))

    chain(a[:4], row, column[:4]).backward()
    row.grad = column.grad = None
    found, taken = most_anonymous(gradients)
    wanted = tenon.autograd.grad(tenon.clamp((a - row) / column * 2 + 1, -5, 1.5).sum(), (row, column) if both_ways else (row,))
    for one, other in zip(found, wanted):
        assert tenon.allclose(one, other, rtol=1e-4, atol=1e-3)
    assert taken < 32 << 20
