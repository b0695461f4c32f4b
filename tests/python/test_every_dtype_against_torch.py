"""Every elementwise op on every dtype and pair of dtypes, as function, method, in place and with every out=: the result's dtype,
sizes and strides, or PyTorch's error."""

import itertools

import pytest

pytest.importorskip("torch")

import declared
import judge
from test_against_torch import function

DTYPES = (*judge.DTYPES, "uint16", "uint32", "uint64", "complex64", "complex128")
NUMBERS = (True, 3, -2, 2.5, float("nan"))
# What has parameters of its own is called in the tests of losses and of indexing.
MAPS = sorted({op.name: op for op in declared.OPS if op.kind == "map" and op.operands and not op.is_loss}.items())


def numbers_of(dtype):
    if dtype == "bool":
        return [True, False, True]
    if dtype.startswith("uint"):
        return [1, 5, 3]
    if dtype.startswith("int"):
        return [1, -5, 3]
    return [0.5, -1.5, 3.0] if not dtype.startswith("complex") else [0.5 + 1j, -1.5 - 2j, 3]


TENSORS = {dtype: judge.tensor(numbers_of(dtype), dtype) for dtype in DTYPES}
NO_DIMS = {dtype: judge.view(tensor, lambda x: x[1]) for dtype, tensor in TENSORS.items()}


def agree(call, *operands, any_mistake=False):
    """Like judge.same, but for the elements: other tests compare these."""
    theirs, ours = (judge.outcome(call, side, operands, {})[0] for side in ("theirs", "ours"))
    if not isinstance(theirs, Exception) or not isinstance(ours, Exception):
        assert ours == theirs, operands
    else:
        assert any_mistake or judge.same_error(ours, theirs), f"{operands}\nPyTorch: {theirs!r}\nTenon:   {ours!r}"


def others_of(op):
    """The arguments after the operands that have no default, by name."""
    return {parameter.declared_name: parameter.sample() for parameter in op.parameters if not parameter.is_operand and parameter.fallback is None}


def required(op):
    return [parameter for parameter in op.operands if parameter.fallback is None]


def called(op, m, *operands, **more):
    """By position, in the declared order."""
    given, others = iter(operands), others_of(op)
    arguments = [next(given) if parameter.is_operand else others[parameter.declared_name] for parameter in op.parameters if parameter.fallback is None]
    return judge.described(function(m, op.name)(*arguments, **more))


def operands_of(op):
    count = len(required(op))
    if count == 1:
        return [(TENSORS[dtype],) for dtype in DTYPES] + [(NO_DIMS[dtype],) for dtype in DTYPES]
    if count == 2:
        return list(itertools.product(TENSORS.values(), TENSORS.values()))
    return [(TENSORS[a], TENSORS[b], TENSORS[c]) for at, a in enumerate(DTYPES) for step, b in enumerate(DTYPES) for c in (a, DTYPES[(at + step) % 15])]


@pytest.mark.parametrize("op", [op for _, op in MAPS], ids=lambda op: op.name)
def test_function(op):
    for operands in operands_of(op):
        agree(lambda m, *operands: called(op, m, *operands), *operands)


@pytest.mark.parametrize("op", [op for _, op in MAPS if op.has_inplace], ids=lambda op: op.name)
def test_inplace(op):
    name = op.name + "_"

    def write(m, first, *rest):
        return judge.described(getattr(first.clone(), name)(*rest, **others_of(op)))

    if hasattr(judge.torch.Tensor, name):
        for operands in operands_of(op):
            agree(write, *operands)


@pytest.mark.parametrize("op", [op for _, op in MAPS if op.has_out], ids=lambda op: op.name)
def test_out(op):
    for at, operands in enumerate(operands_of(op)):
        for out in DTYPES if len(required(op)) == 1 else (DTYPES[at % 15],):
            agree(lambda m, *operands, out=out: called(op, m, *operands, out=m.empty(operands[0].shape, dtype=getattr(m, out))), *operands, any_mistake=True)


@pytest.mark.parametrize("op", [op for _, op in MAPS if len(required(op)) == 2], ids=lambda op: op.name)
def test_numbers(op):
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        for tensors in (TENSORS, NO_DIMS):
            agree(lambda m, x, number=number: called(op, m, x, number), tensors[dtype])
            agree(lambda m, x, number=number: called(op, m, number, x), tensors[dtype])
