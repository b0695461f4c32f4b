"""Switches that PyTorch keeps here."""

from . import backcompat
