"""A network of two layers learns two spirals; Adam and clipped gradients."""

import math

import tenon as torch
import tenon.nn.functional as F


def spirals(count):
    t = torch.linspace(0.5, 3 * math.pi, count, dtype=torch.float64)
    arm = torch.stack([t * torch.cos(t), t * torch.sin(t)], dim=1) / 10
    points = torch.cat([arm, -arm]) + 0.01 * torch.randn(2 * count, 2, dtype=torch.float64)
    return points, torch.cat([torch.zeros(count), torch.ones(count)]).double()


def main():
    torch.manual_seed(7)
    points, labels = spirals(60)
    sizes = [2, 24, 24, 1]
    parameters = []
    for n_in, n_out in zip(sizes, sizes[1:]):
        bound = 1 / math.sqrt(n_in)
        parameters.append(torch.empty(n_out, n_in, dtype=torch.float64).uniform_(-bound, bound).requires_grad_())
        parameters.append(torch.zeros(n_out, dtype=torch.float64, requires_grad=True))
    optimizer = torch.optim.Adam(parameters, lr=0.02)
    losses = []
    for _ in range(60):
        hidden = points
        for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2]):
            hidden = torch.tanh(F.linear(hidden, weight, bias))
        logits = F.linear(hidden, parameters[-2], parameters[-1]).squeeze(-1)
        loss = F.binary_cross_entropy_with_logits(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm=1.0)
        optimizer.step()
        losses.append(loss.detach())
    accuracy = ((logits > 0) == (labels > 0.5)).double().mean()
    print(f"loss {losses[0].item():.4f} -> {losses[-1].item():.4f}, accuracy {accuracy.item():.2f}")
    return {"losses": torch.stack(losses), "norm": norm, "bias": parameters[1]}


if __name__ == "__main__":
    main()
