"""torch.nn.functional as far as it exists here. There are no modules: Tenon is no deep-learning framework."""

from . import functional, utils

__all__ = ["functional", "utils"]


def __getattr__(name):
    from .. import _missing

    _missing.refuse("nn", name)
