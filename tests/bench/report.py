# SPDX-License-Identifier: MIT
"""Write docs/reports/benchmarks.md, and the same figures as JSON."""
from __future__ import annotations

import dataclasses
import math
import os
import platform
import re
import statistics
import textwrap
from typing import Any, Dict, List, Optional, Sequence, Tuple

import commands
import paced
from commands import Commands
from contenders import ALL
from measure import PAUSE_MS, Bench, ratio
from scenarios import ACTIVE, COLD, FULL, HOT, SHORT, SIZES, TEXT_FROM, Scenario
from targets import Targets, cell, figure, read_by

SLOW, FAST = paced.SLOW, paced.FAST

HEAD = """# What it costs {{#benchmarks}}

Written by `tests/bench/run.sh`; do not edit. The library and other tools take the same samples in
turns, in one run on one system. The results are ratios of costs, because absolute times say little
about another system.

[TOC]

## In short {{#benchmarks_short}}

A sample as users take it: with all default options, one each interval, while {forks} programs start
and end elsewhere in each second. *µs* is its CPU time, and *of a core* the share of one CPU that
samples at this interval take. The floor is a program that keeps the same files open and only reads
them, for all that a tracker has by default: of a tree two CPU clocks, `stat`, `statm`, `io` and
`status` of each process. What the footprint of a tree takes besides is not in it: a tracker reads
`smaps` and `smaps_rollup` as its budget of CPU time allows. *Without reads* estimates the footprint
(`RT_OPT_NO_MEMORY_READS`), as the floor does not read them. Nor does the floor look for new
members, or find out whether other threads have switched. *Once warm* is after the library has
changed its method, if it ever does: see *read by*. *Text* may not use BPF. Other tools read less:
of a tree not what its processes share, and of the system neither pressure nor file systems. Of a
tree of {large} processes no program may keep all files open: there the floor reads one CPU clock of
each, which tells no more than which of them have run.

{paced}
Each row has its own processes and programs. All contenders take their samples in the same
intervals, each at its own moment, {rounds_1s} rounds of {samples_1s} at 1 s and {rounds_100ms} of
{samples_100ms} at 100 ms. Such a sample costs several times one in a loop, for all contenders,
because other programs evict the kernel's structures from the cache in between.

In a loop without pause, with the requested figures alone:

{short}
## How it was measured {{#benchmarks_method}}

- Linux {kernel}, {cpus} CPUs, {others} other processes; release build. The cost is CPU time, user
  and system, of the program that samples, unless the table says wall time.
- Every contender is warmed up before it is measured, by samples of the same kind without pause. The
  warm-up takes at least two samples. It ends when processes have run {warm_runs} times, after
  {warm_samples} samples, or after {warm_cpu:g} s of CPU time. Its last samples decide the number of
  samples per turn. pidstat and sar start again for each turn, so their warm-up is two samples.
- Every contender of a row takes a turn of about 40 ms in each of {rounds} rounds. Each round begins
  with another contender. A ratio is taken per round, and the median of the rounds is shown. Where
  members of a tree run in between, each sample is measured separately. Over all rows, half of the
  rounds were within {noise:.1f} % of their median.
- A sample of processes has CPU time, resident memory, bytes read and written, the number of
  processes, and PSS where the table says so. A sample of the system has CPU time by mode, activity,
  memory, disks, load, and network (libproc2 has no network figures).
- **The floor** is a C program that keeps every file open, reads it by pread(), and does not parse
  it. Per sample of a tree it reads `loadavg`, which shows whether any process has forked. Per
  process it reads two CPU clocks, `statm` and `io`, and with PSS also `smaps_rollup`. *With stat*
  it reads `stat` instead of the clocks. *What has run* reads one clock of each process, and the
  other files only if that clock has changed. The floor knows the members of the tree beforehand.
  For the system it reads `stat`, `meminfo`, `diskstats`, `net/dev` and `loadavg`.
- **This library** is used through its header, with default options except for the requested
  figures. *PSS at any cost* allows it to read PSS in each sample at any cost (`pss_share` 1000); it
  then reads PSS of all processes of the tree, since what one shares less, another has more of.
  Only of a tree of less than 256 processes it reads none if none ran. Otherwise PSS is read as far
  as 1 % of a CPU allows, so in a loop without pause most of it comes from earlier reads. The other
  tools cannot skip reads that would give the same result.
- *Read by* is how the library read the members of a tree in the measurement. *Text* is the files of
  `/proc`. *BPF* is a program in the kernel that reads all members in one call. The library switches
  to BPF when reading files has cost as much as loading the BPF program. *This library, text* is the
  same program without the capabilities for BPF (CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN).
- In an *idle* tree no process has run since before the first sample, so the library reads almost
  nothing of its members. In a tree that is *idle since all ran*, all members run briefly before
  each sample of a first warm-up. None runs in a second warm-up and afterwards.
- libproc2 reads the parents of all processes and then the members that it found, or the figures of
  all processes if most are members. psutil uses `children(recursive=True)`, and `oneshot()` for
  each process. pidstat (`-urd`) gets the pids as options. sar (`-u -w -r -q -d -n DEV`) samples the
  system. The pauses of pidstat and sar are removed, and the cost of their start is subtracted.
- All may open {descriptors} files. Trees branch by 16. Their members sleep, except for the 20 us
  that the members described as running run.

## Targets {{#benchmarks_targets}}

The last column is how many times faster than the same peer the floor is, or what the floor takes
up to its own first sample. A program that only reads the same files cannot be faster here. If that
value misses the target, files cannot meet the target on this system. Of a start it is what GNU time
adds. Reads of memory have a budget of 1 % of a CPU by themselves, so the share of a CPU that a
large tree takes is that without them.

{targets}

What stands in the way of those that are missed, by profiles (perf record, callgrind) and counts of
calls (strace):

- **The system.** It makes the calls of the floor, and reads its own CPU time twice. Its 46,000
  instructions, of which 60 % scan some 250 numbers, take 5 us in a loop. At the pace of users,
  other programs have evicted its code and tables from the cache, and they take 25 to 45 us.
- **One process.** It also reads what the floor knows beforehand: the last pid and `children`, for
  new members; `schedstat` and the CPU clock once more, for switches of other threads. So it makes 6
  and 11 calls in turns, where the floor makes 6.
- **Trees by text.** 88 % of the time is in the kernel. 29 % is `stat`, which has what a process has
  waited for, and which the floor reads only in *floor with stat*.
- **Trees by BPF, 5 % ran.** Of the time, 70 % is the BPF program. It waits for the structures of
  processes that have just run, which other programs have evicted from the cache. One CPU clock of a
  process that sleeps needs one of them.
- **Trees by BPF, all ran, beside psutil and libproc2.** The same: 60 % is the BPF program, 1.6 us
  for each process.
- **PSS each sample, PSS of those.** What a process shares less, another one has more of. So PSS of
  all is read if any may have changed, where the floor reads that of processes that ran.
- **Memory.** The account of a process has 1984 bytes: its counters and those of what it has reaped,
  the model of its memory, the last PSS, and the row that a caller gets.
- **First sample.** The files cost more than the target, see the last column. Beside those of the
  floor it opens `children` or `stat` of others, `status` and `schedstat`.
- **Start of a command.** In ms: 0.18 to load the library; 0.2 to open `/proc` and find the cgroup;
  0.25 to make and remove a cgroup in each hierarchy (four here); 0.15 since the program is started
  by a copy of the process, because vfork(2) would hand on our peak of memory; 0.3 after the end,
  for the last accounts.
- **Forks at `wait`.** Of 3.6 us for each fork, 1.8 us are the kernel's delivery of two events by
  netlink.

`rtrack run` is one program, as GNU time is: it is its own supervisor.
"""

PLAIN = """
## Without PSS {#benchmarks_plain}

The columns up to *floor of what has run* are the cost as a multiple of the cost of the floor. *Wall
time* is the wall time of this library as a multiple of that of the floor. The other columns are
multiples of the cost of this library.

"""

PSS = """
## With PSS {#benchmarks_pss}

The columns up to *floor of what has run* are the cost as a multiple of the cost of the floor. *Wall
time* is that of this library with PSS at any cost, as a multiple of that of the floor. The other
columns are multiples of the cost of this library with PSS at any cost. *Read by* is how it read all
figures but PSS, which no BPF program can read.

"""

COLD_HEAD = """
## Four samples a second {{#benchmarks_cold}}

{count} samples per turn, with a pause of {pause} ms before each. For trees the floor is that of
what has run. The last column compares this library with itself in a loop without pause.

"""

GROWTH = """
## How the cost grows with the tree {{#benchmarks_growth}}

The cost of a sample grows with a power of the number of processes (10 to 4000). The table has the
exponent that fits best, by least squares of the logarithms. E.g.: 1 is proportional, so 4000
processes cost 400 times as much as 10. Text alone is measured from {text_from} processes on. Where
this library reads small trees as text and large trees by BPF, its exponent covers both.

"""

USE = """
## Allocations, memory, start {#benchmarks_use}

Allocations are the calls of malloc() and related functions per sample, after the same warm-up.
Memory is resident memory after the samples. Start is the wall time from the start of the program to
its first sample. Memory and start are multiples of those of this library.

"""

COMMANDS = """
## Commands {{#benchmarks_commands}}

`true` is started bare and with each accounting method of `rtrack run`, {starts} times in turns.
While `true` runs, rtrack works on another CPU if one is free. If none is, all of its CPU time makes
the command take longer. So the wall time depends on how busy the system was, and the CPU time less.
A storm starts `true` {spawns} times one after another. It measures its own wall time and CPU time,
including those of the programs that it started, {storms} times in turns. The values in parentheses
are the 95 % confidence bounds of the median. *Bare again* against bare shows the noise.

A storm of forks forks {forks} processes a second for 3 s, as far as the machine keeps up, which
exit at once. The last column is the CPU time of rtrack and its supervisor meanwhile, without that
of a start, which is measured right before: the median of {fork_storms} storms.

"""


def rounded(value: Any) -> Any:
    """Round figures to the digits that can be measured, which keeps the JSON short."""
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
    if not times.get(name):
        return "-"
    return "{:+.1f} ({:+.1f} to {:+.1f})".format(*commands.slow_down(times, name))


def exponent(points: Sequence[Tuple[int, float]]) -> Optional[float]:
    """Return the slope of the line through the logarithms."""
    if len(points) < 2:
        return None
    x, y = [math.log(n) for n, _ in points], [math.log(max(cost, 1)) for _, cost in points]
    return statistics.linear_regression(x, y).slope


class Report:
    def __init__(self, bench: Bench, measured: Commands,
                 skips: Sequence[Tuple[str, str, str]]) -> None:
        self.bench, self.commands, self.skips = bench, measured, skips
        self.targets = Targets(bench, measured)

    def ratio(self, scenario: Scenario, a: str, b: str) -> Optional[float]:
        return self.targets.ratio(scenario.key, a, b)

    def times(self, scenario: Scenario, a: str, b: str) -> str:
        """Return the ratio as a table cell, or "error" if one of the two has an error."""
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
        """Return the results of a scenario as lines for the terminal."""
        ours = "rtrack each" if scenario.with_pss else "rtrack"
        found = [f"{name} {self.times(scenario, name, 'floor')}" for name in ALL
                 if (scenario.key, name) in self.bench.results and name != "floor"]
        note = self.targets.note(scenario.key, ours)
        suffix = f" ({note})" if note != "-" else ""
        return [f"{scenario.key}: times the floor: {', '.join(found)}{suffix}"]

    def paced_lines(self, scenario: paced.Paced) -> List[str]:
        """Likewise, of a scenario at an interval."""
        found = [
            f"{one.name} {cell(paced.cost_us(self.bench, scenario, one.name))} us"
            f" ({cell(paced.times(self.bench, scenario, one.name, scenario.floor.name))})"
            for one in scenario.contenders if (scenario.key, one.name) in self.bench.results]
        return [f"{scenario.key}: cost (times the floor): {', '.join(found)}"]

    def paced_row(self, scenario: paced.Paced) -> List[str]:
        ours = "rtrack default"
        us = paced.cost_us(self.bench, scenario, ours)
        found = self.bench.results.get((scenario.key, ours))

        def against(a: str, b: str) -> str:
            return cell(paced.times(self.bench, scenario, a, b))

        floor = scenario.floor.name
        return [
            scenario.title + (", once warm" if scenario.is_warm else ""),
            f"{scenario.interval_ms / 1000:g} s", cell(us),
            "-" if us is None else f"{paced.share(self.bench, scenario, ours):.3f} %",
            read_by(found.sources) if found else "-",
            against(ours, floor), against("rtrack default without PSS", floor),
            against("rtrack default text", floor),
            against("libproc2", ours), against("psutil", ours)]

    def paced(self) -> str:
        return table(["one sample of", "interval", "µs", "of a core", "read by", "times the floor",
                      "without reads, times the floor", "text, times the floor",
                      "libproc2, times this library", "psutil, times this library"],
                     [self.paced_row(one) for one in paced.FULL])

    def row(self, scenario: Scenario, ours: str, against_floor: Sequence[str],
            peers: Sequence[str]) -> List[str]:
        return [scenario.title, self.times(scenario, ours, "floor"), self.read_by(scenario, ours),
                *(self.times(scenario, name, "floor") for name in against_floor),
                cell(self.wall_ratio(scenario, ours, "floor")),
                *(self.times(scenario, peer, ours) for peer in peers)]

    def plain(self) -> str:
        floors = ("rtrack text", "floor stat", "floor changed")
        rows = [
            self.row(one, "rtrack", floors,
                     ("libproc2", "psutil", "sar" if one.kind == "system" else "pidstat"))
            for one in sorted(FULL, key=lambda one: one.kind == "system")
            if one.mode != COLD and not one.with_pss]
        return table([
            "what is sampled", "this library", "read by", "this library, text", "floor with stat",
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
                rows.append([
                    one.title + (", PSS" if one.with_pss else ""),
                    self.times(one, ours, floor),
                    self.read_by(one, ours),
                    *(self.times(one, peer, ours) for peer in ("libproc2", "psutil")),
                    cell(self.between(one.key, hot.key, ours))])
        return table([
            "what is sampled", "this library, times the floor", "read by",
            "libproc2, times this library", "psutil, times this library",
            "this library, times itself without pause"], rows)

    def between(self, a: str, b: str, name: str) -> Optional[float]:
        found = [self.bench.results.get((key, name)) for key in (a, b)]
        if not found[0] or not found[1]:
            return None
        return statistics.median(found[0].cpu_ns) / max(statistics.median(found[1].cpu_ns), 1)

    def points(self, name: str, with_pss: bool, mode: str, percent: int) -> List[Tuple[int, float]]:
        """Return the cost by size of the tree."""
        found = []
        for size in SIZES:
            key = Scenario("", ("tree", size), "tree", with_pss, mode, percent).key
            if (key, name) in self.bench.results:
                found.append((size, statistics.median(self.bench.results[key, name].cpu_ns)))
        return found

    def growth(self) -> str:
        columns = ((False, HOT, 0), (False, ACTIVE, 5), (False, ACTIVE, 100), (True, ACTIVE, 5),
                   (True, ACTIVE, 100))
        rows = []
        for name, contender in ALL.items():
            cells = [cell(exponent(self.points(name, *column))) for column in columns]
            if any(one != "-" for one in cells):
                rows.append([contender.what, *cells])
        return table(["exponent", "idle", "5 % ran", "all ran", "5 % ran, PSS", "all ran, PSS"],
                     rows)

    def use(self) -> str:
        rows = []
        for (key, name), use in self.bench.uses.items():
            title = next(one.title for one in FULL if one.key == key)
            ours = self.bench.uses.get((key, "rtrack"))
            rows.append([title, ALL[name].what, read_by(use.sources),
                         "error" if use.error else cell(use.allocations), self.memory(key, name),
                         cell(statistics.median(use.first_ns) / statistics.median(ours.first_ns))
                         if ours and ours.first_ns and use.first_ns else "-"])
        return table(
            ["what is sampled", "by", "read by", "allocations per sample", "memory", "start"], rows)

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
            title = f"`{name}`" if name in commands.METHODS else name
            rows.append([
                title, f"{commands.over_bare_ms(self.commands.start_ms, name):+.2f}",
                f"{commands.over_bare_ms(self.commands.start_cpu_ms, name):+.2f}",
                storm(self.commands.storm_ms, name),
                storm(self.commands.storm_cpu_ms, name),
                self.forks(name)])
        return rows

    def forks(self, name: str) -> str:
        shares = self.commands.fork_share.get(name)
        return f"{statistics.median(shares):.1f}" if shares else "-"

    def commands_section(self) -> str:
        if not self.commands.start_ms:
            return ""
        head = COMMANDS.format(starts=commands.FULL.starts, spawns=commands.FULL.spawns,
                               storms=commands.FULL.storms, forks=commands.FORKS_PER_S,
                               fork_storms=commands.FULL.fork_storms)
        columns = [
            "", "start of `true`, ms over bare", "CPU time, ms over bare",
            "storm, % more wall time", "storm, % more CPU time",
            "storm of forks, % of one CPU"]
        text = head + table(columns, self.command_rows())
        if self.commands.peak_kib:
            peak = self.commands.peak_kib / 1024
            text += f"\nPeak memory of `rtrack` after a storm with `wait`: {peak:.2f} MB.\n"
        return text

    def noise(self) -> float:
        """Return the median spread of all rows: half of the rounds are within so many %."""
        spreads = []
        for measured in self.bench.results.values():
            middle = statistics.median(measured.cpu_ns)
            if middle > 0:
                spreads.append(
                    100 * statistics.median(abs(one - middle) / middle for one in measured.cpu_ns))
        return statistics.median(spreads) if spreads else 0

    def short(self) -> str:
        rows = []
        for one in FULL:
            if one.key in SHORT:
                floor = "floor changed" if one.kind == "tree" else "floor"
                rows.append([
                    one.title + (", PSS" if one.with_pss else ""),
                    self.times(one, "rtrack", floor),
                    *(self.times(one, peer, "rtrack") for peer in ("libproc2", "psutil"))])
        return table(["one sample of", "times the floor", "libproc2, times this library",
                      "psutil, times this library"], rows)

    def target_table(self) -> str:
        every = self.targets.all()
        met = [target.is_met for target in every]
        text = (f"{met.count(True)} met, {met.count(False)} missed, "
                f"{met.count(None)} without a result.\n\n")
        rows = [[one.what, one.column, one.read_by, one.target, one.result, one.verdict, one.floor]
                for one in every]
        return text + table(
            ["what", "of which column", "read by", "target", "result", "", "the floor itself"],
            rows).rstrip("\n")

    def summary(self) -> List[str]:
        return [
            f"{one.verdict:6}  {one.what}: {one.result} (target: {one.target})"
            for one in self.targets.all()]

    def markdown(self) -> str:
        kernel = re.match(r"[\d.]+", platform.release())
        warm_up = self.bench.effort.warm_up
        text = HEAD.format(kernel=kernel[0] if kernel else "", cpus=os.cpu_count(),
                           others=self.bench.others, rounds=self.bench.effort.rounds,
                           warm_runs=warm_up.runs, warm_samples=warm_up.samples,
                           warm_cpu=warm_up.cpu_ns / 1e9, noise=self.noise(),
                           descriptors=os.sysconf("SC_OPEN_MAX"), short=self.short(),
                           forks=paced.FORKS, paced=self.paced(), large=paced.LARGE,
                           rounds_1s=SLOW.rounds, samples_1s=SLOW.samples,
                           rounds_100ms=FAST.rounds, samples_100ms=FAST.samples,
                           targets=self.target_table())
        text += PLAIN + self.plain() + PSS + self.pss()
        text += COLD_HEAD.format(count=self.bench.effort.cold_samples, pause=PAUSE_MS) + self.cold()
        text += GROWTH.format(text_from=TEXT_FROM) + self.growth()
        text += "\n![Cost by size of the tree](benchmarks.svg)\n"
        text += USE + self.use() + self.commands_section()
        if self.skips:
            text += "\n## Measurements that were left out {#benchmarks_skips}\n\n"
            text += "".join(textwrap.fill(f"- {line}", 100, subsequent_indent="  ",
                                          break_on_hyphens=False) + "\n"
                            for line in self.left_out())
        return text

    def left_out(self) -> List[str]:
        """Return each reason once, with the number of times that it occurred, or with the scenarios
        that all contenders left out."""
        counts: Dict[str, int] = {}
        late: Dict[str, List[str]] = {}
        for scenario, contender, why in self.skips:
            line = f"{contender}: {why}"
            if contender == "all":
                late.setdefault(line, []).append(scenario)
            else:
                counts[line] = counts.get(line, 0) + 1
        return [
            *(f"{line} ({count} times)" if count > 1 else line for line, count in counts.items()),
            *(f"{line}: {', '.join(scenarios)}" for line, scenarios in late.items())]

    def json(self) -> Any:
        return rounded({
            "kernel": platform.release(),
            "cpus": os.cpu_count(),
            "other_processes": self.bench.others,
            "skips": [{"scenario": scenario, "contender": name, "why": why}
                      for scenario, name, why in self.skips],
            "samples": [{"scenario": key, "contender": name, **dataclasses.asdict(measured)}
                        for (key, name), measured in self.bench.results.items()],
            "uses": [{"scenario": key, "contender": name, **dataclasses.asdict(use)}
                     for (key, name), use in self.bench.uses.items()],
            "commands": dataclasses.asdict(self.commands),
            "targets": [dataclasses.asdict(target) for target in self.targets.all()],
        })
