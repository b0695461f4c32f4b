"""In-place ops and `out=` of every declared op, compared with PyTorch: nodes, gradients, versions and errors."""

import warnings

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

import tenon

import declared

# (name, number of operands after self); clamp is called with one bound. PyTorch does not differentiate two ops:
# docs/differences.md.
INPLACE = [(op.name, min(len(op.operands) - 1, 1)) for op in declared.OPS
           if op.has_inplace and hasattr(torch.Tensor, op.name + "_") and op.name not in ("floor_divide", "heaviside")]  # fmt: skip
TARGETS = ("result", "view", "leaf", "view of a leaf", "plain", "plain view")


def graph(node, depth=4):
    if node is None or depth == 0:
        return "-"
    inputs = [graph(following, depth - 1) for following, _ in node.next_functions]
    while inputs and inputs[-1] == "-":  # PyTorch also lists inputs for omitted arguments
        inputs.pop()
    return f"{node.name().split(':')[-1]}({', '.join(inputs)})"


def make_target(m, target):
    """(the tensor to write to, that tensor or its base, the leaf of the graph or None)."""
    leaf = m.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    if target.startswith("plain"):
        return (leaf[0], leaf, None) if target == "plain view" else (leaf, leaf, None)
    leaf.requires_grad_()
    if target == "leaf":
        return leaf, leaf, leaf
    if target == "view of a leaf":
        return leaf[0], leaf, leaf
    result = leaf * 2
    return (result[0], result, leaf) if target == "view" else (result, result, leaf)


def rounded(tensor):
    rows = tensor.reshape(-1, 1).clone().tolist()  # clone: PyTorch's zeros may have no memory
    return [[round(float(f"{value:.5g}"), 4) + 0.0 if value == value else "nan" for value in row] for row in rows]


def outcome(m, target, write):
    written, whole, leaf = make_target(m, target)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write(m, written)
    except TypeError:
        return "TypeError"
    except RuntimeError as error:
        return str(error).split("\n")[0]
    seen = [graph(written.grad_fn), graph(whole.grad_fn), written._version, tuple(written.shape), rounded(written), written.requires_grad]
    if leaf is not None and whole.requires_grad:
        try:
            whole.sum().backward()
        except NotImplementedError:  # PyTorch has no derivative of asinh_, acosh_ and atanh_
            return seen
        seen.append(rounded(leaf.grad))
    return seen


def same(target, write):
    ours, theirs = outcome(tenon, target, write), outcome(torch, target, write)
    assert ours[: len(theirs)] == theirs


OTHERS = {
    "nothing": lambda m: (),
    "a number": lambda m: (2,),
    "a tensor": lambda m: (m.tensor([2.0, 0.0, 1.0]),),
    "a leaf": lambda m: (m.tensor([2.0, 0.0, 1.0], requires_grad=True),),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name, count", INPLACE)
def test_every_op_in_place(name, count, other, target):
    if (other == "nothing") != (count == 0):
        pytest.skip("another number of arguments")
    same(target, lambda m, x: getattr(x, name + "_")(*OTHERS[other](m)))


VIEWS = {
    "t_": lambda m, x: x.t_(),
    "squeeze_": lambda m, x: x.squeeze_(),
    "squeeze_(dim)": lambda m, x: x.squeeze_(0),
    "squeeze_(dims)": lambda m, x: x.squeeze_((0,)),
    "unsqueeze_": lambda m, x: x.unsqueeze_(-1),
    "transpose_": lambda m, x: x.transpose_(0, -1),
    "zero_": lambda m, x: x.zero_(),
    "fill_": lambda m, x: x.fill_(0),
    "fill_(tensor)": lambda m, x: x.fill_(m.tensor(2.0)),
    "fill_(leaf)": lambda m, x: x.fill_(m.tensor(2.0, requires_grad=True)),
    "copy_": lambda m, x: x.copy_(m.ones(3)),
    "resize_": lambda m, x: x.detach().resize_(1, 2),
    "t_, then mul_": lambda m, x: x.t_().mul_(3),
    "mul_, then unsqueeze_": lambda m, x: x.mul_(3).unsqueeze_(0),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", VIEWS)
def test_other_writes(name, target):
    same(target, VIEWS[name])


OUT = {
    "eq": lambda m, x, out: m.eq(x, x, out=out),
    "lt": lambda m, x, out: m.lt(x, 2, out=out),
    "logical_and": lambda m, x, out: m.logical_and(x, x, out=out),
    "logical_not": lambda m, x, out: m.logical_not(x, out=out),
    "lerp": lambda m, x, out: m.lerp(x, x, 0.5, out=out),
    "addcmul": lambda m, x, out: m.addcmul(x, x, x, out=out),
    "add": lambda m, x, out: m.add(x, x, out=out),
    "sum": lambda m, x, out: m.sum(x, 0, out=out),
    "all": lambda m, x, out: m.all(x, 0, out=out),
}


@pytest.mark.parametrize("of_leaf", (False, True))
@pytest.mark.parametrize("into", ("float leaf", "float result", "bool"))
@pytest.mark.parametrize("name", OUT)
def test_out(name, into, of_leaf):
    def call(m):
        x = m.tensor([1.0, 2.0, 0.0], requires_grad=of_leaf)
        out = m.empty((), dtype=m.bool) if into == "bool" else m.zeros(3 if name not in ("sum", "all") else (), requires_grad=True)
        if into == "bool" and name not in ("sum", "all"):
            out = m.empty(3, dtype=m.bool)
        if into == "float result":
            out = out * 2
        try:
            OUT[name](m, x, out)
        except RuntimeError as error:
            return str(error)
        return graph(out.grad_fn), out.requires_grad, out.is_leaf, out._version, out.tolist()

    assert call(tenon) == call(torch)


def test_out_of_integers():
    def call(m):
        with pytest.raises(RuntimeError) as error:
            m.bitwise_and(m.tensor([1, 2]), 1, out=m.zeros(2, requires_grad=True))
        return str(error.value)

    assert call(tenon) == call(torch)


def tensors(m, requires_grad):
    return m.ones(2, 3, requires_grad=requires_grad), m.ones(6, requires_grad=requires_grad), m.ones((), requires_grad=requires_grad)


UNCHANGED = {
    "flatten of one dim": lambda m, x, line, point: (line, line.flatten()),
    "flatten(0, 0)": lambda m, x, line, point: (x, x.flatten(0, 0)),
    "flatten": lambda m, x, line, point: (x, x.flatten()),
    "flatten of no dim": lambda m, x, line, point: (point, point.flatten()),
    "type_as": lambda m, x, line, point: (x, x.type_as(line)),
    "to": lambda m, x, line, point: (x, x.to(m.float32)),
    "to(other)": lambda m, x, line, point: (x, x.to(line)),
    "float": lambda m, x, line, point: (x, x.float()),
    "contiguous": lambda m, x, line, point: (x, x.contiguous()),
    "cpu": lambda m, x, line, point: (x, x.cpu()),
    "sum_to_size": lambda m, x, line, point: (x, x.sum_to_size(2, 3)),
    "expand_as": lambda m, x, line, point: (x, x.expand_as(x)),
    "reshape_as": lambda m, x, line, point: (x, x.reshape_as(x)),
    "reshape": lambda m, x, line, point: (x, x.reshape(2, 3)),
    "view_as": lambda m, x, line, point: (x, x.view_as(x)),
    "squeeze": lambda m, x, line, point: (x, x.squeeze()),
    "squeeze(dim)": lambda m, x, line, point: (x, x.squeeze(0)),
    "squeeze(dims)": lambda m, x, line, point: (x, x.squeeze((0, 1))),
    "broadcast_tensors": lambda m, x, line, point: (x, m.broadcast_tensors(x, x)[0]),
    "ravel": lambda m, x, line, point: (line, line.ravel()),
    "detach": lambda m, x, line, point: (x, x.detach()),
    "x[...]": lambda m, x, line, point: (x, x[...]),
}


@pytest.mark.parametrize("requires_grad", (False, True))
@pytest.mark.parametrize("name", UNCHANGED)
@pytest.mark.filterwarnings("ignore")
def test_functions_that_return_their_input(name, requires_grad):
    def call(m):
        x, result = UNCHANGED[name](m, *tensors(m, requires_grad))
        return result is x, graph(result.grad_fn)

    assert call(tenon) == call(torch)


def test_views_that_were_not_recorded():
    def call(m):
        seen = []

        def note(view):
            try:
                seen.append((view.requires_grad, view.is_leaf, graph(view.grad_fn), graph((view * 2).grad_fn)))
            except RuntimeError as error:
                seen.append(str(error))

        x = m.ones(3)
        view = x[:2]
        x.requires_grad_()
        note(view)
        note(view[:1])
        with m.no_grad():
            x.add_(1)
        note(view)
        x = m.ones(3, requires_grad=True)
        with m.no_grad():
            view = x[:2]
        note(view)
        with m.no_grad():
            x.add_(1)
        note(view)
        x = m.ones(3)
        with m.inference_mode():
            view = x[:2]
        x.mul_(m.ones(3, requires_grad=True))
        note(view)
        view = m.ones(3)[:2].requires_grad_()
        try:
            view.mul_(2)
        except RuntimeError as error:
            seen.append(str(error))
        return seen

    assert call(tenon) == call(torch)


REDUCED = {
    "sum()": lambda x: x.sum(),
    "sum(())": lambda x: x.sum(()),
    "sum(dim=())": lambda x: x.sum(dim=()),
    "mean()": lambda x: x.mean(),
    "mean(())": lambda x: x.mean(()),
    "mean(0)": lambda x: x.mean(0),
    "mean keepdim": lambda x: x.mean(dim=None, keepdim=True),
    "amax(())": lambda x: x.amax(()),
    "squeeze(0)": lambda x: x[:1].squeeze(0),
    "squeeze((0,))": lambda x: x[:1].squeeze((0,)),
}


@pytest.mark.parametrize("name", REDUCED)
def test_names_of_nodes(name):
    def call(m):
        x = m.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
        result = REDUCED[name](x)
        result.sum().backward()
        return graph(result.grad_fn), x.grad.tolist()

    assert call(tenon) == call(torch)


@pytest.mark.parametrize("shape, strides", [((1,), (5,)), ((1, 1), (7, 3)), ((1, 1, 1), (2, 5, 9)), ((), ())])
def test_strides_of_gradients_of_one_element(shape, strides):
    def call(m):
        x = m.empty_strided(shape, strides).fill_(1.0).requires_grad_()
        plain = m.autograd.grad(x.sum(), x)[0].stride()
        x.sum().backward()
        return plain, x.grad.stride()

    assert call(tenon) == call(torch)


BASES_WITH_GAPS = {
    "every second": lambda m: m.arange(12.0)[::2].detach(),
    "every second column": lambda m: m.arange(24.0).reshape(4, 6)[:, ::2].detach(),
    "first columns": lambda m: m.arange(12.0).reshape(3, 4)[:, :2].detach(),
    "from NumPy": lambda m: m.from_numpy(np.arange(24.0).reshape(4, 6)[:, ::2]),
    "imaginary parts": lambda m: m.ones(4, 3, dtype=m.complex64).imag.detach(),
    "permuted": lambda m: m.arange(48.0).reshape(2, 3, 8)[..., ::2].permute(2, 0, 1).detach(),
    "expanded": lambda m: m.ones(3).expand(2, 3).detach(),
}
PARTS = {
    "first": lambda x: x[0],
    "with a dim": lambda x: x[None],
    "with dims, second": lambda x: x[None, None][0, :, 1],
    "slice": lambda x: x[:2],
    "steps": lambda x: x[1::2][None],
    "last dim first": lambda x: x.transpose(0, -1)[1:],
    "windows": lambda x: x.unfold(0, 1, 1)[1:],
}
WAYS = {
    "copy_": lambda view, w: view.copy_(w * 2),
    "mul_": lambda view, w: view.mul_(w),
    "twice": lambda view, w: view.mul_(w).mul_(w),
}


@pytest.mark.parametrize("write", WAYS)
@pytest.mark.parametrize("view", PARTS)
@pytest.mark.parametrize("base", BASES_WITH_GAPS)
def test_views_of_bases_with_gaps(base, view, write):
    def call(m):
        x = BASES_WITH_GAPS[base](m)
        try:
            part = PARTS[view](x)
            w = (m.arange(float(part.numel())).reshape(part.shape) + 1).to(x.dtype).requires_grad_()
            WAYS[write](part, w)
            weights = m.arange(float(x.numel())).reshape(x.shape) + 1
            (grad,) = m.autograd.grad((x * x * weights).sum(), w, create_graph=True)
            return x.tolist(), grad.tolist(), m.autograd.grad(grad.sum(), w)[0].tolist()
        except RuntimeError as error:
            return str(error)

    assert call(tenon) == call(torch)


def test_memory_between_the_elements_of_a_base_gets_gradients_of_zero():
    x = tenon.arange(6.0)[::2].detach()
    w = tenon.ones(5, requires_grad=True)
    x.as_strided((5,), (1,)).mul_(w)
    assert tenon.autograd.grad((x * tenon.tensor([1.0, 10, 100])).sum(), w)[0].tolist() == [0, 0, 20, 0, 400]
