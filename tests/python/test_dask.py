"""The tests of Dask, xarray and Cubed run in a process of their own, because tensors take forms of NumPy's where Dask is in use."""

import subprocess
import sys

import pytest

pytest.importorskip("numpy")
pytest.importorskip("dask")

SUITES = {"dask_chunks": [], "dask_cluster": ["distributed"], "dask_under_xarray": ["xarray"], "chunks_of_cubed": ["cubed"]}


@pytest.mark.without_asan("each suite starts interpreters of its own")
@pytest.mark.parametrize("suite", SUITES)
def test_in_a_process_of_its_own(suite, root):
    for needed in SUITES[suite]:
        pytest.importorskip(needed)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(root / "tests" / "python" / f"{suite}.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=root)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-5000:]
