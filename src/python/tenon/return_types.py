"""The named tuples that functions with several results give: `tenon.sort(x).values`."""

import collections

from tenon import _tenon

_TYPES = dict(_tenon._return_types)
# Of functions that are written in Python.
_WRITTEN = {
    "histogramdd": "hist bin_edges", "linalg_lstsq": "solution residuals rank singular_values", "lu_unpack": "P L U", "qr": "Q R",
    "slogdet": "sign logabsdet", "svd": "U S V", "triangular_solve": "solution cloned_coefficient",
}  # fmt: skip
for _name, _fields in _WRITTEN.items():
    _TYPES[_name] = collections.namedtuple(_name, _fields, module=__name__)
globals().update(_TYPES)
__all__ = sorted(_tenon._return_types)


def _repr(self):
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self))
    return f"tenon.return_types.{type(self).__name__}(\n{fields})"


for _type in _TYPES.values():
    _type.__repr__ = _repr
