"""Fixtures and settings that all tests share."""

import collections
import os
import pathlib
import site

import pytest
import tenon

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


# Of the cases of one test, AddressSanitizer, which makes them several times slower, sees every sixth.
SAMPLED = 6


def pytest_collection_modifyitems(config, items):
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        return
    cases, kept, others = collections.Counter(), [], []
    for item in items:
        for mark in item.iter_markers("without_asan"):
            item.add_marker(pytest.mark.skip(reason=mark.args[0]))
        test = item.nodeid.partition("[")[0]
        (others if cases[test] % SAMPLED else kept).append(item)
        cases[test] += 1
    items[:] = kept
    config.hook.pytest_deselected(items=others)


try:
    from hypothesis import HealthCheck, settings
except ImportError:  # tests that need it are skipped
    pass
else:
    # The same calls every time, unless TENON_NEW_CALLS is set.
    settings.register_profile("tenon", max_examples=int(os.environ.get("TENON_EXAMPLES", "300")), deadline=None,
                              derandomize="TENON_NEW_CALLS" not in os.environ, suppress_health_check=list(HealthCheck))  # fmt: skip
    settings.load_profile("tenon")


try:
    import torch
except ImportError:
    pass
else:
    # torch.manual_seed keeps the seed for each kind of device that is not there, with the text of the call stack: in tests
    # that seed before each call, this took more time than the calls.
    torch.random._manual_seed_impl = lambda seed: torch.default_generator.manual_seed(int(seed))


@pytest.fixture
def root():
    return ROOT


@pytest.fixture(autouse=True)
def restore_settings():
    yield
    tenon.set_default_dtype(tenon.float32)
    tenon.set_printoptions(profile="default")
    tenon.utils.backcompat.broadcast_warning.enabled = False
    tenon.utils.backcompat.pointwise_1d.enabled = False


@pytest.fixture
def type_errors(tmp_path, monkeypatch):
    """A function that returns mypy's errors for programs that use the module's stubs."""
    api = pytest.importorskip("mypy.api")
    # mypy finds installed packages itself, and does not accept their paths.
    folder = str(pathlib.Path(tenon.__file__).parent.parent)
    if folder not in site.getsitepackages():
        monkeypatch.setenv("MYPYPATH", folder)

    def check(*files, strict=True):
        flags = ["--strict"] if strict else []
        flags += ["--cache-dir", str(tmp_path / "cache"), "--follow-imports=silent"]
        text, _, _ = api.run([*map(str, files), *flags])
        return [line for line in text.splitlines() if "error:" in line]

    return check
