# SPDX-License-Identifier: MIT
"""Figures of the machine, against the kernel's own files."""
import os
import re
import time
import unittest
from typing import Dict, List

from rtrack_command import Case, busy, python, read_csv, read_jsonl, rtrack

TICK = 1 / os.sysconf("SC_CLK_TCK")


def meminfo() -> Dict[str, int]:
    with open("/proc/meminfo") as file:
        return {name: int(kib) for name, kib in re.findall(r"^(\S+):\s+(\d+)", file.read(), re.MULTILINE)}


def modes() -> List[float]:
    """Seconds of the whole machine: user, nice, system, idle ..."""
    with open("/proc/stat") as file:
        return [int(word) * TICK for word in file.readline().split()[1:]]


class System(Case):
    def test_memory(self) -> None:
        before = meminfo()
        rtrack("system", "-q", "-i", "0.02", "--count", "1", "-o", self.dir / "rows")
        [row] = read_csv(self.dir / "rows")
        after = meminfo()
        margin = before["MemTotal"] / 50 + abs(before["MemFree"] - after["MemFree"])
        for column, told in (("memory_free", before["MemFree"]), ("memory_buffers", before["Buffers"]),
                             ("memory_cached", before["Cached"]), ("memory_active_anon", before["Active(anon)"]),
                             ("memory_inactive_anon", before["Inactive(anon)"]),
                             ("memory_used", before["MemTotal"] - before["MemAvailable"])):
            self.assertAlmostEqual(row[column], told, delta=margin, msg=column)

    def test_cpu_time(self) -> None:
        load = self.start(python(busy(1)))
        before = modes()
        got = self.summary("system", "-i", "0.1", "-d", "0.6", "-o", self.dir / "rows")
        spent = [later - earlier for earlier, later in zip(before, modes())]
        user, system = spent[0] + spent[1], spent[2] + spent[5] + spent[6]
        self.assertAlmostEqual(got["cpu_user_seconds"], user, delta=0.15)
        self.assertAlmostEqual(got["cpu_system_seconds"], system, delta=0.15)
        self.assertGreater(got["cpu_seconds"], 0.3)
        rows = read_csv(self.dir / "rows")
        for column, key in (("utime", "cpu_user_seconds"), ("stime", "cpu_system_seconds")):
            self.assertAlmostEqual(sum(row[column] for row in rows) * TICK, got[key], places=6)
        load.wait()

    def test_processes(self) -> None:
        rtrack("system", "-q", "-i", "0.02", "--count", "1", "-o", self.dir / "rows")
        told = sum(name.isdigit() for name in os.listdir("/proc"))
        self.assertAlmostEqual(read_csv(self.dir / "rows")[0]["processes"], told, delta=10)

    def test_network_and_disk_counters(self) -> None:
        rtrack("system", "-q", "-i", "0.02", "--count", "1", "-f", "jsonl", "-o", self.dir / "rows")
        row = read_jsonl(self.dir / "rows")[-1]
        with open("/proc/net/dev") as file:
            received = [int(line.rpartition(":")[2].split()[0]) for line in file.readlines()[2:]]
        self.assertLessEqual(row["network_receive_bytes"], sum(received))
        with open("/proc/diskstats") as file:
            read = [int(line.split()[5]) * 512 for line in file]
        self.assertLessEqual(row["disk_read_bytes"], sum(read))

    def test_space(self) -> None:
        rtrack("system", "-q", "-i", "0.02", "--count", "1", "-o", self.dir / "rows")
        [row] = read_csv(self.dir / "rows")
        if row["disk_space_total_gb"] is None:
            self.skipTest("no file system on storage here")
        self.assertLessEqual(row["disk_space_used_gb"] + row["disk_space_free_gb"], row["disk_space_total_gb"] + 0.02)

    def test_summary(self) -> None:
        got = self.summary("system", "-i", "0.05", "--count", "3", "-o", "/dev/null")
        self.assertEqual(got["samples"], 4, "the base line is one")
        self.assertEqual(got["memory_total_bytes"], meminfo()["MemTotal"] * 1024)
        self.assertAlmostEqual(got["wall_seconds"], 0.15, delta=0.1)
        self.assertTrue(0 < got["overhead_cpu_seconds"] < 0.1)
        said = rtrack("system", "-i", "0.05", "--count", "3", "-o", "/dev/null").stderr
        for word in ("time", "memory", "storage", "network", "cores"):
            self.assertIn(word, said)

    def test_count_is_kept_to_time(self) -> None:
        began = time.monotonic()
        rtrack("system", "-q", "-i", "0.1", "--count", "5")
        self.assertAlmostEqual(time.monotonic() - began, 0.5, delta=0.2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
