"""Pi by random points, and the price of a call option by random paths."""

import math

import tenon as torch


def main():
    torch.manual_seed(4)
    points = torch.rand(20000, 2, dtype=torch.float64)
    inside = (points.square().sum(dim=1) <= 1).double()
    pi = 4 * inside.mean()
    error = 4 * inside.std() / math.sqrt(len(points))

    start, strike, rate, volatility, years, steps = 100.0, 105.0, 0.03, 0.2, 1.0, 50
    dt = years / steps
    shocks = torch.randn(4000, steps, dtype=torch.float64)
    log_returns = (rate - volatility**2 / 2) * dt + volatility * math.sqrt(dt) * shocks
    paths = start * torch.exp(torch.cumsum(log_returns, dim=1))
    payoff = torch.relu(paths[:, -1] - strike)
    price = math.exp(-rate * years) * payoff.mean()
    asian = math.exp(-rate * years) * torch.clamp(paths.mean(dim=1) - strike, min=0).mean()
    lowest = torch.cummin(paths, dim=1).values[:, -1]
    print(f"pi {pi.item():.4f} +- {error.item():.4f}; call {price.item():.3f}, Asian call {asian.item():.3f}")
    return {"pi": pi, "price": price, "asian": asian, "quantiles": torch.quantile(paths[:, -1], torch.tensor([0.05, 0.5, 0.95], dtype=torch.float64)),
            "knocked_out": (lowest < 80).sum()}  # fmt: skip


if __name__ == "__main__":
    main()
