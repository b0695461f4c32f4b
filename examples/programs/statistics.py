"""Descriptive statistics of measurements with gaps."""

import tenon as torch


def main():
    torch.manual_seed(14)
    table = torch.randn(40, 4, dtype=torch.float64) * torch.tensor([1.0, 2.0, 0.5, 10.0], dtype=torch.float64) + 5
    table[torch.rand(40, 4) < 0.1] = float("nan")
    missing = torch.isnan(table)
    filled = torch.where(missing, torch.nanmedian(table, dim=0).values, table)
    z = (filled - filled.mean(dim=0)) / filled.std(dim=0)
    edges = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)
    classes = torch.bucketize(z, edges)
    counts = torch.stack([torch.bincount(column, minlength=4) for column in classes.T])
    ranks = filled.argsort(dim=0, stable=True).argsort(dim=0)  # filled gaps are equal
    first, second = ranks[:, 0].double(), ranks[:, 1].double()
    spearman = torch.corrcoef(torch.stack([first, second]))[0, 1]
    low, high = torch.nanquantile(table, torch.tensor([0.25, 0.75], dtype=torch.float64), dim=0)
    variance, mean = torch.var_mean(filled, dim=0)
    outliers = (z.abs() > 2).any(dim=1).nonzero().squeeze(1)
    trimmed = torch.sort(filled, dim=0).values[4:-4].mean(dim=0)
    print("mean", [round(value, 2) for value in torch.nanmean(table, dim=0).tolist()], "missing", missing.sum(dim=0).tolist())
    return {"counts": counts, "spearman": spearman, "spread": high - low, "variance": variance, "mean": mean, "outliers": outliers,
            "trimmed": trimmed, "third": torch.kthvalue(filled, 3, dim=0).values, "product": torch.cumprod(z[:5], dim=0)}  # fmt: skip


if __name__ == "__main__":
    main()
