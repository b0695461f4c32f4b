"""Not in Tenon: an import says so, and what does the same."""

from ._missing import refuse_module

refuse_module("", "fft")
