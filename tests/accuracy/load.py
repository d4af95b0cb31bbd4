# SPDX-License-Identifier: MIT
"""Busy loops that take CPU time from the measured trees."""
from __future__ import annotations

import ctypes
import os
import signal
from typing import Callable, List

PR_SET_PDEATHSIG = 1


def start_busy_loop() -> int:
    """Return the pid of a child that works until it is killed, or until this process ends."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    while os.getppid() == parent:
        for _ in range(1000000):
            pass
    os._exit(0)


def run_beside_load(count: int, work: Callable[[], int]) -> int:
    """Call work while busy loops run, and return what it returns.

    Work then runs in a child of its own: it waits for all of its children, and the loops must not
    be among these."""
    if count == 0:
        return work()
    loops: List[int] = [start_busy_loop() for _ in range(count)]
    try:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = work()
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        for loop in loops:
            os.kill(loop, signal.SIGKILL)
            os.waitpid(loop, 0)
