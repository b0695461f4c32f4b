"""A mixture of Gaussians, fitted by expectation and maximisation."""

import math

import tenon as torch


def log_density(x, mean, variance):
    return -0.5 * ((x[:, None] - mean) ** 2 / variance + torch.log(2 * math.pi * variance))


def main():
    torch.manual_seed(9)
    choice = torch.multinomial(torch.tensor([0.3, 0.5, 0.2]), 600, replacement=True)
    true_mean = torch.tensor([-3.0, 0.0, 4.0], dtype=torch.float64)
    x = torch.normal(true_mean[choice], torch.tensor([0.5, 1.0, 0.8], dtype=torch.float64)[choice])
    mean = torch.quantile(x, torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64))
    variance = torch.full((3,), x.var().item(), dtype=torch.float64)
    weight = torch.full((3,), 1 / 3, dtype=torch.float64)
    for _ in range(60):
        joint = log_density(x, mean, variance) + weight.log()
        evidence = torch.logsumexp(joint, dim=1, keepdim=True)
        share = (joint - evidence).exp()
        total = share.sum(dim=0)
        weight = total / len(x)
        mean = (share * x[:, None]).sum(dim=0) / total
        variance = (share * (x[:, None] - mean) ** 2).sum(dim=0) / total
    print("means", [round(value, 2) for value in mean.tolist()], "weights", [round(value, 2) for value in weight.tolist()])
    return {"mean": mean, "variance": variance, "weight": weight, "likelihood": evidence.sum()}


if __name__ == "__main__":
    main()
