# SPDX-License-Identifier: MIT
"""The judge must be able to fail: a right summary passes, and each of its mutants is found."""
from __future__ import annotations

import json
import pathlib
import tempfile
import unittest
from typing import Any, Dict, List

from groups import Use
from judge import problems
from rule import Truth
from runner import Phase, Result, read_report
from tools import Rtrack
from workloads import Workload, workload

MIB = 1 << 20
SECOND_NS = 1000000000

# Of a pool of 12 children that share 200 MiB, as rtrack writes it.
SUMMARY: Dict[str, Any] = {
    "cpu_user_seconds": 0.4, "cpu_system_seconds": 0.1, "cpu_seconds": 0.5,
    "peak_rss_bytes": 201 * MIB, "peak_footprint_bytes": 202 * MIB, "peak_tree_kind": "footprint",
    "peak_tree_low_bytes": 201 * MIB, "peak_tree_high_bytes": 2613 * MIB,
    "read_bytes": 0, "write_bytes": 8 * MIB, "minor_faults": 53010, "voluntary_switches": 40,
    "processes": 13, "processes_exact": True, "left_running": 0,
    "accounting": {"level": "wait", "complete": True, "reasons": [], "cpu_seconds_low": 0.5,
                   "cpu_seconds_high": 0.52},
    "partial": [],
}
KNOWN = {
    "peak_rss_bytes": Truth(200 * MIB, 201 * MIB),
    "peak_footprint_bytes": Truth(200 * MIB, 203 * MIB),
    "write_bytes": Truth(8 * MIB, 8 * MIB), "minor_faults": Truth(53000, 53064),
    "voluntary_switches": Truth(38, 46),
}
POOL = workload("a pool", "pool", ("200 12 800 share", 13), ("40 6 300 share", 7), kind="pool")
DAEMON = workload("a daemon", "daemon", "300 0 1500", "100 0 500", leaves_running=True)
PHASE = Phase(10 * SECOND_NS, 11 * SECOND_NS, KNOWN["peak_footprint_bytes"])


def row(at_s: float, **figures: Any) -> Dict[str, Any]:
    return {"monotonic_seconds": at_s, "footprint_bytes": 201 * MIB, "partial": [], **figures}


def among(*rows: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Return them with a row before and after, in the same phase."""
    return [row(10.01), *rows, row(10.99)]


def judge(of: Workload = POOL, rows: Any = (), **mutated: Any) -> List[str]:
    """Return the problems of the summary with other values, without their numbers."""
    accounting = {**SUMMARY["accounting"], **mutated.pop("accounting", {})}
    text = json.dumps({**SUMMARY, **mutated, "accounting": accounting})
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory, "out")
        out.write_text(text)
        figures = Rtrack(pathlib.Path("rtrack"), "wait").read(out)
    use = Use(0.5, 0.4, 0.1)
    result = Result(of, "wait", "root", use, use, KNOWN, [PHASE], figures, rows)
    return [": ".join(problem.split(": ")[:2]) for problem in problems(result)]


class SummaryTest(unittest.TestCase):
    def test_right_summary_passes(self) -> None:
        self.assertEqual(judge(), [])

    def test_cpu_0_91_percent_too_low_is_found(self) -> None:
        lost = {"cpu_seconds": 0.49545, "cpu_user_seconds": 0.39545}
        found = judge(**lost, accounting={"cpu_seconds_low": 0.49545})
        self.assertIn("cpu_seconds: below the truth, and valid", found)
        self.assertIn("marked complete, but CPU time is missing: 0.49545, reasons [], "
                      "truth 0.500000", found)

    def test_cpu_0_2_percent_too_high_is_found(self) -> None:
        found = judge(cpu_seconds=0.501, cpu_user_seconds=0.401)
        self.assertEqual(found, ["cpu_seconds: above the truth, and valid"])
        found = judge(cpu_seconds=0.501, cpu_user_seconds=0.401, partial=["cpu"],
                      accounting={"complete": False, "reasons": ["unwaited"]})
        self.assertEqual(found, ["cpu_seconds: above the truth, and partial"])

    def test_0_bytes_are_found(self) -> None:
        self.assertEqual(judge(write_bytes=0), ["write_bytes: below the truth, and valid"])
        self.assertEqual(judge(write_bytes=0, partial=["io"]), [])
        self.assertEqual(judge(write_bytes=None, partial=["io"]), [])

    def test_peaks_of_4096_are_found(self) -> None:
        self.assertEqual(judge(peak_rss_bytes=4096), ["peak_rss_bytes: below the truth, and valid"])
        self.assertEqual(judge(peak_footprint_bytes=4096, peak_tree_low_bytes=4096),
                         ["peak_footprint_bytes: below the truth, and valid"])

    def test_bytes_1_percent_faults_and_switches_0_2_percent_too_high_are_found(self) -> None:
        for name, value in (("write_bytes", 8 * MIB * 1.01), ("minor_faults", 53171),
                            ("voluntary_switches", 47)):
            self.assertEqual(judge(**{name: value}), [f"{name}: above the truth, and valid"])

    def test_sum_of_rss_is_found(self) -> None:
        found = judge(peak_footprint_bytes=2600 * MIB, peak_tree_kind="rss")
        self.assertEqual(found, ["peak_footprint_bytes: above the truth, and valid"])

    def test_estimated_tree_is_judged_by_its_share(self) -> None:
        for mark in ("peak_footprint", "peak_footprint_bytes"):
            self.assertEqual(judge(peak_footprint_bytes=208 * MIB, estimated=[mark]), [])
        self.assertEqual(judge(peak_footprint_bytes=211 * MIB, estimated=["peak_footprint"]),
                         ["peak_footprint_bytes: estimated, but more than 3 % off"])

    def test_peak_of_cgroup_may_have_page_cache(self) -> None:
        self.assertEqual(judge(peak_footprint_bytes=300 * MIB, peak_tree_kind="cgroup"), [])

    def test_value_below_its_lower_bound_is_found(self) -> None:
        self.assertEqual(judge(peak_tree_low_bytes=203 * MIB),
                         ["peak_footprint_bytes: the value is below its own lower bound"])

    def test_upper_bound_below_the_truth_is_found(self) -> None:
        found = judge(cpu_seconds=0.1, cpu_user_seconds=0, partial=["cpu"],
                      accounting={"complete": False, "cpu_seconds_low": 0.1,
                                  "cpu_seconds_high": 0.2})
        self.assertEqual(found, ["cpu_seconds: the upper bound is below the truth"])

    def test_missing_process_is_found(self) -> None:
        self.assertEqual(judge(processes=12), ["processes: below the truth, and valid"])
        self.assertEqual(judge(processes=12, partial=["processes"]), [])
        self.assertEqual(judge(processes=14, partial=["processes"]),
                         ["processes: above the truth, and partial"])

    def test_value_in_no_list_is_found(self) -> None:
        names = ["cpu", "peak_rss", "peak_footprint", "io", "faults", "processes"]
        self.assertEqual(judge(valid=names),
                         ["voluntary_switches: neither valid, partial nor estimated"])
        self.assertEqual(judge(valid=[*names, "context_switches"]), [])

    def test_two_marks_are_found(self) -> None:
        self.assertEqual(judge(partial=["io"], estimated=["io"]), ["io has more than one mark"])

    def test_parts_that_do_not_add_up_are_found(self) -> None:
        self.assertEqual(len(judge(cpu_user_seconds=0.39)), 1)

    def test_error_bound_that_does_not_hold_is_found(self) -> None:
        lost = {"cpu_seconds": 0.4, "cpu_user_seconds": 0.3, "partial": ["cpu"]}
        accounting = {"complete": False, "cpu_seconds_low": 0.4}
        self.assertEqual(judge(**lost, accounting={**accounting, "error_bound_seconds": 0.1}), [])
        self.assertEqual(len(judge(**lost, accounting={
            **accounting, "error_bound_seconds": 0.05})), 1)

    def test_error_bound_lacks_what_no_account_has(self) -> None:
        accounting = {"error_bound_seconds": 0.0}
        self.assertEqual(judge(cpu_seconds=0.4998, cpu_user_seconds=0.3998,
                               accounting={**accounting, "cpu_seconds_low": 0.4998}), [])
        self.assertEqual(len(judge(cpu_seconds=0.5002, cpu_user_seconds=0.4002,
                                   accounting=accounting)), 1)

    def test_complete_with_a_process_left_running_is_found(self) -> None:
        self.assertIn("marked complete although a process was left running", judge(DAEMON))


class SeriesTest(unittest.TestCase):
    def test_right_rows_pass(self) -> None:
        self.assertEqual(judge(rows=among(row(10.1), row(10.5, footprint_bytes=204 * MIB))), [])

    def test_row_outside_the_phase_is_not_judged(self) -> None:
        rows = [row(at_s, footprint_bytes=0) for at_s in (9.99, 10.1)] + [row(10.95)] + \
            [row(at_s, footprint_bytes=0) for at_s in (10.98, 11.01)]
        self.assertEqual(judge(rows=rows), [])

    def test_wrong_row_is_found(self) -> None:
        for mib in (195, 208):
            rows = among(row(10.1), row(10.5, footprint_bytes=mib * MIB))
            self.assertEqual(len(judge(rows=rows)), 1)

    def test_estimated_row_is_judged_by_its_share(self) -> None:
        marked = {"estimated": ["footprint_bytes"], "footprint_low_bytes": 100 * MIB}
        self.assertEqual(judge(rows=among(row(10.1, footprint_bytes=208 * MIB, **marked))), [])
        self.assertEqual(len(judge(rows=among(row(10.1, footprint_bytes=211 * MIB, **marked)))), 1)

    def test_row_below_its_lower_bound_is_found(self) -> None:
        self.assertEqual(len(judge(rows=among(row(10.1, footprint_low_bytes=202 * MIB)))), 1)


class ReportTest(unittest.TestCase):
    def test_values_and_phases_are_parsed(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "reported")
            path.write_text("phase 1 2 30 40\nwrite_bytes 5 5\n")
            known, phases = read_report(path)
        self.assertEqual(known, {"write_bytes": Truth(5, 5)})
        self.assertEqual(phases, [Phase(1, 2, Truth(30, 40))])


if __name__ == "__main__":
    unittest.main()
