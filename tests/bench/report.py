# SPDX-License-Identifier: MIT
"""The tables of docs/benchmarks.md, and the same as JSON."""
from __future__ import annotations

import dataclasses
import math
import os
import platform
import re
import statistics
from typing import Any, Dict, List, Optional, Sequence, Tuple

import commands
from commands import Commands
from contenders import ALL
from measure import PAUSE_MS, Bench, ratio
from scenarios import ACTIVE, COLD, FULL, HOT, SHORT, SIZES, TEXT_FROM, Scenario
from targets import Targets, cell, figure, read_by

HEAD = """# What it costs {{#benchmarks}}

Written by `tests/bench/run.sh`; do not edit. The library and others take the same samples in turns, in one run on one
machine. What is given is how many times the cost of one is in that of the other: absolute times mean little elsewhere.

[TOC]

## In short {{#benchmarks_short}}

With nothing set but what is wanted; details, and what is read how, are below.

{short}
## How it was measured {{#benchmarks_method}}

- Linux {kernel}, {cpus} CPUs, {others} other processes; release build. The cost is CPU time, user and system, of the
  program that samples, unless it says wall time.
- Every contender is warmed up before it is measured: by samples of the same kind without pause, two at least, until
  processes have run {warm_runs} times, or there were {warm_samples} samples, or they have cost {warm_cpu:g} s of
  CPU time. The last of them decide how many samples a turn has. pidstat and sar, which are started anew for each turn,
  take two.
- Every contender of a row takes a turn of some 40 ms in each of {rounds} rounds, another one first each time; a ratio
  is taken round by round, and the median is shown. Where members of a tree run in between, each sample is measured by
  itself. Over all rows, half of the rounds were within {noise:.1f} % of their median.
- A sample of processes has CPU time, resident memory, bytes read and written, how many processes there are, and PSS
  where the table says so. Of the machine: CPU time by mode, activity, memory, disks, load, and network (libproc2 has
  none).
- **The floor** is C that keeps every file open, reads it by pread(), and makes nothing of it. Per sample of a tree it
  reads `loadavg`, which tells whether anything has forked, and per process two CPU clocks, `statm` and `io`, with PSS
  also `smaps_rollup`. *With stat* it reads `stat` instead of the clocks. *What has run* reads one clock of each
  process, and the rest only where that has moved. The members of the tree are known to it beforehand. For the machine
  it reads `stat`, `meminfo`, `diskstats`, `net/dev` and `loadavg`.
- **This library** is used through its header, with nothing set but what is wanted. *PSS at any cost* may read it in
  each sample at any cost (`pss_share` 1000), which it does of processes that ran; otherwise PSS may take 1 % of a CPU,
  so that in a loop without pause most of it comes from earlier readings. Nobody else knows what need not be read again.
- *Read by* says how it has read the members of a tree while it was measured: *text* is the files of `/proc`, *BPF* a
  program in the kernel that reads all of them in one call. It goes over to that once reading files has cost as much
  as loading the program. *This library, text* is the same program without the capabilities for it (CAP_BPF,
  CAP_PERFMON and CAP_SYS_ADMIN).
- In a tree that is *idle* nobody has run since before the first sample, so that its members are hardly read at all. In
  one that is *idle since all ran* all ran a little before each sample of a first warm-up, and nobody in a second one
  and afterwards.
- libproc2 reads the parents of all processes and then the members it found, or the figures of all where most are
  members; psutil its `children(recursive=True)`, each with `oneshot()`; pidstat (`-urd`) is told the pids, and sar
  (`-u -w -r -q -d -n DEV`) samples the machine; both with their waiting taken out, and less the cost of their start.
- All may open {descriptors} files. Trees branch by 16; their members sleep but for the 20 us that those run of whom it
  is said.

## Targets {{#benchmarks_targets}}

The last column is how many times faster than the same peer the floor is: what only reads the same files can do no more
here. Where that is below the target, files cannot meet it on this machine.

{targets}

What stands between the library and the targets that it misses: text has to be parsed, and of each process an account of
about 1 KB is kept and gone through, which is also what trees need their memory for. What is read by BPF waits for the
kernel's own structures, which whoever ran in between has pushed out of the cache. `rtrack run` starts two programs
before the command, itself and its supervisor; GNU time, which starts one, stands beside it
[below](@ref benchmarks_commands).
"""

PLAIN = """
## Without PSS {#benchmarks_plain}

The columns up to *floor of what has run* are how many times the floor's the cost is, wall time that of this library how
many times the floor's; the others are how many times the cost of this library.

"""

PSS = """
## With PSS {#benchmarks_pss}

The columns up to *floor of what has run* are how many times the floor's the cost is, wall time that of this library
with PSS at any cost; the others are how many times the cost of that. *Read by* is how that has read all but PSS, which
no BPF program can tell.

"""

COLD_HEAD = """
## Four samples a second {{#benchmarks_cold}}

{count} samples per turn, with a pause of {pause} ms before each. The floor is that of what has run, for trees. The last
column is this library against itself in a loop without pause.

"""

GROWTH = """
## How it grows with the tree {{#benchmarks_growth}}

The cost of a sample goes with a power of the number of processes (10 to 4000): the exponent that fits best, by least
squares of the logarithms. 1 is proportional; 4000 processes are then 400 times as dear as 10. Text alone is measured
from {text_from} processes on. Where this library reads small trees as text and large ones by BPF, its exponent is of
both.

"""

USE = """
## Allocations, memory, start {#benchmarks_use}

Allocations are calls of malloc() and its kin per sample, after the same warm-up. Memory is resident memory after the
samples, start the wall time from the start of the program to its first sample, both in times this library's.

"""

COMMANDS = """
## Commands {{#benchmarks_commands}}

`true` is started bare and under each rung of `rtrack run`, {starts} times in turns; a storm starts it {spawns} times
one after another, and says by itself how long that took, and how much CPU time, with that of those it started,
{storms} times in turns. In brackets the bounds within which the median lies with 95 % confidence. Bare against bare
tells how much of this is noise.

"""


def rounded(value: Any) -> Any:
    """Digits that nobody can measure make a file long."""
    if isinstance(value, float):
        return round(value) if abs(value) >= 1000 else round(value, 3)
    if isinstance(value, list):
        return [rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return value


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def storm(times: Dict[str, List[float]], name: str) -> str:
    return "{:+.1f} ({:+.1f} to {:+.1f})".format(*commands.slow_down(times, name)) if times.get(name) else "-"


def exponent(points: Sequence[Tuple[int, float]]) -> Optional[float]:
    """Slope of the line through the logarithms."""
    if len(points) < 2:
        return None
    x, y = [math.log(n) for n, _ in points], [math.log(max(cost, 1)) for _, cost in points]
    return statistics.linear_regression(x, y).slope


class Report:
    def __init__(self, bench: Bench, measured: Commands, skips: Sequence[Tuple[str, str, str]]) -> None:
        self.bench, self.commands, self.skips = bench, measured, skips
        self.targets = Targets(bench, measured)

    def ratio(self, scenario: Scenario, a: str, b: str) -> Optional[float]:
        return self.targets.ratio(scenario.key, a, b)

    def times(self, scenario: Scenario, a: str, b: str) -> str:
        """The same for a table, where one in the wrong stands out."""
        found = [self.bench.results.get((scenario.key, name)) for name in (a, b)]
        if any(one and one.error for one in found):
            return "error"
        return cell(self.ratio(scenario, a, b))

    def wall_ratio(self, scenario: Scenario, a: str, b: str) -> Optional[float]:
        found = self.targets.pair(scenario.key, a, b)
        return ratio(found[0].wall_ns, found[1].wall_ns) if found else None

    def read_by(self, scenario: Scenario, name: str) -> str:
        found = self.bench.results.get((scenario.key, name))
        return read_by(found.sources) if found else "-"

    def lines(self, scenario: Scenario) -> List[str]:
        """For the terminal."""
        ours = "rtrack each" if scenario.with_pss else "rtrack"
        found = [f"{name} {self.times(scenario, name, 'floor')}" for name in ALL
                 if (scenario.key, name) in self.bench.results and name != "floor"]
        note = self.targets.note(scenario.key, ours)
        return [f"{scenario.key}: times the floor: {', '.join(found)}{f' ({note})' if note != '-' else ''}"]

    def row(self, scenario: Scenario, ours: str, against_floor: Sequence[str], peers: Sequence[str]) -> List[str]:
        return [scenario.title, self.times(scenario, ours, "floor"), self.read_by(scenario, ours),
                *(self.times(scenario, name, "floor") for name in against_floor),
                cell(self.wall_ratio(scenario, ours, "floor")),
                *(self.times(scenario, peer, ours) for peer in peers)]

    def plain(self) -> str:
        floors = ("rtrack text", "floor stat", "floor changed")
        rows = [self.row(one, "rtrack", floors, ("libproc2", "psutil", "sar" if one.kind == "system" else "pidstat"))
                for one in sorted(FULL, key=lambda one: one.kind == "system") if one.mode != COLD and not one.with_pss]
        return table(["what is sampled", "this library", "read by", "this library, text", "floor with stat",
                      "floor of what has run", "wall time", "libproc2", "psutil", "pidstat, sar"], rows)

    def pss(self) -> str:
        rows = [self.row(one, "rtrack each", ("rtrack", "floor changed"), ("libproc2", "psutil"))
                for one in FULL if one.mode != COLD and one.with_pss]
        return table(["what is sampled", "this library, PSS at any cost", "read by", "this library",
                      "floor of what has run", "wall time", "libproc2", "psutil"], rows)

    def cold(self) -> str:
        rows = []
        for one in FULL:
            if one.mode == COLD:
                ours = "rtrack each" if one.with_pss else "rtrack"
                hot = dataclasses.replace(one, mode=ACTIVE if one.percent else HOT)
                floor = "floor changed" if one.kind == "tree" else "floor"
                rows.append([one.title + (", PSS" if one.with_pss else ""), self.times(one, ours, floor),
                             self.read_by(one, ours), *(self.times(one, peer, ours) for peer in ("libproc2", "psutil")),
                             cell(self.between(one.key, hot.key, ours))])
        return table(["what is sampled", "this library, times the floor", "read by", "libproc2, times this library",
                      "psutil, times this library", "this library, times itself without pause"], rows)

    def between(self, a: str, b: str, name: str) -> Optional[float]:
        found = [self.bench.results.get((key, name)) for key in (a, b)]
        if not found[0] or not found[1]:
            return None
        return statistics.median(found[0].cpu_ns) / max(statistics.median(found[1].cpu_ns), 1)

    def points(self, name: str, with_pss: bool, mode: str, percent: int) -> List[Tuple[int, float]]:
        """Cost by size of the tree."""
        found = []
        for size in SIZES:
            key = Scenario("", ("tree", size), "tree", with_pss, mode, percent).key
            if (key, name) in self.bench.results:
                found.append((size, statistics.median(self.bench.results[key, name].cpu_ns)))
        return found

    def growth(self) -> str:
        columns = ((False, HOT, 0), (False, ACTIVE, 5), (False, ACTIVE, 100), (True, ACTIVE, 5), (True, ACTIVE, 100))
        rows = []
        for name, contender in ALL.items():
            cells = [cell(exponent(self.points(name, *column))) for column in columns]
            if any(one != "-" for one in cells):
                rows.append([contender.what, *cells])
        return table(["exponent", "idle", "5 % ran", "all ran", "5 % ran, PSS", "all ran, PSS"], rows)

    def use(self) -> str:
        rows = []
        for (key, name), use in self.bench.uses.items():
            title = next(one.title for one in FULL if one.key == key)
            ours = self.bench.uses.get((key, "rtrack"))
            rows.append([title, ALL[name].what, read_by(use.sources),
                         "error" if use.error else cell(use.allocations), self.memory(key, name),
                         cell(statistics.median(use.first_ns) / statistics.median(ours.first_ns))
                         if ours and ours.first_ns and use.first_ns else "-"])
        return table(["what is sampled", "by", "read by", "allocations per sample", "memory", "start"], rows)

    def memory(self, key: str, name: str) -> str:
        found = [self.bench.results.get((key, one)) for one in (name, "rtrack")]
        if not found[0] or not found[1] or not found[0].rss_kib or not found[1].rss_kib:
            return "-"
        return figure(found[0].rss_kib / found[1].rss_kib)

    def command_rows(self) -> List[List[str]]:
        rows = []
        for name in self.commands.start_ms:
            if name == commands.BARE:
                continue
            title = f"`{name}`" if name in commands.RUNGS else name
            rows.append([title, f"{commands.over_bare_ms(self.commands, name):+.2f}",
                         storm(self.commands.storm_ms, name), storm(self.commands.storm_cpu_ms, name)])
        return rows

    def commands_section(self) -> str:
        if not self.commands.start_ms:
            return ""
        head = COMMANDS.format(starts=commands.FULL.starts, spawns=commands.FULL.spawns, storms=commands.FULL.storms)
        columns = ["", "start of `true`, ms over bare", "storm, % more wall time", "storm, % more CPU time"]
        text = head + table(columns, self.command_rows())
        peaks = [f"{name} {kib / 1024:.2f} MB" for name, kib in self.commands.peak_kib.items()]
        return text + f"\nPeak memory after a storm at `wait`: {', '.join(peaks)}.\n" if peaks else text

    def noise(self) -> float:
        """Half of the rounds are within so many % of the median, in the middle one of all rows."""
        spreads = []
        for measured in self.bench.results.values():
            middle = statistics.median(measured.cpu_ns)
            if middle > 0:
                spreads.append(100 * statistics.median(abs(one - middle) / middle for one in measured.cpu_ns))
        return statistics.median(spreads) if spreads else 0

    def short(self) -> str:
        rows = []
        for one in FULL:
            if one.key in SHORT:
                floor = "floor changed" if one.kind == "tree" else "floor"
                rows.append([one.title + (", PSS" if one.with_pss else ""), self.times(one, "rtrack", floor),
                             *(self.times(one, peer, "rtrack") for peer in ("libproc2", "psutil"))])
        return table(["one sample of", "times what bare reads cost", "libproc2, times this library",
                      "psutil, times this library"], rows)

    def target_table(self) -> str:
        every = self.targets.all()
        met = [target.is_met for target in every]
        text = f"{met.count(True)} met, {met.count(False)} missed, {met.count(None)} without an answer here.\n\n"
        rows = [[one.what, one.column, one.read_by, one.target, one.result, one.verdict, one.floor] for one in every]
        return text + table(["what", "of which column", "read by", "target", "result", "", "the floor itself"],
                            rows).rstrip("\n")

    def summary(self) -> List[str]:
        return [f"{one.verdict:6}  {one.what}: {one.result} (target: {one.target})" for one in self.targets.all()]

    def markdown(self) -> str:
        kernel = re.match(r"[\d.]+", platform.release())
        warm_up = self.bench.effort.warm_up
        text = HEAD.format(kernel=kernel[0] if kernel else "", cpus=os.cpu_count(),
                           others=self.bench.others, rounds=self.bench.effort.rounds,
                           warm_runs=warm_up.runs, warm_samples=warm_up.samples, warm_cpu=warm_up.cpu_ns / 1e9,
                           noise=self.noise(), descriptors=os.sysconf("SC_OPEN_MAX"), short=self.short(),
                           targets=self.target_table())
        text += PLAIN + self.plain() + PSS + self.pss()
        text += COLD_HEAD.format(count=self.bench.effort.cold_samples, pause=PAUSE_MS) + self.cold()
        text += GROWTH.format(text_from=TEXT_FROM) + self.growth() + "\n![Cost by size of the tree](benchmarks.svg)\n"
        text += USE + self.use() + self.commands_section()
        if self.skips:
            text += "\n## What was left out {#benchmarks_skips}\n\n"
            text += "".join(f"- {line}\n" for line in self.left_out())
        return text

    def left_out(self) -> List[str]:
        """Each reason once, with how often it was met."""
        counts: Dict[str, int] = {}
        for _, contender, why in self.skips:
            line = f"{contender}: {why}"
            counts[line] = counts.get(line, 0) + 1
        return [f"{line} ({count} times)" if count > 1 else line for line, count in counts.items()]

    def json(self) -> Any:
        return rounded({
            "kernel": platform.release(), "cpus": os.cpu_count(), "other_processes": self.bench.others,
            "skips": [{"scenario": scenario, "contender": name, "why": why} for scenario, name, why in self.skips],
            "samples": [{"scenario": key, "contender": name, **dataclasses.asdict(measured)}
                        for (key, name), measured in self.bench.results.items()],
            "uses": [{"scenario": key, "contender": name, **dataclasses.asdict(use)}
                     for (key, name), use in self.bench.uses.items()],
            "commands": dataclasses.asdict(self.commands),
            "targets": [dataclasses.asdict(target) for target in self.targets.all()],
        })
