# SPDX-License-Identifier: MIT
"""What must hold of every result of rtrack. Generous enough for a machine that is busy with other things."""
from __future__ import annotations

from typing import Iterator

from runner import Result

BRACKET_S = 0.005
SHARE = 0.01
WAIT_S = 0.005
CGROUP_S = 0.001


def problems(result: Result) -> Iterator[str]:
    """In words. Peers are not judged."""
    figures, workload = result.figures, result.workload
    truth, got = result.truth.total, figures.cpu_seconds
    says = f"cpu_seconds {got:.4f}, truth {truth:.4f}, complete {figures.complete}, reasons {list(figures.reasons)}"
    if figures.complete is None:
        return
    if result.tool in ("wait", "wait+perf") and workload.is_waited and is_off(result):
        yield "all was waited for, and yet: " + says
    if result.tool == "cgroup" and not has_worked_on(result) and abs(got - truth) > SHARE * truth + CGROUP_S:
        yield "not the cgroup's own account: " + says
    if is_silently_low(result):
        yield "silently too low: " + says
    if figures.complete and workload.leaves_running:
        yield "says complete although a process was left running: " + says
    if figures.processes_exact and workload.processes and figures.processes != workload.processes:
        yield f"counted {figures.processes} processes, and said so for sure, of {workload.processes}"
    yield from outside_bracket(result)
    yield from outside_memory_bracket(result)
    if result.left_groups:
        yield "left cgroups behind: " + " ".join(result.left_groups)


def outside_memory_bracket(result: Result) -> Iterator[str]:
    low, high = result.figures.peak_tree_low_bytes, result.figures.peak_tree_high_bytes
    truth = result.told.get("peak_tree_bytes")
    if truth and low is not None and not low * (1 - SHARE) <= truth <= (high or truth) * (1 + SHARE):
        yield f"the bracket [{low}, {high}] does not hold the peak {truth} of the tree"


def is_low(result: Result) -> bool:
    missing = result.truth.total - result.surplus_s - result.figures.cpu_seconds
    return missing > SHARE * result.truth.total + WAIT_S


def is_off(result: Result) -> bool:
    excess = result.figures.cpu_seconds - result.truth.total
    return is_low(result) or excess > SHARE * result.truth.total + WAIT_S


def is_silently_low(result: Result) -> bool:
    return bool(result.figures.complete) and is_low(result)


def has_worked_on(result: Result) -> bool:
    """After the end of the root, of which a tool that ends with it cannot know."""
    return result.truth.total - result.truth_at_exit.total > CGROUP_S


def outside_bracket(result: Result) -> Iterator[str]:
    """The root's end is what the bracket is about; who runs on may use more."""
    low, high = result.figures.cpu_seconds_low, result.figures.cpu_seconds_high
    truth = result.truth_at_exit.total
    margin = BRACKET_S + result.surplus_s
    if low is None or low > truth + BRACKET_S or (high is not None and high < truth - margin):
        yield f"the bracket [{low}, {high}] does not hold the truth {truth:.4f}"
