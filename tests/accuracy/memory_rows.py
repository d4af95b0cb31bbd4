# SPDX-License-Identifier: MIT
"""Samples of stopped trees, against the page frames that they map."""
from __future__ import annotations

import contextlib
import time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from figures import Figure
from memory_judge import NEEDED, PARTS, Memory, problems_of_row, problems_of_truth, reading_in
from memory_run import Finding, Follower, Part, Running
from memory_trees import QUICK_NAMES, TREES, Place, Tree
from report import error_of, percent
from rule import Truth
from runner import User
from stopped import stopped

MIB = 1 << 20
# The tracker has some samples before the first moment, and between two.
PAUSE_S = 0.35


class Moment(NamedTuple):
    """A stopped tree: what it mapped, and the sample that was taken of it."""

    truth: Memory
    processes: int
    row: Dict[str, Any]


def error_text(figure: Figure, moment: Moment, truth: Truth) -> str:
    value = reading_in(figure, moment.row).value
    return "unknown" if value is None else percent(error_of(value, truth))


class RowPart(Part):
    name = "rows"
    title = "Samples of stopped trees"
    head = ("tree", "processes", "truth, MiB", "anon, shmem, file, hugetlb", "error, %", "mark",
            "needed, %")

    def names(self) -> List[str]:
        return [tree.name for tree in TREES if not self.is_quick or tree.name in QUICK_NAMES]

    def start_stranger(self, tree: Tree, place: Place, words: Sequence[str],
                       stack: contextlib.ExitStack) -> None:
        """Start the same program outside of the tree. It maps the same files."""
        if tree.moves:  # it writes files
            place = stack.enter_context(self.bench.place(place.user))
            words = tree.make(place)
        stranger = Running(words, place)
        stack.callback(stranger.end, not tree.moves)
        if not tree.moves:
            stranger.await_ready()

    def look(self, running: Running, follower: Follower) -> Optional[Moment]:
        """Return None if the tree has ended."""
        with stopped(running.pid) as members:
            if not members:
                return None
            return Moment(self.bench.frames.count(members), len(members), follower.sample())

    def moments(self, tree: Tree, user: User, owner: User) -> List[Moment]:
        found: List[Moment] = []
        with contextlib.ExitStack() as stack:
            stack.enter_context(tree.setting())
            place = stack.enter_context(self.bench.place(owner))
            words = tree.make(place)
            for _ in range(tree.strangers):
                self.start_stranger(tree, place, words, stack)
            running = Running(words, place)
            stack.callback(running.end, not tree.moves)
            follower = Follower(self.bench.programs, user, running.pid)
            stack.callback(follower.close)
            if not tree.moves:
                running.await_ready()
            while len(found) < (1 if self.is_quick else tree.moments):
                time.sleep(PAUSE_S)
                moment = self.look(running, follower)
                if moment is None:
                    break
                found.append(moment)
        return found

    def problems(self, tree: Tree, moment: Moment) -> List[str]:
        known = [mib * MIB for mib in tree.known or ()]
        return [*problems_of_truth(moment.truth, known, tree.more * MIB),
                *problems_of_row(moment.row, moment.truth, int(tree.freed * MIB), tree.bound,
                                 self.figure)]

    def measure(self, name: str, user: User, run_as: Sequence[User]) -> Finding:
        tree = next(tree for tree in TREES if tree.name == name)
        owner = next((one for one in run_as if one.name == tree.user), user)
        moments = self.moments(tree, user, owner)
        if not moments:
            return Finding(user.name, [tree.what], ["it ended before it was measured"])
        problems = [problem for moment in moments for problem in self.problems(tree, moment)]
        return Finding(user.name, self.cells(tree, max(moments, key=self.distance)), problems)

    def distance(self, moment: Moment) -> float:
        true = moment.truth.footprint
        return abs((reading_in(self.figure, moment.row).value or 0) - true) / max(true, 1)

    def cells(self, tree: Tree, moment: Moment) -> List[str]:
        truth = moment.truth
        whole = Truth(truth.footprint, truth.footprint)
        needed = Truth(truth.needed - tree.freed * MIB, truth.needed)
        return [f"{tree.what} (`{tree}`)", str(moment.processes), f"{truth.footprint / MIB:.1f}",
                ", ".join(f"{getattr(truth, part) / MIB:.1f}" for part in PARTS),
                error_text(self.figure, moment, whole),
                reading_in(self.figure, moment.row).mark, error_text(NEEDED, moment, needed)]
