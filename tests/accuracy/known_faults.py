# SPDX-License-Identifier: MIT
"""Faults that are known and not mended yet. The test reports them as TODO instead of failing.

Remove an entry with the fault. run.sh knows no exceptions."""
from __future__ import annotations

from typing import Dict, Optional

# The beginning of a problem, and the reason.
KNOWN_FAULTS: Dict[str, str] = {
    "peak_tree_bytes: the value is below its own lower bound":
        "the lower bound is resident memory, the value proportional memory",
}


def reason_of(problem: str) -> Optional[str]:
    """Return why a problem is known, or None if it is not."""
    return next((reason for begin, reason in KNOWN_FAULTS.items() if problem.startswith(begin)),
                None)
