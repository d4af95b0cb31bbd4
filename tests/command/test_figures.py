# SPDX-License-Identifier: MIT
"""Compare the figures of rtrack run with those that the processes read from the kernel."""
import json
import os
import resource
import shutil
import subprocess
import textwrap
import time
import unittest
from pathlib import Path
from typing import Any, Dict

from rtrack_command import (RTRACK, Case, Row, busy, python, read_csv, read_jsonl, read_proc,
                            rtrack, until_rows, wait_until)

TICK = 1 / os.sysconf("SC_CLK_TCK")

# Does work of all kinds in children that it waits for. Then writes its getrusage(2) figures as JSON
# to the file of the first argument.
WORK = """
import json, os, resource, subprocess, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
for share in (0.15, 0.1, 0.05):
    pid = os.fork()
    if pid == 0:
        burn(share)
        block = b"x" * (24 << 20)
        with open(sys.argv[2], "wb") as file:
            file.write(block[:4 << 20])
            os.fsync(file.fileno())
        os._exit(0)
    os.waitpid(pid, 0)
burn(0.1)
scopes = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
self_use, children = map(resource.getrusage, scopes)
with open(sys.argv[1], "w") as file:
    names = [name for name in dir(self_use) if name.startswith("ru_")]
    json.dump({name: [getattr(self_use, name), getattr(children, name)] for name in names}, file)
os._exit(0)
"""


def cpu_of_children() -> float:
    """Return the CPU time of all waited-for children of this process, with their own children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class OfTheKernel(Case):
    """The command reads its own figures right before it exits."""

    def setUp(self) -> None:
        super().setUp()
        self.data = self.dir / "data"

    def work(self, *options: str) -> Row:
        path = self.dir / "rusage"
        self.got = self.summary("run", "-i", "0.05", *options, *python(WORK), path, self.data)
        self.kernel: Dict[str, Any] = json.loads(path.read_text())
        return self.got

    def test_cpu_time_lies_between_two_rusage_reads(self) -> None:
        for _ in range(3):
            before = cpu_of_children()
            got = self.work("--accounting", "wait")
            expected = sum(self.kernel["ru_utime"]) + sum(self.kernel["ru_stime"])
            # At least what the command read before its exit. At most that, rtrack and supervisor.
            self.assertTrue(expected - 1e-6 <= got["cpu_seconds"] <= cpu_of_children() - before,
                            (expected, got))
            self.assertAlmostEqual(got["cpu_user_seconds"] + got["cpu_system_seconds"],
                                   got["cpu_seconds"], places=6)

    def test_peak_rss_matches_largest_ru_maxrss(self) -> None:
        got = self.work()
        expected = max(self.kernel["ru_maxrss"]) * 1024
        self.assertAlmostEqual(got["peak_rss_bytes"], expected, delta=expected / 50)

    def test_minor_faults_match_rusage(self) -> None:
        got = self.work("--accounting", "wait")
        expected = sum(self.kernel["ru_minflt"])
        self.assertTrue(expected <= got["minor_faults"] <= expected * 1.05 + 100,
                        (expected, got["minor_faults"]))

    def test_bytes_written_match_ru_oublock(self) -> None:
        got = self.work()
        expected = sum(self.kernel["ru_oublock"]) * 512
        if expected == 0:
            self.skipTest("the file system of the temporary directory has no storage")
        self.assertGreaterEqual(expected, 12 << 20)
        self.assertAlmostEqual(got["write_bytes"], expected, delta=expected / 20)

    def test_peak_of_a_small_program_is_known(self) -> None:
        """An exec hands on the peak of the copy of rtrack that becomes the program. What that has
        of memory is counted with some 0.3 MiB to spare or to lack, so not each run counts."""
        if b"__asan_init" in Path(RTRACK).read_bytes():
            self.skipTest("a sanitized rtrack has more memory than a small program")
        known = [got["peak_rss_bytes"] for got in (self.summary("run", "true") for _ in range(10))
                 if "peak_rss" in got["valid"]]
        self.assertGreater(len(known), 5)
        self.assertTrue(all(300 << 10 <= peak <= 4 << 20 for peak in known), known)

    def test_cpu_time_and_peak_match_gnu_time(self) -> None:
        program = shutil.which("time")
        if not program:
            self.skipTest("GNU time is not installed")
        path = self.dir / "time"
        # Larger than the maxrss that an exec can inherit from the process that started rtrack.
        code = "x = b'x' * (96 << 20)\n" + busy(0.3)
        got = self.summary("run", program, "-o", path, "-f", "%U %S %M", *python(code))
        user, system, peak = (float(word) for word in path.read_text().split())
        # GNU time cuts both to hundredths of a second, and the figure of rtrack includes GNU time.
        self.assertTrue(user + system <= got["cpu_seconds"] <= user + system + 0.02 + 0.05,
                        (user, system, got))
        self.assertAlmostEqual(got["peak_rss_bytes"], peak * 1024, delta=peak * 1024 / 20)


class OfTheTree(Case):
    def test_tree_peak_is_sum_over_processes(self) -> None:
        """Three processes hold 40 MiB each, with no shared memory."""
        rows = self.dir / "rows"
        code = f"""
import os
ready_read, ready_write = os.pipe()
end_read, end_write = os.pipe()
for _ in range(2):
    if os.fork() == 0:
        os.close(end_write)
        x = os.urandom(1) * (40 << 20)
        os.write(ready_write, b".")
        os.read(end_read, 1)
        os._exit(0)
x = os.urandom(1) * (40 << 20)
for _ in range(2):
    os.read(ready_read, 1)
{until_rows(rows)}
"""
        got = self.summary("run", "-i", "0.1", "-o", rows, *python(code))
        self.assertTrue(120 << 20 <= got["peak_tree_bytes"] <= 160 << 20, got["peak_tree_bytes"])
        self.assertIn(got["peak_tree_kind"], ("footprint", "cgroup"))
        self.assertTrue(40 << 20 <= got["peak_rss_bytes"] <= 60 << 20, got["peak_rss_bytes"])

    def test_peak_is_not_exact_if_child_grew_unseen_and_was_not_waited_for(self) -> None:
        """A child is looked at, then takes 64 MiB and exits at once. Its parent ignores SIGCHLD."""
        rows = self.dir / "rows"
        code = f"""
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
{textwrap.indent(until_rows(rows), "    ")}
    block = os.urandom(1) * (64 << 20)
    os._exit(0)
try:
    os.wait()
except ChildProcessError:
    pass
"""
        for method in ("poll", "wait"):
            got = self.summary("run", "-i", "0.1", "--accounting", method, "--pss", "off",
                               "-o", rows, *python(code))
            self.assertIn("peak_footprint", got["partial"] + got["estimated"])
            self.assertNotIn("peak_footprint", got["valid"])
            self.assertEqual(got["peak_tree_kind"], "footprint")
            self.assertTrue(
                2 << 20 <= got["peak_tree_low_bytes"] <= got["peak_tree_bytes"] <= 100 << 20, got)

    def test_processes_of_tree_are_counted(self) -> None:
        got = self.summary("run", "-i", "0.05", "sh", "-c",
                           "sleep 0.4 & sleep 0.4 & sleep 0.4 & wait")
        self.assertEqual(got["processes"], 4)
        self.assertEqual(got["left_running"], 0)

    def test_background_child_is_reported_as_left_running(self) -> None:
        path = self.dir / "pid"
        got = self.summary("run", "-i", "0.05", "sh", "-c",
                           f"sleep 200 >/dev/null 2>&1 & echo $! >{path}",
                           stdout=subprocess.DEVNULL)
        self.addCleanup(os.kill, int(path.read_text()), 9)
        self.assertEqual(got["left_running"], 1)
        self.assertIn("left_running", got["accounting"]["reasons"])
        self.assertFalse(got["accounting"]["complete"])

    def test_no_children_option_counts_one_process(self) -> None:
        got = self.summary("run", "--no-children", "--accounting", "poll", "-i", "0.05", "sh", "-c",
                           " ".join(["sleep 0.2;"] * 2) + " true")
        self.assertEqual(got["processes"], 1)

    def test_exit_code_signal_and_wall_time_are_reported(self) -> None:
        began = time.monotonic()
        got = self.summary("run", "sh", "-c", "sleep 0.3; exit 9")
        self.assertEqual((got["exit_code"], got["signal"]), (9, None))
        self.assertTrue(0.3 <= got["wall_seconds"] <= time.monotonic() - began, got["wall_seconds"])
        got = self.summary("run", "sh", "-c", "kill -9 $$")
        self.assertEqual((got["exit_code"], got["signal"]), (None, 9))


class OfTheRows(Case):
    """The rows add up to the summary, whichever processes start and exit in between."""

    TREES = {
        "busy": python(busy(0.25)),
        "short-lived": ["sh", "-c", "i=0; while [ $i -lt 60 ]; do true | cat; i=$((i + 1)); done"],
        "children": python(WORK),
        "orphans": [
            "sh", "-c",
            "(sleep 0.05; i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done) & sleep 0.3"],
        "shorter than an interval": ["true"],
        "left running": ["sh", "-c", '(while [ -d "$0" ]; do :; done) >/dev/null 2>&1 & sleep 0.2'],
    }

    def each(self, form: str) -> Any:
        for name, words in self.TREES.items():
            path = self.dir / "rows"
            if words == self.TREES["children"]:
                words = [*words, str(self.dir / "rusage"), str(self.dir / "data")]
            if words == self.TREES["left running"]:
                words = [*words, str(self.dir)]
            with self.subTest(tree=name):
                began = time.monotonic()
                got = self.summary("run", "-i", "0.04", "-f", form, "-o", path, *words)
                self.took_s = time.monotonic() - began
                yield (read_jsonl if form == "jsonl" else read_csv)(path), got

    def test_csv_rows_add_up_to_summary(self) -> None:
        for rows, got in self.each("csv"):
            for name in ("cpu_user_seconds", "cpu_system_seconds"):
                self.assertAlmostEqual(sum(row["d_" + name] for row in rows), got[name], places=8)
            for name in ("read_bytes", "write_bytes", "minor_faults"):
                if got[name] is not None:
                    self.assertEqual(sum(row["d_" + name] or 0 for row in rows), got[name], name)

    def test_csv_v1_rows_add_up_to_summary(self) -> None:
        for rows, got in self.each("csv-v1"):
            for column, total in (("utime", "cpu_user_seconds"), ("stime", "cpu_system_seconds")):
                ticks = sum(row[column] for row in rows)
                self.assertEqual(ticks, (got[total] + 1e-9) // TICK, column)
            for column in ("read_bytes", "write_bytes"):
                if got[column] is not None:
                    # The cell is empty if the I/O of an exiting process could not be read.
                    self.assertEqual(sum(row[column] or 0 for row in rows), got[column], column)

    def test_csv_v5_rows_add_up_to_summary(self) -> None:
        for rows, got in self.each("csv-v5"):
            self.assertAlmostEqual(sum(row["process_utime"] for row in rows),
                                   got["cpu_user_seconds"], places=8)
            self.assertAlmostEqual(sum(row["process_stime"] for row in rows),
                                   got["cpu_system_seconds"], places=8)
            if got["write_bytes"] is not None:
                self.assertEqual(sum(row["process_disk_write_bytes"] or 0 for row in rows),
                                 got["write_bytes"])

    def test_jsonl_rows_add_up_to_summary(self) -> None:
        for rows, got in self.each("jsonl"):
            for name in ("cpu_user_seconds", "cpu_system_seconds"):
                self.assertAlmostEqual(sum(row["d_" + name] for row in rows), got[name], places=8)
            for name in ("minor_faults", "read_bytes", "write_bytes"):
                if got[name] is not None:
                    self.assertEqual(sum(row["d_" + name] for row in rows), got[name], name)
            self.assertEqual(len(rows), len([row for row in rows if row["interval_seconds"] > 0]))

    def test_rows_are_not_negative_and_intervals_add_up(self) -> None:
        for rows, got in self.each("csv-v5"):
            for row in rows:
                for name, value in row.items():
                    self.assertFalse(value is not None and value < 0, name)
        for rows, got in self.each("jsonl"):
            whole = sum(row["interval_seconds"] for row in rows)
            self.assertTrue(got["wall_seconds"] <= whole <= self.took_s,
                            (got["wall_seconds"], whole, self.took_s))


class Start(Case):
    METHODS = ("poll", "wait", "cgroup", "bpf")

    def test_first_row_begins_with_the_command(self) -> None:
        """To load BPF programs takes 10 ms or more before."""
        for method in self.METHODS:
            rows = self.dir / "rows.jsonl"
            outcome = self.dir / "outcome"
            done = rtrack("run", "--accounting", method, "-i", "0.05", "--format", "jsonl",
                          "-o", rows, "--summary", "json", "--summary-file", outcome, "sleep",
                          "0.2")
            with self.subTest(method):
                if done.returncode == 125:
                    self.skipTest(f"{method} cannot be had here: {done.stderr.strip()}")
                got = json.loads(outcome.read_text())
                first = read_jsonl(rows)[0]
                begin = first["timestamp"] - first["interval_seconds"]
                self.assertAlmostEqual(begin, got["start_time"], delta=0.002)


class Overhead(Case):
    def test_overhead_is_reported_and_small(self) -> None:
        rows = self.dir / "rows"
        got = self.summary("run", "-i", "0.1", "-o", rows, "sleep", "1")
        self.assertTrue(0 < got["overhead_cpu_seconds"] < 0.05, got["overhead_cpu_seconds"])
        self.assertEqual(got["samples"], len(read_csv(rows)) + 1,
                         "one sample precedes the first row")

    def test_overhead_of_attach_has_the_start(self) -> None:
        """To load BPF programs, where that is allowed, takes 20 ms or more."""
        before = cpu_of_children()
        rtrack("--version")
        of_loader, before = cpu_of_children() - before, cpu_of_children()
        got = self.summary("attach", "-d", "0.1", str(os.getpid()), stdout=subprocess.DEVNULL)
        used = cpu_of_children() - before
        self.assertTrue((used - of_loader) / 2 - 0.01 <= got["overhead_cpu_seconds"] <= used,
                        (used, of_loader, got["overhead_cpu_seconds"]))


class Served(Case):
    """A file system that another process serves: the kernel adds what that reads to its account."""

    SIZE = 16 << 20

    def serve(self) -> "subprocess.Popen[Any]":
        source, self.mount = self.dir / "source", self.dir / "mount"
        source.mkdir()
        self.mount.mkdir()
        (source / "file").write_bytes(bytes(self.SIZE))
        if not shutil.which("bindfs"):
            self.skipTest("bindfs is not installed")
        server = self.start(["bindfs", "-f", source, self.mount], stderr=subprocess.PIPE)
        self.addCleanup(subprocess.run, ["umount", self.mount], stderr=subprocess.DEVNULL)
        wait_until(lambda: (self.mount / "file").exists() or server.poll() is not None)
        if server.poll() is not None:
            self.skipTest("cannot mount FUSE here: " + server.stderr.read().decode().strip())
        return server

    @staticmethod
    def chars_read(pid: int) -> int:
        return int(read_proc(pid, "io").split()[1])

    def test_pages_that_are_mapped_through_fuse_make_io_a_lower_bound(self) -> None:
        """Read one after the other, they are read ahead: hardly any fault needs I/O."""
        server = self.serve()
        before = self.chars_read(server.pid)
        series = self.dir / "series"
        got = self.summary("run", "-q", "-i", "0.05", "-o", series, *python(
            f"import mmap\nfile = open({str(self.mount / 'file')!r}, 'rb')\n"
            "pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\nfile.close()\n"
            "sum(pages[at] for at in range(0, len(pages), 4096))\n" + until_rows(series)))
        self.assertGreaterEqual(self.chars_read(server.pid) - before, self.SIZE)
        self.assertLess(got["read_bytes"], self.SIZE)
        self.assertIn("io", got["partial"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
