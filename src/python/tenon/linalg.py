"""The functions of torch.linalg that exist here."""

from . import linalg_vector_norm as vector_norm

__all__ = ["vector_norm"]
