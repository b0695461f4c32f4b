#!/usr/bin/env python3
"""Runs random programs in PyTorch and in Tenon and compares every variable after every statement.

A program has up to 40 statements: factories, views, writes, `out=`, aliases, casts, numbers of every kind, gradients and
hooks. Compared are the type and text of errors, warnings, shape, strides, dtype, offset, values, requires_grad, is_leaf,
the name of grad_fn, grad, versions, which variables are one object and which share memory. A failing program is minimised
and printed as a program that can be run. A program depends only on (seed, number). known.py lists the intended
differences. The last line is "N passed, N failed".

    programs.py --programs 20000
    programs.py --seed 7 --only 1234     repeats one program and prints its statements
    programs.py --self-test              shows that errors in a module are found
"""
import argparse
import collections
import json
import mmap
import os
import re
import resource
import select
import signal
import struct
import sys
import time
import types
import typing
import warnings

import tenon
import torch

import known
from draw import Drawer
from side_by_side import Difference, Run
from shrink import shrink

SECONDS = 30        # for one program
MEMORY = 5 << 29    # for what programs allocate
SIDES = ["PyTorch", "Tenon", "the comparison"]


def draw_and_run(seed, number, modules=(torch, tenon), on_statement=None):
    """Returns (statements, difference or None, statements run, headings of known differences)."""
    run = Run(modules)
    drawer = Drawer(seed, number, run.theirs.variables)
    statements = []
    try:
        while len(statements) < drawer.length and not run.ended:
            too_large = drawer.too_large()
            statement = f"del {too_large[0]}" if too_large else drawer.statement()
            statements.append(statement)
            if on_statement:
                on_statement(statement)
            run.step(statement, on_side)
            drawer.update_names(statement)
    except Difference as difference:
        return statements, str(difference), len(statements), run.notes
    return statements, None, len(statements), run.notes


def difference_of(statements, modules=(torch, tenon)):
    """Runs statements. Returns (difference, the statement after which it appears), or ("", "")."""
    run = Run(modules)
    for statement in statements:
        try:
            run.step(statement, on_side)
        except Difference as difference:
            return str(difference), statement
        except MemoryError:  # raised by the comparison
            break
    return "", ""


def kind_of(what, statement=""):
    """The kind of a difference: its text without names and numbers, and the calls in the statement that caused it."""
    words = [] if what.startswith("error") else re.findall(r"\.(\w+)\(|(\]) [-+*/]?= |( [-+*/]=)", statement)
    what = re.sub(r"\bv\d+\b", "v", what)
    what = re.sub(r"[\[(][-\d., ()\[\]]*[\])]", "[]", what)
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "#", what)[:200] + " " + " ".join("".join(word) for word in words)


# --- processes ----------------------------------------------------------------------------------------------------------

PROGRESS = mmap.mmap(-1, 16)  # the program's number and the side that runs; still readable after a crash


def on_side(side):
    PROGRESS[8:16] = struct.pack("q", side)


def limit_memory():
    """Lets this process allocate MEMORY more. What is mapped already differs: 0.6 GB with PyTorch's CPU build, 3 GB with CUDA's."""
    with open("/proc/self/statm") as statm:
        mapped = int(statm.read().split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))


def items_of_child(work):
    """Runs work(write) in a child and yields what it writes. Returns its status, or None if it took too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        limit_memory()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(writing, "w") as out:
            def write(item):
                out.write(json.dumps(item) + "\n")
                out.flush()
            work(write)
        os._exit(0)
    os.close(writing)
    left, last, since, stuck = b"", None, time.monotonic(), False
    while True:
        ready, _, _ = select.select([reading], [], [], 1)
        if ready:
            part = os.read(reading, 1 << 16)
            if not part:
                break
            *lines, left = (left + part).split(b"\n")
            yield from map(json.loads, lines)
        if PROGRESS[:8] != last:
            last, since = PROGRESS[:8], time.monotonic()
        elif time.monotonic() - since > SECONDS and not stuck:
            os.kill(child, signal.SIGKILL)
            stuck = True
    os.close(reading)
    _, status = os.waitpid(child, 0)
    return None if stuck else status


def in_child(work):
    """Returns (everything that work(write) writes in a child, its status)."""
    status = None

    def items():
        nonlocal status
        status = yield from items_of_child(work)
    return list(items()), status


def how_it_ended(status):
    if status is None:
        return f"no end after {SECONDS} s"
    return f"crash: signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


class Outcome(typing.NamedTuple):
    """The outcome of one program. `lost`: PyTorch itself crashed, so nothing was compared."""
    number: int
    statements: list
    steps: int
    what: str | None
    notes: list
    lost: str | None = None


def run_all(seed, numbers):
    """Yields the outcome of every program. After a crash a new child continues with the next one."""
    begin = numbers.start

    def work(write):
        for number in range(begin, numbers.stop):
            PROGRESS[:8] = struct.pack("q", number)
            statements, what, steps, notes = draw_and_run(seed, number)
            write([number, statements if what else [], steps, what, notes])

    while begin < numbers.stop:
        items = items_of_child(work)
        while True:
            try:
                outcome = Outcome(*next(items))
            except StopIteration as end:
                status = end.value
                break
            begin = outcome.number + 1
            yield outcome
        if status == 0:
            break
        side, how = struct.unpack("qq", PROGRESS[:16])[1], how_it_ended(status)
        statements, _ = in_child(lambda write: draw_and_run(seed, begin, on_statement=write))
        if SIDES[side] == "PyTorch":
            yield Outcome(begin, statements, len(statements), None, [], f"PyTorch itself: {how}")
        else:
            yield Outcome(begin, statements, len(statements), f"{how} in {SIDES[side]}", [])
        begin += 1


def outcome_in_child(statements):
    items, status = in_child(lambda write: write(difference_of(statements)))
    if status is None:
        return how_it_ended(status), statements[-1]
    if status:
        return f"{how_it_ended(status)} in {SIDES[struct.unpack('qq', PROGRESS[:16])[1]]}", statements[-1]
    return items[0]


def shrunk(statements, what):
    """The smallest program with the same difference. Runs in a child, because a smaller program may crash."""
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


# --- self-test ------------------------------------------------------------------------------------------------------------


def wrong_modules():
    """{kind of difference: a module that causes it}."""
    def module(**replaced):
        return types.SimpleNamespace(**{name: getattr(tenon, name) for name in dir(tenon)} | {"autograd": tenon.autograd} | replaced)

    def changed(function, change):
        def call(*args, **keywords):
            result = function(*args, **keywords)
            return change(result) if isinstance(result, tenon.Tensor) and "out" not in keywords else result
        return call

    def everywhere(change):
        names = [name for name in dir(torch._C._VariableFunctions) if callable(getattr(tenon, name, None)) and not name.endswith("_")]
        return module(**{name: changed(getattr(tenon, name), change) for name in [*names, "tensor"]})

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


def can_map(size):
    try:
        mmap.mmap(-1, size).close()
        return True
    except OSError:
        return False


def self_test():
    for what, module in wrong_modules().items():
        for number in range(400):
            statements, difference, _, _ = draw_and_run("self-test", number, (torch, module))
            if difference and difference.startswith(what) and not any(difference_of(statements)):
                break
        else:
            raise AssertionError(f"a module with wrong {what} was not found")
        kind = kind_of(difference, statements[-1])
        small = shrink(statements, lambda candidate: kind_of(*difference_of(candidate, (torch, module))) == kind
                       and not any(difference_of(candidate)))
        assert any(difference_of(small, (torch, module))) and not any(difference_of(small)) and len(small) <= 4, small
        print(f"wrong {what}: found in program {number}, shrunk to {len(small)}: {'; '.join(small)}")
    lines, status = in_child(lambda write: os.abort())
    assert os.WIFSIGNALED(status), "a crash was not found"
    (fits, exceeds), _ = in_child(lambda write: [write(can_map(MEMORY // 2)), write(can_map(2 * MEMORY))])
    assert fits and not exceeds, "programs get more or less memory than MEMORY"
    assert not known.missing_headings(), f"no such heading in docs/differences.md: {known.missing_headings()}"
    print("1 passed, 0 failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="one program, by number")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--show", type=int, default=20, help="kinds of differences printed in full")
    parser.add_argument("--brief", action="store_true", help="print only the statements, not a program that can be run")
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
        statements, what, _, _ = draw_and_run(options.seed, options.only, on_statement=lambda statement: print(statement, flush=True))
        print(what or "no difference")
        return 1 if what else 0

    return compare(options)


def compare(options):
    kinds, notes, lost, count, statements = collections.Counter(), collections.Counter(), collections.Counter(), 0, 0
    begin = time.monotonic()
    for outcome in run_all(options.seed, range(options.first, options.first + options.programs)):
        count += 1
        statements += outcome.steps
        notes.update(outcome.notes)
        if outcome.lost:
            lost[outcome.lost] += 1
        if not outcome.what:
            continue
        kind = kind_of(outcome.what, outcome.statements[-1])
        kinds[kind] += 1
        if kinds[kind] == 1 and len(kinds) <= options.show:
            show(outcome, options)
    for kind, times in kinds.most_common():
        print(f"{times} times: {kind}")
    for heading, times in notes.most_common():
        print(f"known: {times} times: {heading}")
    for how, times in lost.most_common():
        print(f"lost: {times} programs: {how}")
    seconds = time.monotonic() - begin
    print(f"{statements} statements in {seconds:.0f} s: {statements / seconds:.0f} a second, {count / seconds:.0f} programs a second")
    failed = kinds.total()
    print(f"{count - failed - lost.total()} passed, {failed} failed")
    return 1 if failed or count < options.programs else 0


def show(outcome, options):
    small = shrunk(outcome.statements, outcome.what)
    shown = "\n".join("    " + statement for statement in small) if options.brief else reproduction(small)
    print(f"--- program {outcome.number} of seed {options.seed}\n    {outcome.what}\n{shown}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
