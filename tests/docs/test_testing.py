# SPDX-License-Identifier: MIT
"""Check that docs/reports/testing.md names a test for each case, and that these tests are run."""
import re
import sys
import unittest
from typing import List, Set, Tuple

from harness import SOURCE

sys.path.insert(0, str(SOURCE / "tests/accuracy"))
import workloads  # pylint: disable=wrong-import-position

TEXT = (SOURCE / "docs/reports/testing.md").read_text()
CASES = 64
# The library reads no file with these, so there is nothing to test.
WITHOUT_TEST = {48}


def rows_of_cases() -> List[Tuple[int, List[str]]]:
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]*) \|$", TEXT, re.MULTILINE)
    return [(int(number), re.findall(r"`(\w+)`", names)) for number, names in rows]


def tests_in_c() -> Set[str]:
    """Names of the tests that a suite adds: one that is only defined is not run."""
    names: Set[str] = set()
    for path in (SOURCE / "tests").rglob("*.c"):
        text = path.read_text()
        added = " ".join(re.findall(r"\btcase_add_\w+\([^;]*;", text))
        names |= set(re.findall(r"START_TEST\((\w+)\)", text)) & set(re.findall(r"\w+", added))
    return names


def tests_in_python() -> Set[str]:
    names: Set[str] = set()
    for path in (SOURCE / "tests").rglob("test_*.py"):
        names |= set(re.findall(r"^    def (test_\w+)\(", path.read_text(), re.MULTILINE))
    return names


def accuracy_workloads() -> Set[str]:
    groups = [value for value in vars(workloads).values() if isinstance(value, tuple)]
    return {item.name for group in groups for item in group
            if isinstance(item, workloads.Workload)}


class Cases(unittest.TestCase):
    def test_each_case_has_tests(self) -> None:
        rows = rows_of_cases()
        self.assertEqual([number for number, _ in rows], list(range(1, CASES + 1)))
        self.assertEqual({number for number, names in rows if not names}, WITHOUT_TEST)

    def test_named_tests_exist(self) -> None:
        known = tests_in_c() | tests_in_python() | accuracy_workloads()
        for number, names in rows_of_cases():
            with self.subTest(case=number):
                self.assertEqual(set(names) - known, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
