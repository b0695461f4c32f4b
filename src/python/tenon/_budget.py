"""How much memory tensors may take."""

from . import _tenon

_NONE = 2**63 - 1


class memory_budget:
    """Refuses tensors with which the live ones would hold more than nbytes; in all threads, inside a `with` block. None: no
    limit. The environment variable TENON_MEMORY_BUDGET sets one for the whole program.

    A tensor is refused before it is allocated. Tensors up to 64 KiB, memory that other libraries share, mapped files and an
    op's own scratch memory do not count.

    >>> import tenon
    >>> x = tenon.ones(1000, 1)
    >>> try:
    ...     with tenon.memory_budget(1000000):
    ...         x + x.T
    ... except tenon.OutOfMemoryError as error:
    ...     print(str(error)[:69])
    not enough memory: a tensor of shape [1000, 1000] takes 4000000 bytes
    """

    def __init__(self, nbytes):
        if nbytes is not None and (isinstance(nbytes, bool) or not isinstance(nbytes, int)):
            raise TypeError(f"memory_budget(): argument 'nbytes' must be int or None, not {type(nbytes).__name__}")
        if nbytes is not None and not 0 <= nbytes <= _NONE:
            raise ValueError(f"memory_budget: a number of bytes is expected, but got {nbytes}")
        self._nbytes = _NONE if nbytes is None else nbytes
        self._previous = []

    def __enter__(self):
        self._previous.append(_tenon._memory_budget())
        _tenon._set_memory_budget(self._nbytes)
        return self

    def __exit__(self, *exception):
        _tenon._set_memory_budget(self._previous.pop())

    def __repr__(self):
        return f"memory_budget({None if self._nbytes == _NONE else self._nbytes})"
