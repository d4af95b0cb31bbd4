# SPDX-License-Identifier: MIT
"""The rows of a series (`rtrack run -o FILE --format jsonl`) against phases of known memory."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

from figures import ESTIMATES, mark_in
from rule import ESTIMATED, PARTIAL, VALID, Limits, Reading, Truth, problems_of_figure
from runner import Phase, Result

Row = Dict[str, Any]

# Members are read one after another, so a valid sum is that of a moment only if they hold still.
VALID_TOLERANCE = 0.02
RESOLUTION = 64 * 1024


def time_ns(row: Row) -> int:
    return round(row["monotonic_seconds"] * 1e9)


def phase_of(before: Row, after: Row, phases: Sequence[Phase]) -> Optional[Phase]:
    """Return the phase in which a whole sample was taken, or None if it was between phases.

    The time of a row is one within its sample, which may take long on a busy system. So the sample
    is known to lie between the times of the rows before and after it."""
    return next((phase for phase in phases
                 if phase.begin_ns <= time_ns(before) and time_ns(after) <= phase.end_ns), None)


def reading_of_row(row: Row) -> Reading:
    lists = ((ESTIMATED, row.get("estimated", ())), (PARTIAL, row.get("partial", ())),
             (VALID, row.get("valid")))
    return Reading(row["footprint_bytes"], mark_in(("footprint_bytes", "footprint"), lists),
                   row.get("footprint_low_bytes"), row.get("footprint_high_bytes"))


def problems_of_row(row: Row, truth: Truth, kind: str) -> Iterator[str]:
    reading = reading_of_row(row)
    limits = Limits(RESOLUTION, tolerance=VALID_TOLERANCE, estimate=ESTIMATES[kind])
    yield from problems_of_figure("footprint_bytes of a row", reading, truth, limits)


class JudgedRow(NamedTuple):
    row: Row
    truth: Truth
    problems: List[str]


def judged_rows(result: Result) -> Iterator[JudgedRow]:
    """Yield each row with a sample that lies in a phase."""
    for before, row, after in zip(result.rows, result.rows[1:], result.rows[2:]):
        phase = phase_of(before, after, result.phases)
        if phase:
            found = list(problems_of_row(row, phase.truth, result.workload.kind))
            yield JudgedRow(row, phase.truth, found)


def problems_of_series(result: Result) -> Iterator[str]:
    """Yield the first problem of the rows, and how many rows have one."""
    judged = list(judged_rows(result))
    wrong = [row for row in judged if row.problems]
    if wrong:
        yield f"{wrong[0].problems[0]}; {len(wrong)} of {len(judged)} rows are wrong"
