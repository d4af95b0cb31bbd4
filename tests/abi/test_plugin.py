# SPDX-License-Identifier: MIT
"""Put plug-ins of this and of other releases beside the library, under the name that it looks for.

The name has the number of the ABI alone. So the plug-in itself says what it is of."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

USER, LIBRARY, SAME, OTHER_VERSION, OTHER_ROW = (pathlib.Path(sys.argv.pop(1)) for _ in range(5))
PROCESSES = "25\n"


class PlugIn(unittest.TestCase):
    def use(self, plug_in: pathlib.Path) -> str:
        """Sample a tree until the plug-in is looked for. Return what it has said."""
        with tempfile.TemporaryDirectory(prefix="rtrack-plugin-") as directory:
            shutil.copy(LIBRARY.resolve(), pathlib.Path(directory, "librtrack.so.0"))
            shutil.copy(plug_in, pathlib.Path(directory, "librtrack-bpf.so.0"))
            done = subprocess.run(
                [str(USER)], env={**os.environ, "LD_LIBRARY_PATH": directory},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, PROCESSES), done.stderr)
        return done.stderr

    def test_plug_in_of_this_release_is_opened(self) -> None:
        self.assertEqual(self.use(SAME), "opened\n")

    def test_plug_in_of_another_version_is_refused_and_samples_go_on(self) -> None:
        self.assertEqual(self.use(OTHER_VERSION), "")

    def test_plug_in_with_other_rows_is_refused_and_samples_go_on(self) -> None:
        self.assertEqual(self.use(OTHER_ROW), "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
