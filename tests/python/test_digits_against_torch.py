"""The demo's network learns to read digits by the same lines in both libraries, with the same losses."""

import csv
import gzip
import pathlib

import pytest

torch = pytest.importorskip("torch")

import tenon

DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "digits.csv.gz"
BATCH, STEPS = 48, 100


def pictures():
    with gzip.open(DATA, "rt", newline="") as file:
        return [[float(value) for value in row] for row in csv.reader(file) if row[0].replace(".", "", 1).isdigit()]


def losses_of(m, table, dtype, optimizer):
    dtype = getattr(m, dtype)
    table = m.tensor(table, dtype=dtype)
    images, labels = table[:, :64] / 16, table[:, 64].long()
    m.manual_seed(7)
    parameters = [((m.rand(64, size) - 0.5) * 0.4).to(dtype).requires_grad_() for size in (64, 10)]
    biases = [m.zeros(size, dtype=dtype, requires_grad=True) for size in (64, 10)]
    (w1, w2), (b1, b2) = parameters, biases
    step_of = optimizer(m.optim, [w1, b1, w2, b2])
    losses = []
    for step in range(STEPS):
        rows = slice(step % 30 * BATCH, (step % 30 + 1) * BATCH)
        step_of.zero_grad()
        logits = m.tanh(images[rows] @ w1 + b1) @ w2 + b2
        loss = m.nn.functional.cross_entropy(logits, labels[rows])
        loss.backward()
        m.nn.utils.clip_grad_norm_([w1, b1, w2, b2], 2.0)
        step_of.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("dtype, digits", [("float64", 1e-10), ("float32", 1e-4)])
@pytest.mark.parametrize(
    "optimizer",
    [lambda optim, given: optim.SGD(given, lr=0.03, momentum=0.9), lambda optim, given: optim.Adam(given, lr=0.01)],
    ids=["SGD", "Adam"],
)
def test_same_losses(dtype, digits, optimizer):
    table = pictures()
    ours, theirs = losses_of(tenon, table, dtype, optimizer), losses_of(torch, table, dtype, optimizer)
    assert theirs[-1] < 0.3 * theirs[0]
    assert ours == pytest.approx(theirs, rel=digits)
