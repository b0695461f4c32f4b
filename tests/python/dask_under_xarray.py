"""xarray's DataArray over tensors, and over Dask arrays of tensors: what it computes are tensors, with NumPy's values."""

import pytest
import tenon

np = pytest.importorskip("numpy")
xr = pytest.importorskip("xarray")
da = pytest.importorskip("dask.array")

VALUES = np.random.default_rng(0).normal(size=(12, 5))


def table(data):
    return xr.DataArray(data, dims=("time", "place"), coords={"time": np.arange(12), "place": list("abcde")})


def anomalies(x):
    """A workflow: the means of three seasons, what differs from them, scaled, of two places."""
    seasons = [x.isel(time=slice(at, at + 4)) for at in (0, 4, 8)]
    parts = [season - season.reduce(np.mean, "time") for season in seasons]
    whole = xr.concat(parts, "time")
    scaled = whole / whole.reduce(np.std, "time")
    return scaled.sel(place=["b", "d"]).clip(-1, 1).transpose("place", "time")


WORKFLOWS = {
    "anomalies": anomalies,
    "dims by name": lambda x: x + xr.DataArray(np.arange(5.0), dims="place"),
    "steps": lambda x: x.diff("time").roll(place=1),
    "apply_ufunc": lambda x: xr.apply_ufunc(np.exp, x, dask="allowed"),
    "dataset": lambda x: xr.Dataset({"x": x, "y": x * 2}).map(np.abs)["y"],
    "back": lambda x: x.isel(time=slice(None, None, -1)),
}


@pytest.mark.parametrize("name", WORKFLOWS)
@pytest.mark.parametrize("chunks", [None, 5])
def test_workflow(name, chunks):
    data = tenon.from_numpy(VALUES.copy())
    wanted = WORKFLOWS[name](table(VALUES))
    result = WORKFLOWS[name](table(data if chunks is None else da.from_array(data, chunks=chunks)))
    assert result.dims == wanted.dims and result.coords.equals(wanted.coords)
    assert (chunks is None) == isinstance(result.data, tenon.Tensor)
    computed = result.data if chunks is None else result.data.compute(scheduler="sync")
    assert isinstance(computed, tenon.Tensor) and np.allclose(np.asarray(computed), wanted.values)
