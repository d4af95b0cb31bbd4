# SPDX-License-Identifier: MIT
"""Check that header, version script and built library name the same functions.

Also checks the soname, the version nodes and the needed libraries."""
import re
import sys
import unittest
from typing import Dict, Set, Tuple

import header
from harness import BUILD, HEADER, SOURCE, need, run

LIBRARY = sys.argv.pop(1)
MAP = SOURCE / "lib/librtrack.map"


def map_nodes() -> Dict[str, str]:
    """Return every global name of the version script with its node."""
    nodes = {}
    for node, body in re.findall(r"^(RTRACK_[\d.]+) \{(.*?)^\}", MAP.read_text(), re.M | re.S):
        exported = body.split("local:")[0].split("global:")[1]
        for name in re.findall(r"\w+(?=;)", exported):
            assert name not in nodes, f"{name} is in the map twice"
            nodes[name] = node
    return nodes


def exported() -> Dict[str, str]:
    """Return every name that the built library exports with its version node."""
    names = {}
    for line in run(["nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY]).splitlines():
        _, kind, symbol = line.split()
        name, _, node = symbol.partition("@@")
        if kind != "A":  # A: the version node itself
            names[name] = node
    return names


def dynamic(tag: str) -> Set[str]:
    listing = run(["readelf", "-d", LIBRARY])
    return set(re.findall(rf"\({tag}\).*\[(.*)\]", listing))


def release() -> Tuple[int, int]:
    numbers = header.read(BUILD / "include/rtrack/version.h").numbers
    return numbers["RT_VERSION_MAJOR"], numbers["RT_VERSION_MINOR"]


class Symbols(unittest.TestCase):
    def test_version_script_lists_declared_functions(self) -> None:
        self.assertEqual(set(map_nodes()), set(header.read(HEADER).functions))

    def test_library_exports_functions_of_version_script(self) -> None:
        self.assertEqual(exported(), map_nodes())

    def test_symbols_are_bound_at_the_start(self) -> None:
        self.assertIn("BIND_NOW", run(["readelf", "-d", LIBRARY]))

    def test_version_nodes_are_not_newer_than_release(self) -> None:
        for node in set(map_nodes().values()):
            major, minor = map(int, node[len("RTRACK_") :].split("."))
            self.assertLessEqual((major, minor), release(), node)

    def test_soname_has_abi_number(self) -> None:
        self.assertEqual(dynamic("SONAME"), {"librtrack.so.0"})

    def test_library_needs_only_libc(self) -> None:
        libc = re.compile(
            r"libc\.so(\.6)?|libc\.musl-\w+\.so\.1|ld-linux-[\w-]+\.so\.\d|libpthread\.so\.0")
        self.assertEqual({name for name in dynamic("NEEDED") if not libc.fullmatch(name)}, set())


if __name__ == "__main__":
    need("nm", "readelf")
    unittest.main(verbosity=2)
