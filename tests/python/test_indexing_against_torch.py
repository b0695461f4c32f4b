"""Random x[key] and x[key] = value, compared with PyTorch: result and strides, or the error."""

import math
import random
import warnings

import pytest

torch = pytest.importorskip("torch")

import tenon


def outcome(call, module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call(module)
        except Exception as error:
            return type(error).__name__, str(error).splitlines()[0].rstrip()
    return tuple(result.shape), str(result.dtype).split(".")[1], result.stride() if result.numel() else None, result.tolist()


def same(call, *description):
    wanted, got = outcome(call, torch), outcome(call, tenon)
    assert str(got) == str(wanted), (description, wanted, got)  # as strings, so that NaN equals NaN


def random_key(draw, shape):
    """Entries as (dtype or None, value), from which each library makes its own index."""
    key, dim = [], 0
    while dim < len(shape) and draw.random() < 0.8:
        size, kind = shape[dim], draw.random()
        index = lambda: draw.randrange(-size, size)  # noqa: E731
        if kind < 0.35 and size:
            key.append(("int64", draw.choice([index, lambda: [index()], lambda: [index(), index()], lambda: [[index()], [index()]]])()))
        elif kind < 0.5:
            key.append(("bool", [draw.random() < 0.6 for _ in range(size)]))
        elif kind < 0.7:
            key.append((None, draw.choice([None, True, False])))
            continue
        elif kind < 0.8 and size:
            key.append((None, index()))
        else:
            key.append((None, slice(draw.choice([None, 0, 1]), None, draw.choice([None, 1, 2]))))
        dim += 1
    return key


@pytest.mark.parametrize("seed", range(20))
def test_random_keys(seed):
    draw = random.Random(seed)
    for _ in range(150):
        shape = [draw.choice([1, 2, 3, 3, 0]) for _ in range(draw.randint(0, 4))]
        order = draw.sample(range(len(shape)), len(shape))
        key, alone = random_key(draw, [shape[dim] for dim in order]), draw.random() < 0.5
        dtype, other = (draw.choice(["float32", "int64", "bool", "float16"]) for _ in range(2))
        value = draw.choice([None, None, "itself", [], [1], [2], [3], [2, 3], [1, 1, 1, 1, 1], 2, True, 1.5])
        if value == "itself" and not key:
            continue  # x[()] = x depends on the order of PyTorch's loop if x is not contiguous

        def call(module):
            def counted(sizes, dtype):
                return module.arange(math.prod(sizes)).reshape(sizes).to(getattr(module, dtype))

            tensor = counted(shape, dtype).permute(order)
            entries = tuple(module.tensor(entry, dtype=getattr(module, kind)) if kind else entry for kind, entry in key)
            index = entries[0] if alone and len(entries) == 1 else entries
            if value is None:
                return tensor[index]
            tensor[index] = tensor if value == "itself" else counted(value, other) if isinstance(value, list) else value
            return tensor

        same(call, shape, order, key, dtype, value, other)


@pytest.mark.parametrize("count", range(1, 14))
def test_keys_of_any_number_of_entries(count):
    draw = random.Random(count)
    for _ in range(20):
        key = tuple(draw.choice([None, 0, -1, slice(None), slice(1, None), slice(0, 2, 2)]) for _ in range(count))
        at = draw.randrange(count + 1)
        key = key[:at] + draw.choice([(), (...,), ([0, 1],)]) + key[at:]
        same(lambda module: module.arange(256).reshape(2, 2, 2, 2, 2, 2, 2, 2)[key], key)
