# SPDX-License-Identifier: MIT
"""Draw the chart of cost by size of the tree with gnuplot."""
from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import List, Sequence, Tuple

from contenders import ALL
from report import Report
from scenarios import ACTIVE, SIZES

# Title, with PSS, mode, percent.
PANELS: Sequence[Tuple[str, bool, str, int]] = (
    ("all have run, no PSS", False, ACTIVE, 100),
    ("5 % have run, PSS", True, ACTIVE, 5),
)
LINES = {"rtrack": ("#c0392b", 3), "rtrack text": ("#8e44ad", 2), "rtrack each": ("#e67e22", 2),
         "floor": ("#7f8c8d", 2), "floor changed": ("#bdc3c7", 2), "libproc2": ("#2980b9", 1.5),
         "psutil": ("#27ae60", 1.5)}

HEAD = f"""set terminal svg size 960,480 font "sans-serif,12" background "white"
set multiplot layout 1,2
set logscale xy
set xrange [{SIZES[0] * 0.8}:{SIZES[-1] * 1.25}]
set xtics ({", ".join(map(str, SIZES))})
set grid ytics lc rgb "#eeeeee"
set key below maxcols 2
set xlabel "processes\\n "
set ylabel "CPU time (floor of {SIZES[0]} processes = 1)"
set format y "%g"
"""


def panel(report: Report, title: str, with_pss: bool, mode: str, percent: int) -> List[str]:
    floor = report.points("floor", with_pss, mode, percent)
    data, plots = [], []
    for name, (color, width) in LINES.items():
        points = report.points(name, with_pss, mode, percent)
        if not points or not floor:
            continue
        block = f"$line{len(plots)}"
        data += [
            f"{block} << EOD", *(f"{size} {cost / floor[0][1]:.5g}" for size, cost in points),
            "EOD"]
        what = ALL[name].what.split(" (")[0]
        plots.append(
            f'{block} with linespoints pt 7 ps 0.5 lw {width} lc rgb "{color}" title "{what}"')
    return [*data, f'set title "{title}"', "plot " + ", ".join(plots)] if plots else []


def draw(report: Report, to: pathlib.Path) -> None:
    """Draw the chart. Without gnuplot the existing chart is kept."""
    if not shutil.which("gnuplot"):
        print("gnuplot is not installed: the chart is not drawn.")
        return
    lines = [line for one in PANELS for line in panel(report, *one)]
    script = HEAD + "\n".join(lines) + "\nunset multiplot\n"
    done = subprocess.run(["gnuplot"], input=script.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise AssertionError(f"gnuplot: {done.stderr.decode()}")
    to.write_bytes(done.stdout)
