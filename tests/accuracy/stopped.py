# SPDX-License-Identifier: MIT
"""The memory of a stopped tree, each page frame once: the truth of a footprint. Needs root."""
from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import time
from typing import Dict, Iterator, List, Sequence, Set

from memory_judge import Memory

PATIENCE_S = 100.0


def stat_of(task: pathlib.Path) -> List[str]:
    """Return the fields of stat after the name. Empty: the task has ended."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def tasks_of(pid: int) -> List[pathlib.Path]:
    try:
        return list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def children_of(pid: int) -> List[int]:
    found: List[int] = []
    for task in tasks_of(pid):
        with contextlib.suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return found


def members_of(root: int) -> List[int]:
    """Return the pids of a process and of its descendants, without zombies."""
    pids = [root]
    for pid in pids:
        pids += children_of(pid)
    return [pid for pid in pids if any(map(runs, tasks_of(pid)))]


def runs(task: pathlib.Path) -> bool:
    """Return whether a thread has not ended. Other threads outlive a leader that has."""
    return stat_of(task)[:1] not in ([], ["Z"], ["X"])


def is_stopped(task: pathlib.Path) -> bool:
    return stat_of(task)[:1] in (["T"], ["t"])


def holds_still(pid: int) -> bool:
    """Return whether no thread of a process can run.

    A thread in vfork(2) does not stop. It waits for its child, which is stopped."""
    for task in filter(runs, tasks_of(pid)):
        if is_stopped(task):
            continue
        try:
            children = (task / "children").read_text().split()
        except OSError:
            return False
        waits = stat_of(task)[:1] == ["D"]
        if not waits or not any(is_stopped(pathlib.Path("/proc", child)) for child in children):
            return False
    return True


def stop(root: int) -> List[int]:
    """Stop a tree, and return its members. Once all are stopped, none can start another."""
    sent: Set[int] = set()
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        members = members_of(root)
        for pid in set(members) - sent:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            sent.add(pid)
        if all(map(holds_still, members)) and members_of(root) == members:
            return members
        time.sleep(0.002)
    raise AssertionError(f"process {root} and its descendants do not stop")


@contextlib.contextmanager
def stopped(root: int) -> Iterator[List[int]]:
    """Hold a tree still."""
    try:
        yield stop(root)
    finally:
        for pid in members_of(root):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


class Frames:
    """Counts page frames, by the program frames.c."""

    def __init__(self, program: pathlib.Path) -> None:
        self.program = program

    def count(self, pids: Sequence[int]) -> Memory:
        """Return what stopped processes map together."""
        done = subprocess.run([str(self.program), *map(str, pids)], stdout=subprocess.PIPE,
                              check=True, text=True)
        got: Dict[str, int] = {name: int(value) for name, value in
                               map(str.split, done.stdout.splitlines())}
        assert got.pop("doubtful") == 0, f"pagemap and kpageflags disagree: {done.stdout}"
        return Memory(**got)
