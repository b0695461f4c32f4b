"""Shared by the fuzz targets in Python: random cases from a seed and a number, run in a process that may crash.

A target calls `main(check)`. `check(random)` makes one case from that random.Random, and raises if a claim is wrong.
  --seconds N | --cases N   how long to run (default: 60 s)
  --seed N                  makes other cases
  --only N                  runs one case, in this process
"""

import argparse
import mmap
import pathlib
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time

EDGES = [0, 1, -1, 2, 3, 7, 8, 64, 255, 256, 2**31 - 1, 2**31, 2**32, 2**60, 2**61, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64, -(2**31)]


def integer(random):
    """Mostly small numbers, sometimes one near a limit."""
    if random.random() < 0.85:
        return random.randint(-2, 9)
    return random.choice(EDGES) + random.randint(-1, 1)


def changed(random, data, words=()):
    """`data` with a few bytes or words changed, removed, doubled or inserted."""
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        at = random.randint(0, len(data))
        end = min(len(data), at + random.choice((1, 1, 2, 4, 8, 30)))
        form = random.randint(0, 5)
        if form == 0 and at < len(data):
            data[at] ^= 1 << random.randint(0, 7)
        elif form == 1:
            data[at:end] = random.randbytes(end - at)
        elif form == 2:
            del data[at:end]
        elif form == 3:
            data[at:at] = data[at:end]
        elif words:
            data[at : end if form == 4 else at] = random.choice(words)
    return bytes(data)


def changed_number(random, text):
    """The text with one of its numbers replaced."""
    numbers = list(re.finditer(rb"-?\d+", text))
    if not numbers:
        return text
    chosen = random.choice(numbers)
    return text[: chosen.start()] + str(integer(random)).encode() + text[chosen.end() :]


def _case(check, seed, number):
    check(random.Random(f"{seed} {number}"))


def _run_all(check, arguments, progress):
    """In the child: writes each case's number before running it, so that a crash can be attributed."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    with open(progress, "r+b") as file:
        shared = mmap.mmap(file.fileno(), 16)
    stop = []
    signal.signal(signal.SIGINT, lambda *_: stop.append(1))
    end = time.monotonic() + (arguments.seconds or 60) if not arguments.cases else float("inf")
    number = 0
    while not stop and time.monotonic() < end and number != arguments.cases:
        shared[:8] = struct.pack("<q", number)
        _case(check, arguments.seed, number)
        number += 1
    shared[:8] = struct.pack("<q", number)


def main(check):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only is not None:
        return _case(check, arguments.seed, arguments.only)
    if arguments.progress:
        return _run_all(check, arguments, arguments.progress)
    name = pathlib.Path(sys.argv[0]).stem.removesuffix("_fuzz")
    with tempfile.NamedTemporaryFile() as progress:
        progress.write(bytes(16))
        progress.flush()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the child, then this process prints the figures
        begin = time.monotonic()
        status = subprocess.run([sys.executable, *sys.argv, "--progress", progress.name]).returncode
        seconds = time.monotonic() - begin
        progress.seek(0)
        number = struct.unpack("<q", progress.read(8))[0]
    print(f"{name}: {number} cases, {number / seconds:.0f} a second, {'clean' if status == 0 else f'found 1 (status {status})'}")
    if status != 0:
        print(f"repeat it: ./dev fuzz {name} --only {number} --seed {arguments.seed}")
    sys.exit(0 if status == 0 else 1)
