"""Checks of arguments by the functions that are written in Python, in the words of those that are not."""

from ._tenon import Tensor


def type_name(value):
    """The name of its type in errors of C++: numpy.ndarray, but a class of Python without its module."""
    kind = type(value)
    is_heap_type = kind.__flags__ & 1 << 9
    return kind.__name__ if is_heap_type or kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def check_tensor(function, value, name="input", position=1):
    """Raises TypeError for an argument that is no tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be Tensor, not {type_name(value)}")


def check_tensors(function, **arguments):
    """The same for the first arguments of a function, in their order."""
    for position, (name, value) in enumerate(arguments.items(), 1):
        check_tensor(function, value, name, position)


def check_elements(tensors, argument=0):
    """Raises TypeError if an element of a list of tensors is none."""
    for at, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument {argument}, but got {type_name(tensor)}")


def check_bool(function, value, name, position):
    """Raises TypeError for an argument that is neither True nor False."""
    if not isinstance(value, bool):
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be bool, not {type_name(value)}")
