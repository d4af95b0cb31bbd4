# SPDX-License-Identifier: MIT
"""Write docs/reports/accuracy.md, and the same figures as JSON."""
from __future__ import annotations

import dataclasses
import os
import platform
import re
import statistics
import textwrap
from typing import Any, Dict, Iterable, List, Optional, Sequence

from figures import FIGURES, Figure, figure_named, reading_of
from judge import CPU_TIME, is_silently_low, outside_bounds, problems_of, truths
from rule import ESTIMATED, PARTIAL, VALID, Truth
from runner import CGROUP_TRUTH, Result
from series import judged_rows, reading_of_row
from workloads import ALL, Workload

METHODS = ("poll", "wait", "cgroup", "bpf")

HEAD = """# How exact the figures are {{#accuracy}}

Written by `tests/accuracy/run.sh`; do not edit. Each workload is a small program in
`tests/accuracy/workloads`; the comment in its source describes it. It was run three ways:

- under `rtrack run` with each accounting method of `--accounting`, with samples every 0.1 s;
- under GNU time;
- under a careful poller: a program that polls the command and all its descendants with psutil every
  0.1 s, and keeps the last figures of each process.

[TOC]

## How it was measured {{#accuracy_method}}

- Linux {kernel}, {cpus} CPUs. {runs}
- The truth of CPU time: {truth}
- The truth of memory and bytes is what the workload knows of itself: the size of the memory that
  it mapped and touched, and the bytes that it wrote past the page cache. Code, stacks and pages
  that a fork copies add a little. The workload measures how much at most, so the truth is a range.
- The truth of faults and switches is what the workload reads by getrusage(2) at its end, and up to
  {faults} faults and {switches} switches for exiting.
- Errors are in % of the truth, or of the end of the range that is closer. E.g.: -100 means that the
  tool saw nothing, and 0 that the figure is in the range. GNU time shows CPU time in steps of
  10 ms.
- The truth includes what a daemon does after the root of the command has exited. `rtrack run`, GNU
  time and the poller end with the root. So their figures are as of that time, and `rtrack run`
  reports that a process was left running.

## In short {{#accuracy_short}}

All runs of rtrack. A figure is wrong if it is above the truth and not `estimated`; if it is below
the truth and not `partial`; if it is `estimated` and off by more than 3 % in a forking pool, 15 %
elsewhere; or if its bounds do not hold both its value and the truth. 0.1 % and what the figure
resolves are let through. The last line is of the rows of the series of forking pools. A sum over
members that are read one after another may be 2 % off there.

{figures}
- The result was marked complete in {complete} of {judged} runs, and too low in {silent} of them.
"""

CGROUP_METHOD = """{truth}.
  A launcher of a few lines moves itself into the group and then becomes the workload by exec. So no
  measuring process is in that group. What the launcher itself has used before is added. With
  `cgroup`, rtrack makes a cgroup for the command below the group that rtrack runs in. The launcher
  then moves all other processes out of that outer group, so that it holds the workload alone. A
  group is read for the last time when it has no processes."""

WAIT_METHOD = """{truth}, because no cgroup v2 was writable:
  the CPU time of all processes that were waited for, less the CPU clock of the tool itself. It
  includes the supervisor of rtrack. Trees with a process that is not waited for have no such truth,
  and were left out."""

CPU = """
## CPU time, as {user} {{#accuracy_cpu_{id}}}

Error in %. A star marks a result that rtrack itself marks incomplete (`accounting.complete` is
false).
"""

DOUBT = """
## Results that rtrack marks incomplete, as {user} {{#accuracy_doubt_{id}}}

Truth and CPU bounds (`cpu_seconds_low`, `cpu_seconds_high`) are in seconds, as of the exit of the
command's root.
"""

COUNTS = """
## Processes, as {user} {{#accuracy_processes_{id}}}

The number of processes in all, and the number that each accounting method counted. "At least" means
that rtrack may have missed some. The other tools do not count processes.
"""

OTHER = """
## {title}, as {user} {{#accuracy_{figure}_{id}}}

Error in %. `p` marks a figure that rtrack marks partial, `e` one that it estimates, and `!` one
that is wrong.{note}
"""

SERIES = """
## Rows of the series of forking pools, as {user} {{#accuracy_series_{id}}}

`footprint_bytes` of the rows while the memory of the tree is known: largest error in %, number of
rows, and how many are wrong.
"""

# Figure, the title of its table, the figure to show if a tool does not report it, and what to say
# of that.
OTHERS = (
    ("peak_rss_bytes", "Peak of the largest process", "", ""),
    ("peak_footprint_bytes", "Peak of the tree", "peak_rss_bytes",
     "\nGNU time has no sum over a tree, so its largest process is shown instead. The poller adds "
     "up\nRSS."),
    ("write_bytes", "Bytes written", "", ""),
    ("read_bytes", "Bytes read", "", ""),
    ("minor_faults", "Page faults", "", ""),
    ("voluntary_switches", "Voluntary context switches", "", ""),
)
SIGNS = {VALID: "", PARTIAL: " p", ESTIMATED: " e"}

# As in workloads/work.c: FAULTS_OF_EXIT, SWITCHES_OF_EXIT.
FAULTS_OF_EXIT, SWITCHES_OF_EXIT = 64, 8


def percent(value: Optional[float]) -> str:
    if value is None:
        return "-"
    if abs(value) < 0.005:
        return "0.00"
    return f"{value:+.2f}" if abs(value) < 9.995 else f"{value:+.1f}"


def worst(errors: Iterable[float]) -> Optional[float]:
    """Return the error that is furthest from 0, or None if there is none."""
    return max(errors, key=abs, default=None)


def error_of(value: float, truth: Truth) -> float:
    """Return the distance from the range of the truth, in % of the end that is closer."""
    if truth.low <= value <= truth.high:
        return 0
    end = truth.low if value < truth.low else truth.high
    return 100 * (value / end - 1) if end else 100.0


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


class Report:
    def __init__(self, results: Sequence[Result], skips: Sequence[str], truth: str,
                 repeat: int) -> None:
        self.results, self.skips, self.truth, self.repeat = results, skips, truth, repeat
        self.users = list(dict.fromkeys(result.user for result in results))
        self.tools = list(dict.fromkeys(result.tool for result in results))

    def of(self, user: str, workload: str, tool: str) -> List[Result]:
        return [result for result in self.results
                if (result.user, result.workload.name, result.tool) == (user, workload, tool)]

    def cpu_cell(self, results: Sequence[Result]) -> str:
        if not results:
            return "-"
        star = "\\*" if any(result.figures.complete is False for result in results) else ""
        errors = [error for error in map(Result.error, results) if error is not None]
        return percent(statistics.median(errors) if errors else None) + star

    def cpu_row(self, user: str, workload: Workload) -> Optional[List[str]]:
        cells = [self.of(user, workload.name, tool) for tool in self.tools]
        every = [result for cell in cells for result in cell]
        if not every:
            return None
        truth = statistics.median(result.truth.total for result in every)
        return [f"{workload.what} (`{workload}`)", f"{truth:.2f}", *map(self.cpu_cell, cells)]

    def cpu(self, user: str) -> str:
        rows = [self.cpu_row(user, workload) for workload in ALL]
        return table(["what the tree does", "truth, s", *map(column, self.tools)],
                     [row for row in rows if row])

    def other_cell(self, results: Sequence[Result], key: str, instead: str) -> str:
        errors, signs = [], set()
        for result in results:
            got = getattr(result.figures, key)
            if got is None and instead:
                got = getattr(result.figures, instead)
            if got is None:
                continue
            errors.append(error_of(got, result.known[key]))
            if result.figures.complete is not None:
                signs.add(sign_of(result, key))
        return percent(statistics.median(errors) if errors else None) + "".join(sorted(signs))

    def other(self, user: str, key: str, instead: str) -> str:
        rows = []
        for workload in ALL:
            cells = [self.of(user, workload.name, tool) for tool in self.tools]
            known = [result for cell in cells for result in cell if key in result.known]
            if known:
                truth = known[-1].known[key]
                rows.append([f"{workload.what} (`{workload}`)", truth_text(key, truth),
                             *(self.other_cell([result for result in cell if key in result.known],
                                               key, instead) for cell in cells)])
        return table(["workload", "truth", *map(column, self.tools)], rows)

    def series(self, user: str) -> str:
        methods = [tool for tool in self.tools if tool in METHODS]
        rows = [[f"{workload.what} (`{workload}`)",
                 *(series_cell(self.of(user, workload.name, method)) for method in methods)]
                for workload in ALL if workload.has_series]
        return table(["workload", *map(column, methods)], rows)

    def counts(self, user: str) -> str:
        methods = [tool for tool in self.tools if tool in METHODS]
        rows = [[f"`{workload}`", str(workload.processes),
                 *(count_cell(self.of(user, workload.name, method)) for method in methods)]
                for workload in ALL if workload.processes and workload.processes > 1]
        return table(["workload", "processes", *map(column, methods)], rows)

    def doubt(self, user: str) -> str:
        rows = []
        for workload in ALL:
            for method in METHODS:
                doubtful = [
                    result for result in self.of(user, workload.name, method)
                    if not result.figures.complete]
                if doubtful:
                    rows.append(doubt_row(workload, method, doubtful))
        return table(["workload", "method", "reasons", "truth", "CPU bounds",
                      "bounds contain truth"], rows)

    def figures(self) -> str:
        judged = [result for result in self.results if result.figures.complete is not None]
        rows = [figure_row(figure, judged) for figure in FIGURES]
        return table(["figure", "runs", "valid", "their largest error, %", "partial", "estimated",
                      "wrong"], [*rows, row_of_series(judged)])

    def short(self) -> Dict[str, str]:
        judged = [result for result in self.results if result.figures.complete is not None]
        complete = [result for result in judged if result.figures.complete]
        return {
            "figures": self.figures(),
            "judged": str(len(judged)),
            "complete": str(len(complete)),
            "silent": str(sum(map(is_silently_low, complete))),
        }

    def markdown(self) -> str:
        method = (CGROUP_METHOD if self.truth == CGROUP_TRUTH else WAIT_METHOD).format(
            truth=self.truth)
        runs = "one run" if self.repeat == 1 else f"the median of {self.repeat} runs"
        kernel = re.match(r"[\d.]+", platform.release())
        text = HEAD.format(kernel=kernel[0] if kernel else "", cpus=os.cpu_count(),
                           runs=f"Every cell is {runs}.", truth=method,
                           faults=FAULTS_OF_EXIT, switches=SWITCHES_OF_EXIT, **self.short())
        for i, user in enumerate(self.users):
            for head, body in ((CPU, self.cpu), (DOUBT, self.doubt), (COUNTS, self.counts),
                               (SERIES, self.series)):
                text += head.format(user=user, id=i) + "\n" + body(user)
            for key, title, instead, note in OTHERS:
                text += OTHER.format(title=title, figure=key, user=user, id=i, note=note) + "\n"
                text += self.other(user, key, instead)
        if self.skips:
            text += "\n## Runs that were left out {#accuracy_skips}\n\n" + "".join(
                map(list_item, self.skips))
        return text

    def json(self) -> Dict[str, Any]:
        return {
            "kernel": platform.release(), "truth": self.truth, "skips": list(self.skips),
            "results": [{"workload": str(result.workload), "tool": result.tool, "user": result.user,
                         "cpu_error_percent": result.error(), "truth": result.truth._asdict(),
                         "truth_at_exit": result.truth_at_exit._asdict(),
                         "reported": result.known, "phases": result.phases,
                         "figures": dataclasses.asdict(result.figures)} for result in self.results],
        }


def sign_of(result: Result, key: str) -> str:
    figure = figure_named(key)
    sign = SIGNS.get(reading_of(figure, result.figures).mark, " ?")
    return sign + (" !" if list(problems_of(result, figure)) else "")


def truth_text(key: str, truth: Truth) -> str:
    """Show the lower end of the truth. Bytes in MiB."""
    if key.endswith("_bytes"):
        return f"{truth.low / (1 << 20):.1f} MiB"
    return f"{truth.low:.0f}"


def figure_row(figure: Figure, judged: Sequence[Result]) -> List[str]:
    """Show how often a figure had each mark, and how often it was wrong."""
    name = figure.name
    marks: Dict[str, int] = {}
    errors: List[float] = []
    with_truth = [result for result in judged
                  if name in truths(result) and getattr(result.figures, name) is not None]
    for result in with_truth:
        reading = reading_of(figure, result.figures)
        marks[reading.mark] = marks.get(reading.mark, 0) + 1
        if reading.mark == VALID and reading.value is not None:
            errors.append(error_of(reading.value, truths(result)[name]))
    wrong = sum(bool(list(problems_of(result, figure))) for result in with_truth)
    return [f"`{name}`", str(len(with_truth)), str(marks.get(VALID, 0)), percent(worst(errors)),
            str(marks.get(PARTIAL, 0)), str(marks.get(ESTIMATED, 0)), str(wrong)]


def row_of_series(judged: Sequence[Result]) -> List[str]:
    rows = [row for result in judged for row in judged_rows(result)]
    marks = [reading_of_row(row.row).mark for row in rows]
    errors = [error_of(row.row["footprint_bytes"], row.truth) for row, mark in zip(rows, marks)
              if mark == VALID and row.row["footprint_bytes"] is not None]
    return ["`footprint_bytes` of rows", str(len(rows)), str(marks.count(VALID)),
            percent(worst(errors)), str(marks.count(PARTIAL)), str(marks.count(ESTIMATED)),
            str(sum(bool(row.problems) for row in rows))]


def series_cell(results: Sequence[Result]) -> str:
    rows = [row for result in results for row in judged_rows(result)]
    errors = [error_of(row.row["footprint_bytes"], row.truth) for row in rows
              if row.row["footprint_bytes"] is not None]
    if not rows:
        return "-"
    wrong = sum(bool(row.problems) for row in rows)
    return f"{percent(worst(errors))} in {len(rows)}" + (f", {wrong} wrong" if wrong else "")


def list_item(text: str) -> str:
    """Format a list item of at most 100 columns."""
    return textwrap.fill("- " + text, 100, subsequent_indent="  ", break_long_words=False,
                         break_on_hyphens=False) + "\n"


def column(tool: str) -> str:
    return f"`{tool}`" if tool in METHODS else tool


def count_cell(results: Sequence[Result]) -> str:
    if not results:
        return "-"
    figures = results[-1].figures
    return f"{figures.processes}" if figures.processes_exact else f"at least {figures.processes}"


def doubt_row(workload: Workload, method: str, results: Sequence[Result]) -> List[str]:
    """Show the last of several runs, and whether the CPU bounds of all runs contain the truth."""
    figures = results[-1].figures
    names = {f"`{reason}`" for result in results for reason in result.figures.reasons}
    reasons = ", ".join(sorted(names))
    high = figures.cpu_seconds_high
    upper = "no upper bound" if high is None else f"{high:.3f}"
    holds = all(not list(outside_bounds(result, CPU_TIME)) for result in results)
    return [
        f"`{workload}`", f"`{method}`", reasons, f"{results[-1].truth_at_exit.total:.3f}",
        f"{figures.cpu_seconds_low or 0:.3f} to {upper}", "yes" if holds else "no"]
