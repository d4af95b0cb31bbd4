# SPDX-License-Identifier: MIT
"""Follow a process and its descendants, as a user of the Python binding does.

Usage: follower.py PID INTERVAL POLL
Takes a sample each INTERVAL seconds and a peak poll each POLL seconds. For each line on standard
input it takes a sample, and prints all figures as a line of JSON, with "marks" by name. Ends with
its input. PYTHONPATH leads to the binding, and RTRACK_LIBRARY to the library."""
from __future__ import annotations

import json
import os
import select
import sys
import time
from typing import Any, Dict

import rtrack


def mark_of(metrics: rtrack.Metrics, name: str) -> str:
    raw, has = metrics._raw, metrics._has[name]
    for mark in ("estimated", "partial", "valid"):
        if getattr(raw, mark) & has:
            return mark
    return "unmarked"


def take_sample(tracker: rtrack.PidTracker) -> rtrack.Metrics:
    try:
        return tracker.sample()
    except rtrack.Ended as ended:
        return ended.metrics


def figures_of(metrics: rtrack.Metrics) -> Dict[str, Any]:
    figures = {name: value for name, value in metrics.as_dict().items()
               if isinstance(value, (int, type(None)))}
    return {**figures, "marks": {name: mark_of(metrics, name) for name in figures}}


def main() -> None:
    pid, interval, poll = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    with rtrack.PidTracker(pid) as tracker:
        print("ready", flush=True)
        due, has_ended = time.monotonic() + interval, False
        while True:
            if select.select([0], [], [], poll)[0]:
                if not os.read(0, 4096):
                    return
                print(json.dumps(figures_of(take_sample(tracker))), flush=True)
            elif has_ended:
                continue
            elif time.monotonic() >= due:
                due = time.monotonic() + interval
                take_sample(tracker)
            else:
                try:
                    tracker.glance()
                except ProcessLookupError:
                    has_ended = True


if __name__ == "__main__":
    main()
