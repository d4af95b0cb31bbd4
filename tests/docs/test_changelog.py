# SPDX-License-Identifier: MIT
"""Check that CHANGELOG.md names all that the header has and the last release did not."""
import re
import unittest
from typing import List

import header
from harness import HEADER, SOURCE

TEXT = (SOURCE / "CHANGELOG.md").read_text()
SECTIONS = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
RELEASES = sorted((path for path in (SOURCE / "tests/abi/headers").iterdir()),
                  key=lambda path: [int(number) for number in path.name.split(".")])


def parts(section: str) -> List[str]:
    return re.findall(r"^### (.*)", section, re.MULTILINE)


class Changelog(unittest.TestCase):
    def test_abi_names_all_that_the_last_release_lacks(self) -> None:
        now, before = header.read(HEADER), header.read(RELEASES[-1] / "rtrack/rtrack.h")
        names = [*(set(now.functions) - set(before.functions)),
                 *(set(now.numbers) - set(before.numbers)),
                 *(set(now.structs) - set(before.structs))]
        for name, struct in now.structs.items():
            if name in before.structs:
                old = {field.name for field in before.structs[name].fields}
                names += [field.name for field in struct.fields if field.name not in old]
        abi = SECTIONS[0].partition("### ABI\n")[2].partition("\n### ")[0]
        self.assertEqual(sorted(name for name in set(names) if f"`{name}`" not in abi), [])

    def test_each_release_has_a_section(self) -> None:
        titles = [section.partition("\n")[0] for section in SECTIONS]
        self.assertEqual(titles, ["Unreleased", *(f"{path.name}.0" for path in RELEASES[::-1])])

    def test_highlights_and_abi_come_first(self) -> None:
        for section in SECTIONS[:-1]:
            self.assertEqual(parts(section), ["Highlights", "ABI", "Added", "Changed", "Fixed"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
