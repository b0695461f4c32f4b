#!/usr/bin/env python3
"""Compares random calls in PyTorch and in Tenon: shape, strides, dtype, values and warnings, or the error.

Op, form, shapes of 0 to 7 dims, layouts, dtypes and values of a case depend only on (seed, number). The program
`tenon-oracle` makes Tenon's call. The last line is "N passed, N failed".

    compare.py --oracle build/release/tenon-oracle --cases 20000
    compare.py --oracle ... --seed 7 --only 1234     repeats one case and prints its request
    compare.py --oracle ... --self-test              shows that wrong answers are found
"""
import argparse
import collections
import json
import sys

import torch

from declared import DECLARED
from drawing import draw_case, table_ops
from request import Oracle
from torch_call import Unsupported, torch_answer, unsafe_for_torch
from verdict import describe, verdict


def self_test(request, answer, wanted):
    """Makes a right answer wrong in each of the compared parts; every error must be found."""
    result = answer["results"][0]
    flipped = format(int(result["bytes"][:2], 16) ^ 1, "02x") + result["bytes"][2:]
    breaks = {
        "value": dict(result, bytes=flipped),
        "dtype": dict(result, dtype="int32"),
        "shape": dict(result, shape=[1] + result["shape"]),
        "strides": dict(result, strides=[stride + 1 for stride in result["strides"]]),
        "storage": dict(result, shares=0),
    }
    assert verdict(request, wanted, answer) is None, verdict(request, wanted, answer)
    for name, broken in breaks.items():
        assert verdict(request, wanted, dict(answer, results=[broken])), f"a wrong {name} was not found"
    assert verdict(request, wanted, dict(answer, warnings=["UserWarning: x"])), "an additional warning was not found"
    assert verdict(request, wanted, {"error": {"type": "RuntimeError", "text": "x"}, "storages": []}), "an error was not found"
    assert verdict(request, {"error": ("RuntimeError", "x")}, answer), "a missing error was not found"
    changed = [format(int(answer["storages"][0][:2], 16) ^ 1, "02x") + answer["storages"][0][2:]] + answer["storages"][1:]
    assert verdict(request, wanted, dict(answer, storages=changed)), "a changed operand was not found"


def run_self_test(oracle):
    ones = {"dtype": "float32", "bytes": "0000803f" * 6}
    request = {"op": "add", "form": "functional", "storages": [ones, ones], "out": [], "keywords": {},
               "args": [{"storage": 0, "shape": [2, 3], "strides": [3, 1], "offset": 0},
                        {"storage": 1, "shape": [3], "strides": [1], "offset": 0}]}
    self_test(request, oracle.ask(request), torch_answer(request))
    print("9 wrong answers found")


def check_every_op(oracle):
    """Every declared op must be drawn, and one of its calls compared."""
    ops = table_ops()
    missing = [name for name in DECLARED if not any(is_compared(ops, number, name, oracle) for number in range(100))]
    assert not missing, f"these ops are not compared: {missing}"
    print(f"{len(DECLARED)} declared ops are compared")


def is_compared(ops, number, name, oracle):
    request, _ = draw_case(ops, 1, number, name)
    try:
        return not unsafe_for_torch(request) and verdict(request, torch_answer(request), oracle.ask(request)) is None
    except Unsupported:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op")
    parser.add_argument("--only", type=int, help="one case, by number")
    parser.add_argument("--show", type=int, default=20, help="failures printed in full")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    oracle = Oracle(options.oracle)
    if options.self_test:
        run_self_test(oracle)
        return 0

    if options.op is None and options.only is None:
        check_every_op(oracle)
    ops = table_ops()
    passed = failed = skipped = 0
    by_op = collections.Counter()
    for number in [options.only] if options.only is not None else range(options.cases):
        request, layouts = draw_case(ops, options.seed, number, options.op)
        if unsafe_for_torch(request):
            skipped += 1
            continue
        try:
            wanted = torch_answer(request)
        except Unsupported:
            skipped += 1
            continue
        answer = oracle.ask(request)
        problem = f"the process ended with {answer['crash']}" if "crash" in answer else verdict(request, wanted, answer)
        if options.only is not None:
            print(json.dumps(request))
        if problem is None:
            passed += 1
            continue
        failed += 1
        by_op[f"{request['op']} {request['form']}"] += 1
        if failed <= options.show:
            print(f"case {number} of seed {options.seed}\n{describe(request, layouts)}\n  {problem}", flush=True)
    if failed:
        print("failures by op and form:", ", ".join(f"{name} {count}" for name, count in by_op.most_common()))
    print(f"{skipped} random calls have no equivalent in PyTorch")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
