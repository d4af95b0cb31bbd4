# SPDX-License-Identifier: MIT
"""Tests of the exit codes of rtrack."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from harness import BUILD, SUPERVISOR
from rtrack_command import (PATIENCE_S, RTRACK, Case, is_alive, python, rtrack, timed_out,
                            wait_until)


class OfTheCommand(Case):
    def test_exit_code_of_command_is_returned(self) -> None:
        for code in (0, 1, 3, 124, 255):
            self.assertEqual(rtrack("run", "-q", "--", "sh", "-c", f"exit {code}").returncode, code)

    def test_command_killed_by_signal_returns_128_plus_number(self) -> None:
        for name in ("KILL", "TERM", "SEGV", "INT", "RTMIN"):
            number = getattr(signal, "SIG" + name)
            # Do not use a shell: it may turn the signal into an exit code.
            code = f"""
import os, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.kill(os.getpid(), {number})
"""
            self.assertEqual(rtrack("run", "-q", *python(code)).returncode, 128 + number, name)

    def test_exit_code_with_sigchld_ignored_is_kept(self) -> None:
        def ignore() -> None:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        self.assertEqual(rtrack("run", "-q", "sh", "-c", "exit 7", preexec_fn=ignore).returncode, 7)

    def test_options_after_command_are_passed_to_it(self) -> None:
        self.assertEqual(
            rtrack("run", "-q", "sh", "-c", "exit $#", "-q", "--version", "-i").returncode, 2)


class OfAFailedStart(Case):
    def test_missing_program_returns_127(self) -> None:
        for program in ("no-such-program-anywhere", "./no/such/path", ""):
            done = rtrack("run", "--", program)
            self.assertEqual(done.returncode, 127, program)
            self.assertIn(f"cannot run '{program}'", done.stderr)
            is_searched = program == "no-such-program-anywhere"
            self.assertEqual("in none of the directories of PATH" in done.stderr, is_searched)

    def test_non_executable_program_returns_126(self) -> None:
        plain = self.dir / "plain"
        plain.write_text("#!/bin/sh\n")
        for path in (plain, self.dir):
            done = rtrack("run", "--", path)
            self.assertEqual(done.returncode, 126, path)
            self.assertIn("cannot run", done.stderr)

    def test_failed_start_prints_one_line_and_no_summary(self) -> None:
        self.assertEqual(len(rtrack("run", "no-such-program-anywhere").stderr.splitlines()), 1)


class BeforeTheStart(Case):
    def assert_not_started(self, code: int, *options: str) -> str:
        mark = self.dir / "mark"
        done = rtrack("run", *options, "--", "touch", mark)
        self.assertEqual(done.returncode, code, options)
        self.assertFalse(mark.exists(), options)
        self.assertTrue(done.stderr.startswith("rtrack"), done.stderr)
        return done.stderr

    def test_unopenable_output_file_returns_125(self) -> None:
        missing = str(self.dir / "missing/file")
        self.assertIn(missing, self.assert_not_started(125, "-o", missing))
        self.assertIn(missing, self.assert_not_started(125, "--summary-file", missing))
        self.assertIn(missing, self.assert_not_started(125, "--processes", missing))
        self.assert_not_started(125, "-o", str(self.dir))

    def test_unavailable_accounting_returns_125(self) -> None:
        for method in ("bpf", "cgroup"):
            if rtrack("run", "-q", "--accounting", method, "true").returncode != 0:
                self.assertIn(method, self.assert_not_started(125, "--accounting", method))

    @unittest.skipUnless(os.geteuid() == 0, "only root can run a program as another user")
    def test_reason_of_unavailable_accounting_is_no_sentence_of_its_own(self) -> None:
        for path in (pathlib.Path(RTRACK), *pathlib.Path(RTRACK).parents):
            if not path.stat().st_mode & 0o001:
                self.skipTest(f"another user may not read {path}")
        done = rtrack("run", "-q", "--accounting", "bpf", "true", user=65534)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertRegex(done.stderr, r"accounting by bpf is not available: .*[^.]\n$")

    def test_accounting_by_an_inherited_clock_returns_2_and_names_what_is_better(self) -> None:
        message = self.assert_not_started(2, "--accounting", "wait+perf")
        self.assertRegex(message, r"invalid accounting 'wait\+perf': .*\bcgroup or bpf\n")

    def test_invalid_option_returns_2(self) -> None:
        for options in (["--nonsense"], ["-i", "0"], ["-i", "-1"], ["-i", "1x"], ["-i", "nan"],
                        ["-i", "0x10"], ["-i", "1e3"], ["-i", "1us"], ["-i", "."], ["-i", ""],
                        ["--count", "0"], ["--count", "1.5"], ["-d", "inf"], ["--timeout", "soon"],
                        ["-f", "xml", "-o", "-"], ["-f", "csv"], ["--fields", "timestamp"],
                        ["--summary", "html"],
                        ["--color", "red"], ["--live=yes"],
                        ["--accounting", "guess"], ["-o", ""], ["--processes", ""], ["--pid", "1"]):
            self.assert_not_started(2, *options)

    def test_invalid_word_is_answered_with_the_words_that_are_known(self) -> None:
        answers = (
            (["trace", "--calls", "foo"],
             "invalid calls 'foo': use getrusage, wait4, waitid, separated by commas"),
            (["trace", "--back-end", "x"], "invalid back-end 'x': use auto, bpf or ptrace"),
            (["trace", "-f", "csv"], "invalid format 'csv': use text, jsonl, tracee or "
             "tracee-v1beta1"),
            (["run", "-f", "xml"], "invalid format 'xml': use csv, csv-v1, csv-v5 or jsonl"),
            (["run", "--time-format", "x"], "invalid time-format 'x': use epoch or iso"),
            (["run", "--pss", "x"], "invalid pss 'x': use exact, budget or off"),
            (["run", "--live=x"], "invalid live 'x': use auto, always or never"),
            (["system", "--live=x"], "invalid live 'x': use auto, always or never"),
            (["run", "--count", "x"], "invalid count 'x': a whole number, at least 1"),
            (["run", "-o", ""], "invalid output '': the name of a file"),
            (["run", "-i", "1us"], "invalid interval '1us': at least 1ms, at most 104000d"))
        for words, answer in answers:
            done = rtrack(*words, "--", "true")
            self.assertEqual(done.stderr.splitlines()[0], "rtrack: " + answer)
            self.assertEqual(done.returncode, 2)

    def test_message_has_no_control_characters(self) -> None:
        done = rtrack("run", "--live=\x1b[2J\r\n", "--", "true")
        self.assertTrue(done.stderr.startswith("rtrack: invalid live '\\x1b[2J\\x0d\\n': use "),
                        done.stderr)

    def test_invalid_operands_return_2(self) -> None:
        for words in ([], ["run"], ["run", "--"], ["attach"], ["attach", "self"], ["attach", "0"],
                      ["attach", "-5"], ["attach", "99999999999999999999"], ["system", "all"],
                      ["rusage", "all"], ["rusage", "1", "2"], ["info", "all"], ["trace"],
                      ["frobnicate"], ["-i", "1", "run"], ["rusage", "--pid", "1", "--thread"]):
            done = rtrack(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "", words)
            self.assertNotEqual(done.stderr, "", words)

    def test_unknown_subcommand_is_named_in_error(self) -> None:
        self.assertIn("unknown command 'follow'", rtrack("follow", "--", "true").stderr)


class WithoutSupervisor(Case):
    """A copy of the library in an empty directory does not find the supervisor of this build."""

    def setUp(self) -> None:
        super().setUp()
        self.set_supervisor("separate")
        shutil.copy(BUILD / "lib/librtrack.so.0", self.dir)
        self.env = {**os.environ, "LD_LIBRARY_PATH": str(self.dir)}

    def put_supervisor(self, code: str) -> None:
        """Put a supervisor that runs Python code. It gets no path that it could be read by."""
        path = self.dir / SUPERVISOR
        path.write_text(f"#!{os.path.realpath(sys.executable)} -c{code}\n")
        path.chmod(0o755)

    def need_none_installed(self) -> None:
        if rtrack("run", "-q", "--accounting", "wait", "true", env=self.env).returncode == 0:
            self.skipTest("a supervisor is installed on this system")

    def assert_refused(self, why: str) -> None:
        mark = self.dir / "mark"
        done = rtrack("run", "--accounting", "wait", "touch", mark, env=self.env)
        self.assertEqual((done.returncode, mark.exists()), (125, False), done.stderr)
        self.assertIn(f"rtrack-supervisor {why}", done.stderr)

    def assert_auto_polls_and_says_why(self, why: str) -> None:
        done = rtrack("run", "--summary", "json", "sh", "-c", "exit 4", env=self.env)
        got = json.loads(done.stderr)["accounting"]
        self.assertEqual((done.returncode, got["level"]), (4, "poll"))
        self.assertIn("no_supervisor", got["reasons"])
        done = rtrack("run", "true", env=self.env)
        self.assertIn(f"accounting is by poll: {why}", done.stderr)

    def test_missing_supervisor_is_named_and_auto_polls(self) -> None:
        self.need_none_installed()
        self.assert_refused("is not installed")
        self.assert_auto_polls_and_says_why("rtrack-supervisor is not installed")

    def test_missing_supervisor_is_not_missed_by_rtrack_itself(self) -> None:
        self.need_none_installed()
        if b"__asan_init" in pathlib.Path(RTRACK).read_bytes():
            self.skipTest("a sanitized rtrack is too large to be its own supervisor")
        env = {**self.env, "RTRACK_SUPERVISOR": "self"}
        done = rtrack("run", "--accounting", "wait", "--summary", "json", "sh", "-c", "exit 4",
                      env=env)
        got = json.loads(done.stderr)["accounting"]
        self.assertEqual((done.returncode, got["level"], got["reasons"]), (4, "wait", []))

    def test_supervisor_of_another_protocol_is_not_looked_for(self) -> None:
        self.need_none_installed()
        shutil.copy(BUILD / "lib" / SUPERVISOR, self.dir / (SUPERVISOR + "0"))
        shutil.copy(BUILD / "lib" / SUPERVISOR, self.dir / "rtrack-supervisor")
        self.assert_refused("is not installed")

    def test_supervisor_that_may_not_be_executed_counts_as_missing(self) -> None:
        self.put_supervisor("exit(0)")
        (self.dir / SUPERVISOR).chmod(0o644)
        self.assert_refused("is not installed")
        self.assert_auto_polls_and_says_why("rtrack-supervisor is not installed")

    def test_supervisor_without_report_is_of_another_release_and_auto_polls(self) -> None:
        self.put_supervisor("exit(2)")
        self.assert_refused("is of another release")
        self.assert_auto_polls_and_says_why("rtrack-supervisor is of another release")

    def test_killed_supervisor_makes_auto_poll(self) -> None:
        self.put_supervisor("import os; os.kill(os.getpid(), 9)")
        self.assertEqual(
            rtrack("run", "--accounting", "wait", "true", env=self.env).returncode, 123)
        self.assert_auto_polls_and_says_why("no rtrack-supervisor of this release could be started")

    def test_supervisor_of_same_protocol_beside_library_is_used(self) -> None:
        shutil.copy(BUILD / "lib" / SUPERVISOR, self.dir)
        done = rtrack("run", "--summary", "json", "true", env=self.env)
        got = json.loads(done.stderr)["accounting"]
        self.assertIn(got["level"], ("wait", "cgroup"))
        self.assertNotIn("no_supervisor", got["reasons"])

    def test_forced_poll_does_not_miss_a_supervisor(self) -> None:
        self.need_none_installed()
        done = rtrack("run", "--accounting", "poll", "--summary", "json", "true", env=self.env)
        self.assertNotIn("no_supervisor", json.loads(done.stderr)["accounting"]["reasons"])

    def run_supervisor(self, protocol: str, mark: pathlib.Path) -> int:
        """Start it as a library with this protocol would. Return its exit code."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        memory = os.memfd_create("shared")
        os.ftruncate(memory, 64 << 20)
        argv = [BUILD / "lib" / SUPERVISOR, protocol, theirs.fileno(), memory, "", "", "",
                "touch", mark]
        process = subprocess.Popen(list(map(str, argv)), stdin=subprocess.DEVNULL,
                                   pass_fds=(theirs.fileno(), memory))
        theirs.close()
        os.close(memory)
        wait_until(lambda: mark.exists() or process.poll() is not None)
        ours.close()  # so that it does not wait for requests
        return process.wait(timeout=PATIENCE_S)

    def test_supervisor_refuses_another_protocol(self) -> None:
        mark = self.dir / "mark"
        self.assertEqual((self.run_supervisor("0", mark), mark.exists()), (2, False))
        self.assertEqual((self.run_supervisor(SUPERVISOR, mark), mark.exists()), (0, True))


class TimeOut(Case):
    def test_timeout_ends_command_and_returns_124(self) -> None:
        path = self.dir / "summary"
        done = timed_out("--summary", "json", "--summary-file", path, "sleep", "200")
        self.assertEqual(done.returncode, 124)
        summary = json.loads(path.read_text())
        self.assertTrue(summary["timed_out"])
        self.assertEqual((summary["exit_code"], summary["signal"]), (None, signal.SIGTERM))

    def test_command_shorter_than_timeout_keeps_exit_code(self) -> None:
        self.assertEqual(
            rtrack("run", "-q", "--timeout", "1000", "sh", "-c", "exit 5").returncode, 5)

    def test_timeout_ends_descendants_too(self) -> None:
        path = self.dir / "pid"
        code = f"sleep 200 & echo $! >{path}; wait; sleep 200"
        self.assertEqual(rtrack("run", "-q", "--timeout", "3", "sh", "-c", code).returncode, 124)
        pid = int(path.read_text())
        wait_until(lambda: not is_alive(pid))

    def test_timeout_with_sigterm_ignored_sends_sigkill(self) -> None:
        """The command ignores SIGTERM from its start."""
        path = self.dir / "summary"
        began = time.monotonic()
        done = timed_out("--summary", "json", "--summary-file", path, "sleep", "200",
                         preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
        self.assertEqual(done.returncode, 124)
        self.assertGreaterEqual(time.monotonic() - began, 5)
        self.assertEqual(json.loads(path.read_text())["signal"], signal.SIGKILL)

    def test_unreached_timeout_adds_no_delay(self) -> None:
        process = self.start([RTRACK, "run", "-q", "--timeout", "1h", "sleep", "0.1"],
                             stderr=subprocess.DEVNULL)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)


class OfTheOthers(Case):
    def test_missing_pid_returns_125_and_is_named(self) -> None:
        process = subprocess.Popen(["true"])
        process.wait()
        done = rtrack("attach", str(process.pid))
        self.assertEqual(done.returncode, 125)
        self.assertIn(str(process.pid), done.stderr)
        self.assertEqual(rtrack("rusage", "--pid", str(process.pid)).returncode, 125)

    def test_system_and_attach_with_unopenable_output_return_125(self) -> None:
        self.assertEqual(rtrack("system", "-o", self.dir / "no/file").returncode, 125)
        self.assertEqual(
            rtrack("attach", "-o", self.dir / "no/file", str(os.getpid())).returncode, 125)

    def test_success_returns_0(self) -> None:
        for words in (["-h"], ["--help"], ["-V"], ["run", "-h"], ["rusage", "-V"], ["info"],
                      ["rusage"], ["system", "--count", "1", "-i", "10ms"]):
            self.assertEqual(rtrack(*words).returncode, 0, words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
