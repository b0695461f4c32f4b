"""Linear regression with a closed form of two unknowns, gradient descent with a schedule, and a bootstrap of the slope."""

import tenon as torch
import tenon.nn.functional as F


def closed_form(x, y):
    dx, dy = x - x.mean(), y - y.mean()
    slope = torch.dot(dx, dy) / torch.dot(dx, dx)
    return slope, y.mean() - slope * x.mean()


def main():
    torch.manual_seed(42)
    x = torch.linspace(0, 10, 100)
    y = 2.5 * x - 1.0 + torch.randn(x.size())
    X, Y = x.unsqueeze(1), y.view(-1, 1)
    mean, std = X.mean(dim=0), X.std(dim=0)
    X_norm = (X - mean) / std
    weight, bias = torch.zeros(1, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    lrs = []
    for epoch in range(100):
        prediction = F.linear(X_norm, weight, bias)
        loss = F.mse_loss(prediction, Y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lrs.append(scheduler.get_last_lr()[0])
        scheduler.step()
        if (epoch + 1) % 25 == 0:
            print(f"Epoch [{epoch + 1}/100], Loss: {loss.item():.4f}, lr {lrs[-1]:.5f}")
    slope = (weight / std).detach().squeeze()
    intercept = bias.detach() - slope * mean
    exact_slope, exact_intercept = closed_form(x, y)
    residual = Y - F.linear(X_norm, weight, bias).data
    r2 = 1 - residual.pow(2).sum() / (Y - Y.mean()).pow(2).sum()
    draws = torch.randint(0, len(x), (200, len(x)))
    slopes = torch.vmap(lambda index: closed_form(x[index], y[index])[0])(draws)
    interval = torch.quantile(slopes, torch.tensor([0.025, 0.975]))
    print(f"slope {slope.item():.3f} ({exact_slope.item():.3f}), R^2 {r2:.3f}, 95% [{interval[0]:.2f}, {interval[1]:.2f}]")
    return {"slope": slope, "intercept": intercept, "exact": torch.stack([exact_slope, exact_intercept]), "r2": r2, "interval": interval, "lrs": torch.tensor(lrs)}


if __name__ == "__main__":
    main()
