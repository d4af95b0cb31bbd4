# SPDX-License-Identifier: MIT
"""The rule for the figures of footprint.py. Pure.

A figure is right by its mark, as in rule.py, and, whatever the mark is, within a share of the
truth: "at least 4 KiB" is no footprint."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Sequence

from figures import Figure
from rule import ESTIMATED, UNMARKED, Limits, Reading, Truth, problems_of_figure
from series import RESOLUTION

PARTS = ("anon", "shmem", "file", "hugetlb")
SWAP = "swap_bytes"
FOOTPRINT = Figure("footprint_bytes", (), 0, "footprint_low_bytes", "footprint_high_bytes")
NEEDED = Figure("needed_bytes", (), 0, "needed_low_bytes", "needed_high_bytes")
# What stands in for the footprint, to show that the bounds can fail.
STAND_INS = (
    Figure("pss_bytes", ()),
    Figure("rss_bytes", ()),
)
# Share of the truth that a valid figure of a tree that holds still may be off.
EXACT = 0.005


class Memory(NamedTuple):
    """What a tree maps, each page frame once, in bytes."""

    anon: int
    shmem: int
    file: int
    hugetlb: int
    swap: int = 0

    @property
    def footprint(self) -> int:
        return self.anon + self.shmem + self.file + self.hugetlb

    @property
    def needed(self) -> int:
        return self.anon + self.shmem + self.hugetlb


def reading_in(figure: Figure, row: Dict[str, Any]) -> Reading:
    """row: what follower.py prints."""
    return Reading(row.get(figure.name), row["marks"].get(figure.name, UNMARKED),
                   row.get(figure.low), row.get(figure.high))


def limits_of(bound: float) -> Limits:
    return Limits(RESOLUTION, tolerance=EXACT, estimate=bound)


def problems_of_bytes(name: str, reading: Reading, truth: Truth, bound: float,
                      whole: int) -> Iterator[str]:
    """Yield what is wrong: by the rule for its mark; and, whatever that is, if it is further off
    than the bound, which is a share of the whole."""
    if reading.value is None:
        yield f"{name}: unknown"
        return
    yield from problems_of_figure(name, reading, truth, limits_of(bound))
    slack = bound * whole + RESOLUTION
    if reading.mark != ESTIMATED and not (
            truth.low - slack <= reading.value <= truth.high + slack):
        yield f"{name}: more than {100 * bound:g} % off, and {reading.mark}: " \
              f"{reading.value}, truth {truth.low:.0f} to {truth.high:.0f}"


def problems_of_row(row: Dict[str, Any], truth: Memory, freed: int, bound: float,
                    figure: Figure = FOOTPRINT) -> Iterator[str]:
    """Yield what is wrong with a row of a stopped tree. freed: what the kernel may take back of the
    memory that is needed."""
    whole = truth.footprint
    yield from problems_of_bytes(figure.name, reading_in(figure, row), Truth(whole, whole), bound,
                                 whole)
    if figure is not FOOTPRINT:
        return
    needed = Truth(truth.needed - freed, truth.needed)
    yield from problems_of_bytes(NEEDED.name, reading_in(NEEDED, row), needed, bound, whole)
    for part in (*PARTS, "swap"):
        name = SWAP if part == "swap" else f"footprint_{part}_bytes"
        value, true = row.get(name), getattr(truth, part)
        if value is None or abs(value - true) > bound * (whole + truth.swap) + RESOLUTION:
            yield f"{name}: {value}, truth {true}"


def problems_of_truth(truth: Memory, known: Sequence[float], more: float) -> Iterator[str]:
    """Yield where the truth itself is wrong. known: what a program knows that it maps of each part;
    more: at most so much it has besides."""
    for part, bytes_known in zip((*PARTS, "swap"), known):
        value = getattr(truth, part)
        if not bytes_known * 0.995 <= value <= bytes_known * 1.005 + more:
            yield f"the truth is wrong: {part} {value}, known {bytes_known:.0f}"


def problems_of_spread(name: str, values: Sequence[float], most: float) -> Iterator[str]:
    if not values or min(values) <= 0:
        yield f"{name}: unknown"
    elif max(values) > min(values) * (1 + most):
        yield (f"{name}: {min(values):.0f} to {max(values):.0f}, "
               f"{100 * (max(values) / min(values) - 1):.1f} % apart")


def problems_of_order(name: str, values: Sequence[int]) -> Iterator[str]:
    """A peak never falls."""
    falls: List[str] = [f"{before} to {after}" for before, after in zip(values, values[1:])
                        if after < before]
    if falls:
        yield f"{name} falls: {falls[0]}"
