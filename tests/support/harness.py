# SPDX-License-Identifier: MIT
"""What the tests in Python share: where things are, running programs, skipping with a reason."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any, NoReturn, Sequence

SOURCE = pathlib.Path(os.environ["RTRACK_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["RTRACK_BUILD_ROOT"])
HEADER = SOURCE / "include/rtrack/rtrack.h"
MESON_SKIP = 77


def skip(why: str) -> NoReturn:
    """End this test as skipped."""
    print("SKIP:", why)
    sys.exit(MESON_SKIP)


def need(*programs: str) -> None:
    """Skip unless all these programs are here."""
    for program in programs:
        if not shutil.which(program):
            skip(f"no {program} here")


def run(argv: Sequence[Any], **kwargs: Any) -> str:
    """Standard output of a program that must succeed; what it said otherwise is the failure."""
    words = [str(word) for word in argv]
    done: subprocess.CompletedProcess[str]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)} gave {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout
