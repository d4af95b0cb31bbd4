# SPDX-License-Identifier: MIT
"""The measuring tools: how to start each, and how to parse its output."""
from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
from typing import List, Optional, Sequence

UNAVAILABLE = 125


@dataclasses.dataclass
class Figures:
    """The figures of a tool. None: the tool does not report this figure."""

    cpu_seconds: Optional[float]
    cpu_user_seconds: Optional[float] = None
    cpu_system_seconds: Optional[float] = None
    peak_rss_bytes: Optional[int] = None
    peak_footprint_bytes: Optional[int] = None
    peak_tree_kind: Optional[str] = None
    read_bytes: Optional[int] = None
    write_bytes: Optional[int] = None
    minor_faults: Optional[int] = None
    voluntary_switches: Optional[int] = None
    peak_tree_low_bytes: Optional[int] = None
    peak_tree_high_bytes: Optional[int] = None
    processes: Optional[int] = None
    processes_exact: Optional[bool] = None
    left_running: Optional[int] = None
    complete: Optional[bool] = None
    reasons: Sequence[str] = ()
    cpu_seconds_low: Optional[float] = None
    cpu_seconds_high: Optional[float] = None
    error_bound_seconds: Optional[float] = None
    # The names of the figures, or of their domains, by mark. valid None: all others.
    valid: Optional[Sequence[str]] = None
    partial: Sequence[str] = ()
    estimated: Sequence[str] = ()


class Tool:
    name: str
    # Whether the tool runs the command in a cgroup that it makes.
    makes_cgroup = False

    def argv(self, command: Sequence[str], out: pathlib.Path,
             options: Sequence[str]) -> List[str]:
        """Return the words that start the tool. The options are for rtrack."""
        raise NotImplementedError

    def read(self, out: pathlib.Path) -> Figures:
        raise NotImplementedError


class Rtrack(Tool):
    def __init__(self, program: pathlib.Path, method: str) -> None:
        self.name = method
        self.program = program
        self.makes_cgroup = method == "cgroup"

    def argv(self, command: Sequence[str], out: pathlib.Path,
             options: Sequence[str]) -> List[str]:
        return [str(self.program), "run", "--accounting", self.name, *options,
                "--summary", "json", "--summary-file", str(out), "--", *command]

    def read(self, out: pathlib.Path) -> Figures:
        got = json.loads(out.read_text())
        names = {field.name for field in dataclasses.fields(Figures)}
        every = {**got, **got["accounting"]}
        return Figures(**{name: every[name] for name in names & set(every)})


class GnuTime(Tool):
    name = "GNU time"

    def argv(self, command: Sequence[str], out: pathlib.Path,
             options: Sequence[str]) -> List[str]:
        return [shutil.which("time") or "time", "-o", str(out), "-f", "%U %S %M %O", *command]

    def read(self, out: pathlib.Path) -> Figures:
        """Parse the last line. A line about the signal that ended the command may precede it."""
        words = out.read_text().splitlines()[-1].split()
        user, system, peak, blocks = map(float, words)
        return Figures(user + system, user, system, peak_rss_bytes=int(peak) * 1024,
                       write_bytes=int(blocks) * 512)


class Psutil(Tool):
    name = "psutil"

    def __init__(self, program: pathlib.Path) -> None:
        self.program = program

    def argv(self, command: Sequence[str], out: pathlib.Path,
             options: Sequence[str]) -> List[str]:
        return [sys.executable, "-I", str(self.program), str(out), *command]

    def read(self, out: pathlib.Path) -> Figures:
        return Figures(**json.loads(out.read_text()))


class Tracker(Tool):
    """A tracker with default options, by the binding for Python."""

    name = "tracker"

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory

    def argv(self, command: Sequence[str], out: pathlib.Path,
             options: Sequence[str]) -> List[str]:
        interval = options[options.index("-i") + 1]
        return ["env", f"RTRACK_LIBRARY={self.directory / 'lib/librtrack.so.0'}", sys.executable,
                str(self.directory / "tracked.py"), str(out), interval, *command]

    def read(self, out: pathlib.Path) -> Figures:
        return Figures(complete=False, **json.loads(out.read_text()))


def peers(directory: pathlib.Path) -> List[Tool]:
    """Return the other tools that are installed."""
    found: List[Tool] = []
    if shutil.which("time"):
        found.append(GnuTime())
    import_psutil = [sys.executable, "-I", "-c", "import psutil"]
    if subprocess.run(import_psutil, stderr=subprocess.DEVNULL).returncode == 0:
        found.append(Psutil(directory / "poller.py"))
    return found
