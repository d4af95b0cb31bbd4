# SPDX-License-Identifier: MIT
"""Includes in lib/ lead down: from a folder to itself or to a lower one, and never in a circle. The
same goes for the rooms of a folder, which are its sub-folders.

A source and its header (x.c and x.h) are one unit, so a circle between units is found even where no
header includes itself. Prints the graph of folders with the number of includes of each edge.
"""
import pathlib
import re
import unittest
from collections import Counter
from typing import Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from circles import Graph, circles
from sources import fail_with, need_checkout, read, tracked

# From high to low.
FOLDERS = ("built_in", "trace", "command", "recorder", "api", "cgroup", "tree", "system",
           "collect", "gpu", "bpf", "supervisor", "os", "parse", "util")
ALLOWED: Dict[str, Set[str]] = {
    folder: set(FOLDERS[index:]) for index, folder in enumerate(FOLDERS)
}
PROGRAMS = ("tracer",)  # of their own
for name in PROGRAMS:
    ALLOWED[name] = {name, "os", "parse", "util"}
for name in FOLDERS[1:FOLDERS.index("supervisor")]:  # the command layer alone starts programs
    ALLOWED[name] -= {"supervisor"} if name != "command" else set()
# The rooms of a folder from high to low; "." is the folder itself.
ROOMS: Dict[str, Tuple[str, ...]] = {
    "api": ("pid", "."),
    "bpf": ("trace", "watch", "account", "batch", "."),
    "os": ("cgroup", "process", "thread", "protocol", "."),
    "tree": (".", "sum", "memory", "exits", "read", "watch", "scan", "gpu", "state", "sources",
             "member", "pure"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
KERNEL_HEADER = re.compile(r"^\s*#\s*include\s+<(?:linux|asm(?:-generic)?)/", re.MULTILINE)
GENERATED = (".skel.h", "helpers_file.h")  # made from an object in the build directory


class Include(NamedTuple):
    path: str  # of the file that includes, below lib/
    line: int
    written: str  # as the file names it
    target: Optional[str]  # below lib/; None if there is no such file

    @property
    def source_folder(self) -> str:
        return folder_of(self.path)

    @property
    def target_folder(self) -> str:
        return folder_of(self.target or "")

    def __str__(self) -> str:
        return f'lib/{self.path}:{self.line}: includes "{self.written}"'


def folder_of(path: str) -> str:
    return path.split("/")[0]


def room_of(path: str) -> str:
    """E.g.: "scan" of tree/scan/discovery.c, and "." of tree/tree.c."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "."


def unit_of(path: str) -> str:
    """A file without its suffix: x.c and x.h are one unit."""
    return re.sub(r"\.[ch]$", "", path)


def read_includes(files: Dict[str, str]) -> List[Include]:
    """The includes of files of lib/, given by path below lib/ with their texts."""
    found = []
    for path, text in files.items():
        for number, line in enumerate(text.split("\n"), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            beside = str(pathlib.PurePath(path).parent / match[1])
            targets = [name for name in (match[1], beside) if name in files]
            found.append(Include(path, number, match[1], targets[0] if targets else None))
    return found


def kernel_files(includes: Iterable[Include]) -> Set[str]:
    """What is compiled for the kernel: lib/bpf/*/*.bpf.c, and what it includes."""
    includes = list(includes)
    known = {include.path for include in includes if include.path.endswith(".bpf.c")}
    while True:
        more = {include.target for include in includes if include.path in known and include.target}
        if more <= known:
            return known
        known |= more


def bad_names(includes: Iterable[Include]) -> Iterator[str]:
    """Includes that do not name an existing file with its folder."""
    includes = list(includes)
    for_kernel = kernel_files(includes)
    for include in includes:
        if include.path in for_kernel or include.written.endswith(GENERATED):
            continue
        if include.target is None:
            yield f"{include}, which is no file of lib/"
        elif include.written != include.target:
            yield f'{include}: write "{include.target}"'


def climbs(includes: Iterable[Include]) -> Iterator[str]:
    """Includes that lead to a folder that theirs must not use."""
    for include in includes:
        allowed = ALLOWED.get(include.source_folder)
        if allowed is None:
            yield f"{include}, but {include.source_folder}/ has no place in the list of folders"
        elif include.target and include.target_folder not in allowed:
            yield f"{include}, but {include.source_folder}/ must not use {include.target_folder}/"


def climbs_in_folder(includes: Iterable[Include]) -> Iterator[str]:
    """Includes that lead up from one room of a folder to another one."""
    for include in includes:
        folder, room = include.source_folder, room_of(include.path)
        rooms = ROOMS.get(folder, (".",))
        if room not in rooms:
            yield f"{include}, but {folder}/{room}/ has no place in the list of rooms"
        elif include.target and include.target_folder == folder:
            target = room_of(include.target)
            if target in rooms and rooms.index(target) < rooms.index(room):
                yield f"{include}, but the room {room} must not use {target}"


def unit_graph(includes: Iterable[Include]) -> Graph:
    graph: Graph = {}
    for include in includes:
        if include.target and unit_of(include.target) != unit_of(include.path):
            graph.setdefault(unit_of(include.path), set()).add(unit_of(include.target))
    return graph


def folder_graph(includes: Iterable[Include]) -> Graph:
    graph: Graph = {}
    for include in includes:
        if include.target and include.target_folder != include.source_folder:
            graph.setdefault(include.source_folder, set()).add(include.target_folder)
    return graph


def print_folders(includes: Iterable[Include]) -> None:
    edges = Counter((i.source_folder, i.target_folder) for i in includes if i.target)
    for folder in (*FOLDERS, *PROGRAMS):
        targets = [(target, edges[folder, target]) for target in (*FOLDERS, *PROGRAMS)]
        listed = " ".join(f"{target}:{count}" for target, count in targets if count)
        print(f"{folder:10} -> {listed or 'nothing'}")


class Includes(unittest.TestCase):
    includes: List[Include] = []

    @classmethod
    def setUpClass(cls) -> None:
        paths = filter(re.compile(r"lib/.*\.(?:[ch]|def)").fullmatch, tracked())
        cls.includes = read_includes({path[len("lib/") :]: read(path) for path in paths})

    def test_lead_down(self) -> None:
        """No include leads up."""
        print_folders(self.includes)
        self.assertGreater(len(self.includes), 100, "these are not the files of lib/")
        fail_with(
            self,
            climbs(self.includes),
            "Move what is needed to a lower folder, or pass it as an argument. High to low: "
            f"{' '.join(FOLDERS)}; {' and '.join(PROGRAMS)} may use os, parse and util.",
        )

    def test_lead_down_between_rooms(self) -> None:
        """No include leads up within a folder."""
        orders = (f"{folder}: {' '.join(rooms)}" for folder, rooms in ROOMS.items())
        fail_with(self, climbs_in_folder(self.includes),
                  "Move what is needed to a lower room, or pass it as an argument. The rooms from "
                  f"high to low, where . is the folder itself: {'; '.join(orders)}.")

    def test_none_is_of_the_kernel(self) -> None:
        """No include of <linux/...>, which not every compiler has. E.g.: musl-gcc."""
        paths = filter(re.compile(r"lib/(?!bpf/).*\.[ch]").fullmatch, tracked())
        findings = (f"{path}: includes a header of the kernel"
                    for path in paths if KERNEL_HEADER.search(read(path)))
        fail_with(self, findings, "Add what is needed to os/kernel_abi.h.")

    def test_name_their_folder(self) -> None:
        """Every project include is written with its folder."""
        fail_with(self, bad_names(self.includes), 'Write "os/procfs.h" instead of "procfs.h".')

    def test_units_form_no_circle(self) -> None:
        """No circle of includes between sources with their headers."""
        self.check_circles(unit_graph(self.includes), unit_of)

    def test_folders_form_no_circle(self) -> None:
        """No circle of includes between folders."""
        self.check_circles(folder_graph(self.includes), folder_of)

    def check_circles(self, graph: Graph, node_of: Callable[[str], str]) -> None:
        findings = []
        for circle in circles(graph):
            steps = [
                next(i for i in self.includes if (node_of(i.path), node_of(i.target or "")) == edge)
                for edge in zip(circle, circle[1:])
            ]
            first = f"lib/{steps[0].path}:{steps[0].line}: circle {' -> '.join(circle)}"
            findings.append("\n  ".join([first, *map(str, steps)]))
        fail_with(self, findings, "Move what both need to a header that includes neither.")


class Reader(unittest.TestCase):
    """The reader of includes itself."""

    FILES = {
        "tree/a.c": '#include "tree/a.h"\n#include <stdio.h>\n#include "os/b.h"\n',
        "tree/a.h": "",
        "os/b.h": "",
        "os/b.c": '#  include "b.h"\n',
        "bpf/x.bpf.c": '#include "x.h"\n',
        "bpf/x.h": "",
    }

    def of(self, **more: str) -> List[Include]:
        added = {name.replace("__", "/") + ".c": text for name, text in more.items()}
        return read_includes({**self.FILES, **added})

    def test_down_is_fine(self) -> None:
        self.assertEqual(list(climbs(self.of())), [])
        self.assertEqual(circles(unit_graph(self.of())), [])

    def test_up_is_found(self) -> None:
        for bad in ("util__c", "os__c", "supervisor__c", "elsewhere__c"):
            with self.subTest(bad):
                self.assertEqual(len(list(climbs(self.of(**{bad: '#include "tree/a.h"'})))), 1)

    def test_up_between_rooms_is_found(self) -> None:
        files = {"tree/scan/a.h": "", "tree/b.h": "", "os/thread/lock.h": ""}
        for path, text, count in (
            ("tree/read/c.c", '#include "tree/scan/a.h"', 0),
            ("tree/scan/c.c", '#include "tree/scan/a.h"\n#include "os/thread/lock.h"', 0),
            ("tree/pure/c.c", '#include "tree/scan/a.h"', 1),
            ("tree/member/c.c", '#include "tree/b.h"', 1),
            ("tree/attic/c.c", '#include "os/thread/lock.h"', 1),
            ("os/cgroup/c.c", '#include "os/thread/lock.h"', 0),
            ("command/attic/c.c", '#include "os/thread/lock.h"', 1),
        ):
            with self.subTest(path=path, text=text):
                found = list(climbs_in_folder(read_includes({**files, path: text})))
                self.assertEqual(len(found), count)

    def test_supervisor_uses_os(self) -> None:
        self.assertEqual(list(climbs(self.of(supervisor__c='#include "os/b.h"'))), [])

    def test_names_without_folder_are_found(self) -> None:
        (found,) = bad_names(self.of())
        self.assertEqual(found, 'lib/os/b.c:1: includes "b.h": write "os/b.h"')

    def test_names_of_no_file_are_found(self) -> None:
        self.assertEqual(len(list(bad_names(self.of(os__c='#include "os/missing.h"')))), 2)
        self.assertEqual(len(list(bad_names(self.of(os__c='#include "x.skel.h"')))), 1)

    def test_circles_are_found(self) -> None:
        includes = read_includes(
            {
                "os/b.c": '#include "os/c.h"',
                "os/b.h": "",
                "os/c.h": '#include "os/d.h"',
                "os/d.h": '#include "os/b.h"',
            }
        )
        self.assertEqual(circles(unit_graph(includes)), [["os/b", "os/c", "os/d", "os/b"]])
        self.assertEqual(circles(folder_graph(includes)), [])
        includes = self.of(os__c='#include "tree/a.h"')
        self.assertEqual(circles(folder_graph(includes)), [["os", "tree", "os"]])


if __name__ == "__main__":
    need_checkout()
    unittest.main(verbosity=2)
