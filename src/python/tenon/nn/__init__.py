"""torch.nn.functional as far as it exists here. There are no modules: Tenon is no deep-learning framework."""

from . import functional, utils

__all__ = ["functional", "utils"]
