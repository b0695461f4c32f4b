"""Switches that PyTorch keeps here, and functions that backward runs again."""

from . import backcompat


def __getattr__(name):
    # Loaded when first used: an import costs what it uses.
    if name != "checkpoint":
        raise AttributeError(f"module 'tenon.utils' has no attribute '{name}'")
    import importlib

    return importlib.import_module(".checkpoint", __name__)
