"""The module's objects, settings, warnings, errors, threads and stubs. PyTorch is not needed."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest
import tenon


def raises(kind, text, call):
    with pytest.raises(kind) as error:
        call()
    assert type(error.value) is kind and str(error.value).startswith(text), repr(error.value)
    return error.value


def test_size():
    size = tenon.ones(5, 3, 4, 1).shape
    assert repr(size) == "tenon.Size([5, 3, 4, 1])" and size.numel() == 60 and size == (5, 3, 4, 1)
    for derived in (size[:2], size + (2,), size * 2):
        assert isinstance(derived, tenon.Size)
    assert isinstance(size[0], int) and repr(tenon.Size()) == "tenon.Size([])"
    raises(TypeError, "torch.Size() takes an iterable of 'int' (item 0 is 'str')", lambda: tenon.Size(["x"]))


def test_dtypes():
    assert tenon.float is tenon.float32 and tenon.long is tenon.int64 and tenon.half is tenon.float16
    assert repr(tenon.float32) == "tenon.float32" and tenon.float32.itemsize == 4 and not tenon.uint8.is_signed
    assert tenon.ones(1, dtype=float).dtype is tenon.float64 and tenon.ones(1, dtype=int).dtype is tenon.int64
    assert tenon.finfo(tenon.float32).eps == 2.0**-23 and tenon.iinfo(tenon.int8).min == -128
    raises(TypeError, "torch.finfo() requires a floating point input type", lambda: tenon.finfo(tenon.int8))
    raises(TypeError, "torch.iinfo() requires an integer input type", lambda: tenon.iinfo(tenon.float32))


def test_default_dtype():
    tenon.set_default_dtype(tenon.float64)
    assert tenon.ones(1).dtype is tenon.float64 and tenon.tensor(1.5).dtype is tenon.float64
    raises(TypeError, "only floating-point types", lambda: tenon.set_default_dtype(tenon.int64))


def test_the_seed_determines_random_numbers():
    first = tenon.manual_seed(3) and tenon.rand(5)
    tenon.manual_seed(3)
    assert tenon.equal(tenon.rand(5), first)
    generator = tenon.Generator().manual_seed(3)
    assert tenon.equal(tenon.rand(5, generator=generator), first)
    state = generator.get_state()
    assert tenon.equal(tenon.randn(4, generator=generator), tenon.randn(4, generator=generator.set_state(state)))


def test_errors_carry_the_shapes_as_notes():
    error = raises(RuntimeError, "The size of tensor a (2) must match", lambda: tenon.ones(5, 2, 4, 1) + tenon.ones(3, 1, 1))
    assert error.__notes__ == ["add: shapes aligned at the right\n  a  5 2 4 1\n  b    3 1 1\n       ^"]


def test_warnings_point_at_the_caller():
    tenon.utils.backcompat.broadcast_warning.enabled = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tenon.ones(4, 1) + tenon.ones(4)
        line = sys._getframe().f_lineno - 1
    assert [(item.filename, item.lineno) for item in caught] == [(__file__, line)]
    assert "a  4 1" in caught[0].message.__notes__[0]


def test_warnings_can_be_errors():
    tenon.utils.backcompat.broadcast_warning.enabled = True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            tenon.ones(4, 1) + tenon.ones(4)


def test_policy():
    with tenon.broadcast_policy(outer="raise"):
        with tenon.broadcast_policy(rank="raise"):
            raises(RuntimeError, "add: broadcasting to [2, 3] gives", lambda: tenon.ones(2, 3) + tenon.ones(3))
        raises(RuntimeError, "sub: broadcasting to [3, 3], which", lambda: tenon.ones(3) - tenon.ones(3, 1))
        seen = []
        other = threading.Thread(target=lambda: seen.append((tenon.ones(3) - tenon.ones(3, 1)).shape))
        other.start()
        other.join()
        assert seen == [(3, 3)]  # each thread has its own policy
    assert (tenon.ones(3) - tenon.ones(3, 1)).shape == (3, 3)

    @tenon.broadcast_policy("raise")
    def guarded():
        return tenon.ones(2, 3) + tenon.ones(3)

    raises(RuntimeError, "add: broadcasting", guarded)
    raises(ValueError, "broadcast_policy: 'never' is none of", lambda: tenon.broadcast_policy(outer="never"))


def test_memory_budget():
    x = tenon.ones(1000, 100)
    with tenon.memory_budget(10**9) as budget:
        with tenon.memory_budget(300000):
            raises(tenon.OutOfMemoryError, "not enough memory: a tensor of shape [1000, 100] takes 400000 bytes, and with the", lambda: x + 1)
            assert x.add_(1)[0, 0] == 2 and (x[0] + x[:20]).shape == (20, 100)  # in place, and small
            seen = []
            other = threading.Thread(target=lambda: seen.append(pytest.raises(tenon.OutOfMemoryError, lambda: x * 2)))
            other.start()
            other.join()
            assert seen  # all threads share one budget
        assert (x + 1).shape == x.shape
        assert repr(budget) == "memory_budget(1000000000)"
        with tenon.memory_budget(None):
            assert (x + 1).shape == x.shape
    raises(ValueError, "memory_budget: a number of bytes is expected, but got -1", lambda: tenon.memory_budget(-1))
    raises(TypeError, "memory_budget(): argument 'nbytes' must be int or None, not float", lambda: tenon.memory_budget(1.5))


def test_identity():
    x = tenon.ones(3)
    assert x.add_(1) is x and tenon.abs(x, out=x) is x and x.contiguous() is x and x.to(tenon.float32) is x
    assert x in {x} and hash(x) == id(x)
    y = x
    y += 1
    assert y is x


def test_format():
    assert f"{tenon.tensor(1.25):.1f}" == "1.2" and f"{tenon.tensor(3)}" == "3"
    with pytest.raises(TypeError):
        format(tenon.ones(2), ".1f")


class ArrayRaises:
    def __array__(self, dtype=None, copy=None):
        raise ZeroDivisionError("on purpose")


class LongerThanItIs:
    """A sequence whose __len__ is too large."""

    def __len__(self):
        return 5

    def __getitem__(self, at):
        if at > 1:
            raise IndexError(at)
        return at


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


class Whole(int):
    pass


class Real(float):
    pass


def test_bad_input():
    x = tenon.ones(2)
    for wrong in (None, "x", b"x", {}, object(), [1], ArrayRaises()):
        for call in (lambda: x + wrong, lambda: wrong - x, lambda: tenon.add(x, wrong), lambda: tenon.abs(wrong)):
            with pytest.raises(TypeError):
                call()
    raises(ValueError, "expected sequence of length 1 at dim 1 (got 2)", lambda: tenon.tensor([[1], [2, 3]]))
    raises(ValueError, "too many dimensions 'list'", lambda: tenon.tensor(nested(1000)))
    raises(RuntimeError, "Could not infer dtype of NoneType", lambda: tenon.tensor(None))
    raises(RuntimeError, "Could not infer dtype of ArrayRaises", lambda: tenon.tensor(ArrayRaises()))
    raises(TypeError, "new(): invalid data type 'str'", lambda: tenon.tensor("x"))
    with pytest.raises((IndexError, ValueError)):
        tenon.tensor(LongerThanItIs())
    endless = []
    endless.append(endless)
    with pytest.raises((ValueError, TypeError)):
        tenon.tensor(endless)
    raises(TypeError, "zeros(): argument 'size' (position 1) must be tuple of ints, not float", lambda: tenon.zeros(float("nan")))
    raises(TypeError, "zeros(): argument 'size' (position 1) must be tuple of ints, not NoneType", lambda: tenon.zeros(None))
    raises(RuntimeError, "Trying to create tensor with negative dimension -1", lambda: tenon.empty(-1))
    raises(RuntimeError, "Storage size calculation overflowed", lambda: tenon.empty(2**62, 4))
    raises(RuntimeError, "value cannot be converted to type uint8 without overflow", lambda: tenon.tensor([256], dtype=tenon.uint8))
    raises(ValueError, "Overflow when unpacking long long", lambda: x.unsqueeze(2**70))
    with pytest.raises(OverflowError):
        x + 2**70
    with pytest.raises(tenon.OutOfMemoryError):
        tenon.empty(2**55)
    raises(RuntimeError, "Tensor on device cpu is not on the expected device meta!", lambda: tenon.ones(2, device="meta") + x)
    raises(NotImplementedError, "Cannot copy out of meta tensor; no data!", lambda: tenon.ones(2, device="meta").tolist())
    assert (x + Whole(2)).tolist() == [3, 3] and (x * Real(2.5)).tolist() == [2.5, 2.5]


def test_numpy_numbers():
    np = pytest.importorskip("numpy")
    x = tenon.ones(2, dtype=tenon.int32)
    assert (x + np.int64(2)).dtype is tenon.int32 and (x + np.float32(2)).dtype is tenon.float32
    assert tenon.tensor([np.int8(1)]).dtype is tenon.int8 and tenon.tensor(np.float64(1)).dtype is tenon.float64


def test_many_threads():
    x = tenon.arange(100000).double()
    failures = []

    def work(seed):
        for i in range(30):
            if not tenon.equal((x + seed) - seed, x) or tenon.ones(3).add_(i).sum().item() != 3 * (i + 1):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_long_ops_release_the_gil():
    ticks = []
    stop = threading.Event()

    def count():
        while not stop.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=count)
    x, out = tenon.rand(4000, 4000), tenon.empty(4000, 4000)
    thread.start()
    time.sleep(0.01)
    before, start = len(ticks), time.perf_counter()
    while time.perf_counter() - start < 0.3:
        tenon.exp(x, out=out)
    during = len(ticks) - before
    stop.set()
    thread.join()
    assert during > 10


LONG_WORK = {
    "prod": "x.prod()",
    "add": "tenon.add(y, 1, out=y)",
    "exp": "tenon.exp(y, out=y)",
    "copy": "z.copy_(y.t())",
}


@pytest.mark.parametrize("work", LONG_WORK)
def test_interrupt(work):
    """Ctrl-C ends an op that takes very long, and a loop of short ops."""
    program = (
        "import signal, tenon\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background process starts with Ctrl-C ignored
        "x, y, z = tenon.ones(1).expand(1 << 42), tenon.ones(3000, 3000), tenon.ones(3000, 3000)\n"
        f"print('ready', flush=True)\nwhile True: {LONG_WORK[work]}"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("Ctrl-C did not end the program")
    assert time.monotonic() - start < 5 and "KeyboardInterrupt" in errors


def test_import_needs_no_numpy():
    program = "import sys, tenon; tenon.ones(2) + 1; assert 'numpy' not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_stubs(tmp_path, root, type_errors):
    program = tmp_path / "program.py"
    program.write_text(
        "import tenon\n"
        "a: tenon.Tensor = tenon.add(tenon.ones(2, 3), 2.5, alpha=2)\n"
        "b: tenon.Tensor = (a + 1).sum(0, keepdim=True)[0, ...]\n"
        "c: tenon.Size = a.shape\n"
        "d: int = a.numel()\n"
        "with tenon.broadcast_policy(outer='raise'):\n    a.add_(b).clamp(0, 1)\n"
        "tenon.abs('x')  # wrong\n"
        "tenon.ones(2).no_such_method()  # wrong\n"
    )
    errors = type_errors(program)
    assert len(errors) == 2 and ":8: error" in errors[0] and ":9: error" in errors[1], errors
    # One example needs packages of the extra `ecosystem`.
    missing = {"larger_than_one_machine.py"} if importlib.util.find_spec("distributed") is None else set()
    assert type_errors(*(path for path in sorted((root / "examples").glob("*.py")) if path.name not in missing), strict=False) == []
