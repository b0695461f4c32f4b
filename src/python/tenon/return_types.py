"""The named tuples that functions with several results give: `tenon.sort(x).values`."""

from tenon import _tenon

# Of functions that are written in Python.
_WRITTEN = {
    "histogramdd": "hist bin_edges", "linalg_lstsq": "solution residuals rank singular_values", "lu_unpack": "P L U", "qr": "Q R",
    "slogdet": "sign logabsdet", "svd": "U S V", "triangular_solve": "solution cloned_coefficient",
}  # fmt: skip
__all__ = sorted(_tenon._return_types)


def _repr(self):
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self))
    return f"tenon.return_types.{type(self).__name__}(\n{fields})"


for _name, _type in _tenon._return_types.items():
    _type.__repr__ = _repr
    globals()[_name] = _type


def __getattr__(name):
    # Made when first used: each takes as long as a small module.
    if name not in _WRITTEN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import collections

    made = collections.namedtuple(name, _WRITTEN[name], module=__name__)
    made.__repr__ = _repr
    return globals().setdefault(name, made)
