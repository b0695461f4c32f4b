"""MAML on sine waves by functions of functions: gradients through a step of training, Jacobians of several results, gradients
of each sample."""

import tenon as torch
import tenon.nn.functional as F
from tenon.func import grad, grad_and_value, jacrev, vjp, vmap


def model(parameters, x):
    hidden = torch.tanh(x @ parameters["weight"] + parameters["bias"])
    return (hidden @ parameters["out"]).squeeze(-1)


def loss_of(parameters, x, y):
    return F.mse_loss(model(parameters, x), y)


def adapted(parameters, x, y, rate=0.1):
    gradients = grad(loss_of)(parameters, x, y)
    return {name: parameter - rate * gradients[name] for name, parameter in parameters.items()}


def main():
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    try:
        parameters = {"weight": torch.randn(1, 8) * 0.5, "bias": torch.zeros(8), "out": torch.randn(8, 1) * 0.5}
        height, phase = torch.rand(4, 1) * 4 + 1, torch.rand(4, 1) * 3
        x = torch.rand(4, 10, 1) * 10 - 5
        y = height * torch.sin(x.squeeze(-1) + phase)

        def after_a_step(parameters):
            return torch.stack([loss_of(adapted(parameters, a[:5], b[:5]), a[5:], b[5:]) for a, b in zip(x, y)]).mean()

        losses = []
        for _ in range(5):
            gradients, loss = grad_and_value(after_a_step)(parameters)
            parameters = {name: parameter - 0.01 * gradients[name] for name, parameter in parameters.items()}
            losses.append(loss.item())
        print("losses", " ".join(f"{loss:.4f}" for loss in losses))

        of_samples = vmap(grad(loss_of), in_dims=(None, 0, 0))(parameters, x[0].unsqueeze(1), y[0].unsqueeze(1))
        fisher = {name: gradient.square().mean(0) for name, gradient in of_samples.items()}
        of_height, of_slope = jacrev(lambda t: (model(parameters, t[:, None]), t.sum()), argnums=0)(torch.linspace(-1, 1, 3))
        results, pull = vjp(lambda a, b: (a @ b, a.sum()), torch.eye(2), torch.arange(4.0).reshape(2, 2))
        by_left, by_right = pull((torch.ones(2, 2), torch.tensor(1.0)))
        print("results", [tuple(result.shape) for result in results], "jacobian", of_height.diagonal())
        return {"losses": torch.tensor(losses), **fisher, "of_height": of_height, "of_slope": of_slope, "by_left": by_left, "by_right": by_right}
    finally:
        torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
