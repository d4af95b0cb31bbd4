# SPDX-License-Identifier: MIT
"""What a summary claims: complete where that is proven, a lower bound where it is not."""
from __future__ import annotations

import os
import pathlib
import unittest
from typing import Any, Optional

from rtrack_command import Case, Row, busy, python, rtrack, wait_until

OF_MEMBERS = {"io", "faults", "context_switches", "peak_rss"}
# A child that ends and is reaped by the kernel, since this process ignores SIGCHLD.
AUTO_REAPED = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    {child}
    os._exit(0)
try:
    os.wait()
except ChildProcessError:
    pass
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
"""
MOVE = "open({!r}, 'w').write('0')"


def group_directory() -> Optional[pathlib.Path]:
    """Return the cgroup (v2) of this process, if it may make others there."""
    if rtrack("run", "-q", "--accounting", "cgroup", "true").returncode != 0:
        return None
    lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
    own = next(line[3:] for line in lines if line.startswith("0::"))
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        if after.startswith("cgroup2 ") and own.startswith(root.rstrip("/")):
            return pathlib.Path(point + "/" + own[len(root):].strip("/"))
    return None


class Completeness(Case):
    def account(self, *words: Any) -> Row:
        return self.summary("run", *words)

    def need_events(self) -> None:
        if not self.account("--accounting", "wait", "true")["processes_exact"]:
            self.skipTest("process events are not available")

    def start_other_program(self) -> None:
        """Start a program in the cgroup of this process that uses CPU time all the while."""
        self.start(python("while True: pass"))

    def use_of(self, group: pathlib.Path) -> float:
        usage = (group / "cpu.stat").read_text().split()
        return int(usage[usage.index("usage_usec") + 1]) / 1e6

    def make_group(self) -> pathlib.Path:
        parent = group_directory()
        if parent is None:
            self.skipTest("cannot create a cgroup (v2) here")
        group = parent / f"completeness-{os.getpid()}"
        group.mkdir()
        self.addCleanup(lambda: wait_until(lambda: self.remove(group)))
        return group

    @staticmethod
    def remove(group: pathlib.Path) -> bool:
        try:
            group.rmdir()
        except OSError:
            return False
        return True

    def test_short_command_beside_a_busy_program_is_complete(self) -> None:
        self.need_events()
        self.start_other_program()
        for command in (["sleep", "0.2"], ["sh", "-c", "true; (true & true) | cat; true"]):
            all_of_it = self.account("--accounting", "wait", *command)
            got = all_of_it["accounting"]
            # On a busy machine, the program that runs in the background may end later.
            reasons = ["left_running"] if all_of_it["left_running"] else []
            self.assertEqual((got["complete"], got["reasons"]), (not reasons, reasons), command)
            self.assertLess(got["error_bound_seconds"], 0.1)
            self.assertGreaterEqual(got["error_bound_seconds"], 0)

    def test_child_that_no_process_waits_for_is_never_complete_without_a_cgroup(self) -> None:
        code = AUTO_REAPED.format(child=busy(0.06).replace("\n", "\n    "))
        for level in ("poll", "wait"):
            got = self.account("--accounting", level, *python(code))
            self.assertFalse(got["accounting"]["complete"], level)
            self.assertLessEqual(OF_MEMBERS | {"cpu"}, set(got["partial"]), level)
            high = got["accounting"]["cpu_seconds_high"]
            self.assertTrue(high is None or high >= 0.06, high)

    def test_own_cgroup_is_complete_for_cpu_time_alone(self) -> None:
        self.make_group()
        code = AUTO_REAPED.format(child=busy(0.06).replace("\n", "\n    "))
        got = self.account("--accounting", "cgroup", *python(code))
        self.assertTrue(got["accounting"]["complete"])
        self.assertGreaterEqual(got["cpu_seconds"], 0.06)
        self.assertEqual(got["accounting"]["error_bound_seconds"], 0)
        self.assertEqual(OF_MEMBERS & set(got["partial"]), OF_MEMBERS)
        output = rtrack("run", "--accounting", "cgroup", *python(code)).stderr
        self.assertIn("accounting  cgroup, complete", output)
        self.assertNotIn("missing", output)
        got = self.account("--accounting", "cgroup", *python(busy(0.06)))
        self.assertTrue(got["accounting"]["complete"])
        self.assertEqual(OF_MEMBERS & set(got["partial"]), set())

    def test_process_that_left_and_was_waited_for_is_complete(self) -> None:
        group = self.make_group()
        self.need_events()
        code = MOVE.format(str(group / "cgroup.procs")) + "\n" + busy(0.1)
        got = self.account("--accounting", "cgroup", *python(code))
        self.assertGreaterEqual(self.use_of(group), 0.03, "it began to work elsewhere")
        self.assertGreaterEqual(got["cpu_seconds"], 0.1)
        self.assertTrue(got["accounting"]["complete"], got["accounting"])

    def test_process_that_left_and_was_not_waited_for_has_a_reason(self) -> None:
        group = self.make_group()
        burn = busy(0.2).replace("\n", "\n    ")
        code = AUTO_REAPED.format(
            child=MOVE.format(str(group / "cgroup.procs")) + "\n    " + burn)
        for level in ("cgroup", "wait"):
            before = self.use_of(group)
            got = self.account("--accounting", level, *python(code))["accounting"]
            used = self.use_of(group) - before
            self.assertGreaterEqual(used, 0.1, "it began to work elsewhere")
            self.assertFalse(got["complete"], level)
            if level == "cgroup":
                self.assertIn("left_cgroup", got["reasons"])
            high = got["cpu_seconds_high"]
            self.assertTrue(high is None or high >= used, (level, high, used))


if __name__ == "__main__":
    unittest.main(verbosity=2)
