"""Grad modes of a thread: context managers that are also decorators."""

import warnings

from . import _tenon

_CLASSES = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or methods. "
    "To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and nothing else."
)


class _Mode:
    """Base of context managers and decorators that change a mode of this thread."""

    def __init__(self):
        self._previous = []

    def __exit__(self, *exception):
        self._restore(self._previous.pop() if self._previous else self._unentered())

    def _unentered(self):
        """Raises the error of leaving a context that was not entered."""
        raise RuntimeError(f"{type(self).__name__}: left without having been entered")

    def __call__(self, function):
        if isinstance(function, type):
            warnings.warn(_CLASSES, FutureWarning, stacklevel=2)
            return self._around(function)
        import functools  # slow to import, as inspect is
        import inspect

        if inspect.isgeneratorfunction(function):
            return _over_generator(self._again, function)

        return functools.wraps(function)(self._around(function))

    def _around(self, function):
        def inside(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)

        return inside

    def _again(self):
        """A new context manager of the same mode, because a decorated function may be recursive and run in several threads."""
        return type(self)()


class _GradMode(_Mode):
    _enabled = True

    def __new__(cls, function=None):
        # As a decorator without parentheses.
        return super().__new__(cls) if function is None else cls()(function)

    def __enter__(self):
        self._previous.append(_tenon.is_grad_enabled())
        _tenon._set_grad_enabled(self._enabled)

    def _restore(self, previous):
        _tenon._set_grad_enabled(previous)


class no_grad(_GradMode):
    """Records nothing."""

    _enabled = False

    def _unentered(self):
        return False  # as in PyTorch


class enable_grad(_GradMode):
    """Records operations, inside no_grad as well."""


class set_grad_enabled(_Mode):
    """Records or does not, from the call on; as a context manager up to the end of the block."""

    def __init__(self, mode):
        super().__init__()
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}")
        self.mode = mode
        self._before = _tenon.is_grad_enabled()
        _tenon._set_grad_enabled(mode)

    def __enter__(self):
        self._previous.append(self._before)
        _tenon._set_grad_enabled(self.mode)

    def _restore(self, previous):
        _tenon._set_grad_enabled(previous)

    def _unentered(self):
        return self._before

    def __call__(self, function):
        self._restore(self._before)  # as a decorator it changes only its function
        return super().__call__(function)

    def _again(self):
        return set_grad_enabled(self.mode)

    def __repr__(self):
        return f"tenon.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_Mode):
    """Records nothing, and what is made meanwhile never takes part in a graph."""

    def __new__(cls, mode=True):
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode=True):
        super().__init__()
        self.mode = mode

    def __enter__(self):
        self._previous.append((_tenon.is_inference_mode_enabled(), _tenon.is_grad_enabled()))
        _tenon._set_inference_mode(self.mode)
        _tenon._set_grad_enabled(not self.mode)

    def _restore(self, previous):
        inference, grad = previous
        _tenon._set_inference_mode(inference)
        _tenon._set_grad_enabled(grad)

    def _again(self):
        return inference_mode(self.mode)


def _over_generator(mode, function):
    """Runs each step of a generator in the mode, but not the code between the steps."""
    import functools

    @functools.wraps(function)
    def inside(*args, **kwargs):
        with mode():
            generator = function(*args, **kwargs)
            step = functools.partial(next, generator)
        try:
            while True:
                try:
                    with mode():
                        value = step()
                except StopIteration as end:
                    return end.value
                try:
                    sent = yield value
                    step = functools.partial(generator.send, sent)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step = functools.partial(generator.throw, error)
        finally:
            with mode():
                generator.close()

    return inside
