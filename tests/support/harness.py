# SPDX-License-Identifier: MIT
"""Shared by the Python tests: paths, running programs, skipping with a reason."""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any, NoReturn, Sequence

SOURCE = pathlib.Path(os.environ["RTRACK_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["RTRACK_BUILD_ROOT"])
HEADER = SOURCE / "include/rtrack/rtrack.h"
MESON_SKIP = 77


def _protocol(header: str, name: str) -> str:
    """Return the number of the protocol between the library and a program of it."""
    found = re.search(rf'#define {name} "(\d+)"', (SOURCE / "lib/os/protocol" / header).read_text())
    assert found
    return found[1]


# The names of their files.
SUPERVISOR = "rtrack-supervisor-" + _protocol("supervisor_protocol.h", "RTI_PROTOCOL")
TRACER = "rtrack-tracer-" + _protocol("tracer_protocol.h", "RTI_TRACER_PROTOCOL")


def skip(why: str) -> NoReturn:
    """End this test as skipped, with a reason."""
    print("SKIP:", why)
    sys.exit(MESON_SKIP)


def need(*programs: str) -> None:
    """Skip this test unless all these programs are installed."""
    for program in programs:
        if not shutil.which(program):
            skip(f"{program} is not installed")


def run(argv: Sequence[Any], **kwargs: Any) -> str:
    """Run a program that must succeed, and return its standard output.

    Raises AssertionError with all output if the exit status is not 0."""
    words = [str(word) for word in argv]
    done: subprocess.CompletedProcess[str]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **kwargs)
    if done.returncode != 0:
        raise AssertionError(
            f"{' '.join(words)} returned {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout
