# SPDX-License-Identifier: MIT
"""Peaks of the footprint: of memory that is held for a moment, of workers that map and unmap memory
all the time, and of one program again and again."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from figures import Figure, figure_named, mark_in
from memory_judge import (FOOTPRINT, Memory, problems_of_bytes, problems_of_order,
                          problems_of_spread, reading_in)
from memory_run import Bench, Finding, Follower, Part, Ran, Running, run_rtrack
from memory_trees import PANDAS, Place, find, mapped_file, need_module, python
from report import error_of, percent
from rule import ESTIMATED, PARTIAL, VALID, Reading, Truth
from runner import Skip, User
from stopped import stopped

MIB = 1 << 20
BOUND = 0.05
HOLD_MS = 200
POLL_S = 0.05
PEAK = Figure("peak_footprint_bytes", ("peak_footprint",), 0, "peak_footprint_low_bytes",
              "peak_footprint_high_bytes")
# By the figure that stands in for the footprint.
PEAKS = {
    FOOTPRINT.name: PEAK,
    "pss_bytes": Figure("peak_tree_pss_bytes", ("pss",)),
    "rss_bytes": Figure("peak_tree_rss_bytes", ("rss",)),
}

Make = Callable[[Place], Sequence[str]]


def mapper(*words: object) -> Make:
    return lambda place: place.mapper(*words)


class Spike(NamedTuple):
    name: str
    what: str
    make: Make


SPIKES = (
    Spike("anon", "private memory", mapper("anon", 100)),
    Spike("pool", "4 forked workers, half written", mapper("written", 100, 4)),
    Spike("shared", "4 children touch one block of shared memory", mapper("shared", 100, 4)),
    Spike("random", "8 children touch random halves of it", mapper("random", 100, 8)),
    Spike("four_times", "one block, mapped four times by one process", mapper("four", 100)),
    Spike("file", "a large file, mapped by 3 processes", mapped_file(100, 2)),
    Spike("vfork", "a child in vfork(2)", mapper("vfork", 100)),
)


def in_shell(words: Sequence[str]) -> List[str]:
    """A shell runs the command once it has been followed, and outlives it."""
    return ["/bin/sh", "-c", 'read line; "$@"; echo done; read line', "sh", *words]


def truth_of(bench: Bench, make: Make, user: User, has_shell: bool) -> Memory:
    """Return what the tree maps while it holds its memory, as long as it is asked to."""
    with bench.place(user) as place, contextlib.ExitStack() as stack:
        words = make(place)
        running = Running(in_shell(words) if has_shell else words, place)
        stack.callback(running.end)
        if has_shell:
            running.say()
        running.await_ready()
        with stopped(running.pid) as members:
            return bench.frames.count(members)


def reading_of_summary(summary: Dict[str, Any], peak: Figure) -> Reading:
    peak = figure_named(peak.name) if peak is PEAK else peak  # its bounds have names of their own
    lists = ((ESTIMATED, summary.get("estimated", ())), (PARTIAL, summary.get("partial", ())),
             (VALID, summary.get("valid")))
    return Reading(summary.get(peak.name), mark_in((peak.name, *peak.domains), lists),
                   summary.get(peak.low), summary.get(peak.high))


def problems_of_peaks(ran: Ran, peak: Figure) -> Iterator[str]:
    """A peak rises from row to row, and up to the summary."""
    peaks = [row[peak.name] for row in ran.rows if row.get(peak.name) is not None]
    last = ran.summary.get(peak.name)
    if not peaks:
        yield f"{peak.name}: in no row"
    yield from problems_of_order(peak.name, peaks + ([last] if last is not None else []))


def problems_of_end(ran: Ran) -> Iterator[str]:
    if ran.code != 0:
        yield f"exit code {ran.code}: {(ran.errors.splitlines() or [''])[-1]}"


class PeakPart(Part):
    name = "peaks"
    title = f"Peaks of memory that is held for {HOLD_MS} ms"
    head = ("tree", "by", "truth, MiB", "error, %", "mark")

    def names(self) -> List[str]:
        return [f"{spike.name} {by}" for spike in SPIKES for by in ("tracker", "command")]

    def measure(self, name: str, user: User, run_as: Sequence[User]) -> Finding:
        spike_name, by = name.split()
        spike = next(spike for spike in SPIKES if spike.name == spike_name)
        truth = truth_of(self.bench, spike.make, user, by == "tracker").footprint
        more: List[str] = []
        peak = PEAKS[self.figure.name]
        with self.bench.place(user) as place:
            if by == "tracker":
                reading = self.by_tracker(spike, place, user)
            else:
                ran = run_rtrack(place, ["-i", "0.1"], spike.make(place),
                                 {"MAPPER_HOLD_MS": str(HOLD_MS)})
                reading = reading_of_summary(ran.summary, peak)
                more = [*problems_of_end(ran), *problems_of_peaks(ran, peak)]
        exact = Truth(truth, truth)
        problems = [*problems_of_bytes(peak.name, reading, exact, BOUND, truth), *more]
        error = "unknown" if reading.value is None else percent(error_of(reading.value, exact))
        return Finding(user.name, [f"{spike.what} (`{spike.name}`)", by, f"{truth / MIB:.1f}",
                                   error, reading.mark], problems)

    def by_tracker(self, spike: Spike, place: Place, user: User) -> Reading:
        """Follow the tree with polls alone."""
        words = ["/usr/bin/env", f"MAPPER_HOLD_MS={HOLD_MS}", *spike.make(place)]
        with contextlib.ExitStack() as stack:
            running = Running(in_shell(words), place)
            stack.callback(running.end)
            follower = Follower(self.bench.programs, user, running.pid, 1000, POLL_S)
            stack.callback(follower.close)
            running.say()
            running.await_line("done")
            row = follower.sample()
        return reading_in(PEAKS[self.figure.name], row)


class ChurnPart(Part):
    """Memory that is mapped, touched and unmapped again must not add up."""

    name = "churn"
    title = "Workers that map and unmap 2 MiB all the time"
    head = ("interval, s", "truth, MiB", "largest row, MiB", "peak, MiB")
    MIB, WORKERS, CHURN_MIB, MOST = 200, 4, 2, 1.1
    HOLD_MS = 5000

    def names(self) -> List[str]:
        return ["0.1", "1"]

    def measure(self, name: str, user: User, run_as: Sequence[User]) -> Finding:
        make, peak = mapper("churn", self.MIB, self.WORKERS), PEAKS[self.figure.name]
        # At most all workers hold their memory.
        least = truth_of(self.bench, mapper("anon", self.MIB), user, False).footprint
        truth = least + self.WORKERS * (self.CHURN_MIB * MIB + MIB // 8)
        with self.bench.place(user) as place:
            ran = run_rtrack(place, ["-i", name], make(place),
                             {"MAPPER_HOLD_MS": str(self.HOLD_MS)})
        rows = [row[self.figure.name] for row in ran.rows
                if row.get(self.figure.name) is not None]
        value_of_peak = reading_of_summary(ran.summary, peak).value
        problems = [*problems_of_end(ran), *problems_of_peaks(ran, peak)]
        for what, value in (("a row", max(rows, default=None)), ("the peak", value_of_peak)):
            if value is None:
                problems.append(f"{what}: unknown")
            elif not least * 0.97 <= value <= truth * self.MOST:
                problems.append(f"{what}: {value / truth:.2f} of the truth")
        return Finding(user.name, [name, f"{truth / MIB:.1f}", f"{max(rows, default=0) / MIB:.1f}",
                                   f"{(value_of_peak or 0) / MIB:.1f}"], problems)


C_FILE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	char *text = malloc(100);
	snprintf(text, 100, "%d %s", argc, argv[0]);
	for (size_t i = 0; i < strlen(text); i++)
		putchar(text[i]);
	free(text);
	return 0;
}
"""


def make_gcc(place: Place) -> Sequence[str]:
    return [find("gcc"), "-O2", "-c", "-o", str(place.directory / "out.o"),
            str(place.write("one.c", C_FILE))]


def again_and_again(words: Sequence[str]) -> List[str]:
    """Until the input ends. The command is one that ends soon."""
    loop = 'echo ready; (while :; do "$@" </dev/null >/dev/null; done) & loop=$!; '
    return ["/bin/sh", "-c", loop + "read line; kill $loop; wait", "sh", *words]


class StabilityPart(Part):
    """Two runs of one program agree, whatever runs beside them."""

    name = "stability"
    title = "The peak of one program, alone and beside eight strangers"
    head = ("program", "runs", "alone, MiB", "beside, MiB", "apart, %")
    RUNS, STRANGERS, MOST = 20, 8, 0.03
    # The words of the program, and whether it stays until its input ends.
    PROGRAMS: Dict[str, Tuple[Make, bool]] = {
        "gcc": (make_gcc, False),
        "pandas": (need_module("pandas", python(PANDAS)), True),
    }

    def names(self) -> List[str]:
        return list(self.PROGRAMS)

    def peaks(self, make: Make, user: User) -> List[float]:
        found, peak = [], PEAKS[self.figure.name]
        for _ in range(self.repeat or self.RUNS):
            with self.bench.place(user) as place:
                ran = run_rtrack(place, [], make(place))
            for problem in problems_of_end(ran):
                raise Skip(problem)
            found.append(reading_of_summary(ran.summary, peak).value or 0)
        return found

    def measure(self, name: str, user: User, run_as: Sequence[User]) -> Finding:
        make, stays = self.PROGRAMS[name]
        alone = self.peaks(make, user)
        with contextlib.ExitStack() as stack:
            for _ in range(self.STRANGERS):
                place = stack.enter_context(self.bench.place(user))
                words = make(place)
                stranger = Running(words if stays else again_and_again(words), place)
                stack.callback(stranger.end)
                stranger.await_ready()
            beside = self.peaks(make, user)
        every = alone + beside
        apart = max(every) / max(min(every), 1) - 1
        return Finding(user.name, [name, str(len(every)), between(alone), between(beside),
                                   f"{100 * apart:.1f}"],
                       list(problems_of_spread(f"peak of {name}", every, self.MOST)))


def between(values: Sequence[float]) -> str:
    return f"{min(values) / MIB:.1f} to {max(values) / MIB:.1f}"
