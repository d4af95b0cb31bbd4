# SPDX-License-Identifier: MIT
"""Run trees of known use under rtrack, GNU time and psutil, and say how wrong each of them is.

Usage: accuracy.py [--repeat N] [--only WORD] [--tool NAME] [--markdown FILE] [--json FILE] [--quick]
--only takes the workloads with WORD in their name; the page is not written then, nor with --tool. --quick runs a
handful under rtrack alone and reports each as a test (TAP). The exit status is 1 where rtrack was further off than it
may be, or said more than it knew."""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
from typing import List, Tuple

from judge import problems
from report import RUNGS, Report
from runner import Result, Runner, Skip, User, copy_programs
from tools import Rtrack, Tool, peers
from workloads import ALL, QUICK, Workload

NOBODY = User("an unprivileged user", 65534, 65534)


def users(programs: pathlib.Path) -> Tuple[List[User], List[str]]:
    """Who runs it, and why somebody does not."""
    if os.getuid() != 0:
        return [User("an unprivileged user", os.getuid(), os.getgid())], ["root: we are not root"]
    root = User("root", 0, 0)
    pid = os.fork()
    if pid == 0:
        NOBODY.become()
        os._exit(0 if os.access(programs / "examples/rtrack/rtrack", os.X_OK) else 1)
    if os.waitpid(pid, 0)[1] != 0:
        return [root], [f"{NOBODY.name}: cannot reach the directory for temporary files"]
    return [root, NOBODY], []


class Session:
    def __init__(self, runner: Runner, is_quick: bool) -> None:
        self.runner, self.is_quick = runner, is_quick
        self.results: List[Result] = []
        self.skips: List[str] = []
        self.failures: List[str] = []
        self.count = 0

    def one(self, workload: Workload, tool: Tool, user: User) -> None:
        label = f"{workload} {tool.name} as {user.name}"
        self.count += 1
        try:
            result = self.runner.run(workload, tool, user)
        except Skip as skip:
            self.skips.append(f"{label}: {skip}")
            self.say(f"ok {self.count} - {label} # SKIP {skip}")
            return
        found = list(problems(result))
        self.results.append(result)
        self.failures += [f"{label}: {problem}" for problem in found]
        for problem in found:
            print("#", problem)
        self.say(f"{'not ok' if found else 'ok'} {self.count} - {label}")
        if not self.is_quick:
            complete = {None: "", True: ", complete", False: ", incomplete"}[result.figures.complete]
            print(f"{label}: {result.error():+.2f} % of {result.truth.total:.3f} s{complete}", flush=True)

    def say(self, line: str) -> None:
        if self.is_quick:
            print(line, flush=True)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--tool", default="")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main() -> int:
    wanted = options()
    with tempfile.TemporaryDirectory(prefix="rtrack-accuracy-") as name:
        programs = pathlib.Path(name)
        copy_programs(programs)
        runner = Runner(programs)
        session = Session(runner, wanted.quick)
        tools: List[Tool] = [Rtrack(programs / "examples/rtrack/rtrack", rung) for rung in RUNGS]
        tools += [] if wanted.quick else peers(programs)
        tools = [tool for tool in tools if wanted.tool in ("", tool.name)]
        workloads = [one for one in (QUICK if wanted.quick else ALL) if wanted.only in one.name]
        who, skips = users(programs)
        session.skips += skips
        if wanted.quick:
            print(f"# truth: {runner.truth}\n1..{wanted.repeat * len(who) * len(workloads) * len(tools)}", flush=True)
        for _ in range(wanted.repeat):
            for user in who:
                for workload in workloads:
                    for tool in tools:
                        session.one(workload, tool, user)
    write(session, wanted)
    for failure in session.failures if not wanted.quick else ():
        print("FAIL", failure)
    return 1 if session.failures else 0


def write(session: Session, wanted: argparse.Namespace) -> None:
    report = Report(session.results, list(dict.fromkeys(session.skips)), session.runner.truth, wanted.repeat)
    is_whole = not (wanted.quick or wanted.only or wanted.tool)
    if wanted.markdown and is_whole:
        wanted.markdown.write_text(report.markdown())
    if wanted.json:
        wanted.json.write_text(json.dumps(report.json(), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
