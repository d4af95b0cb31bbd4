# SPDX-License-Identifier: MIT
"""What signals do to rtrack and to the command."""
import json
import os
import pty
import re
import signal
import subprocess
import termios
import time
import unittest
from typing import Any, Dict, List

from rtrack_command import PATIENCE_S, RTRACK, Case, commands_of, is_alive, python, read_proc, rtrack, wait_until

# Writes the names of the signals it gets to the file named first; TERM ends it with code 42.
RECORDER = """
import os, signal, sys, time
out = open(sys.argv[1], "a", buffering=1)
def note(number, frame):
    out.write(signal.Signals(number).name + "\\n")
    if number == signal.SIGTERM:
        os._exit(42)
for name in ("INT", "QUIT", "HUP", "USR1", "USR2", "TERM"):
    signal.signal(getattr(signal, "SIG" + name), note)
out.write("ready\\n")
while True:
    time.sleep(0.05)
"""

# Prints the signal state that the command was given.
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

    @staticmethod
    def kill(pid: int) -> None:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)


class Forwarded(Recorded):
    def test_each_that_is_meant_for_the_command(self) -> None:
        process = self.start_recorder()
        for count, name in enumerate(("SIGHUP", "SIGUSR1", "SIGUSR2"), 2):
            process.send_signal(getattr(signal, name))
            wait_until(lambda: len(self.recorded()) == count)
            self.assertEqual(self.recorded()[-1], name)
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 42)
        self.assertEqual(self.recorded()[-1], "SIGTERM")

    def test_an_early_one_is_not_lost(self) -> None:
        for delay in (0, 0.001, 0.003, 0.01):
            process = self.start([RTRACK, "run", "-q", "sleep", "30"])
            # Once it holds the signal back or has its handler; before that a signal ends rtrack, as anything else.
            wait_until(lambda: self.catches(process.pid, signal.SIGTERM))
            time.sleep(delay)
            process.terminate()
            self.assertEqual(process.wait(timeout=PATIENCE_S), 128 + signal.SIGTERM)

    @staticmethod
    def catches(pid: int, number: int) -> bool:
        mask = re.search(r"^SigCgt:\s*(\w+)", read_proc(pid, "status"), re.MULTILINE)
        return bool(mask and int(mask[1], 16) >> (number - 1) & 1)

    def test_the_summary_comes_all_the_same(self) -> None:
        path = self.dir / "summary"
        process = self.start([RTRACK, "run", "--summary", "json", "--summary-file", path, *python(RECORDER),
                              self.record])
        wait_until(lambda: "ready" in self.recorded())
        process.terminate()
        process.wait(timeout=PATIENCE_S)
        self.assertEqual(json.loads(path.read_text())["exit_code"], 42)


class FromTheTerminal(Recorded):
    def test_to_rtrack_alone_they_do_nothing(self) -> None:
        process = self.start_recorder()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGQUIT)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        self.assertEqual(self.recorded(), ["ready"])
        process.terminate()
        self.assertEqual(process.wait(timeout=PATIENCE_S), 42)

    def test_ctrl_c_ends_the_command_and_then_comes_the_summary(self) -> None:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(RTRACK, [RTRACK, "run", "--live", "never", "sh", "-c", "echo go; exec sleep 60"])
        self.addCleanup(os.close, terminal)
        # Ctrl-C also throws away what is on its way to the screen, which could be the summary already.
        modes = termios.tcgetattr(terminal)
        modes[3] |= termios.NOFLSH
        termios.tcsetattr(terminal, termios.TCSANOW, modes)
        said = b""
        while b"go" not in said:
            said += os.read(terminal, 4096)
        wait_until(lambda: [child for child in commands_of(pid) if read_proc(child, "cmdline").startswith("sleep")])
        os.write(terminal, b"\x03")
        said = self.read_all(terminal)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 128 + signal.SIGINT)
        self.assertIn(b"killed by signal 2", said)

    @staticmethod
    def read_all(terminal: int) -> bytes:
        said = b""
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # EIO: nobody has it open any more
                return said
            if not piece:
                return said
            said += piece


class Inherited(Case):
    """The command is given the signal state that rtrack was given."""

    def state(self, **kwargs: Any) -> Dict[str, int]:
        """Sets of signals. Those that the C library keeps for itself (32 and 33) are its own affair."""
        said = rtrack("run", "-q", *STATE, **kwargs).stdout
        return {name: int(mask, 16) & ~(3 << 31) for name, mask in re.findall(r"(\w+):\s*(\w+)", said)}

    def test_nothing_is_blocked_or_ignored(self) -> None:
        state = self.state()
        self.assertEqual((state["SigBlk"], state["SigIgn"]), (0, 0))

    def test_what_was_ignored_stays_so(self) -> None:
        def ignore() -> None:
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)

        self.assertEqual(self.state(preexec_fn=ignore)["SigIgn"], 0b111)

    def test_ignored_hangup_is_not_forwarded(self) -> None:
        process = self.start([RTRACK, "run", "-q", "sleep", "30"],
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_until(lambda: commands_of(process.pid))
        time.sleep(0.1)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.terminate()
        process.wait(timeout=PATIENCE_S)


class EndOfFollowing(Case):
    def test_attach_and_system_end_with_a_summary(self) -> None:
        target = self.start(["sleep", "60"])
        for words in (["attach", str(target.pid)], ["system"]):
            for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
                rows = self.dir / "rows"
                process = self.start([RTRACK, *words, "-i", "30", "-o", rows], stderr=subprocess.PIPE, text=True)
                wait_until(lambda: Forwarded.catches(process.pid, signal.SIGINT))
                time.sleep(0.05)
                process.send_signal(getattr(signal, name))
                _, said = process.communicate(timeout=PATIENCE_S)
                self.assertEqual(process.returncode, 0, name)
                self.assertIn("wall", said)
                self.assertEqual(len(rows.read_text().splitlines()), 2, "one row up to the signal")
        self.assertIsNone(target.poll())


class Killed(Case):
    def test_the_command_does_not_notice(self) -> None:
        mark = self.dir / "mark"
        process = self.start([RTRACK, "run", "-q", "sh", "-c", f"sleep 0.5; touch {mark}"])
        wait_until(lambda: commands_of(process.pid))
        process.kill()
        process.wait()
        wait_until(mark.exists)


if __name__ == "__main__":
    unittest.main(verbosity=2)
