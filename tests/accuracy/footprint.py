# SPDX-License-Identifier: MIT
"""Compare the footprint of trees with the page frames that they map, each counted once.

Usage: footprint.py [--quick] [--part NAME]... [--only WORD]... [--user NAME] [--figure NAME]
                    [--repeat N] [--markdown FILE] [--json FILE]
Needs root, which alone sees page frames. The parts:
  rows       a tree is followed, stopped, and its frames are counted; then a sample is taken
  peaks      memory that is held for a moment
  churn      workers that map and unmap memory all the time
  stability  one program again and again, alone and beside eight strangers
  limits     --max-memory ends what is above it, and nothing else
Each part is run as root and as an unprivileged user, and each line is a test (TAP). --only selects
what has WORD in its name. --quick runs a few rows. --repeat is the number of runs of one program in
the last two parts.

--figure has another figure in the place of the footprint: pss_bytes or rss_bytes. It shows that the
bounds can fail: PSS falls beside strangers, and a sum of RSS counts pages that are shared again."""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import re
import signal
import sys
import tempfile
from typing import Any, Dict, List, Sequence

from accuracy import users
from memory_judge import FOOTPRINT, STAND_INS
from memory_limits import LimitPart
from memory_peaks import ChurnPart, PeakPart, StabilityPart
from memory_rows import RowPart
from memory_run import Bench, Finding, Part, copy_all
from report import list_item, table
from runner import Skip, User

PARTS = {"rows": RowPart, "peaks": PeakPart, "churn": ChurnPart, "stability": StabilityPart,
         "limits": LimitPart}
FIGURES = {figure.name: figure for figure in (FOOTPRINT, *STAND_INS)}


HEAD = """# How exact the memory of a tree is {{#footprint}}

Written by `tests/accuracy/run.sh footprint`; do not edit. The footprint of a tree is the memory
that its processes map, each page counted once. The truth is its page frames: all processes are
stopped, and the frames that `/proc/PID/pagemap` shows of them are counted, each once.

- Linux {kernel}, {cpus} CPUs.
- An error is in % of the truth, and of the worst sample. A footprint may be 3 % off, that of a
  browser and a peak 5 %; one that is marked `valid`, 0.5 %; and its bounds hold the truth.
- `needed` is what the kernel cannot take back: all but mapped files.
- The last column has the number of violated conditions.

[TOC]
"""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--user", choices=("root", "unprivileged"), default="")
    parser.add_argument("--figure", choices=FIGURES, default=FOOTPRINT.name)
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


class Session:
    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.count = self.failures = 0
        self.findings: Dict[Part, List[Finding]] = {}

    def run(self, part: Part, name: str, user: User, run_as: Sequence[User]) -> None:
        self.count += 1
        label = f"{part.name} {name} as {user.name}"
        try:
            finding = part.measure(name, user, run_as)
        except Skip as reason:
            self.bench.skips.append(f"{label}: {reason}")
            print(f"ok {self.count} - {label} # SKIP {reason}", flush=True)
            return
        self.findings.setdefault(part, []).append(finding)
        self.failures += bool(finding.problems)
        for line in (" | ".join(finding.cells), *dict.fromkeys(finding.problems)):
            print("#", line)
        print(f"{'not ok' if finding.problems else 'ok'} {self.count} - {label}", flush=True)

    def markdown(self) -> str:
        kernel = re.match(r"[\d.]+", platform.release())
        text = HEAD.format(kernel=kernel[0] if kernel else "", cpus=os.cpu_count())
        for part, findings in self.findings.items():
            for i, user in enumerate(dict.fromkeys(finding.user for finding in findings)):
                rows = [[*finding.cells, str(len(finding.problems) or "")]
                        for finding in findings if finding.user == user]
                title = f"{part.title}, as {user} {{#footprint_{part.name}_{i}}}"
                text += f"\n## {title}\n\n" + table([*part.head, "wrong"], rows)
        if self.bench.skips:
            text += "\n## Runs that were left out {#footprint_skips}\n\n"
            text += "".join(map(list_item, self.bench.skips))
        return text

    def json(self) -> List[Dict[str, Any]]:
        return [{"part": part.name, **finding._asdict()}
                for part, findings in self.findings.items() for finding in findings]


def measure_all(session: Session, arguments: argparse.Namespace) -> int:
    run_as, skips = users(session.bench.programs)
    session.bench.skips += skips
    for kind in arguments.part or (["rows"] if arguments.quick else PARTS):
        part = PARTS[kind](session.bench, FIGURES[arguments.figure], arguments.quick,
                           arguments.repeat)
        for name in part.names():
            if not any(word in name for word in arguments.only or [""]):
                continue
            for user in run_as:
                if arguments.user in user.name:
                    session.run(part, name, user, run_as)
    print(f"1..{session.count}", flush=True)
    return 1 if session.failures else 0


def main() -> int:
    arguments = parse_arguments()
    if os.getuid() != 0:
        print("1..0 # SKIP only root sees page frames")
        return 0
    # Trees are ended, and settings of the kernel are put back, before it ends.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="rtrack-footprint-") as name:
        programs = pathlib.Path(name)
        copy_all(programs)
        session = Session(Bench(programs, programs))
        code = measure_all(session, arguments)
    if arguments.markdown:
        arguments.markdown.write_text(session.markdown())
    if arguments.json:
        arguments.json.write_text(json.dumps(session.json(), indent=1) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
