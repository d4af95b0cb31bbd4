# SPDX-License-Identifier: MIT
"""Run trees of known usage under rtrack, GNU time and psutil, and report the error of each tool.

Usage: accuracy.py [--repeat N] [--only WORD]... [--tool NAME]... [--user NAME] [--size SIZE]
                   [--interval TIME] [--load N] [--markdown FILE] [--json FILE] [--quick]
--only selects the workloads with WORD in their name, --tool some tools and --user one user. The
tool "tracker", a tracker with default options, runs only if it is named. With one of these the page
is not written. --size is large, small or both. --interval is the time between samples of rtrack,
e.g. 1 or 0.1. --load has N busy loops run beside all that. --quick runs a few workloads under
rtrack alone, in their small size, and reports each as a test (TAP). The exit status is 1 if a
result of rtrack was outside its tolerance, or claimed more than rtrack could know."""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
from typing import List, Set, Tuple

from judge import problems
from load import run_beside_load
from report import METHODS, Report
from runner import Result, Runner, Skip, User, copy_programs
from tools import Rtrack, Tool, Tracker, peers
from workloads import ALL, QUICK, Workload

UNPRIVILEGED = User("an unprivileged user", 65534, 65534)


def users(programs: pathlib.Path) -> Tuple[List[User], List[str]]:
    """Return the users that run the workloads, and the reasons why other users are left out."""
    if os.getuid() != 0:
        user = User("an unprivileged user", os.getuid(), os.getgid())
        return [user], ["root: this program does not run as root"]
    root = User("root", 0, 0)
    pid = os.fork()
    if pid == 0:
        UNPRIVILEGED.become()
        os._exit(0 if os.access(programs / "examples/rtrack/rtrack", os.X_OK) else 1)
    if os.waitpid(pid, 0)[1] != 0:
        return [root], [f"{UNPRIVILEGED.name}: cannot reach the directory for temporary files"]
    return [root, UNPRIVILEGED], []


class Session:
    def __init__(self, runner: Runner, is_quick: bool) -> None:
        self.runner, self.is_quick = runner, is_quick
        self.results: List[Result] = []
        self.skips: List[str] = []
        self.refused: Set[Tuple[str, str]] = set()  # methods that a user cannot have
        self.failures: List[str] = []
        self.count = 0

    def measure(self, workload: Workload, tool: Tool, user: User) -> None:
        label = f"{workload} {tool.name} as {user.name}"
        if (tool.name, user.name) in self.refused:
            return
        self.count += 1
        try:
            result = self.runner.run(workload, tool, user)
        except Skip as skip:
            if "is not available" in str(skip):
                self.refused.add((tool.name, user.name))
            self.skips.append(f"{label}: {skip}")
            self.print_tap(f"ok {self.count} - {label} # SKIP {skip}")
            return
        found = list(problems(result))
        self.results.append(result)
        self.failures += [f"{label}: {problem}" for problem in found]
        for problem in found:
            print("#", problem)
        self.print_tap(f"{'not ok' if found else 'ok'} {self.count} - {label}")
        if not self.is_quick:
            suffixes = {None: "", True: ", complete", False: ", incomplete"}
            suffix = suffixes[result.figures.complete]
            error = result.error()
            percent = "unknown" if error is None else f"{error:+.2f} %"
            print(f"{label}: {percent} of {result.truth.total:.3f} s{suffix}", flush=True)

    def print_tap(self, line: str) -> None:
        if self.is_quick:
            print(line, flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--tool", action="append", default=[])
    parser.add_argument("--user", choices=("root", "unprivileged"), default="")
    parser.add_argument("--size", choices=("large", "small", "both"), default="large")
    parser.add_argument("--interval", default="0.1")
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def chosen_workloads(arguments: argparse.Namespace) -> List[Workload]:
    found: List[Workload] = []
    if arguments.quick:
        found += QUICK
    elif arguments.size != "small":
        found += ALL
    if not arguments.quick and arguments.size != "large":
        found += [one.made_small() for one in ALL]
    words = arguments.only or [""]
    return [one for one in found if any(word in one.name for word in words)]


def measure_all(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="rtrack-accuracy-") as name:
        programs = pathlib.Path(name)
        copy_programs(programs)
        runner = Runner(programs, arguments.interval)
        session = Session(runner, arguments.quick)
        tools: List[Tool] = [
            Rtrack(programs / "examples/rtrack/rtrack", method) for method in METHODS]
        tools += [] if arguments.quick else peers(programs)
        tools = [tool for tool in tools if not arguments.tool or tool.name in arguments.tool]
        tools += [Tracker(programs)] if Tracker.name in arguments.tool else []
        workloads = chosen_workloads(arguments)
        run_as, skips = users(programs)
        run_as = [user for user in run_as if arguments.user in user.name]
        session.skips += skips
        if arguments.quick:
            print(f"# truth: {runner.truth}", flush=True)
        for _ in range(arguments.repeat):
            for user in run_as:
                for workload in workloads:
                    for tool in tools:
                        session.measure(workload, tool, user)
    if arguments.quick:
        print(f"1..{session.count}", flush=True)
    write(session, arguments)
    for failure in session.failures if not arguments.quick else ():
        print("FAIL", failure)
    return 1 if session.failures else 0


def write(session: Session, arguments: argparse.Namespace) -> None:
    report = Report(session.results, list(dict.fromkeys(session.skips)), session.runner.truth,
                    arguments.repeat)
    is_whole = arguments.size == "large" and not (
        arguments.quick or arguments.only or arguments.tool or arguments.user)
    if arguments.markdown and is_whole:
        arguments.markdown.write_text(report.markdown())
    if arguments.json:
        arguments.json.write_text(json.dumps(report.json(), indent=1) + "\n")


def main() -> int:
    arguments = parse_arguments()
    return run_beside_load(arguments.load, lambda: measure_all(arguments))


if __name__ == "__main__":
    sys.exit(main())
