# SPDX-License-Identifier: MIT
"""Measure what a traced call of getrusage costs: untraced, by ptrace, and under strace.

Usage: traces.py [--quick]
The ways take turns, so that a busy system disturbs all alike. Prints the median of each. --quick
reports each way as a test (TAP), which fails only if it cannot run or events do not add up."""
from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from typing import Dict, List

from contenders import LIMIT_S, PROGRAMS

CALLS = str(PROGRAMS / "bench-calls")
TRACE = str(PROGRAMS / "bench-traced-calls")
UNAVAILABLE = 125
UNTRACED = "untraced"
"""The first way, which the others are compared with."""


def ways(count: int) -> Dict[str, List[str]]:
    """Return the command of each way. Those of this library print a second line."""
    found = {UNTRACED: [CALLS, str(count)], "ptrace": [TRACE, "ptrace", CALLS, str(count)]}
    strace = shutil.which("strace")
    if strace:
        quiet = [strace, "-f", "-o", "/dev/null", "-e", "trace=getrusage"]
        found["strace"] = [*quiet, CALLS, str(count)]
        found["strace --seccomp-bpf"] = [*quiet, "--seccomp-bpf", CALLS, str(count)]
    return found


def measure_ns(argv: List[str], count: int) -> float:
    """Run one way. Returns the nanoseconds of a call. Raises if events do not add up."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S,
                          text=True)
    if done.returncode != 0:
        raise AssertionError(f"{argv} returned {done.returncode}: {done.stderr}")
    call_ns, *totals = done.stdout.splitlines()
    for line in totals:
        if sum(map(int, line.split())) != count:
            raise AssertionError(f"{argv}: {line} are not {count} events")
    return float(call_ns)


def measure(count: int, rounds: int) -> Dict[str, List[float]]:
    commands = ways(count)
    found: Dict[str, List[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            found[name].append(measure_ns(argv, count))
    return found


def lines(found: Dict[str, List[float]]) -> List[str]:
    bare_ns = statistics.median(found[UNTRACED])
    return [
        f"{name:22}{statistics.median(times):9.0f} ns a call"
        f"{statistics.median(times) - bare_ns:+9.0f} ns, best {min(times):.0f}"
        for name, times in found.items()
    ]


def main() -> int:
    is_quick = sys.argv[1:] == ["--quick"]
    check = subprocess.run([TRACE, "ptrace", CALLS, "1"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=LIMIT_S, text=True)
    if check.returncode == UNAVAILABLE:
        print(f"1..0 # SKIP {check.stderr.strip()}")
        return 0
    found = measure(2000 if is_quick else 100000, 2 if is_quick else 9)
    for line in lines(found):
        print(f"# {line}" if is_quick else line)
    if is_quick:
        for number, name in enumerate(found, 1):
            print(f"ok {number} - {name}")
        print(f"1..{len(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
