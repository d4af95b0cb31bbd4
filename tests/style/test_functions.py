# SPDX-License-Identifier: MIT
"""C functions have at most 90 lines, and blocks in the library are at most four levels deep.

Both are read off the layout that clang-format produces: a function body starts with "{" and ends
with "}" in the first column, and each tab of indentation is one level. So the body of a function is
level 1, and a statement without braces below an `if` is one level more.
"""
import re
import unittest
from typing import Iterator, List, NamedTuple, Optional, Tuple

from sources import fail_with, is_frozen, need_checkout, read, tracked, without_comments

MAX_LINES = 90
MAX_LEVELS = 4


class Level(NamedTuple):
    depth: int
    line: int


class Function(NamedTuple):
    name: str
    line: int  # of its "{"
    body: List[str]  # the lines between the braces, without comments

    def deepest(self) -> Level:
        """The most deeply nested line."""
        return max(levels(self), default=Level(1, self.line), key=lambda level: level.depth)


def name_before(lines: List[str], start: int) -> str:
    """The name in the declarator that ends before the line with this index."""
    first = start
    while first > 0 and lines[first - 1].strip() and lines[first - 1][0] not in "}#":
        first -= 1
    declarator = " ".join(lines[first:start])
    found = re.search(r"START_TEST\((\w+)\)", declarator) or re.search(r"(\w+)\s*\(", declarator)
    return found[1] if found else "?"


def functions(text: str) -> Iterator[Function]:
    lines = without_comments(text).split("\n")
    start: Optional[int] = None
    for index, line in enumerate(lines):
        if line.rstrip() == "{":
            start = index
        elif line.startswith("}") and start is not None:
            yield Function(name_before(lines, start), start + 1, lines[start + 1 : index])
            start = None


def levels(function: Function) -> Iterator[Level]:
    """The level of each line that begins a statement. Directives and initializers have none."""
    opened: List[str] = []  # "(" and "{" that are open, "=" for the brace of an initializer
    is_directive = False
    before = ""  # the last character that is not white space
    for number, line in enumerate(function.body, function.line + 1):
        is_directive = line.startswith("#") or (is_directive and before == "\\")
        tabs = len(line) - len(line.lstrip("\t"))
        begins = line.strip() and not line[tabs:].startswith(" ")
        if begins and not is_directive and not {"(", "="} & set(opened):
            yield Level(tabs, number)
        for at, char in enumerate(line):
            if char == "{" and not is_directive:
                is_initializer = "=" in opened or before in "=,(" or line[at - 1 : at] == ")"
                opened.append("=" if is_initializer else "{")
            elif char == "(" and not is_directive:
                opened.append("(")
            elif char in ")}" and opened and not is_directive:
                opened.pop()
            before = before if char.isspace() else char


def c_functions(*folders: str) -> Iterator[Tuple[str, Function]]:
    for path in tracked():
        if path.startswith(folders) and path.endswith((".c", ".h")) and not is_frozen(path):
            for function in functions(read(path)):
                yield path, function


class Functions(unittest.TestCase):
    def test_length(self) -> None:
        """No function body in lib/, examples/ and tests/ has more than 90 lines."""
        fail_with(
            self,
            (
                f"{path}:{function.line}: {function.name}() has {len(function.body)} lines"
                for path, function in c_functions("lib/", "examples/", "tests/")
                if len(function.body) > MAX_LINES
            ),
            f"Move a part that has a name of its own out of it: at most {MAX_LINES} lines.",
        )

    def test_nesting(self) -> None:
        """No block in lib/ is more than four levels deep, the body of its function included."""
        found = ((path, function, function.deepest()) for path, function in c_functions("lib/"))
        fail_with(
            self,
            (
                f"{path}:{deepest.line}: {function.name}() is {deepest.depth} levels deep"
                for path, function, deepest in found
                if deepest.depth > MAX_LEVELS
            ),
            f"Return early, or make the inner block a function: at most {MAX_LEVELS} levels.",
        )


class Reader(unittest.TestCase):
    """The reader of C code itself."""

    def of(self, text: str) -> List[Function]:
        return list(functions(text))

    def test_length_counts_lines_between_the_braces(self) -> None:
        function, test = self.of(
            "static int\nf(int a)\n{\n\treturn a;\n}\n\nSTART_TEST(t)\n{\n\n}\n"
        )
        self.assertEqual((function.name, function.line, len(function.body)), ("f", 3, 1))
        self.assertEqual((test.name, test.line, len(test.body)), ("t", 8, 1))

    def test_structs_and_tables_are_no_functions(self) -> None:
        self.assertEqual(self.of("struct s {\n\tint a;\n};\nint t[] = {\n\t1,\n};\n"), [])

    def test_depth_counts_levels_without_braces(self) -> None:
        (function,) = self.of(
            "void f(void)\n{\n\tif (a)\n\t\tfor (;;) {\n\t\t\tg(); /* { */\n\t\t}\n}\n"
        )
        self.assertEqual(function.deepest(), Level(3, 5))

    def test_depth_ignores_continued_lines_and_initializers(self) -> None:
        (function,) = self.of(
            "void f(void)\n{\n\tint a[] = {\n\t\t1,\n\t\t{ 2 },\n\t};\n"
            "\tg((struct s){\n\t\t.b = 1,\n\t});\n"
            "\tif (a) {\n\t\tx = a &&\n\t\t    b;\n\t}\n"
            "#define M \\\n\t\t\t\t\t( \\\n\t\t\t\t\t{\n}\n"
        )
        self.assertEqual(function.deepest(), Level(2, 11))


if __name__ == "__main__":
    need_checkout()
    unittest.main(verbosity=2)
