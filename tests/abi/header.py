# SPDX-License-Identifier: MIT
"""Parse the declarations of the public headers: functions, structs and constants, in order."""
import pathlib
import re
from typing import Dict, List, NamedTuple

SCALARS = {"uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8, "double": 8, "char": 1}
RUSAGE_SIZE = 128
POINTER_SIZE = 8  # LP64


class Field(NamedTuple):
    name: str
    type: str  # without the field name. E.g.: "uint64_t", "char[64]", "const char *"
    doc: str  # its own, or in a group without one that of the first field there
    since: str  # release, of its own or of the fields from "Since 0.3." on; else empty

    @property
    def size(self) -> int:
        array = re.fullmatch(r"char\[(\d+)\]", self.type)
        if array:
            return int(array[1])
        if "*" in self.type:
            return POINTER_SIZE
        return RUSAGE_SIZE if self.type == "struct rt_rusage" else SCALARS[self.type]

    @property
    def alignment(self) -> int:
        return 1 if self.type.startswith("char[") else min(self.size, 8)


class Struct(NamedTuple):
    name: str
    fields: List[Field]

    def offsets(self) -> Dict[str, int]:
        """The offset of each field under the rules of LP64."""
        at, offsets = 0, {}
        for field in self.fields:
            at = -(-at // field.alignment) * field.alignment
            offsets[field.name] = at
            at += field.size
        return offsets

    def size(self) -> int:
        last = self.fields[-1]
        return -(-(self.offsets()[last.name] + last.size) // 8) * 8


class Header(NamedTuple):
    functions: Dict[str, str]  # name -> the whole declaration
    structs: Dict[str, Struct]
    numbers: Dict[str, int]
    since: Dict[str, str]  # release by name; of fields "rt_metrics.kind"


COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def _words(text: str) -> str:
    return " ".join(COMMENT.sub(" ", text).split())


def _since(text: str) -> str:
    found = re.search(r"@since (\d+\.\d+)|^/\* Since (\d+\.\d+)", text)
    return (found[1] or found[2]) if found else ""


def _struct(name: str, body: str) -> Struct:
    fields: List[Field] = []
    before = ""  # a comment precedes its field, or follows it if it starts with "/**<"
    first = -1  # the first field of the group that is open
    since = ""
    for token in re.findall(r"/\*.*?\*/|[^;/]+;", body, re.DOTALL):
        words = " ".join(token.split())
        declaration = re.fullmatch(r"(.*?)(\w+)(\[\d+\])?;", words)
        if declaration:
            kind, field, array = declaration.groups(default="")
            doc = before or (fields[first].doc if 0 <= first < len(fields) else "")
            fields.append(Field(field, kind.strip() + array, doc, _since(doc) or since))
            before = ""
        elif words.startswith("/**<"):
            fields[-1] = fields[-1]._replace(doc=words, since=_since(words) or since)
        elif "@{" in words or "@}" in words:
            first = len(fields) if "@{" in words else -1
        elif words.startswith("/**"):
            before = words
        else:
            since = _since(words) or since
    return Struct(name, fields)


def _releases(text: str, structs: Dict[str, Struct]) -> Dict[str, str]:
    """Since when each name is there: what its comment says, else its group, else 0.1."""
    since: Dict[str, str] = {}
    groups = ["0.1"]
    before = ""
    for token in re.findall(
            r"/\*.*?\*/|^#define .*?$|^RT_API [^;]+;|^struct rt_\w+ \{.*?^\};|^struct rt_\w+;",
            text, re.MULTILINE | re.DOTALL):
        if token.startswith("/*"):
            before = token
            if "@{" in token:
                groups.append(_since(token) or groups[-1])
            elif "@}" in token:
                groups.pop()
            continue
        kind = token.partition(" ")[0]
        name = re.search(r"\w+(?=\()" if kind == "RT_API" else r"(?<= )\w+", token)
        assert name, token
        own = _since(before) or (_since(token) if kind == "#define" else "") or groups[-1]
        if "{" in token:
            for field in structs[name[0]].fields:
                since[f"{name[0]}.{field.name}"] = field.since or own
        if before:
            since[name[0]] = own
        since.setdefault(name[0], own)
        before = ""
    return since


def _numbers(text: str) -> Dict[str, int]:
    numbers = {}
    for name, value in re.findall(r"^#define (RT_\w+) (\S.*?)\s*(?:/\*.*)?$", text, re.MULTILINE):
        # Until release 0.2: UINT64_C(1) << 3. Since 0.3: 0x8ULL.
        plain = re.sub(r"U?INT(?:32|64)_C\((\d+)\)", r"\1", value)
        plain = re.sub(r"\b(0x[0-9a-f]+|\d+)U?L{0,2}\b", lambda match: str(int(match[1], 0)), plain)
        if re.fullmatch(r"[-\d()<\s]+", plain):
            # Safe to evaluate: only digits, parentheses and shifts.
            numbers[name] = int(eval(plain, {"__builtins__": {}}))
    return numbers


def files(path: pathlib.Path) -> List[pathlib.Path]:
    """A header and what it includes of its own folder, each once, in the order of a compiler."""
    found: List[pathlib.Path] = []
    for name in re.findall(r"^#include <rtrack/(\w+\.h)>", path.read_text(), re.MULTILINE):
        if name != "version.h":  # which is made, in another folder
            found += [file for file in files(path.with_name(name)) if file not in found]
    return [*found, path]


def text_of(path: pathlib.Path) -> str:
    return "".join(file.read_text() for file in files(path))


def read(path: pathlib.Path) -> Header:
    """Read a header with all that it includes: that of a release, or include/rtrack/rtrack.h."""
    text = text_of(path)
    functions = {}
    for declaration in re.findall(r"^RT_API [^;]+;", text, re.MULTILINE):
        words = _words(declaration)
        name = re.search(r"(\w+)\(", words)
        assert name, words
        functions[name[1]] = words
    structs = {
        name: _struct(name, body)
        for name, body in re.findall(r"^struct (rt_\w+) \{\n(.*?)^\};", text, re.M | re.S)}
    return Header(functions, structs, _numbers(text), _releases(text, structs))
