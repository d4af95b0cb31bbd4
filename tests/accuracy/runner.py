# SPDX-License-Identifier: MIT
"""Run a workload under a tool, and measure what it really used (the truth)."""
from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from groups import Groups, Use, cgroup_directory, read_keys
from harness import BUILD, SOURCE, SUPERVISOR
from rule import Truth
from tools import UNAVAILABLE, Figures, Tool
from workloads import SETUID_COPY, Workload

SKIPPED = 77
ENTER_FAILED = 99
LIMIT_S = 60.0
LEFT_RUNNING_S = 8.0
SETUID_UID = 65533
# Writing the report must not be seen: a file in memory is no I/O and makes no process sleep.
MEMORY_FILES = pathlib.Path("/dev/shm")
PR_SET_CHILD_SUBREAPER = 36
CPUCLOCK_SCHED = 2

CGROUP_TRUTH = "cpu.stat of a fresh cgroup v2 group"
WAIT_TRUTH = "wait4 of a subreaper"
# CPU time of a supervisor with sanitizers that reaps a hundred processes on a busy system.
SUPERVISOR_S = 0.02


class Skip(Exception):
    """The measurement is not possible on this system. The text is the reason."""


@dataclasses.dataclass(frozen=True)
class User:
    name: str
    uid: int
    gid: int

    def become(self) -> None:
        if self.uid != os.getuid():
            os.setgroups([])
            os.setgid(self.gid)
            os.setuid(self.uid)


class Phase(NamedTuple):
    """While it lasts, the memory of the tree does not change. Times are of CLOCK_MONOTONIC."""

    begin_ns: int
    end_ns: int
    truth: Truth


@dataclasses.dataclass
class Result:
    workload: Workload
    tool: str
    user: str
    truth: Use
    truth_at_exit: Use
    # What the workload knows of itself: the figures of its end, and its phases.
    known: Dict[str, Truth]
    phases: Sequence[Phase]
    figures: Figures
    # The rows of the series, if rtrack wrote one.
    rows: Sequence[Dict[str, Any]] = ()
    # The truth may include this much CPU time of the supervisor of rtrack.
    surplus_s: float = 0.0
    left_groups: Sequence[str] = ()

    def error(self) -> Optional[float]:
        """Return the error of the CPU time in % of the truth."""
        if self.figures.cpu_seconds is None:
            return None
        return 100 * (self.figures.cpu_seconds / self.truth.total - 1)


def copy_programs(to: pathlib.Path) -> None:
    """Copy the programs, so that every user can run them. The build directory may be private."""
    to.chmod(0o755)
    for name in ("examples/rtrack/rtrack", "lib/librtrack.so.0", f"lib/{SUPERVISOR}",
                 "tests/accuracy/enter"):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUILD / name, to / name)
    for plugin in (BUILD / "lib").glob("librtrack-bpf.so.[0-9]"):  # not built without clang
        shutil.copy(plugin, to / "lib" / plugin.name)
    for program in (BUILD / "tests/accuracy").glob("accuracy-*"):
        if os.access(program, os.X_OK) and program.is_file():
            shutil.copy(program, to / program.name)
    here = pathlib.Path(__file__).parent
    for script in (here / "poller.py", here / "tracked.py", SOURCE / "examples/python/rtrack.py"):
        shutil.copy(script, to / script.name)
    if os.getuid() == 0:
        copy = to / "setuid"
        shutil.copy(to / "accuracy-setuid_exec", copy)
        os.chown(copy, SETUID_UID, -1)
        copy.chmod(0o4755)


def read_report(path: pathlib.Path) -> Tuple[Dict[str, Truth], List[Phase]]:
    """Parse what a workload knows of itself: lines "NAME LOW HIGH" and "phase BEGIN END LOW HIGH".
    """
    known: Dict[str, Truth] = {}
    phases: List[Phase] = []
    for line in path.read_text().splitlines() if path.exists() else ():
        name, *words = line.split()
        *times, low, high = map(int, words)
        if name == "phase":
            phases.append(Phase(times[0], times[1], Truth(low, high)))
        else:
            known[name] = Truth(low, high)
    return known, phases


def read_series(path: pathlib.Path) -> List[Dict[str, Any]]:
    if not path.exists():
        return []
    rows = map(json.loads, path.read_text().splitlines())
    return [row for row in rows if row["type"] == "sample" and row["kind"] == "process"]


def cpu_clock_of(pid: int) -> float:
    """Return the CPU time of all threads of a process or zombie, without its children."""
    return time.clock_gettime(~pid << 3 | CPUCLOCK_SCHED)


def waited_for() -> Use:
    """Return what all processes have used that were waited for."""
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Use(of.ru_utime + of.ru_stime, of.ru_utime, of.ru_stime)


def await_zombie(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the exit of a process without reaping it."""
    end = time.monotonic() + LIMIT_S
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > end:
            process.kill()
            process.wait()
            raise AssertionError(f"{process.args!r} did not end")
        time.sleep(0.002)


def environment(report: pathlib.Path, groups: Optional[Groups]) -> Dict[str, str]:
    """Return the environment of a workload: where it reports, and a group that it may move to."""
    of_workload = {"ACCURACY_REPORT": str(report)}
    if groups:
        of_workload["ACCURACY_ELSEWHERE"] = str(groups.elsewhere)
    return {**os.environ, **of_workload}


class Runner:
    def __init__(self, programs: pathlib.Path, interval: str) -> None:
        self.programs, self.interval = programs, interval
        self.parent = cgroup_directory()
        self.truth = CGROUP_TRUTH if self.parent else WAIT_TRUTH
        self.count = 0
        # Become the reaper of orphans that no tool adopts.
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def words(self, workload: Workload) -> List[str]:
        if SETUID_COPY in workload.words and not (self.programs / "setuid").exists():
            raise Skip("only root can make a set-user-id program of another user")
        words = [
            str(self.programs / "setuid") if word == SETUID_COPY else word
            for word in workload.words]
        return [str(self.programs / ("accuracy-" + words[0])), *words[1:]]

    def make_groups(self, user: User) -> Optional[Groups]:
        self.count += 1
        if not self.parent:
            return None
        return Groups(self.parent, f"accuracy-{os.getpid()}-{self.count}", user.uid)

    def end_all(self, groups: Optional[Groups]) -> None:
        """Wait for processes that the tool has left running.

        Kills those that still run after LEFT_RUNNING_S."""
        end = time.monotonic() + LEFT_RUNNING_S
        while True:
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
                has_children = True
            except ChildProcessError:
                has_children = False
            pids = groups.pids() if groups else []
            if not pids and not has_children:
                return
            if time.monotonic() > end:
                for pid in pids:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)

    def run(self, workload: Workload, tool: Tool, user: User) -> Result:
        words = self.words(workload)
        if not self.parent and not workload.is_waited:
            raise Skip(f"{self.truth} does not see all of its CPU time")
        with contextlib.ExitStack() as stack:
            directory, in_memory = (pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory(prefix="accuracy-", dir=place)))
                for place in (self.programs, MEMORY_FILES if MEMORY_FILES.is_dir() else None))
            os.chown(directory, user.uid, -1)
            os.chown(in_memory, user.uid, -1)
            groups = self.make_groups(user)
            left: List[str] = []
            try:
                result = self.measure(workload, tool, user, words, directory,
                                      in_memory / "reported", groups)
            finally:
                self.end_all(groups)
                if groups:
                    left = groups.remove()
        return dataclasses.replace(result, left_groups=left)

    def measure(self, workload: Workload, tool: Tool, user: User, words: Sequence[str],
                directory: pathlib.Path, report: pathlib.Path,
                groups: Optional[Groups]) -> Result:
        notes, out, errors, series = (
            directory / name for name in ("notes", "out", "errors", "series"))
        if groups and tool.makes_cgroup:
            words = [str(self.programs / "tests/accuracy/enter"), "alone", str(groups.tools),
                     str(groups.aside), str(notes), *words]
        elif groups:
            words = [str(self.programs / "tests/accuracy/enter"), "into", str(groups.work),
                     str(notes), *words]

        def begin() -> None:
            if groups:
                groups.join()
            user.become()

        options = ["-i", workload.interval or self.interval]
        if workload.has_series:
            options += ["-o", str(series), "--format", "jsonl"]
        before = waited_for()
        with open(errors, "wb") as stderr:
            process = subprocess.Popen(tool.argv(words, out, options), cwd=directory,
                                       preexec_fn=begin, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=stderr,
                                       env=environment(report, groups))
        await_zombie(process)
        tool_s = cpu_clock_of(process.pid)
        self.check_end(process, tool, errors)

        def use() -> Use:
            if groups:
                return groups.use(tool.makes_cgroup, read_keys(notes))
            # All that was waited for, less the tool itself. Its supervisor cannot be subtracted.
            total, user_s, system_s = (after - then for after, then in zip(waited_for(), before))
            return Use(total - tool_s, user_s, system_s)

        at_exit = use() if groups else None
        self.end_all(groups)
        known, phases = read_report(report)
        return Result(workload, tool.name, user.name, use(), at_exit or use(), known, phases,
                      tool.read(out), read_series(series), 0.0 if groups else SUPERVISOR_S)

    @staticmethod
    def check_end(process: "subprocess.Popen[bytes]", tool: Tool, errors: pathlib.Path) -> None:
        code = process.wait()
        words = (errors.read_text(errors="replace").splitlines() or ["no reason given"])[-1]
        if code == SKIPPED or code == UNAVAILABLE:
            raise Skip(words)
        if code in (ENTER_FAILED, 126, 127):
            raise AssertionError(f"{tool.name}: {process.args!r} returned {code}: {words}")
