#!/usr/bin/env python3
"""Measures the sizes of the library and the wheel and the compile times, and compares them with their limits.

budget.py BUILD [WHEEL]: measures a build folder and, if given, a wheel. Exits 1 if a limit is exceeded.
budget.py --from-nothing: first builds the library, the program tenon and the Python module into build/budget, without a
compiler cache.

Compile times come from ninja's log in the build folder. They mean nothing if a compiler cache was used or the machine
was busy, so only --from-nothing compares them with their limit.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

from check_library import LIMIT_BYTES, stripped_bytes
from ops import public_ops, read_ops

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY_MB = LIMIT_BYTES / 1e6
WHEEL_MB = 6
BUILD_MINUTES = 8
UNIT_SECONDS = 60
# The library's size is also estimated for so many ops: those declared in November 2026 and the 105 that the catalogue of
# PyTorch's ops had beside them. Aliases have no code of their own and are not counted.
PLANNED_OPS = 243
# What grows with the number of ops: formulas' kernels, the tables, and the functions made from signatures.
GROWING = ("src/kernel/", "src/ops/", "src/dispatch/ops.cpp", "src/dispatch/schema.cpp", "src/autograd/derivative.cpp")
NOT_GROWING = ("src/kernel/cast.cpp", "src/kernel/move.cpp", "src/kernel/index.cpp", "src/kernel/order.cpp",
               "src/kernel/product.cpp", "src/kernel/scan.cpp", "src/kernel/kernel.cpp")


def unit_seconds(build):
    """{source: seconds of its last compilation}, from ninja's log."""
    seconds = {}
    for line in (build / ".ninja_log").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, _ = line.split("\t")
        source = output.split(".dir/")[-1].removesuffix(".o")
        if output.endswith(".o") and (ROOT / source).exists():  # the log also lists deleted sources
            seconds[source] = (int(end) - int(start)) / 1000
    return seconds


def build_from_nothing(folder):
    shutil.rmtree(folder, ignore_errors=True)
    environment = os.environ | {"CCACHE_DISABLE": "1"}
    start = time.monotonic()
    subprocess.run(["cmake", "--preset", "release", "-B", folder, "-DTENON_BUILD_PYTHON=ON",
                    f"-DPython_EXECUTABLE={ROOT / '.venv-wheel/bin/python'}"],
                   cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "products"],
                   cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def growing_share(build):
    """The part of the library's code and data that grows with the number of ops."""
    folder = build / "CMakeFiles/tenon_core.dir"
    growing = total = 0
    for built in folder.rglob("*.o"):
        source = str(built.relative_to(folder)).removesuffix(".o")
        fields = subprocess.run(["size", built], check=True, capture_output=True, text=True).stdout.split("\n")[1].split()
        total += int(fields[0]) + int(fields[1])
        if source.startswith(GROWING) and not source.startswith(NOT_GROWING):
            growing += int(fields[0]) + int(fields[1])
    return growing / total


def report(build, wheel, build_seconds):
    """[(what, measured, limit, unit)]; a limit may be None."""
    library = stripped_bytes(build / "libtenon.so") / 1e6
    declared = len({op.name for op in public_ops(read_ops()) if not op.is_alias})
    units = sorted(unit_seconds(build).items(), key=lambda unit: -unit[1])
    planned = library * (1 + growing_share(build) * (PLANNED_OPS / declared - 1))
    lines = [("library, stripped", library, LIBRARY_MB, "MB"),
             (f"estimate for {PLANNED_OPS} ops ({declared} are declared)", planned, LIBRARY_MB, "MB")]
    if wheel:
        lines.append(("wheel", wheel.stat().st_size / 1e6, WHEEL_MB, "MB"))
    if build_seconds:
        lines.append((f"build from nothing, {os.cpu_count()} cores", build_seconds / 60, BUILD_MINUTES, "minutes"))
    limit = UNIT_SECONDS if build_seconds else None  # other times may be those of a busy machine
    return lines + [(f"compiling {name}", seconds, limit, "s") for name, seconds in units[:5]]


def main(arguments):
    build_seconds = None
    if arguments == ["--from-nothing"]:
        build = ROOT / "build/budget"
        build_seconds = build_from_nothing(build)
        wheel = next((ROOT / "build/wheel").glob("*.whl"), None)
    else:
        build = pathlib.Path(arguments[0])
        wheel = pathlib.Path(arguments[1]) if len(arguments) > 1 else None
    over = 0
    for what, measured, limit, unit in report(build, wheel, build_seconds):
        passed = limit is None or measured <= limit
        over += not passed
        print(f"{what:<55}{measured:7.2f} {unit:<8}" + ("" if limit is None else f"of {limit}" + ("" if passed else ": over the limit")))
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
