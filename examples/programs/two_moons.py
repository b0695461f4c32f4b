"""A network with batch normalisation and dropout that separates two moons; kept as a state_dict in a file."""

import os
import tempfile

import tenon as torch
import tenon.nn.functional as F


def make_moons(n, noise):
    angle = torch.rand(n) * torch.pi
    label = torch.arange(n) % 2
    x = torch.where(label.bool(), 1 - torch.cos(angle), torch.cos(angle))
    y = torch.where(label.bool(), 0.5 - torch.sin(angle), torch.sin(angle))
    return torch.stack([x, y], dim=1) + noise * torch.randn(n, 2), label


class BatchNorm:
    def __init__(self, features):
        self.weight = torch.ones(features, requires_grad=True)
        self.bias = torch.zeros(features, requires_grad=True)
        self.running_mean = torch.zeros(features)
        self.running_var = torch.ones(features)

    def __call__(self, x, training):
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, training, momentum=0.1)


class Net:
    def __init__(self):
        self.w1 = (torch.randn(32, 2) * 0.7).requires_grad_()
        self.w2 = (torch.randn(32, 32) * 0.25).requires_grad_()
        self.w3 = (torch.randn(1, 32) * 0.25).requires_grad_()
        self.b3 = torch.zeros(1, requires_grad=True)
        self.bn1, self.bn2 = BatchNorm(32), BatchNorm(32)
        self.training = True

    def forward(self, x):
        x = F.relu(self.bn1(F.linear(x, self.w1), self.training), inplace=True)
        x = F.relu(self.bn2(F.linear(x, self.w2), self.training))
        x = F.dropout(x, p=0.0, training=self.training)
        return F.linear(x, self.w3, self.b3).squeeze(-1)

    __call__ = forward

    def parameters(self):
        for layer in (self, self.bn1, self.bn2):
            yield from (value for value in vars(layer).values() if torch.is_tensor(value) and value.requires_grad)

    def state_dict(self):
        return {f"p{i}": p.detach().clone() for i, p in enumerate(self.parameters())}


def accuracy(net, x, y):
    net.training = False
    with torch.no_grad():
        result = ((net(x) > 0) == y.bool()).float().mean().item()
    net.training = True
    return result


def main():
    torch.manual_seed(7)
    x, y = make_moons(256, 0.1)
    train, test = slice(0, 192), slice(192, None)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=3)
    best, best_state = -1.0, None
    for epoch in range(25):
        running_loss = 0.0
        perm = torch.randperm(192)
        for i in range(0, 192, 48):
            idx = perm[i : i + 48]
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(net(x[train][idx]), y[train][idx].float())
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        scheduler.step(running_loss)
        score = accuracy(net, x[test], y[test])
        if score > best:
            best, best_state = score, net.state_dict()
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "best.safetensors" if torch.__name__ == "tenon" else "best.pt")
    torch.save(best_state, path)
    loaded = torch.load(path)
    os.remove(path)
    os.rmdir(folder)
    same = all(torch.equal(loaded[name], value) for name, value in best_state.items())
    print(f"best test accuracy {best:.2f}, restored: {same}")
    return {"best": torch.tensor(best), "running_mean": net.bn1.running_mean, "running_var": net.bn2.running_var, "w3": net.w3}


if __name__ == "__main__":
    main()
