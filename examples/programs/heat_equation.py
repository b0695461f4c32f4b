"""Heat flow in a plate with fixed edges, by explicit steps in time."""

import tenon as torch


def main():
    n, steps, rate = 24, 200, 0.2
    plate = torch.zeros(n, n, dtype=torch.float64)
    plate[0] = 100.0
    plate[:, -1] = torch.linspace(100, 0, n, dtype=torch.float64)
    history = [plate.mean().item()]
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        laplacian = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4 * inner
        plate[1:-1, 1:-1] += rate * laplacian
        history.append(plate.mean().item())
    gradient_y, gradient_x = torch.gradient(plate)
    flow = torch.hypot(gradient_y, gradient_x)
    print(f"mean temperature {history[0]:.2f} -> {history[-1]:.2f}, steepest {flow.max().item():.2f}")
    return {"plate": plate, "flow": flow, "history": torch.tensor(history), "rise": torch.diff(torch.tensor(history))[:5]}


if __name__ == "__main__":
    main()
