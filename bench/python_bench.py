#!/usr/bin/env python3
"""Times small calls from Python in Tenon, PyTorch and NumPy: python_bench.py [--rounds N] [--filter REGEX].

The libraries take turns of a few milliseconds. A time is the minimum of all rounds and includes the loop around the call.
A ratio is the other library's time divided by Tenon's. Imports are timed in separate processes, minus the time of a
process that imports nothing. A target is met by a time that is no larger, or, since clock rates differ, by a third of
NumPy's time. Exits 1 if a target is missed.
"""

import argparse
import importlib
import re
import subprocess
import sys
import time
import timeit

CALLS = 10_000
LIBRARIES = ("tenon", "torch", "numpy")
SETUP = """
a, b, x = m.ones(3, dtype=m.float32), m.ones(3, dtype=m.float32), m.ones((3, 4), dtype=m.float32)
y, z, row = m.ones((8, 8), dtype=m.float32), m.ones((8, 8), dtype=m.float32), m.zeros(8, dtype=m.float32)
i = m.ones(8, dtype=m.int32)
"""
GRAD_SETUP = SETUP + "a.requires_grad_(); b.requires_grad_(); x.requires_grad_()"

# (name, target in nanoseconds, statement, NumPy's statement or None)
CASES = [
    ("a + b", 50, "a + b", "a + b"),
    ("x + 1", 150, "a + 1", "a + 1"),
    ("2 * x", 150, "2 * a", "2 * a"),
    ("a.add_(b)", 120, "a.add_(b)", "m.add(a, b, out=a)"),
    ("[8,8] + [8,8]", 50, "y + z", "y + z"),
    ("[8,8] + [8]", 90, "y + row", "y + row"),
    ("[8,8].add_([8])", 90, "y.add_(row)", "m.add(y, row, out=y)"),
    ("int32[8] + float32[8]", 120, "i + row", "i + row"),
    ("x.unsqueeze(0)", 60, "x.unsqueeze(0)", "x[None]"),
    ("x[0]", 60, "x[0]", "x[0]"),
    ("x[1:3]", 60, "x[1:3]", "x[1:3]"),
    ("x[0, 1:3]", 60, "x[0, 1:3]", "x[0, 1:3]"),
    ("x[:, None]", 60, "x[:, None]", "x[:, None]"),
    ("x.t()", 60, "x.t()", "x.transpose()"),
    ("x.view(4, 3)", 60, "x.view(4, 3)", "x.reshape(4, 3)"),
    ("[8,8].sum(0)", 110, "y.sum(0)", "y.sum(0)"),
    ("[8,8].sum(1)", 110, "y.sum(1)", "y.sum(1)"),
    ("[8,8].amax(1)", 110, "y.amax(1)", "y.max(1)"),
]
# The common functions on 8 elements, with NumPy's name where it has another; None: NumPy has none.
FUNCTIONS = {name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt")}
FUNCTIONS |= {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "atanh": "arctanh", "erf": None, "sigmoid": None}
FUNCTION_SETUP = "x = m.ones(8, dtype=m.float32) * 0.7; y = x + 1"
FUNCTION_CASES = [(f"{name}(x), 8 elements", 120, f"m.{name}(x)", numpy_name and f"m.{numpy_name}(x)") for name, numpy_name in FUNCTIONS.items()]
FUNCTION_CASES.append(("acosh(y), 8 elements", 120, "m.acosh(y)", "m.arccosh(y)"))
FUNCTION_CASES.append(("pow(x, x), 8 elements", 120, "m.pow(x, x)", "m.power(x, x)"))
GRAD_CASES = [
    ("a + b, grad", 300, "a + b", None),
    ("x + 1, grad", 300, "a + 1", None),
    ("x.unsqueeze(0), grad", 300, "x.unsqueeze(0)", None),
    ("x[0], grad", 360, "x[0]", None),
    ("([3]+[1]).sum().backward()", 3000, "(a + b[:1]).sum().backward()", None),
]
IMPORT_TARGET_MS = 40


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def timers(modules, cases, setup):
    """(name, target, {library: timer}) of each case."""
    for name, target, statement, numpy_statement in cases:
        statements = {"tenon": statement, "torch": statement, "numpy": numpy_statement}
        yield name, target, {
            library: timeit.Timer(statements[library], setup, globals={"m": module})
            for library, module in modules.items()
            if statements[library] is not None
        }  # fmt: skip


def best_times(timer_of, rounds):
    """{library: minimum of the nanoseconds per call}. The libraries take turns."""
    best = dict.fromkeys(timer_of, float("inf"))
    for timer in timer_of.values():
        timer.timeit(CALLS // 10)
    for _ in range(rounds):
        for library, timer in timer_of.items():
            best[library] = min(best[library], timer.timeit(CALLS) / CALLS * 1e9)
    return best


def import_times(modules, rounds):
    """{library: minimum of the milliseconds to import it}."""
    programs = {"": "pass"} | {library: f"import {library}" for library in modules}
    best = dict.fromkeys(programs, float("inf"))
    for _ in range(rounds):
        for library, program in programs.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            best[library] = min(best[library], (time.perf_counter() - start) * 1e3)
    bare = best.pop("")
    return {library: value - bare for library, value in best.items()}


def report(name, unit, target, best):
    """Prints a line of the table; returns whether the target is met."""
    cells = [f"{best[library]:.0f} {unit}" if library in best else "-" for library in LIBRARIES]
    ratios = [f"{best[library] / best['tenon']:.1f}" if library in best else "-" for library in LIBRARIES[1:]]
    met = best["tenon"] <= max(target, best.get("numpy", 0) / 3)
    print(f"{name:28} {cells[0]:>10} {cells[1]:>10} {ratios[0]:>7} {cells[2]:>10} {ratios[1]:>7} {f'{target} {unit}':>10}", "" if met else "MISSED")
    return met


def main():
    parser = argparse.ArgumentParser(description="Times small calls from Python in Tenon, PyTorch and NumPy.")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--filter", default="", metavar="REGEX")
    arguments = parser.parse_args()
    modules = {name: module for name in LIBRARIES if (module := imported(name)) is not None}
    if "torch" in modules:
        modules["torch"].set_num_threads(1)
    cases = [*timers(modules, CASES, SETUP), *timers(modules, FUNCTION_CASES, FUNCTION_SETUP)]
    cases += timers({name: m for name, m in modules.items() if name != "numpy"}, GRAD_CASES, GRAD_SETUP)
    print(f"{'case':28} {'Tenon':>10} {'PyTorch':>10} {'ratio':>7} {'NumPy':>10} {'ratio':>7} {'target':>10}")
    met = [report(name, "ns", target, best_times(timer_of, arguments.rounds)) for name, target, timer_of in cases if re.search(arguments.filter, name)]
    if re.search(arguments.filter, "import"):
        met.append(report("import", "ms", IMPORT_TARGET_MS, import_times(modules, min(arguments.rounds, 11))))
    print(f"{met.count(True)} of {len(met)} targets met")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
