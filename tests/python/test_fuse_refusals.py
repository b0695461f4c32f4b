"""What tenon.fuse refuses to trace: the error says why, and nothing is changed."""

import pytest
import tenon

DRAWN = tenon.zeros(3)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + tenon.rand(3),
        lambda x: x * tenon.rand_like(x),
        lambda x: x * tenon.randn_like(x),
        lambda x: x * tenon.randint_like(x, 5),
        lambda x: x * tenon.empty_like(x).uniform_(),
        lambda x: tenon.bernoulli(x),
        lambda x: tenon.nn.functional.dropout(x),
        lambda x: tenon.nn.functional.alpha_dropout(x, training=True),
        lambda x: tenon.nn.functional.rrelu(x, training=True),
        lambda x: x * DRAWN.uniform_(),
    ],
)
def test_random_numbers_are_refused(function):
    before = DRAWN.clone()
    with pytest.raises(RuntimeError, match=r"tenon.fuse: .* draws random numbers, which would be the same in each call"):
        tenon.fuse(function)(tenon.ones(3))
    assert tenon.equal(DRAWN, before)


def test_requires_grad_of_an_argument_is_refused():
    x = tenon.ones(3)
    with pytest.raises(RuntimeError, match=r"tenon.fuse: requires_grad_\(\) of an argument can't be traced"):
        tenon.fuse(lambda x: x.requires_grad_() * 2)(x)
    assert not x.requires_grad


def test_a_function_that_calls_itself_is_named_once():
    @tenon.fuse
    def endless(x):
        return endless(x) + 1

    with pytest.raises(RecursionError) as caught:
        endless(tenon.ones(3))
    assert len(caught.value.__notes__) == 1
    assert tenon.equal(tenon.fuse(lambda x: x + 1)(tenon.ones(3)), tenon.full((3,), 2.0))
