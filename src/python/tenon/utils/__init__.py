"""Switches that PyTorch keeps here, and functions that backward runs again."""

from . import backcompat


def __getattr__(name):
    # Loaded when first used: an import costs what it uses.
    if name not in ("checkpoint", "dlpack"):
        from .. import _missing

        _missing.refuse("utils", name)
    import importlib

    return importlib.import_module("." + name, __name__)
