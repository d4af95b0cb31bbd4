# SPDX-License-Identifier: MIT
"""Following processes that run already."""
import json
import os
import subprocess
import time
import unittest

from rtrack_command import RTRACK, Case, busy, is_alive, python, read_csv, read_jsonl, rtrack, wait_until

try:
    import psutil
except ImportError:
    psutil = None


# Five daemons of 50 ms, and one that stays and works, all orphans at once.
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
    time.sleep(1.2)
input()
for _ in range(5):
    daemon(lambda: time.sleep(0.05))
daemon(stay)
time.sleep(0.1)
"""


class Attach(Case):
    def test_ends_with_the_process_and_not_an_interval_later(self) -> None:
        target = self.start(["sleep", "0.4"])
        began = time.monotonic()
        # Nobody waits for it before rtrack is done: a process that only waits to be reaped has ended.
        got = self.summary("attach", "-i", "30", "-o", self.dir / "rows", str(target.pid))
        self.assertLess(time.monotonic() - began, 5)
        [tree] = got["targets"]
        self.assertEqual((tree["pid"], tree["ended"]), (target.pid, True))
        self.assertEqual(len(read_csv(self.dir / "rows")), 1)

    def test_figures_count_from_attaching(self) -> None:
        target = self.start(python(busy(0.4) + "\nprint('go', flush=True)\ninput()\n" + busy(0.9)),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        target.stdout.readline()
        process = self.start([RTRACK, "attach", "-i", "0.05", "-o", self.dir / "rows", "--summary", "json",
                              str(target.pid)], stderr=subprocess.PIPE)
        time.sleep(0.3)
        target.stdin.write(b"\n")
        target.stdin.flush()
        _, said = process.communicate(timeout=30)
        [tree] = json.loads(said)["targets"]
        self.assertAlmostEqual(tree["cpu_seconds_before"], 0.4, delta=0.1)
        self.assertAlmostEqual(tree["cpu_seconds"], 0.5, delta=0.1)
        ticks = sum(row["utime"] + row["stime"] for row in read_csv(self.dir / "rows"))
        self.assertAlmostEqual(ticks / os.sysconf("SC_CLK_TCK"), tree["cpu_seconds"], delta=0.03)

    def test_several_until_all_have_ended(self) -> None:
        targets = [self.start(["sleep", str(seconds)]) for seconds in (0.2, 0.7, 0.4)]
        pids = [target.pid for target in targets]
        got = self.summary("attach", "-i", "0.1", "-o", self.dir / "rows", *map(str, pids))
        self.assertEqual([tree["pid"] for tree in got["targets"]], pids)
        self.assertTrue(all(tree["ended"] for tree in got["targets"]))
        rows = read_csv(self.dir / "rows")
        counts = [sum(row["pid"] == pid for row in rows) for pid in pids]
        self.assertTrue(counts[0] < counts[2] < counts[1], counts)

    def test_descendants_outlive_the_process(self) -> None:
        target = self.start(["sh", "-c", "sleep 0.8 & sleep 0.2"])
        began = time.monotonic()
        got = self.summary("attach", "-i", "0.1", "-o", "/dev/null", str(target.pid))
        self.assertGreater(time.monotonic() - began, 0.6)
        self.assertTrue(got["targets"][0]["ended"])

    def test_hears_of_daemons_between_two_samples(self) -> None:
        if json.loads(rtrack("info", "--json").stdout)["command"]["process_events"]["available"] == "no":
            self.skipTest("process events are not heard here")
        rows = self.dir / "rows.jsonl"
        target = self.start(python(DAEMONS), stdin=subprocess.PIPE)
        process = self.start([RTRACK, "attach", "-i", "1", "-o", rows, "--summary", "json", str(target.pid)],
                             stderr=subprocess.PIPE)
        wait_until(rows.exists)  # which is made when the tracker is there
        target.stdin.write(b"\n")
        target.stdin.flush()
        _, said = process.communicate(timeout=30)
        [tree] = json.loads(said)["targets"]
        self.assertEqual(tree["processes"], 1 + 2 * 5 + 2, tree)
        self.assertEqual((tree["processes_exact"], tree["ended"]), (False, True))
        self.assertGreaterEqual(tree["cpu_seconds"], 0.3, "the daemon that lived long is followed")
        self.assertGreaterEqual(max(row["children"] for row in read_jsonl(rows)[1:]), 1)

    def test_sees_a_peak_between_two_samples(self) -> None:
        code = "input()\nx = b'x' * (96 << 20)\nimport time\ntime.sleep(0.3)\ndel x\ntime.sleep(0.3)"
        rows = self.dir / "rows.jsonl"
        target = self.start(python(code), stdin=subprocess.PIPE)
        process = self.start([RTRACK, "attach", "-i", "30", "-o", rows, "--summary", "json", str(target.pid)],
                             stderr=subprocess.PIPE)
        wait_until(rows.exists)
        target.stdin.write(b"\n")
        target.stdin.flush()
        _, said = process.communicate(timeout=30)
        self.assertGreater(read_jsonl(rows)[-1]["peak_tree_rss_bytes"], 96 << 20, said)

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
