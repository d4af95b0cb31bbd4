# SPDX-License-Identifier: MIT
"""Measure what a sample of a tree costs with two builds of the library, in turns.

Usage, as root: pairs.py [--rounds N] [--only WORD] [--defaults] BASE NEW

BASE and NEW are build directories; NEW has the programs (ninja bench). Prints a Markdown table of
the medians, in us of CPU time: of the first sample, with the start of its program, and of samples
at users' pace, while other programs start processes."""
from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
from typing import Dict, Iterator, List, Tuple

if __name__ == "__main__":
    HERE = pathlib.Path(__file__).resolve().parent
    os.environ["RTRACK_SOURCE_ROOT"] = str(HERE.parent.parent)
    os.environ["RTRACK_BUILD_ROOT"] = os.path.abspath(sys.argv[-1])
    sys.path += [str(HERE.parent / "support")]

from contenders import PROGRAMS, Contender, DriverSession, Task
from measure import warm_up
from paced import FORKS, SECOND_MS, TENTH_MS, WARM_UP, Activity, Pace, Paced, take_round
from subjects import Subject, adopt_orphans
from trees import allow_descriptors

STORM = 1000
BPF = "BPF"
USERS: Dict[str, Tuple[List[str], Dict[str, str]]] = {
    "root": ([], {"no events": "text", BPF: "-", "connector": "text-events"}),
    "unprivileged": (["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
               {"no events": "-", "connector": "events"}),
    "pid namespace": (["unshare", "--pid", "--fork", "--mount-proc"], {"no events": "text"}),
}
"""How to become each, and the variants of with_rtrack.c."""
SUBJECTS: List[Tuple[str, str, int, int]] = [
    ("1000 threads", "threads", 100, FORKS),
    ("1000 threads, storm of forks", "threads", 100, STORM),
    ("1000 processes, idle", "tree", 0, FORKS),
    ("1000 processes, 5 % ran", "tree", 5, FORKS),
    ("1000 processes, 5 % ran, storm of forks", "tree", 5, STORM),
    ("1000 processes, all ran", "tree", 100, FORKS),
]
"""Title, kind, percent of the members that run in each interval, and forks a second elsewhere."""
SIZE = 1000
DESCRIPTORS = 20000
SETTLE = 6
"""Samples before the measured ones. E.g.: what a method learns from one sample to the next."""
EACH_ROUND = {TENTH_MS: 4, SECOND_MS: 2}

Costs = Dict[str, List[float]]


def contenders(builds: List[str], variants: Dict[str, str], prefix: str) -> Dict[str, Contender]:
    """Both builds by the same program, which finds its library in another place."""
    return {
        f"{events} {which}": Contender(
            "rtrack", build, ("/usr/bin/env", f"LD_LIBRARY_PATH={build}/lib",
                              str(PROGRAMS / "bench-with-rtrack"), prefix + variant))
        for events, variant in variants.items() for which, build in enumerate(builds)}


def first_samples(found: Dict[str, Contender], task: Task, rounds: int) -> Costs:
    cpu_ns: Costs = {name: [] for name in found}
    names = list(found)
    for turn in range(rounds):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            session = found[name].begin(task)
            cpu_ns[name].append(float(session.first_cpu_ns or 0))
            session.end()
    return cpu_ns


@contextlib.contextmanager
def begin_all(found: Dict[str, Contender], task: Task,
              scenario: Paced) -> Iterator[Dict[str, DriverSession]]:
    with contextlib.ExitStack() as stack:
        sessions: Dict[str, DriverSession] = {}
        for name, contender in found.items():
            session = contender.begin(task)
            stack.callback(session.end)
            assert isinstance(session, DriverSession)
            if name.startswith(BPF):
                warm_up(session, scenario.warm_up, WARM_UP)
            sessions[name] = session
        yield sessions


def at_pace(sessions: Dict[str, DriverSession], scenario: Paced, subject: Subject,
            turns: int) -> Costs:
    cpu_ns: Costs = {name: [] for name in sessions}
    settle = SETTLE if scenario.interval_ms < SECOND_MS else 1
    with Activity(subject, scenario.running, scenario.interval_ms):
        for turn in range(settle + turns):
            for name, one in take_round(sessions, scenario, Pace(1, 1, WARM_UP), turn):
                cpu_ns[name] += one.cpu_ns if turn >= settle else []
    return cpu_ns


def cells(cpu_ns: Costs, events: str) -> str:
    base, new = (statistics.median(cpu_ns[f"{events} {which}"]) / 1e3 for which in range(2))
    return f"{base:.0f} | {new:.0f} | {100 * (new / base - 1):+.0f} %"


def measure(user: str, options: argparse.Namespace) -> None:
    variants = USERS[user][1]
    prefix = "default-" if options.defaults else ""
    found = contenders([options.base, options.new], variants, prefix)
    for title, kind, percent, rate in SUBJECTS:
        if options.only not in f"{user} {title}":
            continue
        with Subject(PROGRAMS / "bench-subject", kind, SIZE) as subject, \
             Subject(PROGRAMS / "bench-subject", "forks", rate):
            task = Task("tree", False, subject)
            costs = [first_samples(found, task, options.rounds)]
            scenario = Paced(title, "tree", (kind, SIZE), TENTH_MS, percent)
            with begin_all(found, task, scenario) as sessions:
                for interval_ms, each in EACH_ROUND.items():
                    scenario = Paced(title, "tree", (kind, SIZE), interval_ms, percent)
                    costs.append(at_pace(sessions, scenario, subject, each * options.rounds))
        for events in variants:
            row = " | ".join(cells(cost, events) for cost in costs)
            print(f"| {title} | {user} | {events} | {row} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--defaults", action="store_true", help="all default figures, as PSS")
    parser.add_argument("--user", choices=USERS)
    parser.add_argument("base", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    options = parser.parse_args()
    if options.user:
        allow_descriptors(DESCRIPTORS)
        adopt_orphans()
        measure(options.user, options)
        return
    heads = [f"{what}: {which}" for what in ("first", "100 ms", "1 s")
             for which in ("base", "new", "")]
    print(f"| Tree | User | Read by | {' | '.join(heads)} |".replace(":  |", " |"))
    print("|---|---|---" + "|--:" * len(heads) + "|", flush=True)
    for user, (become, _) in USERS.items():
        subprocess.run([*become, sys.executable, __file__, "--user", user, *sys.argv[1:]],
                       check=True)


if __name__ == "__main__":
    main()
