# SPDX-License-Identifier: MIT
"""Compare the figures of rtrack system with the files of the kernel."""
import json
import os
import shutil
import subprocess
import time
import unittest
from typing import List

from rtrack_command import (PATIENCE_S, RTRACK, Case, busy, meminfo, python, read_csv, read_jsonl,
                            rtrack)

TICK = 1 / os.sysconf("SC_CLK_TCK")


SEND_PACKETS = """
import socket
reader = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
reader.bind(("127.0.0.1", 0))
while True:
    reader.sendto(b"x" * 1000, reader.getsockname())
    reader.recv(2000)
"""


def modes() -> List[float]:
    """Return the CPU seconds of the whole system by mode: user, nice, system, idle ..."""
    with open("/proc/stat") as file:
        return [int(word) * TICK for word in file.readline().split()[1:]]


class System(Case):
    def test_memory_matches_meminfo(self) -> None:
        before = meminfo()
        rtrack("system", "-q", "-i", "0.02", "--count", "1", "-f", "csv-v1", "-o",
               self.dir / "rows")
        [row] = read_csv(self.dir / "rows")
        after = meminfo()
        margin = before["MemTotal"] / 50
        for memory in (before, after):
            memory["Used"] = (memory["MemTotal"] - memory["MemFree"] - memory["Buffers"] -
                              memory["Cached"])
        for column, name in (("memory_free", "MemFree"), ("memory_buffers", "Buffers"),
                             ("memory_cached", "Cached"), ("memory_active_anon", "Active(anon)"),
                             ("memory_inactive_anon", "Inactive(anon)"), ("memory_used", "Used")):
            low, high = sorted((before[name], after[name]))
            self.assertTrue(low - margin < row[column] < high + margin,
                            (column, low, row[column], high))

    def test_cpu_time_matches_proc_stat(self) -> None:
        load = self.start(python(busy(1)))
        before = modes()
        got = self.summary("system", "-i", "0.1", "-d", "0.6", "-f", "jsonl", "-o",
                           self.dir / "rows")
        after = modes()
        load.kill()
        rows = read_jsonl(self.dir / "rows")
        for name, of in (("cpu_user_seconds", (0, 1)), ("cpu_system_seconds", (2, 5, 6))):
            low, high = (sum(times[i] for i in of) for times in (before, after))
            seconds = [row[name] for row in rows]
            self.assertTrue(low - TICK < seconds[0] <= seconds[-1] < high + TICK,
                            (name, low, seconds, high))
            self.assertAlmostEqual(sum(row["d_" + name] for row in rows), got[name], places=6)
        self.assertGreater(got["cpu_seconds"], 0.3)

    def test_csv_v1_and_v5_leave_interrupts_out_of_system_time(self) -> None:
        """Packets on the loopback device are received in soft interrupts."""
        for form, name, unit in (("csv-v1", "stime", TICK), ("csv-v5", "system_stime", 1)):
            load = self.start(python(SEND_PACKETS))
            before = modes()
            rtrack("system", "-q", "-i", "0.1", "-d", "1", "-f", form, "-o", self.dir / "rows")
            after = modes()
            load.kill()
            system_s, softirq_s = (after[i] - before[i] for i in (2, 6))
            rows = read_csv(self.dir / "rows")
            used_s = sum(row[name] for row in rows) * unit
            self.assertLess(used_s, system_s + TICK / 2, (used_s, system_s, softirq_s))
            self.assertGreater(used_s, 0)

    def test_processes_in_pid_namespace_are_counted(self) -> None:
        """Run in a new pid namespace, so that the number of processes is known."""
        words = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0:
            words[1:1] = ["--user", "--map-root-user"]
        if not shutil.which("unshare"):
            self.skipTest("unshare is not installed")
        if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("cannot create a pid namespace here")
        script = 'sleep 200 & sleep 200 & exec "$0" system -q -i 0.02 --count 1 -o "$1"'
        subprocess.run([*words, "sh", "-c", script, RTRACK, self.dir / "rows"], check=True,
                       timeout=PATIENCE_S)
        self.assertEqual(read_csv(self.dir / "rows")[0]["processes"], 3)

    def test_network_and_disk_bytes_do_not_exceed_kernel_counters(self) -> None:
        rtrack("system", "-q", "-i", "0.02", "--count", "1", "-f", "jsonl", "-o", self.dir / "rows")
        row = read_jsonl(self.dir / "rows")[-1]
        with open("/proc/net/dev") as file:
            received = [int(line.rpartition(":")[2].split()[0]) for line in file.readlines()[2:]]
        self.assertLessEqual(row["network_receive_bytes"], sum(received))
        with open("/proc/diskstats") as file:
            read = [int(line.split()[5]) * 512 for line in file]
        self.assertLessEqual(row["disk_read_bytes"], sum(read))

    def test_gpu_columns_are_0_without_a_gpu(self) -> None:
        domains = json.loads(rtrack("info", "--json").stdout)["system"]["domains"]
        has_none = all("There is no GPU" in (domains[name]["why"] or "")
                       for name in ("gpu", "gpu_memory"))
        rtrack("system", "-q", "-i", "0.05", "--count", "2", "-f", "csv-v1", "-o",
               self.dir / "rows")
        for row in read_csv(self.dir / "rows"):
            got = [row[name] for name in ("gpu_usage", "gpu_vram", "gpu_utilized")]
            if has_none:
                self.assertEqual(got, [0, 0, 0])
            else:
                self.assertNotEqual(got, [0, 0, 0])  # some memory is always in use, or unknown

    def test_disk_space_parts_fit_total(self) -> None:
        rtrack("system", "-q", "-i", "0.02", "--count", "1", "-f", "csv-v1", "-o",
               self.dir / "rows")
        [row] = read_csv(self.dir / "rows")
        if row["disk_space_total_gb"] is None:
            self.skipTest("no file system on a storage device here")
        self.assertAlmostEqual(row["disk_space_used_gb"] + row["disk_space_free_gb"],
                               row["disk_space_total_gb"], delta=0.02)

    def test_summary_matches_rows(self) -> None:
        began = time.monotonic()
        got = self.summary("system", "-i", "0.05", "--count", "3", "-o", self.dir / "rows")
        ended = time.monotonic()
        times = [row["timestamp"] for row in read_csv(self.dir / "rows")]
        self.assertEqual(got["samples"], 4, "the baseline is one sample")
        self.assertEqual(got["memory_total_bytes"], meminfo()["MemTotal"] * 1024)
        self.assertTrue(times[-1] - times[0] <= got["wall_seconds"] <= ended - began,
                        got["wall_seconds"])
        self.assertTrue(0 < got["overhead_cpu_seconds"] < 0.1)
        output = rtrack("system", "-i", "0.05", "--count", "3", "-o", "/dev/null").stderr
        for word in ("wall time", "peak memory", "written", "received", "cores"):
            self.assertIn(word, output)

    def test_interface_that_goes_makes_the_sum_a_lower_bound(self) -> None:
        """It goes after the first row, and the last ones find no change. The shell that is the
        tracker's parent removes it."""
        probe = ["unshare", "--net", "ip", "link", "add", "v0", "type", "veth", "peer", "name",
                 "v1"]
        if shutil.which("unshare") is None or shutil.which("ip") is None:
            self.skipTest("unshare or ip is not installed")
        if subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("no pair of interfaces can be made in a network namespace here")
        script = """
            set -e
            ip link add v0 type veth peer name v1
            ip link add w0 type veth peer name w1
            "$1" system -i 0.1 -f jsonl -o "$2/rows" --summary json --summary-file "$2/summary" &
            until_lines() { while [ "$(wc -l < "$dir/rows")" -lt "$1" ]; do sleep 0.01; done; }
            dir=$2
            while [ ! -e "$2/rows" ]; do sleep 0.01; done
            until_lines 2
            ip link del v0
            until_lines 6
            kill -TERM $!
            wait $! || true
        """
        subprocess.run(["unshare", "--net", "sh", "-c", script, "sh", RTRACK, str(self.dir)],
                       check=True, timeout=PATIENCE_S)
        rows = read_jsonl(self.dir / "rows")
        self.assertIn("d_network_transmit_bytes", [name for row in rows for name in row["partial"]])
        self.assertNotIn("d_network_transmit_bytes", rows[-1]["partial"])
        with open(self.dir / "summary") as file:
            summary = json.load(file)
        self.assertIn("network", summary["partial"])

    def test_count_rows_take_full_intervals(self) -> None:
        began = time.monotonic()
        rtrack("system", "-q", "-i", "0.1", "--count", "5")
        self.assertGreaterEqual(time.monotonic() - began, 0.5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
