# SPDX-License-Identifier: MIT
"""The measured processes. They are started for the measurement, and always ended after it."""
from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
from types import TracebackType
from typing import List, Optional, Type

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become a subreaper, so that this process can wait for every member of a tree."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_all() -> None:
    """Wait until this process has no child."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def children_of(pid: int) -> List[int]:
    return list(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


class NotStarted(AssertionError):
    """The processes could not be started. E.g.: there may not be so many."""


class Subject:
    """A running subject; see subject.c for the kinds. The end of the with block ends it."""

    running = 0
    """How many there are. The last one reaps what they have left."""

    def __init__(self, program: pathlib.Path, kind: str, size: int) -> None:
        self.kind, self.size = kind, size
        Subject.running += 1
        self.process = subprocess.Popen([str(program), kind, str(size)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdin and self.process.stdout
        self.requests, self.replies = self.process.stdin, self.process.stdout
        if self.replies.readline() != b"ready\n":
            self.end()
            raise NotStarted(f"{kind} {size} did not start")

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def processes(self) -> int:
        return self.size if self.kind == "tree" else 1

    def members(self) -> List[int]:
        found = [self.pid]
        for pid in found:
            found += children_of(pid)
        return found

    def end(self) -> None:
        self.requests.close()
        while self.replies.read(65536):
            pass
        self.replies.close()
        self.process.wait()
        Subject.running -= 1
        if not Subject.running:
            reap_all()

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.end()
