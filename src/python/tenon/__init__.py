"""Tenon: tensors whose broadcasting is exactly PyTorch's."""

from ._tenon import *
from ._tenon import __version__, bool, float, int
