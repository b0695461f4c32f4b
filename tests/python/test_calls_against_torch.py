"""Calls with rules that are easy to get wrong, compared with PyTorch."""

import pytest

pytest.importorskip("torch")

import numpy as np

from judge import same

KEYS = {
    "lists in a list": lambda m: [[0, 1], [1, 0]],
    "one list in a list": lambda m: [[0, 1]],
    "masks in a list": lambda m: [[True, False], [False, True]],
    "a slice": lambda m: [slice(0, 1)],
    "None": lambda m: [None],
    "an ellipsis": lambda m: [...],
    "a number and a slice": lambda m: [0, slice(None)],
    "a tensor": lambda m: [m.tensor([0, 1])],
    "0-dim tensors": lambda m: [m.tensor(1), m.tensor(0)],
    "an array": lambda m: [np.array([0, 1])],
    "empty lists": lambda m: [[], []],
    "an empty list": lambda m: [],
    "a string": lambda m: "ab",
    "a string in a list": lambda m: ["a"],
    "31 lists": lambda m: [[0]] * 31,
    "32 lists": lambda m: [[0, 1]] * 32,
    "floats": lambda m: [1.0, 0.5],
    "floats in a list": lambda m: [[1.5]],
    "an array of floats": lambda m: np.array([1.5, 0.0]),
    "an array of nothing": lambda m: np.array([]),
    "a range": lambda m: range(2),
    "bools": lambda m: [True, False],
    "a bool and a number": lambda m: [True, 1],
    "a tuple with a mixed list": lambda m: ([0, [1]],),
    "a mixed list": lambda m: [[0, [1]]],
    "a dict": lambda m: {0: 1},
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_sequences_as_indices(key):
    """A short list that contains anything but numbers is treated as a tuple, with a warning."""

    def written(m):
        x = m.arange(4.0).reshape(2, 2)
        x[key(m)] = 9
        return x

    same(lambda m: m.arange(4.0).reshape(2, 2)[key(m)])
    same(written)


@pytest.mark.parametrize("name", ["__iand__", "__ior__", "__ixor__"])
@pytest.mark.parametrize("other", [True, False, [True, False], [[True, True], [False, True]], None])
def test_logic_in_place(name, other):
    """`flags |= more` writes to the tensor `flags`."""

    def written(m):
        flags = m.tensor([True, False])
        operand = m.tensor(other) if isinstance(other, list) else other
        result = getattr(flags, name)(operand)
        return "not implemented" if result is NotImplemented else (flags, result is flags, flags._version)

    same(written)


TWICE = {
    "number": lambda m, x: x * 2,
    "reflected number": lambda m, x: 2 * x,
    "bool": lambda m, x: x * True,
    "divided": lambda m, x: x / 2,
    "number divided": lambda m, x: 2 / x,
    "rounded down": lambda m, x: m.div(x, 2, rounding_mode="floor"),
    "rounded toward zero": lambda m, x: m.div(x, m.tensor(2.0), rounding_mode="trunc"),
    "in place": lambda m, x: (x + 1).mul_(3),
    "added": lambda m, x: x + 2,
    "from a number": lambda m, x: 2 - x,
    "factor": lambda m, x: m.add(x, x, alpha=2),
    "clamp": lambda m, x: m.clamp(x, min=2),
    "where": lambda m, x: m.where(x > 1, x, 2.0),
    "filled": lambda m, x: (x + 1).fill_(2),
    "comparison in place": lambda m, x: (x + 1).eq_(3),
    "mean": lambda m, x: x.mean(0),
    "expanded": lambda m, x: x.expand(2, 3),
    "square": lambda m, x: m.square(x),
}


@pytest.mark.parametrize("retain", [False, True])
@pytest.mark.parametrize("forward", TWICE.values(), ids=TWICE.keys())
def test_backward_twice(forward, retain):
    """Without retain_graph, the second backward is an error if PyTorch saves anything for backward, even a number."""

    def gradient(m):
        x = m.tensor([1.0, 2.0, 3.0], requires_grad=True)
        result = forward(m, x).sum()
        result.backward(retain_graph=retain)
        result.backward()
        return x.grad

    same(gradient)


@pytest.mark.parametrize("rounding", ["floor", "trunc"])
def test_versions_of_a_rounded_quotients_operands(rounding):
    def gradient(m):
        x, y = m.tensor([1.0, 2.0], requires_grad=True), m.tensor([2.0, 3.0])
        result = m.div(x, y, rounding_mode=rounding).sum()
        y.add_(1)
        result.backward()
        return x.grad

    same(gradient)


@pytest.mark.parametrize("options", [{"device": "meta"}, {"dtype": "float64"}, {"device": "meta", "dtype": "float64"}], ids=str)
@pytest.mark.parametrize("size", [3, 4])
def test_an_assigned_gradient_must_fit(options, size):
    def assigned(m):
        x = m.ones(3, requires_grad=True)
        x.grad = m.empty(size, **{name: getattr(m, value) if name == "dtype" else value for name, value in options.items()})

    same(assigned)


@pytest.mark.parametrize("one_dim", [False, True])
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    "call",
    [
        lambda m, number: m.full((2,), number),
        lambda m, number: m.full_like(m.ones(2), number),
        lambda m, number: m.ones(2).new_full((2,), number),
        lambda m, number: m.arange(number),
        lambda m, number: m.add(m.ones(2), 1, alpha=number),
    ],
)
def test_a_tensor_for_a_number(call, requires_grad, one_dim):
    """A number may be given as a 0-dim tensor that does not require grad."""
    same(lambda m: call(m, m.tensor([3.5] if one_dim else 3.5, requires_grad=requires_grad)))


def test_assigning_data():
    """`x.data = ...` changes the tensor for every variable that refers to it, also if it is a gradient."""

    def assigned(m):
        x = m.ones(3, requires_grad=True)
        (x * 2).sum().backward()
        held = x.grad
        x.grad.data = m.zeros(3)
        first = (x.grad.tolist(), held.tolist(), held is x.grad)
        held.data = m.full((3,), 5.0)
        plain = m.ones(2)
        again = plain
        plain.data = m.zeros(3)
        return first, x.grad.tolist(), held is x.grad, again.tolist(), again is plain

    same(assigned)
