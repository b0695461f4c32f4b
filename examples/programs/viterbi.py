"""The likeliest hidden states of a chain (Viterbi), and the probability of what was seen (forward)."""

import tenon as torch


def main():
    start = torch.tensor([0.6, 0.4], dtype=torch.float64).log()
    move = torch.tensor([[0.7, 0.3], [0.4, 0.6]], dtype=torch.float64).log()
    emit = torch.tensor([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]], dtype=torch.float64).log()
    seen = torch.tensor([0, 1, 2, 2, 1, 0, 0, 1, 2, 0])
    best, forward, backward = start + emit[:, seen[0]], start + emit[:, seen[0]], []
    for code in seen[1:]:
        best, source = torch.max(best[:, None] + move, dim=0)
        best = best + emit[:, code]
        forward = torch.logsumexp(forward[:, None] + move, dim=0) + emit[:, code]
        backward.append(source)
    path = [best.argmax().item()]
    for source in reversed(backward):
        path.append(source[path[-1]].item())
    path.reverse()
    print("states", path, f"log likelihood {torch.logsumexp(forward, 0).item():.4f}")
    return {"path": torch.tensor(path), "best": best.max(), "forward": forward, "running": torch.logcumsumexp(forward, dim=0)}


if __name__ == "__main__":
    main()
