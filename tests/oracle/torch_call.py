"""Makes a call in PyTorch and describes its outcome."""
import functools
import warnings

import torch

from declared import DECLARED
from request import BY_NAME, number_of, open_storages, operands_of, shares, view_of


def operator(op, form, operands):
    """The expression with the op's symbol."""
    names = dict(zip("ab", operands))
    symbol = DECLARED[op].facts["symbol"]
    if form == "compound":
        exec(f"a {symbol}= b", names)
        return names["a"]
    return eval(f"a {symbol} b" if len(operands) > 1 else f"{symbol}a", names)


# torch.nn.functional's names of functions that are called otherwise below it.
NN_NAMES = {"logsigmoid": "log_sigmoid"}


# What torch's functions of these names, which are written in Python, call.
BEHIND_PYTHON = {
    "unique": torch._unique2, "unique_dim": torch._VF.unique_dim, "unique_consecutive": torch._VF.unique_consecutive, "cdist": torch._VF.cdist,
    "tensordot": torch._VF.tensordot, "einsum": lambda tensors, equation: torch._VF.einsum(equation, tensors), "linear": torch._C._nn.linear,
    "pdist": torch.pdist, "layer_norm": torch.layer_norm, "group_norm": torch.group_norm, "rms_norm": torch.rms_norm,
}  # fmt: skip


def function(op):
    if DECLARED[op].module == "nn.functional" and (DECLARED[op].kind == "map" or op == "glu"):  # functional.py has no out=
        return getattr(torch._C._nn, NN_NAMES.get(op, op))
    if DECLARED[op].name.endswith(("_pad1d", "_pad2d", "_pad3d", "one_hot")):
        return getattr(torch._C._nn, op)
    if DECLARED[op].name == "split":  # whose function is written in Python
        return torch._C._VariableFunctions.split
    if DECLARED[op].name in BEHIND_PYTHON:
        return BEHIND_PYTHON[DECLARED[op].name]
    names = [*filter(None, DECLARED[op].module.split(".")), DECLARED[op].python_name]
    return functools.reduce(getattr, names, torch)


def inplace_function(op):
    """The function NAME_ of an op whose in-place form is no method; None where it is one."""
    if DECLARED[op].is_method:
        return None
    return getattr(torch._C._nn if DECLARED[op].module else torch, DECLARED[op].name + "_")


WIDE_UNSIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def keyword_value(op, name, value, operands):
    """The value of a keyword of a request in PyTorch, by the parameter's declared type."""
    declared = {parameter.name: parameter for parameter in DECLARED[op].parameters}[name]
    if declared.is_operand():
        return operands[value]
    if declared.type.startswith("ScalarType"):
        return BY_NAME[value]
    if declared.type.startswith("float["):
        return [number_of(number) for number in value]
    return number_of(value) if isinstance(value, dict) else value


def call_torch(request, operands, out):
    op, form, keywords = request["op"], request["form"], dict(request["keywords"])
    if op in DECLARED and any(parameter.is_list() for parameter in DECLARED[op].parameters):
        if op in ("block_diag", "cartesian_prod"):
            return function(op)(*operands)
        return function(op)(operands, **keywords, **({"out": out} if form == "out" else {}))
    a = operands[0] if operands else None  # a factory
    if op == "to":
        return a.to(BY_NAME[keywords["dtype"]])
    if op in ("clone", "contiguous"):
        return getattr(a, op)()
    if op in ("copy", "fill"):
        return getattr(a, op + "_")(operands[1])
    if op in ("expand", "reshape", "sum_to_size"):
        return getattr(a, op)(keywords["sizes"])
    if form == "operator":
        if op == "div" and not isinstance(a, torch.Tensor):
            # In Python PyTorch multiplies by the reciprocal; Tenon and PyTorch's C++ divide.
            common = torch.result_type(a, operands[1])
            return torch.div(torch.tensor(a, dtype=common if common.is_floating_point or common.is_complex else torch.float32), operands[1])
    if op == "bitwise_not" and form == "operator":
        return torch.bitwise_not(a)  # in Python PyTorch refuses floats with another text
    if form in ("operator", "compound"):
        return operator(op, form, operands)
    if op in ("flip", "fliplr", "flipud", "rot90") and a.dtype in WIDE_UNSIGNED:  # for which PyTorch lacks code in some layouts
        return function(op)(a.view(WIDE_UNSIGNED[a.dtype]), **keywords).view(a.dtype)
    if op in ("clamp", "clip"):
        bounds = [operands[keywords[bound]] if bound in keywords else None for bound in ("min", "max")]
        operands, keywords = [a] + bounds, {}
    keywords = {name: keyword_value(op, name, value, operands) for name, value in keywords.items()}
    if DECLARED[op].module == "nn.functional" and DECLARED[op].kind == "algorithm":  # whose operands have other places there
        keywords |= {parameter.name: operand for parameter, operand in zip(DECLARED[op].operands()[1:], operands[1:])}
        operands = [a]
    given = DECLARED[op].operands()[:len(operands)]
    if len(operands) > 1 and given != DECLARED[op].parameters[:len(given)]:  # other parameters stand between the operands
        keywords |= {"input" if parameter.name == "self" else parameter.name: operand for parameter, operand in zip(given[1:], operands[1:])}
        operands = [a]
    if DECLARED[op].operands() and not DECLARED[op].parameters[0].is_operand() and form not in ("method", "inplace"):  # polygamma(n, input)
        keywords |= {"input" if DECLARED[op].operands()[0].name == "self" else DECLARED[op].operands()[0].name: a}
        operands = []
    if "dim" in keywords:
        if op in ("all", "any") and not keywords["dim"]:
            # In C++ no dims means all dims; in Python all and any reduce no dims for ().
            keywords["dim"] = list(range(operands[0].dim()))
        if op == "mean" and form == "out" and not keywords["dim"] and not keywords["keepdim"]:
            del keywords["dim"], keywords["keepdim"]  # another overload, with another text
    if form == "method" and op == "where":
        return operands[1].where(operands[0], operands[2])
    if form == "inplace" and inplace_function(op):
        return inplace_function(op)(*operands, **keywords)
    if form in ("method", "inplace"):
        return getattr(operands[0], DECLARED[op].name + ("_" if form == "inplace" else ""))(*operands[1:], **keywords)
    if form != "out":
        return function(op)(*operands, **keywords)
    if op == "matmul" and is_folded_out(operands, out):
        return out.copy_(torch.matmul(*operands))
    result = function(op)(*operands, **keywords, out=out)
    if op in ("all", "any") and out.dtype == torch.uint8:
        # PyTorch casts the elements to uint8 first: 256 and 0.5 count as 0 (docs/differences.md).
        out.copy_(function(op)(*operands, **keywords))
    return result


def is_folded_out(operands, out):
    """Whether out= has the product's sizes, but leading dims that are not one dim in memory, which PyTorch's matmul needs
    (docs/differences.md)."""
    dims = sorted(operand.dim() for operand in operands)
    if dims[-1] < 3 or dims[0] > 2 or out.dim() < 2 or out.requires_grad:
        return False
    try:
        fits = torch.matmul(*operands).shape == out.shape
    except RuntimeError:
        return False
    return fits and out.dtype == operands[0].dtype and out.device == operands[0].device and not out.is_contiguous()


def op_has_reduction(op):
    return op in DECLARED and DECLARED[op].has_parameter("reduction")


class Unsupported(Exception):
    """PyTorch has no such form in Python."""


def torch_answer(request):
    storages = open_storages(request)
    operands = operands_of(request, storages)
    outs = tuple(view_of(out, storages) for out in request["out"])
    out = outs[0] if len(outs) == 1 else outs
    if request["op"] == "logsigmoid" and outs and out.shape != operands[0].shape:
        raise Unsupported("PyTorch resizes this output without its warning")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call_torch(request, operands, out)
            shared = [shared_storage(one, storages) for one in as_tuple(result)]
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
            text = str(error)
            if "INTERNAL ASSERT" in text:
                raise Unsupported(text) from None
            if request["op"] == "einsum" and text.startswith("expected scalar type"):
                raise Unsupported("which of several operands of different dtypes meet depends on the order of products") from None
            if request["op"] == "isin" and text.startswith("view size is not compatible"):
                raise Unsupported("PyTorch searches a view of operands that have none") from None
            if "ComplexHalf" in text or "complex<c10::Half>" in text:
                raise Unsupported("there is no complex32") from None
            if "invalid combination of arguments" in text or "must be Tensor, not" in text or "must be Number, not" in text or "required positional argument" in text:
                raise Unsupported(text) from None
            return {"error": (type(error).__name__, text.split("\n")[0].split(" This could be because the operator")[0])}
        except AttributeError as error:
            raise Unsupported(str(error)) from None
        if shares(request) and request["form"] in ("inplace", "compound", "functional"):
            # PyTorch may read elements that it has written; Tenon gives the functional result or an error.
            target = view_of(request["args"][0], open_storages(request))
            others = [operand.clone() if isinstance(operand, torch.Tensor) else operand
                      for operand in operands_of(request, open_storages(request))[1:]]
            try:
                result = call_torch(request, [target] + others, None)
            except RuntimeError:  # PyTorch refuses to write to the output, so Tenon may refuse it, too
                pass
    if isinstance(result, torch.Tensor) and result.dtype == torch.complex32:
        raise Unsupported("there is no complex32")
    if op_has_reduction(request["op"]):  # functional.py gives these, not the function behind it
        caught = [w for w in caught if not str(w.message).startswith(("reduction: 'mean' divides", "Using a target size"))]
    texts = [f"{w.category.__name__}: {str(w.message).split(' (Triggered internally')[0]}" for w in caught]
    return {"results": as_tuple(result), "shared": shared, "warnings": texts}


def as_tuple(result):
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def shared_storage(result, storages):
    """The number of the storage that a result shares; None if it has its own."""
    if not isinstance(result, torch.Tensor):
        return None
    address = result.untyped_storage().data_ptr()
    return next((i for i, storage in enumerate(storages) if address and storage.untyped_storage().data_ptr() == address), None)


def unsafe_for_torch(request):
    """Calls that crash PyTorch: the smallest integer divided by -1, also in floor_divide, gcd and lcm, and tril and triu into an out= whose matrices do not
    follow each other, which write outside its memory. Calls that it does not compute: gelu into an out= that is not
    contiguous stays there as it was. threshold, and tril and triu in place, write to overlapping elements.
    Losses that differ on purpose: of no classes, and the layout of a huber_loss with weights (docs/differences.md)."""
    if request["op"] in ("median_dim", "nanmedian_dim") and any(stride == 0 and size > 1 for size, stride in zip(request["args"][0]["shape"], request["args"][0]["strides"])):
        return True  # PyTorch reads beyond expanded elements
    if request["op"] in ("mode", "unique", "unique_dim") and holds_nan(request):  # which their sorting does not order
        return True
    dtypes = {request["storages"][one["storage"]]["dtype"] for one in request["args"] if "storage" in one}
    if request["op"] == "isin_of_number":  # which takes the number for one of the operand's dtype
        number = number_of(request["keywords"]["element"])
        return bool(dtypes & {"uint16", "uint32", "uint64"}) or isinstance(number, int) and abs(number) > 127
    if request["op"] in ("bilinear", "pixel_shuffle", "pixel_unshuffle"):  # whose errors name one of several kernels
        return not all(dtype.startswith(("float", "bfloat", "complex")) for dtype in dtypes) and (request["op"] == "bilinear" or bool(dtypes & {"uint16", "uint32", "uint64"}))
    if request["op"] == "binary_cross_entropy_with_logits" and any(dtype.startswith("complex") for dtype in dtypes):
        return True  # of complex targets alone it computes something
    # Of a tensor with strange strides of dims of size 1 it reads other memory.
    if request["op"] == "gelu" and (request["form"] == "out" or 1 in request["args"][0]["shape"]):
        return any("strides" in one and tuple(one["strides"]) != torch.empty(one["shape"], device="meta").stride() for one in request["args"] + request["out"])
    if request["op"] == "threshold" and request["form"] in ("out", "inplace"):
        return any(0 in one["strides"] for one in request["out"] or request["args"][:1])
    if request["op"] in ("nll_loss", "cross_entropy") and 0 in request["args"][0].get("shape", ()):
        return True
    if request["op"] == "huber_loss" and len(request["args"]) > 2:
        return request["keywords"].get("reduction") == "none"
    if request["op"] in ("hstack", "vstack", "row_stack", "dstack", "column_stack") and request["form"] == "out":
        # Of one tensor, PyTorch's cat writes to a copy if `out` is contiguous but for the strides of its dims of size 1.
        out = request["out"][0]
        return 1 in out["shape"] and tuple(out["strides"]) != torch.empty(out["shape"], device="meta").stride()
    if request["op"] in ("index_copy", "index_fill", "index_fill_value"):  # of no elements it takes a view of too much memory
        return 0 in request["args"][0]["shape"]
    if request["op"].startswith("as_strided_"):  # which takes negative sizes
        return any(size < 0 for size in request["keywords"].get("size", []))
    if request["op"] == "reflection_pad2d":  # of no images gives tensors of negative sizes
        return 0 in request["args"][0]["shape"]
    if request["op"] == "narrow_copy" and request["form"] == "out":
        # Of another dtype its error has another text (docs/differences.md). It writes to an out= as if that were contiguous.
        out = request["out"][0]
        if tuple(out["strides"]) != torch.empty(out["shape"], device="meta").stride():
            return True
        return len({request["storages"][one["storage"]]["dtype"] for one in request["args"] + request["out"]}) > 1
    written = request["out"][:1] or request["args"][:1]
    if request["op"] in ("tril", "triu") and request["form"] in ("out", "inplace") and any(stride == 0 and size > 1 for size, stride in zip(written[0]["shape"], written[0]["strides"])):
        return True
    if request["op"] in ("tril", "triu") and request["form"] == "out":
        out = request["out"][0]
        return len(out["shape"]) > 2 and tuple(out["strides"]) != torch.empty(out["shape"], device="meta").stride()
    if request["op"] in ("gcd", "lcm"):
        return any(has_smallest_integer(request, operand) for operand in request["args"])
    rounds = request["op"] == "div" and request["keywords"].get("rounding_mode")
    return (bool(rounds) or request["op"] == "floor_divide") and has_smallest_integer(request, request["args"][0])


def holds_nan(request):
    return any(bool(storage.isnan().any()) for storage in open_storages(request) if storage.dtype.is_floating_point)


def has_smallest_integer(request, first):
    if "storage" not in first or request["storages"][first["storage"]]["dtype"] not in ("int32", "int64"):
        return False
    values = open_storages(request)[first["storage"]]
    return bool((values == torch.iinfo(values.dtype).min).any())
