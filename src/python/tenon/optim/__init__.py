"""Optimizers with PyTorch's arguments, steps and states: SGD, Adam and AdamW.

https://pytorch.org/docs/stable/optim.html
"""

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
