"""Copied attributes, deleted data, print options, `in`, and SIGBUS from another process."""

import copy
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("torch")

import tenon
from judge import same


def copied_with_attributes(m):
    x = m.ones(2)
    x.note = "kept"
    return copy.copy(x).note


def deleted_data(m):
    x = m.ones(2)
    del x.data


def printed_with(**options):
    def program(m):
        m.set_printoptions(**options)
        try:
            return str(m.arange(30.0).reshape(2, 15))
        finally:
            m.set_printoptions(profile="default")

    return program


LARGE = [printed_with(threshold=2**70), printed_with(threshold=float("inf")), printed_with(edgeitems=2**70), printed_with(linewidth=2**70)]


@pytest.mark.parametrize("program", [*LARGE, copied_with_attributes, deleted_data, lambda m: m.ones(3) in m.ones(2)])
def test_same(program):
    same(program)


@pytest.mark.without_asan("AddressSanitizer reports the signal as an error")
def test_a_sent_bus_error_ends_the_program(tmp_path):
    path = tmp_path / "x.npy"
    tenon.save(tenon.ones(4), path)
    program = f"import os, signal, tenon; x = tenon.load({str(path)!r}, mmap=True); os.kill(os.getpid(), signal.SIGBUS); print('went on')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout) == (-signal.SIGBUS, "")
