#!/usr/bin/env python3
"""Mutation testing: each small change to the code for shapes, layouts, overlap and bounds must make a test fail.

mutate.py [--only REGEX] [--list] [--fresh] [--quick N --seed S] [--jobs N]

tools/mutants.py rewrites the files listed below into build/mutate/tree so that each of its changes ("mutants") can be
switched on by number: one separate build contains them all. Each test runs once and records which mutants it reaches.
Then, for each mutant, the tests that reach it run until one fails, crashes or takes too long: the mutant is killed. Tests
that are likely to fail, and short tests, run first. A mutant that no test kills is alive. It must be listed in
tools/mutants_equivalent.txt with the reason why no test can detect it.

Results are stored in build/mutate/results.json, so that after Ctrl-C the next run continues. A killed mutant runs again
only after its file has changed. --fresh ignores stored results. --quick runs N random mutants.
Exit code 1: a mutant is alive and not listed, or a listed mutant is killed or does not exist.
"""
import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

import mutants
import ops

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "mutate"
TREE, BUILD, GENERATED = HOME / "tree", HOME / "build", HOME / "generated"
ARGUMENT_NAMES = "src/python/arguments.h"  # read by tools/ops.py
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.txt"

# The broadcast rule, layouts and strides, type promotion, overlap, the bounds of every index, merged loops, sum_to.
FILES = """
    include/tenon/shape.h src/base/checked.h src/tensor/places.h src/shape/broadcast.cpp src/shape/layout.cpp
    src/shape/dense_strides.cpp src/shape/dim_order.cpp src/type/dtype.cpp src/type/overflow.cpp src/tensor/impl.cpp src/tensor/overlap.cpp
    src/tensor/index.cpp src/tensor/views.cpp src/plan/plan.cpp src/dispatch/broadcast_check.cpp
    src/dispatch/indexing.cpp src/autograd/reduce_grad.cpp
""".split()
PROGRAMS = ["tenon_room_tests", "tenon_tiny_tests", "tenon_tests"]
# Not run: tests of threads, forks and memory, whose outcome depends on the machine's load.
LEFT_OUT = re.compile(r"tests/((autograd_)?(size|threads)|fork|memory|limits)_test.cpp")
# Not run: tests of millions of elements, which take too long.
LONG = re.compile(r"TenMillion|AMillionNodes|SameBits|ExpLog|Large|StreamingStores")
MEMORY = 6 << 30  # a mutant that allocates without end is stopped


def write_tree(found, header):
    """Writes the sources with all mutants. Unchanged files are not written, so that they are not compiled again."""
    wanted = {}
    for folder in ("CMakeLists.txt", "cmake", "include", "src", "tests", "tools", "examples", "bench"):
        top = ROOT / folder
        for path in [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file()):
            name = path.relative_to(ROOT).as_posix()
            if (not name.startswith(("src/python", "tests/python")) or name == ARGUMENT_NAMES) and not LEFT_OUT.fullmatch(name):
                wanted[name] = path.read_bytes()
    wanted.update({name: text.encode() for name, text in found.items()})
    wanted["include/mutant.h"] = header.encode()
    # A read past the end of a list must crash.
    for name, operators in (("include/tenon/dims.h", 3), ("src/base/small_vector.h", 2)):
        checked, count = re.subn(r"(operator\[\]\(int64_t i\)(?: const)? noexcept \{ return data_)\[i\]", r"\1[mutant::inside(i, size_)]", wanted[name].decode())
        assert count == operators, f"{name}: {operators} operators [] were expected"
        wanted[name] = ('#include "mutant.h"\n' + checked).encode()
    for name, content in wanted.items():
        path = TREE / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in TREE.rglob("*"):
        if path.is_file() and path.relative_to(TREE).as_posix() not in wanted:
            path.unlink()


def build():
    log = HOME / "build.log"
    configure = ["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DTENON_WARNINGS_AS_ERRORS=OFF",
                 "-DCMAKE_CXX_FLAGS=-w -fpermissive", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -D_GLIBCXX_ASSERTIONS", "-DTENON_BUILD_EXAMPLES=OFF", "-DTENON_BUILD_CLI=OFF",
                 "-DTENON_DISABLED_TARGETS=HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL"]  # fmt: skip
    with log.open("w") as out:
        for command in (configure, ["cmake", "--build", BUILD, "--target", *PROGRAMS]):
            if subprocess.run(list(map(str, command)), stdout=out, stderr=subprocess.STDOUT).returncode != 0:
                sys.exit(f"the mutants do not compile: {log}\n" + "\n".join(re.findall(r".*error:.*", log.read_text())[:10]))


def limits(seconds):
    """Limits the child's processor time (some mutants loop forever) and memory; no core files."""
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def run_tests(program, names, seconds, mutant=-1, trace=None):
    """(the first failed test, or why the program failed, or None if all pass; processor seconds)."""
    environment = os.environ | {"TENON_MUTANT": str(mutant), "TENON_HOSTILE_CASES": "5000", "TENON_SPEC": os.environ.get("TENON_SPEC", str(ROOT / "../shared/spec"))}
    if trace:
        environment["TENON_MUTANT_TRACE"] = trace
    with tempfile.NamedTemporaryFile("w", dir=HOME) as flags, tempfile.TemporaryFile(dir=HOME) as out:
        flags.write("--gtest_filter=" + ":".join(names) + "\n")  # may be too long for a command line
        flags.flush()
        command = [str(BUILD / program), f"--gtest_flagfile={flags.name}", "--gtest_fail_fast", "--gtest_brief=1"]
        child = subprocess.Popen(command, cwd=ROOT, env=environment, preexec_fn=limits(seconds), start_new_session=True, stdout=out, stderr=out)
        timer = threading.Timer(20 + 10 * seconds, os.killpg, (child.pid, signal.SIGKILL))  # a child that waits uses no processor time
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read().decode(errors="replace")
    time_used = usage.ru_utime + usage.ru_stime
    if child.returncode == 0:
        return None, time_used
    failed = re.search(r"^\[  FAILED  \] ([\w./]+)", output, re.M)
    if failed:
        return failed.group(1), time_used
    return "did not end" if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else f"exit status {child.returncode}", time_used


def list_tests(program):
    names, suite = [], ""
    for line in subprocess.run([str(BUILD / program), "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("  "):
            names.append(suite + line.split("#")[0].strip())
        else:
            suite = line.split("#")[0].strip()
    return [name for name in names if not LONG.search(name)]


def digest(*paths):
    return hashlib.sha256(b"".join(pathlib.Path(path).read_bytes() for path in paths)).hexdigest()[:16]


class Progress:
    def __init__(self, what, total):
        self.what, self.total, self.done, self.begin, self.last = what, total, 0, time.monotonic(), 0.0

    def step(self, extra=""):
        self.done += 1
        now = time.monotonic()
        if now - self.last < (0.2 if sys.stderr.isatty() else 30) and self.done < self.total:
            return
        self.last = now
        left = (now - self.begin) / self.done * (self.total - self.done)
        print(f"{self.what}: {self.done} of {self.total}{extra}, {left:.0f} s left", end="\r" if sys.stderr.isatty() and self.done < self.total else "\n", file=sys.stderr, flush=True)


def in_parallel(jobs, work, items, stop):
    """Calls `work` for every item. After Ctrl-C or an error, no further call begins."""
    def guarded(item):
        if not stop.is_set():
            work(item)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            for future in [pool.submit(guarded, item) for item in items]:
                future.result()
        except BaseException:
            stop.set()
            raise


def trace(jobs, stop):
    """Each test's program, name, seconds and the mutants it reaches. Unchanged tests are taken from the last run."""
    path = HOME / "trace.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    code = digest(*(TREE / name for name in FILES))
    tests, todo = {}, []
    for program in PROGRAMS:
        binary = digest(BUILD / program)
        for name in list_tests(program):
            key = f"{program}:{name}"
            if kept.get(key, {}).get("made_of") == [code, binary]:
                tests[key] = kept[key]
            else:
                todo.append((key, program, name, [code, binary]))
    progress, broken = Progress("tests traced", len(todo)), []

    def one(item):
        key, program, name, made_of = item
        with tempfile.NamedTemporaryFile(dir=HOME) as marks:
            marks.truncate(mutants.MOST)
            failure, seconds = run_tests(program, [name], 100, trace=marks.name)
            if failure:
                broken.append(key)
            reached = [i for i, mark in enumerate(pathlib.Path(marks.name).read_bytes()) if mark]
        tests[key] = {"program": program, "name": name, "seconds": round(seconds, 3), "reached": reached, "made_of": made_of}
        progress.step()

    try:
        in_parallel(jobs, one, todo, stop)
    finally:
        path.write_text(json.dumps({key: test for key, test in tests.items() if key not in broken}))
    if broken:
        sys.exit("these fail without a mutant:\n" + "\n".join(broken))
    return tests


def find_killer(mutant, covering, limit):
    """The test that kills a mutant; None if none does in `limit` seconds. Runs the tests in order, in growing batches."""
    length, at, spent = 0.05, 0, 0.0
    while at < len(covering) and spent < limit:
        batch, seconds = [], 0.0
        while at < len(covering) and (not batch or seconds < length):
            batch.append(covering[at])
            seconds += covering[at]["seconds"]
            at += 1
        for program in PROGRAMS:
            names = [test["name"] for test in batch if test["program"] == program]
            killer = names and run_tests(program, names, int(2 + 4 * seconds), mutant)[0]
            if killer:
                return killer
        spent += seconds
        length *= 5
    return None


def read_equivalent():
    """{key: reason}. In the file, lines with # give the reason of the keys that follow."""
    known, reason, after_key = {}, "", True
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.exists() else []:
        if line.startswith("#"):
            reason = line[1:].strip() if after_key else reason + " " + line[1:].strip()
            after_key = False
        elif line.strip():
            known[line.strip()] = reason
            after_key = True
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mutants whose key matches")
    parser.add_argument("--list", action="store_true", help="print the keys, run nothing")
    parser.add_argument("--fresh", action="store_true", help="ignore stored results")
    parser.add_argument("--quick", type=int, default=0, metavar="N", help="run N random mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=math.inf, metavar="SECONDS", help="stop the tests of a mutant after so long; if it is alive, the next run tries it again")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    ops.generate(GENERATED, ROOT / ARGUMENT_NAMES)
    sites, texts = mutants.rewrite(ROOT, GENERATED, FILES)
    chosen = [site for site in sites if re.search(options.only, site.key)]
    if options.list:
        print("\n".join(f"{site.key}" for site in chosen))
        return 0
    HOME.mkdir(parents=True, exist_ok=True)
    source = {name: digest(ROOT / name) for name in FILES}  # read now: the files may be edited while the mutants run
    write_tree(texts, mutants.HEADER)
    print(f"{len(sites)} mutants in {len(FILES)} files; building", file=sys.stderr, flush=True)
    build()
    stop = threading.Event()
    tests = trace(options.jobs, stop)
    return run_mutants(sites, chosen, tests, source, options, stop)


def run_mutants(sites, chosen, tests, source, options, stop):
    if options.quick:
        chosen = random.Random(options.seed).sample(chosen, min(options.quick, len(chosen)))
    covering = {site.number: [] for site in sites}
    for test in tests.values():
        for number in test["reached"]:
            covering[number].append(test)
    path = HOME / "results.json"
    results = json.loads(path.read_text()) if path.exists() and not options.fresh else {}
    everything = hashlib.sha256("".join(sorted(str(test["made_of"]) for test in tests.values())).encode()).hexdigest()[:16]

    def is_known(site):
        result = results.get(site.key)
        return result and result["of"] == (source[site.file] if result["killer"] else everything)

    todo = [site for site in chosen if not is_known(site)]
    progress = Progress("mutants", len(todo))
    alive, lock = 0, threading.Lock()
    killers = {}  # {function: tests that killed one of its mutants}; they often kill the others, too
    for key, result in results.items():
        killers.setdefault(key.split(":")[0], set()).add(result["killer"])

    def one(site):
        nonlocal alive
        likely = killers.setdefault(site.key.split(":")[0], set())
        last = results.get(site.key, {}).get("killer")
        order = sorted(covering[site.number], key=lambda test: (test["name"] != last, test["name"] not in likely, test["seconds"]))
        killer = find_killer(site.number, order, options.limit)
        with lock:
            likely.add(killer)
            results[site.key] = {"killer": killer, "of": source[site.file] if killer else everything if options.limit == math.inf else "", "tests": len(covering[site.number])}
            alive += killer is None
            progress.step(f", {alive} alive")
            if progress.done % 50 == 0:
                path.write_text(json.dumps(results, indent=0))

    try:
        in_parallel(options.jobs, one, todo, stop)
    except KeyboardInterrupt:
        print("\nstopped; finished results are stored", file=sys.stderr)
        return 130
    finally:
        path.write_text(json.dumps(results, indent=0))
    return report(sites, chosen, results)


def report(sites, chosen, results):
    equivalent = read_equivalent()
    keys = {site.key for site in sites}
    alive = [site for site in chosen if not results[site.key]["killer"]]
    unlisted = [site for site in alive if site.key not in equivalent]
    dead = [site.key for site in chosen if results[site.key]["killer"] and site.key in equivalent]
    unknown = [key for key in equivalent if key not in keys]
    for site in unlisted:
        print(f"alive ({results[site.key]['tests']} tests reach it): {site.file}:{site.line}: {site.key}")
    for key in dead:
        print(f"listed as equivalent, but killed by {results[key]['killer']}: {key}")
    for key in unknown:
        print(f"listed as equivalent, but there is no such mutant: {key}")
    killed = len(chosen) - len(alive)
    print(f"{len(chosen)} mutants: {killed} killed, {len(alive) - len(unlisted)} equivalent, {len(unlisted)} alive")
    return 1 if unlisted or dead or unknown else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
