"""Requests to the program tenon-oracle: numbers, storages and views in JSON; and the process that answers them."""
import json
import math
import subprocess

import torch

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
          torch.complex64, torch.complex128]
NAMES = {dtype: str(dtype).removeprefix("torch.") for dtype in DTYPES}
BY_NAME = {name: dtype for dtype, name in NAMES.items()}


def number_json(value):
    if isinstance(value, bool):
        return {"number": value, "kind": "bool"}
    if isinstance(value, int):
        return {"number": value, "kind": "int"}
    if isinstance(value, complex):
        return {"number": [value.real, value.imag], "kind": "complex"}
    return {"number": value.hex() if math.isfinite(value) else str(value), "kind": "float"}


def number_of(operand):
    if operand["kind"] == "complex":
        return complex(*operand["number"])
    return float.fromhex(operand["number"]) if operand["kind"] == "float" else operand["number"]


def bytes_of(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def tensor_of(result):
    dtype = BY_NAME[result["dtype"]]
    data = bytearray.fromhex(result["bytes"])
    flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    return flat.reshape(result["shape"])


def open_storages(request):
    return [torch.frombuffer(bytearray.fromhex(storage["bytes"]), dtype=BY_NAME[storage["dtype"]]).clone()
            if storage["bytes"] else torch.empty(0, dtype=BY_NAME[storage["dtype"]]) for storage in request["storages"]]


def view_of(operand, storages):
    return torch.as_strided(storages[operand["storage"]], operand["shape"], operand["strides"], operand["offset"])


def operands_of(request, storages):
    return [view_of(operand, storages) if "storage" in operand else number_of(operand) for operand in request["args"]]


def shares(request):
    """Whether two operands share a storage."""
    used = [operand["storage"] for operand in request["args"] if "storage" in operand]
    return len(used) != len(set(used))


class Oracle:
    def __init__(self, path):
        self.path = path
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request):
        """The answer; {"crash": exit code} if the process ended, which is then started again."""
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self.process.wait()
            self.start()
            return {"crash": code}
        return json.loads(line)
