# SPDX-License-Identifier: MIT
"""Compare the figures of the ctypes binding with those of Python and the kernel."""
from __future__ import annotations

import errno
import gc
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any, Callable, List, Set, Tuple

import header
import rtrack
from harness import HEADER, SUPERVISOR

NS = 1_000_000_000
ALWAYS_ZERO = ("ru_ixrss", "ru_idrss", "ru_isrss", "ru_nswap", "ru_msgsnd", "ru_msgrcv",
               "ru_nsignals")
NAMES = rtrack._RUSAGE_NAMES
# Prints the errno of the method wait, and the bit that says why auto uses poll.
METHODS = """
import rtrack
try:
    with rtrack.Command(["true"], accounting=rtrack.ACCOUNTING_WAIT) as command:
        command.wait()
    error = 0
except OSError as refused:
    error = refused.errno
with rtrack.Command(["true"]) as command:
    print(error, command.wait().reasons & rtrack.REASON_NO_SUPERVISOR)
"""
# Runs a program as process 1 of a pid namespace, with the /proc of this one below a root.
BELOW_A_ROOT = """
mount --bind /proc "$1/proc" && mount --bind /sys "$1/sys" || exit
exec unshare -pf --kill-child --mount-proc "$2" -c "$3" "$1"
"""
OWN_RSS = """
import os, sys, rtrack
block = b"x" * (64 << 20)
with rtrack.PidTracker(root=sys.argv[1]) as tracker:
    print(tracker.pid, tracker.sample().rss_bytes,
          int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE"))
"""


# A daemon thread is in a call when the interpreter ends.
CALLS_AT_EXIT = {
    "pid": "x = rtrack.PidTracker(); call = x.sample",
    "system": "x = rtrack.SystemTracker(); call = x.sample",
    "command": "x = rtrack.Command(['sleep', '0.2']); call = x.tracker.sample",
    "wait": "x = rtrack.Command(['sleep', '0.2']); call = x.wait",
    "killed": "x = rtrack.Command(['sleep', '1000'], kill_on_free=True); call = x.wait",
}
AT_EXIT = """
import rtrack, threading, time
%s
def loop():
    while True:
        call()
threading.Thread(target=loop, daemon=True).start()
time.sleep(0.1)
print(getattr(x, "pid", 0))
"""


def use_cpu(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def in_child(work: Callable[[], None]) -> Tuple[int, Any]:
    """Run work() in a forked child.

    Returns the exit code (0 if work() raised nothing) and the rusage of the child from wait4()."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage


def cpu_seconds(usage: Any) -> float:
    return float(usage.ru_utime + usage.ru_stime)


def lines(path: str) -> List[str]:
    return pathlib.Path("/proc", path).read_text().splitlines()


def disks() -> Set[str]:
    return {line.split()[2] for line in lines("diskstats")}


def wait_for_state(pid: int, state: str) -> None:
    for _ in range(10000):
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
        if text.rpartition(")")[2].split()[0] == state:
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} did not reach state {state}")


def wait_for_end(pid: int) -> None:
    for _ in range(10000):
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return
        except OSError:
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} did not end")


def wait_on_thread(command: rtrack.Command) -> Tuple[threading.Thread, List[rtrack.Outcome]]:
    """Return a thread that is in command.wait(), and where it puts the outcome."""
    outcomes: List[rtrack.Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(command.wait()), daemon=True)
    thread.start()
    for _ in range(100000):
        if not command._waiting.acquire(blocking=False):
            return thread, outcomes
        command._waiting.release()
        time.sleep(0.001)
    raise AssertionError("the thread did not begin to wait")


def join(thread: threading.Thread) -> None:
    thread.join(100)
    if thread.is_alive():
        raise AssertionError("the thread did not end")


class Getrusage(unittest.TestCase):
    def test_getrusage_lies_between_two_stdlib_calls(self) -> None:
        use_cpu(0.02)
        for scope in (rtrack.RUSAGE_SELF, rtrack.RUSAGE_CHILDREN, rtrack.RUSAGE_THREAD):
            before = resource.getrusage(scope)
            ours = rtrack.getrusage(scope)
            after = resource.getrusage(scope)
            self.assertIsInstance(ours, resource.struct_rusage)
            self.assertEqual(len(ours), 16)
            for i, name in enumerate(NAMES):
                self.assertIs(type(ours[i]), type(before[i]), name)
                self.assertEqual(ours[i], getattr(ours, name))
                self.assertLessEqual(before[i], ours[i] + 1e-9, name)
                self.assertLessEqual(ours[i], after[i] + 1e-9, name)

    def test_getrusage_of_idle_children_equals_stdlib(self) -> None:
        code, _ = in_child(lambda: use_cpu(0.05))
        self.assertEqual(code, 0)
        ours = rtrack.getrusage(rtrack.RUSAGE_CHILDREN)
        theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(ours[2:], theirs[2:])
        self.assertAlmostEqual(ours.ru_utime, theirs.ru_utime, places=9)
        self.assertAlmostEqual(ours.ru_stime, theirs.ru_stime, places=9)
        self.assertGreater(cpu_seconds(ours), 0.04)

    def test_getrusage_field_names_equal_stdlib(self) -> None:
        numbered = resource.struct_rusage(range(16))
        self.assertEqual([getattr(numbered, name) for name in NAMES], list(range(16)))

    def test_getrusage_with_invalid_scope_raises_like_stdlib(self) -> None:
        for scope in (2, -2, 99):
            for call in (resource.getrusage, rtrack.getrusage):
                self.assertRaises(ValueError, call, scope)
        for call in (resource.getrusage, rtrack.getrusage):
            self.assertRaises(OverflowError, call, 1 << 32)
            self.assertRaises(TypeError, call, "self")


class PidRead(unittest.TestCase):
    def test_pid_read_of_self_has_what_was_asked_for(self) -> None:
        row = rtrack.pid_read(want=rtrack.HAS_RSS | rtrack.HAS_THREADS)
        self.assertEqual(row.pid, os.getpid())
        self.assertEqual(row.threads, threading.active_count())
        resident = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        self.assertAlmostEqual(row.rss_bytes, resident * resource.getpagesize(), delta=4 << 20)
        self.assertIsNone(row.cpu_user_ns)
        self.assertIsNone(row.pss_bytes)

    def test_pid_read_by_default_has_cpu_rss_faults_and_threads(self) -> None:
        before = time.process_time()
        row = rtrack.pid_read()
        self.assertGreaterEqual(row.cpu_user_ns + row.cpu_system_ns, before * NS - 1000)
        self.assertGreater(row.minor_faults, 0)
        self.assertIsNone(row.read_bytes)

    def test_pid_read_with_bad_arguments_raises(self) -> None:
        self.assertRaises(ProcessLookupError, rtrack.pid_read, (1 << 31) - 1)
        self.assertRaises(OverflowError, rtrack.pid_read, 1 << 32)
        self.assertRaises(OverflowError, rtrack.pid_read, want=1 << 64)
        with self.assertRaises(OSError) as caught:
            rtrack.pid_read(want=rtrack.HAS_PROCESSES)
        self.assertEqual(caught.exception.errno, errno.EINVAL)


class PidDescendants(unittest.TestCase):
    def test_pid_descendants_lists_all_however_many(self) -> None:
        self.assertEqual(rtrack.pid_descendants(), [])
        children = [subprocess.Popen(["sleep", "1000"]) for _ in range(70)]
        try:
            found = rtrack.pid_descendants()
            self.assertEqual(sorted(found), sorted(child.pid for child in children))
            self.assertEqual(rtrack.pid_descendants(children[0].pid), [])
        finally:
            for child in children:
                child.kill()
                child.wait()
        self.assertRaises(ProcessLookupError, rtrack.pid_descendants, children[0].pid)


class Library(unittest.TestCase):
    def test_module_without_library_says_how_to_name_one(self) -> None:
        code = ("import ctypes, ctypes.util\n"
                "def refuse(name): raise OSError(f'{name}: cannot open shared object file')\n"
                "ctypes.CDLL, ctypes.util.find_library = refuse, lambda name: None\n"
                "import rtrack\n")
        env = {name: value for name, value in os.environ.items() if name != "RTRACK_LIBRARY"}
        done = subprocess.run([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE,
                              text=True)
        self.assertIn("OSError: librtrack.so.0: cannot open shared object file: install librtrack, "
                      "or set RTRACK_LIBRARY to the path", done.stderr)


class IsPartition(unittest.TestCase):
    def test_is_partition_agrees_with_sys_block(self) -> None:
        for name in os.listdir("/sys/class/block"):
            whole = os.path.exists(f"/sys/block/{name}")
            self.assertIs(rtrack.is_partition(name), not whole, name)

    def test_is_partition_of_missing_device_raises_enodev(self) -> None:
        with self.assertRaises(OSError) as caught:
            rtrack.is_partition("no-such-device")
        self.assertEqual(caught.exception.errno, errno.ENODEV)
        for name in ("", "/dev/sda1"):
            with self.assertRaises(OSError) as caught:
                rtrack.is_partition(name)
            self.assertEqual(caught.exception.errno, errno.EINVAL)


class PidGetrusage(unittest.TestCase):
    def test_pid_getrusage_of_self_lies_between_two_stdlib_calls(self) -> None:
        before, ours, after = resource.getrusage(0), rtrack.pid_getrusage(), resource.getrusage(0)
        self.assertLessEqual(cpu_seconds(before), cpu_seconds(ours) + 1e-5)
        self.assertLessEqual(cpu_seconds(ours), cpu_seconds(after) + 1e-5)
        self.assertLessEqual(before.ru_minflt, ours.ru_minflt)
        self.assertLessEqual(ours.ru_minflt, after.ru_minflt)
        self.assertEqual([getattr(ours, name) for name in ALWAYS_ZERO], [0] * 7)

    def test_pid_getrusage_of_child_matches_wait4(self) -> None:
        child = os.fork()
        if child == 0:
            use_cpu(0.2)
            os.kill(os.getpid(), signal.SIGSTOP)
        wait_for_state(child, "T")
        ours = rtrack.pid_getrusage(child)
        os.kill(child, signal.SIGKILL)
        _, _, final = os.wait4(child, 0)
        self.assertGreaterEqual(cpu_seconds(ours), 0.2)
        self.assertAlmostEqual(cpu_seconds(ours), cpu_seconds(final), delta=0.005)
        self.assertLessEqual(ours.ru_minflt, final.ru_minflt)
        self.assertGreaterEqual(ours.ru_minflt, final.ru_minflt - 100)
        # The kernel counts pages in batches.
        self.assertAlmostEqual(ours.ru_maxrss, final.ru_maxrss, delta=1024)
        self.assertLessEqual(ours.ru_nvcsw, final.ru_nvcsw)

    def test_maxrss_of_zombie_is_none(self) -> None:
        child = os.fork()
        if child == 0:
            use_cpu(0.05)
            os._exit(0)
        wait_for_state(child, "Z")
        usage = rtrack.pid_getrusage(child)
        os.waitpid(child, 0)
        self.assertIsNone(usage.ru_maxrss)
        self.assertGreaterEqual(cpu_seconds(usage), 0.05)

    def test_pid_getrusage_with_bad_pid_raises(self) -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        self.assertRaises(ProcessLookupError, rtrack.pid_getrusage, child)
        with self.assertRaises(OSError) as caught:
            rtrack.pid_getrusage(-1)
        self.assertEqual(caught.exception.errno, errno.EINVAL)
        self.assertRaises(OverflowError, rtrack.pid_getrusage, (1 << 32) + os.getpid())


class Trees(unittest.TestCase):
    def test_tree_cpu_time_includes_reaped_child(self) -> None:
        with rtrack.PidTracker() as tracker:
            self_s = cpu_seconds(resource.getrusage(resource.RUSAGE_SELF))
            clock = os.times()
            use_cpu(0.1)
            _, child = in_child(lambda: use_cpu(0.2))
            used = tracker.diff()
            self_s = cpu_seconds(resource.getrusage(resource.RUSAGE_SELF)) - self_s
        now = os.times()
        seconds = (used.cpu_user_ns + used.cpu_system_ns) / NS
        self.assertAlmostEqual(seconds, self_s + cpu_seconds(child), delta=0.03)
        ticks = sum(now[:4]) - sum(clock[:4])
        self.assertAlmostEqual(seconds, ticks, delta=0.06)
        self.assertAlmostEqual(used.cores_used, seconds / (used.interval_ns / NS), places=6)
        self.assertAlmostEqual(cpu_seconds(used.rusage), seconds, places=5)

    def test_rss_matches_statm(self) -> None:
        with rtrack.PidTracker() as tracker:
            before = tracker.sample()
            block = bytearray(os.urandom(1 << 16) * 1024)
            after = tracker.sample()
            pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
            resident = pages * resource.getpagesize()
        self.assertGreaterEqual(after.rss_bytes - before.rss_bytes, 60 << 20)
        self.assertAlmostEqual(after.rss_bytes, resident, delta=1 << 20)
        self.assertGreaterEqual(after.peak_rss_bytes, after.rss_bytes - (1 << 20))
        del block

    def test_processes_lists_self_and_child(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as child, rtrack.PidTracker() as tracker:
            rows = {row.pid: row for row in tracker.processes()}
            self.assertEqual(next(iter(rows)), os.getpid())
            self.assertEqual((rows[child.pid].ppid, rows[child.pid].comm), (os.getpid(), "sleep"))
            self.assertEqual(tracker.sample().processes, len(rows))
            child.kill()

    def test_top_of_the_system_has_what_used_most(self) -> None:
        code = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True); input()"
        with rtrack.SystemTracker(processes=True) as tracker, subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child:
            assert child.stdout
            child.stdout.read(1)
            tracker.sample()
            self.assertIn(os.getpid(), [row.pid for row in tracker.processes()])
            rows = tracker.top(100000)
            used = [(row.cpu_user_ns or 0) + (row.cpu_system_ns or 0) for row in rows]
            self.assertEqual(used, sorted(used, reverse=True))
            self.assertEqual([row.pid for row in tracker.top(3)], [row.pid for row in rows[:3]])
            row = {row.pid: row for row in rows}[child.pid]
            self.assertGreaterEqual(row.cpu_user_ns + row.cpu_system_ns, 300_000_000)
            self.assertEqual((row.uid, row.session), (os.getuid(), os.getsid(0)))
            child.kill()

    def test_cpu_seconds_are_user_and_system_time_together(self) -> None:
        with rtrack.SystemTracker() as tracker:
            used = tracker.sample()
            self.assertEqual(used.cpu_seconds, (used.cpu_user_ns + used.cpu_system_ns) / 1e9)
            self.assertEqual(used.quality("cpu_seconds"), used.quality("cpu_user_ns"))
        with rtrack.PidTracker(want=rtrack.HAS_RSS) as tracker:
            used = tracker.sample()
        self.assertEqual((used.cpu_seconds, used.quality("cpu_seconds")), (None, "unknown"))
        self.assertFalse(used.is_complete("cpu_seconds"))
        self.assertFalse(hasattr(rtrack.Disk(), "cpu_seconds"))

    def test_row_diff_subtracts_counters_alone(self) -> None:
        with rtrack.PidTracker(children=False) as tracker:
            before = tracker.processes()[0]
            sum(i for i in range(3_000_000))
            tracker.sample()
            after = tracker.processes()[0]
        delta = rtrack.row_diff(before, after)
        self.assertEqual(delta.cpu_user_ns + delta.cpu_system_ns,
                         after.cpu_user_ns + after.cpu_system_ns -
                         before.cpu_user_ns - before.cpu_system_ns)
        self.assertEqual(delta.rss_bytes, after.rss_bytes)
        self.assertEqual(delta.comm, after.comm)
        with self.assertRaises(OSError) as caught:
            other = rtrack.pid_read(1)
            rtrack.row_diff(other, after)
        self.assertEqual(caught.exception.errno, errno.ESTALE)

    def test_several_pids_are_one_tree(self) -> None:
        idle = ["sleep", "60"]
        with subprocess.Popen(idle) as first, subprocess.Popen(idle) as second:
            with rtrack.PidTracker([second.pid, first.pid, second.pid]) as tracker:
                rows = {row.pid for row in tracker.processes()}
            with rtrack.PidTracker(os.getpid(), session=True) as tracker:
                session = {row.pid for row in tracker.processes()}
            first.kill()
            second.kill()
        self.assertEqual(rows, {first.pid, second.pid})
        self.assertLessEqual({os.getpid(), first.pid, second.pid}, session)
        with self.assertRaises(ProcessLookupError):
            rtrack.PidTracker([first.pid, second.pid])

    def test_texts_of_a_process_are_those_of_proc(self) -> None:
        arguments = ["sleep", "60"]
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen(arguments, cwd=folder) as child:
                while not rtrack.pid_command_line(child.pid):  # it has not executed it yet
                    time.sleep(0.01)
                self.assertEqual(rtrack.pid_command_line(child.pid), arguments)
                self.assertEqual(rtrack.pid_cwd(child.pid), os.path.realpath(folder))
                child.kill()
        self.assertEqual(rtrack.pid_cwd(), os.getcwd())
        with self.assertRaises(ProcessLookupError):
            rtrack.pid_cwd(child.pid)

    def test_tracker_without_children_lists_only_self(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as child:
            with rtrack.PidTracker(children=False) as tracker:
                self.assertEqual([row.pid for row in tracker.processes()], [os.getpid()])
            child.kill()

    def test_io_with_reaped_has_that_of_a_child_that_was_waited_for(self) -> None:
        code = "import os; f = os.open('/dev/null', 1); [os.write(f, b'x') for _ in range(10000)]"
        subprocess.run([sys.executable, "-c", code], check=True)
        calls = []
        for with_reaped in (False, True):
            with rtrack.PidTracker(children=False, io_with_reaped=with_reaped) as tracker:
                calls.append(tracker.sample().write_calls)
        if None in calls:
            self.skipTest("/proc/PID/io cannot be read")
        self.assertGreaterEqual(calls[1] - calls[0], 10000)

    def test_fields_not_requested_are_none(self) -> None:
        with rtrack.PidTracker(want=rtrack.HAS_RSS) as tracker:
            sample = tracker.sample()
            self.assertIsNone(sample.pss_bytes)
            self.assertIsNone(sample.rusage.ru_maxrss)
            self.assertIsNone(sample.memory_total_bytes)
            self.assertIsNotNone(sample.rss_bytes)
            self.assertTrue(sample.is_complete("rss_bytes"))
            self.assertFalse(sample.is_complete("pss_bytes"))
            self.assertEqual(sample.quality("rss_bytes"), "exact")
            self.assertEqual(sample.quality("pss_bytes"), "unknown")
            self.assertEqual(sample.quality("monotonic_ns"), "exact")
            error = tracker.obstacle("pss_bytes")
            assert error
            self.assertEqual(error.errno, errno.EOPNOTSUPP)
            self.assertIsNone(tracker.obstacle("rss_bytes"))

    def test_error_of_a_tracker_says_more(self) -> None:
        with self.assertRaisesRegex(ProcessLookupError, "There is no process 2147483647"):
            rtrack.PidTracker(2147483647)
        with self.assertRaisesRegex(FileNotFoundError, "rt_opts.root must name a directory"):
            rtrack.SystemTracker(root="/nonexistent")

    def test_explanation_names_kind_and_help(self) -> None:
        with rtrack.PidTracker(pss_hold_us=1) as tracker:
            with self.assertRaises(OSError):
                tracker.explain(rtrack.HAS_DISK)
            tracker.sample()
            self.assertEqual(tracker.explain(rtrack.HAS_RSS).kind, 0)
            obstacle = tracker.explain(rtrack.HAS_FOOTPRINT)
            self.assertEqual(obstacle.kind, rtrack.OBSTACLE_OPTIONS)
            self.assertEqual(obstacle.errno, errno.EDQUOT)
            self.assertEqual(obstacle.file, "smaps")
            self.assertIn("rt_opts.pss_hold_us", obstacle.text)

    def test_ended_exception_has_final_totals(self) -> None:
        child = os.fork()
        if child == 0:
            use_cpu(0.05)
            os.kill(os.getpid(), signal.SIGSTOP)
        wait_for_state(child, "T")
        with rtrack.PidTracker(child) as tracker:
            before = tracker.sample()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            with self.assertRaises(rtrack.Ended) as caught:
                tracker.sample()
        self.assertEqual(caught.exception.errno, errno.ESRCH)
        self.assertGreaterEqual(caught.exception.metrics.cpu_user_ns, before.cpu_user_ns)

    def test_tracker_without_events_has_no_socket(self) -> None:
        def open_sockets() -> int:
            links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
            return sum(os.readlink(link).startswith("socket:") for link in links
                       if os.path.islink(link))

        before = open_sockets()
        with rtrack.PidTracker(events=False):
            self.assertEqual(open_sockets(), before)
        with rtrack.PidTracker():
            if open_sockets() == before:
                self.skipTest("process events may not be received here")

    def test_peak_poll_records_peak_between_two_samples(self) -> None:
        with rtrack.PidTracker(events=True) as tracker:
            before = tracker.sample().peak_tree_rss_bytes
            block = b"x" * (32 << 20)
            tracker.glance()
            del block
            self.assertGreater(tracker.sample().peak_tree_rss_bytes, before + (24 << 20))
            tracker.close()
            self.assertRaises(ValueError, tracker.glance)

    def test_pss_within_budget_is_read_if_it_is_requested(self) -> None:
        for want, reads, source in ((rtrack.HAS_PSS, False, rtrack.PSS_READ),
                                    (0, True, rtrack.PSS_READ), (0, False, rtrack.PSS_ESTIMATED)):
            with rtrack.PidTracker(want=want, pss_reads=reads, pss_share=1000,
                                   pss_hold_us=1_000_000) as tracker:
                self.assertEqual(tracker.sample().pss_source, source)

    def test_memory_that_may_not_be_read_is_an_estimate(self) -> None:
        for reads, error in ((False, errno.EDQUOT), (True, 0)):
            with rtrack.Command(["sleep", "1000"], memory_reads=reads, pss_share=1000) as command:
                wait_for_state(command.pid, "S")
                command.tracker.read_memory()
                sample = command.tracker.sample()
                self.assertEqual(command.tracker.explain(rtrack.HAS_FOOTPRINT).errno, error)
                resident = int(pathlib.Path("/proc/%d/statm" % command.pid).read_text().split()[1])
                command.kill()
            for field in ("footprint", "needed"):
                bytes_, low, high = (getattr(sample, field + end)
                                     for end in ("_bytes", "_low_bytes", "_high_bytes"))
                self.assertTrue(0 < low <= bytes_ <= high, (field, low, bytes_, high))
            self.assertAlmostEqual(sample.footprint_bytes, resident * resource.getpagesize(),
                                   delta=256 << 10)
            self.assertEqual(sample.swap_bytes, 0)
            self.assertGreaterEqual(sample.peak_needed_bytes, sample.needed_bytes)

    def test_memory_is_read_on_request_whatever_its_budget(self) -> None:
        with rtrack.PidTracker(pss_hold_us=1) as tracker:
            sample = tracker.sample()
            self.assertFalse(sample.is_complete("footprint_bytes"))
            self.assertEqual(sample.quality("footprint_bytes"), "about")
            tracker.read_memory()
            sample = tracker.sample()
            self.assertTrue(sample.is_complete("footprint_bytes"))
            self.assertGreaterEqual(sample.footprint_bytes, sample.needed_bytes)

    def test_caller_is_found_below_a_root_in_another_pid_namespace(self) -> None:
        """There, its own number is another process, or none."""
        if not shutil.which("unshare"):
            self.skipTest("unshare is not installed")
        with tempfile.TemporaryDirectory() as host:
            for name in ("proc", "sys"):
                os.mkdir(os.path.join(host, name))
            done = subprocess.run(["unshare", "-m", "sh", "-c", BELOW_A_ROOT, "sh", host,
                                   sys.executable, OWN_RSS], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        if "unshare: " in done.stderr or "mount: " in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        pid, shown, true = (int(word) for word in done.stdout.split())
        self.assertNotEqual(pid, 1)
        self.assertAlmostEqual(shown / true, 1, delta=0.1)

    def test_caller_that_is_not_below_a_root_is_refused(self) -> None:
        """E.g.: the files of another machine, with proc/self of the process that copied them."""
        with tempfile.TemporaryDirectory() as copy:
            os.makedirs(os.path.join(copy, "proc/%d" % os.getpid()))
            with self.assertRaisesRegex(ValueError, "does not show this process"):
                rtrack.PidTracker(root=copy)
            os.symlink(str(os.getpid()), os.path.join(copy, "proc/self"))
            own = pathlib.Path("/proc/self/stat").read_text()
            fields = own.rpartition(") ")[2].split()
            fields[19] = str(int(fields[19]) + 1)
            pathlib.Path(copy, "proc/self/stat").write_text(f"{os.getpid()} (a) b) " +
                                                            " ".join(fields))
            with self.assertRaisesRegex(ValueError, "does not show this process"):
                rtrack.PidTracker(root=copy)
            pathlib.Path(copy, "proc/self/stat").write_text(own)
            with rtrack.PidTracker(root=copy) as tracker:
                self.assertEqual(tracker.pid, os.getpid())

    def test_interpreter_ends_while_a_daemon_thread_is_in_a_call(self) -> None:
        for name, code in CALLS_AT_EXIT.items():
            for _ in range(3):
                done = subprocess.run([sys.executable, "-c", AT_EXIT % code], timeout=60, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)
                if name == "killed":
                    self.assertFalse(os.path.exists(f"/proc/{done.stdout.strip()}/exe"))

    def test_interrupt_ends_wait_of_another_thread_and_the_program_runs_on(self) -> None:
        caught: List[BaseException] = []

        def wait() -> None:
            try:
                command.wait()
            except InterruptedError as error:
                caught.append(error)

        with rtrack.Command(["sleep", "1000"]) as command:
            thread = threading.Thread(target=wait)
            thread.start()
            command.interrupt()
            thread.join(30)
            self.assertFalse(thread.is_alive())
            self.assertEqual(len(caught), 1)
            self.assertRaises(TimeoutError, command.wait, 0.01)
            command.kill()
            self.assertEqual(command.wait().signal, signal.SIGKILL)

    def test_tracker_with_bad_arguments_raises(self) -> None:
        self.assertRaises(FileNotFoundError, rtrack.PidTracker, root="/nonexistent")
        self.assertRaises(OverflowError, rtrack.PidTracker, (1 << 32) + os.getpid())
        with self.assertRaises(OSError) as caught:
            rtrack.PidTracker(0)
        self.assertEqual(caught.exception.errno, errno.EINVAL)
        with rtrack.PidTracker() as one, rtrack.PidTracker() as other:
            with self.assertRaises(OSError) as caught:
                rtrack.diff(one.sample(), other.sample())
        self.assertEqual(caught.exception.errno, errno.ESTALE)
        one.close()
        self.assertRaises(ValueError, one.sample)
        self.assertRaises(ValueError, one.processes)
        self.assertRaises(AttributeError, getattr, caught, "no_such_field")

    def test_tracker_shared_by_threads_works(self) -> None:
        failures = []

        def sample_often(tracker: rtrack.PidTracker) -> None:
            try:
                for _ in range(50):
                    tracker.diff()
                    tracker.processes()
            except OSError as error:
                failures.append(error)

        with rtrack.PidTracker() as tracker:
            threads = [threading.Thread(target=sample_often, args=(tracker,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                join(thread)
        self.assertEqual(failures, [])


class Recorders(unittest.TestCase):
    def record(self, count: int, **options: Any) -> Tuple[rtrack.Recorder, rtrack.PidTracker]:
        """Record this process until so many samples were taken."""
        tracker = rtrack.PidTracker()
        recorder = rtrack.Recorder(tracker, **{"interval": 0.001, "capacity": 256, **options})
        self.addCleanup(recorder.close)
        while recorder.totals().taken < count:
            select.select([recorder], [], [], 1)
            time.sleep(0.001)
        return recorder, tracker

    def test_columns_of_a_read_need_no_loop(self) -> None:
        recorder, _ = self.record(20, keep_newest=True)
        recorder.stop()
        samples = recorder.read()
        self.assertGreaterEqual(len(samples), 20)
        self.assertEqual(samples[-1].monotonic_ns, recorder.latest().monotonic_ns)
        for name, code in (("monotonic_ns", "Q"), ("kind", "I"), ("rss_bytes", "Q"),
                           ("load_1m", "d")):
            column = samples.column(name)
            self.assertEqual((column.format, column.ndim, len(column)), (code, 1, len(samples)))
            self.assertEqual(column.strides, (samples.buffer.nbytes // len(samples),))
            self.assertEqual(column.tolist(), [getattr(s._raw, name) for s in samples])
        times = samples.column("monotonic_ns").tolist()
        self.assertEqual(times, sorted(set(times)))
        self.assertEqual([s.kind for s in samples[:3]], samples.column("kind")[:3].tolist())
        self.assertRaises(KeyError, samples.column, "nothing")
        self.assertRaises(IndexError, samples.__getitem__, len(samples))
        self.assertRaises(ProcessLookupError, recorder.read)

    def test_numpy_takes_a_read_at_once(self) -> None:
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        recorder, _ = self.record(5)
        samples = recorder.read()
        table = numpy.frombuffer(samples.buffer, numpy.dtype(samples.dtype()))
        for name in ("monotonic_ns", "rss_bytes", "load_1m"):
            self.assertEqual(table[name].tolist(), samples.column(name).tolist())
            column = numpy.asarray(samples.column(name))
            self.assertTrue(numpy.shares_memory(column, table))
        self.assertEqual(table["rusage"]["ru_maxrss"].tolist(),
                         [s._raw.rusage.ru_maxrss for s in samples])

    def test_dtype_has_the_layout_of_the_struct(self) -> None:
        made = rtrack.Samples.dtype()
        self.assertEqual(made["itemsize"], rtrack.ctypes.sizeof(rtrack.Metrics._raw_type))
        for name, offset in zip(made["names"], made["offsets"]):
            self.assertEqual(getattr(rtrack.Metrics._raw_type, name).offset, offset)

    def test_recorder_counts_what_it_took_and_what_it_dropped(self) -> None:
        recorder, _ = self.record(10, capacity=4)
        totals = recorder.totals()
        self.assertEqual((totals.waiting, totals.dropped), (4, totals.taken - 4))
        self.assertEqual(len(recorder.read()), 4)

    def test_rows_of_a_sample_have_the_largest_processes(self) -> None:
        recorder, _ = self.record(3, rows=5, keep_newest=True)
        rows = recorder.processes(recorder.latest())
        self.assertIn(os.getpid(), [row.pid for row in rows])
        with self.assertRaises(OSError) as caught:
            self.record(1)[0].processes(recorder.latest())
        self.assertEqual(caught.exception.errno, errno.EOPNOTSUPP)

    def test_tracker_with_a_recorder_is_closed_with_it(self) -> None:
        recorder, tracker = self.record(2)
        with self.assertRaises(OSError) as caught:
            tracker.sample()
        self.assertEqual(caught.exception.errno, errno.EBUSY)
        self.assertEqual(tracker.processes()[0].pid, os.getpid())
        tracker.close()
        self.assertRaises(ValueError, recorder.read)
        recorder.close()

    def test_recorder_that_is_dropped_with_its_tracker_leaves_no_thread(self) -> None:
        before = len(os.listdir("/proc/self/task"))
        for _ in range(20):
            rtrack.Recorder(rtrack.PidTracker(), capacity=4)
        gc.collect()
        while len(os.listdir("/proc/self/task")) > before:  # the kernel removes it a moment later
            time.sleep(0.001)

    def test_recorder_of_a_command_ends_with_it(self) -> None:
        with rtrack.Command(["sleep", "0.05"]) as command:
            recorder = rtrack.Recorder(command.tracker, interval=0.001, capacity=64)
            self.assertEqual(command.wait().exit_code, 0)
            with self.assertRaises(ProcessLookupError):
                while True:
                    recorder.read()
        recorder.close()

    def test_bad_times_are_refused(self) -> None:
        with rtrack.PidTracker() as tracker:
            for interval in (-1.0, float("nan")):
                self.assertRaises(ValueError, rtrack.Recorder, tracker, interval=interval)
            with self.assertRaises(OSError) as caught:
                rtrack.Recorder(tracker, interval=1e-6)
            self.assertEqual(caught.exception.errno, errno.EINVAL)
            tracker.sample()
            rtrack.Recorder(tracker, interval=float("inf"), peak_poll=float("inf"),
                            capacity=1).close()

    def test_mark_tells_the_peak_of_its_block(self) -> None:
        with rtrack.PidTracker() as tracker:
            rss = tracker.sample().peak_rss_bytes
            size = max(int(rss * 1.2), 64 << 20)
            with tracker.mark("block") as mark:
                block = b"x" * size
                del block
            with tracker.mark("nothing") as later:
                pass
            self.assertGreaterEqual(mark.peaks().peak_rss_bytes, size)
            self.assertGreaterEqual(mark.peaks().peak_footprint_bytes, size)
            self.assertEqual(mark.peaks().label, "block")
            self.assertEqual(mark.peaks().quality("peak_rss_bytes"), "at least")
            self.assertLess(later.peaks().peak_rss_bytes, size)
            marks = [tracker.mark() for _ in range(64)]
            with self.assertRaises(OSError) as caught:
                tracker.mark()
            self.assertEqual(caught.exception.errno, errno.ENOSPC)
            marks[0].remove()
            tracker.mark()


class Fork(unittest.TestCase):
    def test_tracker_after_fork_works_in_parent_and_child(self) -> None:
        with rtrack.PidTracker() as tracker:
            parent = os.getpid()

            def sample_in_child() -> None:
                tracker.diff()
                assert [row.pid for row in tracker.processes()] == [parent, os.getpid()]
                tracker.close()

            self.assertEqual(in_child(sample_in_child)[0], 0)
            self.assertEqual(tracker.sample().processes, 1)

    def test_close_in_forked_child_leaves_command_to_parent(self) -> None:
        for accounting in (rtrack.ACCOUNTING_POLL, rtrack.ACCOUNTING_WAIT, rtrack.ACCOUNTING_AUTO):
            gate, end = os.pipe()
            command = rtrack.Command(["sh", "-c", "read line; exit 4"], accounting=accounting,
                                     fds={0: gate}, kill_on_free=True)
            os.close(gate)

            self.assertEqual(in_child(command.close)[0], 0)
            os.close(end)

            outcome = command.wait(100)
            self.assertEqual((outcome.exit_code, outcome.signal), (4, 0))
            command.close()

    def test_tracker_default_pid_is_caller(self) -> None:
        def sample_in_child() -> None:
            with rtrack.PidTracker() as tracker:
                assert tracker.pid == os.getpid()
                assert [row.pid for row in tracker.processes()] == [os.getpid()]

        self.assertEqual(in_child(sample_in_child)[0], 0)


class System(unittest.TestCase):
    def test_system_figures_match_proc(self) -> None:
        before = disks()  # others may make loop devices
        with rtrack.SystemTracker() as tracker:
            sample = tracker.sample()
            cpus = [line.split()[0] for line in lines("stat") if line.startswith("cpu")][1:]
            self.assertEqual([f"cpu{cpu.id}" for cpu in tracker.cpus()], cpus)
            self.assertEqual(sample.cpus_online, len(cpus))
            meminfo = dict(line.split(":") for line in lines("meminfo"))
            self.assertEqual(sample.memory_total_bytes, int(meminfo["MemTotal"].split()[0]) * 1024)
            if sample.network_receive_bytes is not None:
                names = {line.partition(":")[0].strip() for line in lines("net/dev") if ":" in line}
                self.assertEqual({row.name for row in tracker.networks()}, names)
            if sample.disk_reads is not None:
                found = {row.name for row in tracker.disks()}
                after = disks()
                self.assertTrue(before & after <= found <= before | after, (before, found, after))
            if sample.filesystem_total_bytes is not None:
                mounted = {line.split()[4] for line in lines("self/mountinfo")}
                found = {row.mount_point.replace(" ", "\\040") for row in tracker.filesystems()}
                self.assertLessEqual(found, mounted)
            self.assertRaises(OSError, rtrack.Tracker._list, tracker,
                              rtrack._lib.rt_tracker_processes, rtrack.Process)

    def test_own_limits_has_the_memory_of_the_own_cgroup(self) -> None:
        with rtrack.SystemTracker() as tracker:
            self.assertIsNone(tracker.sample().cgroup_memory_bytes)
            error = tracker.obstacle("cgroup_memory_bytes")
            assert error
            self.assertEqual(error.errno, errno.EOPNOTSUPP)
        with rtrack.SystemTracker(own_limits=True) as tracker:
            sample = tracker.sample()
            why = tracker.obstacle("cgroup_memory_bytes")
        if sample.cgroup_memory_bytes is None:
            self.skipTest(f"the own cgroup has no memory figures: {why}")
        self.assertGreater(sample.cgroup_memory_bytes, 0)
        self.assertLessEqual(sample.cgroup_memory_bytes, sample.memory_total_bytes)

    def test_system_cpu_time_grows(self) -> None:
        with rtrack.SystemTracker(want=rtrack.HAS_CPU | rtrack.HAS_CPU_MODES) as tracker:
            use_cpu(0.2)
            used = tracker.diff()
        self.assertGreaterEqual((used.cpu_user_ns + used.cpu_system_ns) / NS, 0.15)
        self.assertIsNone(used.disk_read_bytes)

    def test_cgroup_lists_its_processes(self) -> None:
        with open("/proc/self/cgroup") as file:
            line = file.read().splitlines()[-1]
        try:
            tracker = rtrack.CgroupTracker(line)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EOPNOTSUPP):
                raise
            raise unittest.SkipTest(f"no cgroup here: {error}") from None
        with tracker:
            sample = tracker.sample()
            self.assertEqual(sample.kind, rtrack.KIND_CGROUP)
            self.assertIn(os.getpid(), [process.pid for process in tracker.processes()])
        with self.assertRaisesRegex(OSError, "no cgroup /no/such"):
            rtrack.CgroupTracker("/no/such")
        with self.assertRaises(ValueError):
            rtrack.CgroupTracker("/a\0b")


class Domains(unittest.TestCase):
    def test_default_domains_are_among_the_domains(self) -> None:
        for kind in (rtrack.KIND_PID, rtrack.KIND_SYSTEM, rtrack.KIND_CGROUP):
            self.assertEqual(rtrack.default_domains(kind) & ~rtrack.domains(kind), 0)
            self.assertTrue(rtrack.default_domains(kind) & rtrack.HAS_CPU)
        self.assertEqual(rtrack.domains(0), 0)


class Commands(unittest.TestCase):
    def test_outcome_has_exit_code_and_cpu_time(self) -> None:
        code = "import time\nwhile time.process_time() < 0.2: pass\nraise SystemExit(3)"
        with rtrack.Command([sys.executable, "-S", "-c", code]) as command:
            method = command.accounting
            outcome = command.wait()
            self.assertEqual(outcome.accounting, method)
            self.assertEqual(outcome.as_dict(), command.wait().as_dict())
            self.assertRaises(ProcessLookupError, command.signal, signal.SIGTERM)
        self.assertEqual((outcome.exit_code, outcome.signal), (3, 0))
        self.assertGreaterEqual((outcome.cpu_user_ns + outcome.cpu_system_ns) / NS, 0.2)
        self.assertGreaterEqual(outcome.wall_ns / NS, 0.2)
        self.assertRaises(ValueError, command.wait)

    def test_outcome_cpu_time_lies_between_two_rusage_reads(self) -> None:
        """The lower limit is the getrusage() of the command before its exit.

        The upper limit is the growth of RUSAGE_CHILDREN here, which includes the supervisor."""
        code = ("import resource, sys, time\nwhile time.process_time() < 0.1: pass\n"
                "used = resource.getrusage(resource.RUSAGE_SELF)\n"
                "open(sys.argv[1], 'w').write(str(used.ru_utime + used.ru_stime))")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.NamedTemporaryFile() as file:
            with rtrack.Command([sys.executable, "-S", "-c", code, file.name]) as command:
                outcome = command.wait()
            least = float(file.read())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours = (outcome.cpu_user_ns + outcome.cpu_system_ns) / NS
        self.assertTrue(least - 1e-5 <= ours <= cpu_seconds(after) - cpu_seconds(before) + 1e-5,
                        (least, ours))
        self.assertGreaterEqual(least, 0.1)

    def test_processes_says_which_option_it_needs(self) -> None:
        with rtrack.Command(["true"]) as command:
            command.wait()
            with self.assertRaisesRegex(OSError, "list_processes=True"):
                command.processes()

    def test_processes_lists_every_process(self) -> None:
        code = "(exit 7) & true; wait $!; sh -c 'kill -9 $$'; exec sh -c 'exit 3'"
        with rtrack.Command(["sh", "-c", code], list_processes=True) as command:
            with self.assertRaises(OSError) as caught:
                command.processes()
            self.assertEqual(caught.exception.errno, errno.ENODATA)
            outcome = command.wait()
            rows = command.processes()
        self.assertEqual(len(rows), outcome.processes)
        self.assertEqual((rows[0].pid, rows[0].exit_code), (command.pid, 3))
        if outcome.is_complete("processes"):
            self.assertEqual(sorted((row.exit_code, row.signal) for row in rows),
                             [(-1, 9), (3, 0), (7, 0)])
        self.assertFalse(any(row.is_running for row in rows))
        for row in rows:
            if row.is_final:
                self.assertTrue(row.is_complete("cpu_user_ns"), row)
        self.assertRaises(ValueError, command.processes)

    def test_texts_of_processes_are_whole(self) -> None:
        hostile = ["", "two words", "new\nline", os.fsdecode(b"\xff")]
        with rtrack.Command(["sh", "-c", "sleep 0.3; true", *hostile],
                            list_processes=True) as command:
            outcome = command.wait()
            if not outcome.is_complete("processes"):
                self.skipTest("process events are not available here")
            rows = command.processes()
            self.assertEqual(command.command_line(0), ["sh", "-c", "sleep 0.3; true", *hostile])
            self.assertEqual(command.command_line(1), ["sleep", "0.3"])
            for row, process in enumerate(rows[:2]):
                cwd = command.process_text(row, rtrack.TEXT_CWD)
                self.assertEqual(cwd, os.fsencode(os.getcwd()))
                self.assertEqual(process.cwd_bytes, len(cwd))
                self.assertTrue(process.has_executed and not process.is_cut)
            with self.assertRaises(OSError) as caught:
                command.command_line(len(rows))
            self.assertEqual(caught.exception.errno, errno.EINVAL)

    def test_kill_ends_processes_left_running(self) -> None:
        with rtrack.Command(["sh", "-c", "sleep 60 & sleep 60 & exit 0"]) as command:
            self.assertEqual(command.wait().left_running, 2)
            left = [row.pid for row in command.tracker.processes() if row.comm in ("sleep", "sh")]
            command.kill()
            self.assertEqual(len(left), 2)
            for pid in left:
                wait_for_end(pid)

    def test_processes_without_request_raises(self) -> None:
        with rtrack.Command(["true"]) as command:
            command.wait()
            with self.assertRaises(OSError) as caught:
                command.processes()
        self.assertEqual(caught.exception.errno, errno.EOPNOTSUPP)

    def test_output_is_captured_through_descriptor(self) -> None:
        with tempfile.TemporaryFile() as out:
            fds = {1: out, 2: out.fileno(), 0: None}
            script = "echo out; echo err >&2; cut -d' ' -f6 /proc/$$/stat; ls /proc/$$/fd; :"
            with rtrack.Command(["sh", "-c", script], fds=fds, only_fds=True, new_session=True,
                                kill_on_free=True) as command:
                command.wait()
            out.seek(0)
            session = str(command.pid)
            self.assertEqual(out.read().decode().split(), ["out", "err", session, "1", "2"])

    def test_start_has_a_timeout(self) -> None:
        # A nanosecond is over before the supervisor has answered, unless it ran first.
        with self.assertRaisesRegex(TimeoutError, "start_timeout_ns"):
            for _ in range(100):
                with rtrack.Command(["true"], accounting=rtrack.ACCOUNTING_WAIT,
                                    start_timeout=1e-9) as command:
                    command.wait()
        with rtrack.Command(["true"], start_timeout=1000) as command:
            self.assertEqual(command.wait().exit_code, 0)

    def test_group_and_end_of_command(self) -> None:
        command = rtrack.Command(["sleep", "1000"], new_group=True, kill_on_free=True)
        self.assertEqual(os.getpgid(command.pid), command.pid)
        command.close()
        wait_for_end(command.pid)

    def test_env_and_cwd_reach_command(self) -> None:
        argv = ["sh", "-c", '[ "$ONLY" = "a b" ] && [ -z "$HOME" ] && [ "$(pwd)" = / ]']
        with rtrack.Command(argv, env={"ONLY": "a b", "PATH": os.defpath}, cwd="/") as command:
            self.assertEqual(command.wait().exit_code, 0)

    def test_wait_timeout_raises_and_exit_kills_command(self) -> None:
        with self.assertRaises(TimeoutError):
            with rtrack.Command(["sleep", "60"]) as command:
                self.assertGreaterEqual(command.tracker.sample().processes, 1)
                command.wait(0.05)
        self.assertRaises(ProcessLookupError, os.kill, command.pid, 0)
        self.assertRaises(ValueError, command.tracker.sample)

    def test_signal_handler_runs_during_wait(self) -> None:
        seen = []

        def sample_and_end(*_: Any) -> None:
            seen.append(command.tracker.sample().processes)
            command.signal(signal.SIGTERM)

        old = signal.signal(signal.SIGALRM, sample_and_end)
        try:
            with rtrack.Command(["sleep", "200"]) as command:
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                self.assertEqual(command.wait().signal, signal.SIGTERM)
        finally:
            signal.signal(signal.SIGALRM, old)
        self.assertEqual(seen, [1])

    def test_other_threads_need_not_wait_for_wait(self) -> None:
        """The program ends by a signal only if kill() returns while another thread is in wait()."""
        with rtrack.Command(["sleep", "100"]) as command:
            thread, outcomes = wait_on_thread(command)
            self.assertEqual(command.tracker.sample().processes, 1)
            command.tracker.glance()
            self.assertEqual([row.pid for row in command.tracker.processes()], [command.pid])
            with self.assertRaises(TimeoutError):
                command.wait(0.01)
            self.assertTrue(thread.is_alive())
            command.kill()
            join(thread)
            self.assertEqual(outcomes[0].signal, signal.SIGKILL)
            self.assertEqual(outcomes[0].as_dict(), command.wait().as_dict())
            self.assertRaises(ProcessLookupError, command.signal, signal.SIGTERM)

    def test_descriptor_wakes_for_end_of_program(self) -> None:
        with rtrack.Command(["sh", "-c", "sleep 0.1; exit 5"]) as command:
            while not command.dispatch():
                self.assertTrue(select.select([command], [], [], 100)[0])
            self.assertEqual(command.wait(0).exit_code, 5)
            self.assertTrue(command.dispatch())
            with self.assertRaises(OSError) as caught:
                command.tracker.fileno()
            self.assertEqual(caught.exception.errno, errno.EOPNOTSUPP)
        self.assertRaises(ValueError, command.dispatch)

    def test_descriptor_of_tracker_wakes_for_end_of_root(self) -> None:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        with rtrack.PidTracker(child.pid) as tracker:
            self.assertEqual(select.select([tracker], [], [], 0)[0], [])
            child.communicate()
            self.assertEqual(select.select([tracker], [], [], 100)[0], [tracker])
            self.assertRaises(rtrack.Ended, tracker.sample)
            self.assertEqual(select.select([tracker], [], [], 0)[0], [])

    def test_close_lets_wait_on_another_thread_end(self) -> None:
        command = rtrack.Command(["sleep", "100"])
        thread, outcomes = wait_on_thread(command)
        timer = threading.Timer(0.1, command.signal, [signal.SIGTERM])
        timer.start()
        command.close()
        join(thread)
        timer.join()
        self.assertEqual(outcomes[0].signal, signal.SIGTERM)

    def test_outcome_reaped_by_caller_raises_outcome_lost(self) -> None:
        with rtrack.Command(["true"], accounting=rtrack.ACCOUNTING_POLL) as command:
            os.waitpid(command.pid, 0)
            with self.assertRaises(rtrack.OutcomeLost) as caught:
                command.wait()
        self.assertEqual(caught.exception.errno, errno.ECHILD)
        self.assertIsInstance(caught.exception.outcome, rtrack.Outcome)

    def test_command_of_library_without_supervisor_says_so(self) -> None:
        """A copy of the library in a directory of its own finds no supervisor, then a wrong one."""
        with tempfile.TemporaryDirectory(prefix="rtrack-python-") as directory:
            library = pathlib.Path(directory, "librtrack.so.0")
            shutil.copy(rtrack._lib._name, library)
            env = {**os.environ, "RTRACK_LIBRARY": str(library)}
            argv = [sys.executable, "-c", METHODS]
            found = subprocess.run(argv, env=env, stdout=subprocess.PIPE, text=True, check=True)
            if found.stdout == "0 0\n":
                self.skipTest("a supervisor is installed on this system")
            self.assertEqual(found.stdout, f"{errno.ENOPKG} {rtrack.REASON_NO_SUPERVISOR}\n")
            wrong = library.with_name(SUPERVISOR)
            wrong.write_text("#!/bin/sh\nexit 2\n")
            wrong.chmod(0o755)
            found = subprocess.run(argv, env=env, stdout=subprocess.PIPE, text=True, check=True)
            self.assertEqual(found.stdout, f"{errno.EPROTO} {rtrack.REASON_NO_SUPERVISOR}\n")

    def test_devnull_is_dev_null_and_a_string_is_no_argv(self) -> None:
        argv = ["sh", "-c", '[ "$(readlink /proc/$$/fd/0)" = /dev/null ]']
        with rtrack.Command(argv, fds={0: subprocess.DEVNULL}) as command:
            self.assertEqual(command.wait().exit_code, 0)
        self.assertRaises(TypeError, rtrack.Command, "true")

    def test_command_with_bad_program_raises(self) -> None:
        with self.assertRaises(FileNotFoundError) as caught:
            rtrack.Command(["/nonexistent"])
        self.assertEqual(caught.exception.filename, "/nonexistent")
        self.assertIn('The program "/nonexistent" cannot be started', str(caught.exception))
        self.assertRaises(PermissionError, rtrack.Command, ["/proc/version"])
        self.assertRaises(OSError, rtrack.Command, [])


# Calls getrusage(2) in known ways, and prints how it ended.
CALLS = """
import resource
for scope in (0, -1, 1) * 20:
    resource.getrusage(scope)
try:
    resource.getrusage(7)
except ValueError:
    print("refused")
"""


class Traces(unittest.TestCase):
    def trace(self, *args: Any, **kwargs: Any) -> rtrack.Trace:
        try:
            return rtrack.Trace(*args, **kwargs)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOPKG):
                raise
            self.skipTest(str(error))

    def test_trace_of_command_has_each_call(self) -> None:
        with open(os.devnull, "w") as null:
            argv = [sys.executable, "-I", "-c", CALLS]
            with self.trace(argv, fds={1: null}) as trace:
                events = [event for event in trace if event.pid == trace.command.pid]
                totals = trace.totals()
                self.assertEqual(trace.command.wait().exit_code, 0)
                self.assertRaises(ProcessLookupError, trace.read)
        ours = events[-61:]
        self.assertEqual([event.who for event in ours], [0, -1, 1] * 20 + [7])
        self.assertEqual([event.result for event in ours], [0] * 60 + [-errno.EINVAL])
        self.assertIsNone(ours[-1].rusage)
        self.assertEqual(ours[0].call, rtrack.TRACE_CALL_GETRUSAGE)
        self.assertGreater(ours[0].rusage.ru_maxrss, 1000)
        self.assertEqual((totals.lost, totals.threads), (0, 0))
        self.assertGreaterEqual(totals.read, 61)
        self.assertIn("python", os.path.basename(ours[0].exe))

    def test_iteration_ends_after_timeout_without_calls(self) -> None:
        with self.trace(["sleep", "60"], kill_on_free=True) as trace:
            begin = time.monotonic()
            self.assertEqual(list(trace.events(0.2)), [])
            self.assertGreaterEqual(time.monotonic() - begin, 0.19)
            self.assertTrue(select.poll() and trace.fileno() >= 0)
            trace.command.kill()
        self.assertRaises(ValueError, trace.read)
        self.assertRaises(ValueError, trace.command.dispatch)

    def test_live_children_have_exact_figures_and_lower_bounds(self) -> None:
        event = rtrack.TraceEvent()
        self.assertIsNone(event.live_children)
        event._raw.live_children.ru_utime = 0.5
        event._raw.live_children_valid, event._raw.live_children_partial = 0b10, 0b1
        used = event.live_children
        self.assertEqual((used.ru_utime, used.ru_stime, used.ru_maxrss), (0.5, 0.0, None))
        self.assertEqual(event.live_children_partial, 0b1)

    def test_trace_with_bad_arguments_raises(self) -> None:
        for arguments in ({}, {"pid": 1, "whole_system": True}, {"pid": 1, "calls": 8},
                          {"pid": 1, "back_end": 9}):
            with self.assertRaises(OSError) as caught:
                rtrack.Trace(**arguments)
            self.assertEqual(caught.exception.errno, errno.EINVAL, arguments)
            self.assertIn("option", str(caught.exception))
        self.assertRaises(TypeError, rtrack.Trace, pid=1, cwd="/")
        self.assertRaises(OverflowError, rtrack.Trace, pid=1 << 32)


class Binding(unittest.TestCase):
    def test_constants_match_header(self) -> None:
        kinds = ("RUSAGE_", "HAS_", "OPT_", "KIND_", "REASON_", "ACCOUNTING_", "PEAK_", "ITEM_",
                 "PSS_", "SOURCE_", "COMMAND_", "PROCESS_", "OBSTACLE_", "TRACE_")
        numbers = {name[len("RT_") :]: value for name, value in header.read(HEADER).numbers.items()}
        declared = {name: value for name, value in numbers.items() if name.startswith(kinds)}
        ours = {name: value for name, value in vars(rtrack).items() if name.startswith(kinds)}
        self.assertEqual(ours, declared)

    def test_constants_of_library_match_header(self) -> None:
        constants = rtrack.constants()
        numbers = header.read(HEADER).numbers
        self.assertEqual({name: constant.value for name, constant in constants.items()}, numbers)
        groups = {name[len("RT_CONSTANTS_") :]: value for name, value in numbers.items()
                  if name.startswith("RT_CONSTANTS_")}
        for name, constant in constants.items():
            group = groups.get(name.split("_")[1], groups["OTHER"])
            self.assertEqual(constant.group, group, name)
            self.assertRegex(constant.text, r"^[A-Za-z].*[^. ]$", name)
            self.assertLess(len(constant.text), 143, name)  # else it may be cut

    def test_record_fields_match_header(self) -> None:
        structs = header.read(HEADER).structs
        for record in rtrack.Record.__subclasses__():
            words = re.sub(r"(?<=.)([A-Z])", r"_\1", record.__name__).lower()
            fields = [field.name for field in structs["rt_" + words].fields]
            self.assertEqual(list(record.units), fields)
            self.assertEqual(list(record.texts), fields)
            self.assertNotIn("", record.texts.values())

    def test_functions_have_argument_types(self) -> None:
        for name in header.read(HEADER).functions:
            self.assertIsNotNone(getattr(rtrack._lib, name).argtypes, name)

    def test_version_is_at_least_0_1(self) -> None:
        self.assertGreaterEqual(rtrack.version(), (0, 1, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
