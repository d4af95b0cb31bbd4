# SPDX-License-Identifier: MIT
"""The programs that take samples: how each is started, told to sample, and what it says of the cost."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import resource
import select
import shutil
import subprocess
import sys
import time
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from harness import BUILD
from subjects import Subject, children_of

LIMIT_S = 120.0
PROGRAMS = BUILD / "tests/bench"
HERE = pathlib.Path(__file__).parent
ALLOC_COUNT = PROGRAMS / "libbench-alloc-count.so"
NO_PAUSE = PROGRAMS / "libbench-no-pause.so"


Tell = Callable[[str, str, str], None]
"""Called with scenario, contender, and why it was skipped or nothing."""


class Skip(Exception):
    """Cannot be measured here; says why."""


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of one sample, as the mean over a turn."""

    cpu_ns: float
    wall_ns: float
    allocations: float
    processes: int
    note: str

    @property
    def source(self) -> str:
        """How this library has read a tree: proc or bpf."""
        found = re.search(r"source:(\w+)", self.note)
        return found[1] if found else ""


@dataclasses.dataclass(frozen=True)
class Task:
    """What is to be sampled: kind is pid, tree or system."""

    kind: str
    with_pss: bool
    subject: Optional[Subject] = None

    @property
    def pid(self) -> int:
        return self.subject.pid if self.subject else 0

    @property
    def processes(self) -> int:
        """How many processes a sample must find."""
        return self.subject.processes if self.subject and self.kind == "tree" else int(self.kind == "pid")


class Session:
    """A started contender, which can be told to sample again and again."""

    first_wall_ns: Optional[int] = None
    starts_anew = False
    """For each turn, so that nothing warms it up."""

    def hot(self, count: int) -> Cost:
        raise NotImplementedError

    def slow(self, count: int, run: int, pause_ms: int) -> Cost:
        """Before each sample so many members run, and then there is a pause."""
        raise NotImplementedError

    def rss_kib(self) -> int:
        raise NotImplementedError

    def end(self) -> None:
        raise NotImplementedError


class DriverSession(Session):
    """A program that speaks as driver.c says."""

    def __init__(self, argv: Sequence[str], task: Task, counts_allocations: bool) -> None:
        self.name, self.task = " ".join(argv[:2]), task
        words = [*argv, task.kind, str(task.pid), str(int(task.with_pss))]
        fds: Tuple[int, ...] = ()
        if task.subject:
            fds = (task.subject.ask.fileno(), task.subject.told.fileno())
            words += map(str, fds)
        env = dict(os.environ)
        if counts_allocations:
            # Without malloc underneath, Python's own allocator would hide what it is asked for.
            env.update(LD_PRELOAD=str(ALLOC_COUNT), PYTHONMALLOC="malloc")
        env["BENCH_STARTED_NS"] = str(time.monotonic_ns())
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        bufsize=0, pass_fds=fds, env=env)
        first = self.answer()
        if first[:1] != ["first"]:
            raise AssertionError(f"{self.name} said {first}")
        self.first_wall_ns = int(first[1])

    def answer(self) -> List[str]:
        assert self.process.stdout and self.process.stderr
        if not select.select([self.process.stdout], [], [], LIMIT_S)[0]:
            raise AssertionError(f"{self.name} did not answer")
        words = self.process.stdout.readline().decode().split()
        if not words:
            raise AssertionError(f"{self.name} ended: {self.process.stderr.read().decode().strip()}")
        return words

    def turn(self, count: int, order: str) -> Cost:
        assert self.process.stdin
        self.process.stdin.write(order.encode() + b"\n")
        cpu, wall, allocations, processes, note = self.answer()
        if int(processes) != self.task.processes:
            raise AssertionError(f"{self.name} has found {processes} processes, not {self.task.processes}")
        # Less than nothing is left of a small cost when reading the clocks was quicker than usual.
        cpu_ns, wall_ns = max(int(cpu), 1), max(int(wall), 1)
        return Cost(cpu_ns / count, wall_ns / count, int(allocations) / count, int(processes), note)

    def hot(self, count: int) -> Cost:
        return self.turn(count, f"hot {count}")

    def slow(self, count: int, run: int, pause_ms: int) -> Cost:
        return self.turn(count, f"slow {count} {run} {pause_ms}")

    def rss_kib(self) -> int:
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise AssertionError(f"{self.name} has no VmRSS")

    def end(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream
            stream.close()
        self.process.wait()


def wait_for_orphans(name: str) -> None:
    """sar does not wait for the program that reads for it, which has come to us by now."""
    for pid in children_of(os.getpid()):
        if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name:
            os.waitpid(pid, 0)


class SysstatSession(Session):
    """pidstat or sar, started anew for each turn. What one does with a single sample is taken off for its start."""

    starts_anew = True

    def __init__(self, argv: Sequence[str]) -> None:
        self.argv = argv
        self.run(1)

    def run(self, count: int) -> Tuple[float, float]:
        """CPU and wall time in ns."""
        env = {**os.environ, "LD_PRELOAD": str(NO_PAUSE), "LC_ALL": "C"}
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic_ns()
        done = subprocess.run([*self.argv, "1", str(count)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env,
                              timeout=LIMIT_S)
        wait_for_orphans("sadc")
        wall, after = time.monotonic_ns() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise Skip(f"{self.argv[0]} gave {done.returncode}: {done.stderr.decode().strip()[:200]}")
        return 1e9 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), wall

    def hot(self, count: int) -> Cost:
        # A difference of two runs needs more than a few samples to stand out.
        count = max(count, 20)
        cpu, wall = self.run(count + 1)
        start = self.run(1)
        return Cost(max(cpu - start[0], 0) / count, max(wall - start[1], 1) / count, 0, 0, "-")

    def slow(self, count: int, run: int, pause_ms: int) -> Cost:
        raise Skip("it cannot be told when to sample")

    def rss_kib(self) -> int:
        raise Skip("not asked")

    def end(self) -> None:
        pass


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    what: str
    words: Tuple[str, ...]
    only_source: str = ""
    """How it must read, or it is not what it is called."""

    def wrong(self, sources: Sequence[str]) -> str:
        """What it has done that it must not do, or nothing."""
        others = [one for one in sources if self.only_source not in ("", one)]
        return f"{self.what} has read by {' and '.join(others)}" if others else ""

    def missing(self) -> str:
        """Why it cannot be had here, or nothing."""
        return "" if os.access(self.words[0], os.X_OK) else f"{self.what} is not here"

    def begin(self, task: Task, counts_allocations: bool = False) -> Session:
        return DriverSession(self.words, task, counts_allocations)


class PsutilContender(Contender):
    def missing(self) -> str:
        done = subprocess.run([self.words[0], "-c", "import psutil"], stderr=subprocess.DEVNULL)
        return "" if done.returncode == 0 else f"{self.what} is not here"


class SysstatContender(Contender):
    def missing(self) -> str:
        return "" if shutil.which(self.words[0]) else f"{self.what} is not here"

    def begin(self, task: Task, counts_allocations: bool = False) -> Session:
        if task.with_pss or counts_allocations:
            raise Skip("it knows no PSS" if task.with_pss else "not asked")
        if not task.subject:
            return SysstatSession(self.words)
        pids = [task.pid] if task.kind == "pid" else task.subject.members()
        return SysstatSession([*self.words, "-p", ",".join(map(str, pids))])


def of_driver(name: str, what: str, program: str, variant: str, only_source: str = "") -> Contender:
    return Contender(name, what, (str(PROGRAMS / program), variant), only_source)


RTRACK = of_driver("rtrack", "this library", "bench-with-rtrack", "-")
RTRACK_TEXT = of_driver("rtrack text", "this library, text", "bench-with-rtrack", "text", "proc")
RTRACK_EACH = of_driver("rtrack each", "this library, PSS at any cost", "bench-with-rtrack", "each")
FLOOR = of_driver("floor", "the floor: CPU clocks", "bench-with-floor", "clocks")
FLOOR_STAT = of_driver("floor stat", "the floor: stat", "bench-with-floor", "stat")
FLOOR_CHANGED = of_driver("floor changed", "the floor: what has run", "bench-with-floor", "changed")
LIBPROC2 = of_driver("libproc2", "libproc2 (libproc2-dev)", "bench-with-libproc2", "-")
PSUTIL = PsutilContender("psutil", "psutil (python3-psutil)",
                         (sys.executable, str(HERE / "programs/with_psutil.py"), "-"))
PIDSTAT = SysstatContender("pidstat", "pidstat (sysstat)", ("pidstat", "-urd"))
SAR = SysstatContender("sar", "sar (sysstat)", ("sar", "-u", "-w", "-r", "-q", "-d", "-n", "DEV"))

ALL: Dict[str, Contender] = {one.name: one for one in (
    RTRACK, RTRACK_TEXT, RTRACK_EACH, FLOOR, FLOOR_STAT, FLOOR_CHANGED, LIBPROC2, PSUTIL, PIDSTAT, SAR)}
