# SPDX-License-Identifier: MIT
"""Write docs/accuracy.md, and the same figures as JSON."""
from __future__ import annotations

import dataclasses
import os
import platform
import re
import statistics
import textwrap
from typing import Any, Dict, Iterable, List, Optional, Sequence

from judge import used_cpu_after_root, is_silently_low, outside_cpu_bounds, outside_memory_bounds
from runner import CGROUP_TRUTH, Result
from workloads import ALL, Workload

METHODS = ("poll", "wait", "wait+perf", "cgroup")

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
- The truth of memory and bytes is what the workload knows of itself: the size of the memory that it
  mapped and touched, plus its resident memory before that, and the bytes that it wrote past the
  page cache.
- Errors are in % of the truth. E.g.: -100 means that the tool saw nothing. GNU time shows CPU time
  in steps of 10 ms.
- The truth includes what a daemon does after the root of the command has exited. `rtrack run`, GNU
  time and the poller end with the root. So their figures are as of that time, and `rtrack run`
  reports that a process was left running.

## In short {{#accuracy_short}}

- `wait`, if every process is waited for: at most {wait} % off.
- `cgroup`, except for daemons that keep working: at most {cgroup} % off.
- The CPU bounds contained the truth in {held} of {judged} runs.
- The memory bounds of the tree contained the truth in {memory_held} of {memory_judged} runs.
- The process count was marked exact in {counted} runs, and was wrong in {miscounted} of them.
- The result was marked complete in {complete} runs, and was too low in {silent} of them.
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
command's root. The estimate is `cpu_seconds_estimate`; it exceeds the lower bound only with
`wait+perf`.
"""

COUNTS = """
## Processes, as {user} {{#accuracy_processes_{id}}}

The number of processes in all, and the number that each accounting method counted. "At least" means
that rtrack may have missed some. The other tools do not count processes.
"""

MEMORY = """
## Memory and bytes, as {user} {{#accuracy_memory_{id}}}

Error in %. GNU time has no sum over a tree, so its largest process is shown instead. The poller
adds up RSS.
"""

# Workload, figure, its title, and the figure to use if a tool does not report it.
OTHERS = (
    ("memory_spike", "peak_rss_bytes", "largest process", ""),
    ("shared_tree", "peak_rss_bytes", "largest process", ""),
    ("shared_tree", "peak_tree_bytes", "largest sum over the tree", "peak_rss_bytes"),
    ("tree_spike", "peak_tree_bytes", "largest sum over the tree", "peak_rss_bytes"),
    ("direct_write", "write_bytes", "bytes written", ""),
)


def percent(value: Optional[float]) -> str:
    if value is None:
        return "-"
    if abs(value) < 0.005:
        return "0.00"
    return f"{value:+.2f}" if abs(value) < 9.995 else f"{value:+.1f}"


def worst(results: Iterable[Result]) -> str:
    errors = [abs(result.error()) for result in results]
    return f"{max(errors):.2f}" if errors else "-"


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
        star = "*" if any(result.figures.complete is False for result in results) else ""
        return percent(statistics.median(map(Result.error, results))) + star.replace("*", "\\*")

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

    def other_cell(self, user: str, tool: str, name: str, key: str, instead: str) -> str:
        errors = []
        for result in self.of(user, name, tool):
            got = getattr(result.figures, key)
            if got is None and instead:
                got = getattr(result.figures, instead)
            if got is not None and key in result.known:
                errors.append(100 * (got / result.known[key] - 1))
        return percent(statistics.median(errors) if errors else None)

    def memory(self, user: str) -> str:
        what = {workload.name: workload.what for workload in ALL}
        rows = [[f"{what[name]} (`{name}`): {title}",
                 *(self.other_cell(user, tool, name, key, instead) for tool in self.tools)]
                for name, key, title, instead in OTHERS]
        return table(["what", *map(column, self.tools)], rows)

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
        return table([
            "workload", "method", "reasons", "truth", "CPU bounds", "estimate",
            "bounds contain truth"], rows)

    def short(self) -> Dict[str, str]:
        judged = [result for result in self.results if result.figures.complete is not None]
        complete = [result for result in judged if result.figures.complete]
        counted = [
            result for result in judged
            if result.figures.processes_exact and result.workload.processes]
        with_bounds = [result for result in judged if "peak_tree_bytes" in result.known]
        return {
            "wait": worst(result for result in judged
                          if result.tool == "wait" and result.workload.is_waited),
            "cgroup": worst(result for result in judged
                            if result.tool == "cgroup" and not used_cpu_after_root(result)),
            "held": str(sum(not list(outside_cpu_bounds(result)) for result in judged)),
            "judged": str(len(judged)),
            "memory_held": str(
                sum(not list(outside_memory_bounds(result)) for result in with_bounds)),
            "memory_judged": str(len(with_bounds)),
            "counted": str(len(counted)),
            "miscounted": str(
                sum(result.figures.processes != result.workload.processes for result in counted)),
            "complete": str(len(complete)),
            "silent": str(sum(map(is_silently_low, complete))),
        }

    def markdown(self) -> str:
        method = (CGROUP_METHOD if self.truth == CGROUP_TRUTH else WAIT_METHOD).format(
            truth=self.truth)
        runs = "one run" if self.repeat == 1 else f"the median of {self.repeat} runs"
        kernel = re.match(r"[\d.]+", platform.release())
        text = HEAD.format(kernel=kernel[0] if kernel else "", cpus=os.cpu_count(),
                           runs=f"Every cell is {runs}.", truth=method, **self.short())
        for i, user in enumerate(self.users):
            for head, body in ((CPU, self.cpu), (DOUBT, self.doubt), (COUNTS, self.counts),
                               (MEMORY, self.memory)):
                text += head.format(user=user, id=i) + "\n" + body(user)
        if self.skips:
            text += "\n## Runs that were left out {#accuracy_skips}\n\n" + "".join(
                map(list_item, self.skips))
        return text

    def json(self) -> Dict[str, Any]:
        return {
            "kernel": platform.release(), "truth": self.truth, "skips": list(self.skips),
            "results": [{"workload": str(result.workload), "tool": result.tool, "user": result.user,
                         "cpu_error_percent": result.error(), "truth": result.truth._asdict(),
                         "truth_at_exit": result.truth_at_exit._asdict(), "reported": result.known,
                         "figures": dataclasses.asdict(result.figures)} for result in self.results],
        }


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
    holds = all(not list(outside_cpu_bounds(result)) for result in results)
    return [
        f"`{workload}`", f"`{method}`", reasons, f"{results[-1].truth_at_exit.total:.3f}",
        f"{figures.cpu_seconds_low:.3f} to {upper}", f"{figures.cpu_seconds_estimate or 0:.3f}",
        "yes" if holds else "no"]
