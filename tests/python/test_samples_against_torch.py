"""PyTorch's own samples of its operators (torch.testing's op_db): as functions, methods, in place, with gradients, and calls that
it refuses."""

import os

import pytest

torch = pytest.importorskip("torch")

import tenon
from torch.testing._internal.common_methods_invocations import op_db

from judge import Both, outcome, same

# So many samples of each operator and dtype are tried, spread over the list.
SAMPLES = max(2, min(8, int(os.environ.get("TENON_EXAMPLES", "300")) // 10))
DTYPES = (torch.float64, torch.int64, torch.bool, torch.uint8, torch.complex128)
NO_VALUES = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# Here docs/differences.md says what differs.
OTHER_IN_PLACE = {"addbmm"}
OTHER_GRADIENTS = {"as_strided_scatter", "cholesky_inverse", "cholesky_solve", "nn.functional.pdist"}
OTHER_RANDOM = {"nn.functional.rrelu"}
OTHER_TIES = {"argsort", "kthvalue", "median", "mode", "nanmedian", "sort", "topk"}
# Their results have other layouts, signs or orders: test_fft_against_torch.py, test_linalg_against_torch.py.
ELSEWHERE = ("linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.svd", "svd")
# Of dtypes that they refuse, one of several texts.
OTHER_TEXTS = {
    "gradient": [torch.bool],
    "histogramdd": [torch.bool],
    "nn.functional.bilinear": [torch.bool],
    "nn.functional.embedding": [torch.int64, torch.bool],
}
REFUSED = ("not in Tenon", "not supported", "sparse")


class CannotBeConverted(Exception):
    pass


def named(module, name):
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def shared(value):
    """A value of a sample for both libraries; tensors keep their strides."""
    if isinstance(value, torch.Tensor):
        return Both(converted(value), copied(value))
    if callable(value) and not isinstance(value, type):
        raise CannotBeConverted
    if isinstance(value, torch.dtype):
        return Both(named(tenon, str(value).removeprefix("torch.")), value)
    if isinstance(value, (torch.layout, torch.memory_format)):
        return Both(named(tenon, str(value).removeprefix("torch.")), value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(shared, value)) if type(value) in (list, tuple) else tuple(map(shared, value))
    if isinstance(value, dict):
        return {key: shared(item) for key, item in value.items()}
    return value


def flat(value):
    """All elements of a tensor's memory."""
    storage = value.untyped_storage()
    return torch.empty(0, dtype=value.dtype).set_(storage, 0, (storage.nbytes() // value.element_size(),), (1,)).clone()


def check_is_plain(value):
    if value.layout != torch.strided or value.device.type != "cpu" or value.is_conj() or value.is_neg():
        raise CannotBeConverted
    if not hasattr(tenon, str(value.dtype).removeprefix("torch.")):
        raise CannotBeConverted


def copied(value):
    check_is_plain(value)
    copy = flat(value.detach()).as_strided(value.shape, value.stride(), value.storage_offset())
    return copy.detach().requires_grad_(value.requires_grad)


def converted(value):
    check_is_plain(value)
    memory = flat(value.detach())
    ours = tenon.from_dlpack(memory.view(torch.uint8)).view(tenon.bool) if value.dtype == torch.bool else tenon.from_dlpack(memory)
    ours = ours.clone()  # memory that can be resized
    return ours.as_strided(tuple(value.shape), value.stride(), value.storage_offset()).detach().requires_grad_(value.requires_grad)


def is_tensor(value):
    return isinstance(value, (tenon.Tensor, torch.Tensor))


def comparable(value):
    """Without what both libraries may do as they like: strides of one element, how conjugation is kept."""
    if is_tensor(value):
        value = value.detach().resolve_conj().resolve_neg()
        value = value.contiguous() if value.numel() < 2 else value
        return (value.real, value.imag) if value.is_complex() else value
    return tuple(map(comparable, value)) if isinstance(value, (list, tuple)) else value


def without_values(value):
    if is_tensor(value):
        return (str(value.dtype).split(".")[-1], tuple(value.shape), value.stride() if value.numel() > 1 else None)
    return value


def leaves(value):
    if is_tensor(value):
        return [value] if value.requires_grad else []
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [leaf for item in values for leaf in leaves(item)]


def gradients(module, function, *args, **kwargs):
    result = function(*args, **kwargs)
    results = [each for each in (result if isinstance(result, (list, tuple)) else [result]) if is_tensor(each) and each.requires_grad]
    if not results:
        return comparable(result)
    weights = [module.linspace(-1, 2, each.numel(), dtype=module.float64).reshape(each.shape).to(each.dtype) for each in results]
    found = module.autograd.grad(results, leaves([*args, kwargs]), weights, allow_unused=True)
    return [None if each is None else comparable((each + 0).reshape(-1)) for each in found]


def refuses(call, args, kwargs):
    """Whether Tenon says of such a call that it does not do it."""
    result, _ = outcome(call, "ours", args, kwargs)
    return isinstance(result, NotImplementedError) and any(word in str(result) for word in REFUSED)


def samples_of(op, dtype, requires_grad=False):
    torch.manual_seed(0)
    try:
        # Not op.sample_inputs, which looks through the call stack for each sample: that takes longer than all calls.
        samples = list(op.sample_inputs_func(op, "cpu", dtype, requires_grad))
    except Exception:  # a dtype that its samples cannot be made of
        return []
    return samples[:: max(1, len(samples) // SAMPLES)]


def compare(call, sample):
    try:
        args, kwargs = shared((sample.input, *sample.args)), shared(dict(sample.kwargs))
    except CannotBeConverted:
        return

    def seeded(module, *args, **kwargs):
        module.manual_seed(7)
        return call(module, *args, **kwargs)

    try:
        same(seeded, *args, exact=False, **kwargs)
    except AssertionError:
        if not refuses(seeded, args, kwargs):
            raise


def ours_has(op):
    return named(tenon, op.name) is not None and callable(named(torch, op.name)) and op.name not in OTHER_TIES | OTHER_RANDOM


OPS = list({f"{op.name} {op.variant_test_name}".strip(): op for op in op_db if ours_has(op) and not op.name.startswith("fft.") and op.name not in ELSEWHERE}.items())


@pytest.mark.parametrize("op", [op for _, op in OPS], ids=[name for name, _ in OPS])
def test_function(op):
    tidy = without_values if op.name in NO_VALUES else comparable
    for dtype in DTYPES:
        if dtype in OTHER_TEXTS.get(op.name, []):
            continue
        for sample in samples_of(op, dtype):
            compare(lambda module, *args, **kwargs: tidy(named(module, op.name)(*args, **kwargs)), sample)


def variant(op, inplace):
    method = op.inplace_variant if inplace else op.method_variant
    name = getattr(method, "__name__", "")
    return name if hasattr(torch.Tensor, name) and op.name not in NO_VALUES | (OTHER_IN_PLACE if inplace else set()) else None


METHODS = [(name, op, inplace) for name, op in OPS for inplace in (False, True) if variant(op, inplace)]


@pytest.mark.parametrize(("op", "inplace"), [each[1:] for each in METHODS], ids=[f"{each[0]}{'_' * each[2]}" for each in METHODS])
def test_method(op, inplace):
    name = variant(op, inplace)

    def call(module, self, *args, **kwargs):
        return comparable(getattr(self.detach().clone() if inplace else self, name)(*args, **kwargs))

    for dtype in (torch.float64, torch.int64):
        for sample in samples_of(op, dtype):
            if isinstance(sample.input, torch.Tensor):
                compare(call, sample)


DIFFERENTIABLE = [(name, op) for name, op in OPS if op.supports_autograd and op.name not in OTHER_GRADIENTS | NO_VALUES]


@pytest.mark.parametrize("op", [op for _, op in DIFFERENTIABLE], ids=[name for name, _ in DIFFERENTIABLE])
def test_gradient(op):
    for dtype in (torch.float64, torch.complex128):
        if dtype in op.supported_dtypes("cpu"):
            for sample in samples_of(op, dtype, requires_grad=True):
                compare(lambda module, *args, **kwargs: gradients(module, named(module, op.name), *args, **kwargs), sample)


WRONG = [(name, op) for name, op in OPS if op.error_inputs_func is not None and not op.name.startswith("__")]


@pytest.mark.parametrize("op", [op for _, op in WRONG], ids=[name for name, _ in WRONG])
def test_wrong_call(op):
    for wrong in op.error_inputs_func(op, "cpu"):
        compare(lambda module, *args, **kwargs: comparable(named(module, op.name)(*args, **kwargs)), wrong.sample_input)
