"""Moving averages, volatility and drawdown of a series of prices."""

import tenon as torch


def main():
    torch.manual_seed(5)
    prices = 100 * torch.exp(torch.cumsum(0.01 * torch.randn(250, dtype=torch.float64), dim=0))
    returns = torch.diff(torch.log(prices))
    windows = prices.unfold(0, 20, 1)
    average, deviation = windows.mean(dim=-1), windows.std(dim=-1)
    upper, lower = average + 2 * deviation, average - 2 * deviation
    last = prices[19:]
    outside = torch.where(last > upper, 1, torch.where(last < lower, -1, 0))
    peak = torch.cummax(prices, dim=0).values
    drawdown = (prices - peak) / peak
    weights = 0.94 ** torch.arange(len(returns) - 1, -1, -1, dtype=torch.float64)
    ewma = torch.sqrt((weights * returns**2).sum() / weights.sum())
    median = prices.unfold(0, 5, 1).median(dim=-1).values
    print(f"worst drawdown {drawdown.min().item():.2%} on day {drawdown.argmin().item()}, volatility {ewma.item():.4f}")
    return {"average": average, "outside": outside, "drawdown": drawdown, "ewma": ewma, "median": median,
            "counts": torch.unique(outside, return_counts=True)[1]}  # fmt: skip


if __name__ == "__main__":
    main()
