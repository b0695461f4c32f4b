#!/usr/bin/env python3
"""Draws what `./dev bench --sweep --json FILE` measured: plot_sweep.py FILE OUT.svg, or - for standard output.

A panel a family: the share of the limit's speed over the size that decides, Tenon's and PyTorch's. A dot is a
case; a line joins the medians of all cases of about one size.
"""
import json
import math
import pathlib
import statistics
import sys

WIDTH, HEIGHT, COLUMNS = 220, 130, 4
LEFT, TOP, RIGHT, BOTTOM = 30, 22, 8, 20  # margins of a panel
MOST, LAST = 1.25, 13  # the largest share, and the power of two of the largest size, that are drawn
COLOURS = {"Tenon": "#c2410c", "PyTorch": "#64748b"}


def place(inner, share):
    x = LEFT + min(math.log2(max(inner, 1)), LAST) / LAST * (WIDTH - LEFT - RIGHT)
    return x, TOP + (1 - min(share, MOST) / MOST) * (HEIGHT - TOP - BOTTOM)


def medians(points):
    """The medians of sizes that round to one power of two."""
    sizes = {}
    for inner, share in points:
        sizes.setdefault(round(math.log2(max(inner, 1))), []).append((inner, share))
    for _, group in sorted(sizes.items()):
        yield 2 ** statistics.fmean(math.log2(max(inner, 1)) for inner, _ in group), statistics.median(share for _, share in group)


def draw_library(name, points):
    colour = COLOURS[name]
    for inner, share in points:
        x, y = place(inner, share)
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.3" fill="{colour}" fill-opacity="0.45"/>'
    line = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in medians(points))
    yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.4"/>'


def draw_panel(family, cases):
    yield f'<text x="{LEFT}" y="14" font-weight="bold">{family}</text>'
    for share in (0, 0.5, 1):
        x, y = place(1, share)
        yield f'<line x1="{x}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#cbd5e1" stroke-width="0.6"/>'
        yield f'<text x="{x - 4}" y="{y + 3:.1f}" text-anchor="end">{share:g}</text>'
    for power in (0, 4, 8, 12):
        x, _ = place(2**power, 0)
        yield f'<text x="{x:.1f}" y="{HEIGHT - 7}" text-anchor="middle">{2**power}</text>'
    yield from draw_library("PyTorch", [(case["inner"], case["share"] / case["ratio"]) for case in cases if case.get("ratio")])
    yield from draw_library("Tenon", [(case["inner"], case["share"]) for case in cases])


def draw(cases):
    families = {}
    for case in cases:
        families.setdefault(case["family"], []).append(case)
    rows = -(-len(families) // COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT + 24
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="9" fill="#334155">')  # fmt: skip
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    yield '<text x="30" y="15" font-size="11">Share of the limit, over the inner size: '
    yield "".join(f'<tspan fill="{colour}" font-weight="bold">{name} </tspan>' for name, colour in COLOURS.items()) + "</text>"
    for number, (family, group) in enumerate(families.items()):
        yield f'<g transform="translate({number % COLUMNS * WIDTH},{number // COLUMNS * HEIGHT + 22})">'
        yield from draw_panel(family, group)
        yield "</g>"
    yield "</svg>"


def write_figure(draw, usage):
    """Draws the cases of the file that the first argument names into the second; `-`: to standard output."""
    if len(sys.argv) != 3:
        sys.exit(usage)
    cases = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["cases"]
    figure = "\n".join(draw(cases)) + "\n"
    sys.stdout.write(figure) if sys.argv[2] == "-" else pathlib.Path(sys.argv[2]).write_text(figure, encoding="utf-8")


if __name__ == "__main__":
    write_figure(draw, __doc__)
