# SPDX-License-Identifier: MIT
"""The programs that take samples: how to start each, request samples, and parse their cost."""
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


Record = Callable[[str, str, str], None]
"""Called with scenario, contender, and the reason for a skip (empty if it was not skipped)."""


class Skip(Exception):
    """The measurement is not possible on this system. The text is the reason."""


@dataclasses.dataclass(frozen=True)
class Cost:
    """The cost of one sample: the mean over a turn."""

    cpu_ns: float
    wall_ns: float
    allocations: float
    processes: int
    note: str

    @property
    def source(self) -> str:
        """How this library read the tree: proc or bpf."""
        found = re.search(r"source:(\w+)", self.note)
        return found[1] if found else ""


@dataclasses.dataclass(frozen=True)
class Task:
    """What to sample. kind is pid, tree or system."""

    kind: str
    with_pss: bool
    subject: Optional[Subject] = None

    @property
    def pid(self) -> int:
        return self.subject.pid if self.subject else 0

    @property
    def processes(self) -> int:
        """The number of processes that a sample must find."""
        if self.subject and self.kind == "tree":
            return self.subject.processes
        return int(self.kind == "pid")


class Session:
    """A started contender, which takes samples on request."""

    first_wall_ns: Optional[int] = None
    first_cpu_ns: Optional[int] = None
    empty_kib: Optional[int] = None
    """Its resident memory before it had anything to sample with. Only programs in C say it."""
    restarts = False
    """Whether each turn starts the program again, so that a warm-up has no effect."""

    def hot(self, count: int) -> Cost:
        raise NotImplementedError

    def slow(self, count: int, run: int, pause_ms: int) -> Cost:
        """Take count samples. Before each, `run` members run, then there is a pause."""
        raise NotImplementedError

    def rss_kib(self) -> int:
        raise NotImplementedError

    def end(self) -> None:
        raise NotImplementedError


class DriverSession(Session):
    """A program with the protocol of driver.c."""

    def __init__(self, argv: Sequence[str], task: Task, counts_allocations: bool) -> None:
        self.name, self.task = " ".join(argv[:2]), task
        words = [*argv, task.kind, str(task.pid), str(int(task.with_pss))]
        fds: Tuple[int, ...] = ()
        if task.subject:
            fds = (task.subject.requests.fileno(), task.subject.replies.fileno())
            words += map(str, fds)
        env = dict(os.environ)
        if counts_allocations:
            # Make Python use malloc(): its own allocator would hide allocations from the counter.
            env.update(LD_PRELOAD=str(ALLOC_COUNT), PYTHONMALLOC="malloc")
        env["BENCH_STARTED_NS"] = str(time.monotonic_ns())
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=0, pass_fds=fds, env=env)
        first = self.answer()
        if first[:1] != ["first"]:
            raise AssertionError(f"{self.name} printed {first}")
        self.first_wall_ns, self.first_cpu_ns = int(first[1]), int(first[2])
        self.empty_kib = int(first[3]) if len(first) > 3 else None

    def answer(self) -> List[str]:
        assert self.process.stdout and self.process.stderr
        if not select.select([self.process.stdout], [], [], LIMIT_S)[0]:
            raise AssertionError(f"{self.name} did not answer")
        words = self.process.stdout.readline().decode().split()
        if not words:
            raise AssertionError(
                f"{self.name} ended: {self.process.stderr.read().decode().strip()}")
        return words

    def ask(self, order: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(order.encode() + b"\n")

    def turn(self, count: int, order: str) -> Cost:
        self.ask(order)
        return self.cost(count)

    def cost(self, count: int) -> Cost:
        """Wait for the answer to an order of so many samples."""
        cpu, wall, allocations, processes, note = self.answer()
        if int(processes) != self.task.processes:
            raise AssertionError(
                f"{self.name} found {processes} processes, not {self.task.processes}")
        # The cost of reading the clocks is subtracted, so a small cost can become negative.
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
    """Reap orphans of this name. E.g.: sar does not wait for sadc, so this process has to."""
    for pid in children_of(os.getpid()):
        if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name:
            os.waitpid(pid, 0)


class SysstatSession(Session):
    """pidstat or sar, started for each turn. The cost of a run with one sample is subtracted."""

    restarts = True

    def __init__(self, argv: Sequence[str]) -> None:
        self.argv = argv
        self.run(1)

    def run(self, count: int) -> Tuple[float, float]:
        """Run the program. Returns CPU and wall time in ns."""
        env = {**os.environ, "LD_PRELOAD": str(NO_PAUSE), "LC_ALL": "C"}
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic_ns()
        done = subprocess.run([*self.argv, "1", str(count)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env=env, timeout=LIMIT_S)
        wait_for_orphans("sadc")
        wall, after = time.monotonic_ns() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise Skip(
                f"{self.argv[0]} returned {done.returncode}: {done.stderr.decode().strip()[:200]}")
        return 1e9 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), wall

    def hot(self, count: int) -> Cost:
        # A difference of two runs needs more than a few samples to stand out.
        count = max(count, 20)
        cpu, wall = self.run(count + 1)
        start = self.run(1)
        return Cost(max(cpu - start[0], 0) / count, max(wall - start[1], 1) / count, 0, 0, "-")

    def slow(self, count: int, run: int, pause_ms: int) -> Cost:
        raise Skip("it does not take samples on request")

    def rss_kib(self) -> int:
        raise Skip("not measured")

    def end(self) -> None:
        pass


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    what: str
    words: Tuple[str, ...]
    only_source: str = ""
    """The source that it must use. Any other source is an error. Empty: any source."""

    def wrong(self, sources: Sequence[str]) -> str:
        """Return an error text if it used a source that it must not use, else an empty string."""
        others = [one for one in sources if self.only_source not in ("", one)]
        return f"{self.what}: read by {' and '.join(others)}" if others else ""

    def missing(self) -> str:
        """Return why it is not available, or an empty string."""
        return "" if os.access(self.words[0], os.X_OK) else f"{self.what} is not installed"

    def begin(self, task: Task, counts_allocations: bool = False) -> Session:
        return DriverSession(self.words, task, counts_allocations)


class PsutilContender(Contender):
    def missing(self) -> str:
        done = subprocess.run([self.words[0], "-c", "import psutil"], stderr=subprocess.DEVNULL)
        return "" if done.returncode == 0 else f"{self.what} is not installed"


class SysstatContender(Contender):
    def missing(self) -> str:
        return "" if shutil.which(self.words[0]) else f"{self.what} is not installed"

    def begin(self, task: Task, counts_allocations: bool = False) -> Session:
        if task.with_pss or counts_allocations:
            raise Skip("it has no PSS" if task.with_pss else "not measured")
        if not task.subject:
            return SysstatSession(self.words)
        pids = [task.pid] if task.kind == "pid" else task.subject.members()
        return SysstatSession([*self.words, "-p", ",".join(map(str, pids))])


def of_driver(name: str, what: str, program: str, variant: str, only_source: str = "") -> Contender:
    return Contender(name, what, (str(PROGRAMS / program), variant), only_source)


RTRACK = of_driver("rtrack", "this library", "bench-with-rtrack", "-")
RTRACK_TEXT = of_driver("rtrack text", "this library, text", "bench-with-rtrack", "text", "proc")
RTRACK_EACH = of_driver("rtrack each", "this library, PSS at any cost", "bench-with-rtrack", "each")
RTRACK_DEFAULT = of_driver("rtrack default", "this library, all defaults", "bench-with-rtrack",
                           "default")
RTRACK_DEFAULT_TEXT = of_driver("rtrack default text", "this library, all defaults, text",
                                "bench-with-rtrack", "default-text", "proc")
RTRACK_DEFAULT_NO_PSS = of_driver("rtrack default without PSS", "this library, no reads of memory",
                                  "bench-with-rtrack", "default-no-pss")
RTRACK_GPU = of_driver("rtrack gpu", "this library, with GPUs", "bench-with-rtrack", "gpu")
FLOOR = of_driver("floor", "the floor: CPU clocks", "bench-with-floor", "clocks")
FLOOR_DEFAULT = of_driver("floor default", "the floor of all defaults", "bench-with-floor",
                          "default")
FLOOR_STAT = of_driver("floor stat", "the floor: stat", "bench-with-floor", "stat")
FLOOR_CHANGED = of_driver("floor changed", "the floor: what has run", "bench-with-floor", "changed")
FLOOR_CLOCK = of_driver("floor clock", "raw reads of one CPU clock", "bench-with-floor", "clock")
LIBPROC2 = of_driver("libproc2", "libproc2 (libproc2-dev)", "bench-with-libproc2", "-")
PSUTIL = PsutilContender("psutil", "psutil (python3-psutil)",
                         (sys.executable, str(HERE / "programs/with_psutil.py"), "-"))
PIDSTAT = SysstatContender("pidstat", "pidstat (sysstat)", ("pidstat", "-urd"))
SAR = SysstatContender("sar", "sar (sysstat)", ("sar", "-u", "-w", "-r", "-q", "-d", "-n", "DEV"))

ALL: Dict[str, Contender] = {
    one.name: one
    for one in (RTRACK, RTRACK_TEXT, RTRACK_EACH, RTRACK_GPU, RTRACK_DEFAULT, RTRACK_DEFAULT_TEXT,
                RTRACK_DEFAULT_NO_PSS, FLOOR, FLOOR_DEFAULT, FLOOR_STAT, FLOOR_CHANGED, FLOOR_CLOCK,
                LIBPROC2, PSUTIL, PIDSTAT, SAR)}
