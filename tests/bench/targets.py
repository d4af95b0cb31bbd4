# SPDX-License-Identifier: MIT
"""What the costs should be, and whether they are."""
from __future__ import annotations

import dataclasses
import statistics
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

import commands
from commands import Commands
from measure import Bench, ratio

ABSENT = "not measured"


@dataclasses.dataclass(frozen=True)
class Target:
    what: str
    target: str
    result: str
    is_met: Optional[bool] = None
    otherwise: str = "-"

    @property
    def verdict(self) -> str:
        return {True: "met", False: "missed", None: self.otherwise}[self.is_met]


ONE, ONE_PSS = "pid-tree-1-plain-active-100", "pid-tree-1-pss-active-100"
IDLE = "pid-tree-1-plain-hot"
ALL, ALL_PSS = "tree-tree-1000-plain-active-100", "tree-tree-1000-pss-active-100"
FEW, FEW_PSS = "tree-tree-1000-plain-active-5", "tree-tree-1000-pss-active-5"
SYSTEM = "system-plain-hot"
AT_FLOOR = 1.10

# What is sampled, its scenario, which of ours, and which floor.
FLOORS: Sequence[Tuple[str, str, str, str]] = (
    ("one process that ran", ONE, "rtrack", "floor"),
    ("one process that ran, PSS", ONE_PSS, "rtrack each", "floor"),
    ("1000 processes, all ran", ALL, "rtrack", "floor"),
    ("1000 processes, all ran, PSS", ALL_PSS, "rtrack each", "floor"),
    ("1000 processes, 5 % ran", FEW, "rtrack", "floor changed"),
    ("1000 processes, 5 % ran, PSS of those", FEW_PSS, "rtrack each", "floor changed"),
    ("the machine", SYSTEM, "rtrack", "floor"),
)

# What is sampled, its scenario, which of ours, and how many times faster than psutil, libproc2 and resource-tracker.
FASTER: Sequence[Tuple[str, str, str, Sequence[Optional[float]]]] = (
    ("one process that ran", ONE, "rtrack", (12, 9, None)),
    ("one process that ran, PSS", ONE_PSS, "rtrack each", (3, 2, 8)),
    ("1000 processes, PSS each sample", ALL_PSS, "rtrack each", (3.5, 1.5, 2.5)),
    ("1000 processes, 5 % ran, PSS of those", FEW_PSS, "rtrack each", (50, 25, 35)),
    ("1000 processes, text", ALL, "rtrack", (11, 4, None)),
    ("1000 processes, BPF", ALL, "rtrack", (150, 55, None)),
    ("the machine (libproc2 without network)", SYSTEM, "rtrack", (6, 1.3, 15)),
)
PEERS = ("psutil", "libproc2", "resource-tracker")


def figure(value: float) -> str:
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


class Targets:
    def __init__(self, bench: Bench, measured: Commands) -> None:
        self.bench, self.commands = bench, measured

    def ratio(self, key: str, a: str, b: str) -> Optional[float]:
        found = [self.bench.results.get((key, name)) for name in (a, b)]
        if not found[0] or not found[1]:
            return None
        return ratio(found[0].cpu_ns, found[1].cpu_ns)

    def floors(self) -> Iterator[Target]:
        for what, key, ours, floor in FLOORS:
            got = self.ratio(key, ours, floor)
            yield Target(f"{what}: cost, times the {'floor of what has run' if floor != 'floor' else 'floor'}",
                         f"at most {AT_FLOOR:.2f}", figure(got) if got else ABSENT, got <= AT_FLOOR if got else None)

    def faster(self) -> Iterator[Target]:
        for what, key, ours, bounds in FASTER:
            for peer, bound in zip(PEERS, bounds):
                if bound is not None:
                    yield self.faster_than(what, key, ours, peer, bound)

    def faster_than(self, what: str, key: str, ours: str, peer: str, bound: float) -> Target:
        got, why = self.ratio(key, peer, ours), ABSENT
        used_bpf = ours in ("rtrack",) and "source:bpf" in self.note(key, ours)
        if peer == "resource-tracker":
            why = "not in Debian"
        elif what.endswith(("text", "BPF")) and used_bpf != what.endswith("BPF"):
            got, why = None, "the library has read by BPF" if used_bpf else "the library has read text"
        return Target(f"{what}: times faster than {peer}", f"at least {bound:g}", figure(got) if got else why,
                      got >= bound if got else None)

    def note(self, key: str, name: str) -> str:
        found = self.bench.results.get((key, name))
        return found.note if found else ""

    def needs(self) -> Iterator[Target]:
        uses = {key: use for (key, name), use in self.bench.uses.items() if name == "rtrack"}
        for key, what in ((IDLE, "one process"), ("tree-tree-100-plain-hot", "100 processes"), (SYSTEM, "the machine")):
            got = uses[key].allocations if key in uses else None
            yield Target(f"{what}: allocations per sample", "0", figure(got) if got is not None else ABSENT,
                         got == 0 if got is not None else None)
        for key, what in ((ONE, "one process"), (ALL, "1000 processes"), (SYSTEM, "the machine")):
            measured = self.bench.results.get((key, "rtrack"))
            kib = measured.rss_kib if measured else None
            yield Target(f"{what}: resident memory", "under 2 MB", f"{kib / 1024:.2f} MB" if kib else ABSENT,
                         kib < 2048 if kib else None)
        for key, what in ((IDLE, "one process"), (SYSTEM, "the machine")):
            starts = uses[key].first_ns if key in uses else []
            got = statistics.median(starts) / 1e6 if starts else None
            yield Target(f"{what}: from the start of the program to the first sample", "under 2 ms",
                         f"{got:.2f} ms" if got else ABSENT, got < 2 if got else None)

    def overheads(self) -> Iterator[Target]:
        for rung in commands.RUNGS:
            got = commands.over_bare_ms(self.commands, rung) if self.commands.start_ms.get(rung) else None
            yield Target(f"`rtrack run --accounting {rung} -- true`: wall time over bare `true`", "at most 2 ms",
                         f"{got:+.2f} ms" if got is not None else ABSENT, got <= 2 if got is not None else None)
        for rung in commands.RUNGS:
            if rung != "auto":
                yield self.slow_down(rung, "wall", self.commands.storm_ms, 1 if rung == "wait" else None)
        yield self.slow_down("wait", "CPU", self.commands.storm_cpu_ms, None)
        peak = commands.supervisor_peak_kib(self.commands)
        yield Target("peak memory of rtrack-supervisor", "at most 2 MB", f"{peak / 1024:.2f} MB" if peak else ABSENT,
                     peak <= 2048 if peak else None)

    @staticmethod
    def slow_down(rung: str, kind: str, times: Dict[str, List[float]], bound: Optional[float]) -> Target:
        what = f"storm of short programs at `{rung}`: more {kind} time than bare"
        target = f"at most {bound} %" if bound else "-"
        if not times.get(rung):
            return Target(what, target, ABSENT)
        got, low, high = commands.slow_down(times, rung)
        result = f"{got:+.1f} % ({low:+.1f} to {high:+.1f})"
        if bound is None:
            return Target(what, target, result)
        # What the noise leaves open stays open.
        is_met = True if high <= bound else False if low > bound else None
        return Target(what, target, result, is_met, "unclear")

    def all(self) -> List[Target]:
        return [*self.floors(), *self.needs(), *self.faster(), *self.overheads()]
