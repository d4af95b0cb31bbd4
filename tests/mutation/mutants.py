# SPDX-License-Identifier: MIT
"""Small faults that could be made in the sources: one token changed, or one call left out.

A rule looks at the syntax tree that libclang makes of a file. A mutant says which bytes of the
file it replaces.
"""

import hashlib
import json
import random
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from clang.cindex import CursorKind, Index

OPPOSITE = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
            "&&": "||", "||": "&&"}
BLOCKS = (CursorKind.COMPOUND_STMT, CursorKind.IF_STMT, CursorKind.FOR_STMT,
          CursorKind.WHILE_STMT, CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT)
LEAVES = re.compile(r"\b(return|goto|break|continue)\b")


class Mutant(NamedTuple):
    file: str  # relative to the root of the sources
    line: int
    start: int  # bytes of the file
    end: int
    new: str
    rule: str

    def name(self):
        """The same for as long as the file is the same."""
        change = hashlib.sha256(self.new.encode()).hexdigest()[:8]
        return f"{self.file} {self.start} {self.end} {change}"

    def apply(self, source):
        return source[:self.start] + self.new.encode() + source[self.end:]

    def describe(self, source):
        return f"{source[self.start:self.end].decode()} -> {self.new}"


class Walk:
    """Collects the mutants of one file."""

    def __init__(self, root, file, arguments, seed):
        self.file = str(file.relative_to(root))
        self.path = str(file)
        self.source = file.read_bytes()
        self.choose = random.Random(f"{seed} {self.file}").choice
        self.found = {}
        unit = Index.create().parse(self.path, arguments)
        for cursor in unit.cursor.get_children():
            if self.is_here(cursor):
                self.visit(cursor, None)

    def is_here(self, cursor):
        return cursor.location.file and cursor.location.file.name == self.path

    def text(self, start, end):
        return self.source[start:end].decode()

    def add(self, rule, start, end, new):
        line = self.source.count(b"\n", 0, start) + 1
        self.found[start, end, new] = Mutant(self.file, line, start, end, new, rule)

    def visit(self, cursor, parent):
        if not self.is_here(cursor) and cursor.location.file:
            return
        if cursor.kind == CursorKind.BINARY_OPERATOR:
            self.compare(cursor)
        elif cursor.kind == CursorKind.INTEGER_LITERAL:
            self.change_constant(cursor, parent)
        elif cursor.kind == CursorKind.CALL_EXPR:
            self.drop_call(cursor, parent)
        elif cursor.kind == CursorKind.IF_STMT:
            self.ignore_error(cursor)
        elif cursor.kind == CursorKind.MEMBER_REF_EXPR:
            self.swap_field(cursor)
        for child in cursor.get_children():
            self.visit(child, cursor)

    def compare(self, cursor):
        operands = list(cursor.get_children())
        if len(operands) != 2:
            return
        start, end = operands[0].extent.end.offset, operands[1].extent.start.offset
        between = self.text(start, end)
        operator = between.strip()
        if operator in OPPOSITE:
            start += between.index(operator)
            self.add("comparison", start, start + len(operator), OPPOSITE[operator])

    # The size of an array is left alone: a larger buffer is no fault.
    def change_constant(self, cursor, parent):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        number = re.fullmatch(r"(\d+)([uUlL]*)", self.text(start, end))
        is_size = parent and parent.kind in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL) \
            and "[" in parent.type.spelling
        if number and not is_size and not number[1].startswith("00"):
            self.add("constant", start, end, str(int(number[1]) + 1) + number[2])

    def drop_call(self, cursor, parent):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        if parent and parent.kind in BLOCKS and self.source[end:end + 1] == b";" \
                and self.text(start, end).endswith(")"):
            self.add("dropped call", start, end, "(void)0")

    def ignore_error(self, cursor):
        children = list(cursor.get_children())
        start, end = children[0].extent.start.offset, children[0].extent.end.offset
        body = children[1].extent
        condition = self.text(start, end)
        if re.search(r"(< 0|^!?\w+|== -?[A-Z_]+|== NULL)$", condition) \
                and LEAVES.search(self.text(body.start.offset, body.end.offset)):
            self.add("ignored error", start, end, f"0 && ({condition})")

    def swap_field(self, cursor):
        field = cursor.referenced
        name = cursor.spelling
        if not field or not name:
            return
        kind = field.type.get_canonical().spelling
        others = [other.spelling for other in field.semantic_parent.get_children()
                  if other.kind == CursorKind.FIELD_DECL and other.spelling not in ("", name)
                  and other.type.get_canonical().spelling == kind]
        end = cursor.extent.end.offset
        start = end - len(name)
        if others and self.text(start, end) == name:
            self.add("swapped field", start, end, self.choose(sorted(others)))


def compile_arguments(build, root):
    """Of each source of lib/ that is not a BPF program."""
    arguments = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = (Path(entry["directory"]) / entry["file"]).resolve()
        if root / "lib" not in file.parents or file in arguments:
            continue
        flags = [word for word in shlex.split(entry["command"])[1:]
                 if word.startswith(("-I", "-D", "-std"))]
        arguments[file] = [re.sub(r"^-I(?!/)", f"-I{entry['directory']}/", flag)
                           for flag in flags]
    return arguments


def find_mutants(build, root, seed, files=()):
    """Returns a list for each file, in the order of the files."""
    found = {}
    for file, arguments in sorted(compile_arguments(build, root).items()):
        name = str(file.relative_to(root))
        if not files or name in files:
            mutants = Walk(root, file, arguments, seed).found.values()
            if mutants:
                found[name] = sorted(mutants)
    return found


def draw(found, count, seed):
    """Go round the files. Of each take a rule, then one of its mutants, each by chance."""
    chance = random.Random(seed)
    left = {name: list(mutants) for name, mutants in found.items()}
    drawn = []
    while left and len(drawn) < count:
        for name in chance.sample(sorted(left), len(left)):
            rule = chance.choice(sorted({mutant.rule for mutant in left[name]}))
            mutant = chance.choice([one for one in left[name] if one.rule == rule])
            left[name].remove(mutant)
            if not left[name]:
                del left[name]
            drawn.append(mutant)
            if len(drawn) == count:
                break
    return drawn
