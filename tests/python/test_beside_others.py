"""Tenon together with other libraries that have their own threads and allocators, imported before or after it."""

import importlib.util
import itertools
import os
import subprocess
import sys

import pytest

# Each library runs this in a separate thread while the others compute. It is large enough to use all threads of the library.
WORK = {
    "tenon": "x = tenon.ones(1 << 20); assert (x + x).sum().item() == 2 << 20",
    "numpy": "x = numpy.ones((300, 300)); assert (x @ x).sum() == 300 ** 3",
    "torch": "x = torch.ones(1 << 20, requires_grad=True); (x * 2).sum().backward(); assert x.grad.sum().item() == 2 << 20",
    "jax": "x = jax.numpy.ones(1 << 16); assert float(jax.jit(lambda a: (a + a).sum())(x)) == 2 << 16",
    "sklearn": "import sklearn.cluster\n"
    "    assert len(set(sklearn.cluster.KMeans(2, n_init=1).fit([[0.0], [0.1], [5.0], [5.1]]).labels_)) == 2",
}
# Uses x = tenon.arange(12.0).reshape(3, 4) in each library, or the library's arrays in Tenon.
EXCHANGE = {
    "numpy": "assert numpy.linalg.eigh(x @ x.T)[0].shape == (3,) and (x + numpy.ones(4)).sum().item() == 78",
    "torch": "y = torch.from_dlpack(x); y += 1; assert x.sum().item() == 78; y -= 1",
    "jax": "assert jax.numpy.asarray(x.numpy()).sum() == 66 and tenon.from_dlpack(jax.numpy.ones(3)).sum().item() == 3",
    "sklearn": "import sklearn.linear_model; model = sklearn.linear_model.LinearRegression().fit(x.numpy(), x.sum(1).numpy())\n"
    "assert abs(model.predict(x.numpy())[0] - 6) < 1e-3",
}
OTHERS = [name for name in EXCHANGE if importlib.util.find_spec(name)]


def orders():
    """Each library before and after Tenon, and all libraries. TENON_IMPORT_ORDERS=all: every order of all libraries."""
    everything = ("tenon", *OTHERS)
    if os.environ.get("TENON_IMPORT_ORDERS") == "all":
        return list(itertools.permutations(everything))
    pairs = [order for name in OTHERS for order in (("tenon", name), (name, "tenon"))]
    return pairs + [everything, everything[::-1]]


def program(order):
    lines = ["import concurrent.futures", *(f"import {name}" for name in order)]
    lines += [f"def work_of_{name}():\n    {WORK[name]}" for name in order]
    lines += [
        f"pool = concurrent.futures.ThreadPoolExecutor({len(order)})",
        f"for done in [pool.submit(work) for _ in range(3) for work in ({', '.join('work_of_' + name for name in order)},)]: done.result()",
        "x = tenon.arange(12.0).reshape(3, 4)",
        *(EXCHANGE[name] for name in order if name != "tenon"),
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("order", orders(), ids="-".join)
def test_order_of_imports(order):
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program(order)], capture_output=True, text=True, timeout=300, env=environment)
    assert (done.returncode, done.stdout) == (0, ""), f"{order}\n{done.stderr[-2000:]}"
