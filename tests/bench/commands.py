# SPDX-License-Identifier: MIT
"""Measure the cost of running a command under rtrack.

That is the start of the command, and the slowdown of a storm: many short programs in a row."""
from __future__ import annotations

import dataclasses
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import time
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from contenders import LIMIT_S, PROGRAMS, Skip, Record
from harness import BUILD

RTRACK = pathlib.Path(os.environ.get("RTRACK_INSTALLED", BUILD / "examples/rtrack/rtrack"))
"""Installed, as users run it; in the test suite, which installs nothing, that of the build."""
SUBJECT = PROGRAMS / "bench-subject"
METHODS = ("poll", "wait", "cgroup", "bpf", "auto")
BARE, AGAIN, GNU_TIME = "bare", "bare again", "GNU time"
STORMS = (BARE, AGAIN, "poll", "wait", "cgroup", "bpf")
"""The ways in which a storm is measured. auto is left out: it picks one of these."""
FORKS_PER_S = 5000
UNAVAILABLE = 125
LEAST_ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class Effort:
    starts: int
    storms: int
    """Rounds of storms."""
    spawns: int
    fork_storms: int
    """Rounds of forks without an exec."""


FULL = Effort(starts=150, storms=100, spawns=400, fork_storms=3)
QUICK = Effort(starts=10, storms=3, spawns=50, fork_storms=1)


@dataclasses.dataclass
class Commands:
    """Milliseconds for each way of starting, one entry per round.

    fork_share is the CPU time of rtrack and its supervisor in a storm of forks, in % of one CPU.
    peak_kib is the peak memory of rtrack in KiB."""

    start_ms: Dict[str, List[float]] = dataclasses.field(default_factory=dict)
    start_cpu_ms: Dict[str, List[float]] = dataclasses.field(default_factory=dict)
    storm_ms: Dict[str, List[float]] = dataclasses.field(default_factory=dict)
    storm_cpu_ms: Dict[str, List[float]] = dataclasses.field(default_factory=dict)
    fork_share: Dict[str, List[float]] = dataclasses.field(default_factory=dict)
    peak_kib: Optional[int] = None


def ways() -> Dict[str, List[str]]:
    """Return the words to put before a command, for each way of starting."""
    found: Dict[str, List[str]] = {BARE: [], AGAIN: []}
    gnu_time = shutil.which("time")
    if gnu_time:
        found[GNU_TIME] = [gnu_time]
    for method in METHODS:
        found[method] = [str(RTRACK), "run", "--accounting", method, "--"]
    return found


def start_ms(argv: Sequence[str], null: int) -> Tuple[float, float]:
    """Run a program. Returns its wall and CPU time, including those of what it started."""
    begin = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 2)])
    _, status, used = os.wait4(pid, 0)
    taken = time.perf_counter_ns() - begin
    if status != 0:
        raise AssertionError(f"{' '.join(argv)} returned {os.waitstatus_to_exitcode(status)}")
    return taken / 1e6, (used.ru_utime + used.ru_stime) * 1e3


def storm_ms(way: Sequence[str], spawns: int) -> Tuple[float, float]:
    """Run a storm. Returns its wall and CPU time, as the storm itself measures them."""
    done = subprocess.run([*way, str(SUBJECT), "storm", str(spawns)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LIMIT_S)
    if done.returncode != 0:
        raise AssertionError(
            f"storm under {way} returned {done.returncode}: {done.stderr.decode()}")
    wall, cpu = map(int, done.stdout.split())
    return wall / 1e6, cpu / 1e6


def fork_share(way: Sequence[str]) -> float:
    """Run a storm of forks. Returns the CPU time, in % of one CPU, that the storm itself has not
    used, but for what a command that ends at once takes. That is measured right before: to load
    BPF programs may take twice as long at one time as at another."""
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    _, start_cpu_ms = start_ms([*way, "/bin/true"], null)
    read_end, write_end = os.pipe()
    argv = [*way, str(SUBJECT), "fork-storm", str(FORKS_PER_S)]
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, write_end, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    os.close(write_end)
    os.close(null)
    with open(read_end, encoding="ascii") as output:
        wall, cpu = map(int, output.read().split())
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        raise AssertionError(f"{' '.join(argv)} returned {os.waitstatus_to_exitcode(status)}")
    return 100 * ((used.ru_utime + used.ru_stime) * 1e9 - cpu - start_cpu_ms * 1e6) / wall


def check(way: Sequence[str]) -> None:
    done = subprocess.run([*way, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=LIMIT_S)
    if done.returncode == UNAVAILABLE:
        raise Skip(done.stderr.decode().strip())


def peak_kib(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError(f"{pid} has no VmHWM")


def peak_after_storm_kib(method: str, spawns: int) -> int:
    argv = [str(RTRACK), "run", "--accounting", method, "--", str(SUBJECT), "storm", str(spawns),
            "stay"]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    assert process.stdin and process.stdout
    try:
        process.stdout.readline()
        return peak_kib(process.pid)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


def measure(effort: Effort, record: Record, has_time: Callable[[], bool]) -> Commands:
    """Measure all ways in turns. Each round begins with another way. Rounds for which there is no
    time are left out."""
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    usable: Dict[str, List[str]] = {}
    for name, way in ways().items():
        try:
            check(way)
            usable[name] = way
        except Skip as skip:
            record("commands", name, str(skip))
    if GNU_TIME not in usable:
        record("commands", GNU_TIME, "GNU time (time) is not installed")
    names = list(usable)
    stormy = [name for name in names if name in STORMS]
    found = Commands({name: [] for name in names}, {name: [] for name in names},
                     {name: [] for name in stormy}, {name: [] for name in stormy})
    for i in range(effort.starts):
        for name in rotated(names, i):
            wall, cpu = start_ms([*usable[name], "/bin/true"], null)
            found.start_ms[name].append(wall)
            found.start_cpu_ms[name].append(cpu)
    found.fork_share = {name: [] for name in stormy if name in METHODS}
    for _ in range(effort.fork_storms):
        for name, shares in found.fork_share.items():
            shares.append(fork_share(usable[name]))
    for i in range(effort.storms):
        if i >= LEAST_ROUNDS and not has_time():
            record("commands", "storms", f"no time for more than {i} of {effort.storms} rounds")
            break
        for name in rotated(stormy, i):
            wall, cpu = storm_ms(usable[name], effort.spawns)
            found.storm_ms[name].append(wall)
            found.storm_cpu_ms[name].append(cpu)
    os.close(null)
    if "wait" in usable:
        found.peak_kib = peak_after_storm_kib("wait", effort.spawns)
    for name in usable:
        record("commands", name, "")
    return found


def rotated(names: List[str], by: int) -> List[str]:
    by %= len(names)
    return names[by:] + names[:by]


def over_bare_ms(times: Dict[str, List[float]], name: str) -> float:
    return statistics.median(a - b for a, b in zip(times[name], times[BARE]))


def slow_down(times: Dict[str, List[float]], name: str) -> Tuple[float, float, float]:
    """Return the slowdown in % of bare: the median over the rounds, and its 95 % bounds."""
    ratios = sorted(100 * (a / b - 1) for a, b in zip(times[name], times[BARE]))
    return (statistics.median(ratios), *bounds_of_median(ratios))


def bounds_of_median(values: Sequence[float]) -> Tuple[float, float]:
    """Use order statistics, which assume no distribution."""
    half = 0.98 * math.sqrt(len(values))
    low, high = math.floor(len(values) / 2 - half), math.ceil(len(values) / 2 + half)
    return values[max(low, 0)], values[min(high, len(values) - 1)]
