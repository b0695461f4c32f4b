#!/usr/bin/env python3
"""Looks for cliffs: cliffs_bench.py [--filter REGEX] [--elements N] [--seed N] [--jump X].

Each case is one call on matrices of every size from a few elements to N, with 2 to 1000 columns. A cliff is a size whose time
per element is X times what smaller matrices of as many columns need, or as many rows of fewer and of more columns. Such a jump
has no reason in the data; mostly a smaller size took another way through the library. Prints a line for each case with cliffs,
the worst ones first, and PyTorch's time divided by Tenon's where PyTorch is installed. Times are of one thread. What grows by
itself shows, too: sorts of longer rows, and results that leave a cache.
"""

import argparse
import re
import time

import tenon

try:
    import torch
except ImportError:
    torch = None

COLUMNS = (2, 3, 5, 8, 13, 20, 33, 50, 80, 130, 200, 300, 1000)
FLOATS, USUAL = ("float32", "float64", "bfloat16"), ("float32", "bfloat16", "int32", "uint8")
# Times per element below this are those of memory.
LEAST_NS = 0.12

# (name, dtypes, what is called over a matrix: m is the library)
ALONG = [
    ("sum", ("float32", "float64", "bfloat16", "int64", "uint8"), lambda m, x, d: m.sum(x, d)),
    ("mean", FLOATS, lambda m, x, d: m.mean(x, d)),
    ("amax", USUAL, lambda m, x, d: m.amax(x, d)),
    ("aminmax", ("float32", "uint8"), lambda m, x, d: m.aminmax(x, dim=d)),
    ("argmax", USUAL, lambda m, x, d: m.argmax(x, d)),
    ("max", USUAL, lambda m, x, d: m.max(x, d)),
    ("any", USUAL, lambda m, x, d: m.any(x, d)),
    ("prod", USUAL, lambda m, x, d: m.prod(x, d)),
    ("var", FLOATS, lambda m, x, d: m.var(x, d)),
    ("norm", FLOATS, lambda m, x, d: m.linalg.vector_norm(x, 2, d)),
    ("logsumexp", FLOATS, lambda m, x, d: m.logsumexp(x, d)),
    ("softmax", FLOATS, lambda m, x, d: m.softmax(x, d)),
    ("log_softmax", FLOATS, lambda m, x, d: m.log_softmax(x, d)),
    ("cumsum", ("float32", "float64", "bfloat16", "int32", "uint8"), lambda m, x, d: m.cumsum(x, d)),
    ("cummax", ("float32", "int32"), lambda m, x, d: m.cummax(x, d)),
    ("median", ("float32",), lambda m, x, d: m.median(x, d)),
    ("sort", ("float32", "int64"), lambda m, x, d: m.sort(x, d)),
    ("topk", ("float32",), lambda m, x, d: m.topk(x, 1, d)),
    ("flip", ("float32", "uint8"), lambda m, x, d: m.flip(x, (d,))),
    ("roll", ("float32", "uint8"), lambda m, x, d: m.roll(x, 1, d)),
    ("diff", ("float32",), lambda m, x, d: m.diff(x, dim=d)),
    ("repeat_interleave", ("float32", "uint8"), lambda m, x, d: x.repeat_interleave(2, d)),
    ("sum of a transposed view", ("float32", "uint8"), lambda m, x, d: m.sum(x.t(), d)),
]
# Operands that a call takes besides: a row, a column, a mask, indices.
WHOLE = [
    ("x + row", ("float32", "float64", "bfloat16", "uint8"), lambda m, x, o: x + o["row"]),
    ("x + column", ("float32", "float64", "bfloat16", "uint8"), lambda m, x, o: x + o["column"]),
    ("column - row", ("float32", "bfloat16", "uint8"), lambda m, x, o: o["column"] - o["row"]),
    ("x.add_(row)", ("float32", "bfloat16", "uint8"), lambda m, x, o: x.add_(o["row"])),
    ("x + float64 row", ("float32",), lambda m, x, o: x + o["wide_row"]),
    ("x < column", ("float32", "bfloat16", "int64"), lambda m, x, o: x < o["column"]),
    ("maximum with a column", ("float32", "uint8"), lambda m, x, o: m.maximum(x, o["column"])),
    ("where of a row", ("float32", "bfloat16", "uint8"), lambda m, x, o: m.where(o["mask"], x, o["row"])),
    ("x with gaps + row", ("float32", "bfloat16", "uint8"), lambda m, x, o: x[:, :-1] + o["row"][:-1]),
    ("every second column, twice", ("float32", "bfloat16", "uint8"), lambda m, x, o: x[:, ::2] + x[:, ::2]),
    ("copy of every second column", ("float32", "uint8"), lambda m, x, o: x[:, ::2].contiguous()),
    ("x + transposed", ("float32", "bfloat16", "uint8"), lambda m, x, o: x + o["turned"]),
    ("transposed copy", ("float32", "float64", "bfloat16", "uint8"), lambda m, x, o: o["turned"].contiguous()),
    ("x.exp()", ("float32", "bfloat16"), lambda m, x, o: x.exp() if x.is_floating_point() else x),
    ("x % 7", ("float32", "int32", "int64"), lambda m, x, o: x % 7),
    ("x // positive column", ("float32", "int32", "int64"), lambda m, x, o: x // o["divisors"]),
    ("x.to(bfloat16)", ("float32", "float64", "uint8"), lambda m, x, o: x.to(m.bfloat16)),
    ("x.to(float64)", ("float32", "bfloat16", "uint8"), lambda m, x, o: x.to(m.float64)),
    ("cat of rows", ("float32", "uint8"), lambda m, x, o: m.cat([x, x])),
    ("cat of columns", ("float32", "uint8"), lambda m, x, o: m.cat([x, x], 1)),
    ("x[rows]", ("float32", "uint8"), lambda m, x, o: x[o["rows"]]),
    ("x[:, columns]", ("float32", "uint8"), lambda m, x, o: x[:, o["columns"]]),
    ("x[mask]", ("float32", "uint8"), lambda m, x, o: x[o["mask"]]),
    ("tril", ("float32",), lambda m, x, o: m.tril(x)),
    ("x @ vector", ("float32", "bfloat16"), lambda m, x, o: x @ o["row"]),
    ("vector @ x", ("float32", "bfloat16"), lambda m, x, o: o["column"][:, 0] @ x),
    ("x @ [columns, 8]", ("float32", "float64", "bfloat16", "int64"), lambda m, x, o: x @ o["eight"]),
]


def operands(m, x):
    rows, columns = x.shape
    return {
        "row": x[0].clone(),
        "wide_row": x[0].to(m.float64),
        "column": x[:, :1].clone(),
        "divisors": x[:, :1].abs() + 3 if x.dtype != m.uint8 else x[:, :1] // 2 + 3,
        "mask": x > 0,
        "turned": x.t().contiguous().t(),
        "rows": m.arange(rows) * 7919 % rows,
        "columns": m.arange(columns) * 7919 % columns,
        "eight": m.ones(columns, 8).to(x.dtype),
    }


def cases():
    """(name, dtype, call) of the cases that are asked for; call(m, x) gives what is timed."""
    for name, dtypes, call in ALONG:
        for dtype in dtypes:
            for dim in (0, 1):
                yield f"{name} of dim {dim}, {dtype}", dtype, lambda m, x, call=call, dim=dim: lambda: call(m, x, dim)
    for name, dtypes, call in WHOLE:
        for dtype in dtypes:

            def prepared(m, x, call=call):
                others = operands(m, x)
                return lambda: call(m, x, others)

            yield f"{name}, {dtype}", dtype, prepared


def nanoseconds(call):
    """The smallest time of a call in three turns of half a millisecond."""
    call()
    start = time.perf_counter()
    call()
    calls = max(1, int(5e-4 / (time.perf_counter() - start)))
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e9


def matrix(m, dtype, rows, columns, seed):
    m.manual_seed(seed)
    x = m.randn(rows, columns) * 40
    return (x.abs() if dtype == "uint8" else x).to(getattr(m, dtype))


def found_cliffs(times, jump):
    """(how steep, rows, columns, ns, ns expected) of the sizes in `times`, {(rows, columns): ns per element}."""
    found = {}
    for columns in COLUMNS:
        best = float("inf")
        for rows in sorted(r for r, c in times if c == columns):
            ns = times[rows, columns]
            if ns > jump * best:
                found[rows, columns] = best
            best = min(best, ns)
    for before, columns, after in zip(COLUMNS, COLUMNS[1:], COLUMNS[2:]):
        for rows in (r for r, c in times if c == columns and (r, before) in times and (r, after) in times):
            beside = max(times[rows, before], times[rows, after])
            if times[rows, columns] > jump * beside:
                found.setdefault((rows, columns), beside)
    steep = [(times[size] / expected, *size, times[size], expected) for size, expected in found.items() if times[size] > LEAST_NS]
    return sorted(steep, reverse=True)


def measured(call, dtype, arguments):
    times = {}
    for columns in COLUMNS:
        rows = 4
        while rows * columns <= arguments.elements:
            x = matrix(tenon, dtype, rows, columns, arguments.seed)
            times[rows, columns] = nanoseconds(call(tenon, x)) / (rows * columns)
            rows = rows * 19 // 10
    return times


def ratio(call, dtype, rows, columns, ns, seed):
    """PyTorch's time divided by Tenon's."""
    return nanoseconds(call(torch, matrix(torch, dtype, rows, columns, seed))) / (rows * columns) / ns


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="a regular expression for the names of cases")
    parser.add_argument("--elements", type=int, default=300_000, help="of the largest matrices")
    parser.add_argument("--seed", type=int, default=0, help="of the elements")
    parser.add_argument("--jump", type=float, default=1.7, help="times the time per element of smaller matrices")
    arguments = parser.parse_args()
    tenon.set_num_threads(1)
    if torch:
        torch.set_num_threads(1)
    count = 0
    for name, dtype, call in cases():
        if not re.search(arguments.filter, name):
            continue
        count += 1
        cliffs = found_cliffs(measured(call, dtype, arguments), arguments.jump)
        if not cliffs:
            continue
        words = []
        for steep, rows, columns, ns, expected in cliffs[:3]:
            beside = f", PyTorch {ratio(call, dtype, rows, columns, ns, arguments.seed):.2f} times" if torch else ""
            words.append(f"[{rows}, {columns}] {ns:.2f} ns instead of {expected:.2f}{beside}")
        print(f"{name}: {len(cliffs)} sizes, {cliffs[0][0]:.1f} times: {'; '.join(words)}", flush=True)
    print(f"{count} cases")


if __name__ == "__main__":
    main()
