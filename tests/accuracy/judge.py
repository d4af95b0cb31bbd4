# SPDX-License-Identifier: MIT
"""Conditions that every result of rtrack must meet. rule.py has the rule for one figure."""
from __future__ import annotations

import math
from typing import Dict, Iterator

from figures import (CPU_RESOLUTION_S, FIGURES, Figure, figure_named, limits_of, marked_twice,
                     reading_of)
from rule import Limits, Truth, is_below, problems_of_figure
from runner import Result
from series import problems_of_series

# A process that outlives the root works on between the last look of rtrack and ours.
STILL_RUNNING_S = 0.005

CPU_TIME = figure_named("cpu_seconds")


def truths(result: Result) -> Dict[str, Truth]:
    """Return what is known of the run: its CPU time, and what the workload knows of itself."""
    workload, total = result.workload, result.truth.total
    least = total - result.surplus_s
    if workload.leaves_running:
        least = min(least, result.truth_at_exit.total - STILL_RUNNING_S)
    known = {"cpu_seconds": Truth(least, total), **result.known}
    if workload.processes:
        known["processes"] = Truth(workload.processes, workload.processes)
    if result.figures.peak_tree_kind == "cgroup" and "peak_footprint_bytes" in known:
        # The kernel includes the page cache, so there is no upper limit.
        known["peak_footprint_bytes"] = known["peak_footprint_bytes"]._replace(high=math.inf)
    return known


def problems(result: Result) -> Iterator[str]:
    """Yield each violated condition as text. Only results of rtrack are judged."""
    figures = result.figures
    if figures.complete is None:
        return
    for figure in FIGURES:
        yield from problems_of(result, figure)
    for name in marked_twice(figures):
        yield f"{name} has more than one mark"
    yield from problems_of_accounting(result, truths(result)["cpu_seconds"])
    yield from problems_of_series(result)
    if result.left_groups:
        yield "left cgroups behind: " + " ".join(result.left_groups)


def problems_of_accounting(result: Result, truth: Truth) -> Iterator[str]:
    figures = result.figures
    values = f"{figures.cpu_seconds}, reasons {list(figures.reasons)}"
    if figures.complete and result.workload.leaves_running:
        yield "marked complete although a process was left running"
    if is_silently_low(result):
        yield f"marked complete, but CPU time is missing: {values}, truth {truth.low:.6f}"
    parts = (figures.cpu_user_seconds, figures.cpu_system_seconds)
    if figures.cpu_seconds is not None and None not in parts:
        total = sum(part for part in parts if part is not None)
        if abs(total - figures.cpu_seconds) > 2e-6:
            yield f"user and system time {parts} do not add up to {figures.cpu_seconds}"
    yield from outside_error_bound(result, truth)


def is_silently_low(result: Result) -> bool:
    figures = result.figures
    if not figures.complete or figures.cpu_seconds is None:
        return False
    most = figures.cpu_seconds + (figures.error_bound_seconds or 0)
    return is_below(most, truths(result)["cpu_seconds"], limits_in(result, CPU_TIME))


def outside_error_bound(result: Result, truth: Truth) -> Iterator[str]:
    """The error bound is a claim of its own, whatever the mark. It is of what the kernel accounts
    for."""
    bound, value = result.figures.error_bound_seconds, result.figures.cpu_seconds
    if bound is None or value is None:
        return
    slack = bound + CPU_RESOLUTION_S
    least = truth.low - slack - limits_in(result, CPU_TIME).unaccounted
    if not least <= value <= truth.high + slack:
        yield (f"CPU time {value:.6f} is further from the truth {truth.high:.6f} than "
               f"error_bound_seconds {bound:.6f}")


def limits_in(result: Result, figure: Figure) -> Limits:
    return limits_of(figure, result.workload.kind, result.workload.processes or 1)


def problems_of(result: Result, figure: Figure) -> Iterator[str]:
    """Yield the violated conditions of one figure."""
    reading = reading_of(figure, result.figures)
    yield from problems_of_figure(figure.name, reading, truths(result).get(figure.name),
                                  limits_in(result, figure))


def outside_bounds(result: Result, figure: Figure) -> Iterator[str]:
    """Yield the violated conditions of the bounds of one figure, not of its value."""
    reading = reading_of(figure, result.figures)._replace(value=None)
    yield from problems_of_figure(figure.name, reading, truths(result).get(figure.name),
                                  limits_in(result, figure))
