"""What tenon.fuse gives: functions that run as few passes over memory. Imported by its first call, for it imports much."""

import collections
import copy
import functools
import opcode
import re
import sys
import types
import weakref

from ._tenon import Tensor, _Fused, _FusedCalls, _is_in_fused_call, _is_traced

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(...), range)
_MISSING = object()
# What errors say when elements of a tensor without data are read.
_ABOUT_DATA = ("no data", "meta tensors", "meta tensor with tensors", "meta device type tensor", "the mask's data")


class _FusedFunction(_FusedCalls):
    """Calls look up `_traces` first; what is not there goes to `_call`."""

    def __init__(self, function, keep):
        super().__init__()
        functools.update_wrapper(self, function)
        self._function = function
        self._keep = keep
        self._traces = {}  # by the arguments' structure and numbers: (guards, _Fused). By their number: if all are tensors

    def __reduce__(self):
        return _FusedFunction, (self._function, self._keep)

    def _call(self, *args, **kwargs):
        fused, tensors = self._find(args, kwargs)
        result = fused(tensors)
        return result if isinstance(result, Tensor) else self._structured(result)

    @staticmethod
    def _structured(result):
        return _restored(result[0], iter(result[1]))

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
        if not kwargs and _are_tensors(args):
            key, tensors = len(args), args
        else:
            tensors = []
            key = (_described(args, tensors), _described(kwargs, tensors))
        known = self._traces.get(key)
        if known is None or not _all_hold(known[0]):
            guards = _guards(self._function, args, kwargs)
            known = self._traces[key] = (guards, _Fused(self._traced(args, kwargs, guards), self._keep))
            if len(self._traces) > 64:
                self._traces.pop(list(self._traces)[0], None)
        return known[1], tensors

    def _traced(self, args, kwargs, guards):
        """The function of a list of tensors that calls it with these arguments, in which the tensors take their places."""
        function = self._function
        layout = None if not kwargs and _are_tensors(args) else _layout((args, kwargs))

        def call(tensors):
            given_args, given_kwargs = _restored(layout, iter(tensors)) if layout else (tensors, {})
            if not _is_in_fused_call() and not _all_hold(guards):
                raise RuntimeError(
                    f"tenon.fuse: what {_name(function)} reads changed between its call and a derivative of it that was "
                    "not asked for before; ask for that derivative before the change, or pass what changes as an argument"
                )
            try:
                result = function(*given_args, **given_kwargs)
            except Exception as error:
                if isinstance(error, (NotImplementedError, TypeError, RuntimeError)):
                    if any(text in str(error) for text in _ABOUT_DATA):
                        raise RuntimeError(_reads_elements(function, error)) from error
                note = f"tenon.fuse: {place}{_name(function)}" if (place := _place_in(function, error)) else ""
                if note and getattr(error, "__notes__", [""])[-1] != note:  # once of a function that calls itself
                    error.add_note(note)
                raise
            if type(result) is Tensor:
                return None, [result]
            found = []
            structure = _layout(result, found)
            if not found:
                raise RuntimeError(f"tenon.fuse: {_name(function)} returned no tensor, but {type(result).__name__}")
            return None if structure is _PLACE else structure, found

        return call


def _are_tensors(values):
    return all([type(value) is Tensor for value in values])


def _name(function):
    return f"{getattr(function, '__name__', type(function).__name__)}()"


def _place_in(function, error):
    """The line of the function where the error came from, followed by a colon; empty if it is not known."""
    place = ""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            place = f"line {trace.tb_lineno} of {code.co_filename}: "
        trace = trace.tb_next
    return place


def _reads_elements(function, error):
    return (
        f"tenon.fuse: {_place_in(function, error)}{_name(function)} reads elements (if, print(), item(), tolist(), float(), numpy(), a mask as index), "
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
    if not _is_structure(value):
        return (kind, _Identity(value))
    key = [kind, _Identity(getattr(value, "default_factory", None))]
    if isinstance(value, dict):
        key += [(name, _described(item, tensors)) for name, item in value.items()]
    elif isinstance(value, (tuple, list)):
        key += [_described(item, tensors) for item in value]
    key += [(name, _described(item, tensors)) for name, item in _attributes(value).items()]
    return tuple(key)


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


def _is_structure(value):
    """Whether the value is a structure of tensors: of another type than tuple, list and dict, too."""
    return isinstance(value, (tuple, list, dict)) or (_is_dataclass(value) and not isinstance(value, type))


def _is_dataclass(value):
    return hasattr(value if isinstance(value, type) else type(value), "__dataclass_fields__")


def _field_names(value):
    if not _is_dataclass(value):
        return []
    import dataclasses  # slow to import; who has a dataclass has imported it

    return [field.name for field in dataclasses.fields(value)]


def _attributes(value):
    """The attributes of a dataclass or of an object of a subclass, by name."""
    found = {name: getattr(value, name) for name in _field_names(value) if hasattr(value, name)}
    return {**found, **getattr(value, "__dict__", {})}


def _with_parts(value, change):
    """A structure of the same type, in which `change` was applied to each part."""
    kind = type(value)
    if kind is list:
        return [change(item) for item in value]
    if kind is tuple:
        return tuple([change(item) for item in value])
    if kind is dict:
        return {name: change(item) for name, item in value.items()}
    try:
        made = tuple.__new__(kind, [change(item) for item in value]) if isinstance(value, tuple) else copy.copy(value)
    except Exception as error:
        raise TypeError(f"tenon.fuse: {kind.__name__} cannot be copied, so it cannot be a structure of tensors") from error
    if isinstance(value, list):
        list.__setitem__(made, slice(None), [change(item) for item in value])
    if isinstance(value, dict):
        for name, item in value.items():
            dict.__setitem__(made, name, change(item))
    for name, item in _attributes(value).items():
        object.__setattr__(made, name, change(item))
    return made


def _layout(value, tensors=None):
    """The same with a place for each tensor."""
    if isinstance(value, Tensor):
        if tensors is not None:
            tensors.append(value)
        return _PLACE
    if type(value) in _CONSTANTS:
        return value
    if _is_structure(value):
        return value if _is_fixed(value) else _with_parts(value, lambda item: _layout(item, tensors))
    if tensors is not None and any(_is_traced(item) for item in _held(value)):
        raise TypeError(
            f"tenon.fuse: a {type(value).__name__} of tensors cannot be a result; use a tuple, list, dict or dataclass"
        )
    return value


def _is_fixed(value):
    """Whether an object of a subclass of tuple, such as Size, holds only constants."""
    return isinstance(value, tuple) and type(value) is not tuple and all(type(item) in _CONSTANTS for item in value)


def _held(value):
    """What another object holds."""
    if isinstance(value, (set, frozenset, collections.deque)):
        return value
    return getattr(value, "__dict__", {}).values()


def _restored(layout, tensors):
    if layout is _PLACE:
        return next(tensors)
    if type(layout) in _CONSTANTS or not _is_structure(layout) or _is_fixed(layout):
        return layout
    return _with_parts(layout, lambda item: _restored(item, tensors))


# --- What a function reads besides its arguments


def _guards(function, args, kwargs):
    """(call, where, name, value) for each variable that `function` reads: whether it is still the same is what the call
    says. It need not be asked if the variable is the value itself. `where`: the dict of globals, or a cell; None: ask."""
    guards = []
    objects = [value for value in (*args, *kwargs.values()) if not _is_in_signature(value)]
    described = {id(value) for value in objects if _is_dataclass(value)}
    _add_guards(function, args, guards, set(), kwargs, described)
    return guards


def _add_guards(function, args, guards, seen, kwargs=None, described=()):
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
    # Of local variables only arguments that are objects matter.
    with_locals = not all(_is_in_signature(value) for value in (*args, *kwargs.values()))
    for kind, name, path in _reads(function.__code__, with_locals):
        found = _base_of(function, args, kwargs, kind, name)
        if found is None:
            continue
        base, where = found
        if path and kind != _GLOBAL and id(base()) in described and path[0] in _attributes(base()):
            continue  # part of the signature
        _guard_path(base, (where, name), path, guards, seen)
    for value in (function.__defaults__ or ()) + tuple((function.__kwdefaults__ or {}).values()):
        _guard_value(lambda value=value: value, (None, None), guards, seen)


# What an instruction does to the list of variables that a function reads, as one byte: a regular expression finds these
# in a string of them. dis knows it, too, but takes longer than a trace, and so does a loop in Python.
_NOTHING, _SKIPPED, _WIDER, _GLOBAL, _LOCAL, _CAPTURED, _TWO_LOCALS, _ATTRIBUTE = b".swglcta"
_EFFECTS_OF_NAMES = {
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME"), _GLOBAL),
    **dict.fromkeys(("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_BORROW"), _LOCAL),
    **dict.fromkeys(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"), _CAPTURED),
    **dict.fromkeys(("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"), _TWO_LOCALS),
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD"), _ATTRIBUTE),
    "CACHE": _SKIPPED,
    "EXTENDED_ARG": _WIDER,
}
_EFFECTS = bytearray([_NOTHING] * 256)
_SHIFTS = [0] * 256  # of names: their last bit is no part of the number
for _name_of_op, _op in opcode.opmap.items():
    if _op < 256:
        _EFFECTS[_op] = _EFFECTS_OF_NAMES.get(_name_of_op, _NOTHING)
        _SHIFTS[_op] = int(_name_of_op == "LOAD_GLOBAL" or (_name_of_op == "LOAD_ATTR" and sys.version_info >= (3, 12)))
_VARIABLE = re.compile(rb"[glct](?:[sw]*a)*")
_VARIABLE_OF_OTHERS = re.compile(rb"[gc](?:[sw]*a)*")  # no local one


@functools.lru_cache(maxsize=1024)
def _reads(code, with_locals=True):
    """The variables that the code reads: (_GLOBAL, _LOCAL or _CAPTURED, name, the attributes that follow)."""
    found, names, local_name = set(), code.co_names, code._varname_from_oparg
    ops, low = code.co_code[::2], code.co_code[1::2]
    effects = ops.translate(_EFFECTS)

    def argument(at):
        value, shift = low[at], 0
        while at > 0 and effects[at - 1] == _WIDER:
            at, shift = at - 1, shift + 8
            value |= low[at] << shift
        return value

    for match in (_VARIABLE if with_locals else _VARIABLE_OF_OTHERS).finditer(effects):
        begin, end = match.span()
        kind, number = effects[begin], argument(begin)
        path = tuple([names[argument(at) >> _SHIFTS[ops[at]]] for at in range(begin + 1, end) if effects[at] == _ATTRIBUTE])
        if kind == _TWO_LOCALS:
            found.add((_LOCAL, local_name(number >> 4), ()))
            kind, number = _LOCAL, number & 15
        found.add((kind, names[number >> _SHIFTS[ops[begin]]] if kind == _GLOBAL else local_name(number), path))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= {read for read in _reads(constant, False) if read[0] != _LOCAL}
    return found


def _base_of(function, args, kwargs, kind, name):
    """How to read a variable, and where it is: the dict of globals, a cell or None. None: it is no variable, or holds what
    the call computes or the signature has."""
    code = function.__code__
    if kind == _GLOBAL:
        names = function.__globals__
        return (lambda: names.get(name, _MISSING), names) if name in names else None
    if name in code.co_freevars:
        cell = function.__closure__[code.co_freevars.index(name)]

        def read():
            try:
                return cell.cell_contents
            except ValueError:
                return _MISSING

        return read, cell
    if name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        place = code.co_varnames.index(name)
        given = args[place] if place < min(len(args), code.co_argcount) else kwargs.get(name)
        if not _is_in_signature(given):
            return lambda: given, None
    return None


def _is_in_signature(argument):
    return isinstance(argument, (Tensor, *_CONSTANTS, tuple, list, dict))


def _guard_path(base, variable, path, guards, seen):
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
        _guard_value(read, (None, None) if names else variable, guards, seen)
        if value is _MISSING or isinstance(value, (Tensor, *_CONSTANTS)):
            return


def _guard_value(read, variable, guards, seen):
    value = read()
    if isinstance(value, Tensor):
        reference, version = weakref.ref(value), value._version
        guards.append((lambda: read() is reference() and reference()._version == version, None, None, None))
    elif isinstance(value, _CONSTANTS):
        exact = _exact(value)
        guards.append((lambda: _exact(read()) == exact, *variable, value))
    elif type(value) in (tuple, list, dict):
        copy = _frozen(value)
        guards.append((lambda: _frozen(read()) == copy, None, None, None))
    elif callable(value) and not isinstance(value, type):
        guards.append((lambda: read() == value, *variable, value))
        _add_guards(value, (), guards, seen)
    else:
        guards.append((lambda: read() is value, *variable, value))


def _all_hold(guards):
    return all([guard[0]() for guard in guards])


def _frozen(value):
    """A copy of containers, with tensors by identity and version."""
    if isinstance(value, Tensor):
        return (_Identity(value), value._version)
    if type(value) in (tuple, list):
        return (type(value), *[_frozen(item) for item in value])
    if type(value) is dict:
        return (dict, *[(name, _frozen(item)) for name, item in value.items()])
    return _exact(value) if isinstance(value, _CONSTANTS) else _Identity(value)
