"""Every reduction, scan, product and view of the specification's table of ops can be reached from Python, from C++ and from the shell.

The other kinds of ops are elementwise. A row's names come from the table, so that a row without a door fails.
"""

import csv
import os
import pathlib
import shutil
import subprocess

import pytest
import tenon

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = pathlib.Path(os.environ.get("TENON_SPEC", ROOT.parent / "shared" / "spec")) / "ops.csv"
KINDS = ("reduction", "scan", "matmul", "view")

if not SPEC.exists():
    pytest.skip("needs the specification", allow_module_level=True)
with SPEC.open(encoding="utf-8", newline="") as table:
    ROWS = [row for row in csv.DictReader(table) if row["kind"] in KINDS]

x, y = tenon.arange(9.0).reshape(3, 3) - 4, tenon.tensor([2.0, -1.0, 0.5])
# How a row is called, by its name in the table; the others take x alone. `b`: a batch of one matrix.
CALLS = {
    "aminmax": "aminmax(x)[1]", "max[dim]": "max(x, 0).values", "min[dim]": "min(x, 1).indices", "max[all]": "max(x)", "min[all]": "min(x)", "var_mean": "var_mean(x)[1]", "std_mean": "std_mean(x)[0]",
    "logsumexp": "logsumexp(x, 1)", "mode": "mode(x).values", "sum_to_size": "x.sum_to_size((1, 3))", "dist": "dist(x, y)", "allclose": "allclose(x, x)", "equal": "equal(x, y)",
    "cumsum": "cumsum(x, 1)", "cumprod": "cumprod(x, 0)", "logcumsumexp": "logcumsumexp(x, 0)", "cummax": "cummax(x, 0).values", "cummin": "cummin(x, 1).indices", "softmax": "softmax(x, 1)", "log_softmax": "log_softmax(x, 0)", "nn.functional.softmin": "softmin(x, 1)",
    "matmul": "matmul(x, y)", "mm": "mm(x, x)", "bmm": "bmm(b, b)", "mv": "mv(x, y)", "dot": "dot(y, y)", "vdot": "vdot(y, y)", "inner": "inner(x, y)", "outer": "outer(y, y)", "addmm": "addmm(y, x, x)", "addmv": "addmv(y, x, y)", "addr": "addr(x, y, y)",
    "baddbmm": "baddbmm(b, b, b)", "addbmm": "addbmm(x, b, b)", "nn.functional.linear": "linear(x, x, y)", "nn.functional.bilinear": "bilinear(x, x, b)", "kron": "kron(x, y)", "tensordot": "tensordot(x, x, 1)", "linalg.vecdot": "linalg.vecdot(x, y)", "linalg.cross": "linalg.cross(x, x + y)", "cdist": "cdist(x, x + 1)",
    "expand": "y.expand(2, 3)", "expand_as": "y.expand_as(x)", "broadcast_to": "broadcast_to(y, (2, 3))", "unsqueeze": "unsqueeze(y, 0)", "reshape": "reshape(x, (1, 9))", "view": "x.view(1, 9)", "permute": "permute(x, (1, 0))", "transpose": "transpose(x, 0, 1)", "movedim": "movedim(b, 0, 1)",
    "select": "select(x, 0, 1)", "narrow": "narrow(x, 0, 1, 2)", "contiguous": "x.contiguous()",
}  # fmt: skip
OTHER_IN_SHELL = {"tensordot": "tensordot(x, x, (1,), (0,))"}  # the op's own arguments, not those of Python's function
NAMES = [row["name"] for row in ROWS]


def plain(name):
    """max[dim] is an overload of max."""
    return name.partition("[")[0]


def in_python(path, owner=tenon):
    for part in path.split("."):
        owner = getattr(owner, part, None)
    return owner


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_python_has_functions_and_methods(row):
    name = plain(row["name"])
    function, method = in_python(name), in_python(name, tenon.Tensor)
    assert callable(method) if row["method"] == "yes" and "." not in name else callable(function)
    assert callable(function) or name in ("expand", "expand_as", "view", "contiguous", "sum_to_size")  # as in PyTorch
    for other in row["inplace"].split():
        assert callable(in_python(other, tenon.Tensor)), other
    for alias in row["aliases"].split():
        assert callable(in_python(alias)) or callable(in_python(alias, tenon.Tensor)), alias
    if row["out"] == "yes":
        assert "out" in function.__doc__.partition("\n\n")[0], function.__doc__


def called(name):
    return CALLS.get(name, f"{plain(name)}(x)")


def value_in_python(expression):
    names = {name: getattr(tenon, name) for name in dir(tenon)} | {name: getattr(tenon.nn.functional, name) for name in ("linear", "bilinear", "softmin")}
    return eval(expression, names | {"x": x, "y": y, "b": x[None]})


@pytest.fixture(scope="session")
def shell(tmp_path_factory):
    """Computes an expression by the command line; gives what it prints."""
    built = sorted(ROOT.glob("build/*/tenon"), key=lambda path: path.stat().st_mtime)
    if not built:
        pytest.skip("needs the built command line")
    folder = tmp_path_factory.mktemp("doors")
    for name, value in {"x": x, "y": y, "b": x[None]}.items():
        tenon.save(value, folder / f"{name}.npy")

    # The sanitizer that is loaded before this interpreter is not that of the command line.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

    def evaluate(expression):
        command = [built[-1], "eval", expression, "x=x.npy", "y=y.npy", "b=b.npy"]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{expression}: {done.stderr}"
        return done.stdout.strip()

    return evaluate


@pytest.mark.parametrize("name", NAMES)
def test_the_shell_computes_the_same(name, shell):
    value = value_in_python(called(name))
    assert shell(OTHER_IN_SHELL.get(name, called(name))) in (repr(value), repr(tenon.as_tensor(value)))


def test_cpp_has_functions_and_methods(tmp_path):
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    generated = sorted(ROOT.glob("build/*/generated/include"), key=lambda path: path.stat().st_mtime)
    if not compiler or not generated:
        pytest.skip("needs a compiler and the generated headers")
    functions, methods = set(), set()
    for row in ROWS:
        name = plain(row["name"]).removeprefix("nn.functional.").replace(".", "_")
        if row["kind"] == "view" or name == "sum_to_size":  # only methods; views not in place
            methods.add(name)
            continue
        functions.add(name)
        methods.update(row["inplace"].split())
        if row["out"] == "yes":
            functions.add(f"{name}_out")
    lines = ["#include <tenon/tenon.h>", "struct Methods : tenon::Tensor {"]
    lines += [f"  using tenon::Tensor::{name};" for name in sorted(methods)] + ["};", "void functions() {"]
    lines += [f"  using tenon::{name};" for name in sorted(functions)] + ["}", ""]
    source = tmp_path / "doors.cpp"
    source.write_text("\n".join(lines), encoding="utf-8")
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", f"-I{generated[-1]}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
