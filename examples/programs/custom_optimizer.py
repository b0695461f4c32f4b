"""An optimizer, a schedule of the learning rate and a function with a derivative of its own, as programs write them."""

import tenon as torch
from tenon.autograd import Function
from tenon.autograd.function import once_differentiable
from tenon.optim import Optimizer
from tenon.optim.lr_scheduler import _LRScheduler


class Lion(Optimizer):
    def __init__(self, params, lr=1e-2, betas=(0.9, 0.99), weight_decay=0.0):
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                beta1, beta2 = group["betas"]
                update = state["exp_avg"].mul(beta1).add(p.grad, alpha=1 - beta1).sign_()
                p.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-group["lr"])
                state["exp_avg"].mul_(beta2).add_(p.grad, alpha=1 - beta2)
        return loss


class Warmup(_LRScheduler):
    def __init__(self, optimizer, steps, last_epoch=-1):
        self.steps = steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * min(1.0, (self.last_epoch + 1) / self.steps) for base in self.base_lrs]


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        share = x.sigmoid()
        ctx.save_for_backward(x, share)
        return x * share

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, share = ctx.saved_tensors
        return grad * (share + x * share * (1 - share)) if ctx.needs_input_grad[0] else None


def main():
    torch.manual_seed(5)
    weight, bias = torch.nn.Parameter(torch.randn(3, 2)), torch.nn.Parameter(torch.zeros(2))
    x, y = torch.randn(16, 3), torch.randn(16, 2)
    optimizer = Lion([{"params": [weight], "weight_decay": 0.1}, {"params": [bias], "lr": 0.05}], lr=0.02)
    schedule = Warmup(optimizer, steps=4)

    def closure():
        optimizer.zero_grad()
        loss = ((Swish.apply(x @ weight + bias) - y) ** 2).mean()
        loss.backward()
        return loss

    losses = []
    for epoch in range(8):
        losses.append(optimizer.step(closure).detach())
        schedule.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch} loss {losses[-1].item():.3f} rates", [round(rate, 4) for rate in schedule.get_last_lr()])
    again = Lion([{"params": [weight]}, {"params": [bias]}])
    again.load_state_dict(optimizer.state_dict())
    print([group["weight_decay"] for group in again.param_groups])
    return {"losses": torch.stack(losses), "weight": weight, "bias": bias, "average": again.state[weight]["exp_avg"]}


if __name__ == "__main__":
    main()
