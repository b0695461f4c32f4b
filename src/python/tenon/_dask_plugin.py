"""What Dask loads when it is imported: the entry point of dask.sizeof in pyproject.toml. It costs no import of Tenon's."""

import importlib.util
import sys


class _AfterImport:
    """Calls a function after the first import of a module. Dask has entry points for sizes, but none for lookups of arrays."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def find_spec(self, name, path=None, target=None):
        if name != self.name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.function()

        spec.loader.exec_module = exec_module
        return spec


def _register_arrays():
    from . import dask as _


def register(sizeof):
    """Registers tensors with Dask: their sizes now, the lookups of dask.array when that is imported."""

    @sizeof.register_lazy("tenon")
    def _():
        from ._tensor import Tensor, used_nbytes

        sizeof.register(Tensor, used_nbytes)

    if "dask.array.backends" in sys.modules:
        _register_arrays()
    else:
        sys.meta_path.insert(0, _AfterImport("dask.array.backends", _register_arrays))
