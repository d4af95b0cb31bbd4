# SPDX-License-Identifier: MIT
"""The scenarios: what is sampled, how, and by which contenders."""
from __future__ import annotations

import dataclasses
from typing import List, Optional, Sequence, Tuple

from contenders import (FLOOR, FLOOR_CHANGED, FLOOR_STAT, LIBPROC2, PIDSTAT, PSUTIL, RTRACK,
                        RTRACK_EACH, RTRACK_GPU, RTRACK_TEXT, SAR, Contender)

SIZES = (10, 100, 1000, 4000)
TEXT_FROM = 100
"""The least number of processes of a tree for which text alone is a contender."""
HOT, ACTIVE, COLD = "hot", "active", "cold"

SubjectSpec = Optional[Tuple[str, int]]


@dataclasses.dataclass(frozen=True)
class Scenario:
    title: str
    subject: SubjectSpec
    kind: str
    with_pss: bool
    mode: str = HOT
    percent: int = 0
    """The share of the members that run briefly before each sample."""
    percent_before: int = 0
    """The share that runs before each sample of a first warm-up only."""
    only_ours: bool = False
    """Leave the other tools out: another scenario has their figure already."""

    @property
    def key(self) -> str:
        """Its name in the JSON."""
        parts = [self.kind, *(map(str, self.subject) if self.subject else ()),
                 "pss" if self.with_pss else "plain", self.mode,
                 *([str(self.percent)] if self.percent else []),
                 *(["after", str(self.percent_before)] if self.percent_before else [])]
        return "-".join(parts)

    @property
    def running(self) -> int:
        """The number of members besides the root that run before a sample; 1 for one process."""
        if not self.percent or not self.subject:
            return 0
        return max(self.subject[1] * self.percent // 100, 1)

    @property
    def runs(self) -> int:
        """The number of processes that run before each sample."""
        if not self.percent or not self.subject:
            return 0
        return min(self.running, self.subject[1] - 1) + 1 if self.subject[0] == "tree" else 1

    @property
    def warm_ups(self) -> List[Scenario]:
        before = dataclasses.replace(self, mode=ACTIVE, percent=self.percent_before,
                                     percent_before=0)
        return [before, self] if self.percent_before else [self]

    @property
    def has_text(self) -> bool:
        """Whether text alone is measured too, to show what BPF saves."""
        kind, size = self.subject or ("", 0)
        is_large = kind == "tree" and size >= TEXT_FROM
        return is_large and not self.with_pss and self.mode != COLD

    @property
    def has_gpu(self) -> bool:
        """Whether GPUs that no process uses are measured too."""
        return self.has_text and self.subject == ("tree", SINCE_SIZE) and not self.only_ours

    @property
    def contenders(self) -> Sequence[Contender]:
        if self.kind == "system":
            return [RTRACK, FLOOR, LIBPROC2, PSUTIL, *([SAR] if self.mode == HOT else [])]
        found: List[Contender] = [RTRACK]
        found += [RTRACK_TEXT] if self.has_text else []
        found += [RTRACK_EACH] if self.with_pss else []
        found += [RTRACK_GPU] if self.has_gpu else []
        found += [FLOOR, *([FLOOR_STAT] if self.mode != COLD and not self.only_ours else [])]
        found += [FLOOR_CHANGED] if self.kind == "tree" else []
        if self.only_ours:
            return found
        found += [LIBPROC2, PSUTIL]
        return found + ([PIDSTAT] if self.mode == HOT and not self.with_pss else [])


def both(title: str, subject: SubjectSpec, kind: str, mode: str = HOT,
         percent: int = 0) -> List[Scenario]:
    """Return the scenario without and with PSS."""
    return [Scenario(title, subject, kind, with_pss, mode, percent) for with_pss in (False, True)]


ONE = ("tree", 1)
"""One process with little memory, as most processes are."""


SINCE_SIZE = 1000
SINCE = Scenario(f"{SINCE_SIZE} processes, idle since all ran", ("tree", SINCE_SIZE), "tree", False,
                 percent_before=100, only_ours=True)
"""An idle tree that was read often enough before for the library to use BPF."""


def of_tree(size: int) -> List[Scenario]:
    spec = ("tree", size)
    found = both(f"{size} processes, idle", spec, "tree")
    if size == SINCE_SIZE:
        found.append(SINCE)
    found += both(f"{size} processes, 5 % ran", spec, "tree", ACTIVE, 5)
    return found + both(f"{size} processes, all ran", spec, "tree", ACTIVE, 100)


THREADS = ("threads", 1000)
SYSTEM = Scenario("the system", None, "system", False)

FULL: List[Scenario] = [
    *both("one process, idle", ONE, "pid"),
    *both("one process that ran", ONE, "pid", ACTIVE, 100),
    *both("one process of 1000 threads that ran", THREADS, "pid", ACTIVE, 100),
    *both("one process of 1000 threads that ran, as a tree", THREADS, "tree", ACTIVE, 100),
    *both("one process of 1 GB in pages of 4 KB that ran", ("memory", 1024), "pid", ACTIVE, 100),
    *(one for size in SIZES for one in of_tree(size)),
    SYSTEM,
    *both("one process that ran", ONE, "pid", COLD, 100),
    *both("100 processes, 5 % ran", ("tree", 100), "tree", COLD, 5),
    *both("1000 processes, 5 % ran", ("tree", 1000), "tree", COLD, 5),
    Scenario("the system", None, "system", False, COLD),
]

SHORT = {
    one.key
    for one in (
        Scenario("", ONE, "pid", False, ACTIVE, 100),
        *(Scenario("", ("tree", size), "tree", with_pss, ACTIVE, 5) for size in (100, 1000)
          for with_pss in (False, True)),
        SYSTEM,
    )}
"""The scenarios of the short table."""

QUICK: List[Scenario] = [
    *both("one process that ran", ONE, "pid", ACTIVE, 100),
    *both("10 processes, idle", ("tree", 10), "tree"),
    Scenario("100 processes, 5 % ran", ("tree", 100), "tree", True, ACTIVE, 5),
    Scenario("100 processes, all ran", ("tree", 100), "tree", False, ACTIVE, 100),
    SYSTEM,
    Scenario("one process that ran", ONE, "pid", False, COLD, 100),
]

SMALL_USES: List[Scenario] = [
    Scenario("one process, idle", ONE, "pid", False),
    Scenario("100 processes, idle", ("tree", 100), "tree", False),
    SYSTEM,
]


def all_ran_by_us(size: int, with_pss: bool = False) -> Scenario:
    return Scenario(f"{size} processes, all ran", ("tree", size), "tree", with_pss, ACTIVE, 100,
                    only_ours=True)


USES: List[Scenario] = [*SMALL_USES, all_ran_by_us(1000), all_ran_by_us(1000, True)]
"""The scenarios with measured allocations and start."""
QUICK_USES: List[Scenario] = [*SMALL_USES, all_ran_by_us(100), all_ran_by_us(100, True)]
