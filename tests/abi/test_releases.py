# SPDX-License-Identifier: MIT
"""What the headers of every release declare still stands in today's, word for word; structs may only have grown."""
import unittest

import header
import layout
from harness import HEADER, SOURCE

RELEASES = sorted((SOURCE / "tests/abi/headers").glob("*/rtrack/rtrack.h"))
TODAY = header.read(HEADER)


class Releases(unittest.TestCase):
    def test_there_is_one(self) -> None:
        self.assertTrue(RELEASES)

    def test_functions_stand(self) -> None:
        for path in RELEASES:
            for name, declaration in header.read(path).functions.items():
                self.assertEqual(TODAY.functions.get(name), declaration, path)

    def test_numbers_stand(self) -> None:
        for path in RELEASES:
            for name, value in header.read(path).numbers.items():
                self.assertEqual(TODAY.numbers.get(name), value, f"{name} of {path}")

    def test_structs_only_grow_at_the_end(self) -> None:
        for path in RELEASES:
            for name, struct in header.read(path).structs.items():
                before = [(field.name, field.type) for field in struct.fields]
                today = [(field.name, field.type) for field in TODAY.structs[name].fields]
                self.assertEqual(today if name in layout.FROZEN else today[: len(before)], before, f"{name} of {path}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
