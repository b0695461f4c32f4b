"""RMSprop (Tieleman and Hinton, lecture 6.5 of "Neural networks for machine learning", 2012)."""

from .. import is_complex, tensor, view_as_real, zeros_like
from .optimizer import Optimizer, checked_rate, plain


class RMSprop(Optimizer):
    """Gradient descent by gradients over the root of the running mean of their squares.

    `foreach` and `capturable` are accepted for PyTorch's sake and change nothing.
    https://pytorch.org/docs/stable/generated/torch.optim.RMSprop.html
    """

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False, foreach=None,
                 maximize=False, differentiable=False):  # fmt: skip
        checked_rate(lr)
        for name, value in (("epsilon", eps), ("momentum", momentum), ("weight_decay", weight_decay), ("alpha", alpha)):
            if not 0.0 <= value:
                raise ValueError(f"Invalid {name} value: {value}")
        super().__init__(params, {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
                                  "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable})  # fmt: skip

    def update(self, group, parameter):
        gradient = -parameter.grad if group["maximize"] else parameter.grad
        state, rate = self._state_of(group, parameter), plain(group["lr"])
        state["step"] += 1
        if group["weight_decay"] != 0:
            gradient = gradient.add(parameter, alpha=group["weight_decay"])
        names = ("square_avg", "momentum_buffer", "grad_avg")
        square, buffer, mean = (state.get(name) for name in names)
        if is_complex(parameter):
            parameter, gradient = view_as_real(parameter), view_as_real(gradient)
            square, buffer, mean = (part if part is None else view_as_real(part) for part in (square, buffer, mean))
        square.mul_(group["alpha"]).addcmul_(gradient, gradient, value=1 - group["alpha"])
        if mean is not None:
            mean.lerp_(gradient, 1 - group["alpha"])
            deviation = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            deviation = square.sqrt()
        deviation.add_(group["eps"])
        if buffer is None:
            parameter.addcdiv_(gradient, deviation, value=-rate)
        else:
            buffer.mul_(group["momentum"]).addcdiv_(gradient, deviation)
            parameter.add_(buffer, alpha=-rate)

    def _state_of(self, group, parameter):
        state = self.state[parameter]
        if not state:
            state["step"] = tensor(0.0)
            state["square_avg"] = zeros_like(parameter).detach()
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_like(parameter).detach()
            if group["centered"]:
                state["grad_avg"] = zeros_like(parameter).detach()
        return state
