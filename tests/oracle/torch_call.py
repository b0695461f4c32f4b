"""A call in PyTorch, and what came of it."""
import warnings

import torch

from request import BY_NAME, number_of, open_storages, operands_of, shares, view_of

SYMBOLS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "neg": lambda a: -a,
}


def compound(op, a, b):
    if op == "add":
        a += b
    elif op == "sub":
        a -= b
    elif op == "mul":
        a *= b
    else:
        a /= b
    return a


def call_torch(request, operands, out):
    op, form, keywords = request["op"], request["form"], dict(request["keywords"])
    a = operands[0]
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
            # PyTorch multiplies by the reciprocal, from Python; Tenon, like PyTorch from C++, divides.
            common = torch.result_type(a, operands[1])
            return torch.div(torch.tensor(a, dtype=common if common.is_floating_point else torch.float32), operands[1])
        return SYMBOLS[op](*operands)
    if form == "compound":
        return compound(op, *operands)
    if op == "clamp":
        bounds = [operands[keywords[bound]] if bound in keywords else None for bound in ("min", "max")]
        operands, keywords = [a] + bounds, {}
    if "alpha" in keywords:
        keywords["alpha"] = number_of(keywords["alpha"])
    if keywords.get("dtype"):
        keywords["dtype"] = BY_NAME[keywords["dtype"]]
    if "dim" in keywords:
        if op in ("all", "any") and not keywords["dim"]:
            # In C++ no dims means all of them; from Python, all and any take () at its word.
            keywords["dim"] = list(range(operands[0].dim()))
        if op == "mean" and form == "out" and not keywords["dim"] and not keywords["keepdim"]:
            del keywords["dim"], keywords["keepdim"]  # another overload, with another text
    if form == "method" and op == "where":
        return operands[1].where(operands[0], operands[2])
    if form in ("method", "inplace"):
        return getattr(operands[0], op + ("_" if form == "inplace" else ""))(*operands[1:], **keywords)
    if form != "out":
        return getattr(torch, op)(*operands, **keywords)
    result = getattr(torch, op)(*operands, **keywords, out=out)
    if op in ("all", "any") and out.dtype == torch.uint8:
        # PyTorch casts the elements to uint8 first: 256 and 0.5 count as 0 (docs/differences.md).
        out.copy_(getattr(torch, op)(*operands, **keywords))
    return result


class Unsupported(Exception):
    """PyTorch has no such form from Python."""


def torch_answer(request):
    storages = open_storages(request)
    operands = operands_of(request, storages)
    out = view_of(request["out"], storages) if request["out"] else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call_torch(request, operands, out)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
            text = str(error)
            if "invalid combination of arguments" in text or "must be Tensor, not" in text or "must be Number, not" in text:
                raise Unsupported(text) from None
            return {"error": (type(error).__name__, text.split("\n")[0])}
        except AttributeError as error:
            raise Unsupported(str(error)) from None
        if shares(request) and request["form"] in ("inplace", "compound", "functional"):
            # PyTorch may read what it has written; Tenon promises the out-of-place result or an error.
            alone = open_storages(request)
            target = view_of(request["args"][0], alone)
            others = [operand.clone() if isinstance(operand, torch.Tensor) else operand
                      for operand in operands_of(request, open_storages(request))[1:]]
            try:
                result = call_torch(request, [target] + others, None)
            except RuntimeError:  # alone, the target is refused: so may it be here
                pass
    texts = [f"{w.category.__name__}: {str(w.message).split(' (Triggered internally')[0]}" for w in caught]
    return {"result": result, "warnings": texts}


def unsafe_for_torch(request):
    """Calls on which PyTorch itself stops the process: the smallest integer divided by -1."""
    if request["op"] != "div" or not request["keywords"].get("rounding_mode"):
        return False
    first = request["args"][0]
    if "storage" not in first or request["storages"][first["storage"]]["dtype"] not in ("int32", "int64"):
        return False
    values = open_storages(request)[first["storage"]]
    return bool((values == torch.iinfo(values.dtype).min).any())
