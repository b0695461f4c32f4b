#!/usr/bin/env python3
"""Tests of the command line: texts, exit codes, files. Needs only the standard library.

    python3 tests/cli_test.py BUILD_DIR/tenon
"""
import csv
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process starts with Ctrl-C ignored
TENON = pathlib.Path(os.environ.get("TENON", ROOT / "build/release/tenon")).resolve()
CODES = {"<f2": "e", "<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B"}


def npy(descr, shape, values):
    """The bytes of a .npy file."""
    text = str({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{CODES[descr]}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def read_npy(path):
    content = pathlib.Path(path).read_bytes()
    length = struct.unpack("<H", content[8:10])[0]
    header = eval(content[10:10 + length], {})  # noqa: S307: written by the program under test
    data = content[10 + length:]
    code = CODES[header["descr"]]
    return header["descr"], header["shape"], list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def png_size(path):
    """Width, height and channels; checks every chunk's checksum."""
    content = pathlib.Path(path).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(content):
        length = struct.unpack(">I", content[at:at + 4])[0]
        body = content[at + 4:at + 8 + length]
        assert zlib.crc32(body) == struct.unpack(">I", content[at + 8 + length:at + 12 + length])[0]
        at += 12 + length
    width, height, _, colour = struct.unpack(">IIBB", content[16:26])
    return width, height, {0: 1, 2: 3, 4: 2, 6: 4}[colour]


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tenon(self, *arguments, code=0, **kwargs):
        done = subprocess.run([TENON, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, timeout=120, **kwargs)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def write_sparse(self, name, rows):
        """Writes a sparse file of zeros, of float32[rows, 1024]."""
        content = npy("<f4", (rows, 1024), [])
        path = self.write(name, content)
        os.truncate(path, len(content) + rows * 4096)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def start_long(self, rows=1 << 19, **kwargs):
        """Starts a run that takes a while: a large file in small blocks."""
        self.write_sparse("big.npy", rows)
        return subprocess.Popen([TENON, "eval", "sqrt(exp(log(x + 1)))", "x=big.npy", "-o", "out.npy", "--block-bytes", "4096"], cwd=self.folder, **kwargs)

    def wait_for_part(self):
        """Waits until the output's temporary file exists."""
        for _ in range(1000):
            if any(name.endswith(".part") for name in self.files()):
                return
            time.sleep(0.01)
        self.fail("no output file was started")


class Explain(CliTest):
    def test_golden_files(self):
        """What depends on the machine is left out: the instruction set in kernels' names, and the scratch of shuffles."""
        for name, arguments in GOLDEN.items():
            with self.subTest(name):
                environment = {**os.environ, "TENON_NUM_THREADS": "2"}
                done = subprocess.run([TENON, "explain", *arguments], capture_output=True, text=True, timeout=60, env=environment)  # fmt: skip
                got = done.stdout.replace("." + self.instruction_set(), "") + done.stderr
                if name == "page":
                    got = re.sub(r"[\d.]+ k?B of scratch", "scratch for a gather", got)
                path = ROOT / "tests/golden/explain" / f"{name}.txt"
                if os.environ.get("TENON_WRITE_GOLDEN"):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(got)
                self.assertEqual(got, path.read_text())

    def instruction_set(self):
        return json.loads(self.run_tenon("info", "--json").stdout)["instruction_set"].lower()

    def test_json(self):
        report = json.loads(self.run_tenon("explain", "--json", "f32[4096,3] + f32[3]").stdout)
        step = report["steps"][0]
        self.assertEqual(step["result"], [4096, 3])
        self.assertEqual(step["dtype"], "float32")
        self.assertEqual(step["loops"], [3, 4096])
        self.assertEqual([operand["access_pattern"] for operand in step["operands"]], ["direct", "periodic 3"])
        self.assertEqual([operand["gradient_summed_over"] for operand in step["operands"]], [[], [0]])
        self.assertEqual(step["operands"][1]["dims"], ["added", "same"])
        self.assertEqual((step["bytes_read"], step["bytes_written"]), (4096 * 12 + 12, 4096 * 12))

    def test_runs(self):
        """`Planned.*` in C++ compares such planned runs with those that the engine executes."""
        cases = {
            "prod(f32[1000,3], -1)": [("prod", "few", "in place", ["direct"])],
            "prod(c64[1000,3], -1)": [("prod", "few", "in place", ["gather"])],
            "sum(f32[1000,3], 0)": [("sum", "rounds", "in place", ["direct"])],
            "sum(f32[3,1000] * 2, -1)": [("elementwise", "direct", "in place", ["direct", "splat"]), ("sum", "few", "in place", ["direct"])],
            "f32[300,200].T + f32[200,300]": [("elementwise", "blocks", "in place", ["direct", "transposed"])],
            "f32[7]": [],
            "matmul(f32[512,512], f32[512,512])": [("matmul", "product blocks", "in place", [])],
            "sort(f32[100,1000]).values": [("sort", "rows sorted", "in place", [])],
            "cat([f32[3,4], f32[5,4]])": [("cat", "runs joined", "in place", [])],
            "gather(f32[300,4], 0, i64[200,4])": [("gather", "elements by index", "in place", [])],
            "cumsum(f32[300,4].T, 1)": [("cumsum", "few", "in place", ["gather"]), ("cumsum", "along", "in place", [])],
            "roll(f32[300,200], 1)": [("roll", "direct", "in place", ["direct"]), ("roll", "few", "in place", ["direct"])],
        }
        for expression, wanted in cases.items():
            step = json.loads(self.run_tenon("explain", "--json", expression).stdout)["steps"][0]
            got = [(run["run"], run["route"], run["stores"], run["access_patterns"]) for run in step["runs"]]
            self.assertEqual(got, wanted, expression)

    def steps(self, expression):
        return json.loads(self.run_tenon("explain", "--json", expression).stdout)["steps"]

    def test_algorithms(self):
        step, = self.steps("topk(f32[100,1000], 5).indices")
        self.assertEqual([(result["result"], result["dtype"], result["sizes"]) for result in step["algorithm"]["results"]],
                         [("values", "float32", [100, 5]), ("indices", "int64", [100, 5])])
        self.assertEqual((step["bytes_read"], step["bytes_written"]), (400000, 100 * 5 * 12))
        first, second = self.steps("matmul(f32[20,30] + 1, f32[30,40])")
        self.assertEqual(first["text"], "f32[20,30] + 1")
        self.assertEqual((second["bytes_read"], second["bytes_written"]), (4 * (20 * 30 + 30 * 40), 4 * 20 * 40))

    def test_several_results(self):
        step, = self.steps("frexp(f32[30,40])")
        self.assertEqual([(result["result"], result["dtype"]) for result in step["algorithm"]["results"]], [("mantissa", "float32"), ("exponent", "int32")])
        run, = step["runs"]
        self.assertEqual((run["passes"], [kernel.split(".")[0] for kernel in run["kernels"]]), (1, ["frexp", "frexp_exponent", "cast"]))
        step, = self.steps("frexp(f32[30,40] + 1).mantissa * 2")
        self.assertEqual([kernel.split(".")[0] for kernel in step["runs"][0]["kernels"]], ["add", "frexp", "mul"])
        self.assertEqual([op["text"] for op in step["ops"]], ["f32[30,40] + 1", "frexp(f32[30,40] + 1).mantissa", "frexp(f32[30,40] + 1).mantissa * 2"])
        self.assertEqual([step["text"] for step in self.steps("frexp(f32[30,40] + 1)")], ["f32[30,40] + 1", "frexp(f32[30,40] + 1)"])
        self.assertEqual(self.steps("sort(f32[4,5])"), self.steps("sort(f32[4,5]).values"))

    def test_a_value_has_one_page(self):
        """A view of a computed value has a page of its own, and reads nothing."""
        self.assertEqual(len(self.steps("sum(f32[4,5], 0)")), 1)
        self.assertEqual(len(self.steps("sort(f32[4,5]).values")), 1)
        _, view = self.steps("sum(f32[4,5], 0).unsqueeze(0)")
        self.assertEqual((view["result"], view["bytes_read"], view["bytes_written"]), ([1, 5], 0, 0))

    def test_kernels(self):
        for expression, wanted in {"argmax(f32[10])": "argmax.f32", "max(f32[10])": "amax.f32", "var(f16[10])": "cast.f32 var.f32", "mean(f16[10])": "sum.f16", "f32[3] < f32[3]": "lt.f32",
                                   "div(i32[5], 2, rounding_mode='floor')": "div_floor.i32", "prod(i8[4000])": "cast.i64 prod.i64", "sum(i8[4000])": "sum.i8"}.items():
            kernels = [kernel for step in self.steps(expression) for run in step["runs"] for kernel in run["kernels"]]
            self.assertEqual(" ".join(kernels).replace("." + self.instruction_set(), ""), wanted, expression)

    def test_npz(self):
        """Files that zipfile reads and writes, stored and compressed."""
        x = npy("<f4", (2, 3), range(6))
        self.write("x.npy", x)
        self.run_tenon("eval", "x=x.npy", "-o", "t.npz:a=x + 1", "-o", "t.npz:b=x.to(float64).sum(0)", "-o", "t.npz:c=7")
        with zipfile.ZipFile(self.folder / "t.npz") as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(archive.namelist(), ["a.npy", "b.npy", "c.npy"])
            archive.extractall(self.folder)
        self.assertEqual(read_npy(self.folder / "a.npy"), ("<f4", (2, 3), [1, 2, 3, 4, 5, 6]))
        self.assertEqual(read_npy(self.folder / "b.npy"), ("<f8", (3,), [3, 5, 7]))
        self.assertEqual(self.run_tenon("eval", "a + b + c", *(f"{name}=t.npz:{name}" for name in "abc")).stdout, "tensor([[11., 14., 17.],\n        [14., 17., 20.]], dtype=torch.float64)\n")
        self.assertIn("holds 3 tensors; name one, as in t.npz:a", self.run_tenon("eval", "x", "x=t.npz", code=1).stderr)
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile(self.folder / "z.npz", "w", method) as archive, archive.open("x.npy", "w", force_zip64=True) as member:
                member.write(x)
            self.assertEqual(self.run_tenon("eval", "x.sum()", "x=z.npz").stdout, "tensor(15.)\n")
            with open(self.folder / "z.npz", "rb") as file:
                self.assertEqual(self.run_tenon("eval", "x.sum()", "x=-", stdin=file).stdout, "tensor(15.)\n")
        self.write("bad.npz", (self.folder / "z.npz").read_bytes()[:-1])
        self.assertIn("bad.npz: the file is damaged", self.run_tenon("eval", "x", "x=bad.npz", code=1).stderr)

    def test_tables_with_names(self):
        self.write("t.csv", b"weight,\"height, m\"\n1,2\n3,4\n")
        self.assertEqual(self.run_tenon("eval", "t", "t=t.csv").stdout, "tensor([[1., 2.],\n        [3., 4.]], dtype=torch.float64)\n")
        self.assertEqual(self.run_tenon("eval", "w / h ** 2", "w=t.csv:weight", "h=t.csv:height, m").stdout, "tensor([0.2500, 0.1875], dtype=torch.float64)\n")
        self.assertIn("has no column 'x'; it holds weight, height, m", self.run_tenon("eval", "x", "x=t.csv:x", code=1).stderr)

    def test_json(self):
        self.write("x.npy", npy("<f4", (2, 2), [0.1, 2, float("nan"), float("-inf")]))
        done = self.run_tenon("eval", "x=x.npy", "-o", "x=x", "-o", "n=x.numel()", "-o", "s=x.shape", "-o", "d=x.dtype", "-o", "c=x[0] * 1j", "-o", "m=x > 1", "-o", "f=0.1", "-o", "e=zeros(2, 0)", "--json")
        self.assertEqual([json.loads(line) for line in done.stdout.splitlines()], [
            {"name": "x", "dtype": "float32", "shape": [2, 2], "values": [[0.1, 2], ["NaN", "-Infinity"]]},
            {"name": "n", "value": 4}, {"name": "s", "value": [2, 2]}, {"name": "d", "value": "float32"},
            {"name": "c", "dtype": "complex64", "shape": [2], "values": [[0, 0.1], [0, 2]]},
            {"name": "m", "dtype": "bool", "shape": [2, 2], "values": [[False, True], [False, False]]},
            {"name": "f", "value": 0.1}, {"name": "e", "dtype": "float32", "shape": [2, 0], "values": [[], []]}])
        self.assertEqual(len(json.loads(self.run_tenon("eval", "arange(5000)", "--json").stdout)["values"]), 5000)
        self.assertEqual(json.loads(self.run_tenon("eval", "--grad", "x", "(x * x)[0].sum()", "x=x.npy", "--json").stdout.splitlines()[1])["values"][0], [0.2, 4])
        self.assertEqual(json.loads(self.run_tenon("eval", "y", "--json", code=1).stdout)["error"]["text"], "unknown name 'y'")

    def test_gradients(self):
        for expression, wanted in {"sum(f32[4,5], 0)": "expanded over dim 0", "sum(f32[4,5] * f32[5])": "expanded over dims 0, 1, then summed over dim 0",
                                   "argmax(f32[4])": "none, the result is not differentiable", "all(f32[4])": "none, the result is not differentiable",
                                   "f32[3,4] < f32[4]": "none, the result is not differentiable", "matmul(f32[3,4], f32[4,5])": "by the derivative of matmul",
                                   "argsort(f32[4])": "none, the result is not differentiable", "f32[3,4] + f32[4]": "summed over dim 0",
                                   "sum(i64[4])": "none, int64 is not differentiable"}.items():
            lines = re.findall("gradient of .*: (.*)", self.run_tenon("explain", expression).stdout)
            self.assertEqual(lines[-1], wanted, expression)

    def test_refuses_what_the_call_refuses(self):
        for expression, words in {"u16[3] + u16[3]": "not implemented for 'UInt16'", "argmax(bool[3])": "does not support bool", "nonzero(f32[10])": "nonzero: the size of the result depends",
                                  "masked_select(f32[3], bool[3]) + 1": "depends on the operands' values", "sort(c64[3]).values": "complex"}.items():
            self.assertIn(words, self.run_tenon("explain", expression, code=1).stderr)

    def test_threads_are_the_engine_s(self):
        for count in (1, 2):
            done = self.run_tenon("explain", "--json", "f32[1000,1000] + 1", env=os.environ | {"TENON_NUM_THREADS": str(count)})
            self.assertEqual(json.loads(done.stdout)["steps"][0]["runs"][0]["threads"], count)

    def test_json_of_a_failure(self):
        done = self.run_tenon("explain", "--json", "5,2,4,1", "3,1,1", code=1)
        report = json.loads(done.stdout)
        self.assertEqual(report["error"]["text"], "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1")
        self.assertEqual(report["steps"][0]["result"], [5, None, 4, 1])
        self.assertEqual(done.stderr, "")

    def test_invalid_environment_variables(self):
        for count in ("abc", "0", "-3", "2x"):
            done = self.run_tenon("info", env=os.environ | {"TENON_NUM_THREADS": count})
            self.assertIn(f"TENON_NUM_THREADS is ignored: '{count}' is no number of threads\n", done.stderr)
        done = self.run_tenon("info", env=os.environ | {"TENON_ISA": "Z80"})
        self.assertIn("TENON_ISA is ignored: this machine or this build has no 'Z80'\n", done.stderr)

    def test_svg_is_xml(self):
        for index, arguments in enumerate(GOLDEN.values()):
            path = self.folder / f"{index}.svg"
            subprocess.run([TENON, "explain", *arguments, "--svg", path], capture_output=True, timeout=60)
            if path.exists():
                self.assertTrue(xml.etree.ElementTree.parse(path).getroot().tag.endswith("svg"))
        self.run_tenon("explain", "5,1", "1,4", "--svg", "drawing.svg")
        classes = [e.get("class") for e in xml.etree.ElementTree.parse(self.folder / "drawing.svg").iter() if e.tag.endswith("rect")]
        self.assertEqual(classes, ["same", "stretched", "stretched", "same", "result", "result"])

    def test_shapes_of_files(self):
        self.write("a.npy", npy("<f4", (2, 3), range(6)))
        report = json.loads(self.run_tenon("explain", "--json", "x + 1", "x=a.npy").stdout)
        self.assertEqual(report["steps"][0]["result"], [2, 3])

    def test_policy(self):
        done = self.run_tenon("explain", "4", "4,1", "--broadcast-policy", "outer=raise", code=1)
        self.assertIn("error:", done.stderr)
        self.run_tenon("--broadcast-policy", "outer=maybe", "explain", "4", "4,1", code=2)
        self.run_tenon("explain", "4", "4,1", "--broadcast-policy", "allow", code=0)


GOLDEN = {
    "page": ["5,1,4,1", "3,1,1"],
    "rows": ["f32[4096,3] + f32[3]"],
    "mismatch": ["5,2,4,1", "3,1,1"],
    "mismatch_of_three": ["2,3", "3", "4,1,2"],
    "mismatch_inside": ["x * (f32[3] + i32[4])", "x=2,3"],
    "transposed": ["f32[512,512] + f32[512,512].T"],
    "strides": ["f32[4,3:1,4]", "f32[4,1:6,3]"],
    "types": ["(u8[192,256,3] / 255 - f32[3]) / f64[]"],
    "comparison": ["i32[5] < f16[5]"],
    "reduction": ["x - x.mean(0, keepdim=True)", "x=f32[100,8]"],
    "zero_dims": ["()", "0,3"],
    "scan": ["cummax(cumsum(x - 1, 0), 1).values", "x=f16[300,200]"],
    "join": ["cat([f32[300,4], f16[500,4]])"],
    "unclosed": ["(f32[3] + 1"],
}


class Eval(CliTest):
    def test_expressions_that_begin_with_a_minus(self):
        self.write("a.npy", npy("<f4", (2,), [1, 2]))
        for expression in ("-x", "-True", "--1"):
            self.assertIn("stands behind --", self.run_tenon("eval", expression, "x=a.npy", code=2).stderr)
        self.assertEqual(self.run_tenon("eval", "--", "-x", "x=a.npy").stdout, "tensor([-1., -2.])\n")

    def test_invalid_names(self):
        self.write("a.npy", npy("<f4", (2,), [1, 2]))
        self.assertIn("'x=' should be name=FILE", self.run_tenon("eval", "x", "x=", code=2).stderr)
        self.assertIn("no file can be named True", self.run_tenon("eval", "1", "True=a.npy", code=2).stderr)

    def test_prints(self):
        self.write("a.npy", npy("<f4", (2, 3), range(6)))
        self.assertEqual(self.run_tenon("eval", "x * 2", "x=a.npy").stdout, "tensor([[ 0.,  2.,  4.],\n        [ 6.,  8., 10.]])\n")
        self.assertEqual(self.run_tenon("eval", "1 + 2").stdout, "3\n")
        self.assertEqual(self.run_tenon("eval", "7 / 2").stdout, "3.5\n")

    def test_decompositions_and_transforms(self):
        self.write("a.npy", npy("<f8", (2, 2), [2, 0, 0, 4]))
        self.assertEqual(self.run_tenon("eval", "linalg.inv(a)", "a=a.npy").stdout, "tensor([[0.5000, 0.0000],\n        [0.0000, 0.2500]], dtype=torch.float64)\n")
        self.assertEqual(self.run_tenon("eval", "linalg.svd(a).S", "a=a.npy").stdout, "tensor([4., 2.], dtype=torch.float64)\n")
        self.assertEqual(self.run_tenon("eval", "abs(fft.rfft(a))", "a=a.npy").stdout, "tensor([[2., 2.],\n        [4., 4.]], dtype=torch.float64)\n")
        self.assertIn("the input matrix is singular", self.run_tenon("eval", "linalg.inv(a * 0)", "a=a.npy", code=1).stderr)

    def test_without_the_extension(self):
        alone = self.folder / "tenon"
        shutil.copy(TENON, alone)
        done = subprocess.run([alone, "eval", "linalg.inv(eye(2))"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs libtenon_extension.so", done.stderr)

    def test_writes_npy(self):
        self.write("a.npy", npy("<f4", (2, 3), range(6)))
        self.write("b.npy", npy("<i8", (3,), [10, 20, 30]))
        self.run_tenon("eval", "x + b", "x=a.npy", "b=b.npy", "-o", "out.npy")
        self.assertEqual(read_npy(self.folder / "out.npy"), ("<f4", (2, 3), [10, 21, 32, 13, 24, 35]))
        self.assertEqual(self.files(), ["a.npy", "b.npy", "out.npy"])

    def test_several_outputs(self):
        self.write("x.npy", npy("<f4", (2, 3), range(6)))
        done = self.run_tenon("eval", "x=x.npy", "-o", "m.npy=x.mean()", "-o", "c=x - x.mean()", "-o", "n=x.numel()", "-o", "out.png=x / 5")
        self.assertEqual(done.stdout, "c = tensor([[-2.5000, -1.5000, -0.5000],\n        [ 0.5000,  1.5000,  2.5000]])\nn = 6\n")
        self.assertEqual(read_npy(self.folder / "m.npy"), ("<f4", (), [2.5]))
        self.assertEqual(self.run_tenon("eval", "x", "x=x.npy", "-o", "y=x + 1").stdout, "tensor([[0., 1., 2.],\n        [3., 4., 5.]])\ny = tensor([[1., 2., 3.],\n        [4., 5., 6.]])\n")
        self.run_tenon("eval", "x * 2", "x=x.npy", "-o", "a=b.npy")  # a file of that name
        self.assertEqual(self.files(), ["a=b.npy", "m.npy", "out.png", "x.npy"])
        for arguments, words in ((["x=x.npy", "-o", "a.npy"], "an expression is expected"), (["x=x.npy", "-o", "y=x", "-o", "a.npy"], "needs an expression"), (["x", "x=x.npy", "-o", "a.npy", "-o", "b.npy"], "needs an expression of its own"),
                                 (["x=x.npy", "-o", "y=x", "-o", "z=x", "--grad", "x"], "--grad takes one expression")):
            self.assertIn(words, self.run_tenon("eval", *arguments, code=2).stderr)
        done = self.run_tenon("eval", "x=x.npy", "-o", "a.npy=x + 1", "-o", "b=x +* 2", code=1)
        self.assertEqual(done.stderr, "error: a value is expected, not '*'\n  x +* 2\n     ^\n")
        done = self.run_tenon("eval", "x=x.npy", "-o", "new.npy=x + 1", "-o", "no/b.npy=x", code=1)  # all files or none
        self.assertEqual(self.files(), ["a=b.npy", "m.npy", "out.png", "x.npy"])

    def test_time(self):
        """Equal parts are computed once; reductions of a large file are done in one pass."""
        self.write_sparse("big.npy", 1 << 15)
        reports = {}
        for name, outputs in {"three": ("a=(x + 1).mean()", "b=(x + 1).std()", "c=amax(x)"), "two": ("a=(x - x.mean()).amax()",), "shared": ("a.npy=exp(x + 1)", "b.npy=exp(x + 1) * 2")}.items():
            arguments = [word for output in outputs for word in ("-o", output)]
            reports[name] = self.run_tenon("eval", "x=big.npy", *arguments, "--time").stderr
        self.assertRegex(reports["three"], r"^[0-9.]+ s, [0-9.]+ GB/s: 1 pass, 134 MB moved; op by op ")
        self.assertRegex(reports["two"], "2 passes, 268 MB moved")
        self.assertRegex(reports["shared"], "1 pass, 403 MB moved; op by op 805 MB")

    def test_csv_outputs(self):
        self.write("x.npy", npy("<f4", (2, 3), range(6)))
        self.run_tenon("eval", "x=x.npy", "-o", "x.csv=x / 4", "-o", "n.csv=7", "-o", "column.csv=x[1]")
        for name, text in (("x.csv", "0,0.25,0.5\n0.75,1,1.25\n"), ("n.csv", "7\n"), ("column.csv", "3\n4\n5\n")):
            self.assertEqual((self.folder / name).read_text(), text)
        for expression, words in (("x.view(1, 2, 3)", "a CSV file has rows and columns, but the tensor has 3 dims"), ("x + 1j", "a CSV file holds real numbers, not complex64")):
            self.assertIn(words, self.run_tenon("eval", expression, "x=x.npy", "-o", "no.csv", code=1).stderr)
        self.assertEqual(self.files(), ["column.csv", "n.csv", "x.csv", "x.npy"])

    def test_safetensors(self):
        self.write("x.npy", npy("<f4", (2, 3), range(6)))
        self.run_tenon("eval", "x=x.npy", "-o", "t.safetensors:a=x + 1", "-o", "t.safetensors:b=x.to(float64).sum(0)", "-o", "t.safetensors:c=7", "-o", "t.safetensors:d=x.to(bfloat16)")
        self.assertEqual(self.run_tenon("eval", "a + b + c", *(f"{name}=t.safetensors:{name}" for name in "abc")).stdout, "tensor([[11., 14., 17.],\n        [14., 17., 20.]], dtype=torch.float64)\n")
        self.assertEqual(self.run_tenon("eval", "d", "d=t.safetensors:d").stdout, "tensor([[0., 1., 2.],\n        [3., 4., 5.]], dtype=torch.bfloat16)\n")
        self.run_tenon("eval", "x * 2", "x=x.npy", "-o", "one.safetensors")
        self.assertEqual(self.run_tenon("eval", "x[1]", "x=one.safetensors").stdout, "tensor([ 6.,  8., 10.])\n")
        for name, words in (("t.safetensors", "holds 4 tensors; name one, as in t.safetensors:b"), ("t.safetensors:e", "has no tensor 'e'; it holds b, c, a, d"), ("no.safetensors", "No such file")):
            self.assertIn(words, self.run_tenon("eval", "x", f"x={name}", code=1).stderr)
        good = (self.folder / "one.safetensors").read_bytes()
        for bad in (b"", good[:20], good[:-1], b"\xff" * 8 + good[8:], good.replace(b"[2,3]", b"[2,4]"), good.replace(b"F32", b"F8_"), good.replace(b"[0,24]", b"[8,24]"), good[:8] + b"[" * (len(good) - 8), good.replace(b"[2,3]", b"[-2]")):
            self.write("bad.safetensors", bad)
            self.assertIn("bad.safetensors", self.run_tenon("eval", "x", "x=bad.safetensors", code=1).stderr)
        done = self.run_tenon("eval", "x=x.npy", "-o", "t2.safetensors:a=x + 1j", "-o", "t2.safetensors:b=(x + 1j).to(complex128)", code=1)
        self.assertIn("know no complex128", done.stderr)
        self.assertEqual(self.files(), ["bad.safetensors", "one.safetensors", "t.safetensors", "x.npy"])

    def test_gradients(self):
        self.write("x.npy", npy("<f4", (2, 3), [1, 2, 3, 4, 5, 6]))
        self.write("m.npy", npy("<f4", (3,), [1, 1, 2]))
        inputs = ("x=x.npy", "m=m.npy")
        self.assertEqual(self.run_tenon("eval", "--grad", "x,m", "sum((x - m) * x)", *inputs).stdout,
                         "tensor(61.)\nx.grad = tensor([[ 1.,  3.,  4.],\n        [ 7.,  9., 10.]])\nm.grad = tensor([-5., -7., -9.])\n")
        self.run_tenon("eval", "x.mm(x.T) + (x * m).mean(1)", *inputs, "--grad", "m", "-o", "out.npy")
        self.assertEqual([round(value, 4) for value in read_npy(self.folder / "out.grad.m.npy")[2]], [3.3333, 4.6667, 6.0])
        self.assertEqual(self.files(), ["m.npy", "out.grad.m.npy", "out.npy", "x.npy"])
        self.assertIn("no such input", self.run_tenon("eval", "--grad", "y", "x + m", *inputs, code=2).stderr)
        self.assertIn("--grad x: named twice", self.run_tenon("eval", "--grad", "x,m,x", "x + m", *inputs, code=2).stderr)
        self.write("i.npy", npy("<i4", (3,), [1, 1, 2]))
        self.assertIn("only Tensors of floating point dtype can require gradients",
                      self.run_tenon("eval", "--grad", "i", "i * 2", "i=i.npy", code=1).stderr)

    def test_output_may_replace_an_input(self):
        self.write("a.npy", npy("<f4", (3,), [1, 2, 3]))
        self.run_tenon("eval", "x * x", "x=a.npy", "-o", "a.npy")
        self.assertEqual(read_npy(self.folder / "a.npy")[2], [1, 4, 9])

    def test_pictures(self):
        photo = ROOT / "data/raccoon.png"
        self.run_tenon("eval", "x[::2, ::4].to(float32) / 255", f"x={photo}", "-o", "small.png")
        self.assertEqual(png_size(self.folder / "small.png"), (256, 384, 3))

    def test_tables(self):
        digits = ROOT / "data/digits.csv.gz"
        self.assertEqual(self.run_tenon("eval", "amax(x[:, 64])", f"x={digits}").stdout, "tensor(9., dtype=torch.float64)\n")

    def test_streaming_gives_the_same_bytes(self):
        values = [((i * 7919) % 1000) / 8 for i in range(64 * 96)]
        self.write("a.npy", npy("<f4", (64, 96), values))
        self.write("r.npy", npy("<f4", (96,), values[:96]))
        for expression in ("sqrt(x * 3 + r) / (r + 1)", "where(x > r, x, -r)", "x.T - r[:64]", "x.to(int32)"):
            self.run_tenon("eval", expression, "x=a.npy", "r=r.npy", "-o", "whole.npy")
            for block in (4, 1000, 8192):
                self.run_tenon("eval", expression, "x=a.npy", "r=r.npy", "-o", "blocks.npy", "--block-bytes", block)
                self.assertEqual((self.folder / "blocks.npy").read_bytes(), (self.folder / "whole.npy").read_bytes(), expression)

    def test_larger_than_memory_streams(self):
        """Reduces 1.6 GB of a sparse file of 8 GB under a limit of 1 GB of memory."""
        self.write_sparse("big.npy", 1 << 21)
        command = f"ulimit -d 1000000; exec '{TENON}' eval 'amax((x[:400000] + 1) * 2)' x=big.npy"
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout), (0, "tensor(2.)\n"), done.stderr)

    def test_damaged_input_changes_no_file(self):
        old = npy("<f4", (1,), [5])
        good = npy("<f4", (4,), range(4))
        self.write("out.npy", old)
        for bad in (b"", b"hello", good[:-1], good + b"x", good.replace(b"<f4", b"|O4")):
            self.write("bad.npy", bad)
            done = self.run_tenon("eval", "x + 1", "x=bad.npy", "-o", "out.npy", code=1)
            self.assertIn("bad.npy", done.stderr)
            self.assertEqual((self.folder / "out.npy").read_bytes(), old)
        self.assertEqual(self.files(), ["bad.npy", "out.npy"])

    def test_errors_mark_the_position(self):
        done = self.run_tenon("eval", "1 + (2 * y)", code=1)
        self.assertEqual(done.stderr, "error: unknown name 'y'\n  1 + (2 * y)\n           ^\nno names are given; name=FILE gives one\n")
        self.run_tenon("eval", "(" * 100000, code=1)

    def test_errors_name_the_operands(self):
        self.write("x.npy", npy("<f4", (2, 3), range(6)))
        for expression, place, notes in (("1 + matmul(x, x * 2)", "matmul(x, x * 2)", "matmul: x is float32[2, 3], x * 2 is float32[2, 3]\n"), ("x.sum(7)", "x.sum(7)", "sum: x is float32[2, 3]\n"),
                                         ("exp(x).view(7)", "exp(x).view(7)", "view: exp(x) is float32[2, 3]\n"), ("x[0][5]", "x[0][5]", "index: x[0] is float32[3]\n"),
                                         ("2 * (x + x.T)", "(x + x.T)", "add: shapes aligned at the right\n  a  2 3\n  b  3 2\n       ^\nit would work with b.t()\nadd: x is float32[2, 3], x.T is float32[3, 2]\n")):
            _, shown, carets, *rest = self.run_tenon("eval", expression, "x=x.npy", code=1).stderr.splitlines(keepends=True)
            self.assertEqual((shown, carets, "".join(rest)), (f"  {expression}\n", "  " + " " * expression.index(place) + "^" * len(place) + "\n", notes), expression)

    def test_memory_budget(self):
        self.write("x.npy", npy("<f4", (1000, 200), range(200000)))
        for arguments, environment in ((["--memory-budget", "500kB"], {}), ([], {"TENON_MEMORY_BUDGET": "500000"})):
            done = self.run_tenon("eval", "x * 2", "x=x.npy", *arguments, code=1, env=os.environ | environment)
            self.assertIn("error: not enough memory: a tensor of shape [1000, 200] takes 800000 bytes, and with the 0 bytes in use that is more than the memory budget of 500000 bytes\n", done.stderr)
            self.run_tenon("eval", "x * 2", "x=x.npy", "-o", "out.npy", *arguments, env=os.environ | environment)  # files do not count
        done = self.run_tenon("eval", "1 + sort(x * 2).values", "x=x.npy", "--memory-budget", "1MiB", code=1)
        self.assertIn("takes 800000 bytes, and with the 800000 bytes in use that is more than the memory budget of 1048576 bytes\n  1 + sort(x * 2).values\n      ^^^^^^^^^^^\nsort: x * 2 is float32[1000, 200]\n", done.stderr)
        for wrong in ("-1", "x", "1XB"):
            self.run_tenon("eval", "1", "--memory-budget", wrong, code=2)
        done = self.run_tenon("eval", "1", env=os.environ | {"TENON_MEMORY_BUDGET": "1GB"})
        self.assertEqual((done.stdout, done.stderr), ("1\n", ""))  # nothing asks for it
        done = self.run_tenon("eval", "x * 2 - x", "x=x.npy", env=os.environ | {"TENON_MEMORY_BUDGET": "1GB"})
        self.assertEqual(done.stderr, "TENON_MEMORY_BUDGET is ignored: '1GB' is no number of bytes\n")

    def test_usage(self):
        for arguments in ([], ["bogus"], ["eval"], ["explain"], ["eval", "1", "x"], ["eval", "1", "--bogus"], ["eval", "1", "--block-bytes", "0"], ["eval", "1", "-o", ""], ["explain", "5", "--svg", ""]):
            self.run_tenon(*arguments, code=2)
        for arguments in (["--help"], ["--version"], ["eval", "--help"]):
            self.run_tenon(*arguments)

    def test_interrupted_leaves_no_file(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGALRM):
            with self.subTest(number):
                process = self.start_long()
                self.wait_for_part()
                process.send_signal(number)
                self.assertEqual(process.wait(30), 128 + number)
                self.assertEqual(self.files(), ["big.npy"])

    def test_numbers_too_small_for_a_float64_are_zero(self):
        self.write("u.csv", b"1e-400,2e-324,1\n")
        self.assertEqual(self.run_tenon("eval", "x + 1e-400", "x=u.csv").stdout, "tensor([[0., 0., 1.]], dtype=torch.float64)\n")

    def test_ignored_signals_stay_ignored(self):
        for number in (signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                process = self.start_long(preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
                self.wait_for_part()
                process.send_signal(number)
                with self.assertRaises(subprocess.TimeoutExpired):
                    process.wait(0.5)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(30), 128 + signal.SIGTERM)
                self.assertEqual(self.files(), ["big.npy"])

    def test_one_ctrl_c_ends_a_reduction_of_a_huge_view(self):
        self.write("one.npy", npy("<f4", (1,), [1]))
        for expression in ("all(x.expand(600000000000))", "sum(x.expand(600000000000) + x)"):
            with self.subTest(expression):
                process = subprocess.Popen([TENON, "eval", expression, "x=one.npy"], cwd=self.folder)
                time.sleep(.5)
                begin = time.monotonic()
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(60), 130)
                self.assertLess(time.monotonic() - begin, 10)

    def test_progress_on_a_terminal(self):
        try:
            terminal, child = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(str(error))
        process = self.start_long(stderr=child)
        os.close(child)
        shown = os.read(terminal, 1 << 16).decode()  # waits for the first bar
        process.send_signal(signal.SIGINT)
        process.wait(30)
        os.close(terminal)
        self.assertIn("%", shown)

    def test_no_progress_without_a_terminal(self):
        process = self.start_long(stderr=subprocess.PIPE)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=30)[1], b"")


class LargerThanMemory(CliTest):
    """Sparse files, whose pages are read as zeros: data larger than memory goes through a few MB of it."""

    LIMIT = 512 << 20  # bytes of anonymous memory

    def sparse(self, name, descr, shape):
        content = npy(descr, shape, [])
        path = self.write(name, content)
        os.truncate(path, len(content) + shape[0] * shape[1] * int(descr[-1]))

    def evaluate(self, *arguments):
        """Standard output and standard error. Fails if the process takes more anonymous memory than the limit."""
        process = subprocess.Popen([TENON, "eval", *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        peak = 0
        while process.poll() is None:
            try:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                break
            peak = max([peak, *(int(kilobytes) << 10 for kilobytes in re.findall(r"RssAnon:\s*(\d+) kB", status))])
            time.sleep(0.01)
        out, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, errors)
        self.assertLess(peak, self.LIMIT, arguments)
        return out, errors

    def test_a_file_of_16_gb(self):
        self.sparse("big.npy", "<f4", (1 << 22, 1024))
        out, errors = self.evaluate("x=big.npy", "-o", "mean=x.mean()", "-o", "most=(x + 2).amax()", "-o", "deviation=x.std(0).sum()", "--time")
        self.assertEqual(out, "mean = tensor(0.)\nmost = tensor(2.)\ndeviation = tensor(0.)\n")
        self.assertIn("17.2 GB moved", errors)

    def test_normalised_halves(self):
        self.sparse("h.npy", "<f2", (1 << 20, 1024))
        out, errors = self.evaluate("sum((x - x.mean()) / (x.std() + 1) + 1, dtype=float64)", "x=h.npy", "--time")
        self.assertEqual(out, "tensor(1.0737e+09, dtype=torch.float64)\n")
        self.assertIn("2 passes, 4.29 GB moved", errors)
        out, _ = self.evaluate("((x - x.mean(1, keepdim=True)) * 2 + 3).logsumexp(1).amax()", "x=h.npy")
        self.assertEqual(out, "tensor(9.9297, dtype=torch.float16)\n")

    def test_an_output_of_1_gb_of_integers(self):
        self.sparse("i.npy", "<i4", (1 << 18, 1024))
        _, errors = self.evaluate("x + 7 - amax(x * 2)", "x=i.npy", "-o", "out.npy", "--time")
        self.assertIn("2 passes, 3.22 GB moved", errors)
        with open(self.folder / "out.npy", "rb") as file:
            self.assertEqual(file.seek(0, os.SEEK_END), 128 + (1 << 30))
            for place in (128, 1 << 29, (1 << 30) + 64):
                file.seek(place)
                self.assertEqual(struct.unpack("<16i", file.read(64)), (7,) * 16)

    def test_one_ctrl_c_ends_a_pass(self):
        self.sparse("big.npy", "<f4", (1 << 22, 1024))
        process = subprocess.Popen([TENON, "eval", "(x + 1).mean()", "x=big.npy"], cwd=self.folder, stderr=subprocess.PIPE)
        time.sleep(0.5)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.wait(60), process.communicate()[1]), (130, b""))
        self.assertLess(time.monotonic() - begin, 5)


class EveryOp(CliTest):
    """Operands are expressions over x, a float32 [3, 3]."""

    PLACES = "(x * 0).to(int64)"
    OPERANDS = ("x", "(x > 2)", PLACES, "x[0]", "x.unsqueeze(0)", "(x + 1j)")
    # Arguments by the parameter's name, or by its type and name.
    NAMED = {"Tensor index": (PLACES, PLACES + "[0]"), "indices": (PLACES,), "mask": ("(x > 2)",), "condition": ("(x > 2)",),
             "mat": ("x",), "batch1": ("x.unsqueeze(0)",), "batch2": ("x.unsqueeze(0)",), "vec": ("x[0]",), "vec2": ("x[0]",),
             "int p": ("2",), "Scalar p": ("2",), "str p": ("'fro'",), "str ord": ("'fro'",), "k": ("1",), "Tensor q": ("x[0] / 2",)}
    # Calls of ops whose operands differ.
    OWN = {"binary_cross_entropy": "binary_cross_entropy(x / 10, x / 10)", "bincount": "bincount(x[1].to(int64))",
           "cosine_embedding_loss": "cosine_embedding_loss(x, x, x[0])",
           "einsum": "einsum([x, x], 'ij,jk->ik')", "glu": "glu(cat([x, x], 1))", "masked_fill": "masked_fill(x, x > 2, sum(x))",
           "nll_loss": "nll_loss(x, (x * 0).to(int64)[0])", "prelu": "prelu(x, x[0])",
           "as_strided_scatter": "as_strided_scatter(x, x[0], [3], [1])", "channel_shuffle": "channel_shuffle(x.unsqueeze(0), 1)",
           "chunk": "chunk(x, 2)[0]", "constant_pad_nd": "constant_pad_nd(x, [1, 1])", "diagonal_scatter": "diagonal_scatter(x, x[0])",
           "dsplit": "dsplit(x.unsqueeze(0), 3)[0]", "expand_copy": "expand_copy(x, [2, 3, 3])", "group_norm": "group_norm(x, 3)", "hsplit": "hsplit(x, 3)[0]",
           "index_fill": "index_fill(x, 0, (x * 0).to(int64)[0], 1)", "index_reduce": "index_reduce(x, 0, (x * 0).to(int64)[0], x, 'amax')",
           "layer_norm": "layer_norm(x, [3])", "pad": "pad(x, [1, 1])", "permute_copy": "permute_copy(x, [1, 0])",
           "pixel_shuffle": "pixel_shuffle(x.unsqueeze(0), 1)", "pixel_unshuffle": "pixel_unshuffle(x.unsqueeze(0), 1)",
           "reflection_pad1d": "reflection_pad1d(x, [1, 1])", "reflection_pad2d": "reflection_pad2d(x.unsqueeze(0), [1, 1, 1, 1])",
           "reflection_pad3d": "reflection_pad3d(x.unsqueeze(0).unsqueeze(0), [0, 0, 1, 1, 0, 0])", "repeat": "repeat(x, [1, 2])",
           "_fft_c2c": "_fft_c2c(x + 1j, [0], 0, True)", "_fft_c2r": "_fft_c2r(x + 1j, [0], 0, 4)", "linalg_cholesky": "linalg_cholesky(x @ x.t() + eye(3))",
           "linalg_lu_solve": "linalg_lu_solve(x, (x[0] * 0 + 3).to(int32), x)", "linalg_solve_triangular": "linalg_solve_triangular(x, x, upper=True)",
           "histogram": "histogram(x, 3, range=[0, 1.5]).hist", "repeat_interleave": "repeat_interleave(x, 2)", "rms_norm": "rms_norm(x, [3])", "replication_pad1d": "replication_pad1d(x, [1, 1])",
           "replication_pad2d": "replication_pad2d(x.unsqueeze(0), [1, 1, 1, 1])",
           "replication_pad3d": "replication_pad3d(x.unsqueeze(0).unsqueeze(0), [0, 0, 1, 1, 0, 0])",
           "scatter_reduce": "scatter_reduce(x, 0, (x * 0).to(int64), x, 'amax')", "select_scatter": "select_scatter(x, x[0], 0, 0)",
           "split": "split(x, 2)[0]", "split_with_sizes": "split_with_sizes(x, [1, 2])[0]", "tensor_split": "tensor_split(x, 2)[0]",
           "bernoulli": "bernoulli(x / 10)", "index_put": "index_put(x, [(x * 0).to(int64)[0]], x)", "multinomial": "multinomial(x, 1)",
           "batch_norm": "batch_norm(x, x[0], x[1])", "embedding": "embedding((x * 0).to(int64), x)", "randint": "randint(3, [2])", "sum_to_size": "sum_to_size(x, [1, 3])", "unfold_copy": "unfold_copy(x, 0, 2, 1)", "view_copy": "view_copy(x, [9])", "vsplit": "vsplit(x, 3)[0]"}
    MORE = {"clamp": ", min=0", "clip": ", min=0"}  # one of the bounds is required
    OTHERS = {"int": "0", "int[]": "[0]", "int[1]": "0", "int[1]?": "0", "Scalar": "1", "float": "0.5", "bool": "False", "Tensor|Scalar": "x"}

    def setUp(self):
        super().setUp()
        self.write("x.npy", npy("<f4", (3, 3), [0.5, 1, 2, 3, 4, 5, 6, 7, 8]))

    def evaluates(self, call):
        done = subprocess.run([TENON, "eval", call, "x=x.npy"], capture_output=True, text=True, cwd=self.folder, timeout=60)
        return done.returncode == 0, done.stderr

    def calls(self, op, operand):
        """Calls with that operand for each parameter of type Tensor that has no name of its own."""
        if op["name"] in self.OWN:
            return [self.OWN[op["name"]]]
        required = [parameter for parameter in op["parameters"] if "default" not in parameter]
        lists = [[]]
        for parameter in required:
            named = self.NAMED.get(parameter["name"]) or self.NAMED.get(f"{parameter['type']} {parameter['name']}")
            if named:
                choices = named
            elif parameter["type"].startswith("Tensor"):
                choices = (f"[{operand}, {operand}]",) if parameter["type"] == "Tensor[]" else (operand,)
            else:
                choices = (self.OTHERS[parameter["type"]],)
            lists = [[*arguments, choice] for arguments in lists for choice in choices]
        results = "" if op["signature"].endswith("-> Tensor") else "[0]"
        return [f"{op['name']}({', '.join(arguments)}{self.MORE.get(op['name'], '')}){results}" for arguments in lists]

    def test_ops(self):
        """Each op that is listed can be called, with operands of some kind."""
        for op in json.loads(self.run_tenon("ops", "--json").stdout):
            if op["kind"] == "view" or any(parameter["name"] == "out_dtype" for parameter in op["parameters"]):
                continue  # test_views; PyTorch has no code for the others on the cpu
            with self.subTest(op["signature"]):
                failures = []
                for call in (call for operand in self.OPERANDS for call in self.calls(op, operand)):
                    works, text = self.evaluates(call)
                    failures.append(text)
                    if works:
                        break
                else:
                    self.fail("\n".join(failures))

    def test_views(self):
        """Each view that a C++ tensor has can be called; slice is written x[0:2]."""
        calls = {"expand": "x.expand(2, 3, 3)", "expand_as": "x[0].expand_as(x)", "broadcast_to": "x.broadcast_to(2, 3, 3)", "view": "x.view(9)",
                 "reshape": "x.reshape(9)", "unsqueeze": "x.unsqueeze(0)", "squeeze": "x.squeeze()", "transpose": "x.transpose(0, 1)", "t": "x.t()", "mT": "x.mT",
                 "permute": "x.permute(1, 0)", "movedim": "x.movedim(0, 1)", "select": "x.select(0, 1)", "narrow": "x.narrow(0, 1, 2)", "slice": "x[0:2]",
                 "flatten": "x.flatten()", "unflatten": "x.unflatten(0, (3, 1))", "as_strided": "x.as_strided((2, 2), (1, 2), 1)", "diagonal": "x.diagonal()",
                 "unfold": "x.unfold(0, 2, 1)", "index": "x[0]", "real": "real(x + 1j)", "imag": "imag(x + 1j)", "conj": "conj(x + 1j)",
                 "view_as_real": "view_as_real(x + 1j)", "view_as_complex": "view_as_complex(view_as_real(x + 1j))"}
        header = (ROOT / "include/tenon/tensor.h").read_text()
        views = header[header.index("// Views: no copy"):header.index("// Differentiation")]
        parts = header[header.index("// Complex numbers and their parts"):]
        declared = set(re.findall(r"^(?:TENON_API|  )?\s*Tensor (\w+)\(", views + parts[:parts.index("}")], re.MULTILINE)) - {"detach"}
        self.assertGreaterEqual(len(declared), 25)
        for name in declared:
            works, text = self.evaluates(calls[name])
            self.assertTrue(works, f"{name}: {text}")

    def test_listed_views(self):
        """Each view that is listed can be called by the names of its parameters, as a function and as a method."""
        values = {"int": "0", "int[]": "(3, 3)", "Tensor": "x", "ScalarType": "int32"}
        own = {"permute": "dims=(1, 0)", "squeeze": "dim=0", "movedim": "source=0, destination=1", "moveaxis": "source=0, destination=1", "narrow": "dim=0, start=1, length=2",
               "as_strided": "stride=(1, 1), size=(2, 2)", "unflatten": "sizes=(3, 1), dim=0", "unfold": "dimension=0, size=2, step=1"}
        for view in json.loads(self.run_tenon("ops", "--json").stdout):
            if view["kind"] != "view":
                continue
            required = [parameter for parameter in view["parameters"][1:] if "default" not in parameter]
            arguments = own.get(view["name"]) or ", ".join(f"{parameter['name']}={values[parameter['type']]}" for parameter in required)
            operand = {"imag": "(x + 1j)", "view_as_real": "(x + 1j)", "view_as_complex": "view_as_real(x + 1j)"}.get(view["name"], "x")
            for call in (f"{view['name']}({operand}{', ' * bool(arguments)}{arguments})", f"{operand}.{view['name']}({arguments})"):
                works, text = self.evaluates(call)
                self.assertTrue(works, f"{call}: {text}")
        for call, want in (("diagonal(x, dim2=0, dim1=1)[1]", "x[1, 1]"), ("x.flatten(end_dim=-1)[4]", "x[1, 1]"),
                           ("adjoint(x + 1j)[0, 1]", "conj(x[1, 0] + 1j)"), ("positive(x)[2, 1]", "x[2, 1]"), ("x.T.ravel()[1]", "x[1, 0]")):
            self.assertEqual(self.run_tenon("eval", call, "x=x.npy").stdout, self.run_tenon("eval", want, "x=x.npy").stdout, call)
        for call, words in (("x.flatten(first=1)", "flatten(start_dim=0, end_dim=-1), without 'first'"), ("x.transpose(dim1=0)", "transpose() misses the argument 'dim0'"),
                            ("x.transpose(0, dim0=1)", "the call is transpose(dim0, dim1)"), ("x[0].adjoint()", "Got 1-D tensor"), ("positive(x > 1)", "on a bool tensor")):
            self.assertIn(words, self.run_tenon("eval", call, "x=x.npy", code=1).stderr)

    def test_lists_without_brackets(self):
        for call, want in (("x.repeat(2, 1)", "x.repeat((2, 1))"), ("flip(x, 0, 1)", "flip(x, (0, 1))"), ("tile(x, 2, 1, 2)", "tile(x, (2, 1, 2))"),
                           ("permute_copy(x, 1, 0)", "permute_copy(x, (1, 0))")):
            self.assertEqual(self.run_tenon("eval", call, "x=x.npy").stdout, self.run_tenon("eval", want, "x=x.npy").stdout, call)
        self.assertIn("an integer is expected", self.run_tenon("eval", "x.repeat(2, x)", "x=x.npy", code=1).stderr)
        self.assertIn("at most 2 positional arguments", self.run_tenon("eval", "diag(x, 0, 1)", "x=x.npy", code=1).stderr)

    def test_whole_tensors_are_compared(self):
        for call, want in (("equal(x, x)", "tensor(True)"), ("x.equal(x + 1)", "tensor(False)"), ("equal(x, x[0])", "False"), ("allclose(x, x + 1e-9)", "tensor(True)"),
                           ("x.allclose(x + 0.1, rtol=0, atol=0.05)", "tensor(False)"), ("allclose(x, x + 0.1, atol=0.2)", "tensor(True)")):
            self.assertEqual(self.run_tenon("eval", call, "x=x.npy").stdout, want + "\n", call)
        self.assertEqual(self.run_tenon("eval", "x.softmin(dim=1)", "x=x.npy").stdout, self.run_tenon("eval", "softmax(0 - x, 1)", "x=x.npy").stdout)
        self.assertIn("misses the argument 'other'", self.run_tenon("eval", "allclose(x)", "x=x.npy", code=1).stderr)

    def test_factories(self):
        for call, want in (("zeros(2, 3)", "tensor([[0., 0., 0.],\n        [0., 0., 0.]])"), ("ones((2,), dtype=int64)", "tensor([1, 1])"), ("full((2,), 7)", "tensor([7, 7])"),
                           ("arange(3)", "tensor([0, 1, 2])"), ("arange(1, 2, 0.5)", "tensor([1.0000, 1.5000])"), ("linspace(0, 1, 3)", "tensor([0.0000, 0.5000, 1.0000])"),
                           ("logspace(0, 2, 3)", "tensor([  1.,  10., 100.])"), ("eye(2)", "tensor([[1., 0.],\n        [0., 1.]])"), ("eye(1, 3)", "tensor([[1., 0., 0.]])"),
                           ("tensor([[1, 2], [3, 4]])", "tensor([[1, 2],\n        [3, 4]])"), ("tensor([1, 2.5])", "tensor([1.0000, 2.5000])"), ("tensor(3, dtype=float64)", "tensor(3., dtype=torch.float64)"),
                           ("full_like(x[0], 2, dtype=int32)", "tensor([2, 2, 2], dtype=torch.int32)"), ("zeros(x.shape[:1])", "tensor([0., 0., 0.])"), ("tril_indices(2, 2)", "tensor([[0, 1, 1],\n        [0, 0, 1]])"),
                           ("ones_like(x)[0] + x.numel() + x.dim() + x.shape[-1] + x.size(0)", "tensor([18., 18., 18.])"), ("hann_window(2)", "tensor([0., 1.])")):
            self.assertEqual(self.run_tenon("eval", call, "x=x.npy").stdout, want + "\n", call)
        for call, words in (("zeros(-1)", "zeros: Dimension size must be non-negative."), ("arange(1, 0)", "upper bound and lower bound inconsistent with step sign"),
                            ("tensor([[1], [2, 3]])", "expected sequence of length 1 at dim 1 (got 2)"), ("zeros()", "zeros() misses the argument 'size'"), ("tensor(x)", "a number is expected")):
            self.assertIn(words, self.run_tenon("eval", call, "x=x.npy", code=1).stderr)

    def test_random_numbers_are_those_of_a_seed(self):
        """The numbers of torch.manual_seed(0); a name stands for one tensor, a call for new numbers."""
        for call, want in (("rand(3)", "tensor([0.4963, 0.7682, 0.0885])"), ("randn(3)", "tensor([ 1.5410, -0.2934, -2.1788])"), ("randint(10, (4,))", "tensor([4, 9, 3, 0])"), ("randperm(4)", "tensor([0, 1, 3, 2])"),
                           ("(rand(3) == rand(3)).any()", "tensor(False)"), ("bernoulli(ones(2))", "tensor([1., 1.])")):
            self.assertEqual(self.run_tenon("eval", call, "--seed", "0").stdout, want + "\n", call)
        self.assertNotEqual(self.run_tenon("eval", "rand(3)").stdout, self.run_tenon("eval", "rand(3)").stdout)

    def test_indexing(self):
        for call, want in (("x[[2, 0], 1]", "tensor([7., 1.])"), ("x[x > 6]", "tensor([7., 8.])"), ("x[tensor([0, 1])][:, [True, False, True]]", None), ("x[..., 0]", "tensor([0.5000, 3.0000, 6.0000])"),
                           ("x[None, 1, ::2]", "tensor([[3., 5.]])"), ("x[1][tensor([2, 2])]", "tensor([5., 5.])"), ("x[arange(3), arange(3)]", "tensor([0.5000, 4.0000, 8.0000])"),
                           ("x[x > 9].numel()", "0"), ("x[True].shape", "torch.Size([1, 3, 3])"), ("broadcast_tensors(x, x[0])[1].shape", "torch.Size([3, 3])")):
            if want is not None:
                self.assertEqual(self.run_tenon("eval", call, "x=x.npy").stdout, want + "\n", call)
        for call, words in (("x[[3]]", "index 3 is out of bounds for dimension 0 with size 3"), ("x[x[0] > 0, 0, 0]", "too many indices"), ("x['a']", "a tensor or a number is expected")):
            self.assertIn(words, self.run_tenon("eval", call, "x=x.npy", code=1).stderr)
        self.assertIn("indexing a meta tensor with tensors is not supported", self.run_tenon("explain", "x[x > 1]", "x=3", code=1).stderr)

    def test_composed_functions(self):
        for call, want in (("normalize(tensor([[3., 4.]]))", "tensor([[0.6000, 0.8000]])"), ("softmin(x, 1)", "softmax(-x, 1)"), ("broadcast_shapes((5, 1), (3,), 1)", "torch.Size([5, 3])"),
                           ("sum_to_size(x, (1, 3))", "x.sum(0, keepdim=True)"), ("x.sum_to_size(3)", "x.sum(0)"), ("chain_matmul(x, x, x)", "linalg.multi_dot([x, x, x])"),
                           ("index_put(zeros(4), [tensor([1, 1])], tensor([5., 6.]), accumulate=True)", "tensor([0., 11., 0., 0.])"), ("embedding(tensor([[2, 0]]), x)", "x[[2, 0]].unsqueeze(0)"),
                           ("batch_norm(x, None, None, training=True)", "(x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt()"), ("batch_norm(x, x[0], x[1], x[2], x[0])", "(x - x[0]) / (x[1] + 1e-5).sqrt() * x[2] + x[0]"),
                           ("scaled_dot_product_attention(x, x, x)", "softmax(x @ x.T / 3 ** 0.5, -1) @ x"), ("scaled_dot_product_attention(x, x, x, is_causal=True)[0]", "x[0]"),
                           ("x.float() + x.double() * 0", "x.double()"), ("x.type_as(arange(2))", "x.long()"), ("clone(x)", "x"), ("x.dtype", "torch.float32")):
            wanted = self.run_tenon("eval", want, "x=x.npy").stdout if not want.startswith("torch.") else want + "\n"
            self.assertEqual(self.run_tenon("eval", call, "x=x.npy").stdout, wanted, call)
        for call, words in (("chain_matmul(x[0], x)", "Tensor dimension is 1, expected 2 instead."), ("normalize(x, dim=5)", "Dimension out of range"), ("normalize(x, 2, 1, 0, 1)", "at most 4 positional arguments"),
                            ("batch_norm(x, None, None)", "running_mean must be defined in evaluation mode"), ("batch_norm(x, x[0, :2], x[0])", "running_mean should contain 3 elements not 2"),
                            ("embedding(x, x)", "to have one of the following scalar types: Long, Int; but got torch.FloatTensor instead"), ("scaled_dot_product_attention(x[0], x, x)", "at least 2 dimensional, but got query.dim: 1 key.dim: 2"),
                            ("scaled_dot_product_attention(x, x.double(), x)", "but got query.dtype: float key.dtype: double and value.dtype: float instead."), ("broadcast_shapes((2,), (3,))", "Attempting to broadcast a dimension of length 3 at -1!")):
            done = self.run_tenon("eval", call, "x=x.npy", code=1)
            self.assertIn(words, done.stderr)
            self.assertIn("  " + call + "\n  ", done.stderr)  # the place is that of the call

    def test_einsum_in_the_order_of_pytorch(self):
        want = self.run_tenon("eval", "einsum([x, x], 'ij,jk->ik')", "x=x.npy").stdout
        for call in ("einsum('ij,jk->ik', [x, x])", "einsum('ij,jk->ik', x, x)"):
            self.assertEqual(self.run_tenon("eval", call, "x=x.npy").stdout, want, call)
        self.assertIn("a list of tensors is expected", self.run_tenon("eval", "einsum('ij->ji', 'x')", "x=x.npy", code=1).stderr)

    def test_complex_numbers(self):
        for expression, want in (("2j", "2j"), ("1+2j", "(1+2j)"), ("-2j", "(-0-2j)"), ("(1+2j)*(3-1j)", "(5+5j)"), ("1j*1j", "(-1+0j)"), ("1.5e1J", "15j"),
                                 ("2j/2", "1j"), ("1j == 1j", "True"), ("conj(x[0] * 2j)", "tensor([0.-1.j, 0.-2.j, 0.-4.j])"),
                                 ("x[0, :2] + (1+2j)", "tensor([1.5000+2.j, 2.0000+2.j])")):
            self.assertEqual(self.run_tenon("eval", expression, "x=x.npy").stdout, want + "\n", expression)
        for expression, words in (("1j < 2", "no order"), ("2jx", "not a number"), ("1j / 0", "division by zero"), ("x * 2j + y", "unknown name"),
                                  ("x.select(1j, 0)", "an integer is expected, not a complex number")):
            self.assertIn(words, self.run_tenon("eval", expression, "x=x.npy", code=1).stderr)


class Streams(CliTest):
    """Pipes, standard input and output, full disks, and files that change while they are read."""

    def shell(self, command, code=0, text=True, **kwargs):
        command = re.sub(r"(?<![^ (;|])tenon(?= |$)", f"'{TENON}'", command)  # not where a path holds the word
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=text, cwd=self.folder, timeout=120, **kwargs)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done

    def setUp(self):
        super().setUp()
        self.write("a.npy", npy("<f4", (3,), [1, 2, 3]))

    def test_input_may_be_a_stream_of_any_format(self):
        self.run_tenon("eval", "x.reshape(1, 3).expand(2, 3) / 4", "x=a.npy", "-o", "a.png")
        self.write("a.csv", b"1,2,3\n")
        for command, shape in (("cat a.npy | tenon eval x x=-", "[3]"), ("cat a.npy | tenon eval x x=/dev/stdin", "[3]"),
                               ("tenon eval x x=<(cat a.npy)", "[3]"), ("tenon eval x x=- < a.npy", "[3]"), ("cat a.csv | tenon eval x x=-", "[1,3]"),
                               ("gzip -c a.csv | tenon eval x x=-", "[1,3]"), ("cat a.png | tenon eval x x=-", "[2,3]")):
            with self.subTest(command):
                report = json.loads(self.shell(command.replace("eval x", "explain --json x")).stdout)
                self.assertEqual(report["steps"][0]["result"], json.loads(shape))
                self.assertIn("tensor([", self.shell(command).stdout)

    def test_output_may_be_standard_output(self):
        self.assertEqual(self.shell("tenon eval 'x + 1' x=a.npy -o - | tenon eval x x=-").stdout, "tensor([2., 3., 4.])\n")
        self.assertEqual(self.shell("tenon eval 'x + 1' x=a.npy -o /dev/stdout | tenon eval x x=-").stdout, "tensor([2., 3., 4.])\n")
        self.assertTrue(xml.etree.ElementTree.fromstring(self.shell("tenon explain 5,1 3 --svg -").stdout).tag.endswith("svg"))
        self.assertEqual(self.files(), ["a.npy"])
        self.run_tenon("explain", "5", "--svg", "-", "--json", code=2)
        self.run_tenon("eval", "x", "x=a.npy", "--grad", "x", "-o", "-", code=2)

    def test_a_full_or_closed_output_is_an_error(self):
        for command in ("tenon eval x x=a.npy", "tenon explain 5,1 3", "tenon explain --json 5,1 3", "tenon info", "tenon info --json",
                        "tenon explain --svg - 5", "tenon eval x x=a.npy -o -"):
            self.assertIn("No space left on device", self.shell(command + " > /dev/full", code=1).stderr, command)
            self.assertIn("Bad file descriptor", self.shell(command + " >&-", code=1).stderr, command)
        self.shell("tenon eval x x=a.npy -o b.npy >&- 2>&- <&-")
        self.assertEqual((self.folder / "b.npy").read_bytes()[-12:], struct.pack("<3f", 1, 2, 3))
        self.assertIn("No space left", self.shell("tenon eval x x=a.npy -o /dev/full", code=1).stderr)

    def test_a_file_over_the_size_limit_leaves_nothing(self):
        for command in ("tenon eval 'x.reshape(3, 1).expand(3, 100000) + 1' x=a.npy -o out.npy",
                        f"tenon eval x x={ROOT / 'data/raccoon.png'} -o out.png",
                        "tenon explain 'x + x + x + x + x + x + x + x + x + x + x' x=5 --svg out.svg"):
            self.assertIn("File too large", self.shell(f"ulimit -f 1; {command}", code=1).stderr)
            self.assertEqual(self.files(), ["a.npy"], command)

    def test_permissions_are_kept(self):
        self.write("b.npy", b"")
        os.chmod(self.folder / "b.npy", 0o600)
        self.run_tenon("eval", "x", "x=a.npy", "-o", "b.npy")
        self.assertEqual((self.folder / "b.npy").stat().st_mode & 0o777, 0o600)

    def test_short_and_interrupted_reads_and_writes_change_nothing(self):
        library = os.environ.get("TENON_SHORT_IO")
        if not library:
            self.skipTest("TENON_SHORT_IO names no library")
        environment = dict(os.environ, LD_PRELOAD=library)
        self.shell("tenon eval 'x.reshape(3, 1).expand(3, 999) / 3' x=a.npy -o plain.png; tenon eval 'x * 2' x=a.npy -o plain.npy; tenon explain 5,1 3 --svg plain.svg")
        self.shell("tenon eval 'x.reshape(3, 1).expand(3, 999) / 3' x=a.npy -o short.png; cat a.npy | tenon eval 'x * 2' x=- -o - > short.npy;"
                   "tenon explain 5,1 3 --svg short.svg", env=environment)
        for ending in ("png", "npy", "svg"):
            self.assertEqual((self.folder / f"short.{ending}").read_bytes(), (self.folder / f"plain.{ending}").read_bytes(), ending)

    def test_ctrl_c_ends_the_wait_for_a_pipe(self):
        os.mkfifo(self.folder / "p.npy")
        process = subprocess.Popen([TENON, "eval", "x", "x=p.npy"], cwd=self.folder, stderr=subprocess.PIPE)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.wait(5), process.communicate()[1]), (130, b""))

    def test_a_file_cut_while_it_is_mapped_ends_with_an_error(self):
        process = self.start_long(rows=1 << 17, stderr=subprocess.PIPE)
        self.wait_for_part()
        os.truncate(self.folder / "big.npy", 4096)
        self.assertIn(b"has become shorter", process.communicate(timeout=60)[1])
        self.assertEqual((process.returncode, self.files()), (1, ["a.npy", "big.npy"]))


class Texts(CliTest):
    """Bytes from files and arguments in messages, JSON and SVG; notations of shapes."""

    def test_control_characters_are_escaped(self):
        self.write("esc.csv", b"1,\x1b]0;PWNED\x07\x1b[31mred\n")
        self.write("c1.csv", "1,\x9b31m\n".encode())
        self.write("raw.csv", b"1,\xff\xfe\n")
        for name, words in (("esc.csv", r"'\x1b]0;PWNED\x07\x1b[31mred' is not a number"), ("c1.csv", r"'\xc2\x9b31m'"), ("raw.csv", r"'\xff\xfe'")):
            self.assertIn(words, self.run_tenon("eval", "x", f"x={name}", code=1).stderr)
        for arguments in (["eval", "'\x1b[31m'"], ["eval", "x\x1b"], ["explain", "f32[3] + '\x1b'"], ["eval", "x", "x=\x1b.npy"], ["\x1b"], ["explain", "5", "--\x1b"]):
            done = subprocess.run([TENON, *arguments], capture_output=True, cwd=self.folder, timeout=60)
            self.assertNotIn(b"\x1b", done.stdout + done.stderr, arguments)
            self.assertIn(b"\\x1b", done.stdout + done.stderr, arguments)

    def test_svg_of_any_bytes_is_xml(self):
        for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbf\xbf", b"\x01\x1b", b"\xf5\x80\x80\x80", b"<&\"'>", b"\xc2\x85", b"\xf0\x9f\xa6\x9d"):
            subprocess.run([TENON, "explain", b"f32[3] + '" + bad + b"'", "--svg", "bad.svg"], cwd=self.folder, capture_output=True, timeout=60)
            xml.etree.ElementTree.parse(self.folder / "bad.svg")

    def test_errors_are_json(self):
        for arguments, code, words in ((["x", "x=nofile.npy"], 1, "nofile.npy"), (["x", "x=oops"], 1, "unknown name"), (["x=5"], 2, "expected"),
                                       (["5", "--bogus"], 2, "--bogus"), ([], 2, "required"), (["5", "--svg", "no/folder.svg"], 1, "No such file")):
            done = self.run_tenon("explain", "--json", *arguments, code=code)
            self.assertIn(words, json.loads(done.stdout)["error"]["text"])
            self.assertEqual(done.stderr, "")

    def test_bytes_beyond_64_bits(self):
        for count in (2, 3):
            expression = "+".join(["f64[1000000000000000000,1]", "f64[1,1000000000000000000,1]", "f64[1,1,1000000000000000000,1]"][:count])
            report = json.loads(self.run_tenon("explain", "--json", expression).stdout)
            self.assertEqual(int(report["steps"][0]["bytes_read"]), count * 8 * 10**18)
        self.assertIn("reads 24.0 EB", self.run_tenon("explain", expression).stdout)

    def test_notations_of_shapes(self):
        for arguments, want in ((["[5,3,4,1]", "[3,1,1]"], [5, 3, 4, 1]), (["5,1 1,3"], [5, 3]), (["(5, 3) (3,)"], [5, 3]), (["[5, 3], [3]"], [5, 3]),
                                (["5 1"], [5]), (["5 ,1", "3"], [5, 3]), (["()", "[]"], []), (["4,3:1,4 3"], [4, 3]), (["4,3 : 1,4"], [4, 3]), (["x", "x=[5, 3]"], [5, 3])):
            report = json.loads(self.run_tenon("explain", "--json", *arguments).stdout)
            self.assertEqual(report["steps"][0]["result"], want, arguments)
        for arguments in (["5 3"], ["[5 3]"], ["5,,3"], ["[5,3] + [3]"], ["(5"], ["5)"], ["[5,3](3)"], ["5,-1"]):
            self.run_tenon("explain", *arguments, code=1)
        self.assertIn("several shapes", self.run_tenon("explain", "x", "x=5,1 3,1", code=2).stderr)

    def test_misspelt_commands(self):
        self.assertIn("there is no command 'evl'; did you mean eval?", self.run_tenon("evl", "1", code=2).stderr)
        self.assertIn("there is no command 'bogus'\n", self.run_tenon("--broadcast-policy", "allow", "bogus", code=2).stderr)

    def test_pictures_of_large_floats(self):
        self.write("a.npy", npy("<f4", (2, 2), [0, 100, 200, 255]))
        done = self.run_tenon("eval", "x", "x=a.npy", "-o", "white.png", code=1)
        self.assertIn("the tensor holds 0 to 255", done.stderr)
        self.assertIn(".to(uint8)", done.stderr)
        self.run_tenon("eval", "x.to(uint8)", "x=a.npy", "-o", "right.png")
        self.assertIn("[[  0, 100],\n        [200, 255]]", self.run_tenon("eval", "x", "x=right.png").stdout)
        self.assertEqual(self.files(), ["a.npy", "right.png"])


class InfoAndDemo(CliTest):
    def test_info(self):
        report = json.loads(self.run_tenon("info", "--json").stdout)
        self.assertGreaterEqual(report["threads"], 1)
        self.assertIn(report["instruction_set"], report["compiled_instruction_sets"])
        self.assertIn("threads", self.run_tenon("info").stdout)

    def test_ops(self):
        self.assertEqual(self.run_tenon("ops", "lt").stdout,
                         "lt(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor\n  Whether input is less than other.\n")
        self.assertIn("expand(Tensor self, int[] size, *, bool implicit=False) -> Tensor\n", self.run_tenon("ops", "expand").stdout)
        listed = json.loads(self.run_tenon("ops", "--json").stdout)
        unsqueeze = next(op for op in listed if op["name"] == "unsqueeze")
        self.assertEqual((unsqueeze["kind"], unsqueeze["method"], unsqueeze["inplace"], unsqueeze["out"]), ("view", True, True, False))
        self.assertEqual([op["name"] for op in listed], sorted(op["name"] for op in listed))
        add = next(op for op in listed if op["name"] == "add")
        self.assertEqual(add["parameters"][2], {"name": "alpha", "type": "Scalar", "keyword_only": True, "default": "1"})
        for op in listed:  # every listed op can be called
            self.assertIn(op["signature"].split("(")[0], self.run_tenon("ops", op["name"]).stdout)
        wrong = self.run_tenon("ops", "summ", code=1)
        self.assertIn("there is no op 'summ'", wrong.stderr)
        self.assertIn("did you mean sum?", wrong.stderr)
        self.assertIn("did you mean transpose?", self.run_tenon("ops", "transpos", code=1).stderr)

    def test_ops_of_the_specification(self):
        """Every elementwise op of the specification; expressions have no forms that write in place (copy_, fill_)."""
        table = pathlib.Path(os.environ.get("TENON_SPEC", ROOT.parent / "shared/spec")) / "ops.csv"
        if not table.exists() and "TENON_SPEC" not in os.environ:
            self.skipTest("the specification is not beside this checkout")
        with open(table, encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] in ("binary", "ternary", "unary", "other")]
        wanted = {row["name"].split("[")[0] for row in rows if not row["name"].endswith("_")}
        wanted |= {alias for row in rows for alias in row["aliases"].split()}
        listed = {op["name"] for op in json.loads(self.run_tenon("ops", "--json").stdout)}
        known = {name.split(".")[-1] for name in wanted if {name, name.split(".")[-1], "special_" + name.split(".")[-1]} & listed}
        self.assertGreater(len(wanted), 170)
        self.assertEqual({name for name in wanted if name.split(".")[-1] not in known}, {"to"})
        self.assertIn("float64", self.run_tenon("eval", "ones([2]).to(float64)").stdout)  # the grammar's own

    def test_demo(self):
        shown = self.run_tenon("demo", "--data", ROOT / "data", "--out", self.folder / "new/out").stdout
        for line in ("torch.Size([5, 3, 4, 1])", "torch.Size([3, 1, 7])", "torch.Size([4, 4])",
                     "RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1",
                     "RuntimeError: The expanded size of the tensor (1) must match the existing size (7) at non-singleton dimension 2.",
                     "Changing behavior in a backwards incompatible manner to broadcasting rather than viewing as 1-dimensional.",
                     "mean: tensor([0.4340, 0.4617, 0.4003])", "std: tensor([0.2161, 0.2213, 0.2345])"):
            self.assertIn(line, shown)
        for name in ("before.png", "after.png"):
            self.assertEqual(png_size(self.folder / "new/out" / name), (1024, 768, 3))
        read = re.search(r"read rightly: ([0-9.]+) % of the held-out digits", shown)
        self.assertGreaterEqual(float(read.group(1)), 95)
        self.assertEqual(png_size(self.folder / "new/out/loss.png"), (480, 160, 1))
        self.assertTrue((self.folder / "new/out/misread.png").exists())


class ManualAndCompletions(CliTest):
    def commands(self):
        return re.findall(r"^  ([a-z]+) ", self.run_tenon("--help").stdout.split("Subcommands:")[1], re.MULTILINE)

    def test_manual(self):
        page = self.run_tenon("man").stdout
        for command in self.commands():
            self.assertIn(f".SS \\fBtenon {command}\\fR\n", page)
        for option in ("\\-o", "\\-\\-output", "\\-\\-memory\\-budget", "\\-\\-broadcast\\-policy", "\\-\\-svg"):
            self.assertIn(option, page)
        self.assertIn("tenon explain 'f32[4096,3] + f32[3]'", page)
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-"], input=page, capture_output=True, text=True, env=os.environ | {"MANWIDTH": "100"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("EXIT STATUS", done.stdout)

    def bash_completes(self, *words):
        """What bash offers for the last word."""
        self.write("script", self.run_tenon("completions", "bash").stdout.encode())
        command = f"""source ./script; COMP_WORDS=({' '.join(shlex.quote(word) for word in words)}); COMP_CWORD={len(words) - 1}
                   _tenon; printf '%s\\n' "${{COMPREPLY[@]}}"; complete -p tenon >&2"""
        done = subprocess.run(["bash", "--norc", "-c", command], cwd=self.folder, capture_output=True, text=True, env=os.environ | {"PATH": f"{TENON.parent}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stderr), (0, "complete -o bashdefault -o default -F _tenon tenon\n"))
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(sorted(self.bash_completes("tenon", "")), sorted(self.commands()))
        self.assertEqual(self.bash_completes("tenon", "ex"), ["explain"])
        self.assertEqual(sorted(self.bash_completes("tenon", "eval", "x", "--b")), ["--block-bytes", "--broadcast-policy"])
        self.assertEqual(self.bash_completes("tenon", "completions", ""), ["bash", "zsh", "fish"])
        self.assertIn("logsumexp", self.bash_completes("tenon", "ops", "logs"))
        self.assertEqual(self.bash_completes("tenon", "eval", "x", "-o", ""), [])  # bash's own file names follow
        self.assertEqual(self.bash_completes("tenon", "eval", "x", "x", "="), [])

    def test_every_option_is_in_every_script(self):
        scripts = {shell: self.run_tenon("completions", shell).stdout for shell in ("bash", "zsh", "fish")}
        for command in self.commands():
            for option in re.findall(r"--([a-z-]+)", self.run_tenon(command, "--help").stdout.split("Options:")[1].split("Examples:")[0]):
                for shell, script in scripts.items():
                    self.assertIn(f"-l {option}" if shell == "fish" else f"--{option}", script, f"{shell}: tenon {command}")
        for shell, script in scripts.items():
            self.write(shell, script.encode())
            if shutil.which(shell):
                subprocess.run([shell, "-n", self.folder / shell], check=True)
        self.assertIn("shell: bashh not in", self.run_tenon("completions", "bashh", code=2).stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        TENON = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
