# SPDX-License-Identifier: MIT
"""Taking turns: every contender of a scenario samples in each round, and the rounds are compared one by one."""
from __future__ import annotations

import contextlib
import dataclasses
import os
import statistics
from typing import Dict, Iterator, List, Optional, Tuple

from contenders import ALLOC_COUNT, PROGRAMS, Contender, Cost, Session, Skip, Task, Tell
from scenarios import ACTIVE, COLD, HOT, Scenario, SubjectSpec
from subjects import Subject

WARM_UP = 2
MOST_PER_TURN = 5000
MOST_ACTIVE, MOST_ACTIVE_ALONE = 8, 200
PAUSE_MS = 250


@dataclasses.dataclass(frozen=True)
class Effort:
    """How long to try."""

    rounds: int
    turn_ns: float
    cold_rounds: int
    cold_samples: int
    starts: int

    def samples(self, scenario: Scenario, warm: Cost) -> int:
        most = MOST_PER_TURN
        if scenario.mode == ACTIVE:
            most = MOST_ACTIVE if scenario.kind == "tree" else MOST_ACTIVE_ALONE
        return max(1, min(most, int(self.turn_ns / max(warm.cpu_ns, 1))))


FULL = Effort(rounds=5, turn_ns=40e6, cold_rounds=3, cold_samples=3, starts=11)
QUICK = Effort(rounds=3, turn_ns=5e6, cold_rounds=1, cold_samples=2, starts=3)


@dataclasses.dataclass
class Measured:
    """What one contender took in one scenario: per sample, one entry per round."""

    cpu_ns: List[float] = dataclasses.field(default_factory=list)
    wall_ns: List[float] = dataclasses.field(default_factory=list)
    note: str = "-"
    rss_kib: Optional[int] = None

    def add(self, cost: Cost) -> None:
        self.cpu_ns.append(cost.cpu_ns)
        self.wall_ns.append(cost.wall_ns)
        self.note = cost.note


@dataclasses.dataclass
class Use:
    """What a contender needs besides time."""

    allocations: Optional[float] = None
    first_ns: List[int] = dataclasses.field(default_factory=list)


Results = Dict[Tuple[str, str], Measured]


@contextlib.contextmanager
def subject_of(spec: SubjectSpec) -> Iterator[Optional[Subject]]:
    if not spec:
        yield None
        return
    with Subject(PROGRAMS / "bench-subject", *spec) as subject:
        yield subject


def turn(session: Session, scenario: Scenario, count: int) -> Cost:
    if scenario.mode == HOT:
        return session.hot(count)
    return session.slow(count, scenario.running, PAUSE_MS if scenario.mode == COLD else 0)


class Bench:
    def __init__(self, effort: Effort, tell: Tell) -> None:
        self.effort, self.tell = effort, tell
        self.others = sum(name.isdigit() for name in os.listdir("/proc"))
        self.results: Results = {}
        self.uses: Dict[Tuple[str, str], Use] = {}
        self.missing: Dict[str, str] = {}

    def reason(self, contender: Contender) -> str:
        """Why a contender is not here at all."""
        if contender.name not in self.missing:
            self.missing[contender.name] = contender.missing()
        return self.missing[contender.name]

    def begin(self, stack: contextlib.ExitStack, scenario: Scenario, contender: Contender,
              task: Task) -> Optional[Tuple[Session, int]]:
        """A warm session and how many samples it takes per turn."""
        why = self.reason(contender)
        try:
            if why:
                raise Skip(why)
            session = contender.begin(task)
            stack.callback(session.end)
            warm = turn(session, scenario, 1 if scenario.mode == COLD else WARM_UP)
        except Skip as skip:
            self.tell(scenario.key, contender.name, str(skip))
            return None
        count = self.effort.cold_samples if scenario.mode == COLD else self.effort.samples(scenario, warm)
        return session, count

    def run(self, scenario: Scenario, subject: Optional[Subject]) -> None:
        task = Task(scenario.kind, scenario.with_pss, subject)
        with contextlib.ExitStack() as stack:
            ready: Dict[str, Tuple[Session, int]] = {}
            for contender in scenario.contenders:
                begun = self.begin(stack, scenario, contender, task)
                if begun:
                    ready[contender.name] = begun
            found = {name: Measured() for name in ready}
            names = list(ready)
            for i in range(self.effort.cold_rounds if scenario.mode == COLD else self.effort.rounds):
                for name in names[i % len(names):] + names[:i % len(names)]:
                    found[name].add(turn(ready[name][0], scenario, ready[name][1]))
            for name, (session, _) in ready.items():
                with contextlib.suppress(Skip):
                    found[name].rss_kib = session.rss_kib()
        for name, measured in found.items():
            self.results[scenario.key, name] = measured
            self.tell(scenario.key, name, "")

    def use(self, scenario: Scenario, subject: Optional[Subject]) -> None:
        """Allocations, and the time from the start of a program to its first sample."""
        task = Task(scenario.kind, scenario.with_pss, subject)
        for contender in scenario.contenders:
            with contextlib.suppress(Skip):
                if self.can_count_allocations() and not self.reason(contender):
                    self.use_of(scenario, contender).allocations = allocations_of(contender, task)
        for _ in range(self.effort.starts):
            for contender in scenario.contenders:
                with contextlib.suppress(Skip):
                    if not self.reason(contender):
                        self.start_once(scenario, contender, task)

    def can_count_allocations(self) -> bool:
        if not ALLOC_COUNT.exists():
            self.tell("allocations", "all", "not counted: this build has a malloc() of its own")
        return ALLOC_COUNT.exists()

    def use_of(self, scenario: Scenario, contender: Contender) -> Use:
        return self.uses.setdefault((scenario.key, contender.name), Use())

    def start_once(self, scenario: Scenario, contender: Contender, task: Task) -> None:
        session = contender.begin(task)
        try:
            if session.first_wall_ns is not None:
                self.use_of(scenario, contender).first_ns.append(session.first_wall_ns)
        finally:
            session.end()


def allocations_of(contender: Contender, task: Task) -> float:
    session = contender.begin(task, counts_allocations=True)
    try:
        session.hot(5)
        return session.hot(20).allocations
    finally:
        session.end()


def ratio(a: List[float], b: List[float]) -> float:
    """How many times b is in a: the median over the rounds, which were taken side by side."""
    return statistics.median(x / y if y else float("inf") for x, y in zip(a, b))
