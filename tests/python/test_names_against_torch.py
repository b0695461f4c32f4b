"""PyTorch's other names of ops, and its functions that write in place."""

import re

import pytest

torch = pytest.importorskip("torch")

import tenon

from judge import same

OTHER_NAME = re.compile(r"(?:Alias (?:for|of)|In-place version of) :\w+:`~?(?:torch\.)?([\w.]+)")
INPLACE = sorted(name for name in dir(torch) if name.endswith("_") and not name.startswith("_") and hasattr(tenon.Tensor, name))


def found(path):
    value = tenon
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


@pytest.mark.parametrize("theirs, ours", [(torch, tenon), (torch.special, tenon.special), (torch.Tensor, tenon.Tensor)], ids=["torch", "special", "Tensor"])
def test_no_other_name_is_missing(theirs, ours):
    missing = []
    for name in dir(theirs):
        doc = getattr(getattr(theirs, name), "__doc__", None)
        other = OTHER_NAME.search(doc) if isinstance(doc, str) else None
        if not name.startswith("_") and other and found(other.group(1)) and not hasattr(ours, name):
            missing.append(name)
    assert not missing


def test_every_inplace_function_is_there():
    assert len(INPLACE) > 50
    assert [name for name in INPLACE if not hasattr(tenon, name)] == []


# The others are given numbers, integers, or tensors of one dim.
ARGUMENTS = {"clamp_": (0.4,), "clip_": (0.4,), "clamp_min_": (0.4,), "clamp_max_": (0.4,), "fill_": (2,), "threshold_": (0.4, 2), "as_strided_": ((2,), (1,))}
TENSORS = ("xlogy_", "ldexp_", "gcd_", "lcm_")
OTHER_OPERANDS = ("addmv_", "index_put_", "resize_as_", "detach_")


@pytest.mark.parametrize("name", [name for name in INPLACE if name not in OTHER_OPERANDS])
def test_inplace_function(name):
    dtype = "int64" if name in ("gcd_", "lcm_") else "float64"

    def call(m, *given):
        x = m.tensor([1, 1, 2], dtype=getattr(m, dtype)) / (2 if dtype == "float64" else m.tensor(1))
        x = x.to(getattr(m, dtype))
        others = (m.tensor([2, 3, 1], dtype=getattr(m, dtype)),) if name in TENSORS else ARGUMENTS.get(name, ())
        result = getattr(m, name)(x, *others, *given)
        return result is x, x._version, x

    same(call, exact=False)
    same(lambda m: call(m, "x"))
    same(lambda m: getattr(m, name)())
    same(lambda m: getattr(m, name)("x"))
    same(lambda m: getattr(m, name)(m.ones(2), out=m.ones(2)))
    same(lambda m: getattr(m, name)(m.ones(3, requires_grad=True), *ARGUMENTS.get(name, (m.ones(3),) * (name in TENSORS))), any_mistake=True)


def test_fill():
    for value in (2, 2.5, True, 1j, 1e300, "x", None):
        same(lambda m: m.fill(m.zeros(2, 3).t(), value))
        same(lambda m: m.fill(m.zeros(2, dtype=m.int8), value))
    same(lambda m: m.fill(m.zeros(2), m.tensor(3.0)))
    same(lambda m: m.fill(m.zeros(2), m.ones(2)))
    same(lambda m: m.fill(m.zeros(2), value=1))
    same(lambda m: m.fill(m.zeros(2)))


@pytest.mark.parametrize("name", ["heaviside", "floor_divide"])
def test_ops_without_derivative(name):
    def call(m, backward, place):
        x, y = m.tensor([0.0, 1.0, -2.5]), m.tensor([3.0, 4.0, 2.0])
        operands = [x, y]
        operands[place].requires_grad_()
        result = getattr(m, name)(*operands)
        if backward:
            result.sum().backward()
        return result.grad_fn.name(), type(result.grad_fn).__name__, result

    for place in (0, 1):
        same(lambda m: call(m, False, place))
        same(lambda m: call(m, True, place))


def test_views_in_place_by_other_names():
    for change in (lambda x: x.swapaxes_(0, 1), lambda x: x.swapdims_(0, -1), lambda x: x.as_strided_((2, 2), (1, 2), 1), lambda x: x.as_strided_((9,), (1,))):
        same(lambda m: change(m.arange(6.0).reshape(2, 3)))
        same(lambda m: change(m.ones(2, 3, requires_grad=True)))

        def gradient(m):
            x = m.arange(6.0).reshape(2, 3).requires_grad_()
            y = x * 2
            change(y)
            return y.grad_fn.name(), m.autograd.grad((y * y).sum(), x)[0]

        same(gradient)


def test_rrelu_draws_from_a_generator():
    x = -tenon.ones(5)

    def drawn(**given):
        return tenon.rrelu(x, 0.1, 0.3, True, **given).tolist()

    first = drawn(generator=tenon.Generator().manual_seed(3))
    before = tenon.get_rng_state()
    assert drawn(generator=tenon.Generator().manual_seed(3)) == first != drawn(generator=tenon.Generator().manual_seed(4))
    assert tenon.rrelu_(x.clone(), 0.1, 0.3, True, tenon.Generator().manual_seed(3)).tolist() == first
    assert tenon.get_rng_state().tolist() == before.tolist() and drawn(generator=None) != first
    same(lambda m: m.rrelu(m.ones(2), 0.1, 0.3, True, 5))
    same(lambda m: m.rrelu_(m.ones(2), generator="x"))
