#!/usr/bin/env python3
"""Writes tests/golden/print.json: tensors as PyTorch prints them. Needs torch; writes the same file every time.

A case is {dtype, storage, sizes, strides, offset, options, default_dtype, device, text}. `storage` holds the elements in
memory, with inf, nan and -0.0 as strings; `options` holds the print options that are not the default.
"""
import json
import math
import random
from pathlib import Path

import torch

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-32768, 32767), "int32": (-2**31, 2**31 - 1),
        "int64": (-2**63, 2**63 - 1)}
DTYPES = ("bool", *INTS, *FLOATS)
DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
rng = random.Random(7)


def to_json(value):
    if isinstance(value, float) and (not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)):
        return str(value)
    return value


def case(storage, dtype, sizes, strides=None, offset=0, options=None, default="float32", device="cpu"):
    options = options or {}
    base = torch.tensor(storage, dtype=getattr(torch, dtype))
    strides = list(torch.empty(sizes, device="meta").stride()) if strides is None else strides
    view = base.as_strided(sizes, strides, offset)
    if device == "meta":
        view = torch.empty_strided(sizes, strides, dtype=base.dtype, device="meta")
    torch.set_printoptions(**{**DEFAULTS, **options})
    torch.set_default_dtype(getattr(torch, default))
    text = str(view)
    torch.set_printoptions(**DEFAULTS)
    torch.set_default_dtype(torch.float32)
    if "threshold" in options and options["threshold"] == math.inf:
        options = {**options, "threshold": 2**63 - 1}
    return {"dtype": dtype, "storage": [to_json(x) for x in base.tolist()], "sizes": list(sizes), "strides": list(strides),
            "offset": offset, "options": options, "default_dtype": default, "device": device, "text": text}


def dense(values, sizes, dtype, **more):
    return case(values, dtype, sizes, **more)


def numel(sizes):
    return math.prod(sizes)


def random_value(dtype, style):
    if dtype == "bool":
        return rng.random() < 0.5
    if dtype in INTS:
        low, high = INTS[dtype]
        return rng.choice([rng.randint(low, high), rng.randint(max(low, -9), 9), low, high])
    value = {"unit": lambda: round(rng.uniform(-1, 1), 5),
             "whole": lambda: float(rng.randint(-20, 2000)),
             "large": lambda: rng.uniform(-1, 1) * 10 ** rng.randint(0, 9),
             "small": lambda: rng.uniform(-1, 1) * 10 ** -rng.randint(0, 6),
             "odd": lambda: rng.choice([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -2.5, 1e5])}[style]()
    return max(min(value, 60000.0), -60000.0) if dtype == "float16" and math.isfinite(value) else value


def random_values(count, dtype, style):
    return [random_value(dtype, style) for _ in range(count)]


def special_values():
    nan, inf = math.nan, math.inf
    lists = [[0.0], [-0.0], [nan], [inf], [-inf], [nan, inf, -inf, 0.0], [1.0, nan], [1.5, nan], [1.5, inf, -inf], [1.0, inf, -inf],
             [1e8], [1e8 + 8], [1.1e8], [1e-4], [9e-5], [1000.0, 1.0], [1001.0, 1.0], [1000.5, 1.0], [1e-5, nan, inf],
             [1e10, -inf, nan], [0.1, 0.25, 1 / 3], [-1.0, 2.0], [123456.789], [99999.99999], [0.99999, 1.0], [1e-45, 1.0],
             [0.00005, 0.00015, 0.5], [2.5, 3.5, 0.5], [1e300, 1e-300], [3.4e38, -3.4e38], [0.0, -0.0, 1.0], [0.0, 1e-10]]
    for dtype in FLOATS:
        for values in lists:
            if any(math.isfinite(v) and abs(v) > 3e38 for v in values) and dtype != "float64":
                continue
            yield dense(values, [len(values)], dtype)
            if len(values) == 1:
                yield dense(values, [], dtype)


def shapes_and_dtypes():
    shapes = [[], [1], [3], [2, 3], [3, 1], [2, 1, 3], [2, 2, 2, 2], [1, 1, 1, 1, 1, 2], [0], [0, 3], [3, 0], [2, 0, 3], [30], [2, 25]]
    for dtype in DTYPES:
        for sizes in shapes:
            style = rng.choice(("unit", "whole", "large", "small", "odd"))
            yield dense(random_values(numel(sizes), dtype, style), sizes, dtype)


def views():
    layouts = [([3, 2], [1, 3], 0, 6), ([4, 3], [0, 1], 2, 5), ([2, 3], [0, 0], 1, 2), ([3], [-1 + 3], 1, 8), ([2, 2, 2], [1, 4, 2], 3, 11),
               ([5, 1], [2, 0], 0, 9), ([], [], 4, 5), ([7, 7], [7, 1], 5, 54), ([0, 4], [4, 1], 2, 3)]
    for dtype in ("bool", "int32", "int64", "float32", "bfloat16", "float16"):
        for sizes, strides, offset, count in layouts:
            yield case(random_values(count, dtype, rng.choice(("unit", "whole", "small"))), dtype, sizes, strides, offset)


def summaries():
    for dtype in ("bool", "int64", "float32"):
        yield dense(random_values(1001, dtype, "unit"), [1001], dtype)
        yield dense(random_values(1000, dtype, "whole"), [1000], dtype)
    short = {"threshold": 5}
    for dtype in ("bool", "int64", "float32"):
        for sizes in ([6], [7], [8], [2, 7], [7, 2], [7, 7], [2, 3, 7], [7, 2, 2], [1, 7, 7], [2, 2, 2, 2]):
            for style in ("unit", "large"):
                yield dense(random_values(numel(sizes), dtype, style), sizes, dtype, options=short)
                yield dense(random_values(numel(sizes), dtype, style), sizes, dtype, options={**short, "edgeitems": rng.choice((1, 2, 4))})
    for dtype in ("bool", "int64", "float32", "float64"):
        for sizes in ([8], [3, 4], [2, 2, 3]):
            yield dense(random_values(numel(sizes), dtype, "large"), sizes, dtype, options={**short, "edgeitems": 0})
            yield dense(random_values(numel(sizes), dtype, "small"), sizes, dtype, options={"edgeitems": 0})
            yield dense(random_values(numel(sizes), dtype, "unit"), sizes, dtype, options={"threshold": 0, "edgeitems": 1})
    yield dense(random_values(60, "float32", "small"), [60], "float32", options={"threshold": math.inf})
    yield case(random_values(40, "float32", "unit"), "float32", [1200], [0], 3)
    yield case(random_values(40, "int64", "unit"), "int64", [40, 40], [0, 1])


def print_options():
    for options in ({"precision": 2}, {"precision": 0}, {"precision": 8}, {"sci_mode": True}, {"sci_mode": False}, {"linewidth": 40},
                    {"linewidth": 1}, {"linewidth": 200}, {"precision": 1, "sci_mode": True}, {"linewidth": 30, "threshold": 4, "edgeitems": 1}):
        for dtype in ("int64", "float16", "float32"):
            for sizes, style in (([12], "unit"), ([3, 4], "large"), ([2, 2, 3], "odd"), ([10], "whole"), ([0, 2], "unit")):
                yield dense(random_values(numel(sizes), dtype, style), sizes, dtype, options=options)


def suffixes():
    for default in ("float64", "bfloat16"):
        for dtype in DTYPES:
            for sizes in ([2], [0], [0, 1]):
                yield dense(random_values(numel(sizes), dtype, "whole"), sizes, dtype, default=default)
                yield dense(random_values(numel(sizes), dtype, "whole"), sizes, dtype, default=default, device="meta")
    # line lengths at which the suffix just fits, or moves to the next line
    for count in range(20, 30):
        yield dense([1] * count, [count], "int32")
        yield dense([11] * count, [count], "uint8")
    yield case([0], "float16", [100, 200, 300, 400, 500, 600, 700], [0] * 7, device="meta")
    yield case([0], "int8", [10**6] * 3, [0] * 3, device="meta", options={"linewidth": 40})


def main():
    cases = [c for group in (special_values, shapes_and_dtypes, views, summaries, print_options, suffixes) for c in group()]
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    path = Path(__file__).resolve().parent.parent / "tests" / "golden" / "print.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[\n{lines}\n]\n")
    print(f"{len(cases)} cases in {path}")


if __name__ == "__main__":
    main()
