# SPDX-License-Identifier: MIT
"""Run examples/quickstart.sh in another directory, and check its exit status and output."""
import csv
import os
import re
import subprocess
import tempfile
import unittest

from harness import SOURCE

TIME_LIMIT = 900


class Quickstart(unittest.TestCase):
    def test_quickstart_in_other_directory_writes_series(self) -> None:
        with tempfile.TemporaryDirectory() as elsewhere:
            done = subprocess.run([SOURCE / "examples/quickstart.sh"], cwd=elsewhere,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  check=False, timeout=TIME_LIMIT)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(os.listdir(elsewhere), [])
        with (SOURCE / "build/quickstart.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 5)
        self.assertGreater(max(float(row["cores_used"]) for row in rows), 0)
        self.assertGreater(max(int(row["processes"]) for row in rows), 1)
        picture = re.findall(r"^ +\d+\.\d +\d+\.\d\d #", done.stdout, re.MULTILINE)
        self.assertGreater(len(picture), 3, done.stdout)
        self.assertIn("<svg ", (SOURCE / "build/quickstart.svg").read_text())
        # Its job is a release build of this project.
        self.assertNotIn("warning:", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
