# SPDX-License-Identifier: MIT
"""The tables of docs/accuracy.md, and the same as JSON."""
from __future__ import annotations

import dataclasses
import os
import platform
import re
import statistics
from typing import Any, Dict, Iterable, List, Optional, Sequence

from judge import has_worked_on, is_silently_low, outside_bracket, outside_memory_bracket
from runner import CGROUP_TRUTH, Result
from workloads import ALL, Workload

RUNGS = ("poll", "wait", "wait+perf", "cgroup")

HEAD = """# How exact the figures are {{#accuracy}}

Written by `tests/accuracy/run.sh`; do not edit. Each workload is a small program of `tests/accuracy/workloads`, which
says what it does. It was run under `rtrack run` at each rung of `--accounting` with samples every 0.1 s, under GNU
time, and under a careful poller: a program that looks at the command and all its descendants by psutil every 0.1 s and
remembers the last figures of each process.

[TOC]

## How it was measured {{#accuracy_method}}

- Linux {kernel}, {cpus} CPUs. {runs}
- The truth of CPU time: {truth}
- The truth of memory and bytes is what the workload knows of itself: the size of what it mapped and touched on top of
  what it had resident before, and the bytes that it wrote past the page cache.
- Errors are in % of the truth; -100 means that nothing was seen. CPU times of GNU time come in steps of 10 ms.
- What a daemon does after the end of the command's root is in the truth, but `rtrack run` has ended by then, as GNU
  time and the poller have: its figures are as of the end of the root, and it says that something was left running.

## In short {{#accuracy_short}}

- `wait`, where all processes are waited for by somebody: at most {wait} % off.
- `cgroup`, but for daemons that work on: at most {cgroup} % off.
- The bracket of the CPU time held the truth in {held} of {judged} runs, that of the memory of the tree in {memory_held} of
  {memory_judged}.
- Processes were counted for sure in {counted} runs, and wrongly in {miscounted} of them.
- "Complete" was said in {complete} runs, and in {silent} of them something was missing all the same.
"""

CGROUP_METHOD = """{truth}.
  A launcher of a few lines becomes the workload right after it has moved into the group, so that nothing of those who
  measure is in there; what the launcher itself has used before is added. At `cgroup` rtrack makes a group of its own
  for the command, within the group that it runs in; the launcher then moves everybody else out of the latter, which
  makes it the workload's alone. A group is read for the last time when nobody is left in it."""

WAIT_METHOD = """{truth}, for no cgroup v2 was writable:
  all that was waited for, less the CPU clock of the tool itself. The supervisor of rtrack is in it. Trees in which
  somebody is not waited for have no such truth, and were left out."""

CPU = """
## CPU time, as {user} {{#accuracy_cpu_{id}}}

Error in %. A star marks a result that rtrack itself calls incomplete (`accounting.complete` is false).
"""

DOUBT = """
## What rtrack says where it is not sure, as {user} {{#accuracy_doubt_{id}}}

Truth and bracket (`cpu_seconds_low`, `cpu_seconds_high`) are in seconds, as of the end of the command's root; the
estimate is `cpu_seconds_estimate`, which only `wait+perf` has more to say of.
"""

COUNTS = """
## Processes, as {user} {{#accuracy_processes_{id}}}

How many lived, and how many were counted; "at least" where rtrack says that it may have missed some. The others do not
count.
"""

MEMORY = """
## Memory and bytes, as {user} {{#accuracy_memory_{id}}}

Error in %. GNU time knows no sum over a tree, so its largest process stands in for it; the poller adds up RSS.
"""

# Workload, figure, its name, and what stands in for it.
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
    def __init__(self, results: Sequence[Result], skips: Sequence[str], truth: str, repeat: int) -> None:
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
        return table(["what the tree does", "truth, s", *map(column, self.tools)], [row for row in rows if row])

    def other_cell(self, user: str, tool: str, name: str, key: str, instead: str) -> str:
        errors = []
        for result in self.of(user, name, tool):
            got = getattr(result.figures, key)
            if got is None and instead:
                got = getattr(result.figures, instead)
            if got is not None and key in result.told:
                errors.append(100 * (got / result.told[key] - 1))
        return percent(statistics.median(errors) if errors else None)

    def memory(self, user: str) -> str:
        what = {workload.name: workload.what for workload in ALL}
        rows = [[f"{what[name]} (`{name}`): {title}",
                 *(self.other_cell(user, tool, name, key, instead) for tool in self.tools)]
                for name, key, title, instead in OTHERS]
        return table(["what", *map(column, self.tools)], rows)

    def counts(self, user: str) -> str:
        rungs = [tool for tool in self.tools if tool in RUNGS]
        rows = [[f"`{workload}`", str(workload.processes),
                 *(count_cell(self.of(user, workload.name, rung)) for rung in rungs)]
                for workload in ALL if workload.processes and workload.processes > 1]
        return table(["workload", "processes", *map(column, rungs)], rows)

    def doubt(self, user: str) -> str:
        rows = []
        for workload in ALL:
            for rung in RUNGS:
                doubtful = [result for result in self.of(user, workload.name, rung) if not result.figures.complete]
                if doubtful:
                    rows.append(doubt_row(workload, rung, doubtful))
        return table(["workload", "rung", "reasons", "truth", "bracket", "estimate", "holds the truth"], rows)

    def short(self) -> Dict[str, str]:
        judged = [result for result in self.results if result.figures.complete is not None]
        complete = [result for result in judged if result.figures.complete]
        counted = [result for result in judged if result.figures.processes_exact and result.workload.processes]
        bracketed = [result for result in judged if "peak_tree_bytes" in result.told]
        return {
            "wait": worst(result for result in judged if result.tool == "wait" and result.workload.is_waited),
            "cgroup": worst(result for result in judged if result.tool == "cgroup" and not has_worked_on(result)),
            "held": str(sum(not list(outside_bracket(result)) for result in judged)),
            "judged": str(len(judged)),
            "memory_held": str(sum(not list(outside_memory_bracket(result)) for result in bracketed)),
            "memory_judged": str(len(bracketed)),
            "counted": str(len(counted)),
            "miscounted": str(sum(result.figures.processes != result.workload.processes for result in counted)),
            "complete": str(len(complete)),
            "silent": str(sum(map(is_silently_low, complete))),
        }

    def markdown(self) -> str:
        method = (CGROUP_METHOD if self.truth == CGROUP_TRUTH else WAIT_METHOD).format(truth=self.truth)
        runs = "Every cell is one run." if self.repeat == 1 else f"Every cell is the median of {self.repeat} runs."
        kernel = re.match(r"[\d.]+", platform.release())
        text = HEAD.format(kernel=kernel[0] if kernel else "", cpus=os.cpu_count(), runs=runs, truth=method,
                           **self.short())
        for i, user in enumerate(self.users):
            for head, body in ((CPU, self.cpu), (DOUBT, self.doubt), (COUNTS, self.counts), (MEMORY, self.memory)):
                text += head.format(user=user, id=i) + "\n" + body(user)
        if self.skips:
            text += "\n## What was left out {#accuracy_skips}\n\n" + "".join(f"- {skip}\n" for skip in self.skips)
        return text

    def json(self) -> Dict[str, Any]:
        return {
            "kernel": platform.release(), "truth": self.truth, "skips": list(self.skips),
            "results": [{"workload": str(result.workload), "tool": result.tool, "user": result.user,
                         "cpu_error_percent": result.error(), "truth": result.truth._asdict(),
                         "truth_at_exit": result.truth_at_exit._asdict(), "told": result.told,
                         "figures": dataclasses.asdict(result.figures)} for result in self.results],
        }


def column(tool: str) -> str:
    return f"`{tool}`" if tool in RUNGS else tool


def count_cell(results: Sequence[Result]) -> str:
    if not results:
        return "-"
    figures = results[-1].figures
    return f"{figures.processes}" if figures.processes_exact else f"at least {figures.processes}"


def doubt_row(workload: Workload, rung: str, results: Sequence[Result]) -> List[str]:
    """Of several runs the last is shown, and whether all brackets held."""
    figures = results[-1].figures
    reasons = ", ".join(sorted({f"`{reason}`" for result in results for reason in result.figures.reasons}))
    high = "no upper bound" if figures.cpu_seconds_high is None else f"{figures.cpu_seconds_high:.3f}"
    holds = all(not list(outside_bracket(result)) for result in results)
    return [f"`{workload}`", f"`{rung}`", reasons, f"{results[-1].truth_at_exit.total:.3f}",
            f"{figures.cpu_seconds_low:.3f} to {high}", f"{figures.cpu_seconds_estimate or 0:.3f}", "yes" if holds else "no"]
