"""PyTorch's result of a statement over copies of its operands, which do not share memory with its output.

PyTorch accepts some statements that read memory which they have already written. For these, Tenon promises the result
that PyTorch gives for copies.
"""
import ast
import ctypes
import re

import torch


def written_part(tree):
    """The part of a statement that names the written tensor: (the node that contains it, its field), or None."""
    node = tree.body[0]
    if isinstance(node, ast.With):
        node = node.body[0]
    if isinstance(node, ast.AugAssign):
        return node, "target"
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return node.targets[0], "value"
    value = getattr(node, "value", None)
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == "out":
                return keyword, "value"
        if isinstance(value.func, ast.Attribute) and value.func.attr.endswith("_"):
            return value.func, "value"
    return None


def may_overlap_itself(tensor):
    """Whether several elements may have the same address."""
    return torch._debug_has_internal_overlap(tensor) != 0


def names_in(node):
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


class CopiedOperands:
    """Runs a statement again with copies of the operands, which are made before it runs for the first time."""

    @staticmethod
    def of(statement, variables):
        """None for a statement that does not read the memory that it writes."""
        tree = ast.parse(statement)
        location = written_part(tree)
        if location is None:
            return None
        target = getattr(*location)
        inside = {id(part) for part in ast.walk(target)}
        read = [part for part in ast.walk(tree) if isinstance(part, ast.Name) and id(part) not in inside and isinstance(part.ctx, ast.Load)]
        tensors = {part.id: variables[part.id] for part in read if isinstance(variables.get(part.id), torch.Tensor) and not variables[part.id].is_meta}
        written = [variables[name] for name in names_in(target) if isinstance(variables.get(name), torch.Tensor)]
        storages = {tensor.untyped_storage().data_ptr() for tensor in written}
        overlaps = any(may_overlap_itself(tensor) for tensor in written) or "expand" in statement
        if not overlaps and not any(tensor.untyped_storage().data_ptr() in storages for tensor in tensors.values()):
            return None
        return CopiedOperands(tree, location, read, tensors, written)

    def __init__(self, tree, location, read, tensors, written):
        self.copies = {"copy_of_" + name: tensor.detach().clone() for name, tensor in tensors.items()}
        for part in read:
            if part.id in tensors:
                part.id = "copy_of_" + part.id
        target = getattr(*location)
        self.is_out = isinstance(location[0], ast.keyword)
        self.target = compile(ast.unparse(target), "target", "eval")
        replacement = ast.Name("written_tensor", ast.Store() if isinstance(location[0], ast.AugAssign) else ast.Load())
        setattr(*location, ast.copy_location(replacement, target))
        self.code = compile(ast.fix_missing_locations(tree), "copied operands", "exec")
        self.storages = [tensor.untyped_storage() for tensor in written]
        self.bytes = [ctypes.string_at(storage.data_ptr(), storage.nbytes()) for storage in self.storages]

    def run(self, variables):
        """Restores the written memory and runs the statement over the copies. PyTorch's variables then hold the result."""
        for storage, before in zip(self.storages, self.bytes):
            if storage.nbytes() >= len(before) and before:
                ctypes.memmove(storage.data_ptr(), before, len(before))
        with torch.no_grad():
            names = dict(variables) | self.copies
            target = eval(self.target, names)
            names["written_tensor"] = target.clone() if may_overlap_itself(target) and not self.is_out else target
            exec(self.code, names)
            if names["written_tensor"] is not target:
                target.copy_(names["written_tensor"])


class SeparateOut:
    """Runs a matrix product again with a separate `out=`: if `out=` is an operand, PyTorch resizes or writes it before it
    reads it."""

    @staticmethod
    def of(statement, variables):
        """None for any other statement."""
        match = re.search(r"\b(?:mm|mv|bmm|dot|vdot|matmul|inner|outer|addmm|addmv|baddbmm)\(.*\bout=(v\d+)", statement)
        target = match and variables.get(match[1])
        if not isinstance(target, torch.Tensor):
            return None
        memory = target.untyped_storage().data_ptr()
        tensors = {name: value for name, value in variables.items() if isinstance(value, torch.Tensor) and re.search(rf"\b{name}\b", statement)}
        operands = statement[:match.start(1)]
        if not any(re.search(rf"\b{name}\b", operands) and value.untyped_storage().data_ptr() == memory for name, value in tensors.items()):
            return None
        return SeparateOut(statement, match[1], variables["T"], tensors)

    def __init__(self, statement, name, module, tensors):
        self.name = name
        self.variables = {"T": module, "separate_out": tensors[name].detach().clone()}
        self.variables |= {name: tensor.detach().clone().requires_grad_(tensor.requires_grad) for name, tensor in tensors.items()}
        self.statement = re.sub(rf"\bout={name}\b", "out=separate_out", statement)

    def gives_the_same(self, first_line, ours, our_variables):
        """Whether Tenon gave that result: the same error, or the same values up to rounding."""
        try:
            exec(self.statement, self.variables)
        except Exception as error:  # any: its text is compared
            return ours is not None and first_line(error) == first_line(ours)
        if ours is not None or "out=" + self.name + "." in self.statement:
            return False
        wanted, got = self.variables["separate_out"], torch.tensor(our_variables[self.name].tolist())
        return tuple(wanted.shape) == tuple(our_variables[self.name].shape) and torch.allclose(
            wanted.double(), got.double().reshape(wanted.shape), rtol=1e-2, atol=1e-2, equal_nan=True)
