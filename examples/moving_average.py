"""A moving average without a copy: as_strided makes overlapping windows of one memory.

    python examples/moving_average.py
"""

import tenon


def windows(series, width):
    """Every `width` neighbours as one row, [N - width + 1, width]; all rows are views of the series."""
    return series.as_strided((len(series) - width + 1, width), (series.stride(0), series.stride(0)))


def moving_average(series, width):
    return windows(series, width).mean(-1)


def main():
    temperatures = tenon.tensor([14.0, 15, 13, 18, 21, 20, 17, 16, 18, 22, 24, 23, 19, 18])
    averages = moving_average(temperatures, 4)
    print("windows share the series' memory:", windows(temperatures, 4).data_ptr() == temperatures.data_ptr())
    print(averages)
    return temperatures, averages


if __name__ == "__main__":
    main()
