# SPDX-License-Identifier: MIT
"""Tests of conditions that callers meet: limits of processes, files and memory, arguments as long
as the kernel takes them, time namespaces, machines without cgroups or devices, removed directories.

The exit code of the command arrives in each of them, or a message says at once what is missing."""
import csv
import json
import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest
from typing import Any, Callable, List, Optional

from rtrack_command import PATIENCE_S, RTRACK, Case, Row, python, rtrack, timed_out

METHODS = ("auto", "poll", "wait", "cgroup")
SEVEN = ("sh", "-c", "exit 7")
# What every subcommand does without much output.
EACH = (("system", "-q", "-i", "0.05", "--count", "1"),
        ("attach", "-q", "-f", "csv", "-i", "0.05", "--count", "1", str(os.getpid())),
        ("info",), ("rusage",))


class Conditions(Case):
    def check_run(self, *words: str, code: int = 7, methods: Any = METHODS, **kwargs: Any) -> None:
        """The exit code arrives with any method, unless there can be no cgroup here."""
        for method in methods:
            done = rtrack("run", "-q", "--accounting", method, *words, **kwargs)
            if method == "cgroup" and done.returncode == 125:
                self.assertIn("no cgroup with a CPU account", done.stderr)
            else:
                self.assertEqual((done.returncode, done.stderr), (code, ""), method)

    def check_each(self, **kwargs: Any) -> None:
        """Each subcommand does its work."""
        for words in EACH:
            done = rtrack(*words, **kwargs)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)


def user_that_has_no_process() -> int:
    """Return the number of a user that runs nothing: a limit of its processes is ours alone."""
    users = {os.stat(path).st_uid for path in pathlib.Path("/proc").glob("[0-9]*")
             if path.exists()}
    return next(user for user in range(61000, 65000) if user not in users)


class Processes(Conditions):
    """RLIMIT_NPROC, as a user that has no other processes. It does not hold for root."""

    def setUp(self) -> None:
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can be another user")
        self.user = user_that_has_no_process()
        if self.limited(1, "--version").returncode != 0:
            self.skipTest("another user cannot execute rtrack here")

    def limited(self, count: int, *words: str) -> "subprocess.CompletedProcess[str]":
        def become() -> None:
            resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
            os.setgroups([])
            os.setgid(self.user)
            os.setuid(self.user)

        return rtrack(*words, preexec_fn=become, cwd="/")

    def test_limit_that_has_room_for_rtrack_alone_is_named(self) -> None:
        for method in ("auto", "poll", "wait"):
            done = self.limited(1, "run", "-q", "--accounting", method, *SEVEN)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn("cannot create another process now", done.stderr)
        done = self.limited(1, "trace", *SEVEN)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("cannot create another process now", done.stderr)

    def test_limit_that_has_no_room_for_a_supervisor_lowers_the_method(self) -> None:
        self.set_supervisor("separate")
        self.assertEqual(self.limited(2, "run", "-q", *SEVEN).returncode, 7)
        done = self.limited(2, "run", "-q", "--accounting", "wait", *SEVEN)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("cannot create another process now", done.stderr)

    def test_limit_that_has_no_room_for_the_traced_program_is_named(self) -> None:
        done = self.limited(2, "trace", *SEVEN)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("RLIMIT_NPROC", done.stderr)

    def test_system_without_room_for_threads_has_its_rows(self) -> None:
        done = self.limited(1, "system", "-q", "--count", "2", "-i", "0.05")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = list(csv.DictReader(done.stdout.splitlines()))
        self.assertEqual(len(rows), 2)
        self.assertGreater(int(rows[0]["memory_total_bytes"]), 0)


def list_of(path: pathlib.Path) -> List[Row]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


LONGEST_WORD = 131071  # MAX_ARG_STRLEN of the kernel, without the NUL


def longest_words(command: List[str]) -> List[str]:
    """Return more words for a command: as many bytes as can be executed, but for 16 KiB."""
    few, many = 0, 8192

    def runs(count: int) -> bool:
        try:
            return subprocess.run([*command, *["x" * 999] * count]).returncode == 7
        except OSError:
            return False

    while many - few > 1:
        middle = (few + many) // 2
        few, many = (middle, many) if runs(middle) else (few, middle)
    return ["x" * 999] * (few - 16)


class Longest(Conditions):
    """Arguments and environments of any length that the kernel takes, and of more."""

    def test_words_as_long_as_the_kernel_takes_arrive(self) -> None:
        code = "[ $# = $0 ] && [ ${#1} = 999 ] && exit 7"
        words = longest_words(list(SEVEN))
        command = ["sh", "-c", code, str(len(words)), *words]
        self.assertGreater(len(words), 1000)
        for supervisor in ("separate", "self"):
            self.set_supervisor(supervisor)
            self.check_run(*command)

    def test_longest_word_arrives(self) -> None:
        command = ["sh", "-c", f"[ ${{#1}} = {LONGEST_WORD} ] && exit 7", "sh", "x" * LONGEST_WORD]
        for supervisor in ("separate", "self"):
            self.set_supervisor(supervisor)
            self.check_run(*command)

    def test_long_environment_arrives(self) -> None:
        variables = {f"LONG_{number}": "x" * 100000 for number in range(15)}
        for supervisor in ("separate", "self"):
            self.set_supervisor(supervisor)
            self.check_run("sh", "-c", "[ ${#LONG_14} = 100000 ] && exit 7",
                           env={**os.environ, **variables})

    def test_long_words_are_traced_and_cut_in_the_process_list(self) -> None:
        words = longest_words(list(SEVEN))
        done = rtrack("trace", "-o", self.dir / "calls", *SEVEN, *words)
        if done.returncode != 125:
            self.assertEqual(done.returncode, 7, done.stderr)
        listed = self.dir / "list"
        done = rtrack("run", "-q", "--processes", listed, *SEVEN, *words)
        self.assertEqual((done.returncode, done.stderr), (7, ""))
        row = list_of(listed)[0]
        if row["command_line"]:
            self.assertEqual(row["command_line_cut"], "1")
            self.assertLess(len(row["command_line"]), 16384 + 1000)


class Clocks(Conditions):
    """Time namespaces: the clocks of the caller are not those of the kernel's events."""

    def run_at(self, offset: int, *words: Any) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(["unshare", "--time", "--monotonic", str(offset), "--boottime",
                               str(offset), "--fork", RTRACK, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        if "unshare: " in done.stderr:
            self.skipTest("no time namespace can be made here: " + done.stderr.strip())
        return done

    def test_times_of_processes_are_those_of_the_realtime_clock(self) -> None:
        for supervisor in ("separate", "self"):
            self.set_supervisor(supervisor)
            for offset in (100000, -50):
                listed = self.dir / f"list-{supervisor}-{offset}"
                before = time.time()
                done = self.run_at(offset, "run", "-q", "--processes", listed, "sh", "-c",
                                   "sleep 0.1; exit 7")
                after = time.time()
                self.assertEqual((done.returncode, done.stderr), (7, ""))
                rows = list_of(listed)
                self.assertEqual([row["comm"] for row in rows], ["sh", "sleep"])
                for row in rows:
                    start, end = float(row["start"]), float(row["end"])
                    # The start is that of /proc, in ticks.
                    self.assertLess(before - 0.05, start, (offset, row))
                    self.assertLess(start, end, (offset, row))
                    self.assertLess(end, after + 0.05, (offset, row))

    def test_wall_time_is_that_of_the_command(self) -> None:
        path = self.dir / "summary"
        for supervisor in ("separate", "self"):
            self.set_supervisor(supervisor)
            for offset in (100000, -50):
                before = time.monotonic()
                done = self.run_at(offset, "run", "-q", "--summary", "json", "--summary-file",
                                   path, "sleep", "0.2")
                took = time.monotonic() - before
                self.assertEqual(done.returncode, 0, done.stderr)
                wall = json.loads(path.read_text())["wall_seconds"]
                self.assertLessEqual(0.2, wall)
                self.assertLessEqual(wall, took)


class Mounts(Conditions):
    """Machines that lack a file system: in a mount namespace of its own."""

    def run_without(self, prepare: str, *words: Any) -> "subprocess.CompletedProcess[str]":
        script = f'{prepare} || exit 99; exec "$@"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", RTRACK, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=PATIENCE_S)
        if done.returncode == 99 or "unshare: " in done.stderr:
            self.skipTest("nothing can be mounted here: " + done.stderr.strip())
        return done

    def check_without(self, prepare: str, has_cgroup: Optional[bool] = None) -> None:
        for method in METHODS:
            done = self.run_without(prepare, "run", "-q", "--accounting", method, *SEVEN)
            if method == "cgroup" and not (has_cgroup or done.returncode == 7):
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertIn("no cgroup with a CPU account", done.stderr)
            else:
                self.assertEqual((done.returncode, done.stderr), (7, ""), method)
            self.assertFalse(method == "cgroup" and has_cgroup is False and
                             done.returncode != 125, "the cgroup was not hidden")
        for words in EACH:
            done = self.run_without(prepare, *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)

    def test_run_without_any_cgroup_mount_has_its_exit_code(self) -> None:
        self.check_without("umount -R -l /sys/fs/cgroup", False)
        done = self.run_without("umount -R -l /sys/fs/cgroup", "attach", "-q", "--count", "1",
                                "--cgroup", "/")
        self.assertEqual(done.returncode, 125)
        self.assertIn("no cgroup file system is mounted: mount cgroup v2 at /sys/fs/cgroup",
                      done.stderr)

    def test_run_with_cgroup_v2_alone_has_an_account(self) -> None:
        prepare = "umount -R -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup"
        path = self.dir / "summary"
        self.check_without(prepare)
        done = self.run_without(prepare, "run", "-q", "--accounting", "cgroup", "--summary",
                                "json", "--summary-file", path, *SEVEN)
        if done.returncode != 125:
            got: Row = json.loads(path.read_text())
            self.assertEqual(got["accounting"]["level"], "cgroup")
            self.assertGreater(got["cpu_seconds"], 0)

    def test_run_without_sysfs_has_its_exit_code(self) -> None:
        self.check_without("umount -R -l /sys", False)

    def test_run_without_devices_has_its_exit_code(self) -> None:
        self.check_without("mount -t tmpfs none /dev")

    def test_run_with_shared_memory_refused_has_its_exit_code(self) -> None:
        self.check_without("mount -t tmpfs -o ro none /dev/shm")


class Limits(Conditions):
    """Small limits of the caller. E.g.: a memfd counts as a file (RLIMIT_FSIZE)."""

    def limited(self, limit: int, value: int) -> Callable[[], None]:
        return lambda: resource.setrlimit(limit, (value, value))

    def test_small_stack_is_enough(self) -> None:
        small = self.limited(resource.RLIMIT_STACK, 128 << 10)
        for supervisor in ("separate", "self"):
            self.set_supervisor(supervisor)
            self.check_run(*SEVEN, preexec_fn=small)
        self.check_each(preexec_fn=small)

    def test_files_of_no_size_leave_polling_where_a_supervisor_is_needed(self) -> None:
        none = self.limited(resource.RLIMIT_FSIZE, 0)
        self.set_supervisor("separate")
        self.check_run(*SEVEN, methods=("auto", "poll"), preexec_fn=none)
        done = rtrack("run", "-q", "--accounting", "wait", *SEVEN, preexec_fn=none,
                      stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 125)

    def test_files_of_no_size_leave_every_method_to_what_is_its_own_supervisor(self) -> None:
        self.set_supervisor("self")
        self.check_run(*SEVEN, preexec_fn=self.limited(resource.RLIMIT_FSIZE, 0))

    def test_small_files_end_neither_rtrack_nor_the_list(self) -> None:
        """The list is in memory that is shared, and grows: nothing may send SIGXFSZ."""
        for size in (4096, 65536, 1 << 20):
            listed = self.dir / f"list-{size}"
            done = rtrack("run", "-q", "--processes", listed, "sh", "-c",
                          "for i in 1 2 3 4; do sh -c :; done; exit 7",
                          preexec_fn=self.limited(resource.RLIMIT_FSIZE, size))
            self.assertEqual(done.returncode, 7, (size, done.stderr))
            # No room for the list has words of its own.
            self.assertIn(done.stderr, ("", "rtrack: the list of processes is not complete: "
                                        "out of memory\n"))
            with open(listed, encoding="utf-8", newline="") as file:
                self.assertGreater(len(list(csv.DictReader(file))), 0)

    def test_small_address_space_is_enough_or_named(self) -> None:
        for mib in (12, 16, 24, 32, 64, 256):
            small = self.limited(resource.RLIMIT_AS, mib << 20)
            done = rtrack("run", "-q", *SEVEN, preexec_fn=small)
            self.assertIn(done.returncode, (7, 125, 127), (mib, done.stderr))
            if done.returncode != 7:
                self.assertRegex(done.stderr, "memory|cannot allocate|failed to map", mib)
        self.check_run(*SEVEN, preexec_fn=self.limited(resource.RLIMIT_AS, 64 << 20))

    def test_limit_of_cpu_time_ends_the_command_alone(self) -> None:
        second = lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
        self.check_run("sh", "-c", "while :; do :; done", code=128 + signal.SIGXCPU,
                       methods=("auto",), preexec_fn=second)


class Signals(Conditions):
    def test_blocked_and_ignored_signals_change_nothing(self) -> None:
        def block_and_ignore() -> None:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)

        for supervisor in ("separate", "self"):
            self.set_supervisor(supervisor)
            self.check_run("sh", "-c", "grep -q '^SigBlk:.*0000000000000000$' /proc/self/status"
                           " && kill -PIPE $$; exit 7", code=128 + signal.SIGPIPE,
                           preexec_fn=block_and_ignore)
            done = timed_out("-q", "sleep", "1000", preexec_fn=block_and_ignore)
            self.assertEqual((done.returncode, done.stderr), (124, ""))
        self.check_each(preexec_fn=block_and_ignore)


class Directories(Conditions):
    def test_removed_working_directory_of_the_caller_is_no_matter(self) -> None:
        gone = self.dir / "gone"
        gone.mkdir()

        def leave_nothing() -> None:
            os.chdir(gone)
            os.rmdir(gone)

        for supervisor in ("separate", "self"):
            self.set_supervisor(supervisor)
            for method in METHODS:
                gone.mkdir(exist_ok=True)
                done = rtrack("run", "-q", "--accounting", method, *python("exit(7)"),
                              preexec_fn=leave_nothing)
                if method != "cgroup" or done.returncode != 125:
                    self.assertEqual((done.returncode, done.stderr), (7, ""), method)
        for words in EACH:
            gone.mkdir(exist_ok=True)
            done = rtrack(*words, preexec_fn=leave_nothing)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)


class ClosedDescriptors(Conditions):
    """Descriptors 0, 1 and 2 are closed, in every subcommand."""

    def closed(self, *fds: int) -> Callable[[], None]:
        return lambda: [os.close(fd) for fd in fds] and None

    def test_files_that_are_asked_for_are_written_by_each_subcommand(self) -> None:
        for number, fds in enumerate(((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))):
            for words in (("run", "-q"), ("system", "-q", "-i", "0.05", "--count", "1"),
                          ("attach", "-q", "-i", "0.05", "--count", "1"),
                          ("trace", "-q")):
                path = self.dir / f"{words[0]}-{number}"
                program = {"run": SEVEN, "trace": SEVEN, "attach": (str(os.getpid()),)}
                done = rtrack(*words, "-o", path, *program.get(words[0], ()),
                              preexec_fn=self.closed(*fds))
                code = 7 if words[0] in ("run", "trace") else 0
                self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", ""),
                                 (fds, words))
                if words[0] != "trace":
                    self.assertGreater(path.stat().st_size, 0, (fds, words))
                    self.assertNotIn("rtrack:", path.read_text())

    def test_text_for_closed_standard_output_fails(self) -> None:
        for words in (("info",), ("rusage",), ("--version",), ("--help",)):
            done = rtrack(*words, preexec_fn=self.closed(1))
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("standard output", done.stderr)
            for fds in ((0, 1), (1, 2), (0, 1, 2)):
                done = rtrack(*words, preexec_fn=self.closed(*fds))
                self.assertEqual(done.returncode, 1, (words, fds))
            for fds in ((0,), (2,), (0, 2)):
                done = rtrack(*words, preexec_fn=self.closed(*fds))
                self.assertEqual((done.returncode, done.stderr), (0, ""), (words, fds))


if __name__ == "__main__":
    unittest.main(verbosity=2)
