"""k-means clustering (Lloyd's algorithm) of points around four centers."""

import tenon as torch


def main():
    torch.manual_seed(0)
    true_centers = torch.tensor([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]], dtype=torch.float64)
    points = (true_centers.repeat_interleave(50, dim=0) + torch.randn(200, 2, dtype=torch.float64)).contiguous()
    centers = points[torch.randperm(200)[:4]].clone()
    for step in range(20):
        distances = torch.cdist(points, centers)
        nearest = distances.argmin(dim=1)
        members = torch.nn.functional.one_hot(nearest, num_classes=4).to(points.dtype)
        counts = members.sum(dim=0).clamp(min=1)
        moved = members.T @ points / counts.unsqueeze(1)
        if torch.allclose(moved, centers):
            break
        centers = moved
    inertia = distances.min(dim=1).values.square().sum()
    print(f"{step + 1} steps, inertia {inertia.item():.3f}")
    return {"centers": centers, "sizes": torch.bincount(nearest, minlength=4), "inertia": inertia}


if __name__ == "__main__":
    main()
