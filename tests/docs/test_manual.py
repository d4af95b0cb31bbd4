# SPDX-License-Identifier: MIT
"""Check that mandoc has no warnings for rtrack(1)."""
import unittest

from harness import SOURCE, need, run


class Manual(unittest.TestCase):
    def test_manual_has_no_mandoc_warnings(self) -> None:
        self.assertEqual(run(["mandoc", "-T", "lint", "-W", "warning", SOURCE / "docs/rtrack.1"]),
                         "")


if __name__ == "__main__":
    need("mandoc")
    unittest.main(verbosity=2)
