# SPDX-License-Identifier: MIT
"""Tests of hard cases: pid namespaces, removed and frozen cgroups, fork bombs, stopped and killed
rtrack processes, full disks."""
import ctypes
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest
from typing import Any, List, Optional, Tuple

from rtrack_command import (PATIENCE_S, PYTHON, RTRACK, Case, Row, busy, is_alive, python,
                            read_jsonl, read_proc, rtrack, state_of, wait_until)

LEVELS = ("poll", "wait", "cgroup")
PR_SET_CHILD_SUBREAPER = 36


def group_of_self() -> Optional[pathlib.Path]:
    """Return the directory of the cgroup (v2) of this process."""
    line = re.search(r"^0::(/.*)$", read_proc(os.getpid(), "cgroup"), re.MULTILINE)
    mount = re.search(r"^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 ",
                      read_proc(os.getpid(), "mountinfo"), re.MULTILINE)
    if not line or not mount or not line[1].startswith(mount[1]):
        return None
    return pathlib.Path(mount[2]) / line[1][len(mount[1]):].lstrip("/")


def can_use_groups() -> bool:
    return rtrack("run", "-q", "--accounting", "cgroup", "true").returncode == 0


def levels() -> List[str]:
    return [level for level in LEVELS if level != "cgroup" or can_use_groups()]


def groups_of(pid: int) -> List[pathlib.Path]:
    """Return the cgroups that an rtrack process has made for its command."""
    return sorted((group_of_self() or pathlib.Path("/nonexistent")).glob(f"rtrack-{pid}-*"))


def command_in_rows(path: pathlib.Path) -> int:
    """Return the pid of the command, from the first JSON row.

    That row shows that the start is complete."""
    def find() -> Optional[int]:
        text = path.read_text() if path.exists() else ""
        return json.loads(text.splitlines()[0])["pid"] if "\n" in text else None

    return wait_until(find)


def ignore_sigchld() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


class OuterProc(Case):
    """Tests in a pid namespace that has the /proc of the outer namespace.

    A pid of the inner namespace names another process, or none, in that /proc."""

    def setUp(self) -> None:
        super().setUp()
        self.words = ["unshare", "--pid", "--fork", "--kill-child"]
        if os.geteuid() != 0:
            self.words[1:1] = ["--user", "--map-root-user"]
        try:
            subprocess.run([*self.words, "true"], check=True, stderr=subprocess.DEVNULL,
                           timeout=PATIENCE_S)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("cannot create a pid namespace here")

    def inside(self, *words: Any, options: Any = ()) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([*self.words, *options, RTRACK, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)

    def test_run_with_outer_proc_fails_and_starts_nothing(self) -> None:
        mark = self.dir / "mark"
        for level in ("auto", "poll", "wait"):
            done = self.inside("run", "--accounting", level, "touch", mark)
            self.assertEqual(done.returncode, 125)
            self.assertIn("pid namespace", done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertFalse(mark.exists())

    def test_pid_with_outer_proc_is_refused(self) -> None:
        outer = self.start(["sleep", "60"])
        for pid in (1, outer.pid):
            for words in (["attach", "-d", "0.1", str(pid)], ["rusage", "--pid", str(pid)]):
                done = self.inside(*words)
                self.assertEqual((done.returncode, done.stdout), (125, ""), words)
                self.assertIn("pid namespace", done.stderr)

    def test_rusage_and_system_with_outer_proc_work(self) -> None:
        self.assertEqual(self.inside("rusage").returncode, 0)
        self.assertEqual(self.inside("system", "-q", "--count", "1", "-i", "0.05").returncode, 0)

    def test_run_with_matching_proc_works(self) -> None:
        path = self.dir / "summary"
        probe = subprocess.run([*self.words, "--mount-proc", "true"], stderr=subprocess.PIPE,
                               text=True)
        if probe.returncode:
            self.skipTest("cannot mount /proc here: " + probe.stderr.strip())
        done = self.inside("run", "--summary", "json", "--summary-file", path,
                           *python(busy(0.2) + "\nexit(3)"), options=["--mount-proc"])
        self.assertEqual(done.returncode, 3, done.stderr)
        got = json.loads(path.read_text())
        self.assertLess(got["pid"], 10)
        self.assertGreaterEqual(got["cpu_seconds"], 0.2)

    def test_first_process_of_namespace_has_a_supervisor(self) -> None:
        """It adopts the orphans of processes that have entered the namespace, too."""
        probe = subprocess.run([*self.words, "--mount-proc", "true"], stderr=subprocess.PIPE,
                               text=True)
        if probe.returncode:
            self.skipTest("cannot mount /proc here: " + probe.stderr.strip())
        done = self.inside("run", "-q", "--accounting", "wait", "sh", "-c", "echo $PPID",
                           options=["--mount-proc"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(int(done.stdout), 1)


class IgnoredSigchld(Case):
    def test_run_with_sigchld_ignored_counts_children(self) -> None:
        """The command must not inherit the ignored SIGCHLD.

        With SIGCHLD ignored, the kernel adds the usage of its child to no other process."""
        for level in levels():
            got = self.summary("run", "--accounting", level, "-i", "30",
                               "sh", "-c", '"$0" -I -c "$1"; exit 7', PYTHON,
                               busy(0.3), preexec_fn=ignore_sigchld)
            self.assertEqual(got["exit_code"], 7, level)
            self.assertFalse({"sigchld_ignored", "unwaited"} & set(got["accounting"]["reasons"]),
                             got["accounting"])
            if level != "poll":
                self.assertGreaterEqual(got["cpu_seconds"], 0.3)


# Forks until there are count processes. Each writes a byte, and exits when the test closes a pipe.
BOMB = """
import os, sys
count, ready, wait_fd = map(int, sys.argv[1:])
while count > 1:
    half = count // 2
    count = half if os.fork() == 0 else count - half
os.write(ready, b".")
os.read(wait_fd, 1)
"""


class ForkBomb(Case):
    """A tree of many processes. All exit when the test ends, at the latest."""

    COUNT = 1000

    def explode(self, count: int, *options: str, **kwargs: Any) -> None:
        """Start the tree, and wait until all processes run."""
        self.ready, ready_write = os.pipe()
        wait_fd, self.release_fd = os.pipe()
        self.addCleanup(os.close, self.ready)
        self.addCleanup(self.release)
        self.rows, self.summary_path = self.dir / "rows.jsonl", self.dir / "summary"
        words = [
            "-i", "0.2", "-o", self.rows, "--summary", "json", "--summary-file", self.summary_path,
            *options]
        argv = [PYTHON, "-I", "-S", "-c", BOMB, str(count), str(ready_write), str(wait_fd)]
        self.process = self.start([RTRACK, "run", *words, *argv],
                                  pass_fds=[ready_write, wait_fd], **kwargs)
        os.close(ready_write)
        os.close(wait_fd)
        running = 0
        while running < count:
            started = len(os.read(self.ready, 4096))
            self.assertGreater(started, 0, "the processes ended too early")
            running += started

    def release(self) -> None:
        """Let all processes exit."""
        if self.release_fd >= 0:
            os.close(self.release_fd)
        self.release_fd = -1

    def children(self) -> int:
        """Return the children of the last complete row."""
        lines = self.rows.read_text().splitlines(keepends=True)
        has_row = len(lines) > 1 and lines[-1].endswith("\n")
        return json.loads(lines[-1])["children"] if has_row else 0

    def await_end(self, code: int) -> Tuple[Row, resource.struct_rusage]:
        _, status, used = wait_until(self.reap)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(self.process.returncode, code)
        os.set_blocking(self.ready, False)
        wait_until(self.has_no_process)
        return json.loads(self.summary_path.read_text()), used

    def reap(self) -> Any:
        found = os.wait4(self.process.pid, os.WNOHANG)
        return found if found[0] else None

    def has_no_process(self) -> bool:
        try:
            return os.read(self.ready, 1) == b""
        except BlockingIOError:
            return False

    def assert_all_are_counted(self, count: int, *options: str,
                               **kwargs: Any) -> resource.struct_rusage:
        self.explode(count, *options, **kwargs)
        wait_until(lambda: self.children() == count - 1)
        self.release()
        got, used = self.await_end(0)
        self.assertEqual(got["processes"], count)
        self.assertNotIn("members_skipped", got["accounting"]["reasons"])
        return used

    def test_fork_bomb_processes_are_all_counted(self) -> None:
        for level in ("poll", "auto"):
            used = self.assert_all_are_counted(self.COUNT, "--accounting", level)
            self.assertLess(used.ru_maxrss, 256 << 10, "maxrss of rtrack, KiB")

    def test_fork_bomb_with_40_descriptors_is_counted(self) -> None:
        self.assert_all_are_counted(
            300, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))

    def test_fork_bomb_at_timeout_is_ended(self) -> None:
        self.explode(200, "--timeout", "8")
        got, _ = self.await_end(124)
        self.assertTrue(got["timed_out"])


class Grouped(Case):
    """Tests of commands in a cgroup that rtrack makes for them."""

    def setUp(self) -> None:
        super().setUp()
        if not can_use_groups():
            self.skipTest("cannot create a cgroup (v2) here")
        self.group = group_of_self()
        self.summary_path = self.dir / "summary"
        self.rows_path = self.dir / "rows.jsonl"

    def start_grouped(self, *words: Any) -> "subprocess.Popen[Any]":
        process = self.start([
            RTRACK, "run", "--accounting", "cgroup", "-i", "0.1", "-o", self.rows_path, "--summary",
            "json", "--summary-file", self.summary_path, *words])
        self.command_group = wait_until(lambda: groups_of(process.pid))[0]
        self.addCleanup(self.kill_group)
        return process

    def kill_group(self) -> None:
        """Kill the processes that are left in the cgroup after a failure."""
        if (self.command_group / "cgroup.kill").exists():
            (self.command_group / "cgroup.kill").write_text("1")

    def await_summary(self, process: "subprocess.Popen[Any]", code: int) -> Row:
        self.assertEqual(process.wait(timeout=PATIENCE_S), code)
        return json.loads(self.summary_path.read_text())

    def assert_group_removed(self) -> None:
        wait_until(lambda: not self.command_group.exists())

    def group_ns(self) -> int:
        usage = re.search(r"^usage_usec (\d+)$", (self.command_group / "cpu.stat").read_text(),
                          re.MULTILINE)
        return int(usage[1]) * 1000


# Starts children that only the cgroup accounts for: the kernel reaps them itself, and each is too
# short for a sample. Then waits for a file, and uses CPU time.
UNKNOWN_CHILDREN = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(40):
    if os.fork() == 0:
        while time.process_time() < 0.01: pass
        os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
pathlib.Path(sys.argv[1]).touch()
while os.path.exists(sys.argv[1]) and not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
end = time.process_time() + 0.2
while time.process_time() < end: pass
"""


class RemovedGroup(Grouped):
    def test_cpu_total_after_cgroup_removal_is_kept(self) -> None:
        """Another process moves the command out of its cgroup and removes the cgroup."""
        is_done, may_end = self.dir / "done", self.dir / "end"
        process = self.start_grouped(*python(UNKNOWN_CHILDREN), is_done, may_end)
        wait_until(is_done.exists)
        known_ns = self.group_ns()
        wait_until(lambda: self.seen_ns() >= known_ns)
        for pid in (self.command_group / "cgroup.procs").read_text().split():
            (self.group / "cgroup.procs").write_text(pid)
        self.command_group.rmdir()
        may_end.touch()
        got = self.await_summary(process, 0)
        self.assertGreaterEqual(known_ns, 400_000_000)
        self.assertGreaterEqual(got["cpu_seconds"], known_ns / 1e9)
        self.assertGreaterEqual(got["accounting"]["cpu_seconds_high"] or 1e9, known_ns / 1e9 + 0.2)
        self.assertFalse(got["accounting"]["complete"])
        rows = read_jsonl(self.rows_path)
        self.assertAlmostEqual(
            sum(row["d_cpu_user_seconds"] + row["d_cpu_system_seconds"] for row in rows),
            got["cpu_seconds"], places=6)
        self.assertTrue(all(
            row["d_cpu_user_seconds"] >= 0 and row["d_cpu_system_seconds"] >= 0 for row in rows))

    def seen_ns(self) -> int:
        lines = self.rows_path.read_text().splitlines(keepends=True)
        rows = [json.loads(line) for line in lines if line.endswith("\n")]
        if not rows:
            return 0
        return round((rows[-1]["cpu_user_seconds"] + rows[-1]["cpu_system_seconds"]) * 1e9)


# Has a child, and a handler for SIGTERM. Neither process can run the handler while it is frozen.
WITH_SIGTERM_HANDLER = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda number, frame: None)
pid = os.fork()
pathlib.Path(sys.argv[1] + str(0 if pid else os.getpid())).touch()
while True:
    time.sleep(60)
"""


class Frozen(Grouped):
    def start_sigterm_handler(self) -> "subprocess.Popen[Any]":
        def start(*words: str) -> "subprocess.Popen[Any]":
            for path in self.dir.glob("pid-*"):
                path.unlink()
            return self.start_grouped(*words, *python(WITH_SIGTERM_HANDLER), f"{self.dir}/pid-")

        process = self.start_before_timeout(
            start, lambda: len(list(self.dir.glob("pid-*"))) == 2)
        self.child = max(int(path.name[4:]) for path in self.dir.glob("pid-*"))
        return process

    def assert_is_ended(self, process: "subprocess.Popen[Any]") -> None:
        got = self.await_summary(process, 124)
        self.assertTrue(got["timed_out"])
        self.assertEqual(got["signal"], signal.SIGKILL)
        self.assertEqual(got["processes"], 2)
        wait_until(lambda: not is_alive(self.child))
        self.assert_group_removed()

    def test_timeout_of_frozen_cgroup_ends_command(self) -> None:
        process = self.start_sigterm_handler()
        self.freeze(self.command_group)
        frozen_at = time.time()
        self.assert_is_ended(process)
        rows = [row for row in read_jsonl(self.rows_path) if row["timestamp"] > frozen_at]
        self.assertGreater(len(rows), 1, "samples continue while the command is frozen")

    def test_timeout_of_frozen_child_cgroup_ends_command(self) -> None:
        process = self.start_sigterm_handler()
        below = self.command_group / "below"
        below.mkdir()
        (below / "cgroup.procs").write_text(str(self.child))
        self.freeze(below)
        self.assert_is_ended(process)

    @staticmethod
    def freeze(group: pathlib.Path) -> None:
        (group / "cgroup.freeze").write_text("1")
        wait_until(lambda: "frozen 1" in (group / "cgroup.events").read_text())


class UnnoticedEnd:
    """A run with --accounting wait. Its command uses 0.2 s and exits while rtrack is stopped.

    The supervisor has reported the exit status, but rtrack has not requested the usage yet."""

    def __init__(self, case: Case) -> None:
        self.case, self.path, rows = case, case.dir / "summary", case.dir / "rows.jsonl"
        self.process = case.start([
            RTRACK, "run", "--accounting", "wait", "-i", "0.05", "-o", rows, "--summary", "json",
            "--summary-file", self.path, "sh", "-c", '"$0" -I -c "$1"; echo; read line; exit 3',
            PYTHON, busy(0.2)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pid = command_in_rows(rows)
        self.supervisor = int(read_proc(pid, "stat").rpartition(")")[2].split()[1])
        self.process.stdout.readline()
        os.kill(self.process.pid, signal.SIGSTOP)
        self.process.stdin.close()
        wait_until(lambda: not is_alive(pid))

    def resume(self) -> Row:
        os.kill(self.process.pid, signal.SIGCONT)
        self.case.assertEqual(self.process.wait(timeout=PATIENCE_S), 3)
        return json.loads(self.path.read_text())


class FrozenByVersion1(Case):
    """Tests with the freezer of cgroup v1. A killed process stays frozen until the thaw."""

    def setUp(self) -> None:
        super().setUp()
        self.group = pathlib.Path(f"/sys/fs/cgroup/freezer/rtrack-test-{os.getpid()}")
        try:
            self.group.mkdir()
        except OSError:
            self.skipTest("cannot use a cgroup v1 freezer here")
        self.addCleanup(lambda: wait_until(self.remove))

    def remove(self) -> bool:
        """Kill all processes in the group, and remove it. Returns False if it is not empty yet."""
        for pid in (self.group / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        (self.group / "freezer.state").write_text("THAWED")
        try:
            self.group.rmdir()
        except OSError:
            return False
        return True

    def test_run_in_frozen_v1_cgroup_samples_and_ends_after_thaw(self) -> None:
        for level in ("poll", "wait"):
            rows = self.dir / f"rows-{level}.jsonl"
            process = self.start([
                RTRACK, "run", "-q", "--accounting", level, "--timeout", "0.5", "-i", "0.1", "-o",
                rows, "sleep", "60"])
            pid = command_in_rows(rows)
            (self.group / "cgroup.procs").write_text(str(pid))
            (self.group / "freezer.state").write_text("FROZEN")
            wait_until(lambda: "FROZEN" in (self.group / "freezer.state").read_text())
            wait_until(lambda: rows.exists() and len(rows.read_text().splitlines()) > 10)
            self.assertTrue(is_alive(pid))
            (self.group / "freezer.state").write_text("THAWED")
            self.assertEqual(process.wait(timeout=PATIENCE_S), 124)

    def test_frozen_supervisor_is_abandoned(self) -> None:
        self.set_supervisor("separate")
        run = UnnoticedEnd(self)
        (self.group / "cgroup.procs").write_text(str(run.supervisor))
        (self.group / "freezer.state").write_text("FROZEN")
        wait_until(lambda: "FROZEN" in (self.group / "freezer.state").read_text())
        got = run.resume()
        self.assertIn("unwaited", got["accounting"]["reasons"])


class Stopped(Case):
    """Tests that stop rtrack itself for a while, like Ctrl-Z or a debugger."""

    PAUSE = 1.0

    def pause(self, pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: state_of(pid) == "T")
        time.sleep(self.PAUSE)
        os.kill(pid, signal.SIGCONT)

    def test_row_after_pause_has_real_interval(self) -> None:
        path, summary_path = self.dir / "rows.jsonl", self.dir / "summary"
        mark = self.dir / "mark"
        code = (f"import os\nwhile os.path.exists({str(self.dir)!r}):"
                f" os.path.exists({str(mark)!r}) and exit()")
        process = self.start([RTRACK, "run", "-i", "0.1", "-o", path, "--summary", "json",
                              "--summary-file", summary_path, *python(code)])
        wait_until(lambda: path.exists() and len(path.read_text().splitlines()) > 4)
        self.pause(process.pid)
        mark.touch()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        rows, got = read_jsonl(path), json.loads(summary_path.read_text())
        gap = max(rows[1:], key=lambda row: row["interval_seconds"])
        self.assertGreaterEqual(gap["interval_seconds"], self.PAUSE)
        self.assertLess(gap["cores_used"], 1.5, "one thread cannot use more than one core")
        self.assertLess(len(rows), (got["wall_seconds"] - self.PAUSE) / 0.1 + 3,
                        "a missed tick has no row")
        distances = [
            later["monotonic_seconds"] - earlier["monotonic_seconds"]
            for earlier, later in zip(rows, rows[1:])]
        self.assertAlmostEqual(gap["interval_seconds"], max(distances), places=6)
        self.assertAlmostEqual(
            sum(row["d_cpu_user_seconds"] + row["d_cpu_system_seconds"] for row in rows),
            got["cpu_seconds"], places=6)

    def test_command_end_during_pause_keeps_its_time(self) -> None:
        if os.geteuid() != 0:  # no process events: rtrack itself was stopped
            self.set_supervisor("separate")
        run = UnnoticedEnd(self)
        time.sleep(self.PAUSE)
        resumed = time.time()
        got = run.resume()
        self.assertLess(got["start_time"] + got["wall_seconds"], resumed - self.PAUSE / 2)

    def test_stopped_supervisor_is_continued(self) -> None:
        self.set_supervisor("separate")
        run = UnnoticedEnd(self)
        os.kill(run.supervisor, signal.SIGSTOP)
        wait_until(lambda: state_of(run.supervisor) == "T")
        got = run.resume()
        self.assertGreaterEqual(got["cpu_seconds"], 0.2)
        self.assertNotIn("unwaited", got["accounting"]["reasons"])


FULL_DISK = r"""
mount -t tmpfs -o size=12k tmpfs "$1" || exit 77
"$0" run -i 0.02 -f jsonl -o "$1/rows" --summary json --summary-file "$1/summary" \
    sh -c 'for i in $(seq 1000); do [ -s "$0/errors" ] && break; sleep 0.02; done; exit 3' "$2" \
    2>"$2/errors"
echo $? >"$2/code"
cp "$1/rows" "$1/summary" "$2"
"""


class FullDisk(Case):
    def test_run_on_full_disk_writes_whole_rows_and_keeps_exit_code(self) -> None:
        """Use a file system that is really full: three pages for the series and the summary."""
        disk = self.dir / "disk"
        disk.mkdir()
        words = ["unshare", "--mount"]
        if os.geteuid() != 0:
            words += ["--user", "--map-root-user"]
        try:
            done = subprocess.run([*words, "sh", "-c", FULL_DISK, RTRACK, disk, self.dir],
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        except OSError:
            self.skipTest("unshare is not installed")
        if not (self.dir / "code").exists():
            self.skipTest("cannot mount a file system here: " + done.stderr.strip())
        self.assertEqual((self.dir / "code").read_text(), "3\n")
        errors = (self.dir / "errors").read_text().splitlines()
        self.assertEqual(len(errors), 2, errors)
        self.assertIn("rows", errors[0])
        self.assertIn("summary", errors[1])
        self.assertTrue((self.dir / "rows").read_text().endswith("\n"))
        self.assertGreater(len(read_jsonl(self.dir / "rows")), 1)


class Killed(Case):
    """Tests of SIGKILL of rtrack. This process is a subreaper, so it reaps all that is left."""

    def setUp(self) -> None:
        super().setUp()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.assertEqual(self.libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0)
        self.addCleanup(self.libc.prctl, PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        self.mark = self.dir / "mark"

    def start_for_killing(self, level: str) -> "subprocess.Popen[Any]":
        """Start a command of two processes that runs until `mark` exists, then creates `end`."""
        code = (f"(until [ -e {self.mark} ] || ! [ -e {self.dir} ]; do sleep 0.02; done; exit 4); "
                f"code=$?; touch {self.dir}/end; exit $((code + 1))")
        process = self.start([
            RTRACK, "run", "-q", "--accounting", level, "-i", "0.05", "-o", self.dir / "rows", "-f",
            "jsonl", "sh", "-c", code])
        self.program = command_in_rows(self.dir / "rows")
        return process

    def parent_of_program(self) -> int:
        return int(read_proc(self.program, "stat").rpartition(")")[2].split()[1])

    def reap(self, pid: int) -> int:
        """Reap a process left behind. Returns its exit code."""
        reaped, status = wait_until(lambda: self.try_reap(pid))
        self.assertEqual(reaped, pid)
        return os.waitstatus_to_exitcode(status)

    @staticmethod
    def try_reap(pid: int) -> Any:
        found = os.waitpid(pid, os.WNOHANG)
        return found if found[0] else None

    def kill(self, process: "subprocess.Popen[Any]") -> None:
        process.kill()
        process.wait()

    def assert_no_child(self) -> None:
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def skip_if_large(self, process: "subprocess.Popen[Any]") -> None:
        """A caller of more than 16 MiB is not its own supervisor. E.g.: one with a sanitizer."""
        found = re.search(r"VmHWM:\s*(\d+) kB", read_proc(process.pid, "status"))
        if found and int(found[1]) > 16 << 10:
            self.mark.touch()
            process.wait()
            self.skipTest(f"rtrack takes {int(found[1]) >> 10} MiB here, so it has a supervisor")

    def test_command_after_sigkill_of_rtrack_itself_runs_on(self) -> None:
        """Nothing is left but the cgroup, which the next run removes."""
        self.set_supervisor("self")
        for level in levels():
            process = self.start_for_killing(level)
            self.skip_if_large(process)
            groups = groups_of(process.pid)
            self.assertEqual(self.parent_of_program(), process.pid)
            self.kill(process)
            self.assertTrue(is_alive(self.program), level)
            self.mark.touch()
            self.assertEqual(self.reap(self.program), 5)
            self.assertEqual(len(groups), 1 if level == "cgroup" else 0)
            self.assertEqual(rtrack("run", "-q", "true").returncode, 0)
            self.assertFalse([group for group in groups if group.exists()])
            self.assert_no_child()
            for path in self.dir.iterdir():
                path.unlink()

    def test_command_after_sigkill_of_rtrack_runs_on_and_leaves_nothing(self) -> None:
        self.set_supervisor("separate")
        for level in levels():
            process = self.start_for_killing(level)
            groups = groups_of(process.pid)
            child = self.program if level == "poll" else self.parent_of_program()
            self.kill(process)
            self.assertTrue(is_alive(self.program), level)
            self.mark.touch()
            self.assertEqual(self.reap(child), 5 if level == "poll" else 0)
            self.assertTrue((self.dir / "end").exists(), "the command ran to its end")
            self.assertEqual(len(groups), 1 if level == "cgroup" else 0)
            self.assertFalse([group for group in groups if group.exists()])
            self.assert_no_child()
            self.assertTrue((self.dir / "rows").read_bytes().endswith(b"\n"),
                            "the written rows are whole")
            for path in self.dir.iterdir():
                path.unlink()

    def test_command_after_sigkill_of_supervisor_keeps_its_exit_code(self) -> None:
        """This process adopts the command and reaps it. The kernel reports how it ended."""
        self.set_supervisor("separate")
        release = tuple(int(part) for part in os.uname().release.split(".")[:2])
        for level in levels():
            if level == "poll":
                continue
            process = self.start_for_killing(level)
            groups = groups_of(process.pid)
            os.kill(self.parent_of_program(), signal.SIGKILL)
            wait_until(lambda: self.parent_of_program() == os.getpid())
            self.mark.touch()
            self.assertEqual(self.reap(self.program), 5)
            self.assertIn(process.wait(), (5,) if release >= (6, 15) else (5, 123), level)
            self.assertFalse([group for group in groups if group.exists()], "left behind")
            self.assert_no_child()
            for path in self.dir.iterdir():
                path.unlink()

    def test_cgroup_of_killed_supervisor_is_removed_by_next_run(self) -> None:
        self.set_supervisor("separate")
        if not can_use_groups():
            self.skipTest("cannot create a cgroup (v2) here")
        process = self.start_for_killing("cgroup")
        group = groups_of(process.pid)[0]
        supervisor = self.parent_of_program()
        self.kill(process)
        os.kill(supervisor, signal.SIGKILL)
        self.assertEqual(self.reap(supervisor), -signal.SIGKILL)
        self.assertEqual(rtrack("run", "-q", "true").returncode, 0)
        self.assertTrue(group.exists() and is_alive(self.program),
                        "a cgroup with a running process is kept")
        self.mark.touch()
        self.assertEqual(self.reap(self.program), 5)
        self.assertEqual(rtrack("run", "-q", "true").returncode, 0)
        self.assertFalse(group.exists())
        self.assert_no_child()


if __name__ == "__main__":
    unittest.main(verbosity=2)
