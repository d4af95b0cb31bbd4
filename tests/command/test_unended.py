# SPDX-License-Identifier: MIT
"""Tests of commands that do not end when they are killed: rtrack says so, and gives them up.

Each test thaws what it has frozen, whatever happens."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest
from typing import Any, List, Optional

from rtrack_command import (PATIENCE_S, RTRACK, Case, Row, is_alive, python, read_proc, rtrack,
                            wait_until)

# The child of the command, or the command itself, is moved to a cgroup and frozen there. Then
# processes are started until twice as many run as have passed the limit: SIGKILL comes at once.
GROW = "trap '' TERM; for _ in $(seq 100); do sleep 1000 & sleep 0.03; done; wait"
FREEZE = 'echo $pid >"$1/cgroup.procs"; echo "$3" >"$1/$2"; '
CHILD = "sleep 1000 & pid=$!; " + FREEZE + GROW
ALONE = f"""trap true TERM
sh -c 'pid=$PPID; {FREEZE}' sh "$1" "$2" "$3" & while true; do wait; done"""
COMMAND = f"""pid=$$
({FREEZE}{GROW}) & wait"""


class Cgroup:
    """A cgroup that can be frozen."""

    def __init__(self, hierarchy: pathlib.Path, file: str, frozen: str, thawed: str) -> None:
        self.path = hierarchy / f"rtrack-test-{os.getpid()}"
        self.file, self.frozen, self.thawed = file, frozen, thawed
        self.path.mkdir()

    def members(self) -> List[int]:
        return [int(pid) for pid in (self.path / "cgroup.procs").read_text().split()]

    def has_frozen(self) -> bool:
        if self.file == "freezer.state":
            return (self.path / self.file).read_text() == "FROZEN\n"
        return "frozen 1" in (self.path / "cgroup.events").read_text()

    def remove(self) -> None:
        for pid in self.members():
            os.kill(pid, signal.SIGKILL)
        (self.path / self.file).write_text(self.thawed)
        wait_until(lambda: not self.members())
        self.path.rmdir()


def find_mount(kind: str, option: str) -> Optional[pathlib.Path]:
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        if words[words.index("-") + 1] == kind and option in words[-1].split(","):
            return pathlib.Path(words[4])
    return None


class Frozen(Case):
    def setUp(self) -> None:
        super().setUp()
        self.summary_file, self.errors = self.dir / "summary", self.dir / "errors"

    def make_v1(self) -> Cgroup:
        return self.make("cgroup", "freezer", "freezer.state", "FROZEN", "THAWED")

    def make(self, kind: str, option: str, *names: str) -> Cgroup:
        mount = find_mount(kind, option)
        if not mount or not os.access(mount, os.W_OK):
            self.skipTest(f"no {kind} with {names[0]} can be made here")
        cgroup = Cgroup(mount, *names)
        self.addCleanup(cgroup.remove)
        return cgroup

    def start_frozen(self, cgroup: Cgroup, script: str, *options: str,
                     **kwargs: Any) -> "subprocess.Popen[Any]":
        with open(self.errors, "w") as errors:
            process = self.start([
                RTRACK, "run", "--summary", "json", "--summary-file", self.summary_file, *options,
                "sh", "-c", script, "sh", cgroup.path, cgroup.file, cgroup.frozen], stderr=errors,
                **kwargs)
        wait_until(cgroup.has_frozen)
        return process

    def check_given_up(self, process: "subprocess.Popen[Any]", frozen: int, code: int) -> Row:
        """A line names the process. The next signal ends rtrack."""
        wait_until(lambda: "does not end" in self.errors.read_text())
        self.assertRegex(self.errors.read_text(),
                         rf"process {frozen} \(s\w+\) does not end: it is frozen \(by its "
                         r"cgroup\); rtrack ends in 30 s, or on SIGINT or SIGTERM\n")
        self.assertIsNone(process.poll())
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE_S), code)
        self.assertLess(time.monotonic() - began, 20, "it does not wait for the 30 s")
        got: Row = json.loads(self.summary_file.read_text())
        self.assertEqual((got["left_running"], got["processes_exact"]), (1, False))
        self.assertFalse(got["accounting"]["complete"])
        self.assertIn("at least 1 process of the command could not be ended",
                      self.errors.read_text())
        return got

    def test_frozen_child_is_named_and_given_up(self) -> None:
        cgroup = self.make_v1()
        process = self.start_frozen(cgroup, CHILD, "--max-processes", "2", "--accounting", "poll")
        got = self.check_given_up(process, cgroup.members()[0], 124)
        self.assertIn(got["signal"], (signal.SIGTERM, signal.SIGKILL))
        self.assertTrue(got["ended"])

    def test_frozen_command_is_named_and_given_up(self) -> None:
        cgroup = self.make_v1()
        process = self.start_frozen(cgroup, COMMAND, "--max-processes", "2")
        got = self.check_given_up(process, cgroup.members()[0], 124)
        self.assertEqual((got["exit_status"], got["ended"]), (None, False))
        self.assertGreater(got["processes"], 2)

    def test_frozen_command_without_limit_is_given_up_after_two_signals(self) -> None:
        cgroup = self.make_v1()
        process = self.start_frozen(cgroup, ALONE)
        process.terminate()
        self.check_given_up(process, cgroup.members()[0], 125)

    def test_signal_that_comes_while_rows_are_written_is_not_lost(self) -> None:
        """rtrack does not wait for the command then: it waits for room in a full pipe."""
        cgroup = self.make_v1()
        process = self.start_frozen(cgroup, ALONE, "-o", "-", "-i", "1ms", stdout=subprocess.PIPE)
        wait_until(lambda: "pipe_write" in read_proc(process.pid, "wchan"))
        process.terminate()
        self.start(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
        self.check_given_up(process, cgroup.members()[0], 125)

    def test_command_that_is_thawed_in_time_is_not_given_up(self) -> None:
        cgroup = self.make_v1()
        process = self.start_frozen(cgroup, COMMAND, "--max-processes", "2")
        wait_until(lambda: "does not end" in self.errors.read_text())
        (cgroup.path / cgroup.file).write_text(cgroup.thawed)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 124)
        got = json.loads(self.summary_file.read_text())
        self.assertEqual((got["signal"], got["left_running"]), (signal.SIGKILL, 0))

    def test_process_that_is_frozen_by_v2_is_ended_by_sigkill(self) -> None:
        cgroup = self.make("cgroup2", "rw", "cgroup.freeze", "1", "0")
        process = self.start_frozen(cgroup, "trap true TERM\n" + COMMAND, "--max-processes", "2")
        self.assertEqual(process.wait(timeout=PATIENCE_S), 124)
        got = json.loads(self.summary_file.read_text())
        self.assertEqual((got["signal"], got["left_running"]), (signal.SIGKILL, 0))
        self.assertNotIn("does not end", self.errors.read_text())


# Processes that fork and exit all the time, so that a signal rarely meets one that runs. There are
# no more at a time than the first one forks, and all end by themselves.
RUNAWAYS = """
import os, signal, time
end = time.monotonic() + 8
for _ in range(40):
    if os.fork() == 0:
        while time.monotonic() < end:
            signal.alarm(20)
            if os.fork() > 0:
                os._exit(0)
        os._exit(0)
time.sleep(20)
"""


class Runaways(Case):
    def left(self) -> List[int]:
        """The directory of the test is an argument of each process."""
        pids = [int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")]
        return [pid for pid in pids if str(self.dir) in read_proc(pid, "cmdline").split("\0")
                and is_alive(pid)]

    def test_processes_that_outlive_their_kill_are_counted(self) -> None:
        path = self.dir / "summary"
        done = rtrack("run", "--accounting", "poll", "--summary", "json", "--summary-file", path,
                      "--max-processes", "10", *python(RUNAWAYS), self.dir)
        left = self.left()
        wait_until(lambda: not self.left())
        got = json.loads(path.read_text())
        self.assertEqual(done.returncode, 124, done.stderr)
        if got["left_running"]:
            self.assertFalse(got["processes_exact"])
            self.assertIn("could not be ended", done.stderr)
        else:
            self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
