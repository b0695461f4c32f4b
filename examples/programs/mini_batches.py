"""Training as tutorials write it: a data set split in two, loaders, Kaiming initial values, a schedule, early stopping."""

import tenon as torch
import tenon.nn as nn
import tenon.nn.functional as F
from tenon.optim import Adam
from tenon.optim.lr_scheduler import MultiStepLR
from tenon.utils.data import DataLoader, Dataset, random_split


class Spirals(Dataset):
    def __init__(self, n):
        t = torch.linspace(0.5, 3.0, n)
        self.y = torch.arange(n) % 3
        angle = 2 * t + 2 * torch.pi / 3 * self.y
        self.x = torch.stack([t * angle.cos(), t * angle.sin()], 1) + 0.05 * torch.randn(n, 2)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return {"x": self.x[idx], "label": self.y[idx]}


class MLP:
    def __init__(self, *sizes):
        self.weights, self.biases = [], []
        for fan_in, fan_out in zip(sizes[:-1], sizes[1:]):
            self.weights.append(nn.Parameter(torch.empty(fan_out, fan_in)))
            self.biases.append(nn.Parameter(torch.zeros(fan_out)))
            nn.init.kaiming_uniform_(self.weights[-1], nonlinearity="relu")

    def parameters(self):
        return [*self.weights, *self.biases]

    def __call__(self, x):
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            x = F.relu(F.linear(x, w, b))
        return F.linear(x, self.weights[-1], self.biases[-1])


def evaluate(model, loader):
    correct = total = 0
    with torch.no_grad():
        for batch in loader:
            predicted = model(batch["x"]).max(dim=1).indices
            correct += (predicted == batch["label"]).sum().item()
            total += batch["label"].size(0)
    return correct / total


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
    torch.manual_seed(17)
    dataset = Spirals(240)
    train_set, val_set = random_split(dataset, [0.75, 0.25], generator=torch.Generator().manual_seed(1))
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=64)
    model = MLP(2, 32, 32, 3)
    optimizer = Adam(model.parameters(), lr=1e-2)
    scheduler = MultiStepLR(optimizer, milestones=[10, 20], gamma=0.3)
    best, patience, history = 0.0, 0, []
    for epoch in range(30):
        running = torch.zeros((), device=device)
        for i, batch in enumerate(train_loader):
            inputs, labels = batch["x"].to(device), batch["label"].to(device)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), labels, label_smoothing=0.05)
            loss.backward()
            optimizer.step()
            running += loss.detach() * len(inputs)
        scheduler.step()
        accuracy = evaluate(model, val_loader)
        history.append([running.item() / 160, accuracy])
        best, patience = (accuracy, 0) if accuracy > best else (best, patience + 1)
        if patience == 12:
            break
    print(f"stopped after {epoch + 1} epochs on {device}, best accuracy {best:.2f}, lr {scheduler.get_last_lr()[0]:.1e}")
    return {"history": torch.tensor(history), "weight": model.weights[-1], "numel": torch.tensor(sum(p.numel() for p in model.parameters()))}


if __name__ == "__main__":
    main()
