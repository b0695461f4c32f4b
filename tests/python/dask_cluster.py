"""Tensors on a Dask cluster of several processes: what is sent, workers that die, schedulers that go away, the example."""

import os
import re
import subprocess
import sys

import pytest
import tenon

pytest.importorskip("numpy")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import dask
import tenon.dask

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore:Port .* is already in use")


@pytest.fixture(scope="module")
def client():
    settings = {"distributed.scheduler.allowed-failures": 5, "distributed.worker.memory.spill": False}
    with dask.config.set(settings), distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        yield client


def addresses(client):
    return sorted(client.scheduler_info()["workers"])


def sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def test_a_broadcast_row_travels_as_a_row(client):
    first, second = addresses(client)
    row = client.submit(lambda: tenon.arange(1000.0).expand(5000, 1000), workers=[first], pure=False)
    distributed.wait(row)
    before = client.run(sent)[first]
    strides = client.submit(lambda rows: (rows.stride(), rows[4999, 7].item()), row, workers=[second], pure=False).result()
    assert strides == ((0, 1), 7.0)
    assert 4000 <= client.run(sent)[first] - before < 10_000  # the 5,000 rows have 20 MB


def test_results_are_tensors(client):
    x = da.from_array(tenon.arange(6000.0).view(1000, 6), chunks=(100, 3))
    scaled, largest = dask.compute((x - x.mean(0)) / x.std(0), x.rechunk((1000, 1)).argmax(0))
    assert isinstance(scaled, tenon.Tensor) and scaled.mean(0).abs().amax() < 1e-5 and largest.tolist() == [999] * 6
    assert isinstance(client.gather(client.scatter(tenon.ones(3))), tenon.Tensor)


def squared_distance(center, rows):
    return (rows - center).square().sum()


def dies_once(marker, rows):
    """Ends its process the first time that it sees rows beyond the middle."""
    if rows.amax() > 500 and not os.path.exists(marker):
        with open(marker, "w"):
            pass
        os._exit(1)
    return rows


def test_workers_that_die(client, tmp_path):
    rows = tenon.arange(1000.0, dtype=tenon.float64).view(250, 4)
    x = da.from_array(rows, chunks=(25, 4)).map_blocks(lambda block: dies_once(tmp_path / "died", block), dtype=float)
    center = tenon.ones(4, dtype=tenon.float64)
    value, gradient = dask.compute(*tenon.dask.value_and_grad(squared_distance)(center, x))
    wanted_gradient, wanted = tenon.func.grad_and_value(squared_distance)(center, rows)
    assert (tmp_path / "died").exists() and tenon.allclose(value, wanted) and tenon.allclose(gradient, wanted_gradient)
    client.wait_for_workers(2, timeout=30)


def test_a_scheduler_that_goes_away():
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
            client = distributed.Client(cluster, set_as_default=False)
            future = client.submit(tenon.ones, 3)
            assert future.result().tolist() == [1, 1, 1]
            later = client.submit(lambda: __import__("time").sleep(0.3) or tenon.ones(3))
        with pytest.raises((distributed.CancelledError, OSError)):
            later.result(timeout=10)
        client.close(timeout=1)


def test_example(root):
    """The script runs as it is shipped, on fewer blocks."""
    command = [sys.executable, str(root / "examples" / "larger_than_one_machine.py"), "--blocks", "24", "--memory-limit", "400MiB"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "dashboard: http" in done.stdout and "100% Completed" in done.stdout
    losses = [float(text) for text in re.findall(r"loss ([0-9.]+)", done.stdout)]
    assert len(losses) == 5 and losses[-1] < 0.02 < losses[0] and float(done.stdout.split()[-1]) < 0.01
