"""Principal components by power iteration, and the data projected on them."""

import tenon as torch


def power_iteration(matrix, steps=200):
    vector = torch.ones(matrix.shape[0], dtype=matrix.dtype)
    for _ in range(steps):
        vector = matrix @ vector
        vector = vector / torch.linalg.vector_norm(vector)
    return vector, torch.dot(vector, matrix @ vector)


def main():
    torch.manual_seed(1)
    mixing = torch.tensor([[3.0, 1.0, 0.5], [0.0, 1.0, -0.5], [0.0, 0.0, 0.2]], dtype=torch.float64)
    data = torch.randn(300, 3, dtype=torch.float64) @ mixing + torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    centered = data - data.mean(dim=0, keepdim=True)
    covariance = torch.cov(centered.T)
    left, components, variances = covariance.clone(), [], []
    for _ in range(2):
        vector, value = power_iteration(left)
        left = left - value * torch.outer(vector, vector)
        components.append(vector)
        variances.append(value)
    components = torch.stack(components)
    projected = centered @ components.mT
    explained = torch.stack(variances) / torch.trace(covariance)
    print("explained variance:", [round(share, 4) for share in explained.tolist()])
    return {"components": components, "explained": explained, "spread": projected.std(dim=0), "correlation": torch.corrcoef(data.T)}


if __name__ == "__main__":
    main()
