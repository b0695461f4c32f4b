"""What is saved for backward. There is one device, so nothing has to be moved away meanwhile.

https://docs.pytorch.org/docs/stable/autograd.html#saved-tensors
"""

import contextlib

__all__ = ["disable_saved_tensors_hooks", "save_on_cpu"]


@contextlib.contextmanager
def save_on_cpu(pin_memory=False, device_type="cuda"):
    """Changes nothing: what is saved is in this memory."""
    yield


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Changes nothing: there are no hooks."""
    yield


def __getattr__(name):
    from .. import _missing

    _missing.refuse("autograd.graph", name)
