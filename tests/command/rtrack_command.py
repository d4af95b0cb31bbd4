# SPDX-License-Identifier: MIT
"""Run rtrack and read what it wrote."""
from __future__ import annotations

import csv
import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from typing import Any, Callable, Dict, List, Sequence, Union

from harness import BUILD

# A shell that starts this program in the background ignores the first two, and nohup the third.
# Child processes inherit that. So set the default action.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

RTRACK = str(BUILD / "examples/rtrack/rtrack")
PYTHON = sys.executable
# Ends a test that hangs. No test may take this long, even on a heavily overloaded system.
PATIENCE_S = 100
Word = Union[str, bytes, pathlib.Path]
Row = Dict[str, Any]


def rtrack(*words: Word, **kwargs: Any) -> "subprocess.CompletedProcess[str]":
    """Run rtrack until it exits. Captures standard output and error by default."""
    for stream in ("stdout", "stderr"):
        kwargs.setdefault(stream, subprocess.PIPE)
    kwargs.setdefault("timeout", PATIENCE_S)
    return subprocess.run([RTRACK, *words], text=True, **kwargs)


def timed_out(*words: Word, **kwargs: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command until --timeout, which leaves a busy system the time to execute it."""
    for timeout_s in ("0.2", "3", "48"):
        done = rtrack("run", "--timeout", timeout_s, *words, **kwargs)
        if "was not executed within" not in done.stderr:
            break
    return done


def python(code: str) -> List[str]:
    """Return the words of a command that runs this Python code."""
    return [PYTHON, "-I", "-c", code]


def busy(seconds: float) -> str:
    """Return Python code that uses this much CPU time (not wall time)."""
    return f"import time\nwhile time.process_time() < {seconds}: pass"


def until_rows(path: Word, lines: str = "max(lines_of_series(), 1) + 2") -> str:
    """Return Python code that runs until the series at path has a number of lines.

    The default is two more lines than when the code begins. The second of these was sampled
    after that, however slow the system is. The head may come with the first row, so it counts as
    there. E.g.: allocate memory, run this, free the memory:
    the second line shows the memory."""
    return f"""
import os, time
def lines_of_series():
    return open({str(path)!r}, "rb").read().count(b"\\n") if os.path.exists({str(path)!r}) else 0
lines_wanted, patience_ends = {lines}, time.monotonic() + {PATIENCE_S}
while lines_of_series() < lines_wanted and time.monotonic() < patience_ends:
    time.sleep(0.005)
"""


def has_gpu() -> bool:
    """Return whether this machine has a GPU, as far as its devices show."""
    signs = ("/dev/nvidiactl", "/proc/driver/nvidia", "/dev/kfd", "/dev/dxg")
    return any(map(os.path.exists, signs)) or bool(glob.glob("/sys/class/drm/renderD*"))


def meminfo() -> Dict[str, int]:
    """Return the fields of /proc/meminfo in KiB."""
    text = pathlib.Path("/proc/meminfo").read_text()
    return {name: int(kib) for name, kib in re.findall(r"^(\S+):\s+(\d+)", text, re.MULTILINE)}


def voluntary_switches(pid: int) -> int:
    """Return the number of voluntary context switches of the main thread of a process."""
    status = read_proc(pid, "status")
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)[1])


def read_terminal(leader: int, is_enough: Callable[[bytes], Any] = lambda output: False) -> bytes:
    """Read from a terminal until is_enough(output) holds or the other end is closed."""
    output = b""
    while not is_enough(output):
        try:
            output += os.read(leader, 4096)
        except OSError:
            break
    return output


def wait_until(is_so: Callable[[], Any], seconds: float = PATIENCE_S) -> Any:
    """Call is_so until it returns a true value, and return that value. Fails after some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("the condition did not become true in time")


def read_csv(path: Word) -> List[Row]:
    """Return the rows of a CSV of numbers, with unknown cells as None."""
    with open(path, newline="") as file:
        return [{name: read_cell(cell) for name, cell in row.items()}
                for row in csv.DictReader(file)]


def read_cell(cell: str) -> Any:
    for number in (int, float):
        try:
            return number(cell)
        except ValueError:
            pass
    return cell or None


def read_jsonl(path: Word) -> List[Row]:
    with open(path) as file:
        return [json.loads(line) for line in file]


class Case(unittest.TestCase):
    """A test with a temporary directory."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="rtrack-test-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def set_supervisor(self, which: str) -> None:
        """Whether rtrack run has a supervisor: "separate", or "self" if it can do without one.

        Without this, the suite decides. It runs both ways."""
        patch = unittest.mock.patch.dict(os.environ, {"RTRACK_SUPERVISOR": which})
        patch.start()
        self.addCleanup(patch.stop)

    def summary(self, *words: Word, **kwargs: Any) -> Row:
        """Run rtrack and return its JSON summary. words begin with the subcommand."""
        path = self.dir / "summary.json"
        done = rtrack(words[0], "--summary", "json", "--summary-file", path, *words[1:], **kwargs)
        # On an overloaded system, samples are missed, and a note says so.
        missed = r"rtrack: \d+ of \d+ samples were missed: .*\n"
        self.assertEqual(re.sub(missed, "", done.stderr), "")
        return json.loads(path.read_text())

    def start(self, argv: Sequence[Word], **kwargs: Any) -> "subprocess.Popen[Any]":
        """Start a process. The end of the test kills it if it still runs."""
        process = subprocess.Popen(argv, **kwargs)
        self.addCleanup(self.end, process)
        return process

    def start_before_timeout(self, start: "Callable[..., subprocess.Popen[Any]]",
                             is_ready: Callable[[], bool]) -> "subprocess.Popen[Any]":
        """Start a command that is ready long before its --timeout, on a busy system, too."""
        for timeout_s in (3, 12, 48):
            began = time.monotonic()
            process = start("--timeout", str(timeout_s))
            wait_until(lambda: process.poll() is not None or is_ready())
            if time.monotonic() - began < timeout_s / 2:
                return process
            process.wait(timeout=PATIENCE_S)
        self.fail(f"the command is not ready within {timeout_s / 2} s")

    @staticmethod
    def end(process: "subprocess.Popen[Any]") -> None:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


def state_of(pid: int) -> str:
    """Return the state letter of a process, or "" if it has been reaped."""
    return read_proc(pid, "stat").rpartition(")")[2].strip()[:1]


def is_alive(pid: int) -> bool:
    """Whether a process runs. A zombie does not."""
    return state_of(pid) not in ("", "Z", "X")


def read_proc(pid: int, name: str) -> str:
    """Read a file of a process. Returns "" if the process has been reaped."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def commands_of(pid: int) -> List[int]:
    """Return the pids of the commands of an rtrack process, with or without a supervisor.

    A child with the command line of its parent has not executed its own program yet. It may still
    become a supervisor.
    """
    found: List[int] = []
    own = read_proc(pid, "cmdline")
    for child in map(int, read_proc(pid, f"task/{pid}/children").split()):
        command_line = read_proc(child, "cmdline")
        if "rtrack-supervisor" in command_line:
            found += commands_of(child)
        elif command_line not in ("", own):
            found.append(child)
    return found


def in_locale(name: str, **more: str) -> Dict[str, str]:
    """Return the environment with another locale."""
    return {**os.environ, "LC_ALL": name, **more}
