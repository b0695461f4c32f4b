"""Normalises, clusters and fits more rows than the workers have memory for, on several processes with Dask.

    python examples/larger_than_one_machine.py                                   # two processes on this machine
    python examples/larger_than_one_machine.py --scheduler tcp://host:8786       # a cluster that is running

The rows are drawn anew, block by block, in each pass, as they would be read anew from files.
"""

import argparse
import contextlib
import resource

import dask.array as da
from dask.utils import format_bytes
from distributed import Client, LocalCluster, WorkerPlugin, progress

import tenon
import tenon.dask

FEATURES, CENTERS, BLOCK = 64, 8, 16_384


class OneThread(WorkerPlugin):
    """Dask runs a block on each core, so an op needs only one."""

    def setup(self, worker):
        tenon.set_num_threads(1)


def drawn(block_id):
    """A block of rows: features of different means and scales, and a target in the last column."""
    generator = tenon.Generator().manual_seed(block_id[0])
    features = tenon.randn(BLOCK, FEATURES, generator=generator) * tenon.arange(1.0, FEATURES + 1) + tenon.arange(FEATURES)
    target = (features / FEATURES).sum(1, keepdim=True) + 0.1 * tenon.randn(BLOCK, 1, generator=generator)
    return tenon.cat([features, target], 1)


def loss(parameters, rows):
    weights, bias = parameters
    return (rows[:, :FEATURES] @ weights + bias - rows[:, FEATURES]).square().sum()


def nearest(rows, centers):
    """For each row the place of the nearest center: every row is broadcast against every center."""
    return tenon.cdist(rows[:, :FEATURES], centers).argmin(1)


def computed(client, title, *collections):
    print(title)
    futures = client.compute(collections)
    progress(futures, notebook=False)
    print()
    return client.gather(futures)


def main(client, blocks, steps=5):
    """Returns (rows nearest to each center, losses, error of the weights, the largest memory that a worker used)."""
    client.register_plugin(OneThread())
    table = da.map_blocks(drawn, chunks=((BLOCK,) * blocks, (FEATURES + 1,)), meta=tenon.empty(0, 0))

    mean, deviation = computed(client, "mean and deviation of each column", table.mean(0), table.std(0))
    mean[FEATURES], deviation[FEATURES] = 0, 1  # the target stays as it is
    normal = (table - mean) / deviation

    centers = tenon.randn(CENTERS, FEATURES, generator=tenon.Generator().manual_seed(0))
    places = normal.map_blocks(nearest, centers, drop_axis=1, meta=tenon.empty(0, dtype=tenon.int64))
    (counts,) = computed(client, "rows nearest to each center", da.bincount(places, minlength=CENTERS))

    gradient_of = tenon.dask.value_and_grad(loss)
    parameters, losses = (tenon.zeros(FEATURES), tenon.zeros(())), []
    for step in range(steps):
        value, gradients = computed(client, f"step {step + 1} of {steps}", *gradient_of(parameters, normal))
        losses.append(value.item() / len(table))
        parameters = [parameter - 0.45 / len(table) * gradient for parameter, gradient in zip(parameters, gradients)]
        print(f"loss {losses[-1]:.4f}")

    # Of normalised features, the weights are the deviations over FEATURES.
    error = (parameters[0] - deviation[:FEATURES] / FEATURES).abs().amax().item()
    memory = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    print(f"{len(table):,} rows, {format_bytes(table.nbytes)}; memory of the workers at most {format_bytes(max(memory.values()))} each")
    return counts.tolist(), losses, error, max(memory.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--scheduler", help="the address of a scheduler; without it, processes on this machine")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory-limit", default="320MiB", help="of each process on this machine")
    parser.add_argument("--blocks", type=int, default=512, help=f"of {BLOCK:,} rows, {format_bytes(4 * BLOCK * (FEATURES + 1))} each")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        where = given.scheduler
        if not where:
            where = stack.enter_context(LocalCluster(n_workers=given.workers, threads_per_worker=1, memory_limit=given.memory_limit))
        client = stack.enter_context(Client(where))
        print("dashboard:", client.dashboard_link)
        counts, losses, error, _ = main(client, given.blocks)
        print(f"rows nearest to each center: {counts}; the weights are right within {error:.4f}")
