# SPDX-License-Identifier: MIT
"""mandoc has nothing to say about rtrack(1)."""
import unittest

from harness import SOURCE, need, run


class Manual(unittest.TestCase):
    def test_is_clean(self) -> None:
        self.assertEqual(run(["mandoc", "-T", "lint", "-W", "warning", SOURCE / "docs/rtrack.1"]), "")


if __name__ == "__main__":
    need("mandoc")
    unittest.main(verbosity=2)
