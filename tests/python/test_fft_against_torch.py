"""Fourier transforms: results, errors and gradients beside PyTorch's. Results here are always row-major."""

import itertools

import pytest

pytest.importorskip("torch")

import tenon
import torch

import judge

REAL_INPUT = ("rfft", "ihfft")
NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
DTYPES = ("float32", "float64", "complex64", "complex128", "int32", "bool")
NORMS = (None, "backward", "ortho", "forward")


def numbers(shape, dtype="float64", seed=0):
    random = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=random, dtype=torch.float64)
    if "complex" in dtype:
        values = torch.complex(values, torch.randn(shape, generator=random, dtype=torch.float64))
    elif not dtype.startswith("float"):
        values = (values * 3).trunc()
    return judge.view(judge.tensor(values.tolist(), dtype), lambda x: x.reshape(shape))


def in_torch(x):
    return torch.from_dlpack(x.detach().contiguous()) if x.numel() else torch.empty(tuple(x.shape), dtype=getattr(torch, str(x.dtype).split(".")[1]))


def compare(call, *args, tolerance=None):
    """The same result, up to rounding, or the same error."""
    (ours, _), (theirs, _) = (judge.outcome(call, side, args, {}) for side in ("ours", "theirs"))
    if isinstance(theirs, Exception) and "MKL FFT error" in str(theirs):  # of tensors without elements
        return
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"PyTorch: {theirs!r}, Tenon gave {ours!r}"
        assert (type(ours).__name__, str(ours)) == (type(theirs).__name__, str(theirs).split("\nException raised from")[0])
        return
    assert not isinstance(ours, Exception), f"Tenon: {ours!r}"
    assert tuple(ours.shape) == tuple(theirs.shape) and str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    assert ours.is_contiguous()
    limit = 1e-4 if theirs.dtype in (torch.float32, torch.complex64) else 1e-11
    torch.testing.assert_close(in_torch(ours), theirs.detach().resolve_conj(), rtol=limit, atol=limit, check_stride=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_along_one_dim(name, dtype):
    for shape, dim in (((8,), -1), ((7,), 0), ((1,), 0), ((3, 5), 0), ((3, 5), 1), ((2, 3, 4), 1), ((0, 4), 1), ((101,), -1), ((2, 64), -1)):
        x = numbers(shape, dtype)
        for n, norm in itertools.product((None, 3, 9, 1, 0), NORMS):
            compare(lambda m, x: getattr(m.fft, name)(x, n, dim, norm), x)
        compare(lambda m, x: getattr(m.fft, name)(x.repeat_interleave(2, -1)[..., ::2]), x)


@pytest.mark.parametrize("dtype", ("float64", "complex64"))
@pytest.mark.parametrize("name", [name + kind for name in NAMES for kind in ("n", "2")])
def test_along_several_dims(name, dtype):
    dims = ((0, 1), (-1, 0), (1,), (1, 2)) if name.endswith("2") else (None, (0, 1), (-1, 0), (2,), (0, 2, 1), (1, 1), ())
    for shape in ((3, 4, 5), (2, 3, 6)):
        x = numbers(shape, dtype)
        for dim, norm in itertools.product(dims, NORMS):
            arguments = {} if dim is None else {"dim": dim}
            compare(lambda m, x: getattr(m.fft, name)(x, norm=norm, **arguments), x)
        for s in ((4, 4), (2, -1), (3,), (1, 2, 3, 4)):
            compare(lambda m, x: getattr(m.fft, name)(x, s), x)
            compare(lambda m, x: getattr(m.fft, name)(x, s, (0, 1)), x)


MISTAKES = {
    "16-bit floats": lambda m: m.fft.fft(m.ones(4, dtype=m.float16)), "a wrong norm": lambda m: m.fft.fft(m.ones(4), norm="x"), "no dim": lambda m: m.fft.fft(m.ones(())),
    "a wrong dim": lambda m: m.fft.fft(m.ones(4), dim=3), "no element": lambda m: m.fft.fft(m.ones(0)), "a complex rfft": lambda m: m.fft.rfft(m.ones(4, dtype=m.complex64)),
    "a complex ihfft": lambda m: m.fft.ihfft(m.ones(4, dtype=m.complex64)), "a short irfft": lambda m: m.fft.irfft(m.ones(1)),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    compare(MISTAKES[name])


@pytest.mark.parametrize("n", (0, 1, 2, 5, 8))
def test_frequencies_and_shifts(n):
    for name in ("fftfreq", "rfftfreq"):
        if n or name == "rfftfreq":
            (ours, _), (theirs, _) = (judge.outcome(lambda m: getattr(m.fft, name)(n, 0.5, dtype=m.float64), side, (), {}) for side in ("ours", "theirs"))
            if n:
                torch.testing.assert_close(in_torch(ours), theirs)
    x = numbers((n, 3), "float64")
    for name in ("fftshift", "ifftshift"):
        for dim in (None, 0, (0, 1)):
            judge.same(lambda m, x: getattr(m.fft, name)(x, dim), x)


@pytest.mark.parametrize("dtype", ("float64", "complex128"))
@pytest.mark.parametrize("name", [name + kind for name in NAMES for kind in ("", "n", "2")])
def test_gradients(name, dtype):
    if dtype == "complex128" and name.rstrip("n2") in REAL_INPUT:
        pytest.skip("of real numbers")
    for shape in ((3, 4), (2, 5)):
        given, grads = numbers(shape, dtype, 5), []
        for m, x in ((tenon, given.ours), (torch, given.theirs)):
            x = x.detach().clone().requires_grad_()
            y = getattr(m.fft, name)(x, norm="ortho")
            weights = m.arange(1, y.numel() + 1, dtype=m.float64).reshape(y.shape) / y.numel()
            loss = (y * weights).sum()
            (loss.real + loss.imag * 0.5 if loss.is_complex() else loss).backward()
            grads.append(x.grad)
        torch.testing.assert_close(in_torch(grads[0]), grads[1].resolve_conj(), rtol=1e-10, atol=1e-10)
        x = given.ours.detach().clone().requires_grad_()
        assert tenon.autograd.gradgradcheck(lambda a: getattr(tenon.fft, name)(a), (x,))


def test_results_into_out():
    x, out = numbers((4,), "complex128").ours, tenon.empty(4, dtype=tenon.complex128)
    assert tenon.fft.fft(x, out=out) is out
    tenon.testing.assert_close(out, tenon.fft.fft(x))


def test_threads_give_the_same_bits():
    x = numbers((300, 128), "complex64").ours
    threads = tenon.get_num_threads()
    try:
        results = []
        for count in (1, 2):
            tenon.set_num_threads(count)
            results.append([tenon.fft.fft(x), tenon.fft.fft(x, dim=0), tenon.fft.irfft(x)])
    finally:
        tenon.set_num_threads(threads)
    assert all(tenon.equal(a, b) for a, b in zip(*results))


def test_meta_tensors_have_shapes():
    x = tenon.empty(3, 8, device="meta")
    assert tenon.fft.rfft(x).shape == (3, 5) and tenon.fft.rfft(x).dtype is tenon.complex64
    assert tenon.fft.irfftn(tenon.fft.rfftn(x)).shape == (3, 8)
