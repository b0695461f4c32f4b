"""An LSTM cell that learns to echo a bit three steps later."""

import tenon as torch
import tenon.nn.functional as F


def cell(x, hidden, memory, weights, recurrent, bias):
    gates = F.linear(x, weights, bias) + F.linear(hidden, recurrent)
    in_gate, forget_gate, candidate, out_gate = gates.chunk(4, dim=1)
    memory = torch.sigmoid(forget_gate) * memory + torch.sigmoid(in_gate) * torch.tanh(candidate)
    return torch.sigmoid(out_gate) * torch.tanh(memory), memory


def main():
    torch.manual_seed(3)
    size, batch, length = 12, 16, 8
    shapes = [(4 * size, 1), (4 * size, size), (4 * size,), (1, size)]
    parameters = [torch.empty(shape, dtype=torch.float64).uniform_(-0.4, 0.4).requires_grad_() for shape in shapes]
    losses = []
    for step in range(40):
        bits = torch.randint(0, 2, (length, batch, 1)).double()
        hidden = torch.zeros(batch, size, dtype=torch.float64)
        memory = torch.zeros_like(hidden)
        outputs = []
        for x in bits:
            hidden, memory = cell(x, hidden, memory, *parameters[:3])
            outputs.append(hidden @ parameters[3].t())
        logits = torch.stack(outputs)
        loss = F.binary_cross_entropy_with_logits(logits[3:], bits[:-3])
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients):
                parameter -= 0.5 * gradient
        losses.append(loss.item())
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")
    return {"losses": torch.tensor(losses, dtype=torch.float64), "bias": parameters[2]}


if __name__ == "__main__":
    main()
