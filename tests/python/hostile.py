"""Hostile objects, and calls with them. Imported by programs in separate processes."""

import array
import sys
import warnings
import weakref

import tenon

try:
    import numpy
except ImportError:
    numpy = None
warnings.simplefilter("ignore")
calls = 0


def fail(*args, **kwargs):
    raise ZeroDivisionError("on purpose")


def raising(*names, base=object):
    return type("Raises_" + names[0].strip("_"), (base,), dict.fromkeys(names, fail))


class ClassRaises:
    __class__ = property(fail)


class NameRaises(type):
    """A metaclass: the names of its classes raise."""

    def __getattribute__(cls, name):
        if name in ("__name__", "__module__", "__qualname__"):
            fail()
        return super().__getattribute__(name)


class WrongLength:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, at):
        if at > 20:
            raise IndexError(at)
        return 1


class Shrinking(list):
    """A list that loses its elements while it is read."""

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


class LongerThanItIs(list):
    def __len__(self):
        return 10

    def __iter__(self):
        return iter([1, 2])

    __getitem__ = fail


class TupleRaises(tuple):
    __len__ = fail
    __iter__ = fail
    __getitem__ = fail


class DlpackLies:
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
objects = [ClassRaises(), raising("__index__")(), raising("__float__")(), raising("__len__", "__getitem__")(), raising("__bool__")(), raising("__eq__", "__hash__")(),
           raising("__iter__")(), raising("__fspath__")(), raising("__dlpack__", "__dlpack_device__")(), raising("__array__")(), raising("__getattr__")(),
           raising("__index__", "__int__", "__bool__", base=int)(3), raising("__float__", "__bool__", base=float)(2.5), NameRaises("N", (), {})(), WrongLength(-5), WrongLength(1 << 62),
           Shrinking(), LongerThanItIs([1]), TupleRaises((1, 2)), DlpackLies(), endless, deep, 10**30, -10**30, 10**4000, float("nan"), float("inf"), 1j, "abc", "\ud800", "a\0b", b"abc",
           bytearray(b"abcd"), memoryview(b"abcd"), array.array("d", [1, 2]), array.array("u", "ab"), None, ..., NotImplemented, {}, {1, 2}, slice(None, None, -1),
           slice(10**30, -10**30, 10**30), range(3), (value for value in [1]), int, float, type, tenon, ClassRaises, weakref.ref(good), tenon.float32, tenon.device("meta"),
           tenon.strided, tenon.Generator(), tenon.ones(()), tenon.ones(2, device="meta"), tenon.ones(0), tenon.tensor(True), tenon.ones(1).expand(-4, 0),
           -1, 2**63, -(2**63), 2**62, True]  # fmt: skip
if numpy is not None:

    class DtypeLies(numpy.ndarray):
        dtype = property(lambda self: numpy.dtype("float64"))

    class ShapeRaises(numpy.ndarray):
        dtype = shape = strides = property(fail)

    class FakeArray:
        __class__ = numpy.ndarray

    class FakeNumber:
        __class__ = numpy.float32

        def item(self):
            return "x"

    class InterfaceLies:
        __array_interface__ = {"data": (16, False), "shape": (10,), "typestr": "<f4", "version": 3}

    objects += [numpy.ones(3, numpy.uint8).view(DtypeLies), numpy.ones(3).view(ShapeRaises), FakeArray(), FakeNumber(), InterfaceLies(), numpy.array([1, None], dtype=object), numpy.array(["a"]),
                numpy.ones(3, ">f8"), numpy.ones(4)[::-1], numpy.broadcast_to(numpy.ones(1), (4,)), numpy.longdouble(3), numpy.complex64(1), numpy.uint64(2**63),
                numpy.rec.array([(1, 2.0)]), numpy.ma.array([1, 2], mask=[1, 0]), numpy.datetime64("2020"), numpy.void(b"abc"), numpy.array(5)]  # fmt: skip


def reset():
    tenon.set_num_threads(1)
    tenon._tenon._set_grad_enabled(True)
    tenon._tenon._set_inference_mode(False)
    tenon._tenon._set_default_dtype(tenon.float32)
    tenon._tenon._set_broadcast_policy("rank=allow,outer=allow,blow_up=0")
    tenon._tenon._set_anomaly_mode(False, True)
    tenon.set_printoptions(profile="default")


def attempt(name, call):
    """Makes a call. It must return or raise an exception other than SystemError, and leave no exception set."""
    global calls
    calls += 1
    print(name, file=sys.stderr)
    try:
        call()
    except SystemError as error:
        print("SystemError:", name, str(error)[:200])
    except Exception:
        pass
    len([])  # an exception that was left set would be raised here
