"""The named tuples that functions with several results give: `tenon.sort(x).values`."""

import collections

from tenon import _tenon

_TYPES = dict(_tenon._return_types)
# Of a function that is written in Python.
_TYPES["histogramdd"] = collections.namedtuple("histogramdd", ["hist", "bin_edges"], module=__name__)
globals().update(_TYPES)
__all__ = sorted(_tenon._return_types)


def _repr(self):
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self))
    return f"tenon.return_types.{type(self).__name__}(\n{fields})"


for _type in _TYPES.values():
    _type.__repr__ = _repr
