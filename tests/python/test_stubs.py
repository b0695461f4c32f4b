"""The type stubs, checked by mypy and compared with the module."""

import ast
import inspect
import pathlib
import re
import shutil
import types

import pytest
import tenon

STUBS = pathlib.Path(tenon.__file__).parent / "__init__.pyi"
SLOTS = {name for name, slot in vars(tenon.Tensor).items() if isinstance(slot, types.WrapperDescriptorType)}
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^",
           "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "neg": "-", "pos": "+", "invert": "~"}  # fmt: skip


def declared_in(body):
    """The names that statements of a stub declare."""
    names = set()
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif isinstance(statement, ast.AnnAssign):
            names.add(statement.target.id)
        elif isinstance(statement, ast.ImportFrom):
            names |= {alias.asname for alias in statement.names if alias.asname}
    return names


@pytest.fixture(scope="module")
def stub():
    return ast.parse(STUBS.read_text(encoding="utf-8"))


def check(type_errors, tmp_path, lines):
    program = tmp_path / "program.py"
    program.write_text("\n".join(["import tenon", "from tenon import Tensor", *lines, ""]))
    assert type_errors(program) == []


# --- The stubs and the module


# Modules for other packages, which are names of `tenon` once a test has imported them.
FOR_OTHERS = {"cubed", "dask", "einops", "xarray"}


def test_every_public_name_has_a_stub(stub):
    public = {name for name in vars(tenon) if not name.startswith("_")} - FOR_OTHERS | {"__version__"}
    assert public <= declared_in(stub.body)


def test_every_public_attribute_of_a_tensor_has_a_stub(stub):
    tensor = next(statement for statement in stub.body if isinstance(statement, ast.ClassDef) and statement.name == "Tensor")
    declared = declared_in(tensor.body)
    public = {name for name in vars(tenon.Tensor) if not name.startswith("_") and hasattr(tenon.Tensor, name)}  # not those that only raise
    assert public == {name for name in declared if not name.startswith("_")}
    without = {"__repr__", "__str__", "__delitem__"}  # those of object are right, and no element can be deleted
    assert SLOTS - without == {name for name in declared if name.startswith("__") and (name in SLOTS or hasattr(int, name))}


def test_named_tuples_have_their_fields():
    stub = ast.parse((STUBS.parent / "return_types.pyi").read_text(encoding="utf-8"))
    declared = {statement.name: tuple(field.name for field in statement.body) for statement in stub.body if isinstance(statement, ast.ClassDef)}
    assert declared == {name: getattr(tenon.return_types, name).__match_args__ for name in tenon.return_types.__all__}


def test_every_function_of_nn_has_a_stub():
    stub = ast.parse((STUBS.parent / "nn" / "functional.pyi").read_text(encoding="utf-8"))
    assert set(tenon.nn.functional.__all__) == declared_in(stub.body) - {"Sequence"}


def test_nn_functional(tmp_path, type_errors):
    program = tmp_path / "program.py"
    program.write_text(
        "import tenon\n"
        "import tenon.nn.functional as F\n"
        "x = tenon.ones(2)\n"
        "y: tenon.Tensor = F.relu(x, inplace=True) + F.softplus(x, 2) + F.mse_loss(x, x, reduction='none')\n"
        "y = F.gaussian_nll_loss(x, x, 0.5, full=True) + F.elu_(x) + F.rrelu(x, 0.1, 0.3, True)\n"
        "F.mse_loss(x, 'x')  # wrong\n"
        "F.gelu(x, approximate=1)  # wrong\n"
    )
    errors = type_errors(program)
    assert len(errors) == 2 and ":6: error" in errors[0] and ":7: error" in errors[1], errors


def test_the_stubs_have_no_errors(tmp_path, type_errors):
    package = tmp_path / "tenon"
    shutil.copytree(STUBS.parent, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    assert type_errors(package / "__init__.pyi", package / "return_types.pyi", package / "nn" / "functional.pyi", strict=False) == []


# --- Programs


def named_results():
    """Every op with named results, and calls of it."""
    for name in tenon.return_types.__all__:
        if not name.endswith("_out") and not name.startswith("linalg_"):
            needed = [parameter for parameter in ("dim", "k") if re.search(rf"\bint {parameter}\b(?! =)", getattr(tenon.Tensor, name).__doc__)]
            given = "".join(f", {parameter}=1" for parameter in needed)
            yield name, f"x.{name}({given[2:]})"
            yield name, f"tenon.{name}(x{given})"
            yield f"{name}_out", f"tenon.{name}(x{given}, out=(tenon.empty(0, dtype=a.dtype), tenon.empty(0, dtype=b.dtype)))"


def test_fields_of_several_results(tmp_path, type_errors):
    lines = ["x = tenon.ones(2, 2)", "tensors: list[Tensor] = []"]
    for place, (name, call) in enumerate(named_results()):
        fields = getattr(tenon.return_types, name).__match_args__
        lines += [f"result{place}: tenon.return_types.{name} = {call}", f"a, b = result{place}", "tensors += [a, b]"]
        lines += [f"tensors.append(result{place}.{field})" for field in fields]
    lines += ["a, b = tenon.var_mean(x)", "a, b = tenon.std_mean(x)", "tensors += [a, b, tenon.max(x), tenon.max(x, x), x.min(), x.min(x), tenon.where(x > 0, x, 0)]",
              "tensors.extend(tenon.where(x > 0))"]  # fmt: skip
    exec("\n".join(lines), {"tenon": tenon, "Tensor": tenon.Tensor})  # the program is right
    check(type_errors, tmp_path, lines)


def test_wrong_fields(tmp_path, type_errors):
    program = tmp_path / "program.py"
    program.write_text("import tenon\nx = tenon.ones(2)\nx.sort().mantissa\nx.max().value()\nx.unsorted()\nx.sort().indices\n")
    errors = type_errors(program)
    assert [error.partition(": error")[0].rpartition(":")[2] for error in errors] == ["3", "4", "5"], errors


def test_operators(tmp_path, type_errors):
    lines = ["x = tenon.ones(2, 2, dtype=tenon.int32)", "y: Tensor", "m: Tensor"]
    for name in sorted(SLOTS):
        word = name.strip("_")
        symbol = SYMBOLS.get(word) or SYMBOLS.get(word[1:])
        if symbol is None:
            continue
        if len(inspect.signature(vars(tenon.Tensor)[name]).parameters) == 1:
            lines.append(f"y = {symbol}x")
        elif word in SYMBOLS:
            lines.append(f"y = x {symbol} x")
            lines += [f"y = x {symbol} 2"] if symbol != "@" else []
        elif word.startswith("r"):
            lines += [f"y = 2 {symbol} x"] if symbol != "@" else []
        else:
            lines += ["m = x.clone()", f"m {symbol}= 2"]
    assert "y = 2 % x" in lines and "m <<= 2" in lines and "y = ~x" in lines
    exec("\n".join(line for line in lines if line != "m /= 2"), {"tenon": tenon, "Tensor": tenon.Tensor})  # integers have no /=
    check(type_errors, tmp_path, lines)


def test_results_that_are_no_tensors(tmp_path, type_errors):
    check(type_errors, tmp_path, [
        "import tenon.linalg",
        "x = tenon.ones(2, 2)",
        "norm: Tensor = tenon.linalg.vector_norm(x, dim=0)",
        "n: int = x.numel() + x.dim() + x.data_ptr()",
        "flag: bool = tenon.allclose(x, x) or x.is_contiguous()",
        "dtype: tenon.dtype = tenon.result_type(x, 2)",
        "view: Tensor = x.expand(3, 2, 2).transpose(0, 1).unfold(0, 1, 1).squeeze()",
        "parts: Tensor = tenon.view_as_real(x.to(tenon.complex64).conj())",
        "total: Tensor = tenon.add(x, 1) + x.mul(2)",
    ])  # fmt: skip


def test_autograd(tmp_path, type_errors):
    program = tmp_path / "program.py"
    program.write_text(
        "from typing import Any\n"
        "import tenon\n"
        "class Double(tenon.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx: Any, x: tenon.Tensor) -> tenon.Tensor:\n"
        "        return x * 2\n"
        "    @staticmethod\n"
        "    def backward(ctx: Any, grad: tenon.Tensor) -> tenon.Tensor:\n"
        "        return grad * 2\n"
        "x = tenon.ones(2, requires_grad=True)\n"
        "loss: tenon.Tensor = Double.apply(x).sum() + (x @ x)\n"
        "loss.backward(retain_graph=True)\n"
        "handle = x.register_hook(lambda grad: grad * 2)\n"
        "handle.remove()\n"
        "gradient: tenon.Tensor = tenon.autograd.grad(loss, [x])[0]\n"
        "with tenon.no_grad(), tenon.inference_mode():\n"
        "    assert x.grad is not None and x.grad_fn is None\n"
        "@tenon.no_grad\n"
        "def f(n: int) -> int:\n"
        "    return n\n"
        "f('x')  # wrong\n"
        "x.backward(gradient='x')  # wrong\n"
    )
    errors = type_errors(program)
    assert len(errors) == 2 and ":21: error" in errors[0] and ":22: error" in errors[1], errors
