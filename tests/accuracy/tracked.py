# SPDX-License-Identifier: MIT
"""Run a command and follow it by a tracker with default options, as a user of the Python binding
does: tracked.py FILE INTERVAL COMMAND...

The command starts once the tracker has taken its first sample. The tracker samples it each INTERVAL
seconds until it has ended. Writes the figures to FILE as JSON, in the form of a summary.
PYTHONPATH leads to the binding, and RTRACK_LIBRARY to the library."""
from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import Any, Dict, List, Tuple

import rtrack

PATIENCE_S = 60.0
AFTER_END_S = 0.05  # between samples once the command itself has ended
DOMAINS = {"cpu": rtrack.HAS_CPU, "io": rtrack.HAS_IO, "faults": rtrack.HAS_FAULTS,
           "context_switches": rtrack.HAS_CTXSW, "peak_rss": rtrack.HAS_PEAK_RSS,
           "processes": rtrack.HAS_PROCESSES_SEEN}


def start(words: List[str]) -> int:
    """Start the command as a child that waits for SIGUSR1. Its handlers are the default ones."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    pid = os.fork()
    if pid == 0:
        signal.sigwait([signal.SIGUSR1])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
        os.execv(words[0], words)
    return pid


def take_sample(tracker: rtrack.PidTracker) -> Tuple[rtrack.Metrics, bool]:
    try:
        return tracker.sample(), False
    except rtrack.Ended as ended:
        return ended.metrics, True


def wait_for(descriptor: int, due: float) -> bool:
    """Wait until a process ends, or that time has come. Returns whether it has ended."""
    timeout = max(0.0, due - time.monotonic())
    return bool(select.select([descriptor], [], [], timeout)[0])


def follow(tracker: rtrack.PidTracker, pid: int, interval: float) -> rtrack.Metrics:
    """Sample until all have ended, and as soon as the command has."""
    end = time.monotonic() + PATIENCE_S
    pidfd = os.pidfd_open(pid)
    metrics, has_ended = take_sample(tracker)
    while not has_ended and time.monotonic() < end:
        if wait_for(pidfd, time.monotonic() + interval):
            interval = min(interval, AFTER_END_S)
        metrics, has_ended = take_sample(tracker)
        if not has_ended and wait_for(pidfd, 0):
            time.sleep(interval)
    os.close(pidfd)
    return metrics


def summary(metrics: rtrack.Metrics) -> Dict[str, Any]:
    cpu_user, cpu_system = metrics.cpu_user_ns or 0, metrics.cpu_system_ns or 0
    return {
        "cpu_user_seconds": cpu_user / 1e9, "cpu_system_seconds": cpu_system / 1e9,
        "cpu_seconds": (cpu_user + cpu_system) / 1e9,
        "write_bytes": metrics.write_bytes, "minor_faults": metrics.minor_faults,
        "peak_rss_bytes": metrics.peak_rss_bytes, "processes": metrics.processes_seen,
        "reasons": [name for name in dir(rtrack) if name.startswith("REASON_")
                    and metrics.reasons & getattr(rtrack, name)],
        **{mark: [name for name, has in DOMAINS.items() if getattr(metrics._raw, mark) & has]
           for mark in ("valid", "partial", "estimated")}}


def main() -> int:
    out, interval, words = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    pid = start(words)
    with rtrack.PidTracker(pid) as tracker:
        take_sample(tracker)
        os.kill(pid, signal.SIGUSR1)
        last = follow(tracker, pid, interval)
    with open(out, "w") as file:
        json.dump(summary(last), file)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255


if __name__ == "__main__":
    sys.exit(main())
