"""Optimizers with PyTorch's arguments, steps and states, and learning rates that change.

https://pytorch.org/docs/stable/optim.html
"""

from . import lr_scheduler
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .rmsprop import RMSprop
from .sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]


def __getattr__(name):
    from .. import _missing

    _missing.refuse("optim", name)
