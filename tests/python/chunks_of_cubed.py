"""Tensors as chunks of Cubed's arrays, with the values of NumPy."""

import os
import pickle

os.environ["CUBED_BACKEND_ARRAY_API_MODULE"] = "tenon.cubed"  # before Cubed is imported

import pytest
import tenon

np = pytest.importorskip("numpy")
cubed = pytest.importorskip("cubed")

import cubed.array_api as xp
import tenon.cubed

VALUES = np.random.default_rng(0).normal(size=(12, 8))
FUNCTIONS = {
    "from_array": lambda x: x,
    "add": lambda x: x + 1,
    "broadcast": lambda x: x - xp.mean(x, axis=0),
    "exp": lambda x: xp.exp(x),
    "compare": lambda x: x > 0,
    "sum": lambda x: xp.sum(x),
    "mean": lambda x: xp.mean(x, axis=1),
    "max": lambda x: xp.max(x, axis=0),
    "argmax": lambda x: xp.argmax(x, axis=0),
    "matmul": lambda x: xp.matmul(x, xp.permute_dims(x, (1, 0))),
    "where": lambda x: xp.where(x > 0, x, -x),
    "concat": lambda x: xp.concat([x, x], axis=0),
    "rechunk": lambda x: x.rechunk((3, 8)),
    "astype": lambda x: xp.astype(x, xp.float32),
    "map_blocks": lambda x: cubed.map_blocks(doubled, x, dtype=x.dtype),
}
NUMPYS = {
    "from_array": lambda x: x, "add": lambda x: x + 1, "broadcast": lambda x: x - x.mean(0), "exp": np.exp, "compare": lambda x: x > 0, "sum": np.sum, "mean": lambda x: x.mean(1),
    "max": lambda x: x.max(0), "argmax": lambda x: x.argmax(0), "matmul": lambda x: x @ x.T, "where": np.abs, "concat": lambda x: np.concatenate([x, x]), "rechunk": lambda x: x,
    "astype": lambda x: x.astype("f4"), "map_blocks": lambda x: x * 2,
}  # fmt: skip


def doubled(block):
    assert isinstance(block, tenon.Tensor)
    return block * 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, tmp_path):
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="100MB")
    result = FUNCTIONS[name](xp.asarray(tenon.from_numpy(VALUES.copy()), chunks=(5, 4), spec=spec)).compute()
    wanted = NUMPYS[name](VALUES)
    assert isinstance(result, tenon.Tensor) and result.shape == wanted.shape and np.allclose(np.asarray(result), wanted)
    assert name == "argmax" or np.dtype(result.dtype) == wanted.dtype


def test_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(tenon.cubed.exp)) is tenon.cubed.exp and len(pickle.dumps(tenon.cubed.sum)) < 100
