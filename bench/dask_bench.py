"""Times Dask with chunks of tensors and with NumPy's, alternately, each block on one thread: medians and their ratio.

    python bench/dask_bench.py
"""

import statistics
import time

import dask
import dask.array as da
import numpy as np
import tenon

ROUNDS = 25
CASES = {
    "normalise": lambda x, w: (x - x.mean(0)) / x.std(0),
    "exp": lambda x, w: da.exp(x),
    "sum": lambda x, w: x.sum(),
    "var": lambda x, w: x.var(axis=0),
    "matmul": lambda x, w: x @ w,
    "argmax": lambda x, w: x.argmax(axis=1),
    "where": lambda x, w: da.where(x > 0, x, 0.0),
    "mask": lambda x, w: x[x > 0].sum(),
    "cumsum": lambda x, w: x.cumsum(axis=0),
    "distances": lambda x, w: ((x[:512, None, :] - x[None, :64, :]) ** 2).sum(-1),
    "index": lambda x, w: x[[5, 4000, 8000] * 1000],
    "4 x 4": lambda x, w: x[:4, :4] + 1,
}


def seconds(array):
    begin = time.perf_counter()
    array.compute()
    return time.perf_counter() - begin


def main():
    tenon.set_num_threads(1)
    random = np.random.default_rng(0)
    rows, weights = (random.normal(size=shape).astype("f4") for shape in ((8192, 256), (256, 64)))
    operands = [[da.from_array(make(array), chunks=(2048, 256)) for array in (rows, weights)] for make in (np.copy, tenon.from_numpy)]
    print("8,192 x 256 float32 in four chunks; Tenon's time over NumPy's")
    for name, function in CASES.items():
        arrays, tensors = (function(*pair) for pair in operands)
        times = [(seconds(arrays), seconds(tensors)) for _ in range(ROUNDS)]
        numpys, tenons = map(statistics.median, zip(*times))
        print(f"{name:10} {1e3 * numpys:8.2f} ms {tenons / numpys:6.2f}")


if __name__ == "__main__":
    with dask.config.set(scheduler="sync"):
        main()
