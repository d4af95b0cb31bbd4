# SPDX-License-Identifier: MIT
"""Print each call of getrusage(2) that a command makes, with what the kernel returned.

Usage: trace_getrusage.py PROGRAM [ARGUMENT...]
       trace_getrusage.py --pid PID
"""
from __future__ import annotations

import errno
import os
import signal
import sys
from typing import List

import rtrack

SCOPES = {
    rtrack.RUSAGE_SELF: "RUSAGE_SELF",
    rtrack.RUSAGE_CHILDREN: "RUSAGE_CHILDREN",
    rtrack.RUSAGE_THREAD: "RUSAGE_THREAD",
}


def complain(text: str) -> None:
    """Print an error with the name of this program."""
    print(f"{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr)


def line_of(event: rtrack.TraceEvent) -> str:
    """Return one line for a call. A name may have any byte, so it is written as a literal."""
    scope = SCOPES.get(event.who, str(event.who))
    line = f"{event.comm!r}[{event.pid}] getrusage({scope})"
    if event.result < 0:
        return f"{line} = {errno.errorcode.get(-event.result, event.result)}"
    if event.rusage is None:  # it could not be read from the memory of the process
        return f"{line} = 0, unknown figures"
    used = event.rusage
    return (
        f"{line} = 0, {used.ru_utime:.6f} s user, {used.ru_stime:.6f} s system, "
        f"{used.ru_maxrss} KiB at most"
    )


def follow(trace: rtrack.Trace) -> int:
    """Print the calls until all traced processes have ended. Return the exit code."""
    for event in trace:
        print(line_of(event), file=sys.stderr)
    lost = trace.totals().lost
    if lost:
        complain(f"{lost} calls were lost")
    if trace.command is None:
        return 0
    outcome = trace.command.wait()
    return 128 + outcome.signal if outcome.signal else outcome.exit_code


def main(words: List[str]) -> int:
    """Trace a command, or a process that runs."""
    try:
        if words[0] == "--pid":
            with rtrack.Trace(pid=int(words[1])) as trace:
                return follow(trace)
        with rtrack.Trace(words) as trace:
            return follow(trace)
    except OSError as error:
        complain(error.strerror)
        return 125
    except KeyboardInterrupt:  # of a process that runs on
        return 128 + signal.SIGINT


if __name__ == "__main__":
    if len(sys.argv) < 2 or (
        sys.argv[1] == "--pid" and (len(sys.argv) != 3 or not sys.argv[2].isdigit())
    ):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
