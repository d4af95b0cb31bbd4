# SPDX-License-Identifier: MIT
"""What is measured: processes that are started for it, and that are gone afterwards whatever happens."""
from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
from types import TracebackType
from typing import List, Optional, Type

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Members of a tree whose parent has gone come to us, so that we can wait for all of them."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_all() -> None:
    """Wait until there is no child left."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def children_of(pid: int) -> List[int]:
    return list(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


class Subject:
    """A running subject: subject.c has the kinds. Ended by the end of the with block, with all its members."""

    def __init__(self, program: pathlib.Path, kind: str, size: int) -> None:
        self.kind, self.size = kind, size
        self.process = subprocess.Popen([str(program), kind, str(size)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdin and self.process.stdout
        self.ask, self.told = self.process.stdin, self.process.stdout
        if self.told.readline() != b"ready\n":
            self.end()
            raise AssertionError(f"{kind} {size} did not start")

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
        self.ask.close()
        while self.told.read(65536):
            pass
        self.told.close()
        self.process.wait()
        reap_all()

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.end()
