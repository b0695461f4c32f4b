"""Gradients, graphs, hooks and custom functions, compared with PyTorch."""

import copy
import math
import pickle

import pytest

pytest.importorskip("torch")

from hypothesis import assume, given
from hypothesis import strategies as st

import judge
from judge import Both, same
from test_against_torch import broadcastable


def leaf(values, dtype="float64", requires_grad=True):
    both = judge.tensor(values, dtype)
    return Both(both.ours.requires_grad_(requires_grad), both.theirs.requires_grad_(requires_grad))


def nodes(node):
    """The names of a node and of the nodes it leads to, nested: "AddBackward0(MulBackward0(-), -)"."""
    if node is None:
        return "-"
    inputs = [nodes(next_node) for next_node, _ in node.next_functions]
    while inputs and inputs[-1] == "-":  # PyTorch also lists inputs for omitted arguments
        inputs.pop()
    return f"{type(node).__name__}({', '.join(inputs)})"



# --- Random programs

UNARY = ("abs", "exp", "tanh", "square", "neg", "sqrt", "log", "reciprocal")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")
number = st.sampled_from([2, 0.5, -1.5, 3])


@st.composite
def leaves(draw):
    shape = draw(st.lists(st.integers(1, 3), max_size=3))
    shapes = [tuple(shape)] + [tuple(draw(broadcastable(shape))) for _ in range(draw(st.integers(0, 2)))]
    made = []
    for shape in shapes:
        values = draw(st.lists(st.sampled_from([-2.0, -0.75, 0.25, 0.5, 1.0, 3.0]), min_size=math.prod(shape), max_size=math.prod(shape)))
        dtype = draw(st.sampled_from(["float64", "float64", "float32"]))
        flat = leaf(values, dtype, False)
        wants = draw(st.integers(0, 4)) > 0
        made.append(judge.view(flat, lambda tensor: tensor.reshape(shape).clone().requires_grad_(wants)))
    return made


@st.composite
def step(draw):
    """A statement: (name, index of the first operand, index of the second, variant, number)."""
    name = draw(st.sampled_from((*UNARY, *BINARY, *BINARY, "number", "reverse", "sum", "mean", "amax", "where", "clamp", "view",
                                 "mask", "gather", "inplace", "setitem", "mm", "detach")))  # fmt: skip
    return name, draw(st.integers(0, 7)), draw(st.integers(0, 7)), draw(st.integers(0, 5)), draw(number)


def view_of(a, variant):
    return (
        lambda: a.unsqueeze(-1), lambda: a.transpose(0, -1), lambda: a[..., :1], lambda: a.expand(2, *a.shape), lambda: a.flatten(),
        lambda: a[0],
    )[variant]()  # fmt: skip


def applied(m, statement, a, b):
    name, _, _, variant, number = statement
    if name in UNARY:
        return getattr(a, name)()
    if name in BINARY:
        return getattr(m, name)(a, b)
    if name == "number":
        return (lambda: a + number, lambda: number * a, lambda: a / number, lambda: a - number, lambda: a.add(b, alpha=number), lambda: number + a)[variant]()
    if name == "reverse":
        return number / a
    if name in ("sum", "mean", "amax"):
        return getattr(a, name)(-1, keepdim=variant > 2) if variant else getattr(a, name)()
    if name == "where":
        return m.where(a > b, a, number) if variant < 3 else m.where(a > b, a, b)
    if name == "clamp":
        return a.clamp(-0.5, 1.5) if variant < 3 else a.clamp(b)
    if name == "view":
        return view_of(a, variant)
    if name == "mask":
        return a[a > 0]
    if name == "gather":
        return a[m.tensor([0, -1, 0])]
    if name == "inplace":
        copied = a * 1
        return copied.mul_(number) if variant < 2 else copied.add_(b) if variant < 4 else copied.exp_()
    if name == "setitem":
        copied = a * 1
        copied[..., :1] = b if variant < 3 else number
        return copied
    if name == "mm":
        return m.mm(a, b) if variant < 3 else a.reshape(-1) @ a.reshape(-1)
    return a.detach()


def run(m, program, leaves):
    made = list(leaves)
    for statement in program:
        made.append(applied(m, statement, made[statement[1] % len(made)], made[statement[2] % len(made)]))
    loss = made[-1].sum()
    graph = nodes(loss.grad_fn)
    flags = [(tensor.requires_grad, tensor.is_leaf, tensor.output_nr) for tensor in made]
    loss.backward()
    return made[-1], graph, flags, [tensor.grad for tensor in leaves]


@given(leaves=leaves(), program=st.lists(step(), min_size=1, max_size=7))
def test_random_program(leaves, program):
    # The graph is not compared if it has a dot product: in PyTorch it is a separate node.
    dots = any(name == "mm" and variant >= 3 for name, _, _, variant, _ in program)
    same(lambda m, *leaves: tuple(part for at, part in enumerate(run(m, program, leaves)) if at != 1 or not dots), *leaves, exact=False)


@given(leaves=leaves(), program=st.lists(step(), min_size=1, max_size=4))
def test_random_second_derivative(leaves, program):
    assume(not any(name in ("setitem", "inplace") for name, *_ in program))

    def call(m, *leaves):
        made = list(leaves)
        for statement in program:
            made.append(applied(m, statement, made[statement[1] % len(made)], made[statement[2] % len(made)]))
        wanted = [tensor for tensor in leaves if tensor.requires_grad]
        first = m.autograd.grad(made[-1].square().sum(), wanted, create_graph=True, allow_unused=True, materialize_grads=True)
        total = sum(gradient.square().sum() for gradient in first)
        second = m.autograd.grad(total, wanted, allow_unused=True)
        # Compared without strides: where gradients are equal along a dim, Tenon's have stride 0 there.
        return [gradient if gradient is None else m.tensor(gradient.tolist(), dtype=m.float64) for gradient in (*first, *second)]

    assume(any(both.ours.requires_grad for both in leaves))
    same(call, *leaves, exact=False)


@st.composite
def layout(draw):
    sizes = draw(st.lists(st.integers(1, 3), max_size=3))
    return sizes, [draw(st.sampled_from([0, 1, 2, 3, 5])) for _ in sizes], draw(st.integers(0, 5))


@given(source=layout(), taken=layout())
def test_as_strided(source, taken):
    """Source and result may have several elements at one address. First and second derivatives."""

    def call(m):
        x = m.arange(64, dtype=m.float64).as_strided(*source).detach().requires_grad_()
        y = x.as_strided(*taken)
        weight = m.ones_like(y).requires_grad_()
        (first,) = m.autograd.grad(y, x, weight, create_graph=True)
        numbered = m.arange(first.numel(), dtype=m.float64).reshape(first.shape)
        (second,) = m.autograd.grad((first * numbered).sum(), weight)
        return [result.detach().reshape(-1).clone() for result in (y, first, second)]

    same(call, exact=False)


# --- Attributes, methods and errors


x3 = [1.0, 2.0, 3.0]
REFUSED = {
    "backward of many": lambda m, x: x.backward(),
    "backward of no graph": lambda m, x: x.detach().sum().backward(),
    "backward twice": lambda m, x: (x.exp().sum(), [loss := x.exp().sum(), loss.backward(), loss.backward()]),
    "gradient of another shape": lambda m, x: (x * 2).sum().backward(m.ones(2)),
    "no inputs": lambda m, x: (x * 2).sum().backward(inputs=[]),
    "inputs without grad": lambda m, x: m.autograd.grad(x.sum(), m.ones(2)),
    "unused input": lambda m, x: m.autograd.grad(x.sum(), m.ones(2, requires_grad=True)),
    "grad of nothing": lambda m, x: m.autograd.grad(x.sum(), []),
    "too few weights": lambda m, x: m.autograd.grad([x * 1, x * 2], x, [m.ones(3)]),
    "weights of no type": lambda m, x: m.autograd.grad(x.sum(), x, [1]),
    "outputs of no type": lambda m, x: m.autograd.grad(1, x),
    "materialize but not allow": lambda m, x: m.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True),
    "requires_grad of a number": lambda m, x: setattr(x, "requires_grad", 1),
    "requires_grad deleted": lambda m, x: delattr(x, "requires_grad"),
    "requires_grad of a computed tensor": lambda m, x: setattr(x * 2, "requires_grad", False),
    "requires_grad_ of a computed tensor": lambda m, x: (x * 2).requires_grad_(False),
    "requires_grad_ of no bool": lambda m, x: x.requires_grad_(2),
    "requires_grad of integers": lambda m, x: m.ones(2, dtype=m.int64).requires_grad_(),
    "requires_grad set on integers": lambda m, x: setattr(m.ones(2, dtype=m.int64), "requires_grad", True),
    "a factory of integers": lambda m, x: m.ones(2, dtype=m.int64, requires_grad=True),
    "tensor() of integers": lambda m, x: m.tensor([1], requires_grad=True),
    "grad of no type": lambda m, x: setattr(x, "grad", 1),
    "grad of another shape": lambda m, x: setattr(x, "grad", m.ones(2, dtype=m.float64)),
    "grad of another dtype": lambda m, x: setattr(x, "grad", m.ones(3)),
    "grad of itself": lambda m, x: setattr(x, "grad", x),
    "hook without grad": lambda m, x: m.ones(2).register_hook(print),
    "leaf hook on a computed tensor": lambda m, x: (x * 2).register_post_accumulate_grad_hook(print),
    "leaf hook without grad": lambda m, x: m.ones(2).register_post_accumulate_grad_hook(print),
    "retain_grad without grad": lambda m, x: m.ones(2).retain_grad(),
    "leaf in place": lambda m, x: x.add_(1),
    "leaf reshaped in place": lambda m, x: x.unsqueeze_(0),
    "view of a leaf in place": lambda m, x: x[0].add_(1),
    "leaf written": lambda m, x: x.__setitem__(0, 1),
    "detach_ of a view": lambda m, x: x[0].detach_(),
    "numpy": lambda m, x: x.numpy(),
    "__array__": lambda m, x: x.__array__(),
    "numpy of a computed tensor": lambda m, x: (x * 2).numpy(),
    "dlpack": lambda m, x: x.__dlpack__(),
    "deepcopy of a computed tensor": lambda m, x: copy.deepcopy(x * 2),
    "data of no type": lambda m, x: setattr(x, "data", 1),
    "data of integers": lambda m, x: setattr(x, "data", m.ones(3, dtype=m.int32)),
    "out= with grad": lambda m, x: m.add(x, x, out=m.ones(3, dtype=m.float64)),
    "saved and changed": lambda m, x: [y := x * 1, z := y.exp(), z.add_(1), z.sum().backward()],
    "hook that is no function": lambda m, x: [x.register_hook(1), (x * 1).sum().backward()],
    "hook with another result": lambda m, x: [x.register_hook(lambda grad: "a"), (x * 1).sum().backward()],
    "hook with another size": lambda m, x: [x.register_hook(lambda grad: m.ones(4, dtype=m.float64)), (x * 1).sum().backward()],
    "hook with another dtype": lambda m, x: [x.register_hook(lambda grad: m.ones(3)), (x * 1).sum().backward()],
    "leaf hook with a result": lambda m, x: [x.register_post_accumulate_grad_hook(lambda p: 1), (x * 1).sum().backward()],
    "node hook with another result": lambda m, x: [y := x * 1, y.grad_fn.register_hook(lambda i, o: 1), y.sum().backward()],
    "node hook with too many": lambda m, x: [y := x * 1, y.grad_fn.register_hook(lambda i, o: (o[0],) * 3), y.sum().backward()],
    "node prehook with another result": lambda m, x: [y := x * 1, y.grad_fn.register_prehook(lambda o: 1), y.sum().backward()],
    "set_grad_enabled of no bool": lambda m, x: m.set_grad_enabled("a"),
    "inference tensor that requires grad": lambda m, x: made_in_inference(m).requires_grad_(),
    "inference tensor in place": lambda m, x: made_in_inference(m).add_(1),
    "inference tensor's version": lambda m, x: made_in_inference(m)._version,
    "inference tensor saved": lambda m, x: made_in_inference(m) * x,
    "anomaly": lambda m, x: anomaly(m, x),
}


def made_in_inference(m):
    with m.inference_mode():
        return m.ones(3, dtype=m.float64)


def anomaly(m, x):
    with m.autograd.set_detect_anomaly(True):
        (x - 1).sqrt().mul(0).sum().backward()


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    assert same(lambda m, x: [REFUSED[name](m, x)] and None, leaf(x3)) is None


SAME = {
    "flags of a leaf": lambda m, x: (x.requires_grad, x.is_leaf, x.grad, x.grad_fn, x.output_nr, x.retains_grad, x.is_inference(), x._version),
    "flags of a computed tensor": lambda m, x: [(y.requires_grad, y.is_leaf, y.retains_grad, type(y.grad_fn).__name__, y.grad_fn.name()) for y in (x * 2, x[0], 2 / x, x.detach())],
    "the accumulator": lambda m, x: [a := (x * 2).grad_fn.next_functions[0][0], a.name(), type(a).__name__, a.variable is x][1:],
    "one node, one object": lambda m, x: [y := x * 2, y.grad_fn is y.grad_fn, y.grad_fn == (x * 2).grad_fn][1:],
    "one grad, one object": lambda m, x: [x.sum().backward(), x.grad is x.grad][1:],
    "grad taken away": lambda m, x: [x.sum().backward(), delattr(x, "grad"), x.grad, x.sum().backward(), setattr(x, "grad", None), x.grad],
    "grad given": lambda m, x: [g := m.ones(3, dtype=m.float64), setattr(x, "grad", g), x.grad is g, x.sum().backward(), x.grad],
    "summed up": lambda m, x: [x.sum().backward(), (x * x).sum().backward(), x.grad][2],
    "weights": lambda m, x: [(x * x).backward(m.tensor(x3, dtype=m.float64)), x.grad][1],
    "inputs": lambda m, x: [y := x * 2, z := y * x, z.sum().backward(inputs=[y]), y.grad, x.grad][3:],
    "one input": lambda m, x: [(x * x).sum().backward(inputs=x), x.grad],
    "retained": lambda m, x: [y := x * 2, y.retain_grad(), y.square().sum().backward(), y.grad, y.retains_grad, x.grad][3:],
    "graph kept": lambda m, x: [y := x.exp().sum(), y.backward(retain_graph=True), y.backward(), x.grad][3],
    "grad of two": lambda m, x: m.autograd.grad([x.sum(), (x * x).sum()], [x]),
    "backward of two": lambda m, x: [m.autograd.backward([x.sum(), x * x], [None, m.ones(3, dtype=m.float64)]), x.grad],
    "unused allowed": lambda m, x: m.autograd.grad(x.sum(), [x, m.ones(2, requires_grad=True)], allow_unused=True),
    "unused as zeros": lambda m, x: m.autograd.grad(x.sum(), [x, m.ones(2, requires_grad=True)], materialize_grads=True),
    "detach": lambda m, x: [y := (x * 2).detach(), y.requires_grad, y.grad_fn, m.detach(x).is_leaf],
    "detach_": lambda m, x: [y := x * 2, y.detach_() is y, y.requires_grad, y.is_leaf][1:],
    "numbers": lambda m, x: [x.tolist(), x.sum().item(), int(x.sum()), bool(x[0]), f"{x.sum():.2f}", len(x)],
    "numpy by force": lambda m, x: x.numpy(force=True).tolist(),
    "float warns": lambda m, x: float(x.sum()),
    "a copied tensor warns": lambda m, x: m.tensor(x).requires_grad,
    "as_tensor": lambda m, x: m.as_tensor(x) is x,
    "asarray that requires grad": lambda m, x: m.asarray([1.0], requires_grad=True).requires_grad,
    "new factories": lambda m, x: [t.requires_grad for t in (x.new_ones(2, requires_grad=True), m.zeros_like(x), m.rand(2, requires_grad=True), x.new_tensor([1.0], requires_grad=True))],
    "deepcopy of several": lambda m, x: [
        ps := [m.arange(n + 1.0).requires_grad_() for n in range(20)], [(p * p).sum().backward() for p in ps],
        copies := copy.deepcopy(ps), copies, [p.grad for p in copies]][3:],
    "deepcopy": lambda m, x: [x.sum().backward(), y := copy.deepcopy(x), y.requires_grad, y.is_leaf, y.grad is not x.grad][1:],
    "copy": lambda m, x: [y := copy.copy(x), y.requires_grad, y.data_ptr() == x.data_ptr()],
    "pickle": lambda m, x: [(y := pickle.loads(pickle.dumps(t)), y.requires_grad, y.is_leaf) for t in (x, x * 2, x.detach())],
    "data": lambda m, x: [d := x.data, d.requires_grad, d.mul_(2) is d, x._version, x],
    "data given": lambda m, x: [y := x * 1, setattr(x, "data", m.zeros(3, dtype=m.float64)), x.requires_grad, x, y.sum().backward(), x.grad],
    "data of another shape": lambda m, x: [setattr(x, "data", m.zeros(2, 2, dtype=m.float64)), x.requires_grad, x, (x * 2).sum().backward(), x.grad],
    "data of a view": lambda m, x: [y := (x * 2)[1:], setattr(y, "data", m.ones(1, dtype=m.float64)), y],
    "grad of a computed tensor warns": lambda m, x: (x * 2).grad,
    "out without recording": lambda m, x: [m.no_grad().__enter__(), m.add(x, 1, out=m.ones(3, dtype=m.float64)), m.set_grad_enabled(True)][1],
    "mask read": lambda m, x: [x[x > 1.5].sum().backward(), x.grad],
    "indices read": lambda m, x: [(x[m.tensor([0, 0, 2])] * m.tensor(x3, dtype=m.float64)).sum().backward(), x.grad],
    "mask written": lambda m, x: [y := x * 2, y.__setitem__(y > 3, 0.0), type(y.grad_fn).__name__, y.sum().backward(), x.grad][2:],
    "indices written": lambda m, x: [y := m.zeros(4, dtype=m.float64), y.__setitem__(m.tensor([0, 2, 3]), x), y, type(y.grad_fn).__name__, y.square().sum().backward(), x.grad],
    "reshaped in place": lambda m, x: [y := x * 2, y.unsqueeze_(0), y.t_(), y.sum().backward(), x.grad],
    "hooks": lambda m, x: hooks(m, x),
    "hook order": lambda m, x: hook_order(m, x),
    "node hooks": lambda m, x: node_hooks(m, x),
    "modes": lambda m, x: modes(m, x),
    "generators": lambda m, x: generators(m),
    "versions": lambda m, x: [y := x * 1, y._version, y.add_(1)._version, y[0].mul_(2)._version, y._version],
    "matmul": lambda m, x: [(x @ x), x @ m.ones(3, 2, dtype=m.float64), m.ones(2, 3, dtype=m.float64) @ x],
}


def hooks(m, x):
    """A hook changes the gradient; a removed one does not."""
    seen = []
    handle = x.register_hook(lambda grad: seen.append(grad.tolist()))
    x.register_hook(lambda grad: grad * 2)
    y = x * 3
    y.register_hook(lambda grad: grad + 1)
    y.sum().backward()
    handle.remove()
    handle.remove()
    (x * 1).sum().backward()
    return x.grad, seen


def hook_order(m, x):
    order = []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: order.append("tensor"))
    y.grad_fn.register_prehook(lambda grads: order.append("before"))
    y.grad_fn.register_hook(lambda inputs, outputs: order.append("after"))
    x.register_post_accumulate_grad_hook(lambda leaf: order.append(("leaf", leaf is x, leaf.grad.tolist())))
    with y.register_hook(lambda grad: order.append("never")):
        pass
    y.sum().backward()
    return order


def node_hooks(m, x):
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: tuple(None if grad is None else grad + 1 for grad in inputs))
    y.sum().backward()
    return x.grad


def modes(m, x):
    states = []
    note = lambda: states.append((m.is_grad_enabled(), m.is_inference_mode_enabled(), (x * 2).requires_grad))

    @m.no_grad()
    def called():
        note()

    @m.no_grad
    def bare():
        note()

    @m.set_grad_enabled(False)
    def disabled():
        note()

    @m.inference_mode()
    def inferred():
        note()
        return m.ones(2)

    with m.no_grad():
        note()
        with m.enable_grad():
            note()
    with m.set_grad_enabled(False):
        note()
    for function in (called, bare, disabled, note):
        function()
    states.append(inferred().is_inference())
    with m.inference_mode(False):
        note()
    m.set_grad_enabled(False)
    note()
    m.set_grad_enabled(True)
    try:
        with m.no_grad():
            raise KeyError
    except KeyError:
        note()
    return states


def generators(m):
    @m.no_grad()
    def steps():
        sent = yield m.is_grad_enabled()
        try:
            yield sent, m.is_grad_enabled()
        except KeyError:
            yield "thrown", m.is_grad_enabled()
        return 3

    running = steps()
    return [next(running), m.is_grad_enabled(), running.send(5), m.is_grad_enabled(), running.throw(KeyError()), list(running), m.is_grad_enabled()]


@pytest.mark.parametrize("name", SAME)
def test_same(name):
    def call(m, x):
        result = SAME[name](m, x)
        return tuple(result) if isinstance(result, list) else result

    same(call, leaf(x3), exact=False)


# --- Custom functions


def function(m, forward, backward, name="Cube", **more):
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    members.update({key: staticmethod(value) for key, value in more.items()})
    return type(name, (m.autograd.Function,), members)


def loss_of(result):
    return (result if not isinstance(result, tuple) else result[0]).sum()


def applied_function(m, x, forward, backward, *args, **more):
    result = function(m, forward, backward, **more).apply(x, *args)
    loss_of(result).backward()
    return result, x.grad


def saving(ctx, *tensors):
    ctx.save_for_backward(*tensors)
    return tensors[0] * 1


FUNCTIONS = {
    "plain": lambda m, x: applied_function(m, x, lambda ctx, a: a * a, lambda ctx, g: g * 3),
    "too many gradients": lambda m, x: applied_function(m, x, lambda ctx, a: a * 1, lambda ctx, g: (g, g)),
    "a None too many": lambda m, x: applied_function(m, x, lambda ctx, a: a * 1, lambda ctx, g: (g, None)),
    "too few gradients": lambda m, x: applied_function(m, x, lambda ctx, a, b: a * 1, lambda ctx, g: g, 2),
    "a gradient of a number": lambda m, x: applied_function(m, x, lambda ctx, a, b: a * 1, lambda ctx, g: (g, g), 2),
    "None for a number": lambda m, x: applied_function(m, x, lambda ctx, a, b: a * b, lambda ctx, g: (g * 2, None), 2),
    "a gradient of no type": lambda m, x: applied_function(m, x, lambda ctx, a: a * 1, lambda ctx, g: 1),
    "no gradient": lambda m, x: applied_function(m, x, lambda ctx, a: a * 1, lambda ctx, g: None),
    "a gradient that is summed down": lambda m, x: applied_function(m, x, lambda ctx, a: a * 1, lambda ctx, g: m.ones(2, 3, dtype=m.float64)),
    "a gradient that does not fit": lambda m, x: applied_function(m, x, lambda ctx, a: a * 1, lambda ctx, g: m.ones(2, dtype=m.float64)),
    "an output of no type": lambda m, x: function(m, lambda ctx, a: (a * 1, 5, "x"), lambda ctx, *g: g[0]).apply(x),
    "a list": lambda m, x: [tensor.requires_grad for tensor in function(m, lambda ctx, a: [a * 1], lambda ctx, *g: g[0]).apply(x)],
    "saved": lambda m, x: applied_function(m, x, saving, lambda ctx, g: g * ctx.saved_tensors[0]),
    "saved None": lambda m, x: applied_function(m, x, lambda ctx, a: saving(ctx, a, None), lambda ctx, g: g if ctx.saved_tensors[1] is None else None),
    "saved a number": lambda m, x: applied_function(m, x, lambda ctx, a: (ctx.save_for_backward(1), a * 1)[1], lambda ctx, g: g),
    "saved output": lambda m, x: second_of_saved_output(m, x),
    "saved and changed": lambda m, x: [y := x * 1, z := function(m, saving, lambda ctx, g: ctx.saved_tensors[0]).apply(y), y.add_(1), z.sum().backward()],
    "saved and freed": lambda m, x: [z := function(m, saving, lambda ctx, g: ctx.saved_tensors[0]).apply(x), z.sum().backward(), z.sum().backward()],
    "identity of what was saved": lambda m, x: [y := function(m, saving, lambda ctx, g: g).apply(x), y.grad_fn.saved_tensors[0] is x][1:],
    "needs_input_grad": lambda m, x: [seen := [], applied_function(m, x, lambda ctx, a, b, c: (seen.append(ctx.needs_input_grad), a * 1)[1], lambda ctx, g: (seen.append(ctx.needs_input_grad), g, None, None)[1:], m.ones(3), 2), seen][2],
    "unwanted outputs as zeros": lambda m, x: [seen := [], applied_function(m, x, lambda ctx, a: (a * 1, a * 2), lambda ctx, g, h: (seen.append(h), g)[1]), seen[0]][2],
    "unwanted outputs as None": lambda m, x: [seen := [], applied_function(m, x, lambda ctx, a: (ctx.set_materialize_grads(False), (a * 1, a * 2))[1], lambda ctx, g, h: (seen.append(h), g)[1]), seen[0]][2],
    "not differentiable": lambda m, x: [(t.requires_grad, t.is_leaf) for t in function(m, not_differentiable, lambda ctx, g, h: g).apply(x)],
    "dirty": lambda m, x: [y := x * 1, z := function(m, lambda ctx, a: (ctx.mark_dirty(a), a.add_(1))[1], lambda ctx, g: g * 5).apply(y), z is y, y.grad_fn.name(), z.sum().backward(), x.grad],
    "dirty leaf": lambda m, x: function(m, lambda ctx, a: (ctx.mark_dirty(a), a)[1], lambda ctx, g: g).apply(x),
    "dirty but not returned": lambda m, x: function(m, lambda ctx, a: (ctx.mark_dirty(a), a * 1)[1], lambda ctx, g: g).apply(x * 1),
    "input as output": lambda m, x: [y := function(m, lambda ctx, a: a, lambda ctx, g: g * 2).apply(x), y is x, y.grad_fn.name(), y.sum().backward(), x.grad],
    "a view": lambda m, x: applied_function(m, x, lambda ctx, a: a.view(3, 1), lambda ctx, g: g.view(3) * 2),
    "no forward": lambda m, x: m.autograd.Function.apply(x),
    "no backward": lambda m, x: type("Half", (m.autograd.Function,), {"forward": staticmethod(lambda ctx, a: a * 1)}).apply(x).sum().backward(),
    "setup_context": lambda m, x: applied_function(m, x, lambda a, b: a * b, lambda ctx, g: (g * ctx.saved_tensors[0], None), 2, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0], output)),
    "keywords": lambda m, x: [y := function(m, lambda ctx, a, b=2: a * b, lambda ctx, g: (g, None)).apply(a=x), y.sum().backward(), x.grad][1:],
    "error in forward": lambda m, x: function(m, lambda ctx, a: 1 / 0, lambda ctx, g: g).apply(x),
    "error in backward": lambda m, x: applied_function(m, x, lambda ctx, a: a * 1, lambda ctx, g: {}["key"]),
    "unrecorded": lambda m, x: [y := function(m, lambda ctx, a: a * 1, lambda ctx, g: g).apply(x.detach()), y.requires_grad, y.grad_fn],
    "attributes of the context": lambda m, x: [y := function(m, lambda ctx, a: (setattr(ctx, "k", 7), a * 1)[1], lambda ctx, g: g * ctx.k).apply(x), y.grad_fn.k, y.sum().backward(), x.grad],
    "the node": lambda m, x: [y := function(m, lambda ctx, a: a * 1, lambda ctx, g: g).apply(x), nodes((y * 2).grad_fn), y.grad_fn.name(), repr(y)],
    "hooks of the node": lambda m, x: [y := function(m, lambda ctx, a: a * 1, lambda ctx, g: g).apply(x), y.grad_fn.register_prehook(lambda g: (g[0] * 3,)), y.grad_fn.register_hook(lambda i, o: (i[0] + 1,)), y.sum().backward(), x.grad][3:],
    "differentiated twice": lambda m, x: [c := function(m, saving, lambda ctx, g: g * ctx.saved_tensors[0].exp()), g := m.autograd.grad(c.apply(x).sum(), x, create_graph=True)[0], m.autograd.grad(g.sum(), x)][1:],
    "once": lambda m, x: [g := m.autograd.grad(once(m).apply(x).sum(), x), g[0].requires_grad],
    "once, twice": lambda m, x: [g := m.autograd.grad((once(m).apply(x * 1) * x).sum(), x, create_graph=True)[0], m.autograd.grad(g.sum(), x)],
}  # fmt: skip


def not_differentiable(ctx, a):
    other = a * 2
    ctx.mark_non_differentiable(other)
    return a * 1, other


def second_of_saved_output(m, x):
    def forward(ctx, a):
        result = a.exp()
        ctx.save_for_backward(result)
        return result

    exp = function(m, forward, lambda ctx, g: g * ctx.saved_tensors[0])
    (first,) = m.autograd.grad(exp.apply(x).sum(), x, create_graph=True)
    return first, m.autograd.grad(first.sum(), x)


def once(m):
    from importlib import import_module

    once_differentiable = import_module(f"{m.__name__}.autograd.function").once_differentiable
    return function(m, lambda ctx, a: a * 2, once_differentiable(lambda ctx, g: g * 2))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    def call(m, x):
        result = FUNCTIONS[name](m, x)
        return tuple(result) if isinstance(result, list) else result

    same(call, leaf(x3), exact=False)


# --- Products


@st.composite
def factors(draw):
    """Two operands that matmul usually accepts."""
    rows, depth, columns = (draw(st.integers(1, 3)) for _ in range(3))
    batch = draw(st.lists(st.integers(1, 2), max_size=2))
    left = draw(st.sampled_from([(depth,), (rows, depth), (*batch, rows, depth)]))
    right = draw(st.sampled_from([(depth,), (depth, columns), (*draw(broadcastable(batch)), depth, columns), (rows, columns)]))
    dtype = draw(st.sampled_from(["float64", "float64", "float32", "int64"]))
    return [judge.view(judge.tensor(draw(st.lists(st.integers(-3, 3), min_size=math.prod(shape), max_size=math.prod(shape))), dtype),
                       lambda tensor: tensor.reshape(shape)) for shape in (left, right)]  # fmt: skip


@given(factors=factors())
def test_matmul(factors):
    same(lambda m, a, b: (a @ b, m.matmul(a, b), a.matmul(b)), *factors)


@given(factors=factors())
def test_gradients_of_matmul(factors):
    assume(factors[0].ours.is_floating_point())

    def call(m, a, b):
        a, b = a.clone().requires_grad_(), b.clone().requires_grad_()
        (a @ b).square().sum().backward()
        return [tuple(part.tolist()) if part.dim() else part.item() for part in (a.grad, b.grad)]

    same(call, *factors)


PRODUCTS = {"mm": [(2, 3), (3, 4)], "bmm": [(2, 2, 3), (2, 3, 4)], "mv": [(2, 3), (3,)], "dot": [(3,), (3,)], "vdot": [(3,), (3,)], "outer": [(2,), (3,)],
            "inner": [(2, 3), (4, 3)], "addmm": [(2, 1), (2, 3), (3, 4)], "addmv": [(1,), (2, 3), (3,)], "baddbmm": [(4,), (2, 2, 3), (2, 3, 4)]}  # fmt: skip
MATMUL_SHAPES = [[(3,), (3,)], [(2, 3), (3,)], [(3,), (3, 2)], [(2, 3), (3, 4)], [(4, 2, 3), (3, 2)], [(4, 2, 3), (3,)], [(2, 3), (4, 3, 2)], [(3,), (4, 3, 2)],
                 [(4, 2, 3), (4, 3, 2)], [(1, 2, 3), (4, 3, 2)], [(4, 2, 3), (1, 3, 2)], [(5, 1, 2, 3), (4, 3, 2)], [(1, 1, 3), (3, 3)]]  # fmt: skip
INNER_SHAPES = [[(3,), (3,)], [(3,), (1, 3)], [(1, 1, 3), (1, 3)], [(1, 3), (2, 3)], [(2, 1), (2, 1)]]


@pytest.mark.parametrize("name, shapes", [*PRODUCTS.items(), *(("matmul", shapes) for shapes in MATMUL_SHAPES), *(("inner", shapes) for shapes in INNER_SHAPES)])
@pytest.mark.parametrize("transposed", [False, True])
def test_graphs_of_products(name, shapes, transposed):
    """Nodes, gradients with their strides, and the graphs of the gradients; also with transposed operands."""

    def operand(m, shape):
        numbers = m.arange(math.prod(shape), dtype=m.float64).reshape(shape[:-2] + shape[-2:][::-1] if transposed else shape)
        return (numbers.transpose(-1, -2) if transposed and len(shape) > 1 else numbers).requires_grad_()

    def call(m):
        operands = [operand(m, shape) for shape in shapes]
        factors = {"alpha": 3, "beta": 0.5} if "add" in name else {}
        result = getattr(m, name)(*operands, **factors)
        weights = m.arange(result.numel(), dtype=m.float64).reshape(result.shape) - 3
        grads = m.autograd.grad((result * weights).sum(), operands, create_graph=True)
        # In PyTorch, multiplying by a number is another node, MulBackward1.
        graphs = [nodes(grad.grad_fn).replace("MulBackward1", "MulBackward0") for grad in grads]
        total = sum((grad * grad).sum() for grad in grads if grad.requires_grad)
        twice = m.autograd.grad(total, operands, allow_unused=True)
        return result, nodes(result.grad_fn), grads, graphs, [part for part in twice if part is not None]

    same(call, exact=False)


@pytest.mark.parametrize("name, shapes", [("addmm", [(2, 4), (2, 3), (3, 4)]), ("addmv", [(2,), (2, 3), (3,)]), ("baddbmm", [(2, 2, 4), (2, 2, 3), (2, 3, 4)])])
def test_products_added_in_place(name, shapes):
    def call(m):
        operands = [m.arange(math.prod(shape), dtype=m.float64).reshape(shape).requires_grad_() for shape in shapes]
        written = operands[0] * 1
        getattr(written, name + "_")(*operands[1:], alpha=3, beta=0.5)
        grads = m.autograd.grad((written * written).sum(), operands, create_graph=True)
        twice = m.autograd.grad(sum((grad * grad).sum() for grad in grads), operands)
        return written, nodes(written.grad_fn), written._version, grads, twice

    same(call)


@pytest.mark.parametrize("name, shapes", [("mm", [(2, 3), (3, 2)]), ("mm", [(2,), (2,)]), ("bmm", [(4, 2, 3), (4, 3, 2)]), ("bmm", [(2, 2), (2, 2)]),
                                          ("mv", [(2, 3), (3,)]), ("mv", [(2, 3), (2,)]), ("mv", [(2, 2), (2, 2)]), ("dot", [(3,), (3,)]),
                                          ("dot", [(3,), (2,)]), ("dot", [(3, 1), (3,)]), ("matmul", [(), (3,)])])  # fmt: skip
@pytest.mark.parametrize("dtypes", [("float32", "float32"), ("int32", "int32"), ("bool", "bool"), ("float32", "int64")])
def test_products(name, shapes, dtypes):
    operands = [judge.view(judge.tensor([1] * math.prod(shape), dtype), lambda tensor: tensor.reshape(shape)) for shape, dtype in zip(shapes, dtypes)]
    same(lambda m, a, b: (getattr(m, name)(a, b), getattr(a, name)(b)), *operands)


FOLDS = {
    "var": lambda m, x, **k: m.var(x, **k), "var, correction": lambda m, x, **k: m.var(x, correction=0.5, **k),
    "std": lambda m, x, **k: m.std(x, **k), "std, biased": lambda m, x, **k: m.std(x, correction=0, **k),
    "logsumexp": lambda m, x, **k: m.logsumexp(x, **({"dim": (0, 1)} | k)), "prod": lambda m, x, **k: m.prod(x, **k),
} | {f"norm {ord}": lambda m, x, ord=ord, **k: m.linalg.vector_norm(x, ord, **k) for ord in (0, 1, 2, 3, 1.5, 0.5, -1, float("inf"), -float("inf"))}  # fmt: skip
VALUES = {
    "plain": [[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]], "zeros": [[0.0, -1.5, 0.0], [0.0, 0.0, 0.0]], "equal": [[2.0, 2.0, 2.0], [1.0, -1.0, 1.0]],
    "infinite": [[float("inf"), 1.0, 2.0], [-float("inf"), -float("inf"), 0.5]], "nan": [[float("nan"), 1.0, 2.0], [0.5, 1.5, 1.0]],
}  # fmt: skip


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("fold", FOLDS)
def test_gradients_of_folds(fold, values):
    """First and second derivatives, also at zeros, ties, infinities and NaN."""
    for options in ({}, {"dim": 1}, {"dim": 0, "keepdim": True}):

        def gradients(m, x):
            result = FOLDS[fold](m, x, **options)
            scale = m.arange(1.0, result.numel() + 1, dtype=m.float64).reshape(result.shape)
            (first,) = m.autograd.grad((result * scale).sum(), x, create_graph=True)
            second = m.autograd.grad((first * first).sum(), x, allow_unused=True)[0] if first.requires_grad and values == "plain" else None
            return result, first, second if second is None else second + 0, result.grad_fn.name()  # `+ 0`: PyTorch's result may have no memory

        same(gradients, leaf(VALUES[values]), exact=False)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("weight", [True, False])
def test_lerp_with_a_bool_weight(weight, inplace):
    def call(m, weight):
        x, y = m.tensor([1.0, 2.0], requires_grad=True), m.tensor([5.0, 8.0], requires_grad=True)
        result = (x * 1).lerp_(y, weight) if inplace else m.lerp(x, y, weight)
        return result, *m.autograd.grad((result * result).sum(), (x, y)), nodes(result.grad_fn)

    same(lambda m: call(m, weight))
    theirs, ours = call(judge.torch, judge.torch.tensor(int(weight))), call(judge.tenon, judge.tenon.tensor(weight))
    assert [tensor.tolist() for tensor in ours[:3]] == [tensor.tolist() for tensor in theirs[:3]]


# PyTorch always saves a value that the derivatives of several operands read, and checks every saved value.
SAVED = {
    "addcdiv": lambda m, x, a, b: m.addcdiv(x, a, b),
    "addcdiv of one": lambda m, x, a, b: m.addcdiv(x, a, a),
    "addcmul": lambda m, x, a, b: m.addcmul(x, a, b),
    "weight of lerp": lambda m, x, a, b: m.lerp(a, a, x * 1),
    "start of lerp": lambda m, x, a, b: m.lerp(x, a, b),
    "cummax": lambda m, x, a, b: m.cummax(x * 1, 0).values,
    "hypot": lambda m, x, a, b: m.hypot(a, x),
    "atan2": lambda m, x, a, b: m.atan2(a, x),
    "div": lambda m, x, a, b: a / x,
    "where": lambda m, x, a, b: m.where(a > 0, x, b),
    "maximum": lambda m, x, a, b: m.maximum(x, a),
    "clamp": lambda m, x, a, b: m.clamp(x, a, b),
}


@pytest.mark.parametrize("changed", "abr")
@pytest.mark.parametrize("name", SAVED)
def test_saved_operands_are_checked(name, changed):
    def call(m):
        x, a, b = (m.tensor(values) for values in ([1.0, 3.0], [2.0, 0.5], [4.0, 5.0]))
        x.requires_grad_()
        result = SAVED[name](m, x, a, b)
        {"a": a, "b": b, "r": result}[changed].add_(1)
        return m.autograd.grad(result.sum(), x)[0]

    same(call)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_the_operand_of_a_running_extreme_is_checked(name):
    def call(m):
        x = m.tensor([1.0, 3.0, 2.0], requires_grad=True)
        y = x * 1
        result = getattr(m, name)(y, 0)[0]
        y.add_(1)
        return m.autograd.grad(result.sum(), x)[0]

    same(call)


def test_a_changed_weight_of_lerp_is_found():
    def call(m):
        x = m.tensor([1.0, 3.0], requires_grad=True)
        weight, y = x * 1, m.ones(2)
        result = m.lerp(y, y, weight)
        weight.add_(1)
        return m.autograd.grad(result.sum(), x)[0]

    same(call)


@pytest.mark.parametrize("name", SAVED)
def test_second_backward_through_saved_operands(name):
    def call(m):
        x, a, b = (m.tensor(values) for values in ([1.0, 3.0], [2.0, 0.5], [4.0, 5.0]))
        result = SAVED[name](m, x.requires_grad_(), a, b).sum()
        result.backward()
        result.backward()
        return x.grad

    same(call)


STEPS = {
    "relu": lambda m, x: m.relu(x),
    "relu_": lambda m, x: m.relu_(x * 1),
    "hardtanh": lambda m, x: m.nn.functional.hardtanh(x),
    "relu6": lambda m, x: m.nn.functional.relu6(x),
    "leaky_relu": lambda m, x: m.nn.functional.leaky_relu(x),
    "prelu": lambda m, x: m.nn.functional.prelu(x, m.ones(1)),
    "threshold": lambda m, x: m.nn.functional.threshold(x, 0.5, 0),
    "hardshrink": lambda m, x: m.nn.functional.hardshrink(x),
    "softshrink": lambda m, x: m.nn.functional.softshrink(x),
    "reflect": lambda m, x: m.nn.functional.pad(x, (1, 1), "reflect"),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_that_are_constant_are_zero_when_differentiated_again(name, weighted):
    def twice(m):
        x, w = m.tensor([[-2.0, -0.2, 0.7, 3.0]], requires_grad=True), m.tensor(2.0, requires_grad=True)
        y = STEPS[name](m, x)
        (first,) = m.autograd.grad((y * w if weighted else y).sum(), x, create_graph=True)
        again = m.autograd.grad(first.sum(), [x, w] if weighted else [x])
        return first.grad_fn.name(), first, *again

    same(twice)
