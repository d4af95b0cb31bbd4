# SPDX-License-Identifier: MIT
"""The rule for one figure: its value, its mark and its bounds against the truth. Pure.

  mark        above the truth         below the truth
  valid       wrong                   wrong
  partial     wrong                   right: it is a lower bound
  estimated   right within a share    right within a share
  unmarked    wrong, with any value

All but the last have a slack: 0.1 % of the truth, and what the figure resolves. The bounds of a
figure hold its value and the truth, whatever its mark."""
from __future__ import annotations

from typing import Iterator, NamedTuple, Optional

VALID, PARTIAL, ESTIMATED, UNMARKED = "valid", "partial", "estimated", "unmarked"
TOLERANCE = 0.001


class Reading(NamedTuple):
    """What a tool says of one figure. None: it says nothing."""

    value: Optional[float]
    mark: str = VALID
    low: Optional[float] = None
    high: Optional[float] = None


class Truth(NamedTuple):
    """The truth lies from low to high. E.g.: a program knows that it touched 200 MiB, and that its
    own code and stacks add 2 MiB at most."""

    low: float
    high: float


class Limits(NamedTuple):
    """How far a figure may be off."""

    # The smallest step that the figure can show, in its own unit.
    resolution: float = 0
    # What no account has of it, in its own unit: the figure may be so much lower, never higher.
    unaccounted: float = 0
    # Share of the truth that a valid or partial figure may be off.
    tolerance: float = TOLERANCE
    # Share of the truth that an estimated figure may be off.
    estimate: float = 0.15

    def slack(self, truth: float) -> float:
        return self.tolerance * truth + self.resolution


def is_above(value: float, truth: Truth, limits: Limits) -> bool:
    return value > truth.high + limits.slack(truth.high)


def is_below(value: float, truth: Truth, limits: Limits) -> bool:
    return value < truth.low - limits.slack(truth.low) - limits.unaccounted


def is_estimate_off(value: float, truth: Truth, limits: Limits) -> bool:
    least = truth.low * (1 - limits.estimate) - limits.resolution
    most = truth.high * (1 + limits.estimate) + limits.resolution
    return not least <= value <= most


def problems_of_bounds(reading: Reading, truth: Optional[Truth],
                       limits: Limits) -> Iterator[str]:
    value, low, high = reading.value, reading.low, reading.high
    if low is not None and value is not None and value < low:
        yield "the value is below its own lower bound"
    if high is not None and value is not None and value > high:
        yield "the value is above its own upper bound"
    if truth and low is not None and is_above(low, truth, limits):
        yield "the lower bound is above the truth"
    if truth and high is not None and is_below(high, truth, limits):
        yield "the upper bound is below the truth"


def problems_of_value(reading: Reading, truth: Truth, limits: Limits) -> Iterator[str]:
    value, mark = reading.value, reading.mark
    if value is None:
        return
    if mark == ESTIMATED:
        if is_estimate_off(value, truth, limits):
            yield f"estimated, but more than {100 * limits.estimate:g} % off"
        return
    if is_above(value, truth, limits):
        yield f"above the truth, and {mark}"
    if mark != PARTIAL and is_below(value, truth, limits):
        yield f"below the truth, and {mark}"


def problems_of_figure(name: str, reading: Reading, truth: Optional[Truth],
                       limits: Limits) -> Iterator[str]:
    """Yield each violated condition as text. truth None: only the figure itself is looked at."""
    found = []
    if reading.value is not None and reading.value < 0:
        found.append("negative")
    if reading.value is not None and reading.mark == UNMARKED:
        found.append("neither valid, partial nor estimated")
    found += problems_of_bounds(reading, truth, limits)
    if truth:
        found += problems_of_value(reading, truth, limits)
    for problem in found:
        yield f"{name}: {problem}: {describe(reading, truth)}"


def describe(reading: Reading, truth: Optional[Truth]) -> str:
    text = f"{number(reading.value)} {reading.mark}"
    if reading.low is not None or reading.high is not None:
        text += f" in [{number(reading.low)}, {number(reading.high)}]"
    if not truth:
        return text
    if truth.low == truth.high:
        return f"{text}, truth {number(truth.low)}"
    return f"{text}, truth {number(truth.low)} to {number(truth.high)}"


def number(value: Optional[float]) -> str:
    if value is None:
        return "unknown"
    return f"{value:.6f}" if isinstance(value, float) else str(value)
