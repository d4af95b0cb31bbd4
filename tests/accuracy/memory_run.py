# SPDX-License-Identifier: MIT
"""Run the trees of footprint.py, and follow them."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Sequence

from figures import Figure
from harness import BUILD, SOURCE
from memory_trees import Place
from runner import Skip, User, copy_programs, read_series
from stopped import Frames, members_of

PATIENCE_S = 100.0
INTERVAL_S, POLL_S = 0.1, 0.05


def copy_all(programs: pathlib.Path) -> None:
    copy_programs(programs)
    here = pathlib.Path(__file__).parent
    for path in (here / "follower.py", SOURCE / "examples/python/rtrack.py"):
        shutil.copy(path, programs / path.name)


class Follower:
    """A process that follows a tree: see follower.py."""

    def __init__(self, programs: pathlib.Path, user: User, pid: int,
                 interval_s: float = INTERVAL_S, poll_s: float = POLL_S) -> None:
        environment = {**os.environ, "PYTHONPATH": str(programs), "PYTHONDONTWRITEBYTECODE": "1",
                       "RTRACK_LIBRARY": str(programs / "lib/librtrack.so.0")}
        self.process = subprocess.Popen(
            [sys.executable, str(programs / "follower.py"), str(pid), str(interval_s),
             str(poll_s)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
            cwd=programs, preexec_fn=user.become, text=True)
        self.line()

    def line(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the tracker has ended: {self.process.wait()}")
        return line

    def sample(self) -> Dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write("sample\n")
        self.process.stdin.flush()
        row: Dict[str, Any] = json.loads(self.line())
        return row

    def close(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Bench:
    """The programs, and what has been left out."""

    def __init__(self, directory: pathlib.Path, programs: pathlib.Path) -> None:
        self.directory, self.programs = directory, programs
        self.frames = Frames(BUILD / "tests/accuracy/frames")
        self.skips: List[str] = []

    @contextlib.contextmanager
    def place(self, user: User) -> Iterator[Place]:
        with tempfile.TemporaryDirectory(prefix="tree-", dir=self.directory) as name:
            os.chown(name, user.uid, user.gid)
            yield Place(self.programs, pathlib.Path(name), user)


class Finding(NamedTuple):
    """One line of a table, and what is wrong with it."""

    user: str
    cells: Sequence[str]
    problems: Sequence[str]


class Part:
    """One part of footprint.py: see its text."""

    name: str
    title: str
    head: Sequence[str]

    def __init__(self, bench: Bench, figure: Figure, is_quick: bool, repeat: int) -> None:
        self.bench, self.figure, self.is_quick = bench, figure, is_quick
        self.repeat = repeat

    def names(self) -> List[str]:
        """Return what it measures."""
        raise NotImplementedError

    def measure(self, name: str, user: User, run_as: Sequence[User]) -> Finding:
        """Measure one of them as a user. run_as: all users."""
        raise NotImplementedError


class Ran(NamedTuple):
    """What `rtrack run` has written, and its exit code."""

    code: int
    summary: Dict[str, Any]
    rows: List[Dict[str, Any]]
    errors: str


def run_rtrack(place: Place, options: Sequence[str], words: Sequence[str],
               environment: Mapping[str, str] = {}, cpus: Sequence[int] = (),
               is_held: bool = False) -> Ran:
    """Run a command under rtrack. is_held: its input does not end before it does."""

    def begin() -> None:
        if cpus:
            os.sched_setaffinity(0, cpus)
        place.user.become()

    summary, series = place.directory / "summary", place.directory / "series"
    source, sink = os.pipe()
    try:
        done = subprocess.run(
            [str(place.programs / "examples/rtrack/rtrack"), "run", *options, "-o", str(series),
             "--format", "jsonl", "--summary", "json", "--summary-file", str(summary), "--",
             *words], cwd=place.directory, preexec_fn=begin, env={**os.environ, **environment},
            stdin=source if is_held else subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
    finally:
        os.close(source)
        os.close(sink)
    got = json.loads(summary.read_text()) if summary.exists() else {}
    return Ran(done.returncode, got, read_series(series), done.stderr)


def start_time(pid: int) -> str:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


class Running:
    """A tree that runs. It ends with its standard input, and is killed if it does not."""

    def __init__(self, words: Sequence[str], place: Place) -> None:
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(words, cwd=place.directory, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors,
                                        preexec_fn=place.user.become)
        self.pid = self.process.pid

    def say(self) -> None:
        """Send a line."""
        assert self.process.stdin
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def await_ready(self) -> None:
        self.await_line("ready")

    def await_line(self, line: str) -> None:
        assert self.process.stdout
        if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
            raise AssertionError(f"{self.process.args!r} does not say {line}")
        if self.process.stdout.readline().decode() != line + "\n":
            self.errors.seek(0)
            reason = self.errors.read().decode(errors="replace").splitlines() or ["no reason"]
            raise Skip(reason[-1])

    def end(self, is_patient: bool = True) -> None:
        assert self.process.stdin and self.process.stdout
        members = [(pid, start_time(pid)) for pid in members_of(self.pid)]
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE_S if is_patient else 0)
        for pid, started in members:
            if started and start_time(pid) == started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
