"""Counts of pairs of letters, and text drawn from them."""

import tenon as torch

TEXT = "the quick brown fox jumps over the lazy dog while the other dogs watch the fox and the birds sing over there"


def main():
    letters = sorted(set(TEXT))
    index = {letter: i for i, letter in enumerate(letters)}
    codes = torch.tensor([index[letter] for letter in TEXT])
    n = len(letters)
    counts = torch.zeros(n, n)
    counts.index_put_((codes[:-1], codes[1:]), torch.ones(len(codes) - 1), accumulate=True)
    assert torch.equal(counts.view(-1), torch.bincount(codes[:-1] * n + codes[1:], minlength=n * n).float())
    probability = (counts + 0.1) / (counts + 0.1).sum(dim=1, keepdim=True)
    torch.manual_seed(12)
    drawn = [index["t"]]
    cumulative = probability.cumsum(dim=1)
    for _ in range(60):
        drawn.append(torch.searchsorted(cumulative[drawn[-1]], torch.rand(())).clamp(max=n - 1).item())
    print("".join(letters[code] for code in drawn))
    pairs = torch.nn.functional.one_hot(codes, n).float()
    entropy = -(probability * probability.log2()).sum(dim=1)
    nll = torch.nn.functional.nll_loss(probability.log()[codes[:-1]], codes[1:])
    ranked = torch.topk(pairs.mean(dim=0), 3)
    return {"drawn": torch.tensor(drawn), "entropy": entropy, "nll": nll, "common": ranked.values}


if __name__ == "__main__":
    main()
