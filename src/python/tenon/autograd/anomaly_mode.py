"""Anomaly mode: errors of backward that name the operation that caused them."""

import warnings

from .. import _tenon


class set_detect_anomaly:
    """Notes where operations are called and looks for NaN in gradients, from the call on; as a context manager up to
    the end of the block."""

    def __init__(self, mode, check_nan=True):
        self._before = _tenon._anomaly_mode()
        _tenon._set_anomaly_mode(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _tenon._set_anomaly_mode(*self._before)


class detect_anomaly:
    """The same for a `with` block, with a warning that it costs time."""

    def __init__(self, check_nan=True):
        self._check_nan = check_nan
        self._before = _tenon._anomaly_mode()
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self):
        _tenon._set_anomaly_mode(True, self._check_nan)

    def __exit__(self, *exception):
        _tenon._set_anomaly_mode(*self._before)
