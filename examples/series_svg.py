#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw a CSV series of rtrack as SVG: the CPUs in use, and the memory of all processes.

    rtrack run -i 100ms -o series.csv -- make
    examples/series_svg.py series.csv >series.svg

An estimate is drawn lighter. An unknown figure leaves a gap.
"""
from __future__ import annotations

import csv
import math
import sys
from typing import Dict, List, NamedTuple, Sequence

WIDTH, LEFT, RIGHT = 720, 44, 704  # of the picture, and where the bars begin and end
PANEL, BARS = 120, 86  # heights of a panel with its title, and of the bars in it
MIB = 1 << 20
FIELDS = ("timestamp", "interval_seconds", "cores_used", "footprint_bytes", "estimated")
Row = Dict[str, str]


class Bar(NamedTuple):
    begin: float
    seconds: float
    value: float
    is_estimate: bool


def bars(rows: Sequence[Row], field: str, unit: int) -> List[Bar]:
    start = float(rows[0]["timestamp"]) - float(rows[0]["interval_seconds"])
    return [Bar(float(row["timestamp"]) - float(row["interval_seconds"]) - start,
                float(row["interval_seconds"]), float(row[field]) / unit,
                field in row["estimated"].split()) for row in rows if row[field]]


def round_up(value: float) -> float:
    """The next of 1, 2, 3, 4, 6, 8, 10, 20, ..."""
    power = 10**math.floor(math.log10(max(value, 1)))
    return next(step * power for step in (1.0, 2, 3, 4, 6, 8, 10) if step * power >= value)


def panel(y: int, title: str, top: float, color: str, scale: float, what: List[Bar]) -> List[str]:
    """The title, three lines with their values, and the bars: exact ones, then estimates."""
    base = y + PANEL
    out = [f'<text x="{LEFT}" y="{base - BARS - 10}" font-weight="bold">{title}</text>']
    for part in (0, 0.5, 1):
        out += [f'<path d="M{LEFT} {base - part * BARS:g}H{RIGHT}" stroke="#ccc"/>',
                f'<text x="{LEFT - 6}" y="{base - part * BARS + 4:g}" text-anchor="end">'
                f'{part * top:g}</text>']
    for is_estimate, opacity in ((False, "1"), (True, "0.5")):
        path = "".join(f"M{LEFT + bar.begin * scale:.1f} {base}v-{bar.value / top * BARS:.1f}"
                       f"h{bar.seconds * scale:.1f}V{base}"
                       for bar in what if bar.is_estimate == is_estimate)
        out.append(f'<path d="{path}" fill="{color}" opacity="{opacity}"/>')
    return out


def draw(rows: Sequence[Row]) -> str:
    cores, memory = bars(rows, "cores_used", 1), bars(rows, "footprint_bytes", MIB)
    most_cores, most_memory = (round_up(max((bar.value for bar in what), default=1))
                               for what in (cores, memory))
    end = max((bar.begin + bar.seconds for bar in [*cores, *memory]), default=1)
    scale = (RIGHT - LEFT) / end
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {2 * PANEL + 32}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        '<rect width="100%" height="100%" fill="white"/>',
        *panel(0, "CPUs in use", most_cores, "#2c7fb8", scale, cores),
        *panel(PANEL, "memory in MiB, each page once", most_memory, "#d95f0e", scale, memory),
        f'<text x="{LEFT}" y="{2 * PANEL + 20}">0</text>',
        f'<text x="{RIGHT}" y="{2 * PANEL + 20}" text-anchor="end">{end:.1f} s</text>',
        "</svg>"])


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("Usage: series_svg.py SERIES.csv >SERIES.svg")
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit(f"series_svg.py: {sys.argv[1]} has no rows")
    missing = [field for field in FIELDS if field not in rows[0]]
    if missing:
        sys.exit(f"series_svg.py: {sys.argv[1]} has no column {missing[0]}")
    print(draw(rows))


if __name__ == "__main__":
    main()
