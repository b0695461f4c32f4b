"""What all tests share: settings of the process are put back."""

import pathlib

import pytest
import tenon

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def root():
    return ROOT


@pytest.fixture(autouse=True)
def defaults():
    yield
    tenon.set_default_dtype(tenon.float32)
    tenon.set_printoptions(profile="default")
    tenon.utils.backcompat.broadcast_warning.enabled = False
    tenon.utils.backcompat.pointwise_1d.enabled = False
