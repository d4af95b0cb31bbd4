# SPDX-License-Identifier: MIT
"""Compare the header and the version script with those that are recorded of every release.

Every function and constant must be unchanged, and so must the nodes of the version script. A struct
may have grown at its end only."""
import pathlib
import re
import unittest
from typing import Dict, Set, Tuple

import header
import layout
from harness import HEADER, SOURCE

RELEASES = sorted((SOURCE / "tests/abi/headers").glob("*/rtrack/rtrack.h"))
CURRENT = header.read(HEADER)
MAPS = sorted((SOURCE / "tests/abi/baseline").glob("*/librtrack.map"))


def nodes(path: pathlib.Path) -> Dict[str, Tuple[Set[str], str]]:
    """Return the nodes of a version script: their global names, and the node they inherit from."""
    found = re.findall(r"^(RTRACK_[\d.]+) \{(.*?)^\}\s*([\w.]*);", path.read_text(), re.M | re.S)
    return {
        node: (set(re.findall(r"\w+(?=;)", body.split("local:")[0])), parent)
        for node, body, parent in found}


class Releases(unittest.TestCase):
    def test_every_release_has_header_and_version_script(self) -> None:
        self.assertTrue(RELEASES)
        self.assertEqual([path.parents[1].name for path in RELEASES],
                         [path.parent.name for path in MAPS])

    def test_released_nodes_of_version_script_are_unchanged(self) -> None:
        current = nodes(SOURCE / "lib/librtrack.map")
        for path in MAPS:
            released = nodes(path)
            self.assertIn(f"RTRACK_{path.parent.name}", released)
            for node, names in released.items():
                self.assertEqual(current.get(node), names, f"{node} of {path}")

    def test_released_functions_are_unchanged(self) -> None:
        for path in RELEASES:
            for name, declaration in header.read(path).functions.items():
                self.assertEqual(CURRENT.functions.get(name), declaration, path)

    def test_released_constants_are_unchanged(self) -> None:
        for path in RELEASES:
            for name, value in header.read(path).numbers.items():
                self.assertEqual(CURRENT.numbers.get(name), value, f"{name} of {path}")

    def test_since_is_the_first_release_that_has_it(self) -> None:
        """A name has it of its own, or its group or struct has it; what has none is of 0.1."""
        expected: Dict[str, str] = {}
        for path in [*RELEASES, HEADER]:
            public = header.read(path)
            release = path.parents[1].name if path in RELEASES else "0.3"
            names = [*public.functions, *public.structs, *public.numbers, *(
                f"{struct.name}.{field.name}"
                for struct in public.structs.values() for field in struct.fields)]
            for name in names:
                expected.setdefault(name, release)
        names = [name for name in expected if not name.startswith("RT_VERSION_")]
        self.assertGreater(len(names), 800)
        self.assertEqual({name: CURRENT.since.get(name) for name in names},
                         {name: expected[name] for name in names})

    def test_released_structs_grow_only_at_end(self) -> None:
        for path in RELEASES:
            for name, struct in header.read(path).structs.items():
                before = [(field.name, field.type) for field in struct.fields]
                current = [(field.name, field.type) for field in CURRENT.structs[name].fields]
                self.assertEqual(current if name in layout.FROZEN else current[:len(before)],
                                 before, f"{name} of {path}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
