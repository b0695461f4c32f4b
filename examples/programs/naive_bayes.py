"""Gaussian naive Bayes and nearest neighbours on the same points."""

import math

import tenon as torch


def main():
    torch.manual_seed(8)
    labels = torch.randint(0, 3, (150,))
    means = torch.tensor([[0.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 2.0, -2.0]], dtype=torch.float64)
    x = means[labels] + torch.randn(150, 3, dtype=torch.float64)
    train, test = x[:100], x[100:]
    groups = [train[labels[:100] == k] for k in range(3)]
    mu = torch.stack([g.mean(dim=0) for g in groups])
    var = torch.stack([g.var(dim=0, correction=0) for g in groups])
    prior = torch.tensor([len(g) for g in groups], dtype=torch.float64) / 100
    log_likelihood = -0.5 * ((test[:, None] - mu) ** 2 / var + torch.log(2 * math.pi * var)).sum(dim=-1)
    joint = log_likelihood + prior.log()
    posterior = torch.exp(joint - torch.logsumexp(joint, dim=1, keepdim=True))
    bayes = posterior.argmax(dim=1)

    distance, neighbours = torch.cdist(test, train, p=1).topk(7, dim=1, largest=False)
    votes = labels[neighbours]
    knn = votes.mode(dim=1).values
    truth = labels[100:]
    print(f"naive Bayes {(bayes == truth).double().mean().item():.2f}, 7 neighbours {(knn == truth).double().mean().item():.2f}")
    return {"posterior": posterior, "farthest": distance[:, -1], "knn": knn, "bayes": bayes}


if __name__ == "__main__":
    main()
