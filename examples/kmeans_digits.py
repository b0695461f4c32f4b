"""k-means on handwritten digits: distances of all pairs by broadcasting [N, 1, D] against [K, D].

    python examples/kmeans_digits.py
"""

import csv
import gzip
import pathlib

import tenon

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def read_digits(path=DATA / "digits.csv.gz"):
    """1,797 pictures of 8 x 8 as [N, 64], and which digit each is."""
    with gzip.open(path, "rt", newline="") as file:
        rows = [[float(value) for value in row] for row in csv.reader(file) if row and row[0].replace(".", "", 1).isdigit()]
    table = tenon.tensor(rows)
    return table[:, :64], table[:, 64].long()


def distances(points, centers):
    """The square of every point's distance from every center, [N, K]."""
    return (points.unsqueeze(1) - centers).square().sum(-1)


def nearest(points, centers):
    """The first of the nearest centers, as a table of truths [N, K]."""
    between = distances(points, centers)
    places = tenon.arange(len(centers))
    at_least = tenon.where(between == between.amin(1, keepdim=True), places, len(centers))
    return places == at_least.amin(1, keepdim=True)


def kmeans(points, count, rounds=30, seed=0):
    tenon.manual_seed(seed)
    centers = points[tenon.randint(0, len(points), (count,))]
    for _ in range(rounds):
        members = nearest(points, centers).to(points.dtype)
        sizes = members.sum(0).unsqueeze(1)
        sums = (members.t().unsqueeze(2) * points).sum(1)
        moved = tenon.where(sizes > 0, sums / sizes, centers)
        if tenon.equal(moved, centers):
            break
        centers = moved
    return centers, nearest(points, centers)


def purity(members, labels):
    """The share of points that bear the commonest label of their cluster."""
    table = (members.unsqueeze(2) & (labels.unsqueeze(1) == tenon.arange(10)).unsqueeze(1)).sum(0)
    return table.amax(1).sum().item() / len(labels)


def picture(center):
    shades = " .:-=+*#%@"
    return ["".join(2 * shades[min(int(value / 16 * 9.99), 9)] for value in row) for row in center.view(8, 8).tolist()]


def main():
    points, labels = read_digits()
    centers, members = kmeans(points, 10)
    print(f"{len(points)} digits, {purity(members, labels):.1%} lie in a cluster of their kind")
    rows = zip(*(picture(center) for center in centers[:5]))
    print("\n".join("  ".join(row) for row in rows))
    return purity(members, labels)


if __name__ == "__main__":
    main()
