# SPDX-License-Identifier: MIT
"""Measure in turns: in each round every contender takes samples, and ratios are per round."""
from __future__ import annotations

import contextlib
import dataclasses
import os
import statistics
from typing import Dict, Iterable, Iterator, List, Optional, Tuple

from contenders import ALL, ALLOC_COUNT, PROGRAMS, Contender, Cost, Session, Skip, Task, Record
from scenarios import ACTIVE, COLD, HOT, Scenario, SubjectSpec
from subjects import Subject

LEAST_WARM_UP = 2
MOST_PER_TURN = 5000
MOST_ACTIVE, MOST_ACTIVE_ALONE = 8, 200
PAUSE_MS = 250
COUNTED = 20
"""The number of samples with counted allocations."""


@dataclasses.dataclass(frozen=True)
class WarmUp:
    """Limits of a warm-up. It ends at the first limit: runs of processes, samples, or CPU time.

    This library uses BPF after 4000 reads of processes. A sample reads each process that ran."""

    runs: int
    samples: int
    cpu_ns: float


@dataclasses.dataclass(frozen=True)
class Effort:
    """The size of a measurement."""

    warm_up: WarmUp
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


FULL = Effort(WarmUp(runs=4500, samples=800, cpu_ns=0.5e9), rounds=5, turn_ns=40e6, cold_rounds=3,
              cold_samples=3, starts=11)
QUICK = Effort(WarmUp(runs=4500, samples=200, cpu_ns=0.1e9), rounds=3, turn_ns=5e6, cold_rounds=1,
               cold_samples=2, starts=3)


@dataclasses.dataclass
class Measured:
    """The cost of one contender in one scenario: per sample, one entry per round."""

    cpu_ns: List[float] = dataclasses.field(default_factory=list)
    wall_ns: List[float] = dataclasses.field(default_factory=list)
    note: str = "-"
    sources: List[str] = dataclasses.field(default_factory=list)
    """The sources that this library used, in the order of the rounds, without repeats."""
    rss_kib: Optional[int] = None
    empty_kib: Optional[int] = None
    """Of rss_kib, what the program held before it had a tracker."""
    error: str = ""

    def add(self, cost: Cost) -> None:
        self.cpu_ns.append(cost.cpu_ns)
        self.wall_ns.append(cost.wall_ns)
        self.note = cost.note
        if cost.source and cost.source not in self.sources:
            self.sources.append(cost.source)

    def merge(self, other: Measured) -> None:
        """Add the rounds of another one."""
        self.cpu_ns += other.cpu_ns
        self.wall_ns += other.wall_ns
        self.note = other.note
        self.sources += [one for one in other.sources if one not in self.sources]


@dataclasses.dataclass
class Use:
    """Allocations and start time of a contender."""

    allocations: Optional[float] = None
    sources: List[str] = dataclasses.field(default_factory=list)
    error: str = ""
    first_ns: List[int] = dataclasses.field(default_factory=list)
    first_cpu_ns: List[int] = dataclasses.field(default_factory=list)


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


def warm_up(session: Session, scenario: Scenario, limits: WarmUp) -> Cost:
    """Take samples without pause until a limit. Returns the cost of a sample of the last turn.

    The cost of a sample is not known yet, so each turn takes more samples than the last one."""
    cpu_ns, done, step = 0.0, 0, LEAST_WARM_UP
    while True:
        cost = warm_turn(session, scenario, step)
        if session.restarts:
            return cost
        done, cpu_ns = done + step, cpu_ns + step * cost.cpu_ns
        left = min(limits.samples - done, limits.runs / max(scenario.runs, 1) - done,
                   (limits.cpu_ns - cpu_ns) / cost.cpu_ns)
        if left <= 0:
            return cost
        step = max(1, int(min(done, left)))


def warm_turn(session: Session, scenario: Scenario, count: int) -> Cost:
    return session.hot(count) if scenario.mode == HOT else session.slow(count, scenario.running, 0)


class Bench:
    def __init__(self, effort: Effort, record: Record) -> None:
        self.effort, self.record = effort, record
        self.others = sum(name.isdigit() for name in os.listdir("/proc"))
        self.results: Results = {}
        self.uses: Dict[Tuple[str, str], Use] = {}
        self.missing: Dict[str, str] = {}

    def reason(self, contender: Contender) -> str:
        """Return why a contender is not available, or an empty string."""
        if contender.name not in self.missing:
            self.missing[contender.name] = contender.missing()
        return self.missing[contender.name]

    def begin(self, stack: contextlib.ExitStack, scenario: Scenario, contender: Contender,
              task: Task) -> Optional[Tuple[Session, int]]:
        """Return a warm session and its number of samples per turn, or None if it is skipped."""
        why = self.reason(contender)
        try:
            if why:
                raise Skip(why)
            session = contender.begin(task)
            stack.callback(session.end)
            for one in scenario.warm_ups:
                warm = warm_up(session, one, self.effort.warm_up)
        except Skip as skip:
            self.record(scenario.key, contender.name, str(skip))
            return None
        if scenario.mode == COLD:
            return session, self.effort.cold_samples
        return session, self.effort.samples(scenario, warm)

    def run(self, scenario: Scenario, subject: Optional[Subject]) -> None:
        task = Task(scenario.kind, scenario.with_pss, subject)
        with contextlib.ExitStack() as stack:
            ready: Dict[str, Tuple[Session, int]] = {}
            # Warm up this library last: its PSS budget would accumulate while the others warm up.
            for contender in reversed(scenario.contenders):
                begun = self.begin(stack, scenario, contender, task)
                if begun:
                    ready[contender.name] = begun
            names = [contender.name for contender in scenario.contenders if contender.name in ready]
            found = {name: Measured() for name in names}
            is_cold = scenario.mode == COLD
            for i in range(self.effort.cold_rounds if is_cold else self.effort.rounds):
                for name in names[i % len(names):] + names[:i % len(names)]:
                    found[name].add(turn(ready[name][0], scenario, ready[name][1]))
            for name, (session, _) in ready.items():
                found[name].error = ALL[name].wrong(found[name].sources)
                with contextlib.suppress(Skip):
                    found[name].rss_kib = session.rss_kib()
                    found[name].empty_kib = session.empty_kib
        for name, measured in found.items():
            self.results[scenario.key, name] = measured
            self.record(scenario.key, name, "")
        raise_errors(measured.error for measured in found.values())

    def use(self, scenario: Scenario, subject: Optional[Subject]) -> None:
        """Measure allocations, and the time from the start of a program to its first sample."""
        task = Task(scenario.kind, scenario.with_pss, subject)
        for contender in scenario.contenders:
            with contextlib.suppress(Skip):
                if self.can_count_allocations() and not self.reason(contender):
                    self.count_allocations(scenario, contender, task)
        for _ in range(self.effort.starts):
            for contender in scenario.contenders:
                with contextlib.suppress(Skip):
                    if not self.reason(contender):
                        self.start_once(scenario, contender, task)
        raise_errors(use.error for (key, _), use in self.uses.items() if key == scenario.key)

    def can_count_allocations(self) -> bool:
        if not ALLOC_COUNT.exists():
            self.record("allocations", "all", "not counted: this build replaces malloc()")
        return ALLOC_COUNT.exists()

    def use_of(self, scenario: Scenario, contender: Contender) -> Use:
        return self.uses.setdefault((scenario.key, contender.name), Use())

    def count_allocations(self, scenario: Scenario, contender: Contender, task: Task) -> None:
        session = contender.begin(task, counts_allocations=True)
        try:
            warm_up(session, scenario, self.effort.warm_up)
            cost = turn(session, scenario, COUNTED)
        finally:
            session.end()
        use = self.use_of(scenario, contender)
        use.allocations, use.sources = cost.allocations, [cost.source] if cost.source else []
        use.error = contender.wrong(use.sources)

    def start_once(self, scenario: Scenario, contender: Contender, task: Task) -> None:
        session = contender.begin(task)
        try:
            if session.first_wall_ns is not None and session.first_cpu_ns is not None:
                use = self.use_of(scenario, contender)
                use.first_ns.append(session.first_wall_ns)
                use.first_cpu_ns.append(session.first_cpu_ns)
        finally:
            session.end()


def raise_errors(errors: Iterable[str]) -> None:
    """Raise all errors at once, after the results are stored, so that none hides another."""
    found = [one for one in errors if one]
    if found:
        raise AssertionError("; ".join(found))


def ratio(a: List[float], b: List[float]) -> float:
    """Return a / b: the median of the ratios of the single rounds."""
    return statistics.median(x / y if y else float("inf") for x, y in zip(a, b))
