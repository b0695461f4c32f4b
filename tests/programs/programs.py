#!/usr/bin/env python3
"""The same program, statement by statement, in PyTorch and in Tenon: every variable compared after every statement.

A program has up to 40 statements: factories, views, writes, `out=`, aliases, casts, numbers of every kind, gradients and
hooks. Compared are the type and text of errors, warnings, shape, strides, dtype, offset, values, requires_grad, is_leaf,
the name of grad_fn, grad, versions, which variables are one object and which share memory. What differs is shrunk and
printed so that it runs alone. Every program is drawn from (seed, number). What differs on purpose stands in known.py, what
differs still in open.txt. Ends with "N passed, N failed".

    programs.py --programs 20000
    programs.py --seed 7 --only 1234     one program again, with its statements
    programs.py --self-test              shows that a wrong module is found
"""
import argparse
import collections
import json
import mmap
import os
import pathlib
import re
import resource
import select
import signal
import struct
import sys
import time
import types
import warnings

import tenon
import torch

import known
from draw import Drawer
from side_by_side import Difference, Run
from shrink import shrink

SECONDS = 30        # for one program
MEMORY = 12 << 30   # for the process that runs them
SIDES = ["PyTorch", "Tenon", "the comparison"]


def draw_and_run(seed, number, modules=(torch, tenon), told=None):
    """(statements, what differs or None, statements run, headings of known differences)."""
    run = Run(modules)
    drawer = Drawer(seed, number, run.theirs.variables)
    statements = []
    try:
        while len(statements) < drawer.length and not run.ended:
            dropped = drawer.too_large()
            statement = f"del {dropped[0]}" if dropped else drawer.statement()
            statements.append(statement)
            if told:
                told(statement)
            run.step(statement, on_side)
            drawer.ran(statement)
    except Difference as difference:
        return statements, str(difference), len(statements), run.notes
    return statements, None, len(statements), run.notes


def difference_of(statements, modules=(torch, tenon)):
    """(what differs when these statements run, the statement after which it does); ("", "") where nothing does."""
    run = Run(modules)
    for statement in statements:
        try:
            run.step(statement, on_side)
        except Difference as difference:
            return str(difference), statement
    return "", ""


def kind_of(what, statement=""):
    """The difference without the names and numbers of this program; with the words of the statement it came from."""
    words = [] if what.startswith("error") else re.findall(r"\.(\w+)\(|(\]) [-+*/]?= |( [-+*/]=)", statement)
    what = re.sub(r"\bv\d+\b", "v", what)
    what = re.sub(r"[\[(][-\d., ()\[\]]*[\])]", "[]", what)
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "#", what)[:200] + " " + " ".join("".join(word) for word in words)


# --- processes ----------------------------------------------------------------------------------------------------------

PROGRESS = mmap.mmap(-1, 16)  # the number of the program and the side that runs, readable after a crash


def on_side(side):
    PROGRESS[8:16] = struct.pack("q", side)


def in_child(work):
    """Runs work(write) in a child; gives (lines written, status, or None when it took too long)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(writing, "w") as out:
            def write(item):
                out.write(json.dumps(item) + "\n")
                out.flush()
            work(write)
        os._exit(0)
    os.close(writing)
    lines, status = read_all(reading, child)
    return [json.loads(line) for line in lines.splitlines() if line.endswith("}") or line.endswith("]") or line.endswith('"')], status


def read_all(reading, child):
    parts, last, since = [], None, time.monotonic()
    stuck = False
    while True:
        ready, _, _ = select.select([reading], [], [], 1)
        if ready:
            part = os.read(reading, 1 << 16)
            if not part:
                break
            parts.append(part)
        if PROGRESS[:8] != last:
            last, since = PROGRESS[:8], time.monotonic()
        elif time.monotonic() - since > SECONDS:
            os.kill(child, signal.SIGKILL)
            stuck = True
    os.close(reading)
    _, status = os.waitpid(child, 0)
    return b"".join(parts).decode(), None if stuck else status


def run_all(seed, numbers):
    """Yields (number, statements, what differs); crashes and programs without end included. Last of all the counts."""
    totals = collections.Counter()
    notes = collections.Counter()
    begin = numbers.start
    while begin < numbers.stop:
        def work(write, begin=begin):
            count = collections.Counter()
            headings = collections.Counter()
            for number in range(begin, numbers.stop):
                PROGRESS[:8] = struct.pack("q", number)
                statements, what, steps, known_here = draw_and_run(seed, number)
                count["programs"] += 1
                count["statements"] += steps
                headings.update(known_here)
                if what:
                    write({"number": number, "statements": statements, "what": what})
                if number % 500 == 499 or number == numbers.stop - 1:
                    write({"counts": count, "notes": headings})
                    count.clear()
                    headings.clear()

        lines, status = in_child(work)
        for line in lines:
            if "counts" in line:
                totals.update(line["counts"])
                notes.update(line["notes"])
            else:
                yield line["number"], line["statements"], line["what"]
        if status == 0:
            break
        number, side = struct.unpack("qq", PROGRESS[:16])
        how = f"no end after {SECONDS} s" if status is None else f"crash: signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {status}"
        statements, _ = in_child(lambda write: draw_and_run(seed, number, told=write))
        totals["programs"] += 1
        if SIDES[side] == "PyTorch":
            notes["PyTorch itself " + how] += 1
        else:
            yield number, statements, f"{how} in {SIDES[side]}"
        begin = number + 1
    yield None, totals, notes


def open_differences():
    """Patterns of differences that are known and not mended yet. A program ends where one comes up, uncounted."""
    lines = (pathlib.Path(__file__).parent / "open.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def outcome_in_child(statements):
    lines, status = in_child(lambda write: write(difference_of(statements)))
    if status is None:
        return f"no end after {SECONDS} s", statements[-1]
    if status:
        side = struct.unpack("qq", PROGRESS[:16])[1]
        how = f"crash: signal {os.WTERMSIG(status)} in {SIDES[side]}" if os.WIFSIGNALED(status) else f"exit {status}"
        return how, statements[-1]
    return lines[0]


def shrunk(statements, what):
    """The smallest program that differs alike. In a child: a smaller program may do what the whole one did not."""
    kind = kind_of(what, statements[-1])
    if what.startswith(("crash", "no end", "exit")):
        return shrink(statements, lambda candidate: kind_of(*outcome_in_child(candidate)) == kind, limit=60)
    lines, _ = in_child(lambda write: write(shrink(statements, lambda candidate: kind_of(*difference_of(candidate)) == kind)))
    return lines[-1] if lines else statements


def reproduction(statements):
    body = "\n".join(statements)
    return f'''import tenon, torch
PROGRAM = r"""
{body}
"""
for T in (torch, tenon):
    variables = {{"T": T}}
    for line in PROGRAM.strip().splitlines():
        try:
            exec(line, variables)
        except Exception as error:
            print(T.__name__, line, "->", repr(error))
    print(T.__name__, {{name: value for name, value in variables.items() if name[0] == "v"}})'''


# --- the test of the test -------------------------------------------------------------------------------------------------


def wrong_modules():
    """(what is wrong, a module that is) for each way in which one can be."""
    def module(**replaced):
        return types.SimpleNamespace(**{name: getattr(tenon, name) for name in dir(tenon)} | {"autograd": tenon.autograd} | replaced)

    def returned(change):
        def wrap(function):
            return lambda *args, **kwargs: change(function(*args, **kwargs))
        return wrap

    def everywhere(change):
        names = ["add", "mul", "sub", "sum", "where", "ones", "full", "tensor"]
        return module(**{name: returned(change)(getattr(tenon, name)) for name in names})

    def warned(result):
        warnings.warn("stray")
        return result

    def refuse(result):
        if result.dim() == 2:
            raise RuntimeError("refused")
        return result

    def twice(function):
        def call(*args, **keywords):
            if "out" in keywords:
                function(*args, **keywords)
            return function(*args, **keywords)
        return call

    return {
        "values": everywhere(lambda result: result + 1 if result.dtype == tenon.float32 else result),
        "dtype": everywhere(lambda result: result.to(tenon.float64)),
        "shape": everywhere(lambda result: result.unsqueeze(0)),
        "stride": everywhere(lambda result: result.T.contiguous().T if result.dim() == 2 else result),
        "requires_grad": everywhere(lambda result: result.detach()),
        "_version": module(**{name: twice(getattr(tenon, name)) for name in ("add", "sub", "abs", "neg", "maximum", "clamp")}),
        "error": everywhere(refuse),
        "warnings": everywhere(warned),
        "storage": module(reshape=lambda *args, **kwargs: tenon.reshape(*args, **kwargs).clone(), select=lambda *args: tenon.select(*args).clone(),
                          transpose=lambda *args: tenon.transpose(*args).clone(), as_tensor=lambda data: tenon.as_tensor(data).clone()),
    }


def self_test():
    for what, module in wrong_modules().items():
        for number in range(400):
            statements, difference, _, _ = draw_and_run("self-test", number, (torch, module))
            if difference and difference.startswith(what) and not any(difference_of(statements)):
                break
        else:
            raise AssertionError(f"a module with wrong {what} went unseen")
        kind = kind_of(difference, statements[-1])
        small = shrink(statements, lambda candidate: kind_of(*difference_of(candidate, (torch, module))) == kind
                       and not any(difference_of(candidate)))
        assert any(difference_of(small, (torch, module))) and not any(difference_of(small)) and len(small) <= 4, small
        print(f"wrong {what}: found in program {number}, shrunk to {len(small)}: {'; '.join(small)}")
    lines, status = in_child(lambda write: os.abort())
    assert os.WIFSIGNALED(status), "a crash went unseen"
    assert not known.missing_headings(), f"no such heading in docs/differences.md: {known.missing_headings()}"
    print("1 passed, 0 failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="one program, by number")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--show", type=int, default=20, help="kinds of differences printed in full")
    parser.add_argument("--brief", action="store_true", help="the statements alone instead of a program that runs")
    parser.add_argument("--past", action="append", default=[], metavar="REGEX", help="one more line of open.txt, for this run")
    parser.add_argument("--all", action="store_true", help="open.txt is not read: what it lists fails")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    for module in (torch, tenon):
        module.set_num_threads(1)
    torch.set_warn_always(True)
    warnings.simplefilter("always")
    if options.self_test:
        self_test()
        return 0
    if options.only is not None:
        statements, what, _, _ = draw_and_run(options.seed, options.only, told=lambda statement: print(statement, flush=True))
        print(what or "no difference")
        return 1 if what else 0

    past = collections.Counter({pattern: 0 for pattern in options.past + ([] if options.all else open_differences())})
    kinds, failed, begin = {}, 0, time.monotonic()
    for number, statements, what in run_all(options.seed, range(options.first, options.first + options.programs)):
        if number is None:
            totals, notes = statements, what
            break
        pattern = next((pattern for pattern in past if re.search(pattern, what + " | " + statements[-1])), None)
        if pattern:
            past[pattern] += 1
            continue
        failed += 1
        kinds.setdefault(kind_of(what, statements[-1]), []).append((number, statements, what))
    for kind, found in sorted(kinds.items(), key=lambda item: -len(item[1]))[:options.show]:
        number, statements, what = min(found, key=lambda item: len(item[1]))
        small = shrunk(statements, what)
        shown = "\n".join("    " + statement for statement in small) if options.brief else reproduction(small)
        print(f"--- {len(found)} times, first in program {number} of seed {options.seed}\n    {what}\n{shown}\n", flush=True)
    if len(kinds) > options.show:
        print(f"and {len(kinds) - options.show} kinds more")
    for heading, count in notes.most_common():
        print(f"known: {count} times: {heading}")
    for pattern, count in past.most_common():
        print(f"open: {count} programs end at: {pattern}")
    seconds = time.monotonic() - begin
    print(f"{totals['statements']} statements in {seconds:.0f} s: {totals['statements'] / max(seconds, 1e-9):.0f} a second")
    print(f"{totals['programs'] - failed - past.total()} passed, {failed} failed")
    return 1 if failed or not totals["programs"] else 0


if __name__ == "__main__":
    sys.exit(main())
