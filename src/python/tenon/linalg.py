"""What there is of torch.linalg."""

from . import linalg_vector_norm as vector_norm
