"""Embeddings of points by a triplet loss, with margins that the other metric losses check."""

import tenon as torch
import tenon.nn.functional as F


def embed(x, weights):
    for weight in weights[:-1]:
        x = F.gelu(x @ weight)
    return F.normalize(x @ weights[-1], p=2, dim=-1)


def main():
    torch.manual_seed(8)
    x = torch.randn(60, 4)
    label = (x[:, 0] * x[:, 1] > 0).long() + 2 * (x[:, 2] > 0).long()
    weights = [(torch.randn(*size) * 0.5).requires_grad_() for size in ((4, 16), (16, 16), (16, 3))]
    optimizer = torch.optim.Adam(weights, lr=0.02)
    same = label[:, None].eq(label).fill_diagonal_(False)
    losses = []
    for _ in range(40):
        positive = torch.multinomial(same.float(), 1, replacement=True).flatten()
        negative = torch.multinomial((label[:, None] != label).float(), 1, replacement=True).squeeze(-1)
        e = embed(x, weights)
        loss = F.triplet_margin_loss(e, e[positive], e[negative], margin=0.5, swap=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        e = embed(x, weights)
        distance = torch.cdist(e, e)
        centers = torch.zeros(4, 3).index_add_(0, label, e) / torch.bincount(label, minlength=4)[:, None]
        scores = e @ F.normalize(centers, dim=1).T
        right = (scores.argmax(1) == label).float().mean()
        checks = torch.stack([
            F.multi_margin_loss(scores, label),
            F.multilabel_soft_margin_loss(scores, F.one_hot(label, 4).float()),
            F.cosine_embedding_loss(e[:-1], e[1:], same[:-1, 1:].diagonal().float() * 2 - 1, margin=0.2),
            F.margin_ranking_loss(distance[0, 1:], distance[1, 1:], torch.ones(59)),
            F.hinge_embedding_loss(distance[0], same[0].float() * 2 - 1),
        ])
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, nearest centre right: {right:.2f}")
    return {"losses": torch.tensor(losses), "checks": checks, "right": right}


if __name__ == "__main__":
    main()
