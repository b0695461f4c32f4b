"""Functions of tensors that run as few passes over memory."""

import dis
import functools
import types
import weakref

from ._tenon import Tensor, _Fused

__all__ = ["fuse"]

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(...), range)
_MISSING = object()
# What errors say when elements of a tensor without data are read.
_ABOUT_DATA = ("no data", "meta tensors", "meta tensor with tensors", "meta device type tensor")


def fuse(function):
    """Makes `function` of tensors run as few passes over memory: elementwise ops of one shape become one pass.

    The function is called once for each signature of its arguments, with tensors that have no data; from then on its
    passes run without Python. The results are those of the function, bit for bit. Arguments and results may be tensors,
    numbers, strings, None, and tuples, lists and dicts of these. Numbers, and the global and captured variables that the
    function reads, are part of the signature: a changed one traces again. A tensor that the function reads from elsewhere
    is read in each call. Sums over rows may add their elements in another order.

    Where an argument requires grad, a function of elementwise ops, reductions, other ops of rows and views is one node,
    `FusedBackward`: its derivative is fused, too, and computes again what it needs of the arguments. Any other function
    is called as it is.

    `fuse` is also a decorator. `f.passes(*args)` is the number of passes over memory for these arguments,
    `f.explain(*args)` says what they are and how many bytes they move.

    Raises what the function raises, with its arguments as they were; RuntimeError for what cannot be traced: elements
    that are read (`if x.sum() > 0`, `.item()`, `.tolist()`), random numbers, `out=`, writes to views.
    """
    if not callable(function):
        raise TypeError(f"tenon.fuse: a function is expected, not {type(function).__name__}")
    return _FusedFunction(function)


class _FusedFunction:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function
        self._traces = {}  # by the arguments' structure and numbers: (guards, _Fused). By their number: if all are tensors

    def __call__(self, *args, **kwargs):
        known = self._traces.get(len(args))
        if known is not None and not kwargs and all([guard() for guard in known[0]]):
            result = known[1](args)
            if result is not NotImplemented:
                return result if isinstance(result, Tensor) else _restored(result[0], iter(result[1]))
        fused, tensors = self._find(args, kwargs)
        result = fused(tensors)
        return result if isinstance(result, Tensor) else _restored(result[0], iter(result[1]))

    def passes(self, *args, **kwargs):
        """The number of passes over memory for these arguments."""
        fused, tensors = self._find(args, kwargs)
        return fused.passes(tensors)

    def explain(self, *args, **kwargs):
        """The passes for these arguments as text: their ops, and the bytes that they and the ops one by one would move."""
        fused, tensors = self._find(args, kwargs)
        return fused.explain(tensors)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def _find(self, args, kwargs):
        tensors = []
        key = (_described(args, tensors), _described(kwargs, tensors))
        if not kwargs and all(type(value) is Tensor for value in args):
            key = len(args)
        known = self._traces.get(key)
        if known is None or not all(guard() for guard in known[0]):
            known = self._traces[key] = (_guards(self._function, args, kwargs), _Fused(self._traced(args, kwargs)))
            if len(self._traces) > 64:
                del self._traces[next(iter(self._traces))]
        return known[1], tensors

    def _traced(self, args, kwargs):
        """The function of a list of tensors that calls it with these arguments, in which the tensors take their places."""
        function, layout = self._function, _layout((args, kwargs))

        def call(tensors):
            given_args, given_kwargs = _restored(layout, iter(tensors))
            try:
                result = function(*given_args, **given_kwargs)
            except (NotImplementedError, TypeError, RuntimeError) as error:
                if not any(text in str(error) for text in _ABOUT_DATA):
                    raise
                raise RuntimeError(_reads_elements(function, error)) from error
            found = []
            structure = _layout(result, found)
            if not found:
                raise RuntimeError(f"tenon.fuse: {_name(function)} returned no tensor, but {type(result).__name__}")
            return None if structure is _PLACE else structure, found

        return call


def _name(function):
    return f"{getattr(function, '__name__', type(function).__name__)}()"


def _reads_elements(function, error):
    place = ""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            place = f"line {trace.tb_lineno} of {code.co_filename}: "
        trace = trace.tb_next
    return (
        f"tenon.fuse: {place}{_name(function)} reads elements (if, item(), tolist(), float(), numpy()), "
        "which are not known while it is traced; use tenon.where to choose by elements, or read them outside"
    )


# --- Structures of tensors


class _Place:
    """Stands where a tensor is."""

    __slots__ = ()


_PLACE = _Place()


def _described(value, tensors):
    """The structure of arguments as a key; their tensors are added to the list."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return _PLACE
    kind = type(value)
    if kind in _CONSTANTS:
        return _exact(value)
    if kind is tuple or kind is list:
        return (kind, *[_described(item, tensors) for item in value])
    if kind is dict:
        return (kind, *[(name, _described(item, tensors)) for name, item in value.items()])
    return (kind, _Identity(value))


def _exact(value):
    """A constant as a key: 0.0 and -0.0, 2 and 2.0, and NaN are themselves only."""
    kind = type(value)
    return (kind, repr(value)) if kind in (float, complex) else (kind, value)


class _Identity:
    """An object as a key: equal to itself only."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return id(self.value)

    def __eq__(self, other):
        return isinstance(other, _Identity) and self.value is other.value


def _layout(value, tensors=None):
    """The same with a place for each tensor."""
    if isinstance(value, Tensor):
        if tensors is not None:
            tensors.append(value)
        return _PLACE
    kind = type(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*[_layout(item, tensors) for item in value])
    if isinstance(value, (tuple, list)):
        items = [_layout(item, tensors) for item in value]
        return items if kind is list else tuple(items)
    if kind is dict:
        return {name: _layout(item, tensors) for name, item in value.items()}
    return value


def _restored(layout, tensors):
    if layout is _PLACE:
        return next(tensors)
    if isinstance(layout, tuple) and hasattr(layout, "_fields"):
        return type(layout)(*[_restored(item, tensors) for item in layout])
    if isinstance(layout, (tuple, list)):
        return type(layout)(_restored(item, tensors) for item in layout)
    if type(layout) is dict:
        return {name: _restored(item, tensors) for name, item in layout.items()}
    return layout


# --- What a function reads besides its arguments


def _guards(function, args, kwargs):
    """Functions that say whether what `function` reads is still the same."""
    guards = []
    _add_guards(function, args, guards, set(), kwargs)
    return guards


def _add_guards(function, args, guards, seen, kwargs=None):
    kwargs = kwargs or {}
    while isinstance(function, functools.partial):
        args, kwargs, function = (*function.args, *args), {**function.keywords, **kwargs}, function.func
    if not isinstance(function, (types.FunctionType, types.MethodType, _FusedFunction)):
        called = getattr(type(function), "__call__", None)  # of an object
        if isinstance(called, types.FunctionType):
            function = types.MethodType(called, function)
    if isinstance(function, types.MethodType):
        args = (function.__self__, *args)
        function = function.__func__
    function = getattr(function, "_function", function) if isinstance(function, _FusedFunction) else function
    if not isinstance(function, types.FunctionType) or function.__code__ in seen:
        return
    if (function.__module__ or "").split(".")[0] == __name__.split(".")[0]:
        return  # Tenon's own
    seen.add(function.__code__)
    for name, path in _reads(function.__code__):
        base = _base_of(function, args, kwargs, name)
        if base is None:
            continue
        _guard_path(base, path, guards, seen)
    for value in (function.__defaults__ or ()) + tuple((function.__kwdefaults__ or {}).values()):
        _guard_value(lambda value=value: value, guards, seen)


def _reads(code):
    """The variables that the code reads, each with the attributes that follow."""
    found = set()
    instructions = list(dis.get_instructions(code))
    for at, instruction in enumerate(instructions):
        if not instruction.opname.startswith(("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME", "LOAD_FAST", "LOAD_CLASSDEREF")):
            continue
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        if not all(isinstance(name, str) for name in names):
            continue
        path = []
        for following in instructions[at + 1 :]:
            if following.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                break
            path.append(following.argval)
        found.update((name, ()) for name in names[:-1])  # Python 3.13 loads two at once
        found.add((names[-1], tuple(path)))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _reads(constant)
    return found


def _base_of(function, args, kwargs, name):
    code = function.__code__
    if name in code.co_freevars:
        cell = function.__closure__[code.co_freevars.index(name)]

        def read():
            try:
                return cell.cell_contents
            except ValueError:
                return _MISSING

        return read
    if name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        place = code.co_varnames.index(name)
        given = args[place] if place < min(len(args), code.co_argcount) else kwargs.get(name)
        if not isinstance(given, (Tensor, *_CONSTANTS, tuple, list, dict)):
            return lambda: given
        return None
    if name in function.__globals__:
        names = function.__globals__
        return lambda: names.get(name, _MISSING)
    return None


def _guard_path(base, path, guards, seen):
    """Guards what a variable holds, and each attribute that is read from it."""
    value = base()
    if isinstance(value, types.ModuleType):
        if value.__name__.split(".")[0] == __name__.split(".")[0] or not path:
            return
    for depth in range(len(path) + 1):
        names = path[:depth]

        def read(names=names):
            held = base()
            for name in names:
                held = getattr(held, name, _MISSING)
            return held

        value = read()
        _guard_value(read, guards, seen)
        if value is _MISSING or isinstance(value, (Tensor, *_CONSTANTS)):
            return


def _guard_value(read, guards, seen):
    value = read()
    if isinstance(value, Tensor):
        reference, version = weakref.ref(value), value._version
        guards.append(lambda: read() is reference() and reference()._version == version)
    elif isinstance(value, _CONSTANTS):
        exact = _exact(value)
        guards.append(lambda: _exact(read()) == exact)
    elif type(value) in (tuple, list, dict):
        copy = _frozen(value)
        guards.append(lambda: _frozen(read()) == copy)
    elif callable(value) and not isinstance(value, type):
        guards.append(lambda: read() == value)
        _add_guards(value, (), guards, seen)
    else:
        guards.append(lambda: read() is value)


def _frozen(value):
    """A copy of containers, with tensors by identity and version."""
    if isinstance(value, Tensor):
        return (_Identity(value), value._version)
    if type(value) in (tuple, list):
        return (type(value), *[_frozen(item) for item in value])
    if type(value) is dict:
        return (dict, *[(name, _frozen(item)) for name, item in value.items()])
    return _exact(value) if isinstance(value, _CONSTANTS) else _Identity(value)
