"""Calls of every function of NumPy that dispatches to other libraries' arrays, and who computes them for tensors.

`python numpy_calls.py` writes the table of docs/python.md.
"""

import itertools
import operator
import pathlib
import re
import warnings

import numpy as np
import tenon
from tenon import _numpy

# f: the function; x and y: tensors of one shape; m: a mask of it; s: a symmetric matrix; t: rows of 3; v, w: vectors of 3 and 5;
# i: indices; bins: ascending.
CALLS = r"""
all: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True); f(x, where=m)
allclose: f(x, x); f(x, y); f(x, 1); f(x, x, equal_nan=True)
amax: f(x); f(x, axis=-1); f(x, initial=1); f(x, axis=0, keepdims=True)
amin: f(x); f(x, axis=-1); f(x, initial=1)
angle: f(x); f(x, deg=True)
any: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True)
append: f(x, y); f(x, y, axis=0); f(x, [1, 2])
apply_along_axis: f(lambda r: r.sum(), 0, x); f(lambda r: r * 2, -1, x); f(lambda r: r[:1], -1, x)
apply_over_axes: f(np.sum, x, [0]); f(np.sum, x, [0, -1])
argmax: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True)
argmin: f(x); f(x, axis=-1)
argpartition: f(x, 0); f(x, -1, axis=0)
argsort: f(x); f(x, axis=0); f(x, axis=None); f(x, stable=True); f(x, kind="stable")
argwhere: f(x); f(m)
around: f(x); f(x, 1); f(x, decimals=-1)
array2string: f(x)
array_equal: f(x, x); f(x, y); f(x, x[:1]); f(x, x, equal_nan=True)
array_equiv: f(x, x); f(x, x[:1]); f(x, y)
array_repr: f(x)
array_split: f(x, 2); f(x, 3, axis=-1); f(x, [1], axis=0)
array_str: f(x)
astype: f(x, "float32"); f(x, np.int64); f(x, bool)
atleast_1d: f(x); f(x, y)
atleast_2d: f(x); f(x, y)
atleast_3d: f(x); f(x, y)
average: f(x); f(x, axis=-1); f(x, weights=y); f(x, axis=0, weights=y[..., 0] if y.ndim > 1 else y); f(x, axis=0, returned=True)
bincount: f(i); f(i, minlength=10); f(i, weights=w)
block: f([x, y]); f([[x], [y]])
broadcast_arrays: f(x, y); f(x, x[:1])
broadcast_to: f(x, (2,) + x.shape); f(x[:1], x.shape)
choose: f(i, [w, w * 2, w * 3, w * 4, w * 5]); f(i % 2, (w, 7))
clip: f(x, 0, 1); f(x, 1, None); f(x, None, 2); f(x, y, y + y); f(x, min=1)
column_stack: f([x, y]); f((x, y))
common_type: f(x)
compress: f([True, False], x, axis=0); f([True], x); f(m, x)
concat: f([x, y]); f([x, y], axis=-1); f((x, y), axis=None)
concatenate: f([x, y]); f([x, y], axis=-1); f((x, y), axis=None); f([x, y], dtype="float64")
convolve: f(v, w); f(v, w, "same"); f(v, w[:2], mode="valid"); f(v, [1, 2, 3])
copy: f(x); f(x, order="F")
corrcoef: f(x); f(x, y); f(x, rowvar=False)
correlate: f(v, w); f(v, w, "same"); f(v, w[:2], mode="full")
count_nonzero: f(x); f(x, axis=0); f(x, axis=-1, keepdims=True)
cov: f(x); f(x, y); f(x, rowvar=False); f(x, bias=True); f(x, ddof=0)
cross: f(t, t[::-1] if isinstance(t, np.ndarray) else t.flip(0)); f(t, [1, 2, 3])
cumprod: f(x); f(x, axis=-1); f(x, axis=0, dtype="float64")
cumsum: f(x); f(x, axis=-1); f(x, axis=0, dtype="float64")
cumulative_prod: f(x); f(x, axis=-1); f(x, axis=0, include_initial=True)
cumulative_sum: f(x); f(x, axis=-1); f(x, axis=0, include_initial=True)
delete: f(x, 0); f(x, 0, axis=0); f(x, [0, 1], axis=-1)
diag: f(x); f(x, 1); f(x, k=-1)
diag_indices_from: f(s)
diagflat: f(x); f(x, 1)
diagonal: f(x); f(x, 1); f(x, axis1=1, axis2=0)
diff: f(x); f(x, n=2); f(x, axis=0); f(x, prepend=0); f(x, append=[1])
digitize: f(x, [0.5, 1.5]); f(x, bins); f(x, bins, right=True)
dot: f(x, x); f(x, y.T); f(x, 2); f(v, w); f(x, x[..., 0] if x.ndim else x)
dsplit: f(x, 1); f(x, 2)
dstack: f([x, y]); f((x, y))
ediff1d: f(x); f(x, to_begin=0); f(x, to_end=[1, 2])
einsum: f("...->", x); f("ij->ji", x); f("i,i", v, w); f("...i,...i->...", x, y); f("ij,kj->ik", x, y, optimize=True)
empty_like: tuple(f(x).shape); tuple(f(x, dtype="float32").shape)
expand_dims: f(x, 0); f(x, -1); f(x, (0, 1))
extract: f(m, x); f(m, x)
fix: f(x)
flatnonzero: f(x)
flip: f(x); f(x, 0); f(x, axis=(0, 1)); f(x, -1)
fliplr: f(x)
flipud: f(x)
full_like: f(x, 3); f(x, 1, dtype="float64"); f(x, 2, shape=(2,)); f(x, y)
geomspace: f(1, x + 1, 3)
gradient: f(x); f(x, 2.0); f(x, axis=0); f(v, w.cumsum(0) + 1); f(x, edge_order=2)
histogram: f(x); f(x, 3); f(x, bins); f(x, bins=[0, 1, 2]); f(x, 4, (0, 3)); f(x, density=True); f(x, weights=y)
histogram2d: f(w, w); f(w, i, 3); f(w, w, bins=[2, 3])
histogram_bin_edges: f(x); f(x, 3); f(x, "auto")
histogramdd: f(x, 3); f(t, 2)
hsplit: f(x, 1); f(x, [1])
hstack: f([x, y]); f((x, y))
i0: f(x)
imag: f(x)
inner: f(x, y); f(v, w); f(x, 2)
insert: f(x, 0, 1); f(x, 1, 5, axis=0); f(x, [0, 1], y[:1], axis=-1)
interp: f(x, bins, bins * 2); f(w, [0, 1, 2], [3, 4, 5]); f(x, bins, bins * 2, left=-1, right=9); f(x, bins, bins * 2, period=3); f(0.5, bins, bins)
intersect1d: f(x, y); f(v, v); f(x, y, return_indices=True)
isclose: f(x, x); f(x, y); f(x, 1); f(x, x + 1e-9); f(x, y, rtol=0.5)
iscomplex: f(x)
iscomplexobj: f(x)
isin: f(x, y); f(x, [1, 2]); f(x, 1); f(x, y, invert=True); f(x, [1, 2], assume_unique=True)
isneginf: f(x)
isposinf: f(x)
isreal: f(x)
isrealobj: f(x)
ix_: f(i, i)
kron: f(x, y); f(v, w)
lexsort: f((v, w)); f(x)
linspace: f(0, x, 4); f(x, y, 3); f(x, y, 3, endpoint=False); f(x, y, 3, axis=-1)
logspace: f(0, x, 3)
matrix_transpose: f(x)
max: f(x); f(x, axis=-1); f(x, initial=1, where=m); f(x, axis=(0, 1))
may_share_memory: f(x, x)
mean: f(x); f(x, axis=-1); f(x, axis=(0, 1)); f(x, keepdims=True); f(x, dtype="float64"); f(x, where=m)
median: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True); f(x, axis=(0, 1))
meshgrid: f(v, w); f(v, w, indexing="ij"); f(v, sparse=True)
min: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True)
min_scalar_type: f(v)
moveaxis: f(x, 0, -1); f(x, [0, 1], [1, 0])
nan_to_num: f(x); f(x, nan=1); f(x, posinf=2, neginf=-2)
nanargmax: f(x); f(x, axis=-1)
nanargmin: f(x); f(x, axis=-1)
nancumprod: f(x); f(x, axis=-1)
nancumsum: f(x); f(x, axis=-1)
nanmax: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True)
nanmean: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True)
nanmedian: f(x); f(x, axis=-1)
nanmin: f(x); f(x, axis=-1)
nanpercentile: f(x, 30); f(x, [20, 50], axis=-1)
nanprod: f(x); f(x, axis=-1)
nanquantile: f(x, 0.3); f(x, [0.2, 0.5], axis=-1)
nanstd: f(x); f(x, axis=-1); f(x, ddof=1)
nansum: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True)
nanvar: f(x); f(x, axis=-1); f(x, ddof=1)
ndim: f(x)
nonzero: f(x)
ones_like: f(x); f(x, dtype="int32"); f(x, shape=3)
outer: f(x, y); f(v, [1, 2])
packbits: f(m); f(m, axis=-1); f(x)
pad: f(x, 1); f(x, (1, 2)); f(x, 1, constant_values=7); f(x, 1, mode="edge"); f(x, 1, mode="reflect"); f(x, 1, mode="wrap"); f(x, 1, mode="symmetric"); f(x, 1, "maximum"); f(x, 2, "linear_ramp"); f(x, [(0, 1)] * x.ndim)
partition: tuple(f(x, 0).shape); tuple(f(x, -1, axis=0).shape)
percentile: f(x, 50); f(x, [20, 50], axis=-1); f(x, 50, method="lower"); f(x, 30, axis=0, keepdims=True)
permute_dims: f(x); f(x, (1, 0))
piecewise: f(x, [m, ~m], [lambda a: a * 2, 7]); f(x, [m], [1, 2])
poly: f(v); f(x)
polyadd: f(v, w)
polyder: f(v); f(v, 2)
polydiv: f(w, v + 1)
polyfit: f(np.arange(5), w, 2); f(w, w * 2, 1)
polyint: f(v); f(v, 2)
polymul: f(v, w)
polysub: f(v, w)
polyval: f(v, x); f(v, 2); f([1, 2], x)
prod: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True); f(x, axis=(0, 1)); f(x, initial=2)
ptp: f(x); f(x, axis=-1); f(x, axis=0, keepdims=True)
quantile: f(x, 0.5); f(x, [0.2, 0.5], axis=-1); f(x, 0.5, method="nearest"); f(x, 0.3, axis=(0, 1))
ravel: f(x); f(x, order="F"); f(x, "A")
ravel_multi_index: f((i, i), (9, 9))
real: f(x)
real_if_close: f(x)
repeat: f(x, 2); f(x, 2, axis=0); f(x, [1, 2], axis=-1)
reshape: f(x, -1); f(x, (-1, 1)); f(x, x.shape[::-1], order="F")
resize: f(x, (3, 4)); f(x, 2)
result_type: f(x, y); f(x, 1)
roll: f(x, 1); f(x, 1, axis=0); f(x, (1, -1), axis=(0, 1)); f(x, -2, axis=-1)
rollaxis: f(x, -1); f(x, 1, 0)
roots: f(v); f(w)
rot90: f(x); f(x, 2); f(x, 1, (1, 0))
round: f(x); f(x, 2); f(x, decimals=-1)
searchsorted: f(bins, x); f(bins, x, side="right"); f(np.sort(v), w); f(bins, 1.0)
select: f([m, ~m], [x, x * 2]); f([m], [y], default=5); f([m], [1])
setdiff1d: f(x, y); f(x, [1, 2])
setxor1d: f(x, y)
shape: f(x)
shares_memory: f(x, x); f(x, y)
sinc: f(x)
size: f(x); f(x, 0)
sort: f(x); f(x, axis=0); f(x, axis=None); f(x, kind="stable"); f(x, stable=True)
sort_complex: f(x)
split: f(x, 1); f(x, 2, axis=-1); f(x, [1], axis=0)
squeeze: f(x); f(x[:1], 0); f(x, axis=0)
stack: f([x, y]); f([x, y], axis=-1); f((x, y), 1)
std: f(x); f(x, axis=-1); f(x, ddof=1); f(x, axis=0, keepdims=True); f(x, correction=1)
sum: f(x); f(x, axis=-1); f(x, axis=(0, 1)); f(x, axis=0, keepdims=True); f(x, dtype="float64"); f(x, initial=5); f(x, where=m)
swapaxes: f(x, 0, -1); f(x, 0, 1)
take: f(x, 0); f(x, [0, 1], axis=-1); f(x, 0, axis=0); f(x, [[0]], axis=0); f(x, 99, mode="clip"); f(x, [-1], axis=0)
take_along_axis: f(x, np.argsort(x), -1); f(x, np.argsort(x, axis=0), axis=0); f(x, np.argsort(x, axis=None), None)
tensordot: f(x, y, 0); f(x, y, x.ndim); f(x, y, axes=([0], [0])); f(x, y.T, 1)
tile: f(x, 2); f(x, (2, 1)); f(x, (2, 1, 3))
trace: f(x); f(x, 1); f(x, axis1=1, axis2=0)
transpose: f(x); f(x, (1, 0))
trapezoid: f(x); f(x, dx=0.5); f(x, axis=0); f(v, w)
tril: f(x); f(x, 1)
tril_indices_from: f(x)
trim_zeros: f(v); f(v, "f")
triu: f(x); f(x, -1)
triu_indices_from: f(x, 1)
union1d: f(x, y); f(x, [7])
unique: f(x); f(x, axis=0); f(x, return_counts=True); f(x, True, True, True)
unique_all: f(x)
unique_counts: f(x)
unique_inverse: f(x)
unique_values: np.sort(f(x))
unpackbits: f(np.packbits(m)); f(x)
unravel_index: f(i, (3, 3))
unstack: f(x); f(x, axis=-1)
unwrap: f(x); f(x, axis=0)
vander: f(v); f(v, 3, increasing=True)
var: f(x); f(x, axis=-1); f(x, ddof=1); f(x, axis=(0, 1)); f(x, mean=0)
vdot: f(v, w); f(x, y)
vsplit: f(x, 1); f(x, [1])
vstack: f([x, y]); f((x, y))
where: f(m, x, y); f(x); f(m, x, 1); f(m, 1, 2)
zeros_like: f(x); f(x, dtype="int32"); f(x, shape=(1, 2))
fft.fft: f(x); f(x, 4); f(x, axis=0); f(x, norm="ortho")
fft.fft2: f(x); f(x, s=(3, 3)); f(x, axes=(0, 1))
fft.fftn: f(x); f(x, axes=[0]); f(x, norm="ortho")
fft.fftshift: f(x); f(x, axes=0)
fft.hfft: f(x); f(x, 6)
fft.ifft: f(x); f(x, n=4, axis=0); f(x, norm="forward")
fft.ifft2: f(x)
fft.ifftn: f(x)
fft.ifftshift: f(x); f(x, axes=-1)
fft.ihfft: f(x); f(x, 6)
fft.irfft: f(x); f(x, axis=0)
fft.irfft2: f(x)
fft.irfftn: f(x)
fft.rfft: f(x); f(x, 5); f(x, axis=0)
fft.rfft2: f(x)
fft.rfftn: f(x)
linalg.cholesky: f(s); f(x)
linalg.cond: f(s); f(s, 1)
linalg.cross: f(t, t)
linalg.det: f(s); f(x)
linalg.diagonal: f(x); f(x, offset=1)
linalg.eig: f(s).eigenvalues.sum()
linalg.eigh: f(s).eigenvalues
linalg.eigvals: f(s).sum()
linalg.eigvalsh: f(s); f(s, "U")
linalg.inv: f(s); f(x)
linalg.lstsq: f(s, w[:3])[0]; f(x, y)
linalg.matmul: f(x, y.T); f(s, x)
linalg.matrix_norm: f(x); f(s, ord=1); f(s, keepdims=True)
linalg.matrix_power: f(s, 2); f(s, -1); f(s, 0)
linalg.matrix_rank: f(s); f(x); f(s, tol=0.1)
linalg.matrix_transpose: f(x)
linalg.multi_dot: f([s, s, s])
linalg.norm: f(x); f(x, 1); f(x, axis=0); f(x, "fro"); f(x, np.inf, axis=-1); f(x, axis=(0, 1)); f(x, keepdims=True); f(x, 2); f(x, -1)
linalg.outer: f(v, w)
linalg.pinv: f(s); f(x); f(s, hermitian=True)
linalg.qr: abs(f(s).R); f(s, mode="r") * 0
linalg.slogdet: f(s); f(x)
linalg.solve: f(s, s); f(s, w[:3])
linalg.svd: f(s)[1]; f(x, compute_uv=False); f(s, full_matrices=False).S
linalg.svdvals: f(s); f(x)
linalg.tensordot: f(x, y, axes=0); f(x, y.T, axes=1)
linalg.tensorinv: f(s, ind=1)
linalg.tensorsolve: f(s, w[:3])
linalg.trace: f(x); f(x, offset=1)
linalg.vecdot: f(x, y); f(x, y, axis=0)
linalg.vector_norm: f(x); f(x, ord=1); f(x, axis=0); f(x, axis=-1, keepdims=True); f(x, ord=0)
"""
TABLE = {name: calls.split("; ") for name, _, calls in (line.partition(": ") for line in CALLS.strip().splitlines())}
TABLE = {name: calls for name, calls in TABLE.items() if hasattr(np, name.partition(".")[0])}
# Of files, calendars, dtypes and text, or written in place.
OTHERS = set("""
    busday_count busday_offset is_busday datetime_as_string save savez savez_compressed savetxt copyto put putmask place put_along_axis fill_diagonal
    einsum_path can_cast
""".split())
DTYPES = "bool uint8 int64 float32 float64 complex128".split()


def dispatched():
    """The names of every function of NumPy that dispatches through __array_function__."""
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in dir(module):
            if hasattr(getattr(module, name), "_implementation"):
                yield prefix + name


def elements(dtype):
    base = np.array([[3, 1, 2], [0, 5, 1]])
    if np.dtype(dtype).kind in "fc":
        base = base * 0.5
    return (base + 1j * base[::-1] if np.dtype(dtype).kind == "c" else base).astype(dtype)


def expanded(a):
    return np.broadcast_to(a[0], (2, 3)) if isinstance(a, np.ndarray) else a[0].expand(2, 3)


LAYOUTS = {
    "matrix": lambda a: a, "no dims": lambda a: a[0, 1], "row": lambda a: a[1], "no rows": lambda a: a[:0], "no columns": lambda a: a[:, :0],
    "transposed": lambda a: a.T, "strided": lambda a: a[:, ::2], "expanded": expanded, "three dims": lambda a: a.reshape(1, 2, 3),
}  # fmt: skip


def variables(dtype, layout, as_tensors):
    """What a call names; as tensors or as arrays."""
    base, made = elements(dtype), (lambda a: tenon.from_numpy(a.copy())) if as_tensors else np.array

    def laid(a):
        return LAYOUTS[layout](made(a)) if as_tensors else np.asarray(LAYOUTS[layout](made(a)))

    return {
        "np": np, "x": laid(base), "y": laid(base[::-1]), "m": laid(base.real > 1), "v": made(base[0]), "w": made(np.array([1, 4, 2, 5, 3]).astype(dtype)),
        "i": made(np.array([0, 2, 1, 4, 1])), "s": made(np.array([[4, 1, 0], [1, 3, 1], [0, 1, 5]]).astype(dtype)), "t": made(base), "bins": made(np.arange(4.0)),
    }  # fmt: skip


def call(name, expression, dtype, layout, as_tensors):
    """The result and None, or None and the exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return eval(expression, {**variables(dtype, layout, as_tensors), "f": operator.attrgetter(name)(np)}), None
        except Exception as error:
            return None, error


def owner(name):
    """Who computes the calls of float64 with two or three dims: Tenon, NumPy or both."""
    counts = {True: 0, False: 0}
    by_numpy = _numpy._by_numpy
    for expression, layout in itertools.product(TABLE[name], ("matrix", "three dims")):
        asked = []
        _numpy._by_numpy = lambda function, *rest: asked.append(function) or by_numpy(function, *rest)
        try:
            _, error = call(name, expression, "float64", layout, True)
        finally:
            _numpy._by_numpy = by_numpy
        if error is None:
            counts[operator.attrgetter(name)(np) in asked] += 1
    assert any(counts.values()), f"no call of {name} works"
    return "both" if all(counts.values()) else "NumPy" if counts[True] else "Tenon"


def table():
    """The lines of the table in docs/python.md."""
    owners = {name: owner(name) for name in TABLE}
    titles = {"Tenon": "Tenon", "both": "Tenon; NumPy for some arguments", "NumPy": "NumPy, and tensors come back"}
    rows = [f"| {title} | {' '.join(f'`{name}`' for name in TABLE if owners[name] == who)} |" for who, title in titles.items()]
    return "\n".join(["| computed by | functions of `numpy` |", "|---|---|", *rows]) + "\n"


DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "python.md"
PLACE = re.compile(r"\| computed by \| functions of `numpy` \|\n(\|.*\n)+")

if __name__ == "__main__":
    DOCUMENT.write_text(PLACE.sub(lambda _: table(), DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
