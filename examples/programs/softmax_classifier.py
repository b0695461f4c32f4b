"""A softmax classifier of three clouds of points, trained by SGD with momentum."""

import tenon as torch
import tenon.nn.functional as F


def main():
    torch.manual_seed(6)
    centers = torch.tensor([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]], dtype=torch.float64)
    labels = torch.arange(3).repeat(60)
    points = centers[labels] + torch.randn(180, 2, dtype=torch.float64)
    weight = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1, momentum=0.9, weight_decay=1e-3)
    for _ in range(10):
        for batch in torch.randperm(180).split(30):
            optimizer.zero_grad()
            loss = F.cross_entropy(F.linear(points[batch], weight, bias), labels[batch])
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        predicted = F.linear(points, weight, bias).argmax(dim=1)
    confusion = torch.zeros(3, 3, dtype=torch.int64)
    confusion.index_put_((labels, predicted), torch.tensor(1), accumulate=True)
    accuracy = (predicted == labels).double().mean()
    print(f"accuracy {accuracy.item():.3f}")
    print(confusion)
    return {"weight": weight, "bias": bias, "confusion": confusion, "accuracy": accuracy}


if __name__ == "__main__":
    main()
