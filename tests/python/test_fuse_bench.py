"""bench/fuse_python.py compares results before it times them, and prints a line for each function."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("torch")
PROGRAM = pathlib.Path(__file__).parents[2] / "bench" / "fuse_python.py"


def test_prints_a_line_for_each_function(tmp_path):
    words = [sys.executable, PROGRAM, "--rows", "64", "48", "--all-cores", "--rounds", "1", "--json", tmp_path / "fuse.json", "--without", "torch.compile", "--without", "jax.jit"]
    tables = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\n\n")
    assert [table.split(" | ")[0] for table in tables] == ["| 64 rows", "| 48 rows"]
    for table in tables:
        check_table(table.splitlines())
    cases = json.loads((tmp_path / "fuse.json").read_text())["cases"]
    assert len(cases) == 8 and all(0 < case["fused_bytes"] <= case["ops_bytes"] for case in cases)


def check_table(lines):
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        "| chain",
        "| gelu by hand",
        "| softmax by hand",
        "| layer norm by hand",
        "| pairwise distances",
        "| k-means: nearest of 64",
        "| attention by hand",
        "| u8 photo to float32",
        "| chain both ways",
    ]
    assert all(float(line.split(" | ")[1]) > 0 for line in lines[2:])


def test_prints_what_a_call_costs():
    line = subprocess.run([sys.executable, PROGRAM, "--calls", "--rounds", "1"], check=True, capture_output=True, text=True).stdout
    assert re.fullmatch(r"ten ops on 10 elements, us: fused [\d.]+, op by op [\d.]+, traced [\d.]+, traced the first time \d+\n", line)
