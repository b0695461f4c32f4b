"""Runs a program in PyTorch and in Tenon at the same time and compares every variable after every statement."""
import ctypes
import marshal
import cmath
import math
import re
import typing
import warnings

import tenon
import torch

import known
from alone import CopiedOperands, SeparateOut
from known import read_ops

bytes_of_storage = tenon._tenon._bytes  # all bytes of a storage as a tensor; unlike an export, it does not forbid resizing

TORCH_NAMES = {value: str(value).removeprefix("torch.") for value in vars(torch).values() if isinstance(value, torch.dtype)}
TENON_NAMES = {value: str(value).removeprefix("tenon.") for value in vars(tenon).values() if isinstance(value, tenon.dtype)}
EPS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52, "complex64": 2**-23, "complex128": 2**-52}
LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.402e38, "float64": 1.797e308}
# The allowed difference of complex numbers, relative to the magnitude.
COMPLEX_ULPS = 16

# Calls that give uninitialised memory or random numbers: in both libraries the elements are set to zero, so that programs
# can continue.
UNINITIALISED = re.compile(r"\b(?:empty|empty_like|empty_strided|empty_permuted|new_empty|resize_|resize_as_|rand|randn|randint|rand_like|randn_like|uniform_|normal_|random_)\(")
RANDOM = re.compile(r"\b(?:rand\w*|uniform_|normal_|random_|geometric_|normal|poisson)\(|\bempty\(.*out=")

# Allowed errors in ulp of the result: both libraries may have the declared error, and PyTorch's sqrt an error of one.
# All other results must have the same bits.
DECLARED = {name: 2 * ulps for name, ulps in known.ULPS.items()} | {"sqrt": 1}
ULPS = DECLARED | {name + "_": ulps for name, ulps in DECLARED.items()}
# Ops that sum or multiply in another order: errors of a few roundings of the largest magnitude involved.
FOLDS = "|".join(op.name for op in read_ops() if op.is_public and op.kind != "map" and "ulp" in op.facts)
PRODUCTS = "|".join(op.name for op in read_ops() if op.facts.get("shapes"))
SUMMING = re.compile(rf"\b(?:(?:{FOLDS}|{PRODUCTS})_?|sum_to_size|backward|grad|alpha|linspace|allclose|isclose|cross)\b|\b(?:add|sub)_?\(.*(?:,.*,|, other=)|(?<!T)\.(?:add|sub)_?\(.*, |@|1 / |\breciprocal|/=|/ ")
ROUNDINGS = 32
MANY = 100_000  # elements


class Side(typing.NamedTuple):
    """One library's side of a run."""
    module: object
    variables: dict
    caught: list


# Statements that change the sizes of a tensor which other variables or the graph refer to.
RESHAPED = re.compile(r"\.data = |out=.*requires_grad=True|(no_grad\(\)|enabled\(False\)): .*\.(squeeze|unsqueeze|t|transpose|swapaxes|swapdims)_\(")


class Difference(Exception):
    """A difference after a statement."""


def first_line(error):
    """The first line of an error, without PyTorch's list of backends, and with the same names of types in both libraries."""
    text = str(error).split("\n")[0].split(" This could be because the operator doesn't exist for this backend")[0]
    return re.sub(r"\bCPU(\w+)Type\b", r"torch.\1Tensor", text)


def torch_attributes(tensor):
    node = tensor.grad_fn
    return (TORCH_NAMES[tensor.dtype], tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.requires_grad, tensor.is_leaf,
            node and node.name(), tensor._version)


def tenon_attributes(tensor):
    node = tensor.grad_fn
    return (TENON_NAMES[tensor.dtype], tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.requires_grad, tensor.is_leaf,
            node and node.name(), tensor._version)


ATTRIBUTE_NAMES = ("dtype", "shape", "stride", "storage_offset", "requires_grad", "is_leaf", "grad_fn", "_version")


def torch_storage(tensor):
    if tensor._is_zerotensor():  # a gradient of zeros may have no memory
        return 0, 0
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


def tenon_storage(tensor):
    storage = bytes_of_storage(tensor)
    return storage.data_ptr(), storage.numel()


def gradient_of(tensor):
    return tensor.grad if (tensor.is_leaf or tensor.retains_grad) else None


def numbers_of(tensor):
    """The values as nested lists; an empty list for a tensor that is too large or has no values."""
    if isinstance(tensor, torch.Tensor) and tensor._is_zerotensor():
        tensor = tensor.clone()
    return [] if tensor.is_meta or min(tensor.shape, default=0) < 0 or math.prod(size for size in tensor.shape if size) > MANY else tensor.tolist()


def history_error(tensor):
    """The error of reading grad_fn: of a view that was made under no_grad, and whose base was written since."""
    try:
        tensor.grad_fn
    except RuntimeError as error:
        return first_line(error)
    return None


def only_tenon_ran_out_of_memory(case):
    """Both libraries run in one process with a memory limit, so only one of them may run out of memory."""
    return case.theirs is None and type(case.ours).__name__ == "OutOfMemoryError"


def flat(values):
    return [number for value in values for number in flat(value)] if isinstance(values, list) else [values]


def alike(a, b):
    """Whether two numbers are equal, also in the sign of a zero. The parts of complex numbers that are not finite are not
    compared: docs/differences.md."""
    if isinstance(a, complex):
        return a == b or not cmath.isfinite(a) and not cmath.isfinite(b)
    return a == b and (a != 0 or math.copysign(1, a) == math.copysign(1, b)) or a != a and b != b


def plain(value):
    """Converts a result to types that both libraries share."""
    if isinstance(value, (torch.dtype, torch.device, torch.layout, tenon.dtype, tenon.device, tenon.layout)):
        return str(value).removeprefix("torch.").removeprefix("tenon.")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (torch.Tensor, tenon.Tensor)):
        attributes = torch_attributes(value) if isinstance(value, torch.Tensor) else tenon_attributes(value)
        return [plain(part) for part in attributes[:-1]] + [plain(numbers_of(value))]  # versions: see Run.version_offset
    if isinstance(value, float):
        return repr(value) if value == value else "nan"
    if isinstance(value, (int, str, type(None))):
        return value
    return type(value).__name__


class Run:
    """A running program. `step` raises Difference; `notes` collects the headings of intended differences."""

    def __init__(self, modules=(torch, tenon)):
        self.theirs, self.ours = (Side(module, {"T": module}, []) for module in modules)
        self.before = {}    # name -> Tenon's variable after the last statement
        self.versions = {}  # name -> a pair of tensors, and the first difference of their versions
        self.notes = []
        self.ended = False
        self.counts_versions = True
        self.failed_out = self.out_is_operand = self.has_views_without_graph = False
        self.replaced_data = False
        self.gradients = []  # PyTorch's tensors that `grad` returned
        for module in modules:
            module.set_default_dtype(module.float32)

    # --- one statement ----------------------------------------------------------------------------------------------

    def perform(self, code, side):
        warnings.showwarning = lambda message, category, *_: side.caught.append(
            f"{category.__name__}: {str(message).split(' (Triggered internally')[0]}")
        side.caught.clear()
        try:
            exec(code, side.variables)
        except Exception as error:  # any: its type is compared
            return error
        return None

    def step(self, statement, on_side=lambda side: None):
        if self.ended:
            return
        code = compile(statement, "program", "exec")
        uninitialised = UNINITIALISED.search(statement)
        self.counts_versions = self.counts_versions and ".data" not in statement  # see differences.md, Gradients
        storages = {name: torch_storage(value) for name, value in self.tensors(self.theirs.variables) if not value.is_meta} if uninitialised else {}
        self.replaced_data = self.replaced_data or bool(RESHAPED.search(statement))
        copied = CopiedOperands.of(statement, self.theirs.variables)
        separate = SeparateOut.of(statement, self.theirs.variables)
        on_side(0)
        theirs = self.perform(code, self.theirs)
        on_side(1)
        ours = self.perform(code, self.ours)
        on_side(2)
        self.gradients += [value for name, value in self.tensors(self.theirs.variables) if statement.startswith(f"{name} = T.autograd.grad(")]
        self.has_views_without_graph = self.has_views_without_graph or bool(re.search(r"(no_grad\(\)|enabled\(False\)): v\d+ = ", statement))
        self.out_is_operand = self.out_is_operand or bool(re.search(r"\b(v\d+)\b.*\bout=\1\.", statement))
        self.failed_out = self.failed_out or bool(theirs and ours and re.search("out=|resize_", statement))  # PyTorch has resized it
        case = known.Case(statement, theirs, ours, self.theirs.variables, self.ours.variables, self.gradients)
        try:
            self.compare_outcomes(case)
        except Difference:
            if separate and separate.gives_the_same(first_line, ours, self.ours.variables):
                return self.end("Writing to memory that is also read")
            if "setStorage" in str(ours) and self.failed_out:
                return self.end("Calls that fail")
            if self.has_views_without_graph and ours is None and "modified by an inplace operation" in str(theirs):
                return self.end("Gradients")
            if not self.replaced_data and not (not self.counts_versions and "modified by an inplace operation" in str(ours)):
                raise
            return self.end("Gradients")
        if uninitialised:
            self.zero_uninitialised(storages)
        try:
            self.compare_variables(case)
        except Difference as difference:
            heading = known.known_state(case, str(difference), self.unchanged())
            if (self.replaced_data or not self.counts_versions) and re.match("(grad_fn|grad|requires_grad|is_leaf|shape|dtype|error: grad_fn of .*): |values: v\\d+\\.grad", str(difference)):
                heading = "Gradients"
            if heading is None and self.out_is_operand and str(difference).startswith("values: ") and re.search(r"resize_\(|as_strided\(", statement):
                heading = "Writing to memory that is also read"  # bytes after the elements
            if heading is None and separate and separate.gives_the_same(first_line, ours, self.ours.variables):
                heading = "Writing to memory that is also read"
            if heading is None and copied and self.is_result_of_copies(case, copied):
                heading = "Writing to memory that is also read"
            if heading is None:
                raise
            self.end(heading)

    def is_result_of_copies(self, case, copied):
        """Whether Tenon's variables are those that PyTorch gives with copied operands."""
        if case.theirs or case.ours:
            return False
        try:
            copied.run(self.theirs.variables)
            self.versions.clear()  # PyTorch has written twice
            self.compare_variables(case)
        except (Difference, RuntimeError, IndexError, TypeError, ValueError):
            return False
        return True

    def end(self, heading):
        """Notes an intended difference after which nothing can be compared."""
        self.notes.append(heading)
        self.ended = True

    def unchanged(self):
        """Whether the statement left all of Tenon's variables unchanged."""
        now = {name: self.our_state(value) for name, value in self.tensors(self.ours.variables) if not history_error(value)}
        return now == self.before

    @staticmethod
    def our_state(tensor):
        return tenon_attributes(tensor), marshal.dumps(numbers_of(tensor), 2)

    # --- errors and warnings ----------------------------------------------------------------------------------------

    def compare_outcomes(self, case):
        heading = None
        if only_tenon_ran_out_of_memory(case):
            return self.end("Only Tenon ran out of memory")
        if not self.same_error(case):
            heading = known.known_error(case)
            if heading is None:
                raise Difference(f"error: PyTorch {self.described(case.theirs)}; Tenon {self.described(case.ours)}")
            self.notes.append(heading)
            if (case.theirs is None) != (case.ours is None):
                self.ended = True
        theirs, ours = (list(dict.fromkeys(side.caught)) for side in (self.theirs, self.ours))
        if theirs != ours and not heading:
            heading = known.known_warning(case, theirs, ours)
            if heading is None:
                raise Difference(f"warnings: PyTorch {theirs}; Tenon {ours}")
            self.notes.append(heading)

    @staticmethod
    def same_error(case):
        theirs, ours = case.theirs, case.ours
        if theirs is None or ours is None:
            return theirs is ours
        if type(theirs).__name__ != type(ours).__name__:
            return type(ours).__name__ == "OutOfMemoryError" and "can't allocate memory" in str(theirs)
        return first_line(theirs) == first_line(ours)

    @staticmethod
    def described(error):
        return "raises nothing" if error is None else f"{type(error).__name__}: {first_line(error)}"

    # --- variables --------------------------------------------------------------------------------------------------

    @staticmethod
    def tensors(variables):
        return [(name, value) for name, value in variables.items() if isinstance(value, (torch.Tensor, tenon.Tensor))]

    def compare_variables(self, case):
        if self.ended:
            return
        before, self.before = self.before, {}
        mine, yours = self.ours.variables, self.theirs.variables
        found = []  # (name, PyTorch's, Tenon's)
        for name, theirs in list(yours.items()):
            if name == "T" or name.startswith("__"):
                continue
            if name not in mine:
                raise Difference(f"{name}: only in PyTorch")
            ours = mine[name]
            if not isinstance(theirs, torch.Tensor) or not isinstance(ours, tenon.Tensor):
                if plain(theirs) != plain(ours):
                    self.before = before
                    raise Difference(f"value: {name} is {plain(theirs)!r} in PyTorch, {plain(ours)!r} in Tenon")
                del yours[name], mine[name]
                continue
            found.append((name, theirs, ours))
            if history_error(theirs) or history_error(ours):
                if history_error(theirs) != history_error(ours):
                    self.before = before
                    raise Difference(f"error: grad_fn of {name}: PyTorch {history_error(theirs)}; Tenon {history_error(ours)}")
                found.pop()
                continue
            gradients = gradient_of(theirs), gradient_of(ours)
            if (gradients[0] is None) != (gradients[1] is None):
                self.before = before
                raise Difference(f"grad: {name}.grad is {'None' if gradients[0] is None else 'there'} in PyTorch, not in Tenon")
            if gradients[0] is not None:
                errors = [history_error(gradient) for gradient in gradients]
                if errors[0] != errors[1]:
                    self.before = before
                    raise Difference(f"error: grad_fn of {name}.grad: PyTorch {errors[0]}; Tenon {errors[1]}")
                if not errors[0]:
                    found.append((name + ".grad", *gradients))
        try:
            self.compare_identity(found)
            for name, theirs, ours in found:
                self.compare_tensor(case, name, theirs, ours)
        except Difference:
            self.before = before
            raise

    def compare_identity(self, found):
        """Compares which names are one object, and which tensors share a storage."""
        patterns = [], []
        for side in (0, 1):
            objects, storages = {}, {}
            for name, *both in found:
                tensor = both[side]
                storage = None
                if not tensor.is_meta:
                    pointer, nbytes = (torch_storage, tenon_storage)[side](tensor)
                    storage = storages.setdefault(pointer, name) if nbytes and tensor.numel() else None
                patterns[side].append((name, objects.setdefault(id(tensor), name), storage))
        for pattern in patterns:
            shared = [storage for _, _, storage in pattern]
            pattern[:] = [(name, same, storage if shared.count(storage) > 1 else None) for name, same, storage in pattern]
        if patterns[0] != patterns[1]:
            for theirs, ours in zip(*patterns):
                if theirs[1] != ours[1]:
                    raise Difference(f"identity: {theirs[0]} is {theirs[1]} in PyTorch, {ours[1]} in Tenon")
                if theirs != ours:
                    raise Difference(f"storage: {theirs[0]} has that of {theirs[2]} in PyTorch, {ours[2]} in Tenon")

    def compare_tensor(self, case, name, theirs, ours):
        their_attributes, our_attributes = torch_attributes(theirs), tenon_attributes(ours)
        offset = our_attributes[-1] - their_attributes[-1]
        if self.counts_versions:
            offset = self.version_offset(name, (id(theirs), id(ours)), offset)
        their_attributes = their_attributes[:-1] + (their_attributes[-1] + offset,)
        if their_attributes != our_attributes:
            for what, wanted, got in zip(ATTRIBUTE_NAMES, their_attributes, our_attributes):
                if wanted != got and not known.known_attribute(what, wanted, got):
                    raise Difference(f"{what}: {name} has {wanted} in PyTorch, {got} in Tenon")
        if theirs.is_meta or ours.is_meta:
            if theirs.is_meta != ours.is_meta:
                raise Difference(f"device: {name}")
            return
        wanted, got = numbers_of(theirs), numbers_of(ours)
        bits = marshal.dumps(got, 2)
        if bits != marshal.dumps(wanted, 2):
            self.compare_values(case, name, theirs, wanted, got)
            self.copy_elements(theirs, ours)
            bits = marshal.dumps(numbers_of(ours), 2)
        if not name.endswith(".grad"):
            self.before[name] = our_attributes, bits

    def version_offset(self, name, pair, offset):
        """The difference of a pair's versions when the pair was first seen: the writes that made a tensor are not compared."""
        if self.versions.get(name, (None, 0))[0] != pair:
            self.versions[name] = pair, offset
        return self.versions[name][1]

    def compare_values(self, case, name, tensor, wanted, got):
        dtype = TORCH_NAMES[tensor.dtype]
        if RANDOM.search(case.statement):
            return
        wanted, got = flat(wanted), flat(got)
        allowed = None
        for index, (a, b) in enumerate(zip(wanted, got)):
            if alike(a, b):
                continue
            if allowed is None:
                allowed = self.tolerance(case, dtype)
            if dtype in EPS and self.near(a, b, dtype, *allowed):
                continue
            if known.known_value(case, dtype, a, b):
                continue
            raise Difference(f"values: {name}[{index}] of {len(wanted)} is {a!r} in PyTorch, {b!r} in Tenon")

    def tolerance(self, case, dtype):
        """The allowed (ulps, absolute error) of a statement."""
        ulps = max([ULPS.get(word, 0) for word in re.findall(r"\w+", case.statement)] or [0])
        if not SUMMING.search(case.statement):
            return ulps, 0.0, dtype
        largest, coarsest = 1.0, EPS.get(dtype, 0.0)
        if "logsumexp" in case.statement:  # integers are computed in the default dtype, whatever out= is
            coarsest = max(coarsest, EPS["float32"])
        for _, tensor in self.tensors(case.variables):
            if not tensor.is_meta and (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
                magnitudes = [abs(number) for number in flat(numbers_of(tensor)) if math.isfinite(abs(number))]
                largest = max([largest] + magnitudes)
                coarsest = max(coarsest, EPS[TORCH_NAMES[tensor.dtype]])
        return max(ulps, 4), ROUNDINGS * coarsest * largest, dtype

    @staticmethod
    def near(a, b, dtype, ulps, absolute, _):
        if isinstance(a, complex):
            return abs(a - b) <= max(max(ulps, COMPLEX_ULPS) * EPS[dtype] * max(abs(a), abs(b)), absolute)
        if a == b:
            return absolute > 0  # 0 and -0
        if math.isinf(a) or math.isinf(b):
            return absolute > 0 and max(abs(a), abs(b)) >= LARGEST[dtype] / 2
        return abs(a - b) <= max(ulps * EPS[dtype] * max(abs(a), abs(b)), absolute)

    @staticmethod
    def copy_elements(theirs, ours):
        """Copies PyTorch's elements to Tenon's tensor, so that a rounding error does not grow in later statements."""
        (source, size), (target, other) = torch_storage(theirs), tenon_storage(ours)
        if size == other and size:
            ctypes.memmove(target, source, size)

    def zero_uninitialised(self, storages):
        """Sets uninitialised memory to 0: all of a new storage, and the added part of a grown one."""
        old = {pointer for pointer, _ in storages.values()}
        for name, theirs in self.tensors(self.theirs.variables):
            ours = self.ours.variables.get(name)
            if theirs.is_meta or not isinstance(ours, tenon.Tensor) or ours.is_meta:
                continue
            kept = storages[name][1] if name in storages else 0
            if name not in storages and torch_storage(theirs)[0] in old:
                continue  # a view
            for pointer, size in (torch_storage(theirs), tenon_storage(ours)):
                if size > kept:
                    ctypes.memset(pointer + kept, 0, size - kept)
