# SPDX-License-Identifier: MIT
"""Tests of rtrack attach: following processes that already run."""
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest
from typing import Any, Dict, List

from rtrack_command import (PATIENCE_S, RTRACK, Case, Row, busy, is_alive, python, read_csv,
                            read_jsonl, read_proc, rtrack, state_of, voluntary_switches, wait_until)

try:
    import psutil
except ImportError:
    psutil = None


# Waits for a byte, then starts six daemons that become orphans at once. Five of them sleep for
# 50 ms. The last one uses CPU time and then waits for another byte.
DAEMONS = """
import os, time
def daemon(work):
    if os.fork() == 0:
        if os.fork() == 0:
            work()
        os._exit(0)
    os.wait()
def stay():
    while time.process_time() < 0.3:
        pass
    os.read(0, 1)
os.read(0, 1)
for _ in range(5):
    daemon(lambda: time.sleep(0.05))
daemon(stay)
"""
# Uses CPU time and prints how much. Repeats that after a line of input.
WORKS_TWICE = """
import os, sys, time
def work_until(seconds):
    while time.process_time() < seconds:
        pass
    return time.process_time()
print(work_until(0.4), flush=True)
sys.stdin.readline()
again = time.process_time()
print(again, work_until(again + 0.5), flush=True)
"""
# A parent with a child. Each exits when the other end of its pipe is closed.
PARENT_AND_CHILD = """
import os, sys
parent_end, child_end = map(int, sys.argv[1:])
os.read(parent_end if os.fork() else child_end, 1)
"""


def pss_kib(pid: int) -> int:
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))


class Attach(Case):
    def attach(self, rows: pathlib.Path, *words: Any) -> "subprocess.Popen[Any]":
        """Start rtrack attach, and wait until it follows the process."""
        meta = self.dir / "meta"
        process = self.start([RTRACK, "attach", "-o", rows, "--meta", meta, "--summary", "json",
                              *map(str, words)], stderr=subprocess.PIPE)
        wait_until(lambda: meta.exists() and meta.read_text().endswith("\n"))
        return process

    def targets(self, process: "subprocess.Popen[Any]") -> List[Row]:
        """Wait for rtrack to exit. Returns its summaries, one for each process."""
        _, output = process.communicate(timeout=PATIENCE_S)
        # On an overloaded system, samples are missed, and a note says so.
        lines = [line for line in output.splitlines() if b"samples were missed" not in line]
        return list(map(json.loads, lines))

    def test_attach_when_process_exits_ends_at_once(self) -> None:
        rows = self.dir / "rows"
        target = self.start(["cat"], stdin=subprocess.PIPE)
        process = self.attach(rows, "-i", 10 * PATIENCE_S, target.pid)
        # The process stays a zombie until rtrack has ended. A zombie counts as ended.
        target.stdin.close()
        [tree] = self.targets(process)
        self.assertEqual((tree["pid"], tree["ended"]), (target.pid, True))
        self.assertEqual(len(read_csv(rows)), 1)

    def test_attach_to_the_shell_that_started_rtrack_ends_with_it(self) -> None:
        """rtrack is in the tree that it follows, and must not wait for its own end."""
        rows, meta, summary = (self.dir / name for name in ("rows", "meta", "summary.json"))
        shell = self.start(["sh", "-c", f'"$@" -d {PATIENCE_S} $$ & read line', "sh", RTRACK,
                            "attach", "-i", "0.05", "-o", rows, "--meta", meta, "--summary-file",
                            summary], stdin=subprocess.PIPE)
        wait_until(lambda: meta.exists() and meta.read_text().endswith("\n"))
        shell.stdin.close()
        shell.wait(PATIENCE_S)
        wait_until(lambda: summary.exists() and summary.read_text().endswith("\n"),
                   2 * PATIENCE_S)
        tree = json.loads(summary.read_text())
        self.assertEqual((tree["pid"], tree["ended"]), (shell.pid, True))

    def test_attach_to_a_process_that_waits_for_rtrack_says_so(self) -> None:
        """E.g. "rtrack attach $$ | tee": neither would end."""
        words = ["attach", "-o", "/dev/null"]
        shell = self.start(["sh", "-c", '"$@" $$ 2>&1 >/dev/null | cat', "sh", RTRACK, *words],
                           stdout=subprocess.PIPE, text=True)
        line = shell.stdout.readline()
        self.assertIn(f"rtrack itself runs in the tree of process {shell.pid}: ", line)
        [tracker] = [pid for pid in map(int, read_proc(shell.pid, f"task/{shell.pid}/children")
                                        .split()) if "attach" in read_proc(pid, "cmdline")]
        self.assertGreater(tracker, 1)
        os.kill(tracker, signal.SIGTERM)
        self.assertIn("still running", shell.communicate(timeout=PATIENCE_S)[0])
        for more in (["--count", "1"], ["-d", "0.1"], ["--no-children", "--count", "1"]):
            self.assertNotIn("rtrack itself", rtrack(*words, "-i", "0.01", *more,
                                                     str(os.getpid())).stderr)

    def test_process_that_is_named_twice_is_followed_once(self) -> None:
        target = self.start(["cat"], stdin=subprocess.PIPE)
        other = self.start(["cat"], stdin=subprocess.PIPE)
        done = rtrack("attach", "--summary", "json", "-o", self.dir / "rows", "--count", "1", "-i",
                      "0.01", *map(str, (target.pid, other.pid, target.pid)))
        note, *summaries = done.stderr.splitlines()
        self.assertEqual(note, f"rtrack: process {target.pid} is named twice: it is followed once")
        self.assertEqual([json.loads(line)["pid"] for line in summaries], [target.pid, other.pid])

    def test_one_missing_process_of_several_is_named_and_nothing_is_followed(self) -> None:
        target = self.start(["cat"], stdin=subprocess.PIPE)
        gone = subprocess.Popen(["true"])
        gone.wait()
        done = rtrack("attach", "-o", self.dir / "rows", str(target.pid), str(gone.pid))
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr, f"rtrack: cannot attach to process {gone.pid}: there is no "
                                      "such process\n")
        self.assertFalse((self.dir / "rows").exists())

    def test_figures_start_at_attach(self) -> None:
        rows = self.dir / "rows"
        target = self.start(python(WORKS_TWICE), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        first = float(target.stdout.readline())
        wait_until(lambda: state_of(target.pid) == "S")
        process = self.attach(rows, "-i", "0.05", target.pid)
        target.stdin.write(b"\n")
        target.stdin.flush()
        again, last = map(float, target.stdout.readline().split())
        [tree] = self.targets(process)
        _, _, final = os.wait4(target.pid, 0)
        target.returncode = 0
        self.assertTrue(first <= tree["cpu_seconds_before"] <= again, (first, tree, again))
        self.assertGreaterEqual(tree["cpu_seconds"], last - again)
        self.assertAlmostEqual(tree["cpu_seconds_before"] + tree["cpu_seconds"],
                               final.ru_utime + final.ru_stime, delta=0.005)
        used = sum(row["d_cpu_user_seconds"] + row["d_cpu_system_seconds"]
                   for row in read_csv(rows))
        self.assertAlmostEqual(used, tree["cpu_seconds"], places=8)

    def test_attach_to_several_ends_after_last_exit(self) -> None:
        rows = self.dir / "rows"
        targets = [self.start(["cat"], stdin=subprocess.PIPE) for _ in range(3)]
        pids = [target.pid for target in targets]
        process = self.attach(rows, "-i", "0.05", *pids)

        def count(pid: int) -> int:
            return rows.read_text().count(f",{pid},")

        order = [0, 2, 1]
        for earlier, later in zip(order, order[1:]):
            targets[earlier].stdin.close()
            wait_until(lambda: count(pids[later]) > count(pids[earlier]) + 1)
        targets[order[-1]].stdin.close()
        found = self.targets(process)
        self.assertEqual([tree["pid"] for tree in found], pids)
        self.assertTrue(all(tree["ended"] for tree in found))
        counts = [sum(row["pid"] == pid for row in read_csv(rows)) for pid in pids]
        self.assertTrue(counts[0] < counts[2] < counts[1], counts)

    def test_attach_after_process_exit_follows_descendants(self) -> None:
        rows = self.dir / "rows"
        (parent_end, parent_write_end), (child_end, child_write_end) = os.pipe(), os.pipe()
        target = self.start([*python(PARENT_AND_CHILD), str(parent_end), str(child_end)],
                            pass_fds=[parent_end, child_end])
        for end in (parent_end, child_end):
            os.close(end)
        wait_until(lambda: read_proc(target.pid, f"task/{target.pid}/children"))
        process = self.attach(rows, "-i", "0.05", target.pid)
        os.close(parent_write_end)
        wait_until(lambda: not is_alive(target.pid))
        so_far = rows.read_text().count("\n")
        wait_until(lambda: rows.read_text().count("\n") > so_far + 3)
        self.assertIsNone(process.poll())
        os.close(child_write_end)
        self.assertTrue(self.targets(process)[0]["ended"])

    def test_daemons_between_two_samples_are_counted(self) -> None:
        info = json.loads(rtrack("info", "--json").stdout)
        if info["command"]["process_events"]["available"] == "no":
            self.skipTest("process events are not available here")
        rows = self.dir / "rows.jsonl"
        target = self.start(python(DAEMONS), stdin=subprocess.PIPE, bufsize=0)
        process = self.attach(rows, "-i", "1", target.pid)
        target.stdin.write(b"1")
        wait_until(lambda: not is_alive(target.pid))
        so_far = rows.read_text().count("\n")
        wait_until(lambda: rows.read_text().count("\n") > so_far + 1)
        target.stdin.write(b"2")
        [tree] = self.targets(process)
        self.assertEqual(tree["processes"], 1 + 2 * 5 + 2, tree)
        reasons = tree["accounting"]["reasons"]
        self.assertEqual(tree["processes_exact"], "events_lost" not in reasons, reasons)
        self.assertTrue(tree["ended"])
        self.assertEqual("orphans_unseen" in reasons, "events_lost" in reasons, reasons)
        self.assertGreaterEqual(tree["cpu_seconds"], 0.3, "the last daemon is followed")
        self.assertGreaterEqual(max(row["children"] for row in read_jsonl(rows)), 1)

    def test_process_that_ends_between_two_samples_is_counted_to_its_end(self) -> None:
        """Burn CPU time after the first sample, and become a zombie before the next one is due."""
        rows = self.dir / "rows"
        target = self.start(python("import os\nos.read(0, 1)\n" + busy(0.5)),
                            stdin=subprocess.PIPE, bufsize=0)
        process = self.attach(rows, "-i", 10 * PATIENCE_S, "--no-children", target.pid)
        target.stdin.write(b"1")
        [tree] = self.targets(process)
        _, _, final = os.wait4(target.pid, 0)
        target.returncode = 0
        self.assertAlmostEqual(tree["cpu_seconds_before"] + tree["cpu_seconds"],
                               final.ru_utime + final.ru_stime, delta=0.00001)
        self.assertEqual((tree["accounting"]["complete"], tree["accounting"]["reasons"]),
                         (True, []))

    def test_tree_of_which_nothing_ended_is_complete_beside_other_programs(self) -> None:
        info = json.loads(rtrack("info", "--json").stdout)
        if info["command"]["process_events"]["available"] == "no":
            self.skipTest("process events are not available here")
        target = self.start(["sleep", "30"])
        other = self.start(python("while True: pass"))
        rows = self.dir / "rows"
        process = self.attach(rows, "-i", "0.1", "--count", "5", target.pid)
        [tree] = self.targets(process)
        self.assertIsNone(other.poll())
        self.assertEqual((tree["accounting"]["complete"], tree["accounting"]["reasons"]),
                         (True, []))
        self.assertEqual(tree["accounting"]["cpu_seconds_high"], tree["cpu_seconds"])

    def test_what_was_used_before_is_exact_unless_a_child_was_reaped(self) -> None:
        """What an orphan used before is in no account of the tree."""
        reap = "import subprocess\nsubprocess.run(['true'])\n"
        for code, is_exact in (("", True), (reap, False)):
            with self.subTest(is_exact=is_exact):
                rows = self.dir / f"rows-{is_exact}"
                target = self.start(python(code + "print()\ninput()"), stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE)
                target.stdout.readline()
                process = self.attach(rows, "-i", "0.1", "--count", "2", target.pid)
                [tree] = self.targets(process)
                reasons = tree["accounting"]["reasons"]
                self.assertEqual(tree["cpu_seconds_before_exact"], is_exact)
                self.assertEqual("past_unknown" in reasons, not is_exact)
                self.assertIn("cpu", tree["valid"])

    def test_cpu_time_of_the_cgroup_bounds_that_of_the_tree(self) -> None:
        """The children are reaped by the kernel, so that nothing but their cgroup has all; and BPF
        programs, where they may be loaded."""
        if not any(" - cgroup2 " in line and line.split()[3] == "/"
                   for line in open("/proc/self/mountinfo")):
            self.skipTest("no cgroup v2 is mounted")
        code = ("import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                "os.write(1, b'ready')\nos.read(0, 1)\nfor _ in range(20):\n if os.fork() == 0:\n"
                "  while time.process_time() < 0.03: pass\n  os._exit(0)\n try: os.wait()\n"
                " except ChildProcessError: pass\n")
        rows = self.dir / "rows"
        target = self.start(python(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.assertEqual(target.stdout.read(5), b"ready")
        process = self.attach(rows, "-i", 10 * PATIENCE_S, target.pid)
        target.stdin.write(b"1")
        [tree] = self.targets(process)
        high = tree["accounting"]["cpu_seconds_high"]
        self.assertGreaterEqual(high, 20 * 0.03)
        self.assertGreaterEqual(high, tree["cpu_seconds"])
        # The kernel calls no program for a few threads that it frees, while others load programs.
        is_accounted = (tree["accounting"]["level"] == "bpf"
                        and "events_lost" not in tree["accounting"]["reasons"])
        # Earlier children of a process that ignores SIGCHLD would be in no account.
        others = set(tree["accounting"]["reasons"]) - {"past_unknown"}
        self.assertEqual(not others, is_accounted, tree["accounting"])
        self.assertFalse(tree["cpu_seconds_before_exact"])
        if is_accounted:
            self.assertGreaterEqual(tree["cpu_seconds"], 20 * 0.03)
            self.assertEqual(high, tree["cpu_seconds"])

    def test_peak_between_two_samples_is_recorded(self) -> None:
        """Hold memory until rtrack has slept a few times.

        The interval is so long that only peak polls and the exit of the process wake rtrack."""
        code = ("import os\nos.read(0, 1)\nx = b'x' * (96 << 20)\nos.write(1, b'held')\n"
                "os.read(0, 1)\ndel x\nos.write(1, b'released')\nos.read(0, 1)")
        rows = self.dir / "rows.jsonl"
        target = self.start(python(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        process = self.attach(rows, "-i", 10 * PATIENCE_S, target.pid)
        target.stdin.write(b"1")
        self.assertEqual(target.stdout.read(4), b"held")
        so_far = voluntary_switches(process.pid)
        wait_until(lambda: voluntary_switches(process.pid) > so_far + 2)
        target.stdin.write(b"2")
        self.assertEqual(target.stdout.read(8), b"released")
        target.stdin.write(b"3")
        self.targets(process)
        self.assertGreater(read_jsonl(rows)[-1]["peak_tree_rss_bytes"], 96 << 20)

    def test_attached_process_keeps_running(self) -> None:
        target = self.start(["sleep", "30"])
        self.assertEqual(
            rtrack("attach", "-q", "-d", "0.1", "-o", "/dev/null", str(target.pid)).returncode, 0)
        self.assertTrue(is_alive(target.pid))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_io_of_other_user_is_unknown_and_memory_an_estimate(self) -> None:
        target = self.start(["sleep", "30"])
        words = ["attach", str(target.pid), "-i", "0.05", "--count", "2", "-f", "csv"]
        try:
            done = rtrack(*words, user=65534, group=65534, extra_groups=[])
        except PermissionError:
            self.skipTest("other users cannot access this build directory")
        self.assertEqual(done.returncode, 0)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertEqual((row["d_read_bytes"], row["d_write_bytes"]), ("", ""))
            self.assertGreater(int(row["footprint_bytes"]), 0)
            self.assertIn("footprint_bytes", row["estimated"].split())
        self.assertRegex(done.stderr, r"(?m)^  read +unknown")
        said = " ".join(done.stderr.split())
        self.assertIn(f"read, written: The caller may not read /proc/{target.pid}/io", said)
        done = rtrack(*words)
        self.assertNotIn("may not read", done.stderr)

    def test_what_zombies_used_before_is_in_no_lower_bound(self) -> None:
        """Their I/O is hidden from ordinary users, and is that of their parent once it waits."""
        user: Dict[str, Any] = {}
        if os.getuid() == 0:
            user = {"user": 65534, "group": 65534, "extra_groups": []}
        code = """
import os, sys, tempfile, time
for _ in range(3):
    if os.fork() == 0:
        with tempfile.TemporaryFile(dir="/var/tmp") as file:
            file.write(os.urandom(1 << 20))
            file.flush()
        os._exit(0)
for _ in range(3):
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
print(flush=True)
sys.stdin.readline()
before = time.process_time()
for _ in range(3):
    os.wait()
sys.stdin.readline()
print(time.process_time() - before, flush=True)
"""
        parent = self.start(["/usr/bin/python3", "-I", "-c", code], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, bufsize=0, **user)
        parent.stdout.readline()
        attach = self.start([RTRACK, "attach", "-o", "-", "-i", "0.05", "--summary", "json",
                             str(parent.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **user)
        for _ in range(2):
            attach.stdout.readline()
        parent.stdin.write(b"\n")
        for _ in range(3):
            attach.stdout.readline()
        parent.stdin.write(b"\n")
        used = float(parent.stdout.readline())
        [target] = self.targets(attach)
        if target["write_bytes"]:
            self.assertNotIn("io", target["valid"] + target["partial"])
        self.assertLessEqual(target["accounting"]["cpu_seconds_low"], used + 0.05)
        if "cpu" in target["estimated"]:
            self.assertFalse(target["accounting"]["complete"])

    def test_options_after_pid_are_parsed(self) -> None:
        target = self.start(["sleep", "30"])
        done = rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "2", "-f", "csv")
        self.assertEqual(len(done.stdout.splitlines()), 3)

    def test_series_is_written_if_it_is_asked_for(self) -> None:
        words = ["attach", "-i", "0.01", "--count", "1", str(os.getpid())]
        done = rtrack(*words)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("wall time", done.stderr)
        for more in (["-o", "-"], ["-f", "csv"], ["--fields", "pid"], ["--per-process"],
                     ["--meta", self.dir / "meta"]):
            rows = rtrack(*words, "-q", *more).stdout.splitlines()
            self.assertGreaterEqual(len(rows), 2, more)

    def test_summary_that_is_asked_for_is_the_output_without_a_series(self) -> None:
        """So that "rtrack attach --summary json PID | jq" works."""
        words = ["attach", "-i", "0.01", "--count", "1", str(os.getpid())]
        done = rtrack(*words, "--summary", "json")
        self.assertEqual((json.loads(done.stdout)["pid"], done.stderr), (os.getpid(), ""))
        done = rtrack(*words, "--template", "{pid}")
        self.assertEqual((done.stdout, done.stderr), (f"{os.getpid()}\n", ""))
        done = rtrack(*words, "--summary", "json", "-f", "csv")
        self.assertEqual(json.loads(done.stderr)["pid"], os.getpid())
        self.assertTrue(done.stdout.startswith("timestamp,"))

    def test_memory_matches_smaps_rollup(self) -> None:
        target = self.start(python("x = b'x' * (64 << 20)\nprint('go', flush=True)\ninput()"),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        target.stdout.readline()
        for form, name, unit in (("csv", "pss_bytes", 1024), ("csv-v1", "pss", 1),
                                 ("csv-v5", "process_memory_mib", 1 / 1024)):
            before = pss_kib(target.pid)
            fields = ["--fields", name] if form == "csv" else []
            rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "1", "-f", form, "-o",
                   self.dir / "rows", *fields)
            [row] = read_csv(self.dir / "rows")
            # Other processes that map the same files come and go meanwhile.
            low, high = sorted((before, pss_kib(target.pid)))
            self.assertTrue(0.995 * low <= row[name] / unit <= 1.005 * high, (low, row, high))

    def test_csv_v5_rows_include_system_figures(self) -> None:
        target = self.start(["sleep", "30"])
        rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "2", "-f", "csv-v5", "-o",
               self.dir / "rows")
        for row in read_csv(self.dir / "rows"):
            self.assertGreater(row["system_memory_free_mib"], 0)
            self.assertEqual(row["process_pid"], target.pid)

    def test_jsonl_has_pid_and_meta_no_command(self) -> None:
        target = self.start(["sleep", "30"])
        rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "2", "-f", "jsonl", "-o",
               self.dir / "rows", "--meta", self.dir / "meta")
        self.assertIsNone(json.loads((self.dir / "meta").read_text())["command"])
        rows = read_jsonl(self.dir / "rows")
        self.assertEqual([row["pid"] for row in rows], [target.pid] * 2)


class Reaped(Case):
    def summary_of_reaped(self) -> str:
        """Attach to a process that sleeps, and that the kernel reaps as soon as it ends."""
        parent = self.start(
            python("import signal, subprocess, sys\n"
                   "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                   "child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\n"
                   "print(child.pid, flush=True)\n"
                   "sys.stdin.readline(); child.stdin.close(); sys.stdin.readline()"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        pid, rows = int(parent.stdout.readline()), self.dir / f"rows-{parent.pid}"
        wait_until(lambda: (read_proc(pid, "comm"), state_of(pid)) == ("cat\n", "S"))
        attach = self.start([RTRACK, "attach", "--no-children", "-i", "0.05", "-o", rows, str(pid)],
                            stderr=subprocess.PIPE)
        wait_until(lambda: rows.exists() and read_csv(rows))
        parent.stdin.write(b"\n")
        return attach.communicate(timeout=PATIENCE_S)[1].decode()

    def test_rate_of_unknown_cpu_time_is_unknown(self) -> None:
        for _ in range(5):
            output = self.summary_of_reaped()
            if re.search("(?m)^  CPU time +unknown", output):
                self.assertRegex(output, r"(?m)^  CPU time    unknown\n"
                                         r"  cores       unknown +of \d+, on average\n"
                                         r"  peak memory ")
                return
        self.skipTest("the CPU time of a process that has been reaped is known here")


@unittest.skipUnless(psutil, "psutil is not installed")
class AgainstPsutil(Case):
    def test_memory_and_children_match_psutil(self) -> None:
        code = "import os, time\nx = b'x' * (48 << 20)\nos.fork()\nos.fork()\ntime.sleep(30)"
        target = self.start(python(code), start_new_session=True)
        self.addCleanup(os.killpg, target.pid, 9)
        peer = psutil.Process(target.pid)
        wait_until(
            lambda: len(peer.children(recursive=True)) == 3 and peer.memory_info().rss > 48 << 20)
        rtrack("attach", "-q", "-i", "0.05", "--count", "1", "-f", "jsonl", "-o", self.dir / "rows",
               str(target.pid))
        row = read_jsonl(self.dir / "rows")[-1]
        family = [peer, *peer.children(recursive=True)]
        self.assertEqual((row["processes"], row["children"]), (4, 3))
        self.assertAlmostEqual(row["rss_bytes"], sum(p.memory_info().rss for p in family),
                               delta=2 << 20)
        self.assertAlmostEqual(row["pss_bytes"], sum(p.memory_full_info().pss for p in family),
                               delta=2 << 20)
        self.assertEqual(row["threads"], sum(p.num_threads() for p in family))


if __name__ == "__main__":
    unittest.main(verbosity=2)
