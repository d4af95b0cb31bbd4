# SPDX-License-Identifier: MIT
"""What rtrack system says of a container: the limits of the own cgroup."""
import os
import pathlib
import time
import unittest
from typing import Dict

from rtrack_command import Case, python, read_csv, read_jsonl, rtrack, wait_until

MIB = 1 << 20
BURN = "while True: pass"


def mounts() -> Dict[str, pathlib.Path]:
    """Return where each controller of cgroup v1 is mounted, and v2 as \"\"."""
    found = {}
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        root, point = fields.split()[3:5]
        if root == "/" and kind == "cgroup2":
            found.setdefault("", pathlib.Path(point))
        elif root == "/" and kind == "cgroup":
            for controller in options.split(","):
                found.setdefault(controller, pathlib.Path(point))
    return found


class Group:
    """A cgroup of the test with half a CPU and 256 MiB."""

    def __init__(self, case: Case) -> None:
        self.name = f"rtrack-own-{os.getpid()}-{time.monotonic_ns()}"
        self.case = case
        points = mounts()
        self.is_v1 = {"cpu", "cpuacct", "memory"} <= set(points)
        needed = ["cpu", "cpuacct", "memory"] if self.is_v1 else [""]
        if not self.is_v1 and "" not in points:
            case.skipTest("no hierarchy of cgroups is mounted whole")
        self.dirs = {controller: points[controller] / self.name for controller in needed}
        for directory in set(self.dirs.values()):
            try:
                directory.mkdir()
            except OSError as error:
                case.skipTest(f"cannot make a cgroup: {error}")
            case.addCleanup(self.remove, directory)
        try:
            self.limit()
        except OSError as error:
            case.skipTest(f"cannot limit a cgroup: {error}")

    def limit(self) -> None:
        if self.is_v1:
            (self.dirs["cpu"] / "cpu.cfs_quota_us").write_text("50000")
            (self.dirs["memory"] / "memory.limit_in_bytes").write_text(str(256 * MIB))
        else:
            (self.dirs[""] / "cpu.max").write_text("50000 100000")
            (self.dirs[""] / "memory.max").write_text(str(256 * MIB))

    @staticmethod
    def remove(directory: pathlib.Path) -> None:
        """Wait for the last process of the cgroup, which may take a moment to leave it."""
        def is_removed() -> bool:
            try:
                directory.rmdir()
            except OSError:
                return not directory.exists()
            return True
        wait_until(is_removed)

    def enter(self) -> None:
        for directory in set(self.dirs.values()):
            (directory / "cgroup.procs").write_text("0")

    def cpu_seconds(self) -> float:
        """The CPU time as the files of the kernel have it."""
        if self.is_v1:
            return int((self.dirs["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
        words = (self.dirs[""] / "cpu.stat").read_text().split()
        return int(words[words.index("usage_usec") + 1]) / 1e6


class OwnCgroup(Case):
    def test_figures_are_between_those_of_the_kernel(self) -> None:
        group = Group(self)
        self.start(python(BURN), preexec_fn=group.enter)
        wait_until(lambda: group.cpu_seconds() > 0.05)
        before = group.cpu_seconds()
        done = rtrack("system", "-i", "0.1", "--count", "4", "-f", "jsonl", "-o",
                      self.dir / "rows", preexec_fn=group.enter)
        after = group.cpu_seconds()
        rows = read_jsonl(self.dir / "rows")
        times = [before, *(row["cgroup_cpu_seconds"] for row in rows), after]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[-2], times[1])
        for row in rows:
            self.assertEqual(row["cgroup_cpu_limit_millicores"], 500)
            self.assertEqual(row["cgroup_memory_limit_bytes"], 256 * MIB)
            self.assertTrue(0 < row["cgroup_memory_bytes"] <= 256 * MIB, row)
            self.assertGreater(row["memory_total_bytes"], 256 * MIB)
        self.assertRegex(done.stderr, r"\n  own cores +0\.\d\d +of 0\.5 CPUs allowed\n")
        self.assertRegex(done.stderr, r"\n  own memory .* of 256\.0 MiB allowed\n")

    def test_summary_has_the_cpus_of_its_time(self) -> None:
        group = Group(self)
        self.start(python(BURN), preexec_fn=group.enter)
        before = group.cpu_seconds()
        got = self.summary("system", "-i", "0.1", "--count", "4", "-o", self.dir / "rows.csv",
                           preexec_fn=group.enter)
        grown = group.cpu_seconds() - before
        rows = read_csv(self.dir / "rows.csv")
        used = sum(row["d_cgroup_cpu_seconds"] for row in rows)
        self.assertTrue(0 < used <= grown, (used, grown))
        self.assertAlmostEqual(got["cgroup"]["cores_used"] * got["wall_seconds"], used, 2)
        self.assertEqual(got["cgroup"]["cpus_allowed"], 0.5)
        self.assertEqual(got["cgroup"]["memory_limit_bytes"], 256 * MIB)
        self.assertGreaterEqual(got["cgroup"]["peak_memory_bytes"],
                                max(row["cgroup_memory_bytes"] for row in rows))


if __name__ == "__main__":
    unittest.main(verbosity=2)
