"""Every function of NumPy that takes arrays gives for tensors of every layout what it gives for arrays: kind, shape, dtype, values, errors."""

import operator

import pytest
import tenon

np = pytest.importorskip("numpy")
if np.lib.NumpyVersion(np.__version__) < "2.2.0":
    pytest.skip("older NumPy lacks some of the names", allow_module_level=True)

import numpy_calls

TESTED_WITH = "2.4"
# PyTorch's dtype of functions of integers is float32, as of ufuncs.
FLOAT32_OF_INTEGERS = ("angle", "i0", "sinc")
# PyTorch's einsum lets "..." stand for dims that the result leaves out.
MORE = {("einsum", 'f("...->", x)')}


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (tuple, list)) else [value]


def check_same(name, ours, theirs):
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs)
    mine, others = leaves(ours), leaves(theirs)
    assert len(mine) == len(others)
    for one, other in zip(mine, others):
        if not isinstance(other, (np.ndarray, np.generic, int, float, complex)):
            assert isinstance(other, str) or one == other
            continue
        if isinstance(other, np.ndarray) and other.dtype.name in numpy_calls.DTYPES:
            assert isinstance(one, tenon.Tensor)
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape
        assert one.dtype == other.dtype or name in FLOAT32_OF_INTEGERS and one.dtype == "float32"
        assert np.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("name", numpy_calls.TABLE)
def test_call(name):
    for dtype in numpy_calls.DTYPES:
        for layout in numpy_calls.LAYOUTS:
            for expression in numpy_calls.TABLE[name]:
                if (name, expression) in MORE:
                    continue
                theirs, refusal = numpy_calls.call(name, expression, dtype, layout, False)
                ours, error = numpy_calls.call(name, expression, dtype, layout, True)
                where = f"{name}: {expression} of {dtype}, {layout}"
                assert type(error) is type(refusal), (where, error, refusal)
                if error is None:
                    try:
                        check_same(name, ours, theirs)
                    except AssertionError as failure:
                        raise AssertionError(f"{where}: got {ours}, NumPy {theirs}") from failure


def test_no_function_is_forgotten():
    if not np.__version__.startswith(TESTED_WITH):
        pytest.skip(f"the table is of NumPy {TESTED_WITH}")
    assert sorted(numpy_calls.dispatched()) == sorted({*numpy_calls.TABLE, *numpy_calls.OTHERS})


def test_table_of_the_documentation():
    if not np.__version__.startswith(TESTED_WITH):
        pytest.skip(f"the table is of NumPy {TESTED_WITH}")
    assert numpy_calls.table() in numpy_calls.DOCUMENT.read_text(encoding="utf-8"), "run tests/python/numpy_calls.py"


# One call of each function with a gradient that a declared op alone does not give.
DIFFERENTIABLE = {
    "median": "f(x, axis=0)", "average": "f(x, axis=0, weights=y)", "ptp": "f(x, axis=1)", "cov": "f(x)", "corrcoef": "f(x)", "gradient": "f(x, axis=1)",
    "trapezoid": "f(x)", "ediff1d": "f(x)", "interp": "f(x, bins, bins * bins)", "nanprod": "f(x, axis=0)", "nancumsum": "f(x)", "nanmax": "f(x, axis=0)",
    "nanvar": "f(x, axis=0)", "nanstd": "f(x, axis=1, ddof=1)", "nanmedian": "f(x, axis=0)", "pad": "f(x, 1, constant_values=2)", "append": "f(x, y)",
    "select": "f([m], [x], default=2)", "dot": "f(x, y.T)", "outer": "f(x, y)", "cross": "f(x, y)", "linalg.norm": "f(x)", "linalg.solve": "f(x @ x.T, y)",
    "linalg.svd": "f(x)[1]", "linalg.eigh": "f(x @ x.T)[0]", "fft.rfft": "abs(f(x))", "diff": "f(x, axis=0)", "repeat": "f(x, 2, axis=0)", "unstack": "f(x)[0]",
    "ravel": "f(x)", "squeeze": "f(x[:1])", "swapaxes": "f(x, 0, 1)", "array_split": "f(x, 2, axis=1)[1]", "meshgrid": "f(x[0], y[0])[0]", "around": "f(x)",
    "diagonal": "f(x)", "trace": "f(x)", "cumulative_sum": "f(x, axis=1)", "astype": "f(x, 'float64')", "copy": "f(x)", "linalg.cond": "f(x)",
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient(name):
    """The gradient of a composition is what differences of NumPy's own results say."""
    function = operator.attrgetter(name)(np)

    def value(x, y, weights):
        mask = x.detach() > 1 if isinstance(x, tenon.Tensor) else x > 1
        bins = tenon.arange(4.0, dtype=tenon.float64) if isinstance(x, tenon.Tensor) else np.arange(4.0)
        result = eval(DIFFERENTIABLE[name], {"f": function, "x": x, "y": y, "m": mask, "bins": bins})
        return (result * (weights[: result.shape[0]] if result.ndim == 1 else 1)).sum() if result.ndim else result

    start, other, weights = np.array([[0.31, 1.27, 2.45], [1.9, 0.74, 0.12]]), np.array([[0.5, 1.5, 1.0], [2.0, 0.25, 0.75]]), np.arange(1.0, 13)
    x = tenon.tensor(start, requires_grad=True)
    value(x, tenon.tensor(other), tenon.tensor(weights)).backward()
    wanted, step = np.zeros_like(start), 1e-6
    for at in np.ndindex(*start.shape):
        beside = np.zeros_like(start)
        beside[at] = step
        wanted[at] = (value(start + beside, other, weights) - value(start - beside, other, weights)) / (2 * step)
    assert np.allclose(x.grad, wanted, rtol=1e-4, atol=1e-6)


def test_what_numpy_computes_names_itself():
    """A function without a gradient is refused for a tensor that requires grad, by name; what gives no elements is not."""
    x = tenon.tensor([3.0, 1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="Can't call numpy") as caught:
        np.convolve(x, x)
    assert caught.value.__notes__ == ["numpy.convolve is computed by NumPy for these arguments, without a gradient"]
    assert np.allclose(x, x) and np.array_equal(x, x) and np.histogram(x, 2)[0].tolist() == [1, 1]
