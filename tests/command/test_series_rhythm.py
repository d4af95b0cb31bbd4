# SPDX-License-Identifier: MIT
"""Tests of when the samples of a time series are taken, and when their rows are written."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from rtrack_command import (PATIENCE_S, RTRACK, python, read_csv, read_proc, state_of,
                            until_rows, wait_until)
from test_series import CLOCK_SLACK_S, Files


class Rhythm(Files):
    def test_rows_missed_while_stopped_are_not_written(self) -> None:
        """One row covers the whole pause. The missed rows do not follow in a burst."""
        count, interval, pause = 8, 0.1, 1.05
        process = self.start([RTRACK, "system", "-q", "-i", str(interval), "--count", str(count)],
                             stdout=subprocess.PIPE, text=True)
        lines = [process.stdout.readline() for _ in range(3)]
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T")
        time.sleep(pause)
        os.kill(process.pid, signal.SIGCONT)
        lines += process.communicate(timeout=PATIENCE_S)[0].splitlines()
        times = [float(line.split(",")[0]) for line in lines[1:]]
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        self.assertEqual(len(times), count)
        self.assertGreater(max(gaps), pause - interval)
        # Each row has its own tick. With a burst, the last row would come right after the pause.
        self.assertGreater(times[-1] - times[0], (count - 1) * interval + pause - 4 * interval)

    def test_missed_samples_are_counted_in_a_note(self) -> None:
        """Stop rtrack for half a second, which is 500 intervals."""
        summary = self.dir / "summary.json"
        process = self.start([RTRACK, "system", "--summary-file", summary, "-i", "0.001", "-d",
                              "6", "-o", self.path], stderr=subprocess.PIPE, text=True)
        wait_until(lambda: self.path.exists() and self.path.read_text().count("\n") > 5)
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T")
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGCONT)
        note = process.communicate(timeout=PATIENCE_S)[1]
        found = re.fullmatch(r"rtrack: (\d+) of (\d+) samples were missed: .*\n", note)
        self.assertTrue(found, note)
        missed, due = map(int, found.groups())
        rows = read_csv(self.path)
        self.assertGreaterEqual(missed, 499)
        self.assertEqual(due, missed + len(rows))
        self.assertEqual(json.loads(summary.read_text())["samples_missed"], missed)
        self.assertEqual(due, 6000, "one a millisecond")
        self.assertGreaterEqual(max(row["interval_seconds"] for row in rows), 0.5)

    def test_rows_of_short_intervals_are_written_together(self) -> None:
        """A write takes as long as some samples where a disk or another program is slow."""
        began = time.monotonic()
        process = self.start([RTRACK, "system", "-q", "-i", "0.001", "-d", "1", "-o", self.path])
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        took = time.monotonic() - began
        calls = int(re.search(r"^syscw: (\d+)", read_proc(process.pid, "io"), re.MULTILINE)[1])
        self.assertLess(calls, took / 0.01 + 10)
        rows = read_csv(self.path)
        self.assertAlmostEqual(sum(row["interval_seconds"] for row in rows[1:]),
                               rows[-1]["timestamp"] - rows[0]["timestamp"], delta=CLOCK_SLACK_S)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_frequent_samples_ask_for_short_slices(self) -> None:
        for interval, is_asked in (("0.001", True), ("0.1", False)):
            log = self.dir / "log"
            done = subprocess.run(["strace", "-o", log, "-e", "trace=sched_setattr", RTRACK,
                                   "system", "-q", "-i", interval, "--count", "2", "-o",
                                   "/dev/null"], stderr=subprocess.PIPE, text=True,
                                  timeout=PATIENCE_S)
            if done.returncode:
                self.skipTest("strace cannot trace here: " + done.stderr)
            self.assertEqual("sched_runtime=100000" in log.read_text(), is_asked, interval)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_samples_of_a_command_do_not_count_the_cpus(self) -> None:
        def opened(count: int) -> int:
            """Return how often rtrack opens the list of the CPUs for a command of so many rows."""
            log = self.dir / "log"
            code = until_rows(self.path, str(count + 1))
            self.path.unlink(missing_ok=True)
            done = subprocess.run(["strace", "-o", log, "-e", "trace=openat", RTRACK, "run", "-q",
                                   "-i", "0.01", "--pss", "off", "-o", self.path, *python(code)],
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
            if done.returncode:
                self.skipTest("strace cannot trace here: " + done.stderr)
            return log.read_text().count("/sys/devices/system/cpu/online")

        self.assertLess(opened(60) - opened(10), 10)

    def test_rows_before_the_end_of_the_series_are_written_at_once(self) -> None:
        """With --count, the command goes on when the series has ended."""
        code = until_rows(self.path, "6")
        rows = self.cells("run", "-i", "0.001", "--count", "5", *python(code))
        self.assertEqual(len(rows), 1 + 5 + 1)

    def test_count_ends_series_but_not_command(self) -> None:
        code = until_rows(self.path, "3") + "time.sleep(0.3)"
        rows = self.cells("run", "-i", "0.1", "--count", "2", *python(code))[1:]
        self.assertEqual(len(rows), 3, "the last row covers the rest of the run")
        self.assertGreater(float(rows[2][0]) - float(rows[1][0]), 0.3 - CLOCK_SLACK_S)

    def test_duration_ends_series_but_not_command(self) -> None:
        began = time.monotonic()
        rows = self.cells("run", "-i", "0.1", "-d", "0.2", "sleep", "0.8")[1:]
        self.assertGreater(time.monotonic() - began, 0.8)
        self.assertIn(len(rows), (2, 3),
                      "at most two rows in that time, and a last row for the rest")

    def test_duration_ends_system(self) -> None:
        began = time.monotonic()
        self.assertIn(len(self.cells("system", "-i", "0.1", "-d", "0.25")), range(1 + 1, 1 + 3 + 1))
        self.assertGreater(time.monotonic() - began, 0.25)


if __name__ == "__main__":
    unittest.main(verbosity=2)
