# SPDX-License-Identifier: MIT
"""Tests of the limits of rtrack run: which one is passed, and how it ends the command.

No test waits for a time: the command passes a limit when it is ready for it."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest
from typing import Any, List

from harness import SOURCE
from rtrack_command import (PATIENCE_S, RTRACK, Case, Row, Word, busy, is_alive, python, read_csv,
                            rtrack, until_rows, wait_until)

MIB = 1 << 20
HOLD = """
def hold(mib):
    memory = bytearray(mib << 20)
    memory[::4096] = b"x" * len(memory[::4096])
    return memory
"""
# Allocates memory until it is ended, or for good if no limit does that.
RUNAWAY = HOLD + "chunks = [hold(1) for _ in range(1024)]"


class Limited(Case):
    def setUp(self) -> None:
        super().setUp()
        self.rows = self.dir / "rows"

    def run_limited(self, *words: Word, code: int = 124, **kwargs: Any) -> Row:
        """Run a command that exits with this code, and return its summary."""
        path = self.dir / "summary.json"
        done = rtrack("run", "--summary-file", path, *words, **kwargs)
        self.assertEqual(done.returncode, code, done.stderr)
        got: Row = json.loads(path.read_text())
        self.assertEqual(got["timed_out"], got["limit"]["passed"] == "timeout")
        return got

    def run_unlimited(self, limit: str, value: str, command: List[str], *words: Word) -> None:
        """Run a command that does not pass a limit, though many samples are checked."""
        got = self.run_limited("-i", "0.02", "-o", self.rows, limit, value, *words, *command,
                               code=0)
        passed = ("passed", "reason", "passed_late", "late_reason", "wall_seconds", "memory_bytes",
                  "cpu_seconds", "processes")
        self.assertEqual([got["limit"][key] for key in passed], [None] * len(passed))


# Holds memory in a file that no process maps, so that it is in no footprint.
UNMAPPED = """
import os
file = os.memfd_create("unmapped")
for _ in range(400):
    os.write(file, b"x" * (1 << 20))
"""


def has_memory_account() -> bool:
    """Whether the kernel accounts for the memory of a cgroup that rtrack makes."""
    done = rtrack("run", "-q", "--accounting", "cgroup", "cat", "/proc/self/cgroup")
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    for line in done.stdout.splitlines():
        _, controllers, path = line.split(":", 2)
        kind = "cgroup2" if controllers == "" else "cgroup"
        if "/rtrack-" in path and (not controllers or "memory" in controllers.split(",")):
            for words in (mount.split() for mount in mounts):
                is_it = words[words.index("-") + 1] == kind and (
                    not controllers or controllers in words[-1].split(","))
                enabled = pathlib.Path(words[4], "cgroup.controllers")
                if is_it and (controllers or "memory" in enabled.read_text().split()):
                    return True
    return False


class Memory(Limited):
    def test_shared_memory_that_is_not_mapped_counts_by_the_cgroup(self) -> None:
        if not has_memory_account():
            self.skipTest("cgroups that rtrack makes have no account of memory here")
        wait = "\nimport time; time.sleep(1000)"
        limit = self.run_limited("--accounting", "cgroup", "--max-memory", "300M",
                                 *python(UNMAPPED + wait))["limit"]
        self.assertRegex(limit["reason"], r"^memory at least \d+\.\d MiB passed --max-memory 300M$")
        self.assertGreater(limit["memory_bytes"], 300 * MIB)
        self.run_limited("--accounting", "poll", "--max-memory", "300M", *python(UNMAPPED), code=0)

    def test_process_that_grows_is_ended(self) -> None:
        got = self.run_limited("--max-memory", "100M", *python(RUNAWAY))
        limit = got["limit"]
        self.assertEqual((limit["passed"], limit["max_memory_bytes"]), ("max-memory", 100 * MIB))
        self.assertGreater(limit["memory_bytes"], 100 * MIB)
        self.assertLess(limit["memory_bytes"], 1100 * MIB)
        self.assertEqual(got["signal"], signal.SIGTERM)
        self.assertRegex(limit["reason"],
                         r"^memory (at least )?\d+\.\d [MG]iB passed --max-memory 100M$")

    def test_processes_that_are_below_the_limit_are_ended_if_their_sum_is_above(self) -> None:
        code = HOLD + """
import os, time
os.fork(), os.fork()
memory = hold(60)
time.sleep(100)
"""
        for method in ("poll", "auto"):
            got = self.run_limited("--accounting", method, "--max-memory", "150M", *python(code))
            self.assertGreater(got["limit"]["memory_bytes"], 150 * MIB)

    def test_children_that_share_memory_are_not_ended(self) -> None:
        """The sum of their RSS is 2.7 GiB."""
        code = f"""{HOLD}
import gc, os, signal
memory = hold(300)
gc.collect()
gc.freeze()
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        sum(memory[::4096])
        signal.pause()
    children.append(child)
{until_rows(self.rows, "lines_of_series() + 15")}
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""
        self.run_unlimited("--max-memory", "500M", python(code))

    def test_shared_memory_ends_a_command(self) -> None:
        """It is mapped by the process that fills it, so that no account of a cgroup is needed."""
        code = """
import mmap, time
memory = mmap.mmap(-1, 300 << 20)
for at in range(0, len(memory), 4096):
    memory[at] = 1
time.sleep(1000)
"""
        for method in ("poll", "auto"):
            limit = self.run_limited("--accounting", method, "--max-memory", "100M",
                                     *python(code))["limit"]
            self.assertEqual(limit["passed"], "max-memory")
            self.assertTrue(100 * MIB < limit["memory_bytes"] < 330 * MIB, limit)

    def test_mapped_file_does_not_count(self) -> None:
        """The kernel can drop its pages."""
        path = self.dir / "file"
        code = f"""
import mmap
with open({str(path)!r}, "rb") as file:
    memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
sum(memory[at] for at in range(0, len(memory), 4096))
{until_rows(self.rows, "lines_of_series() + 3")}
"""
        path.write_bytes(bytes(300 * MIB))
        for method in ("poll", "auto"):
            self.run_unlimited("--max-memory", "100M", python(code), "--accounting", method)
            peak = max(row["rss_bytes"] or 0 for row in read_csv(self.rows))
            self.assertGreater(peak, 300 * MIB)

    def test_block_that_five_processes_map_counts_once(self) -> None:
        """Each maps it page by page, while the others are looked at."""
        code = f"""
import mmap, os
memory = mmap.mmap(-1, 300 << 20)
for at in range(0, len(memory), 4096):
    memory[at] = 1
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        sum(memory[at] for at in range(0, len(memory), 4096))
        exec({until_rows(self.rows, "lines_of_series() + 3")!r})
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""
        for method in ("poll", "auto"):
            self.run_unlimited("--max-memory", "340M", python(code), "--accounting", method)

    def test_block_that_one_process_maps_four_times_counts_once(self) -> None:
        """As mirrored rings and some heaps are. Its RSS is 400 MiB."""
        code = f"""
import mmap, os
file = os.memfd_create("heap")
os.ftruncate(file, 100 << 20)
maps = [mmap.mmap(file, 100 << 20) for _ in range(4)]
for memory in maps:
    for at in range(0, len(memory), 4096):
        memory[at] = 1
{until_rows(self.rows, "lines_of_series() + 3")}
"""
        fields = "timestamp,rss_bytes,needed_bytes,needed_low_bytes,peak_needed_low_bytes"
        for method in ("poll", "auto"):
            self.run_unlimited("--max-memory", "190M", python(code), "--accounting", method,
                               "--fields", f"{fields},partial,estimated")
            rows = [row for row in read_csv(self.rows) if (row["rss_bytes"] or 0) > 400 * MIB]
            self.assertTrue(rows)
            # The interpreter has some 10 MiB of its own.
            self.assertTrue(100 * MIB <= rows[-1]["needed_bytes"] <= 150 * MIB, rows[-1])
            self.assertLessEqual(rows[-1]["needed_low_bytes"], 115 * MIB)
            self.assertLessEqual(rows[-1]["peak_needed_low_bytes"], 115 * MIB)

    def test_memory_that_was_freed_lazily_does_not_count(self) -> None:
        """Each 10 MiB are freed before the next 10 MiB are taken. RSS grows to 200 MiB: the
        kernel takes such pages back only when memory is short."""
        code = f"""
import ctypes, mmap
PART = 10 << 20
MADV_FREE = 8
libc = ctypes.CDLL(None, use_errno=True)
memory = mmap.mmap(-1, 20 * PART, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for begin in range(0, len(memory), PART):
    for at in range(begin, begin + PART, 4096):
        memory[at] = 1
    if libc.madvise(ctypes.c_void_p(start + begin), ctypes.c_size_t(PART), MADV_FREE) != 0:
        raise OSError(ctypes.get_errno(), "madvise")
{until_rows(self.rows, "lines_of_series() + 3")}
"""
        for method in ("poll", "auto"):
            self.run_unlimited("--max-memory", "100M", python(code), "--accounting", method)
            peak = max(row["rss_bytes"] or 0 for row in read_csv(self.rows))
            self.assertGreater(peak, 200 * MIB)

    def test_page_cache_does_not_count(self) -> None:
        path = self.dir / "file"
        code = f"""
with open({str(path)!r}, "rb") as file:
    while file.read(1 << 20):
        pass
{until_rows(self.rows, "lines_of_series() + 3")}
"""
        path.touch()
        os.truncate(path, 2048 * MIB)
        self.run_unlimited("--max-memory", "200M", python(code))

    def test_memory_that_cannot_be_read_is_reported_once(self) -> None:
        """Only root may read the memory of a process that is not dumpable. What each child
        has copied is not known, so only an estimate is above the limit."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to run rtrack as another user")
        code = f"""{HOLD}
import ctypes, os, signal
memory = hold(60)
ctypes.CDLL(None).prctl(4, 0)
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        memory[::4096] = b"y" * len(memory[::4096])
        signal.pause()
    children.append(child)
{until_rows(self.rows, "lines_of_series() + 80")}
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""
        self.dir.chmod(0o777)
        for path in [pathlib.Path(RTRACK), *pathlib.Path(RTRACK).parents]:
            if not path.stat().st_mode & 0o001:
                self.skipTest(f"another user may not read {path}")
        done = rtrack("run", "--accounting", "poll", "-q", "-i", "0.02", "-o", self.rows,
                      "--max-memory", "150M", "/usr/bin/python3", "-I", "-c", code, user=65534)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("--max-memory may be passed unnoticed"), 1, done.stderr)
        self.assertRegex(done.stderr,
                         r"may not read /proc/\d+/smaps_rollup: the process .* not dumpable")


class CpuTime(Limited):
    def test_busy_process_is_ended(self) -> None:
        got = self.run_limited("--max-cpu-time", "300ms", *python(busy(PATIENCE_S)))
        limit = got["limit"]
        self.assertEqual((limit["passed"], limit["max_cpu_seconds"]), ("max-cpu-time", 0.3))
        self.assertGreater(limit["cpu_seconds"], 0.3)
        self.assertGreaterEqual(got["cpu_seconds"], limit["cpu_seconds"])
        self.assertRegex(limit["reason"], r"^CPU time .* s passed --max-cpu-time 300ms$")

    def test_children_that_have_exited_count(self) -> None:
        code = f"""
import os
while True:
    if os.fork() == 0:
        exec({busy(0.02)!r})
        os._exit(0)
    os.wait()
"""
        limit = self.run_limited("--max-cpu-time", "0.3", *python(code))["limit"]
        self.assertEqual(limit["passed"], "max-cpu-time")


class Processes(Limited):
    def test_number_above_the_limit_ends_all(self) -> None:
        code = """
import os, signal
for _ in range(4):
    if os.fork() == 0:
        break
signal.pause()
"""
        limit = self.run_limited("--max-processes", "4", *python(code))["limit"]
        self.assertEqual((limit["passed"], limit["processes"], limit["max_processes"]),
                         ("max-processes", 5, 4))
        self.assertEqual(limit["reason"], "5 processes passed --max-processes 4")

    def test_number_at_the_limit_is_allowed(self) -> None:
        code = f"""
import os, signal
child = os.fork()
if child == 0:
    signal.pause()
{until_rows(self.rows, "lines_of_series() + 5")}
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
"""
        self.run_unlimited("--max-processes", "2", python(code))

    def test_first_limit_that_is_passed_is_reported(self) -> None:
        limit = self.run_limited("--timeout", "1000", "--max-memory", "1T", "--max-cpu-time", "9h",
                                 "--max-processes", "1", "sh", "-c", "sleep 100; true")["limit"]
        self.assertEqual(
            (limit["passed"], limit["timeout_seconds"], limit["max_memory_bytes"],
             limit["max_cpu_seconds"]), ("max-processes", 1000, 1 << 40, 9 * 3600))


# Stops rtrack, so that it looks at nothing. Once the command has ended, end() lets it go on.
UNSEEN = """
import os, signal, sys, time
def status(pid, name):
    with open(f"/proc/{pid}/status") as file:
        return next(line.split()[1] for line in file if line.startswith(name + ":"))
me, rtrack = os.getpid(), int(status(os.getppid(), "PPid"))
os.kill(rtrack, signal.SIGSTOP)
while status(rtrack, "State") not in "Tt":
    time.sleep(0.001)
def wait_and_continue():
    try:
        while status(me, "State") != "Z":
            time.sleep(0.001)
    except OSError:
        pass
    finally:
        os.kill(rtrack, signal.SIGCONT)
        os._exit(0)
def end():
    if os.fork() > 0:
        os._exit(0)
    wait_and_continue()
"""


class Hard(Limited):
    """--hard-memory: the kernel holds the limit by the cgroup of the command."""

    def setUp(self) -> None:
        super().setUp()
        if not has_memory_account():
            self.skipTest("cgroups that rtrack makes have no account of memory here")

    def test_kernel_ends_what_no_look_sees(self) -> None:
        """The limit of the cgroup is 16 MiB above that of the command."""
        code = f"""{UNSEEN}{HOLD}
if os.fork() == 0:
    wait_and_continue()
memory = hold(1000)
"""
        got = self.run_limited("--max-memory", "100M", "--hard-memory", *python(code))
        self.assertEqual((got["limit"]["passed"], got["signal"]), ("max-memory", signal.SIGKILL))
        self.assertRegex(got["limit"]["reason"],
                         r"^memory passed --max-memory 100M: killed by the kernel")
        self.assertTrue(100 * MIB < got["cgroup"]["memory_peak_bytes"] <= 116 * MIB, got)

    def test_kernel_that_ends_a_child_has_passed_the_limit(self) -> None:
        code = f"""{UNSEEN}{HOLD}
child = os.fork()
if child == 0:
    memory = hold(1000)
    os._exit(0)
assert os.waitpid(child, 0)[1] == signal.SIGKILL
end()
"""
        got = self.run_limited("--max-memory", "100M", "--hard-memory", *python(code))
        self.assertEqual((got["limit"]["passed"], got["exit_code"]), ("max-memory", 0))

    def test_command_below_the_limit_is_left_alone(self) -> None:
        self.run_unlimited("--max-memory", "100M", python(HOLD + "memory = hold(50)"),
                           "--hard-memory")

    def test_what_cannot_be_held_is_refused(self) -> None:
        mark = self.dir / "mark"
        for words, problem in ((["--hard-memory"], "--hard-memory needs --max-memory"),
                               (["--hard-memory", "--max-memory", "1G", "--accounting", "poll"],
                                "--hard-memory needs --accounting cgroup")):
            done = rtrack("run", *words, "touch", mark)
            self.assertEqual(done.returncode, 2)
            self.assertIn(problem, done.stderr)
        self.assertFalse(mark.exists())
        done = rtrack("run", "-q", "touch", mark,
                      env={**os.environ, "RTRACK_OPTIONS": "--hard-memory --strict-limits"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class NotHeld(Limited):
    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_user_without_cgroups_is_refused_before_the_start(self) -> None:
        mark = self.dir / "mark"
        self.dir.chmod(0o777)
        words = ["run", "--hard-memory", "--max-memory", "1G", "touch", mark]
        try:
            done = rtrack(*words, user=65534, group=65534, extra_groups=[])
        except PermissionError:
            self.skipTest("other users cannot access this build directory")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("--hard-memory needs a cgroup", done.stderr)
        self.assertFalse(mark.exists())


class Late(Limited):
    """A limit that was passed too briefly to end the command."""

    def run_late(self, *words: Word, code: int = 0) -> Row:
        got = self.run_limited("--accounting", "wait", *words, code=code)
        self.assertIsNone(got["limit"]["passed"])
        self.assertIsNone(got["limit"]["reason"])
        return got["limit"]

    def test_processes_that_ran_unseen_are_said_in_each_form(self) -> None:
        code = f"""{UNSEEN}
children = []
while 0 not in children and len(children) < 3:
    children.append(os.fork())
if 0 in children:
    signal.pause()
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
end()
"""
        options = ("--accounting", "wait", "--max-processes", "3")
        if not self.run_limited(*options, "true", code=0)["processes_exact"]:
            self.skipTest("process events are not available here")
        for words, pattern in (
                ([], r"(?m)^  not ended   4 processes passed --max-processes 3$"),
                (["--summary", "markdown"], r"(?m)^\| not ended \| `4 processes passed "),
                (["--template", "{limit_passed_late}: {limit_late_reason}"],
                 r"^max-processes: 4 processes passed --max-processes 3\n$")):
            done = rtrack("run", *options, *words, *python(code))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, pattern)
        limit = self.run_late("--max-processes", "3", "--strict-limits", *python(code), code=124)
        self.assertEqual(limit["passed_late"], "max-processes")

    def test_memory_is_said_if_its_peak_is_above_the_limit(self) -> None:
        """A look may be in time to end it."""
        for _ in range(5):
            path = self.dir / "summary.json"
            done = rtrack("run", "--summary-file", path, "--strict-limits", "--max-memory", "30M",
                          *python(HOLD + "memory = hold(60)"))
            got = json.loads(path.read_text())
            limit = got["limit"]
            self.assertEqual(done.returncode == 124, bool(limit["passed"] or limit["passed_late"]))
            if limit["passed_late"]:
                self.assertEqual(limit["passed_late"], "max-memory")
                self.assertGreater(got["peak_needed_bytes"], 30 * MIB)
                self.assertRegex(limit["late_reason"],
                                 r"^memory at least \d+\.\d MiB passed --max-memory 30M$")

    def test_limit_that_was_not_passed_is_not_said(self) -> None:
        limit = self.run_late("--strict-limits", "--max-memory", "1G", "--max-cpu-time", "1h",
                              "--max-processes", "100", *python(HOLD + "memory = hold(20)"))
        self.assertEqual((limit["passed_late"], limit["late_reason"]), (None, None))

    def test_strict_limits_need_a_limit(self) -> None:
        done = rtrack("run", "--strict-limits", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--strict-limits needs a limit", done.stderr)


class Words(Limited):
    def test_every_form_of_the_summary_has_the_reason(self) -> None:
        command = ("--max-processes", "1", "sh", "-c", "sleep 100; true")
        words = "2 processes passed --max-processes 1"
        for options, pattern in (
                ([], rf"(?m)^  ended +{words}$"),
                (["--summary", "markdown"], rf"(?m)^\| ended \| `{words}` \|"),
                (["--template", "{limit_passed}: {limit_reason}: {limit_processes}"],
                 rf"^max-processes: {words}: 2\n$")):
            done = rtrack("run", *options, *command)
            self.assertEqual(done.returncode, 124)
            self.assertRegex(done.stderr, pattern)
        self.assertIn("limit passed, killed by signal 15",
                      rtrack("run", *command).stderr.splitlines()[0])

    def test_sizes_have_the_units_that_people_write(self) -> None:
        for word, size in (("4096", 4096), ("4096B", 4096), ("512M", 512 << 20), ("1k", 1024),
                           ("1.5G", 3 << 29), ("2GiB", 2 << 30), ("1GB", 10**9), ("1kB", 1000),
                           ("3TB", 3 * 10**12), ("1P", 1 << 50), ("100mib", 100 << 20)):
            done = rtrack("run", "--max-memory", word, "--template", "{limit_max_memory_bytes}",
                          "true")
            # Some of these are too small for a process.
            self.assertIn(f"{size}\n", done.stderr, word)

    def test_other_sizes_are_refused_with_what_is_valid(self) -> None:
        for word in ("12x", "", "M", "-1", "0", "1.5", "1e9", "1 M", "0x10", "1MM", "1iB", "9999P",
                     "inf"):
            done = rtrack("run", "--max-memory", word, "touch", self.dir / "mark")
            self.assertEqual(done.returncode, 2, word)
            self.assertIn(f"invalid max-memory '{word}': bytes, or a number with K, M, G, T or P",
                          done.stderr)
        self.assertFalse((self.dir / "mark").exists())

    def test_limits_that_cannot_be_kept_are_refused(self) -> None:
        for words, answer in (
                (["run", "--pss", "off", "--max-memory", "1G", "true"], "--pss off"),
                (["run", "--no-children", "--max-processes", "1", "true"], "--no-children"),
                (["attach", "--max-memory", "1G", "1"], "of 'rtrack run'"),
                (["system", "--max-cpu-time=1h"], "of 'rtrack run'")):
            done = rtrack(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(answer, done.stderr)

    def test_limits_in_the_environment_are_of_run_alone(self) -> None:
        environment = {**os.environ, "RTRACK_OPTIONS": "--max-processes 1 -q"}
        done = rtrack("run", "sh", "-c", "sleep 100; true", env=environment)
        self.assertEqual((done.returncode, done.stderr), (124, ""))
        done = rtrack("attach", "--count", "1", "-i", "1ms", str(os.getpid()), env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


# A child makes one process more than the limit of 1 that the tests of the end have. Before it does,
# ready() may wait for something.
TRIGGER = """
import os, signal, sys, time
def ready(): pass
def trigger():
    ready()
    if os.fork() == 0:
        time.sleep(100)
"""


class Ending(Limited):
    def run_to_end(self, code: str, limit: str = "1", **kwargs: Any) -> Row:
        return self.run_limited("--max-processes", limit, *python(TRIGGER + code), self.dir,
                                **kwargs)

    def assert_none_left(self) -> None:
        """The directory of the test is an argument of each process."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            pid = int(entry.name)
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if os.fsencode(self.dir) in words and is_alive(pid) and pid != os.getpid():
                os.kill(pid, signal.SIGKILL)
                self.fail(f"process {pid} is left")

    def test_process_that_ignores_sigterm_is_killed_after_the_grace_time(self) -> None:
        code = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
trigger()
time.sleep(100)
"""
        began = time.monotonic()
        got = self.run_to_end(code)
        self.assertEqual(got["signal"], signal.SIGKILL)
        self.assertGreaterEqual(time.monotonic() - began, 5)
        self.assert_none_left()

    def test_process_that_goes_on_to_grow_is_killed_in_the_grace_time(self) -> None:
        """It grows by 10 MiB each time that rtrack has looked at it, up to 1000 MiB."""
        code = f"""{HOLD}
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
chunks = []
for _ in range(100):
    chunks.append(hold(10))
    exec({until_rows(self.rows)!r})
time.sleep(100)
"""
        got = self.run_limited("-i", "0.02", "-o", self.rows, "--max-memory", "100M",
                               *python(code))
        self.assertEqual(got["signal"], signal.SIGKILL)
        self.assertLess(got["peak_tree_bytes"], 600 * MIB)

    def test_stopped_process_acts_on_sigterm(self) -> None:
        code = """
pid = os.getpid()
def ready():
    while open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.005)
if os.fork() == 0:
    trigger()
    time.sleep(100)
signal.signal(signal.SIGTERM, lambda number, frame: os._exit(7))
os.kill(pid, signal.SIGSTOP)
time.sleep(100)
"""
        self.assertEqual(self.run_to_end(code, limit="2")["exit_code"], 7)
        self.assert_none_left()

    def test_descendants_have_the_grace_time_after_the_end_of_the_command(self) -> None:
        """The command ends at once. Its child takes a while to clean up."""
        code = """
def clean_up(number, frame):
    while os.getppid() == parent:
        time.sleep(0.01)
    time.sleep(0.3)
    open(sys.argv[1] + "/cleaned", "w").close()
    os._exit(0)
parent = os.getpid()
if os.fork() == 0:
    signal.signal(signal.SIGTERM, clean_up)
    trigger()
    while True:
        time.sleep(100)
time.sleep(100)
"""
        for method in ("auto", "poll"):
            got = self.run_limited("--accounting", method, "--max-processes", "2",
                                   *python(TRIGGER + code), self.dir)
            self.assertEqual((got["signal"], got["left_running"]), (signal.SIGTERM, 0))
            self.assertTrue((self.dir / "cleaned").exists(), method)
            (self.dir / "cleaned").unlink()
        self.assert_none_left()

    def test_daemons_and_what_they_fork_meanwhile_are_killed(self) -> None:
        """The daemon has a session of its own, ignores SIGTERM, and is another process each time
        that it is looked at. It ends by itself if nothing ends it."""
        code = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
end = time.monotonic() + {PATIENCE_S}
if os.fork() == 0:
    os.setsid()
    trigger()
    while time.monotonic() < end and os.path.exists(sys.argv[1]):
        if os.fork() > 0:
            os._exit(0)
        time.sleep(0.005)
    os._exit(0)
time.sleep(100)
"""
        for method in ("auto", "wait"):
            got = self.run_limited("--accounting", method, "--max-processes", "2",
                                   *python(TRIGGER + code), self.dir)
            self.assertEqual((got["signal"], got["left_running"]), (signal.SIGKILL, 0))
            self.assert_none_left()

    def test_signals_reach_the_command_in_the_grace_time(self) -> None:
        code = """
signal.signal(signal.SIGTERM, lambda number, frame: open(sys.argv[1] + "/term", "w").close())
signal.signal(signal.SIGUSR1, lambda number, frame: os._exit(9))
trigger()
while True:
    time.sleep(100)
"""
        path = self.dir / "summary"
        process = self.start([RTRACK, "run", "--summary-file", path, "--summary", "json",
                              "--max-processes", "1", *python(TRIGGER + code), self.dir])
        wait_until((self.dir / "term").exists)
        os.kill(process.pid, signal.SIGUSR1)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 124)
        self.assertEqual(json.loads(path.read_text())["exit_code"], 9)
        self.assert_none_left()


class NewUser(Case):
    def test_limit_of_the_readme_ends_a_runaway(self) -> None:
        """The command works as it stands there."""
        text = (SOURCE / "README.md").read_text()
        [command] = re.findall(r"^(rtrack run --max-memory .*?) \|\| ", text, re.MULTILINE)
        path = os.path.dirname(RTRACK) + ":" + os.environ["PATH"]
        done = subprocess.run(["sh", "-c", command], env={**os.environ, "PATH": path},
                              cwd=self.dir, text=True, capture_output=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^  ended +memory .* passed --max-memory 300M$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
