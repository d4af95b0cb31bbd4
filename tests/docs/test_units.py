# SPDX-License-Identifier: MIT
"""Check that docs/units.md has one row for every field of every output struct, in header order."""
import re
import unittest
from typing import Dict, List

import header
from harness import HEADER, SOURCE

PUBLIC = header.read(HEADER)
TEXT = (SOURCE / "docs/units.md").read_text()
# Inputs of the caller and the descriptions of fields and constants have no figures.
NO_FIGURES = {"rt_opts", "rt_command_opts", "rt_trace_opts", "rt_recorder_opts", "rt_fd",
              "rt_field", "rt_constant"}
TRAPS = 33


def rows_by_struct() -> Dict[str, List[str]]:
    rows = {}
    for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        heading = re.match(r"struct (rt_\w+)", part)
        if heading:
            rows[heading[1]] = re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)
    return rows


class Units(unittest.TestCase):
    maxDiff = None

    def test_tables_have_one_row_per_field(self) -> None:
        rows = rows_by_struct()
        for name, struct in PUBLIC.structs.items():
            if name not in NO_FIGURES:
                with self.subTest(struct=name):
                    self.assertEqual(rows.pop(name, []), [field.name for field in struct.fields])
        self.assertEqual(rows, {}, "rows of structs that are not in the header")

    def test_mentioned_names_exist_in_header(self) -> None:
        names = set(re.findall(r"\bRT_\w*[A-Z0-9]\b", TEXT))
        self.assertEqual(sorted(names - set(PUBLIC.numbers)), [])
        calls = set(re.findall(r"\b(rt_\w+)\(\)", TEXT))
        self.assertEqual(sorted(calls - set(PUBLIC.functions)), [])

    def test_traps_are_numbered_without_gap(self) -> None:
        numbers = [int(number) for number in re.findall(r"^(\d+)\. ", TEXT, re.MULTILINE)]
        self.assertEqual(numbers, list(range(1, TRAPS + 1)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
