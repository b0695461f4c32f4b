"""PageRank of a small web, and shortest paths between its pages."""

import tenon as torch


def main():
    links = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (4, 3), (4, 0), (5, 4), (2, 5), (1, 5)]
    source, target = torch.tensor(links).unbind(dim=1)
    n, damping = 6, 0.85
    out_degree = torch.zeros(n, dtype=torch.float64).scatter_add_(0, source, torch.ones(len(links), dtype=torch.float64))
    rank = torch.full((n,), 1 / n, dtype=torch.float64)
    for _ in range(100):
        shares = rank[source] / out_degree[source]
        moved = torch.zeros_like(rank).index_add_(0, target, shares)
        previous, rank = rank, (1 - damping) / n + damping * moved
        if torch.dist(previous, rank, p=1) < 1e-12:
            break
    distance = torch.full((n, n), float("inf"), dtype=torch.float64)
    distance.fill_diagonal_(0)
    distance[source, target] = 1.0
    for k in range(n):
        distance = torch.minimum(distance, distance[:, k : k + 1] + distance[k : k + 1])
    order = torch.argsort(rank, descending=True)
    print("pages by rank:", order.tolist())
    reachable = torch.matrix_power(torch.eye(n, dtype=torch.float64).index_put((source, target), torch.ones(len(links), dtype=torch.float64)), n) > 0
    return {"rank": rank, "distance": distance, "order": order, "reachable": reachable}


if __name__ == "__main__":
    main()
