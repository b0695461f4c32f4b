"""Data sets, samplers and loaders give PyTorch's batches in PyTorch's order; initial values are PyTorch's; sequences are padded as there."""

import collections

import pytest

torch = pytest.importorskip("torch")

import tenon
import tenon.utils.data
import torch.utils.data

from judge import same

Pair = collections.namedtuple("Pair", ["x", "y"])


def batches(m, dataset, **options):
    m.manual_seed(3)
    loader = m.utils.data.DataLoader(dataset, **options)
    return [len(loader), *[list(batch) if isinstance(batch, (list, tuple)) else batch for _ in range(2) for batch in loader], m.rand(1)]


@pytest.mark.parametrize("options", [
    {}, {"batch_size": 4}, {"batch_size": 4, "drop_last": True}, {"batch_size": 3, "shuffle": True}, {"batch_size": None}, {"batch_size": None, "shuffle": True},
    {"batch_size": 4, "shuffle": False, "pin_memory": False, "num_workers": 0},
], ids=str)  # fmt: skip
def test_batches(options):
    same(lambda m: batches(m, m.utils.data.TensorDataset(m.arange(20.0).reshape(10, 2), m.arange(10)), **options))
    same(lambda m: batches(m, list(range(10)), **options))
    same(lambda m: batches(m, [{"a": float(i), "b": [i, i]} for i in range(6)], **{**options, "collate_fn": None})[0])


def test_samplers_and_generators():
    def call(m):
        data = m.utils.data
        dataset = data.TensorDataset(m.arange(10))
        generator = m.Generator().manual_seed(5)
        results = [list(data.RandomSampler(dataset, generator=generator)), list(data.RandomSampler(dataset, True, 70, generator=generator)),
                   list(data.RandomSampler(dataset, num_samples=23, generator=generator)), list(data.SubsetRandomSampler([3, 5, 8], generator=generator)),
                   list(data.WeightedRandomSampler([0.1, 0.9, 0.4], 8, generator=generator)), list(data.BatchSampler(range(7), 3, False)),
                   [part.indices for part in data.random_split(dataset, [3, 7], generator=generator)],
                   [part.indices for part in data.random_split(dataset, [0.25, 0.25, 0.5], generator=generator)]]  # fmt: skip
        results += [batch[0] for batch in data.DataLoader(dataset, 4, shuffle=True, generator=generator)]
        results += [batch[0] for batch in data.DataLoader(dataset, batch_size=2, sampler=data.SequentialSampler(range(5)))]
        return results

    same(call)


def test_data_sets():
    def call(m):
        data = m.utils.data

        class Squares(data.Dataset):
            def __len__(self):
                return 5

            def __getitem__(self, index):
                return Pair(m.tensor(index), index**2)

        class Stream(data.IterableDataset):
            def __iter__(self):
                return iter(range(7))

        both = Squares() + Squares()
        batch = next(iter(data.DataLoader(both, batch_size=6)))
        assert type(batch) is Pair
        return [len(both), both[-1].y, tuple(batch), *data.DataLoader(Stream(), batch_size=3), *data.DataLoader(Stream(), batch_size=3, drop_last=True),
                data.Subset(Squares(), [4, 1])[0].y, data.default_collate(["a", "b"]), data.default_collate([1.5, 2.0])]  # fmt: skip

    same(call)


@pytest.mark.parametrize("call", [
    lambda m: m.utils.data.DataLoader([1], batch_size=0), lambda m: m.utils.data.DataLoader([1], num_workers=-1),
    lambda m: m.utils.data.DataLoader([1], batch_size=None, drop_last=True), lambda m: m.utils.data.DataLoader([1], shuffle=True, sampler=[0]),
    lambda m: m.utils.data.random_split([1, 2], [1, 2]), lambda m: m.utils.data.TensorDataset(m.ones(2), m.ones(3)),
    lambda m: m.utils.data.RandomSampler([], False), lambda m: m.utils.data.RandomSampler([1], 3), lambda m: m.utils.data.Dataset()[0],
    lambda m: m.nn.utils.rnn.pad_sequence([]), lambda m: m.nn.utils.rnn.pad_sequence(3),
    lambda m: m.nn.init.xavier_uniform_(m.ones(3)), lambda m: m.nn.init.kaiming_normal_(m.ones(3, 2), mode="x"), lambda m: m.nn.init.eye_(m.ones(3)),
    lambda m: m.nn.init.calculate_gain("x"), lambda m: m.nn.init.calculate_gain("leaky_relu", True), lambda m: m.nn.init.kaiming_uniform_(m.ones(0, 2)),
])  # fmt: skip
def test_mistakes(call):
    same(call, any_mistake=True)


@pytest.mark.parametrize("name, options", [
    ("uniform_", (2.0, 3.0)), ("normal_", (1.0, 0.5)), ("constant_", (3,)), ("ones_", ()), ("zeros_", ()), ("eye_", ()), ("xavier_uniform_", ()), ("xavier_uniform_", (2.0,)),
    ("xavier_normal_", ()), ("kaiming_uniform_", ()), ("kaiming_uniform_", (5**0.5,)), ("kaiming_normal_", (0, "fan_out", "relu")), ("sparse_", (0.4,)),
    ("trunc_normal_", ()), ("trunc_normal_", (0.0, 0.02)), ("trunc_normal_", (0.0, 1.0, 1.5, 2.0)),
], ids=str)  # fmt: skip
def test_initial_values(name, options):
    def call(m):
        m.manual_seed(2)
        x = m.zeros(6, 5, requires_grad=True)
        result = getattr(m.nn.init, name)(x, *options)
        return result is x, x.is_leaf, x.requires_grad, x, m.rand(1)

    same(call, exact=False)


@pytest.mark.parametrize("nonlinearity", ["linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu"])
def test_gain(nonlinearity):
    same(lambda m: m.nn.init.calculate_gain(nonlinearity))


def test_padded_sequences():
    def call(m, **options):
        rows = [m.arange(3.0), m.arange(5.0) * 2, m.ones(1)]
        padded = m.nn.utils.rnn.pad_sequence(rows, **options)
        of_pairs = m.nn.utils.rnn.pad_sequence([m.ones(2, 2), m.ones(3, 2)], **options)
        return padded, of_pairs, m.nn.utils.rnn.unpad_sequence(padded.clone(), m.tensor([3, 5, 1]), options.get("batch_first", False))

    for options in ({}, {"batch_first": True}, {"batch_first": True, "padding_value": -1.0}, {"padding_side": "left"}):
        same(lambda m: call(m, **options))
    same(lambda m: m.nn.utils.rnn.pad_sequence([m.ones(2, requires_grad=True), m.ones(3)]).requires_grad)


def test_parameters_and_backends():
    def call(m):
        data = m.ones(2)
        parameter = m.nn.Parameter(data)
        fixed = m.nn.Parameter(data, requires_grad=False)
        variable = m.autograd.Variable(data, requires_grad=True)
        m.backends.cudnn.deterministic = True
        return [isinstance(parameter, m.nn.Parameter), isinstance(data, m.nn.Parameter), isinstance(parameter, m.Tensor), parameter.requires_grad, fixed.requires_grad,
                parameter.data_ptr() == data.data_ptr(), variable.requires_grad, isinstance(data, m.autograd.Variable), m.backends.mps.is_available(), m.mps.is_available(),
                m.cuda.empty_cache(), m.version.cuda, m.cuda.max_memory_allocated(), m.xpu.is_available()]  # fmt: skip

    same(call)
    same(lambda m: m.cuda.synchronize())
