"""Versions: of Tenon, and of what it does not use."""

from . import __version__

cuda = hip = xpu = None
debug = False
