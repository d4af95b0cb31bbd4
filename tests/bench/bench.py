# SPDX-License-Identifier: MIT
"""Measure the cost of a sample and of a command, and compare it with other tools as ratios.

Usage: bench.py [--quick] [--only WORD] [--markdown FILE] [--json FILE] [--chart FILE]
--only selects the scenarios with WORD in their name, and writes no page. --quick runs a few small
scenarios and reports each as a test (TAP). Such a test fails only if it cannot run.

It takes ten minutes at most. What there is no time for is left out, and the page says so."""
from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import resource
import signal
import sys
import time
from typing import Any, Callable, List, Tuple

import commands
import measure
import paced
from chart import draw
from report import Report
from scenarios import FULL, QUICK, QUICK_USES, USES, Scenario
from subjects import adopt_orphans

MOST_DESCRIPTORS = 20000
COMMANDS_END_S, SAMPLES_END_S = 300, 540
"""When no further round of storms and no further scenario is begun, in seconds from the start."""
LATE = "ten minutes are too short here"


def allow_descriptors() -> None:
    """Set one descriptor limit for all contenders: MOST_DESCRIPTORS, or a lower hard limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Session:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.is_quick: bool = arguments.quick
        self.count = self.failures = 0
        self.start_s = time.monotonic()
        self.skips: List[Tuple[str, str, str]] = []
        self.bench = measure.Bench(measure.QUICK if self.is_quick else measure.FULL, self.record)
        self.commands = commands.Commands()

    def record(self, scenario: str, contender: str, why: str) -> None:
        if why:
            self.skips.append((scenario, contender, why))
        self.print_tap(True, f"{scenario} {contender}", why)

    def print_tap(self, is_ok: bool, what: str, skip: str = "") -> None:
        self.count += 1
        self.failures += not is_ok
        if self.is_quick:
            suffix = f" # SKIP {skip}" if skip else ""
            print(f"{'ok' if is_ok else 'not ok'} {self.count} - {what}{suffix}", flush=True)

    def attempt(self, what: str, action: Callable[[], None]) -> None:
        """Run one action. Reports its failure, so that the other measurements still run."""
        try:
            action()
        except Exception as error:  # noqa: BLE001
            print(f"# {what}: {error!r}", file=sys.stdout if self.is_quick else sys.stderr,
                  flush=True)
            self.print_tap(False, what)

    def has_time(self, end_s: float) -> bool:
        return time.monotonic() - self.start_s < end_s

    def leave_out(self, key: str) -> bool:
        """Return whether there is no time for a scenario, and record it then."""
        if self.has_time(SAMPLES_END_S):
            return False
        self.record(key, "all", LATE)
        return True

    def paced(self) -> None:
        for scenario in paced.QUICK if self.is_quick else paced.FULL:
            if self.arguments.only not in scenario.key or self.leave_out(scenario.key):
                continue
            if not self.is_quick:
                print(f"{scenario.key} ...", flush=True)
            self.attempt(scenario.key, lambda: paced.run(self.bench, scenario))
            for line in self.report().paced_lines(scenario):
                print(f"# {line}" if self.is_quick else f"  {line}", flush=True)

    def samples(self) -> None:
        every = [
            one for one in (QUICK if self.is_quick else FULL) if self.arguments.only in one.key]
        for spec, group in itertools.groupby(sorted(every, key=order), key=lambda one: one.subject):
            with measure.subject_of(spec) as subject:
                for scenario in group:
                    if self.leave_out(scenario.key):
                        continue
                    if not self.is_quick:
                        print(f"{scenario.key} ...", flush=True)
                    self.attempt(scenario.key, lambda: self.bench.run(scenario, subject))
                    for line in self.report().lines(scenario):
                        print(f"# {line}" if self.is_quick else f"  {line}", flush=True)

    def uses(self) -> None:
        for scenario in QUICK_USES if self.is_quick else USES:
            if self.arguments.only in scenario.key and not self.leave_out(f"{scenario.key} use"):
                with measure.subject_of(scenario.subject) as subject:
                    self.attempt(f"{scenario.key} use", lambda: self.bench.use(scenario, subject))

    def run_commands(self) -> None:
        if self.arguments.only in "commands":
            effort = commands.QUICK if self.is_quick else commands.FULL
            self.attempt("commands",
                         lambda: setattr(self, "commands", commands.measure(
                             effort, self.record, lambda: self.has_time(COMMANDS_END_S))))

    def report(self) -> Report:
        return Report(self.bench, self.commands, self.skips)


def order(scenario: Scenario) -> Tuple[str, int]:
    """Sort key that groups the scenarios of one subject, so that it is started once."""
    return scenario.subject or ("", 0)


def one_per_line(figures: Any) -> str:
    """Return JSON with one result a line, so that two runs can be compared with diff."""
    lines = []
    for key, value in figures.items():
        rows = value if isinstance(value, list) else []
        items = ",\n".join("  " + json.dumps(one) for one in rows)
        lines.append(f"{json.dumps(key)}: " + (f"[\n{items}\n]" if items else json.dumps(value)))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--chart", type=pathlib.Path)
    return parser.parse_args()


def write(session: Session, arguments: argparse.Namespace) -> None:
    """Write the page, JSON and chart. Always formats them, so that --quick tests that too."""
    report = session.report()
    page, figures = report.markdown(), report.json()
    for line in report.summary():
        print(f"# {line}" if arguments.quick else line)
    if arguments.only:
        return
    if arguments.json:
        arguments.json.write_text(one_per_line(figures))
    if arguments.chart:
        draw(report, arguments.chart)
    if arguments.markdown:
        arguments.markdown.write_text(page)


def main() -> int:
    arguments = parse_arguments()
    # Exit through sys.exit() on SIGTERM, so that started subjects are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    adopt_orphans()
    allow_descriptors()
    session = Session(arguments)
    session.paced()
    session.uses()  # short, and some targets are of nothing else
    session.run_commands()
    session.samples()
    session.attempt("report", lambda: write(session, arguments))
    if arguments.quick:
        print(f"1..{session.count}")
    return 1 if session.failures else 0


if __name__ == "__main__":
    sys.exit(main())
