"""A mixture density network: the distribution of y for each x, as weights, means and widths of Gaussians."""

import math

import tenon as torch
import tenon.nn.functional as F
import tenon.optim as optim


def init(*sizes):
    params = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        w = torch.empty(fan_out, fan_in)
        w.normal_(0, math.sqrt(2 / fan_in))
        params += [w.requires_grad_(), torch.zeros(fan_out, requires_grad=True)]
    return params


def network(x, params, components=3):
    for w, b in zip(params[:-2:2], params[1:-2:2]):
        x = torch.tanh(torch.addmm(b, x, w.t()))
    pi, mu, sigma = torch.split(F.linear(x, *params[-2:]), components, dim=1)
    return F.log_softmax(pi, dim=1), mu, F.softplus(sigma) + 1e-3


def negative_log_likelihood(log_pi, mu, sigma, y):
    z = (y.expand_as(mu) - mu) / sigma
    log_density = -0.5 * z.square() - sigma.log() - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(log_pi + log_density, dim=1).mean()


def main():
    torch.manual_seed(5)
    y = torch.empty(300, 1).uniform_(-1, 1)
    x = y + 0.3 * torch.sin(2 * math.pi * y) + 0.05 * torch.randn(300, 1)
    params = init(1, 16, 16, 9)
    optimizer = optim.AdamW(params, lr=5e-3, weight_decay=1e-3)
    warmup = optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
    log = []
    for step in range(80):
        optimizer.zero_grad()
        loss = negative_log_likelihood(*network(x, params), y)
        loss.backward()
        optimizer.step()
        warmup.step()
        log.append((loss.item(), optimizer.param_groups[0]["lr"]))
        if step % 20 == 19:
            print(f"step {step + 1}: {loss:.4f}")
    vector = torch.nn.utils.parameters_to_vector(params)
    torch.nn.utils.vector_to_parameters(vector * 1.0, params)
    with torch.no_grad():
        log_pi, mu, sigma = network(torch.linspace(-1, 1, 9).view(-1, 1), params)
        mean = (log_pi.exp() * mu).sum(1)
        spread = torch.sqrt((log_pi.exp() * (sigma**2 + mu**2)).sum(1) - mean**2)
    edges = torch.linspace(-1, 1, 5)
    histogram = torch.histogram(y.squeeze(1), edges)
    return {"log": torch.tensor(log), "numel": torch.tensor(vector.numel()), "mean": mean, "spread": spread, "counts": histogram.hist}


if __name__ == "__main__":
    main()
