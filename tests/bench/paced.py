# SPDX-License-Identifier: MIT
"""Measure samples as users take them: one each interval, by default options, with forks elsewhere.

All contenders take their samples in the same intervals, each at its own moment of them, so that no
contender waits for another one's turn."""
from __future__ import annotations

import contextlib
import dataclasses
import statistics
import threading
import time
from types import TracebackType
from typing import Dict, Iterator, List, Optional, Sequence, Tuple, Type

from contenders import (ALL, FLOOR_CHANGED, FLOOR_CLOCK, FLOOR_DEFAULT, LIBPROC2, PSUTIL, RTRACK,
                        RTRACK_DEFAULT, RTRACK_DEFAULT_NO_PSS, RTRACK_DEFAULT_TEXT, Contender,
                        DriverSession, Task)
from measure import Bench, Measured, WarmUp, raise_errors, ratio, subject_of, warm_up
from scenarios import ACTIVE, HOT, Scenario, SubjectSpec
from subjects import NotStarted, Subject

FORKS = 200
"""Programs that start and end elsewhere in each second."""
MS = 1000000
LEAD_NS = 20 * MS
"""The time between an order and its first sample."""
SECOND_MS, TENTH_MS = 1000, 100
PEERS_MOST = 1000
"""The largest tree that other tools sample each second. Larger ones would take them too long. Nor
may a program keep that many files open, so that the floor is what tells which members ran."""
LARGE = 20000
TOO_MANY = "so many processes cannot be started here"


@dataclasses.dataclass(frozen=True)
class Paced:
    title: str
    kind: str
    subject: SubjectSpec
    interval_ms: int
    percent: int = 0
    """The share of the members that run briefly in each interval."""
    is_warm: bool = False
    """Whether it is measured after a warm-up, in which the library changes its method if it ever
    does. Else it is measured from the second sample on."""
    at_most: Optional[float] = None
    """The target: the cost as a multiple of that of the floor. Without reads of memory."""
    share_at_most: Optional[float] = None
    """The target: percent of one CPU without reads of memory, which have a budget of their own."""
    clocks_at_least: Optional[float] = None
    """The target: how many times it costs, without those, to read a CPU clock of each process."""

    @property
    def key(self) -> str:
        parts = [
            "paced", self.kind, *(map(str, self.subject) if self.subject else ()),
            str(self.percent), f"{self.interval_ms}ms", *(["warm"] if self.is_warm else [])]
        return "-".join(parts)

    @property
    def size(self) -> int:
        return self.subject[1] if self.subject else 0

    @property
    def running(self) -> int:
        return max(self.size * self.percent // 100, 1) if self.percent else 0

    @property
    def floor(self) -> Contender:
        return FLOOR_CLOCK if self.size > PEERS_MOST and self.kind == "tree" else FLOOR_DEFAULT

    @property
    def compared(self) -> str:
        """The name of the contender that the target is for."""
        return (RTRACK_DEFAULT if self.kind == "system" else RTRACK_DEFAULT_NO_PSS).name

    @property
    def contenders(self) -> Sequence[Contender]:
        if self.kind == "system":
            return [RTRACK_DEFAULT, FLOOR_DEFAULT, LIBPROC2, PSUTIL]
        if self.size > PEERS_MOST:
            return [RTRACK_DEFAULT, RTRACK_DEFAULT_TEXT, RTRACK, FLOOR_CLOCK]
        found = [RTRACK_DEFAULT, RTRACK_DEFAULT_TEXT, FLOOR_DEFAULT, FLOOR_CHANGED]
        found += [RTRACK, FLOOR_CLOCK] if self.clocks_at_least else []
        found += [RTRACK_DEFAULT_NO_PSS] if self.size == 1 else []
        has_peers = self.size <= PEERS_MOST and (
            self.interval_ms >= SECOND_MS or self.size < PEERS_MOST)
        return [*found, LIBPROC2, PSUTIL] if has_peers else found

    @property
    def warm_up(self) -> Scenario:
        mode = ACTIVE if self.percent else HOT
        return Scenario(self.title, self.subject, self.kind, False, mode, self.percent)


@dataclasses.dataclass(frozen=True)
class Pace:
    """How many rounds of how many samples."""

    rounds: int
    samples: int
    warm_up: WarmUp


def system(crowd: int, interval_ms: int) -> Paced:
    return Paced(f"the system with {crowd} more processes", "system", ("tree", crowd), interval_ms,
                 at_most=1.25)


def tree(title: str, size: int, interval_ms: int, percent: int, is_warm: bool = False) -> Paced:
    may_be_watched = is_warm and interval_ms < SECOND_MS and size == PEERS_MOST
    return Paced(title, "tree", ("tree", size), interval_ms, percent, is_warm,
                 clocks_at_least=10 if may_be_watched and percent == 5 else None)


def of_tree(title: str, size: int, percent: int) -> List[Paced]:
    """Before and after a change of method, each second and ten times a second."""
    return [
        tree(title, size, interval_ms, percent, is_warm) for interval_ms in (SECOND_MS, TENTH_MS)
        for is_warm in (False, True)]


FULL: List[Paced] = [
    *(system(crowd, interval_ms) for crowd in (50, 2000) for interval_ms in (SECOND_MS, TENTH_MS)),
    tree("one process that ran", 1, SECOND_MS, 100),
    dataclasses.replace(tree("one process that ran", 1, TENTH_MS, 100), at_most=1.15),
    *of_tree("1000 processes, 5 % ran", 1000, 5),
    *of_tree("1000 processes, all ran", 1000, 100),
    tree("1000 processes, idle", 1000, SECOND_MS, 0, True),
    Paced(f"{LARGE} processes, 5 % ran", "tree", ("tree", LARGE), SECOND_MS, 5, True,
          share_at_most=0.2),
]
QUICK: List[Paced] = [system(10, 20), tree("10 processes, all ran", 10, 20, 100)]

WARM_UP = WarmUp(runs=4500, samples=200, cpu_ns=0.5e9)
LARGE_WARM_UP = WarmUp(runs=40 * LARGE, samples=40, cpu_ns=1e9)
"""A few samples more than the library takes to watch a large tree."""
SLOW, FAST = Pace(3, 3, WARM_UP), Pace(5, 8, WARM_UP)
QUICK_PACE = Pace(2, 2, WarmUp(runs=20, samples=5, cpu_ns=0.1e9))


def pace_of(scenario: Paced) -> Pace:
    if scenario.interval_ms >= SECOND_MS:
        is_large = scenario.size > PEERS_MOST and scenario.kind == "tree"
        return dataclasses.replace(SLOW, warm_up=LARGE_WARM_UP) if is_large else SLOW
    return FAST if scenario.interval_ms >= TENTH_MS else QUICK_PACE


class Activity:
    """Runs members of a tree once each interval. The end of the with block ends it."""

    def __init__(self, subject: Optional[Subject], running: int, interval_ms: int) -> None:
        self.subject, self.running, self.interval_s = subject, running, interval_ms / 1000
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        assert self.subject
        at = time.monotonic()
        while not self.is_over.wait(max(at - time.monotonic(), 0)):
            self.subject.requests.write(b"%d\n" % self.running)
            self.subject.replies.readline()
            at += self.interval_s

    def __enter__(self) -> Activity:
        if self.running:
            self.thread.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.is_over.set()
        if self.running:
            self.thread.join()


def begin(bench: Bench, stack: contextlib.ExitStack, scenario: Paced, pace: Pace,
          subject: Optional[Subject]) -> Dict[str, DriverSession]:
    """Start all contenders that are there."""
    task = Task(scenario.kind, False, subject)
    found: Dict[str, DriverSession] = {}
    for contender in scenario.contenders:
        why = bench.reason(contender)
        if why:
            bench.record(scenario.key, contender.name, why)
            continue
        session = contender.begin(task)
        stack.callback(session.end)
        assert isinstance(session, DriverSession)
        if scenario.is_warm and contender.name.startswith("rtrack"):
            warm_up(session, scenario.warm_up, pace.warm_up)
        found[contender.name] = session
    return found


def take_round(sessions: Dict[str, DriverSession], scenario: Paced, pace: Pace,
               turn: int) -> Iterator[Tuple[str, Measured]]:
    """Let all contenders take their samples. In each round, their order is another one."""
    names = list(sessions)
    names = names[turn % len(names):] + names[:turn % len(names)]
    interval_ns = scenario.interval_ms * MS
    start = time.monotonic_ns() + LEAD_NS
    for i, name in enumerate(names):
        at = start + i * interval_ns // len(names)
        sessions[name].ask(f"pace {pace.samples} {scenario.interval_ms} {at}")
    for name in names:
        one = Measured()
        one.add(sessions[name].cost(pace.samples))
        yield name, one


def run(bench: Bench, scenario: Paced) -> None:
    try:
        measure(bench, scenario)
    except NotStarted:
        if scenario.size <= PEERS_MOST:
            raise
        bench.record(scenario.key, "all", TOO_MANY)


def measure(bench: Bench, scenario: Paced) -> None:
    pace = pace_of(scenario)
    with contextlib.ExitStack() as stack:
        subject = stack.enter_context(subject_of(scenario.subject))
        stack.enter_context(subject_of(("forks", FORKS)))
        sessions = begin(bench, stack, scenario, pace, subject)
        found = {name: Measured() for name in sessions}
        stack.enter_context(Activity(subject, scenario.running, scenario.interval_ms))
        for turn in range(pace.rounds):
            for name, one in take_round(sessions, scenario, pace, turn):
                found[name].merge(one)
    for name, measured in found.items():
        measured.error = ALL[name].wrong(measured.sources)
        bench.results[scenario.key, name] = measured
        bench.record(scenario.key, name, "")
    raise_errors(measured.error for measured in found.values())


def cost_us(bench: Bench, scenario: Paced, name: str) -> Optional[float]:
    found = bench.results.get((scenario.key, name))
    return statistics.median(found.cpu_ns) / 1e3 if found else None


def share(bench: Bench, scenario: Paced, name: str) -> Optional[float]:
    """Return percent of one CPU."""
    us = cost_us(bench, scenario, name)
    return None if us is None else us / scenario.interval_ms / 10


def times(bench: Bench, scenario: Paced, a: str, b: str) -> Optional[float]:
    found = [bench.results.get((scenario.key, name)) for name in (a, b)]
    if not found[0] or not found[1]:
        return None
    return ratio(found[0].cpu_ns, found[1].cpu_ns)


