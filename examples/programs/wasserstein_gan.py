"""A Wasserstein GAN of points in the plane, with a penalty on the norm of the critic's gradient: a gradient of a gradient."""

import tenon as torch
import tenon.nn.functional as F
from tenon import autograd, nn, optim


def make_network(sizes):
    parameters = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        parameters += [nn.Parameter(torch.randn(fan_out, fan_in) / fan_in**0.5), nn.Parameter(torch.zeros(fan_out))]
    return parameters


def network(x, parameters):
    layers = list(zip(parameters[0::2], parameters[1::2]))
    for weight, bias in layers[:-1]:
        x = F.leaky_relu(F.linear(x, weight, bias), 0.2)
    return F.linear(x, *layers[-1])


def gradient_penalty(critic, real, fake):
    share = torch.rand(real.size(0), 1).expand_as(real)
    mixed = (share * real + (1 - share) * fake).requires_grad_(True)
    scores = network(mixed, critic)
    gradients = autograd.grad(
        outputs=scores, inputs=mixed, grad_outputs=torch.ones_like(scores), create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def main():
    torch.manual_seed(0)
    generator, critic = make_network([2, 16, 2]), make_network([2, 16, 1])
    of_generator, of_critic = optim.RMSprop(generator, lr=1e-3), optim.Adam(critic, lr=1e-3, betas=(0.5, 0.9))
    losses = []
    for step in range(10):
        real = torch.randn(16, 2) * torch.tensor([1.0, 0.3]) + 2
        for _ in range(2):
            with torch.no_grad():
                fake = network(torch.randn(16, 2), generator)
            loss = network(fake, critic).mean() - network(real, critic).mean() + 10 * gradient_penalty(critic, real, fake)
            of_critic.zero_grad()
            loss.backward()
            of_critic.step()
        for parameter in critic:
            parameter.requires_grad_(False)
        score = -network(network(torch.randn(16, 2), generator), critic).mean()
        of_generator.zero_grad()
        score.backward()
        of_generator.step()
        for parameter in critic:
            parameter.requires_grad_(True)
        losses.append([loss.item(), score.item()])
        if step % 3 == 0:
            print(f"step {step} critic {loss.item():.3f} generator {score.item():.3f}")
    return {"losses": torch.tensor(losses), "generator": torch.cat([parameter.flatten() for parameter in generator])}


if __name__ == "__main__":
    main()
