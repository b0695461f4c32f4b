"""A variational autoencoder of vectors, with the reparameterisation trick."""

import tenon as torch
from tenon.nn import functional as F


def layer(rows, columns, generator=None):
    weight = torch.randn(rows, columns) / columns**0.5
    return [weight.requires_grad_(), torch.zeros(rows).requires_grad_()]


def encode(x, p):
    hidden = F.silu(F.linear(x, *p["enc"]))
    return F.linear(hidden, *p["mu"]), F.linear(hidden, *p["logvar"])


def reparameterize(mu, logvar):
    std = torch.exp(0.5 * logvar)
    eps = torch.randn_like(std)
    return mu + eps * std


def decode(z, p):
    return torch.sigmoid(F.linear(F.leaky_relu(F.linear(z, *p["dec1"]), 0.2), *p["dec2"]))


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (bce + kld) / x.size(0)


def main():
    torch.manual_seed(1)
    t = torch.linspace(0, 1, 16)
    phase = torch.rand(128, 1)
    data = (0.5 + 0.5 * torch.sin(2 * torch.pi * (t + phase))).clamp_(0.0, 1.0)
    p = {"enc": layer(24, 16), "mu": layer(2, 24), "logvar": layer(2, 24), "dec1": layer(24, 2), "dec2": layer(16, 24)}
    params = [w for pair in p.values() for w in pair]
    optimizer = torch.optim.Adam([{"params": params}], lr=2e-2, amsgrad=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=60, eta_min=1e-3)
    history = torch.zeros(60)
    for epoch in range(60):
        mu, logvar = encode(data, p)
        z = reparameterize(mu, logvar)
        loss = loss_function(decode(z, p), data, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(params, 1.0)
        optimizer.step()
        scheduler.step()
        history[epoch] = loss.detach()
    with torch.inference_mode():
        mu, _ = encode(data, p)
        error = F.mse_loss(decode(mu, p), data)
        grid = torch.stack(torch.meshgrid(torch.arange(-1.0, 2.0), torch.arange(-1.0, 2.0), indexing="xy"), dim=-1).reshape(-1, 2)
        samples = decode(grid, p)
    print(f"first loss {history[0]:.3f}, last loss {history[-1]:.3f}, lr {optimizer.param_groups[0]['lr']:.5f}")
    return {"history": history, "error": error, "samples": samples.clone()}


if __name__ == "__main__":
    main()
