"""Adagrad (Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic optimization", 2011)."""

from .. import full_like, is_complex, tensor, view_as_real
from .optimizer import Optimizer, checked_rate, plain


class Adagrad(Optimizer):
    """Gradient descent by gradients over the root of the sum of their squares.

    `foreach` and `fused` are accepted for PyTorch's sake and change nothing.
    https://pytorch.org/docs/stable/generated/torch.optim.Adagrad.html
    """

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False,
                 differentiable=False, fused=None):  # fmt: skip
        checked_rate(lr)
        for name, value in (("lr_decay", lr_decay), ("weight_decay", weight_decay), ("initial_accumulator_value", initial_accumulator_value), ("epsilon", eps)):
            if not 0.0 <= value:
                raise ValueError(f"Invalid {name} value: {value}")
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay, "initial_accumulator_value": initial_accumulator_value,
                                  "foreach": foreach, "maximize": maximize, "differentiable": differentiable, "fused": fused})  # fmt: skip
        start = complex(initial_accumulator_value, initial_accumulator_value)
        for parameter in self._parameters():
            sum = full_like(parameter, start if is_complex(parameter) else initial_accumulator_value).detach()
            self.state[parameter].update(step=tensor(0.0), sum=sum)

    def update(self, group, parameter):
        gradient = -parameter.grad if group["maximize"] else parameter.grad
        state = self.state[parameter]
        state["step"] += 1
        if group["weight_decay"] != 0:
            gradient = gradient.add(parameter, alpha=group["weight_decay"])
        rate = plain(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        sum = state["sum"]
        if is_complex(parameter):
            parameter, gradient, sum = (view_as_real(part) for part in (parameter, gradient, sum))
        sum.addcmul_(gradient, gradient, value=1)
        parameter.addcdiv_(gradient, sum.sqrt().add_(group["eps"]), value=-rate)
