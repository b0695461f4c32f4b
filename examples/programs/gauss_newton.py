"""Curve fitting by Gauss-Newton with Jacobians from autograd, and Newton's method with a Hessian, of two unknowns."""

import tenon as torch
from tenon.func import grad, hessian, jacfwd, jvp


def model(p, t):
    return p[0] * torch.exp(-p[1] * t)


def solve2(a, b):
    """Cramer's rule."""
    det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    return torch.stack([b[0] * a[1, 1] - a[0, 1] * b[1], a[0, 0] * b[1] - b[0] * a[1, 0]]) / det


def rosenbrock(v):
    return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2


def main():
    torch.manual_seed(6)
    t = torch.linspace(0, 4, 40, dtype=torch.float64)
    truth = torch.tensor([3.0, 0.8], dtype=torch.float64)
    y = model(truth, t) + 0.05 * torch.randn(40).double()
    p = torch.tensor([1.0, 0.1], dtype=torch.float64)
    for _ in range(12):
        residual = y - model(p, t)
        J = torch.autograd.functional.jacobian(lambda q: model(q, t), p)
        p = p + solve2(J.T @ J, J.T @ residual)
    J2 = jacfwd(lambda q: model(q, t))(p)
    value, slope = jvp(lambda q: model(q, t), (p,), (torch.ones_like(p),))
    v = torch.tensor([-1.2, 1.0], dtype=torch.float64)
    path = [v]
    for _ in range(8):
        v = v - solve2(hessian(rosenbrock)(v), grad(rosenbrock)(v))
        path.append(v)
    print("fit", [round(x, 4) for x in p.tolist()], "minimum", [round(x, 6) for x in v.tolist()])
    print("Jacobians agree:", torch.allclose(J, J2, rtol=1e-2), bool(torch.allclose(slope, J2.sum(1))))
    return {"p": p, "value": value, "slope": slope, "path": torch.stack(path), "cost": rosenbrock(v) < 1e-12}


if __name__ == "__main__":
    main()
