"""A polynomial fitted to noisy samples by gradient descent, and its derivative and integral."""

import tenon as torch


def main():
    torch.manual_seed(15)
    x = torch.linspace(-1, 1, 50, dtype=torch.float64)
    y = torch.sin(3 * x) + 0.05 * torch.randn(50, dtype=torch.float64)
    powers = torch.vander(x, 6, increasing=True)
    coefficients = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    for step in range(300):
        loss = (powers @ coefficients - y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            coefficients -= 0.3 * coefficients.grad
            coefficients.grad.zero_()
    point = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    value = (coefficients.detach() * point ** torch.arange(6)).sum()
    (slope,) = torch.autograd.grad(value, point, create_graph=True)
    (bend,) = torch.autograd.grad(slope, point)
    fitted = (powers @ coefficients).detach()
    area = torch.trapezoid(fitted, x)
    running = torch.cumulative_trapezoid(fitted, x)
    print(f"loss {loss.item():.5f}, slope at 0.3 {slope.item():.4f}, area {area.item():.5f}")
    return {"coefficients": coefficients, "slope": slope, "bend": bend, "area": area, "running": running}


if __name__ == "__main__":
    main()
