# SPDX-License-Identifier: MIT
"""Run a workload under a tool, and measure what it really used (the truth)."""
from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Dict, List, Optional, Sequence

from groups import Groups, Use, cgroup_directory, read_keys
from harness import BUILD
from tools import UNAVAILABLE, Figures, Tool
from workloads import SETUID_COPY, Workload

SKIPPED = 77
ENTER_FAILED = 99
LIMIT_S = 60.0
LEFT_RUNNING_S = 8.0
SETUID_UID = 65533
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


@dataclasses.dataclass
class Result:
    workload: Workload
    tool: str
    user: str
    truth: Use
    truth_at_exit: Use
    # What the workload knows of itself.
    known: Dict[str, int]
    figures: Figures
    # The truth may include this much CPU time of the supervisor of rtrack.
    surplus_s: float = 0.0
    left_groups: Sequence[str] = ()

    def error(self) -> float:
        """Return the error of the CPU time in % of the truth."""
        return 100 * (self.figures.cpu_seconds / self.truth.total - 1)


def copy_programs(to: pathlib.Path) -> None:
    """Copy the programs, so that every user can run them. The build directory may be private."""
    to.chmod(0o755)
    for name in ("examples/rtrack/rtrack", "lib/librtrack.so.0", "lib/rtrack-supervisor",
                 "tests/accuracy/enter"):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUILD / name, to / name)
    for program in (BUILD / "tests/accuracy").glob("accuracy-*"):
        if os.access(program, os.X_OK) and program.is_file():
            shutil.copy(program, to / program.name)
    shutil.copy(pathlib.Path(__file__).with_name("poller.py"), to / "poller.py")
    if os.getuid() == 0:
        copy = to / "setuid"
        shutil.copy(to / "accuracy-setuid_exec", copy)
        os.chown(copy, SETUID_UID, -1)
        copy.chmod(0o4755)


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


class Runner:
    def __init__(self, programs: pathlib.Path) -> None:
        self.programs = programs
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
        with tempfile.TemporaryDirectory(prefix="accuracy-", dir=self.programs) as name:
            directory = pathlib.Path(name)
            os.chown(directory, user.uid, -1)
            groups = self.make_groups(user)
            left: List[str] = []
            try:
                result = self.measure(workload, tool, user, words, directory, groups)
            finally:
                self.end_all(groups)
                if groups:
                    left = groups.remove()
        return dataclasses.replace(result, left_groups=left)

    def measure(self, workload: Workload, tool: Tool, user: User, words: Sequence[str],
                directory: pathlib.Path, groups: Optional[Groups]) -> Result:
        notes, out, errors = (directory / name for name in ("notes", "out", "errors"))
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

        before = waited_for()
        with open(errors, "wb") as stderr:
            process = subprocess.Popen(tool.argv(words, out), cwd=directory, preexec_fn=begin,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=stderr,
                                       env={**os.environ,
                                            "ACCURACY_REPORT": str(directory / "reported")})
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
        known = read_keys(directory / "reported") if (directory / "reported").exists() else {}
        return Result(workload, tool.name, user.name, use(), at_exit or use(), known,
                      tool.read(out), 0.0 if groups else SUPERVISOR_S)

    @staticmethod
    def check_end(process: "subprocess.Popen[bytes]", tool: Tool, errors: pathlib.Path) -> None:
        code = process.wait()
        words = (errors.read_text(errors="replace").splitlines() or ["no reason given"])[-1]
        if code == SKIPPED or code == UNAVAILABLE:
            raise Skip(words)
        if code in (ENTER_FAILED, 126, 127):
            raise AssertionError(f"{tool.name}: {process.args!r} returned {code}: {words}")
