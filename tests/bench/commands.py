# SPDX-License-Identifier: MIT
"""What it costs to run a command under rtrack: its own start, and how much slower a storm of short programs gets."""
from __future__ import annotations

import dataclasses
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import time
from typing import Dict, List, Optional, Sequence, Tuple

from contenders import LIMIT_S, PROGRAMS, Skip, Tell
from harness import BUILD
from subjects import children_of

RTRACK = BUILD / "examples/rtrack/rtrack"
SUBJECT = PROGRAMS / "bench-subject"
RUNGS = ("poll", "wait", "cgroup", "auto")
BARE, AGAIN, GNU_TIME = "bare", "bare again", "GNU time"
STORMS = (BARE, AGAIN, "poll", "wait", "cgroup")
"""In which a storm is measured: auto is one of them."""
SUPERVISOR = "rtrack-supervis"
UNAVAILABLE = 125


@dataclasses.dataclass(frozen=True)
class Effort:
    starts: int
    storms: int
    """How many rounds of them."""
    spawns: int


FULL = Effort(starts=150, storms=100, spawns=400)
QUICK = Effort(starts=10, storms=3, spawns=50)


@dataclasses.dataclass
class Commands:
    """Milliseconds by way of starting, one entry per round; and the peak memory of who looks on, KiB."""

    start_ms: Dict[str, List[float]] = dataclasses.field(default_factory=dict)
    storm_ms: Dict[str, List[float]] = dataclasses.field(default_factory=dict)
    storm_cpu_ms: Dict[str, List[float]] = dataclasses.field(default_factory=dict)
    peak_kib: Dict[str, int] = dataclasses.field(default_factory=dict)


def ways() -> Dict[str, List[str]]:
    """What stands before a command."""
    found: Dict[str, List[str]] = {BARE: [], AGAIN: []}
    gnu_time = shutil.which("time")
    if gnu_time:
        found[GNU_TIME] = [gnu_time]
    for rung in RUNGS:
        found[rung] = [str(RTRACK), "run", "--accounting", rung, "--"]
    return found


def start_ms(argv: Sequence[str], null: int) -> float:
    begin = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 2)])
    status = os.waitpid(pid, 0)[1]
    taken = time.perf_counter_ns() - begin
    if status != 0:
        raise AssertionError(f"{' '.join(argv)} gave {os.waitstatus_to_exitcode(status)}")
    return taken / 1e6


def storm_ms(way: Sequence[str], spawns: int) -> Tuple[float, float]:
    """Wall and CPU time, by its own account."""
    done = subprocess.run([*way, str(SUBJECT), "storm", str(spawns)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=LIMIT_S)
    if done.returncode != 0:
        raise AssertionError(f"storm under {way} gave {done.returncode}: {done.stderr.decode()}")
    wall, cpu = map(int, done.stdout.split())
    return wall / 1e6, cpu / 1e6


def check(way: Sequence[str]) -> None:
    done = subprocess.run([*way, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT_S)
    if done.returncode == UNAVAILABLE:
        raise Skip(done.stderr.decode().strip())


def peak_kib(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError(f"{pid} has no VmHWM")


def peaks(rung: str, spawns: int) -> Dict[str, int]:
    """Of rtrack, and of its supervisor, after a storm."""
    argv = [str(RTRACK), "run", "--accounting", rung, "--", str(SUBJECT), "storm", str(spawns), "stay"]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin and process.stdout
    try:
        process.stdout.readline()
        found = {"rtrack": peak_kib(process.pid)}
        for pid in children_of(process.pid):
            if pathlib.Path(f"/proc/{pid}/comm").read_text().startswith(SUPERVISOR):
                found["rtrack-supervisor"] = peak_kib(pid)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()
    return found


def measure(effort: Effort, tell: Tell) -> Commands:
    """Everything in turns, each round beginning with another one."""
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    usable: Dict[str, List[str]] = {}
    for name, way in ways().items():
        try:
            check(way)
            usable[name] = way
        except Skip as skip:
            tell("commands", name, str(skip))
    if GNU_TIME not in usable:
        tell("commands", GNU_TIME, "GNU time (time) is not here")
    names = list(usable)
    stormy = [name for name in names if name in STORMS]
    found = Commands({name: [] for name in names}, {name: [] for name in stormy}, {name: [] for name in stormy})
    for i in range(effort.starts):
        for name in rotated(names, i):
            found.start_ms[name].append(start_ms([*usable[name], "/bin/true"], null))
    for i in range(effort.storms):
        for name in rotated(stormy, i):
            wall, cpu = storm_ms(usable[name], effort.spawns)
            found.storm_ms[name].append(wall)
            found.storm_cpu_ms[name].append(cpu)
    os.close(null)
    if "wait" in usable:
        found.peak_kib = peaks("wait", effort.spawns)
    for name in usable:
        tell("commands", name, "")
    return found


def rotated(names: List[str], by: int) -> List[str]:
    by %= len(names)
    return names[by:] + names[:by]


def over_bare_ms(commands: Commands, name: str) -> float:
    return statistics.median(a - b for a, b in zip(commands.start_ms[name], commands.start_ms[BARE]))


def slow_down(times: Dict[str, List[float]], name: str) -> Tuple[float, float, float]:
    """In % of bare: the median over the rounds, and the bounds in which it lies with 95 % confidence."""
    ratios = sorted(100 * (a / b - 1) for a, b in zip(times[name], times[BARE]))
    return (statistics.median(ratios), *bounds_of_median(ratios))


def bounds_of_median(values: Sequence[float]) -> Tuple[float, float]:
    """By order statistics, which asks for no distribution."""
    half = 0.98 * math.sqrt(len(values))
    low, high = math.floor(len(values) / 2 - half), math.ceil(len(values) / 2 + half)
    return values[max(low, 0)], values[min(high, len(values) - 1)]


def supervisor_peak_kib(commands: Commands) -> Optional[int]:
    return commands.peak_kib.get("rtrack-supervisor")
