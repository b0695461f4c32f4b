"""What the random comparison does not draw: functions that are written in Python, and arguments that depend on each other."""

import itertools
import math

import pytest

pytest.importorskip("torch")

import tenon
import torch

import judge
from judge import same


def numbers(*shape, dtype="float64", seed=0):
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return judge.tensor(values.tolist(), dtype)


V = judge.tensor([1.0, 2.0, 3.0], "float32")
M = numbers(4, 3)
COUNTS, WEIGHTS = judge.tensor([1, 2, 1], "int64"), judge.tensor([0.5, 1.0, 2.0], "float64")

STATISTICS = {
    "cov": lambda m: m.cov(M_of(m), correction=0),
    "cov of frequencies": lambda m: m.cov(M_of(m), fweights=of(m, COUNTS)),
    "cov of weights": lambda m: m.cov(M_of(m), aweights=of(m, WEIGHTS)),
    "cov of both": lambda m: m.cov(M_of(m), fweights=of(m, COUNTS), aweights=of(m, WEIGHTS)),
    "cov of other sizes": lambda m: m.cov(M_of(m), fweights=of(m, COUNTS)[:2]),
    "cov of negative frequencies": lambda m: m.cov(M_of(m), fweights=-of(m, COUNTS)),
    "cov of no weight": lambda m: m.cov(M_of(m), fweights=of(m, COUNTS) * 0),
    "cov of NaN as weights": lambda m: m.cov(M_of(m), aweights=of(m, WEIGHTS) * float("nan")),
    "cov of uint16 frequencies": lambda m: m.cov(M_of(m), fweights=of(m, COUNTS).to(m.uint16)),
    "cov of floats as frequencies": lambda m: m.cov(M_of(m), fweights=of(m, WEIGHTS)),
    "corrcoef": lambda m: m.corrcoef(M_of(m)),
    "corrcoef of one": lambda m: m.corrcoef(of(m, V)),
    "bincount of weights": lambda m: m.bincount(of(m, COUNTS), of(m, WEIGHTS), 5),
    "bincount of other sizes": lambda m: m.bincount(of(m, COUNTS), of(m, WEIGHTS)[:2]),
    "searchsorted by a sorter": lambda m: m.searchsorted(of(m, V).flip(0), of(m, V) + 0.5, sorter=m.tensor([2, 1, 0])),
    "searchsorted by a wrong sorter": lambda m: m.searchsorted(of(m, V), of(m, V), sorter=m.tensor([2, 1, 9])),
    "searchsorted by a sorter without dims": lambda m: m.searchsorted(m.tensor(0.5), of(m, V), sorter=m.tensor(0)),
    "searchsorted by a negative sorter without dims": lambda m: m.searchsorted(m.tensor(0.5), of(m, V), sorter=m.tensor(-1)),
    "searchsorted of a number": lambda m: m.searchsorted(of(m, V), 2.5),
    "searchsorted of a large number": lambda m: m.searchsorted(of(m, V), 2**63),
    "bucketize of a number": lambda m: m.bucketize(2, of(m, V), right=True),
    "bucketize of a number by name": lambda m: m.bucketize(self=1.5, boundaries=of(m, V), out_int32=True),
    "unique": lambda m: m.unique(m.tensor([[3, 1], [2, 3]]), return_inverse=True, return_counts=True),
    "unique of rows": lambda m: m.unique(m.tensor([[3, 1], [2, 3], [3, 1]]), dim=0, return_inverse=True),
    "unique of columns": lambda m: m.tensor([[3, 1, 3], [2, 3, 2]]).unique(dim=1),
    "unique_consecutive": lambda m: m.unique_consecutive(m.tensor([1, 1, 2, 1]), return_counts=True),
    "unique_consecutive of rows": lambda m: m.tensor([[1, 2], [1, 2], [0, 1]]).unique_consecutive(dim=0),
    "cdist by a word": lambda m: m.cdist(M_of(m), M_of(m)[:2], compute_mode="use_mm_for_euclid_dist"),
    "cdist by a wrong word": lambda m: m.cdist(M_of(m), M_of(m), compute_mode="x"),
    "tensordot": lambda m: m.tensordot(M_of(m), M_of(m).t(), 1),
    "tensordot of all": lambda m: m.tensordot(M_of(m), M_of(m), 2),
    "tensordot along pairs": lambda m: m.tensordot(M_of(m), M_of(m), ([0], [0])),
    "tensordot along a pair of numbers": lambda m: m.tensordot(M_of(m), M_of(m), (0, 0)),
    "tensordot along dims of a tensor": lambda m: m.tensordot(M_of(m), M_of(m), m.tensor([[0], [0]])),
    "tensordot along more dims of a tensor": lambda m: m.tensordot(M_of(m), M_of(m), m.tensor([[0], [0], [1]])),
    "tensordot of too many dims in a tensor": lambda m: m.tensordot(M_of(m), M_of(m), m.tensor(3)),
    "tensordot of too many dims": lambda m: m.tensordot(M_of(m), M_of(m), 3),
    "tensordot of other sizes": lambda m: m.tensordot(M_of(m), M_of(m), ([0], [1])),
    "chain_matmul of one matrix": lambda m: m.chain_matmul(M_of(m)[:, :1]),
    "chain_matmul": lambda m: m.chain_matmul(M_of(m), M_of(m).t(), M_of(m)),
    "multi_dot": lambda m: m.linalg.multi_dot([M_of(m)[0], M_of(m).t(), M_of(m), M_of(m)[1]]),
    "multi_dot of other sizes before a vector": lambda m: m.linalg.multi_dot([M_of(m), M_of(m), of(m, V), M_of(m)]),
    "multi_dot of another dtype before a vector": lambda m: m.linalg.multi_dot([M_of(m), M_of(m).t().float(), of(m, V), M_of(m)]),
    "multi_dot of a last tensor with three dims": lambda m: m.linalg.multi_dot([M_of(m), M_of(m), M_of(m)[None]]),
}


def of(m, both):
    return both.ours if m is tenon else both.theirs


def M_of(m):
    return of(m, M)


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics(name):
    same(STATISTICS[name], exact=False)


A, B, C, D = numbers(2, 3), numbers(3, 4, seed=1), numbers(5, 2, 3, seed=2), numbers(3, 3, seed=3)
EQUATIONS = {
    "ij,jk->ik": (A, B), "ij,jk": (A, B), "ij->ji": (A,), "ij->": (A,), "ii": (D,), "ii->i": (D,), "i...->...": (C,), "...ij->...ji": (C,), "bij,jk->bik": (C, B),
    "...ij,...jk->...ik": (C, B), "bij,bij->b": (C, C), "ij,jk,li->lk": (A, B, numbers(6, 2)), " i j , j k -> k i ": (A, B), "ij,kl->ijkl": (A, B),
    "bij,ij->bij": (C, A), "ij,ij,ij->i": (A, A, A), "ij,jk,kl": (A, B), "ij": (A, B), "i,ij": (A, B), "ij->k": (A,), "ij->ii": (A,), "i1": (A,), "ij.": (A,), "......": (A,),
    "ij,jk->ikl": (A, B), "ij,ij": (A, B), "ijk": (A,), "...": (A,), "ij,...": (A, B), "ii->": (A,),
}  # fmt: skip


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation):
    # The strides of a result depend on the order of the products.
    same(lambda m, *operands: m.einsum(equation, *operands).contiguous(), *EQUATIONS[equation], exact=False, any_mistake=equation in ("ij,ij",))


def test_einsum_of_lists():
    same(lambda m, a, b: m.einsum(a, [0, 1], b, [1, 2], [2, 0]).contiguous(), A, B, exact=False)
    same(lambda m, a, b: m.einsum(a, [..., 1], b, [1, 2]).contiguous(), A, B, exact=False)
    same(lambda m, a: m.einsum(a, [0, 60]), A)
    same(lambda m, a, b: m.einsum("ij,jk", [a, b]).contiguous(), A, B, exact=False)
    same(lambda m: m.einsum("ij"))


def F(m):
    return m.nn.functional


X, W3, B3 = numbers(4, 3, 5), numbers(3, seed=5), numbers(3, seed=6)
LAST, LAST_BIAS = numbers(5, seed=7), numbers(5, seed=8)
Q, K, VALUES = numbers(2, 4, 3), numbers(2, 6, 3, seed=9), numbers(2, 6, 5, seed=10)
FUNCTIONS = {
    "softmax": (lambda m, x: F(m).softmax(x, 1), X),
    "softmax without dim": (lambda m, x: F(m).softmax(x), X),
    "softmin": (lambda m, x: F(m).softmin(x, -1), X),
    "softmin without dim": (lambda m, x: F(m).softmin(x), A),
    "log_softmax": (lambda m, x: F(m).log_softmax(x, 2), X),
    "log_softmax in another dtype": (lambda m, x: F(m).log_softmax(x.detach(), 0, dtype=m.float32), X),
    "special.softmax": (lambda m, x: m.special.softmax(x, 0), X),
    "normalize": (lambda m, x: F(m).normalize(x), X),
    "normalize by 1": (lambda m, x: F(m).normalize(x, 1, -1), X),
    "layer_norm": (lambda m, x, w, b: F(m).layer_norm(x, (5,), w, b), X, LAST, LAST_BIAS),
    "layer_norm of two dims": (lambda m, x: F(m).layer_norm(x, (3, 5), eps=0.1), X),
    "layer_norm of other sizes": (lambda m, x: F(m).layer_norm(x, (3,)), X),
    "layer_norm of no dims": (lambda m, x: F(m).layer_norm(x, ()), X),
    "rms_norm": (lambda m, x, w: F(m).rms_norm(x, (5,), w), X, LAST),
    "group_norm": (lambda m, x, w, b: F(m).group_norm(x, 3, w, b), X, W3, B3),
    "group_norm of one": (lambda m, x: F(m).group_norm(x, 1), X),
    "group_norm of groups that do not fit": (lambda m, x: F(m).group_norm(x, 2), X),
    "batch_norm": (lambda m, x, w, b: F(m).batch_norm(x, None, None, w, b, training=True), X, W3, B3),
    "batch_norm without statistics": (lambda m, x: F(m).batch_norm(x, None, None), X),
    "instance_norm": (lambda m, x, w, b: F(m).instance_norm(x, None, None, w, b), X, W3, B3),
    "instance_norm of weights alone": (lambda m, x, w: F(m).instance_norm(x, weight=w), X, W3),
    "group_norm of images": (lambda m, x, w, b: F(m).group_norm(x, 2, w, b), numbers(2, 4, 5, 6), numbers(4), numbers(4, seed=1)),
    "group_norm of one element": (lambda m, x: F(m).group_norm(x[:1, :, 0], 3), X),
    "rms_norm without weight": (lambda m, x: F(m).rms_norm(x, (3, 5), eps=0.1), X),
    "unfold": (lambda m, x: F(m).unfold(x, (2, 3), (2, 1), 1, (1, 2)), numbers(2, 3, 5, 6)),
    "unfold of one image": (lambda m, x: F(m).unfold(x, 2), numbers(3, 5, 6)),
    "unfold of larger blocks": (lambda m, x: F(m).unfold(x, 7), numbers(2, 3, 5, 6)),
    "unfold without steps": (lambda m, x: F(m).unfold(x, 2, stride=0), numbers(2, 3, 5, 6)),
    "fold": (lambda m, x: F(m).fold(x, (5, 6), 2), numbers(2, 12, 20)),
    "fold with gaps": (lambda m, x: F(m).fold(x, (7, 6), (2, 3), (2, 1), 1, (1, 2)), numbers(2, 12, 21)),
    "fold of other sizes": (lambda m, x: F(m).fold(x, (5, 7), 2), numbers(2, 12, 20)),
    "linear": (lambda m, x, w, b: F(m).linear(x, w, b), X, numbers(2, 5), numbers(2)),
    "bilinear": (lambda m, x, y, w: F(m).bilinear(x, y, w), A, numbers(2, 4), numbers(6, 3, 4)),
    "cosine_similarity": (lambda m, x, y: F(m).cosine_similarity(x, y), A, numbers(2, 3, seed=4)),
    "pairwise_distance": (lambda m, x, y: F(m).pairwise_distance(x, y), A, numbers(2, 3, seed=4)),
    "pdist": (lambda m, x: F(m).pdist(x), M),
    "cdist": (lambda m, x, y: m.cdist(x, y, 3.0), M, A),
    "cdist by 2": (lambda m, x, y: m.cdist(x, y), M, A),
    "dist": (lambda m, x, y: m.dist(x, y, 3), A, numbers(2, 3, seed=4)),
    "embedding": (lambda m, w: F(m).embedding(m.tensor([[1, 0], [3, 1]]), w, padding_idx=0), M),
    "embedding by how often": (lambda m, w: F(m).embedding(m.tensor([[1, 0], [3, 1]]), w, scale_grad_by_freq=True), M),
    "dropout in evaluation": (lambda m, x: F(m).dropout(x, 0.5, False) * 1, X),
    "dropout of all": (lambda m, x: F(m).dropout(x, 1.0), X),
    "attention": (lambda m, q, k, v: F(m).scaled_dot_product_attention(q, k, v), Q, K, VALUES),
    "attention to the past": (lambda m, q, k, v: F(m).scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5), Q, K, VALUES),
    "attention with a mask": (lambda m, q, k, v: F(m).scaled_dot_product_attention(q, k, v, m.ones(4, 6, dtype=m.bool).triu(-1)), Q, K, VALUES),
    "logcumsumexp": (lambda m, x: m.logcumsumexp(x, 1), X),
    "cumprod": (lambda m, x: m.cumprod(x, 1), X),
    "cumprod with zeros": (lambda m, x: m.cumprod(x * m.tensor([[1.0], [0.0], [1.0]], dtype=m.float64), 1), X),
    "cumprod with more zeros": (lambda m, x: m.cumprod(x * m.tensor([1.0, 0, 0.5, 0, 1], dtype=m.float64), 2), X),
    "renorm": (lambda m, x: m.renorm(x, 2, 0, 1.5), M),
    "trace": (lambda m, x: m.trace(x), D),
    "median": (lambda m, x: m.median(x), X),
    "median along a dim": (lambda m, x: m.median(x, 1).values, X),
    "quantile": (lambda m, x: m.quantile(x, 0.3, 1), X),
    "quantiles": (lambda m, x: m.nanquantile(x, m.tensor([0.3, 0.8], dtype=m.float64), 1, True), X),
    "kthvalue": (lambda m, x: m.kthvalue(x, 2, 1).values, X),
    "mode": (lambda m, x: m.mode(x, 1).values, X),
    "cov": (lambda m, x: m.cov(x), M),
    "corrcoef": (lambda m, x: m.corrcoef(x), M),
    "trapezoid": (lambda m, x: m.trapezoid(x, dx=0.5, dim=1), X),
    "trapezoid at places": (lambda m, y, x: m.trapezoid(y, x), M, numbers(3)),
    "cumulative_trapezoid": (lambda m, x: m.cumulative_trapezoid(x, dim=0), X),
    "diff": (lambda m, x: m.diff(x, 2, 1), X),
    "linalg.cross": (lambda m, x, y: m.linalg.cross(x, y), M, numbers(4, 3, seed=3)),
    "linalg.vecdot": (lambda m, x, y: m.linalg.vecdot(x, y), M, numbers(4, 3, seed=3)),
    "matrix_power": (lambda m, x: m.matrix_power(x, 5), D),
    "kron": (lambda m, x, y: m.kron(x, y), A, B),
    "addbmm": (lambda m, x, y, z: m.addbmm(x, y, z, beta=2, alpha=0.5), numbers(2, 4), numbers(5, 2, 3), numbers(5, 3, 4)),
    "addr": (lambda m, x, y, z: m.addr(x, y, z, beta=2, alpha=0.5), A, numbers(2), numbers(3)),
    "einsum": (lambda m, x, y: m.einsum("ij,jk->ki", x, y).contiguous(), A, B),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    """The result, and the gradients of all operands."""
    call, *operands = FUNCTIONS[name]

    def derived(m, *operands):
        leaves = [operand.clone().requires_grad_() for operand in operands]
        result = call(m, *leaves)
        if not result.requires_grad:
            return result
        weights = m.arange(1, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
        return [result.detach(), *[grad.contiguous() for grad in m.autograd.grad((result * weights).sum(), leaves)]]

    same(derived, *operands, exact=False)


NORMS = {
    "layer_norm": lambda m, x, w, b: F(m).layer_norm(x, (3,), w, b),
    "group_norm": lambda m, x, w, b: F(m).group_norm(x, 1, w, b),
    "rms_norm": lambda m, x, w, b: F(m).rms_norm(x, (3,), w),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("dtype", ["int32", "bool", "float16", "bfloat16", "float32", "float64"])
def test_norms_of_dtypes(name, dtype):
    """Results, or the errors of dtypes that do not belong together."""
    x = judge.view(numbers(4, 3), lambda x: x.to(getattr(tenon if isinstance(x, tenon.Tensor) else torch, dtype)))
    torch.set_warn_always(True)
    try:
        for weight in (None, "float32", "bfloat16", "float64", "int64"):
            for bias in (None, "float32", "bfloat16"):
                w, b = (other and numbers(3, dtype=other) for other in (weight, bias))
                same(lambda m, x: NORMS[name](m, x, *(other and of(m, other) for other in (w, b))), x, exact=None)
    finally:
        torch.set_warn_always(False)


FLAT = {
    "relu": lambda m, x: F(m).relu(x),
    "relu6": lambda m, x: F(m).relu6(x),
    "hardtanh": lambda m, x: F(m).hardtanh(x),
    "leaky_relu": lambda m, x: F(m).leaky_relu(x),
    "threshold": lambda m, x: F(m).threshold(x, 0.1, 20),
    "softshrink": lambda m, x: F(m).softshrink(x),
    "hardshrink": lambda m, x: F(m).hardshrink(x),
    "rrelu": lambda m, x: F(m).rrelu(x),
    "pad by reflection": lambda m, x: F(m).pad(x, (1, 1), "reflect"),
    "pad by the outermost": lambda m, x: F(m).pad(x, (1, 1), "replicate"),
    "pad by a number": lambda m, x: F(m).pad(x, (1, 1)),
    "nll_loss": lambda m, x: F(m).nll_loss(x[:, :, 0].log_softmax(1), m.tensor([0, 1, 2, 0])),
}


@pytest.mark.parametrize("name", FLAT)
def test_second_derivatives_that_are_zero(name):
    """Constant gradients require grad where PyTorch's do."""

    def twice(m, x):
        x = x.clone().requires_grad_()
        (first,) = m.autograd.grad(FLAT[name](m, x).sum(), x, create_graph=True)
        return [first.requires_grad, first.detach()] + ([m.autograd.grad(first.sum(), x)[0]] if first.requires_grad else [])

    same(twice, X, exact=False)


def test_complex_logits_have_no_gradient():
    def loss(m, x, y, grad):
        return m.view_as_real(F(m).binary_cross_entropy_with_logits(x.clone().requires_grad_(grad), m.complex(y, x)))

    for grad in (False, True):
        same(loss, numbers(2, 3), numbers(2, 3, seed=1), grad, exact=False)


def test_batch_norm_updates_statistics():
    mean, var = judge.tensor([0.0, 0.5, 1.0], "float64"), judge.tensor([1.0, 2.0, 0.5], "float64")
    same(lambda m, x, mean, var: F(m).batch_norm(x, mean, var, training=True, momentum=0.3), X, mean, var, exact=False)
    same(lambda m, x, mean, var: F(m).batch_norm(x, mean, var), X, mean, var, exact=False)
    same(lambda m, x, mean, var: F(m).instance_norm(x, mean, var, momentum=0.3), X, mean, var, exact=False)


def test_gradients_of_weights_beside_large_means():
    x = tenon.arange(96.0).sin().reshape(32, 3) + 1e4
    weight = tenon.ones(3).requires_grad_()
    F(tenon).batch_norm(x, tenon.full((3,), 1e4), tenon.ones(3), weight, tenon.zeros(3), eps=1e-9).sum().backward()
    assert (weight.grad.double() - (x.double() - 1e4).sum(0)).abs().max() < 1e-5


LAYOUTS = {
    "row-major": lambda m: m.ones(4, 3, 2, 5),
    "permuted": lambda m: m.ones(2, 3, 4).transpose(0, 2),
    "channels last": lambda m: m.ones(4, 3, 2, 5).contiguous(memory_format=m.channels_last),
    "every second": lambda m: m.ones(4, 3, 10)[..., ::2],
    "a row for each column": lambda m: m.ones(3, 4).t(),
    "dims of size 1 with other strides": lambda m: m.ones(1, 3, 2, 1, 3).permute(3, 4, 1, 2, 0)[0].unsqueeze(0),
    "one row of channels last": lambda m: m.ones(2, 5, 1, 3).permute(2, 3, 0, 1),
    "one place, both formats": lambda m: m.ones(2, 1, 1, 3).permute(0, 3, 1, 2),
    "planes of one voxel": lambda m: m.ones(2, 1, 4, 1, 3).permute(1, 4, 3, 0, 2),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("differentiated", [False, True])
def test_strides_of_batch_norm(name, training, dtype, differentiated):
    def strides(m):
        x = LAYOUTS[name](m).to(getattr(m, dtype)).requires_grad_(differentiated)
        numbers = [m.ones(3, dtype=x.dtype) for _ in range(4)]
        return F(m).batch_norm(x, *numbers, training=training).stride()

    assert strides(tenon) == strides(torch)


@pytest.mark.parametrize("sizes, strides", [
    ((3, 5, 1, 1), (5, 1, 5, 5)), ((1, 5, 1, 2), (10, 1, 10, 5)), ((3, 1, 2, 2), (4, 1, 2, 1)), ((3, 5, 1, 1, 1), (5, 1, 5, 5, 5)),
    ((3, 5, 1, 1), (5, 1, 1, 1)), ((3, 5, 2, 2), (20, 1, 10, 5)),
])
@pytest.mark.parametrize("training", [False, True])
def test_gradients_of_batch_norm_keep_strides(sizes, strides, training):
    def gradient(m):
        x = m.empty_strided(sizes, strides).copy_(m.arange(1.0, 1 + math.prod(sizes)).view(sizes)).requires_grad_()
        F(m).batch_norm(x, m.zeros(sizes[1]), m.ones(sizes[1]), training=training).sum().backward()
        return x.grad

    assert gradient(tenon).stride() == gradient(torch).stride()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64"])
def test_dtypes_of_batch_norm(dtype, training):
    def call(m, kinds):
        weight, bias, mean, var = (None if kind is None else m.ones(3, dtype=getattr(m, kind)) for kind in kinds)
        input = m.arange(24).reshape(4, 3, 2).to(getattr(m, dtype))
        return F(m).batch_norm(input, mean, var, weight, bias, training=training).dtype

    for affine in itertools.product((None, "float32", "float64"), repeat=2):
        for running in ((None, None), (None, "float32"), *itertools.product(("float16", "float32", "float64"), repeat=2)):
            same(call, (*affine, *running))


NORMS = [
    lambda m: F(m).batch_norm(m.ones(4, 3, 2), None, m.ones(3), training=True),
    lambda m: F(m).batch_norm(m.ones(4, 3, 2), m.ones(3), None, training=True),
    lambda m: F(m).batch_norm(m.ones(4, 3, 2), m.ones(3), None, m.ones(5), training=True),
    lambda m: F(m).batch_norm(m.ones(4, 3, 2), m.ones(3), None),
    lambda m: F(m).batch_norm(m.ones(0, 3, 2), m.ones(3), None, training=True),
    lambda m: F(m).batch_norm(m.ones(0, 3, 2, dtype=m.int64), None, None, m.ones(5), m.ones(2), training=True),
    lambda m: F(m).batch_norm(m.ones(3), None, None, training=True),
    lambda m: F(m).batch_norm(m.ones(3, dtype=m.int64), None, None, training=True),
    lambda m: F(m).batch_norm(m.ones(3, dtype=m.int64), m.ones(0), m.ones(0)),
    *(lambda m, e=e, t=t: F(m).batch_norm(m.ones(4, 3), m.ones(3), m.ones(3), training=t, eps=e) for e in (0, 0.0, -1, -1e-3) for t in (True, False)),
    lambda m: F(m).batch_norm(m.ones(1, 3), None, None, training=True, eps=-1),
    lambda m: F(m).batch_norm(m.ones(3), m.ones(5), None, eps=-1),
    *(lambda m, n=n, e=e: m.batch_norm(m.ones(n, 3), None, None, m.zeros(3), m.ones(3), True, 0.1, e, False) for n in (1, 2) for e in (0.0, -1.0)),
    lambda m: F(m).instance_norm(m.arange(24.0).reshape(3, 2, 4), eps=0),
    lambda m: F(m).instance_norm(m.arange(24.0).reshape(3, 2, 4), m.ones(2), m.ones(2), eps=-0.5),
    lambda m: F(m).instance_norm(m.ones(3, 2, 4), m.ones(2), None),
    *(lambda m, d=d, s=s: F(m).local_response_norm(m.ones(s, dtype=getattr(m, d)), 2)
      for d in ("float16", "bfloat16", "int32") for s in ((2, 3, 4), (2, 3, 4, 5), (2, 3, 4, 5, 2))),
]  # fmt: skip


@pytest.mark.parametrize("call", NORMS)
def test_norms_refuse(call):
    same(call, exact=False)


@pytest.mark.parametrize("uses_input", [True, False])
@pytest.mark.parametrize("shape", [(0, 1, 4, 2), (3, 4, 0, 0), (2, 4, 3)], ids=str)
def test_statistics_of_instance_norm(shape, uses_input):
    def call(m, size):
        mean, var = m.full((size,), 0.1), m.full((size,), 0.3)
        return F(m).instance_norm(m.zeros(shape), mean, var, use_input_stats=uses_input), mean, var

    for size in (4, 5):
        same(call, size, exact=False)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "uint8", "complex64"])
def test_dtypes_of_histogramdd(dtype):
    def call(m, range, weight, bins):
        x = m.tensor([[0.0, 0.25], [0.5, 1.0], [0.75, 2.0], [0.3, 0.6]]).to(getattr(m, dtype))
        return tuple(m.histogramdd(x, [bins, 2], range=range, weight=None if weight is None else m.ones(4, dtype=getattr(m, weight)))[0])

    for range in (None, [0.0, 1.0, 0.0, 1.0], [0.1, 2.8, 0.0, 1.0], [0.0, 1.0], [1.0, 0.0, 0.0, 1.0]):
        for weight in (None, "float32"):
            for bins in (0, 5):
                same(call, range, weight, bins)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_histogramdd_counts_between_its_edges(dtype):
    x = judge.view(numbers(400, 1), lambda x: x.to(getattr(tenon if isinstance(x, tenon.Tensor) else torch, dtype)))
    for bins in (3, 6, 9):
        same(lambda m, x: tuple(m.histogramdd((x * 4).round() / 4, [bins], range=[0.1, 2.8])[0]), x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (7, 1), (3, 5), (40, 3), (2, 47), (2, 48), (3, 1000), (2, 20000), (2, 3, 4), (3, 600, 2), (2, 70, 33)], ids=str)
def test_softmax_of_all_widths(shape, dtype):
    x = judge.view(numbers(*shape), lambda x: (x * 5).to(getattr(tenon if isinstance(x, tenon.Tensor) else torch, dtype)))
    for dim in range(-len(shape), 0):
        same(lambda m, x: m.softmax(x, dim), x, exact=False if dtype in ("float32", "float64") else None)
        if dtype in ("float32", "float64"):
            same(lambda m, x: m.log_softmax(x, dim), x, exact=False)
        else:  # PyTorch rounds the logarithm of the sum to 16 bits, Tenon only the result
            same(lambda m, x: m.log_softmax(x.float(), dim).to(x.dtype) if m is torch else m.log_softmax(x, dim), x, exact=None)


def test_dropout_keeps_about_as_many():
    result = F(tenon).dropout(tenon.ones(10000), 0.25)
    assert 7200 < int((result != 0).sum()) < 7800
    assert set(result.unique().tolist()) == {0.0, float(tenon.tensor(1 / 0.75))}


@pytest.mark.parametrize("equation, shapes", [
    ("i,i->", [(3,), (3,)]), ("ij,jk", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 4)]), ("ij->ji", [(2, 3)]), ("ij->i", [(2, 3)]),
    ("ii->", [(3, 3)]), ("ii->i", [(3, 3)]), ("ij->ij", [(2, 3)]), ("i,j->ij", [(2,), (3,)]), ("ij,j->ij", [(2, 3), (3,)]), ("j,ij->ij", [(3,), (2, 3)]),
    ("ij,ij->", [(2, 3), (2, 3)]), ("bd,bkd->bk", [(2, 3), (2, 4, 3)]), ("...ij,...jk->...ik", [(2, 2, 3), (2, 3, 4)]), ("i,i,i->i", [(3,), (3,), (3,)]),
])  # fmt: skip
def test_einsum_has_the_node_of_its_last_step(equation, shapes):
    def call(m):
        result = m.einsum(equation, *[m.ones(*shape, requires_grad=True) for shape in shapes])
        return result.grad_fn.name(), result.stride(), result.tolist()

    assert call(tenon) == call(torch)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("layout", ["row major", "channels last", "permuted", "every other"])
@pytest.mark.parametrize("sizes", [(6, 5), (4, 3, 7), (2, 17, 6, 5), (3, 2, 2, 3, 4)], ids=str)
def test_batch_norm_in_training(sizes, layout, dtype):
    """Elements, strides, dtypes and running numbers, with and without history."""
    torch.manual_seed(len(sizes))
    numbers = torch.randn(math.prod(sizes)).tolist(), torch.rand(sizes[1]).tolist(), torch.rand(sizes[1]).tolist()

    def call(m, records):
        of = lambda values: m.tensor(values, dtype=getattr(m, dtype))
        x = of(numbers[0]).reshape(sizes)
        if layout == "channels last" and len(sizes) == 4:
            x = x.contiguous(memory_format=m.channels_last)
        if layout == "permuted":
            x = of(numbers[0]).reshape(sizes[::-1]).permute(*range(len(sizes))[::-1])
        if layout == "every other":
            x = m.cat([x, x], -1)[..., ::2]
        weight, bias, mean, var = of(numbers[1]).requires_grad_(records), of(numbers[2]), of(numbers[2]), of(numbers[1])
        results = [m.nn.functional.batch_norm(x, mean, var, weight, bias, True, 0.3), mean, var]
        results += [m.nn.functional.batch_norm(x * 0 + 3, None, None, None, None, True, eps=1e-3)]
        return [result.detach() for result in results]

    for records in (False, True):
        ours, theirs = call(tenon, records), call(torch, records)
        for got, want in zip(ours, theirs):
            assert str(got.dtype).split(".")[1] == str(want.dtype).split(".")[1]
            close = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
            assert torch.allclose(torch.tensor(got.double().tolist(), dtype=torch.float64), want.double(), rtol=close, atol=close)
        if not records or layout in ("row major", "channels last"):
            assert ours[0].stride() == theirs[0].stride()
    assert tenon.nn.functional.batch_norm(tenon.ones(2, 3, device="meta"), None, None, training=True).shape == (2, 3)
