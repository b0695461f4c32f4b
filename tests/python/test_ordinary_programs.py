"""Ordinary programs: examples/programs as they stand, and with `import torch` in the place of `import tenon as torch`."""

import contextlib
import io
import pathlib
import re

import pytest

torch = pytest.importorskip("torch")

import tenon

PROGRAMS = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples" / "programs").glob("*.py"))


def run(source, path):
    """(the results of main(), what it printed)"""
    names = {"__name__": "program"}
    exec(compile(source, str(path), "exec"), names)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        results = names["main"]()
    return results, printed.getvalue()


def as_torch(value):
    return torch.from_dlpack(value.detach().contiguous()) if isinstance(value, tenon.Tensor) else torch.as_tensor(value).detach()


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # of PyTorch's jvp
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_same_in_both_libraries(path):
    source = path.read_text(encoding="utf-8")
    assert "import tenon as torch\n" in source
    ours, our_text = run(source, path)
    source = source.replace("import tenon as torch\n", "import torch\n")
    theirs, their_text = run(re.sub(r"\b(import|from) tenon\b", r"\1 torch", source), path)
    assert list(ours) == list(theirs)
    for name, wanted in theirs.items():
        got, wanted = as_torch(ours[name]), torch.as_tensor(wanted).detach()
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), name
        tolerance = 1e-10 if wanted.dtype in (torch.float64, torch.complex128) else 1e-5
        torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True, msg=lambda text: f"{name}: {text}")
    assert our_text == their_text


def test_there_are_thirty():
    assert len(PROGRAMS) >= 30
