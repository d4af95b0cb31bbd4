# SPDX-License-Identifier: MIT
"""C and C++ files are formatted as clang-format 14 does it with the repository's .clang-format.

Other versions lay out some lines differently, so the version is fixed.
"""
import re
import shutil
import subprocess
import unittest

from harness import SOURCE, run, skip
from sources import fail_with, is_frozen, need_checkout, tracked

VERSION = "14"
SUFFIXES = (".c", ".h", ".cpp", ".hpp")


def find_formatter() -> str:
    """The clang-format of the fixed version. Skips without one."""
    for program in ("clang-format-" + VERSION, "clang-format"):
        if shutil.which(program) and f"version {VERSION}." in run([program, "--version"]):
            return program
    skip(f"no clang-format of version {VERSION} here")


class Format(unittest.TestCase):
    def test_files_are_formatted(self) -> None:
        """clang-format would change no line of any C or C++ file."""
        formatter = find_formatter()
        paths = [path for path in tracked() if path.endswith(SUFFIXES) and not is_frozen(path)]
        done = subprocess.run(
            [formatter, "--dry-run", "-Werror", "--style=file", *paths],
            cwd=SOURCE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        found = re.findall(r"^(\S+?:\d+):\d+: error: (.*)$", done.stderr, re.MULTILINE)
        fail_with(
            self,
            (f"{place}: {what}" for place, what in found),
            f"Run `{formatter} -i FILE`.",
        )
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    need_checkout()
    find_formatter()
    unittest.main(verbosity=2)
