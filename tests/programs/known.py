"""The table of intended differences, each with its heading in docs/differences.md."""
import math
import pathlib
import re
import sys
import typing

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from ops import public_ops, read_ops  # noqa: E402

# The largest errors that the ops declare.
ULPS = {op.name: float(op.facts["ulp"]) for op in public_ops(read_ops()) if op.kind == "map" and "ulp" in op.facts}
ROUNDED = "|".join(ULPS)


class Case(typing.NamedTuple):
    statement: str
    theirs: Exception | None
    ours: Exception | None
    variables: dict      # PyTorch's, after the statement
    our_variables: dict
    gradients: list      # the tensors that PyTorch's `grad` returned


def text(error):
    return "" if error is None else str(error).split("\n")[0]


def both_fail(case):
    return case.theirs is not None and case.ours is not None


def first_name(case):
    match = re.search(r"\bv\d+\b(?! =)", case.statement)
    return match[0] if match else ""


def holds_no_floats(case, name):
    return name in case.our_variables and not case.our_variables[name].is_floating_point()


def shares_memory_of_gradient(case, name):
    tensor = case.variables.get(name)
    return isinstance(tensor, torch.Tensor) and any(tensor.untyped_storage().data_ptr() == gradient.untyped_storage().data_ptr() for gradient in case.gradients)


def is_written_to_itself(case):
    """Whether a tensor is written to itself, with more dims of size 1."""
    sides = re.fullmatch(r"(v\d+)\[(?:(?:None|True),? ?)+\] = (v\d+)(?:\.\w+\(\))?", case.statement)
    tensors = [case.variables.get(name) for name in sides.groups()] if sides else []
    return len(tensors) == 2 and all(isinstance(tensor, torch.Tensor) for tensor in tensors) and tensors[0].data_ptr() == tensors[1].data_ptr()


def is_indexed_by_itself(case):
    """Whether a tensor is written by an index that is in its own memory."""
    written = re.search(r"\b(v\d+)\[(.*)\] [-+*/]?= ", case.statement)
    tensors = [case.variables.get(name) for name in re.findall(r"v\d+", written[2])] if written else []
    return any(isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() == case.variables[written[1]].untyped_storage().data_ptr() for tensor in tensors)


def uses_memory_of_gradient(case):
    """Whether the statement uses a tensor that `grad` returned, or one that shares its memory."""
    names = re.findall(r"\bv\d+\b", case.statement)
    return any(shares_memory_of_gradient(case, name) for name in names)


def writes_without_derivative(case):
    """Whether an op with out= gets a node without a derivative in PyTorch."""
    return re.search(r"\b(diag|log_softmax|softmax|(?!index_copy|narrow_copy)\w+_copy)\(.*out=|\bscatter\(.*reduce=.*out=", case.statement)


def stacks_into_itself(case):
    """Whether `out=` is one of the tensors that are stacked."""
    call = re.search(r"\bstack\((?:tensors=)?\[(.*)\].*out=(v\d+)\)", case.statement)
    return call and any(case.variables.get(name) is case.variables.get(call[2]) for name in re.findall(r"v\d+", call[1]))


def var_writes_to_its_input(case):
    """Whether the `out=` of var or std shares memory with the input."""
    names = re.search(r"\b(?:std|var)\((?:input=)?(v\d+).*out=(v\d+)", case.statement)
    return names and storage_of(case.variables[names[1]]) == storage_of(case.variables[names[2]])


def overlaps_itself(case, name):
    """Whether a tensor's elements share memory."""
    tensor = case.variables.get(name)
    if not isinstance(tensor, torch.Tensor) or tensor.is_meta or tensor.untyped_storage().nbytes() == 0:
        return False
    places = torch.arange(tensor.untyped_storage().nbytes() // tensor.element_size()).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    return places.unique().numel() < tensor.numel()


def writes_twice(case):
    """Whether two outputs are one tensor."""
    return re.search(r"out=[\[(](v\d+), \1[\])]", case.statement)


def writes_to_operand(case):
    """Whether two outputs are one tensor, or one of them shares memory with an operand."""
    call = re.search(r"\((.*)out=[\[(](v\d+), (v\d+)[\])]", case.statement)
    if not call:
        return False
    operands = [case.variables[name] for name in re.findall(r"\bv\d+\b", call[1])]
    outs = [case.variables[name] for name in call.groups()[1:]]
    return writes_twice(case) or any(storage_of(out) == storage_of(tensor) for out in outs for tensor in operands if isinstance(tensor, torch.Tensor))


def has_equal_elements(case):
    tensor = case.variables.get(first_name(case))
    return isinstance(tensor, torch.Tensor) and tensor.unique().numel() < tensor.numel()


def names_of_nodes(case):
    """The names of all nodes of PyTorch's graphs."""
    nodes = [value.grad_fn for value in case.variables.values() if isinstance(value, torch.Tensor) and value.grad_fn]
    found = set()
    while nodes:
        node = nodes.pop()
        if node not in found:
            found.add(node)
            nodes += [following for following, _ in node.next_functions if following]
    return {node.name() for node in found}


def storage_of(tensor):
    return tensor.untyped_storage().data_ptr()


# (heading, whether this pair of outcomes is that difference)
ERRORS = [
    ("In-place operations that would change a shape",
     lambda case: both_fail(case) and text(case.theirs).startswith("output with shape") and text(case.theirs) in getattr(case.ours, "__notes__", [])),
    ("`expand` of a 0-dim tensor", lambda case: "isn't allowed in a leading, non-existing dimension" in text(case.ours)),
    ("In Python", lambda case: both_fail(case) and type(case.ours) is TypeError and "2j" in case.statement),
    ("In Python", lambda case: type(case.ours) is OverflowError or "complex" in text(case.ours)),
    ("Gradients", lambda case: "functions with out=... arguments don't support automatic differentiation" in text(case.ours)
     and re.search(r"\.(arange|bitwise_\w+|conj_physical|eye|full|linspace|logspace|normal|ones|rand|randint|randperm|range|zeros)\(", case.statement)),
    ("Gradients", lambda case: "functions with out=... arguments don't support automatic differentiation" in text(case.ours) and "slice_scatter(" in case.statement),
    ("Calls that fail", lambda case: both_fail(case) and "functions with out=... arguments" in text(case.theirs) and re.search(r"\bscatter\(.*out=", case.statement)),
    ("Writing to memory that is also read", lambda case: case.theirs is None and "refer to a single memory location" in text(case.ours) and re.search(r"\bkron\(.*out=", case.statement)),
    ("Gradients", lambda case: text(case.ours).startswith("square(): functions with out") and text(case.theirs).startswith("pow(): functions")),
    ("In Python", lambda case: re.sub(r"torch\.Size\(\[([\d, ]+)\]\)", lambda m: f"({m[1]}{',' * (',' not in m[1])})", text(case.theirs)) == text(case.ours)),
    ("Gradients", lambda case: re.search("derivative for 'inplace version of (asinh|acosh|atanh)' is not implemented", text(case.theirs))),
    ("Gradients", lambda case: re.search("derivative for aten::(floor_divide_?|heaviside_?|remainder) is not implemented", text(case.theirs))),
    ("Writing to memory that is also read", lambda case: case.ours is None and re.search(r"out=|\bnorm\(.*, v\d+\)$", case.statement)
     and re.search(r"Dimension out of range|appears multiple times|^The size of tensor a ", text(case.theirs))),
    ("In Python", lambda case: both_fail(case) and type(case.ours) is type(case.theirs) is TypeError
     and re.match(r"(linspace|logspace|view_copy|rand_like|randn_like|randint_like)\(\) received an invalid combination of arguments", text(case.theirs))),
    ("Sizes, strides and offsets too large to count", lambda case: "SymIntArrayRef expected to contain only concrete integers" in text(case.theirs)),
    ("Sizes, strides and offsets too large to count", lambda case: re.match("(Stride|Storage offset) calculation overflowed|numel: integer", text(case.ours))),
    ("Memory that others hold", lambda case: text(case.ours) == "Trying to resize storage that is not resizable"),
    ("Gradients", lambda case: both_fail(case) and "was created in no_grad mode and" in text(case.theirs)),
    ("Gradients", lambda case: "out=" in case.statement and text(case.ours) == "cannot resize variables that require grad"),
    ("Gradients", lambda case: case.ours is None and uses_memory_of_gradient(case)
     and re.match("A view was created in no_grad mode|Can't detach views in-place", text(case.theirs))),
    ("Gradients", lambda case: both_fail(case) and re.sub(CHANGED, "", text(case.theirs)) == re.sub(CHANGED, "", text(case.ours)) != text(case.ours)),
    ("Gradients", lambda case: case.ours is None and "inputs=" in case.statement
     and re.match("Trying to backward through the graph a second time|one of the variables needed for gradient computation has been modified|Trying to use a saved tensor", text(case.theirs))),
    ("Gradients", lambda case: re.search(r"\b(backward|grad)\(", case.statement) and text(case.theirs).startswith("output with shape")),
    ("In Python", lambda case: case.ours is None and "matmul(" in case.statement and re.match("The size of tensor a .* must match|shape .* is invalid for input", text(case.theirs))),
    ("In Python", lambda case: type(case.ours) is TypeError and re.search(r"\bout=[-\d.TF]", case.statement)),
    ("In Python", lambda case: type(case.ours) is TypeError and re.search(r"\.to\([-\d.]", case.statement)),
    ("Calls that fail", lambda case: both_fail(case) and "unflatten(" in case.statement),
    ("Calls that fail", lambda case: both_fail(case) and "-nan" in text(case.theirs) and text(case.theirs).replace("-nan", "nan") == text(case.ours)),
    ("Calls that fail", lambda case: both_fail(case) and type(case.ours) is NotImplementedError and "functions with out=... arguments" in text(case.theirs)),
    ("Sizes, strides and offsets too large to count", lambda case: both_fail(case) and re.match("Storage size calculation overflowed|numel: integer", text(case.theirs))),
    ("Writing to memory that is also read", lambda case: case.ours is None and is_written_to_itself(case) and "refer to a single memory location" in text(case.theirs)),
    ("In Python", lambda case: both_fail(case) and type(case.ours) is TypeError and re.match(r"linspace\(\): argument '(start|end)'.* must be Number, not Tensor", text(case.ours))),
    ("In Python", lambda case: both_fail(case) and type(case.ours) is TypeError and "received an invalid combination of arguments - got (Tensor" in text(case.ours)),
    ("In Python", lambda case: both_fail(case) and text(case.ours).startswith("Expected one of cpu, meta device type at start of device string")),
    ("Gradients", lambda case: case.ours is None and text(case.theirs).startswith("A view was created in no_grad mode") and holds_no_floats(case, first_name(case))),
    ("In Python", lambda case: type(case.ours) is IndexError and re.search(r"\[[^]]*\.\.\.[^]]*\.\.\.", case.statement)),
    ("Gradients", lambda case: "INTERNAL ASSERT FAILED" in text(case.theirs)),
    ("Gradients", lambda case: case.ours is None and text(case.theirs).startswith("a leaf Variable that requires grad is being used") and case.variables[first_name(case)]._is_view()),
    ("In Python", lambda case: both_fail(case) and text(case.theirs) == "select() cannot be applied to a 0-dim tensor." and text(case.ours).endswith("is out of bounds for dimension 0 with size 0")),
    ("In Python", lambda case: both_fail(case) and all(re.match(r"index -?\d+ is out of bounds for dimension \d+ with size ", text(e)) for e in (case.theirs, case.ours))),
    ("In Python", lambda case: "must be tuple of ints, not Tensor" in text(case.ours) or (type(case.ours) is TypeError and text(case.ours).endswith("must be int, not Tensor"))),
    ("In Python", lambda case: text(case.theirs).startswith("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")),
    ("In Python", lambda case: type(case.ours) is TypeError and re.match(r"view\(\) received an invalid combination of arguments - got \(Tensor\)", text(case.ours))),
    ("Calls that fail", lambda case: both_fail(case) and re.match(r"\[enforce fail at alloc_cpu", text(case.theirs))),
    ("Calls that fail", lambda case: both_fail(case) and re.search(r"\brand(n|int)?\(.*out=", case.statement) and text(case.theirs).startswith("unsupported operation: more than one element")),
    ("Writing to memory that is also read", lambda case: case.theirs is None and re.search(r"\b(all|any|tril|triu)\(.*out=|\.(tril|triu)_\(", case.statement)
     and text(case.ours).startswith("unsupported operation: more than one element")),
    ("Writing to memory that is also read", lambda case: case.ours is None and re.search(r"\((v\d+),.*out=\1\)", case.statement) and text(case.theirs).startswith("output with shape")),
    ("Writing to memory that is also read", lambda case: case.ours is None and is_indexed_by_itself(case)
     and re.match(r"index -?\d+ is out of bounds|unsupported operation: some elements", text(case.theirs))),
    ("Calls that fail", lambda case: both_fail(case) and re.match("expected m1 and m2 to have the same dtype", text(case.theirs))),
    ("Calls that fail", lambda case: both_fail(case) and text(case.ours).startswith("A view was created in no_grad")),
    ("In Python", lambda case: both_fail(case) and re.search(r"out=[\[(]", case.statement) and "functions with out=... arguments" in text(case.ours)),
    ("Calls that fail", lambda case: both_fail(case) and text(case.theirs).startswith("output with shape") and text(case.ours).startswith("unsupported operation: some elements")),
    ("Writing to memory that is also read", lambda case: case.theirs is None and text(case.ours) == "ZeroDivisionError" and "out=" in case.statement),
    ("Writing to memory that is also read", lambda case: case.theirs is None and re.search(r"out=(v\d+)\.", case.statement) and text(case.ours).startswith("unsupported operation: some elements")
     and case.variables[re.search(r"out=(v\d+)\.", case.statement)[1]].numel() == 1),
    ("Sizes, strides and offsets too large to count", lambda case: case.theirs is None and text(case.ours).startswith("Storage size calculation overflowed")),
    ("Writing to memory that is also read", lambda case: both_fail(case) and re.sub(r"\d+$", "", text(case.theirs)) == re.sub(r"\d+$", "", text(case.ours)) and "out of bounds for storage of size" in text(case.ours)),
    ("Gradients", lambda case: both_fail(case) and text(case.theirs).startswith("aten::bitwise_") and "out=" in case.statement),
    ("Gradients", lambda case: re.match(r"aten::(gcd|lcm)\(\): functions with out=", text(case.ours))),
    ("Gradients", lambda case: text(case.ours).startswith("aten::") and "functions with out=" in text(case.ours) and writes_without_derivative(case)),
    ("Writing to memory that is also read", lambda case: case.ours is None and re.search(r"\b(cumsum|cumprod|logcumsumexp|aminmax|addr|cross)\(.*out=", case.statement)
     and text(case.theirs).startswith("unsupported operation: some elements")),
    ("Writing to memory that is also read", lambda case: case.ours is not None and "take_along_dim(" in case.statement and "out=" in case.statement
     and any(text(error).startswith("unsupported operation: some elements") for error in (case.theirs, case.ours))),
    ("Writing to memory that is also read", lambda case: case.ours is not None and stacks_into_itself(case)),
    ("In Python", lambda case: both_fail(case) and type(case.ours) is TypeError and type(case.theirs) in (TypeError, AttributeError) and "norm(" in case.statement),
    ("Gradients", lambda case: case.ours is None and re.search(r"\b(backward|grad)\(", case.statement)
     and re.match("Negation, the `-` operator, on a bool tensor|result type Float can't be cast to the desired output type Bool", text(case.theirs))),
    ("Gradients", lambda case: re.search(r"floor_divide|heaviside|//", case.statement)),
    ("Calls that fail", lambda case: both_fail(case) and re.search(r"mvlgamma|ldexp|histc|polar|celu_\(|pow\(|\*\*", case.statement)),
    ("Calls that fail", lambda case: both_fail(case) and "out=" in case.statement
     and any(text(error).startswith("unsupported operation: ") for error in (case.theirs, case.ours))),
    ("Calls that fail", lambda case: both_fail(case) and "out=" in case.statement
     and text(case.ours).startswith("Expected out tensor to have dtype")),
    ("Calls that fail", lambda case: both_fail(case) and text(case.theirs).startswith("a leaf Variable") and text(case.ours).startswith("value cannot be converted")),
    ("Calls that fail", lambda case: case.ours is None and re.search(r"\bindex_(fill|copy)_?\(", case.statement) and text(case.theirs).startswith("setStorage: ")),
    ("Writing to memory that is also read", lambda case: case.ours is None and (writes_twice(case) or re.search(r"\b(ldexp|histc)\(.*out=", case.statement))
     and re.search(r"unsupported operation: some elements|output with shape|is not finite$", text(case.theirs))),
    ("Gradients", lambda case: case.theirs is None and text(case.ours).startswith("Trying to backward through the graph a second time")
     and any(re.match("Deg2Rad|Rad2Deg", name) for name in names_of_nodes(case))),
    ("Calls that fail", lambda case: both_fail(case) and "randperm(-" in case.statement),
    ("Writing to memory that is also read", lambda case: re.search(r"\b(bucketize|searchsorted)\(", case.statement) and text(case.theirs).startswith("ArrayRef: attempted")),
    ("Writing to memory that is also read", lambda case: case.ours is None and text(case.theirs).startswith("unsupported operation: some elements") and re.search(r"out=v\d+\[None\]", case.statement)),
    ("Calls that fail", lambda case: both_fail(case) and re.search(r"\bnormal\(.*out=", case.statement)),
    ("Gradients", lambda case: case.ours is None and re.search("which is output 0 of (Pow1|Copysign), is at version", text(case.theirs))),
    ("Gradients", lambda case: case.ours is None and "backward(" in case.statement and text(case.theirs) == "'NoneType' object has no attribute 'zero_'"),
    ("Writing to memory that is also read", lambda case: case.theirs is None and re.search(r"\bthreshold\(.*out=v\d+", case.statement)
     and text(case.ours).startswith("unsupported operation: some elements")),
    ("Calls that fail", lambda case: both_fail(case) and re.search(r"\bindex_put_?\(", case.statement)),
    ("Calls that fail", lambda case: both_fail(case) and all(text(error).startswith("Dimension specified as ") for error in (case.theirs, case.ours))),
    ("Writing to memory that is also read", lambda case: case.ours is None and re.search(r"\bnormal\(.*out=", case.statement)
     and re.match("unsupported operation: some elements|The size of tensor a ", text(case.theirs))),
    # kron of PyTorch keeps views that do not count the writes to its operands.
    ("Gradients", lambda case: case.theirs is None and "UnsafeViewBackward0" in names_of_nodes(case) and re.match(r"one of the variables needed for gradient computation.*\[torch\.(Long|Int|Short|Char|Byte|Bool)Tensor", text(case.ours))),
    ("Calls that fail", lambda case: case.theirs is None and text(case.ours).startswith("Autograd not support dtype")),
    ("Gradients", lambda case: case.ours is None and re.match("cum(min|max) does not support automatic differentiation for outputs with complex", text(case.theirs))),
    ("Not there yet", lambda case: re.match(r"unsupported operand type\(s\) for [&|^]", text(case.ours))),
]

CHANGED = r"\[(?:torch\.|CPU)\w+ \[[\d, ]*\]\], which is output \d+ of [\w:]+, is at version \d+; expected version \d+ instead"
ONCE = "This overload of |Using torch.cross without specifying the dim|ComplexHalf support is experimental"
RESIZED = "UserWarning: An output with one or more elements was resized"

WARNINGS = [
    ("In Python", lambda case, theirs, ours: "masked_scatter" in case.statement and "deprecated" in str(theirs)),
    ("Gradients", lambda case, theirs, ours: [line for line in comparable(theirs) if "gradient layout contract" not in line] == comparable(ours)),
    ("Writing to memory that is also read", lambda case, theirs, ours: re.search(r"\((v\d+),.*out=\1\)", case.statement) and comparable(theirs, RESIZED) == comparable(ours)),
    # PyTorch counts the elements after it has resized the output, which is the input.
    ("Writing to memory that is also read", lambda case, theirs, ours: var_writes_to_its_input(case)
     and comparable(theirs, degrees_of_freedom(case)) == comparable(ours, degrees_of_freedom(case))),
    ("Writing to memory that is also read", lambda case, theirs, ours: stacks_into_itself(case) and comparable(theirs, RESIZED) == comparable(ours, RESIZED)),
    ("In Python", lambda case, theirs, ours: re.search(r"\b(all|any)\(.*(\(\)|\[\])", case.statement)),
    ("Calls that fail", lambda case, theirs, ours: both_fail(case) and comparable(theirs, RESIZED) == comparable(ours)),
    ("Calls that fail", lambda case, theirs, ours: both_fail(case) and text(case.theirs).startswith("std_var_all:") and not ours),
    ("Calls that fail", lambda case, theirs, ours: both_fail(case) and comparable(theirs, "UserWarning: Casting complex values") == ours),
    ("Writing to memory that is also read", lambda case, theirs, ours: re.search(r"out=[\[(](v\d+), \1[\])]", case.statement) and comparable(theirs, RESIZED) == comparable(ours, RESIZED)),
    ("Warnings", lambda case, theirs, ours: re.search(r"\bisin\(.*out=", case.statement) and comparable(theirs, RESIZED) == comparable(ours, RESIZED)),
    ("Calls that fail", lambda case, theirs, ours: both_fail(case) and comparable(theirs, "UserWarning: torch.range is deprecated") == ours),
    ("Warnings", lambda case, theirs, ours: "mean(" in case.statement and ours and theirs[:len(ours)] == ours and not comparable(theirs, RESIZED)),
    ("Warnings", lambda case, theirs, ours: comparable(theirs) == comparable(ours)),
]


def comparable(lines, left_out=None):
    """The warnings without those that PyTorch gives once per process, and without those that begin with `left_out`."""
    return [line for line in lines if not re.search(ONCE, line) and not (left_out and line.startswith(left_out))]


def degrees_of_freedom(case):
    return "UserWarning: " + re.search(r"\b(std|var)\(", case.statement)[1]


def are_near(what):
    """Whether two real numbers differ by a rounding or two."""
    found = re.search(r"is ([-\de.+]+) in PyTorch, ([-\de.+]+) in Tenon", what)
    return bool(found) and abs(float(found[1]) - float(found[2])) <= 1e-6 * abs(float(found[1]))


# Statements after which the two libraries differ, so that the program ends there.
STATES = [
    ("Gradients", lambda case, what, unchanged: what.startswith("grad_fn: ") and re.search(r"FloorDivideBackward|HeavisideBackward|PolygammaBackward", what)),
    ("Rounding", lambda case, what, unchanged: what.startswith("values: ") and re.search(r"pow\(|pow_\(|\*\*", case.statement) and are_near(what)),
    ("Rounding", lambda case, what, unchanged: what.startswith("value") and "polygamma" in case.statement),
    ("Rounding", lambda case, what, unchanged: re.match(r"values: v\d+\.grad\[", what) and are_near(what)),
    ("Equal elements of sort and topk", lambda case, what, unchanged: "msort(" in case.statement and re.search(r" is -?0\.0 in PyTorch, -?0\.0 in Tenon", what)),
    ("Softmax, ranks and searches", lambda case, what, unchanged: what.startswith("requires_grad: ") and "binomial(" in case.statement),
    ("Activations and losses", lambda case, what, unchanged: what.startswith("value") and "rrelu" in case.statement),
    ("Calls that fail", lambda case, what, unchanged: both_fail(case) and unchanged),
    ("In Python", lambda case, what, unchanged: re.search(r"\b(all|any)\(.*(\(\)|\[\])", case.statement)),
    ("Gradients", lambda case, what, unchanged: are_nodes_of_products(what)),
    ("Gradients", lambda case, what, unchanged: what.startswith(("requires_grad: ", "grad_fn: ")) and writes_without_derivative(case)),
    ("Complex numbers", lambda case, what, unchanged: what.startswith("storage: ") and what.endswith(" None in Tenon") and re.search(r"\b(adjoint|conj)\(|\.(mH|H)$", case.statement)),
    ("Equal elements of sort and topk", lambda case, what, unchanged: is_index_of_an_equal_element(case, what)),
    ("Gradients", lambda case, what, unchanged: what.startswith("grad_fn: ") and "autograd.grad(" in case.statement and "create_graph=True" in case.statement),
    ("Gradients", lambda case, what, unchanged: what.startswith("grad_fn: ") and "AsStridedBackward0" in what and shares_memory_of_gradient(case, what.split()[1])),
    ("Gradients", lambda case, what, unchanged: what.startswith("error: grad_fn of ") and what.endswith("Tenon None")
     and shares_memory_of_gradient(case, what.split()[3].strip(":"))),
    ("Gradients", lambda case, what, unchanged: what.startswith("_version: ") and "backward(" in case.statement),
    ("Gradients", lambda case, what, unchanged: what.startswith("error: grad_fn of ") and holds_no_floats(case, what.split()[3].strip(":"))),
    ("In Python", lambda case, what, unchanged: what.startswith("value: ") and "UnbindBackward0" in what),
    ("Gradients", lambda case, what, unchanged: what.startswith("value: ") and "histogram(" in case.statement and "autograd::NotImplemented" in what),
    ("Rounding", lambda case, what, unchanged: re.search(r"\b((var|std)_mean|aminmax)\(", case.statement) and what.startswith("value: ") and differs_by_rounding(what)),
    ("Rounding", lambda case, what, unchanged: re.search(r"\b(var|std)_mean\(", case.statement) and what.startswith("value") and "nan" in what and "inf" in what),
    ("Gradients", lambda case, what, unchanged: what.startswith("value: ") and are_edges_of_another_node(case, what)),
    ("In Python", lambda case, what, unchanged: what.startswith("value: ") and re.search(r"\(False\): .* = list\(|no_grad\(\): .* = list\(", case.statement) and differs_in_flags(what)),
    ("Gradients", lambda case, what, unchanged: what.startswith("stride: ") and re.search(r"\b(grad|backward)\(", case.statement)),
    ("Gradients", lambda case, what, unchanged: what.startswith("storage: ") and re.fullmatch(r"storage: (\S+) has that of \S+ in PyTorch, (None|\1) in Tenon", what) and "backward(" in case.statement),
    ("Gradients", lambda case, what, unchanged: what.startswith("requires_grad: ") and what.endswith("True in PyTorch, False in Tenon") and holds_no_floats(case, what.split()[1])),
    ("Gradients", lambda case, what, unchanged: what.startswith("grad_fn: ") and re.search(r"\b(trapz|\w*trapezoid|fill)\(", case.statement)),
    ("Gradients", lambda case, what, unchanged: what.startswith(("grad_fn: ", "requires_grad: ")) and "pdist(" in case.statement),
    ("Softmax, ranks and searches", lambda case, what, unchanged: what.startswith("value: ") and "mode(" in case.statement and "'nan'" in what),
    ("Writing to memory that is also read", lambda case, what, unchanged: what.startswith("value: ") and writes_to_operand(case)),
    ("Complex numbers", lambda case, what, unchanged: what.startswith("_version: ") and any(isinstance(value, torch.Tensor) and value.is_conj() for value in case.variables.values())),
    ("Equal elements of sort and topk", lambda case, what, unchanged: what.startswith("values: ") and "argsort(" in case.statement and has_equal_elements(case)),
    ("Softmax, ranks and searches", lambda case, what, unchanged: what.startswith("_version: ") and re.search(r"\bcov\(", case.statement)),
    ("Gradients", lambda case, what, unchanged: what.startswith(("storage_offset: ", "stride: ")) and re.search(r"\b\w+_scatter\(", case.statement)),
    ("Writing to memory that is also read", lambda case, what, unchanged: what.startswith("values: ") and overlaps_itself(case, what.split()[1].split("[")[0])
     and re.search(r"_\(", case.statement)),
    ("In Python", lambda case, what, unchanged: what.startswith("identity: ") and re.search(r"\bdiff\(", case.statement)),
    ("Gradients", lambda case, what, unchanged: what.startswith("_version: ") and re.search(r"\bkron\(.*out=", case.statement)),
    ("Sizes, strides and offsets too large to count", lambda case, what, unchanged: what.startswith("stride: ") and (has_huge_strides(case) or re.search(r"2\*\*6[23]", case.statement))),
]

PRODUCTS = {"DotBackward0", "MvBackward0", "BmmBackward0", "UnsafeViewBackward0", "SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward3",
            "SqueezeBackward4", "SumBackward1", "ViewBackward0", "MmBackward0", "TransposeBackward0", "CloneBackward0"}

ATTRIBUTES = [
    ("Gradients", lambda what, wanted, got: what == "grad_fn" and {wanted, got} <= PRODUCTS and wanted not in ("ViewBackward0", "TransposeBackward0", "CloneBackward0")),
    ("Gradients", lambda what, wanted, got: what == "grad_fn" and got == "SubBackward0" and wanted in ("RsubBackward1", "SubBackward1")),
    ("Gradients", lambda what, wanted, got: what == "grad_fn" and (wanted, got) in (("AsStridedBackward0_copy", "CloneBackward0"),
     ("NormBackward1", "LinalgVectorNormBackward0"), ("RandomBackward1", "RandomBackward0"))),
    ("Gradients", lambda what, wanted, got: what == "grad_fn" and got in ("DivBackward2", "RemainderBackward1") and wanted.endswith("NotImplemented")),
    ("Gradients", lambda what, wanted, got: what == "grad_fn" and (wanted, got) == ("DivBackward2", "DivBackward0")),
    ("Gradients", lambda what, wanted, got: what == "grad_fn" and (wanted, got) in (("SumBackward1", "SumBackward0"), ("MeanBackward1", "MeanBackward0"))),
]

VALUES = [
    ("Rounding", lambda case, dtype, wanted, got: re.search(r"\brenorm_?\((v\d+, )?\d{3}", case.statement) and wanted == 0),  # its powers overflow
    # With a 16-bit operand PyTorch rounds the gradient to 16 bits.
    ("Rounding", lambda case, dtype, wanted, got: dtype in ("float32", "float64") and re.search(r"\b(backward|grad)\(", case.statement)
     and has_halves(case)
     and abs(wanted - got) <= 2.0**-6 * abs(wanted)),
    # PyTorch, too, computes these in float32.
    ("Rounding", lambda case, dtype, wanted, got: dtype in ("float64", "complex128") and re.search(rf"\b({ROUNDED}|sqrt)\(.*out=", case.statement)
     and abs(wanted - got) <= 3 * 2.0**-24 * abs(wanted)),
    ("Rounding", lambda case, dtype, wanted, got: re.search(r"\berf_?\(", case.statement) and has_halves(case) and abs(wanted - got) <= 5e-7),
    ("Rounding", lambda case, dtype, wanted, got: re.search(r"\b(sinh|cosh)_?\(", case.statement)
     and math.isinf(wanted) and wanted * got > 0 and abs(got) > 1e38),
    ("all and any into a uint8 out", lambda case, dtype, wanted, got: dtype == "uint8" and re.search(r"\b(all|any)\(.*out=", case.statement)
     and not re.search(r"\(\)|\[\]", case.statement)),
    ("Rounding", lambda case, dtype, wanted, got: wanted == got == 0 and re.search(r"\b(minimum|maximum|fmin|fmax|amin|amax|aminmax|min|max|(?:clamp|clamp_min|clamp_max|clip|lerp)_?)\(", case.statement)),
    ("Softmax, ranks and searches", lambda case, dtype, wanted, got: dtype == "bool" and re.search(r"\bisin\((elements=)?[^v]", case.statement)),
    ("Rounding", lambda case, dtype, wanted, got: re.search(r"\bsigmoid_?\(", case.statement) and max(abs(wanted), abs(got)) < 1.2e-38),
    ("Rounding", lambda case, dtype, wanted, got: re.search(r"\bpow_?\(", case.statement) and math.isinf(wanted) and math.isinf(got)),
    ("Rounding", lambda case, dtype, wanted, got: re.search(r"\blogaddexp2?\(", case.statement) and abs(wanted - got) <= (2.0**-50 if dtype == "float64" else 2.0**-20)),
    ("Rounding", lambda case, dtype, wanted, got: dtype.startswith("float") and re.search(r"_window\(", case.statement) and abs(wanted - got) <= {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(dtype, 2.0**-22)),
    # prod multiplies in another order.
    ("Rounding", lambda case, dtype, wanted, got: (wanted == 0 or got == 0) and (wanted != wanted or got != got) and re.search(r"\bprod\(", case.statement)),
    ("Rounding", lambda case, dtype, wanted, got: wanted != wanted and got == got and re.search(r"\b(remainder|fmod)_?\(|%", case.statement)),
]


def has_halves(case):
    return any(isinstance(value, torch.Tensor) and value.dtype in (torch.bfloat16, torch.float16) for value in case.variables.values())


def has_huge_strides(case):
    return any(abs(stride) >= 2**60 for value in case.variables.values() if isinstance(value, torch.Tensor) for stride in value.stride())


def is_index_of_an_equal_element(case, what):
    """Whether topk or kthvalue gave the same elements, some with other indices."""
    name = what.split()[1]
    if not re.search(r"\b(topk|kthvalue)\(", case.statement) or not what.startswith("value: ") or name not in case.variables:
        return False
    theirs, ours = case.variables[name], case.our_variables[name]
    return isinstance(theirs, tuple) and str(theirs[0].tolist()).replace("-0.0", "0.0") == str(ours[0].tolist()).replace("-0.0", "0.0") and theirs[1].tolist() != ours[1].tolist()


def are_nodes_of_products(what):
    """Whether a value differs only in names of nodes of matrix products."""
    match = re.fullmatch(r"value: \w+ is (.*) in PyTorch, (.*) in Tenon", what)
    if not match:
        return False
    names = r"(?:torch::autograd::)?\b(\w+Backward\d|NotImplemented)\b"
    wanted, got = (re.findall(names, side) for side in match.groups())
    same = len(wanted) == len(got) and re.sub(names, "", match[1]) == re.sub(names, "", match[2])
    return bool(wanted) and same and all(a == b or known_attribute("grad_fn", a, b) for a, b in zip(wanted, got))


def differs_in_flags(what):
    """Whether only bools differ: rows of PyTorch's unbind without a graph do not require grad once their node was read."""
    wanted, got = what.split(" is ", 1)[1].removesuffix(" in Tenon").split(" in PyTorch, ")
    return wanted.replace("True", "False") == got.replace("True", "False")


def differs_by_rounding(what):
    """Whether only numbers differ, by a rounding error."""
    wanted, got = what.split(" is ", 1)[1].removesuffix(" in Tenon").split(" in PyTorch, ")
    number = r"'-?[\d.]+(?:e[-+]?\d+)?'"
    pairs = zip(*([float(text.strip("'")) for text in re.findall(number, side)] for side in (wanted, got)))
    return re.sub(number, "", wanted) == re.sub(number, "", got) and all(math.isclose(a, b, rel_tol=2.0**-6 if "float16" in what else 1e-5, abs_tol=1e-6) for a, b in pairs)


def are_edges_of_another_node(case, what):
    """Whether a value is the next_functions of a node that has another name, or that lacks entries for omitted arguments."""
    of = re.search(r"in (v\d+)\.grad_fn\.next_functions\]$", case.statement)
    if not of:
        return False
    node, our_node = case.variables[of[1]].grad_fn, case.our_variables[of[1]].grad_fn
    if node.name() != our_node.name() or any(gradient is case.variables[of[1]] for gradient in case.gradients):
        return True
    wanted, got = (re.findall(r"'([^']*)'", side) for side in what.split(" in PyTorch, "))
    return len(wanted) == len(got) and all(a == b or known_attribute("grad_fn", a, b) for a, b in zip(wanted, got))


def known_error(case):
    return next((heading for heading, test in ERRORS if test(case)), None)


def known_warning(case, theirs, ours):
    return next((heading for heading, test in WARNINGS if test(case, theirs, ours)), None)


def known_state(case, what, unchanged):
    return next((heading for heading, test in STATES if test(case, what, unchanged)), None)


def known_attribute(what, wanted, got):
    return next((heading for heading, test in ATTRIBUTES if test(what, wanted, got)), None)


def known_value(case, dtype, wanted, got):
    return next((heading for heading, test in VALUES if test(case, dtype, wanted, got)), None)


def headings():
    return {heading for table in (ERRORS, WARNINGS, STATES, ATTRIBUTES, VALUES) for heading, _ in table}


def missing_headings():
    """The headings in the tables that docs/differences.md does not have."""
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "differences.md"
    there = {line.removeprefix("## ").strip() for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("## ")}
    return sorted(headings() - there)
