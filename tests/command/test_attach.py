# SPDX-License-Identifier: MIT
"""Following processes that run already."""
import json
import os
import pathlib
import subprocess
import unittest
from typing import Any, List

from rtrack_command import (PATIENCE_S, RTRACK, Case, Row, is_alive, python, read_csv, read_jsonl, read_proc, rtrack,
                            state_of, voluntary_switches, wait_until)

try:
    import psutil
except ImportError:
    psutil = None


# Five daemons of 50 ms, and one that works and then stays until there is a byte to read: orphans
# all, at once. They start when there is a first byte.
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
# Works, says how much CPU time that took, and works again when it is told to.
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
# A parent with a child. Each ends when the other end of its pipe is closed.
PARENT_AND_CHILD = """
import os, sys
parent_end, child_end = map(int, sys.argv[1:])
os.read(parent_end if os.fork() else child_end, 1)
"""


class Attach(Case):
    def attach(self, rows: pathlib.Path, *words: Any) -> "subprocess.Popen[Any]":
        """It has begun to follow when this returns."""
        process = self.start([RTRACK, "attach", "-o", rows, "--summary", "json", *map(str, words)],
                             stderr=subprocess.PIPE)
        wait_until(lambda: rows.exists() and rows.read_text().endswith("\n"))
        return process

    def targets(self, process: "subprocess.Popen[Any]") -> List[Row]:
        """What its summary says, once it has ended."""
        _, said = process.communicate(timeout=PATIENCE_S)
        return json.loads(said)["targets"]

    def test_ends_with_the_process_and_not_an_interval_later(self) -> None:
        rows = self.dir / "rows"
        target = self.start(["cat"], stdin=subprocess.PIPE)
        process = self.attach(rows, "-i", 10 * PATIENCE_S, target.pid)
        # It is not reaped before rtrack is done: a process that only waits to be reaped has ended.
        target.stdin.close()
        [tree] = self.targets(process)
        self.assertEqual((tree["pid"], tree["ended"]), (target.pid, True))
        self.assertEqual(len(read_csv(rows)), 1)

    def test_figures_count_from_attaching(self) -> None:
        rows = self.dir / "rows"
        target = self.start(python(WORKS_TWICE), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        first = float(target.stdout.readline())
        wait_until(lambda: state_of(target.pid) == "S")
        process = self.attach(rows, "-i", "0.05", target.pid)
        target.stdin.write(b"\n")
        target.stdin.flush()
        again, last = map(float, target.stdout.readline().split())
        [tree] = self.targets(process)
        _, _, told = os.wait4(target.pid, 0)
        target.returncode = 0
        self.assertTrue(first <= tree["cpu_seconds_before"] <= again, (first, tree, again))
        self.assertGreaterEqual(tree["cpu_seconds"], last - again)
        self.assertAlmostEqual(tree["cpu_seconds_before"] + tree["cpu_seconds"], told.ru_utime + told.ru_stime,
                               delta=0.005)
        ticks = sum(row["utime"] + row["stime"] for row in read_csv(rows))
        self.assertAlmostEqual(ticks / os.sysconf("SC_CLK_TCK"), tree["cpu_seconds"], delta=0.03)

    def test_several_until_all_have_ended(self) -> None:
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

    def test_descendants_outlive_the_process(self) -> None:
        rows = self.dir / "rows"
        (parent_end, parent_rope), (child_end, child_rope) = os.pipe(), os.pipe()
        target = self.start([*python(PARENT_AND_CHILD), str(parent_end), str(child_end)],
                            pass_fds=[parent_end, child_end])
        for end in (parent_end, child_end):
            os.close(end)
        wait_until(lambda: read_proc(target.pid, f"task/{target.pid}/children"))
        process = self.attach(rows, "-i", "0.05", target.pid)
        os.close(parent_rope)
        wait_until(lambda: not is_alive(target.pid))
        so_far = rows.read_text().count("\n")
        wait_until(lambda: rows.read_text().count("\n") > so_far + 3)
        self.assertIsNone(process.poll())
        os.close(child_rope)
        self.assertTrue(self.targets(process)[0]["ended"])

    def test_hears_of_daemons_between_two_samples(self) -> None:
        if json.loads(rtrack("info", "--json").stdout)["command"]["process_events"]["available"] == "no":
            self.skipTest("process events are not heard here")
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
        self.assertEqual((tree["processes_exact"], tree["ended"]), (False, True))
        self.assertGreaterEqual(tree["cpu_seconds"], 0.3, "the daemon that lived long is followed")
        self.assertGreaterEqual(max(row["children"] for row in read_jsonl(rows)[1:]), 1)

    def test_sees_a_peak_between_two_samples(self) -> None:
        """Only peak polls and the end wake rtrack up: the memory is held until it has slept a few times."""
        code = ("import os\nos.read(0, 1)\nx = b'x' * (96 << 20)\nos.write(1, b'held')\nos.read(0, 1)\ndel x\n"
                "os.write(1, b'released')\nos.read(0, 1)")
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

    def test_does_nothing_to_the_process(self) -> None:
        target = self.start(["sleep", "30"])
        self.assertEqual(rtrack("attach", "-q", "-d", "0.1", "-o", "/dev/null", str(target.pid)).returncode, 0)
        self.assertTrue(is_alive(target.pid))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_of_another_user_is_unknown_and_not_0(self) -> None:
        target = self.start(["sleep", "30"])
        words = ["attach", str(target.pid), "-i", "0.05", "--count", "2"]
        try:
            done = rtrack(*words, user=65534, group=65534, extra_groups=[])
        except PermissionError:
            self.skipTest("other users cannot reach this build")
        self.assertEqual(done.returncode, 0)
        for row in done.stdout.splitlines()[1:]:
            self.assertEqual(row.split(",")[6:9], ['""'] * 3)
        self.assertIn("unknown read", done.stderr)

    def test_options_may_follow_the_process(self) -> None:
        target = self.start(["sleep", "30"])
        done = rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "2")
        self.assertEqual(len(done.stdout.splitlines()), 3)

    def test_memory_is_what_the_kernel_says(self) -> None:
        target = self.start(python("x = b'x' * (64 << 20)\nprint('go', flush=True)\ninput()"), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
        target.stdout.readline()
        with open(f"/proc/{target.pid}/smaps_rollup") as file:
            [told] = [int(line.split()[1]) for line in file if line.startswith("Pss:")]
        rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "1", "-o", self.dir / "rows")
        self.assertAlmostEqual(read_csv(self.dir / "rows")[0]["pss"], told, delta=told / 200)
        rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "1", "-f", "csv-v5", "-o", self.dir / "rows")
        [row] = read_csv(self.dir / "rows")
        self.assertAlmostEqual(row["process_memory_mib"], told / 1024, delta=told / 200 / 1024)

    def test_machine_beside_it(self) -> None:
        target = self.start(["sleep", "30"])
        rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "2", "-f", "csv-v5", "-o", self.dir / "rows")
        for row in read_csv(self.dir / "rows"):
            self.assertGreater(row["system_memory_free_mib"], 0)
            self.assertEqual(row["process_pid"], target.pid)

    def test_json_lines(self) -> None:
        target = self.start(["sleep", "30"])
        rtrack("attach", str(target.pid), "-q", "-i", "0.05", "--count", "2", "-f", "jsonl", "-o", self.dir / "rows")
        rows = read_jsonl(self.dir / "rows")
        self.assertIsNone(rows[0]["command"])
        self.assertEqual([row["pid"] for row in rows[1:]], [target.pid] * 2)


@unittest.skipUnless(psutil, "no psutil here")
class AgainstPsutil(Case):
    def test_memory_and_children(self) -> None:
        code = "import os, time\nx = b'x' * (48 << 20)\nos.fork()\nos.fork()\ntime.sleep(30)"
        target = self.start(python(code), start_new_session=True)
        self.addCleanup(os.killpg, target.pid, 9)
        other = psutil.Process(target.pid)
        wait_until(lambda: len(other.children(recursive=True)) == 3 and other.memory_info().rss > 48 << 20)
        rtrack("attach", "-q", "-i", "0.05", "--count", "1", "-f", "jsonl", "-o", self.dir / "rows", str(target.pid))
        row = read_jsonl(self.dir / "rows")[-1]
        family = [other, *other.children(recursive=True)]
        self.assertEqual((row["processes"], row["children"]), (4, 3))
        self.assertAlmostEqual(row["rss_bytes"], sum(p.memory_info().rss for p in family), delta=2 << 20)
        self.assertAlmostEqual(row["pss_bytes"], sum(p.memory_full_info().pss for p in family), delta=2 << 20)
        self.assertEqual(row["threads"], sum(p.num_threads() for p in family))


if __name__ == "__main__":
    unittest.main(verbosity=2)
