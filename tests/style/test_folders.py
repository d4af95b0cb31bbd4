# SPDX-License-Identifier: MIT
"""A folder of lib/ has at most 20 units: x.c and x.h are one, and a header alone is one."""
import pathlib
import re
import unittest
from typing import Dict, Iterable, Set

from sources import fail_with, need_checkout, tracked

UNITS_MAX = 20
# One domain or one file of the kernel is a unit there, and none needs another.
WITHOUT_LIMIT = {"lib/collect", "lib/parse"}


def units(paths: Iterable[str]) -> Dict[str, Set[str]]:
    """The units of each folder by name. E.g.: "batch" is batch.bpf.c, batch.c and batch.h."""
    found: Dict[str, Set[str]] = {}
    for path in map(pathlib.PurePosixPath, paths):
        if re.fullmatch(r"lib/.*\.(c|h|def)", str(path)):
            found.setdefault(str(path.parent), set()).add(path.name.split(".")[0])
    return found


class Folders(unittest.TestCase):
    def test_none_has_too_many_units(self) -> None:
        found = units(tracked())
        self.assertGreater(len(found), 10, "these are not the folders of lib/")
        fail_with(
            self,
            (f"{folder}: has {len(names)} units, at most {UNITS_MAX}"
             for folder, names in sorted(found.items())
             if folder not in WITHOUT_LIMIT and len(names) > UNITS_MAX),
            "Join units that are only used together, or make a room of those of one purpose.",
        )

    def test_source_and_headers_are_one_unit(self) -> None:
        found = units(["lib/a/b.c", "lib/a/b.h", "lib/a/b.bpf.c", "lib/a/c.h", "lib/a/d/e.c",
                       "lib/meson.build", "tests/a.c"])
        self.assertEqual(found, {"lib/a": {"b", "c"}, "lib/a/d": {"e"}})


if __name__ == "__main__":
    need_checkout()
    unittest.main(verbosity=2)
