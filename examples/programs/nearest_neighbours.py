"""Classification by the k nearest neighbours, with leave-one-out validation and a confusion matrix."""

import tenon as torch


def predict(train_x, train_y, x, k, classes):
    distance = torch.cdist(x, train_x)
    distance, nearest = torch.topk(distance, k, dim=1, largest=False)
    votes = torch.zeros(len(x), classes, dtype=x.dtype)
    weight = 1 / distance.clamp(min=1e-9)
    votes.scatter_add_(1, train_y[nearest], weight)
    return votes.max(1)[1], votes


def main():
    torch.manual_seed(2)
    centers = torch.DoubleTensor([[0, 0], [2.5, 0], [1, 2]])
    y = torch.arange(90) % 3
    x = centers[y] + torch.randn(90, 2, dtype=torch.float64)
    mean, std = x.mean(0, keepdim=True), x.std(0, unbiased=True, keepdim=True)
    x = (x - mean) / std
    keep = ~torch.eye(90, dtype=torch.bool)
    scores = {}
    for k in (1, 3, 5, 9):
        hits = 0
        for i in range(90):
            guess, _ = predict(x[keep[i]], y[keep[i]], x[i : i + 1], k, 3)
            hits += int(guess.item() == y[i])
        scores[k] = hits / 90
    best = max(scores, key=scores.get)
    guess, votes = predict(x, y, torch.randn(60, 2, dtype=torch.float64), best, 3)
    confusion = torch.zeros(3, 3, dtype=torch.int64)
    everyone, _ = predict(x, y, x + 1e-3, best, 3)
    confusion.index_put_((y, everyone), torch.ones(90, dtype=torch.int64), accumulate=True)
    precision = confusion.diag().float() / confusion.sum(0).clamp_min(1)
    values, counts = guess.unique(return_counts=True)
    print("scores", {k: round(v, 3) for k, v in scores.items()}, "best k", best)
    print(confusion)
    print("drawn", dict(zip(values.tolist(), counts.tolist())))
    return {"confusion": confusion, "precision": precision, "votes": votes, "share": votes / votes.sum(-1, True)}


if __name__ == "__main__":
    main()
