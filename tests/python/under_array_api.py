"""SciPy, scikit-learn and array-api-extra compute with tensors what they compute with NumPy's arrays, and give tensors."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # read when SciPy is imported

import numpy as np
import pytest
import tenon
import tenon.array_api

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 4)), RNG.normal(size=(60, 4))
SIGNAL, UNIT, IMAGE = X[:, 0].copy(), RNG.uniform(0.05, 0.95, size=20), RNG.normal(size=(12, 14))
TARGET = X @ np.array([1.0, -2.0, 0.5, 0]) + 0.1 * RNG.normal(size=60)
CLASSES, THREE, GUESSES = (TARGET > 0).astype("int64"), RNG.integers(0, 3, 60), (TARGET + RNG.normal(size=60) > 0).astype("int64")
KERNEL = np.array([0.2, 0.3, 0.5])


def as_arrays(result):
    if isinstance(result, (tuple, list)):
        return [as_arrays(each) for each in result]
    return result.numpy() if isinstance(result, tenon.Tensor) else np.asarray(result)


def check(call, tolerance=1e-6):
    """The call gets a namespace and a function that makes arrays."""
    theirs = as_arrays(call(np, np.array))
    result = call(tenon.array_api, lambda values: tenon.from_numpy(np.array(values)))
    parts = result if isinstance(result, (tuple, list)) else [result]
    assert all(isinstance(part, (tenon.Tensor, int, float)) for part in parts)
    ours = as_arrays(result)
    for a, b in zip(ours, theirs, strict=True) if isinstance(theirs, list) else [(ours, theirs)]:
        assert a.shape == b.shape and np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)



def test_statistics():
    ss = pytest.importorskip("scipy.stats")
    for name in "gmean hmean skew kurtosis variation sem tmean tvar tstd entropy iqr zscore".split():
        check(lambda m, a: getattr(ss, name)(a(np.abs(X) + 0.1)))
    for name in "ttest_ind ttest_rel f_oneway bartlett mannwhitneyu kruskal levene".split():
        check(lambda m, a: list(getattr(ss, name)(a(X), a(Y))))
    for name in "skewtest kurtosistest normaltest jarque_bera".split():
        check(lambda m, a: list(getattr(ss, name)(a(X))))
    check(lambda m, a: list(ss.ttest_1samp(a(X), 0.1)))
    check(lambda m, a: [ss.pearsonr(a(SIGNAL), a(TARGET)).statistic, ss.pearsonr(a(SIGNAL), a(TARGET)).pvalue])
    check(lambda m, a: [ss.linregress(a(SIGNAL), a(TARGET)).slope])
    check(lambda m, a: list(ss.chisquare(a([16.0, 18, 16, 14, 12, 12]))))
    check(lambda m, a: [ss.circmean(a(np.abs(X))), ss.circstd(a(np.abs(X))), ss.rankdata(a(X)), ss.boxcox_llf(0.5, a(np.abs(X))), ss.trim_mean(a(X), 0.1)])


def test_special_functions():
    sp = pytest.importorskip("scipy.special")
    for name in "log_ndtr ndtr ndtri erf erfc i0 i0e i1 i1e gammaln logit expit digamma entr logsumexp softmax log_softmax".split():
        check(lambda m, a: getattr(sp, name)(a(UNIT)))
    for name in "gammainc gammaincc rel_entr xlogy chdtr chdtrc stdtrit betaln beta poch binom".split():
        check(lambda m, a: getattr(sp, name)(a(UNIT), a(UNIT)))


@tenon.array_api.standard_operators()  # SciPy turns signals around by slices
def test_signals():
    sg = pytest.importorskip("scipy.signal")
    for name in "convolve fftconvolve oaconvolve correlate".split():
        check(lambda m, a: getattr(sg, name)(a(SIGNAL), a(KERNEL)))
    for name in "detrend hilbert cspline1d envelope".split():
        check(lambda m, a: getattr(sg, name)(a(SIGNAL)))
    check(lambda m, a: [sg.lfilter(a(KERNEL), a([1.0, 0.1]), a(SIGNAL)), sg.filtfilt(a(KERNEL), a([1.0, 0.1]), a(SIGNAL)), sg.sosfilt(a(sg.butter(2, 0.3, output="sos")), a(SIGNAL))])
    check(lambda m, a: [sg.savgol_filter(a(SIGNAL), 5, 2), sg.medfilt(a(SIGNAL), 3), sg.wiener(a(SIGNAL), 3), sg.resample(a(SIGNAL), 20), sg.resample_poly(a(SIGNAL), 2, 3)])
    check(lambda m, a: list(sg.freqz(a(KERNEL))))


def test_images():
    nd = pytest.importorskip("scipy.ndimage")
    for name in "sobel laplace spline_filter".split():
        check(lambda m, a: getattr(nd, name)(a(IMAGE)))
    for name, size in {"gaussian_filter": 1.0, "uniform_filter": 3, "median_filter": 3, "maximum_filter": 3, "grey_dilation": 3, "zoom": 2, "rotate": 30.0, "shift": 0.5}.items():
        check(lambda m, a: getattr(nd, name)(a(IMAGE), size))
    check(lambda m, a: [nd.label(a(IMAGE > 0))[0], nd.binary_erosion(a(IMAGE > -1)), nd.distance_transform_edt(a(IMAGE > 0)), nd.map_coordinates(a(IMAGE), a([[1.5, 2.5], [1.0, 2.0]]))])


def test_clusters():
    vq, hierarchy = pytest.importorskip("scipy.cluster.vq"), pytest.importorskip("scipy.cluster.hierarchy")
    check(lambda m, a: [vq.whiten(a(X)), *vq.vq(a(X), a(X[:4])), vq.kmeans(a(X), a(X[:3]))[0], *vq.kmeans2(a(X), a(X[:3]), minit="matrix")])
    check(lambda m, a: [hierarchy.linkage(a(X), "ward"), hierarchy.fcluster(hierarchy.linkage(a(X), "ward"), 3, "maxclust"), hierarchy.cophenet(hierarchy.linkage(a(X)))])


def test_transforms_integrals_and_curves():
    sf, si, sin = (pytest.importorskip(f"scipy.{name}") for name in ("fft", "integrate", "interpolate"))
    for name in "fft ifft rfft irfft hfft ihfft fftn dct dst fftshift".split():
        check(lambda m, a: getattr(sf, name)(a(SIGNAL)))
    for name in "trapezoid cumulative_trapezoid simpson cumulative_simpson".split():
        check(lambda m, a: getattr(si, name)(a(SIGNAL)))
    check(lambda m, a: si.cubature(lambda z: m.sum(z, axis=-1), a([0.0, 0.0]), a([1.0, 1.0])).estimate)
    check(lambda m, a: si.tanhsinh(lambda z: z * z, a(0.0), a(1.0)).integral)
    places, squares = np.arange(6.0), np.arange(6.0) ** 2
    for kind in ("make_interp_spline", "CubicSpline", "PchipInterpolator"):
        check(lambda m, a: getattr(sin, kind)(a(places), a(squares))(a([1.5, 2.25])))


def test_derivatives_and_roots():
    differentiate, elementwise = pytest.importorskip("scipy.differentiate"), pytest.importorskip("scipy.optimize.elementwise")
    check(lambda m, a: differentiate.derivative(lambda z: z**3, a([1.0, 2.0])).df)
    check(lambda m, a: elementwise.find_root(lambda z: z * z - 2, (a(0.0), a(2.0))).x)


def test_models():
    pytest.importorskip("sklearn")
    from sklearn import config_context, decomposition, discriminant_analysis, linear_model, metrics, mixture, model_selection, naive_bayes, pipeline, preprocessing

    with config_context(array_api_dispatch=True):
        check(lambda m, a: decomposition.PCA(2, svd_solver="full").fit(a(X)).explained_variance_)
        check(lambda m, a: abs(decomposition.PCA(2, svd_solver="covariance_eigh").fit_transform(a(X))))
        check(lambda m, a: linear_model.Ridge(solver="svd").fit(a(X), a(TARGET)).coef_)
        check(lambda m, a: linear_model.RidgeCV().fit(a(X), a(TARGET)).coef_)
        check(lambda m, a: linear_model.RidgeClassifier(solver="svd").fit(a(X), a(CLASSES)).predict(a(X)))
        check(lambda m, a: linear_model.LogisticRegression().fit(a(X), a(CLASSES)).coef_, 1e-3)
        check(lambda m, a: discriminant_analysis.LinearDiscriminantAnalysis().fit(a(X), a(CLASSES)).predict(a(X)))
        check(lambda m, a: abs(discriminant_analysis.LinearDiscriminantAnalysis().fit(a(X), a(THREE)).transform(a(X))))
        check(lambda m, a: naive_bayes.GaussianNB().fit(a(X), a(THREE)).predict_proba(a(X)))
        check(lambda m, a: mixture.GaussianMixture(2, init_params="random_from_data", random_state=0).fit(a(X)).means_, 1e-4)
        for name in "StandardScaler MinMaxScaler MaxAbsScaler Normalizer Binarizer PolynomialFeatures".split():
            check(lambda m, a: getattr(preprocessing, name)().fit_transform(a(X)))
        check(lambda m, a: list(model_selection.train_test_split(a(X), random_state=0)))
        check(lambda m, a: model_selection.cross_val_predict(linear_model.Ridge(solver="svd"), a(X), a(TARGET)))
        steps = lambda: (preprocessing.StandardScaler(), decomposition.PCA(3, svd_solver="full"), linear_model.Ridge(solver="svd"))
        check(lambda m, a: pipeline.make_pipeline(*steps()).fit(a(X), a(TARGET)).predict(a(X)))
        for name in "accuracy_score balanced_accuracy_score zero_one_loss f1_score precision_score recall_score jaccard_score hamming_loss confusion_matrix".split():
            check(lambda m, a: getattr(metrics, name)(a(CLASSES), a(GUESSES)))
        for name in "mean_squared_error mean_absolute_error r2_score explained_variance_score max_error median_absolute_error mean_poisson_deviance d2_tweedie_score".split():
            check(lambda m, a: getattr(metrics, name)(a(np.abs(TARGET) + 0.1), a(np.abs(TARGET) + 0.2)))
        for name in "euclidean_distances cosine_similarity rbf_kernel linear_kernel polynomial_kernel sigmoid_kernel cosine_distances chi2_kernel".split():
            check(lambda m, a: getattr(metrics.pairwise, name)(a(np.abs(X)), a(np.abs(Y))))
        check(lambda m, a: [metrics.roc_auc_score(a(CLASSES), a(UNIT.repeat(3))), *metrics.roc_curve(a(CLASSES), a(UNIT.repeat(3)))[:2]])


def test_extra_functions():
    xpx = pytest.importorskip("array_api_extra")
    M, V, I = [[1.0, 2, 3], [4, 5, 7]], [3.0, 1, 2, 1], [3, 1, 2, 1]
    for call in (
        lambda m, a: xpx.angle(a([1 + 1j, -1j])), lambda m, a: xpx.apply_where(a(V) > 1, (a(V),), lambda x: x * 2, lambda x: -x),
        lambda m, a: xpx.apply_where(a(V) > 1, (a(V),), lambda x: x * 2, fill_value=7.0), lambda m, a: xpx.partition(a(V), 2)[2],
        lambda m, a: a(V)[xpx.argpartition(a(V), 1)[1]], lambda m, a: xpx.at(a(V), 1).set(5.0, copy=True), lambda m, a: xpx.at(a(V))[1:3].add(5.0, copy=True),
        lambda m, a: xpx.at(a(V))[a(V) > 1].multiply(5.0, copy=True), lambda m, a: xpx.at(a(V))[:2].min(2.0, copy=True), lambda m, a: xpx.at(a(V))[:2].set(2.0, copy=False),
        lambda m, a: xpx.atleast_nd(a(V), ndim=3), lambda m, a: xpx.cov(a(M)), lambda m, a: xpx.create_diagonal(a(V), offset=1), lambda m, a: xpx.expand_dims(a(V), axis=(0, 2)),
        lambda m, a: xpx.isclose(a(V), a([3.0, 1.000000001, 2.5, 1])), lambda m, a: xpx.isin(a(I), a([1, 2])), lambda m, a: xpx.kron(a(M), a(M)), lambda m, a: xpx.nunique(a(V)),
        lambda m, a: xpx.one_hot(a(I), num_classes=5), lambda m, a: xpx.pad(a(M), ((1, 2), (0, 1)), constant_values=2), lambda m, a: xpx.setdiff1d(a(I), a([1])),
        lambda m, a: xpx.sinc(a(V)), lambda m, a: xpx.union1d(a(I), a([7, 1])), lambda m, a: xpx.nan_to_num(a([np.nan, 1.0, np.inf])),
        lambda m, a: xpx.searchsorted(a([1.0, 2, 3]), a(V)),
    ):  # fmt: skip
        check(call)


def test_compatibility():
    compat = pytest.importorskip("array_api_compat")
    x = tenon.ones(3)
    assert compat.array_namespace(x, x) is tenon.array_api and compat.is_array_api_obj(x) and compat.size(x) == 3
    assert compat.device(x) == x.device and compat.to_device(x, "cpu").tolist() == [1, 1, 1] and compat.is_array_api_strict_namespace(tenon.array_api) is False
