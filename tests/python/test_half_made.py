"""Objects made without their constructors, and assignments to `__class__`."""

import gc
import sys

import pytest
import sweeps
import tenon


@pytest.mark.parametrize("kind", sweeps.types(), ids=lambda kind: kind.__qualname__)
def test_new_without_init(kind):
    """__new__ alone gives an object whose attributes can all be read, or raises an error."""
    kinds = [kind]
    try:
        kinds.append(type("Sub", (kind,), {}))
    except TypeError:  # the type allows no subclasses
        pass
    for base in kinds:
        for make in (lambda: base.__new__(base), lambda: object.__new__(base), base):
            try:
                made = make()
            except TypeError:
                continue
            for name in dir(made):
                try:
                    getattr(made, name)
                except (AttributeError, RuntimeError, UserWarning):
                    pass
            repr(made), hash(made)
            for use in (lambda: tenon.ones(2, dtype=made), lambda: tenon.rand(2, generator=made), lambda: tenon.ones(2, device=made),
                        lambda: tenon.ones(2) + made, lambda: tenon.ones(2)[made], lambda: tenon._tenon._apply_function(made, ()),
                        lambda: tenon.ones(2).contiguous(memory_format=made)):  # fmt: skip
                try:
                    use()
                except Exception as error:
                    assert type(error) is not SystemError, (kind, error)


def test_errors_of_new():
    with pytest.raises(TypeError, match=r"cannot create '.*Sub' instances: tenon.tensor\(data\) gives"):
        type("Sub", (tenon.Tensor,), {})()
    assert tenon.Tensor.__new__(tenon.Tensor).shape == (0,)
    with pytest.raises(TypeError, match="cannot create 'tenon.dtype' instances"):
        tenon.dtype()
    assert tenon.Generator.__new__(tenon.Generator).initial_seed() == tenon.Generator().initial_seed()
    assert tenon.device("meta") == tenon.device(tenon.device("meta")) == tenon.device(type="meta")
    with pytest.raises(TypeError, match=r"device\(\) received an invalid combination of arguments"):
        tenon.device()


@pytest.mark.parametrize("kind", sweeps.types(), ids=lambda kind: kind.__qualname__)
def test_an_object_cannot_change_its_type(kind):
    """`__class__` can only be set to a class with the same memory layout."""
    for value in (tenon.ones(2), tenon.float32, tenon.device("cpu"), tenon.Generator(), tenon.channels_last, tenon.ones(2).shape,
                  (tenon.ones(2, requires_grad=True) * 2).grad_fn):  # fmt: skip
        if isinstance(value, kind):
            continue
        with pytest.raises(TypeError):
            value.__class__ = kind


def test_a_tensor_may_change_to_a_subclass():
    class Sub(tenon.Tensor):
        def double(self):
            return self * 2

    tensor = tenon.ones(2)
    tensor.__class__ = Sub
    assert tensor.double().tolist() == [2, 2] and type(tensor + 1) is tenon.Tensor
    del tensor
    gc.collect()
    assert (tenon.ones(2) + 1).tolist() == [2, 2]


def test_subinterpreters_are_refused():
    interpreters = pytest.importorskip("_xxsubinterpreters")
    program = "import sys\nsys.path[:] = {!r}\ntry:\n    import tenon\nexcept ImportError as error:\n    assert 'subinterpreters' in str(error)\nelse:\n    assert False"
    sweeps.run_apart(f"import {interpreters.__name__} as subs, tenon\nsubs.run_string(subs.create(), {program.format(sys.path)!r})\ntenon.ones(2) + 1")
    # Also if the main interpreter has not imported tenon.
    sweeps.run_apart(f"import {interpreters.__name__} as subs\nsubs.run_string(subs.create(), {program.format(sys.path)!r})")
