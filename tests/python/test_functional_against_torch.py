"""tenon.nn.functional beside torch.nn.functional: values, gradients, second gradients, nodes, errors and warnings."""

import math

import pytest

torch = pytest.importorskip("torch")

import tenon
import tenon.nn.functional

import judge
from judge import same

FLOATS = ("float16", "bfloat16", "float32", "float64")
POINTS = [-300.0, -100.0, -30.0, -5.0, -3.0, -2.5, -1.0, -0.4, -0.1, 0.0, 0.1, 0.3, 1.0, 2.5, 3.0, 4.5, 6.0, 7.0, 19.9, 20.1, 30.0, 100.0]

# name: (the call, whether it has a second derivative in PyTorch)
ACTIVATIONS = {name: lambda f, x, name=name: getattr(f, name)(x) for name in """
    relu relu6 leaky_relu elu selu celu gelu silu mish softplus logsigmoid hardsigmoid hardswish hardtanh hardshrink softshrink tanhshrink softsign
    rrelu glu""".split()}  # fmt: skip
INPLACE = "relu relu6 leaky_relu elu selu celu silu mish hardsigmoid hardswish hardtanh rrelu".split()
ACTIVATIONS |= {name + ", in place": lambda f, x, name=name: getattr(f, name)(x * 1, inplace=True) for name in INPLACE}
ACTIVATIONS |= {name: lambda f, x, name=name: getattr(f, name)(x * 1) for name in "relu_ leaky_relu_ elu_ selu_ celu_ hardtanh_ rrelu_".split()}
ACTIVATIONS |= {
    "gelu by tanh": lambda f, x: f.gelu(x, approximate="tanh"),
    "threshold": lambda f, x: f.threshold(x, 0.2, 3),
    "threshold, in place": lambda f, x: f.threshold(x * 1, 0.2, 3, inplace=True),
    "threshold_": lambda f, x: f.threshold_(x * 1, 0.2, 3),
    "celu of 2.5": lambda f, x: f.celu(x, 2.5),
    "elu of 2.5": lambda f, x: f.elu(x, alpha=2.5),
    "softplus of 2.5": lambda f, x: f.softplus(x, 2.5, 12),
    "leaky_relu of 0.3": lambda f, x: f.leaky_relu(x, 0.3),
    "hardtanh to 3.5": lambda f, x: f.hardtanh(x, -2, 3.5),
    "rrelu between bounds": lambda f, x: f.rrelu(x, 0.25, 0.5),
    "hardshrink of 2": lambda f, x: f.hardshrink(x, 2),
    "softshrink of 2": lambda f, x: f.softshrink(x, 2),
    "glu along a dim": lambda f, x: f.glu(x.reshape(2, 11), 0),
    "glu of half": lambda f, x: f.glu(x.reshape(11, 2)),
}
# PyTorch has no second derivative of hardsigmoid; in float32 that of its mish is NaN from 89 on.
FIRST_ONLY = ("hardsigmoid", "hardsigmoid, in place")


def derived(m, call, *leaves, second=True):
    """The name of the result's node, the result, its gradients, and theirs."""
    leaves = [leaf.clone().requires_grad_() if leaf.is_floating_point() else leaf for leaf in leaves]
    result = call(m.nn.functional, *leaves)
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    grads = m.autograd.grad((result * result).sum(), wanted, create_graph=True, allow_unused=True)
    grads = [grad for grad in grads if grad is not None]
    parts = [result, *grads]
    differentiable = [grad for grad in grads if grad.requires_grad]
    if second and differentiable:
        again = m.autograd.grad(sum((grad * grad).sum() for grad in differentiable), wanted, allow_unused=True)
        parts += [grad for grad in again if grad is not None]
    return result.grad_fn.name(), [part.detach().contiguous() for part in parts]


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activation(name, dtype):
    points = [point for point in POINTS if dtype == "float64" or point < 80 or not name.startswith("mish")]
    if len(points) % 2:
        points = points[1:]
    x = judge.tensor(points, dtype)
    if name == "glu along a dim" or name == "glu of half":
        x = judge.tensor(POINTS, dtype)
    # PyTorch's gelu has few correct digits, or none, far below 0: absolute errors are compared. Those of the second
    # derivative by tanh are 1e-5 in float32.
    second = name not in FIRST_ONLY and (name, dtype) != ("gelu by tanh", "float32")
    # The slope of glu holds 1 - sigmoid, of which few digits are left in float32: here a bit of the sigmoid is 1e-3 of it.
    same(derived, ACTIVATIONS[name], x, exact=None if (name[:3], dtype) == ("glu", "float32") else False, second=second)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", judge.DTYPES + ("uint16", "complex64"))
def test_dtype_of_activation(name, dtype):
    values = [True, False, True, True] if dtype == "bool" else [2, 0, 1, 3] if dtype.startswith("u") else [-2, 0, 1, 3]
    x = judge.tensor(values, dtype)
    x = judge.view(x, lambda x: x.reshape(2, 2)) if "glu" in name else x
    call = ACTIVATIONS[name]
    if name == "glu along a dim":
        return
    if dtype == "complex64":  # pairs of numbers are compared
        pairs = judge.tensor([[-2, 1], [0, 0.5], [1, -1], [3, 0.25]], "float32")
        same(lambda m, x: m.view_as_real(call(m.nn.functional, m.view_as_complex(x).reshape(2, 2))), pairs, exact=False)
        return
    same(lambda m, x: call(m.nn.functional, x), x, exact=None if dtype in ("float16", "bfloat16") else False)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_layout_of_activation(name, device):
    if name == "glu along a dim":
        return
    flat = judge.tensor([(i % 7 - 3) / 2 for i in range(24)], "float32")
    views = [lambda x: x.reshape(2, 3, 4).permute(2, 0, 1), lambda x: x.reshape(4, 6)[:, ::3], lambda x: x[:4].reshape(2, 1, 2).expand(2, 3, 2), lambda x: x[:0].reshape(0, 2)]
    for change in views:
        call = ACTIVATIONS[name]
        same(lambda m, x: call(m.nn.functional, change(x).to(device)), flat, exact=False)


def test_infinite_numbers():
    """No NaN where PyTorch has a number."""
    x = judge.tensor([math.inf, -math.inf, math.nan], "float64")
    for name, call in ACTIVATIONS.items():
        if "glu" in name:
            continue
        ours, theirs = call(tenon.nn.functional, x.ours), call(torch.nn.functional, x.theirs)
        for a, b in zip(ours.tolist(), theirs.tolist()):
            assert a == b or math.isnan(b), (name, ours, theirs)


def test_gelu_has_all_digits():
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 40
    values = [i / 16 for i in range(-200, 101)]
    for dtype, limit in ((tenon.float32, 6), (tenon.float64, 6)):
        got = tenon.nn.functional.gelu(tenon.tensor(values, dtype=dtype)).double().tolist()
        for x, y in zip(values, got):
            exact = mpmath.mpf(x) * mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2
            unit = max(abs(exact) * tenon.finfo(dtype).eps, tenon.finfo(dtype).tiny * tenon.finfo(dtype).eps)
            assert abs(mpmath.mpf(y) - exact) <= limit * unit, (dtype, x, y, exact)


def test_prelu():
    def prelu(f, x, weight):
        return f.prelu(x, weight)

    x = judge.tensor([(i % 7 - 3) / 2 for i in range(12)], "float64")
    for shape, weights in [((12,), [0.3]), ((3, 4), [0.3]), ((3, 4), [0.1, 0.2, -0.3, 0.4]), ((2, 3, 2), [0.1, 0.2, 0.3]), ((2, 3, 2), [0.5]), ((1, 1, 12), [2.0])]:
        shaped = judge.view(x, lambda x: x.reshape(shape))
        same(derived, prelu, shaped, judge.tensor(weights, "float64"), exact=False)
        same(lambda m, x, w: x.transpose(0, -1).prelu(w), shaped, judge.tensor(weights[:1], "float64"), exact=False)
    same(lambda m: m.prelu(m.tensor(-2.0), m.tensor(0.25)))
    for shape, weight in [((2,), [0.1, 0.2]), ((2, 3), [0.1, 0.2]), ((), [0.1, 0.2]), ((2, 3), [[0.1, 0.2, 0.3]]), ((2, 3), [])]:
        same(lambda m: m.nn.functional.prelu(m.ones(shape), m.tensor(weight)))
    same(lambda m: m.nn.functional.prelu(m.ones(2), m.ones(1, dtype=m.float64)))
    same(lambda m: m.nn.functional.prelu(m.ones(2, dtype=m.int32), m.ones(1, dtype=m.int32)))


def test_rrelu_in_training():
    x = (tenon.rand(1000) - 0.7).requires_grad_()
    y = tenon.nn.functional.rrelu(x, 0.25, 0.5, training=True)
    (grad,) = tenon.autograd.grad(y.sum(), x)
    assert y.grad_fn.name() == "RreluWithNoiseBackward0"
    below = x.detach() <= 0
    assert tenon.equal(grad[~below], tenon.ones(int((~below).sum())))
    slopes = grad[below]
    assert 0.25 <= slopes.min() < 0.3 and 0.45 < slopes.max() <= 0.5
    assert tenon.allclose(y.detach(), x.detach() * grad)
    with pytest.raises(RuntimeError, match="Lower bound should be less than or equal to the upper bound"):
        tenon.nn.functional.rrelu(x, 2, 1, training=True)
    for dtype in ("float16", "int32"):
        same(lambda m: m.nn.functional.rrelu(m.ones(2, dtype=getattr(m, dtype)), training=True))


WRONG_ACTIVATIONS = [
    lambda f, x: f.celu(x, 0), lambda f, x: f.elu(x, 1e300), lambda f, x: f.leaky_relu(x, 1j), lambda f, x: f.softshrink(x, -1), lambda f, x: f.softshrink(x, math.nan),
    lambda f, x: f.hardtanh(x, 2, 1), lambda f, x: f.hardtanh(x.int(), -1, math.nan), lambda f, x: f.hardtanh(x, -1, 1e300),
    lambda f, x: f.threshold(x, 1e300, 1), lambda f, x: f.rrelu(x, 2, 1), lambda f, x: f.rrelu(x, math.nan, 1), lambda f, x: f.glu(x[0]), lambda f, x: f.glu(x[:1]),
    lambda f, x: f.glu(x, 3), lambda f, x: f.gelu(x, approximate="erf"), lambda f, x: f.gelu(1), lambda f, x: f.silu(1), lambda f, x: f.hardshrink("x"), lambda f, x: f.relu("x"),
    lambda f, x: f.softplus(x, 1, 1j), lambda f, x: f.hardshrink(x, 1e300), lambda f, x: f.relu([1]),
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG_ACTIVATIONS)
def test_wrong_activation(call):
    x = judge.tensor([-1.0, 2.0], "float32")
    same(lambda m, x: call(m.nn.functional, x), x)


def test_in_place_gives_the_tensor_itself():
    for name in INPLACE:
        x = tenon.ones(3) * -1
        y = getattr(tenon.nn.functional, name)(x, inplace=True)
        assert y is x and x._version == 1
    same(lambda m: m.nn.functional.relu(m.ones(3, requires_grad=True), inplace=True))
    same(lambda m: m.nn.functional.silu(m.ones(3).expand(2, 3), inplace=True))


# --- Losses

X = judge.tensor([[0.3, -1.2, 0.8, 2.5], [1.7, 0.1, -0.6, -2.2], [0.9, 1.1, -1.4, 0.2], [-0.7, 2.1, 0.5, -1.9], [0.4, -0.2, 1.3, 0.6]], "float64")
P = judge.tensor([[0.3, 0.12, 0.8, 0.25], [0.71, 0.1, 0.06, 0.22], [0.9, 0.11, 0.14, 0.2], [0.07, 0.21, 0.5, 0.19], [0.4, 0.02, 0.13, 0.6]], "float64")
Q = judge.tensor([[0.5, 0.62, 0.1, 0.95], [0.31, 0.4, 0.76, 0.52], [0.2, 0.81, 0.34, 0.7], [0.17, 0.61, 0.35, 0.9], [0.3, 0.22, 0.43, 0.8]], "float64")
W = judge.tensor([0.5, 1.5, 0.25, 2.0], "float64")
CLASSES = judge.tensor([1, 0, 3, -100, 2], "int64")


def signs(y):
    return (y.detach() > 0.3).to(y.dtype) * 2 - 1


LOSSES = {name: (lambda f, x, y, r, name=name: getattr(f, name)(x, y, reduction=r), X, P) for name in """
    mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy_with_logits poisson_nll_loss""".split()}  # fmt: skip
LOSSES |= {
    "mse_loss, weights": (lambda f, x, y, w, r: f.mse_loss(x, y, weight=w, reduction=r), X, P, Q),
    "l1_loss, weights": (lambda f, x, y, w, r: f.l1_loss(x, y, weight=w, reduction=r), X, P, Q),
    "huber_loss, weights": (lambda f, x, y, w, r: f.huber_loss(x, y, weight=w, reduction=r, delta=0.4), X, P, Q),
    "smooth_l1_loss of 0.4": (lambda f, x, y, r: f.smooth_l1_loss(x, y, reduction=r, beta=0.4), X, P),
    "smooth_l1_loss of 0": (lambda f, x, y, r: f.smooth_l1_loss(x, y, reduction=r, beta=0), X, P),
    "mse_loss, broadcast": (lambda f, x, y, r: f.mse_loss(x, y[:, :1], reduction=r), X, P),
    "kl_div of logarithms": (lambda f, x, y, r: f.kl_div(x, y, reduction=r, log_target=True), X, P),
    "binary_cross_entropy": (lambda f, x, y, r: f.binary_cross_entropy(x, y, reduction=r), P, Q),
    "binary_cross_entropy, weights": (lambda f, x, y, w, r: f.binary_cross_entropy(x, y, w.detach(), reduction=r), P, Q, W),
    "with logits, weights": (lambda f, x, y, w, r: f.binary_cross_entropy_with_logits(x, y, w.detach(), reduction=r, pos_weight=w.detach() + 1), X, Q, W),
    "poisson_nll_loss, full": (lambda f, x, y, r: f.poisson_nll_loss(x, y.detach() * 3, full=True, reduction=r), X, P),
    "poisson_nll_loss of numbers": (lambda f, x, y, r: f.poisson_nll_loss(x * x, y, log_input=False, reduction=r), X, P),
    "gaussian_nll_loss": (lambda f, x, y, v, r: f.gaussian_nll_loss(x, y, v, True, 0.3, reduction=r), X, P, Q),
    "gaussian_nll_loss, one a row": (lambda f, x, y, v, r: f.gaussian_nll_loss(x, y, v[:, 0], reduction=r), X, P, Q),
    "gaussian_nll_loss, a number": (lambda f, x, y, r: f.gaussian_nll_loss(x, y, 0.5, reduction=r), X, P),
    "hinge_embedding_loss": (lambda f, x, y, r: f.hinge_embedding_loss(x, signs(y), reduction=r), X, P),
    "soft_margin_loss": (lambda f, x, y, r: f.soft_margin_loss(x, signs(y), reduction=r), X, P),
    "margin_ranking_loss": (lambda f, x, y, r: f.margin_ranking_loss(x, y, signs(y), 0.3, reduction=r), X, P),
    "cosine_embedding_loss": (lambda f, x, y, r: f.cosine_embedding_loss(x, y, signs(y)[:, 0], 0.1, reduction=r), X, P),
    "cosine_embedding_loss of rows": (lambda f, x, y, r: f.cosine_embedding_loss(x[0], y[0], signs(y)[0, 0], reduction=r), X, P),
    "nll_loss": (lambda f, x, t, r: f.nll_loss(x, t, reduction=r), X, CLASSES),
    "nll_loss, weights": (lambda f, x, t, w, r: f.nll_loss(x, t, w.detach(), reduction=r), X, CLASSES, W),
    "nll_loss, ignored": (lambda f, x, t, r: f.nll_loss(x, t * (t > 0), ignore_index=0, reduction=r), X, CLASSES),
    "nll_loss of one": (lambda f, x, t, r: f.nll_loss(x[0], t[0], reduction=r), X, CLASSES),
    "nll_loss of three dims": (lambda f, x, t, r: f.nll_loss(x.reshape(1, 4, 5), t.reshape(1, 5), reduction=r), X, CLASSES),
    "nll_loss of five dims": (lambda f, x, t, r: f.nll_loss(x.reshape(1, 4, 5, 1, 1), t.reshape(1, 5, 1, 1), reduction=r), X, CLASSES),
    "nll_loss of bytes": (lambda f, x, t, r: f.nll_loss(x, (t * (t > 0)).byte() if hasattr(t, "byte") else (t * (t > 0)).to(tenon.uint8), reduction=r), X, CLASSES),
    "cross_entropy": (lambda f, x, t, r: f.cross_entropy(x, t, reduction=r), X, CLASSES),
    "cross_entropy of large numbers": (lambda f, x, t, r: f.cross_entropy(x + 1e5, t, reduction=r), X, CLASSES),
    "cross_entropy of one": (lambda f, x, t, r: f.cross_entropy(x[0], t[0], reduction=r), X, CLASSES),
    "cross_entropy, smoothed": (lambda f, x, t, r: f.cross_entropy(x, t, reduction=r, label_smoothing=0.2), X, CLASSES),
    "cross_entropy, smoothed, weights": (lambda f, x, t, w, r: f.cross_entropy(x, t, w.detach(), reduction=r, label_smoothing=0.2), X, CLASSES, W),
    "cross_entropy of four dims": (lambda f, x, t, r: f.cross_entropy(x.reshape(1, 4, 5, 1), t.reshape(1, 5, 1), reduction=r), X, CLASSES),
    "cross_entropy of probabilities": (lambda f, x, y, w, r: f.cross_entropy(x, y, w.detach(), reduction=r, label_smoothing=0.2), X, P, W),
    "cross_entropy of one's probabilities": (lambda f, x, y, r: f.cross_entropy(x[0], y[0], reduction=r), X, P),
}  # fmt: skip


# Recorded as what they are made of (docs/differences.md).
OTHER_NODES = ["with logits, weights", "nll_loss of three dims", "nll_loss of five dims", "cross_entropy of four dims", "cross_entropy of probabilities",
               "cross_entropy of one's probabilities"]  # fmt: skip


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_loss(name, reduction):
    call, *leaves = LOSSES[name]
    start = 1 if name in OTHER_NODES else 0
    same(lambda m, *leaves: derived(m, lambda f, *leaves: call(f, *leaves, reduction), *leaves)[start:], *leaves, exact=False)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_gradient_of_loss(name, reduction):
    """Without a graph of the gradient, which is computed in one pass."""
    call, *leaves = LOSSES[name]

    def gradients(m, *leaves):
        leaves = [leaf.clone().requires_grad_() if leaf.is_floating_point() else leaf for leaf in leaves]
        (call(m.nn.functional, *leaves, reduction) * 2).sum().backward()
        return [leaf.grad for leaf in leaves if leaf.requires_grad and leaf.grad is not None]

    same(gradients, *leaves, exact=False)
    if "large" not in name:
        narrow = [judge.view(leaf, lambda x: x.float()) if leaf.ours.is_floating_point() else leaf for leaf in leaves]
        same(gradients, *narrow, exact=False)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_gradcheck_of_loss(name):
    """By the first operand: others are weights and signs."""
    call, first, *others = LOSSES[name]

    def loss(x):
        return call(tenon.nn.functional, x, *[other.ours for other in others], "sum").sin()

    x = (first.ours + 0.013).requires_grad_()  # no difference is 0, where l1_loss has no derivative
    assert tenon.autograd.gradcheck(loss, x)
    if name != "cross_entropy of large numbers":  # whose numerical derivatives lose digits
        assert tenon.autograd.gradgradcheck(loss, x)


NAMES = """mse_loss l1_loss smooth_l1_loss huber_loss kl_div soft_margin_loss hinge_embedding_loss poisson_nll_loss binary_cross_entropy
    binary_cross_entropy_with_logits""".split()  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtypes", [(a, b) for a in ("bool", "int32", "float16", "float32", "float64") for b in ("bool", "int32", "float16", "float32", "float64")], ids=str)
def test_dtypes_of_loss(name, dtypes):
    half = "float16" in dtypes
    x, y = (judge.tensor([[1, 0, 1], [0, 1, 1]], dtype) for dtype in dtypes)
    for reduction in ("none", "mean"):
        same(lambda m, x, y: getattr(m.nn.functional, name)(x, y, reduction=reduction), x, y, exact=None if half else False)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_logits_of_16_bits_are_rounded_after_each_step(dtype):
    def call(m, x, p, w, reduction):
        x, p, w = (each.to(getattr(m, dtype)) for each in (x, p, w))
        return m.nn.functional.binary_cross_entropy_with_logits(x, p, w, reduction=reduction).to(m.float32)

    for reduction in ("none", "mean", "sum"):
        same(call, X, P, W, reduction)


CALLS = [
    "{loss}(x, p, reduction='median')", "{loss}(x, p, size_average=False)", "{loss}(x, p, reduce=False)", "{loss}(x, p, size_average=True, reduce=True)",
    "{loss}(x, p[:, :1])", "{loss}(x, p[0])", "{loss}(x, p[:2])", "{loss}(x[:0], p[:0])", "{loss}(x, p, reduction='elementwise_mean')",
]  # fmt: skip
OTHERS = """
    mse_loss(x, p, weight=p[0])
    mse_loss(x, p, weight=p, reduction='median')
    smooth_l1_loss(x, p, beta=-1)
    huber_loss(x, p, delta=0)
    huber_loss(x, p, weight=p[:2])
    huber_loss(x, p[:2], delta=0)
    huber_loss(x, p, weight=p[:2], delta=0)
    smooth_l1_loss(x, p[:2], beta=-1)
    l1_loss(x > 0, p[:2])
    kl_div(x, p, reduction='batchmean')
    kl_div(x, p * 0, reduction='none')
    kl_div(x, c)
    binary_cross_entropy(x, p)
    binary_cross_entropy(p, x)
    binary_cross_entropy(p * float('nan'), p)
    binary_cross_entropy(p, p.to(m.float32))
    binary_cross_entropy(c, c)
    binary_cross_entropy(m.tensor([0.0, 1, 0, 1]), m.tensor([0.0, 1, 1, 0]), reduction='none')
    binary_cross_entropy_with_logits(x, p, w[:3])
    binary_cross_entropy_with_logits(x, (p > 0.5).to(m.int64))
    binary_cross_entropy_with_logits(x, p.to(m.float32))
    binary_cross_entropy_with_logits(x, p.to(m.complex128)).real
    binary_cross_entropy_with_logits(x, p.to(m.uint16))
    soft_margin_loss(x[:, :1], p)
    soft_margin_loss(x[0], p)
    soft_margin_loss(x[0] > 0, p)
    mse_loss(x, p, weight=p, reduction=None)
    l1_loss(x, p, weight=p, reduction=1)
    huber_loss(x, p, reduction=None)
    huber_loss(c, c, reduction='median')
    huber_loss(x, p, reduction='median', delta=0)
    smooth_l1_loss(x, p, reduction='median', beta=-1)
    multi_margin_loss(x.to(m.complex64), m.ones(5, dtype=m.int64))
    multilabel_margin_loss(x.to(m.uint16), m.zeros(5, 4, dtype=m.int64))
    nll_loss(x, c)
    nll_loss(x, c[:2])
    nll_loss(x, c.reshape(5, 1))
    nll_loss(x, c.to(m.int32))
    nll_loss(x, c.to(m.float32))
    nll_loss(x, c + 2)
    nll_loss(x, c, ignore_index=3)
    nll_loss(x, c * 0 - 100)
    nll_loss(x, c, w[:3])
    nll_loss(x, c, w.to(m.float32))
    nll_loss(x[0], c)
    nll_loss(x[0, 0], c[0])
    nll_loss(x.to(m.int32), c * 0)
    nll_loss(x[:0], c[:0])
    nll_loss(x[:0], c[:0], reduction='sum')
    nll_loss(x.reshape(1, 4, 5), c[:4].reshape(1, 4))
    nll_loss(x.reshape(1, 4, 5, 1), c[:4].reshape(1, 4, 1))
    nll_loss(x.reshape(1, 4, 5, 1), c.reshape(1, 5))
    nll_loss(x.reshape(1, 4, 5).to(m.int32), c.reshape(1, 5) * 0)
    nll_loss(x.reshape(1, 4, 5), c.reshape(1, 5).to(m.uint8) * 0)
    nll_loss(x.reshape(1, 4, 5), c.reshape(1, 5), w.reshape(1, 4))
    nll_loss(x.reshape(1, 4, 5), c.reshape(1, 5).to(m.int32), w[:3])
    nll_loss(x.reshape(1, 4, 5), c.reshape(1, 5), w.to(m.float32))
    cross_entropy(x.reshape(1, 4, 5), c.reshape(1, 5).to(m.uint8) * 0)
    nll_loss(x.reshape(1, 4, 5)[:0], c.reshape(1, 5).to(m.uint8)[:0], reduction='sum')
    cross_entropy(x, c, label_smoothing=1.5)
    cross_entropy(x, p, label_smoothing=1.5)
    cross_entropy(x, c, label_smoothing=-1)
    cross_entropy(x, p, ignore_index=1)
    cross_entropy(x, p, w[:3])
    cross_entropy(c, c)
    cross_entropy(x.to(m.int32), c * 0)
    cross_entropy(x.to(m.float16), c * 0)
    cross_entropy(x[:0], c[:0])
    cross_entropy(x[:0], p[:0])
    cross_entropy(x, c.to(m.int32))
    cross_entropy(x * float('inf'), c * 0)
    gaussian_nll_loss(x, p, -p)
    gaussian_nll_loss(x, p, -0.5)
    gaussian_nll_loss(x, p, p[0])
    gaussian_nll_loss(x, p, p[:, :1])
    gaussian_nll_loss(x, p, p, reduction='median')
    gaussian_nll_loss(x, p, p, reduction=None)
    gaussian_nll_loss(x, p, -p, reduction=None)
    poisson_nll_loss(x, p, reduction=None)
    poisson_nll_loss(x, p, reduction=2)
    logsigmoid()
    logsigmoid(3)
    logsigmoid(x, p)
    cosine_embedding_loss(x, p, c.reshape(1, 5))
    cosine_embedding_loss(x[0], p, c)
    cosine_embedding_loss(x, p, c[0])
    margin_ranking_loss(x, p, p[0])
    margin_ranking_loss(x, p, p, margin=1)
    poisson_nll_loss(x, p, log_input=False, reduction='none')
    hinge_embedding_loss(x, p, margin=0.5)
"""


@pytest.mark.parametrize("text", [call.format(loss=name) for name in NAMES for call in CALLS] + [line.strip() for line in OTHERS.strip().splitlines()])
def test_call_of_loss(text):
    def call(m, x, p, w, c):
        function, _, arguments = text.partition("(")
        return eval(f"m.nn.functional.{function}({arguments}", {"m": m, "x": x, "p": p, "w": w, "c": c})

    same(call, X, P, W, judge.tensor([1, 0, 3, -100, 2], "int64"), exact=None if "float16" in text else False)


@pytest.mark.parametrize("name", ["mse_loss", "cross_entropy", "nll_loss", "binary_cross_entropy", "kl_div"])
def test_loss_on_meta(name):
    def call(m, reduction):
        x, y = m.ones(5, 4, device="meta"), m.ones(5, 4, device="meta")
        classes = m.ones(5, dtype=m.int64, device="meta")
        return getattr(m.nn.functional, name)(x, classes if name == "nll_loss" else y, reduction=reduction)

    for reduction in ("none", "mean", "sum"):
        same(call, reduction)


def test_broadcast_policy():
    """A target of shape (N, 1) beside (N,) is what the policy is for."""
    x, y = tenon.ones(4), tenon.ones(4, 1)
    with pytest.warns(UserWarning, match="Using a target size"):
        tenon.nn.functional.mse_loss(x, y)
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        with tenon.broadcast_policy(outer="raise"), pytest.warns(UserWarning), pytest.raises(RuntimeError, match="does not allow"):
            getattr(tenon.nn.functional, name)(x, y)
        with tenon.broadcast_policy("raise"):
            getattr(tenon.nn.functional, name)(x, x)
    with tenon.broadcast_policy("raise"):
        tenon.nn.functional.cross_entropy(tenon.ones(4, 3), tenon.zeros(4, dtype=tenon.int64), tenon.ones(3), label_smoothing=0.1)
        tenon.nn.functional.prelu(tenon.ones(4, 3, 2), tenon.ones(3))


def test_names():
    """Everything here is there, too; in-place functions of tenon are those of torch."""
    for name in tenon.nn.functional.__all__:
        assert hasattr(torch.nn.functional, name), name
        assert callable(getattr(tenon.nn.functional, name))
    for name in "gelu silu mish softplus mse_loss cross_entropy hardtanh elu leaky_relu".split():
        assert not hasattr(tenon, name) and not hasattr(tenon.Tensor, name)
    for name in "relu selu celu rrelu prelu threshold hardshrink selu_ celu_ rrelu_ threshold_".split():
        assert hasattr(tenon, name) and hasattr(torch, name)
        assert hasattr(tenon.Tensor, name) == hasattr(torch.Tensor, name)


BIASES = {
    "none": lambda m, x: None,
    "dense": lambda m, x: m.ones(5, dtype=x.dtype),
    "another dtype": lambda m, x: m.ones(5, dtype=m.float64),
    "expanded": lambda m, x: m.ones(1, dtype=x.dtype).expand(5),
    "another size": lambda m, x: m.ones(4, dtype=x.dtype),
    "a row": lambda m, x: m.ones(1, 5, dtype=x.dtype),
    "a column": lambda m, x: m.ones(5, 1, dtype=x.dtype),
    "a row of three dims": lambda m, x: m.ones(1, 1, 5, dtype=x.dtype),
    "one number": lambda m, x: m.ones(1, 1, dtype=x.dtype),
    "rows": lambda m, x: m.ones(7, 5, dtype=x.dtype),
}


@pytest.mark.parametrize("sizes", [(2,), (3, 2), (4, 3, 2), (1, 6, 7, 2)])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("out", [None, "float32", "float64"])
def test_errors_of_linear(sizes, bias, out):
    """Of several mistakes the one that PyTorch finds first, which depends on the layouts."""

    def call(m, dtype, columns, turned):
        x = m.ones(sizes[::-1]).permute(*reversed(range(len(sizes)))) if turned else m.ones(sizes)
        weight = m.ones(5, columns, dtype=getattr(m, dtype))
        linear = m._C._nn.linear if m is torch else m.nn.functional.linear
        kwargs = {} if out is None else {"out": m.empty(0, dtype=getattr(m, out))}
        return linear(x, weight, BIASES[bias](m, x), **kwargs)

    for dtype in ("float32", "float64", "int8"):
        for columns in (2, 4):
            for turned in (False, True):
                same(call, dtype, columns, turned)


@pytest.mark.parametrize("out", [(5,), (4,), (1, 5), (2, 5), (0,), ()])
@pytest.mark.parametrize("sizes", [(2,), (3, 2), (4, 3, 2)])
@pytest.mark.parametrize("bias", ["none", "dense", "one number"])
def test_linear_into(sizes, bias, out):
    """The warning of a vector's result names a matrix."""

    def call(m):
        x, into = m.ones(sizes), m.ones(out)
        linear = m._C._nn.linear if m is torch else m.nn.functional.linear
        return linear(x, m.ones(5, 2), BIASES[bias](m, x), out=into), into

    same(call)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_running_numbers_are_rounded_once(dtype):
    """batch_norm's running numbers have the bits of PyTorch's, where the batch's are exact."""
    found = []
    for m in (tenon, torch):
        x = m.tensor([[0.0, 1.0], [2.0, 5.0], [1.0, 3.0], [1.0, 3.0], [1.0, 3.0]]).to(getattr(m, dtype))
        mean, var = (m.arange(1, 3).to(getattr(m, dtype)) / n for n in (3, 7))
        m.nn.functional.batch_norm(x, mean, var, training=True, momentum=0.3)
        found.append([t.to(m.float64).tolist() for t in (mean, var)])
    assert found[0] == found[1]


def permuted(x, order):
    """The same elements, with `order` as the order of dims in memory."""
    return x.permute(order).contiguous().permute([order.index(dim) for dim in range(len(order))])


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("sizes", [(3, 2, 4, 5), (2, 3, 1, 4), (4, 3), (2, 3, 4), (2, 3, 2, 4, 3)])
def test_the_gradient_of_batch_norm_has_the_strides_of_the_result(sizes, training):
    """Whatever the strides of the input and of the result's gradient."""
    channels, orders = sizes[1], [list(range(len(sizes))), list(reversed(range(len(sizes)))), [0, *range(2, len(sizes)), 1]]
    for input_order in orders:
        for grad_order in orders:

            def call(m):
                x = permuted(m.linspace(-1, 2, math.prod(sizes)).reshape(sizes), input_order).requires_grad_()
                weight, bias = (m.linspace(low, 1, channels).requires_grad_() for low in (0.5, -1))
                result = m.nn.functional.batch_norm(x, m.ones(channels), m.ones(channels), weight, bias, training)
                grad = permuted(m.linspace(0, 1, math.prod(sizes)).cos().reshape(sizes), grad_order)
                return [result, *m.autograd.grad(result, (x, weight, bias), grad)]

            theirs, mine = call(torch), call(tenon)
            assert [t.stride() for t in theirs] == [t.stride() for t in mine], (input_order, grad_order)
            for wanted, got in zip(theirs, mine):
                torch.testing.assert_close(torch.from_dlpack(got.detach()), wanted.detach(), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("sizes", [(5, 3, 7, 50), (3, 40, 7, 7), (9, 5, 2, 2), (70, 33), (2, 3, 5000), (1, 1, 3)])
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_batch_norm_of_halves_is_rounded_once(sizes, dtype, mixed, last):
    """The result is that of float64, rounded, in any order of dims and for any number of elements of a channel."""
    generator = torch.Generator().manual_seed(sum(sizes))
    half, channels = getattr(torch, dtype), sizes[1]
    x = torch.randn(sizes, generator=generator).to(half)
    if last:
        x = permuted(x, [0, *range(2, len(sizes)), 1])
    numbers = [torch.rand(channels, generator=generator).to(torch.float32 if mixed else half) + 0.5 for _ in range(4)]
    for training in (False, True):
        if training and x.numel() == channels:
            continue
        wide = [t.double() for t in numbers]
        wanted = torch.nn.functional.batch_norm(x.double(), *wide, training=training)
        mine = [tenon.from_dlpack(t.clone()) for t in numbers]
        got = tenon.nn.functional.batch_norm(tenon.from_dlpack(x), *mine, training=training)
        assert got.stride() == torch.nn.functional.batch_norm(x, *[t.clone() for t in numbers], training=training).stride()
        # Half a unit in the last place of the largest term, and what float32 loses.
        unit = torch.finfo(half).eps
        error = (torch.from_dlpack(got).double() - wanted).abs()
        assert (error <= 0.51 * unit * wanted.abs() + 1e-5).all(), error.max()
