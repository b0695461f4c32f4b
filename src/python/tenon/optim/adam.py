"""Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015) and AdamW (Loshchilov and Hutter, "Decoupled weight
decay regularization", 2019)."""

from .. import is_complex, maximum, tensor, view_as_real, zeros_like
from .optimizer import Optimizer, checked_rate, plain


class Adam(Optimizer):
    """Gradient descent by running means of gradients and of their squares.

    `foreach`, `fused` and `capturable` are accepted for PyTorch's sake and change nothing.
    https://pytorch.org/docs/stable/generated/torch.optim.Adam.html
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False, fused=None, decoupled_weight_decay=False):  # fmt: skip
        checked_rate(lr)
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        betas = tuple(plain(beta) for beta in betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
                                  "capturable": capturable, "differentiable": differentiable, "fused": fused, "decoupled_weight_decay": decoupled_weight_decay})  # fmt: skip

    def update(self, group, parameter):
        gradient = -parameter.grad if group["maximize"] else parameter.grad
        state, rate = self._state_of(group, parameter), plain(group["lr"])
        state["step"] += 1
        if group["weight_decay"] != 0 and group["decoupled_weight_decay"]:
            parameter.mul_(1 - rate * group["weight_decay"])
        elif group["weight_decay"] != 0:
            gradient = gradient.add(parameter, alpha=group["weight_decay"])
        means = [state[name] for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if name in state]
        if is_complex(parameter):
            parameter, gradient, *means = (view_as_real(part) for part in (parameter, gradient, *means))
        mean, square, *largest = means
        beta1, beta2 = group["betas"]
        steps = state["step"].item()
        mean.lerp_(gradient, 1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        for bound in largest:
            square = maximum(bound, square, out=bound)
        deviation = (square.sqrt() / (1 - beta2**steps) ** 0.5).add_(group["eps"])
        parameter.addcdiv_(mean, deviation, value=-rate / (1 - beta1**steps))

    def _state_of(self, group, parameter):
        state = self.state[parameter]
        if not state:
            state["step"] = tensor(0.0)
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(parameter).detach(), zeros_like(parameter).detach()
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_like(parameter).detach()
        return state


class AdamW(Adam):
    """Adam whose weight decay does not enter the running means.

    https://pytorch.org/docs/stable/generated/torch.optim.AdamW.html
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False, foreach=None, capturable=False,
                 differentiable=False, fused=None):  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable, differentiable=differentiable,
                         fused=fused, decoupled_weight_decay=True)  # fmt: skip
