"""Stars that attract each other, by the leapfrog method; energy and momentum stay."""

import tenon as torch


def acceleration(position, mass, softening=0.05):
    difference = position.unsqueeze(0) - position.unsqueeze(1)
    distance = (difference.square().sum(dim=-1) + softening**2).sqrt()
    return (mass[None, :, None] * difference / distance.pow(3)[..., None]).sum(dim=1)


def energy(position, velocity, mass, softening=0.05):
    kinetic = 0.5 * (mass * velocity.square().sum(dim=-1)).sum()
    distance = torch.sqrt(torch.cdist(position, position) ** 2 + softening**2)
    potential = -torch.triu(mass[:, None] * mass / distance, diagonal=1).sum()
    return kinetic + potential


def main():
    torch.manual_seed(10)
    position = torch.randn(12, 3, dtype=torch.float64)
    velocity = 0.3 * torch.randn(12, 3, dtype=torch.float64)
    mass = torch.rand(12, dtype=torch.float64) + 0.1
    velocity -= (mass[:, None] * velocity).sum(dim=0) / mass.sum()
    before, dt = energy(position, velocity, mass), 0.005
    force = acceleration(position, mass)
    for _ in range(100):
        velocity = velocity + 0.5 * dt * force
        position = position + dt * velocity
        force = acceleration(position, mass)
        velocity = velocity + 0.5 * dt * force
    after = energy(position, velocity, mass)
    momentum = torch.einsum("i,ij->j", mass, velocity)
    spin = (mass[:, None] * torch.linalg.cross(position, velocity)).sum(dim=0)
    print(f"energy {before.item():.6f} -> {after.item():.6f}")
    return {"position": position, "energy": after, "momentum": momentum + 1, "spin": spin}


if __name__ == "__main__":
    main()
