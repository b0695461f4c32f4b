"""Names that few programs use, but programs that do must find: old constructors, storages, settings, copies of parts, losses of margins."""

import importlib
import re
import warnings

import pytest

torch = pytest.importorskip("torch")

import tenon
import torch.testing

from judge import same

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))  # warns once about its own parts

# In each expression `m` is the library, `x` a matrix of 3 times 4 numbers and `y` a vector of 3 classes.
CALLS = """
m.Tensor(2, 3).shape
m.Tensor()
m.Tensor([1, 2])
m.Tensor([True, 2])
m.Tensor(range(3))
m.Tensor(m.Size([2, 2])).shape
m.Tensor(x.long())
m.Tensor(x).data_ptr() == x.data_ptr()
m.Tensor(x.requires_grad_()).requires_grad
m.Tensor(2.5)
m.Tensor(True)
m.Tensor("a")
m.Tensor(None)
m.Tensor(2, 2.5)
m.Tensor(-1)
m.Tensor([1j])
m.Tensor([[1, 2], [3]])
m.Tensor(2, device="meta")
m.Tensor(m.tensor(3.0))
m.Tensor(x.untyped_storage()).shape
m.Tensor(numpy.ones(3))
m.LongTensor([1, 2.5])
m.LongTensor([[1, 2]])
m.LongTensor(x)
m.FloatTensor(x.long())
m.FloatTensor(2, 3).shape
m.BoolTensor([1, 0])
m.BFloat16Tensor([1])
isinstance(x, m.FloatTensor), isinstance(x.long(), m.FloatTensor), m.FloatTensor.is_cuda
x.type(m.LongTensor), x.type("torch.LongTensor"), x.type(m.Tensor), x.type()
x.type(3)
x.type("torch.Foo")
x.new([1, 2]), x.long().new([1, 2]), x.new(2, 3).shape, x.new().shape
x.new(2.5)
x.new(x.long())
x.new_empty_strided((2, 2), (1, 2)).stride()
x.untyped_storage().nbytes(), len(x.untyped_storage()), x.untyped_storage().size(), x.untyped_storage()[6], x.t().untyped_storage().tolist()[:9]
x[1:].untyped_storage().data_ptr() == x.data_ptr()
x.storage().tolist(), x.storage()[2], len(x.storage()), x.storage().nbytes()
m.is_storage(x.untyped_storage()), m.is_storage(x)
x.set_(m.ones(2, 2))
m.ones(3).set_()
x.set_(m.arange(6.0), 1, (2, 2), (2, 1))
x.set_(m.arange(6.0), 1, (2, 2))
x.set_(m.arange(6))
x.set_(m.arange(6.0).untyped_storage(), 0, (2,))
x.is_set_to(x), x.is_set_to(x.view(-1)), x.is_set_to(x.detach())
x.dim_order(), x.t().dim_order(), m.ones(2, 3, 4, 5).permute(0, 2, 3, 1).dim_order(), x.expand(2, 3, 4).dim_order()
x[:1].dim_order(ambiguity_check=True)
x.dim_order(ambiguity_check="x")
m.ones(1, 2, 3, 4).dim_order(ambiguity_check=[m.contiguous_format, m.channels_last])
x.resize(4, 3)
x.resize(2, 2)
x.resize_as(m.ones(2, 6))
x.apply_(lambda a: a * 2 + 1)
x.t().apply_(lambda a: a + 1)
m.arange(3).apply_(lambda a: a * 2)
m.tensor([True]).apply_(lambda a: not a)
m.zeros(2).apply_(lambda a: "x")
m.zeros(2).apply_(lambda a: 1 / 0)
m.zeros(2).apply_(3)
m.ones(2, requires_grad=True).apply_(lambda a: a * 2)
m.zeros(2, 2).map_(m.arange(2.0), lambda a, b: a + b)
m.zeros(2).map_(m.arange(2), lambda a, b: a + b)
m.zeros(2, 2).map2_(m.arange(2.0), m.arange(2.0)[:, None], lambda a, b, c: a + b * c)
x.values()
x.coalesce()
x.indices()
x.is_coalesced()
x.crow_indices()
x.sparse_dim(), x.dense_dim(), x.to_dense() is x
x.pin_memory()
x.cuda()
x.is_pinned(), x.is_shared(), x.is_neg(), x.resolve_neg() is x, x.is_distributed(), x.get_device(), m.get_device(x)
x.is_cpu, x.is_quantized, x.is_nested, x.is_mps, x.is_xla, x.is_mkldnn, x.is_vulkan, x.is_sparse_csr, x.name
x.as_subclass(m.Tensor)
x.is_same_size(x), m.is_same_size(x, x.t())
m.is_same_size(x, 3)
x.is_nonzero()
m.is_nonzero(m.tensor([0.0])), m.tensor([2.0]).is_nonzero()
m.is_nonzero(m.tensor([]))
m.typename(x), m.typename(3)
m.unsafe_split(x, 2), m.unsafe_chunk(x, 2), m.unsafe_split_with_sizes(x, [1, 2]), x.unsafe_split(3, 1), x.unsafe_chunk(3, -1)
m.unsafe_split(x, -1)
m.split_copy(x.t(), 3), m.split_with_sizes_copy(x, [1, 2]), m.unbind_copy(x.t(), 1)
m.detach_copy(x.t()), m.view_as_real_copy(m.tensor([1j])), m.view_as_complex_copy(m.arange(6.0).reshape(3, 2)).imag
m.histogram(m.tensor([1.0, 2, 1]), bins=4, range=(0.0, 3.0), weight=m.tensor([1.0, 2.0, 4.0]))
m.histogram(m.tensor([1.0, 2, 1]), bins=4, range=(0.0, 3.0), weight=m.tensor([1.0, 2.0, 4.0]), density=True)
m.histogram(m.tensor([1.0, 2, 1, 5, 2.5]), m.tensor([1.0, 2, 3, 4]))
x.histogram(5)
m.histogram(m.tensor([]), 5)
m.histogram(m.tensor([2.0]), 3)
m.histogram(m.tensor([1, 2]), 3)
m.histogram(x, 0)
m.histogram(m.tensor([1.0, float("nan")]), 2)
m.histogram(x, 2, range=(3.0, 1.0))
m.histogram(x, 2, weight=m.ones(3))
m.histogram(x, 2, weight=x.double())
m.histogram(x, m.ones(2, 2))
m.histogram(x, m.tensor([]))
m.histogram(x, m.tensor([1.0]))
m.histogram(x, m.tensor(1.0))
m.histogram(x, m.tensor([0, 1]))
m.histogram(x, m.tensor([0.0, 0.2, 3.0]), weight=x, density=True)
m.histogram(x, m.tensor([3.0, 1.0, 2.0]))
m.histogram(m.tensor([0.0, 1.0, 2.0]), m.tensor([0.0, float("nan"), 3.0]))
m.histogram(m.linspace(0, 1, 101), 10)
m.histogram(m.linspace(0, 1, 101, dtype=m.float64), 10)
m.histogram(m.linspace(0, 1, 1001), 30, range=(0.1, 0.7))
m.histogram(m.arange(40) * 0.1, m.arange(14) * 0.3)
m.histogram(m.tensor([-3e38, 0.0, 3e38]), 4)
m.histogram(x.half(), 3, range=(0.0, 2.0)), m.histogram(x.bfloat16(), m.tensor([0.0, 0.5, 1.0]).bfloat16())
m.histogram(x.half())
m.histogram(x.long(), 3, range=(0.0, 2.0))
m.histogram(x > 0, 3, range=(0.0, 2.0))
m.histogram(m.tensor([2.0]), 3, range=[1, 1])
m.histogram(m.tensor([1e30]), 3), m.histogram(m.tensor([2.0**54]).double(), 3), m.histogram(m.tensor([3.4e38, 3.4e38]), 3)
m.histc(m.tensor([1e30]), 3), m.histc(m.tensor([2.0**24]), 4), m.histc(m.tensor([2.0**54]).double(), 4), m.histc(m.tensor([3.4028234663852886e38]), 4)
m.histc(m.tensor(4096.0).half(), 3), m.histc(m.tensor(-4096.0).half(), 4), m.histc(m.tensor(1e4).bfloat16(), 4)
m.histc(m.tensor([float("inf")]), 4)
m.histogram(x, 3, range=())
m.histogram(x, 3, range=[1, 2, 3])
m.histogram(x, 3, range=[0, float("inf")])
m.histogram(x, 3, range=["a", 1])
m.histogram(x, 3, range=[1, "a"])
m.histogram(x, 3, range=[1j, 2])
m.histogram(x, 3, range=1)
m.histogram(x, 3, range=None), x.histogram(bins=3, range=[True, 2])
m.histogram(x, x[0], range=(0.0, 1.0))
m.histogram(x, 1.5)
m.histogram()
m.histogram(x, 3, density=1)
m.histogram(x.t(), 3, weight=x.t(), density=True)
m.histogram(x, 3, weight=x.reshape(-1))
m.histogram(x, 3, range=(0.0, 1.0), out=(m.empty(0), m.empty(4)))
m.histogram(x, 3, range=(0.0, 1.0), out=(m.empty(2), m.empty(2)))
m.histogram(x, 0, out=(m.empty(2), m.empty(2, dtype=m.float64)))
m.histogram(x, m.tensor([[0.0, 1.0]]), out=(m.empty(0, dtype=m.float64), m.empty(0)))
m.histogram(x, 3, out=(m.empty(2, dtype=m.float64), m.empty(2)))
m.histogram(x, 3, out=m.empty(3))
m.histogram(x, 3, out=(m.empty(3),))
m.linspace(m.tensor(0), m.tensor(3.0, requires_grad=True), 4), m.linspace(0, m.tensor(3), 4, dtype=m.int64), m.linspace(m.tensor(1.0), 3, 4)
m.linspace(m.tensor([0.0]), m.tensor(1.0), 4)
m.linspace(0, m.tensor([3.0]), -1)
m.linspace(0, "a", 3)
m.linspace(0, 3)
m.logspace(m.tensor([3.0]), 1, 4)
m.logspace(m.tensor(0), m.tensor(3), 4, 2), m.logspace(0, m.tensor(3), 4, out=m.empty(4))
m.logspace(0, "a", 3)
m.arange(-1, dtype=m.uint16)
m.arange(0, 5, 0, dtype=m.uint32)
m.msort(x + 1j, out=m.empty(2, 3))
m.argsort(x + 1j, stable=True, out=m.empty(2, 3))
m.layer_norm(x, (4,), cudnn_enable=False), m.group_norm(x, 2, None, None, 1e-5, False)
m.layer_norm(x, (4,), None, None, 1e-5, 1)
m.layer_norm(x, 4)
m.layer_norm(x)
m.layer_norm(3, (4,), cudnn=True)
m.group_norm(x, 2, cudnn_enable=True)
m.group_norm()
m.histogramdd(m.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]), bins=[3, 3], weight=m.tensor([1.0, 2.0, 4.0, 8.0]))
m.histogramdd(m.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), bins=[2, 2], range=[0.0, 1.0, 0.0, 1.0], density=True)
m.histogramdd(m.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), bins=2)
m.histogramdd(m.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), bins=[2])
m.histogramdd(m.tensor([0.0, 0.0]), bins=[2])
m.nonzero_static(m.tensor([[1, 0], [2, 3]]), size=2), m.tensor([[1, 0], [2, 3]]).nonzero_static(size=5, fill_value=7), m.nonzero_static(m.tensor(3), size=2)
m.nonzero_static(x, size=-1)
m.frobenius_norm(x, 1), m.frobenius_norm(x, (0, 1), True), m.frobenius_norm(x, ())
m.layer_norm(x, (4,), m.arange(4.0), m.ones(4), 1e-3)
m.rms_norm(x, (4,))
m.group_norm(x, 2)
m.batch_norm(x, None, None, x[0], x[1] + 1, False, 0.1, 1e-5, True)
m.instance_norm(x[None], None, None, None, None, True, 0.1, 1e-5, True)
m.dropout(x, 0.0, True) is x, m.dropout(x, 0.5, False) is x, m.dropout(x, 1.0, True), m.alpha_dropout(x, 0.0, True) is x
m.dropout(x, 2.0, True)
m.embedding(x, m.tensor([0, 2]), 0)
m.binary_cross_entropy_with_logits(x / 10, x / 12), m.binary_cross_entropy_with_logits(x / 10, x / 12, None, None, 2)
m.kl_div(x, x / 12), m.kl_div(x, x / 12, 1, log_target=True)
m.cosine_embedding_loss(x, x * 2, m.tensor([1, -1, 1])), m.hinge_embedding_loss(x, m.ones(3, 4)), m.margin_ranking_loss(x, x * 2, m.ones(3, 4), 0.5, 1)
m.poisson_nll_loss(x, x, False, True, 1e-8, 1)
m.triplet_margin_loss(x, x + 1, x - 2, 3.0)
F.triplet_margin_loss(x, x + 1, x - 0.2, swap=True, p=1), F.triplet_margin_loss(x, x * 2, x - 1, reduction="none")
F.triplet_margin_loss(x, x + 1, x - 2, margin=-1)
F.triplet_margin_loss(x, x + 1, x[0])
F.triplet_margin_loss(x, x + 1, x, reduction="x")
F.triplet_margin_with_distance_loss(x, x + 1, x - 2, distance_function=lambda a, b: (a - b).abs().sum(-1), swap=True, margin=3.0)
F.triplet_margin_with_distance_loss(x, x + 1, x - 2, reduction="no")
F.multi_margin_loss(x, y), F.multi_margin_loss(x, y, p=2, weight=m.tensor([1.0, 2, 3, 4]), margin=0.5, reduction="sum"), F.multi_margin_loss(x[0], y[0])
F.multi_margin_loss(x[0], y[:1], reduction="none"), F.multi_margin_loss(x[0], y[0], reduction="none"), F.multi_margin_loss(x, y, reduction="none")
F.multi_margin_loss(x, y[:2])
F.multi_margin_loss(x, y + 3)
F.multi_margin_loss(x, y.float())
F.multi_margin_loss(x.long(), y)
F.multi_margin_loss(x.half(), y)
F.multi_margin_loss(x, y, weight=m.ones(3))
F.multi_margin_loss(x, y, p=3)
F.multi_margin_loss(x.reshape(3, 2, 2), y)
F.multi_margin_loss(m.ones(3, 0), y)
F.multilabel_margin_loss(x, z), F.multilabel_margin_loss(x, z, reduction="none"), F.multilabel_margin_loss(x[0], z[0], reduction="none")
F.multilabel_margin_loss(x, z[0])
F.multilabel_margin_loss(x, z + 9)
F.multilabel_margin_loss(x, z.float())
F.multilabel_margin_loss(x.half(), z)
F.multilabel_soft_margin_loss(x / 10, (x > 3).float()), F.multilabel_soft_margin_loss(x / 10, (x > 3).float(), weight=m.arange(4.0), reduction="none")
F.multilabel_soft_margin_loss(x / 10, (x > 3).float(), reduction="x")
F.sigmoid(x), F.tanh(x)
F.local_response_norm(x[None], 2), F.local_response_norm(x[None, :, :, None], 3, alpha=0.1)
F.local_response_norm(x, 2)
F.gumbel_softmax(x, hard=True).sum(-1)
F.gumbel_softmax(x, dim=7)
F.dropout1d(x, 0.0), F.dropout2d(x[None, None], 1.0), F.alpha_dropout(x, 1.0, True), F.alpha_dropout(x, 0.5)
F.dropout1d(x[0], 0.5)
F.dropout(x, 3)
m.linalg.vander(y), m.linalg.vander(m.ones(2, 3), N=2)
m.linalg.vander(y, N=1)
m.linalg.vander(y > 0)
m.linalg.diagonal(x), m.linalg.diagonal(x, offset=1, dim1=0, dim2=1), m.linalg.matmul(x, x.t())
m.linalg.diagonal(x[0])
m.func.jvp(lambda a: (a**2).sum(), (x,), (m.ones(3, 4),)), m.func.jvp(lambda a, b: (a * b, a + b), (x, x), (m.ones(3, 4), x))
m.func.jvp(lambda a: m.ones(2), (x,), (x,)), m.func.jvp(lambda a: (a * 2, a), (x,), (x,), has_aux=True)
m.func.jvp(lambda a: a, x, x)
m.func.jacfwd(lambda a, b: a * b, argnums=(0, 1))(x[0], x[1])
m.autograd.functional.jacobian(lambda a, b: (a * b, (a + b).sum()), (x[0], x[1]))
m.autograd.functional.hessian(lambda a, b: (a**2 * b).sum(), (x[0], x[1]))
m.autograd.functional.hessian(lambda a: a**3, x[0])
m.autograd.functional.vjp(lambda a: a**2, x[0], x[1]), m.autograd.functional.jvp(lambda a, b: (a * b, b), (x[0], x[1]), (x[1], x[2]))
m.autograd.functional.hvp(lambda a: (a**3).sum(), x[0], x[1]), m.autograd.functional.vhp(lambda a: (a**3).sum(), x[0], x[1])
m.autograd.functional.vjp(lambda a: a**2, x[0])
m.autograd.functional.jacobian(lambda a: m.ones(2), x[0], strict=True)
m.autograd.functional.jacobian(lambda a: 3, x[0])
m.autograd.functional.jacobian(lambda a: a, 3)
(m.manual_seed(1), m.testing.make_tensor(2, 3, dtype=m.float32, device="cpu"), m.testing.make_tensor((5,), dtype=m.int64, device="cpu", low=0, high=4))[1:]
m.testing.make_tensor(2, 4, dtype=m.float64, device="cpu", noncontiguous=True).stride()
m.testing.make_tensor(5, dtype=m.uint8, device="cpu", low=5, high=3)
m.testing.make_tensor(5, dtype=m.uint8, device="cpu", requires_grad=True)
m.testing.assert_allclose(x, x + 1e-6)
m.testing.assert_allclose(x, x + 1)
m.get_float32_matmul_precision()
m.set_float32_matmul_precision("x")
m.set_float32_matmul_precision(2)
m.set_flush_denormal(False)
m.set_num_interop_threads(0)
m.use_deterministic_algorithms(1)
m.set_deterministic_debug_mode("x")
m.set_default_tensor_type("torch.LongTensor")
m.set_default_tensor_type(m.DoubleTensor), m.ones(2).dtype, m.set_default_tensor_type("torch.FloatTensor"), m.ones(2).dtype
m.set_default_device("meta"), m.rand(2), m.tensor([1.0]), m.zeros_like(x), x.new_zeros(2), m.randperm(3), m.set_default_device("cpu"), m.ones(2), m.set_default_device(None)
(lambda d: (str(d.__enter__()), m.ones(2), m.arange(3), d.__exit__(None, None, None), m.ones(2)))(m.device("meta"))
m.set_anomaly_enabled(True), m.is_anomaly_enabled(), m.set_anomaly_enabled(False), m.is_anomaly_enabled(), m.is_anomaly_check_nan_enabled()
m.set_deterministic_debug_mode("warn"), m.get_deterministic_debug_mode(), m.is_deterministic_algorithms_warn_only_enabled(), m.set_deterministic_debug_mode(0)
""".strip().splitlines()


@pytest.mark.parametrize("text", CALLS)
def test_call(text):
    def call(m):
        import numpy

        names = {"m": m, "F": m.nn.functional, "numpy": numpy, "x": m.arange(12.0).reshape(3, 4), "y": m.tensor([1, 0, 3])}
        return eval(text, {**names, "z": m.tensor([[1, 0, -1, 2], [3, -1, 0, 0], [-1, 0, 0, 0]])})

    same(call, exact=False)


@pytest.mark.parametrize("name", ["multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "triplet_margin_loss", "local_response_norm"])
def test_gradient(name):
    def call(m):
        x = ((m.arange(12.0, dtype=m.float64) * 7 % 5) / 3).reshape(3, 4).requires_grad_()
        others = {"multi_margin_loss": (m.tensor([1, 0, 3]),), "multilabel_margin_loss": (m.tensor([[1, 0, -1, 2], [3, -1, 0, 0], [-1, 0, 0, 0]]),),
                  "multilabel_soft_margin_loss": (m.eye(3, 4, dtype=m.float64),), "triplet_margin_loss": (x.detach() * 2, x.detach() - 0.2), "local_response_norm": (2,)}  # fmt: skip
        function = getattr(m.nn.functional, name)
        return m.autograd.grad(function(x[None] if name == "local_response_norm" else x, *others[name]).sum(), x)[0]

    same(call, exact=False)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_gradient_of_index_reduce(reduce, include_self):
    def call(m, dim):
        x = (m.arange(12.0, dtype=m.float64) * 7 % 5).reshape(3, 4).requires_grad_()
        source = (m.arange(12.0, dtype=m.float64) * 5 % 7).reshape(3, 4).requires_grad_()
        index = m.tensor([2, 0, 2]) if dim == 0 else m.tensor([3, 3, 1, 0])
        result = x.index_reduce(dim, index, source, reduce, include_self=include_self)
        first = m.autograd.grad((result * m.arange(4.0, dtype=m.float64)).sum(), (x, source), create_graph=True)
        return type(result.grad_fn).__name__, result, first

    for dim in (0, 1, -1):
        same(call, dim, exact=False)


@pytest.mark.parametrize("call", [
    lambda m, x: m.linalg.norm(x), lambda m, x: m.linalg.norm(x, 1), lambda m, x: m.linalg.norm(x, -m.inf), lambda m, x: m.linalg.norm(x, "fro"), lambda m, x: m.linalg.norm(x, 3, 0),
    lambda m, x: m.linalg.norm(x[None], ord=m.inf, dim=(0, 2), keepdim=True), lambda m, x: m.linalg.matrix_norm(x), lambda m, x: m.linalg.matrix_norm(x, -1, (1, 0)),
    lambda m, x: m.linalg.matrix_norm(x, 1, dtype=m.complex128 if x.is_complex() else m.float64), lambda m, x: m.linalg.matrix_norm(x, "fro", keepdim=True),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_gradient_of_norms(call, dtype):
    def gradient(m):
        x = (m.arange(12.0) * 7 % 5 - 2).reshape(3, 4).to(getattr(m, dtype)).requires_grad_()
        result = call(m, x)
        return result, m.view_as_real(g) if (g := m.autograd.grad(result.sum(), x)[0]).is_complex() else g

    same(gradient, exact=False)


@pytest.mark.parametrize("call", [
    lambda m, x: m.linalg.matrix_norm(x, 3), lambda m, x: m.linalg.matrix_norm(x, "x"), lambda m, x: m.linalg.matrix_norm(x[0], 1), lambda m, x: m.linalg.matrix_norm(x.long(), 1),
    lambda m, x: m.linalg.matrix_norm(x, 1, (0,)), lambda m, x: m.linalg.matrix_norm(x, 1, (0, 0)), lambda m, x: m.linalg.matrix_norm(x, 1, (0, 5)), lambda m, x: m.linalg.matrix_norm(x, 1, dim=[]),
    lambda m, x: m.linalg.norm(x, 1, (0, 1, 1)), lambda m, x: m.linalg.norm(x[None], 1), lambda m, x: m.linalg.norm(x[None], "fro"), lambda m, x: m.linalg.norm(x, "fro", 0),
    lambda m, x: m.linalg.norm(x, 1j), lambda m, x: m.linalg.norm(), lambda m, x: m.linalg.matrix_norm(), lambda m, x: m.linalg.norm(x, 1, out=m.empty(0, dtype=m.float64)),
    lambda m, x: m.linalg.matrix_norm(m.ones(0, 2), 1), lambda m, x: m.linalg.matrix_norm(m.ones(2, 0), 1), lambda m, x: m.linalg.matrix_norm(m.ones(2, 0), -1),
])  # fmt: skip
def test_mistakes_of_norms(call):
    same(lambda m: call(m, m.arange(12.0).reshape(3, 4)))


@pytest.mark.parametrize("call", """
m.nn.functional.dropout([1.0])
m.nn.functional.dropout(None, inplace=True)
m.nn.functional.alpha_dropout([1.0])
m.nn.functional.feature_alpha_dropout(3)
m.nn.functional.gumbel_softmax("a")
m.nn.functional.embedding(x, [1.0])
m.nn.functional.multi_margin_loss(x, 3)
m.nn.functional.multilabel_margin_loss([1.0], x)
m.nn.functional.triplet_margin_loss(x, 3, x)
m.nn.utils.rnn.pad_sequence([x, 3])
m.nn.utils.rnn.pad_sequence([x], 1)
m.kl_div(x, x, reduction="mean")
m.hinge_embedding_loss(x, x, reduction="sum")
m.margin_ranking_loss(x, x, x, reduction=1.5)
m.cosine_embedding_loss(x, x, m.ones(2), reduction=None)
m.triplet_margin_loss(x, x, x, reduction="none")
m.binary_cross_entropy_with_logits(x, x, reduction="mean")
m.poisson_nll_loss(x, x, True, False, 1e-8, reduction="mean")
m.dropout(x, 0.5, 1)
m.alpha_dropout_(x, 0.5, "a")
m.linalg.vander([1.0])
m.linalg.matmul(x, None)
m.linalg.diagonal(3)
m.chain_matmul(x, 3)
m.chain_matmul(x, x, out=3)
m.broadcast_shapes((2,), x)
m.broadcast_shapes({2: 3})
m.ones(2).is_set_to(3)
m.ones(2).map_([1.0], max)
m.ones(2).type(m.int32, 3)
""".strip().splitlines())
def test_what_is_no_tensor_is_named(call):
    same(lambda m: eval(call, {"m": m, "x": m.ones(2, 2)}))


def test_a_list_is_no_memory():
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        tenon.ones(2).set_([1.0])


@pytest.mark.parametrize("call", """
m.nn.init.dirac_(m.empty(4, 2, 3), 2)
m.nn.init.dirac_(m.empty(2, 3, 2, 3))
m.nn.init.dirac_(m.empty(1, 2, 3, 3, 2))
m.nn.init.dirac_(m.empty(3, 2))
m.nn.init.dirac_(m.empty(3, 2, 2), 2)
m.nn.init.uniform(m.empty(3), 1, 2)
m.nn.init.normal(m.empty(3))
m.nn.init.constant(m.empty(3), 2)
m.nn.init.eye(m.empty(2, 3))
m.nn.init.dirac(m.empty(2, 2, 2))
m.nn.init.xavier_uniform(m.empty(2, 3)), m.nn.init.xavier_normal(m.empty(2, 3))
m.nn.init.kaiming_uniform(m.empty(2, 3)), m.nn.init.kaiming_normal(m.empty(2, 3))
""".strip().splitlines())
def test_first_values(call):
    def outcome(m):
        m.manual_seed(0)
        return eval(call)

    same(outcome, exact=False)


def test_parts_that_may_be_written():
    def call(m):
        x = m.arange(4.0).requires_grad_()
        first, second = (x * 2).unsafe_split(2)
        first.mul_(3)
        return m.autograd.grad((first * second).sum(), x)[0]

    same(call)


@pytest.mark.parametrize("module, name, instead", [
    (tenon, "stft", "scipy.signal.stft(x)"), (tenon, "symeig", "linalg.eigh(x)"), (tenon, "lstsq", "linalg.lstsq(a, b)"), (tenon, "conv2d", "x.unfold"),
    (tenon.linalg, "ldl_factor", "scipy.linalg.ldl(x)"), (tenon.linalg, "householder_product", None),
    (tenon.nn, "Linear", "nn.functional.linear"), (tenon.nn, "CrossEntropyLoss", "nn.functional.cross_entropy"), (tenon.nn, "BCELoss", "nn.functional.binary_cross_entropy"),
    (tenon.nn, "Conv2d", "x.unfold"), (tenon.nn.functional, "max_pool2d", ".amax(-1)"), (tenon.ones(2, 2), "stft", "scipy.signal.stft(x)"), (tenon.Tensor, "geqrf", None),
    (tenon.autograd.graph, "saved_tensors_hooks", "utils.checkpoint.checkpoint(function, x, use_reentrant=True)"), (tenon.optim, "LBFGS", "scipy.optimize.minimize(f, x, method='L-BFGS-B', jac=True)"),
    (tenon.nn.utils.rnn, "pack_padded_sequence", "nn.utils.rnn.pad_sequence"), (tenon.nn, "CosineSimilarity", "nn.functional.cosine_similarity"), (tenon.nn, "ZeroPad2d", "nn.functional.pad"),
    (tenon.nn.utils, "weight_norm", None), (tenon.utils, "data", "x[tenon.randperm(len(x))].split(batch_size)"), (tenon, "jit", None), (tenon.nn.functional, "interpolate", None), (tenon.ones(2), "to_sparse", None),
])  # fmt: skip
def test_a_missing_name_says_what_works(module, name, instead):
    wanted = f"has no attribute '{name}': not in Tenon" + (f"; {instead}" if instead and instead[0] not in ".x" else "")
    with pytest.raises(AttributeError, match=re.escape(wanted)) as caught:
        getattr(module, name)
    assert instead is None or instead in str(caught.value)
    assert not hasattr(module, name)


@pytest.mark.parametrize("module", ["distributions", "utils.data"])
def test_a_missing_module_says_what_works(module):
    with pytest.raises(ModuleNotFoundError, match=rf"^No module named 'tenon.{module}': not in Tenon; .* works?$") as caught:
        importlib.import_module(f"tenon.{module}")
    assert caught.value.name == f"tenon.{module}"


def test_modules_that_programs_import():
    from tenon.backends import cudnn
    from tenon.utils.dlpack import from_dlpack, to_dlpack

    assert importlib.import_module("tenon.backends.cudnn") is cudnn is tenon.backends.cudnn and not cudnn.is_available()
    x = tenon.arange(3)
    assert from_dlpack(to_dlpack(x)).data_ptr() == x.data_ptr() and torch.utils.dlpack.from_dlpack(to_dlpack(x)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("module", [tenon, tenon.linalg, tenon.optim, tenon.utils, tenon.nn.utils, tenon.nn, tenon.nn.functional, tenon.autograd.graph, tenon.ones(2)])
def test_an_unknown_name_gets_the_usual_error(module):
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'$"):
        module.no_such_name
    assert "stft" not in dir(tenon.ones(2))


def test_every_missing_name_is_missing_and_every_function_instead_is_there():
    from tenon import _missing

    owners = {"": tenon, "linalg": tenon.linalg, "nn": tenon.nn, "nn.functional": tenon.nn.functional,
              "autograd.graph": tenon.autograd.graph, "Tensor": tenon.Tensor, "optim": tenon.optim, "utils": tenon.utils,
              "nn.utils": tenon.nn.utils, "nn.utils.rnn": tenon.nn.utils.rnn}  # fmt: skip
    for module, table in _missing._INSTEAD.items():
        for names in table:
            for name in names.split():
                assert not hasattr(owners[module], name), name
                found = re.search(r"nn\.functional\.(\w+)", _missing.reason(module, name))
                assert not found or hasattr(tenon.nn.functional, found.group(1)), name


def test_a_linearized_function():
    x = tenon.arange(3.0)
    value, derivative = tenon.func.linearize(lambda a: a**2, x)
    assert value.tolist() == [0.0, 1.0, 4.0] and derivative(tenon.ones(3)).tolist() == [0.0, 2.0, 4.0]


def test_nothing_is_compiled():
    def double(x):
        return x * 2

    assert tenon.compile(double) is double and tenon.compile(mode="max-autotune")(double) is double


def test_dropout_draws_what_was_asked_for():
    tenon.manual_seed(0)
    x = tenon.ones(2000)
    kept = tenon.nn.functional.dropout(x, 0.25)
    assert set(kept.unique().tolist()) == {0.0, tenon.tensor(1 / 0.75).item()} and 0.7 < (kept > 0).float().mean() < 0.8
    by_channel = tenon.nn.functional.dropout2d(tenon.ones(20, 30, 2, 2))
    assert (by_channel == by_channel[..., :1, :1]).all()
    alpha = tenon.nn.functional.alpha_dropout(tenon.randn(20000), 0.3, True)
    assert abs(alpha.mean()) < 0.05 and abs(alpha.std() - 1) < 0.05
    y = tenon.ones(4)
    assert tenon.nn.functional.dropout(y, 0.5, inplace=True) is y


def test_storage_shares_memory():
    x = tenon.arange(4.0)
    storage = x.untyped_storage()
    storage[3] = 63
    assert x[0].item() != 0 and storage.clone().data_ptr() != storage.data_ptr()
    storage.fill_(0)
    assert x.tolist() == [0.0] * 4 and "of size 16" in repr(storage)
