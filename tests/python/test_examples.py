"""Runs the programs in examples/ and checks their results."""

import importlib.util

import pytest
import tenon


@pytest.fixture
def example(root):
    def load(name):
        spec = importlib.util.spec_from_file_location(name, root / "examples" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_photo(example, tmp_path):
    module = example("normalise_photo")
    pixels, result = module.main(folder=tmp_path)
    assert tenon.equal(module.read_png(tmp_path / "before.png"), pixels)
    assert result.mean((0, 1)).abs().amax().item() < 1e-4
    assert tenon.allclose(result.square().mean((0, 1)), tenon.ones(3), atol=1e-3)
    assert not tenon.equal(module.read_png(tmp_path / "after.png"), pixels)


def test_kmeans(example):
    assert example("kmeans_digits").main() > 0.6


def test_moving_average(example):
    series, averages = example("moving_average").main()
    wanted = [sum(series.tolist()[at : at + 4]) / 4 for at in range(len(series) - 3)]
    assert averages.tolist() == pytest.approx(wanted)


def test_wrong_loss(example, capsys):
    assert example("wrong_loss").main() == (2.5, 0.0)
    assert "which is the shape of no operand" in capsys.readouterr().out


def test_linear_regression(example):
    losses, error, guess = example("linear_regression").main()
    assert losses[-1] < losses[0] / 10 and error < guess / 2


def test_from_rule_to_gradient(example, capsys):
    example("from_rule_to_gradient")
    assert "finite differences agree" in capsys.readouterr().out
