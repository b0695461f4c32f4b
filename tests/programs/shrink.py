"""Minimises a failing program: deletes statements, then simplifies the others, as long as the difference stays the same."""
import ast
import copy
import re
import time


def shrink(statements, differs, limit=600, seconds=20):
    """The smallest program found for which `differs` is true, within `limit` calls of `differs` and `seconds`."""
    calls, end = 0, time.monotonic() + seconds

    def holds(candidate):
        nonlocal calls
        calls += 1
        return calls <= limit and time.monotonic() < end and differs(candidate)

    changed = True
    while changed and calls <= limit and time.monotonic() < end:
        changed = False
        for at in reversed(range(len(statements))):
            candidate = statements[:at] + statements[at + 1:]
            if candidate and holds(candidate):
                statements, changed = candidate, True
        for at in reversed(range(len(statements))):
            candidate = first(bypassed(statements, at), holds)
            if candidate:
                statements, changed = candidate, True
        for at in range(len(statements)):
            simpler = first(simpler_texts(statements[at]), lambda text: holds(statements[:at] + [text] + statements[at + 1:]))
            while simpler is not None:
                statements, changed = statements[:at] + [simpler] + statements[at + 1:], True
                simpler = first(simpler_texts(statements[at]), lambda text: holds(statements[:at] + [text] + statements[at + 1:]))
    return statements


def bypassed(statements, at):
    """Programs without the statement at `at`: each variable that it reads replaces the one that it assigns."""
    given = re.match(r"(v\d+) = ", statements[at])
    if given:
        for name in dict.fromkeys(re.findall(r"\bv\d+\b", statements[at][given.end():])):
            yield statements[:at] + [re.sub(rf"\b{given[1]}\b", name, statement) for statement in statements[at + 1:]]


def first(values, test):
    return next((value for value in values if test(value)), None)


def simpler_texts(statement):
    """Texts of the statement with one part removed or simplified."""
    tree = ast.parse(statement)
    for number, node in enumerate(ast.walk(tree)):
        for change in changes_of(node):
            other = copy.deepcopy(tree)
            target = list(ast.walk(other))[number]
            replacement = change(target)
            if replacement is not target:
                other = Replace(target, replacement).visit(other)
            try:
                text = ast.unparse(ast.fix_missing_locations(other)).replace("\n    ", " ")
            except Exception:  # a part that cannot be removed
                continue
            if "\n" not in text and len(text) < len(ast.unparse(tree)):
                yield text


class Replace(ast.NodeTransformer):
    def __init__(self, target, replacement):
        self.target, self.replacement = target, replacement

    def visit(self, node):
        return self.replacement if node is self.target else self.generic_visit(node)


def without(field, at):
    def change(node):
        del getattr(node, field)[at]
        return node
    return change


def changes_of(node):
    if isinstance(node, ast.With):
        yield lambda it: it.body[0]
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not (isinstance(node.func.value, ast.Name) and node.func.value.id == "T"):
            yield lambda it: it.func.value
        for at in range(len(node.keywords)):
            yield without("keywords", at)
        for at in reversed(range(len(node.args))):
            yield without("args", at)
    if isinstance(node, ast.BinOp):
        yield lambda it: it.left
        yield lambda it: it.right
    if isinstance(node, ast.Subscript):
        yield lambda it: it.value
    if isinstance(node, ast.UnaryOp):
        yield lambda it: it.operand
    if isinstance(node, (ast.List, ast.Tuple)):
        for at in reversed(range(len(node.elts))):
            yield without("elts", at)
        if len(node.elts) == 1 and isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
            yield lambda it: it.elts[0]
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        for value in (0, 1, 2):
            yield lambda it, value=value: ast.Constant(value)
