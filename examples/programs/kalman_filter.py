"""A Kalman filter follows a moving point from noisy positions."""

import tenon as torch


def main():
    torch.manual_seed(11)
    dt, steps = 0.1, 60
    move = torch.eye(4, dtype=torch.float64)
    move[0, 2] = move[1, 3] = dt
    see = torch.eye(2, 4, dtype=torch.float64)
    process = 1e-3 * torch.eye(4, dtype=torch.float64)
    noise = 0.05 * torch.eye(2, dtype=torch.float64)
    truth = torch.tensor([0.0, 0.0, 1.0, 0.5], dtype=torch.float64)
    state, covariance = torch.zeros(4, dtype=torch.float64), torch.eye(4, dtype=torch.float64)
    errors = []
    for _ in range(steps):
        truth = move @ truth
        seen = see @ truth + 0.05**0.5 * torch.randn(2, dtype=torch.float64)
        state = move @ state
        covariance = move @ covariance @ move.T + process
        innovation = see @ covariance @ see.T + noise
        a, b, c, d = innovation.flatten()
        inverse = torch.stack([torch.stack([d, -b]), torch.stack([-c, a])]) / (a * d - b * c)
        gain = torch.linalg.multi_dot([covariance, see.T, inverse])
        state = state + gain @ (seen - see @ state)
        covariance = (torch.eye(4, dtype=torch.float64) - gain @ see) @ covariance
        errors.append(torch.linalg.vector_norm(state[:2] - truth[:2]))
    errors = torch.stack(errors)
    print(f"error {errors[:10].mean().item():.3f} -> {errors[-10:].mean().item():.3f}")
    return {"state": state, "covariance": covariance, "errors": errors}


if __name__ == "__main__":
    main()
