"""Valid and invalid calls of every function of the module, for tests that run in separate processes."""

import copy
import pickle
import warnings

import sweeps
import tenon
from functions import Square

x, y, flags = tenon.arange(12.0).reshape(3, 4), tenon.arange(4.0), tenon.tensor([True, False, True])
leaf = tenon.ones(3, requires_grad=True)


def hooked():
    tensor = tenon.ones(3, requires_grad=True)
    handle = tensor.register_hook(lambda grad: grad * 2)
    (tensor * 2).sum().backward()
    handle.remove()


def node():
    return (tenon.ones(2, requires_grad=True) * 2).grad_fn.next_functions[0][0].variable


OF_NUMPY = ("char", "dtype", "str", "type")  # attributes that import NumPy: without memory an import that fails never ends
SPECIAL_CALLS = {
    "pickle": lambda: pickle.loads(pickle.dumps(x)), "pickle 4": lambda: pickle.loads(pickle.dumps(x, 4)), "deepcopy": lambda: copy.deepcopy([x, x]), "copy": lambda: copy.copy(x),
    "subclass": lambda: type("Sub", (tenon.Tensor,), {}), "function class": lambda: type("F", (tenon.autograd.Function,), {}), "backward": lambda: (tenon.ones(3, requires_grad=True) * 2).sum().backward(),
    "function": lambda: Square.apply(tenon.ones(3, requires_grad=True)).sum().backward(), "hook": hooked, "node": node, "memoryview": lambda: memoryview(x), "dlpack": lambda: tenon.from_dlpack(x),
    "list": lambda: list(x), "setitem": lambda: x.__setitem__((0, slice(1, 3)), 1.0), "mask": lambda: x[x > 2], "lists": lambda: tenon.tensor([[1, 2], [3, 4.0]]), "repr": lambda: repr(x),
    "repr of a graph": lambda: repr(leaf * 2), "bound method": lambda: [getattr(value, name) for value in (tenon.float32, tenon.Generator(), (leaf * 2).grad_fn) for name in dir(value) if name not in OF_NUMPY],
    "size": lambda: tenon.Size([1, 2]) + tenon.Size([3]), "policy": lambda: tenon.broadcast_policy(outer="raise").__enter__().__exit__(), "no_grad": lambda: tenon.no_grad()(lambda: x + 1)(),
    "format": lambda: f"{y[0]:.2f}", "wrong shape": lambda: x + tenon.ones(7), "wrong type": lambda: tenon.clamp(x, "low"), "wrong keyword": lambda: x.sum(foo=1), "wrong list": lambda: tenon.tensor([[1], [2, 3]]),
    "device": lambda: tenon.device(type="cpu"), "grad": lambda: tenon.autograd.grad((leaf * leaf).sum(), leaf, create_graph=True), "buffer": lambda: tenon.frombuffer(bytearray(8), dtype=tenon.uint8),
}
try:
    import numpy
except ImportError:
    pass
else:
    SPECIAL_CALLS |= {"numpy": lambda: x.numpy(), "dtype": lambda: tenon.float32.dtype, "asarray": lambda: numpy.asarray(x), "from_numpy": lambda: tenon.from_numpy(numpy.ones(3)), "ufunc": lambda: numpy.add(x, y), "reduce": lambda: numpy.sum(x, axis=0)}

ARGUMENTS = [(), (x,), (x, x), (x, y), (y, y), (x, 0), (x, 0, 1), (3,), ((2, 3),), ((2, 3), 1.5), (x, (4, 3)), (flags.unsqueeze(1), x, y), (x, 0, 0, 2), (0, 5, (3,)), (tenon.float32, tenon.int64), (0, 1, 5),
             ([1, 2],), (x, (4, 3), (1, 4)), (leaf,), ("cpu",), (tenon.ones(2, 3, 4), tenon.ones(2, 4, 3)), (x, y[:1]), (bytearray(8),)]


def attempts():
    """Yields (name, call): every function with all valid ARGUMENTS, and with the first ones that it refuses."""
    yield from SPECIAL_CALLS.items()
    public = {name: value for name, value in sweeps.functions().items() if name not in sweeps.SKIPPED and not name.startswith("set_")}
    callables = list(public.items())
    callables += [(f"Tensor.{name}", getattr(tenon.Tensor, name)) for name in sweeps.methods() if name not in ("resize_", "__array_namespace__", "cuda")]
    for name, function in callables:
        refused = 0
        for at, arguments in enumerate(ARGUMENTS):
            if name.startswith("Tensor.") and not (arguments and isinstance(arguments[0], tenon.Tensor)):
                continue

            def call(function=function, arguments=arguments):
                function(*(value.clone() if isinstance(value, tenon.Tensor) and value is not leaf else value for value in arguments))

            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    call()
                except ModuleNotFoundError:  # without memory such an import never ends, because of Python itself
                    continue
                except Exception:
                    refused += 1
                    if refused > 1:
                        continue
            if not caught:  # Python itself crashes if a warning cannot allocate memory
                yield f"{name} {at}", call
