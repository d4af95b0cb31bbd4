# SPDX-License-Identifier: MIT
"""Compare the ABI of the built library with the recorded ABI of every release.

Only new names and additions at the end of sized structs are allowed."""
import pathlib
import platform
import subprocess
import sys
import unittest

from harness import SOURCE, need, run, skip

LIBRARY = pathlib.Path(sys.argv.pop(1)).resolve()
HERE = SOURCE / "tests/abi"
BASELINES = sorted(HERE.glob(f"baseline/*/librtrack-{platform.machine()}.abi"))


class AbiDiff(unittest.TestCase):
    def test_library_against_baselines_has_only_additions(self) -> None:
        for baseline in BASELINES:
            argv = ["abidiff", "--no-added-syms", "--exported-interfaces-only"]
            argv += ["--suppressions", str(HERE / "suppressions.ini"), str(baseline), str(LIBRARY)]
            done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, f"{baseline}\n{done.stdout}")

    def test_baselines_contain_no_path(self) -> None:
        for baseline in BASELINES:
            self.assertNotRegex(baseline.read_text(), r"='/|filepath=|\.\./", str(baseline))


if __name__ == "__main__":
    need("abidiff", "readelf")
    if not BASELINES:
        skip(f"no recorded ABI for {platform.machine()}")
    if ".debug_info" not in run(["readelf", "-SW", LIBRARY]):
        skip("the library was built without debug information")
    unittest.main(verbosity=2)
