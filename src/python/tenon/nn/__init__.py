"""torch.nn.functional as far as it exists here. There are no modules: Tenon is no deep-learning framework."""

from . import functional, init, utils
from .parameter import Parameter

__all__ = ["Parameter", "functional", "init", "utils"]


def __getattr__(name):
    from .. import _missing

    _missing.refuse("nn", name)
