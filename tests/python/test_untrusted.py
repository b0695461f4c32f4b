"""Whatever Python hands over, the answer is a result or an exception of the right kind: objects made past their
constructors, objects that lie, buffers and capsules that lie, allocations that fail."""

import ctypes
import gc
import importlib.util
import inspect
import os
import pydoc
import sys

import pytest
import sweeps
import tenon


# --- Objects made past their constructors


@pytest.mark.parametrize("kind", sweeps.types(), ids=lambda kind: kind.__qualname__)
def test_nothing_is_half_made(kind):
    """__new__ alone gives a whole object, which every attribute can be asked of, or refuses."""
    kinds = [kind]
    try:
        kinds.append(type("Sub", (kind,), {}))
    except TypeError:  # it is final
        pass
    for base in kinds:
        for make in (lambda: base.__new__(base), lambda: object.__new__(base), base):
            try:
                made = make()
            except TypeError:
                continue
            for name in dir(made):
                try:
                    getattr(made, name)
                except (AttributeError, RuntimeError):
                    pass
            repr(made), hash(made)
            for use in (lambda: tenon.ones(2, dtype=made), lambda: tenon.rand(2, generator=made), lambda: tenon.ones(2, device=made),
                        lambda: tenon.ones(2) + made, lambda: tenon.ones(2)[made], lambda: tenon._tenon._apply_function(made, ()),
                        lambda: tenon.ones(2).contiguous(memory_format=made)):  # fmt: skip
                try:
                    use()
                except Exception as error:
                    assert type(error) is not SystemError, (kind, error)


def test_what_new_says():
    with pytest.raises(TypeError, match=r"cannot create 'tenon.Tensor' instances: tenon.tensor\(data\) gives"):
        tenon.Tensor.__new__(tenon.Tensor)
    with pytest.raises(TypeError, match="cannot create 'tenon.dtype' instances"):
        tenon.dtype()
    assert tenon.Generator.__new__(tenon.Generator).initial_seed() == tenon.Generator().initial_seed()
    assert tenon.device("meta") == tenon.device(tenon.device("meta")) == tenon.device(type="meta", index=0)
    with pytest.raises(TypeError, match=r"device\(\) received an invalid combination of arguments"):
        tenon.device()


@pytest.mark.parametrize("kind", sweeps.types(), ids=lambda kind: kind.__qualname__)
def test_no_object_becomes_another_kind(kind):
    """Only classes of the same layout take an object over."""
    for value in (tenon.ones(2), tenon.float32, tenon.device("cpu"), tenon.Generator(), tenon.channels_last, tenon.ones(2).shape,
                  (tenon.ones(2, requires_grad=True) * 2).grad_fn):  # fmt: skip
        if isinstance(value, kind):
            continue
        with pytest.raises(TypeError):
            value.__class__ = kind


def test_a_tensor_may_change_to_a_subclass():
    class Sub(tenon.Tensor):
        def double(self):
            return self * 2

    tensor = tenon.ones(2)
    tensor.__class__ = Sub
    assert tensor.double().tolist() == [2, 2] and type(tensor + 1) is tenon.Tensor
    del tensor
    gc.collect()
    assert (tenon.ones(2) + 1).tolist() == [2, 2]


def test_subinterpreters_are_refused():
    interpreters = pytest.importorskip("_xxsubinterpreters")
    program = "import sys\nsys.path[:] = {!r}\ntry:\n    import tenon\nexcept ImportError as error:\n    assert 'subinterpreters' in str(error)\nelse:\n    assert False"
    sweeps.run_apart(f"import {interpreters.__name__} as subs, tenon\nsubs.run_string(subs.create(), {program.format(sys.path)!r})\ntenon.ones(2) + 1")
    # Even where nobody imported it before.
    sweeps.run_apart(f"import {interpreters.__name__} as subs\nsubs.run_string(subs.create(), {program.format(sys.path)!r})")


# --- Help


@pytest.mark.parametrize("name", sweeps.functions())
def test_help(name):
    function = sweeps.functions()[name]
    assert function.__module__ == "tenon" and function.__qualname__ == function.__name__
    text = pydoc.plain(pydoc.render_doc(function))
    if not isinstance(function, type):
        assert "method of" not in text and "nanobind" not in text
        assert getattr(function, "__self__", None) is None
        signature = inspect.signature(function)
        assert f"{name}{signature}".replace("Ellipsis", "...") in text.replace("Ellipsis", "..."), (signature, text)
        assert function.__doc__ and function.__doc__.strip()


@pytest.mark.parametrize("name", [name for name, _, _ in tenon._tenon._signatures(True)])
def test_help_of_methods(name):
    method = getattr(tenon.Tensor, name)
    signature = inspect.signature(method)
    assert next(iter(signature.parameters)) == "self" and method.__qualname__ == f"Tensor.{name}" and method.__doc__.strip()


def test_signatures_tell_what_is_taken():
    for function, text in ((tenon.add, "(input, other, *, alpha=1, out=None)"), (tenon.sum, "(input, dim=None, keepdim=False, *, dtype=None, out=None)"),
                           (tenon.isclose, "(input, other, rtol=1e-05, atol=1e-08, equal_nan=False)"), (tenon.arange, "(*args, **kwargs)"),
                           (tenon.Tensor.reshape, "(self, /, *shape)"), (tenon.get_num_threads, "()"), (tenon.device, "(type, index=-1)")):  # fmt: skip
        assert str(inspect.signature(function)) == text


# --- Objects that lie

HOSTILE = '''
import array, collections, sys, warnings, weakref
import tenon
try:
    import numpy
except ImportError:
    numpy = None
warnings.simplefilter("ignore")

def boom(*args, **kwargs):
    raise ZeroDivisionError("on purpose")

def raising(*names, base=object):
    return type("Raises_" + names[0].strip("_"), (base,), dict.fromkeys(names, boom))

class Class:
    __class__ = property(boom)

class Named(type):
    def __getattribute__(cls, name):
        if name in ("__name__", "__module__", "__qualname__"):
            boom()
        return super().__getattribute__(name)

class Sequence:
    def __init__(self, length):
        self.length = length
    def __len__(self):
        return self.length
    def __getitem__(self, at):
        if at > 20:
            raise IndexError(at)
        return 1

class Shrinking(list):
    """Loses its elements while it is read."""
    class Item:
        def __init__(self, owner):
            self.owner = owner
        def __index__(self):
            self.owner.clear()
            return 1
        __int__ = __index__
        def __float__(self):
            self.owner.clear()
            return 1.0
    def __init__(self):
        super().__init__([2, 2, 2])
        self[0] = Shrinking.Item(self)

class Liar(list):
    def __len__(self):
        return 10
    def __iter__(self):
        return iter([1, 2])
    __getitem__ = boom

class Tuple(tuple):
    __len__ = boom
    __iter__ = boom
    __getitem__ = boom

class Capsule:
    def __dlpack__(self, **options):
        return 5
    def __dlpack_device__(self):
        return None

endless = []
endless.append(endless)
deep = 1
for _ in range(100_000):
    deep = [deep]
good = tenon.ones(3, 4)
objects = [Class(), raising("__index__")(), raising("__float__")(), raising("__len__", "__getitem__")(), raising("__bool__")(), raising("__eq__", "__hash__")(),
           raising("__iter__")(), raising("__fspath__")(), raising("__dlpack__", "__dlpack_device__")(), raising("__array__")(), raising("__getattr__")(),
           raising("__index__", "__int__", "__bool__", base=int)(3), raising("__float__", "__bool__", base=float)(2.5), Named("N", (), {})(), Sequence(-5), Sequence(1 << 62),
           Shrinking(), Liar([1]), Tuple((1, 2)), Capsule(), endless, deep, 10**30, -10**30, 10**4000, float("nan"), float("inf"), 1j, "abc", "\\ud800", "a\\0b", b"abc",
           bytearray(b"abcd"), memoryview(b"abcd"), array.array("d", [1, 2]), array.array("u", "ab"), None, ..., NotImplemented, {}, {1, 2}, slice(None, None, -1),
           slice(10**30, -10**30, 10**30), range(3), (value for value in [1]), int, float, type, tenon, Class, weakref.ref(good), tenon.float32, tenon.device("meta"),
           tenon.strided, tenon.Generator(), tenon.ones(()), tenon.ones(2, device="meta"), tenon.ones(0), tenon.tensor(True), tenon.ones(1).expand(-4, 0),
           -1, 2**63, -(2**63), 2**62, True]
if numpy is not None:
    class Lying(numpy.ndarray):
        dtype = property(lambda self: numpy.dtype("float64"))
    class Raising(numpy.ndarray):
        dtype = shape = strides = property(boom)
    class Fake:
        __class__ = numpy.ndarray
    class FakeNumber:
        __class__ = numpy.float32
        def item(self):
            return "x"
    class Interface:
        __array_interface__ = {"data": (16, False), "shape": (10,), "typestr": "<f4", "version": 3}
    objects += [numpy.ones(3, numpy.uint8).view(Lying), numpy.ones(3).view(Raising), Fake(), FakeNumber(), Interface(), numpy.array([1, None], dtype=object), numpy.array(["a"]),
                numpy.ones(3, ">f8"), numpy.ones(4)[::-1], numpy.broadcast_to(numpy.ones(1), (4,)), numpy.longdouble(3), numpy.complex64(1), numpy.uint64(2**63),
                numpy.rec.array([(1, 2.0)]), numpy.ma.array([1, 2], mask=[1, 0]), numpy.datetime64("2020"), numpy.void(b"abc"), numpy.array(5)]

def reset():
    tenon.set_num_threads(1)
    tenon._tenon._set_grad_enabled(True)
    tenon._tenon._set_inference_mode(False)
    tenon._tenon._set_default_dtype(tenon.float32)
    tenon._tenon._set_broadcast_policy("rank=allow,outer=allow,blow_up=0")
    tenon._tenon._set_anomaly_mode(False, True)
    tenon.set_printoptions(profile="default")

def attempt(name, call):
    """Whatever the call does, it ends with a result or with an exception that no later call finds."""
    global calls
    calls += 1
    print(name, file=sys.stderr)
    try:
        call()
    except SystemError as error:
        print("SystemError:", name, str(error)[:200])
    except Exception:
        pass
    len([])  # an exception that was left behind would come out here
calls = 0
'''

EVERY_FUNCTION = (
    HOSTILE
    + """
import sweeps
for name, function in {**sweeps.functions(), **sweeps.inner_functions()}.items():
    if name in sweeps.APART:
        continue
    for at, value in enumerate(objects):
        for call in (lambda: function(value), lambda: function(good, value), lambda: function(value, good), lambda: function(value, value), lambda: function(good, good, value),
                     lambda: function([value]), lambda: function([2, value]), lambda: function((3, 4), value), lambda: function(good, dim=value), lambda: function(good, good, out=value),
                     lambda: function(2, dtype=value), lambda: function(2, device=value)):
            attempt(f"{name} {at}", call)
    reset()
assert calls > 50_000, calls
"""
)

EVERY_METHOD = (
    HOSTILE
    + """
import sweeps
for name in sweeps.methods():
    for at, value in enumerate(objects):
        for arguments in ((value,), (0, value), (value, 0), (value, value), ([value],), ([1, value],), (good, value)):
            if value is deep and name in ("__array_function__", "__array_ufunc__"):
                continue
            attempt(f"{name} {at}", lambda: getattr(tenon.ones(3, 4), name)(*arguments))
    reset()
for name in sweeps.attributes():
    for value in objects:
        attempt(name, lambda: setattr(tenon.ones(3, 4), name, value))
assert calls > 50_000, calls
"""
)


@pytest.mark.parametrize("program", [EVERY_FUNCTION, EVERY_METHOD], ids=["functions", "methods"])
def test_hostile_arguments(tmp_path, program):
    """No function of the module crashes, hangs or gives a SystemError, whatever it is called with."""
    assert sweeps.run_apart(program, folder=tmp_path) == ""


def test_hostile_hooks_and_functions():
    values = [None, 1, "x", (), [], (None,), (None, None), tenon.ones(5), tenon.ones(2, dtype=tenon.int64), tenon.ones(2, device="meta"), object()]

    class Gives(tenon.autograd.Function):
        forward_result = backward_result = None

        @staticmethod
        def forward(ctx, x):
            return Gives.forward_result

        @staticmethod
        def backward(ctx, grad):
            return Gives.backward_result

    class Keeps(tenon.autograd.Function):
        kept = None

        @staticmethod
        def forward(ctx, x):
            ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = Keeps.kept
            return x * 1

    for value in values:
        for use in ("hook", "forward", "backward", "kept", "node", "prehook", "leaf"):
            leaf = tenon.ones(2, requires_grad=True)
            try:
                if use == "hook":
                    (leaf * 2).register_hook(lambda grad: value)
                if use in ("forward", "backward"):
                    Gives.forward_result = value if use == "forward" else leaf * 2
                    Gives.backward_result = value
                    Gives.apply(leaf).sum().backward()
                if use == "kept":
                    Keeps.kept = value
                    Keeps.apply(leaf).sum().backward()
                if use in ("node", "prehook"):
                    result = leaf * 2
                    register = result.grad_fn.register_hook if use == "node" else result.grad_fn.register_prehook
                    register(lambda *grads: value)
                    result.sum().backward()
                if use == "leaf":
                    leaf.register_post_accumulate_grad_hook(lambda tensor: value)
                    (leaf * 2).sum().backward()
            except (RuntimeError, TypeError, ValueError, AttributeError) as error:
                assert not isinstance(error, SystemError)


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_lists_nested_deeper_than_the_stack():
    deep = 1
    for _ in range(100_000):
        deep = [deep]
    for call in (tenon.tensor, tenon.as_tensor, tenon.ones(2).new_tensor, lambda value: tenon.ones(2)[value], lambda value: tenon.tensor(value, dtype=tenon.int8)):
        with pytest.raises((ValueError, IndexError, TypeError)):
            call(deep)


def test_texts_that_are_no_utf8():
    with pytest.raises(RuntimeError, match="error unpacking string as utf-8"):
        tenon.ones(2, device="\ud800")
    with pytest.raises(UnicodeEncodeError):
        type("\ud800", (tenon.Tensor,), {})


def test_negative_sizes_have_no_length():
    tensor = tenon.ones(1).expand(-4, 0)  # which PyTorch gives, too
    for call in (len, list, tenon.Tensor.tolist, memoryview):
        with pytest.raises((ValueError, BufferError)):
            call(tensor)


# --- Buffers

FLAGS = {"simple": 0, "writable": 1, "format": 4, "nd": 8, "strides": 0x18, "c": 0x38, "f": 0x58, "any": 0x98, "indirect": 0x118,
         "contig": 9, "strided": 0x19, "records": 0x1D, "full": 0x11D, "full_ro": 0x11C, "c_format": 0x3C}  # fmt: skip


class Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]  # fmt: skip


def granted(owner, flags):
    """What a consumer is told of an object's buffer; the kind of the error where it is refused."""
    get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
    get.argtypes, release.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int], [ctypes.POINTER(Buffer)]
    buffer = Buffer()
    try:
        get(owner, ctypes.byref(buffer), flags)
    except (BufferError, ValueError):  # NumPy's
        return "refused"
    sizes, strides = (tuple(pointer[: buffer.ndim]) if pointer else None for pointer in (buffer.shape, buffer.strides))
    if strides:
        strides = [stride for size, stride in zip(sizes, strides) if size > 1]  # by which something walks
    result = (buffer.buf, buffer.len, buffer.itemsize, buffer.readonly, buffer.format, sizes, strides, buffer.suboffsets)
    release(ctypes.byref(buffer))
    return result


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize(
    "view",
    [lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[1:], lambda x: x[:1], lambda x: x[:, :1], lambda x: x[:1].T, lambda x: x[0], lambda x: x[0, 0, ...], lambda x: x[:0], lambda x: x[:, 0]],
    ids=["dense", "transposed", "gaps", "rows", "row", "column", "row_transposed", "one_dim", "no_dim", "empty", "strided"],
)
def test_buffers_are_granted_as_numpy_grants_them(flags, view):
    np = pytest.importorskip("numpy")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor = view(tenon.from_numpy(array))
    ours, theirs = granted(tensor, FLAGS[flags]), granted(view(array), FLAGS[flags])
    if tensor.numel() == 0 and ours != "refused":  # there is no address to compare
        ours, theirs = ours[1:6], theirs[1:6]
    assert ours == theirs


def test_broadcast_tensors_are_no_dense_buffers():
    tensor = tenon.arange(1).expand(5)
    assert {name for name, flags in FLAGS.items() if granted(tensor, flags) != "refused"} == {"strides", "indirect", "strided", "records", "full", "full_ro"}
    with pytest.raises((BufferError, TypeError)):
        (ctypes.c_char * 40).from_buffer(tensor)


def test_borrowed_buffers_are_held():
    """What a tensor lies over can neither move nor vanish."""
    data = bytearray(range(8))
    tensor = tenon.frombuffer(data, dtype=tenon.uint8)
    with pytest.raises(BufferError):
        data.append(1)
    view = memoryview(data)
    over_view = tenon.frombuffer(view, dtype=tenon.uint8)
    with pytest.raises(BufferError):
        view.release()
    del tensor, over_view
    gc.collect()
    view.release()
    data.append(1)
    with pytest.raises(ValueError):
        tenon.frombuffer(view, dtype=tenon.uint8)


def test_arrays_are_believed_by_their_memory():
    """Not by attributes of a subclass, nor by __class__."""
    np = pytest.importorskip("numpy")

    class Lying(np.ndarray):
        dtype = property(lambda self: np.dtype("float64"))
        shape = property(lambda self: (1000,))
        strides = property(lambda self: (1000,))

    class Fake:
        __class__ = np.ndarray

    lying = np.ones(1, np.uint8).view(Lying)
    for tensor in (tenon.from_numpy(lying), tenon.as_tensor(lying), tenon.tensor(lying), tenon.asarray(lying)):
        assert tensor.dtype is tenon.uint8 and tensor.tolist() == [1]
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got Fake\)"):
        tenon.from_numpy(Fake())
    with pytest.raises(TypeError):
        tenon.ones(2) + Fake()


def test_unsupported_arrays_are_told_what_is_supported():
    np = pytest.importorskip("numpy")
    for dtype in (np.uint16, np.uint32, np.uint64, np.complex64, object):
        with pytest.raises(TypeError) as error:
            tenon.from_numpy(np.zeros(1, dtype))
        name = np.dtype(dtype).type.__name__
        assert str(error.value) == f"can't convert np.ndarray of type numpy.{name}. The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool."


# --- DLPack


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]  # fmt: skip


def capsule(managed, name=b"dltensor"):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(managed), name, None)


def described(sizes=(2, 3), strides=None, data=True, ndim=None, shape=True, code=2, bits=32, lanes=1, device=1, offset=0):
    memory = (ctypes.c_float * 16)(*range(16))
    tensor = DLTensor(ctypes.addressof(memory) if data else None, device, 0, len(sizes) if ndim is None else ndim, code, bits, lanes, byte_offset=offset)
    tensor.memory = memory
    tensor.shape = (ctypes.c_int64 * len(sizes))(*sizes) if shape else None
    if strides is not None:
        tensor.strides = (ctypes.c_int64 * len(strides))(*strides)
    return tensor


def test_sound_capsules():
    tensor = described(offset=4)
    managed = Managed(tensor)
    assert tenon.from_dlpack(capsule(managed)).tolist() == [[1, 2, 3], [4, 5, 6]]
    versioned = Versioned(1, 7, None, None, 1, tensor)
    assert tenon.from_dlpack(capsule(versioned, b"dltensor_versioned")).tolist() == [[1, 2, 3], [4, 5, 6]]
    empty = Managed(described(sizes=(0, 3), strides=(-1, -7), data=False))
    assert tenon.from_dlpack(capsule(empty)).shape == (0, 3)


@pytest.mark.parametrize("wrong", [
    {"shape": False}, {"ndim": -1}, {"sizes": (-2, 3)}, {"data": False}, {"bits": 31}, {"bits": 0}, {"lanes": 4}, {"lanes": 0}, {"code": 5}, {"code": 200}, {"strides": (-3, 1)},
    {"sizes": (2**40, 2**40)}, {"sizes": (2**62,)}, {"strides": (2**62, 2**62)}, {"device": 2}, {"device": -1}], ids=str)  # fmt: skip
def test_capsules_that_lie(wrong):
    tensor = described(**wrong)
    managed, versioned = Managed(tensor), Versioned(1, 1, None, None, 0, tensor)
    for value in (capsule(managed), capsule(versioned, b"dltensor_versioned")):
        with pytest.raises((RuntimeError, ValueError)):
            tenon.from_dlpack(value)


def test_other_capsules():
    versioned = Versioned(2, 0, None, None, 0, described())
    for value in (capsule(versioned, b"dltensor_versioned"), capsule(Managed(described()), b"other"), capsule(Managed(described()), b"used_dltensor")):
        with pytest.raises(RuntimeError):
            tenon.from_dlpack(value)
    with pytest.raises(TypeError):
        tenon.from_dlpack(type("Odd", (), {"__dlpack__": lambda self, **options: tenon.ones(2).__dlpack__(), "__dlpack_device__": lambda self: None})())


# --- Allocations that fail

NO_MEMORY = '''
import copy, gc, itertools, pickle, sys, warnings
import _testcapi
import sweeps, tenon

x, y, flags = tenon.arange(12.0).reshape(3, 4), tenon.arange(4.0), tenon.tensor([True, False, True])
leaf = tenon.ones(3, requires_grad=True)

class Square(tenon.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        ctx.save_for_backward(value)
        return value * value

    @staticmethod
    def backward(ctx, grad):
        (value,) = ctx.saved_tensors
        return 2 * value * grad

def hooked():
    tensor = tenon.ones(3, requires_grad=True)
    handle = tensor.register_hook(lambda grad: grad * 2)
    (tensor * 2).sum().backward()
    handle.remove()

def node():
    return (tenon.ones(2, requires_grad=True) * 2).grad_fn.next_functions[0][0].variable

def same(tensor):
    return tensor[0] if isinstance(tensor, tuple) else tensor

special = {
    "pickle": lambda: pickle.loads(pickle.dumps(x)), "pickle 4": lambda: pickle.loads(pickle.dumps(x, 4)), "deepcopy": lambda: copy.deepcopy([x, x]), "copy": lambda: copy.copy(x),
    "subclass": lambda: type("Sub", (tenon.Tensor,), {}), "function class": lambda: type("F", (tenon.autograd.Function,), {}), "backward": lambda: (tenon.ones(3, requires_grad=True) * 2).sum().backward(),
    "function": lambda: Square.apply(tenon.ones(3, requires_grad=True)).sum().backward(), "hook": hooked, "node": node, "memoryview": lambda: memoryview(x), "dlpack": lambda: tenon.from_dlpack(x),
    "list": lambda: list(x), "setitem": lambda: x.__setitem__((0, slice(1, 3)), 1.0), "mask": lambda: x[x > 2], "lists": lambda: tenon.tensor([[1, 2], [3, 4.0]]), "repr": lambda: repr(x),
    "repr of a graph": lambda: repr(leaf * 2), "bound method": lambda: [getattr(value, name) for value in (tenon.float32, tenon.Generator(), (leaf * 2).grad_fn) for name in dir(value) if name != "dtype"],
    "size": lambda: tenon.Size([1, 2]) + tenon.Size([3]), "policy": lambda: tenon.broadcast_policy(outer="raise").__enter__().__exit__(), "no_grad": lambda: tenon.no_grad()(lambda: x + 1)(),
    "format": lambda: f"{y[0]:.2f}", "wrong shape": lambda: x + tenon.ones(7), "wrong type": lambda: tenon.clamp(x, "low"), "wrong keyword": lambda: x.sum(foo=1), "wrong list": lambda: tenon.tensor([[1], [2, 3]]),
    "device": lambda: tenon.device(type="cpu"), "grad": lambda: tenon.autograd.grad((leaf * leaf).sum(), leaf, create_graph=True), "buffer": lambda: tenon.frombuffer(bytearray(8), dtype=tenon.uint8),
}
try:
    import numpy
except ImportError:
    pass
else:
    special |= {"numpy": lambda: x.numpy(), "dtype": lambda: tenon.float32.dtype, "asarray": lambda: numpy.asarray(x), "from_numpy": lambda: tenon.from_numpy(numpy.ones(3)), "ufunc": lambda: numpy.add(x, y), "reduce": lambda: numpy.sum(x, axis=0)}

pools = [(), (x,), (x, x), (x, y), (y, y), (x, 0), (x, 0, 1), (3,), ((2, 3),), ((2, 3), 1.5), (x, (4, 3)), (flags.unsqueeze(1), x, y), (x, 0, 0, 2), (0, 5, (3,)), (tenon.float32, tenon.int64), (0, 1, 5),
         ([1, 2],), (x, (4, 3), (1, 4)), (leaf,), ("cpu",), (tenon.ones(2, 3, 4), tenon.ones(2, 4, 3)), (x, y[:1]), (bytearray(8),)]

def attempts():
    """Every function with each of the arguments that it takes, and with the first that it refuses."""
    yield from special.items()
    public = {name: value for name, value in sweeps.functions().items() if name not in sweeps.APART and not name.startswith("set_")}
    callables = [(name, value) for name, value in public.items()]
    callables += [(f"Tensor.{name}", getattr(tenon.Tensor, name)) for name in sweeps.methods() if name not in ("resize_", "__array_namespace__")]
    for name, function in callables:
        refused = 0
        for at, arguments in enumerate(pools):
            if name.startswith("Tensor.") and not (arguments and isinstance(arguments[0], tenon.Tensor)):
                continue
            def call(function=function, arguments=arguments):
                function(*(value.clone() if isinstance(value, tenon.Tensor) and value is not leaf else value for value in arguments))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    call()
                except ModuleNotFoundError:  # without memory such an import never ends, in Python itself
                    continue
                except Exception:
                    refused += 1
                    if refused > 1:
                        continue
            if not caught:  # Python itself crashes where a warning finds no memory
                yield f"{name} {at}", call

SIGNALS = (MemoryError, RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError, NotImplementedError, BufferError, OverflowError)
names, failures = 0, 0
for name, call in attempts():
    names += 1
    print(name, file=sys.stderr)
    for lasting in (False, True):
        quiet = 0
        for start in range(1, 400):
            error = None
            try:
                _testcapi.set_nomemory(start, 0 if lasting else start + 1)
                try:
                    call()
                finally:
                    _testcapi.remove_mem_hooks()
            except SIGNALS as caught:
                error = caught
            except pickle.PicklingError:
                pass
            except BaseException as caught:
                # A frame that finds no memory is a SystemError of Python's own.
                if "error return without exception set" not in str(caught) and not str(caught).startswith("<function "):
                    print(name, start, lasting, repr(caught)[:300])
            failed = isinstance(error, MemoryError)
            failures += failed
            quiet = 0 if failed else quiet + 1
            if quiet > 12:
                break
        error = None
try:
    assert (tenon.ones(2) + 1).tolist() == [2, 2] and pickle.loads(pickle.dumps(tenon.ones(2))).tolist() == [1, 1]
finally:
    assert names > 250 and failures > 2500, (names, failures)
'''


def test_allocations_of_python_that_fail(tmp_path):
    """MemoryError or the result, whichever of Python's allocations fails; and all works afterwards."""
    pytest.importorskip("_testcapi")
    assert sweeps.run_apart(NO_MEMORY, folder=tmp_path, timeout=600) == ""


# --- Beside other libraries

OTHERS = ["numpy", "torch", "jax", "sklearn"]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_beside(other, first, tmp_path):
    """Imported before or after another library, each works, and they share memory where they can."""
    if other not in sys.modules and importlib.util.find_spec(other) is None:
        pytest.skip(f"no {other} here")
    imports = ["import tenon", f"import {other}"]
    uses = {
        "numpy": "assert numpy.linalg.eigh(x @ x.T)[0].shape == (3,) and numpy.asarray(x).sum() == 66 and (x.numpy() == 11).sum() == 1",
        "torch": "y = torch.from_dlpack(x); y += 1; assert x.sum().item() == 78 and torch.exp(y).shape == (3, 4) and (torch.ones(300, 300) @ torch.ones(300, 300)).sum() == 300**3",
        "jax": "assert jax.numpy.asarray(x.numpy()).sum() == 66 and tenon.from_dlpack(jax.numpy.ones(3)).sum().item() == 3",
        "sklearn": "import sklearn.linear_model; m = sklearn.linear_model.LinearRegression().fit(x.numpy(), x.sum(1).numpy()); assert abs(m.predict(x.numpy())[0] - 6) < 1e-3",
    }
    program = "; ".join(imports if first else imports[::-1]) + (
        "\nx = tenon.arange(12.0).reshape(3, 4)\n"
        + uses[other]
        + "\nbig = tenon.ones(1000, 1000, requires_grad=True)\n(big * 2).exp().sum().backward()\nassert abs(big.grad[0, 0].item() - 14.778) < 1e-2\n"
    )
    assert sweeps.run_apart(program, folder=tmp_path) == ""


def test_beside_all(tmp_path):
    """All at once, in both orders."""
    present = [name for name in OTHERS if name in sys.modules or importlib.util.find_spec(name) is not None]
    names = ["tenon", *present]
    for order in (names, names[::-1]):
        program = "\n".join(f"import {name}" for name in order) + "\nassert (tenon.ones(500, 500) + 1).sum().item() == 500000\n"
        if "torch" in present:
            program += "assert (torch.ones(500, 500) @ torch.ones(500, 500)).sum() == 500**3\n"
        assert sweeps.run_apart(program, folder=tmp_path) == ""


# --- Leaks

LEAKS = (
    NO_MEMORY.split("SIGNALS =")[0]
    + '''
import resource, tracemalloc

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

def repeat(call, times):
    for _ in range(times):
        try:
            call()
        except Exception:
            pass

watched = [x, y, flags, leaf, tenon.Tensor, tenon.Size, None, True, NotImplemented, tenon.float32]
calls = [(name, call) for name, call in attempts() if name not in ("subclass", "function class", "backward")]
assert len(calls) > 250
for name, call in calls:
    repeat(call, 20)
gc.collect()
gc.freeze()  # what is there already need not be looked through again and again
tracemalloc.start()
for name, call in calls:
    print(name, file=sys.stderr)
    repeat(call, 20)  # what is made once is made
    for tries in range(4):  # tables of the interpreter's grow now and then
        gc.collect()
        counts, objects, (traced, _) = [sys.getrefcount(value) for value in watched], len(gc.get_objects()), tracemalloc.get_traced_memory()
        repeat(call, 100)
        gc.collect()
        grown = [b - a for a, b in zip(counts, [sys.getrefcount(value) for value in watched])]
        more_objects, more_bytes = len(gc.get_objects()) - objects, tracemalloc.get_traced_memory()[0] - traced
        if max(map(abs, grown)) < 50 and more_objects < 50 and more_bytes < 100 * 16:
            break
    else:
        print("leaks:", name, grown, more_objects, more_bytes)
tracemalloc.stop()
for name, call in calls:
    repeat(call, 100)
gc.collect()
before = resident()
for name, call in calls:
    repeat(call, 300)
gc.collect()
grown = resident() - before
if grown > 300 * len(calls) * 4:  # four bytes a call
    print("resident memory has grown by", grown, "bytes")
'''
)


@pytest.mark.skipif(not sys.platform.startswith("linux") or "asan" in os.environ.get("LD_PRELOAD", ""), reason="reads /proc; AddressSanitizer keeps what is freed")
def test_no_call_keeps_anything(tmp_path):
    """Neither references nor objects nor bytes stay behind a call, right or wrong, of any function."""
    pytest.importorskip("_testcapi")
    assert sweeps.run_apart(LEAKS, folder=tmp_path, timeout=600) == ""
