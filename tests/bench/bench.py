# SPDX-License-Identifier: MIT
"""Measure what a sample and a command cost, side by side with others, and say it in ratios.

Usage: bench.py [--quick] [--only WORD] [--markdown FILE] [--json FILE] [--chart FILE]
--only takes the scenarios with WORD in their name; no page is written then. --quick takes a handful of small ones and
reports each as a test (TAP), which fails only when it cannot be run."""
from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import resource
import signal
import sys
from typing import Any, Callable, List, Tuple

import commands
import measure
from chart import draw
from report import Report
from scenarios import FULL, QUICK, QUICK_USES, USES, Scenario
from subjects import adopt_orphans

MOST_DESCRIPTORS = 20000


def allow_descriptors() -> None:
    """For all contenders alike, and the same on every machine that allows for it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Session:
    def __init__(self, wanted: argparse.Namespace) -> None:
        self.wanted = wanted
        self.is_quick: bool = wanted.quick
        self.count = self.failures = 0
        self.skips: List[Tuple[str, str, str]] = []
        self.bench = measure.Bench(measure.QUICK if self.is_quick else measure.FULL, self.tell)
        self.commands = commands.Commands()

    def tell(self, scenario: str, contender: str, why: str) -> None:
        if why:
            self.skips.append((scenario, contender, why))
        self.say(True, f"{scenario} {contender}", why)

    def say(self, is_ok: bool, what: str, skip: str = "") -> None:
        self.count += 1
        self.failures += not is_ok
        if self.is_quick:
            print(f"{'ok' if is_ok else 'not ok'} {self.count} - {what}{f' # SKIP {skip}' if skip else ''}", flush=True)

    def attempt(self, what: str, action: Callable[[], None]) -> None:
        """One failure is no reason not to measure the rest."""
        try:
            action()
        except Exception as error:  # noqa: BLE001
            print(f"# {what}: {error!r}", file=sys.stdout if self.is_quick else sys.stderr, flush=True)
            self.say(False, what)

    def samples(self) -> None:
        every = [one for one in (QUICK if self.is_quick else FULL) if self.wanted.only in one.key]
        for spec, group in itertools.groupby(sorted(every, key=order), key=lambda one: one.subject):
            with measure.subject_of(spec) as subject:
                for scenario in group:
                    if not self.is_quick:
                        print(f"{scenario.key} ...", flush=True)
                    self.attempt(scenario.key, lambda: self.bench.run(scenario, subject))
                    for line in self.report().lines(scenario):
                        print(f"# {line}" if self.is_quick else f"  {line}", flush=True)

    def uses(self) -> None:
        for scenario in QUICK_USES if self.is_quick else USES:
            if self.wanted.only in scenario.key:
                with measure.subject_of(scenario.subject) as subject:
                    self.attempt(f"{scenario.key} use", lambda: self.bench.use(scenario, subject))

    def run_commands(self) -> None:
        if self.wanted.only in "commands":
            effort = commands.QUICK if self.is_quick else commands.FULL
            self.attempt("commands", lambda: setattr(self, "commands", commands.measure(effort, self.tell)))

    def report(self) -> Report:
        return Report(self.bench, self.commands, self.skips)


def order(scenario: Scenario) -> Tuple[str, int]:
    """Those of the same subject together, which is started once."""
    return scenario.subject or ("", 0)


def one_per_line(figures: Any) -> str:
    """JSON in which each result is a line, so that two runs can be compared."""
    lines = []
    for key, value in figures.items():
        items = ",\n".join("  " + json.dumps(one) for one in value) if isinstance(value, list) else ""
        lines.append(f"{json.dumps(key)}: " + (f"[\n{items}\n]" if items else json.dumps(value)))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--chart", type=pathlib.Path)
    return parser.parse_args()


def write(session: Session, wanted: argparse.Namespace) -> None:
    """Made in any case, so that the short form tests it, too."""
    report = session.report()
    page, figures = report.markdown(), report.json()
    for line in report.summary():
        print(f"# {line}" if wanted.quick else line)
    if wanted.only:
        return
    if wanted.json:
        wanted.json.write_text(one_per_line(figures))
    if wanted.chart:
        draw(report, wanted.chart)
    if wanted.markdown:
        wanted.markdown.write_text(page)


def main() -> int:
    wanted = options()
    # So that what was begun is ended on SIGTERM, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    adopt_orphans()
    allow_descriptors()
    session = Session(wanted)
    session.run_commands()
    session.samples()
    session.uses()
    session.attempt("report", lambda: write(session, wanted))
    if wanted.quick:
        print(f"1..{session.count}")
    return 1 if session.failures else 0


if __name__ == "__main__":
    sys.exit(main())
