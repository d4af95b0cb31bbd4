# SPDX-License-Identifier: MIT
"""The judge of a footprint must be able to fail: a right row passes, and its mutants are found."""
from __future__ import annotations

import unittest
from typing import Any, Dict, List

from memory_judge import (STAND_INS, Memory, problems_of_order, problems_of_row,
                          problems_of_spread, problems_of_truth)

MIB = 1 << 20
BOUND = 0.03
TRUTH = Memory(anon=100 * MIB, shmem=50 * MIB, file=40 * MIB, hugetlb=10 * MIB, swap=20 * MIB)
PSS, RSS = STAND_INS
# Of a tree that maps so much, as follower.py prints it.
ROW: Dict[str, Any] = {
    "footprint_bytes": 200 * MIB, "footprint_low_bytes": 180 * MIB,
    "footprint_high_bytes": 220 * MIB, "needed_bytes": 160 * MIB, "needed_low_bytes": 150 * MIB,
    "needed_high_bytes": 170 * MIB, "footprint_anon_bytes": 100 * MIB,
    "footprint_shmem_bytes": 50 * MIB, "footprint_file_bytes": 40 * MIB,
    "footprint_hugetlb_bytes": 10 * MIB, "swap_bytes": 20 * MIB, "pss_bytes": 150 * MIB,
    "rss_bytes": 700 * MIB,
}


def found(mark: str = "estimated", freed: int = 0, **mutated: Any) -> List[str]:
    row = {**ROW, **mutated}
    row["marks"] = {name: mark for name in row}
    return [": ".join(problem.split(": ")[:2])
            for problem in problems_of_row(row, TRUTH, freed, BOUND)]


class RowTest(unittest.TestCase):
    def test_right_row_passes_with_any_mark(self) -> None:
        for mark in ("estimated", "partial", "valid"):
            self.assertEqual(found(mark), [])

    def test_estimate_within_the_bound_passes(self) -> None:
        self.assertEqual(found(footprint_bytes=205 * MIB, needed_bytes=156 * MIB), [])

    def test_estimate_beyond_the_bound_is_found(self) -> None:
        for mib in (193, 207):
            self.assertEqual(found(footprint_bytes=mib * MIB),
                             ["footprint_bytes: estimated, but more than 3 % off"])

    def test_valid_row_one_percent_off_is_found(self) -> None:
        self.assertEqual(found("valid", footprint_bytes=202 * MIB),
                         ["footprint_bytes: above the truth, and valid"])

    def test_lower_bound_far_below_the_truth_is_found(self) -> None:
        self.assertEqual(found("partial", footprint_bytes=181 * MIB),
                         ["footprint_bytes: more than 3 % off, and partial"])

    def test_bounds_that_do_not_hold_the_truth_are_found(self) -> None:
        self.assertEqual(found(footprint_bytes=203 * MIB, footprint_low_bytes=202 * MIB),
                         ["footprint_bytes: the lower bound is above the truth"])
        self.assertEqual(found(footprint_bytes=197 * MIB, footprint_high_bytes=198 * MIB),
                         ["footprint_bytes: the upper bound is below the truth"])

    def test_missing_figures_are_found(self) -> None:
        self.assertEqual(found(footprint_bytes=None), ["footprint_bytes: unknown"])
        self.assertEqual(found(needed_bytes=None), ["needed_bytes: unknown"])
        self.assertEqual(found(footprint_hugetlb_bytes=None),
                         ["footprint_hugetlb_bytes: None, truth 10485760"])

    def test_unmarked_figure_is_found(self) -> None:
        self.assertIn("footprint_bytes: neither valid, partial nor estimated", found("unmarked"))

    def test_swap_counted_twice_is_found(self) -> None:
        self.assertEqual(found(swap_bytes=40 * MIB), ["swap_bytes: 41943040, truth 20971520"])

    def test_files_counted_as_anonymous_are_found(self) -> None:
        self.assertEqual(
            found(footprint_anon_bytes=140 * MIB, footprint_file_bytes=0),
            ["footprint_anon_bytes: 146800640, truth 104857600",
             "footprint_file_bytes: 0, truth 41943040"])

    def test_files_in_needed_are_found(self) -> None:
        self.assertEqual(found(needed_bytes=200 * MIB, needed_high_bytes=None),
                         ["needed_bytes: estimated, but more than 3 % off"])

    def test_lazily_freed_memory_may_be_needed_or_not(self) -> None:
        for mib in (131, 145, 159):
            self.assertEqual(found(freed=30 * MIB, needed_bytes=mib * MIB,
                                   needed_low_bytes=130 * MIB), [])
        self.assertEqual(found(freed=30 * MIB, needed_bytes=120 * MIB, needed_low_bytes=None),
                         ["needed_bytes: estimated, but more than 3 % off"])

    def test_sums_that_count_otherwise_are_found(self) -> None:
        for figure in (PSS, RSS):
            row = {**ROW, "marks": {"pss_bytes": "estimated", "rss_bytes": "valid"}}
            self.assertNotEqual(list(problems_of_row(row, TRUTH, 0, BOUND, figure)), [])


class TruthTest(unittest.TestCase):
    KNOWN = (100 * MIB, 50 * MIB, 39 * MIB, 10 * MIB, 20 * MIB)

    def test_right_truth_passes(self) -> None:
        self.assertEqual(list(problems_of_truth(TRUTH, self.KNOWN, 2 * MIB)), [])

    def test_wrong_parts_are_found(self) -> None:
        for part in ("anon", "shmem", "file", "hugetlb", "swap"):
            for mib in (-2, 4):
                wrong = TRUTH._replace(**{part: getattr(TRUTH, part) + mib * MIB})
                self.assertEqual(len(list(problems_of_truth(wrong, self.KNOWN, 2 * MIB))), 1)


class SeriesTest(unittest.TestCase):
    def test_spread(self) -> None:
        self.assertEqual(list(problems_of_spread("name", [100, 102, 103], 0.03)), [])
        self.assertEqual(list(problems_of_spread("name", [100, 104], 0.03)),
                         ["name: 100 to 104, 4.0 % apart"])
        self.assertEqual(list(problems_of_spread("name", [], 0.03)), ["name: unknown"])

    def test_peak_that_falls_is_found(self) -> None:
        self.assertEqual(list(problems_of_order("peak", [1, 2, 2, 3])), [])
        self.assertEqual(list(problems_of_order("peak", [1, 3, 2])), ["peak falls: 3 to 2"])


if __name__ == "__main__":
    unittest.main()
