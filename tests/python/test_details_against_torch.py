"""Details outside of ordinary arithmetic, compared with PyTorch: devices, seeds, dtypes, generators, modes, edge values,
attributes, print options, signals."""

import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import warnings

import pytest

pytest.importorskip("torch")

import numpy as np
import tenon
import torch

from judge import same

DEVICES = [
    "", "cpu", "cpu:0", "cpu:1", "cpu:127", "cpu:x", "cpu:", "cpu:1:2", ":1", "cpu:99999999999999999999", "meta", "meta:0", "meta:3", "meta ",
    "cpu:01", "cpu:00", "cpu:-1", "cpu:+1", "cpu: 1",
]  # fmt: skip


@pytest.mark.parametrize("text", DEVICES)
def test_devices_by_name(text):
    same(lambda m: repr(m.device(text)))
    same(lambda m: (str(m.device(text)), m.device(text).index, m.device(text).type))
    same(lambda m: pickle.loads(pickle.dumps(m.device(text))) == m.device(text))


@pytest.mark.parametrize("text", [b"cpu", b"meta", b"cpu:1", b"cpu:x", b""])
def test_devices_by_bytes(text):
    same(lambda m: repr(m.device(text)))
    same(lambda m: repr(m.device(type=text, index=1)))
    same(lambda m: str(m.zeros(2, device=text).device))
    same(lambda m: str(m.tensor([1], device=text).device))
    same(lambda m: str(m.zeros(2, device=bytearray(text)).device))


@pytest.mark.parametrize("text", [b"ij", b"xy", b"yx", bytearray(b"ij")])
def test_words_by_bytes(text):
    same(lambda m: [grid.tolist() for grid in m.meshgrid(m.arange(2), m.arange(3), indexing=text)])


def test_bytes_that_are_no_text():
    for m in (tenon, torch):
        with pytest.raises(UnicodeDecodeError):
            m.ones(2, device=b"\xff")
        with pytest.raises(UnicodeDecodeError):
            m.meshgrid(m.arange(2), indexing=b"\xff")


@pytest.mark.parametrize("arguments", [("cpu", 0), ("cpu", None), ("cpu:1", 2), ("cpu", -2), ("cpu", 127)])
def test_devices_by_index(arguments):
    same(lambda m: repr(m.device(*arguments)))


def test_devices_are_equal_if_index_and_type_are():
    def pairs(m):
        all_ = [m.device(text) for text in ("cpu", "cpu:0", "cpu:1", "meta", "meta:0")]
        return [a == b for a in all_ for b in all_], len(set(all_)), m.device(all_[1]) == all_[1], m.ones(2, device="cpu:1").device == all_[0]

    same(pairs)


@pytest.mark.parametrize("count", [2**40, 2**31, 0, -1, True, 1.5, "2"])
def test_invalid_numbers_of_threads(count):
    same(lambda m: m.set_num_threads(count))


def test_invalid_seeds():
    for seed in (2**64, -(2**63) - 1):
        same(lambda m: m.manual_seed(seed))
        same(lambda m: m.Generator().manual_seed(seed))
    same(lambda m: m.Generator().manual_seed(1.5))
    same(lambda m: m.manual_seed(1.5).initial_seed())


def test_invalid_dtypes():
    for given in (3, "float32"):
        same(lambda m: m.set_default_dtype(given))
        same(lambda m: m.finfo(given)) if not isinstance(given, str) else None
    same(lambda m: m.set_default_dtype(m.int8))
    same(lambda m: m.finfo(m.int8))
    same(lambda m: m.iinfo(m.float32))
    same(lambda m: m.iinfo(m.bool))


@pytest.mark.parametrize("data", [[1, 2], 5, (1.5,)])
def test_asarray_cannot_share_a_sequence(data):
    same(lambda m: m.asarray(data, copy=False))


@pytest.mark.parametrize("name", ["torch.IntTensor", "torch.HalfTensor", "torch.BoolTensor", "torch.FooTensor", "int", int, 1.5, (2,)])
def test_legacy_type_names(name):
    same(lambda m: m.ones(2).type(name))
    same(lambda m: m.ones(2).type(name).type())


def test_buffers_that_require_grad():
    for name in ("float32", "int32"):
        same(lambda m: m.frombuffer(bytearray(8), dtype=getattr(m, name), requires_grad=True))


def nonzero_into(m, out, **keywords):
    address = out.data_ptr()
    result = m.nonzero(m.tensor([[1, 0], [0, 1]]), out=out, **keywords)
    return result is out, address == out.data_ptr(), out


@pytest.mark.parametrize(
    "out",
    [
        lambda m: m.empty(2, 2, dtype=m.int64),
        lambda m: m.empty(0, dtype=m.int64),
        lambda m: m.empty(5, dtype=m.int64),
        lambda m: m.empty(4, 4, dtype=m.int64)[::2, ::2],
        lambda m: m.empty(2, 2),
    ],
)
def test_nonzero_into(out):
    same(lambda m: nonzero_into(m, out(m))[::2])
    same(lambda m: nonzero_into(m, out(m), as_tuple=True))


def test_tuple_plus_size():
    same(lambda m: repr((3,) + m.Size([2])).split(".")[-1])
    same(lambda m: repr(m.Size([2]) + (3,)).split(".")[-1])
    same(lambda m: m.Size([2]) + [3])


def test_states_of_generators():
    def drawn(m):
        generator = m.Generator()
        generator.manual_seed(3)
        m.rand(5, generator=generator)
        state = generator.get_state()
        copies = [pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator), generator.clone_state(), m.Generator()]
        assert copies[3].set_state(state) is copies[3]
        wanted = m.rand(3, generator=generator)
        return state.dtype, state.dim(), [m.equal(m.rand(3, generator=each), wanted) for each in copies]

    def state_of_all(m):
        state = m.get_rng_state()
        wanted = m.rand(3)
        m.set_rng_state(state)
        return state.dtype, m.equal(m.rand(3), wanted)

    same(drawn)
    same(state_of_all)
    for wrong in (lambda m: 5, lambda m: None, lambda m: m.zeros(3)):
        same(lambda m: m.Generator().set_state(wrong(m)))
    same(lambda m: m.Generator().set_state(m.zeros(3, dtype=m.uint8)))


def test_modes_as_class_decorators():
    def decorated(m):
        @m.no_grad()
        class Counts:
            def __init__(self):
                self.enabled = m.is_grad_enabled()

        return Counts().enabled, m.is_grad_enabled()

    same(decorated)


@pytest.mark.parametrize(
    "mode", [lambda m: m.no_grad(), lambda m: m.set_grad_enabled(False), lambda m: m.set_grad_enabled(True)]
)
def test_modes_that_exit_without_enter(mode):
    def left(m):
        mode(m).__exit__(None, None, None)
        enabled = m.is_grad_enabled()
        m.set_grad_enabled(True)
        return enabled

    same(left)
    for other in (tenon.enable_grad(), tenon.inference_mode()):
        with pytest.raises(RuntimeError, match="without having been entered"):
            other.__exit__(None, None, None)
        assert tenon.is_grad_enabled() and not tenon.is_inference_mode_enabled()


def test_read_only_arrays_are_copied():
    array = np.ones(3)
    array.flags.writeable = False
    assert tenon.from_dlpack(array).data_ptr() != array.ctypes.data
    with pytest.raises(BufferError, match="read-only"):
        tenon.from_dlpack(array, copy=False)


def test_invalid_arguments_of_context_methods():
    for method in ("mark_dirty", "mark_non_differentiable"):
        for module in (tenon, torch):

            class Wrong(module.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    getattr(ctx, method)(5)
                    return x * 1

            with pytest.raises(RuntimeError, match=method), warnings.catch_warnings():
                Wrong.apply(module.ones(2, requires_grad=True))


def test_data_of_an_inference_tensor():
    def of_inference(m):
        with m.inference_mode():
            made = m.ones(3)
        made.data = m.ones(3)
        return made.is_inference()

    same(of_inference)
    same(lambda m: (m.ones(2)[0]._is_view(), m.ones(2)._is_view()))


def random_layouts(count):
    draw = random.Random(3)
    for _ in range(count):
        ndim = draw.randint(0, 4)
        yield [draw.choice([0, 1, 1, 2, 3]) for _ in range(ndim)], [draw.choice([0, 1, 1, 2, 3, 4, 6]) for _ in range(ndim)]


@pytest.mark.parametrize("call", [lambda m, x: m.isfinite(x), lambda m, x: ~x.int(), lambda m, x: ~x.bool(), lambda m, x: m.isnan(x)])
def test_strides_of_functions_made_of_several_ops(call):
    for sizes, strides in random_layouts(500):
        same(lambda m: call(m, m.zeros(100).as_strided(sizes, strides)))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
@pytest.mark.parametrize("bounds", [(0, 2**63), (2**63, 1), (2**63, 2**63), (2**63,), (2**63, 1.5), (True, 2**63)])
def test_clamp_bounds_beyond_int64(dtype, bounds):
    same(lambda m: m.clamp(m.zeros(3, dtype=getattr(m, dtype)), *bounds))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int32", "int64"])
@pytest.mark.parametrize("alpha", [2**63, 2**63 + 5, 2**64 - 1])
def test_alpha_beyond_int64(dtype, alpha):
    for name in ("add", "sub"):
        same(lambda m: getattr(m, name)(m.full((3,), 3, dtype=getattr(m, dtype)), m.ones(3, dtype=getattr(m, dtype)), alpha=alpha))


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint16", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("decimals", [None, -400, -40, -2, -1, 0, 1, 2, 40, 400])
def test_round_to_decimals(dtype, decimals):
    given = {} if decimals is None else {"decimals": decimals}
    values = lambda m: m.tensor([0.5, 1.25, 2.5, 123.456, 6e4], dtype=m.float64).to(getattr(m, dtype))
    same(lambda m: m.round(values(m), **given))
    same(lambda m: values(m).round_(**given))
    same(lambda m: m.round(values(m), **given, out=m.empty(5, dtype=m.float32)))


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint64", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("numbers", [(), (1,), (1e10, 1e10, -1e10), (None, float("nan")), (1e300, 2, True)])
def test_nan_to_num(dtype, numbers):
    values = lambda m: m.tensor([[1.0, 2.0]]).to(getattr(m, dtype)) if dtype[0] in "biu" else m.tensor([[float("nan"), float("inf"), -float("inf"), -0.0]], dtype=getattr(m, dtype))
    same(lambda m: m.nan_to_num(values(m), *numbers))
    same(lambda m: m.nan_to_num(values(m).t(), *numbers, out=m.empty(0, dtype=getattr(m, dtype))))
    same(lambda m: m.nan_to_num(values(m), *numbers, out=m.empty(2)))
    same(lambda m: values(m)[:, :1].expand(3, 2).nan_to_num_(*numbers))


@pytest.mark.parametrize("name", ["signbit", "isposinf", "isneginf"])
@pytest.mark.parametrize("dtype", ["bool", "int32", "uint64", "float16", "float64"])
def test_sign_tests(name, dtype):
    same(lambda m: getattr(m, name)(m.tensor([-1.0, 0.0, 3.0]).to(m.int32).to(getattr(m, dtype))))
    same(lambda m: getattr(m, name)(m.tensor([-0.0, float("inf"), -float("inf"), float("nan")]), out=m.empty(4, dtype=getattr(m, dtype))))


@pytest.mark.parametrize("call", [lambda m, a, b: m.remainder(a, b), lambda m, a, b: m.remainder(a, 2), lambda m, a, b: a % b, lambda m, a, b: m.fmod(a, b), lambda m, a, b: m.fmod(a, 2),
                                  lambda m, a, b: m.copysign(a, b), lambda m, a, b: m.copysign(a, -2), lambda m, a, b: m.fmax(a, b), lambda m, a, b: m.fmin(a, b),
                                  lambda m, a, b: m.nan_to_num(a), lambda m, a, b: m.round(a, decimals=0), lambda m, a, b: m.deg2rad(a), lambda m, a, b: m.frac(a), lambda m, a, b: m.sign(a)])  # fmt: skip
def test_gradients_at_edge_values(call):
    def gradients(m):
        a, b = (m.tensor(values, dtype=m.float64, requires_grad=True) for values in ([0.0, 1.5, -7.25, 2.0, float("nan"), float("inf")], [1.0, 1.5, 2.0, float("nan"), 3.0, -0.5]))
        result = call(m, a, b)
        result.backward(m.tensor([1.0, 2.0, float("inf"), 4.0, 5.0, 6.0], dtype=m.float64))
        return result.grad_fn.name(), [str(x.grad) for x in (a, b)]

    same(gradients)


@pytest.mark.parametrize("depth", [0, 1])
def test_mm_into_an_expanded_output(depth):
    same(lambda m: m.mm(m.ones(3, depth), m.ones(depth, 3), out=m.ones(1).expand(3, 3)))


@pytest.mark.parametrize("dtype", ["uint32", "int8", "bool"])
def test_logical_not_into_other_dtypes(dtype):
    same(lambda m: m.logical_not(m.ones(3), out=m.empty(3, dtype=getattr(m, dtype))))


def test_a_broadcast_float16_divisor():
    def quotients(m):
        dividend = m.full((5,), -596.5, dtype=m.float16)
        divisor = m.full((5,), 0.1820068359375, dtype=m.float16)
        return [m.div(dividend, d, rounding_mode="floor").tolist() for d in (divisor, divisor[0].expand(5), divisor[:1].expand(2, 5), divisor.as_strided((2, 5), (0, 0)))]

    same(quotients)


def test_dims_after_the_first_may_be_bool():
    for m in (torch, tenon):
        assert m.ones(2, 3).flip(0, True).shape == (2, 3)
        assert m.ones(2, 3).sum((0, True)).tolist() == 6
        with pytest.raises(RuntimeError, match="dim 0 appears multiple times"):
            m.ones(2, 3).count_nonzero((0, False))
        with pytest.raises(TypeError):
            m.ones(2, 3).permute(False, 1)


def copied_with_attributes(m):
    x = m.ones(2)
    x.note = "kept"
    return copy.copy(x).note


def deleted_data(m):
    x = m.ones(2)
    del x.data


def printed_with(**options):
    def program(m):
        m.set_printoptions(**options)
        try:
            return str(m.arange(30.0).reshape(2, 15))
        finally:
            m.set_printoptions(profile="default")

    return program


LARGE_OPTIONS = [printed_with(threshold=2**70), printed_with(threshold=float("inf")), printed_with(edgeitems=2**70), printed_with(linewidth=2**70)]


@pytest.mark.parametrize("program", [*LARGE_OPTIONS, copied_with_attributes, deleted_data, lambda m: m.ones(3) in m.ones(2)])
def test_attributes_and_print_options(program):
    same(program)


@pytest.mark.without_asan("AddressSanitizer reports the signal as an error")
def test_a_sent_bus_error_ends_the_program(tmp_path):
    path = tmp_path / "x.npy"
    tenon.save(tenon.ones(4), path)
    program = f"import os, signal, tenon; x = tenon.load({str(path)!r}, mmap=True); os.kill(os.getpid(), signal.SIGBUS); print('went on')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout) == (-signal.SIGBUS, "")


BOOL_PRODUCTS = [
    lambda m, x: m.inner(x, x[:1].expand(3)), lambda m, x: m.inner(x[1:2].expand(3), x), lambda m, x: m.inner(x, x), lambda m, x: m.inner(x[::2], x[:2]),
    lambda m, x: m.inner(x[None, ::2], x[:2]), lambda m, x: m.inner(x[None, :2], x[None, ::2]), lambda m, x: m.inner(x[::2], x[:2], out=m.empty(0, dtype=m.bool)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BOOL_PRODUCTS)))
def test_inner_products_of_bools(number):
    same(lambda m: BOOL_PRODUCTS[number](m, m.tensor([True, False, True])))


FRESH = [
    lambda m, z, x: m.isinf(z), lambda m, z, x: m.nan_to_num(z), lambda m, z, x: m.std(z), lambda m, z, x: m.var(z, 0), lambda m, z, x: m.sort(x, stable=True)[0],
    lambda m, z, x: m.sort(x, stable=True)[1], lambda m, z, x: m.sort(x)[1], lambda m, z, x: m.argsort(x), lambda m, z, x: m.topk(x, 1)[1], lambda m, z, x: m.isfinite(z),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(FRESH)))
def test_new_results_count_no_writes(number):
    same(lambda m: FRESH[number](m, m.tensor([1j, 2]), m.tensor(3.0))._version)


@pytest.mark.parametrize("tolerances", [{"rtol": -1}, {"atol": -1}, {"rtol": 1, "atol": 0}])
def test_tolerances_of_long_comparisons(tolerances):
    same(lambda m: m.allclose(m.ones(500, 500), m.ones(500, 500), **tolerances))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32"])
def test_the_entropy_of_1_is_negative_zero(dtype):
    same(lambda m: m.signbit(m.special.entr(m.ones(20, dtype=getattr(m, dtype)))))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int8", "bool"])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 0), (3, 5), (40, 33), (1030, 1026)])
def test_traces(sizes, dtype):
    def traces(m):
        x = m.arange(sizes[0] * sizes[1]).remainder(7).reshape(sizes).to(getattr(m, dtype))
        return m.trace(x), m.trace(x.t()), m.trace(x[::2, ::3]), m.trace(x[:1].expand(sizes[0], -1))

    same(traces)


def test_a_bool_as_the_bound_of_hardshrink_has_a_gradient():
    gradients = []
    for m in (tenon, torch):
        x = m.tensor([-2.0, -1.0, 0.5, 1.0, 3.0], requires_grad=True)
        m.nn.functional.hardshrink(x, True).sum().backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1] == [1, 0, 0, 0, 1]


WARNED = [
    lambda m: m.baddbmm(m.full((1, 1, 1), 1 + 2j), m.ones(1, 2, 0, dtype=m.complex64), m.ones(1, 0, 2)),
    lambda m: m.baddbmm(m.full((1, 1, 1), 1 + 2j), m.ones(1, 2, 0, dtype=m.complex64), m.ones(1, 0, 2), beta=0),
    lambda m: m.bucketize(m.arange(5), m.ones(1).expand(3), out=m.zeros(8, dtype=m.int64)),
    lambda m: m.searchsorted(m.arange(6)[::2], m.arange(6)[::2], out=m.zeros(2, 2, dtype=m.int64)),
    lambda m: m.cross(m.arange(3), m.arange(3) + 1),
    lambda m: m.cross(m.arange(3), m.arange(3) + 1, out=m.zeros(2, 2, dtype=m.int64)),
    lambda m: m.cross(m.zeros(2), m.zeros(2), out=m.zeros(3)),
    lambda m: m.var(m.tensor([1 + 2j])),
    lambda m: m.std_mean(m.tensor([1 + 2j]), 0),
    lambda m: m.std(m.tensor([1 + 2j]), 0, out=m.zeros(3)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WARNED)))
def test_warnings_of_lost_parts_and_resized_outputs(number):
    same(lambda m: WARNED[number](m))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dtype", ["uint8", "int64"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [-100, 0])
def test_smoothed_losses_of_byte_classes(ignored, weighted, dtype, reduction):
    def loss(m):
        weight = m.ones(5) if weighted else None
        return m.nn.functional.cross_entropy(m.arange(10.0).reshape(2, 5), m.zeros(2, dtype=getattr(m, dtype)), weight, ignore_index=ignored, label_smoothing=0.1, reduction=reduction)

    same(loss)


def test_a_sum_of_repeated_or_crosswise_elements_warns_once_of_lost_parts():
    x = tenon.ones(4, 1, dtype=tenon.complex64).expand(4, 5)
    y = tenon.ones(6, 9, 3, dtype=tenon.complex64).permute(1, 0, 2)
    out = tenon.empty(3, 6).t()
    for call in (lambda: x.sum(1, dtype=tenon.float32), lambda: x.sum(0, dtype=tenon.float32), lambda: tenon.sum(y, 0, dtype=tenon.float32, out=out)):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call()
        assert len(seen) == 1


WRITES = {
    "fill_": lambda m, x, number: x.fill_(number),
    "full_like": lambda m, x, number: m.full_like(x, number),
    "scalar_tensor": lambda m, x, number: m.scalar_tensor(number, dtype=x.dtype),
    "an element": lambda m, x, number: x.reshape(-1).__setitem__(0, number) or x,
    "by index": lambda m, x, number: x.reshape(-1).__setitem__(m.tensor([0]), number) or x,
    "by mask": lambda m, x, number: x.__setitem__(x == 0, number) or x,
    "masked_fill": lambda m, x, number: x.masked_fill(x == 0, number),
}


@pytest.mark.parametrize("sizes", [(), (1,), (3,)])
@pytest.mark.parametrize("dtype, number", [("bfloat16", 3.39e38), ("bfloat16", 3.4e38), ("bfloat16", 1e39), ("float16", 65519.0), ("float16", 7e4), ("float32", 1e39)])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_numbers_too_large_for_what_they_are_written_to(write, dtype, number, sizes):
    """One element of bfloat16 becomes infinite; several are refused, if one call fills them."""
    same(lambda m: write(m, m.zeros(sizes, dtype=getattr(m, dtype)), number))
