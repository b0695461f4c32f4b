#!/usr/bin/env python3
"""Draws what `./dev bench-fuse --json FILE` measured: plot_fuse.py FILE OUT.svg, or - for standard output.

A row a function: on the left the bytes that it moves as one fused function and op by op, on the right the time of both
and of PyTorch's ops.
"""
from plot_sweep import write_figure

ROW, BAR = 56, 12
NAMES, PANEL, GAP = 150, 250, 90  # widths: of the names, of a panel's longest bar, of the text after it
FUSED, OPS, TORCH = "#c2410c", "#fdba74", "#64748b"
LIBRARIES = (("tenon.fuse", FUSED), ("tenon ops", OPS), ("torch", TORCH))


def bytes_text(count):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def draw_bars(left, top, bars):
    """Bars (value, text, colour), the longest one as long as the panel."""
    most = max(value for value, _, _ in bars)
    for number, (value, text, colour) in enumerate(bars):
        y = top + number * (BAR + 2)
        length = max(PANEL * value / most, 1)
        yield f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{colour}"/>'
        yield f'<text x="{left + length + 4:.1f}" y="{y + BAR - 3}">{text}</text>'


def draw_case(case, top):
    yield f'<text x="{NAMES - 8}" y="{top + BAR + 6}" text-anchor="end">{case["name"]}</text>'
    moved = [(case["fused_bytes"], bytes_text(case["fused_bytes"]), FUSED), (case["ops_bytes"], bytes_text(case["ops_bytes"]), OPS)]
    yield from draw_bars(NAMES, top, moved)
    times = case["milliseconds"]
    taken = [(times[name], f"{times[name]:.3g} ms", colour) for name, colour in LIBRARIES if name in times]
    yield from draw_bars(NAMES + PANEL + GAP, top, taken)


def draw(cases):
    width, height = NAMES + 2 * (PANEL + GAP), len(cases) * ROW + 34
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="10" fill="#334155">')  # fmt: skip
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    for number, (name, colour) in enumerate(LIBRARIES):
        yield f'<text x="{8 + number * 80}" y="16" font-weight="bold" fill="{colour}">{name}</text>'
    yield f'<text x="{NAMES + 130}" y="16" font-weight="bold">bytes moved</text>'
    yield f'<text x="{NAMES + PANEL + GAP}" y="16" font-weight="bold">time on one core</text>'
    for number, case in enumerate(cases):
        yield from draw_case(case, 28 + number * ROW)
    yield "</svg>"


if __name__ == "__main__":
    write_figure(draw, __doc__)
