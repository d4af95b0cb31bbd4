# SPDX-License-Identifier: MIT
"""Conditions that every result of rtrack must meet. The tolerances allow for a busy system."""
from __future__ import annotations

from typing import Iterator

from runner import Result

BOUNDS_S = 0.005
SHARE = 0.01
WAIT_S = 0.005
CGROUP_S = 0.001


def problems(result: Result) -> Iterator[str]:
    """Yield each violated condition as text. Only results of rtrack are judged."""
    figures, workload = result.figures, result.workload
    truth, got = result.truth.total, figures.cpu_seconds
    values = (f"cpu_seconds {got:.4f}, truth {truth:.4f}, complete {figures.complete}, "
              f"reasons {list(figures.reasons)}")
    if figures.complete is None:
        return
    if result.tool in ("wait", "wait+perf") and workload.is_waited and is_off(result):
        yield "every process was waited for, but CPU time is off: " + values
    if (result.tool == "cgroup" and not used_cpu_after_root(result)
            and abs(got - truth) > SHARE * truth + CGROUP_S):
        yield "CPU time is not that of the cgroup: " + values
    if is_silently_low(result):
        yield "too low but marked complete: " + values
    if figures.complete and workload.leaves_running:
        yield "marked complete although a process was left running: " + values
    if figures.processes_exact and workload.processes and figures.processes != workload.processes:
        yield f"counted {figures.processes} of {workload.processes} processes, marked exact"
    yield from outside_cpu_bounds(result)
    yield from outside_memory_bounds(result)
    if result.left_groups:
        yield "left cgroups behind: " + " ".join(result.left_groups)


def outside_memory_bounds(result: Result) -> Iterator[str]:
    low, high = result.figures.peak_tree_low_bytes, result.figures.peak_tree_high_bytes
    truth = result.known.get("peak_tree_bytes")
    if not truth or low is None:
        return
    if not low * (1 - SHARE) <= truth <= (high or truth) * (1 + SHARE):
        yield f"the memory bounds [{low}, {high}] do not contain the peak {truth} of the tree"


def is_low(result: Result) -> bool:
    missing = result.truth.total - result.surplus_s - result.figures.cpu_seconds
    return missing > SHARE * result.truth.total + WAIT_S


def is_off(result: Result) -> bool:
    excess = result.figures.cpu_seconds - result.truth.total
    return is_low(result) or excess > SHARE * result.truth.total + WAIT_S


def is_silently_low(result: Result) -> bool:
    return bool(result.figures.complete) and is_low(result)


def used_cpu_after_root(result: Result) -> bool:
    """Whether the tree used CPU time after the end of its root.

    A tool that ends with the root cannot measure that time."""
    return result.truth.total - result.truth_at_exit.total > CGROUP_S


def outside_cpu_bounds(result: Result) -> Iterator[str]:
    """Check the CPU bounds as of the end of the root. Processes left running may use more later."""
    low, high = result.figures.cpu_seconds_low, result.figures.cpu_seconds_high
    truth = result.truth_at_exit.total
    margin = BOUNDS_S + result.surplus_s
    if low is None or low > truth + BOUNDS_S or (high is not None and high < truth - margin):
        yield f"the CPU bounds [{low}, {high}] do not contain the truth {truth:.4f}"
