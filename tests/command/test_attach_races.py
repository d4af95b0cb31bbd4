# SPDX-License-Identifier: MIT
"""Tests of rtrack attach --name where the process changes between the look and the attach.

The argument is a module that stops rtrack in between."""
import json
import os
import subprocess
import sys
import time
import unittest
from typing import Any

from rtrack_command import PATIENCE_S, RTRACK, Case, read_proc, wait_until

FOUND_PROCESS = sys.argv.pop()
# Becomes another program, which has another name, when a line comes.
CHANGES = "read line; exec sleep 1000"


class Races(Case):
    def attach(self, name: str) -> "subprocess.Popen[Any]":
        """Start rtrack, and wait until it is between its first look and the attach."""
        (self.dir / "armed").touch()
        env = {**os.environ, "LD_PRELOAD": FOUND_PROCESS, "FOUND_PROCESS_DIR": str(self.dir)}
        process = self.start([RTRACK, "attach", "--wait", "--name", name, "-o", "/dev/null",
                               "--count", "1", "-i", "0.01", "--summary", "json"],
                             stderr=subprocess.PIPE, text=True, env=env)
        wait_until((self.dir / "at").exists)
        return process

    def program(self, target: str) -> "tuple[str, str]":
        """Make a program of a fresh name. Returns its path and its name."""
        name = f"rx{os.getpid()}x{time.monotonic_ns() % 10**6}"[:15]
        (self.dir / name).symlink_to(target)
        return str(self.dir / name), name

    def check_follows_next(self, process: "subprocess.Popen[Any]", path: str) -> None:
        second = self.start([path], stdin=subprocess.PIPE)
        wait_until(lambda: os.path.basename(path) in read_proc(second.pid, "comm"))
        (self.dir / "go").touch()
        _, output = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0, output)
        self.assertEqual(json.loads(output)["pid"], second.pid)

    def test_wait_goes_on_if_the_process_has_ended_meanwhile(self) -> None:
        path, name = self.program("/bin/cat")
        first = self.start([path], stdin=subprocess.PIPE)
        wait_until(lambda: name in read_proc(first.pid, "comm"))
        process = self.attach(name)
        self.end(first)
        self.check_follows_next(process, path)

    def test_wait_goes_on_if_the_process_has_another_name_meanwhile(self) -> None:
        path, name = self.program("/bin/sh")
        first = self.start([path, "-c", CHANGES], stdin=subprocess.PIPE)
        wait_until(lambda: name in read_proc(first.pid, "comm"))
        process = self.attach(name)
        first.stdin.write(b"\n")
        first.stdin.flush()
        wait_until(lambda: "sleep" in read_proc(first.pid, "comm"))
        self.check_follows_next(process, path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
