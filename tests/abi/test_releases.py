# SPDX-License-Identifier: MIT
"""Compare the header with the recorded headers of every release.

Every function and constant must be unchanged. A struct may have grown at its end only."""
import unittest

import header
import layout
from harness import HEADER, SOURCE

RELEASES = sorted((SOURCE / "tests/abi/headers").glob("*/rtrack/rtrack.h"))
CURRENT = header.read(HEADER)


class Releases(unittest.TestCase):
    def test_recorded_headers_exist(self) -> None:
        self.assertTrue(RELEASES)

    def test_released_functions_are_unchanged(self) -> None:
        for path in RELEASES:
            for name, declaration in header.read(path).functions.items():
                self.assertEqual(CURRENT.functions.get(name), declaration, path)

    def test_released_constants_are_unchanged(self) -> None:
        for path in RELEASES:
            for name, value in header.read(path).numbers.items():
                self.assertEqual(CURRENT.numbers.get(name), value, f"{name} of {path}")

    def test_released_structs_grow_only_at_end(self) -> None:
        for path in RELEASES:
            for name, struct in header.read(path).structs.items():
                before = [(field.name, field.type) for field in struct.fields]
                current = [(field.name, field.type) for field in CURRENT.structs[name].fields]
                self.assertEqual(current if name in layout.FROZEN else current[:len(before)],
                                 before, f"{name} of {path}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
