"""The named tuples that functions with several results give: `tenon.sort(x).values`."""

from tenon import _tenon

globals().update(_tenon._return_types)
__all__ = sorted(_tenon._return_types)


def _repr(self):
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self))
    return f"tenon.return_types.{type(self).__name__}(\n{fields})"


for _type in _tenon._return_types.values():
    _type.__repr__ = _repr
