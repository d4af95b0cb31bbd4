# SPDX-License-Identifier: MIT
"""The line that is kept up to date on a terminal."""
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
    def watch(self, words: List[str], columns: int = 80, steps: Sequence[Step] = (), **kwargs: Any) -> str:
        """All that standard error as a terminal gets. Each step waits for a text on the terminal, which must come after
        the step before, and then does something with the terminal and the process."""
        leader, follower = pty.openpty()
        resize(follower, columns)
        env = {**os.environ, "TERM": kwargs.pop("term", "xterm")}
        process = self.start([RTRACK, *words], stderr=follower, env=env, **kwargs)
        os.close(follower)
        said = b""
        for wanted, action in steps:
            said += read_terminal(leader, re.compile(wanted).search)
            action(leader, process)
        said += read_terminal(leader)
        os.close(leader)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        return said.decode()

    RUN = ["run", "-i", "0.1", "sleep", "0.3"]
    # Until its standard input is closed.
    RUN_ON = ["run", "-i", "0.1", "cat"]

    @staticmethod
    def let_end(_terminal: int, process: "subprocess.Popen[Any]") -> None:
        process.stdin.close()

    def test_is_redrawn_in_place(self) -> None:
        said = self.watch(self.RUN_ON, steps=[(rb"(?s)(process.*){4}", self.let_end)], stdin=subprocess.PIPE)
        lines = LINE.findall(said)
        self.assertGreaterEqual(len(lines), 4)
        self.assertIn("1 process", lines[0])
        times = [float(line.split()[0]) for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertNotIn("\n", said[:said.rindex("cores   ")].partition("rtrack:")[0])

    def test_is_gone_before_the_summary(self) -> None:
        said = self.watch(self.RUN)
        live, _, _ = said.partition("rtrack:")
        self.assertTrue(re.sub(r"\x1b\[\d*m", "", live).endswith("\r\x1b[K"), live[-40:])

    def test_only_on_a_terminal(self) -> None:
        for when in ("auto", "always"):
            self.assertNotIn("\r", rtrack("run", "--live", when, "-i", "0.05", "sleep", "0.2").stderr)

    def test_can_be_refused(self) -> None:
        self.assertNotIn("\r\x1b", self.watch(["run", "--live", "never", *self.RUN[1:]]))
        self.assertEqual(self.watch(["run", "-q", *self.RUN[1:]]), "")
        self.assertNotIn("\x1b[K", self.watch(self.RUN, term="dumb"))

    def test_is_cut_to_the_width(self) -> None:
        for columns in (1, 5, 20):
            steps = [(rb"(?s)(\x1b\[K.*){2}", self.let_end)]
            said = self.watch(self.RUN_ON, columns, steps, stdin=subprocess.PIPE).partition("rtrack:")[0]
            for line in re.findall(r"\r([^\r\x1b]*)\x1b\[K", said):
                self.assertLess(len(line), columns)

    def test_a_change_of_width_is_noticed_and_disturbs_nothing(self) -> None:
        def shrink(terminal: int, process: "subprocess.Popen[Any]") -> None:
            resize(terminal, 12)
            process.send_signal(signal.SIGWINCH)

        steps = [(LINE.pattern.encode(), shrink), (rb"\r[^\r\x1b]{1,11}\x1b\[K", self.let_end)]
        said = self.watch(self.RUN_ON, 80, steps, stdin=subprocess.PIPE).partition("rtrack:")[0]
        widths = [len(line) for line in re.findall(r"\r([^\r\x1b]*)\x1b\[K", said)]
        self.assertGreater(widths[0], 30)
        is_narrow = [width < 12 for width in widths]
        self.assertEqual(is_narrow, sorted(is_narrow), "once noticed, it holds")

    def test_is_not_drawn_between_rows_on_the_same_terminal(self) -> None:
        leader, follower = pty.openpty()
        process = self.start([RTRACK, "system", "-f", "csv", "-i", "0.05", "--count", "3"], stdout=follower,
                             stderr=follower)
        os.close(follower)
        said = read_terminal(leader)
        os.close(leader)
        process.wait(timeout=PATIENCE_S)
        self.assertNotIn(b"\x1b[K", said)
        self.assertEqual(said.count(b"\r\n1"), 3)

    def test_of_the_others(self) -> None:
        for words in (["system"], ["attach", str(os.getpid())]):
            self.assertRegex(self.watch([*words, "-i", "0.1", "--count", "4"], stdout=subprocess.DEVNULL), LINE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
