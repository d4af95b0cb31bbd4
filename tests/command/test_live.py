# SPDX-License-Identifier: MIT
"""Tests of the live line: a status line on a terminal that rtrack keeps up to date."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unittest
from typing import Any, Callable, List, Sequence, Tuple

from rtrack_command import PATIENCE_S, RTRACK, Case, read_terminal, rtrack

Step = Tuple[bytes, Callable[[int, "subprocess.Popen[Any]"], None]]

LINE = re.compile(r"\r(\d+\.\d+ s   \d+\.\d\d cores   [\d.]+ \w+   \d+ process(?:es)?)\x1b\[K")


def resize(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


class Live(Case):
    def watch(self, words: List[str], columns: int = 80, steps: Sequence[Step] = (),
              **kwargs: Any) -> str:
        """Run rtrack with a terminal as standard error. Returns all output on the terminal.

        Each step waits for a text that appears after the previous step, and then runs its action
        on the terminal and the process."""
        leader, follower = pty.openpty()
        resize(follower, columns)
        env = {**os.environ, "TERM": kwargs.pop("term", "xterm")}
        process = self.start([RTRACK, *words], stderr=follower, env=env, **kwargs)
        os.close(follower)
        output = b""
        for pattern, action in steps:
            output += read_terminal(leader, re.compile(pattern).search)
            action(leader, process)
        output += read_terminal(leader)
        os.close(leader)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        return output.decode()

    RUN = ["run", "-i", "0.1", "sleep", "0.3"]
    # Runs until its standard input is closed.
    RUN_ON = ["run", "-i", "0.1", "cat"]

    @staticmethod
    def close_input(_terminal: int, process: "subprocess.Popen[Any]") -> None:
        process.stdin.close()

    def test_live_line_is_redrawn_in_place(self) -> None:
        output = self.watch(self.RUN_ON, steps=[(rb"(?s)(process.*){4}", self.close_input)],
                            stdin=subprocess.PIPE)
        lines = LINE.findall(output)
        self.assertGreaterEqual(len(lines), 4)
        self.assertIn("1 process", lines[0])
        times = [float(line.split()[0]) for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertNotIn("\n", output[:output.rindex("cores   ")].partition("rtrack:")[0])

    def test_live_line_before_summary_is_erased(self) -> None:
        output = self.watch(self.RUN)
        live, _, _ = output.partition("rtrack:")
        self.assertTrue(re.sub(r"\x1b\[\d*m", "", live).endswith("\r\x1b[K"), live[-40:])

    def test_live_line_without_terminal_is_absent(self) -> None:
        for when in ("auto", "always"):
            self.assertNotIn("\r",
                             rtrack("run", "--live", when, "-i", "0.05", "sleep", "0.2").stderr)

    def test_live_line_with_never_quiet_or_dumb_terminal_is_absent(self) -> None:
        self.assertNotIn("\r\x1b", self.watch(["run", "--live", "never", *self.RUN[1:]]))
        self.assertEqual(self.watch(["run", "-q", *self.RUN[1:]]), "")
        self.assertNotIn("\x1b[K", self.watch(self.RUN, term="dumb"))

    def test_live_line_is_cut_to_terminal_width(self) -> None:
        for columns in (1, 5, 20):
            steps = [(rb"(?s)(\x1b\[K.*){2}", self.close_input)]
            output = self.watch(self.RUN_ON, columns, steps,
                                stdin=subprocess.PIPE).partition("rtrack:")[0]
            for line in re.findall(r"\r([^\r\x1b]*)\x1b\[K", output):
                self.assertLess(len(line), columns)

    def test_live_line_after_resize_uses_new_width(self) -> None:
        def shrink(terminal: int, process: "subprocess.Popen[Any]") -> None:
            resize(terminal, 12)
            process.send_signal(signal.SIGWINCH)

        steps = [(LINE.pattern.encode(), shrink), (rb"\r[^\r\x1b]{1,11}\x1b\[K", self.close_input)]
        output = self.watch(self.RUN_ON, 80, steps, stdin=subprocess.PIPE).partition("rtrack:")[0]
        widths = [len(line) for line in re.findall(r"\r([^\r\x1b]*)\x1b\[K", output)]
        self.assertGreater(widths[0], 30)
        is_narrow = [width < 12 for width in widths]
        self.assertEqual(is_narrow, sorted(is_narrow), "all lines after the resize are narrow")

    def test_live_line_with_rows_on_same_terminal_is_absent(self) -> None:
        leader, follower = pty.openpty()
        process = self.start([RTRACK, "system", "-f", "csv", "-i", "0.05", "--count", "3"],
                             stdout=follower, stderr=follower)
        os.close(follower)
        output = read_terminal(leader)
        os.close(leader)
        process.wait(timeout=PATIENCE_S)
        self.assertNotIn(b"\x1b[K", output)
        self.assertEqual(output.count(b"\r\n1"), 3)

    def test_live_line_of_system_and_attach_is_drawn(self) -> None:
        for words in (["system"], ["attach", str(os.getpid())]):
            self.assertRegex(
                self.watch([*words, "-i", "0.1", "--count", "4"], stdout=subprocess.DEVNULL), LINE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
