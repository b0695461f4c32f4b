"""Linear regression by gradient descent: from the ink of seven rows of a digit, how much is in the eighth?

    python examples/linear_regression.py

1,797 pictures of 8 x 8 (data/digits.csv.gz). Row 4 of a picture is predicted from its other 56 pixels; what the weights
have learned is compared with always saying the mean.
"""

import csv
import gzip
import pathlib

import tenon

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def read_pictures(path=DATA / "digits.csv.gz"):
    """[N, 8, 8], from 0 to 1."""
    with gzip.open(path, "rt", newline="") as file:
        rows = [[float(value) for value in row] for row in csv.reader(file) if row and row[0].replace(".", "", 1).isdigit()]
    return tenon.tensor(rows)[:, :64].reshape(-1, 8, 8) / 16


def split(pictures, row=4):
    """The pixels of the other rows, [N, 56], and the mean ink of the row, [N, 1]."""
    others = [at for at in range(8) if at != row]
    return pictures[:, others].reshape(-1, 56), pictures[:, row].mean(-1, keepdim=True)


def fit(inputs, targets, steps=300, rate=0.05):
    """Weights [56, 1] and a bias [1, 1] that lessen the squared error; the errors on the way."""
    weights = tenon.zeros(inputs.shape[1], 1, requires_grad=True)
    bias = tenon.zeros(1, 1, requires_grad=True)
    losses = []
    for _ in range(steps):
        # [N, 56] @ [56, 1] + [1, 1]: the bias is broadcast, its gradient summed back to one number.
        loss = (inputs @ weights + bias - targets).square().mean()
        loss.backward()
        losses.append(loss.item())
        with tenon.no_grad():
            for parameter in (weights, bias):
                parameter -= rate * parameter.grad
                parameter.grad = None
    return weights.detach(), bias.detach(), losses


def main():
    inputs, targets = split(read_pictures())
    train, test = slice(None, 1500), slice(1500, None)
    weights, bias, losses = fit(inputs[train], targets[train])
    error = (inputs[test] @ weights + bias - targets[test]).square().mean().item()
    guess = (targets[train].mean() - targets[test]).square().mean().item()
    print(f"squared error of the pictures learned from: {losses[0]:.4f} at first, {losses[-1]:.4f} at last")
    print(f"squared error of {len(targets[test])} others: {error:.4f}; of their mean: {guess:.4f}")
    return losses, error, guess


if __name__ == "__main__":
    main()
