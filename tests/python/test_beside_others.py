"""Imported before and after NumPy, PyTorch, JAX and scikit-learn."""

import importlib.util
import sys

import pytest
import sweeps

OTHERS = ["numpy", "torch", "jax", "sklearn"]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_beside(other, first, tmp_path):
    """Imported before or after another library, each works, and they share memory where they can."""
    if other not in sys.modules and importlib.util.find_spec(other) is None:
        pytest.skip(f"no {other} here")
    imports = ["import tenon", f"import {other}"]
    uses = {
        "numpy": "assert numpy.linalg.eigh(x @ x.T)[0].shape == (3,) and numpy.asarray(x).sum() == 66 and (x.numpy() == 11).sum() == 1",
        "torch": "y = torch.from_dlpack(x); y += 1; assert x.sum().item() == 78 and torch.exp(y).shape == (3, 4) and (torch.ones(300, 300) @ torch.ones(300, 300)).sum() == 300**3",
        "jax": "assert jax.numpy.asarray(x.numpy()).sum() == 66 and tenon.from_dlpack(jax.numpy.ones(3)).sum().item() == 3",
        "sklearn": "import sklearn.linear_model; m = sklearn.linear_model.LinearRegression().fit(x.numpy(), x.sum(1).numpy()); assert abs(m.predict(x.numpy())[0] - 6) < 1e-3",
    }
    program = "; ".join(imports if first else imports[::-1]) + (
        "\nx = tenon.arange(12.0).reshape(3, 4)\n"
        + uses[other]
        + "\nbig = tenon.ones(1000, 1000, requires_grad=True)\n(big * 2).exp().sum().backward()\nassert abs(big.grad[0, 0].item() - 14.778) < 1e-2\n"
    )
    assert sweeps.run_apart(program, folder=tmp_path) == ""


def test_beside_all(tmp_path):
    """All at once, in both orders."""
    present = [name for name in OTHERS if name in sys.modules or importlib.util.find_spec(name) is not None]
    names = ["tenon", *present]
    for order in (names, names[::-1]):
        program = "\n".join(f"import {name}" for name in order) + "\nassert (tenon.ones(500, 500) + 1).sum().item() == 500000\n"
        if "torch" in present:
            program += "assert (torch.ones(500, 500) @ torch.ones(500, 500)).sum() == 500**3\n"
        assert sweeps.run_apart(program, folder=tmp_path) == ""
