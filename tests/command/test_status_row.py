# SPDX-License-Identifier: MIT
"""Tests of the status row of rtrack run --live: when it is there, and that nothing of it stays."""
import os
import signal
import unittest
from typing import Any, List

from emulator import Screen, Terminal, has_status, shows, wcwidth
from rtrack_command import PATIENCE_S, RTRACK, Case, commands_of, read_proc, state_of, wait_until

CHINESE = "编译所有的程序然后运行全部测试并且报告结果"
SLEEP = ["sh", "-c", "ulimit -c 0; exec sleep 1000"]


def is_at_prompt(screen: Screen) -> bool:
    return screen.rows[screen.cursor.y].endswith("$")


class Row(Case):
    def setUp(self) -> None:
        super().setUp()
        self.series = self.dir / "series.csv"

    def words(self, *more: str) -> List[str]:
        return [
            RTRACK, "run", "--live", "--summary", "none", "-i", "0.02", "-o",
            str(self.series), *more]

    def start_row(self, *argv: str, options: Any = (), **kwargs: Any) -> Terminal:
        """Run rtrack in a terminal, and wait for the row."""
        terminal = Terminal(self, [*self.words(*options), *(argv or SLEEP)], **kwargs)
        terminal.wait(has_status)
        return terminal


class Ends(Row):
    """However rtrack ends, the terminal is as before."""

    def check(self, terminal: Terminal, exit_code: int) -> None:
        self.assertEqual(terminal.end(), exit_code)
        terminal.assert_restored(self)

    def test_command_that_exits_leaves_no_row(self) -> None:
        terminal = self.start_row("sh", "-c", "read x; exit 3")
        self.assertEqual(terminal.size()[:2], [23, 80])
        self.assertEqual(tuple(terminal.screen.margins), (0, 22))
        terminal.send("\n")
        self.check(terminal, 3)

    def test_keys_that_end_command_leave_no_row(self) -> None:
        for key, number in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)):
            terminal = self.start_row()
            terminal.send(key)
            self.check(terminal, 128 + number)

    def test_killed_command_leaves_no_row(self) -> None:
        terminal = self.start_row()
        (pid,) = wait_until(lambda: commands_of(terminal.process.pid))
        os.kill(pid, signal.SIGKILL)
        self.check(terminal, 128 + signal.SIGKILL)

    def test_signal_to_rtrack_leaves_no_row(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            terminal = self.start_row()
            terminal.process.send_signal(number)
            self.check(terminal, 128 + number)

    def test_command_that_cannot_start_leaves_no_row(self) -> None:
        terminal = Terminal(self, self.words("/nonexistent"))
        self.check(terminal, 127)
        self.assertIn("cannot run", terminal.screen.rows[0])

    def test_terminal_that_hangs_up_ends_nothing_but_command(self) -> None:
        terminal = self.start_row()
        terminal.close()
        self.assertEqual(terminal.process.wait(timeout=PATIENCE_S), 128 + signal.SIGHUP)

    def test_timeout_leaves_no_row(self) -> None:
        self.check(self.start_row(options=["--timeout", "0.2"]), 124)

    def test_summary_follows_output(self) -> None:
        script = "i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; done; read x"
        terminal = Terminal(self, [RTRACK, "run", "--live", "-i", "0.02", "sh", "-c", script])
        terminal.wait(lambda screen: has_status(screen) and shows("line 30")(screen))
        terminal.send("\n")
        self.assertEqual(terminal.end(), 0)
        rows = terminal.screen.rows
        first = next(y for y, row in enumerate(rows) if row.startswith("rtrack:"))
        self.assertEqual(rows[first - 3:first], ["line 29", "line 30", ""])
        self.assertEqual(terminal.size()[:2], [24, 80])


class Absent(Row):
    def check(self, *options: str, **kwargs: Any) -> None:
        """To the terminal come the text of the command and why --live shows nothing, no more."""
        words = [RTRACK, "run", "--summary", "none", "-i", "0.02", "-o", str(self.series), *options]
        terminal = Terminal(self, [*words, "sh", "-c", "echo text; read x"], **kwargs)
        terminal.wait(shows("text"))
        terminal.wait_for_rows(self.series)
        terminal.send("\n")
        self.assertEqual(terminal.end(), 0)
        note = rb"(rtrack: --live shows nothing here: [^\r\n\x1b]+\r\n)"
        note += b"{1}" if "env" in kwargs else b"{0}"
        self.assertRegex(terminal.output, b"^" + note + rb"text\r\n\r\n$")
        terminal.assert_restored(self)

    def test_row_is_absent_by_default(self) -> None:
        for options in ([], ["--live=auto"], ["--live", "never"], ["--live=never"],
                        ["--live", "-q"]):
            self.check(*options)

    def test_row_in_unknown_terminal_is_absent(self) -> None:
        for name in ("dumb", "", "unknown", "ansi"):
            self.check("--live", env={"TERM": name})

    def test_row_in_terminal_of_three_rows_is_absent(self) -> None:
        self.check("--live", rows=3)

    def test_row_in_terminal_of_another_session_is_absent(self) -> None:
        other = Terminal(self, ["sleep", "1000"])
        path = os.readlink(f"/proc/{other.process.pid}/fd/0")
        with open(path, "w") as file:
            process = self.start(self.words("sh", "-c", "sleep 0.1"), stdout=file, stderr=file,
                                 start_new_session=True)
            self.assertEqual(process.wait(), 0)
        self.assertEqual(other.size()[:2], [24, 80])


class FullScreen(Row):
    def test_row_while_program_reads_keys_does_not_change(self) -> None:
        # It uses the whole screen after all, and leaves the cursor in the last row.
        script = ("read x; stty -icanon -echo; printf '\\033[r\\033[24;1H\\033[Kraw'; read x; "
                  "stty icanon echo; printf cooked; read x")
        terminal = self.start_row("sh", "-c", script)
        terminal.send("\n")
        terminal.wait(shows("raw"))
        terminal.wait_for_rows(self.series, 2)  # A draw may have begun before.
        output = terminal.output
        terminal.wait_for_rows(self.series)
        self.assertEqual(terminal.output, output)
        self.assertEqual(terminal.size()[0], 23)
        terminal.send("\n")
        terminal.wait(lambda screen: has_status(screen) and screen.rows[22] == "rawcooked")
        terminal.send("\n")
        self.assertEqual(terminal.end(), 0)
        terminal.assert_restored(self)


class JobControl(Row):
    SHELL = ["bash", "--norc", "--noprofile", "-i"]

    def setUp(self) -> None:
        super().setUp()
        self.shell = Terminal(self, self.SHELL, env={"HISTFILE": "", "LC_ALL": "C"})
        self.shell.wait(is_at_prompt)

    def type(self, *words: str) -> None:
        """Type a command, of which the terminal does not show the words."""
        script = self.dir / "command"
        script.write_text("exec " + " ".join(words) + "\n")
        self.shell.send(f"sh {script}\n")

    def rtrack_pid(self) -> int:
        """Return the process id of the job of the shell."""
        return int(wait_until(lambda: self.jobs())[0])

    def jobs(self) -> List[str]:
        pid = self.shell.process.pid
        return [child for child in read_proc(pid, f"task/{pid}/children").split()
                if read_proc(int(child), "cmdline").startswith(RTRACK)]

    def wait_for_prompt(self, text: str) -> None:
        """Wait for a text and for the prompt."""
        self.shell.wait(lambda screen: shows(text)(screen) and is_at_prompt(screen))

    def stop(self) -> None:
        self.shell.send("\x1a")
        self.wait_for_prompt("Stopped")

    def continue_in_background(self) -> None:
        self.shell.send("bg\n")
        self.shell.send("echo continued\n")
        self.wait_for_prompt("continued")

    def check_idle(self) -> None:
        """The terminal does not change while rtrack writes rows."""
        before, length = self.shell.screen.picture(24), len(self.shell.output)
        self.shell.wait_for_rows(self.series)
        self.assertNotEqual(state_of(self.rtrack_pid()), "T")
        self.assertEqual(self.shell.screen.picture(24), before)
        # The shell may draw its prompt again.
        self.assertNotIn(b"\x1b7", self.shell.output[length:])
        self.shell.assert_restored(self)

    def finish(self) -> None:
        """End the job in the foreground, and look at its exit status."""
        self.shell.send("\x03")
        self.shell.wait(is_at_prompt)
        self.shell.send("echo code $?\n")
        self.shell.wait(shows("code 130"))
        self.shell.assert_restored(self)

    def test_row_is_given_back_while_stopped_and_in_background(self) -> None:
        self.type(*self.words("sleep 1000"))
        self.shell.wait(has_status)
        self.stop()
        self.shell.assert_restored(self)
        self.continue_in_background()
        self.check_idle()
        self.shell.send("fg\n")
        self.shell.wait(has_status)
        self.finish()

    def test_row_in_background_with_tostop_stops_nothing(self) -> None:
        self.shell.send("stty tostop\n")
        self.wait_for_prompt("tostop")
        self.type(*self.words("sleep 1000 <&-"))
        self.shell.wait(has_status)
        self.stop()
        self.continue_in_background()
        self.check_idle()
        self.shell.send("fg\n")
        self.shell.wait(has_status)
        self.finish()

    def test_row_after_sigstop_is_given_back(self) -> None:
        self.shell.send("stty tostop\n")
        self.wait_for_prompt("tostop")
        self.type(*self.words("sleep 1000"))
        self.shell.wait(has_status)
        os.kill(self.rtrack_pid(), signal.SIGSTOP)
        self.wait_for_prompt("Stopped")
        self.continue_in_background()
        self.shell.wait(lambda screen: screen.has_whole_region and not has_status(screen))
        self.check_idle()
        self.shell.send("fg\n")
        self.shell.wait(has_status)
        self.finish()

    def test_row_under_interactive_shell_is_given_back(self) -> None:
        self.type(*self.words("bash --norc --noprofile -i"))
        self.shell.wait(lambda screen: b"\x1b[1;23r" in self.shell.output
                        and screen.has_whole_region and self.shell.size()[0] == 24)
        # A line editor that starts while the terminal is resized may not show its first prompt.
        self.shell.send("echo answer $((6 * 7))\n")
        self.wait_for_prompt("answer 42")
        self.check_idle()
        self.shell.send("exit\n")
        wait_until(lambda: not self.jobs())
        self.shell.assert_restored(self)


class JobControlWithoutLineEditor(JobControl):
    """The terminal collects lines also while the shell reads a command."""
    SHELL = ["dash", "-i"]

    def test_row_under_interactive_shell_is_given_back(self) -> None:
        """Its shell has a line editor."""


class Sizes(Row):
    LINES = ["sh", "-c", "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo $i; done; read x; read x"]

    def check(self, terminal: Terminal, rows: int) -> None:
        """Wait for the row at the bottom of the terminal, with all lines above it."""
        wanted = [str(i) for i in range(40 - rows + 3, 41)] + [""]
        terminal.wait(lambda screen: has_status(screen) and terminal.size()[0] == rows - 1)
        lines = [row for row in terminal.screen.rows[:-1] if row]
        self.assertEqual(lines, [str(i) for i in range(41 - len(lines), 41)])
        self.assertLessEqual(len(lines), len(wanted))
        self.assertEqual(terminal.screen.rows[terminal.screen.cursor.y - 1], "40")

    def test_row_follows_resize(self) -> None:
        terminal = self.start_row(*self.LINES)
        terminal.wait(shows("40"))
        # A terminal that shrinks by one row has the size that programs see already.
        for rows in (24, 23, 30, 10, 11, 10, 24):
            terminal.resize_between_draws(rows, 80)
            self.check(terminal, rows)
        terminal.send("\n\n")
        self.assertEqual(terminal.end(), 0)
        terminal.assert_restored(self)

    def test_row_in_terminal_that_gets_too_small_is_absent(self) -> None:
        terminal = self.start_row(*self.LINES)
        terminal.resize_between_draws(3, 80)
        terminal.wait_for_rows(self.series)
        self.assertEqual(terminal.size()[0], 3)
        self.assertTrue(terminal.screen.has_whole_region)
        terminal.resize_between_draws(20, 80)
        terminal.wait(has_status)
        terminal.send("\n\n")
        self.assertEqual(terminal.end(), 0)
        terminal.assert_restored(self)

    def test_resize_before_end_leaves_no_row(self) -> None:
        terminal = self.start_row("sh", "-c", "read x")
        terminal.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(terminal.process.pid) == "T")
        terminal.drain()
        terminal.resize(30, 80)
        terminal.send("\n")
        terminal.process.send_signal(signal.SIGCONT)
        self.assertEqual(terminal.end(), 0)
        terminal.assert_restored(self)
        self.assertFalse(any("process" in row for row in terminal.screen.rows))

    def test_resize_of_full_screen_leaves_no_row(self) -> None:
        terminal = self.start_row("sh", "-c", "read x; stty -icanon -echo; printf raw; read x")
        terminal.send("\n")
        terminal.wait(shows("raw"))
        terminal.wait_for_rows(self.series, 2)
        terminal.resize_between_draws(30, 80)
        terminal.wait_for_rows(self.series)
        self.assertEqual(terminal.size()[0], 30)
        terminal.send("\n")
        self.assertEqual(terminal.end(), 0)
        terminal.assert_restored(self)
        self.assertEqual([row for row in terminal.screen.rows if row], ["raw"])

    def test_row_below_full_terminal_covers_no_text(self) -> None:
        words = " ".join(self.words("sh", "-c", "'printf after; read x'"))
        script = f"i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo $i; done; printf begun; {words}"
        terminal = Terminal(self, ["sh", "-c", script])
        terminal.wait(has_status)
        terminal.wait(shows("begunafter"))
        lines = [str(i) for i in range(19, 41)]
        self.assertEqual(terminal.screen.rows[:-1], [*lines, "begunafter"])
        terminal.send("\n")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(terminal.screen.rows, [*lines[1:], "begunafter", "", ""])

    def test_row_is_cut_to_terminal_by_width_of_characters(self) -> None:
        # Until the first sample, the row has the time and the command.
        words = [RTRACK, "run", "-q", "--live", "-i", "1000", "sh", "-c", "read x"]
        for columns in range(38, 44):
            terminal = Terminal(self, [*words, CHINESE], columns=columns)
            terminal.wait(shows(CHINESE[:5]))
            width = sum(map(wcwidth, terminal.screen.rows[-1]))
            self.assertIn(width, (columns - 2, columns - 1))
            self.assertEqual(terminal.screen.rows[:-1], [""] * 23)
            terminal.send("\n")
            self.assertEqual(terminal.end(), 0)
            terminal.assert_restored(self)

    def test_row_shows_command_as_locale_allows(self) -> None:
        for locale, wanted in (("C.UTF-8", CHINESE), ("C", "???")):
            terminal = self.start_row("sh", "-c", "read x", CHINESE, columns=120,
                                      env={"LC_ALL": locale})
            self.assertIn("sh -c read x " + wanted, terminal.screen.rows[-1])
            terminal.send("\n")
            self.assertEqual(terminal.end(), 0)


class FlowControl(Row):
    def test_stopped_terminal_holds_no_samples(self) -> None:
        terminal = self.start_row("sh", "-c", "read x; echo after")
        terminal.send("\x13")  # Ctrl-S
        terminal.wait_for_rows(self.series, 20)
        terminal.send("\x11")  # Ctrl-Q
        terminal.wait(has_status)
        terminal.send("\n")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(terminal.screen.rows[:3], ["", "after", ""])
        terminal.assert_restored(self)


if __name__ == "__main__":
    unittest.main(verbosity=2)
