# SPDX-License-Identifier: MIT
"""The rule for one figure: wrong figures are found, and right ones are let through."""
from __future__ import annotations

import unittest
from typing import List

from rule import ESTIMATED, PARTIAL, UNMARKED, VALID, Limits, Reading, Truth, problems_of_figure

MIB = 1 << 20
ONE_SECOND = Truth(1.0, 1.0)
CPU = Limits(resolution=0.0003)
POOL = Truth(200 * MIB, 203 * MIB)
MEMORY = Limits(resolution=512 * 1024, estimate=0.03)


def found(reading: Reading, truth: Truth = ONE_SECOND, limits: Limits = CPU) -> List[str]:
    return [problem.split(": ")[1]
            for problem in problems_of_figure("figure", reading, truth, limits)]


class ValidTest(unittest.TestCase):
    def test_exact_passes(self) -> None:
        self.assertEqual(found(Reading(1.0)), [])

    def test_within_tolerance_and_resolution_passes(self) -> None:
        self.assertEqual(found(Reading(0.9988)), [])
        self.assertEqual(found(Reading(1.0012)), [])

    def test_what_no_account_has_may_be_missing_and_not_be_added(self) -> None:
        limits = CPU._replace(unaccounted=0.01)
        self.assertEqual(found(Reading(0.99), ONE_SECOND, limits), [])
        self.assertEqual(found(Reading(0.988), ONE_SECOND, limits), ["below the truth, and valid"])
        self.assertEqual(found(Reading(1.002), ONE_SECOND, limits), ["above the truth, and valid"])

    def test_cpu_0_91_percent_too_low_is_found(self) -> None:
        self.assertEqual(found(Reading(0.9909)), ["below the truth, and valid"])

    def test_cpu_0_2_percent_too_high_is_found(self) -> None:
        self.assertEqual(found(Reading(1.002)), ["above the truth, and valid"])

    def test_0_bytes_of_8_mib_is_found(self) -> None:
        written = Truth(8 * MIB, 8 * MIB)
        self.assertEqual(found(Reading(0), written, Limits(16384)), ["below the truth, and valid"])

    def test_peak_of_4096_is_found(self) -> None:
        self.assertEqual(found(Reading(4096), POOL, MEMORY), ["below the truth, and valid"])

    def test_anywhere_between_two_truths_passes(self) -> None:
        for mib in (200, 201, 203):
            self.assertEqual(found(Reading(mib * MIB), POOL, MEMORY), [])

    def test_shared_memory_counted_12_times_is_found(self) -> None:
        self.assertEqual(found(Reading(2400 * MIB), POOL, MEMORY), ["above the truth, and valid"])


class MarkTest(unittest.TestCase):
    def test_partial_too_low_passes(self) -> None:
        self.assertEqual(found(Reading(0.1, PARTIAL)), [])

    def test_partial_0_2_percent_too_high_is_found(self) -> None:
        self.assertEqual(found(Reading(1.002, PARTIAL)), ["above the truth, and partial"])

    def test_estimated_within_its_share_passes(self) -> None:
        for mib in (195, 208):
            self.assertEqual(found(Reading(mib * MIB, ESTIMATED), POOL, MEMORY), [])

    def test_estimated_beyond_its_share_is_found(self) -> None:
        for mib in (193, 211):
            self.assertEqual(found(Reading(mib * MIB, ESTIMATED), POOL, MEMORY),
                             ["estimated, but more than 3 % off"])

    def test_without_mark_is_found(self) -> None:
        self.assertEqual(found(Reading(1.0, UNMARKED)), ["neither valid, partial nor estimated"])

    def test_unknown_passes(self) -> None:
        for mark in (VALID, UNMARKED):
            self.assertEqual(found(Reading(None, mark)), [])

    def test_negative_is_found(self) -> None:
        self.assertEqual(found(Reading(-1, PARTIAL)), ["negative"])


class BoundsTest(unittest.TestCase):
    def test_bounds_around_value_and_truth_pass(self) -> None:
        for mark in (VALID, PARTIAL, ESTIMATED):
            self.assertEqual(found(Reading(1.0, mark, 0.9, 1.1)), [])

    def test_value_below_its_lower_bound_is_found(self) -> None:
        self.assertEqual(found(Reading(0.9, PARTIAL, low=0.95)),
                         ["the value is below its own lower bound"])

    def test_value_above_its_upper_bound_is_found(self) -> None:
        self.assertEqual(found(Reading(1.1, ESTIMATED, high=1.05)),
                         ["the value is above its own upper bound"])

    def test_lower_bound_above_truth_is_found(self) -> None:
        self.assertEqual(found(Reading(1.1, ESTIMATED, low=1.01)),
                         ["the lower bound is above the truth"])

    def test_upper_bound_below_truth_is_found(self) -> None:
        self.assertEqual(found(Reading(0.9, PARTIAL, high=0.95)),
                         ["the upper bound is below the truth"])

    def test_bounds_of_unknown_value_are_judged(self) -> None:
        self.assertEqual(found(Reading(None, low=1.01)), ["the lower bound is above the truth"])

    def test_value_outside_its_bounds_is_found_without_truth(self) -> None:
        problems = list(problems_of_figure("peak", Reading(1.2, low=3.3), None, CPU))
        self.assertEqual(problems, ["peak: the value is below its own lower bound: "
                                    "1.200000 valid in [3.300000, unknown]"])


if __name__ == "__main__":
    unittest.main()
