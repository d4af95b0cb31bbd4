# SPDX-License-Identifier: MIT
"""Running rtrack and reading what it wrote."""
from __future__ import annotations

import csv
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
from typing import Any, Callable, Dict, List, Sequence, Union

from harness import BUILD

# A shell that starts us in the background has these ignored, and so would all be that we start.
for number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

RTRACK = str(BUILD / "examples/rtrack/rtrack")
PYTHON = sys.executable
# Ends a test that hangs. No test may come near it, even on a machine that is many times overloaded.
PATIENCE_S = 100
Word = Union[str, bytes, pathlib.Path]
Row = Dict[str, Any]


def rtrack(*words: Word, **kwargs: Any) -> "subprocess.CompletedProcess[str]":
    """Run it to its end. Standard output and error are kept unless told otherwise."""
    for stream in ("stdout", "stderr"):
        kwargs.setdefault(stream, subprocess.PIPE)
    kwargs.setdefault("timeout", PATIENCE_S)
    return subprocess.run([RTRACK, *words], text=True, **kwargs)


def python(code: str) -> List[str]:
    """The words of a command that runs this code."""
    return [PYTHON, "-I", "-c", code]


def busy(seconds: float) -> str:
    """Code that uses so much CPU time, not wall time."""
    return f"import time\nwhile time.process_time() < {seconds}: pass"


def until_rows(path: Word, lines: str = "lines_of_series() + 2") -> str:
    """Code that runs until the series at path has so many lines: by default, two more than when the
    code begins. The second of these was sampled after that, however slow the machine. E.g.: hold
    memory, run this, let go: the second line shows the memory."""
    return f"""
import os, time
def lines_of_series():
    return open({str(path)!r}, "rb").read().count(b"\\n") if os.path.exists({str(path)!r}) else 0
lines_wanted, patience_ends = {lines}, time.monotonic() + {PATIENCE_S}
while lines_of_series() < lines_wanted and time.monotonic() < patience_ends:
    time.sleep(0.005)
"""


def meminfo() -> Dict[str, int]:
    """The kernel's own figures of memory, in KiB."""
    text = pathlib.Path("/proc/meminfo").read_text()
    return {name: int(kib) for name, kib in re.findall(r"^(\S+):\s+(\d+)", text, re.MULTILINE)}


def voluntary_switches(pid: int) -> int:
    """How often the main thread of a process has gone to sleep by itself."""
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", read_proc(pid, "status"), re.MULTILINE)[1])


def read_terminal(leader: int, is_enough: Callable[[bytes], Any] = lambda said: False) -> bytes:
    """What is written to the other end, until it is enough or that end is closed."""
    said = b""
    while not is_enough(said):
        try:
            said += os.read(leader, 4096)
        except OSError:
            break
    return said


def wait_until(is_so: Callable[[], Any], seconds: float = PATIENCE_S) -> Any:
    """Look again and again, and give what was found at last."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")


def read_csv(path: Word) -> List[Row]:
    """The rows with numbers as numbers. An unknown cell is None."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file, quoting=csv.QUOTE_NONNUMERIC))
    return [{name: None if cell == "" else cell for name, cell in row.items()} for row in rows]


def read_jsonl(path: Word) -> List[Row]:
    with open(path) as file:
        return [json.loads(line) for line in file]


class Case(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="rtrack-test-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def summary(self, *words: Word, **kwargs: Any) -> Row:
        """Run it and give its summary in JSON. words begin with the subcommand."""
        path = self.dir / "summary.json"
        done = rtrack(words[0], "--summary", "json", "--summary-file", path, *words[1:], **kwargs)
        self.assertEqual(done.stderr, "")
        return json.loads(path.read_text())

    def start(self, argv: Sequence[Word], **kwargs: Any) -> "subprocess.Popen[Any]":
        """Start a process that is ended with the test at the latest."""
        process = subprocess.Popen(argv, **kwargs)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process: "subprocess.Popen[Any]") -> None:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()


def state_of(pid: int) -> str:
    """The letter of its state, or nothing when it has ended."""
    return read_proc(pid, "stat").rpartition(")")[2].strip()[:1]


def is_alive(pid: int) -> bool:
    """Zombies are not."""
    return state_of(pid) not in ("", "Z", "X")


def read_proc(pid: int, name: str) -> str:
    """A file of a process, or nothing when it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def commands_of(pid: int) -> List[int]:
    """What this rtrack has started, whether there is a supervisor in between or not."""
    found: List[int] = []
    for child in map(int, read_proc(pid, f"task/{pid}/children").split()):
        found += commands_of(child) if "rtrack-supervisor" in read_proc(child, "cmdline") else [child]
    return found


def in_locale(name: str, **more: str) -> Dict[str, str]:
    """The environment with another locale."""
    return {**os.environ, "LC_ALL": name, **more}
