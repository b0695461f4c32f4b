"""Stochastic gradient descent, with momentum."""

from .optimizer import Optimizer, checked_rate, plain


class SGD(Optimizer):
    """Gradient descent: p -= lr * g, where g may be the running sum of gradients (momentum).

    `foreach` and `fused` are accepted for PyTorch's sake and change nothing.
    https://pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None, differentiable=False, fused=None):
        checked_rate(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
                                  "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})  # fmt: skip

    def update(self, group, parameter):
        gradient = -parameter.grad if group["maximize"] else parameter.grad
        if group["weight_decay"] != 0:
            gradient = gradient.add(parameter, alpha=plain(group["weight_decay"]))
        if group["momentum"] != 0:
            gradient = self._with_momentum(group, parameter, gradient)
        parameter.add_(gradient, alpha=-plain(group["lr"]))

    def _with_momentum(self, group, parameter, gradient):
        state = self.state[parameter]
        if state.get("momentum_buffer") is None:
            state["momentum_buffer"] = gradient.detach().clone()
        else:
            state["momentum_buffer"].mul_(group["momentum"]).add_(gradient, alpha=1 - group["dampening"])
        if group["nesterov"]:
            return gradient.add(state["momentum_buffer"], alpha=group["momentum"])
        return state["momentum_buffer"]
