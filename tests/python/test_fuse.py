"""tenon.fuse: functions that are traced give the results of the functions themselves."""

import argparse
import collections
import contextlib
import copy
import dataclasses
import dis
import functools
import gc
import inspect
import itertools
import subprocess
import sys
import threading
import time
import warnings
import weakref

import pytest
import tenon
from tenon import _fuse


def assert_same(fused, eager):
    if isinstance(eager, tenon.Tensor):
        assert fused.dtype == eager.dtype and fused.stride() == eager.stride()
        assert tenon.equal(fused, eager)
    elif isinstance(eager, dict):
        assert list(fused) == list(eager)
        for name in eager:
            assert_same(fused[name], eager[name])
    elif isinstance(eager, (tuple, list)):
        assert type(fused) is type(eager) and len(fused) == len(eager)
        for one, other in zip(fused, eager):
            assert_same(one, other)
    else:
        assert fused == eager


def counted(function):
    """The function, and a counter that advances when Python runs it."""
    calls = itertools.count()

    def body(*args, **kwargs):
        next(calls)
        return function(*args, **kwargs)

    return tenon.fuse(body), calls


def test_one_pass_and_one_call_of_the_function():
    chain, calls = counted(lambda a, m, s: tenon.clamp((a - m) / s * 2 + 1, 0, 5))
    a, m, s = tenon.rand(50, 3), tenon.rand(3), tenon.rand(50, 1) + 1
    for _ in range(3):
        assert_same(chain(a, m, s), tenon.clamp((a - m) / s * 2 + 1, 0, 5))
    assert next(calls) == 1
    assert chain.passes(a, m, s) == 1


def test_as_a_decorator_of_functions_and_methods():
    class Model:
        def __init__(self):
            self.scale = 2.0

        @tenon.fuse
        def forward(self, x, *, shift=0.5):
            """Scales."""
            return x * self.scale + shift

    model, x = Model(), tenon.rand(4)
    assert Model.forward.__doc__ == "Scales."
    assert_same(model.forward(x), x * 2 + 0.5)
    assert_same(model.forward(x, shift=tenon.ones(4)), x * 2 + 1)
    model.scale = 3.0
    assert_same(model.forward(x), x * 3 + 0.5)


def test_structures_of_arguments_and_results():
    def function(pair, options, *, name):
        return {"sum": pair[0] + options["b"], "both": [pair[1] * 2, (name, 3)], "none": None}

    args = ((tenon.rand(3), tenon.rand(2)), {"b": tenon.rand(3)})
    assert_same(tenon.fuse(function)(*args, name="x"), function(*args, name="x"))


def test_the_structure_of_results_may_follow_the_sizes():
    rows = tenon.fuse(lambda x: [row + 1 for row in x])
    for count in (3, 1, 3, 2, 3):
        x = tenon.rand(count, 2)
        assert_same(rows(x), [row + 1 for row in x])


SCALE = 2
LIST = [1, 2]


class Settings:
    rate = 3


def test_what_the_function_reads_is_part_of_the_signature():
    global SCALE
    power, weight = 1, tenon.ones(3)

    def helper(x):
        return x**power

    @tenon.fuse
    def function(x):
        return helper(x.sum(0) / x.shape[0]) * SCALE * Settings.rate + LIST[1] + weight

    def expected(x):
        return helper(x.sum(0) / x.shape[0]) * SCALE * Settings.rate + LIST[1] + weight

    x = tenon.rand(4, 3)
    assert_same(function(x), expected(x))
    assert_same(function(tenon.rand(7, 3) * 0 + 1), expected(tenon.ones(7, 3)))  # another x.shape[0]
    for change in ("SCALE = 5", "Settings.rate = 7", "LIST[1] = 9"):
        exec(change, globals())
        assert_same(function(x), expected(x))
    power = 2
    assert_same(function(x), expected(x))
    weight.add_(1)
    assert_same(function(x), expected(x))
    weight = tenon.zeros(3)
    assert_same(function(x), expected(x))
    SCALE, LIST[1], Settings.rate = 2, 2, 3


centred = [0]  # the name of a local variable below


def test_local_variables_are_not_globals_of_that_name():
    def function(x):
        centred = x - x.mean()
        return centred * 2

    fused, calls = counted(function)
    for _ in range(3):
        fused(tenon.ones(3))
        centred[0] += 1
    assert next(calls) == 1


def test_globals_behind_many_names():
    """The number of a name above 255 takes two instructions, as does that of an attribute."""
    names = [f"name{i}" for i in range(300)]
    namespace = {**dict.fromkeys(names, 0), "settings": Settings()}
    exec(f"def function(x):\n return x * ({' + '.join(names)} + settings.last) + name299", namespace)
    namespace["settings"].last = 2
    fused, x = tenon.fuse(namespace["function"]), tenon.ones(2)
    assert fused(x).tolist() == [2, 2]
    namespace["settings"].last = 3
    assert fused(x).tolist() == [3, 3]
    namespace["name299"] = 10
    assert fused(x).tolist() == [23, 23]


def reads_by_dis(code):
    """What _fuse._reads finds, from the instructions that Python lists."""
    kinds = {"LOAD_GLOBAL": "_GLOBAL", "LOAD_NAME": "_GLOBAL", "LOAD_DEREF": "_CAPTURED", "LOAD_CLASSDEREF": "_CAPTURED", "LOAD_FROM_DICT_OR_DEREF": "_CAPTURED"}
    found = set()
    instructions = [each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"]
    for at, instruction in enumerate(instructions):
        is_local = instruction.opname.startswith("LOAD_FAST") or instruction.opname == "STORE_FAST_LOAD_FAST"
        if not is_local and instruction.opname not in kinds:
            continue
        path = tuple(each.argval for each in itertools.takewhile(lambda each: each.opname in ("LOAD_ATTR", "LOAD_METHOD"), instructions[at + 1 :]))
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        kind = getattr(_fuse, "_LOCAL" if is_local else kinds[instruction.opname])
        found.update((kind, name, ()) for name in names[:-1])
        found.add((kind, names[-1], path))
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            found |= {read for read in reads_by_dis(constant) if read[0] != _fuse._LOCAL}
    return found


def test_what_code_reads_is_what_dis_lists():
    modules = (dataclasses, functools, argparse, dis, _fuse, sys.modules[__name__])
    functions = {name: value for module in modules for name, value in vars(module).items() if inspect.isfunction(value)}
    assert len(functions) > 100
    for name, function in functions.items():
        assert _fuse._reads(function.__code__) == reads_by_dis(function.__code__), name


@pytest.mark.parametrize("requires_grad", [False, True])
def test_warnings_and_errors_of_broadcasts(requires_grad):
    """A function that warns does so in each call, as eager calls do; a changed policy traces again."""
    function = tenon.fuse(lambda a, b: (a + b) * 2)
    a, b = tenon.ones(4, requires_grad=requires_grad), tenon.ones(4, 1)

    def count(setting):
        with setting, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert function(a, b).shape == (4, 4)
        return len(caught)

    assert count(contextlib.nullcontext()) == 0
    assert [count(tenon.broadcast_policy(outer="warn")) for _ in range(3)] == [1, 1, 1]
    with tenon.broadcast_policy(outer="raise"), pytest.raises(RuntimeError, match="add: broadcasting to"):
        function(a, b)
    with tenon.broadcast_policy(outer="warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            function(a, b)
    assert count(contextlib.nullcontext()) == 0


def test_without_a_compiler():
    """Nothing is found on the path, neither a compiler nor a linker."""
    program = "import tenon\nprint(tenon.fuse(lambda x: (x * 2 + 1).exp().sum())(tenon.zeros(1000)).item())"
    found = subprocess.run([sys.executable, "-c", program], env={"PATH": ""}, check=True, capture_output=True, text=True)
    assert abs(float(found.stdout) - 2718.28) < 0.01


def test_default_dtype_and_grad_mode():
    function = tenon.fuse(lambda x: (x + 1.5, tenon.ones(3)))
    x = tenon.ones(3, dtype=tenon.int32)
    assert function(x)[0].dtype == tenon.float32
    tenon.set_default_dtype(tenon.float64)
    try:
        assert function(x)[0].dtype == function(x)[1].dtype == tenon.float64
    finally:
        tenon.set_default_dtype(tenon.float32)
    parameter = tenon.ones(3, requires_grad=True)
    square = tenon.fuse(lambda x: (x * x).sum())
    square(parameter).backward()
    assert parameter.grad.tolist() == [2, 2, 2]
    with tenon.no_grad():
        assert not square(parameter).requires_grad
    from_elsewhere = tenon.fuse(lambda x: (x * parameter).sum())
    from_elsewhere(tenon.ones(3)).backward()
    assert parameter.grad.tolist() == [3, 3, 3]


def test_reductions_products_views_and_other_ops():
    nn = tenon.nn.functional

    def network(x, w, b):
        h = nn.relu(nn.linear(x, w, b))
        scores = (h - h.mean(-1, keepdim=True)) / (h.var(-1, keepdim=True) + 1e-5).sqrt()
        return (
            nn.softmax(scores, -1),
            nn.layer_norm(h, (h.shape[-1],)),
            nn.gelu(h).mean(),
            h.argmax(1),
            tenon.cat([h, scores], 1),
            tenon.where(h > 0.5, h, 0.0),
            tenon.stack([h, h * 2]).permute(2, 0, 1),
            tenon.einsum("ij,kj->ik", h, h),
            tuple(h.sort(descending=True)),
            x[:, None] - x[None],
            x[1:, ::2] * 2,
            nn.cross_entropy(h, tenon.zeros(h.shape[0], dtype=tenon.int64)),
            tenon.zeros_like(h) + 1,
            w.T.contiguous(),
        )

    args = tenon.rand(6, 4), tenon.rand(5, 4), tenon.rand(5)
    assert_same(tenon.fuse(network)(*args), network(*args))


def test_writes_to_arguments_come_at_the_end():
    def update(weight, grad, velocity):
        velocity.mul_(0.9).add_(grad)
        weight.sub_(velocity, alpha=0.1)
        return weight.norm()

    args, others = [[tenon.ones(3) * i for i in range(1, 4)] for _ in range(2)]
    assert_same(tenon.fuse(update)(*args), update(*others))
    assert_same(args, others)


def raises_after_a_write(x):
    x.add_(1)
    raise KeyError("inside")


def endless(x):
    return endless(x + 1)


def reads_an_element(x):
    y = x * 2
    if y.sum() > 0:
        return y
    return -y


@pytest.mark.parametrize(
    "function, error, text",
    [
        (reads_an_element, RuntimeError, r"line \d+ of .*test_fuse.py: reads_an_element\(\) reads elements"),
        (lambda x: x.tolist(), RuntimeError, "use tenon.where to choose by elements, or read them outside"),
        (lambda x: float(x[0]), RuntimeError, "reads elements"),
        (lambda x: x[x > 0], RuntimeError, "reads elements"),
        (lambda x: tenon.nonzero(x), RuntimeError, "reads elements"),
        (lambda x: x + tenon.rand(3), RuntimeError, "tenon.fuse: the function draws random numbers"),
        (lambda x: tenon.dropout(x, 0.5, True), RuntimeError, "tenon.fuse: "),
        (lambda x: tenon.cumsum(x, 0, out=tenon.empty(3)), RuntimeError, "out= can't be traced; return the result"),
        (lambda x: tenon.add(x, x, out=tenon.empty(0)), RuntimeError, "an out= of another shape than the result can't be traced"),
        (lambda x: print(x), RuntimeError, r"line \d+ of .*test_fuse.py: <lambda>\(\) reads elements \(if, print\(\)"),
        (lambda x: f"{x}", RuntimeError, "reads elements"),
        (lambda x: endless(x), RecursionError, "maximum recursion depth exceeded"),
        (lambda x: (y for y in x), RuntimeError, "returned no tensor, but generator"),
        (lambda x: 3, RuntimeError, "returned no tensor, but int"),
        (lambda x: None, RuntimeError, "returned no tensor, but NoneType"),
        (lambda x: x + tenon.ones(4), RuntimeError, r"The size of tensor a \(3\) must match the size of tensor b \(4\)"),
        (raises_after_a_write, KeyError, "inside"),
        (lambda x: tenon.fuse(raises_after_a_write)(x), KeyError, "inside"),
    ],
)
def test_errors_leave_arguments_as_they_were(function, error, text):
    x = tenon.ones(3)
    fused = tenon.fuse(function)
    for _ in range(2):
        with pytest.raises(error, match=text):
            fused(x)
    assert x.tolist() == [1, 1, 1]
    assert_same(tenon.fuse(lambda x: x + 1)(x), x + 1)  # nothing is traced any more


def test_what_is_no_function():
    with pytest.raises(TypeError, match="tenon.fuse: a function is expected, not int"):
        tenon.fuse(3)


def test_a_traced_function_calls_another_and_itself():
    inner = tenon.fuse(lambda x: x * 2)

    @tenon.fuse
    def power(x, n):
        return x if n == 0 else power(x, n - 1) * inner(x)

    x = tenon.ones(3) + 1
    assert power(x, 3).tolist() == [128, 128, 128]


def test_threads():
    function = tenon.fuse(lambda x, n: (x + n).exp().sum(0) * n)
    failures = []

    def work(n):
        x = tenon.full((n, 5), 0.25)
        for _ in range(50):
            if not tenon.allclose(function(x, n), (x + n).exp().sum(0) * n):
                failures.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def softmax_by_hand(x):
    e = tenon.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def test_rows_run_in_one_pass():
    def nearest(points, centers):
        d = points[:, None] - centers[None]
        return (d * d).sum(-1).argmin(1)

    def scaled(x):
        return (x - x.min()) / (x.max() - x.min()), x.sum(0), x.mean()

    x, points, centers = tenon.rand(600, 1001), tenon.rand(20000, 8), tenon.rand(11, 8)
    fused = tenon.fuse(softmax_by_hand)
    assert fused.passes(x) == 1
    assert tenon.allclose(fused(x), tenon.softmax(x, -1))
    fused = tenon.fuse(nearest)
    assert fused.passes(points, centers) == 1
    assert_same(fused(points, centers), nearest(points, centers))
    fused = tenon.fuse(scaled)
    assert fused.passes(x) == 3
    for result, expected in zip(fused(x), scaled(x)):
        assert tenon.allclose(result, expected)


def test_gradients_are_fused():
    fused = tenon.fuse(softmax_by_hand)
    x = tenon.rand(300, 700, dtype=tenon.float64, requires_grad=True)
    weight = tenon.rand(700, dtype=tenon.float64)
    (softmax_by_hand(x) * weight).sum().backward()
    expected, x.grad = x.grad, None
    y = fused(x)
    assert y.grad_fn.name() == "FusedBackward"
    (y * weight).sum().backward()
    assert tenon.allclose(x.grad, expected, rtol=1e-10, atol=1e-14)
    small = tenon.rand(3, 4, dtype=tenon.float64, requires_grad=True)
    assert tenon.autograd.gradcheck(fused, (small,))
    assert tenon.autograd.gradgradcheck(fused, (small,))


def test_gradients_of_several_results_and_dicts():
    fused = tenon.fuse(lambda x, parameters: {"sum": x * parameters["w"], "sign": x > 0, "other": x.tanh()})
    x, w = tenon.ones(3, requires_grad=True), tenon.full((3,), 2.0, requires_grad=True)
    result = fused(x, {"w": w})
    assert result["sum"].grad_fn.name() == "FusedBackward" and not result["sign"].requires_grad
    result["other"].sum().backward(retain_graph=True)
    assert w.grad is None and x.grad is not None
    result["sum"].sum().backward()
    assert w.grad.tolist() == [1, 1, 1]


def test_what_the_forward_call_read_stays():
    global SCALE
    before, SCALE = SCALE, 3
    try:
        fused = tenon.fuse(lambda x: x * SCALE)
        x = tenon.ones(3, requires_grad=True)
        y = fused(x)
        SCALE = 7
        y.sum().backward()
        assert x.grad.tolist() == [3, 3, 3]
        del fused
        y = tenon.fuse(lambda x: (x * SCALE).exp())(x)
        x.grad = None
        y.backward(tenon.rand(3).flip(0).expand(2, 3)[1])
        assert x.grad is not None
    finally:
        SCALE = before


def test_what_cannot_be_traced_still_has_gradients():
    def by_elements(x):
        return x * 2 if x.sum() > 0 else x * 3

    def random(x):
        return tenon.nn.functional.dropout(x * 2, 0.5)

    def wrong(x):
        return x + tenon.ones(7)

    x = tenon.ones(3, requires_grad=True)
    tenon.fuse(by_elements)(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert tenon.fuse(random)(x).shape == (3,)
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        tenon.fuse(wrong)(x)


def test_what_a_captured_tensor_holds_is_replaced():
    c = tenon.ones(50_000)
    function = tenon.fuse(lambda a: (a + c).sum())
    y = tenon.ones(1)
    assert function(y).item() == 100_000
    c.data = tenon.full((3,), 2, dtype=tenon.int64)
    assert function(y).item() == 9
    c = tenon.ones(3)
    scaled = tenon.fuse(lambda a: a * c)
    assert not scaled(y).requires_grad
    c.requires_grad_()
    assert scaled(y).requires_grad


def test_constants_that_compare_equal():
    divided = tenon.fuse(lambda x, n: x / n)
    x = tenon.ones(2)
    assert divided(x, 0.0).tolist() == [float("inf")] * 2
    assert divided(x, -0.0).tolist() == [-float("inf")] * 2
    numbers = [2]
    typed = tenon.fuse(lambda x: x * numbers[0])
    ints = tenon.ones(2, dtype=tenon.int64)
    assert typed(ints).dtype == tenon.int64
    numbers[0] = 2.0
    assert typed(ints).dtype == tenon.float32


def test_equal_results_have_their_own_memory():
    function = tenon.fuse(lambda a: (a.exp(), a.exp().view(-1)))
    first, second = function(tenon.zeros(2, 2))
    first.zero_()
    assert second.tolist() == [1, 1, 1, 1]


def test_gradients_of_any_layout_are_those_of_the_forward_call():
    factor = 2.0
    squared = tenon.fuse(lambda a: a * factor * a)
    x = tenon.ones(2, 3, requires_grad=True)
    y = squared(x)
    factor = 100.0
    y.backward(tenon.ones(3, 2).t())
    assert x.grad.tolist() == [[4, 4, 4], [4, 4, 4]]


def test_an_interrupt_is_not_lost():
    def interrupted(a):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tenon.fuse(interrupted)(tenon.ones(2, requires_grad=True))


def test_a_fused_function_of_a_captured_tensor():
    inner = tenon.fuse(lambda a: a * 3)
    c = tenon.ones(2)
    assert tenon.fuse(lambda a: a + inner(c))(tenon.ones(2)).tolist() == [4, 4]


def test_threads_keep_their_structures():
    def either(a):
        return {"n": a.shape[0], "v": a * 2} if a.shape[0] % 2 else [a * 2, a.shape[0]]

    function, failures = tenon.fuse(either), []

    def work(seed):
        for i in range(150):
            n, grad = (seed * 37 + i * 11) % 39 + 1, (seed + i) % 2 == 0
            try:
                result = function(tenon.ones(n, requires_grad=grad))
                found = result["n"] if n % 2 else result[1]
                if found != n:
                    failures.append((n, found))
            except Exception as error:
                failures.append((n, repr(error)))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert not failures


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


def test_objects_that_are_called_or_given_by_name():
    x = tenon.ones(2)
    scaled = Scaled(2)
    for function in (tenon.fuse(scaled), tenon.fuse(lambda a: scaled(a)), tenon.fuse(functools.partial(Scaled.__call__, scaled))):
        scaled.factor = 2
        assert function(x).tolist() == [2, 2]
        scaled.factor = 3
        assert function(x).tolist() == [3, 3]
    by_name = tenon.fuse(lambda a, *, c: a * c.factor)
    assert by_name(x, c=scaled).tolist() == [3, 3]
    scaled.factor = 4
    assert by_name(x, c=scaled).tolist() == [4, 4]


def test_errors_name_the_op_and_the_line():
    """As eager errors, with notes: the op's place, name and operands, and the line of the function."""

    def function(x):
        for _ in range(49):
            x = x * 2
        return x + tenon.zeros(4)

    with pytest.raises(RuntimeError) as caught:
        tenon.fuse(function)(tenon.ones(2, 3))
    assert str(caught.value) == "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
    notes = "\n".join(caught.value.__notes__)
    assert "tenon.fuse: op 50 of the function: add of float32[2, 3], float32[4]" in notes
    assert f"line {function.__code__.co_firstlineno + 3} of {__file__}: function()" in notes
    with pytest.raises(RuntimeError) as caught:
        tenon.fuse(lambda x: (x * 2).view(7))(tenon.ones(2, 3))
    assert "shape '[7]' is invalid" in str(caught.value) and ": <lambda>()" in caught.value.__notes__[-1]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x[i] * 2,
        lambda x, i: x[:, i],
        lambda x, i: x[i, None, :2] + 1,
        lambda x, i: x[[1, 0]] - x[i, i],
        lambda x, i: x.T[i, [0, 1, 0]].exp(),
        lambda x, i: x[i[:2][:, None], i] + 1,
    ],
)
def test_integer_indices(function):
    x, i = tenon.arange(6.0).view(2, 3), tenon.tensor([1, 0, -1])
    fused, calls = counted(function)
    for index in (i, i.flip(0), i.to(tenon.int32)):
        assert_same(fused(x, index), function(x, index))
    assert next(calls) == 2
    with pytest.raises(IndexError, match="out of bounds"):
        fused(x, i + 7)


def test_masks_as_indices_name_the_line():
    for function in (lambda x: x[x > 1], lambda x: x[tenon.tensor([True, False, True])]):
        with pytest.raises(RuntimeError, match=r"line \d+ of .*test_fuse.py: <lambda>\(\) reads elements.*a mask as index"):
            tenon.fuse(function)(tenon.ones(3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.cpu() * 2,
        lambda x: x.to("cpu") * 2,
        lambda x: (x * 2, x.device, str(x.device), x.is_meta),
        lambda x: x + tenon.ones(3, device=x.device),
        lambda x: (x * 2, x.cpu() is x, x.contiguous() is x),
    ],
)
def test_devices_are_those_of_the_arguments(function):
    x = tenon.arange(6.0).view(2, 3)
    assert_same(tenon.fuse(function)(x), function(x))


def test_the_place_in_a_storage_is_not_known():
    x = tenon.arange(6.0).view(2, 3)[1]
    for function in (
        lambda x: (x, x.storage_offset()),
        lambda x: (x, x.data_ptr()),
        lambda x: x.as_strided((2,), (1,), 4) * 1,
    ):
        with pytest.raises(RuntimeError, match="is not known while a function is traced"):
            tenon.fuse(function)(x)
    assert tenon.fuse(lambda x: x.as_strided((2,), (1,)) * 1)(x).tolist() == [3, 4]
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 24"):
        tenon.fuse(lambda x: x.as_strided((1000,), (1,)) * 1)(x)


def test_writes_to_tensors_of_numbers():
    def function(shape):
        def accumulate(x):
            total = tenon.zeros(shape)
            total += x
            return total

        return accumulate

    with pytest.raises(RuntimeError, match=r"output with shape \[\] doesn't match the broadcast shape \[2, 3\]"):
        tenon.fuse(function(()))(tenon.ones(2, 3))
    for shape in ((2, 3), (4, 2, 3)):
        fused = tenon.fuse(function(shape))
        for x in (tenon.ones(2, 3), tenon.arange(6.0).view(2, 3)):
            assert_same(fused(x), function(shape)(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.add_(x.t()),
        lambda x: (x * 1).addcmul_(x, x).copy_((x * 2).detach().t()),  # other memory
        lambda x: x.copy_(x.t()),
        lambda x: x.lerp_(x[0], 0.5),
        lambda x: x.mul_(x.detach().t()),
        lambda x: x.mul_(x.detach()),  # element by element
        lambda x: x[:2].add_(x[1:]),
        lambda x: x[1].add_(x[:2]),  # and of another shape
        lambda x: x.view(-1).add_(x),
        lambda x: (lambda y: y.sub_(y.t()))(x * 1),
        lambda x: x.index_copy_(0, tenon.tensor([0, 1, 2]), x.t()),
        lambda x: x.index_put_((tenon.tensor([0, 1]),), x[1:]),
        lambda x: x.masked_fill_(x.t() > 3, 1),
        lambda x: x[0].as_strided((3, 1), (1, 1)).reshape(-1).addcmul_(x, x),
    ],
)
def test_writes_to_what_is_read(function):
    """Memory that is shared in part is refused as in eager calls: the trace knows where views lie."""

    def outcome(call, x):
        try:
            return call(x)
        except RuntimeError as error:
            return str(error)

    x, y = tenon.arange(9.0).view(3, 3), tenon.arange(9.0).view(3, 3)
    expected, found = outcome(function, x), outcome(tenon.fuse(function), y)
    assert_same(found, expected)
    assert_same(y, x)


def test_results_are_written_to_out():
    def function(x, y, out):
        total = tenon.empty(3)
        tenon.sub(x, y, out=out)
        tenon.sum(out, 0, out=total)
        return tenon.mul(out, total, out=out), total

    x, y = tenon.arange(6.0).view(2, 3), tenon.ones(3)
    fused, calls = counted(function)
    for _ in range(2):
        out, other = tenon.zeros(2, 3), tenon.zeros(2, 3)
        assert_same(fused(x, y, out), function(x, y, other))
        assert_same(out, other)
    assert next(calls) == 1


def test_many_operands():
    parts = [tenon.full((3,), float(i)) for i in range(200)]
    function = tenon.fuse(lambda *all: sum(all[1:], all[0] * 2).tanh())
    assert_same(function(*parts), sum(parts[1:], parts[0] * 2).tanh())
    assert function.passes(*parts) == 1


def test_errors_of_elements_name_the_op():
    fused = tenon.fuse(lambda x, places: (x * 2 + 1).gather(0, places) + 1)
    fused(tenon.ones(3), tenon.tensor([0, 2]))
    with pytest.raises(RuntimeError, match="index 7 is out of bounds") as caught:
        fused(tenon.ones(3), tenon.tensor([0, 7]))
    assert any("tenon.fuse: op 3 of the function: gather of float32[3], int64[2]" in note for note in caught.value.__notes__)


def test_writes_to_tensors_of_several_kinds():
    def function(x, places):
        made = [tenon.zeros(3), tenon.ones(3) * 2, tenon.empty(2, 3), tenon.tensor([0.0, 1.0, 2.0]), tenon.full((3,), 0.5)]
        made[0] += x[0]
        made[0] -= x[1]
        made[1].mul_(made[0]).clamp_(-1, 1)
        made[2].copy_(x)
        made[3][places] = x[1]
        made[4].scatter_add_(0, places, x[0])
        return made

    x, places = tenon.arange(6.0).view(2, 3), tenon.tensor([2, 0, 0])
    fused = tenon.fuse(function)
    for _ in range(3):
        results = fused(x, places)
        assert_same(results, function(x, places))
        for result in results:
            result.fill_(7)
    elsewhere = tenon.zeros(3)
    with pytest.raises(RuntimeError, match="zeros_like of an argument"):
        tenon.fuse(lambda x: elsewhere.add_(x))(x[0])
    assert not elsewhere.any()


def test_places_in_no_elements():
    for name in ("argmax", "argmin"):
        with pytest.raises(IndexError, match=name):
            tenon.fuse(lambda x: getattr(x[:0], name)())(tenon.ones(2))


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Point:
    a: object
    b: object
    scale: float = 2.0


class Named(list):
    pass


class Table(dict):
    pass


def parts_of(structure):
    if isinstance(structure, dict):
        return list(structure.values())
    return [structure.a, structure.b] if isinstance(structure, Point) else list(structure)


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b: collections.OrderedDict(a=a, b=b),
        lambda a, b: collections.defaultdict(list, a=a, b=b),
        lambda a, b: Table(a=a, b=b),
        lambda a, b: Named([a, b]),
        lambda a, b: Pair(a, b),
        lambda a, b: Point(a, b),
        lambda a, b: [Pair(a, Named([b])), {"a": Point(a, b)}],
    ],
)
def test_structures_of_other_types(make):
    x = tenon.arange(3.0)

    def function(given):
        first = parts_of(given)[0]
        first = first[0] if isinstance(first, Pair) else first
        return make(first * 2, first + 1), given, type(given).__name__

    fused, calls = counted(function)
    for y in (x, x + 1):
        made, given, name = fused(make(y, y))
        expected, _, expected_name = function(make(y, y))
        assert type(made) is type(expected) and type(given) is type(make(y, y)) and name == expected_name
        assert repr(made) == repr(expected) and repr(given) == repr(make(y, y))
    assert next(calls) == 1


def test_results_that_are_no_structures():
    with pytest.raises(TypeError, match="a set of tensors cannot be a result"):
        tenon.fuse(lambda x: (x, {x * 2}))(tenon.ones(1))


@pytest.mark.parametrize(
    "function",
    [
        lambda r: (r, r[:1]),
        lambda r: (r[:1], r),
        lambda r: (r[:2], r[1:]),
        lambda r: (r.view(3, 1), r.view(1, 3)),
    ],
)
def test_results_of_numbers_are_new(function):
    fused = tenon.fuse(lambda x: (*function(tenon.zeros(3)), x * 2))
    for _ in range(3):
        one, other, _ = fused(tenon.ones(2))
        assert not one.any() and not other.any()
        one.fill_(1)
        assert other.any()


def test_derivatives_of_what_changed_since():
    global SCALE
    before, SCALE = SCALE, 2.0
    try:
        fused = tenon.fuse(lambda x: (x * x * x * SCALE, x * SCALE, x.exp()))
        x = tenon.ones(3, requires_grad=True)
        one, other, _ = fused(x)
        SCALE = 5.0
        assert tenon.autograd.grad(one.sum(), x, retain_graph=True)[0].tolist() == [6, 6, 6]
        for function in (
            lambda: tenon.autograd.grad(one.sum(), x, create_graph=True)[0].sum().backward(),
            lambda: (one + other).sum().backward(),
        ):
            with pytest.raises(RuntimeError, match="reads changed between its call and a derivative"):
                function()
    finally:
        SCALE = before


def test_a_function_that_reaches_itself_is_freed():
    def make():
        @tenon.fuse
        def function(x):
            return x * len(held)

        held = [function]
        for _ in range(2):
            function(tenon.ones(2))
        return weakref.ref(function)

    reference = make()
    gc.collect()
    assert reference() is None


def test_other_threads_run_while_few_elements_are_broadcast_to_many():
    parts = [tenon.rand(*([32] + [1] * dim)) for dim in range(5)]
    fused = tenon.fuse(lambda a, b, c, d, e: a + b * c - d + e)
    fused(*parts)
    turns, ended = 0, False

    def count():
        nonlocal turns
        while not ended:
            turns += 1
            time.sleep(1e-4)

    counter = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # so that a call that keeps the GIL is not interrupted after it
    try:
        counter.start()
        before = turns
        for _ in range(100):  # on a busy machine a thread that may run does not always get a core during one call
            fused(*parts)
            after = turns
            if after > before:
                break
    finally:
        sys.setswitchinterval(interval)
        ended = True
        counter.join()
    assert after > before


def test_shapes_are_changed_in_place():
    def function(x, w):
        product, total, view = x @ w, x + 1, w[1:]
        product.t_()
        total.unsqueeze_(0)
        view.t_()
        both = product * 2
        product.unsqueeze_(1)
        return product, both, total, view * 3, total.squeeze_(0).exp()

    x, w = tenon.rand(2, 3), tenon.rand(3, 4)
    assert_same(tenon.fuse(function)(x, w), function(x, w))
    with pytest.raises(RuntimeError, match="the shape of an argument is changed in place"):
        tenon.fuse(lambda x: x.t_() * 2)(x)
    assert x.shape == (2, 3)


def test_what_is_kept_for_gradients():
    """Functions with products are one node, whatever is kept."""

    def network(x, w, b):
        hidden = tenon.tanh(x @ w + b)
        return tenon.softmax(hidden @ w.T, -1), hidden.argmax(1)

    def gradients(function):
        x, w, b = [tenon.linspace(-1, 1, n).view(shape).requires_grad_() for n, shape in ((6, (2, 3)), (12, (3, 4)), (4, (4,)))]
        result, places = function(x, w, b)
        assert not places.requires_grad
        (result * result).sum().backward()
        return result, x.grad, w.grad, b.grad

    expected = gradients(network)
    for keep in ("costly", "nothing", "everything"):
        given = gradients(tenon.fuse(network, keep=keep))
        assert given[0].grad_fn.name() == "FusedBackward"
        for one, other in zip(given, expected):
            assert tenon.allclose(one, other, rtol=1e-5, atol=1e-7)

    @tenon.fuse(keep="nothing")
    def decorated(x):
        return x.exp()

    assert decorated(tenon.zeros(2)).tolist() == [1, 1]
    with pytest.raises(ValueError, match="keep is one of 'costly', 'nothing', 'everything', not 'all'"):
        tenon.fuse(network, keep="all")


def test_gradients_of_captured_tensors_that_are_reduced_alone():
    weight, x = tenon.ones(3, requires_grad=True), tenon.ones(3)
    for function in (lambda x: x + weight.sum(), lambda x: x * (weight * 2), lambda x: x + weight.softmax(0)):
        assert tenon.fuse(function)(x).requires_grad


def test_ops_whose_result_nothing_reads_are_checked():
    def function(x):
        tenon.softmax(x, -1)
        return x + 1

    with pytest.raises(NotImplementedError, match="softmax_lastdim_kernel_impl"):
        tenon.fuse(function)(tenon.ones(3, dtype=tenon.int64))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.count_nonzero(0) + 1,
        lambda x: x.count_nonzero() * 2,
        lambda x: (x + tenon.zeros(2000)).cummax(0)[0],
        lambda x: tenon.maximum(x, tenon.zeros(3, 2000)),
    ],
)
def test_ops_that_were_not_traced(function):
    x = tenon.rand(3, 2000) - 0.5
    assert_same(tenon.fuse(function)(x), function(x))


def test_copies():
    fused = tenon.fuse(lambda x: x * 2, keep="nothing")
    fused(tenon.ones(3))
    for copied in (copy.copy(fused), copy.deepcopy({"f": fused})["f"]):
        assert copied._keep == fused._keep and tenon.equal(copied(tenon.ones(3)), tenon.full((3,), 2.0))
