"""cat and stack, compared with PyTorch."""

import math

import pytest

pytest.importorskip("numpy")
pytest.importorskip("torch")

import tenon
import torch

from judge import same

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"]
LAYOUTS = ["dense", "transposed", "gaps", "expanded", "channels_last"]


def numbered(m, shape, dtype="float32", start=0):
    return m.arange(start, start + math.prod(shape), dtype=m.float64).reshape(shape).to(getattr(m, dtype))


def laid_out(m, tensor, layout):
    if layout == "transposed" and tensor.dim() > 1:
        return tensor.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "gaps" and tensor.dim():
        wide = m.zeros((*tensor.shape[:-1], 2 * tensor.shape[-1]), dtype=tensor.dtype)
        wide[..., ::2] = tensor
        return wide[..., ::2]
    if layout == "expanded" and tensor.dim():
        return tensor[:1].expand(tensor.shape) if tensor.shape[0] else tensor
    return tensor.to(memory_format=m.channels_last) if layout == "channels_last" and tensor.dim() == 4 else tensor


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3, 1), (0, 2), (2, 0, 3, 4)])
def test_values_and_strides(shape, first, second):
    def parts(m):
        return [laid_out(m, numbered(m, shape), first), laid_out(m, numbered(m, shape, start=100), second)]

    for dim in range(-len(shape), len(shape)):
        same(lambda m: m.cat(parts(m), dim))
        same(lambda m: m.cat([*parts(m), *parts(m)], dim, out=m.empty(0)))
    for dim in range(-len(shape) - 1, len(shape) + 1):
        same(lambda m: m.stack(parts(m), dim))
        same(lambda m: m.stack([*parts(m), *parts(m)], dim, out=m.empty(0)))


@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype, other):
    for name in ("cat", "stack"):
        same(lambda m: getattr(m, name)([numbered(m, (2, 3), dtype), numbered(m, (2, 3), other)]))
        same(lambda m: getattr(m, name)([numbered(m, (2, 3), dtype)] * 2, 1, out=m.empty(0, dtype=getattr(m, other))))
        same(lambda m: getattr(m, name)([m.tensor(1, dtype=getattr(m, dtype)).reshape(1), m.tensor([2], dtype=getattr(m, other))]))


@pytest.mark.parametrize("sizes", [(2, 3), (0, 2), (3, 0, 1), (1,), (70, 1, 30), (1000, 2000)])
def test_parts_of_any_length(sizes):
    for shape, dim in (((None,), 0), ((None, 4), 0), ((4, None), 1), ((3, None, 2), 1), ((5, 2, None), -1)):
        shapes = [[size if kept is None else kept for kept in shape] for size in sizes]
        for dtype in ("uint8", "int16", "float32", "float64"):
            same(lambda m: m.cat([numbered(m, shape, dtype) for shape in shapes], dim))


@pytest.mark.parametrize("shape", [(300_000,), (1500, 400), (100_000, 3), (40, 50, 300)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_large(shape, dtype):
    ours, theirs = ([numbered(m, shape, dtype), 1 - numbered(m, shape, dtype), numbered(m, shape, dtype)] for m in (tenon, torch))
    for name, dims in (("cat", len(shape)), ("stack", len(shape) + 1)):
        for dim in range(dims):
            assert torch.equal(torch.from_dlpack(getattr(tenon, name)(ours, dim)), getattr(torch, name)(theirs, dim))
            assert torch.equal(torch.from_dlpack(getattr(tenon, name)([x.mT if x.dim() > 1 else x for x in ours], dim)),
                               getattr(torch, name)([x.mT if x.dim() > 1 else x for x in theirs], dim))  # fmt: skip


EMPTY = "m.empty(0)"
A, B, CUBE = "m.ones(2, 3)", "m.ones(2, 3, dtype=m.int64)", "m.ones(2, 3, 4)"
CALLS = [
    "m.cat([])", "m.cat(())", "m.stack([])", "m.cat(tensors=[])", "m.concat([])", "m.cat([m.tensor(1.)])", f"m.cat([{A}, m.tensor(1.)])",
    f"m.cat([{EMPTY}, {A}], 1)", f"m.cat([{EMPTY}], 3)", f"m.cat([{EMPTY}, {EMPTY}], -4)", f"m.cat([{EMPTY}, {B}])", f"m.cat([{B}, {EMPTY}])",
    f"m.cat([m.ones(0, 3), {EMPTY}])", f"m.cat([{A}, m.ones(2, 0)], 1)", f"m.cat([{A}, m.ones(2, 0)])", f"m.cat([{A}, m.empty(0, 5)])",
    f"m.cat([{A}, {A}], 2)", f"m.cat([{A}, {A}], -3)", f"m.cat([{A}, m.ones(2)])", f"m.cat([{A}, {CUBE}])", f"m.cat([{A}, m.ones(3, 3)], 1)",
    f"m.cat([{A}, {A}], axis=1)", f"m.cat(tensors=({A}, {A}), dim=-1)", f"m.cat([{A}, {A}], dim='x')", f"m.cat([{A}, {A}], 1.5)", f"m.cat([{A}, {A}], None)",
    f"m.cat([{A}, {A}], True)", f"m.cat([{A}, {A}], 0, 0)", f"m.cat({A})", f"m.cat({A}, 1)", "m.cat(1)", "m.cat(None)", "m.cat('ab')",
    f"m.cat([{A}, 1])", f"m.cat([1, {A}])", f"m.cat([{A}, None])", f"m.cat([[{A}], {A}])", f"m.cat(iter([{A}]))", f"m.stack({A})", f"m.stack([{A}, 1])",
    f"m.concat([{A}, {A}], 9)", f"m.concatenate([{A}, {B}], 1)", f"m.concatenate([{A}, 1])", f"m.concat([{A}], 'x')",
    f"m.cat([{A}, {A}], out=m.empty(2))", f"m.cat([{A}, {A}], out=m.empty(4, 3, dtype=m.int64))", f"m.cat([{A}, m.ones(2)], out=m.empty(4, 3, dtype=m.int64))",
    f"m.cat([{A}, {B}], out=m.empty(4, 3, dtype=m.float64))", f"m.cat([{B}, {B}], out=m.empty(4, 3))", f"m.cat([{A}, {A}], out=m.empty(3, 4).t())",
    f"m.cat([{A}, {A}], out=m.empty(1).expand(4, 3))", f"m.cat([{A}, {A}], out=m.empty(1).expand(4, 2))", f"m.cat([{EMPTY}, {EMPTY}], out=m.empty(1).expand(0))",
    f"m.cat([{EMPTY}], out=m.empty(1).expand(5))", f"m.stack([{A}, {A}], 3)", f"m.stack([{A}, {A}], -4)", f"m.stack([{A}, m.ones(3)], 9)",
    f"m.stack([{A}, m.ones(2)])", f"m.stack([{A}, {A}, {CUBE}])", f"m.stack([{EMPTY}, {EMPTY}])", f"m.stack([{EMPTY}, {EMPTY}], 1)", f"m.stack([{EMPTY}, {A}])",
    "m.stack([m.tensor(1.), m.tensor(2)])", "m.stack([m.tensor(1.), m.tensor(2.)], 1)", f"m.stack([{A}, {A}], out=m.empty(2))",
    f"m.stack([{A}, {A}], 1, out=m.empty(1, dtype=m.int64))", f"m.stack([{A}, {A}], out=m.empty(1).expand(2, 2, 3))", f"m.stack([{A}, {A}], 2, out=m.empty(1).expand(2, 3, 2))",
    f"m.stack([{A}, {A}], out=m.empty(3, 2, 2).permute(2, 1, 0))", f"m.stack([{A}, {A}], out=m.empty(2, 3, 2).permute(0, 2, 1))", f"m.stack([{B}, {B}], out=m.empty(2, 2, 3))",
    "m.cat([m.ones(1, dtype=m.uint16), m.ones(1, 2, dtype=m.int8)])", "m.cat([m.ones(2, device='meta'), m.ones(2)])", "m.cat([m.ones(2), m.ones(2, device='meta')])",
    "m.cat([m.ones(2)] * 2, out=m.empty(4, device='meta', dtype=m.int64))", "m.cat([m.ones(2)] * 40)", "m.stack([m.tensor(3)] * 40)",
    "m.cat([m.ones(1, requires_grad=True), m.ones(1)], out=m.empty(2))", "m.cat([m.ones(1), m.ones(1)], out=m.empty(2, requires_grad=True))",
    "m.stack([], out=m.empty(2, requires_grad=True))", "m.stack([m.ones(1, requires_grad=True)], out=m.empty(1))",
]  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_calls_and_their_errors(text):
    same(lambda m: eval(text, {"m": m}))


@pytest.mark.parametrize("text", ["m.cat([x, x], out=x)", "m.cat([x[:2], x[2:]], out=x)", "m.cat([x[:1], y], out=x[1:])", "m.stack([x[0], x[1]], out=x[2:])", "m.stack([x[:, 0], y[:, 0]], 1, out=x[:, :2])"])
def test_out_must_not_overlap_operands(text):
    same(lambda m: eval(text, {"m": m, "x": numbered(m, (4, 3)), "y": numbered(m, (2, 3))}))


def test_out_and_operands_in_one_storage():
    def written(m):
        x = numbered(m, (6, 3))
        m.cat([x[:1], x[1:2]], out=x[2:4])
        m.stack([x[0], x[1]], out=x[4:])
        return x, x._version

    same(written)


def test_meta():
    def described(m, name, dim):
        result = getattr(m, name)([m.ones(2, 3, 4, 5, device="meta").to(memory_format=m.channels_last)] * 3, dim)
        return result.shape, result.stride(), str(result.dtype).split(".")[-1], str(result.device)

    for dim in range(4):
        same(described, "cat", dim)
        same(described, "stack", dim)


@pytest.mark.filterwarnings("ignore:An output")
@pytest.mark.parametrize("name", ["cat", "stack", "concat"])
def test_a_failed_call_does_not_change_out(name):
    out = numbered(tenon, (5,))
    with pytest.raises(RuntimeError, match="unsupported operation"):
        getattr(tenon, name)([out, out], out=out)
    assert out.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["cat", "stack"])
def test_gradients(name):
    def gradients(m, dim, dtypes, shapes, flags=(True, True, True)):
        leaves = [numbered(m, shape, dtype).requires_grad_(flag) for dtype, shape, flag in zip(dtypes, shapes, flags)]
        result = getattr(m, name)(leaves, dim)
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        first = m.autograd.grad((result * result * result).sum(), wanted, create_graph=True)
        second = m.autograd.grad(sum((grad * grad).sum() for grad in first), wanted)
        return result, result.grad_fn.name(), [pair[0] is None for pair in result.grad_fn.next_functions], list(first), list(second)

    for dtypes in (["float32"] * 3, ["float32", "float64", "float32"], ["float16", "float32", "bfloat16"]):
        for flags in ((True, True, True), (False, True, False), (True, False, True)):
            for dim in (0, 1, -1):
                same(gradients, dim, dtypes, [(2, 3)] * 3, flags)
    if name == "cat":
        same(gradients, 1, ["float32"] * 3, [(2, 3), (2, 0), (2, 1)])
        same(gradients, -1, ["float32"] * 3, [(0,), (2, 2), (2, 1)])
        same(gradients, 5, ["float32"] * 3, [(0,), (0,), (0,)])


def test_one_tensor_several_times():
    def grad(m):
        x = numbered(m, (2, 2)).requires_grad_()
        (m.cat([x, x * x, x], 1) * m.stack([x, x, x], 2).reshape(2, 6)).sum().backward()
        return x.grad

    same(grad)


def test_lists_that_change_while_they_are_read():
    tensors = [tenon.ones(2), tenon.ones(2)]

    class Dim:
        def __index__(self):
            tensors.clear()
            return 0

    with pytest.raises((ValueError, TypeError)):
        tenon.cat(tensors, Dim())


def test_thousands_of_tensors():
    same(lambda m: m.cat([m.full((i % 3,), i) for i in range(3000)]))
    same(lambda m: m.stack([m.tensor(i) for i in range(3000)]))
