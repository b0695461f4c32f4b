"""t-SNE: the gradient by hand, compared with autograd's, then 60 steps with momentum and gains."""

import tenon as torch


def squared_distances(x):
    norm = x.pow(2).sum(1)
    return (norm[:, None] + norm[None, :] - 2 * x @ x.T).clamp(min=0)


def conditional(d, beta):
    p = torch.exp(-d * beta.unsqueeze(1))
    p.fill_diagonal_(0.0)
    return p / p.sum(dim=1, keepdim=True)


def affinities(x, perplexity):
    """Bisects the width of each point's neighbourhood."""
    d = squared_distances(x)
    target = torch.log(torch.as_tensor(float(perplexity), dtype=x.dtype))
    low, high = torch.zeros(len(x), dtype=x.dtype), torch.full((len(x),), float("inf"), dtype=x.dtype)
    beta = torch.ones_like(low)
    for _ in range(50):
        p = conditional(d, beta)
        entropy = torch.special.entr(p).sum(dim=1)
        too_wide = entropy > target
        low = torch.where(too_wide, beta, low)
        high = torch.where(too_wide, high, beta)
        beta = torch.where(torch.isinf(high), beta * 2, (low + high) / 2)
    p = (p + p.t()) / (2 * len(x))
    return p.clamp_(min=1e-12)


def low_dim(y):
    num = 1 / (1 + squared_distances(y))
    num = num * (1 - torch.eye(len(y), dtype=y.dtype))
    return num, torch.maximum(num / num.sum(), torch.tensor(1e-12, dtype=y.dtype))


def gradient(p, y):
    num, q = low_dim(y)
    weight = (p - q) * num
    return 4 * (torch.diag(weight.sum(1)) - weight) @ y


def main():
    torch.set_default_dtype(torch.float64)
    try:
        torch.manual_seed(3)
        x = torch.cat([torch.randn(20, 5) + shift for shift in (0.0, 6.0, -6.0)])
        p = affinities(x, perplexity=10)
        y = torch.randn(60, 2) * 1e-2
        tracked = y.clone().requires_grad_(True)
        loss = torch.nn.functional.kl_div(low_dim(tracked)[1].log(), p, reduction="sum")
        loss.backward()
        by_hand = gradient(p, y)
        close = torch.allclose(by_hand, tracked.grad, rtol=1e-4, atol=1e-8)
        velocity, gains = torch.zeros_like(y), torch.ones_like(y)
        for step in range(60):
            g = gradient(p * 4 if step < 20 else p, y)
            gains = torch.where(g.sign() != velocity.sign(), gains + 0.2, gains * 0.8).clamp_(min=0.01)
            velocity = (0.5 if step < 20 else 0.8) * velocity - 10 * gains * g
            y += velocity
            y -= y.mean(0)
        final = (p * (p / low_dim(y)[1]).log()).sum()
        groups = y.view(3, 20, 2)
        inside = (groups - groups.mean(1, keepdim=True)).norm(dim=-1).mean()
        print("same gradient:", close, f" divergence {loss.item():.3f} -> {final.item():.3f}")
        return {"p": p, "gradient": by_hand, "inside": inside < groups.mean(1).std(), "final": final}
    finally:
        torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
