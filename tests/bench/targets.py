# SPDX-License-Identifier: MIT
"""The targets for the costs, and whether they are met."""
from __future__ import annotations

import dataclasses
import statistics
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import commands
import paced
from commands import Commands
from contenders import ALL as CONTENDERS
from measure import Bench, Measured, ratio
from scenarios import SINCE

Check = Callable[[float], bool]
ABSENT = "not measured"
READ_BY = {"proc": "text", "bpf": "BPF"}


@dataclasses.dataclass(frozen=True)
class Target:
    what: str
    target: str
    result: str
    is_met: Optional[bool] = None
    otherwise: str = "-"
    column: str = "-"
    read_by: str = "-"
    floor: str = "-"
    """The result of the floor. No program that only reads the same files can be better here."""

    @property
    def verdict(self) -> str:
        return {True: "met", False: "missed", None: self.otherwise}[self.is_met]


ONE, ONE_PSS = "pid-tree-1-plain-active-100", "pid-tree-1-pss-active-100"
IDLE = "pid-tree-1-plain-hot"
IDLE_100 = "tree-tree-100-plain-hot"
ALL, ALL_PSS = "tree-tree-1000-plain-active-100", "tree-tree-1000-pss-active-100"
FEW, FEW_PSS = "tree-tree-1000-plain-active-5", "tree-tree-1000-pss-active-5"
SYSTEM = "system-plain-hot"
AT_FLOOR = 1.10


@dataclasses.dataclass(frozen=True)
class Case:
    """What is sampled, its scenario, and the contender of this library.

    source is the source that it must have used; empty if the row is not about a source."""

    what: str
    key: str
    contender: str = "rtrack"
    source: str = ""

    @property
    def title(self) -> str:
        return f"{self.what}, {READ_BY[self.source]}" if self.source else self.what


def by_both(what: str, key: str) -> Tuple[Case, Case]:
    return Case(what, key, "rtrack text", "proc"), Case(what, key, "rtrack", "bpf")


ONE_RAN = Case("one process that ran", ONE)
ONE_RAN_PSS = Case("one process that ran, PSS", ONE_PSS, "rtrack each")
ALL_TEXT, ALL_BPF = by_both("1000 processes, all ran", ALL)
ALL_WITH_PSS = Case("1000 processes, all ran, PSS each sample", ALL_PSS, "rtrack each")
FEW_TEXT, FEW_BPF = by_both("1000 processes, 5 % ran", FEW)
FEW_WITH_PSS = Case("1000 processes, 5 % ran, PSS of those", FEW_PSS, "rtrack each")
FEW_CACHED = Case("1000 processes, 5 % ran, PSS carried on", FEW_PSS)
SINCE_TEXT, SINCE_BPF = by_both(SINCE.title, SINCE.key)

# Case, floor, and the highest allowed cost as a multiple of the floor.
FLOORS: Sequence[Tuple[Case, str, Optional[float]]] = (
    (ONE_RAN, "floor", AT_FLOOR),
    (ONE_RAN_PSS, "floor", AT_FLOOR),
    (ALL_TEXT, "floor", AT_FLOOR),
    (ALL_BPF, "floor", AT_FLOOR),
    (ALL_WITH_PSS, "floor", AT_FLOOR),
    (FEW_TEXT, "floor changed", AT_FLOOR),
    (FEW_BPF, "floor changed", AT_FLOOR),
    (FEW_WITH_PSS, "floor changed", AT_FLOOR),
    (FEW_CACHED, "floor changed", None),
    (SINCE_TEXT, "floor changed", None),
    (SINCE_BPF, "floor changed", None),
    (Case("the system", SYSTEM), "floor", AT_FLOOR),
)

# Case, and the lowest allowed speed as a multiple of psutil, libproc2 and resource-tracker.
FASTER: Sequence[Tuple[Case, Sequence[Optional[float]]]] = (
    (ONE_RAN, (12, 9, None)),
    (ONE_RAN_PSS, (3, 2, 8)),
    (ALL_WITH_PSS, (3.5, 1.5, 2.5)),
    (FEW_CACHED, (50, 25, 35)),
    (ALL_TEXT, (11, 4, None)),
    (ALL_BPF, (150, 55, None)),
    (Case("the system (libproc2 without network)", SYSTEM), (6, 1.3, 15)),
)

WITH_GPU = 1.02
"""The highest cost of a tree that uses no GPU if GPUs are wanted, times that if they are not."""
GPU: Sequence[Case] = tuple(
    Case(what, key, "rtrack gpu")
    for what, key in (("1000 processes, idle, with GPUs", "tree-tree-1000-plain-hot"),
                      ("1000 processes, 5 % ran, with GPUs", FEW),
                      ("1000 processes, all ran, with GPUs", ALL)))

ALLOCATIONS: Sequence[Case] = (Case("one process", IDLE), Case("100 processes", IDLE_100),
                               ALL_TEXT, ALL_BPF, Case("the system", SYSTEM))
MEMORY: Sequence[Case] = (Case("one process", ONE), ALL_TEXT, ALL_BPF, Case("the system", SYSTEM))
FIRSTS: Sequence[Case] = (Case("1000 processes", ALL), Case("1000 processes, PSS", ALL_PSS))
FIRST_MS = 15
AUTO_START_MS = 1.2
"""The highest wall time that `auto` may add to a command; `poll` may add what GNU time does."""
STARTS: Sequence[Case] = (Case("one process", IDLE), Case("the system", SYSTEM))
PEERS = ("psutil", "libproc2", "resource-tracker")


def figure(value: float) -> str:
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def cell(value: Optional[float]) -> str:
    return "-" if value is None else figure(value)


def at_most(bound: float) -> Check:
    return lambda got: got <= bound


def at_least(bound: float) -> Check:
    return lambda got: got >= bound


def read_by(sources: Sequence[str]) -> str:
    return ", then ".join(READ_BY[one] for one in sources) or "-"


class Targets:
    def __init__(self, bench: Bench, measured: Commands) -> None:
        self.bench, self.commands = bench, measured

    def pair(self, key: str, a: str, b: str) -> Optional[Tuple[Measured, Measured]]:
        first, second = (self.bench.results.get((key, name)) for name in (a, b))
        return (first, second) if first and second else None

    def ratio(self, key: str, a: str, b: str) -> Optional[float]:
        found = self.pair(key, a, b)
        return ratio(found[0].cpu_ns, found[1].cpu_ns) if found else None

    def sources(self, case: Case) -> List[str]:
        found = self.bench.results.get((case.key, case.contender))
        return found.sources if found else []

    def row(self, case: Case, what: str, target: str, got: Optional[float], is_met: Optional[Check],
            sources: Sequence[str], unit: str = "", why: str = ABSENT) -> Target:
        """Make a row. It has no result if the library did not use the source of the case."""
        title = f"{case.title}: {what}"
        if got is None:
            return Target(title, target, why)
        if case.source and list(sources) != [case.source]:
            return Target(title, target, f"the library read by {read_by(sources)}")
        return Target(title, target, figure(got) + unit, is_met(got) if is_met else None,
                      column=CONTENDERS[case.contender].what, read_by=read_by(sources))

    def paces(self) -> Iterator[Target]:
        for scenario in paced.FULL:
            if scenario.at_most is None:
                continue
            ours = CONTENDERS[scenario.compared]
            got = paced.times(self.bench, scenario, ours.name, scenario.floor.name)
            yield Target(f"{scenario.title}, each {scenario.interval_ms} ms: cost, times the floor",
                         f"at most {scenario.at_most:.2f}",
                         ABSENT if got is None else figure(got),
                         got <= scenario.at_most if got is not None else None,
                         column=ours.what)

    def shares(self) -> Iterator[Target]:
        for scenario in paced.FULL:
            if scenario.share_at_most is not None:
                yield self.paced_row(scenario, "percent of one CPU",
                                     f"at most {scenario.share_at_most:g} %",
                                     paced.share(self.bench, scenario, "rtrack"),
                                     at_most(scenario.share_at_most), " %")
            if scenario.clocks_at_least is not None:
                yield self.paced_row(scenario, "cheaper than a CPU clock of each, times",
                                     f"at least {scenario.clocks_at_least:g}",
                                     paced.times(self.bench, scenario, "floor clock", "rtrack"),
                                     at_least(scenario.clocks_at_least))

    def paced_row(self, scenario: paced.Paced, what: str, target: str, got: Optional[float],
                  is_met: Check, unit: str = "") -> Target:
        found = self.bench.results.get((scenario.key, "rtrack"))
        return Target(f"{scenario.title}, each {scenario.interval_ms} ms, once warm: {what}",
                      target, ABSENT if got is None else figure(got) + unit,
                      is_met(got) if got is not None else None, column=CONTENDERS["rtrack"].what,
                      read_by=read_by(found.sources) if found else "-")

    def floors(self) -> Iterator[Target]:
        for case, floor, bound in FLOORS:
            what = f"cost, times the {'floor of what has run' if floor != 'floor' else 'floor'}"
            got = self.ratio(case.key, case.contender, floor)
            yield self.row(case, what, f"at most {bound:.2f}" if bound else "-", got,
                           at_most(bound) if bound else None, self.sources(case))

    def gpus(self) -> Iterator[Target]:
        for case in GPU:
            yield self.row(case, "cost, times that without", f"at most {WITH_GPU:.2f}",
                           self.ratio(case.key, case.contender, "rtrack"), at_most(WITH_GPU),
                           self.sources(case))

    def faster(self) -> Iterator[Target]:
        for case, bounds in FASTER:
            for peer, bound in zip(PEERS, bounds):
                if bound is not None:
                    found = self.row(case, f"times faster than {peer}", f"at least {bound:g}",
                                     self.ratio(case.key, peer, case.contender), at_least(bound),
                                     self.sources(case),
                                     why="not in Debian" if peer == "resource-tracker" else ABSENT)
                    yield dataclasses.replace(
                        found, floor=cell(self.ratio(case.key, peer, self.floor_of(case))))

    @staticmethod
    def floor_of(case: Case) -> str:
        return next((floor for one, floor, _ in FLOORS if one == case), "floor")

    def note(self, key: str, name: str) -> str:
        found = self.bench.results.get((key, name))
        return found.note if found else ""

    def needs(self) -> Iterator[Target]:
        yield from map(self.allocations, ALLOCATIONS)
        yield from map(self.memory, MEMORY)
        yield from map(self.start, STARTS)
        yield from map(self.first, FIRSTS)

    def allocations(self, case: Case) -> Target:
        use = self.bench.uses.get((case.key, case.contender))
        return self.row(case, "allocations per sample", "0", use.allocations if use else None,
                        lambda got: got == 0, use.sources if use else [])

    def memory(self, case: Case) -> Target:
        measured = self.bench.results.get((case.key, case.contender))
        has_both = measured and measured.rss_kib and measured.empty_kib
        mib = (measured.rss_kib - measured.empty_kib) / 1024 if has_both else None
        return self.row(case, "resident memory above that of an empty program", "under 2 MB", mib,
                        lambda got: got < 2, self.sources(case), " MB")

    def start(self, case: Case) -> Target:
        use = self.bench.uses.get((case.key, case.contender))
        ms = statistics.median(use.first_ns) / 1e6 if use and use.first_ns else None
        return self.row(case, "from the start of the program to the first sample", "under 2 ms", ms,
                        lambda got: got < 2, [], " ms")

    def first(self, case: Case) -> Target:
        use, floor = (self.bench.uses.get((case.key, one)) for one in (case.contender, "floor"))
        ms = statistics.median(use.first_cpu_ns) / 1e6 if use and use.first_cpu_ns else None
        found = self.row(case, "CPU time up to the first sample", f"at most {FIRST_MS} ms", ms,
                         at_most(FIRST_MS), [], " ms")
        if not floor or not floor.first_cpu_ns:
            return found
        raw = statistics.median(floor.first_cpu_ns) / 1e6
        return dataclasses.replace(found, floor=f"{figure(raw)} ms")

    def start_ms(self, way: str) -> Optional[float]:
        has_times = bool(self.commands.start_ms.get(way))
        return commands.over_bare_ms(self.commands.start_ms, way) if has_times else None

    def overheads(self) -> Iterator[Target]:
        gnu_time = self.start_ms(commands.GNU_TIME)
        for method in commands.METHODS:
            got = self.start_ms(method)
            bound = {"auto": AUTO_START_MS, "poll": gnu_time}.get(method)
            yield Target(f"`rtrack run --accounting {method} -- true`: wall time over bare `true`",
                         f"at most {bound:+.2f} ms" if bound else "-",
                         f"{got:+.2f} ms" if got is not None else ABSENT,
                         got <= bound if got is not None and bound else None,
                         floor=f"{gnu_time:+.2f} ms" if gnu_time else "-")
        for method in commands.METHODS:
            if method != "auto":
                yield self.slow_down(method, "wall", self.commands.storm_ms,
                                     1 if method in ("wait", "bpf") else None)
        for method in ("wait", "bpf"):
            yield self.slow_down(method, "CPU", self.commands.storm_cpu_ms, 1)
        for method, shares in self.commands.fork_share.items():
            yield self.forks(method, shares)

    @staticmethod
    def forks(method: str, shares: Sequence[float]) -> Target:
        what = f"{commands.FORKS_PER_S} forks a second at `{method}`: CPU time of rtrack"
        got = statistics.median(shares)
        is_goal = method in ("wait", "bpf")
        return Target(what, "under 1 %" if is_goal else "-", f"{got:.1f} %",
                      got < 1 if is_goal else None)

    @staticmethod
    def slow_down(method: str, kind: str, times: Dict[str, List[float]],
                  bound: Optional[float]) -> Target:
        what = f"storm of short programs at `{method}`: more {kind} time than bare"
        target = f"at most {bound} %" if bound else "-"
        if not times.get(method):
            return Target(what, target, ABSENT)
        got, low, high = commands.slow_down(times, method)
        result = f"{got:+.1f} % ({low:+.1f} to {high:+.1f})"
        if bound is None:
            return Target(what, target, result)
        # If the confidence bounds contain the target, the result is unclear.
        is_met = True if high <= bound else False if low > bound else None
        return Target(what, target, result, is_met, "unclear")

    def all(self) -> List[Target]:
        return [
            *self.paces(), *self.shares(), *self.floors(), *self.gpus(), *self.needs(),
            *self.faster(), *self.overheads()]
