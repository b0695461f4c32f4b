"""What programs ask of PyTorch's backends before they use them: there are none here. Settings are kept and change nothing."""

import types

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]


def _backend(name, **settings):
    module = types.SimpleNamespace(**settings)
    module.is_available = module.is_built = lambda: False
    module.__name__ = f"tenon.backends.{name}"
    return module


cudnn = _backend("cudnn", enabled=True, deterministic=False, benchmark=False, allow_tf32=True, version=lambda: None)
cuda = _backend("cuda", matmul=types.SimpleNamespace(allow_tf32=False))
mps, mkl, mkldnn, openmp = (_backend(name) for name in ("mps", "mkl", "mkldnn", "openmp"))
cpu = types.SimpleNamespace(get_cpu_capability=lambda: "DEFAULT")
