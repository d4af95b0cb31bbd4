# SPDX-License-Identifier: MIT
"""Faults of the library that are known and not mended yet. The test reports them as TODO instead of
failing. Remove an entry with its fault. run.sh makes no exceptions."""
from __future__ import annotations

from typing import NamedTuple, Optional


class Known(NamedTuple):
    # The accounting method, or nothing for all.
    method: str
    # How the problem begins.
    problem: str
    reason: str


POLL_SUM = "of the final parts, each less the one that was sampled, those below 0 are dropped"

KNOWN_FAULTS = (
    Known("poll", "cpu_seconds: above the truth", POLL_SUM),
    Known("poll", "cpu_seconds: the lower bound is above the truth", POLL_SUM),
)


def reason_of(method: str, problem: str) -> Optional[str]:
    """Return why a problem is known, or None if it is not."""
    return next((known.reason for known in KNOWN_FAULTS
                 if known.method in ("", method) and problem.startswith(known.problem)), None)
