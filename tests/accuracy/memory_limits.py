# SPDX-License-Identifier: MIT
"""--max-memory ends each command that needs more, and no other."""
from __future__ import annotations

import contextlib
import os
import signal
from typing import Callable, Iterator, List, NamedTuple, Sequence

from load import start_busy_loop
from memory_judge import Memory
from memory_peaks import mapper
from memory_run import Finding, Part, Ran, Running, run_rtrack
from memory_trees import PANDAS, Place, mapped_file, need_module, python, shared_memory
from runner import User
from stopped import stopped

MIB = 1 << 20
ENDED = 124
HOLD_MS = 400
BUSY_LOOPS = 4


class Case(NamedTuple):
    """A limit, and whether the command needs more."""

    name: str
    what: str
    make: Callable[[Place], Sequence[str]]
    limit_mib: int
    must_end: bool
    strangers: int = 0
    # Numbers of CPUs that it shares with busy loops. Empty: all, and no loops.
    cpus: Sequence[int] = ()
    # Runs as each user.
    runs: int = 5


MEMORY_MAP = """
import multiprocessing
import joblib
import numpy
def work(name, barrier, end):
    total = joblib.load(name, mmap_mode="r").sum()
    barrier.wait()
    end.wait()
name = "block.joblib"
joblib.dump(numpy.zeros(300 << 17), name)
how = multiprocessing.get_context("fork")
barrier, end = how.Barrier(5), how.Event()
workers = [how.Process(target=work, args=(name, barrier, end)) for _ in range(4)]
for worker in workers:
    worker.start()
barrier.wait()
hold()
end.set()
for worker in workers:
    worker.join()
"""

POOLS = (
    ("fork", "a forked pool that shares 300 MiB", mapper("pool", 300, 4)),
    ("block", "children that map one block of 300 MiB", mapper("shared", 300, 4)),
    ("shared_memory", "multiprocessing.shared_memory of 300 MiB", shared_memory("fork", 300)),
    ("joblib", "a memory map of joblib, 300 MiB",
     need_module("joblib", need_module("numpy", python(MEMORY_MAP)))),
)

CASES = (
    Case("anon", "100 MiB of private memory under 80 MiB", mapper("anon", 100), 80, True),
    Case("pool", "a pool that has written 300 MiB under 240 MiB", mapper("written", 100, 4), 240,
         True),
    Case("shared", "100 MiB of shared memory under 80 MiB", mapper("shared", 100, 4), 80, True),
    Case("shm", "100 MiB in /dev/shm under 80 MiB", mapper("shm", 100, 2), 80, True),
    Case("pool_fits", "a pool that has written 300 MiB under 320 MiB", mapper("written", 100, 4),
         320, False),
    Case("file", "a file of 300 MiB, mapped to be read, under 100 MiB", mapped_file(300, 2), 100,
         False),
    Case("strangers", "pandas beside 6 strangers under 60 MiB",
         need_module("pandas", python(PANDAS)), 60, True, strangers=6),
    Case("vfork", "200 MiB and a child in vfork(2) under 300 MiB", mapper("vfork", 200), 300,
         False),
    Case("clone_vm", "200 MiB and a process that shares them under 300 MiB",
         mapper("thread", 200), 300, False),
    *(Case(f"{name}_{count}_cpu", f"{what}, under 340 MiB, {count} CPU, {BUSY_LOOPS} busy loops",
           make, 340, False, cpus=range(count), runs=7)
      for name, what, make in POOLS for count in (1, 2)),
)


@contextlib.contextmanager
def busy(cpus: Sequence[int]) -> Iterator[None]:
    loops: List[int] = []
    try:
        for _ in range(BUSY_LOOPS):
            loops.append(start_busy_loop())
            os.sched_setaffinity(loops[-1], cpus)
        yield
    finally:
        for loop in loops:
            os.kill(loop, signal.SIGKILL)
            os.waitpid(loop, 0)


def is_wrong(case: Case, ran: Ran) -> str:
    """Return what is wrong, or an empty text."""
    expected = ENDED if case.must_end else 0
    if ran.code == expected:
        return ""
    said = (ran.errors.splitlines() or ["nothing"])[-1]
    return f"exit code {ran.code}, expected {expected}; it said: {said}"


class LimitPart(Part):
    name = "limits"
    title = "Limits of memory"
    head = ("command", "needs, MiB", "limit, MiB", "must end", "runs", "wrong runs")

    def names(self) -> List[str]:
        return [case.name for case in CASES]

    def needs(self, case: Case, user: User) -> Memory:
        with self.bench.place(user) as place, contextlib.ExitStack() as stack:
            running = Running(case.make(place), place)
            stack.callback(running.end)
            running.await_ready()
            with stopped(running.pid) as members:
                return self.bench.frames.count(members)

    def run_once(self, case: Case, place: Place, words: Sequence[str]) -> str:
        # A command that must end waits for it. Another one holds its memory for a while.
        environment = {} if case.must_end else {"MAPPER_HOLD_MS": str(HOLD_MS)}
        ran = run_rtrack(place, ["--max-memory", f"{case.limit_mib}M"], words, environment,
                         case.cpus, is_held=case.must_end)
        return is_wrong(case, ran)

    def measure(self, name: str, user: User, run_as: Sequence[User]) -> Finding:
        case = next(case for case in CASES if case.name == name)
        needs = self.needs(case, user)
        most = needs.needed + needs.swap
        problems: List[str] = []
        # The case itself is clear.
        if not (most > case.limit_mib * MIB * 1.05 if case.must_end
                else most < case.limit_mib * MIB * 0.99):
            problems.append(f"the truth is {most / MIB:.1f} MiB: no such case")
        runs = self.repeat or case.runs
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(self.bench.place(user))
            words = case.make(place)
            for _ in range(case.strangers):
                stranger = Running(words, place)
                stack.callback(stranger.end)
                stranger.await_ready()
            if case.cpus:
                stack.enter_context(busy(case.cpus))
            wrong = [text for text in (self.run_once(case, place, words) for _ in range(runs))
                     if text]
        return Finding(user.name, [case.what, f"{most / MIB:.1f}", str(case.limit_mib),
                                   "yes" if case.must_end else "no", str(runs), str(len(wrong))],
                       problems + wrong)
