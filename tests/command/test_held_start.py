# SPDX-License-Identifier: MIT
"""Tests of rtrack run with a command that is not executed, or that stops the supervisor."""
import os
import pathlib
import signal
import subprocess
import sys
import unittest
from typing import Any

from rtrack_command import PATIENCE_S, RTRACK, Case, is_alive, python, read_proc, rtrack, wait_until

HELD_EXEC = sys.argv.pop(1)
CANNOT_RUN = 77

# Stops its parent, and exits.
STOPS_PARENT = python("import os\nos.kill(os.getppid(), 19)\nraise SystemExit(7)")


def setUpModule() -> None:
    """A shell ignores some signals in the background, and rtrack would go on doing so."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Held(Case):
    """execve(2) of the command does not return."""

    def hold(self, *options: str) -> "subprocess.Popen[Any]":
        path = self.dir / "held"
        with path.open("w") as output:
            process = self.start([HELD_EXEC, RTRACK, "run", "--accounting", "wait", *options,
                                  "/bin/true"], stdout=output, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: bool(path.read_text()) or process.poll() is not None)
        if process.poll() == CANNOT_RUN:
            self.skipTest("this kernel hands no calls to a listener")
        return process

    def finish(self, process: "subprocess.Popen[Any]", code: int, words: str) -> None:
        _, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, code, errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertIn(words, errors)

    def descendants(self, pid: int) -> "list[int]":
        children = [int(child) for child in read_proc(pid, f"task/{pid}/children").split()]
        return children + [below for child in children for below in self.descendants(child)]

    def test_timeout_ends_the_start(self) -> None:
        self.finish(self.hold("--timeout", "0.5"), 124, "was not executed within")

    def test_signal_ends_the_start_and_leaves_nothing(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number):
                process = self.hold()
                below = self.descendants(process.pid)
                self.assertGreaterEqual(len(below), 2)
                process.send_signal(number)
                self.finish(process, 128 + number, "a termination signal arrived")
                # The one that answers calls ends with its parent.
                wait_until(lambda: not any(is_alive(pid) for pid in below))


class Stopped(Case):
    def test_command_that_stops_its_supervisor_is_measured(self) -> None:
        self.set_supervisor("separate")
        for options in ([], ["--accounting", "wait"], ["--processes", self.dir / "list"]):
            done = rtrack("run", "-q", *options, *STOPS_PARENT)
            self.assertEqual((done.returncode, done.stderr), (7, ""))

    def test_command_with_a_limit_that_stops_its_parent_does_not_stop_rtrack(self) -> None:
        for options in (["--timeout", "1000"], ["--accounting", "wait"]):
            environment = {name: value for name, value in os.environ.items()
                           if name != "RTRACK_SUPERVISOR"}
            done = rtrack("run", "-q", *options, *STOPS_PARENT, env=environment)
            self.assertEqual((done.returncode, done.stderr), (7, ""))


if __name__ == "__main__":
    assert pathlib.Path(HELD_EXEC).exists()
    unittest.main(verbosity=2)
