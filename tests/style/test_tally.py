# SPDX-License-Identifier: MIT
"""The last lines of tests/run.sh: no failed test may be missing there, and each has its reason."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from harness import SOURCE

TAP = """1..4
# A suite
ok 1 - good
# cpu_seconds: below the truth
not ok 2 - bad
ok 3 - left out # SKIP no root
"""

# One test of libcheck with three inputs, and one that is skipped for one of two.
INPUTS = """ok 1 - test_x.c:core:loop: Passed
not ok 2 - test_x.c:core:loop: test_x.c:9: Assertion 'a == b' failed
not ok 3 - test_x.c:core:loop: test_x.c:9: Assertion 'a == b' failed
ok 4 - test_x.c:core:other: Passed # SKIP no root
ok 5 - test_x.c:core:other: Passed
ok 6 - test_x.c:core:last: Passed
ok 7 - test_x.c:core:last: Passed
"""

UNITTEST = """test_good (x.Case) ... ok
test_absent (x.Case) ... skipped 'no root'
======================================================================
FAIL: test_bad (x.Case)
What it shows.
----------------------------------------------------------------------
Traceback (most recent call last):
  File "x.py", line 3, in test_bad
AssertionError: 
3 != 4 : of the tree

======================================================================
ERROR: test_slow (x.Case)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "x.py", line 9, in test_slow
subprocess.TimeoutExpired: it took long

----------------------------------------------------------------------
Ran 4 tests in 0.1s

FAILED (failures=1, errors=1)
"""


class Tally(unittest.TestCase):
    def tally(self, name: str, text: str) -> "subprocess.CompletedProcess[str]":
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / name
            path.write_text(text)
            return subprocess.run(
                [sys.executable, SOURCE / "tests/support/tally.py", f"plain={path}"],
                stdout=subprocess.PIPE, check=False, encoding="utf-8")

    def tally_of_meson(self, **more: Any) -> "subprocess.CompletedProcess[str]":
        record = {"name": "x", "result": "FAIL", "returncode": 1, "stdout": "", "stderr": "",
                  **more}
        return self.tally("log.json", json.dumps(record) + "\n")

    def test_failed_tap_test_has_its_comments(self) -> None:
        done = self.tally("log.tap", TAP)
        self.assertEqual(done.stdout.splitlines(), [
            "SKIP plain: left out: no root",
            "FAIL plain: bad: cpu_seconds: below the truth",
            "FAIL plain: a test did not report",
            "1 passed, 2 failed, 1 skipped"])
        self.assertEqual(done.returncode, 1)

    def test_test_with_several_inputs_counts_once(self) -> None:
        done = self.tally("log.tap", INPUTS + "1..7\n")
        self.assertEqual(done.stdout.splitlines(), [
            "SKIP plain: test_x.c:core:other: no root",
            "FAIL plain: test_x.c:core:loop: test_x.c:9: Assertion 'a == b' failed",
            "1 passed, 1 failed, 1 skipped"])

    def test_reason_is_listed_once(self) -> None:
        lines = "".join(f"ok {number} - {number} # SKIP no root\n" for number in (1, 2, 3))
        done = self.tally("log.tap", lines + "ok 4 - 4\n1..4\n")
        self.assertEqual(done.stdout.splitlines(),
                         ["SKIP plain: 1 and 2 more: no root", "1 passed, 0 failed, 3 skipped"])

    def test_input_that_did_not_report_is_a_failure(self) -> None:
        """A crash between two inputs of a test leaves the lines of the inputs before."""
        passed = "ok 1 - test_x.c:core:loop: Passed\n"
        done = self.tally("log.tap", f"{passed}1..3\n")
        self.assertEqual(done.stdout.splitlines(),
                         ["FAIL plain: a test did not report", "1 passed, 1 failed, 0 skipped"])
        done = self.tally_of_meson(stdout=passed, returncode=-6)
        self.assertEqual(done.stdout.splitlines(), ["FAIL plain: x: FAIL, exit status -6",
                                                    "0 passed, 1 failed, 0 skipped"])

    def test_failed_unittest_has_its_exception(self) -> None:
        done = self.tally_of_meson(stderr=UNITTEST)
        self.assertEqual(done.stdout.splitlines(), [
            "SKIP plain: x: test_absent (x.Case): no root",
            "FAIL plain: x: test_bad (x.Case): AssertionError: 3 != 4 : of the tree",
            "FAIL plain: x: test_slow (x.Case): subprocess.TimeoutExpired: it took long",
            "1 passed, 2 failed, 1 skipped"])

    def test_program_that_crashed_counts_as_failed(self) -> None:
        done = self.tally_of_meson(returncode=-11)
        self.assertIn("FAIL plain: x: FAIL, exit status -11\n0 passed, 1 failed", done.stdout)

    def test_nothing_passed_is_a_failure(self) -> None:
        self.assertEqual(self.tally("log.tap", "1..0\n").returncode, 1)


if __name__ == "__main__":
    unittest.main()
