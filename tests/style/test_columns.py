# SPDX-License-Identifier: MIT
"""Lines have at most 100 columns in C, C++, Python, shell, Meson and Markdown files."""
import pathlib
import re
import unittest
from typing import Iterator, List, Tuple

from sources import fail_with, is_frozen, need_checkout, read, tracked

MAX_COLUMNS = 100
TAB_WIDTH = 8

SUFFIXES = (".c", ".h", ".def", ".cpp", ".hpp", ".h.in", ".py", ".sh", ".md",
            ".bash-completion", ".fish", ".zsh")
NAMES = ("meson.build", "meson_options.txt")
SHELL = re.compile(r"#!.*\b(?:ba|da)?sh\b")

URL = re.compile(r"\w+://[^\s)>\"']+")
LINK_ONLY = re.compile(r"\s*(?:[-*]\s+)?!?\[[^]]*\](?:\([^)]*\)|:\s*\S+)[.,;]?\s*")


def is_checked(path: str) -> bool:
    if is_frozen(path):
        return False
    name = pathlib.PurePath(path).name
    if "." in name:
        return path.endswith(SUFFIXES) or name in NAMES
    return bool(SHELL.match(read(path)))


def columns(line: str) -> int:
    """The width of a line in characters, without its URLs, which cannot be broken."""
    return len(URL.sub("", line.expandtabs(TAB_WIDTH)))


def prose(text: str) -> Iterator[Tuple[int, str]]:
    """The numbered lines of Markdown that can be broken: no tables, code or lone links."""
    is_fenced = is_code = False
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        is_fence = line.lstrip().startswith(("```", "~~~"))
        is_fenced ^= is_fence
        is_code = line.startswith(("    ", "\t")) and (is_code or not before.strip())
        is_table = line.lstrip().startswith("|")
        if not (is_fenced or is_fence or is_code or is_table or LINK_ONLY.fullmatch(line)):
            yield number, line
        before = line


def wide_lines(path: str, text: str) -> List[Tuple[int, int]]:
    """(line, columns) of each line that is too wide."""
    lines = prose(text) if path.endswith(".md") else enumerate(text.split("\n"), 1)
    widths = ((number, columns(line)) for number, line in lines)
    return [(number, width) for number, width in widths if width > MAX_COLUMNS]


class Columns(unittest.TestCase):
    def test_lines_fit(self) -> None:
        """No line has more than 100 columns."""
        fail_with(
            self,
            (
                f"{path}:{number}: {width} columns"
                for path in filter(is_checked, tracked())
                for number, width in wide_lines(path, read(path))
            ),
            f"Break the lines: at most {MAX_COLUMNS} columns, with tabs of {TAB_WIDTH}.",
        )


class Reader(unittest.TestCase):
    """The reader of lines itself."""

    def wide(self, path: str, text: str) -> List[int]:
        return [number for number, _ in wide_lines(path, text)]

    def test_characters_count_and_not_bytes(self) -> None:
        self.assertEqual(self.wide("a.c", "é" * 100), [])
        self.assertEqual(self.wide("a.c", "é" * 101), [1])

    def test_tabs_go_to_the_next_eighth_column(self) -> None:
        self.assertEqual(self.wide("a.c", "\n x\t" + "y" * 92), [])
        self.assertEqual(self.wide("a.c", "\n x\t" + "y" * 93), [2])

    def test_urls_do_not_count(self) -> None:
        self.assertEqual(self.wide("a.py", "# See https://example.org/" + "x" * 90), [])

    def test_markdown_counts_prose_only(self) -> None:
        long = "word " * 30
        code = f"    {long}\n    {long}\n\n```\n{long}\n```\n"
        text = f"|{long}|\n\n{code}- [{long}](x)\n[a]: {'x' * 120}\n"
        self.assertEqual(self.wide("a.md", text), [])
        self.assertEqual(self.wide("a.md", f"{long}\n    {long}\n- {long}"), [1, 2, 3])


if __name__ == "__main__":
    need_checkout()
    unittest.main(verbosity=2)
