# SPDX-License-Identifier: MIT
"""Tests of rtrack run in a terminal in which the command writes.

Without --live, the terminal must look as it does without rtrack. With --live, the command must look
as it does in a terminal of one row less."""
import pathlib
import shutil
import unittest
from typing import Any, Callable, Dict, List, Sequence, Tuple

from emulator import Screen, Terminal, has_status, shows
from rtrack_command import PYTHON, RTRACK, Case

# Waits until the screen fulfils a condition, then presses keys.
Step = Tuple[Callable[[Screen], Any], str]
Pictures = List[Dict[str, Any]]

RUN = [RTRACK, "run", "--summary", "none", "-i", "0.02"]
CHINESE = "资源使用情况统计测试输出一二三四五六七八九十"


def prompts(text: str) -> Callable[[Screen], bool]:
    """Whether the line of the cursor is this text."""
    return lambda screen: screen.rows[screen.cursor.y] == text


class Program:
    """A shell script that uses the terminal, and what a user does with it.

    At last, the user answers a question: until then, the script runs."""

    def __init__(self, script: str, *steps: Step, is_exact: bool = True, **kwargs: Any) -> None:
        self.argv = ["bash", "-c", script + "; read -p 'end? ' x"]
        self.steps = [*steps, (prompts("end?"), "\n")]
        self.is_exact = is_exact
        self.kwargs = kwargs

    def play(self, case: Case, prefix: Sequence[str] = (), rows: int = 24,
             is_live: bool = False) -> Tuple[Pictures, Terminal]:
        """Run it. Returns what the terminal showed before each key and at the end, without the
        status row."""
        terminal = Terminal(case, [*prefix, *self.argv], rows=rows, **self.kwargs)
        pictures = []
        for is_so, keys in self.steps:
            terminal.wait(is_so)
            if is_live and terminal.is_cooked():
                self.wait_for_draws(terminal)
            pictures.append(terminal.screen.picture(rows - is_live))
            terminal.send(keys)
        case.assertEqual(terminal.end(), 0)
        pictures.append(terminal.screen.picture(rows - is_live))
        return pictures, terminal

    @staticmethod
    def wait_for_draws(terminal: Terminal) -> None:
        """Wait until the status row is drawn twice."""
        for _ in range(2):
            before = terminal.screen.rows[-1]
            terminal.wait(lambda screen: has_status(screen) and screen.rows[-1] != before)


class Beside(Case):
    """Each test has a program that is run without rtrack, with it, and with --live."""
    maxDiff = None

    def compare(self, program: Program) -> None:
        with self.subTest("without --live"):
            wanted, plain = program.play(self)
            found, measured = program.play(self, RUN)
            self.assertEqual(found, wanted)
            if program.is_exact:
                self.assertEqual(measured.output, plain.output)
        with self.subTest("--live"):
            wanted, _ = program.play(self, rows=23)
            found, measured = program.play(self, [*RUN, "--live"], is_live=True)
            self.assertEqual(found, wanted)
            measured.assert_restored(self)

    def file_of_lines(self) -> pathlib.Path:
        path = self.dir / "lines"
        path.write_text("".join(f"line {i}\n" for i in range(1, 101)))
        return path

    def need(self, program: str) -> None:
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def test_password_prompt_stays(self) -> None:
        script = "read -s -p 'Password: ' x; echo; echo got $x; read -s -p 'Again: ' y; echo $y"
        self.compare(
            Program(script, (prompts("Password:"), "secret\n"), (prompts("Again:"), "more\n")))

    def test_progress_bar_with_carriage_returns_stays(self) -> None:
        code = self.dir / "bar.py"
        code.write_text("""
import sys, time
for i in range(61):
    print("\\r[" + "#" * i + "." * (60 - i) + f"] {i}/60", end="", flush=True)
    if i == 30:
        input()
print()
""")
        half = "[" + "#" * 30 + "." * 30 + "] 30/60"
        self.compare(Program(f"stty -echo; {PYTHON} {code}; stty echo", (prompts(half), "\n")))

    def test_text_of_full_width_wraps_as_ever(self) -> None:
        """The cursor waits behind the last column while the row is drawn."""
        digits = "0123456789" * 8
        script = f"stty -echo; printf {digits}; read x; printf '{digits}next\\n'; read x; stty echo"
        self.compare(
            Program(script, (lambda screen: screen.cursor.x == 80, "\n"),
                    (lambda screen: screen.rows[2] == "next", "\n")))

    def test_lines_of_make_scroll(self) -> None:
        self.need("make")
        makefile = self.dir / "Makefile"
        names = " ".join(f"step{i}" for i in range(40))
        makefile.write_text(f"all: {names}\n{names}:\n\t@echo CC $@\n\t@sleep 0.005\n")
        self.compare(Program(f"make -f {makefile}"))

    def test_wide_characters_stay(self) -> None:
        script = (f"printf '%s ' {CHINESE} {CHINESE} {CHINESE}; read x; "
                  f"for i in $(seq 30); do echo $i {CHINESE}; sleep 0.005; done")
        self.compare(Program(script, (lambda screen: screen.cursor.y == 1, "\n")))

    def test_colours_stay(self) -> None:
        program = Program(r"printf '\033[1;31mred'; read x; printf ' red\033[0m plain\n'",
                          (prompts("red"), "\n"))
        self.compare(program)
        _, terminal = program.play(self, [*RUN, "--live"], is_live=True)
        colours = [terminal.screen.buffer[y][x].fg for y, x in ((0, 0), (1, 1), (1, 6))]
        self.assertEqual(colours, ["red", "red", "default"])

    def test_child_that_prints_in_background_scrolls(self) -> None:
        self.compare(
            Program("(for i in $(seq 40); do echo $i; sleep 0.01; done) & read x; wait",
                    (lambda screen: "40" in screen.rows[:-1], "\n")))

    def test_less_fills_its_screen(self) -> None:
        self.need("less")
        path = self.file_of_lines()
        # The first prompt is the name of the file.
        steps: List[Step] = [(lambda screen: str(path) in screen.rows[screen.cursor.y], "j")]
        for keys, first in (("j", "line 2"), (" ", "line 3"), ("q", "")):
            steps.append((self.less_shows(first), keys))
        self.compare(
            Program(f"less {path}; echo done", *steps,
                    env={"LESS": "", "LESSOPEN": "", "LESSHISTFILE": "-"}))

    @staticmethod
    def less_shows(first: str) -> Callable[[Screen], bool]:
        """Whether less shows this line first, and its prompt last."""
        return lambda screen: screen.rows[0].startswith(first) and prompts(":")(screen)

    def test_vim_fills_its_screen(self) -> None:
        vim = "vim.tiny" if shutil.which("vim.tiny") else "vim"
        self.need(vim)
        steps: List[Step] = [
            (lambda screen: shows("100L")(screen) and shows("line 22")(screen) and screen.cursor.y
             == 0, "30G"),
            (prompts("line 30"), "otyped\x1bG"), (prompts("line 100"), "30G"),
            (lambda screen: shows("typed")(screen) and prompts("line 30")(screen), ":q!\r")]
        script = f"{vim} -u NONE -N -n {self.file_of_lines()}; echo done"
        self.compare(Program(script, *steps, is_exact=False))


if __name__ == "__main__":
    unittest.main(verbosity=2)
