"""Lists all callables of the module, so that tests include new ones; runs programs in separate processes, so that a crash
is a failed test."""

import os
import pathlib
import subprocess
import sys

import tenon

# Functions that tests of all functions do not call: they read or write files.
SKIPPED = {"load", "save"}


def functions():
    """Every public function and class of the module, by name."""
    return {name: value for name, value in vars(tenon).items() if callable(value) and not name.startswith("__")}


def internal_functions():
    """The internal functions of the extension module."""
    return {name: value for name, value in vars(tenon._tenon).items() if name.startswith("_") and callable(value) and not name.startswith("__")}


def methods():
    """Every method and operator of a tensor, by name."""
    return [name for name in dir(tenon.Tensor) if hasattr(tenon.Tensor, name) and callable(getattr(tenon.Tensor, name)) and name not in dir(object)]


def attributes():
    return [name for name in dir(tenon.Tensor) if hasattr(tenon.Tensor, name) and not callable(getattr(tenon.Tensor, name)) and not name.startswith("__")]


def types():
    """Every type that the extension module defines."""
    found = {value for value in vars(tenon._tenon).values() if isinstance(value, type)}
    found |= {type(value) for value in vars(tenon._tenon).values() if type(value).__module__.startswith("tenon")}
    return sorted(found, key=lambda kind: kind.__qualname__)


def run_apart(program, *arguments, folder=None, timeout=300, **environment):
    """Runs a Python program in a separate process and returns its output. If it fails, the error shows its last output."""
    paths = os.pathsep.join([str(pathlib.Path(__file__).parent), *sys.path])
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", program, *map(str, arguments)], cwd=folder, timeout=timeout, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths, **environment})  # fmt: skip
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout
