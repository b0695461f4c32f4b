"""Compares PyTorch's answer with Tenon's, with the allowed error of each op."""
import json
import math
import re
import warnings

import torch

from declared import DECLARED, OPS
from request import BY_NAME, NAMES, number_json, number_of, open_storages, operands_of, shares, tensor_of, view_of
from torch_call import WIDE_UNSIGNED, call_torch

REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def wanted_error(request, kind, text):
    """PyTorch's error text changed to Tenon's, for differences that docs/differences.md lists."""
    match = re.fullmatch(r"output with shape (\[.*\]) doesn't match the broadcast shape (\[.*\])", text)
    if match:
        target, shape = json.loads(match.group(1)), json.loads(match.group(2))
        if len(target) == len(shape):
            for dim in reversed(range(len(shape))):
                if target[dim] != shape[dim]:
                    return kind, (f"The expanded size of the tensor ({target[dim]}) must match the existing size "
                                  f"({shape[dim]}) at non-singleton dimension {dim}.")
    if request["form"] == "operator" and "number" in request["args"][0]:  # Python calls the tensor's reflected operator
        text = re.sub(r'^"(lt|le|gt|ge)_cpu"', lambda name: f'"{REFLECTED[name.group(1)]}_cpu"', text)
    return kind, text


def ordered_bits(tensor):
    """Maps floats to integers in the same order, so that neighbours differ by 1."""
    width = {2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
    bits = tensor.contiguous().view(width).to(torch.int64)
    low = -(2 ** (8 * tensor.element_size() - 1))
    return torch.where(bits < 0, low - bits, bits)


PRODUCTS = {op.name for op in OPS if op.facts.get("shapes") and op.module != "nn.functional"}  # matrix products; of small integers, so they are exact
# The largest errors that the ops declare.
ULPS = {op.name: float(op.facts["ulp"]) for op in OPS if (op.kind == "map" or op.module == "nn.functional") and "ulp" in op.facts}
LOSSES = {op.name for op in OPS if op.has_parameter("reduction")}


# The absolute error of PyTorch's erf of 16-bit floats near 0.
ERF_ERROR = 5e-7


def tolerance_ulps(op, dtype):
    """Each library may have the declared error. PyTorch's sqrt has up to 1 ulp; Tenon's is correctly rounded."""
    if op == "sqrt":
        return 1
    if op in PRODUCTS:
        if op in DECLARED and "ulp" in DECLARED[op].facts:
            return 2 * float(DECLARED[op].facts["ulp"]) if dtype.itemsize > 2 else 2
        return 0 if dtype.itemsize > 2 else 1  # PyTorch may round the product before it adds
    # 16-bit results are rounded from float32 results with that error.
    return 2 * ULPS.get(op, 0) if dtype.itemsize > 2 else min(ULPS.get(op, 0), 1)


NORMS = ("norm", "norm_named", "linalg_norm", "linalg_norm_named", "linalg_matrix_norm", "linalg_matrix_norm_named")
# Ops that are several steps, whose order and roundings are the library's own.
COMPOSED = {op.block for op in OPS if op.kind == "algorithm" and "ulp" in op.facts and not op.has_parameter("reduction") and op.name not in (*NORMS, "nanmean", "glu", "cumprod")} | {
    "linalg_cross", "cross", "linalg_multi_dot", "tensordot", "einsum", "matrix_power", "linalg_matrix_power", "bilinear"}  # fmt: skip


def within_composed_error(request, wanted, got):
    """Errors are compared with those that PyTorch makes itself, relative to its result in float64."""
    same = (wanted == got) | wanted.isnan() & got.isnan()
    if not (wanted.dtype.is_floating_point or wanted.dtype.is_complex):
        return same
    operands = operands_of(request, open_storages(request))
    tensors = [(operand if operand.is_complex() else operand.to(torch.float64)).abs().to(torch.float64) for operand in operands if isinstance(operand, torch.Tensor) and operand.numel()]
    largest = max([1.0, *(float(tensor.max()) for tensor in tensors)])
    smallest = min([1.0, *(float(tensor[tensor > 0].min()) for tensor in tensors if bool((tensor > 0).any()))])
    info = max((torch.finfo(wanted.dtype), torch.finfo(computed_dtype(request))), key=lambda info: info.eps)
    if not largest < info.max ** 0.25 or smallest < info.tiny ** 0.25:  # where a step may overflow, or be nothing
        return torch.ones_like(same)
    wide = [operand.to(torch.complex128 if operand.is_complex() else torch.float64) if isinstance(operand, torch.Tensor) else operand for operand in operands]
    keywords = {name: "float64" if name == "dtype" else value for name, value in request["keywords"].items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = call_torch(dict(request, form="functional", keywords=keywords), wide, None)
    scale = float(exact.abs().nan_to_num(0, 0, 0).max()) if exact.numel() else 0.0
    own = (wanted.to(exact.dtype) - exact).abs().nan_to_num(0, 0, 0)
    allowed = 4 * (float(own.max()) if own.numel() else 0.0) + 16 * info.eps * scale + 64 * torch.finfo(torch.float64).eps * largest ** 2 + info.tiny
    return same | ((wanted.to(exact.dtype) - got.to(exact.dtype)).abs() <= allowed)


def differing(request, wanted, got):
    """A mask of the elements that differ more than the op allows."""
    op = request["op"]
    if op in COMPOSED:
        return ~within_composed_error(request, wanted, got)
    if op in DECLARED and DECLARED[op].is_alias and DECLARED[op].block in DECLARED:
        op = DECLARED[op].block
        request = {**request, "op": op}
    if op in ("scatter_add", "index_add") or "reduce" in request["keywords"] or op == "put" and request["keywords"].get("accumulate"):
        return ~within_added_error(request, wanted, got)
    if op.startswith("histogram") and wanted.dtype.itemsize == 2:  # PyTorch rounds every partial sum: docs/differences.md
        sums = (a.to(torch.float64) for a in (wanted, got))
        return ~(torch.isclose(*sums, rtol=0, atol=64 * torch.finfo(wanted.dtype).eps * float(got.abs().nan_to_num(0, 0, 0).sum()), equal_nan=True))
    if op in DECLARED and DECLARED[op].file == "special-inl.h" and wanted.dtype.is_complex:  # real results in a complex out=
        return differing(request, wanted.real.contiguous(), got.real.contiguous()) | (got.imag != 0)
    if op == "ldexp":
        return ~within_power_of_2_error(request, wanted, got)
    if wanted.dtype.is_complex or (op in ("abs", "angle") and "complex" in request["storages"][0]["dtype"]):
        return ~within_complex_error(request, wanted, got)
    if not wanted.dtype.is_floating_point:
        return wanted != got
    same = (wanted == got) & (torch.signbit(wanted) == torch.signbit(got)) | wanted.isnan() & got.isnan()
    if op in ("amax", "amin", "aminmax", "max", "min", "max_other", "min_other", "maximum", "minimum", "fmax", "fmin", "clamp", "clip", "clamp_min", "clamp_max", "lerp", "softshrink", "unique", "unique_dim", "unique_consecutive") or names_any_of_equals(request):
        same |= wanted == got  # which of 0 and -0 PyTorch gives depends on its code path
    ulps = tolerance_ulps(op, wanted.dtype)
    if ulps:
        computed = computed_dtype(request)
        if computed.itemsize < wanted.dtype.itemsize:  # stored in a wider out=
            wanted, got = wanted.to(computed), got.to(computed)
            ulps = tolerance_ulps(op, computed)
        finite = ~wanted.isnan() & ~got.isnan()
        same |= finite & ((ordered_bits(wanted) - ordered_bits(got)).abs() <= ulps)
    if op in ("remainder", "fmod"):
        same |= wanted.isnan() & overflowing_quotient(request)  # docs/differences.md
    if op == "erf" and computed_dtype(request).itemsize == 2:
        same |= (wanted.to(torch.float64) - got.to(torch.float64)).abs() <= ERF_ERROR
    if op == "sigmoid":  # where exp(-x) overflows PyTorch gives 0
        same |= (wanted == 0) & (got >= 0) & (got < torch.finfo(computed_dtype(request)).tiny)
    if op in ("logaddexp", "logaddexp2"):
        same |= within_log_error(request, wanted, got)
    if op == "logit" and request["keywords"].get("eps") and number_of(request["keywords"]["eps"]) > 0.5:
        same |= wanted == -got  # which of two bounds in reversed order wins depends on PyTorch's loop
    if op == "pow":
        same |= within_power_error(request, wanted, got)
    if op in ("sinh", "cosh"):
        same |= (wanted == got.sign() * math.inf) & (got.abs() >= torch.finfo(computed_dtype(request)).max / 2)
    if op in DECLARED and DECLARED[op].file == "special-inl.h":
        same |= within_special_error(request, wanted, got)
    if op == "softshrink" and wanted.dtype.itemsize == 2:  # some of PyTorch's loops do not round lambd to 16 bits
        same |= (wanted.to(torch.float64) - got.to(torch.float64)).abs() <= torch.finfo(wanted.dtype).eps * abs(complex(number_of(request["keywords"].get("lambd", number_json(0.5)))))
    if op in LOSSES:
        same |= within_loss_error(request, wanted, got)
    if op == "softplus":  # a subnormal number is divided by beta
        same |= (wanted - got).abs() <= 2 * torch.finfo(wanted.dtype).tiny
    if op in ("gelu", "mish", "tanhshrink"):
        same |= within_operands_error(request, wanted, got)
    if "alpha" in request["keywords"] and op in DECLARED and DECLARED[op].kind == "map" and op not in ("elu", "celu"):
        same |= within_alpha_error(request, wanted, got)
    if op in ("sum", "nansum", "mean", "sum_to_size"):
        same |= within_sum_error(request, wanted, got)
    if op == "cumsum":
        same |= within_running_sum_error(request, wanted, got)
    if DECLARED.get(op) and (DECLARED[op].has_state or op in ("prod", "nanmean", *NORMS)):
        same |= within_fold_error(request, wanted, got)
    return ~same


def within_log_error(request, wanted, got):
    """The result is a sum of the larger operand and a logarithm: errors are relative to these."""
    dtype = computed_dtype(request)
    a, b = (operand.to(torch.float64).abs() for operand in operands_of(request, open_storages(request)))
    error = (wanted.to(torch.float64) - got.to(torch.float64)).abs()
    return (error <= 2 * torch.finfo(dtype).eps * torch.maximum(a, b).clamp(min=1)).nan_to_num().bool()


def within_power_of_2_error(request, wanted, got):
    """Equal numbers, or a power with the error of the exponent's dtype."""
    parts = [torch.view_as_real(side) if side.is_complex() else side for side in (wanted, got)]
    same = (parts[0] == parts[1]) | parts[0].isnan() & parts[1].isnan()
    same = same.all(-1) if wanted.is_complex() else same
    number, exponent = (operand.dtype for operand in operands_of(request, open_storages(request)))
    if wanted.is_complex():  # which part becomes NaN depends on PyTorch's code path
        same = same | ~parts[0].isfinite().all(-1)
    if number.is_floating_point and not (exponent.is_floating_point or exponent.is_complex):  # rounded once
        return same
    inexact = [dtype for dtype in (exponent, wanted.dtype) if dtype.is_floating_point or dtype.is_complex]
    eps = max(torch.finfo(dtype).eps for dtype in inexact or [torch.float32])
    return same | ((wanted - got).abs() <= (8 if wanted.is_complex() else 2) * eps * wanted.abs() + torch.finfo(wanted.dtype).tiny)


def within_power_error(request, wanted, got):
    """PyTorch computes 3 and -2 as exponents of bfloat16 by rounded products. The exponent that is a number has float64's
    precision in its loop over single elements, float32's in that over vectors: 2**31 - 1 is odd in only one of them."""
    exponent = number_of(request["args"][1]) if "number" in request["args"][1] else 0
    if exponent == 2**31 - 1 and computed_dtype(request) == torch.float32:
        return wanted.abs() == got.abs()
    if exponent in (3, -2) and computed_dtype(request) == torch.bfloat16 and wanted.dtype == torch.bfloat16:
        return ~wanted.isnan() & ~got.isnan() & ((ordered_bits(wanted) - ordered_bits(got)).abs() <= 2)
    return torch.zeros_like(wanted, dtype=torch.bool)


def within_special_error(request, wanted, got):
    """Where PyTorch's special functions have larger errors than the declared ones."""
    block, computed = DECLARED[request["op"]].block, computed_dtype(request)
    eps = max(torch.finfo(wanted.dtype).eps, torch.finfo(computed).eps)
    a, b = wanted.to(torch.float64), got.to(torch.float64)
    if "_polynomial_" in block:  # of NaN PyTorch returns a variable without a value
        x = torch.as_tensor(operands_of(request, open_storages(request))[0])
        return torch.broadcast_to(x.isnan() if x.is_floating_point() else torch.tensor(False), wanted.shape) & got.isnan()
    if block in ("lgamma", "mvlgamma"):  # absolute near its zeros, and of each term
        error = (64 if block == "mvlgamma" else 4) * eps * (1 + a.abs())
    elif block in ("igamma", "igammac"):  # of exp(log), log the difference of large terms; PyTorch's depend on the layout
        n, x = (torch.as_tensor(o).to(torch.float64) for o in operands_of(request, open_storages(request)))
        terms = ((n * x.log()).abs() + n.lgamma().abs()).nan_to_num(nan=0, posinf=0)
        error = eps * a.abs() * (32 * (1 + a.abs().log().abs()) + torch.broadcast_to(terms, a.shape))
    elif block == "special_airy_ai" or block.startswith("special_bessel_"):  # near their zeros; compilers fuse different products
        error = 2 * eps * (1 + a.abs())
    elif block == "special_ndtr":  # (1 + erf) / 2
        error = 2 * eps
    elif block == "polygamma" and computed.itemsize == 2:  # n! times zeta, whose parts PyTorch rounds to 16 bits
        error = 2 * eps * a.abs() + 16 * math.factorial(request["keywords"]["n"]) * torch.finfo(computed).smallest_normal * torch.finfo(computed).eps
        x = operands_of(request, open_storages(request))[0]
        error = torch.where(x < 0, math.inf, error)  # sums of terms of both signs, which may cancel
    elif block in ("special_entr", "special_xlog1py") and computed.itemsize == 2:  # PyTorch rounds the logarithm, too
        error = 2 * eps * a.abs()
    elif block == "special_i0e" and computed.itemsize == 2:  # sums in 16 bits for the last elements in memory
        error = 32 * eps * a.abs()
    else:
        return torch.zeros_like(wanted, dtype=torch.bool)
    return ((a - b).abs() <= error) | (error == math.inf)


def within_added_error(request, wanted, got):
    """Elements may be added, or multiplied, at one place in different orders, and 16-bit floats with or without rounding
    after each step: errors are relative to the result of the magnitudes."""
    same = (wanted == got) | wanted.isnan() & got.isnan()
    if not (wanted.dtype.is_floating_point or wanted.dtype.is_complex):
        return same
    operands = zip(DECLARED[request["op"]].operands(), operands_of(request, open_storages(request)))
    magnitudes = [operand if DECLARED[request["op"]].values_of(parameter) else operand.abs().to(torch.float64) for parameter, operand in operands]
    keywords = {name: number_json(abs(number_of(value))) if isinstance(value, dict) else value for name, value in request["keywords"].items()}
    scale = call_torch(dict(request, form="functional", keywords=keywords), magnitudes, None)
    near = (wanted - got).abs() <= 8 * torch.finfo(wanted.dtype).eps * scale
    return same | near | ~(scale < torch.finfo(wanted.dtype).max / 64)


def within_fold_error(request, wanted, got):
    """The libraries combine partial results in different orders; an intermediate result may overflow in only one of them."""
    operand = view_of(request["args"][0], open_storages(request))
    one_by_one = operand.numel() / 16 if 0 in operand.stride() else 0  # PyTorch's order for the elements of expanded dims
    if operand.is_complex():  # the error is relative to the magnitudes
        operand = torch.view_as_real(operand).abs().sum(-1)
    computed = operand.dtype if operand.dtype.is_floating_point else torch.get_default_dtype()  # out= may be wider
    info = max(torch.finfo(wanted.dtype), torch.finfo(computed), key=lambda info: info.eps)
    roundings = max(64, one_by_one) * info.eps if info.bits > 16 else 4 * info.eps
    a, b, operand = (tensor.to(torch.float64) for tensor in (wanted, got, operand))
    largest = max([1.0, *operand[operand.isfinite()].abs().flatten().tolist()])
    # Absolute errors: differences of nearly equal numbers, and powers that underflow in the dtype.
    absolute = {"logsumexp": roundings * largest, "std": roundings * largest, "var": (roundings * largest) * (roundings * largest), "linalg_vector_norm": info.tiny ** (1 / 3),
                **dict.fromkeys(NORMS, info.tiny ** (1 / 3)), "nanmean": roundings * largest, "var_mean": roundings * largest, "std_mean": roundings * largest}  # fmt: skip
    near = (a - b).abs() <= roundings * a.abs() + absolute.get(request["op"], info.tiny)
    near_limit = ~(a.abs() < info.max / 2**11) & ~(b.abs() < info.max / 2**11) & ~(a.isnan() ^ b.isnan())
    # An intermediate product may overflow or underflow.
    magnitudes = operand.abs().log2().abs()
    out_of_range = request["op"] == "prod" and bool(magnitudes[magnitudes.isfinite()].sum() > math.log2(info.max))
    return near | near_limit | operand.isinf().any() | out_of_range


def computed_dtype(request):
    """The dtype of the result before it is stored in out=."""
    operands = operands_of(request, open_storages(request))
    if request["op"] == "float_power":
        return torch.float64
    if any(isinstance(operand, torch.Tensor) and operand.dtype in WIDE_UNSIGNED for operand in operands):  # which are not promoted
        return torch.get_default_dtype()
    dtype = torch.result_type(operands[0], operands[1] if len(operands) > 1 else operands[0])
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def overflowing_quotient(request):
    """Where a quotient is finite, but overflows in the compute dtype."""
    operands = operands_of(request, open_storages(request))
    dtype = computed_dtype(request)
    a, b = (torch.as_tensor(operand).to(dtype).to(torch.float32 if dtype.itemsize == 2 else dtype) for operand in operands)
    return (a / b).isinf() & (b != 0) & a.isfinite()


# Ops that move complex numbers or add their parts: nothing is rounded twice.
EXACT = {"neg", "conj_physical", "to", "clone", "contiguous", "copy", "fill", "expand", "reshape", "where"}
# The magnitudes of the summed terms, by op.
TERMS = {
    "addcmul": lambda a, b, c, value: a + value * b * c, "addcdiv": lambda a, b, c, value: a + value * b / c,
    "lerp": lambda a, end, weight, _: (a + end) * (1 + weight),
}  # fmt: skip


def within_complex_error(request, wanted, got):
    """Equal parts, or errors that are small relative to the magnitudes of the numbers: PyTorch's code path decides where it
    uses fused multiply-add."""
    parts = [torch.view_as_real(side) if side.is_complex() else side.unsqueeze(-1) for side in (wanted, got)]
    same = ((parts[0] == parts[1]) | parts[0].isnan() & parts[1].isnan()).all(-1)
    op = request["op"]
    if op in EXACT or op in PRODUCTS:
        return same
    if op in ("sum", "mean", "sum_to_size") and not wanted.is_complex():
        return same
    scale = wanted.to(torch.complex128).abs()
    if DECLARED.get(op) and (DECLARED[op].has_state or op == "prod"):
        near = within_fold_error(request, torch.view_as_real(wanted), torch.view_as_real(got)).all(-1)
        if op == "prod":  # a part may be a difference of nearly equal products
            computed_in_float64 = request["storages"][request["args"][0].get("storage", 0)]["dtype"] in ("float64", "complex128")
            eps = torch.finfo(torch.float64 if computed_in_float64 and wanted.dtype == torch.complex128 else torch.float32).eps
            near |= ((wanted.to(torch.complex128) - got.to(torch.complex128)).abs() <= 64 * eps * scale).nan_to_num().bool()
        return same | near | ~parts[0].isfinite().all(-1)  # which parts become NaN depends on PyTorch's code path
    elif "alpha" in request["keywords"]:
        first, second = (value if isinstance(value, torch.Tensor) else torch.tensor(value) for value in operands_of(request, open_storages(request))[:2])
        scale = scale + first.to(torch.complex128).abs() + second.to(torch.complex128).abs() * abs(number_of(request["keywords"]["alpha"]))
    if op in TERMS:
        factors = [number if isinstance(number, torch.Tensor) else torch.tensor(number) for number in operands_of(request, open_storages(request))[:3]]
        value = abs(number_of(request["keywords"]["value"])) if "value" in request["keywords"] else 1
        scale = scale + TERMS[op](*(factor.to(torch.complex128).abs() for factor in factors), value)
    if op in ("sum", "mean", "sum_to_size"):
        operand, keywords = view_of(request["args"][0], open_storages(request)).to(torch.complex128).abs(), request["keywords"]
        scale = scale + (operand.sum_to_size(keywords["sizes"]) if op == "sum_to_size" else operand.sum(dim=keywords["dim"], keepdim=keywords["keepdim"])).reshape(scale.shape)
    # A wider out= gets values that were computed in complex64 or in 16 bits.
    computed = request["storages"][request["args"][0].get("storage", 0)]["dtype"]
    eps = torch.finfo(torch.float64 if computed in ("float64", "complex128") and wanted.dtype in (torch.float64, torch.complex128) else torch.float32).eps
    if computed in ("float16", "bfloat16"):
        eps = torch.finfo(BY_NAME[computed]).eps / 8
    error = (wanted.to(torch.complex128) - got.to(torch.complex128)).abs()
    if op in ("sigmoid", "silu"):  # near a pole, 1 + exp(-z) is a small difference of rounded numbers
        scale = scale * (1 + (scale if op == "sigmoid" else (wanted / view_of(request["args"][0], open_storages(request))).abs()).nan_to_num())
    if op in ("arccos", "acos"):  # pi/2 - asin(z) in PyTorch
        scale = scale + math.pi / 2
    smallest = torch.finfo(torch.float64 if eps < 1e-10 else torch.float32).tiny * eps
    near = (error <= 16 * eps * scale + smallest).nan_to_num().bool()
    # Whether a part becomes infinite or NaN also depends on PyTorch's code path.
    far = ~(parts[0].isfinite().all(-1) & parts[1].isfinite().all(-1)) & (~parts[0].isfinite().all(-1) | (scale > torch.finfo(wanted.dtype).max / 64))
    return same | near | far


def within_loss_error(request, wanted, got):
    """A loss adds and subtracts terms of other sizes, in 16-bit floats with roundings in between, and averages: errors are
    relative to the operands and to all elements of the loss. Infinite ones may meet in another order."""
    operands = [operand.to(torch.float64) if not operand.dtype.is_complex else torch.view_as_real(operand).to(torch.float64)
                for operand in operands_of(request, open_storages(request)) if isinstance(operand, torch.Tensor)]
    finite = [float(operand[operand.isfinite()].abs().max()) if operand.isfinite().any() else 0.0 for operand in operands]
    info = torch.finfo(computed_dtype(request) if wanted.dtype.itemsize > 2 else wanted.dtype)
    if not all(bool(operand.isfinite().all()) for operand in operands) or max(finite, default=0) > info.max ** 0.25:
        return torch.ones_like(wanted, dtype=torch.bool)
    each = call_torch(dict(request, form="functional", keywords=dict(request["keywords"], reduction="none")), operands_of(request, open_storages(request)), None).to(torch.float64)
    scale = max([1.0, *finite]) ** 2 + float(each[each.isfinite()].abs().sum()) if request["keywords"].get("reduction") == "sum" else max([1.0, *finite]) ** 2
    return (wanted.to(torch.float64) - got.to(torch.float64)).abs() <= 64 * info.eps * scale


def within_operands_error(request, wanted, got):
    """Errors relative to the operand: tanhshrink is a difference of near numbers; PyTorch's gelu adds 1 to a number near -1,
    and in some loops gives NaN for infinity, and 0 for subnormals; in mish an exponential may be subnormal."""
    operand = view_of(request["args"][0], open_storages(request)).to(torch.float64)
    dtype = computed_dtype(request)
    info = torch.finfo(dtype if dtype == torch.float64 else torch.float32)
    relative = 4 * info.eps if request["op"] != "mish" else 0
    near = (wanted.to(torch.float64) - got.to(torch.float64)).abs() <= (relative + 4 * info.tiny * info.eps) * operand.abs() + info.tiny * (request["op"] == "gelu")
    return near | (request["op"] == "gelu") & (operand == math.inf) & (got == math.inf)


def within_alpha_error(request, wanted, got):
    """PyTorch's vector loop computes a + alpha * other with fused multiply-add; its other loop rounds the product first."""
    other = operands_of(request, open_storages(request))[1]
    other = other.to(torch.float64) if isinstance(other, torch.Tensor) else torch.tensor(float(other), dtype=torch.float64)
    product = (other * float(number_of(request["keywords"]["alpha"]))).abs()
    computed = torch.result_type(*operands_of(request, open_storages(request))[:2])  # out= may be wider
    eps = max(torch.finfo(dtype).eps for dtype in (wanted.dtype, computed) if dtype.is_floating_point or dtype.is_complex)
    error = (wanted.to(torch.float64) - got.to(torch.float64)).abs()
    overflows = product >= torch.finfo(wanted.dtype if wanted.dtype.itemsize == 2 else torch.float32).max
    return (error <= (product + wanted.to(torch.float64).abs()) * eps).nan_to_num().bool() | overflows


def within_sum_error(request, wanted, got):
    """Sums are added in different orders: each may have an error of a few roundings of the sum of magnitudes."""
    storages = open_storages(request)
    operand = view_of(request["args"][0], storages).to(torch.float64).abs()
    if request["op"] == "nansum":
        operand = operand.nan_to_num(posinf=math.inf)
    keywords = request["keywords"]
    if request["op"] == "sum_to_size":
        scale = operand.sum_to_size(keywords["sizes"])
    else:
        scale = operand.sum(dim=keywords["dim"], keepdim=keywords["keepdim"])
        if request["op"] == "mean":
            scale = scale * (wanted.numel() / max(operand.numel(), 1))
    dtype = wanted.dtype
    eps = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps
    if request["op"] == "mean" and request["out"]:
        eps = torch.finfo(dtype).eps  # PyTorch rounds the sum to out's dtype before it divides
    if request["op"] == "nansum":
        eps = torch.finfo(dtype).eps  # PyTorch rounds after each of several dims
    rounding = wanted.to(torch.float64).abs() * torch.finfo(dtype).eps
    error = (wanted.to(torch.float64) - got.to(torch.float64)).abs()
    near = error <= scale.reshape(wanted.shape) * eps * (64 if dtype == torch.float64 else 8) + rounding + torch.finfo(dtype).tiny * torch.finfo(dtype).eps
    # A sum near the dtype's limit may overflow in only one order.
    near_limit = scale.reshape(wanted.shape) >= torch.finfo(dtype).max
    return near.nan_to_num().bool() | near_limit


def within_running_sum_error(request, wanted, got):
    """Those of float32 and 16-bit floats are added in vectors: a few roundings of the sum of magnitudes, in the dtype of
    the sums."""
    if wanted.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return torch.zeros_like(wanted, dtype=torch.bool)
    operand = view_of(request["args"][0], open_storages(request))
    operand = operand.real if operand.is_complex() else operand
    scale = operand.to(wanted.dtype).to(torch.float64).abs().cumsum(request["keywords"]["dim"])
    eps = torch.finfo(torch.float64 if wanted.dtype == torch.float32 else torch.float32).eps
    wanted, got, dtype = wanted.to(torch.float64), got.to(torch.float64), wanted.dtype
    return ((wanted - got).abs() <= 8 * eps * scale + torch.finfo(dtype).eps * wanted.abs() * (scale > 0)).nan_to_num().bool()


def describe(request, layouts):
    operands = []
    for i, operand in enumerate(request["args"] + request["out"]):
        name = f"operand {i}" if i < len(request["args"]) else "out"
        if "storage" in operand:
            dtype = request["storages"][operand["storage"]]["dtype"]
            operands.append(f"    {name}: {dtype} {operand['shape']} strides {operand['strides']} offset {operand['offset']} "
                            f"({layouts[i] if i < len(layouts) else 'view'})")
        else:
            operands.append(f"    {name}: {operand['kind']} {number_of(operand)}")
    keywords = {key: number_of(value) if isinstance(value, dict) else value
                for key, value in request["keywords"].items() if value is not None}
    return "\n".join([f"  {request['op']} ({request['form']}) {keywords or ''}"] + operands)


def verdict(request, wanted, answer):
    """None if both agree, otherwise the difference."""
    if answer.get("error", {}).get("type") == "NoSuchForm":
        return "Tenon has no such form"
    if "error" in wanted:
        kind, text = wanted_error(request, *wanted["error"])
        if "error" not in answer:
            return f"wanted {kind}: {text}\n  got a result: {answer['results'][0]['dtype']} {answer['results'][0]['shape']}"
        got = (answer["error"]["type"], answer["error"]["text"].split("\n")[0])
        if got != (kind, text) and not is_same_mistake(text, got[1]) and request["op"] not in LOSSES:  # the order of their checks: docs/differences.md
            return f"wanted {kind}: {text}\n  got    {got[0]}: {got[1]}"
        if answer["storages"] != [storage["bytes"] for storage in request["storages"]]:
            return f"{kind} as wanted, but an operand was changed"
        return None
    if "error" in answer:
        if "complex32" in answer["error"]["text"]:  # Tenon does not have it
            return None
        # PyTorch accepts these writes: docs/differences.md
        overlaps = shares(request) or request["op"] in (*PRODUCTS, "cummax", "cummin", "linalg_vecdot")
        if overlaps and answer["error"]["text"].startswith("unsupported operation"):
            return None
        return f"wanted {NAMES[wanted['results'][0].dtype]} {list(wanted['results'][0].shape)}\n  got {answer['error']['type']}: {answer['error']['text']}"
    if len(wanted["results"]) != len(answer["results"]):
        return f"wanted {len(wanted['results'])} results, got {len(answer['results'])}"
    for place, (result, shared, got) in enumerate(zip(wanted["results"], wanted["shared"], answer["results"])):
        if problem := difference(request, result, got, place == len(answer["results"]) - 1):
            return problem
        if shared != got["shares"]:
            return f"shares storage: wanted {shared}, got {got['shares']}"
        if shared is not None and result.numel() and result.storage_offset() != got["offset"]:
            return f"offset: wanted {result.storage_offset()}, got {got['offset']}"
    if request["op"] in ("mode", "kthvalue", "isin_of_number"):  # PyTorch resizes to another shape first, or twice
        wanted, answer = ({**side, "warnings": list(dict.fromkeys(text.split(" since it had shape")[0] for text in side["warnings"]))} for side in (wanted, answer))
    if request["op"] == "isin_of_number":  # or resizes to the right one after another, and warns although Tenon need not
        wanted = {**wanted, "warnings": [text for text in wanted["warnings"] if "was resized" not in text or text in answer["warnings"]]}
    if request["op"] == "searchsorted":  # PyTorch resizes first
        wanted, answer = ({**side, "warnings": sorted(side["warnings"])} for side in (wanted, answer))
    # PyTorch warns twice if one of its functions calls another; Tenon warns once.
    resized = request["op"] == "narrow_copy"  # which does not warn of that in PyTorch (docs/differences.md)
    if request["op"] == "cross":  # PyTorch warns about a missing dim once per process
        wanted, answer = ({**side, "warnings": [text for text in side["warnings"] if "Using torch.cross without" not in text]} for side in (wanted, answer))
    if not resized and answer["warnings"] not in (wanted["warnings"], list(dict.fromkeys(wanted["warnings"]))):
        return f"warnings: wanted {wanted['warnings']}, got {answer['warnings']}"
    return stray_write(request, answer)


def is_same_mistake(wanted, got):
    """Whether two texts are of one call with several mistakes, or of a matrix for meshgrid (docs/differences.md)."""
    if wanted.replace("-nan", "nan") == got.replace("-nan", "nan"):  # of the smallest and the largest of elements with NaN
        return True
    out, shown = "Expected out tensor to have dtype", "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got"
    if wanted.startswith(shown):
        return got.startswith(shown)
    if got == "index out of range in self" and wanted.startswith(("select(): index 0", "setStorage: ")):  # index_reduce along a dim without elements
        return True
    outside = "all elements of "  # of two operands: PyTorch finds the first element
    if wanted.startswith(outside):
        return got.startswith(outside)
    if "must have the same dtype" in wanted and got.startswith("unsupported operation: more than one element of the written-to tensor"):
        return True
    if wanted == "\"dot\" not implemented for 'Bool'":  # tensordot of single elements
        return got == "\"addmm_impl_cpu_\" not implemented for 'Bool'"
    refused = got if wanted.startswith(out) else wanted if got.startswith(out) else ""
    return " not implemented for '" in refused or " does not support " in refused


def difference(request, result, got, is_last=True):
    """None if PyTorch's result and Tenon's agree, otherwise the difference."""
    # Of a loss's dims of size 1, and without elements, they depend on PyTorch's steps.
    used = [place for place, size in enumerate(result.shape) if request["op"] not in LOSSES or size > 1 and result.numel()]
    strides = [[side[place] for place in used] for side in (result.stride(), got["strides"]) if len(side) == result.dim()]
    for what, left, right in (("dtype", NAMES[result.dtype], got["dtype"]), ("shape", list(result.shape), got["shape"]),
                              ("strides", strides[0], strides[-1])):
        if left != right:
            return f"{what}: wanted {left}, got {right}"
    values = tensor_of(got)
    if names_any_of_equals(request) and "order" not in declared_values(request):
        if is_last and not DECLARED[request["op"]].has_parameter("keepdim") and names_twice(request, values):
            return "an index occurs twice"
        result, values = (compared_by_value(request, side, is_last) for side in (result, values))
    mask = differing(request, result, values)
    if mask.any():
        index = [int(i) for i in mask.nonzero()[0]]
        return (f"at {index}: wanted {result[tuple(index)].item()!r}, got {values[tuple(index)].item()!r} "
                f"({int(mask.sum())} of {mask.numel()} differ)")
    return None


def argument(request, name):
    """An argument that is not an operand, or its default as it is declared."""
    default = next((parameter.default for parameter in DECLARED[request["op"]].parameters if parameter.name == name), None)
    return request["keywords"].get(name, default)


def declared_values(request):
    return DECLARED[request["op"]].declared_values if request["op"] in DECLARED else {}


def names_any_of_equals(request):
    return "any" in declared_values(request).values() and argument(request, "stable") is not True


def names_twice(request, indices):
    ordered = indices.sort(int(argument(request, "dim"))).values
    return bool(ordered.numel()) and bool((ordered.diff(dim=int(argument(request, "dim"))) == 0).any()) if indices.dim() else False


def compared_by_value(request, result, is_indices):
    """The elements that indices name, instead of the indices; in ascending order, where the op leaves the order open."""
    dim, source = int(argument(request, "dim")), view_of(request["args"][0], open_storages(request))
    if DECLARED[request["op"]].has_parameter("keepdim") and is_indices and source.dim():
        kept = result if argument(request, "keepdim") in (True, "True") else result.unsqueeze(dim)
        return source.gather(dim, kept)
    if source.dtype in WIDE_UNSIGNED:  # which gather lacks
        source = source.view(WIDE_UNSIGNED[source.dtype])
    elements = source.gather(dim, result) if is_indices else result
    return elements.sort(dim).values if argument(request, "sorted") is False else elements


def stray_write(request, answer):
    """Checks that bytes outside the written view are unchanged."""
    in_place = request["form"] in ("inplace", "compound") or request["op"] in ("copy", "fill")
    written = {view["storage"]: (view, result) for view, result in zip(request["out"] or request["args"][:in_place], answer["results"])}
    for i, storage in enumerate(request["storages"]):
        before, after = bytes.fromhex(storage["bytes"]), bytes.fromhex(answer["storages"][i])
        if before == after:
            continue
        if i not in written:
            return f"storage {i} was changed"
        view, result = written[i]
        if (result["shape"], result["strides"]) != (view["shape"], view["strides"]):
            continue  # resized: its old elements do not matter
        touched = torch.zeros(len(before) // BY_NAME[storage["dtype"]].itemsize, dtype=torch.bool)
        view_of(view, {i: touched}).fill_(True)
        size = BY_NAME[storage["dtype"]].itemsize
        for at in (~touched).nonzero().flatten().tolist():
            if before[at * size:(at + 1) * size] != after[at * size:(at + 1) * size]:
                return f"element {at} of storage {i}, outside the written view, was changed"
    return None
