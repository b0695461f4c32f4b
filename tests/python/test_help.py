"""help() and inspect.signature() of every function and method."""

import inspect
import pydoc

import pytest
import sweeps
import tenon


@pytest.mark.parametrize("name", sweeps.functions())
def test_help(name):
    function = sweeps.functions()[name]
    assert function.__module__ == "tenon" and function.__qualname__ == function.__name__
    text = pydoc.plain(pydoc.render_doc(function))
    if not isinstance(function, type):
        assert "method of" not in text and "nanobind" not in text
        assert getattr(function, "__self__", None) is None
        signature = inspect.signature(function)
        assert f"{name}{signature}".replace("Ellipsis", "...") in text.replace("Ellipsis", "..."), (signature, text)
        assert function.__doc__ and function.__doc__.strip()


@pytest.mark.parametrize("name", [name for name, _, _ in tenon._tenon._signatures(True)])
def test_help_of_methods(name):
    method = getattr(tenon.Tensor, name)
    signature = inspect.signature(method)
    assert next(iter(signature.parameters)) == "self" and method.__qualname__ == f"Tensor.{name}" and method.__doc__.strip()


def test_signatures():
    for function, text in ((tenon.add, "(input, other, *, alpha=1, out=None)"), (tenon.sum, "(input, dim=None, keepdim=False, *, dtype=None, out=None)"),
                           (tenon.isclose, "(input, other, rtol=1e-05, atol=1e-08, equal_nan=False)"), (tenon.arange, "(*args, **kwargs)"),
                           (tenon.Tensor.reshape, "(self, /, *shape)"), (tenon.get_num_threads, "()"), (tenon.device, "(type, index=None)")):  # fmt: skip
        assert str(inspect.signature(function)) == text
