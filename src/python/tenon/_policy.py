"""What a broadcast may do silently."""

from . import _tenon


class broadcast_policy:
    """Allows, warns of or refuses kinds of broadcasts that often are mistakes; for this thread, inside a `with` block or
    a decorated function.

    rank: an operand gains leading dims. outer: the result has the shape of no operand, as (N,) against (N, 1). Each is
    "allow", "warn" or "raise". blow_up: refuses results of more than this many times the operands' bytes.

    >>> import tenon
    >>> with tenon.broadcast_policy(outer="raise"):
    ...     tenon.ones(3) - tenon.ones(3, 1)
    Traceback (most recent call last):
    RuntimeError: sub: broadcasting to [3, 3], which is the shape of no operand, and which broadcast_policy(outer) does not allow
    """

    def __init__(self, both=None, *, rank=None, outer=None, blow_up=None):
        parts = [] if both is None else [both]
        parts += [f"{name}={value}" for name, value in (("rank", rank), ("outer", outer), ("blow_up", blow_up)) if value is not None]
        self._text = ",".join(parts)
        self._previous = []
        if self._text:
            _check(self._text)

    def __enter__(self):
        self._previous.append(_tenon._broadcast_policy())
        _tenon._set_broadcast_policy(_merged(self._previous[-1], self._text))
        return self

    def __exit__(self, *exception):
        _tenon._set_broadcast_policy(self._previous.pop())

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def guarded(*args, **kwargs):
            with broadcast_policy_of(self._text):
                return function(*args, **kwargs)

        return guarded

    def __repr__(self):
        return f"broadcast_policy({self._text!r})"


def broadcast_policy_of(text):
    policy = broadcast_policy()
    policy._text = text
    return policy


def _merged(previous, text):
    """Joins two policy texts. Later parts override earlier ones."""
    return f"{previous},{text}" if text else previous


def _check(text):
    before = _tenon._broadcast_policy()
    _tenon._set_broadcast_policy(_merged(before, text))
    _tenon._set_broadcast_policy(before)
