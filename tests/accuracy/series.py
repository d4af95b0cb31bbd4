# SPDX-License-Identifier: MIT
"""The rows of a series (`rtrack run -o FILE --format jsonl`) against phases of known memory."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

from figures import ESTIMATES, mark_in
from rule import ESTIMATED, PARTIAL, VALID, Limits, Reading, Truth, problems_of_figure
from runner import Phase, Result

Row = Dict[str, Any]

# A row has a time within its sample: that of its account, which is read before or after the memory.
SAMPLE_NS = 100_000_000
# Members are read one after another, so a valid sum is that of a moment only if they hold still.
VALID_TOLERANCE = 0.02
RESOLUTION = 64 * 1024


def phase_of(row: Row, phases: Sequence[Phase]) -> Optional[Phase]:
    """Return the phase in which the whole sample was taken, or None if it was between phases."""
    at = round(row["monotonic_seconds"] * 1e9)
    return next((phase for phase in phases
                 if phase.begin_ns <= at - SAMPLE_NS and at + SAMPLE_NS <= phase.end_ns), None)


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
    """Yield each row that lies in a phase."""
    for row in result.rows:
        phase = phase_of(row, result.phases)
        if phase:
            found = list(problems_of_row(row, phase.truth, result.workload.kind))
            yield JudgedRow(row, phase.truth, found)


def problems_of_series(result: Result) -> Iterator[str]:
    """Yield the first problem of the rows, and how many rows have one."""
    judged = list(judged_rows(result))
    wrong = [row for row in judged if row.problems]
    if wrong:
        yield f"{wrong[0].problems[0]}; {len(wrong)} of {len(judged)} rows are wrong"
