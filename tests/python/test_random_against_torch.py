"""Random numbers are PyTorch's: the same seed gives the same stream, whatever is drawn."""

import math

import pytest

torch = pytest.importorskip("torch")

import tenon

import judge
from judge import Both, dtype, same

pytestmark = pytest.mark.filterwarnings("ignore:.* is out of bounds")  # of integers that a float dtype has not

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "bool"]
SIZES = [(), (0,), (1,), (7,), (15,), (16,), (17,), (31,), (100,), (3, 5), (4, 4), (40, 50), (5000,), (3, 0, 2)]


def seeded(m, seed):
    m.manual_seed(seed)
    return m


def both(call, seed=1):
    return call(seeded(tenon, seed)), call(seeded(torch, seed))


def assert_equal(call, seed=1):
    ours, theirs = both(call, seed)
    assert judge.described(ours) == judge.described(theirs)
    assert ours.tolist() == theirs.tolist()
    # The streams stand at the same place, too.
    assert tenon.rand(3).tolist() == torch.rand(3).tolist()


def assert_near(call, seed=1, ulps=4):
    ours, theirs = both(call, seed)
    assert judge.described(ours) == judge.described(theirs)
    ours = torch.from_dlpack(ours.contiguous())
    limit = ulps * torch.finfo(theirs.dtype).eps * theirs.abs() + 1e-300
    assert ((ours - theirs).abs() <= limit).all()
    assert tenon.rand(3).tolist() == torch.rand(3).tolist()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", [*FLOATS, "complex64", "complex128"])
def test_rand(size, name):
    assert_equal(lambda m: m.rand(size, dtype=getattr(m, name)))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "complex64"])
def test_randn(size, name):
    assert_equal(lambda m: m.randn(size, dtype=getattr(m, name)))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", ["float64", "complex128"])
def test_randn_in_float64(size, name):
    assert_near(lambda m: m.randn(size, dtype=getattr(m, name)))


def test_normal_numbers_come_in_pairs():
    """The second of a pair waits for the next call."""
    assert_equal(lambda m: m.cat([m.randn(1), m.rand(1), m.randn(2), m.randn(20), m.randn(1)]))


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("bounds", [(0, 2), (-3, 7), (0, 100), (0, 2**27), (0, 2**28), (-(2**33), 2**40), (-(2**62), 2**62)], ids=str)
def test_randint(name, bounds):
    def call(m):
        return m.randint(*bounds, (50,), dtype=getattr(m, name))

    try:
        torch.randint(*bounds, (1,), dtype=getattr(torch, name))
    except RuntimeError:
        same(lambda m: m.randint(*bounds, (5,), dtype=getattr(m, name)))
        return
    assert_equal(call)


@pytest.mark.parametrize("name", ["int64", "int32", "int16", "uint8", "float32", "float64", "float16"])
@pytest.mark.parametrize("n", [0, 1, 2, 10, 100, 5000])
def test_randperm(name, n):
    try:
        torch.randperm(n, dtype=getattr(torch, name))
    except RuntimeError:
        same(lambda m: m.randperm(n, dtype=getattr(m, name)))
        return
    assert_equal(lambda m: m.randperm(n, dtype=getattr(m, name)))


LIKE = {
    "dense": lambda m, name: m.zeros(6, 7, dtype=getattr(m, name)),
    "transposed": lambda m, name: m.zeros(7, 6, dtype=getattr(m, name)).t(),
    "permuted": lambda m, name: m.zeros(4, 2, 3, dtype=getattr(m, name)).permute(1, 2, 0),
    "gaps": lambda m, name: m.zeros(6, 9, dtype=getattr(m, name))[:, ::2],
    "transposed gaps": lambda m, name: m.zeros(9, 6, dtype=getattr(m, name))[::2].t(),
    "tiny": lambda m, name: m.zeros(3, dtype=getattr(m, name)),
    "number": lambda m, name: m.zeros((), dtype=getattr(m, name)),
}


@pytest.mark.parametrize("layout", LIKE)
@pytest.mark.parametrize("name", ["rand_like", "randn_like"])
def test_like(name, layout):
    assert_equal(lambda m: getattr(m, name)(LIKE[layout](m, "float32")))


@pytest.mark.parametrize("layout", LIKE)
def test_randint_like(layout):
    assert_equal(lambda m: m.randint_like(LIKE[layout](m, "int32"), 9))
    assert_equal(lambda m: m.randint_like(LIKE[layout](m, "float32"), -4, 9))
    assert_equal(lambda m: m.randint_like(LIKE[layout](m, "int64"), m.tensor(5)))


WRITES = {
    "uniform_": [(), (2, 5), (-1e-3, 1e30)],
    "normal_": [(), (3.0, 0.5), (-1, 0), (100, 17)],
    "random_": [(), (5,), (3, 9), (2, None), (-7, 2**40), (-(2**63), None), (-(2**63), 2**63 - 1), (-(2**63) + 1, None)],
    "geometric_": [(0.5,), (0.01,)],
}
CASES = [(name, args) for name, calls in WRITES.items() for args in calls]


@pytest.mark.parametrize("layout", LIKE)
@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("method, args", CASES, ids=str)
def test_write(method, args, name, layout):
    def call(m):
        return getattr(LIKE[layout](m, name), method)(*args)

    try:
        call(torch)
    except RuntimeError:
        same(lambda m: call(m))
        return
    if name == "float64" and method == "normal_":
        assert_near(call)
    else:
        assert_equal(call)


@pytest.mark.parametrize("layout", LIKE)
@pytest.mark.parametrize("name", FLOATS)
def test_bernoulli(name, layout):
    assert_equal(lambda m: m.bernoulli(LIKE[layout](m, name).fill_(0.3)))


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_bernoulli_of_a_tensor_in_place(name):
    assert_equal(lambda m: m.zeros(4, 5, dtype=getattr(m, name)).bernoulli_(m.linspace(0, 1, 5)))
    assert_equal(lambda m: m.zeros(5, 4, dtype=getattr(m, name)).t().bernoulli_(m.linspace(0, 1, 5, dtype=m.float64)))


@pytest.mark.parametrize("name", FLOATS)
def test_poisson(name):
    assert_equal(lambda m: m.poisson(m.arange(60, dtype=getattr(m, name)).reshape(12, 5).t()))


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("most", [0.7, 30, 40.5, 1e4, 1e9])
def test_binomial(most, name):
    """Few expected successes are drawn by sums, many by rejection; likely ones are counted by their failures."""
    def counts(m):
        return m.linspace(0, most, 40, dtype=getattr(m, name)).reshape(8, 5)

    assert_equal(lambda m: m.binomial(counts(m).t(), m.linspace(-0.1, 1.1, 40, dtype=getattr(m, name)).reshape(5, 8)))
    assert_equal(lambda m: m.binomial(counts(m).round(), m.tensor([0.02, 0.3, 0.5, 0.9, 0.7], dtype=getattr(m, name))))
    assert_equal(lambda m: m.binomial(m.full((3000,), most, dtype=getattr(m, name)), m.rand(3000, dtype=getattr(m, name))))


def test_binomial_of_special_counts():
    special = [float("nan"), float("inf"), -1.0, 0.0]
    assert [repr(number) for number in tenon.binomial(tenon.tensor(special), tenon.full((4,), 0.5)).tolist()] == ["nan", "nan", "0.0", "0.0"]
    generator = tenon.Generator().manual_seed(3)
    drawn = tenon.binomial(tenon.full((9,), 50.0), tenon.full((9,), 0.5), generator=generator)
    assert drawn.tolist() == torch.binomial(torch.full((9,), 50.0), torch.full((9,), 0.5), torch.Generator().manual_seed(3)).tolist()


@pytest.mark.parametrize("name", FLOATS)
def test_multinomial_with_replacement(name):
    assert_equal(lambda m: m.multinomial(m.arange(40, dtype=getattr(m, name)).reshape(4, 10), 30, replacement=True))
    assert_equal(lambda m: m.multinomial(m.tensor([0, 2, 0, 1], dtype=getattr(m, name)), 9, True))


def test_multinomial_without_replacement():
    """Another stream than PyTorch's: the weights decide how often a place comes."""
    tenon.manual_seed(1)
    weights = tenon.tensor([1.0, 0.0, 3.0, 4.0])
    drawn = tenon.multinomial(weights.expand(20000, 4), 1)
    shares = [(drawn == i).sum().item() / 20000 for i in range(4)]
    assert shares[1] == 0 and all(abs(share - weight / 8) < 0.015 for share, weight in zip(shares, weights.tolist()))
    assert sorted(tenon.multinomial(weights, 3).tolist()) == [0, 2, 3]
    assert tenon.multinomial(weights, 1).shape == (1,) and tenon.multinomial(weights.expand(5, 4), 2).shape == (5, 2)


@pytest.mark.parametrize("mean", [2.5, [1.0, 2.0, 3.0]], ids=str)
@pytest.mark.parametrize("std", [0.5, [[0.0], [2.0]]], ids=str)
def test_normal(mean, std):
    def call(m):
        numbers = [m.tensor(x) if isinstance(x, list) else x for x in (mean, std)]
        return m.normal(*numbers) if any(isinstance(x, list) for x in (mean, std)) else m.normal(*numbers, (30,))

    assert_equal(call)


def moments(x):
    return x.double().mean().item(), x.double().std().item()


@pytest.mark.parametrize("method, args, mean, std", [("exponential_", (2.0,), 0.5, 0.5), ("bernoulli_", (0.3,), 0.3, math.sqrt(0.21)), ("log_normal_", (0.0, 0.25), math.exp(1 / 32), 0.2581)])
def test_moments_where_the_stream_is_another(method, args, mean, std):
    tenon.manual_seed(2)
    got = moments(getattr(tenon.empty(100000), method)(*args))
    assert got == pytest.approx((mean, std), rel=0.02)


def test_cauchy():
    tenon.manual_seed(2)
    x = tenon.empty(100001, dtype=tenon.float64).cauchy_(1, 2)
    quarters = x.sort().values[[25000, 50000, 75000]].tolist()
    assert quarters == pytest.approx([-1, 1, 3], abs=0.06)


def test_a_generator():
    def call(m):
        generator = m.Generator().manual_seed(5)
        return m.cat([m.rand(3, generator=generator), m.randn(20, generator=generator), m.zeros(4).uniform_(generator=generator),
                      m.randperm(5, generator=generator).float(), m.bernoulli(m.full((9,), 0.5), generator=generator),
                      m.rand_like(m.zeros(2), generator=generator)])  # fmt: skip

    assert_equal(call)


def test_states_are_exchanged():
    for draws in (0, 1, 623, 624, 625):
        generator, other = torch.Generator().manual_seed(7), tenon.Generator().manual_seed(7)
        torch.rand(draws, generator=generator)
        tenon.rand(draws, generator=other)
        assert other.get_state().tolist() == generator.get_state().tolist()
        torch.randn(3, generator=generator)
        given = tenon.Generator()
        given.set_state(tenon.from_dlpack(generator.get_state()))
        assert tenon.randn(40, generator=given).tolist() == torch.randn(40, generator=generator).tolist()
        assert given.initial_seed() == 7


def test_fork_rng_leaves_the_stream_alone():
    tenon.manual_seed(3)
    state = tenon.get_rng_state()
    first = tenon.rand(5).tolist()
    tenon.set_rng_state(state)
    assert tenon.rand(5).tolist() == first


ERRORS = {
    "randint_like of a vector": lambda m: m.randint_like(m.zeros(3), m.ones(2, dtype=m.int64)),
    "normal std": lambda m: m.zeros(3).normal_(0, -1),
    "normal int": lambda m: m.zeros(3, dtype=m.int64).normal_(),
    "normal negative stds": lambda m: m.normal(m.zeros(3), m.tensor([1.0, -1, 1])),
    "normal negative std": lambda m: m.normal(m.zeros(3), -1),
    "normal sizes": lambda m: m.normal(m.zeros(3), m.ones(2)),
    "normal complex": lambda m: m.normal(m.zeros(3), m.ones(3, dtype=m.complex64)),
    "normal overlap": lambda m: m.zeros(1).expand(3).normal_(),
    "normal leaf": lambda m: m.zeros(3, requires_grad=True).normal_(),
    "uniform order": lambda m: m.zeros(3).uniform_(2, 1),
    "uniform int": lambda m: m.zeros(3, dtype=m.int64).uniform_(),
    "uniform half": lambda m: m.zeros(3, dtype=m.float16).uniform_(0, 1e30),
    "uniform width": lambda m: m.zeros(3).uniform_(-3e38, 3e38),
    "uniform bound": lambda m: m.zeros(3).uniform_(0, 1e39),
    "bernoulli p": lambda m: m.zeros(3).bernoulli_(2),
    "bernoulli element": lambda m: m.bernoulli(m.full((3,), 2.0)),
    "bernoulli int": lambda m: m.bernoulli(m.zeros(3, dtype=m.int64)),
    "bernoulli complex": lambda m: m.zeros(3, dtype=m.complex64).bernoulli_(),
    "bernoulli sizes": lambda m: m.zeros(3).bernoulli_(m.ones(2)),
    "exponential": lambda m: m.zeros(3).exponential_(-1),
    "exponential int": lambda m: m.zeros(3, dtype=m.int64).exponential_(),
    "geometric": lambda m: m.zeros(3).geometric_(2.0),
    "geometric bool": lambda m: m.zeros(3, dtype=m.bool).geometric_(0.5),
    "log_normal": lambda m: m.zeros(3).log_normal_(1, -1),
    "log_normal int": lambda m: m.zeros(3, dtype=m.int64).log_normal_(),
    "cauchy": lambda m: m.zeros(3).cauchy_(0, -1),
    "cauchy int": lambda m: m.zeros(3, dtype=m.int64).cauchy_(),
    "random complex": lambda m: m.zeros(3, dtype=m.complex64).random_(),
    "random order": lambda m: m.zeros(3).random_(3, 2),
    "random int8": lambda m: m.zeros(3, dtype=m.int8).random_(0, 300),
    "multinomial int": lambda m: m.multinomial(m.zeros(3, dtype=m.int64), 1),
    "multinomial none": lambda m: m.multinomial(m.zeros(3), 1),
    "multinomial negative": lambda m: m.multinomial(m.tensor([1.0, -1]), 1),
    "multinomial nan": lambda m: m.multinomial(m.tensor([1.0, float("nan")]), 1),
    "multinomial no samples": lambda m: m.multinomial(m.ones(3), 0),
    "multinomial too many": lambda m: m.multinomial(m.ones(3), 4),
    "multinomial dims": lambda m: m.multinomial(m.ones(2, 2, 2), 1),
    "multinomial number": lambda m: m.multinomial(m.tensor(1.0), 1),
    "multinomial negative, replaced": lambda m: m.multinomial(m.tensor([1.0, -1]), 2, True),
    "multinomial infinite, replaced": lambda m: m.multinomial(m.tensor([1.0, float("inf")]), 2, True),
    "multinomial none, replaced": lambda m: m.multinomial(m.zeros(2), 2, True),
    "multinomial empty": lambda m: m.multinomial(m.zeros(0), 1),
    "poisson int": lambda m: m.poisson(m.zeros(3, dtype=m.int64)),
    "poisson negative": lambda m: m.poisson(-m.ones(3)),
    "binomial int": lambda m: m.binomial(m.ones(3, dtype=m.int64), m.ones(3)),
    "binomial int probabilities": lambda m: m.binomial(m.ones(3), m.ones(3, dtype=m.int64)),
    "binomial half": lambda m: m.binomial(m.ones(3).half(), m.ones(3).half()),
    "binomial of two dtypes": lambda m: m.binomial(m.ones(3), m.ones(3).double()),
    "binomial sizes": lambda m: m.binomial(m.ones(3), m.ones(4)),
    "binomial number": lambda m: m.binomial(m.ones(3), 0.5),
    "randperm negative": lambda m: m.randperm(-1),
    "randperm half": lambda m: m.randperm(3000, dtype=m.half),
    "randperm uint8": lambda m: m.randperm(300, dtype=m.uint8),
    "randperm bool": lambda m: m.randperm(3, dtype=m.bool),
    "randperm complex": lambda m: m.randperm(3, dtype=m.complex64),
    "randperm float": lambda m: m.randperm(2.5),
    "wrong word": lambda m: m.zeros(3).normal_("x"),
    "wrong words": lambda m: m.zeros(3).random_("x"),
    "too many words": lambda m: m.zeros(3).uniform_(0, 1, 2),
    "wrong generator": lambda m: m.rand(3, generator=5),
    "state": lambda m: m.Generator().set_state(m.zeros(5, dtype=m.uint8)),
    "zero state": lambda m: m.Generator().set_state(m.zeros(5056, dtype=m.uint8)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    same(ERRORS[name])


def test_writes_have_a_history():
    def call(m):
        x = m.ones(3, requires_grad=True)
        y = x * 2
        y.uniform_()
        (y.sum() + x.sum()).backward()
        return x.grad

    assert_equal(call)


def test_versions_count_writes():
    x = tenon.zeros(3)
    version = x._version
    x.normal_().uniform_()
    assert x._version == version + 2


def turned(m, size, **options):
    return m.empty(size[::-1], **options).permute(tuple(range(len(size)))[::-1])


def with_gaps(m, size, **options):
    return m.empty((*size[:-1], size[-1] * 2), **options)[..., ::2]


# Which element gets which number depends on the strides of what is written.
@pytest.mark.parametrize("layout", [turned, with_gaps])
@pytest.mark.parametrize("size", [(2, 3), (5, 5), (2, 3, 4), (40, 50)], ids=str)
def test_drawn_into_strided_outputs(size, layout):
    shares = [0.5] * math.prod(size)
    assert_equal(lambda m: m.rand(size, out=layout(m, size)))
    assert_equal(lambda m: m.randint(100, size, out=layout(m, size, dtype=m.int64)))
    assert_equal(lambda m: m.bernoulli(m.tensor(shares).reshape(size), out=layout(m, size)))
    assert_near(lambda m: m.randn(size, out=layout(m, size)))
    assert_near(lambda m: m.normal(m.zeros(size), m.ones(size), out=layout(m, size)))
    assert_near(lambda m: m.normal(m.zeros(size), 2.0, out=layout(m, size)))
    assert_near(lambda m: m.normal(0.0, 2.0, size, out=layout(m, size)))


@pytest.mark.parametrize("size", [(3, 5), (5, 3), (4, 4), (1, 6), (6, 1), (8, 3, 2, 2), (40, 70), (0, 3)], ids=str)
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_orthogonal(name, size):
    def call(m):
        out = m.empty(size, dtype=getattr(m, name)).requires_grad_()
        assert m.nn.init.orthogonal_(out, 1.5) is out
        return out.detach()

    ours, theirs = both(call)
    assert judge.described(ours) == judge.described(theirs)
    assert (torch.from_dlpack(ours) - theirs).abs().sum() <= 100 * torch.finfo(theirs.dtype).eps * (1 + theirs.abs().sum())
    assert tenon.rand(3).tolist() == torch.rand(3).tolist()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "int32"])
def test_orthogonal_refuses(name):
    same(lambda m: m.nn.init.orthogonal_(m.empty(3, 4, dtype=getattr(m, name))))
    same(lambda m: m.nn.init.orthogonal_(m.empty(3)))
