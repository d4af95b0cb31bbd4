# SPDX-License-Identifier: MIT
"""Header, version script and finished library name the same functions, under the right soname and version node."""
import re
import sys
import unittest
from typing import Dict, Set, Tuple

import header
from harness import BUILD, HEADER, SOURCE, need, run

LIBRARY = sys.argv.pop(1)
MAP = SOURCE / "lib/librtrack.map"


def map_nodes() -> Dict[str, str]:
    """Every global name of the version script, to the node it stands in."""
    nodes = {}
    for node, body in re.findall(r"^(RTRACK_[\d.]+) \{(.*?)^\}", MAP.read_text(), re.M | re.S):
        exported = body.split("local:")[0].split("global:")[1]
        for name in re.findall(r"\w+(?=;)", exported):
            assert name not in nodes, f"{name} stands twice in the map"
            nodes[name] = node
    return nodes


def exported() -> Dict[str, str]:
    """Every name that the finished library exports, to its version node."""
    names = {}
    for line in run(["nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY]).splitlines():
        _, kind, symbol = line.split()
        name, _, node = symbol.partition("@@")
        if kind != "A":  # the version nodes themselves
            names[name] = node
    return names


def dynamic(tag: str) -> Set[str]:
    listing = run(["readelf", "-d", LIBRARY])
    return set(re.findall(rf"\({tag}\).*\[(.*)\]", listing))


def release() -> Tuple[int, int]:
    numbers = header.read(BUILD / "include/rtrack/version.h").numbers
    return numbers["RT_VERSION_MAJOR"], numbers["RT_VERSION_MINOR"]


class Symbols(unittest.TestCase):
    def test_map_names_what_the_header_declares(self) -> None:
        self.assertEqual(set(map_nodes()), set(header.read(HEADER).functions))

    def test_library_exports_what_the_map_names(self) -> None:
        self.assertEqual(exported(), map_nodes())

    def test_no_node_is_ahead_of_the_release(self) -> None:
        for node in set(map_nodes().values()):
            major, minor = map(int, node[len("RTRACK_") :].split("."))
            self.assertLessEqual((major, minor), release(), node)

    def test_soname_is_the_one_of_the_abi(self) -> None:
        self.assertEqual(dynamic("SONAME"), {"librtrack.so.0"})

    def test_needs_libc_alone(self) -> None:
        libc = re.compile(r"libc\.so(\.6)?|libc\.musl-\w+\.so\.1|ld-linux-[\w-]+\.so\.\d|libpthread\.so\.0")
        self.assertEqual({name for name in dynamic("NEEDED") if not libc.fullmatch(name)}, set())


if __name__ == "__main__":
    need("nm", "readelf")
    unittest.main(verbosity=2)
