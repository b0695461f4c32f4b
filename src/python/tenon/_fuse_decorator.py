"""tenon.fuse; what it gives is in _fuse.py."""

_KEEP = ("costly", "nothing", "everything")


def fuse(function=None, *, keep="costly"):
    """Makes `function` of tensors run as few passes over memory: elementwise ops of one shape become one pass.

    The function is called once for each signature of its arguments, with tensors that have no data; from then on its
    passes run without Python. The results are those of the function, bit for bit. Arguments and results may be tensors,
    numbers, strings, None, and tuples, lists and dicts of these. Numbers, and the global and captured variables that the
    function reads, are part of the signature: a changed one traces again. A tensor that the function reads from elsewhere
    is read in each call. Sums over rows may add their elements in another order.

    Where an argument requires grad, a function that gives new tensors and writes nothing is one node, `FusedBackward`: its
    derivative is fused, too. `keep` says what the forward call keeps for it besides the arguments. By default that is what
    takes a pass or more to compute again: products, sorting, sums of many elements. `keep="nothing"` takes the least
    memory, `keep="everything"` keeps what the derivatives of the ops read.

    `fuse` is also a decorator, `@tenon.fuse` or `@tenon.fuse(keep="nothing")`. `f.passes(*args)` is the number of passes over memory for these arguments,
    `f.explain(*args)` says what they are and how many bytes they move.

    Raises what the function raises, with its arguments as they were; RuntimeError for what cannot be traced: elements
    that are read (`if x.sum() > 0`, `.item()`, `.tolist()`), random numbers, `out=`, writes to views.
    """
    if keep not in _KEEP:
        raise ValueError(f"tenon.fuse: keep is one of {', '.join(map(repr, _KEEP))}, not {keep!r}")
    if function is None:
        import functools  # slow to import

        return functools.partial(fuse, keep=keep)
    if not callable(function):
        raise TypeError(f"tenon.fuse: a function is expected, not {type(function).__name__}")
    from ._fuse import _FusedFunction

    return _FusedFunction(function, _KEEP.index(keep))
