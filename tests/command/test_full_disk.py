# SPDX-License-Identifier: MIT
"""Tests of output that cannot be written.

rtrack prints one error message and writes no torn row, and the command goes on."""
import os
import resource
import select
import signal
import subprocess
import time
import unittest

from rtrack_command import (PATIENCE_S, RTRACK, Case, read_csv, read_jsonl, rtrack,
                            voluntary_switches, wait_until)

DONE = "sleep 0.3; echo done; exit 3"
# Runs until the file of the first argument is not empty: until rtrack has written an error there.
UNTIL_ERROR = 'for i in $(seq 10000); do [ -s "$0" ] && break; sleep 0.01; done; echo done; exit 3'


class FullDevice(Case):
    def test_run_with_full_device_keeps_exit_code(self) -> None:
        for form in ("csv", "csv-v1", "csv-v5", "jsonl"):
            done = rtrack("run", "-q", "-i", "0.05", "-f", form, "-o", "/dev/full", "sh", "-c",
                          DONE)
            self.assertEqual((done.returncode, done.stdout), (3, "done\n"))
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("/dev/full", done.stderr)

    def test_system_and_attach_with_full_device_return_1(self) -> None:
        for words in (["system"], ["attach", str(os.getpid())]):
            done = rtrack(words[0], "-q", "-i", "0.05", "-o", "/dev/full", *words[1:])
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_other_outputs_of_system_and_attach_return_1(self) -> None:
        for words in (["system"], ["attach", str(os.getpid())]):
            for option in ("--summary-file", "--meta"):
                done = rtrack(words[0], "-q", "-i", "0.01", "--count", "1", "-o", "/dev/null",
                              option, "/dev/full", *words[1:])
                self.assertEqual(done.returncode, 1, done.args)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_summary_to_full_device_is_reported(self) -> None:
        done = rtrack("run", "--summary-file", "/dev/full", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertIn("summary", done.stderr)

    def test_process_list_to_full_device_is_reported(self) -> None:
        done = rtrack("run", "-q", "--processes", "/dev/full", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("/dev/full", done.stderr)

    def test_summary_to_full_stderr_keeps_exit_code(self) -> None:
        with open("/dev/full", "w") as full:
            self.assertEqual(rtrack("run", "sh", "-c", "exit 3", stderr=full).returncode, 3)

    def test_full_stdout_fails_every_subcommand(self) -> None:
        pid = str(os.getpid())
        with open("/dev/full", "w") as full:
            for words in (["info"], ["info", "--json"], ["info", "--fields"],
                          ["info", "--fields", "--json"], ["rusage"], ["rusage", "-f", "json"],
                          ["rusage", "--pid", pid], ["help"], ["help", "run"], ["--help"],
                          ["--version"], ["run", "--help"], ["run", "--template", "help"],
                          ["system", "-q", "--count", "1", "-i", "0.01"],
                          ["system", "-q", "--count", "1", "-i", "0.01", "-o", "/dev/null",
                           "--summary-file", "-"],
                          ["attach", "-q", "-f", "csv", "--count", "1", "-i", "0.01", pid]):
                done = rtrack(*words, stdout=full)
                self.assertEqual(done.returncode, 1, words)
                self.assertRegex(done.stderr, "^rtrack: cannot write standard output: no space")


class FullFile(Case):
    """A file size limit acts like a full disk: the last write is short."""

    def fill(self, form: str, limit: int) -> str:
        path = self.dir / "rows"

        def limit_files() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

        errors = self.dir / "errors"
        with open(errors, "w") as stderr:
            done = rtrack("run", "-q", "-i", "0.01", "-f", form, "-o", path, "sh", "-c",
                          UNTIL_ERROR, errors, stderr=stderr, preexec_fn=limit_files)
        self.assertEqual((done.returncode, done.stdout), (3, "done\n"))
        self.assertEqual(len(errors.read_text().splitlines()), 1, errors.read_text())
        return str(path)

    def test_size_limit_is_named(self) -> None:
        self.fill("csv", 500)
        self.assertIn("ulimit -f", (self.dir / "errors").read_text())

    def test_csv_at_size_limit_has_whole_rows(self) -> None:
        for limit in (700, 801, 902, 1003):
            path = self.fill("csv", limit)
            with open(path) as file:
                text = file.read()
            self.assertTrue(text.endswith("\n"))
            self.assertGreater(len(read_csv(path)), 0)
            self.assertEqual({line.count(",") for line in text.splitlines()}, {19})

    def test_process_list_at_size_limit_has_whole_rows(self) -> None:
        """The limit leaves room for the supervisor's list, which is half as long as the text."""
        path = self.dir / "processes.jsonl"

        def limit_files() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (200000, resource.RLIM_INFINITY))

        code = "for i in 1 2 3 4 5 6; do for j in $(seq 100); do (:); done; done; exit 3"
        done = rtrack("run", "-q", "--processes", path, "sh", "-c", code, preexec_fn=limit_files)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (3, 1), done.stderr)
        self.assertIn(str(path), done.stderr)
        self.assertTrue(path.read_text().endswith("\n"))
        self.assertTrue(190000 < path.stat().st_size <= 200000)
        self.assertEqual({row["type"] for row in read_jsonl(path)}, {"process"})

    def test_jsonl_at_size_limit_has_whole_records(self) -> None:
        self.assertEqual([row["type"] for row in read_jsonl(self.fill("jsonl", 7000))][:2],
                         ["sample"] * 2)

    def test_header_above_size_limit_leaves_empty_file(self) -> None:
        self.assertEqual(os.path.getsize(self.fill("csv", 10)), 0)

    def test_append_above_size_limit_keeps_existing_rows(self) -> None:
        path = self.dir / "rows"
        rtrack("run", "-q", "-i", "60", "-o", path, "true")
        before = path.read_text()
        limits = (len(before) + 20, resource.RLIM_INFINITY)
        rtrack("run", "-q", "-a", "-i", "0.01", "-o", path, "sh", "-c", DONE,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))
        self.assertEqual(path.read_text(), before)


class ClosedPipe(Case):
    def test_run_with_closed_pipe_lets_command_finish(self) -> None:
        mark, is_closed = self.dir / "mark", self.dir / "closed"
        code = (f"for i in $(seq 10000); do [ -e {is_closed} ] && break; sleep 0.01; done; "
                f"touch {mark}; exit 3")
        process = self.start([RTRACK, "run", "-q", "-i", "0.02", "-o", "-", "sh", "-c", code],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        is_closed.touch()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 3)
        self.assertTrue(mark.exists())
        self.assertEqual(process.stderr.read(), "")

    def test_system_with_closed_pipe_returns_1(self) -> None:
        process = self.start([RTRACK, "system", "-q", "-i", "0.02"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 1)

    def test_command_gets_default_sigpipe(self) -> None:
        """rtrack ignores SIGPIPE, but gives the command the default action."""
        code = (f"{RTRACK} run -q sh -c 'while echo y; do :; done; exit 9' | head -1; "
                "echo ${PIPESTATUS[0]}")
        output = subprocess.run(["bash", "-c", code], stdout=subprocess.PIPE, text=True,
                                timeout=PATIENCE_S).stdout
        self.assertEqual(output.split(), ["y", str(128 + signal.SIGPIPE)])


class SlowPipe(Case):
    def test_rows_to_full_nonblocking_pipe_are_not_lost(self) -> None:
        """rtrack finds the pipe full, and sleeps until there is room."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = self.start(
            [RTRACK, "system", "-q", "-f", "jsonl", "-i", "0.005", "--count", "100"],
            stdout=writer)

        def sleeps_for_room() -> bool:
            if select.select([], [writer], [], 0)[1]:
                return False
            before = voluntary_switches(process.pid)  # each row has one
            time.sleep(0.1)
            return voluntary_switches(process.pid) == before

        wait_until(sleeps_for_room)
        os.close(writer)
        with open(reader) as pipe:
            lines = pipe.read().splitlines()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        self.assertEqual(len(lines), 100)
        self.assertTrue(all(line.startswith("{") and line.endswith("}") for line in lines))


if __name__ == "__main__":
    unittest.main(verbosity=2)
