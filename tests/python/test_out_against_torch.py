"""`out=` of factories and matrix products, compared with PyTorch: results, resizing, warnings, errors."""

import math

import pytest

torch = pytest.importorskip("torch")

import tenon
from judge import Both, same, tensor

FACTORIES = {
    "zeros": lambda m, **options: m.zeros(3, **options),
    "ones": lambda m, **options: m.ones((3,), **options),
    "full": lambda m, **options: m.full((3,), 2.5, **options),
    "eye": lambda m, **options: m.eye(2, **options),
    "arange": lambda m, **options: m.arange(3, **options),
    "linspace": lambda m, **options: m.linspace(0, 1, 3, **options),
}
# Their results are undefined or random, so the test sets them to 0.
UNDEFINED = {
    "empty": lambda m, **options: m.empty(3, **options).zero_(),
    "rand": lambda m, **options: m.rand(3, **options).zero_(),
    "randn": lambda m, **options: m.randn(3, **options).zero_(),
    "randint": lambda m, **options: m.randint(3, (3,), **options).zero_(),
}
ALL = FACTORIES | UNDEFINED

TARGETS = {
    "another shape": lambda m: m.ones(2),
    "empty": lambda m: m.ones(0),
    "as many elements": lambda m: m.ones(3, 1),
    "strided": lambda m: m.ones(3, 2)[:, 0],
    "integers": lambda m: m.ones(3, dtype=m.int16),
    "bools": lambda m: m.ones(3, dtype=m.bool),
    "expanded": lambda m: m.ones(1).expand(3),
    "a leaf": lambda m: m.ones(2, requires_grad=True),
}


def both(make):
    return Both(make(tenon), make(torch))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ALL)
def test_factories(name, target):
    if name in UNDEFINED and target == "expanded":
        pytest.skip("zero_ would raise an error")
    same(lambda m, out: ALL[name](m, out=out), both(TARGETS[target]))


@pytest.mark.parametrize("name", ALL)
def test_options_beside_out(name):
    for options in ({"dtype": "float64"}, {"dtype": "float32"}, {"requires_grad": True}, {"device": "meta"}):
        def call(m, out):
            given = {key: getattr(m, value) if key == "dtype" else value for key, value in options.items()}
            return ALL[name](m, out=out, **given).requires_grad

        if options == {"requires_grad": True} and name in UNDEFINED:
            continue  # zero_ would raise an error
        same(call, both(TARGETS["another shape"]))
        same(call, both(TARGETS["integers"]))


@pytest.mark.parametrize("name", FACTORIES)
def test_requires_grad_of_a_leaf_written_in_no_grad(name):
    def call(m, out):
        with m.no_grad():
            FACTORIES[name](m, out=out)
        return out.requires_grad

    same(call, both(TARGETS["a leaf"]))


def test_memory_formats_of_empty():
    for options in ({"memory_format": "preserve_format"}, {"memory_format": "channels_last"}, {"memory_format": "contiguous_format", "out": True}):
        def call(m):
            given = {"memory_format": getattr(m, options["memory_format"])} | ({"out": m.ones(2)} if "out" in options else {})
            return m.empty((2,), **given).zero_()

        same(call)


SHAPES = [(), (1,), (2,), (3,), (0,), (2, 3), (3, 2), (1, 3), (0, 3), (3, 0), (2, 2, 3), (2, 3, 2), (1, 3, 2), (4, 3, 0), (2, 1, 2, 3), (5, 3, 4)]


@pytest.mark.parametrize("product", ["matmul", "mm", "mv", "bmm", "dot", "vdot", "inner", "outer"])
@pytest.mark.parametrize("a", SHAPES)
def test_products(product, a):
    """All pairs of shapes; also with a transposed second operand, and with out= of another shape or dtype."""
    for b in SHAPES:
        first, second = (both(lambda m, s=shape: m.arange(math.prod(s), dtype=m.float32).reshape(s)) for shape in (a, b))
        transposed = both(lambda m: m.arange(math.prod(b), dtype=m.float32).reshape(b[::-1]).permute(*range(len(b))[::-1]) if b else m.ones(()))
        for other in (second, transposed):
            same(lambda m, x, y: getattr(m, product)(x, y), first, other)
        if product == "matmul" and (len(a), len(b)) == (1, 2):
            continue  # PyTorch computes the shape [1, n] here, and warns even if out= has the right shape
        for out in (lambda m: m.ones(2), lambda m: m.ones(3, dtype=m.int16)):
            same(lambda m, x, y, o: getattr(m, product)(x, y, out=o), first, second, both(out))


def test_out_of_products_that_require_grad():
    for product in ("mm", "mv", "bmm", "dot", "vdot", "matmul", "inner", "outer"):
        x, y = tensor([[1.0, 2.0]], "float32"), tensor([1.0], "float32")
        same(lambda m, a, o: getattr(m, product)(a.requires_grad_(), a, out=o), x, y)
        same(lambda m, a, o: getattr(m, product)(a, a, out=o.requires_grad_()), tensor([1.0], "float32"), y)


@pytest.mark.parametrize("rows, columns", [(2, 2), (2, 3), (1, 3), (3, 1), (1, 1), (0, 2), (2, 0), (0, 0)])
def test_outer_into_its_factor(rows, columns):
    a, b = (both(lambda m, n=count: m.arange(n, dtype=m.float32)) for count in (rows, columns))
    same(lambda m, x, y: m.outer(x, y, out=x), a, b)
    same(lambda m, x, y: m.outer(x, y, out=y), a, b)
    same(lambda m, x, y: m.outer(x[:], y, out=x), a, b)


ADDED_SHAPES = [(), (1,), (2,), (3,), (2, 2), (2, 1), (3, 3), (2, 2, 2), (1, 2, 2, 2)]


@pytest.mark.parametrize("name", ["addmm", "addmv", "baddbmm"])
@pytest.mark.parametrize("added", ADDED_SHAPES)
def test_added_products(name, added):
    """All shapes of the added tensor and both operands, values of alpha and beta, out= of another shape or dtype, in place."""
    shapes = [(2,), (3,), (0,), (2, 3), (3, 2), (2, 0), (0, 2), (2, 2, 3), (2, 3, 2), (2, 2, 0), (2, 0, 2)]
    numbers = both(lambda m: m.arange(math.prod(added), dtype=m.float32).reshape(added))
    for a in shapes:
        for b in shapes:
            if name == "addmv" and math.prod(added) == 1 and math.prod(a) == 0:
                continue  # docs/differences.md
            first, second = (both(lambda m, s=shape: m.arange(math.prod(s), dtype=m.float32).reshape(s)) for shape in (a, b))
            for given in ({}, {"beta": 0}, {"beta": 2, "alpha": 3}, {"alpha": -0.5}):
                same(lambda m, *x, **given: getattr(m, name)(*x, **given), numbers, first, second, **given)
            for out in (lambda m: m.ones(2), lambda m: m.ones(3, dtype=m.int16)):
                same(lambda m, s, x, y, o: getattr(m, name)(s, x, y, out=o), numbers, first, second, both(out))
            same(lambda m, s, x, y: getattr(s.clone(), name + "_")(x, y, beta=2, alpha=3), numbers, first, second)


@pytest.mark.parametrize("name, shapes", [("addmm", [(2, 2), (2, 3), (3, 2)]), ("addmv", [(2,), (2, 3), (3,)]), ("baddbmm", [(2, 2, 2), (2, 2, 3), (2, 3, 2)]),
                                          ("addmm", [(2, 2), (2, 0), (0, 2)]), ("addmm", [(0, 1), (0, 3), (3, 1)]), ("baddbmm", [(1, 0, 1), (1, 0, 3), (1, 3, 1)]),
                                          ("addmv", [(2,), (2, 0), (0,)]), ("baddbmm", [(1, 1, 1), (1, 1, 0), (1, 0, 1)]),
                                          ("baddbmm", [(1, 20, 20), (1, 20, 30), (1, 30, 20)]), ("bmm", [(1, 20, 30), (1, 30, 20)])])  # fmt: skip
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float64", "uint16"])
def test_dtypes_of_products(name, shapes, dtype):
    """Each dtype, values of alpha and beta that may not fit it, and operands of two dtypes."""
    operands = [both(lambda m, s=shape: m.ones(s, dtype=getattr(m, dtype))) for shape in shapes]
    numbers = [1, 0, 3, -2, True, 1.5, 300, 1e30, 1e300] if name != "bmm" else []
    for call in [{}] + [{"beta": number} for number in numbers] + [{"alpha": number} for number in numbers]:
        same(lambda m, *x, **given: getattr(m, name)(*x, **given), *operands, exact=None, **call)
    for at in range(len(operands)):
        for other in ("float32", "int16", "bool", "float64"):
            mixed = list(operands)
            mixed[at] = both(lambda m: m.ones(shapes[at], dtype=getattr(m, other)))
            same(lambda m, *x: getattr(m, name)(*x), *mixed, exact=None)


@pytest.mark.parametrize("beta", [0, 1])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32", "complex64"])
@pytest.mark.parametrize("name, sizes", [("addmm", [(2, 2), (2, 0), (0, 2)]), ("addmm", [(2, 2), (2, 3), (3, 2)]), ("addmv", [(2,), (2, 0), (0,)]),
                                         ("addbmm", [(2, 2), (0, 2, 3), (0, 3, 2)]), ("baddbmm", [(2, 2, 2), (2, 2, 0), (2, 0, 2)]),
                                         ("mm", [(2, 0), (0, 2)]), ("bmm", [(2, 2, 0), (2, 0, 2)]), ("mv", [(2, 0), (0,)])])  # fmt: skip
def test_products_into_expanded_outputs(name, sizes, dtype, beta):
    """PyTorch writes zeros to elements that share memory, and refuses what it would add."""
    if name == "addbmm" and dtype == "bool" and beta:
        return  # two errors, in another order
    given = {"beta": beta} if "add" in name else {}
    operands = [both(lambda m, s=size: m.ones(s, dtype=getattr(m, dtype))) for size in sizes]
    expanded = {"mv": (2,), "addmv": (2,), "bmm": (2, 2, 2), "baddbmm": (2, 2, 2)}.get(name, (2, 2))
    for first in ((1,), (2,)):
        out = both(lambda m: m.ones(first, dtype=getattr(m, dtype)).expand(expanded))
        same(lambda m, o, *x, **given: getattr(m, name)(*x, out=o, **given), out, *operands, **given)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("alpha", [0, 1])
def test_products_with_infinities(dtype, alpha):
    infinite, one = (both(lambda m, n=number: m.full((20, 20), n, dtype=getattr(m, dtype))) for number in (float("inf"), 1.0))
    for beta in (0, 1):
        same(lambda m, x, y: m.addmm(y, x, y, alpha=alpha, beta=beta), infinite, one)
        same(lambda m, x, y: m.addmv(y[0], x, y[0], alpha=alpha, beta=beta), infinite, one)
        same(lambda m, x, y: m.baddbmm(y[None], x[None], y[None], alpha=alpha, beta=beta), infinite, one)
        same(lambda m, x, y: m.addmm(x, y, y, alpha=alpha, beta=beta), infinite, one)


def test_products_that_are_too_large():
    same(lambda m, x: x.expand(2**40, 2) @ x.expand(2, 2**40), both(lambda m: m.ones(1, 1)))
    same(lambda m, x: m.baddbmm(x, x.expand(2**40, 2, 2), x.expand(2**40, 2, 2**40)), both(lambda m: m.ones(1, 1, 1)))


def test_out_dtype_is_not_implemented_on_cpu():
    for product in ("mm", "bmm", "addmm", "baddbmm"):
        for extra in ({}, {"out": True}):
            def call(m, x):
                try:
                    return getattr(m, product)(*[x] * (3 if "add" in product else 2), m.float64, **({"out": x} if extra else {}))
                except NotImplementedError as error:
                    return str(error).split(" This could be because")[0]

            same(call, tensor([[1.0]], "float32"))


def test_other_calls():
    """T and mT of 0-dim tensors, ~ of floats, parameter names of scalar_tensor and copy_."""
    zero_dim, floats = tensor(1.0, "float32"), tensor([1.0], "float32")
    same(lambda m, x: x.T, zero_dim)
    same(lambda m, x: x.mT, zero_dim)
    same(lambda m, x: ~x, floats)
    same(lambda m: m.scalar_tensor(s=2))
    same(lambda m: m.scalar_tensor(self=2))
    same(lambda m, x: x.copy_(other=x), floats)
    same(lambda m, x: x.copy_(src=x), floats)
    same(lambda m, x: x.cpu(memory_format=m.channels_last), floats)
    same(lambda m: float(m.ones(2, requires_grad=True)))


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint16", "float32", "complex64"])
def test_nan_to_num_into_another_device(dtype):
    """Integers are copied and complex numbers written in parts; both refuse the device as floats do."""
    for out in ("int64", "complex64", "float32", dtype):
        same(lambda m: m.nan_to_num(m.ones(2, dtype=getattr(m, dtype)), out=m.empty(2, dtype=getattr(m, out), device="meta")))


COMPLEX = lambda m: m.arange(6).reshape(2, 3) + 1j
PARTS = {
    "whole": lambda m, out: m.slice_scatter(m.arange(6.0).reshape(2, 3), m.ones(1, 3), 0, 1, 2, out=out),
    "transposed": lambda m, out: m.slice_scatter(m.arange(6.0).reshape(3, 2).t(), m.ones(2, 1), 1, 0, 3, 3, out=out),
    "wrong size": lambda m, out: m.slice_scatter(m.arange(6.0).reshape(2, 3), m.ones(1, 4), 0, 1, 2, out=out),
    "no step": lambda m, out: m.slice_scatter(m.arange(6.0).reshape(2, 3), m.ones(1, 3), 0, 1, 2, 0, out=out),
    "running sum without imaginary parts": lambda m, out: m.cumsum(COMPLEX(m), 0, out=out),
    "running product without imaginary parts": lambda m, out: m.cumprod(COMPLEX(m), 1, out=out),
    "clamp by a complex number": lambda m, out: m.clamp(m.arange(6.0).reshape(2, 3), min=1j, out=out),
    "the only matrix of a chain": lambda m, out: m.chain_matmul(m.arange(6.0).reshape(2, 3), out=out),
    "clamp by complex numbers": lambda m, out: m.clamp(m.arange(6.0).reshape(2, 3), 1j, 2 + 0j, out=out),
}
OUTS = {
    "fits": lambda m: m.zeros(2, 3), "empty": lambda m: m.zeros(0), "another shape": lambda m: m.zeros(2, 2), "strided": lambda m: m.zeros(3, 2).t(),
    "another dtype": lambda m: m.zeros(2, 3, dtype=m.float64), "complex": lambda m: m.zeros(2, 3, dtype=m.complex64), "expanded": lambda m: m.zeros(1, 3).expand(2, 3),
}  # fmt: skip


@pytest.fixture
def every_warning():
    """PyTorch warns of lost imaginary parts once per process, unless it is told to warn always."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.parametrize("out", OUTS)
@pytest.mark.parametrize("name", PARTS)
def test_what_is_written_and_warned_of(every_warning, name, out):
    if name.startswith("running") and out == "complex":
        pytest.skip("nothing is lost")
    same(PARTS[name], both(OUTS[out]))


def test_slice_scatter_into_its_operands():
    for write in (lambda m, x: m.slice_scatter(x, m.ones(1, 3), 0, 1, 2, out=x), lambda m, x: m.slice_scatter(x, x[:1] * 2, 0, 1, 2, out=x)):
        same(write, both(lambda m: m.arange(6.0).reshape(2, 3)))
