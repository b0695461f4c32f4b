#!/usr/bin/env python3
"""Measures the errors of Tenon's and PyTorch's functions in units in the last place (ulp), against mpmath.

accuracy.py [OP ...] [--points N] [--whole] [--write FILE]

Every op of FUNCTIONS, in float32 and float64, at N points spread over all exponents and N in the part where the function
bends. An error of 0.5 is what rounding the exact result would leave. --whole: the common functions at every float32, against
float64 (a minute each). --write: puts the table into a document, between the lines `<!-- accuracy -->` and `<!-- end -->`.
Needs the Python module, NumPy, mpmath and PyTorch: `./dev accuracy`.
"""
import argparse
import math
import pathlib
import re
import sys

import mpmath
import numpy as np

COMMON = "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf sigmoid".split()

mpmath.mp.prec = 200


def half_pi_digits(function):
    """sin, cos and tan of huge numbers need all digits of pi."""

    def exact(x):
        with mpmath.workprec(1400 if abs(x) > 1e6 else 200):
            return +function(x)

    return exact


def normal_quantile(p):
    if not 1e-40 < p < 1:
        raise ValueError("too many digits")
    return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)


def elu(x):
    return x if x > 0 else mpmath.expm1(x)


def log_gamma(x):
    return mpmath.re(mpmath.loggamma(x)) if x > 0 else mpmath.log(abs(mpmath.gamma(x)))


# The op: its exact value, and the part where it bends; of two operands, the part of each.
FUNCTIONS = {
    "exp": (mpmath.exp, -20, 20),
    "exp2": (lambda x: mpmath.mpf(2) ** x, -20, 20),
    "expm1": (mpmath.expm1, -2, 2),
    "log": (mpmath.log, 0.2, 5),
    "log2": (lambda x: mpmath.log(x, 2), 0.2, 5),
    "log10": (mpmath.log10, 0.2, 5),
    "log1p": (mpmath.log1p, -0.9, 3),
    "sin": (half_pi_digits(mpmath.sin), -10, 10),
    "cos": (half_pi_digits(mpmath.cos), -10, 10),
    "tan": (half_pi_digits(mpmath.tan), -10, 10),
    "asin": (mpmath.asin, -1, 1),
    "acos": (mpmath.acos, -1, 1),
    "atan": (mpmath.atan, -4, 4),
    "sinh": (mpmath.sinh, -3, 3),
    "cosh": (mpmath.cosh, -3, 3),
    "tanh": (mpmath.tanh, -3, 3),
    "asinh": (mpmath.asinh, -3, 3),
    "acosh": (mpmath.acosh, 1, 4),
    "atanh": (mpmath.atanh, -1, 1),
    "erf": (mpmath.erf, -4, 4),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), -8, 8),
    "erfc": (mpmath.erfc, -3, 9),
    "sqrt": (mpmath.sqrt, 0, 4),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), 0.1, 4),
    "reciprocal": (lambda x: 1 / x, -4, 4),
    "sinc": (lambda x: mpmath.sincpi(x), -4, 4),
    "erfinv": (mpmath.erfinv, -1, 1),
    "lgamma": (log_gamma, -6, 6),
    "digamma": (mpmath.digamma, -6, 6),
    "i0": (lambda x: mpmath.besseli(0, x), -10, 10),
    "special.i0e": (lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), -10, 10),
    "special.i1": (lambda x: mpmath.besseli(1, x), -10, 10),
    "special.i1e": (lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), -10, 10),
    "special.ndtr": (mpmath.ncdf, -6, 6),
    "special.log_ndtr": (lambda x: mpmath.log(mpmath.ncdf(x)), -6, 6),
    "special.erfcx": (lambda x: mpmath.erfc(x) * mpmath.exp(x * x), -3, 20),
    "special.entr": (lambda x: -x * mpmath.log(x), 0, 2),
    "special.airy_ai": (mpmath.airyai, -8, 8),
    "special.bessel_j0": (mpmath.j0, -20, 20),
    "special.bessel_j1": (mpmath.j1, -20, 20),
    "special.bessel_y0": (lambda x: mpmath.bessely(0, x), 0, 20),
    "special.bessel_y1": (lambda x: mpmath.bessely(1, x), 0, 20),
    "special.modified_bessel_k0": (lambda x: mpmath.besselk(0, x), 0, 10),
    "special.modified_bessel_k1": (lambda x: mpmath.besselk(1, x), 0, 10),
    "nn.functional.gelu": (lambda x: x * mpmath.ncdf(x), -6, 6),
    "nn.functional.silu": (lambda x: x / (1 + mpmath.exp(-x)), -8, 8),
    "nn.functional.softplus": (lambda x: mpmath.log1p(mpmath.exp(x)), -8, 8),
    "nn.functional.mish": (lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))), -8, 8),
    "logit": (lambda x: mpmath.log(x / (1 - x)), 0, 1),
    "deg2rad": (mpmath.radians, -360, 360),
    "rad2deg": (mpmath.degrees, -7, 7),
    "polygamma": (lambda x: mpmath.polygamma(1, x), 0, 10),
    "mvlgamma": (lambda x: mpmath.log(mpmath.pi) / 2 + log_gamma(x) + log_gamma(x - 0.5), 0.6, 10),
    "special.ndtri": (normal_quantile, 0, 1),
    "special.spherical_bessel_j0": (mpmath.sinc, -20, 20),
    "special.modified_bessel_i0": (lambda x: mpmath.besseli(0, x), -10, 10),
    "special.modified_bessel_i1": (lambda x: mpmath.besseli(1, x), -10, 10),
    "special.scaled_modified_bessel_k0": (lambda x: mpmath.besselk(0, x) * mpmath.exp(x), 0, 10),
    "special.scaled_modified_bessel_k1": (lambda x: mpmath.besselk(1, x) * mpmath.exp(x), 0, 10),
    "nn.functional.elu": (elu, -8, 8),
    "selu": (lambda x: elu(x) * mpmath.mpf("1.0507009873554804934193349852946") * (1 if x > 0 else mpmath.mpf("1.6732632423543772848170429916717")), -8, 8),
    "nn.functional.logsigmoid": (lambda x: -mpmath.log1p(mpmath.exp(-x)), -8, 8),
    "nn.functional.softsign": (lambda x: x / (1 + abs(x)), -8, 8),
    "nn.functional.tanhshrink": (lambda x: x - mpmath.tanh(x), -8, 8),
    "pow": (lambda x, y: x**y, (0, 10), (-10, 10)),
    "atan2": (mpmath.atan2, (-4, 4), (-4, 4)),
    "hypot": (mpmath.hypot, (-4, 4), (-4, 4)),
    "logaddexp": (lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)), (0, 8), (0, 8)),
    "logaddexp2": (lambda x, y: mpmath.log(mpmath.mpf(2) ** x + mpmath.mpf(2) ** y, 2), (0, 8), (0, 8)),
    "xlogy": (lambda x, y: x * mpmath.log(y), (-4, 4), (0, 4)),
    "special.xlog1py": (lambda x, y: x * mpmath.log1p(y), (-4, 4), (-1, 4)),
    "special.zeta": (mpmath.zeta, (1.1, 20), (0.1, 10)),
    "igamma": (lambda a, x: mpmath.gammainc(a, 0, x, regularized=True), (0.1, 20), (0, 20)),
    "igammac": (lambda a, x: mpmath.gammainc(a, x, mpmath.inf, regularized=True), (0.1, 20), (0, 20)),
}
# Parameters before and after the operands.
BEFORE = {"polygamma": (1,)}
AFTER = {"mvlgamma": (2,)}
# Where mpmath is too slow or the functions are not numbers.
LARGEST = {"lgamma": 1e4, "digamma": 1e4, "i0": 600, "special.i1": 600, "special.airy_ai": 50, "special.bessel_j0": 1e3, "special.bessel_j1": 1e3,
           "special.bessel_y0": 1e3, "special.bessel_y1": 1e3, "special.i0e": 1e3, "special.i1e": 1e3, "special.erfcx": 1e3,
           "polygamma": 1e4, "mvlgamma": 1e4, "special.spherical_bessel_j0": 1e3, "special.modified_bessel_i0": 600, "special.modified_bessel_i1": 600,
           "special.scaled_modified_bessel_k0": 600, "special.scaled_modified_bessel_k1": 600}  # fmt: skip


def function_of(library, name):
    for part in name.split("."):
        library = getattr(library, part, None)
    return library


def result_of(library, name, operands):
    return function_of(library, name)(*BEFORE.get(name, ()), *[library.from_numpy(points) for points in operands], *AFTER.get(name, ())).numpy()


def operands_of(name, dtype, spread, bent):
    """Points for each operand: some of every exponent, and some where the function bends. Two operands are drawn only there."""
    _, *parts = FUNCTIONS[name]
    if isinstance(parts[0], tuple):
        return [bent_points(dtype, spread + bent, *part, seed) for seed, part in enumerate(parts, 2)]
    return [np.concatenate([spread_points(dtype, spread, LARGEST.get(name, np.finfo(dtype).max)), bent_points(dtype, bent, *parts)])]


def spread_points(dtype, count, largest):
    """Numbers of both signs and every exponent."""
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    random = np.random.default_rng(1)
    values = random.integers(0, np.iinfo(unsigned).max, count, dtype=unsigned).view(dtype)
    return values[np.isfinite(values) & (np.abs(values) <= largest)]


def bent_points(dtype, count, low, high, seed=2):
    return np.random.default_rng(seed).uniform(low, high, count).astype(dtype)


def ulp_of(exact, dtype):
    """The distance of two numbers of the dtype near `exact`."""
    info = np.finfo(dtype)
    exponent = max(mpmath.frexp(exact)[1] - 1, int(info.minexp)) if exact else int(info.minexp)
    return mpmath.ldexp(1, exponent - int(info.nmant))


def exact_values(exact, operands):
    """{place: the value} where the function is a number."""
    values = {}
    for place, numbers in enumerate(zip(*operands)):
        try:
            value = exact(*[mpmath.mpf(float(x)) for x in numbers])
        except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
            continue
        if mpmath.isfinite(value) and not isinstance(value, mpmath.mpc):
            values[place] = value
    return values


def worst_error(got, exact, dtype, operands):
    """The largest error in ulp and where it is."""
    largest = mpmath.mpf(float(np.finfo(dtype).max))
    worst, at = 0.0, ()
    for place, value in exact.items():
        if abs(value) > largest or np.isnan(got[place]):
            continue
        error = float(abs(mpmath.mpf(float(got[place])) - value) / ulp_of(value, dtype)) if np.isfinite(got[place]) else math.inf
        if error > worst:
            worst, at = error, tuple(float(points[place]) for points in operands)
    return worst, at


def measure(name, dtype, count, tenon, torch):
    """(Tenon's worst error, where, PyTorch's, where)."""
    operands = operands_of(name, dtype, count, count)
    values = exact_values(FUNCTIONS[name][0], operands)
    results = []
    for library in (tenon, torch):
        results += worst_error(result_of(library, name, operands), values, dtype, operands)
    return results


# --- Every float32


def whole_truth(name, torch):
    """The function in float64, by a library that is not the measured one."""
    if name == "erf":
        return lambda x: torch.erf(torch.from_numpy(x)).numpy()
    if name == "sigmoid":
        return lambda x: 1 / (1 + np.exp(-x))
    return getattr(np, {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}.get(name, name))


def whole(name, tenon, torch):
    """The largest error over all float32, with those of float64 itself: some 2^-27 ulp."""
    truth, worst, at = whole_truth(name, torch), 0.0, math.nan
    step = 1 << 22
    for start in range(0, 1 << 32, step):
        points = np.arange(start, start + step, dtype=np.uint64).astype(np.uint32).view(np.float32)
        got = function_of(tenon, name)(tenon.from_numpy(points)).numpy().astype(np.float64)
        with np.errstate(all="ignore"):
            exact = truth(points.astype(np.float64))
            nearest = exact.astype(np.float32)
            exponent = np.maximum(np.frexp(nearest)[1] - 1, -126)
            error = np.abs(got - exact) / np.ldexp(1.0, exponent - 23)
        error[~np.isfinite(nearest)] = 0
        if (wrong := np.isnan(got) != np.isnan(exact)).any():
            error[wrong] = math.inf
        error[np.isnan(error)] = 0
        place = int(error.argmax())
        if error[place] > worst:
            worst, at = float(error[place]), float(points[place])
    return worst, at


# --- The table

HEAD = "| op | float32 | at | PyTorch's | float64 | at | PyTorch's |\n|---|---|---|---|---|---|---|"


def shown(error):
    return f"{error:.2f}" if error < 1e4 else f"{error:.0e}"


def row(name, results):
    cells = []
    for worst, at, other, _ in results:
        cells += [shown(worst), ", ".join(f"{number:.6g}" for number in at), shown(other)]
    return f"| `{name}` | " + " | ".join(cells) + " |"


def write(path, lines):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    table = "<!-- accuracy -->\n" + "\n".join(lines) + "\n<!-- end -->"
    text, count = re.subn(r"<!-- accuracy -->\n.*?<!-- end -->", lambda _: table, text, flags=re.S)
    if count != 1:
        raise SystemExit(f"{path}: no place for the table")
    pathlib.Path(path).write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="*", metavar="OP")
    parser.add_argument("--points", type=int, default=4000)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--write", metavar="FILE")
    options = parser.parse_args()
    import tenon
    import torch

    names = options.ops or [name for name in (COMMON if options.whole else FUNCTIONS) if function_of(tenon, name)]
    if unknown := set(names) - set(FUNCTIONS):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}")
    if options.whole:
        for name in names:
            print("{}: {:.4f} ulp at {:.9g}".format(name, *whole(name, tenon, torch)), flush=True)
        return
    lines = [HEAD]
    print(HEAD)
    for name in names:
        lines.append(row(name, [measure(name, dtype, options.points, tenon, torch) for dtype in (np.float32, np.float64)]))
        print(lines[-1], flush=True)
    if options.write:
        write(options.write, lines)


if __name__ == "__main__":
    sys.exit(main())
