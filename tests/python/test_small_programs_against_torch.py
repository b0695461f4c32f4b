"""Small programs that once gave other results than in PyTorch. `./dev compare-programs` found and minimised them; its
comparison runs them here, statement by statement."""

import pathlib
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "programs"))

from programs import difference_of  # noqa: E402

PROGRAMS = {
    # Assignment through indices
    "writing to an empty view": "v0 = T.arange(0).reshape([1, 0]); v0[-1] = 0",
    "writing to an empty view of a leaf": "v0 = T.arange(0, dtype=T.float64).requires_grad_(); v0[0:-1] = 0",
    "writing a leaf to an empty view": "v0 = T.zeros(3); v1 = T.ones([]).requires_grad_(); v0[3:3] = v1",
    "writing a number": "v0 = T.ones([2, 3]).requires_grad_(); v1 = v0 * 1; v1[...] = 2; v1[0] = 3",
    "writing a tensor to a view of itself": "v0 = T.tensor(0); v0[None] = v0",
    "invalid index, invalid value": "v0 = T.ones(2); v0[0, 0, 0] = 'a'; v0[False] = 'a'",
    "index out of range, invalid shape": "v0 = T.tensor([[0]]); v0[T.tensor([2])] = T.zeros([2, 3])",
    "index out of range, invalid dtype": "v0 = T.zeros([1], dtype=T.bool); v0[T.tensor([2])] = T.ones([1])",
    "mask of an invalid shape, overlap": "v0 = T.zeros([3, 1, 5], dtype=T.uint8); v0[[True], v0] = 2",
    "0-dim bool tensor as an index": "v0 = T.tensor(True); v0[v0] = T.tensor([True, False])",
    "bool as an index, value of another dtype": "v0 = T.ones([2, 3]); v0[:, True] = T.ones([3], dtype=T.int64); v0[:, True] = 2; v0[:, False] = 3",
    "filling an expanded tensor": "v0 = T.arange(5).expand((3, 5)); v0[v0 <= 2] = 2",
    "an empty mask of bytes": "v0 = T.tensor([True, False]); v0[T.tensor([], dtype=T.uint8)] = 0",
    "indexing a 0-dim tensor": "v0 = T.tensor(3); v0[v0] = v0; v0[T.tensor(0)]; v0[T.tensor([0])]",
    "several ellipses": "v0 = T.ones([1, 2, 4]); v0[..., ..., T.tensor([0])]",
    "index out of range, slice step of zero": "v0 = T.zeros([1, 1]); v0[1, 3::0]; v0[1, 3::0] = 2; v0[3::0, 1]; v0[3::0, 1] = 2; v0[0, ::0]; v0[::0]; v0[5, ::-1]",
    "slicing a 0-dim tensor": "v0 = T.tensor(1.0); v0[::-1]; v0[::0]; v0[::2]",
    "results of nonzero share a storage": "v0 = T.tensor([[1, 0], [1, 1]]); v1 = T.nonzero(v0, as_tuple=True); v2 = T.where(v0); v3 = T.nonzero(v0 > 5, as_tuple=True)",
    "first index out of range": "v0 = T.tensor([[[0]]]); v0[T.tensor([0, 2, 1]), [1, 0, 1]]; v0[[0, 3], [0, 0]] = 1; v0[[0, -2]]",
    "nonzero with out=": "v0 = T.tensor([[1, 0], [1, 1]]); v1 = T.nonzero(v0, out=T.zeros(0, dtype=T.int64)); T.nonzero(v0, out=v0); v2 = T.nonzero(v0, out=T.zeros([3, 2], dtype=T.int64)); v3 = T.nonzero(v0 > 5, out=T.zeros(1, dtype=T.int64))",
    "invalid dtype of an index, mask": "v0 = T.tensor([[]]); v0[T.tensor([], dtype=T.uint8), T.tensor([])]; v0[T.tensor([]), T.tensor([5])] = 0",
    "strides of indexing results": "v0 = T.full([4, 3], 1).permute([1, 0]); v1 = T.arange(0).reshape([2, 0])[v0]; v2 = T.arange(4).reshape([2, 2])[v0]; v3 = T.full([3, 1], 5)[False]; v4 = v3[T.tensor([], dtype=T.int32), None]",
    "copying elements to themselves": "v0 = T.ones(1); v1 = v0.expand(5); v1[...] = v0; v1.copy_(v1[:]); v1[1:] = v1[:-1]",
    # Numbers
    "copying a number": "v0 = T.zeros([2], dtype=T.uint8); v0.copy_(1.5); v0.copy_(300); v0.copy_(-1); v0.copy_(True); v0.copy_(None); v0.copy_(other=2.5, non_blocking=True)",
    "a number that does not fit": "v0 = T.tensor(1); T.full((2,), float('inf'), out=v0)",
    # Calls with two mistakes: which one is reported
    "writing to a leaf, subtracting a bool": "v0 = T.tensor(0.0).requires_grad_(); v1 = T.tensor(True); v0.sub_(v1); T.sub(v0, v1, out=T.zeros([]))",
    "writing to a leaf, invalid rounding mode": "v0 = T.tensor(0.0).requires_grad_(); v0.div_(2, rounding_mode='up'); T.div(v0, v0, rounding_mode='up', out=v0)",
    "writing to a leaf, clamp without bounds": "v0 = T.ones([2]).requires_grad_(); T.clamp(v0, out=T.zeros([2])); v0.clamp_()",
    "out= with grad, invalid condition": "v0 = T.ones([]).requires_grad_(); T.where(T.arange(3.), v0, v0, out=T.zeros([])); T.where(v0, T.ones([]), T.ones([]), out=T.zeros([]))",
    "writing to a leaf, invalid fill value": "v0 = T.zeros([5]).requires_grad_(); v0.fill_(T.ones([2, 3])); v0[0:3].fill_(T.ones([2]))",
    "resizing a leaf, invalid size": "v0 = T.ones([4]).requires_grad_(); v0.resize_(-1)",
    "transposing a leaf, too many dims": "v0 = T.ones([2, 5, 1]).requires_grad_(); v0.t_(); v1 = T.ones([2, 5, 1]); v1.t_()",
    "gradient of an invalid dtype and size": "v0 = T.zeros([2], dtype=T.float64); v0.grad = T.ones([3]); v0.grad = T.ones([3], dtype=T.bool)",
    "square of bools into a view of the operand": "v0 = T.tensor([True]); T.square(v0[0], out=v0); T.square(v0, out=v0.flatten())",
    "clamp of bools into a view of the operand": "v0 = T.tensor(True); T.clamp(v0, 2, out=v0.flatten())",
    "unflatten": "v0 = T.ones([3]); T.unflatten(v0, 2, ()); v0.unflatten(2, ()); T.unflatten(v0, 0, ())",
    # Memory formats
    "resize_ with a memory format": "v0 = T.ones([2, 2, 2, 2]); v0.resize_((2, 2, 2, 2), memory_format=T.channels_last); v0.resize_((2, 2), memory_format=T.channels_last)",
    "resize_ with preserve_format": "v0 = T.ones([2]); v0.resize_((), memory_format=T.preserve_format); v0.resize_([-1], memory_format=T.preserve_format)",
    "strides that fit several memory formats": "v0 = T.zeros([3, 1, 3, 1]); v1 = v0.cpu(memory_format=T.channels_last); v2 = T.ones([2, 3]).T; v3 = v2.to(memory_format=T.contiguous_format)",
    "rand_like with a memory format": "v0 = T.ones([2]) > 0; T.rand_like(v0, memory_format=T.channels_last); v1 = T.rand_like(T.ones([2, 3, 2, 2]), memory_format=T.channels_last)",
    "memory format of an empty tensor": "v0 = T.zeros([4, 5, 1, 0]); v1 = v0.long(memory_format=T.channels_last)",
    "strides of ~": "v0 = T.arange(10).reshape([1, 2, 1, 5]).permute([2, 3, 0, 1]); v1 = ~v0",
    "mT of a 0-dim tensor": "v0 = T.tensor(5); v1 = v0.mT",
    "options may be None": "v0 = T.zeros([2], requires_grad=None, pin_memory=None); T.ones([2]).sum(0, keepdim=None)",
    # Matrix products
    "dot into an operand": "v0 = T.full([1], 5); T.dot(v0, T.arange(1), out=v0); v1 = T.ones([4]); T.dot(v1, v1, out=v1[:2])",
    "dot into another shape": "v0 = T.ones([4]); T.dot(T.ones([2]), T.ones([2]), out=v0); T.dot(T.ones([]), v0, out=T.ones([3]))",
    "products of bool tensors": "v0 = T.zeros([1, 0], dtype=T.bool); v1 = v0.mv(T.ones([0], dtype=T.bool)); v2 = T.ones([1, 1, 1]); v3 = (v2 > 0) @ v2; v4 = v2 @ (v2 > 0)",
    "mv with out=": "v0 = T.tensor(0); T.mv(T.arange(0), T.arange(3), out=v0); v1 = T.ones([1, 0], dtype=T.int16); T.mv(v1, T.arange(0, dtype=T.int16), out=T.zeros(())); T.mv(T.ones([3, 2]), T.ones([3]), out=T.ones([1]))",
    "products of two dtypes": "v0 = T.ones([1, 1]); v1 = T.ones([1], dtype=T.int8); T.matmul(v0, v1, out=T.zeros([1], dtype=T.bfloat16)); T.matmul(v1, v0, out=v1.clone()); T.matmul(v0, T.ones([3, 1, 1]).byte(), out=T.zeros([1]).half()); T.matmul(T.ones([2, 1, 1]), v1, out=v1.clone())",
    "a vector times a matrix": "v0 = T.ones([2]); v1 = T.zeros([3]); T.matmul(v0, T.ones([2, 3]), out=v1); T.matmul(v0, T.ones([2, 3]), out=v1[None]); v2 = T.matmul(v0, T.ones([2, 1]), out=v1)",
    "0-dim operand, writing to a leaf": "v0 = T.ones([1]).requires_grad_(); T.matmul(v0, T.tensor(1.0), out=v0)",
    "bmm of empty tensors": "v0 = T.zeros([2, 3, 0], dtype=T.bool); v1 = T.zeros([2, 0, 2], dtype=T.int8); v2 = T.bmm(v0, v1); v3 = T.bmm(v0, v1.bool())",
    "writing to a product": "v0 = T.ones([2, 2]).requires_grad_(); v1 = v0 @ T.ones([2]); v1.logical_not_(); v2 = T.ones([2]) @ v0; v2.zero_(); v3 = T.ones([3, 2, 2]) @ v0; v3.abs_()",
    "products in another dtype": "v0 = T.ones([1, 1, 1]).requires_grad_(); v1 = v0 * 1; T.bmm(v0, v0, T.float64, out=v1); T.bmm(v1, v1, T.float64, out=v0); T.bmm(v1, v1, T.float64, out=v0[:])",
    # Reductions
    "a sum in an integer dtype": "v0 = T.ones([2, 3]).requires_grad_(); v0.sum(dtype=T.int16)",
    "a mean into a bool tensor": "v0 = T.ones([2], dtype=T.bfloat16); T.mean(v0, -1, out=T.zeros([], dtype=T.bool)); T.mean(v0, dtype=T.float32, out=T.zeros([], dtype=T.bool))",
    "mean with invalid dims and dtype": "v0 = T.tensor([], dtype=T.int32); T.mean(T.tensor([]), (0, 0), out=v0); T.mean(T.tensor([1.0]), 0, out=v0)",
    "a reduction counts one write": "v0 = T.tensor(True); v1 = v0[False]; T.any(v1, out=v0); v2 = T.zeros([]); T.sum(T.zeros([0]), (0,), out=v2)",
    # Gradients
    "the warning of create_graph": "v0 = T.tensor([1.0]).requires_grad_(); v0.sum().backward(create_graph=True, inputs=[v0]); v1 = T.ones([]); v0.sum().backward(create_graph=True, inputs=[v1])",
    "requires_grad of a computed tensor": "v0 = T.ones([2]).requires_grad_(); v1 = v0 * 2; v1.requires_grad = True; v1.requires_grad_()",
    "a 0-dim leaf as a number": "v0 = T.tensor(1.0).requires_grad_(); T.full((), v0); T.arange(v0)",
    "a hook that returns a value": "v0 = T.tensor(3.0).requires_grad_(); v0.register_post_accumulate_grad_hook(lambda t: t.grad * 1); v0.backward()",
    "a view made before requires_grad_": "v0 = T.zeros([2, 2]); v1 = v0.T; v0.requires_grad_(); v1.exp().sum().backward(); v1.T.sum().backward(); v1[[0]].sum().backward()",
    "a view of a leaf that is a view": "v0 = T.arange(4, dtype=T.float64).reshape([2, 2]).requires_grad_(); v1 = v0[-1]; v1.logical_or_(v1); v1.sum().backward()",
    "a leaf that no longer requires grad": "v0 = T.ones([2]).requires_grad_(); v1 = v0 * 2; v1.sum().backward(retain_graph=True); v0.detach_(); v1.sum().backward(); v2 = T.ones([2]).requires_grad_(); v3 = v2.expand_as(v2); v2.requires_grad_(False); v3.sum().backward()",
    "data shares memory": "v0 = T.arange(6.).reshape([3, 2]).requires_grad_(); v1 = v0.data; v1[1:].copy_(v0.detach()[:-1]); v1[1:] += v0.detach()[:-1]; v1.T[:].mul_(v0.detach()[:2]); v1[[0, 1]] = v0.detach()[1:]",
    "an element of a leaf written to a tensor": "v0 = T.arange(2.); v1 = T.ones([3]).requires_grad_(); v0[1:2] = v1[0]; v0.amax().backward(); v2 = v0.clone(); v2.sum().backward()",
    "a former leaf written from its own result": "v0 = T.ones([2]).requires_grad_(); v1 = v0 / 1; v0.requires_grad = False; v0.lt_(v1); v0.backward(T.ones_like(v0))",
    "second derivative of abs": "v0 = T.tensor([-1.0, 0.0, 2.0]).requires_grad_(); v1 = T.autograd.grad(v0.abs().sum(), v0, create_graph=True)[0]; v2 = T.autograd.grad(v1.sum(), v0)[0]",
    "a factory into a view of a leaf": "v0 = T.ones([1]).requires_grad_()\nwith T.set_grad_enabled(False): T.eye(n=0, out=v0[1:])",
    "a view made in no_grad, whose base is written": "v0 = T.ones([1]).requires_grad_()\nwith T.no_grad(): v1 = T.moveaxis(v0, 0, -1)\nv2 = v1[None, 0:1]; v0.logical_not_(); v3 = v2.grad; v2.grad_fn; v2.add_(1)",
    "an operand of other strides": "v0 = T.arange(2).reshape([1, 2]); v0.add_(v0[::2])",
}


def statements(program):
    for line in program.splitlines():
        yield from [line] if line.startswith("with ") else line.split("; ")


@pytest.fixture(autouse=True)
def every_warning(monkeypatch):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # difference_of replaces it
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield
    torch.set_warn_always(always)


@pytest.mark.parametrize("name", PROGRAMS)
def test_small_program(name):
    difference, statement = difference_of(list(statements(PROGRAMS[name])))
    assert not difference, f"{statement}: {difference}"
