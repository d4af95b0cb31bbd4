# SPDX-License-Identifier: MIT
"""The truth of a footprint, against programs that know what they map."""
from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
import unittest

from harness import BUILD, skip
from memory_judge import Memory, problems_of_truth
from memory_run import Bench, Running
from memory_trees import TREES, Tree
from runner import Skip, User
from stopped import stopped

MIB = 1 << 20
ROOT = User("root", 0, 0)
# Those of each part, and of each way to count a page twice or not at all.
CHECKED = ("huge", "zeros", "pool_4", "random", "four_times", "dev_shm_unmapped", "sysv", "file",
           "hugetlb", "vfork")


def count(bench: Bench, tree: Tree) -> Memory:
    with contextlib.ExitStack() as stack:
        stack.enter_context(tree.setting())
        place = stack.enter_context(bench.place(ROOT))
        running = Running(tree.make(place), place)
        stack.callback(running.end)
        running.await_ready()
        return bench.frames.count(stack.enter_context(stopped(running.pid)))


class FramesTest(unittest.TestCase):
    def test_frames_are_what_programs_map(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            bench = Bench(pathlib.Path(name), BUILD / "tests/accuracy")
            for tree in TREES:
                if tree.name in CHECKED:
                    with self.subTest(tree.name):
                        self.check(bench, tree)

    def check(self, bench: Bench, tree: Tree) -> None:
        try:
            memory = count(bench, tree)
        except Skip as reason:
            self.skipTest(str(reason))
        known = [mib * MIB for mib in tree.known or ()]
        self.assertEqual(list(problems_of_truth(memory, known, tree.more * MIB)), [])


if __name__ == "__main__":
    if os.getuid() != 0:
        skip("only root sees page frames")
    unittest.main()
