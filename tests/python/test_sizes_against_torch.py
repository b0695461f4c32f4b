"""Sizes, strides and offsets near 2^63: PyTorch's layout if it fits in int64 by Python's exact integers, else an error.

As a program: test_sizes_against_torch.py FIRST END compares the cases of these seeds."""

import random
import sys

import pytest

torch = pytest.importorskip("torch")

import tenon

MAX = 2**63 - 1
HOSTILE = [0, 1, -1, 2, 3, 5, 64, 2**31 - 1, 2**31, 2**32, 2**40, 2**58, 2**61, 2**61 + 2**20, 2**62, MAX - 1, MAX, -MAX - 1, -(2**62)]


def layout(tensor):
    return tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset()


def outcome(call, x):
    """(tensor, None) or (None, text of the error)."""
    try:
        return call(x), None
    except (RuntimeError, IndexError, ValueError) as error:
        return None, str(error)


def fits(exact):
    shape, strides, offset = exact
    return all(0 <= number <= MAX for number in (*shape, *strides, offset))


def moved(x, dim, first, count, step=1):
    """The exact layout of x with `count` entries in `dim`, from `first` on in steps of `step`."""
    shape, strides, offset = map(lambda part: list(part) if isinstance(part, tuple) else part, layout(x))
    offset += first * strides[dim]
    shape[dim] = count
    strides[dim] *= step
    return shape, strides, offset


def as_layout(shape, strides, offset):
    return tuple(shape), tuple(strides), offset


def select(draw, x):
    dim, index = draw.randrange(x.dim()), draw.number()

    def exact():
        shape, strides, offset = moved(x, dim, index % max(x.shape[dim], 1), 1)
        del shape[dim], strides[dim]
        return as_layout(shape, strides, offset)

    return lambda t: t.select(dim, index), exact


def narrow(draw, x):
    dim, start, length = draw.randrange(x.dim()), draw.number(), draw.number()
    return lambda t: t.narrow(dim, start, length), lambda: as_layout(*moved(x, dim, start + (x.shape[dim] if start < 0 else 0), length))


def step(draw, x):
    dim, start, by = draw.randrange(x.dim()), min(abs(draw.number()), MAX), max(draw.number(), 1)
    key = (slice(None),) * dim + (slice(start, None, by),)

    def exact():
        size = x.shape[dim]
        first = min(start, size)
        return as_layout(*moved(x, dim, first, -(-(size - first) // by), by))

    return lambda t: t[key], exact


def unsqueeze(draw, x):
    dim = draw.randrange(x.dim())

    def exact():
        shape, strides, offset = layout(x)
        return as_layout(shape[:dim] + (1,) + shape[dim:], strides[:dim] + (shape[dim] * strides[dim],) + strides[dim:], offset)

    return lambda t: t.unsqueeze(dim), exact


def diagonal(draw, x):
    if x.dim() < 2:
        return unsqueeze(draw, x)
    at = draw.number()

    def exact():
        shape, strides, offset = layout(x)
        length = max(min(shape[0] + min(at, 0), shape[1] - max(at, 0)), 0)
        if length:
            offset += max(at, 0) * strides[1] + max(-at, 0) * strides[0]
        return as_layout(shape[2:] + (length,), strides[2:] + (strides[0] + strides[1],), offset)

    return lambda t: t.diagonal(at), exact


def unfold(draw, x):
    dim, size, step = draw.randrange(x.dim()), draw.randrange(3), draw.number()

    def exact():
        shape, strides, offset = layout(x)
        return as_layout(shape[:dim] + ((shape[dim] - size) // step + 1,) + shape[dim + 1 :] + (size,),
                        strides[:dim] + (strides[dim] * step,) + strides[dim + 1 :] + (strides[dim],), offset)

    return lambda t: t.unfold(dim, size, step), exact


def as_strided(draw, x):
    rank = draw.randrange(3)
    sizes, strides, offset = draw.sizes(rank), draw.numbers(rank), draw.number()
    return lambda t: t.as_strided(sizes, strides, offset), lambda: as_layout(sizes, strides, offset)


def expand(draw, x):
    sizes = draw.sizes(x.dim() + draw.randrange(2))
    return lambda t: t.expand(sizes), None


def view(draw, x):
    sizes = draw.numbers(draw.randrange(4))
    return lambda t: t.view(sizes), None


def resize_(draw, x):
    sizes = [0] + draw.numbers(draw.randrange(3))
    draw.shuffle(sizes)
    return lambda t: t.resize_(sizes), None


class Draw(random.Random):
    def number(self):
        return self.choice(HOSTILE) if self.random() < 0.4 else self.randint(-3, 4)

    def numbers(self, count):
        return [self.number() for _ in range(count)]

    def sizes(self, count):
        return [self.randrange(4) if self.random() < 0.7 else self.number() for _ in range(count)]

    def tensors(self):
        """outcome() of making a tensor in Tenon, the same in PyTorch, and a description of the tensor."""
        rank = self.randint(1, 3)
        sizes, strides = [min(abs(n), MAX) for n in self.sizes(rank)], [min(abs(n), MAX) for n in self.numbers(rank)]
        kind = self.randrange(4)
        if kind == 0:
            made = lambda m: m.empty(2, 3, 4)
        elif kind == 1:
            made = lambda m: m.empty([1] * rank).expand(sizes)
        elif kind == 2:
            made = lambda m: m.empty_strided([0] + sizes, [1] + strides)
        else:
            made = lambda m: m.empty_strided(sizes, strides, device="meta", dtype=m.uint8)
        return outcome(made, tenon), outcome(made, torch), (kind, sizes, strides)


VIEWS = (select, narrow, step, unsqueeze, diagonal, unfold, as_strided, expand, view, resize_)


def compare(seed):
    draw = Draw(seed)
    (ours, our_error), (theirs, their_error), made = draw.tensors()
    if theirs is None or ours is None:
        assert ours is None, (seed, made, layout(ours), their_error)
        assert theirs is None or "overflow" in our_error, (seed, made, our_error)
        return 0
    assert layout(ours) == layout(theirs), (seed, made)
    compared = 0
    for _ in range(3):
        kind = draw.choice(VIEWS)
        if min(ours.shape, default=1) < 0 or ours.dim() == 0:
            return compared
        if kind is resize_ and theirs.storage_offset() > 2**30:
            continue
        call, exact = kind(draw, ours)
        before = layout(ours)
        (our_result, our_error), (their_result, their_error) = outcome(call, ours), outcome(call, theirs)
        context = (seed, kind.__name__, before, ours.is_meta, our_error, their_error)
        compared += 1
        if our_result is None:
            if kind is resize_ and their_result is None:
                return compared  # PyTorch keeps the new sizes, although it has no memory for them
            # PyTorch may return a layout that overflowed. Then the exact layout must not fit in int64.
            if their_result is not None:
                # "is invalid": a size of -1 cannot be computed from a product that overflows. as_strided refuses negative sizes.
                assert "overflow" in our_error or "is invalid for input of size 0" in our_error or "negative dimension" in our_error, context
                assert exact is None or not fits(exact()), context
                return compared
            continue
        if their_result is None and "SymInt" in their_error:
            return compared  # numbers below -2^62 mean something else inside PyTorch
        if exact is not None:
            assert layout(our_result) == exact(), context
            if kind is step and (their_result is None or layout(their_result) != exact()):
                return compared  # PyTorch counts the entries of a huge step wrongly
            if their_result is None and "numel: integer multiplication overflow" in their_error:
                return compared  # PyTorch's product overflows before it reaches a size of 0
        assert their_result is not None and layout(our_result) == layout(their_result), context
        ours, theirs = our_result, their_result
    return compared


def test_random_layouts():
    compared = sum(compare(seed) for seed in range(20000))
    assert compared > 20000


def test_an_offset_that_overflows_is_an_error():
    x = tenon.empty_strided((0, 5), (1, MAX))
    with pytest.raises(RuntimeError, match="Storage offset calculation overflowed"):
        x.select(1, 4)
    y = x.select(1, 1)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        y.resize_(3)
    assert y.shape == (0,) and y.storage_offset() == MAX


def test_bytes_are_counted_exactly():
    assert tenon.ones(1).expand(2**62).nbytes == 2**64
    assert tenon.empty(2**62, dtype=tenon.int8, device="meta").nbytes == 2**62


@pytest.mark.parametrize("dims", (65, 1000, 200000))
def test_any_number_of_dims(dims):
    x = tenon.ones([1] * dims)
    assert repr(x) == "tensor(" + "[" * dims + "1." + "]" * dims + ")"
    level = x.tolist()
    depth = 0
    while isinstance(level, list):
        assert len(level) == 1
        level = level[0]
        depth += 1
    assert (depth, level) == (dims, 1.0)
    assert x.sum().item() == 1 and x.clone().dim() == dims
    if dims == 65:
        with pytest.raises(RuntimeError, match="only tensors with up to 64 dims are supported"):
            x.sum(0)


@pytest.mark.parametrize("sizes", ([2, 3], [3, 0], [0, 3], [], [1, 2, 1], [2, 1, 3]))
def test_tolist(sizes):
    assert tenon.ones(sizes).tolist() == torch.ones(sizes).tolist()
    assert tenon.empty_strided([3, 0], [MAX, 1]).tolist() == [[], [], []]


if __name__ == "__main__":
    print(sum(compare(seed) for seed in range(int(sys.argv[1]), int(sys.argv[2]))))


LARGE = [
    lambda m: m.ones(1).expand(2**40).unfold(0, 2**39, 1), lambda m: m.ones(1, 0).expand(2**40, 0).unfold(0, 2**39, 1), lambda m: m.ones(1).expand(2**31).unfold(0, 2**30, 1),
    lambda m: m.ones(1, device="meta").expand(2**40).unfold(0, 2**39, 1), lambda m: m.ones([1] * 65).flip(0), lambda m: m.ones([1] * 64).flip(0), lambda m: m.ones([1] * 65).flip(70),
    lambda m: m.ones([1] * 65, device="meta").flip(0), lambda m: m.ones([1] * 65).flip(()),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LARGE)))
def test_too_many_windows_and_dims(number):
    def text_or_layout(m):
        made, text = outcome(lambda _: LARGE[number](m), None)
        return text or layout(made)

    assert text_or_layout(tenon) == text_or_layout(torch)
