# SPDX-License-Identifier: MIT
"""The figures of a summary that are judged: their names, their marks, and what they resolve."""
from __future__ import annotations

import math
import os
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

from rule import ESTIMATED, PARTIAL, UNMARKED, VALID, Limits, Reading
from tools import Figures

PAGE = os.sysconf("SC_PAGE_SIZE")
CPUS = os.sysconf("SC_NPROCESSORS_CONF")

# The kernel counts resident pages on each CPU and adds them up in batches, for file-backed and for
# anonymous memory apart (percpu_counter_batch, since 6.2): a peak may lack so much.
RSS_RESOLUTION = 2 * CPUS * max(32, 2 * CPUS) * PAGE

# The accounts that the truth is made of are rounded to microseconds. The launcher reads two of them
# one after the other.
CPU_RESOLUTION_S = 20e-6
# A process is accounted for in whole microseconds, and its parent may reap it on another CPU before
# it has left its own for the last time. E.g.: up to 6 us of each of 300 children on a busy system.
UNACCOUNTED_OF_PROCESS_S = 6e-6
# The same for the root, and for a few short threads.
UNACCOUNTED_S = 200e-6

# A file system may write a little of its own in the name of a process. E.g.: ext4 wrote 11 pages
# for two files of 8 MiB, where free space was scattered.
IO_RESOLUTION = 16 * PAGE

# How much an estimate of the memory of a tree may be off. No file says which pages of shared memory
# two processes have both touched, so there the bounds alone count.
ESTIMATES = {"pool": 0.03, "shared": math.inf, "other": 0.15}


class Figure(NamedTuple):
    name: str
    # Other names under which the lists of marks may have it. E.g.: its domain.
    domains: Sequence[str]
    resolution: float = 0
    # The names of its bounds.
    low: str = ""
    high: str = ""


FIGURES = (
    Figure("cpu_seconds", ("cpu",), CPU_RESOLUTION_S, "cpu_seconds_low", "cpu_seconds_high"),
    Figure("peak_rss_bytes", ("peak_rss",), RSS_RESOLUTION),
    Figure("peak_footprint_bytes", ("peak_footprint",), RSS_RESOLUTION,
           "peak_tree_low_bytes", "peak_tree_high_bytes"),
    Figure("read_bytes", ("io",), IO_RESOLUTION),
    Figure("write_bytes", ("io",), IO_RESOLUTION),
    Figure("minor_faults", ("faults",)),
    Figure("voluntary_switches", ("context_switches", "ctxsw")),
    Figure("processes", ()),
)


def figure_named(name: str) -> Figure:
    return next(figure for figure in FIGURES if figure.name == name)


def mark_in(names: Sequence[str], lists: Sequence[Tuple[str, Optional[Sequence[str]]]]) -> str:
    """Return the mark of the list that has one of the names. A valid list that is absent has all
    that the other lists lack."""
    for mark, marked in lists:
        if marked is not None and set(names) & set(marked):
            return mark
    return VALID if dict(lists)[VALID] is None else UNMARKED


def reading_of(figure: Figure, figures: Figures) -> Reading:
    lists = ((ESTIMATED, figures.estimated), (PARTIAL, figures.partial), (VALID, figures.valid))
    return Reading(getattr(figures, figure.name),
                   mark_in((figure.name, *figure.domains), lists),
                   getattr(figures, figure.low) if figure.low else None,
                   getattr(figures, figure.high) if figure.high else None)


def limits_of(figure: Figure, kind: str, processes: int) -> Limits:
    unaccounted = 0.0
    if figure.name == "cpu_seconds":
        unaccounted = UNACCOUNTED_S + UNACCOUNTED_OF_PROCESS_S * processes
    return Limits(figure.resolution, unaccounted, estimate=ESTIMATES[kind])


def marked_twice(figures: Figures) -> Iterator[str]:
    """Yield the names that are in more than one list of marks."""
    lists: List[Sequence[str]] = [figures.estimated, figures.partial, figures.valid or ()]
    names = [name for marked in lists for name in set(marked)]
    yield from sorted({name for name in names if names.count(name) > 1})
