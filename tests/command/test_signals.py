# SPDX-License-Identifier: MIT
"""Tests of signals to rtrack and to the command."""
import json
import os
import pty
import re
import signal
import subprocess
import termios
import time
import unittest
from typing import Any, Dict, List, Tuple

from rtrack_command import (PATIENCE_S, RTRACK, Case, commands_of, is_alive, python, read_proc,
                            rtrack, state_of, wait_until)

# Writes the name of each received signal to the file of the first argument. SIGTERM ends it with
# exit code 42.
RECORDER = """
import os, signal, sys, time
out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def note(number, frame):
    os.write(out, (signal.Signals(number).name + "\\n").encode())
    if number == signal.SIGTERM:
        os._exit(42)
for name in ("INT", "QUIT", "HUP", "USR1", "USR2", "TERM"):
    signal.signal(getattr(signal, "SIG" + name), note)
os.write(out, b"ready\\n")
while True:
    time.sleep(0.05)
"""


def setUpModule() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Prints the signal masks that the command inherited.
STATE = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]


class Recorded(Case):
    def setUp(self) -> None:
        super().setUp()
        self.record = self.dir / "record"

    def recorded(self) -> List[str]:
        return self.record.read_text().split() if self.record.exists() else []

    def start_recorder(self, **kwargs: Any) -> "subprocess.Popen[Any]":
        process = self.start([RTRACK, "run", "-q", *python(RECORDER), self.record], **kwargs)
        wait_until(lambda: "ready" in self.recorded())
        for child in commands_of(process.pid):
            self.addCleanup(self.kill, child)
        return process

    def assert_forwarded_next(self, process: "subprocess.Popen[Any]", name: str) -> None:
        """No signal that was sent before this one is forwarded. Signals that wait are delivered in
        the order of their numbers, so that of this one is higher."""
        process.send_signal(getattr(signal, name))
        wait_until(lambda: len(self.recorded()) > 1)
        self.assertEqual(self.recorded(), ["ready", name])
        self.assertIsNone(process.poll())

    @staticmethod
    def kill(pid: int) -> None:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)


class Forwarded(Recorded):
    def test_signal_to_rtrack_is_forwarded_to_command(self) -> None:
        process = self.start_recorder()
        for count, name in enumerate(("SIGHUP", "SIGUSR1", "SIGUSR2"), 2):
            process.send_signal(getattr(signal, name))
            wait_until(lambda: len(self.recorded()) == count)
            self.assertEqual(self.recorded()[-1], name)
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 42)
        self.assertEqual(self.recorded()[-1], "SIGTERM")

    def test_stopped_command_is_continued_by_sigcont_to_rtrack(self) -> None:
        process, command = self.start_stopped()
        process.send_signal(signal.SIGCONT)
        wait_until(lambda: state_of(command) != "T")
        self.assert_forwarded_next(process, "SIGUSR1")

    def test_stopped_command_acts_on_sigterm_and_sighup_to_rtrack(self) -> None:
        process, command = self.start_stopped()
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: "SIGHUP" in self.recorded())
        self.stop(command)
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 42)

    def test_stopped_command_stays_stopped_for_sigusr1(self) -> None:
        process, command = self.start_stopped()
        process.send_signal(signal.SIGUSR1)
        wait_until(lambda: self.has_pending(command, signal.SIGUSR1))
        self.assertEqual((state_of(command), self.recorded()), ("T", ["ready"]))

    def start_stopped(self) -> "Tuple[subprocess.Popen[Any], int]":
        process = self.start_recorder()
        command, = commands_of(process.pid)
        self.stop(command)
        return process, command

    @staticmethod
    def stop(pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: state_of(pid) == "T")

    @staticmethod
    def has_pending(pid: int, number: int) -> bool:
        mask = re.search(r"^ShdPnd:\s*(\w+)", read_proc(pid, "status"), re.MULTILINE)
        return bool(mask and int(mask[1], 16) >> (number - 1) & 1)

    def test_signal_during_start_is_not_lost(self) -> None:
        for delay in (0, 0.001, 0.003, 0.01):
            process = self.start([RTRACK, "run", "-q", "sleep", "30"])
            # Wait until rtrack has installed its handler. Before that, a signal ends rtrack.
            wait_until(lambda: self.catches(process.pid, signal.SIGTERM))
            time.sleep(delay)
            process.terminate()
            self.assertEqual(process.wait(timeout=PATIENCE_S), 128 + signal.SIGTERM)

    @staticmethod
    def catches(pid: int, number: int) -> bool:
        mask = re.search(r"^SigCgt:\s*(\w+)", read_proc(pid, "status"), re.MULTILINE)
        return bool(mask and int(mask[1], 16) >> (number - 1) & 1)

    def test_summary_after_forwarded_signal_is_written(self) -> None:
        path = self.dir / "summary"
        process = self.start([
            RTRACK, "run", "--summary", "json", "--summary-file", path, *python(RECORDER),
            self.record])
        wait_until(lambda: "ready" in self.recorded())
        process.terminate()
        process.wait(timeout=PATIENCE_S)
        self.assertEqual(json.loads(path.read_text())["exit_code"], 42)


class FromTheTerminal(Recorded):
    def test_sigint_to_rtrack_alone_is_not_forwarded(self) -> None:
        process = self.start_recorder()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGQUIT)
        self.assert_forwarded_next(process, "SIGUSR1")
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 42)

    def test_ctrl_c_ends_command_and_prints_summary(self) -> None:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(RTRACK,
                     [RTRACK, "run", "--live", "never", "sh", "-c", "echo go; exec sleep 60"])
        self.addCleanup(os.close, terminal)
        # Without NOFLSH, Ctrl-C discards pending output, which could already be the summary.
        modes = termios.tcgetattr(terminal)
        modes[3] |= termios.NOFLSH
        termios.tcsetattr(terminal, termios.TCSANOW, modes)
        output = b""
        while b"go" not in output:
            output += os.read(terminal, 4096)
        wait_until(lambda: [
            child for child in commands_of(pid) if read_proc(child, "cmdline").startswith("sleep")])
        os.write(terminal, b"\x03")
        output = self.read_all(terminal)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 128 + signal.SIGINT)
        self.assertIn(b"killed by signal 2", output)

    @staticmethod
    def read_all(terminal: int) -> bytes:
        output = b""
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # EIO: no process has the terminal open
                return output
            if not piece:
                return output
            output += piece


class Inherited(Recorded):
    """The command inherits the signal state of rtrack."""

    def state(self, **kwargs: Any) -> Dict[str, int]:
        """Return the signal masks, without signals 32 and 33, which the C library reserves."""
        output = rtrack("run", "-q", *STATE, **kwargs).stdout
        return {
            name: int(mask, 16) & ~(3 << 31)
            for name, mask in re.findall(r"(\w+):\s*(\w+)", output)}

    def test_command_has_no_signal_blocked_or_ignored(self) -> None:
        state = self.state()
        self.assertEqual((state["SigBlk"], state["SigIgn"]), (0, 0))

    def test_ignored_signals_stay_ignored_in_command(self) -> None:
        def ignore() -> None:
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)

        self.assertEqual(self.state(preexec_fn=ignore)["SigIgn"], 0b111)

    def test_ignored_sighup_is_not_forwarded(self) -> None:
        process = self.start_recorder(
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        self.assert_forwarded_next(process, "SIGUSR1")
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 42)


class EndOfFollowing(Case):
    def test_signal_to_attach_or_system_ends_with_summary(self) -> None:
        target = self.start(["sleep", "60"])
        for words in (["attach", str(target.pid)], ["system"]):
            for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
                rows = self.dir / "rows"
                process = self.start([RTRACK, *words, "-i", "30", "-o", rows],
                                     stderr=subprocess.PIPE, text=True)
                wait_until(lambda: Forwarded.catches(process.pid, signal.SIGINT))
                time.sleep(0.05)
                process.send_signal(getattr(signal, name))
                _, output = process.communicate(timeout=PATIENCE_S)
                self.assertEqual(process.returncode, 0, name)
                self.assertIn("wall", output)
                self.assertEqual(len(rows.read_text().splitlines()), 2, "one row up to the signal")
        self.assertIsNone(target.poll())


class Killed(Case):
    def test_command_after_sigkill_of_rtrack_runs_on(self) -> None:
        begun, go, mark = (self.dir / name for name in ("begun", "go", "mark"))
        # It ends with the test, however that ends.
        script = (f"touch {begun}; while [ -d {self.dir} ] && [ ! -e {go} ]; do sleep 0.02; done;"
                  f" [ ! -e {go} ] || touch {mark}")
        process = self.start([RTRACK, "run", "-q", "sh", "-c", script])
        wait_until(begun.exists)
        process.kill()
        process.wait()
        go.touch()
        wait_until(mark.exists)


if __name__ == "__main__":
    unittest.main(verbosity=2)
