"""What a statement gives whose operands do not share memory with what it writes: PyTorch's answer over copies of them.

PyTorch lets some calls through that read what they have already written; Tenon promises the out-of-place result.
"""
import ast
import ctypes

import torch


def written_part(tree):
    """The part of a statement that is written to, or None."""
    node = tree.body[0]
    if isinstance(node, ast.With):
        node = node.body[0]
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return node.targets[0].value
    value = getattr(node, "value", None)
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == "out":
                return keyword.value
        if isinstance(value.func, ast.Attribute) and value.func.attr.endswith("_"):
            return value.func.value
    return None


def names_in(node):
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


class Alone:
    """PyTorch's operands as they were before a statement that writes to memory which it may also read."""

    @staticmethod
    def of(statement, variables):
        """None for a statement that reads no memory it writes."""
        tree = ast.parse(statement)
        target = written_part(tree)
        if target is None:
            return None
        inside = {id(part) for part in ast.walk(target)}
        read = [part for part in ast.walk(tree) if isinstance(part, ast.Name) and id(part) not in inside and isinstance(part.ctx, ast.Load)]
        tensors = {part.id: variables[part.id] for part in read if isinstance(variables.get(part.id), torch.Tensor) and not variables[part.id].is_meta}
        written = [variables[name] for name in names_in(target) if isinstance(variables.get(name), torch.Tensor)]
        storages = {tensor.untyped_storage().data_ptr() for tensor in written}
        overlaps = any(0 in tensor.stride() for tensor in written) or "expand" in statement
        if not overlaps and not any(tensor.untyped_storage().data_ptr() in storages for tensor in tensors.values()):
            return None
        return Alone(tree, read, tensors, written)

    def __init__(self, tree, read, tensors, written):
        self.copies = {"copy_of_" + name: tensor.detach().clone() for name, tensor in tensors.items()}
        for part in read:
            if part.id in tensors:
                part.id = "copy_of_" + part.id
        self.code = compile(tree, "alone", "exec")
        self.storages = [tensor.untyped_storage() for tensor in written]
        self.bytes = [ctypes.string_at(storage.data_ptr(), storage.nbytes()) for storage in self.storages]

    def answer(self, variables):
        """Runs the statement over the copies, in the memory as it was. PyTorch's variables then hold the answer."""
        for storage, before in zip(self.storages, self.bytes):
            if storage.nbytes() >= len(before) and before:
                ctypes.memmove(storage.data_ptr(), before, len(before))
        with torch.no_grad():
            exec(self.code, dict(variables) | self.copies)
