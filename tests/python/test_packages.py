"""One program each of other people's packages: with tensors it gives what it gives with NumPy's arrays."""

import subprocess
import sys

import pytest
import tenon

np = pytest.importorskip("numpy")

X = np.random.default_rng(0).normal(size=(60, 4))
PHOTO = np.random.default_rng(1).integers(0, 256, size=(5, 6, 3), dtype=np.uint8)


def tensor(array=X):
    return tenon.from_numpy(array.copy())


def is_tensor_of(result, wanted):
    return isinstance(result, tenon.Tensor) and np.allclose(result.numpy(), wanted)


@pytest.mark.without_asan("it starts an interpreter of its own")
def test_array_api(root):
    """SciPy reads its switch when it is imported, so that these tests run in a process of their own."""
    pytest.importorskip("scipy")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(root / "tests" / "python" / "under_array_api.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=root)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-5000:]


def test_einops():
    einops = pytest.importorskip("einops")
    import tenon.einops

    x = tensor()
    for call in (
        lambda m, x: m.rearrange(x, "(a b) c -> c b a", a=3), lambda m, x: m.rearrange([x, x], "n a b -> a (n b)"), lambda m, x: m.reduce(x, "(a b) c -> b", "mean", a=3),
        lambda m, x: m.reduce(x, "a b -> a 1", "max"), lambda m, x: m.repeat(x, "a b -> a 2 b 3"), lambda m, x: m.einsum(x, x, "a b, c b -> a c"),
        lambda m, x: m.pack([x, x[:, :2]], "a *")[0], lambda m, x: m.unpack(x, [[1], [3]], "a *")[1],
    ):  # fmt: skip
        assert is_tensor_of(call(einops, x), call(einops, X))
    standard = pytest.importorskip("einops.array_api")
    assert is_tensor_of(standard.reduce(x, "(a b) c -> b", "sum", a=3), X.reshape(3, 20, 4).sum((0, 2)))
    leaf = tenon.ones(2, 3, requires_grad=True)
    einops.reduce(leaf, "a b -> a", "sum").sum().backward()
    assert leaf.grad.tolist() == [[1] * 3] * 2


def test_jaxtyping():
    jaxtyping = pytest.importorskip("jaxtyping")
    x = tensor()
    assert isinstance(x, jaxtyping.Float[tenon.Tensor, "rows 4"]) and isinstance(x > 0, jaxtyping.Bool[tenon.Tensor, "a b"])
    assert not isinstance(x, jaxtyping.Float[tenon.Tensor, "rows 5"]) and not isinstance(x, jaxtyping.Int[tenon.Tensor, "..."])
    assert not isinstance(x, jaxtyping.Float32[tenon.Tensor, "..."]) and isinstance(tenon.ones(2, dtype=tenon.bfloat16), jaxtyping.BFloat16[tenon.Tensor, "2"])


def test_xarray():
    xarray = pytest.importorskip("xarray")
    ours, theirs = (xarray.DataArray(data, dims=("time", "place")) for data in (tensor(), X.copy()))
    for call in (
        lambda d: d.mean("time"), lambda d: d.std("time"), lambda d: d.where(d > 0, 0.0), lambda d: d.fillna(0), lambda d: d.astype("float32"), lambda d: d.cumsum("time"),
        lambda d: xarray.dot(d, d, dim="time"), lambda d: d.pad(time=1, constant_values=0), lambda d: d.coarsen(time=2).mean(), lambda d: d.shift(time=1, fill_value=0.0),
        lambda d: d.assign_coords(time=np.arange(60) % 3).groupby("time").mean(), lambda d: d.isel(time=slice(None, None, -1)), lambda d: d.clip(0, 1), lambda d: d.stack(z=("time", "place")),
    ):  # fmt: skip
        assert is_tensor_of(call(ours).data, call(theirs).data)


def test_windows_and_gaps_of_xarray():
    """What xarray fills with NaN, or computes by SciPy, gives tensors after `import tenon.xarray`."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("scipy")
    import tenon.xarray

    days = np.datetime64("2020-01-01") + np.arange(60).astype("timedelta64[D]")
    ours, theirs = (xarray.DataArray(data, dims=("time", "place"), coords={"time": np.arange(60.0)}) for data in (tensor(), X.copy()))
    for call in (
        lambda d: d.rolling(time=5).mean(), lambda d: d.rolling(time=5, min_periods=1).sum(), lambda d: d.rolling(time=4, center=True).max(), lambda d: d.rolling(time=3).median(),
        lambda d: d.rolling(time=4).std(), lambda d: d.rolling(time=3, place=2).mean(), lambda d: d.rolling(time=5).construct("window"), lambda d: d.rolling(time=5).reduce(np.sum),
        lambda d: d.rolling(time=5).count(), lambda d: d.interp(time=[0.5, 1.5, 30.25]), lambda d: d.interp(time=[0.4, 1.6], method="nearest"),
        lambda d: d.interp(time=[0.5, 1.5], method="cubic"), lambda d: d.interp(time=[0.5, 2.5], place=[0.5, 1.5]), lambda d: d.interp(place=[0.5, 7.5]), lambda d: d.shift(time=2),
        lambda d: d.reindex(time=[0.0, 1.0, 99.0]), lambda d: d.where(d > -1).dropna("time"), lambda d: xarray.cov(d, d * 2, "time"), lambda d: xarray.corr(d, d**2, "time"),
        lambda d: d.idxmax("time"), lambda d: d.differentiate("time"), lambda d: d.integrate("time"), lambda d: d.quantile([0.3, 0.5], "time"), lambda d: d.cumulative("time").sum(),
        lambda d: d.assign_coords(time=days).resample(time="10D").mean(), lambda d: d.weighted(xarray.DataArray(np.arange(60.0), dims="time")).mean("time"),
    ):  # fmt: skip
        result, wanted = call(ours), call(theirs)
        assert result.dims == wanted.dims and isinstance(result.data, tenon.Tensor) and np.allclose(result.data.numpy(), wanted.data, equal_nan=True)
    whole = xarray.DataArray(tenon.arange(6), dims="time").rolling(time=2).mean()
    assert np.allclose(whole.data.numpy(), [np.nan, 0.5, 1.5, 2.5, 3.5, 4.5], equal_nan=True)
    leaf = tenon.ones(6, requires_grad=True)
    xarray.DataArray(leaf, dims="time").rolling(time=3).construct("window", fill_value=0.0).data.sum().backward()
    assert leaf.grad.tolist() == [3, 3, 3, 3, 2, 1]


def test_matplotlib():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")

    def pixels(x, numbers):
        figure, axes = pyplot.subplots(2, 3)
        axes = axes.ravel()
        axes[0].plot(x[:, 0], x[:, 1])
        axes[1].imshow(abs(x))
        axes[2].hist(x[:, 0])
        axes[3].scatter(x[:, 0], x[:, 1], c=x[:, 2], s=abs(x[:, 3]))
        axes[4].errorbar(numbers, x[0], yerr=abs(x[1]))
        axes[5].contourf(x[:20])
        figure.canvas.draw()
        drawn = np.asarray(figure.canvas.buffer_rgba()).copy()
        pyplot.close(figure)
        return drawn

    assert np.array_equal(pixels(tensor(), tenon.arange(4.0)), pixels(X, np.arange(4.0)))


def test_pandas():
    pandas = pytest.importorskip("pandas")
    x, groups = tensor(), np.arange(60) % 3
    pandas.testing.assert_frame_equal(pandas.DataFrame(x, columns=list("abcd")).describe(), pandas.DataFrame(X, columns=list("abcd")).describe())
    ours, theirs = pandas.DataFrame({"a": x[:, 0], "g": tensor(groups)}), pandas.DataFrame({"a": X[:, 0], "g": groups})
    ours["b"], theirs["b"] = x[:, 1], X[:, 1]
    pandas.testing.assert_frame_equal(ours.groupby("g").mean(), theirs.groupby("g").mean())
    assert np.allclose(pandas.Series(X[:, 0]) * x[:, 1], X[:, 0] * X[:, 1]) and is_tensor_of(tenon.asarray(theirs["a"].to_numpy(copy=True)), X[:, 0])


def test_polars():
    polars = pytest.importorskip("polars")
    x = tensor()
    table = polars.DataFrame({"a": x[:, 0].numpy(), "b": x[:, 1].numpy()})
    products = table.select(polars.col("a") * polars.col("b"))["a"]
    assert is_tensor_of(tenon.tensor(products.to_numpy()), X[:, 0] * X[:, 1]) and np.allclose(polars.DataFrame(x.numpy()).to_numpy(), X)
    # A table is read, its columns are made alike, and what was computed goes back into it.
    frame = polars.DataFrame({name: X[:, at] for at, name in enumerate("abcd")})
    columns = tenon.from_dlpack(frame.to_numpy().copy())
    alike = (columns - columns.mean(0)) / columns.std(0)
    back = frame.with_columns(polars.Series(name, alike[:, at].numpy()) for at, name in enumerate("abcd"))
    wanted = frame.with_columns((polars.all() - polars.all().mean()) / polars.all().std())
    assert np.allclose(back.to_numpy(), wanted.to_numpy())
    rolled = polars.Series(X[:, 0]).rolling_mean(5).to_numpy()[4:]
    assert is_tensor_of(x[:, 0].unfold(0, 5, 1).mean(-1), rolled)


def test_safetensors(tmp_path):
    package = pytest.importorskip("safetensors")
    numpy = pytest.importorskip("safetensors.numpy")
    tenon.save({"a": tensor(), "half": tensor().half()}, tmp_path / "a.safetensors")
    loaded = numpy.load_file(tmp_path / "a.safetensors")
    assert np.array_equal(loaded["a"], X) and np.array_equal(loaded["half"], X.astype("f2"))
    with package.safe_open(tmp_path / "a.safetensors", "np") as file:
        assert np.array_equal(file.get_slice("a")[2:4], X[2:4])
    numpy.save_file({"b": tensor().numpy()}, tmp_path / "b.safetensors")
    assert is_tensor_of(tenon.load(tmp_path / "b.safetensors")["b"], X)


def test_pillow():
    image = pytest.importorskip("PIL.Image")
    photo = tensor(PHOTO)
    smaller = image.fromarray(photo.numpy()).resize((3, 3))
    mean, deviation = tenon.tensor([0.5, 0.4, 0.3]), tenon.tensor([0.2, 0.3, 0.4])
    normal = (photo / 255 - mean) / deviation
    grey = (normal * deviation + mean).mul(255).round().clamp(0, 255).to(tenon.uint8)
    written = image.fromarray(grey.numpy())
    assert np.array_equal(np.asarray(written), PHOTO) and np.array_equal(np.asarray(image.fromarray(photo.flip(1).numpy())), PHOTO[:, ::-1])
    by_row = tenon.tensor(np.asarray(image.fromarray(PHOTO).convert("L"))).double().mean(1)
    assert is_tensor_of(by_row, np.asarray(image.fromarray(PHOTO).convert("L")).mean(1))
    assert np.array_equal(np.asarray(smaller), np.asarray(image.fromarray(PHOTO).resize((3, 3)))) and is_tensor_of(tenon.tensor(np.asarray(smaller)), np.asarray(smaller))


def test_joblib(tmp_path):
    joblib = pytest.importorskip("joblib")
    x = tensor()
    joblib.dump({"x": x}, tmp_path / "x.joblib")
    assert is_tensor_of(joblib.load(tmp_path / "x.joblib")["x"], X) and joblib.hash(x) == joblib.hash(x.clone()) != joblib.hash(x + 1)
    rows = joblib.Parallel(2, backend="threading")(joblib.delayed(tenon.sum)(row) for row in x)
    assert is_tensor_of(tenon.stack(rows), X.sum(1)) and is_tensor_of(joblib.Memory(tmp_path, verbose=0).cache(np.abs)(x), np.abs(X))
