#!/usr/bin/env python3
"""Compares random graphs in PyTorch and in Tenon: gradients, their strides and dtypes, names of nodes, error texts.

A graph has 1 to 4 leaves of float32 or float64 and 1 to 20 steps: ops on any earlier values, views, reductions, writes in
place and through views. It depends only on (seed, number). Steps that PyTorch refuses are left out; an error of backward
(a saved tensor was changed) must have the same text. The last line is "N passed, N failed".

    gradients.py --oracle build/release/tenon-oracle --cases 5000
    gradients.py --oracle ... --seed 7 --only 1234     repeats one graph and prints its request
    gradients.py --oracle ... --self-test              shows that wrong answers are found
"""
import argparse
import collections
import json
import random
import re
import sys
import warnings

import torch

from request import BY_NAME, NAMES, Oracle, bytes_of, tensor_of

SIZES = [1, 1, 2, 3, 3, 4]
UNARY = ["neg", "abs", "exp", "tanh", "tanh", "square", "sqrt", "reciprocal", "log", "sigmoid"]
BINARY = ["add", "sub", "mul", "mul", "div", "pow", "maximum", "minimum"]
REDUCTIONS = ["sum", "mean", "amax", "amin"]
VIEWS = ["expand", "reshape", "permute", "squeeze", "unsqueeze", "transpose", "t", "select", "slice", "diagonal", "unfold"]
OTHER = ["add_number", "mul_number", "pow_number", "add_alpha", "clamp", "where", "clone", "contiguous", "detach", "float64", "float32",
         "mm", "sum_to_size", "zeros", "cat", "stack"]
IN_PLACE = ["tanh_", "neg_", "square_", "exp_", "add_", "sub_", "mul_", "div_", "pow_", "sigmoid_", "maximum_", "mul_number_", "sub_alpha_",
            "clamp_min_", "copy_", "fill_", "zero_"]


def described(tensor):
    return {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "bytes": bytes_of(tensor.detach().reshape(-1)).hex()}


def perform(step, values):
    """The result of a step in PyTorch."""
    op, numbers = step["op"], step.get("numbers", [])
    operands = [values[i] for i in step["in"]]
    a = operands[0]
    if op in ("maximum_",) or (op in ("slice", "select") and not numbers):
        raise RuntimeError("PyTorch has no such form")
    if op in UNARY or op in BINARY or op == "mm":
        return getattr(torch, op)(*operands)
    if op in REDUCTIONS:
        # Without the argument the node has another name than with an empty list.
        return getattr(torch, op)(a) if step["dims"] is None else getattr(torch, op)(a, step["dims"], step["keepdim"])
    if op == "add_number":
        return a + numbers[0]
    if op in ("mul_number", "mul_number_"):
        return a * numbers[0] if op == "mul_number" else a.mul_(numbers[0])
    if op == "pow_number":
        return a ** numbers[0]
    if op == "add_alpha":
        return torch.add(*operands, alpha=numbers[0])
    if op == "sub_alpha_":
        return a.sub_(operands[1], alpha=numbers[0])
    if op == "clamp":
        return a.clamp(numbers[0], numbers[1])
    if op == "clamp_min_":
        return a.clamp_(min=numbers[0])
    if op == "where":
        return torch.where(a > numbers[0], operands[1], operands[2])
    if op == "fill_":
        return a.fill_(numbers[0])
    if op == "zeros":
        return torch.zeros(step["dims"], dtype=a.dtype)
    if op in ("float32", "float64"):
        return a.to(BY_NAME[op])
    if op in ("cat", "stack"):
        return getattr(torch, op)(operands, numbers[0])
    if op == "slice":
        return torch.ops.aten.slice.Tensor(a, *numbers)
    if op in ("expand", "reshape", "permute", "sum_to_size"):
        return getattr(a, op)(step["dims"])
    return getattr(a, op)(*operands[1:], *numbers)


def is_tame(tensor):
    """Whether all values are finite and moderate, so that rounding does not decide later results."""
    if tensor.numel() == 0:
        return True
    plain = tensor.detach().abs()
    return bool(torch.isfinite(plain).all()) and float(plain.max()) < 1e3


def overlaps_itself(tensor):
    offsets = sum((torch.arange(size) * stride).reshape([-1] + [1] * (tensor.dim() - 1 - dim)) for dim, (size, stride) in enumerate(zip(tensor.shape, tensor.stride())))
    return torch.as_tensor(offsets).unique().numel() < tensor.numel()


class Graph:
    """Makes a random graph and runs it in PyTorch step by step."""

    def __init__(self, seed, number):
        self.rng = random.Random(f"{seed}:{number}")
        self.generator = torch.Generator().manual_seed(self.rng.getrandbits(60))
        self.dtype = self.rng.choice([torch.float32, torch.float64])
        self.values, self.steps = [], []
        shape = [self.rng.choice(SIZES) for _ in range(self.rng.randint(0, 4))]
        for _ in range(self.rng.randint(1, 4)):
            self.values.append(self.random(self.narrowed(shape)).requires_grad_())
        self.leaves = [leaf.detach().clone() for leaf in self.values]
        for _ in range(self.rng.randint(1, 20)):
            self.add_step()

    def random(self, shape):
        dtype = self.dtype if self.rng.random() < 0.9 else torch.float64
        # Positive and not near 0, for logarithms and quotients.
        return (torch.rand(shape, generator=self.generator, dtype=torch.float64) + 0.25).to(dtype)

    def narrowed(self, shape):
        other = [1 if self.rng.random() < 0.3 else size for size in shape]
        return other[self.rng.randint(0, len(other)):] if self.rng.random() < 0.3 else other

    def pick(self):
        # Usually a late value, so that graphs get deep.
        return max(self.rng.randrange(len(self.values)), self.rng.randrange(len(self.values)))

    def random_step(self):
        rng = self.rng
        op = rng.choice(rng.choices([UNARY, BINARY, REDUCTIONS, VIEWS, OTHER, IN_PLACE], [5, 8, 2, 5, 4, 4])[0])
        step = {"op": op, "in": [self.pick()]}
        first = self.values[step["in"][0]]
        ndim = first.dim()
        if op.rstrip("_") in BINARY and op.endswith("_") and len(self.values) > 1:
            # No in-place op of a tensor with itself: backward refuses it in both libraries, with texts that depend on
            # later steps.
            step["in"].append(rng.choice([i for i in range(len(self.values)) if self.values[i] is not first]
                                         or step["in"]))
        elif op.rstrip("_") in BINARY or op in ("add_alpha", "sub_alpha_", "copy_", "mm"):
            step["in"].append(self.pick())
        if op in ("cat", "stack"):
            alike = [i for i in range(len(self.values)) if self.values[i].shape == first.shape] if rng.random() < 0.7 else range(len(self.values))
            step["in"] += rng.choices(alike, k=rng.randint(0, 3))
            step["numbers"] = [rng.randrange(-ndim, max(ndim, 1))]
        if op == "where":
            step["in"] += [self.pick(), self.pick()]
        if op in REDUCTIONS:
            step["keepdim"] = rng.random() < 0.4
            all_dims = not step["keepdim"] and rng.random() < 0.3
            step["dims"] = None if all_dims else rng.sample(range(ndim), rng.randint(0, ndim))
        elif op in ("add_number", "mul_number", "pow_number", "mul_number_", "add_alpha", "sub_alpha_", "where", "clamp_min_", "fill_"):
            step["numbers"] = [rng.choice([0.5, 2.0, -1.5, 0.75])]
        elif op == "clamp":
            step["numbers"] = [0.3, 0.9]
        elif op == "expand":
            step["dims"] = [2] * rng.randint(0, 1) + [3 if size == 1 and rng.random() < 0.6 else size for size in first.shape]
        elif op == "reshape":
            step["dims"] = rng.choice([[-1], list(first.shape) + [1], [1] + list(first.shape)])
        elif op == "permute":
            step["dims"] = rng.sample(range(ndim), ndim)
        elif op == "unsqueeze":
            step["numbers"] = [rng.randint(0, ndim)]
        elif op == "transpose":
            step["numbers"] = [rng.randrange(max(ndim, 1)), rng.randrange(max(ndim, 1))]
        elif op == "select" and ndim:
            dim = rng.randrange(ndim)
            step["numbers"] = [dim, rng.randrange(first.shape[dim])]
        elif op == "slice" and ndim:
            dim = rng.randrange(ndim)
            step["numbers"] = [dim, rng.randint(0, first.shape[dim] - 1), first.shape[dim], rng.randint(1, 2)]
        elif op == "diagonal":
            step["numbers"] = [rng.randint(-1, 1), 0, 1]
        elif op == "unfold" and ndim:
            dim = rng.randrange(ndim)
            step["numbers"] = [dim, rng.randint(1, first.shape[dim]), rng.randint(1, 2)]
        elif op == "sum_to_size":
            step["dims"] = self.narrowed(list(first.shape))
        elif op == "zeros":
            step["dims"] = list(first.shape)
        return step

    def add_step(self):
        step = self.random_step()
        if step["op"].endswith("_") and overlaps_itself(self.values[step["in"][0]]):
            return  # the result would depend on the order of writes
        before = [value.detach().clone() for value in self.values] if step["op"].endswith("_") else None
        try:
            if step["op"].endswith("_"):  # tests on a copy whether the values stay moderate
                trial = perform(dict(step, **{"in": list(range(len(step["in"])))}),
                                [before[i] for i in step["in"]])
                if not is_tame(trial):
                    return
            result = perform(step, self.values)
        except (RuntimeError, IndexError, TypeError):
            return
        if not is_tame(result) or result.numel() == 0 or result.numel() > 3000:
            if not step["op"].endswith("_"):
                return
        self.values.append(result)
        self.steps.append(step)

    def request(self):
        """The graph with random roots for backward; None if no result requires grad."""
        candidates = [i for i in range(len(self.leaves), len(self.values)) if self.values[i].requires_grad]
        if not candidates:
            return None
        roots = [candidates[-1]] + ([self.rng.choice(candidates)] if self.rng.random() < 0.3 else [])
        self.weights = [self.random(list(self.values[i].shape)).to(self.values[i].dtype) for i in roots]
        return {"leaves": [described(leaf) for leaf in self.leaves], "steps": self.steps, "roots": roots,
                "weights": [described(weight) for weight in self.weights]}

    def names(self):
        """The names of nodes directly after their steps, because a later in-place write changes a tensor's node."""
        leaves = [leaf.clone().requires_grad_() for leaf in self.leaves]
        values, names = leaves, []
        for step in self.steps:
            values.append(perform(step, values))
            names.append(values[-1].grad_fn.name() if values[-1].grad_fn else None)
        return names

    def answer(self, roots):
        # Whether float32 occurs anywhere, whatever the leaves' dtypes.
        answer = {"names": self.names(), "single": any(value.dtype == torch.float32 for value in self.values)}
        try:
            torch.autograd.backward([self.values[i] for i in roots], self.weights)
        except RuntimeError as error:
            return dict(answer, error=str(error))
        return dict(answer, grads=[leaf.grad for leaf in self.values[:len(self.leaves)]])


def used_strides(shape, strides):
    """The strides of dims whose size is not 1. The others depend on PyTorch's internal views."""
    return [stride for size, stride in zip(shape, strides) if size != 1]


def same_error(wanted, got):
    """Whether the texts are equal. If several saved tensors were changed, the libraries may name different ones."""
    if wanted == got:
        return True
    if not wanted or not got or not re.search("output 0 of (AsStrided|torch::autograd::CopySlices)", wanted + got):
        return False
    changed = r"\[torch.*expected version \d+ instead"
    return re.sub(changed, "", wanted) == re.sub(changed, "", got)


def verdict(wanted, got):
    if "crash" in got:
        return f"the process ended with {got['crash']}"
    if not same_error(wanted.get("error"), got.get("error")):
        return f"error: wanted {wanted.get('error')}\n  got {got.get('error')}"
    if wanted["names"] != got["names"]:
        return f"nodes: wanted {wanted['names']}\n  got {got['names']}"
    for i, (want, have) in enumerate(zip(wanted.get("grads", []), got.get("grads", []))):
        if (want is None) != (have is None):
            return f"leaf {i}: wanted {want}, got {have}"
        if want is None:
            continue
        for what, left, right in (("dtype", NAMES[want.dtype], have["dtype"]), ("shape", list(want.shape), have["shape"]),
                                  ("strides", used_strides(want.shape, want.stride()), used_strides(have["shape"], have["strides"]))):
            if left != right:
                return f"{what} of leaf {i}: wanted {left}, got {right}"
        # Sums are added in another order, so errors grow with the largest terms, not with the result.
        scale = max(1.0, float(want.abs().max())) if want.numel() else 1.0
        tolerance = scale * (1e-3 if wanted["single"] else 1e-9)
        if not torch.allclose(want, tensor_of(have), rtol=0, atol=tolerance, equal_nan=True):
            return f"leaf {i}: wanted {want.tolist()}\n  got {tensor_of(have).tolist()}"
    return None


def self_test(oracle):
    """Makes a right answer wrong in each of the compared parts; every error must be found."""
    number = 0
    while True:
        graph = Graph(1, number)
        request = graph.request()
        if request:
            wanted, got = graph.answer(request["roots"]), oracle.ask({"graph": request})
            if "grads" in wanted and wanted["grads"][0] is not None and float(wanted["grads"][0].abs().max()) > 0.1:
                break
        number += 1
    assert verdict(wanted, got) is None, verdict(wanted, got)
    grad = got["grads"][0]
    doubled = dict(grad, bytes=bytes_of((tensor_of(grad) * 2).reshape(-1)).hex())
    for broken in (doubled, dict(grad, dtype="int32"), dict(grad, shape=grad["shape"] + [1]),
                   dict(grad, shape=[2] + grad["shape"], strides=[9] + grad["strides"]), None):
        assert verdict(wanted, dict(got, grads=[broken] + got["grads"][1:])), "a wrong gradient was not found"
    assert verdict(wanted, dict(got, names=["X"] + got["names"][1:])), "a wrong name was not found"
    assert verdict(wanted, {"error": "x", "names": got["names"]}), "an error was not found"
    print("7 wrong answers found")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one graph, by number")
    parser.add_argument("--show", type=int, default=10, help="failures printed in full")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    oracle = Oracle(options.oracle)
    if options.self_test:
        self_test(oracle)
        return 0
    passed = failed = errors = 0
    depths = collections.Counter()
    for number in [options.only] if options.only is not None else range(options.cases):
        graph = Graph(options.seed, number)
        request = graph.request()
        if not request:
            continue
        wanted, got = graph.answer(request["roots"]), oracle.ask({"graph": request})
        problem = verdict(wanted, got)
        if options.only is not None:
            print(json.dumps(request))
        errors += "error" in wanted
        depths[len(request["steps"])] += 1
        if problem is None:
            passed += 1
            continue
        failed += 1
        if failed <= options.show:
            steps = "\n".join(f"    {len(graph.leaves) + i}: {json.dumps(step)}" for i, step in enumerate(request["steps"]))
            print(f"graph {number} of seed {options.seed}: leaves {[list(leaf.shape) for leaf in graph.leaves]} of "
                  f"{NAMES[graph.dtype]}, roots {request['roots']}\n{steps}\n  {problem}", flush=True)
    print(f"{errors} graphs end in an error of backward; the longest has {max(depths, default=0)} steps")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
