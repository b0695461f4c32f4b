#!/usr/bin/env python3
"""Times the second half of the catalogue in Tenon, PyTorch and NumPy: catalogue_bench.py [--rounds N] [--filter REGEX].

Reductions, scans, order, places, joins and products of a few common sizes, first with one thread, then with all cores. The
libraries take turns; a time is the median of the rounds. With one thread it is the processor's time, so that other programs
disturb it less. A ratio is the other library's time divided by Tenon's. Prints a table for docs/benchmarks.md.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time

SECONDS = 0.01  # of a round of one library
THREADS = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS".split()

# By name: what Tenon and PyTorch run with `m`, what NumPy runs with `n`, or None, and the operands by name: sizes, or
# (largest, sizes...) for places.
MATRIX = {"x": (1000, 1000)}
CASES = {
    "sum": ("x.sum()", "x.sum()", MATRIX),
    "sum, dim 0": ("x.sum(0)", "x.sum(0)", MATRIX),
    "sum, dim 1": ("x.sum(1)", "x.sum(1)", MATRIX),
    "sum, middle dim": ("x.sum(1)", "x.sum(1)", {"x": (100, 100, 100)}),
    "sum, few short rows": ("x[..., :5].sum((1, 2))", "x[..., :5].sum((1, 2))", {"x": (10_000, 4, 6)}),
    "norm, few neighbours": ("m.linalg.vector_norm(x, dim=1)", "n.linalg.norm(x, axis=1)", {"x": (10_000, 12, 9)}),
    "mean, dim 0": ("x.mean(0)", "x.mean(0)", MATRIX),
    "amax, dim 1": ("x.amax(1)", "x.max(1)", MATRIX),
    "prod, dim 1": ("x.prod(1)", "x.prod(1)", MATRIX),
    "argmax, dim 0": ("x.argmax(0)", "x.argmax(0)", MATRIX),
    "argmax, dim 1": ("x.argmax(1)", "x.argmax(1)", MATRIX),
    "var, dim 0": ("x.var(0)", "x.var(0, ddof=1)", MATRIX),
    "var, dim 1": ("x.var(1)", "x.var(1, ddof=1)", MATRIX),
    "norm, dim 1": ("m.linalg.vector_norm(x, dim=1)", "n.linalg.norm(x, axis=1)", MATRIX),
    "all, dim 1": ("b.all(1)", "b.all(1)", {"b": (2, 1000, 1000)}),
    "any, dim 0": ("b.any(0)", "b.any(0)", {"b": (2, 1000, 1000)}),
    "cumsum, dim 0": ("x.cumsum(0)", "x.cumsum(0)", MATRIX),
    "cumsum, dim 1": ("x.cumsum(1)", "x.cumsum(1)", MATRIX),
    "softmax, dim 1": ("x.softmax(1)", None, MATRIX),
    "layer_norm": ("m.nn.functional.layer_norm(x, (1000,))", None, MATRIX),
    "group_norm": ("m.nn.functional.group_norm(x, 4)", None, {"x": (32, 16, 20, 20)}),
    "group_norm, small images": ("m.nn.functional.group_norm(x, 8, w, w)", None, {"x": (64, 32, 2, 2), "w": (32,)}),
    "batch_norm": ("m.nn.functional.batch_norm(x, None, None, training=True)", None, {"x": (32, 16, 20, 20)}),
    "sort, dim 1": ("x.sort(1)", "(n.sort(x, 1), n.argsort(x, 1))", MATRIX),
    "sort, one row": ("x.sort()", "(n.sort(x), n.argsort(x))", {"x": (100_000,)}),
    "topk, 10 of 1000": ("x.topk(10)", "n.argpartition(x, -10, 1)[:, -10:]", MATRIX),
    "unique, integers": ("i.unique()", "n.unique(i)", {"i": (1000, 100_000)}),
    "gather, dim 1": ("x.gather(1, i)", "n.take_along_axis(x, i, 1)", {"x": (1000, 1000), "i": (1000, 1000, 100)}),
    "scatter_add, dim 0": ("x.scatter_add(0, i, y)", None, {"x": (1000, 100), "y": (1000, 100), "i": (1000, 1000, 100)}),
    "index_select, rows": ("x.index_select(0, i)", "x.take(i, 0)", {"x": (1000, 256), "i": (1000, 2000)}),
    "index_select, columns": ("x.index_select(1, i)", "x.take(i, 1)", {"x": (1000, 256), "i": (256, 100)}),
    "masked_select": ("x[b > 0]", "x[b > 0]", {"x": (1000, 100), "b": (2, 1000, 100)}),
    "cat, dim 0": ("m.cat((x, y), 0)", "n.concatenate((x, y), 0)", {"x": (1000, 100), "y": (1000, 100)}),
    "cat, dim 1": ("m.cat((x, y), 1)", "n.concatenate((x, y), 1)", {"x": (1000, 100), "y": (1000, 100)}),
    "stack, last dim": ("m.stack((x, y), -1)", "n.stack((x, y), -1)", {"x": (1000, 100), "y": (1000, 100)}),
    "einsum ij,jk,kl->il": ("m.einsum('ij,jk,kl->il', x, y, z)", "n.einsum('ij,jk,kl->il', x, y, z, optimize=True)", {"x": (100, 200), "y": (200, 50), "z": (50, 300)}),
    "matmul, 64": ("x @ y", "x @ y", {"x": (64, 64), "y": (64, 64)}),
    "matmul, 512": ("x @ y", "x @ y", {"x": (512, 512), "y": (512, 512)}),
    "matrix times vector": ("x @ y", "x @ y", {"x": (1000, 1000), "y": (1000,)}),
    "batch of 4 x 4": ("x @ y", "x @ y", {"x": (1000, 4, 4), "y": (1000, 4, 4)}),
    "batch of 16 x 16": ("x @ y", "x @ y", {"x": (1000, 16, 16), "y": (1000, 16, 16)}),
}


def operand(numpy, name, sizes, seed):
    """float32 numbers; for `i` and `b` integers below the first number."""
    generator = numpy.random.default_rng(seed)
    if name in "ib":
        return generator.integers(0, sizes[0], sizes[1:])
    return generator.standard_normal(sizes).astype(numpy.float32)


def functions(tenon, torch, numpy, case):
    """The call of each library; None where NumPy has none."""
    statement, numpy_statement, sizes = case
    arrays = {name: operand(numpy, name, size, seed) for seed, (name, size) in enumerate(sizes.items())}
    values = {
        "tenon": {name: tenon.from_numpy(array).clone() for name, array in arrays.items()} | {"m": tenon},
        "torch": {name: torch.from_numpy(array).clone() for name, array in arrays.items()} | {"m": torch},
        "numpy": arrays | {"n": numpy},
    }
    statements = {"tenon": statement, "torch": statement, "numpy": numpy_statement}
    return {library: eval("lambda: " + text, values[library]) for library, text in statements.items() if text}


def timed(function, clock):
    """Seconds of a call, of as many as fill a round."""
    count = 1
    while True:
        begin = clock()
        for _ in range(count):
            function()
        seconds = clock() - begin
        if seconds > SECONDS / 2:
            return seconds / count
        count *= max(2, min(100, int(SECONDS / max(seconds, 1e-7))))


def measure(arguments):
    """Prints a line for each case: its number, the microseconds of each library."""
    import numpy
    import tenon
    import torch

    one = arguments.threads == 1
    tenon.set_num_threads(arguments.threads)
    torch.set_num_threads(arguments.threads)
    clock = time.process_time if one else time.perf_counter
    for name, case in CASES.items():
        if not re.search(arguments.filter, name):
            continue
        calls = functions(tenon, torch, numpy, case)
        for call in calls.values():
            call()
        rounds = [{library: timed(call, clock) for library, call in calls.items()} for _ in range(arguments.rounds)]
        times = {library: statistics.median(each[library] for each in rounds) for library in calls}
        print("\t".join([name, *(f"{times.get(library, 0) * 1e6:.2f}" for library in ("tenon", "torch", "numpy"))]), flush=True)


def measured(arguments, threads):
    """{name: the microseconds of each library}, in a process with so many threads."""
    command = [sys.executable, __file__, "--threads", str(threads), "--rounds", str(arguments.rounds), "--filter", arguments.filter]
    text = subprocess.run(command, env=os.environ | dict.fromkeys(THREADS, str(threads)), stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = [line.split("\t") for line in text.splitlines()]
    return {name: [float(number) for number in numbers] for name, *numbers in lines}


def ratio(other, own):
    return f"{other / own:.2f}" if other else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--filter", default="")
    parser.add_argument("--threads", type=int, help="measures one number of threads, and prints no table")
    arguments = parser.parse_args()
    if arguments.threads:
        return measure(arguments)
    cores = os.cpu_count()
    one, all_cores = measured(arguments, 1), measured(arguments, cores)
    print(f"| case | Tenon, us | PyTorch | NumPy | Tenon, {cores} cores, us | PyTorch | NumPy |\n|---|---|---|---|---|---|---|")
    for name in one:
        cells = [name]
        for own, torch, numpy in (one[name], all_cores[name]):
            cells += [f"{own:.4g}", ratio(torch, own), ratio(numpy, own)]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
