"""TransE: entities and relations as vectors, h + r near t; a margin ranking loss, filtered ranks, and graph statistics by index."""

import tenon as torch
import tenon.nn.functional as F


def main():
    torch.manual_seed(31)
    n = 24
    triples = []
    for i in range(n):
        triples += [(i, 0, (i + 1) % n), (i, 1, (i + 6) % n), (i, 2, (i * 2) % n)]
    triples = torch.LongTensor(triples)
    entity = torch.nn.init.xavier_uniform_(torch.empty(n, 16)).requires_grad_()
    relation = torch.nn.init.xavier_uniform_(torch.empty(3, 16)).requires_grad_()
    optimizer = torch.optim.Adagrad([entity, relation], lr=0.1)
    facts = torch.zeros(n, 3, n, dtype=torch.bool)
    facts[triples[:, 0], triples[:, 1], triples[:, 2]] = True
    log = []
    for epoch in range(40):
        with torch.no_grad():
            entity.copy_(F.normalize(entity, p=2, dim=1))
        corrupted = triples.clone()
        head = torch.rand(len(triples)) < 0.5
        corrupted[head, 0] = torch.randint(n, (int(head.sum()),))
        corrupted[~head, 2] = torch.randint(n, (int((~head).sum()),))

        def distance(t):
            return (entity[t[:, 0]] + relation[t[:, 1]] - entity[t[:, 2]]).norm(p=1, dim=1)

        positive, negative = distance(triples), distance(corrupted)
        loss = F.margin_ranking_loss(positive, negative, -torch.ones_like(positive), margin=1.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.append(loss.item())
    with torch.no_grad():
        moved = entity[triples[:, 0]] + relation[triples[:, 1]]
        all_distances = torch.cdist(moved, entity, p=1)
        known = facts[triples[:, 0], triples[:, 1]]
        own = all_distances.gather(1, triples[:, 2:])
        rivals = all_distances.masked_fill(known, float("inf"))
        rank = 1 + (rivals < own).sum(1)
    in_degree = torch.zeros(n, dtype=torch.long).index_add_(0, triples[:, 2], torch.ones(len(triples), dtype=torch.long))
    mean_rank = torch.zeros(3).index_add(0, triples[:, 1], rank.float()) / torch.bincount(triples[:, 1])
    worst = torch.zeros(3).scatter_reduce(0, triples[:, 1], rank.float(), reduce="amax", include_self=False)
    mrr = (1 / rank).mean()
    degrees, counts = in_degree.unique(sorted=True, return_counts=True)
    print(f"loss {log[0]:.3f} -> {log[-1]:.3f}; mean reciprocal rank {mrr:.3f}; hits@3 {(rank <= 3).float().mean():.2f}")
    print("in-degrees", list(zip(degrees.tolist(), counts.tolist())))
    return {"log": torch.tensor(log), "mean_rank": mean_rank, "worst": worst, "mrr": mrr, "in_degree": in_degree}


if __name__ == "__main__":
    main()
