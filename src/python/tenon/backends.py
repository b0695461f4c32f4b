"""What programs ask of PyTorch's backends before they use them: there are none here. Settings are kept and change nothing."""

import sys
import types

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]


def _module(name, **contents):
    """A module that `import tenon.backends.NAME` finds, too."""
    module = types.ModuleType(f"{__name__}.{name}", "Asked for by programs; there is no such backend here.")
    module.__dict__.update(contents)
    return sys.modules.setdefault(module.__name__, module)


def _backend(name, **settings):
    return _module(name, is_available=lambda: False, is_built=lambda: False, **settings)


cudnn = _backend("cudnn", enabled=True, deterministic=False, benchmark=False, allow_tf32=True, version=lambda: None)
cuda = _backend("cuda", matmul=types.SimpleNamespace(allow_tf32=False))
mps, mkl, mkldnn, openmp = (_backend(name) for name in ("mps", "mkl", "mkldnn", "openmp"))
cpu = _module("cpu", get_cpu_capability=lambda: "DEFAULT")
