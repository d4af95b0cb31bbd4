# SPDX-License-Identifier: MIT
"""What rtrack system says of a container: the limits of the own cgroup, another root, another
network namespace."""
import json
import os
import pathlib
import shutil
import subprocess
import time
import unittest
from typing import Dict, List

from rtrack_command import RTRACK, Case, python, read_csv, read_jsonl, rtrack, wait_until

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


class Root(Case):
    """Another root: four CPUs, 1000 MiB, and cgroups of v2."""

    FILES = {
        "proc/stat": "cpu  300 0 200 9000 0 0 0 0 0 0\n" + "".join(
            f"cpu{i} 75 0 50 2250 0 0 0 0 0 0\n" for i in range(4)) + "ctxt 1\nbtime 1\n",
        "proc/meminfo": "MemTotal: 1024000 kB\nMemFree: 512000 kB\nMemAvailable: 768000 kB\n",
        "proc/self/cgroup": "0::/a/b\n",
        "proc/1/mountinfo": "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
        "cg/a/cpu.max": "max 100000\n", "cg/a/memory.max": "max\n", "cg/a/memory.high": "max\n",
        "cg/a/b/cpu.max": "max 100000\n", "cg/a/b/memory.max": "max\n",
        "cg/a/b/memory.high": "max\n", "cg/a/b/memory.current": f"{100 * MIB}\n",
        "cg/a/b/memory.stat": "anon 1\nfile 1\nkernel 1\nshmem 1\n",
        "cg/a/b/cpu.stat": "usage_usec 7\nuser_usec 4\nsystem_usec 3\nnr_periods 0\n"
                           "nr_throttled 0\nthrottled_usec 0\n",
    }

    # A number of pages of 2 MiB, 3 of them free, and KiB of all sizes.
    HUGE_PAGES = ("HugePages_Total: {}\nHugePages_Free: 3\nHugepagesize: 2048 kB\n"
                  "Hugetlb: {} kB\n")

    def run_in(self, changed: Dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
        root = self.dir / "root"
        for name, text in {**self.FILES, **changed}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return rtrack("system", "--root", root, "-i", "0.01", "--count", "1", *words)

    def test_figures_are_those_of_the_root(self) -> None:
        done = self.run_in({}, "-f", "jsonl", "-o", "-")
        row = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(row["memory_total_bytes"], 1024000 * 1024)
        self.assertEqual(row["cpus_online"], 4)
        self.assertEqual(row["cpu_user_seconds"], 3)
        self.assertRegex(done.stderr, r"\n  cores .* of 4, on average\n")
        self.assertRegex(done.stderr, r"\n  peak memory 250\.0 MiB +used, of 1000\.0 MiB\n")

    def test_nothing_is_said_where_there_is_no_limit(self) -> None:
        done = self.run_in({}, "-o", self.dir / "rows.csv")
        [row] = read_csv(self.dir / "rows.csv")
        self.assertNotIn("allowed", done.stderr)
        self.assertNotIn("own cores", done.stderr)
        self.assertIsNone(row["cgroup_cpu_limit_millicores"])
        self.assertIsNone(row["cgroup_memory_limit_bytes"])

    def test_tightest_limits_are_said(self) -> None:
        done = self.run_in({"cg/a/cpu.max": "150000 100000\n", "cg/a/memory.max": f"{200 * MIB}\n",
                            "cg/a/b/cpu.max": "200000 100000\n"}, "-o", self.dir / "rows.csv")
        [row] = read_csv(self.dir / "rows.csv")
        self.assertRegex(done.stderr, r"\n  own cores +0\.00 +of 1\.5 CPUs allowed\n")
        self.assertRegex(done.stderr,
                         r"\n  own memory +100\.0 MiB +at most, of 200\.0 MiB allowed\n")
        self.assertEqual(row["cgroup_cpu_limit_millicores"], 1500)
        self.assertEqual(row["cgroup_memory_limit_bytes"], 200 * MIB)

    def test_system_without_cgroups_has_no_columns_of_one(self) -> None:
        self.run_in({"proc/1/mountinfo": "22 1 0:21 / /proc rw - proc proc rw\n"}, "-o",
                    self.dir / "rows.csv")
        [row] = read_csv(self.dir / "rows.csv")
        self.assertFalse([name for name in row if "cgroup" in name])

    def test_huge_pages_and_the_arc_have_columns_where_there_are_any(self) -> None:
        self.run_in({"proc/meminfo": self.FILES["proc/meminfo"] + self.HUGE_PAGES.format(5, 10240),
                     "proc/spl/kstat/zfs/arcstats": "c_min 4 1048576\nsize 4 3145728\n"},
                    "-o", self.dir / "rows.csv")
        [row] = read_csv(self.dir / "rows.csv")
        self.assertEqual(row["hugepages_total_bytes"], 10 * MIB)
        self.assertEqual(row["hugepages_free_bytes"], 6 * MIB)
        self.assertEqual(row["zfs_arc_bytes"], 3 * MIB)
        self.assertEqual(row["zfs_arc_min_bytes"], MIB)
        self.assertEqual(row["memory_available_bytes"], 768000 * 1024 + 2 * MIB)
        self.assertEqual(row["memory_used_bytes"], 256000 * 1024 - 2 * MIB)

    def test_huge_pages_and_an_arc_of_nothing_have_no_columns(self) -> None:
        self.run_in({"proc/meminfo": self.FILES["proc/meminfo"] + self.HUGE_PAGES.format(0, 0),
                     "proc/spl/kstat/zfs/arcstats": "c_min 4 1048576\nsize 4 0\n"},
                    "-o", self.dir / "rows.csv")
        [row] = read_csv(self.dir / "rows.csv")
        self.assertFalse([name for name in row if "hugepages" in name or "arc" in name])

    def test_root_without_proc_is_refused(self) -> None:
        for words, code, text in (([self.dir], 125, "proc in it"), ([""], 2, "invalid root"),
                                  (["/", "--netns", "1"], 2, "--netns and --root")):
            done = rtrack("system", "--count", "1", "--root", *words)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(text, done.stderr)


class NetworkNamespace(Case):
    SETUP = """
ip link add v0 type veth peer name v1 && ip addr add 10.9.9.1/24 dev v0 &&
ip link set v0 up && ip link set v1 up && ip neigh add 10.9.9.2 lladdr 02:00:00:00:00:01 dev v0 &&
echo ready && exec cat
"""

    def start_in_namespace(self, before: List[str]) -> "subprocess.Popen[str]":
        for program in ("unshare", "ip"):
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")
        process = self.start(["unshare", "-n", *before, "sh", "-c", self.SETUP], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        if process.stdout.readline() != "ready\n":
            self.skipTest(f"cannot make a network namespace: {process.stderr.read()}")
        return process

    @staticmethod
    def sent(pid: int) -> int:
        """The bytes that v0 and v1 have sent, by the kernel's file of the process."""
        lines = pathlib.Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
        rows = (line.split(":") for line in lines)
        return sum(int(rest.split()[8]) for name, rest in rows if name.strip() in ("v0", "v1"))

    def send(self, pid: int) -> None:
        code = ("import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                "for i in range(50): s.sendto(b'x' * 1000, ('10.9.9.2', 9))")
        subprocess.run(["nsenter", "-t", str(pid), "-n", *python(code)], check=True)

    def check(self, name: str, pid: int) -> None:
        self.send(pid)
        before = self.sent(pid)
        rtrack("system", "-q", "-i", "0.01", "--count", "1", "-f", "jsonl", "--netns", name, "-o",
               self.dir / "rows")
        after = self.sent(pid)
        [row] = read_jsonl(self.dir / "rows")
        self.assertGreaterEqual(before, 50000)
        self.assertTrue(before <= row["network_transmit_bytes"] <= after,
                        (before, row["network_transmit_bytes"], after))
        self.assertEqual(row["network_interfaces"], 2)

    def test_network_is_that_of_the_process(self) -> None:
        process = self.start_in_namespace([])
        self.check(str(process.pid), process.pid)

    def test_network_is_that_of_the_path(self) -> None:
        process = self.start_in_namespace([])
        self.check(f"/proc/{process.pid}/ns/net", process.pid)

    def test_what_is_no_namespace_is_named(self) -> None:
        os.mkfifo(self.dir / "fifo")
        for name, code, text in (
                ("2147483647", 125, "no such process"),
                ("nosuch-rtrack", 125, "no network namespace at '/run/netns/nosuch-rtrack'"),
                ("/nosuch", 125, "no network namespace at '/nosuch'"),
                ("/etc/passwd", 125, "is no network namespace"),
                (str(self.dir / "fifo"), 125, "is no network namespace"),
                ("a/b", 2, "give a pid"), ("..", 2, "give a pid"), ("", 2, "invalid netns")):
            done = rtrack("system", "--count", "1", "--netns", name)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(text, done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to give up its rights")
    def test_missing_right_is_named(self) -> None:
        done = subprocess.run(["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin",
                               "setpriv", "--reuid=65534", "--clear-groups", str(RTRACK), "system",
                               "--count", "1", "--netns", "/proc/self/ns/net"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertIn("this needs CAP_SYS_ADMIN", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
