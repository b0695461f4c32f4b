#!/usr/bin/env python3
"""Times whole functions in tenon.fuse beside other compilers of expressions: fuse_python.py [--rounds N] [--filter REGEX] [--rows N ...] [--all-cores] [--without LIBRARY] [--json FILE] [--calls].

Beside it: Tenon's and PyTorch's ops one by one, torch.compile, JAX's jit, numexpr and Blosc2's lazy expressions, those of
them that are installed and can compute the function; PyTorch's own softmax and layer norm; and of the chain the loop that a
person writes with SIMD registers and streaming stores (chain_by_hand.cpp, if there is a C++ compiler). All run on one core, take turns, and allocate their results. A time
is the least CPU time of a call, over all rounds; a ratio is the other library's time divided by that of tenon.fuse.
Every result is compared with PyTorch's first. Each number of rows has its table: by default those of matrices in memory, in the
third cache, in the second and in the first. The file gets the times and the bytes that are moved of the first, for tools/plot_fuse.py.
--all-cores: all libraries use all cores; a time is that of a clock on the wall.
--calls: instead, what a call and a trace of ten ops on 10 elements cost.
"""

import argparse
import ctypes
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS_A_TURN = 0.05
COLUMNS = ("tenon ops", "torch", "torch's own", "torch.compile", "jax.jit", "numexpr", "blosc2", "by hand")


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def chain(m, a, row, column):
    return m.clip((a - row) / column * 2 + 1, 0, 5)


def gelu(m, a):
    return 0.5 * a * (1 + m.tanh(0.7978845608 * (a + 0.044715 * a * a * a)))


def softmax(m, a):
    e = m.exp(a - m.amax(a, -1, keepdims=True))
    return e / m.sum(e, -1, keepdims=True)


def layer_norm(m, a, weight):
    d = a - m.mean(a, -1, keepdims=True)
    return d / m.sqrt(m.mean(d * d, -1, keepdims=True) + 1e-5) * weight


def distances(m, a):
    d = a[:, None] - a[None]
    return m.sum(d * d, -1)


def nearest(m, points, centres):
    d = points[:, None] - centres[None]
    return m.sum(d * d, -1).argmin(1)


def attention(m, q, k, v):
    scores = (q @ k.T) * 0.125
    e = m.exp(scores - m.amax(scores, -1, keepdims=True))
    return (e / m.sum(e, -1, keepdims=True)) @ v


def photo(m, a, mean, deviation):
    return (a / 255 - mean) / deviation


class Tensors:
    """The names that PyTorch and Tenon spell another way than JAX."""

    def __init__(self, module):
        self.clip, self.tanh, self.exp, self.sqrt = module.clamp, module.tanh, module.exp, module.sqrt

    amax = staticmethod(lambda a, dim, keepdims: a.amax(dim, keepdim=keepdims))
    sum = staticmethod(lambda a, dim, keepdims=False: a.sum(dim, keepdim=keepdims))
    mean = staticmethod(lambda a, dim, keepdims: a.mean(dim, keepdim=keepdims))


CHAIN_TEXT = "(a - row) / column * 2 + 1"
CASES = [
    # name, function, operands, backward, numexpr's text, Blosc2's text
    ("chain", chain, ("matrix", "row", "column"), False, f"where({CHAIN_TEXT} < 0, 0, where({CHAIN_TEXT} > 5, 5, {CHAIN_TEXT}))", f"clip({CHAIN_TEXT}, 0, 5)"),
    ("gelu by hand", gelu, ("matrix",), False, "half * a * (1 + tanh(root * (a + cubic * a * a * a)))", True),
    ("softmax by hand", softmax, ("matrix",), False, None, None),
    ("layer norm by hand", layer_norm, ("matrix", "row"), False, None, None),
    ("pairwise distances", distances, ("points",), False, None, None),
    ("k-means: nearest of 64", nearest, ("points", "centres"), False, None, None),
    ("attention by hand", attention, ("queries", "keys", "values"), False, None, None),
    ("u8 photo to float32", photo, ("photo", "colour", "colour"), False, "(a / 255 - row) / column", True),
    ("chain both ways", chain, ("matrix", "row", "column"), True, None, None),
]


def make_operands(numpy, rows):
    sys.path.insert(0, str(ROOT / "examples"))
    from normalise_photo import DATA, read_png

    random = numpy.random.default_rng(1)
    pixels = numpy.from_dlpack(read_png(DATA / "raccoon.png"))
    copies = max(1, rows * rows // pixels.size)
    return {
        "matrix": random.standard_normal((rows, rows), dtype=numpy.float32),
        "row": random.standard_normal(rows, dtype=numpy.float32),
        "column": random.random((rows, 1), dtype=numpy.float32) + 1,
        "points": random.standard_normal((rows, 8), dtype=numpy.float32),
        "centres": random.standard_normal((64, 8), dtype=numpy.float32),
        **{name: random.standard_normal((rows, 64), dtype=numpy.float32) for name in ("queries", "keys", "values")},
        "photo": numpy.concatenate([pixels] * copies),
        "colour": numpy.array([0.485, 0.456, 0.406], dtype=numpy.float32),
    }


def tensor_call(module, function, operands, backward):
    """`function` is called with tensors of the module; both ways, its sum is differentiated and the gradients given."""
    tensors = [module.from_numpy(x.copy()) for x in operands]
    if not backward:
        return lambda: function(*tensors)
    for x in tensors:
        x.requires_grad_()

    def both_ways():
        function(*tensors).sum().backward()
        gradient = tensors[0].grad
        for x in tensors:
            x.grad = None
        return gradient

    return both_ways


def jax_call(jax, function, operands, backward):
    import jax.numpy as jnp

    arrays = [jnp.asarray(x) for x in operands]
    if backward:
        everything = tuple(range(len(arrays)))
        compiled = jax.jit(jax.grad(lambda *x: function(jnp, *x).sum(), argnums=everything))
        return lambda: jax.block_until_ready(compiled(*arrays))[0]
    compiled = jax.jit(lambda *x: function(jnp, *x))
    return lambda: compiled(*arrays).block_until_ready()


def text_operands(numpy, operands):
    """numexpr and Blosc2 compute with NumPy's numbers, whose division of integers gives float64."""
    values = dict(zip(("a", "row", "column"), operands))
    # Written in the text, these numbers would make everything float64.
    values |= {"half": numpy.float32(0.5), "root": numpy.float32(0.7978845608), "cubic": numpy.float32(0.044715)}
    return {name: x.astype(numpy.float32) if x.dtype == numpy.uint8 else x for name, x in values.items()}


# PyTorch's own kernels of what the function computes.
OWN = {
    softmax: lambda functional, a: functional.softmax(a, -1),
    layer_norm: lambda functional, a, weight: functional.layer_norm(a, weight.shape, weight),
}

BY_HAND = """#include "chain_by_hand.cpp"
extern "C" void by_hand(float* out, const float* a, const float* row, const float* column, int64_t rows, int64_t columns, bool streamed) {
  bench::chain_by_hand(out, a, row, column, rows, columns, streamed);
}
"""


def call_by_hand(tenon, operands):
    """The loop of bench/chain_by_hand.cpp, whose result Tenon allocates; None without a compiler."""
    a, row, column = tensors = [tenon.from_numpy(x.copy()) for x in operands]
    if a.shape[1] % 64:
        return None
    with tempfile.TemporaryDirectory() as folder:
        # Without the last option Highway refuses processors whose own target it does not choose at run time.
        words = ["c++", "-std=c++20", "-O3", "-march=native", "-DHWY_COMPILE_ONLY_STATIC", "-ffp-contract=off", "-shared", "-fPIC", "-x", "c++", "-I", ROOT / "bench", "-", "-o", f"{folder}/by_hand.so"]
        try:
            subprocess.run(words, input=BY_HAND, text=True, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        function = ctypes.CDLL(f"{folder}/by_hand.so").by_hand
    is_large = a.numel() * 4 > 32 << 20

    def call():
        out = tenon.empty(*a.shape)
        places = [ctypes.c_void_p(x.data_ptr()) for x in (out, *tensors)]
        function(*places, ctypes.c_int64(a.shape[0]), ctypes.c_int64(a.shape[1]), ctypes.c_bool(is_large))
        return out

    return call


def calls_of(case, operands, modules):
    """{library: call} of one case."""
    _, function, names, backward, text, blosc_text = case
    numpy, tenon, torch = modules["numpy"], modules["tenon"], modules["torch"]
    given = [operands[name] for name in names]
    calls = {}

    def on(module):
        names_of = Tensors(module)
        return lambda *x: function(names_of, *x)

    calls["tenon.fuse"] = tensor_call(tenon, tenon.fuse(on(tenon)), given, backward)
    calls["tenon ops"] = tensor_call(tenon, on(tenon), given, backward)
    calls["torch"] = tensor_call(torch, on(torch), given, backward)
    if function in OWN:
        calls["torch's own"] = tensor_call(torch, lambda *x: OWN[function](torch.nn.functional, *x), given, backward)
    torch.compiler.reset()  # it compiles a function only so many times, and all cases call one lambda
    calls["torch.compile"] = tensor_call(torch, torch.compile(on(torch)), given, backward)
    if modules["jax"]:
        calls["jax.jit"] = jax_call(modules["jax"], function, given, backward)
    if text and modules["numexpr"]:
        values = text_operands(numpy, given)
        calls["numexpr"] = lambda: modules["numexpr"].evaluate(text, local_dict=values, truediv=True)
    if blosc_text and modules["blosc2"]:
        lazy_text = text if blosc_text is True else blosc_text
        lazy_operands = {name: x for name, x in text_operands(numpy, given).items() if re.search(rf"\b{name}\b", lazy_text)}
        calls["blosc2"] = lambda: modules["blosc2"].lazyexpr(lazy_text, lazy_operands)[()]
    if function is chain and not backward and (by_hand := call_by_hand(tenon, given)):
        calls["by hand"] = by_hand
    return calls


def bytes_moved(module, function, operands):
    """(by tenon.fuse, op by op), as its explain says."""
    names_of = Tensors(module)
    text = module.fuse(lambda *x: function(names_of, *x)).explain(*[module.from_numpy(x.copy()) for x in operands])
    units = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    return [float(number) * units[unit] for number, unit in re.findall(r"(?:moves|op by op) ([\d.]+) ([kMG]?B)", text)]


def check(name, results, numpy):
    wanted = numpy.asarray(results["torch"].detach())
    for library, result in results.items():
        found = numpy.asarray(result.detach() if hasattr(result, "detach") else result)
        # JAX halves the gradient of what is exactly on a bound, as a few elements of many are.
        if found.shape != wanted.shape or numpy.isclose(found, wanted, rtol=1e-3, atol=1e-4).mean() < 0.9999:
            raise SystemExit(f"{name}: {library} computes something else")


def least_seconds(calls, rounds, clock=time.process_time):
    """{library: seconds of a call}, the least of all rounds."""
    best, repeats = {}, {}
    for library, call in calls.items():
        start = clock()
        call()
        repeats[library] = max(1, int(SECONDS_A_TURN / max(clock() - start, 1e-6)))
    for _ in range(rounds):
        for library, call in calls.items():
            start = clock()
            for _ in range(repeats[library]):
                call()
            seconds = (clock() - start) / repeats[library]
            best[library] = min(best.get(library, seconds), seconds)
    return best


def usable(name, calls):
    """Those that can compute the function."""
    results = {}
    for library in list(calls):
        try:
            results[library] = calls[library]()
            calls[library]()
        except Exception as error:  # whatever another library raises
            if library.startswith("tenon") or library == "torch":
                raise
            print(f"{name}: {library} fails: {str(error).splitlines()[0] if str(error) else type(error).__name__}", file=sys.stderr)
            del calls[library]
            results.pop(library, None)
    return results


def ten_ops(m, a, row, column):
    return m.tanh(m.clamp(m.exp((a - row) / column * 2 + 1) * 0.5 - row, 0, 5)) + column


def print_calls(tenon, rounds):
    """On 10 elements a call is little else than its overhead. What is traced a second time is another function of the same code."""

    def function(*x):
        return ten_ops(tenon, *x)

    operands = tenon.rand(1, 10), tenon.rand(10), tenon.rand(1, 1) + 1
    fused = tenon.fuse(function)
    tenon.fuse(lambda x: (x + 1).exp())(operands[0])  # loads what every first trace of a process needs
    start = time.thread_time()
    fused(*operands)
    first = time.thread_time() - start
    calls = {"fused": lambda: fused(*operands), "op by op": lambda: function(*operands), "traced": lambda: tenon.fuse(function)(*operands)}
    best = least_seconds(calls, rounds)
    print("ten ops on 10 elements, us: " + ", ".join(f"{name} {seconds * 1e6:.2f}" for name, seconds in best.items()) + f", traced the first time {first * 1e6:.0f}")


def measure_table(modules, rows, options):
    """Prints the table of matrices of so many rows. Gives what the figure shows."""
    operands = make_operands(modules["numpy"], rows)
    print(f"| {rows} rows | tenon.fuse, ms | " + " | ".join(COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    measured = []
    for case in CASES:
        if not re.search(options.filter, case[0]):
            continue
        calls = calls_of(case, operands, modules)
        for name in options.without:
            calls.pop(name, None)
        check(case[0], usable(case[0], calls), modules["numpy"])
        seconds = least_seconds(calls, options.rounds, time.perf_counter if options.all_cores else time.process_time)
        own = seconds["tenon.fuse"]
        if not case[3]:
            fused, ops = bytes_moved(modules["tenon"], case[1], [operands[name] for name in case[2]])
            measured.append({"name": case[0], "fused_bytes": fused, "ops_bytes": ops, "milliseconds": {k: round(v * 1e3, 3) for k, v in seconds.items()}})
        ratios = [f"{seconds[name] / own:.2f}" if name in seconds else "-" for name in COLUMNS]
        print(f"| {case[0]} | {own * 1e3:.3g} | " + " | ".join(ratios) + " |", flush=True)
    return measured


def use_cores(modules, count):
    for name, function in (("tenon", "set_num_threads"), ("torch", "set_num_threads"), ("numexpr", "set_num_threads"), ("blosc2", "set_nthreads")):
        if modules[name]:
            getattr(modules[name], function)(count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--filter", default="", help="cases whose name matches")
    parser.add_argument("--rows", type=int, nargs="+", default=[4096, 1024, 256, 64], help="of the square matrices")
    parser.add_argument("--all-cores", action="store_true", help="instead of one")
    parser.add_argument("--without", action="append", default=[], choices=COLUMNS[2:], help="a library to leave out")
    parser.add_argument("--json", type=pathlib.Path, help="a file for times and bytes")
    parser.add_argument("--calls", action="store_true", help="what a call costs")
    options = parser.parse_args()

    cores = os.sched_getaffinity(0)
    if not options.all_cores:
        cores = {max(cores)}
        os.sched_setaffinity(0, cores)
        os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    if options.calls:
        tenon = importlib.import_module("tenon")
        tenon.set_num_threads(1)
        return print_calls(tenon, options.rounds)
    modules = {name: imported(name) for name in ("numpy", "tenon", "torch", "jax", "numexpr", "blosc2")}
    use_cores(modules, len(cores))
    tables = []
    for rows in options.rows:
        if tables:
            print()
        tables.append(measure_table(modules, rows, options))
    if options.json:
        options.json.write_text(json.dumps({"rows": options.rows[0], "cases": tables[0]}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
