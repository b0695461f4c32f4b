"""The Mandelbrot set by complex numbers."""

import tenon as torch


def main():
    real = torch.linspace(-2.2, 0.8, 61, dtype=torch.float64)
    imaginary = torch.linspace(-1.2, 1.2, 25, dtype=torch.float64)
    c = torch.complex(real.expand(25, 61), imaginary[:, None].expand(25, 61))
    z = torch.zeros_like(c)
    steps = torch.zeros(c.shape, dtype=torch.int64)
    for _ in range(40):
        inside = z.abs() <= 2
        steps += inside
        z = torch.where(inside, z * z + c, z)
    for row in steps:
        print("".join(" .:-=+*%@#"[min(count // 4, 9)] for count in row.tolist()))
    return {"steps": steps, "angles": torch.angle(z[steps == 40]).sum(), "area": (steps == 40).double().mean() * 3.0 * 2.4}


if __name__ == "__main__":
    main()
