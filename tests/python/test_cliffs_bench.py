"""bench/cliffs_bench.py finds sizes that take longer than those around them."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).parents[2] / "bench" / "cliffs_bench.py"


@pytest.fixture
def cliffs_bench():
    spec = importlib.util.spec_from_file_location("cliffs_bench", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_finds_what_takes_longer_than_smaller_sizes_and_than_those_beside(cliffs_bench):
    times = {(rows, columns): 1.0 for rows in (4, 7, 13) for columns in cliffs_bench.COLUMNS}
    assert cliffs_bench.found_cliffs(times, 1.7) == []
    times[13, 20] = 5.0
    times |= {(rows, 2): 3.0 for rows in (4, 7, 13)}  # all sizes of the fewest columns: no neighbour says that it is slow
    times |= {(rows, 5): 2.0 for rows in (4, 7, 13)}
    assert cliffs_bench.found_cliffs(times, 1.7) == [(5.0, 13, 20, 5.0, 1.0), (2.0, 13, 5, 2.0, 1.0), (2.0, 7, 5, 2.0, 1.0), (2.0, 4, 5, 2.0, 1.0)]


def test_times_below_those_of_memory_are_no_cliffs(cliffs_bench):
    times = {(4, 13): 0.01, (7, 13): 0.1}
    assert cliffs_bench.found_cliffs(times, 1.7) == []


def test_runs_the_cases_that_are_asked_for():
    words = [sys.executable, PROGRAM, "--filter", "^(sum of dim 0|x % 7), float32$", "--elements", "100"]
    assert subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()[-1] == "2 cases"
