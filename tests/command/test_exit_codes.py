# SPDX-License-Identifier: MIT
"""Which exit code stands for what."""
import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest

from harness import BUILD
from rtrack_command import PATIENCE_S, RTRACK, Case, is_alive, python, rtrack, wait_until


PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}


def refuse_perf_event_open() -> None:
    """A seccomp filter, as containers have them: perf_event_open() is EPERM, and all else allowed."""
    set_no_new_privs, set_seccomp, filter_mode = 38, 22, 2
    load, jump_if_equal, give, allow, refuse = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050001
    rows = [(load, 0, 0, 0), (jump_if_equal, 0, 1, PERF_EVENT_OPEN[os.uname().machine]), (give, 0, 0, refuse),
            (give, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    word = ctypes.c_ulong
    assert libc.prctl(set_no_new_privs, word(1), word(0), word(0), word(0)) == 0
    assert libc.prctl(set_seccomp, word(filter_mode), program, word(0), word(0)) == 0


class OfTheCommand(Case):
    def test_is_passed_on(self) -> None:
        for code in (0, 1, 3, 124, 255):
            self.assertEqual(rtrack("run", "-q", "--", "sh", "-c", f"exit {code}").returncode, code)

    def test_a_signal_is_128_and_its_number(self) -> None:
        for name in ("KILL", "TERM", "SEGV", "INT", "RTMIN"):
            number = getattr(signal, "SIG" + name)
            # Not by a shell, which may turn one into an exit code of its own.
            code = f"""
import os, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.kill(os.getpid(), {number})
"""
            self.assertEqual(rtrack("run", "-q", *python(code)).returncode, 128 + number, name)

    def test_is_kept_when_sigchld_was_ignored(self) -> None:
        def ignore() -> None:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        self.assertEqual(rtrack("run", "-q", "sh", "-c", "exit 7", preexec_fn=ignore).returncode, 7)

    def test_options_after_the_command_are_its_own(self) -> None:
        self.assertEqual(rtrack("run", "-q", "sh", "-c", "exit $#", "-q", "--version", "-i").returncode, 2)


class OfAFailedStart(Case):
    def test_not_found_is_127(self) -> None:
        for program in ("no-such-program-anywhere", "./no/such/path", ""):
            done = rtrack("run", "--", program)
            self.assertEqual(done.returncode, 127, program)
            self.assertIn(f"cannot run '{program}'", done.stderr)

    def test_not_executable_is_126(self) -> None:
        plain = self.dir / "plain"
        plain.write_text("#!/bin/sh\n")
        for path in (plain, self.dir):
            done = rtrack("run", "--", path)
            self.assertEqual(done.returncode, 126, path)
            self.assertIn("cannot run", done.stderr)

    def test_one_line_says_so_and_no_summary_follows(self) -> None:
        self.assertEqual(len(rtrack("run", "no-such-program-anywhere").stderr.splitlines()), 1)


class BeforeTheStart(Case):
    def assert_not_started(self, code: int, *options: str) -> str:
        mark = self.dir / "mark"
        done = rtrack("run", *options, "--", "touch", mark)
        self.assertEqual(done.returncode, code, options)
        self.assertFalse(mark.exists(), options)
        self.assertTrue(done.stderr.startswith("rtrack"), done.stderr)
        return done.stderr

    def test_a_file_that_cannot_be_opened_is_125(self) -> None:
        missing = str(self.dir / "missing/file")
        self.assertIn(missing, self.assert_not_started(125, "-o", missing))
        self.assertIn(missing, self.assert_not_started(125, "--summary-file", missing))
        self.assertIn(missing, self.assert_not_started(125, "--processes", missing))
        self.assert_not_started(125, "-o", str(self.dir))

    def test_accounting_that_cannot_be_had_is_125(self) -> None:
        self.assertIn("bpf", self.assert_not_started(125, "--accounting", "bpf"))
        if rtrack("run", "-q", "--accounting", "cgroup", "true").returncode != 0:
            self.assertIn("cgroup", self.assert_not_started(125, "--accounting", "cgroup"))

    @unittest.skipUnless(os.uname().machine in PERF_EVENT_OPEN, "the number of the system call is not known")
    def test_accounting_by_perf_that_is_refused_is_125_and_says_where_to_look(self) -> None:
        mark = self.dir / "mark"
        done = rtrack("run", "--accounting", "wait+perf", "--", "touch", mark, preexec_fn=refuse_perf_event_open)
        self.assertEqual((done.returncode, mark.exists()), (125, False), done.stderr)
        self.assertIn("/proc/sys/kernel/perf_event_paranoid", done.stderr)

    def test_accounting_without_its_supervisor_is_125(self) -> None:
        """A library that lies all alone does not find it."""
        shutil.copy(BUILD / "lib/librtrack.so.0", self.dir)
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.dir)}
        done = rtrack("run", "--accounting", "wait", "true", env=env)
        if done.returncode == 0:
            self.skipTest("a supervisor is installed on this system, or the library was found elsewhere")
        for rung in ("wait", "wait+perf"):
            done = rtrack("run", "--accounting", rung, "true", env=env)
            self.assertEqual(done.returncode, 125)
            self.assertIn("rtrack-supervisor", done.stderr)
        done = rtrack("run", "--summary", "json", "sh", "-c", "exit 4", env=env)
        self.assertEqual((done.returncode, json.loads(done.stderr)["accounting"]["level"]), (4, "poll"))

    def test_a_wrong_command_line_is_2(self) -> None:
        for options in (["--nonsense"], ["-i", "0"], ["-i", "-1"], ["-i", "1x"], ["-i", "nan"], ["-i", "0x10"],
                        ["-i", "1e3"], ["-i", "1us"], ["-i", "."], ["-i", ""], ["--count", "0"], ["--count", "1.5"],
                        ["-d", "inf"], ["--timeout", "soon"], ["-f", "xml", "-o", "-"], ["-f", "csv"],
                        ["--summary", "html"], ["--color", "red"], ["--live", "yes"], ["--accounting", "guess"],
                        ["-o", ""], ["--processes", ""], ["--pid", "1"]):
            self.assert_not_started(2, *options)

    def test_wrong_operands_are_2(self) -> None:
        for words in ([], ["run"], ["run", "--"], ["attach"], ["attach", "self"], ["attach", "0"], ["attach", "-5"],
                      ["attach", "99999999999999999999"], ["system", "all"], ["rusage", "1"], ["info", "all"],
                      ["trace"], ["frobnicate"], ["-i", "1", "run"], ["rusage", "--pid", "1", "--thread"]):
            done = rtrack(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stdout, "", words)
            self.assertNotEqual(done.stderr, "", words)

    def test_an_unknown_command_is_named(self) -> None:
        self.assertIn("unknown command 'trace'", rtrack("trace", "--", "true").stderr)


class TimeOut(Case):
    def test_ends_the_command_with_124(self) -> None:
        path = self.dir / "summary"
        done = rtrack("run", "--timeout", "0.2", "--summary", "json", "--summary-file", path, "sleep", "200")
        self.assertEqual(done.returncode, 124)
        summary = json.loads(path.read_text())
        self.assertTrue(summary["timed_out"])
        self.assertEqual((summary["exit_code"], summary["signal"]), (None, signal.SIGTERM))

    def test_is_not_reached_by_a_shorter_command(self) -> None:
        self.assertEqual(rtrack("run", "-q", "--timeout", "1000", "sh", "-c", "exit 5").returncode, 5)

    def test_ends_what_the_command_started_too(self) -> None:
        path = self.dir / "pid"
        code = f"sleep 200 & echo $! >{path}; wait; sleep 200"
        self.assertEqual(rtrack("run", "-q", "--timeout", "3", "sh", "-c", code).returncode, 124)
        pid = int(path.read_text())
        wait_until(lambda: not is_alive(pid))

    def test_insists_after_a_while(self) -> None:
        """The command ignores SIGTERM from its first instruction on."""
        path = self.dir / "summary"
        began = time.monotonic()
        done = rtrack("run", "--timeout", "0.3", "--summary", "json", "--summary-file", path, "sleep", "200",
                      preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
        self.assertEqual(done.returncode, 124)
        self.assertGreaterEqual(time.monotonic() - began, 5)
        self.assertEqual(json.loads(path.read_text())["signal"], signal.SIGKILL)

    def test_does_not_delay_anything(self) -> None:
        process = self.start([RTRACK, "run", "-q", "--timeout", "1h", "sleep", "0.1"], stderr=subprocess.DEVNULL)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)


class OfTheOthers(Case):
    def test_no_such_process_is_125_and_named(self) -> None:
        process = subprocess.Popen(["true"])
        process.wait()
        done = rtrack("attach", str(process.pid))
        self.assertEqual(done.returncode, 125)
        self.assertIn(str(process.pid), done.stderr)
        self.assertEqual(rtrack("rusage", "--pid", str(process.pid)).returncode, 125)

    def test_output_that_cannot_be_opened_is_125(self) -> None:
        self.assertEqual(rtrack("system", "-o", self.dir / "no/file").returncode, 125)
        self.assertEqual(rtrack("attach", "-o", self.dir / "no/file", str(os.getpid())).returncode, 125)

    def test_good_ends_are_0(self) -> None:
        for words in (["-h"], ["--help"], ["-V"], ["run", "-h"], ["rusage", "-V"], ["info"], ["rusage"],
                      ["system", "--count", "1", "-i", "10ms"]):
            self.assertEqual(rtrack(*words).returncode, 0, words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
