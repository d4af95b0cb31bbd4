# SPDX-License-Identifier: MIT
"""A terminal emulator with a program in it."""
from __future__ import annotations

import copy
import errno
import fcntl
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from typing import Any, Callable, Dict, List, Optional, Sequence

from harness import skip
from rtrack_command import (PATIENCE_S, Case, Word, is_alive, read_proc, state_of, wait_until)

try:
    import pyte
    from wcwidth import wcwidth  # which pyte depends on
except ImportError:
    skip("python3-pyte is not installed")

ALTERNATE_SCREEN = 1049


class Screen(pyte.Screen):
    """What pyte lacks: the alternate screen, one saved cursor, resizing as xterm and tmux do, and
    when a character wraps."""

    def __init__(self, columns: int, rows: int, answer: Callable[[str], None]) -> None:
        self.answer = answer
        self.main: Any = None  # the rows and the cursor, while the alternate screen is shown
        super().__init__(columns, rows)

    def write_process_input(self, data: str) -> None:
        self.answer(data)

    def save_cursor(self) -> None:
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self) -> None:
        """Put the cursor where it was saved: also below the scroll region, or behind the last
        column, where the next character wraps (DECSC of a VT420, xterm)."""
        kept = copy.deepcopy(self.savepoints)
        margins, self.margins = self.margins, None
        super().restore_cursor()
        if kept:
            self.cursor.x = kept[-1].cursor.x
        self.margins, self.savepoints[:] = margins, kept

    def set_margins(self, top: Optional[int] = None, bottom: Optional[int] = None) -> None:
        if not top and not bottom:
            self.margins = None
            self.cursor_position()
        else:
            super().set_margins(top, bottom)

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        super().set_mode(*modes, **kwargs)
        if kwargs.get("private") and ALTERNATE_SCREEN in modes and self.main is None:
            self.main = copy.deepcopy((dict(self.buffer), self.cursor))
            self.erase_in_display(2)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and ALTERNATE_SCREEN in modes and self.main:
            self.buffer.clear()
            self.buffer.update(self.main[0])
            self.cursor, self.main = self.main[1], None

    def index(self) -> None:
        super().index()
        self.ensure_hbounds()  # The next character no longer wraps, as in xterm.

    def reverse_index(self) -> None:
        super().reverse_index()
        self.ensure_hbounds()

    def select_graphic_rendition(self, *attributes: int, **kwargs: Any) -> None:
        if not kwargs.get("private"):
            super().select_graphic_rendition(*attributes)

    def resize(self, lines: Optional[int] = None, columns: Optional[int] = None) -> None:
        """Drop rows below the cursor first, and then rows from the top."""
        rows = lines or self.lines
        from_top = max(0, self.cursor.y - (rows - 1))
        self.margins = None
        for _ in range(from_top):
            cursor = copy.copy(self.cursor)
            self.cursor.y = self.lines - 1
            self.index()
            self.cursor = cursor
            self.cursor.y -= 1
        for y in [y for y in self.buffer if y >= rows]:
            del self.buffer[y]
        self.lines = rows
        super().resize(rows, columns)
        self.margins = None

    @property
    def rows(self) -> List[str]:
        return [row.rstrip() for row in self.display]

    @property
    def has_whole_region(self) -> bool:
        return self.margins is None or tuple(self.margins) == (0, self.lines - 1)

    def picture(self, rows: int) -> Dict[str, Any]:
        """Return what a user sees in the first rows."""
        return {"rows": self.rows[:rows], "cursor": (self.cursor.y, self.cursor.x)}


def has_status(screen: Screen) -> bool:
    """Whether figures are in the last row."""
    return "process" in screen.rows[-1]


def shows(text: str) -> Callable[[Screen], bool]:
    """Whether a row has this text."""
    return lambda screen: any(text in row for row in screen.rows)


def rows_of(series: pathlib.Path) -> int:
    return series.read_bytes().count(b"\n") if series.exists() else 0


def descendants(pid: int) -> List[int]:
    """Return the process ids of the children of a process, and of theirs."""
    found = []
    for child in map(int, read_proc(pid, f"task/{pid}/children").split()):
        found += [child, *descendants(child)]
    return found


class Terminal:
    """A program that has a terminal of its own, on which its standard streams are.

    output holds all bytes that the terminal received."""

    def __init__(self, case: Case, argv: Sequence[Word], columns: int = 80, rows: int = 24,
                 **kwargs: Any) -> None:
        self.leader, follower = pty.openpty()
        case.addCleanup(self.close)
        self.output = b""
        self.screen = Screen(columns, rows, self.send)
        self.stream = pyte.ByteStream(self.screen)
        self.set_size()
        environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null",
                       "PS1": "$ "}
        environment.update(kwargs.pop("env", {}))
        for stream in ("stdin", "stdout", "stderr"):
            kwargs.setdefault(stream, follower)

        def take_terminal() -> None:
            fcntl.ioctl(follower, termios.TIOCSCTTY, 0)

        self.process = case.start(argv, env=environment, start_new_session=True,
                                  preexec_fn=take_terminal, **kwargs)
        os.close(follower)
        case.addCleanup(self.end_all)

    def end_all(self) -> None:
        """End what the program has started and left. E.g.: the jobs of a shell."""
        if self.process.poll() is not None:
            return
        for pid in self.process.pid, *descendants(self.process.pid):
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        if self.leader >= 0:
            os.close(self.leader)
        self.leader = -1

    def set_size(self) -> None:
        size = struct.pack("HHHH", self.screen.lines, self.screen.columns, 0, 0)
        fcntl.ioctl(self.leader, termios.TIOCSWINSZ, size)

    def size(self) -> List[int]:
        """Return the rows and columns that programs see."""
        return list(struct.unpack("HHHH", fcntl.ioctl(self.leader, termios.TIOCGWINSZ, b"\0" * 8)))

    def resize(self, rows: int, columns: int) -> None:
        self.screen.resize(rows, columns)
        self.set_size()

    def send(self, keys: str) -> None:
        os.write(self.leader, keys.encode())

    def resize_between_draws(self, rows: int, columns: int) -> None:
        """Resize while the program is stopped: a draw that is on its way has the old size."""
        self.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(self.process.pid) == "T")
        self.drain()
        self.resize(rows, columns)
        self.process.send_signal(signal.SIGCONT)

    def drain(self) -> None:
        """Show what has come so far."""
        while select.select([self.leader], [], [], 0)[0] and self.read():
            pass

    def is_cooked(self) -> bool:
        """Whether programs read lines. Full-screen programs switch that off."""
        return bool(termios.tcgetattr(self.leader)[3] & termios.ICANON)

    def read(self) -> bool:
        """Show what has come. Returns False once no process has the terminal open."""
        try:
            data = os.read(self.leader, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        self.output += data
        self.stream.feed(data)
        return True

    def wait(self, is_so: Callable[[Screen], Any]) -> None:
        """Read until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        is_open = True
        while not is_so(self.screen):
            if not is_open or time.monotonic() > end:
                raise AssertionError("not seen on the terminal:\n" + self.state())
            if select.select([self.leader], [], [], 0.02)[0]:
                is_open = self.read()

    def state(self) -> str:
        """Return the rows of the screen, and what the processes of the terminal do."""
        processes = (
            f"{pid} {state_of(pid)} {read_proc(pid, 'wchan')} {read_proc(pid, 'cmdline')!r}"
            for pid in (self.process.pid, *descendants(self.process.pid)))
        return "\n".join([*self.screen.rows, *processes])

    def wait_for_rows(self, series: pathlib.Path, count: int = 5) -> None:
        """Wait until so many more rows are written to a series, and show what came meanwhile."""
        wanted = rows_of(series) + count
        self.wait(lambda screen: rows_of(series) >= wanted)
        self.drain()

    def assert_restored(self, case: Case) -> None:
        """Nothing is left of a status row."""
        case.assertTrue(self.screen.has_whole_region)
        case.assertEqual(self.screen.rows[-1], "")
        case.assertEqual(self.size(), [self.screen.lines, self.screen.columns, 0, 0])

    def end(self) -> int:
        """Read to the end. Returns the exit status of the program."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if select.select([self.leader], [], [], 0.02)[0] and not self.read():
                return self.process.wait(timeout=PATIENCE_S)
        raise AssertionError("the program did not end:\n" + self.state())
