"""A GRU cell written by hand, which learns to repeat a rhythm."""

import math

import tenon as torch
import tenon.nn.functional as F


class GRUCell:
    def __init__(self, inputs, hidden):
        bound = 1 / math.sqrt(hidden)
        self.weight_ih = torch.empty(3 * hidden, inputs).uniform_(-bound, bound).requires_grad_(True)
        self.weight_hh = torch.empty(3 * hidden, hidden).uniform_(-bound, bound).requires_grad_(True)
        self.bias_ih = torch.zeros(3 * hidden, requires_grad=True)
        self.bias_hh = torch.zeros(3 * hidden, requires_grad=True)

    def parameters(self):
        return [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]

    def __call__(self, x, h):
        of_input = F.linear(x, self.weight_ih, self.bias_ih).chunk(3, dim=-1)
        of_state = F.linear(h, self.weight_hh, self.bias_hh).chunk(3, dim=-1)
        reset = torch.sigmoid(of_input[0] + of_state[0])
        update = F.sigmoid(of_input[1] + of_state[1])
        new = F.tanh(of_input[2] + reset * of_state[2])
        return torch.lerp(new, h, update)


def main():
    torch.manual_seed(0)
    period = torch.LongTensor([0, 1, 1, 2, 0, 3])
    text = period.repeat(20)
    x, y = text[:-1], text[1:]
    cell = GRUCell(4, 12)
    head = torch.randn(4, 12).mul(0.2).requires_grad_()
    parameters = cell.parameters() + [head]
    optimizer = torch.optim.RMSprop(parameters, lr=0.01, momentum=0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)
    losses = []
    for epoch in range(40):
        h = torch.zeros(1, 12)
        outputs = []
        for token in F.one_hot(x, num_classes=4).float().unsqueeze(1):
            h = cell(token, h)
            outputs.append(h)
        logits = F.linear(torch.cat(outputs), head)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm=1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if epoch % 10 == 0:
            print(f"{epoch:3d} loss {loss.item():.4f} norm {norm:.3f} lr {scheduler.get_last_lr()[0]:.4g}")
    accuracy = (logits.argmax(-1) == y).float().mean()
    print("accuracy", round(accuracy.item(), 3))
    return {"losses": torch.tensor(losses), "head": head, "accuracy": accuracy}


if __name__ == "__main__":
    main()
