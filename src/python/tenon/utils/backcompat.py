"""The two switches of PyTorch's broadcasting page. Unlike in PyTorch 2.13 they do what the page says; per thread."""

from .. import _tenon


class _Switch:
    def __init__(self, read, write, doc):
        self._read, self._write, self.__doc__ = read, write, doc

    @property
    def enabled(self):
        return self._read()

    @enabled.setter
    def enabled(self, value):
        self._write(bool(value))


broadcast_warning = _Switch(
    _tenon._broadcast_warning,
    _tenon._set_broadcast_warning,
    "Warns where shapes differ, are broadcastable and hold equally many elements.",
)
pointwise_1d = _Switch(
    _tenon._pointwise_1d,
    _tenon._set_pointwise_1d,
    "Treats operands that do not broadcast but hold equally many elements as 1-D.",
)
