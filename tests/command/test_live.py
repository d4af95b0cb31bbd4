# SPDX-License-Identifier: MIT
"""Tests of the live line of rtrack attach and rtrack system, which is updated in place."""
import os
import re
import signal
import subprocess
import unittest
from typing import Any, List, Sequence

from emulator import Screen, Terminal, shows
from rtrack_command import RTRACK, Case, read_proc, rtrack, state_of, wait_until

LINE = r"\d+\.\d+ s   \d+\.\d\d cores   [\d.]+ \w+   \d+ process(?:es)?"
DRAWN = re.compile(rb"\r([^\r\x1b]*)\x1b\[K")


def has_line(screen: Screen) -> bool:
    """Whether the line of the cursor is the live line, with the cursor behind it."""
    row = screen.rows[screen.cursor.y]
    return bool(re.fullmatch(LINE, row)) and screen.cursor.x == len(row)


class Live(Case):
    def setUp(self) -> None:
        super().setUp()
        self.series = self.dir / "series.csv"
        self.target = self.start(["sleep", "1000"])

    def words(self, *more: str) -> List[str]:
        """Return the words that follow a process that sleeps."""
        return [RTRACK, "attach", "-i", "0.02", "-o", str(self.series), *more, str(self.target.pid)]



class Drawn(Live):
    def test_live_line_is_redrawn_in_place(self) -> None:
        for words in (self.words(), [RTRACK, "system", "-i", "0.05"]):
            terminal = Terminal(self, words)
            terminal.wait(has_line)
            terminal.wait(lambda screen: len(DRAWN.findall(terminal.output)) >= 4)
            self.assertEqual(terminal.screen.rows[1:], [""] * 23)
            times = [float(line.split()[0]) for line in DRAWN.findall(terminal.output)]
            self.assertEqual(times, sorted(times))
            terminal.send("\x03")
            self.assertEqual(terminal.end(), 0)

    def test_live_line_before_summary_is_erased(self) -> None:
        terminal = Terminal(self, self.words("--color", "never"))
        terminal.wait(has_line)
        terminal.send("\x03")
        self.assertEqual(terminal.end(), 0)
        self.assertRegex(terminal.screen.rows[0], "^rtrack: process")
        self.assertFalse(any(re.search(LINE, row) for row in terminal.screen.rows))

    def test_live_line_is_cut_to_terminal_width(self) -> None:
        for columns in (2, 5, 20, 40):
            terminal = Terminal(self, self.words(), columns=columns)
            terminal.wait_for_rows(self.series)
            terminal.wait(lambda screen: len(DRAWN.findall(terminal.output)) >= 2)
            lengths = [len(line) for line in DRAWN.findall(terminal.output)]
            self.assertLess(max(lengths), columns)
            self.assertEqual(terminal.screen.rows[1:], [""] * 23)
            terminal.close()

    def test_live_line_after_resize_uses_new_width(self) -> None:
        terminal = Terminal(self, self.words())
        terminal.wait(has_line)
        terminal.resize(24, 12)
        terminal.wait(lambda screen: len(DRAWN.findall(terminal.output)[-1]) < 12)
        terminal.resize(24, 80)
        terminal.wait(has_line)
        lengths = [len(line) for line in DRAWN.findall(terminal.output)]
        self.assertGreater(lengths[0], 30)


class Absent(Live):
    def test_live_line_without_terminal_is_absent(self) -> None:
        for when in ("auto", "always"):
            done = rtrack("system", "-i", "0.05", "--count", "3", "--live", when)
            self.assertNotIn("\r", done.stderr)

    def check(self, *options: str, prefix: Sequence[str] = (), **kwargs: Any) -> bytes:
        """Returns the output without a summary, while some rows are written."""
        words = [*prefix, *self.words("--summary", "none", *options)]
        terminal = Terminal(self, words, **kwargs)
        terminal.wait_for_rows(self.series)
        output = terminal.output
        self.assertNotIn(b"\x1b", output)
        self.assertNotIn(b"cores", output)
        terminal.close()
        return output

    def test_live_line_with_never_or_quiet_is_absent(self) -> None:
        for options in (["--live", "never"], ["--live=never"], ["-q"]):
            self.assertEqual(self.check(*options), b"")

    def test_live_line_in_unknown_terminal_is_absent(self) -> None:
        for name in ("dumb", "", "unknown"):
            self.assertRegex(self.check("--live", env={"TERM": name}),
                             rb"^rtrack: --live shows nothing here: [^\r\n]+\r\n$")

    def test_live_line_with_redirected_standard_error_is_absent(self) -> None:
        self.assertEqual(self.check(stderr=subprocess.DEVNULL), b"")

    def test_live_line_in_terminal_of_another_session_is_absent(self) -> None:
        self.assertEqual(self.check(prefix=["setsid", "--wait"]), b"")

    def test_live_line_with_rows_on_same_terminal_is_absent(self) -> None:
        terminal = Terminal(self, [RTRACK, "system", "-f", "csv", "-i", "0.05", "--count", "3"])
        self.assertEqual(terminal.end(), 0)
        self.assertNotIn(b"\x1b[K", terminal.output)
        self.assertEqual(terminal.output.count(b"\r\n1"), 3)


class JobControl(Live):
    def setUp(self) -> None:
        super().setUp()
        self.shell = Terminal(self, ["bash", "--norc", "--noprofile", "-i"], env={"HISTFILE": ""})
        self.wait_for_prompt("$")
        script = self.dir / "command"
        script.write_text("exec " + " ".join(self.words("--summary", "none")) + "\n")
        self.command = f"sh {script}"

    def wait_for_prompt(self, text: str) -> None:
        """Wait for a text and for the prompt."""
        self.shell.wait(lambda screen: shows(text)(screen) and self.is_at_prompt(screen))

    @staticmethod
    def is_at_prompt(screen: Screen) -> bool:
        return screen.rows[screen.cursor.y].endswith("$")

    def job(self) -> int:
        """Return the process id of the job of the shell."""
        pid = self.shell.process.pid
        return int(wait_until(lambda: read_proc(pid, f"task/{pid}/children")).split()[0])

    def check_idle(self) -> None:
        """The terminal does not change while rtrack writes rows."""
        before = self.shell.output
        self.shell.wait_for_rows(self.series)
        self.assertNotEqual(state_of(self.job()), "T")
        self.assertEqual(self.shell.output, before)

    def check_jobs(self) -> None:
        """Stop a job in the foreground, continue it in the background, and bring it back."""
        self.shell.send(f"{self.command}\n")
        self.shell.wait(has_line)
        self.shell.send("\x1a")
        self.wait_for_prompt("Stopped")
        self.assertFalse(any(re.match(LINE, row) for row in self.shell.screen.rows))
        self.shell.send("bg\n")
        self.wait_for_prompt("command &")
        self.check_idle()
        self.shell.send("fg\n")
        self.shell.wait(has_line)
        self.shell.send("\x03")
        self.shell.wait(self.is_at_prompt)
        self.assertFalse(any(re.match(LINE, row) for row in self.shell.screen.rows))

    def test_live_line_while_stopped_and_in_background_is_absent(self) -> None:
        self.check_jobs()

    def test_live_line_with_tostop_stops_nothing(self) -> None:
        self.shell.send("stty tostop\n")
        self.check_jobs()

    def test_live_line_of_job_that_ends_in_background_erases_nothing(self) -> None:
        self.shell.send(f"{self.command} &\n")
        self.wait_for_prompt("[1]")
        self.check_idle()
        self.shell.send("typed")
        self.shell.wait(lambda screen: screen.rows[screen.cursor.y] == "$ typed")
        pid = self.job()
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: state_of(pid) in ("", "Z"))
        self.shell.send(" more")
        self.shell.wait(lambda screen: screen.rows[screen.cursor.y] == "$ typed more")


if __name__ == "__main__":
    unittest.main(verbosity=2)
