# SPDX-License-Identifier: MIT
"""Tests of the process list, compared with what the processes report themselves."""
import csv
import json
import os
import time
import unittest
from typing import Dict, List

from rtrack_command import Case, Row, busy, is_alive, python, read_jsonl, rtrack, wait_until

COLUMNS = [
    "pid", "ppid", "comm", "start", "end", "exit_code", "signal", "cpu_user_seconds",
    "cpu_system_seconds", "peak_rss_bytes", "read_bytes", "write_bytes", "final", "running",
    "partial", "estimated", "own_read_bytes", "own_write_bytes", "forked_only", "command_line",
    "command_line_cut", "cwd"]
# Forks children and prints their pids and exit codes. The list must have all of them.
FAMILY = r"""
import os, sys
def child(code):
    pid = os.fork()
    if pid == 0:
        os._exit(code)
    return pid
family = {os.getpid(): 5}
for code in range(40):
    family[child(code)] = code
for _ in range(40):
    os.wait()
print(family)
sys.stdout.flush()
os._exit(5)
"""


class Listed(Case):
    def rows(self, *words: str, name: str = "processes.csv") -> List[Row]:
        """Run a command. Returns its process list, with numbers, and None for unknown cells."""
        path, summary = self.dir / name, self.dir / "summary"
        self.done = rtrack("run", "--summary", "json", "--summary-file", summary, "--processes",
                           path, *words)
        self.reported = json.loads(summary.read_text())
        if path.suffix == ".jsonl":
            return read_jsonl(path)
        with open(path, newline="") as file:
            lines = csv.reader(file, quoting=csv.QUOTE_NONNUMERIC)
            self.assertEqual(next(lines), COLUMNS)
            return [
                dict(zip(COLUMNS, (None if cell == "" else cell for cell in line)))
                for line in lines]

    def need_exact_list(self) -> None:
        if not self.reported["processes_exact"]:
            self.skipTest("process events are not available here")


class Csv(Listed):
    def test_list_has_every_process_with_pid_and_exit_code(self) -> None:
        rows = self.rows(*python(FAMILY))
        self.need_exact_list()
        family: Dict[int, int] = eval(self.done.stdout, {"__builtins__": {}})  # numbers only
        self.assertEqual({row["pid"]: row["exit_code"] for row in rows}, family)
        self.assertEqual(len(rows), self.reported["processes"])
        self.assertEqual({row["ppid"] for row in rows[1:]}, {rows[0]["pid"]})
        self.assertTrue(all(row["signal"] is None for row in rows))

    def test_start_and_end_match_wall_clock(self) -> None:
        before = time.time()
        rows = self.rows("sh", "-c", "sleep 0.2; sleep 0.1")
        after = time.time()
        self.need_exact_list()
        starts = [row["start"] for row in rows]
        self.assertEqual(starts, sorted(starts))
        for row, least in zip(rows, (0.3, 0.2, 0.1)):
            self.assertTrue(before - 0.02 < row["start"] < row["end"] < after + 0.02, row)
            self.assertGreaterEqual(row["end"] - row["start"], least - 0.001)

    def test_signal_and_comm_are_listed(self) -> None:
        rows = self.rows("sh", "-c", "sh -c 'kill -9 $$'; sleep 1; exit 0")
        self.need_exact_list()
        self.assertEqual([(row["signal"], row["exit_code"]) for row in rows],
                         [(None, 0), (9, None), (None, 0)])
        self.assertEqual(rows[2]["comm"], "sleep")

    def test_final_figures_add_up_to_summary(self) -> None:
        code = "; ".join(f"{python(busy(0.1))[0]} -I -c '{busy(0.1)}'" for _ in range(3))
        rows = self.rows("sh", "-c", code)
        self.need_exact_list()
        known = sum(
            (row["cpu_user_seconds"] or 0) + (row["cpu_system_seconds"] or 0) for row in rows)
        self.assertLessEqual(known, self.reported["cpu_seconds"] + 0.001)
        final = [row for row in rows if row["final"]]
        for row in final:
            self.assertEqual("cpu" in (row["partial"] or ""), False)
        if len(final) == len(rows):
            self.assertAlmostEqual(known, self.reported["cpu_seconds"], delta=0.02)

    def test_hostile_comm_stays_in_one_row(self) -> None:
        names = [b'a"b,c', b"new\nline", b"\xff\xfe", b"back\\slash", b"\x1b[31m", "grün".encode()]
        escaped = ['a"b,c', "new\\nline", "\\xff\\xfe", "back\\\\slash", "\\x1b[31m", "grün"]
        code = f"""
import ctypes, os
for name in {names!r}:
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
        os._exit(0)
    os.wait()
"""
        rows = self.rows(*python(code))
        self.need_exact_list()
        self.assertEqual([row["comm"] for row in rows[1:]], escaped)
        self.assertEqual(len((self.dir / "processes.csv").read_text().splitlines()), 8)
        rows = self.rows(*python(code), name="list.jsonl")
        self.assertEqual([row["comm"] for row in rows[1:4]], ['a"b,c', "new\nline", "\ufffd\ufffd"])

    def test_process_left_running_is_marked_running(self) -> None:
        path = self.dir / "pid"
        rows = self.rows("sh", "-c", f"sleep 200 >/dev/null 2>&1 & echo $! >{path}")
        pid = int(path.read_text())
        try:
            [left] = [row for row in rows if row["running"]]
            self.assertEqual((left["pid"], left["end"], left["exit_code"], left["final"]),
                             (pid, None, None, 0))
        finally:
            os.kill(pid, 9)
        wait_until(lambda: not is_alive(pid))


class Elsewhere(Listed):
    def test_jsonl_list_has_typed_records(self) -> None:
        rows = self.rows("sh", "-c", "(exit 3); exit 4", name="list.jsonl")
        self.assertEqual(self.done.returncode, 4)
        for row in rows:
            self.assertEqual(list(row), ["type", *COLUMNS])
            self.assertEqual(row["type"], "process")
            self.assertIsInstance(row["final"], bool)
            self.assertIsInstance(row["partial"], list)
        self.assertEqual(rows[0]["pid"], self.reported["pid"])
        self.need_exact_list()
        self.assertEqual([row["exit_code"] for row in rows], [4, 3])

    def test_every_accounting_method_writes_list(self) -> None:
        for method in ("poll", "wait", "cgroup"):
            path = self.dir / "list.jsonl"
            done = rtrack("run", "-q", "--accounting", method, "--processes", path, "sh", "-c",
                          "sleep 0.05; exit 6")
            if done.returncode == 125:
                continue  # this accounting method is not available here
            self.assertEqual((done.returncode, done.stderr), (6, ""))
            rows = read_jsonl(path)
            self.assertEqual([row["exit_code"] for row in rows].count(6), 1, method)

    def test_list_on_stdout_follows_command_output(self) -> None:
        done = rtrack("run", "-q", "--processes", "-", "echo", "mine")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:2], ["mine", ",".join(f'"{name}"' for name in COLUMNS)])
        self.assertEqual(len(lines), 3)

    def test_list_descriptor_is_not_inherited(self) -> None:
        done = rtrack("run", "-q", "--processes", self.dir / "list.csv", "ls", "/proc/self/fd")
        self.assertEqual(done.stdout.split(), ["0", "1", "2", "3"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
