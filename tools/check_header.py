#!/usr/bin/env python3
"""Measures the compile time of `#include <tenon/tenon.h>`: the goal is 0.5 s of user time, more than six times that of
<iostream> fails (1.5 s on an idle machine): a busy machine makes both slower.

--self-test: shows that a slow header is found.
"""
import pathlib
import resource
import subprocess
import sys
import tempfile

import ops

GOAL_SECONDS, LIMIT = 0.5, 6
ROOT = pathlib.Path(__file__).resolve().parent.parent


def user_seconds(source, *flags, times_run=3):
    """The shortest user time of several compilations."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        code = pathlib.Path(folder) / "a.cpp"
        code.write_text(source, encoding="utf-8")
        for _ in range(times_run):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run(["g++", "-std=c++20", *flags, "-c", code, "-o", "/dev/null"], check=True)
            times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return min(times)


def self_test():
    heavy = "".join(f"#include <{name}>\n" for name in ("algorithm", "chrono", "filesystem", "functional", "iostream", "map",
                                                        "random", "ranges", "regex", "thread", "unordered_map"))
    seconds = user_seconds(heavy + "std::regex r(\"a+\");\n", "-O2", times_run=1)
    print(f"a heavy header costs {seconds:.2f} s")
    return 0 if seconds > GOAL_SECONDS else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    with tempfile.TemporaryDirectory() as generated:
        ops.generate(generated)
        seconds = user_seconds("#include <tenon/tenon.h>\n", f"-I{ROOT / 'include'}", f"-I{generated}/include")
    times = seconds / user_seconds("#include <iostream>\n")
    print(f"tenon/tenon.h costs {seconds:.2f} s of user time (goal {GOAL_SECONDS}), {times:.1f} times <iostream> (limit {LIMIT})")
    sys.exit(1 if times > LIMIT else 0)
