# SPDX-License-Identifier: MIT
"""Measure what a sample of a tree costs in real use, against the raw reads, as ratios.

Usage: trees.py [--quick] [--sizes 1,1000] [--rounds N] [--rate FORKS] [--intervals 1000,100]

In real use there is a pause between two samples, in which the caches are used by others, and other
programs of the machine start processes. After each pause all contenders take a sample in turn. The
text reader has no BPF program, as a user without privileges."""
from __future__ import annotations

import argparse
import contextlib
import pathlib
import resource
import statistics
import time
from typing import Dict, Iterator, List

from contenders import FLOOR, FLOOR_CHANGED, PROGRAMS, RTRACK_TEXT, Contender, Session, Task
from subjects import Subject, adopt_orphans

IDLE, SOME, ALL = 0, 5, 100
"""The percentages of the members that run before each sample."""


@contextlib.contextmanager
def forks(rate: int) -> Iterator[None]:
    """Other programs start so many processes a second."""
    if not rate:
        yield
        return
    with Subject(PROGRAMS / "bench-subject", "forks", rate):
        yield


def open_sessions(task: Task) -> Dict[str, Session]:
    contenders: List[Contender] = [RTRACK_TEXT, FLOOR]
    if task.kind == "tree":
        contenders.append(FLOOR_CHANGED)
    return {one.name: one.begin(task) for one in contenders}


def measure(task: Task, percent: int, pause_ms: int, rounds: int) -> Dict[str, List[float]]:
    """Return the CPU time of a sample of each contender, by round."""
    sessions = open_sessions(task)
    size = task.subject.size if task.subject else 1
    running = max(size * percent // 100, 1) if percent else 0
    cpu_ns: Dict[str, List[float]] = {name: [] for name in sessions}
    try:
        for session in sessions.values():
            session.slow(4, running, 0)
        for i in range(rounds):
            time.sleep(pause_ms / 1000)
            names = list(sessions)
            for name in names[i % len(names):] + names[:i % len(names)]:
                cpu_ns[name].append(sessions[name].slow(1, running, 0).cpu_ns)
    finally:
        for session in sessions.values():
            session.end()
    return cpu_ns


def print_row(title: str, cpu_ns: Dict[str, List[float]]) -> None:
    floor = FLOOR.name
    cells = [f"{name} {statistics.median(found) / 1000:.1f} us"
             for name, found in cpu_ns.items()]
    ratios = [ours / raw for ours, raw in zip(cpu_ns[RTRACK_TEXT.name], cpu_ns[floor])]
    print(f"{title}: {statistics.median(ratios):.2f} of raw ({', '.join(cells)})", flush=True)


def run(options: argparse.Namespace) -> None:
    for size in map(int, options.sizes.split(",")):
        kind = "tree" if size > 1 else "pid"
        # The end of the subject waits for all children, so the forks end before it.
        with Subject(PROGRAMS / "bench-subject", "tree", size) as subject, forks(options.rate):
            for pause_ms in map(int, options.intervals.split(",")):
                for percent in map(int, options.percents.split(",")):
                    found = measure(Task(kind, False, subject), percent, pause_ms, options.rounds)
                    print_row(f"{size} processes, {percent} % ran, {pause_ms} ms", found)


def allow_descriptors(most: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, hard), hard))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", default="1,1000")
    parser.add_argument("--percents", default=f"{IDLE},{SOME},{ALL}")
    parser.add_argument("--intervals", default="1000,100")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--descriptors", type=int, default=20000)
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.intervals, options.rounds = "1,20", "100", 2
    assert pathlib.Path(PROGRAMS).exists()
    allow_descriptors(options.descriptors)
    adopt_orphans()
    run(options)


if __name__ == "__main__":
    main()
