"""Memory of other libraries, by PyTorch's older names.

https://pytorch.org/docs/stable/dlpack.html
"""

from .. import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor):
    """The tensor as a capsule of DLPack."""
    return tensor.__dlpack__()
