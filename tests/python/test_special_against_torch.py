"""torch.special: every function that is there, its names, values over the whole line, and derivatives."""

import math

import pytest

torch = pytest.importorskip("torch")

import tenon

MISSING = {"expit", "logit", "sinc", "xlogy", "softmax", "log_softmax"} - set(tenon.special.__all__)
NAMES = sorted(name for name in torch.special.__all__ if name not in MISSING)
POLYNOMIALS = [name for name in NAMES if "_polynomial_" in name]
TWO = ["zeta", "xlog1py", "gammainc", "gammaincc"]
ALONG_A_DIM = ["softmax", "log_softmax"]
OTHERS = ["polygamma", "multigammaln", "logsumexp", "round", "xlogy", *ALONG_A_DIM]
UNARY = [name for name in NAMES if name not in POLYNOMIALS + TWO + OTHERS]
WITHOUT_DERIVATIVE = [name for name in UNARY if "bessel" in name or name == "airy_ai"]
EDGES = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, -1e-40, 1e-30, 3e38, -3e38, 1.0, -1.0, -2.0, 2.0, 5.0, 8.0, 10.0, 50.0, 200.0, 1e5, 1e10]


def numbers(dtype, scale, count=4000, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.cat([(torch.randn(count, generator=generator, dtype=torch.float64) * scale).to(dtype), torch.tensor(EDGES, dtype=dtype)])


def ours(tensor):
    return tenon.from_dlpack(tensor)


def same(name, *operands, ulps):
    wanted = getattr(torch.special, name)(*operands)
    got = torch.from_dlpack(getattr(tenon.special, name)(*[ours(x) if isinstance(x, torch.Tensor) else x for x in operands]))
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    error = (got - wanted).abs()
    limit = ulps * torch.finfo(wanted.dtype).eps * wanted.abs() + torch.finfo(wanted.dtype).tiny
    if name in ("gammaln", "multigammaln", "ndtr"):  # sums that lose digits where they are near 0
        limit += ulps * torch.finfo(wanted.dtype).eps
    if name.startswith(("bessel_", "airy_ai")):  # near their zeros; another compiler fuses other products
        limit += torch.finfo(wanted.dtype).eps
    is_same = (got == wanted) | (error <= limit) | got.isnan() & wanted.isnan()
    if name in POLYNOMIALS:
        is_same |= got.isnan() & operands[0].isnan()
    at = int((~is_same).to(torch.int8).argmax())
    assert is_same.all(), f"{name} at {[x.expand(wanted.shape).flatten()[at].item() for x in operands]}: {got.flatten()[at]} instead of {wanted.flatten()[at]}"


def test_names():
    assert set(tenon.special.__all__) >= set(NAMES)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_values(name, dtype):
    for scale in (0.4, 3, 40):
        same(name, numbers(dtype, scale), ulps=8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", TWO)
def test_values_of_two(name, dtype):
    for scale in (1, 10, 200):
        a, b = numbers(dtype, scale), numbers(dtype, scale, seed=2)
        # The exponential of a logarithm has the error of that.
        same(name, a, b, ulps=4000 if "gamma" in name else 4)
        same(name, a.abs(), b.abs(), ulps=4000 if "gamma" in name else 4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_values_of_polynomials(name, dtype):
    x = numbers(dtype, 1, 100).unsqueeze(1)
    same(name, x, torch.tensor([-1.0, -0.5, 0, 0.5, 1, 2, 3, 5, 6, 7, 8, 9, 10, 12.9, 40, 127, 128, 129, 511, 513, 600, math.inf, math.nan], dtype=dtype), ulps=4)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_values_of_polygamma(n):
    for dtype in (torch.float32, torch.float64):
        x = numbers(dtype, 5)
        assert torch.allclose(torch.from_dlpack(tenon.special.polygamma(n, ours(x))), torch.special.polygamma(n, x), rtol=1e-6 if dtype == torch.float32 else 1e-14, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", ALONG_A_DIM)
def test_values_and_derivatives_along_a_dim(name, dtype):
    for dim in (0, 1, -1):
        x = numbers(dtype, 5, 96, seed=dim + 1)[:96].reshape(4, 3, 8)
        x[0, 0, 0] = -math.inf
        theirs, mine = x.clone().requires_grad_(), ours(x).requires_grad_()
        wanted, got = getattr(torch.special, name)(theirs, dim), getattr(tenon.special, name)(mine, dim)
        assert torch.allclose(torch.from_dlpack(got.detach()), wanted, rtol=1e-5 if dtype == torch.float32 else 1e-13, atol=1e-6 if dtype == torch.float32 else 1e-14)
        slopes = torch.linspace(-1, 2, 96, dtype=dtype).reshape(4, 3, 8)
        wanted.backward(slopes)
        got.backward(ours(slopes))
        assert torch.allclose(torch.from_dlpack(mine.grad), theirs.grad, rtol=1e-4 if dtype == torch.float32 else 1e-12, atol=1e-5 if dtype == torch.float32 else 1e-13, equal_nan=name == "log_softmax")
    whole = [getattr(m.special, name)(m.ones(2, 3, dtype=m.int32), 1, dtype=m.float64) for m in (torch, tenon)]
    assert torch.allclose(torch.from_dlpack(whole[1]), whole[0], rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", UNARY)
def test_derivatives(name):
    x = torch.linspace(0.05, 0.95, 19, dtype=torch.float64)
    theirs, mine = x.clone().requires_grad_(), ours(x).requires_grad_()
    wanted, got = getattr(torch.special, name)(theirs), getattr(tenon.special, name)(mine)
    assert got.requires_grad == wanted.requires_grad == (name not in WITHOUT_DERIVATIVE)
    if wanted.requires_grad:
        wanted.sum().backward()
        got.sum().backward()
        assert torch.allclose(torch.from_dlpack(mine.grad), theirs.grad, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name, text", [("zeta", "zeta"), ("gammainc", "igamma: input"), ("gammaincc", "igammac: input")])
def test_missing_derivatives(name, text):
    x, y = tenon.tensor([1.5, 2.5], requires_grad=True), tenon.tensor([2.0, 3.0], requires_grad=True)
    result = getattr(tenon.special, name)(x.detach(), y)
    result.sum().backward()
    assert y.grad.shape == (2,)
    with pytest.raises(NotImplementedError, match=f"the derivative for '{text}' is not implemented."):
        getattr(tenon.special, name)(x, y).sum().backward()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("sizes, strides", [((1, 100, 17, 1), (9, 6, 600, 6)), ((1, 3, 1), (7, 1, 3)), ((2, 1, 3, 1), (1, 9, 2, 5))])
def test_ndtr_has_the_strides_of_its_steps(sizes, strides, dtype):
    wanted, got = (m.special.ndtr(m.empty_strided(sizes, strides, dtype=getattr(m, dtype)).fill_(1)).stride() for m in (torch, tenon))
    assert got == wanted
