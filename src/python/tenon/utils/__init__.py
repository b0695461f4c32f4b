"""Switches that PyTorch keeps here, and batches of data."""

from . import backcompat


def __getattr__(name):
    if name == "data":  # loaded when first used
        import importlib

        return importlib.import_module(".data", __name__)
    raise AttributeError(f"module 'tenon.utils' has no attribute '{name}'")
